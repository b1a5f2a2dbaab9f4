//! `blockmul apply`: multiplies a matrix with a vector, or with several.
use crate::algebra::semiring;
use crate::dense::{self, DenseOperand};
use crate::failure::Failure;
use crate::input::{self, NumberName};
use crate::messages::Messages;
use crate::numbers::some;
use crate::output;
use crate::overflow::{Converted, Overflow};
use crate::places::Overwriting;
use crate::report::{DeviceName, Executed, Size, command_line};
use crate::symmetric;
use crate::target::Target;
use crate::vector;
use blockmul::{
    BlockShape, Csc, DeviceVector, Element, Method, Planned, Semiring,
    dense::{DenseShape, Layout, Side},
    element::{Order, VectorElement},
    plan::{Apply, Cost, DenseMethod, Format, Split},
    reference,
};
use half::f16;
use serde::Serialize;
use std::{num::NonZero, path::PathBuf, time::Instant};

/// Number of the schema, increased by changes that a reader must know.
const SCHEMA: u32 = 1;

/// Multiply a matrix with a vector: y = A·x, or Aᵀ·x; or with several at once, the columns of X.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul apply A.mtx x.mtx -o y.mtx                  y = A·x in f64 on the best device
  blockmul apply A.mtx --transpose -o -                Aᵀ times ones, to stdout
  blockmul apply A.mtx --format sliced-ell --verify    rows in slices of 32, checked against the reference
  blockmul apply G.mtx d.mtx --semiring min-plus -o d.mtx --overwrite   one step along the edges of a graph
  blockmul apply K.mtx --symmetric --verify            one triangle of a symmetric matrix is kept
  blockmul apply A.mtx X.npy -o Y.npy                  A times every column of X
  blockmul apply A.mtx --explain --repeat 100          which format is estimated to be the fastest, and why

X is a matrix in any format, or an array in a file that ends in .npy; if it has several columns, --format and
--any-order do not apply. y is written as a Matrix Market array, or to a file that ends in .npy. Formats say
how rows are stored and shared out; all but csr-vector, csr-shared, coo, segmented-scan and scoo, which have
orders of their own, give the same bits. Those of formats that end in -atomic differ from run to run. --verify
compares with the reference in the format's order of sums.
Exit status: 0 done; 1 y has not the reference's bits; 2 wrong usage, or an input that cannot be read; 3 no such
device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    /// The matrix; - for Matrix Market on stdin.
    a: PathBuf,
    /// The vector, or vectors as columns [default: ones].
    x: Option<PathBuf>,
    /// Write y here: .mtx for Matrix Market, .npy for NumPy, packed if .gz or .bz2 follows; - for
    /// Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Multiply with the transpose of A.
    #[arg(long)]
    transpose: bool,
    /// A is symmetric: keep one triangle of it. Its file holds one, or is a Matrix Market file
    /// that says symmetric.
    #[arg(long)]
    symmetric: bool,
    /// Format of A's rows on the device.
    #[arg(long, default_value = "auto", value_parser = format())]
    format: Format,
    /// Let auto choose formats that add in an order of their own; for an X of one column.
    #[arg(long)]
    any_order: bool,
    /// Where --format hyb cuts rows: bytes, at the fewest bytes; filled, while a third of the rows
    /// has entries; a number from 0 to 1, this part of the way from the average row to the longest;
    /// quantile:0.8, at the length that this part of the rows does not exceed; or capped, that of a
    /// third of the rows, but at most a thousandth of their number [default: bytes].
    #[arg(long, value_name = "RULE")]
    split: Option<Split>,
    /// How the entries of A are shared out if X has several columns: row by row, or in groups of
    /// rows that load a row of X once (gcoo) [default: auto].
    #[arg(long, value_name = "METHOD", value_parser = dense::sharing())]
    sharing: Option<DenseMethod>,
    /// Element type; f16 is stored in 16 bits and computed in f32. u8 has or-and alone.
    #[arg(long, value_enum, default_value = "f64")]
    element: NumberName,
    /// Element type of X and y, in which sums are computed: --element f32 --vectors f64 stores A in
    /// half the bytes. f64 fits f32 and f16, f32 fits f16 [default: that of A].
    #[arg(long, value_enum, value_name = "TYPE")]
    vectors: Option<NumberName>,
    /// Algebra of sums and products; the first factor of a product is A's.
    #[arg(long, default_value = "plus-times", value_parser = semiring())]
    semiring: Semiring,
    /// auto (a GPU, else a CPU, else the reference), reference, gpu, cpu, an index or part of a
    /// name from `blockmul devices` [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Check y against the reference; exit status 1, and no output file, if a bit differs.
    #[arg(long)]
    verify: bool,
    /// Write the costs as JSON; - for stdout.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Multiply N times after one warm-up; the time reported is that of the median run. auto
    /// chooses a format for N uses.
    #[arg(long, value_name = "N", value_parser = some)]
    repeat: Option<NonZero<u32>>,
    /// Print on stderr the reason for the format or the sharing.
    #[arg(long)]
    explain: bool,
    /// Add up entries that appear twice in the file instead of refusing it.
    #[arg(long)]
    sum_duplicates: bool,
    #[command(flatten)]
    overwriting: Overwriting,
    /// Print neither messages nor the summary.
    #[arg(short, long)]
    quiet: bool,
}

fn format() -> impl clap::builder::TypedValueParser<Value = Format> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names = std::iter::once(Format::Auto).chain(Format::ALL.iter().copied()).map(Format::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Format>())
}

/// The JSON object of `--report`.
#[derive(Serialize)]
struct Report {
    schema: u32,
    command: String,
    device: DeviceName,
    /// `None` for the reference.
    format: Option<Format>,
    why: Option<String>,
    element: &'static str,
    /// The element type of x and y.
    vectors: &'static str,
    semiring: Semiring,
    transposed: bool,
    /// Whether one triangle of A is kept; the size of A is that of the whole.
    symmetric: bool,
    a: Size,
    x: Size,
    y: Size,
    /// Finite values that became infinite: a those of A, b of x, c of y.
    overflowed: Overflow,
    #[serde(flatten)]
    executed: Executed,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(output::is_standard);
    if to_stdout(&args.output) && to_stdout(&args.report) {
        return Err(Failure::Usage("-o - and --report - cannot both have stdout".into()));
    }
    if args.split.is_some() && args.format != Format::Hyb {
        return Err(Failure::Usage(format!("--split cuts rows of --format hyb, not {}", args.format)));
    }
    if args.verify && !args.format.reproducible() {
        return Err(Failure::Usage(format!("--verify compares bits, those of {} differ from run to run", args.format)));
    }
    args.output.as_deref().map_or(Ok(()), vector::check_name)?;
    let places = args.overwriting.places().reads([&args.a]).reads(&args.x);
    places.others(&args.output).others(&args.report).check()?;
    match (args.element, args.vectors.unwrap_or(args.element)) {
        (NumberName::F64, NumberName::F64) => with_types::<f64, f64>(args),
        (NumberName::F32, NumberName::F32) => with_types::<f32, f32>(args),
        (NumberName::F32, NumberName::F64) => with_types::<f32, f64>(args),
        (NumberName::F16, NumberName::F16) => with_types::<f16, f16>(args),
        (NumberName::F16, NumberName::F32) => with_types::<f16, f32>(args),
        (NumberName::F16, NumberName::F64) => with_types::<f16, f64>(args),
        (NumberName::U32, NumberName::U32) => with_types::<u32, u32>(args),
        (NumberName::I32, NumberName::I32) => with_types::<i32, i32>(args),
        (NumberName::U8, NumberName::U8) => with_types::<u8, u8>(args),
        _ => Err(Failure::Usage("--vectors takes the type of --element, f64 with f32 or f16, or f32 with f16".into())),
    }
}

/// A product, and what it took.
struct Run<T> {
    y: Vec<T>,
    order: Order,
    took: Took,
}

struct Took {
    format: Option<(Format, String)>,
    convert_ms: Option<f64>,
    device_bytes: u64,
    runs_ms: Vec<f64>,
}

/// A in `T`, x and y in `V`.
fn with_types<T: Element, V: VectorElement<T>>(args: &Args) -> Result<(), Failure> {
    args.semiring.check::<T>()?;
    let messages = Messages::new(args.quiet);
    let file = input::read(&args.a, args.sum_duplicates, &messages)?;
    let (a, converted) = input::cast_numbers::<T>(&file.matrix, "A", &messages)?;
    let a = if args.symmetric { symmetric::Halves::new(a, &file)? } else { symmetric::Halves::whole(a) };
    let (rows, cols) = (a.whole.pattern().nrows(), a.whole.pattern().ncols());
    let (x_len, y_len) = if args.transpose { (rows, cols) } else { (cols, rows) };
    let x = match &args.x {
        Some(path) => {
            let x = dense::read::<V>(path, "X", &messages)?;
            let DenseShape { rows, cols, .. } = x.shape;
            if rows != x_len {
                let path = path.display();
                return Err(Failure::Usage(format!("{path}: X is {rows} x {cols}, {x_len} rows are expected")));
            }
            x
        }
        None => {
            let shape = DenseShape::new(x_len, 1, Layout::ByColumns);
            DenseOperand { shape, values: vec![V::from_f64(1.0); x_len], converted: Converted::EXACT }
        }
    };
    if x.shape.cols != 1 {
        if T::NAME != V::NAME {
            let (a, x) = (T::NAME, V::NAME);
            return Err(Failure::Usage(format!("--vectors {x} of --element {a} is for an X of one column")));
        }
        let values = x.values.iter().map(|value| T::from_f64(value.to_f64())).collect();
        let x = DenseOperand { shape: x.shape, values, converted: x.converted };
        return with_matrix(args, (a.whole, converted), &x, &messages);
    }
    if let Some(sharing) = args.sharing {
        return Err(Failure::Usage(format!("--sharing {sharing} is for an X of several columns; --format is for one")));
    }
    let overflow = Overflow::of_operands(converted, x.converted);
    let x = x.values;
    let target = Target::choose::<V>(args.device.as_deref(), Method::Auto, &messages)?;
    messages.step("multiplying");
    let run = match &target {
        Target::Device(device) => on_device(args, device, a.stored(), &x)?,
        Target::Reference if args.format != Format::Auto => {
            return Err(Failure::Usage(format!("--format {} needs an OpenCL device", args.format)));
        }
        Target::Reference => {
            let clock = Instant::now();
            let y = by_reference(args, Order::Ascending, &a.whole, &x, y_len)?;
            let runs_ms = vec![clock.elapsed().as_secs_f64() * 1e3];
            let took = Took { format: None, convert_ms: None, device_bytes: 0, runs_ms };
            Run { y, order: Order::Ascending, took }
        }
    };
    let different = match args.verify {
        true => {
            messages.step("verifying");
            let want = by_reference(args, run.order, &a.whole, &x, y_len)?;
            Some(vector::differences(&run.y, &want))
        }
        false => None,
    };
    let overflowed = match args.semiring {
        Semiring::PlusTimes => overflow.of_values("y", &run.y, &messages),
        _ => overflow,
    };
    let of = (T::NAME, V::NAME, overflowed);
    finish(args, &target, of, (Size::of(&a.whole), x_len, y_len), (run.took, different), &messages)?;
    args.output.as_deref().map_or(Ok(()), |path| vector::write(path, &run.y))
}

/// Reports a product of any element types, of whose y some elements are `different` from the
/// reference's; it is refused if any is.
fn finish(
    args: &Args,
    target: &Target,
    (element, vectors, overflowed): (&'static str, &'static str, Overflow),
    (a, x_len, y_len): (Size, usize, usize),
    (run, different): (Took, Option<usize>),
    messages: &Messages,
) -> Result<(), Failure> {
    if let (true, Some((_, why))) = (args.explain, &run.format) {
        messages.say(why);
    }
    let flops = 2 * a.nnz() as u64;
    let converted = (run.convert_ms, run.device_bytes);
    let executed = Executed::new(flops, converted, (run.runs_ms, args.repeat.is_some()), different);
    let (name, platform, driver) = target.describe();
    let report = Report {
        schema: SCHEMA,
        command: command_line(),
        device: DeviceName::new(name, platform, driver),
        format: run.format.as_ref().map(|(format, _)| *format),
        why: run.format.as_ref().map(|(_, why)| why.clone()),
        element,
        vectors,
        semiring: args.semiring,
        transposed: args.transpose,
        symmetric: args.symmetric,
        a,
        x: Size::of_vector(x_len),
        y: Size::of_vector(y_len),
        overflowed,
        executed,
    };
    tell(args, &report, messages)?;
    match different {
        Some(count) if count > 0 => Err(Failure::Verification(format!(
            "{count} of {y_len} elements of y have not the reference's bits; nothing is written"
        ))),
        _ => Ok(()),
    }
}

/// Converts A, multiplies, and reads y back.
fn on_device<T: Element, V: VectorElement<T>>(
    args: &Args,
    device: &blockmul::Device,
    a: &Csc<T>,
    x: &[V],
) -> Result<Run<V>, Failure> {
    let (a, x) = (device.upload(a)?, device.upload_vector(x)?);
    device.finish()?;
    let (clock, pattern) = (Instant::now(), a.pattern());
    let uses = args.repeat.map_or(1, NonZero::get);
    let options = Apply::<Csc<T>>::with(&pattern).format(args.format).semiring(args.semiring).uses(uses.into());
    let options = if args.transpose { options.transposed() } else { options };
    let options = if args.symmetric { options.symmetric() } else { options };
    let options = options.split(args.split.unwrap_or_default()).vectors::<V>();
    let options = if args.any_order { options.any_order() } else { options };
    if args.repeat.is_some() {
        let packed = options.pack(&a)?;
        let run = |y: &mut DeviceVector<V>| Ok(packed.execute_with_report(&x, y)?.total_ms);
        return executed(
            (device, clock, args.repeat),
            (packed.format(), packed.why(), packed.cost()),
            packed.output()?,
            run,
        );
    }
    // For a single product a copy of the values does not pay.
    let plan = options.plan()?;
    let run = |y: &mut DeviceVector<V>| Ok(plan.execute_with_report((&a, &x), y)?.total_ms);
    executed((device, clock, None), (plan.format(), plan.why(), plan.cost()), plan.output()?, run)
}

/// Runs a product that has been converted since `clock`, once or several times after a warm-up, and
/// reads y back.
fn executed<V: Element>(
    (device, clock, repeat): (&blockmul::Device, Instant, Option<NonZero<u32>>),
    (format, why, cost): (Format, &str, Cost),
    mut y: DeviceVector<V>,
    run: impl Fn(&mut DeviceVector<V>) -> blockmul::Result<f64>,
) -> Result<Run<V>, Failure> {
    device.finish()?;
    let convert_ms = Some(clock.elapsed().as_secs_f64() * 1e3);
    if repeat.is_some() {
        run(&mut y)?;
    }
    let runs_ms = (0..repeat.map_or(1, NonZero::get)).map(|_| run(&mut y)).collect::<blockmul::Result<_>>()?;
    let took = Took { format: Some((format, why.to_owned())), convert_ms, device_bytes: cost.device_bytes, runs_ms };
    Ok(Run { y: y.download()?, order: format.order(), took })
}

fn by_reference<T: Element, V: VectorElement<T>>(
    args: &Args,
    order: Order,
    a: &Csc<T>,
    x: &[V],
    len: usize,
) -> Result<Vec<V>, Failure> {
    let mut y = vec![V::from_f64(0.0); len];
    reference::multiply_vector_over(args.semiring, order, args.transpose, (1.0, a, x), (0.0, &mut y))?;
    Ok(y)
}

/// A times every column of X.
fn with_matrix<T: Element>(
    args: &Args,
    a: (Csc<T>, Converted),
    x: &DenseOperand<T>,
    messages: &Messages,
) -> Result<(), Failure> {
    if args.format != Format::Auto {
        return Err(Failure::Usage(format!("--format {} is for vectors, X has {} columns", args.format, x.shape.cols)));
    }
    if args.any_order {
        return Err(Failure::Usage(format!("--any-order is for vectors, X has {} columns", x.shape.cols)));
    }
    if args.symmetric {
        messages.warn("X has several columns: the device keeps the whole of A, not one triangle");
    }
    let request = dense::Request {
        side: Side::Left,
        transposed: args.transpose,
        semiring: args.semiring,
        sharing: args.sharing,
        device: args.device.as_deref(),
        verify: args.verify,
        repeat: args.repeat,
        memory_limit: None,
        explain: args.explain,
        quiet: args.quiet,
        output: &args.output,
        report: &args.report,
    };
    dense::run(&request, a, BlockShape::SCALAR, x, messages)
}

fn tell(args: &Args, report: &Report, messages: &Messages) -> Result<(), Failure> {
    let json = || serde_json::to_string_pretty(report).expect("plain data");
    args.report.as_deref().map_or(Ok(()), |path| output::write(path, &json()))?;
    let op = if report.transposed { "Aᵀ·x" } else { "A·x" };
    let by = report.format.map_or("the reference", Format::name);
    let over = match report.semiring {
        Semiring::PlusTimes => String::new(),
        semiring => format!(" over {semiring}"),
    };
    let types = match report.element == report.vectors {
        true => report.element.to_owned(),
        false => format!("{}, A in {},", report.vectors, report.element),
    };
    let text = format!(
        "y = {op}{over} in {types} by {by} on {}\n  {} entries, {}",
        report.device.name(),
        report.executed.flops / 2,
        report.executed.text()
    );
    let mut files = [&args.output, &args.report].into_iter().flatten();
    match (args.quiet, files.any(|path| output::is_standard(path))) {
        (true, _) => Ok(()),
        (false, true) => {
            messages.say(&text);
            Ok(())
        }
        (false, false) => messages.pause(|| output::print(&text)),
    }
}
