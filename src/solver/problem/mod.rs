//! Least-squares problems of vision and robotics, from files. A solver linearises them into the
//! matrices that this library multiplies.
//!
//! | Problem | Read by | Unknowns (numbers of each) | Residuals |
//! |---|---|---|---|
//! | [`BundleAdjustment`] | [`bal`] | cameras (9), points (3) | 2 for each observation |
//! | [`PoseGraph`] | [`g2o`], [`isam`], [`toro`] | poses (3 or 6), landmarks (2 or 3) | see below |
//!
//! A pose graph is in the plane (3 and 2 numbers) or in space (6 and 3 numbers). A pose graph has
//! one residual for each measured number. [`BundleProblem`] linearises a bundle adjustment,
//! [`GraphProblem`] a graph, and [`AnyProblem`] the problem of any file.
//!
//! [`read`] and [`read_with`] recognise the format of a file by its contents. A [`LeastSquares`]
//! problem is evaluated on all threads of the host, and J and W·e are written directly to arrays on
//! a device ([`Linearization`]). Derivatives are analytic ([`Camera`], [`Manifold`]); losses may be
//! robust ([`Loss`]). `solver::least_squares` (feature `faer`) forms H = JᵀWJ and Schur
//! complements, and solves for steps.
//!
//! [`write()`] writes files of BAL and of g2o. [`generate::problem`](crate::generate::problem)
//! generates problems of any size.
//!
//! Readers accept plain files, packed files (gzip, bzip2, xz, zstd, recognised by their first bytes
//! and not their names) and archives (tar, zip). Readers check that numbers are finite, and that
//! all vertices, cameras and points that a file names exist. An error is `path:line: reason`.
mod any;
mod bundle;
mod camera;
mod coordinates;
mod file;
mod finite;
mod gauge;
mod graph;
mod information;
mod left_out;
mod linearization;
mod loss;
mod manifold;
mod names;
mod origin;
mod pose;
mod rows;
mod unknowns;

pub use any::{AnyProblem, AnyState, write};
pub use bundle::{BundleProblem, BundleState};
pub(crate) use camera::place;
pub use camera::{Camera, Projection};
pub use file::bal::{BundleAdjustment, Observation};
pub use file::{Edges, Problem, ProblemFile, ProblemFormat, bal, g2o, isam, read, read_with, toro};
#[cfg(feature = "faer")]
pub(crate) use gauge::Sets;
pub use gauge::{Gauge, Loose};
pub use graph::{Graph, Place, Plane, PoseGraph, Sighting, Space, Step, World};
#[cfg(feature = "faer")]
pub(crate) use information::is_zero;
pub use left_out::{LeftOut, Why};
#[cfg(feature = "faer")]
pub(super) use linearization::check_groups;
pub use linearization::{LeastSquares, Linearization, RowWeights};
pub use loss::Loss;
pub use manifold::Manifold;
pub use names::Named;
pub use pose::{GraphProblem, GraphState};
pub use rows::RowCost;
