//! Graphs of poses and landmarks in the text format of g2o (R. Kümmerle, G. Grisetti, H. Strasdat,
//! K. Konolige, W. Burgard, *g2o: A General Framework for Graph Optimization*, 2011), plain or
//! packed.
//!
//! ```text
//! VERTEX_SE2 name x y angle
//! VERTEX_XY name x y
//! VERTEX_SE3:QUAT name x y z qx qy qz qw
//! VERTEX_TRACKXYZ name x y z
//! EDGE_SE2 from to x y angle  I11 I12 I13 I22 I23 I33
//! EDGE_SE2_XY pose landmark x y  I11 I12 I22
//! EDGE_SE3:QUAT from to x y z qx qy qz qw  I11 ... I66
//! EDGE_SE3_TRACKXYZ pose landmark offset x y z  I11 ... I33
//! FIX name ...
//! PARAMS_SE3OFFSET offset x y z qx qy qz qw
//! PARAMS_SE2OFFSET offset 0 0 0
//! ```
//!
//! Quaternions may have any length except 0. Information matrices are symmetric, and a file has the
//! upper triangle of each, row by row. The reader also accepts matrices that are not positive
//! definite, because some files contain such matrices. A graph is in the plane or in space.
//! Vertices may come after the edges that name them. If a file has no vertices at all, the first
//! pose is at the origin, and the measurements determine all other places. Measurements of a sensor
//! mounted at an offset are converted to the frame of the pose. If there are several measurements
//! between the same vertices, all of them count. Lines that begin with `#` are comments. Data such
//! as `ROBOTLASER1` is skipped, and every other keyword is refused.
//!
//! ```
//! use blockmul::solver::problem::{Graph, g2o};
//! let text = "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0.1\nFIX 0\nEDGE_SE2 0 1 1 0 0  4 0 0 4 0 9\n";
//! let Graph::Plane(graph) = g2o::read_from(text.as_bytes(), "two.g2o")? else { unreachable!() };
//! assert_eq!((graph.poses.len(), graph.fixed_poses), (2, vec![0]));
//! assert_eq!(graph.steps[0].information[(2, 2)], 9.0);
//! # Ok::<(), blockmul::Error>(())
//! ```
use super::{
    builder::{Builder, finite, planar, show_space, spatial, upper},
    edges, keywords,
    numbers::Numbers,
};
use crate::{
    Result,
    io::words::quote,
    solver::problem::{Graph, Plane, Space},
};
use nalgebra::{Isometry3, Vector2, Vector3};
use std::{
    collections::{BTreeMap, HashMap},
    io::Read,
    path::Path,
};

mod write;

pub use write::{write, write_to};

/// Reads the file at `path`.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the system refuses the file;
/// [`Error::Parse`](crate::Error::Parse) with the line for anything that the format does not allow
/// or this reader does not know; [`Error::Memory`](crate::Error::Memory).
pub fn read(path: impl AsRef<Path>) -> Result<Graph> {
    Ok(parse(Numbers::open(path.as_ref())?)?.0)
}

/// Reads a graph from any reader, to the end. Error messages use `name` as the path.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>) -> Result<Graph> {
    Ok(parse(Numbers::new(reader, name.as_ref())?)?.0)
}

struct Reader {
    plane: Builder<Plane>,
    space: Builder<Space>,
    /// Whether the graph is in space, and the first line that shows this.
    in_space: Option<(bool, u64)>,
    offsets: HashMap<u64, Isometry3<f64>>,
    vertices: usize,
    /// Number of skipped lines of data for each keyword.
    skipped: BTreeMap<Vec<u8>, u64>,
}

/// Reads a graph. The notes name the keywords of lines that were skipped.
pub(super) fn parse(mut text: Numbers<'_>) -> Result<(Graph, Vec<String>)> {
    let (plane, space) = (Builder::new(false), Builder::new(false));
    let (offsets, skipped) = (HashMap::new(), BTreeMap::new());
    let mut reader = Reader { plane, space, in_space: None, offsets, vertices: 0, skipped };
    while text.next_line()? {
        reader.line(&mut text)?;
    }
    let placing = reader.vertices == 0;
    let note = |(keyword, lines): (&Vec<u8>, &u64)| {
        format!("lines of {} are skipped, data without influence on the solution: {lines}", quote(keyword))
    };
    let notes = reader.skipped.iter().map(note).collect();
    let graph = match reader.in_space {
        Some((false, _)) => Graph::Plane(reader.plane.finish(&text, placing)?),
        Some((true, _)) => Graph::Space(reader.space.finish(&text, placing)?),
        None => return text.refuse("the file has neither vertices nor edges"),
    };
    Ok((graph, notes))
}

impl Reader {
    fn line(&mut self, text: &mut Numbers<'_>) -> Result<()> {
        let tag = text.word("a keyword")?.to_owned();
        if tag.starts_with(b"#") {
            return Ok(());
        }
        if keywords::is_data(&tag) {
            *self.skipped.entry(tag).or_default() += 1;
            return Ok(());
        }
        match &tag[..] {
            b"VERTEX_SE2" | b"VERTEX_XY" | b"EDGE_SE2" | b"EDGE_SE2_XY" => {
                show_space(&mut self.in_space, text, &tag, false)?
            }
            b"VERTEX_SE3:QUAT" | b"VERTEX_TRACKXYZ" | b"EDGE_SE3:QUAT" | b"EDGE_SE3_TRACKXYZ" => {
                show_space(&mut self.in_space, text, &tag, true)?;
            }
            _ => {}
        }
        self.vertices += usize::from(tag.starts_with(b"VERTEX"));
        match &tag[..] {
            b"VERTEX_SE2" => {
                let (name, pose) = (text.count("a vertex")?, planar(text.reals("a pose")?));
                self.plane.pose(text, name, pose)?;
            }
            b"VERTEX_XY" => {
                let (name, [x, y]) = (text.count("a vertex")?, text.reals("a landmark")?);
                self.plane.landmark(text, name, Vector2::new(x, y))?;
            }
            b"VERTEX_SE3:QUAT" => {
                let (name, pose) = (text.count("a vertex")?, spatial(text)?);
                self.space.pose(text, name, pose)?;
            }
            b"VERTEX_TRACKXYZ" => {
                let (name, [x, y, z]) = (text.count("a vertex")?, text.reals("a landmark")?);
                self.space.landmark(text, name, Vector3::new(x, y, z))?;
            }
            b"EDGE_SE2" => {
                let (ends, measured) = (ends(text)?, planar(text.reals("a pose")?));
                let information = upper::<3>(text)?;
                self.plane.step(text, ends, measured, information)?;
            }
            b"EDGE_SE2_XY" => {
                let (ends, [x, y]) = (ends(text)?, text.reals("a landmark")?);
                let information = upper::<2>(text)?;
                self.plane.sighting(text, ends, Vector2::new(x, y), information)?;
            }
            b"EDGE_SE3:QUAT" => {
                let (ends, measured) = (ends(text)?, spatial(text)?);
                let information = upper::<6>(text)?;
                self.space.step(text, ends, measured, information)?;
            }
            b"EDGE_SE3_TRACKXYZ" => {
                let (ends, offset) = (ends(text)?, text.count("an offset")?);
                let Some(sensor) = self.offsets.get(&offset) else {
                    return text.refuse(format!("no PARAMS_SE3OFFSET {offset} stands before this edge"));
                };
                let [x, y, z] = text.reals("a landmark")?;
                let information = upper::<3>(text)?;
                let turn = sensor.rotation.to_rotation_matrix();
                let measured = finite(text, turn * Vector3::new(x, y, z) + sensor.translation.vector)?;
                // The two triangles of the product differ by rounding, so one of them is copied to
                // the other.
                let turned = turn * information * turn.transpose();
                let information = finite(text, (turned + turned.transpose()) * 0.5)?;
                self.space.sighting(text, ends, measured, information)?;
            }
            b"PARAMS_SE3OFFSET" => {
                let (name, offset) = (text.count("an offset")?, spatial(text)?);
                if self.offsets.insert(name, offset).is_some() {
                    return text.refuse(format!("a second offset {name}"));
                }
            }
            b"PARAMS_SE2OFFSET" => {
                let (name, offset) = (text.count("an offset")?, text.reals("a pose")?);
                if offset != [0.0; 3] {
                    return text.refuse(format!(
                        "offset {name} is not zero: sensors with a pose of their own are not supported in the plane"
                    ));
                }
            }
            b"FIX" => loop {
                let name = text.count("a vertex")?;
                self.plane.fix(text, name)?;
                self.space.fix(text, name)?;
                if !text.more() {
                    break;
                }
            },
            _ if edges::is_keyword(&tag) => {
                return text.refuse(format!("{} is a keyword of iSAM or TORO, in a file of g2o", quote(&tag)));
            }
            _ => return text.refuse(keywords::refusal(&tag)),
        }
        text.end_of_line()
    }
}

fn ends(text: &mut Numbers<'_>) -> Result<(u64, u64)> {
    Ok((text.count("the first vertex of an edge")?, text.count("the second vertex of an edge")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    fn plane(text: &str) -> Result<crate::solver::problem::PoseGraph<Plane>> {
        match read_from(text.as_bytes(), "x.g2o")? {
            Graph::Plane(graph) => Ok(graph),
            Graph::Space(_) => panic!("in space"),
        }
    }

    fn space(text: &str) -> Result<crate::solver::problem::PoseGraph<Space>> {
        match read_from(text.as_bytes(), "x.g2o")? {
            Graph::Space(graph) => Ok(graph),
            Graph::Plane(_) => panic!("in the plane"),
        }
    }

    #[test]
    fn vertices_may_follow_their_edges_and_have_any_names() -> Result<()> {
        let graph = plane(
            "# a comment\nEDGE_SE2_XY 7 3 1 2  1 0.5 2\nVERTEX_XY 3 5 6\n\nEDGE_SE2 9 7 1 2 3  1 2 3 20 5 60\r\nVERTEX_SE2 9 0 0 0\n\
             VERTEX_SE2 7 1 2 3\nFIX 3 7\nFIX 7\n",
        )?;
        assert_eq!((graph.pose_names, graph.landmark_names), (vec![9, 7], vec![3]));
        assert_eq!((graph.fixed_poses, graph.fixed_landmarks), (vec![1], vec![0]));
        assert_eq!((graph.steps[0].from, graph.steps[0].to), (0, 1));
        assert_eq!((graph.sightings[0].pose, graph.sightings[0].landmark), (1, 0));
        assert_eq!(graph.steps[0].information[(2, 1)], 5.0);
        Ok(())
    }

    #[test]
    fn without_vertices_what_was_measured_places_them() -> Result<()> {
        let quarter = std::f64::consts::FRAC_PI_2;
        let graph = plane(&format!(
            "EDGE_SE2 1 0 0 0 {quarter}  1 0 0 1 0 1\nEDGE_SE2 1 2 3 4 0  1 0 0 1 0 1\nEDGE_SE2_XY 2 8 1 1  1 0 1\n"
        ))?;
        assert_eq!((graph.pose_names, graph.landmark_names), (vec![1, 0, 2], vec![8]));
        assert_relative_eq!(graph.poses[1].rotation.angle(), quarter);
        assert_relative_eq!(graph.landmarks[0], Vector2::new(4.0, 5.0));
        Ok(())
    }

    #[test]
    fn what_a_mounted_sensor_sees_is_turned_into_the_pose_s_frame() -> Result<()> {
        // The sensor is turned by 90 degrees about z, so its x axis is the y axis of the pose. The
        // length of the quaternion is not 1, which does not matter.
        let graph = space(
            "PARAMS_SE3OFFSET 0 0 0 5 0 0 2 2\nVERTEX_SE3:QUAT 0 0 0 0 0 0 0 1\nVERTEX_TRACKXYZ 1 0 0 0\n\
             EDGE_SE3_TRACKXYZ 0 1 0 2 0 1  4 0 0 9 0 16\n",
        )?;
        assert_relative_eq!(graph.sightings[0].measured, Vector3::new(0.0, 2.0, 6.0), epsilon = 1e-12);
        assert_relative_eq!(graph.sightings[0].information.diagonal(), Vector3::new(9.0, 4.0, 16.0), epsilon = 1e-12);
        Ok(())
    }

    #[test]
    fn quaternions_of_any_length_are_rotations() -> Result<()> {
        for length in [1e-320, 1e-160, 0.5, 1e200] {
            let graph = space(&format!("VERTEX_SE3:QUAT 0 0 0 0 0 0 {:e} {:e}\n", 3.0 * length, 4.0 * length))?;
            // If the length is 1e-320, the numbers are subnormal and have only four digits.
            assert_relative_eq!(graph.poses[0].rotation.coords.w, 0.8, epsilon = 1e-3);
            assert_relative_eq!(graph.poses[0].rotation.norm(), 1.0);
        }
        Ok(())
    }

    #[test]
    fn data_is_skipped_and_noted_and_an_offset_of_zero_is_none() -> Result<()> {
        let text = "ROBOTLASER1 0 -1.57 3.14 0.01 81.9\nVERTEX_SE2 0 0 0 0\nROBOTLASER1 x\nVERTEX_TAG 0 a name\nPARAMS_SE2OFFSET 0 0 -0 0\n\
                    EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nVERTEX_SE2 1 0 0 0\n";
        let (graph, notes) = parse(Numbers::new(text.as_bytes(), Path::new("x.g2o"))?)?;
        let Graph::Plane(graph) = graph else { panic!("in space") };
        assert_eq!((graph.poses.len(), graph.steps.len()), (2, 2));
        let note = |word: &str, lines: u64| {
            format!("lines of \"{word}\" are skipped, data without influence on the solution: {lines}")
        };
        assert_eq!(notes, [note("ROBOTLASER1", 2), note("VERTEX_TAG", 1)]);
        Ok(())
    }

    #[test]
    fn refuses_with_the_line() {
        let vertices = "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 0 0 0\nVERTEX_XY 2 0 0\n";
        for (line, what) in [
            ("VERTEX_SE2 0 0 0 0", "a second vertex 0"),
            ("VERTEX_SE2 3 0 0", "the line ends where a pose is expected"),
            ("VERTEX_SE2 3 0 0 0 0", "\"0\" is one word too many"),
            ("VERTEX_SE2 3 0 inf 0", "a pose: \"inf\" is not a finite number"),
            ("VERTEX_SE2 -3 0 0 0", "a vertex: \"-3\" is not a whole number from 0"),
            ("VERTEX_SE3:QUAT 3 0 0 0 0 0 0 1", "\"VERTEX_SE3:QUAT\" in a graph that is in the plane since line 1"),
            ("VERTEX_S2 3", "\"VERTEX_S2\" is not a keyword this reader knows; the nearest is VERTEX_SE2"),
            ("EDGE2 0 1", "\"EDGE2\" is a keyword of iSAM or TORO, in a file of g2o"),
            (
                "PARAMS_SE2OFFSET 3 0 0 0.1",
                "offset 3 is not zero: sensors with a pose of their own are not supported in the plane",
            ),
            ("EDGE_SE2 0 1 0 0 0 1 0 0 1 0", "the line ends where an element of an information matrix is expected"),
            ("EDGE_SE2 0 0 0 0 0 1 0 0 1 0 1", "an edge from vertex 0 to itself"),
            ("EDGE_SE2 0 2 0 0 0 1 0 0 1 0 1", "vertex 2 is a landmark, not a pose"),
            ("EDGE_SE2_XY 0 1 0 0 1 0 1", "vertex 1 is a pose, not a landmark"),
            ("EDGE_SE2 0 5 0 0 0 1 0 0 1 0 1", "there is no vertex 5 in the file"),
            ("FIX 8", "there is no vertex 8 in the file"),
            ("FIX", "the line ends where a vertex is expected"),
        ] {
            let error = plane(&format!("{vertices}{line}\n")).expect_err(line).to_string();
            assert_eq!(error, format!("x.g2o:4: {what}"));
        }
        for (text, what) in [
            ("\n", "x.g2o:1: the file has neither vertices nor edges"),
            ("VERTEX_SE3:QUAT 3 0 0 0 0 0 0 0", "x.g2o:1: a quaternion of length 0 is no rotation"),
            ("EDGE_SE3_TRACKXYZ 0 1 0 1 1 1 1 0 0 1 0 1", "x.g2o:1: no PARAMS_SE3OFFSET 0 stands before this edge"),
            (
                "EDGE_SE2 0 1 0 0 0 1 0 0 1 0 1\nEDGE_SE2 2 3 0 0 0 1 0 0 1 0 1",
                "x.g2o:2: no edges lead to pose 2 from a pose whose place is known",
            ),
        ] {
            assert_eq!(read_from(text.as_bytes(), "x.g2o").expect_err(text).to_string(), what);
        }
    }
}
