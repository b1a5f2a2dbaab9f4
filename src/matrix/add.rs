//! Sums of two matrices.
use super::{AnyMatrix, AnyView, CbcView, Matrix, MatrixKind, MatrixType, Pattern};
use crate::{
    Arithmetic, Element, Error, Result,
    element::{AnySlice, ElementType, Listed, with_type},
    host::{memory, threads},
};
use rayon::prelude::*;
use std::ops::Range;

type Scalar<M> = <<M as Matrix>::Element as Element>::Arithmetic;

/// Computes C = alpha·A + beta·B. C has an entry (block) wherever A or B has an entry.
///
/// The pattern does not depend on values: entries that become zero are kept. Products and sums are
/// computed in the arithmetic type, and each result is rounded once to the element type. An entry
/// that only one matrix has is multiplied by that matrix's factor. If alpha is 0, the values of A
/// are not read, as in BLAS. An entry that only A has becomes 0, even if its value in A is NaN, and
/// an entry that both matrices have becomes beta times the entry of B. If beta is 0, the values of
/// B are not read.
///
/// # Errors
/// [`Error::Argument`] if the matrices or their blocks differ in size; [`Error::Memory`] if C does
/// not fit the host.
///
/// ```
/// use blockmul::matrix::add;
/// use blockmul::Csc;
/// let a = Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 2.0)])?;
/// let b = Csc::from_triplets(2, 2, [(1, 0, 3.0), (1, 1, 4.0)])?;
/// let c = add(2.0, &a, -1.0, &b)?;
/// assert_eq!((c.pattern().row_idx(), c.values()), (&[0, 1, 1][..], &[2.0, -3.0, 0.0][..]));
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn add<M: Matrix>(alpha: Scalar<M>, a: &M, beta: Scalar<M>, b: &M) -> Result<M> {
    let factors = Scalar::<M>::any(vec![alpha, beta]);
    sum(a.into(), b.into(), factors.borrow())?.typed()
}

/// Like [`add`], for matrices whose element type and format are known at run time only. The factors
/// are rounded to the element's arithmetic type.
///
/// ```
/// use blockmul::{Csc, element::AnyValues, matrix::{AnyMatrix, add_any}};
/// let a = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 2.0f32), (1, 0, 3.0)])?);
/// assert_eq!(add_any(2.0, &a, -1.0, &a)?.values(), &AnyValues::F32(vec![2.0, 3.0]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// See [`add`]; [`Error::Argument`] if the element types differ, or if one matrix is stored by rows
/// and the other by columns.
pub fn add_any(alpha: f64, a: &AnyMatrix, beta: f64, b: &AnyMatrix) -> Result<AnyMatrix> {
    let of = MatrixType::<AnyMatrix>::of(a.view()).times(MatrixType::of(b.view()))?;
    let factors = AnySlice::F64(&[alpha, beta]).cast(of.element.arithmetic());
    Ok(sum(a.view(), b.view(), factors.borrow())?.of_kind(of.kind))
}

/// Computes the sum. The factors must be of the arithmetic type.
fn sum(a: AnyView<'_>, b: AnyView<'_>, factors: AnySlice<'_>) -> Result<AnyMatrix> {
    check_sizes(a, b)?;
    with_type!(a.element(), T => match (a.cbc::<T>(), b.cbc::<T>(), Factor::<T>::of_any_slice(factors)) {
        (Some(x), Some(y), Some(&[alpha, beta])) => add_cbc::<T>(a.kind, (alpha, x), (beta, y)),
        _ => unreachable!("matrices and factors of one type"),
    })
}

type Factor<T> = <T as Element>::Arithmetic;

type Term<'a, T> = (Factor<T>, CbcView<'a, T>);

fn add_cbc<T: Element>(kind: MatrixKind, left: Term<'_, T>, right: Term<'_, T>) -> Result<AnyMatrix> {
    let (a, b) = (left.1, right.1);
    let (ncols, area) = (a.pattern.ncols(), a.shape.area());
    let offsets = 2 * size_of::<u64>() as u64 * ncols as u64;
    memory::check_large(|| format!("the offsets of {ncols} columns"), offsets)?;
    let col_ptr = offsets_of_union(a.pattern, b.pattern);
    let nnz = col_ptr[ncols];
    memory::check("the sum", nnz.saturating_mul((4 + area * size_of::<T>()) as u64))?;
    let (mut row_idx, mut values) = (vec![0; nnz as usize], vec![T::zeroed(); nnz as usize * area]);

    let (mut parts, mut rows_left, mut values_left) = (Vec::new(), &mut row_idx[..], &mut values[..]);
    let step = ncols.div_ceil(4 * rayon::current_num_threads()).max(1);
    for start in (0..ncols).step_by(step) {
        let cols = start..ncols.min(start + step);
        let entries = (col_ptr[cols.end] - col_ptr[cols.start]) as usize;
        let (rows, other_rows) = rows_left.split_at_mut(entries);
        let (sums, other_values) = values_left.split_at_mut(entries * area);
        (rows_left, values_left) = (other_rows, other_values);
        parts.push((cols, rows, sums));
    }
    threads::for_each(parts, |(cols, rows, sums)| add_columns(left, right, cols, rows, sums));
    let pattern = Pattern::trusted(a.pattern.nrows(), ncols, col_ptr, row_idx);
    Ok(AnyMatrix::of_arrays(kind, pattern, a.shape, area, T::any(values)))
}

fn offsets_of_union(a: &Pattern, b: &Pattern) -> Vec<u64> {
    let count = |col| union(a.column(col), b.column(col)).count() as u64;
    let counts: Vec<u64> = (0..a.ncols()).into_par_iter().map(count).collect();
    let mut offsets = vec![0];
    offsets.extend(counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    }));
    offsets
}

fn add_columns<T: Element>(
    (alpha, a): Term<'_, T>,
    (beta, b): Term<'_, T>,
    cols: Range<usize>,
    rows: &mut [u32],
    sums: &mut [T],
) {
    let term = |factor: T::Arithmetic, value: T| factor.times(value.widen());
    let mut places = rows.iter_mut().zip(sums.chunks_exact_mut(a.shape.area()));
    for col in cols {
        let (a_start, b_start) = (a.pattern.entries(col).start, b.pattern.entries(col).start);
        for (row, in_a, in_b) in union(a.pattern.column(col), b.pattern.column(col)) {
            let Some((place, sum)) = places.next() else { return };
            *place = row;
            // Entries of C stay zero unless a term is added.
            let of_a = in_a.filter(|_| alpha != T::Arithmetic::ZERO).map(|entry| a.block(a_start + entry));
            let of_b = in_b.filter(|_| beta != T::Arithmetic::ZERO).map(|entry| b.block(b_start + entry));
            for (i, sum) in sum.iter_mut().enumerate() {
                let terms = (of_a.map(|block| term(alpha, block[i])), of_b.map(|block| term(beta, block[i])));
                *sum = match terms {
                    (Some(x), Some(y)) => T::narrow(x.plus(y)),
                    (Some(x), None) | (None, Some(x)) => T::narrow(x),
                    (None, None) => continue,
                };
            }
        }
    }
}

fn check_sizes(a: AnyView<'_>, b: AnyView<'_>) -> Result<()> {
    let size = |view: AnyView<'_>| (view.pattern.nrows(), view.pattern.ncols(), view.shape);
    match size(a) == size(b) {
        true => Ok(()),
        false => Err(Error::Argument(format!("cannot add: A is {}, B is {}", a.dimensions(), b.dimensions()))),
    }
}

/// The union of the rows of two columns, ascending, with the index of each row's entry in both
/// columns.
pub(crate) fn union<'a>(
    a: &'a [u32],
    b: &'a [u32],
) -> impl Iterator<Item = (u32, Option<usize>, Option<usize>)> + use<'a> {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let (in_a, in_b) = (a.get(i).copied(), b.get(j).copied());
        let row = match (in_a, in_b) {
            (Some(x), Some(y)) => x.min(y),
            (x, y) => x.or(y)?,
        };
        let advance = |found: Option<u32>, at: &mut usize| {
            (found == Some(row)).then(|| {
                *at += 1;
                *at - 1
            })
        };
        Some((row, advance(in_a, &mut i), advance(in_b, &mut j)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Csc, Csr};
    use half::f16;
    use proptest::prelude::*;

    fn matrix(entries: &[((usize, usize), i8)]) -> Csc<f64> {
        let entries: std::collections::BTreeMap<_, _> = entries.iter().copied().collect();
        Csc::from_triplets(6, 8, entries.into_iter().map(|((i, j), x)| (i, j, x.into()))).unwrap()
    }

    prop_compose! {
        fn entries()(list in prop::collection::vec(((0usize..6, 0usize..8), -4i8..5), 0..40)) -> Csc<f64> { matrix(&list) }
    }

    proptest! {
        #[test]
        fn sums_are_the_dense_ones_over_the_union(a in entries(), b in entries(), alpha in -3i8..4, beta in -3i8..4) {
            let (alpha, beta) = (f64::from(alpha), f64::from(beta));
            let c = add(alpha, &a, beta, &b).unwrap();
            prop_assert_eq!(c.to_dense(), a.to_dense() * alpha + b.to_dense() * beta);
            let places = |m: &Csc<f64>| {
                let of = |j| m.pattern().column(j).iter().map(move |&i| (j, i)).collect::<Vec<_>>();
                (0..m.ncols()).flat_map(of).collect::<std::collections::BTreeSet<_>>()
            };
            prop_assert_eq!(places(&c), &places(&a) | &places(&b), "zeros stay, nothing else comes");
            let shape = BlockShape::new(3, 2).unwrap();
            let (a, b) = (a.to_blocks(shape).unwrap(), b.to_blocks(shape).unwrap());
            let blocks = add(alpha, &a.with_alignment(64).unwrap(), beta, &b).unwrap();
            prop_assert_eq!(blocks.shape(), shape);
            prop_assert_eq!(blocks.to_dense(), c.to_dense());
        }
    }

    #[test]
    fn sizes_must_agree() -> Result<()> {
        let (a, b) = (Csc::<f64>::from_triplets(2, 3, [])?, Csc::from_triplets(3, 2, [])?);
        let error = add(1.0, &a, 1.0, &b).unwrap_err().to_string();
        assert!(error.contains("A is 2x3, B is 3x2"), "{error}");
        let rows = |nrows: usize| Csr::<f64>::new(nrows, 1, vec![0; nrows + 1], vec![], vec![]);
        let error = add(1.0, &rows(2)?, 1.0, &rows(4)?).unwrap_err().to_string();
        assert!(error.contains("A is 2x1, B is 4x1"), "{error}");
        let blocks = |rows, cols| Csc::<f64>::from_triplets(6, 6, [])?.to_blocks(BlockShape::new(rows, cols)?);
        assert!(matches!(add(1.0, &blocks(2, 3)?, 1.0, &blocks(3, 2)?), Err(Error::Argument(_))));
        Ok(())
    }

    #[test]
    fn a_factor_of_zero_reads_no_values() -> Result<()> {
        let a = Csc::from_triplets(2, 2, [(0, 0, f64::NAN), (1, 0, f64::INFINITY), (1, 1, -1.0)])?;
        let b = Csc::from_triplets(2, 2, [(0, 0, -0.0), (1, 1, 3.0), (0, 1, 4.0)])?;
        for zero in [0.0, -0.0] {
            for c in [add(zero, &a, 1.0, &b)?, add(1.0, &b, zero, &a)?] {
                let places = (c.pattern().col_ptr(), c.pattern().row_idx());
                assert_eq!(places, (&[0, 2, 4][..], &[0, 1, 0, 1][..]), "all of both stay");
                let bits = [-0.0, 0.0, 4.0, 3.0].map(f64::to_bits);
                assert_eq!(c.values().iter().map(|value| value.to_bits()).collect::<Vec<_>>(), bits);
            }
            assert_eq!(add(zero, &a, zero, &a)?.values(), [0.0; 3]);
        }
        Ok(())
    }

    #[test]
    fn halves_are_rounded_once_and_lone_entries_keep_the_sign_of_zero() -> Result<()> {
        let one = |x: f32| Csc::from_triplets(1, 1, [(0, 0, f16::from_f32(x))]);
        // The sum 0.001 · 1000 + 2048 is computed in f32 and then rounded to f16, whose numbers
        // have steps of 2 from 2048 on.
        let c = add(0.001, &one(1000.0)?, 1.0, &one(2048.0)?)?;
        assert_eq!(c.values(), [f16::from_f32(0.001 * 1000.0 + 2048.0)]);
        let c = add(1.0, &Csc::from_triplets(1, 1, [(0, 0, -0.0f64)])?, 1.0, &Csc::from_triplets(1, 1, [])?)?;
        assert_eq!(c.values()[0].to_bits(), (-0.0f64).to_bits());
        Ok(())
    }
}
