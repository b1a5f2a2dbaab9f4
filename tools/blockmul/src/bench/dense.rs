//! Products with dense matrices.
use super::measure::{Case, Subject, same_bits};
use super::record::Record;
use super::vectors::of_type;
use crate::numbers::some;
use crate::report::Size;
use blockmul::{
    Element, Matrix, Planned, Result, Semiring,
    dense::{DenseShape, DenseView, DenseViewMut, DeviceDense, DeviceGcoo, Grouping, Layout, Side},
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
pub struct DenseOperand<T> {
    shapes: [DenseShape; 2],
    d: Vec<T>,
    want: Vec<T>,
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
    pub fn operand<M: Matrix>(&self, semiring: Semiring, a: &M) -> Result<DenseOperand<M::Element>> {
        let size = Size::of(a);
        let shapes = [size.cols(), size.rows()].map(|rows| DenseShape::new(rows, self.columns, self.layout));
        let d = of_type::<M::Element>(shapes[0].len());
        let mut want = vec![M::Element::from_f64(0.0); shapes[1].len()];
        let into = (0.0, DenseViewMut::new(shapes[1], &mut want)?);
        let of_a = (1.0, a, DenseView::new(shapes[0], &d)?);
        reference::multiply_dense_over(semiring, Side::Left, false, of_a, into)?;
        Ok(DenseOperand { shapes, d, want })
    }
}

impl Subject<'_> {
    /// Times A·D. Bytes are those of the values, of 4 of index for each entry and row, of D and of
    /// C.
    pub fn dense<M: Matrix>(&self, a: &M, operand: &DenseOperand<M::Element>, way: Way) -> Result<Record> {
        let DenseOperand { shapes: [d_shape, _], d, .. } = operand;
        let (columns, layout) = (d_shape.cols, d_shape.layout);
        let da = self.device().upload(a)?;
        let d = self.device().upload_dense(DenseView::new(*d_shape, d)?)?;
        let pattern = da.pattern();
        let options = |method| {
            let options = ApplyDense::<M>::with(&pattern, columns).method(method);
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
    fn by_plan<'i, M: Matrix, P: Planned<Output = DeviceDense<M::Element>>>(
        &self,
        a: &M,
        DenseOperand { shapes: [d_shape, c_shape], d, want }: &DenseOperand<M::Element>,
        name: &str,
        (plan, plan_ms): (&P, Option<f64>),
        inputs: impl Fn() -> P::Inputs<'i>,
    ) -> Result<Record> {
        let mut c = plan.output()?;
        plan.execute(inputs(), &mut c)?;
        let right = c.shape() == *c_shape && same_bits(&c.values()?, want);
        let view = a.as_cbc();
        let lines = if M::ROW_MAJOR { view.pattern.ncols() } else { view.pattern.nrows() };
        let index = 4 * (view.pattern.nnz() + lines);
        let elements = view.values.len() + d.len() + want.len();
        let case = Case {
            b: Size::of_dense(d_shape.rows, d_shape.cols),
            c_nnz: want.len(),
            cost: plan.cost(),
            bytes: Some((elements * size_of::<M::Element>() + index) as u64),
            plan_ms,
            ..Case::of(format!("dense {name} by {} {}", d_shape.layout, d_shape.cols), a, right)
        };
        self.executed(case, plan, inputs, &mut c)
    }
}
