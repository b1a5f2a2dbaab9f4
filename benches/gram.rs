//! Executions of the normal equations of a generated bundle adjustment, J = [J_camera | J_point]: JᵀJ, and JᵀWJ with weights of every kind.
//!
//! ```text
//! cargo bench --bench gram -- [--device NAME] [--cameras N] [--points N] [--views N] [--no-reference]
//! ```
//!
//! Every result is compared with the reference, bit for bit, before it is timed.
#[path = "common/median.rs"]
mod median;

use blockmul::{
    Cbc, Device, Part, Planned, Product, generate,
    groups::{BlockGroups, DeviceGroups},
    product::{GramParts, Inputs, Weights},
    reference,
};
use median::median;
use std::time::Instant;

const ROUNDS: usize = 11;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut wanted, mut sizes, mut verify) = ("auto".to_owned(), [200, 20_000, 5], true);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--device" => wanted = args.next().ok_or("--device needs a name")?,
            "--cameras" => sizes[0] = args.next().ok_or("--cameras needs a number")?.parse()?,
            "--points" => sizes[1] = args.next().ok_or("--points needs a number")?.parse()?,
            "--views" => sizes[2] = args.next().ok_or("--views needs a number")?.parse()?,
            "--no-reference" => verify = false,
            _ => {}
        }
    }
    let device = Device::select(&wanted)?;
    let [cameras, points, views] = sizes;
    println!(
        "{}, {cameras} cameras, {points} points, {views} views each, f64, medians of {ROUNDS}",
        device.info().name
    );
    println!("{:<12} {:>9} {:>9} {:>9} {:>9} {:>9}", "weights", "products", "blocks", "plan ms", "ms", "Gflop/s");
    let host = generate::bundle_adjustment_jacobian(cameras, points, views, 9, Default::default(), 1)?;
    let j = device.upload_groups(&host)?;
    let parts = GramParts { diagonal: Part::Lower, between: Part::Upper };

    let start = Instant::now();
    let plan = Product::gram(&j).part(parts).plan()?;
    device.finish()?;
    let planned = start.elapsed().as_secs_f64() * 1e3;
    let mut h = plan.output()?;
    plan.execute(&j, &mut h)?;
    if verify {
        check("none", &h, &reference::gram_groups(&host, parts)?)?;
    }
    let ms = time(&device, || plan.execute(&j, &mut h).map(drop))?;
    tell("none", plan.cost().products, h.nnz(), planned, ms, plan.cost().flops);

    let rows = host.row_groups()[0].blocks;
    let numbers = |n: usize| -> Vec<f64> { (0..n).map(|i| 0.5 + (i % 7) as f64 / 10.0).collect() };
    let (losses, residuals) = (numbers(rows), numbers(2 * rows));
    let diagonal = blockmul::matrix::Pattern::new(rows, rows, (0..=rows as u64).collect(), (0..rows as u32).collect())?;
    let information = Cbc::new(diagonal, blockmul::BlockShape::new(2, 2)?, numbers(4 * rows))?;
    let on_device = device.upload(&information)?;
    let (of_blocks, of_rows) = (device.upload_vector(&losses)?, device.upload_vector(&residuals)?);
    for (name, weights, of_host) in [
        ("residuals", Weights::Rows(&of_rows), Weights::Rows(&residuals[..])),
        ("blocks", Weights::BlockRows(&of_blocks), Weights::BlockRows(&losses[..])),
        ("information", Weights::Information(&on_device), Weights::Information(&information)),
        (
            "scaled",
            Weights::Scaled { information: &on_device, weights: &of_blocks },
            Weights::Scaled { information: &information, weights: &losses[..] },
        ),
    ] {
        let weights = [weights];
        let start = Instant::now();
        let weighted = Product::gram(&j).weighted(&weights).part(parts).plan()?;
        device.finish()?;
        let planned = start.elapsed().as_secs_f64() * 1e3;
        let inputs = || Inputs::of(&j).weights(&weights[..]);
        weighted.execute(inputs(), &mut h)?;
        if verify {
            check(name, &h, &reference::gram_groups_weighted(&host, &[of_host], parts)?)?;
        }
        let ms = time(&device, || weighted.execute(inputs(), &mut h).map(drop))?;
        tell(name, weighted.cost().products, h.nnz(), planned, ms, weighted.cost().flops);
    }
    Ok(())
}

fn check(name: &str, found: &DeviceGroups<Cbc<f64>>, want: &BlockGroups<Cbc<f64>>) -> blockmul::Result<()> {
    let found = found.download()?;
    let bits = |m: &BlockGroups<Cbc<f64>>| -> Vec<u64> {
        m.clone().into_cells().iter().flatten().flat_map(|m| m.values()).map(|x| x.to_bits()).collect()
    };
    assert!(found == *want && bits(&found) == bits(want), "{name}: not the reference's");
    Ok(())
}

fn time(device: &Device, mut execute: impl FnMut() -> blockmul::Result<()>) -> blockmul::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        device.finish()?;
        let start = Instant::now();
        execute()?;
        device.finish()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}

fn tell(name: &str, products: u64, blocks: usize, planned: f64, ms: f64, flops: u64) {
    println!("{name:<12} {products:>9} {blocks:>9} {planned:>9.1} {ms:>9.3} {:>9.2}", flops as f64 / ms / 1e6);
}
