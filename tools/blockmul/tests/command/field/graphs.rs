//! Graphs and bundle adjustments with parts that no fixed member holds, with keywords that two
//! formats share, or with members that have no measurements.
use super::{super::*, case};

fn on_device(line: &str) -> String {
    format!("{line} --device {}", common::device().info().index)
}

/// Returns the JSON and the messages of a solution, whose status must be 0.
fn solved(path: &str) -> (Value, String) {
    let desk = Desk::new();
    let said = desk.ok(&on_device(&format!("solve {path} --json solved.json"))).stderr;
    (serde_json::from_slice(&std::fs::read(desk.path("solved.json")).unwrap()).unwrap(), said)
}

#[test]
fn one_fixed_landmark_is_met() {
    let Some(path) = case("graph-one-fixed-landmark.g2o") else { return };
    let (json, said) = solved(&path);
    assert!(json["stop"] == "converged" && json["chi2"].as_f64() < Some(1e-9), "{json}\n{said}");
    let newton = Desk::new();
    newton.fails(&on_device(&format!("solve {path} --method gauss-newton")), 2, &["landmark 10 alone is fixed"]);
}

#[test]
fn edges_of_toro_are_read_as_such() {
    let Some(path) = case("toro-edges-only.graph") else { return };
    let (json, said) = solved(&path);
    assert!((json["chi2"].as_f64().unwrap() - 0.053896).abs() < 1e-6, "{json}");
    assert!(json["format"] == "TORO" && said.contains("read as a graph of TORO"), "{said}");
}

#[test]
fn a_point_that_a_camera_sees_twice_has_two_residuals() {
    let Some(path) = case("ba-camera-sees-point-twice.txt") else { return };
    let (json, said) = solved(&path);
    assert_eq!(json["stop"], "converged", "{said}");
    // SciPy's least_squares gives this cost for all residuals.
    assert!((json["cost"].as_f64().unwrap() - TWICE).abs() < 1e-5 * TWICE, "{json}");
    let desk = Desk::new();
    for command in ["hessian", "schur", "bench --rounds 1 --iterations"] {
        desk.ok(&on_device(&format!("{command} {path}")));
    }
}

const TWICE: f64 = 1.557394;

#[test]
fn a_camera_without_observations_is_named() {
    let Some(path) = case("ba-camera-without-observations.txt") else { return };
    let desk = Desk::new();
    let said = desk.ok(&on_device(&format!("hessian {path} --write U=U.npz"))).stderr;
    assert!(said.contains("U has no block for camera 2 (of 4): it has no observations\n"), "{said}");
    let said = desk.ok(&on_device(&format!("schur {path} -o S.npz"))).stderr;
    assert!(said.contains("S has no block for camera 2 (of 4): it has no observations\n"), "{said}");
    let (json, _) = solved(&path);
    assert_eq!((&json["left_out"][0]["kind"], &json["left_out"][0]["first"][0]), (&"camera".into(), &2.into()));
}
