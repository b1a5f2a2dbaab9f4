//! Components and triangles of graphs on the CPU.
use crate::{
    BlockShape, Pattern, Result,
    graph::no_graph,
    matrix::{AnyView, HostMatrix},
};

/// The connected component of each vertex of a graph: the least vertex of the component. Edges
/// connect in both directions; their values do not matter.
///
/// ```
/// use blockmul::{Csc, reference};
/// let g = Csc::from_triplets(5, 5, [(0, 1, 1.0), (2, 3, 1.0)])?;
/// assert_eq!(reference::components(&g)?, [0, 0, 2, 2, 4]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for a matrix that is not square or not of scalars.
pub fn components<M: HostMatrix>(g: &M) -> Result<Vec<u32>> {
    Ok(components_of(check_graph(g.view())?))
}

fn components_of(pattern: &Pattern) -> Vec<u32> {
    // The parent of each vertex in its tree. A root is its own parent, and it is the least vertex
    // of its tree.
    let mut above: Vec<u32> = (0..pattern.ncols() as u32).collect();
    for col in 0..pattern.ncols() {
        for &row in pattern.column(col) {
            let (one, other) = (root(&mut above, col as u32), root(&mut above, row));
            above[one.max(other) as usize] = one.min(other);
        }
    }
    (0..pattern.ncols() as u32).map(|vertex| root(&mut above, vertex)).collect()
}

/// The root of the tree that contains a vertex. Vertices on the way to the root move up in the
/// tree.
fn root(above: &mut [u32], mut vertex: u32) -> u32 {
    while above[vertex as usize] != vertex {
        let next = above[above[vertex as usize] as usize];
        above[vertex as usize] = next;
        vertex = next;
    }
    vertex
}

/// The number of triangles through each vertex of a graph. Edges connect in both directions, and
/// their values do not matter. Loops are left out. Each triangle is counted at each of its three
/// vertices.
///
/// ```
/// use blockmul::{Csc, reference};
/// let edges = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (3, 3)];
/// let g = Csc::from_triplets(4, 4, edges.map(|(i, j)| (i, j, 1.0)))?;
/// assert_eq!(reference::triangles_of_vertices(&g)?, [1, 2, 2, 1]);
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// The errors of [`components`].
pub fn triangles_of_vertices<M: HostMatrix>(g: &M) -> Result<Vec<u32>> {
    Ok(triangles_in(check_graph(g.view())?))
}

fn triangles_in(pattern: &Pattern) -> Vec<u32> {
    let vertices = pattern.ncols();
    let mut neighbours = vec![Vec::new(); vertices];
    for col in 0..vertices {
        for row in pattern.column(col).iter().map(|&row| row as usize).filter(|&row| row != col) {
            neighbours[row].push(col as u32);
            neighbours[col].push(row as u32);
        }
    }
    neighbours.iter_mut().for_each(|of| {
        of.sort_unstable();
        of.dedup();
    });
    // Each edge is listed at its end with fewer neighbours, so vertices with many neighbours have
    // few edges in the lists.
    let rank = |vertex: u32| (neighbours[vertex as usize].len(), vertex);
    let owned: Vec<Vec<u32>> = (0..vertices as u32)
        .map(|vertex| neighbours[vertex as usize].iter().copied().filter(|&other| rank(other) > rank(vertex)).collect())
        .collect();
    let (mut counts, mut met) = (vec![0u32; vertices], vec![usize::MAX; vertices]);
    for first in 0..vertices {
        owned[first].iter().for_each(|&second| met[second as usize] = first);
        for &second in &owned[first] {
            for &third in owned[second as usize].iter().filter(|&&third| met[third as usize] == first) {
                [first as u32, second, third].iter().for_each(|&vertex| counts[vertex as usize] += 1);
            }
        }
    }
    counts
}

/// The pattern of a graph, or of its transpose.
pub(super) fn check_graph(g: AnyView<'_>) -> Result<&Pattern> {
    match g.scalar_sides() {
        (rows, cols) if g.shape == BlockShape::SCALAR && rows == cols => Ok(g.pattern),
        _ => {
            let (rows, cols) = g.kind.oriented(g.pattern.nrows(), g.pattern.ncols());
            Err(no_graph(rows, cols, g.shape))
        }
    }
}
