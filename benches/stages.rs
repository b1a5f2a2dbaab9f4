//! Where a product's time goes: the stages of C = A·A (A·Aᵀ where A is not square), each a median.
#[path = "common/files.rs"]
mod files;
#[path = "common/median.rs"]
mod median;

use blockmul::{BlockShape, Bsr, Device, Element, Spgemm, reference};
use median::median;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut inputs, mut wanted, mut element, mut verify) = (Vec::new(), "auto".to_owned(), "f64".to_owned(), true);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--device" => wanted = args.next().ok_or("--device needs a name")?,
            "--element" => element = args.next().ok_or("--element needs a name")?,
            "--no-reference" => verify = false,
            "--bench" => {}
            _ => inputs.push(arg),
        }
    }
    let device = Device::select(&wanted)?;
    println!("{}, {element}", device.info().name);
    for file in &inputs {
        let (path, shape) = file.split_once(':').map_or((file.as_str(), None), |(path, shape)| (path, Some(shape)));
        let shape = shape.map(|shape| {
            let (rows, cols) = shape.split_once('x').unwrap_or((shape, shape));
            BlockShape::new(rows.parse().unwrap_or(0), cols.parse().unwrap_or(0))
        });
        let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let a = files::read_bcsr(Path::new(path), shape.transpose()?)?;
        match element.as_str() {
            "f32" => measure(&device, &name, &Bsr::from_transpose(a.into_transpose().cast::<f32>()), verify)?,
            _ => measure(&device, &name, &a, verify)?,
        }
    }
    Ok(())
}

fn measure<T: Element>(device: &Device, name: &str, a: &Bsr<T>, verify: bool) -> blockmul::Result<()> {
    let b =
        if a.nrows() == a.ncols() { a.clone() } else { Bsr::from_transpose(a.clone().into_transpose().transpose()) };
    let (da, db) = (device.upload(a)?, device.upload(&b)?);
    let mut ok = "";
    let c = blockmul::multiply(&da, &db)?;
    if verify {
        let host = c.download()?;
        let want = reference::multiply(a, &b)?;
        let bits = |m: &Bsr<T>| bytemuck::cast_slice::<T, u8>(m.values()).to_vec();
        ok = if host == want && bits(&host) == bits(&want) { "same bits" } else { "WRONG" };
    }
    drop(c);
    let (mut total, mut stages) = (vec![], vec![vec![]; 6]);
    for _ in 0..11 {
        let (_, report) = Spgemm::new().multiply_with_report(&da, &db)?;
        total.push(report.total_ms);
        for (times, stage) in stages.iter_mut().zip(&report.stages) {
            times.push(stage.ms.unwrap_or(f64::NAN));
        }
    }
    let stages: Vec<f64> = stages.into_iter().map(median).collect();
    let text: Vec<String> = stages.iter().map(|t| format!("{t:>7.3}")).collect();
    println!(
        "{name:<14} whole {:>7.3}  stages {} sum {:>7.3}  {ok}",
        median(total),
        text.join(" "),
        stages.iter().sum::<f64>()
    );
    Ok(())
}
