//! Removes small entries (blocks) of a matrix on the device. The other entries keep their order.
//! The steps are flags, a scan, one copy, and one small read of the number of entries that stay.
//! Kernels: `cl/primitives/drop_entries.cl`. [`Threshold`] describes the rule, and
//! [`crate::matrix::drop_below`] is the model.
use super::scan::{Scan, ScanTuning};
mod numbers;

pub(crate) use numbers::DropNumbers;

use crate::{
    DeviceInfo, DeviceKind, DeviceMatrix, Field, Matrix, Result, Threshold,
    device::{Buffer, Device, Elem, Grid, In, InOut, Options, Out, Scalar, Sum, Work, kernel, kernels, pool_bytes},
    element::ElementType,
    matrix::{AnyMatrix, check_droppable},
    resident::{DeviceCbc, PatternArrays},
    tuning::SharedNumbers,
};

kernel! {
    in "primitives/drop_entries.cl":
    struct EntrySizes = "entry_sizes" { values: In<Elem>, size: Out<Sum>, nnz: u32, area: u32, stride: u32 }
    struct ColumnNorms = "column_norms" {
        size: In<Sum>,
        col_ptr: In<u32>,
        norm: InOut<u32>,
        nnz: u32,
        ncols: u32,
        lower: u32,
    }
    struct KeepEntries = "keep_entries" {
        size: In<Sum>,
        row_idx: In<u32>,
        col_ptr: In<u32>,
        norm: In<u32>,
        place: Out<u32>,
        nnz: u32,
        ncols: u32,
        first_col: u32,
        relative: u32,
        diagonal: u32,
        tolerance: Scalar<Sum>,
    }
    struct MoveEntries = "move_entries" {
        values: In<Elem>,
        row_idx: In<u32>,
        place: In<u32>,
        kept_values: Out<Elem>,
        kept_row_idx: Out<u32>,
        nnz: u32,
        stride: u32,
    }
    struct MoveColumns = "move_columns" { col_ptr: In<u32>, place: In<u32>, kept_col_ptr: Out<u32>, ncols: u32 }
}

kernels! {
    struct Kernels {
        new sizes: EntrySizes,
        new norms: ColumnNorms,
        new keep: KeepEntries,
        new entries: MoveEntries,
        new columns: MoveColumns,
    }
}

/// The kernels that remove small entries. Magnitudes are defined for real numbers, so functions
/// that take a threshold require a [`Field`]. A product does not require a [`Field`], because its
/// threshold is an option.
pub(crate) struct DropEntries {
    kernels: Kernels,
    scan: Scan<u32>,
    threshold: Threshold,
    element: ElementType,
    group_size: usize,
    /// Work-items of a group that share an entry: as many as the entry has elements, so that
    /// neighbouring items load neighbouring elements; one on a CPU.
    lanes: usize,
}

/// The device memory that [`DropEntries`] allocates, for the computation of bands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DropMemory {
    /// Bytes of an entry with its padding and its magnitude.
    entry_bytes: u64,
    size_bytes: u64,
    relative: bool,
    scan: ScanTuning,
}

impl DropMemory {
    /// Memory for entries that are `stride` elements apart.
    pub fn new(info: &DeviceInfo, element: ElementType, stride: usize, threshold: Threshold) -> Self {
        Self {
            entry_bytes: (stride * element.bytes()) as u64,
            size_bytes: element.arithmetic().bytes() as u64,
            relative: threshold.relative,
            scan: scan_tuning(info, info.numbers::<SharedNumbers>().group_size),
        }
    }

    /// The most bytes allocated at once for `nnz` entries in `columns` columns, rounded up to size
    /// classes. All these bytes are allocated if all entries stay.
    pub fn peak(&self, nnz: u64, columns: u64) -> u64 {
        let places = pool_bytes(4 * (nnz + 1));
        let norms = pool_bytes(if self.relative { 8 * columns } else { 0 });
        let finding = pool_bytes(self.size_bytes * nnz) + norms + self.scan.scratch_bytes(4, nnz + 1);
        let kept = pool_bytes(self.entry_bytes * nnz) + pool_bytes(4 * nnz) + pool_bytes(4 * (columns + 1));
        places + finding.max(kept)
    }
}

/// If a scan of the entries to drop has at most `DIRECT_TILES` tiles, each tile adds up the sums of
/// the tiles before it.
const DIRECT_TILES: usize = 64;

pub(crate) fn scan_tuning(info: &DeviceInfo, group_size: usize) -> ScanTuning {
    let DropNumbers { drop_scan_items: items } = info.numbers();
    ScanTuning { group_size, items, direct_tiles: DIRECT_TILES }
}

impl DropEntries {
    /// Prepares for entries of `area` elements.
    pub fn new(device: &Device, element: ElementType, area: usize, threshold: Threshold) -> Result<Self> {
        threshold.check()?;
        let info = device.info();
        let (cpu, group_size) = (info.kind == DeviceKind::Cpu, info.numbers::<SharedNumbers>().group_size);
        let lanes = if cpu { 1 } else { area.next_power_of_two().min(group_size) };
        Self::tuned(device, element, threshold, [group_size, lanes])
    }

    fn tuned(
        device: &Device,
        element: ElementType,
        threshold: Threshold,
        [group_size, lanes]: [usize; 2],
    ) -> Result<Self> {
        let options = Options::group_size(group_size)
            .element(element)
            .define("LANES", lanes)
            .define("WIDE", u8::from(element == ElementType::F64));
        Ok(Self {
            kernels: Kernels::new(device, &options)?,
            scan: Scan::new(device, scan_tuning(device.info(), group_size))?,
            threshold,
            element,
            group_size,
            lanes,
        })
    }

    /// The entries of `matrix` that stay, or `None` if all stay. `matrix` holds the columns of a
    /// larger matrix from `first_col` on.
    pub fn run(&self, work: &Work, matrix: &DeviceCbc, first_col: usize) -> Result<Option<DeviceCbc>> {
        work.stage("drop");
        let (nnz, cols) = (matrix.nnz(), matrix.ncols);
        let place = self.places(work, matrix, first_col)?;
        let kept = work.read_count(&place, nnz, "entries kept", nnz as u64)? as usize;
        if kept == nnz {
            return Ok(None);
        }
        let mut kept_values = work.buffer_of(self.element.word(), kept * matrix.stride)?;
        let mut kept_row_idx = work.buffer(kept)?;
        let mut kept_col_ptr = work.buffer(cols + 1)?;
        let args = MoveEntries {
            values: &matrix.values,
            row_idx: &matrix.row_idx,
            place: &place,
            kept_values: &mut kept_values,
            kept_row_idx: &mut kept_row_idx,
            nnz: nnz as u32,
            stride: matrix.stride as u32,
        };
        self.kernels.entries.launch(work, Grid::items(nnz * self.lanes, self.group_size), args)?;
        let (col_ptr, ncols) = (&matrix.col_ptr, cols as u32);
        let args = MoveColumns { col_ptr, place: &place, kept_col_ptr: &mut kept_col_ptr, ncols };
        self.kernels.columns.launch(work, Grid::items(cols + 1, self.group_size), args)?;
        let pattern = PatternArrays::new(&matrix.device, matrix.nrows, cols, kept_col_ptr, kept_row_idx);
        Ok(Some(DeviceCbc { pattern, shape: matrix.shape, stride: matrix.stride, values: kept_values }))
    }

    /// The new place of each entry: the number of entries before it that stay. The last element is
    /// the number of all entries that stay.
    fn places(&self, work: &Work, matrix: &DeviceCbc, first_col: usize) -> Result<Buffer<u32>> {
        let (entries, threshold, pattern) = (matrix.nnz(), self.threshold, &matrix.pattern);
        let (nnz, ncols) = (entries as u32, matrix.ncols as u32);
        let arithmetic = self.element.arithmetic();
        let mut size = work.buffer_of(arithmetic.word(), entries)?;
        let (area, stride) = (matrix.shape.area() as u32, matrix.stride as u32);
        let args = EntrySizes { values: &matrix.values, size: &mut size, nnz, area, stride };
        self.kernels.sizes.launch(work, Grid::items(entries * self.lanes, self.group_size), args)?;
        let mut norm = work.buffer(if threshold.relative { 2 * matrix.ncols } else { 0 })?;
        if threshold.relative {
            work.fill_zero(&mut norm)?;
            for lower in 0..(arithmetic.bytes() / 4) as u32 {
                let col_ptr = &pattern.col_ptr;
                let args = ColumnNorms { size: &size, col_ptr, norm: &mut norm, nnz, ncols, lower };
                self.kernels.norms.launch(work, Grid::items(entries, self.group_size), args)?;
            }
        }
        let mut place = work.buffer(entries + 1)?;
        let args = KeepEntries {
            size: &size,
            row_idx: &pattern.row_idx,
            col_ptr: &pattern.col_ptr,
            norm: &norm,
            place: &mut place,
            nnz,
            ncols,
            first_col: first_col as u32,
            relative: u32::from(threshold.relative),
            diagonal: u32::from(threshold.diagonal),
            tolerance: threshold.tolerance_of(self.element),
        };
        self.kernels.keep.launch(work, Grid::items(entries + 1, self.group_size), args)?;
        self.scan.run(work, &mut place)?;
        Ok(place)
    }
}

impl<M: Matrix<Element: Field>> DeviceMatrix<M> {
    /// Returns a new matrix without the entries (blocks) below a [`Threshold`]. A number is taken
    /// as an absolute threshold. The pattern is new, too, and equal to that of
    /// [`matrix::drop_below`](crate::matrix::drop_below) on the host. Reads one number back.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a tolerance that is negative or not finite,
    /// [`Error::Memory`](crate::Error::Memory).
    ///
    /// ```
    /// # fn main() -> blockmul::Result<()> {
    /// use blockmul::{Csc, Device};
    /// let entries = [(0, 0, 1e-9), (1, 0, 4.0), (1, 1, f64::NAN)];
    /// let a = Device::auto()?.upload(&Csc::from_triplets(2, 2, entries)?)?;
    /// assert_eq!(a.drop_below(1e-8)?.nnz(), 2); // NaN stays
    /// # Ok(())
    /// # }
    /// ```
    pub fn drop_below(&self, threshold: impl Into<Threshold>) -> Result<Self> {
        Ok(Self::new(drop_below(&self.cbc, threshold.into())?))
    }
}

impl DeviceMatrix<AnyMatrix> {
    /// Returns a new matrix without the entries (blocks) below a [`Threshold`], like
    /// [`AnyMatrix::drop_below`] on the host. Reads one number back.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for integers and for a tolerance that is
    /// negative or not finite, [`Error::Memory`](crate::Error::Memory).
    pub fn drop_below(&self, threshold: impl Into<Threshold>) -> Result<Self> {
        check_droppable(self.element())?;
        Ok(Self::of_type(drop_below(&self.cbc, threshold.into())?, self.type_of()))
    }
}

/// See [`DeviceMatrix::drop_below`].
fn drop_below(of: &DeviceCbc, threshold: Threshold) -> Result<DeviceCbc> {
    let (work, element) = (Work::new(&of.device, None), of.element());
    let drop = DropEntries::new(&of.device, element, of.shape.area(), threshold)?;
    if let Some(kept) = drop.run(&work, of, 0)? {
        return Ok(kept);
    }
    let mut values = work.buffer_of(element.word(), of.values.len())?;
    work.copy(&of.values, 0, &mut values, 0, of.values.len())?;
    Ok(DeviceCbc { pattern: of.pattern.clone(), shape: of.shape, stride: of.stride, values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Cbc, device::test_device, generate, matrix::drop_below};
    use half::f16;

    /// Whether the device and the host keep the same entries with the same bits, for every number
    /// of lanes that share an entry.
    fn agrees<T: Field>(matrix: &Cbc<T>, threshold: Threshold) -> Result<bool> {
        let (device, work) = (test_device(), Work::new(&test_device(), None));
        let want = drop_below(matrix, threshold)?;
        let on_device = DeviceCbc::upload(&work, matrix.as_cbc())?;
        for lanes in [1, 4, 16] {
            let found = DropEntries::tuned(&device, T::TYPE, threshold, [16, lanes])?.run(&work, &on_device, 0)?;
            let found = found.as_ref().unwrap_or(&on_device).download::<T>(&work)?;
            assert_eq!(found.pattern(), want.pattern(), "{threshold:?}, {lanes} lanes of {}", T::NAME);
            let bytes = |of: &Cbc<T>| bytemuck::cast_slice::<_, u8>(of.values()).to_vec();
            assert!(bytes(&found) == bytes(&want), "{threshold:?}, {lanes} lanes of {}", T::NAME);
        }
        Ok(want.nnz() < matrix.nnz())
    }

    /// Replaces elements by magnitudes from 2^-20 to 2^20, zeros of both signs, infinities and NaN.
    fn odd(matrix: &Cbc<f64>) -> Result<Cbc<f64>> {
        let area = matrix.shape().area();
        let value = |(i, x): (usize, &f64)| match (i / area % 11, i % area) {
            (3, _) => x * 2f64.powi((i / area % 41) as i32 - 20),
            (5, _) => -0.0,
            (7, 0) if i / area % 77 == 7 => f64::NAN,
            (8, 0) if i / area % 88 == 8 => f64::NEG_INFINITY,
            _ => x * 2f64.powi(-((i / area % 29) as i32)),
        };
        Cbc::new(matrix.pattern().clone(), matrix.shape(), matrix.values().iter().enumerate().map(value).collect())
    }

    #[test]
    fn agrees_with_the_host() -> Result<()> {
        let mut dropped = 0;
        for (rows, cols, block) in [(1, 1, 1), (50, 60, 1), (40, 40, 3), (30, 20, 5)] {
            let block = BlockShape::new(block, block + block / 2)?;
            let a = odd(&generate::Uniform {
                rows,
                cols,
                per_column: 9.min(rows),
                shape: block,
                seed: 3,
                ..Default::default()
            }
            .matrix()?)?;
            for tolerance in [0.0, f64::MIN_POSITIVE, 1e-3, 0.1, 1e9] {
                for threshold in [Threshold::absolute(tolerance), Threshold::relative(tolerance)] {
                    for threshold in [threshold, threshold.keep_diagonal()] {
                        dropped += usize::from(agrees(&a, threshold)?);
                        dropped += usize::from(agrees(&a.cast::<f32>(), threshold)?);
                        dropped += usize::from(agrees(&a.cast::<f16>().with_alignment(16)?, threshold)?);
                    }
                }
            }
        }
        assert!(dropped > 60, "{dropped}");
        Ok(())
    }

    #[test]
    fn empty_matrices_and_columns() -> Result<()> {
        for (rows, cols) in [(0, 0), (0, 3), (3, 0), (3, 3)] {
            let empty = Cbc::<f64>::new(
                crate::Pattern::new(rows, cols, vec![0; cols + 1], vec![])?,
                BlockShape::new(2, 2)?,
                vec![],
            )?;
            assert!(!agrees(&empty, Threshold::relative(0.5))?);
        }
        let few = generate::Uniform { rows: 5, cols: 1, per_column: 2, ..Default::default() }.matrix()?;
        assert!(agrees(&few, Threshold::absolute(1e300))?, "everything goes");
        Ok(())
    }
}
