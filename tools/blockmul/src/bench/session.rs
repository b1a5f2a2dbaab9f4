//! A run of `blockmul bench`: operations on inputs, and their results.
use super::matrices::{Input, Padded, Source};
use super::measure::Bench;
use super::operation::{Measure, Operands, Operation};
use super::record::Record;
use super::results;
use super::table;
use crate::algebra::{check_blocks, has_zeros};
use crate::failure::Failure;
use crate::messages::{Tone, tell, visible};
use crate::output;
use crate::table::number;
use blockmul::{BlockShape, Result as Outcome};

/// The results and the failures so far.
pub struct Session<'a> {
    bench: &'a Bench<'a>,
    results: Vec<Record>,
    /// Exit status of the first failure.
    status: Option<u8>,
}

impl<'a> Session<'a> {
    pub fn new(bench: &'a Bench<'a>) -> Self {
        Self { bench, results: Vec::new(), status: None }
    }

    /// Measures an operation on every input. An input or a combination that fails is reported, and
    /// the others are still measured. If the results cannot be written, the command ends.
    pub fn operation(&mut self, operation: &Operation) -> Result<(), Failure> {
        let bench = self.bench;
        let wanted = bench.args.elements.map(|elements| elements.get() as usize);
        let elements = wanted.or(bench.devices.first().and_then(|place| (operation.elements)(&place.device)));
        let inputs = match &bench.args.inputs[..] {
            [] => operation.inputs(bench.args.symmetric),
            inputs => inputs.iter().map(|input| (input.clone(), Vec::new())).collect(),
        };
        match operation.measure {
            Measure::Array(measure) => bench.devices.iter().try_for_each(|place| {
                let on = bench.on(place, operation, String::new());
                self.keep_all(operation.name, measure(&on, elements.unwrap_or_default()))
            }),
            Measure::File(measure) => {
                inputs.iter().try_for_each(|(input, _)| self.keep_all(&input.name(), measure(bench, input, elements)))
            }
            Measure::Matrix(_) | Measure::Each(_) | Measure::Graph(_) => {
                inputs.into_iter().try_for_each(|(input, blocks)| self.input(operation, &input, elements, blocks))
            }
        }
    }

    /// Measures every combination for one input.
    fn input(
        &mut self,
        operation: &Operation,
        input: &Input,
        elements: Option<usize>,
        blocks: Vec<BlockShape>,
    ) -> Result<(), Failure> {
        let bench = self.bench;
        let padded = match operation.measure {
            Measure::Graph(_) => Padded::Graph,
            _ if has_zeros(bench.args.semiring) => Padded::Kept,
            _ => Padded::LeftOut,
        };
        let source = match Source::open(input, elements, padded, &bench.args.files.reading, &bench.messages) {
            Ok(source) => source,
            Err(failure) => {
                self.note(&input.name(), &failure);
                return Ok(());
            }
        };
        let blocks = match (&bench.args.block[..], blocks.is_empty()) {
            ([], true) => vec![source.default_block()],
            ([], false) => blocks,
            (wanted, _) => wanted.to_vec(),
        };
        for shape in blocks {
            // The blocks of generated families are full, so they have no padding.
            let checked = check_blocks(bench.args.semiring, &[("--block", shape)]);
            if let (Input::File(_), Err(failure)) = (input, checked) {
                self.note(&source.name(shape), &failure);
                continue;
            }
            for &element in &bench.args.element {
                let what = format!("{} in {shape} {element}", source.name(shape));
                bench.messages.step(format!("{what}: making operands"));
                let of = Operands { bench, operation, source: &source, shape, element };
                match of.measure() {
                    Ok(outcomes) => outcomes.into_iter().try_for_each(|outcome| self.keep_all(&what, outcome))?,
                    Err(error) => self.note(&what, &error.into()),
                }
            }
        }
        Ok(())
    }

    /// Adds records to the results, or reports why there are none.
    pub fn keep_all(&mut self, what: &str, records: Outcome<Vec<Record>>) -> Result<(), Failure> {
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
        self.bench.messages.pause(|| tell(Tone::Error, &failure.of(what)));
    }

    /// The output file is written after every record, because a benchmark may take long.
    fn keep(&mut self, record: Record) -> Result<(), Failure> {
        self.bench.messages.passed(|| format!("{}: {} ms", record.what(), number(record.ms, 3)));
        self.results.push(record);
        match self.bench.args.json.as_deref().filter(|path| !output::is_standard(path)) {
            Some(path) => output::write(path, &results::json(&self.results)),
            None => Ok(()),
        }
    }

    pub fn finish(self) -> Result<(), Failure> {
        let to_stdout = self.bench.args.json.as_deref().is_some_and(output::is_standard);
        self.bench.messages.pause(|| match to_stdout {
            true => output::print(&results::json(&self.results)),
            false if self.bench.args.files.writing.quiet || self.results.is_empty() => Ok(()),
            false => {
                let text = table::text(&self.results, self.bench.args.stages);
                output::print_beside(self.bench.args.json.is_some(), &visible(&text))
            }
        })?;
        match (self.results.iter().filter(|record| !record.verified).count(), self.status) {
            (0, None) => Ok(()),
            (0, Some(status)) => Err(Failure::Reported(status)),
            (wrong, _) => Err(Failure::Verification(format!(
                "{wrong} of {} results are not the reference's bit for bit; they were not timed",
                self.results.len()
            ))),
        }
    }
}
