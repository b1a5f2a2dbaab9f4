//! Tests that predecessors equal those of a model that works in rounds.
use super::*;
use crate::{Csc, device::test_device, element::Length, generate::Random, graph::ShortestPaths};

/// Stands for no vertex.
const NONE: u32 = u32::MAX;

/// Edges (from, to, length).
type EdgeList = Vec<(usize, usize, f64)>;

/// The predecessors that [`Paths`](crate::graph::Paths) documents.
fn model<D: Length>(edges: &EdgeList, sources: &[usize], distance: &[D], negative: bool) -> Vec<u32> {
    let reached = |vertex: usize| distance[vertex] < D::HIGHEST;
    let is_tight = |&&(from, to, length): &&(usize, usize, f64)| {
        reached(from) && reached(to) && D::from_f64(length).length(distance[from], D::HIGHEST) == distance[to]
    };
    let tight: Vec<_> = edges.iter().filter(is_tight).map(|&(from, to, _)| (from, to)).collect();
    let mut before = vec![NONE; distance.len()];
    let mut settled = vec![false; distance.len()];
    sources.iter().for_each(|&source| settled[source] = distance[source] == D::ZERO);
    let mut closer = !negative;
    loop {
        let is_taken = |&&(from, to): &&(usize, usize)| {
            !settled[to] && if closer { distance[from] < distance[to] } else { settled[from] }
        };
        let taken: Vec<_> = tight.iter().filter(is_taken).copied().collect();
        for &(from, to) in &taken {
            before[to] = before[to].min(from as u32);
        }
        taken.iter().for_each(|&(_, to)| settled[to] = true);
        if taken.is_empty() && !closer {
            return before;
        }
        closer = false;
    }
}

fn check<D: Length>(n: usize, edges: &EdgeList, sources: &[usize]) -> Result<()> {
    let entries = edges.iter().map(|&(from, to, length)| (to, from, D::from_f64(length)));
    let g = test_device().upload(&Csc::from_triplets(n, n, entries)?)?;
    let negative = edges.iter().any(|&(_, _, length)| length < 0.0);
    for &schedule in Schedule::ALL.iter().filter(|&&of| !negative || of == Schedule::Sweeps) {
        let paths = ShortestPaths::from(sources).schedule(schedule).predecessors().run(&g)?;
        let want = model(edges, sources, &paths.distances.download()?, negative);
        assert!(paths.predecessors.unwrap().download()? == want, "{schedule} {edges:?}");
    }
    Ok(())
}

#[test]
fn they_are_the_least_by_the_fewest_steps() -> Result<()> {
    for seed in 0..24 {
        let mut random = Random::new(seed);
        let n = 2 + random.below(70) as usize;
        // Either most lengths are 0, or one length is large and small lengths are lost in rounding
        // when they are added to it.
        let (large, small) = if seed % 3 == 0 { (1e9, 1e-9) } else { (1.0, 0.0) };
        let mut lengths = std::collections::BTreeMap::new();
        for _ in 0..3 * n {
            let (from, to) = (random.below(n as u64) as usize, random.below(n as u64) as usize);
            lengths.insert((from, to), if random.below(4) == 0 { large } else { small });
        }
        // Potentials of the vertices make the lengths of edges negative, but not those of cycles.
        let potential: Vec<f64> =
            (0..n).map(|_| if seed % 3 == 0 || seed % 2 == 0 { 0.0 } else { random.below(9) as f64 }).collect();
        let edges: EdgeList = lengths
            .into_iter()
            .map(|((from, to), length)| (from, to, length + (potential[to] - potential[from])))
            .collect();
        check::<f64>(n, &edges, &[0, n / 2])?;
        if seed % 3 > 0 {
            check::<i32>(n, &edges, &[n - 1])?;
        }
    }
    // An edge of infinite length is never used.
    check::<f32>(4, &vec![(0, 1, f64::INFINITY), (0, 2, 1.0), (2, 3, f64::INFINITY), (3, 1, 1.0)], &[0])
}

/// Tests that a chain of edges of length 0 is followed without a read for each vertex.
#[test]
fn a_chain_of_edges_of_length_zero_takes_few_reads() -> Result<()> {
    let n = 2000;
    let edges: EdgeList = (0..n - 1).map(|at| (at, at + 1, if at == 0 { 1.0 } else { 0.0 })).collect();
    check::<f64>(n, &edges, &[0])?;
    let device = test_device();
    let entries = edges.iter().map(|&(from, to, length)| (to, from, length));
    let g = device.upload(&Csc::from_triplets(n, n, entries)?)?;
    let (work, graph) = (Work::new(&device, None), Graph::of(&g.cbc, false)?);
    let edges = graph.edges(&work, true)?;
    let lengths = Lengths::of(&g.cbc);
    let distance: Vec<f64> = (0..n).map(|at| if at == 0 { 0.0 } else { 1.0 }).collect();
    let (sources, distance) = (work.upload(&[0])?, work.upload(&distance)?);
    let reads = work.read_backs();
    let found = predecessors(&work, &edges, &lengths, &sources, &distance, false)?;
    let reads = work.read_backs() - reads;
    assert!(found.download(&work)?[1..].iter().enumerate().all(|(at, &before)| before == at as u32));
    assert!(reads < n as u32 / 8, "{reads} reads");
    Ok(())
}
