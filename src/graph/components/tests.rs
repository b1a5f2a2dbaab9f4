//! Models of the kernels `hook` and `flatten` (`cl/graph/components.cl`, `cl/graph/trees.cl`), run
//! with their items in random orders.
use crate::{
    generate::Random,
    graph::tests::{Family, components_of, families},
    interleave::{Words, interleave},
};

pub(in crate::graph) async fn root_of(parent: &Words, mut vertex: usize) -> usize {
    let mut above = parent.load(vertex).await;
    while above != vertex {
        let next = parent.load(above).await;
        if next != above {
            parent.store(vertex, next).await;
        }
        vertex = above;
        above = next;
    }
    vertex
}

pub(in crate::graph) async fn join(parent: &Words, mut own: usize, vertex: usize) -> usize {
    let mut other = root_of(parent, vertex).await;
    while own != other {
        let (high, low) = (own.max(other), own.min(other));
        let found = parent.cmpxchg(high, high, low).await;
        own = low;
        other = if found == high { low } else { root_of(parent, found).await };
    }
    own
}

async fn hook(parent: &Words, to: &[usize], vertex: usize) {
    let mut own = root_of(parent, vertex).await;
    for &other in to {
        own = join(parent, own, other).await;
    }
}

async fn flatten(parent: &Words, root: &Words, vertex: usize) {
    let found = root_of(parent, vertex).await;
    root.store(vertex, found).await;
}

/// The trees of a graph after all items of the model of `hook` have ended.
fn hooked(vertices: usize, leaving: &[Vec<usize>], seed: u64) -> Words {
    let parent = Words::new(0..vertices);
    interleave((0..vertices).map(|vertex| hook(&parent, &leaving[vertex], vertex)), seed);
    parent
}

/// A graph of few vertices.
struct Small {
    name: &'static str,
    /// The ends of the edges that leave each vertex.
    leaving: Vec<Vec<usize>>,
    components: Vec<usize>,
}

fn graphs() -> Vec<Small> {
    let of = |Family { name, vertices, edges }| {
        let mut leaving = vec![Vec::new(); vertices];
        edges.iter().for_each(|&(from, to, _)| leaving[from].push(to));
        Small { name, leaving, components: components_of(vertices, &edges) }
    };
    families().into_iter().map(of).collect()
}

#[test]
fn components_are_right_in_every_order() {
    for Small { name, leaving, components } in graphs() {
        for seed in 0..64 {
            let n = leaving.len();
            let parent = hooked(n, &leaving, seed);
            let root = Words::new(vec![usize::MAX; n]);
            interleave((0..n).map(|vertex| flatten(&parent, &root, vertex)), Random::new(seed).bits());
            assert_eq!(root.values(), components, "{name}, seed {seed}");
        }
    }
}

/// If `flatten` wrote roots to the array in which other items shorten paths, some results would be
/// wrong, because an item may replace a root by an older ancestor.
#[test]
fn roots_in_the_array_of_parents_are_lost() {
    let mut wrong = 0;
    for Small { leaving, components, .. } in graphs() {
        for seed in 0..200 {
            let n = leaving.len();
            let parent = hooked(n, &leaving, seed);
            interleave((0..n).map(|vertex| flatten(&parent, &parent, vertex)), Random::new(seed).bits());
            wrong += usize::from(parent.values() != components);
        }
    }
    assert!(wrong > 10, "{wrong} runs were wrong");
}
