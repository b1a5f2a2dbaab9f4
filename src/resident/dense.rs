//! Dense matrices on a device.
use crate::{
    Element, Error, Result,
    device::{Buffer, Device, RawMemory, Work},
    element::{Any, AnySlice, ElementType, with_values},
    matrix::{AnyDense, AnyDenseView, DenseShape, DenseView},
};
use nalgebra::DMatrix;

/// A dense matrix on a device, stored by rows or by columns, with any leading dimension.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Device, dense::{DenseShape, Layout}};
/// use nalgebra::dmatrix;
/// let device = Device::auto()?;
/// let d = device.upload_dense(&dmatrix![1.0, 2.0, 3.0; 4.0, 5.0, 6.0])?;
/// assert_eq!(d.shape().layout, Layout::ByColumns);
/// assert_eq!(d.values()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// let c = device.zero_dense::<f64>(DenseShape::new(2, 2, Layout::ByRows))?;
/// assert_eq!(c.download()?, dmatrix![0.0, 0.0; 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[repr(C)]
pub struct DeviceDense<T> {
    pub(crate) shape: DenseShape,
    pub(crate) values: Buffer<T>,
    pub(crate) device: Device,
}

/// A dense matrix on a device that a computation only reads. Its element type is known at run time.
#[derive(Clone, Copy)]
pub(crate) struct DenseBuffer<'a> {
    pub shape: DenseShape,
    pub values: &'a Buffer,
}

/// A dense matrix on a device that a computation writes. Its element type is known at run time.
pub(crate) struct DenseBufferMut<'a> {
    pub shape: DenseShape,
    pub values: &'a mut Buffer,
}

impl<T> DeviceDense<T> {
    pub(crate) fn buffer(&self) -> DenseBuffer<'_> {
        DenseBuffer { shape: self.shape, values: self.values.any() }
    }

    pub(crate) fn buffer_mut(&mut self) -> DenseBufferMut<'_> {
        DenseBufferMut { shape: self.shape, values: self.values.any_mut() }
    }
}

impl Device {
    /// Copies a dense matrix to the device: a [`DMatrix`], or a [`DenseView`] of a slice. The
    /// layout, including gaps between lines, does not change.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::TooLarge`] for a side of 2^32 - 1 or more,
    /// [`Error::Unsupported`] for `f64` without `cl_khr_fp64`.
    pub fn upload_dense<'a, T: Element>(&self, matrix: impl Into<DenseView<'a, T>>) -> Result<DeviceDense<T>> {
        DeviceDense::upload_within(&Work::new(self, None), matrix.into().into())
    }

    /// Makes a dense matrix of zeros.
    ///
    /// # Errors
    /// See [`Device::upload_dense`]; [`Error::Argument`] if the leading dimension is so small that
    /// lines overlap.
    pub fn zero_dense<T: Element>(&self, shape: DenseShape) -> Result<DeviceDense<T>> {
        DeviceDense::zeros_of(self, T::TYPE, shape)
    }

    /// Like [`Device::upload_dense`], for elements whose type is known at run time only.
    ///
    /// # Errors
    /// See [`Device::upload_dense`].
    pub fn upload_any_dense<'a>(&self, matrix: impl Into<AnyDenseView<'a>>) -> Result<DeviceDense<Any>> {
        DeviceDense::upload_within(&Work::new(self, None), matrix.into())
    }
}

impl<T> DeviceDense<T> {
    /// Copies a dense matrix. `T` is the element type of the matrix, or [`Any`].
    pub(crate) fn upload_within(work: &Work, matrix: AnyDenseView<'_>) -> Result<Self> {
        matrix.shape.check()?;
        work.device().require(matrix.element())?;
        let values = with_values!(AnySlice, matrix.values, values => work.upload(values)?.into_any());
        Ok(Self { shape: matrix.shape, values: values.renamed(), device: work.device().clone() })
    }

    /// Makes a matrix of zeros. `T` is `element`, or [`Any`].
    pub(crate) fn zeros_of(device: &Device, element: ElementType, shape: DenseShape) -> Result<Self> {
        shape.check()?;
        device.require(element)?;
        let work = Work::new(device, None);
        let mut values = work.buffer_of(element.word(), shape.len())?;
        work.fill_zero(&mut values)?;
        Ok(Self { shape, values: values.renamed(), device: device.clone() })
    }

    /// The same matrix with an element type known at run time only.
    pub(crate) fn any(&self) -> &DeviceDense<Any> {
        // SAFETY: like a buffer, the matrix has the same layout for all types.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// Refuses a matrix, called `name`, whose element type differs from the plan's.
    pub(crate) fn check_element(&self, name: &str, element: ElementType) -> Result<()> {
        self.values.check_element(name, element)
    }

    /// The matrix's buffer, valid while the matrix lives, or longer if the caller retains it. See
    /// [`DeviceMatrix::raw_parts`](crate::DeviceMatrix::raw_parts).
    pub fn raw(&self) -> RawMemory {
        self.values.hand_out()
    }

    /// The sides and the layout.
    pub fn shape(&self) -> DenseShape {
        self.shape
    }

    /// The device that holds the matrix.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of bytes of device memory held.
    pub fn device_bytes(&self) -> u64 {
        self.values.bytes()
    }

    /// The transpose, which uses the same elements. Nothing is copied.
    pub fn into_transpose(self) -> Self {
        Self { shape: self.shape.transposed(), ..self }
    }

    fn check_len(&self, found: usize) -> Result<()> {
        let DenseShape { rows, cols, layout, leading } = self.shape;
        match found == self.values.len() {
            true => Ok(()),
            false => {
                let why = format!("{rows}x{cols} by {layout}, lines {leading} apart");
                Err(Error::Length { array: "values", found, expected: self.values.len(), why })
            }
        }
    }
}

/// Dense matrices whose element type is known at run time only.
/// [`DeviceMatrix<AnyMatrix>`](crate::matrix::AnyMatrix) is multiplied with them.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Device, dense::AnyDense, element::ElementType};
/// use nalgebra::dmatrix;
/// let d = AnyDense::from(dmatrix![1.0f32, 2.0; 3.0, 4.0]);
/// let on_device = Device::auto()?.upload_any_dense(&d)?;
/// assert_eq!((on_device.element(), on_device.download()?), (ElementType::F32, d));
/// assert_eq!(on_device.typed::<f32>()?.download()?, dmatrix![1.0, 2.0; 3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
impl DeviceDense<Any> {
    /// The matrix with the element type `T`.
    ///
    /// # Errors
    /// [`Error::Argument`] if the elements have another type.
    pub fn typed<T: Element>(&self) -> Result<&DeviceDense<T>> {
        match self.element() == T::TYPE {
            // SAFETY: like a buffer, the matrix has the same layout for all types.
            true => Ok(unsafe { &*std::ptr::from_ref(self).cast() }),
            false => {
                let found = self.element();
                Err(Error::Argument(format!("the dense matrix has elements of {found}, not of {}", T::TYPE)))
            }
        }
    }

    /// Copies the matrix to the host in its layout, including gaps. Waits for the commands that
    /// compute it.
    ///
    /// # Errors
    /// See [`DeviceDense::download`].
    pub fn download(&self) -> Result<AnyDense> {
        AnyDense::new(self.shape, self.values.download_any(&Work::new(&self.device, None))?)
    }
}

impl<T: Element> DeviceDense<T> {
    /// A dense matrix over an application's own buffer, which is retained and not copied. The
    /// buffer may be longer than the matrix. The contents of gaps are neither read nor written.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffer is too small; [`Error::Argument`] if it belongs to another
    /// context, or if the leading dimension is so small that lines overlap; [`Error::TooLarge`],
    /// [`Error::Unsupported`].
    ///
    /// # Safety
    /// The buffer must be a valid `cl_mem` handle; it may be null if the matrix has no elements.
    pub unsafe fn adopt(device: &Device, shape: DenseShape, values: RawMemory) -> Result<Self> {
        shape.check()?;
        device.require(T::TYPE)?;
        Ok(Self {
            shape,
            values: device.borrow("values", values, T::TYPE.word(), shape.len())?.into_typed(),
            device: device.clone(),
        })
    }

    /// The same matrix with an element type known at run time only.
    pub fn into_any(self) -> DeviceDense<Any> {
        DeviceDense { shape: self.shape, values: self.values.into_any(), device: self.device }
    }

    /// Replaces all elements by the elements of an array in the matrix's layout, including gaps.
    /// Waits until the elements are copied.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OpenCl`].
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        self.check_len(values.len())?;
        Work::new(&self.device, None).write(values, &mut self.values)
    }

    /// Copies the matrix to the host. Waits for the commands that compute it.
    ///
    /// # Errors
    /// [`Error::OpenCl`] or [`Error::Memory`] if one of those commands failed.
    pub fn download(&self) -> Result<DMatrix<T>> {
        let values = self.values()?;
        Ok(DenseView::new(self.shape, &values)?.to_matrix())
    }

    /// Copies the elements to the host in the matrix's layout, including gaps. Waits for the
    /// commands that compute them.
    ///
    /// # Errors
    /// See [`DeviceDense::download`].
    pub fn values(&self) -> Result<Vec<T>> {
        self.values.download(&Work::new(&self.device, None))
    }

    /// Like [`DeviceDense::values`], but copies to existing memory.
    ///
    /// # Errors
    /// See [`DeviceDense::download`]; [`Error::Length`] if `values` has another length.
    pub fn values_into(&self, values: &mut [T]) -> Result<()> {
        self.check_len(values.len())?;
        Work::new(&self.device, None).read_into(&self.values, 0, values)
    }
}

impl<T> std::fmt::Debug for DeviceDense<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let DenseShape { rows, cols, layout, leading } = self.shape;
        let on = &self.device.info().name;
        write!(f, "DeviceDense({rows}x{cols} {} by {layout}, lines {leading} apart, on {on})", self.element())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{device::test_device, matrix::Layout};

    #[test]
    fn dense_matrices_go_there_and_back_with_their_gaps() -> Result<()> {
        let device = test_device();
        let values: Vec<f32> = (0..14).map(|i| i as f32).collect();
        for layout in [Layout::ByRows, Layout::ByColumns] {
            let shape = DenseShape::new(3, 3, layout).with_leading(5);
            let view = DenseView::new(shape, &values)?;
            let mut d = device.upload_dense(view)?;
            assert_eq!(d.download()?, view.to_matrix());
            assert_eq!(d.values()?, &values[..13]);
            let mut there = [0.0; 13];
            d.values_into(&mut there)?;
            assert_eq!(there, values[..13]);
            d.write(&values[1..])?;
            assert_eq!(d.download()?, view.to_matrix().add_scalar(1.0));
            assert!(matches!(d.write(&values), Err(Error::Length { found: 14, expected: 13, .. })));
            let raw = d.raw();
            // SAFETY: the handle belongs to a buffer that lives.
            let adopted = unsafe { DeviceDense::<f32>::adopt(&device, shape.transposed(), raw)? };
            assert_eq!(adopted.download()?, d.into_transpose().download()?);
        }
        let none = device.zero_dense::<f32>(DenseShape::new(0, 4, Layout::ByRows))?;
        assert_eq!((none.values()?, none.download()?.ncols()), (vec![], 4));
        let overlapping = DenseShape::new(2, 3, Layout::ByRows).with_leading(2);
        assert!(matches!(device.zero_dense::<f32>(overlapping), Err(Error::Argument(_))));
        Ok(())
    }
}
