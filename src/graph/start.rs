//! Distances before any path is known. Kernels: `cl/graph/start.cl`.
use crate::{
    Element, Result, Semiring,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
};

kernel! {
    struct BeginDistances<D: Element> = "begin_distances" in "graph/start.cl" {
        path_length: Out<D>,
        vertices: u32,
    }
}

kernel! {
    struct BeginSources<D: Element> = "begin_sources" in "graph/start.cl" {
        vertex: In<u32>,
        path_length: InOut<D>,
        sources: u32,
    }
}

/// Distances that are 0 at the sources and infinite elsewhere.
pub(super) fn start<D: Element>(work: &Work, sources: &Buffer<u32>, vertices: usize) -> Result<Buffer<D>> {
    let group_size = work.device().info().numbers().vector_group;
    let options = Options::group_size(group_size).element_in::<D>(Semiring::MinPlus);
    let begin: Kernel<BeginDistances<'_, D>> = Kernel::new(work.device(), &options)?;
    let at_sources: Kernel<BeginSources<'_, D>> = Kernel::new(work.device(), &options)?;
    let mut distance = work.buffer(vertices)?;
    let args = BeginDistances { path_length: &mut distance, vertices: vertices as u32 };
    begin.launch(work, Grid::items(vertices, group_size), args)?;
    let args = BeginSources { vertex: sources, path_length: &mut distance, sources: sources.len() as u32 };
    at_sources.launch(work, Grid::items(sources.len(), group_size), args)?;
    Ok(distance)
}
