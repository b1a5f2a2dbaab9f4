//! The solvers of least-squares problems, on problems whose true solution is known.
//! `tools/problems` checks the solvers on real problems.
mod convergence;
mod gradients;
mod graphs;
mod held;
mod influence;
mod linear;
mod traps;

use crate::common::device;
use blockmul::{
    Error,
    generate::problem::{Scene, Shape, Walk, bundle_adjustment, pose_graph},
    solver::{
        least_squares::{
            Iteration, Limits, Linear, Normal, Options, Solution, StepMethod, Stop, minimize,
            start::{Start, cheaper, chordal},
        },
        problem::{
            BundleProblem, Graph, GraphProblem, GraphState, LeastSquares, Loss, Manifold, Place, Plane, PoseGraph,
            Space,
        },
    },
};
use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};
use std::ops::ControlFlow;

fn solve<P: LeastSquares>(problem: &P, options: &Options) -> Solution<P::State> {
    minimize(problem, problem.start(), &device(), options, |_| ControlFlow::Continue(())).unwrap()
}

fn options() -> Options {
    Options { tolerance: 1e-9, ..Options::default() }
}

fn scene() -> Scene {
    Scene { cameras: 8, points: 80, views: 4, noise: 0.5, error: 0.05, seed: 3 }
}

fn large() -> Scene {
    Scene { cameras: 12, points: 300, ..scene() }
}

fn bundle(scene: &Scene, loss: Loss) -> BundleProblem {
    BundleProblem::new(bundle_adjustment(scene).unwrap(), loss).unwrap()
}

fn in_plane(walk: &Walk) -> PoseGraph<Plane> {
    match pose_graph(&Walk { shape: Shape::Plane, ..*walk }).unwrap() {
        Graph::Plane(graph) => graph,
        _ => unreachable!("asked for in the plane"),
    }
}

fn in_space(walk: &Walk) -> PoseGraph<Space> {
    match pose_graph(walk).unwrap() {
        Graph::Space(graph) => graph,
        _ => unreachable!("asked for in space"),
    }
}

fn walk(landmarks: usize) -> Walk {
    Walk { poses: 120, closures: 60, landmarks, noise: 0.05, seed: 4, ..Walk::default() }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |done: Result<(), Error>| assert!(matches!(done, Err(Error::Argument(_) | Error::Length { .. })));
    let mut graph = in_plane(&walk(5));
    graph.steps[3].to = 99_999;
    refused(GraphProblem::new(graph, Loss::Squared).map(drop));
    let mut graph = in_plane(&walk(5));
    graph.sightings[0].landmark = 5;
    refused(GraphProblem::new(graph, Loss::Squared).map(drop));
    refused(GraphProblem::new(in_plane(&walk(5)), Loss::Cauchy(1e-200)).map(drop));
    let mut adjustment = bundle_adjustment(&scene()).unwrap();
    adjustment.observations[7].camera = 8;
    refused(BundleProblem::new(adjustment, Loss::Squared).map(drop));
    let problem = bundle(&scene(), Loss::Squared);
    refused(problem.moved(&problem.start(), &[vec![0.0; 9]]).map(drop));
    let mut other = bundle(&Scene { points: 79, ..scene() }, Loss::Squared).prepare(&device()).unwrap();
    refused(problem.linearize(&problem.start(), &mut other).map(drop));
}

#[test]
fn a_bundle_adjustment_is_solved_better_than_the_truth_fits() {
    let problem = bundle(&large(), Loss::Squared);
    let truth = bundle(&Scene { error: 0.0, ..large() }, Loss::Squared);
    let solution = solve(&problem, &options());
    let at_truth = truth.cost(&truth.start());
    assert!(solution.initial_cost > 10.0 * at_truth && solution.cost < at_truth, "{} {at_truth}", solution.cost);
    assert_eq!(solution.stop, Stop::Converged);
    assert_eq!(solution.cost.to_bits(), problem.cost(&solution.state).to_bits());
    // A second run of a solver has the same bits.
    let again = solve(&problem, &options());
    let costs = |of: &Solution<_>| of.iterations.iter().map(|it| it.cost_after.to_bits()).collect::<Vec<_>>();
    assert_eq!(costs(&again), costs(&solution));
    assert_eq!(again.state, solution.state);
}

#[test]
fn conjugate_gradients_come_to_the_same_cost() {
    let problem = bundle(&large(), Loss::Squared);
    let exact = solve(&problem, &options());
    let linear = Linear::ConjugateGradients(Limits { tolerance: 1e-8, ..Limits::default() });
    let solution = solve(&problem, &Options { linear, ..options() });
    assert!((solution.cost - exact.cost).abs() < 1e-6 * exact.cost, "{} {}", solution.cost, exact.cost);
    assert!(solution.iterations.iter().all(|it| it.conjugate_steps.is_some_and(|steps| steps > 0)));
    let graph = GraphProblem::new(in_plane(&walk(0)), Loss::Squared).unwrap();
    let refused =
        minimize(&graph, graph.start(), &device(), &Options { linear, ..options() }, |_| ControlFlow::Continue(()));
    assert!(matches!(refused, Err(Error::Argument(_))));
}

/// Without damping the gauge of a bundle adjustment is free. Damping begins at the first step that
/// cannot be computed.
#[test]
fn damping_begins_from_nothing_where_it_must() {
    let problem = bundle(&scene(), Loss::Squared);
    let solution = solve(&problem, &Options { lambda: 0.0, ..options() });
    assert_eq!(solution.stop, Stop::Converged);
    let usual = solve(&problem, &options());
    assert!((solution.cost - usual.cost).abs() < 1e-5 * usual.cost, "{} {}", solution.cost, usual.cost);
}

#[test]
fn a_system_that_is_singular_without_damping_is_a_failure_only_without() {
    let mut graph = in_plane(&walk(0));
    graph.steps.iter_mut().for_each(|step| step.information[(2, 2)] = 0.0);
    let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
    let solution = solve(&problem, &Options { method: StepMethod::GaussNewton, ..options() });
    assert_eq!(solution.stop, Stop::Failed);
    assert!(solution.iterations.iter().all(|iteration| !iteration.taken) && !solution.iterations.is_empty());
    let solution = solve(&problem, &options());
    assert!(solution.stop != Stop::Failed && solution.cost < 0.1 * solution.initial_cost, "{}", solution.cost);
}

#[test]
fn a_start_that_is_no_number_fails_and_says_so() {
    let mut adjustment = bundle_adjustment(&scene()).unwrap();
    let seen = adjustment.observations[0];
    // In this problem a point lies in the plane of its camera.
    adjustment.cameras[seen.camera as usize][..6].fill(0.0);
    adjustment.points[seen.point as usize] = [1.0, 2.0, 0.0];
    let problem = BundleProblem::new(adjustment, Loss::Squared).unwrap();
    let solution = solve(&problem, &options());
    assert_eq!((solution.stop, solution.iterations.len()), (Stop::Failed, 0));
    assert_eq!(solution.not_finite, Some(0));
}

/// The residual of the point is finite, but its derivative is not.
#[test]
fn a_derivative_that_is_no_number_fails_and_says_so() {
    let mut adjustment = bundle_adjustment(&scene()).unwrap();
    let seen = adjustment.observations[9];
    adjustment.cameras[seen.camera as usize] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-300, 0.0, 0.0];
    adjustment.points[seen.point as usize] = [1e-3, 1e-3, 1e-150];
    let problem = BundleProblem::new(adjustment, Loss::Squared).unwrap();
    assert!(problem.cost(&problem.start()).is_finite());
    let solution = solve(&problem, &options());
    assert_eq!((solution.stop, solution.iterations.len(), solution.not_finite), (Stop::Failed, 0, Some(9)));
}

#[test]
fn the_caller_ends_an_iteration_and_keeps_the_solution_so_far() {
    let problem = bundle(&large(), Loss::Squared);
    let usual = solve(&problem, &options());
    assert!(usual.iterations.len() > 2);
    let until = |last: u32| {
        let each = |it: &Iteration| match it.iteration < last {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        minimize(&problem, problem.start(), &device(), &options(), each).unwrap()
    };
    let two = until(2);
    assert_eq!((two.stop, two.iterations.len()), (Stop::Interrupted, 2));
    assert_eq!(two.cost.to_bits(), usual.iterations[1].cost_after.to_bits());
    assert_eq!(two.cost.to_bits(), problem.cost(&two.state).to_bits());
    // An iteration that ends by itself keeps its reason.
    let last = until(usual.iterations.len() as u32);
    assert_eq!((last.stop, last.cost.to_bits()), (Stop::Converged, usual.cost.to_bits()));
}
