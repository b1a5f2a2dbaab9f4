//! Operations of graphs: shortest paths, components, triangles, patches.
use super::measure::{Subject, same_bits};
use super::operation::{Operands, Outcomes};
use super::record::Record;
use crate::matrix_size::Size;
use crate::patterns::SEED;
use blockmul::{
    Cbc, DeviceMatrix, DeviceVector, Result,
    device::DeviceKind,
    element::ElementType,
    generate::Random,
    graph::{self, Lloyd, Schedule, ShortestPaths},
    matrix::AnyMatrix,
    reference,
};

/// Patches of a graph have the default number of `blockmul patches`.
const PATCHES: u64 = 64;

/// Times shortest paths from the first vertex with each schedule. The lengths of edges are the
/// magnitudes of A's values. The schedule with one work-item is timed only on CPUs. For sweeps, the
/// edges are uploaded in the order of the vertices that they enter, so that no transposition is
/// timed.
pub fn paths(of: &Operands<'_>) -> Result<Outcomes> {
    of.each(&|on, a| {
        of.check_element(&[ElementType::F64, ElementType::F32])?;
        let g = a.map(f64::abs);
        let want = reference::any_shortest_paths(&g, &[0])?;
        let leaving = on.device().upload(&g)?;
        let entering = on.device().upload(&g.transpose()?.into_transpose())?;
        let is_cpu = on.device().info().kind == DeviceKind::Cpu;
        let schedules = Schedule::ALL.iter().filter(|&&schedule| is_cpu || schedule != Schedule::NearFar);
        let timed = |&schedule: &Schedule| {
            let paths = ShortestPaths::from(&[0]).schedule(schedule);
            let run = || match schedule {
                Schedule::Sweeps => paths.run_any(&entering),
                _ => paths.run_any(&leaving),
            };
            let right = run()?.distances.download()?.bytes() == want.bytes();
            let record = on.record(format!("paths {schedule}"), &g, right)?;
            let record = Record { b: Size::of_vector(1), c_nnz: want.len(), ..record };
            on.timed(record, &mut || run().map(drop))
        };
        schedules.map(timed).collect()
    })
}

/// Times the connected components of the graph whose edges are A's entries, in both directions.
pub fn components(of: &Operands<'_>) -> Result<Outcomes> {
    of.each(&|on, a| of_vertices(on, a, graph::components, reference::components))
}

/// Times counting the triangles through each vertex of the graph.
pub fn triangles(of: &Operands<'_>) -> Result<Outcomes> {
    of.each(&|on, a| of_vertices(on, a, graph::triangles_of_vertices, reference::triangles_of_vertices))
}

/// Times an operation that gives a number for each vertex of a graph.
fn of_vertices(
    on: &Subject<'_>,
    a: &AnyMatrix,
    on_device: fn(&DeviceMatrix<AnyMatrix>) -> Result<DeviceVector<u32>>,
    by_reference: fn(&AnyMatrix) -> Result<Vec<u32>>,
) -> Result<Vec<Record>> {
    let want = by_reference(a)?;
    let g = on.device().upload(a)?;
    let right = same_bits(&on_device(&g)?.download()?, &want);
    let record = Record { c_nnz: want.len(), ..on.record(on.operation, a, right)? };
    Ok(vec![on.timed(record, &mut || on_device(&g).map(drop))?])
}

/// Times patches around [`PATCHES`] vertices drawn at random, or around all vertices if there are
/// fewer. The lengths of edges are those of the operation [`paths`]. Patches are timed first
/// without balanced sizes, then with them.
pub fn patches(of: &Operands<'_>) -> Result<Outcomes> {
    of.each(&|on, a| {
        of.check_element(&[ElementType::F64])?;
        let g: Cbc<f64> = a.map(f64::abs).typed()?;
        let seeds = Random::new(SEED).distinct(PATCHES, g.pattern().ncols() as u64);
        let seeds: Vec<usize> = seeds.into_iter().map(|seed| seed as usize).collect();
        let on_device = on.device().upload(&g)?;
        let timed = |(variant, asked): (&str, Lloyd<'_>)| {
            // The device refuses matrices that are not graphs of scalars.
            let found = asked.run(&on_device)?;
            let want = reference::lloyd(&g.to_scalars(), &asked)?;
            let right = found.labels == want.labels && found.seeds == want.seeds;
            let right = right && same_bits(&found.energies, &want.energies);
            let (b, c_nnz) = (Size::of_vector(seeds.len()), want.labels.len());
            let record = Record { b, c_nnz, ..on.record(variant, &g, right)? };
            on.timed(record, &mut || asked.run(&on_device).map(drop))
        };
        let plain = Lloyd::from(&seeds);
        [("patches", plain.clone()), ("patches balanced", plain.balanced())].into_iter().map(timed).collect()
    })
}
