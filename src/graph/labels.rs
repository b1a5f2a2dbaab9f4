//! The nearest source of each vertex. Kernels: `cl/graph/labels.cl`.
use super::edges::{Edges, Lengths};
use crate::{
    DeviceKind, Element, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Out, Work, kernel},
};

kernel! {
    struct BeginLabels<D: Element> = "begin_labels" in "graph/edges.cl", "graph/labels.cl" {
        in_ptr: In<u32>,
        from: In<u32>,
        source: In<u32>,
        values: In<D>,
        path_length: In<D>,
        before: Out<u32>,
        label: Out<u32>,
        vertices: u32,
        stride: u32,
    }
}

kernel! {
    struct LabelSources = "label_sources" in "graph/edges.cl", "graph/labels.cl" {
        vertex: In<u32>,
        of: In<u32>,
        label: InOut<u32>,
        sources: u32,
    }
}

kernel! {
    struct Follow = "follow" in "graph/edges.cl", "graph/labels.cl" {
        before: InOut<u32>,
        label: InOut<u32>,
        vertices: u32,
    }
}

kernel! {
    struct LowerLabels<D: Element> = "lower_labels" in "graph/edges.cl", "graph/labels.cl" {
        in_ptr: In<u32>,
        from: In<u32>,
        source: In<u32>,
        values: In<D>,
        path_length: In<D>,
        label: InOut<u32>,
        changed: InOut<u32>,
        vertices: u32,
        stride: u32,
        number: u32,
    }
}

/// Sweeps between two reads of whether labels still change, on a GPU.
const TOGETHER: usize = 3;

/// The label of the nearest source of each vertex, of several the lowest; `u32::MAX` out of reach.
/// `edges` enter vertices, `distance` is final, and `labels` has one for each source.
pub(super) fn nearest<D: Element>(
    work: &Work,
    edges: &Edges,
    lengths: &Lengths<'_, D>,
    (sources, labels): (&Buffer<u32>, &Buffer<u32>),
    distance: &Buffer<D>,
) -> Result<Buffer<u32>> {
    let (device, vertices) = (work.device(), edges.pattern.ncols);
    let group_size = device.info().numbers().vector_group;
    let options = edges.options(group_size, lengths);
    let begin: Kernel<BeginLabels<'_, D>> = Kernel::new(device, &options)?;
    let at_sources: Kernel<LabelSources<'_>> = Kernel::new(device, &options)?;
    let follow: Kernel<Follow<'_>> = Kernel::new(device, &options)?;
    let lower: Kernel<LowerLabels<'_, D>> = Kernel::new(device, &options)?;
    let (mut before, mut label) = (work.buffer(vertices)?, work.buffer(vertices)?);
    let none = work.buffer(0)?;
    let (values, stride) = lengths.values.unwrap_or((&none, 1));
    let grid = Grid::items(vertices, group_size);
    let args = BeginLabels {
        in_ptr: &edges.pattern.col_ptr,
        from: &edges.pattern.row_idx,
        source: edges.source(),
        values,
        path_length: distance,
        before: &mut before,
        label: &mut label,
        vertices: vertices as u32,
        stride,
    };
    begin.launch(work, grid, args)?;
    let args = LabelSources { vertex: sources, of: labels, label: &mut label, sources: sources.len() as u32 };
    at_sources.launch(work, Grid::items(sources.len(), group_size), args)?;
    follow.launch(work, grid, Follow { before: &mut before, label: &mut label, vertices: vertices as u32 })?;
    let together = if device.info().kind == DeviceKind::Cpu { 1 } else { TOGETHER };
    let mut changed = work.buffer(together)?;
    loop {
        work.fill_zero(&mut changed)?;
        for number in 0..together as u32 {
            let args = LowerLabels {
                in_ptr: &edges.pattern.col_ptr,
                from: &edges.pattern.row_idx,
                source: edges.source(),
                values,
                path_length: distance,
                label: &mut label,
                changed: &mut changed,
                vertices: vertices as u32,
                stride,
                number,
            };
            lower.launch(work, grid, args)?;
        }
        if changed.download(work)?.contains(&0) {
            return Ok(label);
        }
    }
}
