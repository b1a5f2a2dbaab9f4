//! Reference computations on the CPU, of products and of most other operations. The tests and
//! `--verify` compare results of devices with the reference computations. If there is no OpenCL,
//! the command `blockmul` uses the reference computations.
//!
//! Products are computed by Gustavson's algorithm (ACM TOMS 4, 1978), column by column, on all
//! cores.
mod dense;
mod diagonal;
mod gram;
mod graphs;
mod lines;
mod lloyd;
mod lost;
pub(crate) mod masked;
mod norms;
mod op;
mod operators;
mod paths;
mod predecessors;
mod scan;
mod schur;
mod segmented_scan;
mod vectors;
pub mod verify;
mod weighted;
mod wrapping;

pub use dense::{multiply_any_dense, multiply_any_dense_onto, multiply_dense, multiply_dense_over};
pub use diagonal::{diagonal, scale_any_columns, scale_any_rows, scale_columns, scale_rows};
pub use gram::{
    gram, gram_any, gram_any_groups_weighted, gram_groups, gram_groups_weighted, gram_weighted,
    multiply_any_vector_gram, multiply_groups, multiply_vector_gram, multiply_vector_gram_over,
};
pub use graphs::{components, triangles_of_vertices};
pub use lloyd::lloyd;
pub use lost::LostDistances;
pub use masked::{multiply_any_masked, multiply_masked, multiply_masked_over, products_masked};
pub use norms::{
    any_block_column_norms, any_block_row_norms, any_column_norms, any_row_norms, block_column_norms, block_row_norms,
    column_norms, row_norms,
};
pub use paths::{any_shortest_paths, shortest_paths};
pub use predecessors::{any_predecessors, predecessors};
pub use scan::scan;
pub use schur::{FlooredDamping, Reduced, schur};
pub use vectors::{
    Onto, any_axpy, any_dot, dot, multiply_any_vector, multiply_any_vector_onto, multiply_vector, multiply_vector_in,
    multiply_vector_over,
};
pub use wrapping::IntegerSums;

use crate::{
    Error, Pattern, Result, Semiring,
    gustavson::Factors,
    host::{Interrupt, memory},
    matrix::{AnyMatrix, AnyView, HostMatrix, MatrixType},
};

/// Computes C = A·B on the CPU. Rows ascend in each column of C (for row-major matrices, columns
/// ascend in each row).
///
/// # Errors
/// [`Error::Dimensions`] if the inner sizes differ; [`Error::Memory`] if C does not fit the host.
///
/// ```
/// use blockmul::{Csc, reference};
/// let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?;
/// assert_eq!(reference::multiply(&a, &a)?.values(), [4.0, 21.0, 25.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn multiply<M: HostMatrix>(a: &M, b: &M) -> Result<M> {
    multiply_over(Semiring::PlusTimes, a, b)
}

/// Computes C = A·B like [`multiply`], with the sums and products of a semiring.
///
/// # Errors
/// The errors of [`multiply`]; [`Error::Argument`] for an element type that the [`Semiring`] does
/// not support.
///
/// ```
/// use blockmul::{Csc, Semiring, reference};
/// let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?;
/// assert_eq!(reference::multiply_over(Semiring::MinPlus, &a, &a)?.values(), [4.0, 5.0, 10.0]);
/// assert_eq!(reference::multiply_over(Semiring::PlusPair, &a, &a)?.values(), [1.0, 2.0, 1.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn multiply_over<M: HostMatrix>(semiring: Semiring, a: &M, b: &M) -> Result<M> {
    M::from_any(product(semiring, a.view(), b.view())?)
}

/// Computes C = A·B like [`multiply_over`], for borrowed arrays whose element type and format are
/// known at run time only.
///
/// ```
/// use blockmul::{BlockShape, Semiring, matrix::{AnyView, MatrixKind, Pattern}, reference};
/// let pattern = Pattern::new(2, 2, vec![0, 1, 2], vec![1, 0])?;
/// let a = AnyView::new(MatrixKind::Csr, &pattern, BlockShape::SCALAR, &[2.0f32, 7.0])?;
/// let c = reference::multiply_any(Semiring::PlusTimes, a, a)?;
/// assert_eq!(c.values().get::<f32>(), Some(&[14.0, 14.0][..]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`multiply_over`]; [`Error::Argument`] if the element types differ, or if one
/// matrix is stored by rows and the other by columns.
pub fn multiply_any<'a, 'b>(
    semiring: Semiring,
    a: impl Into<AnyView<'a>>,
    b: impl Into<AnyView<'b>>,
) -> Result<AnyMatrix> {
    product(semiring, a.into(), b.into())
}

/// Number of products of entries (blocks) of A·B: the expansion size (Polok 2015, equation 1).
pub fn products<M: HostMatrix>(a: &M, b: &M) -> u64 {
    products_any(a.view(), b.view())
}

/// Like [`products`], for matrices whose element type and format are known at run time only, both
/// stored by rows or both by columns. The result is 0 if their inner sizes differ.
pub fn products_any<'a, 'b>(a: impl Into<AnyView<'a>>, b: impl Into<AnyView<'b>>) -> u64 {
    let (a, b) = (a.into(), b.into());
    if a.ncols() != b.nrows() {
        return 0;
    }
    let (x, y) = if a.kind.is_row_major() { (b, a) } else { (a, b) };
    let col_ptr = x.pattern.col_ptr();
    y.pattern.row_idx().iter().map(|&k| col_ptr[k as usize + 1] - col_ptr[k as usize]).sum()
}

/// Computes C = A·B for matrices of one element type, both stored by rows or both by columns.
fn product(semiring: Semiring, a: AnyView<'_>, b: AnyView<'_>) -> Result<AnyMatrix> {
    let of = MatrixType::<AnyMatrix>::of(a).times(MatrixType::of(b))?;
    semiring.check_type(of.element)?;
    let (x, y, semiring) = match a.kind.is_row_major() {
        false => (a, b, semiring),
        true => (b, a, semiring.mirrored()),
    };
    if x.pattern.ncols() != y.pattern.nrows() || x.shape.cols() != y.shape.rows() {
        return Err(Error::Dimensions { a: x.of_arrays(), b: y.of_arrays() });
    }
    let shape = x.shape.product(y.shape);
    let of_entry = 4 + (shape.area() * x.element().bytes()) as u64;
    let interrupt = Interrupt::current();
    let fits = |nnz: u64| {
        interrupt.as_ref().map_or(Ok(()), Interrupt::check)?;
        memory::check_large(|| "the product (at least)".into(), nnz.saturating_mul(of_entry))
    };
    let factors = Factors::new(x.into(), y.into(), semiring)?;
    let found = factors.multiply(&fits)?;
    let col_ptr = found.col_ptr();
    let (row_idx, values) = factors.arrays(found, shape.area())?;
    let pattern = Pattern::trusted(x.pattern.nrows(), y.pattern.ncols(), col_ptr, row_idx);
    Ok(AnyMatrix::of_arrays(of.kind, pattern, shape, shape.area(), values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Cbc, Csc};

    fn row_times_column(terms: usize, value: impl Fn(usize) -> f64) -> Result<f64> {
        let a = Csc::from_triplets(1, terms, (0..terms).map(|k| (0, k, value(k))))?;
        let b = Csc::from_triplets(terms, 1, (0..terms).map(|k| (k, 0, 1.0)))?;
        Ok(multiply(&a, &b)?.values()[0])
    }

    #[test]
    fn runs_are_cut_every_1024_terms_from_their_start() -> Result<()> {
        // Values have magnitudes from 2^-20 to 2^20, so that another order of summation gives other
        // bits.
        let value = |k: usize| ((k * 7919) % 1009) as f64 * 2f64.powi((k % 41) as i32 - 20) + 0.1;
        // Numbers of terms below, at and above one piece and two pieces of 1024 terms.
        for terms in [1, 2, 1023, 1024, 1025, 2047, 2048, 2049, 5000] {
            let all: Vec<f64> = (0..terms).map(value).collect();
            let pieces = all.chunks(1024).map(|piece| piece.iter().copied().reduce(|s, x| s + x).unwrap());
            let want = pieces.reduce(|s, x| s + x).unwrap();
            assert_eq!(row_times_column(terms, value)?.to_bits(), want.to_bits(), "{terms} terms");
            let serial = all.into_iter().reduce(|s, x| s + x).unwrap();
            assert!(terms != 5000 || serial.to_bits() != want.to_bits(), "the test must tell the orders apart");
        }
        Ok(())
    }

    #[test]
    fn products_in_min_plus_are_shortest_paths() -> Result<()> {
        // Edges 0 to 1, 1 to 2 and 0 to 2, of lengths 1, 2 and 9, and loops of length 0.
        let edges = [(1, 0, 1.0), (2, 1, 2.0), (2, 0, 9.0)];
        let a = Csc::from_triplets(3, 3, edges.into_iter().chain((0..3).map(|i| (i, i, 0.0))))?;
        let paths = multiply_over(Semiring::MinPlus, &a, &a)?;
        assert_eq!(paths.values(), [0.0, 1.0, 3.0, 0.0, 2.0, 0.0]);
        // The same graph as blocks. Elements of a block without an edge are infinite.
        let far = f64::INFINITY;
        let block = vec![0.0, 1.0, 9.0, far, 0.0, 2.0, far, far, 0.0];
        let one = Cbc::new(Pattern::new(1, 1, vec![0, 1], vec![0])?, BlockShape::new(3, 3)?, block)?;
        let paths = multiply_over(Semiring::MinPlus, &one, &one)?;
        assert_eq!(paths.values(), [0.0, 1.0, 3.0, far, 0.0, 2.0, far, far, 0.0]);
        Ok(())
    }

    #[test]
    fn a_single_negative_zero_stays_negative() -> Result<()> {
        assert_eq!(row_times_column(1, |_| -0.0)?.to_bits(), (-0.0f64).to_bits());
        Ok(())
    }

    #[test]
    fn columns_too_tall_for_the_host_are_refused() -> Result<()> {
        // A matrix of three blocks has so many rows that a dense column would take more than 2 TB.
        let (shape, n) = (BlockShape::new(32, 32)?, Pattern::MAX_LINES as usize / 32);
        let rows = vec![0, 5, n as u32 - 1];
        let a = Cbc::new(Pattern::new(n, 1, vec![0, 3], rows.clone())?, shape, vec![1.0; 3 * 1024])?;
        let one = Cbc::new(Pattern::new(1, 1, vec![0, 1], vec![0])?, shape, vec![2.0; 1024])?;
        let refused = multiply(&a, &one).map(|c| c.nnz());
        assert!(matches!(refused, Err(Error::Memory { needed, .. }) if needed > 1 << 41), "{refused:?}");
        // The offsets of the transpose take 64 GiB, so this is tested only on hosts with less free
        // memory.
        if memory::available().is_some_and(|free| free < 1 << 36) {
            let tall = Csc::new(Pattern::new(32 * n, 1, vec![0, 3], rows)?, vec![1.0; 3])?;
            let refused = tall.try_transpose().map(|c| c.nnz());
            assert!(matches!(refused, Err(Error::Memory { needed, .. }) if needed > (1 << 36) - 1000), "{refused:?}");
            let refused = tall.pattern().try_transpose().map(|(pattern, _)| pattern.nnz());
            assert!(matches!(refused, Err(Error::Memory { .. })), "{refused:?}");
        }
        Ok(())
    }

    #[test]
    fn a_product_too_large_for_the_host_is_refused_before_it_is_begun() -> Result<()> {
        // A is a dense column and B a dense row, so C has 2^30 x 2^20 entries.
        let n = 1 << 20;
        let a = Csc::from_triplets(n, 1, (0..n).map(|i| (i, 0, 1.0)))?;
        assert!(matches!(multiply(&a, &a.transpose()), Err(Error::Memory { needed, .. }) if needed == (1 << 40) * 12));
        Ok(())
    }
}
