//! The Schur complement of a bundle adjustment, and its back-substitution.
use super::measure::{Subject, same, same_bits};
use super::operation::{Operands, Outcomes};
use super::record::Record;
use crate::matrix_size::Size;
use blockmul::{
    BlockShape, Cbc, Element, Planned, Result,
    element::{ElementType, Real},
    reference,
    solver::{Damping, Elimination, NormalEquations},
};
use nalgebra::DMatrix;

/// Times the Schur complement of a bundle adjustment whose W is A.
pub fn schur(of: &Operands<'_>) -> Result<Outcomes> {
    of.each(&|on, w| match of.element {
        ElementType::F64 => of_type::<f64>(on, &w.clone().typed()?),
        ElementType::F32 => of_type::<f32>(on, &w.clone().typed()?),
        _ => Err(of.refused()),
    })
}

/// Times S and r for a W of cameras by points, then x_p. U and V have large diagonals, which grow
/// with the number of observations of a camera or a point.
fn of_type<T: Real>(on: &Subject<'_>, w: &Cbc<T>) -> Result<Vec<Record>> {
    let device = on.device();
    let (u, v) = (diagonal(w.nrows(), w.shape().rows(), w.nnz())?, diagonal(w.ncols(), w.shape().cols(), w.nnz())?);
    let (b_c, b_p) = (vec![T::one(); u.scalar_rows()], vec![T::one(); v.scalar_rows()]);
    let (du, dw, dv) = (device.upload(&u)?, device.upload(w)?, device.upload(&v)?);
    let (dc, dp) = (device.upload_vector(&b_c)?, device.upload_vector(&b_p)?);
    let mut x_p = device.zero_vector(b_p.len())?;
    let (plan, plan_ms) = on.planned(|| Elimination::formed(&du.pattern(), &dw.pattern(), &dv.pattern()))?;
    let mut reduced = plan.output()?;
    let damping = Damping::Marquardt(1e-4);
    let equations = NormalEquations { u: &du, w: &dw, v: &dv, b_c: &dc, b_p: &dp, damping, floors: None };
    plan.execute(equations, &mut reduced)?;
    plan.back_substitute(&reduced, &dc, &mut x_p)?;

    let want = reference::schur(&u, w, &v, &b_c, &b_p, damping)?;
    let right = same(&reduced.s()?.download()?, &want.s) && same_bits(&reduced.rhs()?.download()?, &want.rhs);
    let substituted = same_bits(&x_p.download()?, &want.back_substitute(&b_c)?);
    let record = Record { b: Size::of(w), c_nnz: plan.pattern().nnz(), ..on.record("schur", w, right)? };
    let of_s = on.again(record, &plan, plan_ms, || equations, &mut reduced)?;
    reduced.check()?;
    let record = Record { b: Size::of_vector(b_c.len()), ..on.record("back-substitute", w, substituted)? };
    let of_x = on.timed(record, &mut || plan.back_substitute(&reduced, &dc, &mut x_p).map(drop))?;
    Ok(vec![of_s, of_x])
}

/// A block-diagonal matrix like the sum of the products of `seen` observations.
fn diagonal<T: Real>(n: usize, side: usize, seen: usize) -> Result<Cbc<T>> {
    let weight = (seen / n.max(1)) as f64 * 10.0;
    let block = DMatrix::from_fn(side, side, |i, j| Element::from_f64(if i == j { weight } else { 0.1 }));
    Cbc::from_triplets(n, n, BlockShape::new(side, side)?, (0..n).map(|i| (i, i, block.clone())))
}
