//! y = Jᵀ·(W·(J·x)): a gram matrix as an operator.
mod between;
mod operands;

pub use operands::{GramOperands, WeighedVector};

use super::{Apply, ApplyOptions, Packed, packed::Turn};
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Matrix, Result,
    matrix::HostMatrix,
    planned::{Accum, Cost, On, Planned},
};
use between::Between;

/// y = JᵀJ·x or JᵀWJ·x without forming JᵀJ: one product with J, one with W, and one with Jᵀ. The
/// operator is meant for iterations such as conjugate gradients on the normal equations (CGLS),
/// when H = JᵀWJ would have many more entries than J or would be used for few products.
///
/// W is block-diagonal, as for [`Product::gram`](crate::Product::gram), and may change between
/// executions. The products with J and Jᵀ add terms in the order of [`Apply`]. W·(J·x) is computed
/// as in [`reference::multiply_vector_gram`](crate::reference::multiply_vector_gram). So the bits
/// are equal on every device. J·x and W·J·x are rounded to the element type. Unlike JᵀJ, the
/// operator is not symmetric to the last bit. The plan holds two vectors with an element for each
/// row of J, and the pattern of W even if no weights are used.
///
/// [`ApplyOptions::gram`](super::ApplyOptions::gram) prepares the operator with a format and other
/// options. [`ApplyOptions::pack_gram`](super::ApplyOptions::pack_gram) also copies the values, for
/// many products with the same values.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::{Accum, ApplyGram};
/// use blockmul::{Csc, Device, Planned, product::Weights};
/// let device = Device::auto()?;
/// let j = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0)])?)?;
/// let plan = ApplyGram::<Csc<f64>>::new(&j.pattern())?; // structure, once
/// let (x, mut y) = (device.upload_vector(&[1.0, 10.0])?, plan.output()?);
/// plan.execute((&j, &x), &mut y)?; // values, many times
/// assert_eq!(y.download()?, [21.0, 132.0]);
///
/// let w = device.upload_vector(&[1.0, 10.0])?;
/// plan.execute((&j, Weights::Rows(&w), &x), &mut y)?;
/// assert_eq!(y.download()?, [21.0, 942.0]);
///
/// // Damped: y = JᵀJ·x + 2·x
/// y.copy_from(&x)?;
/// plan.execute((&j, &x), Accum::into(&mut y).beta(2.0))?;
/// assert_eq!(y.download()?, [23.0, 152.0]);
/// # Ok(())
/// # }
/// ```
pub struct ApplyGram<M: HostMatrix> {
    forward: Apply<M>,
    back: Apply<M>,
    between: Between<M>,
}

/// An [`ApplyGram`] that holds copies of J's values in the order of its formats, once for J·x and
/// once for Jᵀ. [`ApplyOptions::pack_gram`](super::ApplyOptions::pack_gram) makes it.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::plan::Apply;
/// use blockmul::{Csc, Device, Planned};
/// let device = Device::auto()?;
/// let mut j = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0)])?)?;
/// let mut packed = Apply::with(&j.pattern()).pack_gram(&j)?;
/// let (x, mut y) = (device.upload_vector(&[1.0, 10.0])?, packed.output()?);
/// packed.execute(&x, &mut y)?;
/// assert_eq!(y.download()?, [21.0, 132.0]);
///
/// j.write_values(&[1.0, 0.0, 1.0])?; // other values on the same pattern
/// packed.update(&j)?;
/// packed.execute(&x, &mut y)?;
/// assert_eq!(y.download()?, [1.0, 10.0]);
/// # Ok(())
/// # }
/// ```
pub struct PackedGram<M: HostMatrix> {
    forward: Packed<M>,
    back: Packed<M>,
    between: Between<M>,
}

impl<M: Matrix> ApplyGram<M> {
    /// Prepares y = JᵀWJ·x, for executions with weights and without.
    ///
    /// # Errors
    /// See [`Apply::new`].
    pub fn new(j: &DevicePattern) -> Result<Self> {
        Apply::with(j).gram()
    }
}

impl<M: HostMatrix> ApplyOptions<M> {
    /// Prepares y = Jᵀ·(W·(J·x)). J is A, or Aᵀ after [transposed](ApplyOptions::transposed). A
    /// requested format is used for both products, with J and with Jᵀ. Values are read in place.
    ///
    /// # Errors
    /// See [`ApplyOptions::plan`].
    pub fn gram(self) -> Result<ApplyGram<M>> {
        ApplyGram::prepared(self)
    }

    /// Prepares y = Jᵀ·(W·(J·x)) for one matrix J, whose values are copied twice: in the order of
    /// the product with J, and in the order of the product with Jᵀ.
    ///
    /// # Errors
    /// See [`ApplyOptions::plan`].
    pub fn pack_gram(mut self, j: &DeviceMatrix<M>) -> Result<PackedGram<M>> {
        self.request.packed = true;
        ApplyGram::prepared(self)?.packed(j)
    }
}

impl<M: HostMatrix> ApplyGram<M> {
    pub(super) fn prepared(mut options: ApplyOptions<M>) -> Result<Self> {
        let forward = Apply::prepared(&options)?;
        options.transposed = !options.transposed;
        let back = Apply::prepared(&options)?;
        let (a, semiring) = (&options.a, options.request.semiring);
        // `transposed` now belongs to Jᵀ. If `transposed` is set, J is A, and else J is Aᵀ.
        let rows = match options.transposed {
            true => [a.nrows(), a.shape().rows()],
            false => [a.ncols(), a.shape().cols()],
        };
        let between = Between::new(a.device(), options.of, rows, semiring)?;
        Ok(Self { forward, back, between })
    }

    pub(super) fn packed(self, j: &DeviceMatrix<M>) -> Result<PackedGram<M>> {
        let Self { forward, back, between } = self;
        Ok(PackedGram { forward: Packed::new(forward, j)?, back: Packed::new(back, j)?, between })
    }

    /// The products with J and with Jᵀ, in this order. Each product states its format and the
    /// reason for the format.
    pub fn products(&self) -> [&Apply<M>; 2] {
        [&self.forward, &self.back]
    }

    /// The pattern of W, from which [`DeviceMatrix::zeros`](crate::DeviceMatrix::zeros) makes a
    /// block-diagonal matrix.
    pub fn weights_pattern(&self) -> &DevicePattern {
        &self.between.weights
    }
}

impl<M: HostMatrix> PackedGram<M> {
    /// Copies J's current values, in one pass for each product. Returns when the copies are
    /// enqueued.
    ///
    /// # Errors
    /// See [`Packed::update`].
    pub fn update(&mut self, j: &DeviceMatrix<M>) -> Result<()> {
        self.forward.update(j)?;
        self.back.update(j)
    }

    /// The products with J and with Jᵀ, in this order. Each product states its format and the
    /// reason for the format.
    pub fn products(&self) -> [&Packed<M>; 2] {
        [&self.forward, &self.back]
    }

    /// The pattern of W, from which [`DeviceMatrix::zeros`](crate::DeviceMatrix::zeros) makes a
    /// block-diagonal matrix.
    pub fn weights_pattern(&self) -> &DevicePattern {
        &self.between.weights
    }
}

impl<M: HostMatrix> Planned for ApplyGram<M> {
    /// The matrix J, the weights W if there are any, and the vector x, in this order.
    type Inputs<'a> = GramOperands<'a, M>;
    /// The vector y.
    type Output = DeviceVector<M::Word>;

    fn device(&self) -> &Device {
        self.forward.device()
    }

    fn output(&self) -> Result<Self::Output> {
        self.back.output()
    }

    fn cost(&self) -> Cost {
        self.between.cost([self.forward.cost(), self.back.cost()])
    }

    fn enqueue(
        &self,
        On(work): On<'_>,
        GramOperands { j, x }: Self::Inputs<'_>,
        into: Accum<'_, Self::Output>,
    ) -> Result<()> {
        self.forward.check("J", j)?;
        let turns = [&self.forward, &self.back].map(|of| Turn { sums: of.sums(), values: (&j.cbc).into() });
        self.between.enqueue(work, self.forward.x_len(), turns, x, into)
    }
}

impl<M: HostMatrix> Planned for PackedGram<M> {
    /// The weights W if there are any, and the vector x, in this order.
    type Inputs<'a> = WeighedVector<'a, M>;
    /// The vector y.
    type Output = DeviceVector<M::Word>;

    fn device(&self) -> &Device {
        self.forward.device()
    }

    fn output(&self) -> Result<Self::Output> {
        self.back.output()
    }

    fn cost(&self) -> Cost {
        self.between.cost([self.forward.cost(), self.back.cost()])
    }

    fn enqueue(&self, On(work): On<'_>, x: Self::Inputs<'_>, into: Accum<'_, Self::Output>) -> Result<()> {
        self.between.enqueue(work, self.forward.x_len(), [&self.forward, &self.back].map(Packed::turn), x, into)
    }
}

impl<M: HostMatrix> std::fmt::Debug for ApplyGram<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApplyGram({:?}, {:?})", self.forward, self.back)
    }
}

impl<M: HostMatrix> std::fmt::Debug for PackedGram<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PackedGram({:?}, {:?})", self.forward, self.back)
    }
}
