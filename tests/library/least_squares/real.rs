//! Problems in use, and what they are known to come to.
use super::*;

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

/// Half way a point runs through a plateau, where steps promise more than they keep; beyond it is a tenth of a thousandth to gain.
#[test]
fn a_robust_loss_ends_behind_its_plateau_with_few_steps_refused() {
    let Some(path) = real("bal/problem-49-7776-pre.txt.gz") else { return };
    let Problem::BundleAdjustment(adjustment) = problem::read(path).unwrap() else { panic!("a bundle adjustment") };
    let problem = BundleProblem::new(adjustment, Loss::Cauchy(1.0)).unwrap();
    let solution = solve(&problem, &Options::default());
    let refused = solution.iterations.iter().filter(|it| !it.taken).count();
    assert_eq!(solution.stop, Stop::Converged);
    assert!(solution.cost <= 4097.343 && refused <= 5, "{} {refused}", solution.cost);
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
