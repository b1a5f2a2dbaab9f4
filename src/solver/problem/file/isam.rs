//! Graphs of poses and landmarks in the text format of iSAM (M. Kaess, A. Ranganathan, F. Dellaert,
//! *iSAM: Incremental Smoothing and Mapping*, 2008), plain or packed.
//!
//! ```text
//! ODOMETRY from to x y angle  R11 R12 R13 R22 R23 R33          EDGE2 is the same
//! LANDMARK pose landmark x y  R11 R12 R22
//! EDGE3 from to x y z roll pitch yaw  [R11 ... R66]
//! POINT3 pose landmark x y z  [R11 ... R33]
//! POSE3D_INIT pose x y z roll pitch yaw
//! ```
//!
//! The numbers R11, R12 and so on are the upper triangle, row by row, of the square root R of an
//! information matrix RᵀR. If a line does not have these numbers, R is the identity. A rotation
//! turns by roll about x, then by pitch about y, then by yaw about z. Landmarks and poses are
//! numbered separately. The first pose is at the origin; the measurements determine the places of
//! all landmarks, and of all other poses without `POSE3D_INIT`. Files of [`toro`](super::toro) use
//! some of these keywords with other numbers. Lines that only iSAM's evaluation uses (`SOLVE`,
//! `POSE3D_TRUE`, `EDGE3_INIT`, `EDGE3_TRUE`) and lines that begin with `#` are skipped.
//!
//! ```
//! use blockmul::solver::problem::{Graph, isam};
//! let text = "ODOMETRY 0 1 1 0 0.1  2 0 0 2 0 3\nLANDMARK 1 0 0 1  1 0 1\n";
//! let Graph::Plane(graph) = isam::read_from(text.as_bytes(), "two.txt")? else { unreachable!() };
//! assert_eq!((graph.poses.len(), graph.landmarks.len()), (2, 1));
//! assert_eq!(graph.steps[0].information[(2, 2)], 9.0);
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
    Ok(parse(Numbers::open(path.as_ref())?, Some(Edges::Isam))?.graph)
}

/// Reads a graph from any reader, to the end. Error messages use `name` as the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>) -> Result<Graph> {
    Ok(parse(Numbers::new(reader, name.as_ref())?, Some(Edges::Isam))?.graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use nalgebra::{Vector2, Vector3};

    #[test]
    fn poses_and_landmarks_have_numbers_of_their_own() -> Result<()> {
        let text = "# in the plane\nEDGE2 0 1 1 0 0  1 2 3 4 5 6\nSOLVE\nLANDMARK 1 0 2 0  3 1 2\n";
        let Graph::Plane(graph) = read_from(text.as_bytes(), "x.txt")? else { panic!("in space") };
        assert_eq!((graph.pose_names, graph.landmark_names), (vec![0, 1], vec![0]));
        assert_relative_eq!(graph.landmarks[0], Vector2::new(3.0, 0.0));
        let information = graph.steps[0].information;
        assert_eq!([(0, 0), (0, 1), (1, 1), (2, 2)].map(|at| information[at]), [1.0, 2.0, 20.0, 70.0]);
        assert_eq!(graph.sightings[0].information[(1, 1)], 5.0);
        Ok(())
    }

    #[test]
    fn in_space_roots_may_be_left_out_and_poses_given() -> Result<()> {
        let quarter = std::f64::consts::FRAC_PI_2;
        let text = format!("POSE3D_INIT 4 0 0 1 0 0 {quarter}\nEDGE3 4 6 1 0 0 0 0 0\nPOINT3 6 6 1 0 0  1 0 0 2 0 3\n");
        let Graph::Space(graph) = read_from(text.as_bytes(), "x.txt")? else { panic!("in the plane") };
        assert_eq!((graph.pose_names, graph.landmark_names), (vec![4, 6], vec![6]));
        assert_relative_eq!(graph.poses[1].translation.vector, Vector3::new(0.0, 1.0, 1.0), epsilon = 1e-12);
        assert_relative_eq!(graph.landmarks[0], Vector3::new(0.0, 2.0, 1.0), epsilon = 1e-12);
        assert_eq!(graph.steps[0].information, nalgebra::Matrix6::identity());
        assert_eq!(graph.sightings[0].information.diagonal(), Vector3::new(1.0, 4.0, 9.0));
        Ok(())
    }

    #[test]
    fn refuses_with_the_line() {
        for (text, what) in [
            ("", "x.txt:1: the file has no measurements"),
            ("VERTEX2 0 0 0 0", "x.txt:1: VERTEX2 is TORO's, in a file that is iSAM's as requested"),
            ("ODOMETRIE 0 1", "x.txt:1: \"ODOMETRIE\" is not a keyword this reader knows; the nearest is ODOMETRY"),
            (
                "EDGE2 0 1 0 0 0 1 0 0 1 0 1\nEDGE3 0 1 0 0 0 0 0 0",
                "x.txt:2: \"EDGE3\" in a graph that is in the plane since line 1",
            ),
            (
                "EDGE2 0 1 0 0 0 1 0 0 1 0",
                "x.txt:1: the line ends where an element of an information matrix or its root is expected",
            ),
            (
                "\nEDGE3 0 1 0 0 0 0 0 0 1",
                "x.txt:2: the line ends where an element of an information matrix or its root is expected",
            ),
            ("EDGE2 0 1 0 0 0 1e200 0 0 1 0 1", "x.txt:1: these numbers lead to a value that is not finite"),
            ("LANDMARK 3 1 0 0 1 0 1", "x.txt:1: no edges lead to pose 3 from a pose whose place is known"),
        ] {
            assert_eq!(read_from(text.as_bytes(), "x.txt").expect_err(text).to_string(), what);
        }
    }
}
