//! Products of sparse and dense matrices on all cores of the host, without a device.
use crate::{
    Arithmetic, BlockShape, Element, Error, Pattern, Result,
    element::{ElementType, Listed, with_type},
    host::threads,
    matrix::{AnyDense, AnyDenseView, AnyView, DenseShape, DenseView, Layout},
    primitives::segmented_reduce::RUN_PIECE,
};

/// Least number of multiplications that are worth waking another thread.
const OF_THREAD: usize = 20_000;

/// Parts of the rows for each thread, so that no thread waits long for the last part.
const PARTS: usize = 4;

/// Computes C = A·D, in the layout of D, on the threads of the current rayon pool. C has the bits
/// of [`dense::multiply`](crate::dense::multiply). A matrix stored by columns is copied by rows
/// first, a D of several columns stored by columns too.
///
/// ```
/// use blockmul::{Csr, dense};
/// use nalgebra::dmatrix;
/// let a = Csr::new(2, 2, vec![0, 1, 3], vec![0, 0, 1], vec![2.0, 3.0, 5.0])?;
/// let c = dense::multiply_on_host(&a, &dmatrix![1.0, 0.0; 10.0, 1.0])?;
/// assert_eq!(c, dmatrix![2.0, 0.0; 53.0, 5.0].into());
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`] if the inner sizes or the element types differ; [`Error::Memory`] if C does
/// not fit the host.
pub fn multiply_on_host<'a, 'd>(a: impl Into<AnyView<'a>>, d: impl Into<AnyDenseView<'d>>) -> Result<AnyDense> {
    let (a, d): (AnyView<'_>, AnyDenseView<'_>) = (a.into(), d.into());
    let ((rows, inner), of_d) = (a.scalar_sides(), d.shape());
    if a.element() != d.element() {
        return Err(Error::Argument(format!("D has elements of {}, A has elements of {}", d.element(), a.element())));
    }
    if of_d.rows != inner {
        return Err(Error::Argument(format!("A is {rows}x{inner} scalars, D is {}x{}", of_d.rows, of_d.cols)));
    }
    let by_rows;
    let d = match of_d.layout {
        Layout::ByColumns if of_d.cols != 1 => {
            by_rows = with_type!(d.element(), T => copied::<T>(d.typed()?)?);
            by_rows.view()
        }
        _ => d,
    };
    let transposed;
    let arrays = match a.kind.is_row_major() {
        true => a,
        false => {
            transposed = a.transposed();
            transposed.view()
        }
    };
    let mut c = AnyDense::zeros(a.element(), (rows, of_d.cols), Layout::ByRows)?;
    with_type!(a.element(), T => match (T::of_any_slice(arrays.values), T::of_any_slice_mut(c.view_mut().values)) {
        (Some(values), Some(of_c)) => {
            let (pattern, stride) = (arrays.pattern, arrays.stride);
            // The arrays are those of the transpose.
            let lines = Lines { pattern, shape: arrays.shape.transpose(), stride, values };
            lines.multiply(d.typed()?, of_c);
        }
        _ => unreachable!("both have elements of one type"),
    });
    match of_d.layout {
        Layout::ByColumns => c.to_layout(Layout::ByColumns),
        Layout::ByRows => Ok(c),
    }
}

/// A copy of D by rows.
fn copied<T: Element>(d: DenseView<'_, T>) -> Result<AnyDense> {
    let DenseShape { rows, cols, .. } = d.shape();
    let mut values = Vec::with_capacity(rows * cols);
    (0..rows).for_each(|row| values.extend((0..cols).map(|col| d.get(row, col))));
    AnyDense::new(DenseShape::new(rows, cols, Layout::ByRows), T::any(values))
}

/// The block rows of A.
struct Lines<'a, T> {
    /// The columns of the pattern are the block rows.
    pattern: &'a Pattern,
    shape: BlockShape,
    stride: usize,
    /// The elements of a block are ordered by rows.
    values: &'a [T],
}

impl<T: Element> Lines<'_, T> {
    /// Writes A·D into `c`, by rows. D has a single column, or is stored by rows.
    fn multiply(&self, d: DenseView<'_, T>, c: &mut [T]) {
        let (lines, n) = (self.pattern.ncols(), d.shape().cols);
        let multiplications = self.pattern.nnz() * self.shape.area() * n;
        let threads = rayon::current_num_threads().min(multiplications / OF_THREAD);
        if n == 0 || threads < 2 {
            return self.some_lines(d, 0, c);
        }
        // Parts have about as many entries and rows as each other.
        let weight = |line: usize| self.pattern.col_ptr()[line] as usize + line;
        let parts = threads * PARTS;
        let of_line = self.shape.rows() * n;
        let (mut rest, mut begin, mut shares) = (c, 0, Vec::with_capacity(parts));
        for part in 1..=parts {
            let wanted = weight(lines) / parts * part;
            let end = if part == parts { lines } else { first_at(begin..lines, |line| weight(line) >= wanted) };
            let (own, others) = std::mem::take(&mut rest).split_at_mut((end - begin) * of_line);
            shares.push((begin, own));
            (rest, begin) = (others, end);
        }
        threads::for_each(shares, |(first, c)| self.some_lines(d, first, c));
    }

    /// Writes the rows of C from block row `first` on. Columns of D are taken several at a time,
    /// whose sums are kept in registers.
    fn some_lines(&self, d: DenseView<'_, T>, first: usize, c: &mut [T]) {
        let n = d.shape().cols;
        if n == 0 {
            return;
        }
        for (row, c) in c.chunks_exact_mut(n).enumerate() {
            let (line, number) = (first + row / self.shape.rows(), row % self.shape.rows());
            let (mut eights, mut col) = (c.chunks_exact_mut(8), 0);
            for c in &mut eights {
                c.copy_from_slice(&self.sums::<8>(d, line, number, col));
                col += 8;
            }
            for c in eights.into_remainder() {
                [*c] = self.sums::<1>(d, line, number, col);
                col += 1;
            }
        }
    }

    /// Row `number` of a block row times N columns of D from column `col` on. The terms are added
    /// in ascending order, in pieces of [`RUN_PIECE`] entries (blocks).
    #[inline(always)]
    fn sums<const N: usize>(&self, d: DenseView<'_, T>, line: usize, number: usize, col: usize) -> [T; N] {
        let entries = self.pattern.entries(line);
        if entries.is_empty() {
            return [T::narrow(T::Arithmetic::ZERO); N];
        }
        let (of_d, depth) = (&d.values()[col..], self.shape.cols());
        // Only a D of one column may be stored by columns.
        let leading = if d.shape().layout == Layout::ByRows { d.shape().leading } else { 1 };
        let add = |sums: &mut [T::Arithmetic; N], value: T, row: usize| {
            let value = value.widen();
            let of_row = &of_d[row * leading..][..N];
            for (sum, of_d) in sums.iter_mut().zip(of_row) {
                *sum = sum.plus(value.times(of_d.widen()));
            }
        };
        let mut sums = [T::Arithmetic::NEUTRAL; N];
        for first in entries.clone().step_by(RUN_PIECE) {
            let piece = first..entries.end.min(first + RUN_PIECE);
            let mut of_piece = [T::Arithmetic::NEUTRAL; N];
            let rows = &self.pattern.row_idx()[piece.clone()];
            if self.stride == 1 {
                rows.iter().zip(&self.values[piece]).for_each(|(&row, &value)| add(&mut of_piece, value, row as usize));
            } else {
                let blocks = self.values[piece.start * self.stride..].chunks(self.stride);
                for (&row, block) in rows.iter().zip(blocks) {
                    let of_line = &block[number * depth..][..depth];
                    of_line
                        .iter()
                        .enumerate()
                        .for_each(|(k, &value)| add(&mut of_piece, value, row as usize * depth + k));
                }
            }
            sums.iter_mut().zip(of_piece).for_each(|(sum, part)| *sum = sum.plus(part));
        }
        sums.map(T::narrow)
    }
}

/// The first number of a range at which `is` becomes true, or its end.
fn first_at(range: std::ops::Range<usize>, is: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if is(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Semiring, dense::Side, generate::Random, matrix::AnyMatrix, reference};

    /// Rows of 0 to 9 entries and one of more than a piece, enough of them for two threads.
    fn scalars(random: &mut Random) -> crate::Csc<f64> {
        let long = (0..2400).step_by(2).map(|col| (7, col));
        let short = (0..600)
            .filter(|row| row % 11 != 0)
            .flat_map(|row| (0..row % 10).map(move |i| (row, (row * 7 + i * 31) % 2400)));
        let places = long.chain(short.filter(|&(row, _)| row != 7));
        crate::Csc::from_triplets(
            600,
            2400,
            places.map(|(row, col)| (row, col, random.unit() - 0.5)).collect::<Vec<_>>(),
        )
        .unwrap()
    }

    #[test]
    fn bits_are_those_of_the_reference() -> Result<()> {
        let mut random = Random::new(3);
        let scalars = AnyMatrix::from(scalars(&mut random));
        let blocks = scalars.to_blocks(BlockShape::new(3, 2)?)?;
        let all = [
            scalars.clone(),
            scalars.transpose()?.into_transpose(),
            blocks.clone(),
            blocks.transpose()?.into_transpose(),
        ];
        for a in &all {
            for element in [ElementType::F64, ElementType::F32, ElementType::F16, ElementType::I32] {
                let a = a.map(|value| value * 16.0).cast(element);
                for (n, layout) in [
                    (1, Layout::ByRows),
                    (1, Layout::ByColumns),
                    (5, Layout::ByRows),
                    (40, Layout::ByColumns),
                    (0, Layout::ByRows),
                ] {
                    let values: Vec<f64> = (0..2400 * n).map(|_| 8.0 * random.unit() - 4.0).collect();
                    let d = AnyDense::new(DenseShape::new(2400, n, layout), values.into())?.cast(element);
                    let expected = reference::multiply_any_dense(Semiring::PlusTimes, Side::Left, &a, &d)?;
                    let found = multiply_on_host(&a, &d)?;
                    assert_eq!(found.shape().layout, layout);
                    assert_eq!(found, expected, "{:?}<{element}>, {n} columns", a.kind());
                }
            }
        }
        // A without columns and D without rows, so that C has only sums of nothing.
        let none = AnyMatrix::from(crate::Csr::<f64>::new(3, 0, vec![0; 4], vec![], vec![])?);
        let c = multiply_on_host(&none, &AnyDense::zeros(ElementType::F64, (0, 9), Layout::ByRows)?)?;
        assert_eq!(c, AnyDense::zeros(ElementType::F64, (3, 9), Layout::ByRows)?);
        let d = AnyDense::zeros(ElementType::F64, (600, 2), Layout::ByRows)?;
        let refused = |d: &AnyDense| multiply_on_host(&scalars, d).unwrap_err().to_string();
        assert_eq!(refused(&d), "A is 600x2400 scalars, D is 600x2");
        assert_eq!(refused(&d.cast(ElementType::F32)), "D has elements of f32, A has elements of f64");
        Ok(())
    }
}
