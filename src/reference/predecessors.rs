//! The predecessor of each vertex on a shortest path, computed on the CPU.
use super::paths::{Leaving, with_length};
use crate::{
    Error, Matrix, Result,
    element::{AnySlice, AnyValues, ElementType, Length, Listed},
    matrix::{AnyMatrix, AnyView},
};

/// Stands for the predecessor of a vertex that has no predecessor.
const NONE: u32 = u32::MAX;

/// The predecessor of each vertex on a shortest path from the `sources`, given the distances from
/// the sources. The result equals [`Paths::predecessors`](crate::graph::Paths::predecessors).
///
/// ```
/// use blockmul::{Csc, reference};
/// let g = Csc::from_triplets(4, 4, [(1, 0, 1.5), (2, 1, 2.0), (2, 0, 4.0)])?;
/// let distances = reference::shortest_paths(&g, &[0])?;
/// let none = u32::MAX;
/// assert_eq!(reference::predecessors(&g, &[0], &distances)?, [none, 0, 1, none]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoLength`] for a length that is NaN; [`Error::Argument`] for a matrix that is not
/// square or not of scalars; [`Error::Length`] if the number of distances is not the number of
/// vertices; [`Error::Contradiction`] if no edge leads to a vertex that has a distance.
pub fn predecessors<M: Matrix<Element: Length>>(
    g: &M,
    sources: &[usize],
    distances: &[M::Element],
) -> Result<Vec<u32>> {
    predecessors_of(g.into(), sources, M::Element::any_slice(distances))
}

/// Like [`predecessors`], for lengths whose type is known at run time only.
///
/// ```
/// use blockmul::{Csc, matrix::AnyMatrix, reference};
/// let g = AnyMatrix::from(Csc::from_triplets(3, 3, [(1, 0, 1u32), (2, 1, 2)])?);
/// let distances = reference::any_shortest_paths(&g, &[0])?;
/// assert_eq!(reference::any_predecessors(&g, &[0], &distances)?, [u32::MAX, 0, 1]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`predecessors`]; [`Error::Argument`] for elements of `f16` and `u8`, and if the
/// distances have another element type.
pub fn any_predecessors(g: &AnyMatrix, sources: &[usize], distances: &AnyValues) -> Result<Vec<u32>> {
    let (element, found) = (g.element(), distances.element());
    element.check_length()?;
    match element == found {
        true => predecessors_of(g.view(), sources, distances.borrow()),
        false => Err(Error::Argument(format!("distances of {found} in a graph with lengths of {element}"))),
    }
}

fn predecessors_of(g: AnyView<'_>, sources: &[usize], distances: AnySlice<'_>) -> Result<Vec<u32>> {
    with_length!(g.element(), D => predecessors_in::<D>(g, sources, distances))
}

fn predecessors_in<D: Length>(g: AnyView<'_>, sources: &[usize], distances: AnySlice<'_>) -> Result<Vec<u32>> {
    let edges = Leaving::<D>::of(g)?;
    let distances = D::of_any_slice(distances).unwrap_or_else(|| unreachable!("distances of another type"));
    let (vertices, far) = (edges.vertices(), D::HIGHEST);
    if distances.len() != vertices {
        let why = format!("{vertices} vertices");
        return Err(Error::Length { array: "distances", found: distances.len(), expected: vertices, why });
    }
    let is_reached = |vertex: usize| distances[vertex] < far;
    let tight = |from: usize| {
        let reached = is_reached(from).then_some(from).into_iter();
        let edges = reached.flat_map(|from| edges.from(from));
        edges.filter(move |&(to, length)| is_reached(to) && length.length(distances[from], far) == distances[to])
    };
    let mut before = vec![NONE; vertices];
    if !edges.has_negative() {
        for from in 0..vertices {
            for (to, _) in tight(from).filter(|&(to, _)| distances[from] < distances[to]) {
                before[to] = before[to].min(from as u32);
            }
        }
    }
    let mut is_near: Vec<bool> = before.iter().map(|&before| before != NONE).collect();
    sources.iter().filter(|&&source| distances[source] == D::ZERO).for_each(|&source| is_near[source] = true);
    // The remaining vertices are found step by step from the settled vertices. The vertices of each
    // new list are one step further from the settled vertices than the list before.
    let mut near: Vec<usize> = (0..vertices).filter(|&vertex| is_near[vertex]).collect();
    while !near.is_empty() {
        let mut next = Vec::new();
        for &from in &near {
            for (to, _) in tight(from).filter(|&(to, _)| !is_near[to]) {
                if before[to] == NONE {
                    next.push(to);
                }
                before[to] = before[to].min(from as u32);
            }
        }
        next.iter().for_each(|&vertex| is_near[vertex] = true);
        near = next;
    }
    match (0..vertices).find(|&vertex| is_reached(vertex) && !is_near[vertex]) {
        Some(vertex) => Err(Error::Contradiction(format!("vertex {vertex} has a distance, and no edge leads there"))),
        None => Ok(before),
    }
}
