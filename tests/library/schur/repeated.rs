//! Repeated executions of eliminations.
use super::*;

#[test]
fn a_hundred_executions_change_no_bit_take_no_memory_and_read_nothing() {
    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let data = Uploaded::<f64>::new(&device, &problem(&seen(10, 100, 3, 1), 2, 6, 3, 5));
    let (plan, mut reduced) = data.formed();
    let damping = Damping::Marquardt(1e-4);
    data.execute(&plan, &mut reduced, damping).unwrap();
    let x_c = device.upload_vector(&reduced.rhs().unwrap().download().unwrap()).unwrap();
    let mut x_p = device.zero_vector(300).unwrap();
    plan.back_substitute(&reduced, &x_c, &mut x_p).unwrap();
    let (s, r, x) =
        (reduced.s().unwrap().download().unwrap(), reduced.rhs().unwrap().download().unwrap(), x_p.download().unwrap());
    let bytes = (plan.cost().device_bytes, reduced.device_bytes());

    let before = device.counters();
    for _ in 0..100 {
        data.execute(&plan, &mut reduced, damping).unwrap();
    }
    let after = nothing_taken(&device, &before);
    assert!(after.commands >= before.commands + 600);
    assert_eq!((plan.cost().device_bytes, reduced.device_bytes()), bytes);
    // One word is read from the device, and only at the first check.
    for _ in 0..10 {
        reduced.check().unwrap();
        plan.back_substitute(&reduced, &x_c, &mut x_p).unwrap();
    }
    let checked = device.counters();
    assert_eq!((checked.buffers_taken, checked.read_backs), (after.buffers_taken, after.read_backs + 1));
    assert_eq!(bits(reduced.s().unwrap().download().unwrap().values()), bits(s.values()));
    assert_eq!(bits(&reduced.rhs().unwrap().download().unwrap()), bits(&r));
    assert_eq!(bits(&x_p.download().unwrap()), bits(&x));
}

#[test]
fn new_values_on_the_same_patterns_leave_nothing_of_the_old() {
    let visible = seen(20, 200, 4, 1);
    let (first, second) = (problem(&visible, 2, 9, 3, 5), problem(&visible, 2, 9, 3, 6));
    let (data, fresh) = (Uploaded::<f64>::new(&device(), &first), Uploaded::<f64>::new(&device(), &second));
    let (plan, mut reduced) = data.formed();
    data.execute(&plan, &mut reduced, Damping::Marquardt(1e-4)).unwrap();
    fresh.execute(&plan, &mut reduced, Damping::Levenberg(1e-2)).unwrap();
    let Problem { u, w, v, b_c, b_p } = &second;
    let want = reference::schur(u, w, v, b_c, b_p, Damping::Levenberg(1e-2)).unwrap();
    assert_eq!(bits(reduced.s().unwrap().download().unwrap().values()), bits(want.s.values()));
    assert_eq!(bits(&reduced.rhs().unwrap().download().unwrap()), bits(&want.rhs));
    // The application's matrices are unchanged.
    assert_eq!(fresh.u.download().unwrap(), *u);
    assert_eq!(fresh.v.download().unwrap(), *v);
}

/// A problem whose cameras see 1500 points, so that sums are cut into pieces.
fn long_rows(seed: u64) -> Problem {
    problem(&seen(3, 1500, 3, 1), 2, 6, 3, seed)
}

#[test]
fn threads_execute_one_plan_each_into_an_output_of_its_own() {
    /// A function that returns the result of an elimination.
    type Made<'a, F> = &'a (dyn Fn(&Elimination<F>, &Reduced<F>) -> Vec<f64> + Sync);

    fn check<F: Form<Element = f64>>(
        device: &Device,
        plan: &Elimination<F>,
        data: &[Uploaded<f64>],
        made: Made<'_, F>,
    ) {
        let (first, damping) = (&data[0], Damping::Marquardt(1e-4));
        let once = |data: &Uploaded<f64>, reduced: &mut Reduced<F>| {
            data.execute(plan, reduced, damping).unwrap();
            made(plan, reduced)
        };
        let mut outputs: Vec<Reduced<F>> = data.iter().map(|_| plan.output().unwrap()).collect();
        let want: Vec<Vec<f64>> = data.iter().zip(&mut outputs).map(|(data, reduced)| once(data, reduced)).collect();
        assert!(want[1..].iter().all(|other| bits(other) != bits(&want[0])));
        // Each output still has the values that its execution wrote, although the plan was executed
        // again.
        for (reduced, want) in outputs.iter().zip(&want) {
            assert_eq!(bits(&made(plan, reduced)), bits(want));
        }
        std::thread::scope(|scope| {
            for ((data, want), mut reduced) in data.iter().zip(&want).zip(outputs) {
                let once = &once;
                scope.spawn(move || (0..20).for_each(|_| assert_eq!(bits(&once(data, &mut reduced)), bits(want))));
            }
        });
        // Executions one after another use only the plan's memory, also with long rows.
        let mut reduced = plan.output().unwrap();
        once(first, &mut reduced);
        let before = device.counters();
        (0..20).for_each(|_| first.execute(plan, &mut reduced, damping).unwrap());
        device.finish().unwrap();
        let after = device.counters();
        assert_eq!((after.buffers_created, after.buffers_taken), (before.buffers_created, before.buffers_taken));
    }

    let device = Device::open(device().info()).unwrap(); // so that the device's counters count only this test
    let data: Vec<_> = (0..4).map(|seed| Uploaded::<f64>::new(&device, &long_rows(seed))).collect();
    let x_c = device.upload_vector(&[0.5; 18]).unwrap();
    let back = |x_p: &DeviceVector<f64>| x_p.download().unwrap();
    let (plan, _) = data[0].formed();
    check(&device, &plan, &data, &|plan, reduced| {
        let mut x_p = device.zero_vector(4500).unwrap();
        plan.back_substitute(reduced, &x_c, &mut x_p).unwrap();
        let s = reduced.s().unwrap().download().unwrap();
        [s.values(), &reduced.rhs().unwrap().download().unwrap(), &back(&x_p)].concat()
    });
    let (plan, _) = data[0].implicit();
    check(&device, &plan, &data, &|plan, reduced| {
        let (mut y, mut x_p) = (device.zero_vector(18).unwrap(), device.zero_vector(4500).unwrap());
        plan.multiply(reduced, &x_c, &mut y).unwrap();
        plan.back_substitute(reduced, &x_c, &mut x_p).unwrap();
        let diagonal = reduced.diagonal().unwrap().download().unwrap();
        [diagonal.values(), &reduced.rhs().unwrap().download().unwrap(), &back(&y), &back(&x_p)].concat()
    });
}

#[test]
fn reports_have_the_stages_and_costs_are_counted_from_the_patterns() {
    let data = Uploaded::<f64>::new(&device(), &problem(&seen(10, 100, 3, 1), 2, 6, 3, 5));
    // Each point is seen by three cameras: six pairs of views, including a view with itself.
    let (c, p, views, pairs) = (6, 3, 300, 600);
    // For column j of a factor, products are subtracted from the elements on and below the
    // diagonal, and the elements below it are multiplied by the reciprocal pivot. The forward
    // substitution of a row is counted like the factor.
    let of_factor: u64 = (0..p).map(|j| 2 * j * (p - j) + (p - j - 1)).sum();
    let of_row: u64 = (0..p).map(|j| 2 * j + 1).sum();
    let shared = 100 * (of_factor + of_row) + views * (c * of_row + 2 * c * p);

    let (plan, mut reduced) = data.formed();
    let report = plan.execute_with_report(data.equations(Damping::None), &mut reduced).unwrap();
    let names: Vec<_> = report.stages.iter().map(|stage| stage.name).collect();
    assert_eq!(names, ["factor", "solve", "compression", "base", "rhs"]);
    assert_eq!((report.cost, report.read_backs), (plan.cost(), 0));
    assert_eq!(report.launches, report.stages.iter().map(|stage| stage.launches).sum::<u32>());
    assert_eq!((plan.cost().products, plan.cost().flops), (pairs, shared + pairs * 2 * c * p * c));

    let (plan, mut reduced) = data.implicit();
    let report = plan.execute_with_report(data.equations(Damping::None), &mut reduced).unwrap();
    let names: Vec<_> = report.stages.iter().map(|stage| stage.name).collect();
    assert_eq!(names, ["factor", "solve", "base", "compression", "rhs"]);
    assert_eq!((report.cost, report.read_backs), (plan.cost(), 0));
    assert_eq!((plan.cost().products, plan.cost().flops), (views, shared + views * 2 * c * p * c));
}
