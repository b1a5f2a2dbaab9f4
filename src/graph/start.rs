//! Distances before any path is known. Kernels: `cl/graph/start.cl`.
use crate::{
    Result, Semiring,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    element::ElementType,
};

kernel! {
    in "graph/start.cl":
    struct BeginDistances = "begin_distances" { path_length: Out<Elem>, vertices: u32 }
    struct BeginSources = "begin_sources" { vertex: In<u32>, path_length: InOut<Elem>, sources: u32 }
}

/// Distances that are 0 at the sources and infinite elsewhere.
pub(super) fn start(work: &Work, element: ElementType, sources: &Buffer<u32>, vertices: usize) -> Result<Buffer> {
    let group_size = work.device().info().vector_group();
    let options = Options::group_size(group_size).element_in(element, Semiring::MinPlus);
    let begin: Kernel<BeginDistances<'_>> = Kernel::new(work.device(), &options)?;
    let at_sources: Kernel<BeginSources<'_>> = Kernel::new(work.device(), &options)?;
    let mut distance = work.buffer_of(element.word(), vertices)?;
    let args = BeginDistances { path_length: &mut distance, vertices: vertices as u32 };
    begin.launch(work, Grid::items(vertices, group_size), args)?;
    let args = BeginSources { vertex: sources, path_length: &mut distance, sources: sources.len() as u32 };
    at_sources.launch(work, Grid::items(sources.len(), group_size), args)?;
    Ok(distance)
}
