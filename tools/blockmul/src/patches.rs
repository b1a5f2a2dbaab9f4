//! `blockmul patches`: cuts a mesh into patches by Lloyd relaxation.
use crate::choice::{named, one_of};
use crate::failure::Failure;
use crate::messages::{Messages, Unit};
use crate::numbers::{self, finite, some};
use crate::places::Writing;
use crate::report::Report;
use crate::runs::timed;
use crate::sizes::{count, count_of};
use crate::target::Target;
use crate::{input, output, vector};
use blockmul::{
    Error, Method,
    element::ElementType,
    extra::mesh::{self, Colour, Mesh, View, patch_colour},
    generate::Random,
    graph::{Energy, Lloyd, Patches},
    reference,
};
use serde::Serialize;
use std::{
    num::NonZero,
    path::{Path, PathBuf},
};

/// Cut a triangle mesh into patches by Lloyd relaxation, and draw them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul patches bunny.ply --count 64 -o patches.png         a picture, each patch in a colour of its own
  blockmul patches bunny.obj --count 200 -o patches.ply        the mesh with coloured vertices, for any viewer
  blockmul patches bunny.off --graph -o labels.mtx             the patch of each vertex, for a solver
  blockmul generate mesh -o - | blockmul patches - -o patches.png   of a mesh on stdin
  blockmul patches bunny.ply --count 64 --verify --report -    checked against the reference; energies as JSON

A vertex belongs to the patch of the seed nearest along the edges. Then every seed moves to the vertex of its
patch nearest to the patch's centroid, or with --graph to the one farthest from its border, until all stand
still. A patch without vertices moves to the vertex farthest from all seeds, one out of reach first; a part of
the mesh that has no seed gets one only from such a patch. Of all steps the patches with the least energy are kept:
the sum of squared distances, along the edges from the seeds or with --energy centroid in space from the centroids.
Meshes are read from .obj, .ply and .off, plain, packed or in a zip archive. In .mtx and .npy patches count
from 1; 0 is a vertex that no seed reaches.
Exit status: 0 done; 1 the patches are not the reference's; 2 wrong usage, or an input that cannot be read; 3
no such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    /// The mesh: .obj, .ply or .off; - for one of these on stdin.
    mesh: PathBuf,
    /// Number of patches.
    #[arg(long, default_value = "64", value_parser = some)]
    count: NonZero<u32>,
    /// Output file: .png for a picture, .ply for the mesh in colours, .mtx or .npy for the patch of
    /// each vertex, packed if .gz or .bz2 follows; - for a picture on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Seed of the random numbers that choose the first centres.
    #[arg(long, default_value_t = 1, value_parser = numbers::count::<u64>)]
    seed: u64,
    /// Maximum number of times that the centres move.
    #[arg(long, default_value_t = 20, value_parser = numbers::count::<usize>)]
    steps: usize,
    /// Move each centre to the vertex farthest from the border of its patch, along the edges, as in
    /// aggregation for multigrid.
    #[arg(long)]
    graph: bool,
    /// A vertex at equal distance from several centres goes to the patch that had the fewest
    /// vertices in the step before, not to the first. Centres move from patches that lose little to
    /// patches that gain much, if that lowers the energy.
    #[arg(long)]
    balanced: bool,
    /// Distances whose squares the energy sums: along the edges from the seeds, or in space from
    /// the centroids of the patches. The step with the least energy is kept.
    #[arg(long, default_value = "seed", value_parser = one_of(named(Energy::ALL, Energy::name)))]
    energy: Energy,
    /// Longer side of the picture, in pixels.
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u32).range(16..=8192))]
    size: u32,
    /// Degrees by which the view is turned around the z axis.
    #[arg(long, value_name = "DEGREES", default_value_t = 30.0, value_parser = finite)]
    turn: f64,
    /// Degrees by which the view looks down.
    #[arg(long, value_name = "DEGREES", default_value_t = 40.0, value_parser = finite)]
    tilt: f64,
    /// auto (a GPU, else a CPU, else the reference), reference, gpu, cpu, an index or part of a
    /// name from `blockmul devices` [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Check the patches against the reference; exit status 1, and no output file, if a bit
    /// differs.
    #[arg(long)]
    verify: bool,
    /// Write sizes and energies as JSON; - for stdout.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Serialize)]
struct Fields {
    vertices: usize,
    triangles: usize,
    /// Number of edges, which are counted in both directions.
    edges: usize,
    patches: usize,
    /// The vertices that were the first centres, counted from 1. `seeds` are the centres of the
    /// patches.
    first: Vec<usize>,
    seeds: Vec<usize>,
    /// The rule of centres: nearest to the centroids, or farthest from the borders.
    centres: &'static str,
    balanced: bool,
    /// The distances whose squares the energies sum: from the seeds, or from the centroids.
    energy_of: Energy,
    /// The energy of the first centres, and the energy after each step.
    energies: Vec<f64>,
    /// The index of the least energy in `energies`.
    best: usize,
    energy: f64,
    /// Vertices of the smallest and the largest patch.
    smallest: usize,
    largest: usize,
    /// Number of patches without vertices.
    empty: usize,
    /// The standard deviation of the patches' sizes.
    deviation: f64,
    /// Number of vertices that no centre reaches.
    unreached: usize,
    total_ms: f64,
    /// Whether the patches have the reference's bits; `None` without --verify.
    verified: Option<bool>,
}

/// The kind of the output file.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Picture,
    Mesh,
    Labels,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Failure> {
        let stem = path.file_stem().map(Path::new).unwrap_or(path);
        let is = |path: &Path, ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
        let packed = is(path, "gz") || is(path, "bz2");
        let within = if packed { stem } else { path };
        match path {
            _ if output::is_standard(path) || is(path, "png") => Ok(Self::Picture),
            _ if is(within, "ply") => Ok(Self::Mesh),
            _ if is(within, "mtx") || is(within, "npy") => Ok(Self::Labels),
            _ => Err(Failure::Usage(format!(
                "{}: patches are written to .png (a picture), .ply (a mesh), .mtx and .npy (labels); all but .png are \
                 packed if .gz or .bz2 follows",
                path.display()
            ))),
        }
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    output::check_stdout(&[("-o", &args.output), ("--report", &args.report)])?;
    let kind = args.output.as_deref().map(Kind::of).transpose()?;
    if args.graph && args.energy == Energy::Centroid {
        return Err(Failure::Usage("--energy centroid is for centres near centroids, not for those of --graph".into()));
    }
    args.writing.places().reads([&args.mesh]).others(&args.output).json(&args.report).check()?;
    let messages = Messages::new(args.writing.quiet);
    messages.step(format!("reading {}", args.mesh.display()));
    let mesh = match output::is_standard(&args.mesh) {
        true => mesh::read_from(std::io::stdin(), "stdin"),
        false => mesh::read(&args.mesh),
    }?;
    let name = input::name(&args.mesh);
    if mesh.triangles().is_empty() {
        return Err(Failure::Usage(match mesh.points().len() {
            0 => format!("{name} has no vertices"),
            _ => format!("{name} has no triangles: patches follow their edges"),
        }));
    }
    let graph = mesh.graph().map_err(|error| from_one(error, &name))?;
    let (vertices, count) = (mesh.points().len(), args.count.get() as usize);
    if count > vertices {
        return Err(Failure::Usage(format!(
            "{count} patches of the {} of {name}",
            count_of(vertices, "vertex", "vertices")
        )));
    }
    let seeds = Random::new(args.seed).distinct(count as u64, vertices as u64);
    let seeds: Vec<usize> = seeds.into_iter().map(|seed| seed as usize).collect();
    let asked = Lloyd::from(&seeds).steps(args.steps).progress(messages.measured("moving centres", Unit::Runs));
    let asked = if args.balanced { asked.balanced() } else { asked };
    let asked = if args.graph { asked } else { asked.points(mesh.points()) }.energy(args.energy);
    let target = Target::choose(args.device.as_deref(), ElementType::F64, Method::Auto, &messages)?;
    let (found, total_ms) = match &target {
        Target::Device(device) => {
            let found = asked.run(&device.upload(&graph)?)?;
            let total_ms = found.total_ms;
            (found, total_ms)
        }
        Target::Reference => timed(|| reference::lloyd(&graph, &asked))?,
    };
    let want = messages.verifying(args.verify, || reference::lloyd(&graph, &asked))?;
    let verified =
        want.map(|want| (&found.labels, &found.seeds, &found.energies) == (&want.labels, &want.seeds, &want.energies));
    let mut sizes = vec![0; count];
    found.labels.iter().filter(|&&label| label != u32::MAX).for_each(|&label| sizes[label as usize] += 1);
    let fields = Fields {
        vertices,
        triangles: mesh.triangles().len(),
        edges: graph.nnz(),
        patches: count,
        first: seeds.iter().map(|seed| seed + 1).collect(),
        seeds: found.seeds.iter().map(|&seed| seed as usize + 1).collect(),
        centres: if args.graph { "borders" } else { "centroids" },
        balanced: args.balanced,
        energy_of: args.energy,
        energies: found.energies.clone(),
        best: found.best,
        energy: found.energy(),
        smallest: sizes.iter().copied().min().unwrap_or(0),
        largest: sizes.iter().copied().max().unwrap_or(0),
        empty: sizes.iter().filter(|&&size| size == 0).count(),
        deviation: deviation(&sizes),
        unreached: found.unreached,
        total_ms,
        verified,
    };
    if fields.empty > 0 {
        let why = "every vertex is at distance 0 from another centre, or --steps are too few";
        messages.warn(&format!("patches without vertices: {} of {count}; {why}", fields.empty));
    }
    if fields.unreached > 0 {
        let why = "a part of the mesh has no centre, more patches may reach it";
        messages.warn(&format!("vertices out of reach: {} of {vertices}; {why}", fields.unreached));
    }
    tell(args, &Report::new(&target, fields), &messages)?;
    if verified == Some(false) {
        return Err(Failure::Verification("the patches are not the reference's; nothing is written".into()));
    }
    match (&args.output, kind) {
        (Some(path), Some(kind)) => write(args, path, kind, &mesh, &found, &messages),
        _ => Ok(()),
    }
}

/// Changes a failure so that it names the file and counts vertices from 1.
fn from_one(error: Error, name: &str) -> Failure {
    match error {
        Error::LongEdge { from, to } => {
            let text = Error::LongEdge { from: from + 1, to: to + 1 }.to_string();
            Failure::Usage(format!("{name}: {}", text.replace(", counted from 0,", "")))
        }
        other => other.into(),
    }
}

fn write(
    args: &Args,
    path: &Path,
    kind: Kind,
    mesh: &Mesh,
    found: &Patches,
    messages: &Messages,
) -> Result<(), Failure> {
    messages.step(format!("writing {}", path.display()));
    let colours = || found.labels.iter().map(|&label| patch_colour(label)).collect::<Vec<Colour>>();
    match kind {
        Kind::Picture => {
            let patches = count_of(args.count.get() as usize, "patch", "patches");
            let (mesh_file, energy) = (args.mesh.display(), found.energy());
            let described = format!("{patches} of {mesh_file}, energy {energy:.6e} by {}s", args.energy.name());
            let picture = mesh.draw(View { turn: args.turn, tilt: args.tilt, size: args.size }, &colours())?;
            let png = blockmul::io::encode_png([picture.width, picture.height], &picture.pixels, &described);
            output::write_bytes(path, &png.map_err(|error| Failure::Output(path.display().to_string(), error))?)
        }
        Kind::Mesh => mesh::write_ply(path, mesh, &colours()).map_err(output::of_output),
        Kind::Labels => {
            let from_one: Vec<u32> = found.labels.iter().map(|label| label.wrapping_add(1)).collect();
            vector::write(path, &from_one.into())
        }
    }
}

/// The standard deviation of sizes.
fn deviation(sizes: &[usize]) -> f64 {
    let of = sizes.len() as f64;
    let mean = sizes.iter().sum::<usize>() as f64 / of;
    (sizes.iter().map(|&size| (size as f64 - mean).powi(2)).sum::<f64>() / of).sqrt()
}

fn tell(args: &Args, report: &Report<Fields>, messages: &Messages) -> Result<(), Failure> {
    report.write(&args.report)?;
    let (device, report) = (report.device(), &report.of);
    let unreached = match report.unreached {
        0 => String::new(),
        unreached => format!("; {unreached} vertices are out of reach"),
    };
    let verified = if report.verified == Some(true) { "\nverified: equal to the reference, bit for bit" } else { "" };
    let text = format!(
        "{} of {} and {} on {device}\n  energy by {}s {:.6e}, at first {:.6e}; step {} of {}\n  \
         {} to {} each, with a standard deviation of {:.1}{unreached}\n  {:.3} ms{verified}",
        count_of(report.patches, "patch", "patches"),
        count_of(report.vertices, "vertex", "vertices"),
        count(report.triangles, "triangle"),
        report.energy_of.name(),
        report.energy,
        report.energies[0],
        report.best,
        report.energies.len() - 1,
        report.smallest,
        count_of(report.largest, "vertex", "vertices"),
        report.deviation,
        report.total_ms,
    );
    output::summary(&text, args.writing.quiet, [&args.output, &args.report], messages)
}
