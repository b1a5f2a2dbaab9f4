//! Solves the normal equations (H + λ·diag H)·x = b for a step, with floors of damping for unknowns
//! without influence: see `floors.rs`.
use super::{
    choice,
    cholesky::{Cholesky, Symbolic},
    conjugate::{Conjugate, Limits},
    normal::Normal,
    whole::Whole,
};
use crate::{
    BlockShape, Bsr, Cbc, DeviceGroups, DeviceVector, Error, Planned, Result,
    element::ElementType,
    events::ms,
    solver::{Damping, Elimination, Formed, Implicit, NormalEquations, Reduced, problem::check_groups},
    structure::{Scalars, ask_scalars},
};
use std::time::Instant;

/// Method of solving the linear system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Linear {
    /// Sparse Cholesky factorization, either of H or of the Schur complement S, from which the
    /// second group of unknowns is eliminated. If there is one group, H is factored. If there are
    /// two groups, S is factored, unless that is predicted to take more than twice as long as
    /// factoring H. S has a block for each pair of unknowns that are measured together with the
    /// same unknown of the second group: a landmark seen from 500 poses causes 125,000 blocks. The
    /// choice depends on the patterns only and is made once. [`Solution::system`] reports it.
    ///
    /// [`Solution::system`]: super::Solution::system
    Cholesky,
    /// Sparse Cholesky factorization of H, all unknowns at once (Ceres Solver's
    /// `SPARSE_NORMAL_CHOLESKY`).
    NormalCholesky,
    /// Sparse Cholesky factorization of the Schur complement, for two groups of unknowns (Ceres
    /// Solver's `SPARSE_SCHUR`).
    SchurCholesky,
    /// Conjugate gradients on the Schur complement, which is not formed, for two groups of
    /// unknowns.
    ConjugateGradients(Limits),
}

/// The matrix of the linear system that is solved for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// H, with all unknowns.
    Hessian,
    /// S, with the second group of unknowns eliminated.
    SchurComplement,
}

/// A step, with the time and the number of steps of conjugate gradients that solving for it took.
#[derive(Debug, Default)]
pub struct LinearStep {
    /// The step of each group of unknowns, or `None` if the system is not positive definite.
    pub x: Option<Vec<Vec<f64>>>,
    /// The first eliminated unknown whose own block is not positive definite.
    pub singular: Option<usize>,
    /// Milliseconds of products on the device, including copies to the host.
    pub products_ms: f64,
    /// Milliseconds of factoring and solving.
    pub linear_ms: f64,
    /// Steps of conjugate gradients, if they were used.
    pub conjugate_steps: Option<u32>,
    /// Whether further steps of conjugate gradients might lower the cost much.
    pub is_rough: bool,
}

impl LinearStep {
    /// A result without a step, because block number `block` of an eliminated unknown is not
    /// positive definite.
    pub fn singular(block: usize, products_ms: f64) -> Self {
        Self { singular: Some(block), products_ms, ..Self::default() }
    }
}

/// A solver prepared for the pattern of H.
pub enum Solver {
    /// H itself is factored.
    Whole(Box<Whole>),
    /// The second of two groups of unknowns is eliminated. S is formed and factored, or only
    /// multiplied with vectors.
    Eliminated(Box<Eliminated>),
    Conjugate(Box<Conjugate>),
}

impl Solver {
    /// Requests the kernels of the solver for J's unknowns, so that they are compiled together with
    /// the kernels of the normal equations.
    pub fn ask(j: &DeviceGroups<Bsr<f64>>, linear: Linear) -> Result<()> {
        let (device, rows) = (j.device(), j.row_groups().iter().map(|group| group.blocks).sum());
        match (j.col_groups(), linear) {
            ([unknowns], _) => ask_scalars(device, ElementType::F64, BlockShape::new(unknowns.side, unknowns.side)?),
            (_, Linear::NormalCholesky) => Ok(()),
            ([cameras, points], linear) => {
                let shape = BlockShape::new(cameras.side, points.side)?;
                // A row of J has at most one block of W.
                match linear {
                    Linear::ConjugateGradients(_) => {
                        Elimination::<Implicit<f64>>::ask(device, shape, cameras.blocks, rows)
                    }
                    _ => Elimination::<Formed<f64>>::ask(device, shape, cameras.blocks, rows),
                }
            }
            _ => Ok(()),
        }
    }

    pub fn new(normal: &Normal, linear: Linear) -> Result<Self> {
        check_groups(normal.b().len())?;
        match (normal.b().len(), linear) {
            (1, Linear::Cholesky) | (_, Linear::NormalCholesky) => Ok(Self::Whole(Box::new(Whole::new(normal)?))),
            (1, Linear::SchurCholesky | Linear::ConjugateGradients(_)) => {
                let what =
                    if linear == Linear::SchurCholesky { "a Schur complement is" } else { "conjugate gradients are" };
                Err(Error::Argument(format!(
                    "{what} for problems with unknown points or landmarks, which are eliminated, and cameras or poses"
                )))
            }
            (_, Linear::Cholesky) => choice::cheaper(normal),
            (_, Linear::SchurCholesky) => {
                Ok(Self::Eliminated(Box::new(Eliminated::new(normal, Eliminating::new(normal)?)?)))
            }
            (_, Linear::ConjugateGradients(limits)) => Ok(Self::Conjugate(Box::new(Conjugate::new(normal, limits)?))),
        }
    }

    /// The matrix of the systems that this solver solves.
    pub fn system(&self) -> System {
        match self {
            Self::Whole(_) => System::Hessian,
            Self::Eliminated(_) | Self::Conjugate(_) => System::SchurComplement,
        }
    }

    /// Solves (H + λ·diag H)·x = b for the step. If `further` is true, conjugate gradients continue
    /// beyond their limits.
    pub fn solve(&mut self, normal: &Normal, lambda: f64, further: bool) -> Result<LinearStep> {
        match self {
            Self::Whole(whole) => whole.solve(normal, lambda),
            Self::Eliminated(eliminated) => eliminated.solve(normal, lambda),
            Self::Conjugate(conjugate) => conjugate.solve(normal, lambda, further),
        }
    }
}

/// The structures of S and of its factor.
pub struct Eliminating {
    pub elimination: Elimination<Formed<f64>>,
    lower: Scalars<Cbc<f64>>,
    pub symbolic: Symbolic,
}

impl Eliminating {
    pub fn new(normal: &Normal) -> Result<Self> {
        let NormalEquations { u, w, v, .. } = equations(normal, 0.0)?;
        let elimination = Elimination::formed(&u.pattern(), &w.pattern(), &v.pattern())?;
        let lower = Scalars::lower(elimination.pattern())?;
        let symbolic = Symbolic::new(lower.map().symbolic())?;
        Ok(Self { elimination, lower, symbolic })
    }
}

/// The solver that eliminates the second group of unknowns and factors the Schur complement S.
pub struct Eliminated {
    elimination: Elimination<Formed<f64>>,
    reduced: Reduced<Formed<f64>>,
    lower: Scalars<Cbc<f64>>,
    scalars: DeviceVector<f64>,
    values: Vec<f64>,
    cholesky: Cholesky,
    x: [DeviceVector<f64>; 2],
}

impl Eliminated {
    pub fn new(normal: &Normal, plan: Eliminating) -> Result<Self> {
        let Eliminating { elimination, lower, symbolic } = plan;
        let room = |group: usize| normal.device().zero_vector(normal.b()[group].len());
        let (scalars, values) = (lower.output()?, vec![0.0; symbolic.nnz()]);
        let (reduced, x) = (elimination.output()?, [room(0)?, room(1)?]);
        Ok(Self { elimination, reduced, lower, scalars, values, cholesky: Cholesky::new(symbolic)?, x })
    }

    fn solve(&mut self, normal: &Normal, lambda: f64) -> Result<LinearStep> {
        let clock = Instant::now();
        self.elimination.execute(equations(normal, lambda)?, &mut self.reduced)?;
        match self.reduced.check() {
            Err(Error::NotPositiveDefinite { block, .. }) => return Ok(LinearStep::singular(block, ms(clock))),
            checked => checked?,
        }
        self.lower.execute(self.reduced.s()?, &mut self.scalars)?;
        self.scalars.download_into(&mut self.values)?;
        let mut x = self.reduced.rhs()?.download()?;
        let mut products_ms = ms(clock);
        let clock = Instant::now();
        let solved = self.cholesky.factor(&self.values) && self.cholesky.solve(&mut x);
        let linear_ms = ms(clock);
        if !solved {
            return Ok(LinearStep { products_ms, linear_ms, ..LinearStep::default() });
        }
        let clock = Instant::now();
        let [first, second] = &mut self.x;
        first.write(&x)?;
        self.elimination.back_substitute(&self.reduced, first, second)?;
        let eliminated = second.download()?;
        products_ms += ms(clock);
        Ok(LinearStep { x: Some(vec![x, eliminated]), products_ms, linear_ms, ..LinearStep::default() })
    }
}

/// The equations of [`Normal::equations`] for a problem with two groups of unknowns, damped by
/// λ·diag H.
pub(super) fn equations(normal: &Normal, lambda: f64) -> Result<NormalEquations<'_, f64>> {
    normal.equations(Damping::Marquardt(lambda)).ok_or_else(|| {
        let what = "no group of rows of J has cells for both groups of unknowns: minimize them as two problems";
        Error::Argument(what.into())
    })
}
