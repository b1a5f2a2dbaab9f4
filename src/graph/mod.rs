//! Graphs: shortest paths, levels, components and triangles on a device.
//!
//! A graph is a square matrix of scalars. An edge from vertex j to vertex i is the entry at row i,
//! column j, and its value is the edge's length: column j of a [`Csc`](crate::Csc) lists the edges
//! that leave j. If A is the matrix of a graph, y = A·x over [min-plus](crate::Semiring::MinPlus)
//! is one step along all edges. [`DeviceMatrix::as_transpose`](crate::DeviceMatrix) gives the graph
//! with its edges reversed.
//!
//! | function | makes |
//! |---|---|
//! | [`shortest_paths`], [`ShortestPaths`] | distances from the nearest source, and predecessors |
//! | [`levels`] | the numbers of edges from one or several sources |
//! | [`Lloyd`] | patches of vertices around centres |
//! | [`components`] | the connected components |
//! | [`triangles`], [`triangles_of_vertices`] | the number of triangles |
//!
//! Results do not depend on the device, the schedule, or the order in which edges are visited.
mod balance;
mod components;
pub(crate) mod cycles;
mod edges;
mod frontier;
mod functions;
mod labels;
mod lengths;
mod lloyd;
mod near_far;
mod patches;
mod paths;
mod predecessors;
mod schedule;
mod start;
mod sweeps;
#[cfg(test)]
mod tests;
mod triangles;

pub(crate) use balance::Balance;
pub(crate) use edges::no_graph;
pub(crate) use frontier::FrontierNumbers;
pub use functions::{any_shortest_paths, components, levels, shortest_paths, triangles, triangles_of_vertices};
pub use lloyd::{Energy, Lloyd, Patches};
pub(crate) use lloyd::{Ranks, Steps, relax};
pub use paths::{Paths, ShortestPaths};
pub use schedule::Schedule;
