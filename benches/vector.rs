//! Products with vectors, norms and dot products: time of one among many enqueued together, and the bytes that pass.
//!
//! ```text
//! cargo bench --bench vector -- [--device NAME] [--element f32] [--elements N]
//! ```
//!
//! Matrices of about N stored elements (16 million): uniform ones, scalar and in blocks; one whose first row and column are dense; a column of
//! blocks for each camera of a bundle adjustment. Every result is compared with the reference, bit for bit, before it is timed. Bytes are those
//! of the values, of 4 (or 8, across) of index for each entry, of x and of y, each counted once.
use blockmul::{
    BlockShape, Cbc, Device, DeviceVector, Element, Planned, Result,
    element::Field,
    generate,
    plan::{Apply, Norms},
    reference,
};
use nalgebra::DMatrix;
use std::time::Instant;

const ROUNDS: usize = 7;
const TOGETHER: usize = 20;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (mut wanted, mut element, mut elements) = ("auto".to_owned(), "f64".to_owned(), 16_000_000);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--device" => wanted = args.next().ok_or("--device needs a name")?,
            "--element" => element = args.next().ok_or("--element needs a name")?,
            "--elements" => elements = args.next().ok_or("--elements needs a number")?.parse()?,
            _ => {}
        }
    }
    let device = Device::select(&wanted)?;
    println!("{}, {element}, medians of {ROUNDS} of {TOGETHER} together", device.info().name);
    println!("{:<18} {:<12} {:>10} {:>10} {:>9}", "matrix", "operation", "us", "MB", "GB/s");
    for (name, a) in matrices(elements)? {
        match element.as_str() {
            "f32" => measure(&device, &name, &a.cast::<f32>())?,
            _ => measure(&device, &name, &a)?,
        }
    }
    match element.as_str() {
        "f32" => measure_dot::<f32>(&device, elements)?,
        _ => measure_dot::<f64>(&device, elements)?,
    }
    Ok(())
}

fn matrices(elements: usize) -> Result<Vec<(String, Cbc<f64>)>> {
    let mut matrices = Vec::new();
    for (rows, cols) in [(1, 1), (2, 3), (3, 3), (6, 6), (9, 9), (16, 16), (32, 32)] {
        let n = (elements / (8 * rows * cols)).max(8);
        let a = generate::uniform(n, n, 8, BlockShape::new(rows, cols)?, generate::Values::Real, 1)?;
        matrices.push((format!("uniform {rows}x{cols}"), a));
    }
    for side in [1, 6] {
        let n = elements / (3 * side * side);
        let places = (1..n).flat_map(|k| [(0, k), (k, 0), (k, k)]);
        let block = |k: usize| DMatrix::from_fn(side, side, |i, j| ((k + i + 2 * j) % 17) as f64 * 0.1 - 0.8);
        let a = Cbc::from_triplets(
            n,
            n,
            BlockShape::new(side, side)?,
            places.enumerate().map(|(k, (i, j))| (i, j, block(k))),
        )?;
        matrices.push((format!("arrow {side}x{side}"), a));
    }
    let points = elements / 72;
    let j = generate::bundle_adjustment(points / 500 + 8, points, 4, BlockShape::new(9, 2)?, Default::default(), 1)?;
    matrices.push(("cameras 2x9".into(), j.transpose()));
    Ok(matrices)
}

/// Microseconds of one of many that are enqueued together.
fn time(device: &Device, mut enqueue: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        device.finish()?;
        let start = Instant::now();
        for _ in 0..TOGETHER {
            enqueue()?;
        }
        device.finish()?;
        times.push(start.elapsed().as_secs_f64() * 1e6 / TOGETHER as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn row(matrix: &str, operation: &str, us: f64, bytes: usize) {
    println!("{matrix:<18} {operation:<12} {us:>10.1} {:>10.1} {:>9.1}", bytes as f64 / 1e6, bytes as f64 / us / 1e3);
}

fn vector<T: Element>(n: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64((i * 37 % 1001) as f64 * 0.002 - 1.0)).collect()
}

fn same<T: Element>(found: &DeviceVector<T>, want: &[T], name: &str) -> Result<()> {
    let same = bytemuck::cast_slice::<T, u8>(&found.download()?) == bytemuck::cast_slice::<T, u8>(want);
    assert!(same, "{name}: not the reference's bits");
    Ok(())
}

fn measure<T: Field>(device: &Device, name: &str, a: &Cbc<T>) -> Result<()> {
    let da = device.upload(a)?;
    let (rows, cols) = (a.scalar_rows(), a.scalar_cols());
    let bytes = |index: usize, vectors: usize| a.nnz() * index + (a.values().len() + vectors) * size_of::<T>();
    for transposed in [false, true] {
        let (plan, x, mut want) = match transposed {
            false => (Apply::<Cbc<T>>::new(&da.pattern())?, vector::<T>(cols), vec![T::from_f64(0.0); rows]),
            true => (Apply::transposed(&da.pattern())?, vector::<T>(rows), vec![T::from_f64(0.0); cols]),
        };
        let (dx, mut y) = (device.upload_vector(&x)?, plan.output()?);
        plan.execute((&da, &dx), &mut y)?;
        match transposed {
            false => reference::multiply_vector(1.0, a, &x, 0.0, &mut want)?,
            true => reference::multiply_vector_transposed(1.0, a, &x, 0.0, &mut want)?,
        }
        same(&y, &want, name)?;
        let us = time(device, || plan.execute((&da, &dx), &mut y).map(drop))?;
        let (operation, index) = if transposed { ("transposed", 4) } else { ("multiply", 8) };
        row(name, operation, us, bytes(index, rows + cols));
    }
    let norms = Norms::<Cbc<T>>::columns(&da.pattern())?;
    let mut found = norms.output()?;
    norms.execute(&da, &mut found)?;
    same(&found, &reference::column_norms(a), name)?;
    let us = time(device, || norms.execute(&da, &mut found).map(drop))?;
    row(name, "norms", us, bytes(0, cols));
    let ones = device.upload_vector(&vec![T::from_f64(1.0); cols])?;
    let mut scaled = da;
    let us = time(device, || scaled.scale_columns(&ones))?;
    row(name, "scale", us, bytes(0, a.values().len() + cols));
    Ok(())
}

fn measure_dot<T: Field>(device: &Device, n: usize) -> Result<()> {
    let (x, y) = (vector::<T>(n), vector::<T>(n));
    let (dx, mut dy) = (device.upload_vector(&x)?, device.upload_vector(&y)?);
    assert_eq!(dx.dot(&dy)?, reference::dot(&x, &y)?);
    let us = time(device, || dx.dot(&dy).map(|_| ()))?;
    row("vectors", "dot", us, 2 * n * size_of::<T>());
    let us = time(device, || dy.axpy(1e-3, &dx))?;
    row("vectors", "axpy", us, 3 * n * size_of::<T>());
    Ok(())
}
