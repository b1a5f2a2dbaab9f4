//! `blockmul generate`: deterministic inputs.
use crate::{Failure, values::block_shape};
use blockmul::{BlockShape, Cbc, generate, io::matrix_market};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Writes a matrix of a family that solvers meet, the same for a seed everywhere.
#[derive(Args)]
#[command(after_help = "Examples:
  blockmul generate bundle-adjustment --cameras 50 --points 8000 -o W.mtx
  blockmul generate pose-graph --poses 2500 --closures 2500 -o H.mtx.gz
  blockmul generate uniform --rows 10000 --per-column 8 --block 3 -o A.mtx
  blockmul generate power-law --scale 12 --edges 32768 --block 6 --integer -o A.mtx")]
pub struct Generate {
    #[command(subcommand)]
    family: Family,
}

#[derive(Args)]
struct Output {
    /// File to write, compressed where the name ends in .gz.
    #[arg(short, long)]
    output: PathBuf,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Small whole numbers, so that sums of products are exact.
    #[arg(long)]
    integer: bool,
}

#[derive(Subcommand)]
enum Family {
    /// Camera-point matrix of a bundle adjustment: a 6x3 or 9x3 block where a camera sees a point.
    BundleAdjustment {
        #[arg(long, default_value_t = 50)]
        cameras: usize,
        #[arg(long, default_value_t = 8000)]
        points: usize,
        /// Cameras that see each point.
        #[arg(long, default_value_t = 4)]
        views: usize,
        #[arg(long, default_value = "6x3", value_parser = block_shape)]
        block: BlockShape,
        #[command(flatten)]
        output: Output,
    },
    /// Hessian of a pose graph: odometry, loop closures, a dominant diagonal.
    PoseGraph {
        #[arg(long, default_value_t = 2500)]
        poses: usize,
        /// Loop closures.
        #[arg(long, default_value_t = 2500)]
        closures: usize,
        /// Side of the blocks: 6 for poses in space, 3 in the plane.
        #[arg(long, default_value_t = 6)]
        side: usize,
        #[command(flatten)]
        output: Output,
    },
    /// The same number of blocks in every column, anywhere.
    Uniform {
        /// Block rows.
        #[arg(long, default_value_t = 10_000)]
        rows: usize,
        /// Block columns; as many as rows by default.
        #[arg(long)]
        cols: Option<usize>,
        /// Blocks in each column.
        #[arg(long, default_value_t = 8)]
        per_column: usize,
        #[arg(long, default_value = "1", value_parser = block_shape)]
        block: BlockShape,
        #[command(flatten)]
        output: Output,
    },
    /// A few columns and rows with most of the blocks (R-MAT).
    PowerLaw {
        /// 2^SCALE block rows and columns.
        #[arg(long, default_value_t = 12)]
        scale: u32,
        /// Draws; a block drawn twice is there once.
        #[arg(long, default_value_t = 32_768)]
        edges: usize,
        #[arg(long, default_value = "1", value_parser = block_shape)]
        block: BlockShape,
        #[command(flatten)]
        output: Output,
    },
}

impl Generate {
    pub fn run(self) -> Result<(), Failure> {
        let values = |output: &Output| if output.integer { generate::Values::Integer } else { generate::Values::Real };
        let (matrix, output): (Cbc<f64>, _) = match self.family {
            Family::BundleAdjustment { cameras, points, views, block, output } => {
                (generate::bundle_adjustment(cameras, points, views, block, values(&output), output.seed)?, output)
            }
            Family::PoseGraph { poses, closures, side, output } => {
                (generate::pose_graph(poses, closures, side, values(&output), output.seed)?, output)
            }
            Family::Uniform { rows, cols, per_column, block, output } => {
                let cols = cols.unwrap_or(rows);
                (generate::uniform(rows, cols, per_column, block, values(&output), output.seed)?, output)
            }
            Family::PowerLaw { scale, edges, block, output } => {
                (generate::power_law(scale, edges, block, values(&output), output.seed)?, output)
            }
        };
        matrix_market::write(&output.output, &matrix.to_scalars())?;
        eprintln!(
            "{}: {}x{} blocks of {}, {} stored",
            output.output.display(),
            matrix.nrows(),
            matrix.ncols(),
            matrix.shape(),
            matrix.nnz()
        );
        Ok(())
    }
}
