//! Products with vectors: A·x and Aᵀ·x, with the whole matrix or one triangle of it on the device.
use super::matrices::drawn;
use super::measure::Subject;
use super::operation::{Operands, Outcomes};
use super::record::Record;
use crate::matrix_size::Size;
use crate::symmetric::lower;
use blockmul::{
    BlockShape, DeviceMatrix, DeviceVector, Result,
    element::{Any, AnyValues, ElementType},
    matrix::AnyMatrix,
    plan::{Apply, ApplyOptions, Format},
    product::Factor,
    reference::verify,
};

/// Times A·x.
pub fn apply(of: &Operands<'_>) -> Result<Outcomes> {
    in_formats(of, false)
}

/// Times Aᵀ·x.
pub fn transposed(of: &Operands<'_>) -> Result<Outcomes> {
    in_formats(of, true)
}

/// Times products in every requested format. For a symmetric matrix the whole matrix is timed
/// first, and then its triangle.
fn in_formats(of: &Operands<'_>, transposed: bool) -> Result<Outcomes> {
    let a = of.matrix()?;
    let triangle = if of.bench.args.symmetric { Some(lower(&a)?) } else { None };
    let whole = triangle.as_ref().map(AnyMatrix::mirrored).transpose()?.unwrap_or(a);
    let mut outcomes = Vec::new();
    for format in formats(of, whole.shape()) {
        for stored in [&whole].into_iter().chain(&triangle) {
            outcomes.extend(of.everywhere(&|on| Ok(vec![applied(on, transposed, [&whole, stored], format)?])));
        }
    }
    Ok(outcomes)
}

/// The requested formats. If no format is requested, the list has a single `None`: values stay in
/// A's own order. `all` means every format that blocks of this shape can use.
pub fn formats(of: &Operands<'_>, shape: BlockShape) -> Vec<Option<Format>> {
    // The name `all` is not a format, so it is `None` in the list.
    match of.bench.args.format.iter().copied().collect::<Option<Vec<Format>>>() {
        Some(named) if named.is_empty() => vec![None],
        Some(named) => named.into_iter().map(Some).collect(),
        None => {
            let all = Format::ALL.iter().chain(Format::COMPARED).copied();
            all.filter(|format| shape == BlockShape::SCALAR || format.has_blocks()).map(Some).collect()
        }
    }
}

/// Times a product. `stored` is the whole matrix or a triangle of it. With a format, A's values are
/// packed in its order; otherwise they stay in place. The counted bytes are the values, x, y, and
/// the index. The index has 4 bytes for each entry and row if a format is used, and 8 bytes for
/// each entry if values are in place (4 for Aᵀ).
fn applied(on: &Subject<'_>, transposed: bool, [a, stored]: [&AnyMatrix; 2], format: Option<Format>) -> Result<Record> {
    let (shape, is_triangle) = (a.shape(), !std::ptr::eq(a, stored));
    let da = on.device().upload(stored)?;
    let options = || {
        let options = options(on, &da);
        let options = if is_triangle { options.symmetric() } else { options };
        if transposed { options.transposed() } else { options }
    };
    let suffix = if is_triangle { " triangle" } else { "" };
    let factor = Factor { operand: a, transposed };
    let record = |(variant, found): (String, Format), x: &AnyValues, y: &DeviceVector<Any>, bytes| {
        let right = verify::verify_vector(on.semiring(), found.order(), factor, x, &y.download()?)? == 0;
        let record = on.record(variant + suffix, a, right)?;
        Ok(Record { b: Size::of_vector(x.len()), c_nnz: y.len(), bytes, ..record })
    };
    match format {
        None => {
            let (plan, plan_ms) = on.planned(|| options().plan())?;
            let x = vector(a.element(), plan.x_len());
            let dx = on.device().upload_any_vector(&x)?;
            let index = a.nnz() * if transposed { 4 } else { 8 };
            let bytes = bytes(a.element(), stored.values().len() + x.len() + plan.y_len(), index);
            let name = (on.operation.to_owned(), plan.format());
            on.executed(&plan, plan_ms, || (&da, &dx), |y| record(name, &x, y, bytes))
        }
        Some(format) => {
            let (packed, plan_ms) = on.planned(|| options().format(format).pack(&da))?;
            let x = vector(a.element(), packed.x_len());
            let dx = on.device().upload_any_vector(&x)?;
            let index = 4 * (a.nnz() + packed.y_len() / if transposed { shape.cols() } else { shape.rows() });
            let bytes = bytes(a.element(), a.values().len() + x.len() + packed.y_len(), index);
            let variant = format!("{} {}{}", on.operation, chosen(on, format), packed.format());
            let name = (variant, packed.format());
            on.executed(&packed, plan_ms, || &dx, |y| record(name, &x, y, bytes))
        }
    }
}

/// The prefix of a format's name in a variant. The prefix says how the format was chosen; it is
/// empty if the format was requested.
pub fn chosen(on: &Subject<'_>, format: Format) -> &'static str {
    match (format, on.bench.args.any_order) {
        (Format::Auto, true) => "auto in any order: ",
        (Format::Auto, false) => "auto: ",
        _ => "",
    }
}

/// The options of a product with a matrix.
pub fn options(on: &Subject<'_>, a: &DeviceMatrix<AnyMatrix>) -> ApplyOptions<AnyMatrix> {
    let options = Apply::of(a).semiring(on.semiring());
    if on.bench.args.any_order { options.any_order() } else { options }
}

/// The bytes of `elements` and of indices.
pub fn bytes(element: ElementType, elements: usize, index: usize) -> Option<u64> {
    Some((elements * element.bytes() + index) as u64)
}

/// A vector of numbers from -1 to 1.
pub fn vector(element: ElementType, n: usize) -> AnyValues {
    drawn(element, (0..n).map(|i| (i * 37 % 1001) as f64 * 0.002 - 1.0))
}
