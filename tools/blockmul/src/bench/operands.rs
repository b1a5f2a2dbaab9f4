//! Which operation takes which operands.
use super::matrices::Source;
use super::measure::{Bench, Subject};
use super::operation::Operation;
use super::record::Record;
use super::vectors::Halves;
use crate::symmetric::{lower, mirrored};
use blockmul::{
    BlockShape, Bsr, Cbc, Element, Error, Matrix, Result,
    element::{ElementType, Field, Length, Real},
    matrix::AnyMatrix,
    plan::Format,
};

/// An operation, and its operands before they are made.
pub struct Operands<'a> {
    pub operation: Operation,
    pub source: &'a Source,
    pub shape: BlockShape,
    /// Whether matrices that are multiplied are row-major.
    pub by_rows: bool,
}

/// What was measured, or why it was not, for each device (and each method).
type Outcomes = Vec<Result<Vec<Record>>>;

impl Operands<'_> {
    /// Measures an operation on `f64` or `f32` on every device.
    pub fn real<T: Real + Length>(&self, bench: &Bench<'_>) -> Result<Outcomes> {
        match self.operation {
            Operation::Schur => {
                let w = self.source.matrix::<T>(self.shape)?;
                Ok(self.everywhere(bench, |on| on.schur(&w).map(Vec::from)))
            }
            Operation::Paths => {
                let g = self.source.matrix::<T>(self.shape)?;
                Ok(self.everywhere(bench, |on| on.paths(&g)))
            }
            _ => self.field::<T>(bench),
        }
    }

    /// Measures an operation on any real numbers on every device.
    pub fn field<T: Field>(&self, bench: &Bench<'_>) -> Result<Outcomes> {
        match self.operation {
            Operation::Gram => {
                let j = self.source.jacobian::<T>(self.shape)?;
                Ok(self.everywhere(bench, |on| on.gram(&j)))
            }
            Operation::Product | Operation::Plan | Operation::Dense => self.number::<T>(bench),
            operation if operation.has_formats() => self.number::<T>(bench),
            Operation::Patches if T::NAME == f64::NAME => {
                let g = self.source.matrix::<f64>(self.shape)?;
                Ok(self.everywhere(bench, |on| on.patches(&g)))
            }
            _ => {
                let a = self.source.matrix::<T>(self.shape)?;
                Ok(self.everywhere(bench, |on| Ok(vec![self.of_matrix(on, &a)?])))
            }
        }
    }

    /// Measures an operation on any numbers, integers included, on every device.
    pub fn number<T: Element>(&self, bench: &Bench<'_>) -> Result<Outcomes> {
        match self.operation {
            Operation::Dense => {
                bench.semiring.check::<T>()?;
                let a = self.source.matrix::<T>(self.shape)?;
                match self.by_rows {
                    false => self.dense(bench, &a),
                    true => self.dense(bench, &Bsr::from_transpose(a.try_transpose()?)),
                }
            }
            _ => self.any(T::TYPE, bench),
        }
    }

    fn any(&self, element: ElementType, bench: &Bench<'_>) -> Result<Outcomes> {
        bench.semiring.check_type(element)?;
        let name = self.source.name(self.shape);
        match self.operation {
            Operation::Product | Operation::Plan => {
                let (a, b) = self.source.operands(element, self.shape)?;
                let oriented = |matrix: AnyMatrix| match self.by_rows {
                    true => matrix.transpose().map(AnyMatrix::into_transpose),
                    false => Ok(matrix),
                };
                let (a, b) = (oriented(a)?, b.map(oriented).transpose()?);
                bench.products(self.operation, name, (&a, b.as_ref()))
            }
            Operation::Apply | Operation::ApplyTransposed => self.apply(element, bench),
            Operation::ApplyGram => {
                let j = self.source.whole_jacobian(element, self.shape)?;
                let formats = formats(bench, j.shape());
                let in_format = |&format: &_| self.everywhere(bench, |on| on.apply_gram(&j, format));
                Ok(formats.iter().flat_map(in_format).collect())
            }
            operation => Err(is_not_for(element, operation)),
        }
    }

    /// A·D for every dense D, by every way to share A's entries out.
    fn dense<M: Matrix>(&self, bench: &Bench<'_>, a: &M) -> Result<Outcomes> {
        let mut records = Vec::new();
        for dense in &bench.dense {
            let operand = dense.operand(bench.semiring, a)?;
            let by = |&way| self.everywhere(bench, |on| Ok(vec![on.dense(a, &operand, way)?]));
            records.extend(dense.ways.iter().flat_map(by));
        }
        Ok(records)
    }

    /// A·x in every format that is asked for; of a symmetric matrix by the whole, then by its
    /// triangle.
    fn apply(&self, element: ElementType, bench: &Bench<'_>) -> Result<Outcomes> {
        let a = self.source.any(element, self.shape)?;
        // Triangles are those of the numbers, which `f64` has exactly.
        let wide = || a.cast(ElementType::F64).typed::<Cbc<f64>>();
        let triangle = if bench.symmetric { Some(lower(&wide()?)?) } else { None };
        let of_type = |matrix: Cbc<f64>| AnyMatrix::from(matrix).cast(element);
        let whole = triangle.as_ref().map(mirrored).transpose()?.map_or(a, of_type);
        let triangle = triangle.map(of_type);
        let of = |stored| Halves { whole: &whole, stored };
        let kept: Vec<_> = [of(&whole)].into_iter().chain(triangle.as_ref().map(of)).collect();
        let formats = formats(bench, whole.shape());
        let each = formats.iter().flat_map(|format| kept.iter().map(move |of| (*format, *of)));
        let in_format = |(format, of)| {
            let record = |on: &Subject<'_>| match format {
                Some(format) => on.apply_in(of, format),
                None => on.apply(of),
            };
            self.everywhere(bench, |on| Ok(vec![record(on)?]))
        };
        Ok(each.flat_map(in_format).collect())
    }

    fn of_matrix<T: Field>(&self, on: &Subject<'_>, a: &Cbc<T>) -> Result<Record> {
        match self.operation {
            Operation::Components => on.components(a),
            Operation::Triangles => on.triangles(a),
            Operation::Norms => on.norms(a),
            Operation::Scale => on.scale(a),
            Operation::Dot => on.dot(a),
            Operation::Axpy => on.axpy(a),
            Operation::Copy | Operation::Permute => on.permute(a),
            Operation::Transpose => on.transpose(a),
            Operation::Add => on.add(a),
            Operation::PermuteLower => on.permute_lower(a),
            Operation::Scalars => on.scalars(a),
            Operation::TransposePattern => on.transpose_pattern(a.pattern()),
            operation => Err(is_not_for(T::TYPE, operation)),
        }
    }

    fn everywhere(&self, bench: &Bench<'_>, measure: impl Fn(&Subject<'_>) -> Result<Vec<Record>>) -> Outcomes {
        let name = self.source.name(self.shape);
        bench.devices.iter().map(|place| measure(&bench.on(place, self.operation, name.clone()))).collect()
    }
}

/// The formats that are asked for, `None` if values stay where they are; all means those that
/// blocks of this shape have.
fn formats(bench: &Bench<'_>, shape: BlockShape) -> Vec<Option<Format>> {
    let all = bench.formats == Format::ALL && shape != BlockShape::SCALAR;
    match &bench.formats[..] {
        [] => vec![None],
        formats => formats.iter().filter(|format| !all || format.has_blocks()).copied().map(Some).collect(),
    }
}

fn is_not_for(element: ElementType, operation: Operation) -> Error {
    Error::Argument(format!("{} is not for matrices of {element}", operation.name()))
}
