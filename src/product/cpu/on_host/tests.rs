use super::*;
use crate::{
    Cbc, DeviceInfo, DeviceKind, Error, Matrix, Product, device::test_device, generate, gustavson::Addition,
    matrix::Threshold, product::terms::BandConsumer, reference, resident::ColumnLengths, tuning::StageNumbers,
};

/// Computes A·B by `Method::Host` within `limit` bytes for C, and compares it with the reference.
/// Returns the number of bands.
fn check<M: Matrix + PartialEq>(a: &M, b: &M, limit: Option<u64>) -> Result<usize> {
    let (device, want) = (test_device(), reference::multiply(a, b)?);
    let x = device.upload(a)?;
    let other = if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) };
    let operands = x.device_bytes() + other.as_ref().map_or(0, |other| other.device_bytes());
    let product = Product::of(&x, other.as_ref().unwrap_or(&x)).method(Method::Host);
    let product = if let Some(limit) = limit { product.memory_limit(operands + limit) } else { product };
    let (c, report) = product.run_to_host()?;
    assert!(c == want);
    assert_eq!(report.products, reference::products(a, b));
    assert!(report.bins.iter().all(|bin| bin.method == Method::Host));
    let estimate = Product::of(a, b).method(Method::Host);
    let estimate = if let Some(limit) = limit { estimate.memory_limit(operands + limit) } else { estimate };
    let estimate = estimate.estimate(device.info())?;
    assert_eq!((estimate.products, estimate.bands), (report.products, report.bands));
    assert!(report.peak_device_bytes <= estimate.peak_device_bytes, "{report:?} {estimate:?}");
    Ok(report.bands)
}

fn uniform(rows: usize, cols: usize, per_column: usize, shape: (usize, usize), seed: u64) -> Result<Cbc<f64>> {
    generate::Uniform { rows, cols, per_column, shape: BlockShape::new(shape.0, shape.1)?, seed, ..Default::default() }
        .matrix()
}

#[test]
fn small_products_have_the_bits_of_the_reference_in_one_band_and_in_several() -> Result<()> {
    for (left, right) in [((1, 1), (1, 1)), ((6, 3), (3, 2)), ((5, 2), (2, 7))] {
        let (a, b) = (uniform(300, 200, 5, left, 1)?, uniform(200, 400, 4, right, 2)?);
        assert_eq!(check(&a, &b, None)?, 1);
        let area = left.0 * right.1;
        let few = (8000 * (4 + 8 * area) / 3) as u64;
        assert!(check(&a, &b, Some(few))? > 1, "{left:?}");
        check(&a.with_alignment(32)?, &b.with_alignment(16)?, None)?;
    }
    let a = uniform(300, 300, 5, (1, 1), 1)?.to_scalars();
    check(&a, &a, None)?;
    check(&crate::Csr::from_transpose(a.clone()), &crate::Csr::from_transpose(a.cast()), None)?;
    check(&a.cast::<half::f16>(), &a.cast(), None)?;
    Ok(())
}

#[test]
fn small_products_without_entries_have_none() -> Result<()> {
    let none = |rows, cols| crate::Csc::<f64>::from_triplets(rows, cols, []);
    for (rows, inner, cols) in [(0, 0, 0), (3, 4, 0), (0, 3, 2), (5, 0, 4), (4, 4, 4)] {
        check(&none(rows, inner)?, &none(inner, cols)?, None)?;
    }
    Ok(())
}

#[test]
fn c_stays_on_the_device_aligned_or_without_small_entries() -> Result<()> {
    let (device, a) = (test_device(), uniform(100, 100, 5, (3, 3), 1)?);
    let (x, want) = (device.upload(&a)?, reference::multiply(&a, &a)?);
    let host = || Product::of(&x, &x).method(Method::Host);
    let (c, report) = host().run_with_report()?;
    assert!(c.download()? == want && report.launches == 0, "{report:?}");
    assert_eq!(report.stages.iter().map(|stage| stage.name).collect::<Vec<_>>(), ["read", "multiply"]);
    assert!(host().alignment(64).run()?.download()? == want.with_alignment(64)?);
    let (c, report) = host().drop_below(Threshold::absolute(1.0)).run_to_host()?;
    assert!(report.dropped > 0 && c == crate::matrix::drop_below(&want, 1.0)?, "{report:?}");
    Ok(())
}

#[test]
fn a_column_that_does_not_fit_is_refused() -> Result<()> {
    let (a, device) = (uniform(4000, 50, 4000, (1, 1), 1)?, test_device());
    let (x, y) = (device.upload(&a)?, device.upload(&uniform(50, 3, 5, (1, 1), 2)?)?);
    let within = x.device_bytes() + y.device_bytes() + 20_000;
    let refused = Product::of(&x, &y).method(Method::Host).memory_limit(within).run();
    assert!(matches!(refused, Err(Error::Memory { needed, available, .. }) if needed > available));
    Ok(())
}

/// A CPU device with two cores, and the numbers and costs of CPUs.
fn cpu() -> (DeviceInfo, HostNumbers, MethodCosts) {
    let mut info = test_device().info().clone();
    (info.kind, info.compute_units) = (DeviceKind::Cpu, 2);
    (info, HostNumbers::of(DeviceKind::Cpu), MethodCosts::of_kind(DeviceKind::Cpu))
}

/// The sizes of A·A if every column of A has `each` entries.
fn size(columns: u64, each: u64, shape: BlockShape) -> (HostSize, Known) {
    let nnz = (columns * each) as usize;
    let payload = PayloadKind::of([shape.area(); 3]);
    let stored = columns * (each + 1);
    let lengths = Some(ColumnLengths { longest: each as u32, squares: columns * each * each });
    let known = Known::new(columns as usize, [nnz, columns as usize, columns as usize], nnz, [lengths; 2]);
    (HostSize { rows: columns, columns, read: stored, payload, shapes: (shape, shape) }, known)
}

#[test]
fn auto_takes_small_products_on_cpus_alone() -> Result<()> {
    let (cpu, numbers, costs) = cpu();
    let mut gpu = cpu.clone();
    gpu.kind = DeviceKind::Gpu;
    let scalar = BlockShape::SCALAR;
    let on = |info: &DeviceInfo, columns, each, shape| {
        let (size, known) = size(columns, each, shape);
        HostChoice::new(info, numbers, costs, size).is_some_and(|choice| choice.is_worth_reading(&known))
    };
    assert!(on(&cpu, 100, 4, scalar) && !on(&gpu, 100, 4, scalar));
    // Products of growing size: the host computes the small ones, the device all others.
    let host: Vec<bool> = (0..12).map(|power| on(&cpu, 10 << power, 8, scalar)).collect();
    assert!(host.is_sorted_by(|one, next| one >= next) && host[5] && !host[9], "{host:?}");
    // 1600 products of 2x2 blocks take 0.07 ms on the host and 0.33 ms on the device. 1600 products
    // of 6x6 blocks take 0.08 ms on the host and 0.37 ms on the device. Blocks of 12x12 need eight
    // times as many multiplications as blocks of 6x6.
    let blocks = [2, 12].map(|side| on(&cpu, 100, 4, BlockShape::new(side, side).unwrap()));
    assert_eq!(blocks, [true, false]);
    // 12,000 columns with one product each are copied by the device.
    assert!(on(&cpu, 100, 1, scalar) && !on(&cpu, 12_000, 1, scalar));
    assert!(HostChoice::new(&cpu, numbers, costs.without("host")?, size(10, 4, scalar).0).is_none());
    // If `host_entries` is 0, the host computes no product, not even one whose B has no columns.
    let none = HostNumbers { host_entries: 0, ..numbers };
    assert!(HostChoice::new(&cpu, none, costs, size(0, 0, scalar).0).is_none());
    assert!(HostChoice::new(&cpu, numbers, costs, size(0, 0, scalar).0).is_some());
    Ok(())
}

/// If there are no costs of ranges, the device computes by ESC, which takes longer than ranges.
#[test]
fn the_host_is_compared_with_esc_if_there_are_no_ranges() -> Result<()> {
    let (cpu, numbers, costs) = cpu();
    let by_esc = costs.without("dense")?;
    let on = |costs, columns, each| {
        let (size, known) = size(columns, each, BlockShape::SCALAR);
        HostChoice::new(&cpu, numbers, costs, size).is_some_and(|choice| choice.is_worth_reading(&known))
    };
    // The first case has 102,400 products. The second has one product in each of 4000 columns, and
    // takes 0.13 ms in ranges, 0.23 ms on the host and 0.32 ms by ESC. The third has one product in
    // each of 40,000 columns, for which ESC takes less time than the host.
    let sizes = [(1600, 8), (4000, 1), (40_000, 1)];
    assert_eq!(sizes.map(|(columns, each)| on(costs, columns, each)), [true, false, false]);
    assert_eq!(sizes.map(|(columns, each)| on(by_esc, columns, each)), [true, true, false]);
    // If there are no costs of ranges and none of ESC, the time of the host cannot be compared with
    // that of the device.
    assert!(!on(by_esc.without("esc")?, 1600, 8));
    Ok(())
}

#[test]
fn a_large_b_is_read_while_that_pays() {
    let (cpu, numbers, costs) = cpu();
    // A·B has 2000 products of entries. B has many more entries and columns than 2000 products
    // need.
    let (of_b, known) = size(100, 20, BlockShape::SCALAR);
    let known = Known { products: 2000, ..known };
    let on = |read: u64| {
        let size = HostSize { read, ..of_b };
        HostChoice::new(&cpu, numbers, costs, size).is_some_and(|choice| choice.is_worth_reading(&known))
    };
    let host: Vec<bool> = (0..8).map(|power| on(2000 << power)).collect();
    assert!(host.is_sorted_by(|one, next| one >= next) && host[1] && !host[7], "{host:?}");
}

#[test]
fn what_is_read_is_given_back_only_if_that_is_faster() {
    let (cpu, numbers, costs) = cpu();
    let (size, known) = size(1000, 8, BlockShape::SCALAR);
    let choice = HostChoice::new(&cpu, numbers, costs, size).expect("a choice");
    // Judges a product of `columns` equal columns. C has as few entries in a column as its rows
    // allow.
    let worth = |choice: &HostChoice, columns: usize, column: HostColumn| {
        let each = column.products.min(column.rows);
        let columns: Vec<_> = std::iter::repeat_n(column, columns).collect();
        choice.is_worth_it(&columns, |sampled| each * sampled.len() as u64)
    };
    let of = |products, rows, addition| HostColumn { entries: 8, products, rows, addition };
    let columns = |products| worth(&choice, 1000, of(products, 1000, Addition::Window));
    // Reading is a part of the host's time. So if it was worth reading the factors, the host also
    // computes the product if C has as few entries as expected.
    let known = |each: u64| Known { products: 1000 * each, ..known };
    let few = |products| worth(&choice, 1000, of(products, 1, Addition::Window));
    for each in 1..200 {
        assert!(few(each) || !choice.is_worth_reading(&known(each)), "{each}");
    }
    assert!(columns(8) && !columns(1000));
    // The largest product that is worth reading is left to the device if all products have
    // different rows.
    let last = (1..1000).rev().find(|&each| choice.is_worth_reading(&known(each))).expect("some");
    assert!(few(last) && !columns(last), "{last}");
    // The two products have equal sizes. In one of the two products, more products of entries fall
    // on the same row.
    let merging = |rows| worth(&choice, 1000, of(900, rows, Addition::Window));
    assert!(merging(200) && !merging(800));
    // Rows lie within a window, or beyond it. Only the sums of many rows do not fit a cache.
    let of_rows = |rows, addition| {
        let choice = HostChoice::new(&cpu, numbers, costs, HostSize { rows, ..size }).expect("a choice");
        worth(&choice, 1000, of(200, 1000, addition))
    };
    let additions = [Addition::Window, Addition::AllRows, Addition::Sorted];
    assert_eq!(additions.map(|addition| of_rows(1000, addition)), [true; 3]);
    assert_eq!(additions.map(|addition| of_rows(1 << 20, addition)), [true, false, false]);
    // If products have rows in common, the sums of few rows are used, and the sums are cached: 33
    // columns of a stencil of three unknowns a node, in a range of 185,000 rows, take 0.19 ms on
    // the host and 0.30 ms in ranges.
    let of_stencil = |merged: u64| {
        let size = HostSize { rows: 185_385, columns: 33, read: 2706, ..size };
        let choice = HostChoice::new(&cpu, numbers, costs, size).expect("a choice");
        let column = HostColumn { entries: 81, products: 6561, rows: 185_000, addition: Addition::AllRows };
        choice.is_worth_it(&[column; 33], |sampled| 6561 * sampled.len() as u64 / merged)
    };
    assert_eq!([17, 1].map(of_stencil), [true, false]);
    // Columns are sampled if the choice is not clear without samples, unless the bits of C's rows
    // take more memory than small products should.
    let sampled = |products, rows| {
        let choice = HostChoice::new(&cpu, numbers, costs, HostSize { rows, ..size }).expect("a choice");
        let (columns, count) = (vec![of(products, 1000, Addition::Window); 1000], std::cell::Cell::new(0));
        choice.is_worth_it(&columns, |sampled| {
            count.set(sampled.len());
            sampled.len() as u64
        });
        count.get()
    };
    assert_eq!([sampled(1, 1000), sampled(300, 1000), sampled(900, 1000), sampled(300, 1 << 30)], [0, 16, 9, 0]);
    // The columns have few products, which are sorted, or added in an array with a sum for each
    // row. The first writes to sums take longer than later writes.
    let of_few = |rows, addition| {
        let choice = HostChoice::new(&cpu, numbers, costs, HostSize { rows, columns: 2, read: 602, ..size });
        let column = HostColumn { entries: 300, products: 4800, rows, addition };
        worth(&choice.expect("a choice"), 2, column)
    };
    assert_eq!(additions.map(|addition| of_few(4 << 20, addition)), [true, false, true]);
    assert!(of_few(1 << 17, Addition::AllRows));
    assert!(of_few(1 << 30, Addition::Sorted) && !of_few(1 << 30, Addition::AllRows));
}

#[test]
fn bands_are_as_long_as_memory_allows() {
    let memory = HostMemory::new(test_device().info(), 8, BandConsumer::ANY);
    let col_ptr: Vec<u64> = (0..=100).map(|col| 1000 * col).collect();
    assert_eq!(memory.band(&col_ptr, u64::MAX), 100);
    let columns = memory.band(&col_ptr, 500_000);
    assert!(memory.need(columns as u64, 1000 * columns as u64) <= 500_000);
    assert!(memory.need(columns as u64 + 1, 1000 * (columns as u64 + 1)) > 500_000);
    assert_eq!((memory.band(&col_ptr, 0), memory.band(&[0], 0)), (1, 0), "a column is tried");
}
