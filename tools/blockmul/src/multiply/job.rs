//! Computes, verifies, reports and writes the product of sparse matrices that have been read.
use super::Args;
use crate::failure::Failure;
use crate::mask::{Mask, MaskFile};
use crate::matrix_size::Size;
use crate::messages::{Messages, Unit};
use crate::mixed::{self, Grouped};
use crate::operands::Operands;
use crate::overflow::Extent;
use crate::report::{Factors, Product, Report};
use crate::target::{GroupsTask, Run, Target, Task, multiply_groups, multiply_groups_repeatedly};
use crate::{explain, input, output};
use blockmul::{
    BlockShape, Device, Semiring,
    dense::Grouping,
    groups::BlockGroups,
    io::{BlockLayout, bla},
    matrix::AnyMatrix,
    reference::{IntegerSums, verify},
};
use std::path::PathBuf;

pub(super) struct Job<'a> {
    pub args: &'a Args,
    pub target: Target,
    pub mask: Option<MaskFile>,
    pub messages: Messages,
}

/// A product that was computed.
struct Computed {
    /// The product itself, if it is written or verified.
    c: Option<AnyMatrix>,
    /// The groups of C, if blocks of several shapes were multiplied.
    groups: Option<BlockGroups<AnyMatrix>>,
    of_c: Extent,
    run: Run,
    runs_ms: Option<Vec<f64>>,
}

impl Job<'_> {
    pub fn finish(&self, operands: Operands) -> Result<(), Failure> {
        self.check_on_device()?;
        let Operands { a, b, overflow, a_shape, b_shape, layouts } = operands;
        let (semiring, element) = (self.args.semiring, a.element());
        let groups = match (layouts, self.device_of_groups()) {
            (None, _) => None,
            (Some(layouts), Ok(device)) => Some((device, Grouped::new(layouts, &a, b.as_ref())?)),
            (Some(_), Err(why)) => {
                mixed::warn(why, &self.messages);
                None
            }
        };
        let layout_place = groups.as_ref().map_or(Ok(None), |(_, groups)| self.layout_place(groups))?;
        let (a, b) = match (&groups, b) {
            (Some((_, groups)), _) => groups.scalars()?,
            // If B is A in blocks of the same shape, it is the same matrix, which is uploaded once.
            (None, None) if a_shape == b_shape => (input::cut(a, Some(a_shape))?, None),
            (None, b) => {
                let b = input::cut(b.unwrap_or_else(|| a.clone()), Some(b_shape))?;
                (input::cut(a, Some(a_shape))?, Some(b))
            }
        };
        let b = b.as_ref().unwrap_or(&a);

        let shape = a.shape().product(b.shape());
        let of_c = groups.as_ref().map_or(Some(shape), |(_, groups)| groups.layout_of_c().uniform());
        if let Some(bytes) = self.args.align.filter(|_| of_c == Some(BlockShape::SCALAR)) {
            let why = "is for blocks, and C has scalars, which lie side by side";
            return Err(Failure::Usage(format!("--align {bytes} {why}; --block cuts A into blocks")));
        }
        let size = (a.nrows() * shape.rows(), b.ncols() * shape.cols());
        let mask = self.mask.as_ref().map(|mask| mask.cut(size, shape, &self.messages)).transpose()?;
        let mask = mask.as_ref();
        let Computed { c, groups: groups_of_c, of_c, run, runs_ms } = match &groups {
            Some((device, groups)) => self.multiply_groups(device, groups)?,
            None => self.multiply((&a, b), mask)?,
        };
        // In the other algebras the value of a place may be infinite because no path leads to it.
        let overflow = match (IntegerSums::of(element, semiring), semiring) {
            (Some(sums), _) => {
                let counted = c.as_ref().filter(|_| self.args.run.verify);
                let count = || counted.and_then(|c| sums.wrapped(&a, b, c).ok());
                overflow.of_integers(of_c.named(element), sums.bound(&a, b), count, &self.messages)
            }
            (None, Semiring::PlusTimes) => overflow.of_product(&of_c, element, &self.messages),
            (None, _) => overflow,
        };
        let in_groups = groups.as_ref().zip(groups_of_c.as_ref());
        let compare = |c: &AnyMatrix| match (mask, in_groups) {
            _ if semiring != Semiring::PlusTimes => verify::verify_over(semiring, (&a, b), c, mask),
            (None, Some(((_, factors), c))) => verify::verify_groups(&factors.a, factors.b(), c),
            (Some(mask), _) => verify::verify_masked(&a, b, c, mask),
            (None, None) if element.is_integer() => verify::verify_over(semiring, (&a, b), c, mask),
            (None, None) => verify::verify_dropped(&a, b, c, self.args.threshold()),
        };
        let verified =
            c.as_ref().map(|c| self.messages.verifying(self.args.run.verify, || compare(c))).transpose()?.flatten();
        if self.args.explain {
            let explained = match (mask, &groups) {
                (Some(_), _) => explain::explain_masked(&a, b, &of_c.size, &run),
                (None, Some((_, groups))) => groups.explain(),
                (None, None) => explain::explain(&self.target, (&a, b), &of_c.size, &run),
            };
            self.messages.say_lines(&explained);
        }
        let mask = mask.map(|mask| Size::in_blocks(mask.pattern(), shape));
        let (explained, overflowed) = (self.args.explain, Some(overflow));
        let factors = match &groups {
            Some((_, groups)) => groups.factors(),
            None => Factors::of(&a, b, run.products),
        };
        let product = Product::new(factors, of_c.size, mask, run);
        let align = self.args.align;
        let product = Product { explained, semiring, align, verified, overflowed, runs_ms, ..product };
        let report = Report::of_product(&self.target, product);
        report.write(&self.args.run.report)?;
        let files = [&self.args.output, &self.args.run.report];
        output::summary(&report.of.table(report.device()), self.args.writing.quiet, files, &self.messages)?;
        match verified {
            Some(v) if !v.passed && !v.pattern_equal => {
                let why = "the result is not the product: its pattern is another; nothing is written";
                Err(Failure::Verification(why.into()))
            }
            Some(v) if !v.passed => {
                let first = |(row, col): (usize, usize)| format!(", the first at row {}, column {}", row + 1, col + 1);
                Err(Failure::Verification(format!(
                    "the result is not the product: {} of {} elements differ{}; largest error {:e} ({:e} relative); \
                     nothing is written",
                    v.wrong,
                    report.of.c.elements(),
                    v.first_wrong.map(first).unwrap_or_default(),
                    v.max_abs_error,
                    v.max_rel_error
                )))
            }
            _ => match (&self.args.output, c) {
                (Some(path), Some(c)) => {
                    let layout = groups.map(|(_, groups)| groups.layout_of_c());
                    let c = input::cut(c, layout.as_ref().and_then(BlockLayout::uniform))?;
                    output::write_matrix(path, &c, Grouping::default(), &self.messages)?;
                    match layout.zip(layout_place) {
                        Some((layout, place)) => {
                            self.messages.say(&format!("blocks of C: {}", place.display()));
                            bla::write(place, &c, &layout).map_err(output::of_output)
                        }
                        None => {
                            output::warn_of_layout(path, &self.messages);
                            Ok(())
                        }
                    }
                }
                _ => Ok(()),
            },
        }
    }

    /// Refuses options that the reference does not have.
    fn check_on_device(&self) -> Result<(), Failure> {
        let given = [("--band-columns", self.args.band_columns.is_some()), ("--align", self.args.align.is_some())];
        match given.iter().find(|(_, given)| *given && matches!(self.target, Target::Reference)) {
            Some((option, _)) => Err(Failure::Usage(format!("{option} needs an OpenCL device"))),
            None => Ok(()),
        }
    }

    /// The device that multiplies blocks of several shapes, or the reason why they are multiplied
    /// as scalars.
    fn device_of_groups(&self) -> Result<&Device, &'static str> {
        match &self.target {
            Target::Reference => Err("the reference of the command has blocks of one shape"),
            Target::Device(_) if self.args.mask.is_some() => Err("--mask is for blocks of one shape"),
            Target::Device(_) if self.args.drop.is_some() => Err("--drop is for blocks of one shape"),
            Target::Device(_) if self.args.band_columns.is_some() => Err("--band-columns is for blocks of one shape"),
            Target::Device(_) if self.args.memory_limit.is_some() => Err("--memory-limit is for blocks of one shape"),
            Target::Device(device) => Ok(device),
        }
    }

    /// The place of the layout of C's blocks, if they have several shapes and C is written to a
    /// file that can have a layout beside it.
    fn layout_place(&self, groups: &Grouped) -> Result<Option<PathBuf>, Failure> {
        let output = self.args.output.as_deref();
        let Some(output) = output.filter(|_| groups.layout_of_c().uniform().is_none()) else { return Ok(None) };
        let place = bla::place_read(output);
        if place.is_none() {
            let name = output.display();
            self.messages
                .warn(&format!("{name} does not keep blocks of several shapes; NAME.mtx has NAME.bla beside it"));
        }
        let inputs = [Some(&self.args.operands.a), self.args.operands.b.as_ref()].into_iter().flatten();
        let layouts: Vec<PathBuf> = inputs.filter_map(|input| bla::beside(input)).collect();
        self.args.places().reads(&layouts).matrices(&self.args.output).others(&place).check()?;
        match place
            .as_ref()
            .filter(|place| place.exists() && !output.exists() && !self.args.writing.overwriting.is_given())
        {
            Some(place) => {
                let (place, output) = (place.display(), output.display());
                Err(Failure::Usage(format!("{place} exists, but {output} does not: --overwrite replaces it")))
            }
            None => Ok(place),
        }
    }

    /// The product and its costs. With `--repeat`, the costs are those of the run with the median
    /// time, and the times of all runs are returned.
    fn multiply(&self, (a, b): (&AnyMatrix, &AnyMatrix), mask: Option<&Mask>) -> Result<Computed, Failure> {
        let Args { method, semiring, memory_limit, band_columns, align, explain, .. } = *self.args;
        let task = Task {
            a,
            b,
            mask,
            method,
            semiring,
            memory_limit,
            band_columns: band_columns.map(|columns| columns.get() as usize),
            align,
            threshold: self.args.threshold(),
            progress: None,
            explain,
        };
        let Some(repeat) = self.args.run.repeat else {
            let progress = Some(self.messages.measured("multiplying", Unit::Columns));
            let task = Task { progress, ..task };
            if self.args.output.is_none() && !self.args.run.verify {
                let (of_c, run) = self.target.multiply_and_drop(&task)?;
                return Ok(Computed { c: None, groups: None, of_c, run, runs_ms: None });
            }
            let (c, run) = self.target.multiply(&task)?;
            return Ok(Computed { of_c: Extent::of(&c), c: Some(c), groups: None, run, runs_ms: None });
        };
        let progress = self.messages.measured("multiplying", Unit::Runs);
        let step = |number: u32| progress.tell(number.into(), repeat.get().into());
        let (c, runs) = self.target.multiply_repeatedly(&task, repeat, step)?;
        let runs_ms = times(&runs);
        Ok(Computed { of_c: Extent::of(&c), c: Some(c), groups: None, run: median(runs), runs_ms: Some(runs_ms) })
    }

    /// Multiplies as [`Job::multiply`] does, blocks of several shapes.
    fn multiply_groups(&self, device: &Device, groups: &Grouped) -> Result<Computed, Failure> {
        let Args { method, semiring, align, explain, .. } = *self.args;
        let task = GroupsTask { a: &groups.a, b: groups.b.as_ref(), method, semiring, align, explain };
        let (c, run, runs_ms) = match self.args.run.repeat {
            None => {
                let progress = self.messages.measured("multiplying", Unit::Columns);
                let (c, run) = multiply_groups(device, &task, progress)?;
                (c, run, None)
            }
            Some(repeat) => {
                let progress = self.messages.measured("multiplying", Unit::Runs);
                let step = |number: u32| progress.tell(number.into(), repeat.get().into());
                let (c, runs) = multiply_groups_repeatedly(device, &task, repeat, step)?;
                let runs_ms = times(&runs);
                (c, median(runs), Some(runs_ms))
            }
        };
        let scalars = groups.scalars_of_c(&c)?;
        let of_c = Extent { size: Size::of_groups(&c), ..Extent::of(&scalars) };
        Ok(Computed { c: Some(scalars), groups: Some(c), of_c, run, runs_ms })
    }
}

/// The total time of each run.
fn times(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.took.total_ms).collect()
}

/// The run with the median time; for an even number of runs, the faster of the two in the middle.
fn median(mut runs: Vec<Run>) -> Run {
    runs.sort_by(|x, y| x.took.total_ms.total_cmp(&y.took.total_ms));
    runs.swap_remove((runs.len() - 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Took;

    #[test]
    fn the_median_run() {
        let run = |&total_ms: &f64| Run { took: Took { total_ms, ..Took::default() }, ..Run::default() };
        let of = |times: &[f64]| median(times.iter().map(run).collect()).took.total_ms;
        assert_eq!(
            [of(&[3.0]), of(&[4.0, 2.0]), of(&[9.0, 1.0, 5.0]), of(&[4.0, 3.0, 2.0, 1.0])],
            [3.0, 2.0, 5.0, 2.0]
        );
    }
}
