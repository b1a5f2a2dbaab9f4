//! The steps of Lloyd relaxation on a device.
use super::{Energy, Lloyd, Ranks, Steps};
use crate::{
    Error, Result,
    device::{Buffer, Work},
    graph::{
        balance::{Balance, inside_lengths, second},
        edges::{Edges, Graph, Lengths},
        labels::nearest,
        lengths::Survey,
        patches::{Centres, Members},
        schedule::{Distances, Schedule},
    },
};

/// The data that are shared by the steps along all edges and the steps within patches.
pub(super) struct Shared<'a> {
    work: &'a Work,
    graph: &'a Graph,
    survey: Survey,
    entering: Edges,
    leaving: Edges,
    points: Option<Buffer<f64>>,
    energy: Energy,
    centres: Centres,
}

impl<'a> Shared<'a> {
    pub fn new(work: &'a Work, graph: &'a Graph, survey: Survey, asked: &Lloyd<'_>) -> Result<Self> {
        if survey.least < 0.0 {
            return Err(Error::Argument(format!(
                "patches do not support negative lengths, and the least is {}",
                survey.least
            )));
        }
        Ok(Self {
            work,
            graph,
            survey,
            entering: graph.edges(work, false)?,
            leaving: graph.edges(work, true)?,
            points: asked.points.map(|points| work.upload(points.as_flattened())).transpose()?,
            energy: asked.energy,
            centres: Centres::new(work.device())?,
        })
    }
}

/// The steps on a device, along edges with the lengths `lengths`.
pub(super) struct OnDevice<'a> {
    shared: &'a Shared<'a>,
    lengths: &'a Lengths<'a>,
    distances: Distances<'a>,
}

/// The patches of some seeds.
pub(super) struct State {
    distance: Buffer<f64>,
    members: Members,
}

impl<'a> OnDevice<'a> {
    pub fn new(shared: &'a Shared<'a>, lengths: &'a Lengths<'a>) -> Result<Self> {
        let Shared { work, graph, survey, .. } = *shared;
        let schedule = Schedule::Auto.chosen(lengths.element, work.device().info(), survey)?;
        let step = schedule.step(None, lengths, survey)?;
        Ok(Self { shared, lengths, distances: Distances::new(work, graph, lengths, schedule, step, survey)? })
    }

    /// The distance of each vertex from the nearest source.
    fn distance(&self, sources: &Buffer<u32>) -> Result<Buffer<f64>> {
        Ok(self.distances.run(self.shared.work, sources, None)?.0.into_typed())
    }
}

impl Steps for OnDevice<'_> {
    type State = State;

    fn state(&self, seeds: &[u32], sizes: Option<&[u32]>) -> Result<State> {
        let Shared { work, centres, entering, .. } = self.shared;
        let Ranks { rank, patch } = Ranks::of(seeds.len(), sizes);
        // Each source vertex is listed once, with the least rank of its seeds.
        let mut sources: Vec<(u32, u32)> = seeds.iter().zip(rank).map(|(&seed, rank)| (seed, rank)).collect();
        sources.sort_unstable();
        sources.dedup_by_key(|(seed, _)| *seed);
        let (vertices, ranks): (Vec<u32>, Vec<u32>) = sources.into_iter().unzip();
        let (vertices, ranks) = (work.upload(&vertices)?, work.upload(&ranks)?);
        let distance = self.distance(&vertices)?;
        let mut label = nearest(work, entering, self.lengths, (&vertices, &ranks), &distance)?;
        if sizes.is_some() {
            centres.rename(work, &mut label, &patch)?;
        }
        let members = centres.members(work, label, seeds.len())?;
        Ok(State { distance, members })
    }

    fn energy(&self, state: &State) -> Result<f64> {
        let Shared { work, centres, points, energy, .. } = self.shared;
        match points.as_ref().filter(|_| *energy == Energy::Centroid) {
            Some(points) => centres.energy_in_space(work, &state.members, points),
            None => centres.energy(work, &state.members.label, &state.distance),
        }
    }

    fn energies(&self, state: &State) -> Result<Vec<f64>> {
        self.shared.centres.energies(self.shared.work, &state.members, &state.distance)
    }

    fn sizes(&self, state: &State) -> Vec<u32> {
        state.members.sizes()
    }

    fn labels(&self, state: State) -> Result<Vec<u32>> {
        state.members.label.download(self.shared.work)
    }

    fn vertices(&self) -> usize {
        self.shared.graph.vertices()
    }

    fn centres(&self, state: &State, seeds: &[u32]) -> Result<Vec<u32>> {
        let Shared { work, centres, entering, leaving, points, .. } = self.shared;
        let score = match points {
            Some(points) => centres.by_centroids(work, &state.members, points)?,
            None => {
                let border = centres.border(work, &state.members.label, &entering.pattern, &leaving.pattern)?;
                centres.by_borders(work, &self.distance(&border)?)?
            }
        };
        centres.least(work, &state.members, &score, seeds)
    }

    fn far_ends(&self, state: &State, seeds: &[u32]) -> Result<Vec<u32>> {
        let Shared { work, centres, .. } = self.shared;
        centres.least(work, &state.members, &centres.by_borders(work, &state.distance)?, seeds)
    }

    fn farthest(&self, state: &State, seeds: &[u32], added: &[u32]) -> Result<Option<u32>> {
        let Shared { work, centres, .. } = self.shared;
        if added.is_empty() {
            return centres.farthest(work, &state.distance);
        }
        let mut sources = [seeds, added].concat();
        sources.sort_unstable();
        sources.dedup();
        centres.farthest(work, &self.distance(&work.upload(&sources)?)?)
    }

    fn balance(&self, state: &State, seeds: &[u32]) -> Result<Balance> {
        let Shared { work, graph, entering, centres, .. } = self.shared;
        let label = &state.members.label;
        let inside = inside_lengths(work, graph, self.lengths, entering, label)?;
        let inside = Lengths::packed(&inside);
        let second = second(work, graph, entering, [self.lengths, &inside], label, &state.distance)?;
        let without = centres.energies(work, &state.members, &second)?;
        Balance::of(self, &OnDevice::new(self.shared, &inside)?, state, seeds, &without)
    }
}
