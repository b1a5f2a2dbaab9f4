//! Sets the arguments of a launch, and notes the memory that they use.
use super::{buffer::Buffer, kernel_handle::KernelHandle, slot::Words, uses::Uses, work::bytes_of};
use crate::{
    Error, Result,
    element::{Number, WordType},
};

/// Sets the arguments of a launch one after another. The functions of this type are not generic, so
/// that hundreds of kernels share them. If setting an argument fails, the later arguments are not
/// set.
pub(crate) struct Arguing<'k> {
    kernel: &'k KernelHandle,
    name: &'static str,
    words: &'k Words,
    index: u32,
    /// The device memory used by the arguments set so far.
    uses: Uses,
    set: Result<()>,
}

impl<'k> Arguing<'k> {
    /// Starts to set the arguments of the kernel `name`, compiled for `words`. `uses` lists the
    /// launch's uses of memory and kernels before any argument is set.
    pub(super) fn new(kernel: &'k KernelHandle, name: &'static str, words: &'k Words, uses: Uses) -> Self {
        Self { kernel, name, words, index: 0, uses, set: Ok(()) }
    }

    /// Everything that the launch uses, or the error of an argument that could not be set.
    pub(super) fn finish(self) -> Result<Uses> {
        self.set.map(|()| self.uses)
    }

    /// Refuses values whose type differs from the type of the kernel's next argument.
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
    pub(super) unsafe fn memory(&mut self, buffer: &Buffer, word: fn(&Words) -> WordType) {
        self.expect(buffer.word(), word);
        if buffer.len() == 0 {
            // SAFETY: as the caller promises.
            return unsafe { self.no_memory() };
        }
        buffer.memory.count_in(&mut self.uses);
        // SAFETY: as the caller promises; the handle lives as long as the borrow.
        self.set(|kernel, index| unsafe { kernel.set_memory(index, &buffer.memory) });
    }

    /// # Safety
    /// The next argument must be a pointer to global memory.
    #[inline(never)]
    pub(super) unsafe fn no_memory(&mut self) {
        // SAFETY: as the caller promises.
        self.set(|kernel, index| unsafe { kernel.set_no_memory(index) });
    }

    /// # Safety
    /// The next argument must be a pointer to local memory, of `len` values of the type that `word`
    /// returns.
    #[inline(never)]
    pub(super) unsafe fn local(&mut self, len: usize, word: fn(&Words) -> WordType) {
        // OpenCL refuses local memory of 0 bytes.
        let bytes = bytes_of(word(self.words), len.max(1));
        // SAFETY: as the caller promises.
        self.set(|kernel, index| unsafe { kernel.set_local(index, bytes?) });
    }

    /// # Safety
    /// The next argument must be a number of the type that `word` returns.
    #[inline(never)]
    pub(super) unsafe fn number(&mut self, number: Number, word: fn(&Words) -> WordType) {
        self.expect(number.word(), word);
        // SAFETY: as the caller promises.
        self.set(|kernel, index| unsafe { kernel.set_number(index, number.bytes()) });
    }
}
