//! Transposes, permutations, sums and scalars on the device, beside a copy in place (the identity permutation).
//!
//! ```text
//! cargo bench --bench structure -- [--device NAME] [--mib 64]
//! ```
//!
//! Bytes are the values' read and written once, and what the plan reads of structure. Each time is the least of the rounds, a round being
//! a queue of executions.
use blockmul::{
    BlockShape, Cbc, Device, DeviceMatrix, DevicePattern, Part, Planned, Result,
    generate::{self, Random},
    plan::{Add, Permute, Scalars, Transpose},
};
use std::time::Instant;

const ROUNDS: usize = 7;
const QUEUE: usize = 10;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (mut wanted, mut mib) = ("auto".to_owned(), 64);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--device" => wanted = args.next().ok_or("--device needs a name")?,
            "--mib" => mib = args.next().ok_or("--mib needs a number")?.parse()?,
            _ => {}
        }
    }
    let device = Device::select(&wanted)?;
    println!("{}, f64, {mib} MiB of values, least of {ROUNDS}", device.info().name);
    println!("{:<8} {:<12} {:>9} {:>9} {:>9} {:>9}", "blocks", "what", "nnz", "plan ms", "ms", "GB/s");
    for (rows, cols) in [(1, 1), (2, 3), (3, 3), (6, 3), (6, 6), (9, 9), (16, 16), (32, 32)] {
        measure(&device, BlockShape::new(rows, cols)?, mib << 20)?;
    }
    Ok(())
}

fn measure(device: &Device, shape: BlockShape, bytes: usize) -> Result<()> {
    let per_column = 8;
    let n = (bytes / (8 * shape.area() * per_column)).max(per_column);
    let a = generate::uniform(n, n, per_column, shape, generate::Values::Real, 1)?;
    let da = device.upload(&a)?;
    let (identity, shuffled) = ((0..n).collect::<Vec<_>>(), shuffled(n));
    let line = |what: &str, nnz: usize, plan_ms: f64, ms: f64, words: usize| {
        let gb = (16 * nnz * shape.area() + 4 * words * nnz) as f64 / ms / 1e6;
        println!("{:<8} {what:<12} {nnz:>9} {plan_ms:>9.2} {ms:>9.3} {gb:>9.1}", shape.to_string());
    };

    let pattern = da.pattern();
    for (what, order) in [("copy", &identity), ("permute", &shuffled)] {
        let (plan, plan_ms) = planned(device, || Permute::<Cbc<f64>>::new(&pattern, order, order))?;
        let mut c = plan.output()?;
        line(what, da.nnz(), plan_ms, executed(device, || plan.execute(&da, &mut c).map(drop))?, 1);
    }
    let (plan, plan_ms) = planned(device, || Transpose::<Cbc<f64>>::new(&pattern))?;
    let mut at = plan.output()?;
    line("transpose", da.nnz(), plan_ms, executed(device, || plan.execute(&da, &mut at).map(drop))?, 1);
    assert!(at.download()? == a.transpose(), "the transpose");

    let b = device.upload(&generate::uniform(n, n, per_column, shape, generate::Values::Real, 2)?)?;
    let (plan, plan_ms) = planned(device, || Add::<Cbc<f64>>::new(&pattern, &b.pattern()))?;
    let mut c = plan.output()?;
    line("add", c.nnz(), plan_ms, executed(device, || plan.execute([(1.0, &da), (0.5, &b)], &mut c).map(drop))?, 2);

    if shape.rows() == shape.cols() && shape.area() > 1 {
        symmetric(device, shape, bytes, line)?;
    }
    Ok(())
}

/// The lower triangle of a pose graph.
fn symmetric(
    device: &Device,
    shape: BlockShape,
    bytes: usize,
    line: impl Fn(&str, usize, f64, f64, usize),
) -> Result<()> {
    let poses = bytes / (8 * shape.area() * 5);
    let h = generate::pose_graph(poses, poses, shape.rows(), generate::Values::Real, 1)?;
    let lower = h.blocks().filter(|&(row, col, _)| row >= col);
    let lower = lower.map(|(row, col, block)| (row, col, block.into_owned()));
    let dh: DeviceMatrix<_> = device.upload(&Cbc::from_triplets(poses, poses, shape, lower)?)?;
    let (pattern, order): (DevicePattern, _) = (dh.pattern(), shuffled(poses));
    let (plan, plan_ms) = planned(device, || Permute::<Cbc<f64>>::symmetric(&pattern, &order, Part::Lower))?;
    let mut c = plan.output()?;
    line("symmetric", dh.nnz(), plan_ms, executed(device, || plan.execute(&dh, &mut c).map(drop))?, 2);
    let (plan, plan_ms) = planned(device, || Scalars::<Cbc<f64>>::lower(&pattern))?;
    let mut scalars = plan.output()?;
    line("scalars", dh.nnz(), plan_ms, executed(device, || plan.execute(&dh, &mut scalars).map(drop))?, 4);
    Ok(())
}

fn shuffled(n: usize) -> Vec<usize> {
    let (mut order, mut random) = ((0..n).collect::<Vec<_>>(), Random::new(1));
    (1..n).for_each(|i| order.swap(i, random.below(i as u64 + 1) as usize));
    order
}

/// A plan, and the milliseconds it took the second time, when its kernels are compiled.
fn planned<P>(device: &Device, plan: impl Fn() -> Result<P>) -> Result<(P, f64)> {
    plan()?;
    device.finish()?;
    let start = Instant::now();
    let planned = plan()?;
    device.finish()?;
    Ok((planned, start.elapsed().as_secs_f64() * 1e3))
}

fn executed(device: &Device, mut execute: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        device.finish()?;
        let start = Instant::now();
        (0..QUEUE).try_for_each(|_| execute())?;
        device.finish()?;
        least = least.min(start.elapsed().as_secs_f64() * 1e3 / QUEUE as f64);
    }
    Ok(least)
}
