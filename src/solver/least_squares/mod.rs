//! Nonlinear least squares with the products of this library: Gauss-Newton and Levenberg-Marquardt
//! for bundle adjustments and graphs of poses and landmarks (feature `faer`).
//!
//! | file | does |
//! |---|---|
//! | `mod.rs` | the options and the result |
//! | `iterate.rs` | the iteration: which steps are taken, how damping changes, when it ends |
//! | `capped.rs` | the costs by which steps and convergence are judged |
//! | `convergence.rs` | the rules of convergence |
//! | `damping.rs` | λ, computed from the results of earlier steps |
//! | `normal.rs` | H = JᵀWJ and the gradient, by plans that are made once |
//! | `floors.rs` | damping of unknowns on which no residual depends |
//! | `linear.rs` | solving for a step; elimination of the second group of unknowns |
//! | `whole.rs` | solving for a step by factoring the whole of H |
//! | `choice.rs` | the choice between elimination and factoring H, by predicted work |
//! | `cholesky.rs` | sparse Cholesky factorization by `faer`, on one thread |
//! | `conjugate.rs` | conjugate gradients on the device, without forming the Schur complement |
//! | `anchors.rs` | poses in a first guess that only fixed landmarks hold |
//! | [`start`] | usable information matrices and a first guess for graphs whose files have none |
//! | `words.rs` | sentences about a solution and its start |
//! | `clock.rs` | wall-clock time without the loading of kernels |
//! | [`report`] | an iteration as a line of a table and as JSON |
//!
//! # Convergence
//!
//! An iteration ends *converged* if one of four conditions holds. None of the conditions depends on
//! the units of residuals or unknowns:
//!
//! * the gradient is flat: for every column of J, the cosine |bⱼ|/√(Hⱼⱼ·2·cost) of the angle
//!   between the residuals and the column, both weighted by information and loss, is at most 1e-10;
//! * the cost is only rounding: each residual is a difference of two numbers, and at most about
//!   1e-14 of their size ([`RowCost::rounding`](super::problem::RowCost::rounding));
//! * a step changes the cost by at most the share [`Options::tolerance`], and the model also
//!   predicted a change of at most this share;
//! * a step does not lower the cost, and the decrease that the model predicted is no larger than
//!   the effect of rounded residuals.
//!
//! A cost counts as rounding only if it is below 1e-6 of the first cost, or below 100 times the
//! rounding of the first cost. A pose that is free to move in one direction may diverge until all
//! digits of its residuals are rounding, which is not a minimum.
//!
//! The first, third and fourth conditions use a *capped* cost, so that one row cannot hide the
//! other rows. The capped cost leaves out rows that touch no unknown, and each of its n rows counts
//! at most as n times the median row. Rows whose measurement is met do not count for the median.
//! [`Solution::dominant`] is a row that makes up more than half of the cost at the end. A problem
//! that you define gets a capped cost if it writes
//! [`Linearization::row_costs_mut`](super::problem::Linearization::row_costs_mut). For a problem
//! that does not write them, the whole cost takes the place of the capped cost, and 1e-24 of the
//! first cost counts as rounding.
//!
//! The third and fourth conditions hold only if λ ≤ 1e-3, because a step x that damping made short
//! does not indicate a minimum. For the same reason these conditions hold only if the model
//! predicts for the best step t·x in the same direction at most 100 times the decrease of x. The
//! third and fourth conditions do not hold either if the floor of damping holds back an unknown
//! that could lower the cost by more than [`Options::tolerance`]. In the last system conjugate
//! gradients continue until the second half of their steps gains less than a tenth of the total
//! gain. *Converged* means that the state is a stationary point within these tolerances, in
//! practice a local minimum. The start decides which minimum is found: see [`start::cheaper`]. An
//! iteration ends without convergence at the limit of iterations, or if no step lowers the cost
//! with any damping.
//!
//! # Linear systems
//!
//! A second group of unknowns is eliminated, unless factoring H takes clearly less work: see
//! [`Linear::Cholesky`]. Factorizations run on one thread and reuse their memory in all iterations.
//! The bits of a factorization do not depend on the number of threads or on the global parallelism
//! of `faer`.
//!
//! To minimize residuals that you define, implement [`LeastSquares`].
//!
//! ```
//! # fn main() -> blockmul::Result<()> {
//! use blockmul::Device;
//! use blockmul::generate::problem::{Scene, bundle_adjustment};
//! use blockmul::solver::least_squares::{Options, Stop, minimize};
//! use blockmul::solver::problem::{BundleProblem, LeastSquares, Loss};
//! use std::ops::ControlFlow::Continue;
//! let scene = Scene { cameras: 5, points: 60, views: 4, ..Default::default() };
//! let problem = BundleProblem::new(bundle_adjustment(&scene)?, Loss::Squared)?;
//! let (device, options) = (Device::auto()?, Options::default());
//! let solution = minimize(&problem, problem.start(), &device, &options, |_| Continue(()))?;
//! assert_eq!(solution.stop, Stop::Converged);
//! assert!(solution.cost < 0.1 * solution.initial_cost);
//! # Ok(())
//! # }
//! ```
mod anchors;
mod capped;
mod choice;
mod cholesky;
mod clock;
mod conjugate;
mod convergence;
mod damping;
mod floors;
mod influence;
mod iterate;
mod linear;
mod matrices;
mod normal;
pub mod report;
pub mod start;
mod whole;
mod words;

pub use capped::Dominant;
pub use clock::Clock;
pub use conjugate::Limits;
pub use floors::{Coordinate, WithoutInfluence};
pub use linear::{Linear, System};
pub use normal::Normal;
pub use report::Iteration;
pub use words::{not_finite, weight_warnings};

use super::problem::LeastSquares;
use crate::{Device, Error, Result};
use iterate::{At, iterate};
use std::ops::ControlFlow;

/// Options of an iteration.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Method of making steps.
    pub method: StepMethod,
    /// Method of solving the linear system of a step.
    pub linear: Linear,
    /// The maximum number of steps to try.
    pub iterations: u32,
    /// An iteration that lowers the cost by less than this share of the cost is the last, unless
    /// damping made its step short.
    pub tolerance: f64,
    /// Damping of the first step, as a share of the diagonal of H.
    pub lambda: f64,
}

/// Method of making steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepMethod {
    /// Every step is taken.
    GaussNewton,
    /// H is damped by λ times its diagonal. Steps that do not lower the cost are not taken.
    LevenbergMarquardt,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: StepMethod::LevenbergMarquardt,
            linear: Linear::Cholesky,
            iterations: 100,
            tolerance: 1e-6,
            lambda: 1e-4,
        }
    }
}

impl Options {
    fn check(&self) -> Result<()> {
        let numbers = [("tolerance", self.tolerance), ("first damping", self.lambda)];
        match numbers.iter().find(|(_, number)| !(number.is_finite() && *number >= 0.0)) {
            Some((what, number)) => Err(Error::Argument(format!("a {what} of {number}: a finite number from 0 on"))),
            None => Ok(()),
        }
    }
}

/// Reason why the iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The state is a stationary point: see [the module](self).
    Converged,
    /// The limit of iterations was reached without convergence.
    Iterations,
    /// No step lowers the cost, however short, though the model predicts a decrease, so the
    /// iteration has not converged.
    NoStep,
    /// The caller ended the iteration. The state after the last step that was taken is the solution
    /// so far.
    Interrupted,
    /// The system is singular with any damping, or the cost, the gradient or H is not finite.
    Failed,
}

/// Result of an iteration.
pub struct Solution<S> {
    /// The unknowns after the last step that was taken.
    pub state: S,
    /// The cost at the start.
    pub initial_cost: f64,
    /// The cost of `state`.
    pub cost: f64,
    /// The steps tried, in order.
    pub iterations: Vec<Iteration>,
    /// Reason why the iteration ended.
    pub stop: Stop,
    /// If the iteration failed: the first eliminated unknown (point or landmark) whose own block of
    /// H is not positive definite with any damping.
    pub singular: Option<usize>,
    /// Unknowns on which no residual depended when the last step was computed. Damping keeps
    /// unknowns without influence where they are.
    pub without_influence: WithoutInfluence,
    /// If the iteration failed because a cost, the gradient or H is not finite: the row of blocks
    /// of J, through all groups of rows, with the residual or derivative that causes this.
    pub not_finite: Option<usize>,
    /// The row of J that makes up more than half of the cost of `state`.
    pub dominant: Option<Dominant>,
    /// The matrix of the linear systems that were solved.
    pub system: System,
    /// Milliseconds of work that depends on the patterns only: arrays, plans, the symbolic
    /// factorization.
    pub plan_ms: f64,
    /// Milliseconds in total, including plans.
    pub total_ms: f64,
    /// Milliseconds spent waiting for kernels to be compiled or loaded. No other time of this
    /// struct includes these milliseconds.
    pub kernels_ms: f64,
}

/// Lowers the cost of `problem`, starting from `start`. Calls `each` after every iteration, on the
/// calling thread. If `each` breaks, the iteration ends with [`Stop::Interrupted`], unless the same
/// step ends it for another reason.
///
/// # Errors
/// Errors of [`LeastSquares`] and of the plans; [`Error::Argument`] for options that are no
/// positive numbers, for a problem without unknowns or with more than two groups of unknowns, for
/// two groups without a common row, and for conjugate gradients or a Schur complement of a problem
/// with one group. It is no error if no step can be made: see [`Solution::stop`].
pub fn minimize<P: LeastSquares>(
    problem: &P,
    start: P::State,
    device: &Device,
    options: &Options,
    mut each: impl FnMut(&Iteration) -> ControlFlow<()>,
) -> Result<Solution<P::State>> {
    options.check()?;
    if options.method == StepMethod::GaussNewton {
        problem.check_undamped()?;
    }
    let mut at = At { problem, state: start, next: None };
    let solution = iterate(&mut at, device, options, &mut each)?;
    Ok(solution.with_state(at.state))
}

impl Solution<()> {
    fn with_state<S>(self, state: S) -> Solution<S> {
        Solution {
            state,
            initial_cost: self.initial_cost,
            cost: self.cost,
            iterations: self.iterations,
            stop: self.stop,
            singular: self.singular,
            without_influence: self.without_influence,
            not_finite: self.not_finite,
            dominant: self.dominant,
            system: self.system,
            plan_ms: self.plan_ms,
            total_ms: self.total_ms,
            kernels_ms: self.kernels_ms,
        }
    }
}
