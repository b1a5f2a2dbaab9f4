//! The common part of `components` and `triangles`. `components` and `triangles` compute a number
//! for each vertex of a graph. Edges connect their vertices in both directions, and their values do
//! not matter.
use crate::failure::Failure;
use crate::input;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::places::FileArgs;
use crate::report::Report;
use crate::runs::{RunArgs, median_run, repeatedly, timed, timed_on};
use crate::sizes::count_of;
use crate::target::Target;
use crate::{output, vector};
use blockmul::{Csc, DeviceMatrix, Method, element::ElementType};
use serde::Serialize;
use std::path::PathBuf;

/// The arguments of commands that compute a number for each vertex of a graph.
#[derive(clap::Args)]
pub struct GraphArgs {
    /// The graph, a square matrix; - for Matrix Market on stdin.
    graph: PathBuf,
    /// Output file for the number of each vertex: .mtx for Matrix Market, .npy for NumPy, packed if
    /// .gz or .bz2 follows; - for Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    files: FileArgs,
}

/// The fields of the report. `found` has the fields of the particular command.
#[derive(Serialize)]
struct Fields<'a, T: Serialize> {
    graph: Size,
    #[serde(flatten)]
    found: &'a T,
    total_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_ms: Option<Vec<f64>>,
    /// Whether the result is equal to the reference's; `None` without --verify.
    verified: Option<bool>,
}

/// The computation of a command.
pub struct Question {
    /// A name of the result, for messages.
    pub what: &'static str,
    /// Computes the numbers on a device, from the pattern of the graph. All values of the uploaded
    /// graph are one.
    pub on_device: fn(&DeviceMatrix<Csc<u32>>) -> blockmul::Result<Vec<u32>>,
    pub by_reference: fn(&Csc<u32>) -> blockmul::Result<Vec<u32>>,
}

/// The result of a command, as it is reported and written.
pub struct Answer<S> {
    /// The fields of the report.
    pub fields: S,
    /// A line for the summary.
    pub text: String,
    /// The number of each vertex, as it is written to files.
    pub numbers: Vec<u32>,
}

/// Reads the graph, computes, verifies, reports, and writes the numbers of the vertices.
pub fn run<S: Serialize>(
    args: &GraphArgs,
    question: &Question,
    answer: impl Fn(Vec<u32>) -> Answer<S>,
) -> Result<(), Failure> {
    output::check_stdout(&[("-o", &args.output), ("--report", &args.run.report)])?;
    args.output.as_deref().map_or(Ok(()), vector::check_name)?;
    args.files.writing.places().reads([&args.graph]).others(&args.output).json(&args.run.report).check()?;
    let messages = Messages::new(args.files.writing.quiet);
    let graph = input::read_graph(&args.graph, &args.files.reading, &messages)?.matrix;
    let g = Csc::new(graph.pattern().clone(), vec![1u32; graph.nnz()])?;
    let target = Target::choose(args.run.device.as_deref(), ElementType::U32, Method::Auto, &messages)?;
    messages.step(question.what);
    let (found, runs_ms) = match &target {
        Target::Device(device) => {
            let on_device = device.upload(&g)?;
            device.finish()?;
            repeatedly(args.run.repeat, || timed_on(device, || (question.on_device)(&on_device)))?
        }
        Target::Reference => repeatedly(args.run.repeat, || timed(|| (question.by_reference)(&g)))?,
    };
    let is_right = || Ok::<_, Failure>((question.by_reference)(&g)? == found);
    let verified = messages.verifying(args.run.verify, is_right)?;
    let total_ms = median_run(&runs_ms);
    let Answer { fields, text, numbers } = answer(found);
    let runs_ms = args.run.repeat.map(|_| runs_ms);
    let report = Report::new(&target, Fields { graph: Size::of(&g), found: &fields, total_ms, runs_ms, verified });
    report.write(&args.run.report)?;
    let is_equal = if verified == Some(true) { "\nverified: equal to the reference" } else { "" };
    let text = format!(
        "{} on {}\n  {}, {}; {text}\n  {total_ms:.3} ms{is_equal}",
        question.what,
        report.device(),
        count_of(g.ncols(), "vertex", "vertices"),
        count_of(g.nnz(), "entry", "entries")
    );
    output::summary(&text, args.files.writing.quiet, [&args.output, &args.run.report], &messages)?;
    if verified == Some(false) {
        return Err(Failure::Verification(format!(
            "{} differ from the reference's; nothing is written",
            question.what
        )));
    }
    args.output.as_deref().map_or(Ok(()), |path| vector::write(path, &numbers.into()))
}
