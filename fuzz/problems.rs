//! Checks of the readers of problems.
use super::{bounded, check_refusal, gzip, is_packed, unpacked_bytes, written};
use blockmul::{
    Result,
    solver::problem::{self, Graph, Place, PoseGraph},
};
use std::{fmt::Debug, io::ErrorKind};

/// Checks bundle adjustments, plain or compressed.
pub fn bal(bytes: &[u8]) {
    use problem::bal::{read_from, write_to};
    let Some(problem) = checked(bytes, "input", |bytes| read_from(bytes, "input")) else { return };
    let copy = written(|to| write_to(to, &problem));
    assert_eq!(read_from(&copy[..], "copy").expect("our own file"), problem);
}

/// Checks graphs in g2o's format, plain or compressed.
pub fn g2o(bytes: &[u8]) {
    graph(bytes, |bytes| problem::g2o::read_from(bytes, "input"));
}

/// Checks graphs in the formats of iSAM and TORO, which have one reader, plain or compressed.
pub fn isam(bytes: &[u8]) {
    graph(bytes, |bytes| problem::isam::read_from(bytes, "input"));
    graph(bytes, |bytes| problem::toro::read_from(bytes, "input"));
}

/// Reads `bytes` as a file of this name, and checks that the result is the same if they are
/// compressed.
pub(super) fn checked<T: Debug>(bytes: &[u8], name: &str, read: impl Fn(&[u8]) -> Result<T>) -> Option<T> {
    let outcome = bounded(unpacked_bytes(bytes), || read(bytes));
    if !is_packed(bytes) {
        // The results are compared as text, because poses may be NaN, which is not equal to itself.
        let text = |outcome: &Result<T>| match outcome {
            Ok(problem) => format!("{problem:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(text(&outcome), text(&read(&gzip(bytes))));
    }
    outcome.inspect_err(|error| check_refusal(error, &format!("{name}:"))).ok()
}

/// Checks that a graph that is written and read has equally many members, and that another round
/// trip changes no bit.
fn graph(bytes: &[u8], read: impl Fn(&[u8]) -> Result<Graph>) {
    use problem::g2o::{read_from, write_to};
    let Some(graph) = checked(bytes, "input", read) else { return };
    let mut text = Vec::new();
    if let Err(error) = write_to(&mut text, &graph) {
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "no names are left for the landmarks: {error}");
        return;
    }
    let copy = read_from(&text[..], "copy").expect("our own file");
    assert_eq!(sizes(&copy), sizes(&graph));
    let again = written(|to| write_to(to, &copy));
    assert_eq!(read_from(&again[..], "copy").expect("our own file"), copy);
}

fn sizes(graph: &Graph) -> [usize; 6] {
    fn of<P: Place>(graph: &PoseGraph<P>) -> [usize; 6] {
        let PoseGraph { poses, landmarks, steps, sightings, fixed_poses, fixed_landmarks, .. } = graph;
        [poses.len(), landmarks.len(), steps.len(), sightings.len(), fixed_poses.len(), fixed_landmarks.len()]
    }
    match graph {
        Graph::Plane(graph) => of(graph),
        Graph::Space(graph) => of(graph),
        _ => panic!("a graph of a new kind"),
    }
}
