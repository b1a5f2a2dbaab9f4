//! Matrices on a device.
use super::{DevicePattern, PatternArrays};
use crate::{
    BlockShape, Bsr, Cbc, Csc, Csr, Element, Error, Matrix, Result,
    device::{Buffer, Device, Work},
    element::ElementType,
    matrix::CbcView,
};
use std::{marker::PhantomData, ops::Deref, sync::Arc};

/// A matrix of type `M` that lives on a device. It is uploaded once and multiplied many times; a
/// product stays on the device until it is downloaded.
#[repr(transparent)]
pub struct DeviceMatrix<M: Matrix> {
    pub(crate) cbc: DeviceCbc,
    host: PhantomData<fn() -> M>,
}

/// Compressed block columns on a device, the operands of the pipeline: a pattern, and blocks on it,
/// whose elements the host does not name.
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
    pub fn upload<T: Element>(work: &Work, host: CbcView<'_, T>) -> Result<Self> {
        work.device().require(T::TYPE)?;
        Ok(Self {
            pattern: PatternArrays::upload(work, host.pattern)?,
            shape: host.shape,
            stride: host.stride,
            values: work.upload(host.values)?.into_any(),
        })
    }

    /// A matrix of zeros of this type on a pattern.
    pub fn zeros(pattern: &DevicePattern, element: ElementType) -> Result<Self> {
        let DevicePattern { arrays, array_shape: shape, .. } = pattern;
        arrays.device.require(element)?;
        let work = Work::new(&arrays.device, None);
        let mut values = work.buffer_of(element.word(), arrays.nnz() * shape.area())?;
        work.fill_zero(&mut values)?;
        Ok(Self { pattern: arrays.clone(), shape: *shape, stride: shape.area(), values })
    }

    pub fn download<T: Element>(&self, work: &Work) -> Result<Cbc<T>> {
        let values = self.values.typed().download(work)?;
        Cbc::with_stride(self.pattern.download(work)?, self.shape, self.stride, values)
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        ElementType::of(self.values.word())
    }

    /// Bytes of device memory the arrays take, in size classes.
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

impl Device {
    /// Copies `matrix` to the device, where it may be multiplied any number of times.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::TooLarge`] above 2^32 - 2^16 entries, [`Error::Unsupported`] for
    /// `f64` without `cl_khr_fp64`.
    pub fn upload<M: Matrix>(&self, matrix: &M) -> Result<DeviceMatrix<M>> {
        Ok(DeviceMatrix::new(DeviceCbc::upload(&Work::new(self, None), matrix.as_cbc())?))
    }
}

impl<M: Matrix> DeviceMatrix<M> {
    pub(crate) fn new(cbc: DeviceCbc) -> Self {
        cbc.values.check::<M::Element>();
        Self { cbc, host: PhantomData }
    }

    /// A matrix of zeros on a pattern.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory); [`Error::Argument`](crate::Error::Argument) for the
    /// pattern of another kind of matrix: row-major or not, or with blocks if the type has none;
    /// [`Error::Unsupported`](crate::Error::Unsupported).
    pub fn zeros(pattern: &DevicePattern) -> Result<Self> {
        pattern.check_kind::<M>()?;
        Ok(Self::new(DeviceCbc::zeros(pattern, M::Element::TYPE)?))
    }

    /// Replaces the values by those of the host, in the order and with the stride of the matrix
    /// that was uploaded. Waits until they are copied.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length), [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn write_values(&mut self, values: &[M::Element]) -> Result<()> {
        let expected = self.cbc.values.len();
        if values.len() != expected {
            let why = format!("{} entries, {} elements apart", self.nnz(), self.cbc.stride);
            return Err(Error::Length { array: "values", found: values.len(), expected, why });
        }
        Work::new(self.device(), None).write(values, self.cbc.values.typed_mut())
    }

    /// Makes `fill` write every value in the device's memory, in the order of the matrix's arrays:
    /// entry after entry, each block by columns, or by rows in a row-major matrix. If the matrix
    /// was uploaded with a stride, the gaps between blocks are included. See
    /// [`DeviceVector::write_with`](crate::DeviceVector::write_with).
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl), [`Error::Memory`](crate::Error::Memory).
    pub fn write_values_with<R>(&mut self, fill: impl FnOnce(&mut [M::Element]) -> R) -> Result<R> {
        let work = Work::new(&self.cbc.pattern.device, None);
        let mut values = work.map(self.cbc.values.typed_mut())?;
        let done = fill(&mut values);
        values.unmap()?;
        Ok(done)
    }

    /// Copies the matrix to the host. Waits for the commands that compute it.
    ///
    /// # Errors
    /// [`Error::OpenCl`] or [`Error::Memory`] if one of those commands failed;
    /// [`Error::BlockShape`] for a product of scalar type whose blocks are not 1x1.
    pub fn download(&self) -> Result<M> {
        M::from_cbc(self.cbc.download(&Work::new(&self.cbc.device, None))?)
    }

    /// Rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        if M::ROW_MAJOR { self.cbc.ncols } else { self.cbc.nrows }
    }

    /// Columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        if M::ROW_MAJOR { self.cbc.nrows } else { self.cbc.ncols }
    }

    /// Entries (blocks).
    pub fn nnz(&self) -> usize {
        self.cbc.nnz()
    }

    /// Shape of the blocks; 1x1 for scalar matrices.
    pub fn shape(&self) -> BlockShape {
        if M::ROW_MAJOR { self.cbc.shape.transpose() } else { self.cbc.shape }
    }

    /// The places of the entries: for plans, and for further matrices with the same pattern.
    pub fn pattern(&self) -> DevicePattern {
        DevicePattern { arrays: self.cbc.pattern.clone(), array_shape: self.cbc.shape, row_major: M::ROW_MAJOR }
    }

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        &self.cbc.device
    }

    /// Bytes of device memory held.
    pub fn device_bytes(&self) -> u64 {
        self.cbc.bytes()
    }
}

/// Row-major and column-major matrices whose arrays are those of each other's transposes.
macro_rules! transposes {
    ($($one:ident <-> $other:ident),*) => {$(
        impl<T: Element> DeviceMatrix<$one<T>> {
            #[doc = concat!("The transpose as a [`", stringify!($other), "`](crate::", stringify!($other), "): the same arrays, nothing is copied.")]
            pub fn as_transpose(&self) -> &DeviceMatrix<$other<T>> {
                // SAFETY: `DeviceMatrix` is transparent, so both are the same arrays.
                unsafe { &*std::ptr::from_ref(self).cast() }
            }
        }
    )*};
}
transposes!(Bsr <-> Cbc, Cbc <-> Bsr, Csr <-> Csc, Csc <-> Csr);

impl<M: Matrix> std::fmt::Debug for DeviceMatrix<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "DeviceMatrix({}x{} entries of {}, {} stored, on {:?})",
            self.nrows(),
            self.ncols(),
            self.shape(),
            self.nnz(),
            self.device()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{device::test_device, generate, generate::Values};

    #[test]
    fn a_transpose_is_the_same_arrays() -> Result<()> {
        let j: Cbc<f64> = generate::uniform(7, 5, 3, BlockShape::new(2, 3)?, Values::Real, 1)?;
        let on_device = test_device().upload(&j)?;
        let transpose = on_device.as_transpose();
        assert_eq!((transpose.nrows(), transpose.ncols(), transpose.shape()), (5, 7, BlockShape::new(3, 2)?));
        assert_eq!(transpose.download()?, Bsr::from_transpose(j.clone()));
        assert_eq!(transpose.as_transpose().download()?, j);
        Ok(())
    }

    #[test]
    fn values_are_written_in_place() -> Result<()> {
        let mut a = test_device().upload(&Csr::new(2, 2, vec![0, 1, 3], vec![1, 0, 1], vec![0.0f32; 3])?)?;
        a.write_values_with(|values| values.copy_from_slice(&[1.0, 2.0, 3.0]))?;
        assert_eq!(a.as_transpose().download()?, Csc::from_triplets(2, 2, [(1, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0)])?);
        Ok(())
    }
}
