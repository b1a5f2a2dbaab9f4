//! Real bundle adjustments and pose graphs, from the folder that `BLOCKMUL_DATA` names. If this
//! variable is not set, these tests print a line and pass.
use crate::common::data;
use blockmul::{
    Error, Result,
    solver::problem::{BundleAdjustment, Graph, Place, PoseGraph, bal, g2o},
};
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

/// Files with their numbers of cameras, points and observations.
const ADJUSTMENTS: [(&str, usize, usize, usize); 4] = [
    ("dubrovnik-1-1-pre.txt", 1, 1, 1),
    ("dubrovnik-3-7-pre.txt", 3, 7, 19),
    ("problem-21-11315-pre.txt.gz", 21, 11315, 36455),
    ("problem-49-7776-pre.txt.gz", 49, 7776, 31843),
];

/// Files, whether the graph is in space, and the numbers of poses and edges.
const GRAPHS: [(&str, bool, usize, usize); 6] = [
    ("M3500.g2o.gz", false, 3500, 5453),
    ("city10000.g2o.gz", false, 10000, 20687),
    ("cubicle.g2o.gz", true, 5750, 16869),
    ("intel.g2o.gz", false, 1728, 2512),
    ("sphere2500.g2o.gz", true, 2500, 4949),
    ("tinyGrid3D.g2o.gz", true, 9, 11),
];

fn file(path: &str) -> Option<PathBuf> {
    let found = data(path);
    if found.is_none() {
        eprintln!("left out: {path} is not below BLOCKMUL_DATA");
    }
    found
}

/// Returns the numbers of poses, landmarks, steps and sightings.
fn sizes<P: Place>(graph: &PoseGraph<P>) -> [usize; 4] {
    assert_eq!((graph.pose_names.len(), graph.landmark_names.len()), (graph.poses.len(), graph.landmarks.len()));
    [graph.poses.len(), graph.landmarks.len(), graph.steps.len(), graph.sightings.len()]
}

fn text_of(path: &Path) -> String {
    let (bytes, mut text) = (fs::read(path).unwrap(), String::new());
    match path.extension().is_some_and(|extension| extension == "gz") {
        true => flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
        false => (&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    text
}

/// Checks that damaged copies of a file and copies without their end are refused, compressed or
/// not. The error names the line if the line is known.
fn broken_copies_are_refused<T>(path: &Path, read: impl Fn(&Path) -> Result<T>) {
    let folder = tempfile::tempdir().unwrap();
    let refused = |bytes: &[u8], line: Option<usize>| {
        let copy = folder.path().join(path.file_name().unwrap());
        fs::write(&copy, bytes).unwrap();
        let Err(error) = read(&copy) else { panic!("a broken copy of {} is read", path.display()) };
        assert!(matches!(error, Error::Parse { .. }), "{error}");
        let place = format!("{}:{}", copy.display(), line.map_or(String::new(), |line| format!("{line}: ")));
        assert!(error.to_string().starts_with(&place), "{error}, not on {place}");
    };
    let text = text_of(path);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    // In the first copy the last word of the file is missing. In a bundle adjustment that word is a
    // line of its own, and the error names the line before.
    let short = text.trim_end().rsplit_once([' ', '\n']).unwrap().0;
    refused(short.as_bytes(), Some(short.lines().count()));
    // In the second copy a word in the middle is not a number.
    let middle = lines.len() / 2;
    let damaged: String =
        lines.iter().enumerate().map(|(at, line)| format!("{line}{}\n", if at == middle { "x" } else { "" })).collect();
    refused(damaged.trim_end().as_bytes(), Some(middle + 1));
    let packed = fs::read(path).unwrap();
    if packed.starts_with(b"\x1f\x8b") {
        refused(&packed[..packed.len() * 2 / 3], None);
        let mut flipped = packed.clone();
        flipped[packed.len() / 2] ^= 16;
        refused(&flipped, None);
    }
}

#[test]
fn bundle_adjustments_are_read_and_come_back() -> Result<()> {
    for (name, cameras, points, observations) in ADJUSTMENTS {
        let Some(path) = file(&format!("bal/{name}")) else { continue };
        let problem: BundleAdjustment = bal::read(&path)?;
        let found = (problem.cameras.len(), problem.points.len(), problem.observations.len());
        assert_eq!(found, (cameras, points, observations), "{name}");
        let folder = tempfile::tempdir().unwrap();
        for copy in ["a.txt", "a.txt.gz", "a.txt.bz2"].map(|copy| folder.path().join(copy)) {
            bal::write(&copy, &problem)?;
            assert!(bal::read(&copy)? == problem, "{name}, {}", copy.display());
        }
        broken_copies_are_refused(&path, |path| bal::read(path));
    }
    Ok(())
}

#[test]
fn pose_graphs_are_read_and_come_back() -> Result<()> {
    for (name, in_space, poses, edges) in GRAPHS {
        let Some(path) = file(&format!("g2o/{name}")) else { continue };
        let graph = g2o::read(&path)?;
        let (found, of_space) = match &graph {
            Graph::Plane(graph) => (sizes(graph), false),
            Graph::Space(graph) => (sizes(graph), true),
            _ => panic!("a graph of a new kind"),
        };
        assert_eq!((found, of_space), ([poses, 0, edges, 0], in_space), "{name}");
        let mut text = Vec::new();
        g2o::write_to(&mut text, &graph).unwrap();
        assert!(g2o::read_from(&text[..], "copy")? == graph, "{name}");
        broken_copies_are_refused(&path, |path| g2o::read(path));
    }
    Ok(())
}

/// The file of this test is unusual: some vertices have no place and are read at the origin, and
/// some information matrices are not the inverse of a covariance.
#[test]
fn cubicle_is_read_as_it_is() -> Result<()> {
    let Some(path) = file("g2o/cubicle.g2o.gz") else { return Ok(()) };
    let Graph::Space(graph) = g2o::read(path)? else { panic!("in the plane") };
    let identity = nalgebra::Isometry3::identity();
    assert_eq!(graph.poses.iter().filter(|&&pose| pose == identity).count(), 79);
    let least = graph.steps.iter().map(|step| step.information.symmetric_eigenvalues().min());
    assert_eq!(least.filter(|&least| least < 0.0).count(), 5021);
    Ok(())
}
