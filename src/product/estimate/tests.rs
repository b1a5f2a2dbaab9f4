//! Compares estimates of products by methods of scalars with products.
use crate::{
    BlockShape, Cbc, Csc, DeviceMatrix, Error, Method, Result,
    device::test_device,
    generate,
    matrix::Threshold,
    product::{Product, Report},
};

/// Matrices of several families: graphs, rows in a narrow range, one dense column and row, long
/// columns over single entries, and an empty one.
fn families() -> Result<Vec<(&'static str, Csc<f64>)>> {
    let (one, real) = (BlockShape::SCALAR, Default::default());
    let uniform: Cbc<f64> =
        generate::Uniform { rows: 3000, cols: 3000, per_column: 9, shape: one, values: real, seed: 2 }.matrix()?;
    let poses: Cbc<f64> =
        generate::PoseChain { poses: 300, closures: 100, freedom: 6, values: real, seed: 3 }.matrix()?;
    let n = 700;
    let diagonals = |i: usize| [0, 1, 2, 30, 31, 32].map(|k| (i, (i + k).min(n - 1)));
    let from = |places: std::collections::BTreeSet<(usize, usize)>| {
        Csc::from_triplets(n, n, places.into_iter().map(|(row, col)| (row, col, 1.0 + (row % 7) as f64)))
    };
    let banded = from((0..n).flat_map(diagonals).collect())?;
    let arrow = from((0..n).flat_map(|i| [(i, 0), (0, i), (i, i)]).collect())?;
    let single = from((0..n).map(|i| (i * 3 % n, i)).collect())?;
    let none = Csc::from_triplets(50, 50, [])?;
    let [uniform, poses] = [uniform, poses].map(|a| a.to_scalars());
    let blocks = [("power law", power_law(2048)?), ("uniform", uniform), ("poses", poses)];
    Ok(blocks.into_iter().chain([("banded", banded), ("arrow", arrow), ("single", single), ("none", none)]).collect())
}

fn power_law(nodes: usize) -> Result<Csc<f64>> {
    let graph: Cbc<f64> = generate::PowerLaw { nodes, edges: nodes * 10, ..Default::default() }.matrix()?;
    Ok(graph.to_scalars())
}

/// Computes A·A from host to host within `limit` bytes, and compares it with its estimate.
fn as_estimated(
    (name, a): (&str, &Csc<f64>),
    method: Method,
    limit: u64,
    threshold: Option<Threshold>,
) -> Result<Report> {
    let (device, what) = (test_device(), format!("{name} by {method} within {limit}"));
    let (estimated, on_device) = (Product::of(a, a).method(method).memory_limit(limit), device.upload(a)?);
    let product = Product::<DeviceMatrix<_>>::of(&on_device, &on_device).method(method).memory_limit(limit);
    let (estimated, product) = match threshold {
        Some(threshold) => (estimated.drop_below(threshold), product.drop_below(threshold)),
        None => (estimated, product),
    };
    let estimated = estimated.estimate(device.info())?;
    let (c, report) = product.run_to_host()?;
    if threshold.is_none() {
        assert!(c == crate::reference::multiply(a, a)?, "{what}");
    }
    assert_eq!((estimated.products, estimated.bands), (report.products, report.bands), "{what}");
    assert_eq!(estimated.bins, report.bins, "{what}");
    let (used, most) = (report.peak_device_bytes, estimated.peak_device_bytes);
    assert!(used <= most && most <= limit, "{what}: {used} of {most} bytes");
    assert!(report.held_device_bytes <= limit, "{what}: {report:?}");
    // ESC's memory is bounded by that of C without products that meet. Without so much its part of
    // the columns is not begun.
    let has = |method| report.bins.iter().any(|bin| bin.method == method);
    let most_halves = if has(Method::EscLocal) { 8 } else { 3 };
    assert!(has(Method::Esc) || 2 * most <= most_halves * used, "{what}: {used} of {most} bytes");
    Ok(report)
}

#[test]
fn bins_bands_and_memory_are_those_of_the_product() -> Result<()> {
    for (name, a) in families()? {
        let of_scalars = Method::ALL.iter().copied().filter(|method| method.is_of_scalars());
        for method in [Method::Auto, Method::Esc].into_iter().chain(of_scalars) {
            let whole = as_estimated((name, &a), method, u64::MAX, None)?;
            assert_eq!(whole.bands, 1);
            let operands = Product::of(&a, &a).estimate(test_device().info())?.operand_bytes;
            let room = whole.peak_device_bytes - operands;
            // With less room, another way to the same band may be found.
            let rooms = std::iter::successors(Some(room / 5 * 3), |room| Some(room / 5 * 4));
            let banded = rooms.map(|room| as_estimated((name, &a), method, operands + room, None));
            let cut = |result: &Result<Report>| result.as_ref().map_or(true, |report| report.bands > 1);
            match banded.take(30).find(cut) {
                // In small products most memory does not depend on the band.
                None => assert!(whole.products < 100_000, "{name} by {method}"),
                Some(Err(Error::Memory { needed, available, .. })) if whole.products < 100_000 => {
                    assert!(needed > available, "{name} by {method}");
                }
                Some(other) => assert!(other?.bands > 1),
            }
        }
    }
    Ok(())
}

#[test]
fn the_memory_of_dropped_entries_is_foretold() -> Result<()> {
    let (name, a) = ("power law", power_law(1024)?);
    for (method, threshold) in [
        (Method::Sort, Threshold::absolute(0.5)),
        (Method::Sort, Threshold::relative(0.5)),
        (Method::Dense, Threshold::relative(0.5)),
        (Method::Hash, Threshold::absolute(0.5)),
    ] {
        let whole = as_estimated((name, &a), method, u64::MAX, Some(threshold))?;
        assert!(whole.dropped > 0);
        as_estimated((name, &a), method, whole.peak_device_bytes / 3 * 2, Some(threshold))?;
    }
    Ok(())
}

/// Methods of scalars need no memory for products, so one band is enough where ESC takes several.
#[test]
fn one_band_by_methods_of_scalars_is_several_of_esc() -> Result<()> {
    let (name, a) = ("power law", power_law(1024)?);
    let dense = as_estimated((name, &a), Method::Dense, u64::MAX, None)?;
    let limit = Product::of(&a, &a).method(Method::Esc).estimate(test_device().info())?.peak_device_bytes / 5 * 4;
    assert!(dense.peak_device_bytes < limit);
    assert_eq!(as_estimated((name, &a), Method::Dense, limit, None)?.bands, 1);
    assert!(as_estimated((name, &a), Method::Esc, limit, None)?.bands > 1);
    Ok(())
}

/// Tables of hashes in global memory, for columns of C with more rows than local memory holds.
#[test]
fn tables_in_global_memory_are_estimated() -> Result<()> {
    let device = test_device();
    let a: Cbc<f64> = generate::Uniform { rows: 50_000, cols: 60, per_column: 400, ..Default::default() }.matrix()?;
    let b: Cbc<f64> =
        generate::Uniform { rows: 60, cols: 9, per_column: 40, seed: 2, ..Default::default() }.matrix()?;
    let (a, b) = (a.to_scalars(), b.to_scalars());
    let (on_device, other) = (device.upload(&a)?, device.upload(&b)?);
    let within = |method, limit| -> Result<Report> {
        let estimated = Product::of(&a, &b).method(method).memory_limit(limit).estimate(device.info())?;
        let (_, report) = Product::of(&on_device, &other).method(method).memory_limit(limit).run_to_host()?;
        assert_eq!((estimated.bands, &estimated.bins), (report.bands, &report.bins), "{report:?}, {estimated:?}");
        assert!(report.peak_device_bytes <= estimated.peak_device_bytes, "{report:?}, {estimated:?}");
        assert!(estimated.peak_device_bytes <= limit);
        Ok(report)
    };
    let whole = within(Method::Hash, u64::MAX)?;
    assert_eq!((whole.bands, whole.bins[0].method), (1, Method::Hash));
    // With less room fewer columns are computed at once, and their tables take less memory.
    let operands = Product::of(&a, &b).estimate(device.info())?.operand_bytes;
    let banded = within(Method::Hash, operands + (whole.peak_device_bytes - operands) / 3 * 2)?;
    assert!(banded.bands > 1 && banded.bins.iter().all(|bin| bin.method == Method::Hash), "{banded:?}");
    Ok(())
}

/// Blocks whose columns are all short are sorted if method `sort` is requested. Other blocks are
/// not.
#[test]
fn short_columns_of_blocks_are_foretold() -> Result<()> {
    let (device, shape) = (test_device(), BlockShape::new(2, 2)?);
    for (per_column, method) in [(3, Method::Sort), (61, Method::Esc)] {
        let a: Cbc<f64> =
            generate::Uniform { rows: 300, cols: 300, per_column, shape, ..Default::default() }.matrix()?;
        let estimated = Product::of(&a, &a).method(Method::Sort).estimate(device.info())?;
        let on_device = device.upload(&a)?;
        let (_, report) = Product::of(&on_device, &on_device).method(Method::Sort).run_to_host()?;
        assert_eq!((estimated.bands, &estimated.bins), (report.bands, &report.bins));
        let by_esc = |method| matches!(method, Method::Esc | Method::EscLocal);
        let found = report.bins[0].method;
        assert!(report.bins.len() == 1 && (found == method || by_esc(found) && by_esc(method)), "{found}");
        assert!(report.peak_device_bytes <= estimated.peak_device_bytes, "{report:?}, {estimated:?}");
    }
    Ok(())
}
