//! Refused arguments of plans, and their costs.
use super::{reals, shape};
use crate::common::{Family, blocks, device, nothing_taken};
use blockmul::{
    Bsr, Cbc, Csc, Device, DeviceVector, Error, Planned, generate,
    plan::{Apply, Diagonal, Norms},
};

fn text<R>(result: blockmul::Result<R>) -> String {
    result.map(drop).unwrap_err().to_string()
}

#[test]
fn operands_of_other_lengths_patterns_types_or_devices_are_refused() {
    let of = |seed| device().upload(&blocks::<f64>(Family::Uniform, 30, 20, 3, shape(2, 3), seed)).unwrap();
    let (a, other) = (of(1), of(2));
    let plan = Apply::<Cbc<f64>>::new(&a.pattern()).unwrap();
    let vector = |n| device().zero_vector::<f64>(n).unwrap();
    let (x, mut y) = (vector(60), plan.output().unwrap());
    plan.execute((&of(1), &x), &mut y).unwrap();
    assert!(
        plan.execute((&other, &x), &mut y)
            .unwrap_err()
            .to_string()
            .starts_with("A does not have the pattern of the plan")
    );
    assert_eq!(text(plan.execute((&a, &vector(59)), &mut y)), "x has 59 elements, 60 expected (A is 60x60 scalars)");
    assert!(text(plan.execute((&a, &x), &mut vector(61))).starts_with("y has 61 elements"));
    let mut scaled = of(1);
    assert!(text(scaled.scale_columns(&vector(20))).starts_with("d has 20 elements, 60 expected"));
    assert!(text(scaled.scale_rows(&vector(30))).starts_with("d has 30 elements, 60 expected"));
    assert!(text(x.dot(&vector(3))).starts_with("other has 3 elements, 60 expected"));
    let norms = Norms::<Cbc<f64>>::columns(&a.pattern()).unwrap();
    assert!(norms.execute(&other, &mut vector(60)).is_err());
    assert!(text(norms.execute(&a, &mut vector(20))).starts_with("norms has 20 elements, 60 expected"));
    assert!(matches!(Apply::<Bsr<f64>>::new(&a.pattern()), Err(Error::Argument(_))));
    assert!(matches!(Norms::<Csc<f64>>::rows(&a.pattern()), Err(Error::Argument(_))));

    let elsewhere = Device::open(device().info()).unwrap();
    let foreign: DeviceVector<f64> = elsewhere.zero_vector(60).unwrap();
    assert!(matches!(plan.execute((&a, &foreign), &mut y), Err(Error::DeviceMismatch { .. })));
    assert!(matches!(x.dot(&foreign), Err(Error::DeviceMismatch { .. })));
    assert!(matches!(scaled.scale_rows(&foreign), Err(Error::DeviceMismatch { .. })));

    let square = device().upload(&blocks::<f64>(Family::Banded, 30, 30, 3, shape(2, 2), 1)).unwrap();
    let diagonal = Diagonal::<Cbc<f64>>::new(&square.pattern()).unwrap();
    let mut wrong = device().upload(&blocks::<f64>(Family::Banded, 30, 30, 1, shape(3, 3), 1)).unwrap();
    assert!(diagonal.execute(&square, &mut wrong).is_err());
    assert!(diagonal.execute(&wrong, &mut diagonal.output().unwrap()).is_err());
    assert!(diagonal.scalars().execute(&square, &mut vector(30)).is_err());
}

#[test]
fn executions_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let host =
        generate::PoseChain { poses: 60, closures: 90, freedom: 3, seed: 2, ..Default::default() }.matrix().unwrap();
    let mut a = device.upload(&host).unwrap();
    let pattern = a.pattern();
    let multiply = Apply::<Cbc<f64>>::new(&pattern).unwrap();
    let transposed = Apply::<Cbc<f64>>::transposed(&pattern).unwrap();
    let norms = Norms::<Cbc<f64>>::columns(&pattern).unwrap();
    let diagonal = Diagonal::<Cbc<f64>>::new(&pattern).unwrap();
    let x = device.upload_vector(&reals::<f64>(180, 1)).unwrap();
    let (mut y, mut g, mut n) = (multiply.output().unwrap(), transposed.output().unwrap(), norms.output().unwrap());
    let (mut d, mut s) = (diagonal.output().unwrap(), diagonal.scalars().output().unwrap());
    let ones = device.upload_vector(&[1.0; 180]).unwrap();
    let before = device.counters();
    for _ in 0..100 {
        multiply.execute((&a, &x), &mut y).unwrap();
        transposed.execute((&a, &y), &mut g).unwrap();
        norms.execute(&a, &mut n).unwrap();
        diagonal.execute(&a, &mut d).unwrap();
        diagonal.scalars().execute(&a, &mut s).unwrap();
        a.scale_columns(&ones).unwrap();
        a.scale_rows(&ones).unwrap();
        g.axpby(1.0, &n, 0.0).unwrap();
    }
    let after = nothing_taken(&device, &before);
    assert!(after.commands >= before.commands + 800);
    // A dot product reads one number. The memory of a dot product comes from the pool, which
    // allocated it at the first one.
    x.dot(&ones).unwrap();
    let before = device.counters();
    x.dot(&ones).unwrap();
    let after = device.counters();
    assert_eq!((after.buffers_created, after.read_backs), (before.buffers_created, before.read_backs + 1));
}
