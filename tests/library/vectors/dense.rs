//! Products with dense matrices by the public interface. Columns have the bits of products with
//! vectors, and executions of plans allocate nothing and read nothing back. Refused arguments are
//! tested, too.
use super::{bits, reals, shape};
use crate::common::{Family, blocks, device, nothing_taken};
use blockmul::{
    Bsr, Cbc, Device, Error, Planned,
    dense::{DenseProduct, DenseShape, DenseView, DenseViewMut, Layout, Side},
    generate,
    plan::{Accum, Apply, ApplyDense},
    product::Factor,
    reference,
};

#[test]
fn columns_have_the_bits_of_products_with_vectors() -> blockmul::Result<()> {
    for shape in [shape(1, 1), shape(2, 3)] {
        let a = blocks::<f64>(Family::PowerLawColumns, 90, 70, 6, shape, 4);
        let a = device().upload(&a)?;
        let pattern = a.pattern();
        for transposed in [false, true] {
            let (dense, vectors) = match transposed {
                true => (ApplyDense::with(&pattern, 6).transposed(), Apply::with(&pattern).transposed()),
                false => (ApplyDense::with(&pattern, 6), Apply::with(&pattern)),
            };
            let (dense, vectors) = (dense.plan()?, vectors.plan()?);
            let (rows, cols) = dense.d_sides();
            let values = reals::<f64>(rows * cols, 9);
            let d = DenseView::new(DenseShape::new(rows, cols, Layout::ByColumns), &values)?;
            let mut c = dense.output()?;
            dense.execute((&a, &device().upload_dense(d)?), &mut c)?;
            let c = c.download()?;
            for col in 0..cols {
                let (x, mut y) = (device().upload_vector(&values[col * rows..][..rows])?, vectors.output()?);
                vectors.execute((&a, &x), &mut y)?;
                let found: Vec<f64> = c.column(col).iter().copied().collect();
                assert_eq!(bits(&found), bits(&y.download()?), "column {col} of {shape}, transposed {transposed}");
            }
        }
    }
    Ok(())
}

#[test]
fn executions_take_no_memory_and_read_nothing() -> blockmul::Result<()> {
    let device = Device::open(device().info())?; // so that the device's counters count only this test
    let host = generate::PoseChain { poses: 60, closures: 90, freedom: 3, seed: 2, ..Default::default() }.matrix()?;
    let a = device.upload(&host)?;
    let by_columns = |rows, cols| device.zero_dense::<f64>(DenseShape::new(rows, cols, Layout::ByColumns));
    let (left, right) = (by_columns(180, 7)?, by_columns(7, 180)?);
    let plan = ApplyDense::<Cbc<f64>>::with(&a.pattern(), 7).layouts(Layout::ByColumns, Layout::ByRows).plan()?;
    let mut packed = ApplyDense::with(&a.pattern(), 7).from_right().pack(&a)?;
    let (mut c, mut e) = (plan.output()?, packed.output()?);
    // The first execution with a layout other than the plan's reserves memory.
    packed.execute(&right, &mut e)?;
    let before = device.counters();
    for _ in 0..20 {
        plan.execute((&a, &left), Accum::into(&mut c).alpha(2.0).beta(0.5))?;
        packed.update(&a)?;
        packed.execute(&right, &mut e)?;
    }
    nothing_taken(&device, &before);
    Ok(())
}

#[test]
fn a_plan_of_rows_reads_nothing() -> blockmul::Result<()> {
    let device = Device::open(device().info())?; // so that the device's counters count only this test
    let by_columns =
        generate::PoseChain { poses: 60, closures: 90, freedom: 3, seed: 2, ..Default::default() }.matrix()?;
    let by_rows = Bsr::from_transpose(by_columns.try_transpose()?);
    let (by_columns, by_rows) = (device.upload(&by_columns)?, device.upload(&by_rows)?);
    let before = device.counters().read_backs;
    ApplyDense::<Bsr<f64>>::new(&by_rows.pattern(), 7)?;
    ApplyDense::<Cbc<f64>>::with(&by_columns.pattern(), 7).transposed().plan()?;
    assert_eq!(device.counters().read_backs, before, "the host has seen how long rows are");
    Ok(())
}

/// The test has products with a limit of memory, for which D on the host is multiplied in bands,
/// for each side and layout.
#[test]
fn bands_have_the_bits_of_the_whole() -> blockmul::Result<()> {
    let host = blocks::<f64>(Family::PowerLawColumns, 40, 30, 5, shape(2, 3), 4);
    let a = device().upload(&host)?;
    let n = 700;
    let limit = 300 << 10;
    for (side, transposed) in [(Side::Left, false), (Side::Left, true), (Side::Right, false), (Side::Right, true)] {
        let (rows, cols) = if transposed { (90, 80) } else { (80, 90) };
        let (d_sides, c_sides) = match side {
            Side::Left => ((cols, n), (rows, n)),
            Side::Right => ((n, rows), (n, cols)),
        };
        let layouts = [Layout::ByRows, Layout::ByColumns];
        for (d_layout, c_layout) in layouts.into_iter().zip([layouts[usize::from(transposed)]; 2]) {
            let d_shape = DenseShape::new(d_sides.0, d_sides.1, d_layout);
            let d_shape = d_shape.with_leading(d_shape.leading + 3);
            let c_shape = DenseShape::new(c_sides.0, c_sides.1, c_layout);
            let (values, mut want) = (reals::<f64>(d_shape.len(), 9), vec![0.0; c_shape.len()]);
            let d = DenseView::new(d_shape, &values)?;
            let factor = Factor { operand: &host, transposed };
            reference::multiply_dense(side, factor, d, (1.0, 0.0), DenseViewMut::new(c_shape, &mut want)?)?;
            let factor = if transposed { a.t() } else { (&a).into() };
            let product = if side == Side::Left { DenseProduct::of(factor, d) } else { DenseProduct::by(d, factor) };
            let mut c = vec![0.0; c_shape.len()];
            let report = product.clone().memory_limit(limit).run_into(DenseViewMut::new(c_shape, &mut c)?)?;
            assert_eq!(bits(&c), bits(&want), "{side:?} {transposed} {d_layout} {c_layout}");
            assert!(report.bands > 1 && report.bands * report.columns >= n, "{report:?}");
            assert!(report.peak_device_bytes <= limit, "{report:?}");
            let want = DenseView::new(c_shape, &want)?.to_matrix();
            let (whole, report) = product.run_to_host()?;
            assert_eq!((bits(whole.as_slice()), report.bands), (bits(want.as_slice()), 1));
            assert_eq!(product.run()?.download()?, whole);
            let on_device = device().upload_dense(d)?;
            let factor = if transposed { a.t() } else { (&a).into() };
            let product = if side == Side::Left {
                DenseProduct::of(factor, &on_device)
            } else {
                DenseProduct::by(&on_device, factor)
            };
            assert_eq!(product.run_to_host()?.0, whole);
            let refused = product.memory_limit(limit).run();
            assert!(matches!(refused, Err(Error::Memory { .. })), "D alone has more bytes");
        }
    }
    let d = reals::<f64>(90, 9);
    let d = DenseView::new(DenseShape::new(90, 1, Layout::ByRows), &d)?;
    let refused = DenseProduct::of(&a, d).memory_limit(1 << 12).run_to_host().unwrap_err().to_string();
    assert!(refused.contains("with one column of D and of C at a time: "), "{refused}");
    assert!(refused.contains("device memory within a limit of 4096 bytes"), "{refused}");
    let refused = DenseProduct::by(d, &a).run_to_host().unwrap_err().to_string();
    assert!(refused.starts_with("D is 90x1, 90x80 expected"), "{refused}");
    let plan = DenseProduct::of(&a, d).plan()?;
    assert_eq!((plan.d_sides(), plan.c_sides()), ((90, 1), (80, 1)));
    Ok(())
}

#[test]
fn operands_of_other_patterns_and_devices_are_refused() -> blockmul::Result<()> {
    let of = |seed| device().upload(&blocks::<f64>(Family::Uniform, 30, 20, 3, shape(2, 3), seed));
    let (a, other) = (of(1)?, of(2)?);
    let plan = ApplyDense::<Cbc<f64>>::new(&a.pattern(), 2)?;
    let d = device().zero_dense::<f64>(DenseShape::new(60, 2, Layout::ByRows))?;
    let mut c = plan.output()?;
    assert!(matches!(plan.execute((&other, &d), &mut c), Err(Error::PlanPattern(_))));
    let elsewhere = Device::open(device().info())?;
    let foreign = elsewhere.zero_dense::<f64>(d.shape())?;
    assert!(matches!(plan.execute((&a, &foreign), &mut c), Err(Error::DeviceMismatch { .. })));
    assert!(format!("{plan:?}").starts_with("ApplyDense(DevicePattern(30x20 entries of 2x3"));
    Ok(())
}
