//! `bench --regret --operation apply`: whether the choice of formats of A·x is right. `contest`
//! times the choice beside every format, `choice` compares it with the best, `families` has the
//! matrices, `summary` the regrets in a few numbers, `table` the output.
mod choice;
mod contest;
mod families;
mod prepared;
mod summary;
mod table;

use super::super::matrices::Input;
use super::super::{Args, matrices::Source, measure::Bench, results::Host};
use super::{GROWTH, SMALLEST};
use crate::failure::Failure;
use crate::messages::{Tone, tell, visible};
use crate::output;
use crate::report::command_line;
use crate::symmetric::{lower, mirrored};
use blockmul::{Bsr, Cbc, Device, Matrix, element::Field};
use contest::{Contest, Stored, Subject, Values, Wanted};
use families::FAMILIES;
use serde::Serialize;
use std::path::Path;
use summary::Summary;

/// Number of the schema, increased by changes that a reader must know.
const SCHEMA: &str = "blockmul-regret-of-formats/1";

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
    max_elements: u64,
    summary: Vec<Summary>,
    contests: Vec<Contest>,
    #[serde(skip)]
    failures: Vec<Failure>,
}

/// Measures on generated families, or on the inputs given.
pub fn measured<T: Field>(args: &Args, bench: &Bench<'_>, device: &Device) -> Result<(), Failure> {
    let (most, info) = (args.study.most_elements(device), device.info());
    bench.messages.say(&format!("device: {} ({})", info.name, info.platform));
    let mut study = Study {
        schema: SCHEMA,
        command: command_line(),
        host: Host::this(),
        device: info.name.clone(),
        platform: info.platform.clone(),
        driver: info.driver.clone(),
        element: T::NAME,
        max_elements: most,
        summary: Vec::new(),
        contests: Vec::new(),
        failures: Vec::new(),
    };
    let json = args.json.as_deref().filter(|path| !output::is_standard(path));
    for input in &args.inputs {
        let name = input.matrix_name();
        let a = of_input::<T>(input, args, bench);
        study.matrix(bench, device, [&name, &name], a, args.symmetric)?;
        study.write(json)?;
    }
    let sizes =
        std::iter::successors(Some(SMALLEST.min(most)), |size| Some(size * GROWTH).filter(|size| *size <= most));
    for size in sizes.filter(|_| args.inputs.is_empty()) {
        for family in FAMILIES.iter().filter(|family| family.symmetric || !args.symmetric) {
            let name = format!("{}:{:.0e}", family.name, size as f64);
            bench.messages.step(format!("{name}: making operands"));
            let a = (family.make)(size as usize).map(|a| a.cast::<T>()).map_err(Failure::from);
            study.matrix(bench, device, [&name, family.name], a, family.symmetric)?;
            study.write(json)?;
        }
    }
    study.finish(args, bench)
}

/// A file or a family with its sizes, in its own blocks or those that are asked for.
fn of_input<T: Field>(input: &Input, args: &Args, bench: &Bench<'_>) -> Result<Cbc<T>, Failure> {
    let source = Source::open(input, None, bench)?;
    let shape = args.block.first().copied().unwrap_or(source.default_block());
    Ok(source.matrix(shape)?)
}

impl Study {
    /// Measures a matrix by rows and by columns, and if it is symmetric one triangle of it. What
    /// fails is reported, and the others continue.
    fn matrix<T: Field>(
        &mut self,
        bench: &Bench<'_>,
        device: &Device,
        names: [&str; 2],
        a: Result<Cbc<T>, Failure>,
        symmetric: bool,
    ) -> Result<(), Failure> {
        let measured = a.and_then(|a| {
            let by_rows = Bsr::from_transpose(a.try_transpose()?);
            let mut wanted = Wanted::new();
            self.stored(bench, device, names, (&a, &by_rows, Stored::Rows), &mut wanted)?;
            self.stored(bench, device, names, (&a, &a, Stored::Columns), &mut wanted)?;
            if symmetric {
                let triangle = lower(&a)?;
                let whole = mirrored(&triangle)?;
                self.stored(bench, device, names, (&whole, &triangle, Stored::Triangle), &mut Wanted::new())?;
            }
            Ok(())
        });
        bench.messages.passed(|| format!("{}: {} cases", names[0], self.contests.len()));
        if let Err(failure) = measured {
            bench.messages.pause(|| tell(Tone::Error, &failure.of(names[0])));
            self.failures.push(failure);
        }
        self.summary = Summary::all(&self.contests);
        Ok(())
    }

    /// Measures what is stored of a matrix, its values where they are and packed.
    fn stored<T: Field, M: Matrix<Element = T>>(
        &mut self,
        bench: &Bench<'_>,
        device: &Device,
        [matrix, family]: [&str; 2],
        (whole, a, stored): (&Cbc<T>, &M, Stored),
        wanted: &mut Wanted<T>,
    ) -> Result<(), Failure> {
        for values in [Values::InPlace, Values::Packed] {
            let subject = Subject { matrix, family, whole, a, stored, values };
            self.contests.push(Contest::of(bench, device, &subject, wanted)?);
        }
        Ok(())
    }

    /// Writes the file after every matrix, because a study may take long.
    fn write(&self, json: Option<&Path>) -> Result<(), Failure> {
        json.map_or(Ok(()), |path| output::write(path, &self.json()))
    }

    fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }

    fn finish(self, args: &Args, bench: &Bench<'_>) -> Result<(), Failure> {
        let to_stdout = args.json.as_deref().is_some_and(output::is_standard);
        bench.messages.pause(|| match to_stdout {
            true => output::print(&self.json()),
            false if args.quiet || self.contests.is_empty() => Ok(()),
            false => output::print(&visible(&table::text(&self.contests, &self.summary))),
        })?;
        match (self.contests.iter().map(Contest::wrong).sum(), self.failures.first()) {
            (0, None) => Ok(()),
            (0, Some(first)) => Err(Failure::Reported(first.status())),
            (wrong, _) => Err(Failure::Verification(format!(
                "{wrong} results are not the reference's bit for bit; they were not timed"
            ))),
        }
    }
}
