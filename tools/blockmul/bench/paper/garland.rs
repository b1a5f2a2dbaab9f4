//! Garland: Sparse Matrix Computations on Manycore GPU's, 2008. Products with vectors by rows and
//! by a segmented scan (section 3), shortest paths (section 4), and patches of meshes (figure 6).
//! The paper has no times; it has claims, which the tables show.
use super::super::measure::same_bits;
use super::Setting;
use super::report::{Report, counted, shown};
use crate::chart::{Bars, Group, Plot, Series};
use crate::failure::Failure;
use crate::patches::picture::{self, View};
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Planned, Result, Semiring,
    device::DeviceKind,
    generate::{self, Random, Values},
    graph::{Lloyd, Patches, Schedule, ShortestPaths},
    mesh::Mesh,
    plan::{Apply, Format},
    reference,
};
use serde::Serialize;
use std::time::Instant;

/// Seed of all that is generated.
const SEED: u64 = 1;
/// Entries of a row on average.
const PER_ROW: usize = 16;
/// Most entries of a matrix: those of larger products would only take longer.
const MOST_ENTRIES: u64 = 1 << 24;
/// The formats of the paper, a thread for each row and a segmented scan, and what is chosen now.
const FORMATS: [Format; 3] = [Format::Csr, Format::SegmentedScan, Format::Auto];
/// Products that are enqueued together, so that a launch does not count.
const TOGETHER: u32 = 10;
/// Patches of figure 6, and steps.
const PATCHES: u64 = 64;
const STEPS: usize = 20;

/// A time, beside that of the reference on the host.
#[derive(Serialize)]
struct Timed {
    what: String,
    /// The kind of graph, matrix or mesh.
    of: String,
    size: usize,
    verified: bool,
    /// `None` if the result was not the reference's.
    ms: Option<f64>,
    reference_ms: f64,
}

/// Writes the report of the paper's measurements.
pub fn study(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    if !setting.args.inputs.is_empty() || !setting.args.study.peers.is_empty() {
        return Err(Failure::Usage("--paper garland generates its inputs, and takes neither files nor --peers".into()));
    }
    let info = setting.device.info();
    report.say("# Sparse matrices on manycore GPUs, again");
    report.say(&format!(
        "What M. Garland, *Sparse Matrix Computations on Manycore GPU's*, DAC 2008, describes, with blockmul {} on {} \
         ({}). f64; medians of up to {} rounds; operands are on the device; every result is the reference's bit for bit. \
         The reference is serial, on the host, measured once in the same run.",
        env!("CARGO_PKG_VERSION"),
        info.name,
        info.platform,
        setting.bench.patience.rounds
    ));
    products(setting, report)?;
    report.save(setting.folder)?;
    paths(setting, report)?;
    report.save(setting.folder)?;
    patches(setting, report)
}

/// Matrices with as many entries, which are distributed over the rows in different ways.
fn matrices(entries: usize) -> Result<Vec<(&'static str, Cbc<f64>)>> {
    let (scalar, n) = (BlockShape::SCALAR, (entries / PER_ROW).max(PER_ROW));
    let even = generate::uniform(n, n, PER_ROW, scalar, Values::Real, SEED)?;
    let skewed = generate::power_law(n, n * PER_ROW, scalar, Values::Real, SEED)?.try_transpose()?;
    // The first row is full; the other rows share the rest.
    let rest = generate::uniform(n - 1, n, PER_ROW - 1, scalar, Values::Real, SEED)?;
    let mut triplets: Vec<(usize, usize, f64)> = (0..n).map(|col| (0, col, 0.5)).collect();
    for col in 0..n {
        let below = rest.pattern().entries(col);
        triplets.extend(below.map(|entry| (rest.pattern().row_idx()[entry] as usize + 1, col, rest.values()[entry])));
    }
    let one_full = Csc::from_triplets(n, n, triplets)?.to_blocks(scalar)?;
    Ok(vec![("even rows", even), ("rows by a power law", skewed), ("one full row", one_full)])
}

/// Section 3: products with vectors.
fn products(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    report.say("## Section 3: A·x by rows and by a segmented scan");
    let made = setting.kept_result(report, "matrices", matrices(setting.most.min(MOST_ENTRIES) as usize));
    let (mut all, mut groups) = (Vec::new(), Vec::new());
    for (name, a) in made.unwrap_or_default() {
        let mut rates = Vec::new();
        for format in FORMATS {
            setting.bench.messages.step(format!("{name}: {format}"));
            let timed = product(setting, name, &a, format);
            let timed = setting.kept_result(report, name, timed);
            rates.push(timed.as_ref().and_then(|timed| timed.ms.map(|ms| ms * 1e6 / a.nnz() as f64)));
            all.extend(timed);
        }
        groups.push(Group { name: name.into(), numbers: rates });
    }
    let row = |group: &Group| {
        let times = group.numbers.iter().map(|rate| shown(*rate, 4));
        let of = all.iter().find(|timed| timed.of == group.name);
        let reference = of.map(|timed| timed.reference_ms * 1e6 / timed.size as f64);
        [
            vec![group.name.clone(), counted(of.map_or(0.0, |timed| timed.size as f64))],
            times.collect(),
            vec![shown(reference, 4)],
        ]
        .concat()
    };
    let rows: Vec<Vec<String>> = groups.iter().map(row).collect();
    report.say("Nanoseconds for each entry:");
    report.table(&["rows", "entries", "csr", "segmented-scan", "auto", "reference"], &rows);
    let spread = |at: usize| {
        let rates = || groups.iter().filter_map(move |group| group.numbers[at]);
        Some(rates().reduce(f64::max)? / rates().reduce(f64::min)?)
    };
    let [by_rows, scan, auto] = [0, 1, 2].map(|at| shown(spread(at), 2));
    report.say(&format!(
        "The slowest distribution takes {scan} times as long as the fastest by a segmented scan, {by_rows} times with a \
         work-item for each row, {auto} times by auto. The paper: \"the running time of the multiplication will be \
         independent of the distribution of non-zeros across rows\"."
    ));
    let parts = FORMATS.iter().map(|format| format.name().to_owned()).collect();
    let (title, label) = ("A·x by the distribution of entries".into(), "ns for each entry".into());
    let bars = Bars { title, label, parts, groups, stacked: false, log: true };
    report.figure("section-3.png", "A·x for three distributions of as many entries.", bars.encode())?;
    report.wrong += all.iter().filter(|timed| !timed.verified).count();
    report.keep("products", &all);
    Ok(())
}

/// Times A·x in a format.
fn product(setting: &Setting<'_>, name: &str, a: &Cbc<f64>, format: Format) -> Result<Timed> {
    let on_device = setting.device.upload(a)?;
    let packed = Apply::<Cbc<f64>>::with(&on_device.pattern()).format(format).pack(&on_device)?;
    let x: Vec<f64> = (0..a.scalar_cols()).map(|i| (i * 37 % 1001) as f64 * 0.002 - 1.0).collect();
    let (dx, mut y) = (setting.device.upload_vector(&x)?, packed.output()?);
    packed.execute(&dx, &mut y)?;
    let mut want = vec![0.0; packed.y_len()];
    let clock = Instant::now();
    let order = packed.format().order();
    reference::multiply_vector_over(Semiring::PlusTimes, order, false, (1.0, a, &x), (0.0, &mut want))?;
    let reference_ms = clock.elapsed().as_secs_f64() * 1e3;
    let verified = same_bits(&y.download()?, &want);
    let ms = setting.median(verified, || {
        let clock = Instant::now();
        for _ in 0..TOGETHER {
            packed.execute(&dx, &mut y)?;
        }
        setting.device.finish()?;
        Ok(clock.elapsed().as_secs_f64() * 1e3 / f64::from(TOGETHER))
    })?;
    Ok(Timed { what: format.name().into(), of: name.into(), size: a.nnz(), verified, ms, reference_ms })
}

/// Section 4: shortest paths.
fn paths(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    report.say("## Section 4: shortest paths");
    let vertices = (setting.most.min(MOST_ENTRIES) as usize / 6).max(16);
    let side = (vertices as f64).sqrt() as usize;
    let graphs = [
        ("planar", generate::planar(side, side, SEED)),
        ("power law", generate::power_law(vertices, 6 * vertices, BlockShape::SCALAR, Values::Real, SEED)),
    ];
    let mut all = Vec::new();
    for (name, g) in graphs {
        setting.bench.messages.step(format!("paths: {name}"));
        let timed = g.and_then(|g| schedules(setting, name, &g));
        all.extend(setting.kept_result(report, name, timed).into_iter().flatten());
    }
    let row = |timed: &Timed| {
        let faster = timed.ms.map(|ms| timed.reference_ms / ms);
        vec![
            timed.of.clone(),
            counted(timed.size as f64),
            timed.what.clone(),
            shown(timed.ms, 3),
            shown(Some(timed.reference_ms), 3),
            shown(faster, 2),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    report.table(&["graph", "edges", "schedule", "ms", "Dijkstra ms", "times as fast"], &rows);
    report.say(
        "From the first vertex. The paper's algorithm is bellman-ford, a product over min-plus that is repeated until no \
         distance falls; near-far (one work-item, on CPUs) and frontier (all) visit the vertices near the source first.",
    );
    report.wrong += all.iter().filter(|timed| !timed.verified).count();
    report.keep("paths", &all);
    Ok(())
}

/// Times every schedule.
fn schedules(setting: &Setting<'_>, name: &str, g: &Cbc<f64>) -> Result<Vec<Timed>> {
    let lengths = g.values().iter().map(|value| value.abs()).collect();
    let g = Cbc::new(g.pattern().clone(), BlockShape::SCALAR, lengths)?;
    let clock = Instant::now();
    let want = reference::shortest_paths(&g, &[0])?;
    let reference_ms = clock.elapsed().as_secs_f64() * 1e3;
    let leaving = setting.device.upload(&g)?;
    let entering = setting.device.upload(&Bsr::from_transpose(g.try_transpose()?))?;
    let is_cpu = setting.device.info().kind == DeviceKind::Cpu;
    let mut all = Vec::new();
    for &schedule in Schedule::ALL.iter().filter(|&&schedule| is_cpu || schedule != Schedule::NearFar) {
        let paths = ShortestPaths::from(&[0]).schedule(schedule);
        let run = || if schedule == Schedule::BellmanFord { paths.run(&entering) } else { paths.run(&leaving) };
        let verified = same_bits(&run()?.distances.download()?, &want);
        let ms = setting.median(verified, || Ok(run()?.total_ms))?;
        let (what, of, size) = (schedule.name().into(), name.into(), g.nnz());
        all.push(Timed { what, of, size, verified, ms, reference_ms });
    }
    Ok(all)
}

/// Figure 6: patches of meshes.
fn patches(setting: &Setting<'_>, report: &mut Report) -> std::result::Result<(), Failure> {
    report.say("## Figure 6: meshes cut by Lloyd relaxation");
    let points = (setting.most.min(MOST_ENTRIES) as usize / 16).max(100);
    let across = ((0.4 * points as f64).sqrt() as usize).max(3);
    let side = (points as f64).sqrt() as usize;
    let divisions = (0..10).take_while(|&divisions| 10 << (2 * divisions) <= points).last().unwrap_or(0);
    let meshes = [
        ("torus", generate::torus(points / across, across)),
        ("sphere", generate::sphere(divisions)),
        ("terrain", generate::terrain(side, side, SEED)),
    ];
    let (mut all, mut rows, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for (name, mesh) in meshes {
        setting.bench.messages.step(format!("patches of a {name}"));
        let Some((mesh, timed, found)) =
            setting.kept_result(report, name, mesh.and_then(|mesh| relaxed(setting, name, mesh)))
        else {
            continue;
        };
        let first = found.energies[0];
        rows.push(vec![
            name.into(),
            counted(timed.size as f64),
            format!("{}", found.energies.len() - 1),
            shown(Some(found.energy() / first), 4),
            shown(timed.ms, 3),
            shown(Some(timed.reference_ms), 3),
        ]);
        let line = (0..).map(f64::from).zip(&found.energies).map(|(step, energy)| [step, energy / first]).collect();
        lines.push(Series::line(name, line));
        let view = View { turn: 30.0, tilt: 40.0, size: 600 };
        let picture = picture::draw(&mesh, &found.labels, view, name);
        report.figure(&format!("figure-6-{name}.png"), &format!("{PATCHES} patches of a {name}."), picture)?;
        all.push(timed);
    }
    report.table(&["mesh", "vertices", "steps", "energy / first", "ms", "reference ms"], &rows);
    let plot = Plot::new("energy by step", [("step", false), ("energy / first", false)], lines);
    report.figure("figure-6-energy.png", "The sum of squared distances, over that of random seeds.", plot.encode())?;
    report.wrong += all.iter().filter(|timed| !timed.verified).count();
    report.keep("patches", &all);
    Ok(())
}

/// Cuts a mesh, and times it.
fn relaxed(setting: &Setting<'_>, name: &str, mesh: Mesh) -> Result<(Mesh, Timed, Patches)> {
    let (graph, size) = (mesh.graph()?, mesh.points().len());
    let seeds: Vec<usize> =
        Random::new(SEED).distinct(PATCHES, size as u64).into_iter().map(|seed| seed as usize).collect();
    let asked = Lloyd::from(&seeds).points(mesh.points()).steps(STEPS);
    let clock = Instant::now();
    let want = reference::lloyd(&graph, &asked)?;
    let reference_ms = clock.elapsed().as_secs_f64() * 1e3;
    let on_device = setting.device.upload(&graph)?;
    let found = asked.run(&on_device)?;
    let verified =
        (&found.labels, &found.seeds) == (&want.labels, &want.seeds) && same_bits(&found.energies, &want.energies);
    let ms = setting.median(verified, || Ok(asked.run(&on_device)?.total_ms))?;
    let timed = Timed { what: "lloyd".into(), of: name.into(), size, verified, ms, reference_ms };
    Ok((mesh, timed, found))
}
