//! Makes a device's programs on threads of its own. Kernels in the cache are loaded, and all other
//! kernels are compiled from source.
//!
//! The stages of a product request their kernels while they are set up. When the first kernel is
//! launched, the host waits for all requested kernels. Requested kernels that are not in the cache
//! are compiled as one program (see `batch`), because PoCL and NVIDIA's driver compile only one
//! program of a process at a time. Binaries from the cache are loaded in parallel.
mod jobs;

use super::{
    DeviceInfo,
    handle::{Context, Program as ClProgram},
    info::DeviceId,
    kernel_cache::Cache,
    program::{Compiled, Program},
};
use crate::{Error, Progress, Result};
use jobs::Job;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Maximum number of threads. More than 8 threads would gain nothing, because the plans of a solver
/// have about ten binaries.
const MOST_THREADS: usize = 8;
/// Time for which an idle thread waits for the next job before it ends.
const LINGER: Duration = Duration::from_secs(2);

/// The threads that make a device's programs. The threads end when the `Compiler` is dropped.
pub(super) struct Compiler {
    shared: Arc<Shared>,
}

/// The state that the threads share.
struct Shared {
    context: Arc<Context>,
    device: DeviceId,
    cache: Option<Cache>,
    /// Loaded binaries by their keys.
    binaries: Mutex<HashMap<String, Weak<ClProgram>>>,
    compiled: AtomicU64,
    loaded: AtomicU64,
    failed: AtomicU64,
    progress: Mutex<Option<Progress>>,
    queue: Mutex<Queue>,
    /// Signals a new job, or the end.
    wake: Condvar,
    /// Signals that no job is left.
    done: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Programs that are requested and not begun.
    asked: Vec<Arc<Program>>,
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    /// Number of threads that work on a job.
    busy: usize,
    /// Number of kernels in the jobs that compile, begun or not.
    to_compile: u64,
    closed: bool,
    handles: Vec<JoinHandle<()>>,
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
                failed: AtomicU64::new(0),
                progress: Mutex::default(),
                queue: Mutex::default(),
                wake: Condvar::new(),
                done: Condvar::new(),
            }),
        }
    }

    /// Requests `program`, unless it is already made or requested. The compiler begins to make it
    /// when the host first waits for any requested program.
    pub(super) fn ask(&self, program: &Arc<Program>) {
        // This thread holds the lock, so a program that is no longer new is already in the list.
        let mut queue = self.shared.queue();
        if program.is_new() {
            queue.asked.push(program.clone());
        }
    }

    /// Begins to make all requested programs. Returns whether there were any.
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
            // The system cannot start another thread, so this thread compiles.
            while let Some(job) = queue.jobs.pop_front() {
                queue = self.shared.work_off(queue, job);
            }
        }
        true
    }

    /// Waits until `program` is made. Also returns the time spent waiting.
    pub(super) fn compiled<'p>(&self, program: &'p Arc<Program>) -> (Result<&'p Compiled>, Duration) {
        let (made, waited) = match program.made() {
            Some(made) => (made, Duration::ZERO),
            None => {
                let start = Instant::now();
                self.ask(program);
                self.start();
                (program.wait(), start.elapsed())
            }
        };
        (made.as_ref().map_err(repeated), waited)
    }

    /// Waits until every requested program is made. Returns the time spent waiting.
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

    /// Number of kernels compiled from source so far, and of kernels loaded from the cache.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.shared.compiled.load(Relaxed), self.shared.loaded.load(Relaxed))
    }

    /// Number of programs that could not be made so far.
    pub(super) fn failed(&self) -> u64 {
        self.shared.failed.load(Relaxed)
    }

    /// Reports to `progress` how many of the requested kernels have been compiled.
    pub(super) fn report_to(&self, progress: Progress) {
        *self.shared.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }
}

/// A copy of a program's error, so that it can be returned again.
fn repeated(error: &Error) -> Error {
    match error {
        Error::Build { program, options, log } => {
            Error::Build { program: program.clone(), options: options.clone(), log: log.clone() }
        }
        Error::OpenCl { call, code, name } => Error::OpenCl { call, code: *code, name },
        other => Error::Build { program: "a program".into(), options: String::new(), log: other.to_string() },
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
            // The driver must not be unloaded while a thread compiles.
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

    /// The loop of a compiler thread. The thread works on jobs until there has been no job for a
    /// while.
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

    /// Works on a job while the queue is unlocked.
    fn work_off<'s>(&'s self, mut queue: MutexGuard<'s, Queue>, job: Job) -> MutexGuard<'s, Queue> {
        queue.busy += 1;
        drop(queue);
        self.make(job);
        queue = self.queue();
        queue.busy -= 1;
        if queue.is_done() {
            // A job that panicked may have left this count above zero.
            queue.to_compile = 0;
            self.done.notify_all();
        }
        queue
    }
}
