//! Unknowns on which no residual depends. The solver keeps the values of unknowns without
//! influence, reports these, and solves for the other unknowns.
use super::*;
use blockmul::{
    generate::Random,
    solver::{
        least_squares::{Coordinate, WithoutInfluence},
        problem::{BundleAdjustment, Camera, Observation},
    },
};

const LINEAR: [Linear; 2] = [Linear::Cholesky, Linear::ConjugateGradients(Limits { tolerance: 1e-8, steps: 500 })];

fn scene() -> BundleAdjustment {
    bundle_adjustment(&Scene { cameras: 6, points: 30, views: 4, noise: 0.3, error: 0.02, seed: 8 }).unwrap()
}

fn problem(of: &BundleAdjustment) -> BundleProblem {
    BundleProblem::new(of.clone(), Loss::Squared).unwrap()
}

/// The cost of a problem whose unknowns all have influence.
fn sound_cost(sound: &BundleAdjustment) -> f64 {
    let want = solve(&problem(sound), &options());
    assert_eq!((want.stop, &want.without_influence), (Stop::Converged, &WithoutInfluence::default()));
    want.cost
}

/// Solves a problem by both linear solvers. The cost must be `want`, up to the tolerance of the
/// iteration.
fn comes_to(found: &BundleAdjustment, want: f64, what: &str) -> Vec<WithoutInfluence> {
    let of = |linear| {
        let solution = solve(&problem(found), &Options { linear, ..options() });
        assert_eq!(solution.stop, Stop::Converged, "{what}, {linear:?}");
        let off = (solution.cost - want).abs() / want;
        assert!(off < 1e-6, "{what}, {linear:?}: {} {want}", solution.cost);
        solution.without_influence
    };
    LINEAR.into_iter().map(of).collect()
}

#[test]
fn cameras_without_a_focal_length_find_one() {
    // No residual depends on the rotation, the translation and the distortion of a camera without a
    // focal length. The focal lengths 1e-200 and 1e-310 are as hard to handle as 0: the square of
    // 1e-200 is 0, and denormal numbers such as 1e-310 have few digits.
    let sound = scene();
    let want = sound_cost(&sound);
    let all = &[0, 1, 2, 3, 4, 5][..];
    for (focal, cameras) in [(0.0, &[2][..]), (0.0, all), (1e-200, &[0, 5]), (1e-310, &[2]), (1e-310, all)] {
        let mut found = sound.clone();
        cameras.iter().for_each(|&camera: &usize| found.cameras[camera][6] = focal);
        let without = comes_to(&found, want, &format!("{focal:e}, {cameras:?}"));
        assert!(without.iter().all(|without| without.count == 0), "they have influence once f has a value");
    }
}

#[test]
fn turns_by_multiples_of_2_pi_are_no_obstacle() {
    let sound = scene();
    let unit = |random: &mut Random| Vector3::from_fn(|_, _| 2.0 * random.unit() - 1.0).normalize();
    // A rotation by exactly 2π about an axis is no rotation.
    let mut none = sound.clone();
    none.cameras[4][..3].fill(0.0);
    let (want, a) = (sound_cost(&none), problem(&none));
    for (axis, angle) in [
        (Vector3::x(), std::f64::consts::TAU),
        (Vector3::z(), 2.0 * std::f64::consts::TAU),
        (unit(&mut Random::new(3)), std::f64::consts::TAU),
        (unit(&mut Random::new(4)), std::f64::consts::TAU - 1e-9),
    ] {
        let mut full = sound.clone();
        // After a rotation by 2π about its own axis, the camera and its guess are where they were.
        let turn = Vector3::from_column_slice(&sound.cameras[1][..3]);
        let whole = if turn.norm() > 0.0 { turn.normalize() } else { axis };
        let at = |by: f64| -> [f64; 3] { (turn + whole * by).into() };
        full.cameras[1][..3].copy_from_slice(&at(angle - angle.rem_euclid(std::f64::consts::TAU)));
        full.cameras[4][..3].copy_from_slice((axis * angle).as_slice());
        let b = problem(&full);
        let [cost, turned] = [&a, &b].map(|of| of.cost(&of.start()));
        assert!((cost - turned).abs() < 1e-5 * cost, "{cost} {turned}");
        comes_to(&full, want, &format!("{axis:?}, {angle}"));
    }
}

/// A point on the axis of the only camera that sees it. The distance of a point on the axis of its
/// only camera has no influence.
fn on_axis(turned: bool) -> BundleAdjustment {
    let mut found = scene();
    if !turned {
        found.cameras[3][..3].fill(0.0);
    }
    let camera = Camera::new(&found.cameras[3]);
    let (centre, direction) = (Vector3::from(camera.centre()), Vector3::from(camera.direction()));
    let point = found.points.len() as u32;
    found.points.push((centre + direction * 6.0).into());
    found.observations.push(Observation { camera: 3, point, place: [0.25, -0.5] });
    found
}

#[test]
fn a_point_that_one_camera_sees_on_its_axis_keeps_its_distance() {
    for turned in [false, true] {
        let found = on_axis(turned);
        let mut sound = found.clone();
        sound.observations.pop();
        // The new point is placed where it was observed, so its residual becomes 0.
        let without = comes_to(&found, sound_cost(&sound), &format!("turned {turned}"));
        assert!(without.iter().all(|without| without.count <= 1));
    }
}

#[test]
fn blocks_of_zeros_are_held_or_damped() {
    // The camera has no focal length, and no other camera sees its points: their blocks of V are
    // zero.
    let sound = scene();
    let mut alone = sound.clone();
    for point in [7, 8] {
        let first = alone.observations.iter().find(|seen| seen.point == point).unwrap().camera;
        alone.observations.retain(|seen| seen.point != point || seen.camera == first);
        alone.cameras[first as usize][6] = 0.0;
    }
    let mut with_focal = alone.clone();
    with_focal.cameras.clone_from(&sound.cameras);
    comes_to(&alone, sound_cost(&with_focal), "alone");
    // In the smallest problem, with one camera and one point on its axis, only two numbers have
    // influence.
    let mut one = scene();
    one.cameras = vec![[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 500.0, 0.0, 0.0]];
    one.points = vec![[0.0, 0.0, -2.0]];
    one.observations = vec![Observation { camera: 0, point: 0, place: [0.25, -0.5] }];
    let problem = BundleProblem::new(one, Loss::Huber(1.0)).unwrap();
    for linear in LINEAR {
        let solution = solve(&problem, &Options { linear, ..options() });
        assert!(solution.stop == Stop::Converged && solution.cost < 1e-12, "{linear:?}: {}", solution.cost);
    }
}

/// The graph has poses on a line. Each pose is measured from the previous one, and the weight of
/// the angle is zero.
fn chain(poses: usize) -> PoseGraph<Plane> {
    let mut graph = in_plane(&Walk { poses, closures: 0, ..walk(0) });
    graph.steps.iter_mut().for_each(|step| step.information = Matrix3::from_diagonal(&Vector3::new(4.0, 4.0, 0.0)));
    graph
}

#[test]
fn an_angle_without_weight_is_named() {
    for poses in [2, 5, 40] {
        let problem = GraphProblem::new(chain(poses), Loss::Squared).unwrap();
        let solution = solve(&problem, &options());
        assert_eq!(solution.stop, Stop::Converged, "{poses}");
        assert!(solution.cost < 1e-9, "{poses}: {}", solution.cost);
        // Pose 0 is held, so unknown 0 is pose 1. Nothing depends on the angle of the last pose.
        let last = Coordinate { group: 0, number: poses - 2, coordinate: 2 };
        assert_eq!(solution.without_influence, WithoutInfluence { count: 1, first: vec![last] }, "{poses}");
        let angle = |state: &GraphState<Plane>| state.poses[poses - 1].rotation.angle();
        assert_eq!(angle(&solution.state), angle(&problem.start()), "{poses}: it keeps its value");
    }
}

/// If a coordinate has no influence in any member of a group, Gauss-Newton holds it: here the angle
/// of the one unknown pose. If other poses have an angle with influence, an angle without influence
/// makes the system singular.
#[test]
fn gauss_newton_holds_a_coordinate_that_is_zero_in_all() {
    let of = |poses: usize| {
        let problem = GraphProblem::new(chain(poses), Loss::Squared).unwrap();
        let mut start = problem.start();
        start.poses[1].translation.x += 0.5;
        let options = Options { method: StepMethod::GaussNewton, ..options() };
        minimize(&problem, start, &device(), &options, |_| ControlFlow::Continue(())).unwrap()
    };
    let (two, five) = (of(2), of(5));
    assert!(two.stop == Stop::Converged && two.cost < 1e-20, "{}", two.cost);
    assert_eq!((five.stop, five.iterations.len(), five.without_influence.count), (Stop::Failed, 1, 1));
}

#[test]
fn at_most_a_hundred_are_named_and_all_are_counted() {
    let mut graph = in_plane(&Walk { poses: 200, closures: 0, ..walk(0) });
    graph.steps.iter_mut().for_each(|step| {
        // All poses are measured from one pose, so their own angles do not change the measured
        // translations.
        step.information = Matrix3::from_diagonal(&Vector3::new(4.0, 4.0, 0.0));
        step.from = 0;
    });
    let solution = solve(&GraphProblem::new(graph, Loss::Squared).unwrap(), &options());
    let WithoutInfluence { count, first } = solution.without_influence;
    assert_eq!((count, first.len(), first[99].number), (199, WithoutInfluence::NAMED, 99));
}

/// Blocks of H have low rank, but their diagonals are not zero, so no floor is needed.
#[test]
fn blocks_of_low_rank_with_a_nonzero_diagonal_are_damped() {
    let mut graph = in_plane(&Walk { poses: 30, closures: 0, ..walk(0) });
    let along = Vector3::new(1.0, 2.0, 0.5);
    graph.steps.iter_mut().for_each(|step| step.information = along * along.transpose());
    let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
    let solution = solve(&problem, &options());
    assert_eq!(solution.stop, Stop::Converged);
    assert!(solution.cost < 1e-9 && solution.without_influence.count == 0, "{}", solution.cost);
}
