//! Kernel arguments by name. The arguments of a kernel are declared once, as a struct whose fields
//! have the names and the order of the kernel's parameters.
//!
//! ```text
//! kernel! {
//!     /// Adds `a` to `b`.
//!     struct Sum = "sum" in "vector/sum.cl" { a: In<Elem>, b: InOut<Elem>, n: u32 }
//! }
//! // KERNEL sum(global const ELEMENT* a, global ELEMENT* b, uint n)
//! let sum: Kernel<Sum<'static>> = Kernel::new(device, &options.element(element))?;
//! sum.launch(&work, Grid::items(n, group_size), Sum { a: &a, b: &mut b, n })?;
//! ```
//!
//! The type of a parameter is fixed by the host or by the options of the kernel: see [`Slot`].
//! rustc checks types that the host fixes; each launch checks types that the options fix. Before
//! the first launch of a kernel, the names and types of the fields are compared with the compiled
//! kernel.
use super::{
    Source,
    arguing::Arguing,
    arguments::Argument,
    buffer::Buffer,
    slot::{Slot, Words},
};
use crate::element::WordType;
use std::marker::PhantomData;

// A buffer without values is passed as a null pointer, because each buffer of a launch costs
// NVIDIA's driver 0.4 us on the host, whatever its size.

/// A buffer that the kernel reads.
pub(crate) struct In<T>(PhantomData<T>);
/// A buffer that the kernel reads, or no buffer.
pub(crate) struct Maybe<T>(PhantomData<T>);
/// A buffer that the kernel writes.
pub(crate) struct Out<T>(PhantomData<T>);
/// A buffer that the kernel reads and writes.
pub(crate) struct InOut<T>(PhantomData<T>);

/// Local memory for values that the items of a work-group share. The host passes the number of
/// values for each work-group; 0 counts as 1.
pub(crate) struct Local<T>(PhantomData<T>);

/// A number.
pub(crate) struct Scalar<T>(PhantomData<T>);

/// The parameters of a kernel, as the host declares them. The functions of this type are neither
/// generic nor inlined, because hundreds of kernels call them for each field.
pub(crate) struct Declared {
    parameters: Vec<Argument>,
    words: Words,
    /// The names of the fields that have not been declared yet.
    fields: std::str::Split<'static, char>,
}

impl Declared {
    /// The name of the next field to declare.
    #[inline(never)]
    pub fn field(&mut self) -> &'static str {
        self.fields.next().unwrap_or_default()
    }

    /// Declares several fields of these names in the place of the next field.
    #[inline(never)]
    pub fn group(&mut self, fields: &'static str, declare: fn(&mut Self)) {
        self.field();
        let further = std::mem::replace(&mut self.fields, fields.split(' '));
        declare(self);
        self.fields = further;
    }

    /// The type of a parameter in the kernel.
    pub fn word_of<S: Slot>(&self) -> WordType {
        S::word(&self.words)
    }

    /// Adds a pointer to values of this type.
    #[inline(never)]
    pub fn pointer(&mut self, name: &str, to: WordType) {
        let cl_type = format!("{}*", self.words.declared(to));
        self.parameters.push(Argument { name: name.into(), cl_type });
    }

    /// Adds a number of this type.
    #[inline(never)]
    pub fn number(&mut self, name: &str, of: WordType) {
        let cl_type = self.words.declared(of).into();
        self.parameters.push(Argument { name: name.into(), cl_type });
    }

    #[inline(never)]
    fn pointer_field(&mut self, word: fn(&Words) -> WordType) {
        let name = self.field();
        self.pointer(name, word(&self.words));
    }

    #[inline(never)]
    fn number_field(&mut self, word: fn(&Words) -> WordType) {
        let name = self.field();
        self.number(name, word(&self.words));
    }
}

/// The type of a field of a `kernel!`: one parameter of the kernel, or several.
pub(crate) trait Param {
    /// The value that the host passes.
    type Value<'a>;
    /// Adds the parameters that belong to the next field.
    fn declare(to: &mut Declared);
    /// Passes the value.
    ///
    /// # Safety
    /// The next parameters of the kernel must be the parameters that [`Param::declare`] adds.
    unsafe fn pass(value: &Self::Value<'_>, to: &mut Arguing<'_>);
}

macro_rules! buffer_param {
    ($param:ident, $value:ty) => {
        impl<S: Slot> Param for $param<S> {
            type Value<'a> = $value;
            fn declare(to: &mut Declared) {
                to.pointer_field(S::word);
            }
            unsafe fn pass(value: &Self::Value<'_>, to: &mut Arguing<'_>) {
                // SAFETY: the caller has the same obligation.
                unsafe { to.memory(value.any(), S::word) }
            }
        }
    };
}
buffer_param!(In, &'a Buffer<S::Held>);
buffer_param!(Out, &'a mut Buffer<S::Held>);
buffer_param!(InOut, &'a mut Buffer<S::Held>);

impl<S: Slot> Param for Maybe<S> {
    type Value<'a> = Option<&'a Buffer<S::Held>>;
    fn declare(to: &mut Declared) {
        In::<S>::declare(to);
    }
    unsafe fn pass(value: &Self::Value<'_>, to: &mut Arguing<'_>) {
        // SAFETY: the caller guarantees this.
        unsafe {
            match value {
                Some(buffer) => In::<S>::pass(buffer, to),
                None => to.no_memory(),
            }
        }
    }
}

impl<S: Slot> Param for Local<S> {
    type Value<'a> = usize;
    fn declare(to: &mut Declared) {
        to.pointer_field(S::word);
    }
    unsafe fn pass(&len: &usize, to: &mut Arguing<'_>) {
        // SAFETY: the caller guarantees this.
        unsafe { to.local(len, S::word) }
    }
}

impl<S: Slot> Param for Scalar<S> {
    type Value<'a> = S::Number;
    fn declare(to: &mut Declared) {
        to.number_field(S::word);
    }
    unsafe fn pass(value: &S::Number, to: &mut Arguing<'_>) {
        // SAFETY: the caller guarantees this.
        unsafe { to.number(S::number(value), S::word) }
    }
}

/// Implements parameters with the most frequent number types, under the names of these types.
macro_rules! scalar_param {
    ($($scalar:ty),+) => { $(
        impl Param for $scalar {
            type Value<'a> = $scalar;
            fn declare(to: &mut Declared) {
                Scalar::<$scalar>::declare(to);
            }
            unsafe fn pass(value: &$scalar, to: &mut Arguing<'_>) {
                // SAFETY: the caller guarantees this.
                unsafe { Scalar::<$scalar>::pass(value, to) }
            }
        }
    )+ };
}
scalar_param!(u32, u64);

/// The arguments of one kernel, as a struct that `kernel!` declares.
pub(crate) trait Arguments: 'static {
    /// The source that contains the kernel.
    const SOURCE: Source;
    /// The kernel's name in that source.
    const KERNEL: &'static str;
    /// The struct, with the borrows of one launch.
    type Passed<'a>;
    /// The names of the fields, each followed by a blank.
    const FIELDS: &'static str;
    fn declare(to: &mut Declared);
    /// # Safety
    /// The kernel must have exactly the parameters of [`Arguments::declare`].
    unsafe fn pass(passed: &Self::Passed<'_>, to: &mut Arguing<'_>);
}

/// All parameters that `declare` adds for a kernel compiled for `words`.
pub(super) fn parameters(fields: &'static str, words: &Words, declare: fn(&mut Declared)) -> Vec<Argument> {
    let mut declared = Declared { parameters: Vec::new(), words: *words, fields: fields.split(' ') };
    declare(&mut declared);
    declared.parameters
}

/// Declares arguments that several kernels have in common. A field of the declared type in a
/// `kernel!` stands for all of these arguments. A kernel declared `with` the type has no other
/// arguments. The host passes a struct of the arguments, or an existing value whose parts are the
/// arguments:
///
/// ```text
/// arguments! {
///     struct InMatrix: for<'a> Stored<'a> = |a| {
///         values: In<Elem> = a.values,
///         stride: u32 = a.stride,
///     }
/// }
/// ```
macro_rules! arguments {
    (
        $(#[$meta:meta])* $visibility:vis struct $name:ident { $($field:ident: $param:ty),+ $(,)? }
    ) => {
        $(#[$meta])*
        $visibility struct $name<'a> {
            $(pub $field: <$param as $crate::device::Param>::Value<'a>),+
        }
        impl $crate::device::Param for $name<'static> {
            type Value<'a> = $name<'a>;
            $crate::device::arguments!(@ of { $($field: $param = of.$field),+ });
        }
    };
    (
        $(#[$meta:meta])* $visibility:vis struct $name:ident $(<$word:ident: $bound:path>)?:
            for<$life:lifetime> $value:ty = |$of:ident| { $($field:ident: $param:ty = $part:expr),+ $(,)? }
    ) => {
        $(#[$meta])*
        $visibility struct $name $(<$word>(std::marker::PhantomData<$word>))?;
        impl $(<$word: $bound>)? $crate::device::Param for $name $(<$word>)? {
            type Value<$life> = $value;
            $crate::device::arguments!(@ $of { $($field: $param = $part),+ });
        }
    };
    (@ $of:ident { $($field:ident: $param:ty = $part:expr),+ }) => {
        fn declare(to: &mut $crate::device::Declared) {
            to.group(concat!($(stringify!($field), " "),+), |to| {
                $(<$param as $crate::device::Param>::declare(to);)+
            });
        }
        unsafe fn pass($of: &Self::Value<'_>, to: &mut $crate::device::Arguing<'_>) {
            $(
                let part = &$part;
                // SAFETY: the caller has the same obligation for each argument.
                unsafe { <$param as $crate::device::Param>::pass(part, to) };
            )+
        }
    };
}
pub(crate) use arguments;

/// Declares the arguments of a kernel, see the head of this file. If several files are given, the
/// last file contains the kernel, and the other files are put before it. Kernels of the same files
/// stand together, after `in` and the files.
macro_rules! kernel {
    (in $($path:literal),+: $($kernels:tt)+) => {
        $crate::device::kernel! { ($crate::device::source!($($path),+)): $($kernels)+ }
    };
    (
        $source:tt: $(
            $(#[$meta:meta])* $visibility:vis struct $name:ident $(<$($word:ident: $bound:path),+>)? = $kernel:literal $arguments:tt
        )+
    ) => {
        $($crate::device::kernel! {
            $(#[$meta])* $visibility struct $name $(<$($word: $bound),+>)? = $kernel in $source $arguments
        })+
    };
    (
        $(#[$meta:meta])* $visibility:vis struct $name:ident = $kernel:literal in $($path:literal),+ with $arguments:ident
    ) => {
        const _: $crate::device::Source = $crate::device::source!($($path),+);
        $(#[$meta])*
        $visibility struct $name;
        impl $crate::device::Arguments for $name {
            const SOURCE: $crate::device::Source = $crate::device::source!($($path),+);
            const KERNEL: &'static str = $kernel;
            type Passed<'a> = $arguments<'a>;
            const FIELDS: &'static str = "";
            fn declare(to: &mut $crate::device::Declared) {
                <$arguments<'static> as $crate::device::Param>::declare(to);
            }
            unsafe fn pass(passed: &Self::Passed<'_>, to: &mut $crate::device::Arguing<'_>) {
                // SAFETY: the caller has the same obligation.
                unsafe { <$arguments<'static> as $crate::device::Param>::pass(passed, to) }
            }
        }
    };
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
        // The constant is evaluated here, so that `cargo check` reports a kernel file that is not
        // in the list of files.
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
                // SAFETY: the caller guarantees this for each argument.
                $(unsafe { <$param as $crate::device::Param>::pass(&passed.$field, to) };)+
            }
        }
    };
}
pub(crate) use kernel;
