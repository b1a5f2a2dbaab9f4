//! Where a product's time goes: for every stage of C = A·A (A·Aᵀ where A is not square) the median of its times, and what that is of the
//! time in which a copy would move the bytes the stage has to move.
//!
//! ```text
//! cargo bench --bench stages -- [--device NAME] [--element f32] [A.bcsr W.bcsr:6x3 ...]
//! ```
//!
//! Every result is compared with the reference, bit for bit, before it is timed. `blockmul bench --stages` is the same with a choice of
//! matrices, and writes JSON.
#[path = "common/files.rs"]
mod files;
#[path = "common/median.rs"]
mod median;

use blockmul::{BlockShape, Bsr, Device, Element, Product, generate, reference};
use median::median;

const ROUNDS: usize = 11;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut paths, mut wanted, mut element) = (Vec::new(), "auto".to_owned(), "f64".to_owned());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--device" => wanted = args.next().ok_or("--device needs a name")?,
            "--element" => element = args.next().ok_or("--element needs a name")?,
            "--bench" => {}
            _ => paths.push(arg),
        }
    }
    let device = Device::select(&wanted)?;
    let copy = device.copy_bandwidth()?;
    println!(
        "{}, {element}, medians of {ROUNDS}, ms (times what a copy of {:.0} GB/s would take)",
        device.info().name,
        copy / 1e9
    );
    let mut matrices = Vec::new();
    for path in &paths {
        matrices.push(files::named(path)?);
    }
    if paths.is_empty() {
        for side in [1, 3, 6] {
            let (shape, values) = (BlockShape::new(side, side)?, generate::Values::Real);
            let uniform = generate::uniform(16_000, 16_000, 8, shape, values, 1)?;
            let power_law = generate::power_law(4096, 32_768, shape, values, 1)?;
            matrices.push((format!("uniform {side}x{side}"), Bsr::from_transpose(uniform)));
            matrices.push((format!("power law {side}x{side}"), Bsr::from_transpose(power_law)));
        }
    }
    for (name, a) in matrices {
        match element.as_str() {
            "f32" => measure(&device, copy, &name, &Bsr::from_transpose(a.into_transpose().cast::<f32>()))?,
            _ => measure(&device, copy, &name, &a)?,
        }
    }
    Ok(())
}

fn measure<T: Element>(device: &Device, copy: f64, name: &str, a: &Bsr<T>) -> blockmul::Result<()> {
    let square = a.nrows() == a.ncols();
    let b = if square { a.clone() } else { Bsr::from_transpose(a.clone().into_transpose().transpose()) };
    let (da, db) = (device.upload(a)?, device.upload(&b)?);
    let (c, want) = (blockmul::multiply(&da, &db)?.download()?, reference::multiply(a, &b)?);
    let bits = |matrix: &Bsr<T>| bytemuck::cast_slice::<T, u8>(matrix.values()).to_vec();
    assert!(c == want && bits(&c) == bits(&want), "{name}: the product is not the reference's");

    let mut reports = Vec::new();
    for _ in 0..ROUNDS {
        reports.push(Product::of(&da, &db).run_with_report()?.1);
    }
    let total = median(reports.iter().map(|report| report.total_ms).collect());
    print!("{name:<14} {total:>8.3}, {} launches:", reports[0].launches);
    for (number, stage) in reports[0].stages.iter().enumerate() {
        let ms = median(reports.iter().map(|report| report.stages[number].ms.unwrap_or(f64::NAN)).collect());
        let floor = stage.bytes.unwrap_or(0) as f64 / copy * 1e3;
        print!("  {} {ms:.3} ({:.1})", stage.name, ms / floor);
    }
    println!();
    Ok(())
}
