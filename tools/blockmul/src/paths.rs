//! `blockmul paths`: shortest paths in a graph.
mod found;
mod report;

use crate::choice::{named, one_of};
use crate::failure::Failure;
use crate::input;
use crate::matrix_size::Size;
use crate::messages::{Messages, Unit};
use crate::numbers::{above_zero, place};
use crate::places::FileArgs;
use crate::report::Report;
use crate::runs::{RunArgs, median_run, repeatedly};
use crate::target::Target;
use crate::{dense, output, vector};
use blockmul::{
    Csc, Error, Method,
    dense::{AnyDenseView, DenseShape, Layout},
    element::{AnyValues, ElementType},
    graph::Schedule,
    io::FileFormat,
    matrix::AnyMatrix,
    reference::{LostDistances, verify},
};
use clap::builder::PossibleValue;
use found::{Found, Wanted};
use report::{Fields, tell};
use std::{
    num::NonZero,
    path::{Path, PathBuf},
};

/// Lengths of the shortest paths in a graph, from the nearest of some sources or from each.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul paths G.mtx --sources 1 -o d.mtx              distances from vertex 1, the first
  blockmul paths G.mtx --sources 1,7 --verify            from the nearer of two, checked against Dijkstra's algorithm
  blockmul paths G.mtx --sources 1,7 --each -o d.npy     from each: a matrix of two columns
  blockmul paths G.mtx --sources 1 --transpose -o -      along edges from row to column, to stdout
  blockmul paths web.txt --sources 1 -o d.npy            along the lines of an edge list, from its vertex 0
  blockmul paths G.mtx --sources 1 --levels -o l.mtx     numbers of edges, whatever their lengths
  blockmul paths G.mtx --sources 1 --predecessors p.mtx  the vertex before each, 0 for none

The entry at row i, column j is the length of the edge from vertex j to vertex i. A line `i j` of an edge list
(.txt, .el, .edges, .tsv) is an edge from i to j. Vertices are counted from 1: vertex 0 of an edge list is vertex 1
here, in sources and in what is written. The distance of a vertex out of reach is inf; of integers it is their
largest number, which is no length: an edge of it is left out. Lengths may be negative; a cycle of negative length
is an error that names one of its vertices.
Exit status: 0 done; 1 a distance or a predecessor is not the reference's; 2 wrong usage, an input that cannot be read, or
a negative cycle; 3 no such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    /// The graph, a square matrix; - for Matrix Market on stdin.
    graph: PathBuf,
    /// Vertices where paths begin, counted from 1; several separated by commas.
    #[arg(long, value_name = "V,...", value_delimiter = ',', required = true, value_parser = place)]
    sources: Vec<NonZero<usize>>,
    /// Find the paths from each source separately; results are matrices with a column for each
    /// source.
    #[arg(long)]
    each: bool,
    /// Output file for the distances: .mtx for Matrix Market, .npy for NumPy; - for Matrix Market
    /// on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output file for predecessors: for each vertex the previous vertex on a shortest path,
    /// counted from 1; 0 for vertices that cannot be reached and for sources, unless a negative
    /// length brings a source closer to another one.
    #[arg(long, value_name = "FILE")]
    predecessors: Option<PathBuf>,
    /// Reverse all edges: the entry at row i, column j is the edge from i to j, and a line `i j` of
    /// an edge list is the edge from j to i.
    #[arg(long)]
    transpose: bool,
    /// Treat every edge as an edge of length 1.
    #[arg(long, conflicts_with_all = ["element", "delta"])]
    levels: bool,
    /// Order in which edges are visited; the distances are the same. sweeps is the algorithm of
    /// Bellman and Ford: products over min-plus, in a format of apply.
    #[arg(long, default_value = "auto", value_parser = one_of(schedules()))]
    schedule: Schedule,
    /// Length by which the limit between near and far vertices grows at first, for the schedules
    /// near-far and frontier [default: the mean length / 64 for near-far, the mean length for
    /// frontier].
    #[arg(long, value_name = "LENGTH", value_parser = above_zero)]
    delta: Option<f64>,
    /// Element type of lengths and distances.
    #[arg(long, default_value = "f64", value_parser = one_of(named(&LENGTHS, ElementType::name)))]
    element: ElementType,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    files: FileArgs,
}

/// Element types of lengths.
const LENGTHS: [ElementType; 4] = [ElementType::F64, ElementType::F32, ElementType::U32, ElementType::I32];

/// The schedules by their names. A further name is accepted for a schedule, but not listed.
fn schedules() -> impl Iterator<Item = (PossibleValue, Schedule)> {
    let all = [Schedule::Auto].iter().chain(Schedule::ALL);
    all.map(|&schedule| (PossibleValue::new(schedule.name()).aliases(schedule.alias()), schedule))
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let outputs = [("-o", &args.output), ("--predecessors", &args.predecessors), ("--report", &args.run.report)];
    output::check_stdout(&outputs)?;
    [&args.output, &args.predecessors].into_iter().flatten().try_for_each(|path| vector::check_name(path))?;
    let places = args.files.writing.places().reads([&args.graph]);
    places.others(&args.output).others(&args.predecessors).json(&args.run.report).check()?;
    // Levels are the lengths of paths if all edges have length 1.
    let element = if args.levels { ElementType::U32 } else { args.element };
    let messages = Messages::new(args.files.writing.quiet);
    let file = input::read_graph(&args.graph, &args.files.reading, &messages)?;
    let g = match args.levels {
        true => Csc::new(file.matrix.pattern().clone(), vec![1u32; file.matrix.nnz()])?.into(),
        false => {
            input::check_cast(element, &file.matrix, "G", &args.graph, &messages)?;
            warn_of_lengths(element, file.matrix.values(), &messages);
            input::elements(element, file.matrix)
        }
    };
    // In an edge list, the row of an edge is the vertex from which it leads.
    let leaves_rows = args.transpose != (file.format == FileFormat::EdgeList);
    let g = if leaves_rows { g.transpose()? } else { g };
    let wanted = wanted(args, g.ncols())?;
    let target = Target::choose(args.run.device.as_deref(), element, Method::Auto, &messages)?;
    let found = match &target {
        Target::Device(device) => {
            let progress = messages.measured("finding paths", Unit::Entries);
            let on_device = device.upload(&g)?;
            device.finish()?;
            repeatedly(args.run.repeat, || Found::on_device(&on_device, &wanted, &progress).map(Found::timed))
        }
        Target::Reference if args.schedule != Schedule::Auto || args.delta.is_some() => {
            return Err(Failure::Usage("--schedule and --delta need an OpenCL device".into()));
        }
        Target::Reference => {
            messages.step("finding paths");
            repeatedly(args.run.repeat, || Found::by_reference(&g, &wanted).map(Found::timed))
        }
    };
    let (found, runs_ms) = found.map_err(|error| from_one(error, leaves_rows, &args.graph))?;
    let want = messages.verifying(args.run.verify, || Found::by_reference(&g, &wanted));
    let want = want.map_err(|error| from_one(error, leaves_rows, &args.graph))?;
    let different = want.map(|want| {
        let of = |found: &Option<Vec<u32>>| AnyValues::U32(found.clone().unwrap_or_default());
        let distances = verify::different(&found.distances, &want.distances);
        (distances, verify::different(&of(&found.predecessors), &of(&want.predecessors)))
    });
    warn_of_distances(&g, &found.distances, &messages)?;
    let (distances, farthest) = (found.distances.numbers(), element.nearest(f64::INFINITY));
    let reached = || distances.iter().copied().filter(|&distance| distance < farthest);
    let fields = Fields {
        element: element.name(),
        graph: Size::of(&g),
        sources: args.sources.iter().map(|source| source.get()).collect(),
        each: args.each,
        schedule: found.schedule,
        rounds: found.rounds,
        visits: found.visits,
        reached: reached().count(),
        farthest: reached().reduce(f64::max),
        total_ms: median_run(&runs_ms),
        runs_ms: args.run.repeat.map(|_| runs_ms),
        verified: different.map(|different| different == (0, 0)),
    };
    tell(args, &Report::new(&target, fields), &messages)?;
    if let Some((distances, before)) = different.filter(|&different| different != (0, 0)) {
        let of = found.distances.len();
        return Err(Failure::Verification(format!(
            "{distances} of {of} distances and {before} predecessors have not the reference's bits; nothing is written"
        )));
    }
    if let (Some(path), Some(before)) = (&args.predecessors, &found.predecessors) {
        let from_one: Vec<u32> = before.iter().map(|before| before.wrapping_add(1)).collect();
        write(args, path, &from_one.into())?;
    }
    args.output.as_ref().map_or(Ok(()), |path| write(args, path, &found.distances))
}

/// Warns of whole numbers of a file that an integer type treats as infinite: its largest number.
/// For floating-point types, the conversion of the file's values prints this warning.
fn warn_of_lengths(element: ElementType, lengths: &[f64], messages: &Messages) {
    let highest = element.nearest(f64::INFINITY);
    let is_lost = |length: &&f64| length.is_finite() && element.nearest(**length) == highest;
    let (lost, all) = (lengths.iter().filter(is_lost).count(), lengths.len());
    if lost > 0 && highest.is_finite() {
        messages.alert(&format!("{lost} of {all} values of G are too large for {element}: they are infinite"));
    }
}

/// Warns of vertices to which a path exists whose length is outside the range of its type.
fn warn_of_distances(g: &AnyMatrix, distances: &AnyValues, messages: &Messages) -> blockmul::Result<()> {
    let (element, LostDistances { too_far, too_low }) = (g.element(), LostDistances::of(g, distances)?);
    let wider = if element == ElementType::F64 { "" } else { "; --element f64 has them" };
    if too_far > 0 {
        messages.alert(&format!(
            "distances too large for {element}: {too_far}; these vertices count as out of reach{wider}"
        ));
    }
    if too_low > 0 {
        let least = element.nearest(f64::NEG_INFINITY);
        messages.alert(&format!("distances too small for {element}: {too_low}; they are {least}{wider}"));
    }
    Ok(())
}

/// The requested paths, in a graph of `vertices` vertices.
fn wanted(args: &Args, vertices: usize) -> Result<Wanted, Failure> {
    if let Some(outside) = args.sources.iter().find(|source| source.get() > vertices) {
        let path = input::name(&args.graph);
        return Err(Failure::Usage(match vertices {
            0 => format!("{path} has no vertices"),
            _ => format!("source {outside} is outside {path}, whose vertices are 1 to {vertices}"),
        }));
    }
    let all: Vec<usize> = args.sources.iter().map(|source| source.get() - 1).collect();
    let sources = if args.each { all.into_iter().map(|source| vec![source]).collect() } else { vec![all] };
    let (schedule, delta, predecessors) = (args.schedule, args.delta, args.predecessors.is_some());
    Ok(Wanted { sources, schedule, delta, predecessors })
}

/// Writes a number for each vertex; with --each, a column for each source.
fn write(args: &Args, path: &Path, numbers: &AnyValues) -> Result<(), Failure> {
    match args.each {
        true => {
            let (vertices, sources) = (numbers.len() / args.sources.len(), args.sources.len());
            let shape = DenseShape::new(vertices, sources, Layout::ByColumns);
            dense::write(path, AnyDenseView::new(shape, numbers)?)
        }
        false => vector::write(path, numbers),
    }
}

/// Changes a failure so that it names the file, counts vertices from 1, and names the entry of a
/// bad length by its place in the file.
fn from_one(error: Error, leaves_rows: bool, graph: &Path) -> Failure {
    let name = input::name(graph);
    match error {
        Error::NoLength { from, to } => {
            let (row, col) = if leaves_rows { (from, to) } else { (to, from) };
            Failure::Usage(format!("{name}: G has NaN at row {}, column {}, which is no length", row + 1, col + 1))
        }
        Error::NegativeCycle { vertex, length } => {
            let text = Error::NegativeCycle { vertex: vertex + 1, length }.to_string();
            Failure::Usage(format!("{name}: {}", text.replace(", counted from 0", "")))
        }
        other => Failure::Library(other),
    }
}
