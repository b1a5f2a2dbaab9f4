//! `blockmul generate`: matrices of families that occur in solvers, and whole problems. A seed
//! gives the same file everywhere.
mod problem;
mod surface;

use crate::failure::Failure;
use crate::input;
use crate::messages::Messages;
use crate::numbers::count;
use crate::places::Places;
use blockmul::{
    BlockShape, Cbc, Result,
    generate::{self, PoseChain, PowerLaw, Uniform, Values, Visibility},
};
use std::path::PathBuf;

/// Write a test matrix or problem. The same arguments give the same file on every machine.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  blockmul generate bundle-adjustment --cameras 200 --points 20000 -o W.mtx
  blockmul generate pose-graph --poses 5000 --closures 10000 -o H.mtx.gz
  blockmul generate uniform --rows 10000 --per-column 8 --block 4 -o U.mtx
  blockmul generate power-law --nodes 20000 --edges 200000 --integer --seed 7 -o P.mtx
  blockmul generate planar --cols 1000 --rows 1000 -o G.npz
  blockmul generate mesh --shape torus --points 20000 -o torus.ply
  blockmul generate bal --cameras 200 --points 20000 -o problem.txt.bz2
  blockmul generate g2o --poses 5000 --closures 10000 -o graph.g2o

Sizes count blocks. The file of a matrix holds every element of every block, and a comment that names the
shape of the blocks: `multiply` needs no --block.")]
pub struct Args {
    #[command(subcommand)]
    family: Family,
}

#[derive(clap::Args)]
struct MatrixArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Small whole numbers instead of real ones in -1..1, so that sums of products are exact.
    #[arg(long)]
    integer: bool,
}

#[derive(clap::Args)]
struct PlaceArgs {
    /// Output file, in the format of the name's ending, packed if it ends in .gz or .bz2; - for
    /// Matrix Market on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    common: Common,
}

/// Arguments of every family.
#[derive(clap::Args)]
struct Common {
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1, value_parser = count::<u64>)]
    seed: u64,
    /// Do not report on stderr that the file was written.
    #[arg(short, long)]
    quiet: bool,
}

/// The cameras and points of a bundle adjustment.
#[derive(Clone, Copy, clap::Args)]
struct Views {
    #[arg(long, default_value_t = 100, value_parser = count::<usize>)]
    cameras: usize,
    #[arg(long, default_value_t = 10_000, value_parser = count::<usize>)]
    points: usize,
    /// Cameras that see each point.
    #[arg(long, default_value_t = 5, value_parser = count::<usize>)]
    views: usize,
}

#[derive(clap::Subcommand)]
enum Family {
    /// W of a bundle adjustment: a block for each view of a point (columns) by a camera (rows).
    #[command(
        after_help = "Examples:\n  blockmul generate bundle-adjustment --cameras 50 --points 4000 --block 9x3 -o W.mtx"
    )]
    BundleAdjustment {
        #[command(flatten)]
        views: Views,
        /// 6x3, or 9x3 for cameras with intrinsics.
        #[arg(long, default_value = "6x3", value_name = "RxK")]
        block: BlockShape,
        #[command(flatten)]
        matrix: MatrixArgs,
    },
    /// The Hessian of a pose graph: a chain of poses, closed at random places.
    #[command(
        after_help = "Examples:\n  blockmul generate pose-graph --poses 5000 --closures 10000 --side 3 -o H.mtx.gz"
    )]
    PoseGraph {
        #[arg(long, default_value_t = 1_000, value_parser = count::<usize>)]
        poses: usize,
        /// Pairs of poses connected in addition to the chain.
        #[arg(long, default_value_t = 2_000, value_parser = count::<usize>)]
        closures: usize,
        /// Rows and columns of a block: 6 in space, 3 in the plane.
        #[arg(long, default_value_t = 6, value_parser = count::<usize>)]
        side: usize,
        #[command(flatten)]
        matrix: MatrixArgs,
    },
    /// Equally many blocks in each column, at random rows.
    #[command(after_help = "Examples:\n  blockmul generate uniform --rows 10000 --cols 5000 --per-column 8 -o U.mtx")]
    Uniform {
        #[arg(long, default_value_t = 1_000, value_parser = count::<usize>)]
        rows: usize,
        /// Columns [default: as many as rows].
        #[arg(long, value_parser = count::<usize>)]
        cols: Option<usize>,
        /// Blocks in a column.
        #[arg(long, default_value_t = 8, value_parser = count::<usize>)]
        per_column: usize,
        #[arg(long, default_value = "1", value_name = "RxK")]
        block: BlockShape,
        #[command(flatten)]
        matrix: MatrixArgs,
    },
    /// Few columns with many blocks and many with few, as in graphs of people and pages (R-MAT).
    #[command(after_help = "Examples:\n  blockmul generate power-law --nodes 20000 --edges 200000 --seed 7 -o P.mtx")]
    PowerLaw {
        /// Rows and columns.
        #[arg(long, default_value_t = 1_000, value_parser = count::<usize>)]
        nodes: usize,
        /// Number of blocks that are drawn. A block that is drawn twice is kept once.
        #[arg(long, default_value_t = 8_000, value_parser = count::<usize>)]
        edges: usize,
        #[arg(long, default_value = "1", value_name = "RxK")]
        block: BlockShape,
        #[command(flatten)]
        matrix: MatrixArgs,
    },
    /// A graph like that of roads: points of the plane and the lengths of a triangulation's edges.
    #[command(after_help = "Examples:\n  blockmul generate planar --cols 3000 --rows 3000 -o G.npz")]
    Planar {
        /// Points in a row.
        #[arg(long, default_value_t = 100, value_parser = count::<usize>)]
        cols: usize,
        #[arg(long, default_value_t = 100, value_parser = count::<usize>)]
        rows: usize,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// A triangle mesh of a sphere, a torus or a terrain.
    #[command(
        after_help = "Examples:\n  blockmul generate mesh --shape terrain --points 40000 --seed 7 -o terrain.ply"
    )]
    Mesh(surface::Args),
    #[command(flatten)]
    Problem(problem::Family),
}

pub fn run(args: &Args) -> std::result::Result<(), Failure> {
    match args.family {
        Family::BundleAdjustment { views: Views { cameras, points, views }, block: shape, ref matrix } => {
            matrix.write(|values, seed| Visibility { cameras, points, views, shape, values, seed }.matrix())
        }
        Family::PoseGraph { poses, closures, side: freedom, ref matrix } => {
            matrix.write(|values, seed| PoseChain { poses, closures, freedom, values, seed }.matrix())
        }
        Family::Uniform { rows, cols, per_column, block: shape, ref matrix } => matrix.write(|values, seed| {
            Uniform { rows, cols: cols.unwrap_or(rows), per_column, shape, values, seed }.matrix()
        }),
        Family::PowerLaw { nodes, edges, block: shape, ref matrix } => {
            matrix.write(|values, seed| PowerLaw { nodes, edges, shape, values, seed }.matrix())
        }
        Family::Planar { cols, rows, ref place } => place.write(|seed| generate::planar(cols, rows, seed)),
        Family::Mesh(ref args) => args.run(),
        Family::Problem(ref family) => family.run(),
    }
}

impl MatrixArgs {
    fn write(&self, make: impl FnOnce(Values, u64) -> Result<Cbc<f64>>) -> std::result::Result<(), Failure> {
        let values = if self.integer { Values::Integer } else { Values::Real };
        self.place.write(|seed| make(values, seed))
    }
}

impl PlaceArgs {
    /// Writes the matrix that `make` returns for a seed.
    fn write(&self, make: impl FnOnce(u64) -> Result<Cbc<f64>>) -> std::result::Result<(), Failure> {
        Places::default().matrices([&self.output]).check()?;
        let messages = Messages::new(self.common.quiet);
        messages.step("generating");
        input::write(&self.output, &make(self.common.seed)?, &messages)
    }
}
