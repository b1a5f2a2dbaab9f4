//! The step between the products with J and with Jᵀ in y = Jᵀ·(W·(J·x)).
use super::operands::WeighedVector;
use crate::{
    Device, DevicePattern, DeviceVector, Result, Semiring,
    apply::packed::Turn,
    device::{Buffer, Work},
    element::Scaling,
    matrix::{HostMatrix, Kind, MatrixType},
    planned::{Accum, Cost},
    product::{ApplyWeights, ArrayWeights, block_diagonal, one_column},
    resident::ScratchMatrix,
    vector::{ScaledInto, check_vector},
};

/// The step between J and Jᵀ: the memory for J·x, stored as blocks of one column, and W.
pub(super) struct Between<M: HostMatrix> {
    product: ScratchMatrix,
    weigh: ApplyWeights,
    pub weights: DevicePattern,
    of: MatrixType<M>,
    semiring: Semiring,
}

impl<M: HostMatrix> Between<M> {
    /// Prepares the step for a J of `rows` block rows, whose blocks have `side` scalar rows.
    pub fn new(device: &Device, of: MatrixType<M>, [rows, side]: [usize; 2], semiring: Semiring) -> Result<Self> {
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

    /// y = alpha·Jᵀ·(W·(J·x)) + beta·y, by the products with J and with Jᵀ. J has `columns`
    /// scalar columns.
    pub fn enqueue(
        &self,
        work: &Work,
        columns: usize,
        turns: [Turn<'_>; 2],
        operands: WeighedVector<'_, M>,
        into: Accum<'_, DeviceVector<M::Word>>,
    ) -> Result<()> {
        self.check(columns, &operands, &into)?;
        let WeighedVector { x, weights } = operands;
        let scaling = Scaling::of(self.of.element, into.alpha, into.beta);
        let weights = weights.map(|weights| weights.views().arrays(self.of.any())).transpose()?;
        self.run(work, turns, x.values.any(), weights, ScaledInto { values: into.c.values.any_mut(), scaling })
    }

    /// Does the work of [`Between::enqueue`] after its checks.
    fn run(
        &self,
        work: &Work,
        [of_j, of_transpose]: [Turn<'_>; 2],
        x: &Buffer,
        weights: Option<ArrayWeights<'_>>,
        ScaledInto { values: y, scaling }: ScaledInto<'_>,
    ) -> Result<()> {
        work.stage("apply");
        let mut product = self.product.take(work)?;
        of_j.run(work, x, Scaling::plain(self.of.element), &mut product.values)?;
        let weighed = weights.map(|weights| self.weigh.run(work, &product, weights)).transpose()?;
        work.stage("apply-transposed");
        of_transpose.run(work, &weighed.as_ref().unwrap_or(&product).values, scaling, y)
    }

    /// The cost of an execution without weights, including the costs of the products with J and Jᵀ.
    pub fn cost(&self, products: [Cost; 2]) -> Cost {
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
