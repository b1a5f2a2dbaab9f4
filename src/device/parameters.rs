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
use super::{Source, buffer::Buffer, handle, work::bytes_of};
use crate::{Result, Word};
use std::marker::PhantomData;

/// A buffer the kernel reads.
pub(crate) struct In<T>(PhantomData<T>);
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

/// The type of a field of a `kernel!`: one parameter of the kernel, or several.
pub(crate) trait Param {
    /// The value that the host passes.
    type Value<'a>;
    /// The parameters that a field called `name` stands for.
    fn declare(name: &str) -> Vec<Parameter>;
    /// Bytes of device memory passed.
    fn bytes(value: &Self::Value<'_>) -> u64;
    /// Sets the arguments from `index` on, and returns the index of the next one.
    ///
    /// # Safety
    /// The kernel must have the parameters of [`Param::declare`] there.
    unsafe fn set(kernel: &handle::Kernel, index: u32, value: &Self::Value<'_>) -> Result<u32>;
}

macro_rules! buffer_param {
    ($param:ident, $value:ty) => {
        impl<T: Word> Param for $param<T> {
            type Value<'a> = $value;
            fn declare(name: &str) -> Vec<Parameter> {
                vec![Parameter { name: name.into(), cl_type: format!("{}*", T::CL_NAME) }]
            }
            fn bytes(value: &Self::Value<'_>) -> u64 {
                value.bytes()
            }
            unsafe fn set(kernel: &handle::Kernel, index: u32, value: &Self::Value<'_>) -> Result<u32> {
                // SAFETY: the argument is a global pointer by the caller's word; the handle lives
                // as long as the borrow.
                unsafe { kernel.set_memory(index, &value.memory)? };
                Ok(index + 1)
            }
        }
    };
}
buffer_param!(In, &'a Buffer<T>);
buffer_param!(Out, &'a mut Buffer<T>);
buffer_param!(InOut, &'a mut Buffer<T>);

impl<T: Word> Param for Local<T> {
    type Value<'a> = usize;
    fn declare(name: &str) -> Vec<Parameter> {
        vec![Parameter { name: name.into(), cl_type: format!("{}*", T::CL_NAME) }]
    }
    fn bytes(_: &usize) -> u64 {
        0
    }
    unsafe fn set(kernel: &handle::Kernel, index: u32, &len: &usize) -> Result<u32> {
        // OpenCL refuses local memory of 0 bytes.
        // SAFETY: the argument is a local pointer by the caller's word.
        unsafe { kernel.set_local(index, bytes_of::<T>(len.max(1))?)? };
        Ok(index + 1)
    }
}

impl<T: Word> Param for Scalar<T> {
    type Value<'a> = T;
    fn declare(name: &str) -> Vec<Parameter> {
        vec![Parameter { name: name.into(), cl_type: T::CL_NAME.into() }]
    }
    fn bytes(_: &T) -> u64 {
        0
    }
    unsafe fn set(kernel: &handle::Kernel, index: u32, value: &T) -> Result<u32> {
        // SAFETY: the argument has this type by the caller's word.
        unsafe { kernel.set_arg(index, value)? };
        Ok(index + 1)
    }
}

/// The numbers kernels take most, by their own names.
macro_rules! scalar_param {
    ($($scalar:ty),+) => { $(
        impl Param for $scalar {
            type Value<'a> = $scalar;
            fn declare(name: &str) -> Vec<Parameter> {
                Scalar::<$scalar>::declare(name)
            }
            fn bytes(_: &$scalar) -> u64 {
                0
            }
            unsafe fn set(kernel: &handle::Kernel, index: u32, value: &$scalar) -> Result<u32> {
                // SAFETY: passed on from the caller.
                unsafe { Scalar::<$scalar>::set(kernel, index, value) }
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
    fn parameters() -> Vec<Parameter>;
    /// Bytes of device memory passed.
    fn bytes(passed: &Self::Passed<'_>) -> u64;
    /// # Safety
    /// The kernel must take exactly [`Arguments::parameters`].
    unsafe fn set(kernel: &handle::Kernel, passed: &Self::Passed<'_>) -> Result<()>;
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
        $(#[$meta])*
        $visibility struct $name<'a $(, $($word: $bound),+)?> {
            $(pub $field: <$param as $crate::device::Param>::Value<'a>),+
        }
        impl $(<$($word: $bound),+>)? $crate::device::Arguments for $name<'static $(, $($word),+)?> {
            const SOURCE: $crate::device::Source = $source;
            const KERNEL: &'static str = $kernel;
            type Passed<'a> = $name<'a $(, $($word),+)?>;
            fn parameters() -> Vec<$crate::device::Parameter> {
                [$(<$param as $crate::device::Param>::declare(stringify!($field))),+].concat()
            }
            fn bytes(passed: &Self::Passed<'_>) -> u64 {
                [$(<$param as $crate::device::Param>::bytes(&passed.$field)),+].iter().sum()
            }
            unsafe fn set(
                kernel: &$crate::device::RawKernel,
                passed: &Self::Passed<'_>,
            ) -> $crate::Result<()> {
                let index = 0;
                // SAFETY: passed on from the caller, argument by argument.
                $(let index = unsafe { <$param as $crate::device::Param>::set(kernel, index, &passed.$field)? };)+
                let _ = index;
                Ok(())
            }
        }
    };
}
pub(crate) use kernel;
