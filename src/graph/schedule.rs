//! The orders in which the edges of a graph are visited, and the computation of distances in such
//! an order.
use super::{
    edges::{Edges, Graph, Lengths, WeighedEdges},
    frontier::{self, frontier},
    lengths::Survey,
    near_far::{Visits, near_far},
    start::start,
    sweeps::Sweeps,
};
use crate::{
    DeviceInfo, DeviceKind, Error, Result,
    device::{Buffer, Work},
    element::ElementType,
    host::Progress,
    named::{self, named},
};

/// The first step of the limit between near and far is the mean length divided by this number. If
/// the first step is the mean, each edge of an R-MAT graph with 15 edges for each vertex is visited
/// 3.0 times on average; if it is a 64th of the mean, 1.2 times. On a grid of vertices steps soon
/// become longer, and each edge is visited once with either first step.
const PART_OF_MEAN: f64 = 64.0;

/// The least allowed step of the limit between near and far. A smaller step might be subnormal, and
/// on devices that treat subnormal numbers as zero it would not grow when it is doubled. The
/// schedule `frontier` needs no least step, because its limit moves at least to the nearest vertex
/// beyond the limit.
fn least_step(element: ElementType, schedule: Schedule) -> f64 {
    match (element.bytes(), schedule) {
        _ if element.is_integer() => 1.0,
        (8, Schedule::Frontier) => f64::from_bits(1),
        (8, _) => f64::MIN_POSITIVE,
        (_, Schedule::Frontier) => f64::from(f32::from_bits(1)),
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

/// The order in which edges are visited. The order changes the time of a computation, but not its
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Schedule {
    /// Chooses [`Schedule::Sweeps`] if a length is negative. If no length is negative, chooses
    /// [`Schedule::NearFar`] on CPUs, [`Schedule::Frontier`] on other devices that have atomic
    /// minima of the distances' type, and [`Schedule::Sweeps`] on all other devices.
    #[default]
    Auto,
    /// One work-item visits vertices near the sources first. No length may be negative.
    NearFar,
    /// All work-items visit vertices near the sources first. No length may be negative. Distances
    /// of 64 bits need a device with `cl_khr_int64_extended_atomics` and addresses of 64 bits.
    Frontier,
    /// Visits all edges in every sweep, until no distance falls: the algorithm of Bellman and Ford.
    /// A sweep is a product over [min-plus](crate::Semiring::MinPlus), in the format that
    /// [`plan::Apply`](crate::plan::Apply) chooses. Lengths may be negative. The command and
    /// [`str::parse`] also accept the name `bellman-ford`.
    Sweeps,
}

impl Schedule {
    /// Every schedule except [`Schedule::Auto`].
    pub const ALL: &[Self] = &[Self::NearFar, Self::Frontier, Self::Sweeps];

    /// The name that the command and the report use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::NearFar => "near-far",
            Self::Frontier => "frontier",
            Self::Sweeps => "sweeps",
        }
    }

    /// A further name that the command and [`str::parse`] read.
    pub fn alias(self) -> Option<&'static str> {
        (self == Self::Sweeps).then_some("bellman-ford")
    }

    /// The schedule for distances of this type.
    pub(super) fn chosen(self, element: ElementType, info: &DeviceInfo, survey: Survey) -> Result<Self> {
        let negative = survey.least < 0.0;
        match self {
            Self::Auto if negative => Ok(Self::Sweeps),
            Self::Auto if info.kind == DeviceKind::Cpu => Ok(Self::NearFar),
            Self::Auto if frontier::check(element, info).is_err() => Ok(Self::Sweeps),
            Self::Auto => Ok(Self::Frontier),
            asked if negative && asked != Self::Sweeps => {
                let least = survey.least;
                Err(Error::Argument(format!(
                    "{asked} does not support negative lengths, and the least is {least}: use sweeps"
                )))
            }
            asked => Ok(asked),
        }
    }

    /// The first step of the limit between near and far; `delta` if it is given.
    pub(super) fn step(self, delta: Option<f64>, lengths: &Lengths<'_>, survey: Survey) -> Result<f64> {
        let usual = match self {
            // If every edge has length 1, an infinite limit makes rounds go from level to level,
            // and no list of vertices has to be divided.
            Self::Frontier if lengths.values.is_none() => f64::INFINITY,
            Self::Frontier => survey.mean,
            _ => survey.mean / PART_OF_MEAN,
        };
        match delta {
            Some(delta) if delta.is_nan() || delta <= 0.0 => {
                Err(Error::Argument(format!("delta is {delta}, it has to be above 0")))
            }
            Some(_) if self == Self::Sweeps => Err(Error::Argument(format!(
                "{self} does not use a delta, which applies to the schedules near-far and frontier only"
            ))),
            delta => Ok(delta.unwrap_or(usual).max(least_step(lengths.element, self))),
        }
    }
}

named!(Schedule);

impl std::str::FromStr for Schedule {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let is_alias = |of: &&Self| of.alias().is_some_and(|alias| alias.eq_ignore_ascii_case(text));
        match Self::ALL.iter().find(is_alias) {
            Some(schedule) => Ok(*schedule),
            None => named::find("schedule", &[&[Self::Auto], Self::ALL], Self::name, text),
        }
    }
}

/// Distances along the edges of a graph, from any sources.
pub(super) struct Distances<'a> {
    order: Order<'a>,
    element: ElementType,
    vertices: usize,
}

/// The order of a schedule, prepared for a graph.
enum Order<'a> {
    Sweeps(Box<Sweeps<'a>>),
    /// Visits the edges that leave each vertex, beginning with vertices near the sources.
    Nearest {
        by: Nearest,
        edges: Edges,
        lengths: &'a Lengths<'a>,
        step: f64,
    },
}

/// Visits vertices near the sources first.
type Nearest = fn(&Work, WeighedEdges<'_>, &Buffer<u32>, f64, &mut Buffer, Option<&Progress>) -> Result<Visits>;

impl<'a> Distances<'a> {
    pub fn new(
        work: &Work,
        graph: &Graph,
        lengths: &'a Lengths<'a>,
        schedule: Schedule,
        step: f64,
        survey: Survey,
    ) -> Result<Self> {
        let order = match schedule {
            Schedule::Sweeps => Order::Sweeps(Box::new(Sweeps::new(work, graph, lengths, survey.least < 0.0)?)),
            _ => {
                let by: Nearest = if schedule == Schedule::NearFar { near_far } else { frontier };
                Order::Nearest { by, edges: graph.edges(work, true)?, lengths, step }
            }
        };
        Ok(Self { order, element: lengths.element, vertices: graph.vertices() })
    }

    /// The distances from the nearest of the sources, which are different vertices.
    pub fn run(&self, work: &Work, sources: &Buffer<u32>, progress: Option<&Progress>) -> Result<(Buffer, Visits)> {
        let mut distance = start(work, self.element, sources, self.vertices)?;
        match &self.order {
            Order::Sweeps(sweeps) => sweeps.run(work, distance, progress),
            Order::Nearest { by, edges, lengths, step } => {
                let visits = by(work, edges.with(lengths), sources, *step, &mut distance, progress)?;
                Ok((distance, visits))
            }
        }
    }
}
