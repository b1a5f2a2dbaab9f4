//! Compares the results of graph functions with computations on the host: Dijkstra's algorithm,
//! sweeps, breadth-first search and union-find.
mod families;

use super::*;
use crate::{Csc, Csr, Element, Error, Result, device::test_device, element::Length, generate::Random};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap, VecDeque},
};

pub(super) use families::{Family, families};

/// Edges (from, to, length).
pub(super) type EdgeList = Vec<(usize, usize, f64)>;

fn graph<T: Element>(n: usize, edges: &EdgeList) -> Csc<T> {
    // The shortest of parallel edges counts: a matrix has one entry for each place.
    let mut least = std::collections::BTreeMap::new();
    for &(from, to, length) in edges {
        let known = least.entry((from, to)).or_insert(length);
        *known = length.min(*known);
    }
    Csc::from_triplets(n, n, least.into_iter().map(|((from, to), length)| (to, from, T::from_f64(length)))).unwrap()
}

/// Row, column and value of each entry.
fn triplets<T: Element>(g: &Csc<T>) -> impl Iterator<Item = (usize, usize, &T)> {
    let of_col = move |col| {
        g.pattern().entries(col).map(move |entry| (g.pattern().row_idx()[entry] as usize, col, &g.values()[entry]))
    };
    (0..g.ncols()).flat_map(of_col)
}

/// Dijkstra's algorithm with whole numbers, which are exact in every type.
pub(super) fn dijkstra(n: usize, edges: &EdgeList, sources: &[usize]) -> Vec<f64> {
    let mut leaving = vec![Vec::new(); n];
    edges.iter().for_each(|&(from, to, length)| leaving[from].push((to, length as u64)));
    let mut distance = vec![u64::MAX; n];
    let mut heap: BinaryHeap<_> = sources.iter().map(|&source| Reverse((0, source))).collect();
    while let Some(Reverse((so_far, vertex))) = heap.pop() {
        if so_far >= distance[vertex] {
            continue;
        }
        distance[vertex] = so_far;
        heap.extend(leaving[vertex].iter().map(|&(to, length)| Reverse((so_far + length, to))));
    }
    distance.into_iter().map(|distance| if distance == u64::MAX { f64::INFINITY } else { distance as f64 }).collect()
}

/// Distances by sweeps over all edges, until nothing changes.
fn by_sweeps<T: Length>(g: &Csc<T>, sources: &[usize]) -> Vec<T> {
    let mut distance = vec![T::HIGHEST; g.ncols()];
    sources.iter().for_each(|&source| distance[source] = T::from_f64(0.0));
    loop {
        let before = distance.clone();
        for (to, from, &length) in triplets(g) {
            let reached = length.length(distance[from], T::HIGHEST);
            if reached < distance[to] {
                distance[to] = reached;
            }
        }
        if distance == before {
            return distance;
        }
    }
}

/// Random edges of a graph of two parts that are not connected. There are loops, parallel edges and
/// edges of length 0.
fn random_edges(n: usize, count: usize, seed: u64) -> EdgeList {
    let mut random = Random::new(seed);
    let half = n / 2;
    let mut edge = |_| {
        let (from, to) = (random.below(half as u64) as usize, random.below(half as u64) as usize);
        let part = if random.below(3) == 0 { half } else { 0 };
        (from + part, to + part, random.below(9) as f64)
    };
    let mut edges: EdgeList = (0..count).map(&mut edge).collect();
    edges.extend([(0, 0, 0.0), (1, 1, 3.0), (2, 3, 5.0), (2, 3, 4.0)]);
    edges
}

/// Checks distances by every schedule, and predecessors.
fn check<T: Length>(n: usize, edges: &EdgeList, sources: &[usize]) -> Result<()> {
    let (device, host) = (test_device(), graph::<T>(n, edges));
    let want: Vec<T> = dijkstra(n, edges, sources).into_iter().map(T::from_f64).collect();
    let by_columns = device.upload(&host)?;
    let by_rows = device.upload(&Csr::from_transpose(host.transpose()))?;
    let mut found = Vec::new();
    for &schedule in Schedule::ALL {
        for delta in [None, Some(1.0), Some(1000.0)] {
            if delta.is_some() && schedule == Schedule::Sweeps {
                continue;
            }
            let asked = ShortestPaths::from(sources).schedule(schedule).predecessors();
            let asked = delta.into_iter().fold(asked, ShortestPaths::delta);
            let paths = asked.run(&by_columns)?;
            assert_eq!(paths.schedule, schedule);
            assert!(paths.distances.download()? == want, "{} {schedule}", T::NAME);
            found.push(paths.predecessors.unwrap().download()?);
        }
    }
    let paths = ShortestPaths::from(sources).predecessors().run(&by_rows)?;
    assert!(paths.distances.download()? == want, "{} by rows", T::NAME);
    found.push(paths.predecessors.unwrap().download()?);
    assert!(found.iter().all(|one| *one == found[0]), "predecessors do not depend on the schedule");
    follow(&host, &want, sources, &found[0]);
    assert_eq!(crate::reference::predecessors(&host, sources, &want)?, found[0]);
    Ok(())
}

/// Checks that predecessors lead to a source along edges of the right lengths, and that each
/// predecessor is the vertex with the lowest number.
fn follow<T: Length>(g: &Csc<T>, distance: &[T], sources: &[usize], before: &[u32]) {
    let far = T::HIGHEST;
    let tight = |from: usize, to: usize| {
        triplets(g)
            .any(|(row, col, &length)| (row, col) == (to, from) && length.length(distance[from], far) == distance[to])
    };
    for vertex in 0..g.ncols() {
        let is_source = sources.contains(&vertex) && distance[vertex] == T::from_f64(0.0);
        if is_source || distance[vertex] == far {
            assert_eq!(before[vertex], u32::MAX, "vertex {vertex}");
            continue;
        }
        let mut chain = BTreeSet::from([vertex]);
        let mut at = vertex;
        while before[at] != u32::MAX {
            let from = before[at] as usize;
            assert!(tight(from, at), "{from} to {at}");
            assert!(chain.insert(from), "a circle at {from}");
            at = from;
        }
        assert!(sources.contains(&at), "the chain of {vertex} ends at {at}");
        let closer = (0..g.ncols()).find(|&from| distance[from] < distance[vertex] && tight(from, vertex));
        if let Some(least) = closer.filter(|_| g.values().iter().all(|&length| length >= T::from_f64(0.0))) {
            assert_eq!(before[vertex] as usize, least);
        }
    }
}

#[test]
fn distances_are_dijkstra_s_in_every_type() -> Result<()> {
    for (n, count, seed) in [(2, 1, 1), (40, 60, 2), (200, 900, 3)] {
        let edges = match n {
            2 => vec![(0, 1, 2.0)],
            _ => random_edges(n, count, seed),
        };
        check::<f64>(n, &edges, &[0])?;
        check::<i32>(n, &edges, &[0, n - 1, 0])?;
    }
    check::<u32>(60, &random_edges(60, 150, 4), &[5])?;
    check::<f32>(60, &random_edges(60, 150, 5), &[5, 59])
}

/// Tests numbers of edges around 256: the schedule `frontier` cuts the edges of a vertex into parts
/// of 256.
#[test]
fn hubs_with_a_part_more_or_less_reach_all_their_neighbours() -> Result<()> {
    for degree in [255, 256, 257, 600] {
        // An edge leads from the source to a hub. Edges lead from the hub to many vertices, from
        // these to a second hub, and from the second hub back.
        let mut edges: EdgeList = vec![(0, 1, 1.0), (degree + 1, degree + 2, 1.0)];
        for leaf in 0..degree {
            edges.push((1, leaf + 2, 1.0 + (leaf * 7 % 5) as f64));
            edges.push((leaf + 2, degree + 2, (leaf * 3 % 11) as f64));
            edges.push((degree + 2, leaf + 2, 2.0));
        }
        let (n, want) = (degree + 3, dijkstra(degree + 3, &edges, &[0]));
        let g = test_device().upload(&graph::<f64>(n, &edges))?;
        for &schedule in Schedule::ALL {
            let found = ShortestPaths::from(&[0]).schedule(schedule).run(&g)?.distances.download()?;
            assert!(found == want, "{schedule}, {degree} edges");
        }
    }
    Ok(())
}

#[test]
fn real_lengths_have_the_bits_of_the_model() -> Result<()> {
    let (device, mut random) = (test_device(), Random::new(7));
    let edges: EdgeList = random_edges(150, 700, 6).into_iter().map(|(i, j, _)| (i, j, random.unit() * 1e-3)).collect();
    let host = graph::<f64>(150, &edges);
    let g = device.upload(&host)?;
    let want = by_sweeps(&host, &[3]);
    for &schedule in Schedule::ALL {
        let found = ShortestPaths::from(&[3]).schedule(schedule).run(&g)?.distances.download()?;
        assert!(found.iter().map(|x| x.to_bits()).eq(want.iter().map(|x| x.to_bits())), "{schedule}");
    }
    // Lengths that are lost in rounding when they are added to the distance so far, and lengths of
    // 0.
    for lengths in [1e-30, 0.0] {
        let mut edges = vec![(0, 1, 1.0)];
        edges.extend((1..9).flat_map(|i| [(i, i + 1, lengths), (i + 1, i, lengths)]));
        let host = graph::<f64>(10, &edges);
        let paths = ShortestPaths::from(&[0]).predecessors().run(&device.upload(&host)?)?;
        assert_eq!(paths.distances.download()?[1..], [1.0; 9]);
        let (distances, before) = (paths.distances.download()?, paths.predecessors.unwrap().download()?);
        follow(&host, &distances, &[0], &before);
        assert_eq!(crate::reference::predecessors(&host, &[0], &distances)?, before);
    }
    Ok(())
}

/// Tests lengths of every scale. The first step of the limit between near and far is a share of the
/// mean length.
#[test]
fn lengths_of_every_magnitude_take_as_many_visits() -> Result<()> {
    let mut random = Random::new(8);
    let mut vertex = || random.below(2000) as usize;
    let ends: Vec<_> = (0..12_000).map(|_| (vertex(), vertex())).collect();
    fn visits<D: Length>(ends: &[(usize, usize)], schedule: Schedule, scale: f64) -> Result<u64> {
        let length = |at: usize| (1 + at * at % 61) as f64 * scale;
        let edges = ends.iter().enumerate().map(|(at, &(from, to))| (from, to, length(at))).collect();
        let g = test_device().upload(&graph::<D>(2000, &edges))?;
        Ok(ShortestPaths::from(&[0]).schedule(schedule).run(&g)?.visits)
    }
    for schedule in [Schedule::NearFar, Schedule::Frontier] {
        let usual = visits::<f64>(&ends, schedule, 1.0)?;
        for power in [-1069, -200, 200, 1017] {
            // The scale is made as a product of two powers, because the lowest power is below the
            // normal numbers.
            let scale = 2.0f64.powi(power / 2) * 2.0f64.powi(power - power / 2);
            let found = visits::<f64>(&ends, schedule, scale)?;
            assert!(found < 2 * usual, "{schedule} 2^{power}: {found}, {usual} of 1");
        }
        for power in [-140, 120] {
            let found = visits::<f32>(&ends, schedule, 2.0f64.powi(power))?;
            assert!(found < 2 * usual, "{schedule} 2^{power} in f32: {found}, {usual} of 1");
        }
    }
    Ok(())
}

#[test]
fn negative_lengths_and_cycles() -> Result<()> {
    let device = test_device();
    // A cycle of length 0 with a negative edge, and a second source whose distance is negative.
    let edges = vec![(0, 1, 4.0), (1, 2, -3.0), (2, 1, 3.0), (2, 3, -2.0), (0, 3, 1.0), (4, 3, 0.0), (0, 4, -1.0)];
    let host = graph::<i32>(6, &edges);
    let paths = ShortestPaths::from(&[0, 4]).predecessors().run(&device.upload(&host)?)?;
    assert_eq!(paths.schedule, Schedule::Sweeps);
    assert_eq!(paths.distances.download()?, [0, 4, 1, -1, -1, i32::MAX]);
    let before = paths.predecessors.unwrap().download()?;
    follow(&host, &paths.distances.download()?, &[0, 4], &before);
    let by_rows = Csr::from_transpose(host.transpose());
    assert_eq!(crate::reference::predecessors(&by_rows, &[0, 4], &[0, 4, 1, -1, -1, i32::MAX])?, before);
    let refused = ShortestPaths::from(&[0]).schedule(Schedule::NearFar).run(&device.upload(&host)?).map(drop);
    assert!(refused.unwrap_err().to_string().contains("the least is -3"));
    // The graph has the cycle 5, 6, 7. A path leads from the first source to the cycle, and no path
    // from the second.
    for n in [9, 200] {
        let mut edges: EdgeList = (0..n - 1).map(|i| (i, i + 1, 1.0)).collect();
        edges.extend([(7, 5, -3.0)]);
        let found = shortest_paths(&device.upload(&graph::<f64>(n, &edges))?, &[1]).map(drop);
        assert!(matches!(found, Err(Error::NegativeCycle { vertex: 5, length: -1.0 })), "{found:?}");
        let found = shortest_paths(&device.upload(&graph::<f64>(n, &edges))?, &[8])?.download()?;
        assert_eq!(found[8], 0.0);
        assert_eq!(found[7], f64::INFINITY);
    }
    // A cycle of two edges along which distances reach the lowest number.
    let low = Csc::from_triplets(2, 2, [(1, 0, i32::MIN / 2), (0, 1, i32::MIN / 2)])?;
    let found = shortest_paths(&device.upload(&low)?, &[0]).map(drop);
    assert!(matches!(found, Err(Error::NegativeCycle { vertex: 0, .. })), "{found:?}");
    // A loop.
    let found = shortest_paths(&device.upload(&graph::<i32>(2, &vec![(0, 1, 1.0), (1, 1, -1.0)]))?, &[0]).map(drop);
    assert_eq!(
        found.unwrap_err().to_string(),
        "a cycle of negative length, -1, passes through vertex 1, counted from 0"
    );
    Ok(())
}

#[test]
fn long_lengths_of_integers_stop_at_infinity() -> Result<()> {
    let (device, most) = (test_device(), f64::from(u32::MAX));
    let edges = vec![(0, 1, most - 2.0), (1, 2, 5.0), (0, 3, most), (3, 4, 0.0), (0, 5, most - 1.0)];
    for &schedule in Schedule::ALL {
        let g = device.upload(&graph::<u32>(6, &edges))?;
        let paths = ShortestPaths::from(&[0]).schedule(schedule).predecessors().run(&g)?;
        assert_eq!(paths.distances.download()?, [0, u32::MAX - 2, u32::MAX, u32::MAX, u32::MAX, u32::MAX - 1]);
    }
    Ok(())
}

#[test]
fn levels_are_those_of_a_breadth_first_search() -> Result<()> {
    let (device, n) = (test_device(), 120);
    let edges = random_edges(n, 300, 9);
    let mut want = vec![u32::MAX; n];
    let mut queue = VecDeque::from([4, 70]);
    (want[4], want[70]) = (0, 0);
    while let Some(vertex) = queue.pop_front() {
        for &(_, to, _) in edges.iter().filter(|&&(from, ..)| from == vertex) {
            if want[to] == u32::MAX {
                want[to] = want[vertex] + 1;
                queue.push_back(to);
            }
        }
    }
    // Values may be NaN, because paths by numbers of edges do not use values as lengths.
    let nan: EdgeList = edges.iter().map(|&(from, to, _)| (from, to, f64::NAN)).collect();
    let g = device.upload(&graph::<f64>(n, &nan))?;
    assert_eq!(levels(&g, &[4, 70])?.download()?, want);
    for &schedule in Schedule::ALL {
        let found = ShortestPaths::from(&[4, 70]).schedule(schedule).run_by_edges(&g)?;
        assert_eq!(found.distances.download()?, want, "{schedule}");
    }
    Ok(())
}

/// The least vertex of each component, by union-find.
pub(super) fn components_of(n: usize, edges: &EdgeList) -> Vec<usize> {
    let mut above: Vec<usize> = (0..n).collect();
    let root = |of: &[usize], mut at: usize| {
        while of[at] != at {
            at = of[at];
        }
        at
    };
    for &(from, to, _) in edges {
        let (a, b) = (root(&above, from), root(&above, to));
        above[a.max(b)] = a.min(b);
    }
    (0..n).map(|vertex| root(&above, vertex)).collect()
}

#[test]
fn components_are_those_of_union_find() -> Result<()> {
    for (n, count, seed) in [(1, 0, 1), (50, 20, 2), (400, 300, 3), (400, 2000, 4)] {
        let edges: EdgeList = if count == 0 { vec![] } else { random_edges(n, count, seed) };
        let want: Vec<u32> = components_of(n, &edges).into_iter().map(|root| root as u32).collect();
        let g = graph::<f32>(n, &edges);
        assert_eq!(components(&test_device().upload(&g)?)?.download()?, want);
        assert_eq!(crate::reference::components(&g)?, want);
    }
    Ok(())
}

#[test]
fn triangles_are_counted_once() -> Result<()> {
    let edges = random_edges(60, 400, 11);
    let connected: BTreeSet<_> = edges.iter().flat_map(|&(i, j, _)| [(i, j), (j, i)]).filter(|(i, j)| i != j).collect();
    let is = &|i, j| connected.contains(&(i, j));
    let of = |i: usize, j: usize| (0..j).filter(|&k| is(i, k) && is(j, k)).count() as u64;
    let want: u64 =
        (0..60).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| is(i, j)).map(|(i, j)| of(i, j)).sum();
    let at = |i: usize| {
        (0..60).flat_map(|j| (0..j).map(move |k| (j, k))).filter(move |&(j, k)| is(i, j) && is(i, k) && is(j, k))
    };
    let at: Vec<u32> = (0..60).map(|i| at(i).count() as u32).collect();
    let g = graph::<f64>(60, &edges);
    assert!(want > 100);
    assert_eq!(crate::reference::triangles_of_vertices(&g)?, at);
    let (by_columns, by_rows) = (test_device().upload(&g)?, test_device().upload(&Csr::from_transpose(g))?);
    assert_eq!((triangles(&by_columns)?, triangles(&by_rows)?), (want, want));
    assert_eq!(triangles_of_vertices(&by_columns)?.download()?, at);
    assert_eq!(triangles_of_vertices(&by_rows)?.download()?, at);
    for n in [0, 1, 3] {
        let none = test_device().upload(&graph::<f64>(n, &vec![]))?;
        assert_eq!((triangles(&none)?, triangles_of_vertices(&none)?.download()?), (0, vec![0; n]));
    }
    Ok(())
}

#[test]
fn what_is_no_graph_or_no_source_is_refused() -> Result<()> {
    let device = test_device();
    let g = device.upload(&graph::<f64>(5, &vec![(0, 1, 1.0)]))?;
    let refused = |paths: ShortestPaths<'_>| paths.run(&g).map(drop).unwrap_err().to_string();
    assert_eq!(refused(ShortestPaths::from(&[])), "at least one source is required");
    assert_eq!(refused(ShortestPaths::from(&[0, 5])), "source 5 is outside the graph, whose vertices are 0 to 4");
    assert_eq!(refused(ShortestPaths::from(&[0]).delta(0.0)), "delta is 0, it has to be above 0");
    let by_sweeps = ShortestPaths::from(&[0]).schedule(Schedule::Sweeps);
    assert!(refused(by_sweeps.delta(3.0)).starts_with("sweeps does not use a delta"));
    let empty = device.upload(&graph::<f64>(0, &vec![]))?;
    assert_eq!(shortest_paths(&empty, &[0]).map(drop).unwrap_err().to_string(), "the graph has no vertices");
    let host = graph::<f64>(5, &vec![(0, 1, 1.0), (2, 4, f64::NAN), (2, 3, 1.0)]);
    let by_rows = Csr::from_transpose(host.transpose());
    for refused in [
        shortest_paths(&device.upload(&host)?, &[0]).map(drop),
        shortest_paths(&device.upload(&by_rows)?, &[0]).map(drop),
        crate::reference::shortest_paths(&host, &[0]).map(drop),
        crate::reference::shortest_paths(&by_rows, &[0]).map(drop),
    ] {
        let why = refused.unwrap_err().to_string();
        assert_eq!(why, "the length of the edge from vertex 2 to 4, counted from 0, is NaN");
    }
    let wide = device.upload(&Csc::from_triplets(2, 3, [(0, 0, 1.0)])?)?;
    let refused = components(&wide).map(drop).unwrap_err().to_string();
    assert_eq!(refused, "a graph is a square matrix of scalars, this one is 2x3");
    assert_eq!("near-far".parse::<Schedule>()?, Schedule::NearFar);
    assert!("dijkstra".parse::<Schedule>().is_err());
    Ok(())
}
