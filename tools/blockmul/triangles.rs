//! `blockmul triangles`: the triangles of a graph.
use crate::failure::Failure;
use crate::graphs::{self, Answer, GraphArgs, Question};
use blockmul::{graph, reference};
use serde::Serialize;

/// Count the triangles of a graph: three vertices, each connected with both others.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul triangles G.mtx                       how many there are
  blockmul triangles G.mtx -o counts.npy         how many pass through each vertex, too
  blockmul triangles G.mtx --verify --report -   checked against the reference; the result as JSON

Entries of the matrix connect vertices in both directions, whatever their values; those on the diagonal are left
out. A triangle counts once, and in -o at each of its three vertices.
Exit status: 0 done; 1 the counts are not the reference's; 2 wrong usage, or an input that cannot be read; 3 no
such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    #[command(flatten)]
    of: GraphArgs,
}

/// The fields of the report.
#[derive(Serialize)]
struct Triangles {
    triangles: u64,
    /// The most through a vertex; `None` without -o.
    most: Option<u32>,
}

/// The number of triangles, and those of each vertex if they are to be written.
#[derive(PartialEq)]
struct Counts {
    triangles: u64,
    of_vertices: Option<Vec<u32>>,
}

impl From<Vec<u32>> for Counts {
    fn from(of_vertices: Vec<u32>) -> Self {
        let triangles = of_vertices.iter().copied().map(u64::from).sum::<u64>() / 3;
        Self { triangles, of_vertices: Some(of_vertices) }
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let question = Question {
        what: "triangles",
        on_device: |g, args| match args.output {
            Some(_) => Ok(Counts::from(graph::triangles_of_vertices(g)?.download()?)),
            None => Ok(Counts { triangles: graph::triangles(g)?, of_vertices: None }),
        },
        by_reference: |g, args| {
            let counts = Counts::from(reference::triangles_of_vertices(g)?);
            Ok(Counts { of_vertices: counts.of_vertices.filter(|_| args.output.is_some()), ..counts })
        },
    };
    graphs::run(&args.of, &question, |Counts { triangles, of_vertices }| {
        let most = of_vertices.as_ref().map(|of| of.iter().copied().max().unwrap_or(0));
        let through = most.map(|most| format!(", at most {most} through a vertex")).unwrap_or_default();
        let text = format!("{triangles} triangles{through}");
        Answer { fields: Triangles { triangles, most }, text, numbers: of_vertices }
    })
}
