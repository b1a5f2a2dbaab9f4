//! `blockmul tune`: times the methods of products on a device, fits their costs, and writes them
//! into the tuning file. `families` has the products, `measure` the timing, `fit` what costs are
//! fitted to, `outcome` the fits and the table. `dense` has the same for the numbers of products
//! with dense matrices.
mod dense;
pub mod families;
mod fit;
mod measure;
mod outcome;

use crate::failure::Failure;
use crate::messages::{Messages, Unit};
use crate::numbers::some;
use crate::output;
use crate::places::{Places, check_writable, same};
use crate::target;
use blockmul::{
    Device, Error, Method,
    device::{DeviceInfo, DeviceKind},
    element::ElementType,
    tuning::{self, MethodCost, MethodCosts},
};
pub use fit::{ByMethod, Fit, besides_costs_ms, cost_name};
use measure::Time;
use std::{
    num::NonZero,
    path::{Path, PathBuf},
};

/// Fit the costs by which products of scalars choose their methods to a device.
///
/// Matrices of several families are generated in growing sizes, multiplied by every method, and
/// compared bit for bit. Costs are fitted to two thirds of the times and checked by the rest, on
/// which the choice is timed too. A method keeps its present costs unless the new ones predict
/// these better. Costs are written into the tuning file for the device's name; what else the file
/// has stays. No costs change a result. --dense finds the numbers of products with dense matrices.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul tune                                 two minutes on the best device; writes the user's tuning file
  blockmul tune --device gpu --seconds 30 -o gpu.json     then: BLOCKMUL_TUNING=gpu.json blockmul multiply ...
  blockmul tune --dry-run --json > times.json   every time and the fit, for programs; writes no tuning file
  blockmul tune --dense                         sizes of groups, staged entries and more of products with dense matrices
  blockmul multiply A.mtx --explain             shows what is predicted by the costs, and what is measured

The user's tuning file is blockmul/tuning.json in the configuration folder, or the one that BLOCKMUL_TUNING
names. Kernels are compiled at first use, which takes longer than --seconds and is not counted.
Exit status: 0 done; 1 two results differ in a bit; 2 wrong usage, or a tuning file that cannot be read; 3 no
such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    /// auto (a GPU, else a CPU), gpu, cpu, an index or part of a name from `blockmul devices`
    /// [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Instead of costs, find the numbers by which products with dense matrices are shared out:
    /// lines of a group and entries staged at once, the reuse from which groups pay, and the lanes
    /// of a line. Each is timed on three matrices, and every result is compared with the reference.
    #[arg(long, conflicts_with = "seconds")]
    dense: bool,
    /// Entries of each of these matrices, about [default: 2^20 on CPUs, 2^23 on other devices].
    #[arg(long, value_name = "N", requires = "dense", value_parser = some)]
    entries: Option<NonZero<u32>>,
    /// Time to measure, about; the smallest product of each family is always measured.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = crate::numbers::from_zero)]
    seconds: f64,
    /// The tuning file to write, instead of the user's; if it exists, what else it has stays. - for
    /// the user's file with the new costs on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write no tuning file.
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// Print every time, the fit and the choices as one JSON object instead of the table.
    #[arg(long)]
    json: bool,
    /// Print neither messages nor the table.
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.json && args.output.as_deref().is_some_and(output::is_standard) {
        return Err(Failure::Usage("-o - and --json cannot both have stdout".into()));
    }
    Places::default().json(&args.output).check()?;
    let place = if args.dry_run { None } else { Some(Place::new(args.output.as_deref())?) };
    if place.as_ref().is_some_and(Place::is_user_file) {
        tuning::allow_missing_user_file();
    }
    let device = target::select(args.device.as_deref())?;
    // Refused now, not when all is measured.
    place.as_ref().and_then(Place::file).map_or(Ok(()), check_writable)?;
    place.as_ref().map(|place| place.merged(&device, &Found::Numbers(Vec::new()))).transpose()?;
    let messages = Messages::new(args.quiet);
    messages.show_compiling(&device);
    let outcome = match device.info().fp64 {
        true => Outcome::of(ElementType::F64, args, &device, &messages)?,
        false => Outcome::of(ElementType::F32, args, &device, &messages)?,
    };
    outcome.warnings().iter().for_each(|warning| messages.warn(warning));
    let found = outcome.found();
    let merged = place.as_ref().map(|place| place.merged(&device, &found)).transpose()?;
    if let (Some(place), Some(text)) = (&place, &merged) {
        place.write(text)?;
    }
    let file = place.as_ref().and_then(Place::file);
    let to_stdout = place.is_some() && file.is_none();
    match (args.json, args.quiet) {
        (true, _) => messages.pause(|| output::print(&outcome.json(file)))?,
        (false, true) => {}
        (false, false) if to_stdout => messages.say_lines(&outcome.table()),
        (false, false) => messages.pause(|| output::print_beside(file.is_some(), &outcome.table()))?,
    }
    if let Some(file) = file {
        let what = if args.dense { "numbers" } else { "costs" };
        messages.say(&format!("{}: the {what} are written for \"{}\"", file.display(), device.info().name));
    }
    Ok(())
}

/// What was measured.
enum Outcome {
    Costs(Box<outcome::Outcome>),
    Dense(dense::Outcome),
}

/// What is written into the tuning file.
enum Found {
    Costs(Vec<(&'static str, MethodCost)>),
    Numbers(Vec<(&'static str, usize)>),
}

impl Outcome {
    fn of(element: ElementType, args: &Args, device: &Device, messages: &Messages) -> Result<Self, Failure> {
        match args.dense {
            true => {
                let entries = args.entries.map(|entries| entries.get() as usize);
                dense::tuned(element, device, entries, messages).map(Self::Dense)
            }
            false => tuned(element, args, device, messages).map(|costs| Self::Costs(Box::new(costs))),
        }
    }

    fn found(&self) -> Found {
        match self {
            Self::Costs(costs) => Found::Costs(costs.costs()),
            Self::Dense(dense) => Found::Numbers(dense.numbers()),
        }
    }

    fn warnings(&self) -> Vec<String> {
        match self {
            Self::Costs(costs) => costs.warnings(),
            Self::Dense(_) => Vec::new(),
        }
    }

    fn table(&self) -> String {
        match self {
            Self::Costs(costs) => costs.table(),
            Self::Dense(dense) => dense.table(),
        }
    }

    /// The whole as JSON; `file` is where what was found is written.
    fn json(&self, file: Option<&Path>) -> String {
        let all = match self {
            Self::Costs(costs) => serde_json::to_value(costs),
            Self::Dense(dense) => serde_json::to_value(dense),
        };
        let mut all = all.expect("plain data");
        all["file"] = file.map_or(serde_json::Value::Null, |file| file.display().to_string().into());
        serde_json::to_string_pretty(&all).expect("plain data")
    }
}

/// Measures and fits.
fn tuned(element: ElementType, args: &Args, device: &Device, messages: &Messages) -> Result<outcome::Outcome, Failure> {
    let info = device.info();
    messages.say(&format!("device: {} ({})", info.name, info.platform));
    let methods = methods(info)?;
    let progress = messages.measured(format!("timing products of {element} on {}", info.name), Unit::Time);
    let mut time = Time::new(args.seconds, progress);
    let cases = measure::measure(element, device, &methods, &mut time)?;
    let mut outcome = outcome::Outcome::new(device, element.name(), args.seconds, cases)?;
    outcome.choices = measure::choices(element, device, &methods, outcome.table, &outcome.cases, &mut time)?;
    Ok(outcome)
}

/// The methods that have costs on this kind of device; of ESC the variant for it.
fn methods(info: &DeviceInfo) -> Result<Vec<Method>, Error> {
    let method = |name: &str| match name.parse()? {
        Method::Esc if info.kind != DeviceKind::Cpu => Ok(Method::EscLocal),
        method => Ok(method),
    };
    MethodCosts::of_kind(info.kind).iter().map(|(name, _)| method(name)).collect()
}

/// Where what was found is written.
enum Place {
    /// A tuning file, which need not exist.
    File { path: PathBuf, text: String },
    /// Stdout, with the rest of the user's file.
    Stdout { text: String },
}

impl Place {
    /// The place of `-o`, else the user's file.
    fn new(output: Option<&Path>) -> Result<Self, Failure> {
        match output {
            Some(path) if output::is_standard(path) => {
                Ok(Self::Stdout { text: tuning::user_file().map_or(Ok(String::new()), |path| read(&path))? })
            }
            Some(path) => Ok(Self::File { text: read(path)?, path: path.to_owned() }),
            None => {
                let path = tuning::user_file().ok_or_else(|| {
                    Failure::Usage(
                        "there is no tuning file to write, BLOCKMUL_TUNING is off: -o FILE or --dry-run".into(),
                    )
                })?;
                Ok(Self::File { text: read(&path)?, path })
            }
        }
    }

    /// The text of the file with what was found for the device.
    fn merged(&self, device: &Device, found: &Found) -> Result<String, Failure> {
        let (name, text) = match self {
            Self::File { path, text } => (path.display().to_string(), text),
            Self::Stdout { text } => ("the user's tuning file".into(), text),
        };
        let info = device.info();
        let merged = match found {
            Found::Costs(costs) => tuning::merged_costs(text, info.kind, &info.name, costs),
            Found::Numbers(numbers) => tuning::merged_numbers(text, info.kind, &info.name, numbers),
        };
        merged.map_err(|error| Error::Argument(format!("{name}: {error}")).into())
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        let Self::File { path, .. } = self else { return output::print(text) };
        // The folder of the user's file is made with its first file.
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| Failure::Output(folder.display().to_string(), error))?;
        }
        output::write(path, text)
    }

    fn is_user_file(&self) -> bool {
        self.file().is_some_and(|file| tuning::user_file().is_some_and(|user| same(file, &user)))
    }

    fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Stdout { .. } => None,
        }
    }
}

/// The text of a tuning file; empty if there is none.
fn read(path: &Path) -> Result<String, Failure> {
    match tuning::read_text(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Error::Argument(format!("{}: {error}", path.display())).into()),
    }
}
