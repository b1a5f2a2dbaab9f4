//! Operations of matrices with vectors on the CPU, one loop for each formula. The device's sums are
//! compared with them bit for bit.
use super::segmented_scan;
use crate::{
    Arithmetic, BlockShape, Cbc, Element, Error, Field, Matrix, Pattern, Result, Semiring,
    element::{Algebra, Order, VectorElement},
    matrix::CbcView,
    primitives::segmented_reduce::RUN_PIECE,
    vector::DOT_PIECE,
};
use nalgebra::{ComplexField, convert_unchecked};
use std::borrow::Cow;

/// Computes y = alpha·A·x + beta·y; if beta is 0, y is only written.
///
/// The terms of an element are added in ascending place in x, each multiplication rounded before
/// its result is added. The sum is cut every 1024 entries (blocks) of the row, and the pieces are
/// added left to right. Vectors may have another element type than A, see [`VectorElement`].
///
/// ```
/// use blockmul::{Csr, reference};
/// let a = Csr::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
/// let mut y = [1.0, 1.0];
/// reference::multiply_vector(2.0, &a, &[1.0, 10.0, 100.0], -1.0, &mut y)?;
/// assert_eq!(y, [401.0, 59.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`] if x or y does not have as many elements as A has scalar columns or rows.
pub fn multiply_vector<M: Matrix, V: VectorElement<M::Element>>(
    alpha: f64,
    a: &M,
    x: &[V],
    beta: f64,
    y: &mut [V],
) -> Result<()> {
    multiply_vector_in(Order::Ascending, false, (alpha, a, x), (beta, y))
}

/// Computes y = alpha·Aᵀ·x + beta·y, as [`multiply_vector`].
///
/// # Errors
/// As [`multiply_vector`].
pub fn multiply_vector_transposed<M: Matrix, V: VectorElement<M::Element>>(
    alpha: f64,
    a: &M,
    x: &[V],
    beta: f64,
    y: &mut [V],
) -> Result<()> {
    multiply_vector_in(Order::Ascending, true, (alpha, a, x), (beta, y))
}

/// Computes y = alpha·op(A)·x + beta·y, where op(A) is A or its transpose, with the sums in an
/// order.
///
/// ```
/// use blockmul::{Csr, element::Order, reference::multiply_vector_in};
/// // 2^53 and 33 ones: lane 0 adds the first and the last of them to 2^53, one at a time.
/// let values = [vec![9007199254740992.0], vec![1.0; 33]].concat();
/// let a = Csr::new(1, 34, vec![0, 34], (0..34).collect(), values)?;
/// let (mut ascending, mut lanes) = ([0.0], [0.0]);
/// let ones = [1.0; 34];
/// multiply_vector_in(Order::Ascending, false, (1.0, &a, &ones), (0.0, &mut ascending))?;
/// multiply_vector_in(Order::Lanes, false, (1.0, &a, &ones), (0.0, &mut lanes))?;
/// assert_eq!(ascending, [9007199254740992.0]);
/// assert_eq!(lanes, [9007199254740992.0 + 32.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// [`Order::Arrival`] has no sums of its own: those are in ascending order, from which the device's
/// differ by rounding.
///
/// # Errors
/// As [`multiply_vector`]; [`Error::Argument`] for blocks in another order than
/// [`Order::Ascending`].
pub fn multiply_vector_in<M: Matrix, V: VectorElement<M::Element>>(
    order: Order,
    transposed: bool,
    ax: (f64, &M, &[V]),
    y: (f64, &mut [V]),
) -> Result<()> {
    multiply_vector_over(Semiring::PlusTimes, order, transposed, ax, y)
}

/// As [`multiply_vector_in`], with the sums and products of a semiring. The first factor of a
/// product is A's.
///
/// ```
/// use blockmul::{Csr, Semiring, element::Order, reference::multiply_vector_over};
/// // Edges from 0 to 1 and from 1 to 0, of lengths 7 and 2; it is 1 to node 0, and 10 to node 1.
/// let g = Csr::new(2, 2, vec![0, 1, 2], vec![1, 0], vec![2.0, 7.0])?;
/// let (far, mut near) = ([1.0, 10.0], [1.0, 10.0]);
/// let (min_plus, ascending) = (Semiring::MinPlus, Order::Ascending);
/// multiply_vector_over(min_plus, ascending, false, (1.0, &g, &far), (1.0, &mut near))?;
/// assert_eq!(near, [1.0, 8.0]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// As [`multiply_vector_in`]; [`Error::Argument`] for an element type or for factors alpha and beta
/// that the [`Semiring`] does not have.
pub fn multiply_vector_over<M: Matrix, V: VectorElement<M::Element>>(
    semiring: Semiring,
    order: Order,
    transposed: bool,
    (alpha, a, x): (f64, &M, &[V]),
    (beta, y): (f64, &mut [V]),
) -> Result<()> {
    semiring.check::<M::Element>()?;
    semiring.check_factors::<V>(alpha, beta)?;
    let mut lines = Lines::new(a.as_cbc(), transposed == M::ROW_MAJOR);
    if order != Order::Ascending && a.as_cbc().shape != BlockShape::SCALAR {
        return Err(Error::Argument(format!("{order:?} is an order of scalars, A has blocks of {}", a.as_cbc().shape)));
    }
    lines.order = order;
    multiply_lines(&Algebra::of(semiring), lines, (alpha, x), (beta, y))
}

/// The 2-norm of every scalar column. Squares are added as the terms of [`multiply_vector`] are,
/// and the root is rounded to nearest.
pub fn column_norms<M: Matrix<Element: Field>>(a: &M) -> Vec<M::Element> {
    roots(squares(a.as_cbc(), M::ROW_MAJOR, false))
}

/// The 2-norm of every scalar row.
pub fn row_norms<M: Matrix<Element: Field>>(a: &M) -> Vec<M::Element> {
    roots(squares(a.as_cbc(), !M::ROW_MAJOR, false))
}

/// The Frobenius norm of every block column. Inside a block the squares are added in the order in
/// which its elements are stored.
pub fn block_column_norms<M: Matrix<Element: Field>>(a: &M) -> Vec<M::Element> {
    roots(squares(a.as_cbc(), M::ROW_MAJOR, true))
}

/// The Frobenius norm of every block row.
pub fn block_row_norms<M: Matrix<Element: Field>>(a: &M) -> Vec<M::Element> {
    roots(squares(a.as_cbc(), !M::ROW_MAJOR, true))
}

/// The product A·diag(d).
///
/// # Errors
/// [`Error::Length`] if d does not have as many elements as A has scalar columns.
pub fn scale_columns<M: Matrix<Element: Field>>(a: &M, d: &[M::Element]) -> Result<M> {
    scale(a, d, M::ROW_MAJOR)
}

/// The product diag(d)·A.
///
/// # Errors
/// [`Error::Length`] if d does not have as many elements as A has scalar rows.
pub fn scale_rows<M: Matrix<Element: Field>>(a: &M, d: &[M::Element]) -> Result<M> {
    scale(a, d, !M::ROW_MAJOR)
}

/// The blocks on the diagonal of a square matrix of square blocks, as a matrix. Blocks that are not
/// stored are zero.
///
/// # Errors
/// [`Error::Argument`] if the matrix or its blocks are not square.
pub fn diagonal<M: Matrix>(a: &M) -> Result<M> {
    let a = a.as_cbc();
    let (n, area) = (a.pattern.ncols(), a.shape.area());
    if a.pattern.nrows() != n || a.shape.rows() != a.shape.cols() {
        return Err(Error::Argument(format!(
            "{}x{n} blocks of {}: not square, it has no diagonal",
            a.pattern.nrows(),
            a.shape
        )));
    }
    let mut values = vec![M::Element::from_f64(0.0); n * area];
    for (col, block) in values.chunks_exact_mut(area).enumerate() {
        let on_diagonal = |&entry: &usize| a.pattern.row_idx()[entry] as usize == col;
        if let Some(entry) = a.pattern.entries(col).find(on_diagonal) {
            block.copy_from_slice(a.block(entry));
        }
    }
    let pattern = Pattern::trusted(n, n, (0..=n as u64).collect(), (0..n as u32).collect());
    M::from_cbc(Cbc::new(pattern, a.shape, values)?)
}

/// The dot product. Products are rounded, then summed 1024 at a time by halving; the sums are
/// summed in the same way until one is left.
///
/// # Errors
/// [`Error::Length`] if the vectors have different lengths.
pub fn dot<T: Field>(x: &[T], y: &[T]) -> Result<f64> {
    check_len("y", y.len(), x.len())?;
    if x.is_empty() {
        return Ok(0.0);
    }
    let fold = |terms: &[T::Arithmetic]| {
        let mut sums = vec![T::Arithmetic::NEUTRAL; DOT_PIECE];
        sums[..terms.len()].copy_from_slice(terms);
        while sums.len() > 1 {
            let second = sums.split_off(sums.len() / 2);
            sums.iter_mut().zip(second).for_each(|(sum, other)| *sum += other);
        }
        sums[0]
    };
    let mut sums: Vec<_> = x.iter().zip(y).map(|(x, y)| x.widen() * y.widen()).collect();
    loop {
        sums = sums.chunks(DOT_PIECE).map(fold).collect();
        if let [sum] = sums[..] {
            return Ok(convert_unchecked(sum));
        }
    }
}

fn check_len(array: &'static str, found: usize, expected: usize) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::Length { array, found, expected, why: "the other operand's side".into() }),
    }
}

/// The lines of a matrix's arrays: its columns, or its rows.
struct Lines<'a, T> {
    a: CbcView<'a, T>,
    rows: bool,
    pattern: Cow<'a, Pattern>,
    source: Option<Vec<usize>>,
    order: Order,
}

impl<'a, T: Element> Lines<'a, T> {
    fn new(a: CbcView<'a, T>, rows: bool) -> Self {
        match rows {
            true => {
                let (pattern, source) = a.pattern.transpose();
                Self { a, rows, pattern: Cow::Owned(pattern), source: Some(source), order: Order::Ascending }
            }
            false => Self { a, rows, pattern: Cow::Borrowed(a.pattern), source: None, order: Order::Ascending },
        }
    }

    /// Scalar lines in a line of blocks, and scalars of a block across the line.
    fn sides(&self) -> (usize, usize) {
        let (rows, cols) = (self.a.shape.rows(), self.a.shape.cols());
        if self.rows { (rows, cols) } else { (cols, rows) }
    }

    /// For each scalar line (each line of blocks if `whole`) the sum of `term(value, place
    /// across)`.
    fn sums<V: Arithmetic>(&self, algebra: &Algebra<V>, whole: bool, term: impl Fn(T, usize) -> V) -> Vec<V> {
        let (width, depth) = self.sides();
        let mut sums = Vec::new();
        for line in 0..self.pattern.ncols() {
            let entries: Vec<usize> = self.pattern.entries(line).collect();
            for number in 0..if whole { 1 } else { width } {
                let elements: Vec<usize> = match (whole, self.rows) {
                    (true, _) => (0..width * depth).collect(),
                    (_, true) => (0..depth).map(|k| k * width + number).collect(),
                    (_, false) => (0..depth).map(|k| number * depth + k).collect(),
                };
                let sum = |entries: &mut dyn Iterator<Item = &usize>| {
                    let terms = entries.flat_map(|&entry| {
                        let block = self.a.block(self.source.as_ref().map_or(entry, |source| source[entry]));
                        let across = self.pattern.row_idx()[entry] as usize * depth;
                        let elements = elements.iter().enumerate();
                        elements.map(move |(k, &element)| (block[element], across + k % depth))
                    });
                    algebra.sum(terms.map(|(value, across)| term(value, across)))
                };
                sums.push(match self.order {
                    Order::Ascending | Order::Arrival => {
                        algebra.sum(entries.chunks(RUN_PIECE).map(|piece| sum(&mut piece.iter())))
                    }
                    Order::Tiles => {
                        let tiles = entries.chunk_by(|one, next| one / Order::TILE == next / Order::TILE);
                        algebra.sum(tiles.map(|tile| sum(&mut tile.iter())))
                    }
                    Order::Scan => {
                        let terms: Vec<_> = entries.iter().map(|entry| (*entry, sum(&mut [*entry].iter()))).collect();
                        segmented_scan::sum(algebra, &terms)
                    }
                    Order::Shared => {
                        algebra.sum(entries.chunks(RUN_PIECE).map(|piece| match piece.len() > Order::LONG {
                            true => algebra.sum(lanes(piece, Order::LANES, algebra.identity, &sum)),
                            false => sum(&mut piece.iter()),
                        }))
                    }
                    Order::FewLanes => match entries.is_empty() {
                        true => algebra.empty,
                        false => algebra.sum(lanes(&entries, Order::FEW_LANES, algebra.identity, &sum)),
                    },
                    Order::Lanes => {
                        if entries.is_empty() {
                            sums.push(algebra.empty);
                            continue;
                        }
                        let mut lanes: Vec<_> = lanes(&entries, Order::LANES, algebra.identity, &sum).collect();
                        while lanes.len() > 1 {
                            let second = lanes.split_off(lanes.len() / 2);
                            lanes.iter_mut().zip(second).for_each(|(sum, other)| *sum = (algebra.add)(*sum, other));
                        }
                        lanes[0]
                    }
                });
            }
        }
        sums
    }
}

/// The sums of every n-th of the entries, for the first n to begin with; `identity` if there are
/// fewer.
fn lanes<'a, V: Copy + 'a>(
    entries: &'a [usize],
    n: usize,
    identity: V,
    sum: &'a impl Fn(&mut dyn Iterator<Item = &usize>) -> V,
) -> impl Iterator<Item = V> + 'a {
    (0..n).map(move |first| match first < entries.len() {
        true => sum(&mut entries.iter().skip(first).step_by(n)),
        false => identity,
    })
}

fn multiply_lines<T: Element, V: VectorElement<T>>(
    algebra: &Algebra<V::Arithmetic>,
    lines: Lines<'_, T>,
    (alpha, x): (f64, &[V]),
    (beta, y): (f64, &mut [V]),
) -> Result<()> {
    let (width, depth) = lines.sides();
    check_len("x", x.len(), lines.pattern.nrows() * depth)?;
    check_len("y", y.len(), lines.pattern.ncols() * width)?;
    let (scale, factor) = (V::Arithmetic::nearest(alpha), V::Arithmetic::nearest(beta));
    let sums = lines.sums(algebra, false, |value, across| (algebra.multiply)(V::take(value), x[across].widen()));
    for (y, sum) in y.iter_mut().zip(sums) {
        let scaled = scale.times(sum);
        *y = V::narrow(if beta == 0.0 { scaled } else { (algebra.add)(scaled, factor.times(y.widen())) });
    }
    Ok(())
}

fn squares<T: Field>(a: CbcView<'_, T>, rows: bool, whole: bool) -> Vec<T::Arithmetic> {
    Lines::new(a, rows).sums(&Algebra::of(Semiring::PlusTimes), whole, |value, _| {
        let value = value.widen();
        value * value
    })
}

fn roots<T: Field>(sums: Vec<T::Arithmetic>) -> Vec<T> {
    sums.into_iter().map(|sum| T::narrow(ComplexField::sqrt(sum))).collect()
}

fn scale<M: Matrix<Element: Field>>(a: &M, d: &[M::Element], rows: bool) -> Result<M> {
    let view = a.as_cbc();
    let (r, c) = (view.shape.rows(), view.shape.cols());
    let (n, side) = if rows { (view.pattern.nrows(), r) } else { (view.pattern.ncols(), c) };
    check_len("d", d.len(), n * side)?;
    let mut values = view.values.to_vec();
    for col in 0..view.pattern.ncols() {
        for entry in view.pattern.entries(col) {
            let row = view.pattern.row_idx()[entry] as usize;
            for i in 0..view.shape.area() {
                let factor = if rows { d[row * r + i % r] } else { d[col * c + i / r] };
                let value = &mut values[entry * view.stride + i];
                *value = M::Element::narrow(value.widen() * factor.widen());
            }
        }
    }
    M::from_cbc(Cbc::with_stride(view.pattern.clone(), view.shape, view.stride, values)?)
}
