//! Matrices on the host, independent of devices.
//!
//! Indices count from 0. The entries of column `j` are `col_ptr[j]..col_ptr[j + 1]`; rows ascend
//! strictly within a column. An *entry* is a scalar or a dense block. A block's elements are
//! contiguous and column-major, as in nalgebra. `nrows` and `ncols` are counted in entries (blocks
//! for block matrices), `scalar_rows` and `scalar_cols` in scalars.
mod add;
mod any;
mod any_dense;
mod blocks;
mod bsr;
mod cbc;
mod csc;
mod csr;
mod dense;
mod gcoo;
mod grouping;
mod host;
#[cfg(any(feature = "faer", feature = "nalgebra-sparse", feature = "sprs"))]
mod interop;
mod moves;
mod near;
mod part;
mod pattern;
mod shape;
mod stack;
mod threshold;
mod triplets;
mod view;

pub use crate::element::AnyValues;
pub(crate) use add::union;
pub use add::{add, add_any};
pub use any::AnyMatrix;
pub(crate) use any_dense::AnyDenseViewMut;
pub use any_dense::{AnyDense, AnyDenseView};
pub use bsr::Bsr;
pub use cbc::Cbc;
pub use csc::Csc;
pub use csr::Csr;
pub use dense::{DenseShape, DenseView, DenseViewMut, Layout, Side};
pub(crate) use gcoo::GcooPlaces;
pub use gcoo::{AnyGcoo, GcooArrays};
pub use grouping::Grouping;
pub use host::HostMatrix;
pub(crate) use host::{AnyType, Kind, MatrixType};
pub use part::Part;
pub use pattern::Pattern;
pub use shape::BlockShape;
pub(crate) use shape::{aligned_stride, check_sides, check_stride};
pub use stack::{hstack, vstack};
pub use threshold::{Threshold, drop_below};
pub(crate) use threshold::{check_droppable, kept_entries, pattern_of};
pub use view::{AnyView, MatrixKind};

use crate::{Element, host::memory};

/// The borrowed arrays of any matrix type of this module, as compressed block columns. A row-major
/// matrix is borrowed as the arrays of its transpose.
#[derive(Debug, Clone, Copy)]
pub struct CbcView<'a, T> {
    /// Pattern of the block grid.
    pub pattern: &'a Pattern,
    /// Shape of each block; 1x1 for scalar matrices.
    pub shape: BlockShape,
    /// Number of elements from the start of one block to the start of the next, at least
    /// `shape.area()`.
    pub stride: usize,
    /// The `pattern.nnz() * stride` elements.
    pub values: &'a [T],
}

impl<'a, T: Element> CbcView<'a, T> {
    /// The elements of entry number `entry`, column-major.
    pub fn block(&self, entry: usize) -> &'a [T] {
        &self.values[entry * self.stride..][..self.shape.area()]
    }

    /// The dense matrix.
    ///
    /// # Panics
    /// If there is not enough memory.
    pub fn to_dense(&self) -> nalgebra::DMatrix<T> {
        let (rows, cols) = (self.shape.rows(), self.shape.cols());
        let mut dense = dense_zeros(self.pattern.nrows() * rows, self.pattern.ncols() * cols);
        for block_col in 0..self.pattern.ncols() {
            for entry in self.pattern.entries(block_col) {
                let row = self.pattern.row_idx()[entry] as usize * rows;
                for (i, &value) in self.block(entry).iter().enumerate() {
                    dense[(row + i % rows, block_col * cols + i / rows)] = value;
                }
            }
        }
        dense
    }

    /// Block grid and block shape, for messages.
    pub fn dimensions(&self) -> crate::error::Dimensions {
        crate::error::Dimensions {
            nrows: self.pattern.nrows(),
            ncols: self.pattern.ncols(),
            block_rows: self.shape.rows(),
            block_cols: self.shape.cols(),
        }
    }
}

/// A dense matrix of zeros. The size is checked here, because nalgebra multiplies the sides without
/// checks.
pub(crate) fn dense_zeros<T: Element>(rows: usize, cols: usize) -> nalgebra::DMatrix<T> {
    let most = isize::MAX as usize / size_of::<T>();
    let fits = rows.checked_mul(cols).is_some_and(|elements| elements <= most);
    assert!(fits, "a dense matrix of {rows}x{cols} elements fits no memory");
    nalgebra::DMatrix::from_element(rows, cols, T::from_f64(0.0))
}

/// Like [`dense_zeros`], but returns an error if the host lacks the memory.
pub(crate) fn try_dense_zeros<T: Element>(rows: usize, cols: usize) -> crate::Result<nalgebra::DMatrix<T>> {
    let what = || format!("a dense matrix of {rows}x{cols}");
    let needed = (rows as u64).saturating_mul(cols as u64).saturating_mul(size_of::<T>() as u64);
    memory::check_large(what, needed)?;
    let mut values = Vec::new();
    let reserved = rows.checked_mul(cols).is_some_and(|elements| values.try_reserve_exact(elements).is_ok());
    if !reserved {
        let available = memory::available().unwrap_or(0);
        return Err(crate::Error::Memory { what: what(), needed, available, place: "host".into() });
    }
    values.resize(rows * cols, T::from_f64(0.0));
    Ok(nalgebra::DMatrix::from_vec(rows, cols, values))
}

/// A matrix that can be multiplied: [`Csc`], [`Cbc`], and the row-major [`Csr`] and [`Bsr`]. The
/// arrays of a row-major matrix are the arrays of its transpose.
///
/// The trait is sealed because the kernels rely on the guarantees of [`Pattern`].
pub trait Matrix: sealed::Sealed + Clone + Send + Sync + Sized + 'static {
    /// Type of the elements.
    type Element: Element;
    /// Whether the arrays are the arrays of the transpose. A product of row-major matrices swaps
    /// its operands (Cᵀ = BᵀAᵀ) and copies nothing.
    const ROW_MAJOR: bool;
    /// Whether the entries may be blocks other than 1x1.
    const BLOCKS: bool;
    /// Borrows the arrays as compressed block columns (of the transpose if [`Matrix::ROW_MAJOR`]).
    fn as_cbc(&self) -> CbcView<'_, Self::Element>;
    /// Makes a matrix from compressed block columns (of the transpose if [`Matrix::ROW_MAJOR`]).
    ///
    /// # Errors
    /// [`Error::BlockShape`](crate::Error::BlockShape) if the type is scalar and the blocks are not
    /// 1x1.
    fn from_cbc(cbc: Cbc<Self::Element>) -> crate::Result<Self>;
    /// The arrays as compressed block columns, without a copy; see [`Matrix::as_cbc`].
    fn into_cbc(self) -> Cbc<Self::Element>;
}

pub(crate) mod sealed {
    /// Only this module implements this trait.
    pub trait Sealed {}
}

#[cfg(test)]
mod tests;
