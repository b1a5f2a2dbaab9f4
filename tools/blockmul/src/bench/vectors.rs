//! Norms, scalings, dot products and sums of vectors.
use super::apply::{bytes, vector};
use super::measure::{Subject, equal};
use super::record::Record;
use crate::matrix_size::Size;
use blockmul::{Result, element::AnyValues, matrix::AnyMatrix, plan::Norms, reference};

/// Times the norms of A's columns.
pub fn norms(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    let da = on.device().upload(a)?;
    let want = reference::any_column_norms(a)?;
    on.by_plan(
        || Norms::columns_of(&da),
        || &da,
        |norms| {
            let bytes = bytes(a.element(), a.values().len() + want.len(), 0);
            let right = norms.download()?.bytes() == want.bytes();
            Ok(Record { c_nnz: want.len(), bytes, ..on.record("norms", a, right)? })
        },
    )
}

/// Times A·diag(d). The result is verified with other numbers, and timed with ones, which do not
/// change A.
pub fn scale(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    let d = vector(a.element(), Size::of(a).cols());
    let (mut scaled, on_device) = (on.device().upload(a)?, on.device().upload_any_vector(&d)?);
    scaled.scale_columns(&on_device)?;
    let right = equal(&scaled.download()?, &reference::scale_any_columns(a, &d)?);
    let bytes = bytes(a.element(), 2 * a.values().len() + d.len(), 0);
    let record = Record { b: Size::of_vector(d.len()), c_nnz: a.nnz(), bytes, ..on.record("scale", a, right)? };
    let ones = AnyValues::F64(vec![1.0; d.len()]).cast(a.element());
    let ones = on.device().upload_any_vector(&ones)?;
    on.timed(record, &mut || scaled.scale_columns(&ones))
}

/// Times the dot product of two vectors as long as A has stored elements.
pub fn dot(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    let (x, y) = (a.values(), vector(a.element(), a.values().len()));
    let (dx, dy) = (on.device().upload_any_vector(x)?, on.device().upload_any_vector(&y)?);
    let right = dx.dot(&dy)?.to_bits() == reference::any_dot(x, &y)?.to_bits();
    let record = of_vectors(on, "dot", a, 2 * x.len(), right)?;
    on.timed(record, &mut || dx.dot(&dy).map(drop))
}

/// Times y = alpha·x + y of two vectors as long as A has stored elements.
pub fn axpy(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    const ALPHA: f64 = 1e-3;
    let (x, y) = (a.values(), vector(a.element(), a.values().len()));
    let (dx, mut dy) = (on.device().upload_any_vector(x)?, on.device().upload_any_vector(&y)?);
    dy.axpy(ALPHA, &dx)?;
    let right = dy.download()?.bytes() == reference::any_axpy(ALPHA, x, &y)?.bytes();
    let record = of_vectors(on, "axpy", a, 3 * x.len(), right)?;
    on.timed(record, &mut || dy.axpy(ALPHA, &dx))
}

/// The record of an operation on two vectors as long as A has stored elements. The operation reads
/// and writes `elements` elements in all.
fn of_vectors(on: &Subject<'_>, variant: &str, a: &AnyMatrix, elements: usize, right: bool) -> Result<Record> {
    let size = Size::of_vector(a.values().len());
    Ok(Record { a: size, b: size, bytes: bytes(a.element(), elements, 0), ..on.record(variant, a, right)? })
}
