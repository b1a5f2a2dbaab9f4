//! The common part of `components` and `triangles`. Both compute a number for each vertex of a
//! graph whose edges connect in both directions, whatever their values.
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::numbers::some;
use crate::places::Overwriting;
use crate::report::Report;
use crate::runs::{median_run, repeatedly, timed, timed_on};
use crate::sizes::count_of;
use crate::target::Target;
use crate::{output, vector};
use blockmul::{Csc, DeviceMatrix, Method, element::ElementType};
use serde::Serialize;
use std::{num::NonZero, path::PathBuf};

/// The arguments of commands that compute a number for each vertex of a graph.
#[derive(clap::Args)]
pub struct GraphArgs {
    /// The graph, a square matrix; - for Matrix Market on stdin.
    graph: PathBuf,
    /// Write the number of each vertex here: .mtx for Matrix Market, .npy for NumPy, packed if .gz
    /// or .bz2 follows; - for Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// auto (a GPU, else a CPU, else the reference), reference, gpu, cpu, an index or part of a
    /// name from `blockmul devices` [env: BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Check the result against the reference; exit status 1, and no output file, if it differs.
    #[arg(long)]
    verify: bool,
    /// Write the result and the time as JSON; - for stdout.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Compute N times after one warm-up; the time reported is that of the median run.
    #[arg(long, value_name = "N", value_parser = some)]
    repeat: Option<NonZero<u32>>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    overwriting: Overwriting,
    /// Print neither messages nor the summary.
    #[arg(short, long)]
    quiet: bool,
}

/// The fields of the report; `found` has those of the command.
#[derive(Serialize)]
struct Fields<'a, T: Serialize> {
    graph: Size,
    #[serde(flatten)]
    found: &'a T,
    total_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_ms: Option<Vec<f64>>,
    /// Whether the result is the reference's; `None` without --verify.
    verified: Option<bool>,
}

/// The computation of a command.
pub struct Question {
    /// A name of the result, for messages.
    pub what: &'static str,
    /// Computes the numbers on a device, from the pattern of the graph; its values are ones.
    pub on_device: fn(&DeviceMatrix<Csc<u32>>) -> blockmul::Result<Vec<u32>>,
    pub by_reference: fn(&Csc<u32>) -> blockmul::Result<Vec<u32>>,
}

/// The result of a command, as it is reported and written.
pub struct Answer<S> {
    /// The fields of the report.
    pub fields: S,
    /// A line of the summary.
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
    output::check_stdout(&[("-o", &args.output), ("--report", &args.report)])?;
    args.output.as_deref().map_or(Ok(()), vector::check_name)?;
    args.overwriting.places().reads([&args.graph]).others(&args.output).json(&args.report).check()?;
    let messages = Messages::new(args.quiet);
    let mut file = input::read(&args.graph, &args.reading, &messages)?;
    input::check_graph(&args.graph, &file.matrix)?;
    input::drop_padding(&mut file, &args.graph, &messages);
    let g = Csc::new(file.matrix.pattern().clone(), vec![1u32; file.matrix.nnz()])?;
    let target = Target::choose(args.device.as_deref(), ElementType::U32, Method::Auto, &messages)?;
    messages.step(question.what);
    let (found, runs_ms) = match &target {
        Target::Device(device) => {
            let on_device = device.upload(&g)?;
            device.finish()?;
            repeatedly(args.repeat, || timed_on(device, || (question.on_device)(&on_device)))?
        }
        Target::Reference => repeatedly(args.repeat, || timed(|| (question.by_reference)(&g)))?,
    };
    let is_right = || Ok::<_, Failure>((question.by_reference)(&g)? == found);
    let verified = messages.verifying(args.verify, is_right)?;
    let total_ms = median_run(&runs_ms);
    let Answer { fields, text, numbers } = answer(found);
    let runs_ms = args.repeat.map(|_| runs_ms);
    let report = Report::new(&target, Fields { graph: Size::of(&g), found: &fields, total_ms, runs_ms, verified });
    report.write(&args.report)?;
    let is_equal = if verified == Some(true) { "\nverified: equal to the reference" } else { "" };
    let text = format!(
        "{} on {}\n  {}, {}; {text}\n  {total_ms:.3} ms{is_equal}",
        question.what,
        report.device(),
        count_of(g.ncols(), "vertex", "vertices"),
        count_of(g.nnz(), "entry", "entries")
    );
    output::summary(&text, args.quiet, [&args.output, &args.report], &messages)?;
    if verified == Some(false) {
        return Err(Failure::Verification(format!(
            "{} differ from the reference's; nothing is written",
            question.what
        )));
    }
    args.output.as_deref().map_or(Ok(()), |path| vector::write(path, &numbers.into()))
}
