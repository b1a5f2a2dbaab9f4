//! Modules that few applications need: properties and pictures of matrices, meshes, scans of
//! vectors, progress reports, and the numbers of kernels.
//!
//! The files of these modules stand beside those of the other rooms.
#[path = "analysis/mod.rs"]
pub mod analysis;
#[path = "host/mod.rs"]
pub mod host;
#[path = "mesh/mod.rs"]
pub mod mesh;
#[path = "primitives/mod.rs"]
pub mod primitives;
#[path = "spy/mod.rs"]
pub mod spy;
#[path = "tuning/mod.rs"]
pub mod tuning;
