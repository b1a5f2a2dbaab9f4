//! Programs of kernels. A stage requests its programs when it is set up. The [`Compiler`] makes all
//! requested programs when one of them is waited for.
use super::{
    arguments::KernelArguments,
    batch::Unit,
    compiler::Compiler,
    handle::{Kernel, Program as ClProgram},
    kernel::Handles,
};
use crate::{Error, Result};
use std::{
    any::TypeId,
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// The program of a kernel: compiled, loaded, or still to be made.
pub(super) struct Program {
    pub(super) unit: Unit,
    asked: AtomicBool,
    made: OnceLock<Result<Compiled>>,
}

/// A compiled kernel: its program, which other kernels may share, its arguments, and its handles.
pub(super) struct Compiled {
    program: Arc<ClProgram>,
    pub(super) arguments: KernelArguments,
    pub(super) handles: Handles,
    /// The declaration that was compared with the kernel's arguments.
    pub(super) agreed: OnceLock<TypeId>,
}

impl Compiled {
    pub(super) fn new(program: Arc<ClProgram>, arguments: KernelArguments) -> Self {
        Self { program, arguments, handles: Handles::default(), agreed: OnceLock::new() }
    }

    /// A new handle.
    pub(super) fn create(&self) -> Result<Kernel> {
        Kernel::of(&self.program, &self.arguments.name)
    }
}

impl Program {
    fn new(unit: Unit) -> Self {
        Self { unit, asked: AtomicBool::new(false), made: OnceLock::new() }
    }

    /// Whether this is the first request for it. Only one call returns true.
    pub(super) fn is_new(&self) -> bool {
        !self.asked.swap(true, Relaxed)
    }

    fn has_failed(&self) -> bool {
        self.made.get().is_some_and(Result::is_err)
    }

    /// Stores the compiled kernel or the error. Only the first call counts.
    pub(super) fn finish(&self, made: Result<Compiled>) {
        let _the_later = self.made.set(made);
    }

    /// Waits until `compiler` has made the kernel. Also returns the time spent waiting.
    pub(super) fn compiled(self: &Arc<Self>, compiler: &Compiler) -> (Result<&Compiled>, Duration) {
        let (made, waited) = match self.made.get() {
            Some(made) => (made, Duration::ZERO),
            None => {
                let start = Instant::now();
                compiler.ask(self);
                compiler.start();
                (self.made.wait(), start.elapsed())
            }
        };
        (made.as_ref().map_err(repeated), waited)
    }
}

/// A copy of a program's error, to be returned again.
fn repeated(error: &Error) -> Error {
    match error {
        Error::Build { program, options, log } => {
            Error::Build { program: program.clone(), options: options.clone(), log: log.clone() }
        }
        Error::OpenCl { call, code, name } => Error::OpenCl { call, code: *code, name },
        other => Error::Build { program: "a program".into(), options: String::new(), log: other.to_string() },
    }
}

/// Kernels' programs, at most [`ProgramCache::BOUND`]. The least recently used one is removed
/// first.
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
    /// A product of scalars uses about ninety kernels, so this keeps about twenty combinations of
    /// shape and type.
    const BOUND: usize = 2048;

    /// The program of `unit`. It is new if it was not requested before.
    pub(super) fn get(&self, unit: Unit) -> Arc<Program> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { clock, programs } = &mut *guard;
        *clock += 1;
        if let Some((used, program)) = programs.get_mut(&unit) {
            *used = *clock;
            if program.has_failed() {
                // The cause of an earlier failure may be gone, so the program is made again.
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
