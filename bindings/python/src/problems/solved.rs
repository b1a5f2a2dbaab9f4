//! The iteration, which Python may follow and end, and the facts of its summary.
use crate::running::{Size, detached, watched};
use blockmul::{
    Device,
    solver::{
        least_squares::{Iteration, Options, Solution, Stop, System, minimize, report, start::Start},
        problem::{AnyProblem, AnyState, LeftOut, Named, Why},
    },
};
use pyo3::{exceptions::PyStopIteration, prelude::*, types::PyDict};
use std::ops::ControlFlow;

/// A problem's start, and what was decided about it.
pub struct Begun {
    pub state: AnyState,
    pub start: Start,
    /// Milliseconds to compute the start, and those spent waiting for kernels meanwhile.
    pub start_ms: f64,
    pub kernels_ms: f64,
    /// The origin of the coordinates, if the problem was moved.
    pub origin: Option<[f64; 3]>,
    pub notes: Vec<String>,
}

/// A problem's end.
pub struct Ended {
    pub begun: Begun,
    solution: Solution<AnyState>,
    device: Device,
}

/// The fields of an iteration.
type Fields = (u32, f64, f64, f64, f64, f64, bool, f64, f64, f64, Option<u32>);

fn fields(of: &Iteration) -> Fields {
    let Iteration { iteration, cost, cost_after, gradient, step, lambda, taken, .. } = *of;
    let Iteration { residuals_ms, products_ms, linear_ms, conjugate_steps, .. } = *of;
    let times = (residuals_ms, products_ms, linear_ms);
    (iteration, cost, cost_after, gradient, step, lambda, taken, times.0, times.1, times.2, conjugate_steps)
}

/// Whether the callback ends the iteration.
fn is_ended(each: &Py<PyAny>, iteration: &Iteration) -> PyResult<bool> {
    Python::attach(|py| {
        py.check_signals()?;
        match each.call1(py, fields(iteration)) {
            Ok(ends) => ends.is_truthy(py),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(true),
            Err(error) => Err(error),
        }
    })
}

impl Begun {
    /// A start that was given, without notes.
    pub fn new(state: AnyState) -> Self {
        Self { state, start: Start::File, start_ms: 0.0, kernels_ms: 0.0, origin: None, notes: Vec::new() }
    }

    /// Iterates without the interpreter's lock, until the user interrupts. `each` is called with
    /// the fields of each iteration, on the thread that calls, where it looks for signals too.
    pub fn solve(
        self,
        py: Python<'_>,
        problem: &AnyProblem,
        device: Device,
        options: Options,
        each: Option<Py<PyAny>>,
    ) -> PyResult<Ended> {
        let start = self.state.clone();
        let Some(each) = each else {
            let solve = || minimize(problem, start, &device, &options, |_| ControlFlow::Continue(()));
            let solution = watched(py, None, Size::OnDevice, solve)?;
            return Ok(Ended { begun: self, solution, device });
        };
        let mut error = None;
        let solved = detached(py, || {
            minimize(problem, start, &device, &options, |iteration| match is_ended(&each, iteration) {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) => ControlFlow::Break(()),
                Err(raised) => {
                    error = Some(raised);
                    ControlFlow::Break(())
                }
            })
        });
        match error {
            Some(error) => Err(error),
            None => Ok(Ended { begun: self, solution: solved?, device }),
        }
    }
}

impl Ended {
    /// The solution, or `None` after a failure.
    pub fn state(&self) -> Option<&AnyState> {
        (self.solution.stop != Stop::Failed).then_some(&self.solution.state)
    }

    /// The facts of `blockmul.Summary`.
    pub fn facts<'py>(&self, py: Python<'py>, problem: &AnyProblem) -> PyResult<Bound<'py, PyDict>> {
        let Self { begun, solution, device } = self;
        let iterations = &solution.iterations;
        let tried = format!("{} iteration{}", iterations.len(), if iterations.len() == 1 { "" } else { "s" });
        let ending = solution.ending(problem, &option);
        let left = problem.left_out();
        let (held, left_out): (Vec<_>, Vec<_>) = left.iter().partition(|left| left.why != Why::Unseen);
        let without = &solution.without_influence;
        let without = if without.count > 0 { without.text(problem) } else { String::new() };
        let [residuals, products, linear] = report::sums(iterations);
        let kernels = begun.kernels_ms + solution.kernels_ms;
        let cost = if solution.stop == Stop::Failed { solution.initial_cost } else { solution.cost };
        let of = PyDict::new(py);
        of.set_item(
            "status",
            match solution.stop {
                Stop::Converged => "converged",
                Stop::Iterations => "iterations",
                Stop::NoStep => "no-step",
                Stop::Interrupted => "interrupted",
                Stop::Failed => "failed",
            },
        )?;
        of.set_item("message", ending.clone().unwrap_or_else(|| format!("converged after {tried}")))?;
        of.set_item("initial_cost", solution.initial_cost)?;
        of.set_item("cost", cost)?;
        of.set_item("iterations", iterations.iter().map(fields).collect::<Vec<_>>())?;
        of.set_item(
            "times",
            (solution.total_ms, solution.plan_ms, residuals, products, linear, kernels, begun.start_ms),
        )?;
        of.set_item("device", &device.info().name)?;
        of.set_item(
            "system",
            match solution.system {
                System::Hessian => "hessian",
                System::SchurComplement => "schur-complement",
            },
        )?;
        of.set_item(
            "start",
            match begun.start {
                Start::File => "file",
                Start::Chordal => "chordal",
            },
        )?;
        of.set_item("origin", begun.origin.map(|[x, y, z]| (x, y, z)))?;
        of.set_item("notes", &begun.notes)?;
        of.set_item("held", held.iter().map(|left| left.listed()).collect::<Vec<_>>())?;
        of.set_item("left_out", left_out.iter().map(|left| left.to_string()).collect::<Vec<_>>())?;
        let dominant = solution.dominant.map(|dominant| (problem.measurement(dominant.row), dominant.share));
        of.set_item("dominant", dominant)?;
        of.set_item("without_influence", &without)?;
        of.set_item("text", self.text(problem, &left, &without, ending))?;
        Ok(of)
    }

    /// The text that the command prints for such a solution.
    fn text(&self, problem: &AnyProblem, left: &[LeftOut], without: &str, ending: Option<String>) -> String {
        let Self { begun, solution, device } = self;
        let mut lines = vec![format!("device: {} ({})", device.info().name, device.info().platform)];
        lines.extend(begun.notes.iter().cloned());
        lines.push(problem.describe());
        lines.extend(left.iter().map(|left| match left.why {
            Why::Unseen => left.to_string(),
            Why::Held | Why::Fixed => format!("held: {}", left.listed()),
        }));
        if !solution.iterations.is_empty() {
            lines.push(report::HEAD.into());
        }
        lines.extend(solution.iterations.iter().map(report::line));
        lines.push(solution.summary(problem, begun.start, begun.kernels_ms));
        if !without.is_empty() {
            lines.push(format!("without influence: {without}"));
        }
        lines.extend(ending);
        lines.join("\n")
    }
}

/// An argument in messages.
fn option(name: &str, value: &str) -> String {
    if value.is_empty() { name.into() } else { format!("{name}=\"{value}\"") }
}
