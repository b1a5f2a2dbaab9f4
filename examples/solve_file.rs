//! Solves a bundle adjustment or a graph of poses and landmarks from a file of any known format.
//!
//! `cargo run --release --features faer --example solve_file -- sphere2500.g2o.gz` runs
//! Levenberg-Marquardt. The argument `gauss-newton` after the file selects another method. With the
//! argument `conjugate-gradients` the Schur complement of points or landmarks is never formed.
use blockmul::{
    Device,
    solver::{
        least_squares::{Limits, Linear, Options, StepMethod, minimize, report, start},
        problem::{AnyProblem, Loss, Named, read},
    },
};
use std::ops::ControlFlow;

fn main() -> blockmul::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = Options::default();
    let path = match &arguments[..] {
        [path] => path,
        [path, how] if how == "gauss-newton" => {
            options.method = StepMethod::GaussNewton;
            path
        }
        [path, how] if how == "conjugate-gradients" => {
            options.linear = Linear::ConjugateGradients(Limits::default());
            path
        }
        _ => {
            eprintln!("usage: solve_file FILE [gauss-newton | conjugate-gradients]");
            std::process::exit(2);
        }
    };
    let device = Device::auto()?;
    // Some graphs in use have information matrices that reward errors, and some have no initial
    // guess. A guess by dead reckoning can lead into a wrong minimum.
    let (problem, rewarding) = start::weighable(read(path)?);
    if let Some(start::Rewarding { count, losing, .. }) = rewarding {
        println!(
            "{count} information matrices have negative eigenvalues: all are made isotropic, {losing} lose weight"
        );
    }
    let problem = AnyProblem::new(problem, Loss::Squared)?;
    let first = problem.cheaper(&device)?;
    println!("{} on {}, start: {:?}", problem.describe(), device.info().name, first.start);
    println!("{}", report::HEAD);
    let solution = minimize(&problem, first.state, &device, &options, |iteration| {
        println!("{}", report::line(iteration));
        ControlFlow::Continue(())
    })?;
    let [residuals, products, linear] = report::sums(&solution.iterations);
    println!(
        "cost {:.3} from {:.3}, {:?}: {:.0} ms, of which plans {:.0}, residuals {residuals:.0}, products {products:.0}, linear systems {linear:.0}",
        solution.cost, solution.initial_cost, solution.stop, solution.total_ms, solution.plan_ms
    );
    Ok(())
}
