//! Counts distances that the type of the distances cannot represent.
use crate::{
    BlockShape, Error, Pattern, Result,
    element::{AnyValues, ElementType},
    matrix::AnyMatrix,
};

/// Numbers of vertices whose shortest path has a length that the type of distances cannot
/// represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LostDistances {
    /// Number of vertices that count as unreachable, because their paths are longer than the
    /// largest number.
    pub too_far: usize,
    /// Number of vertices whose distance is the least number of the type, although their paths are
    /// shorter than this number.
    pub too_low: usize,
}

impl LostDistances {
    /// Counts the lost distances of a graph. `distances` has one list of distances for each list of
    /// sources, one after another.
    ///
    /// ```
    /// use blockmul::{Csc, matrix::AnyMatrix, reference::{self, LostDistances}};
    /// let g = AnyMatrix::from(Csc::from_triplets(3, 3, [(1, 0, u32::MAX - 2), (2, 1, 5)])?);
    /// let distances = reference::any_shortest_paths(&g, &[0])?;
    /// assert_eq!(LostDistances::of(&g, &distances)?.too_far, 1);
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if the graph is not a square matrix of scalars, or if the length of a
    /// list is not the number of vertices; [`Error::Memory`].
    pub fn of(g: &AnyMatrix, distances: &AnyValues) -> Result<Self> {
        let by_columns;
        let g = match g.kind().is_row_major() {
            true => {
                by_columns = g.transpose()?.into_transpose();
                &by_columns
            }
            false => g,
        };
        let vertices = g.ncols();
        if g.nrows() != vertices || g.shape() != BlockShape::SCALAR || !distances.len().is_multiple_of(vertices.max(1))
        {
            let (rows, lengths) = (g.nrows(), distances.len());
            let sides = format!("{rows}x{vertices} blocks of {}, and {lengths} distances", g.shape());
            return Err(Error::Argument(format!(
                "{sides}: a graph is square, of scalars, with a distance for each vertex"
            )));
        }
        let (lengths, distances) = (g.values().numbers(), distances.numbers());
        let edges = Edges { pattern: g.pattern(), lengths: &lengths, element: g.element() };
        Ok(distances.chunks(vertices.max(1)).fold(Self::default(), |lost, distance| Self {
            too_far: lost.too_far + edges.too_far(distance),
            too_low: lost.too_low + edges.too_low(distance),
        }))
    }
}

/// The edges of a graph, their lengths, and the type of the lengths.
struct Edges<'a> {
    pattern: &'a Pattern,
    lengths: &'a [f64],
    element: ElementType,
}

impl Edges<'_> {
    /// The number that stands for a missing path.
    fn highest(&self) -> f64 {
        self.element.nearest(f64::INFINITY)
    }

    /// Number of vertices that count as unreachable although an edge of finite length leads to them
    /// from a reachable vertex.
    fn too_far(&self, distance: &[f64]) -> usize {
        let highest = self.highest();
        let mut is_lost = vec![false; distance.len()];
        let mut waiting: Vec<usize> = (0..distance.len()).filter(|&vertex| distance[vertex] < highest).collect();
        let mut lost = 0;
        while let Some(from) = waiting.pop() {
            for entry in self.pattern.entries(from) {
                let to = self.pattern.row_idx()[entry] as usize;
                if self.lengths[entry] < highest && distance[to] == highest && !is_lost[to] {
                    (is_lost[to], lost) = (true, lost + 1);
                    waiting.push(to);
                }
            }
        }
        lost
    }

    /// Number of vertices whose distance is the least number of the type, although a path to them
    /// is shorter than that number.
    fn too_low(&self, distance: &[f64]) -> usize {
        let lowest = self.element.nearest(f64::NEG_INFINITY);
        let mut is_lost = vec![false; distance.len()];
        for from in (0..distance.len()).filter(|&vertex| distance[vertex] < self.highest()) {
            for entry in self.pattern.entries(from) {
                let to = self.pattern.row_idx()[entry] as usize;
                is_lost[to] |= distance[from] + self.lengths[entry] < lowest;
            }
        }
        is_lost.into_iter().filter(|&is_lost| is_lost).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csc;

    #[test]
    fn paths_that_are_too_long_or_too_short_are_counted() -> Result<()> {
        let lost = |element, n: usize, edges: &[(usize, usize, f64)], distances: &[f64]| {
            let g = AnyMatrix::from(Csc::from_triplets(n, n, edges.iter().copied())?).cast(element);
            let distances = AnyValues::F64(distances.to_vec());
            let (lost, by_rows) = (LostDistances::of(&g, &distances)?, g.transpose()?.into_transpose());
            assert_eq!(LostDistances::of(&by_rows, &distances)?, lost);
            let longer = AnyValues::zeros(ElementType::F64, n + 1);
            assert!(matches!(LostDistances::of(&g, &longer), Err(Error::Argument(_))));
            Result::Ok(lost)
        };
        // A path leads over the vertices 0, 1, 2, 3, and its edge from 1 to 2 is too long. An edge
        // of infinite length leads to vertex 4.
        let most = f64::from(u32::MAX);
        let edges = [(1, 0, most - 2.0), (2, 1, 2.0), (3, 2, 0.0), (4, 0, most)];
        assert_eq!(lost(ElementType::U32, 5, &edges, &[0.0, most - 2.0, most, most, most])?.too_far, 2);
        let least = f64::from(i32::MIN);
        assert_eq!(lost(ElementType::I32, 3, &[(1, 0, least), (2, 1, -1.0)], &[0.0, least, least])?.too_low, 1);
        let edges = [(1, 0, 1e308), (0, 1, 1e308)];
        assert_eq!(lost(ElementType::F64, 2, &edges, &[0.0, 1e308])?, LostDistances::default());
        Ok(())
    }
}
