//! Least-squares problems from files, for the commands that linearise and solve them.
pub mod subject;

use crate::failure::Failure;
use crate::messages::Messages;
use crate::target::{joined, select_for};
use blockmul::solver::least_squares::{
    Clock,
    start::{self, Chosen, Start},
    weight_warnings,
};
use blockmul::solver::problem::{
    self, AnyProblem, AnyState, BundleAdjustment, Edges, Graph, LeastSquares, Loss, Named, Problem, ProblemFile,
    ProblemFormat,
};
use blockmul::{Device, Result, element::ElementType};
use std::path::PathBuf;

/// The problem and how it is treated.
#[derive(clap::Args)]
pub struct ProblemArgs {
    /// A bundle adjustment of BAL, or a graph of g2o, iSAM or TORO, recognised by its contents;
    /// plain, packed (gzip, bzip2, xz, zstd) or in an archive (zip, tar).
    pub file: PathBuf,
    /// Format of a graph of EDGE2 or EDGE3, which iSAM and TORO share [default: by other keywords,
    /// such as VERTEX2; with EDGE2 alone, the format in which all matrices are regular].
    #[arg(long, value_enum)]
    edges: Option<EdgesName>,
    /// Weight of residuals: squared, huber:WIDTH or cauchy:WIDTH, in pixels or standard deviations.
    #[arg(long, default_value_t = Loss::Squared)]
    pub loss: Loss,
    /// The information matrices of a graph: as in the file, or isotropic as in SE-Sync [default: as
    /// in the file; isotropic if one of them would reward errors].
    #[arg(long, value_enum)]
    information: Option<Information>,
    /// Start of a graph [default: auto for solve; file for hessian and schur, unless all poses of
    /// the file are the same].
    #[arg(long, value_enum)]
    start: Option<StartName>,
    /// auto (a GPU, else a CPU), gpu, cpu, an index or part of a name from `blockmul devices` [env:
    /// BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
}

/// A value of `--edges`, for [`Edges`].
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EdgesName {
    /// The numbers are the root of an information matrix.
    Isam,
    /// The numbers are an information matrix: I11 I12 I22 I33 I13 I23 in the plane.
    Toro,
}

impl From<EdgesName> for Edges {
    fn from(name: EdgesName) -> Self {
        match name {
            EdgesName::Isam => Self::Isam,
            EdgesName::Toro => Self::Toro,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Information {
    Full,
    Isotropic,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum StartName {
    /// The cheaper of the file's guess and the chordal start; for a bundle adjustment the file's
    /// guess.
    Auto,
    /// The file's guess.
    File,
    /// A chordal relaxation of all measurements at once.
    Chordal,
}

/// The choices about a problem, by the user or by default.
#[derive(Clone, Copy, Default)]
pub struct Choices {
    /// Information matrices of a graph.
    pub information: Option<Information>,
    pub start: Start,
    /// The costs of the two starts, if `auto` chose between them.
    pub costs: Option<StartCosts>,
    /// Milliseconds to compute the start, if it is not the file's.
    pub start_ms: f64,
    /// Time spent waiting for kernels while the start was computed.
    pub kernels_ms: f64,
    /// The origin of the coordinates, if the problem was moved.
    pub origin: Option<[f64; 3]>,
}

#[derive(Clone, Copy, serde::Serialize)]
pub struct StartCosts {
    pub file: f64,
    /// The cost of the chordal start, or `None` if there is no chordal start.
    pub chordal: Option<f64>,
}

/// The purpose of a command that reads a problem.
#[derive(Clone, Copy)]
pub enum Aim<'a> {
    /// The command needs matrices at the start. A command that linearises takes the file's start
    /// unless the file has none.
    Matrices,
    /// The command needs a solution, from the cheaper start. A bundle adjustment far from the
    /// origin of its coordinates is moved near it.
    Solution {
        /// An option that eliminates points or landmarks: it refuses a graph without unknown
        /// landmarks before the start is computed.
        eliminating: Option<&'a str>,
    },
}

pub struct Opened {
    pub device: Device,
    pub format: ProblemFormat,
    pub problem: AnyProblem,
    pub start: AnyState,
    pub choices: Choices,
}

/// A problem with its start, or the reason why there is none.
type Started = std::result::Result<(AnyProblem, AnyState, Choices), Failure>;

impl ProblemArgs {
    /// Opens the device, reads the file, and prints which choices were made by default.
    pub fn open(&self, aim: Aim<'_>, messages: &Messages) -> std::result::Result<Opened, Failure> {
        messages.step(format!("reading {}", self.file.display()));
        // The device is opened while the file is read.
        let (file, device) = std::thread::scope(|scope| {
            let opening = scope.spawn(|| select_for(ElementType::F64, self.device.as_deref()));
            let file = problem::read_with(&self.file, self.edges.map(Edges::from));
            let device = joined(opening)?;
            Result::Ok((file?, device))
        })?;
        let ProblemFile { problem, format, notes, .. } = file;
        messages.show_compiling(&device);
        messages.say(&format!("device: {} ({})", device.info().name, device.info().platform));
        notes.iter().for_each(|note| messages.say(note));
        let (problem, start, choices) = match problem {
            Problem::BundleAdjustment(problem) => self.bundle(problem, aim, messages)?,
            Problem::Graph(graph) => self.graph(graph, aim, &device, messages)?,
            _ => return Err(Failure::Usage(format!("{}: not a problem this command knows", self.file.display()))),
        };
        messages.say(&problem.describe());
        problem.left_out().iter().for_each(|left| messages.say(&left.to_string()));
        Ok(Opened { device, format, problem, start, choices })
    }

    fn bundle(&self, mut problem: BundleAdjustment, aim: Aim<'_>, messages: &Messages) -> Started {
        if self.information.is_some() || self.start == Some(StartName::Chordal) {
            let text = "--information and --start chordal are for graphs; this is a bundle adjustment";
            return Err(Failure::Usage(text.into()));
        }
        let origin = if let Aim::Solution { .. } = aim { problem.far_origin() } else { None };
        if let Some(origin @ [x, y, z]) = origin {
            messages.say(&format!("the origin is far from the scene: solved about ({x}, {y}, {z})"));
            problem = problem.about(origin);
        }
        let problem = AnyProblem::new(problem.into(), self.loss)?;
        let start = problem.start();
        Ok((problem, start, Choices { origin, ..Choices::default() }))
    }

    fn graph(&self, graph: Graph, aim: Aim<'_>, device: &Device, messages: &Messages) -> Started {
        let (all, weightless) = (graph.measurements(), graph.weightless());
        let (problem, rewarding, losing) = match self.information {
            Some(Information::Full) => (graph.into(), None, 0),
            Some(Information::Isotropic) => {
                let losing = graph.losing();
                (graph.isotropic().into(), None, losing)
            }
            None => {
                let (problem, rewarding) = start::weighable(graph.into());
                (problem, rewarding, rewarding.map_or(0, |rewarding| rewarding.losing))
            }
        };
        rewarding.iter().for_each(|rewarding| messages.say(&rewarding.to_string()));
        weight_warnings(losing, weightless, all).iter().for_each(|text| messages.warn(text));
        let isotropic = rewarding.is_some() || self.information == Some(Information::Isotropic);
        let information = Some(if isotropic { Information::Isotropic } else { Information::Full });
        let problem = AnyProblem::new(problem, self.loss)?;
        if let (Aim::Solution { eliminating: Some(option) }, None) = (aim, problem.unknown(1, 0)) {
            return Err(Failure::Usage(format!(
                "{}: no landmarks are unknown; {option} is for problems with unknown points or landmarks, which it eliminates",
                self.file.display()
            )));
        }
        messages.step("starts");
        let clock = Clock::start(device);
        let wanted = self.start.unwrap_or(match aim {
            Aim::Matrices if !problem.says_nothing() => StartName::File,
            _ => StartName::Auto,
        });
        let mut choices = Choices { information, ..Choices::default() };
        let state = match wanted {
            StartName::File => problem.start(),
            StartName::Chordal => {
                choices.start = Start::Chordal;
                problem.chordal(device)?
            }
            StartName::Auto => {
                let chosen = problem.cheaper(device)?;
                messages.say(&chosen.text());
                let Chosen { state, start, file_cost, chordal_cost } = chosen;
                choices.costs = Some(StartCosts { file: file_cost, chordal: chordal_cost.ok() });
                choices.start = start;
                state
            }
        };
        if wanted != StartName::File {
            (choices.start_ms, choices.kernels_ms) = (clock.ms(), clock.kernels_ms());
        }
        Ok((problem, state, choices))
    }
}
