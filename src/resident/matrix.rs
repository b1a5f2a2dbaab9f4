//! Matrices on a device.
use super::{DeviceCbc, DevicePattern};
use crate::{
    BlockShape, Bsr, Cbc, Csc, Csr, Element, Error, Matrix, Result,
    device::{Device, Work},
    element::{AnySlice, AnyValues, ElementType, with_values},
    matrix::{AnyMatrix, AnyType, AnyView, HostMatrix, Kind, MatrixKind, MatrixType},
};

/// A matrix of type `M` on a device. The matrix is uploaded once and can be multiplied many times.
/// A product stays on the device until it is downloaded.
///
/// The element type and the format of a `DeviceMatrix<AnyMatrix>` are known at run time only.
#[repr(C)]
pub struct DeviceMatrix<M: HostMatrix> {
    pub(crate) cbc: DeviceCbc,
    kind: M::Kind,
}

/// A borrowed matrix on a device: its arrays, and its format, which is known at run time only.
#[derive(Clone, Copy)]
pub struct DeviceView<'a> {
    pub(crate) cbc: &'a DeviceCbc,
    pub(crate) kind: MatrixKind,
}

impl DeviceView<'_> {
    pub(crate) fn type_of(self) -> AnyType {
        AnyType { kind: self.kind, element: self.cbc.element() }
    }

    pub(crate) fn pattern(self) -> DevicePattern {
        DevicePattern {
            arrays: self.cbc.pattern.clone(),
            array_shape: self.cbc.shape,
            row_major: self.kind.is_row_major(),
        }
    }
}

impl Device {
    /// Copies `matrix` to the device.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::TooLarge`] above 2^32 - 2^16 entries, [`Error::Unsupported`] for
    /// `f64` without `cl_khr_fp64`.
    pub fn upload<M: HostMatrix>(&self, matrix: &M) -> Result<DeviceMatrix<M>> {
        let DeviceMatrix { cbc, kind } = self.upload_any(matrix.view())?;
        Ok(DeviceMatrix { cbc, kind: M::Kind::of(kind) })
    }

    /// Copies borrowed arrays to the device, whose element type and format are known at run time
    /// only.
    ///
    /// # Errors
    /// The errors of [`Device::upload`].
    pub fn upload_any<'a>(&self, matrix: impl Into<AnyView<'a>>) -> Result<DeviceMatrix<AnyMatrix>> {
        let view = matrix.into();
        Ok(DeviceMatrix { cbc: DeviceCbc::upload(&Work::new(self, None), view)?, kind: view.kind() })
    }
}

impl<M: Matrix> DeviceMatrix<M> {
    pub(crate) fn new(cbc: DeviceCbc) -> Self {
        Self::of_type(cbc, MatrixType::OF)
    }

    /// Makes a matrix of zeros on a pattern.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory); [`Error::Argument`](crate::Error::Argument) if the
    /// pattern belongs to another kind of matrix: row-major or not, or with blocks for a type of
    /// scalars;
    /// [`Error::Unsupported`](crate::Error::Unsupported).
    pub fn zeros(pattern: &DevicePattern) -> Result<Self> {
        Self::zeros_of(pattern, MatrixType::OF)
    }

    /// Replaces all values by `values`, which must have the order and the stride of the uploaded
    /// matrix. Waits until the values are copied.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length), [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn write_values(&mut self, values: &[M::Element]) -> Result<()> {
        self.cbc.write_values(values)
    }

    /// Lets `fill` write every value in the device's memory, in the order of the matrix's arrays:
    /// entry after entry. The elements of a block are ordered by columns, in a row-major matrix by
    /// rows. If the matrix was uploaded with a stride, the gaps between blocks are included. See
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

    /// The same matrix, with element type and format known at run time only.
    pub fn into_any(self) -> DeviceMatrix<AnyMatrix> {
        DeviceMatrix { cbc: self.cbc, kind: MatrixKind::of::<M>() }
    }
}

/// Matrices whose element type and format are known at run time only. Matrices of `AnyMatrix` can
/// be operands of products, plans and all other operations, like matrices of a known type. The
/// operands of one operation must have the same element type and order.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, Product, element::ElementType, matrix::AnyMatrix};
/// let device = Device::auto()?;
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?);
/// for element in [ElementType::F32, ElementType::U32] {
///     let a = device.upload(&a.cast(element))?;
///     let c = Product::of(&a, &a).run()?.download()?;
///     assert_eq!((c.element(), c.nnz()), (element, 3));
/// }
/// let c = device.upload(&a)?;
/// assert_eq!(c.typed::<Csc<f64>>()?.download()?.values(), [2.0, 3.0, 5.0]);
/// # Ok(())
/// # }
/// ```
impl DeviceMatrix<AnyMatrix> {
    /// The matrix with its type `M` known at compile time. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrix has another element type or format.
    pub fn typed<M: Matrix>(&self) -> Result<&DeviceMatrix<M>> {
        self.kind.check_type::<M>(self.element())?;
        // SAFETY: both types begin with the arrays, and the other fields of the typed matrix have
        // no bytes.
        Ok(unsafe { &*std::ptr::from_ref(self).cast() })
    }

    /// Like [`DeviceMatrix::typed`], for an owned matrix.
    ///
    /// # Errors
    /// [`Error::Argument`] if the matrix has another element type or format.
    pub fn into_typed<M: Matrix>(self) -> Result<DeviceMatrix<M>> {
        self.typed::<M>()?;
        Ok(DeviceMatrix::new(self.cbc))
    }

    /// Makes a matrix of zeros on a pattern.
    ///
    /// # Errors
    /// See [`DeviceMatrix::zeros`].
    pub fn zeros_any(pattern: &DevicePattern, kind: MatrixKind, element: ElementType) -> Result<Self> {
        Self::zeros_of(pattern, MatrixType { kind, element })
    }

    /// Like [`DeviceMatrix::write_values`], for values whose type is known at run time only.
    ///
    /// # Errors
    /// [`Error::Argument`] if the values have another element type; see
    /// [`DeviceMatrix::write_values`].
    pub fn write_any_values(&mut self, values: &AnyValues) -> Result<()> {
        let (found, expected) = (values.element(), self.element());
        if found != expected {
            return Err(Error::Argument(format!("the values are of {found}, the matrix has elements of {expected}")));
        }
        with_values!(AnyValues, values, values => self.cbc.write_values(values))
    }

    /// Replaces all values by those of a matrix of the same type, sizes and number of entries. The
    /// two patterns are not compared.
    ///
    /// # Errors
    /// [`Error::Argument`] for another element type, format or size; see
    /// [`DeviceMatrix::write_values`].
    pub fn write_any<'a>(&mut self, matrix: impl Into<AnyView<'a>>) -> Result<()> {
        let view = matrix.into();
        let (found, own) = (AnyType::of(view), AnyType { kind: self.kind, element: self.element() });
        let (of_found, of_own) = (view.of_arrays(), self.cbc.dimensions());
        if (found, of_found) != (own, of_own) {
            return Err(Error::Argument(format!(
                "the values of a {found:?} cannot be written into a {own:?}: the arrays are {of_found} and {of_own}"
            )));
        }
        with_values!(AnySlice, view.values, values => self.cbc.write_values(values))
    }

    /// The transpose, which uses the same arrays. Nothing is copied.
    pub fn into_transpose(self) -> Self {
        Self { kind: self.kind.transposed(), ..self }
    }
}

impl<M: HostMatrix> DeviceMatrix<M> {
    pub(crate) fn of_type(cbc: DeviceCbc, of: MatrixType<M>) -> Self {
        assert_eq!(cbc.element(), of.element, "the type of a matrix");
        Self { cbc, kind: of.kind }
    }

    pub(crate) fn view(&self) -> DeviceView<'_> {
        DeviceView { cbc: &self.cbc, kind: self.kind.get() }
    }

    pub(crate) fn of_any(cbc: DeviceCbc, of: AnyType) -> Self {
        Self::of_type(cbc, MatrixType::of_any(of))
    }

    pub(crate) fn zeros_of(pattern: &DevicePattern, of: MatrixType<M>) -> Result<Self> {
        pattern.check_kind(of.kind.get())?;
        Ok(Self::of_type(DeviceCbc::zeros(pattern, of.element)?, of))
    }

    /// Refuses the matrix, called `name`, if its pattern or its type differs from the plan's.
    pub(crate) fn check(&self, name: &str, pattern: &DevicePattern, of: MatrixType<M>) -> Result<()> {
        of.check(name, self.type_of())?;
        pattern.check(name, &self.cbc)
    }

    pub(crate) fn type_of(&self) -> MatrixType<M> {
        MatrixType { kind: self.kind, element: self.element() }
    }

    /// Copies the matrix to the host. Waits for the commands that compute it.
    ///
    /// # Errors
    /// [`Error::OpenCl`] or [`Error::Memory`] if one of those commands failed;
    /// [`Error::BlockShape`] for a product of scalar type whose blocks are not 1x1.
    pub fn download(&self) -> Result<M> {
        M::from_any(self.cbc.download_any(&Work::new(&self.cbc.device, None), self.kind())?)
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.cbc.element()
    }

    /// The format.
    pub fn kind(&self) -> MatrixKind {
        self.kind.get()
    }

    /// Number of rows, counted in entries (blocks).
    pub fn nrows(&self) -> usize {
        self.kind().oriented(self.cbc.nrows, self.cbc.ncols).0
    }

    /// Number of columns, counted in entries (blocks).
    pub fn ncols(&self) -> usize {
        self.kind().oriented(self.cbc.nrows, self.cbc.ncols).1
    }

    /// Number of entries (blocks).
    pub fn nnz(&self) -> usize {
        self.cbc.nnz()
    }

    /// Shape of the blocks; 1x1 for scalar matrices.
    pub fn shape(&self) -> BlockShape {
        if self.kind().is_row_major() { self.cbc.shape.transpose() } else { self.cbc.shape }
    }

    /// The pattern of the entries, for plans and for further matrices on it.
    pub fn pattern(&self) -> DevicePattern {
        self.view().pattern()
    }

    /// The device that holds the matrix.
    pub fn device(&self) -> &Device {
        &self.cbc.device
    }

    /// Number of bytes of device memory held.
    pub fn device_bytes(&self) -> u64 {
        self.cbc.bytes()
    }
}

/// Implements transposes between row-major and column-major types whose arrays are the same.
macro_rules! transposes {
    ($($one:ident <-> $other:ident),*) => {$(
        impl<T: Element> DeviceMatrix<$one<T>> {
            #[doc = concat!("The transpose as a [`", stringify!($other), "`](crate::", stringify!($other), "): the same arrays, nothing is copied.")]
            pub fn as_transpose(&self) -> &DeviceMatrix<$other<T>> {
                // SAFETY: both types contain the arrays and nothing else, in the same order.
                unsafe { &*std::ptr::from_ref(self).cast() }
            }
        }
    )*};
}
transposes!(Bsr <-> Cbc, Cbc <-> Bsr, Csr <-> Csc, Csc <-> Csr);

impl<M: HostMatrix> std::fmt::Debug for DeviceMatrix<M> {
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
    use crate::{device::test_device, generate};

    #[test]
    fn a_transpose_is_the_same_arrays() -> Result<()> {
        let j: Cbc<f64> =
            generate::Uniform { rows: 7, cols: 5, per_column: 3, shape: BlockShape::new(2, 3)?, ..Default::default() }
                .matrix()?;
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
