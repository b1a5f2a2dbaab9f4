//! Bundle adjustments some of whose cameras and points are held.
use super::*;
use blockmul::solver::{
    least_squares::System,
    problem::{BundleAdjustment, BundleState, Named, Why},
};

fn adjustment() -> BundleAdjustment {
    bundle_adjustment(&Scene { cameras: 6, points: 40, views: 4, noise: 0.5, error: 0.02, seed: 5 }).unwrap()
}

fn holding(cameras: &[u32], points: &[u32]) -> BundleProblem {
    BundleProblem::new(adjustment(), Loss::Squared).unwrap().hold(cameras, points).unwrap()
}

/// The change of the cost when a number of the state grows, by central differences, divided by the
/// root of the cost and by the sensitivity of the residuals, so that it has no unit.
fn slope(problem: &BundleProblem, state: &BundleState, number: impl Fn(&mut BundleState) -> &mut f64) -> f64 {
    let at = |by: f64| {
        let mut state = state.clone();
        *number(&mut state) += by;
        problem.cost(&state)
    };
    let size = 1e-6 * number(&mut state.clone()).abs().max(1e-3);
    let (below, here, above) = (at(-size), at(0.0), at(size));
    let curvature = (above + below - 2.0 * here).max(1e-9 * here);
    0.5 * (above - below) / (curvature * here).sqrt()
}

/// The slopes of the cost by all numbers that may move are rounding. The held members keep their
/// bits, and the other members move.
fn check(problem: &BundleProblem, linear: Linear) {
    let (before, options) = (problem.start(), Options { tolerance: 1e-12, linear, ..Options::default() });
    let solution = solve(problem, &options);
    assert!(matches!(solution.stop, Stop::Converged | Stop::NoStep), "{:?}", solution.stop);
    assert!(solution.cost < 0.9 * solution.initial_cost);
    let (after, given) = (&solution.state, problem.problem());
    assert_eq!(solution.cost.to_bits(), problem.cost(after).to_bits());
    for camera in 0..given.cameras.len() {
        let is_held = problem.held_cameras().contains(&(camera as u32));
        match is_held {
            true => assert_eq!(after.cameras[camera].map(f64::to_bits), given.cameras[camera].map(f64::to_bits)),
            false => assert_ne!(after.cameras[camera], before.cameras[camera]),
        }
        let numbers = if is_held { 0..0 } else { 0..9 };
        numbers.for_each(|at| assert!(slope(problem, after, |state| &mut state.cameras[camera][at]).abs() < 1e-3));
    }
    for point in 0..given.points.len() {
        let is_held = problem.held_points().contains(&(point as u32));
        match is_held {
            true => assert_eq!(after.points[point].map(f64::to_bits), given.points[point].map(f64::to_bits)),
            false => assert_ne!(after.points[point], before.points[point]),
        }
        let numbers = if is_held { 0..0 } else { 0..3 };
        numbers.for_each(|at| assert!(slope(problem, after, |state| &mut state.points[point][at]).abs() < 1e-3));
    }
}

#[test]
fn some_cameras_and_points_are_held() {
    let problem = holding(&[4, 0, 4], &[39, 7]);
    assert_eq!((problem.held_cameras(), problem.held_points()), (&[0, 4][..], &[7, 39][..]));
    let left: Vec<_> = problem.left_out().into_iter().map(|left| (left.to_string(), left.group, left.why)).collect();
    let want = [("held: cameras 0 and 4", 0), ("held: points 7 and 39", 1)];
    assert_eq!(left, want.map(|(text, group)| (text.to_owned(), group, Why::Held)));
    assert_eq!(problem.unknown(0, 0).as_deref(), Some("camera 1"));
    assert_eq!(problem.unknown(1, 7).as_deref(), Some("point 8"));
    for linear in [Linear::NormalCholesky, Linear::SchurCholesky] {
        check(&problem, linear);
    }
    // Nothing is held any more.
    assert_eq!(problem.hold(&[], &[]).unwrap().left_out(), []);
}

#[test]
fn all_cameras_are_held() {
    let problem = holding(&[0, 1, 2, 3, 4, 5], &[3]);
    let linearization = problem.prepare(&device()).unwrap();
    assert_eq!(linearization.jacobian().col_groups().iter().map(|group| group.side).collect::<Vec<_>>(), [3]);
    assert_eq!(linearization.matrix_names(), ["H", "J"]);
    assert_eq!((problem.unknown(0, 3).as_deref(), problem.unknown(1, 0)), (Some("point 4"), None));
    assert_eq!(problem.coordinates(0), ["x", "y", "z"]);
    check(&problem, Linear::Cholesky);
    assert_eq!(solve(&problem, &options()).system, System::Hessian);
    let refused =
        minimize(&problem, problem.start(), &device(), &Options { linear: Linear::SchurCholesky, ..options() }, |_| {
            ControlFlow::Continue(())
        });
    assert!(matches!(refused, Err(Error::Argument(_))));
}

#[test]
fn all_points_are_held() {
    let points: Vec<u32> = (0..40).collect();
    let problem = holding(&[2], &points);
    let linearization = problem.prepare(&device()).unwrap();
    assert_eq!(linearization.jacobian().col_groups().iter().map(|group| group.side).collect::<Vec<_>>(), [9]);
    assert_eq!((problem.unknown(0, 2).as_deref(), problem.unknown(1, 0)), (Some("camera 3"), None));
    assert_eq!(problem.coordinates(0)[6], "focal length");
    check(&problem, Linear::Cholesky);
    let names = problem.left_out().into_iter().map(|left| (left.kind, left.names.len(), left.why)).collect::<Vec<_>>();
    assert_eq!(names, [("camera", 1, Why::Held), ("point", 40, Why::Held)]);
    // Resected cameras do not depend on each other: each is solved alone as with the others.
    let together = solve(&problem, &Options { tolerance: 1e-12, ..options() });
    let others: Vec<u32> = (0..6).filter(|&camera| camera != 3).collect();
    let alone = holding(&others, &points);
    let one = solve(&alone, &Options { tolerance: 1e-12, ..options() });
    let pairs = together.state.cameras[3].iter().zip(one.state.cameras[3]);
    assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-4 * a.abs().max(1.0)), "{pairs:?}");
}

/// Gauss-Newton needs no damping if enough is held.
#[test]
fn without_damping_two_held_cameras_are_enough() {
    let problem = holding(&[0, 1], &[]);
    let undamped = solve(&problem, &Options { method: StepMethod::GaussNewton, ..options() });
    let damped = solve(&problem, &options());
    assert_eq!((undamped.stop, damped.stop), (Stop::Converged, Stop::Converged));
    assert!((undamped.cost - damped.cost).abs() < 1e-6 * damped.cost, "{} {}", undamped.cost, damped.cost);
}

#[test]
fn what_cannot_be_held_is_refused() {
    let problem = || BundleProblem::new(adjustment(), Loss::Squared).unwrap();
    let refused = |cameras: &[u32], points: &[u32]| problem().hold(cameras, points).map(drop).unwrap_err().to_string();
    assert!(refused(&[0, 6], &[]).ends_with("camera 6 cannot be held: there are 6 cameras"));
    assert!(refused(&[0], &[40]).ends_with("point 40 cannot be held: there are 40 points"));
    let [cameras, points] = [6, 40].map(|count| (0..count).collect::<Vec<u32>>());
    assert!(refused(&cameras, &points).contains("nothing is unknown"));
    // Another camera or point that no observation names does not count as an unknown.
    let mut unseen = adjustment();
    unseen.points.push([0.0; 3]);
    let refused = BundleProblem::new(unseen, Loss::Squared).unwrap().hold(&cameras, &points);
    assert!(matches!(refused, Err(Error::Argument(_))));
}
