//! Planned products: structure once, values many times.
//!
//! A [`Plan`] keeps the data that depends on the patterns only: the pairs of entries (blocks) that
//! are multiplied, the places of their sums, and the pattern of the result. A plan of scalars may
//! keep the tasks by which columns are summed, in place of the pairs. An execution only computes
//! the sums. Every product is planned as a product of grids of cells. A matrix is a grid of one
//! cell.
mod cell;
mod chain;
mod core;
mod grid;
mod inputs;
mod kind;
mod operand;
mod pair;
mod planned;
mod retarget;
mod sum;
mod transpose;
mod weigh;
mod weighing;

pub(super) use self::core::{PlanCore, Views, Wanted};
pub use inputs::Inputs;
use inputs::views;
pub use kind::Plannable;
pub(super) use kind::{Grid, GridArrays, GridView, only};
pub use operand::{Factor, Operand};
pub(super) use operand::{OnDevice, one_cell};
pub(crate) use pair::check_mask;
pub(crate) use planned::PlannedProduct;
pub(super) use planned::{PlannedBand, PlannedSums};
pub(crate) use weigh::{ApplyWeights, block_diagonal, one_column};

use crate::{
    Device, DevicePattern, Result,
    device::Work,
    planned::{Accum, Cost, On, Planned},
};

/// A product of matrices whose patterns stay the same, prepared by
/// [`Product::plan`](super::Product::plan). The matrices are plain (`Plan<Cbc<f64>>`) or of groups
/// (`Plan<BlockGroups<Cbc<f64>>>`).
///
/// An execution takes [`Inputs`]: `(&a, &b)`, `&j` for JᵀJ, `(&r, &a, &r)` for RᵀAR,
/// `Inputs::of(&j).weights(w)`.
///
/// A chain is multiplied from the right. The result has the bits of the products of two factors,
/// computed one after another. In `f16` each of these products is rounded to `f16`.
///
/// With weights W the right factor B becomes T = W·B first. With information matrices an element of
/// T is a sum over the block's inner index in ascending order. Each multiplication is rounded
/// before it is added, and the sum is multiplied by the weight if there is one. With weights and no
/// information matrices an element of T is an element of B multiplied by its weight. T is rounded
/// to the element type. [`reference::gram_weighted`](crate::reference::gram_weighted) has the same
/// bits. Two elements of JᵀWJ that mirror each other are rounded separately, so JᵀWJ may differ
/// from its transpose in the last bit.
///
/// In a product of groups, C(g, h) is the sum of A(g, k)·B(k, h) over the inner groups k. The
/// pattern of C(g, h) is the union of the products' patterns. Each product is summed by itself and
/// rounded to the element type. Then the products are added in the order of the inner groups, and
/// the sum is rounded. If there is only one inner group, nothing is added.
/// [`reference::multiply_groups`](crate::reference::multiply_groups) and
/// [`reference::gram_groups`](crate::reference::gram_groups) have the same bits.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Cbc, Device, Planned, Product, generate};
/// let device = Device::auto()?;
/// let seen = generate::Visibility { cameras: 20, points: 300, views: 4, ..Default::default() };
/// let w: Cbc<f64> = seen.matrix()?;
/// let mut a = device.upload(&w)?;
/// let b = device.upload(&w.transpose())?;
///
/// let plan = Product::of(&a, &b).plan()?; // structure, once
/// let mut c = plan.output()?;
/// for step in 1..=3 {
///     let values: Vec<f64> = w.values().iter().map(|x| x * step as f64).collect();
///     a.write_values(&values)?; // new values, same pattern
///     plan.execute((&a, &b), &mut c)?; // values, many times
///     assert_eq!(c.download()?.nnz(), plan.pattern().nnz());
/// }
/// println!("{:?}", plan.cost());
/// # Ok(())
/// # }
/// ```
pub struct Plan<K: Plannable> {
    core: PlanCore,
    c: K::Pattern,
}

impl<K: Plannable> Plan<K> {
    pub(super) fn new(core: PlanCore) -> Result<Self> {
        Ok(Self { c: K::of_cells(core.device(), core.c().clone())?, core })
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &K::Pattern {
        &self.c
    }

    /// The patterns of W as block-diagonal matrices, for
    /// [`DeviceMatrix::zeros`](crate::DeviceMatrix::zeros). There is one for each group of rows of
    /// the last factor (a matrix is one group). The slice is empty without weights.
    pub fn weights_patterns(&self) -> &[DevicePattern] {
        self.core.weights_patterns().unwrap_or_default()
    }
}

impl<K: Plannable> Planned for Plan<K> {
    type Inputs<'a> = Inputs<'a, K::Device>;
    type Output = K::Device;

    fn device(&self) -> &Device {
        self.core.device()
    }

    fn output(&self) -> Result<K::Device> {
        let device = self.core.device();
        K::of_arrays(device, self.core.of(), self.core.zeros(&Work::new(device, None))?)
    }

    fn cost(&self) -> Cost {
        self.core.cost()
    }

    fn enqueue(&self, On(work): On<'_>, inputs: Inputs<'_, K::Device>, into: Accum<'_, K::Device>) -> Result<()> {
        let prepared = self.core.prepare(views::<K>(inputs), &K::view(into.c), [into.alpha, into.beta])?;
        self.core.enqueue(work, &prepared, &mut K::arrays_mut(into.c))
    }
}

/// The length of the longer of two runs, if both lengths are known.
fn longer_run(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    Some(a?.max(b?))
}

impl<K: Plannable> std::fmt::Debug for Plan<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Cost { products, device_bytes, .. } = self.core.cost();
        write!(f, "Plan({products} products, {device_bytes} bytes, C: {:?})", self.c)
    }
}
