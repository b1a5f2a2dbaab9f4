//! `blockmul multiply`: reads files, multiplies them and reports the costs.
mod job;

use crate::failure::Failure;
use crate::mask::MaskFile;
use crate::messages::Messages;
use crate::numbers::{from_zero, some};
use crate::operands::{OperandArgs, SparseAndDense, Streamed};
use crate::places::{Places, Writing};
use crate::runs::RunArgs;
use crate::target::{Target, joined};
use crate::{
    choice::{self, Sharing},
    dense, output, vector,
};
use blockmul::{Method, Semiring, dense::Side, element::ElementType, matrix::Threshold};
use job::Job;
use std::{num::NonZero, path::PathBuf};

/// Multiply sparse matrices: C = A·B; without B, A·A if A is square, else A·Aᵀ.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul multiply A.mtx B.mtx -o C.mtx               C = A·B in f64 on the best device
  blockmul multiply W.mtx.gz --block 6x3 --verify      W·Wᵀ in blocks of 6x3 and 3x6, checked against the reference
  blockmul multiply A.mtx --transpose-a -o -           Aᵀ·A, written to stdout
  blockmul multiply A.mtx --drop 1e-6 --drop-relative -o C.mtx   without what is small beside the largest of its column
  blockmul multiply A.mtx --mask A.mtx -o C.mtx        A·A on the places of A alone: triangles through the edges of a graph
  blockmul multiply A.mtx --device cpu --repeat 9 --report times.json
  blockmul multiply G.mtx --semiring min-plus -o P.mtx   lengths of the shortest paths of two edges
  blockmul multiply A.mtx D.npy -o C.npy               a sparse matrix times a dense one, or the reverse
  blockmul multiply A.mtx --explain                    which method computes which columns, and why it is expected to be fast

An operand is dense if its file ends in .npy or is a Matrix Market array and the other's is not; - may be an
array too. C is then written as an array, or to a file that ends in .npy.
Without --report - and -o -, stdout shows the sizes and the time of each stage. With --explain the kernels of
different methods do not overlap, so that each has a time of its own.
Exit status: 0 done; 1 the result failed --verify; 2 wrong usage, or an input that cannot be read; 3 no such
device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    #[command(flatten)]
    operands: OperandArgs,
    /// Output file for C, in the format of the name's ending, packed if it ends in .gz or .bz2; -
    /// for Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Element type; f16 is stored in 16 bits and computed in f32. u8 supports only --semiring
    /// or-and.
    #[arg(long, default_value = "f64", value_parser = choice::number())]
    element: ElementType,
    /// Method of multiplication.
    #[arg(long, default_value = "auto", value_parser = choice::one_of(choice::methods()))]
    method: Method,
    /// Algebra of sums and products. Blocks support only plus-times and or-and, because a place of
    /// a block without an entry is 0.
    #[arg(long, default_value = "plus-times", value_parser = choice::semiring())]
    semiring: Semiring,
    /// Way in which work-groups share the entries of the sparse matrix if the other is dense: row
    /// by row, in groups of rows that load a row of the dense one once (gcoo), or in the groups of
    /// a .gcoo file, to which other matrices are converted on the device (stored) [default: auto].
    #[arg(long, value_name = "METHOD", value_parser = choice::one_of(choice::sharings()))]
    sharing: Option<Sharing>,
    /// Leave out entries (blocks) of C whose elements are all below TOL in magnitude; NaN is never
    /// left out.
    #[arg(long, value_name = "TOL", value_parser = from_zero)]
    drop: Option<f64>,
    /// With --drop: the limit is TOL times the largest magnitude in the entry's column (of blocks).
    #[arg(long, requires = "drop")]
    drop_relative: bool,
    /// With --drop: keep the entries (blocks) on the diagonal regardless of their size.
    #[arg(long, requires = "drop")]
    keep_diagonal: bool,
    /// Masked product: compute C only at the entries of FILE, in its pattern; with blocks, in every
    /// block that has an entry. - for Matrix Market on stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "drop")]
    mask: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
    /// Limit of the device memory used at once, such as 2GiB; if necessary, the product is computed
    /// in bands.
    #[arg(long, value_name = "SIZE", value_parser = crate::sizes::bytes)]
    memory_limit: Option<u64>,
    /// Multiply by at most N columns of B at a time (of blocks, if there are any).
    #[arg(long, value_name = "N", value_parser = some, conflicts_with = "mask")]
    band_columns: Option<NonZero<u32>>,
    /// Start each block of C at a multiple of BYTES in device memory, with padding between the
    /// blocks. No file keeps the padding, so -o is refused.
    #[arg(long, value_name = "BYTES", value_parser = choice::one_of([("16", 16_usize), ("32", 32), ("64", 64)]))]
    align: Option<usize>,
    /// Print on stderr the work of each stage, and add to the table what each method computed, with
    /// its predicted and its measured time.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    writing: Writing,
}

impl Args {
    /// The inputs of the command, and the file of its report.
    fn places(&self) -> Places {
        let Self { operands, mask, run, writing, .. } = self;
        writing.places().reads([&operands.a]).reads(&operands.b).reads(mask).json(&run.report)
    }

    fn threshold(&self) -> Option<Threshold> {
        let of = |tolerance| match self.drop_relative {
            true => Threshold::relative(tolerance),
            false => Threshold::absolute(tolerance),
        };
        let threshold = of(self.drop?);
        Some(if self.keep_diagonal { threshold.keep_diagonal() } else { threshold })
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(output::is_standard);
    if to_stdout(&args.output) && to_stdout(&args.run.report) {
        return Err(Failure::Usage("-o - and --report - cannot both have stdout".into()));
    }
    if let (Some(bytes), Some(path)) = (args.align, &args.output) {
        let path = path.display();
        return Err(Failure::Usage(format!("--align {bytes} is for a C in device memory: {path} has no padding")));
    }
    if args.method.needs_mask() && args.mask.is_none() {
        return Err(Failure::Usage(format!("--method {} needs a --mask", args.method)));
    }
    if args.mask.is_some() && args.method != Method::Auto && !args.method.needs_mask() {
        let why = "a masked product has a method of its own";
        return Err(Failure::Usage(format!("--method {} is for products without --mask: {why}", args.method)));
    }
    args.places().others(&args.output).check()?;
    // If the ending of the output's name is not that of a dense matrix, C must be sparse.
    if args.output.as_deref().is_some_and(|path| vector::check_name(path).is_err()) {
        args.places().matrices(&args.output).check()?;
    }
    if let Some(mask) = &args.mask {
        let operands = [Some(&args.operands.a), args.operands.b.as_ref()];
        MaskFile::check(mask, &operands.into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>())?;
    }
    let messages = Messages::new(args.writing.quiet);
    let streamed = args.operands.read_streams(&messages)?;
    if let Some(side) = args.operands.dense(&streamed)? {
        return with_dense(args, side, streamed, &messages);
    }
    if let Some(sharing) = Sharing::asked(args.sharing) {
        return Err(Failure::Usage(format!(
            "--sharing {} is for products with a dense matrix; --method is for two sparse",
            sharing.name()
        )));
    }
    args.places().matrices(&args.output).check()?;
    let element = args.element;
    args.semiring.check_type(element)?;
    // The device is opened while the files are read.
    let (operands, (target, mask)) = std::thread::scope(|scope| {
        let opening = scope.spawn(|| Target::open(args.run.device.as_deref(), element, args.method));
        let read = |mask| MaskFile::read(mask, &args.operands.reading, &messages);
        let mask = args.mask.as_deref().map(read).transpose()?;
        let opened = || Ok((joined(opening)?.announce(&messages), mask));
        args.operands.read(element, streamed, args.semiring, &messages, opened)
    })?;
    Job { args, target, mask, messages }.finish(operands)
}

/// Computes C = A·B if one operand is dense; the sparse one is on `side`.
fn with_dense(args: &Args, side: Side, streamed: Streamed, messages: &Messages) -> Result<(), Failure> {
    let element = args.element;
    args.semiring.check_type(element)?;
    let given = [
        ("--method", args.method != Method::Auto),
        ("--drop", args.drop.is_some()),
        ("--mask", args.mask.is_some()),
        ("--band-columns", args.band_columns.is_some()),
        ("--align", args.align.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{name} is for products of sparse matrices, and an operand is dense")));
    }
    if let Some(path) = &args.output {
        vector::check_name(path)?;
    }
    let request = |transposed| dense::Request {
        side,
        transposed,
        semiring: args.semiring,
        sharing: Sharing::asked(args.sharing),
        added: None,
        run: &args.run,
        memory_limit: args.memory_limit,
        explain: args.explain,
        quiet: args.writing.quiet,
        output: &args.output,
    };
    let SparseAndDense { sparse, transposed, dense } =
        args.operands.read_with_dense(element, side, streamed, args.semiring, messages)?;
    dense::run(&request(transposed), sparse, &dense, messages)
}
