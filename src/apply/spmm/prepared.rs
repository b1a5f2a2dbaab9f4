//! A prepared product with dense matrices, whatever its elements.
use super::{Request, Spmm, sides::Sides};
use crate::{
    DevicePattern, Result,
    device::{Buffer, Work},
    element::Scaling,
    matrix::{DenseShape, Side},
    planned::Cost,
    vector::line_sums::Stored,
};

/// A product that is to be prepared.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub a: DevicePattern,
    pub side: Side,
    pub transposed: bool,
    pub request: Request,
}

impl Wanted {
    /// Whether rows of the arrays are lines of the product. Rows of op(A) are the lines if A is on
    /// the left; they are rows of the arrays if both or neither are transposed.
    pub fn of_rows(&self) -> bool {
        (self.transposed == self.a.row_major) == (self.side == Side::Left)
    }
}

/// A product of the matrices on a pattern.
pub(super) struct Prepared {
    pub a: DevicePattern,
    pub sides: Sides,
    pub spmm: Spmm,
}

impl Prepared {
    /// Prepares within the memory that `work` may allocate. The caller has checked that the
    /// semiring has the elements, and the device too.
    pub fn new(work: &Work, wanted: &Wanted) -> Result<Self> {
        let &Wanted { ref a, side, transposed, request } = wanted;
        let (sides, request) = Sides::new(side, transposed, a.scalar_sides(), request)?;
        let spmm = Spmm::new(work, &a.arrays, a.array_shape, wanted.of_rows(), request)?;
        Ok(Self { a: a.clone(), sides, spmm })
    }

    /// Multiplies with values in the order that the product wants. The caller has checked sides.
    pub fn run(
        &self,
        work: &Work,
        a: Stored<'_>,
        (d_shape, d): (DenseShape, &Buffer),
        scaling: Scaling,
        (c_shape, c): (DenseShape, &mut Buffer),
    ) -> Result<()> {
        work.stage("apply");
        let (d_shape, c_shape) = (self.sides.of_left(d_shape), self.sides.of_left(c_shape));
        self.spmm.run(work, a, (d_shape, d), scaling, (c_shape, c))
    }

    /// The cost of an execution, with values where they are.
    pub fn cost(&self) -> Cost {
        let terms = (self.a.nnz() as u64 * self.a.shape().area() as u64).saturating_mul(self.sides.n() as u64);
        Cost { products: 0, flops: terms.saturating_mul(2), device_bytes: self.spmm.bytes() }
    }
}
