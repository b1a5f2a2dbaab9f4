//! Matrices whose memory a plan reserves for its executions.
use super::{DeviceCbc, DevicePattern};
use crate::{
    Result,
    device::{Scratch, Work},
    element::WordType,
};
use std::ops::{Deref, DerefMut};

/// A matrix on a pattern, which the executions of a plan use one after another. See [`Scratch`].
pub(crate) struct ScratchMatrix {
    pattern: DevicePattern,
    values: Scratch,
}

/// A matrix for one execution, with undefined values. When a taken matrix is dropped, its memory
/// returns to the plan, possibly before the commands that use it have run.
pub(crate) struct TakenMatrix<'a> {
    values: &'a Scratch,
    /// The matrix, or `None` after it has been returned.
    matrix: Option<DeviceCbc>,
}

impl ScratchMatrix {
    /// Reserves memory for a matrix on `pattern` with elements of type `word`, without padding
    /// between blocks.
    ///
    /// # Errors
    /// See [`Work::buffer`].
    pub fn reserve(work: &Work, word: WordType, pattern: &DevicePattern) -> Result<Self> {
        let values = Scratch::reserve_of(work, word, pattern.arrays.nnz() * pattern.array_shape.area())?;
        Ok(Self { pattern: pattern.clone(), values })
    }

    /// The matrix, for commands of `work`.
    ///
    /// # Errors
    /// See [`Scratch::take`].
    pub fn take(&self, work: &Work) -> Result<TakenMatrix<'_>> {
        let (pattern, shape) = (self.pattern.arrays.clone(), self.pattern.array_shape);
        let matrix = DeviceCbc { pattern, shape, stride: shape.area(), values: self.values.lend(work)? };
        Ok(TakenMatrix { values: &self.values, matrix: Some(matrix) })
    }

    pub fn pattern(&self) -> &DevicePattern {
        &self.pattern
    }

    /// Number of bytes of device memory held for the values, rounded up to the size class.
    pub fn bytes(&self) -> u64 {
        self.values.bytes()
    }
}

impl Deref for TakenMatrix<'_> {
    type Target = DeviceCbc;
    fn deref(&self) -> &DeviceCbc {
        self.matrix.as_ref().expect("it goes back on drop alone")
    }
}

impl DerefMut for TakenMatrix<'_> {
    fn deref_mut(&mut self) -> &mut DeviceCbc {
        self.matrix.as_mut().expect("it goes back on drop alone")
    }
}

impl Drop for TakenMatrix<'_> {
    fn drop(&mut self) {
        self.matrix.take().into_iter().for_each(|matrix| self.values.give_back(matrix.values));
    }
}
