//! JᵀJ, JᵀWJ and products of matrices of groups on the CPU, with the same bits as the plans on
//! devices.
use super::{
    multiply_any,
    op::Op,
    vectors::vector_of_any,
    weighted::{AnyWeights, untyped, weighted},
};
use crate::{
    BlockGroups, BlockShape, Error, GramParts, Matrix, Part, Pattern, Result, Semiring, Weights,
    element::{Algebra, AnySlice, AnyValues, ElementType, Listed, Order, Widened},
    groups::Cells,
    matrix::{AnyMatrix, AnyView, HostMatrix, Kind, MatrixKind, MatrixType},
    product::Factor,
};

/// H = JᵀJ or a triangle of it, as [`Product::gram`](crate::Product::gram) computes it.
///
/// # Errors
/// The errors of [`multiply`](super::multiply).
pub fn gram<M: HostMatrix>(j: &M, part: Part) -> Result<M> {
    M::from_any(gram_any(j.view(), part)?)
}

/// Computes JᵀJ like [`gram`], for borrowed arrays whose element type and format are known at run
/// time only.
///
/// # Errors
/// The errors of [`gram`].
pub fn gram_any<'a>(j: impl Into<AnyView<'a>>, part: Part) -> Result<AnyMatrix> {
    let j = j.into();
    Ok(multiply_any(Semiring::PlusTimes, j.transposed().view(), j)?.triangle(part))
}

/// H = JᵀWJ or a triangle of it, with a block-diagonal W, as a weighted
/// [`Product::gram`](crate::Product::gram) computes it.
///
/// # Errors
/// The errors of [`multiply`](super::multiply); [`Error::Argument`] unless there is one information
/// matrix on the diagonal for each block row of J; [`Error::Length`] for too few or too many
/// weights.
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
    let j = AnyView::from(j);
    let t = weighted(j, untyped(weights))?;
    multiply_any(Semiring::PlusTimes, j.transposed().view(), t.view())?.triangle(part).typed()
}

/// Computes y = Jᵀ·(W·(J·x)) like [`ApplyGram`](crate::plan::ApplyGram). The sums of the products
/// with J and with Jᵀ are added as in [`multiply_vector`](super::multiply_vector). If W has blocks,
/// an element of W·(J·x) is a sum over a row of a block, in ascending order. If W has no blocks, an
/// element of W·(J·x) is an element of J·x, multiplied by its weight if there is one.
///
/// # Errors
/// The errors of [`multiply_vector_over`](super::multiply_vector_over) and [`gram_weighted`].
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
    multiply_vector_gram_over(Semiring::PlusTimes, [Order::Ascending; 2], j, weights, x)
}

/// Like [`multiply_vector_gram`], with the sums and products of a semiring. `orders` are the orders
/// of the sums in J·x and in the product with Jᵀ. J may be given as a transpose. The first factor
/// of each product is an element of J.
///
/// ```
/// use blockmul::{Csc, Semiring, element::Order, reference::multiply_vector_gram_over};
/// // Edges of lengths 2 and 3 from 0 to 1 and 2. y has the shortest ways there and back.
/// let j = Csc::from_triplets(3, 3, [(1, 0, 2.0), (2, 0, 3.0)])?;
/// let (far, ascending) = (f64::INFINITY, [Order::Ascending; 2]);
/// let x = [0.0, 1.0, far];
/// let y = multiply_vector_gram_over(Semiring::MinPlus, ascending, &j, None, &x)?;
/// assert_eq!(y, [4.0, far, far]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`multiply_vector_over`](super::multiply_vector_over) and [`gram_weighted`];
/// [`Error::Argument`] for weights with another semiring than [`Semiring::PlusTimes`].
pub fn multiply_vector_gram_over<'a, M: Matrix>(
    semiring: Semiring,
    orders: [Order; 2],
    j: impl Into<Factor<'a, M>>,
    weights: Option<Weights<&M, &[M::Element]>>,
    x: &[M::Element],
) -> Result<Vec<M::Element>> {
    let (weights, x) = (weights.map(untyped), M::Element::any_slice(x));
    Ok(multiply_any_gram(semiring, orders, Op::of(j), weights, x)?.of_same())
}

/// Like [`multiply_vector_gram_over`], for elements whose type is known at run time only.
///
/// # Errors
/// The errors of [`multiply_vector_gram_over`]; [`Error::Argument`] if element types differ, or if
/// one matrix is stored by rows and another by columns.
pub fn multiply_any_vector_gram<'a>(
    semiring: Semiring,
    orders: [Order; 2],
    j: impl Into<Factor<'a, AnyMatrix>>,
    weights: Option<Weights<&AnyMatrix, &AnyValues>>,
    x: &AnyValues,
) -> Result<AnyValues> {
    let j = Op::of(j);
    let (found, element) = (x.element(), j.element());
    let weights = weights.map(|weights| borrowed(MatrixType::of(j.arrays), weights)).transpose()?;
    if found != element {
        return Err(Error::Argument(format!("a vector of {found} for a matrix of {element}")));
    }
    multiply_any_gram(semiring, orders, j, weights, x.borrow())
}

fn multiply_any_gram(
    semiring: Semiring,
    [forward, back]: [Order; 2],
    j: Op<'_>,
    weights: Option<AnyWeights<'_>>,
    x: AnySlice<'_>,
) -> Result<AnyValues> {
    let (size, (rows, cols)) = (j.arrays.dimensions(), j.scalar_sides());
    let side = if j.transposed { size.block_cols } else { size.block_rows };
    let zeros = |len| AnyValues::zeros(j.element(), len);
    let mut t = vector_of_any(semiring, forward, j, x, (1.0, 0.0), zeros(rows).borrow())?;
    if let Some(weights) = weights {
        semiring.check_weights()?;
        t = weighted(column(j.arrays.kind, (rows / side, side), t)?.view(), weights)?.into_parts().1;
    }
    vector_of_any(semiring, back, j.t(), t.borrow(), (1.0, 0.0), zeros(cols).borrow())
}

/// A vector as a matrix of one column, of blocks with `side` rows.
fn column(kind: MatrixKind, (rows, side): (usize, usize), values: AnyValues) -> Result<AnyMatrix> {
    let (pattern, shape) = match kind.is_row_major() {
        true => (Pattern::new(1, rows, (0..=rows as u64).collect(), vec![0; rows])?, BlockShape::new(1, side)?),
        false => (Pattern::new(rows, 1, vec![0, rows as u64], (0..rows as u32).collect())?, BlockShape::new(side, 1)?),
    };
    Ok(AnyMatrix::of_arrays(kind, pattern, shape, side, values))
}

/// Computes C = A·B for matrices of groups, like [`Product::of`](crate::Product::of).
///
/// # Errors
/// The errors of [`multiply`](super::multiply); [`Error::Argument`] if the groups of A's columns
/// differ from the groups of B's rows.
pub fn multiply_groups<M: HostMatrix>(a: &BlockGroups<M>, b: &BlockGroups<M>) -> Result<BlockGroups<M>> {
    groups_product(a, b, |_, _| Some(Part::Full))
}

/// Computes H = JᵀJ for a matrix of groups, like [`Product::gram`](crate::Product::gram).
///
/// # Errors
/// The errors of [`multiply`](super::multiply).
pub fn gram_groups<M: HostMatrix>(j: &BlockGroups<M>, parts: impl Into<GramParts>) -> Result<BlockGroups<M>> {
    let parts = parts.into();
    groups_product(&j.transpose(), j, |row, col| parts.of(row, col))
}

/// Computes H = JᵀWJ for a matrix of groups, with weights for each group of rows, like a weighted
/// [`Product::gram`](crate::Product::gram).
///
/// # Errors
/// The errors of [`gram_weighted`]; [`Error::Length`] if there are weights for more or fewer
/// groups.
pub fn gram_groups_weighted<M: Matrix>(
    j: &BlockGroups<M>,
    weights: &[Weights<&M, &[M::Element]>],
    parts: impl Into<GramParts>,
) -> Result<BlockGroups<M>> {
    groups_weighted(j, weights.iter().copied().map(untyped).collect(), parts.into())
}

/// Like [`gram_groups_weighted`], for elements whose type is known at run time only.
///
/// ```
/// use blockmul::{Csc, Part, element::AnyValues, groups::BlockGroups, product::Weights};
/// use blockmul::{matrix::AnyMatrix, reference::gram_any_groups_weighted};
/// let j = AnyMatrix::from(Csc::from_triplets(2, 1, [(0, 0, 1.0f32), (1, 0, 3.0)])?);
/// let (j, weights) = (BlockGroups::side_by_side([j])?, AnyValues::F32(vec![1.0, 10.0]));
/// let h = gram_any_groups_weighted(&j, &[Weights::Rows(&weights)], Part::Full)?;
/// assert_eq!(h.get(0, 0).unwrap().values(), &AnyValues::F32(vec![91.0]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`gram_groups_weighted`]; [`Error::Argument`] if element types differ, or if one
/// matrix is stored by rows and another by columns.
pub fn gram_any_groups_weighted(
    j: &BlockGroups<AnyMatrix>,
    weights: &[Weights<&AnyMatrix, &AnyValues>],
    parts: impl Into<GramParts>,
) -> Result<BlockGroups<AnyMatrix>> {
    let weights = weights.iter().map(|weights| borrowed(j.of, *weights)).collect::<Result<_>>()?;
    groups_weighted(j, weights, parts.into())
}

/// Borrows the weights. Refuses weights whose element type or order (by rows or by columns) differs
/// from that of J.
fn borrowed<'a>(of: MatrixType<AnyMatrix>, weights: Weights<&'a AnyMatrix, &'a AnyValues>) -> Result<AnyWeights<'a>> {
    let (information, numbers) = weights.parts();
    if let Some(w) = information {
        of.check("W", MatrixType::of(w.view()))?;
    }
    match numbers.map(AnyValues::element).filter(|&found| found != of.element) {
        Some(found) => Err(Error::Argument(format!("weights of {found} for a matrix of {}", of.element))),
        None => Ok(weights.map(AnyMatrix::view, AnyValues::borrow)),
    }
}

fn groups_weighted<M: HostMatrix>(
    j: &BlockGroups<M>,
    weights: Vec<AnyWeights<'_>>,
    parts: GramParts,
) -> Result<BlockGroups<M>> {
    let (found, expected) = (weights.len(), j.row_groups().len());
    if found != expected {
        let why = "one for each group of rows of J".into();
        return Err(Error::Length { array: "weights", found, expected, why });
    }
    let of_cell = |(row, _): (usize, usize), m: &M| M::from_any(weighted(m.view(), weights[row])?);
    let t = BlockGroups { cells: j.cells.try_map_places(of_cell)?, of: j.of };
    groups_product(&j.transpose(), &t, |row, col| parts.of(row, col))
}

/// The product A·B of groups. Cell (i, j) exists if `wanted(i, j)` gives a part and A(i, k) and
/// B(k, j) exist for some group k.
fn groups_product<M: HostMatrix>(
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
    let of = a.of.times(b.of)?;
    let mut cells = Vec::new();
    for row in 0..a.row_groups().len() {
        for col in 0..b.col_groups().len() {
            let mut terms = Vec::new();
            for k in 0..a.col_groups().len() {
                let (Some(part), Some(x), Some(y)) = (wanted(row, col), a.get(row, k), b.get(k, col)) else { continue };
                terms.push(multiply_any(Semiring::PlusTimes, x.view(), y.view())?.triangle(part));
            }
            cells.push(sum(terms).map(|cell| M::from_any(cell.of_kind(of.kind.get()))).transpose()?);
        }
    }
    let (rows, cols) = (a.row_groups().to_vec(), b.col_groups().to_vec());
    Ok(BlockGroups { cells: Cells::new(rows, cols, cells, |m| m.view().dimensions())?, of })
}

/// The sum of matrices of one size and block shape, added in their order in the arithmetic type and
/// rounded once.
fn sum(mut terms: Vec<AnyMatrix>) -> Option<AnyMatrix> {
    if terms.len() < 2 {
        return terms.pop();
    }
    let views: Vec<AnyView<'_>> = terms.iter().map(AnyMatrix::view).collect();
    Some(match views[0].element() {
        ElementType::F64 => sum_of::<f64>(&views),
        ElementType::F32 | ElementType::F16 => sum_of::<f32>(&views),
        ElementType::U32 | ElementType::U8 => sum_of::<u32>(&views),
        ElementType::I32 => sum_of::<i32>(&views),
    })
}

fn sum_of<N: Widened>(views: &[AnyView<'_>]) -> AnyMatrix {
    let AnyView { shape, pattern: size, kind, .. } = views[0];
    let numbers: Vec<_> = views.iter().filter_map(|view| N::widened(view.values)).collect();
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::<u32>::new(), Vec::new());
    let Algebra { identity, add, .. } = Algebra::<N>::of(Semiring::PlusTimes);
    for col in 0..size.ncols() {
        let mut rows: Vec<u32> = views.iter().flat_map(|view| view.pattern.column(col)).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        for &row in &rows {
            let mut block = vec![identity; shape.area()];
            for (view, numbers) in views.iter().zip(&numbers) {
                let Ok(found) = view.pattern.column(col).binary_search(&row) else { continue };
                let of_view = &numbers[(view.pattern.entries(col).start + found) * view.stride..];
                block.iter_mut().zip(of_view).for_each(|(sum, &x)| *sum = add(*sum, x));
            }
            values.extend(block);
        }
        row_idx.extend(rows);
        col_ptr.push(row_idx.len() as u64);
    }
    let pattern = Pattern::trusted(size.nrows(), size.ncols(), col_ptr, row_idx);
    AnyMatrix::of_arrays(kind, pattern, shape, shape.area(), N::narrowed(values, views[0].element()))
}
