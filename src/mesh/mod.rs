//! Triangle meshes: their files, their pictures, and the graph of their vertices.
//!
//! ```
//! use blockmul::extra::mesh::{self, Mesh};
//! let text = "v 0 0 0\nv 3 0 0\nv 3 4 0\nf 1 2 3\n";
//! let mesh = mesh::read_from(text.as_bytes(), "one.obj")?;
//! assert_eq!((mesh.points().len(), mesh.triangles()), (3, &[[0, 1, 2]][..]));
//! // The edges in both directions, with their lengths.
//! assert_eq!(mesh.graph()?.values(), [3.0, 5.0, 3.0, 4.0, 5.0, 4.0]);
//! # Ok::<(), blockmul::Error>(())
//! ```
mod file;
mod picture;

pub use file::{MeshFormat, read, read_from, write_ply, write_ply_to};
pub use picture::{MeshPicture, View, patch_colour};

use crate::{Csc, Error, Pattern, Result, host::memory};

/// A colour: red, green and blue.
pub type Colour = [u8; 3];

/// Points in space, and triangles between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    points: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

/// Refuses colours whose number differs from the number of vertices.
fn check_colours(mesh: &Mesh, colours: &[Colour]) -> Result<()> {
    let (found, expected) = (colours.len(), mesh.points.len());
    match found == expected {
        true => Ok(()),
        false => Err(Error::Length { array: "colours", found, expected, why: "one for each vertex".into() }),
    }
}

impl Mesh {
    /// Makes a mesh of these points. Each triangle names its corners, counted from 0,
    /// counterclockwise as seen from outside.
    ///
    /// # Errors
    /// [`Error::Argument`] for a corner that does not exist, and for a coordinate that is not
    /// finite; [`Error::TooLarge`].
    pub fn new(points: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self> {
        if points.len() as u64 > Pattern::MAX_LINES {
            return Err(Error::TooLarge { what: "points", value: points.len() as u64, limit: Pattern::MAX_LINES });
        }
        if let Some((number, point)) = points.iter().enumerate().find(|(_, point)| !is_finite(point)) {
            return Err(Error::Argument(format!("point {number} is {point:?}")));
        }
        let is_outside = |triangle: &&[u32; 3]| triangle.iter().any(|&corner| corner as usize >= points.len());
        if let Some(triangle) = triangles.iter().find(is_outside) {
            let points = points.len();
            return Err(Error::Argument(format!(
                "triangle {triangle:?} names a corner that is none of {points} points"
            )));
        }
        Ok(Self { points, triangles })
    }

    /// The coordinates of the vertices.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The corners of the triangles, counted from 0.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The graph of the vertices. Each edge of a triangle becomes two entries, one for each
    /// direction, whose value is the length of the edge. An edge from a vertex to itself is left
    /// out.
    ///
    /// # Errors
    /// [`Error::LongEdge`] if the square of the length of an edge exceeds the largest number;
    /// [`Error::Memory`], [`Error::TooLarge`].
    pub fn graph(&self) -> Result<Csc<f64>> {
        let vertices = self.points.len();
        let bytes = 2 * 6 * 8 * self.triangles.len() as u64 + 8 * (vertices as u64 + 1);
        memory::check_large(|| "the edges of a mesh".into(), bytes)?;
        // Column and row are stored in one number, so that sorting puts the entries in order.
        let mut edges: Vec<u64> = Vec::with_capacity(6 * self.triangles.len());
        for &[a, b, c] in &self.triangles {
            let pairs = [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)].into_iter().filter(|(from, to)| from != to);
            edges.extend(pairs.map(|(from, to)| u64::from(from) << 32 | u64::from(to)));
        }
        edges.sort_unstable();
        edges.dedup();
        let mut col_ptr = vec![0u64; vertices + 1];
        edges.iter().for_each(|edge| col_ptr[(edge >> 32) as usize + 1] += 1);
        (0..vertices).for_each(|col| col_ptr[col + 1] += col_ptr[col]);
        let ends = |edge: u64| [(edge >> 32) as usize, edge as u32 as usize];
        let length = |&edge: &u64| {
            let [from, to] = ends(edge).map(|vertex| self.points[vertex]);
            distance(from, to)
        };
        let lengths: Vec<f64> = edges.iter().map(length).collect();
        if let Some(entry) = lengths.iter().position(|length| length.is_infinite()) {
            let [from, to] = ends(edges[entry]);
            return Err(Error::LongEdge { from, to });
        }
        let rows = edges.iter().map(|&edge| edge as u32).collect();
        Csc::new(Pattern::trusted(vertices, vertices, col_ptr, rows), lengths)
    }
}

/// The distance between two points, with the same bits in both directions.
pub(crate) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    square(a, b).sqrt()
}

/// The square of the distance between two points.
pub(crate) fn square(a: [f64; 3], b: [f64; 3]) -> f64 {
    let [x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    x * x + y * y + z * z
}

fn is_finite(point: &[f64; 3]) -> bool {
    point.iter().all(|coordinate| coordinate.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_has_the_edges_of_its_triangles_once() -> Result<()> {
        // Two triangles share an edge, a third triangle has two equal corners, and point 4 is in no
        // triangle.
        let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 2.0, 2.0], [9.0; 3]];
        let graph = Mesh::new(points, vec![[0, 1, 2], [1, 3, 2], [3, 3, 1]])?.graph()?;
        let columns: Vec<_> = (0..5).map(|col| graph.pattern().column(col)).collect();
        assert_eq!(columns, [&[1, 2][..], &[0, 2, 3], &[0, 1, 3], &[1, 2], &[]]);
        let root = 5f64.sqrt();
        assert_eq!(graph.values(), [1.0, 2.0, 1.0, root, 8f64.sqrt(), 2.0, root, root, 8f64.sqrt(), root]);
        Ok(())
    }

    #[test]
    fn edges_whose_lengths_are_no_numbers_are_refused() -> Result<()> {
        // The edge from 0 to 1 has nearly the largest length that is allowed.
        let mesh = |far: f64| Mesh::new(vec![[0.0; 3], [1e154, 0.0, 0.0], [far, 0.0, 0.0]], vec![[0, 1, 1], [2, 1, 1]]);
        assert_eq!(mesh(0.0)?.graph()?.values(), [1e154; 4]);
        let why = "the edge between vertices 1 and 2, counted from 0, is too long: the square of its length is above the \
                   largest number";
        assert_eq!(mesh(1e200)?.graph().unwrap_err().to_string(), why);
        Ok(())
    }

    #[test]
    fn what_is_no_mesh_is_refused() {
        let refused = |points, triangles| Mesh::new(points, triangles).unwrap_err().to_string();
        let why = "triangle [0, 1, 2] names a corner that is none of 2 points";
        assert_eq!(refused(vec![[0.0; 3]; 2], vec![[0, 1, 1], [0, 1, 2]]), why);
        assert_eq!(refused(vec![[0.0; 3], [1.0, f64::NAN, 0.0]], vec![]), "point 1 is [1.0, NaN, 0.0]");
    }
}
