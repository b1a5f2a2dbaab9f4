//! `blockmul convert`: writes a matrix in another format, element type or layout.
use crate::failure::Failure;
use crate::input::{self, Declared};
use crate::messages::Messages;
use crate::places::FileArgs;
use crate::{
    choice::{self, one_of},
    dense, output, vector,
};
use blockmul::{
    BlockShape,
    dense::Grouping,
    element::ElementType,
    io::{BlockLayout, FileFormat, bla, dense::is_npy},
};
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
  blockmul convert C.npy -o C.mtx                       a dense matrix as a Matrix Market array
  blockmul convert A.mtx -o A.npy                       every place of a sparse one, for numpy.load
  blockmul convert A.mtx -o A.gcoo --lines 8            entries in groups of 8 rows, for multiply --sharing stored

Formats: .npz is SciPy's; .txt, .el, .edges and .tsv are lists of edges; .bin, .bsr and .bcsr are plain
binary; .gcoo is in groups of rows or columns; .mtx, or a name without an ending, is Matrix Market. An X.mtx
with an X.bla beside it has the blocks of X.bla. The blocks of the input are kept unless --block gives others
(--block 1: none). .npy is NumPy's, of dense matrices: written to .npz and the like, or with --drop-zeros or
--block, they are sparse, without zeros.")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    input: PathBuf,
    /// Output file, in the format of the name's ending, packed if it ends in .gz or .bz2; - for
    /// Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Cut into dense blocks of R rows and K columns; one number for square blocks.
    #[arg(long, value_name = "RxK")]
    block: Option<BlockShape>,
    /// Also write the layout of the blocks, in SLAM++'s format: X.bla beside X.mtx. Blocks of
    /// several shapes are kept only with this option.
    #[arg(long)]
    bla: bool,
    /// Leave out entries that are 0; with --block, leave out blocks whose entries are all 0.
    #[arg(long)]
    drop_zeros: bool,
    /// Lines that a .gcoo output groups [default: those of a .gcoo input, else rows].
    #[arg(long, value_name = "LINES", value_parser = one_of([("rows", false), ("columns", true)]))]
    grouping: Option<bool>,
    /// Number of lines, of blocks if there are any, in each group of a .gcoo output [default: as in
    /// a .gcoo input, else 4].
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u8).range(1..=32))]
    lines: Option<u8>,
    #[command(flatten)]
    files: FileArgs,
    /// Round the values to this type.
    #[arg(long, default_value = "f64", value_parser = choice::real())]
    element: ElementType,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let places = args.files.writing.places().reads([&args.input]).reads(&bla::beside(&args.input));
    let layout = args.bla.then(|| bla::place_beside(&args.output));
    let dense = args.makes_dense()?;
    let places = if dense { places.others([&args.output]) } else { places.matrices([&args.output]) };
    places.others(&layout).check()?;
    if args.bla && output::is_standard(&args.output) {
        return Err(Failure::Usage("--bla needs a file to stand beside; - is stdout".into()));
    }
    if let Some(option) = args.of_groups().filter(|_| FileFormat::of(&args.output) != Some(FileFormat::Gcoo)) {
        let output = args.output.display();
        return Err(Failure::Usage(format!("{option} is for a .gcoo, and {output} has no groups")));
    }
    if dense { to_dense(args) } else { to_sparse(args) }
}

impl Args {
    /// The first option about groups that is given.
    fn of_groups(&self) -> Option<&'static str> {
        let given = [("--grouping", self.grouping.is_some()), ("--lines", self.lines.is_some())];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// The groups of the output file. `of_file` are the groups of the input.
    fn grouping(&self, of_file: Option<Grouping>) -> Grouping {
        let before = of_file.unwrap_or_default();
        let lines = self.lines.map_or(before.lines(), usize::from);
        match self.grouping.unwrap_or(before.of_columns()) {
            true => Grouping::Columns(lines),
            false => Grouping::Rows(lines),
        }
    }

    /// Whether the result is dense: a `.npy` file, or an array that is converted from one.
    fn makes_dense(&self) -> Result<bool, Failure> {
        let given = [("--block", self.block.is_some()), ("--bla", self.bla), ("--drop-zeros", self.drop_zeros)];
        let of_sparse = given.iter().find(|(_, given)| *given);
        match of_sparse {
            Some((option, _)) if is_npy(&self.output) => {
                let output = self.output.display();
                Err(Failure::Usage(format!("{option} is for sparse matrices, and {output} is dense")))
            }
            _ if is_npy(&self.output) => vector::check_name(&self.output).map(|()| true),
            Some(_) => Ok(false),
            None => Ok(is_npy(&self.input) && vector::check_name(&self.output).is_ok()),
        }
    }
}

/// Writes every element of the matrix.
fn to_dense(args: &Args) -> Result<(), Failure> {
    let (messages, name) = (Messages::new(args.files.writing.quiet), args.input.display().to_string());
    let matrix = dense::read(args.element, &args.input, &name, &args.files.reading, &messages)?;
    matrix.write(&args.output, &messages)
}

fn to_sparse(args: &Args) -> Result<(), Failure> {
    let messages = Messages::new(args.files.writing.quiet);
    let Declared { matrix, layout, grouping } = input::read_any(&args.input, &args.files.reading, &messages)?;
    let grouping = args.grouping(grouping);
    let block = args.block.or_else(|| layout.as_ref().and_then(input::uniform));
    let layout = block.map(BlockLayout::Uniform).or(layout);
    if args.bla && layout.is_none() {
        return Err(Failure::Usage("--bla: the matrix is not made of blocks; say of which with --block RxK".into()));
    }
    if !args.bla && matches!(layout, Some(BlockLayout::Mixed { .. })) {
        messages.warn("its blocks have several shapes, which are not kept: written as scalars (--bla keeps them)");
    }
    // Values are rounded before zeros are dropped, because rounding can produce zeros.
    let mut matrix = input::cast(args.element, matrix, &args.input.display().to_string(), &messages);
    if args.drop_zeros {
        matrix = matrix.without_zeros();
    }
    match layout.filter(|_| args.bla) {
        None => {
            input::write_grouped(&args.output, &input::cut(matrix, block)?, grouping, &messages)?;
            output::warn_of_layout(&args.output, &messages);
            Ok(())
        }
        Some(layout) => {
            input::write_grouped(&args.output, &input::cut(matrix.clone(), block)?, grouping, &messages)?;
            bla::write(bla::place_beside(&args.output), &matrix, &layout).map_err(output::of_output)
        }
    }
}
