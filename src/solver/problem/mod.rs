//! Least-squares problems of vision and robotics, from files: what a solver linearises into the matrices that this library multiplies.
//!
//! | Problem | Read by | Unknowns | Residuals | Linearised by |
//! |---|---|---|---|---|
//! | [`BundleAdjustment`] | [`bal`] | cameras of 9 parameters, points of 3 | 2 for each observation | [`BundleProblem`] |
//! | [`PoseGraph`], in the plane or in space | [`g2o`], [`isam`] | poses of 3 or 6 parameters, landmarks of 2 or 3 | one for each number measured | [`GraphProblem`] |
//!
//! [`read`] tells these files apart by their contents. A [`LeastSquares`] problem is evaluated on all threads of the host, straight into the arrays of J
//! and W·e on a device ([`Linearization`]); derivatives are analytic ([`Camera`], [`Manifold`]), losses robust where one is asked for ([`Loss`]).
//! `solver::least_squares` (feature `faer`) makes H = JᵀWJ, Schur complements and steps of them.
//!
//! [`bal`] and [`g2o`] are written too, and [`generate::problem`](crate::generate::problem) makes problems of any size.
//!
//! Readers take files plain or packed (gzip, bzip2, xz, zstd: told by their first bytes, not their
//! names), check that numbers are finite and that everything named is there, and refuse with
//! `path:line: reason`.
mod bundle;
mod camera;
mod file;
mod graph;
mod linearization;
mod loss;
mod manifold;
mod pose;
mod rows;
mod unknowns;

pub use bundle::{BundleProblem, BundleState};
pub(crate) use camera::place;
pub use camera::{Camera, Projection};
pub use file::bal::{BundleAdjustment, Observation};
pub use file::{Problem, bal, g2o, isam, read};
pub use graph::{Graph, Place, Plane, PoseGraph, Sighting, Space, Step, World};
pub use linearization::{LeastSquares, Linearization, RowWeights};
pub use loss::Loss;
pub use manifold::Manifold;
pub use pose::{GraphProblem, GraphState};
