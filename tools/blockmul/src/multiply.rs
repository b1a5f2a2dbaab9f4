//! `blockmul multiply`: reads files, multiplies them and reports the costs.
use crate::failure::Failure;
use crate::mask::{Mask, MaskFile};
use crate::matrix_size::Size;
use crate::messages::{Messages, Unit};
use crate::numbers::from_zero;
use crate::operands::{OperandArgs, Operands, SparseAndDense, Streamed};
use crate::overflow::Extent;
use crate::places::Overwriting;
use crate::report::{Product, Report};
use crate::runs::RunArgs;
use crate::target::{Run, Target, Task, joined};
use crate::{
    choice::{self, Sharing},
    dense, explain, input, output, vector,
};
use blockmul::{
    Method, Semiring,
    dense::{Grouping, Side},
    element::ElementType,
    matrix::{AnyMatrix, Threshold},
    reference::{IntegerSums, verify},
};
use std::path::PathBuf;

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
    /// How the entries of the sparse matrix are shared out if the other is dense: row by row, in
    /// groups of rows that load a row of the dense one once (gcoo), or in the groups of a .gcoo
    /// file, to which other matrices are converted on the device (stored) [default: auto].
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
    /// Print on stderr the work of each stage, and add to the table what each method computed, with
    /// its predicted and its measured time.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    overwriting: Overwriting,
    /// Print neither messages nor the table.
    #[arg(short, long)]
    quiet: bool,
}

impl Args {
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
    if args.method.needs_mask() && args.mask.is_none() {
        return Err(Failure::Usage(format!("--method {} needs a --mask", args.method)));
    }
    if args.mask.is_some() && args.method != Method::Auto && !args.method.needs_mask() {
        let why = "a masked product has a method of its own";
        return Err(Failure::Usage(format!("--method {} is for products without --mask: {why}", args.method)));
    }
    let places = || args.overwriting.places().reads([&args.operands.a]).reads(&args.operands.b).reads(&args.mask);
    places().others(&args.output).json(&args.run.report).check()?;
    // If no dense matrix may have this name, C must be sparse.
    if args.output.as_deref().is_some_and(|path| vector::check_name(path).is_err()) {
        places().matrices(&args.output).check()?;
    }
    if let Some(mask) = &args.mask {
        let operands = [Some(&args.operands.a), args.operands.b.as_ref()];
        MaskFile::check(mask, &operands.into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>())?;
    }
    let messages = Messages::new(args.quiet);
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
    places().matrices(&args.output).check()?;
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
    let given =
        [("--method", args.method != Method::Auto), ("--drop", args.drop.is_some()), ("--mask", args.mask.is_some())];
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
        quiet: args.quiet,
        output: &args.output,
    };
    let SparseAndDense { sparse, transposed, dense } =
        args.operands.read_with_dense(element, side, streamed, args.semiring, messages)?;
    dense::run(&request(transposed), sparse, &dense, messages)
}

struct Job<'a> {
    args: &'a Args,
    target: Target,
    mask: Option<MaskFile>,
    messages: Messages,
}

/// A product that was computed.
struct Computed {
    /// The product itself, if it is written or verified.
    c: Option<AnyMatrix>,
    of_c: Extent,
    run: Run,
    runs_ms: Option<Vec<f64>>,
}

impl Job<'_> {
    fn finish(&self, operands: Operands) -> Result<(), Failure> {
        let Operands { a, b, overflow, a_shape, b_shape } = operands;
        let (semiring, element) = (self.args.semiring, a.element());
        // If B is A and is cut alike, it is the same matrix, which is uploaded once.
        let b = match b {
            None if a_shape == b_shape => None,
            None => Some(input::cut(a.clone(), Some(b_shape))?),
            Some(b) => Some(input::cut(b, Some(b_shape))?),
        };
        let a = input::cut(a, Some(a_shape))?;
        let b = b.as_ref().unwrap_or(&a);

        let shape = a.shape().product(b.shape());
        let size = (a.nrows() * shape.rows(), b.ncols() * shape.cols());
        let mask = self.mask.as_ref().map(|mask| mask.cut(size, shape, &self.messages)).transpose()?;
        let mask = mask.as_ref();
        let Computed { c, of_c, run, runs_ms } = self.multiply((&a, b), mask)?;
        // In the other algebras the value of a place may be infinite because no path leads to it.
        let overflow = match (IntegerSums::of(element, semiring), semiring) {
            (Some(sums), _) => {
                let counted = c.as_ref().filter(|_| self.args.run.verify);
                let count = || counted.and_then(|c| sums.wrapped(&a, b, c).ok());
                overflow.of_integers(of_c.named(element), sums.bound(&a, b), count, &self.messages)
            }
            (None, Semiring::PlusTimes) => overflow.of_product(&of_c, element, &self.messages),
            (None, _) => overflow,
        };
        let compare = |c: &AnyMatrix| match mask {
            _ if semiring != Semiring::PlusTimes => verify::verify_over(semiring, (&a, b), c, mask),
            Some(mask) => verify::verify_masked(&a, b, c, mask),
            None if element.is_integer() => verify::verify_over(semiring, (&a, b), c, mask),
            None => verify::verify_dropped(&a, b, c, self.args.threshold()),
        };
        let verified =
            c.as_ref().map(|c| self.messages.verifying(self.args.run.verify, || compare(c))).transpose()?.flatten();
        if self.args.explain {
            let explained = match mask {
                Some(_) => explain::explain_masked(&a, b, &of_c.size, &run),
                None => explain::explain(&self.target, (&a, b), &of_c.size, &run),
            };
            self.messages.say_lines(&explained);
        }
        let mask = mask.map(|mask| Size::in_blocks(mask.pattern(), shape));
        let (explained, overflowed) = (self.args.explain, Some(overflow));
        let product = Product::new(&a, b, of_c.size, mask, run);
        let product = Product { explained, semiring, verified, overflowed, runs_ms, ..product };
        let report = Report::of_product(&self.target, product);
        report.write(&self.args.run.report)?;
        let files = [&self.args.output, &self.args.run.report];
        output::summary(&report.of.table(report.device()), self.args.quiet, files, &self.messages)?;
        match verified {
            Some(v) if !v.passed => Err(Failure::Verification(format!(
                "the result is not the product: pattern {}, largest error {:e} ({:e} relative); nothing is written",
                if v.pattern_equal { "equal" } else { "different" },
                v.max_abs_error,
                v.max_rel_error
            ))),
            _ => match (&self.args.output, c) {
                (Some(path), Some(c)) => output::write_matrix(path, &c, Grouping::default(), &self.messages),
                _ => Ok(()),
            },
        }
    }

    /// The product and its costs. With `--repeat`, the costs are those of the run with the median
    /// time, and the times of all runs are returned.
    fn multiply(&self, (a, b): (&AnyMatrix, &AnyMatrix), mask: Option<&Mask>) -> Result<Computed, Failure> {
        let Args { method, semiring, memory_limit, explain, .. } = *self.args;
        let threshold = self.args.threshold();
        let task = Task { a, b, mask, method, semiring, memory_limit, threshold, progress: None, explain };
        let Some(repeat) = self.args.run.repeat else {
            let progress = Some(self.messages.measured("multiplying", Unit::Columns));
            let task = Task { progress, ..task };
            if self.args.output.is_none() && !self.args.run.verify {
                let (of_c, run) = self.target.multiply_and_drop(&task)?;
                return Ok(Computed { c: None, of_c, run, runs_ms: None });
            }
            let (c, run) = self.target.multiply(&task)?;
            return Ok(Computed { of_c: Extent::of(&c), c: Some(c), run, runs_ms: None });
        };
        let progress = self.messages.measured("multiplying", Unit::Runs);
        let step = |number: u32| progress.tell(number.into(), repeat.get().into());
        let (c, runs) = self.target.multiply_repeatedly(&task, repeat, step)?;
        let runs_ms = runs.iter().map(|run| run.took.total_ms).collect();
        Ok(Computed { of_c: Extent::of(&c), c: Some(c), run: median(runs), runs_ms: Some(runs_ms) })
    }
}

/// The run with the median time; for an even number of runs, the faster of the two in the middle.
fn median(mut runs: Vec<Run>) -> Run {
    runs.sort_by(|x, y| x.took.total_ms.total_cmp(&y.took.total_ms));
    runs.swap_remove((runs.len() - 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Took;

    #[test]
    fn the_median_run() {
        let run = |&total_ms: &f64| Run { took: Took { total_ms, ..Took::default() }, ..Run::default() };
        let of = |times: &[f64]| median(times.iter().map(run).collect()).took.total_ms;
        assert_eq!(
            [of(&[3.0]), of(&[4.0, 2.0]), of(&[9.0, 1.0, 5.0]), of(&[4.0, 3.0, 2.0, 1.0])],
            [3.0, 2.0, 5.0, 2.0]
        );
    }
}
