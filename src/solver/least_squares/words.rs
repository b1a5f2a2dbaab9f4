//! Sentences about a solution and its start, for programs that show them.
use super::{
    Dominant, Iteration, Solution, Stop, System, report,
    start::{Chosen, Rewarding, Start},
};
use crate::solver::problem::Named;

impl<S> Solution<S> {
    /// The costs, the reason of the end, the dominant measurement if there is one, and the times,
    /// in two or three lines. A graph's line names its `start`. `kernels_ms` is the time for which
    /// the start waited for kernels.
    pub fn summary<P: Named>(&self, problem: &P, start: Start, kernels_ms: f64) -> String {
        let costs = match problem.has_chi2() {
            true => {
                let start = match start {
                    Start::File => "the file's guess",
                    Start::Chordal => "chordal start",
                };
                let [cost, initial] = [self.cost, self.initial_cost].map(|cost| number(2.0 * cost));
                format!("chi2 {cost} from {initial} ({start})")
            }
            false => format!("cost {} from {}", number(self.cost), number(self.initial_cost)),
        };
        let why = match self.stop {
            Stop::Converged => "converged",
            Stop::Iterations => "stopped at the limit of iterations",
            Stop::NoStep => "not converged, no step lowers it further",
            Stop::Interrupted => "ended by the caller",
            Stop::Failed => "failed",
        };
        let dominant = self.dominant.map_or(String::new(), |Dominant { row, share }| {
            format!("\n{}: {:.0} % of the cost", problem.measurement(row), 100.0 * share)
        });
        let system = match self.system {
            System::Hessian => "H",
            System::SchurComplement => "S",
        };
        let [residuals, products, linear] = report::sums(&self.iterations).map(|ms| ms / 1e3);
        let [total, plans, kernels] = [self.total_ms, self.plan_ms, kernels_ms + self.kernels_ms].map(|ms| ms / 1e3);
        format!(
            "{costs}, {why} after {}{dominant}\n{total:.3} s: plans {plans:.3}, residuals {residuals:.3}, products \
             {products:.3}, linear systems of {system} {linear:.3}; loading kernels {kernels:.3} besides",
            tried(&self.iterations),
        )
    }

    /// Says why there is no solution, or perhaps no minimum, with advice. Returns `None` if the
    /// iteration converged. `option` writes the name of an option and a value of it, which may be
    /// empty, in the form in which the program's users give it, such as `--loss huber:WIDTH`. The
    /// options are `iterations`, `loss`, `method`, `start` and `tolerance`.
    pub fn ending<P: Named>(&self, problem: &P, option: &dyn Fn(&str, &str) -> String) -> Option<String> {
        let tried = tried(&self.iterations);
        let damped = || option("method", "levenberg-marquardt");
        Some(match self.stop {
            Stop::Converged => return None,
            Stop::Interrupted => format!("the caller ended the iteration after {tried}"),
            Stop::Iterations => format!(
                "not converged after {tried}: try more {}, a larger {}, {} or file for a graph, {} against wrong \
                 measurements",
                option("iterations", ""),
                option("tolerance", ""),
                option("start", "chordal"),
                option("loss", "huber:WIDTH")
            ),
            Stop::NoStep => format!(
                "not converged after {tried}: no step lowers the cost however it is damped; try another {} for a graph, \
                 or another {}",
                option("start", ""),
                option("loss", "")
            ),
            Stop::Failed if self.without_influence.count > 0 && is_undamped(&self.iterations) => format!(
                "no step can be made without damping: no residual depends on {}; try {}",
                self.without_influence.text(problem),
                damped()
            ),
            Stop::Failed if self.not_finite.is_some() || self.iterations.is_empty() => {
                let why = not_finite(problem, self.not_finite);
                match self.iterations.len() {
                    0 => format!("no step can be made where the problem starts: {why}"),
                    _ => format!("no step can be made after {tried}: {why}"),
                }
            }
            Stop::Failed => match self.singular.and_then(|number| eliminated(problem, number)) {
                Some(name) => format!(
                    "no step can be made: what was measured of {name} does not say where it is, however it is damped"
                ),
                None if is_undamped(&self.iterations) => {
                    format!("no step can be made: the system is singular without damping; try {}", damped())
                }
                None => "no step can be made: the system is singular however it is damped, or the cost of the step is \
                         not finite"
                    .into(),
            },
        })
    }
}

impl<S> Chosen<S> {
    /// Says which start was chosen, with the costs of both.
    pub fn text(&self) -> String {
        let file = number(2.0 * self.file_cost);
        match (self.start, &self.chordal_cost) {
            (_, Err(reason)) => format!("start: the file's guess, chi2 {file}: {reason}"),
            (Start::File, Ok(chordal)) => {
                format!("start: the file's guess, chi2 {file}; by chordal relaxation {}", number(2.0 * chordal))
            }
            (Start::Chordal, Ok(chordal)) => {
                format!("start: chordal relaxation, chi2 {}; of the file's guess {file}", number(2.0 * chordal))
            }
        }
    }
}

/// Says that all information matrices were made isotropic, and why.
impl std::fmt::Display for Rewarding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { count, first: (from, to), .. } = self;
        write!(
            f,
            "{count} information matrices have negative eigenvalues, first that from {from} to {to}: all are made isotropic"
        )
    }
}

/// The warnings about a graph of which so many of `all` measurements lose their weight when they
/// are made isotropic, and so many have no weight at all.
pub fn weight_warnings(losing: usize, weightless: usize, all: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if losing > 0 {
        let why = "made isotropic, their information is 0 for translations, rotations or landmarks";
        warnings.push(format!("{losing} of {all} measurements lose weight: {why}"));
    }
    if weightless > 0 {
        warnings.push(format!("{weightless} of {all} measurements have no weight: their information is 0"));
    }
    warnings
}

/// Returns the number with six decimals. Scientific notation is used if all six decimals would be
/// zeros, or if the number has more digits than a double.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e15).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.6e}") }
}

/// Returns the reason why a problem has no cost, gradient or H: the row of J that is not finite.
pub fn not_finite<P: Named>(problem: &P, row: Option<usize>) -> String {
    let measurement = row.map_or("a measurement".to_owned(), |row| problem.measurement(row));
    format!("{measurement}: its residual or derivative is not finite, or too large to be squared; correct or remove it")
}

/// The name of the eliminated unknown with this number.
fn eliminated<P: Named>(problem: &P, number: usize) -> Option<String> {
    let name = problem.unknown(1, number)?;
    Some(if problem.has_chi2() { name } else { format!("{name} (from 0)") })
}

fn tried(iterations: &[Iteration]) -> String {
    let s = if iterations.len() == 1 { "" } else { "s" };
    format!("{} iteration{s}", iterations.len())
}

fn is_undamped(iterations: &[Iteration]) -> bool {
    !iterations.is_empty() && iterations.iter().all(|iteration| iteration.lambda == 0.0)
}
