//! `blockmul apply`: multiplies a matrix with a vector, or with several vectors.
mod report;
mod run;
mod weights;

use crate::algebra::{check_blocks, has_zeros};
use crate::choice::{self, Sharing, one_of};
use crate::dense::{self, DenseOperand, SparseOperand};
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::numbers::finite;
use crate::operands::oriented_shape;
use crate::overflow::{Converted, Overflow};
use crate::places::FileArgs;
use crate::runs::RunArgs;
use crate::symmetric::Halves;
use crate::{output, vector};
use blockmul::{
    BlockShape, Semiring,
    dense::{AnyDense, DenseShape, Layout, Side},
    element::{AnyValues, ElementType},
    plan::{Format, Split},
};
use std::path::{Path, PathBuf};

/// Multiply a matrix with a vector: y = A·x, or Aᵀ·x; or with several at once, the columns of X.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul apply A.mtx x.mtx -o y.mtx                  y = A·x in f64 on the best device
  blockmul apply A.mtx --transpose -o -                Aᵀ times ones, to stdout
  blockmul apply A.mtx --format sliced-ell --verify    rows in slices of 32, checked against the reference
  blockmul apply G.mtx d.mtx --semiring min-plus --onto d.mtx -o d.mtx --overwrite   d = min(d, G·d): a step of paths
  blockmul apply A.mtx x.npy --onto y.npy --beta -1 -o r.npy   r = A·x - y
  blockmul apply K.mtx --symmetric --verify            one triangle of a symmetric matrix is kept
  blockmul apply H.mtx --block 6 --format sliced-ell   blocks of 6x6 in slices
  blockmul apply J.mtx x.mtx --gram --weights w.mtx -o y.mtx   y = Jᵀ·(W·(J·x)) with a diagonal W
  blockmul apply A.mtx X.npy -o Y.npy                  A times every column of X
  blockmul apply A.mtx --explain --repeat 100          which format is estimated to be the fastest, and why

X is a matrix in any format, or an array in a file that ends in .npy; if it has several columns, --format and
--any-order do not apply. --gram takes one vector. y is written as a Matrix Market array, or to a file that ends in .npy. Formats say
how rows are stored and shared out; all but csr-vector, csr-shared, coo, segmented-scan and scoo, which have
orders of their own, give the same bits. Those of formats that end in -atomic differ from run to run. --format
auto chooses a format for the N uses of --repeat. --verify compares with the reference in the format's order of
sums, of formats that end in -atomic within rounding.
Exit status: 0 done; 1 y is not the reference's; 2 wrong usage, or an input that cannot be read; 3 no such
device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    a: PathBuf,
    /// The vector, or vectors as columns [default: ones].
    x: Option<PathBuf>,
    /// Output file for y: .mtx for Matrix Market, .npy for NumPy, packed if .gz or .bz2 follows; -
    /// for Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Multiply with the transpose of A.
    #[arg(long)]
    transpose: bool,
    /// Multiply with JᵀJ, or with JᵀWJ, without forming it: with J, then with Jᵀ. J is A, or Aᵀ
    /// with --transpose.
    #[arg(long)]
    gram: bool,
    /// W of --gram: a vector with a number for each row of J, or for each row of its blocks; or a
    /// matrix with blocks on its diagonal, each as high as J's [default: the identity].
    #[arg(long, value_name = "FILE", requires = "gram")]
    weights: Option<PathBuf>,
    /// Add the y of this file to the product: y = A·x + y, in the algebra of --semiring. Over
    /// min-plus y is the smaller of old and new.
    #[arg(long, value_name = "FILE", conflicts_with = "gram")]
    onto: Option<PathBuf>,
    /// Multiply the y of --onto by this number: y = A·x + B·y. For plus-times [default: 1].
    #[arg(long, value_name = "B", requires = "onto", allow_negative_numbers = true, value_parser = finite)]
    beta: Option<f64>,
    /// A is symmetric, so that only one triangle of it is kept. The file contains one triangle, or
    /// is a Matrix Market file with the word symmetric, or contains both triangles, which must
    /// agree within rounding; the lower one is used then.
    #[arg(long)]
    symmetric: bool,
    /// Cut A, after --transpose, into dense blocks of R rows and K columns; one number for square
    /// blocks [default: scalars].
    #[arg(long, value_name = "RxK")]
    block: Option<BlockShape>,
    /// Format of A's rows on the device.
    #[arg(long, default_value = "auto", value_parser = one_of(choice::formats()))]
    format: Format,
    /// Let auto also choose formats that add the terms of a sum in another order; only for an X of
    /// one column.
    #[arg(long)]
    any_order: bool,
    /// Rule by which --format hyb or hyb-atomic cuts rows. bytes: at the width with the fewest
    /// bytes; filled: at the largest width that a third of the rows, and at least 4096, still fill;
    /// a number from 0 to 1: at this fraction of the way from the average row to the longest;
    /// quantile:0.8: at the length that this fraction of the rows does not exceed; capped: at the
    /// length that a third of the rows does not exceed, but at most a thousandth of the number of
    /// rows [default: bytes].
    #[arg(long, value_name = "RULE")]
    split: Option<Split>,
    /// Way in which work-groups share the entries of A if X has several columns: row by row, in
    /// groups of rows that load a row of X once (gcoo), or in the groups of a .gcoo file (stored)
    /// [default: auto].
    #[arg(long, value_name = "METHOD", value_parser = one_of(choice::sharings()))]
    sharing: Option<Sharing>,
    /// Element type; f16 is stored in 16 bits and computed in f32. u8 supports only --semiring
    /// or-and.
    #[arg(long, default_value = "f64", value_parser = choice::number())]
    element: ElementType,
    /// Element type of X and y, in which sums are computed: --element f32 --vectors f64 stores A in
    /// half the bytes. f64 fits f32 and f16, f32 fits f16. A type other than A's is for an X of
    /// one column, without --gram [default: that of A].
    #[arg(long, value_name = "TYPE", value_parser = choice::number())]
    vectors: Option<ElementType>,
    /// Algebra of sums and products. The first factor of each product is from A.
    #[arg(long, default_value = "plus-times", value_parser = choice::semiring())]
    semiring: Semiring,
    #[command(flatten)]
    run: RunArgs,
    /// Print on stderr the reason for the format or the sharing.
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    files: FileArgs,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    output::check_stdout(&[("-o", &args.output), ("--report", &args.run.report)])?;
    if args.split.is_some() && !matches!(args.format, Format::Hyb | Format::HybAtomic) {
        return Err(Failure::Usage(format!("--split cuts rows of --format hyb and hyb-atomic, not {}", args.format)));
    }
    if args.weights.is_some() && args.semiring != Semiring::PlusTimes {
        return Err(Failure::Usage(format!("--weights belong to plus-times, not to {}", args.semiring)));
    }
    if args.beta.is_some() && args.semiring != Semiring::PlusTimes {
        return Err(Failure::Usage(format!("--beta belongs to plus-times, not to {}", args.semiring)));
    }
    let (a, x) = (("A", Some(&args.a)), ("X", args.x.as_ref()));
    let inputs = [a, x, ("--weights", args.weights.as_ref()), ("--onto", args.onto.as_ref())];
    input::check_stdin(&inputs)?;
    args.output.as_deref().map_or(Ok(()), vector::check_name)?;
    let places = args.files.writing.places().reads([&args.a]).reads(&args.x).reads(&args.weights).reads(&args.onto);
    places.others(&args.output).json(&args.run.report).check()?;
    let (element, vectors) = (args.element, args.vectors.unwrap_or(args.element));
    if !element.takes_vectors_of(vectors) {
        let why = "--vectors takes the type of --element, f64 with f32 or f16, or f32 with f16";
        return Err(Failure::Usage(why.into()));
    }
    if let Some(beta) = args.beta.filter(|&beta| !holds(vectors, beta)) {
        return Err(Failure::Usage(format!("--beta {beta} is not of type {vectors}")));
    }
    args.semiring.check_type(element)?;
    // `--block` gives the shape of blocks of op(A), so of A's transpose with --transpose.
    let block = oriented_shape(args.block, args.transpose).unwrap_or(BlockShape::SCALAR);
    check_blocks(args.semiring, &[("--block", block)])?;
    let messages = Messages::new(args.files.writing.quiet);
    let mut file = input::read(&args.a, &args.files.reading, &messages)?;
    if !has_zeros(args.semiring) {
        input::drop_padding(&mut file, &args.a, &messages);
    }
    let converted = input::check_cast(element, &file.matrix, "A", &args.a, &messages)?;
    // If a file holds one triangle, its groups are not the groups of the whole matrix.
    let groups = file.groups.take().filter(|groups| !args.symmetric && groups.shape() == block);
    let a = if args.symmetric { Halves::new(file, &messages)? } else { Halves::whole(file.matrix) };
    let (rows, cols) = (a.whole.nrows(), a.whole.ncols());
    let (x_len, y_len) = if args.transpose { (rows, cols) } else { (cols, rows) };
    let mut x = match &args.x {
        Some(path) => {
            let x = dense::read(vectors, path, "X", &args.files.reading, &messages)?;
            let DenseShape { rows, cols, .. } = x.matrix.shape();
            if rows != x_len {
                let path = path.display();
                return Err(Failure::Usage(format!("{path}: X is {rows} x {cols}, {x_len} rows are expected")));
            }
            x
        }
        None => {
            let shape = DenseShape::new(x_len, 1, Layout::ByColumns);
            let values = AnyValues::F64(vec![1.0; x_len]).cast(vectors);
            DenseOperand { matrix: AnyDense::new(shape, values)?, converted: Converted::EXACT }
        }
    };
    let cols = x.matrix.shape().cols;
    if args.gram && cols != 1 {
        return Err(Failure::Usage(format!("--gram multiplies with one vector, X has {cols} columns")));
    }
    if let Some(sharing) = Sharing::asked(args.sharing).filter(|_| cols == 1) {
        let name = sharing.name();
        return Err(Failure::Usage(format!("--sharing {name} is for an X of several columns; --format is for one")));
    }
    if element != vectors && (cols != 1 || args.gram) {
        return Err(Failure::Usage(format!(
            "--vectors {vectors} of --element {element} is for an X of one column, without --gram"
        )));
    }
    let read = |path: &PathBuf| onto(path, vectors, (y_len, cols), &args.files.reading, &messages);
    let old = args.onto.as_ref().map(read).transpose()?;
    if let Some(old) = &old {
        x.converted = x.converted.and(old.converted);
    }
    if cols != 1 {
        let (matrix, groups) = (input::elements(element, a.whole), groups.map(|groups| groups.cast(element)));
        let a = SparseOperand { matrix, block, converted, groups };
        return with_matrix(args, a, &x, old, &messages);
    }
    let (a, x, of_x) = (a.cut(element, block)?, x.matrix.values(), x.converted);
    let size = Size::of(&a.whole);
    let rows = if args.transpose { (size.cols(), block.cols()) } else { (size.rows(), block.rows()) };
    let read = |path: &PathBuf| weights::read(path, element, rows, &args.files.reading, &messages);
    let (weights, of_weights) = args.weights.as_ref().map(read).transpose()?.unzip();
    let of_vectors = of_weights.map_or(of_x, |of_weights| of_x.and(of_weights));
    let product =
        run::Product { args, a: &a, x, weights: weights.as_ref(), old: old.as_ref().map(|old| old.matrix.values()) };
    run::run(&product, Overflow::of_operands(converted, of_vectors), &messages)
}

/// Whether a factor is a number of the type's arithmetic, within rounding.
fn holds(vectors: ElementType, factor: f64) -> bool {
    let nearest = vectors.arithmetic().nearest(factor);
    vectors.has(factor) && nearest.is_finite() && (nearest != 0.0 || factor == 0.0)
}

/// Reads the y of `--onto`, which has this many rows and columns.
fn onto(
    path: &Path,
    element: ElementType,
    (rows, cols): (usize, usize),
    reading: &Reading,
    messages: &Messages,
) -> Result<DenseOperand, Failure> {
    let old = dense::read(element, path, "y", reading, messages)?;
    let found = old.matrix.shape();
    match (found.rows, found.cols) == (rows, cols) {
        true => Ok(old),
        false => {
            let (path, DenseShape { rows: of_y, cols: in_y, .. }) = (path.display(), found);
            Err(Failure::Usage(format!("{path}: y is {of_y} x {in_y}, {rows} x {cols} is expected")))
        }
    }
}

/// Multiplies A with every column of X.
fn with_matrix(
    args: &Args,
    a: SparseOperand,
    x: &DenseOperand,
    old: Option<DenseOperand>,
    messages: &Messages,
) -> Result<(), Failure> {
    if args.format != Format::Auto {
        return Err(Failure::Usage(format!(
            "--format {} is for vectors, X has {} columns",
            args.format,
            x.matrix.shape().cols
        )));
    }
    if args.any_order {
        return Err(Failure::Usage(format!("--any-order is for vectors, X has {} columns", x.matrix.shape().cols)));
    }
    if args.symmetric {
        messages.warn("X has several columns: the device keeps the whole of A, not one triangle");
    }
    let layout = x.matrix.shape().layout;
    let added = |old: DenseOperand| {
        let beta = args.beta.unwrap_or(1.0);
        Ok::<_, Failure>(dense::Added { beta, old: old.matrix.to_layout(layout)? })
    };
    let request = dense::Request {
        side: Side::Left,
        transposed: args.transpose,
        semiring: args.semiring,
        sharing: Sharing::asked(args.sharing),
        added: old.map(added).transpose()?,
        run: &args.run,
        memory_limit: None,
        explain: args.explain,
        quiet: args.files.writing.quiet,
        output: &args.output,
    };
    dense::run(&request, a, x, messages)
}
