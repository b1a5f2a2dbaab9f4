//! Integers whose sums wrap around: by a bound of their magnitudes, and by sums in 128 bits where a
//! result is verified.
use blockmul::{Element, Matrix, Semiring, matrix::CbcView};
use rayon::prelude::*;

/// The factors whose values are in the sums of an algebra; in place of another one stands 1.
#[derive(Clone, Copy)]
pub struct Sums {
    of_first: bool,
    of_second: bool,
}

impl Sums {
    /// `None` if elements of the type do not wrap around in the algebra.
    pub fn of<T: Element>(semiring: Semiring) -> Option<Self> {
        let (of_first, of_second) = match semiring {
            Semiring::PlusTimes => (true, true),
            Semiring::PlusFirst => (true, false),
            Semiring::PlusSecond => (false, true),
            Semiring::PlusPair => (false, false),
            _ => return None,
        };
        let wraps = T::ARITHMETIC_ROUNDOFF == 0.0 && !T::TRUTH;
        wraps.then_some(Self { of_first, of_second })
    }

    /// The sums of the product with its factors swapped.
    pub fn swapped(self) -> Self {
        Self { of_first: self.of_second, of_second: self.of_first }
    }

    fn first<N: From<u8>>(self, value: N) -> N {
        if self.of_first { value } else { N::from(1) }
    }

    fn second<N: From<u8>>(self, value: N) -> N {
        self.swapped().first(value)
    }

    /// A number that no sum of A·B exceeds in magnitude.
    pub fn bound<M: Matrix>(self, a: &M, b: &M) -> f64 {
        let (first, second) = (|value| self.first(value), |value| self.second(value));
        let by_rows = largest_sum(a, false, first) * magnitude(values(b).map(second));
        by_rows.min(magnitude(values(a).map(first)) * largest_sum(b, true, second))
    }

    /// A number that no sum of A·x exceeds in magnitude, or if it is transposed of Aᵀ·x.
    pub fn bound_of_vectors<M: Matrix>(self, a: &M, transposed: bool, largest: f64) -> f64 {
        largest_sum(a, transposed, |value| self.first(value)) * self.second(largest)
    }

    /// The elements of C = A·B, where C has entries, whose sums are outside the range of their
    /// type. All are compressed columns.
    pub fn wrapped<T: Element>(self, a: CbcView<'_, T>, b: CbcView<'_, T>, c: CbcView<'_, T>) -> u64 {
        let (height, inner, width) = (a.shape.rows(), a.shape.cols(), b.shape.cols());
        let rows = a.pattern.nrows() * height;
        let (mut sums, mut wrapped) = (vec![0i128; rows * width], 0);
        for col in 0..b.pattern.ncols() {
            for of_b in b.pattern.entries(col) {
                let right = b.block(of_b);
                for of_a in a.pattern.entries(b.pattern.row_idx()[of_b] as usize) {
                    let (left, top) = (a.block(of_a), a.pattern.row_idx()[of_a] as usize * height);
                    for (j, i) in (0..width).flat_map(|j| (0..inner).map(move |i| (j, i))) {
                        let second = self.second(whole(right[j * inner + i]));
                        let of_column = &mut sums[j * rows + top..][..height];
                        for (sum, &first) in of_column.iter_mut().zip(&left[i * height..]) {
                            *sum += self.first(whole(first)) * second;
                        }
                    }
                }
            }
            for of_c in c.pattern.entries(col) {
                let top = c.pattern.row_idx()[of_c] as usize * height;
                wrapped += (0..width).map(|j| outside::<T>(&sums[j * rows + top..][..height])).sum::<u64>();
            }
            for of_b in b.pattern.entries(col) {
                for &row in a.pattern.column(b.pattern.row_idx()[of_b] as usize) {
                    (0..width).for_each(|j| sums[j * rows + row as usize * height..][..height].fill(0));
                }
            }
        }
        wrapped
    }

    /// A·x, or Aᵀ·x, of `len` elements.
    pub fn exact<M: Matrix>(self, a: &M, transposed: bool, len: usize, x: impl Fn(usize) -> i128) -> Vec<i128> {
        let mut sums = vec![0; len];
        self.add_exact(a, transposed, &mut sums, x);
        sums
    }

    /// The elements of A·x, or Aᵀ·x, of `len` elements, that are outside the range of their type,
    /// for vectors `x(0)` to `x(count - 1)`. Each thread sums one vector after another.
    pub fn wrapped_of_vectors<M: Matrix, X: Fn(usize) -> i128>(
        self,
        (a, transposed): (&M, bool),
        (len, count): (usize, usize),
        x: impl Fn(usize) -> X + Sync,
    ) -> u64 {
        let of_vector = |sums: &mut Vec<i128>, vector| {
            sums.fill(0);
            self.add_exact(a, transposed, sums, x(vector));
            outside::<M::Element>(sums)
        };
        (0..count).into_par_iter().map_init(|| vec![0; len], of_vector).sum()
    }

    /// Adds A·x, or Aᵀ·x, to `sums`.
    fn add_exact<M: Matrix>(self, a: &M, transposed: bool, sums: &mut [i128], x: impl Fn(usize) -> i128) {
        for (row, col, value) in entries(a) {
            let (to, from) = if transposed { (col, row) } else { (row, col) };
            let product = self.first(whole(value)).saturating_mul(self.second(x(from)));
            sums[to] = sums[to].saturating_add(product);
        }
    }
}

/// The sums that are outside the range of a type.
pub fn outside<T: Element>(sums: &[i128]) -> u64 {
    let [lowest, highest] = [f64::NEG_INFINITY, f64::INFINITY].map(|end| whole(T::from_f64(end)));
    sums.iter().filter(|&sum| !(lowest..=highest).contains(sum)).count() as u64
}

/// The largest number of an integer type.
pub fn highest<T: Element>() -> f64 {
    T::from_f64(f64::INFINITY).to_f64()
}

/// The largest magnitude of some numbers; 0 if there are none.
pub fn magnitude(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |largest, value| value.abs().max(largest))
}

/// An element of an integer type.
pub fn whole<T: Element>(value: T) -> i128 {
    value.to_f64() as i128
}

fn values<M: Matrix>(a: &M) -> impl Iterator<Item = f64> {
    entries(a).map(|(.., value)| value.to_f64())
}

/// The largest sum of magnitudes of a row, or of a column.
fn largest_sum<M: Matrix>(a: &M, of_column: bool, value: impl Fn(f64) -> f64) -> f64 {
    let view = a.as_cbc();
    let along = of_column != M::ROW_MAJOR;
    let lines = if along { view.pattern.ncols() * view.shape.cols() } else { view.pattern.nrows() * view.shape.rows() };
    let mut sums = vec![0.0; lines];
    for (row, col, element) in entries(a) {
        sums[if of_column { col } else { row }] += value(element.to_f64()).abs();
    }
    magnitude(sums)
}

/// Row, column and value of every stored scalar.
fn entries<M: Matrix>(a: &M) -> impl Iterator<Item = (usize, usize, M::Element)> {
    let view = a.as_cbc();
    let (height, width) = (view.shape.rows(), view.shape.cols());
    let blocks =
        (0..view.pattern.ncols()).flat_map(move |col| view.pattern.entries(col).map(move |entry| (col, entry)));
    blocks.flat_map(move |(col, entry)| {
        let (top, left) = (view.pattern.row_idx()[entry] as usize * height, col * width);
        view.block(entry).iter().enumerate().map(move |(at, &value)| {
            let (row, col) = (top + at % height, left + at / height);
            if M::ROW_MAJOR { (col, row, value) } else { (row, col, value) }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::{BlockShape, Csc, generate::Random, reference};

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

    /// In f64 sums below 2^53 are exact; those that are not the sums of the type have wrapped.
    #[test]
    fn what_wraps_is_counted_and_never_above_the_bound() -> blockmul::Result<()> {
        let mut random = Random::new(1);
        let all = [Semiring::PlusTimes, Semiring::PlusFirst, Semiring::PlusSecond, Semiring::PlusPair];
        for (largest, semiring) in [10, 40_000, 1 << 20].into_iter().flat_map(|largest| all.map(|of| (largest, of))) {
            let (a, b) = (matrix(&mut random, 6, 8, largest), matrix(&mut random, 8, 4, largest));
            let exact = reference::multiply_over(semiring, &a, &b)?;
            let (a, b) = (a.cast::<i32>(), b.cast::<i32>());
            let c = reference::multiply_over(semiring, &a, &b)?;
            let pairs = || exact.values().iter().zip(c.values());
            let want = pairs().filter(|&(&exact, &c)| exact != f64::from(c)).count() as u64;
            let sums = Sums::of::<i32>(semiring).unwrap();
            assert_eq!(sums.wrapped(a.as_cbc(), b.as_cbc(), c.as_cbc()), want, "{semiring} {largest}");
            let bound = sums.bound(&a, &b);
            assert!(exact.values().iter().all(|sum| sum.abs() <= bound), "{semiring} {largest}");
            assert!(largest > 10 || bound <= highest::<i32>());
            let shape = |rows, cols| BlockShape::new(rows, cols).unwrap();
            let (a, b) = (a.to_blocks(shape(3, 2))?, b.to_blocks(shape(2, 2))?);
            if semiring == Semiring::PlusTimes {
                let c = reference::multiply(&a, &b)?;
                assert_eq!(sums.wrapped(a.as_cbc(), b.as_cbc(), c.as_cbc()), want);
                assert_eq!(sums.bound(&a, &b), bound);
            }
        }
        Ok(())
    }

    #[test]
    fn sums_with_vectors_are_exact() {
        let a = Csc::from_triplets(2, 3, [(0, 0, 1 << 30), (0, 2, 1 << 30), (1, 1, -5)]).unwrap();
        let sums = Sums::of::<i32>(Semiring::PlusTimes).unwrap();
        assert_eq!(sums.exact(&a, false, 2, |_| 4), [1 << 33, -20]);
        assert_eq!(sums.exact(&a, true, 3, |row| [1, 2][row]), [1 << 30, -10, 1 << 30]);
        // Sums of 2^31·x and -5·x for x of 0 to 99: the first passes the end from x = 1 on.
        assert_eq!(sums.wrapped_of_vectors((&a, false), (2, 100), |vector| move |_| vector as i128), 99);
        assert_eq!(sums.bound_of_vectors(&a, false, 4.0), 2f64.powi(33));
        assert_eq!(sums.bound_of_vectors(&a, true, 4.0), 2f64.powi(32));
        let second = Sums::of::<i32>(Semiring::PlusSecond).unwrap();
        assert_eq!(second.exact(&a, false, 2, |_| 4), [8, 4]);
        assert_eq!(second.swapped().exact(&a, false, 2, |_| 4), [1 << 31, -5]);
        assert_eq!(outside::<i32>(&[i32::MAX.into(), 1 << 31, i32::MIN.into(), -(1 << 31) - 1]), 2);
        assert_eq!(outside::<u32>(&[0, -1, u32::MAX.into(), 1 << 32]), 2);
        assert!(Sums::of::<f64>(Semiring::PlusTimes).is_none() && Sums::of::<u8>(Semiring::OrAnd).is_none());
        assert!(Sums::of::<u32>(Semiring::MinPlus).is_none(), "its sums stop at the largest number");
    }
}
