//! Times verified operations: each round of executions, and its stages.
use super::Args;
use super::operation::Operation;
use super::plans;
use super::record::Record;
use crate::matrix_size::Size;
use crate::messages::{Messages, Unit};
use crate::numbers::{from_zero, some};
pub use blockmul::reference::verify::{
    same_any_groups as equal_groups, same_any_matrix as equal, same_bits, same_matrix as same,
};
use blockmul::{Device, Planned, Result, Semiring, device::StageTime, extra::host::Progress, matrix::AnyView};
use std::{cell::OnceCell, num::NonZero, time::Instant};

/// Minimum number of rounds. With fewer rounds, a single round could determine the median.
const LEAST_ROUNDS: u32 = 3;

/// Milliseconds of executions that are not timed: a GPU that was idle while the host verified a
/// result takes up to a tenth longer for the first few executions.
const WARM_UP_MS: f64 = 20.0;

/// The limits of the number of rounds.
#[derive(Clone, Copy, clap::Args)]
#[group(skip)]
pub struct Patience {
    /// Timed rounds of each product or operation.
    #[arg(long, value_name = "N", default_value = "11", value_parser = some)]
    pub rounds: NonZero<u32>,
    /// End the rounds of a product after this time, but not before the third.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = from_zero)]
    max_time: f64,
}

impl Patience {
    /// The results of `run` in each round.
    pub fn rounds<R>(&self, progress: &Progress, run: &mut dyn FnMut() -> Result<R>) -> Result<Vec<R>> {
        let (start, mut runs) = (Instant::now(), Vec::new());
        for round in 0..self.rounds.get() {
            if round >= LEAST_ROUNDS && start.elapsed().as_secs_f64() > self.max_time {
                break;
            }
            progress.tell(round.into(), self.rounds.get().into());
            runs.push(run()?);
        }
        Ok(runs)
    }
}

/// A device and its copy bandwidth in GB/s, measured on first use.
pub struct Place {
    pub device: Device,
    copy_gb_s: OnceCell<f64>,
}

impl Place {
    pub fn new(device: Device) -> Self {
        Self { device, copy_gb_s: OnceCell::new() }
    }

    /// A record without times. The copy bandwidth is measured once in a run, before the first
    /// product.
    pub fn record(&self, messages: &Messages, matrix: String, variant: String) -> Result<Record> {
        let info = self.device.info();
        if self.copy_gb_s.get().is_none() {
            messages.step(format!("measuring how fast {} copies", info.name));
            let copy_gb_s = self.device.copy_bandwidth()? / 1e9;
            messages.say(&format!("device: {} ({}), copies {copy_gb_s:.0} GB/s", info.name, info.platform));
            self.copy_gb_s.get_or_init(|| copy_gb_s);
        }
        Ok(Record::new(matrix, variant).on(info, self.copy_gb_s.get().copied().unwrap_or_default()))
    }
}

/// The data that all operations of a run of `bench` share.
pub struct Bench<'a> {
    pub args: &'a Args,
    pub devices: Vec<Place>,
    pub messages: Messages,
}

impl Bench<'_> {
    pub fn on<'a>(&'a self, place: &'a Place, operation: &Operation, name: String) -> Subject<'a> {
        let together = self.args.together.map_or(operation.together, NonZero::get);
        Subject { bench: self, place, operation: operation.name, together, name }
    }
}

/// An operation on a matrix, or on an array, on a device.
pub struct Subject<'a> {
    pub bench: &'a Bench<'a>,
    pub place: &'a Place,
    /// The name of the operation.
    pub operation: &'static str,
    /// Executions that are enqueued together in a round.
    pub together: u32,
    /// The name of the matrix.
    pub name: String,
}

impl Subject<'_> {
    pub fn device(&self) -> &Device {
        &self.place.device
    }

    /// The algebra of products.
    pub fn semiring(&self) -> Semiring {
        self.bench.args.semiring
    }

    /// Makes the record of a variant before it is timed. `right` says whether the result of the
    /// variant has the reference's bits.
    pub fn record<'m>(&self, variant: impl Into<String>, a: impl Into<AnyView<'m>>, right: bool) -> Result<Record> {
        let (a, mut variant) = (a.into(), variant.into());
        if self.semiring() != Semiring::PlusTimes {
            variant += &format!(" over {}", self.semiring());
        }
        let record = self.place.record(&self.bench.messages, self.name.clone(), variant)?;
        Ok(Record { a: Size::of(a), element: a.element().name(), verified: right, ..record })
    }

    /// Makes a plan, and takes its time as [`plans::planned`] does.
    pub fn planned<P>(&self, plan: impl Fn() -> Result<P>) -> Result<(P, f64)> {
        self.bench.messages.step(format!("{}: planning", self.name));
        plans::planned(self.device(), plan)
    }

    /// Makes a plan, executes it, makes the record of the result, and times further executions.
    pub fn by_plan<'i, P: Planned>(
        &self,
        plan: impl Fn() -> Result<P>,
        inputs: impl Fn() -> P::Inputs<'i>,
        record: impl FnOnce(&P::Output) -> Result<Record>,
    ) -> Result<Record> {
        let (plan, plan_ms) = self.planned(plan)?;
        self.executed(&plan, plan_ms, inputs, record)
    }

    /// Times a plan that exists, as [`Subject::by_plan`] does. `plan_ms` is the time to make the
    /// plan.
    pub fn executed<'i, P: Planned>(
        &self,
        plan: &P,
        plan_ms: f64,
        inputs: impl Fn() -> P::Inputs<'i>,
        record: impl FnOnce(&P::Output) -> Result<Record>,
    ) -> Result<Record> {
        let mut c = plan.output()?;
        plan.execute(inputs(), &mut c)?;
        self.again(record(&c)?, plan, plan_ms, inputs, &mut c)
    }

    /// Times executions of a plan that has run, and its stages.
    pub fn again<'i, P: Planned>(
        &self,
        record: Record,
        plan: &P,
        plan_ms: f64,
        inputs: impl Fn() -> P::Inputs<'i>,
        c: &mut P::Output,
    ) -> Result<Record> {
        let record = Record { plan_ms: Some(plan_ms), ..record.costing(plan.cost()) };
        self.rounds(record, true, &mut |with_stages| match with_stages {
            true => Ok(plan.execute_with_report(inputs(), &mut *c)?.stages),
            false => plan.execute(inputs(), &mut *c).map(|_| Vec::new()),
        })
    }

    /// Times executions without stages; `run` enqueues one execution.
    pub fn timed(&self, record: Record, run: &mut dyn FnMut() -> Result<()>) -> Result<Record> {
        self.rounds(record, false, &mut |_| run().map(|()| Vec::new()))
    }

    /// Times executions. `run(false)` enqueues an execution; `run(true)` also waits for it, and
    /// returns the times of its stages, if there are any.
    fn rounds(
        &self,
        record: Record,
        has_stages: bool,
        run: &mut dyn FnMut(bool) -> Result<Vec<StageTime>>,
    ) -> Result<Record> {
        let (device, progress) = (self.device(), self.progress(&record));
        if !record.verified {
            return Ok(record);
        }
        let before = device.counters().launches;
        let start = Instant::now();
        run(false)?;
        device.finish()?;
        let launches = (device.counters().launches - before) as u32;
        while start.elapsed().as_secs_f64() * 1e3 < WARM_UP_MS {
            run(false)?;
            device.finish()?;
        }
        let rounds = self.bench.args.patience.rounds(&progress, &mut || {
            device.finish()?;
            let clock = Instant::now();
            (0..self.together).try_for_each(|_| run(false).map(drop))?;
            device.finish()?;
            let ms = clock.elapsed().as_secs_f64() * 1e3 / f64::from(self.together);
            Ok((ms, if has_stages { run(true)? } else { Vec::new() }))
        })?;
        let (runs, stages): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
        Ok(Record { launches, ..record }.timed(runs, &stages))
    }

    /// Progress of the rounds of a record.
    pub fn progress(&self, record: &Record) -> Progress {
        self.bench.messages.measured(format!("{} on {}", record.what(), self.device().info().name), Unit::Runs)
    }
}
