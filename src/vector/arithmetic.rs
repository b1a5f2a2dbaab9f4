//! Vectors with vectors. Kernels: `cl/vector/dot.cl`, `cl/vector/axpby.cl`.
use super::check_vector;
use crate::{
    Device, DeviceVector, Element, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Scalar, Source, Work, source},
};
use nalgebra::{convert, convert_unchecked};

type DotSignature<T, V> = (In<T>, In<T>, Out<V>, u64);
type AddSignature<V> = (In<V>, Out<V>, u64);
type AxpbySignature<T, V> = (In<T>, InOut<T>, u64, Scalar<V>, Scalar<V>);
type ScaleSignature<T, V> = (InOut<T>, u64, Scalar<V>);

/// Terms, then sums, that are folded into one.
pub(crate) const PIECE: usize = 1024;

/// Enough to fill a device, where it has groups of that size; no bit depends on it.
const GROUP_SIZE: usize = 128;

impl<T: Element> DeviceVector<T> {
    /// The dot product with `other`, in the element's arithmetic type; waits for it. 0 for vectors of no elements.
    ///
    /// Products are rounded, then 1024 at a time folded in halves (the second 512 added to the first 512, the second 256 of these to the first,
    /// and so on to one), and the sums again until one is left: the same bits on every device, those of
    /// [`reference::dot`](crate::reference::dot). Rounding errors grow with the logarithm of the length.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length), [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn dot(&self, other: &Self) -> Result<f64> {
        self.check_other("other", other)?;
        let n = self.len();
        if n == 0 {
            return Ok(0.0);
        }
        let work = Work::new(&self.device, None);
        let (source, options) = (source!("vector/dot.cl"), options::<T>(&self.device).define("PIECE", PIECE));
        let pieces = |n: usize| Grid::groups(n.div_ceil(PIECE), group_size(&self.device));
        let dot: Kernel<DotSignature<T, T::Arithmetic>> = self.device.kernel(source, &options, "dot_pieces")?;
        let mut sums: Buffer<T::Arithmetic> = work.buffer(n.div_ceil(PIECE))?;
        dot.launch(&work, pieces(n), (&self.values, &other.values, &mut sums, n as u64))?;
        while sums.len() > 1 {
            let add: Kernel<AddSignature<T::Arithmetic>> = self.device.kernel(source, &options, "add_pieces")?;
            let n = sums.len();
            let mut next = work.buffer(n.div_ceil(PIECE))?;
            add.launch(&work, pieces(n), (&sums, &mut next, n as u64))?;
            sums = next;
        }
        Ok(convert_unchecked(sums.download(&work)?[0]))
    }

    /// The 2-norm: the root of the dot product with itself.
    ///
    /// # Errors
    /// As [`DeviceVector::dot`].
    pub fn norm(&self) -> Result<f64> {
        Ok(self.dot(self)?.sqrt())
    }

    /// y = alpha·x + y, where y is this vector. Returns when it is enqueued.
    ///
    /// # Errors
    /// As [`DeviceVector::dot`].
    pub fn axpy(&mut self, alpha: f64, x: &Self) -> Result<()> {
        self.axpby(alpha, x, 1.0)
    }

    /// y = alpha·x + beta·y, where y is this vector; where beta is 0, what it held does not matter. The numbers are rounded to the element's
    /// arithmetic type, both products before they are added. Returns when it is enqueued.
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
    /// As [`DeviceVector::dot`].
    pub fn axpby(&mut self, alpha: f64, x: &Self, beta: f64) -> Result<()> {
        self.check_other("x", x)?;
        let kernel: Kernel<AxpbySignature<T, T::Arithmetic>> =
            self.device.kernel(AXPBY, &options::<T>(&self.device), "axpby")?;
        let (grid, n) = (Grid::items(self.len(), group_size(&self.device)), self.len() as u64);
        let args = (&x.values, &mut self.values, n, convert(alpha), convert(beta));
        kernel.launch(&Work::new(&self.device, None), grid, args)
    }

    /// Multiplies every element by `alpha`. Returns when it is enqueued.
    ///
    /// # Errors
    /// [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn scale(&mut self, alpha: f64) -> Result<()> {
        let kernel: Kernel<ScaleSignature<T, T::Arithmetic>> =
            self.device.kernel(AXPBY, &options::<T>(&self.device), "scale")?;
        let (grid, n) = (Grid::items(self.len(), group_size(&self.device)), self.len() as u64);
        kernel.launch(&Work::new(&self.device, None), grid, (&mut self.values, n, convert(alpha)))
    }

    /// Becomes a copy of `x`, of the same length. Returns when it is enqueued.
    ///
    /// # Errors
    /// As [`DeviceVector::dot`].
    pub fn copy_from(&mut self, x: &Self) -> Result<()> {
        self.check_other("x", x)?;
        let n = self.len();
        Work::new(&self.device, None).copy(&x.values, 0, &mut self.values, 0, n)
    }

    fn check_other(&self, name: &'static str, other: &Self) -> Result<()> {
        check_vector(name, other, &self.device, self.len(), || "the elements of the other vector".into())
    }
}

const AXPBY: Source = source!("vector/axpby.cl");

fn group_size(device: &Device) -> usize {
    GROUP_SIZE.min(device.info().max_group_size)
}

fn options<T: Element>(device: &Device) -> Options {
    Options::group_size(group_size(device)).element::<T>()
}
