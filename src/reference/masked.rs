//! Masked products on the CPU: the entries of the whole product at the places of a mask.
use super::multiply_any;
use crate::{
    Element, Error, Pattern, Result, Semiring,
    element::{Algebra, AnySlice, AnyValues, with_values},
    matrix::{AnyMatrix, AnyView, HostMatrix, MatrixKind},
};

/// C = A·B at the places where `mask` has entries. C has the pattern of the mask, with explicit
/// zeros at places that receive no product. Entries that receive products have the bits of
/// [`multiply`](super::multiply). The values of the mask and the shape of its blocks do not matter.
///
/// # Errors
/// The errors of [`multiply`](super::multiply); [`Error::Argument`] if the grid of the mask differs
/// from that of C, or if only one of them is row-major.
///
/// ```
/// use blockmul::{Csc, reference};
/// let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 0, 3.0), (1, 1, 5.0)])?;
/// let c = reference::multiply_masked(&a, &a, &a.transpose())?;
/// assert_eq!(c.values(), [4.0, 0.0, 25.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn multiply_masked<M: HostMatrix, K: HostMatrix>(a: &M, b: &M, mask: &K) -> Result<M> {
    multiply_masked_over(Semiring::PlusTimes, a, b, mask)
}

/// Like [`multiply_masked`], with the sums and products of a semiring. Places that receive no
/// product have the value of an empty sum: see [`Semiring`].
///
/// # Errors
/// The errors of [`multiply_masked`]; [`Error::Argument`] for an element type that the semiring
/// does not support.
pub fn multiply_masked_over<M: HostMatrix, K: HostMatrix>(semiring: Semiring, a: &M, b: &M, mask: &K) -> Result<M> {
    M::from_any(multiply_any_masked(semiring, a.view(), b.view(), mask.view())?)
}

/// Computes C like [`multiply_masked_over`], for borrowed arrays whose element type and format are
/// known at run time only.
///
/// # Errors
/// The errors of [`multiply_masked_over`] and of [`multiply_any`].
pub fn multiply_any_masked(semiring: Semiring, a: AnyView<'_>, b: AnyView<'_>, mask: AnyView<'_>) -> Result<AnyMatrix> {
    let whole = multiply_any(semiring, a, b)?;
    let whole = whole.view();
    let mask = pattern_of_mask(mask, whole)?;
    let area = whole.shape.area();
    let needed = (mask.nnz() as u64).saturating_mul((4 + area * whole.element().bytes()) as u64);
    crate::host::memory::check("the masked product", needed)?;
    let values = with_values!(AnySlice, whole.values, values => at_places(values, whole, mask, semiring));
    Ok(AnyMatrix::of_arrays(whole.kind, mask.clone(), whole.shape, area, values))
}

/// The elements of a product at the places of a mask. At places where the product has no entry, the
/// elements have the value of an empty sum.
fn at_places<T: Element>(values: &[T], whole: AnyView<'_>, mask: &Pattern, semiring: Semiring) -> AnyValues {
    let (area, empty) = (whole.shape.area(), T::narrow(Algebra::<T::Arithmetic>::of(semiring).empty));
    let mut found = vec![empty; mask.nnz() * area];
    for (block, entry) in found.chunks_exact_mut(area).zip(entries_at(mask, whole.pattern)) {
        if let Some(entry) = entry {
            block.copy_from_slice(&values[entry * whole.stride..][..area]);
        }
    }
    T::any(found)
}

/// Number of products of entries (blocks) of A·B at the places of a mask.
///
/// # Errors
/// [`Error::Argument`] if the grid of the mask differs from that of C, or if only one of them is
/// row-major.
pub fn products_masked<M: HostMatrix, K: HostMatrix>(a: &M, b: &M, mask: &K) -> Result<u64> {
    any_products_masked(a.view(), b.view(), mask.view())
}

fn any_products_masked(a: AnyView<'_>, b: AnyView<'_>, mask: AnyView<'_>) -> Result<u64> {
    let kind = a.kind;
    let (a, b) = if kind.is_row_major() { (b.pattern, a.pattern) } else { (a.pattern, b.pattern) };
    let mask = mask_of_size(mask, kind, (a.nrows(), b.ncols()))?;
    let marks = (a.nrows() * size_of::<usize>()) as u64;
    crate::host::memory::check_large(|| format!("a mark for each of {} rows", a.nrows()), marks)?;
    let (mut wanted, mut count) = (vec![usize::MAX; a.nrows()], 0);
    for col in 0..b.ncols() {
        mask.column(col).iter().for_each(|&row| wanted[row as usize] = col);
        let rows = b.column(col).iter().flat_map(|&k| a.column(k as usize));
        count += rows.filter(|&&row| wanted[row as usize] == col).count() as u64;
    }
    Ok(count)
}

/// The pattern of a mask. Refuses a mask whose grid or order (by rows or by columns) differs from
/// that of the product `whole`.
pub(super) fn pattern_of_mask<'m>(mask: AnyView<'m>, whole: AnyView<'_>) -> Result<&'m Pattern> {
    mask_of_size(mask, whole.kind, (whole.pattern.nrows(), whole.pattern.ncols()))
}

fn mask_of_size(mask: AnyView<'_>, kind: MatrixKind, (rows, cols): (usize, usize)) -> Result<&Pattern> {
    let pattern = mask.pattern;
    if mask.kind.is_row_major() != kind.is_row_major() {
        let order = |row_major| if row_major { "row-major" } else { "column-major" };
        let (have, want) = (order(mask.kind.is_row_major()), order(kind.is_row_major()));
        return Err(Error::Argument(format!("the mask is {have}, the product {want}")));
    }
    if (pattern.nrows(), pattern.ncols()) != (rows, cols) {
        let (have, want) = (kind.oriented(pattern.nrows(), pattern.ncols()), kind.oriented(rows, cols));
        return Err(Error::Argument(format!(
            "the mask is {}x{} entries, the product {}x{}",
            have.0, have.1, want.0, want.1
        )));
    }
    Ok(pattern)
}

/// For each entry of `mask`, the entry of `whole` at the same place, if there is one.
pub(crate) fn entries_at<'p>(mask: &'p Pattern, whole: &'p Pattern) -> impl Iterator<Item = Option<usize>> + 'p {
    (0..mask.ncols()).flat_map(|col| {
        let (rows, first) = (whole.column(col), whole.entries(col).start);
        mask.column(col).iter().map(move |row| rows.binary_search(row).ok().map(|found| first + found))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Bsr, Cbc, Csc, generate};

    #[test]
    fn places_have_the_bits_of_the_whole_product_or_zeros() -> Result<()> {
        let shape = |rows, cols| BlockShape::new(rows, cols);
        let a: Cbc<f64> =
            generate::Uniform { rows: 30, cols: 40, per_column: 4, shape: shape(2, 3)?, ..Default::default() }
                .matrix()?;
        let b: Cbc<f64> =
            generate::Uniform { rows: 40, cols: 20, per_column: 4, shape: shape(3, 4)?, seed: 2, ..Default::default() }
                .matrix()?;
        let mask = generate::Uniform { rows: 30, cols: 20, per_column: 9, seed: 3, ..Default::default() }.matrix()?;
        let (whole, c) = (super::super::multiply(&a, &b)?, multiply_masked(&a, &b, &mask)?);
        assert_eq!(c.pattern(), mask.pattern());
        let mut formed = 0;
        for (row, col, block) in c.blocks() {
            let of_whole = whole.blocks().find(|&(i, j, _)| (i, j) == (row, col));
            formed += usize::from(of_whole.is_some());
            match of_whole {
                Some((_, _, want)) => assert_eq!(block, want),
                None => assert!(block.iter().all(|x| x.to_bits() == 0)),
            }
        }
        assert!(0 < formed && formed < c.nnz(), "{formed} of {}", c.nnz());
        assert_eq!(products_masked(&a, &b, &whole)?, crate::reference::products(&a, &b));
        assert!(products_masked(&a, &b, &mask)? >= formed as u64);
        let by_rows = multiply_masked(
            &Bsr::from_transpose(b.transpose()),
            &Bsr::from_transpose(a.transpose()),
            &Bsr::from_transpose(mask.transpose()),
        );
        assert!(matches!(by_rows, Err(Error::Dimensions { .. })));
        let rows = |matrix: &Cbc<f64>| Bsr::from_transpose(matrix.transpose());
        assert_eq!(multiply_masked(&rows(&a), &rows(&b), &rows(&mask))?, rows(&c));
        Ok(())
    }

    #[test]
    fn masks_of_other_sizes_and_orders_are_refused() -> Result<()> {
        let of = |rows, cols| Csc::<f64>::from_triplets(rows, cols, []);
        let (a, b) = (of(3, 4)?, of(4, 5)?);
        let message = multiply_masked(&a, &b, &of(5, 3)?).unwrap_err().to_string();
        assert_eq!(message, "the mask is 5x3 entries, the product 3x5");
        let rows = crate::Csr::from_transpose(of(5, 3)?);
        let message = products_masked(&a, &b, &rows).unwrap_err().to_string();
        assert_eq!(message, "the mask is row-major, the product column-major");
        Ok(())
    }
}
