//! The steps of Lloyd relaxation on a device.
use super::{Lloyd, Ranks, Steps};
use crate::{
    Error, Result,
    device::{Buffer, Work},
    graph::{
        balance::{Balance, Whole},
        edges::{Edges, Graph, Lengths},
        labels::nearest,
        lengths::Survey,
        patches::{Centres, Members},
        schedule::{Distances, Schedule},
    },
};

/// The steps on a device, and what they share.
pub(super) struct OnDevice<'a> {
    work: &'a Work,
    graph: &'a Graph,
    distances: Distances<'a, f64>,
    schedule: Schedule,
    step: f64,
    survey: Survey,
    lengths: &'a Lengths<'a, f64>,
    entering: Edges,
    leaving: Edges,
    points: Option<Buffer<f64>>,
    centres: Centres,
}

/// The patches of some seeds.
pub(super) struct State {
    distance: Buffer<f64>,
    members: Members,
    energy: f64,
}

impl<'a> OnDevice<'a> {
    pub fn new(
        work: &'a Work,
        graph: &'a Graph,
        lengths: &'a Lengths<'a, f64>,
        survey: Survey,
        asked: &Lloyd<'_>,
    ) -> Result<Self> {
        if survey.least < 0.0 {
            return Err(Error::Argument(format!("patches take no negative length, the least is {}", survey.least)));
        }
        let schedule = Schedule::Auto.chosen::<f64>(work.device().info(), survey)?;
        let step = schedule.step(None, lengths, survey)?;
        Ok(Self {
            work,
            graph,
            schedule,
            step,
            survey,
            distances: Distances::new(work, graph, lengths, (schedule, step), survey)?,
            lengths,
            entering: graph.edges(work, false)?,
            leaving: graph.edges(work, true)?,
            points: asked.points.map(|points| work.upload(points.as_flattened())).transpose()?,
            centres: Centres::new(work.device())?,
        })
    }
}

impl Steps for OnDevice<'_> {
    type State = State;

    fn state(&self, seeds: &[u32], sizes: Option<&[u32]>) -> Result<State> {
        let work = self.work;
        let Ranks { rank, patch } = Ranks::of(seeds.len(), sizes);
        // Each vertex once, with the least rank of its seeds.
        let mut sources: Vec<(u32, u32)> = seeds.iter().zip(rank).map(|(&seed, rank)| (seed, rank)).collect();
        sources.sort_unstable();
        sources.dedup_by_key(|(seed, _)| *seed);
        let (vertices, ranks): (Vec<u32>, Vec<u32>) = sources.into_iter().unzip();
        let (vertices, ranks) = (work.upload(&vertices)?, work.upload(&ranks)?);
        let (distance, _) = self.distances.run(work, &vertices, None)?;
        let mut label = nearest(work, &self.entering, self.lengths, (&vertices, &ranks), &distance)?;
        if sizes.is_some() {
            self.centres.rename(work, &mut label, &patch)?;
        }
        let energy = self.centres.energy(work, &label, &distance)?;
        let members = self.centres.members(work, label, seeds.len())?;
        Ok(State { distance, members, energy })
    }

    fn energy(&self, state: &State) -> f64 {
        state.energy
    }

    fn sizes(&self, state: &State) -> Vec<u32> {
        state.members.sizes()
    }

    fn labels(&self, state: State) -> Result<Vec<u32>> {
        state.members.label.download(self.work)
    }

    fn vertices(&self) -> usize {
        self.graph.vertices()
    }

    fn balance(&self, state: &State, seeds: &[u32]) -> Result<Balance> {
        let Self { graph, lengths, entering, survey, schedule, step, .. } = self;
        let whole = Whole { graph, lengths, entering, survey: *survey, schedule: *schedule, step: *step };
        Balance::of(self.work, &whole, &self.centres, &state.members, (&state.distance, seeds))
    }

    fn moved(&self, state: &State, seeds: &[u32]) -> Result<Vec<u32>> {
        let (work, centres) = (self.work, &self.centres);
        let score = match &self.points {
            Some(points) => centres.by_centroids(work, &state.members, points)?,
            None => {
                let (entering, leaving) = (&self.entering.pattern, &self.leaving.pattern);
                let border = centres.border(work, &state.members.label, entering, leaving)?;
                centres.by_borders(work, &self.distances.run(work, &border, None)?.0)?
            }
        };
        let mut moved = centres.least(work, &state.members, &score, seeds)?;
        if let Some(empty) = state.members.first_empty() {
            moved[empty] = centres.farthest(work, &state.distance)?;
        }
        Ok(moved)
    }
}
