//! A kernel's arguments by name. They are declared once as a struct, whose fields have the names
//! and the order of the kernel's parameters.
//!
//! ```text
//! kernel! {
//!     /// Adds `a` to `b`.
//!     struct Sum<T: Word> = "sum" in "vector/sum.cl" { a: In<T>, b: InOut<T>, n: u32 }
//! }
//! // KERNEL sum(global const T* a, global T* b, uint n)
//! let sum: Kernel<Sum<'static, f64>> = Kernel::new(device, &options)?;
//! sum.launch(&work, Grid::items(n, group_size), Sum { a: &a, b: &mut b, n })?;
//! ```
//!
//! rustc checks the types at every launch. Names and types of the fields are compared with the
//! compiled kernel's before its first launch.
use super::{Source, buffer::Buffer, handle, pool::Memory, uses::Uses, work::bytes_of};
use crate::{Result, Word};
use std::marker::PhantomData;

// A buffer of no values is passed as a null pointer: each buffer of a launch takes NVIDIA's driver
// 0.4 us on the host, whatever its size.

/// A buffer the kernel reads.
pub(crate) struct In<T>(PhantomData<T>);
/// A buffer the kernel reads, or does not if there is none.
pub(crate) struct Maybe<T>(PhantomData<T>);
/// A buffer the kernel writes.
pub(crate) struct Out<T>(PhantomData<T>);
/// A buffer the kernel reads and writes.
pub(crate) struct InOut<T>(PhantomData<T>);

/// Local memory for values that the kernel's work-groups share. The host passes the number of
/// values of a group; 0 counts as 1.
pub(crate) struct Local<T>(PhantomData<T>);

/// A number.
pub(crate) struct Scalar<T>(PhantomData<T>);

/// Name and OpenCL type of a parameter, as the host declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub name: String,
    pub cl_type: String,
}

/// The parameters of a kernel, as the host declares them. No function here is generic: hundreds of
/// kernels call them for each field, and all code of a field is a call.
pub(crate) struct Declared {
    parameters: Vec<Parameter>,
    /// The names of the fields that are not declared yet.
    fields: std::str::Split<'static, char>,
}

impl Declared {
    /// The name of the field to declare.
    #[inline(never)]
    pub fn field(&mut self) -> &'static str {
        self.fields.next().unwrap_or_default()
    }

    /// Adds a pointer to values of this OpenCL type.
    #[inline(never)]
    pub fn pointer(&mut self, name: &str, to: &str) {
        self.parameters.push(Parameter { name: name.into(), cl_type: format!("{to}*") });
    }

    /// Adds a number of this OpenCL type.
    #[inline(never)]
    pub fn number(&mut self, name: &str, of: &str) {
        self.parameters.push(Parameter { name: name.into(), cl_type: of.into() });
    }

    #[inline(never)]
    fn pointer_field(&mut self, to: &str) {
        let name = self.field();
        self.pointer(name, to);
    }

    #[inline(never)]
    fn number_field(&mut self, of: &str) {
        let name = self.field();
        self.number(name, of);
    }
}

/// The arguments of a launch, set one after another. No function here is generic, so that the
/// hundreds of kernels share them. After a failure nothing is set.
pub(crate) struct Arguing<'k> {
    kernel: &'k handle::Kernel,
    index: u32,
    /// The device memory passed.
    uses: Uses,
    set: Result<()>,
}

impl<'k> Arguing<'k> {
    /// Those of a kernel that is launched with `uses`.
    pub(super) fn new(kernel: &'k handle::Kernel, uses: Uses) -> Self {
        Self { kernel, index: 0, uses, set: Ok(()) }
    }

    /// What the launch uses, with the device memory passed, if all arguments were set.
    pub(super) fn finish(self) -> Result<Uses> {
        self.set.map(|()| self.uses)
    }

    fn set(&mut self, set: impl FnOnce(&handle::Kernel, u32) -> Result<()>) {
        if self.set.is_ok() {
            self.set = set(self.kernel, self.index);
            self.index += 1;
        }
    }

    /// # Safety
    /// The next argument must be a pointer to global memory of this type.
    #[inline(never)]
    unsafe fn memory(&mut self, memory: &Memory) {
        self.uses.memory(memory);
        // SAFETY: as the caller promises; the handle lives as long as the borrow.
        self.set(|kernel, index| unsafe { kernel.set_memory(index, memory) });
    }

    /// # Safety
    /// The next argument must be a pointer to global memory.
    #[inline(never)]
    unsafe fn no_memory(&mut self) {
        // SAFETY: as the caller promises.
        self.set(|kernel, index| unsafe { kernel.set_no_memory(index) });
    }

    /// # Safety
    /// The next argument must be a pointer to local memory.
    #[inline(never)]
    unsafe fn local(&mut self, bytes: Result<u64>) {
        // SAFETY: as the caller promises.
        self.set(|kernel, index| unsafe { kernel.set_local(index, bytes?) });
    }

    /// # Safety
    /// The next argument must be a number of these bytes.
    #[inline(never)]
    unsafe fn number(&mut self, bytes: &[u8]) {
        // SAFETY: as the caller promises.
        self.set(|kernel, index| unsafe { kernel.set_number(index, bytes) });
    }
}

/// The type of a field of a `kernel!`: one parameter of the kernel, or several.
pub(crate) trait Param {
    /// The value that the host passes.
    type Value<'a>;
    /// Adds the parameters that the next field stands for.
    fn declare(to: &mut Declared);
    /// Passes the value.
    ///
    /// # Safety
    /// The kernel must have the parameters of [`Param::declare`] next.
    unsafe fn pass(value: &Self::Value<'_>, to: &mut Arguing<'_>);
}

macro_rules! buffer_param {
    ($param:ident, $value:ty) => {
        impl<T: Word> Param for $param<T> {
            type Value<'a> = $value;
            fn declare(to: &mut Declared) {
                to.pointer_field(T::CL_NAME);
            }
            unsafe fn pass(value: &Self::Value<'_>, to: &mut Arguing<'_>) {
                // SAFETY: passed on from the caller.
                unsafe { if value.len() > 0 { to.memory(&value.memory) } else { to.no_memory() } }
            }
        }
    };
}
buffer_param!(In, &'a Buffer<T>);
buffer_param!(Out, &'a mut Buffer<T>);
buffer_param!(InOut, &'a mut Buffer<T>);

impl<T: Word> Param for Maybe<T> {
    type Value<'a> = Option<&'a Buffer<T>>;
    fn declare(to: &mut Declared) {
        In::<T>::declare(to);
    }
    unsafe fn pass(value: &Self::Value<'_>, to: &mut Arguing<'_>) {
        // SAFETY: passed on from the caller.
        unsafe {
            match value {
                Some(buffer) => In::pass(buffer, to),
                None => to.no_memory(),
            }
        }
    }
}

impl<T: Word> Param for Local<T> {
    type Value<'a> = usize;
    fn declare(to: &mut Declared) {
        to.pointer_field(T::CL_NAME);
    }
    unsafe fn pass(&len: &usize, to: &mut Arguing<'_>) {
        // OpenCL refuses local memory of 0 bytes.
        let bytes = bytes_of::<T>(len.max(1));
        // SAFETY: passed on from the caller.
        unsafe { to.local(bytes) }
    }
}

impl<T: Word> Param for Scalar<T> {
    type Value<'a> = T;
    fn declare(to: &mut Declared) {
        to.number_field(T::CL_NAME);
    }
    unsafe fn pass(value: &T, to: &mut Arguing<'_>) {
        // SAFETY: passed on from the caller.
        unsafe { to.number(bytemuck::bytes_of(value)) }
    }
}

/// The numbers kernels take most, by their own names.
macro_rules! scalar_param {
    ($($scalar:ty),+) => { $(
        impl Param for $scalar {
            type Value<'a> = $scalar;
            fn declare(to: &mut Declared) {
                Scalar::<$scalar>::declare(to);
            }
            unsafe fn pass(value: &$scalar, to: &mut Arguing<'_>) {
                // SAFETY: passed on from the caller.
                unsafe { Scalar::<$scalar>::pass(value, to) }
            }
        }
    )+ };
}
scalar_param!(u32, u64);

/// The arguments of one kernel: a struct that `kernel!` declares.
pub(crate) trait Arguments: 'static {
    /// The source that contains the kernel.
    const SOURCE: Source;
    /// The kernel's name in that source.
    const KERNEL: &'static str;
    /// The struct, with the borrows of one launch.
    type Passed<'a>;
    /// The names of the fields, each before a blank.
    const FIELDS: &'static str;
    fn declare(to: &mut Declared);
    /// # Safety
    /// The kernel must take exactly the parameters of [`Arguments::declare`].
    unsafe fn pass(passed: &Self::Passed<'_>, to: &mut Arguing<'_>);
}

/// All parameters that `declare` adds.
pub(super) fn parameters(fields: &'static str, declare: fn(&mut Declared)) -> Vec<Parameter> {
    let mut declared = Declared { parameters: Vec::new(), fields: fields.split(' ') };
    declare(&mut declared);
    declared.parameters
}

/// Declares the arguments of a kernel, see the head of this file. If several files are given,
/// the last one has the kernel, and the texts of the others come before it.
macro_rules! kernel {
    (
        $(#[$meta:meta])* $visibility:vis struct $name:ident $(<$($word:ident: $bound:path),+>)? = $kernel:literal in $($path:literal),+ {
            $($field:ident: $param:ty),+ $(,)?
        }
    ) => {
        $crate::device::kernel! {
            $(#[$meta])* $visibility struct $name $(<$($word: $bound),+>)? = $kernel in ($crate::device::source!($($path),+)) {
                $($field: $param),+
            }
        }
    };
    (
        $(#[$meta:meta])* $visibility:vis struct $name:ident $(<$($word:ident: $bound:path),+>)? = $kernel:literal in ($source:expr) {
            $($field:ident: $param:ty),+ $(,)?
        }
    ) => {
        // Evaluated where it is declared: a file that is not in the list is an error of `cargo
        // check`.
        const _: $crate::device::Source = $source;
        $(#[$meta])*
        $visibility struct $name<'a $(, $($word: $bound),+)?> {
            $(pub $field: <$param as $crate::device::Param>::Value<'a>),+
        }
        impl $(<$($word: $bound),+>)? $crate::device::Arguments for $name<'static $(, $($word),+)?> {
            const SOURCE: $crate::device::Source = $source;
            const KERNEL: &'static str = $kernel;
            type Passed<'a> = $name<'a $(, $($word),+)?>;
            const FIELDS: &'static str = concat!($(stringify!($field), " "),+);
            fn declare(to: &mut $crate::device::Declared) {
                $(<$param as $crate::device::Param>::declare(to);)+
            }
            unsafe fn pass(passed: &Self::Passed<'_>, to: &mut $crate::device::Arguing<'_>) {
                // SAFETY: passed on from the caller, argument by argument.
                $(unsafe { <$param as $crate::device::Param>::pass(&passed.$field, to) };)+
            }
        }
    };
}
pub(crate) use kernel;
