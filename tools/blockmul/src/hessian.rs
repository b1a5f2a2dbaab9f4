//! `blockmul hessian`: linearises a least-squares problem and forms the matrices of its normal
//! equations.
use crate::failure::Failure;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::places::Writing;
use crate::problem::{Aim, Opened, ProblemArgs};
use crate::{input, output};
use blockmul::solver::{
    least_squares::{self, Clock, Normal},
    problem::{AnyProblem, AnyState, LeastSquares, Linearization, Named},
};
use blockmul::{DeviceMatrix, Matrix};
use std::path::PathBuf;

/// Linearise a least-squares problem at its start, and form H = JᵀWJ.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul hessian sphere2500.g2o.gz                           what H is like, and what it takes
  blockmul hessian sphere2500.g2o.gz --write H=H.mtx --picture H.png
  blockmul hessian problem-49-7776-pre.txt.gz --write U=U.mtx --write W=W.mtx.gz --write V=V.npz
  blockmul hessian graph.g2o --loss huber:1.5 --write J=J.bsr

Names: H and J of every problem; U, W and V if points or landmarks are unknown, H = [U W; Wᵀ V]; Jc and Jp,
the parts of a bundle adjustment's J; Omega, the information matrices of a graph without landmarks. Symmetric
matrices are written in full; apply --symmetric reads them and keeps one triangle. If a residual or derivative
is not finite, a message names the measurement, no file is written, and the exit status is 1.")]
pub struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Write a matrix in the format of its file's ending; may be given several times. If a matrix
    /// goes to stdout, sizes and times are not printed.
    #[arg(long, value_name = "NAME=FILE", value_parser = wanted)]
    write: Vec<Wanted>,
    /// Draw H.
    #[arg(long, value_name = "PICTURE.png")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let written = args.write.iter().map(|wanted| &wanted.path);
    let places = args.writing.places().reads([&args.problem.file]).matrices(written).others(&args.picture);
    let to_stdout = places.check()?;
    args.picture.iter().try_for_each(|path| crate::spy::check_output(path, false))?;
    let messages = Messages::new(args.writing.quiet);
    let Opened { device, problem, start, .. } = args.problem.open(Aim::Matrices, &messages)?;
    let linearized = Linearized::new(&problem, &start, &device)?;
    args.write.iter().try_for_each(|wanted| linearized.linearization.check_matrix_name(&wanted.name))?;
    if !args.writing.quiet && !to_stdout {
        let written = !args.write.is_empty() || args.picture.is_some();
        messages.pause(|| output::print_beside(written, &linearized.text()))?;
    }
    let matrix = |name: &str| linearized.normal.matrix(name, &linearized.linearization);
    for Wanted { name, path } in &args.write {
        input::write(path, &matrix(name)?, &messages)?;
    }
    let names: Vec<&str> = args.write.iter().map(|wanted| wanted.name.as_str()).collect();
    problem.left_out().iter().filter_map(|left| left.of_matrices(&names)).for_each(|text| messages.say(&text));
    if let Some(path) = &args.picture {
        crate::spy::draw(path, &matrix("H")?, &device, &messages)?;
    }
    Ok(())
}

/// The argument `NAME=FILE`.
#[derive(Clone)]
struct Wanted {
    name: String,
    path: PathBuf,
}

fn wanted(text: &str) -> std::result::Result<Wanted, String> {
    let found = text.split_once('=').filter(|(name, path)| !name.is_empty() && !path.is_empty());
    let (name, path) = found.ok_or("NAME=FILE is wanted, as in W=W.mtx")?;
    Ok(Wanted { name: name.into(), path: path.into() })
}

/// A linearised problem, with the times of the linearisation.
pub struct Linearized {
    pub linearization: Linearization,
    pub normal: Normal,
    cost: f64,
    plan_ms: f64,
    residuals_ms: f64,
    products_ms: f64,
    /// Time spent waiting for kernels, which is not part of the other times.
    kernels_ms: f64,
}

impl Linearized {
    /// Linearises twice, because the first time includes the first use of arrays and kernels. Fails
    /// if the cost, its gradient or H is not finite.
    pub fn new(problem: &AnyProblem, state: &AnyState, device: &blockmul::Device) -> Result<Self, Failure> {
        let clock = Clock::start(device);
        let mut linearization = problem.prepare(device)?;
        let mut normal = Normal::new(&linearization)?;
        problem.linearize(state, &mut linearization)?;
        normal.form(&linearization)?;
        let (plan_ms, kernels_ms) = (clock.ms(), clock.kernels_ms());
        let clock = Clock::start(device);
        let cost = problem.linearize(state, &mut linearization)?;
        let residuals_ms = clock.ms();
        let clock = Clock::start(device);
        normal.form(&linearization)?;
        let products_ms = clock.ms();
        if !cost.is_finite() || !normal.is_finite() {
            return Err(Failure::Verification(least_squares::not_finite(problem, linearization.least_finite_row()?)));
        }
        Ok(Self { linearization, normal, cost, plan_ms, residuals_ms, products_ms, kernels_ms })
    }

    fn text(&self) -> String {
        let Self { linearization, normal, cost, plan_ms, residuals_ms, products_ms, kernels_ms } = self;
        let j = linearization.jacobian();
        let mut lines = vec![format!("cost {cost}, largest element of its gradient {:.6e}", normal.gradient())];
        let rows: usize = j.row_groups().iter().map(|group| group.scalars()).sum();
        let cols: usize = j.col_groups().iter().map(|group| group.scalars()).sum();
        let cells = (0..j.row_groups().len()).flat_map(|row| (0..j.col_groups().len()).map(move |col| (row, col)));
        let cells: Vec<_> = cells.filter_map(|(row, col)| j.get(row, col)).map(describe_blocks).collect();
        lines.push(format!("  J  {rows} x {cols}, {}", cells.join(", ")));
        match normal.parts() {
            Some(parts) => {
                for (name, part) in ["U", "W", "V"].into_iter().zip(parts) {
                    let size = Size::on_device(part);
                    let (rows, cols) = (size.rows(), size.cols());
                    let half = if name == "U" && part.nnz() > part.ncols() { ", its lower triangle" } else { "" };
                    lines.push(format!("  {name}  {rows} x {cols}, {}{half}", describe_blocks(part)));
                }
            }
            None => {
                let h = normal.h().get(0, 0).expect("one group of unknowns");
                lines.push(format!("  H  {cols} x {cols}, {} on and above the diagonal", describe_blocks(h)));
            }
        }
        lines.push(format!(
            "{} products of blocks; residuals and J {residuals_ms:.2} ms, H and the gradient {products_ms:.2} ms, plans and first use {plan_ms:.1} ms; \
             loading kernels {kernels_ms:.1} ms besides",
            normal.cost().products
        ));
        lines.join("\n")
    }
}

/// The blocks in words, such as `49 blocks of 9x9`.
pub fn describe_blocks<M: Matrix>(m: &DeviceMatrix<M>) -> String {
    format!("{} blocks of {}", m.nnz(), m.shape())
}
