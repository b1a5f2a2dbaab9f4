//! `blockmul solve`: solves bundle adjustments and graphs of poses and landmarks.
use crate::failure::Failure;
use crate::messages::Messages;
use crate::numbers::from_zero;
use crate::output;
use crate::places::{Writing, check_problem};
use crate::problem::{Aim, Choices, Opened, ProblemArgs, subject};
use crate::report::{SCHEMA, command_line};
use blockmul::Device;
use blockmul::solver::least_squares::{
    self, Coordinate, Limits, Linear, Options, Solution, StepMethod, Stop, WithoutInfluence, report,
};
use blockmul::solver::problem::{AnyProblem, AnyState, LeftOut, Named, ProblemFormat, Why};
use serde_json::json;
use std::{ops::ControlFlow, path::PathBuf};

/// Solve a least-squares problem: a bundle adjustment, or a graph of poses and landmarks.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul solve problem-49-7776-pre.txt.gz                    Levenberg-Marquardt, points eliminated
  blockmul solve sphere2500.g2o.gz --method gauss-newton -o solved.g2o
  blockmul solve final.txt.bz2 --linear conjugate-gradients    for many cameras: the Schur complement is never formed
  blockmul solve graph.g2o --loss huber:1.5 --json solved.json --picture solved.png

A line for each iteration: the cost after it, half the sum of squared residuals or of their loss; the largest
element of the gradient and λ before it; milliseconds in residuals and Jacobians (host), in products (device,
copies to the host included), in the linear system. For a graph chi2 = Σ eᵀΩe is shown, twice the cost. Of
each part of a graph that measurements join, the first pose is held if nothing fixed touches the part. A part
that fixed landmarks leave turning, in one place or in space on one line, needs damping: gauss-newton refuses
it and says what to fix. A bundle adjustment holds nothing, so that gauss-newton is for graphs.

A graph starts at the cheaper of its file's guess and a chordal relaxation of all measurements; a message
names the choice. A guess by dead reckoning can lead into a wrong minimum. Converged is a stationary point:
the last step lowers the cost by no more than --tolerance of it while λ is at most 1e-3, or the residuals are
at right angles to every column of J (cosines up to 1e-10). Numbers on which no residual depends, as the
rotation of a camera whose focal length is 0, stay as they are and are named. For these rules a residual
costs at most n times the median of the n residuals, and one between held poses and landmarks nothing. A
residual with more than half of the cost is named. A bundle adjustment far from the origin of its coordinates
(UTM) is solved about a local one, and written in its own coordinates.
Exit status: 0 converged; 1 the limit of iterations reached, or no step lowers the cost at any damping: the
solution so far is written, and a message advises what to try; 1 too if a residual or derivative is not
finite, or the system singular at any damping: no solution is written.")]
pub struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Method by which steps are made.
    #[arg(long, value_enum, default_value = "levenberg-marquardt")]
    method: MethodName,
    /// Method by which the linear system of a step is solved.
    #[arg(long, value_enum, default_value = "cholesky")]
    linear: LinearName,
    /// Conjugate gradients end if the residual is this share of the right-hand side [default:
    /// 0.01].
    #[arg(long, value_name = "SHARE", value_parser = from_zero)]
    cg_tolerance: Option<f64>,
    /// Maximum number of conjugate gradient steps in a step of the solver [default: 500].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cg_steps: Option<u32>,
    /// Maximum number of steps to try.
    #[arg(long, value_name = "N", default_value_t = Options::default().iterations)]
    iterations: u32,
    /// The last step is one that lowers the cost by less than this share, unless damping made it
    /// short.
    #[arg(long, value_name = "SHARE", default_value_t = Options::default().tolerance, value_parser = from_zero)]
    tolerance: f64,
    /// Damping of the first step, relative to the diagonal of H.
    #[arg(long, value_name = "λ", default_value_t = Options::default().lambda, value_parser = from_zero)]
    lambda: f64,
    /// Write the solved problem, in the format of BAL or of g2o, packed if the name ends in .gz or
    /// .bz2.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw trajectories, or points and cameras, before and after.
    #[arg(long, value_name = "PICTURE.png")]
    picture: Option<PathBuf>,
    /// Width of the picture, in pixels.
    #[arg(long, value_name = "N", default_value_t = 1600, value_parser = clap::value_parser!(u32).range(64..=i64::from(AnyProblem::LARGEST_PICTURE)))]
    size: u32,
    /// Write the results as JSON; - for stdout, instead of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
enum MethodName {
    LevenbergMarquardt,
    GaussNewton,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
enum LinearName {
    /// Sparse Cholesky factorization of S, the Schur complement of points or landmarks, or of the
    /// whole H if that is clearly less work.
    Cholesky,
    /// Sparse Cholesky factorization, always of the whole H.
    NormalCholesky,
    /// Sparse Cholesky factorization, always of S; only for problems with unknown points or
    /// landmarks.
    SchurCholesky,
    /// Conjugate gradients on the device, preconditioned by diagonal blocks; S is not formed; only
    /// for problems with unknown points or landmarks.
    ConjugateGradients,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.output.as_deref().is_some_and(output::is_standard) {
        return Err(Failure::Usage("a solution goes to a file, not to stdout".into()));
    }
    let conjugate = args.linear == LinearName::ConjugateGradients;
    for (option, given) in [("--cg-tolerance", args.cg_tolerance.is_some()), ("--cg-steps", args.cg_steps.is_some())] {
        if given && !conjugate {
            return Err(Failure::Usage(format!("{option} is for --linear conjugate-gradients, not for cholesky")));
        }
    }
    let places = args.writing.places().reads([&args.problem.file]).problems(&args.output);
    let to_stdout = places.json(&args.json).others(&args.picture).check()?;
    args.picture.iter().try_for_each(|path| crate::spy::check_output(path, false))?;
    let messages = Messages::new(args.writing.quiet);
    let eliminating = match args.linear {
        LinearName::Cholesky | LinearName::NormalCholesky => None,
        LinearName::SchurCholesky => Some("--linear schur-cholesky"),
        LinearName::ConjugateGradients => Some("--linear conjugate-gradients"),
    };
    let Opened { device, format, problem, start, choices } =
        args.problem.open(Aim::Solution { eliminating }, &messages)?;
    if let Some(path) = &args.output {
        check_problem(path, !matches!(problem, AnyProblem::Bundle(_)))?;
    }
    Run { args, device, format, problem, choices, messages, table: !args.writing.quiet && !to_stdout }.solve(start)
}

struct Run<'a> {
    args: &'a Args,
    device: Device,
    format: ProblemFormat,
    problem: AnyProblem,
    choices: Choices,
    messages: Messages,
    /// Whether the table is printed.
    table: bool,
}

impl Run<'_> {
    fn solve(&self, start: AnyState) -> Result<(), Failure> {
        let Self { args, problem, messages, .. } = self;
        let usual = Limits::default();
        let limits = Limits {
            tolerance: args.cg_tolerance.unwrap_or(usual.tolerance),
            steps: args.cg_steps.unwrap_or(usual.steps),
        };
        let options = Options {
            method: match args.method {
                MethodName::LevenbergMarquardt => StepMethod::LevenbergMarquardt,
                MethodName::GaussNewton => StepMethod::GaussNewton,
            },
            linear: match args.linear {
                LinearName::Cholesky => Linear::Cholesky,
                LinearName::NormalCholesky => Linear::NormalCholesky,
                LinearName::SchurCholesky => Linear::SchurCholesky,
                LinearName::ConjugateGradients => Linear::ConjugateGradients(limits),
            },
            iterations: args.iterations,
            tolerance: args.tolerance,
            lambda: args.lambda,
        };
        let written = args.output.is_some() || args.picture.is_some() || args.json.is_some();
        let mut printed = Ok(());
        let mut print = |text: &str| {
            if self.table && printed.is_ok() {
                printed = messages.pause(|| output::print_beside(written, text));
            }
        };
        messages.step("planning");
        let solution = least_squares::minimize(problem, start.clone(), &self.device, &options, |iteration| {
            if iteration.iteration == 1 {
                print(report::HEAD);
            }
            print(&report::line(iteration));
            let report::Iteration { iteration: number, cost, cost_after, lambda, taken, .. } = *iteration;
            tracing::debug!(target: "blockmul::solver", number, cost, cost_after, lambda, taken, "iteration");
            messages.step(format!("iteration {}", iteration.iteration + 1));
            ControlFlow::Continue(())
        })?;
        print(&solution.summary(problem, self.choices.start, self.choices.kernels_ms));
        if solution.without_influence.count > 0 {
            print(&format!("without influence: {}", solution.without_influence.text(problem)));
        }
        printed?;
        self.write(&start, &solution)?;
        match solution.ending(problem, &option) {
            None => Ok(()),
            Some(ending) => Err(Failure::Verification(ending)),
        }
    }

    /// Writes the requested files; after a failure there is no solution to write.
    fn write(&self, start: &AnyState, solution: &Solution<AnyState>) -> Result<(), Failure> {
        let Self { args, problem, messages, .. } = self;
        let solved = solution.stop != Stop::Failed;
        if let (true, Some(path)) = (solved, &args.output) {
            subject::write(problem, &solution.state, self.choices.origin, path)?;
            messages.say(&format!("{}: {}", path.display(), problem.describe()));
        }
        if let (true, Some(path)) = (solved, &args.picture) {
            let of_picture = |error| Failure::Output(path.display().to_string(), error);
            let picture = problem.picture(start, &solution.state, args.size).map_err(of_picture)?;
            output::write_bytes(path, &picture)?;
            messages.say(&format!("{}: before on the left, after on the right", path.display()));
        }
        args.json.as_ref().map_or(Ok(()), |path| {
            let json = serde_json::to_string_pretty(&self.described(solution)).expect("plain data");
            messages.pause(|| output::write(path, &json))
        })
    }

    fn described(&self, solution: &Solution<AnyState>) -> serde_json::Value {
        let [residuals_ms, products_ms, linear_ms] = report::sums(&solution.iterations);
        let (args, problem, info) = (self.args, &self.problem, self.device.info());
        let left_out = problem.left_out();
        let held = left_out.iter().find(|left| left.why == Why::Held).map(LeftOut::listed);
        let left_out: Vec<_> = left_out.iter().map(no_unknowns).collect();
        let of_coordinate = |at: &Coordinate| {
            let (unknown, coordinate) = at.names(problem);
            json!({"unknown": unknown, "coordinate": coordinate})
        };
        let WithoutInfluence { count, first } = &solution.without_influence;
        let without_influence = json!({"count": count, "first": first.iter().map(of_coordinate).collect::<Vec<_>>()});
        json!({
            "schema": SCHEMA,
            "command": command_line(),
            "device": {"name": info.name, "platform": info.platform, "driver": info.driver},
            "file": args.problem.file.display().to_string(),
            "format": self.format.to_string(),
            "kind": problem.kind(),
            "held": held,
            "left_out": left_out,
            "method": args.method,
            "linear": args.linear,
            "system": solution.system,
            "loss": args.problem.loss.to_string(),
            "information": self.choices.information,
            "start": self.choices.start,
            "start_costs": self.choices.costs,
            "initial_cost": solution.initial_cost,
            "cost": solution.cost,
            "chi2": problem.has_chi2().then_some(2.0 * solution.cost),
            "stop": solution.stop,
            "without_influence": without_influence,
            "dominant": solution.dominant.map(|dominant| {
                json!({"measurement": problem.measurement(dominant.row), "share": dominant.share})
            }),
            "origin": self.choices.origin,
            "total_ms": solution.total_ms,
            "start_ms": self.choices.start_ms,
            "kernels_ms": self.choices.kernels_ms + solution.kernels_ms,
            "plan_ms": solution.plan_ms,
            "residuals_ms": residuals_ms,
            "products_ms": products_ms,
            "linear_ms": linear_ms,
            "iterations": solution.iterations,
        })
    }
}

/// Returns the members of the problem that are not unknowns, as JSON. The JSON has a limited number
/// of their names.
fn no_unknowns(left: &LeftOut) -> serde_json::Value {
    let why = match left.why {
        Why::Held => "held".to_owned(),
        Why::Fixed => "fixed".to_owned(),
        Why::Unseen => format!("no {}", left.evidence()),
    };
    let first: Vec<u64> = left.names.iter().copied().take(LeftOut::NAMED).collect();
    json!({"kind": left.kind, "why": why, "count": left.names.len(), "of": left.all, "first": first})
}

/// An option of this command, as a message writes it.
fn option(name: &str, value: &str) -> String {
    if value.is_empty() { format!("--{name}") } else { format!("--{name} {value}") }
}
