//! Generates whole problems with a start for a solver and known true values: [`bundle_adjustment`]
//! and [`pose_graph`].
//!
//! The same fields give the same problem, bit for bit, on every platform. Sines and logarithms come
//! from the crate `libm`; everything else is arithmetic. The same random numbers are drawn for
//! every size of the noise and of the start's errors. If the noise and the errors are 0, the
//! problem consists of the true values, and of measurements that fit the true values.
//!
//! ```
//! use blockmul::generate::problem::{Scene, Walk, bundle_adjustment, pose_graph};
//! use blockmul::solver::problem::Graph;
//! let scene = Scene { cameras: 8, points: 100, views: 4, ..Default::default() };
//! let seen = bundle_adjustment(&scene)?;
//! assert_eq!(seen.observations.len(), 400);
//! let walk = Walk { poses: 50, closures: 20, ..Default::default() };
//! let Graph::Space(graph) = pose_graph(&walk)? else { unreachable!() };
//! assert_eq!((graph.poses.len(), graph.steps.len()), (50, 49 + 20));
//! # Ok::<(), blockmul::Error>(())
//! ```
mod scene;
mod surface;
mod turn;
mod walk;

pub use scene::{Scene, bundle_adjustment};
pub use walk::{Shape, Walk, pose_graph};

use super::Random;
use crate::{Error, Result};
use nalgebra::{Quaternion, SVector, UnitQuaternion, Vector3};

/// A vector of independent normal deviates.
fn normal<const D: usize>(random: &mut Random, deviation: f64) -> SVector<f64, D> {
    SVector::from_fn(|_, _| random.normal() * deviation)
}

/// The rotation by an angle about an axis, given as one vector.
fn turned(by: &Vector3<f64>) -> UnitQuaternion<f64> {
    let angle = by.norm_squared().sqrt();
    let (sine, cosine) = libm::sincos(angle / 2.0);
    let axis = if angle > 0.0 { by / angle } else { Vector3::zeros() };
    UnitQuaternion::new_unchecked(Quaternion::from_parts(cosine, axis * sine))
}

/// Checks a deviation, which must be 0, or a number whose square and whose square's reciprocal are
/// normal numbers.
fn deviation(what: &str, value: f64) -> Result<f64> {
    match value == 0.0 || (value > 0.0 && (value * value).is_normal() && (1.0 / (value * value)).is_normal()) {
        true => Ok(value),
        _ if value.is_finite() && value > 0.0 => {
            Err(Error::Argument(format!("{what} is {value}, which is beyond numbers when it is squared")))
        }
        false => Err(Error::Argument(format!("{what} is {value}, not a number from 0"))),
    }
}
