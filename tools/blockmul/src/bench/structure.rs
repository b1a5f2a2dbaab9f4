//! Transposes, permutations, sums and scalars of matrices, beside a copy. Bytes are those of the
//! values, read and written once, and of the words of structure that a plan reads for each entry.
use super::measure::{Case, Subject, equal};
use super::operation::Operation;
use super::record::Record;
use crate::report::Size;
use blockmul::{
    Cbc, Part, Planned, Result,
    element::ElementType,
    generate::Random,
    matrix::{self, AnyMatrix, Pattern},
    plan::{Add, Permute, ScalarMap, Scalars, Transpose},
};

impl Subject<'_> {
    /// Times a copy of A, or a permutation of its block rows and columns.
    pub fn permute(&self, a: &AnyMatrix) -> Result<Record> {
        let order = |n: usize| if self.operation() == Operation::Copy { (0..n).collect() } else { shuffled(n) };
        let (rows, cols) = (order(a.nrows()), order(a.ncols()));
        let da = self.device().upload(a)?;
        let (plan, plan_ms) = self.planned(|| Permute::of(&da, &rows, &cols))?;
        let mut c = plan.output()?;
        plan.execute(&da, &mut c)?;
        let right = equal(&c.download()?, &permuted(a, &rows, &cols)?);
        let case = Case { cost: plan.cost(), plan_ms, ..self.moving(a, c.nnz(), 1, right) };
        self.executed(case, &plan, || &da, &mut c)
    }

    /// Times Aᵀ.
    pub fn transpose(&self, a: &AnyMatrix) -> Result<Record> {
        let da = self.device().upload(a)?;
        let (plan, plan_ms) = self.planned(|| Transpose::of(&da))?;
        let mut c = plan.output()?;
        plan.execute(&da, &mut c)?;
        let right = equal(&c.download()?, &a.transpose()?);
        let case = Case { cost: plan.cost(), plan_ms, ..self.moving(a, c.nnz(), 1, right) };
        self.executed(case, &plan, || &da, &mut c)
    }

    /// Times A + 0.5·B, where B is A with its block rows in reverse.
    pub fn add(&self, a: &AnyMatrix) -> Result<Record> {
        let (rows, cols): (Vec<_>, Vec<_>) = ((0..a.nrows()).rev().collect(), (0..a.ncols()).collect());
        let b = permuted(a, &rows, &cols)?;
        let (da, db) = (self.device().upload(a)?, self.device().upload(&b)?);
        let (plan, plan_ms) = self.planned(|| Add::of(&da, &db))?;
        let mut c = plan.output()?;
        plan.execute([(1.0, &da), (0.5, &db)], &mut c)?;
        let want = matrix::add_any(1.0, a, 0.5, &b)?;
        let right = equal(&c.download()?, &want);
        let case = Case { b: Size::of(&b), cost: plan.cost(), plan_ms, ..self.moving(a, c.nnz(), 2, right) };
        self.executed(case, &plan, || [(1.0, &da), (0.5, &db)], &mut c)
    }

    /// Times a permutation of a symmetric matrix of which the lower triangle is stored: A's.
    pub fn permute_lower(&self, a: &AnyMatrix) -> Result<Record> {
        let (lower, order) = (a.triangle(Part::Lower), shuffled(a.nrows()));
        let on_device = self.device().upload(&lower)?;
        let (plan, plan_ms) = self.planned(|| Permute::symmetric_of(&on_device, &order, Part::Lower))?;
        let mut c = plan.output()?;
        plan.execute(&on_device, &mut c)?;
        let right = equal(&c.download()?, &permuted_lower(&lower, &order)?);
        let case = Case { cost: plan.cost(), plan_ms, ..self.moving(&lower, c.nnz(), 2, right) };
        self.executed(case, &plan, || &on_device, &mut c)
    }

    /// Times the scalars of A's lower triangle.
    pub fn scalars(&self, a: &AnyMatrix) -> Result<Record> {
        let lower = a.triangle(Part::Lower);
        let on_device = self.device().upload(&lower)?;
        let (plan, plan_ms) = self.planned(|| Scalars::lower_of(&on_device))?;
        let mut c = plan.output()?;
        plan.execute(&on_device, &mut c)?;
        let want = ScalarMap::lower(&lower)?.any_values(&lower)?;
        let right = c.download()?.bytes() == want.bytes();
        let case = Case { cost: plan.cost(), plan_ms, ..self.moving(&lower, lower.nnz(), 4, right) };
        self.executed(case, &plan, || &on_device, &mut c)
    }

    /// The case of moving `entries` of A's shape, with `words` of structure for each.
    fn moving(&self, a: &AnyMatrix, entries: usize, words: usize, right: bool) -> Case {
        let bytes = entries * (2 * a.shape().area() * a.element().bytes() + 4 * words);
        Case { c_nnz: entries, bytes: Some(bytes as u64), ..Case::of(self.operation().name(), a, right) }
    }
}

/// The numbers below `n` in an order drawn at random, the same in every run.
fn shuffled(n: usize) -> Vec<usize> {
    let (mut order, mut random) = ((0..n).collect::<Vec<_>>(), Random::new(1));
    (1..n).for_each(|i| order.swap(i, random.below(i as u64 + 1) as usize));
    order
}

/// The matrix that a model makes of the numbers of one, which `f64` has exactly.
fn modelled(a: &AnyMatrix, model: impl FnOnce(&Cbc<f64>) -> Result<Cbc<f64>>) -> Result<AnyMatrix> {
    Ok(AnyMatrix::from(model(&a.cast(ElementType::F64).typed()?)?).cast(a.element()))
}

/// The model of a permutation: block (i, j) is block (`rows[i]`, `cols[j]`) of A.
fn permuted(a: &AnyMatrix, rows: &[usize], cols: &[usize]) -> Result<AnyMatrix> {
    modelled(a, |a| Ok(with_columns(&with_columns(a, cols)?.transpose(), rows)?.transpose()))
}

/// The matrix of these block columns of A.
fn with_columns(a: &Cbc<f64>, cols: &[usize]) -> Result<Cbc<f64>> {
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for &col in cols {
        let entries = a.pattern().entries(col);
        row_idx.extend_from_slice(&a.pattern().row_idx()[entries.clone()]);
        values.extend_from_slice(&a.values()[entries.start * a.stride()..entries.end * a.stride()]);
        col_ptr.push(row_idx.len() as u64);
    }
    Cbc::with_stride(Pattern::new(a.nrows(), cols.len(), col_ptr, row_idx)?, a.shape(), a.stride(), values)
}

/// The model of a permutation of a symmetric matrix: a block that would cross the diagonal is
/// transposed and stays.
fn permuted_lower(lower: &AnyMatrix, order: &[usize]) -> Result<AnyMatrix> {
    let mut to = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, &old)| to[old] = new);
    modelled(lower, |lower| {
        let blocks = lower.blocks().map(|(row, col, block)| match (to[row], to[col]) {
            (row, col) if row >= col => (row, col, block.into_owned()),
            (row, col) => (col, row, block.transpose()),
        });
        Cbc::from_triplets(lower.nrows(), lower.ncols(), lower.shape(), blocks)
    })
}
