//! Which operation takes which operands.
use super::matrices::Source;
use super::measure::{Bench, Subject};
use super::operation::Operation;
use super::record::Record;
use super::vectors::Halves;
use crate::symmetric::lower;
use blockmul::{BlockShape, Error, Result, element::ElementType, matrix::AnyMatrix, plan::Format};

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
    /// Measures the operation on elements of a type on every device.
    pub fn outcomes(&self, element: ElementType, bench: &Bench<'_>) -> Result<Outcomes> {
        let real = matches!(element, ElementType::F64 | ElementType::F32);
        match self.operation {
            Operation::Product | Operation::Plan | Operation::Dense => self.any(element, bench),
            operation if operation.has_formats() || element.is_integer() => self.any(element, bench),
            Operation::Gram => {
                let j = self.source.jacobian(element, self.shape)?;
                Ok(self.everywhere(bench, |on| on.gram(&j)))
            }
            Operation::Schur if real => {
                let w = self.source.any(element, self.shape)?;
                Ok(self.everywhere(bench, |on| match element {
                    ElementType::F64 => on.schur::<f64>(&w.clone().typed()?).map(Vec::from),
                    _ => on.schur::<f32>(&w.clone().typed()?).map(Vec::from),
                }))
            }
            Operation::Paths if real => {
                let g = self.source.any(element, self.shape)?;
                Ok(self.everywhere(bench, |on| on.paths(&g)))
            }
            Operation::Patches if element == ElementType::F64 => {
                let g = self.source.matrix::<f64>(self.shape)?;
                Ok(self.everywhere(bench, |on| on.patches(&g)))
            }
            _ => {
                let a = self.source.any(element, self.shape)?;
                Ok(self.everywhere(bench, |on| Ok(vec![self.of_matrix(on, &a)?])))
            }
        }
    }

    /// Measures an operation on any numbers, integers included, on every device.
    fn any(&self, element: ElementType, bench: &Bench<'_>) -> Result<Outcomes> {
        bench.semiring.check_type(element)?;
        let name = self.source.name(self.shape);
        match self.operation {
            Operation::Product | Operation::Plan => {
                let (a, b) = self.source.operands(element, self.shape)?;
                let (a, b) = (self.oriented(a)?, b.map(|b| self.oriented(b)).transpose()?);
                bench.products(self.operation, name, (&a, b.as_ref()))
            }
            Operation::Apply | Operation::ApplyTransposed => self.apply(element, bench),
            Operation::ApplyGram => {
                let j = self.source.whole_jacobian(element, self.shape)?;
                let formats = formats(bench, j.shape());
                let in_format = |&format: &_| self.everywhere(bench, |on| on.apply_gram(&j, format));
                Ok(formats.iter().flat_map(in_format).collect())
            }
            Operation::Dense => {
                let a = self.oriented(self.source.any(element, self.shape)?)?;
                let mut records = Vec::new();
                for dense in &bench.dense {
                    let operand = dense.operand(bench.semiring, &a)?;
                    let by = |&way| self.everywhere(bench, |on| Ok(vec![on.dense(&a, &operand, way)?]));
                    records.extend(dense.ways.iter().flat_map(by));
                }
                Ok(records)
            }
            operation => Err(is_not_for(element, operation)),
        }
    }

    /// The matrix, by rows if that is asked for.
    fn oriented(&self, matrix: AnyMatrix) -> Result<AnyMatrix> {
        match self.by_rows {
            true => matrix.transpose().map(AnyMatrix::into_transpose),
            false => Ok(matrix),
        }
    }

    /// A·x in every format that is asked for; of a symmetric matrix by the whole, then by its
    /// triangle.
    fn apply(&self, element: ElementType, bench: &Bench<'_>) -> Result<Outcomes> {
        let a = self.source.any(element, self.shape)?;
        let triangle = if bench.symmetric { Some(lower(&a)?) } else { None };
        let whole = triangle.as_ref().map(AnyMatrix::mirrored).transpose()?.unwrap_or(a);
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

    fn of_matrix(&self, on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
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
            operation => Err(is_not_for(a.element(), operation)),
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
