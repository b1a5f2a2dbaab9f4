//! Programs: asked for when a stage is set up, made by the [`Compiler`] when one of them is waited for.
use super::{
    arguments::KernelArguments,
    batch::Unit,
    compiler::Compiler,
    handle::{Kernel, Program as ClProgram},
    kernel::Handles,
};
use crate::{Error, Result};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// A kernel's program that is compiled, loaded, or on its way.
pub(super) struct Program {
    pub(super) unit: Unit,
    asked: AtomicBool,
    made: OnceLock<Result<Compiled>>,
}

/// A kernel compiled: its program, which others may share, what it takes, and the handles of it.
pub(super) struct Compiled {
    program: Arc<ClProgram>,
    pub(super) takes: KernelArguments,
    pub(super) handles: Handles,
}

impl Compiled {
    pub(super) fn new(program: Arc<ClProgram>, takes: KernelArguments) -> Self {
        Self { program, takes, handles: Handles::default() }
    }

    /// A new handle.
    pub(super) fn create(&self) -> Result<Kernel> {
        Kernel::of(&self.program, &self.takes.name)
    }
}

impl Program {
    fn new(unit: Unit) -> Self {
        Self { unit, asked: AtomicBool::new(false), made: OnceLock::new() }
    }

    /// Whether nobody has asked for it: once.
    pub(super) fn is_new(&self) -> bool {
        !self.asked.swap(true, Relaxed)
    }

    fn has_failed(&self) -> bool {
        self.made.get().is_some_and(Result::is_err)
    }

    /// Says what became of it; the first word counts.
    pub(super) fn finish(&self, made: Result<Compiled>) {
        let _the_later = self.made.set(made);
    }

    /// The kernel, when `compiler` has made it; and how long that was waited for.
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
        (made.as_ref().map_err(again), waited)
    }
}

/// The error of a program, for the next who asks for it.
fn again(error: &Error) -> Error {
    match error {
        Error::Build { program, options, log } => {
            Error::Build { program: program.clone(), options: options.clone(), log: log.clone() }
        }
        Error::OpenCl { call, code, name } => Error::OpenCl { call, code: *code, name },
        other => Error::Build { program: "a program".into(), options: String::new(), log: other.to_string() },
    }
}

/// Kernels' programs; at most [`ProgramCache::BOUND`], the least recently used leaves first.
#[derive(Default)]
pub(super) struct ProgramCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Counts the requests.
    clock: u64,
    /// When each was requested last, and the program.
    programs: HashMap<Unit, (u64, Arc<Program>)>,
}

impl ProgramCache {
    /// A product takes about twenty kernels; this keeps some twenty combinations of shape and type.
    const BOUND: usize = 512;

    /// The program of `unit`, a new one if it was not requested before.
    pub(super) fn get(&self, unit: Unit) -> Arc<Program> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { clock, programs } = &mut *guard;
        *clock += 1;
        if let Some((used, program)) = programs.get_mut(&unit) {
            *used = *clock;
            if program.has_failed() {
                *program = Arc::new(Program::new(unit)); // what was in its way may be gone
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
