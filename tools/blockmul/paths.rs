//! `blockmul paths`: shortest paths in a graph.
use crate::failure::Failure;
use crate::input;
use crate::messages::{Messages, Unit};
use crate::numbers::{from_zero, place};
use crate::output;
use crate::places::Overwriting;
use crate::report::{DeviceName, Size, command_line};
use crate::target::Target;
use crate::vector;
use blockmul::{
    Csc, DeviceMatrix, Error, Method,
    element::Length,
    graph::{Paths, Schedule, ShortestPaths},
    reference,
};
use serde::Serialize;
use std::{num::NonZero, path::PathBuf, time::Instant};

/// Number of the schema, increased by changes that a reader must know.
const SCHEMA: u32 = 1;

/// Lengths of the shortest paths in a graph, from the nearest of some sources.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul paths G.mtx --sources 1 -o d.mtx              distances from vertex 1, the first
  blockmul paths G.mtx --sources 1,7 --verify            from the nearer of two, checked against Dijkstra's algorithm
  blockmul paths G.mtx --sources 1 --transpose -o -      along edges from row to column, to stdout
  blockmul paths G.mtx --sources 1 --levels -o l.mtx     numbers of edges, whatever their lengths
  blockmul paths G.mtx --sources 1 --predecessors p.mtx  the vertex before each, 0 for none

The entry at row i, column j is the length of the edge from vertex j to vertex i. Vertices are counted from 1,
as in the file. The distance of a vertex out of reach is inf; of integers it is their largest number. Lengths
may be negative; a cycle of negative length is an error that names one of its vertices.
Exit status: 0 done; 1 a distance has not the reference's bits; 2 wrong usage, an input that cannot be read, or
a negative cycle; 3 no such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    /// The graph, a square matrix; - for Matrix Market on stdin.
    graph: PathBuf,
    /// Vertices where paths begin, counted from 1, several with commas.
    #[arg(long, value_name = "V,...", value_delimiter = ',', required = true, value_parser = place)]
    sources: Vec<NonZero<usize>>,
    /// Write the distances here: .mtx for Matrix Market, .npy for NumPy; - for Matrix Market on
    /// stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write here the vertex before each on a shortest path, counted from 1; 0 for sources and
    /// vertices out of reach.
    #[arg(long, value_name = "FILE")]
    predecessors: Option<PathBuf>,
    /// Take the entry at row i, column j as the edge from i to j.
    #[arg(long)]
    transpose: bool,
    /// Take every edge as one of length 1.
    #[arg(long, conflicts_with_all = ["element", "verify"])]
    levels: bool,
    /// Order in which edges are visited; the distances are the same.
    #[arg(long, default_value = "auto", value_parser = schedule())]
    schedule: Schedule,
    /// How far near-far and frontier move the limit between near and far at first [default: a 64th
    /// of the mean length, and the mean].
    #[arg(long, value_name = "LENGTH", value_parser = from_zero)]
    delta: Option<f64>,
    /// Element type of lengths and distances.
    #[arg(long, value_enum, default_value = "f64")]
    element: LengthName,
    /// auto (a GPU, else a CPU, else the reference), reference, gpu, cpu, an index or part of a
    /// name from `blockmul devices` [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Check the distances against the reference; exit status 1, and no output file, if a bit
    /// differs.
    #[arg(long)]
    verify: bool,
    /// Write the costs as JSON; - for stdout.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Add up entries that appear twice in the file instead of refusing it.
    #[arg(long)]
    sum_duplicates: bool,
    #[command(flatten)]
    overwriting: Overwriting,
    /// Print neither messages nor the summary.
    #[arg(short, long)]
    quiet: bool,
}

/// Element types of lengths.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LengthName {
    F64,
    F32,
    U32,
    I32,
}

fn schedule() -> impl clap::builder::TypedValueParser<Value = Schedule> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names = std::iter::once(Schedule::Auto).chain(Schedule::ALL.iter().copied()).map(Schedule::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Schedule>())
}

/// The JSON object of `--report`.
#[derive(Serialize)]
struct Report {
    schema: u32,
    command: String,
    device: DeviceName,
    element: &'static str,
    graph: Size,
    sources: Vec<usize>,
    /// `None` for the reference.
    schedule: Option<Schedule>,
    /// Times that the limit between near and far was set, or sweeps.
    rounds: Option<u64>,
    /// Edges and vertices visited, each as often as it was.
    visits: Option<u64>,
    /// Vertices with a path from a source.
    reached: usize,
    /// The largest distance of these.
    farthest: Option<f64>,
    total_ms: f64,
    /// Whether the distances have the reference's bits; `None` without --verify.
    verified: Option<bool>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let outputs = [&args.output, &args.predecessors, &args.report];
    if outputs.iter().filter(|path| path.as_deref().is_some_and(output::is_standard)).count() > 1 {
        return Err(Failure::Usage("only one of -o, --predecessors and --report can have stdout".into()));
    }
    [&args.output, &args.predecessors].into_iter().flatten().try_for_each(|path| vector::check_name(path))?;
    let places = args.overwriting.places().reads([&args.graph]);
    places.others(&args.output).others(&args.predecessors).others(&args.report).check()?;
    match args.element {
        _ if args.levels => with_element::<f64, u32>(args, |paths, g| paths.run_by_edges(g)),
        LengthName::F64 => with_element::<f64, f64>(args, |paths, g| paths.run(g)),
        LengthName::F32 => with_element::<f32, f32>(args, |paths, g| paths.run(g)),
        LengthName::U32 => with_element::<u32, u32>(args, |paths, g| paths.run(g)),
        LengthName::I32 => with_element::<i32, i32>(args, |paths, g| paths.run(g)),
    }
}

/// Distances, and what they took.
struct Run<D> {
    distances: Vec<D>,
    predecessors: Option<Vec<u32>>,
    schedule: Option<Schedule>,
    rounds: Option<u64>,
    visits: Option<u64>,
    total_ms: f64,
}

/// Computes paths along edges whose values are of type `T`; distances are of type `D`.
fn with_element<T: Length, D: Length>(
    args: &Args,
    run: impl Fn(&ShortestPaths<'_>, &DeviceMatrix<Csc<T>>) -> blockmul::Result<Paths<D>>,
) -> Result<(), Failure> {
    let messages = Messages::new(args.quiet);
    let file = input::read(&args.graph, args.sum_duplicates, &messages)?;
    let g = match args.levels {
        true => Csc::new(file.matrix.pattern().clone(), vec![T::from_f64(1.0); file.matrix.nnz()])?,
        false => input::cast_numbers::<T>(&file.matrix, "G", &messages)?.0,
    };
    let g = if args.transpose { g.try_transpose()? } else { g };
    let vertices = g.ncols();
    if let Some(outside) = args.sources.iter().find(|source| source.get() > vertices) {
        let path = args.graph.display();
        return Err(Failure::Usage(match vertices {
            0 => format!("{path} has no vertices"),
            _ => format!("source {outside} is outside {path}, whose vertices are 1 to {vertices}"),
        }));
    }
    let sources: Vec<usize> = args.sources.iter().map(|source| source.get() - 1).collect();
    let target = Target::choose::<D>(args.device.as_deref(), Method::Auto, &messages)?;
    let found = match &target {
        Target::Device(device) => {
            let on_device = device.upload(&g)?;
            let progress = messages.measured("finding paths", Unit::Entries);
            let paths = ShortestPaths::from(&sources).schedule(args.schedule).progress(progress);
            let paths = args.delta.into_iter().fold(paths, ShortestPaths::delta);
            let paths = if args.predecessors.is_some() { paths.predecessors() } else { paths };
            let paths = run(&paths, &on_device).map_err(|error| from_one(error, args.transpose))?;
            Run {
                distances: paths.distances.download()?,
                predecessors: paths.predecessors.map(|of| of.download()).transpose()?,
                schedule: Some(paths.schedule),
                rounds: Some(paths.rounds),
                visits: Some(paths.visits),
                total_ms: paths.total_ms,
            }
        }
        Target::Reference
            if args.predecessors.is_some()
                || args.levels
                || args.schedule != Schedule::Auto
                || args.delta.is_some() =>
        {
            let why = "--predecessors, --levels, --schedule and --delta need an OpenCL device";
            return Err(Failure::Usage(why.into()));
        }
        Target::Reference => {
            messages.step("finding paths");
            let clock = Instant::now();
            let distances = reference::shortest_paths(&g, &sources).map_err(|error| from_one(error, args.transpose))?;
            let distances = distances.into_iter().map(|distance| D::from_f64(distance.to_f64())).collect();
            let total_ms = clock.elapsed().as_secs_f64() * 1e3;
            Run { distances, predecessors: None, schedule: None, rounds: None, visits: None, total_ms }
        }
    };
    let different = match args.verify {
        true => {
            messages.step("verifying");
            let want = reference::shortest_paths(&g, &sources).map_err(|error| from_one(error, args.transpose))?;
            let pairs = found.distances.iter().zip(&want);
            Some(pairs.filter(|(found, want)| found.to_f64().to_bits() != want.to_f64().to_bits()).count())
        }
        false => None,
    };
    let reached =
        || found.distances.iter().filter(|&&distance| distance < D::HIGHEST).map(|distance| distance.to_f64());
    let (name, platform, driver) = target.describe();
    let report = Report {
        schema: SCHEMA,
        command: command_line(),
        device: DeviceName::new(name, platform, driver),
        element: D::NAME,
        graph: Size::of(&g),
        sources: args.sources.iter().map(|source| source.get()).collect(),
        schedule: found.schedule,
        rounds: found.rounds,
        visits: found.visits,
        reached: reached().count(),
        farthest: reached().reduce(f64::max),
        total_ms: found.total_ms,
        verified: different.map(|count| count == 0),
    };
    tell(args, &report, &messages)?;
    if let Some(count) = different.filter(|&count| count > 0) {
        return Err(Failure::Verification(format!(
            "{count} of {vertices} distances have not the reference's bits; nothing is written"
        )));
    }
    if let (Some(path), Some(before)) = (&args.predecessors, &found.predecessors) {
        let from_one: Vec<u32> = before.iter().map(|before| before.wrapping_add(1)).collect();
        vector::write(path, &from_one)?;
    }
    args.output.as_ref().map_or(Ok(()), |path| vector::write(path, &found.distances))
}

/// The failure that counts vertices as files do, and names an entry of a length by its place there.
fn from_one(error: Error, transposed: bool) -> Failure {
    match error {
        Error::NoLength { from, to } => {
            let (row, col) = if transposed { (from, to) } else { (to, from) };
            Failure::Usage(format!("G has NaN at row {}, column {}, which is no length", row + 1, col + 1))
        }
        Error::NegativeCycle { vertex, length } => {
            let text = Error::NegativeCycle { vertex: vertex + 1, length }.to_string();
            Failure::Usage(text.replace(", counted from 0", ""))
        }
        other => Failure::Library(other),
    }
}

fn tell(args: &Args, report: &Report, messages: &Messages) -> Result<(), Failure> {
    let json = || serde_json::to_string_pretty(report).expect("plain data");
    args.report.as_deref().map_or(Ok(()), |path| output::write(path, &json()))?;
    let by = report.schedule.map_or("the reference", Schedule::name);
    let what = if args.levels { "levels" } else { "distances" };
    let rounds = report.rounds.map(|rounds| format!(", {rounds} rounds")).unwrap_or_default();
    let farthest = report.farthest.map(|farthest| format!(", the farthest at {farthest}")).unwrap_or_default();
    let verified = match report.verified {
        Some(true) => "\nverified: equal to the reference, bit for bit",
        _ => "",
    };
    let text = format!(
        "{what} in {} by {by} on {}\n  {} vertices, {} edges; {} reached{farthest}\n  {:.3} ms{rounds}{verified}",
        report.element,
        report.device.name(),
        report.graph.cols(),
        report.graph.nnz(),
        report.reached,
        report.total_ms
    );
    let mut files = [&args.output, &args.predecessors, &args.report].into_iter().flatten();
    match (args.quiet, files.any(|path| output::is_standard(path))) {
        (true, _) => Ok(()),
        (false, true) => {
            messages.say(&text);
            Ok(())
        }
        (false, false) => messages.pause(|| output::print(&text)),
    }
}
