//! Copies of dense matrices that are stored by columns. The copies are stored by rows. Kernel:
//! `cl/apply/spmm/by_rows.cl`.
//!
//! In the copy a row of D is contiguous, and every entry of A that multiplies this row reads it
//! from there. Copying reads and writes D once.
use super::{ByRows as RowMajor, Dense, DenseNumbers, numbers::COPIED_COLS, tuning};
use crate::{
    Result,
    device::{Buffer, Device, Elem, Grid, In, Kernel, Options, Out, Scratch, Work, kernel},
    element::ElementType,
    matrix::DenseShape,
    resident::DenseBuffer,
};

kernel! {
    struct ByRows = "copy_by_rows" in "apply/spmm/turn.cl", "apply/spmm/by_rows.cl" {
        columns: In<Elem>,
        by_rows: Out<Elem>,
        rows: u32,
        cols: u32,
        leading: u32,
        past: u32,
    }
}

struct Rewrite {
    kernel: Kernel<ByRows<'static>>,
    group_size: usize,
    tile: [usize; 2],
    /// A copy of at least `past_bytes` bytes is written past the caches.
    past_bytes: usize,
}

impl Rewrite {
    pub fn new(device: &Device, element: ElementType) -> Result<Self> {
        let info = device.info();
        Self::of_groups(device, element, info.serial_or(info.vector_group()), &info.numbers())
    }

    fn of_groups(device: &Device, element: ElementType, group_size: usize, numbers: &DenseNumbers) -> Result<Self> {
        let tile = [numbers.dense_copied_rows, COPIED_COLS];
        let options = Options::group_size(group_size).element(element);
        let options = options.define("TILE_ROWS", tile[0]).define("TILE_COLS", tile[1]);
        let options = options.define("TURNED", tuning::turned(element));
        Ok(Self { kernel: Kernel::rare(device, &options)?, group_size, tile, past_bytes: numbers.dense_past_bytes })
    }

    /// Starts to compile the kernel.
    pub fn ask(&self, device: &Device) {
        self.kernel.ask(device);
    }

    /// Copies a matrix of `rows` x `cols`, whose columns begin `leading` elements apart.
    pub fn run(
        &self,
        work: &Work,
        columns: &Buffer,
        [rows, cols, leading]: [usize; 3],
        by_rows: &mut Buffer,
    ) -> Result<()> {
        let tiles = rows.div_ceil(self.tile[0]) * cols.div_ceil(self.tile[1]);
        let past = u32::from(rows * cols * columns.word().bytes() >= self.past_bytes);
        let (rows, cols, leading) = (rows as u32, cols as u32, leading as u32);
        let args = ByRows { columns, by_rows, rows, cols, leading, past };
        self.kernel.launch(work, Grid::groups(tiles, self.group_size), args)
    }
}

/// Provides D by rows for a product: D itself, or a copy of it.
pub(super) struct RowsOfD {
    rewrite: Rewrite,
    copy: Scratch,
    /// Whether D is expected by columns. If D is expected by columns, memory for a copy is
    /// reserved.
    by_columns: bool,
}

impl RowsOfD {
    /// Prepares for matrices of `len` elements. The matrices are expected by columns if
    /// `by_columns` is set, otherwise by rows.
    pub fn new(work: &Work, element: ElementType, by_columns: bool, len: usize) -> Result<Self> {
        let (device, word) = (work.device(), element.word());
        let (rewrite, copy) = (Rewrite::new(device, element)?, Scratch::of(device, word, len)?);
        if by_columns {
            rewrite.ask(device);
            copy.take(work)?;
        }
        Ok(Self { rewrite, copy, by_columns })
    }

    /// Calls the multiplication with D by rows.
    pub fn with(
        &self,
        work: &Work,
        d: DenseBuffer<'_>,
        multiply: impl FnOnce(RowMajor<'_>) -> Result<()>,
    ) -> Result<()> {
        let (Dense { values, leading, by_columns }, DenseShape { rows, cols, .. }) =
            (Dense::new(d.shape, d.values), d.shape);
        if !by_columns {
            return multiply(RowMajor { values, leading, rows, cols });
        }
        let mut copy = self.copy.take(work)?;
        self.rewrite.run(work, values, [rows, cols, leading], &mut copy)?;
        multiply(RowMajor { values: &copy, leading: cols, rows, cols })
    }

    /// Bytes of device memory held.
    pub fn bytes(&self) -> u64 {
        if self.by_columns { self.copy.bytes() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceKind, device::test_device, tuning::StageNumbers};

    #[test]
    fn small_matrices_are_copied_by_rows() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        for (rows, cols, leading) in [(0, 3, 5), (1, 1, 1), (63, 33, 63), (140, 2, 150), (64, 64, 64), (521, 24, 521)] {
            let element = |i: usize, j: usize| (i * 100 + j) as f64;
            let mut columns = vec![-1.0; cols * leading];
            for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                columns[j * leading + i] = element(i, j);
            }
            let want: Vec<f64> = (0..rows).flat_map(|i| (0..cols).map(move |j| element(i, j))).collect();
            let [cpu, gpu] = [DeviceKind::Cpu, DeviceKind::Gpu].map(DenseNumbers::of);
            for (group_size, past_bytes, numbers) in [(1, usize::MAX, cpu), (1, 0, cpu), (64, 0, gpu)] {
                let (columns, mut by_rows) = (work.upload(&columns)?, work.buffer::<f64>(rows * cols)?);
                let rewrite =
                    Rewrite { past_bytes, ..Rewrite::of_groups(&device, ElementType::F64, group_size, &numbers)? };
                rewrite.run(&work, &columns, [rows, cols, leading], &mut by_rows)?;
                assert_eq!(by_rows.download(&work)?, want, "{rows}x{cols}, groups of {group_size}, {past_bytes}");
            }
        }
        Ok(())
    }
}
