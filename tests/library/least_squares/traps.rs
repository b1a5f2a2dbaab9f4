//! Graphs on which dead reckoning leads to a wrong minimum, and starts that avoid it.
//! `tools/problems` has larger graphs.
use super::*;

/// A walk, its lowest known χ², and the χ² that the solver reaches from the file's guess.
/// `tools/minima` found the lowest from the file's guess, the chordal start and 20 perturbed
/// starts.
struct Trap {
    shape: Shape,
    poses: usize,
    closures: usize,
    noise: f64,
    seed: u64,
    best: f64,
    from_file: f64,
}

#[rustfmt::skip]
const TRAPS: [Trap; 6] = [
    Trap { shape: Shape::Plane, poses: 200, closures: 60, noise: 0.6, seed: 2, best: 179.4047, from_file: 1275.35 },
    Trap { shape: Shape::Plane, poses: 200, closures: 60, noise: 0.6, seed: 4, best: 192.8686, from_file: 859.57 },
    Trap { shape: Shape::Torus, poses: 200, closures: 120, noise: 0.7, seed: 3, best: 730.3411, from_file: 896.75 },
    Trap { shape: Shape::Torus, poses: 200, closures: 120, noise: 0.7, seed: 4, best: 688.9583, from_file: 1134.71 },
    Trap { shape: Shape::Sphere, poses: 250, closures: 90, noise: 0.9, seed: 4, best: 463.8701, from_file: 778.66 },
    Trap { shape: Shape::Sphere, poses: 250, closures: 90, noise: 0.9, seed: 18, best: 537.8531, from_file: 781.30 },
];

fn is_escaped<P: Manifold>(graph: PoseGraph<P>, trap: &Trap) {
    let Trap { shape, seed, best, from_file, .. } = *trap;
    let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
    let chosen = cheaper(&problem, &device()).unwrap();
    let chordal = chosen.chordal_cost.unwrap();
    assert_eq!(chosen.start, Start::Chordal, "{shape:?} {seed}");
    assert!(from_file > 1.1 * 2.0 * chordal, "{shape:?} {seed} is no trap: {chordal}");
    assert!(chordal < chosen.file_cost && (problem.cost(&chosen.state) - chordal).abs() <= 1e-12 * chordal);
    let solution =
        minimize(&problem, chosen.state, &device(), &Options::default(), |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(solution.stop, Stop::Converged);
    // The solver stops if a step gains less than 1e-6 of the cost. Further steps could gain less
    // than ten times as much.
    assert!((2.0 * solution.cost / best - 1.0).abs() < 1e-5, "{shape:?} {seed}: {}", 2.0 * solution.cost);
}

#[test]
fn traps_are_escaped_from_the_cheaper_start() {
    for trap in TRAPS {
        let Trap { shape, poses, closures, noise, seed, .. } = trap;
        let walk = Walk { shape, poses, closures, noise, seed, ..Walk::default() };
        match pose_graph(&walk).unwrap() {
            Graph::Plane(graph) => is_escaped(graph, &trap),
            Graph::Space(graph) => is_escaped(graph, &trap),
            _ => unreachable!("graphs are in the plane or in space"),
        }
    }
}

#[test]
fn the_cheaper_start_is_taken_by_the_cost_with_its_loss() {
    let start_of = |graph: PoseGraph<Plane>, loss: Loss| {
        let problem = GraphProblem::new(graph, loss).unwrap();
        let chosen = cheaper(&problem, &device()).unwrap();
        let cost = chosen.chordal_cost.unwrap();
        assert_eq!((chosen.start == Start::Chordal), cost < chosen.file_cost, "{cost} {}", chosen.file_cost);
        assert_eq!(chosen.state == problem.start(), chosen.start == Start::File);
        chosen.start
    };
    assert_eq!(start_of(in_plane(&walk(0)), Loss::Squared), Start::Chordal);
    // The guess of the file is the true graph, and some closures are far off. Relaxation spreads
    // the errors of these closures over all poses, but a robust loss does not.
    let mut wrong = in_plane(&walk(0));
    wrong.poses = in_plane(&Walk { noise: 0.0, ..walk(0) }).poses;
    let steps = wrong.steps.len();
    (0..6).for_each(|i| wrong.steps[steps - 1 - 7 * i].measured.translation.x += 20.0);
    assert_eq!(start_of(wrong.clone(), Loss::Squared), Start::Chordal);
    assert_eq!(start_of(wrong, Loss::Cauchy(1.0)), Start::File);
}

#[test]
fn without_a_chordal_start_the_file_s_guess_is_taken_and_a_reason_given() {
    let reason_of = |change: &dyn Fn(&mut PoseGraph<Plane>)| {
        let mut graph = in_plane(&walk(30));
        change(&mut graph);
        let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
        let chosen = cheaper(&problem, &device()).unwrap();
        assert_eq!((chosen.start, chosen.state), (Start::File, problem.start()));
        chosen.chordal_cost.unwrap_err()
    };
    assert_eq!(reason_of(&|graph| graph.steps.clear()), "no pose was measured from another");
    let reason = reason_of(&|graph| graph.steps.retain(|step| (step.from < 60) == (step.to < 60)));
    assert!(reason.starts_with("not every pose is tied by steps to one that is held"), "{reason}");
    // If all poses are equal, they count as no guess, even if a robust loss makes their cost low.
    let mut graph = in_plane(&walk(0));
    let first = graph.poses[0];
    graph.poses.fill(first);
    let problem = GraphProblem::new(graph, Loss::Cauchy(1e-3)).unwrap();
    assert_eq!(cheaper(&problem, &device()).unwrap().start, Start::Chordal);
}
