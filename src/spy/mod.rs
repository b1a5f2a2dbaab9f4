//! Pictures of matrices: a raster is laid over a matrix, and what falls on each of its cells is counted, and the largest magnitude kept.
//!
//! The binning runs on the device that holds the matrix ([`Raster::of`], kernel: `cl/spy/bin.cl`), or on the host ([`Raster::on_host`]); both
//! give the same raster, to the bit. Colours are the business of whoever draws it.
//!
//! ```
//! use blockmul::spy::Raster;
//! use blockmul::Csc;
//! let a = Csc::from_triplets(4, 4, [(0, 0, 2.0), (1, 0, -8.0), (3, 3, 0.0)])?;
//! let raster = Raster::on_host(&a, 2)?; // 2x2 cells, each for 2 rows and 2 columns
//! assert_eq!((raster.cell(0, 0).entries, raster.cell(0, 0).largest), (2, 8.0));
//! assert_eq!((raster.cell(1, 1).entries, raster.cell(1, 1).largest), (1, 0.0)); // an explicit zero
//! assert_eq!(raster.cell(1, 0).entries, 0);
//! # Ok::<(), blockmul::Error>(())
//! ```
mod bin;
mod overlap;
mod scale;

pub use overlap::Overlap;
pub use scale::{Scale, Side};

use crate::{DeviceMatrix, Element, Matrix, Result};
use bin::{Bins, Mesh, Tuning};

/// A matrix seen through a raster of cells; row 0 is on top, column 0 on the left.
#[derive(Debug, Clone, PartialEq)]
pub struct Raster {
    scale: Scale,
    cells: Vec<Cell>,
}

/// What falls on one cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cell {
    /// Entries stored there, explicit zeros too: blocks where [`Scale::whole_blocks`], else elements of blocks.
    pub entries: u32,
    /// Largest magnitude of an element; NaN if any is. Of an `f64` the upper 32 bits count: it is right to one part in a million and
    /// 0 for zeros only.
    pub largest: f64,
}

impl Raster {
    /// Bins a matrix on the device it lives on; at most `size` cells a side, see [`Scale::fit`].
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a `size` of 0 or above [`Scale::MAX_SIZE`]; what the device refuses.
    pub fn of<M: Matrix>(matrix: &DeviceMatrix<M>, size: usize) -> Result<Self> {
        let cbc = &matrix.cbc;
        let mesh = Mesh::new::<M>(cbc.nrows, cbc.ncols, cbc.shape, size)?;
        Ok(Self::new::<M::Element>(mesh.scale, mesh.bin(cbc, Tuning::new(matrix.device().info()))?))
    }

    /// Bins a matrix on the host; what [`Raster::of`] makes of it.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for a `size` of 0 or above [`Scale::MAX_SIZE`].
    pub fn on_host<M: Matrix>(matrix: &M, size: usize) -> Result<Self> {
        let view = matrix.as_cbc();
        let mesh = Mesh::new::<M>(view.pattern.nrows(), view.pattern.ncols(), view.shape, size)?;
        Ok(Self::new::<M::Element>(mesh.scale, mesh.model(view)))
    }

    fn new<T: Element>(scale: Scale, bins: Bins) -> Self {
        let cell = |(entries, bits)| Cell { entries, largest: bin::from_bits::<T>(bits) };
        Self { scale, cells: bins.counts.into_iter().zip(bins.largest).map(cell).collect() }
    }

    /// Rows and columns of a cell.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The cell in row `row` and column `col` of the raster.
    ///
    /// # Panics
    /// Outside the raster.
    pub fn cell(&self, row: usize, col: usize) -> Cell {
        assert!(col < self.scale.width(), "column {col} of a raster of {}", self.scale.width());
        self.cells[row * self.scale.width() + col]
    }

    /// Row by row.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
