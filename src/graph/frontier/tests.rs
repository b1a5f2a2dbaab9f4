//! Tests that distances equal those of Dijkstra's algorithm with every size of work-groups, queues
//! and shares.
mod interleaved;

use super::*;
use crate::{
    Csc, DeviceKind,
    device::test_device,
    element::Length,
    generate::Random,
    graph::{
        edges::{Graph, Lengths},
        start::start,
    },
    reference,
    tuning::StageNumbers,
};

/// Entries (to, from, length).
type Entries<D> = Vec<(usize, usize, D)>;

/// The numbers of GPUs, except for the four given ones: work-items of a work-group, parts of a
/// tile, parts of a share, and hops.
fn numbers([frontier_group, frontier_tile, frontier_share, frontier_hops]: [usize; 4]) -> FrontierNumbers {
    let gpu = FrontierNumbers::of(DeviceKind::Gpu);
    FrontierNumbers { frontier_group, frontier_tile, frontier_share, frontier_hops, ..gpu }
}

/// Checks that the distances from vertex 0 have the bits of the reference. Returns the visits.
fn visited<D: Length>(n: usize, entries: &Entries<D>, numbers: FrontierNumbers, step: D) -> Result<Visits> {
    let host = Csc::from_triplets(n, n, entries.iter().copied())?;
    let device = test_device();
    let stored = device.upload(&host)?;
    let (graph, work) = (Graph::of(&stored.cbc, false)?, Work::new(&device, None));
    let (edges, sources) = (graph.edges(&work, true)?, work.upload(&[0])?);
    let mut distance = start(&work, D::TYPE, &sources, n)?;
    let lengths = Lengths::of(&stored.cbc);
    let numbers = numbers.within(device.info().max_group_size);
    let frontier = Frontier { work: &work, graph: edges.with(&lengths), numbers };
    let visits = frontier.run(&sources, step.to_f64(), &mut distance, None)?;
    let (found, want) = (distance.typed::<D>().download(&work)?, reference::shortest_paths(&host, &[0])?);
    let wrong = (0..n).find(|&vertex| found[vertex].to_f64().to_bits() != want[vertex].to_f64().to_bits());
    let wrong = wrong.map(|vertex| (vertex, found[vertex], want[vertex]));
    let FrontierNumbers { frontier_group, frontier_tile, frontier_share, frontier_hops, .. } = numbers;
    assert_eq!(wrong, None, "{frontier_group} {frontier_tile} {frontier_share} {frontier_hops}, {step}");
    Ok(visits)
}

/// Edges in both directions between neighbours of a square grid.
fn grid(side: usize, mut length: impl FnMut() -> f64) -> Entries<f64> {
    let mut entries = Vec::new();
    for vertex in 0..side * side {
        let right = (vertex % side + 1 < side).then_some(vertex + 1);
        let below = (vertex + side < side * side).then_some(vertex + side);
        for next in right.into_iter().chain(below) {
            entries.extend([(vertex, next, length()), (next, vertex, length())]);
        }
    }
    entries
}

/// In a chain of vertices, a round visits one edge, and one further edge for each hop.
#[test]
fn chains_take_a_round_for_all_hops() -> Result<()> {
    for (group, hops) in [(1, 0), (1, 5), (8, 1), (64, 12)] {
        for vertices in [1, 2, 12, 13, 14, 15, 500] {
            let chain = (1..vertices).map(|vertex| (vertex, vertex - 1, 1.0)).collect();
            let visits = visited::<f64>(vertices, &chain, numbers([group, 16, 4, hops]), f64::INFINITY)?;
            // The last vertex has no edges to visit.
            let rounds = (vertices - 1).div_ceil(hops + 1);
            assert_eq!(visits.rounds, rounds as u64, "{vertices} vertices, {hops} hops");
        }
    }
    Ok(())
}

#[test]
fn grids_have_the_distances_of_dijkstra() -> Result<()> {
    let mut random = Random::new(31);
    let entries = grid(50, || random.unit());
    let narrow = entries.iter().map(|&(to, from, length)| (to, from, length as f32)).collect();
    for sizes in [[1, 16, 16, 0], [1, 8, 8, 3], [8, 16, 4, 5], [64, 64, 16, 12], [256, 64, 16, 12]] {
        // A round visits some dozens of vertices: one share for each work-group, or several.
        for frontier_groups in [1, 8] {
            let numbers = FrontierNumbers { frontier_groups, ..numbers(sizes) };
            visited(2500, &entries, numbers, 0.5)?;
            visited(2500, &narrow, numbers, 0.05)?;
        }
        visited(2500, &entries, numbers(sizes), f64::INFINITY)?;
    }
    Ok(())
}

/// Tests hubs, which are vertices with many edges, that a work-group reaches during its hops. A hub
/// has more neighbours than the queue of the work-group holds. The last hub has so many edges that
/// they are divided into several parts.
#[test]
fn queues_that_overflow_lose_no_vertex() -> Result<()> {
    for (degree, sizes) in [(9, [1, 8, 8, 4]), (40, [16, 8, 4, 12]), (65, [64, 64, 16, 12]), (700, [64, 64, 16, 12])] {
        // A chain of hubs. The neighbours of each hub lead to the next hub, by edges whose lengths
        // fall and rise.
        let (hubs, apart) = (6, degree + 1);
        let mut entries = Vec::new();
        for hub in (0..hubs).map(|hub| hub * apart) {
            for leaf in hub + 1..=hub + degree {
                entries.push((leaf, hub, (1 + leaf * 7 % 5) as u32));
                entries.push((hub + apart, leaf, (1 + leaf * 3 % 11) as u32));
                entries.push((leaf, hub + apart, 1));
            }
        }
        for step in [1, 4, u32::MAX] {
            visited(hubs * apart + 1, &entries, numbers(sizes), step)?;
        }
    }
    Ok(())
}
