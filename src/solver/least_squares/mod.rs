//! Nonlinear least squares with the products of this library: Gauss-Newton and Levenberg-Marquardt
//! for bundle adjustments and graphs of poses and landmarks (feature `faer`).
//!
//! | file | does |
//! |---|---|
//! | `mod.rs` | the options and the result |
//! | `iterate.rs` | the iteration: when a step is taken, how damping follows, when it ends |
//! | `capped.rs` | the costs that steps and rules of convergence go by |
//! | `convergence.rs` | the rules of convergence |
//! | `damping.rs` | λ, from the results of the steps before |
//! | `normal.rs` | H = JᵀWJ and the gradient, by plans made once |
//! | `floors.rs` | damping of unknowns on which no residual depends |
//! | `linear.rs` | solving for a step; elimination of the second group of unknowns |
//! | `whole.rs` | solving for a step with H factored whole |
//! | `choice.rs` | the choice between elimination and H whole, by their work |
//! | `cholesky.rs` | sparse Cholesky factorization by `faer`, on one thread |
//! | `conjugate.rs` | conjugate gradients on the device, without forming the Schur complement |
//! | `anchors.rs` | poses of a first guess that only fixed landmarks hold |
//! | [`start`] | usable information matrices and a first guess for graphs whose files have none |
//! | `clock.rs` | wall-clock time without the loading of kernels |
//! | [`report`] | an iteration as a line of a table and as JSON |
//!
//! # Convergence
//!
//! An iteration ends *converged* if one of four conditions holds. None of them depends on the
//! units of residuals or unknowns:
//!
//! * the gradient is flat: the cosine |bⱼ|/√(Hⱼⱼ·2·cost) of the angle between the
//!   residuals and a column of J, weighted by information and loss, is at most 1e-10;
//! * the cost is nothing but rounding: its residuals are 1e-14 of the numbers of which they are
//!   differences ([`RowCost::rounding`](super::problem::RowCost::rounding));
//! * a step changes the cost by no more than the share [`Options::tolerance`], and its model
//!   promised no more;
//! * a step lowers nothing, and its model promised no more than the rounding of residuals changes
//!   the cost.
//!
//! A cost can count as rounding only up to 1e-6 of the first cost, or up to 100 times the rounding
//! of the first cost. A pose that nothing holds in one direction may run away until all digits of
//! its residuals are rounding, which is no minimum.
//!
//! The cost of these conditions is *capped*, except in the second, so that one row cannot hide the
//! others. It leaves out rows that touch no unknown, and a row counts at most as n times the median
//! of the n rows (without those that are met).
//! [`Solution::dominant`] is a row that makes up more than half of the cost at the end. A problem
//! of your own has these rules if it writes
//! [`Linearization::row_costs_mut`](super::problem::Linearization::row_costs_mut). Otherwise the
//! whole cost stands for the capped one, and 1e-24 of the first cost is rounding.
//!
//! The last two count only for steps with λ ≤ 1e-3, and only if the model promises at most 100
//! times as much for t·x at the best t: a step x that is short because of damping is no sign of a
//! minimum. They do not count either if the floor of damping holds back an unknown that could lower
//! the cost by more than [`Options::tolerance`]. Conjugate gradients solve the last system further,
//! until the second half of their steps gains less than a tenth. Converged means a stationary point
//! to these tolerances, in practice a local minimum. Which one depends on the start: see
//! [`start::cheaper`]. Every other end is not convergence: the limit of iterations, or no step that
//! lowers the cost however it is damped.
//!
//! # Linear systems
//!
//! A second group of unknowns is eliminated, unless H as it is takes less work: see
//! [`Linear::Cholesky`]. Factorizations run on one thread, in memory that is kept between
//! iterations. Their bits depend neither on the number of threads nor on `faer`'s global
//! parallelism.
//!
//! To minimize residuals of your own, implement [`LeastSquares`].
//!
//! ```
//! # fn main() -> blockmul::Result<()> {
//! use blockmul::Device;
//! use blockmul::generate::problem::{Scene, bundle_adjustment};
//! use blockmul::solver::least_squares::{Options, Stop, minimize};
//! use blockmul::solver::problem::{BundleProblem, LeastSquares, Loss};
//! let scene = Scene { cameras: 5, points: 60, views: 4, ..Default::default() };
//! let problem = BundleProblem::new(bundle_adjustment(&scene)?, Loss::Squared)?;
//! let (device, options) = (Device::auto()?, Options::default());
//! let solution = minimize(&problem, problem.start(), &device, &options, |_| {})?;
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

pub use capped::Dominant;
pub use clock::Clock;
pub use conjugate::Limits;
pub use floors::{Coordinate, WithoutInfluence};
pub use linear::{Linear, System};
pub use normal::Normal;
pub use report::Iteration;

use super::problem::LeastSquares;
use crate::{Device, Error, Result};
use iterate::{At, iterate};

/// Options of an iteration.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Method of making steps.
    pub method: StepMethod,
    /// Method of solving the linear system of a step.
    pub linear: Linear,
    /// The maximum number of steps to try.
    pub iterations: u32,
    /// An iteration that lowers the cost by less than this share of it is the last. Iterations that
    /// damping made short do not count.
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

/// Reason why an iteration was the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// At a stationary point: see [the module](self).
    Converged,
    /// The limit of iterations was reached: not converged.
    Iterations,
    /// No step lowers the cost, however short, though its model says so: not converged.
    NoStep,
    /// The system is singular, however it is damped, or the cost, the gradient or H is not finite.
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
    /// Reason why the last iteration was the last.
    pub stop: Stop,
    /// If the iteration failed: the first of the eliminated unknowns (points or landmarks) whose
    /// own block of H is not positive definite however it is damped.
    pub singular: Option<usize>,
    /// Unknowns on which no residual depended when the last step was computed. Damping keeps them
    /// where they are.
    pub without_influence: WithoutInfluence,
    /// If the iteration failed because a cost, the gradient or H is not finite: the row of blocks
    /// of J, through all groups of rows, whose residual or derivative is the reason.
    pub not_finite: Option<usize>,
    /// The row of J that makes up more than half of the cost of `state`.
    pub dominant: Option<Dominant>,
    /// The matrix of the linear systems.
    pub system: System,
    /// Milliseconds of work that depends on the pattern only: arrays, plans, the symbolic
    /// factorization.
    pub plan_ms: f64,
    /// Milliseconds in all, plans included.
    pub total_ms: f64,
    /// Milliseconds of waiting for kernels to be compiled or loaded. No other time includes them.
    pub kernels_ms: f64,
}

/// Lowers the cost of `problem` from `start` on. Calls `each` after every iteration.
///
/// # Errors
/// Errors of [`LeastSquares`] and of the plans; [`Error::Argument`] for options that are no
/// positive numbers, for a problem without unknowns or with more than two groups of them, for two
/// groups without a common row, and for conjugate gradients or a Schur complement of a problem with
/// one group. If no step can be made, that is no error: see [`Solution::stop`].
pub fn minimize<P: LeastSquares>(
    problem: &P,
    start: P::State,
    device: &Device,
    options: &Options,
    mut each: impl FnMut(&Iteration),
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
