//! Kernel arguments by name. They are declared once, as a struct whose fields have the names and
//! the order of the kernel's parameters.
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
//! rustc checks types that the host fixes; each launch checks the others. Before the first launch
//! of a kernel, the names and types of the fields are compared with the compiled kernel.
use super::{
    Source,
    arguments::Argument,
    buffer::Buffer,
    kernel_handle::KernelHandle,
    pool::Memory,
    slot::{Slot, Words},
    uses::Uses,
    work::bytes_of,
};
use crate::{
    Error, Result,
    element::{Number, WordType},
};
use std::marker::PhantomData;

// A buffer without values is passed as a null pointer, because each buffer of a launch costs
// NVIDIA's driver 0.4 us on the host, whatever its size.

/// A buffer that the kernel reads.
pub(crate) struct In<T>(PhantomData<T>);
/// A buffer that the kernel reads, if there is one.
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

/// The parameters of a kernel, as the host declares them. Its functions are neither generic nor
/// inlined, because hundreds of kernels call them for each field.
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

/// Sets the arguments of a launch one after another. Its functions are not generic, so that
/// hundreds of kernels share them. After a failure nothing more is set.
pub(crate) struct Arguing<'k> {
    kernel: &'k KernelHandle,
    name: &'static str,
    words: &'k Words,
    index: u32,
    /// The device memory that the arguments set so far use.
    uses: Uses,
    set: Result<()>,
}

impl<'k> Arguing<'k> {
    /// Starts setting the arguments of the kernel `name`, compiled for `words`. `uses` contains the
    /// uses of the launch that are not arguments.
    pub(super) fn new(kernel: &'k KernelHandle, name: &'static str, words: &'k Words, uses: Uses) -> Self {
        Self { kernel, name, words, index: 0, uses, set: Ok(()) }
    }

    /// Returns everything that the launch uses, or the error of an argument that could not be set.
    pub(super) fn finish(self) -> Result<Uses> {
        self.set.map(|()| self.uses)
    }

    /// Refuses values whose type differs from the kernel's next argument.
    fn expect(&mut self, found: WordType, word: fn(&Words) -> WordType) {
        let expected = word(self.words);
        if found != expected && self.set.is_ok() {
            let (index, found, expected) = (self.index, found.name(), expected.name());
            let detail = format!("argument {index} holds `{expected}`, the host passes `{found}`");
            self.set = Err(Error::Signature { kernel: self.name, detail });
        }
    }

    fn set(&mut self, set: impl FnOnce(&KernelHandle, u32) -> Result<()>) {
        if self.set.is_ok() {
            self.set = set(self.kernel, self.index);
            self.index += 1;
        }
    }

    /// # Safety
    /// The next argument must be a pointer to global memory of the type that `word` returns.
    #[inline(never)]
    unsafe fn memory(&mut self, (memory, held, len): (&Memory, WordType, usize), word: fn(&Words) -> WordType) {
        self.expect(held, word);
        if len == 0 {
            // SAFETY: as the caller guarantees.
            return unsafe { self.no_memory() };
        }
        memory.count_in(&mut self.uses);
        // SAFETY: as the caller guarantees; the handle lives as long as the borrow.
        self.set(|kernel, index| unsafe { kernel.set_memory(index, memory) });
    }

    /// # Safety
    /// The next argument must be a pointer to global memory.
    #[inline(never)]
    unsafe fn no_memory(&mut self) {
        // SAFETY: as the caller guarantees.
        self.set(|kernel, index| unsafe { kernel.set_no_memory(index) });
    }

    /// # Safety
    /// The next argument must be a pointer to local memory, of `len` values of the type that `word`
    /// returns.
    #[inline(never)]
    unsafe fn local(&mut self, len: usize, word: fn(&Words) -> WordType) {
        // OpenCL refuses local memory of 0 bytes.
        let bytes = bytes_of(word(self.words), len.max(1));
        // SAFETY: as the caller guarantees.
        self.set(|kernel, index| unsafe { kernel.set_local(index, bytes?) });
    }

    /// # Safety
    /// The next argument must be a number of the type that `word` returns.
    #[inline(never)]
    unsafe fn number(&mut self, number: Number, word: fn(&Words) -> WordType) {
        self.expect(number.word(), word);
        // SAFETY: as the caller guarantees.
        self.set(|kernel, index| unsafe { kernel.set_number(index, number.bytes()) });
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
    /// The next parameters of the kernel must be those of [`Param::declare`].
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
                // SAFETY: the caller guarantees this.
                unsafe { to.memory((&value.memory, value.word(), value.len()), S::word) }
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

/// Declares the arguments of a kernel: see the beginning of this file. If several files are given,
/// the last one contains the kernel, and the others precede it in the source.
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
        // This is evaluated here, so that `cargo check` reports a file that is not in the list.
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
