//! Tests of `solve`, `hessian` and `schur` for problems in which one measurement hides or spoils
//! all others, problems in units of any size, and problems far from the origin.
use super::*;
use blockmul::solver::problem::{
    BundleAdjustment, BundleProblem, Graph, LeastSquares, Loss, Plane, PoseGraph, bal, g2o,
};

const LINE: &str = "\
VERTEX_SE2 0 0 0 0
VERTEX_SE2 1 0.8 0.3 0.2
VERTEX_SE2 2 2.2 -0.4 -0.1
VERTEX_SE2 7 5 5 0
VERTEX_SE2 8 -5 9 1
VERTEX_XY 20 3 3
FIX 0 7 8 20
EDGE_SE2 0 1 1 0 0 50 0 0 50 0 90
EDGE_SE2 1 2 1 0 0 50 0 0 50 0 90
EDGE_SE2 0 2 2.2 0.1 0 50 0 0 50 0 90
";

/// Solves a graph. Returns the JSON and the solved graph.
fn solve_graph(desk: &Desk, text: &str, options: &str) -> (Value, PoseGraph<Plane>) {
    std::fs::write(desk.path("g.g2o"), text).unwrap();
    let line = format!("solve g.g2o --json - -o s.g2o {options} --device {}", common::device().info().index);
    let json = serde_json::from_str(&desk.ok(&line).stdout).unwrap();
    match g2o::read(desk.path("s.g2o")).unwrap() {
        Graph::Plane(graph) => (json, graph),
        _ => unreachable!("in the plane"),
    }
}

#[test]
fn constant_measurements_hide_no_others() {
    let desk = Desk::new();
    let (json, want) = solve_graph(&desk, LINE, "");
    assert_eq!(json["dominant"], Value::Null);
    // The measurement is between two held poses, or between a held pose and a held landmark.
    for (constant, name) in [
        ("EDGE_SE2 7 8 0 0 0 1e25 0 0 1e25 0 1e25\n", "the edge from 7 to 8"),
        ("EDGE_SE2_XY 7 20 1 1 1e20 0 1e20\n", "the edge from 7 to landmark 20"),
    ] {
        for options in ["", "--start file", "--method gauss-newton", "--loss huber:1", "--loss cauchy:2"] {
            let (_, want_of_loss) = solve_graph(&desk, LINE, options);
            let want = if options.starts_with("--loss") { &want_of_loss } else { &want };
            let (json, found) = solve_graph(&desk, &format!("{LINE}{constant}"), options);
            assert_eq!(json["stop"], "converged");
            for (found, want) in found.poses.iter().zip(&want.poses) {
                let off = found.inv_mul(want);
                let most = off.translation.vector.amax().max(off.rotation.angle().abs());
                assert!(most < 1e-5, "{name} {options}: {found} {want}");
            }
            if !options.starts_with("--loss") {
                assert_eq!(json["dominant"]["measurement"], name);
                assert!(json["dominant"]["share"].as_f64().unwrap() > 0.99);
            }
        }
    }
    let told = desk.ok(&format!("solve g.g2o --device {}", common::device().info().index)).stdout;
    assert!(told.contains("\nthe edge from 7 to landmark 20: 100 % of the cost\n"), "{told}");
}

#[test]
fn measurements_that_are_too_large_are_named() {
    let desk = Desk::new();
    let device = common::device().info().index;
    std::fs::write(desk.path("g.g2o"), LINE.replace("2.2 0.1 0 50", "1e160 0 0 50")).unwrap();
    let name = "the edge from 0 to 2: its residual or derivative is not finite, or too large to be squared";
    for line in ["hessian g.g2o --write H=H.mtx", "hessian g.g2o --write J=J.mtx", "solve g.g2o --start file -o s.g2o"]
    {
        let ran = desk.run(&format!("{line} --device {device}"));
        assert_eq!(ran.status, 1, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(name), "{line}: {}", ran.stderr);
        assert_eq!(desk.files(), ["g.g2o"]);
    }
}

/// A square of four poses that see a landmark. The information matrices of this graph are
/// multiplied by `scale`.
fn square(scale: f64) -> String {
    let mut text = String::from("VERTEX_XY 50 0.4 0.7\n");
    for (pose, (x, y)) in [(0, 0), (1, 0), (1, 1), (0, 1)].into_iter().enumerate() {
        let turn = pose as f64 * 1.5 + 0.1;
        text += &format!("VERTEX_SE2 {pose} {} {y} {turn}\n", f64::from(x) + 0.1 * pose as f64);
        text += &format!("EDGE_SE2_XY {pose} 50 0.5 0.5 {0:e} 0 {0:e}\n", 3.0 * scale);
        let (next, w) = ((pose + 1) % 4, 40.0 * scale);
        text += &format!("EDGE_SE2 {pose} {next} 1 0.02 1.55 {w:e} 0 0 {w:e} 0 {w:e}\n");
    }
    text + "FIX 0\n"
}

#[test]
fn information_of_any_size_gives_the_same_poses() {
    let desk = Desk::new();
    for options in
        ["--tolerance 1e-9", "--tolerance 1e-9 --linear conjugate-gradients", "--start chordal --information isotropic"]
    {
        let (one, want) = solve_graph(&desk, &square(1.0), options);
        for scale in [1e-300, 1e-160, 1e160, 1e300] {
            let (json, found) = solve_graph(&desk, &square(scale), options);
            assert_eq!(json["iterations"].as_array().unwrap().len(), one["iterations"].as_array().unwrap().len());
            let chi2 = json["chi2"].as_f64().unwrap() / scale;
            assert!((chi2 / one["chi2"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{scale} {options}: {chi2}");
            for (found, want) in found.poses.iter().zip(&want.poses) {
                assert!(found.inv_mul(want).translation.vector.amax() < 1e-5, "{scale} {options}: {found} {want}");
            }
        }
    }
}

const SCENE: &str = "generate bal --cameras 5 --points 30 --views 4 --noise 0.3 --error 0.02 -q -o p.txt";

fn solve_scene(desk: &Desk, problem: &BundleAdjustment, options: &str) -> (Value, f64) {
    bal::write(desk.path("q.txt"), problem).unwrap();
    let line = format!("solve q.txt --json - -o s.txt {options} --device {}", common::device().info().index);
    let json: Value = serde_json::from_str(&desk.ok(&line).stdout).unwrap();
    let written = BundleProblem::new(bal::read(desk.path("s.txt")).unwrap(), Loss::Squared).unwrap();
    (json, written.cost(&written.start()))
}

#[test]
fn scenes_far_from_the_origin_are_solved_about_a_local_one() {
    let desk = Desk::new();
    desk.ok(SCENE);
    let near = bal::read(desk.path("p.txt")).unwrap();
    let (json, want) = solve_scene(&desk, &near, "");
    assert_eq!(json["origin"], Value::Null);
    for place in [[5e5, 5.4e6, 200.0], [-2.7e6, -4.3e6, 3.8e6], [0.0, 2e4, 0.0]] {
        let (json, found) = solve_scene(&desk, &near.clone().about(place.map(|x| -x)), "");
        assert!((json["cost"].as_f64().unwrap() / want - 1.0).abs() < 1e-5, "{place:?}: {json} {want}");
        // The coordinates of the file are rounded to 1e-9.
        assert!((found / want - 1.0).abs() < 1e-5, "{place:?}: {found} {want}");
        assert!(json["origin"].is_array());
        assert!((bal::read(desk.path("s.txt")).unwrap().points[0][1] - place[1]).abs() < 100.0);
    }
}

/// Cameras that look along +z take the same pictures. To this end the cameras are turned by π about
/// x, f is negative, and the pictures are upside down.
#[test]
fn negative_focal_lengths_are_solved_alike() {
    let desk = Desk::new();
    desk.ok(SCENE);
    let problem = bal::read(desk.path("p.txt")).unwrap();
    let (json, want) = solve_scene(&desk, &problem, "");
    let mut mirrored = problem.clone();
    mirrored.cameras.iter_mut().for_each(|camera| camera[6] *= -1.0);
    mirrored.observations.iter_mut().for_each(|seen| seen.place = seen.place.map(|x| -x));
    let mut along_z = mirrored.clone();
    for camera in &mut along_z.cameras {
        let turn = nalgebra::Rotation3::new(nalgebra::Vector3::new(camera[0], camera[1], camera[2]));
        let over = nalgebra::Rotation3::from_axis_angle(&nalgebra::Vector3::x_axis(), std::f64::consts::PI);
        camera[..3].copy_from_slice((over * turn).scaled_axis().as_slice());
        (camera[4], camera[5]) = (-camera[4], -camera[5]);
    }
    along_z.observations.iter_mut().for_each(|seen| seen.place[0] *= -1.0);
    for (name, problem) in [("mirrored", mirrored), ("along z", along_z)] {
        let (again, found) = solve_scene(&desk, &problem, "--picture cloud.png");
        let count = |json: &Value| json["iterations"].as_array().unwrap().len();
        assert_eq!(count(&again), count(&json), "{name}");
        assert!((found / want - 1.0).abs() < 1e-6, "{name}: {found} {want}");
        assert!(bal::read(desk.path("s.txt")).unwrap().cameras.iter().all(|camera| camera[6] < 0.0));
    }
}
