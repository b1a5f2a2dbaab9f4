//! Binning: counts the entries of each cell of a raster, and finds the largest magnitude in the
//! cell. Kernel: `cl/spy/bin.cl`.
use super::{BinNumbers, Scale};
use crate::{
    BlockShape, DeviceInfo, Pattern, Result,
    device::{Elem, Grid, In, InOut, Kernel, Options, Work, kernel},
    element::ElementType,
    resident::DeviceCbc,
};

kernel! {
    struct Bin = "bin" in "spy/bin.cl" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        values: In<Elem>,
        counts: InOut<u32>,
        largest: InOut<u32>,
        ncols: u32,
        nnz: u32,
        stride: u32,
        rows_per_cell: u64,
        cols_per_cell: u64,
        row_step: u64,
        col_step: u64,
        whole_blocks: u32,
    }
}

/// A raster over the arrays of a matrix. The arrays may be those of the matrix's transpose.
pub(super) struct Mesh {
    pub scale: Scale,
    rows_per_cell: u64,
    cols_per_cell: u64,
    /// Number of cells from one row of cells to the next, and from one column of cells to the next.
    row_step: u64,
    col_step: u64,
}

/// For each cell, the number of its entries and the bits of the largest magnitude.
#[derive(Debug, PartialEq)]
pub(super) struct Bins {
    pub counts: Vec<u32>,
    pub largest: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Tuning {
    group_size: usize,
    /// Number of elements that a work-item takes.
    items: usize,
}

impl Tuning {
    pub fn new(info: &DeviceInfo) -> Self {
        let BinNumbers { binned_items: items } = info.numbers();
        Self { group_size: info.elementwise_group(), items }
    }
}

impl Mesh {
    /// A raster over arrays of `nrows` x `ncols` blocks.
    pub fn new([nrows, ncols]: [usize; 2], shape: BlockShape, row_major: bool, size: usize) -> Result<Self> {
        let (rows, cols) = (nrows as u64 * shape.rows() as u64, ncols as u64 * shape.cols() as u64);
        Ok(if row_major {
            let scale = Scale::fit(cols, rows, shape.transpose(), size)?;
            let (rows_per_cell, cols_per_cell) = (scale.cols.per_cell, scale.rows.per_cell);
            Self { scale, rows_per_cell, cols_per_cell, row_step: 1, col_step: scale.width() as u64 }
        } else {
            let scale = Scale::fit(rows, cols, shape, size)?;
            let (rows_per_cell, cols_per_cell) = (scale.rows.per_cell, scale.cols.per_cell);
            Self { scale, rows_per_cell, cols_per_cell, row_step: scale.width() as u64, col_step: 1 }
        })
    }

    fn cells(&self) -> usize {
        self.scale.width() * self.scale.height()
    }

    pub fn bin(&self, matrix: &DeviceCbc, tuning: Tuning) -> Result<Bins> {
        let work = Work::new(&matrix.device, None);
        work.stage("bin");
        let options = Options::group_size(tuning.group_size)
            .element(matrix.element())
            .define("ELEMENT_IS_DOUBLE", u8::from(matrix.element() == ElementType::F64))
            .define("ITEMS", tuning.items)
            .define("BLOCK_ROWS", matrix.shape.rows())
            .define("BLOCK_COLS", matrix.shape.cols());
        let kernel: Kernel<Bin<'_>> = Kernel::new(&matrix.device, &options)?;
        let (mut counts, mut largest) = (work.buffer(self.cells())?, work.buffer(self.cells())?);
        work.fill_zero(&mut counts)?;
        work.fill_zero(&mut largest)?;
        let items = (matrix.nnz() * matrix.shape.area()).div_ceil(tuning.items);
        let args = Bin {
            col_ptr: &matrix.col_ptr,
            row_idx: &matrix.row_idx,
            values: &matrix.values,
            counts: &mut counts,
            largest: &mut largest,
            ncols: matrix.ncols as u32,
            nnz: matrix.nnz() as u32,
            stride: matrix.stride as u32,
            rows_per_cell: self.rows_per_cell,
            cols_per_cell: self.cols_per_cell,
            row_step: self.row_step,
            col_step: self.col_step,
            whole_blocks: u32::from(self.scale.whole_blocks),
        };
        kernel.launch(&work, Grid::items(items, tuning.group_size), args)?;
        Ok(Bins { counts: counts.download(&work)?, largest: largest.download(&work)? })
    }

    /// The reference for the kernel, for blocks that are `stride` elements apart. `magnitude`
    /// returns the magnitude of an element: see [`magnitude`].
    pub fn model(&self, pattern: &Pattern, shape: BlockShape, stride: usize, magnitude: &dyn Fn(usize) -> u32) -> Bins {
        let mut bins = Bins { counts: vec![0; self.cells()], largest: vec![0; self.cells()] };
        let (rows, cols) = (shape.rows(), shape.cols());
        for col in 0..pattern.ncols() {
            for entry in pattern.entries(col) {
                let row = pattern.row_idx()[entry] as usize;
                for within in 0..shape.area() {
                    let (row, col) = ((row * rows + within % rows) as u64, (col * cols + within / rows) as u64);
                    let cell = row / self.rows_per_cell * self.row_step + col / self.cols_per_cell * self.col_step;
                    bins.counts[cell as usize] += u32::from(!self.scale.whole_blocks || within == 0);
                    let largest = &mut bins.largest[cell as usize];
                    *largest = magnitude(entry * stride + within).max(*largest);
                }
            }
        }
        bins
    }
}

/// Returns 32 bits that have the order of magnitudes. The bits are 0 for zero only. For any NaN
/// they are the number after that of infinity.
pub(super) fn magnitude(element: ElementType, value: f64) -> u32 {
    let value = value.abs();
    match element == ElementType::F64 {
        true if value.is_nan() => (f64::NAN.to_bits() >> 32) as u32,
        true => ((value.to_bits() >> 32) as u32).max(u32::from(value != 0.0)),
        false if value.is_nan() => f32::NAN.to_bits(),
        false => (value as f32).to_bits(),
    }
}

/// The magnitude that the result `bits` of [`magnitude`] represents.
pub(super) fn from_bits(element: ElementType, bits: u32) -> f64 {
    match element {
        ElementType::F64 => f64::from_bits(u64::from(bits) << 32),
        _ => f32::from_bits(bits).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cbc, Csc, Csr, Element, Matrix,
        device::test_device,
        extra::spy::{Cell, Raster},
    };
    use half::f16;

    /// Checks that the device's raster equals the host's with every tuning.
    fn agree<M: Matrix>(matrix: &M, size: usize) -> Result<Raster> {
        let device = test_device();
        let on_device = device.upload(matrix)?;
        let cbc = &on_device.cbc;
        let mesh = Mesh::new([cbc.nrows, cbc.ncols], cbc.shape, M::ROW_MAJOR, size)?;
        let want = Raster::model(&mesh, matrix.into());
        for (group_size, items) in [(1, 1), (4, 3), (4, 16)] {
            assert_eq!(mesh.bin(cbc, Tuning { group_size, items })?, want, "{group_size} items of {items}");
        }
        let (raster, host) = (Raster::of(&on_device, size)?, Raster::on_host(matrix, size)?);
        assert_eq!(raster.scale(), host.scale());
        for (ours, theirs) in raster.cells().iter().zip(host.cells()) {
            assert_eq!((ours.entries, ours.largest.to_bits()), (theirs.entries, theirs.largest.to_bits()));
        }
        Ok(raster)
    }

    #[test]
    fn small_matrices_at_the_ends_of_items_and_groups() -> Result<()> {
        // A work-group takes 12 elements with one tuning and 64 with another tuning. The numbers of
        // entries are 0, 1 and 2, and 12 and 64 and their neighbours. The entries are in one
        // column, or in one row, or on a diagonal with two empty columns between entries.
        for nnz in [0, 1, 2, 11, 12, 13, 63, 64, 65] {
            for (rows, cols, place) in [
                (70, 1, (|i| (i, 0)) as fn(usize) -> (usize, usize)),
                (1, 70, |i| (0, i)),
                (70, 210, |i| (i, 3 * i + 2)),
            ] {
                let entries = (0..nnz).map(|i| (place(i).0, place(i).1, i as f64 - 3.0));
                let matrix = Csc::from_triplets(rows, cols, entries)?;
                for size in [1, 8, 300] {
                    let raster = agree(&matrix, size)?;
                    assert_eq!(raster.cells().iter().map(|cell| cell.entries as usize).sum::<usize>(), nnz);
                }
            }
        }
        for (rows, cols) in [(0, 0), (0, 5), (5, 0), (3, 2)] {
            let raster = agree(&Csc::<f32>::from_triplets(rows, cols, [])?, 4)?;
            assert_eq!(raster.cells().len(), rows.min(4) * cols.min(4));
            assert!(raster.cells().iter().all(|cell| *cell == Cell::default()));
        }
        Ok(())
    }

    #[test]
    fn small_blocks_whole_and_by_elements_in_every_type() -> Result<()> {
        fn of_type<T: Element>(sizes: &[usize]) -> Result<()> {
            for (rows, cols) in [(1, 1), (2, 3), (6, 2)] {
                let shape = BlockShape::new(rows, cols)?;
                let block = |seed: usize| {
                    nalgebra::DMatrix::from_fn(rows, cols, |i, j| T::from_f64(((seed + i + 7 * j) % 9) as f64 - 4.0))
                };
                let places = [(0, 0), (3, 0), (1, 2), (4, 2), (4, 6), (0, 7)];
                let blocks = places.iter().enumerate().map(|(seed, &(row, col))| (row, col, block(seed)));
                let matrix = Cbc::from_triplets(5, 8, shape, blocks)?;
                for &size in sizes {
                    let raster = agree(&matrix, size)?;
                    let expected = if raster.scale().whole_blocks { 6 } else { 6 * shape.area() };
                    assert_eq!(raster.cells().iter().map(|cell| cell.entries as usize).sum::<usize>(), expected);
                    let padded = agree(&matrix.with_alignment(64)?, size)?;
                    assert_eq!(padded, raster, "padding does not show");
                }
            }
            Ok(())
        }
        of_type::<f64>(&[1, 3, 5, 9, 100])?;
        // With the smaller raster cells contain whole blocks, and with the larger raster they
        // contain elements.
        of_type::<f32>(&[3, 100])?;
        of_type::<f16>(&[3, 100])?;
        of_type::<u32>(&[3, 100])?;
        of_type::<i32>(&[3, 100])?;
        of_type::<u8>(&[3, 100])
    }

    #[test]
    fn small_values_of_every_kind_keep_their_order() -> Result<()> {
        fn largest<T: Element>(values: &[f64]) -> Result<f64> {
            let entries = values.iter().enumerate().map(|(row, &value)| (row, 0, T::from_f64(value)));
            Ok(agree(&Csc::from_triplets(values.len(), 1, entries)?, 1)?.cell(0, 0).largest)
        }
        for nan in [f64::NAN, -f64::NAN] {
            assert!(largest::<f64>(&[1.0, nan, f64::INFINITY])?.is_nan());
            assert!(largest::<f32>(&[1.0, nan, f64::INFINITY])?.is_nan());
            assert!(largest::<f16>(&[1.0, nan, f64::INFINITY])?.is_nan());
        }
        assert_eq!(largest::<f64>(&[f64::NEG_INFINITY, f64::MAX])?, f64::INFINITY);
        assert_eq!(largest::<f16>(&[-0.0, 0.0])?, 0.0);
        // A value above the range of f32, the smallest double, the smallest float, and the smallest
        // half.
        assert_eq!(largest::<f64>(&[1e300, -2f64.powi(990)])?, largest::<f64>(&[1e300])?);
        assert_eq!(largest::<f64>(&[-2f64.powi(-900), 0.0])?, 2f64.powi(-900));
        let tiny = largest::<f64>(&[f64::from_bits(1)])?;
        assert!(tiny > 0.0 && tiny < 1e-300, "{tiny:e}");
        assert_eq!(largest::<f32>(&[-f64::from(f32::from_bits(1)), 0.0])?, f64::from(f32::from_bits(1)));
        assert_eq!(largest::<f16>(&[2f64.powi(-24), 0.0])?, 2f64.powi(-24));
        // Integers are rounded to floats.
        assert_eq!(largest::<i32>(&[f64::from(i32::MIN), 7.0])?, 2f64.powi(31));
        assert_eq!(largest::<u32>(&[f64::from(u32::MAX), 7.0])?, 2f64.powi(32));
        assert_eq!(largest::<u8>(&[255.0, 7.0])?, 255.0);
        Ok(())
    }

    /// Tests the largest possible number of scalar rows, with one cell for all rows and with many
    /// cells.
    #[test]
    fn small_numbers_of_entries_in_billions_of_rows() -> Result<()> {
        let shape = BlockShape::new(32, 1)?;
        let last = crate::Pattern::MAX_LINES as usize / 32 - 1;
        let blocks = [(0, 0), (1 << 26, 1), ((1 << 26) - 1, 1), (last / 2 + 1, 2), (last, 2)]
            .map(|(row, col)| (row, col, nalgebra::DMatrix::from_element(32, 1, (row % 5 + 1) as f32)));
        let matrix = Cbc::from_triplets(last + 1, 3, shape, blocks)?;
        for size in [1, 31, 64] {
            let raster = agree(&matrix, size)?;
            let (height, width) = (raster.scale().height(), raster.scale().width());
            assert!(height <= size && raster.cell(0, 0).entries > 0 && raster.cell(height - 1, width - 1).entries > 0);
        }
        Ok(())
    }

    #[test]
    fn small_row_major_matrices_stand_upright() -> Result<()> {
        let matrix = Csc::from_triplets(3, 9, [(0, 8, 1.0), (2, 0, 2.0), (2, 3, 0.0)])?;
        for size in [3, 9] {
            let raster = agree(&Csr::from_transpose(matrix.transpose()), size)?;
            assert_eq!(raster, agree(&matrix, size)?);
            assert_eq!(raster.cell(0, raster.scale().width() - 1).largest, 1.0, "the top right corner");
        }
        Ok(())
    }
}
