//! [`Plan::masked`]: a product on the places that are wanted.
use super::{Plan, Stored};
use crate::{DevicePattern, Error, Matrix, Result, product::PlannedProduct};

impl<M: Matrix> Plan<M> {
    /// C = A·B where `mask` has entries, and nowhere else: GraphBLAS' `C<M> = A·B`, M structural.
    ///
    /// C has exactly the mask's pattern, so that matrices of that pattern can be added and compared entry by entry: places that no product
    /// falls on are explicit zeros (beta·C with [`Plan::execute_scaled`]). The other entries have the bits of the whole product. Products
    /// outside the mask are neither formed nor counted: [`Plan::products`] tells those within. Memory follows them and the mask; the time to
    /// plan, for each place of the mask, the shorter of its row of A and column of B.
    ///
    /// The mask's grid is that of C; the shape of its blocks does not matter.
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device, Plan};
    /// let device = Device::auto()?;
    /// // Triangles through each edge of a graph: paths of two edges, counted where there is an edge. 0-1, 0-2, 1-2, 2-3.
    /// let edges = [(0, 1), (0, 2), (1, 2), (2, 3)];
    /// let both = edges.iter().flat_map(|&(i, j)| [(i, j, 1.0), (j, i, 1.0)]);
    /// let a = device.upload(&Csc::from_triplets(4, 4, both)?)?;
    /// let plan = Plan::<Csc<f64>>::masked(&a.pattern(), &a.pattern(), &a.pattern())?;
    /// let mut triangles = plan.output()?;
    /// plan.execute(&a, &a, &mut triangles)?;
    /// assert_eq!(triangles.download()?.values(), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]); // none through 2-3
    /// assert_eq!(plan.products(), 6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Plan::multiply`]; [`Error::Argument`] for a mask of other sizes than C or of the other order, row-major or not.
    pub fn masked(a: &DevicePattern, b: &DevicePattern, mask: &DevicePattern) -> Result<Self> {
        Self::on_mask((a, false), (b, false), mask)
    }

    /// C = Aᵀ·B where `mask` has entries, without forming Aᵀ: with A and B the same, chosen places of JᵀJ.
    ///
    /// Columns are looked up in columns here, so nothing is transposed to plan it.
    ///
    /// # Errors
    /// As [`Plan::masked`].
    pub fn masked_transposed(a: &DevicePattern, b: &DevicePattern, mask: &DevicePattern) -> Result<Self> {
        Self::on_mask((a, true), (b, false), mask)
    }

    fn on_mask(a: Stored<'_>, b: Stored<'_>, mask: &DevicePattern) -> Result<Self> {
        Self::prepared(a, b, |work, first, second| {
            let (c_rows, c_cols) = (first.dimensions().nrows, second.dimensions().ncols);
            check_mask(mask, work.device(), (c_rows, c_cols), M::ROW_MAJOR)?;
            PlannedProduct::masked(work, first, second, &mask.arrays)
        })
    }
}

/// Refuses a mask that is not one of arrays of `rows` x `cols` entries.
pub(crate) fn check_mask(
    mask: &DevicePattern,
    device: &crate::Device,
    (rows, cols): (usize, usize),
    row_major: bool,
) -> Result<()> {
    if !device.same_as(mask.device()) {
        let (a, b) = (device.info().name.clone(), mask.device().info().name.clone());
        return Err(Error::DeviceMismatch { a, b });
    }
    if mask.row_major != row_major {
        let order = |row_major| if row_major { "row-major" } else { "column-major" };
        let (have, want) = (order(mask.row_major), order(row_major));
        return Err(Error::Argument(format!("the mask is {have}, the product {want}")));
    }
    let (rows, cols) = if row_major { (cols, rows) } else { (rows, cols) };
    if (mask.nrows(), mask.ncols()) != (rows, cols) {
        let (have_rows, have_cols) = (mask.nrows(), mask.ncols());
        return Err(Error::Argument(format!("the mask is {have_rows}x{have_cols} entries, the product {rows}x{cols}")));
    }
    Ok(())
}
