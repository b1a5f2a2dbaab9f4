//! A run of `blockmul bench`: operations on inputs, whose results are kept.
use super::matrices::{Input, Padded, Source};
use super::measure::Bench;
use super::operands::Operands;
use super::operation::{Operation, Takes};
use super::record::Record;
use super::results::Results;
use super::{Args, table};
use crate::algebra::{check_blocks, has_zeros};
use crate::failure::Failure;
use crate::messages::{Messages, Tone, tell, visible};
use crate::output;
use crate::table::number;
use blockmul::BlockShape;

/// The results and the failures so far.
pub struct Session<'a> {
    pub args: &'a Args,
    pub bench: &'a Bench<'a>,
    pub messages: &'a Messages,
    pub results: Results,
    /// Exit status of the first failure.
    pub status: Option<u8>,
}

impl Session<'_> {
    /// Measures an operation on every input. An input or a combination that fails is reported and
    /// the others continue. If the results cannot be written, the command ends.
    pub fn operation(&mut self, operation: Operation) -> Result<(), Failure> {
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
                let what = format!("{} in {shape} {}", source.name(shape), element);
                self.messages.step(format!("{what}: making operands"));
                let of = Operands { operation, source: &source, shape, by_rows: self.args.by_rows };
                let outcomes = of.outcomes(element, self.bench);
                match outcomes {
                    Ok(outcomes) => outcomes.into_iter().try_for_each(|outcome| self.keep_all(&what, outcome))?,
                    Err(error) => self.note(&what, &error.into()),
                }
            }
        }
        Ok(())
    }

    /// Keeps the records, or reports why there are none.
    pub fn keep_all(&mut self, what: &str, records: blockmul::Result<Vec<Record>>) -> Result<(), Failure> {
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
        self.messages.passed(|| format!("{}: {} ms", record.sizes.what(), number(record.ms, 3)));
        self.results.push(record);
        match self.args.json.as_deref().filter(|path| !output::is_standard(path)) {
            Some(path) => output::write(path, &self.results.json()),
            None => Ok(()),
        }
    }

    pub fn finish(self) -> Result<(), Failure> {
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
