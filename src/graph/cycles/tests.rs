//! Tests that devices and the reference compute the same distances, or refuse the same cycles.
use super::*;
use crate::{Csc, device::test_device, element::Length, generate::Random, graph::shortest_paths, reference};

/// Edges (from, to, length).
type EdgeList = Vec<(usize, usize, f64)>;

/// Distances from vertex 0, or the error. Checks that the device and the reference give the same
/// result.
fn both<D: Length>(n: usize, edges: &EdgeList) -> Result<Vec<D>> {
    // The shortest of parallel edges counts: a matrix has one entry for each place.
    let mut by_place = std::collections::BTreeMap::new();
    for &(from, to, length) in edges {
        let known = by_place.entry((to, from)).or_insert(length);
        *known = length.min(*known);
    }
    let entries = by_place.into_iter().map(|((to, from), length)| (to, from, D::from_f64(length)));
    let g = Csc::from_triplets(n, n, entries)?;
    let want = reference::shortest_paths(&g, &[0]);
    let found = shortest_paths(&test_device().upload(&g)?, &[0]).and_then(|of| of.download());
    match (&found, &want) {
        (Ok(found), Ok(want)) => {
            assert!(found.iter().zip(want).all(|(f, w)| f.to_f64().to_bits() == w.to_f64().to_bits()), "{edges:?}");
        }
        (found, want) => assert_eq!(format!("{found:?}"), format!("{want:?}"), "{edges:?}"),
    }
    want
}

/// The vertex and the length of a cycle that is refused.
fn refused<D: Length>(n: usize, edges: &EdgeList) -> Option<(usize, f64)> {
    match both::<D>(n, edges) {
        Err(Error::NegativeCycle { vertex, length }) => Some((vertex, length)),
        _ => None,
    }
}

#[test]
fn sums_have_the_sign_of_the_exact_ones() {
    let sum = |numbers: &[f64]| exact_sum(numbers.iter().copied());
    assert_eq!(sum(&[0.3, -0.1, -0.2]), -(2.0f64.powi(-55)));
    assert_eq!(sum(&[-0.1, 0.1]), 0.0);
    assert_eq!(sum(&[1e300, 1e-300, -1e300]), 1e-300);
    assert_eq!(sum(&[f64::MAX, f64::MAX, -5e-324, -f64::MAX, -f64::MAX]), -5e-324);
    assert_eq!(sum(&[1.0, f64::NEG_INFINITY, f64::MAX]), f64::NEG_INFINITY);
    assert!(sum(&[-f64::MAX, -f64::MAX]) < 0.0);
}

#[test]
fn cycles_of_length_zero_are_no_negative_ones() -> Result<()> {
    let pair = vec![(0, 1, 0.41), (1, 2, -0.1), (2, 1, 0.1)];
    assert_eq!(both::<f64>(3, &pair)?, [0.0, (0.41 - 0.1) + 0.1, 0.41 - 0.1]);
    both::<f32>(3, &pair)?;
    // The graphs are chains that end in a cycle. The first search for cycles comes before or after
    // the distances reach the cycle.
    for n in [62, 63, 64, 150] {
        let mut edges: EdgeList = (0..n - 3).map(|i| (i, i + 1, 0.41)).collect();
        edges.extend([(n - 3, n - 2, -0.1), (n - 2, n - 3, 0.1), (0, n - 1, -0.3), (n - 1, 0, 0.3)]);
        both::<f64>(n, &edges)?;
        both::<f32>(n, &edges)?;
    }
    Ok(())
}

#[test]
fn negative_cycles_of_every_magnitude_are_named() {
    for length in [1e-300, 1e-15, 1e-9, 1.0, 1e15, 1e300] {
        let edges = vec![(0, 1, 3.0 * length), (1, 2, length), (2, 3, length), (3, 1, -2.5 * length)];
        let (vertex, found) = refused::<f64>(5, &edges).unwrap();
        assert!(vertex == 1 && (found / length + 0.5).abs() < 1e-9, "{length}: {found}");
    }
    assert_eq!(refused::<f32>(3, &vec![(0, 1, 1e-30), (1, 0, -2e-30)]).unwrap().0, 0);
    // A cycle along which distances fall until rounding stops them after 2^24 steps.
    assert_eq!(refused::<f32>(2, &vec![(0, 1, 0.0), (1, 0, -1.0)]), Some((0, -1.0)));
    // A cycle whose distances reach the lowest number before the first search for cycles, and a
    // path whose distances reach it.
    let low = f64::from(i32::MIN);
    assert_eq!(refused::<i32>(2, &vec![(0, 1, low / 2.0), (1, 0, low / 2.0)]), Some((0, low)));
    assert_eq!(both::<i32>(3, &vec![(0, 1, low), (1, 2, -5.0)]).unwrap(), [0, i32::MIN, i32::MIN]);
    let none = f64::NEG_INFINITY;
    assert_eq!(refused::<f64>(3, &vec![(0, 1, 1.0), (1, 2, none), (2, 1, 1.0)]), Some((1, none)));
    assert_eq!(both::<f64>(3, &vec![(0, 1, none), (1, 2, 1.0), (2, 1, -1.0)]).unwrap(), [0.0, none, none]);
}

/// Lengths that are lost in rounding, because the last place of a distance is larger.
#[test]
fn a_fall_by_rounding_alone_is_refused() {
    let around = |far: f64, length: f64| vec![(0, 1, far), (1, 2, length), (2, 3, length), (3, 1, -2.0 * length)];
    assert_eq!(refused::<f64>(4, &around(1e16, 0.9)), Some((1, 0.0)));
    assert_eq!(refused::<f32>(4, &around(1e6, 0.09)), Some((1, 0.0)));
    let why = both::<f64>(4, &around(1e16, 0.9)).unwrap_err().to_string();
    let want =
        "a cycle of length 0, where rounding lowers distances without end, passes through vertex 1, counted from 0";
    assert_eq!(why, want);
}

/// Whether a walk of at most `n` edges and negative length leads from `vertex` back to `vertex`.
fn is_on_negative_cycle(n: usize, edges: &EdgeList, vertex: usize) -> bool {
    let mut least = vec![f64::INFINITY; n];
    least[vertex] = 0.0;
    (0..n).any(|_| {
        let before = least.clone();
        edges.iter().for_each(|&(from, to, length)| least[to] = least[to].min(before[from] + length));
        least[vertex] < 0.0
    })
}

/// Whether the vertex is reached from vertex 0.
fn is_reached(n: usize, edges: &EdgeList, vertex: usize) -> bool {
    let mut reached = vec![false; n];
    reached[0] = true;
    (0..n).for_each(|_| edges.iter().for_each(|&(from, to, _)| reached[to] |= reached[from]));
    reached[vertex]
}

/// The lengths in this test are small multiples of 2^-10, so no sum is rounded.
#[test]
fn what_is_refused_is_on_a_negative_cycle_and_all_else_is_computed() {
    let (mut some, mut none) = (0, 0);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let n = 3 + random.below(10) as usize;
        let mut edges = EdgeList::new();
        for _ in 0..n + random.below(2 * n as u64) as usize {
            let (from, to) = (random.below(n as u64) as usize, random.below(n as u64) as usize);
            if edges.iter().all(|&(f, t, _)| (f, t) != (from, to)) {
                edges.push((from, to, (random.below(4000) as f64 - 800.0) / 1024.0));
            }
        }
        let any = (0..n).any(|vertex| is_reached(n, &edges, vertex) && is_on_negative_cycle(n, &edges, vertex));
        match refused::<f64>(n, &edges) {
            Some((vertex, length)) => {
                assert!(length < 0.0 && is_on_negative_cycle(n, &edges, vertex), "{edges:?}");
                some += 1;
            }
            None => none += 1,
        }
        assert_eq!(refused::<f64>(n, &edges).is_some(), any, "{edges:?}");
        let whole = edges.iter().map(|&(from, to, length)| (from, to, length * 1024.0)).collect();
        assert_eq!(refused::<i32>(n, &whole).is_some(), any, "{whole:?}");
    }
    assert!(some > 10 && none > 10, "{some} {none}");
}

/// Every edge is a constraint x(to) - x(from) <= length. Some numbers x satisfy all constraints,
/// many of them with equality, so many cycles have length 0. If lengths are decimal fractions,
/// rounding may make the length of such a cycle negative.
#[test]
fn difference_constraints_are_solved() -> Result<()> {
    let mut solved = 0;
    for seed in 0..80 {
        let mut random = Random::new(100 + seed);
        let (n, unit) = (4 + random.below(60) as usize, if seed % 2 == 0 { 100.0 } else { 128.0 });
        let mut whole = |below: usize| random.below(below as u64) as usize;
        let x: Vec<f64> = (0..n).map(|_| whole(1000) as f64).collect();
        let mut edges = EdgeList::new();
        for _ in 0..4 * n {
            let (from, to, slack) = (whole(n), whole(n), whole(40).saturating_sub(20) as f64);
            edges.push((from, to, (x[to] - x[from] + slack) / unit));
            if slack == 0.0 {
                edges.push((to, from, (x[from] - x[to]) / unit));
            }
        }
        edges.retain(|&(from, to, _)| from != to);
        match both::<f64>(n, &edges) {
            Ok(found) => {
                let met = |&(from, to, length): &(usize, usize, f64)| found[from] + length >= found[to];
                assert!(edges.iter().all(met));
                solved += 1;
            }
            Err(Error::NegativeCycle { length, .. }) => {
                assert!(unit == 100.0 && length.abs() < 1e-12, "{length}: {edges:?}");
            }
            Err(error) => return Err(error),
        }
        let _also_in_f32 = both::<f32>(n, &edges);
        // Adds constraints that no numbers x satisfy.
        let (from, to, _) = edges[0];
        edges.extend([(from, to, (x[to] - x[from]) / unit), (to, from, (x[from] - x[to]) / unit - 0.25)]);
        edges.push((0, from, 50.0));
        assert!(from == 0 || refused::<f64>(n, &edges).is_some(), "{edges:?}");
    }
    assert!(solved >= 40, "{solved}");
    Ok(())
}
