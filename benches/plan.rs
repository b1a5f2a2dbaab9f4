//! Executions of plans beside whole products: C = A·A, or A·Aᵀ where A is not square.
//!
//! ```text
//! cargo bench --bench plan -- [--device NAME] [--element f32] [--no-reference] A.bcsr [W.bcsr:6x3 ...]
//! ```
//!
//! Every result is compared with the reference, bit for bit, before it is timed. Without files, uniform patterns of about a million
//! block products.
#[path = "common/files.rs"]
mod files;
#[path = "common/median.rs"]
mod median;

use blockmul::{BlockShape, Bsr, Device, Element, Planned, Product, generate, reference};
use median::median;
use std::time::Instant;

const ROUNDS: usize = 11;

struct Options {
    device: Device,
    reference: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut files, mut wanted, mut element, mut reference) = (Vec::new(), "auto".to_owned(), "f64".to_owned(), true);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--device" => wanted = args.next().ok_or("--device needs a name")?,
            "--element" => element = args.next().ok_or("--element needs a name")?,
            "--no-reference" => reference = false,
            "--bench" => {}
            _ => files.push(arg),
        }
    }
    let options = Options { device: Device::select(&wanted)?, reference };
    println!("{}, {element}, medians of {ROUNDS}", options.device.info().name);
    println!(
        "{:<16} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}  verified",
        "matrix", "products", "nnz(C)", "whole ms", "stage5 ms", "plan ms", "device ms", "Gflop/s", "ratio"
    );
    let mut matrices = Vec::new();
    for file in &files {
        matrices.push(files::named(file)?);
    }
    if files.is_empty() {
        for side in [1, 2, 3, 4, 6, 8] {
            let a = generate::uniform(16_000, 16_000, 8, BlockShape::new(side, side)?, generate::Values::Real, 1)?;
            matrices.push((format!("uniform {side}x{side}"), Bsr::from_transpose(a)));
        }
    }
    for (name, a) in matrices {
        match element.as_str() {
            "f32" => measure(&options, &name, &cast::<f32>(a))?,
            _ => measure(&options, &name, &a)?,
        }
    }
    Ok(())
}

fn cast<T: Element>(a: Bsr<f64>) -> Bsr<T> {
    Bsr::from_transpose(a.into_transpose().cast())
}

fn measure<T: Element>(options: &Options, name: &str, a: &Bsr<T>) -> blockmul::Result<()> {
    let square = a.nrows() == a.ncols();
    let b = if square { a.clone() } else { Bsr::from_transpose(a.clone().into_transpose().transpose()) };
    let (da, db) = (options.device.upload(a)?, options.device.upload(&b)?);
    let plan = Product::of(&da, &db).plan()?;
    let mut c = plan.output()?;

    plan.execute((&da, &db), &mut c)?;
    let host = c.download()?;
    let once = blockmul::multiply(&da, &db)?.download()?;
    let bits = |matrix: &Bsr<T>| bytemuck::cast_slice::<T, u8>(matrix.values()).to_vec();
    assert!(host == once && bits(&host) == bits(&once), "{name}: the plan is not the product");
    if options.reference {
        let want = reference::multiply(a, &b)?;
        assert!(host == want && bits(&host) == bits(&want), "{name}: the product is not the reference's");
    }

    let (mut whole, mut stage5, mut executed, mut on_device) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let (product, report) = Product::of(&da, &db).run_with_report()?;
        drop(product);
        whole.push(report.total_ms);
        stage5.push(report.stages[4..].iter().filter_map(|stage| stage.ms).sum::<f64>());
        let start = Instant::now();
        plan.execute((&da, &db), &mut c)?;
        options.device.finish()?;
        executed.push(start.elapsed().as_secs_f64() * 1e3);
        on_device.push(plan.execute_with_report((&da, &db), &mut c)?.stages[0].ms.unwrap_or(f64::NAN));
    }
    let (whole, stage5) = (median(whole), median(stage5));
    let (executed, on_device) = (median(executed), median(on_device));
    println!(
        "{name:<16} {:>9} {:>9} {whole:>9.3} {stage5:>9.3} {executed:>9.3} {on_device:>9.3} {:>9.1} {:>7.3}  {}",
        plan.cost().products,
        c.nnz(),
        plan.cost().flops as f64 / executed / 1e6,
        on_device / stage5,
        if options.reference { "reference" } else { "product" }
    );
    Ok(())
}
