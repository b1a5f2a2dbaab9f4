//! The sum of the products of several inner groups, which have different patterns. Kernel:
//! `cl/product/plan/sum.cl`.
//!
//! The pattern of P0 + P1 + … is that of [P0 | P1 | …]·[I; I; …]. The operand pairs of the product
//! with [I; I; …] are planned once. The pairs name the blocks of each sum in ascending order. The
//! product itself is not computed.
use crate::{
    BlockShape, DevicePattern, OperandPair, Pattern, Result, Semiring,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Scalar, Sum, Work, kernel},
    element::ElementType,
    product::{Destination, FactorPattern, Part, PlannedProduct, Scaling, terms::How},
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    struct SumGroups = "sum_groups" in "product/plan/sum.cl" {
        run_end: In<u32>,
        pair: In<OperandPair>,
        parts: In<Elem>,
        c_values: InOut<Elem>,
        nnz: u32,
        first: u32,
        c_stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
        area: u32,
    }
}

/// The blocks of several matrices that sum to each block of C.
pub(crate) struct GroupSum {
    kernel: Kernel<SumGroups<'static>>,
    union: PlannedProduct,
    /// Elements of a block.
    area: usize,
    group_size: usize,
}

impl GroupSum {
    /// Plans the sum, in a semiring, of matrices with these patterns. At least two patterns are
    /// given, all of one size and block shape.
    pub fn new(work: &Work, patterns: &[&DevicePattern], element: ElementType, semiring: Semiring) -> Result<Self> {
        let (device, first) = (work.device(), patterns[0]);
        let columns = patterns.iter().map(|p| p.arrays.clone().into_buffers(work)).collect::<Result<Vec<_>>>()?;
        let joined = crate::product::join_patterns(work, first.arrays.nrows, columns)?;
        let stacked = stacked_identities(work, patterns.len(), first.arrays.ncols)?;
        let factor =
            |pattern: Arc<PatternArrays>| FactorPattern { pattern, shape: BlockShape::SCALAR, transposed: false };
        let factors = (&factor(joined), &factor(stacked));
        let group_size = device.info().value_group();
        let options = Options::group_size(group_size).element_in(element, semiring);
        Ok(Self {
            kernel: Kernel::new(device, &options)?,
            union: PlannedProduct::of_pairs(work, element, factors, Part::Full, How::default())?,
            area: first.array_shape.area(),
            group_size,
        })
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &Arc<PatternArrays> {
        &self.union.c
    }

    /// Computes C = alpha·(P0 + P1 + …) + beta·C. `parts` holds the blocks of P0, P1, … one after
    /// another, without padding.
    pub fn run(&self, work: &Work, parts: &Buffer, scaling: Scaling, c: Destination<'_>) -> Result<()> {
        let Scaling { alpha, beta } = scaling;
        for (pair, run_end, first) in self.union.runs() {
            let nnz = run_end.len();
            let args = SumGroups {
                run_end,
                pair,
                parts,
                c_values: &mut *c.values,
                nnz: nnz as u32,
                first: c.first as u32 + first,
                c_stride: c.stride as u32,
                alpha,
                beta,
                area: self.area as u32,
            };
            self.kernel.launch(work, Grid::items(nnz * self.area, self.group_size), args)?;
        }
        Ok(())
    }

    /// Bytes of device memory held, rounded up to the size classes of the pool.
    pub fn bytes(&self) -> u64 {
        self.union.bytes()
    }
}

/// `count` identity matrices of size `n`, one below the other.
fn stacked_identities(work: &Work, count: usize, n: usize) -> Result<Arc<PatternArrays>> {
    let col_ptr = (0..=n as u64).map(|col| col * count as u64).collect();
    let row_idx = (0..n * count).map(|entry| (entry / count + entry % count * n) as u32).collect();
    PatternArrays::upload(work, &Pattern::new(n * count, n, col_ptr, row_idx)?)
}
