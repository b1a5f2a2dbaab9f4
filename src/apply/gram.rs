//! y = Jᵀ·(W·(J·x)): a gram matrix as an operator.
use super::{Apply, ApplyOptions, Packed, Spmv};
use crate::{
    Device, DeviceMatrix, DevicePattern, DeviceVector, Matrix, Result, Semiring,
    device::{Buffer, Work},
    element::Scaling,
    matrix::{HostMatrix, Kind, MatrixType},
    planned::{Accum, Cost, On, Planned},
    product::{ApplyWeights, ArrayWeights, DeviceWeights, Weights, block_diagonal, one_column},
    resident::ScratchMatrix,
    vector::{check_vector, line_sums::Stored},
};

/// y = JᵀJ·x or JᵀWJ·x without forming JᵀJ: one product with J, one with W, and one with Jᵀ. It is
/// meant for iterations such as conjugate gradients on the normal equations (CGLS), when H = JᵀWJ
/// would have many more entries than J or would be used for few products.
///
/// W is block-diagonal, as for [`Product::gram`](crate::Product::gram), and may change between
/// executions. The products with J and Jᵀ add as [`Apply`] does, and W·(J·x) is computed as
/// [`reference::multiply_vector_gram`](crate::reference::multiply_vector_gram) says, so the bits
/// are equal on every device. J·x and W·J·x are rounded to the element type. The operator is not
/// symmetric to the last bit, as JᵀJ is. The plan holds two vectors as long as J has rows, and the
/// pattern of W even if no weights are used.
///
/// [`ApplyOptions::gram`](super::ApplyOptions::gram) takes a format and other options;
/// [`ApplyOptions::pack_gram`](super::ApplyOptions::pack_gram) copies the values, for many products
/// with the same ones.
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

/// The operands of an [`ApplyGram`]: `(&j, &x)`, or with weights `(&j, weights, &x)`.
#[derive(Debug)]
pub struct GramOperands<'a, M: HostMatrix> {
    j: &'a DeviceMatrix<M>,
    x: WeighedVector<'a, M>,
}

/// The operands of a [`PackedGram`]: `&x`, or with weights `(weights, &x)`.
#[derive(Debug)]
pub struct WeighedVector<'a, M: HostMatrix> {
    x: &'a DeviceVector<M::Word>,
    weights: Option<DeviceWeights<'a, M>>,
}

impl<'a, M: HostMatrix> From<&'a DeviceVector<M::Word>> for WeighedVector<'a, M> {
    fn from(x: &'a DeviceVector<M::Word>) -> Self {
        Self { x, weights: None }
    }
}

impl<'a, M: HostMatrix> From<(Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>>, &'a DeviceVector<M::Word>)>
    for WeighedVector<'a, M>
{
    fn from((weights, x): (DeviceWeights<'a, M>, &'a DeviceVector<M::Word>)) -> Self {
        Self { x, weights: Some(weights) }
    }
}

impl<'a, M: HostMatrix> From<(&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>)> for GramOperands<'a, M> {
    fn from((j, x): (&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>)) -> Self {
        Self { j, x: x.into() }
    }
}

impl<'a, M: HostMatrix>
    From<(&'a DeviceMatrix<M>, Weights<&'a DeviceMatrix<M>, &'a DeviceVector<M::Word>>, &'a DeviceVector<M::Word>)>
    for GramOperands<'a, M>
{
    fn from((j, weights, x): (&'a DeviceMatrix<M>, DeviceWeights<'a, M>, &'a DeviceVector<M::Word>)) -> Self {
        Self { j, x: (weights, x).into() }
    }
}

/// The step between J and Jᵀ: the memory for J·x, stored as blocks of one column, and W.
struct Between<M: HostMatrix> {
    product: ScratchMatrix,
    weigh: ApplyWeights,
    weights: DevicePattern,
    of: MatrixType<M>,
    semiring: Semiring,
}

/// One of the two products, with J's values in its order.
type Turn<'a> = (&'a Spmv, Stored<'a>);

impl<M: HostMatrix> Between<M> {
    /// Prepares the step for a J of `rows` block rows, whose blocks have `side` scalar rows.
    fn new(device: &Device, of: MatrixType<M>, (rows, side): (usize, usize), semiring: Semiring) -> Result<Self> {
        let (work, row_major) = (&Work::new(device, None), of.kind.get().is_row_major());
        let column = one_column(work, rows, side, row_major)?;
        let weights = block_diagonal(work, rows, side, row_major)?;
        let weigh = ApplyWeights::new(work, of.element, &column, &weights)?;
        let product = ScratchMatrix::reserve(work, of.element.word(), &column)?;
        Ok(Self { product, weigh, weights, of, semiring })
    }

    /// Refuses weights that do not match J's rows, vectors that do not match J's columns, and
    /// weights or factors that the semiring does not support.
    fn check(
        &self,
        columns: usize,
        WeighedVector { x, weights }: &WeighedVector<'_, M>,
        into: &Accum<'_, DeviceVector<M::Word>>,
    ) -> Result<()> {
        self.semiring.check_factors_of(self.of.element, into.alpha, into.beta)?;
        let (device, why) = (self.weights.device(), || format!("J has {columns} scalar columns"));
        for (name, vector) in [("x", *x), ("y", &*into.c)] {
            vector.check_element(name, self.of.element)?;
            check_vector(name, vector, device, columns, why)?;
        }
        match weights {
            Some(weights) => {
                self.semiring.check_weights()?;
                self.weigh.check("W", weights.views().arrays(self.of.any())?)
            }
            None => Ok(()),
        }
    }

    /// y = alpha·Jᵀ·(W·(J·x)) + beta·y. The caller has checked all operands.
    fn run(
        &self,
        work: &Work,
        [(j, forward), (j_transposed, back)]: [Turn<'_>; 2],
        (x, weights): (&Buffer, Option<ArrayWeights<'_>>),
        scaling: Scaling,
        y: &mut Buffer,
    ) -> Result<()> {
        work.stage("apply");
        let mut product = self.product.take(work)?;
        j.run(work, forward, x, Scaling::of(self.of.element, 1.0, 0.0), &mut product.values)?;
        let weighed = weights.map(|weights| self.weigh.run(work, &product, weights)).transpose()?;
        work.stage("apply-transposed");
        j_transposed.run(work, back, &weighed.as_ref().unwrap_or(&product).values, scaling, y)
    }

    /// Does as [`Between::run`] for named element types.
    fn apply(
        &self,
        work: &Work,
        turns: [Turn<'_>; 2],
        WeighedVector { x, weights }: WeighedVector<'_, M>,
        into: Accum<'_, DeviceVector<M::Word>>,
    ) -> Result<()> {
        let scaling = Scaling::of(self.of.element, into.alpha, into.beta);
        let weights = weights.map(|weights| weights.views().arrays(self.of.any())).transpose()?;
        self.run(work, turns, (x.values.any(), weights), scaling, into.c.values.any_mut())
    }

    /// The cost of an execution without weights, added to the costs of the products with J and Jᵀ.
    fn cost(&self, products: [Cost; 2]) -> Cost {
        let patterns = self.weights.device_bytes() + self.weigh.t.pattern().device_bytes();
        let device_bytes = self.product.bytes() + self.weigh.bytes() + patterns;
        let flops = products.iter().map(|cost| cost.flops).sum();
        Cost {
            products: 0,
            flops,
            device_bytes: device_bytes + products.iter().map(|cost| cost.device_bytes).sum::<u64>(),
        }
    }
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

    /// Does as [`ApplyOptions::gram`] for one matrix, whose values are copied in the order of each
    /// of the two products.
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
        // Transposing the transposed matrix gives J, which is op(A).
        let rows = match options.transposed {
            true => (a.nrows(), a.shape().rows()),
            false => (a.ncols(), a.shape().cols()),
        };
        let between = Between::new(a.device(), options.of, rows, semiring)?;
        Ok(Self { forward, back, between })
    }

    pub(super) fn packed(self, j: &DeviceMatrix<M>) -> Result<PackedGram<M>> {
        let Self { forward, back, between } = self;
        Ok(PackedGram { forward: Packed::new(forward, j)?, back: Packed::new(back, j)?, between })
    }

    /// The products with J and with Jᵀ: their formats, and the reasons for these.
    pub fn products(&self) -> [&Apply<M>; 2] {
        [&self.forward, &self.back]
    }

    /// The pattern of W as a block-diagonal matrix: for
    /// [`DeviceMatrix::zeros`](crate::DeviceMatrix::zeros).
    pub fn weights_pattern(&self) -> &DevicePattern {
        &self.between.weights
    }
}

impl<M: HostMatrix> PackedGram<M> {
    /// Takes the values that J has now: one pass over them for each product. Returns when it is
    /// enqueued.
    ///
    /// # Errors
    /// See [`Packed::update`].
    pub fn update(&mut self, j: &DeviceMatrix<M>) -> Result<()> {
        self.forward.update(j)?;
        self.back.update(j)
    }

    /// The products with J and with Jᵀ: their formats, and the reasons for these.
    pub fn products(&self) -> [&Packed<M>; 2] {
        [&self.forward, &self.back]
    }

    /// The pattern of W as a block-diagonal matrix: for
    /// [`DeviceMatrix::zeros`](crate::DeviceMatrix::zeros).
    pub fn weights_pattern(&self) -> &DevicePattern {
        &self.between.weights
    }
}

impl<M: HostMatrix> Planned for ApplyGram<M> {
    /// The matrix J and the vector x, with weights between them if there are any.
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
        self.between.check(self.forward.x_len(), &x, &into)?;
        let turns = [&self.forward, &self.back].map(|turn| (turn.sums(), (&j.cbc).into()));
        self.between.apply(work, turns, x, into)
    }
}

impl<M: HostMatrix> Planned for PackedGram<M> {
    /// The vector x, after weights if there are any.
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
        self.between.check(self.forward.x_len(), &x, &into)?;
        self.between.apply(work, [&self.forward, &self.back].map(Packed::turn), x, into)
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
