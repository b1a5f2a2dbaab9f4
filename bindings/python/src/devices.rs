//! Devices, and the choice between them and the host.
use crate::{
    errors::{of_class, raised, refused},
    kept::Kept,
    running::{Size, check_no_handler, detached},
};
use blockmul::{Error, device::DeviceKind};
use pyo3::prelude::*;
use std::{
    collections::BTreeMap,
    io::Write,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

/// Multiplications of a product from which a GPU is worth the transfers of A, B and C. Beside an
/// H200 whose times include the transfers, 16 cores take 0.5 to 1.0 of the time for products of
/// fewer multiplications. For larger ones they take 0.5 (blocks of 6x6) to 1.4 times as long, and
/// for the square of `cnr-2000` 0.9 and 1.4 in two runs.
///
/// The host's own OpenCL device is taken only if it is asked for. It uses the same cores, and needs
/// copies of A, B and C: with PoCL on two cores, the square of `cnr-2000` takes 585 ms there and
/// 325 on the host.
const FOR_GPU: u64 = 1 << 22;

/// The process in which the module was imported. OpenCL does not survive a fork.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Devices that were opened, by what named them. The device is `None` if there is none.
static OPENED: Mutex<BTreeMap<String, Option<blockmul::Device>>> = Mutex::new(BTreeMap::new());

/// Whether the line about compiling has been printed.
static TOLD: AtomicBool = AtomicBool::new(false);

/// An OpenCL device.
#[pyclass(frozen, eq, hash, module = "blockmul", from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Device {
    #[pyo3(get)]
    index: usize,
    /// The device's name.
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    platform: String,
    /// `gpu`, `cpu` or `other`.
    #[pyo3(get)]
    kind: String,
    /// Memory of the device, in bytes.
    #[pyo3(get)]
    memory: u64,
    /// Whether the device computes in float64.
    #[pyo3(get)]
    float64: bool,
    /// The adopted queue, or `None` for a device of the list.
    adopted: Option<Adopted>,
}

/// A device over the queue of an application. Adopting the queue again gives the same one.
#[derive(Clone)]
struct Adopted(Arc<Kept<blockmul::Device>>);

impl PartialEq for Adopted {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Adopted {}

impl std::hash::Hash for Adopted {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// Adopted devices that live, by the handles of their queues.
static ADOPTED: Mutex<BTreeMap<usize, Weak<Kept<blockmul::Device>>>> = Mutex::new(BTreeMap::new());

impl From<&blockmul::device::DeviceInfo> for Device {
    fn from(info: &blockmul::device::DeviceInfo) -> Self {
        Self {
            index: info.index,
            name: info.name.clone(),
            platform: info.platform.clone(),
            kind: match info.kind {
                DeviceKind::Cpu => "cpu",
                DeviceKind::Gpu => "gpu",
                _ => "other",
            }
            .into(),
            memory: info.global_bytes,
            float64: info.fp64,
            adopted: None,
        }
    }
}

/// Lists the OpenCL devices.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Vec<Device>> {
    check_process()?;
    let list = detached(py, blockmul::Device::list)?;
    Ok(list.iter().map(Device::from).collect())
}

/// The device that a caller names.
#[derive(FromPyObject)]
pub enum Wanted {
    Device(Device),
    Index(usize),
    Name(String),
}

/// The device that computes a product, or the host.
pub enum Place {
    Host,
    Device(blockmul::Device),
}

impl Place {
    /// The name for reports.
    pub fn name(&self) -> String {
        match self {
            Self::Host => "host".into(),
            Self::Device(device) => device.info().name.clone(),
        }
    }

    /// The size of a computation of so many multiplications at this place.
    pub fn size(&self, multiplications: u64) -> Size {
        match self {
            Self::Host => Size::Multiplications(multiplications),
            Self::Device(_) => Size::OnDevice,
        }
    }

    /// The place that the caller wants. `None` chooses by the number of multiplications.
    pub fn of(wanted: Option<Wanted>, multiplications: u64, fp64: bool) -> PyResult<Self> {
        let name = match wanted {
            Some(Wanted::Name(name)) => Some(name),
            Some(Wanted::Index(index)) => Some(index.to_string()),
            Some(Wanted::Device(device)) => return Ok(Self::Device(device.opened()?)),
            None => environment(),
        };
        match name.as_deref() {
            Some("host") => Ok(Self::Host),
            Some(name) => Ok(Self::Device(opened(name)?)),
            None => {
                if multiplications < FOR_GPU || in_child() {
                    return Ok(Self::Host);
                }
                let device = opened_if_any()?.filter(|device| {
                    let info = device.info();
                    info.kind == DeviceKind::Gpu && (info.fp64 || !fp64)
                });
                Ok(device.map_or(Self::Host, Self::Device))
            }
        }
    }
}

/// The device that the environment names.
fn environment() -> Option<String> {
    std::env::var(blockmul::Device::ENVIRONMENT_VARIABLE).ok().filter(|name| !name.is_empty())
}

/// The device for a problem, a matrix or a vector. `None` is the one that the environment names,
/// else a GPU, else a CPU.
pub fn wanted_device(wanted: Option<Wanted>) -> PyResult<(Device, blockmul::Device)> {
    let name = match wanted {
        Some(Wanted::Device(device)) => {
            let opened = device.opened()?;
            return Ok((device, opened));
        }
        Some(Wanted::Index(index)) => index.to_string(),
        Some(Wanted::Name(name)) => name,
        None => environment().unwrap_or("auto".into()),
    };
    if name == "host" {
        let why = "\"host\" is no OpenCL device, and one is needed here: see blockmul.devices()";
        return Err(refused("device", why));
    }
    let opened = opened(&name)?;
    Ok((Device::from(opened.info()), opened))
}

impl Device {
    /// The library's device.
    pub fn opened(&self) -> PyResult<blockmul::Device> {
        check_process()?;
        match &self.adopted {
            Some(adopted) => Ok((**adopted.0).clone()),
            None => opened(&self.index.to_string()),
        }
    }

    /// The device of the adopted queue `queue`, by its handle. `adopt` makes it if there is none.
    pub fn adopted(queue: usize, adopt: impl FnOnce() -> blockmul::Result<blockmul::Device>) -> PyResult<Self> {
        check_process()?;
        // An exception is made without the lock, for which another thread may wait while it holds
        // the interpreter's lock.
        let device = adopted_once(queue, adopt).map_err(raised)?;
        Ok(Self { adopted: Some(Adopted(device.clone())), ..Self::from(device.info()) })
    }

    /// The name for reports.
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// The device for people.
    pub fn described(&self) -> String {
        let Self { index, name, platform, adopted, .. } = self;
        match adopted {
            Some(_) => format!("<blockmul.Device of a queue: {name} ({platform})>"),
            None => format!("<blockmul.Device {index}: {name} ({platform})>"),
        }
    }
}

/// The device of an adopted queue, adopted once.
fn adopted_once(
    queue: usize,
    adopt: impl FnOnce() -> blockmul::Result<blockmul::Device>,
) -> blockmul::Result<Arc<Kept<blockmul::Device>>> {
    let mut all = ADOPTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = all.get(&queue).and_then(Weak::upgrade) {
        return Ok(device);
    }
    let device = adopt()?;
    tell_of_compiling(&device);
    let device = Arc::new(Kept::new(device));
    all.retain(|_, device| device.strong_count() > 0);
    all.insert(queue, Arc::downgrade(&device));
    Ok(device)
}

/// Waits for the commands of all devices. Some drivers crash if the process ends before.
#[pyfunction]
pub fn finish(py: Python<'_>) {
    if in_child() {
        return;
    }
    py.detach(|| {
        let opened: Vec<_> =
            OPENED.lock().unwrap_or_else(PoisonError::into_inner).values().flatten().cloned().collect();
        let adopted: Vec<_> =
            ADOPTED.lock().unwrap_or_else(PoisonError::into_inner).values().filter_map(Weak::upgrade).collect();
        for device in opened.iter().chain(adopted.iter().map(|device| &***device)) {
            // A failure no longer matters when the process ends.
            let _ = device.finish();
        }
    });
}

/// Remembers the process.
pub fn process() -> u32 {
    let own = std::process::id();
    match PROCESS.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => own,
        Err(first) => first,
    }
}

/// Whether this process is a child, by fork, of the one that imported the module.
pub fn in_child() -> bool {
    process() != std::process::id()
}

/// Refuses OpenCL in a forked child, and in a signal's handler that runs during a call.
pub fn check_process() -> PyResult<()> {
    check_no_handler()?;
    match in_child() {
        false => Ok(()),
        true => Err(of_class(
            "NoDevice",
            "OpenCL does not work in a forked child of a process that used blockmul: start processes by \"spawn\" or \
             \"forkserver\"; products can use device=\"host\""
                .into(),
            Vec::new(),
        )),
    }
}

/// The device that `name` names, opened once.
fn opened(name: &str) -> PyResult<blockmul::Device> {
    check_process()?;
    // An exception is made without the lock, as in `Device::adopted`.
    opened_once(name).map_err(raised)
}

fn opened_once(name: &str) -> blockmul::Result<blockmul::Device> {
    let mut all = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Some(device)) = all.get(name) {
        return Ok(device.clone());
    }
    let device = blockmul::Device::select(name)?;
    tell_of_compiling(&device);
    // One device has several names: its index, parts of its name.
    let same = all.values().flatten().find(|other| other.info().index == device.info().index).cloned();
    let device = same.unwrap_or(device);
    all.insert(name.into(), Some(device.clone()));
    Ok(device)
}

/// The device that `auto` takes; `None` without OpenCL.
fn opened_if_any() -> PyResult<Option<blockmul::Device>> {
    if let Some(known) = OPENED.lock().unwrap_or_else(PoisonError::into_inner).get("auto") {
        return Ok(known.clone());
    }
    match blockmul::Device::list() {
        Err(Error::NoOpenCl { .. }) => {
            OPENED.lock().unwrap_or_else(PoisonError::into_inner).insert("auto".into(), None);
            Ok(None)
        }
        Err(error) => Err(raised(error)),
        Ok(_) => opened("auto").map(Some),
    }
}

/// Prints a line when the first kernels are compiled, which takes seconds.
fn tell_of_compiling(device: &blockmul::Device) {
    let name = device.info().name.clone();
    device.on_compile(blockmul::extra::host::Progress::new(move |_, _| {
        if !TOLD.swap(true, Ordering::Relaxed) {
            // A line that cannot be printed is no reason to fail.
            let _ = writeln!(std::io::stderr(), "blockmul: compiling kernels for {name} (once; they are kept)");
        }
    }));
}
