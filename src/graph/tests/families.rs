//! Small graphs for models whose items take turns.
use super::{EdgeList, Random, random_edges};

/// A graph of few vertices.
pub(in crate::graph) struct Family {
    pub name: &'static str,
    pub vertices: usize,
    pub edges: EdgeList,
}

/// Graphs of every kind. Lengths are 0 to 3, and some edges have length 0 in both directions.
pub(in crate::graph) fn families() -> Vec<Family> {
    let n = 10;
    let mut random = Random::new(5);
    let mut order: Vec<usize> = (0..n).collect();
    (1..n).for_each(|at| order.swap(at, random.below(at as u64 + 1) as usize));
    let chain = |of: &dyn Fn(usize) -> usize, length: f64| -> EdgeList {
        (1..n).map(|at| (of(at - 1), of(at), length)).collect()
    };
    let both = |edges: EdgeList| -> EdgeList { edges.iter().flat_map(|&(i, j, x)| [(i, j, x), (j, i, x)]).collect() };
    let rings = (0..n).map(|at| (at, if at % 5 == 4 { at - 4 } else { at + 1 }, 0.0)).collect();
    let levels = (1..n).flat_map(|at| [(at - 1, at, (at % 3 / 2) as f64), (at, at - 1, (at % 3 / 2) as f64)]).collect();
    let tree = (1..n).map(|at| ((at - 1) / 2, at, (at % 3) as f64)).collect();
    let star = (0..n - 1).map(|at| (at, n - 1, (at % 4) as f64)).collect();
    let family = |name, edges| Family { name, vertices: n, edges };
    vec![
        family("a chain up", chain(&|at| at, 1.0)),
        family("a chain down", chain(&|at| n - 1 - at, 2.0)),
        family("a shuffled chain", chain(&|at| order[at], 0.0)),
        family("a level up", both(chain(&|at| at, 0.0))),
        family("a level down", both(chain(&|at| n - 1 - at, 0.0))),
        family("a shuffled level", both(chain(&|at| order[at], 0.0))),
        family("levels", levels),
        family("rings of length 0", rings),
        family("a tree", tree),
        family("a star", both(star)),
        family("few edges", random_edges(n, 6, 7)),
        family("many edges", random_edges(n, 30, 8).into_iter().map(|(i, j, x)| (i, j, x % 3.0)).collect()),
    ]
}
