//! Least-squares problems from files, for the commands that linearise and solve them.
pub mod matrices;
pub mod subject;

use crate::failure::Failure;
use crate::least_squares::start;
use crate::messages::Messages;
use blockmul::problem::{
    self, BundleProblem, BundleState, Graph, GraphProblem, GraphState, LeastSquares, Loss, Manifold, Plane, PoseGraph,
    Problem, Space,
};
use blockmul::{Device, Result};
use std::path::PathBuf;

/// Which problem, and how it is looked at.
#[derive(clap::Args)]
pub struct ProblemArgs {
    /// A bundle adjustment of BAL, or a graph of g2o or iSAM: told by its contents; plain, gzip or bzip2.
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
    /// auto (a GPU, else a CPU), gpu, cpu, an index or part of a name from `blockmul devices`.
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: String,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Information {
    Full,
    Isotropic,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Start {
    File,
    Chordal,
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
    /// Opens the device and reads the file; says what is taken that was not asked for.
    pub fn open(&self, messages: &Messages) -> std::result::Result<(Device, Subject), Failure> {
        messages.step(format!("reading {}", self.file.display()));
        let problem = problem::read(&self.file)?;
        let device = Device::select(&self.device)?;
        messages.say(&format!("device: {} ({})", device.info().name, device.info().platform));
        let subject = match problem {
            Problem::BundleAdjustment(problem) => {
                if self.information.is_some() || self.start.is_some() {
                    let text = "--information and --start are for graphs; this is a bundle adjustment";
                    return Err(Failure::Usage(text.into()));
                }
                let problem = BundleProblem::new(problem, self.loss);
                let start = problem.start();
                Subject::Bundle(problem, start)
            }
            Problem::Graph(Graph::Plane(graph)) => {
                let (problem, start) = self.graph(graph, &device, messages)?;
                Subject::Plane(problem, start)
            }
            Problem::Graph(Graph::Space(graph)) => {
                let (problem, start) = self.graph(graph, &device, messages)?;
                Subject::Space(problem, start)
            }
            _ => return Err(Failure::Usage(format!("{}: not a problem this command knows", self.file.display()))),
        };
        messages.say(&with_subject!(&subject, |problem, _start| subject::Named::describe(problem)));
        Ok((device, subject))
    }

    fn graph<P: Manifold>(
        &self,
        mut graph: PoseGraph<P>,
        device: &Device,
        messages: &Messages,
    ) -> Result<(GraphProblem<P>, GraphState<P>)> {
        match (self.information, graph.indefinite()) {
            (Some(Information::Isotropic), _) => graph = graph.isotropic(),
            (None, Some((count, (from, to)))) => {
                messages.say(&format!(
                    "{count} information matrices have negative eigenvalues, first that from {from} to {to}: all are made isotropic"
                ));
                graph = graph.isotropic();
            }
            (Some(Information::Full), _) | (None, None) => {}
        }
        let says_nothing = graph.poses.len() > 1 && graph.poses.iter().all(|pose| *pose == graph.poses[0]);
        if self.start.is_none() && says_nothing {
            messages.say("all poses of the file are the same: started by chordal relaxation");
        }
        let problem = GraphProblem::new(graph, self.loss)?;
        let chordal = self.start == Some(Start::Chordal) || (self.start.is_none() && says_nothing);
        let start = if chordal { start::chordal(problem.graph(), device)? } else { problem.start() };
        Ok((problem, start))
    }
}
