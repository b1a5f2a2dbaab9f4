//! `lab paper`: repeats the measurements of a paper with blockmul. The result is a folder with
//! `report.md`, `report.json` and the figures. The modules `polok`, `parger`, `garland`,
//! `evtushenko` and `shi` repeat one paper each. `models` generates matrices in place of the
//! papers' matrices, `written` writes the generated matrices to files, and `peers` reads the times
//! of other libraries.
mod evtushenko;
mod garland;
mod models;
mod parger;
mod peers;
mod polok;
mod report;
mod shi;
mod written;

use crate::regret::methods::{Contest, Variant, Wanted};
use crate::study::{self, Lab, StudyArgs};
use blockmul::{Bsr, Cbc, Csc, Csr, Device, Error, Matrix, Method, Result, device::DeviceKind, element::ElementType};
use blockmul_cli::bench::{matrices::Input, record::median};
use blockmul_cli::failure::Failure;
use blockmul_cli::messages::{Tone, tell};
use blockmul_cli::places::Places;
use peers::Peers;
use report::Report;
use shi::Square;
use std::path::{Path, PathBuf};

/// Repeat the measurements of a paper, and write a report with figures into a folder.
///
/// Files are measured or, if there are none, matrices that are generated in place of the paper's.
/// Elements are f64, or those of the paper.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lab paper polok -o polok                               the folder has report.md, report.json and figures
  lab paper evtushenko -o evtushenko                     formats of A·x against one thread
  lab paper shi -o shi                                   A·D: groups of rows beside rows
  lab paper parger *.mtx.gz --peers target/peers/records/*.json -o parger
  lab paper parger --write-models -o models              the generated matrices, for other libraries

Files are those that `blockmul multiply` reads; garland takes meshes too. benches/lab/papers.md says where the
measurements differ from the papers'. If one input fails, the others are still measured.
Exit status: 0 done; 1 a result differs from the reference; 2 wrong usage, an input that cannot be read, or
nothing to measure; 3 no such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    /// The paper.
    #[arg(value_enum)]
    paper: Paper,
    #[command(flatten)]
    study: StudyArgs,
    /// The folder of the report, which is created: report.md, report.json, pictures.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Multiply rows (CSR, BSR), as most other libraries do, instead of columns: A and B are
    /// row-major.
    #[arg(long)]
    by_rows: bool,
    /// With inputs, also measure the models, which are generated in place of the paper's matrices;
    /// with --squares, also the models of shi.
    #[arg(long)]
    models: bool,
    /// Measure nothing, but write the models of the paper's matrices into the folder, as NAME.bsr,
    /// for the programs of benches/peers.
    #[arg(long, conflicts_with_all = ["inputs", "models", "peers", "squares"])]
    write_models: bool,
    /// Times of other libraries beside those of the paper: files that benches/peers/run-cpu and
    /// run-gpu keep in FOLDER/records. They are matched by the names of matrices.
    #[arg(long, value_name = "FILE.json,...", value_delimiter = ',', num_args = 1..)]
    peers: Vec<PathBuf>,
    /// The random squares of shi, in place of its own squares and models. N:S is a matrix of N rows
    /// and columns in which the fraction S of the elements is zero.
    #[arg(long, value_name = "N:S,...", value_delimiter = ',', num_args = 1..)]
    squares: Vec<Square>,
    /// The matrices of parger with these names, such as cage13 or power-law:1e6, instead of all of
    /// them. Files have names too: g for g.mtx.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', num_args = 1..)]
    only: Vec<String>,
}

/// A paper whose measurements can be repeated.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Paper {
    /// Polok, Ila, Smrz: Fast Sparse Matrix Multiplication on GPU, 2015.
    Polok,
    /// Parger, Winter, Mlakar, Steinberger: spECK, 2020.
    Parger,
    /// Garland: Sparse Matrix Computations on Manycore GPU's, 2008.
    Garland,
    /// Evtushenko: Sparse Matrix-Vector Multiplication with CUDA, 2019.
    Evtushenko,
    /// Shi, Wang, Chu: Efficient Sparse-Dense Matrix-Matrix Multiplication on GPUs, 2020.
    Shi,
}

/// Exit status if the inputs contain nothing that the paper measures.
const NOTHING: u8 = 2;

/// The settings of a paper's measurements.
struct Setting<'a> {
    args: &'a Args,
    lab: &'a Lab,
    device: &'a Device,
    folder: &'a Path,
    /// Maximum number of products of entries of a generated product. For products with vectors, the
    /// maximum number of entries.
    most: u64,
    peers: Peers,
}

/// A function that writes the report of a paper's measurements, and one that writes its models.
type Study = fn(&Setting<'_>, &mut Report) -> std::result::Result<(), Failure>;
type Write = fn(&Setting<'_>) -> std::result::Result<(), Failure>;

/// Measures the paper and writes the folder.
pub fn run(args: &Args) -> std::result::Result<(), Failure> {
    let (paper, folder) = (args.paper, args.output.as_path());
    if paper != Paper::Shi && !args.squares.is_empty() {
        return Err(Failure::Usage("--squares is for shi".into()));
    }
    if paper != Paper::Parger && !args.only.is_empty() {
        return Err(Failure::Usage("--only is for parger".into()));
    }
    Places::default().reads(args.study.inputs.iter().filter_map(Input::file).chain(&args.peers)).check()?;
    let lab = &args.study.lab(ElementType::F64)?;
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::Usage(format!("{} is no folder, in which a report could be written", folder.display())));
    }
    let peers = Peers::read(&args.peers)?;
    std::fs::create_dir_all(folder).map_err(|error| Failure::Output(folder.display().to_string(), error))?;
    lab.begin();
    let most = if paper == Paper::Evtushenko { lab.most_elements() } else { lab.most() };
    let setting = Setting { args, lab, device: &lab.device, folder, most, peers };
    let (measure, write): (Study, Write) = match paper {
        Paper::Polok => (polok::study, written::polok),
        Paper::Parger => (parger::study, written::parger),
        Paper::Garland => (garland::study, written::garland),
        Paper::Evtushenko => (evtushenko::study, written::evtushenko),
        Paper::Shi => (shi::study, written::shi),
    };
    if args.write_models {
        return write(&setting);
    }
    let mut report = Report::new(&setting);
    measure(&setting, &mut report)?;
    if report.measured == 0 {
        let kept = if report::is_in(folder) { "it keeps the report it has" } else { "no report is written" };
        let text = format!("{}: nothing was measured, {kept}", folder.display());
        lab.messages.pause(|| tell(Tone::Error, &text));
        return Err(Failure::Reported(report.failed.unwrap_or(NOTHING)));
    }
    report.write(folder)?;
    lab.messages.say(&format!("{}: the report", folder.join("report.md").display()));
    study::end(report.wrong, report.failed)
}

/// A matrix of columns that can be converted to rows.
trait ByRows: Matrix {
    type Rows: Matrix;
    fn by_rows(&self) -> Result<Self::Rows>;
}

impl ByRows for Csc<f64> {
    type Rows = Csr<f64>;
    fn by_rows(&self) -> Result<Csr<f64>> {
        self.try_transpose().map(Csr::from_transpose)
    }
}

impl ByRows for Cbc<f64> {
    type Rows = Bsr<f64>;
    fn by_rows(&self) -> Result<Bsr<f64>> {
        self.try_transpose().map(Bsr::from_transpose)
    }
}

impl Setting<'_> {
    /// Whether the models are measured: without files, or if `--models` is given.
    fn with_models(&self) -> bool {
        self.args.study.inputs.is_empty() || self.args.models
    }

    /// The method of ESC for this kind of device.
    fn esc(&self) -> Method {
        if self.device.info().kind == DeviceKind::Cpu { Method::Esc } else { Method::EscLocal }
    }

    /// Times a product, of columns or of rows. Returns `None` if the product fails, and reports the
    /// error.
    fn contest<M: ByRows>(
        &self,
        report: &mut Report,
        names: [&str; 2],
        a: &M,
        b: Option<&M>,
        variants: &[Variant],
    ) -> Option<Contest> {
        let wanted = Wanted { variants, only_fast: false, explained: false };
        let of_rows = || {
            let (a, b) = (a.by_rows()?, b.map(M::by_rows).transpose()?);
            Contest::of(self.lab, names, &a, b.as_ref(), wanted)
        };
        let contest = if self.args.by_rows { of_rows() } else { Contest::of(self.lab, names, a, b, wanted) };
        let contest = self.kept(report, names[0], contest)?;
        report.wrong += contest.wrong();
        Some(contest)
    }

    /// Returns what was made, or reports the error and returns `None`.
    fn made<R>(&self, report: &mut Report, name: &str, made: Result<R>) -> Option<R> {
        made.map_err(|error| self.note(report, name, error)).ok()
    }

    /// Counts and returns a measurement, or reports the error and returns `None`.
    fn kept<R>(&self, report: &mut Report, name: &str, measured: Result<R>) -> Option<R> {
        let measured = self.made(report, name, measured)?;
        report.measured += 1;
        self.lab.messages.passed(|| format!("{name}: measured"));
        Some(measured)
    }

    /// The median of the milliseconds that `run` returns in each round, or `None` if the result of
    /// the product was wrong.
    fn median(&self, verified: bool, mut run: impl FnMut() -> Result<f64>) -> Result<Option<f64>> {
        if !verified {
            return Ok(None);
        }
        run()?;
        let progress = self.lab.progress("measuring");
        Ok(median(&self.lab.patience.rounds(&progress, &mut run)?))
    }

    /// Reports that `what` could not be measured. The study continues.
    fn note(&self, report: &mut Report, what: &str, error: Error) {
        let failure = Failure::from(error);
        self.lab.note(what, &failure);
        report.failed.get_or_insert(failure.status());
    }
}

/// A vector of numbers from -1 to 1.
pub fn of_type<T: blockmul::Element>(n: usize) -> Vec<T> {
    blockmul_cli::bench::apply::vector(T::TYPE, n).get().expect("numbers of the type").to_vec()
}
