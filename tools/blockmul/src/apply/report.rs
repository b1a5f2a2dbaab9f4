//! The report of a product with one vector, and its summary.
use super::run::{Product, Took};
use super::{Args, weights::kind};
use crate::failure::Failure;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::output;
use crate::overflow::Overflow;
use crate::report::{Executed, Report, onto, over};
use crate::target::Target;
use blockmul::{Semiring, element::Order, plan::Format};
use serde::Serialize;

#[derive(Serialize)]
struct Fields {
    #[serde(flatten)]
    product: Formatted,
    /// The second product of `--gram`, or `None` without the option.
    gram: Option<Gram>,
    /// Whether y has the same bits in every run.
    reproducible: bool,
    element: &'static str,
    /// The element type of x and y.
    vectors: &'static str,
    semiring: Semiring,
    transposed: bool,
    /// The factor of the y of `--onto`, or `None` if there is no `--onto`.
    beta: Option<f64>,
    /// Whether only one triangle of A is kept. The size `a` in the report is that of the whole A.
    symmetric: bool,
    a: Size,
    x: Size,
    y: Size,
    /// Finite values that became infinite: `a` counts those of A, `b` of x, `c` of y.
    overflowed: Overflow,
    #[serde(flatten)]
    executed: Executed,
}

/// The format of a product.
#[derive(Serialize)]
struct Formatted {
    /// The format in which A is multiplied, or `None` if the reference multiplies.
    format: Option<Format>,
    why: Option<String>,
    /// The order in which the terms of a sum are added.
    order: Order,
}

impl Formatted {
    /// The format of product number `turn`: 0 for A·x or J·x, 1 for the product with Jᵀ.
    fn of(took: &Took, turn: usize) -> Self {
        let (format, why) = took.formats.get(turn).cloned().unzip();
        Self { format, why, order: took.order(turn) }
    }
}

/// The fields of y = Jᵀ·(W·(J·x)), except for those of the product with J.
#[derive(Serialize)]
struct Gram {
    /// The kind of weights, or `None` if there are no weights.
    weights: Option<&'static str>,
    /// The product with Jᵀ.
    #[serde(flatten)]
    back: Formatted,
}

impl Gram {
    /// The product, as text for the summary.
    fn text(&self, transposed: bool) -> String {
        let (first, last) = if transposed { ("Aᵀ·x", "A") } else { ("A·x", "Aᵀ") };
        match self.weights {
            None => format!("{last}·({first})"),
            Some(_) => format!("{last}·(W·({first}))"),
        }
    }
}

/// Reports a product. Fails if `different`, the number of elements of y that differ from the
/// reference's, is above 0.
pub fn finish(
    of: &Product<'_>,
    target: &Target,
    took: Took,
    different: Option<usize>,
    overflowed: Overflow,
    messages: &Messages,
) -> Result<(), Failure> {
    let (args, a, y_len) = (of.args, Size::of(&of.a.whole), of.y_len());
    if args.explain {
        explain(&took, messages);
    }
    let product = Formatted::of(&took, 0);
    let gram = args.gram.then(|| Gram { weights: of.weights.map(kind), back: Formatted::of(&took, 1) });
    let is_ordered = |order: Order| order != Order::Arrival;
    let reproducible = is_ordered(product.order) && gram.as_ref().is_none_or(|gram| is_ordered(gram.back.order));
    let flops = if args.gram { 4 } else { 2 } * a.elements() as u64;
    let mut executed =
        Executed::new(flops, took.convert_ms, took.device_bytes, took.runs_ms, args.run.repeat.is_some(), different);
    executed.rounded = !reproducible;
    let fields = Fields {
        product,
        gram,
        reproducible,
        element: of.a.whole.element().name(),
        vectors: of.x.element().name(),
        semiring: args.semiring,
        transposed: args.transpose,
        beta: of.old.map(|_| of.beta()),
        symmetric: args.symmetric,
        a,
        x: Size::of_vector(of.x.len()),
        y: Size::of_vector(y_len),
        overflowed,
        executed,
    };
    tell(args, &Report::new(target, fields), messages)?;
    match different {
        Some(count) if count > 0 => {
            let how =
                if reproducible { "have not the reference's bits" } else { "are not the reference's within rounding" };
            Err(Failure::Verification(format!("{count} of {y_len} elements of y {how}; nothing is written")))
        }
        _ => Ok(()),
    }
}

fn explain(took: &Took, messages: &Messages) {
    match &took.formats[..] {
        [] => messages.say("the reference adds entry after entry, and has no formats"),
        [(_, why)] => messages.say_lines(why),
        several => {
            let products = ["J·x", "the product with Jᵀ"];
            products
                .iter()
                .zip(several)
                .for_each(|(product, (_, why))| messages.say_lines(&format!("{product}: {why}")));
        }
    }
}

fn tell(args: &Args, report: &Report<Fields>, messages: &Messages) -> Result<(), Failure> {
    report.write(&args.run.report)?;
    let (device, report) = (report.device(), &report.of);
    let op = match &report.gram {
        Some(gram) => gram.text(report.transposed),
        None => if report.transposed { "Aᵀ·x" } else { "A·x" }.to_owned(),
    };
    let onto = onto("y", report.beta);
    let format = report.product.format;
    let mut by = format.map_or("the reference", Format::name).to_owned();
    if let Some(other) = report.gram.as_ref().and_then(|gram| gram.back.format).filter(|&other| format != Some(other)) {
        by += &format!(" and {other}");
    }
    let over = over(report.semiring);
    let types = match report.element == report.vectors {
        true => report.element.to_owned(),
        false => format!("{}, A in {},", report.vectors, report.element),
    };
    let text = format!(
        "y = {op}{onto}{over} in {types} by {by} on {device}\n  {} {}, {}",
        report.a.nnz(),
        report.a.entries(),
        report.executed.text()
    );
    output::summary(&text, args.files.writing.quiet, [&args.output, &args.run.report], messages)
}
