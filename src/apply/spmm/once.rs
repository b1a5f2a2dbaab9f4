//! Products of sparse and dense matrices in one shot.
use super::{ApplyDense, ApplyGcoo, DenseMethod, DeviceGcoo, GcooOptions};
use crate::{DeviceDense, DeviceMatrix, Planned, Result, matrix::HostMatrix, product::Times};

/// C = A·D, in the layout of D, as [`blockmul::multiply`](crate::multiply) computes it.
///
/// For products that repeat, an [`ApplyDense`](crate::plan::ApplyDense) keeps what depends on A's
/// pattern.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csr, Device, dense};
/// use nalgebra::dmatrix;
/// let device = Device::auto()?;
/// let a = device.upload(&Csr::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![2.0, 3.0, 5.0])?)?;
/// let d = device.upload_dense(&dmatrix![1.0, 0.0; 10.0, 1.0])?;
/// assert_eq!(dense::multiply(&a, &d)?.download()?, dmatrix![2.0, 0.0; 53.0, 5.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) if the inner dimensions differ,
/// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
/// [`Error::Memory`](crate::Error::Memory).
#[doc(alias = "SpMM")]
pub fn multiply<M: HostMatrix>(a: &DeviceMatrix<M>, d: &DeviceDense<M::Word>) -> Result<DeviceDense<M::Word>> {
    let layout = d.shape().layout;
    let plan = ApplyDense::of(a, d.shape().cols).layouts(layout, layout).plan()?;
    let mut c = plan.output()?;
    plan.execute((a, d), &mut c)?;
    Ok(c)
}

/// C = D·A, in the layout of D; see [`multiply`].
///
/// # Errors
/// See [`multiply`].
pub fn multiply_by<M: HostMatrix>(d: &DeviceDense<M::Word>, a: &DeviceMatrix<M>) -> Result<DeviceDense<M::Word>> {
    let layout = d.shape().layout;
    let plan = ApplyDense::of(a, d.shape().rows).from_right().layouts(layout, layout).plan()?;
    let mut c = plan.output()?;
    plan.execute((a, d), &mut c)?;
    Ok(c)
}

impl<M: HostMatrix> Times<DeviceDense<M::Word>> for DeviceMatrix<M> {
    type Product = DeviceDense<M::Word>;

    fn times(&self, d: &DeviceDense<M::Word>) -> Result<Self::Product> {
        multiply(self, d)
    }
}

impl<M: HostMatrix> Times<DeviceMatrix<M>> for DeviceDense<M::Word> {
    type Product = Self;

    fn times(&self, a: &DeviceMatrix<M>) -> Result<Self> {
        multiply_by(self, a)
    }
}

/// Groups of the product's own lines (of rows for A·D) are read as they are. A conversion to
/// compressed lines saves time only if the product is repeated.
impl<T: 'static> Times<DeviceDense<T>> for DeviceGcoo<T> {
    type Product = DeviceDense<T>;

    fn times(&self, d: &DeviceDense<T>) -> Result<DeviceDense<T>> {
        grouped(ApplyGcoo::with(self, d.shape().cols), self, d)
    }
}

impl<T: 'static> Times<DeviceGcoo<T>> for DeviceDense<T> {
    type Product = Self;

    fn times(&self, a: &DeviceGcoo<T>) -> Result<Self> {
        grouped(ApplyGcoo::with(a, self.shape().rows).from_right(), a, self)
    }
}

fn grouped<T: 'static>(options: GcooOptions<'_, T>, a: &DeviceGcoo<T>, d: &DeviceDense<T>) -> Result<DeviceDense<T>> {
    let layout = d.shape().layout;
    let plan = options.method(DenseMethod::Gcoo).layouts(layout, layout).plan()?;
    let mut c = plan.output()?;
    plan.execute((a, d), &mut c)?;
    Ok(c)
}
