//! Device memory that a product needs.
use blockmul::{Cbc, Csc, Device, Error, Matrix, Product, device::DeviceInfo};
use serde::Serialize;
use std::cell::LazyCell;

type Found = Result<Vec<DeviceInfo>, Error>;

/// The devices of this machine, listed when the first file is shown. This is not done on another
/// thread meanwhile: a process that ends while a driver starts may crash.
pub struct Devices(LazyCell<Found>);

impl Devices {
    pub fn new() -> Self {
        Self(LazyCell::new(Device::list))
    }

    pub fn found(&self) -> &[DeviceInfo] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The reason why there are none.
    pub fn problem(&self) -> Option<&Error> {
        self.0.as_ref().err()
    }
}

/// Needs of the product on one device, as the library plans it.
#[derive(Serialize)]
pub struct DeviceNeeds {
    pub index: usize,
    pub name: String,
    /// f64, or f32 on a device without double precision.
    pub element: &'static str,
    pub global_bytes: u64,
    /// Upper bound of the memory used at once; null if the product does not fit.
    pub peak_device_bytes: Option<u64>,
    pub bands: Option<usize>,
    /// The reason why the product does not fit.
    pub refused: Option<String>,
}

pub fn scalars(devices: &[DeviceInfo], a: &Csc<f64>, b: &Csc<f64>) -> Vec<DeviceNeeds> {
    of_each(devices, a, b, |m| m.cast::<f32>())
}

pub fn blocks(devices: &[DeviceInfo], a: &Cbc<f64>, b: &Cbc<f64>) -> Vec<DeviceNeeds> {
    of_each(devices, a, b, |m| m.cast::<f32>())
}

fn of_each<M: Matrix, N: Matrix>(devices: &[DeviceInfo], a: &M, b: &M, narrow: impl Fn(&M) -> N) -> Vec<DeviceNeeds> {
    let needs_of = |info: &DeviceInfo| match info.fp64 {
        true => needs(info, a, b),
        false if std::ptr::eq(a, b) => {
            let a = narrow(a);
            needs(info, &a, &a)
        }
        false => needs(info, &narrow(a), &narrow(b)),
    };
    devices.iter().map(needs_of).collect()
}

fn needs<M: Matrix>(info: &DeviceInfo, a: &M, b: &M) -> DeviceNeeds {
    let (estimate, refused) = match Product::of(a, b).estimate(info) {
        Ok(estimate) => (Some(estimate), None),
        Err(error) => (None, Some(error.to_string())),
    };
    DeviceNeeds {
        index: info.index,
        name: info.name.clone(),
        element: <M::Element as blockmul::Element>::NAME,
        global_bytes: info.global_bytes,
        peak_device_bytes: estimate.as_ref().map(|estimate| estimate.peak_device_bytes),
        bands: estimate.as_ref().map(|estimate| estimate.bands),
        refused,
    }
}
