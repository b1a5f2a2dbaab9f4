//! Connected components. Kernels: `cl/graph/components.cl`,
//! `cl/graph/trees.cl`.
//!
//! Trees of vertices are joined edge by edge, without locks (Jaiganesh, Burtscher: *A
//! High-Performance Connected Components Implementation for GPUs*, HPDC 2018).
use super::edges::Graph;
use crate::{
    DeviceVector, Result,
    device::{Grid, In, InOut, Kernel, Options, Out, Work, kernel},
};

kernel! {
    in "graph/trees.cl", "graph/components.cl":
    struct OwnRoots = "own_roots" { parent: Out<u32>, vertices: u32 }
    struct Hook = "hook" { col_ptr: In<u32>, row_idx: In<u32>, parent: InOut<u32>, vertices: u32 }
    struct Flatten = "flatten" { parent: InOut<u32>, root: Out<u32>, vertices: u32 }
}

/// See [`graph::components`](super::components()).
pub(super) fn components(graph: &Graph) -> Result<DeviceVector<u32>> {
    let (device, vertices) = (graph.device().clone(), graph.vertices());
    let work = Work::new(&device, None);
    let group_size = device.info().vector_group();
    let options = Options::group_size(group_size);
    let own: Kernel<OwnRoots<'_>> = Kernel::new(&device, &options)?;
    let hook: Kernel<Hook<'_>> = Kernel::new(&device, &options)?;
    let flatten: Kernel<Flatten<'_>> = Kernel::new(&device, &options)?;
    let (grid, vertices) = (Grid::items(vertices, group_size), vertices as u32);
    let mut parent = work.buffer(vertices as usize)?;
    own.launch(&work, grid, OwnRoots { parent: &mut parent, vertices })?;
    let (col_ptr, row_idx) = (&graph.stored.col_ptr, &graph.stored.row_idx);
    hook.launch(&work, grid, Hook { col_ptr, row_idx, parent: &mut parent, vertices })?;
    let mut root = work.buffer(vertices as usize)?;
    flatten.launch(&work, grid, Flatten { parent: &mut parent, root: &mut root, vertices })?;
    Ok(DeviceVector { values: root, device })
}

#[cfg(test)]
pub(super) mod tests;
