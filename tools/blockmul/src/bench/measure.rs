//! Times what is verified: products from nothing, and executions of all other operations.
use super::dense::Dense;
use super::operation::Operation;
use super::plans;
use super::record::{Execution, Record, Sizes};
use crate::input::Reading;
use crate::messages::{Messages, Unit};
use crate::report::Size;
use blockmul::{
    Device, Element, Matrix, Method, Planned, Product, Result, Semiring,
    device::{DeviceKind, StageTime},
    host::Progress,
    matrix::{AnyMatrix, AnyView},
    plan::{Cost, Format},
    reference,
};
use std::{cell::OnceCell, time::Instant};

/// Least number of rounds: with fewer, a single round could determine the median.
const LEAST_ROUNDS: u32 = 3;

pub struct Patience {
    pub rounds: u32,
    pub seconds: f64,
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

    /// The copy bandwidth, measured once in a run, before the first product.
    pub fn copy_gb_s(&self, messages: &Messages) -> Result<f64> {
        if let Some(&known) = self.copy_gb_s.get() {
            return Ok(known);
        }
        let info = self.device.info();
        messages.step(format!("measuring how fast {} copies", info.name));
        let copy_gb_s = self.device.copy_bandwidth()? / 1e9;
        messages.say(&format!("device: {} ({}), copies {copy_gb_s:.0} GB/s", info.name, info.platform));
        Ok(*self.copy_gb_s.get_or_init(|| copy_gb_s))
    }
}

pub struct Bench<'a> {
    pub devices: Vec<Place>,
    pub methods: Vec<Method>,
    /// Formats of A·x; none for the default.
    pub formats: Vec<Format>,
    /// The algebra of products.
    pub semiring: Semiring,
    /// What is taken of files.
    pub reading: Reading,
    /// Whether A·x also takes one triangle of A.
    pub symmetric: bool,
    /// Whether A·x may be in a format with another order of sums.
    pub any_order: bool,
    /// Products with dense matrices.
    pub dense: Vec<Dense>,
    pub patience: Patience,
    /// Executions in a round; `None` for each operation's own number.
    pub together: Option<u32>,
    pub messages: &'a Messages,
}

impl Bench<'_> {
    /// Measures A·B (A·A without B) on every device by every method, from nothing or by a plan.
    pub fn products(
        &self,
        operation: Operation,
        name: String,
        (a, b): (&AnyMatrix, Option<&AnyMatrix>),
    ) -> Result<Vec<Result<Vec<Record>>>> {
        self.messages.step(format!("{name}: the reference"));
        let want = reference::multiply_over(self.semiring, a, b.unwrap_or(a))?;
        let mut all = Vec::new();
        for place in &self.devices {
            let copy_gb_s = place.copy_gb_s(self.messages)?;
            for &method in &self.methods {
                let record = match operation {
                    Operation::Plan => self.on(place, operation, name.clone()).plan(method, (a, b, &want)),
                    _ => {
                        let mut sizes = Sizes::new(&name, &place.device, copy_gb_s, method, (a, b.unwrap_or(a), &want));
                        sizes.variant += &self.over();
                        self.time(&place.device, sizes, method, (a, b, &want))
                    }
                };
                all.push(record.map(|record| vec![record]));
            }
        }
        Ok(all)
    }

    fn time(
        &self,
        device: &Device,
        sizes: Sizes,
        method: Method,
        (a, b, want): (&AnyMatrix, Option<&AnyMatrix>, &AnyMatrix),
    ) -> Result<Record> {
        let progress = self.messages.measured(format!("{} on {}", sizes.what(), device.info().name), Unit::Runs);
        let a = device.upload(a)?;
        let b = b.map(|b| device.upload(b)).transpose()?;
        let b = b.as_ref().unwrap_or(&a);
        let product = Product::of(&a, b).method(method).semiring(self.semiring);
        let (c, first) = product.run_with_report()?;
        if !equal(&c.download()?, want) {
            return Ok(Record::wrong(sizes, &first));
        }
        drop(c);
        product.run()?;
        device.finish()?;

        // C returns to the pool before the next run. Times of stages would lengthen the whole.
        let untimed = Product::of(&a, b).method(method).semiring(self.semiring).untimed();
        let runs = self.patience.rounds(&progress, &mut || {
            let total_ms = untimed.run_with_report()?.1.total_ms;
            Ok((total_ms, product.run_with_report()?.1))
        })?;
        Ok(Record::right(sizes, runs))
    }

    /// The algebra in words of a record, if it is not the usual one.
    fn over(&self) -> String {
        if self.semiring == Semiring::PlusTimes { String::new() } else { format!(" over {}", self.semiring) }
    }

    pub fn on<'a>(&'a self, place: &'a Place, operation: Operation, name: String) -> Subject<'a> {
        Subject { bench: self, place, operation, name }
    }
}

/// An operation on a matrix, or on an array, on a device.
pub struct Subject<'a> {
    bench: &'a Bench<'a>,
    place: &'a Place,
    operation: Operation,
    /// The name of the matrix.
    name: String,
}

/// What is to be timed, once its first result is there.
#[derive(Default)]
pub struct Case {
    /// The operation in words of a record.
    pub variant: String,
    pub element: &'static str,
    pub a: Size,
    pub b: Size,
    /// Entries (blocks) of the result.
    pub c_nnz: usize,
    pub cost: Cost,
    /// Bytes to move: every input read once, every output written once.
    pub bytes: Option<u64>,
    /// The time to plan, with kernels compiled.
    pub plan_ms: Option<f64>,
    /// Whether the result is the reference's, bit for bit.
    pub right: bool,
}

impl Subject<'_> {
    pub fn device(&self) -> &Device {
        &self.place.device
    }

    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The algebra of products.
    pub fn semiring(&self) -> Semiring {
        self.bench.semiring
    }

    /// Whether A·x may be in a format with another order of sums.
    pub fn any_order(&self) -> bool {
        self.bench.any_order
    }

    /// Makes a plan, and takes its time as [`plans::planned`] does.
    pub fn planned<P>(&self, plan: impl Fn() -> Result<P>) -> Result<(P, Option<f64>)> {
        self.bench.messages.step(format!("{}: planning", self.name));
        let (plan, ms) = plans::planned(self.device(), plan)?;
        Ok((plan, Some(ms)))
    }

    /// Times executions of a plan, and its stages.
    pub fn executed<'i, P: Planned>(
        &self,
        case: Case,
        plan: &P,
        inputs: impl Fn() -> P::Inputs<'i>,
        c: &mut P::Output,
    ) -> Result<Record> {
        self.timed(case, &mut |with_stages| match with_stages {
            true => Ok(plan.execute_with_report(inputs(), &mut *c)?.stages),
            false => plan.execute(inputs(), &mut *c).map(|_| Vec::new()),
        })
    }

    /// Times executions: `run(false)` enqueues one, `run(true)` waits for it too and returns the
    /// times of its stages, if it has any.
    pub fn timed(&self, case: Case, run: &mut dyn FnMut(bool) -> Result<Vec<StageTime>>) -> Result<Record> {
        let (device, together) = (self.device(), self.bench.together.unwrap_or(self.operation.together()));
        let sizes = self.sizes(&case)?;
        let text = format!("{} on {}", sizes.what(), device.info().name);
        let progress = self.bench.messages.measured(text, Unit::Runs);
        if !case.right {
            return Ok(case.record(sizes, 0, Vec::new(), &[]));
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
        let rounds = self.bench.patience.rounds(&progress, &mut || {
            device.finish()?;
            let clock = Instant::now();
            (0..together).try_for_each(|_| run(false).map(drop))?;
            device.finish()?;
            Ok((clock.elapsed().as_secs_f64() * 1e3 / f64::from(together), run(true)?))
        })?;
        let (runs, stages): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
        Ok(case.record(sizes, launches, runs, &stages))
    }

    /// The record of times that were measured elsewhere.
    pub fn measured(&self, case: Case, runs: Vec<f64>) -> Result<Record> {
        let sizes = self.sizes(&case)?;
        Ok(case.record(sizes, 0, runs, &[]))
    }

    pub fn rounds(&self) -> usize {
        self.bench.patience.rounds as usize
    }

    fn sizes(&self, case: &Case) -> Result<Sizes> {
        let copy_gb_s = self.place.copy_gb_s(self.bench.messages)?;
        let mut sizes = Sizes::planned(self.name.clone(), self.device(), copy_gb_s, [case.a, case.b], case.c_nnz);
        (sizes.variant, sizes.element) = (case.variant.clone() + &self.bench.over(), case.element);
        Ok(sizes)
    }
}

impl Case {
    /// The case of an operation on a matrix, with the results of verification.
    pub fn of<'m>(variant: impl Into<String>, a: impl Into<AnyView<'m>>, right: bool) -> Self {
        let a = a.into();
        Self { variant: variant.into(), element: a.element().name(), a: Size::of(a), right, ..Self::default() }
    }

    fn record(&self, sizes: Sizes, launches: u32, runs: Vec<f64>, stages: &[Vec<StageTime>]) -> Record {
        let runs = if self.right { runs } else { Vec::new() };
        let record = Record::planned(sizes, &Execution::of(self.cost, launches), runs);
        Record { plan_ms: self.plan_ms, ..record }.moving(self.bytes).with_stages(stages)
    }
}

/// Whether a format of A·x is measured on this device: `csc` takes thousands of times as long on a
/// GPU.
pub fn is_measured(format: Format, device: &Device) -> bool {
    format != Format::Csc || device.info().kind == DeviceKind::Cpu
}

impl Patience {
    /// The results of `run` in each round.
    pub fn rounds<R>(&self, progress: &Progress, run: &mut dyn FnMut() -> Result<R>) -> Result<Vec<R>> {
        let (start, mut runs) = (Instant::now(), Vec::new());
        for round in 0..self.rounds {
            if round >= LEAST_ROUNDS && start.elapsed().as_secs_f64() > self.seconds {
                break;
            }
            progress.tell(round.into(), self.rounds.into());
            runs.push(run()?);
        }
        Ok(runs)
    }
}

/// Milliseconds of executions that are not timed: a GPU that was idle while the host verified a
/// result takes up to a tenth longer for the first few.
const WARM_UP_MS: f64 = 20.0;

/// Compares bit for bit: a zero of the other sign is another result.
pub fn equal(c: &AnyMatrix, want: &AnyMatrix) -> bool {
    let layout = |of: &AnyMatrix| (of.kind(), of.element(), of.shape(), of.stride());
    layout(c) == layout(want) && c.pattern() == want.pattern() && c.values().bytes() == want.values().bytes()
}

/// As [`equal`], of a type.
pub fn same<M: Matrix>(c: &M, want: &M) -> bool {
    let (c, want) = (c.as_cbc(), want.as_cbc());
    let shapes = (c.shape, c.stride) == (want.shape, want.stride);
    c.pattern == want.pattern && shapes && same_bits(c.values, want.values)
}

/// Whether all elements have the same bits.
pub fn same_bits<T: Element>(have: &[T], want: &[T]) -> bool {
    bytemuck::cast_slice::<T, u8>(have) == bytemuck::cast_slice::<T, u8>(want)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::table;
    use blockmul::Csc;

    #[test]
    fn a_result_that_is_not_the_reference_s_is_not_timed_and_said_to_be_wrong() {
        let wanted = std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into());
        let device = Device::select(&wanted).unwrap();
        let messages = Messages::new(true);
        let patience = Patience { rounds: 2, seconds: 1.0 };
        let (devices, methods, formats) = (Vec::new(), Vec::new(), Vec::new());
        let semiring = Semiring::PlusTimes;
        let bench = Bench {
            devices,
            methods,
            formats,
            semiring,
            reading: Reading::default(),
            symmetric: false,
            any_order: false,
            dense: Vec::new(),
            patience,
            together: None,
            messages: &messages,
        };
        let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 1, 0.0)]).unwrap();
        let with = |values: [f64; 2]| Csc::new(a.pattern().clone(), values.to_vec()).unwrap();
        // The product; one bit different; a zero of the other sign; another pattern.
        let more = Csc::from_triplets(2, 2, [(0, 0, 4.0), (1, 0, 0.0), (1, 1, 0.0)]).unwrap();
        for (want, right) in [
            (with([4.0, 0.0]), true),
            (with([4.0f64.next_up(), 0.0]), false),
            (with([4.0, -0.0]), false),
            (more, false),
        ] {
            let (a, want) = (AnyMatrix::from(a.clone()), AnyMatrix::from(want));
            let sizes = Sizes::new("a", &device, 1.0, Method::Esc, (&a, &a, &want));
            let record = bench.time(&device, sizes, Method::Esc, (&a, None, &want)).unwrap();
            assert_eq!(
                (record.verified, record.runs_ms.len(), record.ms.is_some()),
                (right, 2 * usize::from(right), right)
            );
            let text = table::text(&[record], true);
            assert_eq!((text.contains("NO"), text.contains("setup")), (!right, right), "{text}");
        }
    }
}
