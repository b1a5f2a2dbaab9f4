use super::Manifold;
use crate::generate::Random;
use crate::solver::problem::{Plane, Space};
use nalgebra::{Isometry2, Isometry3, Translation3, UnitQuaternion, Vector2, Vector3};

/// A function that returns another number around 0 at each call.
fn numbers() -> impl FnMut() -> f64 {
    let mut random = Random::new(9);
    move || 2.0 * random.unit() - 1.0
}

/// Compares `derivative`, row by row, with central differences of the function `at` of a step.
fn check(rows: usize, derivative: &[f64], at: impl Fn(&[f64]) -> Vec<f64>) {
    let cols = derivative.len() / rows;
    for col in 0..cols {
        // Residuals and third derivatives are about 10. So the finite step causes an error of at
        // most about 1e-9, and rounding causes another error of at most about 1e-9.
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
        // The residual of a true measurement is zero.
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
    let of = |rotation| Space::step_with_derivatives(&Isometry3::identity(), &pose(rotation), &Isometry3::identity());
    assert_eq!(of(turned).0, of(opposite).0);
    assert_eq!(of(turned).1, of(opposite).1);
}
