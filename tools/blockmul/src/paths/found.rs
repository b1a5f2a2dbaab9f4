//! Distances and predecessors, by a device or by the reference.
use blockmul::{
    DeviceMatrix, Result,
    element::AnyValues,
    extra::host::Progress,
    graph::{Schedule, ShortestPaths},
    matrix::AnyMatrix,
    reference,
};
use std::time::Instant;

pub struct Wanted {
    /// The source vertices, counted from 0. The lists of sources; distances are computed for each
    /// list separately.
    pub sources: Vec<Vec<usize>>,
    pub schedule: Schedule,
    pub delta: Option<f64>,
    pub predecessors: bool,
}

/// The paths that were found, for one list of sources after another.
pub struct Found {
    pub distances: AnyValues,
    pub predecessors: Option<Vec<u32>>,
    /// The schedule of the edges. `schedule`, `rounds` and `visits` are `None` if the reference
    /// computes the paths.
    pub schedule: Option<Schedule>,
    pub rounds: Option<u64>,
    pub visits: Option<u64>,
    pub total_ms: f64,
}

impl Found {
    pub fn on_device(g: &DeviceMatrix<AnyMatrix>, wanted: &Wanted, progress: &Progress) -> Result<Self> {
        let (mut distances, mut before) = (AnyValues::zeros(g.element(), 0), Vec::new());
        let (mut schedule, mut rounds, mut visits, mut total_ms) = (None, 0, 0, 0.0);
        for sources in &wanted.sources {
            let paths = ShortestPaths::from(sources).schedule(wanted.schedule).progress(progress.clone());
            let paths = wanted.delta.into_iter().fold(paths, ShortestPaths::delta);
            let paths = if wanted.predecessors { paths.predecessors() } else { paths }.run_any(g)?;
            distances.append(paths.distances.download()?);
            before.extend(paths.predecessors.map(|of| of.download()).transpose()?.unwrap_or_default());
            schedule = Some(paths.schedule);
            rounds += paths.rounds;
            visits += paths.visits;
            total_ms += paths.total_ms;
        }
        let predecessors = wanted.predecessors.then_some(before);
        Ok(Self { distances, predecessors, schedule, rounds: Some(rounds), visits: Some(visits), total_ms })
    }

    pub fn by_reference(g: &AnyMatrix, wanted: &Wanted) -> Result<Self> {
        let clock = Instant::now();
        let (mut distances, mut before) = (AnyValues::zeros(g.element(), 0), Vec::new());
        for sources in &wanted.sources {
            let found = reference::any_shortest_paths(g, sources)?;
            if wanted.predecessors {
                before.extend(reference::any_predecessors(g, sources, &found)?);
            }
            distances.append(found);
        }
        let total_ms = clock.elapsed().as_secs_f64() * 1e3;
        let predecessors = wanted.predecessors.then_some(before);
        Ok(Self { distances, predecessors, schedule: None, rounds: None, visits: None, total_ms })
    }

    /// Returns the paths and their milliseconds.
    pub fn timed(self) -> (Self, f64) {
        let total_ms = self.total_ms;
        (self, total_ms)
    }
}
