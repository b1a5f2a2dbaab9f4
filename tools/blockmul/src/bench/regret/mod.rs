//! `bench --regret`: whether the choice of methods is right. `contest` times the choice beside
//! every method, `classes` does so for each class of columns, `cliffs` at the thresholds of the
//! choice; `validation` fits costs to some families and judges them by others. `table` has the
//! output. `formats` does the same for the formats of A·x.
mod classes;
mod cliffs;
pub mod families;
mod formats;
mod summary;
mod sweeps;
mod table;
mod validation;

use super::contest::{Contest, Variant, Wanted};
use super::matrices::{Input, Source};
use super::measure::Bench;
use super::operation::Operation;
use super::results::Host;
use super::{Args, NumberName};
use crate::failure::Failure;
use crate::messages::{Tone, tell, visible};
use crate::output;
use crate::patterns::Factors;
use crate::report::command_line;
use blockmul::{Csc, Device, element::Field};
use classes::Classes;
use cliffs::Cliff;
use families::FAMILIES;
use serde::Serialize;
use std::path::Path;
use summary::Summary;
use validation::Validation;

/// Number of the schema, increased by changes that a reader must know.
const SCHEMA: &str = "blockmul-regret/1";

/// Products of the smallest matrix of a family, and by how much the next ones grow.
const SMALLEST: u64 = 10_000;
const GROWTH: u64 = 10;

/// What has been measured so far.
#[derive(Serialize)]
struct Study {
    schema: &'static str,
    command: String,
    host: Host,
    device: String,
    platform: String,
    driver: String,
    element: &'static str,
    max_products: u64,
    summary: Option<Summary>,
    validation: Option<Validation>,
    products: Vec<Contest>,
    classes: Vec<Classes>,
    cliffs: Vec<Cliff>,
    #[serde(skip)]
    failures: Vec<Failure>,
}

/// Measures with the element type that is asked for.
pub fn run(args: &Args, bench: &Bench<'_>) -> Result<(), Failure> {
    let [place] = &bench.devices[..] else {
        return Err(Failure::Usage("--regret takes one --device".into()));
    };
    bench.messages.show_compiling(&place.device);
    let of_formats = match args.operation[..] {
        [Operation::Apply] => true,
        [Operation::Product] if args.block.is_empty() && args.together.is_none() => false,
        [Operation::Product] => {
            let option = if args.block.is_empty() { "--together" } else { "--block" };
            return Err(Failure::Usage(format!("{option} with --regret is for --operation apply")));
        }
        _ => return Err(Failure::Usage("--regret takes one --operation, product or apply".into())),
    };
    if of_formats && !args.study.sweeps.is_empty() {
        return Err(Failure::Usage("--sweeps is for --operation product".into()));
    }
    match (of_formats, &args.element[..]) {
        (true, [NumberName::F64]) => formats::measured::<f64>(args, bench, &place.device),
        (true, [NumberName::F32]) => formats::measured::<f32>(args, bench, &place.device),
        (false, [NumberName::F64]) => measured::<f64>(args, bench, &place.device),
        (false, [NumberName::F32]) => measured::<f32>(args, bench, &place.device),
        _ => Err(Failure::Usage("--regret takes one element type, f64 or f32".into())),
    }
}

fn measured<T: Field>(args: &Args, bench: &Bench<'_>, device: &Device) -> Result<(), Failure> {
    let (most, info) = (args.study.most(device), device.info());
    let wanted = match (&args.study.sweeps[..], args.inputs.is_empty()) {
        ([], false) => Vec::new(),
        (words, _) => sweeps::named(sweeps::sweeps(&info.numbers(), most), words)?,
    };
    bench.messages.say(&format!("device: {} ({})", info.name, info.platform));
    let mut study = Study {
        schema: SCHEMA,
        command: command_line(),
        host: Host::this(),
        device: info.name.clone(),
        platform: info.platform.clone(),
        driver: info.driver.clone(),
        element: T::NAME,
        max_products: most,
        summary: None,
        validation: None,
        products: Vec::new(),
        classes: Vec::new(),
        cliffs: Vec::new(),
        failures: Vec::new(),
    };
    let json = args.json.as_deref().filter(|path| !output::is_standard(path));
    for input in &args.inputs {
        let factors = of_input::<T>(input, bench);
        let name = input.matrix_name();
        study.product(bench, device, [&name, &name], factors)?;
        study.write(json)?;
    }
    let sizes =
        std::iter::successors(Some(SMALLEST.min(most)), |size| Some(size * GROWTH).filter(|size| *size <= most));
    for size in sizes.filter(|_| args.inputs.is_empty()) {
        for family in &FAMILIES {
            let name = format!("{}:{:.0e}", family.name, size as f64);
            bench.messages.step(format!("{name}: making operands"));
            let factors = (family.make)(size as usize).map(cast::<T>).map_err(Failure::from);
            study.product(bench, device, [&name, family.name], factors)?;
            study.write(json)?;
        }
    }
    for sweep in wanted {
        match sweep.run::<T>(bench, device, most) {
            Ok(cliff) => {
                bench.messages.passed(|| format!("{}: {} points", cliff.what, cliff.points.len()));
                study.cliffs.push(cliff);
            }
            Err(error) => study.note(bench, "a sweep", error.into()),
        }
        study.write(json)?;
    }
    study.validation = Validation::of(&study.products, info)?;
    study.write(json)?;
    study.finish(args, bench)
}

/// A, and B if the product is not A·A.
type Operands<T> = (Csc<T>, Option<Csc<T>>);

fn cast<T: Field>((a, b): Factors) -> Operands<T> {
    (a.cast(), b.map(|b| b.cast()))
}

/// The operands of a file, or of a family with its sizes, as scalars.
fn of_input<T: Field>(input: &Input, bench: &Bench<'_>) -> Result<Operands<T>, Failure> {
    Ok(Source::open(input, None, bench)?.scalars()?)
}

impl Study {
    /// Measures a product and its classes. What fails is reported, and the others continue.
    fn product<T: Field>(
        &mut self,
        bench: &Bench<'_>,
        device: &Device,
        [name, family]: [&str; 2],
        factors: Result<Operands<T>, Failure>,
    ) -> Result<(), Failure> {
        let contest = factors.and_then(|(a, b)| {
            let of = (&a, b.as_ref());
            let wanted = Wanted { variants: &Variant::all(), only_fast: true, explained: true };
            let contest = Contest::of(bench, device, [name, family], of, wanted)?;
            let classes = Classes::of(bench, device, (&a, b.as_ref().unwrap_or(&a)), &contest)?;
            Ok((contest, classes))
        });
        match contest {
            Ok((contest, classes)) => {
                bench.messages.passed(|| contest.line());
                self.products.push(contest);
                self.classes.extend(classes);
            }
            Err(failure) => self.note(bench, name, failure),
        }
        self.summary = Summary::of(&self.products);
        Ok(())
    }

    fn note(&mut self, bench: &Bench<'_>, what: &str, failure: Failure) {
        bench.messages.pause(|| tell(Tone::Error, &failure.of(what)));
        self.failures.push(failure);
    }

    /// Writes the file after every product, because a study may take long.
    fn write(&self, json: Option<&Path>) -> Result<(), Failure> {
        json.map_or(Ok(()), |path| output::write(path, &self.json()))
    }

    fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }

    /// Results that differ from the reference.
    fn wrong(&self) -> usize {
        let of_classes = self.classes.iter().flat_map(|of| &of.classes).map(|of| of.contest.wrong());
        let of_cliffs =
            self.cliffs.iter().map(|cliff| cliff.wrong + cliff.sides.iter().map(Contest::wrong).sum::<usize>());
        self.products.iter().map(Contest::wrong).chain(of_classes).chain(of_cliffs).sum()
    }

    fn finish(self, args: &Args, bench: &Bench<'_>) -> Result<(), Failure> {
        let to_stdout = args.json.as_deref().is_some_and(output::is_standard);
        bench.messages.pause(|| match to_stdout {
            true => output::print(&self.json()),
            false if args.quiet || self.products.is_empty() => Ok(()),
            false => output::print(&visible(&table::text(&self))),
        })?;
        match (self.wrong(), self.failures.first()) {
            (0, None) => Ok(()),
            (0, Some(first)) => Err(Failure::Reported(first.status())),
            (wrong, _) => Err(Failure::Verification(format!(
                "{wrong} results are not the reference's bit for bit; they were not timed"
            ))),
        }
    }
}
