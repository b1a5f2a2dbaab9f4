//! Shortest paths.
use super::measure::{Case, Subject, same_bits};
use super::record::Record;
use crate::report::Size;
use blockmul::{
    Bsr, Cbc, Element, Result,
    device::DeviceKind,
    element::{Length, Real},
    graph::{Schedule, ShortestPaths},
    reference,
};

impl Subject<'_> {
    /// Times shortest paths from the first vertex, along edges whose lengths are the magnitudes of
    /// A's values, by each schedule: by one work-item on CPUs alone. For sweeps the edges are
    /// uploaded by the vertices that they enter, so that no transposition is timed.
    pub fn paths<T: Real + Length>(&self, a: &Cbc<T>) -> Result<Vec<Record>> {
        let lengths = a.values().iter().map(|value| <T as Element>::from_f64(value.to_f64().abs())).collect();
        let g = Cbc::with_stride(a.pattern().clone(), a.shape(), a.stride(), lengths)?;
        let want = reference::shortest_paths(&g, &[0])?;
        let leaving = self.device().upload(&g)?;
        let entering = self.device().upload(&Bsr::from_transpose(g.try_transpose()?))?;
        let is_cpu = self.device().info().kind == DeviceKind::Cpu;
        let schedules = Schedule::ALL.iter().filter(|&&schedule| is_cpu || schedule != Schedule::NearFar);
        let timed = |&schedule: &Schedule| {
            let paths = ShortestPaths::from(&[0]).schedule(schedule);
            let run = || match schedule {
                Schedule::BellmanFord => paths.run(&entering),
                _ => paths.run(&leaving),
            };
            let found = run()?.distances.download()?;
            let case = Case {
                variant: format!("paths {schedule}"),
                element: T::NAME,
                a: Size::of(&g),
                b: Size::of_vector(1),
                c_nnz: want.len(),
                right: same_bits(&found, &want),
                ..Case::default()
            };
            self.timed(case, &mut |_| run().map(|_| Vec::new()))
        };
        schedules.map(timed).collect()
    }
}
