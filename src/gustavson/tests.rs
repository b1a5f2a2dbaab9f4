use super::*;
use crate::{
    BlockShape, Cbc, Element, Semiring,
    element::Algebra,
    generate,
    matrix::{AnyView, CbcView, MatrixKind},
    primitives::segmented_reduce::RUN_PIECE,
};
use half::f16;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A·B on one thread: the products of each entry of C are added in the order of the entries of B,
/// in pieces.
fn model<T: Element>(a: CbcView<'_, T>, b: CbcView<'_, T>, semiring: Semiring) -> Result<Cbc<T>> {
    let (shape, inner, algebra) = (a.shape.product(b.shape), a.shape.cols(), Algebra::<T::Arithmetic>::of(semiring));
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for col in 0..b.pattern.ncols() {
        let mut runs = BTreeMap::<u32, Vec<_>>::new();
        for of_b in b.pattern.entries(col) {
            for of_a in a.pattern.entries(b.pattern.row_idx()[of_b] as usize) {
                runs.entry(a.pattern.row_idx()[of_a]).or_default().push((of_a, of_b));
            }
        }
        for (row, run) in runs {
            row_idx.push(row);
            for (i, j) in (0..shape.cols()).flat_map(|j| (0..shape.rows()).map(move |i| (i, j))) {
                let term = |of_a, of_b, k: usize| {
                    let (x, y): (T, T) = (a.block(of_a)[k * shape.rows() + i], b.block(of_b)[j * inner + k]);
                    (algebra.multiply)(x.widen(), y.widen())
                };
                let piece = |pairs: &[(usize, usize)]| {
                    let terms = pairs.iter().flat_map(|&(of_a, of_b)| (0..inner).map(move |k| term(of_a, of_b, k)));
                    terms.fold(algebra.identity, algebra.add)
                };
                values.push(T::narrow(run.chunks(RUN_PIECE).map(piece).fold(algebra.identity, algebra.add)));
            }
        }
        col_ptr.push(row_idx.len() as u64);
    }
    Cbc::new(Pattern::new(a.pattern.nrows(), b.pattern.ncols(), col_ptr, row_idx)?, shape, values)
}

/// A·B with `padding` elements after each block of C. Rows are found before sums, or for scalars
/// together with them. Offsets are 64-bit numbers as on the host, or with padding 32-bit numbers as
/// on a device.
fn fast<T: Element>(
    a: CbcView<'_, T>,
    b: CbcView<'_, T>,
    semiring: Semiring,
    (padding, together): (usize, bool),
) -> Result<Cbc<T>> {
    let offsets = |view: CbcView<'_, T>| -> Vec<u32> {
        view.pattern.col_ptr().iter().map(|&offset| u32::try_from(offset).unwrap()).collect()
    };
    let (a_ptr, b_ptr) = (offsets(a), offsets(b));
    fn factor<'a, T: Element>(view: CbcView<'a, T>, of_device: Option<&'a [u32]>) -> Factor<'a> {
        let factor = Factor::from(AnyView::of_cbc(MatrixKind::Cbc, view));
        let col_ptr = of_device.map_or(factor.columns.col_ptr, Offsets::Device);
        Factor { columns: Columns { col_ptr, ..factor.columns }, ..factor }
    }
    fn of_device(padding: usize, offsets: &[u32]) -> Option<&[u32]> {
        (padding > 0).then_some(offsets)
    }
    let shape = a.shape.product(b.shape);
    let factors = Factors::new(factor(a, of_device(padding, &a_ptr)), factor(b, of_device(padding, &b_ptr)), semiring)?;
    let stride = shape.area() + padding;
    let found = if together { factors.multiply(&|_| Ok(()))? } else { factors.find(&|_| Ok(()))? };
    let scalars = [a.shape, b.shape] == [BlockShape::SCALAR; 2] && [a.stride, b.stride] == [1, 1];
    assert!(found.stores.iter().all(|store| store.sums.is_some() == (together && scalars)));
    let col_ptr = found.col_ptr();
    let (row_idx, values) = factors.arrays(found, stride)?;
    let values: Vec<T> = values.of_same();
    let blocks = values.chunks_exact(stride).flat_map(|block| {
        assert!(block[shape.area()..].iter().all(|padding| padding.to_f64() == 0.0));
        &block[..shape.area()]
    });
    Cbc::new(Pattern::new(a.pattern.nrows(), b.pattern.ncols(), col_ptr, row_idx)?, shape, blocks.copied().collect())
}

/// Compares `fast` with `model`: on one thread and on several, with rows found before the sums and
/// together with them. Any NaN equals any other.
fn check<T: Element>(a: &Cbc<T>, b: &Cbc<T>, semiring: Semiring, what: &str) {
    use crate::Matrix;
    let (a, b) = (a.as_cbc(), b.as_cbc());
    let want = model(a, b, semiring).unwrap();
    let bits = |value: &T| if value.to_f64().is_nan() { vec![0xff; 9] } else { bytemuck::bytes_of(value).to_vec() };
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (padding, together) in [(0, false), (0, true), (3, false), (3, true)] {
            let how = (padding, together);
            let c = pool.install(|| fast(a, b, semiring, how)).unwrap();
            assert_eq!(c.pattern(), want.pattern(), "{what}");
            assert!(c.values().iter().map(bits).eq(want.values().iter().map(bits)), "{what}, {threads} threads");
        }
    }
}

/// Values that show the order of addition, with occasional special values.
fn special(matrix: &Cbc<f64>, seed: u64, specials: bool) -> Cbc<f64> {
    let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 5e-324, f64::MAX, 1e-300];
    let mut state = seed | 1;
    let mut values = matrix.values().to_vec();
    for value in &mut values {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *value *= 2f64.powi((state >> 40) as i32 % 31 - 15);
        if specials && (state >> 33).is_multiple_of(16) {
            *value = numbers[(state >> 50) as usize % numbers.len()];
        }
    }
    Cbc::new(matrix.pattern().clone(), matrix.shape(), values).unwrap()
}

/// A random matrix with empty columns and rows, and columns of up to `most` entries.
fn matrix(rows: usize, cols: usize, most: usize, shape: BlockShape, seed: u64, specials: bool) -> Cbc<f64> {
    let mut random = seed;
    let mut next = move |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
    for _ in 0..cols {
        let count = if next(3) == 0 { 0 } else { next(most + 1) };
        let mut of_column: Vec<u32> = (0..if rows == 0 { 0 } else { count }).map(|_| next(rows) as u32).collect();
        of_column.sort_unstable();
        of_column.dedup();
        row_idx.extend(of_column);
        col_ptr.push(row_idx.len() as u64);
    }
    let values = (0..row_idx.len() * shape.area()).map(|_| next(1 << 20) as f64 / 1024.0 - 500.0).collect();
    special(&Cbc::new(Pattern::new(rows, cols, col_ptr, row_idx).unwrap(), shape, values).unwrap(), seed, specials)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn products_are_those_of_the_model(
        (m, k, n) in (0usize..90, 0usize..40, 0usize..40),
        (r, inner, c) in (1usize..11, 1usize..5, 1usize..5),
        most in 1usize..12, scalars: bool, specials: bool, seed: u64,
    ) {
        let shape = |rows, cols| if scalars { BlockShape::SCALAR } else { BlockShape::new(rows, cols).unwrap() };
        let a = matrix(m, k, most, shape(r, inner), seed, specials);
        let b = matrix(k, n, most, shape(inner, c), !seed, specials);
        check(&a, &b, Semiring::PlusTimes, "f64");
        check(&a, &b, Semiring::MinPlus, "min-plus");
        check(&a.cast::<f32>(), &b.cast(), Semiring::PlusTimes, "f32");
        check(&a.cast::<f16>(), &b.cast(), Semiring::PlusTimes, "f16");
        for &semiring in Semiring::ALL {
            check(&a.cast::<i32>(), &b.cast(), semiring, "i32");
            check(&a.cast::<u32>(), &b.cast(), semiring, "u32");
        }
        check(&a.cast::<u8>(), &b.cast(), Semiring::OrAnd, "u8");
        check(&a.cast::<f16>(), &b.cast(), Semiring::MaxMin, "f16, max-min");
        check(&a.cast::<f32>(), &b.cast(), Semiring::MinPlus, "f32, min-plus");
        check(&a.cast::<f32>(), &b.cast(), Semiring::PlusFirst, "f32, plus-first");
        check(&a.with_alignment(64).unwrap(), &b.with_alignment(32).unwrap(), Semiring::PlusTimes, "aligned");
        check(&a, &b.with_alignment(32).unwrap(), Semiring::PlusTimes, "B aligned");
    }
}

#[test]
fn runs_in_long_columns_are_cut_as_in_the_model() {
    // Columns of B with 0 to 2600 entries, and few rows of A, so that runs of more than 2048
    // products occur beside short ones.
    for (shape, inner) in [(1, 1), (3, 2), (5, 1)] {
        let of_a = BlockShape::new(shape, inner).unwrap();
        let a = matrix(3, 2600, 3, of_a, 5, false);
        let b = matrix(2600, 9, 20_000, BlockShape::new(inner, 1).unwrap(), 6, false);
        let lengths: Vec<_> = (0..b.ncols()).map(|col| b.pattern().column(col).len()).collect();
        assert!(
            lengths.iter().any(|&of| of > 2 * RUN_PIECE) && lengths.iter().any(|&of| of < RUN_PIECE),
            "{lengths:?}"
        );
        check(&a, &b, Semiring::PlusTimes, "long");
        check(&a.cast::<f32>(), &b.cast(), Semiring::PlusTimes, "long, f32");
        check(&a.cast::<f32>(), &b.cast(), Semiring::PlusSecond, "long, f32 by its bits");
    }
}

#[test]
fn rows_far_apart_are_found_by_sorting_and_many_by_the_bitmap() {
    // Columns of A with 2^20 rows: first two entries far apart, then so many that bits are faster
    // than a sort.
    for many in [2, 400] {
        let a = generate::Uniform { rows: 1 << 20, cols: 60, per_column: many, seed: 3, ..Default::default() }
            .matrix()
            .unwrap();
        let b =
            generate::Uniform { rows: 60, cols: 50, per_column: 7, seed: 4, ..Default::default() }.matrix().unwrap();
        check(&a, &b, Semiring::PlusTimes, "far apart");
    }
}

#[test]
fn columns_are_near_or_dense_or_neither_and_one_in_many_is_sampled() {
    // Columns with 20,000 possible rows have the rows of a band, with few rows in the first word
    // that the band touches, so many rows that each word has some, or so few that many words have
    // none.
    let (nrows, cols) = (20_000, 60);
    let band = generate::Uniform { rows: 3000, cols, per_column: 9, seed: 3, ..Default::default() }.matrix().unwrap();
    let rows = band.pattern().row_idx().iter().map(|row| row + 10_037).collect();
    let pattern = Pattern::new(nrows, cols, band.pattern().col_ptr().to_vec(), rows).unwrap();
    let band = Cbc::new(pattern, BlockShape::SCALAR, band.values().to_vec()).unwrap();
    let uniform = |of_column| {
        generate::Uniform { rows: nrows, cols, per_column: of_column, seed: 3, ..Default::default() }.matrix().unwrap()
    };
    let b = generate::Uniform { rows: cols, cols: 300, per_column: 7, seed: 4, ..Default::default() }.matrix().unwrap();
    for a in [band, uniform(60), uniform(8)] {
        check(&a, &b, Semiring::PlusTimes, "f64");
        check(&a, &b, Semiring::MaxPlus, "max-plus");
    }
}

/// The diagonals of a matrix at these distances below the main one, without one entry.
fn diagonals(nrows: usize, ncols: usize, below: &[i64], without: (usize, i64)) -> Cbc<f64> {
    let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
    for col in 0..ncols {
        let rows = below.iter().filter(|&&of| (col, of) != without).map(|of| col as i64 + of);
        row_idx.extend(rows.filter(|row| (0..nrows as i64).contains(row)).map(|row| row as u32));
        col_ptr.push(row_idx.len() as u64);
    }
    let values = (0..row_idx.len()).map(|i| (i * 7919 % 1009) as f64 - 500.0).collect();
    special(
        &Cbc::new(Pattern::new(nrows, ncols, col_ptr, row_idx).unwrap(), BlockShape::SCALAR, values).unwrap(),
        7,
        true,
    )
}

#[test]
fn columns_whose_rows_go_on_as_those_before_have_the_bits_of_the_model() {
    let whole = (usize::MAX, 0);
    // The diagonals are a band, the 5 points of a grid with lines of 9, or diagonals with words or
    // 65,536 rows between them. Each is tested whole, and with an entry missing in A or in B.
    for below in [&[-1, 0, 1][..], &[-9, -1, 0, 1, 9], &[0, 5, 200], &[0, 5000], &[0, 1, 65_536], &[0, 70_000]] {
        let nrows = if below[0] < 0 { 81 } else { 70_200 };
        let factors = |without| diagonals(nrows, 81, below, without);
        for (a, b) in [(whole, whole), ((40, 0), whole), (whole, (40, 0)), ((7, below[1]), (60, 0))] {
            let b = diagonals(81, 81, &[-1, 0, 1], b);
            check(&factors(a), &b, Semiring::PlusTimes, "f64");
            check(&factors(a), &b, Semiring::MinPlus, "min-plus");
        }
    }
    // The number of products is large enough for several threads.
    let grid = |without| diagonals(1600, 1600, &[-40, -1, 0, 1, 40], without);
    check(&grid(whole), &grid((300, 40)), Semiring::PlusTimes, "both of a grid");
}

#[test]
fn a_part_that_takes_as_long_as_several_is_taken_first() {
    // B has 401 columns. The column in the middle has as many entries as all other columns
    // together.
    let entries = |col: u64| if col == 200 { 400 } else { 1 };
    let col_ptr = (0..=401).map(|end| (0..end).map(entries).sum()).collect();
    let row_idx = (0..401).flat_map(|col| (0..entries(col) as u32).map(move |row| (row + col as u32) % 401));
    let mut row_idx: Vec<u32> = row_idx.collect();
    row_idx[200..600].sort_unstable();
    let b = Pattern::new(401, 401, col_ptr, row_idx).unwrap();
    for shape in [BlockShape::SCALAR, BlockShape::new(2, 2).unwrap()] {
        let values = |pattern: &Pattern| vec![0.1; pattern.nnz() * shape.area()];
        let (a, values) = (matrix(300, 401, 9, shape, 5, false), values(&b));
        let b = special(&Cbc::new(b.clone(), shape, values).unwrap(), 6, false);
        check(&a, &b, Semiring::PlusTimes, "one long column");
        let (a, b) = (Columns::from(a.pattern()), Columns::from(b.pattern()));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut parts = pool.install(|| parts::parts(a, b, 1000, &|_| Ok(())).unwrap().parts);
        let turns: Vec<_> =
            parts::in_turn(parts.iter_mut().enumerate()).map(|(number, part)| (number, &part.cols)).collect();
        assert!(turns[0].0 > 0 && turns[0].1.contains(&200), "{turns:?}");
        assert!(turns[1..].is_sorted_by_key(|(number, _)| *number) && turns.len() > 4, "{turns:?}");
    }
}

#[test]
fn products_that_the_memory_has_no_room_for_twice_are_found_first() {
    let a = generate::Uniform { rows: 300, cols: 300, per_column: 60, seed: 3, ..Default::default() }.matrix().unwrap();
    let factor = Factor::from(AnyView::from(&a));
    let factors = Factors::new(factor, factor, Semiring::PlusTimes).unwrap();
    // C is nearly full: 90,000 entries with a million products.
    for (limit, together) in [(10_000_000, true), (1_000_000, false)] {
        let fits = |nnz| if nnz <= limit { Ok(()) } else { Err(crate::Error::Argument(format!("{nnz} entries"))) };
        let found = factors.multiply(&fits).unwrap();
        assert!(found.stores.iter().all(|store| store.sums.is_some() == together));
        assert!((80_000..=90_000).contains(&found.nnz()), "{}", found.nnz());
    }
}

#[test]
fn factors_of_two_types_are_refused() {
    let a = matrix(3, 3, 3, BlockShape::SCALAR, 3, false);
    let (wide, narrow) = (Factor::from(AnyView::from(&a)), a.cast::<f32>());
    let refused = Factors::new(wide, Factor::from(AnyView::from(&narrow)), Semiring::PlusTimes).map(drop);
    assert_eq!(refused.unwrap_err().to_string(), "A has elements of f64, B of f32");
}

#[test]
fn an_error_of_a_thread_is_returned() {
    let a = generate::Uniform { rows: 300, cols: 300, per_column: 60, seed: 3, ..Default::default() }.matrix().unwrap();
    let refuse = |nnz| Err(crate::Error::Argument(format!("{nnz} entries")));
    assert!(rows::find(a.pattern().into(), a.pattern().into(), 1, &refuse).is_err());
    let few = AtMost(std::sync::atomic::AtomicUsize::new(3));
    assert!(share_out(0..5, |_| (), |_, item| few.take(item)).is_err());
}

struct AtMost(std::sync::atomic::AtomicUsize);

impl AtMost {
    fn take(&self, item: i32) -> Result<()> {
        let left =
            self.0.fetch_update(std::sync::atomic::Ordering::Relaxed, std::sync::atomic::Ordering::Relaxed, |n| {
                n.checked_sub(1)
            });
        left.map(|_| ()).map_err(|_| crate::Error::Argument(format!("item {item}")))
    }
}
