//! Runs a product with one vector, compares it with the reference, and reports it.
use super::Args;
use super::report::{Gram, Outcome, finish};
use crate::failure::Failure;
use crate::graphs::{repeatedly, timed};
use crate::messages::Messages;
use crate::overflow::Overflow;
use crate::report::Size;
use crate::symmetric::Halves;
use crate::target::Target;
use crate::vector;
use crate::wrapping::Sums;
use blockmul::{
    Device, DeviceMatrix, DeviceVector, Method, Semiring,
    element::{Any, AnyValues},
    matrix::AnyMatrix,
    plan::{Apply, ApplyOptions, Cost, Format},
};
use std::{num::NonZero, time::Instant};

/// A product of a matrix with one vector.
pub trait Applied {
    /// Products with A and its transpose, one after another.
    fn turns(&self) -> u64;

    /// Elements of y for an A of this size.
    fn y_len(&self, args: &Args, a: &Size) -> usize;

    /// Converts A, multiplies, and reads y back.
    fn on_device(&self, args: &Args, device: &Device, a: &AnyMatrix, x: &AnyValues) -> Result<Run, Failure>;

    /// The product in the order of all products.
    fn by_reference(&self, args: &Args, a: &AnyMatrix, x: &AnyValues) -> Result<AnyValues, Failure>;

    /// Elements of y that are not the reference's in the formats of the run: bit for bit, or, if a
    /// format has no order, within rounding.
    fn wrong(&self, args: &Args, a: &AnyMatrix, x: &AnyValues, run: &Run) -> Result<usize, Failure>;

    /// A number that no sum of integers exceeds in magnitude.
    fn bound(&self, args: &Args, sums: Sums, a: &AnyMatrix, x: &AnyValues) -> f64;

    /// The sums of integers; `None` if they are not known.
    fn exact(&self, args: &Args, sums: Sums, a: &AnyMatrix, x: &AnyValues) -> Option<Vec<i128>>;

    /// What the report has of a gram matrix.
    fn gram(&self, took: &Took) -> Option<Gram>;
}

/// A product, and what it took.
pub struct Run {
    pub y: AnyValues,
    pub took: Took,
}

pub struct Took {
    /// The formats of each turn, and the reasons for them; none for the reference.
    pub formats: Vec<(Format, String)>,
    pub convert_ms: Option<f64>,
    pub device_bytes: u64,
    pub runs_ms: Vec<f64>,
}

impl Took {
    /// The format of a turn, counted from 0.
    pub fn format(&self, turn: usize) -> Format {
        self.formats.get(turn).map_or(Format::Auto, |(format, _)| *format)
    }
}

/// Multiplies, verifies, reports, and writes y.
pub fn run(
    args: &Args,
    product: &dyn Applied,
    a: &Halves,
    (x, overflow): (&AnyValues, Overflow),
    messages: &Messages,
) -> Result<(), Failure> {
    let size = Size::of(&a.whole);
    let y_len = product.y_len(args, &size);
    let target = Target::choose(args.device.as_deref(), x.element(), Method::Auto, messages)?;
    messages.step("multiplying");
    let run = match &target {
        Target::Device(device) => product.on_device(args, device, a.stored(), x)?,
        Target::Reference if args.format != Format::Auto => {
            return Err(Failure::Usage(format!("--format {} needs an OpenCL device", args.format)));
        }
        Target::Reference => {
            let (y, runs_ms) = repeatedly(args.repeat, || timed(|| product.by_reference(args, &a.whole, x)))?;
            Run { y, took: Took { formats: Vec::new(), convert_ms: None, device_bytes: 0, runs_ms } }
        }
    };
    let different = match args.verify {
        true => {
            messages.step("verifying");
            Some(product.wrong(args, &a.whole, x, &run)?)
        }
        false => None,
    };
    let overflowed = match (Sums::of(x.element(), args.semiring), args.semiring) {
        (Some(sums), _) => {
            let exact = || args.verify.then(|| product.exact(args, sums, &a.whole, x)).flatten();
            let bound = product.bound(args, sums, &a.whole, x);
            overflow.of_integers(x.element(), ("y", y_len), bound, || exact().map(|y| sums.outside(&y)), messages)
        }
        (None, Semiring::PlusTimes) => overflow.of_values("y", &run.y, messages),
        (None, _) => overflow,
    };
    let outcome = Outcome {
        a: size,
        x_len: x.len(),
        y_len,
        flops: product.turns() * 2 * (size.nnz() * size.area()) as u64,
        gram: product.gram(&run.took),
        took: run.took,
        different,
    };
    finish(args, &target, (a.whole.element().name(), x.element().name(), overflowed), outcome, messages)?;
    args.output.as_deref().map_or(Ok(()), |path| vector::write(path, &run.y))
}

/// The options of a product with a matrix.
pub fn options(args: &Args, a: &DeviceMatrix<AnyMatrix>) -> ApplyOptions<AnyMatrix> {
    let uses = args.repeat.map_or(1, NonZero::get);
    let options = Apply::of(a).format(args.format).semiring(args.semiring).uses(uses.into());
    let options = if args.transpose { options.transposed() } else { options };
    let options = if args.symmetric { options.symmetric() } else { options };
    let options = options.split(args.split.unwrap_or_default());
    if args.any_order { options.any_order() } else { options }
}

/// Runs a product that has been converted since `clock`, once or several times after a warm-up, and
/// reads y back.
pub fn executed(
    (device, clock, repeat): (&Device, Instant, Option<NonZero<u32>>),
    (formats, cost): (Vec<(Format, String)>, Cost),
    mut y: DeviceVector<Any>,
    run: impl Fn(&mut DeviceVector<Any>) -> blockmul::Result<f64>,
) -> Result<Run, Failure> {
    device.finish()?;
    let convert_ms = Some(clock.elapsed().as_secs_f64() * 1e3);
    if repeat.is_some() {
        run(&mut y)?;
    }
    let runs_ms = (0..repeat.map_or(1, NonZero::get)).map(|_| run(&mut y)).collect::<blockmul::Result<_>>()?;
    let took = Took { formats, convert_ms, device_bytes: cost.device_bytes, runs_ms };
    Ok(Run { y: y.download()?, took })
}
