//! Triangles through each vertex. Kernels: `cl/graph/triangles.cl`, for CPUs
//! `cl/graph/triangles_marked.cl`.
//!
//! Each edge belongs to the one of its two vertices that has fewer neighbours (Schank, Wagner:
//! *Finding, Counting and Listing all Triangles in Large Graphs*, WEA 2005). So vertices with many
//! neighbours own few edges, and the common neighbours of an edge's two vertices are soon found. A
//! masked product over plus-pair would count the same triangles, but its rows would be longer.
use super::edges::Graph;
use crate::{
    DeviceInfo, DeviceVector, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    primitives::{
        scan::{Scan, ScanTuning},
        transpose::Transpose,
    },
    structure::Union,
    tuning::{LOOKUP_STEPS, SharedNumbers},
};

kernel! {
    in "graph/triangles.cl":
    struct FlagEdges = "flag_edges" { col_ptr: In<u32>, row_idx: In<u32>, place: Out<u32>, nnz: u32, vertices: u32 }
    struct MoveEdges = "move_edges" {
        col_ptr: In<u32>,
        row_idx: In<u32>,
        place: In<u32>,
        to: Out<u32>,
        owner: Out<u32>,
        nnz: u32,
        vertices: u32,
    }
    struct BeginEdges = "begin_edges" { col_ptr: In<u32>, place: In<u32>, edge_ptr: Out<u32>, vertices: u32 }
    struct CountTriangles = "count_triangles" {
        edge_ptr: In<u32>,
        to: In<u32>,
        owner: In<u32>,
        count: InOut<u32>,
        edges: u32,
    }
}

kernel! {
    struct CountMarked = "count_marked" in "graph/triangles_marked.cl" {
        edge_ptr: In<u32>,
        to: In<u32>,
        count: InOut<u32>,
        taken: InOut<u32>,
        words: InOut<u64>,
        list: InOut<u32>,
        vertices: u32,
        edges: u32,
        ranges: u32,
        places: u32,
        longest: u32,
    }
}

/// The way to count the triangles of each edge.
#[derive(Debug, Clone, Copy)]
enum CountTuning {
    /// There is a work-item for each edge, in groups of this size. The work-item looks up the edges
    /// of one end of its edge among the edges of the other end, which has more edges.
    Edges { group_size: usize },
    /// Groups of one work-item take ranges of vertices, and mark the neighbours of each vertex.
    /// `lookup` is the number of edges that can be looked at in the time of one bisection step.
    Vertices { groups: usize, ranges: usize, lookup: usize },
}

impl CountTuning {
    fn new(info: &DeviceInfo) -> Self {
        let units = info.compute_units.max(1) as usize;
        match info.numbers::<SharedNumbers>().range_shares * units {
            0 => Self::Edges { group_size: info.elementwise_group() },
            ranges => Self::Vertices { groups: units, ranges, lookup: LOOKUP_STEPS },
        }
    }

    /// The options of the kernel that counts.
    fn options(self) -> Options {
        match self {
            Self::Edges { group_size } => Options::group_size(group_size),
            Self::Vertices { lookup, .. } => Options::group_size(1).define("LOOKUP", lookup),
        }
    }
}

/// The number of triangles through each vertex.
pub(super) fn of_vertices(graph: &Graph) -> Result<DeviceVector<u32>> {
    counted(graph, CountTuning::new(graph.device().info()))
}

fn counted(graph: &Graph, tuning: CountTuning) -> Result<DeviceVector<u32>> {
    let (device, vertices) = (graph.device().clone(), graph.vertices());
    let work = Work::new(&device, None);
    let options = tuning.options();
    let (by_edge, by_vertex) =
        (Kernel::<CountTriangles<'_>>::rare(&device, &options)?, Kernel::<CountMarked<'_>>::rare(&device, &options)?);
    match tuning {
        CountTuning::Edges { .. } => by_edge.ask(&device),
        CountTuning::Vertices { .. } => by_vertex.ask(&device),
    }
    let Edges { begin, to, owner } = owned_edges(&work, graph)?;
    // The count of a vertex fits `u32`, because a vertex has at most as many triangles as the graph
    // has edges.
    let mut count = work.buffer(vertices)?;
    work.fill_zero(&mut count)?;
    let edges = to.len() as u32;
    match tuning {
        CountTuning::Edges { group_size } => {
            let args = CountTriangles { edge_ptr: &begin, to: &to, owner: &owner, count: &mut count, edges };
            by_edge.launch(&work, Grid::items(to.len(), group_size), args)?;
        }
        CountTuning::Vertices { groups, ranges, .. } => {
            let places = vertices.next_multiple_of(512);
            // `longest` is a bound on the number of edges that a vertex owns, because the other
            // ends of its edges have at least as many neighbours as the vertex.
            let longest = (2 * to.len()).isqrt() + 1;
            // Bitmaps and lists take at most a fourth of the free memory, unless there is only one
            // group.
            let each = (places / 8 + longest * size_of::<u32>()) as u64;
            let groups = groups.min((work.free_bytes() / 4 / each) as usize).max(1);
            let args = CountMarked {
                edge_ptr: &begin,
                to: &to,
                count: &mut count,
                taken: &mut work.upload(&[0])?,
                words: &mut work.buffer(groups * places / 64)?,
                list: &mut work.buffer(groups * longest)?,
                vertices: vertices as u32,
                edges,
                ranges: ranges as u32,
                places: places as u32,
                longest: longest as u32,
            };
            by_vertex.launch(&work, Grid::groups(groups, 1), args)?;
        }
    }
    Ok(DeviceVector { values: count, device })
}

/// The edges of a graph. Each edge is listed once, at the vertex that it belongs to.
struct Edges {
    /// The place where the edges of each vertex begin, and the end.
    begin: Buffer<u32>,
    to: Buffer<u32>,
    owner: Buffer<u32>,
}

fn owned_edges(work: &Work, graph: &Graph) -> Result<Edges> {
    let (device, vertices) = (work.device(), graph.vertices());
    let info = device.info();
    let group_size = info.elementwise_group();
    let options = Options::group_size(group_size);
    let flag: Kernel<FlagEdges<'_>> = Kernel::new(device, &options)?;
    let move_all: Kernel<MoveEdges<'_>> = Kernel::new(device, &options)?;
    let begin_all: Kernel<BeginEdges<'_>> = Kernel::new(device, &options)?;
    let reversed = Transpose::new(device)?.run(work, &graph.stored)?.pattern;
    let (both, _) = Union::new(device)?.run(work, &graph.stored, &reversed)?;
    let (col_ptr, row_idx, nnz) = (&both.col_ptr, &both.row_idx, both.nnz());
    let mut place = work.buffer(nnz + 1)?;
    let (count, n) = (nnz as u32, vertices as u32);
    let args = FlagEdges { col_ptr, row_idx, place: &mut place, nnz: count, vertices: n };
    flag.launch(work, Grid::items(nnz + 1, group_size), args)?;
    Scan::new(device, ScanTuning::new(info))?.run(work, &mut place)?;
    let edges = work.read_count(&place, nnz, "edges", nnz as u64)? as usize;
    let (mut begin, mut to, mut owner) = (work.buffer(vertices + 1)?, work.buffer(edges)?, work.buffer(edges)?);
    let args = MoveEdges { col_ptr, row_idx, place: &place, to: &mut to, owner: &mut owner, nnz: count, vertices: n };
    move_all.launch(work, Grid::items(nnz, group_size), args)?;
    let args = BeginEdges { col_ptr, place: &place, edge_ptr: &mut begin, vertices: n };
    begin_all.launch(work, Grid::items(vertices + 1, group_size), args)?;
    Ok(Edges { begin, to, owner })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape, Csc, Matrix,
        device::test_device,
        generate::{PowerLaw, Uniform},
        reference,
    };

    #[test]
    fn every_form_counts_the_same() -> Result<()> {
        let looked_up = |lookup, groups, ranges| CountTuning::Vertices { groups, ranges, lookup };
        // The tunings have more ranges than vertices, and look edges up always, never, or if they
        // are few.
        let tunings = [
            CountTuning::Edges { group_size: 16 },
            looked_up(0, 1, 3),
            looked_up(1 << 20, 3, 700),
            looked_up(1, 2, 40),
        ];
        let shape = BlockShape::SCALAR;
        // In the last graph one vertex is connected with all other vertices, and these form a ring.
        let wheel = (1..300usize).flat_map(|i| [(i, 0, 1.0), (i, i % 299 + 1, 1.0)]);
        for g in [
            Csc::from_cbc(
                Uniform { rows: 130, cols: 130, per_column: 20, shape, seed: 3, ..Default::default() }.matrix()?,
            )?,
            Csc::from_cbc(PowerLaw { nodes: 600, edges: 6000, shape, seed: 4, ..Default::default() }.matrix()?)?,
            Csc::from_triplets(300, 300, wheel)?,
        ] {
            let (want, on_device) = (reference::triangles_of_vertices(&g)?, test_device().upload(&g)?);
            let graph = Graph::of(&on_device.cbc, false)?;
            assert!(want.iter().any(|&count| count > 1));
            for tuning in tunings {
                assert_eq!(counted(&graph, tuning)?.download()?, want, "{tuning:?}");
            }
        }
        Ok(())
    }
}
