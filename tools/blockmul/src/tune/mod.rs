//! `blockmul tune`: times the methods of products on a device, fits their costs, and writes them
//! into the tuning file. `families` has the products, `measure` the timing, `fit` the samples,
//! `outcome` the fitted costs and the table. `dense` finds the numbers of products with dense
//! matrices.
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
    device::DeviceKind,
    element::ElementType,
    extra::tuning::{self, MethodCost, MethodCosts},
};
pub use fit::{ByMethod, besides_costs_ms, cost_name, samples};
use measure::Time;
use outcome::Outcome;
use std::{
    num::NonZero,
    path::{Path, PathBuf},
};

/// Fit the costs by which products of scalars choose their methods to a device.
///
/// Matrices of several families are generated in growing sizes, multiplied by every method, and
/// compared bit for bit. Costs are fitted to two thirds of the products and checked on the other
/// third, on which the choice is timed, too. A method keeps its present costs unless the new costs
/// predict that third better. Costs are written into the tuning file for the device's name;
/// everything else in the file stays. No costs change a result. --dense finds the numbers of
/// products with dense matrices.
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
    /// Instead of costs, find the numbers of products with dense matrices: the lines of a group,
    /// the entries staged at once, the reuse from which groups pay, and the lanes of a line. Each
    /// number is timed on three matrices, and every result is compared with the reference.
    #[arg(long, conflicts_with = "seconds")]
    dense: bool,
    /// About how many entries each of these matrices has [default: 2^20 on CPUs, 2^23 on other
    /// devices].
    #[arg(long, value_name = "N", requires = "dense", value_parser = some)]
    entries: Option<NonZero<u32>>,
    /// About how long to measure; the smallest product of each family is always measured.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = crate::numbers::from_zero)]
    seconds: f64,
    /// The tuning file to write, instead of the user's; if it exists, everything else in it stays.
    /// If FILE is -, the user's file with the new costs goes to stdout.
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
    let file = place.as_ref().and_then(|place| place.file.as_deref());
    if file.is_some_and(|file| tuning::user_file().is_some_and(|user| same(file, &user))) {
        tuning::allow_missing_user_file();
    }
    let device = target::select(args.device.as_deref())?;
    // An unusable place is refused before measuring.
    file.map_or(Ok(()), check_writable)?;
    place.as_ref().map(|place| place.merged(&device, &Found::Numbers(Vec::new()))).transpose()?;
    let messages = Messages::new(args.quiet);
    messages.show_compiling(&device);
    let element = if device.info().fp64 { ElementType::F64 } else { ElementType::F32 };
    messages.say(&format!("device: {} ({})", device.info().name, device.info().platform));
    let Tuned { mut json, table, warnings, found } = match args.dense {
        true => dense::tuned(element, &device, args.entries.map(|entries| entries.get() as usize), &messages)?,
        false => costs(element, args.seconds, &device, &messages)?,
    };
    warnings.iter().for_each(|warning| messages.warn(warning));
    if let Some(place) = &place {
        place.write(&place.merged(&device, &found)?)?;
    }
    json["file"] = file.map(|file| file.display().to_string()).into();
    match (args.json, args.quiet) {
        (true, _) => messages.pause(|| output::print(&serde_json::to_string_pretty(&json).expect("plain data")))?,
        (false, true) => {}
        (false, false) if place.is_some() && file.is_none() => messages.say_lines(&table),
        (false, false) => messages.pause(|| output::print_beside(file.is_some(), &table))?,
    }
    if let Some(file) = file {
        let what = if args.dense { "numbers" } else { "costs" };
        messages.say(&format!("{}: the {what} are written for \"{}\"", file.display(), device.info().name));
    }
    Ok(())
}

/// The measurements as JSON and as text, and the findings for the tuning file.
struct Tuned {
    json: serde_json::Value,
    table: String,
    warnings: Vec<String>,
    found: Found,
}

/// The findings that are written into the tuning file.
enum Found {
    Costs(Vec<(&'static str, MethodCost)>),
    Numbers(Vec<(&'static str, usize)>),
}

/// Measures products and fits costs.
fn costs(element: ElementType, seconds: f64, device: &Device, messages: &Messages) -> Result<Tuned, Failure> {
    let info = device.info();
    // The methods that have costs on this kind of device. ESC is represented by the variant that
    // the device uses.
    let method = |name: &str| match name.parse()? {
        Method::Esc if info.kind != DeviceKind::Cpu => Ok(Method::EscLocal),
        method => Ok(method),
    };
    let names = MethodCosts::of_kind(info.kind);
    let methods = names.iter().map(|(name, _)| method(name)).collect::<blockmul::Result<Vec<_>>>()?;
    let progress = messages.measured(format!("timing products of {element} on {}", info.name), Unit::Time);
    let mut time = Time::new(seconds, progress);
    let cases = measure::measure(element, device, &methods, &mut time)?;
    let mut outcome = Outcome::new(device, element.name(), seconds, cases)?;
    outcome.choices = measure::choices(element, device, &methods, outcome.table, &outcome.cases, &mut time)?;
    Ok(Tuned {
        json: serde_json::to_value(&outcome).expect("plain data"),
        table: outcome.table(),
        warnings: outcome.warnings(),
        found: Found::Costs(outcome.costs()),
    })
}

/// The place where the findings are written.
struct Place {
    /// The path of a tuning file, which need not exist; `None` means stdout.
    file: Option<PathBuf>,
    /// The present text of the file. If the output goes to stdout, this is the text of the user's
    /// file.
    text: String,
}

impl Place {
    /// Returns the place that `-o` names, else the user's file.
    fn new(output: Option<&Path>) -> Result<Self, Failure> {
        let to_stdout = output.is_some_and(output::is_standard);
        let file = output.filter(|_| !to_stdout).map(Path::to_owned).or_else(tuning::user_file);
        if file.is_none() && !to_stdout {
            let text = "there is no tuning file to write, BLOCKMUL_TUNING is off: -o FILE or --dry-run";
            return Err(Failure::Usage(text.into()));
        }
        let text = file.as_deref().map_or(Ok(String::new()), read)?;
        Ok(Self { file: file.filter(|_| !to_stdout), text })
    }

    /// Returns the text of the file, with the findings for the device added.
    fn merged(&self, device: &Device, found: &Found) -> Result<String, Failure> {
        let info = device.info();
        let merged = match found {
            Found::Costs(costs) => tuning::merged_costs(&self.text, info.kind, &info.name, costs),
            Found::Numbers(numbers) => tuning::merged_numbers(&self.text, info.kind, &info.name, numbers),
        };
        let name = self.file.as_ref().map_or("the user's tuning file".into(), |path| path.display().to_string());
        merged.map_err(|error| Error::Argument(format!("{name}: {error}")).into())
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        let Some(path) = &self.file else { return output::print(text) };
        // The folder of the user's file is created with the file.
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| Failure::Output(folder.display().to_string(), error))?;
        }
        output::write(path, text)
    }
}

/// The text of a tuning file; empty if there is no such file.
fn read(path: &Path) -> Result<String, Failure> {
    match tuning::read_text(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Error::Argument(format!("{}: {error}", path.display())).into()),
    }
}
