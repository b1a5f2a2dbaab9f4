//! [`Cells`]: the grid of groups. Host matrices, device matrices and patterns use it.
use crate::{BlockShape, Error, Pattern, Result, error::Dimensions};

/// Consecutive rows or columns of blocks with one side length: for example the cameras of a
/// problem, with 9 parameters each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group {
    /// Number of rows (or columns) of blocks.
    pub blocks: usize,
    /// Scalar rows (or columns) of each block, 1 to 32.
    pub side: usize,
}

impl Group {
    /// Number of scalar rows (or columns); `usize::MAX` if the product overflows.
    pub fn scalars(self) -> usize {
        self.blocks.saturating_mul(self.side)
    }
}

/// A grid whose rows are groups of rows and whose columns are groups of columns, with an optional
/// `X` in each cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells<X> {
    pub rows: Vec<Group>,
    pub cols: Vec<Group>,
    /// The cells, row after row.
    cells: Vec<Option<X>>,
}

impl<X> Cells<X> {
    /// Makes a grid. `of` returns the size of a cell's contents, which must be the size of the
    /// cell's groups.
    pub fn new(
        rows: Vec<Group>,
        cols: Vec<Group>,
        cells: Vec<Option<X>>,
        of: impl Fn(&X) -> Dimensions,
    ) -> Result<Self> {
        let found: Vec<_> = cells.iter().map(|x| x.as_ref().map(&of)).collect();
        check(&rows, &cols, &found)?;
        Ok(Self { rows, cols, cells })
    }

    /// Makes a grid of one cell. The caller guarantees that its size is the size of the groups.
    pub fn one(rows: Group, cols: Group, x: X) -> Self {
        Self { rows: vec![rows], cols: vec![cols], cells: vec![Some(x)] }
    }

    pub fn get(&self, row: usize, col: usize) -> Option<&X> {
        let inside = row < self.rows.len() && col < self.cols.len();
        if inside { self.cells[row * self.cols.len() + col].as_ref() } else { None }
    }

    pub fn get_mut(&mut self, row: usize, col: usize) -> Option<&mut X> {
        let inside = row < self.rows.len() && col < self.cols.len();
        if inside { self.cells[row * self.cols.len() + col].as_mut() } else { None }
    }

    /// The nonempty cells, row after row, with their places (row group, column group).
    pub fn iter(&self) -> impl Iterator<Item = ((usize, usize), &X)> {
        let cols = self.cols.len();
        self.cells.iter().enumerate().filter_map(move |(i, x)| Some(((i / cols, i % cols), x.as_ref()?)))
    }

    /// The nonempty cells, mutable, with their places.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = ((usize, usize), &mut X)> {
        let cols = self.cols.len();
        self.cells.iter_mut().enumerate().filter_map(move |(i, x)| Some(((i / cols, i % cols), x.as_mut()?)))
    }

    /// Applies `f` to each cell and makes a grid of the results.
    pub fn try_map<'a, Y>(&'a self, mut f: impl FnMut(&'a X) -> Result<Y>) -> Result<Cells<Y>> {
        self.try_map_places(|_, x| f(x))
    }

    /// Applies `f` to each cell and its place, and makes a grid of the results.
    pub fn try_map_places<'a, Y>(&'a self, mut f: impl FnMut((usize, usize), &'a X) -> Result<Y>) -> Result<Cells<Y>> {
        let cols = self.cols.len();
        let one = |(i, x): (usize, &'a Option<X>)| x.as_ref().map(|x| f((i / cols, i % cols), x)).transpose();
        let cells = self.cells.iter().enumerate().map(one).collect::<Result<_>>()?;
        Ok(Cells { rows: self.rows.clone(), cols: self.cols.clone(), cells })
    }

    /// Applies `f` to each cell and makes a grid of the results.
    pub fn map<'a, Y>(&'a self, mut f: impl FnMut(&'a X) -> Y) -> Cells<Y> {
        let cells = self.cells.iter().map(|x| x.as_ref().map(&mut f)).collect();
        Cells { rows: self.rows.clone(), cols: self.cols.clone(), cells }
    }

    /// Applies `f` to each cell, mutable, and makes a grid of the results.
    pub fn map_mut<'a, Y>(&'a mut self, mut f: impl FnMut(&'a mut X) -> Y) -> Cells<Y> {
        let cells = self.cells.iter_mut().map(|x| x.as_mut().map(&mut f)).collect();
        Cells { rows: self.rows.clone(), cols: self.cols.clone(), cells }
    }

    /// Consumes the cells with `f` and makes a grid of the results.
    pub fn into_map<Y>(self, mut f: impl FnMut(X) -> Y) -> Cells<Y> {
        Cells { rows: self.rows, cols: self.cols, cells: self.cells.into_iter().map(|x| x.map(&mut f)).collect() }
    }

    /// Consumes the cells with `f` and makes a grid of the results.
    pub fn try_into_map<Y>(self, mut f: impl FnMut(X) -> Result<Y>) -> Result<Cells<Y>> {
        let cells = self.cells.into_iter().map(|x| x.map(&mut f).transpose()).collect::<Result<_>>()?;
        Ok(Cells { rows: self.rows, cols: self.cols, cells })
    }

    /// Applies `f` to each cell and makes the transposed grid of the results.
    pub fn try_transpose<'a, Y>(&'a self, mut f: impl FnMut(&'a X) -> Result<Y>) -> Result<Cells<Y>> {
        let count = self.rows.len();
        let places = (0..self.cells.len()).map(|place| (place % count, place / count));
        let one = |(row, col)| self.get(row, col).map(&mut f).transpose();
        let cells = places.map(one).collect::<Result<_>>()?;
        Ok(Cells { rows: self.cols.clone(), cols: self.rows.clone(), cells })
    }

    pub fn into_cells(self) -> Vec<Option<X>> {
        self.cells
    }
}

/// Refuses cells whose sizes differ from the sizes of their groups.
fn check(rows: &[Group], cols: &[Group], cells: &[Option<Dimensions>]) -> Result<()> {
    for &Group { blocks, side } in rows.iter().chain(cols) {
        BlockShape::new(side, side)?;
        if blocks as u64 > Pattern::MAX_LINES {
            return Err(Error::TooLarge {
                what: "number of rows or columns of a group",
                value: blocks as u64,
                limit: Pattern::MAX_LINES,
            });
        }
    }
    if cells.len() != rows.len() * cols.len() {
        let why = format!("{} groups of rows by {} of columns", rows.len(), cols.len());
        return Err(Error::Length { array: "cells", found: cells.len(), expected: rows.len() * cols.len(), why });
    }
    let places = (0..rows.len()).flat_map(|row| (0..cols.len()).map(move |col| (row, col)));
    for ((row, col), found) in places.zip(cells) {
        let Some(found) = found else { continue };
        let (r, c) = (rows[row], cols[col]);
        if *found != (Dimensions { nrows: r.blocks, ncols: c.blocks, block_rows: r.side, block_cols: c.side }) {
            return Err(Error::Argument(format!(
                "group ({row}, {col}) is {}x{} blocks of {}x{}, its place in the grid is {}x{} blocks of {}x{}",
                found.nrows, found.ncols, found.block_rows, found.block_cols, r.blocks, c.blocks, r.side, c.side
            )));
        }
    }
    Ok(())
}
