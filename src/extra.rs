//! Modules that few applications need: properties and pictures of matrices, meshes, scans of
//! vectors, progress reports, and the numbers of kernels.
//!
//! The files of these modules are directly under `src/`, like those of the other modules.
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
