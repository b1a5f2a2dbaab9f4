//! Planned products: structure once, values many times.
//!
//! A [`Plan`] keeps what depends on the patterns only: which pairs of entries (blocks) meet, or for
//! scalars how columns are summed without pairs; where their sums go; the pattern of the result. An
//! execution computes the sums alone. Every product is planned as one of grids of cells. A matrix
//! is a grid of one cell.
mod cell;
mod chain;
mod grid;
mod inputs;
mod kind;
mod pair;
mod sum;
mod weigh;
mod weighing;

pub use inputs::Inputs;
pub(super) use kind::Grid;
pub use kind::Plannable;
pub(crate) use pair::check_mask;
pub(crate) use weigh::{ApplyWeights, block_diagonal, one_column};

use crate::{
    Device, DeviceMatrix, DevicePattern, Error, Result, Semiring,
    device::Work,
    element::ElementType,
    groups::Cells,
    matrix::{Kind, MatrixType, aligned_stride},
    planned::{Accum, Cost, On, Planned, prepared::check_patterns},
    product::{
        Counts, How, Scaling,
        terms::{ArrayWeights, GramParts, Weights},
    },
    resident::DeviceCbc,
};
use cell::FactorGrid;
use chain::{Chain, WantedChain};
use kind::{arrays, arrays_mut};

/// A product of matrices whose patterns stay the same, prepared by
/// [`Product::plan`](super::Product::plan): of matrices (`Plan<Cbc<f64>>`), or of groups
/// (`Plan<BlockGroups<Cbc<f64>>>`).
///
/// An execution takes [`Inputs`]: `(&a, &b)`, `&j` for JᵀJ, `(&r, &a, &r)` for RᵀAR,
/// `Inputs::of(&j).weights(w)`.
///
/// A chain is multiplied from the right. Its bits are those of the products one after the other. In
/// `f16` each of them is rounded to `f16`.
///
/// With weights W the right factor B becomes T = W·B first. With information matrices an element of
/// T is a sum over the block's inner index in ascending order. Each multiplication is rounded
/// before it is added, and the sum is multiplied by the weight if there is one. With weights alone
/// it is an element of B multiplied by its weight. T is rounded to the element type.
/// [`reference::gram_weighted`](crate::reference::gram_weighted) has the same bits. Two elements of
/// JᵀWJ that mirror each other are rounded apart, so that it need not be symmetric to the last bit.
///
/// In a product of groups, C(g, h) is the sum of A(g, k)·B(k, h) over the inner groups k. Its
/// pattern is the union of the products' patterns. Each product is summed by itself and rounded to
/// the element type. Then the products are added in ascending k and the sum is rounded. With one k
/// nothing is added. [`reference::multiply_groups`](crate::reference::multiply_groups) and
/// [`reference::gram_groups`](crate::reference::gram_groups) have the same bits.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{BlockShape, Cbc, Device, Planned, Product, generate};
/// let device = Device::auto()?;
/// let shape = BlockShape::new(6, 3)?;
/// let w: Cbc<f64> = generate::bundle_adjustment(20, 300, 4, shape, Default::default(), 1)?;
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
    device: Device,
    /// Element and format of all matrices.
    of: MatrixType<K::Matrix>,
    /// The factors as they are stored.
    factors: Vec<K::Pattern>,
    /// Whether both factors are J.
    gram: bool,
    c: K::Pattern,
    alignment: Option<usize>,
    semiring: Semiring,
    chain: Chain,
}

/// A product to plan.
pub(super) struct Wanted<'a, K: Plannable> {
    pub of: MatrixType<K::Matrix>,
    /// From left to right, and whether each is transposed; two or more.
    pub factors: Vec<(K::Pattern, bool)>,
    pub gram: bool,
    /// Which weights there will be, for each group of rows.
    pub weights: Option<Vec<Weights<(), ()>>>,
    pub parts: GramParts,
    pub mask: Option<&'a K::Pattern>,
    pub alignment: Option<usize>,
    pub how: How,
}

impl<K: Plannable> Plan<K> {
    /// Plans within the memory that `work` may allocate.
    pub(super) fn new(work: &Work, wanted: Wanted<'_, K>) -> Result<Self> {
        let device = work.device().clone();
        let Wanted { of, factors, gram, weights, parts, mask, alignment, how } = wanted;
        let cells: Vec<_> = factors.iter().map(|(pattern, _)| K::cells(pattern)).collect();
        check_patterns(&device, of, cells.iter().flat_map(Cells::iter).map(|(_, pattern)| pattern))?;
        let (row_major, element) = (of.kind.get().is_row_major(), of.element);
        let transposed = factors.iter().map(|(_, transposed)| *transposed);
        let grid = |(cells, transposed)| FactorGrid { cells, transposed, row_major, element };
        let wanted = WantedChain {
            factors: cells.iter().zip(transposed).map(grid).collect(),
            weights: weights.as_deref(),
            parts,
            mask: mask.map(K::cells),
            how,
            check_inner: K::check_inner,
        };
        let chain = Chain::new(work, wanted)?;
        Ok(Self {
            c: K::of_cells(&device, chain.c().clone())?,
            device,
            of,
            factors: factors.into_iter().map(|(pattern, _)| pattern).collect(),
            gram,
            alignment,
            semiring: how.semiring,
            chain,
        })
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &K::Pattern {
        &self.c
    }

    /// The patterns of W as block-diagonal matrices, one for each group of rows of the last factor
    /// (a matrix is one group): for [`DeviceMatrix::zeros`](crate::DeviceMatrix::zeros). None
    /// without weights.
    pub fn weights_patterns(&self) -> &[DevicePattern] {
        self.chain.weights_patterns().unwrap_or_default()
    }

    /// The counts of planning.
    pub(super) fn counts(&self) -> &Counts {
        &self.chain.counts
    }

    /// Zeros on the pattern of C.
    pub(super) fn output_within(&self, work: &Work) -> Result<K::Device> {
        let cells = K::cells(&self.c);
        K::of_matrices(
            &self.device,
            self.of,
            cells.try_map(|cell| {
                let zeros = zeros(work, self.of.element, cell, self.alignment)?;
                Ok(DeviceMatrix::of_type(zeros, self.of))
            })?,
        )
    }

    fn check(&self, factors: &[&K::Device], c: &K::Device) -> Result<()> {
        for (number, (pattern, factor)) in self.factors.iter().zip(factors).enumerate() {
            let name = match (self.gram, factors.len()) {
                (true, _) => "J".into(),
                (_, 2) => ["A", "B"][number].to_owned(),
                _ => format!("factor {}", number + 1),
            };
            K::check(pattern, self.of, &name, factor)?;
        }
        K::check(&self.c, self.of, "C", c)
    }

    /// The weights of the inputs. Refuses weights that the plan does not have, and missing ones.
    fn weights_of<'a>(&self, inputs: &Inputs<'a, K::Device>) -> Result<Vec<ArrayWeights<'a>>> {
        match (&inputs.weights, self.chain.weights_patterns().is_none()) {
            (Some(_), true) => {
                Err(Error::Argument("the plan is of a product without weights: it is given some".into()))
            }
            (None, false) => Err(Error::Argument("the plan is of a product with weights: it is given none".into())),
            (weights, _) => {
                let weights = weights.iter().flat_map(|weights| K::weights(weights));
                weights.map(|weights| weights.arrays(self.of)).collect()
            }
        }
    }
}

impl<K: Plannable> Planned for Plan<K> {
    type Inputs<'a> = Inputs<'a, K::Device>;
    type Output = K::Device;

    fn device(&self) -> &Device {
        &self.device
    }

    fn output(&self) -> Result<K::Device> {
        self.output_within(&Work::new(&self.device, None))
    }

    fn cost(&self) -> Cost {
        self.chain.cost
    }

    fn enqueue(&self, On(work): On<'_>, inputs: Inputs<'_, K::Device>, into: Accum<'_, K::Device>) -> Result<()> {
        let factors = inputs.all(self.factors.len(), self.gram)?;
        self.check(&factors, into.c)?;
        self.semiring.check_factors_of(self.of.element, into.alpha, into.beta)?;
        let weights = self.weights_of(&inputs)?;
        let arrays: Vec<_> = factors.iter().map(|factor| arrays::<K>(factor)).collect();
        let scaling = Scaling::of(self.of.element, into.alpha, into.beta);
        self.chain.enqueue(work, &arrays, &weights, scaling, &mut arrays_mut::<K>(into.c))
    }
}

/// The longer of two runs, if both are known.
fn longer_run(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    Some(a?.max(b?))
}

/// Zeros on a pattern, each block on a multiple of `alignment` bytes.
fn zeros(work: &Work, element: ElementType, pattern: &DevicePattern, alignment: Option<usize>) -> Result<DeviceCbc> {
    let shape = pattern.array_shape;
    let stride = alignment.map_or(Ok(shape.area()), |bytes| aligned_stride(element, shape, bytes))?;
    let mut values = work.buffer_of(element.word(), pattern.nnz() * stride)?;
    work.fill_zero(&mut values)?;
    Ok(DeviceCbc { pattern: pattern.arrays.clone(), shape, stride, values })
}

impl<K: Plannable> std::fmt::Debug for Plan<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Cost { products, device_bytes, .. } = self.chain.cost;
        write!(f, "Plan({products} products, {device_bytes} bytes, C: {:?})", self.c)
    }
}
