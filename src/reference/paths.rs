//! Shortest paths on the CPU: Dijkstra's algorithm, or sweeps if a length is negative.
use super::graphs::check_graph;
use crate::{
    Element, Error, Matrix, Pattern, Result,
    element::{AnyValues, ElementType, Length, Listed},
    graph::cycles::{LastEdges, NONE, is_time_to_look},
    matrix::{AnyMatrix, AnyView},
};
use std::{
    borrow::Cow,
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// Evaluates an expression in which a name stands for a type that implements [`Length`].
macro_rules! with_length {
    ($element:expr, $name:ident => $result:expr) => {
        $crate::element::with_type_of!(
            $element, $name => $result, F64: f64, F32: f32, U32: u32, I32: i32;
            ElementType::F16 | ElementType::U8 => unreachable!("no length")
        )
    };
}
pub(super) use with_length;

/// The distance of each vertex of a graph from the nearest of the `sources`, which are vertices
/// counted from 0. The distance is infinite if no path leads to the vertex. The entry of `g` at row
/// i, column j is the length of the edge from j to i.
///
/// ```
/// use blockmul::{Csc, reference};
/// let g = Csc::from_triplets(4, 4, [(1, 0, 1.5), (2, 1, 2.0), (2, 0, 4.0)])?;
/// assert_eq!(reference::shortest_paths(&g, &[0])?, [0.0, 1.5, 3.5, f64::INFINITY]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::NegativeCycle`]; [`Error::NoLength`] for a length that is NaN; [`Error::Argument`] if
/// there is no source or a source is outside the graph, and for a matrix that is not square or not
/// of scalars.
pub fn shortest_paths<M: Matrix<Element: Length>>(g: &M, sources: &[usize]) -> Result<Vec<M::Element>> {
    Ok(paths_of(g.into(), sources)?.of_same())
}

/// Like [`shortest_paths`], for lengths whose type is known at run time only.
///
/// ```
/// use blockmul::{Csc, element::AnyValues, matrix::AnyMatrix, reference};
/// let g = AnyMatrix::from(Csc::from_triplets(3, 3, [(1, 0, 1u32), (2, 1, 2)])?);
/// assert_eq!(reference::any_shortest_paths(&g, &[0])?, AnyValues::U32(vec![0, 1, 3]));
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`shortest_paths`]; [`Error::Argument`] for elements of `f16` and `u8`.
pub fn any_shortest_paths(g: &AnyMatrix, sources: &[usize]) -> Result<AnyValues> {
    g.element().check_length()?;
    paths_of(g.view(), sources)
}

fn paths_of(g: AnyView<'_>, sources: &[usize]) -> Result<AnyValues> {
    with_length!(g.element(), D => paths_in::<D>(g, sources).map(D::any))
}

fn paths_in<D: Length>(g: AnyView<'_>, sources: &[usize]) -> Result<Vec<D>> {
    let edges = Leaving::<D>::of(g)?;
    let vertices = edges.vertices();
    let refused = |why: String| Err(Error::Argument(why));
    if let Some(outside) = sources.iter().find(|&&source| source >= vertices) {
        return refused(format!("source {outside} is outside a graph of {vertices} vertices"));
    }
    if sources.is_empty() {
        return refused("at least one source is required".into());
    }
    let mut distance = vec![D::HIGHEST; vertices];
    sources.iter().for_each(|&source| distance[source] = D::ZERO);
    match edges.has_negative() {
        false => visit(&mut distance, sources, |vertex| edges.from(vertex)),
        true => sweep(&mut distance, sources, |vertex| edges.from(vertex))?,
    }
    Ok(distance)
}

/// The edges that leave each vertex of a graph.
pub(super) struct Leaving<'a, D: Element> {
    values: &'a [D],
    stride: usize,
    pattern: Cow<'a, Pattern>,
    /// The index of each edge in the stored entries. Empty if the edges are in the order of the
    /// stored entries.
    source_of: Vec<usize>,
}

impl<'a, D: Length> Leaving<'a, D> {
    /// # Errors
    /// [`Error::NoLength`]; [`Error::Argument`] for a matrix that is not a graph.
    pub fn of(g: AnyView<'a>) -> Result<Self> {
        let stored = check_graph(g)?;
        let (stride, by_rows) = (g.stride, g.kind.is_row_major());
        let values = D::of_any_slice(g.values).unwrap_or_else(|| unreachable!("lengths of another type"));
        let is_nan = |&entry: &usize| {
            let length = values[entry * stride];
            length.partial_cmp(&D::ZERO).is_none()
        };
        if let Some(entry) = (0..stored.nnz()).find(is_nan) {
            let col = stored.col_ptr().partition_point(|&begin| begin as usize <= entry) - 1;
            let row = stored.row_idx()[entry] as usize;
            let (from, to) = if by_rows { (row, col) } else { (col, row) };
            return Err(Error::NoLength { from, to });
        }
        let (pattern, source_of) = match by_rows {
            true => {
                let (moved, source_of) = stored.transpose();
                (Cow::Owned(moved), source_of)
            }
            false => (Cow::Borrowed(stored), Vec::new()),
        };
        Ok(Self { values, stride, pattern, source_of })
    }

    pub fn vertices(&self) -> usize {
        self.pattern.ncols()
    }

    fn value(&self, entry: usize) -> D {
        self.values[self.source_of.get(entry).map_or(entry, |&stored| stored) * self.stride]
    }

    /// The edges that leave a vertex: their ends and their lengths.
    pub fn from(&self, vertex: usize) -> impl Iterator<Item = (usize, D)> {
        self.pattern.entries(vertex).map(|entry| (self.pattern.row_idx()[entry] as usize, self.value(entry)))
    }

    /// Whether a length is negative.
    pub fn has_negative(&self) -> bool {
        (0..self.pattern.nnz()).any(|entry| self.value(entry) < D::ZERO)
    }
}

/// A vertex in the heap of Dijkstra's algorithm, ordered by its distance. No distance is NaN.
struct Reached<D>(D, usize);

impl<D: PartialOrd> PartialEq for Reached<D> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<D: PartialOrd> Eq for Reached<D> {}

impl<D: PartialOrd> PartialOrd for Reached<D> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<D: PartialOrd> Ord for Reached<D> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal).then(self.1.cmp(&other.1))
    }
}

/// Dijkstra's algorithm: visits vertices in the order of their distances.
fn visit<D: Length, E: Iterator<Item = (usize, D)>>(
    distance: &mut [D],
    sources: &[usize],
    leaving: impl Fn(usize) -> E,
) {
    let mut heap: BinaryHeap<_> = sources.iter().map(|&source| Reverse(Reached(D::ZERO, source))).collect();
    while let Some(Reverse(Reached(so_far, vertex))) = heap.pop() {
        if so_far > distance[vertex] {
            continue;
        }
        for (next, length) in leaving(vertex) {
            let reached = length.length(so_far, D::HIGHEST);
            if reached < distance[next] {
                distance[next] = reached;
                heap.push(Reverse(Reached(reached, next)));
            }
        }
    }
}

/// Visits edges in sweeps until no distance falls. A sweep computes with the distances of the sweep
/// before, so that cycles are found after the same number of sweeps as on devices. A sweep only
/// visits edges that leave vertices whose distance fell in the sweep before, because no other edge
/// lowers a distance.
fn sweep<D: Length, E: Iterator<Item = (usize, D)>>(
    distance: &mut [D],
    sources: &[usize],
    leaving: impl Fn(usize) -> E,
) -> Result<()> {
    let (mut from, mut length) = (vec![NONE; distance.len()], vec![D::HIGHEST; distance.len()]);
    let mut lowered = sources.to_vec();
    for sweeps in 1.. {
        lowered.sort_unstable();
        lowered.dedup();
        let before: Vec<D> = lowered.iter().map(|&vertex| distance[vertex]).collect();
        let mut next_lowered = Vec::new();
        for (&vertex, &so_far) in lowered.iter().zip(&before) {
            for (next, of_edge) in leaving(vertex) {
                let reached = of_edge.length(so_far, D::HIGHEST);
                if reached < distance[next] {
                    (distance[next], from[next], length[next]) = (reached, vertex as u32, of_edge);
                    next_lowered.push(next);
                }
            }
        }
        lowered = next_lowered;
        if lowered.is_empty() || is_time_to_look(sweeps) {
            let falling = Some(sweeps).filter(|_| !lowered.is_empty());
            let [length, distance] =
                [&length, &*distance].map(|of| of.iter().map(|number| number.to_f64()).collect::<Vec<f64>>());
            LastEdges { element: D::TYPE, from: &from, length: &length, distance: &distance }.check(falling)?;
        }
        if lowered.is_empty() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csc, Csr};

    #[test]
    fn paths_with_lengths_of_both_signs() -> Result<()> {
        let edges = [(1, 0, 4), (2, 1, -3), (1, 2, 3), (3, 2, -2), (3, 0, 1)];
        let g = Csc::from_triplets(5, 5, edges)?;
        assert_eq!(shortest_paths(&g, &[0])?, [0, 4, 1, -1, i32::MAX]);
        assert_eq!(shortest_paths(&Csr::from_transpose(g.transpose()), &[0])?, [0, 4, 1, -1, i32::MAX]);
        let circle = Csc::from_triplets(3, 3, [(1, 0, 1.0), (2, 1, -2.0), (1, 2, 1.0)])?;
        assert!(matches!(shortest_paths(&circle, &[0]), Err(Error::NegativeCycle { vertex: 1, .. })));
        assert!(shortest_paths(&circle, &[3]).is_err());
        let low = Csc::from_triplets(2, 2, [(1, 0, i32::MIN / 2), (0, 1, i32::MIN / 2)])?;
        assert!(matches!(shortest_paths(&low, &[0]), Err(Error::NegativeCycle { vertex: 0, .. })));
        Ok(())
    }
}
