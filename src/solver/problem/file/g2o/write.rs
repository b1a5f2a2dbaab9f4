//! Writes a graph to a g2o file: the vertices, then the fixed vertices, then the edges. Numbers are
//! written with the fewest digits that give the same bits when read.
use crate::{
    Result,
    element::AnySlice,
    io::{matrix_market::append_value, write_whole},
    solver::problem::{Graph, Plane, PoseGraph, Space, World},
};
use nalgebra::{AbstractRotation, Isometry, SMatrix};
use std::{
    fmt::Debug,
    io::{self, ErrorKind, Write},
    path::Path,
};

/// Writes `graph` so that [`read`](super::read) returns the same graph. If writing fails, no file
/// appears.
///
/// A graph from a g2o file has the same bits when it is written and read again, with these
/// exceptions. Angles outside -π to π, and rotations that are products of many rotations, may
/// change in their last digits when they are written for the first time. Zeros may lose their sign.
/// If a landmark has the name of a pose, as in iSAM's files, all landmarks get new names, above the
/// names of all poses. An empty graph becomes an empty file, which [`read`](super::read) refuses.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the system refuses the file, or if the graph is inconsistent:
/// a vertex has no name, or an edge names a vertex that does not exist.
pub fn write(path: impl AsRef<Path>, graph: &Graph) -> Result<()> {
    write_whole(path.as_ref(), |file| write_to(file, graph))
}

/// Writes `graph` to any writer, line by line.
///
/// # Errors
/// Errors of the writer; [`ErrorKind::InvalidInput`] for an inconsistent graph.
pub fn write_to(mut writer: impl Write, graph: &Graph) -> io::Result<()> {
    write_graph(&mut writer, graph)
}

fn write_graph(writer: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    match graph {
        Graph::Plane(graph) => {
            let keywords = Keywords {
                pose: "VERTEX_SE2",
                landmark: "VERTEX_XY",
                step: "EDGE_SE2",
                sighting: "EDGE_SE2_XY",
                offset: "",
            };
            keywords.write(writer, graph, Plane::coordinates)
        }
        Graph::Space(graph) => {
            if !graph.sightings.is_empty() {
                writeln!(writer, "PARAMS_SE3OFFSET 0 0 0 0 0 0 0 1")?;
            }
            let keywords = Keywords {
                pose: "VERTEX_SE3:QUAT",
                landmark: "VERTEX_TRACKXYZ",
                step: "EDGE_SE3:QUAT",
                sighting: "EDGE_SE3_TRACKXYZ",
                offset: " 0",
            };
            keywords.write(writer, graph, Space::coordinates)
        }
    }
}

/// The keywords of the lines of a graph, and the text before the numbers of a sighting.
struct Keywords {
    pose: &'static str,
    landmark: &'static str,
    step: &'static str,
    sighting: &'static str,
    offset: &'static str,
}

impl Keywords {
    fn write<R, const D: usize, const N: usize, const K: usize>(
        &self,
        writer: &mut dyn Write,
        graph: &PoseGraph<World<R, D, N>>,
        numbers: impl Fn(&Isometry<f64, R, D>) -> [f64; K],
    ) -> io::Result<()>
    where
        R: AbstractRotation<f64, D> + Copy + Debug + Send + Sync + 'static,
    {
        let poses = Names { what: "pose", names: graph.pose_names.clone(), vertices: graph.poses.len() };
        let landmarks = Names { what: "landmark", names: landmark_names(graph)?, vertices: graph.landmarks.len() };
        poses.check()?;
        landmarks.check()?;
        for (name, pose) in poses.names.iter().zip(&graph.poses) {
            line(writer, format_args!("{} {name}", self.pose), numbers(pose))?;
        }
        for (name, landmark) in landmarks.names.iter().zip(&graph.landmarks) {
            line(writer, format_args!("{} {name}", self.landmark), landmark.iter().copied())?;
        }
        for &pose in &graph.fixed_poses {
            writeln!(writer, "FIX {}", poses.of(pose)?)?;
        }
        for &landmark in &graph.fixed_landmarks {
            writeln!(writer, "FIX {}", landmarks.of(landmark)?)?;
        }
        for step in &graph.steps {
            let start = format_args!("{} {} {}", self.step, poses.of(step.from)?, poses.of(step.to)?);
            line(writer, start, numbers(&step.measured).into_iter().chain(upper(&step.information)))?;
        }
        for seen in &graph.sightings {
            let (pose, landmark) = (poses.of(seen.pose)?, landmarks.of(seen.landmark)?);
            let start = format_args!("{} {pose} {landmark}{}", self.sighting, self.offset);
            line(writer, start, seen.measured.iter().copied().chain(upper(&seen.information)))?;
        }
        Ok(())
    }
}

/// The names of the poses or landmarks of a graph.
struct Names {
    what: &'static str,
    names: Vec<u64>,
    vertices: usize,
}

impl Names {
    fn check(&self) -> io::Result<()> {
        let Self { what, names, vertices } = self;
        match names.len() == *vertices {
            true => Ok(()),
            false => Err(invalid(format!("{vertices} {what}s have {} names", names.len()))),
        }
    }

    fn of(&self, number: u32) -> io::Result<u64> {
        let Self { what, names, .. } = self;
        let name = names.get(number as usize).copied();
        name.ok_or_else(|| invalid(format!("{what} {number} of {}, which are counted from 0", names.len())))
    }
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, reason)
}

/// The names of the landmarks. If a landmark has the name of a pose, all landmarks get numbers
/// above the names of the poses.
fn landmark_names<R, const D: usize, const N: usize>(graph: &PoseGraph<World<R, D, N>>) -> io::Result<Vec<u64>>
where
    R: AbstractRotation<f64, D> + Copy + Debug + Send + Sync + 'static,
{
    let mut poses = graph.pose_names.clone();
    poses.sort_unstable();
    if !graph.landmark_names.iter().any(|name| poses.binary_search(name).is_ok()) {
        return Ok(graph.landmark_names.clone());
    }
    let largest = poses.last().copied().unwrap_or(0);
    let name = |number: usize| largest.checked_add(number as u64 + 1);
    let names: Option<_> = (0..graph.landmark_names.len()).map(name).collect();
    names.ok_or_else(|| invalid(format!("above pose {largest} there are no names for the landmarks")))
}

fn line(
    writer: &mut dyn Write,
    start: std::fmt::Arguments<'_>,
    numbers: impl IntoIterator<Item = f64>,
) -> io::Result<()> {
    let mut text = Vec::new();
    write!(text, "{start}")?;
    for number in numbers {
        text.push(b' ');
        append_value(&mut text, AnySlice::F64(&[number]), 0)?;
    }
    text.push(b'\n');
    writer.write_all(&text)
}

/// The upper triangle of a matrix, row by row.
fn upper<const N: usize>(matrix: &SMatrix<f64, N, N>) -> impl Iterator<Item = f64> {
    (0..N).flat_map(move |row| (row..N).map(move |col| matrix[(row, col)]))
}

#[cfg(test)]
mod tests;
