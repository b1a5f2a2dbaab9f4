//! The edges of a graph on a device. Kernels: `cl/graph/edges.cl`.
use crate::{
    BlockShape, DeviceMatrix, Error, Matrix, Result,
    device::{Buffer, Device, Options, Work},
    element::{Element, Semiring},
    error::Dimensions,
    primitives::transpose::{Transpose, Transposed},
    resident::PatternArrays,
};
use std::sync::Arc;

/// A graph: its pattern as it is stored, by the begin of its edges or by their end.
pub(super) struct Graph {
    pub stored: Arc<PatternArrays>,
    /// Whether the columns of the arrays list the edges that leave a vertex.
    pub leaving: bool,
}

/// The edges of each vertex, leaving or entering it.
pub(super) struct Edges {
    pub pattern: Arc<PatternArrays>,
    /// The number of each edge's value, unless they are in order.
    source: Option<Buffer<u32>>,
}

/// The lengths of edges.
pub(super) struct Lengths<'a, D> {
    /// `None` if every edge has length 1.
    pub values: Option<(&'a Buffer<D>, u32)>,
}

impl Graph {
    /// The graph of a square matrix of scalars.
    pub fn of<M: Matrix>(g: &DeviceMatrix<M>) -> Result<Self> {
        let cbc = &g.cbc;
        if cbc.shape != BlockShape::SCALAR || cbc.nrows != cbc.ncols {
            return Err(no_graph(g.nrows(), g.ncols(), g.shape()));
        }
        Ok(Self { stored: cbc.pattern.clone(), leaving: !M::ROW_MAJOR })
    }

    pub fn device(&self) -> &Device {
        &self.stored.device
    }

    pub fn vertices(&self) -> usize {
        self.stored.ncols
    }

    /// The edges that leave each vertex, or those that enter it.
    pub fn edges(&self, work: &Work, leaving: bool) -> Result<Edges> {
        if leaving == self.leaving {
            return Ok(Edges { pattern: self.stored.clone(), source: None });
        }
        let Transposed { pattern, source, .. } = Transpose::new(work.device())?.run(work, &self.stored)?;
        Ok(Edges { pattern, source: Some(source) })
    }
}

/// The error for a matrix that is not square or not of scalars; its size in blocks.
pub(crate) fn no_graph(nrows: usize, ncols: usize, shape: BlockShape) -> Error {
    let size = Dimensions { nrows, ncols, block_rows: shape.rows(), block_cols: shape.cols() };
    Error::Argument(format!("a graph is a square matrix of scalars, this one is {size}"))
}

impl Edges {
    /// The index of the values; any other array if there is none, which kernels then do not read.
    pub fn source(&self) -> &Buffer<u32> {
        self.source.as_ref().unwrap_or(&self.pattern.row_idx)
    }

    /// The options of kernels that read lengths and compute distances of type `D`.
    pub fn options<D: Element>(&self, group_size: usize, lengths: &Lengths<'_, D>) -> Options {
        Options::group_size(group_size)
            .element_in::<D>(Semiring::MinPlus)
            .define("UNIT", u8::from(lengths.values.is_none()))
            .define("THROUGH", u8::from(self.source.is_some()))
    }
}
