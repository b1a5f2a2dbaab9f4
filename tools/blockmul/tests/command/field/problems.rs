//! Problems in which one measurement hides or spoils all others, problems in large units, and
//! problems far from the origin.
use super::{super::*, case};
use blockmul::solver::problem::{Graph, bal, g2o};

fn solved(desk: &Desk, line: &str) -> Ran {
    desk.run(&format!("solve {line} --device {}", common::device().info().index))
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{} {}", ran.stdout, ran.stderr))
}

#[test]
fn an_edge_between_held_poses_hides_no_other() {
    let Some(path) = case("graph-edge-between-held-poses.g2o") else { return };
    let desk = Desk::new();
    for start in ["", "--start file"] {
        let ran = solved(&desk, &format!("{path} {start} --json - -o s.g2o"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert_eq!(json(&ran)["dominant"]["measurement"], "the edge from 900 to 901");
        let Graph::Plane(graph) = g2o::read(desk.path("s.g2o")).unwrap() else { panic!("in the plane") };
        for (pose, x) in [(1, 1.033333), (2, 2.066667)] {
            let found = graph.poses[pose];
            let off = [found.translation.x - x, found.translation.y, found.rotation.angle()];
            assert!(off.iter().all(|off| off.abs() < 1e-5), "{start}: {found}");
        }
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let (rest, _) = text.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(desk.path("without.g2o"), format!("{rest}\n")).unwrap();
    let chi2 = json(&solved(&desk, "without.g2o --json -"))["chi2"].as_f64().unwrap();
    assert!((chi2 - 0.333333).abs() < 1e-6, "{chi2}");
}

#[test]
fn a_point_in_the_image_plane_is_not_taken_for_a_minimum() {
    let Some(path) = case("ba-point-within-rounding-of-image-plane.txt") else { return };
    let ran = solved(&Desk::new(), &format!("{path} --json -"));
    let json = json(&ran);
    assert!(json["stop"] != "converged" || json["cost"].as_f64().unwrap() < 1e3, "{json}");
}

#[test]
fn a_point_in_the_centre_of_a_camera_is_named() {
    let Some(path) = case("ba-point-at-camera-centre.txt") else { return };
    let desk = Desk::new();
    for line in ["hessian --write H=H.npz", "schur -o S.npz", "solve -o solved.txt"] {
        let ran = desk.run(&format!("{line} {path} --device {}", common::device().info().index));
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("camera 0 sees point 3 (from 0; observation 4): "), "{}", ran.stderr);
        assert_eq!(desk.files(), [""; 0]);
    }
}

#[test]
fn information_of_any_size_is_solved() {
    let Some(path) = case("graph-information-1e160.g2o") else { return };
    let desk = Desk::new();
    let text = std::fs::read_to_string(&path).unwrap();
    for (scale, from) in [("1e160", path.as_str()), ("1", "one.g2o"), ("1e-160", "small.g2o")] {
        std::fs::write(desk.path(from), text.replace("1e160", scale)).unwrap_or_default();
        let ran = solved(&desk, &format!("{from} --json - -o s.g2o"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let chi2 = json(&ran)["chi2"].as_f64().unwrap() / scale.parse::<f64>().unwrap();
        assert!((chi2 / 1.06173e-3 - 1.0).abs() < 1e-5, "{scale}: {chi2}");
    }
}

#[test]
fn a_scene_far_from_the_origin_is_solved() {
    let Some(path) = case("ba-utm-coordinates.txt") else { return };
    let desk = Desk::new();
    let ran = solved(&desk, &format!("{path} --json - -o s.txt"));
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let cost = json(&ran)["cost"].as_f64().unwrap();
    assert!((cost - 1.030611).abs() < 1e-6, "{cost}");
    assert!((bal::read(desk.path("s.txt")).unwrap().points[0][1] - 5.4e6).abs() < 10.0);
}
