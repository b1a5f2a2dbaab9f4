//! `blockmul cg`: solves A·x = b by conjugate gradients.
mod run;

use crate::choice::one_of;
use crate::dense;
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::numbers::{from_zero, some};
use crate::output;
use crate::places::Writing;
use crate::symmetric::Halves;
use crate::vector;
use blockmul::{
    BlockShape, Csc, Error,
    dense::{AnyDense, DenseShape, Layout},
    element::{AnyValues, ElementType},
    extra::analysis::asymmetry,
    io::{MatrixFile, Symmetry},
};
use std::{num::NonZero, path::PathBuf};

/// Solve A·x = b by conjugate gradients, for a symmetric, positive definite A; for several b at
/// once, the columns of B.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul cg A.mtx b.npy -o x.npy                    preconditioned by the diagonal of A
  blockmul cg H.mtx b.mtx --block 6 -o x.mtx          by the blocks of 6x6 on the diagonal
  blockmul cg A.mtx B.npy --tolerance 1e-6 -o X.npy   every column of B at once
  blockmul cg A.mtx --element f32 --tolerance 1e-5 --steps 500 --verify
  blockmul cg lower.mtx b.npy --symmetric -o x.npy    the file has one triangle of A

B is a matrix in any format, or an array in a file that ends in .npy. A Matrix Market file that says symmetric
is read whole. Another file has both triangles, which agree within rounding, or one with --symmetric. The residual is
updated from step to step, and rounding may part it from b - A·x, which --verify computes in f64 on the
host. A column has the bits that it has alone.
Exit status: 0 converged; 1 the limit of steps reached, or a residual of --verify above ten times --tolerance:
the solution so far is written; 1 too if A proves not to be positive definite, or numbers do not fit the type: no
solution is written; 2 wrong usage, or an input that cannot be read; 3 no such device; 4 not enough memory;
5 anything else.")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    a: PathBuf,
    /// The right-hand side, or several as columns [default: ones].
    b: Option<PathBuf>,
    /// Write x here: .mtx for Matrix Market, .npy for NumPy, packed if .gz or .bz2 follows; - for
    /// Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A column is solved when the residual is this share of its right-hand side.
    #[arg(long, value_name = "SHARE", default_value_t = 1e-10, value_parser = from_zero)]
    tolerance: f64,
    /// Maximum number of steps [default: the rows of A].
    #[arg(long, value_name = "N", value_parser = some)]
    steps: Option<NonZero<u32>>,
    /// Preconditioner.
    #[arg(long, value_enum, default_value = "jacobi")]
    preconditioner: Preconditioner,
    /// Cut A into dense blocks of R rows and columns, whose blocks on the diagonal jacobi inverts
    /// [default: scalars].
    #[arg(long, value_name = "R", value_parser = some)]
    block: Option<NonZero<u32>>,
    /// A is symmetric: its file holds one triangle of it, or is a Matrix Market file that says
    /// symmetric, or holds both triangles, which must agree within rounding; the lower triangle is
    /// used then.
    #[arg(long)]
    symmetric: bool,
    /// Element type.
    #[arg(long, default_value = "f64", value_parser = one_of([ElementType::F64, ElementType::F32].map(|element| (element.name(), element))))]
    element: ElementType,
    /// auto (a GPU, else a CPU), gpu, cpu, an index or part of a name from `blockmul devices` [env:
    /// BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Compute the residual b - A·x in f64 by the reference; exit status 1 if it is above ten times
    /// --tolerance.
    #[arg(long)]
    verify: bool,
    /// Write steps, residuals and times as JSON; - for stdout.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Solve N times after one warm-up; the time reported is that of the median run.
    #[arg(long, value_name = "N", value_parser = some)]
    repeat: Option<NonZero<u32>>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
enum Preconditioner {
    /// The inverses of the blocks on the diagonal of A; without --block of the diagonal.
    Jacobi,
    /// No preconditioner.
    None,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    output::check_stdout(&[("-o", &args.output), ("--report", &args.report)])?;
    input::check_stdin(&[("A", Some(&args.a)), ("B", args.b.as_ref())])?;
    args.output.as_deref().map_or(Ok(()), vector::check_name)?;
    let places = args.writing.places().reads([&args.a]).reads(&args.b);
    places.others(&args.output).json(&args.report).check()?;
    let messages = Messages::new(args.writing.quiet);
    let file = input::read(&args.a, &args.reading, &messages)?;
    let a = matrix(args, file, &messages)?;
    let shape = args.block.map_or(Ok(BlockShape::SCALAR), |side| {
        let side = side.get() as usize;
        BlockShape::new(side, side)
    })?;
    let rows = a.whole.nrows();
    let b = match &args.b {
        Some(path) => {
            let b = dense::read(args.element, path, "B", &args.reading, &messages)?;
            let found = b.matrix.shape();
            if found.rows != rows {
                let (path, DenseShape { rows: found, cols, .. }) = (path.display(), found);
                return Err(Failure::Usage(format!("{path}: B is {found} x {cols}, {rows} rows are expected")));
            }
            check_right_hand_sides(args.element, &b.matrix)?;
            b.matrix
        }
        None => {
            let ones = AnyValues::F64(vec![1.0; rows]).cast(args.element);
            AnyDense::new(DenseShape::new(rows, 1, Layout::ByColumns), ones)?
        }
    };
    run::run(args, &a.cut(args.element, shape)?.whole, &b, &messages)
}

/// A, which is square, symmetric within rounding, and finite in the element type.
fn matrix(args: &Args, file: MatrixFile, messages: &Messages) -> Result<Halves, Failure> {
    let refused = |why: String| Failure::Usage(format!("{}: {why}", input::name(&args.a)));
    let (rows, cols) = (file.matrix.nrows(), file.matrix.ncols());
    if rows != cols {
        return Err(refused(format!("A is {rows} x {cols}, conjugate gradients take a square matrix")));
    }
    let is_lost = |value: f64| !args.element.nearest(value).is_finite();
    if let Some((row, col, value)) = file.matrix.entries().find(|&(.., value)| is_lost(value)) {
        let (row, col, element) = (row + 1, col + 1, args.element);
        return Err(refused(format!("A has {value} at row {row}, column {col}, which is not finite in {element}")));
    }
    if args.symmetric {
        return Halves::new(file, messages);
    }
    if file.symmetry != Symmetry::Symmetric {
        check_symmetric(&file.matrix).map_err(refused)?;
    }
    Ok(Halves::whole(file.matrix))
}

fn check_symmetric(a: &Csc<f64>) -> Result<(), String> {
    match asymmetry(a) {
        Ok(_) => Ok(()),
        Err(Error::Argument(why)) => {
            Err(format!("{why}: conjugate gradients take a symmetric matrix; --symmetric takes one triangle"))
        }
        Err(other) => Err(other.to_string()),
    }
}

/// Refuses elements of B that are not finite.
fn check_right_hand_sides(element: ElementType, b: &AnyDense) -> Result<(), Failure> {
    let shape = b.shape();
    for (row, col) in (0..shape.rows).flat_map(|row| (0..shape.cols).map(move |col| (row, col))) {
        let value = b.values().number(shape.at(row, col));
        if !value.is_finite() {
            let place = format!("row {}, column {}", row + 1, col + 1);
            return Err(Failure::Usage(format!("B has {value} at {place} in {element}: a right-hand side is finite")));
        }
    }
    Ok(())
}
