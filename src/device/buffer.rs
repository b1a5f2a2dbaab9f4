//! Device memory and the type of its values. The host may know the type of the values at compile
//! time or only at run time.
use super::{pool::Memory, queue::Queue};
use crate::{
    Error, Result, Word,
    element::{Any, ElementType, WordType},
};
use opencl3::types::cl_mem;
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

/// Device memory holding `len` values of type `T`, from the pool or borrowed from the application.
/// A `Buffer` may be empty, while an OpenCL buffer may not.
///
/// `Buffer` without a parameter is memory whose value type is known at run time only; a typed
/// buffer derefs to it.
#[repr(C)]
pub(crate) struct Buffer<T = Any> {
    pub(super) memory: Memory,
    len: usize,
    word: WordType,
    element: PhantomData<fn() -> T>,
}

impl Buffer {
    pub(super) fn new(memory: Memory, len: usize, word: WordType) -> Self {
        Self { memory, len, word, element: PhantomData }
    }

    /// The same memory as a buffer of type `T`.
    ///
    /// # Panics
    /// If the values are of another type. If the type comes from a user, the caller checks it
    /// first.
    pub fn typed<T: Word>(&self) -> &Buffer<T> {
        self.check::<T>();
        // SAFETY: buffers have the same layout for all types, since `T` is in none of their fields.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }

    /// See [`Buffer::typed`].
    pub fn typed_mut<T: Word>(&mut self) -> &mut Buffer<T> {
        self.check::<T>();
        // SAFETY: as in `typed`.
        unsafe { &mut *std::ptr::from_mut(self).cast() }
    }

    /// See [`Buffer::typed`].
    pub fn into_typed<T: Word>(self) -> Buffer<T> {
        self.check::<T>();
        self.renamed()
    }

    /// Panics if the values are of another type.
    pub fn check<T: Word>(&self) {
        assert_eq!(self.word, WordType::of::<T>(), "the type of a buffer");
    }
}

impl<T> Buffer<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The type of the values.
    pub fn word(&self) -> WordType {
        self.word
    }

    /// The element type of the values.
    pub fn element(&self) -> ElementType {
        ElementType::of(self.word)
    }

    /// Refuses the operand `name` of a plan if its element type is not that of the plan.
    pub fn check_element(&self, name: &str, element: ElementType) -> Result<()> {
        let found = self.element();
        match found == element {
            true => Ok(()),
            false => Err(Error::Argument(format!("{name}: elements of {found}, those of the plan are {element}"))),
        }
    }

    /// The first `len` values, or all if there are fewer. The memory stays allocated as a whole.
    pub fn first(self, len: usize) -> Self {
        Self { len: len.min(self.len), ..self }
    }

    /// Number of bytes of the values.
    pub(super) fn value_bytes(&self) -> usize {
        self.len * self.word.bytes()
    }

    /// Number of bytes of device memory held, rounded up to the size class.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// The OpenCL handle. This function does not record that a queue uses the memory, so commands
    /// of the device's queues must get the handle from `raw_on`.
    pub(crate) fn raw(&self) -> cl_mem {
        self.memory.raw()
    }

    /// The OpenCL handle for the application. The pool does not reuse the memory after this call,
    /// so a handle that the application retains keeps its contents.
    pub(crate) fn hand_out(&self) -> cl_mem {
        self.memory.hand_out()
    }

    /// The OpenCL handle, for a command of `queue`. The queue is recorded as a user of the memory.
    pub(super) fn raw_on(&self, queue: &Queue) -> cl_mem {
        self.memory.raw_on(queue.number())
    }

    /// Returns the OpenCL handle together with one reference, which the caller owns.
    pub(crate) fn into_raw(self) -> cl_mem {
        self.memory.into_raw()
    }

    /// The same memory as a buffer whose type is known at run time only.
    pub fn any(&self) -> &Buffer {
        // SAFETY: as in `typed`.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }

    /// See [`Buffer::any`]. If code replaces the referenced buffer, the type of its values must
    /// stay the same, because typed reads and mappings check that type.
    pub fn any_mut(&mut self) -> &mut Buffer {
        // SAFETY: as in `typed`.
        unsafe { &mut *std::ptr::from_mut(self).cast() }
    }

    /// The same memory as a buffer whose type is known at run time only.
    pub fn into_any(self) -> Buffer {
        self.renamed()
    }

    /// The same memory as a buffer of `U`, which is the type of the values or [`Any`].
    pub(crate) fn renamed<U>(self) -> Buffer<U> {
        Buffer { memory: self.memory, len: self.len, word: self.word, element: PhantomData }
    }
}

impl<T: Word> Deref for Buffer<T> {
    type Target = Buffer;
    fn deref(&self) -> &Buffer {
        self.any()
    }
}

impl<T: Word> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut Buffer {
        self.any_mut()
    }
}
