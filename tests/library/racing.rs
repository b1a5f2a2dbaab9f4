//! Kernels whose work-items read values that other items of the same launch write: components,
//! labels, frontiers, and sums in the order of arrival. Small inputs are for `tools/oclgrind`, too.
//! Large inputs are for GPUs: `cargo test --test library racing:: -- --ignored --nocapture` runs
//! them.
use crate::common::{Family, data, device, scalars};
use blockmul::{
    Csc, Planned, Result,
    generate::{self, Random, Values},
    graph::{Lloyd, Schedule, ShortestPaths, components},
    io::{self, ReadOptions},
    plan::{Accum, Apply, Format},
    reference,
};
use std::{cmp::Reverse, collections::BinaryHeap, time::Instant};

/// A graph with the given edges (from, to), and with those in the other direction if `both`.
fn graph(vertices: usize, edges: impl Iterator<Item = (usize, usize)>, both: bool) -> Csc<f64> {
    let mut places: Vec<(usize, usize)> = edges.map(|(from, to)| (to, from)).collect();
    if both {
        places.extend_from_within(..);
        let half = places.len() / 2;
        places[half..].iter_mut().for_each(|place| *place = (place.1, place.0));
    }
    places.sort_unstable_by_key(|&(row, col)| (col, row));
    places.dedup();
    Csc::from_triplets(vertices, vertices, places.into_iter().map(|(row, col)| (row, col, 1.0))).unwrap()
}

/// Returns the vertices in a random order.
fn shuffled(vertices: usize) -> Vec<usize> {
    let (mut order, mut random): (Vec<usize>, _) = ((0..vertices).collect(), Random::new(3));
    (1..vertices).for_each(|at| order.swap(at, random.below(at as u64 + 1) as usize));
    order
}

/// Graphs of `vertices` vertices. In these graphs the trees by which kernels join components become
/// deep.
fn deep_graphs(vertices: usize, both: bool) -> Vec<(&'static str, Csc<f64>)> {
    let (n, order) = (vertices, shuffled(vertices));
    let of = |edges: &mut dyn Iterator<Item = (usize, usize)>| graph(n, edges, both);
    let chains = n / 100;
    vec![
        ("a chain up", of(&mut (1..n).map(|at| (at - 1, at)))),
        ("a chain down", of(&mut (1..n).map(|at| (at, at - 1)))),
        ("a shuffled chain", of(&mut (1..n).map(|at| (order[at - 1], order[at])))),
        ("a tree", of(&mut (1..n).map(|at| ((at - 1) / 2, at)))),
        ("a shuffled tree", of(&mut (1..n).map(|at| (order[(at - 1) / 2], order[at])))),
        ("chains of 100", of(&mut (chains.max(1)..n).map(|at| (at - chains.max(1), at)))),
    ]
}

/// Returns the edges of `g` with other lengths: 1 if the lower vertex of an edge is the last of a
/// group of `every` vertices, else 0.
fn with_levels(g: &Csc<f64>, every: usize) -> Csc<f64> {
    let col = |entry| g.pattern().col_ptr().partition_point(|&begin| begin <= entry as u64) - 1;
    let one = |entry: usize| (g.pattern().row_idx()[entry] as usize).min(col(entry)) % every == every - 1;
    let lengths = (0..g.nnz()).map(|entry| if one(entry) { 1.0 } else { 0.0 });
    Csc::new(g.pattern().clone(), lengths.collect()).unwrap()
}

/// Returns the number of the nearest seed for each vertex, computed by Dijkstra's algorithm. If
/// several seeds are equally near, the result is the lowest of their numbers.
fn nearest(g: &Csc<f64>, seeds: &[u32]) -> Vec<u32> {
    let mut least = vec![(u64::MAX, u32::MAX); g.ncols()];
    let mut waiting: BinaryHeap<_> = (0u32..).zip(seeds).map(|(label, &seed)| Reverse(((0, label), seed))).collect();
    while let Some(Reverse((reached, vertex))) = waiting.pop() {
        if reached >= least[vertex as usize] {
            continue;
        }
        least[vertex as usize] = reached;
        for entry in g.pattern().entries(vertex as usize) {
            let (to, length) = (g.pattern().row_idx()[entry], g.values()[entry] as u64);
            if (reached.0 + length, reached.1) < least[to as usize] {
                waiting.push(Reverse(((reached.0 + length, reached.1), to)));
            }
        }
    }
    least.into_iter().map(|(_, label)| label).collect()
}

fn differ<T: PartialEq>(found: &[T], want: &[T]) -> usize {
    assert_eq!(found.len(), want.len());
    found.iter().zip(want).filter(|(found, want)| found != want).count()
}

#[test]
fn small_graphs() -> Result<()> {
    for (name, g) in deep_graphs(120, true) {
        let g = with_levels(&g, 16);
        let on_device = device().upload(&g)?;
        assert_eq!(components(&on_device)?.download()?, reference::components(&g)?, "{name}");
        let want = reference::shortest_paths(&g, &[70])?;
        for schedule in [Schedule::NearFar, Schedule::Frontier] {
            let paths = ShortestPaths::from(&[70]).schedule(schedule).delta(1.0).run(&on_device)?;
            assert_eq!(paths.distances.download()?, want, "{name}, {schedule}");
        }
        let patches = Lloyd::from(&[119, 60, 30, 1]).steps(0).run(&on_device)?;
        assert_eq!(patches.labels, nearest(&g, &patches.seeds), "{name}");
    }
    Ok(())
}

#[test]
fn small_sums_on_arrival() -> Result<()> {
    for format in Format::COMPARED.iter().filter(|format| !format.reproducible()) {
        for (a, what) in
            [(scalars::<f64>(Family::Uniform, 90, 70, 9, 1), "rows"), (scalars(Family::Arrow, 80, 80, 3, 2), "hubs")]
        {
            // The values are integers, whose sums are exact in any order.
            let x: Vec<f64> = (0..a.ncols()).map(|i| (i % 9) as f64 - 4.0).collect();
            let mut want = vec![0.0; a.nrows()];
            reference::multiply_vector(1.0, &a, &x, 0.0, &mut want)?;
            let on_device = device().upload(&a)?;
            let (dx, mut dy) = (device().upload_vector(&x)?, device().zero_vector(a.nrows())?);
            let plan = Apply::<Csc<f64>>::with(&on_device.pattern()).format(*format).plan()?;
            plan.execute((&on_device, &dx), Accum::into(&mut dy).alpha(1.0).beta(0.0))?;
            assert_eq!(dy.download()?, want, "{format}, {what}");
        }
    }
    Ok(())
}

const RUNS: usize = 20;

/// Runs a computation `RUNS` times. Prints the number of wrong values and the median of the
/// milliseconds. Returns the number of wrong values.
fn repeated(what: &str, want: &[u32], mut run: impl FnMut() -> Result<Vec<u32>>) -> Result<usize> {
    let (mut wrong, mut times) = (0, Vec::new());
    for _ in 0..RUNS {
        let start = Instant::now();
        let found = run()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        wrong += differ(&found, want);
    }
    times.sort_by(f64::total_cmp);
    println!("{what}: {} vertices, {RUNS} runs, {wrong} wrong, {:.3} ms", want.len(), times[RUNS / 2]);
    Ok(wrong)
}

/// The graph `cnr-2000` is tested, too, if `BLOCKMUL_DATA` has it.
#[test]
#[ignore = "graphs of a million vertices, 20 times each: for GPUs"]
fn large_graphs() -> Result<()> {
    let (device, vertices) = (device(), 1_000_000);
    println!("{}", device.info().name);
    let mut graphs = deep_graphs(vertices, false);
    let r_mat = generate::PowerLaw { nodes: 1 << 20, edges: 1 << 22, values: Values::Integer, ..Default::default() }
        .matrix()?;
    graphs.push(("R-MAT", r_mat.to_scalars()));
    if let Some(file) = data("matrix/cnr-2000.mtx.gz") {
        graphs.push(("cnr-2000", io::read(&file, &ReadOptions::default())?.matrix));
    }
    let mut wrong = 0;
    for (name, g) in graphs {
        let (on_device, want) = (device.upload(&g)?, reference::components(&g)?);
        wrong += repeated(&format!("components of {name}"), &want, || components(&on_device)?.download())?;
    }
    let seeds: Vec<usize> =
        Random::new(4).distinct(4000, vertices as u64).into_iter().map(|seed| seed as usize).collect();
    for (name, g) in deep_graphs(vertices, true) {
        let g = with_levels(&g, 64);
        let (on_device, asked) = (device.upload(&g)?, Lloyd::from(&seeds).steps(0));
        let want = nearest(&g, &asked.run(&on_device)?.seeds);
        wrong += repeated(&format!("levels in {name}"), &want, || Ok(asked.run(&on_device)?.labels))?;
    }
    assert_eq!(wrong, 0);
    Ok(())
}
