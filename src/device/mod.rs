//! Devices: listing and opening them, their limits, and the state shared by all objects on a
//! device.
//!
//! Only this module uses opencl3. Matrices on devices are in the module `resident`. The modules
//! `device` and `resident` call OpenCL through `unsafe` code; SECURITY.md lists the few other
//! places with unsafe code. This module has typed buffers (`buffer`), typed launches (`kernel`) and
//! `Work`. Each product has one `Work`, which allocates memory, launches kernels, reads results
//! back and records times.
mod arguing;
mod arguments;
mod batch;
mod buffer;
mod cl;
mod compiler;
mod counters;
#[cfg(test)]
mod faked;
mod files;
mod foreign;
#[cfg(feature = "gl")]
mod gl;
mod handle;
mod info;
mod kernel;
pub mod kernel_cache;
mod kernel_handle;
mod landing;
mod loans;
mod marker;
#[cfg(feature = "ocl")]
pub(crate) mod ocl;
mod parameters;
mod pool;
mod program;
mod queue;
mod room;
mod scratch;
mod slot;
mod source;
mod team;
mod tuned;
mod uses;
mod work;

pub(crate) use arguing::Arguing;
pub(crate) use buffer::Buffer;
pub use counters::Counters;
pub(crate) use files::{File, file};
pub use foreign::RawHandles;
pub use handle::{RawContext, RawDevice, RawEvent, RawMemory, RawQueue};
pub use info::{DeviceInfo, DeviceKind};
pub(crate) use kernel::{Grid, Kernel, kernels};
pub(crate) use loans::Loan;
pub use marker::Marker;
pub(crate) use parameters::{Arguments, Declared, In, InOut, Local, Maybe, Out, Param, Scalar, arguments, kernel};
pub(crate) use pool::rounded as pool_bytes;
pub(crate) use scratch::Scratch;
pub(crate) use slot::{Column, Elem, Operand, Payload, Slot, Sum, Value};
pub(crate) use source::{Options, Source, source};
pub(crate) use team::{TeamNumbers, Teams};
pub use work::StageTime;
pub(crate) use work::{AnySeen, AnySeenLater, Clock, Mapped, Seen, SeenLater, Work, at_most};

use crate::{Error, Progress, Result, element::ElementType, events::ms};
use compiler::Compiler;
use handle::{CommandQueue, Context};
use landing::Landing;
use loans::Loans;
use pool::Pool;
use program::ProgramCache;
use queue::Queue;
use room::HostRoom;
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// An OpenCL device with its context, queue, compiled programs and memory pool.
///
/// A `Device` is a handle: clones are cheap and share the context, the queue, the programs and the
/// pool. A `Device` is `Send` and `Sync`. If several threads multiply on one device at once, their
/// commands interleave on its queue.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    info: DeviceInfo,
    loans: Loans,
    programs: ProgramCache,
    compiler: Compiler,
    pool: Arc<Pool>,
    /// The host's memory, if the device is a CPU.
    room: Option<HostRoom>,
    /// Host memory for short reads, unless the device is a CPU.
    landing: Option<Landing>,
    /// The first queue. The first queue takes all commands for which no other queue is requested.
    queue: Arc<Queue>,
    /// Further queues, and the queues with profiling that are used when times are recorded.
    further: Mutex<Further>,
    /// Whether the queues with profiling are separate from the queues without profiling.
    times_apart: bool,
    /// Whether the first queue belongs to the application.
    adopted: bool,
    context: Arc<Context>,
    /// Nanoseconds for which threads waited for kernels.
    kernel_wait: AtomicU64,
    commands: AtomicU64,
    launches: AtomicU64,
    read_backs: AtomicU64,
}

impl Drop for Inner {
    /// Waits for the commands of the queues that belong to this device. With PoCL 3.1 a process
    /// crashes if it ends while commands run.
    fn drop(&mut self) {
        if !self.adopted {
            // Failures of commands no longer matter when the device is dropped.
            let _ = self.queue.finish();
        }
    }
}

/// Queues that are created when they are first requested.
#[derive(Default)]
struct Further {
    plain: Vec<Arc<Queue>>,
    timed: Vec<Arc<Queue>>,
}

impl Device {
    /// Lists every OpenCL device of every platform, in the platforms' order.
    ///
    /// # Errors
    /// [`Error::NoOpenCl`] if there is no OpenCL library or no device. The message names what to
    /// install.
    pub fn list() -> Result<Vec<DeviceInfo>> {
        info::list()
    }

    /// The environment variable that names the device for [`Device::auto`] and for every command
    /// without `--device`. The variable's value is a name that [`Device::select`] accepts. An empty
    /// value counts as unset.
    pub const ENVIRONMENT_VARIABLE: &'static str = "BLOCKMUL_DEVICE";

    /// Opens the device that `wanted` names: `auto` (a GPU, otherwise a CPU, otherwise any device),
    /// `gpu`, `cpu`, an index of [`Device::list`], or a part of the name of a device or platform in
    /// any case. This function does not read [`Device::ENVIRONMENT_VARIABLE`], not even for `auto`.
    ///
    /// # Errors
    /// [`Error::NoOpenCl`], [`Error::NoSuchDevice`] with a list of the devices, [`Error::OpenCl`].
    pub fn select(wanted: &str) -> Result<Self> {
        Self::open(info::choose(&Self::list()?, wanted)?)
    }

    /// Opens the device that the environment variable
    /// [`BLOCKMUL_DEVICE`](Device::ENVIRONMENT_VARIABLE) names. If the variable is unset, opens a
    /// GPU; if there is no GPU, a CPU; if there is neither, any other device. With this variable
    /// the users of a program can choose the device.
    ///
    /// # Errors
    /// See [`Device::select`]. [`Error::NoSuchDevice`] mentions the variable if it contains the
    /// name.
    pub fn auto() -> Result<Self> {
        let Some(wanted) = std::env::var_os(Self::ENVIRONMENT_VARIABLE).filter(|name| !name.is_empty()) else {
            return Self::select("auto");
        };
        Self::select(&wanted.to_string_lossy()).map_err(|error| match error {
            Error::NoSuchDevice { wanted, available, .. } => {
                Error::NoSuchDevice { wanted, variable: Some(Self::ENVIRONMENT_VARIABLE), available }
            }
            error => error,
        })
    }

    /// Opens a device found by [`Device::list`], with its own context and queues.
    ///
    /// # Errors
    /// [`Error::OpenCl`] if the driver refuses.
    pub fn open(info: &DeviceInfo) -> Result<Self> {
        // On an H200 a small kernel takes 13 microseconds on a queue that keeps times, and 8 on one
        // that does not. CPUs use one queue for both: see docs/decisions/0013-times-apart.md.
        Self::open_with(info, info.kind != DeviceKind::Cpu)
    }

    /// Like [`Device::open`]. `times_apart` says whether queues with profiling are separate queues.
    pub(crate) fn open_with(info: &DeviceInfo, times_apart: bool) -> Result<Self> {
        Self::open_silently(info, times_apart, times_apart && info.ends_queues_that_fail())
    }

    /// Like [`Device::open_with`]. If `silent` is true, the first queue keeps no times and launches
    /// kernels without events.
    pub(crate) fn open_silently(info: &DeviceInfo, times_apart: bool, silent: bool) -> Result<Self> {
        crate::tuning::check_file()?;
        let start = Instant::now();
        let context = Context::of(info.id)?;
        let queue = CommandQueue::new(&context, info.id, !times_apart)?;
        let DeviceInfo { index, name, platform, driver, .. } = info;
        let (name, platform, driver) = (name.as_str(), platform.as_str(), driver.as_str());
        tracing::info!(target: "blockmul::device", index, name, platform, driver, ms = ms(start), "opened");
        Ok(Self::from_parts(info.clone(), context, Queue::in_order(queue).silently(silent), (times_apart, false)))
    }

    fn from_parts(info: DeviceInfo, context: Context, queue: Queue, (times_apart, adopted): (bool, bool)) -> Self {
        let queue = Arc::new(queue);
        let commands = queue.commands().clone();
        let pool = Pool::new(context.get(), commands, info.max_alloc_bytes, info.global_bytes);
        let pool = Arc::new(pool.in_large_pages(info.kind == DeviceKind::Cpu && !adopted));
        let context = Arc::new(context);
        let compiler = Compiler::new(context.clone(), &info);
        let [kernel_wait, commands, launches, read_backs] = Default::default();
        let (programs, loans) = (ProgramCache::default(), Loans::default());
        let further = Mutex::default();
        let landing = (info.kind != DeviceKind::Cpu).then(Landing::default);
        let room = (info.kind == DeviceKind::Cpu).then(HostRoom::new);
        let inner = Inner {
            info,
            loans,
            programs,
            compiler,
            pool,
            room,
            landing,
            queue,
            further,
            times_apart,
            adopted,
            context,
            kernel_wait,
            commands,
            launches,
            read_backs,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Like [`Device::open`], on a host whose memory is `room`.
    #[cfg(test)]
    fn open_in(info: &DeviceInfo, room: HostRoom) -> Result<Self> {
        let mut device = Self::open(info)?;
        let inner = Arc::get_mut(&mut device.inner).expect("a new device has one handle");
        inner.room = Some(room);
        Ok(device)
    }

    /// Number of bytes of the host's memory that a CPU device may still use.
    fn host_room(&self) -> Option<u64> {
        let Inner { room, pool, .. } = &*self.inner;
        room.as_ref().map(|room| {
            let (used, kept) = pool.held();
            room.left(used, kept)
        })
    }

    /// Queue `number` of the device, below 16. The queue is created at the first request. Queue 0
    /// takes all work for which no other queue is requested. If `keeps_times` is true, the result
    /// may be a separate queue with profiling.
    fn queue(&self, number: usize, keeps_times: bool) -> Result<Arc<Queue>> {
        let Inner { info, queue, further, times_apart, context, .. } = &*self.inner;
        let mut further = further.lock().unwrap_or_else(PoisonError::into_inner);
        let apart = keeps_times && *times_apart;
        let (queues, at) = match (apart, number.checked_sub(1)) {
            (true, _) => (&mut further.timed, number),
            (false, Some(at)) => (&mut further.plain, at),
            (false, None) => return Ok(queue.clone()),
        };
        while queues.len() <= at {
            let raw = CommandQueue::new(context, info.id, apart || !times_apart)?;
            queues.push(Arc::new(queue.another(raw)));
        }
        Ok(queues[at].clone())
    }

    /// Work on queue `number` of the device.
    #[cfg(test)]
    pub(crate) fn work_on(&self, number: usize, limit: Option<u64>) -> Result<Work> {
        Ok(Work::on(self, self.queue(number, false)?, limit))
    }

    /// Name, kind and limits.
    pub fn info(&self) -> &DeviceInfo {
        &self.inner.info
    }

    /// Reports to `progress` how many of the requested kernels are compiled. There are reports only
    /// if some kernels are not in the cache ([`kernel_cache`]), as in the first run on a machine.
    /// `progress` lives as long as the device, so it must not hold the device itself.
    pub fn on_compile(&self, progress: Progress) {
        self.inner.compiler.report_to(progress);
    }

    /// Waits until every kernel requested so far is compiled or loaded.
    pub(crate) fn wait_for_kernels(&self) -> Duration {
        let waited = self.inner.compiler.finish();
        self.count_kernel_wait(waited);
        waited
    }

    fn count_kernel_wait(&self, waited: Duration) {
        self.inner.kernel_wait.fetch_add(waited.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Waits until everything enqueued so far has ended.
    ///
    /// # Errors
    /// [`Error::CommandFailed`] if a command failed after the device accepted it. The failure is
    /// then forgotten, and the device can be used again. All results computed since the failure
    /// must be computed again.
    pub fn finish(&self) -> Result<()> {
        self.inner.queue.finish()
    }

    /// Bytes of device memory that the pool keeps for reuse.
    pub fn kept_bytes(&self) -> u64 {
        self.inner.pool.kept()
    }

    /// Returns the memory that the pool keeps for reuse to the device. Waits for the commands that
    /// still use it. Without this call, kept and used memory together are at most three times the
    /// recent maximum of memory in use, or 64 MiB if this maximum is small.
    pub fn trim(&self) {
        self.inner.pool.trim();
    }

    /// Refuses an element type that the device cannot compute with.
    pub(crate) fn require(&self, element: ElementType) -> Result<()> {
        self.info().require(element)
    }

    pub(crate) fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Device").field(&self.inner.info.name).finish()
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Device>();
};

/// The device on which tests run: the device that `BLOCKMUL_TEST_DEVICE` names, or any device if it
/// is unset. If `BLOCKMUL_TEST_KIND` is `gpu`, the device uses the kernels and numbers of a GPU.
/// Without a device the tests fail and are not skipped.
#[cfg(test)]
pub(crate) fn test_device() -> Device {
    use std::sync::OnceLock;
    static DEVICE: OnceLock<Device> = OnceLock::new();
    let open = || {
        let list = Device::list()?;
        let mut info = info::choose(&list, &std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into()))?.clone();
        if std::env::var("BLOCKMUL_TEST_KIND").is_ok_and(|kind| kind == "gpu") {
            info.kind = DeviceKind::Gpu;
        }
        Device::open(&info)
    };
    DEVICE.get_or_init(|| open().unwrap_or_else(|error: crate::Error| panic!("{error}"))).clone()
}
