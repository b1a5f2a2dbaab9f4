//! Residuals of poses and landmarks, and their derivatives by small moves of what they are between.
use super::{Place, Plane, Space, camera::cross};
use nalgebra::{
    Isometry2, Isometry3, Matrix2, Matrix2x3, Matrix3, Matrix3x6, Matrix6, Rotation3, SMatrix, Translation2,
    Translation3, UnitComplex, UnitQuaternion, Vector2, Vector3, Vector6,
};

/// How poses move and what is measured of them: poses are not vectors, steps are taken in their own frames.
///
/// A pose moves by translation ρ and rotation φ to (t + R·ρ, R·Exp(φ)); landmarks move by addition. The residual of a step measured as z is
/// the pose z⁻¹·xᵢ⁻¹·xⱼ as a vector: its translation, and its angle in (-π, π] (plane) or twice the vector part of its quaternion with w ≥ 0 (space), which is
/// its rotation vector to first order. That of a landmark is Rᵀ(l - t) - z.
pub trait Manifold: Place {
    /// A residual of a step, and a move of a pose: 3 or 6 numbers.
    type PoseVector: AsRef<[f64]> + Copy;
    /// A residual of a sighting, and a move of a landmark: 2 or 3 numbers.
    type LandmarkVector: AsRef<[f64]> + Copy;
    /// Derivatives of a step's residual by a pose.
    type StepDerivative: AsRef<[f64]> + Copy;
    /// Derivatives of a sighting's residual by the pose.
    type SightingDerivative: AsRef<[f64]> + Copy;
    /// Derivatives of a sighting's residual by the landmark.
    type LandmarkDerivative: AsRef<[f64]> + Copy;

    /// The pose moved by [`Place::POSE`] numbers.
    fn moved(pose: &Self::Pose, by: &[f64]) -> Self::Pose;
    /// The landmark moved by [`Place::LANDMARK`] numbers.
    fn landmark_moved(landmark: &Self::Landmark, by: &[f64]) -> Self::Landmark;
    /// The residual of a step.
    fn step(from: &Self::Pose, to: &Self::Pose, measured: &Self::Pose) -> Self::PoseVector;
    /// The same with its derivatives by moves of `from` and of `to`, each row by row.
    fn step_with_derivatives(
        from: &Self::Pose,
        to: &Self::Pose,
        measured: &Self::Pose,
    ) -> (Self::PoseVector, [Self::StepDerivative; 2]);
    /// The residual of a sighting.
    fn sighting(pose: &Self::Pose, landmark: &Self::Landmark, measured: &Self::Landmark) -> Self::LandmarkVector;
    /// The same with its derivatives by moves of the pose and of the landmark, each row by row.
    fn sighting_with_derivatives(
        pose: &Self::Pose,
        landmark: &Self::Landmark,
        measured: &Self::Landmark,
    ) -> (Self::LandmarkVector, Self::SightingDerivative, Self::LandmarkDerivative);
    /// W·e of a step.
    fn weighted_step(information: &Self::PoseInformation, residual: &Self::PoseVector) -> Self::PoseVector;
    /// W·e of a sighting.
    fn weighted_sighting(
        information: &Self::LandmarkInformation,
        residual: &Self::LandmarkVector,
    ) -> Self::LandmarkVector;
    /// The elements of an information matrix of a step.
    fn step_information(information: &Self::PoseInformation) -> &[f64];
    /// The elements of an information matrix of a sighting.
    fn sighting_information(information: &Self::LandmarkInformation) -> &[f64];
    /// Isotropic information in its place: see [`PoseGraph::isotropic`](super::PoseGraph::isotropic).
    fn isotropic_step(information: &Self::PoseInformation) -> Self::PoseInformation;
    /// The same of a sighting.
    fn isotropic_sighting(information: &Self::LandmarkInformation) -> Self::LandmarkInformation;
    /// The weights of translation and rotation in [`Manifold::isotropic_step`].
    fn isotropic_weights(information: &Self::PoseInformation) -> [f64; 2];
    /// Rotation and translation, about z and with z 0 in the plane.
    fn matrix(pose: &Self::Pose) -> (Matrix3<f64>, Vector3<f64>);
    /// The pose of a rotation and a translation; in the plane what is left of them there.
    fn from_matrix(rotation: &Matrix3<f64>, translation: &Vector3<f64>) -> Self::Pose;
    /// Where a pose is, z 0 in the plane.
    fn position(pose: &Self::Pose) -> [f64; 3];
    /// Where a landmark is, z 0 in the plane.
    fn landmark_position(landmark: &Self::Landmark) -> [f64; 3];
}

/// Row by row: nalgebra's matrices are by columns.
fn by_rows<const R: usize, const C: usize, const N: usize>(m: &SMatrix<f64, R, C>) -> [f64; N] {
    std::array::from_fn(|i| m[(i / C, i % C)])
}

/// One over the mean of the variances on the diagonal of the covariance; 0 where there is none.
fn mean_information<const N: usize>(information: &SMatrix<f64, N, N>) -> f64 {
    information.try_inverse().map_or(0.0, |covariance| N as f64 / covariance.trace())
}

impl Manifold for Plane {
    type PoseVector = [f64; 3];
    type LandmarkVector = [f64; 2];
    type StepDerivative = [f64; 9];
    type SightingDerivative = [f64; 6];
    type LandmarkDerivative = [f64; 4];

    fn moved(pose: &Isometry2<f64>, by: &[f64]) -> Isometry2<f64> {
        let translation = pose.translation.vector + pose.rotation * Vector2::new(by[0], by[1]);
        // Rotations are multiplied thousands of times: renormalised, they stay rotations.
        let mut rotation = pose.rotation * UnitComplex::new(by[2]);
        rotation.renormalize();
        Isometry2::from_parts(Translation2::from(translation), rotation)
    }

    fn landmark_moved(landmark: &Vector2<f64>, by: &[f64]) -> Vector2<f64> {
        landmark + Vector2::new(by[0], by[1])
    }

    fn step(from: &Isometry2<f64>, to: &Isometry2<f64>, measured: &Isometry2<f64>) -> [f64; 3] {
        let error = measured.inv_mul(&from.inv_mul(to));
        [error.translation.x, error.translation.y, error.rotation.angle()]
    }

    fn step_with_derivatives(
        from: &Isometry2<f64>,
        to: &Isometry2<f64>,
        measured: &Isometry2<f64>,
    ) -> ([f64; 3], [[f64; 9]; 2]) {
        let relative = from.inv_mul(to);
        let h = relative.translation.vector;
        let back: Matrix2<f64> = measured.rotation.inverse().to_rotation_matrix().into_inner();
        let (mut by_from, mut by_to) = (-Matrix3::identity(), Matrix3::identity());
        by_from.fixed_view_mut::<2, 2>(0, 0).copy_from(&-back);
        by_from.fixed_view_mut::<2, 1>(0, 2).copy_from(&(back * Vector2::new(h.y, -h.x)));
        by_to.fixed_view_mut::<2, 2>(0, 0).copy_from(&(back * relative.rotation.to_rotation_matrix().into_inner()));
        (Self::step(from, to, measured), [by_rows(&by_from), by_rows(&by_to)])
    }

    fn sighting(pose: &Isometry2<f64>, landmark: &Vector2<f64>, measured: &Vector2<f64>) -> [f64; 2] {
        (pose.rotation.inverse() * (landmark - pose.translation.vector) - measured).into()
    }

    fn sighting_with_derivatives(
        pose: &Isometry2<f64>,
        landmark: &Vector2<f64>,
        measured: &Vector2<f64>,
    ) -> ([f64; 2], [f64; 6], [f64; 4]) {
        let back: Matrix2<f64> = pose.rotation.inverse().to_rotation_matrix().into_inner();
        let h = back * (landmark - pose.translation.vector);
        let by_pose = Matrix2x3::new(-1.0, 0.0, h.y, 0.0, -1.0, -h.x);
        (Self::sighting(pose, landmark, measured), by_rows(&by_pose), by_rows(&back))
    }

    fn weighted_step(information: &Matrix3<f64>, residual: &[f64; 3]) -> [f64; 3] {
        (information * Vector3::from(*residual)).into()
    }

    fn weighted_sighting(information: &Matrix2<f64>, residual: &[f64; 2]) -> [f64; 2] {
        (information * Vector2::from(*residual)).into()
    }

    fn step_information(information: &Matrix3<f64>) -> &[f64] {
        information.as_slice()
    }

    fn sighting_information(information: &Matrix2<f64>) -> &[f64] {
        information.as_slice()
    }

    fn isotropic_step(information: &Matrix3<f64>) -> Matrix3<f64> {
        let [t, r] = Self::isotropic_weights(information);
        Matrix3::from_diagonal(&Vector3::new(t, t, r))
    }

    fn isotropic_weights(information: &Matrix3<f64>) -> [f64; 2] {
        [mean_information(&information.fixed_view::<2, 2>(0, 0).into_owned()), 2.0 * information[(2, 2)]]
    }

    fn matrix(pose: &Isometry2<f64>) -> (Matrix3<f64>, Vector3<f64>) {
        let mut rotation = Matrix3::identity();
        rotation.fixed_view_mut::<2, 2>(0, 0).copy_from(pose.rotation.to_rotation_matrix().matrix());
        (rotation, pose.translation.vector.push(0.0))
    }

    fn from_matrix(rotation: &Matrix3<f64>, translation: &Vector3<f64>) -> Isometry2<f64> {
        Isometry2::new(translation.xy(), f64::atan2(rotation[(1, 0)], rotation[(0, 0)]))
    }

    fn isotropic_sighting(information: &Matrix2<f64>) -> Matrix2<f64> {
        Matrix2::identity() * mean_information(information)
    }

    fn position(pose: &Isometry2<f64>) -> [f64; 3] {
        [pose.translation.x, pose.translation.y, 0.0]
    }

    fn landmark_position(landmark: &Vector2<f64>) -> [f64; 3] {
        [landmark.x, landmark.y, 0.0]
    }
}

/// Twice the vector part of a quaternion of w ≥ 0, and that w.
fn twice_vector(q: &UnitQuaternion<f64>) -> (Vector3<f64>, f64) {
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    (Vector3::new(q.i, q.j, q.k) * (2.0 * sign), q.w * sign)
}

impl Manifold for Space {
    type PoseVector = [f64; 6];
    type LandmarkVector = [f64; 3];
    type StepDerivative = [f64; 36];
    type SightingDerivative = [f64; 18];
    type LandmarkDerivative = [f64; 9];

    fn moved(pose: &Isometry3<f64>, by: &[f64]) -> Isometry3<f64> {
        let translation = pose.translation.vector + pose.rotation * Vector3::new(by[0], by[1], by[2]);
        let mut rotation = pose.rotation * UnitQuaternion::from_scaled_axis(Vector3::new(by[3], by[4], by[5]));
        rotation.renormalize();
        Isometry3::from_parts(Translation3::from(translation), rotation)
    }

    fn landmark_moved(landmark: &Vector3<f64>, by: &[f64]) -> Vector3<f64> {
        landmark + Vector3::new(by[0], by[1], by[2])
    }

    fn step(from: &Isometry3<f64>, to: &Isometry3<f64>, measured: &Isometry3<f64>) -> [f64; 6] {
        let error = measured.inv_mul(&from.inv_mul(to));
        let (t, (r, _)) = (error.translation, twice_vector(&error.rotation));
        [t.x, t.y, t.z, r.x, r.y, r.z]
    }

    fn step_with_derivatives(
        from: &Isometry3<f64>,
        to: &Isometry3<f64>,
        measured: &Isometry3<f64>,
    ) -> ([f64; 6], [[f64; 36]; 2]) {
        let relative = from.inv_mul(to);
        let error = measured.inv_mul(&relative);
        let (t, (r, w)) = (error.translation, twice_vector(&error.rotation));
        let back: Matrix3<f64> = measured.rotation.inverse().to_rotation_matrix().into_inner();
        // 2·vec(q·(1, φ/2)) = r + (w + [v])·φ; a turn φ of `from` is one of -back·φ from the left, with the cross product reversed.
        let (scaled, half) = (Matrix3::identity() * w, cross(&(r * 0.5)));
        let (mut by_from, mut by_to) = (Matrix6::zeros(), Matrix6::zeros());
        by_from.fixed_view_mut::<3, 3>(0, 0).copy_from(&-back);
        by_from.fixed_view_mut::<3, 3>(0, 3).copy_from(&(back * cross(&relative.translation.vector)));
        by_from.fixed_view_mut::<3, 3>(3, 3).copy_from(&((half - scaled) * back));
        by_to.fixed_view_mut::<3, 3>(0, 0).copy_from(&(back * relative.rotation.to_rotation_matrix().into_inner()));
        by_to.fixed_view_mut::<3, 3>(3, 3).copy_from(&(scaled + half));
        ([t.x, t.y, t.z, r.x, r.y, r.z], [by_rows(&by_from), by_rows(&by_to)])
    }

    fn sighting(pose: &Isometry3<f64>, landmark: &Vector3<f64>, measured: &Vector3<f64>) -> [f64; 3] {
        (pose.rotation.inverse() * (landmark - pose.translation.vector) - measured).into()
    }

    fn sighting_with_derivatives(
        pose: &Isometry3<f64>,
        landmark: &Vector3<f64>,
        measured: &Vector3<f64>,
    ) -> ([f64; 3], [f64; 18], [f64; 9]) {
        let back: Matrix3<f64> = pose.rotation.inverse().to_rotation_matrix().into_inner();
        let h = back * (landmark - pose.translation.vector);
        let mut by_pose = Matrix3x6::zeros();
        by_pose.fixed_columns_mut::<3>(0).copy_from(&-Matrix3::identity());
        by_pose.fixed_columns_mut::<3>(3).copy_from(&cross(&h));
        (Self::sighting(pose, landmark, measured), by_rows(&by_pose), by_rows(&back))
    }

    fn weighted_step(information: &Matrix6<f64>, residual: &[f64; 6]) -> [f64; 6] {
        (information * Vector6::from(*residual)).into()
    }

    fn weighted_sighting(information: &Matrix3<f64>, residual: &[f64; 3]) -> [f64; 3] {
        (information * Vector3::from(*residual)).into()
    }

    fn step_information(information: &Matrix6<f64>) -> &[f64] {
        information.as_slice()
    }

    fn sighting_information(information: &Matrix3<f64>) -> &[f64] {
        information.as_slice()
    }

    fn isotropic_weights(information: &Matrix6<f64>) -> [f64; 2] {
        [0, 3].map(|at| mean_information(&information.fixed_view::<3, 3>(at, at).into_owned()))
    }

    fn matrix(pose: &Isometry3<f64>) -> (Matrix3<f64>, Vector3<f64>) {
        (pose.rotation.to_rotation_matrix().into_inner(), pose.translation.vector)
    }

    fn from_matrix(rotation: &Matrix3<f64>, translation: &Vector3<f64>) -> Isometry3<f64> {
        let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(*rotation));
        Isometry3::from_parts(Translation3::from(*translation), rotation)
    }

    fn isotropic_step(information: &Matrix6<f64>) -> Matrix6<f64> {
        let [t, r] = Self::isotropic_weights(information);
        Matrix6::from_diagonal(&Vector6::new(t, t, t, r, r, r))
    }

    fn isotropic_sighting(information: &Matrix3<f64>) -> Matrix3<f64> {
        Matrix3::identity() * mean_information(information)
    }

    fn position(pose: &Isometry3<f64>) -> [f64; 3] {
        pose.translation.vector.into()
    }

    fn landmark_position(landmark: &Vector3<f64>) -> [f64; 3] {
        (*landmark).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// A number around 0 at each call.
    fn numbers() -> impl FnMut() -> f64 {
        let mut random = Random::new(9);
        move || 2.0 * random.unit() - 1.0
    }

    /// Against central differences of `at`, which is told a move: `derivative` is row by row.
    fn check(rows: usize, derivative: &[f64], at: impl Fn(&[f64]) -> Vec<f64>) {
        let cols = derivative.len() / rows;
        for col in 0..cols {
            // Residuals are of the size of 10, third derivatives too: an error of 1e-9 by the step, of 1e-9 by rounding.
            let h = 1e-5;
            let moved = |by: f64| {
                let mut step = vec![0.0; cols];
                step[col] = by;
                at(&step)
            };
            let (more, less) = (moved(h), moved(-h));
            for row in 0..rows {
                let slope = (more[row] - less[row]) / (2.0 * h);
                let ours = derivative[row * cols + col];
                assert!((slope - ours).abs() < 1e-7, "({row}, {col}): {ours}, by differences {slope}");
            }
        }
    }

    fn check_manifold<P: Manifold>(mut pose: impl FnMut() -> P::Pose, mut landmark: impl FnMut() -> P::Landmark) {
        for _ in 0..20 {
            let (from, to, measured) = (pose(), pose(), pose());
            let (residual, [by_from, by_to]) = P::step_with_derivatives(&from, &to, &measured);
            assert_eq!(residual.as_ref(), P::step(&from, &to, &measured).as_ref());
            let of = |from: &P::Pose, to: &P::Pose| P::step(from, to, &measured).as_ref().to_vec();
            check(P::POSE, by_from.as_ref(), |by| of(&P::moved(&from, by), &to));
            check(P::POSE, by_to.as_ref(), |by| of(&from, &P::moved(&to, by)));
            // What is measured is what is.
            let truth = P::compose(&P::inverse(&from), &to);
            assert!(P::step(&from, &to, &truth).as_ref().iter().all(|e| e.abs() < 1e-14));
            let (rotation, translation) = P::matrix(&from);
            let again = P::from_matrix(&rotation, &translation);
            assert!(P::step(&from, &again, &P::origin()).as_ref().iter().all(|e| e.abs() < 1e-12));

            let (place, seen) = (landmark(), landmark());
            let (residual, by_pose, by_landmark) = P::sighting_with_derivatives(&from, &place, &seen);
            assert_eq!(residual.as_ref(), P::sighting(&from, &place, &seen).as_ref());
            let of = |pose: &P::Pose, place: &P::Landmark| P::sighting(pose, place, &seen).as_ref().to_vec();
            check(P::LANDMARK, by_pose.as_ref(), |by| of(&P::moved(&from, by), &place));
            check(P::LANDMARK, by_landmark.as_ref(), |by| of(&from, &P::landmark_moved(&place, by)));
            let placed = P::place(&from, &seen);
            assert!(P::sighting(&from, &placed, &seen).as_ref().iter().all(|e| e.abs() < 1e-14));
        }
    }

    #[test]
    fn derivatives_are_central_differences_in_the_plane() {
        let (mut pose, mut landmark) = (numbers(), numbers());
        check_manifold::<Plane>(
            || Isometry2::new(Vector2::new(3.0 * pose(), 3.0 * pose()), 0.9 * pose()),
            || Vector2::new(3.0 * landmark(), 3.0 * landmark()),
        );
    }

    #[test]
    fn derivatives_are_central_differences_in_space() {
        let (mut pose, mut landmark) = (numbers(), numbers());
        check_manifold::<Space>(
            || {
                let mut three = |scale: f64| Vector3::new(pose(), pose(), pose()) * scale;
                Isometry3::new(three(3.0), three(2.5))
            },
            || Vector3::new(3.0 * landmark(), 3.0 * landmark(), 3.0 * landmark()),
        );
    }

    #[test]
    fn a_quaternion_and_its_opposite_are_one_rotation() {
        let turned = UnitQuaternion::from_scaled_axis(Vector3::new(0.1, -0.2, 0.3));
        let opposite = UnitQuaternion::new_unchecked(-turned.into_inner());
        let pose = |rotation| Isometry3::from_parts(Translation3::identity(), rotation);
        let of =
            |rotation| Space::step_with_derivatives(&Isometry3::identity(), &pose(rotation), &Isometry3::identity());
        assert_eq!(of(turned).0, of(opposite).0);
        assert_eq!(of(turned).1, of(opposite).1);
    }
}
