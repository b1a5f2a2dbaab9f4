//! The arrays of any matrix on a device, as compressed block columns.
use super::{DevicePattern, PatternArrays};
use crate::{
    BlockShape, Element, Error, Result,
    device::{Buffer, Work},
    element::{AnySlice, ElementType, with_values},
    matrix::{AnyMatrix, AnyView, MatrixKind},
};
use std::{ops::Deref, sync::Arc};

/// Compressed block columns on a device, which are the operands of every product: a pattern and the
/// blocks on it. The element type is known at run time only.
pub(crate) struct DeviceCbc {
    pub pattern: Arc<PatternArrays>,
    pub shape: BlockShape,
    pub stride: usize,
    pub values: Buffer,
}

/// Gives access to the arrays and sizes of the pattern.
impl Deref for DeviceCbc {
    type Target = PatternArrays;
    fn deref(&self) -> &PatternArrays {
        &self.pattern
    }
}

impl DeviceCbc {
    pub fn upload<'a>(work: &Work, host: impl Into<AnyView<'a>>) -> Result<Self> {
        let host = host.into();
        work.device().require(host.element())?;
        Ok(Self {
            pattern: PatternArrays::upload(work, host.pattern)?,
            shape: host.shape,
            stride: host.stride,
            values: with_values!(AnySlice, host.values, values => work.upload(values)?.into_any()),
        })
    }

    /// Makes a matrix of zeros of type `element` on a pattern.
    pub fn zeros(pattern: &DevicePattern, element: ElementType) -> Result<Self> {
        let DevicePattern { arrays, array_shape: shape, .. } = pattern;
        arrays.device.require(element)?;
        let work = Work::new(&arrays.device, None);
        let mut values = work.buffer_of(element.word(), arrays.nnz() * shape.area())?;
        work.fill_zero(&mut values)?;
        Ok(Self { pattern: arrays.clone(), shape: *shape, stride: shape.area(), values })
    }

    pub fn download_any(&self, work: &Work, kind: MatrixKind) -> Result<AnyMatrix> {
        let values = self.values.download_any(work)?;
        Ok(AnyMatrix::of_arrays(kind, self.pattern.download(work)?, self.shape, self.stride, values))
    }

    #[cfg(test)]
    pub fn download<T: Element>(&self, work: &Work) -> Result<crate::Cbc<T>> {
        self.download_any(work, MatrixKind::Cbc)?.typed()
    }

    pub fn write_values<T: Element>(&mut self, values: &[T]) -> Result<()> {
        let expected = self.values.len();
        if values.len() != expected {
            let why = format!("{} entries, {} elements apart", self.nnz(), self.stride);
            return Err(Error::Length { array: "values", found: values.len(), expected, why });
        }
        Work::new(&self.pattern.device, None).write(values, self.values.typed_mut())
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// Number of bytes of device memory that the arrays take, rounded up to size classes.
    pub fn bytes(&self) -> u64 {
        self.pattern.bytes() + self.values.bytes()
    }

    pub fn dimensions(&self) -> crate::error::Dimensions {
        crate::error::Dimensions {
            nrows: self.nrows,
            ncols: self.ncols,
            block_rows: self.shape.rows(),
            block_cols: self.shape.cols(),
        }
    }
}

impl DevicePattern {
    /// Refuses a matrix, called `name`, whose pattern differs from this pattern. Every plan calls
    /// `check`.
    pub(crate) fn check(&self, name: &str, matrix: &DeviceCbc) -> Result<()> {
        let (arrays, array_shape, row_major) = (matrix.pattern.clone(), matrix.shape, self.row_major);
        self.check_same(name, &Self { arrays, array_shape, row_major })
    }
}
