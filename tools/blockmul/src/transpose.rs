//! `blockmul transpose`: writes the transpose of a matrix.
use crate::failure::Failure;
use crate::input;
use crate::messages::Messages;
use crate::places::FileArgs;
use crate::{dense, vector};
use blockmul::{element::ElementType, io::dense::is_npy};
use std::path::PathBuf;

/// Write the transpose of a matrix.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul transpose A.mtx -o T.mtx
  blockmul transpose A.mtx.gz -o - | head
  blockmul transpose D.npy -o E.npy                     a dense matrix, to .npy or to an array

Blocks of the input are transposed with it. Every entry keeps its bits.")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    input: PathBuf,
    /// Output file, in the format of the name's ending, packed if it ends in .gz or .bz2; - for
    /// Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    files: FileArgs,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let places = args.files.writing.places().reads([&args.input]);
    let messages = Messages::new(args.files.writing.quiet);
    if is_npy(&args.input) {
        places.others([&args.output]).check()?;
        vector::check_name(&args.output)?;
        let mut matrix = dense::read(
            ElementType::F64,
            &args.input,
            &args.input.display().to_string(),
            &args.files.reading,
            &messages,
        )?;
        matrix.matrix = matrix.matrix.into_transpose();
        return matrix.write(&args.output, &messages);
    }
    places.matrices([&args.output]).check()?;
    let file = input::read(&args.input, &args.files.reading, &messages)?;
    let layout = input::layout(&file);
    messages.step("transposing");
    input::write(&args.output, &input::cut(file.matrix.into(), layout)?.transpose()?, &messages)
}
