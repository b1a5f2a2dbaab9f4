//! Groups made into a dense matrix. Kernel: `cl/apply/spmm/coordinates.cl`.
use super::{DeviceGcoo, group_size};
use crate::{
    DeviceDense, Element, Result,
    device::{Grid, In, InOut, Kernel, Work, kernel},
    matrix::{DenseShape, Layout},
};

kernel! {
    struct Spread<T: Element> = "spread" in "apply/spmm/coordinates.cl" {
        row: In<u32>,
        col: In<u32>,
        values: In<T>,
        dense: InOut<T>,
        elements: u64,
        block_rows: u32,
        area: u32,
        d_row: u64,
        d_col: u64,
    }
}

impl<T: Element> DeviceGcoo<T> {
    /// The same matrix with its zeros, in a layout.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory), [`Error::OpenCl`](crate::Error::OpenCl).
    pub fn to_dense(&self, layout: Layout) -> Result<DeviceDense<T>> {
        let (groups, block, work) = (&self.groups, self.shape(), Work::new(self.device(), None));
        let shape = DenseShape::new(groups.nrows * block.rows(), groups.ncols * block.cols(), layout);
        let mut dense = self.device().zero_dense(shape)?;
        let lines = groups.line_of::<T>(&work)?;
        let (row, col) = if self.grouping().of_columns() { (&groups.other, &lines) } else { (&lines, &groups.other) };
        let spread: Kernel<Spread<'_, T>> = Kernel::new(self.device(), &groups.kernel_options::<T>())?;
        let (d_row, d_col) = match layout {
            Layout::ByRows => (shape.leading as u64, 1),
            Layout::ByColumns => (1, shape.leading as u64),
        };
        let args = Spread {
            row,
            col,
            values: &self.values,
            dense: &mut dense.values,
            elements: self.values.len() as u64,
            block_rows: block.rows() as u32,
            area: block.area() as u32,
            d_row,
            d_col,
        };
        spread.launch(&work, Grid::items(self.values.len(), group_size(self.device())), args)?;
        Ok(dense)
    }
}
