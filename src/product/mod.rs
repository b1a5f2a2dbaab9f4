//! Products: [`multiply`], [`Product`] with its options, [`Plan`] for products that repeat.
mod any_product;
mod bands;
mod choose;
mod columns;
mod cpu;
mod dispatch;
mod drop;
mod esc;
mod estimate;
mod masked;
mod once;
mod options;
mod plan;
mod report;
mod request;
mod run;
mod sort;
mod terms;
mod times;
mod tuning;

pub(crate) use crate::element::Scaling;
pub use crate::matrix::Part;
pub(crate) use bands::join_patterns;
pub(crate) use choose::AdaptiveNumbers;
pub(crate) use cpu::{HostNumbers, RangeNumbers};
pub use estimate::Estimate;
pub(crate) use estimate::FloorSizes;
pub(crate) use plan::PlannedProduct;
pub(crate) use plan::{ApplyWeights, block_diagonal, one_column};
pub use plan::{Factor, Operand};
pub use plan::{Inputs, Plan, Plannable};
pub use report::Report;
pub(crate) use terms::{ArrayWeights, DeviceWeights};
pub use terms::{Bin, GramParts, Method, Weights};
pub(crate) use terms::{Counts, Destination, FactorPattern, How, Operands, Spec};
pub use times::Times;
pub(crate) use tuning::TileNumbers;

use crate::Result;
use once::Options;

/// Computes C = A·B on the device that holds A and B. C stays on that device. If blocks of A are r
/// x k and blocks of B are k x c, blocks of C are r x c. One of A and B may be
/// [dense](crate::dense::DeviceDense): C is then dense too, in the same layout.
///
/// Rows ascend in every column of C (columns in every row, for row-major matrices). An entry whose
/// value comes out as 0 is kept. The result is the same to the bit in every run, on every device
/// and for every memory limit.
///
/// # Errors
/// [`Error::Dimensions`](crate::Error::Dimensions) if the inner sizes differ, or
/// [`Error::Argument`](crate::Error::Argument) if one factor is dense;
/// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch),
/// [`Error::Memory`](crate::Error::Memory), [`Error::TooLarge`](crate::Error::TooLarge).
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
#[doc(alias = "SpGEMM")]
pub fn multiply<A: Times<B>, B>(a: &A, b: &B) -> Result<A::Product> {
    a.times(b)
}

/// A product of two or more factors, with options: A·B, AᵀB, JᵀJ, JᵀWJ, RᵀAR, on a mask, of groups.
///
/// Operands are [`DeviceMatrix`](crate::DeviceMatrix)es or
/// [`DeviceGroups`](crate::groups::DeviceGroups), each as it is or transposed by `t()`. Patterns
/// are enough to make a [plan](Plan). If a product is computed repeatedly, make a plan.
/// [`Product::run`] makes a new plan each time, for every product except A·B itself.
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
#[doc(alias = "SpGEMM")]
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

    /// The product JᵀJ, without forming Jᵀ. With [`Product::weighted`] the product is JᵀWJ. A row
    /// of J with k blocks takes k(k+1)/2 block products for a triangle, and k² for the whole.
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
    #[doc(alias = "syrk")]
    pub fn gram(j: impl Into<Factor<'a, X>>) -> Self {
        let j = j.into();
        Self { gram: true, ..Self::of(j.t(), j) }
    }

    /// Adds one more factor on the right. A chain is multiplied from the right: R·A·P is computed
    /// as R·(A·P), with the same bits as these two products.
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
}
