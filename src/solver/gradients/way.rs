//! The way to a solution: steps until every column has ended.
use super::{
    preconditioner::Inverses,
    steps::{Fate, Progressed, StepKernels, Steps, Vectors},
};
use crate::{
    DeviceDense, Progress, Result,
    device::Work,
    matrix::{DenseShape, Layout},
    solver::scale::Scales,
    vector::columns,
};

/// When steps end, and the callback for their progress.
pub(super) struct End {
    pub tolerance: f64,
    pub steps: u32,
    pub progress: Option<Progress>,
}

/// The end of a column's steps.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SolvedColumn {
    /// Steps taken.
    pub steps: u32,
    /// Norm of the residual, as it is updated from step to step, as a share of the norm of the
    /// right-hand side; 0 if the right-hand side is 0.
    pub residual: f64,
    /// Whether the residual is small enough, and all numbers of the solution are finite.
    pub converged: bool,
    /// The curvature pᵀ·A·p of the last direction p, if steps ended because pᵀ·A·p is zero,
    /// negative or not finite. A is then not positive definite, or too large for the type.
    pub curvature: Option<f64>,
}

/// The way to a solution.
pub(super) struct Way<'w> {
    pub kernels: &'w StepKernels,
    pub inverses: Option<&'w Inverses>,
    pub end: &'w End,
}

impl Way<'_> {
    /// Solves for B, whose element type is `V` or known at run time only.
    pub fn solve<V>(
        &self,
        b: &DeviceDense<V>,
        mut multiply: impl FnMut(&DeviceDense<V>, &mut DeviceDense<V>) -> Result<()>,
    ) -> Result<(DeviceDense<V>, Vec<SolvedColumn>)> {
        let (device, element, DenseShape { rows, cols, .. }) = (b.device(), b.element(), b.shape());
        let room = || DeviceDense::<V>::zeros_of(device, element, DenseShape::new(rows, cols, Layout::ByRows));
        let (mut x, mut r, mut p, mut ap) = (room()?, room()?, room()?, room()?);
        columns::copy(device, b.buffer(), r.buffer_mut())?;
        let dots = |r: &DeviceDense<V>| columns::dots(device, r.buffer(), r.buffer());
        let mut squares = dots(&r)?;
        let work = Work::new(device, None);
        let scales = Scales::apply(&work, r.buffer_mut(), &squares)?;
        if scales.is_some() {
            squares = dots(&r)?;
        }
        let mut ends: Vec<_> = squares.iter().map(|&square| Column::new(square, rows == 0)).collect();
        if rows > 0 && cols > 0 {
            let enough: Vec<f64> = squares.iter().map(|square| square * self.end.tolerance.powi(2)).collect();
            let mut steps = Steps::new(&work, self.kernels, self.inverses, &enough)?;
            steps.take(&work, vectors([&mut x, &mut r, &mut p, &mut ap]))?;
            self.iterate(&mut steps, &mut ends, |steps, work| {
                multiply(&p, &mut ap)?;
                steps.take(work, vectors([&mut x, &mut r, &mut p, &mut ap]))
            })?;
        }
        if let Some(scales) = scales {
            scales.undo(&work, x.buffer_mut())?;
        }
        // Zero times a number that is not finite is NaN.
        work.fill_zero(ap.buffer_mut().values)?;
        for (column, dot) in ends.iter_mut().zip(columns::dots(device, x.buffer(), ap.buffer())?) {
            column.solved.converged &= dot == 0.0;
        }
        Ok((x, ends.into_iter().map(|column| column.solved).collect()))
    }

    /// Takes steps until every column has ended. The state after a step is read while the next step
    /// runs, so that the device does not wait for the host. No step changes a column that has
    /// ended.
    fn iterate(
        &self,
        steps: &mut Steps<'_>,
        columns: &mut [Column],
        mut take: impl FnMut(&mut Steps<'_>, &Work) -> Result<()>,
    ) -> Result<()> {
        let device = steps.device().clone();
        for step in 0..=self.end.steps {
            // A `Work` keeps the events of its commands: each step has its own.
            let work = Work::new(&device, None);
            let state = steps.state(&work)?;
            if step < self.end.steps {
                take(steps, &work)?;
            }
            let mut works = false;
            for (column, state) in columns.iter_mut().zip(state()?) {
                works |= column.note(step, &state);
            }
            if let Some(progress) = &self.end.progress {
                progress.tell(step.into(), self.end.steps.into());
            }
            if !works {
                break;
            }
        }
        Ok(())
    }
}

fn vectors<V>(of: [&mut DeviceDense<V>; 4]) -> Vectors<'_> {
    let [x, r, p, ap] = of.map(|vector| vector.buffer_mut().values);
    Vectors { x, r, p, ap }
}

/// A column while it is solved.
struct Column {
    solved: SolvedColumn,
    /// Norm of its right-hand side, scaled.
    norm: f64,
    works: bool,
}

impl Column {
    /// A column is `solved` at once if it has no rows.
    fn new(square: f64, solved: bool) -> Self {
        let residual = if square > 0.0 { 1.0 } else { 0.0 };
        let solved = SolvedColumn { steps: 0, residual, converged: solved, curvature: None };
        Self { solved, norm: square.sqrt(), works: true }
    }

    /// Takes the state after a step, and returns whether the column needs more steps.
    fn note(&mut self, step: u32, state: &Progressed) -> bool {
        if self.works && state.fate == Fate::Failed {
            self.solved.curvature = Some(state.curvature);
        } else if self.works && self.norm > 0.0 {
            (self.solved.steps, self.solved.residual) = (step, state.square.sqrt() / self.norm);
        }
        self.solved.converged = state.fate == Fate::Solved;
        self.works = state.fate == Fate::Works;
        self.works
    }
}
