//! Vectors on a device.
use crate::{
    Element, Error, Result,
    device::{Buffer, Device, RawMemory, Work},
    element::{Any, AnyValues, ElementType, with_values},
};

/// A vector on a device, for example a factor of a product, a right-hand side or a solution.
///
/// The length of a vector is counted in scalars: a matrix with 10 block columns of 6x3 blocks is
/// multiplied with a vector of 30 elements.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// let device = blockmul::Device::auto()?;
/// let mut x = device.upload_vector(&[1.0, 2.0, 3.0])?;
/// x.write(&[4.0, 5.0, 6.0])?;
/// assert_eq!(x.download()?, [4.0, 5.0, 6.0]);
/// assert_eq!(device.zero_vector::<f64>(2)?.download()?, [0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[repr(C)]
pub struct DeviceVector<T> {
    pub(crate) values: Buffer<T>,
    pub(crate) device: Device,
}

impl Device {
    /// Copies `values` to the device.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Unsupported`] for `f64` without `cl_khr_fp64`.
    pub fn upload_vector<T: Element>(&self, values: &[T]) -> Result<DeviceVector<T>> {
        self.require(T::TYPE)?;
        Ok(DeviceVector { values: Work::new(self, None).upload(values)?, device: self.clone() })
    }

    /// Makes a vector of `len` zeros.
    ///
    /// # Errors
    /// See [`Device::upload_vector`].
    pub fn zero_vector<T: Element>(&self, len: usize) -> Result<DeviceVector<T>> {
        DeviceVector::zeros_of(self, T::TYPE, len)
    }
}

impl<T> DeviceVector<T> {
    /// Makes a vector of zeros. `T` is `element`, or [`Any`].
    pub(crate) fn zeros_of(device: &Device, element: ElementType, len: usize) -> Result<Self> {
        device.require(element)?;
        let work = Work::new(device, None);
        let mut values = work.buffer_of(element.word(), len)?;
        work.fill_zero(&mut values)?;
        Ok(Self { values: values.renamed(), device: device.clone() })
    }

    /// The same vector with an element type known at run time only.
    pub(crate) fn any(&self) -> &DeviceVector<Any> {
        // SAFETY: like a buffer, the vector has the same layout for all types.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }

    pub(crate) fn any_mut(&mut self) -> &mut DeviceVector<Any> {
        // SAFETY: as in `any`.
        unsafe { &mut *std::ptr::from_mut(self).cast() }
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// Refuses a vector, called `name`, whose element type differs from the plan's.
    pub(crate) fn check_element(&self, name: &str, element: ElementType) -> Result<()> {
        self.values.check_element(name, element)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether the vector has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device that holds the vector.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The vector's buffer, valid while the vector lives, or longer if the caller retains it. The
    /// buffer may be longer than the vector needs. See
    /// [`DeviceMatrix::raw_parts`](crate::DeviceMatrix::raw_parts).
    pub fn raw(&self) -> RawMemory {
        self.values.hand_out()
    }

    /// Number of bytes of device memory held.
    pub fn device_bytes(&self) -> u64 {
        self.values.bytes()
    }

    /// Makes a vector over an application's buffer. `T` is `element`, or [`Any`].
    ///
    /// # Safety
    /// See [`DeviceVector::adopt`].
    unsafe fn adopted(device: &Device, element: ElementType, len: usize, values: RawMemory) -> Result<Self> {
        device.require(element)?;
        let values = device.borrow("values", values, element.word(), len)?;
        Ok(Self { values: values.renamed(), device: device.clone() })
    }
}

impl Device {
    /// Copies to the device a vector whose element type is known at run time only.
    ///
    /// # Errors
    /// See [`Device::upload_vector`].
    pub fn upload_any_vector(&self, values: &AnyValues) -> Result<DeviceVector<Any>> {
        with_values!(AnyValues, values, values => Ok(self.upload_vector(values)?.into_any()))
    }
}

/// Vectors whose element type is known at run time only, to be multiplied with a
/// [`DeviceMatrix<AnyMatrix>`](crate::matrix::AnyMatrix).
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Device, element::{AnyValues, ElementType}};
/// let x = Device::auto()?.upload_any_vector(&AnyValues::F32(vec![1.0, 2.0]))?;
/// assert_eq!((x.element(), x.download()?), (ElementType::F32, AnyValues::F32(vec![1.0, 2.0])));
/// assert_eq!(x.typed::<f32>()?.len(), 2);
/// # Ok(())
/// # }
/// ```
impl DeviceVector<Any> {
    /// The vector with the element type `T`.
    ///
    /// # Errors
    /// [`Error::Argument`] if the elements have another type.
    pub fn typed<T: Element>(&self) -> Result<&DeviceVector<T>> {
        match self.element() == T::TYPE {
            // SAFETY: like a buffer, the vector has the same layout for all types.
            true => Ok(unsafe { &*std::ptr::from_ref(self).cast() }),
            false => Err(Error::Argument(format!("the vector has elements of {}, not of {}", self.element(), T::TYPE))),
        }
    }

    /// Like [`DeviceVector::adopt`], for elements whose type is known at run time only.
    ///
    /// # Errors
    /// See [`DeviceVector::adopt`].
    ///
    /// # Safety
    /// See [`DeviceVector::adopt`].
    pub unsafe fn adopt_any(device: &Device, element: ElementType, len: usize, values: RawMemory) -> Result<Self> {
        // SAFETY: as the caller guarantees.
        unsafe { Self::adopted(device, element, len, values) }
    }

    /// Like [`DeviceVector::typed`], to change the elements.
    ///
    /// # Errors
    /// [`Error::Argument`] if the elements have another type.
    pub fn typed_mut<T: Element>(&mut self) -> Result<&mut DeviceVector<T>> {
        self.typed::<T>()?;
        // SAFETY: as in `typed`, which has checked the type.
        Ok(unsafe { &mut *std::ptr::from_mut(self).cast() })
    }

    /// Replaces all elements. Waits until the elements are copied.
    ///
    /// # Errors
    /// [`Error::Argument`] if the values have another element type, [`Error::Length`],
    /// [`Error::OpenCl`].
    pub fn write_any(&mut self, values: &AnyValues) -> Result<()> {
        let (found, own) = (values.element(), self.element());
        if found != own {
            return Err(Error::Argument(format!("the values are of {found}, the vector has elements of {own}")));
        }
        with_values!(AnyValues, values, values => write(self, values))
    }

    /// Copies the vector to the host. Waits for the commands that compute it.
    ///
    /// # Errors
    /// See [`DeviceVector::download`].
    pub fn download(&self) -> Result<AnyValues> {
        self.values.download_any(&Work::new(&self.device, None))
    }
}

impl<T: Element> DeviceVector<T> {
    /// A vector of `len` elements over an application's own buffer, which is retained and not
    /// copied. The buffer may be longer than the vector.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffer is too small; [`Error::Argument`] if it belongs to another
    /// context; [`Error::Unsupported`].
    ///
    /// # Safety
    /// The buffer must be a valid `cl_mem` handle; it may be null if the vector has no elements.
    /// While the vector is written in place ([`DeviceVector::write_with`]), nothing else may use
    /// the buffer.
    pub unsafe fn adopt(device: &Device, len: usize, values: RawMemory) -> Result<Self> {
        // SAFETY: as the caller guarantees.
        unsafe { Self::adopted(device, T::TYPE, len, values) }
    }

    /// The same vector with an element type known at run time only.
    pub fn into_any(self) -> DeviceVector<Any> {
        DeviceVector { values: self.values.into_any(), device: self.device }
    }

    /// Replaces all elements. Waits until the elements are copied.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OpenCl`].
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        write(self.any_mut(), values)
    }

    /// Lets `fill` write every element: on a CPU directly in the device's memory, on a GPU in host
    /// memory that is then copied. Waits for earlier commands. Elements that `fill` does not write
    /// are undefined.
    ///
    /// # Errors
    /// [`Error::OpenCl`].
    pub fn write_with<R>(&mut self, fill: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        let work = Work::new(&self.device, None);
        let mut elements = work.map(&mut self.values)?;
        let done = fill(&mut elements);
        elements.unmap()?;
        Ok(done)
    }

    /// Copies the vector to the host. Waits for the commands that compute it.
    ///
    /// # Errors
    /// [`Error::OpenCl`] or [`Error::Memory`] if one of those commands failed.
    pub fn download(&self) -> Result<Vec<T>> {
        self.values.download(&Work::new(&self.device, None))
    }

    /// Like [`DeviceVector::download`], but copies to existing memory.
    ///
    /// # Errors
    /// [`Error::Length`] if `values` has another length; [`Error::OpenCl`] or [`Error::Memory`].
    pub fn download_into(&self, values: &mut [T]) -> Result<()> {
        if values.len() != self.len() {
            let why = "the elements of the vector".into();
            return Err(Error::Length { array: "values", found: values.len(), expected: self.len(), why });
        }
        Work::new(&self.device, None).read_into(&self.values, 0, values)
    }
}

/// Replaces all elements. `T` must be the vector's element type.
fn write<T: Element>(vector: &mut DeviceVector<Any>, values: &[T]) -> Result<()> {
    let expected = vector.len();
    if values.len() != expected {
        let why = "the elements of the vector".into();
        return Err(Error::Length { array: "vector", found: values.len(), expected, why });
    }
    Work::new(&vector.device, None).write(values, vector.values.typed_mut())
}

impl<T> std::fmt::Debug for DeviceVector<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DeviceVector({} x {} on {})", self.len(), self.element(), self.device.info().name)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Error, device::test_device};

    #[test]
    fn vectors_go_there_and_back() -> crate::Result<()> {
        let device = test_device();
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let values = [1.0f32, -0.0, f32::NAN];
        let mut x = device.upload_vector(&values)?;
        assert_eq!(bits(&x.download()?), bits(&values));
        let mut there = [0.0; 3];
        x.download_into(&mut there)?;
        assert_eq!(bits(&there), bits(&values));
        assert!(matches!(x.download_into(&mut there[1..]), Err(Error::Length { found: 2, expected: 3, .. })));
        assert!(matches!(x.write(&[1.0]), Err(Error::Length { found: 1, expected: 3, .. })));
        assert!(device.upload_vector::<f64>(&[])?.download()?.is_empty());
        assert_eq!(device.zero_vector::<f32>(5)?.download()?, [0.0; 5]);
        Ok(())
    }

    #[test]
    fn vectors_are_written_in_place() -> crate::Result<()> {
        let device = test_device();
        let (mut x, y) = (device.upload_vector(&[1.0f64; 100])?, device.upload_vector(&[0.5; 100])?);
        x.axpy(1.0, &y)?; // axpy is still running when its operand is overwritten
        let sum = x.write_with(|values| {
            values.iter_mut().zip(0u8..).for_each(|(value, i)| *value = i.into());
            values.len()
        })?;
        assert_eq!(sum, 100);
        x.axpy(2.0, &y)?;
        assert_eq!(x.download()?, (1u8..=100).map(f64::from).collect::<Vec<_>>());
        assert_eq!(device.zero_vector::<f32>(0)?.write_with(|values| values.len())?, 0);
        Ok(())
    }
}
