//! What patches cost and gain, for balanced Lloyd relaxation (Zaman, Nytko, Taghibakhshi,
//! MacLachlan, Olson, West: *Generalizing Lloyd's Algorithm for Graph Clustering*, SISC 2024).
//! Kernels: `cl/graph/balance.cl`.
//!
//! A patch that is given up costs the energy that its vertices gain with the next nearest seeds; a
//! patch that is divided between two far vertices of it saves energy. All patches are looked at
//! together, by paths that stay within patches.
use super::{
    edges::{Edges, Graph, Lengths},
    lengths::Survey,
    patches::{Centres, Members},
    schedule::{Distances, Schedule},
    sweeps::sweeps,
};
use crate::{
    Result,
    device::{Buffer, Grid, In, Kernel, Out, Work, kernel},
};

kernel! {
    struct InsideLengths = "inside_lengths" in "graph/edges.cl", "graph/balance.cl" {
        ptr: In<u32>,
        idx: In<u32>,
        values: In<f64>,
        label: In<u32>,
        inside: Out<f64>,
        vertices: u32,
        stride: u32,
    }
}

kernel! {
    struct BeginSecond = "begin_second" in "graph/edges.cl", "graph/balance.cl" {
        in_ptr: In<u32>,
        from: In<u32>,
        source: In<u32>,
        values: In<f64>,
        label: In<u32>,
        path_length: In<f64>,
        second: Out<f64>,
        vertices: u32,
        stride: u32,
    }
}

kernel! {
    struct GatherSquares = "gather_squares" in "graph/edges.cl", "graph/balance.cl" {
        order: In<u32>,
        path_length: In<f64>,
        squares: Out<f64>,
        count: u32,
    }
}

/// Energies of patches as they are, without their seed, and with two; and these two vertices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Balance {
    pub now: Vec<f64>,
    pub without: Vec<f64>,
    pub divided: Vec<f64>,
    pub ends: [Vec<u32>; 2],
}

impl Balance {
    /// The seeds after the patches that cost least have moved into those that save most, each one
    /// once, as long as a move lowers the energy. `None` if no move does.
    pub fn moved(&self, seeds: &[u32]) -> Option<Vec<u32>> {
        let costs: Vec<f64> = self.without.iter().zip(&self.now).map(|(without, now)| without - now).collect();
        let gains: Vec<f64> = self.now.iter().zip(&self.divided).map(|(now, divided)| now - divided).collect();
        let mut given_up: Vec<usize> = (0..seeds.len()).filter(|&patch| !costs[patch].is_nan()).collect();
        let mut divided: Vec<usize> = (0..seeds.len()).filter(|&patch| !gains[patch].is_nan()).collect();
        given_up.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        divided.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
        let mut moved = seeds.to_vec();
        let mut taken = vec![false; seeds.len()];
        let mut to = divided.into_iter();
        for from in given_up {
            if taken[from] {
                continue;
            }
            let Some(into) = to.by_ref().find(|&into| !taken[into] && into != from) else { break };
            if gains[into] <= costs[from] {
                break;
            }
            (taken[from], taken[into]) = (true, true);
            (moved[into], moved[from]) = (self.ends[0][into], self.ends[1][into]);
        }
        (moved != seeds).then_some(moved)
    }
}

/// The graph that patches are cut from.
pub(super) struct Whole<'a> {
    pub graph: &'a Graph,
    pub lengths: &'a Lengths<'a, f64>,
    pub entering: &'a Edges,
    pub survey: Survey,
    pub schedule: Schedule,
    pub step: f64,
}

impl Balance {
    /// Computes the balance of the patches around `seeds`, from which vertices are `distance` away.
    pub(super) fn of(
        work: &Work,
        whole: &Whole<'_>,
        centres: &Centres,
        members: &Members,
        (distance, seeds): (&Buffer<f64>, &[u32]),
    ) -> Result<Self> {
        let (device, vertices) = (work.device(), members.label.len());
        let Whole { graph, lengths, entering, .. } = whole;
        let group_size = device.info().numbers().vector_group;
        let options = entering.options(group_size, lengths);
        let inside_lengths: Kernel<InsideLengths<'_>> = Kernel::new(device, &options)?;
        let begin: Kernel<BeginSecond<'_>> = Kernel::new(device, &options)?;
        let gather: Kernel<GatherSquares<'_>> = Kernel::new(device, &options)?;
        let none = work.buffer(0)?;
        let (values, stride) = lengths.values.unwrap_or((&none, 1));
        let grid = Grid::items(vertices, group_size);

        let mut inside = work.buffer(graph.stored.nnz())?;
        let args = InsideLengths {
            ptr: &graph.stored.col_ptr,
            idx: &graph.stored.row_idx,
            values,
            label: &members.label,
            inside: &mut inside,
            vertices: vertices as u32,
            stride,
        };
        inside_lengths.launch(work, grid, args)?;
        let inside = Lengths { values: Some((&inside, 1)) };
        let within = Distances::new(work, graph, &inside, (whole.schedule, whole.step), whole.survey)?;
        let energies = |reached: &Buffer<f64>| -> Result<Vec<f64>> {
            let count = members.count();
            let mut squares = work.buffer(count)?;
            let args = GatherSquares {
                order: &members.order,
                path_length: reached,
                squares: &mut squares,
                count: count as u32,
            };
            gather.launch(work, Grid::items(count, group_size), args)?;
            centres.sums(work, members, &squares)
        };
        let farthest = |reached: &Buffer<f64>, from: &[u32]| -> Result<Vec<u32>> {
            centres.least(work, members, &centres.by_borders(work, reached)?, from)
        };
        let reach = |from: &[&[u32]]| -> Result<Buffer<f64>> {
            let mut from: Vec<u32> = from.concat();
            from.sort_unstable();
            from.dedup();
            Ok(within.run(work, &work.upload(&from)?, None)?.0)
        };

        let mut second = work.buffer(vertices)?;
        let args = BeginSecond {
            in_ptr: &entering.pattern.col_ptr,
            from: &entering.pattern.row_idx,
            source: entering.source(),
            values,
            label: &members.label,
            path_length: distance,
            second: &mut second,
            vertices: vertices as u32,
            stride,
        };
        begin.launch(work, grid, args)?;
        let (second, _) = sweeps(work, entering, (&inside, false), second, None)?;
        let one = farthest(distance, seeds)?;
        let other = farthest(&reach(&[&one])?, &one)?;
        Ok(Self {
            now: energies(distance)?,
            without: energies(&second)?,
            divided: energies(&reach(&[&one, &other])?)?,
            ends: [one, other],
        })
    }
}
