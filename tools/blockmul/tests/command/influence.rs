//! Unknowns without influence in `solve`. Unknowns without influence are named in the summary, in
//! the JSON and in messages.
use super::*;
use serde_json::json;

/// The graph has poses on a line, each measured from the previous one. The weights of angles are
/// zero.
const CHAIN: &str = "\
VERTEX_SE2 10 0 0 0
VERTEX_SE2 11 1.2 0.1 0.1
VERTEX_SE2 12 1.9 -0.1 0.2
FIX 10
EDGE_SE2 10 11 1 0 0 2 0 0 2 0 0
EDGE_SE2 11 12 1 0 0 2 0 0 2 0 0
";

fn solve(line: &str) -> String {
    format!("solve {line} --device {}", common::device().info().index)
}

#[test]
fn the_summary_and_the_json_name_them() {
    let desk = Desk::with([("chain.g2o", CHAIN)]);
    let told = desk.ok(&solve("chain.g2o -o s.g2o"));
    assert!(told.stdout.ends_with("\nwithout influence: angle of pose 12\n"), "{}", told.stdout);
    let json: Value = serde_json::from_str(&desk.ok(&solve("chain.g2o --json -")).stdout).unwrap();
    let first = json!([{"unknown": "pose 12", "coordinate": "angle"}]);
    assert_eq!(json["without_influence"], json!({"count": 1, "first": first}));
    desk.put("weighed.g2o", &CHAIN.replace("2 0 0\n", "2 0 9\n"));
    let told = desk.ok(&solve("weighed.g2o -o s.g2o")).stdout;
    assert!(told.contains("converged") && !told.contains("without influence"), "{told}");
}

#[test]
fn without_damping_they_are_named_with_what_to_do() {
    let desk = Desk::with([("chain.g2o", CHAIN)]);
    let words = "no residual depends on angle of pose 12; try --method levenberg-marquardt";
    let ran = desk.run(&solve("chain.g2o --method gauss-newton -o s.g2o"));
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    assert_eq!(desk.files(), ["chain.g2o"]);
}

/// A camera with a point on its axis, and a camera without a focal length that sees another point.
#[test]
fn cameras_and_points_are_named_by_their_numbers() {
    let desk = Desk::new();
    let numbers = "0 0 0  0 0 0  500 0 0\n0 0 0  1 0 0  0 0 0\n  0 0 -2\n  1 2 -5\n  -1 0 -4\n";
    desk.put("axis.txt", &format!("2 3 3\n0 0 0.5 0.25\n1 1 0 0\n0 2 124 1\n{numbers}"));
    for linear in ["cholesky", "conjugate-gradients"] {
        let told = desk.ok(&solve(&format!("axis.txt --linear {linear} --iterations 50")));
        let words = "without influence: rotation x, y, z, translation x, y, z, k1, k2 of camera 1; x, y, z of point 1";
        assert!(told.stdout.contains(words), "{}", told.stdout);
    }
}
