//! Poses as the numbers that files of g2o have, and back.
use super::{Plane, PoseGraph, Space, graph::Place};
use nalgebra::{Isometry2, Isometry3, Quaternion, Translation2, Translation3, UnitComplex, UnitQuaternion};

impl<P: Place> Default for PoseGraph<P> {
    /// A graph without poses.
    fn default() -> Self {
        Self {
            poses: Vec::new(),
            pose_names: Vec::new(),
            landmarks: Vec::new(),
            landmark_names: Vec::new(),
            fixed_poses: Vec::new(),
            fixed_landmarks: Vec::new(),
            steps: Vec::new(),
            sightings: Vec::new(),
        }
    }
}

impl Plane {
    /// The pose with coordinates x and y and an angle.
    pub fn pose([x, y, angle]: [f64; 3]) -> Isometry2<f64> {
        Isometry2::from_parts(Translation2::new(x, y), turned(angle))
    }

    /// The coordinates x and y and the angle of a pose, from -π to π.
    pub fn coordinates(pose: &Isometry2<f64>) -> [f64; 3] {
        [pose.translation.x, pose.translation.y, angle(&pose.rotation)]
    }
}

impl Space {
    /// The pose with a translation x, y, z and a quaternion x, y, z, w of any length except 0.
    /// Returns `None` for a quaternion of length 0.
    ///
    /// A quaternion whose length is 1 up to rounding is used unchanged, so that
    /// [`Space::coordinates`] has its bits.
    pub fn pose([x, y, z, i, j, k, w]: [f64; 7]) -> Option<Isometry3<f64>> {
        let quaternion = Quaternion::new(w, i, j, k);
        let largest = quaternion.coords.amax();
        if largest == 0.0 {
            return None;
        }
        // If a quaternion was divided by its length, its squared norm has at most six roundings.
        let rotation = match (quaternion.norm_squared() - 1.0).abs() <= 8.0 * f64::EPSILON {
            true => UnitQuaternion::new_unchecked(quaternion),
            // Division by the largest element comes first, because squares may overflow.
            false => UnitQuaternion::new_normalize(quaternion / largest),
        };
        Some(Isometry3::from_parts(Translation3::new(x, y, z), rotation))
    }

    /// The translation x, y, z and the quaternion x, y, z, w of a pose.
    pub fn coordinates(pose: &Isometry3<f64>) -> [f64; 7] {
        let [x, y, z] = pose.translation.vector.into();
        let [i, j, k, w] = pose.rotation.coords.into();
        [x, y, z, i, j, k, w]
    }
}

/// The rotation by an angle, with the same bits on every platform.
fn turned(angle: f64) -> UnitComplex<f64> {
    let (sine, cosine) = libm::sincos(angle);
    UnitComplex::from_cos_sin_unchecked(cosine, sine)
}

/// An angle whose cosine and sine have exactly the bits of `rotation`, searched within a few
/// roundings of the arc tangent. If there is no such angle, the result is the arc tangent.
fn angle(rotation: &UnitComplex<f64>) -> f64 {
    let nearest = libm::atan2(rotation.im, rotation.re);
    let (mut below, mut above) = (nearest, nearest);
    for _ in 0..4 {
        if let Some(same) = [above, below].into_iter().find(|&angle| turned(angle) == *rotation) {
            return same;
        }
        (below, above) = (below.next_down(), above.next_up());
    }
    nearest
}
