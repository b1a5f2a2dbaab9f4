//! Products from which small entries are dropped.
use super::*;
use crate::common::to_host;

/// Checks that the product without its small entries has the bits of the reference, in every way to
/// compute it.
fn check_dropped<M: Matrix<Element: Field> + PartialEq + std::fmt::Debug>(a: &M, b: &M, threshold: Threshold) -> u64 {
    let want = drop_below(&reference::multiply(a, b).unwrap(), threshold).unwrap();
    let (da, db) = (device().upload(a).unwrap(), device().upload(b).unwrap());
    let whole = Product::of(a, b).drop_below(threshold).estimate(device().info()).unwrap();
    let room = whole.peak_device_bytes - whole.operand_bytes;
    for limit in [u64::MAX, whole.operand_bytes + room * 3 / 4] {
        let (c, report) = to_host(&device(), a, b, |p| p.drop_below(threshold).memory_limit(limit)).unwrap();
        assert!(c == want, "{threshold:?}");
        let told = Product::of(a, b).drop_below(threshold).memory_limit(limit).estimate(device().info()).unwrap();
        assert!(report.bands <= told.bands, "{report:?} within {told:?}");
        assert!(report.peak_device_bytes <= told.peak_device_bytes, "{report:?} within {told:?}");
        assert!(report.held_device_bytes <= limit);
        assert!((limit == u64::MAX) == (report.bands == 1), "{} bands within {limit}", report.bands);
        assert_eq!(report.stages.last().unwrap().name, "drop");
    }
    let (c, report) = Product::of(&da, &db).drop_below(threshold).run_with_report().unwrap();
    assert!(c.download().unwrap() == want, "{threshold:?}, on the device");
    assert_eq!(Product::of(&da, &db).run().unwrap().drop_below(threshold).unwrap().download().unwrap(), want);
    report.dropped
}

#[test]
fn products_without_their_small_entries() {
    let a = real(900, 800, 12, shape(1, 1), 4);
    let b = real(800, 1000, 12, shape(1, 1), 5);
    for threshold in [
        Threshold::absolute(0.3),
        Threshold::relative(0.2),
        Threshold::absolute(0.3).keep_diagonal(),
        Threshold::relative(0.9).keep_diagonal(),
    ] {
        assert!(check_dropped(&a, &b, threshold) > 1000);
        assert!(check_dropped(&a.cast::<f32>(), &b.cast(), threshold) > 1000);
    }
    let (a, b) = (real(300, 200, 6, shape(3, 6), 4), uniform(200, 300, shape(6, 3), 5));
    assert!(check_dropped(&a, &b, Threshold::absolute(5.0)) > 100);
    let by_rows = |matrix: &Cbc<f64>| Bsr::from_transpose(matrix.transpose());
    assert!(check_dropped(&by_rows(&a), &by_rows(&b), Threshold::relative(0.3)) > 100);
}

#[test]
fn the_diagonal_stays_in_every_band_and_nan_everywhere() {
    let n = 30_000;
    let band = (0..n).flat_map(|j| (j..n.min(j + 3)).map(move |i| (i, j, if i == j { 1e-3 } else { 2e-3 })));
    let mut a = Csc::from_triplets(n, n, band).unwrap();
    let values: Vec<f64> =
        a.values().iter().enumerate().map(|(i, &x)| if i % 500 == 7 { f64::NAN } else { x }).collect();
    a = Csc::new(a.pattern().clone(), values).unwrap();
    let threshold = Threshold::absolute(1.0).keep_diagonal();
    let limit = Product::of(&a, &a).drop_below(threshold).estimate(device().info()).unwrap().peak_device_bytes * 3 / 4;
    let (c, report) = to_host(&device(), &a, &a, |p| p.drop_below(threshold).memory_limit(limit)).unwrap();
    let whole = reference::multiply(&a, &a).unwrap();
    let nan = (0..whole.nnz()).filter(|&e| whole.values()[e].is_nan()).count();
    let entry = |j: usize, i: usize| c.pattern().column(j).iter().position(|&row| row as usize == i);
    assert!((0..n).all(|j| entry(j, j).is_some()) && report.bands > 1, "{} bands", report.bands);
    assert_eq!(c.values().iter().filter(|x| x.is_nan()).count(), nan);
    assert!(nan > 0 && c.nnz() < n + nan);
}

#[test]
fn tolerances_that_are_none_and_masks_with_tolerances_are_refused() {
    let a = common::scalars::<f64>(Family::Uniform, 9, 9, 3, 1);
    let da = device().upload(&a).unwrap();
    for wrong in [-1e-300, f64::NAN, f64::INFINITY] {
        let message = Product::of(&da, &da).drop_below(wrong).run().unwrap_err().to_string();
        assert_eq!(message, format!("a tolerance must be 0 or more, and finite: it is {wrong}"));
        assert!(matches!(da.drop_below(Threshold::relative(wrong)), Err(Error::Argument(_))));
        assert!(matches!(drop_below(&a, wrong), Err(Error::Argument(_))));
    }
    let message = Product::of(&da, &da).mask(&da.pattern()).drop_below(1.0).run().unwrap_err().to_string();
    assert!(message.starts_with("a masked product has the mask's pattern"), "{message}");
}
