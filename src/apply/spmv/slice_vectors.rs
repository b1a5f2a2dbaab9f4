//! Sums of slices of scalar rows on CPUs. The sums of a slice are the lanes of a vector. Kernel:
//! `cl/apply/spmv/slice_vectors.cl`.
//!
//! A loop over a single row takes seven instructions for an entry, and the rows of stencils end
//! after five entries. A vector adds eight rows at once, each in ascending order. Slices on
//! diagonals also read factors as vectors, and read no columns.
use super::{
    Block, Rows,
    diagonals::REACH,
    numbers::ROW_SHORTEST,
    slices::{self, LANES, Slices},
};
use crate::{
    DeviceInfo, Result, Semiring,
    apply::LEAST_SHARES,
    device::{Buffer, Column, Elem, Grid, In, Kernel, Maybe, Options, Value, Work, kernel},
    element::ElementType,
    primitives::segmented_reduce::RUN_PIECE,
    vector::{InOutScaled, ScaledInto},
};

kernel! {
    struct SumSliceVectors = "sum_slice_vectors" in "ptx.cl", "once.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/slice_vectors.cl" {
        slice_ptr: In<u64>,
        col: In<Column>,
        first_col: Maybe<u32>,
        origin: Maybe<u32>,
        steps: Maybe<u32>,
        values: In<Value>,
        x: In<Elem>,
        y: InOutScaled,
        rows: u32,
        slices: u32,
        each: u32,
    }
}

/// Values are prefetched `ASKED_BYTES` bytes ahead. While a processor reads several streams of
/// factors, it prefetches too little by itself. With 4096 bytes, stencils took 0.7 to 0.85 times as
/// long as without prefetching. With 512 or 1024 bytes, stencils took 0.85 to 1.0 times as long.
const ASKED_BYTES: usize = 4096;

/// Whether slices of these rows are added in vectors, if no row is longer than a piece.
pub(super) fn suits(rows: &Rows) -> bool {
    let is_computed_in = |element: ElementType| [ElementType::F32, ElementType::F64].contains(&element);
    slices::in_vectors(rows.device().info())
        && suits_rows(rows.block, rows.packed, rows.semiring, 0)
        && is_computed_in(rows.elements.matrix)
        && is_computed_in(rows.elements.vector)
}

/// Whether rows of at most `longest` entries are added in vectors, on a device that adds in
/// vectors.
pub(super) fn suits_rows(block: Block, packed: bool, semiring: Semiring, longest: u64) -> bool {
    block.area() == 1 && packed && semiring == Semiring::PlusTimes && longest <= RUN_PIECE as u64
}

pub(super) struct SliceVectors {
    kernel: Kernel<SumSliceVectors<'static>>,
    rows: usize,
    /// Number of slices. A work-item takes `each` slices.
    slices: usize,
    each: usize,
}

impl SliceVectors {
    /// Prepares the sums. `options` are the options of row.cl for work-groups of one item.
    pub fn new(rows: &Rows, options: &Options, on_diagonals: bool) -> Result<Self> {
        let (device, slices) = (rows.device(), rows.len().div_ceil(LANES));
        let options = options.clone().define("LANES", LANES).define("REACH", REACH);
        let options = options.define("ASKED", ASKED_BYTES / rows.elements.matrix.bytes());
        // Comparisons of vectors give integers of the elements' size.
        let options = options.define("SIGNED", if rows.elements.sum().bytes() == 8 { "long" } else { "int" });
        let kernel = Kernel::new(device, &options.define("ON_DIAGONALS", u8::from(on_diagonals)))?;
        Ok(Self { kernel, rows: rows.len(), slices, each: share(device.info(), slices) })
    }

    /// y = alpha·A·x + beta·y, for packed `values` of A.
    pub fn run(&self, work: &Work, slices: &Slices, values: &Buffer, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let diagonals = slices.diagonals.as_ref();
        let args = SumSliceVectors {
            slice_ptr: &slices.ptr,
            col: &slices.col.col,
            first_col: slices.col.first(),
            origin: diagonals.map(|of| &of.origin),
            steps: diagonals.map(|of| &of.steps),
            values,
            x,
            y,
            rows: self.rows as u32,
            slices: self.slices as u32,
            each: self.each as u32,
        };
        self.kernel.launch(work, Grid::groups(self.slices.div_ceil(self.each), 1), args)
    }
}

/// Number of slices of a work-item. Each work-item takes so many slices that all work-items end
/// together.
fn share(info: &DeviceInfo, slices: usize) -> usize {
    let least = ROW_SHORTEST / LANES;
    slices.div_ceil(LEAST_SHARES * info.compute_units as usize).max(least).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::{
        Elements, Format, PackedValues, Request, Rows, Split, Spmv,
        slices::{self, LANES},
    };
    use crate::{BlockShape, Element, Semiring, element::ElementType, element::Scaling, resident::DeviceCbc};
    use crate::{Csc, Csr, Matrix, Result, device::Work, device::test_device, generate::Random};

    /// Slices whose entries follow a diagonal, or begin three columns after each other.
    #[derive(Clone, Copy)]
    enum Slices {
        OnDiagonals,
        Apart,
        Mixed,
    }

    /// Rows of these lengths. Consecutive entries of a row are `apart` columns from each other.
    fn rows_of(lengths: &[usize], apart: usize, slices: Slices) -> Result<Csr<f32>> {
        let mut random = Random::new(3);
        let first = |row: usize| match slices {
            Slices::OnDiagonals => row,
            Slices::Mixed if (row / LANES).is_multiple_of(2) => row,
            Slices::Apart | Slices::Mixed => 3 * row,
        };
        let entries =
            lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |k| (1 + first(row) + k * apart, row)));
        let values = entries.map(|(i, j)| (i, j, (2.0 * random.unit() - 1.0) as f32));
        Ok(Csr::from_transpose(Csc::from_triplets(3 * lengths.len() + 10 * apart + 9, lengths.len(), values)?))
    }

    /// The 5-point stencil of a grid, without the columns at which x is infinite. Row 21 is empty.
    fn stencil(is_infinite: impl Fn(usize) -> bool) -> Result<Csr<f32>> {
        let (width, height): (usize, usize) = (24, 9);
        let mut random = Random::new(4);
        let mut triplets = Vec::new();
        for row in (0..width * height).filter(|row| *row != 21) {
            let (i, j) = (row % width, row / width);
            let near = [
                (j > 0, row.wrapping_sub(width)),
                (i > 0, row.wrapping_sub(1)),
                (true, row),
                (i + 1 < width, row + 1),
                (j + 1 < height, row + width),
            ];
            let columns = near.into_iter().filter(|of| of.0 && !is_infinite(of.1)).map(|of| of.1);
            triplets.extend(columns.map(|column| (column, row, (2.0 * random.unit() - 1.0) as f32)));
        }
        Ok(Csr::from_transpose(Csc::from_triplets(width * height, width * height, triplets)?))
    }

    /// Checks that sliced ELL has the bits of CSR. Returns the number of places on diagonals.
    fn check<V: Element>(
        host: &Csr<f32>,
        is_infinite: impl Fn(usize) -> bool,
        of: impl Fn(f64) -> V,
        [alpha, beta]: [f64; 2],
    ) -> Result<u64> {
        let device = test_device();
        let work = Work::new(&device, None);
        let a = DeviceCbc::upload(&work, host.as_cbc())?;
        let finite = |i: usize| (i % 97) as f64 * 0.25 - 15.0;
        let x: Vec<V> = (0..host.ncols()).map(|i| of(if is_infinite(i) { f64::INFINITY } else { finite(i) })).collect();
        let before = vec![of(0.5); host.nrows()];
        let elements = Elements { matrix: ElementType::F32, vector: V::TYPE };
        let request = Request {
            elements,
            format: Format::SlicedEll,
            semiring: Semiring::PlusTimes,
            any_order: false,
            split: Split::Bytes,
            uses: 1,
            packed: true,
            symmetric: false,
        };
        let spmv = Spmv::new(&a.pattern, BlockShape::SCALAR, false, request)?;
        let mut values = PackedValues::new(&device, &spmv)?;
        values.update(&work, &spmv, (&a).into())?;
        let scaling = Scaling {
            alpha: crate::element::Number::of(of(alpha).widen()),
            beta: crate::element::Number::of(of(beta).widen()),
        };
        let (dx, mut y) = (work.upload(&x)?, work.upload(&before)?);
        spmv.run(&work, values.stored(), &dx, scaling, &mut y)?;
        let mut csr = work.upload(&before)?;
        let whole = Spmv::new(
            &a.pattern,
            BlockShape::SCALAR,
            false,
            Request { format: Format::Csr, packed: false, ..request },
        )?;
        whole.run(&work, (&a).into(), &dx, scaling, &mut csr)?;
        let (y, csr) = (y.download(&work)?, csr.download(&work)?);
        assert_eq!(bytemuck::cast_slice::<V, u8>(&y), bytemuck::cast_slice::<V, u8>(&csr));
        let rows = Rows { packed: true, elements, ..Rows::of_scalars(a.pattern.clone()) };
        let kernels = slices::SliceKernels::new(&device, &rows, super::suits(&rows))?;
        Ok(kernels.count(&work, &rows)?.profile.on_diagonals)
    }

    #[test]
    fn rows_of_a_vector_have_the_bits_of_single_rows() -> Result<()> {
        let some = |n: usize| (0..n).map(|row| row * 5 % 7).collect::<Vec<_>>();
        let shapes = [
            vec![],
            vec![4],
            vec![3; 8],
            vec![5; 24],
            [vec![5; 16], vec![0; 9]].concat(),
            some(7),
            some(61),
            vec![0; 20],
        ];
        // No row has an entry in column 0, which padding may read.
        let is_infinite = |column: usize| column == 0;
        let in_vectors = slices::in_vectors(test_device().info());
        for (lengths, apart) in shapes.iter().flat_map(|shape| [(shape, 1), (shape, 30_000)]) {
            for slices in [Slices::OnDiagonals, Slices::Apart, Slices::Mixed] {
                let host = rows_of(lengths, apart, slices)?;
                // The longest of the first eight rows, if there are eight.
                let first = lengths.get(..LANES).and_then(|of| of.iter().max()).filter(|_| in_vectors);
                for scaling in [[1.0, 0.0], [0.75, 0.0], [0.75, -1.25]] {
                    let found = [
                        check::<f32>(&host, is_infinite, |value| value as f32, scaling)?,
                        check::<f64>(&host, is_infinite, |value| value, scaling)?,
                    ];
                    match (slices, first) {
                        (Slices::Apart, _) => assert_eq!(found, [0; 2], "{lengths:?}"),
                        (_, Some(&longest)) => assert!(found.iter().all(|&n| n >= (LANES * longest) as u64)),
                        (_, None) => assert_eq!(found, [0; 2], "{lengths:?}"),
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn holes_of_diagonals_are_not_added() -> Result<()> {
        let is_infinite = |column: usize| column % 29 == 5;
        let host = stencil(is_infinite)?;
        for scaling in [[1.0, 0.0], [0.75, 0.0], [0.75, -1.25]] {
            let found = [
                check::<f32>(&host, is_infinite, |value| value as f32, scaling)?,
                check::<f64>(&host, is_infinite, |value| value, scaling)?,
            ];
            // The first and the last slice would read outside x. The other slices of the grid's
            // first and last line have four diagonals.
            let expected = if slices::in_vectors(test_device().info()) { (4 * 4 + 21 * 5) * LANES as u64 } else { 0 };
            assert_eq!(found, [expected; 2]);
        }
        Ok(())
    }
}
