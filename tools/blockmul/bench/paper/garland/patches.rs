//! Figure 6: patches of meshes.
use super::{SEED, Setting, Timed};
use crate::bench::measure::same_bits;
use crate::bench::paper::report::{Report, counted, shown};
use crate::chart::{Plot, Series};
use crate::failure::Failure;
use crate::patches::picture::{self, View};
use blockmul::{
    Result,
    generate::{self, Random},
    graph::{Lloyd, Patches},
    mesh::Mesh,
    reference,
};
use std::time::Instant;

/// Patches of a mesh, and steps.
const PATCHES: u64 = 64;
const STEPS: usize = 20;

/// Meshes of about so many vertices.
pub fn generated(points: usize) -> Result<Vec<(String, Mesh)>> {
    let across = ((0.4 * points as f64).sqrt() as usize).max(3);
    let side = (points as f64).sqrt() as usize;
    let divisions = (0..10).take_while(|&divisions| 10 << (2 * divisions) <= points).last().unwrap_or(0);
    Ok(vec![
        ("torus".into(), generate::torus(points / across, across)?),
        ("sphere".into(), generate::sphere(divisions)?),
        ("terrain".into(), generate::terrain(side, side, SEED)?),
    ])
}

/// Writes the section.
pub fn write(
    setting: &Setting<'_>,
    report: &mut Report,
    meshes: &[(String, Mesh)],
) -> std::result::Result<(), Failure> {
    report.say("## Figure 6: meshes cut by Lloyd relaxation");
    let (mut all, mut rows, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for (name, mesh) in meshes {
        setting.bench.messages.step(format!("patches of a {name}"));
        let measured = relaxed(setting, name, mesh);
        let Some((timed, found)) = setting.kept_result(report, name, measured) else { continue };
        let first = found.energies[0];
        rows.push(vec![
            name.clone(),
            counted(timed.size as f64),
            format!("{}", found.energies.len() - 1),
            shown(Some(found.energy() / first), 4),
            shown(timed.ms, 3),
            shown(Some(timed.reference_ms), 3),
        ]);
        let line = (0..).map(f64::from).zip(&found.energies).map(|(step, energy)| [step, energy / first]).collect();
        lines.push(Series::line(name, line));
        let view = View { turn: 30.0, tilt: 40.0, size: 600 };
        let picture = picture::draw(mesh, &found.labels, view, name);
        report.figure(&format!("figure-6-{name}.png"), &format!("{} patches: {name}.", found.seeds.len()), picture)?;
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
fn relaxed(setting: &Setting<'_>, name: &str, mesh: &Mesh) -> Result<(Timed, Patches)> {
    let (graph, size) = (mesh.graph()?, mesh.points().len());
    let seeds = Random::new(SEED).distinct(PATCHES.min(size as u64), size as u64);
    let seeds: Vec<usize> = seeds.into_iter().map(|seed| seed as usize).collect();
    let asked = Lloyd::from(&seeds).points(mesh.points()).steps(STEPS);
    let clock = Instant::now();
    let want = reference::lloyd(&graph, &asked)?;
    let reference_ms = clock.elapsed().as_secs_f64() * 1e3;
    let on_device = setting.device.upload(&graph)?;
    let found = asked.run(&on_device)?;
    let verified =
        (&found.labels, &found.seeds) == (&want.labels, &want.seeds) && same_bits(&found.energies, &want.energies);
    let ms = setting.median(verified, || Ok(asked.run(&on_device)?.total_ms))?;
    let timed = Timed { what: "lloyd".into(), of: name.into(), size, sources: None, verified, ms, reference_ms };
    Ok((timed, found))
}
