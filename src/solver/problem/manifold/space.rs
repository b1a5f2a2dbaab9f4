//! Poses in space. Residuals consist of the translation and of twice the vector part of the
//! quaternion. Derivatives are with respect to moves by a translation ρ and a rotation φ.
use super::{Manifold, by_rows, mean_information};
use crate::solver::problem::{Space, camera::cross};
use nalgebra::{Isometry3, Matrix3, Matrix3x6, Matrix6, Rotation3, Translation3, UnitQuaternion, Vector3, Vector6};

/// Twice the vector part of a quaternion, and its scalar part w. The sign of the quaternion is
/// chosen so that w ≥ 0.
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
        // With the vector part v of q, 2·vec(q·(1, φ/2)) = 2v + (w + [v])·φ. A turn of `from` by φ
        // equals a turn by -back·φ from the left, for which the cross product [v] has the opposite
        // sign.
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
