//! Tests that distances and numbers of sweeps equal those of sweeps on the host.
use crate::{
    Csc, Csr, Result,
    device::test_device,
    element::Length,
    generate::Random,
    graph::{Schedule, ShortestPaths},
};

/// Distances from vertex 0, and the number of sweeps. The last sweep lowers no distance. In each
/// sweep a vertex gets the least length over the edges that enter it, computed from the distances
/// of the sweep before.
fn model<D: Length>(g: &Csc<D>) -> (Vec<D>, u64) {
    let mut distance = vec![D::HIGHEST; g.ncols()];
    distance[0] = D::from_f64(0.0);
    for sweeps in 1.. {
        let (before, mut fell) = (distance.clone(), false);
        for (from, &so_far) in before.iter().enumerate() {
            for entry in g.pattern().entries(from) {
                let to = g.pattern().row_idx()[entry] as usize;
                let reached = g.values()[entry].length(so_far, D::HIGHEST);
                if reached < distance[to] {
                    (distance[to], fell) = (reached, true);
                }
            }
        }
        if !fell {
            return (distance, sweeps);
        }
    }
    unreachable!("sweeps end")
}

/// Edges of a graph without cycles, from each vertex to the next and to later vertices. The length
/// of each edge is `length(random)`. Edges lead from all other vertices to the last of the `n`
/// vertices.
fn edges(n: usize, mut length: impl FnMut(&mut Random) -> f64) -> Vec<(usize, usize, f64)> {
    let mut random = Random::new(n as u64);
    let mut edges = std::collections::BTreeMap::new();
    for from in 0..n - 1 {
        for to in [from + 1, from + 1 + random.below((n - from - 1) as u64) as usize, n - 1] {
            edges.insert((to, from), length(&mut random));
        }
    }
    edges.into_iter().map(|((to, from), length)| (to, from, length)).collect()
}

fn check<D: Length>(n: usize, length: impl FnMut(&mut Random) -> f64) -> Result<()> {
    let edges = edges(n, length).into_iter().map(|(to, from, length)| (to, from, D::from_f64(length)));
    let g = Csc::from_triplets(n, n, edges)?;
    let (want, sweeps) = model(&g);
    let (by_columns, by_rows) = (test_device().upload(&g)?, test_device().upload(&Csr::from_transpose(g.transpose()))?);
    let asked = ShortestPaths::from(&[0]).schedule(Schedule::Sweeps);
    for paths in [asked.run(&by_columns)?, asked.run(&by_rows)?] {
        assert!(paths.distances.download()? == want, "{} {n}", D::NAME);
        assert_eq!(paths.rounds, sweeps, "{} {n}", D::NAME);
    }
    Ok(())
}

/// Tests sweeps whose two arrays of distances take turns. If there are 65 sweeps or more, the host
/// looks for cycles between sweeps. The last of 1300 vertices has more than 1024 edges, so its sum
/// is cut into pieces.
#[test]
fn sweeps_are_as_many_as_on_the_host_and_have_its_bits() -> Result<()> {
    for n in [2, 40, 150, 1300] {
        check::<f64>(n, |random| random.unit() * 1e-3)?;
        check::<f64>(n, |random| random.unit() - 0.5)?;
        check::<i32>(n, |random| random.below(20) as f64 - 9.0)?;
        check::<u32>(n, |random| random.below(20) as f64)?;
    }
    check::<f32>(150, |random| random.unit() - 0.3)
}

#[test]
fn levels_and_graphs_without_edges_have_sweeps() -> Result<()> {
    let asked = ShortestPaths::from(&[0]).schedule(Schedule::Sweeps);
    let units = edges(150, |_| 1.0).into_iter().map(|(to, from, _)| (to, from, 1u32));
    let units = Csc::from_triplets(150, 150, units)?;
    let (want, sweeps) = model(&units);
    let levels = asked.run_by_edges(&test_device().upload(&units)?)?;
    assert_eq!((levels.distances.download()?, levels.rounds), (want, sweeps));
    let alone = test_device().upload(&Csc::<f64>::from_triplets(3, 3, [])?)?;
    let (far, most) = (f64::INFINITY, u32::MAX);
    assert_eq!(asked.run(&alone)?.distances.download()?, [0.0, far, far]);
    assert_eq!(asked.run_by_edges(&alone)?.distances.download()?, [0, most, most]);
    Ok(())
}

#[test]
fn the_algorithm_s_name_is_read_and_not_written() -> Result<()> {
    let read: Schedule = "Bellman-Ford".parse()?;
    assert_eq!((read, read.name()), (Schedule::Sweeps, "sweeps"));
    assert!("bellman".parse::<Schedule>().is_err());
    Ok(())
}
