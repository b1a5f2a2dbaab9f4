//! Conversion of groups to a dense matrix. Kernel: `cl/apply/spmm/coordinates.cl`.
use super::groups::{Grouped, group_size};
use crate::{
    Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Work, kernel},
    matrix::{DenseShape, Layout},
};

kernel! {
    struct Spread = "spread" in "apply/spmm/coordinates.cl" {
        row: In<u32>,
        col: In<u32>,
        values: In<Elem>,
        dense: InOut<Elem>,
        elements: u64,
        block_rows: u32,
        area: u32,
        d_row: u64,
        d_col: u64,
    }
}

impl Grouped {
    /// Converts to a dense matrix in a layout.
    pub fn to_dense(&self, layout: Layout) -> Result<(DenseShape, Buffer)> {
        let Self { groups, values, .. } = self;
        let (block, device) = (groups.shape, &groups.device);
        let shape = DenseShape::new(groups.nrows * block.rows(), groups.ncols * block.cols(), layout);
        shape.check()?;
        let work = Work::new(device, None);
        let mut dense = work.buffer_of(values.word(), shape.len())?;
        work.fill_zero(&mut dense)?;
        let lines = groups.line_of(&work)?;
        let (row, col) = if groups.grouping.of_columns() { (&groups.other, &lines) } else { (&lines, &groups.other) };
        let spread: Kernel<Spread<'_>> = Kernel::new(device, &groups.kernel_options())?;
        let (d_row, d_col) = match layout {
            Layout::ByRows => (shape.leading as u64, 1),
            Layout::ByColumns => (1, shape.leading as u64),
        };
        let args = Spread {
            row,
            col,
            values,
            dense: &mut dense,
            elements: values.len() as u64,
            block_rows: block.rows() as u32,
            area: block.area() as u32,
            d_row,
            d_col,
        };
        spread.launch(&work, Grid::items(values.len(), group_size(device)), args)?;
        Ok((shape, dense))
    }
}
