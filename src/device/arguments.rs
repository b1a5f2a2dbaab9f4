//! Names and types of kernel arguments, as the compiler reports them. These names and types are
//! read from a program built from source, and compared with the arguments that the host passes.
use super::{handle::Program, kernel_handle::KernelHandle};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The arguments of the kernel `name` of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KernelArguments {
    pub(super) name: String,
    pub(super) arguments: Vec<Argument>,
}

/// Name and OpenCL type of an argument, as the compiler reports it or the host declares it. The
/// compiler's name and type are empty if the driver does not provide them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) cl_type: String,
}

impl KernelArguments {
    /// Whether `program` contains this kernel. Only the kernel's name and its number of arguments
    /// are compared, because a program loaded from a binary has no names and types of arguments.
    pub(super) fn is_of(&self, program: &Program) -> bool {
        let count = KernelHandle::of(program, &self.name).and_then(|kernel| kernel.arguments());
        count.is_ok_and(|count| count as usize == self.arguments.len())
    }
}

pub(super) fn no_such_kernel(kernel: &'static str) -> Error {
    Error::Signature { kernel, detail: "its source has no such kernel".into() }
}

/// The arguments of the kernel `name` of a program; `written` is its name in the source. OpenCL
/// guarantees names and types only for programs built from source.
pub(super) fn of_kernel(program: &Program, name: &str, written: &'static str) -> Result<KernelArguments> {
    if !program.kernel_names()?.iter().any(|one| one == name) {
        return Err(no_such_kernel(written));
    }
    let kernel = KernelHandle::of(program, name)?;
    let argument = |index| {
        let (name, cl_type) = kernel.argument(index);
        Argument { name, cl_type: cl_type.replace(' ', "") }
    };
    let count = kernel.arguments()?;
    Ok(KernelArguments { name: name.into(), arguments: (0..count).map(argument).collect() })
}

/// Compares the arguments of `kernel` with the host's declaration: their number, names and types.
pub(super) fn compare(arguments: &[Argument], kernel: &'static str, want: &[Argument]) -> Result<()> {
    let refuse = |detail| Err(Error::Signature { kernel, detail });
    if arguments.len() != want.len() {
        return refuse(format!("takes {} arguments, the host passes {}", arguments.len(), want.len()));
    }
    for (index, (Argument { name, cl_type }, want)) in arguments.iter().zip(want).enumerate() {
        if !cl_type.is_empty() && *cl_type != want.cl_type {
            return refuse(format!("argument {index} ({name}) is `{cl_type}`, the host passes `{}`", want.cl_type));
        }
        if *name != want.name && !name.is_empty() {
            return refuse(format!("argument {index} is called {name}, the host's is called {}", want.name));
        }
    }
    Ok(())
}
