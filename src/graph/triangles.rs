//! Triangles: masked products over plus-pair. Kernels: `cl/graph/triangles.cl`.
use super::edges::Graph;
use crate::{
    BlockShape, Csc, DeviceKind, DeviceMatrix, DevicePattern, DeviceVector, Matrix, Planned, Product, Result, Semiring,
    apply::Apply,
    device::{Grid, In, Kernel, Options, Out, Work, kernel},
    planned::Accum,
    primitives::{
        scan::{Scan, ScanTuning},
        transpose::Transpose,
    },
    resident::PatternArrays,
    structure::Union,
};
use std::sync::Arc;

kernel! {
    struct CountSide = "count_side" in "graph/triangles.cl" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        side_ptr: Out<u32>,
        vertices: u32,
        above: u32,
    }
}

kernel! {
    struct CopySide = "copy_side" in "graph/triangles.cl" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        side_ptr: In<u32>,
        side_row: Out<u32>,
        vertices: u32,
        above: u32,
    }
}

/// Work-items that share a column on devices whose neighbouring work-items read neighbouring
/// entries.
const LANES: usize = 8;

/// Counts on the places of a triangle, with the triangle's pattern.
type OnEdges = DeviceMatrix<Csc<u32>>;

/// The number of triangles of a graph: three vertices, each connected with both others. Edges
/// connect in both directions, whatever their values; loops are left out.
///
/// It is the sum of L·L over [plus-pair](Semiring::PlusPair) on the places of L, the lower triangle
/// of the graph: an entry counts the triangles through its edge whose third vertex lies between.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, graph};
/// // Two triangles, 0 1 2 and 1 2 3, and a loop.
/// let edges = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (3, 3)];
/// let g = Csc::from_triplets(4, 4, edges.map(|(i, j)| (i, j, 1.0)))?;
/// assert_eq!(graph::triangles(&Device::auto()?.upload(&g)?)?, 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for a matrix that is not square or not of scalars;
/// those of a masked [`Product`].
pub fn triangles<M: Matrix>(g: &DeviceMatrix<M>) -> Result<u64> {
    let lower = lower_triangle(&Graph::of(g)?)?;
    let between = Product::of(&lower, &lower).mask(&lower.pattern()).semiring(Semiring::PlusPair).run()?;
    let mut counts = lower.device().zero_vector(lower.ncols())?;
    add_lines(&between, true, &mut counts)?;
    Ok(counts.download()?.into_iter().map(u64::from).sum())
}

/// The number of triangles through each vertex of a graph; see [`triangles`]. A triangle counts at
/// its three vertices.
///
/// Beside L·L there is Lᵀ·L on the places of L: it counts the triangles through an edge whose third
/// vertex is above both ends. The first has two vertices of each triangle in the row and the column
/// of an entry, the second the third one in its row.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, graph};
/// let edges = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (3, 3)];
/// let g = Csc::from_triplets(4, 4, edges.map(|(i, j)| (i, j, 1.0)))?;
/// let counts = graph::triangles_of_vertices(&Device::auto()?.upload(&g)?)?;
/// assert_eq!(counts.download()?, [1, 2, 2, 1]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`triangles`].
pub fn triangles_of_vertices<M: Matrix>(g: &DeviceMatrix<M>) -> Result<DeviceVector<u32>> {
    let lower = lower_triangle(&Graph::of(g)?)?;
    let places = lower.pattern();
    // A vertex has no more triangles than the graph has edges.
    let mut counts = lower.device().zero_vector(lower.ncols())?;
    let between = Product::of(&lower, &lower).mask(&places).semiring(Semiring::PlusPair).run()?;
    add_lines(&between, true, &mut counts)?;
    add_lines(&between, false, &mut counts)?;
    let upper =
        as_matrix(Transpose::new(lower.device())?.run(&Work::new(lower.device(), None), &places.arrays)?.pattern)?;
    let above = Product::of(&upper, &lower).mask(&places).semiring(Semiring::PlusPair).run()?;
    add_lines(&above, false, &mut counts)?;
    Ok(counts)
}

/// Adds the sum of each column, or row, of a matrix.
fn add_lines(counts: &OnEdges, columns: bool, to: &mut DeviceVector<u32>) -> Result<()> {
    let ones = counts.device().upload_vector(&vec![1u32; counts.ncols()])?;
    let pattern = counts.pattern();
    let sums = Apply::<Csc<u32>>::with(&pattern).uses(1);
    let sums = if columns { sums.transposed() } else { sums };
    sums.plan()?.execute((counts, &ones), Accum::into(to).beta(1.0)).map(drop)
}

/// Each edge once, in the column of its lower vertex; no loops. The values are not read.
fn lower_triangle(graph: &Graph) -> Result<OnEdges> {
    let device = graph.device();
    let work = Work::new(device, None);
    let (below, above) = (side(&work, &graph.stored, false)?, side(&work, &graph.stored, true)?);
    let mirrored = Transpose::new(device)?.run(&work, &above)?.pattern;
    let (both, _) = Union::new(device)?.run(&work, &below, &mirrored)?;
    as_matrix(both)
}

/// The entries of a pattern above its diagonal, or below it.
fn side(work: &Work, pattern: &PatternArrays, above: bool) -> Result<Arc<PatternArrays>> {
    let (device, vertices) = (work.device(), pattern.ncols);
    let info = device.info();
    let group_size = info.numbers().elementwise_group;
    let lanes = if info.kind == DeviceKind::Cpu { 1 } else { LANES };
    let options = Options::group_size(group_size).define("LANES", lanes);
    let (count, copy): (Kernel<CountSide<'_>>, Kernel<CopySide<'_>>) =
        (Kernel::new(device, &options)?, Kernel::new(device, &options)?);
    let (col_ptr, row_idx, above) = (&pattern.col_ptr, &pattern.row_idx, u32::from(above));
    let mut side_ptr = work.buffer(vertices + 1)?;
    let args = CountSide { col_ptr, row_idx, side_ptr: &mut side_ptr, vertices: vertices as u32, above };
    count.launch(work, Grid::items(vertices + 1, group_size), args)?;
    Scan::new(device, ScanTuning::new(info))?.run(work, &mut side_ptr)?;
    let edges = work.read_count(&side_ptr, vertices, "entries of a triangle", pattern.nnz() as u64)?;
    let mut side_row = work.buffer(edges as usize)?;
    let (begin, vertices) = (&side_ptr, vertices as u32);
    let args = CopySide { col_ptr, row_idx, side_ptr: begin, side_row: &mut side_row, vertices, above };
    copy.launch(work, Grid::items(pattern.ncols * lanes, group_size), args)?;
    Ok(PatternArrays::new(device, pattern.nrows, pattern.ncols, side_ptr, side_row))
}

fn as_matrix(arrays: Arc<PatternArrays>) -> Result<OnEdges> {
    DeviceMatrix::zeros(&DevicePattern { arrays, array_shape: BlockShape::SCALAR, row_major: false })
}
