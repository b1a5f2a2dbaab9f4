//! Pictures of matrices. A raster of cells covers a matrix. Each cell has the number of its entries
//! and their largest magnitude.
//!
//! The binning runs on the device that holds the matrix ([`Raster::of`], kernel: `cl/spy/bin.cl`)
//! or on the host ([`Raster::on_host`]). The device and the host give exactly the same raster.
//! [`Shaded`] assigns colours to the cells, and `Picture` (feature `pictures`) makes a file from
//! them.
//!
//! ```
//! use blockmul::extra::spy::Raster;
//! use blockmul::Csc;
//! let a = Csc::from_triplets(4, 4, [(0, 0, 2.0), (1, 0, -8.0), (3, 3, 0.0)])?;
//! let raster = Raster::on_host(&a, 2)?; // 2x2 cells, each for 2 rows and 2 columns
//! assert_eq!((raster.cell(0, 0).entries, raster.cell(0, 0).largest), (2, 8.0));
//! // An explicit zero:
//! assert_eq!((raster.cell(1, 1).entries, raster.cell(1, 1).largest), (1, 0.0));
//! assert_eq!(raster.cell(1, 0).entries, 0);
//! # Ok::<(), blockmul::Error>(())
//! ```
mod bin;
#[cfg(feature = "pictures")]
mod draw;
#[cfg(feature = "pictures")]
mod legend;
mod numbers;
mod overlap;
#[cfg(feature = "pictures")]
mod picture;
mod scale;
mod shade;

pub(crate) use numbers::BinNumbers;
pub use overlap::Overlap;
#[cfg(feature = "pictures")]
pub use picture::Picture;
pub use scale::{CellLines, Scale};
pub use shade::{Shade, Shaded};

use crate::{
    DeviceMatrix, Result,
    element::ElementType,
    matrix::{AnyView, HostMatrix},
};
use bin::{Bins, Mesh, Tuning};

/// A matrix reduced to a raster of cells. Row 0 is at the top, and column 0 is on the left.
#[derive(Debug, Clone, PartialEq)]
pub struct Raster {
    scale: Scale,
    cells: Vec<Cell>,
}

/// The contents of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cell {
    /// Number of stored entries, including explicit zeros: blocks if [`Scale::whole_blocks`],
    /// otherwise elements of blocks.
    pub entries: u32,
    /// Largest magnitude of an element; NaN if any element is NaN. For `f64` only the upper 32 bits
    /// of a magnitude are used, so the result is correct to one part in a million. The largest
    /// magnitude is 0 only if all elements are 0.
    pub largest: f64,
}

impl Raster {
    /// Bins a matrix on its device, with at most `size` cells on each side; see [`Scale::fit`].
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if `size` is 0 or above [`Scale::MAX_SIZE`];
    /// errors of the device.
    pub fn of<M: HostMatrix>(matrix: &DeviceMatrix<M>, size: usize) -> Result<Self> {
        let cbc = &matrix.cbc;
        let mesh = Mesh::new([cbc.nrows, cbc.ncols], cbc.shape, matrix.kind().is_row_major(), size)?;
        Ok(Self::new(matrix.element(), mesh.scale, mesh.bin(cbc, Tuning::new(matrix.device().info()))?))
    }

    /// Bins a matrix on the host. The result equals that of [`Raster::of`].
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if `size` is 0 or above [`Scale::MAX_SIZE`].
    pub fn on_host<M: HostMatrix>(matrix: &M, size: usize) -> Result<Self> {
        let view = matrix.view();
        let sides = [view.pattern.nrows(), view.pattern.ncols()];
        let mesh = Mesh::new(sides, view.shape, view.kind.is_row_major(), size)?;
        Ok(Self::new(view.element(), mesh.scale, Self::model(&mesh, view)))
    }

    fn model(mesh: &Mesh, matrix: AnyView<'_>) -> Bins {
        let AnyView { pattern, shape, stride, values, .. } = matrix;
        mesh.model(pattern, shape, stride, &|at| bin::magnitude(values.element(), values.number(at)))
    }

    fn new(element: ElementType, scale: Scale, bins: Bins) -> Self {
        let cell = |(entries, bits)| Cell { entries, largest: bin::from_bits(element, bits) };
        Self { scale, cells: bins.counts.into_iter().zip(bins.largest).map(cell).collect() }
    }

    /// Rows and columns of a cell.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The cell in row `row` and column `col` of the raster.
    ///
    /// # Panics
    /// If the place is outside the raster.
    pub fn cell(&self, row: usize, col: usize) -> Cell {
        assert!(col < self.scale.width(), "column {col} of a raster of {}", self.scale.width());
        self.cells[row * self.scale.width() + col]
    }

    /// All cells, row by row.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}
