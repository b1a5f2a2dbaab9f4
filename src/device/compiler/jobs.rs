//! Jobs of a thread: loading a binary from the cache, or compiling several programs as one.
use super::Shared;
use crate::{
    Error, Result,
    device::{
        arguments,
        batch::{Batch, Unit},
        cl::{BUILD_FAILURE, failed},
        handle::Program as ClProgram,
        kernel_cache::KnownKernel,
        program::{Compiled, Program},
    },
    events::ms,
};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError, Weak, atomic::Ordering::Relaxed},
    time::Instant,
};

pub(super) enum Job {
    /// Loads several kernels from one binary of the cache.
    Load(String, Vec<(Arc<Program>, KnownKernel)>),
    /// Compiles these programs as one.
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

impl Shared {
    /// Finishes the programs of a job.
    pub(super) fn make(&self, job: Job) {
        let programs = job.programs();
        let done = catch_unwind(AssertUnwindSafe(|| match job {
            Job::Load(binary, programs) => self.load_or_compile(&binary, programs),
            Job::Compile(programs) => self.compile(&programs),
        }));
        if let Err(panic) = done {
            self.failed.fetch_add(1, Relaxed);
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

    /// The program of a cached binary, and the milliseconds that the driver took to load it.
    fn loaded(&self, key: &str) -> Option<(Arc<ClProgram>, f64)> {
        let mut binaries = self.binaries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = binaries.get(key).and_then(Weak::upgrade) {
            return Some((loaded, 0.0));
        }
        // If two threads load the same binary at the same time, each gets its own program.
        drop(binaries);
        let binary = self.cache.as_ref()?.binary(key)?;
        let start = Instant::now();
        let loaded = Arc::new(self.load(&binary).ok()?);
        let driver_ms = ms(start);
        binaries = self.binaries.lock().unwrap_or_else(PoisonError::into_inner);
        binaries.insert(key.to_owned(), Arc::downgrade(&loaded));
        Some((loaded, driver_ms))
    }

    /// Compiles programs as one. Programs that do not compile together are compiled alone, so that
    /// each has its own error.
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
                tracing::warn!(target: "blockmul::device", %error, "kernels do not compile together, so they are compiled one by one");
                for program in programs.iter().take_while(|_| !self.queue().closed) {
                    self.compile(std::slice::from_ref(program));
                }
            }
            Err(error) => {
                let mut queue = self.queue();
                queue.to_compile = queue.to_compile.saturating_sub(1);
                drop(queue);
                self.report();
                self.failed.fetch_add(1, Relaxed);
                programs[0].finish(Err(error));
            }
        }
    }

    fn compiled(&self, programs: &[Arc<Program>]) -> Result<Vec<Compiled>> {
        let start = Instant::now();
        let units: Vec<&Unit> = programs.iter().map(|program| &program.unit).collect();
        let batch = Batch::new(units.iter().copied());
        // NVIDIA's driver crashes if it is asked for the kernels of a program that has no kernel.
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

    /// A program from a binary, in the application's context.
    fn load(&self, binary: &[u8]) -> Result<ClProgram> {
        // SAFETY: the driver gave out these bytes for this device, version and source; only this
        // user could have changed the cached bytes since (see `kernel_cache`).
        let program = unsafe { ClProgram::from_binary(&self.context, self.device, binary)? };
        program.build(self.device, "").map_err(|code| failed("clBuildProgram", code))?;
        Ok(program)
    }

    /// Reports the number of kernels compiled so far and the number of kernels to compile.
    fn report(&self) {
        // This thread holds the lock while it reports, so the last report has the newest numbers.
        if let Some(progress) = &*self.progress.lock().unwrap_or_else(PoisonError::into_inner) {
            let (left, compiled) = (self.queue().to_compile, self.compiled.load(Relaxed));
            progress.tell(compiled, compiled + left);
        }
    }
}

/// The names of kernels for messages, such as `cl/product/esc/gather.cl gather_runs`.
fn names(units: &[&Unit]) -> String {
    let name = |unit: &&Unit| format!("{} {}", unit.source.path(), unit.kernel);
    units.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
