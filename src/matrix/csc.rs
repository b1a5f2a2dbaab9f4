//! [`Csc`]: scalar compressed sparse columns.
use super::{BlockShape, Cbc, CbcView, Matrix, Pattern, sealed::Sealed};
use crate::{Element, Error, Result};

/// A sparse matrix in compressed-column form: a [`Pattern`] and one value per entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Csc<T> {
    pattern: Pattern,
    values: Vec<T>,
}

impl<T: Element> Csc<T> {
    /// From a pattern and one value per entry.
    ///
    /// # Errors
    /// [`Error::Length`] when there are more or fewer values than entries.
    pub fn new(pattern: Pattern, values: Vec<T>) -> Result<Self> {
        if values.len() != pattern.nnz() {
            return Err(Error::Length {
                array: "values",
                found: values.len(),
                expected: pattern.nnz(),
                why: format!("{} entries", pattern.nnz()),
            });
        }
        Ok(Self { pattern, values })
    }

    /// Where the entries are.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// One value per entry.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

impl<T> Sealed for Csc<T> {}

impl<T: Element> Matrix for Csc<T> {
    type Element = T;
    const ROW_MAJOR: bool = false;

    fn as_cbc(&self) -> CbcView<'_, T> {
        CbcView { pattern: &self.pattern, shape: BlockShape::SCALAR, stride: 1, values: &self.values }
    }

    fn from_cbc(cbc: Cbc<T>) -> Result<Self> {
        let shape = cbc.shape();
        if shape != BlockShape::SCALAR || cbc.stride() != 1 {
            return Err(Error::BlockShape { rows: shape.rows(), cols: shape.cols() });
        }
        let (pattern, values) = cbc.into_parts();
        Ok(Self { pattern, values })
    }
}
