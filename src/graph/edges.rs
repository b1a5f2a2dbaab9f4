//! The edges of a graph on a device. Kernels: `cl/graph/edges.cl`.
use crate::{
    BlockShape, Error, Result, Semiring,
    device::{Buffer, Device, Elem, In, Maybe, Options, Work, arguments},
    element::ElementType,
    error::Dimensions,
    primitives::transpose::{Transpose, Transposed},
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

/// A graph: the stored pattern of its matrix. The pattern sorts edges by the vertex that they
/// leave, or by the vertex that they enter.
pub(super) struct Graph {
    pub stored: Arc<PatternArrays>,
    /// Whether the columns of the arrays list the edges that leave a vertex.
    pub leaving: bool,
}

/// For each vertex, the edges that leave it or the edges that enter it.
pub(super) struct Edges {
    pub pattern: Arc<PatternArrays>,
    /// The index of each edge's value, or `None` if the values are in the order of the edges.
    source: Option<Buffer<u32>>,
}

/// The lengths of edges.
#[derive(Clone, Copy)]
pub(super) struct Lengths<'a> {
    /// The type of lengths and distances.
    pub element: ElementType,
    /// The lengths, or `None` if every edge has length 1.
    pub values: Option<&'a Buffer>,
    /// Number of elements from one length to the next in `values`.
    pub stride: u32,
}

/// Edges and their lengths.
#[derive(Clone, Copy)]
pub(super) struct WeighedEdges<'a> {
    pub edges: &'a Edges,
    pub lengths: &'a Lengths<'a>,
}

arguments! {
    /// Edges sorted by the vertex that they enter, as kernel arguments: the parameters ENTERING_OF
    /// of `cl/graph/edges.cl`.
    pub(super) struct Entering: for<'a> WeighedEdges<'a> = |of| {
        in_ptr: In<u32> = &of.edges.pattern.col_ptr,
        from: In<u32> = &of.edges.pattern.row_idx,
        source: Maybe<u32> = of.edges.source.as_ref(),
        values: Maybe<Elem> = of.lengths.values,
        stride: u32 = of.lengths.stride,
    }
}

arguments! {
    /// Edges sorted by the vertex that they leave, as kernel arguments: the parameters LEAVING_OF
    /// of `cl/graph/edges.cl`.
    pub(super) struct Leaving: for<'a> WeighedEdges<'a> = |of| {
        out_ptr: In<u32> = &of.edges.pattern.col_ptr,
        to: In<u32> = &of.edges.pattern.row_idx,
        source: Maybe<u32> = of.edges.source.as_ref(),
        values: Maybe<Elem> = of.lengths.values,
        stride: u32 = of.lengths.stride,
    }
}

impl<'a> Lengths<'a> {
    /// The values of a graph as lengths.
    pub fn of(g: &'a DeviceCbc) -> Self {
        Self { element: g.element(), values: Some(&g.values), stride: g.stride as u32 }
    }

    /// Lengths that are stored without gaps.
    pub fn packed(values: &'a Buffer) -> Self {
        Self { element: ElementType::of(values.word()), values: Some(values), stride: 1 }
    }

    /// Lengths that are 1 for every edge. Distances are then whole numbers.
    pub fn units() -> Self {
        Self { element: ElementType::U32, values: None, stride: 1 }
    }
}

impl Graph {
    /// The graph of a square matrix of scalars.
    pub fn of(g: &DeviceCbc, row_major: bool) -> Result<Self> {
        match (g.shape, row_major) {
            (BlockShape::SCALAR, _) if g.nrows == g.ncols => {
                Ok(Self { stored: g.pattern.clone(), leaving: !row_major })
            }
            (shape, false) => Err(no_graph(g.nrows, g.ncols, shape)),
            (shape, true) => Err(no_graph(g.ncols, g.nrows, shape.transpose())),
        }
    }

    pub fn device(&self) -> &Device {
        &self.stored.device
    }

    pub fn vertices(&self) -> usize {
        self.stored.ncols
    }

    /// For each vertex, the edges that leave it or the edges that enter it.
    pub fn edges(&self, work: &Work, leaving: bool) -> Result<Edges> {
        if leaving == self.leaving {
            return Ok(Edges { pattern: self.stored.clone(), source: None });
        }
        let Transposed { pattern, source, .. } = Transpose::new(work.device())?.run(work, &self.stored)?;
        Ok(Edges { pattern, source: Some(source) })
    }
}

/// The error for a matrix that is not square or not of scalars. Rows and columns count blocks.
pub(crate) fn no_graph(nrows: usize, ncols: usize, shape: BlockShape) -> Error {
    let size = Dimensions { nrows, ncols, block_rows: shape.rows(), block_cols: shape.cols() };
    Error::Argument(format!("a graph is a square matrix of scalars, this one is {size}"))
}

impl Edges {
    /// The edges, together with `lengths`.
    pub fn with<'a>(&'a self, lengths: &'a Lengths<'a>) -> WeighedEdges<'a> {
        WeighedEdges { edges: self, lengths }
    }

    /// The options of kernels that read lengths and compute distances.
    pub fn options(&self, group_size: usize, lengths: &Lengths<'_>) -> Options {
        Options::group_size(group_size)
            .element_in(lengths.element, Semiring::MinPlus)
            .define("UNIT", u8::from(lengths.values.is_none()))
            .define("THROUGH", u8::from(self.source.is_some()))
    }
}
