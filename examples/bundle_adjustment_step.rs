//! The products of a Gauss-Newton step of bundle adjustment. The structure is computed once, and
//! values are computed in each iteration.
use blockmul::{
    BlockShape, Cbc, Device, Part, Planned, Product, generate,
    plan::{Accum, Apply, Scalars},
    product::GramParts,
    solver::{Damping, Elimination, NormalEquations},
};

fn main() -> blockmul::Result<()> {
    let device = Device::auto()?;
    // J = [J_camera | J_point] has a 2x9 block and a 2x3 block in the row of each observation. The
    // blocks are random here.
    let (cameras, points, shape) = (50, 4000, BlockShape::new(9, 3)?);
    let j = generate::Visibility { cameras, points, shape, ..Default::default() }.jacobian()?;
    let residuals = device.upload_vector(&vec![0.5; j.scalar_rows()])?;
    let j = device.upload_groups(&j)?;
    let (j_c, j_p) = (j.get(0, 0).unwrap(), j.get(0, 1).unwrap());

    // The structure is computed once: JᵀJ = [U W; Wᵀ V], the gradient, S = U - W·V⁻¹·Wᵀ, and the
    // scalars of S for a sparse Cholesky factorization.
    let parts = GramParts { diagonal: Part::Lower, between: Part::Upper };
    let hessian = Product::gram(&j).part(parts).plan()?;
    let mut h = hessian.output()?;
    let (to_b_c, to_b_p) = (Apply::transposed(&j_c.pattern())?, Apply::transposed(&j_p.pattern())?);
    let (mut b_c, mut b_p) = (to_b_c.output()?, to_b_p.output()?);
    let of = |row, col| h.get(row, col).unwrap().pattern();
    let elimination = Elimination::formed(&of(0, 0), &of(0, 1), &of(1, 1))?;
    let mut reduced = elimination.output()?;
    let lower = Scalars::<Cbc<f64>>::lower(elimination.pattern())?;
    let mut scalars = lower.output()?;

    // The values are computed in each iteration.
    hessian.execute(&j, &mut h)?;
    to_b_c.execute((j_c, &residuals), Accum::into(&mut b_c).alpha(-1.0))?;
    to_b_p.execute((j_p, &residuals), Accum::into(&mut b_p).alpha(-1.0))?;
    let (u, w, v) = (h.get(0, 0).unwrap(), h.get(0, 1).unwrap(), h.get(1, 1).unwrap());
    let equations = NormalEquations { u, w, v, b_c: &b_c, b_p: &b_p, damping: Damping::Marquardt(1e-4), floors: None };
    elimination.execute(equations, &mut reduced)?;
    lower.execute(reduced.s()?, &mut scalars)?;
    let products = elimination.cost().products;
    println!("S: {} scalars on and below the diagonal, {products} block products", scalars.len());

    let x_c = device.zero_vector(b_c.len())?; // solve S·x_c = reduced.rhs() here, for example by faer
    let mut x_p = device.zero_vector(b_p.len())?;
    elimination.back_substitute(&reduced, &x_c, &mut x_p)?;
    Ok(())
}
