//! Tests that a written graph is read back unchanged.
use super::*;
use crate::{
    generate::Random,
    solver::problem::file::{
        g2o::{read, read_from},
        isam,
    },
};
use approx::assert_relative_eq;

fn written(graph: &Graph) -> String {
    let mut text = Vec::new();
    write_to(&mut text, graph).unwrap();
    String::from_utf8(text).unwrap()
}

fn graph(text: &str) -> Graph {
    read_from(text.as_bytes(), "x.g2o").unwrap()
}

const PLANE: &str = "VERTEX_SE2 9 0 -0.5 0\nVERTEX_SE2 7 1 2 3\nVERTEX_XY 3 5e-300 6\nFIX 7\nFIX 3\n\
                     EDGE_SE2 9 7 1 2 -3 1 2 3 20 5 60\nEDGE_SE2_XY 7 3 1 2 1 0.5 2\n";

const SPACE: &str = "PARAMS_SE3OFFSET 0 0 0 0 0 0 0 1\nVERTEX_SE3:QUAT 0 0.1 0 0 0 0 0 1\nVERTEX_SE3:QUAT 1 0 1e+30 0 0.6 0 0 0.8\n\
                     VERTEX_TRACKXYZ 2 1 2 3\nFIX 0\n\
                     EDGE_SE3:QUAT 0 1 1 2 3 0 1 0 0 1 0 0 0 0 0 2 0 0 0 0 3 0 0 0 4 0 0 5 0 6\n\
                     EDGE_SE3_TRACKXYZ 1 2 0 1 2 3 4 0 0 5 0 6\n";

#[test]
fn the_lines_are_those_of_the_format() {
    for text in [PLANE, SPACE] {
        assert_eq!(written(&graph(text)), text);
    }
}

#[test]
fn files_are_packed_as_their_names_say() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.g2o", "a.g2o.gz", "a.g2o.bz2"] {
        let path = folder.path().join(name);
        write(&path, &graph(SPACE)).unwrap();
        assert_eq!(read(&path).unwrap(), graph(SPACE), "{name}");
    }
}

/// The text of a graph with numbers of all magnitudes, angles from -π to π, and quaternions of any
/// length.
fn any_graph(random: &mut Random, space: bool) -> String {
    let mut text = String::new();
    let mut real = |scale: f64| (random.unit() * 2.0 - 1.0) * scale;
    for name in 0..50 {
        let place = [real(1e-3), real(1e3)];
        let turn = [real(std::f64::consts::PI), real(1.0), real(100.0), real(0.1)];
        match space {
            true => text += &format!("VERTEX_SE3:QUAT {name} 7 {place:?} {turn:?}\n"),
            false => text += &format!("VERTEX_SE2 {name} {place:?} {}\n", turn[0]),
        }
    }
    text.replace(['[', ']', ','], "")
}

#[test]
fn rotations_come_back_to_the_bit() {
    let random = &mut Random::new(3);
    for round in 0..400 {
        let first = graph(&any_graph(random, round % 2 == 0));
        let (text, again) = (written(&first), graph(&written(&first)));
        assert_eq!(again, first);
        assert_eq!(written(&again), text);
    }
}

#[test]
fn the_ends_of_the_turn_come_back() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    for end in [0.0, f64::MIN_POSITIVE, 1e-16, FRAC_PI_4, FRAC_PI_2, 3.0 * FRAC_PI_4, PI] {
        for turn in [end, end.next_down(), end.next_down().next_down(), -end, -end.next_down()] {
            let pose = Plane::pose([1.0, 2.0, turn]);
            assert_eq!(Plane::pose(Plane::coordinates(&pose)), pose, "{turn:e}");
        }
    }
    // If an angle is outside -π to π, there may be no `f64` inside with the same cosine and sine.
    let far = graph("VERTEX_SE2 0 0 0 100\n");
    let (Graph::Plane(far), Graph::Plane(again)) = (&far, graph(&written(&far))) else { panic!("in space") };
    assert_relative_eq!(far.poses[0], again.poses[0], epsilon = 1e-15);
}

#[test]
fn products_of_rotations_settle_at_once() {
    let steps = (0..300).map(|at| format!("EDGE3 {at} {} 1 0 0 0.3 {} -0.7\n", at + 1, at as f64 / 99.0));
    let first = isam::read_from(steps.collect::<String>().as_bytes(), "x.txt").unwrap();
    let second = graph(&written(&first));
    let (Graph::Space(before), Graph::Space(after)) = (&first, &second) else { panic!("in the plane") };
    for (before, after) in before.poses.iter().zip(&after.poses) {
        assert_relative_eq!(before, after, epsilon = 1e-13);
    }
    assert_eq!(graph(&written(&second)), second);
}

#[test]
fn landmarks_named_like_poses_get_names_of_their_own() {
    let text = "ODOMETRY 4 9 1 0 0  1 0 0 1 0 1\nLANDMARK 9 7 0 1  1 0 1\nLANDMARK 9 4 0 1  1 0 1\n";
    let apart = isam::read_from(text.as_bytes(), "x.txt").unwrap();
    let (Graph::Plane(apart), Graph::Plane(together)) = (&apart, graph(&written(&apart))) else { panic!("in space") };
    assert_eq!((&apart.landmark_names[..], &together.landmark_names[..]), (&[7, 4][..], &[10, 11][..]));
    assert_eq!((&together.landmarks, &together.sightings), (&apart.landmarks, &apart.sightings));

    let Graph::Plane(mut last) = graph("VERTEX_SE2 18446744073709551615 0 0 0\nVERTEX_XY 0 0 0\n") else { panic!() };
    last.landmark_names[0] = u64::MAX;
    let error = write_to(io::sink(), &Graph::Plane(last)).unwrap_err().to_string();
    assert_eq!(error, "above pose 18446744073709551615 there are no names for the landmarks");
}

#[test]
fn a_graph_that_does_not_fit_together_is_refused() {
    type Break = fn(&mut PoseGraph<crate::solver::problem::Plane>);
    let breaks: [(Break, &str); 4] = [
        (|graph| graph.pose_names.truncate(1), "2 poses have 1 names"),
        (|graph| graph.landmarks.clear(), "0 landmarks have 1 names"),
        (|graph| graph.steps[0].to = 2, "pose 2 of 2, which are counted from 0"),
        (|graph| graph.sightings[0].landmark = 1, "landmark 1 of 1, which are counted from 0"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.g2o");
    for (spoil, what) in breaks {
        let Graph::Plane(mut graph) = graph(PLANE) else { panic!("in space") };
        spoil(&mut graph);
        let error = write(&path, &Graph::Plane(graph)).unwrap_err().to_string();
        assert_eq!(error, format!("{}: {what}", path.display()));
        assert!(!path.exists());
    }
}
