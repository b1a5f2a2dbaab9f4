//! Section 4: shortest paths.
use super::{SEED, Setting, Timed};
use crate::paper::report::{Report, counted, shown};
use blockmul::{
    BlockShape, Bsr, Cbc, Result,
    device::DeviceKind,
    generate::{self, Random},
    graph::{Schedule, ShortestPaths},
    reference,
};
use blockmul_cli::bench::measure::same_bits;
use std::time::Instant;

/// Numbers of source vertices. A path begins at the nearest source.
const SOURCES: [u64; 2] = [1, 16];

/// Graphs of about `edges` edges.
pub fn generated(edges: usize) -> Result<Vec<(String, Cbc<f64>)>> {
    let vertices = (edges / 6).max(16);
    let side = (vertices as f64).sqrt() as usize;
    let planar = generate::planar(side, side, SEED)?;
    let hubs =
        generate::PowerLaw { nodes: vertices, edges: 6 * vertices, seed: SEED, ..Default::default() }.matrix()?;
    Ok(vec![("planar".into(), planar), ("power law".into(), hubs)])
}

/// Writes the section of the report.
pub fn write(setting: &Setting<'_>, report: &mut Report, graphs: &[(String, Cbc<f64>)]) {
    report.say("## Section 4: shortest paths");
    let mut all = Vec::new();
    for (name, g) in graphs {
        setting.lab.messages.step(format!("paths: {name}"));
        let timed = schedules(setting, name, g);
        all.extend(setting.kept(report, name, timed).into_iter().flatten());
    }
    let row = |timed: &Timed| {
        let faster = timed.ms.map(|ms| timed.reference_ms / ms);
        vec![
            timed.of.clone(),
            counted(timed.size as f64),
            timed.what.clone(),
            timed.sources.unwrap_or(1).to_string(),
            shown(timed.ms, 3),
            shown(Some(timed.reference_ms), 3),
            shown(faster, 2),
        ]
    };
    report.table(
        &["graph", "edges", "schedule", "sources", "ms", "reference's Dijkstra ms", "times as fast"],
        all.iter().map(row),
    );
    report.say(
        "From the first vertex, and from the nearest of 16 that are drawn. Lengths are the magnitudes of a file's values; \
         the entry in row i, column j is the edge from j to i. Dijkstra's algorithm is that of the serial reference on \
         the host. The paper's algorithm is that of the sweeps, a product over min-plus that is repeated \
         until no distance falls; near-far (one work-item, on CPUs) and frontier (all) visit the vertices near the source first.",
    );
    report.wrong += all.iter().filter(|timed| !timed.verified).count();
    report.keep("paths", &all);
}

/// Times every schedule, from one source and from several sources.
fn schedules(setting: &Setting<'_>, name: &str, g: &Cbc<f64>) -> Result<Vec<Timed>> {
    let lengths = g.values().iter().map(|value| value.abs()).collect();
    let g = Cbc::new(g.pattern().clone(), BlockShape::SCALAR, lengths)?;
    let vertices = g.pattern().ncols() as u64;
    let leaving = setting.device.upload(&g)?;
    let entering = setting.device.upload(&Bsr::from_transpose(g.try_transpose()?))?;
    let is_cpu = setting.device.info().kind == DeviceKind::Cpu;
    let mut all = Vec::new();
    for count in SOURCES {
        let sources: Vec<usize> = match count {
            1 => vec![0],
            _ => Random::new(SEED).distinct(count.min(vertices), vertices).into_iter().map(|at| at as usize).collect(),
        };
        let clock = Instant::now();
        let want = reference::shortest_paths(&g, &sources)?;
        let reference_ms = clock.elapsed().as_secs_f64() * 1e3;
        for &schedule in Schedule::ALL.iter().filter(|&&schedule| is_cpu || schedule != Schedule::NearFar) {
            let paths = ShortestPaths::from(&sources).schedule(schedule);
            let run = || if schedule == Schedule::Sweeps { paths.run(&entering) } else { paths.run(&leaving) };
            let verified = same_bits(&run()?.distances.download()?, &want);
            let ms = setting.median(verified, || Ok(run()?.total_ms))?;
            let (what, of, size, sources) = (schedule.name().into(), name.into(), g.nnz(), Some(sources.len()));
            all.push(Timed { what, of, size, sources, verified, ms, reference_ms });
        }
    }
    Ok(all)
}
