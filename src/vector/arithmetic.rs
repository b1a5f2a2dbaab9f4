//! Operations on two vectors. Kernels: `cl/vector/dot.cl`, `cl/vector/axpby.cl`.
use crate::{
    Device, DeviceVector, Error, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Out, Scalar, Sum, Work, kernel},
    element::{Any, ElementType, FieldOrAny, Number, Scaling},
    plan::prepared::same_device,
};

kernel! {
    in "vector/dot.cl":
    struct DotPieces = "dot_pieces" { x: In<Elem>, y: In<Elem>, sums: Out<Sum>, n: u64 }
    struct AddPieces = "add_pieces" { terms: In<Sum>, sums: Out<Sum>, n: u64 }
}

kernel! {
    in "vector/axpby.cl":
    struct Axpby = "axpby" { x: In<Elem>, y: InOut<Elem>, n: u64, alpha: Scalar<Sum>, beta: Scalar<Sum> }
    struct Scale = "scale" { y: InOut<Elem>, n: u64, alpha: Scalar<Sum> }
}

/// Number of values that one step of a reduction adds up: terms in the first step, sums afterwards.
/// The number determines the order in which a dot product is added, and is the same on every
/// device.
pub(crate) const PIECE: usize = 1024;

impl<T: FieldOrAny> DeviceVector<T> {
    /// The dot product with `other`, in the element's arithmetic type; 0 if the vectors have no
    /// elements. Waits for the result.
    ///
    /// Each product of two elements is rounded. Every 1024 products are then folded in halves: the
    /// second 512 are added to the first 512, then the second 256 of the results to the first 256,
    /// and so on to one sum. The sums of products are folded in the same way until one sum is left.
    /// The bits are those of [`reference::dot`](crate::reference::dot) on every device. Rounding
    /// errors grow with the logarithm of the length.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length),
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::OpenCl`](crate::Error::OpenCl); for vectors of [`Any`](crate::element::Any)
    /// [`Error::Argument`](crate::Error::Argument) if their elements are integers, or if their
    /// element types differ.
    pub fn dot(&self, other: &Self) -> Result<f64> {
        let (x, y) = (self.any(), other.any());
        x.check_field()?;
        x.check_other("other", y)?;
        dot(&self.device, &x.values, &y.values)
    }

    /// The 2-norm: the root of the dot product with itself.
    ///
    /// # Errors
    /// See [`DeviceVector::dot`].
    pub fn norm(&self) -> Result<f64> {
        Ok(self.dot(self)?.sqrt())
    }

    /// y = alpha·x + y, where y is this vector. Returns when the operation is enqueued.
    ///
    /// # Errors
    /// See [`DeviceVector::dot`].
    pub fn axpy(&mut self, alpha: f64, x: &Self) -> Result<()> {
        self.axpby(alpha, x, 1.0)
    }

    /// y = alpha·x + beta·y, where y is this vector. If beta is 0, the old contents of y do not
    /// matter. The factors are rounded to the element's arithmetic type, and both products are
    /// rounded before they are added. Returns when the operation is enqueued.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// let device = blockmul::Device::auto()?;
    /// let (z, mut p) = (device.upload_vector(&[1.0, 2.0])?, device.upload_vector(&[10.0, 20.0])?);
    /// p.axpby(1.0, &z, 0.5)?; // the next direction of conjugate gradients: p = z + beta p
    /// assert_eq!((p.download()?, p.dot(&z)?), (vec![6.0, 12.0], 30.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`DeviceVector::dot`].
    pub fn axpby(&mut self, alpha: f64, x: &Self, beta: f64) -> Result<()> {
        let (x, y) = (x.any(), self.any_mut());
        y.check_field()?;
        y.check_other("x", x)?;
        axpby(&y.device, Scaling::of(x.element(), alpha, beta), &x.values, &mut y.values)
    }

    /// Multiplies every element by `alpha`. Returns when the operation is enqueued.
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl); [`Error::Argument`](crate::Error::Argument) for
    /// integers.
    pub fn scale(&mut self, alpha: f64) -> Result<()> {
        let y = self.any_mut();
        y.check_field()?;
        scale(&y.device, Number::nearest(y.element(), alpha), &mut y.values)
    }
}

impl<T> DeviceVector<T> {
    /// Replaces this vector by a copy of `x`, which has the same length. Returns when the operation
    /// is enqueued.
    ///
    /// # Errors
    /// See [`DeviceVector::dot`].
    pub fn copy_from(&mut self, x: &Self) -> Result<()> {
        let (x, y) = (x.any(), self.any_mut());
        y.check_other("x", x)?;
        let n = y.len();
        Work::new(&y.device, None).copy(&x.values, 0, &mut y.values, 0, n)
    }
}

impl DeviceVector<Any> {
    fn check_field(&self) -> Result<()> {
        match self.element() {
            element if element.is_integer() => {
                Err(Error::Argument(format!("a vector of {element}: it must be of f64, f32 or f16")))
            }
            _ => Ok(()),
        }
    }

    fn check_other(&self, name: &'static str, other: &Self) -> Result<()> {
        let (found, own) = (other.element(), self.element());
        if found != own {
            return Err(Error::Argument(format!("{name} has elements of {found}, the vector of {own}")));
        }
        check_vector(name, other, &self.device, self.len(), || "the elements of the other vector".into())
    }
}

/// Refuses a vector of another length, or on another device.
pub(crate) fn check_vector<V>(
    name: &'static str,
    vector: &DeviceVector<V>,
    device: &Device,
    expected: usize,
    why: impl FnOnce() -> String,
) -> Result<()> {
    same_device(device, vector.device())?;
    match vector.len() == expected {
        true => Ok(()),
        false => Err(Error::Length { array: name, found: vector.len(), expected, why: why() }),
    }
}

fn group_size(device: &Device) -> usize {
    device.info().vector_group()
}

fn options(device: &Device, values: &Buffer) -> Options {
    Options::group_size(group_size(device)).element(ElementType::of(values.word()))
}

/// See [`DeviceVector::dot`].
fn dot(device: &Device, x: &Buffer, y: &Buffer) -> Result<f64> {
    let n = x.len();
    if n == 0 {
        return Ok(0.0);
    }
    let (work, sum) = (Work::new(device, None), ElementType::of(x.word()).arithmetic().word());
    let options = options(device, x).define("PIECE", PIECE);
    let pieces = |n: usize| Grid::groups(n.div_ceil(PIECE), group_size(device));
    let dot: Kernel<DotPieces<'_>> = Kernel::new(device, &options)?;
    let mut sums = work.buffer_of(sum, n.div_ceil(PIECE))?;
    dot.launch(&work, pieces(n), DotPieces { x, y, sums: &mut sums, n: n as u64 })?;
    while sums.len() > 1 {
        let add: Kernel<AddPieces<'_>> = Kernel::new(device, &options)?;
        let (n, terms) = (sums.len(), sums);
        sums = work.buffer_of(sum, n.div_ceil(PIECE))?;
        add.launch(&work, pieces(n), AddPieces { terms: &terms, sums: &mut sums, n: n as u64 })?;
    }
    Ok(work.download_numbers(&sums)?[0])
}

fn axpby(device: &Device, Scaling { alpha, beta }: Scaling, x: &Buffer, y: &mut Buffer) -> Result<()> {
    let kernel: Kernel<Axpby<'_>> = Kernel::new(device, &options(device, y))?;
    let (grid, n) = (Grid::items(y.len(), group_size(device)), y.len() as u64);
    kernel.launch(&Work::new(device, None), grid, Axpby { x, y, n, alpha, beta })
}

fn scale(device: &Device, alpha: Number, y: &mut Buffer) -> Result<()> {
    let kernel: Kernel<Scale<'_>> = Kernel::new(device, &options(device, y))?;
    let (grid, n) = (Grid::items(y.len(), group_size(device)), y.len() as u64);
    kernel.launch(&Work::new(device, None), grid, Scale { y, n, alpha })
}
