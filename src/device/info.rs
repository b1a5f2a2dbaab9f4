//! Lists platforms and devices, reads the limits of devices, and chooses a device.
use super::{cl::check, room::HostRoom};
pub use crate::tuning::DeviceKind;
use crate::{
    Error, Result,
    element::ElementType,
    tuning::{self, Given},
};
use opencl3::{
    device as cl,
    error_codes::DLOPEN_RUNTIME_LOAD_FAILED,
    platform::{Platform, get_platforms},
    types::cl_device_id,
};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};

/// Name, kind and limits of a device.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Index in [`Device::list`](super::Device::list).
    pub index: usize,
    /// The device's name.
    pub name: String,
    /// The platform's name.
    pub platform: String,
    /// The device's vendor.
    pub vendor: String,
    /// The driver's version.
    pub driver: String,
    /// The OpenCL version the device implements.
    pub version: String,
    /// The kind of processor.
    pub kind: DeviceKind,
    /// Compute units: multiprocessors, cores.
    pub compute_units: u32,
    /// Memory of the device, in bytes.
    pub global_bytes: u64,
    /// Largest buffer, in bytes.
    pub max_alloc_bytes: u64,
    /// Local memory of a work-group, in bytes.
    pub local_bytes: u64,
    /// Maximum number of work-items in a work-group.
    pub max_group_size: usize,
    /// Whether the device computes in double precision.
    pub fp64: bool,
    /// Whether the device supports 64-bit atomic exchanges.
    #[serde(skip)]
    pub(crate) long_atomics: bool,
    /// Whether 64-bit atomic minima are supported, and 64-bit words are read whole. A device with
    /// 32-bit addresses may read the two halves of a word one after the other.
    #[serde(skip)]
    pub(crate) long_minima: bool,
    /// Whether quotients and square roots of `f32` can be correctly rounded.
    #[serde(skip)]
    pub(super) exact_division: bool,
    /// Whether NVIDIA's compiler accepts hints that say how long loaded values stay in the nearest
    /// cache.
    #[serde(skip)]
    pub(super) cache_hints: bool,
    /// The platform's version, which includes the version of its compiler.
    #[serde(skip)]
    pub(super) platform_version: String,
    /// The numbers and costs of the user's tuning file, which replace those of the library's
    /// tables.
    #[serde(skip)]
    pub(super) tuning: Arc<Given>,
    #[serde(skip)]
    pub(super) id: DeviceId,
}

/// The name of NVIDIA's platform.
const NVIDIA: &str = "NVIDIA CUDA";

impl DeviceInfo {
    /// Number of bytes that may be allocated if the device holds no memory yet. A CPU may allocate
    /// at most the host's free memory.
    pub(crate) fn free_bytes(&self) -> u64 {
        match self.kind {
            DeviceKind::Cpu => self.global_bytes.min(HostRoom::new().left(0, 0)),
            _ => self.global_bytes,
        }
    }

    /// Whether the device runs work-items in warps of 32, and its compiler accepts NVIDIA's inline
    /// PTX.
    pub(super) fn has_warp_instructions(&self) -> bool {
        self.kind == DeviceKind::Gpu && self.platform == NVIDIA
    }

    /// Whether a queue stops when one of its commands fails, so that each later command fails too.
    pub(super) fn ends_queues_that_fail(&self) -> bool {
        self.has_warp_instructions()
    }

    /// Refuses an element type that the device cannot compute with.
    pub(crate) fn require(&self, element: ElementType) -> Result<()> {
        match element == ElementType::F64 && !self.fp64 {
            true => Err(Error::Unsupported {
                device: self.name.clone(),
                feature: "double precision (cl_khr_fp64)",
                hint: "use f32, or another device".into(),
            }),
            false => Ok(()),
        }
    }
}

/// A device id as a number, so that `DeviceInfo` is `Send`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DeviceId(isize);

impl DeviceId {
    pub(super) fn raw(self) -> cl_device_id {
        self.0 as cl_device_id
    }
}

pub(super) fn list() -> Result<Vec<DeviceInfo>> {
    // PoCL searches for its devices at the first query, which must not run in two threads at once.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let platforms = match get_platforms() {
        Err(error) if error.0 == DLOPEN_RUNTIME_LOAD_FAILED => {
            return Err(Error::NoOpenCl { reason: "the OpenCL library (libOpenCL) is not installed".into() });
        }
        platforms => platforms.unwrap_or_default(),
    };
    if platforms.is_empty() {
        return Err(Error::NoOpenCl { reason: "the OpenCL library finds no platform (no driver)".into() });
    }
    let mut found = Vec::new();
    for platform in &platforms {
        // A platform without devices returns an error, which does not end the list.
        for id in platform.get_devices(cl::CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            if let Ok(info) = describe(found.len(), platform, id) {
                found.push(info);
            }
        }
    }
    match found.is_empty() {
        true => Err(Error::NoOpenCl { reason: format!("{} platform(s), none with a usable device", platforms.len()) }),
        false => Ok(found),
    }
}

/// The value that a device reports, or OpenCL's error.
fn get<T>(answer: opencl3::Result<T>) -> Result<T> {
    check("clGetDeviceInfo", answer.map_err(|error| error.0))
}

pub(super) fn describe(index: usize, platform: &Platform, id: cl_device_id) -> Result<DeviceInfo> {
    let device = cl::Device::new(id);
    let kind = match get(device.dev_type())? {
        t if t & cl::CL_DEVICE_TYPE_GPU != 0 => DeviceKind::Gpu,
        t if t & cl::CL_DEVICE_TYPE_CPU != 0 => DeviceKind::Cpu,
        t if t & cl::CL_DEVICE_TYPE_ACCELERATOR != 0 => DeviceKind::Accelerator,
        _ => DeviceKind::Other,
    };
    let (platform_name, driver) =
        (trimmed(platform.name().unwrap_or_default()), trimmed(get(device.driver_version())?));
    // Only NVIDIA's platform supports this query; on other platforms the query is an error.
    let capability = if platform_name == NVIDIA { device.compute_capability_major_nv().unwrap_or(0) } else { 0 };
    let name = trimmed(get(device.name())?);
    Ok(DeviceInfo {
        index,
        tuning: Arc::new(tuning::given(kind, &name)),
        name,
        platform: platform_name,
        platform_version: trimmed(platform.version().unwrap_or_default()),
        vendor: trimmed(get(device.vendor())?),
        cache_hints: takes_cache_hints(capability, &driver),
        driver,
        version: trimmed(get(device.version())?),
        kind,
        compute_units: get(device.max_compute_units())?,
        global_bytes: get(device.global_mem_size())?,
        max_alloc_bytes: get(device.max_mem_alloc_size())?,
        local_bytes: get(device.local_mem_size())?,
        max_group_size: get(device.max_work_group_size())?,
        fp64: get(device.extensions())?.split_whitespace().any(|e| e == "cl_khr_fp64"),
        long_atomics: get(device.extensions())?.split_whitespace().any(|e| e == "cl_khr_int64_base_atomics"),
        long_minima: get(device.extensions())?.split_whitespace().any(|e| e == "cl_khr_int64_extended_atomics")
            && get(device.address_bits())? == 64,
        exact_division: get(device.single_fp_config())? & cl::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0,
        id: DeviceId(id as isize),
    })
}

/// Whether an NVIDIA GPU of this major compute capability supports loads with `L1::evict_first` and
/// `L1::evict_last` under this driver. GPUs of capability 7.0 or higher support `L1::evict_first`
/// and `L1::evict_last`. The loads are instructions of PTX 7.4, which needs a driver of version 470
/// or later.
fn takes_cache_hints(capability: u32, driver: &str) -> bool {
    let of_driver = driver.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
    capability >= 7 && of_driver >= 470
}

fn trimmed(text: String) -> String {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned()
}

pub(super) fn choose<'a>(devices: &'a [DeviceInfo], wanted: &str) -> Result<&'a DeviceInfo> {
    let of_kind = |kind| devices.iter().find(|d| d.kind == kind);
    let lower = wanted.to_lowercase();
    let found = match lower.as_str() {
        "auto" => of_kind(DeviceKind::Gpu).or_else(|| of_kind(DeviceKind::Cpu)).or_else(|| devices.first()),
        "gpu" => of_kind(DeviceKind::Gpu),
        "cpu" => of_kind(DeviceKind::Cpu),
        text => match text.parse::<usize>() {
            Ok(index) => devices.get(index),
            Err(_) => devices.iter().find(|d| format!("{} {}", d.platform, d.name).to_lowercase().contains(text)),
        },
    };
    found.ok_or_else(|| Error::NoSuchDevice {
        wanted: wanted.to_owned(),
        variable: None,
        available: devices
            .iter()
            .map(|d| format!("{}: {} ({})", d.index, d.name, d.platform))
            .collect::<Vec<_>>()
            .join("; "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: usize, platform: &str, name: &str, kind: DeviceKind) -> DeviceInfo {
        DeviceInfo {
            index,
            name: name.into(),
            platform: platform.into(),
            vendor: String::new(),
            driver: String::new(),
            version: String::new(),
            kind,
            compute_units: 1,
            global_bytes: 1,
            max_alloc_bytes: 1,
            local_bytes: 1,
            max_group_size: 1,
            fp64: true,
            long_atomics: true,
            long_minima: true,
            exact_division: true,
            cache_hints: false,
            platform_version: String::new(),
            tuning: Arc::default(),
            id: DeviceId(0),
        }
    }

    #[test]
    fn old_gpus_and_old_drivers_take_no_cache_hints() {
        for (capability, driver, takes) in [
            (9, "580.159.04", true),
            (7, "470.57", true),
            (6, "580.159.04", false),
            (8, "460.32.03", false),
            (0, "3.1", false),
            (9, "", false),
        ] {
            assert_eq!(takes_cache_hints(capability, driver), takes, "{capability}, {driver}");
        }
    }

    #[test]
    fn chooses_by_kind_index_and_name() {
        let cpu = device(0, "Portable Computing Language", "pthread-x86", DeviceKind::Cpu);
        let gpu = device(1, "NVIDIA CUDA", "NVIDIA H200", DeviceKind::Gpu);
        let both = [cpu.clone(), gpu];
        let index = |wanted: &str| choose(&both, wanted).map(|d| d.index).ok();
        assert_eq!(index("auto"), Some(1), "a GPU before a CPU");
        assert_eq!(choose(&[cpu], "auto").map(|d| d.index).ok(), Some(0));
        assert_eq!((index("cpu"), index("GPU"), index("0"), index("1")), (Some(0), Some(1), Some(0), Some(1)));
        assert_eq!((index("h200"), index("portable"), index("2"), index("radeon")), (Some(1), Some(0), None, None));
        let error = choose(&both, "radeon").unwrap_err().to_string();
        assert!(error.contains("\"radeon\"") && error.contains("1: NVIDIA H200"), "{error}");
    }
}
