//! Triple products R·A·P and RᵀAR.
use super::*;

fn triple_of<T: Element>(b: usize, m: usize) {
    let a = uniform::<T>(40, 40, shape(b, b), 1);
    let r =
        generate::Uniform { rows: 40, cols: 12, per_column: 3, shape: shape(b, m), values: Values::Integer, seed: 2 }
            .matrix()
            .unwrap()
            .cast::<T>();
    let right = reference::multiply(&a, &r).unwrap();
    let want = reference::multiply(&r.transpose(), &right).unwrap();
    let (da, dr) = (device().upload(&a).unwrap(), device().upload(&r).unwrap());
    let plan = Product::of(dr.t(), &da).times(&dr).plan().unwrap();
    let mut c = plan.output().unwrap();
    plan.execute((&dr, &da, &dr), &mut c).unwrap();
    assert_eq!(bits(&c.download().unwrap()), bits(&want), "{b}x{b}, {b}x{m} of {}", T::NAME);
    assert_eq!(plan.cost().products, reference::products(&a, &r) + reference::products(&r.transpose(), &right));
    let flops = 2 * (reference::products(&a, &r) * b as u64 + reference::products(&r.transpose(), &right) * m as u64);
    assert_eq!(plan.cost().flops, flops * (b * m) as u64);

    // R is stored transposed, and P is another matrix.
    let drt = device().upload(&r.transpose()).unwrap();
    let p = uniform::<T>(40, 9, shape(b, 2), 3);
    let dp = device().upload(&p).unwrap();
    let plan = Product::of(&drt, &da).times(&dp).plan().unwrap();
    let mut c = plan.output().unwrap();
    plan.execute((&drt, &da, &dp), &mut c).unwrap();
    let want = reference::multiply(&r.transpose(), &reference::multiply(&a, &p).unwrap()).unwrap();
    assert_eq!(bits(&c.download().unwrap()), bits(&want), "R·A·P of {}", T::NAME);
}

#[test]
fn triple_products_are_two_products_of_the_reference() {
    for (b, m) in [(1, 1), (6, 3), (3, 6), (5, 4)] {
        triple_of::<f64>(b, m);
        triple_of::<f32>(b, m);
        triple_of::<f16>(b, m);
    }
    let (a, r) = (uniform::<f64>(30, 30, shape(3, 3), 1), uniform::<f64>(30, 8, shape(3, 2), 2));
    let by_rows = |matrix: &Cbc<f64>| Bsr::from_transpose(matrix.transpose());
    let (da, dr) = (device().upload(&by_rows(&a)).unwrap(), device().upload(&by_rows(&r)).unwrap());
    let plan = Product::of(dr.t(), &da).times(&dr).plan().unwrap();
    let mut c = plan.output().unwrap();
    plan.execute((&dr, &da, &dr), &mut c).unwrap();
    let want = reference::multiply(&r.transpose(), &reference::multiply(&a, &r).unwrap()).unwrap();
    assert_eq!(c.download().unwrap(), by_rows(&want));
}

#[test]
fn triple_and_masked_executions_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let a =
        generate::PoseChain { poses: 60, closures: 90, freedom: 3, seed: 2, ..Default::default() }.matrix().unwrap();
    let r = real(60, 20, 2, shape(3, 2), 3);
    let (mut da, dr) = (device.upload(&a).unwrap(), device.upload(&r).unwrap());
    let triple = Product::of(dr.t(), &da).times(&dr).plan().unwrap();
    let masked = Product::of(&da, &da).mask(&da.pattern()).plan().unwrap();
    let (mut c, mut m) = (triple.output().unwrap(), masked.output().unwrap());
    for step in 1..4 {
        let values: Vec<f64> = a.values().iter().map(|x| x * (step as f64 + 0.1)).collect();
        let now = Cbc::new(a.pattern().clone(), a.shape(), values).unwrap();
        da.write_values(now.values()).unwrap();
        let before = device.counters();
        triple.execute((&dr, &da, &dr), &mut c).unwrap();
        masked.execute((&da, &da), &mut m).unwrap();
        device.finish().unwrap();
        let after = device.counters();
        assert_eq!((after.buffers_taken, after.read_backs), (before.buffers_taken, before.read_backs));
        assert!(after.commands >= before.commands + 3);
        let want = reference::multiply(&r.transpose(), &reference::multiply(&now, &r).unwrap()).unwrap();
        assert_eq!(bits(&c.download().unwrap()), bits(&want));
        let want = selected(&reference::multiply(&now, &now).unwrap(), a.pattern());
        assert_eq!(bits(&m.download().unwrap()), bits(&want));
    }
    // Executions with alpha and beta, and factors that are refused.
    let before = c.download().unwrap();
    triple.execute((&dr, &da, &dr), Accum::into(&mut c).alpha(2.0).beta(-1.0)).unwrap();
    assert_eq!(bits(&c.download().unwrap()), bits(&before), "2C - C");
    for (x, y, z, number) in [(&da, &da, &dr, 1), (&dr, &dr, &dr, 2), (&dr, &da, &da, 3)] {
        let message = triple.execute((x, y, z), &mut c).unwrap_err().to_string();
        assert!(message.starts_with(&format!("factor {number} does not have the pattern of the plan")), "{message}");
    }
    assert!(triple.cost().device_bytes > 0);
    let mismatch = Product::of(da.t(), &dr).times(&da).plan();
    assert!(matches!(mismatch, Err(Error::Dimensions { .. })));
}
