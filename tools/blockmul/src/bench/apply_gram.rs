//! Products with JᵀJ and JᵀWJ that do not form these matrices. One product with JᵀJ replaces the
//! operations `gram` and `apply`.
use super::apply::{bytes, chosen, formats, options, vector};
use super::measure::Subject;
use super::operation::{Operands, Outcomes};
use super::products::numbers;
use super::record::Record;
use crate::matrix_size::Size;
use blockmul::{
    DeviceMatrix, DeviceVector, Planned, Result, Semiring,
    element::{Any, AnyValues},
    matrix::AnyMatrix,
    plan::{Format, GramOperands, WeighedVector},
    product::Weights,
    reference::verify,
};

/// Borrowed weights on a device.
type Between<'a> = Option<Weights<&'a DeviceMatrix<AnyMatrix>, &'a DeviceVector<Any>>>;

/// A product to time, without weights and, if the algebra supports weights, with weights of
/// residuals.
struct Operator<'a> {
    j: &'a AnyMatrix,
    x: &'a AnyValues,
    residuals: Option<(&'a Weights<AnyMatrix, AnyValues>, Between<'a>)>,
    formats: [Format; 2],
    /// The names of the formats, appended to the operation in the field `variant` of a record.
    /// The names are empty if J's values are not packed.
    suffix: String,
    /// The number of words of structure that the two products read.
    words: usize,
}

/// Times Jᵀ·(J·x) in every requested format.
pub fn apply_gram(of: &Operands<'_>) -> Result<Outcomes> {
    let j = of.source.whole_jacobian(of.element, of.shape)?;
    let formats = formats(of, j.shape());
    Ok(formats.iter().flat_map(|&format| of.everywhere(&|on| products(on, &j, format))).collect())
}

/// Times Jᵀ·(J·x), then Jᵀ·(W·(J·x)) with a weight for each row. With a format, J's values are
/// packed twice; otherwise the values stay in place. The bytes of both products are counted: the
/// values for each product, the indices as for A·x and Aᵀ·x, and all vectors.
fn products(on: &Subject<'_>, j: &AnyMatrix, format: Option<Format>) -> Result<Vec<Record>> {
    let on_device = on.device().upload(j)?;
    let size = Size::of(j);
    let x = vector(j.element(), size.cols());
    let dx = on.device().upload_any_vector(&x)?;
    let weights = || Weights::Rows(numbers(j.element(), size.rows()));
    let residuals = (on.semiring() == Semiring::PlusTimes).then(weights);
    let device = on.device();
    let upload = |weights: &Weights<AnyMatrix, AnyValues>| {
        weights.as_ref().map(|matrix| device.upload(matrix), |vector| device.upload_any_vector(vector)).transpose()
    };
    let uploaded = residuals.as_ref().map(upload).transpose()?;
    let residuals = residuals.as_ref().map(|weights| (weights, uploaded.as_ref().map(Weights::as_ref)));
    let Some(format) = format else {
        let (plan, plan_ms) = on.planned(|| options(on, &on_device).gram())?;
        let formats = plan.products().map(|product| product.format());
        let (suffix, words) = (String::new(), 3 * j.nnz());
        let operator = Operator { j, x: &x, residuals, formats, suffix, words };
        return operator.timed(on, &plan, plan_ms, |weights| match weights {
            Some(weights) => GramOperands::from((&on_device, weights, &dx)),
            None => (&on_device, &dx).into(),
        });
    };
    let (packed, plan_ms) = on.planned(|| options(on, &on_device).format(format).pack_gram(&on_device))?;
    let formats = packed.products().map(|product| product.format());
    let [forward, back] = formats.map(Format::name);
    let both = if forward == back { forward.to_owned() } else { format!("{forward} and {back}") };
    let suffix = format!(" {}{both}", chosen(on, format));
    let words = 2 * j.nnz() + j.nrows() + j.ncols();
    let operator = Operator { j, x: &x, residuals, formats, suffix, words };
    operator.timed(on, &packed, plan_ms, |weights| match weights {
        Some(weights) => WeighedVector::from((weights, &dx)),
        None => (&dx).into(),
    })
}

impl<'a> Operator<'a> {
    /// Times a plan without weights and with weights.
    fn timed<P: Planned<Output = DeviceVector<Any>>>(
        &self,
        on: &Subject<'_>,
        plan: &P,
        plan_ms: f64,
        inputs: impl Fn(Between<'a>) -> P::Inputs<'a>,
    ) -> Result<Vec<Record>> {
        let residuals = self.residuals.map(|(on_host, on_device)| ("-residuals", Some(on_host), on_device));
        let kinds = [("", None, None)].into_iter().chain(residuals);
        let timed = |(kind, on_host, on_device)| {
            let variant = format!("{}{kind}{}", on.operation, self.suffix);
            on.executed(plan, plan_ms, || inputs(on_device), |y| self.record(on, variant, on_host, &y.download()?))
        };
        kinds.map(timed).collect()
    }

    /// The record of a product with these weights, compared with the reference.
    fn record(
        &self,
        on: &Subject<'_>,
        variant: String,
        weights: Option<&Weights<AnyMatrix, AnyValues>>,
        y: &AnyValues,
    ) -> Result<Record> {
        let &Self { j, x, formats, words, .. } = self;
        let (orders, weighed) = (formats.map(Format::order), weights.map(Weights::as_ref));
        let right = verify::verify_vector_gram(on.semiring(), orders, j, weighed, x, y)? == 0;
        // J·x is written and read. With weights, W is counted as read, and W·J·x as written and
        // read.
        let between = if weights.is_some() { 5 } else { 2 };
        let elements = 2 * j.values().len() + x.len() + y.len() + between * Size::of(j).rows();
        let bytes = bytes(j.element(), elements, 4 * words);
        Ok(Record { b: Size::of_vector(x.len()), c_nnz: y.len(), bytes, ..on.record(variant, j, right)? })
    }
}
