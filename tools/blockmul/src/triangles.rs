//! `blockmul triangles`: the triangles of a graph.
use crate::failure::Failure;
use crate::graphs::{self, Answer, GraphArgs, Question};
use crate::sizes::count;
use blockmul::{graph, reference};
use serde::Serialize;

/// Count the triangles of a graph: three vertices, each connected with both others.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul triangles G.mtx                       how many there are
  blockmul triangles G.mtx -o counts.npy         how many pass through each vertex
  blockmul triangles G.mtx --verify --report -   checked against the reference; the result as JSON

Entries of the matrix connect vertices in both directions, whatever their values; those on the diagonal are left
out. A triangle counts once, and in -o at each of its three vertices.
Exit status: 0 done; 1 the counts are not the reference's; 2 wrong usage, or an input that cannot be read; 3 no
such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    #[command(flatten)]
    of: GraphArgs,
}

#[derive(Serialize)]
struct Triangles {
    triangles: u64,
    /// The most triangles through one vertex.
    most: u32,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let question = Question {
        what: "triangles",
        on_device: |g| graph::triangles_of_vertices(g)?.download(),
        by_reference: reference::triangles_of_vertices,
    };
    graphs::run(&args.of, &question, |counts| {
        let triangles = counts.iter().copied().map(u64::from).sum::<u64>() / 3;
        let most = counts.iter().copied().max().unwrap_or(0);
        let text = format!("{}, at most {most} through a vertex", count(triangles as usize, "triangle"));
        Answer { fields: Triangles { triangles, most }, text, numbers: counts }
    })
}
