//! `blockmul bench`: products and other operations, verified, then timed. `operation` names them,
//! `families` and `matrices` have the operands, `measure` the timing, `record`, `results` and
//! `table` the output; each other file has operations, with what their results are compared with.
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
mod structure;
pub mod table;
pub mod vectors;

use crate::algebra::{check_blocks, has_zeros};
use crate::failure::Failure;
use crate::input::{NumberName, Reading};
use crate::messages::{Messages, Tone, tell, visible};
use crate::numbers::{from_zero, some};
use crate::output;
use crate::places::Overwriting;
use crate::problem::EdgesName;
use blockmul::solver::problem::Edges;
use blockmul::{BlockShape, Device, Method, Semiring, plan::Format};
use half::f16;
use matrices::{Input, Padded, Source};
use measure::{Bench, Patience, Place};
use operands::Operands;
use operation::{Operation, Takes};
use record::Record;
use results::Results;
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
    #[arg(long, value_name = "RxK,...", value_delimiter = ',', value_parser = crate::sizes::block)]
    block: Vec<BlockShape>,
    /// Element types, several with commas; u32, i32 and u8 for product, plan, apply,
    /// apply-transposed, apply-gram and dense. u8 has --semiring or-and alone.
    #[arg(long, value_name = "TYPE,...", value_enum, value_delimiter = ',', default_value = "f64")]
    element: Vec<NumberName>,
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
    #[arg(long, default_value = "plus-times", value_parser = crate::algebra::semiring())]
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
    let multiplies =
        |operation: &&Operation| matches!(operation, Operation::Product | Operation::Plan | Operation::Dense);
    if let Some(operation) = args.operation.iter().find(|operation| args.by_rows && !multiplies(operation)) {
        return Err(Failure::Usage(format!("--by-rows is for product, plan and dense, not for {}", operation.name())));
    }
    let by_format = |operation: &&Operation| operation.has_formats();
    let is_other = args.semiring != Semiring::PlusTimes;
    if let Some(operation) = args.operation.iter().find(|of| is_other && !multiplies(of) && !by_format(of)) {
        let name = operation.name();
        return Err(Failure::Usage(format!(
            "--semiring is for product, plan, apply, apply-transposed, apply-gram and dense, not for {name}"
        )));
    }
    if let Some(operation) = args.operation.iter().find(|&&of| args.symmetric && of != Operation::Apply) {
        return Err(Failure::Usage(format!("--symmetric is for apply, not for {}", operation.name())));
    }
    if let Some(operation) = args.operation.iter().find(|of| args.any_order && !by_format(of)) {
        let name = operation.name();
        return Err(Failure::Usage(format!(
            "--any-order is for apply, apply-transposed and apply-gram, not for {name}"
        )));
    }
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
    let mut session = Session { args, bench: &bench, messages, results: Results::new(), status: None };
    for file in &args.iterations {
        let records = bench.iteration(file, args.edges.map(Edges::from));
        session.keep_all(&file.display().to_string(), records)?;
    }
    if args.iterations.is_empty() {
        args.operation.iter().try_for_each(|&operation| session.operation(operation))?;
    }
    session.finish()
}

/// The results and the failures so far.
struct Session<'a> {
    args: &'a Args,
    bench: &'a Bench<'a>,
    messages: &'a Messages,
    results: Results,
    /// Exit status of the first failure.
    status: Option<u8>,
}

impl Session<'_> {
    /// Measures an operation on every input. An input or a combination that fails is reported and
    /// the others continue. If the results cannot be written, the command ends.
    fn operation(&mut self, operation: Operation) -> Result<(), Failure> {
        let first = self.bench.devices.first();
        let wanted = self.args.elements.map(|elements| elements.get() as usize);
        let elements = wanted.or(first.and_then(|place| operation.elements(&place.device)));
        if operation.takes() == Takes::Array {
            for place in &self.bench.devices {
                let records = self.bench.arrays(operation, place, elements.unwrap_or_default());
                self.keep_all(&operation.name(), records)?;
            }
            return Ok(());
        }
        let inputs = match &self.args.inputs[..] {
            [] => operation.inputs(self.args.symmetric),
            inputs => inputs.iter().map(|input| (input.clone(), Vec::new())).collect(),
        };
        for (input, blocks) in inputs {
            match operation.takes() {
                Takes::File => self.read(&input, elements)?,
                _ => self.input(operation, &input, elements, blocks)?,
            }
        }
        Ok(())
    }

    /// Measures reading a file, or a generated matrix.
    fn read(&mut self, input: &Input, elements: Option<usize>) -> Result<(), Failure> {
        let records = match input {
            Input::File(path) => self.bench.read(path),
            Input::Family(named) => self.bench.read_made(&Source::Family(named.clone(), elements)),
        };
        self.keep_all(&input.name(), records)
    }

    /// Measures every combination for one input.
    fn input(
        &mut self,
        operation: Operation,
        input: &Input,
        elements: Option<usize>,
        blocks: Vec<BlockShape>,
    ) -> Result<(), Failure> {
        let padded = match operation {
            Operation::Paths | Operation::Components | Operation::Triangles | Operation::Patches => Padded::Graph,
            _ if has_zeros(self.args.semiring) => Padded::Kept,
            _ => Padded::LeftOut,
        };
        let source = match Source::open(input, elements, padded, (&self.bench.reading, self.messages)) {
            Ok(source) => source,
            Err(failure) => {
                self.note(&input.name(), &failure);
                return Ok(());
            }
        };
        let blocks = match (&self.args.block[..], blocks.is_empty()) {
            ([], true) => vec![source.default_block()],
            ([], false) => blocks,
            (wanted, _) => wanted.to_vec(),
        };
        for shape in blocks {
            // The blocks of families are full.
            if let (Input::File(_), Err(failure)) = (input, check_blocks(self.args.semiring, &[("--block", shape)])) {
                self.note(&source.name(shape), &failure);
                continue;
            }
            for &element in &self.args.element {
                let what = format!("{} in {shape} {}", source.name(shape), element.name());
                self.messages.step(format!("{what}: making operands"));
                let of = Operands { operation, source: &source, shape, by_rows: self.args.by_rows };
                let outcomes = match element {
                    NumberName::F64 => of.real::<f64>(self.bench),
                    NumberName::F32 => of.real::<f32>(self.bench),
                    NumberName::F16 => of.field::<f16>(self.bench),
                    NumberName::U32 => of.number::<u32>(self.bench),
                    NumberName::I32 => of.number::<i32>(self.bench),
                    NumberName::U8 => of.number::<u8>(self.bench),
                };
                match outcomes {
                    Ok(outcomes) => outcomes.into_iter().try_for_each(|outcome| self.keep_all(&what, outcome))?,
                    Err(error) => self.note(&what, &error.into()),
                }
            }
        }
        Ok(())
    }

    /// Keeps the records, or reports why there are none.
    fn keep_all(&mut self, what: &str, records: blockmul::Result<Vec<Record>>) -> Result<(), Failure> {
        match records {
            Ok(records) => records.into_iter().try_for_each(|record| self.keep(record)),
            Err(error) => {
                self.note(what, &error.into());
                Ok(())
            }
        }
    }

    fn note(&mut self, what: &str, failure: &Failure) {
        self.status.get_or_insert(failure.status());
        self.messages.pause(|| tell(Tone::Error, &failure.of(what)));
    }

    /// Writes the file after every record, because a benchmark may take long.
    fn keep(&mut self, record: Record) -> Result<(), Failure> {
        self.messages.passed(|| format!("{}: {} ms", record.sizes.what(), table::number(record.ms, 3)));
        self.results.push(record);
        match self.args.json.as_deref().filter(|path| !output::is_standard(path)) {
            Some(path) => output::write(path, &self.results.json()),
            None => Ok(()),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        let to_stdout = self.args.json.as_deref().is_some_and(output::is_standard);
        self.messages.pause(|| match to_stdout {
            true => output::print(&self.results.json()),
            false if self.args.quiet || self.results.is_empty() => Ok(()),
            false => {
                let text = table::text(self.results.records(), self.args.stages);
                output::print_beside(self.args.json.is_some(), &visible(&text))
            }
        })?;
        match (self.results.wrong(), self.status) {
            (0, None) => Ok(()),
            (0, Some(status)) => Err(Failure::Reported(status)),
            (wrong, _) => Err(Failure::Verification(format!(
                "{wrong} of {} results are not the reference's bit for bit; they were not timed",
                self.results.records().len()
            ))),
        }
    }
}
