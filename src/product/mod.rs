//! Products: [`multiply`], [`Product`] with its options, [`Plan`] for products that repeat.
mod adaptive;
mod analysis;
mod bands;
mod blocks;
mod choose;
mod column_lists;
mod combine;
mod compression;
mod dense;
mod direct;
mod drop;
mod engine;
mod esc;
mod estimate;
mod floors;
mod hash;
mod host_columns;
mod hub;
mod join;
mod limits;
mod masked;
mod method;
mod on_host;
mod once;
mod operand;
mod plan;
mod planned;
mod problem;
mod ranges;
mod report;
mod retarget;
mod run;
mod runs;
#[cfg(test)]
mod serial;
mod sort;
mod target;
mod tasks;
mod times;
mod tuning;

pub(crate) use crate::element::Scaling;
pub use crate::matrix::Part;
pub use estimate::Estimate;
pub(crate) use floors::FloorSizes;
pub(crate) use join::join_patterns;
pub use method::Method;
pub use operand::{Factor, Operand};
pub use plan::{GramParts, Inputs, Plan, Plannable, Weights};
pub(crate) use planned::PlannedProduct;
pub use problem::Bin;
pub(crate) use problem::{Counts, Destination, FactorPattern, How, Operands, STAGES, Spec};
pub use report::Report;
pub use times::Times;

use crate::{
    DeviceMatrix, DevicePattern, Element, Error, Matrix, Result, Semiring,
    groups::{BlockGroups, DeviceGroups, GroupsPattern},
    host::Progress,
    matrix::Threshold,
    tuning::MethodCosts,
};
use once::Options;
use plan::Wanted;

/// C = A·B on the device that holds A and B, where C stays. Blocks of A are r x k, of B k x c, of C
/// r x c. One of A and B may be [dense](crate::dense::DeviceDense); so is C then, in the same
/// layout.
///
/// Rows ascend in every column of C (columns in every row, for row-major matrices). An entry whose
/// value comes out 0 is kept. The result is the same to the bit in every run, on every device and
/// for every memory limit.
///
/// # Errors
/// [`Error::Dimensions`] if the inner sizes differ, for a dense factor [`Error::Argument`];
/// [`Error::DeviceMismatch`], [`Error::Memory`], [`Error::TooLarge`].
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device};
/// let device = Device::auto()?;
/// let a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?)?;
/// let c = blockmul::multiply(&a, &a)?.download()?;
/// assert_eq!(c.values(), [4.0, 21.0, 25.0]);
///
/// let d = device.upload_dense(&nalgebra::dmatrix![1.0, 0.0; 10.0, 1.0])?;
/// assert_eq!(blockmul::multiply(&a, &d)?.download()?, nalgebra::dmatrix![2.0, 0.0; 53.0, 5.0]);
/// # Ok(())
/// # }
/// ```
pub fn multiply<A: Times<B>, B>(a: &A, b: &B) -> Result<A::Product> {
    a.times(b)
}

/// A product of two or more factors, with options: A·B, AᵀB, JᵀJ, JᵀWJ, RᵀAR, on a mask, of groups.
///
/// Operands are [`DeviceMatrix`]es or [`DeviceGroups`], each as it is or transposed by `t()`. Their
/// patterns are enough for a [plan](Plan). A product that is computed repeatedly deserves a plan,
/// because [`Product::run`] makes one each time for every product other than A·B itself.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, Method, Part, Product};
/// let device = Device::auto()?;
/// let a = device.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0)])?)?;
/// let c = Product::of(&a, &a).method(Method::Esc).memory_limit(2 << 30).run()?;
/// assert_eq!(c.download()?.values(), [1.0, 8.0, 9.0]);
/// let h = Product::gram(&a).part(Part::Lower).run()?; // JᵀJ
/// assert_eq!(h.download()?.values(), [1.0, 2.0, 13.0]);
/// // Aᵀ·A·A, from the right: Aᵀ·(A·A)
/// let (c, report) = Product::of(a.t(), &a).times(&a).run_with_report()?;
/// assert_eq!(c.download()?.values(), [1.0, 2.0, 8.0, 43.0]);
/// println!("{} products in {} ms", report.products, report.total_ms);
/// # Ok(())
/// # }
/// ```
pub struct Product<'a, X: Operand> {
    factors: Vec<Factor<'a, X>>,
    /// Whether the product is JᵀJ.
    gram: bool,
    weights: Option<X::Weights<'a>>,
    parts: Option<GramParts>,
    mask: Option<&'a X::Pattern>,
    options: Options,
}

impl<'a, X: Operand> Product<'a, X> {
    /// The product A·B.
    pub fn of(a: impl Into<Factor<'a, X>>, b: impl Into<Factor<'a, X>>) -> Self {
        let (factors, options) = (vec![a.into(), b.into()], Options::default());
        Self { factors, gram: false, weights: None, parts: None, mask: None, options }
    }

    /// The product JᵀJ, without forming Jᵀ; with [`Product::weighted`] JᵀWJ. A row of J with k
    /// blocks takes k(k+1)/2 block products for a triangle, and k² for the whole.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::product::{Inputs, Weights};
    /// use blockmul::{BlockShape, Cbc, Device, DeviceMatrix, Part, Planned, Product};
    /// use nalgebra::dmatrix;
    /// let device = Device::auto()?;
    /// // Two edges between two poses of one parameter each; residuals of 2.
    /// let shape = BlockShape::new(2, 1)?;
    /// let first = [(0, 0, dmatrix![1.0; 2.0]), (0, 1, dmatrix![1.0; 0.0])];
    /// let edges = first.into_iter().chain([(1, 1, dmatrix![3.0; 1.0])]);
    /// let j = device.upload(&Cbc::from_triplets(2, 2, shape, edges)?)?;
    ///
    /// let scaled = Weights::Scaled { information: (), weights: () };
    /// let pattern = j.pattern();
    /// let h = Product::gram(&pattern).weighted(scaled).part(Part::Lower);
    /// let plan = h.plan::<Cbc<f64>>()?; // structure, once
    /// let mut h = plan.output()?;
    /// let mut information = DeviceMatrix::zeros(&plan.weights_patterns()[0])?;
    /// information.write_values(&[2.0, 1.0, 1.0, 2.0, /* second edge: */ 1.0, 0.0, 0.0, 1.0])?;
    /// let robust = device.upload_vector(&[1.0, 0.5])?;
    /// let weights = Weights::Scaled { information: &information, weights: &robust };
    /// plan.execute(Inputs::of(&j).weights(weights), &mut h)?; // values, many times
    /// assert_eq!(h.download()?.values(), [14.0, 4.0, 7.0]);
    /// plan.execute(Inputs::of(&j).weights(Weights::BlockRows(&robust)), &mut h)?;
    /// assert_eq!(h.download()?.values(), [5.0, 1.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn gram(j: impl Into<Factor<'a, X>>) -> Self {
        let j = j.into();
        Self { gram: true, ..Self::of(j.t(), j) }
    }

    /// Adds one more factor on the right. A chain is multiplied from the right: R·A·P is R·(A·P),
    /// with the bits of the two products.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, Product};
    /// let device = Device::auto()?;
    /// // A path of four nodes, aggregated in two pairs.
    /// let laplacian = [(0, 0, 1.0), (1, 1, 2.0), (2, 2, 2.0), (3, 3, 1.0)].into_iter()
    ///     .chain((0..3).flat_map(|i| [(i, i + 1, -1.0), (i + 1, i, -1.0)]));
    /// let a = device.upload(&Csc::from_triplets(4, 4, laplacian)?)?;
    /// let r = device.upload(&Csc::from_triplets(4, 2, (0..4).map(|i| (i, i / 2, 1.0)))?)?;
    ///
    /// let plan = Product::of(r.t(), &a).times(&r).plan()?; // structure, once
    /// let mut coarse = plan.output()?;
    /// plan.execute((&r, &a, &r), &mut coarse)?; // values, many times
    /// assert_eq!(coarse.download()?.values(), [1.0, -1.0, -1.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn times(mut self, factor: impl Into<Factor<'a, X>>) -> Self {
        self.factors.push(factor.into());
        self.gram = false;
        self
    }

    /// Sets weights of the rows of the last factor: A·W·B, JᵀWJ. A matrix takes one [`Weights`], a
    /// matrix of groups a slice with one for each group of rows. For patterns the argument says
    /// which kind of weights executions will use, for the [cost](crate::plan::Cost); executions may
    /// use other kinds.
    pub fn weighted(mut self, weights: X::Weights<'a>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Sets the part of a square C to make: the whole, or one triangle with its diagonal. For
    /// groups the argument is a [`GramParts`], or a [`Part`] of the whole.
    pub fn part(mut self, part: impl Into<X::Parts>) -> Self {
        self.parts = Some(part.into().into());
        self
    }

    /// Restricts C to the places where `mask` has entries: `C<M> = A·B` of GraphBLAS, with a
    /// structural mask M.
    ///
    /// C has exactly the mask's pattern, so that matrices of that pattern can be added and compared
    /// entry by entry. Places that receive no product are explicit zeros; the other entries have
    /// the bits of the whole product. Products outside the mask are neither formed nor counted.
    /// Memory is proportional to the products and to the mask. For each place of the mask, the time
    /// to plan is proportional to the shorter of its row of A and its column of B. Within a memory
    /// limit the mask is cut into bands of places.
    ///
    /// The mask's grid is that of C; the shape of its blocks does not matter.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Planned, Product};
    /// let device = Device::auto()?;
    /// // Triangles through each edge of a graph: paths of two edges, counted at the edges.
    /// let edges = [(0, 1), (0, 2), (1, 2), (2, 3)];
    /// let both = edges.iter().flat_map(|&(i, j)| [(i, j, 1.0), (j, i, 1.0)]);
    /// let a = device.upload(&Csc::from_triplets(4, 4, both)?)?;
    /// let mask = a.pattern();
    /// let plan = Product::of(&a, &a).mask(&mask).plan()?;
    /// let mut triangles = plan.output()?;
    /// plan.execute((&a, &a), &mut triangles)?;
    /// // None through the edge 2-3:
    /// assert_eq!(triangles.download()?.values(), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    /// assert_eq!(plan.cost().products, 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn mask(mut self, mask: &'a X::Pattern) -> Self {
        self.mask = Some(mask);
        self
    }

    /// Drops the entries (blocks) of C below a [`Threshold`] (for a number, an absolute one), as
    /// approximate inverses, aggregation and Markov clustering need it. For A·B they are dropped as
    /// soon as a band of C is complete, so that neither the device nor the host ever holds all of
    /// them. The pattern of C then depends on values, so plans do not drop; see
    /// [`DeviceMatrix::drop_below`](crate::DeviceMatrix::drop_below).
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::matrix::Threshold;
    /// use blockmul::{Csc, Device, Product};
    /// let a = Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 0, 1e-6), (0, 1, 1e-6), (1, 1, 1e-6)])?;
    /// let a = Device::auto()?.upload(&a)?;
    /// // A·A is 1, 1e-6; 1e-6, 2e-12.
    /// let (c, report) = Product::of(&a, &a).drop_below(1e-9).run_to_host()?;
    /// assert_eq!((c.nnz(), report.dropped), (3, 1));
    /// let c = Product::of(&a, &a).drop_below(Threshold::relative(0.1).keep_diagonal()).run()?;
    /// assert_eq!(c.download()?.pattern().row_idx(), [0, 0, 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn drop_below(mut self, threshold: impl Into<Threshold>) -> Self {
        self.options.threshold = Some(threshold.into());
        self
    }

    /// Starts each block of C at a multiple of `bytes` bytes, 16, 32 or 64, for SIMD consumers (the
    /// paper's last open point). Only for block matrices.
    pub fn alignment(mut self, bytes: usize) -> Self {
        self.options.alignment = Some(bytes);
        self
    }

    /// Chooses the method.
    pub fn method(mut self, method: Method) -> Self {
        self.options.method = method;
        self
    }

    /// Adds and multiplies in a semiring. Every method follows it, so the bits are those of
    /// [`reference::multiply_over`](crate::reference::multiply_over). Places of a mask that receive
    /// no product have the value of an empty sum.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Product, Semiring};
    /// let device = Device::auto()?;
    /// // Edges 0 to 1 and 1 to 2, of lengths 2 and 3: column j has the edges that leave j.
    /// let g = device.upload(&Csc::from_triplets(3, 3, [(1, 0, 2u32), (2, 1, 3)])?)?;
    /// let two_edges = Product::of(&g, &g).semiring(Semiring::MinPlus).run()?.download()?;
    /// assert_eq!((two_edges.pattern().row_idx(), two_edges.values()), (&[2][..], &[5][..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn semiring(mut self, semiring: Semiring) -> Self {
        self.options.semiring = semiring;
        self
    }

    /// Measures the time of each [`Bin`] of the report. The kernels of different bins then follow
    /// one another instead of overlapping, so that `total_ms` may be more than without this.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Product};
    /// let a = Device::auto()?.upload(&Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 3.0)])?)?;
    /// let (_, report) = Product::of(&a, &a).explained().run_with_report()?;
    /// for bin in &report.bins {
    ///     println!("{}: {} by {}", bin.which, bin.columns, bin.method);
    ///     println!("{:?} ms, predicted {:?} ms", bin.measured_ms, bin.predicted_ms);
    /// }
    /// assert_eq!(report.bins[0].products, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn explained(mut self) -> Self {
        self.options.explained = true;
        self
    }

    /// Leaves the times of stages and bins out of the report, so that its `total_ms` is that of
    /// [`Product::run`]. They are kept on queues of their own, whose commands take longer: on an
    /// NVIDIA H200 by 6 microseconds each. Without such queues, as on CPUs, the times stay.
    pub fn untimed(mut self) -> Self {
        self.options.untimed = true;
        self
    }

    /// Chooses methods, and predicts times, by other costs than those of the device's table. No
    /// costs change the result.
    pub fn costs(mut self, costs: MethodCosts) -> Self {
        self.options.costs = Some(costs);
        self
    }

    /// Limits the bytes of device memory held at once, operands included. The product is cut into
    /// bands to stay below it. Plans are made within the limit.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.options.memory_limit = Some(bytes);
        self
    }

    /// Reports the number of complete columns (of blocks) of C to `progress`: after each band of
    /// A·B, for other products at the end.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.options.progress = Some(progress);
        self
    }

    /// The request for a plan, if the options are compatible.
    fn wanted<K: Plannable<Pattern = X::Pattern>>(&self) -> Result<Wanted<'a, K>> {
        self.check::<K>()?;
        Ok(Wanted {
            factors: self.factors.iter().map(|factor| (factor.operand.to_pattern(), factor.transposed)).collect(),
            gram: self.gram,
            weights: self.weights.map(X::kinds),
            parts: self.parts.unwrap_or_default(),
            mask: self.mask,
            alignment: self.options.alignment,
            how: How { method: self.options.method, semiring: self.options.semiring },
        })
    }

    /// Refuses options that are not compatible.
    fn check<K: Plannable>(&self) -> Result<()> {
        let refused = |why: &str| Err(Error::Argument(why.into()));
        if self.options.alignment.is_some() && !K::Matrix::BLOCKS {
            return refused("scalars lie side by side: an alignment is for blocks");
        }
        let semiring = self.options.semiring;
        semiring.check::<<K::Matrix as Matrix>::Element>()?;
        let integers = <<K::Matrix as Matrix>::Element as Element>::ARITHMETIC_ROUNDOFF == 0.0;
        if self.options.threshold.is_some() && (integers || semiring != Semiring::PlusTimes) {
            return refused("entries are dropped by their magnitude: of floats, in plus-times");
        }
        if self.weights.is_some() && semiring != Semiring::PlusTimes {
            return Err(Error::Argument(format!("weights are factors of plus-times, not of {semiring}")));
        }
        match (self.mask, self.parts, self.options.threshold) {
            (Some(_), Some(_), _) => refused("a masked product has the mask's pattern: a part of it is another mask"),
            (Some(_), _, Some(_)) => refused("a masked product has the mask's pattern: no entry of it can be dropped"),
            _ => Ok(()),
        }
    }

    /// Prepares the product for the patterns of its factors.
    fn planned<K: Plannable<Pattern = X::Pattern>>(&self, device: &crate::Device) -> Result<Plan<K>> {
        let refused = |why: &str| Err(Error::Argument(why.into()));
        match (&self.options.threshold, &self.options.progress) {
            (Some(_), _) => refused("a plan's pattern does not depend on values: its entries cannot be dropped"),
            (_, Some(_)) => refused("a plan is executed at once: it has no progress to report"),
            _ => Plan::new(&crate::device::Work::new(device, self.options.memory_limit), self.wanted()?),
        }
    }
}

/// Defines [`Product::plan`] for each kind of operand.
macro_rules! plans {
    ($($(#[$doc:meta])* <$($outer:ident)?> $operand:ty, <$($inner:ident)?> $kind:ty;)*) => {$(
        impl<$($outer: Matrix)?> Product<'_, $operand> {
            $(#[$doc])*
            ///
            /// # Errors
            /// [`Error::Dimensions`] if inner sizes differ; [`Error::DeviceMismatch`];
            /// [`Error::Memory`] if the plan does not fit the device or the limit;
            /// [`Error::TooLarge`]; [`Error::Argument`] for incompatible options and patterns of
            /// another kind of matrix.
            pub fn plan$(<$inner: Matrix>)?(&self) -> Result<Plan<$kind>> {
                self.planned(self.factors[0].operand.device())
            }
        }
    )*};
}
plans! {
    /// Prepares the product for the patterns of its factors.
    <M> DeviceMatrix<M>, <> M;
    /// Prepares the product for matrices of type `M` with these patterns.
    <> DevicePattern, <M> M;
    /// Prepares the product for the patterns of its factors.
    <M> DeviceGroups<M>, <> BlockGroups<M>;
    /// Prepares the product for groups of type `M` with these patterns.
    <> GroupsPattern, <M> BlockGroups<M>;
}
