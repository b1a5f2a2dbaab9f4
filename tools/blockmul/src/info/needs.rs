//! Device memory that a product needs.
use super::dense::DenseNeeds;
use blockmul::{Error, Method, Product, device::DeviceInfo, element::ElementType, matrix::AnyMatrix};
use serde::Serialize;
use std::cell::LazyCell;

/// The devices of this machine. The devices are listed when the first file is shown, and not
/// earlier on another thread, because a process that ends while a driver starts may crash.
pub type Devices = LazyCell<Result<Vec<DeviceInfo>, Error>>;

/// The memory that the product needs on one device: the upper bounds that the library computes.
#[derive(Serialize)]
pub struct DeviceNeeds {
    pub index: usize,
    pub name: String,
    /// The element type: f64, or f32 on a device without double precision.
    pub element: &'static str,
    pub global_bytes: u64,
    /// Upper bound of the memory used at once; null if the product does not fit.
    pub peak_device_bytes: Option<u64>,
    /// Upper bound of the number of bands.
    pub bands: Option<usize>,
    /// The reason why the product does not fit.
    pub refused: Option<String>,
    /// The product with a dense matrix, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dense: Option<DenseNeeds>,
}

/// The devices, and the options of the multiplication.
pub struct Wanted<'a> {
    pub devices: &'a [DeviceInfo],
    pub method: Method,
    pub memory_limit: Option<u64>,
    /// Most columns of a band.
    pub band_columns: Option<usize>,
    /// Columns of the dense matrix.
    pub dense: Option<usize>,
}

impl Wanted<'_> {
    /// The needs of A·B on each device, in f32 if the device has no double precision.
    pub fn of_each(&self, a: &AnyMatrix, b: &AnyMatrix) -> Vec<DeviceNeeds> {
        let needs_of = |info: &DeviceInfo| match info.fp64 {
            true => self.needs(info, a, b),
            false if std::ptr::eq(a, b) => {
                let a = a.cast(ElementType::F32);
                self.needs(info, &a, &a)
            }
            false => self.needs(info, &a.cast(ElementType::F32), &b.cast(ElementType::F32)),
        };
        self.devices.iter().map(needs_of).collect()
    }

    fn needs(&self, info: &DeviceInfo, a: &AnyMatrix, b: &AnyMatrix) -> DeviceNeeds {
        let product = Product::of(a, b).method(self.method);
        let product = self.band_columns.into_iter().fold(product, Product::band_columns);
        let estimate = self.memory_limit.into_iter().fold(product, Product::memory_limit).estimate(info);
        let refused = estimate.as_ref().err().map(Error::to_string);
        let estimate = estimate.ok();
        DeviceNeeds {
            index: info.index,
            name: info.name.clone(),
            element: a.element().name(),
            global_bytes: info.global_bytes,
            peak_device_bytes: estimate.map(|estimate| estimate.peak_device_bytes),
            bands: estimate.map(|estimate| estimate.bands),
            refused,
            dense: self.dense.map(|columns| DenseNeeds::of(info, a, columns, self.memory_limit)),
        }
    }
}
