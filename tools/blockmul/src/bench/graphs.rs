//! Operations of graphs: shortest paths, components, triangles, patches.
use super::families::SEED;
use super::measure::{Case, Subject, same_bits};
use super::record::Record;
use crate::report::Size;
use blockmul::{
    Cbc, DeviceMatrix, DeviceVector, Result,
    device::DeviceKind,
    generate::Random,
    graph::{self, Lloyd, Schedule, ShortestPaths},
    matrix::AnyMatrix,
    reference,
};

/// Patches of a graph: as many as `blockmul patches` makes by default.
const PATCHES: u64 = 64;

impl Subject<'_> {
    /// Times shortest paths from the first vertex, along edges whose lengths are the magnitudes of
    /// A's values, by each schedule: by one work-item on CPUs alone. For sweeps the edges are
    /// uploaded by the vertices that they enter, so that no transposition is timed.
    pub fn paths(&self, a: &AnyMatrix) -> Result<Vec<Record>> {
        let g = a.map(f64::abs);
        let want = reference::any_shortest_paths(&g, &[0])?;
        let leaving = self.device().upload(&g)?;
        let entering = self.device().upload(&g.transpose()?.into_transpose())?;
        let is_cpu = self.device().info().kind == DeviceKind::Cpu;
        let schedules = Schedule::ALL.iter().filter(|&&schedule| is_cpu || schedule != Schedule::NearFar);
        let timed = |&schedule: &Schedule| {
            let paths = ShortestPaths::from(&[0]).schedule(schedule);
            let run = || match schedule {
                Schedule::BellmanFord => paths.run_any(&entering),
                _ => paths.run_any(&leaving),
            };
            let found = run()?.distances.download()?;
            let case = Case {
                variant: format!("paths {schedule}"),
                element: g.element().name(),
                a: Size::of(&g),
                b: Size::of_vector(1),
                c_nnz: want.len(),
                right: found.bytes() == want.bytes(),
                ..Case::default()
            };
            self.timed(case, &mut |_| run().map(|_| Vec::new()))
        };
        schedules.map(timed).collect()
    }

    /// Times the connected components of the graph whose edges are A's entries, in both directions.
    pub fn components(&self, a: &AnyMatrix) -> Result<Record> {
        self.of_vertices(a, graph::components, reference::components)
    }

    /// Times the triangles through each vertex of the same graph.
    pub fn triangles(&self, a: &AnyMatrix) -> Result<Record> {
        self.of_vertices(a, graph::triangles_of_vertices, reference::triangles_of_vertices)
    }

    /// Times a number for each vertex of a graph.
    fn of_vertices(
        &self,
        a: &AnyMatrix,
        on_device: fn(&DeviceMatrix<AnyMatrix>) -> Result<DeviceVector<u32>>,
        by_reference: fn(&AnyMatrix) -> Result<Vec<u32>>,
    ) -> Result<Record> {
        let want = by_reference(a)?;
        let g = self.device().upload(a)?;
        let right = same_bits(&on_device(&g)?.download()?, &want);
        let case = Case { c_nnz: want.len(), ..Case::of(self.operation().name(), a, right) };
        self.timed(case, &mut |_| on_device(&g).map(|_| Vec::new()))
    }

    /// Times patches around [`PATCHES`] vertices drawn at random, of as many as there are if these
    /// are fewer, with lengths as those of paths; first without, then with balanced sizes.
    pub fn patches(&self, a: &Cbc<f64>) -> Result<Vec<Record>> {
        let lengths = a.values().iter().map(|value| value.abs()).collect();
        let g = Cbc::with_stride(a.pattern().clone(), a.shape(), a.stride(), lengths)?;
        let seeds = Random::new(SEED).distinct(PATCHES, g.pattern().ncols() as u64);
        let seeds: Vec<usize> = seeds.into_iter().map(|seed| seed as usize).collect();
        let on_device = self.device().upload(&g)?;
        let timed = |(variant, asked): (&str, Lloyd<'_>)| {
            // The device refuses what is no graph of scalars.
            let found = asked.run(&on_device)?;
            let want = reference::lloyd(&g.to_scalars(), &asked)?;
            let right = found.labels == want.labels && found.seeds == want.seeds;
            let right = right && same_bits(&found.energies, &want.energies);
            let (b, c_nnz) = (Size::of_vector(seeds.len()), want.labels.len());
            let case = Case { b, c_nnz, ..Case::of(variant, &g, right) };
            self.timed(case, &mut |_| asked.run(&on_device).map(|_| Vec::new()))
        };
        let plain = Lloyd::from(&seeds);
        [("patches", plain.clone()), ("patches balanced", plain.balanced())].into_iter().map(timed).collect()
    }
}
