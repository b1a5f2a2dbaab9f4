//! `blockmul convert`: writes a matrix in another format, element type or layout.
use crate::failure::Failure;
use crate::input::{self, ElementName, Shaped};
use crate::messages::Messages;
use crate::output;
use crate::places::Overwriting;
use blockmul::io::{Layout, bla};
use blockmul::{BlockShape, Element};
use half::f16;
use std::path::PathBuf;

/// Write a matrix in another format, chosen by the ending of the output's name.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul convert A.mtx -o A.mtx.gz                    packed
  blockmul convert A.mtx -o B.mtx --drop-zeros          without the entries that are 0
  blockmul convert A.mtx -o H.mtx --block 6             every element of every 6x6 block that has an entry
  blockmul convert A.mtx -o - --element f32 | head      values rounded to single precision, in its digits
  blockmul convert H.mtx -o H.npz                       for scipy.sparse.load_npz, with its blocks (BSR)
  blockmul convert web-Google.txt.gz -o A.mtx           a graph as SNAP has it
  blockmul convert H.mtx -o H2.mtx --block 6 --bla      H2.bla beside it, for SLAM++

Formats: .npz is SciPy's; .txt, .el, .edges and .tsv are lists of edges; .bin, .bsr and .bcsr are plain
binary; .mtx, or a name without an ending, is Matrix Market. An X.mtx with an X.bla beside it has the blocks
of X.bla. The blocks of the input are kept unless --block gives others (--block 1: none).")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    input: PathBuf,
    /// Where to write, in the format of the file's ending, packed if it ends in .gz or .bz2; - for
    /// Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Cut into dense blocks of R rows and K columns; one number for square ones.
    #[arg(long, value_name = "RxK", value_parser = crate::sizes::block)]
    block: Option<BlockShape>,
    /// Write the layout of the blocks too, in SLAM++'s format: X.bla beside X.mtx. Only this keeps
    /// blocks of several shapes.
    #[arg(long)]
    bla: bool,
    /// Leave out entries that are 0, and with --block the blocks that have no others.
    #[arg(long)]
    drop_zeros: bool,
    /// Add up entries that appear twice in the file instead of refusing it.
    #[arg(long)]
    sum_duplicates: bool,
    #[command(flatten)]
    overwriting: Overwriting,
    /// Round the values to this type.
    #[arg(long, value_enum, default_value = "f64")]
    element: ElementName,
    /// Do not print on stderr what was written.
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let places = args.overwriting.places().reads([&args.input]).reads(&bla::beside(&args.input));
    let layout = args.bla.then(|| bla::place_beside(&args.output));
    places.matrices([&args.output]).others(&layout).check()?;
    if args.bla && output::is_standard(&args.output) {
        return Err(Failure::Usage("--bla needs a file to stand beside; - is stdout".into()));
    }
    match args.element {
        ElementName::F64 => with_element::<f64>(args),
        ElementName::F32 => with_element::<f32>(args),
        ElementName::F16 => with_element::<f16>(args),
    }
}

fn with_element<T: Element>(args: &Args) -> Result<(), Failure> {
    let messages = Messages::new(args.quiet);
    let file = input::read(&args.input, args.sum_duplicates, &messages)?;
    let block = args.block.or_else(|| input::layout(&file));
    let layout = block.map(Layout::Uniform).or(file.layout);
    if args.bla && layout.is_none() {
        return Err(Failure::Usage("--bla: the matrix is not made of blocks; say of which with --block RxK".into()));
    }
    if !args.bla && matches!(layout, Some(Layout::Mixed { .. })) {
        messages.warn("its blocks have several shapes, which are not kept: written as scalars (--bla keeps them)");
    }
    // Rounding can produce zeros, so it comes first.
    let (mut matrix, _) = input::cast::<T>(&file.matrix, &args.input.display().to_string(), &messages);
    if args.drop_zeros {
        matrix = matrix.without_zeros();
    }
    match layout.filter(|_| args.bla) {
        None => Shaped::cut(matrix, block)?.write(&args.output, &messages),
        Some(layout) => {
            Shaped::cut(matrix.clone(), block)?.write(&args.output, &messages)?;
            output::write_layout(&args.output, &matrix, &layout)
        }
    }
}
