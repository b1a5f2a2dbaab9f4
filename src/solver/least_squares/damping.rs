//! λ of Levenberg-Marquardt, after H. B. Nielsen, *Damping Parameter in Marquardt's Method*, 1999.
//! λ follows the ratio of the decrease that a step gained to the decrease that its model promised.
use super::{Options, StepMethod, Stop};

/// λ, and its rule of change.
pub struct DampingRule {
    pub lambda: f64,
    grow: f64,
    least: f64,
    method: StepMethod,
}

impl DampingRule {
    /// Largest λ. Beyond it a step is shorter than rounding.
    const MOST: f64 = 1e16;
    /// A step with more damping is no sign of a minimum.
    pub const LIGHT: f64 = 1e-3;
    /// Smallest λ. Below it damping changes no step and makes no system solvable. Cholesky's
    /// factorization of n unknowns is certain to succeed if the eigenvalues are above n·u once the
    /// diagonal is scaled to 1 (J. W. Demmel, *On Floating Point Errors in Cholesky*, 1989). λ
    /// adds to each of them, so 1e-12 is enough for the 5000 unknowns of most reduced systems.
    /// Larger systems find the λ they need by failing.
    const LEAST: f64 = 1e-12;
    /// Least damping after a system that could not be solved, as a multiple of the damping it had.
    const ABOVE_FAILED: f64 = 10.0;

    pub fn new(options: &Options) -> Self {
        let lambda = if options.method == StepMethod::GaussNewton { 0.0 } else { options.lambda };
        Self { lambda, grow: 2.0, least: Self::LEAST, method: options.method }
    }

    /// Whether to take a step that lowers the cost by `gain`. Changes λ.
    pub fn take(&mut self, gain: f64, promised: f64) -> bool {
        if self.method == StepMethod::GaussNewton {
            return gain.is_finite();
        }
        let kept = gain / promised;
        let taken = gain > 0.0 && promised > 0.0;
        if taken {
            self.lambda *= (1.0 - (2.0 * kept - 1.0).powi(3)).clamp(1.0 / 3.0, 2.0);
            self.lambda = self.lambda.max(self.least);
            self.grow = 2.0;
        } else {
            self.refuse();
        }
        taken
    }

    /// Raises λ after a step that lowers nothing.
    fn refuse(&mut self) {
        if self.method == StepMethod::LevenbergMarquardt {
            self.lambda = self.lambda.max(self.least) * self.grow;
            self.grow *= 2.0;
        }
    }

    /// Raises λ after a system without solution; it never becomes as small again.
    pub fn unsolved(&mut self) {
        self.least = self.least.max(self.lambda * Self::ABOVE_FAILED);
        self.refuse();
    }

    /// Whether λ is small enough for the last step.
    pub fn is_light(&self) -> bool {
        self.lambda <= Self::LIGHT
    }

    /// The reason to stop after a step that was not taken, if nothing is left to try.
    pub fn end(&self) -> Option<Stop> {
        match self.method {
            StepMethod::GaussNewton => Some(Stop::Failed),
            StepMethod::LevenbergMarquardt => (self.lambda > Self::MOST).then_some(Stop::NoStep),
        }
    }
}
