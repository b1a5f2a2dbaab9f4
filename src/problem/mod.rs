//! Least-squares problems of vision and robotics, from files: what a solver linearises into the matrices that this library multiplies.
//!
//! | Problem | Read by | Unknowns | Residuals |
//! |---|---|---|---|
//! | [`BundleAdjustment`] | [`bal`] | cameras of 9 parameters, points of 3 | 2 for each observation |
//! | [`PoseGraph`], in the plane or in space | [`g2o`], [`isam`] | poses of 3 or 6 parameters, landmarks of 2 or 3 | one for each number measured |
//!
//! [`bal`] and [`g2o`] are written too, and [`generate::problem`](crate::generate::problem) makes problems of any size.
//!
//! Readers take files plain, gzip or bzip2 (told by their first bytes, not their names), check that numbers are finite and that everything named
//! is there, and refuse with `path:line: reason`.
pub mod bal;
pub mod g2o;
mod graph;
pub mod isam;
mod numbers;

pub use bal::{BundleAdjustment, Observation};
pub use graph::{Graph, Place, Plane, PoseGraph, Sighting, Space, Step, World};
