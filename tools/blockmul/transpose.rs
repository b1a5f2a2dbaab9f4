//! `blockmul transpose`: writes the transpose of a matrix.
use crate::failure::Failure;
use crate::input::{self, Shaped};
use crate::messages::Messages;
use crate::places::Overwriting;
use std::path::PathBuf;

/// Write the transpose of a matrix.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul transpose A.mtx -o T.mtx
  blockmul transpose A.mtx.gz -o - | head

Blocks of the input are transposed with it. Every entry keeps its bits.")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    input: PathBuf,
    /// Where to write, in the format of the file's ending, packed if it ends in .gz or .bz2; - for
    /// Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Add up entries that appear twice in the file instead of refusing it.
    #[arg(long)]
    sum_duplicates: bool,
    #[command(flatten)]
    overwriting: Overwriting,
    /// Do not print on stderr what was written.
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    args.overwriting.places().reads([&args.input]).matrices([&args.output]).check()?;
    let messages = Messages::new(args.quiet);
    let file = input::read(&args.input, args.sum_duplicates, &messages)?;
    let layout = input::layout(&file);
    messages.step("transposing");
    Shaped::cut(file.matrix, layout)?.transpose()?.write(&args.output, &messages)
}
