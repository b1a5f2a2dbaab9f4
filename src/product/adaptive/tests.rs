//! Every class of columns and of tasks, against the reference, to the bit.
use crate::{
    Csc, Element, Method, Result,
    device::{Device, test_device},
    generate::Random,
    product::Product,
    reference,
};

/// A matrix whose column j has the rows `rows(j)`, and values whose sums depend on their order.
fn matrix<T: Element>(nrows: usize, columns: impl IntoIterator<Item = Vec<u64>>) -> Result<Csc<T>> {
    let mut triplets = Vec::new();
    let mut ncols = 0;
    for (col, mut rows) in columns.into_iter().enumerate() {
        rows.sort_unstable();
        rows.dedup();
        triplets.extend(rows.into_iter().map(|row| (row as usize, col)));
        ncols = col + 1;
    }
    let value = |i: usize| ((i * 2_654_435_761) % 1009) as f64 * 2f64.powi((i % 5) as i32 - 8) - 1.5;
    let entries = triplets.into_iter().enumerate().map(|(i, (row, col))| (row, col, T::from_f64(value(i))));
    Csc::from_triplets(nrows, ncols, entries)
}

/// Columns of A and of B such that the columns of C belong to every class, and are cut into pieces
/// and windows: `spread` rows lie between neighbours.
fn operands<T: Element>(spread: u64, wide: u64) -> Result<(Csc<T>, Csc<T>)> {
    let mut random = Random::new(7);
    let n = 3000_u64;
    let column = |k: u64, random: &mut Random| match k % 7 {
        0 => vec![],
        1 => (0..3).map(|i| (k + i) * spread % wide).collect(),
        2 => (0..40).map(|i| (k + 2 * i) * spread % wide).collect(),
        3 => vec![k * spread % wide],
        4 => random.distinct(20, wide),
        5 => (0..70).map(|i| (k * 3 + i) % 500).collect(),
        _ => random.distinct(1 + k % 33, 2000),
    };
    let a = matrix(wide as usize, (0..n).map(|k| column(k, &mut random)).collect::<Vec<_>>())?;
    let lengths = [0, 1, 2, 3, 9, 31, 32, 33, 64, 65, 200, 600, 1024, 1025, 2999, 3000];
    let b = matrix(
        n as usize,
        lengths.iter().cycle().take(35).map(|&length| random.distinct(length, n)).collect::<Vec<_>>(),
    )?;
    Ok((a, b))
}

fn check<T: Element>(device: &Device, spread: u64, wide: u64) -> Result<()> {
    let (a, b) = operands::<T>(spread, wide)?;
    let want = reference::multiply(&a, &b)?;
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let (c, report) = Product::of(&x, &y).method(Method::Dense).run_with_report()?;
    let c = c.download()?;
    assert!(report.bins.iter().any(|bin| bin.method == Method::Dense), "{:?}", report.bins);
    assert_eq!((c.pattern().col_ptr(), c.pattern().row_idx()), (want.pattern().col_ptr(), want.pattern().row_idx()));
    assert!(c == want, "spread {spread}, {wide} rows of {}", T::NAME);
    Ok(())
}

#[test]
fn every_class_has_the_bits_of_the_reference() -> Result<()> {
    let device = test_device();
    for (spread, wide) in [(1, 3000), (11, 40_000), (300, 900_000)] {
        check::<f64>(&device, spread, wide)?;
    }
    check::<f32>(&device, 11, 40_000)?;
    check::<half::f16>(&device, 11, 40_000)
}
