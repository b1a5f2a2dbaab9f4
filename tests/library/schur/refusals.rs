//! Refused arguments: blocks that are not positive definite, and sizes that do not match.
use super::*;

#[test]
fn the_first_block_that_is_not_positive_definite_is_named() {
    // Small blocks are factored by work-items, large ones by groups.
    for (c, p) in [(6, 3), (2, 9)] {
        let good = problem(&seen(8, 300, 3, 1), 2, c, p, 5);
        let mut data = Uploaded::<f64>::new(&device(), &good);
        let (plan, mut reduced) = data.formed();
        assert!(matches!(reduced.check(), Err(Error::Argument(_))) && reduced.s().is_err(), "nothing executed");
        for (bad, last) in [(vec![299, 120, 121, 64], 0.0), (vec![0, 7], -1.0), (vec![299], f64::NAN), (vec![], 0.0)] {
            let mut values = good.v.values().to_vec();
            // The last pivot of one block is not positive. A factorization computes this pivot
            // last.
            bad.iter().for_each(|block| values[(block + 1) * p * p - 1] = last);
            data.v.write_values(&values).unwrap();
            data.execute(&plan, &mut reduced, Damping::Marquardt(1e-4)).unwrap();
            let v = Cbc::new(good.v.pattern().clone(), good.v.shape(), values).unwrap();
            let host = reference::schur(&good.u, &good.w, &v, &good.b_c, &good.b_p, Damping::Marquardt(1e-4));
            let Some(&first) = bad.iter().min() else {
                assert!(reduced.check().is_ok() && host.is_ok(), "good values replace the bad ones");
                continue;
            };
            assert!(matches!(host, Err(Error::NotPositiveDefinite { block, .. }) if block == first));
            let x_c = device().zero_vector(8 * c).unwrap();
            let mut x_p = device().zero_vector(300 * p).unwrap();
            let errors = [
                reduced.check().err(),
                reduced.s().err(),
                reduced.rhs().err(),
                plan.back_substitute(&reduced, &x_c, &mut x_p).err(),
            ];
            for error in errors {
                let error = error.unwrap();
                assert!(matches!(error, Error::NotPositiveDefinite { block, .. } if block == first), "{error}");
                let text = format!("diagonal block {first} of V, damped, is not positive definite");
                assert_eq!(error.to_string(), text);
            }
        }
        // A block of zeros becomes positive definite only if λ is added.
        data.v.write_values(&vec![0.0; good.v.values().len()]).unwrap();
        data.execute(&plan, &mut reduced, Damping::Marquardt(1.0)).unwrap();
        assert!(matches!(reduced.check(), Err(Error::NotPositiveDefinite { block: 0, .. })));
        data.execute(&plan, &mut reduced, Damping::Levenberg(1.0)).unwrap();
        reduced.check().unwrap();
    }
}

/// A denormal pivot is refused, because a division by it would make S infinite.
#[test]
fn pivots_below_the_normal_numbers_are_none() {
    fn check<T: blockmul::element::Real>(least: f64, below: [f64; 2]) {
        // Small blocks are factored by work-items, large ones by groups.
        for (c, p) in [(6, 3), (2, 9)] {
            let good = problem(&seen(8, 30, 3, 1), 2, c, p, 5);
            let mut data = Uploaded::<T>::new(&device(), &good);
            let (plan, mut reduced) = data.formed();
            for (last, is_positive) in [(least, true), (below[0], false), (below[1], false)] {
                let mut values: Vec<f64> = good.v.values().to_vec();
                let block = &mut values[5 * p * p..6 * p * p];
                block.iter_mut().enumerate().for_each(|(i, x)| *x = if i % (p + 1) == 0 { 10.0 } else { 0.0 });
                block[p * p - 1] = last;
                let v = Cbc::new(good.v.pattern().clone(), good.v.shape(), values).unwrap().cast::<T>();
                data.v.write_values(v.values()).unwrap();
                data.execute(&plan, &mut reduced, Damping::None).unwrap();
                let (u, w) = (good.u.cast(), good.w.cast());
                let vectors = [&good.b_c, &good.b_p].map(|b| cast::<T>(b));
                let host = reference::schur(&u, &w, &v, &vectors[0], &vectors[1], Damping::None);
                match is_positive {
                    true => assert!(reduced.check().is_ok() && host.is_ok(), "{last:e}"),
                    false => {
                        for error in [reduced.check().unwrap_err(), host.map(drop).unwrap_err()] {
                            assert!(matches!(error, Error::NotPositiveDefinite { block: 5, .. }), "{last:e}: {error}");
                        }
                    }
                }
            }
        }
    }
    check::<f64>(f64::MIN_POSITIVE, [f64::MIN_POSITIVE / 2.0, 5e-324]);
    check::<f32>(f32::MIN_POSITIVE.into(), [f64::from(f32::MIN_POSITIVE) / 2.0, 1e-45]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let good = problem(&seen(8, 30, 3, 1), 2, 6, 3, 5);
    let data = Uploaded::<f64>::new(&device(), &good);
    let (plan, mut reduced) = data.formed();
    let text = |result: blockmul::Result<()>| result.unwrap_err().to_string();
    let new = |u: &DeviceMatrix<Cbc<f64>>, w: &DeviceMatrix<Cbc<f64>>, v: &DeviceMatrix<Cbc<f64>>| {
        Elimination::<Formed<f64>>::formed(&u.pattern(), &w.pattern(), &v.pattern()).map(drop)
    };
    assert_eq!(
        text(new(&data.v, &data.w, &data.u)),
        "not the blocks of one matrix: U is 30x30 blocks of 3x3, W is 8x30 blocks of 6x3, V is 8x8 blocks of 6x6"
    );
    // The first matrix has the right number of blocks, but one of them is off the diagonal. The
    // second matrix lacks a block on the diagonal, and the third has one block too many.
    let block = DMatrix::identity(3, 3);
    let v_of = |places: &[(usize, usize)]| {
        let blocks = places.iter().map(|&(i, j)| (i, j, block.clone()));
        device().upload(&Cbc::from_triplets(30, 30, shape(3, 3), blocks).unwrap()).unwrap()
    };
    let diagonal: Vec<_> = (0..30).map(|i| (i, i)).collect();
    for places in [
        diagonal.iter().map(|&(i, j)| (if i == 17 { 18 } else { i }, j)).collect(),
        diagonal[..29].to_vec(),
        [&diagonal[..], &[(3, 2)]].concat(),
    ] {
        assert_eq!(text(new(&data.u, &data.w, &v_of(&places))), "V must have exactly its 30 diagonal blocks");
    }
    let rows = device().upload(&Bsr::from_transpose(good.w.transpose())).unwrap();
    let message =
        text(Elimination::<Formed<f64>>::formed(&data.u.pattern(), &rows.pattern(), &data.v.pattern()).map(drop));
    assert!(message.contains("row-major"), "{message}");
    let elsewhere = Device::open(device().info()).unwrap();
    let other = Uploaded::<f64>::new(&elsewhere, &good);
    assert!(matches!(new(&data.u, &other.w, &data.v), Err(Error::DeviceMismatch { .. })));

    // A matrix with equal patterns in other arrays is accepted. Other patterns are refused.
    let again = Uploaded::<f64>::new(&device(), &good);
    again.execute(&plan, &mut reduced, Damping::None).unwrap();
    let w = Uploaded::<f64>::new(&device(), &problem(&seen(8, 30, 3, 2), 2, 6, 3, 5)).w;
    assert_eq!(w.nnz(), data.w.nnz());
    let Uploaded { v, b_c, b_p, .. } = &data;
    let fits = data.equations(Damping::None);
    let mut refused = |equations| plan.execute(equations, &mut reduced).unwrap_err();
    let message = refused(NormalEquations { w: &w, ..fits }).to_string();
    assert!(message.starts_with("W does not have the pattern of the plan"), "{message}");
    let message = refused(NormalEquations { u: v, ..fits }).to_string();
    assert!(message.starts_with("U does not have the pattern of the plan"), "{message}");
    let message = refused(NormalEquations { b_c: b_p, ..fits }).to_string();
    assert_eq!(message, "b_c has 90 elements, 48 expected (8 blocks of 6)");
    let error = refused(NormalEquations { b_p: b_c, ..fits });
    assert!(matches!(error, Error::Length { array: "b_p", found: 48, expected: 90, .. }), "{error}");
    let error = refused(NormalEquations { b_c: &other.b_c, ..fits });
    assert!(matches!(error, Error::DeviceMismatch { .. }), "{error}");
    for lambda in [-1.0, f64::NAN, f64::INFINITY] {
        for damping in [Damping::Marquardt(lambda), Damping::Levenberg(lambda)] {
            let message = text(data.execute(&plan, &mut reduced, damping));
            assert!(message.contains("must be a finite f64 from 0 on"), "{message}");
        }
    }
    let single = Uploaded::<f32>::new(&device(), &good);
    let (in_f32, mut reduced_in_f32) = single.formed();
    assert!(single.execute(&in_f32, &mut reduced_in_f32, Damping::Levenberg(1e300)).is_err(), "infinite in f32");
    let mut x_p = device().zero_vector(90).unwrap();
    plan.back_substitute(&reduced, b_c, &mut x_p).unwrap(); // no refusal changed anything
    assert!(matches!(plan.back_substitute(&reduced, b_p, &mut x_p), Err(Error::Length { array: "x_c", .. })));
    let mut short = device().zero_vector(89).unwrap();
    assert!(matches!(plan.back_substitute(&reduced, b_c, &mut short), Err(Error::Length { array: "x_p", .. })));
}

/// Only the blocks of U on and below the diagonal are read. A block that is stored only above the
/// diagonal would be lost silently, so it is refused.
#[test]
fn blocks_of_u_above_the_diagonal_alone_are_refused() {
    let good = problem(&seen(8, 30, 3, 1), 2, 6, 3, 5);
    let text = |result: blockmul::Result<()>| result.unwrap_err().to_string();
    let refused = |u: &Cbc<f64>, what: &str| {
        let Problem { w, v, b_c, b_p, .. } = &good;
        let data = Uploaded::<f64>::new(&device(), &Problem { u: u.clone(), ..good.clone() });
        let [u_pattern, w_pattern, v_pattern] = [&data.u, &data.w, &data.v].map(|part| part.pattern());
        for message in [
            text(Elimination::<Formed<f64>>::formed(&u_pattern, &w_pattern, &v_pattern).map(drop)),
            text(Elimination::<Implicit<f64>>::implicit(&u_pattern, &w_pattern, &v_pattern).map(drop)),
            text(reference::schur(u, w, v, b_c, b_p, Damping::None).map(drop)),
        ] {
            assert!(message.starts_with(&format!("U has {what}: U is read on and below the diagonal")), "{message}");
        }
    };
    let whole = with_neighbours(&good.u, true, &[]);
    let without = |is_left_out: &dyn Fn(usize, usize) -> bool| {
        let blocks = whole.blocks().filter(|&(i, j, _)| !is_left_out(i, j));
        Cbc::from_triplets(8, 8, whole.shape(), blocks.map(|(i, j, block)| (i, j, block.into_owned()))).unwrap()
    };
    refused(&without(&|i, j| i > j), "block (0, 1) above the diagonal without its mirror image (1, 0)");
    refused(&without(&|i, j| (i, j) == (7, 0)), "block (0, 7) above the diagonal without its mirror image (7, 0)");

    // A U that was computed as only the upper triangle of JᵀJ is refused, too.
    let j = generate::PoseChain { poses: 8, closures: 5, freedom: 6, values: Values::Integer, ..Default::default() }
        .matrix()
        .unwrap();
    let j = device().upload(&j).unwrap();
    for (part, is_read) in [(Part::Upper, false), (Part::Lower, true), (Part::Full, true)] {
        let u = Product::gram(&j).part(part).run().unwrap();
        let Uploaded { w, v, .. } = &Uploaded::<f64>::new(&device(), &good);
        let planned = Elimination::<Formed<f64>>::formed(&u.pattern(), &w.pattern(), &v.pattern());
        match planned {
            Ok(_) => assert!(is_read, "{part:?}"),
            Err(error) => assert!(!is_read && error.to_string().contains("above the diagonal"), "{part:?}: {error}"),
        }
    }
}

#[test]
fn a_reduced_system_is_replaced_and_only_by_a_plan_for_its_patterns() {
    let (one, two) = (problem(&seen(8, 30, 3, 1), 2, 6, 3, 5), problem(&seen(8, 30, 3, 2), 2, 6, 3, 5));
    let with_neighbours = Problem { u: with_neighbours(&one.u, true, &[]), ..one.clone() };
    let [data, same, other_w, other_u] =
        [&one, &one, &two, &with_neighbours].map(|problem| Uploaded::<f64>::new(&device(), problem));
    let damping = Damping::Marquardt(1e-4);
    let (plan, mut reduced) = data.formed();
    data.execute(&plan, &mut reduced, damping).unwrap();
    let s = reduced.s().unwrap().download().unwrap();

    // Executions with alpha and beta, and by plans for other patterns, are refused.
    for (alpha, beta) in [(2.0, 0.0), (1.0, 1.0), (-1.0, 0.5)] {
        let into = Accum::into(&mut reduced).alpha(alpha).beta(beta);
        let error = plan.execute(data.equations(damping), into).unwrap_err();
        assert!(error.to_string().starts_with("a reduced system cannot be scaled"), "{error}");
    }
    let x_c = device().zero_vector(48).unwrap();
    let mut x_p = device().zero_vector(90).unwrap();
    for (name, other) in [("W", other_w), ("U", other_u)] {
        let (plan, _) = other.formed();
        let errors =
            [other.execute(&plan, &mut reduced, damping), plan.back_substitute(&reduced, &x_c, &mut x_p).map(drop)];
        for error in errors {
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} of the reduced system does not have the pattern")), "{error}");
        }
    }
    let (plan, mut operator) = data.implicit();
    data.execute(&plan, &mut operator, damping).unwrap();
    let (neighbours, _) = Uploaded::<f64>::new(&device(), &with_neighbours).implicit();
    let mut y = device().zero_vector(48).unwrap();
    let error = neighbours.multiply(&operator, &x_c, &mut y).unwrap_err().to_string();
    assert!(error.starts_with("U of the reduced system does not have the pattern"), "{error}");

    // The refused executions have changed nothing. Another plan for equal patterns can write to the
    // system.
    assert_eq!(bits(reduced.s().unwrap().download().unwrap().values()), bits(s.values()));
    let (plan, _) = same.formed();
    same.execute(&plan, &mut reduced, Damping::None).unwrap();
    assert!(reduced.s().unwrap().download().unwrap() != s);
}
