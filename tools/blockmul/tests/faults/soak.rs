//! The memory of one process during 2,000 products, plans and Schur complements. The memory must
//! not grow after the first tenth.
use super::{operations::diagonal, workshop::Workshop};
use blockmul::{
    BlockShape, Cbc, Csc, Device, Matrix, Planned, Product,
    generate::{self, Random, Values},
    multiply, reference,
    solver::{Damping, Elimination, NormalEquations},
};
use std::{
    error::Error,
    fs,
    path::Path,
    process::{Command, ExitCode},
    time::Instant,
};

const ROUNDS: usize = 2000;
/// One of this many results is compared with the reference.
const VERIFIED: usize = 10;
/// Largest number of block columns.
const LARGEST: u64 = 400;
/// Bytes by which the resident memory may grow after the first tenth, because the host's allocator
/// keeps some freed memory. A leak of 5 KiB a round would be 9 MiB.
const RESIDENT: u64 = 8 << 20;
/// Growth of the buffers' bytes, in per cent, that is allowed after the first tenth, because
/// numbers of entries differ from round to round.
const PER_CENT: u64 = 20;

/// The objects and the memory in use, counted by `opencl.c` and the system.
#[derive(Debug, Clone, Copy)]
struct Alive {
    device_bytes: u64,
    objects: u64,
    resident: u64,
}

impl Alive {
    fn now(file: &Path) -> Result<Self, Box<dyn Error>> {
        let counts = fs::read(file)?;
        let number = |at: usize| Ok::<_, Box<dyn Error>>(u64::from_ne_bytes(counts[at..at + 8].try_into()?));
        let status = fs::read_to_string("/proc/self/status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(Self { device_bytes: number(0)?, objects: number(8)?, resident: kib << 10 })
    }
}

/// Starts this program again with `opencl.c`. Returns whether memory did not grow.
pub fn run() -> Result<bool, Box<dyn Error>> {
    let workshop = Workshop::new()?;
    let mut command = Command::new(std::env::current_exe()?);
    workshop.prepare(&mut command);
    let alive = workshop.path("alive");
    command.env("FAULT_ALIVE", &alive).env("BLOCKMUL_CACHE", "off").arg("soaking").arg(alive);
    Ok(command.status()?.success())
}

/// Runs all rounds and prints a table of the memory. Exit status 1 if memory grows or a result is
/// wrong.
pub fn main(alive: &Path) -> ExitCode {
    match soak(alive) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

fn soak(file: &Path) -> Result<(), Box<dyn Error>> {
    let (start, device, mut random) = (Instant::now(), Device::auto()?, Random::new(1));
    // Between matrices the device holds only the memory that it keeps for reuse, and after `trim`
    // none.
    let mut kept = None;
    let mut most_after = 0;
    println!("{:>6}{:>14}{:>10}{:>15}{:>9}", "round", "device KiB", "objects", "resident MiB", "seconds");
    for round in 1..=ROUNDS {
        one(&device, &mut random, round % VERIFIED == 1).map_err(|error| format!("round {round}: {error}"))?;
        let now = Alive::now(file)?;
        if round % (ROUNDS / 20) == 0 {
            let (device_kib, resident) = (now.device_bytes >> 10, now.resident as f64 / f64::from(1 << 20));
            let seconds = start.elapsed().as_secs_f64();
            println!("{round:>6}{device_kib:>14}{:>10}{resident:>15.1}{seconds:>9.1}", now.objects);
        }
        if round == ROUNDS / 10 {
            device.trim();
            kept = Some((now, Alive::now(file)?));
        }
        most_after = most_after.max(if kept.is_some() { now.device_bytes } else { 0 });
    }
    let (full, trimmed) = kept.ok_or("no rounds")?;
    let last = Alive::now(file)?;
    device.trim();
    let end = Alive::now(file)?;
    println!("after a tenth {full:?}\ntrimmed       {trimmed:?}\nat the end    {last:?}\ntrimmed       {end:?}");
    let checks = [
        ("buffers that are kept", most_after <= full.device_bytes + full.device_bytes * PER_CENT / 100),
        ("buffers after a trim", end.device_bytes == trimmed.device_bytes),
        ("OpenCL objects after a trim", end.objects == trimmed.objects),
        ("resident memory", last.resident <= full.resident + RESIDENT),
    ];
    let grown: Vec<_> = checks.iter().filter(|(_, flat)| !flat).map(|(what, _)| *what).collect();
    if grown.is_empty() { Ok(()) } else { Err(format!("these grow: {}", grown.join(", ")).into()) }
}

/// A product, a plan or a Schur complement of random size.
fn one(device: &Device, random: &mut Random, verified: bool) -> Result<(), Box<dyn Error>> {
    let size = 4 + random.below(LARGEST - 3) as usize;
    let (per_column, seed) = (1 + random.below(5) as usize, random.bits());
    let blocks = || {
        generate::Uniform {
            rows: size,
            cols: size,
            per_column,
            shape: BlockShape::new(2, 2)?,
            seed,
            ..Default::default()
        }
        .matrix()
    };
    let same = |right: bool| if right { Ok(()) } else { Err("not the reference's result".to_owned()) };
    match random.below(4) {
        0 => {
            let a = blocks()?;
            let on_device = device.upload(&a)?;
            let c = multiply(&on_device, &on_device)?.download()?;
            same(!verified || c == reference::multiply(&a, &a)?)?;
        }
        1 => {
            let a = Csc::from_cbc(
                generate::Uniform { rows: size, cols: size, per_column, seed, ..Default::default() }.matrix()?,
            )?;
            let on_device = device.upload(&a)?;
            let c = multiply(&on_device, &on_device)?.download()?;
            same(!verified || c == reference::multiply(&a, &a)?)?;
        }
        2 => {
            let a = blocks()?;
            let on_device = device.upload(&a)?;
            let plan = Product::of(&on_device, &on_device).plan()?;
            let mut c = plan.output()?;
            plan.execute((&on_device, &on_device), &mut c)?;
            plan.execute((&on_device, &on_device), &mut c)?;
            same(!verified || c.download()? == reference::multiply(&a, &a)?)?;
        }
        _ => complement(device, random, size, verified)?,
    }
    Ok(())
}

/// Computes S = U - W·V⁻¹·Wᵀ with U = 100·I, V = 4·I and a W of integers. S is exact, so 100·I -
/// W·Wᵀ/4 by the reference has the same bits.
fn complement(device: &Device, random: &mut Random, points: usize, verified: bool) -> Result<(), Box<dyn Error>> {
    let cameras = 4 + random.below(4) as usize;
    let w: Cbc<f64> = generate::Uniform {
        rows: cameras,
        cols: points,
        per_column: 3,
        shape: BlockShape::new(6, 3)?,
        values: Values::Integer,
        seed: random.bits(),
    }
    .matrix()?;
    let (u, v) = (device.upload(&diagonal(cameras, 6, 100.0)?)?, device.upload(&diagonal(points, 3, 4.0)?)?);
    let on_device = device.upload(&w)?;
    let (b_c, b_p) = (device.zero_vector(6 * cameras)?, device.zero_vector(3 * points)?);
    let plan = Elimination::formed(&u.pattern(), &on_device.pattern(), &v.pattern())?;
    let mut reduced = plan.output()?;
    let damping = Damping::Marquardt(0.0);
    plan.execute(
        NormalEquations { u: &u, w: &on_device, v: &v, b_c: &b_c, b_p: &b_p, damping, floors: None },
        &mut reduced,
    )?;
    let s = reduced.s()?.download()?;
    if verified {
        let square = reference::multiply(&w, &w.transpose())?.to_dense();
        let expected = |i: usize, j: usize| if i == j { 100.0 } else { 0.0 } - square[(i, j)] / 4.0;
        let s = s.to_dense();
        let lower = (0..6 * cameras).flat_map(|j| (j / 6 * 6..6 * cameras).map(move |i| (i, j)));
        if lower.into_iter().any(|(i, j)| s[(i, j)] != expected(i, j)) {
            return Err("not the reference's Schur complement".into());
        }
    }
    Ok(())
}
