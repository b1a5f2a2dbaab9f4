//! Products with vectors, norms, scalings, dot products and sums of vectors.
use super::matrices::drawn;
use super::measure::{Case, Subject, equal, same_bits};
use super::operation::Operation;
use super::record::Record;
use crate::report::Size;
use blockmul::{
    DeviceMatrix, Element, Planned, Result,
    element::{AnyValues, ElementType, Field},
    matrix::AnyMatrix,
    plan::{Apply, ApplyOptions, Cost, Format, Norms},
    reference::{self, verify},
};
use half::f16;

/// A matrix, and what of it is on the device: all of it, or a triangle.
#[derive(Clone, Copy)]
pub struct Halves<'a> {
    pub whole: &'a AnyMatrix,
    pub stored: &'a AnyMatrix,
}

impl Halves<'_> {
    fn is_triangle(&self) -> bool {
        !std::ptr::eq(self.whole, self.stored)
    }

    /// The name of an operation on it.
    fn variant(&self, name: String) -> String {
        if self.is_triangle() { name + " triangle" } else { name }
    }
}

impl Subject<'_> {
    /// Times A·x, or Aᵀ·x. Bytes are those of the values, of 8 of index for each entry (4 for Aᵀ),
    /// of x and of y.
    pub fn apply(&self, of: Halves<'_>) -> Result<Record> {
        let Halves { whole: a, stored } = of;
        let transposed = self.operation() == Operation::ApplyTransposed;
        let da = self.device().upload(stored)?;
        let (plan, plan_ms) = self.planned(|| self.options(&da, of).plan())?;
        let x = vector(a.element(), plan.x_len());
        let (dx, mut y) = (self.device().upload_any_vector(&x)?, plan.output()?);
        plan.execute((&da, &dx), &mut y)?;
        let index = a.nnz() * if transposed { 4 } else { 8 };
        let bytes = bytes(a.element(), stored.values().len() + x.len() + plan.y_len(), index);
        let name = of.variant(self.operation().name());
        let case = self.applied(name, (a, &x), (plan.format(), plan.cost()), &y.download()?)?;
        self.executed(Case { plan_ms, bytes, ..case }, &plan, || (&da, &dx), &mut y)
    }

    /// Times A·x, or Aᵀ·x, in a format, with A's values in its order. Bytes are those of
    /// the values, of 4 of index for each entry and row, of x and of y.
    pub fn apply_in(&self, of: Halves<'_>, format: Format) -> Result<Record> {
        let Halves { whole: a, stored } = of;
        let da = self.device().upload(stored)?;
        let (packed, plan_ms) = self.planned(|| self.options(&da, of).format(format).pack(&da))?;
        let x = vector(a.element(), packed.x_len());
        let (dx, mut y) = (self.device().upload_any_vector(&x)?, packed.output()?);
        packed.execute(&dx, &mut y)?;
        let sums = if self.operation() == Operation::ApplyTransposed { a.shape().cols() } else { a.shape().rows() };
        let index = 4 * (a.nnz() + packed.y_len() / sums);
        let bytes = bytes(a.element(), a.values().len() + x.len() + packed.y_len(), index);
        let name = of.variant(format!("{} {}{}", self.operation().name(), self.chosen(format), packed.format()));
        let case = self.applied(name, (a, &x), (packed.format(), packed.cost()), &y.download()?)?;
        self.executed(Case { plan_ms, bytes, ..case }, &packed, || &dx, &mut y)
    }

    /// What precedes the name of a format in a variant: how it was chosen, unless it was asked for.
    pub fn chosen(&self, format: Format) -> &'static str {
        match (format, self.any_order()) {
            (Format::Auto, true) => "auto in any order: ",
            (Format::Auto, false) => "auto: ",
            _ => "",
        }
    }

    /// The options of a product with the matrix of a pattern.
    pub fn options(&self, a: &DeviceMatrix<AnyMatrix>, of: Halves<'_>) -> ApplyOptions<AnyMatrix> {
        let options = Apply::of(a).semiring(self.semiring());
        let options = if of.is_triangle() { options.symmetric() } else { options };
        let options = if self.any_order() { options.any_order() } else { options };
        if self.operation() == Operation::ApplyTransposed { options.transposed() } else { options }
    }

    /// The case of y = A·x, or of Aᵀ·x, compared with the reference in the order of a format.
    fn applied(
        &self,
        variant: String,
        (a, x): (&AnyMatrix, &AnyValues),
        (format, cost): (Format, Cost),
        y: &AnyValues,
    ) -> Result<Case> {
        let transposed = self.operation() == Operation::ApplyTransposed;
        let by_reference = |a: &AnyMatrix, x: &AnyValues| {
            reference::multiply_any_vector(self.semiring(), format.order(), transposed, a, x)
        };
        let want = by_reference(a, x)?;
        let right = match format.reproducible() {
            true => y.bytes() == want.bytes(),
            false => {
                let sizes = by_reference(&a.map(f64::abs), &x.map(f64::abs))?;
                verify::beyond_rounding(y, &want, &sizes, (verify::most_terms(a, transposed), 1)) == 0
            }
        };
        Ok(Case { b: Size::of_vector(x.len()), c_nnz: y.len(), cost, ..Case::of(variant, a, right) })
    }

    /// Times the norms of A's columns.
    pub fn norms(&self, a: &AnyMatrix) -> Result<Record> {
        let da = self.device().upload(a)?;
        let (plan, plan_ms) = self.planned(|| Norms::columns_of(&da))?;
        let mut norms = plan.output()?;
        plan.execute(&da, &mut norms)?;
        let want = reference::any_column_norms(a)?;
        let case = Case {
            c_nnz: want.len(),
            cost: plan.cost(),
            bytes: bytes(a.element(), a.values().len() + want.len(), 0),
            plan_ms,
            ..Case::of("norms", a, norms.download()?.bytes() == want.bytes())
        };
        self.executed(case, &plan, || &da, &mut norms)
    }

    /// Times A·diag(d), first with other numbers, then with ones, which leave A as it is.
    pub fn scale(&self, a: &AnyMatrix) -> Result<Record> {
        let d = vector(a.element(), Size::of(a).cols());
        let (mut scaled, on_device) = (self.device().upload(a)?, self.device().upload_any_vector(&d)?);
        scaled.scale_columns(&on_device)?;
        let want = reference::scale_any_columns(a, &d)?;
        let case = Case {
            b: Size::of_vector(d.len()),
            c_nnz: a.nnz(),
            bytes: bytes(a.element(), 2 * a.values().len() + d.len(), 0),
            ..Case::of("scale", a, equal(&scaled.download()?, &want))
        };
        let ones = AnyValues::F64(vec![1.0; d.len()]).cast(a.element());
        let ones = self.device().upload_any_vector(&ones)?;
        self.timed(case, &mut |_| scaled.scale_columns(&ones).map(|()| Vec::new()))
    }

    /// Times the dot product of two vectors as long as A has stored elements.
    pub fn dot(&self, a: &AnyMatrix) -> Result<Record> {
        match a.element() {
            ElementType::F64 => self.dot_of::<f64>(a),
            ElementType::F32 => self.dot_of::<f32>(a),
            _ => self.dot_of::<f16>(a),
        }
    }

    fn dot_of<T: Field>(&self, a: &AnyMatrix) -> Result<Record> {
        let x = a.values().get::<T>().expect("real numbers");
        let y = of_type::<T>(x.len());
        let (dx, dy) = (self.device().upload_vector(x)?, self.device().upload_vector(&y)?);
        let right = dx.dot(&dy)?.to_bits() == reference::dot(x, &y)?.to_bits();
        let case = Case { bytes: bytes(T::TYPE, 2 * x.len(), 0), ..of_vectors::<T>("dot", x.len(), right) };
        self.timed(case, &mut |_| dx.dot(&dy).map(|_| Vec::new()))
    }

    /// Times y = alpha·x + y of two such vectors.
    pub fn axpy(&self, a: &AnyMatrix) -> Result<Record> {
        match a.element() {
            ElementType::F64 => self.axpy_of::<f64>(a),
            ElementType::F32 => self.axpy_of::<f32>(a),
            _ => self.axpy_of::<f16>(a),
        }
    }

    fn axpy_of<T: Field>(&self, a: &AnyMatrix) -> Result<Record> {
        const ALPHA: f64 = 1e-3;
        let x = a.values().get::<T>().expect("real numbers");
        let y = of_type::<T>(x.len());
        let (dx, mut dy) = (self.device().upload_vector(x)?, self.device().upload_vector(&y)?);
        dy.axpy(ALPHA, &dx)?;
        let alpha: T::Arithmetic = nalgebra::convert(ALPHA);
        let sums = x.iter().zip(&y).map(|(x, y)| T::narrow(alpha * x.widen() + y.widen()));
        let right = same_bits(&dy.download()?, &sums.collect::<Vec<_>>());
        let case = Case { bytes: bytes(T::TYPE, 3 * x.len(), 0), ..of_vectors::<T>("axpy", x.len(), right) };
        self.timed(case, &mut |_| dy.axpy(ALPHA, &dx).map(|()| Vec::new()))
    }
}

/// The case of an operation on two vectors of `n` elements.
fn of_vectors<T: Element>(variant: &str, n: usize, right: bool) -> Case {
    let size = Size::of_vector(n);
    Case { variant: variant.into(), element: T::NAME, a: size, b: size, right, ..Case::default() }
}

/// The bytes of `elements` and of indices.
pub fn bytes(element: ElementType, elements: usize, index: usize) -> Option<u64> {
    Some((elements * element.bytes() + index) as u64)
}

/// Numbers from -1 to 1.
pub fn vector(element: ElementType, n: usize) -> AnyValues {
    drawn(element, (0..n).map(|i| (i * 37 % 1001) as f64 * 0.002 - 1.0))
}

/// The same of a type.
pub fn of_type<T: Element>(n: usize) -> Vec<T> {
    vector(T::TYPE, n).get().expect("numbers of the type").to_vec()
}
