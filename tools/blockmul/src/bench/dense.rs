//! Products with dense matrices.
use super::measure::{Case, Subject};
use super::record::Record;
use super::vectors::{bytes, vector};
use crate::numbers::some;
use crate::report::Size;
use blockmul::{
    Planned, Result, Semiring,
    dense::{AnyDense, DenseShape, DeviceDense, DeviceGcoo, Grouping, Layout, Side},
    element::Any,
    matrix::AnyMatrix,
    plan::{ApplyDense, ApplyGcoo, DenseMethod},
    reference,
};
use std::num::NonZero;

/// The dense matrix, and how A is shared out.
#[derive(clap::Args)]
pub struct DenseArgs {
    /// Columns of the dense matrix of operation dense [default: 32].
    #[arg(long, value_name = "N", value_parser = some)]
    columns: Option<NonZero<u32>>,
    /// Layouts of that matrix and of the result, several with commas [default: rows].
    #[arg(long, value_name = "LAYOUT,...", value_delimiter = ',', value_parser = names(Layout::ALL, Layout::name))]
    layout: Vec<String>,
    /// Ways to share the entries of A out in operation dense, several with commas [default: auto];
    /// `stored` is a matrix in groups (GCOO), multiplied as it is.
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', value_parser = sharings())]
    sharing: Vec<String>,
    /// Read A's values where they are in operation dense, not copied into the order of the sums.
    #[arg(long)]
    in_place: bool,
}

fn names<T: Copy>(all: &'static [T], name: fn(T) -> &'static str) -> clap::builder::PossibleValuesParser {
    all.iter().map(|one| name(*one)).collect::<Vec<_>>().into()
}

/// The name of [`Way::Stored`].
const STORED: &str = "stored";

fn sharings() -> clap::builder::PossibleValuesParser {
    let all = [DenseMethod::Auto].iter().chain(DenseMethod::ALL);
    all.map(|method| method.name()).chain([STORED]).collect::<Vec<_>>().into()
}

/// How A is prepared.
#[derive(Clone, Copy)]
pub enum Way {
    /// Its values are copied into the order of the sums.
    Packed(DenseMethod),
    /// Its values are read where they are.
    InPlace(DenseMethod),
    /// It is converted to grouped coordinates.
    Stored,
}

/// A product of each matrix, by each way to share its entries out.
#[derive(Clone)]
pub struct Dense {
    columns: usize,
    layout: Layout,
    pub ways: Vec<Way>,
}

/// The dense matrix of such a product, and the result by the reference.
pub struct DenseOperand {
    d: AnyDense,
    /// C by the reference.
    want: AnyDense,
}

impl DenseArgs {
    /// The first option that is given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--columns", self.columns.is_some()),
            ("--layout", !self.layout.is_empty()),
            ("--sharing", !self.sharing.is_empty()),
            ("--in-place", self.in_place),
        ];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// The products of a matrix.
    pub fn cases(&self) -> Result<Vec<Dense>> {
        let columns = self.columns.map_or(32, NonZero::get) as usize;
        let of_method = if self.in_place { Way::InPlace } else { Way::Packed };
        let way = |name: &String| match name.as_str() {
            STORED => Ok(Way::Stored),
            name => name.parse().map(of_method),
        };
        let mut ways = self.sharing.iter().map(way).collect::<Result<Vec<_>>>()?;
        let mut layouts = self.layout.iter().map(|layout| layout.parse()).collect::<Result<Vec<_>>>()?;
        if ways.is_empty() {
            ways.push(of_method(DenseMethod::Auto));
        }
        if layouts.is_empty() {
            layouts.push(Layout::ByRows);
        }
        let of = |layout| Dense { columns, layout, ways: ways.clone() };
        Ok(layouts.into_iter().map(of).collect())
    }
}

impl Dense {
    /// The dense matrix to multiply `a` with.
    pub fn operand(&self, semiring: Semiring, a: &AnyMatrix) -> Result<DenseOperand> {
        let shape = DenseShape::new(Size::of(a).cols(), self.columns, self.layout);
        let d = AnyDense::new(shape, vector(a.element(), shape.len()))?;
        let want = reference::multiply_any_dense(semiring, Side::Left, false, a, &d)?;
        Ok(DenseOperand { d, want })
    }
}

impl Subject<'_> {
    /// Times A·D. Bytes are those of the values, of 4 of index for each entry and row, of D and of
    /// C.
    pub fn dense(&self, a: &AnyMatrix, operand: &DenseOperand, way: Way) -> Result<Record> {
        let DenseShape { cols: columns, layout, .. } = operand.d.shape();
        let (da, d) = (self.device().upload(a)?, self.device().upload_any_dense(&operand.d)?);
        let options = |method| {
            let options = ApplyDense::of(&da, columns).method(method);
            options.semiring(self.semiring()).layouts(layout, layout)
        };
        match way {
            Way::Packed(method) => {
                let (packed, plan_ms) = self.planned(|| options(method).pack(&da))?;
                self.by_plan(a, operand, packed.method().name(), (&packed, plan_ms), || &d)
            }
            Way::InPlace(method) => {
                let (plan, plan_ms) = self.planned(|| options(method).plan())?;
                self.by_plan(a, operand, &format!("{} in place", plan.method()), (&plan, plan_ms), || (&da, &d))
            }
            Way::Stored => {
                // Rows of blocks that have the rows of a group.
                let rows = self.device().info().numbers().dense_group_lines.div_ceil(da.shape().rows());
                let ((groups, plan), plan_ms) = self.planned(|| {
                    let groups = DeviceGcoo::from_matrix(&da, Grouping::Rows(rows))?;
                    let plan = ApplyGcoo::with(&groups, columns).method(DenseMethod::Gcoo).semiring(self.semiring());
                    let plan = plan.layouts(layout, layout).plan()?;
                    Ok((groups, plan))
                })?;
                let name = format!("{} stored", plan.method());
                self.by_plan(a, operand, &name, (&plan, plan_ms), || (&groups, &d))
            }
        }
    }

    /// Verifies and times a plan, by the method `name`.
    fn by_plan<'i, P: Planned<Output = DeviceDense<Any>>>(
        &self,
        a: &AnyMatrix,
        DenseOperand { d, want }: &DenseOperand,
        name: &str,
        (plan, plan_ms): (&P, Option<f64>),
        inputs: impl Fn() -> P::Inputs<'i>,
    ) -> Result<Record> {
        let mut c = plan.output()?;
        plan.execute(inputs(), &mut c)?;
        let found = c.download()?;
        let right = found.shape() == want.shape() && found.values().bytes() == want.values().bytes();
        let index = 4 * (a.nnz() + if a.kind().is_row_major() { a.pattern().ncols() } else { a.pattern().nrows() });
        let elements = a.values().len() + d.values().len() + want.values().len();
        let DenseShape { rows, cols, layout, .. } = d.shape();
        let case = Case {
            b: Size::of_dense(rows, cols),
            c_nnz: want.values().len(),
            cost: plan.cost(),
            bytes: bytes(a.element(), elements, index),
            plan_ms,
            ..Case::of(format!("dense {name} by {layout} {cols}"), a, right)
        };
        self.executed(case, plan, inputs, &mut c)
    }
}
