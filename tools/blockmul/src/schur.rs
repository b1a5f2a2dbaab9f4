//! `blockmul schur`: forms the Schur complement of a problem's points or landmarks.
use crate::failure::Failure;
use crate::hessian::{Linearized, describe_blocks};
use crate::messages::Messages;
use crate::numbers::from_zero;
use crate::output;
use crate::places::Writing;
use crate::problem::{Aim, Opened, ProblemArgs};
use blockmul::solver::{Damping, Elimination, Formed, Reduced, least_squares::Clock, problem::Named};
use blockmul::{Planned, matrix::AnyMatrix};
use std::path::PathBuf;

/// Linearise a least-squares problem at its start, and form S = U - W·V⁻¹·Wᵀ, with points or
/// landmarks eliminated.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul schur problem-49-7776-pre.txt.gz                    what S is like, and what it takes
  blockmul schur problem-49-7776-pre.txt.gz --picture S.png -o S.mtx
  blockmul schur graph.g2o --lambda 1e-4

The diagonal of H is damped by λ times itself. Without it the blocks of points that two rays of light do not
fix are singular. S is written in full. If a residual or derivative is not finite, a message names the
measurement, no file is written, and the exit status is 1.")]
pub struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Damping, relative to the diagonal of H.
    #[arg(long, value_name = "λ", default_value_t = 1e-4, value_parser = from_zero)]
    lambda: f64,
    /// Write S, in the format of the file's ending. If it goes to stdout, sizes and times are not
    /// printed.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw S.
    #[arg(long, value_name = "PICTURE.png")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let places = args.writing.places().reads([&args.problem.file]).matrices(&args.output).others(&args.picture);
    let to_stdout = places.check()?;
    args.picture.iter().try_for_each(|path| crate::spy::check_output(path, false))?;
    let messages = Messages::new(args.writing.quiet);
    let Opened { device, problem, start, .. } = args.problem.open(Aim::Matrices, &messages)?;
    let normal = Linearized::new(&problem, &start, &device)?.normal;
    let Some(equations) = normal.equations(Damping::Marquardt(args.lambda)) else {
        return Err(Failure::Usage("no points or landmarks are unknown: there is nothing to eliminate".into()));
    };
    let clock = Clock::start(&device);
    let plan = Elimination::formed(&equations.u.pattern(), &equations.w.pattern(), &equations.v.pattern())?;
    let mut reduced = plan.output()?;
    let execute = |reduced: &mut Reduced<Formed<f64>>| -> blockmul::Result<f64> {
        let clock = Clock::start(&device);
        plan.execute(equations, &mut *reduced)?;
        reduced.check()?;
        device.finish()?;
        Ok(clock.ms())
    };
    execute(&mut reduced)?;
    let (plan_ms, kernels_ms) = (clock.ms(), clock.kernels_ms());
    let execution_ms = execute(&mut reduced)?;
    let s = reduced.s()?;
    let (n, side, stored) = (s.nrows(), s.shape().rows(), s.nnz());
    let whole = 2 * stored - n;
    let text = format!(
        "  S  {0} x {0}, {1} on and below the diagonal, {2:.1} % of all places\n{3} products of blocks, {execution_ms:.2} ms; plan and first use {plan_ms:.1} ms; loading kernels {kernels_ms:.1} ms \
         besides",
        n * side,
        describe_blocks(s),
        100.0 * whole as f64 / (n as f64 * n as f64).max(1.0),
        plan.cost().products
    );
    if !args.writing.quiet && !to_stdout {
        messages.pause(|| output::print_beside(args.output.is_some() || args.picture.is_some(), &text))?;
    }
    if args.output.is_none() && args.picture.is_none() {
        return Ok(());
    }
    let s = AnyMatrix::from(s.download()?).mirrored()?;
    if let Some(path) = &args.output {
        crate::input::write(path, &s, &messages)?;
        problem.left_out().iter().filter_map(|left| left.of_matrices(&["S"])).for_each(|text| messages.say(&text));
    }
    args.picture.as_ref().map_or(Ok(()), |path| crate::spy::draw(path, &s, &device, &messages))
}
