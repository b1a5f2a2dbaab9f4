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

/// Side of a tile: a row of it is at least a cache line.
const TILE: usize = 32;

pub(super) struct Rewrite<T: Element> {
    kernel: Kernel<ByRows<'static, T>>,
    group_size: usize,
}

impl<T: Element> Rewrite<T> {
    pub fn new(device: &Device) -> Result<Self> {
        let group_size = device.info().serial_or(device.info().numbers().vector_group);
        let options = Options::group_size(group_size).element::<T>().define("TILE", TILE);
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
        let tiles = rows.div_ceil(TILE) * cols.div_ceil(TILE);
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
        for (rows, cols, leading) in [(0, 3, 5), (1, 1, 1), (31, 33, 31), (70, 2, 80), (32, 64, 32)] {
            let element = |i: usize, j: usize| (i * 100 + j) as f32;
            let mut columns = vec![-1.0; cols * leading];
            for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
                columns[j * leading + i] = element(i, j);
            }
            let mut by_rows = work.buffer(rows * cols)?;
            Rewrite::new(&device)?.run(&work, &work.upload(&columns)?, [rows, cols, leading], &mut by_rows)?;
            let want: Vec<f32> = (0..rows).flat_map(|i| (0..cols).map(move |j| element(i, j))).collect();
            assert_eq!(by_rows.download(&work)?, want, "{rows}x{cols}");
        }
        Ok(())
    }
}
