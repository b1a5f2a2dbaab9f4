//! Solves for a step of the normal equations: (H + λ·diag H)·x = b, with floors under the diagonal
//! for unknowns without influence: see `floors.rs`.
use super::{
    conjugate::{Conjugate, Limits},
    normal::Normal,
};
use crate::{
    BlockShape, Bsr, Cbc, DeviceGroups, DeviceVector, Error, Planned, Result,
    events::ms,
    solver::{Damping, Elimination, Formed, Implicit, NormalEquations, Reduced},
    structure::{ScalarMap, Scalars},
};
use faer::{
    Side,
    linalg::solvers::Solve,
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::solvers::{Llt, SymbolicLlt},
    },
};
use std::time::Instant;

/// Method of solving the linear system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Linear {
    /// Sparse Cholesky factorization: of the Schur complement if points or landmarks are unknown,
    /// else of H.
    Cholesky,
    /// Conjugate gradients on the Schur complement, which is not formed.
    ConjugateGradients(Limits),
}

/// A step, and the time and steps it took.
#[derive(Debug, Default)]
pub struct Step {
    /// The step of each group of unknowns; `None` if the system is not positive definite.
    pub x: Option<Vec<Vec<f64>>>,
    /// The first of the eliminated unknowns whose own block is not positive definite.
    pub singular: Option<usize>,
    /// Milliseconds of products on the device, copies to the host included.
    pub products_ms: f64,
    /// Milliseconds of factoring and solving.
    pub linear_ms: f64,
    /// Steps of conjugate gradients, if they were used.
    pub conjugate_steps: Option<u32>,
}

impl Step {
    /// No step, because the block of an eliminated unknown is not positive definite.
    pub fn singular(block: usize, products_ms: f64) -> Self {
        Self { singular: Some(block), products_ms, ..Self::default() }
    }
}

/// A solver prepared for the pattern of H.
pub enum Solver {
    /// One group of unknowns: H itself is factored.
    Whole(Box<Whole>),
    /// Two groups: the second is eliminated.
    Eliminated(Box<Eliminated>),
    Conjugate(Box<Conjugate>),
}

impl Solver {
    /// Requests the kernels that the solver of J's unknowns launches, so that they are compiled
    /// with those of the normal equations.
    pub fn ask(j: &DeviceGroups<Bsr<f64>>, linear: Linear) -> Result<()> {
        let (device, rows) = (j.device(), j.row_groups().iter().map(|group| group.blocks).sum());
        match (j.col_groups(), linear) {
            ([unknowns], _) => Scalars::<Bsr<f64>>::ask(device, BlockShape::new(unknowns.side, unknowns.side)?),
            ([cameras, points], linear) => {
                let shape = BlockShape::new(cameras.side, points.side)?;
                // A row of J has at most one block of W.
                match linear {
                    Linear::Cholesky => Elimination::<Formed<f64>>::ask(device, shape, cameras.blocks, rows),
                    Linear::ConjugateGradients(_) => {
                        Elimination::<Implicit<f64>>::ask(device, shape, cameras.blocks, rows)
                    }
                }
            }
            _ => Ok(()),
        }
    }

    pub fn new(normal: &Normal, linear: Linear) -> Result<Self> {
        match (normal.b().len(), linear) {
            (1, Linear::Cholesky) => Ok(Self::Whole(Box::new(Whole::new(normal)?))),
            (1, Linear::ConjugateGradients(_)) => Err(Error::Argument(
                "conjugate gradients are for problems with unknown points or landmarks, which are eliminated".into(),
            )),
            (_, Linear::ConjugateGradients(limits)) => Ok(Self::Conjugate(Box::new(Conjugate::new(normal, limits)?))),
            (_, Linear::Cholesky) => Ok(Self::Eliminated(Box::new(Eliminated::new(normal)?))),
        }
    }

    /// The step of (H + λ·diag H)·x = b.
    pub fn solve(&mut self, normal: &Normal, lambda: f64) -> Result<Step> {
        match self {
            Self::Whole(whole) => whole.solve(normal, lambda),
            Self::Eliminated(eliminated) => eliminated.solve(normal, lambda),
            Self::Conjugate(conjugate) => conjugate.solve(normal, lambda),
        }
    }
}

/// The lower triangle of a symmetric matrix on one pattern, factored again and again.
pub struct Cholesky {
    pattern: SymbolicSparseColMat<usize>,
    symbolic: SymbolicLlt<usize>,
}

impl Cholesky {
    pub fn new(map: &ScalarMap) -> Result<Self> {
        let pattern = map.symbolic();
        let symbolic = SymbolicLlt::try_new(pattern.as_ref(), Side::Lower)
            .map_err(|error| Error::Argument(format!("cannot prepare a Cholesky factorization: {error:?}")))?;
        Ok(Self { pattern, symbolic })
    }

    /// Solves in place; `false` if the matrix is not positive definite.
    pub fn solve(&self, values: &[f64], x: &mut [f64]) -> bool {
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), values);
        let Ok(factor) = Llt::try_new_with_symbolic(self.symbolic.clone(), matrix, Side::Lower) else { return false };
        factor.solve_in_place(faer::ColMut::from_slice_mut(x).as_mat_mut());
        x.iter().all(|x| x.is_finite())
    }
}

/// H factored as it is.
pub struct Whole {
    lower: Scalars<Bsr<f64>>,
    scalars: DeviceVector<f64>,
    values: Vec<f64>,
    cholesky: Cholesky,
}

impl Whole {
    fn new(normal: &Normal) -> Result<Self> {
        let h = normal.h().get(0, 0).expect("one group of unknowns");
        let lower = Scalars::lower(&h.pattern())?;
        let cholesky = Cholesky::new(lower.map())?;
        Ok(Self { scalars: lower.output()?, values: vec![0.0; lower.map().nnz()], lower, cholesky })
    }

    fn solve(&mut self, normal: &Normal, lambda: f64) -> Result<Step> {
        let clock = Instant::now();
        let h = normal.h().get(0, 0).expect("one group of unknowns");
        self.lower.execute(h, &mut self.scalars)?;
        self.scalars.download_into(&mut self.values)?;
        let products_ms = ms(clock);
        let clock = Instant::now();
        let (n, columns) = (self.cholesky.pattern.ncols(), self.cholesky.pattern.col_ptr());
        // The first entry of a column of a lower triangle is on the diagonal.
        for (number, &first) in columns[..n].iter().enumerate() {
            self.values[first] = normal.damped(0, number, self.values[first], lambda);
        }
        let mut x = normal.b_on_host(0).to_vec();
        let solved = self.cholesky.solve(&self.values, &mut x);
        Ok(Step { x: solved.then(|| vec![x]), products_ms, linear_ms: ms(clock), ..Step::default() })
    }
}

/// The second group of unknowns eliminated, the Schur complement S factored.
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
    fn new(normal: &Normal) -> Result<Self> {
        let NormalEquations { u, w, v, .. } = equations(normal, 0.0);
        let elimination = Elimination::formed(&u.pattern(), &w.pattern(), &v.pattern())?;
        let lower = Scalars::lower(elimination.pattern())?;
        let cholesky = Cholesky::new(lower.map())?;
        let room = |group: usize| normal.device().zero_vector(normal.b()[group].len());
        let (scalars, values) = (lower.output()?, vec![0.0; lower.map().nnz()]);
        let (reduced, x) = (elimination.output()?, [room(0)?, room(1)?]);
        Ok(Self { elimination, reduced, lower, scalars, values, cholesky, x })
    }

    fn solve(&mut self, normal: &Normal, lambda: f64) -> Result<Step> {
        let clock = Instant::now();
        self.elimination.execute(equations(normal, lambda), &mut self.reduced)?;
        match self.reduced.check() {
            Err(Error::NotPositiveDefinite { block, .. }) => return Ok(Step::singular(block, ms(clock))),
            checked => checked?,
        }
        self.lower.execute(self.reduced.s()?, &mut self.scalars)?;
        self.scalars.download_into(&mut self.values)?;
        let mut x = self.reduced.rhs()?.download()?;
        let mut products_ms = ms(clock);
        let clock = Instant::now();
        let solved = self.cholesky.solve(&self.values, &mut x);
        let linear_ms = ms(clock);
        if !solved {
            return Ok(Step { products_ms, linear_ms, ..Step::default() });
        }
        let clock = Instant::now();
        let [first, second] = &mut self.x;
        first.write(&x)?;
        self.elimination.back_substitute(&self.reduced, first, second)?;
        let eliminated = second.download()?;
        products_ms += ms(clock);
        Ok(Step { x: Some(vec![x, eliminated]), products_ms, linear_ms, ..Step::default() })
    }
}

/// [`Normal::equations`] of a problem with two groups of unknowns, damped by λ·diag H.
pub(super) fn equations(normal: &Normal, lambda: f64) -> NormalEquations<'_, f64> {
    normal.equations(Damping::Marquardt(lambda)).expect("two groups of unknowns")
}
