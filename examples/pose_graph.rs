//! Optimisation of a graph of poses and landmarks in the g2o format.
//!
//! `cargo run --release --features faer --example pose_graph -- sphere2500.g2o.gz` runs
//! Levenberg-Marquardt. With `gauss-newton` after the file it runs Gauss-Newton.
use blockmul::{
    Device,
    solver::{
        least_squares::{Method, Options, minimize, report, start},
        problem::{Graph, GraphProblem, Loss, Manifold, PoseGraph, g2o},
    },
};

fn main() -> blockmul::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, method) = match &arguments[..] {
        [path] => (path, Method::LevenbergMarquardt),
        [path, method] if method == "gauss-newton" => (path, Method::GaussNewton),
        _ => {
            eprintln!("usage: pose_graph FILE [gauss-newton]");
            std::process::exit(2);
        }
    };
    let options = Options { method, ..Options::default() };
    match g2o::read(path)? {
        Graph::Plane(graph) => solve(graph, &options),
        Graph::Space(graph) => solve(graph, &options),
        _ => unreachable!("graphs are in the plane or in space"),
    }
}

fn solve<P: Manifold>(graph: PoseGraph<P>, options: &Options) -> blockmul::Result<()> {
    let device = Device::auto()?;
    println!("on {}", device.info().name);
    // Some files in use have information matrices that reward errors, and some have no initial
    // guess.
    let (graph, rewarding) = start::weighable(graph);
    if let Some(start::Rewarding { count, losing, .. }) = rewarding {
        println!(
            "{count} information matrices have negative eigenvalues: all are made isotropic, {losing} lose weight"
        );
    }
    let problem = GraphProblem::new(graph, Loss::Squared)?;
    // A guess by dead reckoning can lead into a wrong minimum.
    let first = start::cheaper(&problem, &device)?;
    println!("start: {:?}", first.start);
    println!("{}", report::HEAD);
    let solution = minimize(&problem, first.state, &device, options, |iteration| {
        println!("{}", report::line(iteration));
    })?;
    let [residuals, products, linear] = report::sums(&solution.iterations);
    println!(
        "chi2 {:.3} from {:.3}, {:?}: {:.0} ms, of which plans {:.0}, residuals {residuals:.0}, products {products:.0}, linear systems {linear:.0}",
        2.0 * solution.cost,
        2.0 * solution.initial_cost,
        solution.stop,
        solution.total_ms,
        solution.plan_ms
    );
    Ok(())
}
