//! Products of blocks whose columns are all short. Results have the bits of the reference.
use super::{OF_PRODUCT, most_within};
use crate::{
    BlockShape, Cbc, Element, Pattern, Planned, Result,
    device::test_device,
    generate::Random,
    product::{Method, Product},
    reference,
};

/// A matrix of blocks whose columns have these numbers of entries, at random rows.
fn matrix<T: Element>(nrows: u64, lengths: &[u64], shape: (usize, usize), seed: u64) -> Result<Cbc<T>> {
    let mut random = Random::new(seed);
    let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
    for &length in lengths {
        let rows = random.distinct(length, nrows);
        row_idx.extend(rows.iter().map(|&row| row as u32));
        col_ptr.push(row_idx.len() as u64);
    }
    let shape = BlockShape::new(shape.0, shape.1)?;
    let value = |i: usize| T::from_f64(((i * 2_654_435_761) % 1009) as f64 * 2f64.powi((i % 5) as i32 - 8) - 1.5);
    let values = (0..row_idx.len() * shape.area()).map(value).collect();
    Cbc::new(Pattern::new(nrows as usize, lengths.len(), col_ptr, row_idx)?, shape, values)
}

/// Computes C = A·B in registers, directly and by a plan, and compares it with the reference.
/// `sorted` says whether the product is expected to be sorted.
fn check<T: Element>(a: &Cbc<T>, b: &Cbc<T>, sorted: bool) -> Result<()> {
    let device = test_device();
    let want = reference::multiply(a, b)?;
    let (a, b) = (device.upload(a)?, device.upload(b)?);
    let product = Product::of(&a, &b).method(Method::Sort);
    let (c, report) = product.run_with_report()?;
    assert!(c.download()? == want);
    assert_eq!(report.bins.iter().all(|bin| bin.method == Method::Sort), sorted, "{:?}", report.bins);
    assert!(report.read_backs <= if sorted { 1 } else { 2 }, "{report:?}");
    let plan = product.plan()?;
    let mut c = plan.output()?;
    plan.execute((&a, &b), &mut c)?;
    assert!(c.download()? == want);
    assert_eq!(plan.cost().products, report.products);
    Ok(())
}

/// `columns` columns of at most `most` entries, some of them empty.
fn lengths(columns: usize, most: u64) -> Vec<u64> {
    (0..columns as u64).map(|col| [most, 0, col % (most + 1), 1, most][col as usize % 5]).collect()
}

#[test]
fn columns_of_every_class_agree_with_the_reference() -> Result<()> {
    for (number, (of_a, of_b)) in [
        (8, 4),
        (2, 17),
        (8, 8),
        (5, 19),
        (5, 25),
        (16, 12),
        (256, 1),
        (12, 32),
        (16, 32),
        (24, 32),
        (32, 32),
        (40, 32),
        (64, 32),
        (80, 32),
        (96, 32),
        (112, 32),
    ]
    .into_iter()
    .enumerate()
    {
        let [a_shape, b_shape] = [[(2, 2), (2, 2)], [(3, 3), (3, 3)], [(6, 3), (3, 6)], [(1, 2), (2, 1)]][number % 4];
        let a = matrix::<f64>(300, &lengths(200, of_a), a_shape, 1)?;
        // Long columns take most of the test's time, so B has few of them.
        let b = matrix::<f64>(200, &lengths(if number < 8 { 97 } else { 22 }, of_b), b_shape, 2)?;
        let sorted = of_a * of_b <= most_within(test_device().info(), OF_PRODUCT).into();
        check(&a, &b, sorted)?;
        // Each pair of shapes is tested once, from the shortest columns to the longest.
        if number % 4 == number / 4 {
            check(&a.cast::<f32>(), &b.cast::<f32>(), sorted)?;
        }
    }
    Ok(())
}

#[test]
fn padded_blocks_and_products_of_nothing_agree_with_the_reference() -> Result<()> {
    let a = matrix::<f64>(300, &lengths(200, 9), (3, 3), 1)?;
    let b = matrix::<f64>(200, &lengths(50, 9), (3, 3), 2)?.with_alignment(64)?;
    check(&a, &b, true)?;
    check(&a, &matrix(200, &[0; 40], (3, 3), 2)?, true)?;
    check(&a, &matrix(200, &[], (3, 3), 2)?, true)?;
    check(&matrix(300, &[0; 200], (3, 3), 1)?, &b, true)
}

/// Rows have so many bits that a key cannot hold a row and a place.
#[test]
fn columns_of_far_rows_agree_with_the_reference() -> Result<()> {
    for (of_a, of_b) in [(9, 20), (16, 16), (16, 32), (32, 32)] {
        let a = matrix::<f64>((1 << 24) + 1, &lengths(200, of_a), (1, 2), 1)?;
        let b = matrix::<f64>(200, &lengths(97, of_b), (2, 1), 2)?;
        check(&a, &b, true)?;
    }
    Ok(())
}

#[test]
fn longer_columns_are_left_to_esc() -> Result<()> {
    let a = matrix::<f64>(300, &lengths(200, 24), (2, 2), 1)?;
    check(&a, &matrix(200, &lengths(50, 161), (2, 2), 2)?, false)
}
