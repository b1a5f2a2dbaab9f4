//! Least-squares problems from files, for the commands that linearise and solve them.
pub mod matrices;
pub mod subject;

use crate::failure::Failure;
use crate::least_squares::{ms, start};
use crate::messages::Messages;
use crate::target::{joined, select};
use blockmul::problem::{
    self, BundleProblem, BundleState, Graph, GraphProblem, GraphState, LeastSquares, Loss, Manifold, Plane, PoseGraph,
    Problem, Space,
};
use blockmul::{Device, Error, Result};
use std::path::PathBuf;
use std::time::Instant;

/// Which problem, and how it is looked at.
#[derive(clap::Args)]
pub struct ProblemArgs {
    /// A bundle adjustment of BAL, or a graph of g2o or iSAM: told by its contents; plain or packed
    /// (gzip, bzip2, xz, zstd).
    pub file: PathBuf,
    /// What a residual counts: squared, huber:WIDTH or cauchy:WIDTH, in pixels or standard deviations.
    #[arg(long, default_value_t = Loss::Squared)]
    loss: Loss,
    /// The information matrices of a graph: as in the file, or isotropic as SE-Sync weighs [default: as in the file; isotropic if one of
    /// them would reward errors].
    #[arg(long, value_enum)]
    information: Option<Information>,
    /// Where a graph starts: from its file's guess, or by chordal relaxation [default: the file's, unless all its poses are the same].
    #[arg(long, value_enum)]
    start: Option<Start>,
    /// auto (a GPU, else a CPU), gpu, cpu, an index or part of a name from `blockmul devices` [env:
    /// BLOCKMUL_DEVICE] [default: auto].
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Information {
    Full,
    Isotropic,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    File,
    Chordal,
}

/// What was taken, asked for or not.
#[derive(Clone, Copy, serde::Serialize)]
pub struct Taken {
    /// Of a graph.
    pub information: Option<Information>,
    pub start: Start,
    /// For the start, where it is not the file's.
    pub start_ms: f64,
}

/// What a command works on.
pub struct Opened {
    pub device: Device,
    pub subject: Subject,
    pub taken: Taken,
}

/// A problem and where to start.
pub enum Subject {
    Bundle(BundleProblem, BundleState),
    Plane(GraphProblem<Plane>, GraphState<Plane>),
    Space(GraphProblem<Space>, GraphState<Space>),
}

/// Does the same with whatever a [`Subject`] is.
macro_rules! with_subject {
    ($subject:expr, |$problem:ident, $start:ident| $body:expr) => {
        match $subject {
            $crate::problem::Subject::Bundle($problem, $start) => $body,
            $crate::problem::Subject::Plane($problem, $start) => $body,
            $crate::problem::Subject::Space($problem, $start) => $body,
        }
    };
}
pub(crate) use with_subject;

impl ProblemArgs {
    /// What a residual counts.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// Opens the device and reads the file; says what is taken that was not asked for.
    pub fn open(&self, messages: &Messages) -> std::result::Result<Opened, Failure> {
        messages.step(format!("reading {}", self.file.display()));
        // The device is opened while the file is read.
        let (problem, device) = std::thread::scope(|scope| {
            let opening = scope.spawn(|| select(self.device.as_deref()));
            Result::Ok((problem::read(&self.file)?, joined(opening)?))
        })?;
        messages.show_compiling(&device);
        messages.say(&format!("device: {} ({})", device.info().name, device.info().platform));
        let (subject, taken) = match problem {
            Problem::BundleAdjustment(problem) => {
                if self.information.is_some() || self.start.is_some() {
                    let text = "--information and --start are for graphs; this is a bundle adjustment";
                    return Err(Failure::Usage(text.into()));
                }
                let problem = BundleProblem::new(problem, self.loss)?;
                let start = problem.start();
                (Subject::Bundle(problem, start), Taken { information: None, start: Start::File, start_ms: 0.0 })
            }
            Problem::Graph(Graph::Plane(graph)) => {
                let (problem, start, taken) = self.graph(graph, &device, messages)?;
                (Subject::Plane(problem, start), taken)
            }
            Problem::Graph(Graph::Space(graph)) => {
                let (problem, start, taken) = self.graph(graph, &device, messages)?;
                (Subject::Space(problem, start), taken)
            }
            _ => return Err(Failure::Usage(format!("{}: not a problem this command knows", self.file.display()))),
        };
        messages.say(&with_subject!(&subject, |problem, _start| subject::Named::describe(problem)));
        Ok(Opened { device, subject, taken })
    }

    fn graph<P: Manifold>(
        &self,
        graph: PoseGraph<P>,
        device: &Device,
        messages: &Messages,
    ) -> Result<(GraphProblem<P>, GraphState<P>, Taken)> {
        let (graph, rewarding) = match self.information {
            Some(Information::Full) => (graph, None),
            Some(Information::Isotropic) => (graph.isotropic(), None),
            None => start::weighable(graph),
        };
        if let Some((count, (from, to))) = rewarding {
            messages.say(&format!(
                "{count} information matrices have negative eigenvalues, first that from {from} to {to}: all are made isotropic"
            ));
        }
        let isotropic = rewarding.is_some() || self.information == Some(Information::Isotropic);
        let problem = GraphProblem::new(graph, self.loss)?;
        let mut taken = Taken {
            information: Some(if isotropic { Information::Isotropic } else { Information::Full }),
            start: Start::File,
            start_ms: 0.0,
        };
        let says_nothing = self.start.is_none() && start::says_nothing(problem.graph());
        if self.start != Some(Start::Chordal) && !says_nothing {
            let first = problem.start();
            return Ok((problem, first, taken));
        }
        messages.step("chordal relaxation");
        let clock = Instant::now();
        let chordal = start::chordal(problem.graph(), device);
        taken.start_ms = ms(clock);
        let first = match chordal {
            Ok(first) => {
                taken.start = Start::Chordal;
                first
            }
            Err(Error::Argument(reason)) if says_nothing => {
                messages.say(&format!("all poses of the file are the same, and {reason}"));
                problem.start()
            }
            Err(error) => return Err(error),
        };
        if says_nothing && taken.start == Start::Chordal {
            messages.say("all poses of the file are the same: started by chordal relaxation");
        }
        Ok((problem, first, taken))
    }
}
