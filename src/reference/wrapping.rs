//! Sums of integers that wrap around: computes an upper bound of the sums, and counts the sums that
//! wrap, in 128 bits.
use super::{Onto, op::Op};
use crate::{
    Error, Result, Semiring,
    element::ElementType,
    matrix::{AnyDense, AnyMatrix, DenseShape, Side},
    product::Factor,
};
use rayon::prelude::*;

/// Sums of integers that wrap around at the ends of their type.
///
/// The bound of a product is cheap to compute. If the bound is within the range of the type, no sum
/// wraps. If not, [`IntegerSums::wrapped`] counts the sums that wrap.
///
/// ```
/// use blockmul::reference::{self, IntegerSums};
/// use blockmul::{Csc, Semiring, element::ElementType, matrix::AnyMatrix};
/// let a = Csc::from_triplets(2, 2, [(0, 0, 70_000), (1, 1, 3)])?;
/// let c = AnyMatrix::from(reference::multiply(&a, &a)?);
/// let (a, sums) = (a.into(), IntegerSums::of(ElementType::I32, Semiring::PlusTimes).unwrap());
/// assert_eq!((sums.bound(&a, &a), sums.wrapped(&a, &a, &c)?), (4.9e9, 1));
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct IntegerSums {
    element: ElementType,
    /// Whether the sums contain the values of the first factor. If `of_first` is false, each value
    /// of the first factor counts as 1.
    of_first: bool,
    of_second: bool,
}

impl IntegerSums {
    /// The sums in an algebra, or `None` if elements of this type do not wrap around in the
    /// algebra.
    pub fn of(element: ElementType, semiring: Semiring) -> Option<Self> {
        let (of_first, of_second) = match semiring {
            Semiring::PlusTimes => (true, true),
            Semiring::PlusFirst => (true, false),
            Semiring::PlusSecond => (false, true),
            Semiring::PlusPair => (false, false),
            _ => return None,
        };
        let wraps = element.is_integer() && !element.is_truth();
        wraps.then_some(Self { element, of_first, of_second })
    }

    /// The sums for the product with swapped factors.
    pub fn swapped(self) -> Self {
        Self { of_first: self.of_second, of_second: self.of_first, ..self }
    }

    fn first<N: From<u8>>(self, value: N) -> N {
        if self.of_first { value } else { N::from(1) }
    }

    fn second<N: From<u8>>(self, value: N) -> N {
        self.swapped().first(value)
    }

    /// An upper bound of the magnitudes of all sums of A·B.
    pub fn bound(self, a: &AnyMatrix, b: &AnyMatrix) -> f64 {
        let (first, second) = (|value| self.first(value), |value| self.second(value));
        let by_rows = largest_sum(a.into(), first) * magnitude(values(b).map(second));
        by_rows.min(magnitude(values(a).map(first)) * largest_sum(Factor::from(b).t(), second))
    }

    /// An upper bound of the magnitudes of all sums of A·x, or of Aᵀ·x. `largest` is the largest
    /// magnitude in x.
    pub fn bound_of_vectors<'a>(self, a: impl Into<Factor<'a, AnyMatrix>>, largest: f64) -> f64 {
        largest_sum(a.into(), |value| self.first(value)) * self.second(largest)
    }

    /// Number of elements of C = A·B whose exact sums are outside of the range of the element type.
    ///
    /// # Errors
    /// [`Error::Argument`] if C has other sides than A·B, or if one matrix is stored by rows and
    /// another by columns.
    pub fn wrapped(self, a: &AnyMatrix, b: &AnyMatrix, c: &AnyMatrix) -> Result<u64> {
        let [of_a, of_b, of_c] = [a, b, c].map(|matrix| (matrix.view().scalar_sides(), matrix.kind().is_row_major()));
        let ((rows, inner), (of_inner, cols)) = (of_a.0, of_b.0);
        if inner != of_inner || of_c.0 != (rows, cols) || of_a.1 != of_b.1 || of_a.1 != of_c.1 {
            return Err(Error::Argument(
                "C must have the sides of A·B, and all be stored by rows or by columns".into(),
            ));
        }
        // The arrays of row-major matrices are the arrays of their transposes, so this computes Cᵀ
        // = Bᵀ·Aᵀ.
        if of_a.1 {
            let [a, b, c] = [a, b, c].map(|matrix| matrix.clone().into_transpose());
            return self.swapped().wrapped(&b, &a, &c);
        }
        let [a, b, c] = [a, b, c].map(|matrix| matrix.to_scalars().cast(ElementType::F64));
        let (a, b) = (a.as_cbc::<f64>()?, b.as_cbc::<f64>()?);
        let (mut sums, mut wrapped) = (vec![0i128; a.pattern.nrows()], 0);
        for col in 0..b.pattern.ncols() {
            for of_b in b.pattern.entries(col) {
                let second = self.second(whole(b.values[of_b]));
                for of_a in a.pattern.entries(b.pattern.row_idx()[of_b] as usize) {
                    sums[a.pattern.row_idx()[of_a] as usize] += self.first(whole(a.values[of_a])) * second;
                }
            }
            wrapped += self.outside(c.pattern().column(col).iter().map(|&row| sums[row as usize]));
            for &inner in b.pattern.column(col) {
                a.pattern.column(inner as usize).iter().for_each(|&row| sums[row as usize] = 0);
            }
        }
        Ok(wrapped)
    }

    /// Computes A·x, or Aᵀ·x, in 128 bits. `x` returns an element of the vector.
    pub fn exact<'a>(self, a: impl Into<Factor<'a, AnyMatrix>>, x: impl Fn(usize) -> i128) -> Vec<i128> {
        let a = a.into();
        let mut sums = vec![0; Op::of(a).scalar_sides().0];
        self.add_exact(a, &mut sums, x);
        sums
    }

    /// An upper bound of the magnitudes of all sums of A·D, or of D·A if A is on the right.
    pub fn bound_of_dense<'a>(self, side: Side, a: impl Into<Factor<'a, AnyMatrix>>, d: &AnyDense) -> f64 {
        let (sums, a) = self.on_the_left(side, a.into());
        sums.bound_of_vectors(a, d.values().magnitude())
    }

    /// Number of elements of A·D, or of D·A, whose exact sums are outside of the range of the
    /// element type. If the product is added to old contents, the old contents are in the layout of
    /// D.
    ///
    /// # Errors
    /// [`Error::Argument`] if A and D do not have the same inner side; [`Error::Length`] if the
    /// number of old contents is wrong.
    pub fn wrapped_of_dense<'a>(
        self,
        side: Side,
        a: impl Into<Factor<'a, AnyMatrix>>,
        d: &AnyDense,
        onto: Option<Onto<'_>>,
    ) -> Result<u64> {
        let (sums, a) = self.on_the_left(side, a.into());
        let (shape, (len, inner)) = (d.shape(), Op::of(a).scalar_sides());
        let (of_d, vectors) = if side == Side::Left { (shape.rows, shape.cols) } else { (shape.cols, shape.rows) };
        if inner != of_d {
            return Err(Error::Argument(format!("vectors of {of_d} elements where the matrix takes {inner}")));
        }
        let (rows, cols) = if side == Side::Left { (len, vectors) } else { (vectors, len) };
        let of_c = DenseShape::new(rows, cols, shape.layout);
        if let Some(found) = onto.map(|onto| onto.old.len()).filter(|&found| found != of_c.len()) {
            return Err(Error::Length { array: "C", found, expected: of_c.len(), why: format!("{rows} x {cols}") });
        }
        let of_vector = |found: &mut Vec<i128>, vector: usize| {
            let at = |shape: DenseShape, k: usize| match side {
                Side::Left => shape.at(k, vector),
                Side::Right => shape.at(vector, k),
            };
            let old = |onto: Onto<'_>, k| whole(onto.beta) * whole(onto.old.number(at(of_c, k)));
            found.iter_mut().enumerate().for_each(|(k, sum)| *sum = onto.map_or(0, |onto| old(onto, k)));
            sums.add_exact(a, found, |k| whole(d.values().number(at(shape, k))));
            sums.outside(found.iter().copied())
        };
        // Each thread sums one vector after another.
        Ok((0..vectors).into_par_iter().map_init(|| vec![0; len], of_vector).sum())
    }

    /// Returns the sums and the factor for products with A on the left. A row of D·A is Aᵀ times a
    /// row of D, so for D·A the factors are swapped and A is transposed.
    fn on_the_left(self, side: Side, a: Factor<'_, AnyMatrix>) -> (Self, Factor<'_, AnyMatrix>) {
        if side == Side::Left { (self, a) } else { (self.swapped(), a.t()) }
    }

    /// Adds A·x, or Aᵀ·x, to `sums`.
    fn add_exact(self, a: Factor<'_, AnyMatrix>, sums: &mut [i128], x: impl Fn(usize) -> i128) {
        for (row, col, value) in entries(a.operand) {
            let (to, from) = if a.transposed { (col, row) } else { (row, col) };
            let product = self.first(whole(value)).saturating_mul(self.second(x(from)));
            sums[to] = sums[to].saturating_add(product);
        }
    }

    /// Number of exact sums that are outside of the range of the element type.
    pub fn outside(self, sums: impl IntoIterator<Item = i128>) -> u64 {
        let [lowest, highest] = [f64::NEG_INFINITY, f64::INFINITY].map(|end| whole(self.element.nearest(end)));
        sums.into_iter().filter(|sum| !(lowest..=highest).contains(sum)).count() as u64
    }
}

/// The largest magnitude of some numbers; 0 if there are none.
fn magnitude(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |largest, value| value.abs().max(largest))
}

/// Converts an element of an integer type.
fn whole(value: f64) -> i128 {
    value as i128
}

fn values(a: &AnyMatrix) -> impl Iterator<Item = f64> {
    entries(a).map(|(.., value)| value)
}

/// The largest sum of the magnitudes in a row.
fn largest_sum(a: Factor<'_, AnyMatrix>, value: impl Fn(f64) -> f64) -> f64 {
    let mut sums = vec![0.0; Op::of(a).scalar_sides().0];
    for (row, col, element) in entries(a.operand) {
        sums[if a.transposed { col } else { row }] += value(element).abs();
    }
    magnitude(sums)
}

/// Row, column and value of every stored scalar.
fn entries(a: &AnyMatrix) -> impl Iterator<Item = (usize, usize, f64)> {
    let (pattern, by_rows) = (a.pattern(), a.kind().is_row_major());
    let shape = if by_rows { a.shape().transpose() } else { a.shape() };
    let (height, width) = (shape.rows(), shape.cols());
    let blocks = (0..pattern.ncols()).flat_map(move |col| pattern.entries(col).map(move |entry| (col, entry)));
    blocks.flat_map(move |(col, entry)| {
        let (top, left) = (pattern.row_idx()[entry] as usize * height, col * width);
        (0..height * width).map(move |at| {
            let (row, col, value) = (top + at % height, left + at / height, a.values().number(entry * a.stride() + at));
            if by_rows { (col, row, value) } else { (row, col, value) }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Csc, generate::Random, matrix::Layout, reference};

    fn matrix(random: &mut Random, rows: usize, cols: usize, largest: i64) -> Csc<f64> {
        let places = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
        let entries: Vec<_> = places
            .filter_map(|(row, col)| {
                let value = random.below(2 * largest as u64 + 1) as i64 - largest;
                (random.below(3) > 0).then_some((row, col, value as f64))
            })
            .collect();
        Csc::from_triplets(rows, cols, entries).unwrap()
    }

    /// Compares integer sums with sums in f64, which are exact below 2^53. If the two sums differ,
    /// the integer sum has wrapped.
    #[test]
    fn what_wraps_is_counted_and_never_above_the_bound() -> Result<()> {
        let mut random = Random::new(1);
        let all = [Semiring::PlusTimes, Semiring::PlusFirst, Semiring::PlusSecond, Semiring::PlusPair];
        for (largest, semiring) in [10, 40_000, 1 << 20].into_iter().flat_map(|largest| all.map(|of| (largest, of))) {
            let (a, b) = (matrix(&mut random, 6, 8, largest), matrix(&mut random, 8, 4, largest));
            let exact = reference::multiply_over(semiring, &a, &b)?;
            let (a, b) = (a.cast::<i32>(), b.cast::<i32>());
            let c = reference::multiply_over(semiring, &a, &b)?;
            let pairs = || exact.values().iter().zip(c.values());
            let want = pairs().filter(|&(&exact, &c)| exact != f64::from(c)).count() as u64;
            let sums = IntegerSums::of(ElementType::I32, semiring).unwrap();
            let [a, b, c] = [a, b, c].map(AnyMatrix::from);
            assert_eq!(sums.wrapped(&a, &b, &c)?, want, "{semiring} {largest}");
            let bound = sums.bound(&a, &b);
            assert!(exact.values().iter().all(|sum| sum.abs() <= bound), "{semiring} {largest}");
            assert!(largest > 10 || bound <= f64::from(i32::MAX));
            let shape = |rows, cols| BlockShape::new(rows, cols).unwrap();
            let (a, b) = (a.to_blocks(shape(3, 2))?, b.to_blocks(shape(2, 2))?);
            if semiring == Semiring::PlusTimes {
                let c = reference::multiply(&a, &b)?;
                assert_eq!(sums.wrapped(&a, &b, &c)?, want);
                assert_eq!(sums.bound(&a, &b), bound);
                let by_rows = |matrix: &AnyMatrix| matrix.transpose().map(AnyMatrix::into_transpose);
                let (a, b, c) = (by_rows(&a)?, by_rows(&b)?, by_rows(&c)?);
                assert_eq!(sums.wrapped(&a, &b, &c)?, want);
                for (a, b, c) in [(&a, &b, &a), (&b, &a, &c), (&a, &b, &c.transpose()?.into_transpose())] {
                    assert!(matches!(sums.wrapped(a, b, c), Err(Error::Argument(_))));
                }
            }
        }
        Ok(())
    }

    #[test]
    fn sums_with_vectors_are_exact() -> Result<()> {
        let a = Csc::from_triplets(2, 3, [(0, 0, 1 << 30), (0, 2, 1 << 30), (1, 1, -5)]).unwrap();
        let a = AnyMatrix::from(a);
        let (sums, t) = (IntegerSums::of(ElementType::I32, Semiring::PlusTimes).unwrap(), Factor::from(&a).t());
        assert_eq!(sums.exact(&a, |_| 4), [1 << 33, -20]);
        assert_eq!(sums.exact(t, |row| [1, 2][row]), [1 << 30, -10, 1 << 30]);
        // The sums are 2^31·x and -5·x for x of 0 to 99. The sums 2^31·x are outside of the range
        // of i32 from x = 1 on.
        let d = |rows, cols, at: fn(i32) -> i32, layout| {
            let values = (0..rows * cols).map(|i| at(i as i32)).collect::<Vec<i32>>();
            AnyDense::new(DenseShape::new(rows, cols, layout), values.into()).unwrap()
        };
        let (columns, rows) = (d(3, 100, |i| i / 3, Layout::ByColumns), d(100, 3, |i| i / 3, Layout::ByRows));
        assert_eq!(sums.wrapped_of_dense(Side::Left, &a, &columns, None)?, 99);
        assert_eq!(sums.wrapped_of_dense(Side::Right, t, &rows, None)?, 99);
        // Old contents of -2^31 turn 2^31·x into 2^31·(x - 1), and into 2^31·(x - 2) if they count
        // twice.
        for (side, of_a, d, old) in [
            (Side::Left, Factor::from(&a), &columns, d(2, 100, |i| (i % 2 - 1) << 31, Layout::ByColumns)),
            (Side::Right, t, &rows, d(100, 2, |i| (i % 2 - 1) << 31, Layout::ByRows)),
        ] {
            for (beta, want) in [(1.0, 98), (2.0, 98), (0.0, 99), (-1.0, 100)] {
                let onto = Onto { beta, old: old.values() };
                assert_eq!(sums.wrapped_of_dense(side, of_a, d, Some(onto))?, want, "{beta}");
            }
            let short = Onto { beta: 1.0, old: d.values() };
            assert!(matches!(sums.wrapped_of_dense(side, of_a, d, Some(short)), Err(Error::Length { .. })));
        }
        assert_eq!(sums.bound_of_dense(Side::Left, &a, &columns), 99.0 * 2f64.powi(31));
        assert_eq!(sums.bound_of_dense(Side::Right, t, &rows), 99.0 * 2f64.powi(31));
        assert!(sums.wrapped_of_dense(Side::Right, &a, &rows, None).is_err());
        assert_eq!(sums.bound_of_vectors(&a, 4.0), 2f64.powi(33));
        assert_eq!(sums.bound_of_vectors(t, 4.0), 2f64.powi(32));
        let second = IntegerSums::of(ElementType::I32, Semiring::PlusSecond).unwrap();
        assert_eq!(second.exact(&a, |_| 4), [8, 4]);
        assert_eq!(second.swapped().exact(&a, |_| 4), [1 << 31, -5]);
        assert_eq!(sums.outside([i32::MAX.into(), 1 << 31, i32::MIN.into(), -(1 << 31) - 1]), 2);
        let of = IntegerSums::of;
        let unsigned = of(ElementType::U32, Semiring::PlusTimes).unwrap();
        assert_eq!(unsigned.outside([0, -1, u32::MAX.into(), 1 << 32]), 2);
        assert!(of(ElementType::F64, Semiring::PlusTimes).is_none() && of(ElementType::U8, Semiring::OrAnd).is_none());
        assert!(of(ElementType::U32, Semiring::MinPlus).is_none(), "its sums stop at the largest number");
        Ok(())
    }
}
