//! `blockmul bench`: products and other operations, verified, then timed. `operation` lists the
//! operations, `families` and `matrices` have the operands, `measure` the timing, `record`,
//! `results` and `table` the output, `session` a run. Each other file has operations and their
//! reference results. `lab bench` adds operations on arrays.
pub mod apply;
mod apply_gram;
pub mod dense;
pub mod families;
mod graphs;
mod iterations;
pub mod matrices;
pub mod measure;
pub mod operation;
pub mod plans;
mod products;
mod read;
pub mod record;
pub mod results;
mod schur;
mod session;
mod structure;
mod table;
mod vectors;

use crate::choice::{self, methods, one_of, one_or};
use crate::failure::Failure;
use crate::messages::Messages;
use crate::numbers::some;
use crate::output;
use crate::places::FileArgs;
use crate::problem::EdgesName;
use blockmul::{BlockShape, Device, Method, Semiring, element::ElementType, plan::Format};
use clap::builder::{PossibleValue, TypedValueParser};
use matrices::Input;
use measure::{Bench, Patience, Place};
use operation::{ANY_ORDER, BY_ROWS, Measure, OPERATIONS, Operation, SEMIRING, SYMMETRIC};
use session::Session;
use std::num::NonZero;
use std::path::PathBuf;

/// Time operations on named matrices and on files, first of all products: C = A·A if A is square,
/// else A·Aᵀ.
///
/// Operands stay on the device. Every result is compared with the reference, bit for bit, before it
/// is timed. Then come a warm-up and the rounds; medians are reported.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul bench                                         every family at its default size on the best device
  blockmul bench uniform:20000x8 --block 1,2,3,4,6,8     the same graph in blocks of six sizes
  blockmul bench pose-graph --stages                     each stage: ms, bytes, multiple of a copy's bandwidth
  blockmul bench W.mtx --block 6x3 --element f64,f32 --device gpu --device cpu
  blockmul bench H.bin P.mtx.gz --json new.json          then: benches/lab/bench-compare old.json new.json
  blockmul bench --operation plan,apply H.bin            executions of a plan of H·H, and H·x
  blockmul bench --operation apply --format all A.mtx    A·x of scalars in every format
  blockmul bench --operation apply --symmetric pose-graph      H·x by the whole of H, and by one triangle
  blockmul bench --operation apply --semiring min-plus --element f32,u32 power-law   A·x over another algebra
  blockmul bench --operation gram,apply-gram,apply pose-graph:10000x20000   JᵀJ formed, not formed, and H·x
  blockmul bench --operation dense --columns 128 --layout rows,columns A.mtx   A·D for a dense D
  blockmul bench --operation copy,transpose --block 6    bandwidths of a matrix of 64 MiB
  blockmul bench --operation components,triangles,patches --block 1 G.mtx   of the graph whose edges are G's entries
  blockmul bench --iterations problem.txt.gz graph.g2o   the products of a solver's iteration
  blockmul bench --list                                  the families

Families are those of `blockmul generate`, with the same sizes, counted in blocks, and two with long columns.
Files are those that `multiply` reads, the plain binary BCSR0001 and BSR1 (.bcsr, .bsr, .bin) included. If a
file has no values, random ones are used. In integers random values are small whole numbers, and values of
files must be whole.
If one input fails, the others are still timed.
Exit status: 0 done; 1 a result differs from the reference; 2 wrong usage, or an input that cannot be read;
3 no such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    /// A family with its sizes, as in uniform:20000x8, or a file [default: the families that suit
    /// the operation].
    #[arg(value_name = "INPUT", value_parser = Input::parse)]
    inputs: Vec<Input>,
    /// Operations, several with commas.
    #[arg(long, value_name = "OPERATION,...", value_parser = operations(&OPERATIONS), value_delimiter = ',', default_value = "product")]
    operation: Vec<&'static Operation>,
    /// Time the products of one iteration of least-squares problems instead of matrices: files of
    /// BAL, g2o, iSAM or TORO, with plans made once.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["inputs", "list", "operation", "block", "element", "elements", "method", "format", "by_rows", "stages", "together"])]
    iterations: Vec<PathBuf>,
    /// Format of graphs of EDGE2 or EDGE3 among them, as for solve.
    #[arg(long, value_enum, requires = "iterations")]
    edges: Option<EdgesName>,
    /// List the families, their sizes and defaults.
    #[arg(long, conflicts_with = "inputs")]
    list: bool,
    /// Blocks of R rows and K columns, several with commas; one number for square blocks [default:
    /// those of the family, or the file's own blocks, else scalars].
    #[arg(long, value_name = "RxK,...", value_delimiter = ',')]
    block: Vec<BlockShape>,
    /// Element types, several with commas; u32, i32 and u8 for product, plan, apply,
    /// apply-transposed, apply-gram and dense. u8 supports only --semiring or-and.
    #[arg(long, value_name = "TYPE,...", value_delimiter = ',', default_value = "f64", value_parser = choice::number())]
    element: Vec<ElementType>,
    /// About how many elements a family named without sizes stores [default: the family's default
    /// sizes for products; 16 million for vectors; 2 million for dense; 8 million for transposes
    /// and similar operations, 64 million for transpose-pattern on a GPU].
    #[arg(long, value_name = "N", value_parser = some)]
    elements: Option<NonZero<u32>>,
    /// Methods of products and their plans, several with commas; all: every method that needs no
    /// mask.
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', value_parser = one_or("all", methods()), default_value = "auto")]
    method: Vec<Option<Method>>,
    /// Formats of apply, apply-transposed and apply-gram, with A's values packed in their order,
    /// several with commas; all: every format that A's blocks can use [default: values in A's own
    /// order, in the format that auto estimates].
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = one_or("all", choice::formats()))]
    format: Vec<Option<Format>>,
    /// Let format auto of apply, apply-transposed and apply-gram choose formats with other orders
    /// of sums, too.
    #[arg(long, conflicts_with_all = ["iterations", "list"])]
    any_order: bool,
    /// Algebra of product, plan, apply, apply-transposed, apply-gram and dense.
    #[arg(long, default_value = "plus-times", value_parser = choice::semiring())]
    semiring: Semiring,
    /// Time apply also with only the lower triangle of A on the device. Its mirror image replaces
    /// the upper one, so a matrix that is not symmetric becomes symmetric.
    #[arg(long, conflicts_with_all = ["iterations", "list"])]
    symmetric: bool,
    /// Multiply rows (CSR, BSR), as most other libraries do, instead of columns: A and B are
    /// row-major. Operation dense then needs no index of A's rows.
    #[arg(long)]
    by_rows: bool,
    /// auto (a GPU, else a CPU), gpu, cpu, an index or part of a name from `blockmul devices`; may
    /// be given several times [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Vec<String>,
    /// Executions enqueued together in a round; the time of the round is divided by their number
    /// [default: 20 for operations on vectors, 10 for transposes and similar operations, 5 for
    /// dense, 1 for products; always 1 for products without a plan, transpose-pattern and reading].
    #[arg(long, value_name = "N", value_parser = some)]
    together: Option<NonZero<u32>>,
    #[command(flatten)]
    pub patience: Patience,
    /// Show the stages of every product, not only of a single one.
    #[arg(long)]
    stages: bool,
    /// Write every time of every stage as JSON; - for stdout, instead of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    dense: dense::DenseArgs,
    #[command(flatten)]
    pub files: FileArgs,
}

/// Parses the name of an operation.
pub fn operations(
    all: impl IntoIterator<Item = &'static Operation>,
) -> impl TypedValueParser<Value = &'static Operation> {
    one_of(all.into_iter().map(|of| (PossibleValue::new(of.name).help(of.help), of)))
}

impl Args {
    /// Refuses options that some of the requested operations do not support.
    fn check(&self) -> Result<(), Failure> {
        let of_array = self.operation.iter().find(|of| matches!(of.measure, Measure::Array(_)));
        if let Some(Operation { name, .. }) = of_array.filter(|_| !self.inputs.is_empty()) {
            return Err(Failure::Usage(format!(
                "{name} takes no INPUT: its arrays have as many elements as --elements says"
            )));
        }
        for (option, given) in [
            (BY_ROWS, self.by_rows),
            (SEMIRING, self.semiring != Semiring::PlusTimes),
            (SYMMETRIC, self.symmetric),
            (ANY_ORDER, self.any_order),
        ] {
            let takes = |of: &&Operation| of.options.contains(&option);
            if let Some(other) = self.operation.iter().copied().find(|of| given && !takes(of)) {
                let names: Vec<&str> = OPERATIONS.iter().filter(takes).map(|of| of.name).collect();
                let names = match &names[..] {
                    [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
                    names => names.concat(),
                };
                return Err(Failure::Usage(format!("{option} is for {names}, not for {}", other.name)));
            }
        }
        match self.dense.given().filter(|_| !self.operation.iter().any(|of| of.name == "dense")) {
            Some(option) => Err(Failure::Usage(format!("{option} is for operation dense"))),
            None => Ok(()),
        }
    }

    /// The requested devices; no device if all operations run on the host.
    fn devices(&self) -> Result<Vec<Place>, Failure> {
        let on_host = |of: &&Operation| matches!(of.measure, Measure::File(_));
        match self.device.as_slice() {
            _ if self.iterations.is_empty() && self.operation.iter().all(on_host) => Ok(Vec::new()),
            [] => Ok(vec![Place::new(Device::auto()?)]),
            several => several.iter().map(|wanted| Ok(Place::new(Device::select(wanted)?))).collect(),
        }
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.list {
        return output::print(&families::list());
    }
    args.check()?;
    let files = args.inputs.iter().filter_map(Input::file).chain(&args.iterations);
    args.files.writing.places().reads(files).json(&args.json).check()?;
    let bench = Bench { args, devices: args.devices()?, messages: Messages::new(args.files.writing.quiet) };
    let mut session = Session::new(&bench);
    for file in &args.iterations {
        session.keep_all(&file.display().to_string(), bench.iteration(file))?;
    }
    if args.iterations.is_empty() {
        args.operation.iter().try_for_each(|operation| session.operation(operation))?;
    }
    session.finish()
}
