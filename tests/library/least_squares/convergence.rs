//! Tests of the stop criteria, and of how damping follows the steps.
use super::*;
use blockmul::{Device, solver::problem::Linearization};

/// Costs in other units take the same iterations, however small or large the gradient is.
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
    // Powers of 2 change only the bits of the exponent.
    for scale in [2f64.powi(-70), 2f64.powi(70)] {
        let found = at(scale);
        assert_eq!(found.0, iterations, "{scale}");
        assert!((found.1 / cost - 1.0).abs() < 1e-9, "{scale}: {} {cost}", found.1);
    }
}

/// A step that damping made short lowers the cost only a little, anywhere.
#[test]
fn short_steps_by_damping_are_not_convergence() {
    let problem = bundle(&scene(), Loss::Squared);
    let usual = solve(&problem, &options());
    let damped = solve(&problem, &Options { lambda: 1e12, ..options() });
    assert_eq!(damped.stop, Stop::Converged);
    assert!((damped.cost / usual.cost - 1.0).abs() < 1e-6, "{} {}", damped.cost, usual.cost);
}

/// A problem whose steps lead in the wrong direction.
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

    fn norm(&self, state: &Self::State) -> f64 {
        self.0.norm(state)
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
    for landmarks in [0, 30] {
        let mut graph = in_space(&Walk { noise: 0.0, ..walk(landmarks) });
        let noisy = in_space(&walk(landmarks));
        (graph.poses, graph.landmarks) = (noisy.poses, noisy.landmarks);
        let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
        for tolerance in [1e-6, 0.0] {
            let solution = solve(&problem, &Options { tolerance, ..Options::default() });
            assert_eq!(solution.stop, Stop::Converged, "{landmarks} {tolerance}: {}", solution.cost);
            assert!(solution.cost <= 1e-18 * solution.initial_cost, "{landmarks} {tolerance}: {}", solution.cost);
        }
    }
}

/// Robust losses converge slowly and need little damping. Steps must not be lost because damping
/// sinks below what the system needs.
#[test]
fn damping_stays_where_systems_can_be_solved() {
    for loss in [Loss::Huber(0.1), Loss::Cauchy(0.1)] {
        let problem = bundle(&Scene { error: 0.3, ..scene() }, loss);
        for linear in [Linear::Cholesky, Linear::ConjugateGradients(Limits::default())] {
            let options = Options { linear, tolerance: 1e-12, iterations: 50, ..Options::default() };
            let solution = solve(&problem, &options);
            let refused = solution.iterations.iter().filter(|it| !it.taken).count();
            let least = solution.iterations.iter().fold(f64::MAX, |least, it| it.lambda.min(least));
            assert!(refused <= 6 && least >= 1e-12, "{loss} {linear:?}: {refused}, {least}");
        }
    }
}
