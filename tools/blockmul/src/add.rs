//! `blockmul add`: a sum of two matrices.
use crate::failure::Failure;
use crate::input;
use crate::messages::Messages;
use crate::numbers::finite;
use crate::places::FileArgs;
use blockmul::matrix::{self, AnyMatrix};
use std::path::PathBuf;

/// Add two matrices: C = alpha·A + beta·B.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul add A.mtx B.mtx -o C.mtx
  blockmul add A.mtx B.mtx --beta -1 -o -       the difference, to stdout
  blockmul add H.mtx I.mtx --beta 1e-4 -o D.mtx

C has an entry wherever A or B has one, even if the sum is 0; `convert --drop-zeros` leaves those out. With
--alpha 0 the values of A are not read, as in BLAS: its NaN and infinities are 0 in C. So with --beta 0.
C is made of blocks if both files have blocks of the same shape.")]
pub struct Args {
    /// A; - for Matrix Market on stdin.
    a: PathBuf,
    /// B, of the same size.
    b: PathBuf,
    /// Output file for C, in the format of the name's ending, packed if it ends in .gz or .bz2; -
    /// for Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Factor of A.
    #[arg(long, default_value_t = 1.0, value_parser = finite, value_name = "NUMBER")]
    alpha: f64,
    /// Factor of B.
    #[arg(long, default_value_t = 1.0, value_parser = finite, value_name = "NUMBER")]
    beta: f64,
    #[command(flatten)]
    files: FileArgs,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    args.files.writing.places().reads([&args.a, &args.b]).matrices([&args.output]).check()?;
    let messages = Messages::new(args.files.writing.quiet);
    let a = input::read(&args.a, &args.files.reading, &messages)?;
    let b = input::read(&args.b, &args.files.reading, &messages)?;
    let layout = input::layout(&a).filter(|&shape| input::layout(&b) == Some(shape));
    messages.step("adding");
    let c = match layout {
        // A and B are cut into blocks before they are added: C stores a block if A or B stores it.
        Some(shape) => {
            let (a, b) = (a.matrix.to_blocks(shape)?, b.matrix.to_blocks(shape)?);
            AnyMatrix::from(matrix::add(args.alpha, &a, args.beta, &b)?)
        }
        None => matrix::add(args.alpha, &a.matrix, args.beta, &b.matrix)?.into(),
    };
    input::write(&args.output, &c, &messages)
}
