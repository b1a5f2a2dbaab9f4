//! JᵀJ, JᵀWJ and products of matrices of groups on the CPU, with the bits of the plans.
use super::{multiply, multiply_vector_over};
use crate::{
    BlockGroups, BlockShape, Cbc, Element, Error, GramParts, Matrix, Part, Pattern, Result, Semiring, Weights,
    element::{Algebra, Order},
    groups::{dimensions, transposed},
    matrix::CbcView,
};

/// H = JᵀJ or a triangle of it, as [`Product::gram`](crate::Product::gram) computes it.
///
/// # Errors
/// As [`multiply`].
pub fn gram<M: Matrix>(j: &M, part: Part) -> Result<M> {
    triangle(multiply(&transposed(j), j)?, part)
}

/// H = JᵀWJ or a triangle of it, with a block-diagonal W, as a weighted
/// [`Product::gram`](crate::Product::gram) computes it.
///
/// # Errors
/// As [`multiply`]; [`Error::Argument`] if the information matrices are not one for each block row
/// of J, on the diagonal; [`Error::Length`] for too few or too many weights.
///
/// ```
/// use blockmul::product::Weights;
/// use blockmul::{Csc, Part, reference};
/// let j = Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0)])?;
/// let h = reference::gram_weighted(&j, Weights::Rows(&[1.0, 10.0]), Part::Lower)?;
/// assert_eq!(h.values(), [1.0, 2.0, 94.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn gram_weighted<M: Matrix>(j: &M, weights: Weights<&M, &[M::Element]>, part: Part) -> Result<M> {
    triangle(multiply(&transposed(j), &weighted(j, weights)?)?, part)
}

/// y = Jᵀ·(W·(J·x)), with both sums as in [`multiply_vector`](super::multiply_vector), as
/// [`ApplyGram`](crate::plan::ApplyGram) computes it. An element of W·(J·x) is the sum of a block
/// of W in ascending order, or of J·x alone, multiplied by its weight if there is one.
///
/// # Errors
/// As [`multiply_vector_over`] and [`gram_weighted`].
///
/// ```
/// use blockmul::product::Weights;
/// use blockmul::{Csc, reference};
/// let j = Csc::from_triplets(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0)])?;
/// let y = reference::multiply_vector_gram(&j, Some(Weights::Rows(&[1.0, 10.0])), &[1.0, 10.0])?;
/// assert_eq!(y, [21.0, 942.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
pub fn multiply_vector_gram<M: Matrix>(
    j: &M,
    weights: Option<Weights<&M, &[M::Element]>>,
    x: &[M::Element],
) -> Result<Vec<M::Element>> {
    multiply_vector_gram_over(Semiring::PlusTimes, [Order::Ascending; 2], (false, j), weights, x)
}

/// As [`multiply_vector_gram`], with the sums and products of a semiring. The sums of J·x and those
/// of the product with Jᵀ each have an order, and J is A, or its transpose if `transposed`. The
/// first factor of a product is J's.
///
/// ```
/// use blockmul::{Csc, Semiring, element::Order, reference::multiply_vector_gram_over};
/// // Edges of lengths 2 and 3 from 0 to 1 and 2: there and back.
/// let j = Csc::from_triplets(3, 3, [(1, 0, 2.0), (2, 0, 3.0)])?;
/// let (far, ascending) = (f64::INFINITY, [Order::Ascending; 2]);
/// let x = [0.0, 1.0, far];
/// let y = multiply_vector_gram_over(Semiring::MinPlus, ascending, (false, &j), None, &x)?;
/// assert_eq!(y, [4.0, far, far]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// As [`multiply_vector_over`] and [`gram_weighted`]; [`Error::Argument`] for weights with another
/// semiring than [`Semiring::PlusTimes`].
pub fn multiply_vector_gram_over<M: Matrix>(
    semiring: Semiring,
    [forward, back]: [Order; 2],
    (transposed, a): (bool, &M),
    weights: Option<Weights<&M, &[M::Element]>>,
    x: &[M::Element],
) -> Result<Vec<M::Element>> {
    let (size, zero) = (dimensions(a), M::Element::from_f64(0.0));
    let (rows, cols) = ((size.nrows, size.block_rows), (size.ncols, size.block_cols));
    let (rows, cols) = if transposed { (cols, rows) } else { (rows, cols) };
    let mut t = vec![zero; rows.0 * rows.1];
    multiply_vector_over(semiring, forward, transposed, (1.0, a, x), (0.0, &mut t))?;
    if let Some(weights) = weights {
        semiring.check_weights()?;
        t = weighted(&column::<M>(rows.0, rows.1, t)?, weights)?.as_cbc().values.to_vec();
    }
    let mut y = vec![zero; cols.0 * cols.1];
    multiply_vector_over(semiring, back, !transposed, (1.0, a, &t), (0.0, &mut y))?;
    Ok(y)
}

/// A vector as a matrix of one column, of blocks with `side` rows.
fn column<M: Matrix>(rows: usize, side: usize, values: Vec<M::Element>) -> Result<M> {
    let (pattern, shape) = match M::ROW_MAJOR {
        true => (Pattern::new(1, rows, (0..=rows as u64).collect(), vec![0; rows])?, BlockShape::new(1, side)?),
        false => (Pattern::new(rows, 1, vec![0, rows as u64], (0..rows as u32).collect())?, BlockShape::new(side, 1)?),
    };
    M::from_cbc(Cbc::new(pattern, shape, values)?)
}

/// C = A·B of matrices of groups, as [`Product::of`](crate::Product::of) computes it.
///
/// # Errors
/// As [`multiply`]; [`Error::Argument`] if the groups of A's columns are not those of B's rows.
pub fn multiply_groups<M: Matrix>(a: &BlockGroups<M>, b: &BlockGroups<M>) -> Result<BlockGroups<M>> {
    groups_product(a, b, |_, _| Some(Part::Full))
}

/// H = JᵀJ of a matrix of groups, as [`Product::gram`](crate::Product::gram) computes it.
///
/// # Errors
/// As [`multiply`].
pub fn gram_groups<M: Matrix>(j: &BlockGroups<M>, parts: impl Into<GramParts>) -> Result<BlockGroups<M>> {
    let parts = parts.into();
    groups_product(&j.transpose(), j, |row, col| parts.of(row, col))
}

/// H = JᵀWJ of a matrix of groups, with weights for each group of rows, as a weighted
/// [`Product::gram`](crate::Product::gram) computes it.
///
/// # Errors
/// As [`gram_weighted`]; [`Error::Length`] if there are weights for more or fewer groups.
pub fn gram_groups_weighted<M: Matrix>(
    j: &BlockGroups<M>,
    weights: &[Weights<&M, &[M::Element]>],
    parts: impl Into<GramParts>,
) -> Result<BlockGroups<M>> {
    let (found, expected) = (weights.len(), j.row_groups().len());
    if found != expected {
        let why = "one for each group of rows of J".into();
        return Err(Error::Length { array: "weights", found, expected, why });
    }
    let parts = parts.into();
    let t = BlockGroups { cells: j.cells.try_map_places(|(row, _), m| weighted(m, weights[row]))? };
    groups_product(&j.transpose(), &t, |row, col| parts.of(row, col))
}

/// T = W·J on J's pattern.
fn weighted<M: Matrix>(j: &M, weights: Weights<&M, &[M::Element]>) -> Result<M> {
    let (size, view) = (dimensions(j), j.as_cbc());
    let (rows, cols) = (size.block_rows, size.block_cols);
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
    let at =
        |row: usize, col: usize, of: (usize, usize)| if M::ROW_MAJOR { row * of.1 + col } else { col * of.0 + row };
    let Algebra { identity, add, multiply, .. } =
        Algebra::<<M::Element as Element>::Arithmetic>::of(Semiring::PlusTimes);
    let mut values = vec![M::Element::from_f64(0.0); view.pattern.nnz() * rows * cols];
    for (entry, block_row) in block_rows::<M>(view.pattern).into_iter().enumerate() {
        let (of_j, t) = (view.block(entry), &mut values[entry * rows * cols..][..rows * cols]);
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            let sum = match information {
                None => of_j[at(row, col, (rows, cols))].widen(),
                Some(w) => {
                    let w = w.as_cbc().block(block_row);
                    (0..rows).fold(identity, |sum, k| {
                        let of_w = w[at(row, k, (rows, rows))].widen();
                        add(sum, multiply(of_w, of_j[at(k, col, (rows, cols))].widen()))
                    })
                }
            };
            let weight = vector.map(|(vector, share)| vector[(block_row * rows + row) / share].widen());
            t[at(row, col, (rows, cols))] = M::Element::narrow(weight.map_or(sum, |weight| multiply(weight, sum)));
        }
    }
    M::from_cbc(Cbc::new(view.pattern.clone(), view.shape, values)?)
}

/// Block row of each entry of a matrix whose arrays have this pattern.
fn block_rows<M: Matrix>(pattern: &Pattern) -> Vec<usize> {
    if M::ROW_MAJOR {
        return (0..pattern.ncols()).flat_map(|row| pattern.entries(row).map(move |_| row)).collect();
    }
    pattern.row_idx().iter().map(|&row| row as usize).collect()
}

fn check_block_diagonal<M: Matrix>(w: &M, n: usize, side: usize) -> Result<()> {
    let (size, pattern) = (dimensions(w), w.as_cbc().pattern);
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

/// The part `part` of a square matrix.
fn triangle<M: Matrix>(m: M, part: Part) -> Result<M> {
    // The arrays of row-major matrices are those of the transpose.
    let below = match part {
        Part::Full => return Ok(m),
        Part::Lower => !M::ROW_MAJOR,
        Part::Upper => M::ROW_MAJOR,
    };
    let view = m.as_cbc();
    let keep = |row: usize, col: usize| if below { row >= col } else { row <= col };
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for col in 0..view.pattern.ncols() {
        for entry in view.pattern.entries(col).filter(|&e| keep(view.pattern.row_idx()[e] as usize, col)) {
            row_idx.push(view.pattern.row_idx()[entry]);
            values.extend_from_slice(view.block(entry));
        }
        col_ptr.push(row_idx.len() as u64);
    }
    let pattern = Pattern::trusted(view.pattern.nrows(), view.pattern.ncols(), col_ptr, row_idx);
    M::from_cbc(Cbc::new(pattern, view.shape, values)?)
}

/// The product A·B of groups. It has a cell if `wanted` gives a part for it and some inner group
/// contributes to it.
fn groups_product<M: Matrix>(
    a: &BlockGroups<M>,
    b: &BlockGroups<M>,
    wanted: impl Fn(usize, usize) -> Option<Part>,
) -> Result<BlockGroups<M>> {
    if a.col_groups() != b.row_groups() {
        let (cols, rows) =
            (crate::groups::describe_groups(a.col_groups()), crate::groups::describe_groups(b.row_groups()));
        return Err(Error::Argument(format!(
            "cannot multiply: A has blocks in groups of {cols} columns, B in groups of {rows} rows"
        )));
    }
    let mut cells = Vec::new();
    for row in 0..a.row_groups().len() {
        for col in 0..b.col_groups().len() {
            let mut terms = Vec::new();
            for k in 0..a.col_groups().len() {
                let (Some(part), Some(x), Some(y)) = (wanted(row, col), a.get(row, k), b.get(k, col)) else { continue };
                terms.push(triangle(multiply(x, y)?, part)?);
            }
            cells.push(sum(terms)?);
        }
    }
    BlockGroups::new(a.row_groups().to_vec(), b.col_groups().to_vec(), cells)
}

/// The sum of matrices of one size and block shape, added in their order in the arithmetic type and
/// rounded once.
fn sum<M: Matrix>(mut terms: Vec<M>) -> Result<Option<M>> {
    if terms.len() < 2 {
        return Ok(terms.pop());
    }
    let views: Vec<CbcView<'_, M::Element>> = terms.iter().map(Matrix::as_cbc).collect();
    let (shape, size) = (views[0].shape, views[0].pattern);
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::<u32>::new(), Vec::new());
    let Algebra { identity, add, .. } = Algebra::<<M::Element as Element>::Arithmetic>::of(Semiring::PlusTimes);
    for col in 0..size.ncols() {
        let mut rows: Vec<u32> = views.iter().flat_map(|view| view.pattern.column(col)).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        for &row in &rows {
            let mut block = vec![identity; shape.area()];
            for view in &views {
                let Ok(found) = view.pattern.column(col).binary_search(&row) else { continue };
                let of_view = view.block(view.pattern.entries(col).start + found);
                block.iter_mut().zip(of_view).for_each(|(sum, x)| *sum = add(*sum, x.widen()));
            }
            values.extend(block.into_iter().map(M::Element::narrow));
        }
        row_idx.extend(rows);
        col_ptr.push(row_idx.len() as u64);
    }
    let pattern = Pattern::trusted(size.nrows(), size.ncols(), col_ptr, row_idx);
    M::from_cbc(Cbc::new(pattern, shape, values)?).map(Some)
}
