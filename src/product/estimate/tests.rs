//! Compares estimates of products by each method with products.
use crate::{
    BlockShape, Bsr, Cbc, Csc, Error, Method, Result,
    device::test_device,
    generate,
    matrix::Threshold,
    product::{Estimate, Product, Report},
};

/// Matrices of several families: graphs, rows in a narrow range, one dense column and row, long
/// columns over single entries, and an empty one.
fn families() -> Result<Vec<(&'static str, Csc<f64>)>> {
    let (one, real) = (BlockShape::SCALAR, Default::default());
    let uniform: Cbc<f64> = generate::uniform(3000, 3000, 9, one, real, 2)?;
    let poses: Cbc<f64> = generate::pose_graph(300, 100, 6, real, 3)?;
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
    let graph: Cbc<f64> = generate::power_law(nodes, nodes * 10, BlockShape::SCALAR, Default::default(), 1)?;
    Ok(graph.to_scalars())
}

/// A product and its estimate.
struct Compared {
    report: Report,
    estimate: Estimate,
}

/// Computes A·B from host to host within `limit` bytes, and compares it with its estimate.
fn compared(
    (a, b): (&Csc<f64>, &Csc<f64>),
    method: Method,
    limit: u64,
    threshold: Option<Threshold>,
) -> Result<Compared> {
    let (device, what) = (test_device(), format!("{method} within {limit}"));
    let on_device = (device.upload(a)?, if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) });
    let estimated = Product::of(a, b).method(method).memory_limit(limit);
    let product = Product::of(&on_device.0, on_device.1.as_ref().unwrap_or(&on_device.0));
    let product = product.method(method).memory_limit(limit);
    let (estimated, product) = match threshold {
        Some(threshold) => (estimated.drop_below(threshold), product.drop_below(threshold)),
        None => (estimated, product),
    };
    let (_, report) = product.run_to_host()?;
    let estimate = estimated.estimate(device.info()).expect("the product is not refused");
    assert_eq!(estimate.products, report.products, "{what}");
    assert!(report.bands <= estimate.bands, "{what}: {} of {} bands", report.bands, estimate.bands);
    let (used, most) = (report.peak_device_bytes, estimate.peak_device_bytes);
    assert!(used <= most && most <= limit, "{what}: {used} of {most} bytes");
    assert!(report.held_device_bytes <= limit, "{what}: {report:?}");
    Ok(Compared { report, estimate })
}

fn whole(a: &Csc<f64>, method: Method) -> Result<Compared> {
    compared((a, a), method, u64::MAX, None)
}

#[test]
fn products_keep_to_their_bounds() -> Result<()> {
    let device = test_device();
    for (name, a) in families()? {
        let of_scalars = Method::ALL.iter().copied().filter(|method| method.is_of_scalars());
        for method in [Method::Auto, Method::Host, Method::Esc, Method::EscLocal].into_iter().chain(of_scalars) {
            let Compared { report, estimate } = whole(&a, method)?;
            assert_eq!((report.bands, estimate.bands), (1, 1), "{name} by {method}");
            let (used, most) = (report.peak_device_bytes, estimate.peak_device_bytes);
            assert!(most <= FACTOR * used, "{name} by {method}: {used} of {most} bytes");
            // The bound is a limit that keeps one band.
            let again = compared((&a, &a), method, most, None)?;
            assert_eq!((again.report.bands, again.estimate.bands), (1, 1), "{name} by {method}");
            // With less and less room there are bands at last, or a column does not fit.
            let mut room = used - estimate.operand_bytes;
            let cut = loop {
                room = room / 5 * 3;
                match compared((&a, &a), method, estimate.operand_bytes + room, None) {
                    Ok(less) if less.report.bands == 1 => {}
                    Ok(_) => break true,
                    Err(Error::Memory { needed, available, .. }) => {
                        assert!(needed > available, "{name} by {method}");
                        break false;
                    }
                    Err(other) => return Err(other),
                }
            };
            assert!(cut || report.products < 100_000, "{name} by {method}");
        }
        let nothing = Product::of(&a, &a).memory_limit(1000).estimate(device.info());
        assert!(matches!(nothing, Err(Error::Memory { available: 1000, .. })), "{name}");
    }
    Ok(())
}

/// A bound of these families is at most so many times what is used. It is largest where `auto` may
/// leave a product to ESC, or sorted keys are those of the longest column.
const FACTOR: u64 = 8;

#[test]
fn products_that_drop_entries_keep_to_their_bounds() -> Result<()> {
    let a = power_law(1024)?;
    for (method, threshold) in [
        (Method::Sort, Threshold::absolute(0.5)),
        (Method::Sort, Threshold::relative(0.5)),
        (Method::Dense, Threshold::relative(0.5)),
        (Method::Hash, Threshold::absolute(0.5)),
    ] {
        let Compared { report, .. } = compared((&a, &a), method, u64::MAX, Some(threshold))?;
        assert!(report.dropped > 0);
        compared((&a, &a), method, report.peak_device_bytes / 3 * 2, Some(threshold))?;
    }
    Ok(())
}

/// Methods of scalars need no memory for products, so one band is enough where ESC takes several.
#[test]
fn one_band_by_methods_of_scalars_is_several_of_esc() -> Result<()> {
    let a = power_law(1024)?;
    let limit = whole(&a, Method::Esc)?.report.peak_device_bytes / 5 * 4;
    let dense = compared((&a, &a), Method::Dense, limit, None)?;
    assert_eq!((dense.report.bands, dense.estimate.bands), (1, 1));
    assert!(compared((&a, &a), Method::Esc, limit, None)?.report.bands > 1);
    Ok(())
}

/// Tables of hashes in global memory, for columns of C with more rows than local memory holds.
#[test]
fn tables_in_global_memory_are_bounded() -> Result<()> {
    let a: Cbc<f64> = generate::uniform(50_000, 60, 400, BlockShape::SCALAR, Default::default(), 1)?;
    let b: Cbc<f64> = generate::uniform(60, 9, 40, BlockShape::SCALAR, Default::default(), 2)?;
    let (a, b) = (a.to_scalars(), b.to_scalars());
    let whole = compared((&a, &b), Method::Hash, u64::MAX, None)?;
    assert_eq!((whole.report.bands, whole.report.bins[0].method), (1, Method::Hash));
    // With less room fewer columns are computed at once, and their tables take less memory.
    let operands = whole.estimate.operand_bytes;
    let limit = operands + (whole.report.peak_device_bytes - operands) / 3 * 2;
    let Compared { report, .. } = compared((&a, &b), Method::Hash, limit, None)?;
    assert!(report.bands > 1 && report.bins.iter().all(|bin| bin.method == Method::Hash), "{report:?}");
    Ok(())
}

/// Blocks whose columns are all short are sorted if method `sort` is requested. Other blocks are
/// not.
#[test]
fn blocks_keep_to_their_bounds() -> Result<()> {
    let (device, shape) = (test_device(), BlockShape::new(2, 2)?);
    for (per_column, method) in [(3, Method::Sort), (61, Method::Sort), (9, Method::Auto), (9, Method::Dense)] {
        let a: Cbc<f64> = generate::uniform(300, 300, per_column, shape, Default::default(), 1)?;
        let by_rows = Bsr::from_transpose(a.transpose());
        let estimate = Product::of(&by_rows, &by_rows).method(method).estimate(device.info())?;
        let on_device = device.upload(&by_rows)?;
        let (_, report) = Product::of(&on_device, &on_device).method(method).run_to_host()?;
        assert_eq!((estimate.bands, report.bands, estimate.products), (1, 1, report.products));
        let (used, most) = (report.peak_device_bytes, estimate.peak_device_bytes);
        assert!(used <= most && most <= 3 * used, "{per_column} by {method}: {used} of {most} bytes");
    }
    Ok(())
}
