//! Numbers of shortest paths by the schedule near-far.
use crate::tuning::numbers;

numbers! {
    /// Numbers of shortest paths by the schedule near-far.
    pub(crate) struct FrontierNumbers |n| {
        /// Work-items of a work-group that visits edges.
        frontier_group: Groups(1, 1024),
        /// A work-group that visits edges takes at most this many parts of vertices' edges at once,
        /// and holds at most this many lowered vertices. The number is a multiple of 8.
        frontier_tile: MultiplesOf8(n.frontier_share.max(8), 1 << 9; frontier_share),
        /// Most parts that a work-group takes if the round has at most this many parts for each
        /// work-group.
        frontier_share: All(1, n.frontier_tile; frontier_tile),
        /// Number of times that a work-group continues with the vertices whose distances it has
        /// lowered. If the number is 0, a work-group leaves these vertices to the next round.
        frontier_hops: All(0, 1 << 10),
        /// Number of work-groups for each compute unit that visit edges.
        frontier_groups: All(1, 1 << 10),
        /// After a round with fewer edges for each compute unit than this number, the limit between
        /// near and far is raised in longer steps.
        frontier_edges: All(1, 1 << 20),
    }
}

const GPU: FrontierNumbers = FrontierNumbers {
    frontier_group: 256,
    // Vertices of roads and meshes have 3 to 6 edges, so each item has an edge or two.
    frontier_tile: 64,
    // On an H100 the grid of a million vertices takes 7.8 ms with shares of 16 parts, and 9.2 ms
    // with 32.
    frontier_share: 16,
    // On an H100 the grid of a million vertices takes 9.2 ms with 6 and with 12 hops, and 11.8 ms
    // with 24, if shares have 32 parts.
    frontier_hops: 12,
    // With 8 work-groups a multiprocessor has as many work-items as it can run at once.
    frontier_groups: 8,
    // On an H100 the grid of a million vertices takes 10.4 ms with 16 edges. With 256 edges it
    // takes 9.0 ms, but 1.6 times as many visits.
    frontier_edges: 64,
};

const CPU: FrontierNumbers = FrontierNumbers {
    // A work-group of one item needs no barriers.
    frontier_group: 1,
    frontier_tile: 16,
    // Hops and edges were not varied on CPUs, where `near-far` is the default.
    frontier_share: 16,
    frontier_hops: 0,
    frontier_groups: 4,
    frontier_edges: 2048,
};
