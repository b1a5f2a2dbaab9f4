//! Conjugate gradients on the Schur complement without forming it, for problems with many cameras
//! (S. Agarwal, N. Snavely, S. M. Seitz, R. Szeliski, *Bundle Adjustment in the Large*, 2010). The
//! preconditioner is the inverse of the diagonal blocks, computed on the host. Everything else
//! stays on the device; the host reads two numbers in each step.
use super::{
    linear::{LinearStep, equations},
    normal::Normal,
};
use crate::{
    Cbc, DeviceMatrix, DeviceVector, Error, Planned, Result,
    apply::Apply,
    events::ms,
    solver::{Elimination, Implicit, NormalEquations, Reduced, scale::power_of_two},
};
use nalgebra::DMatrixView;
use rayon::prelude::*;
use std::time::Instant;

/// Limits on the steps of conjugate gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Norm of the residual at which a solution is accurate enough, as a share of the norm of the
    /// right-hand side. Steps of Levenberg-Marquardt need not be exact.
    pub tolerance: f64,
    /// The maximum number of steps for one system.
    pub steps: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tolerance: 0.01, steps: 500 }
    }
}

/// If the norm of a right-hand side is in this range, the squares of that norm and of the
/// residual's norm are normal numbers. A right-hand side whose norm is outside of this range is
/// scaled by a power of two, which changes none of its digits.
const SQUARED: std::ops::Range<f64> = 1e-100..1e100;

/// Norm of the residual at which a system counts as solved exactly, as a share of the norm of the
/// right-hand side.
const EXACT: f64 = 1e-8;

pub struct Conjugate {
    elimination: Elimination<Implicit<f64>>,
    reduced: Reduced<Implicit<f64>>,
    limits: Limits,
    preconditioner: DeviceMatrix<Cbc<f64>>,
    precondition: Apply<Cbc<f64>>,
    /// The vectors of the iteration: solution, residual, preconditioned residual, direction, and S
    /// times the direction.
    x: DeviceVector<f64>,
    r: DeviceVector<f64>,
    z: DeviceVector<f64>,
    p: DeviceVector<f64>,
    sp: DeviceVector<f64>,
    eliminated: DeviceVector<f64>,
}

impl Conjugate {
    pub fn new(normal: &Normal, limits: Limits) -> Result<Self> {
        let NormalEquations { u, w, v, .. } = equations(normal, 0.0)?;
        let (device, n, side) = (normal.device(), u.nrows(), u.shape().rows());
        let elimination = Elimination::implicit(&u.pattern(), &w.pattern(), &v.pattern())?;
        let zeros = vec![0.0; n * side * side];
        let diagonal = crate::Pattern::new(n, n, (0..=n as u64).collect(), (0..n as u32).collect())?;
        let preconditioner = device.upload(&Cbc::new(diagonal, u.shape(), zeros)?)?;
        let room = || device.zero_vector(n * side);
        Ok(Self {
            reduced: elimination.output()?,
            elimination,
            limits,
            precondition: Apply::new(&preconditioner.pattern())?,
            preconditioner,
            x: room()?,
            r: room()?,
            z: room()?,
            p: room()?,
            sp: room()?,
            eliminated: device.zero_vector(normal.b()[1].len())?,
        })
    }

    /// Solves for the step of least squares within the limits. If `further` is true, the limits are
    /// ignored, and the iteration ends when more steps of conjugate gradients would gain little.
    /// The result has no step if the system proves not to be positive definite.
    pub fn solve(&mut self, normal: &Normal, lambda: f64, further: bool) -> Result<LinearStep> {
        let clock = Instant::now();
        self.elimination.execute(equations(normal, lambda)?, &mut self.reduced)?;
        match self.reduced.check() {
            Err(Error::NotPositiveDefinite { block, .. }) => return Ok(LinearStep::singular(block, ms(clock))),
            checked => checked?,
        }
        let products_ms = ms(clock);
        let clock = Instant::now();
        let done = if self.invert_diagonal()? { self.iterate(further)? } else { None };
        let linear_ms = ms(clock);
        let mut step = LinearStep { products_ms, linear_ms, ..LinearStep::default() };
        let Some((steps, is_exact)) = done else { return Ok(step) };
        (step.conjugate_steps, step.is_rough) = (Some(steps), !is_exact);
        let clock = Instant::now();
        self.elimination.back_substitute(&self.reduced, &self.x, &mut self.eliminated)?;
        step.x = Some(vec![self.x.download()?, self.eliminated.download()?]);
        step.products_ms += ms(clock);
        Ok(step)
    }

    /// Computes the preconditioner. Returns `false` if a block is not positive definite.
    fn invert_diagonal(&mut self) -> Result<bool> {
        let diagonal = self.reduced.diagonal()?.download()?;
        let side = diagonal.shape().rows();
        let blocks = diagonal.values().par_chunks(side * side);
        self.preconditioner.write_values_with(|values| {
            values.par_chunks_mut(side * side).zip(blocks).all(|(to, block)| {
                match DMatrixView::from_slice(block, side, side).into_owned().cholesky() {
                    Some(factor) => {
                        to.copy_from_slice(factor.inverse().as_slice());
                        true
                    }
                    None => false,
                }
            })
        })
    }

    /// Makes steps of conjugate gradients. Returns their number and whether further steps would
    /// gain little, or `None` if the curvature of a direction is zero or negative.
    fn iterate(&mut self, further: bool) -> Result<Option<(u32, bool)>> {
        let Self { elimination, reduced, limits, preconditioner, precondition, x, r, z, p, sp, .. } = self;
        r.copy_from(reduced.rhs()?)?;
        let mut norm = r.norm()?;
        let scale = match SQUARED.contains(&norm) {
            true => 1.0,
            false => power_of_two(r.download()?.iter().fold(0.0, |most: f64, x| most.max(x.abs()))),
        };
        if scale != 1.0 {
            r.scale(scale.recip())?;
            norm = r.norm()?;
        }
        let enough = limits.tolerance * norm;
        x.axpby(0.0, r, 0.0)?;
        precondition.execute((&*preconditioner, &*r), &mut *z)?;
        p.copy_from(z)?;
        let mut rz = r.dot(z)?;
        // Each step increases xᵀb by an amount, its gain.
        let mut gains = Vec::new();
        let (mut taken, mut is_exact) = (limits.steps, norm == 0.0);
        for step in 1..=limits.steps {
            elimination.multiply(reduced, p, sp)?;
            let curvature = p.dot(sp)?;
            if curvature.is_nan() || curvature <= 0.0 {
                if rz != 0.0 {
                    return Ok(None);
                }
                (taken, is_exact) = (step - 1, true);
                break;
            }
            let alpha = rz / curvature;
            x.axpy(alpha, p)?;
            r.axpy(-alpha, sp)?;
            gains.push(alpha * rz);
            let residual = r.norm()?;
            is_exact = residual <= EXACT * norm || is_settled(&gains);
            if residual <= enough && (is_exact || !further) {
                taken = step;
                break;
            }
            precondition.execute((&*preconditioner, &*r), &mut *z)?;
            let before = std::mem::replace(&mut rz, r.dot(z)?);
            p.axpby(1.0, z, rz / before)?;
        }
        if scale != 1.0 {
            x.scale(scale)?;
        }
        Ok(Some((taken, is_exact)))
    }
}

/// Whether the second half of the steps gained at most a tenth of the total gain.
fn is_settled(gains: &[f64]) -> bool {
    let of = |gains: &[f64]| gains.iter().sum::<f64>();
    of(&gains[gains.len() / 2..]) <= 0.1 * of(gains)
}
