//! Products of sparse and dense matrices on the CPU, line after line on all cores.
use super::{Onto, op::Op};
use crate::{
    Arithmetic, BlockShape, Element, Error, Matrix, Result, Semiring,
    element::{Algebra, ElementType, Listed, with_type},
    host::threads,
    matrix::{
        AnyDense, AnyDenseView, AnyDenseViewMut, AnyMatrix, AnyView, DenseShape, DenseView, DenseViewMut, Pattern, Side,
    },
    primitives::segmented_reduce::RUN_PIECE,
    product::Factor,
};
use std::borrow::Cow;

/// Computes C = alpha·op(A)·D + beta·C, or C = alpha·D·op(A) + beta·C with [`Side::Right`]. A is
/// sparse, D is dense, and op(A) is A or its transpose. If beta is 0, C is only written.
///
/// Column j of A·D has the same bits as [`multiply_vector`](super::multiply_vector) with column j
/// of D. Row i of D·A has the same bits as the product of Aᵀ and row i of D.
///
/// ```
/// use blockmul::{Csr, dense::Side, reference::multiply_dense};
/// use nalgebra::dmatrix;
/// let a = Csr::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
/// let (d, mut c) = (dmatrix![1.0, 0.0; 10.0, 1.0; 100.0, 5.0], dmatrix![0.0, 0.0; 1.0, 1.0]);
/// multiply_dense(Side::Left, &a, (&d).into(), (1.0, -1.0), (&mut c).into())?;
/// assert_eq!(c, dmatrix![201.0, 10.0; 29.0, 2.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`] if the sizes of the matrices do not fit.
pub fn multiply_dense<'a, M: Matrix>(
    side: Side,
    a: impl Into<Factor<'a, M>>,
    d: DenseView<'_, M::Element>,
    alpha_beta: (f64, f64),
    c: DenseViewMut<'_, M::Element>,
) -> Result<()> {
    multiply_dense_over(Semiring::PlusTimes, side, a, d, alpha_beta, c)
}

/// Like [`multiply_dense`], with the sums and products of a semiring.
///
/// # Errors
/// The errors of [`multiply_dense`]; [`Error::Argument`] for an element type or for factors alpha
/// and beta that the [`Semiring`] does not support.
pub fn multiply_dense_over<'a, M: Matrix>(
    semiring: Semiring,
    side: Side,
    a: impl Into<Factor<'a, M>>,
    d: DenseView<'_, M::Element>,
    alpha_beta: (f64, f64),
    c: DenseViewMut<'_, M::Element>,
) -> Result<()> {
    dense_of_any(semiring, side, Op::of(a), d.into(), alpha_beta, c.into())
}

/// Computes C = op(A)·D or C = D·op(A), like [`multiply_dense_over`] with alpha 1 and beta 0, for
/// elements whose type is known at run time only. C has the layout of D.
///
/// ```
/// use blockmul::{Csr, Semiring, dense::{AnyDense, Side}, matrix::AnyMatrix, reference};
/// use nalgebra::dmatrix;
/// let a = AnyMatrix::from(Csr::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![2.0f32, 7.0])?);
/// let (plus_times, d) = (Semiring::PlusTimes, AnyDense::from(dmatrix![1.0f32; 10.0]));
/// let c = reference::multiply_any_dense(plus_times, Side::Left, &a, &d)?;
/// assert_eq!(c, dmatrix![20.0f32; 7.0].into());
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`multiply_dense_over`]; [`Error::Argument`] if the element types differ;
/// [`Error::Memory`] if C does not fit the host.
pub fn multiply_any_dense<'a>(
    semiring: Semiring,
    side: Side,
    a: impl Into<Factor<'a, AnyMatrix>>,
    d: &AnyDense,
) -> Result<AnyDense> {
    any_dense(semiring, side, Op::of(a), d, None)
}

/// Computes op(A)·D + beta·C or D·op(A) + beta·C for elements whose type is known at run time only,
/// like [`multiply_any_dense`]. The old contents of C are in the layout of D.
///
/// # Errors
/// The errors of [`multiply_any_dense`]; [`Error::Argument`] for a beta that the [`Semiring`] does
/// not support; [`Error::Length`] if the number of old contents is wrong.
pub fn multiply_any_dense_onto<'a>(
    semiring: Semiring,
    side: Side,
    a: impl Into<Factor<'a, AnyMatrix>>,
    d: &AnyDense,
    onto: Onto<'_>,
) -> Result<AnyDense> {
    any_dense(semiring, side, Op::of(a), d, Some(onto))
}

fn any_dense(semiring: Semiring, side: Side, a: Op<'_>, d: &AnyDense, onto: Option<Onto<'_>>) -> Result<AnyDense> {
    let element = a.element();
    for (name, of) in [("D", Some(d.element())), ("C", onto.map(|onto| onto.old.element()))] {
        if let Some(of) = of.filter(|&of| of != element) {
            return Err(Error::Argument(format!("{name} has elements of {of}, A has elements of {element}")));
        }
    }
    let (rows, cols) = a.scalar_sides();
    let DenseShape { layout, .. } = d.shape();
    let sides = if side == Side::Left { (rows, d.shape().cols) } else { (d.shape().rows, cols) };
    let mut c = match onto {
        Some(onto) => AnyDense::new(DenseShape::new(sides.0, sides.1, layout), onto.old.clone())?,
        None => AnyDense::zeros(element, sides, layout)?,
    };
    let beta = onto.map_or(0.0, |onto| onto.beta);
    dense_of_any(semiring, side, a, d.view(), (1.0, beta), c.view_mut())?;
    Ok(c)
}

fn dense_of_any(
    semiring: Semiring,
    side: Side,
    a: Op<'_>,
    d: AnyDenseView<'_>,
    (alpha, beta): (f64, f64),
    c: AnyDenseViewMut<'_>,
) -> Result<()> {
    semiring.check_type(a.element())?;
    semiring.check_factors_of(a.element(), alpha, beta)?;
    // D·A is the transpose of Aᵀ·Dᵀ.
    let (of_rows, semiring, d, c) = match side {
        Side::Left => (a.of_rows(), semiring, d, c),
        Side::Right => (a.t().of_rows(), semiring.mirrored(), d.transposed(), c.transposed()),
    };
    with_type!(a.element(), T => match (T::of_any_slice(a.arrays.values), T::of_any_slice_mut(c.values)) {
        (Some(values), Some(of_c)) => {
            let (d, c) = (d.typed()?, DenseViewMut::new(c.shape, of_c)?);
            multiply_lines(semiring, Lines::new(a.arrays, values, of_rows), d, (alpha, beta), c)
        }
        _ => unreachable!("the dense matrices have the elements of the sparse one"),
    })
}

/// Computes C = alpha·L·D + beta·C. The rows of L are `lines`, the rows or columns of a matrix that
/// is stored in any order.
fn multiply_lines<T: Element>(
    semiring: Semiring,
    lines: Lines<'_, T>,
    d: DenseView<'_, T>,
    (alpha, beta): (f64, f64),
    c: DenseViewMut<'_, T>,
) -> Result<()> {
    let (rows, inner) = (lines.pattern.ncols() * lines.width, lines.pattern.nrows() * lines.depth);
    let meet = (d.shape().rows, c.shape.rows, c.shape.cols) == (inner, rows, d.shape().cols);
    if !meet {
        let of = |shape: DenseShape| format!("{}x{}", shape.rows, shape.cols);
        return Err(Error::Argument(format!(
            "{rows}x{inner} scalars times a dense matrix of {} do not make one of {}",
            of(d.shape()),
            of(c.shape)
        )));
    }
    let algebra = Algebra::of(semiring);
    let [scale, factor] = [alpha, beta].map(T::Arithmetic::nearest);
    let n = d.shape().cols;
    // Only some rows are summed at a time, so that memory does not hold the sums of the whole of C
    // besides C.
    for first in (0..rows).step_by(ROWS_AT_ONCE) {
        let some = first..rows.min(first + ROWS_AT_ONCE);
        let mut sums = vec![Vec::new(); some.len()];
        threads::for_each(sums.iter_mut().zip(some.clone()), |(sums, row)| *sums = lines.sums(&algebra, row, d));
        for (row, sums) in some.zip(sums) {
            for (col, sum) in (0..n).zip(sums) {
                let value = &mut c.values[c.shape.at(row, col)];
                let scaled = scale.times(sum);
                *value = T::narrow(match beta == 0.0 {
                    true => scaled,
                    false => (algebra.add)(scaled, factor.times(value.widen())),
                });
            }
        }
    }
    Ok(())
}

/// Number of rows of C whose sums are computed before they are written.
const ROWS_AT_ONCE: usize = 1 << 14;

/// The lines of a matrix's arrays: its columns, or its rows.
struct Lines<'a, T> {
    shape: BlockShape,
    stride: usize,
    values: &'a [T],
    of_rows: bool,
    pattern: Cow<'a, Pattern>,
    /// The index in A of each entry of the lines, if the lines are rows of the arrays.
    source: Option<Vec<usize>>,
    /// Number of scalar lines in a line of blocks.
    width: usize,
    /// Number of scalars of a block along the line.
    depth: usize,
}

impl<'a, T: Element> Lines<'a, T> {
    fn new(a: AnyView<'a>, values: &'a [T], of_rows: bool) -> Self {
        let AnyView { shape, stride, pattern, .. } = a;
        let (rows, cols) = (shape.rows(), shape.cols());
        if !of_rows {
            let pattern = Cow::Borrowed(pattern);
            return Self { shape, stride, values, of_rows, pattern, source: None, width: cols, depth: rows };
        }
        let (pattern, source) = pattern.transpose();
        let (pattern, source) = (Cow::Owned(pattern), Some(source));
        Self { shape, stride, values, of_rows, pattern, source, width: rows, depth: cols }
    }

    /// Multiplies one scalar row by each column of D. The terms are added in ascending order, in
    /// pieces of [`RUN_PIECE`] entries (blocks).
    fn sums(&self, algebra: &Algebra<T::Arithmetic>, row: usize, d: DenseView<'_, T>) -> Vec<T::Arithmetic> {
        let n = d.shape().cols;
        let (line, number) = (row / self.width, row % self.width);
        let entries = self.pattern.entries(line);
        let mut sums = vec![if entries.is_empty() { algebra.empty } else { algebra.identity }; n];
        let mut piece = vec![algebra.identity; n];
        for first in entries.clone().step_by(RUN_PIECE) {
            piece.fill(algebra.identity);
            for entry in first..entries.end.min(first + RUN_PIECE) {
                let entry_of_a = self.source.as_ref().map_or(entry, |source| source[entry]);
                let block = &self.values[entry_of_a * self.stride..][..self.shape.area()];
                let across = self.pattern.row_idx()[entry] as usize * self.depth;
                for k in 0..self.depth {
                    let element = if self.of_rows { k * self.width + number } else { number * self.depth + k };
                    let value = block[element].widen();
                    for (col, sum) in piece.iter_mut().enumerate() {
                        let term = (algebra.multiply)(value, d.get(across + k, col).widen());
                        *sum = (algebra.add)(*sum, term);
                    }
                }
            }
            sums.iter_mut().zip(&piece).for_each(|(sum, &part)| *sum = (algebra.add)(*sum, part));
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape, Bsr, Cbc, element::Order, generate::Random, matrix::Layout, reference::multiply_vector_over,
    };
    use nalgebra::DMatrix;

    /// A matrix with lines of 0 to 4 blocks, and with a line of more than two pieces of 1024
    /// blocks.
    fn matrix() -> Result<Cbc<f32>> {
        let (shape, mut random) = (BlockShape::new(2, 3)?, Random::new(5));
        let places = (0..2100).map(|k| (3, k)).chain((0..40).map(|k| (k % 7, 50 * k)).filter(|&(i, _)| i != 3));
        let block = |random: &mut Random| DMatrix::from_fn(2, 3, |_, _| (2.0 * random.unit() - 1.0) as f32);
        let entries: Vec<_> = places.map(|(i, j)| (i, j, block(&mut random))).collect();
        Cbc::from_triplets(8, 2100, shape, entries)
    }

    #[test]
    fn columns_and_rows_have_the_bits_of_products_with_vectors() -> Result<()> {
        let a = matrix()?;
        same_as_vectors(&a)?;
        same_as_vectors(&Bsr::from_transpose(a.transpose()))
    }

    fn same_as_vectors<M: Matrix<Element = f32>>(a: &M) -> Result<()> {
        let view = a.as_cbc();
        let sides = (view.pattern.nrows() * view.shape.rows(), view.pattern.ncols() * view.shape.cols());
        let (rows, cols) = if M::ROW_MAJOR { (sides.1, sides.0) } else { sides };
        for (transposed, semiring) in
            [(false, Semiring::PlusTimes), (true, Semiring::MinPlus), (false, Semiring::PlusFirst)]
        {
            let (lines, inner) = if transposed { (cols, rows) } else { (rows, cols) };
            let number = |i: usize, j: usize| ((i * 37 + j * 101) % 97) as f32 * 0.31 - 15.0;
            let factors = if semiring == Semiring::PlusTimes { (0.7, -1.3) } else { (1.0, 1.0) };
            for layout in Layout::ALL {
                let shape = |rows, cols| DenseShape::new(rows, cols, *layout);
                let by = |shape: DenseShape| -> Vec<f32> {
                    let mut values = vec![0.0; shape.len()];
                    for (i, j) in (0..shape.rows).flat_map(|i| (0..shape.cols).map(move |j| (i, j))) {
                        values[shape.at(i, j)] = number(i, j);
                    }
                    values
                };
                // Computes A·D, and D·Aᵀ with the factors of every product swapped.
                for (side, semiring) in [(Side::Left, semiring), (Side::Right, semiring.mirrored())] {
                    let of_left = |shape: DenseShape| if side == Side::Left { shape } else { shape.transposed() };
                    let (d_shape, c_shape) = (of_left(shape(inner, 3)), of_left(shape(lines, 3)));
                    let (d, mut c) = (by(d_shape), by(c_shape));
                    let (d, before) = (DenseView::new(d_shape, &d)?, c.clone());
                    let op = Factor { operand: a, transposed: transposed == (side == Side::Left) };
                    multiply_dense_over(semiring, side, op, d, factors, DenseViewMut::new(c_shape, &mut c)?)?;
                    for number in 0..3 {
                        let place = |shape: DenseShape, k| of_left(shape).at(k, number);
                        let x: Vec<f32> = (0..inner).map(|k| d.values()[place(d_shape, k)]).collect();
                        let mut y: Vec<f32> = (0..lines).map(|k| before[place(c_shape, k)]).collect();
                        let algebra = if side == Side::Left { semiring } else { semiring.mirrored() };
                        let op = Factor { operand: a, transposed };
                        multiply_vector_over(algebra, Order::Ascending, op, &x, factors, &mut y)?;
                        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                        let found: Vec<f32> = (0..lines).map(|k| c[place(c_shape, k)]).collect();
                        assert_eq!(bits(&found), bits(&y), "{side:?} {transposed} {semiring} {layout} {number}");
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn sides_that_do_not_meet_are_refused() -> Result<()> {
        let a = matrix()?;
        let (d, mut c) = (DMatrix::zeros(6300, 2), DMatrix::zeros(16, 3));
        let refused = multiply_dense(Side::Left, &a, (&d).into(), (1.0, 0.0), (&mut c).into());
        let expected = "16x6300 scalars times a dense matrix of 6300x2 do not make one of 16x3";
        assert_eq!(refused.unwrap_err().to_string(), expected);
        Ok(())
    }
}
