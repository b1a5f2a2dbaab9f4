//! Graphs whose dead reckoning leads into a wrong minimum, and starts that do not.
use super::*;

/// A walk, the lowest χ² found from the file's guess, the chordal start and 20 perturbed starts (`tools/minima`), and where the file's guess ends.
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
    Trap { shape: Shape::Plane, poses: 600, closures: 300, noise: 0.4, seed: 3, best: 948.6370, from_file: 5317.72 },
    Trap { shape: Shape::Plane, poses: 600, closures: 300, noise: 0.4, seed: 5, best: 920.2553, from_file: 13114.22 },
    Trap { shape: Shape::Torus, poses: 600, closures: 600, noise: 0.5, seed: 1, best: 3569.6087, from_file: 4720.22 },
    Trap { shape: Shape::Torus, poses: 600, closures: 600, noise: 0.5, seed: 3, best: 3657.8015, from_file: 4942.44 },
    Trap { shape: Shape::Sphere, poses: 800, closures: 300, noise: 0.6, seed: 3, best: 1878.0184, from_file: 3299.25 },
    Trap { shape: Shape::Sphere, poses: 800, closures: 400, noise: 0.7, seed: 1, best: 2369.7251, from_file: 3582.41 },
];

fn is_escaped<P: Manifold>(graph: PoseGraph<P>, trap: &Trap) {
    let Trap { shape, seed, best, from_file, .. } = *trap;
    let problem = GraphProblem::new(graph, Loss::Squared).unwrap();
    let chosen = cheaper(&problem, &device()).unwrap();
    let chordal = chosen.chordal_cost.unwrap();
    assert_eq!(chosen.start, Start::Chordal, "{shape:?} {seed}");
    assert!(from_file > 1.1 * 2.0 * chordal, "{shape:?} {seed} is no trap: {chordal}");
    assert!(chordal < chosen.file_cost && (problem.cost(&chosen.state) - chordal).abs() <= 1e-12 * chordal);
    let solution = minimize(&problem, chosen.state, &device(), &Options::default(), |_| {}).unwrap();
    assert_eq!(solution.stop, Stop::Converged);
    // A tolerance of 1e-6 a step leaves less than ten times as much.
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
    // The truth as the file's guess, beside closures that are far off: relaxation spreads them over all poses, a robust loss does not.
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
    // Poses that say nothing are no guess, however cheap a robust loss makes them.
    let mut graph = in_plane(&walk(0));
    let first = graph.poses[0];
    graph.poses.fill(first);
    let problem = GraphProblem::new(graph, Loss::Cauchy(1e-3)).unwrap();
    assert_eq!(cheaper(&problem, &device()).unwrap().start, Start::Chordal);
}
