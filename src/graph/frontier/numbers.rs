//! Numbers of shortest paths by the schedule near-far.
use crate::tuning::numbers;

numbers! {
    /// Numbers of shortest paths by the schedule near-far.
    pub(crate) struct FrontierNumbers |n| {
        /// Work-items of a work-group that visits edges.
        frontier_group: Groups(1, 1024),
        /// Most parts of vertices' edges that such a work-group takes at once, and most lowered
        /// vertices that it holds: a multiple of 8.
        frontier_tile: MultiplesOf8(n.frontier_share.max(8), 1 << 9; frontier_share),
        /// Most parts that a work-group takes if the round has at most this many parts for each
        /// work-group.
        frontier_share: All(1, n.frontier_tile; frontier_tile),
        /// Number of times that a work-group continues with the vertices whose distances it has
        /// lowered. With 0 it leaves them to the next round.
        frontier_hops: All(0, 1 << 10),
        /// Number of work-groups for each compute unit that visit edges.
        frontier_groups: All(1, 1 << 10),
        /// If a round has fewer edges than this for each compute unit, the limit between near and
        /// far is then raised in longer steps.
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
    // With shares of 32 parts this grid takes 9.2 ms with 6 and with 12 hops, and 11.8 ms with 24.
    frontier_hops: 12,
    // With 8 work-groups a multiprocessor has as many work-items as it runs at once.
    frontier_groups: 8,
    // With 16 edges this grid takes 10.4 ms. With 256 it takes 9.0 ms and 1.6 times as many visits.
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
