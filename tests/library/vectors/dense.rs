//! Products with dense matrices by the public interface: columns have the bits of products with
//! vectors, plans take no memory and read nothing, refusals.
use super::{bits, reals, shape};
use crate::common::{Family, blocks, device};
use blockmul::{
    Cbc, Device, Error, Planned,
    dense::{DenseShape, DenseView, Layout},
    generate::{self, Values},
    plan::{Accum, Apply, ApplyDense},
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
    let device = Device::open(device().info())?; // counters of its own
    let host = generate::pose_graph(60, 90, 3, Values::Real, 2)?;
    let a = device.upload(&host)?;
    let by_columns = |rows, cols| device.zero_dense::<f64>(DenseShape::new(rows, cols, Layout::ByColumns));
    let (left, right) = (by_columns(180, 7)?, by_columns(7, 180)?);
    let plan = ApplyDense::<Cbc<f64>>::with(&a.pattern(), 7).layouts(Layout::ByColumns, Layout::ByRows).plan()?;
    let mut packed = ApplyDense::with(&a.pattern(), 7).from_right().pack(&a)?;
    let (mut c, mut e) = (plan.output()?, packed.output()?);
    // The first execution by another layout than was said reserves memory.
    packed.execute(&right, &mut e)?;
    let before = device.counters();
    for _ in 0..20 {
        plan.execute((&a, &left), Accum::into(&mut c).alpha(2.0).beta(0.5))?;
        packed.update(&a)?;
        packed.execute(&right, &mut e)?;
    }
    device.finish()?;
    let after = device.counters();
    assert_eq!(
        (after.buffers_created, after.buffers_taken, after.read_backs),
        (before.buffers_created, before.buffers_taken, before.read_backs)
    );
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
