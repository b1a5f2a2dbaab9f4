//! Compares estimates of products with products that are computed, for each method.
use crate::{
    BlockShape, Bsr, Cbc, Csc, DeviceMatrix, Error, Matrix, Method, Result,
    device::test_device,
    generate,
    matrix::Threshold,
    product::{Estimate, Product, Report},
};

/// Matrices of several families: columns of equal lengths, a power law, a band, one dense column
/// and row, single entries in every third column, and no entries. All have equally many rows, so
/// that they share kernels. The matrices are small, because kernels of tests are not optimised.
fn families() -> Result<Vec<(&'static str, Csc<f64>)>> {
    let n = 256;
    let uniform: Cbc<f64> = generate::Uniform { rows: n, cols: n, per_column: 7, ..Default::default() }.matrix()?;
    let from = |places: std::collections::BTreeSet<(usize, usize)>| {
        Csc::from_triplets(n, n, places.into_iter().map(|(row, col)| (row, col, 1.0 + (row % 7) as f64)))
    };
    let near = |i: usize| [0, 1, 2, 30, 31, 32].map(|k| (i, (i + k).min(n - 1)));
    Ok(vec![
        ("uniform", uniform.to_scalars()),
        ("power law", power_law(n)?),
        ("banded", from((0..n).flat_map(near).collect())?),
        ("arrow", from((0..n).flat_map(|i| [(i, 0), (0, i), (i, i)]).collect())?),
        ("single", from((0..n).step_by(3).map(|i| (i * 7 % n, i)).collect())?),
        ("none", from(Default::default())?),
    ])
}

fn power_law(nodes: usize) -> Result<Csc<f64>> {
    let graph: Cbc<f64> = generate::PowerLaw { nodes, edges: nodes * 10, ..Default::default() }.matrix()?;
    Ok(graph.to_scalars())
}

/// Computes A·B within `limit` bytes, with A, B and C on the host, and compares it with its
/// estimate.
fn compared<M: Matrix>(
    (a, b): (&M, &M),
    method: Method,
    limit: u64,
    threshold: Option<Threshold>,
) -> Result<(Report, Estimate)> {
    let (device, what) = (test_device(), format!("{method} within {limit}"));
    let (x, y) = (device.upload(a)?, if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) });
    let estimated = Product::of(a, b).method(method).memory_limit(limit);
    let product = Product::<DeviceMatrix<_>>::of(&x, y.as_ref().unwrap_or(&x)).method(method).memory_limit(limit);
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
    Ok((report, estimate))
}

/// Compares a product in one band with its estimate. If ESC is not used, the bound is at most 1.5
/// times the memory that is used.
fn whole<M: Matrix>(factors: (&M, &M), method: Method) -> Result<(Report, Estimate)> {
    let (report, estimate) = compared(factors, method, u64::MAX, None)?;
    assert_eq!((report.bands, estimate.bands), (1, 1), "{method}");
    let by_esc = report.bins.iter().any(|bin| matches!(bin.method, Method::Esc | Method::EscLocal));
    let (used, most) = (report.peak_device_bytes, estimate.peak_device_bytes);
    assert!(2 * most <= if by_esc { 8 } else { 3 } * used, "{method}: {used} of {most} bytes");
    Ok((report, estimate))
}

#[test]
fn products_keep_to_their_bounds() -> Result<()> {
    let mut most_bands = 0;
    for (name, a) in families()? {
        let of_scalars = Method::ALL.iter().copied().filter(|method| method.is_of_scalars());
        for method in [Method::Auto, Method::Host, Method::Esc, Method::EscLocal].into_iter().chain(of_scalars) {
            let (report, Estimate { operand_bytes, .. }) = whole((&a, &a), method)?;
            for parts in [2, 5] {
                let limit = operand_bytes + (report.peak_device_bytes - operand_bytes) / parts;
                match compared((&a, &a), method, limit, None) {
                    Ok((report, _)) => most_bands = most_bands.max(report.bands),
                    Err(Error::Memory { needed, available, .. }) => assert!(needed > available, "{name} by {method}"),
                    Err(other) => return Err(other),
                }
            }
        }
    }
    assert!(most_bands > 2, "{most_bands}");
    Ok(())
}

#[test]
fn products_that_drop_entries_keep_to_their_bounds() -> Result<()> {
    let a = power_law(400)?;
    for (method, threshold) in [
        (Method::Sort, Threshold::absolute(0.5)),
        (Method::Sort, Threshold::relative(0.5)),
        (Method::Dense, Threshold::relative(0.5)),
        (Method::Hash, Threshold::absolute(0.5)),
    ] {
        let (report, _) = compared((&a, &a), method, u64::MAX, Some(threshold))?;
        assert!(report.dropped > 0);
        compared((&a, &a), method, report.peak_device_bytes / 3 * 2, Some(threshold))?;
    }
    let none = Csc::<f64>::from_triplets(5000, 5000, [])?;
    for method in [Method::Hash, Method::Hub, Method::Dense, Method::Esc] {
        compared((&none, &none), method, u64::MAX, Some(Threshold::relative(0.5)))?;
    }
    Ok(())
}

/// Methods of scalars store no products, so they need one band where ESC needs several.
#[test]
fn one_band_by_methods_of_scalars_is_several_of_esc() -> Result<()> {
    let a = power_law(1024)?;
    let limit = Product::of(&a, &a).method(Method::Esc).estimate(test_device().info())?.peak_device_bytes / 5 * 4;
    let (dense, of_dense) = compared((&a, &a), Method::Dense, limit, None)?;
    let (esc, of_esc) = compared((&a, &a), Method::Esc, limit, None)?;
    assert_eq!((dense.bands, of_dense.bands), (1, 1));
    assert!(esc.bands > 1 && esc.bands == of_esc.bands);
    Ok(())
}

/// Columns of C have more rows than local memory holds, so hash tables are in global memory.
#[test]
fn tables_in_global_memory_are_bounded() -> Result<()> {
    let a: Cbc<f64> = generate::Uniform { rows: 50_000, cols: 60, per_column: 400, ..Default::default() }.matrix()?;
    let b: Cbc<f64> =
        generate::Uniform { rows: 60, cols: 9, per_column: 40, seed: 2, ..Default::default() }.matrix()?;
    let (a, b) = (a.to_scalars(), b.to_scalars());
    let (one, Estimate { operand_bytes, .. }) = whole((&a, &b), Method::Hash)?;
    assert_eq!(one.bins[0].method, Method::Hash);
    // With less memory fewer columns are computed at once, so their tables take less memory.
    let limit = operand_bytes + (one.peak_device_bytes - operand_bytes) / 3 * 2;
    let (banded, _) = compared((&a, &b), Method::Hash, limit, None)?;
    assert!(banded.bands > 1 && banded.bins.iter().all(|bin| bin.method == Method::Hash), "{banded:?}");
    Ok(())
}

/// Blocks are sorted only if all columns are short and method `sort` is requested.
#[test]
fn blocks_keep_to_their_bounds() -> Result<()> {
    let shape = BlockShape::new(2, 2)?;
    let uniform = |rows, cols, per_column| -> Result<Cbc<f64>> {
        generate::Uniform { rows, cols, per_column, shape, ..Default::default() }.matrix()
    };
    for (per_column, sorted) in [(3, true), (61, false)] {
        let a = uniform(300, 300, per_column)?;
        all_keep_to_their_bounds(&a, &a, sorted)?;
        // The arrays of matrices by rows are those of the transposes, and B's are the first factor.
        let (a, b) = (uniform(200, 300, per_column)?, uniform(300, 200, per_column)?);
        all_keep_to_their_bounds(&Bsr::from_transpose(a), &Bsr::from_transpose(b), sorted)?;
    }
    Ok(())
}

/// Compares A·B with its estimate, in one band and in several. `sorted` says whether method `sort`
/// sorts it.
fn all_keep_to_their_bounds<M: Matrix>(a: &M, b: &M, sorted: bool) -> Result<()> {
    let (report, _) = whole((a, b), Method::Sort)?;
    assert!(report.bins.iter().all(|bin| (bin.method == Method::Sort) == sorted), "{:?}", report.bins);
    for method in [Method::Auto, Method::Dense] {
        let (report, _) = whole((a, b), method)?;
        compared((a, b), method, report.peak_device_bytes / 3 * 2, None)?;
    }
    Ok(())
}
