//! Transposes, permutations, sums and scalars of matrices, compared with a copy. The counted bytes
//! are the values, which are read and written once, and the words of structure that a plan reads
//! for each entry.
use super::measure::{Subject, equal};
use super::record::Record;
use crate::matrix_size::Size;
use blockmul::{
    Cbc, Part, Result,
    element::ElementType,
    extra::primitives::bench as primitives,
    generate::Random,
    matrix::{self, AnyMatrix, Pattern},
    plan::{Add, Permute, ScalarMap, Scalars, Transpose},
};

/// Times a permutation that leaves every block of A in place.
pub fn copy(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    permuted_by(on, a, |n| (0..n).collect())
}

/// Times a permutation of A's block rows and columns.
pub fn permute(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    permuted_by(on, a, shuffled)
}

fn permuted_by(on: &Subject<'_>, a: &AnyMatrix, order: fn(usize) -> Vec<usize>) -> Result<Record> {
    let (rows, cols) = (order(a.nrows()), order(a.ncols()));
    let da = on.device().upload(a)?;
    on.by_plan(
        || Permute::of(&da, &rows, &cols),
        || &da,
        |c| moving(on, a, (c.nnz(), 1), equal(&c.download()?, &permuted(a, &rows, &cols)?)),
    )
}

/// Times Aᵀ.
pub fn transpose(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    let da = on.device().upload(a)?;
    on.by_plan(|| Transpose::of(&da), || &da, |c| moving(on, a, (c.nnz(), 1), equal(&c.download()?, &a.transpose()?)))
}

/// Times A + 0.5·B, where B is A with its block rows in reverse.
pub fn add(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    let (rows, cols): (Vec<_>, Vec<_>) = ((0..a.nrows()).rev().collect(), (0..a.ncols()).collect());
    let b = permuted(a, &rows, &cols)?;
    let (da, db) = (on.device().upload(a)?, on.device().upload(&b)?);
    on.by_plan(
        || Add::of(&da, &db),
        || [(1.0, &da), (0.5, &db)],
        |c| {
            let right = equal(&c.download()?, &matrix::add_any(1.0, a, 0.5, &b)?);
            Ok(Record { b: Size::of(&b), ..moving(on, a, (c.nnz(), 2), right)? })
        },
    )
}

/// Times a permutation of a symmetric matrix that is stored as A's lower triangle.
pub fn permute_lower(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    let (lower, order) = (a.triangle(Part::Lower), shuffled(a.nrows()));
    let on_device = on.device().upload(&lower)?;
    on.by_plan(
        || Permute::symmetric_of(&on_device, &order, Part::Lower),
        || &on_device,
        |c| moving(on, &lower, (c.nnz(), 2), equal(&c.download()?, &permuted_lower(&lower, &order)?)),
    )
}

/// Times the transposition of a pattern. The counted bytes are those of every input, which is read
/// once, and of every output, which is written once.
pub fn transpose_pattern(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    let (pattern, rounds) = (a.pattern(), on.bench.args.patience.rounds.get() as usize);
    let ((found, source), runs) = primitives::transpose(on.device(), pattern, rounds)?;
    let (want, from) = pattern.transpose();
    let verified = found == want && source.iter().map(|&entry| entry as usize).eq(from);
    let (len, lines) = (pattern.nnz(), pattern.nrows() + pattern.ncols());
    let bytes = Some((12 * len + 4 * (lines + 2)) as u64);
    let record = on.place.record(&on.bench.messages, on.name.clone(), on.operation.to_owned())?;
    let record = Record { element: "u32", a: Size::of_vector(len), c_nnz: len, bytes, verified, ..record };
    Ok(if verified { record.timed(runs, &[]) } else { record })
}

/// Times the scalars of A's lower triangle.
pub fn scalars(on: &Subject<'_>, a: &AnyMatrix) -> Result<Record> {
    let lower = a.triangle(Part::Lower);
    let on_device = on.device().upload(&lower)?;
    on.by_plan(
        || Scalars::lower_of(&on_device),
        || &on_device,
        |c| {
            let want = ScalarMap::lower(&lower)?.any_values(&lower)?;
            moving(on, &lower, (lower.nnz(), 4), c.download()?.bytes() == want.bytes())
        },
    )
}

/// The record of an operation that moves `entries` of A's shape, with `words` words of structure
/// for each.
fn moving(on: &Subject<'_>, a: &AnyMatrix, (entries, words): (usize, usize), right: bool) -> Result<Record> {
    let bytes = entries * (2 * a.shape().area() * a.element().bytes() + 4 * words);
    Ok(Record { c_nnz: entries, bytes: Some(bytes as u64), ..on.record(on.operation, a, right)? })
}

/// The numbers below `n` in a random order, which is the same in every run.
fn shuffled(n: usize) -> Vec<usize> {
    let (mut order, mut random) = ((0..n).collect::<Vec<_>>(), Random::new(1));
    (1..n).for_each(|i| order.swap(i, random.below(i as u64 + 1) as usize));
    order
}

/// Applies a model to the numbers of `a`, which `f64` holds exactly.
fn modelled(a: &AnyMatrix, model: impl FnOnce(&Cbc<f64>) -> Result<Cbc<f64>>) -> Result<AnyMatrix> {
    Ok(AnyMatrix::from(model(&a.cast(ElementType::F64).typed()?)?).cast(a.element()))
}

/// The model of a permutation: block (i, j) is block (`rows[i]`, `cols[j]`) of A.
fn permuted(a: &AnyMatrix, rows: &[usize], cols: &[usize]) -> Result<AnyMatrix> {
    modelled(a, |a| Ok(with_columns(&with_columns(a, cols)?.transpose(), rows)?.transpose()))
}

/// Returns the matrix of the given block columns of A.
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
