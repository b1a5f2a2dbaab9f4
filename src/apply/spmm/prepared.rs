//! Prepared products with dense matrices, without element types.
use super::{Request, Spmm, sides::Sides};
use crate::{
    DevicePattern, Result,
    device::Work,
    element::Scaling,
    matrix::Side,
    planned::Cost,
    resident::{DenseBuffer, DenseBufferMut},
    vector::line_sums::Stored,
};

/// The description of a product to prepare.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub a: DevicePattern,
    pub side: Side,
    pub transposed: bool,
    pub request: Request,
}

impl Wanted {
    /// Whether the lines of the product are rows of the arrays. If A is on the left, its lines are
    /// the rows of op(A). The rows of op(A) are rows of the arrays if both or neither are
    /// transposed.
    pub fn of_rows(&self) -> bool {
        (self.transposed == self.a.row_major) == (self.side == Side::Left)
    }
}

/// A product prepared for every matrix on a pattern.
pub(super) struct Prepared {
    pub a: DevicePattern,
    pub sides: Sides,
    pub spmm: Spmm,
}

impl Prepared {
    /// Prepares the product within the memory that `work` may allocate. The caller has checked that
    /// the semiring and the device support the elements.
    pub fn new(work: &Work, wanted: &Wanted) -> Result<Self> {
        let &Wanted { ref a, side, transposed, request } = wanted;
        let (sides, request) = Sides::new(side, transposed, a.scalar_sides(), request)?;
        let spmm = Spmm::new(work, &a.arrays, a.array_shape, wanted.of_rows(), request)?;
        Ok(Self { a: a.clone(), sides, spmm })
    }

    /// Multiplies with values that are in the order of the product. The caller has checked the
    /// sides.
    pub fn run(
        &self,
        work: &Work,
        a: Stored<'_>,
        d: DenseBuffer<'_>,
        scaling: Scaling,
        c: DenseBufferMut<'_>,
    ) -> Result<()> {
        work.stage("apply");
        let d = DenseBuffer { shape: self.sides.of_left(d.shape), ..d };
        let c = DenseBufferMut { shape: self.sides.of_left(c.shape), ..c };
        self.spmm.run(work, a, d, scaling, c)
    }

    /// The cost of an execution without packed values, whose bytes come in addition.
    pub fn cost(&self) -> Cost {
        let terms = (self.a.nnz() as u64 * self.a.shape().area() as u64).saturating_mul(self.sides.n() as u64);
        Cost { products: 0, flops: terms.saturating_mul(2), device_bytes: self.spmm.bytes() }
    }
}
