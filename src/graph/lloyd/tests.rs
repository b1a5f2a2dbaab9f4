//! Tests that patches have the bits of the reference, and the documented properties.
use super::*;
use crate::{
    Csc, Csr, Pattern, device::test_device, generate, generate::Random, graph::Balance, mesh::Mesh, reference,
};
use std::collections::{BTreeMap, VecDeque};

const NONE: u32 = u32::MAX;

fn seeds(count: u64, vertices: usize, seed: u64) -> Vec<usize> {
    Random::new(seed).distinct(count, vertices as u64).into_iter().map(|vertex| vertex as usize).collect()
}

/// Computes patches on the device, and compares them with the reference.
fn compare(g: &Csc<f64>, asked: &Lloyd<'_>) -> Result<Patches> {
    let found = asked.run(&test_device().upload(g)?)?;
    assert_eq!(Patches { total_ms: 0.0, ..found.clone() }, reference::lloyd(g, asked)?);
    Ok(found)
}

/// Like [`compare`], but also checks the properties of the patches.
fn check(g: &Csc<f64>, asked: &Lloyd<'_>) -> Result<Patches> {
    let found = compare(g, asked)?;
    assert!(found.energies.iter().all(|energy| found.energy() <= *energy));
    let chosen: Vec<usize> = found.seeds.iter().map(|&seed| seed as usize).collect();
    let distance = reference::shortest_paths(g, &chosen)?;
    let each = |seed: &usize| reference::shortest_paths(g, &[*seed]);
    let of_seeds = chosen.iter().map(each).collect::<Result<Vec<_>>>()?;
    for (vertex, &label) in found.labels.iter().enumerate() {
        match label {
            NONE => assert_eq!(distance[vertex], f64::INFINITY),
            label => assert_eq!(of_seeds[label as usize][vertex], distance[vertex], "vertex {vertex} of {label}"),
        }
    }
    connected(g.pattern(), &found);
    Ok(found)
}

/// Checks that edges within each patch lead from its seed to all its vertices.
fn connected(pattern: &Pattern, found: &Patches) {
    let mut met = vec![false; found.labels.len()];
    for (patch, &seed) in found.seeds.iter().enumerate().filter(|&(p, &s)| found.labels[s as usize] == p as u32) {
        let mut queue = VecDeque::from([seed]);
        met[seed as usize] = true;
        while let Some(vertex) = queue.pop_front() {
            for &next in pattern.column(vertex as usize) {
                if !met[next as usize] && found.labels[next as usize] == patch as u32 {
                    met[next as usize] = true;
                    queue.push_back(next);
                }
            }
        }
    }
    assert!((0..met.len()).all(|vertex| met[vertex] || found.labels[vertex] == NONE));
}

#[test]
fn patches_of_meshes_are_the_reference_s() -> Result<()> {
    // A patch of more than 1024 vertices is summed in pieces.
    for (mesh, count, steps) in
        [(generate::sphere(3)?, 12, 20), (generate::torus(24, 10)?, 7, 3), (generate::terrain(60, 50, 1)?, 2, 4)]
    {
        let (g, from) = (mesh.graph()?, seeds(count, mesh.points().len(), 5));
        let in_space = check(&g, &Lloyd::from(&from).points(mesh.points()).steps(steps))?;
        assert!(in_space.energy() < in_space.energies[0] && in_space.unreached == 0);
        let on_graph = check(&g, &Lloyd::from(&from).steps(steps))?;
        assert!(on_graph.unreached == 0);
    }
    Ok(())
}

#[test]
fn the_energy_of_centroids_is_of_distances_in_space() -> Result<()> {
    // A patch of more than 1024 vertices is summed in pieces.
    for (mesh, count) in [(generate::sphere(3)?, 12), (generate::terrain(60, 50, 1)?, 2)] {
        let (g, points) = (mesh.graph()?, mesh.points());
        let from = seeds(count, points.len(), 5);
        let asked = Lloyd::from(&from).points(points);
        let (by_seeds, found) = (check(&g, &asked)?, check(&g, &asked.clone().energy(Energy::Centroid))?);
        check(&g, &asked.clone().energy(Energy::Centroid).balanced())?;
        // Seeds move in the same way with both energies; only the step that is kept may differ.
        assert_eq!(by_seeds.energies.len(), found.energies.len());
        let mut want = 0.0;
        for patch in 0..count as u32 {
            let of: Vec<_> = points.iter().zip(&found.labels).filter(|of| *of.1 == patch).map(|of| *of.0).collect();
            let centre = [0, 1, 2].map(|axis| of.iter().map(|point| point[axis]).sum::<f64>() / of.len() as f64);
            want += of.iter().map(|&point| crate::mesh::square(point, centre)).sum::<f64>();
        }
        // Two sums of the same n nonnegative terms in different orders differ by at most 2·n·u of
        // their value, where u is the unit round-off. The bound also covers the rounding of the
        // centroids.
        assert!((found.energy() - want).abs() <= 1e-11 * want, "{} {want}", found.energy());
        assert!(found.energy() < by_seeds.energy(), "a chord is shorter than a path");
    }
    let g = generate::sphere(1)?.graph()?;
    let refused = Lloyd::from(&[0]).energy(Energy::Centroid).run(&test_device().upload(&g)?).map(drop);
    let why = "the energy to centroids needs the places of the vertices in space";
    assert_eq!(refused.unwrap_err().to_string(), why);
    Ok(())
}

#[test]
fn ties_go_to_the_lower_label_or_the_smaller_patch() -> Result<()> {
    // A grid with edges of length 1, in which most distances are equal.
    let n = 12;
    let edges = (0..n * n).flat_map(|at| {
        let right = (at % n + 1 < n).then_some(at + 1);
        let up = (at / n + 1 < n).then_some(at + n);
        [right, up].into_iter().flatten().flat_map(move |other| [(at, other, 1.0), (other, at, 1.0)])
    });
    let g = Csc::from_triplets(n * n, n * n, edges)?;
    let from = seeds(9, n * n, 2);
    let plain = check(&g, &Lloyd::from(&from))?;
    let balanced = check(&g, &Lloyd::from(&from).balanced())?;
    assert!(balanced.energy() <= plain.energy(), "{} {}", balanced.energy(), plain.energy());
    let spread = |patches: &Patches| {
        let sizes = (0..9).map(|patch| patches.labels.iter().filter(|&&label| label == patch).count() as f64);
        sizes.map(|size| (size - 16.0).powi(2)).sum::<f64>()
    };
    assert!(spread(&balanced) < spread(&plain), "{} {}", spread(&balanced), spread(&plain));
    // Stored by rows, the graph gives the same labels. A row lists the edges that enter a vertex.
    let by_rows = test_device().upload(&Csr::from_transpose(g.transpose()))?;
    assert_eq!(Lloyd::from(&from).run(&by_rows)?.labels, plain.labels);
    Ok(())
}

/// Edges of length 0 join vertices into levels, whose vertices have one label. In some graphs a tie
/// between two seeds continues along a long chain of vertices.
#[test]
fn labels_are_right_across_edges_of_length_0_and_behind_ties() -> Result<()> {
    let n = 600;
    for seed in 1..=6 {
        let mut random = Random::new(seed);
        let mut lengths = BTreeMap::new();
        for _ in 0..3 * n / 2 {
            let (a, b) = (random.below(n as u64) as usize, random.below(n as u64) as usize);
            let length = [0.0, 0.0, 1.0, 2.0][random.below(4) as usize];
            lengths.insert((a, b), length);
            // Some edges lead in one direction only, and some have a greater length in the other
            // direction.
            match random.below(4) {
                0 => {}
                1 => drop(lengths.insert((b, a), length + 1.0)),
                _ => drop(lengths.insert((b, a), length)),
            }
        }
        let g = Csc::from_triplets(n, n, lengths.into_iter().map(|((a, b), length)| (b, a, length)))?;
        for count in [2, 25] {
            compare(&g, &Lloyd::from(&seeds(count, n, seed)).steps(3))?;
        }
    }
    // Two seeds have equal distances from the first vertex of a chain. The vertices of the chain
    // are numbered in ascending, descending and mixed order.
    for length in [1.0, 0.0] {
        for order in [|at, _| at, |at, n| n - 1 - at, |at, n| at * 7 % n] {
            let stem = |at: usize| order(at, n) + 2;
            let along = (1..n).map(|at| (stem(at - 1), stem(at), length));
            let edges = along.chain([(0, stem(0), 1.0), (1, stem(0), 1.0)]);
            let both = edges.flat_map(|(a, b, length)| [(a, b, length), (b, a, length)]);
            let g = Csc::from_triplets(n + 2, n + 2, both)?;
            for from in [[0, 1], [1, 0]] {
                let patches = compare(&g, &Lloyd::from(&from).steps(0))?;
                assert_eq!(patches.labels[from[1]], 1);
                assert!(patches.labels[2..].iter().all(|&label| label == 0));
            }
        }
    }
    Ok(())
}

#[test]
fn seeds_move_to_where_they_save_energy() -> Result<()> {
    // All seeds begin in one corner of a terrain, and centres of borders move slowly.
    let mesh = generate::terrain(40, 30, 3)?;
    let (g, from) = (mesh.graph()?, [0, 1, 2, 40, 41, 42, 80, 81]);
    for asked in [Lloyd::from(&from).steps(3), Lloyd::from(&from).steps(2).points(mesh.points())] {
        let (plain, balanced) = (check(&g, &asked)?, check(&g, &asked.clone().balanced())?);
        assert!(balanced.energies.len() > plain.energies.len());
        assert!(balanced.energy() < 0.8 * plain.energy(), "{} {}", balanced.energy(), plain.energy());
    }
    Ok(())
}

#[test]
fn balance_lowers_the_energy_of_round_patches() -> Result<()> {
    // If a patch is not long, vertices at its far ends are poor seeds for its halves. So the seeds
    // of the halves first move within the patch.
    for (mesh, count) in
        [(generate::sphere(3)?, 12), (generate::torus(40, 16)?, 10), (generate::terrain(24, 24, 1)?, 9)]
    {
        let (g, from) = (mesh.graph()?, seeds(count, mesh.points().len(), 1));
        for asked in [Lloyd::from(&from), Lloyd::from(&from).points(mesh.points())] {
            let (plain, balanced) = (check(&g, &asked)?, check(&g, &asked.clone().balanced())?);
            assert!(balanced.energy() < plain.energy(), "{} {}", balanced.energy(), plain.energy());
            // A balanced computation begins with all steps of the computation without balance, so
            // balance cannot raise the final energy.
            assert_eq!(balanced.energies[..plain.energies.len()], plain.energies);
        }
    }
    Ok(())
}

#[test]
fn patches_that_cost_less_than_others_gain_move_first() {
    let balance = Balance {
        costs: vec![1.0, 10.0, f64::INFINITY, 2.0],
        gains: vec![1.0, 5.0, 7.0, f64::NEG_INFINITY],
        pairs: [vec![10, 11, 12, 13], vec![20, 21, 22, 23]],
    };
    // The first set has both moves whose gain is above their cost. The next sets have each of these
    // moves alone, and then the next best move.
    let moves = balance.moves(&[0, 1, 2, 3], 4);
    assert_eq!(moves, [[22, 11, 12, 21], [22, 1, 12, 3], [0, 1, 12, 22], [21, 11, 2, 3]]);
    assert_eq!(balance.moves(&[0, 1, 2, 3], 1), [[22, 11, 12, 21]]);
    // A move whose cost is above its gain may be tried. A move without gain is not tried.
    let dear = Balance { costs: vec![9.0; 4], ..balance.clone() };
    assert_eq!(dear.moves(&[0, 1, 2, 3], 1), [[22, 1, 12, 3]]);
    let still = Balance { gains: vec![0.0; 4], ..balance };
    assert!(still.moves(&[0, 1, 2, 3], 4).is_empty());
}

#[test]
fn patches_are_divided_only_between_seeds_that_reach_all_of_them() -> Result<()> {
    // A ring of edges in one direction, and a tail of vertices that leads into the ring. No edge
    // leads from the ring back to the tail.
    let n = 12;
    let ring = (0..n).map(|at| ((at + 1) % n, at, 1.0 + at as f64 / 8.0));
    let g = Csc::from_triplets(n + 3, n + 3, ring.chain([(0, n, 1.0), (n, n + 1, 2.0), (n + 1, n + 2, 1.0)]))?;
    let found = check(&g, &Lloyd::from(&[n + 2, 4]).balanced())?;
    assert_eq!((found.unreached, found.seeds.contains(&(n as u32 + 2))), (0, true));
    Ok(())
}

#[test]
fn an_energy_above_the_largest_number_is_an_error() -> Result<()> {
    let g = Csc::from_triplets(3, 3, [(1, 0, 1e154), (2, 1, 1e154)])?;
    let why = "the energy of the patches is above the largest number: lengths have to be smaller";
    assert_eq!(Lloyd::from(&[0]).run(&test_device().upload(&g)?).unwrap_err().to_string(), why);
    assert_eq!(reference::lloyd(&g, &Lloyd::from(&[0])).unwrap_err().to_string(), why);
    assert_eq!(check(&g, &Lloyd::from(&[0, 1]))?.energy(), 1e154 * 1e154);
    Ok(())
}

#[test]
fn patches_without_vertices_begin_anew_far_away() -> Result<()> {
    // Two triangles that are not connected, and three seeds on one vertex.
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [9.0; 3], [9.0, 9.0, 8.0], [9.0, 8.0, 9.0]];
    let mesh = Mesh::new(points, vec![[0, 1, 2], [3, 4, 5]])?;
    let found = check(&mesh.graph()?, &Lloyd::from(&[1, 1, 1]).points(mesh.points()))?;
    assert_eq!(found.unreached, 0);
    let mut seeds = found.seeds.clone();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 3);
    // The seeds of all patches without vertices move in one step, first to parts of the graph
    // without a seed.
    let apart = Csc::from_triplets(8, 8, (0..4).flat_map(|at| [(2 * at, 2 * at + 1, 1.0), (2 * at + 1, 2 * at, 1.0)]))?;
    let found = compare(&apart, &Lloyd::from(&[2, 2, 2, 2, 2]).steps(1))?;
    assert_eq!((found.unreached, &found.seeds[..]), (0, &[2, 0, 4, 6, 1][..]));
    // Many vertices are at distance 0 from each other, and a strip of edges leads away from them.
    // No patch stays empty.
    let along = (0..40).map(|at| (at, at + 1, if at < 30 { 0.0 } else { 1.0 }));
    let strip = Csc::from_triplets(41, 41, along.flat_map(|(a, b, length)| [(a, b, length), (b, a, length)]))?;
    let found = check(&strip, &Lloyd::from(&[0, 1, 2, 3, 4, 5, 6, 7]).steps(1))?;
    assert!((0..8).all(|patch| found.labels.contains(&patch)), "{:?}", found.labels);
    // If there are more patches than places at distances above 0, the surplus patches stay empty,
    // and the seeds stand still.
    let found = check(&strip, &Lloyd::from(&(0..15).collect::<Vec<_>>()).balanced())?;
    assert_eq!((0..15).filter(|patch| found.labels.contains(patch)).count(), 11);
    // One seed cannot reach both triangles, and its patch has no border.
    let found = check(&mesh.graph()?, &Lloyd::from(&[4]))?;
    assert_eq!((found.unreached, &found.seeds[..], found.energies.len()), (3, &[4][..], 1));
    // Edges of length 0, and edges in one direction.
    let g = Csc::from_triplets(5, 5, [(1, 0, 0.0), (2, 1, 0.0), (0, 2, 0.0), (3, 2, 1.0), (4, 3, 2.0)])?;
    check(&g, &Lloyd::from(&[2, 1, 4]))?;
    Ok(())
}

#[test]
fn what_makes_no_patches_is_refused() -> Result<()> {
    let g = test_device().upload(&Csc::from_triplets(3, 3, [(0, 1, 1.0), (1, 2, -2.0)])?)?;
    let refused = |asked: Lloyd<'_>| asked.run(&g).map(drop).unwrap_err().to_string();
    assert_eq!(refused(Lloyd::from(&[])), "at least one seed is required");
    assert_eq!(refused(Lloyd::from(&[3])), "seed 3 is outside a graph of 3 vertices");
    assert_eq!(refused(Lloyd::from(&[0])), "patches do not support negative lengths, and the least is -2");
    let few = refused(Lloyd::from(&[0]).points(&[[0.0; 3]]));
    assert_eq!(few, "points has 1 elements, 3 expected (one for each vertex)");
    Ok(())
}
