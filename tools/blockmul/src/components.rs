//! `blockmul components`: the connected components of a graph.
use crate::failure::Failure;
use crate::graphs::{self, Answer, GraphArgs, Question};
use crate::sizes::count_of;
use blockmul::{graph, reference};
use serde::Serialize;

/// Connected components of a graph.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul components G.mtx                        how many there are, and how large they are
  blockmul components G.mtx -o labels.npy          the component of each vertex, for NumPy
  blockmul components G.mtx --verify --report -    checked against the reference; the result as JSON

Entries of the matrix connect vertices in both directions, whatever their values. A component is named by its
least vertex, counted from 1. The same labels come from every device.
Exit status: 0 done; 1 the labels are not the reference's; 2 wrong usage, or an input that cannot be read; 3 no
such device; 4 not enough memory; 5 anything else.")]
pub struct Args {
    #[command(flatten)]
    of: GraphArgs,
}

#[derive(Serialize)]
struct Components {
    components: usize,
    /// Number of vertices of the largest component.
    largest: usize,
    /// Vertices without a neighbour.
    isolated: usize,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let question = Question {
        what: "connected components",
        on_device: |g| graph::components(g)?.download(),
        by_reference: reference::components,
    };
    graphs::run(&args.of, &question, |labels| {
        let mut sizes = vec![0usize; labels.len()];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        let count = |is: fn(usize) -> bool| sizes.iter().filter(|&&size| is(size)).count();
        let fields = Components {
            components: count(|size| size > 0),
            largest: sizes.iter().copied().max().unwrap_or(0),
            isolated: count(|size| size == 1),
        };
        let Components { components, largest, isolated } = fields;
        let text = match components {
            1 => "1 component".into(),
            _ => {
                let largest = count_of(largest, "vertex", "vertices");
                format!("{components} components, {largest} in the largest, {isolated} of one vertex")
            }
        };
        // Files count vertices from 1.
        Answer { fields, text, numbers: labels.into_iter().map(|label| label + 1).collect() }
    })
}
