//! Dense matrices that are stored by columns, copied by rows. Kernel: `cl/apply/spmm/by_rows.cl`.
//!
//! A row of D is then in one place, which every entry of A that meets it reads. The copy reads and
//! writes D once.
use crate::{
    Element, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, kernel},
};

kernel! {
    struct ByRows<T: Element> = "copy_by_rows" in "apply/spmm/by_rows.cl" {
        columns: In<T>,
        by_rows: Out<T>,
        rows: u32,
        cols: u32,
        leading: u32,
    }
}

/// Rows and columns of a tile. A column of it is several cache lines, so that few pages of memory
/// are in use at once; a row is one at least.
const TILE: [usize; 2] = [64, 32];

pub(super) struct Rewrite<T: Element> {
    kernel: Kernel<ByRows<'static, T>>,
    group_size: usize,
}

impl<T: Element> Rewrite<T> {
    pub fn new(device: &Device) -> Result<Self> {
        Self::of_groups(device, device.info().serial_or(device.info().numbers().vector_group))
    }

    fn of_groups(device: &Device, group_size: usize) -> Result<Self> {
        let options = Options::group_size(group_size).element::<T>();
        let options = options.define("TILE_ROWS", TILE[0]).define("TILE_COLS", TILE[1]);
        Ok(Self { kernel: Kernel::rare(device, &options)?, group_size })
    }

    /// Requests the kernel.
    pub fn ask(&self, device: &Device) {
        self.kernel.ask(device);
    }

    /// Copies a matrix of `rows` x `cols`, whose columns are `leading` apart.
    pub fn run(
        &self,
        work: &Work,
        columns: &Buffer<T>,
        [rows, cols, leading]: [usize; 3],
        by_rows: &mut Buffer<T>,
    ) -> Result<()> {
        let tiles = rows.div_ceil(TILE[0]) * cols.div_ceil(TILE[1]);
        let (rows, cols, leading) = (rows as u32, cols as u32, leading as u32);
        let args = ByRows { columns, by_rows, rows, cols, leading };
        self.kernel.launch(work, Grid::groups(tiles, self.group_size), args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;

    #[test]
    fn small_matrices_are_copied_by_rows() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        for (rows, cols, leading) in [(0, 3, 5), (1, 1, 1), (63, 33, 63), (140, 2, 150), (64, 64, 64)] {
            let element = |i: usize, j: usize| (i * 100 + j) as f32;
            let mut columns = vec![-1.0; cols * leading];
            for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                columns[j * leading + i] = element(i, j);
            }
            let want: Vec<f32> = (0..rows).flat_map(|i| (0..cols).map(move |j| element(i, j))).collect();
            for group_size in [1, 64] {
                let mut by_rows = work.buffer(rows * cols)?;
                let rewrite = Rewrite::of_groups(&device, group_size)?;
                rewrite.run(&work, &work.upload(&columns)?, [rows, cols, leading], &mut by_rows)?;
                assert_eq!(by_rows.download(&work)?, want, "{rows}x{cols}, groups of {group_size}");
            }
        }
        Ok(())
    }
}
