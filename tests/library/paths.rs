//! Shortest paths, compared with Dijkstra's algorithm with a heap, which is in this file. The
//! graphs are real ones from the folder that `BLOCKMUL_DATA` names, graphs with edges of length 0,
//! and graphs of several components.
use crate::common::{FAMILIES, device, scalars};
use crate::real_data::matrix;
use blockmul::{
    Csc, Result,
    device::DeviceKind,
    element::Length,
    generate,
    graph::{Schedule, ShortestPaths},
};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Returns the distances from the nearest source. The bits of lengths that are not negative have
/// the order of the numbers.
fn dijkstra(g: &Csc<f64>, sources: &[usize]) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; g.ncols()];
    sources.iter().for_each(|&source| distances[source] = 0.0);
    let mut waiting: BinaryHeap<_> = sources.iter().map(|&source| Reverse((0, source))).collect();
    while let Some(Reverse((bits, from))) = waiting.pop() {
        if bits > distances[from].to_bits() {
            continue;
        }
        for entry in g.pattern().entries(from) {
            let (to, length) = (g.pattern().row_idx()[entry] as usize, f64::from_bits(bits) + g.values()[entry]);
            if length < distances[to] {
                distances[to] = length;
                waiting.push(Reverse((length.to_bits(), to)));
            }
        }
    }
    distances
}

/// Checks the distances of every schedule, from the first vertex and from three vertices. Returns
/// the number of vertices that cannot be reached.
fn check<T: Length>(g: &Csc<f64>, what: &str) -> Result<usize> {
    let n = g.ncols();
    let on_device = device().upload(&g.cast::<T>())?;
    let is_cpu = device().info().kind == DeviceKind::Cpu;
    let mut out_of_reach = 0;
    for sources in [vec![0], vec![0, n / 2, n - 1]] {
        let want = dijkstra(g, &sources);
        out_of_reach += want.iter().filter(|distance| distance.is_infinite()).count();
        for &schedule in Schedule::ALL.iter().filter(|&&schedule| is_cpu || schedule != Schedule::NearFar) {
            let found = ShortestPaths::from(&sources).schedule(schedule).run(&on_device)?.distances.download()?;
            let number = |distance: &T| if *distance == T::HIGHEST { f64::INFINITY } else { distance.to_f64() };
            let differ = found.iter().zip(&want).filter(|(found, want)| number(found).to_bits() != want.to_bits());
            assert_eq!(differ.count(), 0, "{what} of {}, {schedule}, from {} sources", T::NAME, sources.len());
        }
    }
    Ok(out_of_reach)
}

/// Returns the graph with the lengths that `length` returns.
fn with_lengths(g: &Csc<f64>, length: impl Fn(usize, f64) -> f64) -> Csc<f64> {
    let lengths = g.values().iter().enumerate().map(|(entry, &value)| length(entry, value));
    Csc::new(g.pattern().clone(), lengths.collect()).unwrap()
}

/// Integer lengths from 0 to 3. A quarter of the lengths is 0.
fn whole(g: &Csc<f64>) -> Csc<f64> {
    with_lengths(g, |entry, _| (entry * 7 % 32 / 8) as f64)
}

#[test]
fn real_graphs_have_the_distances_of_dijkstra() -> Result<()> {
    // The last two graphs of the list have the most edges, so they are not tested with integers.
    let names = ["p2p-Gnutella31.mtx.gz", "ca-CondMat.mtx.gz", "wiki-Vote.mtx.gz", "email-Enron.mtx.gz", "wing.mtx.gz"];
    for (number, name) in names.into_iter().enumerate() {
        let Some(g) = matrix(name) else { continue };
        check::<f64>(&with_lengths(&g, |entry, value| value.abs() * (1.0 + (entry % 101) as f64 / 7.0)), name)?;
        if number < 3 {
            check::<u32>(&whole(&g), name)?;
        }
    }
    Ok(())
}

#[test]
fn graphs_of_every_family_have_the_distances_of_dijkstra() -> Result<()> {
    let mut out_of_reach = 0;
    for family in FAMILIES {
        let g = scalars::<f64>(family, 400, 400, 3, 5);
        out_of_reach += check::<f64>(&with_lengths(&g, |entry, _| (entry % 89) as f64 / 7.0), &format!("{family:?}"))?;
        out_of_reach += check::<i32>(&whole(&g), &format!("{family:?}, whole"))?;
    }
    assert!(out_of_reach > 400, "graphs of several parts are among them");
    check::<f64>(&generate::planar(40, 30, 1)?.to_scalars(), "planar").map(drop)
}
