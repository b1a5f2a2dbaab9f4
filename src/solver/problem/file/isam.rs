//! Graphs of poses and landmarks in the text form of iSAM (M. Kaess, A. Ranganathan, F. Dellaert,
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
//! R is the upper triangle, row by row, of the square root of an information matrix RᵀR. If it is
//! left out, R is the identity. A rotation is by roll about x, then pitch about y, then yaw about
//! z. Landmarks have numbers of their own, apart from those of poses. Landmarks, and poses without
//! `POSE3D_INIT`, are placed by the measurements, the first pose at the origin. Lines for iSAM's
//! evaluation alone (`SOLVE`, `POSE3D_TRUE`, `EDGE3_INIT`, `EDGE3_TRUE`) and lines that begin with
//! `#` are skipped.
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
    builder::{Builder, finite, planar},
    numbers::Numbers,
};
use crate::{
    Result,
    io::words::quote,
    solver::problem::{Graph, Plane, Space},
};
use nalgebra::{Isometry3, SMatrix, Translation3, UnitQuaternion, Vector2, Vector3};
use std::{io::Read, path::Path};

const PLANE: [&[u8]; 3] = [b"ODOMETRY", b"EDGE2", b"LANDMARK"];
const SPACE: [&[u8]; 3] = [b"EDGE3", b"POINT3", b"POSE3D_INIT"];
const PASSED: [&[u8]; 4] = [b"SOLVE", b"POSE3D_TRUE", b"EDGE3_INIT", b"EDGE3_TRUE"];

/// Whether a file that begins with this word is one of iSAM's.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    PLANE.iter().chain(&SPACE).chain(&PASSED).any(|&keyword| keyword == word)
}

/// Reads the file at `path`.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the system refuses the file;
/// [`Error::Parse`](crate::Error::Parse) with the line for anything that the format does not allow
/// or this reader does not know; [`Error::Memory`](crate::Error::Memory).
pub fn read(path: impl AsRef<Path>) -> Result<Graph> {
    parse(Numbers::open(path.as_ref())?)
}

/// Reads a file's bytes from any reader, to the end. Messages show `name` as [`read`] shows the
/// path.
///
/// # Errors
/// As [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>) -> Result<Graph> {
    parse(Numbers::new(reader, name.as_ref())?)
}

pub(super) fn parse(mut text: Numbers<'_>) -> Result<Graph> {
    let (mut plane, mut space) = (Builder::<Plane>::new(true), Builder::<Space>::new(true));
    // Whether the graph is in space, and the first line that shows it.
    let mut kind = None;
    while text.next_line()? {
        let tag = text.word("a keyword")?.to_owned();
        let in_space = match &tag[..] {
            plane if PLANE.contains(&plane) => false,
            space if SPACE.contains(&space) => true,
            passed if PASSED.contains(&passed) || passed.starts_with(b"#") => continue,
            _ => return text.refuse(format!("{} is not a keyword this reader knows", quote(&tag))),
        };
        let (first, line) = *kind.get_or_insert((in_space, text.line()));
        if first != in_space {
            let of = if first { "space" } else { "the plane" };
            return text.refuse(format!("{} in a graph that is in {of} since line {line}", quote(&tag)));
        }
        match &tag[..] {
            b"LANDMARK" => {
                let (ends, [x, y]) = (ends(&mut text)?, text.reals("a landmark")?);
                let information = squared::<2>(&mut text, false)?;
                plane.sighting(&text, ends, Vector2::new(x, y), information)?;
            }
            b"EDGE3" => {
                let (ends, measured) = (ends(&mut text)?, spatial(&mut text)?);
                let information = squared::<6>(&mut text, true)?;
                space.step(&text, ends, measured, information)?;
            }
            b"POINT3" => {
                let (ends, [x, y, z]) = (ends(&mut text)?, text.reals("a landmark")?);
                let information = squared::<3>(&mut text, true)?;
                space.sighting(&text, ends, Vector3::new(x, y, z), information)?;
            }
            b"POSE3D_INIT" => {
                let (name, pose) = (text.count("a pose")?, spatial(&mut text)?);
                space.pose(&text, name, pose)?;
            }
            _ => {
                let (ends, measured) = (ends(&mut text)?, planar(text.reals("a pose")?));
                let information = squared::<3>(&mut text, false)?;
                plane.step(&text, ends, measured, information)?;
            }
        }
        text.end_of_line()?;
    }
    match kind {
        Some((false, _)) => Ok(Graph::Plane(plane.finish(&text, true)?)),
        Some((true, _)) => Ok(Graph::Space(space.finish(&text, true)?)),
        None => text.refuse("the file has no measurements"),
    }
}

fn ends(text: &mut Numbers<'_>) -> Result<(u64, u64)> {
    Ok((text.count("the first end of a measurement")?, text.count("the second end of a measurement")?))
}

/// Reads a pose x, y, z, roll, pitch and yaw.
fn spatial(text: &mut Numbers<'_>) -> Result<Isometry3<f64>> {
    let [x, y, z, roll, pitch, yaw] = text.reals("a pose")?;
    let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
    Ok(Isometry3::from_parts(Translation3::new(x, y, z), rotation))
}

/// Reads R and returns RᵀR: the identity if R is `optional` and left out.
fn squared<const N: usize>(text: &mut Numbers<'_>, optional: bool) -> Result<SMatrix<f64, N, N>> {
    if optional && !text.more() {
        return Ok(SMatrix::identity());
    }
    let mut root = SMatrix::<f64, N, N>::zeros();
    for row in 0..N {
        for col in row..N {
            root[(row, col)] = text.real("an element of the root of an information matrix")?;
        }
    }
    finite(text, root.transpose() * root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

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
            ("VERTEX2 0 0 0 0", "x.txt:1: \"VERTEX2\" is not a keyword this reader knows"),
            (
                "EDGE2 0 1 0 0 0 1 0 0 1 0 1\nEDGE3 0 1 0 0 0 0 0 0",
                "x.txt:2: \"EDGE3\" in a graph that is in the plane since line 1",
            ),
            (
                "EDGE2 0 1 0 0 0 1 0 0 1 0",
                "x.txt:1: the line ends where an element of the root of an information matrix should stand",
            ),
            (
                "\nEDGE3 0 1 0 0 0 0 0 0 1",
                "x.txt:2: the line ends where an element of the root of an information matrix should stand",
            ),
            ("EDGE2 0 1 0 0 0 1e200 0 0 1 0 1", "x.txt:1: these numbers lead to a value that is not finite"),
            ("LANDMARK 3 1 0 0 1 0 1", "x.txt:1: no edges lead to pose 3 from one whose place is known"),
        ] {
            assert_eq!(read_from(text.as_bytes(), "x.txt").expect_err(text).to_string(), what);
        }
    }
}
