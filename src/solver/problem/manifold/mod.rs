//! Residuals of poses and landmarks, and their derivatives with respect to small moves.
mod plane;
mod space;
#[cfg(test)]
mod tests;

use super::Place;
use crate::solver::scale::power_of_two;
use nalgebra::{Matrix3, SMatrix, Vector3};

/// Moves and residuals of poses and landmarks. Poses are not vectors: a step moves each pose in its
/// own frame.
///
/// A pose with translation t and rotation R moves by a translation ρ and a rotation φ to (t + R·ρ,
/// R·Exp(φ)). Landmarks move by addition. The residual of a step from xᵢ to xⱼ that was measured as
/// z is the pose z⁻¹·xᵢ⁻¹·xⱼ as a vector. This vector consists of the pose's translation and
/// rotation. In the plane the rotation is an angle in (-π, π]; in space it is twice the vector part
/// of the quaternion with w ≥ 0. Twice the vector part equals the rotation vector to first order,
/// as in the graphs of Ceres and SE-Sync. (The residual of g2o is the vector part itself, so the
/// same rotation contributes a quarter of this to χ².) The residual of a sighting of the landmark l
/// that was measured as z is Rᵀ(l - t) - z.
pub trait Manifold: Place {
    /// A residual of a step, or a move of a pose, as 3 or 6 numbers.
    type PoseVector: AsRef<[f64]> + Copy;
    /// A residual of a sighting, or a move of a landmark, as 2 or 3 numbers.
    type LandmarkVector: AsRef<[f64]> + Copy;
    /// Derivatives of a step's residual with respect to a pose.
    type StepDerivative: AsRef<[f64]> + Copy;
    /// Derivatives of a sighting's residual with respect to the pose.
    type SightingDerivative: AsRef<[f64]> + Copy;
    /// Derivatives of a sighting's residual with respect to the landmark.
    type LandmarkDerivative: AsRef<[f64]> + Copy;

    /// The pose moved by [`Place::POSE`] numbers.
    fn moved(pose: &Self::Pose, by: &[f64]) -> Self::Pose;
    /// The landmark moved by [`Place::LANDMARK`] numbers.
    fn landmark_moved(landmark: &Self::Landmark, by: &[f64]) -> Self::Landmark;
    /// The residual of a step.
    fn step(from: &Self::Pose, to: &Self::Pose, measured: &Self::Pose) -> Self::PoseVector;
    /// The residual of [`Manifold::step`], and its derivatives with respect to moves of `from` and
    /// of `to`, both in row-major order.
    fn step_with_derivatives(
        from: &Self::Pose,
        to: &Self::Pose,
        measured: &Self::Pose,
    ) -> (Self::PoseVector, [Self::StepDerivative; 2]);
    /// The residual of a sighting.
    fn sighting(pose: &Self::Pose, landmark: &Self::Landmark, measured: &Self::Landmark) -> Self::LandmarkVector;
    /// The residual of [`Manifold::sighting`], and its derivatives with respect to moves of the
    /// pose and of the landmark, both in row-major order.
    fn sighting_with_derivatives(
        pose: &Self::Pose,
        landmark: &Self::Landmark,
        measured: &Self::Landmark,
    ) -> (Self::LandmarkVector, Self::SightingDerivative, Self::LandmarkDerivative);
    /// The weighted residual W·e of a step.
    fn weighted_step(information: &Self::PoseInformation, residual: &Self::PoseVector) -> Self::PoseVector;
    /// The weighted residual W·e of a sighting.
    fn weighted_sighting(
        information: &Self::LandmarkInformation,
        residual: &Self::LandmarkVector,
    ) -> Self::LandmarkVector;
    /// The elements of an information matrix of a step.
    fn step_information(information: &Self::PoseInformation) -> &[f64];
    /// The elements of an information matrix of a sighting.
    fn sighting_information(information: &Self::LandmarkInformation) -> &[f64];
    /// The isotropic information that replaces the information of a step: see
    /// [`PoseGraph::isotropic`](super::PoseGraph::isotropic).
    fn isotropic_step(information: &Self::PoseInformation) -> Self::PoseInformation;
    /// The isotropic information that replaces the information of a sighting.
    fn isotropic_sighting(information: &Self::LandmarkInformation) -> Self::LandmarkInformation;
    /// The weights of translation and rotation in [`Manifold::isotropic_step`].
    fn isotropic_weights(information: &Self::PoseInformation) -> [f64; 2];
    /// Rotation and translation of a pose. In the plane the rotation is about z, and z is 0.
    fn matrix(pose: &Self::Pose) -> (Matrix3<f64>, Vector3<f64>);
    /// The pose with this rotation and translation, projected to the plane if poses are in the
    /// plane.
    fn from_matrix(rotation: &Matrix3<f64>, translation: &Vector3<f64>) -> Self::Pose;
    /// The position of a pose; z is 0 in the plane.
    fn position(pose: &Self::Pose) -> [f64; 3];
    /// The position of a landmark; z is 0 in the plane.
    fn landmark_position(landmark: &Self::Landmark) -> [f64; 3];
}

/// The elements in row-major order, which differs from nalgebra's order.
fn by_rows<const R: usize, const C: usize, const N: usize>(m: &SMatrix<f64, R, C>) -> [f64; N] {
    std::array::from_fn(|i| m[(i / C, i % C)])
}

/// The reciprocal of the mean of the variances, which are the diagonal of the covariance; 0 if the
/// mean is not a positive number.
fn mean_information<const N: usize>(information: &SMatrix<f64, N, N>) -> f64 {
    // The elements are scaled by a power of two, which changes no bit of the result. Without
    // scaling, products of up to three large or small elements may not be normal numbers.
    let scale = power_of_two(information.amax());
    let scaled = information * scale.recip();
    let weight = scaled.try_inverse().map_or(0.0, |covariance| N as f64 / covariance.trace()) * scale;
    if weight > 0.0 && weight.is_finite() { weight } else { 0.0 }
}
