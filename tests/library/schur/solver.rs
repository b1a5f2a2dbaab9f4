//! A solver with S as an operator: conjugate gradients, preconditioned by its diagonal blocks.
use super::*;

/// Solves S·x = r by conjugate gradients. The preconditioner is the inverse of the diagonal blocks.
/// Returns x and the number of steps.
fn solved(plan: &Elimination<Implicit<f64>>, reduced: &Reduced<Implicit<f64>>, tolerance: f64) -> (Vec<f64>, usize) {
    let device = device();
    let diagonal = reduced.diagonal().unwrap().download().unwrap();
    let inverses = diagonal.blocks().map(|(i, j, block)| (i, j, block.into_owned().cholesky().unwrap().inverse()));
    let m = Cbc::from_triplets(diagonal.nrows(), diagonal.ncols(), diagonal.shape(), inverses).unwrap();
    let m = device.upload(&m).unwrap();
    let precondition = Apply::new(&m.pattern()).unwrap();
    let zeros = || precondition.output().unwrap();
    let (mut x, mut r, mut z, mut p, mut s_p) = (zeros(), zeros(), zeros(), zeros(), zeros());
    r.copy_from(reduced.rhs().unwrap()).unwrap();
    precondition.execute((&m, &r), &mut z).unwrap();
    p.copy_from(&z).unwrap();
    let (mut rz, first) = (r.dot(&z).unwrap(), r.norm().unwrap());
    for step in 0..500 {
        if r.norm().unwrap() <= tolerance * first {
            return (x.download().unwrap(), step);
        }
        plan.multiply(reduced, &p, &mut s_p).unwrap();
        let alpha = rz / p.dot(&s_p).unwrap();
        x.axpy(alpha, &p).unwrap();
        r.axpy(-alpha, &s_p).unwrap();
        precondition.execute((&m, &r), &mut z).unwrap();
        let before = std::mem::replace(&mut rz, r.dot(&z).unwrap());
        p.axpby(1.0, &z, rz / before).unwrap();
    }
    panic!("no convergence: {:e} of {first:e}", r.norm().unwrap());
}

#[test]
fn conjugate_gradients_reach_the_solution_of_the_formed_system_on_50_cameras() {
    let visible = seen(50, 3000, 5, 3);
    let (good, damping) = (problem(&visible, 2, 9, 3, 4), Damping::Marquardt(1e-4));
    for problem in [good.clone(), Problem { u: with_neighbours(&scaled(&good.u, 2.0), false, &[]), ..good }] {
        let data = Uploaded::<f64>::new(&device(), &problem);
        let ((formed, mut formed_out), (plan, mut reduced)) = (data.formed(), data.implicit());
        data.execute(&formed, &mut formed_out, damping).unwrap();
        data.execute(&plan, &mut reduced, damping).unwrap();
        let s = mirrored(&formed_out.s().unwrap().download().unwrap().to_dense());
        let want = s.cholesky().unwrap().solve(&column(formed_out.rhs().unwrap().download().unwrap()));
        let (x, steps) = solved(&plan, &reduced, 1e-12);
        near(&column(x), &want, 1e-8, "x_c");
        assert!(steps > 1, "{steps} steps: the preconditioner alone must not solve it");
    }
}

fn column(x: Vec<f64>) -> DMatrix<f64> {
    DMatrix::from_vec(x.len(), 1, x)
}

fn scaled(a: &Cbc<f64>, factor: f64) -> Cbc<f64> {
    let blocks = a.blocks().map(|(i, j, block)| (i, j, block * factor));
    Cbc::from_triplets(a.nrows(), a.ncols(), a.shape(), blocks).unwrap()
}
