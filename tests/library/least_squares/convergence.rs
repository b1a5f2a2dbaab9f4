//! Tests of the stop criteria, and of the damping after each step.
use super::*;
use blockmul::{Device, solver::problem::Linearization};

/// If all costs are in other units, the iterations are the same, even if the gradient becomes very
/// small or large.
#[test]
fn convergence_is_the_same_in_all_units() {
    let at = |scale: f64| {
        let mut graph = in_plane(&walk(0));
        graph.steps.iter_mut().for_each(|step| step.information *= scale);
        let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
        let solution = solve(&problem, &Options::default());
        assert_eq!(solution.stop, Stop::Converged);
        (solution.iterations.len(), solution.cost / scale)
    };
    let (iterations, cost) = at(1.0);
    // A power of 2 changes only the exponents of numbers.
    for scale in [2f64.powi(-70), 2f64.powi(70), 2f64.powi(-530), 2f64.powi(530), 2f64.powi(-900), 2f64.powi(900)] {
        let found = at(scale);
        assert_eq!(found.0, iterations, "{scale}");
        assert!((found.1 / cost - 1.0).abs() < 1e-9, "{scale}: {} {cost}", found.1);
    }
}

/// A measurement between two held poses is constant. A constant measurement changes neither the
/// steps nor their number.
#[test]
fn rows_without_unknowns_hide_no_others() {
    let mut graph = in_plane(&walk(0));
    let (last, far) = (graph.poses.len() as u32, graph.poses[0]);
    graph.poses.extend([far, far]);
    graph.pose_names.extend([7_001, 7_002]);
    graph.fixed_poses = vec![0, last, last + 1];
    let solved = |information: f64| {
        let mut graph = graph.clone();
        let mut step = graph.steps[0];
        (step.from, step.to, step.information) = (last, last + 1, Matrix3::identity() * information);
        graph.steps.insert(5, step);
        solve(&GraphProblem::new(graph, Loss::Squared).unwrap(), &options())
    };
    let (without, with) = (solved(0.0), solved(1e30));
    assert_eq!((with.stop, with.iterations.len()), (Stop::Converged, without.iterations.len()));
    let position = |pose| Plane::position(pose);
    for (one, other) in with.state.poses.iter().zip(&without.state.poses) {
        assert!(position(one).iter().zip(position(other)).all(|(a, b)| (a - b).abs() < 1e-9), "{one} {other}");
    }
    let dominant = with.dominant.unwrap();
    assert!(dominant.row == 5 && dominant.share > 0.999, "{dominant:?}");
    assert_eq!(without.dominant, None);
}

/// Two measurements of a pose contradict each other with an enormous weight, so that no step
/// changes the cost visibly. The solver must not report convergence before all other poses have
/// come to rest.
#[test]
fn rows_that_hide_all_others_are_no_convergence() {
    let mut graph = in_plane(&walk(0));
    let usual = solve(&GraphProblem::new(graph.clone(), Loss::Squared).unwrap(), &options());
    let (last, place) = (graph.poses.len() as u32, graph.poses[0]);
    graph.poses.push(place);
    graph.pose_names.push(7_001);
    for by in [-500.0, 500.0] {
        let mut step = graph.steps[0];
        (step.from, step.to, step.information) = (0, last, Matrix3::identity() * 1e24);
        step.measured.translation.x += by;
        graph.steps.push(step);
    }
    let solution = solve(&GraphProblem::new(graph, Loss::Squared).unwrap(), &options());
    let at_rest =
        |(one, other)| Plane::position(one).iter().zip(Plane::position(other)).all(|(a, b)| (a - b).abs() < 1e-4);
    let rest = solution.state.poses.iter().zip(&usual.state.poses).all(at_rest);
    assert!(solution.stop != Stop::Converged || rest, "{} of {}", solution.cost, solution.initial_cost);
}

/// A point lies, up to rounding, in the image plane of its camera. The first cost is 1e30 times the
/// cost of the other rows, but these other rows must not count as rounding.
#[test]
fn a_point_in_the_image_plane_does_not_make_the_rest_negligible() {
    for depth in [1e-15, -1e-17, 1e-20] {
        let mut adjustment = bundle_adjustment(&scene()).unwrap();
        let seen = adjustment.observations[0];
        adjustment.cameras[seen.camera as usize][..6].fill(0.0);
        adjustment.points[seen.point as usize] = [0.1, 0.2, depth];
        let problem = BundleProblem::new(adjustment, Loss::Squared).unwrap();
        let solution = solve(&problem, &Options { iterations: 60, ..options() });
        assert!(solution.stop != Stop::Converged || solution.cost < 1e6, "{depth}: {}", solution.cost);
    }
}

/// If damping makes a step short, the step lowers the cost only a little, even far from the
/// minimum.
#[test]
fn short_steps_by_damping_are_not_convergence() {
    let problem = bundle(&scene(), Loss::Squared);
    let usual = solve(&problem, &options());
    let damped = solve(&problem, &Options { lambda: 1e12, ..options() });
    assert_eq!(damped.stop, Stop::Converged);
    assert!((damped.cost / usual.cost - 1.0).abs() < 1e-6, "{} {}", damped.cost, usual.cost);
}

/// The cost is nearly flat in one direction, and damping hides the gain in this direction.
#[test]
fn a_valley_is_followed_to_its_end() {
    for slope in [1e-3, 3e-6] {
        let mut graph = in_plane(&Walk { poses: 2, closures: 0, ..walk(0) });
        graph.poses.iter_mut().for_each(|pose| *pose = Default::default());
        let (mut across, mut along) = (graph.steps[0], graph.steps[0]);
        across.measured = Default::default();
        across.information = Matrix3::new(1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0);
        along.measured = Default::default();
        along.measured.translation.y = 1.0;
        along.information = Matrix3::zeros();
        along.information[(1, 1)] = slope * slope;
        graph.steps = vec![across, along];
        let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
        for tolerance in [1e-6, 1e-12] {
            let solution = solve(&problem, &Options { tolerance, ..Options::default() });
            let least = solution.cost <= 1e-6 * solution.initial_cost;
            assert!(solution.stop == Stop::Converged && least, "{slope}: {}", solution.cost);
        }
    }
}

/// A robot that stands still measures steps of exactly zero. The residuals of the zero steps are
/// about 1e-17. Measurements with far larger residuals must count neither as outliers nor as
/// rounding.
#[test]
fn measurements_of_zero_hide_no_others() {
    for method in [StepMethod::LevenbergMarquardt, StepMethod::GaussNewton] {
        let mut graph = in_plane(&walk(0));
        let last = graph.poses.len() as u32 - 1;
        let mut still = graph.steps[0];
        still.measured = Default::default();
        for number in last + 1..last + 300 {
            (still.from, still.to) = (if number == last + 1 { 0 } else { number - 1 }, number);
            graph.poses.push(graph.poses[0]);
            graph.pose_names.push(9_000 + u64::from(number));
            graph.steps.push(still);
        }
        let usual = solve(&GraphProblem::new(in_plane(&walk(0)), Loss::Squared).unwrap(), &options());
        let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
        let solution = solve(&problem, &Options { method, ..options() });
        assert_eq!(solution.stop, Stop::Converged, "{method:?}");
        assert!((solution.cost / usual.cost - 1.0).abs() < 1e-6, "{method:?}: {} {}", solution.cost, usual.cost);
    }
}

/// Although the first cost is 1e26, the cost of the other measurements is not negligible.
#[test]
fn a_start_far_away_does_not_make_the_rest_negligible() {
    let problem = GraphProblem::new(in_plane(&walk(0)), Loss::Squared).unwrap();
    let usual = solve(&problem, &options());
    for method in [StepMethod::LevenbergMarquardt, StepMethod::GaussNewton] {
        let mut start = usual.state.clone();
        start.poses[60].translation.x += 1e13;
        let options = Options { method, ..options() };
        let solution = minimize(&problem, start, &device(), &options, |_| ControlFlow::Continue(())).unwrap();
        let least = solution.cost <= usual.cost * (1.0 + 1e-6);
        assert!(solution.stop != Stop::Converged || least, "{method:?}: {} {}", solution.cost, usual.cost);
    }
}

/// If conjugate gradients are stopped early, a step lowers the cost only a little, even far from
/// the minimum.
#[test]
fn few_steps_of_conjugate_gradients_are_not_convergence() {
    let problem = bundle(&scene(), Loss::Squared);
    let usual = solve(&problem, &options());
    for steps in [1, 3] {
        let linear = Linear::ConjugateGradients(Limits { steps, ..Limits::default() });
        let solution = solve(&problem, &Options { linear, iterations: 40, ..Options::default() });
        let least = solution.cost <= usual.cost * (1.0 + 1e-5);
        assert!(solution.stop != Stop::Converged || least, "{steps}: {} {}", solution.cost, usual.cost);
    }
}

/// A problem that makes all steps of the solver go in the wrong direction.
struct Backwards(GraphProblem<Plane>);

impl LeastSquares for Backwards {
    type State = GraphState<Plane>;

    fn start(&self) -> Self::State {
        self.0.start()
    }

    fn prepare(&self, device: &Device) -> Result<Linearization, Error> {
        self.0.prepare(device)
    }

    fn linearize(&self, state: &Self::State, to: &mut Linearization) -> Result<f64, Error> {
        self.0.linearize(state, to)
    }

    fn cost(&self, state: &Self::State) -> f64 {
        self.0.cost(state)
    }

    fn moved(&self, state: &Self::State, step: &[Vec<f64>]) -> Result<Self::State, Error> {
        let back: Vec<Vec<f64>> = step.iter().map(|step| step.iter().map(|x| -x).collect()).collect();
        self.0.moved(state, &back)
    }
}

#[test]
fn a_problem_that_no_step_lowers_is_not_converged() {
    let problem = Backwards(GraphProblem::new(in_plane(&walk(0)), Loss::Squared).unwrap());
    let solution = solve(&problem, &Options::default());
    assert_eq!(solution.stop, Stop::NoStep);
    assert_eq!(solution.cost, solution.initial_cost);
}

#[test]
fn measurements_that_agree_are_met_to_rounding() {
    for landmarks in [0, 15] {
        let walk = Walk { poses: 60, closures: 30, ..walk(landmarks) };
        let mut graph = in_space(&Walk { noise: 0.0, ..walk });
        let noisy = in_space(&walk);
        (graph.poses, graph.landmarks) = (noisy.poses, noisy.landmarks);
        let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
        for tolerance in [1e-6, 0.0] {
            let solution = solve(&problem, &Options { tolerance, ..Options::default() });
            assert_eq!(solution.stop, Stop::Converged, "{landmarks} {tolerance}: {}", solution.cost);
            assert!(solution.cost <= 1e-18 * solution.initial_cost, "{landmarks} {tolerance}: {}", solution.cost);
        }
    }
}

/// With robust losses the iteration converges slowly and needs little damping. Damping must not
/// become so small that the system cannot be solved and steps are lost.
#[test]
fn damping_stays_where_systems_can_be_solved() {
    for loss in [Loss::Huber(0.1), Loss::Cauchy(0.1)] {
        let problem = bundle(&Scene { error: 0.3, ..large() }, loss);
        for linear in [Linear::Cholesky, Linear::ConjugateGradients(Limits::default())] {
            let options = Options { linear, tolerance: 1e-12, iterations: 50, ..Options::default() };
            let solution = solve(&problem, &options);
            let refused = solution.iterations.iter().filter(|it| !it.taken).count();
            let least = solution.iterations.iter().fold(f64::MAX, |least, it| it.lambda.min(least));
            assert!(refused <= 6 && least >= 1e-12, "{loss} {linear:?}: {refused}, {least}");
        }
    }
}
