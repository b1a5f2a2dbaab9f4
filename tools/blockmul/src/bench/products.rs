//! Products A·B without a plan and with plans, and JᵀJ with weights of every kind.
use super::matrices::drawn;
use super::measure::{Subject, equal, equal_groups};
use super::operation::{Operands, Outcomes};
use super::record::{Record, rate};
use crate::matrix_size::Size;
use blockmul::{
    BlockShape, Cbc, Method, Part, Product, Result,
    element::{AnyValues, ElementType},
    groups::BlockGroups,
    matrix::{AnyMatrix, Pattern},
    product::{GramParts, Inputs, Report, Weights},
    reference,
};

/// The triangles of a Hessian that a solver needs.
const PARTS: GramParts = GramParts { diagonal: Part::Lower, between: Part::Upper };

/// A and B of a product, and C by the reference.
struct Factors {
    a: AnyMatrix,
    /// The factor B, or `None` if B is A.
    b: Option<AnyMatrix>,
    want: AnyMatrix,
}

impl Factors {
    fn b(&self) -> &AnyMatrix {
        self.b.as_ref().unwrap_or(&self.a)
    }
}

/// Times products without a plan.
pub fn product(of: &Operands<'_>) -> Result<Outcomes> {
    by_methods(of, from_nothing)
}

/// Times executions of plans.
pub fn plan(of: &Operands<'_>) -> Result<Outcomes> {
    by_methods(of, by_plan)
}

/// Measures A·B by every method on every device; A·A if there is no B.
fn by_methods(of: &Operands<'_>, measure: fn(&Subject<'_>, Method, &Factors) -> Result<Record>) -> Result<Outcomes> {
    let bench = of.bench;
    let (a, b) = of.source.operands(of.element, of.shape)?;
    let (a, b) = (of.oriented(a)?, b.map(|b| of.oriented(b)).transpose()?);
    bench.messages.step(format!("{}: the reference", of.source.name(of.shape)));
    let want = reference::multiply_over(bench.args.semiring, &a, b.as_ref().unwrap_or(&a))?;
    let factors = Factors { a, b, want };
    // The name `all` is not a method, so it is `None` in the list.
    let named = bench.args.method.iter().copied().collect::<Option<Vec<Method>>>();
    let all = || Method::ALL.iter().copied().filter(|method| !method.needs_mask()).collect();
    let methods = named.unwrap_or_else(all);
    let mut outcomes = Vec::new();
    for place in &bench.devices {
        let on = of.on(place);
        let by = |&method: &Method| measure(&on, method, &factors).map(|record| vec![record]);
        outcomes.extend(methods.iter().map(by));
    }
    Ok(outcomes)
}

fn from_nothing(on: &Subject<'_>, method: Method, factors: &Factors) -> Result<Record> {
    let (device, Factors { a, b, want }) = (on.device(), factors);
    let record = on.record(method.name(), a, true)?;
    let record = Record { b: Size::of(factors.b()), c_nnz: want.nnz(), ..record };
    let progress = on.progress(&record);
    let a = device.upload(a)?;
    let b = b.as_ref().map(|b| device.upload(b)).transpose()?;
    let b = b.as_ref().unwrap_or(&a);
    let product = Product::of(&a, b).method(method).semiring(on.semiring());
    let flops_each = 2 * (want.shape().area() * factors.a.shape().cols()) as u64;
    let reported = |report: Report| Record {
        products: report.products,
        flops: report.products * flops_each,
        launches: report.launches,
        read_backs: report.read_backs,
        bands: report.bands,
        longest_run: report.longest_run,
        peak_device_bytes: report.peak_device_bytes,
        bins: report.bins,
        ..record
    };
    let (c, first) = product.run_with_report()?;
    if !equal(&c.download()?, want) {
        return Ok(Record { verified: false, ..reported(first) });
    }
    drop(c);
    product.run()?;
    device.finish()?;

    // The memory of C returns to the pool before the next run. Measuring the stages would make the
    // whole product slower, so they are measured in another run.
    let untimed = Product::of(&a, b).method(method).semiring(on.semiring()).untimed();
    let (mut stages, mut last) = (Vec::new(), first);
    let runs = on.bench.args.patience.rounds(&progress, &mut || {
        let total_ms = untimed.run_with_report()?.1.total_ms;
        last = product.run_with_report()?.1;
        stages.push(last.stages.clone());
        Ok(total_ms)
    })?;
    let record = reported(last).timed(runs, &stages);
    Ok(Record { gflops: rate(record.flops, record.ms), ..record })
}

fn by_plan(on: &Subject<'_>, method: Method, factors: &Factors) -> Result<Record> {
    let (device, Factors { a, b, want }) = (on.device(), factors);
    let on_device = device.upload(a)?;
    let other = b.as_ref().map(|b| device.upload(b)).transpose()?;
    let inputs = (&on_device, other.as_ref().unwrap_or(&on_device));
    let variant = if method == Method::Auto { "plan".into() } else { format!("plan by {}", method.name()) };
    on.by_plan(
        || Product::of(inputs.0, inputs.1).method(method).semiring(on.semiring()).plan(),
        || inputs.into(),
        |c| {
            let record = on.record(variant, a, equal(&c.download()?, want))?;
            Ok(Record { b: Size::of(factors.b()), c_nnz: c.nnz(), ..record })
        },
    )
}

/// Times executions of plans of JᵀJ and of JᵀWJ.
pub fn gram(of: &Operands<'_>) -> Result<Outcomes> {
    let j = of.source.jacobian(of.element, of.shape)?;
    Ok(of.everywhere(&|on| grams(on, &j)))
}

fn grams(on: &Subject<'_>, host: &BlockGroups<AnyMatrix>) -> Result<Vec<Record>> {
    let device = on.device();
    let j = device.upload_groups(host)?;
    let first = host.get(0, 0).expect("cells side by side");
    let record = |variant: &str, h: BlockGroups<AnyMatrix>, want: BlockGroups<AnyMatrix>| {
        let (c_nnz, b) = (h.nnz(), Size::of(first));
        Ok(Record { c_nnz, b, ..on.record(variant, first, equal_groups(h, want))? })
    };
    let mut records = vec![on.by_plan(
        || Product::gram(&j).part(PARTS).plan(),
        || (&j).into(),
        |h| record("gram", h.download()?, reference::gram_groups(host, PARTS)?),
    )?];

    let (group, element) = (host.row_groups()[0], first.element());
    let (blocks, residuals) = (numbers(element, group.blocks), numbers(element, group.scalars()));
    let information = diagonal(element, group.blocks, group.side)?;
    let (on_device, of_blocks) = (device.upload(&information)?, device.upload_any_vector(&blocks)?);
    let of_rows = device.upload_any_vector(&residuals)?;
    for (variant, weights, of_host) in [
        ("gram-residuals", Weights::Rows(&of_rows), Weights::Rows(&residuals)),
        ("gram-blocks", Weights::BlockRows(&of_blocks), Weights::BlockRows(&blocks)),
        ("gram-information", Weights::Information(&on_device), Weights::Information(&information)),
        (
            "gram-scaled",
            Weights::Scaled { information: &on_device, weights: &of_blocks },
            Weights::Scaled { information: &information, weights: &blocks },
        ),
    ] {
        let weights = [weights];
        records.push(on.by_plan(
            || Product::gram(&j).weighted(&weights).part(PARTS).plan(),
            || Inputs::of(&j).weights(&weights[..]),
            |h| record(variant, h.download()?, reference::gram_any_groups_weighted(host, &[of_host], PARTS)?),
        )?);
    }
    Ok(records)
}

/// Weights between 0.5 and 1.1.
pub fn numbers(element: ElementType, n: usize) -> AnyValues {
    drawn(element, (0..n).map(|i| 0.5 + (i % 7) as f64 / 10.0))
}

/// An information matrix for each row of blocks.
fn diagonal(element: ElementType, n: usize, side: usize) -> Result<AnyMatrix> {
    let pattern = Pattern::new(n, n, (0..=n as u64).collect(), (0..n as u32).collect())?;
    let values = numbers(ElementType::F64, n * side * side).numbers();
    Ok(AnyMatrix::from(Cbc::new(pattern, BlockShape::new(side, side)?, values)?).cast(element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{
        Args,
        measure::{Bench, Place},
        operation::OPERATIONS,
        table,
    };
    use crate::messages::Messages;
    use blockmul::{Csc, Device};
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn a_result_that_is_not_the_reference_s_is_not_timed_and_said_to_be_wrong() {
        let wanted = std::env::var("BLOCKMUL_TEST_DEVICE").unwrap_or("auto".into());
        let Line { args } = Line::parse_from(["bench", "--rounds", "2", "--max-time", "1"]);
        let devices = vec![Place::new(Device::select(&wanted).unwrap())];
        let bench = Bench { args: &args, devices, messages: Messages::new(true) };
        let on = bench.on(&bench.devices[0], &OPERATIONS[0], "a".into());
        let a = Csc::from_triplets(2, 2, [(0, 0, 2.0), (1, 1, 0.0)]).unwrap();
        let with = |values: [f64; 2]| Csc::new(a.pattern().clone(), values.to_vec()).unwrap();
        // The cases are the right product, one with a different bit, one with a zero of the other
        // sign, and one with another pattern.
        let more = Csc::from_triplets(2, 2, [(0, 0, 4.0), (1, 0, 0.0), (1, 1, 0.0)]).unwrap();
        for (want, right) in [
            (with([4.0, 0.0]), true),
            (with([4.0f64.next_up(), 0.0]), false),
            (with([4.0, -0.0]), false),
            (more, false),
        ] {
            let factors = Factors { a: a.clone().into(), b: None, want: want.into() };
            let record = from_nothing(&on, Method::Esc, &factors).unwrap();
            assert_eq!(
                (record.verified, record.runs_ms.len(), record.ms.is_some()),
                (right, 2 * usize::from(right), right)
            );
            let text = table::text(&[record], true);
            assert_eq!((text.contains("NO"), text.contains("setup")), (!right, right), "{text}");
        }
    }
}
