//! `bench --paper`: the measurements of a paper again, with this implementation. A study is a
//! folder: `report.md`, `report.json` and the figures. `polok`, `parger`, `garland`, `evtushenko`
//! and `shi` have the papers, `models` the matrices that stand for theirs, which `written` makes
//! files of, `peers` the times of other libraries.
mod evtushenko;
mod garland;
mod models;
mod parger;
mod peers;
mod polok;
mod report;
mod shi;
mod written;

use super::contest::{Contest, Variant, Wanted};
use super::measure::Bench;
use super::{Args, NumberName};
use crate::failure::Failure;
use crate::messages::{Tone, Unit, tell};
use blockmul::{Bsr, Cbc, Csc, Csr, Device, Error, Method, Result, device::DeviceKind};
use peers::Peers;
use report::Report;
pub use shi::Square;
use std::path::Path;

/// A paper whose measurements can be repeated.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Paper {
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

/// Exit status if the inputs have nothing that the paper measures.
const NOTHING: u8 = 2;

/// The circumstances of a study.
struct Setting<'a> {
    args: &'a Args,
    bench: &'a Bench<'a>,
    device: &'a Device,
    folder: &'a Path,
    /// Most products of a generated matrix, and of a product of two different ones; of products
    /// with vectors most entries.
    most: u64,
    peers: Peers,
}

/// Measures the paper and writes the folder.
pub fn run(paper: Paper, folder: &Path, args: &Args, bench: &Bench<'_>) -> std::result::Result<(), Failure> {
    let ([place], [NumberName::F64]) = (&bench.devices[..], &args.element[..]) else {
        return Err(Failure::Usage("--paper takes one --device, and elements of f64".into()));
    };
    let (device, info) = (&place.device, place.device.info());
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::Usage(format!("{} is no folder, in which --paper could write", folder.display())));
    }
    let peers = Peers::read(&args.study.peers)?;
    std::fs::create_dir_all(folder).map_err(|error| Failure::Output(folder.display().to_string(), error))?;
    bench.messages.show_compiling(device);
    bench.messages.say(&format!("device: {} ({})", info.name, info.platform));
    let most = if paper == Paper::Evtushenko { args.study.most_elements(device) } else { args.study.most(device) };
    let setting = Setting { args, bench, device, folder, most, peers };
    if args.study.write_models {
        return match paper {
            Paper::Polok => written::polok(&setting),
            Paper::Parger => written::parger(&setting),
            Paper::Garland => written::garland(&setting),
            Paper::Evtushenko => written::evtushenko(&setting),
            Paper::Shi => written::shi(&setting),
        };
    }
    let mut report = Report::new(&setting);
    match paper {
        Paper::Polok => polok::study(&setting, &mut report)?,
        Paper::Parger => parger::study(&setting, &mut report)?,
        Paper::Garland => garland::study(&setting, &mut report)?,
        Paper::Evtushenko => evtushenko::study(&setting, &mut report)?,
        Paper::Shi => shi::study(&setting, &mut report)?,
    }
    if report.measured == 0 {
        let kept = if report::is_in(folder) { "it keeps the report it has" } else { "no report is written" };
        let text = format!("{}: nothing was measured, {kept}", folder.display());
        bench.messages.pause(|| tell(Tone::Error, &text));
        return Err(Failure::Reported(report.failed.unwrap_or(NOTHING)));
    }
    report.write(folder)?;
    bench.messages.say(&format!("{}: the report", folder.join("report.md").display()));
    match (report.wrong, report.failed) {
        (0, None) => Ok(()),
        (0, Some(status)) => Err(Failure::Reported(status)),
        (wrong, _) => Err(Failure::Verification(format!(
            "{wrong} results are not the reference's bit for bit; they were not timed"
        ))),
    }
}

impl Setting<'_> {
    /// Whether the models of the paper are measured: without files, or beside them.
    fn with_models(&self) -> bool {
        self.args.inputs.is_empty() || self.args.study.models
    }

    /// ESC as it is made for the kind of device.
    fn esc(&self) -> Method {
        if self.device.info().kind == DeviceKind::Cpu { Method::Esc } else { Method::EscLocal }
    }

    /// Times a product of scalars, of columns or of rows. `None` if it fails, which is reported.
    fn scalars(
        &self,
        report: &mut Report,
        [name, family]: [&str; 2],
        (a, b): (&Csc<f64>, Option<&Csc<f64>>),
        variants: &[Variant],
    ) -> Option<Contest> {
        let wanted = Wanted { variants, only_fast: false, explained: false };
        let by_rows = |matrix: &Csc<f64>| matrix.try_transpose().map(Csr::from_transpose);
        let of = |(): ()| -> Result<Contest> {
            let names = [name, family];
            match self.args.by_rows {
                false => Contest::of(self.bench, self.device, names, (a, b), wanted),
                true => {
                    let (a, b) = (by_rows(a)?, b.map(by_rows).transpose()?);
                    Contest::of(self.bench, self.device, names, (&a, b.as_ref()), wanted)
                }
            }
        };
        self.kept(report, name, of(()))
    }

    /// The same of a product of blocks.
    fn blocks(
        &self,
        report: &mut Report,
        name: &str,
        (a, b): (&Cbc<f64>, Option<&Cbc<f64>>),
        variants: &[Variant],
    ) -> Option<Contest> {
        let wanted = Wanted { variants, only_fast: false, explained: false };
        let by_rows = |matrix: &Cbc<f64>| matrix.try_transpose().map(Bsr::from_transpose);
        let of = |(): ()| -> Result<Contest> {
            match self.args.by_rows {
                false => Contest::of(self.bench, self.device, [name, name], (a, b), wanted),
                true => {
                    let (a, b) = (by_rows(a)?, b.map(by_rows).transpose()?);
                    Contest::of(self.bench, self.device, [name, name], (&a, b.as_ref()), wanted)
                }
            }
        };
        self.kept(report, name, of(()))
    }

    fn kept(&self, report: &mut Report, name: &str, contest: Result<Contest>) -> Option<Contest> {
        let contest = self.kept_result(report, name, contest)?;
        report.wrong += contest.wrong();
        Some(contest)
    }

    /// What was made; `None` if it failed, which is reported.
    fn made<R>(&self, report: &mut Report, name: &str, made: Result<R>) -> Option<R> {
        made.map_err(|error| self.note(report, name, error)).ok()
    }

    /// What was measured; `None` if it failed, which is reported.
    fn kept_result<R>(&self, report: &mut Report, name: &str, measured: Result<R>) -> Option<R> {
        let measured = self.made(report, name, measured)?;
        report.measured += 1;
        self.bench.messages.passed(|| format!("{name}: measured"));
        Some(measured)
    }

    /// The median of the milliseconds that `run` returns in each round; `None` for a wrong result.
    fn median(&self, verified: bool, mut run: impl FnMut() -> Result<f64>) -> Result<Option<f64>> {
        if !verified {
            return Ok(None);
        }
        run()?;
        let progress = self.bench.messages.measured("measuring", Unit::Runs);
        let mut times = self.bench.patience.rounds(&progress, &mut run)?;
        times.sort_by(f64::total_cmp);
        Ok(times.get(times.len() / 2).copied())
    }

    /// Reports that something could not be measured. The others continue.
    fn note(&self, report: &mut Report, what: &str, error: Error) {
        let failure = Failure::from(error);
        self.bench.messages.pause(|| tell(Tone::Error, &failure.of(what)));
        report.failed.get_or_insert(failure.status());
    }
}
