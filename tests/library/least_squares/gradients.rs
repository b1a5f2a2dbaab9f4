//! Gradients, compared with differences of the cost.
use super::*;

/// Checks the gradient, and the change of the cost by a step along the gradient, with central
/// differences of the cost in several directions.
fn gradient_is_that_of_the_cost<P: LeastSquares>(problem: &P) {
    let start = problem.start();
    let mut linearization = problem.prepare(&device()).unwrap();
    let mut normal = Normal::new(&linearization).unwrap();
    let cost = problem.linearize(&start, &mut linearization).unwrap();
    assert_eq!(cost.to_bits(), problem.cost(&start).to_bits());
    normal.form(&linearization).unwrap();
    let b: Vec<Vec<f64>> = normal.b().iter().map(|b| b.download().unwrap()).collect();
    for direction in 0..4 {
        // If `direction` is 0, the step goes along the whole gradient, where the slope is largest;
        // else along a part of it.
        let along = |b: f64, i: usize| if direction == 0 || i % 4 == direction { b } else { 0.0 };
        let step: Vec<Vec<f64>> = b.iter().map(|b| b.iter().enumerate().map(|(i, &b)| along(b, i)).collect()).collect();
        let norm = step.iter().flatten().map(|x| x * x).sum::<f64>();
        let scale = 1e-5 / norm.sqrt();
        let at = |by: f64| {
            let step: Vec<Vec<f64>> = step.iter().map(|step| step.iter().map(|x| x * by).collect()).collect();
            problem.cost(&problem.moved(&start, &step).unwrap())
        };
        // b is minus the gradient, so the cost falls by b·step. The cost's rounding, divided by the
        // difference, is 1e-6 of the slope, and the third derivative adds less.
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

/// The graphs have edges to an earlier pose, edges with one or both ends fixed, poses and landmarks
/// without measurements, or only sightings of landmarks.
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
