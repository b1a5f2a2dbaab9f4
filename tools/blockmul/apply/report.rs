//! The report of a product with one vector, and its summary.
use super::{Args, run::Took};
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output;
use crate::overflow::Overflow;
use crate::report::{DeviceName, Executed, Size, command_line};
use crate::target::Target;
use blockmul::{Semiring, element::Order, plan::Format};
use serde::Serialize;

/// Number of the schema, increased by changes that a reader must know.
const SCHEMA: u32 = 1;

/// The JSON object of `--report`.
#[derive(Serialize)]
struct Report {
    schema: u32,
    command: String,
    device: DeviceName,
    /// `None` for the reference.
    format: Option<Format>,
    why: Option<String>,
    /// The order in which the terms of a sum are added.
    order: Order,
    /// Whether y has the same bits in every run.
    reproducible: bool,
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

/// Reports a product of any element types, of whose y some elements are `different` from the
/// reference's; it is refused if any is.
pub fn finish(
    args: &Args,
    target: &Target,
    (element, vectors, overflowed): (&'static str, &'static str, Overflow),
    (a, x_len, y_len): (Size, usize, usize),
    (run, different): (Took, Option<usize>),
    messages: &Messages,
) -> Result<(), Failure> {
    if args.explain {
        let why =
            run.format.as_ref().map_or("the reference adds entry after entry, and has no formats", |(_, why)| why);
        messages.say(why);
    }
    let order = run.format.as_ref().map_or(Order::Ascending, |(format, _)| format.order());
    let flops = 2 * (a.nnz() * a.area()) as u64;
    let converted = (run.convert_ms, run.device_bytes);
    let executed = Executed::new(flops, converted, (run.runs_ms, args.repeat.is_some()), different);
    let in_order = args.format.reproducible();
    let executed = if in_order { executed } else { executed.within_rounding() };
    let (name, platform, driver) = target.describe();
    let report = Report {
        schema: SCHEMA,
        command: command_line(),
        device: DeviceName::new(name, platform, driver),
        format: run.format.as_ref().map(|(format, _)| *format),
        why: run.format.as_ref().map(|(_, why)| why.clone()),
        order,
        reproducible: order != Order::Arrival,
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
        Some(count) if count > 0 => {
            let how =
                if in_order { "have not the reference's bits" } else { "are not the reference's within rounding" };
            Err(Failure::Verification(format!("{count} of {y_len} elements of y {how}; nothing is written")))
        }
        _ => Ok(()),
    }
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
        "y = {op}{over} in {types} by {by} on {}\n  {} {}, {}",
        report.device.name(),
        report.a.nnz(),
        report.a.entries(),
        report.executed.text()
    );
    output::summary(&text, args.quiet, [&args.output, &args.report], messages)
}
