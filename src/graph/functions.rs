//! The functions of this module on matrices of every kind.
use super::{components as of_components, edges::Graph, paths::ShortestPaths, triangles as of_triangles};
use crate::{
    DeviceMatrix, DeviceVector, Matrix, Result,
    element::{Any, Length},
    matrix::{AnyMatrix, HostMatrix},
};

/// The connected component of each vertex: the least vertex of the component. Edges connect in both
/// directions, whatever their values.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, graph};
/// // 0 - 1 and 3 - 2, and 4 alone.
/// let g = Device::auto()?.upload(&Csc::from_triplets(5, 5, [(0, 1, 1.0), (2, 3, 1.0)])?)?;
/// assert_eq!(graph::components(&g)?.download()?, [0, 0, 2, 2, 4]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for a matrix that is not square or not of scalars,
/// [`Error::Memory`](crate::Error::Memory), [`Error::OpenCl`](crate::Error::OpenCl).
pub fn components<M: HostMatrix>(g: &DeviceMatrix<M>) -> Result<DeviceVector<u32>> {
    of_components::components(&Graph::of(&g.cbc, g.kind().is_row_major())?)
}

/// The number of triangles of a graph: three vertices, each connected with both others. Edges
/// connect in both directions, whatever their values; loops are left out.
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
/// [`Error::Memory`](crate::Error::Memory); [`Error::TooLarge`](crate::Error::TooLarge) if both
/// directions of the edges are more than a matrix on a device may have entries;
/// [`Error::OpenCl`](crate::Error::OpenCl).
pub fn triangles<M: HostMatrix>(g: &DeviceMatrix<M>) -> Result<u64> {
    let counts = triangles_of_vertices(g)?.download()?;
    Ok(counts.into_iter().map(u64::from).sum::<u64>() / 3)
}

/// The number of triangles through each vertex of a graph; see [`triangles`]. Each triangle is
/// counted at each of its three vertices.
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
/// The errors of [`triangles`].
pub fn triangles_of_vertices<M: HostMatrix>(g: &DeviceMatrix<M>) -> Result<DeviceVector<u32>> {
    of_triangles::of_vertices(&Graph::of(&g.cbc, g.kind().is_row_major())?)
}

/// The distance of each vertex of `g` from the nearest source: [`ShortestPaths::run`] with its
/// defaults.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, graph};
/// let g = Csc::from_triplets(4, 4, [(1, 0, 1.5), (2, 1, 2.0), (2, 0, 4.0)])?;
/// let distances = graph::shortest_paths(&Device::auto()?.upload(&g)?, &[0])?;
/// assert_eq!(distances.download()?, [0.0, 1.5, 3.5, f64::INFINITY]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of [`ShortestPaths::run`].
pub fn shortest_paths<M: Matrix<Element: Length>>(
    g: &DeviceMatrix<M>,
    sources: &[usize],
) -> Result<DeviceVector<M::Element>> {
    Ok(ShortestPaths::from(sources).run(g)?.distances)
}

/// Computes what [`shortest_paths`] does, for a graph whose element type is a value.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, element::AnyValues, graph, matrix::AnyMatrix};
/// let g = AnyMatrix::from(Csc::from_triplets(3, 3, [(1, 0, 1u32), (2, 1, 2)])?);
/// let distances = graph::any_shortest_paths(&Device::auto()?.upload(&g)?, &[0])?;
/// assert_eq!(distances.download()?, AnyValues::U32(vec![0, 1, 3]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of [`ShortestPaths::run_any`].
pub fn any_shortest_paths(g: &DeviceMatrix<AnyMatrix>, sources: &[usize]) -> Result<DeviceVector<Any>> {
    Ok(ShortestPaths::from(sources).run_any(g)?.distances)
}

/// The level of each vertex of `g` in a breadth-first search: the least number of edges from a
/// source, `u32::MAX` for a vertex out of reach. Values do not matter.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Csc, Device, graph};
/// let g = Csc::from_triplets(4, 4, [(1, 0, 1.5), (2, 1, 2.0), (2, 0, 4.0)])?;
/// let levels = graph::levels(&Device::auto()?.upload(&g)?, &[0])?;
/// assert_eq!(levels.download()?, [0, 1, 1, u32::MAX]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of [`ShortestPaths::run_by_edges`].
pub fn levels<M: HostMatrix>(g: &DeviceMatrix<M>, sources: &[usize]) -> Result<DeviceVector<u32>> {
    Ok(ShortestPaths::from(sources).run_by_edges(g)?.distances)
}
