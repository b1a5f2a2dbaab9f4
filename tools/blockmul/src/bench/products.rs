//! Products by plans: A·B, and JᵀJ with weights of every kind.
use super::matrices::drawn;
use super::measure::{Case, Subject, equal};
use super::record::Record;
use crate::report::Size;
use blockmul::{
    BlockShape, Cbc, Method, Part, Planned, Product, Result,
    element::{AnyValues, ElementType},
    groups::BlockGroups,
    matrix::{AnyMatrix, Pattern},
    product::{GramParts, Inputs, Weights},
    reference,
};

/// The triangles of a Hessian that a solver wants.
const PARTS: GramParts = GramParts { diagonal: Part::Lower, between: Part::Upper };

impl Subject<'_> {
    /// Times executions of a plan of A·B (A·A without B).
    pub fn plan(&self, method: Method, (a, b, want): (&AnyMatrix, Option<&AnyMatrix>, &AnyMatrix)) -> Result<Record> {
        let device = self.device();
        let on_device = device.upload(a)?;
        let other = b.map(|b| device.upload(b)).transpose()?;
        let factors = (&on_device, other.as_ref().unwrap_or(&on_device));
        let product = || Product::of(factors.0, factors.1).method(method).semiring(self.semiring());
        let (plan, plan_ms) = self.planned(|| product().plan())?;
        let mut c = plan.output()?;
        plan.execute(factors, &mut c)?;
        let variant = if method == Method::Auto { "plan".into() } else { format!("plan by {}", method.name()) };
        let case = Case {
            b: Size::of(b.unwrap_or(a)),
            c_nnz: c.nnz(),
            cost: plan.cost(),
            plan_ms,
            ..Case::of(variant, a, equal(&c.download()?, want))
        };
        self.executed(case, &plan, || factors.into(), &mut c)
    }

    /// Times executions of plans of JᵀJ and of JᵀWJ.
    pub fn gram(&self, host: &BlockGroups<AnyMatrix>) -> Result<Vec<Record>> {
        let device = self.device();
        let j = device.upload_groups(host)?;
        let case = |variant: &str, h: &BlockGroups<AnyMatrix>, want: &BlockGroups<AnyMatrix>| {
            let first = host.get(0, 0).expect("cells side by side");
            Case { c_nnz: h.nnz(), b: Size::of(first), ..Case::of(variant, first, same_groups(h, want)) }
        };
        let (plan, plan_ms) = self.planned(|| Product::gram(&j).part(PARTS).plan())?;
        let mut h = plan.output()?;
        plan.execute(&j, &mut h)?;
        let case_of_j = case("gram", &h.download()?, &reference::gram_groups(host, PARTS)?);
        let case_of_j = Case { cost: plan.cost(), plan_ms, ..case_of_j };
        let mut records = vec![self.executed(case_of_j, &plan, || (&j).into(), &mut h)?];

        let group = host.row_groups()[0];
        let first = host.get(0, 0).expect("cells side by side");
        let element = first.element();
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
            let (plan, plan_ms) = self.planned(|| Product::gram(&j).weighted(&weights).part(PARTS).plan())?;
            let inputs = || Inputs::of(&j).weights(&weights[..]);
            plan.execute(inputs(), &mut h)?;
            let want = reference::gram_any_groups_weighted(host, &[of_host], PARTS)?;
            let case = Case { cost: plan.cost(), plan_ms, ..case(variant, &h.download()?, &want) };
            records.push(self.executed(case, &plan, inputs, &mut h)?);
        }
        Ok(records)
    }
}

/// Weights between 0.5 and 1.1.
pub fn numbers(element: ElementType, n: usize) -> AnyValues {
    drawn(element, (0..n).map(|i| 0.5 + (i % 7) as f64 / 10.0))
}

/// An information matrix for each block row.
fn diagonal(element: ElementType, n: usize, side: usize) -> Result<AnyMatrix> {
    let pattern = Pattern::new(n, n, (0..=n as u64).collect(), (0..n as u32).collect())?;
    let values = numbers(ElementType::F64, n * side * side).numbers();
    Ok(AnyMatrix::from(Cbc::new(pattern, BlockShape::new(side, side)?, values)?).cast(element))
}

fn same_groups(have: &BlockGroups<AnyMatrix>, want: &BlockGroups<AnyMatrix>) -> bool {
    let places =
        || (0..want.row_groups().len()).flat_map(|row| (0..want.col_groups().len()).map(move |col| (row, col)));
    let same = |(row, col)| match (have.get(row, col), want.get(row, col)) {
        (Some(have), Some(want)) => equal(have, want),
        (have, want) => have.is_none() && want.is_none(),
    };
    have.col_groups() == want.col_groups() && places().all(same)
}
