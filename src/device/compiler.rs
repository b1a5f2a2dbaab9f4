//! Makes programs on its own threads: from the cache of kernels if it has them, otherwise from
//! source.
//!
//! Kernels are requested while the stages of a product are set up, and waited for when the first is
//! launched. All that are missing by then are compiled as one program (see `batch`). PoCL and
//! NVIDIA's driver compile only one program of a process at a time. Binaries of the cache are
//! loaded side by side.
use super::{
    DeviceInfo, arguments,
    batch::{Batch, Unit},
    cl::{BUILD_FAILURE, failed},
    handle::{Context, Program as ClProgram},
    info::DeviceId,
    kernel_cache::{Cache, KnownKernel},
    program::{Compiled, Program},
};
use crate::{Error, Progress, Result, events::ms};
use std::{
    any::Any,
    collections::{BTreeMap, HashMap, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Most threads. More gain nothing: a solver's plans have some ten binaries.
const MOST_THREADS: usize = 8;
/// How long an idle thread waits for the next job before it ends.
const LINGER: Duration = Duration::from_secs(2);

/// The threads that make a device's programs. They end when this is dropped.
pub(super) struct Compiler {
    shared: Arc<Shared>,
}

/// State shared by the threads.
struct Shared {
    context: Arc<Context>,
    device: DeviceId,
    cache: Option<Cache>,
    /// Loaded binaries by their keys.
    binaries: Mutex<HashMap<String, Weak<ClProgram>>>,
    compiled: AtomicU64,
    loaded: AtomicU64,
    progress: Mutex<Option<Progress>>,
    queue: Mutex<Queue>,
    /// Signals a new job, or the end.
    wake: Condvar,
    /// Signals that no job is left.
    done: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Programs that were requested and not begun.
    asked: Vec<Arc<Program>>,
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    /// Threads that work on a job.
    busy: usize,
    /// Kernels of jobs that compile, begun or not.
    to_compile: u64,
    closed: bool,
    handles: Vec<JoinHandle<()>>,
}

enum Job {
    /// Parts of one binary of the cache.
    Load(String, Vec<(Arc<Program>, KnownKernel)>),
    /// Programs to compile as one.
    Compile(Vec<Arc<Program>>),
}

impl Job {
    fn programs(&self) -> Vec<Arc<Program>> {
        match self {
            Self::Load(_, programs) => programs.iter().map(|(program, _)| program.clone()).collect(),
            Self::Compile(programs) => programs.clone(),
        }
    }
}

impl Compiler {
    pub(super) fn new(context: Arc<Context>, info: &DeviceInfo) -> Self {
        Self {
            shared: Arc::new(Shared {
                context,
                device: info.id,
                cache: Cache::for_device(info),
                binaries: Mutex::default(),
                compiled: AtomicU64::new(0),
                loaded: AtomicU64::new(0),
                progress: Mutex::default(),
                queue: Mutex::default(),
                wake: Condvar::new(),
                done: Condvar::new(),
            }),
        }
    }

    /// Requests `program`, unless it is made or requested already. Work on it begins at the first
    /// wait for any requested program.
    pub(super) fn ask(&self, program: &Arc<Program>) {
        // Under the lock: a program that is no longer new is already in the list.
        let mut queue = self.shared.queue();
        if program.is_new() {
            queue.asked.push(program.clone());
        }
    }

    /// Begins with every requested program; returns whether there was one.
    pub(super) fn start(&self) -> bool {
        let asked = std::mem::take(&mut self.shared.queue().asked);
        if asked.is_empty() {
            return false;
        }
        let most = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let jobs = self.shared.jobs(asked);
        let mut queue = self.shared.queue();
        for job in jobs {
            if let Job::Compile(programs) = &job {
                queue.to_compile += programs.len() as u64;
            }
            queue.jobs.push_back(job);
            if queue.idle < queue.jobs.len() && queue.threads < most {
                let shared = self.shared.clone();
                if let Ok(handle) = thread::Builder::new().name("blockmul kernels".into()).spawn(move || shared.work())
                {
                    queue.threads += 1;
                    queue.handles.retain(|handle| !handle.is_finished());
                    queue.handles.push(handle);
                }
            }
            self.shared.wake.notify_one();
        }
        if queue.threads == 0 {
            // The system gives no thread: compile in this one.
            while let Some(job) = queue.jobs.pop_front() {
                queue = self.shared.work_off(queue, job);
            }
        }
        true
    }

    /// Waits until every requested program is made; returns the time this took.
    pub(super) fn finish(&self) -> Duration {
        let start = Instant::now();
        let begun = self.start();
        let mut queue = self.shared.queue();
        if !begun && queue.is_done() {
            return Duration::ZERO;
        }
        while !queue.is_done() {
            queue = self.shared.done.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        start.elapsed()
    }

    /// Kernels compiled from source so far, and kernels loaded from the cache.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.shared.compiled.load(Relaxed), self.shared.loaded.load(Relaxed))
    }

    /// Reports to `progress` how many kernels are compiled from source, of all requested meanwhile.
    pub(super) fn report_to(&self, progress: Progress) {
        *self.shared.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        queue.closed = true;
        queue.jobs.clear();
        let handles = std::mem::take(&mut queue.handles);
        drop(queue);
        self.shared.wake.notify_all();
        for handle in handles {
            // The driver must not be torn down while a thread compiles.
            let _it_panicked = handle.join();
        }
    }
}

impl Queue {
    fn is_done(&self) -> bool {
        self.jobs.is_empty() && self.busy == 0
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The jobs that make the programs `asked`.
    fn jobs(&self, asked: Vec<Arc<Program>>) -> Vec<Job> {
        let (mut known, mut missing): (BTreeMap<String, Vec<_>>, BTreeMap<String, Vec<_>>) = Default::default();
        for program in asked {
            match self.cache.as_ref().and_then(|cache| cache.find(&program.unit)) {
                Some(found) => known.entry(found.binary.clone()).or_default().push((program, found)),
                None => missing.entry(program.unit.options.flags.clone()).or_default().push(program),
            }
        }
        let load = known.into_iter().map(|(binary, programs)| Job::Load(binary, programs));
        let compile = missing.into_values().map(Job::Compile);
        compile.chain(load).collect()
    }

    /// The loop of a thread: jobs, until there are none for a while.
    fn work(&self) {
        let mut queue = self.queue();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                queue = self.work_off(queue, job);
            } else if queue.closed {
                break;
            } else {
                queue.idle += 1;
                let (woken, slept) = self.wake.wait_timeout(queue, LINGER).unwrap_or_else(PoisonError::into_inner);
                queue = woken;
                queue.idle -= 1;
                if slept.timed_out() && queue.jobs.is_empty() {
                    break;
                }
            }
        }
        queue.threads -= 1;
    }

    /// Does a job with the queue unlocked.
    fn work_off<'s>(&'s self, mut queue: MutexGuard<'s, Queue>, job: Job) -> MutexGuard<'s, Queue> {
        queue.busy += 1;
        drop(queue);
        self.make(job);
        queue = self.queue();
        queue.busy -= 1;
        if queue.is_done() {
            // A job that ended in a panic leaves some.
            queue.to_compile = 0;
            self.done.notify_all();
        }
        queue
    }

    /// Finishes the programs of a job.
    fn make(&self, job: Job) {
        let programs = job.programs();
        let done = catch_unwind(AssertUnwindSafe(|| match job {
            Job::Load(binary, programs) => self.load_or_compile(&binary, programs),
            Job::Compile(programs) => self.compile(&programs),
        }));
        if let Err(panic) = done {
            for program in programs {
                let (path, options) = (program.unit.source.path().into(), program.unit.options.to_string());
                let log = format!("a panic: {}", text_of(&*panic));
                program.finish(Err(Error::Build { program: path, options, log }));
            }
        }
    }

    fn load_or_compile(&self, binary: &str, programs: Vec<(Arc<Program>, KnownKernel)>) {
        let start = Instant::now();
        let arguments = || programs.iter().map(|(_, known)| &known.arguments);
        match self.loaded(binary).filter(|(loaded, _)| arguments().all(|of| of.is_of(loaded))) {
            Some((loaded, driver_ms)) => {
                self.loaded.fetch_add(programs.len() as u64, Relaxed);
                let count = programs.len();
                for (program, KnownKernel { arguments, .. }) in programs {
                    program.finish(Ok(Compiled::new(loaded.clone(), arguments)));
                }
                tracing::debug!(target: "blockmul::device", kernels = count, ms = ms(start), driver_ms, "kernels loaded");
            }
            None => {
                let programs: Vec<_> = programs.into_iter().map(|(program, _)| program).collect();
                self.queue().to_compile += programs.len() as u64;
                self.compile(&programs);
            }
        }
    }

    /// The program of a cached binary, and the driver's share of loading it in milliseconds.
    fn loaded(&self, key: &str) -> Option<(Arc<ClProgram>, f64)> {
        let mut binaries = self.binaries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = binaries.get(key).and_then(Weak::upgrade) {
            return Some((loaded, 0.0));
        }
        // Two threads that load the same binary at once get one program each.
        drop(binaries);
        let binary = self.cache.as_ref()?.binary(key)?;
        let start = Instant::now();
        let loaded = Arc::new(self.load(&binary).ok()?);
        let driver_ms = ms(start);
        binaries = self.binaries.lock().unwrap_or_else(PoisonError::into_inner);
        binaries.insert(key.to_owned(), Arc::downgrade(&loaded));
        Some((loaded, driver_ms))
    }

    /// Compiles programs as one. If that fails, compiles each alone, so that each has its own
    /// error.
    fn compile(&self, programs: &[Arc<Program>]) {
        self.report();
        match self.compiled(programs) {
            Ok(compiled) => {
                let count = programs.len() as u64;
                self.compiled.fetch_add(count, Relaxed);
                let mut queue = self.queue();
                queue.to_compile = queue.to_compile.saturating_sub(count);
                drop(queue);
                self.report();
                programs.iter().zip(compiled).for_each(|(program, compiled)| program.finish(Ok(compiled)));
            }
            Err(error) if programs.len() > 1 => {
                tracing::warn!(target: "blockmul::device", %error, "kernels do not compile together: one by one");
                for program in programs.iter().take_while(|_| !self.queue().closed) {
                    self.compile(std::slice::from_ref(program));
                }
            }
            Err(error) => {
                let mut queue = self.queue();
                queue.to_compile = queue.to_compile.saturating_sub(1);
                drop(queue);
                self.report();
                programs[0].finish(Err(error));
            }
        }
    }

    fn compiled(&self, programs: &[Arc<Program>]) -> Result<Vec<Compiled>> {
        let start = Instant::now();
        let units: Vec<&Unit> = programs.iter().map(|program| &program.unit).collect();
        let batch = Batch::new(units.iter().copied());
        // NVIDIA's driver crashes if it is asked for the kernels of a program without any.
        if let Some(kernel) = batch.missing {
            return Err(arguments::no_such_kernel(kernel));
        }
        let built = self.build(&batch, &units)?;
        let arguments: Vec<_> = (batch.names.iter().zip(&units))
            .map(|(name, unit)| arguments::of_kernel(&built, name, unit.kernel))
            .collect::<Result<_>>()?;
        if let Some(cache) = &self.cache
            && let Some(binary) = built.binary_of(self.device)
        {
            cache.store(&batch, units.iter().copied().zip(&arguments), &binary);
        }
        tracing::debug!(target: "blockmul::device", kernels = names(&units), ms = ms(start), "kernels compiled");
        let built = Arc::new(built);
        Ok(arguments.into_iter().map(|of| Compiled::new(built.clone(), of)).collect())
    }

    fn build(&self, batch: &Batch, units: &[&Unit]) -> Result<ClProgram> {
        let built = ClProgram::from_source(&self.context, &batch.text)?;
        built.build(self.device, &batch.options).map_err(|code| {
            let log = built.build_log(self.device);
            let why = match log.trim() {
                "" => format!("no log: {}", failed("clBuildProgram", code)),
                _ if code == BUILD_FAILURE => log,
                log => format!("{}\n{log}", failed("clBuildProgram", code)),
            };
            let options = units.iter().map(|unit| unit.options.to_string()).collect::<Vec<_>>().join(";");
            Error::Build { program: names(units), options, log: why }
        })?;
        Ok(built)
    }

    /// A program of the application's context from a binary.
    fn load(&self, binary: &[u8]) -> Result<ClProgram> {
        // SAFETY: the driver gave out these bytes for this device, version and source; only this
        // user could write to them since (see `kernel_cache`).
        let program = unsafe { ClProgram::from_binary(&self.context, self.device, binary)? };
        program.build(self.device, "").map_err(|code| failed("clBuildProgram", code))?;
        Ok(program)
    }

    /// Reports how many kernels are compiled, of all that are to be.
    fn report(&self) {
        // Under the lock, so that the last report is the newest.
        if let Some(progress) = &*self.progress.lock().unwrap_or_else(PoisonError::into_inner) {
            let (left, compiled) = (self.queue().to_compile, self.compiled.load(Relaxed));
            progress.tell(compiled, compiled + left);
        }
    }
}

/// The kernels' names for messages, such as `cl/product/esc/gather.cl gather_runs`.
fn names(units: &[&Unit]) -> String {
    let name = |unit: &&Unit| format!("{} {}", unit.source.path(), unit.kernel);
    units.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
