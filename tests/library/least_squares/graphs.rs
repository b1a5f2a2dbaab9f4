//! Graphs of poses and landmarks: which poses are held, how the iterations start and end, weights
//! and losses.
use super::*;

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
    // With one fixed landmark the graph can still turn. Damping keeps the graph from turning.
    assert_eq!(graph(&|graph| graph.fixed_landmarks = vec![3]), [0u32; 0]);
    assert_eq!(graph(&|graph| graph.fixed_landmarks = vec![3, 4]), [0u32; 0]);
    // Pose 0 has no measurements, so the first pose that has one is held.
    let later = |graph: &mut PoseGraph<Plane>| {
        graph.steps.retain(|step| step.from > 2 && step.to > 2);
        graph.sightings.retain(|one| one.pose > 2);
    };
    assert_eq!(graph(&later), [3]);
}

fn graph_is_solved<P: Manifold>(graph: &PoseGraph<P>, exact: &PoseGraph<P>, chi2_at_truth: f64) {
    let problem = GraphProblem::new(graph.clone(), Loss::Squared).unwrap();
    let start = problem.start();
    let mut costs = Vec::new();
    for method in [StepMethod::GaussNewton, StepMethod::LevenbergMarquardt] {
        let solution = solve(&problem, &Options { method, ..options() });
        assert_eq!(solution.stop, Stop::Converged, "{method:?}");
        assert!(2.0 * solution.cost < chi2_at_truth, "{} {chi2_at_truth}", 2.0 * solution.cost);
        assert_eq!(solution.state.poses[0], start.poses[0], "the first pose is held");
        assert!((1..graph.poses.len()).any(|pose| solution.state.poses[pose] != start.poses[pose]));
        costs.push(solution.cost);
    }
    assert!((costs[0] - costs[1]).abs() < 1e-5 * costs[0], "{costs:?}");

    // If all measurements agree, the chordal start satisfies them without any iteration.
    let problem = GraphProblem::new(exact.clone(), Loss::Squared).unwrap();
    let nowhere = GraphState { poses: vec![graph.poses[0]; graph.poses.len()], landmarks: graph.landmarks.clone() };
    let started = chordal(&problem.with_state(nowhere), &device()).unwrap();
    assert!(problem.cost(&started) < 1e-12, "{}", problem.cost(&started));
}

/// χ² of the measurements at the true poses. `exact` is the walk of the graph without noise, so its
/// start has the true poses.
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

/// A chordal start leaves fixed poses and landmarks where they are, and also poses without steps. A
/// component without a held pose is an error.
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
    graph.fixed_landmarks.clear();
    assert!(matches!(chordal(&graph, &device()), Err(Error::Argument(_))));
    // Without landmarks the second half of the graph is a component of its own.
    graph.sightings.clear();
    assert_eq!(held(&chordal(&graph, &device()).unwrap()).0, vec![0, 7, 40, 60]);
}

/// Poses that are held only by fixed landmarks are moved to one fixed landmark, to two, or to all.
#[test]
fn a_chordal_start_meets_fixed_landmarks() {
    fn check<P: Manifold>(mut graph: PoseGraph<P>) {
        graph.fixed_poses.clear();
        for fixed in [vec![7], vec![7, 11], (0..20).collect()] {
            graph.fixed_landmarks = fixed;
            let problem = GraphProblem::new(graph.clone(), Loss::Squared).unwrap();
            assert_eq!(problem.held(), [0u32; 0]);
            // The landmarks that are not fixed begin at the place of fixed landmark 7.
            let nowhere = GraphState {
                poses: vec![P::origin(); graph.poses.len()],
                landmarks: (0..20)
                    .map(|one| match graph.fixed_landmarks.contains(&one) {
                        true => graph.landmarks[one as usize],
                        false => graph.landmarks[7],
                    })
                    .collect(),
            };
            let from = problem.with_state(nowhere);
            let started = chordal(&from, &device()).unwrap();
            assert!(problem.cost(&started) < 1e-10, "{:?}: {}", graph.fixed_landmarks, problem.cost(&started));
        }
    }
    check(in_plane(&Walk { noise: 0.0, ..walk(20) }));
    check(in_space(&Walk { noise: 0.0, ..walk(20) }));
}

/// With one fixed landmark, all measurements can be satisfied wherever the poses begin.
#[test]
fn a_graph_may_turn_about_the_landmark_that_is_fixed() {
    fn check<P: Manifold>(mut graph: PoseGraph<P>, noisy: PoseGraph<P>) {
        (graph.fixed_poses, graph.fixed_landmarks) = (vec![], vec![7]);
        let alone = format!("landmark {} alone is fixed; fix a pose", graph.landmark_names[7]);
        let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
        let undamped = Options { method: StepMethod::GaussNewton, ..options() };
        let refused = minimize(&problem, problem.start(), &device(), &undamped, |_| ControlFlow::Continue(()))
            .map(drop)
            .unwrap_err();
        assert!(refused.to_string().contains(&alone), "{refused}");
        let start = GraphState { landmarks: problem.start().landmarks, poses: noisy.poses };
        let solution = minimize(&problem, start, &device(), &options(), |_| ControlFlow::Continue(())).unwrap();
        assert!(solution.stop == Stop::Converged && solution.cost < 1e-12, "{:?} {}", solution.stop, solution.cost);
    }
    check(in_plane(&Walk { noise: 0.0, ..walk(20) }), in_plane(&walk(20)));
    check(in_space(&Walk { noise: 0.0, ..walk(20) }), in_space(&walk(20)));
}

/// A measurement that the graph contains twice gives two residuals.
#[test]
fn a_measurement_counts_as_often_as_it_is_there() {
    let mut graph = in_plane(&walk(20));
    let once = GraphProblem::new(graph.clone(), Loss::Squared).unwrap();
    graph.steps.extend(graph.steps.clone());
    graph.sightings.extend(graph.sightings.clone());
    let twice = GraphProblem::new(graph, Loss::Squared).unwrap();
    let [once, twice] = [once, twice].map(|problem| solve(&problem, &options()).cost);
    assert!((twice - 2.0 * once).abs() < 1e-9 * once, "{once} {twice}");

    let mut adjustment = bundle_adjustment(&scene()).unwrap();
    let once = BundleProblem::new(adjustment.clone(), Loss::Squared).unwrap();
    adjustment.observations.extend(adjustment.observations.clone());
    let twice = BundleProblem::new(adjustment, Loss::Squared).unwrap();
    for linear in [Linear::Cholesky, Linear::ConjugateGradients(Limits { tolerance: 1e-8, ..Limits::default() })] {
        let [once, twice] = [&once, &twice].map(|problem| solve(problem, &Options { linear, ..options() }).cost);
        assert!((twice - 2.0 * once).abs() < 1e-6 * once, "{once} {twice}");
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
    // An information matrix without a positive weight becomes zero.
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
