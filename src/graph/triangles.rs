//! Triangles: a masked product over plus-pair.
use super::edges::Graph;
use crate::{Csc, DeviceMatrix, Matrix, Pattern, Product, Result, Semiring, device::Work};

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
    let graph = Graph::of(g)?;
    let lower = lower_triangle(&graph.stored.download(&Work::new(graph.device(), None))?);
    let ones = vec![1u32; lower.nnz()];
    let lower = graph.device().upload(&Csc::new(lower, ones)?)?;
    let places = lower.pattern();
    let through = Product::of(&lower, &lower).mask(&places).semiring(Semiring::PlusPair).run()?.download()?;
    Ok(through.values().iter().copied().map(u64::from).sum())
}

/// Each edge once, in the column of its lower vertex; no loops.
fn lower_triangle(pattern: &Pattern) -> Pattern {
    let mut edges: Vec<(u32, u32)> = Vec::with_capacity(pattern.nnz());
    for col in 0..pattern.ncols() {
        let others = pattern.column(col).iter().filter(|&&row| row as usize != col);
        edges.extend(others.map(|&row| (row.min(col as u32), row.max(col as u32))));
    }
    edges.sort_unstable();
    edges.dedup();
    let mut col_ptr = vec![0u64; pattern.ncols() + 1];
    edges.iter().for_each(|&(low, _)| col_ptr[low as usize + 1] += 1);
    (0..pattern.ncols()).for_each(|col| col_ptr[col + 1] += col_ptr[col]);
    let rows = edges.into_iter().map(|(_, high)| high).collect();
    Pattern::trusted(pattern.nrows(), pattern.ncols(), col_ptr, rows)
}
