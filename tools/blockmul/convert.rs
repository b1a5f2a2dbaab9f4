//! `blockmul convert`: a matrix into another format, element type or layout.
use crate::failure::Failure;
use crate::input::{self, ElementName, Shaped};
use crate::messages::Messages;
use crate::output;
use blockmul::{BlockShape, Element, io::Layout};
use half::f16;
use std::path::PathBuf;

/// Write a matrix in another format, told by the name of the output.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul convert A.mtx -o A.mtx.gz                    packed
  blockmul convert A.mtx -o B.mtx --drop-zeros          without the entries that are 0
  blockmul convert A.mtx -o H.mtx --block 6             every element of every 6x6 block that has an entry
  blockmul convert A.mtx -o - --element f32 | head      values rounded to single precision, in its digits

The blocks that the input says it is made of are kept, unless --block says otherwise (--block 1: none).")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    input: PathBuf,
    /// Where to write, in the format its name tells, gzipped if it ends in .gz; - for Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Cut into dense blocks of R rows and K columns; one number for square ones.
    #[arg(long, value_name = "RxK", value_parser = crate::sizes::block)]
    block: Option<BlockShape>,
    /// Leave out the entries that are 0, and with --block the blocks that have no other.
    #[arg(long)]
    drop_zeros: bool,
    /// Add up entries that stand twice in the file instead of refusing it.
    #[arg(long)]
    sum_duplicates: bool,
    /// Round the values to this type.
    #[arg(long, value_enum, default_value = "f64")]
    element: ElementName,
    /// Do not say on stderr what was written.
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    output::check_place(&args.output)?;
    match args.element {
        ElementName::F64 => with_element::<f64>(args),
        ElementName::F32 => with_element::<f32>(args),
        ElementName::F16 => with_element::<f16>(args),
    }
}

fn with_element<T: Element>(args: &Args) -> Result<(), Failure> {
    let messages = Messages::new(args.quiet);
    let file = input::read(&args.input, args.sum_duplicates, &messages)?;
    let layout = args.block.or_else(|| input::layout(&file));
    if layout.is_none() && matches!(file.layout, Some(Layout::Mixed { .. })) {
        messages.warn("its blocks have several shapes, which are not kept: written as scalars");
    }
    // Rounding can make zeros, so it comes first.
    let mut matrix = input::cast::<T>(&file.matrix, &args.input.display().to_string(), &messages);
    if args.drop_zeros {
        matrix = matrix.without_zeros();
    }
    Shaped::cut(matrix, layout)?.write(&args.output, &messages)
}
