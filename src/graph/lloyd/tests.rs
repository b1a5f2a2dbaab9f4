//! Against the reference, to the bit, and what patches promise.
use super::*;
use crate::{Csc, Csr, Pattern, device::test_device, generate, generate::Random, mesh::Mesh, reference};
use std::collections::VecDeque;

fn seeds(count: u64, vertices: usize, seed: u64) -> Vec<usize> {
    Random::new(seed).distinct(count, vertices as u64).into_iter().map(|vertex| vertex as usize).collect()
}

/// Computes patches on the device, compares them with the reference, and checks them.
fn check(g: &Csc<f64>, asked: &Lloyd<'_>) -> Result<Patches> {
    let found = asked.run(&test_device().upload(g)?)?;
    let want = reference::lloyd(g, asked)?;
    assert_eq!(Patches { total_ms: 0.0, ..found.clone() }, want);
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
    // By rows, which list the edges that enter a vertex.
    let by_rows = test_device().upload(&Csr::from_transpose(g.transpose()))?;
    assert_eq!(Lloyd::from(&from).run(&by_rows)?.labels, plain.labels);
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
    // What costs less than it saves moves, each patch once.
    let balance = Balance {
        now: vec![10.0, 9.0, 8.0, 7.0],
        without: vec![11.0, 19.0, f64::INFINITY, 9.0],
        divided: vec![9.0, 4.0, 1.0, 7.0],
        ends: [vec![10, 11, 12, 13], vec![20, 21, 22, 23]],
    };
    assert_eq!(balance.moved(&[0, 1, 2, 3]), Some(vec![22, 11, 12, 21]));
    let still = Balance { divided: balance.now.clone(), ..balance };
    assert_eq!(still.moved(&[0, 1, 2, 3]), None);
    Ok(())
}

#[test]
fn patches_without_vertices_begin_anew_far_away() -> Result<()> {
    // Two triangles apart from one another, and three seeds on one vertex.
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [9.0; 3], [9.0, 9.0, 8.0], [9.0, 8.0, 9.0]];
    let mesh = Mesh::new(points, vec![[0, 1, 2], [3, 4, 5]])?;
    let found = check(&mesh.graph()?, &Lloyd::from(&[1, 1, 1]).points(mesh.points()))?;
    assert_eq!(found.unreached, 0);
    let mut seeds = found.seeds.clone();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 3);
    // One patch cannot reach both; its border is nowhere.
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
    assert_eq!(refused(Lloyd::from(&[])), "no seed: patches begin at one at least");
    assert_eq!(refused(Lloyd::from(&[3])), "seed 3 is outside a graph of 3 vertices");
    assert_eq!(refused(Lloyd::from(&[0])), "patches take no negative length, the least is -2");
    let few = refused(Lloyd::from(&[0]).points(&[[0.0; 3]]));
    assert_eq!(few, "points has 1 elements, 3 expected (one for each vertex)");
    Ok(())
}
