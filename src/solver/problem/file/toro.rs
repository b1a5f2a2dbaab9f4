//! Graphs of poses in the text format of TORO (G. Grisetti, C. Stachniss, S. Grzonka, W. Burgard,
//! *A Tree Parameterization for Efficiently Computing Maximum Likelihood Maps using Gradient
//! Descent*, 2007), plain or packed.
//!
//! ```text
//! VERTEX2 name x y angle                                       VERTEX is the same
//! EDGE2 from to x y angle  I11 I12 I22 I33 I13 I23             EDGE is the same
//! VERTEX3 name x y z roll pitch yaw
//! EDGE3 from to x y z roll pitch yaw  I11 ... I16 I22 ... I66
//! ```
//!
//! The numbers I11, I12 and so on are elements of the information matrix I. In the plane the
//! elements of I for x, y and the angle have the order of the line `EDGE2`. In space the upper
//! triangle is given row by row. A rotation turns by roll about x, then by pitch about y, then by
//! yaw about z. If a file has no vertices at all, the first pose is at the origin, and the
//! measurements determine the other poses. Lines that begin with `#` are skipped. `EQUIV` is
//! refused.
//!
//! Files of [`isam`](super::isam) have `EDGE2` and `EDGE3` with other numbers.
//! [`read_with`](super::super::read_with) distinguishes the two formats.
//!
//! ```
//! use blockmul::solver::problem::{Graph, toro};
//! let text = "VERTEX2 0 0 0 0\nVERTEX2 1 1 0 0.1\nEDGE2 0 1 1 0 0  4 0 5 9 0 0\n";
//! let Graph::Plane(graph) = toro::read_from(text.as_bytes(), "a.graph")? else { unreachable!() };
//! assert_eq!(graph.steps[0].information.diagonal().as_slice(), [4.0, 5.0, 9.0]);
//! # Ok::<(), blockmul::Error>(())
//! ```
use super::{
    edges::{Edges, parse},
    numbers::Numbers,
};
use crate::{Result, solver::problem::Graph};
use std::{io::Read, path::Path};

/// Reads the file at `path`.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the system refuses the file;
/// [`Error::Parse`](crate::Error::Parse) with the line for anything that the format does not allow
/// or this reader does not know; [`Error::Memory`](crate::Error::Memory).
pub fn read(path: impl AsRef<Path>) -> Result<Graph> {
    Ok(parse(Numbers::open(path.as_ref())?, Some(Edges::Toro))?.graph)
}

/// Reads a graph from any reader, to the end. Error messages use `name` as the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>) -> Result<Graph> {
    Ok(parse(Numbers::new(reader, name.as_ref())?, Some(Edges::Toro))?.graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use nalgebra::{Matrix3, Vector3};

    #[test]
    fn information_has_an_order_of_its_own_in_the_plane() -> Result<()> {
        let text =
            "# a comment\nEDGE2 7 3 1 2 0  1 2 3 4 5 6\nVERTEX2 3 1 2 0\nVERTEX2 7 0 0 0\nEDGE 3 7 0 0 0 1 0 1 1 0 0\n";
        let Graph::Plane(graph) = read_from(text.as_bytes(), "x.graph")? else { panic!("in space") };
        assert_eq!((graph.pose_names, graph.steps[0].from), (vec![3, 7], 1));
        assert_eq!(graph.steps[0].information, Matrix3::new(1.0, 2.0, 5.0, 2.0, 3.0, 6.0, 5.0, 6.0, 4.0));
        assert_eq!(graph.steps[1].information, Matrix3::identity());
        Ok(())
    }

    #[test]
    fn in_space_it_is_an_upper_triangle() -> Result<()> {
        let quarter = std::f64::consts::FRAC_PI_2;
        let numbers: String = (1..=21).map(|number| format!(" {number}")).collect();
        let text = format!("EDGE3 4 6 1 0 0 0 0 {quarter} {numbers}\n");
        let Graph::Space(graph) = read_from(text.as_bytes(), "x.graph")? else { panic!("in the plane") };
        let step = &graph.steps[0];
        assert_relative_eq!(step.measured * Vector3::x(), Vector3::y(), epsilon = 1e-12);
        assert_eq!(step.information, step.information.transpose());
        assert_eq!(
            [(0, 0), (0, 5), (1, 1), (3, 4), (5, 5)].map(|at| step.information[at]),
            [1.0, 6.0, 7.0, 17.0, 21.0]
        );
        assert_eq!(graph.poses[0], nalgebra::Isometry3::identity());
        Ok(())
    }

    #[test]
    fn refuses_with_the_line() {
        for (text, what) in [
            ("", "x:1: the file has no measurements"),
            (
                "EDGE2 0 1 0 0 0 1 0 1 1 0 0\nEQUIV 0 1",
                "x:2: \"EQUIV\" of TORO is not supported, that two vertices are one",
            ),
            ("ODOMETRY 0 1", "x:1: ODOMETRY is iSAM's, in a file that is TORO's as requested"),
            ("VERTEX2 0 0 0 0\nVERTEX3 1 0 0 0 0 0 0", "x:2: \"VERTEX3\" in a graph that is in the plane since line 1"),
            ("VERTEX2 0 0 0 0\nEDGE2 0 1 0 0 0 1 0 1 1 0 0", "x:2: there is no vertex 1 in the file"),
            (
                "EDGE3 0 1 0 0 0 0 0 0",
                "x:1: EDGE3 without numbers of information is iSAM's, in a file that is TORO's as requested",
            ),
        ] {
            assert_eq!(read_from(text.as_bytes(), "x").expect_err(text).to_string(), what);
        }
    }
}
