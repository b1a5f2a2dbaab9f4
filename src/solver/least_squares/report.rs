//! Shows an iteration as a line of a table and as JSON.
use serde::Serialize;

/// A step that was tried.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Iteration {
    /// Number of the iteration, from 1.
    pub iteration: u32,
    /// Cost before the step.
    pub cost: f64,
    /// Cost after the step, or `cost` if the step was not taken.
    pub cost_after: f64,
    /// The largest element of the gradient before the step.
    pub gradient: f64,
    /// Length of the step.
    pub step: f64,
    /// Damping of the step.
    pub lambda: f64,
    /// Whether the step was taken.
    pub taken: bool,
    /// Milliseconds of residuals and Jacobians on the host.
    pub residuals_ms: f64,
    /// Milliseconds of H, the gradient, the Schur complement and back-substitution on the device,
    /// including copies to the host.
    pub products_ms: f64,
    /// Milliseconds of Cholesky factorization and solution, or of conjugate gradients.
    pub linear_ms: f64,
    /// Steps of conjugate gradients, if they were used.
    pub conjugate_steps: Option<u32>,
}

/// The headings of [`line()`]'s columns.
pub const HEAD: &str = "  it         cost     gradient       step     lambda   residuals ms  products ms  linear ms";

/// An iteration as a line of a table. If the step was not taken, the line says so.
pub fn line(of: &Iteration) -> String {
    let Iteration { iteration, cost_after, gradient, step, lambda, residuals_ms, products_ms, linear_ms, .. } = of;
    let note = match (of.taken, of.conjugate_steps) {
        (false, _) => "  not taken".to_owned(),
        (true, Some(steps)) => format!("  {steps} of conjugate gradients"),
        (true, None) => String::new(),
    };
    format!(
        "{iteration:4} {cost_after:12.6e} {gradient:12.3e} {step:10.3e} {lambda:10.1e} {residuals_ms:14.1} {products_ms:12.1} {linear_ms:10.1}{note}"
    )
}

/// Milliseconds of all iterations, for residuals, products and linear systems.
pub fn sums(iterations: &[Iteration]) -> [f64; 3] {
    let sum = |of: fn(&Iteration) -> f64| iterations.iter().fold(0.0, |sum, iteration| sum + of(iteration));
    [sum(|it| it.residuals_ms), sum(|it| it.products_ms), sum(|it| it.linear_ms)]
}
