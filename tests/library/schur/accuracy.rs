//! The Schur complement, compared with dense nalgebra and with the library's general products.
use super::*;

#[test]
fn agrees_with_dense_inverses_on_3_cameras_and_7_points() {
    for (c, p, damping) in [
        (9, 3, Damping::Marquardt(1e-4)),
        (9, 3, Damping::Levenberg(1e-4)),
        (6, 3, Damping::Marquardt(1e-4)),
        (6, 3, Damping::None),
        (5, 8, Damping::Marquardt(1e-4)),
    ] {
        let what = format!("{c}x{p}, {damping:?}");
        let problem = problem(&seen(3, 7, 2, 1), 2, c, p, 2);
        let data = Uploaded::<f64>::new(&device(), &problem);
        let (plan, mut reduced) = data.formed();
        data.execute(&plan, &mut reduced, damping).unwrap();

        let Problem { u, w, v, b_c, b_p } = &problem;
        let (u, v) = (damped(&u.to_dense(), damping), damped(&v.to_dense(), damping));
        let y = w.to_dense() * v.clone().try_inverse().unwrap();
        let s_want = u - &y * w.to_dense().transpose();
        let r_want = DVector::from(b_c.clone()) - &y * DVector::from(b_p.clone());
        let s = mirrored(&reduced.s().unwrap().download().unwrap().to_dense());
        near(&s, &s_want, 1e-12, &what);
        let r = DVector::from(reduced.rhs().unwrap().download().unwrap());
        near(&DMatrix::from_column_slice(r.len(), 1, r.as_slice()), &column(&r_want), 1e-12, &what);

        let x_c = s.cholesky().unwrap().solve(&r);
        let mut x_p = device().zero_vector(b_p.len()).unwrap();
        plan.back_substitute(&reduced, &device().upload_vector(x_c.as_slice()).unwrap(), &mut x_p).unwrap();
        let x_c_want = s_want.cholesky().unwrap().solve(&r_want);
        let right = DVector::from(b_p.clone()) - w.to_dense().transpose() * &x_c_want;
        let x_p_want = v.lu().solve(&right).unwrap();
        near(&column(&DVector::from(x_p.download().unwrap())), &column(&x_p_want), 1e-12, &what);
        near(&column(&x_c), &column(&x_c_want), 1e-12, &what);
    }
}

fn column(x: &DVector<f64>) -> DMatrix<f64> {
    DMatrix::from_column_slice(x.len(), 1, x.as_slice())
}

#[test]
fn agrees_with_general_products_on_50_cameras_and_8000_points() {
    let damping = Damping::Marquardt(1e-4);
    let problem = problem(&seen(50, 8000, 5, 3), 2, 9, 3, 4);
    let data = Uploaded::<f64>::new(&device(), &problem);
    let (plan, mut reduced) = data.formed();
    data.execute(&plan, &mut reduced, damping).unwrap();

    // Computes S by general operations: inverses of blocks, and products and sums of whole
    // matrices.
    let Problem { u, w, v, b_c, b_p } = &problem;
    let inverses = v.blocks().map(|(i, j, block)| (i, j, damped(&block.into(), damping).try_inverse().unwrap()));
    let inverse = Cbc::from_triplets(v.nrows(), v.ncols(), v.shape(), inverses).unwrap();
    let upload = |matrix: &Cbc<f64>| device().upload(matrix).unwrap();
    let y = blockmul::multiply(&upload(w), &upload(&inverse)).unwrap();
    let product = blockmul::multiply(&y, &upload(&w.transpose())).unwrap().download().unwrap();
    let blocks = u.blocks().map(|(i, j, block)| (i, j, damped(&block.into(), damping)));
    let u = Cbc::from_triplets(u.nrows(), u.ncols(), u.shape(), blocks).unwrap();
    let s_want = matrix::add(1.0, &u, -1.0, &product).unwrap().to_dense();
    let s = mirrored(&reduced.s().unwrap().download().unwrap().to_dense());
    near(&s, &s_want, 1e-10, "S");

    let one = |values: &[f64], side| {
        let blocks = values.chunks(side).enumerate().map(|(i, x)| (i, 0, DMatrix::from_column_slice(side, 1, x)));
        Cbc::from_triplets(values.len() / side, 1, shape(side, 1), blocks).unwrap()
    };
    let r_want =
        matrix::add(1.0, &one(b_c, 9), -1.0, &reference::multiply(&y.download().unwrap(), &one(b_p, 3)).unwrap())
            .unwrap();
    let r = reduced.rhs().unwrap().download().unwrap();
    near(&one(&r, 9).to_dense(), &r_want.to_dense(), 1e-10, "r");

    let x_c = s.cholesky().unwrap().solve(&DVector::from(r));
    let x_c_want = s_want.cholesky().unwrap().solve(&r_want.to_dense());
    let back = reference::multiply(&w.transpose(), &one(x_c_want.as_slice(), 9)).unwrap();
    let x_p_want =
        reference::multiply(&inverse, &matrix::add(1.0, &one(b_p, 3), -1.0, &back).unwrap()).unwrap().to_dense();
    let mut x_p = device().zero_vector(b_p.len()).unwrap();
    plan.back_substitute(&reduced, &device().upload_vector(x_c.as_slice()).unwrap(), &mut x_p).unwrap();
    near(&one(&x_p.download().unwrap(), 3).to_dense(), &x_p_want, 1e-10, "x_p");
}
