//! Entries with their rows, a work-group for each tile of 1024 entries. Kernels:
//! `cl/apply/spmv/coo.cl`.
//!
//! A group has as many entries as any other, however long the rows are. A row in several tiles is
//! joined by a second kernel. The sums have an order of their own, [`Order::Tiles`].
//!
//! [`Order::Tiles`]: crate::element::Order::Tiles
use super::{Rows, Sums};
use crate::{
    Element, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Scalar, Scratch, Work, kernel},
    element::{Order, Scaling},
    vector::line_sums::Stored,
};

kernel! {
    struct ListRows = "list_rows" in "apply/spmv/values.cl", "apply/spmv/coo.cl" {
        row_ptr: In<u32>,
        row: Out<u32>,
        rows: u32,
        nnz: u32,
    }
}

kernel! {
    struct SumTiles<T: Element> = "sum_tiles" in "apply/spmv/values.cl", "apply/spmv/coo.cl" {
        row: In<u32>,
        col: In<u32>,
        source: In<u32>,
        values: In<T>,
        x: In<T>,
        y: InOut<T>,
        parts: Out<T::Arithmetic>,
        nnz: u32,
        stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

kernel! {
    struct JoinTiles<T: Element> = "join_tiles" in "apply/spmv/values.cl", "apply/spmv/coo.cl" {
        row: In<u32>,
        parts: In<T::Arithmetic>,
        y: InOut<T>,
        tiles: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

kernel! {
    struct EmptyRows<T: Element> = "empty_rows" in "apply/spmv/values.cl", "apply/spmv/coo.cl" {
        row_ptr: In<u32>,
        y: InOut<T>,
        rows: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

pub(super) struct Coo<T: Element> {
    rows: Rows,
    /// The row of each entry.
    row: Buffer<u32>,
    tiles: Kernel<SumTiles<'static, T>>,
    join: Kernel<JoinTiles<'static, T>>,
    empty: Kernel<EmptyRows<'static, T>>,
    parts: Scratch<T::Arithmetic>,
    /// Work-items of a tile, which is one item's on a CPU, and of other kernels.
    tile_group: usize,
    group_size: usize,
}

impl<T: Element> Coo<T> {
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let (info, nnz) = (rows.device().info(), rows.pattern.nnz());
        let group_size = info.numbers().vector_group;
        let tile_group = info.serial_or(group_size);
        let options = |group| rows.options::<T>(Options::group_size(group)).define("TILE", Order::TILE);
        let (device, of_items) = (rows.device(), options(group_size));
        let tiles = Kernel::new(device, &options(tile_group))?;
        let (join, empty) = (Kernel::new(device, &of_items)?, Kernel::new(device, &of_items)?);
        let list: Kernel<ListRows<'_>> = Kernel::new(device, &of_items)?;
        let mut row = work.buffer(nnz)?;
        let args = ListRows { row_ptr: &rows.pattern.col_ptr, row: &mut row, rows: rows.len() as u32, nnz: nnz as u32 };
        list.launch(work, Grid::items(nnz, group_size), args)?;
        let parts = Scratch::reserve(work, 2 * nnz.div_ceil(Order::TILE))?;
        Ok(Self { rows, row, tiles, join, empty, parts, tile_group, group_size })
    }
}

impl<T: Element> Sums<T> for Coo<T> {
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_, T>,
        x: &Buffer<T>,
        Scaling { alpha, beta }: Scaling<T::Arithmetic>,
        y: &mut Buffer<T>,
    ) -> Result<()> {
        let Self { row, rows, group_size, .. } = self;
        let (col, source, nnz) = (&rows.pattern.row_idx, rows.source(), rows.pattern.nnz() as u32);
        let tiles = rows.pattern.nnz().div_ceil(Order::TILE);
        let mut parts = self.parts.take(work)?;
        let args = SumTiles { row, col, source, values, x, y, parts: &mut parts, nnz, stride, alpha, beta };
        self.tiles.launch(work, Grid::groups(tiles, self.tile_group), args)?;
        let args = JoinTiles { row, parts: &parts, y, tiles: tiles as u32, alpha, beta };
        self.join.launch(work, Grid::items(tiles, *group_size), args)?;
        let args = EmptyRows { row_ptr: &rows.pattern.col_ptr, y, rows: rows.len() as u32, alpha, beta };
        self.empty.launch(work, Grid::items(rows.len(), *group_size), args)
    }

    fn places(&self) -> usize {
        self.rows.pattern.nnz()
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        self.rows.source.as_ref()
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes() + self.row.bytes() + self.parts.bytes()
    }
}
