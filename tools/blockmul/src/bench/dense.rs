//! Products with dense matrices.
use super::apply::{bytes, vector};
use super::measure::Subject;
use super::operation::{self, Outcomes};
use super::record::Record;
use crate::choice::{Sharing, named, one_of, sharings};
use crate::dense::grouping;
use crate::matrix_size::Size;
use crate::numbers::some;
use blockmul::{
    Planned, Result, Semiring,
    dense::{AnyDense, DenseShape, DeviceDense, DeviceGcoo, Layout, Side},
    element::Any,
    matrix::AnyMatrix,
    plan::{ApplyDense, ApplyGcoo, DenseMethod},
    reference,
};
use std::num::NonZero;

/// Options of the operation dense: the dense matrix, and how work-groups share A.
#[derive(clap::Args)]
pub struct DenseArgs {
    /// Columns of the dense matrix of operation dense [default: 32].
    #[arg(long, value_name = "N", value_parser = some)]
    columns: Option<NonZero<u32>>,
    /// Layouts of that matrix and of the result, several with commas [default: rows].
    #[arg(long, value_name = "LAYOUT,...", value_delimiter = ',', value_parser = one_of(named(Layout::ALL, Layout::name)))]
    layout: Vec<Layout>,
    /// Ways in which work-groups share the entries of A in operation dense, several with commas
    /// [default: auto]; `stored` is a matrix that is stored in groups (GCOO).
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', value_parser = one_of(sharings()))]
    sharing: Vec<Sharing>,
    /// In operation dense, read A's values in place instead of copying them into the order of the
    /// sums.
    #[arg(long)]
    in_place: bool,
}

impl DenseArgs {
    /// Returns the name of the first option of the operation dense that was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--columns", self.columns.is_some()),
            ("--layout", !self.layout.is_empty()),
            ("--sharing", !self.sharing.is_empty()),
            ("--in-place", self.in_place),
        ];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }
}

/// A, D, and the product A·D by the reference.
pub struct Operands<'a> {
    a: &'a AnyMatrix,
    pub d: AnyDense,
    pub want: AnyDense,
}

impl<'a> Operands<'a> {
    /// Makes a dense matrix with `columns` columns for `a`, and computes the product by the
    /// reference.
    pub fn new(semiring: Semiring, a: &'a AnyMatrix, columns: usize, layout: Layout) -> Result<Self> {
        let shape = DenseShape::new(Size::of(a).cols(), columns, layout);
        let d = AnyDense::new(shape, vector(a.element(), shape.len()))?;
        let want = reference::multiply_any_dense(semiring, Side::Left, a, &d)?;
        Ok(Self { a, d, want })
    }
}

/// Times A·D for each layout and each way to share the entries of A.
pub fn dense(of: &operation::Operands<'_>) -> Result<Outcomes> {
    let DenseArgs { columns, layout: layouts, sharing, .. } = &of.bench.args.dense;
    let columns = columns.map_or(32, NonZero::get) as usize;
    let layouts = if layouts.is_empty() { &[Layout::ByRows] } else { &layouts[..] };
    let sharing = if sharing.is_empty() { &[Sharing::By(DenseMethod::Auto)] } else { &sharing[..] };
    let a = &of.oriented(of.matrix()?)?;
    let mut outcomes = Vec::new();
    for &layout in layouts {
        let operands = Operands::new(of.bench.args.semiring, a, columns, layout)?;
        let by = |&sharing: &Sharing| of.everywhere(&|on| Ok(vec![operands.timed(on, sharing)?]));
        outcomes.extend(sharing.iter().flat_map(by));
    }
    Ok(outcomes)
}

impl Operands<'_> {
    fn timed(&self, on: &Subject<'_>, sharing: Sharing) -> Result<Record> {
        let DenseShape { cols: columns, layout, .. } = self.d.shape();
        let (da, d) = (on.device().upload(self.a)?, on.device().upload_any_dense(&self.d)?);
        let Sharing::By(method) = sharing else {
            let of_rows = grouping(on.device(), da.shape(), false);
            let ((groups, plan), plan_ms) = on.planned(|| {
                let groups = DeviceGcoo::from_matrix(&da, of_rows)?;
                let plan = ApplyGcoo::with(&groups, columns).method(DenseMethod::Gcoo).semiring(on.semiring());
                let plan = plan.layouts(layout, layout).plan()?;
                Ok((groups, plan))
            })?;
            return self.by_plan(on, &format!("{} stored", plan.method()), &plan, plan_ms, || (&groups, &d));
        };
        let options = || {
            let options = ApplyDense::of(&da, columns).method(method);
            options.semiring(on.semiring()).layouts(layout, layout)
        };
        if on.bench.args.dense.in_place {
            let (plan, plan_ms) = on.planned(|| options().plan())?;
            return self.by_plan(on, &format!("{} in place", plan.method()), &plan, plan_ms, || (&da, &d));
        }
        let (packed, plan_ms) = on.planned(|| options().pack(&da))?;
        self.by_plan(on, packed.method().name(), &packed, plan_ms, || &d)
    }

    /// Verifies and times a plan by the method `name`. The counted bytes of A·D are the values, D
    /// and C, and 4 bytes of index for each entry and row.
    fn by_plan<'i, P: Planned<Output = DeviceDense<Any>>>(
        &self,
        on: &Subject<'_>,
        name: &str,
        plan: &P,
        plan_ms: f64,
        inputs: impl Fn() -> P::Inputs<'i>,
    ) -> Result<Record> {
        let Self { a, d, want } = self;
        on.executed(plan, plan_ms, inputs, |c| {
            let found = c.download()?;
            let right = found.shape() == want.shape() && found.values().bytes() == want.values().bytes();
            let lines = if a.kind().is_row_major() { a.pattern().ncols() } else { a.pattern().nrows() };
            let elements = a.values().len() + d.values().len() + want.values().len();
            let bytes = bytes(a.element(), elements, 4 * (a.nnz() + lines));
            let DenseShape { rows, cols, layout, .. } = d.shape();
            let record = on.record(format!("dense {name} by {layout} {cols}"), *a, right)?;
            Ok(Record { b: Size::of_dense(rows, cols), c_nnz: want.values().len(), bytes, ..record })
        })
    }
}
