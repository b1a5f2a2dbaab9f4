//! λ of Levenberg-Marquardt, after H. B. Nielsen, *Damping Parameter in Marquardt's Method*, 1999.
//! λ depends on the ratio between the decrease of the cost and the decrease that the model
//! predicted.
use super::{Options, StepMethod, Stop};

/// λ and the rule by which it changes.
pub struct DampingRule {
    pub lambda: f64,
    grow: f64,
    least: f64,
    method: StepMethod,
}

impl DampingRule {
    /// Largest λ. With a larger λ a step is smaller than rounding.
    const MOST: f64 = 1e16;
    /// If λ is larger than this, a short step does not indicate a minimum.
    pub const LIGHT: f64 = 1e-3;
    /// Smallest λ. With a smaller λ damping changes no step and makes no system solvable.
    /// Cholesky's factorization of n unknowns always succeeds if the eigenvalues are above n·u once
    /// the diagonal is scaled to 1 (J. W. Demmel, *On Floating Point Errors in Cholesky*, 1989).
    /// Damping adds λ to each eigenvalue. With the unit round-off u of 1.1e-16, a λ of 1e-12 is
    /// enough for up to 5000 unknowns, more than most reduced systems have. For a system of more
    /// than 5000 unknowns, λ rises when a factorization fails.
    const LEAST: f64 = 1e-12;
    /// After a system that could not be solved, λ is at least this many times the λ of that system.
    const ABOVE_FAILED: f64 = 10.0;

    pub fn new(options: &Options) -> Self {
        let lambda = if options.method == StepMethod::GaussNewton { 0.0 } else { options.lambda };
        Self { lambda, grow: 2.0, least: Self::LEAST, method: options.method }
    }

    /// Returns whether to take a step that lowers the cost by `gain`, and changes λ.
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

    /// Raises λ after a step that does not lower the cost.
    fn refuse(&mut self) {
        if self.method == StepMethod::LevenbergMarquardt {
            self.lambda = self.lambda.max(self.least) * self.grow;
            self.grow *= 2.0;
        }
    }

    /// Raises λ after a system that cannot be solved. λ never returns to a value with which a
    /// system could not be solved.
    pub fn unsolved(&mut self) {
        self.least = self.least.max(self.lambda * Self::ABOVE_FAILED);
        self.refuse();
    }

    /// Whether λ is small enough for a step to be the last.
    pub fn is_light(&self) -> bool {
        self.lambda <= Self::LIGHT
    }

    /// The reason to stop after a step that was refused, if no other λ is left to try.
    pub fn end(&self) -> Option<Stop> {
        match self.method {
            StepMethod::GaussNewton => Some(Stop::Failed),
            StepMethod::LevenbergMarquardt => (self.lambda > Self::MOST).then_some(Stop::NoStep),
        }
    }
}
