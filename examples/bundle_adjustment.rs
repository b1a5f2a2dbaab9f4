//! Bundle adjustment of a file of BAL: `cargo run --release --features faer --example bundle_adjustment -- problem.txt.gz`.
#[allow(dead_code)] // each example uses its part
mod least_squares;

use blockmul::{
    Device,
    problem::{BundleProblem, LeastSquares, Loss, bal},
};
use least_squares::{Options, minimize, report};

fn main() -> blockmul::Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: bundle_adjustment FILE");
        std::process::exit(2);
    };
    let problem = BundleProblem::new(bal::read(path)?, Loss::Squared);
    let device = Device::auto()?;
    println!("on {}", device.info().name);
    println!("{}", report::HEAD);
    let solution = minimize(&problem, problem.start(), &device, &Options::default(), |iteration| {
        println!("{}", report::line(iteration));
    })?;
    let [residuals, products, linear] = report::sums(&solution.iterations);
    println!(
        "cost {:.2} from {:.2}, {:?}: {:.0} ms, of which plans {:.0}, residuals {residuals:.0}, products {products:.0}, linear systems {linear:.0}",
        solution.cost, solution.initial_cost, solution.stop, solution.total_ms, solution.plan_ms
    );
    Ok(())
}
