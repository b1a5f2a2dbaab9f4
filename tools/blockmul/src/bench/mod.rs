//! `blockmul bench`: products and other operations, verified, then timed. `operation` names them,
//! `families` and `matrices` have the operands, `measure` the timing, `record`, `results` and
//! `table` the output, `session` a run; each other file has operations, with what their results are
//! compared with.
mod dense;
pub mod families;
mod graphs;
mod iterations;
pub mod matrices;
pub mod measure;
mod operands;
mod operation;
mod operator;
pub mod plans;
mod primitives;
mod products;
mod read;
pub mod record;
pub mod results;
mod schur;
mod session;
mod structure;
mod table;
pub mod vectors;

use crate::failure::Failure;
use crate::input::Reading;
use crate::messages::Messages;
use crate::numbers::{from_zero, some};
use crate::output;
use crate::places::Overwriting;
use crate::problem::EdgesName;
use blockmul::solver::problem::Edges;
use blockmul::{BlockShape, Device, Method, Semiring, element::ElementType, plan::Format};
use matrices::Input;
use measure::{Bench, Patience, Place};
use operation::{Operation, Takes};
use results::Results;
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
    #[arg(long, value_name = "OPERATION,...", value_enum, value_delimiter = ',', default_value = "product")]
    operation: Vec<Operation>,
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
    /// Blocks of R rows and K columns, several with commas; one number for square ones [default:
    /// those of the family, or the file's own blocks, else scalars].
    #[arg(long, value_name = "RxK,...", value_delimiter = ',')]
    block: Vec<BlockShape>,
    /// Element types, several with commas; u32, i32 and u8 for product, plan, apply,
    /// apply-transposed, apply-gram and dense. u8 has --semiring or-and alone.
    #[arg(long, value_name = "TYPE,...", value_delimiter = ',', default_value = "f64", value_parser = crate::choice::number())]
    element: Vec<ElementType>,
    /// Stored elements of families without sizes and of arrays, about [default: the family's
    /// default sizes for products; 16 million for vectors; 8 million for transposes and their like,
    /// and for primitives, which take 64 million on a GPU].
    #[arg(long, value_name = "N", value_parser = some)]
    elements: Option<NonZero<u32>>,
    /// Methods of products and their plans, several with commas; all: every method that needs no
    /// mask.
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', value_parser = method_or_all(), default_value = "auto")]
    method: Vec<String>,
    /// Formats of apply, apply-transposed and apply-gram, with A's values in their order, several
    /// with commas; all: every format, of blocks those that they have [default: the values where
    /// they are, the format as estimated].
    #[arg(long, value_name = "FORMAT,...", value_delimiter = ',', value_parser = format_or_all())]
    format: Vec<String>,
    /// Let format auto of apply, apply-transposed and apply-gram choose formats with other orders
    /// of sums, too.
    #[arg(long, conflicts_with_all = ["iterations", "list"])]
    any_order: bool,
    /// Algebra of product, plan, apply, apply-transposed, apply-gram and dense.
    #[arg(long, default_value = "plus-times", value_parser = crate::choice::semiring())]
    semiring: Semiring,
    /// Time apply also with one triangle of A on the device, the lower one. Its mirror image stands
    /// for the upper one, so that another matrix than a symmetric one becomes symmetric.
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
    /// Executions enqueued together in a round, whose time is divided among them [default: 20 on
    /// vectors, 10 of transposes and their like, 1 of products; products from nothing, primitives
    /// and reading always 1].
    #[arg(long, value_name = "N", value_parser = some)]
    together: Option<NonZero<u32>>,
    /// Timed rounds of each product or operation.
    #[arg(long, value_name = "N", default_value = "11", value_parser = some)]
    rounds: NonZero<u32>,
    /// End the rounds of a product after this time, but not before the third.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = from_zero)]
    max_time: f64,
    /// Show the stages of every product, not only of a single one.
    #[arg(long)]
    stages: bool,
    /// Write every time of every stage as JSON; - for stdout, instead of the table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    dense: dense::DenseArgs,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    overwriting: Overwriting,
    /// Print neither messages nor the table.
    #[arg(short, long)]
    quiet: bool,
}

/// Value of `--method` for every method, and of `--format` for every format.
const ALL: &str = "all";

fn method_or_all() -> clap::builder::PossibleValuesParser {
    let names = [Method::Auto].iter().chain(Method::ALL).map(|method| method.name());
    names.chain([ALL]).collect::<Vec<_>>().into()
}

/// The methods with these names.
fn methods(names: &[String]) -> Result<Vec<Method>, Failure> {
    if names.iter().any(|name| name == ALL) {
        return Ok(Method::ALL.iter().copied().filter(|method| !method.needs_mask()).collect());
    }
    names.iter().map(|name| Ok(name.parse()?)).collect()
}

fn format_or_all() -> clap::builder::PossibleValuesParser {
    let names = [Format::Auto].iter().chain(Format::ALL).map(|format| format.name());
    names.chain([ALL]).collect::<Vec<_>>().into()
}

/// The formats with these names.
fn formats(names: &[String]) -> Result<Vec<Format>, Failure> {
    if names.iter().any(|name| name == ALL) {
        return Ok(Format::ALL.to_vec());
    }
    names.iter().map(|name| Ok(name.parse()?)).collect()
}

impl Args {
    /// Refuses options that are not for all operations.
    fn check(&self) -> Result<(), Failure> {
        let check = |given: bool, is_for: fn(Operation) -> bool, what: &str| {
            let other = self.operation.iter().find(|&&of| given && !is_for(of));
            other.map_or(Ok(()), |of| Err(Failure::Usage(format!("{what}, not for {}", of.name()))))
        };
        check(self.by_rows, Operation::multiplies, "--by-rows is for product, plan and dense")?;
        check(
            self.semiring != Semiring::PlusTimes,
            |of| of.multiplies() || of.has_formats(),
            "--semiring is for product, plan, apply, apply-transposed, apply-gram and dense",
        )?;
        check(self.symmetric, |of| of == Operation::Apply, "--symmetric is for apply")?;
        check(self.any_order, Operation::has_formats, "--any-order is for apply, apply-transposed and apply-gram")
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.list {
        return output::print(&families::list());
    }
    if let Some(operation) = args.operation.iter().find(|operation| operation.takes() == Takes::Array)
        && !args.inputs.is_empty()
    {
        let name = operation.name();
        return Err(Failure::Usage(format!(
            "{name} takes no INPUT: its arrays have as many elements as --elements says"
        )));
    }
    args.check()?;
    if let Some(option) = args.dense.given().filter(|_| !args.operation.contains(&Operation::Dense)) {
        return Err(Failure::Usage(format!("{option} is for operation dense")));
    }
    let files = args.inputs.iter().filter_map(Input::file).chain(&args.iterations);
    args.overwriting.places().reads(files).json(&args.json).check()?;
    let messages = Messages::new(args.quiet);
    let (methods, formats) = (methods(&args.method)?, formats(&args.format)?);
    let patience = Patience { rounds: args.rounds.get(), seconds: args.max_time };
    let on_host = args.iterations.is_empty() && args.operation.iter().all(|of| of.takes() == Takes::File);
    let devices = match args.device.as_slice() {
        _ if on_host => Vec::new(),
        [] => vec![Place::new(Device::auto()?)],
        several => several.iter().map(|wanted| Device::select(wanted).map(Place::new)).collect::<Result<_, _>>()?,
    };
    let together = args.together.map(NonZero::get);
    let (semiring, dense) = (args.semiring, args.dense.cases()?);
    let (symmetric, any_order) = (args.symmetric, args.any_order);
    let (reading, messages) = (args.reading, &messages);
    let bench = Bench {
        devices,
        methods,
        formats,
        semiring,
        symmetric,
        any_order,
        dense,
        patience,
        together,
        reading,
        messages,
    };
    let mut session = Session { args, bench: &bench, messages, results: Results::none(), status: None };
    for file in &args.iterations {
        let records = bench.iteration(file, args.edges.map(Edges::from));
        session.keep_all(&file.display().to_string(), records)?;
    }
    if args.iterations.is_empty() {
        args.operation.iter().try_for_each(|&operation| session.operation(operation))?;
    }
    session.finish()
}
