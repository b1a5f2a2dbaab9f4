//! A model of the kernels `set_sources` and `near_far` of `cl/graph/near_far.cl`.
use crate::{
    graph::tests::{dijkstra, families},
    interleave::{Words, interleave},
};

const NOWHERE: usize = 0;
const NEAR: usize = 1;
const FAR: usize = 2;

/// The words of the record.
const HEAD: usize = 0;
const COUNT: usize = 1;
const FAR_COUNT: usize = 2;

const EMPTY: usize = usize::MAX;

/// Global memory.
struct Memory {
    path_length: Words,
    place: Words,
    near: Words,
    far: Words,
    limit: Words,
    record: Words,
}

async fn set_source(memory: &Memory, i: usize, vertex: usize) {
    memory.place.store(vertex, NEAR).await;
    memory.near.store(i, vertex).await;
}

async fn near_far(leaving: &[Vec<(usize, usize)>], memory: &Memory, step: usize, budget: usize) {
    let Memory { path_length, place, near, far, limit: limits, record } = memory;
    let (n, mut edges) = (leaving.len(), 0);
    let mut head = record.load(HEAD).await;
    let mut count = record.load(COUNT).await;
    let mut far_count = record.load(FAR_COUNT).await;
    let mut limit = limits.load(0).await;
    while edges < budget && (count > 0 || far_count > 0) {
        if count > 0 {
            let vertex = near.load(head).await;
            (head, count) = ((head + 1) % n, count - 1);
            place.store(vertex, NOWHERE).await;
            let so_far = path_length.load(vertex).await;
            edges += leaving[vertex].len() + 1;
            for &(next, length) in &leaving[vertex] {
                let reached = so_far + length;
                if reached >= path_length.load(next).await {
                    continue;
                }
                path_length.store(next, reached).await;
                let within = place.load(next).await;
                if reached <= limit {
                    if within != NEAR {
                        near.store((head + count) % n, next).await;
                        place.store(next, NEAR).await;
                        count += 1;
                    }
                } else if within == NOWHERE {
                    far.store(far_count, next).await;
                    place.store(next, FAR).await;
                    far_count += 1;
                }
            }
            continue;
        }
        edges += far_count;
        limit += step;
        let (mut least, mut kept) = (EMPTY, 0);
        for i in 0..far_count {
            let vertex = far.load(i).await;
            if place.load(vertex).await != FAR {
                continue;
            }
            let reached = path_length.load(vertex).await;
            if reached <= limit {
                near.store((head + count) % n, vertex).await;
                place.store(vertex, NEAR).await;
                count += 1;
            } else {
                far.store(kept, vertex).await;
                (kept, least) = (kept + 1, least.min(reached));
            }
        }
        far_count = kept;
        if count == 0 {
            limit = least;
        }
    }
    for (word, value) in [(HEAD, head), (COUNT, count), (FAR_COUNT, far_count)] {
        record.store(word, value).await;
    }
    limits.store(0, limit).await;
}

/// Items set sources in any order. After that, one item does all the work, and always reads its own
/// latest writes.
#[test]
fn distances_are_right_in_every_order() {
    for family in families() {
        let (n, sources) = (family.vertices, [family.vertices - 1, 0]);
        let mut leaving = vec![Vec::new(); n];
        family.edges.iter().for_each(|&(from, to, length)| leaving[from].push((to, length as usize)));
        let want = dijkstra(n, &family.edges, &sources);
        for (seed, budget) in (0..6).zip([1, 5, 1000].into_iter().cycle()) {
            let memory = Memory {
                path_length: Words::new((0..n).map(|vertex| if sources.contains(&vertex) { 0 } else { EMPTY })),
                place: Words::new(vec![NOWHERE; n]),
                near: Words::new(vec![0; n]),
                far: Words::new(vec![0; n]),
                limit: Words::new([0]),
                record: Words::new([0, sources.len(), 0]),
            };
            interleave(sources.iter().enumerate().map(|(i, &vertex)| set_source(&memory, i, vertex)), seed);
            while memory.record.values()[COUNT..] != [0, 0] {
                interleave([near_far(&leaving, &memory, 1, budget)], seed);
            }
            let found = memory.path_length.values().into_iter();
            let found: Vec<f64> = found.map(|far| if far == EMPTY { f64::INFINITY } else { far as f64 }).collect();
            assert_eq!(found, want, "{}, seed {seed}", family.name);
        }
    }
}
