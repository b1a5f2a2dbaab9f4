//! Models of the kernels `join_levels`, `enter_levels`, `follow` and `lower_labels`
//! (`cl/graph/labels.cl`), run with their items in random orders.
use crate::{
    generate::Random,
    graph::{
        components::tests::{join, root_of},
        tests::{Family, dijkstra, families},
    },
    interleave::{Words, interleave},
};

const NONE: usize = usize::MAX;

/// A graph and the distances of its vertices from sources.
struct Reached {
    /// The edges that enter each vertex, (from, length), ascending.
    entering: Vec<Vec<(usize, usize)>>,
    path_length: Vec<usize>,
}

impl Reached {
    fn of(family: &Family, sources: &[usize]) -> Self {
        let mut entering = vec![std::collections::BTreeMap::new(); family.vertices];
        for &(from, to, length) in &family.edges {
            let known = entering[to].entry(from).or_insert(length as usize);
            *known = (length as usize).min(*known);
        }
        let distances = dijkstra(family.vertices, &family.edges, sources).into_iter();
        let path_length = distances.map(|reached| if reached.is_finite() { reached as usize } else { NONE }).collect();
        Self { entering: entering.into_iter().map(|edges| edges.into_iter().collect()).collect(), path_length }
    }

    fn vertices(&self) -> usize {
        self.entering.len()
    }

    /// The vertices at which tight edges into `vertex` begin. An edge is tight if a shortest path
    /// uses it.
    fn tight(&self, vertex: usize) -> impl Iterator<Item = usize> {
        let reached = self.path_length[vertex];
        let edges = self.entering[vertex].iter().filter(move |_| reached != NONE);
        edges
            .filter(move |&&(from, length)| self.path_length[from].checked_add(length) == Some(reached))
            .map(|edge| edge.0)
    }

    /// The vertex that each vertex follows at first.
    fn begin_labels(&self) -> Vec<usize> {
        let closer = |&from: &usize, vertex: usize| self.path_length[from] < self.path_length[vertex];
        (0..self.vertices()).map(|v| self.tight(v).find(|from| closer(from, v)).unwrap_or(v)).collect()
    }

    /// The lowest label from which tight edges lead to each vertex. Labels are lowered until none
    /// changes.
    fn lowest(&self, labels: &[(usize, usize)]) -> Vec<usize> {
        let mut lowest = vec![NONE; self.vertices()];
        labels.iter().for_each(|&(vertex, label)| lowest[vertex] = label);
        loop {
            let before = lowest.clone();
            for vertex in 0..self.vertices() {
                lowest[vertex] = self.tight(vertex).map(|from| lowest[from]).fold(lowest[vertex], usize::min);
            }
            if lowest == before {
                return lowest;
            }
        }
    }
}

async fn join_levels(graph: &Reached, parent: &Words, vertex: usize) {
    let is_level = |from: usize, to: usize| {
        graph.path_length[from] == graph.path_length[to] && graph.entering[to].contains(&(from, 0))
    };
    if graph.path_length[vertex] == NONE {
        return;
    }
    let mut own = root_of(parent, vertex).await;
    for &(other, _) in graph.entering[vertex].iter().take_while(|edge| edge.0 < vertex) {
        if is_level(other, vertex) && is_level(vertex, other) {
            own = join(parent, own, other).await;
        }
    }
}

async fn enter_levels(before: &[usize], parent: &Words, level: &Words, leader: &Words, vertex: usize) {
    let root = root_of(parent, vertex).await;
    level.store(vertex, root).await;
    if before[vertex] != vertex {
        leader.min(root, before[vertex]).await;
    }
}

async fn leave_levels(before: &Words, level: &Words, leader: &Words, vertex: usize) {
    let root = level.load(vertex).await;
    let of_level = leader.load(vertex).await;
    if root != vertex {
        before.store(vertex, root).await;
    } else if of_level != NONE {
        before.store(vertex, of_level).await;
    }
}

async fn label_source(level: &Words, label: &Words, (vertex, of): (usize, usize)) {
    label.min(level.load(vertex).await, of).await;
}

async fn follow(chain: &Words, label: &Words, vertex: usize) {
    let mut at = vertex;
    let mut next = chain.load(at).await;
    while next != at {
        let further = chain.load(next).await;
        if further != next {
            chain.store(at, further).await;
        }
        (at, next) = (next, further);
    }
    if at != vertex {
        label.store(vertex, label.load(at).await).await;
    }
}

async fn lower_labels(graph: &Reached, label: &Words, level: &Words, before: &Words, changed: &Words, vertex: usize) {
    let mut least = label.load(vertex).await;
    let mut first = vertex;
    for from in graph.tight(vertex) {
        let other = label.load(from).await;
        if other < least {
            (least, first) = (other, from);
        }
    }
    if first != vertex {
        before.xchg(level.load(vertex).await, first).await;
        changed.xchg(0, 1).await;
    }
}

/// The labels that the models compute, launched in the host's order. If `apart` is false, roots of
/// levels are written to the array in which items shorten paths.
fn nearest(graph: &Reached, labels: &[(usize, usize)], apart: bool, mut seed: u64) -> Vec<usize> {
    let n = graph.vertices();
    // Each launch draws a kind of order and an order of that kind. If all launches have one kind of
    // order, more runs lose labels, so the test that looks for lost labels keeps one kind.
    let mut random = Random::new(seed);
    let mut next = || {
        seed += 1000;
        if apart { random.bits() } else { seed }
    };
    let parent = Words::new(0..n);
    interleave((0..n).map(|vertex| join_levels(graph, &parent, vertex)), next());
    let begun = graph.begin_labels();
    let (own, leader) = (Words::new(vec![NONE; n]), Words::new(vec![NONE; n]));
    let level = if apart { &own } else { &parent };
    interleave((0..n).map(|vertex| enter_levels(&begun, &parent, level, &leader, vertex)), next());
    let before = Words::new(begun.iter().copied());
    interleave((0..n).map(|vertex| leave_levels(&before, level, &leader, vertex)), next());
    let label = Words::new(vec![NONE; n]);
    interleave(labels.iter().map(|&of| label_source(level, &label, of)), next());
    for _ in 0..100 {
        let chain = Words::new(before.values());
        interleave((0..n).map(|vertex| follow(&chain, &label, vertex)), next());
        let changed = Words::new([0]);
        interleave((0..n).map(|vertex| lower_labels(graph, &label, level, &before, &changed, vertex)), next());
        if changed.values() == [0] {
            return label.values();
        }
    }
    panic!("labels fall without end")
}

/// Runs every graph with `seeds` seeds. Returns how many labels were wrong.
fn wrong(apart: bool, seeds: u64) -> usize {
    let mut wrong = 0;
    for family in families() {
        let last = family.vertices - 1;
        // The sources are chosen so that shortest paths lead over vertices in the middle.
        for labels in [vec![(0, 0)], vec![(last, 0), (0, 1)], vec![(0, 2), (last / 2, 0), (last, 1)]] {
            let sources: Vec<usize> = labels.iter().map(|label| label.0).collect();
            let graph = Reached::of(&family, &sources);
            let want = graph.lowest(&labels);
            for seed in 0..seeds {
                let found = nearest(&graph, &labels, apart, seed);
                assert!(!apart || found == want, "{}, {labels:?}, seed {seed}: {found:?}", family.name);
                wrong += found.iter().zip(&want).filter(|(found, want)| found != want).count();
            }
        }
    }
    wrong
}

#[test]
fn labels_are_right_in_every_order() {
    assert_eq!(wrong(true, 32), 0);
}

/// Tests that the label of a source is lost if an item replaces the root of the source's level by
/// an older ancestor.
#[test]
fn roots_of_levels_in_the_array_of_parents_lose_labels() {
    let wrong = wrong(false, 64);
    assert!(wrong > 10, "{wrong} labels were wrong");
}
