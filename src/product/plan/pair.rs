//! One planned product of two matrices. Cells of a planned product are sums of products of two
//! matrices.
use crate::{
    DevicePattern, Error, Part, Result, Semiring,
    device::{Device, Work},
    element::ElementType,
    events::ms,
    planned::prepared::same_device,
    product::{Bin, Destination, FactorPattern, How, PlannedProduct, Scaling},
    resident::DeviceCbc,
};
use std::time::Instant;

/// The pattern of a factor as it is stored, and whether its transpose is multiplied.
#[derive(Clone, Copy)]
pub(super) struct StoredFactor<'a> {
    pub pattern: &'a DevicePattern,
    pub transposed: bool,
    pub element: ElementType,
}

/// The entries of C that a product computes, and the method or mask.
#[derive(Clone, Copy)]
pub(super) enum PairPlaces<'a> {
    /// A part of C.
    Part(Part, How),
    Mask(&'a DevicePattern, Semiring),
}

/// op(A)·op(B), prepared.
pub(super) struct Pair {
    pub c: DevicePattern,
    pub flops: u64,
    pub bytes: u64,
    pub product: PlannedProduct,
}

impl Pair {
    /// Requests the kernels that [`Pair::new`] launches. Invalid products are refused by
    /// [`Pair::new`] alone.
    pub fn ask(device: &Device, a: StoredFactor<'_>, b: StoredFactor<'_>, places: PairPlaces<'_>) -> Result<()> {
        let (row_major, element) = (a.pattern.row_major, a.element);
        let (first, second) = factors(a, b);
        match places {
            PairPlaces::Part(part, how) if first.meets(&second) => {
                let (part, how) = of_arrays(row_major, part, how);
                PlannedProduct::ask(device, element, &first, &second, part, how)
            }
            _ => Ok(()),
        }
    }

    pub fn new(work: &Work, a: StoredFactor<'_>, b: StoredFactor<'_>, places: PairPlaces<'_>) -> Result<Self> {
        let (row_major, element) = (a.pattern.row_major, a.element);
        let (first, second) = factors(a, b);
        if !first.meets(&second) {
            return Err(Error::Dimensions { a: first.dimensions(), b: second.dimensions() });
        }
        let start = Instant::now();
        let planned = || match places {
            PairPlaces::Part(part, how) => {
                let (part, how) = of_arrays(row_major, part, how);
                PlannedProduct::new(work, element, (&first, &second), part, how)
            }
            PairPlaces::Mask(mask, semiring) => {
                let (c_rows, c_cols) = (first.dimensions().nrows, second.dimensions().ncols);
                check_mask(mask, work.device(), (c_rows, c_cols), row_major)?;
                let semiring = if row_major { semiring.mirrored() } else { semiring };
                PlannedProduct::masked(work, &first, &second, &mask.arrays, element, semiring)
            }
        };
        let product = work.counted(planned, |product| numbers(&product.bins))?;
        let (nnz, products, bytes) = (product.c.nnz(), product.products, product.bytes());
        tracing::debug!(target: "blockmul::plan", nnz, products, bytes, ms = ms(start), "product planned");
        let (a, b) = (first.op_shape(), second.op_shape());
        Ok(Self {
            c: DevicePattern { arrays: product.c.clone(), array_shape: product.shape, row_major },
            flops: 2 * products * (a.area() * b.cols()) as u64,
            bytes,
            product,
        })
    }

    /// Enqueues C = alpha·op(A)·op(B) + beta·C. The caller has checked the arrays.
    pub fn enqueue(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc, &DeviceCbc),
        scaling: Scaling,
        c: Destination<'_>,
    ) -> Result<()> {
        let operands = if self.c.row_major { (b, a) } else { (a, b) };
        work.counted(|| self.product.execute(work, operands, scaling, c), |()| numbers(&self.product.bins))
    }
}

/// The numbers of the bins' methods, as bits.
fn numbers(bins: &[Bin]) -> u64 {
    bins.iter().fold(0, |bits, bin| bits | 1 << bin.method.number())
}

/// The part and the algebra for the stored arrays. If matrices are row-major, above and below are
/// swapped, and so are the factors.
fn of_arrays(row_major: bool, part: Part, how: How) -> (Part, How) {
    match (row_major, part) {
        (false, part) => (part, how),
        (true, Part::Full) => (part, how.mirrored()),
        (true, Part::Lower) => (Part::Upper, how.mirrored()),
        (true, Part::Upper) => (Part::Lower, how.mirrored()),
    }
}

/// The factors in the order of their arrays. The arrays of row-major matrices store the transposes:
/// Cᵀ = op(B)ᵀ·op(A)ᵀ.
fn factors(a: StoredFactor<'_>, b: StoredFactor<'_>) -> (FactorPattern, FactorPattern) {
    let row_major = a.pattern.row_major;
    let factor = |StoredFactor { pattern, transposed, .. }: StoredFactor<'_>| FactorPattern {
        pattern: pattern.arrays.clone(),
        shape: pattern.array_shape,
        transposed,
    };
    let (a, b) = (factor(a), factor(b));
    if row_major { (b, a) } else { (a, b) }
}

/// Refuses a mask whose arrays do not have `rows` x `cols` entries.
pub(crate) fn check_mask(
    mask: &DevicePattern,
    device: &Device,
    (rows, cols): (usize, usize),
    row_major: bool,
) -> Result<()> {
    same_device(device, mask.device())?;
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
