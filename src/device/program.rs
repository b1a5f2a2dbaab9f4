//! Programs: sources and options to a compiled program, kept.
use super::{DeviceInfo, cl::check, kernel::RawKernels};
use crate::{Element, Error, Result, Word};
use opencl3::{context::Context, program::Program, types::cl_device_id};
use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// A kernel file, embedded: its path for messages and its text.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub path: &'static str,
    pub text: &'static str,
}

/// Embeds a file under `cl/`: `source!("esc/gather.cl")`; or two, the words of the second before it.
macro_rules! source {
    ($words:literal, $path:literal) => {
        $crate::device::Source {
            path: concat!("cl/", $path),
            text: concat!(
                include_str!(concat!("../../cl/", $words)),
                "\n#line 1 \"cl/",
                $path,
                "\"\n",
                include_str!(concat!("../../cl/", $path))
            ),
        }
    };
    ($path:literal) => {
        $crate::device::Source { path: concat!("cl/", $path), text: include_str!(concat!("../../cl/", $path)) }
    };
}
pub(crate) use source;

/// The words every kernel shares.
const COMMON: Source = source!("common.cl");

/// The defines a program is compiled with. Two programs with the same sources and options are one.
#[derive(Clone, Default)]
pub(crate) struct Options {
    text: String,
}

impl Options {
    /// Every kernel is compiled for one work-group size.
    pub fn group_size(group_size: usize) -> Self {
        Self::default().define("GROUP_SIZE", group_size)
    }

    /// `-D name=value`.
    pub fn define(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        let _ = write!(self.text, " -D{name}={value}");
        self
    }

    /// `-D name=` the OpenCL name of `T`.
    pub fn word<T: Word>(self, name: &str) -> Self {
        self.define(name, T::CL_NAME)
    }

    /// Quotients and square roots of `float` correctly rounded, as those of `double` are: where the device can.
    pub fn exact_division(mut self, info: &DeviceInfo) -> Self {
        if info.exact_division {
            self.text += " -cl-fp32-correctly-rounded-divide-sqrt";
        }
        self
    }

    /// What kernels load, store and compute with: ELEMENT, ARITHMETIC, LOAD and STORE of `cl/common.cl`.
    pub fn element<T: Element>(self) -> Self {
        self.word::<T>("ELEMENT")
            .word::<T::Arithmetic>("ARITHMETIC")
            .define("ELEMENT_IS_HALF", u8::from(T::NAME == "f16"))
    }
}

/// A compiled program and the kernels taken from it.
pub(super) struct Compiled {
    pub(super) program: Program,
    pub(super) kernels: RawKernels,
}

/// A source's path and the options it is compiled with.
type Key = (&'static str, String);

/// Compiled programs by source and options; at most [`ProgramCache::BOUND`], the least recently used leaves first.
#[derive(Default)]
pub(super) struct ProgramCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Counts the requests.
    clock: u64,
    /// When each was requested last, and what was compiled.
    programs: HashMap<Key, (u64, Arc<Compiled>)>,
}

impl ProgramCache {
    /// A product takes about ten programs; this keeps some twenty combinations of shape and type.
    const BOUND: usize = 256;

    pub(super) fn get(
        &self,
        context: &Context,
        device: cl_device_id,
        source: Source,
        options: &Options,
    ) -> Result<Arc<Compiled>> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { clock, programs } = &mut *guard;
        *clock += 1;
        let key = (source.path, options.text.clone());
        if let Some((used, compiled)) = programs.get_mut(&key) {
            *used = *clock;
            return Ok(compiled.clone());
        }
        if programs.len() >= Self::BOUND {
            let oldest = programs.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            oldest.and_then(|key| programs.remove(&key));
        }
        let compiled =
            Arc::new(Compiled { program: build(context, device, source, options)?, kernels: RawKernels::default() });
        programs.insert(key, (*clock, compiled.clone()));
        Ok(compiled)
    }
}

fn build(context: &Context, device: cl_device_id, source: Source, options: &Options) -> Result<Program> {
    // One string, since several crash opencl3 0.12; a #line before each part, so that the log names the file.
    let part = |s: Source| format!("#line 1 \"{}\"\n{}\n", s.path, s.text);
    let text = part(COMMON) + &part(source);
    let options = format!("-cl-std=CL1.2 -cl-kernel-arg-info{}", options.text);
    let mut program = check("clCreateProgramWithSource", Program::create_from_source(context, &text))?;
    program.build(&[device], &options).map_err(|error| Error::Build {
        program: source.path.into(),
        options,
        log: program.get_build_log(device).unwrap_or_else(|_| format!("no log; OpenCL error {}", error.0)),
    })?;
    Ok(program)
}
