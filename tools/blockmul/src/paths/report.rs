//! The report of a run of `paths`.
use super::Args;
use crate::failure::Failure;
use crate::matrix_size::Size;
use crate::messages::Messages;
use crate::output;
use crate::report::Report;
use crate::sizes::{count, count_of};
use blockmul::graph::Schedule;
use serde::Serialize;

#[derive(Serialize)]
pub struct Fields {
    pub element: &'static str,
    pub graph: Size,
    pub sources: Vec<usize>,
    /// Whether distances were computed for each source separately.
    pub each: bool,
    /// The schedule of the edges, or `None` if the reference computes the paths.
    pub schedule: Option<Schedule>,
    /// Number of limits between near and far that were set, or number of sweeps; with --each, the
    /// sum over all sources.
    pub rounds: Option<u64>,
    /// Number of visits of edges and vertices.
    pub visits: Option<u64>,
    /// Number of vertices with a path from a source; with --each, pairs of a source and such a
    /// vertex.
    pub reached: usize,
    /// The largest finite distance.
    pub farthest: Option<f64>,
    pub total_ms: f64,
    /// The times of all runs with --repeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_ms: Option<Vec<f64>>,
    /// Whether distances and predecessors are equal to the reference's; `None` without --verify.
    pub verified: Option<bool>,
}

pub fn tell(args: &Args, report: &Report<Fields>, messages: &Messages) -> Result<(), Failure> {
    report.write(&args.run.report)?;
    let (device, report) = (report.device(), &report.of);
    let by = report.schedule.map_or("the reference", Schedule::name);
    let what = if args.levels { "levels" } else { "distances" };
    let rounds = report.rounds.map(|rounds| format!(", {}", count(rounds as usize, "round"))).unwrap_or_default();
    let farthest = report.farthest.map(|farthest| format!(", the farthest at {farthest}")).unwrap_or_default();
    let verified = match report.verified {
        Some(true) => "\nverified: equal to the reference, bit for bit",
        _ => "",
    };
    let from = match (report.each, report.sources.len()) {
        (true, sources) if sources > 1 => format!(" from each of {sources} sources"),
        _ => String::new(),
    };
    let text = format!(
        "{what}{from} in {} by {by} on {device}\n  {}, {}; {} reached{farthest}\n  {:.3} ms{rounds}{verified}",
        report.element,
        count_of(report.graph.cols(), "vertex", "vertices"),
        count(report.graph.nnz(), "edge"),
        report.reached,
        report.total_ms
    );
    output::summary(&text, args.files.writing.quiet, [&args.output, &args.predecessors, &args.run.report], messages)
}
