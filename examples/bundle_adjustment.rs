//! Bundle adjustment of a file in the BAL format.
//!
//! `cargo run --release --features faer --example bundle_adjustment -- problem.txt.gz` forms and
//! factors the Schur complement. With `conjugate-gradients` after the file it is never formed.
use blockmul::{
    Device,
    solver::{
        least_squares::{Limits, Linear, Options, minimize, report},
        problem::{BundleProblem, LeastSquares, Loss, bal},
    },
};

fn main() -> blockmul::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, linear) = match &arguments[..] {
        [path] => (path, Linear::Cholesky),
        [path, linear] if linear == "conjugate-gradients" => (path, Linear::ConjugateGradients(Limits::default())),
        _ => {
            eprintln!("usage: bundle_adjustment FILE [conjugate-gradients]");
            std::process::exit(2);
        }
    };
    let options = Options { linear, ..Options::default() };
    let problem = BundleProblem::new(bal::read(path)?, Loss::Squared)?;
    let device = Device::auto()?;
    println!("on {}", device.info().name);
    println!("{}", report::HEAD);
    let solution = minimize(&problem, problem.start(), &device, &options, |iteration| {
        println!("{}", report::line(iteration));
    })?;
    let [residuals, products, linear] = report::sums(&solution.iterations);
    println!(
        "cost {:.2} from {:.2}, {:?}: {:.0} ms, of which plans {:.0}, residuals {residuals:.0}, products {products:.0}, linear systems {linear:.0}",
        solution.cost, solution.initial_cost, solution.stop, solution.total_ms, solution.plan_ms
    );
    Ok(())
}
