//! The weighted factor T = W·J of a product Jᵀ·W·J.
use crate::{
    Error, Matrix, Result, Semiring, Weights,
    element::{Algebra, AnySlice, AnyValues, ElementType, Listed, Widened},
    matrix::{AnyMatrix, AnyView},
};

/// Borrows weights as weights whose element type is known at run time.
pub(super) fn untyped<'a, M: Matrix>(weights: Weights<&'a M, &'a [M::Element]>) -> AnyWeights<'a> {
    weights.map(AnyView::from, M::Element::any_slice)
}

pub(super) type AnyWeights<'a> = Weights<AnyView<'a>, AnySlice<'a>>;

/// Computes T = W·J on the pattern of J.
pub(super) fn weighted(j: AnyView<'_>, weights: AnyWeights<'_>) -> Result<AnyMatrix> {
    let size = j.dimensions();
    let rows = size.block_rows;
    let (information, vector) = match weights {
        Weights::Information(information) => (Some(information), None),
        Weights::Scaled { information, weights } => (Some(information), Some((weights, rows))),
        Weights::BlockRows(weights) => (None, Some((weights, rows))),
        Weights::Rows(weights) => (None, Some((weights, 1))),
    };
    if let Some(information) = information {
        check_block_diagonal(information, size.nrows, rows)?;
    }
    if let Some((vector, share)) = vector {
        let (found, expected) = (vector.len(), size.nrows * rows / share);
        if found != expected {
            let why = format!("J has {} block rows of {rows}, a weight for each {share}", size.nrows);
            return Err(Error::Length { array: "weights", found, expected, why });
        }
    }
    let values = match j.element() {
        ElementType::F64 => weighted_values::<f64>(j, information, vector),
        ElementType::F32 | ElementType::F16 => weighted_values::<f32>(j, information, vector),
        ElementType::U32 | ElementType::U8 => weighted_values::<u32>(j, information, vector),
        ElementType::I32 => weighted_values::<i32>(j, information, vector),
    };
    Ok(AnyMatrix::of_arrays(j.kind, j.pattern.clone(), j.shape, j.shape.area(), values))
}

/// The values of T. An element is a sum of type `N` over a row of an information matrix, or an
/// element of J if there are no information matrices. The element is multiplied by its weight, if
/// there are weights.
fn weighted_values<N: Widened>(
    j: AnyView<'_>,
    information: Option<AnyView<'_>>,
    vector: Option<(AnySlice<'_>, usize)>,
) -> AnyValues {
    let (size, row_major) = (j.dimensions(), j.kind.is_row_major());
    let (rows, cols) = (size.block_rows, size.block_cols);
    let widened = |values| N::widened(values).unwrap_or_else(|| unreachable!("weights have the elements of J"));
    let of_j = widened(j.values);
    let information = information.map(|of| (widened(of.values), of.stride));
    let vector = vector.map(|(vector, share)| (widened(vector), share));
    let at = |row: usize, col: usize, of: (usize, usize)| if row_major { row * of.1 + col } else { col * of.0 + row };
    let Algebra { identity, add, multiply, .. } = Algebra::<N>::of(Semiring::PlusTimes);
    let mut values = vec![N::ZERO; j.nnz() * rows * cols];
    for (entry, block_row) in block_rows(j).into_iter().enumerate() {
        let (of_j, t) = (&of_j[entry * j.stride..], &mut values[entry * rows * cols..][..rows * cols]);
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            let sum = match &information {
                None => of_j[at(row, col, (rows, cols))],
                Some((w, stride)) => {
                    let w = &w[block_row * stride..];
                    (0..rows).fold(identity, |sum, k| {
                        add(sum, multiply(w[at(row, k, (rows, rows))], of_j[at(k, col, (rows, cols))]))
                    })
                }
            };
            let weight = vector.as_ref().map(|(vector, share)| vector[(block_row * rows + row) / share]);
            t[at(row, col, (rows, cols))] = weight.map_or(sum, |weight| multiply(weight, sum));
        }
    }
    N::narrowed(values, j.element())
}

/// The block row of each entry.
fn block_rows(j: AnyView<'_>) -> Vec<usize> {
    let pattern = j.pattern;
    if j.kind.is_row_major() {
        return (0..pattern.ncols()).flat_map(|row| pattern.entries(row).map(move |_| row)).collect();
    }
    pattern.row_idx().iter().map(|&row| row as usize).collect()
}

fn check_block_diagonal(w: AnyView<'_>, n: usize, side: usize) -> Result<()> {
    let (size, pattern) = (w.dimensions(), w.pattern);
    let square = (size.nrows, size.ncols, size.block_rows, size.block_cols) == (n, n, side, side);
    if square && pattern.nnz() == n && (0..n).all(|i| pattern.column(i) == [i as u32]) {
        return Ok(());
    }
    Err(Error::Argument(format!(
        "W is {}x{} blocks of {}x{} with {} stored, not {n}x{n} blocks of {side}x{side} with one in each place of the diagonal",
        size.nrows,
        size.ncols,
        size.block_rows,
        size.block_cols,
        pattern.nnz()
    )))
}
