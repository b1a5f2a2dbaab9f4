//! `lab regret` measures whether the choices of methods and of formats are right. `methods` times
//! the choice of methods beside every method, `formats` the choice of formats of A·x beside every
//! format. Both modules share `families`, `summary`, `table`, and the code of a study in this file.
pub mod families;
pub mod formats;
pub mod left_out;
pub mod methods;
mod summary;
mod table;

use crate::study::{self, Lab, StudyArgs};
use blockmul::{BlockShape, element::ElementType};
use blockmul_cli::bench::{matrices::Input, results::Host};
use blockmul_cli::failure::Failure;
use blockmul_cli::messages::visible;
use blockmul_cli::numbers::some;
use blockmul_cli::output;
use blockmul_cli::places::Overwriting;
use blockmul_cli::report::command_line;
use serde::Serialize;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Time the choice of methods, or of formats, beside every method or format that can be chosen.
///
/// Products of scalars are timed by the choice of methods and by every method that can compute the
/// whole product. The matrices of products are files, or else generated families in growing sizes.
/// Each class of columns is also timed alone, parameters step across the thresholds of the choice,
/// and the costs by which methods are chosen are cross-validated. Operation apply times the choice
/// of formats beside every format, for 1, 10 and 1000 uses.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lab regret                                             is the choice of methods the fastest? on generated families
  lab regret W.mtx email-Enron.mtx.gz --json regret.json      and on files
  lab regret --max-products 1e5 --sweeps \"at a hub\"      with one parameter that steps across its threshold
  lab regret --operation apply                           the same of formats of A·x, for 1, 10 and 1000 uses
  lab regret --operation apply K.mtx --symmetric         with one triangle of K too

Families are those of `blockmul bench`, with the same sizes. If one input fails, the others are still timed.
Exit status: 0 done; 1 a result differs from the reference; 2 wrong usage, or an input that cannot be read;
3 no such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    #[command(flatten)]
    study: StudyArgs,
    /// The operation whose choices are judged.
    #[arg(long, value_enum, default_value = "product")]
    operation: Operation,
    /// Element type.
    #[arg(long, value_name = "TYPE", value_enum, default_value = "f64")]
    element: Element,
    /// With --operation apply, cut the matrices of files into blocks of R rows and K columns; one
    /// number for square blocks [default: the file's own blocks, else scalars].
    #[arg(long, value_name = "RxK")]
    block: Option<BlockShape>,
    /// With --operation apply, also time A with one triangle on the device, the lower one. Its
    /// mirror image is taken as the upper triangle, so that a matrix that is not symmetric becomes
    /// symmetric.
    #[arg(long)]
    symmetric: bool,
    /// With --operation apply, executions enqueued together in a round: as many as take some 20 ms,
    /// but not more than this [default: 10].
    #[arg(long, value_name = "N", value_parser = some)]
    together: Option<NonZero<u32>>,
    /// Run only the sweeps, in which a parameter steps across a threshold, whose names contain one
    /// of these texts, such as "at a hub". With inputs, sweeps run only if this option is given.
    #[arg(long, value_name = "WORDS,...", value_delimiter = ',')]
    sweeps: Vec<String>,
    /// Write every time as JSON; - for stdout, instead of the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
}

/// The operation for which choices are judged.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Operation {
    /// Methods of C = A·B.
    Product,
    /// Formats of A·x.
    Apply,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Element {
    F64,
    F32,
}

impl Args {
    /// Refuses options that belong to the other operation.
    fn check(&self) -> Result<(), Failure> {
        let given = [
            ("--sweeps", Operation::Product, !self.sweeps.is_empty()),
            ("--block", Operation::Apply, self.block.is_some()),
            ("--symmetric", Operation::Apply, self.symmetric),
            ("--together", Operation::Apply, self.together.is_some()),
        ];
        match given.into_iter().find(|&(_, of, given)| given && of != self.operation) {
            Some((option, Operation::Product, _)) => {
                Err(Failure::Usage(format!("{option} is for --operation product")))
            }
            Some((option, Operation::Apply, _)) => Err(Failure::Usage(format!("{option} is for --operation apply"))),
            None => Ok(()),
        }
    }
}

/// Measures with the requested element type.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.check()?;
    let files = args.study.inputs.iter().filter_map(Input::file);
    args.overwriting.places().reads(files).json(&args.json).check()?;
    let lab = args.study.lab(match args.element {
        Element::F64 => ElementType::F64,
        Element::F32 => ElementType::F32,
    })?;
    match (args.operation, args.element) {
        (Operation::Product, Element::F64) => methods::study::<f64>(args, &lab),
        (Operation::Product, Element::F32) => methods::study::<f32>(args, &lab),
        (Operation::Apply, Element::F64) => formats::study::<f64>(args, &lab),
        (Operation::Apply, Element::F32) => formats::study::<f32>(args, &lab),
    }
}

/// The findings of a study, to which one matrix after another adds.
trait Findings: Serialize {
    /// The schema of the JSON. The number of the schema is increased by changes that a reader must
    /// know.
    const SCHEMA: &'static str;
    /// Whether nothing was measured.
    fn is_empty(&self) -> bool;
    /// Number of results that differ from the reference.
    fn wrong(&self) -> usize;
    /// Every table, each with a line that says what it shows.
    fn text(&self) -> String;
}

/// A study with its findings so far.
#[derive(Serialize)]
struct Study<'a, F> {
    schema: &'static str,
    command: String,
    host: Host,
    device: &'a str,
    platform: &'a str,
    driver: &'a str,
    element: &'static str,
    #[serde(flatten)]
    found: F,
    #[serde(skip)]
    lab: &'a Lab,
    #[serde(skip)]
    args: &'a Args,
    /// Exit status of the first failure of the study.
    #[serde(skip)]
    failed: Option<u8>,
}

impl<'a, F: Findings> Study<'a, F> {
    fn new<T: blockmul::Element>(args: &'a Args, lab: &'a Lab, found: F) -> Self {
        lab.begin();
        let info = lab.device.info();
        Self {
            schema: F::SCHEMA,
            command: command_line(),
            host: Host::this(),
            device: &info.name,
            platform: &info.platform,
            driver: &info.driver,
            element: T::NAME,
            found,
            lab,
            args,
            failed: None,
        }
    }

    /// Runs `measure`, which adds findings and returns a line about these. A failure is reported,
    /// and the study continues. The output file is written after each measurement, because a study
    /// may take long.
    fn add(&mut self, name: &str, measure: impl FnOnce(&mut F) -> Result<String, Failure>) -> Result<(), Failure> {
        match measure(&mut self.found) {
            Ok(line) => self.lab.messages.passed(|| line),
            Err(failure) => {
                self.lab.note(name, &failure);
                self.failed.get_or_insert(failure.status());
            }
        }
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        self.file().map_or(Ok(()), |path| output::write(path, &self.json()))
    }

    fn file(&self) -> Option<&'a Path> {
        self.args.json.as_deref().filter(|path| !output::is_standard(path))
    }

    fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }

    fn finish(self) -> Result<(), Failure> {
        let to_stdout = self.args.json.is_some() && self.file().is_none();
        self.lab.messages.pause(|| match to_stdout {
            true => output::print(&self.json()),
            false if self.args.study.quiet || self.found.is_empty() => Ok(()),
            false => output::print(&visible(&self.found.text())),
        })?;
        study::end(self.found.wrong(), self.failed)
    }
}
