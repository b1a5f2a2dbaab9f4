//! Distances by the sweeps of Bellman and Ford (Garland 2008, section 5.3): every edge in every
//! sweep, until no distance falls. Lengths may be negative. Kernel: `cl/graph/sweep.cl`.
use super::{
    edges::{Edges, Lengths},
    near_far::Visits,
};
use crate::{
    DeviceKind, Element, Error, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Out, Work, kernel},
    host::Progress,
};

kernel! {
    struct Sweep<D: Element> = "sweep" in "graph/edges.cl", "graph/sweep.cl" {
        in_ptr: In<u32>,
        from: In<u32>,
        source: In<u32>,
        values: In<D>,
        before: In<D>,
        after: Out<D>,
        last: InOut<u32>,
        changed: InOut<u32>,
        vertices: u32,
        stride: u32,
        number: u32,
    }
}

/// Sweeps between two reads of whether distances still fall: on a GPU a read takes as long as a
/// sweep of some million edges.
const TOGETHER: usize = 8;

/// Sweeps after which negative cycles are looked for first; then after twice as many.
const FIRST_LOOK: u64 = 64;

/// Stands for no vertex before.
const NONE: u32 = u32::MAX;

/// Lowers `distance`, 0 at the sources and infinite elsewhere, to the distances from the sources.
/// `negative` says whether some length may be.
///
/// # Errors
/// [`Error::NegativeCycle`] if distances fall without end.
pub(super) fn sweeps<D: Element>(
    work: &Work,
    edges: &Edges,
    (lengths, negative): (&Lengths<'_, D>, bool),
    mut distance: Buffer<D>,
    progress: Option<&Progress>,
) -> Result<(Buffer<D>, Visits)> {
    let (info, vertices, nnz) = (work.device().info(), edges.pattern.ncols, edges.pattern.nnz() as u64);
    let group_size = info.numbers().vector_group;
    let kernel: Kernel<Sweep<'_, D>> = Kernel::new(work.device(), &edges.options(group_size, lengths))?;
    let together = if info.kind == DeviceKind::Cpu { 1 } else { TOGETHER };
    let mut after = work.buffer(vertices)?;
    // It is read only if a length may be negative.
    let mut last = if negative { work.upload(&vec![NONE; vertices])? } else { work.buffer(vertices)? };
    let mut changed = work.buffer(together)?;
    let none = work.buffer(0)?;
    let (values, stride) = lengths.values.unwrap_or((&none, 1));
    let (mut sweeps, mut look) = (0u64, FIRST_LOOK);
    loop {
        work.fill_zero(&mut changed)?;
        for number in 0..together as u32 {
            let args = Sweep {
                in_ptr: &edges.pattern.col_ptr,
                from: &edges.pattern.row_idx,
                source: edges.source(),
                values,
                before: &distance,
                after: &mut after,
                last: &mut last,
                changed: &mut changed,
                vertices: vertices as u32,
                stride,
                number,
            };
            kernel.launch(work, Grid::items(vertices, group_size), args)?;
            std::mem::swap(&mut distance, &mut after);
        }
        let fell = changed.download(work)?;
        let until = fell.iter().position(|&fell| fell == 0);
        sweeps += until.map_or(together, |at| at + 1) as u64;
        if let Some(progress) = progress {
            progress.tell(sweeps, vertices as u64);
        }
        // Around a cycle distances fall until they are as low as their type has numbers.
        if negative && (until.is_some() || sweeps >= look.min(vertices as u64)) {
            if let Some(vertex) = cycle(&last.download(work)?) {
                return Err(Error::NegativeCycle { vertex });
            }
            look *= 2;
        }
        if until.is_some() {
            return Ok((distance, Visits { rounds: sweeps, edges: sweeps * nnz }));
        }
    }
}

/// The least vertex of a cycle in which each vertex has the one before it in `before`; of several
/// cycles the first that is met from the vertices in their order.
fn cycle(before: &[u32]) -> Option<usize> {
    // The walk on which a vertex was met first.
    let mut met = vec![NONE; before.len()];
    for start in 0..before.len() {
        let mut at = start as u32;
        while at != NONE && met[at as usize] == NONE {
            met[at as usize] = start as u32;
            at = before[at as usize];
        }
        if at != NONE && met[at as usize] == start as u32 {
            let around = std::iter::successors(Some(before[at as usize]), |&next| Some(before[next as usize]));
            return around.take_while(|&next| next != at).chain([at]).min().map(|vertex| vertex as usize);
        }
    }
    None
}
