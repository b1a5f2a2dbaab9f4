//! Masked products by columns, with tunings that lead to every way of finding hits. A hit is a
//! product on a place of the mask.
use super::super::{bands::MAX_PROBES, columns::ColumnTuning, sums::ColumnSums};
use crate::{
    BlockShape, Csc, DeviceKind, Element, Pattern, Result, Semiring,
    device::{Work, test_device},
    element::ElementType,
    generate::{self, Values},
    matrix::Matrix,
    product::tuning::Tuning,
    reference,
    resident::{DeviceCbc, PatternArrays},
};
use half::f16;

/// Tuning by which all products are computed by columns, even if the mask has few places: it makes
/// every other way very expensive.
pub(super) fn tuning() -> ColumnTuning {
    // Only kernels of CPUs prefetch.
    let ahead = if test_device().info().kind == DeviceKind::Cpu { 3 } else { 0 };
    ColumnTuning { groups: 2, ranges: 8, ahead, lookup: 4, probe: 1 << 20, transpose: 1 << 20, hit_products: 8 }
}

/// Tunings with few ranges and with many. Rows are always looked up or never. From the second
/// column on all products are added, or only hits.
fn tunings() -> Vec<ColumnTuning> {
    let mut all = vec![ColumnTuning { groups: 1, ranges: 1, ahead: 0, ..tuning() }];
    for (groups, ranges) in [(1, 3), (2, 8), (5, 200)] {
        for (lookup, hit_products) in [(0, 8), (1 << 20, 0), (1 << 20, 1 << 20), (4, 8), (1, 1 << 20)] {
            all.push(ColumnTuning { groups, ranges, lookup, hit_products, ..tuning() });
        }
    }
    all
}

/// The bits of values. All NaNs are taken as equal.
fn bits<T: Element>(values: &[T]) -> Vec<Vec<u8>> {
    let one = |value: &T| if value.to_f64().is_nan() { Vec::new() } else { bytemuck::bytes_of(value).to_vec() };
    values.iter().map(one).collect()
}

/// The number of products of A·B that are on the mask, and the length of the longest run.
fn hits(a: &Pattern, b: &Pattern, mask: &Pattern) -> (u64, u32) {
    let (mut all, mut longest) = (0, 0);
    for col in 0..mask.ncols() {
        for row in mask.column(col) {
            let meets = |k: &&u32| a.column(**k as usize).binary_search(row).is_ok();
            let of_run = b.column(col).iter().filter(meets).count();
            (all, longest) = (all + of_run as u64, longest.max(of_run as u32));
        }
    }
    (all, longest)
}

fn check<T: Element>(
    semiring: Semiring,
    a: &Csc<T>,
    b: &Csc<T>,
    mask: &Pattern,
    tunings: &[ColumnTuning],
) -> Result<()> {
    let work = Work::new(&test_device(), None);
    let (da, db) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    let on = PatternArrays::upload(&work, mask)?;
    let of_mask = Csc::new(mask.clone(), vec![0.0; mask.nnz()])?;
    let want = bits(reference::multiply_masked_over(semiring, a, b, &of_mask)?.values());
    let (products, longest) = hits(a.pattern(), b.pattern(), mask);
    for tuning in tunings {
        let what = format!("{} over {semiring}, {tuning:?}", T::NAME);
        let product = ColumnSums::new(&test_device(), *tuning, T::TYPE, semiring)?;
        let reads = work.read_backs();
        let (values, counts) = product.multiply(&work, (&da, &db), &on)?.expect("by columns");
        assert_eq!(work.read_backs() - reads, 2);
        assert!(bits(&values.typed::<T>().download(&work)?) == want, "{what}");
        assert_eq!((counts.products, counts.longest_run), (products, Some(longest)), "{what}");
    }
    Ok(())
}

/// A matrix whose values repeat the values of `cycle`.
fn with_cycle<T: Element>(pattern: &Pattern, cycle: &[f64]) -> Result<Csc<T>> {
    let values = cycle.iter().cycle().take(pattern.nnz()).map(|&value| T::from_f64(value)).collect();
    Csc::new(pattern.clone(), values)
}

fn uniform(rows: usize, cols: usize, of_column: usize, seed: u64) -> Result<Pattern> {
    Ok(generate::Uniform { rows, cols, per_column: of_column, values: Values::Integer, seed, ..Default::default() }
        .matrix()?
        .pattern()
        .clone())
}

/// A pattern with the given entries.
fn pattern(rows: usize, cols: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Result<Pattern> {
    let entries = entries.into_iter().map(|(row, col)| (row, col, 1.0));
    Ok(Csc::<f64>::from_triplets(rows, cols, entries)?.pattern().clone())
}

/// Values of both signs, some of them rounded, and zeros of both signs.
const NUMBERS: [f64; 9] = [1.0 / 3.0, -7.0 / 11.0, 0.0, 1e3 / 7.0, -0.0, 5.0, -1.0 / 1024.0, 3.0, -2.5];

#[test]
fn no_number_changes_a_bit() -> Result<()> {
    // Rows on both sides of the borders of a bitmap's words, and in its last word.
    let (a, b) = (uniform(520, 300, 40, 1)?, uniform(300, 90, 25, 2)?);
    let edges = [0, 63, 64, 127, 128, 511, 512, 519];
    let whole = reference::multiply(&with_cycle::<f64>(&a, &NUMBERS)?, &with_cycle(&b, &NUMBERS)?)?;
    let masks = [
        uniform(520, 90, 5, 3)?,
        uniform(520, 90, 1, 4)?,
        uniform(520, 90, 400, 5)?,
        whole.pattern().clone(),
        // The mask has all places of C.
        pattern(520, 90, (0..520).flat_map(|row| (0..90).map(move |col| (row, col))))?,
        // Every seventh column of the mask has places.
        pattern(520, 90, edges.into_iter().flat_map(|row| (0..90).step_by(7).map(move |col| (row, col))))?,
        pattern(520, 90, [])?,
        // A single column of the mask has all places.
        pattern(520, 90, (0..520).map(|row| (row, 41)))?,
        // Each of the rows at a border has its place in another column.
        pattern(520, 90, edges.into_iter().enumerate().map(|(col, row)| (row, 11 * col)))?,
    ];
    for mask in &masks {
        let (a, b) = (with_cycle::<f64>(&a, &NUMBERS)?, with_cycle(&b, &NUMBERS)?);
        check(Semiring::PlusTimes, &a, &b, mask, &tunings())?;
    }
    Ok(())
}

#[test]
fn no_number_changes_the_pairs() -> Result<()> {
    let work = Work::new(&test_device(), None);
    let (a, b) = (uniform(130, 60, 20, 1)?, uniform(60, 30, 15, 2)?);
    let (a, b) = (with_cycle::<f64>(&a, &NUMBERS)?, with_cycle(&b, &NUMBERS)?);
    let numbers = Tuning::new(test_device().info(), BlockShape::SCALAR, BlockShape::SCALAR).keeping_pairs();
    let edges = [0, 63, 64, 127, 128, 129];
    let masks = [
        uniform(130, 30, 1, 3)?,
        uniform(130, 30, 60, 4)?,
        pattern(130, 30, edges.into_iter().flat_map(|row| (0..30).step_by(7).map(move |col| (row, col))))?,
        pattern(130, 30, (0..130).map(|row| (row, 17)))?,
        pattern(130, 30, [])?,
    ];
    for mask in &masks {
        for columns in tunings() {
            for most in [MAX_PROBES, 40] {
                super::check(&work, (&a, &b), mask, (&numbers, Some(columns)), most)?;
            }
        }
    }
    Ok(())
}

#[test]
fn runs_of_more_than_1024_products_are_cut() -> Result<()> {
    // The rows of A have 1, 1023 and more entries. Column 1 of B selects all columns of A, column 2
    // half of them.
    let lengths = [1, 1023, 1024, 1025, 2048, 2049, 3000];
    let a = pattern(70, 3000, lengths.iter().enumerate().flat_map(|(i, &of)| (0..of).map(move |k| (10 * i, k))))?;
    let b = pattern(3000, 4, (0..3000).flat_map(|k| [(k, 1), (k / 2 * 2, 2), (k / 3 * 3, 3)]))?;
    let of_a = with_cycle::<f32>(&a, &NUMBERS)?;
    let of_b = with_cycle::<f32>(&b, &[1.0 / 3.0, 1e4, -1.0 / 7.0, 2.0, -9e3])?;
    for mask in
        [pattern(70, 4, (0..70).flat_map(|i| [(i, 0), (i, 1), (i, 2)]))?, pattern(70, 4, [(60, 1), (40, 2), (50, 3)])?]
    {
        check(Semiring::PlusTimes, &of_a, &of_b, &mask, &tunings())?;
        check(Semiring::MinPlus, &of_a, &of_b, &mask, &tunings()[..3])?;
    }
    Ok(())
}

#[test]
fn every_element_and_algebra_has_the_bits_of_the_reference() -> Result<()> {
    fn of<T: Element>(special: &[f64]) -> Result<()> {
        let (a, b) = (uniform(90, 60, 9, 6)?, uniform(60, 70, 9, 7)?);
        let numbers: Vec<f64> = NUMBERS.map(|number| number * 7.0).iter().chain(special).copied().collect();
        let (a, b) = (with_cycle::<T>(&a, &numbers)?, with_cycle(&b, &numbers[2..])?);
        let kinds = [tuning(), ColumnTuning { hit_products: 1 << 20, lookup: 1 << 20, ..tuning() }];
        for semiring in Semiring::ALL.iter().copied().filter(|semiring| semiring.check::<T>().is_ok()) {
            for mask in [uniform(90, 70, 20, 8)?, uniform(90, 70, 1, 9)?] {
                check(semiring, &a, &b, &mask, &kinds)?;
            }
        }
        Ok(())
    }
    let floats = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    of::<f64>(&floats)?;
    of::<f32>(&floats)?;
    of::<f16>(&floats)?;
    of::<u32>(&[0.0, u32::MAX as f64])?;
    of::<i32>(&[0.0, i32::MAX as f64, i32::MIN as f64])?;
    of::<u8>(&[0.0, 1.0, 255.0])
}

#[test]
fn small_matrices_without_rows_or_columns_or_products() -> Result<()> {
    for (rows, inner, cols) in [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 1, 1), (3, 4, 5)] {
        let full = |rows, cols| pattern(rows, cols, (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))));
        let none = |rows, cols| pattern(rows, cols, []);
        for (a, b) in [
            (full(rows, inner)?, full(inner, cols)?),
            (none(rows, inner)?, full(inner, cols)?),
            (full(rows, inner)?, none(inner, cols)?),
        ] {
            for mask in [full(rows, cols)?, none(rows, cols)?] {
                // The only product is a negative zero. The sum of no products is a positive zero.
                let (a, b) = (with_cycle::<f64>(&a, &[1.0])?, with_cycle(&b, &[-0.0])?);
                check(Semiring::PlusTimes, &a, &b, &mask, &[tuning()])?;
            }
        }
    }
    Ok(())
}

#[test]
fn few_places_of_long_columns_are_left_to_lookups_and_so_is_a_lack_of_memory() -> Result<()> {
    let by_columns =
        |a: &Pattern, b: &Pattern, mask: &Pattern, limit: Option<u64>, tuning: ColumnTuning| -> Result<bool> {
            let work = Work::new(&test_device(), limit);
            let (a, b) = (with_cycle::<f64>(a, &NUMBERS)?, with_cycle::<f64>(b, &NUMBERS)?);
            let (a, b) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
            let mask = PatternArrays::upload(&work, mask)?;
            Ok(ColumnSums::new(work.device(), tuning, ElementType::F64, Semiring::PlusTimes)?
                .multiply(&work, (&a, &b), &mask)?
                .is_some())
        };
    let tuning = ColumnTuning { probe: 200, transpose: 28, ..tuning() };
    // A has one entry in each row. B has full columns.
    let (a, b) = (
        pattern(4000, 4000, (0..4000).map(|i| (i, i)))?,
        pattern(4000, 100, (0..4000).flat_map(|k| (0..100).map(move |col| (k, col))))?,
    );
    let few = pattern(4000, 100, (0..100).map(|col| (col, col)))?;
    let many = pattern(4000, 100, (0..4000).flat_map(|row| (0..100).map(move |col| (row, col))))?;
    assert!(!by_columns(&a, &b, &few, None, tuning)?);
    assert!(by_columns(&a, &b, &many, None, tuning)?);
    let square = uniform(4000, 4000, 3, 1)?;
    assert!(by_columns(&square, &square, &square, None, tuning)?);
    assert!(!by_columns(&square, &square, &square, Some(1 << 19), tuning)?);
    Ok(())
}
