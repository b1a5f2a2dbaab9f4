//! Numbers of shortest paths by the schedule near-far.
use crate::tuning::numbers;

numbers! {
    /// Numbers of shortest paths by the schedule near-far.
    pub(crate) struct FrontierNumbers |n| {
        /// Work-items of a work-group that visits the edges of a graph's vertices.
        frontier_group: Groups(1, 1024),
        /// Parts of vertices' edges that such a group takes at once, and the number of lowered
        /// vertices for which it has room: a multiple of 8.
        frontier_tile: MultiplesOf8(n.frontier_share.max(8), 1 << 9; frontier_share),
        /// Most parts that a group takes in a round that has no more for each group.
        frontier_share: All(1, n.frontier_tile; frontier_tile),
        /// Number of times that a group continues with the vertices that it has lowered. With 0 it
        /// leaves them to the next round.
        frontier_hops: All(0, 1 << 10),
        /// Work-groups for each compute unit that visit edges.
        frontier_groups: All(1, 1 << 10),
        /// If a round has fewer edges than this for each compute unit, the limit between near and
        /// far is raised in longer steps.
        frontier_edges: All(1, 1 << 20),
    }
}

const GPU: FrontierNumbers = FrontierNumbers {
    frontier_group: 256,
    // Vertices of roads and meshes have 3 to 6 edges: an edge or two for each item.
    frontier_tile: 64,
    // The grid of a million vertices takes 7.8 ms on an H100, in shares of 32 parts 9.2.
    frontier_share: 16,
    // In shares of 32 it takes 9.2 ms with 6 hops, too, and 11.8 with 24.
    frontier_hops: 12,
    // Groups for all work-items that a multiprocessor runs at once.
    frontier_groups: 8,
    // With 16 this grid takes 10.4 ms; with 256 9.0, with 1.6 times the visits.
    frontier_edges: 64,
};

const CPU: FrontierNumbers = FrontierNumbers {
    // One item needs no barriers.
    frontier_group: 1,
    frontier_tile: 16,
    // Hops and edges were not varied on CPUs, where `near-far` is the default.
    frontier_share: 16,
    frontier_hops: 0,
    frontier_groups: 4,
    frontier_edges: 2048,
};
