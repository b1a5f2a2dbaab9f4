//! Figure 6: patches of meshes.
use super::{SEED, Setting, Timed};
use crate::chart::{Plot, Series};
use crate::paper::report::{Report, counted, shown};
use blockmul::io::encode_png;
use blockmul::{
    Result,
    extra::mesh::{Mesh, View, patch_colour},
    generate::{self, Random},
    graph::{Lloyd, Patches},
    reference,
};
use blockmul_cli::bench::measure::same_bits;
use blockmul_cli::failure::Failure;
use serde::Serialize;
use std::time::Instant;

/// Patches of each mesh, and steps of the relaxation.
const PATCHES: u64 = 64;
const STEPS: usize = 20;

/// The patches of a mesh, and the time to compute them.
#[derive(Serialize)]
struct Relaxed {
    #[serde(flatten)]
    timed: Timed,
    patches: usize,
    /// Steps of the relaxation. Each step moves all seeds.
    steps: usize,
    /// The energy of the first seeds, and the energy after each step.
    energies: Vec<f64>,
    /// The index of the least energy.
    best: usize,
}

impl Relaxed {
    /// The energies, divided by that of the first seeds. The function returns `None` if the first
    /// energy is 0, as in a mesh whose vertices are all seeds.
    fn over_first(&self) -> Option<Vec<f64>> {
        let first = self.energies[0];
        (first > 0.0).then(|| self.energies.iter().map(|energy| energy / first).collect())
    }
}

/// Meshes of about `points` vertices.
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

/// Writes the section of the report.
pub fn write(
    setting: &Setting<'_>,
    report: &mut Report,
    meshes: &[(String, Mesh)],
) -> std::result::Result<(), Failure> {
    report.say("## Figure 6: meshes cut by Lloyd relaxation");
    let (mut all, mut rows, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for (name, mesh) in meshes {
        setting.lab.messages.step(format!("patches of a {name}"));
        let measured = relaxed(setting, name, mesh);
        let Some((timed, found)) = setting.kept(report, name, measured) else { continue };
        let (patches, steps, best) = (found.seeds.len(), found.energies.len() - 1, found.best);
        let relaxed = Relaxed { timed, patches, steps, energies: found.energies.clone(), best };
        let over_first = relaxed.over_first();
        rows.push(vec![
            name.clone(),
            counted(relaxed.timed.size as f64),
            steps.to_string(),
            shown(over_first.as_ref().map(|energies| energies[best]), 4),
            shown(relaxed.timed.ms, 3),
            shown(Some(relaxed.timed.reference_ms), 3),
        ]);
        if let Some(energies) = over_first {
            let line = (0..).map(f64::from).zip(energies).map(|(step, energy)| [step, energy]).collect();
            lines.push(Series::line(name, line));
        }
        let view = View { turn: 30.0, tilt: 40.0, size: 600 };
        let colours: Vec<_> = found.labels.iter().map(|&label| patch_colour(label)).collect();
        let picture = mesh.draw(view, &colours)?;
        let picture = encode_png([picture.width, picture.height], &picture.pixels, name);
        report.figure(&format!("figure-6-{name}.png"), &format!("{} patches: {name}.", found.seeds.len()), picture)?;
        all.push(relaxed);
    }
    report.table(&["mesh", "vertices", "steps", "energy / first", "ms", "reference ms"], rows);
    if !lines.is_empty() {
        let plot = Plot::new("energy by step", [("step", false), ("energy / first", false)], lines);
        let text = "The sum of squared distances, over that of random seeds.";
        report.figure("figure-6-energy.png", text, plot.encode())?;
    }
    report.wrong += all.iter().filter(|relaxed| !relaxed.timed.verified).count();
    report.keep("patches", &all);
    Ok(())
}

/// Divides a mesh into patches and measures the time.
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
