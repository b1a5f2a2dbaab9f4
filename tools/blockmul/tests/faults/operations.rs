//! Operations of the library, which are tried a second time on the same device after a failure.
use blockmul::{
    BlockShape, Cbc, Csc, Device, Matrix, Planned, Product, Result,
    generate::{self, Random, Values},
    matrix::Pattern,
    multiply,
    solver::{Damping, Elimination, NormalEquations},
};
use std::{path::Path, process::ExitCode};

type Operation = fn(&Device) -> Result<Vec<f64>>;

/// Writes the result of operation `name` to the file `output`. If the first attempt fails, a second
/// one follows, on the same device if it could be opened. Exit status 5 if both fail.
pub fn main(name: &str, output: &Path) -> ExitCode {
    let operation: Operation = match name {
        "multiply" => product,
        "banded" => banded,
        "write_with" => written,
        "plan" => planned,
        "schur" => complement,
        _ => panic!("no operation {name}"),
    };
    let mut opened = None;
    for _attempt in 0..2 {
        match attempt(&mut opened, operation) {
            Ok(values) => {
                std::fs::write(output, bytemuck::cast_slice::<_, u8>(&values)).expect("the folder is there");
                return ExitCode::SUCCESS;
            }
            Err(error) => eprintln!("error: {error}"),
        }
        if let Some(device) = &opened {
            settle(device);
        }
    }
    ExitCode::from(5)
}

/// Waits until the device has reported a command that fails late. Faults of other kinds need no
/// waiting.
fn settle(device: &Device) {
    if std::env::var_os("FAULT_MODE").is_some_and(|mode| mode == "late")
        && let Err(error) = device.finish()
    {
        eprintln!("error: {error}");
    }
}

fn attempt(opened: &mut Option<Device>, operation: Operation) -> Result<Vec<f64>> {
    let device = match opened.take() {
        Some(device) => device,
        None => Device::auto()?,
    };
    operation(opened.insert(device))
}

fn product(device: &Device) -> Result<Vec<f64>> {
    let a = device.upload(
        &generate::Uniform { rows: 60, cols: 60, per_column: 4, shape: BlockShape::new(2, 2)?, ..Default::default() }
            .matrix()?,
    )?;
    Ok(multiply(&a, &a)?.download()?.values().to_vec())
}

fn banded(device: &Device) -> Result<Vec<f64>> {
    let a = Csc::from_cbc(generate::Uniform { rows: 1500, cols: 1500, per_column: 6, ..Default::default() }.matrix()?)?;
    let a = device.upload(&a)?;
    let (c, report) = Product::of(&a, &a).memory_limit(640 << 10).run_to_host()?;
    assert!(report.bands > 1, "the limit makes bands");
    Ok(c.values().to_vec())
}

fn written(device: &Device) -> Result<Vec<f64>> {
    let mut sum = device.zero_vector::<f64>(1000)?;
    sum.write_with(|values| values.iter_mut().enumerate().for_each(|(i, value)| *value = i as f64))?;
    sum.axpy(2.0, &device.upload_vector(&[1.0; 1000])?)?;
    sum.download()
}

/// Executes a plan again after a failed execution.
fn planned(device: &Device) -> Result<Vec<f64>> {
    let a = device.upload(
        &generate::Uniform { rows: 60, cols: 60, per_column: 4, shape: BlockShape::new(2, 2)?, ..Default::default() }
            .matrix()?,
    )?;
    let plan = Product::of(&a, &a).plan()?;
    let mut c = plan.output()?;
    if plan.execute((&a, &a), &mut c).and_then(|_| c.download()).is_err() {
        settle(device);
        plan.execute((&a, &a), &mut c)?;
    }
    Ok(c.download()?.values().to_vec())
}

/// A matrix of `n` blocks of `side` rows on the diagonal, each `value` times the identity.
pub fn diagonal(n: usize, side: usize, value: f64) -> Result<Cbc<f64>> {
    let pattern = Pattern::new(n, n, (0..=n as u64).collect(), (0..n as u32).collect())?;
    let block = (0..side * side).map(|i| if i.is_multiple_of(side + 1) { value } else { 0.0 });
    let values = std::iter::repeat_n(block, n).flatten().collect();
    Cbc::new(pattern, BlockShape::new(side, side)?, values)
}

/// Computes S, its right-hand side, and the points for a random x_c, with 6 cameras and 60 points.
fn complement(device: &Device) -> Result<Vec<f64>> {
    let (cameras, points) = (6, 60);
    let (u, v) = (device.upload(&diagonal(cameras, 9, 100.0)?)?, device.upload(&diagonal(points, 3, 10.0)?)?);
    let w = device.upload(
        &generate::Uniform {
            rows: cameras,
            cols: points,
            per_column: 3,
            shape: BlockShape::new(9, 3)?,
            ..Default::default()
        }
        .matrix()?,
    )?;
    let mut random = Random::new(1);
    let mut vector = |len| device.upload_vector(&(0..len).map(|_| random.unit()).collect::<Vec<f64>>());
    let (b_c, b_p, x_c) = (vector(9 * cameras)?, vector(3 * points)?, vector(9 * cameras)?);
    let plan = Elimination::formed(&u.pattern(), &w.pattern(), &v.pattern())?;
    let mut reduced = plan.output()?;
    let damping = Damping::Marquardt(1e-3);
    plan.execute(NormalEquations { u: &u, w: &w, v: &v, b_c: &b_c, b_p: &b_p, damping, floors: None }, &mut reduced)?;
    let mut x_p = device.zero_vector(3 * points)?;
    plan.back_substitute(&reduced, &x_c, &mut x_p)?;
    Ok([reduced.s()?.download()?.values(), &reduced.rhs()?.download()?, &x_p.download()?].concat())
}
