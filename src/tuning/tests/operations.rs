//! Small operations that together use every number.
mod others;

use crate::{
    BlockShape, Bsr, Cbc, Csc, Csr, Device, DeviceMatrix, Element, Error, Matrix, Part, Planned, Product, Result,
    Semiring,
    dense::{DeviceGcoo, Grouping, Layout},
    extra::spy::Raster,
    generate::{self, Random, Values},
    graph::{self, Lloyd, Schedule, ShortestPaths},
    matrix::Threshold,
    plan::{Accum, Add, Apply, ApplyDense, ApplyGcoo, DenseMethod, Diagonal, Format, Norms, Transpose},
    primitives::bench,
    product::Method,
    solver::{Damping, Elimination, NormalEquations},
};
use nalgebra::DMatrix;

type Run = Box<dyn Fn(&Device) -> Result<Vec<u64>>>;

pub struct Operation {
    pub name: String,
    pub run: Run,
}

/// Operations that are run after every change of the library: one of each kind, and operations that
/// have failed before.
const SAMPLE: [&str; 13] = [
    "scalars by auto",
    "scalars by esc",
    "scalars by hash",
    "blocks of 6x3 and 3x6 by auto",
    "blocks of 13x13 and 13x13 by auto",
    "long rows times x by csr",
    "long rows times x by csr-adaptive",
    "scalars times 9 columns by rows, columns",
    "long rows times 40 columns by gcoo, rows",
    "paths in planar by frontier",
    "Schur complement of 6 and 3",
    "entries that are dropped",
    "scans, sorts, sums",
];

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Operation {
    pub fn is_sampled(&self) -> bool {
        SAMPLE.contains(&&*self.name)
    }

    /// Whether the operation may be refused with any numbers: blocks in a format of scalars.
    pub fn may_be_refused(&self) -> bool {
        let by = self.name.strip_prefix("blocks times x by ");
        by.is_some_and(|by| Format::ALL.iter().any(|format| format.name() == by && !format.has_blocks()))
    }
}

fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

fn of_matrix<M: Matrix>(matrix: &M) -> Vec<u64> {
    let view = matrix.as_cbc();
    let (starts, rows) = (view.pattern.col_ptr(), view.pattern.row_idx());
    let blocks = (0..view.pattern.nnz()).flat_map(|entry| bits(view.block(entry)));
    starts.iter().copied().chain(rows.iter().map(|&row| row.into())).chain(blocks).collect()
}

/// Returns the numbers of scalar rows and columns.
fn sides<M: Matrix>(matrix: &M) -> (usize, usize) {
    let view = matrix.as_cbc();
    let (rows, cols) = (view.pattern.nrows() * view.shape.rows(), view.pattern.ncols() * view.shape.cols());
    if M::ROW_MAJOR { (cols, rows) } else { (rows, cols) }
}

/// Returns the bits of the result, or no bits if the operation is refused. Whether it is refused
/// must not depend on the numbers.
fn unless_refused(found: Result<Vec<u64>>) -> Result<Vec<u64>> {
    match found {
        Err(Error::Argument(_) | Error::Unsupported { .. }) => Ok(Vec::new()),
        found => found,
    }
}

/// Makes a matrix with rows of 0 to 90 entries, and with two rows that are so long that they are
/// cut into several pieces of 1024 entries.
fn long_rows() -> Result<Csr<f64>> {
    let (cols, mut random) = (2500, Random::new(1));
    let length = |row: usize| if row % 40 == 7 { 2100 } else { row * 37 % 91 };
    let entries = (0..80).flat_map(|row| (0..length(row)).map(move |k| (k + row, row)));
    let entries: Vec<_> = entries.map(|(i, j)| (i, j, 2.0 * random.unit() - 1.0)).collect();
    Ok(Csr::from_transpose(Csc::from_triplets(cols, 80, entries)?))
}

fn blocks(sides: (usize, usize), (rows, cols): (usize, usize), seed: u64) -> Result<Cbc<f64>> {
    generate::Uniform {
        rows: sides.0,
        cols: sides.1,
        per_column: 4.min(sides.0),
        shape: BlockShape::new(rows, cols)?,
        seed,
        ..Default::default()
    }
    .matrix()
}

pub fn all() -> Result<Vec<Operation>> {
    let mut all = Vec::new();
    products(&mut all)?;
    vectors(&mut all)?;
    others::dense(&mut all)?;
    others::graphs(&mut all)?;
    others::solver(&mut all)?;
    others::others(&mut all)?;
    assert_eq!(all.iter().filter(|operation| operation.is_sampled()).count(), SAMPLE.len());
    Ok(all)
}

fn add(all: &mut Vec<Operation>, name: String, run: impl Fn(&Device) -> Result<Vec<u64>> + 'static) {
    all.push(Operation { name, run: Box::new(move |device| unless_refused(run(device))) });
}

fn product<M: Matrix>(all: &mut Vec<Operation>, (a, b): (M, M), method: Method, what: &str) {
    add(all, format!("{what} by {method}"), move |device| {
        let (a, b) = (device.upload(&a)?, device.upload(&b)?);
        let mask =
            device.upload(&Csc::from_triplets(a.nrows(), b.ncols(), diagonals(a.nrows(), b.ncols()))?)?.pattern();
        let product = Product::of(&a, &b).method(method);
        let product = if method.needs_mask() { product.mask(&mask) } else { product };
        let mut found = of_matrix(&product.run()?.download()?);
        let plan = product.plan()?;
        let mut c = plan.output()?;
        plan.execute((&a, &b), &mut c)?;
        found.extend(of_matrix(&c.download()?));
        Ok(found)
    });
}

fn diagonals(rows: usize, cols: usize) -> impl Iterator<Item = (usize, usize, f64)> {
    (0..rows.min(cols)).flat_map(move |i| (i..(i + 3).min(rows)).map(move |row| (row, i, 1.0)))
}

fn products(all: &mut Vec<Operation>) -> Result<()> {
    let scalars = generate::PowerLaw { nodes: 200, edges: 1400, seed: 7, ..Default::default() }.matrix()?.to_scalars();
    let long = long_rows()?.into_transpose();
    for &method in [Method::Auto].iter().chain(Method::ALL) {
        product(all, (scalars.clone(), scalars.clone()), method, "scalars");
        product(all, (long.clone(), long.transpose()), method, "long columns");
    }
    for (r, k, c) in [(3, 3, 3), (6, 3, 6), (13, 13, 13), (17, 2, 1)] {
        let pair = (blocks((24, 16), (r, k), 1)?, blocks((16, 20), (k, c), 2)?);
        for method in [Method::Auto, Method::Esc] {
            product(all, pair.clone(), method, &format!("blocks of {r}x{k} and {k}x{c}"));
        }
    }
    product(all, (scalars.cast::<half::f16>(), scalars.cast()), Method::Auto, "halves");
    let j = blocks((30, 12), (2, 3), 1)?;
    add(all, "JᵀJ".into(), move |device| {
        let j = device.upload(&j)?;
        Ok(of_matrix(&Product::gram(&j).part(Part::Lower).run()?.download()?))
    });
    Ok(())
}

fn apply<M: Matrix<Element = f64>>(all: &mut Vec<Operation>, a: M, what: &str) {
    let (rows, cols) = sides(&a);
    for &format in Format::ALL {
        let a = a.clone();
        add(all, format!("{what} times x by {format}"), move |device| {
            let (a, mut found) = (device.upload(&a)?, Vec::new());
            let x = device.upload_vector(&(0..cols).map(|i| (i % 97) as f64 * 0.31 - 15.0).collect::<Vec<_>>())?;
            let mut y = device.upload_vector(&vec![0.5; rows])?;
            let plan = Apply::<M>::with(&a.pattern()).format(format).plan()?;
            plan.execute((&a, &x), Accum::into(&mut y).alpha(0.7).beta(-1.3))?;
            found.extend(bits(&y.download()?));
            let packed = Apply::<M>::with(&a.pattern()).format(format).pack(&a)?;
            packed.execute(&x, &mut y)?;
            found.extend(bits(&y.download()?));
            let plan = Apply::<M>::with(&a.pattern()).format(format).transposed().plan()?;
            let mut z = plan.output()?;
            plan.execute((&a, &y), &mut z)?;
            found.extend(bits(&z.download()?));
            Ok(found)
        });
    }
}

fn vectors(all: &mut Vec<Operation>) -> Result<()> {
    apply(all, long_rows()?, "long rows");
    apply(all, blocks((40, 30), (3, 2), 5)?, "blocks");
    let a = blocks((20, 20), (3, 3), 4)?;
    add(all, "AᵀA, norms, diagonal, dot".into(), move |device| {
        let (a, mut found) = (device.upload(&a)?, Vec::new());
        let x = device.upload_vector(&(0..60).map(|i| f64::from(i) * 0.7 - 9.0).collect::<Vec<_>>())?;
        let gram = Apply::<Cbc<f64>>::with(&a.pattern()).gram()?;
        let mut y = gram.output()?;
        gram.execute((&a, &x), &mut y)?;
        found.push(x.dot(&y)?.to_bits());
        found.extend(bits(&y.download()?));
        Norms::<Cbc<f64>>::columns(&a.pattern())?.execute(&a, &mut y)?;
        found.extend(bits(&y.download()?));
        let plan = Diagonal::<Cbc<f64>>::new(&a.pattern())?;
        let mut diagonal = plan.output()?;
        plan.execute(&a, &mut diagonal)?;
        found.extend(of_matrix(&diagonal.download()?));
        Ok(found)
    });
    Ok(())
}
