//! The options of a [`Product`].
use super::{Method, Operand, Product};
use crate::{Semiring, host::Progress, matrix::Threshold, tuning::MethodCosts};

impl<'a, X: Operand> Product<'a, X> {
    /// Sets weights of the rows of the last factor: A·W·B, JᵀWJ. The argument is one
    /// [`Weights`](super::Weights), or, for a matrix of groups, a slice of them, one for each group
    /// of rows. For a product of patterns the argument says which kind of weights executions will
    /// use. The [cost](crate::plan::Cost) is computed for that kind, but executions may use any
    /// kind.
    pub fn weighted(mut self, weights: X::Weights<'a>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Sets the part of a square C to compute: the whole, or one triangle with its diagonal. For
    /// groups the argument is a [`GramParts`](super::GramParts), or a [`Part`](super::Part) of the
    /// whole.
    pub fn part(mut self, part: impl Into<X::Parts>) -> Self {
        self.parts = Some(part.into().into());
        self
    }

    /// Restricts C to the places where `mask` has entries: `C<M> = A·B` of GraphBLAS, with a
    /// structural mask M.
    ///
    /// C has exactly the mask's pattern, so that matrices of that pattern can be added and compared
    /// entry by entry. Places that receive no product are explicit zeros; the other entries have
    /// the same bits as in the whole product. Products outside the mask are neither formed nor
    /// counted.
    ///
    /// The memory of a masked product is proportional to its number of products and to the size of
    /// the mask. A·B of scalars on a CPU takes no memory for products. For each place of the mask,
    /// the time to plan is proportional to the number of entries in its row of A or in its column
    /// of B, whichever is less. On a CPU the time to plan is at most proportional to the products
    /// of the columns that have places. If there is a memory limit, the mask is cut into bands of
    /// places.
    ///
    /// The mask's grid must equal that of C. The shape of the mask's blocks does not matter.
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
    /// // No triangle contains the edge 2-3:
    /// assert_eq!(triangles.download()?.values(), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    /// assert_eq!(plan.cost().products, 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn mask(mut self, mask: &'a X::Pattern) -> Self {
        self.mask = Some(mask);
        self
    }

    /// Drops the entries (blocks) of C below a [`Threshold`]. A plain number is an absolute
    /// threshold. Approximate inverses, aggregation and Markov clustering drop small entries. For
    /// A·B entries are dropped as soon as a band of C is complete, so that neither the device nor
    /// the host ever holds all entries. If entries are dropped, the pattern of C depends on values,
    /// so plans do not drop; see [`DeviceMatrix::drop_below`](crate::DeviceMatrix::drop_below).
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

    /// Starts each block of C at a multiple of `bytes` bytes (16, 32 or 64), for consumers that use
    /// SIMD instructions. The paper names the alignment of blocks as its last open point. Only
    /// block matrices can be aligned.
    pub fn alignment(mut self, bytes: usize) -> Self {
        self.options.alignment = Some(bytes);
        self
    }

    /// Chooses the method.
    pub fn method(mut self, method: Method) -> Self {
        self.options.method = method;
        self
    }

    /// Sets the [`Semiring`] in which the product adds and multiplies. All methods support
    /// semirings, and the bits are those of
    /// [`reference::multiply_over`](crate::reference::multiply_over). Places of a mask that receive
    /// no product have the value of an empty sum. All elements of a stored block count as entries.
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

    /// Measures the time of each [`Bin`](super::Bin) of the report. To be measured, the kernels of
    /// different bins run one after another, so `total_ms` may be longer than without this option.
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
    /// [`Product::run`]. Times are measured on separate queues. A command of a queue that measures
    /// takes longer than another: by 6 microseconds on an NVIDIA H200. Devices without separate
    /// queues, such as CPUs, still report the times.
    pub fn untimed(mut self) -> Self {
        self.options.untimed = true;
        self
    }

    /// Sets costs by which methods are chosen and times predicted, instead of the device's table.
    /// Costs never change the result.
    pub fn costs(mut self, costs: MethodCosts) -> Self {
        self.options.costs = Some(costs);
        self
    }

    /// Limits the bytes of device memory held at once, including the operands. The product is cut
    /// into bands to stay within the limit. Plans are made within the limit, too.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.options.memory_limit = Some(bytes);
        self
    }

    /// Cuts A·B into bands of `columns` columns of B (rows of A if row-major), counted in blocks:
    /// the paper's slices of B. Bands have fewer columns where memory is short. Only products A·B
    /// of matrices without a mask, transposes, weights and parts are cut into bands. A plan is not
    /// cut.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Product};
    /// let a = Csc::from_triplets(3, 3, [(0, 0, 2.0), (2, 1, 3.0), (1, 2, 5.0)])?;
    /// let a = Device::auto()?.upload(&a)?;
    /// let mut widths = Vec::new();
    /// let report = Product::of(&a, &a).band_columns(2).run_in_bands(|band| {
    ///     widths.push(band.ncols());
    ///     Ok(())
    /// })?;
    /// assert_eq!((widths, report.bands), (vec![2, 1], 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn band_columns(mut self, columns: usize) -> Self {
        self.options.band_columns = Some(columns);
        self
    }

    /// Reports the number of complete columns (of blocks) of C to `progress`: after each band of
    /// A·B, and once at the end of any other product.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.options.progress = Some(progress);
        self
    }
}
