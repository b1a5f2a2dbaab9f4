//! `blockmul bench`: products verified, then timed. `matrices` has the operands, `measure` the
//! timing, `record` and `table` the output.
mod iterations;
mod matrices;
mod measure;
mod record;
mod table;

use crate::failure::Failure;
use crate::input::ElementName;
use crate::messages::{Messages, Tone, tell, visible};
use crate::numbers::{from_zero, some};
use crate::output;
use crate::places::Overwriting;
use blockmul::{BlockShape, Device, Element, Method};
use half::f16;
use matrices::{Input, Pair, Source};
use measure::{Bench, Patience, Place};
use record::{Record, Results};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Time products of named matrices and of files: C = A·A if A is square, else A·Aᵀ.
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
  blockmul bench H.bin P.mtx.gz --json new.json          then: tools/bench-compare old.json new.json
  blockmul bench --iterations problem.txt.gz graph.g2o   the products of a solver's iteration
  blockmul bench --list                                  the families

Families are those of `blockmul generate`, with the same sizes, counted in blocks. Files are what `multiply` reads, the plain binary
BCSR0001 and BSR1 (.bcsr, .bsr, .bin) too; values that a file leaves out are made up.
Exit status: 0 done; 1 a result was not the product; 2 wrong usage or unreadable input; 3 no such device; 4 memory; 5 else. What can
be timed is, whatever becomes of the rest.")]
pub struct Args {
    /// A family with its sizes, as in uniform:20000x8, or a file [default: every family at its
    /// default size].
    #[arg(value_name = "INPUT", value_parser = Input::parse)]
    inputs: Vec<Input>,
    /// Time the products of one iteration of least-squares problems instead of matrices: files of
    /// BAL, g2o or iSAM, with plans made once.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["inputs", "list", "block", "element", "method", "stages"])]
    iterations: Vec<PathBuf>,
    /// List the families, their sizes and defaults.
    #[arg(long, conflicts_with = "inputs")]
    list: bool,
    /// Blocks of R rows and K columns, several with commas; one number for square ones [default:
    /// those of the family, or the file's own blocks, else scalars].
    #[arg(long, value_name = "RxK,...", value_delimiter = ',', value_parser = crate::sizes::block)]
    block: Vec<BlockShape>,
    /// Element types, several with commas.
    #[arg(long, value_name = "TYPE,...", value_enum, value_delimiter = ',', default_value = "f64")]
    element: Vec<ElementName>,
    /// Methods, several with commas; all: every method that needs no mask.
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', value_parser = method_or_all(), default_value = "auto")]
    method: Vec<String>,
    /// auto (a GPU, else a CPU), gpu, cpu, an index or part of a name from `blockmul devices`; may
    /// be given several times [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Vec<String>,
    /// Timed rounds of each product.
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
    overwriting: Overwriting,
    /// Print neither messages nor the table.
    #[arg(short, long)]
    quiet: bool,
}

/// Value of `--method` for every method.
const ALL_METHODS: &str = "all";

fn method_or_all() -> clap::builder::PossibleValuesParser {
    let names = [Method::Auto].iter().chain(Method::ALL).map(|method| method.name());
    names.chain([ALL_METHODS]).collect::<Vec<_>>().into()
}

/// The methods with these names.
fn methods(names: &[String]) -> Result<Vec<Method>, Failure> {
    if names.iter().any(|name| name == ALL_METHODS) {
        return Ok(Method::ALL.iter().copied().filter(|method| !method.needs_mask()).collect());
    }
    names.iter().map(|name| Ok(name.parse()?)).collect()
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.list {
        return output::print(&matrices::list());
    }
    let files = args.inputs.iter().filter_map(Input::file).chain(&args.iterations);
    args.overwriting.places().reads(files).others(&args.json).check()?;
    let messages = Messages::new(args.quiet);
    let methods = methods(&args.method)?;
    let patience = Patience { rounds: args.rounds.get(), seconds: args.max_time };
    let devices = match args.device.as_slice() {
        [] => vec![Place::new(Device::auto()?)],
        several => several.iter().map(|wanted| Device::select(wanted).map(Place::new)).collect::<Result<_, _>>()?,
    };
    let bench = Bench { devices, methods, patience, messages: &messages };
    let mut session = Session { args, messages: &messages, results: Results::new(), status: None };
    for file in &args.iterations {
        session.iteration(&bench, file)?;
    }
    if !args.iterations.is_empty() {
        return session.finish();
    }
    let defaults = Input::every_family();
    for input in if args.inputs.is_empty() { &defaults } else { &args.inputs } {
        session.input(&bench, input)?;
    }
    session.finish()
}

/// The results and the failures so far.
struct Session<'a> {
    args: &'a Args,
    messages: &'a Messages,
    results: Results,
    /// Exit status of the first failure.
    status: Option<u8>,
}

impl Session<'_> {
    /// Measures every combination for one input. A combination that fails is reported and the
    /// others continue. If the results cannot be written, the command ends.
    fn input(&mut self, bench: &Bench<'_>, input: &Input) -> Result<(), Failure> {
        let source = match Source::open(input, self.messages) {
            Ok(source) => source,
            Err(failure) => {
                self.note(&input.name(), &failure);
                return Ok(());
            }
        };
        let own = [source.default_block()];
        for &shape in if self.args.block.is_empty() { &own[..] } else { &self.args.block } {
            for &element in &self.args.element {
                match element {
                    ElementName::F64 => self.of_type::<f64>(bench, &source, shape)?,
                    ElementName::F32 => self.of_type::<f32>(bench, &source, shape)?,
                    ElementName::F16 => self.of_type::<f16>(bench, &source, shape)?,
                }
            }
        }
        Ok(())
    }

    /// Measures every product of an iteration of the problem in `file`.
    fn iteration(&mut self, bench: &Bench<'_>, file: &Path) -> Result<(), Failure> {
        match bench.iteration(file) {
            Ok(records) => records.into_iter().try_for_each(|record| self.keep(record)),
            Err(error) => {
                self.note(&file.display().to_string(), &error.into());
                Ok(())
            }
        }
    }

    fn of_type<T: Element>(&mut self, bench: &Bench<'_>, source: &Source, shape: BlockShape) -> Result<(), Failure> {
        let what = format!("{} in {shape} {}", source.name(), T::NAME);
        self.messages.step(format!("{what}: making operands"));
        let measured = match source.operands::<T>(shape) {
            Ok(Pair::Scalars(a, b)) => bench.measure(source.name(), &a, b.as_ref()),
            Ok(Pair::Blocks(a, b)) => bench.measure(source.name(), &a, b.as_ref()),
            Err(error) => Err(error),
        };
        match measured {
            Ok(outcomes) => outcomes.into_iter().try_for_each(|outcome| match outcome {
                Ok(record) => self.keep(record),
                Err(error) => {
                    self.note(&what, &error.into());
                    Ok(())
                }
            }),
            Err(error) => {
                self.note(&what, &error.into());
                Ok(())
            }
        }
    }

    fn note(&mut self, what: &str, failure: &Failure) {
        self.status.get_or_insert(failure.status());
        let text = failure.to_string();
        // Some errors already name the file.
        let text = if text.starts_with(what) { text } else { format!("{what}: {text}") };
        self.messages.pause(|| tell(Tone::Error, &text));
    }

    /// Writes the file after every record, because a benchmark may take long.
    fn keep(&mut self, record: Record) -> Result<(), Failure> {
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
            false => output::print(&visible(&table::text(self.results.records(), self.args.stages))),
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
