//! Products with dense matrices.
use super::measure::{Case, Subject, same_bits};
use super::record::Record;
use crate::numbers::some;
use crate::report::Size;
use blockmul::{
    Cbc, Element, Planned, Result,
    dense::{DenseShape, DenseView, DenseViewMut, Layout, Side},
    plan::{ApplyDense, DenseMethod},
    reference,
};
use std::num::NonZero;

/// The dense matrix, and how A is shared out.
#[derive(clap::Args)]
pub struct DenseArgs {
    /// Columns of the dense matrix of operation dense.
    #[arg(long, value_name = "N", default_value = "32", value_parser = some)]
    columns: NonZero<u32>,
    /// Layouts of that matrix and of the result, several with commas.
    #[arg(long, value_name = "LAYOUT,...", value_delimiter = ',', value_parser = names(Layout::ALL, Layout::name), default_value = "rows")]
    layout: Vec<String>,
    /// Ways to share the entries of A out in operation dense, several with commas.
    #[arg(long, value_name = "METHOD,...", value_delimiter = ',', value_parser = sharings(), default_value = "auto")]
    sharing: Vec<String>,
}

fn names<T: Copy>(all: &'static [T], name: fn(T) -> &'static str) -> clap::builder::PossibleValuesParser {
    all.iter().map(|one| name(*one)).collect::<Vec<_>>().into()
}

fn sharings() -> clap::builder::PossibleValuesParser {
    let all = [DenseMethod::Auto].iter().chain(DenseMethod::ALL);
    all.map(|method| method.name()).collect::<Vec<_>>().into()
}

/// One product of each matrix.
#[derive(Clone, Copy)]
pub struct Dense {
    columns: usize,
    layout: Layout,
    method: DenseMethod,
}

impl DenseArgs {
    /// Every combination.
    pub fn cases(&self) -> Result<Vec<Dense>> {
        let mut cases = Vec::new();
        for layout in &self.layout {
            for method in &self.sharing {
                let (layout, method) = (layout.parse()?, method.parse()?);
                cases.push(Dense { columns: self.columns.get() as usize, layout, method });
            }
        }
        Ok(cases)
    }
}

impl Subject<'_> {
    /// Times A·D with A's values in the order of the sums. Bytes are those of the values, of 4 of
    /// index for each entry and row, of D and of C.
    pub fn dense<T: Element>(&self, a: &Cbc<T>, dense: Dense) -> Result<Record> {
        let Dense { columns, layout, method } = dense;
        let da = self.device().upload(a)?;
        let pattern = da.pattern();
        let (packed, plan_ms) = self.planned(|| {
            let options = ApplyDense::<Cbc<T>>::with(&pattern, columns).method(method);
            options.semiring(self.semiring()).layouts(layout, layout).pack(&da)
        })?;
        let shape = |(rows, cols)| DenseShape::new(rows, cols, layout);
        let (d_shape, c_shape) = (shape(packed.d_sides()), shape(packed.c_sides()));
        let number = |i: usize| T::from_f64((i * 37 % 1001) as f64 * 0.002 - 1.0);
        let d: Vec<T> = (0..d_shape.len()).map(number).collect();
        let d = DenseView::new(d_shape, &d)?;
        let (on_device, mut c) = (self.device().upload_dense(d)?, packed.output()?);
        packed.execute(&on_device, &mut c)?;
        let mut want = vec![T::from_f64(0.0); c_shape.len()];
        let into = (0.0, DenseViewMut::new(c_shape, &mut want)?);
        reference::multiply_dense_over(self.semiring(), Side::Left, false, (1.0, a, d), into)?;
        let right = same_bits(&c.values()?, &want);
        let index = 4 * (a.nnz() + a.pattern().nrows());
        let elements = a.values().len() + d.values().len() + want.len();
        let variant = format!("dense {} by {layout} {columns}", packed.method());
        let case = Case {
            b: Size::of_dense(d_shape.rows, d_shape.cols),
            c_nnz: want.len(),
            cost: packed.cost(),
            bytes: Some((elements * size_of::<T>() + index) as u64),
            plan_ms,
            ..Case::of(variant, a, right)
        };
        self.executed(case, &packed, || &on_device, &mut c)
    }
}
