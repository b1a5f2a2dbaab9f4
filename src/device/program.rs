//! Programs: asked for when a stage is set up, made by the [`Compiler`] when one of them is waited for.
use super::{
    Options, Source,
    arguments::KernelArguments,
    batch::{Part, renamed},
    cl::check,
    compiler::Compiler,
    kernel::RawKernels,
};
use crate::{Error, Result};
use opencl3::{kernel::Kernel, program::Program as ClProgram};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

/// A program that is compiled, loaded, or on its way.
pub(super) struct Program {
    pub(super) part: Part,
    made: OnceLock<Result<Compiled>>,
}

/// A compiled program, what its kernels take, and the kernels taken from it.
pub(super) struct Compiled {
    program: Arc<ClProgram>,
    /// Which part of it this one is.
    part: usize,
    pub(super) arguments: Vec<KernelArguments>,
    pub(super) kernels: RawKernels,
}

impl Compiled {
    pub(super) fn new(program: Arc<ClProgram>, part: usize, arguments: Vec<KernelArguments>) -> Self {
        Self { program, part, arguments, kernels: RawKernels::default() }
    }

    /// A new kernel.
    pub(super) fn create(&self, name: &str) -> Result<Kernel> {
        check("clCreateKernel", Kernel::create(&self.program, &renamed(name, self.part)))
    }
}

impl Program {
    fn new(part: Part) -> Self {
        Self { part, made: OnceLock::new() }
    }

    /// Where its source is, for messages.
    pub(super) fn path(&self) -> &'static str {
        self.part.0.path
    }

    /// Says what became of it; the first word counts.
    pub(super) fn finish(&self, made: Result<Compiled>) {
        let _the_later = self.made.set(made);
    }

    /// The program, when `compiler` has made it; and how long that was waited for.
    pub(super) fn compiled(&self, compiler: &Compiler) -> (Result<&Compiled>, Duration) {
        let (made, waited) = match self.made.get() {
            Some(made) => (made, Duration::ZERO),
            None => {
                let start = Instant::now();
                compiler.start();
                (self.made.wait(), start.elapsed())
            }
        };
        (made.as_ref().map_err(again), waited)
    }

    /// The program, if it is made.
    pub(super) fn if_made(&self) -> Option<&Compiled> {
        self.made.get()?.as_ref().ok()
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

/// Programs by source and options; at most [`ProgramCache::BOUND`], the least recently used leaves first.
#[derive(Default)]
pub(super) struct ProgramCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Counts the requests.
    clock: u64,
    /// When each was requested last, and the program.
    programs: HashMap<Part, (u64, Arc<Program>)>,
}

impl ProgramCache {
    /// A product takes about ten programs; this keeps some twenty combinations of shape and type.
    const BOUND: usize = 256;

    /// The program of `source` with `options`: asked of `compiler` if nobody did before.
    pub(super) fn get(&self, compiler: &Compiler, source: Source, options: &Options) -> Arc<Program> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { clock, programs } = &mut *guard;
        *clock += 1;
        let key = (source, options.clone());
        if let Some((used, program)) = programs.get_mut(&key) {
            *used = *clock;
            return program.clone();
        }
        if programs.len() >= Self::BOUND {
            let oldest = programs.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            oldest.and_then(|key| programs.remove(&key));
        }
        let program = Arc::new(Program::new(key.clone()));
        compiler.ask(program.clone());
        programs.insert(key, (*clock, program.clone()));
        program
    }
}
