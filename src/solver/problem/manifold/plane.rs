//! Poses in the plane: residuals (x, y, angle), and their derivatives with respect to moves by a
//! translation ρ and an angle φ.
use super::{Manifold, by_rows, mean_information};
use crate::solver::problem::Plane;
use nalgebra::{Isometry2, Matrix2, Matrix2x3, Matrix3, Translation2, UnitComplex, Vector2, Vector3};

impl Manifold for Plane {
    type PoseVector = [f64; 3];
    type LandmarkVector = [f64; 2];
    type StepDerivative = [f64; 9];
    type SightingDerivative = [f64; 6];
    type LandmarkDerivative = [f64; 4];

    fn moved(pose: &Isometry2<f64>, by: &[f64]) -> Isometry2<f64> {
        let translation = pose.translation.vector + pose.rotation * Vector2::new(by[0], by[1]);
        // A rotation is multiplied thousands of times in the course of an iteration, so it is
        // renormalised.
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
        [mean_information(&information.fixed_view::<2, 2>(0, 0).into_owned()), 2.0 * information[(2, 2)].max(0.0)]
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
