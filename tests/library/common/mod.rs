//! Shared parts of the library's tests: what the machine has, and families of matrices. The values
//! of these families are small integers, so that sums are exact.
#[path = "../outside.rs"]
mod outside;

use blockmul::{
    BlockShape, Cbc, Csc, Device, DeviceMatrix, Element, Matrix, Part, Plan, Planned, Product, Result,
    device::Counters,
    generate::{self, Values},
    matrix::Pattern,
    product::Report,
};
use nalgebra::DMatrix;
pub use outside::{data, device, python};
use proptest::prelude::*;

/// Uploads A and B, multiplies them with `options`, and downloads C. If A and B are the same
/// matrix, it is uploaded once.
pub fn to_host<M: Matrix>(
    device: &Device,
    a: &M,
    b: &M,
    options: impl for<'a> Fn(Product<'a, DeviceMatrix<M>>) -> Product<'a, DeviceMatrix<M>>,
) -> Result<(M, Report)> {
    let on_device = device.upload(a)?;
    let other = if std::ptr::eq(a, b) { None } else { Some(device.upload(b)?) };
    options(Product::of(&on_device, other.as_ref().unwrap_or(&on_device))).run_to_host()
}

/// Checks that both matrices have the same pattern, the same shape of blocks, and the same bits in
/// every block. The strides of the matrices may differ.
pub fn equal<M: Matrix>(got: &M, want: &M, what: &str) {
    let (got, want) = (got.as_cbc(), want.as_cbc());
    assert_eq!((got.pattern, got.shape), (want.pattern, want.shape), "{what}: pattern and shape");
    for entry in 0..want.pattern.nnz() {
        let bits = |block: &[M::Element]| bytemuck::cast_slice::<_, u8>(block).to_vec();
        assert_eq!(bits(got.block(entry)), bits(want.block(entry)), "{what}: entry {entry}");
    }
}

/// Returns the pattern and the bytes of the values, padding included.
pub fn bits<T: Element>(matrix: &Cbc<T>) -> (&Pattern, &[u8]) {
    (matrix.pattern(), bytemuck::cast_slice(matrix.values()))
}

/// Waits for the device. Since `before`, no buffer was made or taken, and nothing was read. Returns
/// the counters.
pub fn nothing_taken(device: &Device, before: &Counters) -> Counters {
    device.finish().unwrap();
    let after = device.counters();
    assert_eq!(
        (after.buffers_created, after.buffers_taken, after.read_backs),
        (before.buffers_created, before.buffers_taken, before.read_backs)
    );
    after
}

pub fn shape(rows: usize, cols: usize) -> BlockShape {
    BlockShape::new(rows, cols).unwrap()
}

/// Uniform blocks of integers so small that their sums are exact in `f16`.
pub fn uniform<T: Element>(rows: usize, cols: usize, block: BlockShape, seed: u64) -> Cbc<T> {
    generate::Uniform { rows, cols, per_column: 4.min(rows), shape: block, values: Values::Integer, seed }
        .matrix()
        .unwrap()
        .cast()
}

/// Uniform blocks of real numbers.
pub fn real(rows: usize, cols: usize, per_column: usize, shape: BlockShape, seed: u64) -> Cbc<f64> {
    generate::Uniform { rows, cols, per_column, shape, seed, ..Default::default() }.matrix().unwrap()
}

/// A row and a column of `length` blocks of 2x2 real numbers. The product of the row and the column
/// is one run.
pub fn row_and_column(length: usize) -> (Cbc<f64>, Cbc<f64>) {
    (real(1, length, 1, shape(2, 2), 1), real(length, 1, length, shape(2, 2), 2))
}

/// Returns the entries of a matrix that belong to `part`: on one side of the diagonal, or all.
pub fn part<T: Element>(of: &Cbc<T>, part: Part) -> Cbc<T> {
    let keep = |row: usize, col: usize| match part {
        Part::Full => true,
        Part::Lower => row >= col,
        _ => row <= col,
    };
    let blocks = of.blocks().filter(|&(i, j, _)| keep(i, j)).map(|(i, j, block)| (i, j, block.into_owned()));
    Cbc::from_triplets(of.nrows(), of.ncols(), of.shape(), blocks).unwrap()
}

/// Executes a plan once and returns the output.
pub fn executed<M: Matrix>(plan: &Plan<M>, a: &DeviceMatrix<M>, b: &DeviceMatrix<M>) -> M {
    let mut c = plan.output().unwrap();
    plan.execute((a, b), &mut c).unwrap();
    c.download().unwrap()
}

/// Runs `execute` on two threads at once, 20 times on each.
pub fn on_two_threads(execute: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..20).for_each(|_| execute()));
        }
    });
}

/// A small random generator: SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// The distribution of the entries of a test matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Uniform,
    PowerLawColumns,
    Banded,
    DenseColumn,
    DenseRow,
    EmptyLeading,
    EmptyInner,
    EmptyTrailing,
    AllEmpty,
    Arrow,
}

pub const FAMILIES: [Family; 10] = [
    Family::Uniform,
    Family::PowerLawColumns,
    Family::Banded,
    Family::DenseColumn,
    Family::DenseRow,
    Family::EmptyLeading,
    Family::EmptyInner,
    Family::EmptyTrailing,
    Family::AllEmpty,
    Family::Arrow,
];

/// The places of a family's entries, about `per_col` in each column.
pub fn places(family: Family, rows: usize, cols: usize, per_col: usize, random: &mut Random) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    for col in 0..cols {
        let some = |n: usize, random: &mut Random| (0..n).map(|_| random.below(rows)).collect::<Vec<_>>();
        let of_col = match family {
            _ if rows == 0 => vec![],
            Family::AllEmpty => vec![],
            Family::Uniform => some(per_col, random),
            Family::PowerLawColumns => some(per_col * cols / (col + 1) / 4, random),
            Family::Banded => (0..per_col).map(|d| (col + d) % rows).collect(),
            Family::DenseColumn if col == cols / 2 => (0..rows).collect(),
            Family::DenseColumn | Family::DenseRow if col % 3 == 1 => some(1, random),
            Family::DenseRow => [some(1, random), vec![rows / 3]].concat(),
            Family::DenseColumn => vec![],
            Family::EmptyLeading if col < cols / 2 => vec![],
            Family::EmptyTrailing if col >= cols / 2 => vec![],
            Family::EmptyInner if col % 4 != 0 => vec![],
            Family::EmptyLeading | Family::EmptyTrailing | Family::EmptyInner => some(per_col, random),
            Family::Arrow if col == 0 => (0..rows).collect(),
            Family::Arrow => vec![0, col % rows],
        };
        places.extend(of_col.into_iter().map(|row| (row, col)));
    }
    places.sort_by_key(|&(row, col)| (col, row));
    places.dedup();
    places
}

/// A scalar matrix of a family. The magnitudes of the values are from 1 to 3, and some values are
/// negative.
pub fn scalars<T: Element>(family: Family, rows: usize, cols: usize, per_col: usize, seed: u64) -> Csc<T> {
    let mut random = Random(seed);
    let places = places(family, rows, cols, per_col, &mut random);
    Csc::from_triplets(rows, cols, places.into_iter().map(|(i, j)| (i, j, value(&mut random)))).unwrap()
}

/// A block matrix of a family.
pub fn blocks<T: Element>(
    family: Family,
    rows: usize,
    cols: usize,
    per_col: usize,
    shape: BlockShape,
    seed: u64,
) -> Cbc<T> {
    let mut random = Random(seed);
    let places = places(family, rows, cols, per_col, &mut random);
    let block = |random: &mut Random| DMatrix::from_fn(shape.rows(), shape.cols(), |_, _| value(random));
    Cbc::from_triplets(rows, cols, shape, places.into_iter().map(|(i, j)| (i, j, block(&mut random)))).unwrap()
}

fn value<T: Element>(random: &mut Random) -> T {
    T::from_f64([1.0, 2.0, 3.0, -1.0, -2.0][random.below(5)])
}

/// A `proptest` strategy that returns any family.
pub fn any_family() -> impl Strategy<Value = Family> {
    (0..FAMILIES.len()).prop_map(|i| FAMILIES[i])
}
