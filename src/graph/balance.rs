//! The costs of giving patches up and the gains of dividing them, for balanced Lloyd relaxation
//! (Zaman, Nytko, Taghibakhshi, MacLachlan, Olson, West: *Generalizing Lloyd's Algorithm for Graph
//! Clustering*, SISC 2024). Kernels: `cl/graph/balance.cl`.
//!
//! If a patch is given up, its vertices go to the next nearest seeds. The cost is the rise of the
//! energy. If a patch is divided between two seeds, the gain is the fall of the energy. Zaman and
//! others choose the best of all pairs of vertices in a patch as the two seeds. This module finds
//! two seeds by Lloyd relaxation within the patch, which begins with two vertices at far ends of
//! the patch. All patches are divided together, by paths that stay within patches.
use super::{
    edges::{Edges, Entering, Graph, Lengths},
    sweeps::Sweeps,
};
use crate::{
    Result,
    device::{Buffer, Elem, Grid, In, Kernel, Maybe, Out, Work, kernel},
};

kernel! {
    in "graph/edges.cl", "graph/balance.cl":
    struct InsideLengths = "inside_lengths" {
        ptr: In<u32>,
        idx: In<u32>,
        values: Maybe<Elem>,
        label: In<u32>,
        inside: Out<f64>,
        vertices: u32,
        stride: u32,
    }
    struct BeginSecond = "begin_second" {
        edges: Entering,
        label: In<u32>,
        path_length: In<f64>,
        second: Out<f64>,
        vertices: u32,
    }
}

/// For each patch, the cost of giving it up and the gain of dividing it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Balance {
    /// The cost of giving up each patch; infinite or NaN if some of its vertices would be out of
    /// reach of all other seeds.
    pub costs: Vec<f64>,
    pub gains: Vec<f64>,
    /// The two seeds that each patch would have if it were divided.
    pub pairs: [Vec<u32>; 2],
}

impl Balance {
    /// Lists at most `most` sets of seeds that are worth a try. In a move one patch is given up,
    /// and its seed moves into another patch, which is divided. The first set results from several
    /// moves: the patches of least cost move into the patches of greatest gain, each patch at most
    /// once, as long as the gain is above the cost. Each further set results from a single move;
    /// the best moves come first. A move whose cost is above its gain is listed, too, because the
    /// relaxation that follows may lower the energy.
    pub fn moves(&self, seeds: &[u32], most: usize) -> Vec<Vec<u32>> {
        let (costs, gains) = (&self.costs, &self.gains);
        let mut given_up: Vec<usize> = (0..seeds.len()).filter(|&patch| costs[patch].is_finite()).collect();
        let mut divided: Vec<usize> = (0..seeds.len()).filter(|&patch| gains[patch] > 0.0).collect();
        given_up.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        divided.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
        let paying = self.paying(&given_up, &divided);
        // The best moves are among the first patches in the order of costs and the first patches in
        // the order of gains.
        let pairs = given_up
            .iter()
            .take(most + 1)
            .flat_map(|&from| divided.iter().map(move |&into| [from, into]).take(most + 1));
        let mut pairs: Vec<[usize; 2]> = pairs.filter(|[from, into]| from != into).collect();
        pairs.sort_by(|a, b| (gains[b[1]] - costs[b[0]]).total_cmp(&(gains[a[1]] - costs[a[0]])));
        let together = if paying.len() > 1 { Some(paying) } else { None };
        let moves = together.into_iter().chain(pairs.into_iter().map(|pair| vec![pair]));
        moves.take(most).map(|pairs| self.moved(seeds, &pairs)).collect()
    }

    /// Pairs of a patch that is given up and the patch into which its seed moves.
    fn paying(&self, given_up: &[usize], divided: &[usize]) -> Vec<[usize; 2]> {
        let mut taken = vec![false; self.costs.len()];
        let (mut pairs, mut to) = (Vec::new(), divided.iter().copied());
        for &from in given_up {
            if taken[from] {
                continue;
            }
            let Some(into) = to.by_ref().find(|&into| !taken[into] && into != from) else { break };
            if self.gains[into] <= self.costs[from] {
                break;
            }
            (taken[from], taken[into]) = (true, true);
            pairs.push([from, into]);
        }
        pairs
    }

    /// The seeds after the moves `pairs`.
    fn moved(&self, seeds: &[u32], pairs: &[[usize; 2]]) -> Vec<u32> {
        let mut moved = seeds.to_vec();
        for &[from, into] in pairs {
            (moved[into], moved[from]) = (self.pairs[0][into], self.pairs[1][into]);
        }
        moved
    }
}

/// The lengths of edges within patches, in the order of the graph's edges. The lengths of other
/// edges are infinite.
pub(super) fn inside_lengths(
    work: &Work,
    graph: &Graph,
    lengths: &Lengths<'_>,
    entering: &Edges,
    label: &Buffer<u32>,
) -> Result<Buffer<f64>> {
    let group_size = work.device().info().vector_group();
    let kernel: Kernel<InsideLengths<'_>> = Kernel::new(work.device(), &entering.options(group_size, lengths))?;
    let mut inside = work.buffer(graph.stored.nnz())?;
    let args = InsideLengths {
        ptr: &graph.stored.col_ptr,
        idx: &graph.stored.row_idx,
        values: lengths.values,
        label,
        inside: &mut inside,
        vertices: label.len() as u32,
        stride: lengths.stride,
    };
    kernel.launch(work, Grid::items(label.len(), group_size), args)?;
    Ok(inside)
}

/// The distance of each vertex from the nearest seed of another patch.
pub(super) fn second(
    work: &Work,
    graph: &Graph,
    entering: &Edges,
    [lengths, inside]: [&Lengths<'_>; 2],
    label: &Buffer<u32>,
    distance: &Buffer<f64>,
) -> Result<Buffer<f64>> {
    let group_size = work.device().info().vector_group();
    let kernel: Kernel<BeginSecond<'_>> = Kernel::new(work.device(), &entering.options(group_size, lengths))?;
    let mut second = work.buffer(label.len())?;
    let args = BeginSecond {
        edges: entering.with(lengths),
        label,
        path_length: distance,
        second: &mut second,
        vertices: label.len() as u32,
    };
    kernel.launch(work, Grid::items(label.len(), group_size), args)?;
    Ok(Sweeps::new(work, graph, inside, false)?.run(work, second.into_any(), None)?.0.into_typed())
}
