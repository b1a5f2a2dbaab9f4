//! Products with JᵀJ and JᵀWJ that are not formed, which take the place of operations `gram` and
//! `apply`.
use super::measure::{Case, Subject};
use super::products::numbers;
use super::record::Record;
use super::vectors::{Halves, bytes, vector};
use crate::report::Size;
use blockmul::{
    DeviceMatrix, DeviceVector, Planned, Result, Semiring,
    element::{Any, AnyValues},
    matrix::AnyMatrix,
    plan::{Format, GramOperands, WeighedVector},
    product::Weights,
    reference::verify,
};

/// Weights on a device, borrowed.
type Between<'a> = Option<Weights<&'a DeviceMatrix<AnyMatrix>, &'a DeviceVector<Any>>>;

/// What is timed without weights, and with those of residuals if the algebra has weights.
struct Operator<'a> {
    j: &'a AnyMatrix,
    x: &'a AnyValues,
    residuals: Option<(&'a Weights<AnyMatrix, AnyValues>, Between<'a>)>,
    formats: [Format; 2],
    /// The formats in the words of a record, after the operation's.
    suffix: String,
    /// Words of structure that the two products read.
    words: usize,
    plan_ms: Option<f64>,
}

impl Subject<'_> {
    /// Times Jᵀ·(J·x), then with a weight for each row; in a format with J's values in its order
    /// twice, else with the values where they are. Bytes are those of the products one after
    /// another: of the values for each, of indices as of A·x and Aᵀ·x, and of all vectors.
    pub fn apply_gram(&self, j: &AnyMatrix, format: Option<Format>) -> Result<Vec<Record>> {
        let on_device = self.device().upload(j)?;
        let options = || self.options(&on_device, Halves { whole: j, stored: j });
        let size = Size::of(j);
        let x = vector(j.element(), size.cols());
        let dx = self.device().upload_any_vector(&x)?;
        let weights = || Weights::Rows(numbers(j.element(), size.rows()));
        let residuals = (self.semiring() == Semiring::PlusTimes).then(weights);
        let device = self.device();
        let upload = |weights: &Weights<AnyMatrix, AnyValues>| {
            weights.as_ref().map(|matrix| device.upload(matrix), |vector| device.upload_any_vector(vector)).transpose()
        };
        let uploaded = residuals.as_ref().map(upload).transpose()?;
        let residuals = residuals.as_ref().map(|weights| (weights, uploaded.as_ref().map(Weights::as_ref)));
        let Some(format) = format else {
            let (plan, plan_ms) = self.planned(|| options().gram())?;
            let formats = plan.products().map(|product| product.format());
            let (suffix, words) = (String::new(), 3 * j.nnz());
            let operator = Operator { j, x: &x, residuals, formats, suffix, words, plan_ms };
            return self.operators(&operator, &plan, |weights| match weights {
                Some(weights) => GramOperands::from((&on_device, weights, &dx)),
                None => (&on_device, &dx).into(),
            });
        };
        let (packed, plan_ms) = self.planned(|| options().format(format).pack_gram(&on_device))?;
        let formats = packed.products().map(|product| product.format());
        let [forward, back] = formats.map(Format::name);
        let both = if forward == back { forward.to_owned() } else { format!("{forward} and {back}") };
        let suffix = format!(" {}{both}", self.chosen(format));
        let words = 2 * j.nnz() + j.nrows() + j.ncols();
        let operator = Operator { j, x: &x, residuals, formats, suffix, words, plan_ms };
        self.operators(&operator, &packed, |weights| match weights {
            Some(weights) => WeighedVector::from((weights, &dx)),
            None => (&dx).into(),
        })
    }

    /// Times a plan without weights, and with them.
    fn operators<'a, P: Planned<Output = DeviceVector<Any>>>(
        &self,
        of: &Operator<'a>,
        plan: &P,
        inputs: impl Fn(Between<'a>) -> P::Inputs<'a>,
    ) -> Result<Vec<Record>> {
        let mut y = plan.output()?;
        let residuals = of.residuals.map(|(on_host, on_device)| ("-residuals", Some(on_host), on_device));
        let mut records = Vec::new();
        for (kind, on_host, on_device) in [("", None, None)].into_iter().chain(residuals) {
            plan.execute(inputs(on_device), &mut y)?;
            let variant = format!("{}{kind}{}", self.operation().name(), of.suffix);
            let case = Case { cost: plan.cost(), ..self.operated(variant, of, on_host, &y.download()?)? };
            records.push(self.executed(case, plan, || inputs(on_device), &mut y)?);
        }
        Ok(records)
    }

    /// The case of a product with these weights, compared with the reference.
    fn operated(
        &self,
        variant: String,
        &Operator { j, x, formats, words, plan_ms, .. }: &Operator<'_>,
        weights: Option<&Weights<AnyMatrix, AnyValues>>,
        y: &AnyValues,
    ) -> Result<Case> {
        let (orders, weights) = (formats.map(Format::order), weights.map(Weights::as_ref));
        let right = verify::verify_vector_gram(self.semiring(), orders, (false, j), weights, x, y)? == 0;
        // J·x is written and read; then W is read, and W·J·x written and read.
        let between = if weights.is_some() { 5 } else { 2 };
        let elements = 2 * j.values().len() + x.len() + y.len() + between * Size::of(j).rows();
        let b = Size::of_vector(x.len());
        Ok(Case {
            b,
            c_nnz: y.len(),
            bytes: bytes(j.element(), elements, 4 * words),
            plan_ms,
            ..Case::of(variant, j, right)
        })
    }
}
