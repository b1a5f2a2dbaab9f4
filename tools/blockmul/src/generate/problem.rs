//! Whole problems, in the formats in which they are exchanged.
use super::{Common, Views};
use crate::choice::one_of;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::numbers::{count, from_zero};
use crate::output;
use crate::places::{Places, check_problem};
use blockmul::generate::problem::{Scene, Shape, Walk, bundle_adjustment, pose_graph};
use blockmul::solver::problem::{Graph, Place, PoseGraph, bal, g2o};
use clap::builder::PossibleValue;
use std::io::Write;
use std::path::PathBuf;

#[derive(clap::Subcommand)]
pub enum Family {
    /// A bundle adjustment in the text form of "Bundle Adjustment in the Large": cameras on a ring,
    /// points between them.
    #[command(after_help = "\
Examples:
  blockmul generate bal --cameras 200 --points 20000 --noise 1 -o problem.txt.gz
  blockmul generate bal --noise 0 --error 0 -o truth.txt

Neighbouring cameras are 1 apart. With --noise 0 --error 0 the same seed gives the truth.")]
    Bal {
        #[command(flatten)]
        views: Views,
        /// Standard deviation of the observations, in pixels.
        #[arg(long, default_value_t = 0.5, value_name = "PIXELS", value_parser = from_zero)]
        noise: f64,
        /// Distance of the file's cameras and points from the truth; a hundredth of it applies to
        /// rotations, focal lengths and lenses.
        #[arg(long, default_value_t = 0.1, value_name = "DISTANCE", value_parser = from_zero)]
        error: f64,
        #[command(flatten)]
        place: OutputArgs,
    },
    /// A pose graph in the text form of g2o: a path through cells or over a surface, with closures
    /// where it comes near itself.
    #[command(after_help = "\
Examples:
  blockmul generate g2o --poses 5000 --closures 10000 -o graph.g2o
  blockmul generate g2o --poses 3500 --closures 2000 --landmarks 500 --plane -o plane.g2o.gz
  blockmul generate g2o --shape torus --poses 600 --closures 600 --noise 0.5 -o trap.g2o   its start leads to a wrong minimum

A step is 1 long. The first pose is fixed; the others start where the steps alone put them. This start is
the farther from the truth the longer the path and the larger the noise. With --noise 0 the same seed gives
the truth.")]
    G2o {
        #[arg(long, default_value_t = 1_000, value_parser = count::<usize>)]
        poses: usize,
        /// Pairs of poses measured in addition to the path.
        #[arg(long, default_value_t = 2_000, value_parser = count::<usize>)]
        closures: usize,
        #[arg(long, default_value_t = 0, value_parser = count::<usize>)]
        landmarks: usize,
        /// Poses that see each landmark; fewer if fewer poses are near it.
        #[arg(long, default_value_t = 5, value_parser = count::<usize>)]
        views: usize,
        /// Course of the path.
        #[arg(long, value_parser = one_of(shapes()), default_value = "space", value_name = "SHAPE")]
        shape: Shape,
        /// In the plane instead of in space: --shape plane.
        #[arg(long, conflicts_with = "shape")]
        plane: bool,
        /// Standard deviation of measured places.
        #[arg(long, default_value_t = 0.02, value_name = "DISTANCE", value_parser = from_zero)]
        noise: f64,
        /// Standard deviation of measured rotations, about every axis [default: a quarter of the
        /// noise].
        #[arg(long, value_name = "RADIANS", value_parser = from_zero)]
        turn_noise: Option<f64>,
        #[command(flatten)]
        place: OutputArgs,
    },
}

fn shapes() -> [(PossibleValue, Shape); 4] {
    let shape = |name, shape, help: &'static str| (PossibleValue::new(name).help(help), shape);
    [
        shape("plane", Shape::Plane, "Through cells of the plane"),
        shape("space", Shape::Space, "Through cells of space"),
        shape("torus", Shape::Torus, "In turns around the tube of a torus"),
        shape("sphere", Shape::Sphere, "In turns from pole to pole of a sphere"),
    ]
}

#[derive(clap::Args)]
pub struct OutputArgs {
    /// Output file, packed if its name ends in .gz or .bz2; - for stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    common: Common,
}

impl Family {
    pub fn run(&self) -> Result<(), Failure> {
        match *self {
            Self::Bal { views: Views { cameras, points, views }, noise, error, ref place } => {
                check_problem(&place.output, false)?;
                place.write(|seed| {
                    let problem = bundle_adjustment(&Scene { cameras, points, views, noise, error, seed })?;
                    let of = problem.observations.len();
                    let said = format!("{cameras} cameras, {points} points, {of} observations");
                    Ok((said, move |writer: &mut dyn Write| bal::write_to(writer, &problem)))
                })
            }
            Self::G2o { poses, closures, landmarks, views, shape, plane, noise, turn_noise, ref place } => {
                check_problem(&place.output, true)?;
                place.write(|seed| {
                    let shape = if plane { Shape::Plane } else { shape };
                    let graph =
                        pose_graph(&Walk { poses, closures, landmarks, views, shape, noise, turn_noise, seed })?;
                    Ok((describe(&graph), move |writer: &mut dyn Write| g2o::write_to(writer, &graph)))
                })
            }
        }
    }
}

impl OutputArgs {
    /// Writes a problem; `make` returns a description of it and the function that writes it.
    fn write<W>(&self, make: impl FnOnce(u64) -> blockmul::Result<(String, W)>) -> Result<(), Failure>
    where
        W: FnMut(&mut dyn Write) -> std::io::Result<()>,
    {
        let Self { output, common } = self;
        Places::default().problems([output]).check()?;
        let messages = Messages::new(common.quiet);
        messages.step("generating");
        let (said, mut write) = make(common.seed)?;
        messages.step(format!("writing {}", output.display()));
        output::write_filled(output, &mut write)?;
        messages.say(&format!("{}: {said}", output.display()));
        Ok(())
    }
}

fn describe(graph: &Graph) -> String {
    fn counts<P: Place>(graph: &PoseGraph<P>, place: &str) -> String {
        let PoseGraph { poses, landmarks, steps, sightings, .. } = graph;
        let measured = format!("{} poses in {place}, {} measured from one another", poses.len(), steps.len());
        match landmarks.len() {
            0 => measured,
            landmarks => format!("{measured}; {landmarks} landmarks, {} sightings", sightings.len()),
        }
    }
    match graph {
        Graph::Plane(graph) => counts(graph, "the plane"),
        Graph::Space(graph) => counts(graph, "space"),
        _ => String::new(),
    }
}
