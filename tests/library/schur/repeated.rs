//! Repeated executions.
use super::*;

#[test]
fn a_thousand_executions_change_no_bit_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // counters of its own
    let data = Uploaded::<f64>::new(&device, &problem(&seen(10, 100, 3, 1), 2, 6, 3, 5));
    let mut schur = data.schur();
    let damping = Damping::Marquardt(1e-4);
    data.execute(&mut schur, damping).unwrap();
    let x_c = device.upload_vector(&schur.rhs().unwrap().download().unwrap()).unwrap();
    let mut x_p = device.zero_vector(300).unwrap();
    schur.back_substitute(&x_c, &mut x_p).unwrap();
    let (s, r, x) =
        (schur.s().unwrap().download().unwrap(), schur.rhs().unwrap().download().unwrap(), x_p.download().unwrap());
    let bytes = schur.device_bytes();

    let before = device.counters();
    for _ in 0..1000 {
        data.execute(&mut schur, damping).unwrap();
    }
    device.finish().unwrap();
    let after = device.counters();
    assert_eq!(
        (after.buffers_created, after.buffers_taken, after.read_backs),
        (before.buffers_created, before.buffers_taken, before.read_backs)
    );
    assert!(after.commands >= before.commands + 6000);
    assert_eq!(schur.device_bytes(), bytes);
    // One word is read, and only once.
    for _ in 0..10 {
        schur.check().unwrap();
        schur.back_substitute(&x_c, &mut x_p).unwrap();
    }
    let checked = device.counters();
    assert_eq!((checked.buffers_taken, checked.read_backs), (after.buffers_taken, after.read_backs + 1));
    assert_eq!(bits(schur.s().unwrap().download().unwrap().values()), bits(s.values()));
    assert_eq!(bits(&schur.rhs().unwrap().download().unwrap()), bits(&r));
    assert_eq!(bits(&x_p.download().unwrap()), bits(&x));
}

#[test]
fn new_values_on_the_same_patterns_leave_nothing_of_the_old() {
    let visible = seen(20, 200, 4, 1);
    let (first, second) = (problem(&visible, 2, 9, 3, 5), problem(&visible, 2, 9, 3, 6));
    let (data, fresh) = (Uploaded::<f64>::new(&device(), &first), Uploaded::<f64>::new(&device(), &second));
    let mut schur = data.schur();
    data.execute(&mut schur, Damping::Marquardt(1e-4)).unwrap();
    fresh.execute(&mut schur, Damping::Levenberg(1e-2)).unwrap();
    let Problem { u, w, v, b_c, b_p } = &second;
    let want = reference::schur(u, w, v, b_c, b_p, Damping::Levenberg(1e-2)).unwrap();
    assert_eq!(bits(schur.s().unwrap().download().unwrap().values()), bits(want.s.values()));
    assert_eq!(bits(&schur.rhs().unwrap().download().unwrap()), bits(&want.rhs));
    // The caller's matrices are unchanged.
    assert_eq!(fresh.u.download().unwrap(), *u);
    assert_eq!(fresh.v.download().unwrap(), *v);
}
