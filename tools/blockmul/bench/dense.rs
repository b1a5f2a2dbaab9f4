//! Products with dense matrices.
use super::measure::{Case, Subject, same_bits};
use super::record::Record;
use crate::numbers::some;
use crate::report::Size;
use blockmul::{
    Element, Matrix, Planned, Result, Semiring,
    dense::{DenseShape, DenseView, DenseViewMut, Layout, Side},
    plan::{ApplyDense, DenseMethod},
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
    /// Ways to share the entries of A out in operation dense, several with commas [default: auto].
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', value_parser = sharings())]
    sharing: Vec<String>,
}

fn names<T: Copy>(all: &'static [T], name: fn(T) -> &'static str) -> clap::builder::PossibleValuesParser {
    all.iter().map(|one| name(*one)).collect::<Vec<_>>().into()
}

fn sharings() -> clap::builder::PossibleValuesParser {
    let all = [DenseMethod::Auto].iter().chain(DenseMethod::ALL);
    all.map(|method| method.name()).collect::<Vec<_>>().into()
}

/// A product of each matrix, by each way to share its entries out.
#[derive(Clone)]
pub struct Dense {
    columns: usize,
    layout: Layout,
    pub methods: Vec<DenseMethod>,
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
        ];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// The products of a matrix.
    pub fn cases(&self) -> Result<Vec<Dense>> {
        let columns = self.columns.map_or(32, NonZero::get) as usize;
        let mut methods = self.sharing.iter().map(|method| method.parse()).collect::<Result<Vec<_>>>()?;
        let mut layouts = self.layout.iter().map(|layout| layout.parse()).collect::<Result<Vec<_>>>()?;
        if methods.is_empty() {
            methods.push(DenseMethod::Auto);
        }
        if layouts.is_empty() {
            layouts.push(Layout::ByRows);
        }
        let of = |layout| Dense { columns, layout, methods: methods.clone() };
        Ok(layouts.into_iter().map(of).collect())
    }
}

impl Dense {
    /// The dense matrix to multiply `a` with.
    pub fn operand<M: Matrix>(&self, semiring: Semiring, a: &M) -> Result<DenseOperand<M::Element>> {
        let size = Size::of(a);
        let shapes = [size.cols(), size.rows()].map(|rows| DenseShape::new(rows, self.columns, self.layout));
        let number = |i: usize| M::Element::from_f64((i * 37 % 1001) as f64 * 0.002 - 1.0);
        let d: Vec<M::Element> = (0..shapes[0].len()).map(number).collect();
        let mut want = vec![M::Element::from_f64(0.0); shapes[1].len()];
        let into = (0.0, DenseViewMut::new(shapes[1], &mut want)?);
        let of_a = (1.0, a, DenseView::new(shapes[0], &d)?);
        reference::multiply_dense_over(semiring, Side::Left, false, of_a, into)?;
        Ok(DenseOperand { shapes, d, want })
    }
}

impl Subject<'_> {
    /// Times A·D with A's values in the order of the sums. Bytes are those of the values, of 4 of
    /// index for each entry and row, of D and of C.
    pub fn dense<M: Matrix>(
        &self,
        a: &M,
        DenseOperand { shapes: [d_shape, c_shape], d, want }: &DenseOperand<M::Element>,
        method: DenseMethod,
    ) -> Result<Record> {
        let (columns, layout) = (d_shape.cols, d_shape.layout);
        let da = self.device().upload(a)?;
        let pattern = da.pattern();
        let (packed, plan_ms) = self.planned(|| {
            let options = ApplyDense::<M>::with(&pattern, columns).method(method);
            options.semiring(self.semiring()).layouts(layout, layout).pack(&da)
        })?;
        let on_device = self.device().upload_dense(DenseView::new(*d_shape, d)?)?;
        let mut c = packed.output()?;
        packed.execute(&on_device, &mut c)?;
        let right = c.shape() == *c_shape && same_bits(&c.values()?, want);
        let view = a.as_cbc();
        let lines = if M::ROW_MAJOR { view.pattern.ncols() } else { view.pattern.nrows() };
        let index = 4 * (view.pattern.nnz() + lines);
        let elements = view.values.len() + d.len() + want.len();
        let variant = format!("dense {} by {layout} {columns}", packed.method());
        let case = Case {
            b: Size::of_dense(d_shape.rows, d_shape.cols),
            c_nnz: want.len(),
            cost: packed.cost(),
            bytes: Some((elements * size_of::<M::Element>() + index) as u64),
            plan_ms,
            ..Case::of(variant, a, right)
        };
        self.executed(case, &packed, || &on_device, &mut c)
    }
}
