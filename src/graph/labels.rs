//! The nearest source of each vertex. Kernels: `cl/graph/labels.cl`.
use super::edges::{Edges, Entering, Lengths};
use crate::{
    DeviceKind, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Out, Work, kernel},
};

kernel! {
    in "graph/edges.cl", "graph/trees.cl", "graph/labels.cl":
    struct BeginLabels = "begin_labels" {
        edges: Entering,
        path_length: In<Elem>,
        before: Out<u32>,
        level: Out<u32>,
        label: Out<u32>,
        open: InOut<u32>,
        vertices: u32,
    }
    struct JoinLevels = "join_levels" { edges: Entering, path_length: In<Elem>, parent: InOut<u32>, vertices: u32 }
    struct EnterLevels = "enter_levels" {
        before: In<u32>,
        parent: InOut<u32>,
        level: Out<u32>,
        leader: InOut<u32>,
        vertices: u32,
    }
    struct LeaveLevels = "leave_levels" { before: InOut<u32>, level: In<u32>, leader: In<u32>, vertices: u32 }
    struct LabelSources = "label_sources" {
        vertex: In<u32>,
        of: In<u32>,
        level: In<u32>,
        label: InOut<u32>,
        sources: u32,
    }
    struct Follow = "follow" { chain: InOut<u32>, label: InOut<u32>, vertices: u32 }
    struct LowerLabels = "lower_labels" {
        edges: Entering,
        path_length: In<Elem>,
        label: In<u32>,
        level: In<u32>,
        before: InOut<u32>,
        changed: InOut<u32>,
        vertices: u32,
        number: u32,
    }
}

/// Number of rounds on a GPU before the host reads whether labels still change.
const TOGETHER: usize = 3;

/// Finds the label of the nearest source of each vertex. If several sources are nearest, the vertex
/// gets the lowest of their labels. A vertex out of reach gets `u32::MAX`. `edges` are the edges
/// that enter each vertex, `distance` has the final distances, and `labels` has a label for each
/// source. No length may be negative.
pub(super) fn nearest(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_>,
    (sources, labels): (&Buffer<u32>, &Buffer<u32>),
    distance: &Buffer,
) -> Result<Buffer<u32>> {
    let (device, vertices) = (work.device(), edges.pattern.ncols);
    let group_size = device.info().vector_group();
    let options = edges.options(group_size, lengths);
    let begin: Kernel<BeginLabels<'_>> = Kernel::new(device, &options)?;
    let at_sources: Kernel<LabelSources<'_>> = Kernel::new(device, &options)?;
    let follow: Kernel<Follow<'_>> = Kernel::new(device, &options)?;
    let lower: Kernel<LowerLabels<'_>> = Kernel::new(device, &options)?;
    let (mut before, mut label) = (work.buffer(vertices)?, work.buffer(vertices)?);
    let (mut level, mut open) = (work.buffer(vertices)?, work.upload(&[0u32])?);
    let (grid, count) = (Grid::items(vertices, group_size), vertices as u32);
    let args = BeginLabels {
        edges: edges.with(lengths),
        path_length: distance,
        before: &mut before,
        level: &mut level,
        label: &mut label,
        open: &mut open,
        vertices: count,
    };
    begin.launch(work, grid, args)?;
    // `open` counts the vertices that follow no vertex closer to a source. Sources count as such
    // vertices.
    if open.download(work)?[0] as usize > sources.len() {
        level = levels(work, edges, lengths, distance, &mut before, level)?;
    }
    let args =
        LabelSources { vertex: sources, of: labels, level: &level, label: &mut label, sources: sources.len() as u32 };
    at_sources.launch(work, Grid::items(sources.len(), group_size), args)?;
    let mut chain = work.buffer(vertices)?;
    let mut all_follow = |before: &Buffer<u32>, label: &mut Buffer<u32>| {
        work.copy(before, 0, &mut chain, 0, vertices)?;
        follow.launch(work, grid, Follow { chain: &mut chain, label, vertices: count })
    };
    let together = if device.info().kind == DeviceKind::Cpu { 1 } else { TOGETHER };
    let mut changed = work.buffer(together)?;
    loop {
        work.fill_zero(&mut changed)?;
        for number in 0..together as u32 {
            all_follow(&before, &mut label)?;
            let args = LowerLabels {
                edges: edges.with(lengths),
                path_length: distance,
                label: &label,
                level: &level,
                before: &mut before,
                changed: &mut changed,
                vertices: count,
                number,
            };
            lower.launch(work, grid, args)?;
        }
        if changed.download(work)?.contains(&0) {
            return Ok(label);
        }
    }
}

/// Joins vertices into levels. A level consists of vertices that are connected by edges of length 0
/// in both directions. Each vertex follows the least vertex of its level, and that vertex follows
/// an edge that enters any vertex of the level. Returns the least vertex of each vertex's level. At
/// first each vertex is its own entry in `parent`.
fn levels(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_>,
    distance: &Buffer,
    before: &mut Buffer<u32>,
    mut parent: Buffer<u32>,
) -> Result<Buffer<u32>> {
    let (device, vertices) = (work.device(), edges.pattern.ncols);
    let group_size = device.info().vector_group();
    let options = edges.options(group_size, lengths);
    let join: Kernel<JoinLevels<'_>> = Kernel::new(device, &options)?;
    let enter: Kernel<EnterLevels<'_>> = Kernel::new(device, &options)?;
    let leave: Kernel<LeaveLevels<'_>> = Kernel::new(device, &options)?;
    let (grid, count) = (Grid::items(vertices, group_size), vertices as u32);
    let args = JoinLevels { edges: edges.with(lengths), path_length: distance, parent: &mut parent, vertices: count };
    join.launch(work, grid, args)?;
    let (mut level, mut leader) = (work.buffer(vertices)?, work.upload(&vec![u32::MAX; vertices])?);
    let args = EnterLevels { before, parent: &mut parent, level: &mut level, leader: &mut leader, vertices: count };
    enter.launch(work, grid, args)?;
    leave.launch(work, grid, LeaveLevels { before, level: &level, leader: &leader, vertices: count })?;
    Ok(level)
}

#[cfg(test)]
mod tests;
