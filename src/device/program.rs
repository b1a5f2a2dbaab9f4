//! Programs of kernels. A stage requests its programs when it is set up. When a stage waits for one
//! of its programs, the compiler makes all requested programs.
use super::{arguments::KernelArguments, batch::Unit, handle::Program as ClProgram, kernel_handle::KernelHandle};
use crate::Result;
use std::{
    any::TypeId,
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// The program of a kernel: compiled, loaded, or not made yet.
pub(super) struct Program {
    pub(super) unit: Unit,
    asked: AtomicBool,
    made: OnceLock<Result<Compiled>>,
}

/// A compiled kernel: its program, which other kernels may share, and its arguments.
pub(super) struct Compiled {
    program: Arc<ClProgram>,
    pub(super) arguments: KernelArguments,
    /// Idle handles. A `cl_kernel` stores its arguments, so each thread takes its own handle.
    idle: Mutex<Vec<KernelHandle>>,
    /// The declaration whose comparison with the kernel's arguments has succeeded.
    pub(super) agreed: OnceLock<TypeId>,
}

impl Compiled {
    pub(super) fn new(program: Arc<ClProgram>, arguments: KernelArguments) -> Self {
        Self { program, arguments, idle: Mutex::default(), agreed: OnceLock::new() }
    }

    /// An idle handle, or a new one.
    pub(super) fn take(&self) -> Result<KernelHandle> {
        let idle = self.idle().pop();
        idle.map_or_else(|| KernelHandle::of(&self.program, &self.arguments.name), Ok)
    }

    pub(super) fn put_back(&self, handle: KernelHandle) {
        self.idle().push(handle);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<KernelHandle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Program {
    fn new(unit: Unit) -> Self {
        Self { unit, asked: AtomicBool::new(false), made: OnceLock::new() }
    }

    /// Whether this is the first request for the program. Only one call returns true.
    pub(super) fn is_new(&self) -> bool {
        !self.asked.swap(true, Relaxed)
    }

    /// The compiled kernel or the error, or `None` before the kernel is made.
    pub(super) fn made(&self) -> Option<&Result<Compiled>> {
        self.made.get()
    }

    /// Waits until another thread has made the kernel.
    pub(super) fn wait(&self) -> &Result<Compiled> {
        self.made.wait()
    }

    fn has_failed(&self) -> bool {
        self.made.get().is_some_and(Result::is_err)
    }

    /// Stores the compiled kernel or the error. Later calls have no effect.
    pub(super) fn finish(&self, made: Result<Compiled>) {
        let _the_later = self.made.set(made);
    }
}

/// The programs of kernels, at most [`ProgramCache::BOUND`]. The least recently used program is
/// removed first.
#[derive(Default)]
pub(super) struct ProgramCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Number of requests so far.
    clock: u64,
    /// The programs, each with the time of its last request.
    programs: HashMap<Unit, (u64, Arc<Program>)>,
}

impl ProgramCache {
    /// A product of scalars uses about ninety kernels, so the cache holds about twenty combinations
    /// of shape and type.
    const BOUND: usize = 2048;

    /// The program of `unit`. The program is new if it has not been requested before.
    pub(super) fn get(&self, unit: Unit) -> Arc<Program> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { clock, programs } = &mut *guard;
        *clock += 1;
        if let Some((used, program)) = programs.get_mut(&unit) {
            *used = *clock;
            if program.has_failed() {
                // The cause of an earlier failure may no longer exist, so the program is made
                // again.
                *program = Arc::new(Program::new(unit));
            }
            return program.clone();
        }
        if programs.len() >= Self::BOUND {
            let oldest = programs.iter().min_by_key(|(_, (used, _))| *used).map(|(unit, _)| unit.clone());
            oldest.and_then(|unit| programs.remove(&unit));
        }
        let program = Arc::new(Program::new(unit.clone()));
        programs.insert(unit, (*clock, program.clone()));
        program
    }
}
