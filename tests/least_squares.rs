//! The solvers of `examples/least_squares` on problems whose truth is known, and on real ones.
mod common;
#[allow(dead_code)] // what the command uses beside
#[path = "../examples/least_squares/mod.rs"]
mod least_squares;

use blockmul::{
    Error,
    generate::problem::{Scene, Walk, bundle_adjustment, pose_graph},
    problem::{
        self, BundleProblem, Graph, GraphProblem, GraphState, LeastSquares, Loss, Manifold, Place, Plane, PoseGraph,
        Problem, Space,
    },
};
use common::{data, device};
use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};
use std::path::PathBuf;

use least_squares::{
    Method, Options, Solution, Stop,
    conjugate::Limits,
    linear::Linear,
    minimize,
    normal::Normal,
    start::{chordal, weighable},
};

fn solve<P: LeastSquares>(problem: &P, options: &Options) -> Solution<P::State> {
    minimize(problem, problem.start(), &device(), options, |_| {}).unwrap()
}

fn options() -> Options {
    Options { tolerance: 1e-9, ..Options::default() }
}

fn scene() -> Scene {
    Scene { cameras: 12, points: 300, views: 4, noise: 0.5, error: 0.05, seed: 3 }
}

fn bundle(scene: &Scene, loss: Loss) -> BundleProblem {
    BundleProblem::new(bundle_adjustment(scene).unwrap(), loss).unwrap()
}

fn in_plane(walk: &Walk) -> PoseGraph<Plane> {
    match pose_graph(&Walk { space: false, ..*walk }).unwrap() {
        Graph::Plane(graph) => graph,
        _ => unreachable!("asked for in the plane"),
    }
}

fn in_space(walk: &Walk) -> PoseGraph<Space> {
    match pose_graph(&Walk { space: true, ..*walk }).unwrap() {
        Graph::Space(graph) => graph,
        _ => unreachable!("asked for in space"),
    }
}

fn walk(landmarks: usize) -> Walk {
    Walk { poses: 120, closures: 60, landmarks, noise: 0.05, seed: 4, ..Walk::default() }
}

/// The gradient, and how a step of it changes the cost, against central differences of the cost in some directions.
fn gradient_is_that_of_the_cost<P: LeastSquares>(problem: &P) {
    let start = problem.start();
    let mut linearization = problem.prepare(&device()).unwrap();
    let mut normal = Normal::new(&linearization).unwrap();
    let cost = problem.linearize(&start, &mut linearization).unwrap();
    assert_eq!(cost.to_bits(), problem.cost(&start).to_bits());
    normal.form(&linearization).unwrap();
    let b: Vec<Vec<f64>> = normal.b().iter().map(|b| b.download().unwrap()).collect();
    for direction in 0..4 {
        // Along the gradient, where it is largest, and across it.
        let along = |b: f64, i: usize| if direction == 0 || i % 4 == direction { b } else { 0.0 };
        let step: Vec<Vec<f64>> = b.iter().map(|b| b.iter().enumerate().map(|(i, &b)| along(b, i)).collect()).collect();
        let norm = step.iter().flatten().map(|x| x * x).sum::<f64>();
        let scale = 1e-5 / norm.sqrt();
        let at = |by: f64| {
            let step: Vec<Vec<f64>> = step.iter().map(|step| step.iter().map(|x| x * by).collect()).collect();
            problem.cost(&problem.moved(&start, &step).unwrap())
        };
        // b is minus the gradient: the cost falls by b·step. The cost's own rounding over the difference is 1e-6 of it, its third derivative less.
        let slope = (at(scale) - at(-scale)) / (2.0 * scale);
        assert!((slope + norm).abs() < 1e-4 * norm, "{slope} {norm}");
    }
}

#[test]
fn gradients_are_those_of_the_cost() {
    for loss in [Loss::Squared, Loss::Huber(0.8), Loss::Cauchy(1.0)] {
        gradient_is_that_of_the_cost(&bundle(&scene(), loss));
        for landmarks in [0, 30] {
            gradient_is_that_of_the_cost(&GraphProblem::new(in_plane(&walk(landmarks)), loss).unwrap());
            gradient_is_that_of_the_cost(&GraphProblem::new(in_space(&walk(landmarks)), loss).unwrap());
        }
    }
}

/// Rows that end at an earlier pose, that have both ends fixed or one; poses and landmarks that nothing is known of; nothing but sightings.
#[test]
fn gradients_are_those_of_the_cost_whatever_a_graph_lacks() {
    fn check<P: Manifold>(graph: PoseGraph<P>) {
        let of = |change: &dyn Fn(&mut PoseGraph<P>)| {
            let mut graph = graph.clone();
            change(&mut graph);
            gradient_is_that_of_the_cost(&GraphProblem::new(graph, Loss::Huber(0.8)).unwrap());
        };
        of(&|graph| {
            for step in graph.steps.iter_mut().step_by(2) {
                std::mem::swap(&mut step.from, &mut step.to);
                step.measured = P::inverse(&step.measured);
            }
        });
        of(&|graph| graph.fixed_poses = vec![0, 1, 2, 7, 30]);
        of(&|graph| graph.steps.clear());
        of(&|graph| graph.sightings.clear());
        of(&|graph| graph.fixed_landmarks = (0..30).collect());
        of(&|graph| graph.steps.retain(|step| step.from > 4 && step.to > 4));
    }
    check(in_plane(&walk(30)));
    check(in_space(&walk(30)));
}

#[test]
fn what_holds_a_graph_is_fixed_or_first() {
    let graph = |change: &dyn Fn(&mut PoseGraph<Plane>)| {
        let mut graph = in_plane(&walk(30));
        graph.fixed_poses.clear();
        change(&mut graph);
        graph.held()
    };
    assert_eq!(graph(&|_| ()), [0]);
    assert_eq!(graph(&|graph| graph.fixed_poses = vec![5, 9]), [5, 9]);
    assert_eq!(graph(&|graph| graph.fixed_landmarks = vec![3]), [0]);
    assert_eq!(graph(&|graph| graph.fixed_landmarks = vec![3, 4]), [0u32; 0]);
    // Of pose 0 nothing is known: the first that something is known of.
    let later = |graph: &mut PoseGraph<Plane>| {
        graph.steps.retain(|step| step.from > 2 && step.to > 2);
        graph.sightings.retain(|one| one.pose > 2);
    };
    assert_eq!(graph(&later), [3]);
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
    adjustment.observations[7].camera = 12;
    refused(BundleProblem::new(adjustment, Loss::Squared).map(drop));
    let problem = bundle(&scene(), Loss::Squared);
    refused(problem.moved(&problem.start(), &[vec![0.0; 9]]).map(drop));
    let mut other = bundle(&Scene { points: 299, ..scene() }, Loss::Squared).prepare(&device()).unwrap();
    refused(problem.linearize(&problem.start(), &mut other).map(drop));
}

#[test]
fn a_bundle_adjustment_is_solved_better_than_the_truth_fits() {
    let problem = bundle(&scene(), Loss::Squared);
    let truth = bundle(&Scene { error: 0.0, ..scene() }, Loss::Squared);
    let solution = solve(&problem, &options());
    let at_truth = truth.cost(&truth.start());
    assert!(solution.initial_cost > 10.0 * at_truth && solution.cost < at_truth, "{} {at_truth}", solution.cost);
    assert_eq!(solution.stop, Stop::Converged);
    assert_eq!(solution.cost.to_bits(), problem.cost(&solution.state).to_bits());
    // The same bits in another run.
    let again = solve(&problem, &options());
    let costs = |of: &Solution<_>| of.iterations.iter().map(|it| it.cost_after.to_bits()).collect::<Vec<_>>();
    assert_eq!(costs(&again), costs(&solution));
    assert_eq!(again.state, solution.state);
}

#[test]
fn conjugate_gradients_come_to_the_same_cost() {
    let problem = bundle(&scene(), Loss::Squared);
    let exact = solve(&problem, &options());
    let linear = Linear::ConjugateGradients(Limits { tolerance: 1e-8, ..Limits::default() });
    let solution = solve(&problem, &Options { linear, ..options() });
    assert!((solution.cost - exact.cost).abs() < 1e-6 * exact.cost, "{} {}", solution.cost, exact.cost);
    assert!(solution.iterations.iter().all(|it| it.conjugate_steps.is_some_and(|steps| steps > 0)));
    let graph = GraphProblem::new(in_plane(&walk(0)), Loss::Squared).unwrap();
    let refused = minimize(&graph, graph.start(), &device(), &Options { linear, ..options() }, |_| {});
    assert!(matches!(refused, Err(Error::Argument(_))));
}

fn graph_is_solved<P: Manifold>(graph: &PoseGraph<P>, exact: &PoseGraph<P>, chi2_at_truth: f64) {
    let problem = GraphProblem::new(graph.clone(), Loss::Squared).unwrap();
    let start = problem.start();
    let mut costs = Vec::new();
    for method in [Method::GaussNewton, Method::LevenbergMarquardt] {
        let solution = solve(&problem, &Options { method, ..options() });
        assert_eq!(solution.stop, Stop::Converged, "{method:?}");
        assert!(2.0 * solution.cost < chi2_at_truth, "{} {chi2_at_truth}", 2.0 * solution.cost);
        assert_eq!(solution.state.poses[0], start.poses[0], "the first pose is held");
        assert!((1..graph.poses.len()).any(|pose| solution.state.poses[pose] != start.poses[pose]));
        costs.push(solution.cost);
    }
    assert!((costs[0] - costs[1]).abs() < 1e-5 * costs[0], "{costs:?}");

    // Measurements that agree are met by the chordal start alone.
    let problem = GraphProblem::new(exact.clone(), Loss::Squared).unwrap();
    let nowhere = GraphState { poses: vec![graph.poses[0]; graph.poses.len()], landmarks: graph.landmarks.clone() };
    let started = chordal(&problem.with_state(nowhere), &device()).unwrap();
    assert!(problem.cost(&started) < 1e-12, "{}", problem.cost(&started));
}

/// The sum over what was measured at the truth, which is the start of the same walk without noise.
fn at_truth<P: Manifold>(graph: &PoseGraph<P>, exact: &PoseGraph<P>) -> f64 {
    let problem = GraphProblem::new(graph.clone(), Loss::Squared).unwrap();
    2.0 * problem.cost(&GraphState { poses: exact.poses.clone(), landmarks: exact.landmarks.clone() })
}

#[test]
fn graphs_are_solved_better_than_the_truth_fits() {
    for landmarks in [0, 40] {
        let (noisy, exact) = (walk(landmarks), Walk { noise: 0.0, ..walk(landmarks) });
        let (graph, truth) = (in_plane(&noisy), in_plane(&exact));
        graph_is_solved(&graph, &truth, at_truth(&graph, &truth));
        let (graph, truth) = (in_space(&noisy), in_space(&exact));
        graph_is_solved(&graph, &truth, at_truth(&graph, &truth));
    }
}

#[test]
fn what_is_fixed_stays_and_nothing_else_does() {
    let mut graph = in_space(&walk(20));
    graph.fixed_poses = vec![3, 50];
    graph.fixed_landmarks = (0..20).collect();
    let problem = GraphProblem::new(graph.clone(), Loss::Squared).unwrap();
    let solution = solve(&problem, &options());
    let moved = |pose: usize| solution.state.poses[pose] != graph.poses[pose];
    assert!(!moved(3) && !moved(50) && moved(0) && moved(119));
    assert_eq!(solution.state.landmarks, graph.landmarks);
    graph.fixed_landmarks = vec![7];
    let problem = GraphProblem::new(graph.clone(), Loss::Squared).unwrap();
    let solution = solve(&problem, &options());
    let still: Vec<usize> = (0..20).filter(|&i| solution.state.landmarks[i] == graph.landmarks[i]).collect();
    assert_eq!(still, [7]);
}

/// What is fixed, and poses that no step leads to, stay where they are; a component that nothing holds is none to start from.
#[test]
fn a_chordal_start_moves_what_is_free() {
    let mut graph = in_space(&walk(20));
    graph.fixed_poses = vec![0, 40];
    graph.fixed_landmarks = vec![2];
    graph.steps.retain(|step| step.from != 7 && step.to != 7);
    let held = |state: &GraphState<Space>| {
        let poses = (0..120).filter(|&pose| state.poses[pose] == graph.poses[pose]).collect::<Vec<_>>();
        (poses, (0..20).filter(|&i| state.landmarks[i] == graph.landmarks[i]).collect::<Vec<_>>())
    };
    assert_eq!(held(&chordal(&graph, &device()).unwrap()), (vec![0, 7, 40], vec![2]));
    graph.steps.retain(|step| (step.from < 60) == (step.to < 60));
    assert!(matches!(chordal(&graph, &device()), Err(Error::Argument(_))));
}

/// Without damping the gauge of a bundle adjustment is free: damping begins with the first step that cannot be made.
#[test]
fn damping_begins_from_nothing_where_it_must() {
    let problem = bundle(&scene(), Loss::Squared);
    let solution = solve(&problem, &Options { lambda: 0.0, ..options() });
    assert_eq!(solution.stop, Stop::Converged);
    let usual = solve(&problem, &options());
    assert!((solution.cost - usual.cost).abs() < 1e-5 * usual.cost, "{} {}", solution.cost, usual.cost);
}

#[test]
fn a_system_that_is_singular_however_damped_is_a_failure() {
    let mut graph = in_plane(&walk(0));
    graph.steps.iter_mut().for_each(|step| step.information[(2, 2)] = 0.0);
    let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
    for method in [Method::GaussNewton, Method::LevenbergMarquardt] {
        let solution = solve(&problem, &Options { method, ..options() });
        assert_eq!(solution.stop, Stop::Failed, "{method:?}");
        assert!(solution.iterations.iter().all(|iteration| !iteration.taken) && !solution.iterations.is_empty());
    }
}

#[test]
fn a_robust_loss_holds_against_closures_that_are_wrong() {
    let truth = in_plane(&Walk { noise: 0.0, ..walk(0) });
    let mut graph = in_plane(&walk(0));
    let steps = graph.steps.len();
    for wrong in (0..6).map(|i| steps - 1 - 7 * i) {
        let step = &mut graph.steps[wrong];
        step.measured.translation.x += 5.0;
        step.measured.translation.y -= 3.0;
    }
    let off = |loss: Loss| {
        let problem = GraphProblem::new(graph.clone(), loss).unwrap();
        let solution = solve(&problem, &Options { iterations: 200, ..options() });
        let far = |(a, b): (&<Plane as Place>::Pose, &<Plane as Place>::Pose)| {
            (a.translation.vector - b.translation.vector).norm_squared()
        };
        (solution.state.poses.iter().zip(&truth.poses).map(far).sum::<f64>() / truth.poses.len() as f64).sqrt()
    };
    let (plain, robust) = (off(Loss::Squared), off(Loss::Cauchy(2.0)));
    assert!(robust < 0.5 * plain, "{robust} {plain}");
}

#[test]
fn information_that_rewards_errors_is_refused_and_can_be_made_isotropic() {
    let mut graph = in_space(&walk(0));
    graph.steps[4].information[(0, 1)] = 1e9;
    graph.steps[4].information[(1, 0)] = 1e9;
    let step = graph.steps[4];
    let names = (graph.pose_names[step.from as usize], graph.pose_names[step.to as usize]);
    assert_eq!(graph.indefinite(), Some((1, names)));
    let refused = GraphProblem::new(graph.clone(), Loss::Squared).err().expect("an indefinite matrix").to_string();
    assert!(refused.contains("1 of ") && refused.contains("negative eigenvalues"), "{refused}");
    assert_eq!(graph.isotropic().indefinite(), None);
    // What has no positive weight has none.
    let mut graph = in_space(&walk(0));
    graph.steps[0].information = -Matrix6::identity();
    assert_eq!(graph.isotropic().steps[0].information, Matrix6::zeros());

    let mut graph = in_space(&walk(0));
    graph.steps[0].information = Matrix6::from_diagonal(&Vector6::new(1.0, 2.0, 4.0, 10.0, 10.0, 5.0));
    let [t, r] = [3.0 / (1.0 + 0.5 + 0.25), 3.0 / (0.1 + 0.1 + 0.2)];
    let want = Matrix6::from_diagonal(&Vector6::new(t, t, t, r, r, r));
    assert!((graph.isotropic().steps[0].information - want).amax() < 1e-12);
    let mut graph = in_plane(&walk(0));
    graph.steps[0].information = Matrix3::new(1.0, 0.5, 0.0, 0.5, 2.0, 0.1, 0.0, 0.1, 7.0);
    // The covariance of the translations is [2 -0.5; -0.5 1]/1.75.
    let t = 2.0 * 1.75 / 3.0;
    assert!(
        (graph.isotropic().steps[0].information - Matrix3::from_diagonal(&Vector3::new(t, t, 14.0))).amax() < 1e-12
    );
}

#[test]
fn a_start_that_is_no_number_fails_and_says_so() {
    let mut adjustment = bundle_adjustment(&scene()).unwrap();
    let seen = adjustment.observations[0];
    // In the plane of the camera.
    adjustment.cameras[seen.camera as usize][..6].fill(0.0);
    adjustment.points[seen.point as usize] = [1.0, 2.0, 0.0];
    let problem = BundleProblem::new(adjustment, Loss::Squared).unwrap();
    let solution = solve(&problem, &options());
    assert_eq!((solution.stop, solution.iterations.len()), (Stop::Failed, 0));
}

fn real(path: &str) -> Option<PathBuf> {
    let found = data(path);
    if found.is_none() {
        eprintln!("left out: {path} is not below BLOCKMUL_DATA");
    }
    found
}

/// Cost at the start and what it is to come to; χ² where it is a graph's.
#[test]
fn real_problems_come_to_the_costs_they_are_known_for() {
    for (name, initial, most) in
        [("problem-49-7776-pre", 850912.46, 13394.0), ("problem-21-11315-pre", 4413239.31, 30385.0)]
    {
        let Some(path) = real(&format!("bal/{name}.txt.gz")) else { continue };
        let Problem::BundleAdjustment(adjustment) = problem::read(path).unwrap() else { panic!("{name}") };
        let problem = BundleProblem::new(adjustment, Loss::Squared).unwrap();
        let solution = solve(&problem, &Options::default());
        assert!((solution.initial_cost - initial).abs() < 0.01, "{name}: {}", solution.initial_cost);
        assert!(solution.cost <= most && solution.iterations.len() <= 50, "{name}: {}", solution.cost);
    }
    for (name, chi2) in
        [("intel", 45.004), ("M3500", 137.913), ("city10000", 511.985), ("sphere2500", 1351.216), ("cubicle", 717.126)]
    {
        let Some(path) = real(&format!("g2o/{name}.g2o.gz")) else { continue };
        let Problem::Graph(graph) = problem::read(path).unwrap() else { panic!("{name}") };
        let cost = match graph {
            Graph::Plane(graph) => of_real_graph(graph),
            Graph::Space(graph) => of_real_graph(graph),
            _ => unreachable!("graphs are in the plane or in space"),
        };
        assert!((2.0 * cost - chi2).abs() < 1e-3 + 1e-5 * chi2, "{name}: {}", 2.0 * cost);
    }
}

/// With SE-Sync's weights: table 1 and 2 of its paper of 2019 give these minima to four digits.
#[test]
fn real_graphs_come_to_published_minima() {
    for (name, published) in [("intel", 52.35), ("city10000", 638.6), ("sphere2500", 1687.0), ("cubicle", 717.1)] {
        let Some(path) = real(&format!("g2o/{name}.g2o.gz")) else { continue };
        let Problem::Graph(graph) = problem::read(path).unwrap() else { panic!("{name}") };
        let cost = match graph {
            Graph::Plane(graph) => of_real_graph(graph.isotropic()),
            Graph::Space(graph) => of_real_graph(graph.isotropic()),
            _ => unreachable!("graphs are in the plane or in space"),
        };
        // Half a unit of the fourth digit.
        assert!((2.0 * cost / published - 1.0).abs() < 1e-4, "{name}: {}", 2.0 * cost);
    }
}

/// From the file's guess; of `cubicle` some information matrices are none.
fn of_real_graph<P: Manifold>(graph: PoseGraph<P>) -> f64 {
    let problem = GraphProblem::new(weighable(graph).0, Loss::Squared).unwrap();
    let solution = solve(&problem, &Options::default());
    assert_eq!(solution.stop, Stop::Converged);
    solution.cost
}
