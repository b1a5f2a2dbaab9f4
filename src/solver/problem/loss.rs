//! Robust losses: functions that limit the cost of a large residual.
use crate::{Error, Result};

/// The function ρ(s) of the squared length s of a measurement's weighted residual. A cost is half
/// the sum of ρ over all measurements.
///
/// Residuals are reweighted: a step solves a least-squares problem with the weights ρ'(s), whose
/// gradient equals the gradient of the cost (P. W. Holland, R. E. Welsch, *Robust Regression Using
/// Iteratively Reweighted Least-Squares*, 1977).
///
/// ```
/// use blockmul::solver::problem::Loss;
/// let huber = Loss::Huber(2.0);
/// // A residual of 2 counts as it is. One of 10 is on the linear part.
/// assert_eq!((huber.rho(4.0), huber.weight(4.0)), (4.0, 1.0));
/// assert_eq!((huber.rho(100.0), huber.weight(100.0)), (36.0, 0.2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Loss {
    /// Plain least squares: ρ(s) = s.
    #[default]
    Squared,
    /// The loss of P. J. Huber (1964) is plain least squares up to a length δ of the residual.
    /// Beyond it the loss is linear in the length: ρ(s) = 2δ√s - δ².
    Huber(f64),
    /// With ρ(s) = c²·ln(1 + s/c²), residuals that are much longer than c hardly count.
    Cauchy(f64),
}

impl Loss {
    /// The value ρ(s) of the loss for a squared length s.
    pub fn rho(self, s: f64) -> f64 {
        match self {
            Self::Squared => s,
            Self::Huber(delta) if s <= delta * delta => s,
            Self::Huber(delta) => 2.0 * delta * s.sqrt() - delta * delta,
            Self::Cauchy(c) => c * c * (s / (c * c)).ln_1p(),
        }
    }

    /// The weight ρ'(s), from 0 to 1.
    pub fn weight(self, s: f64) -> f64 {
        match self {
            Self::Squared => 1.0,
            Self::Huber(delta) if s <= delta * delta => 1.0,
            Self::Huber(delta) => delta / s.sqrt(),
            Self::Cauchy(c) => 1.0 / (1.0 + s / (c * c)),
        }
    }

    /// Refuses a width that is not a positive number, or whose square is not a normal number.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Huber(width) | Self::Cauchy(width) if !is_width(width) => Err(Error::Argument(format!(
                "{self} is no loss: its width must be a positive number that can be squared"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether every weight is 1.
    pub fn is_squared(self) -> bool {
        self == Self::Squared
    }
}

fn is_width(width: f64) -> bool {
    width > 0.0 && (width * width).is_normal()
}

/// Parses `squared`, `huber:1.5` or `cauchy:2`. A width is positive.
impl std::str::FromStr for Loss {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, width) = text.split_once(':').unwrap_or((text, ""));
        let width = || match width.parse::<f64>() {
            Ok(width) if is_width(width) => Ok(width),
            _ => Err(format!("{width:?} is no width of a loss: a positive number is wanted, as in {name}:1.5")),
        };
        match name {
            "squared" if text == name => Ok(Self::Squared),
            "huber" => width().map(Self::Huber),
            "cauchy" => width().map(Self::Cauchy),
            _ => Err(format!("{text:?} is no loss: squared, huber:WIDTH and cauchy:WIDTH are")),
        }
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Squared => write!(f, "squared"),
            Self::Huber(width) => write!(f, "huber:{width}"),
            Self::Cauchy(width) => write!(f, "cauchy:{width}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn weights_are_the_derivatives_and_losses_are_smooth() {
        for loss in [Loss::Squared, Loss::Huber(1.5), Loss::Cauchy(0.7)] {
            for s in [0.01, 1.0, 2.2, 2.3, 50.0] {
                // Central differences with step h have an error of h²·ρ'''/6, which is below 1e-8
                // in this test.
                let h = 1e-5 * s;
                let slope = (loss.rho(s + h) - loss.rho(s - h)) / (2.0 * h);
                assert_relative_eq!(loss.weight(s), slope, max_relative = 1e-8);
            }
            assert_eq!((loss.rho(0.0), loss.weight(0.0)), (0.0, 1.0));
            assert_relative_eq!(loss.rho(1.5 * 1.5), loss.rho(1.5 * 1.5 + 1e-14), max_relative = 1e-12);
        }
    }

    #[test]
    fn names_are_read_back() {
        for loss in [Loss::Squared, Loss::Huber(1.5), Loss::Cauchy(1e-3)] {
            assert_eq!(loss.to_string().parse(), Ok(loss));
        }
        for wrong in [
            "",
            "huber",
            "huber:",
            "huber:-1",
            "huber:0",
            "cauchy:nan",
            "cauchy:inf",
            "cauchy:1e-200",
            "cauchy:1e200",
            "squared:1",
            "tukey:3",
        ] {
            assert!(wrong.parse::<Loss>().is_err(), "{wrong}");
        }
    }
}
