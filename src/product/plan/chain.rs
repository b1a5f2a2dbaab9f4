//! The products of a plan, on the arrays of cells. A chain is multiplied from the right.
use super::{
    cell::FactorGrid,
    grid::{GridPlaces, GridProduct},
    kind::CellArrays,
    longer_run,
    weighing::Weighing,
};
use crate::{
    DevicePattern, Error, Result,
    device::Work,
    groups::{Cells, describe_groups},
    planned::Cost,
    product::{
        Counts, How, Scaling,
        terms::{ArrayWeights, GramParts, Pipeline, Weights},
    },
    resident::{DeviceCbc, ScratchMatrix, TakenMatrix},
};

/// Products of grids, planned.
pub(super) struct Chain {
    pub cost: Cost,
    /// The counts of planning.
    pub counts: Counts,
    weighing: Option<Weighing>,
    /// All products except the last, from the right.
    inner: Vec<Inner>,
    /// The product that makes C.
    outer: GridProduct,
}

/// A product inside a chain. The result is the right factor of the next product.
struct Inner {
    product: GridProduct,
    c: Cells<ScratchMatrix>,
}

/// A chain to plan.
pub(super) struct WantedChain<'a> {
    /// The factors from left to right, at least two.
    pub factors: Vec<FactorGrid<'a>>,
    /// The kind of weights for each group of rows.
    pub weights: Option<&'a [Weights<(), ()>]>,
    pub parts: GramParts,
    pub mask: Option<Cells<DevicePattern>>,
    pub how: How,
    /// Whether the factors are matrices of groups.
    pub grouped: bool,
}

impl Chain {
    /// Plans within the memory that `work` may allocate.
    pub fn new(work: &Work, wanted: WantedChain<'_>) -> Result<Self> {
        let WantedChain { factors, weights, parts, mask, how, grouped } = wanted;
        let like = factors[0];
        let last = factors.len() - 1;
        let weighing = weights.map(|_| Weighing::new(work, factors[last])).transpose()?;
        let weighted = weighing.as_ref().map(Weighing::pattern);
        let mut inner: Vec<Inner> = Vec::new();
        let right = weighted.as_ref().map_or(factors[last], |cells| like.of(cells));
        for left in (1..last).rev() {
            let right = inner.last().map_or(right, |inner| like.of(&inner.product.c));
            check_inner(grouped, factors[left], right)?;
            let product = GridProduct::new(work, factors[left], right, GridPlaces::whole(how))?;
            let c = product.c.try_map(|pattern| ScratchMatrix::reserve(work, like.element.word(), pattern))?;
            inner.push(Inner { product, c });
        }
        let right = inner.last().map_or(right, |inner| like.of(&inner.product.c));
        check_inner(grouped, factors[0], right)?;
        let parts = GridPlaces::Parts(parts, how);
        let made = mask.as_ref().map_or(parts, |mask| GridPlaces::Mask(mask, how.semiring));
        let outer = GridProduct::new(work, factors[0], right, made)?;

        let products = || inner.iter().map(|inner| &inner.product).chain([&outer]);
        let scratch = inner.iter().flat_map(|inner| inner.c.iter()).map(|(_, cell)| cell.bytes()).sum::<u64>();
        let weigh = |of: &Weighing| (of.flops(weights.unwrap_or_default()), of.bytes);
        let (weigh_flops, weigh_bytes) = weighing.as_ref().map_or((0, 0), weigh);
        let cost = Cost {
            products: products().map(|product| product.products).sum(),
            flops: products().map(|product| product.flops).sum::<u64>() + weigh_flops,
            device_bytes: products().map(|product| product.bytes).sum::<u64>() + scratch + weigh_bytes,
        };
        let longest_run = products().map(|product| product.longest_run).fold(Some(0), longer_run);
        let counts = Counts { products: cost.products, longest_run, bands: 1, ..Counts::default() };
        let mut counts = Counts { pipeline: Pipeline::Planned, ..counts };
        products().flat_map(|product| &product.bins).for_each(|bin| counts.add(bin.method, bin.columns, bin.products));
        Ok(Self { cost, counts, weighing, inner, outer })
    }

    /// The cells of C.
    pub fn c(&self) -> &Cells<DevicePattern> {
        &self.outer.c
    }

    /// The patterns of the weights for each group of rows of the last factor.
    pub fn weights_patterns(&self) -> Option<&[DevicePattern]> {
        self.weighing.as_ref().map(|weighing| &weighing.patterns[..])
    }

    /// Enqueues C = alpha·A·…·Z + beta·C. The caller has checked the arrays. The weights are
    /// checked here.
    pub fn enqueue(
        &self,
        work: &Work,
        factors: &[CellArrays<'_>],
        weights: &[ArrayWeights<'_>],
        scaling: Scaling,
        c: &mut Cells<&mut DeviceCbc>,
    ) -> Result<()> {
        let last = factors.len() - 1;
        let stored = &factors[last];
        let mut made = match &self.weighing {
            None => None,
            Some(weighing) => {
                weighing.check(weights)?;
                Some(weighing.run(work, stored, weights)?)
            }
        };
        for (Inner { product, c }, left) in self.inner.iter().zip((1..last).rev()) {
            let mut c = c.try_map(|cell| cell.take(work))?;
            let operands = (&factors[left], &made_or(&made, stored));
            product.enqueue(work, Scaling::plain(product.element), operands, &mut c.map_mut(|cell| &mut **cell))?;
            made = Some(c);
        }
        self.outer.enqueue(work, scaling, (&factors[0], &made_or(&made, stored)), c)
    }
}

/// Refuses matrices of groups whose inner groups differ. The sizes of two cells that are multiplied
/// are compared when their product is planned.
fn check_inner(grouped: bool, a: FactorGrid<'_>, b: FactorGrid<'_>) -> Result<()> {
    let (cols, rows) = (a.cols(), b.rows());
    if grouped && cols != rows {
        return Err(Error::Argument(format!(
            "cannot multiply: A has blocks in groups of {} columns, B in groups of {} rows",
            describe_groups(cols),
            describe_groups(rows)
        )));
    }
    Ok(())
}

/// The right factor of the next product of a chain: the product made before, or the last factor as
/// it is stored.
fn made_or<'a>(made: &'a Option<Cells<TakenMatrix<'_>>>, stored: &'a CellArrays<'_>) -> CellArrays<'a> {
    made.as_ref().map_or_else(|| stored.map(|cell| *cell), |made| made.map(|cell| &**cell))
}
