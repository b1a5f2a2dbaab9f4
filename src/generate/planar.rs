//! Graphs in the plane that resemble road networks: few edges at each vertex, and long shortest
//! paths.
use super::{Random, lines, room, together};
use crate::{BlockShape, Cbc, Error, Pattern, Result};

/// The graph of `cols` x `rows` points of the plane, each near its place in a grid of side 1. A
/// triangulation connects the points: neighbours in the grid, and the ends of the shorter diagonal
/// of each cell. Edges lead in both directions, and their values are their lengths.
///
/// The points are at most a quarter away from their places, so cells are convex and the triangles
/// do not overlap. Point c of row r has the number r * `cols` + c.
///
/// # Errors
/// [`Error::TooLarge`] for too many points, [`Error::Memory`] if the host lacks the memory.
pub fn planar(cols: usize, rows: usize, seed: u64) -> Result<Cbc<f64>> {
    let vertices = lines("vertices", cols.saturating_mul(rows))? as usize;
    let most = 6 * vertices as u64;
    together(&[(vertices as u64, 16 + 8), (most, 4 + 8)])?;
    let mut points: Vec<[f64; 2]> = room(vertices as u64, 16)?;
    let random = &mut Random::new(seed);
    for row in 0..vertices.min(rows) {
        points.extend((0..cols).map(|col| [col as f64 + 0.5 * random.unit(), row as f64 + 0.5 * random.unit()]));
    }
    let length = |from: usize, to: usize| -> f64 {
        let [x, y] = [points[from][0] - points[to][0], points[from][1] - points[to][1]];
        (x * x + y * y).sqrt()
    };
    // Whether the diagonal of the cell to the right of and above a point begins at that point.
    let begins = |at: usize| length(at, at + cols + 1) <= length(at + 1, at + cols);
    let (mut row_idx, mut lengths): (Vec<u32>, Vec<f64>) = (room(most, 4)?, room(most, 8)?);
    let mut col_ptr = room(vertices as u64 + 1, 8)?;
    col_ptr.push(0);
    for at in 0..vertices {
        let (col, row) = (at % cols, at / cols);
        let (left, right, below, above) = (col > 0, col + 1 < cols, row > 0, row + 1 < rows);
        let neighbours = [
            (below && left && begins(at - cols - 1), at.wrapping_sub(cols + 1)),
            (below, at.wrapping_sub(cols)),
            (below && right && !begins(at - cols), (at + 1).wrapping_sub(cols)),
            (left, at.wrapping_sub(1)),
            (right, at + 1),
            (above && left && !begins(at - 1), at + cols - 1),
            (above, at + cols),
            (above && right && begins(at), at + cols + 1),
        ];
        for (_, to) in neighbours.into_iter().filter(|&(is, _)| is) {
            if row_idx.len() as u64 == most {
                return Err(Error::Contradiction("more edges than a triangulation has".into()));
            }
            row_idx.push(to as u32);
            lengths.push(length(at, to));
        }
        col_ptr.push(row_idx.len() as u64);
    }
    Cbc::new(Pattern::trusted(vertices, vertices, col_ptr, row_idx), BlockShape::SCALAR, lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planar_graph_is_a_triangulation() {
        for (cols, rows) in [(1, 1), (4, 1), (1, 3), (2, 2), (7, 5), (40, 30)] {
            let graph = planar(cols, rows, 3).unwrap();
            let edges = 2 * ((cols - 1) * rows + cols * (rows - 1) + (cols - 1) * (rows - 1));
            assert_eq!((graph.pattern().ncols(), graph.nnz()), (cols * rows, edges), "{cols}x{rows}");
            let back = graph.transpose();
            assert_eq!((back.pattern(), back.values()), (graph.pattern(), graph.values()));
            // Neighbours are at most 1.5 apart along one axis and 0.5 along the other. The ends of
            // a diagonal are at most 1.5 apart along each axis. Each cell of the grid is divided by
            // the shorter of its two diagonals.
            assert!(graph.values().iter().all(|length| (0.5..1.9).contains(length)));
        }
        for (cols, rows) in [(0, 5), (0, usize::MAX), (usize::MAX, 0)] {
            assert_eq!(planar(cols, rows, 1).unwrap().nnz(), 0);
        }
        assert!(matches!(planar(1 << 20, 1 << 20, 1), Err(Error::TooLarge { .. })));
        assert_ne!(planar(5, 5, 1).unwrap(), planar(5, 5, 2).unwrap());
    }
}
