//! The camera of *Bundle Adjustment in the Large* and its derivatives.
use nalgebra::{Matrix2, Matrix2x3, Matrix3, SMatrix, Vector2, Vector3};

/// A camera prepared to project many points.
///
/// With P = R·X + t and p = -(P.x, P.y)/P.z, the place in the picture is f·(1 + k1·|p|² +
/// k2·|p|⁴)·p. The formula is the model of BAL, in which cameras look along -z. A negative focal
/// length f models a camera that looks along +z.
///
/// ```
/// use blockmul::solver::problem::Camera;
/// // At the origin, not turned, f = 500: a point 2 in front of it and 1 to its right.
/// let camera = Camera::new(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 500.0, 0.0, 0.0]);
/// assert_eq!(camera.project(&[1.0, 0.0, -2.0]), [250.0, 0.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    rotation: Matrix3<f64>,
    /// The matrix J for which R·Exp(J·δ) is the rotation by the vector ω + δ, to first order in δ.
    /// R is the rotation by ω.
    right_jacobian: Matrix3<f64>,
    translation: Vector3<f64>,
    focal: f64,
    k: [f64; 2],
}

/// The place where a camera sees a point, and its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    /// Place in pixels.
    pub place: Vector2<f64>,
    /// Derivatives of the place with respect to the nine parameters of the camera.
    pub by_camera: SMatrix<f64, 2, 9>,
    /// Derivatives of the place with respect to the coordinates of the point.
    pub by_point: Matrix2x3<f64>,
}

impl Camera {
    /// Makes a camera from nine parameters: rotation (angle times axis), translation, f, k1, k2.
    pub fn new(&[wx, wy, wz, tx, ty, tz, focal, k1, k2]: &[f64; 9]) -> Self {
        let turn = Vector3::new(wx, wy, wz);
        let translation = Vector3::new(tx, ty, tz);
        Self { rotation: rotation(&turn), right_jacobian: right_jacobian(&turn), translation, focal, k: [k1, k2] }
    }

    /// The place where the camera sees the point, in pixels. The place is not finite if the point
    /// is in the plane through the camera's centre that is perpendicular to its viewing direction.
    pub fn project(&self, point: &[f64; 3]) -> [f64; 2] {
        let seen = self.rotation * Vector3::from(*point) + self.translation;
        place(&seen, self.focal, self.k).into()
    }

    /// Computes the result of [`Camera::project`] and its derivatives.
    pub fn project_with_derivatives(&self, point: &[f64; 3]) -> Projection {
        let (point, [k1, k2]) = (Vector3::from(*point), self.k);
        let seen = self.rotation * point + self.translation;
        let (p, distortion) = distorted(&seen, self.k);
        let r2 = p.norm_squared();
        let by_p = (Matrix2::identity() * distortion + p * p.transpose() * (2.0 * (k1 + 2.0 * k2 * r2))) * self.focal;
        let by_seen = by_p * Matrix2x3::new(-1.0, 0.0, -p.x, 0.0, -1.0, -p.y) / seen.z;
        let by_point = by_seen * self.rotation;
        let mut by_camera = SMatrix::<f64, 2, 9>::zeros();
        by_camera.fixed_columns_mut::<3>(0).copy_from(&(by_point * cross(&-point) * self.right_jacobian));
        by_camera.fixed_columns_mut::<3>(3).copy_from(&by_seen);
        by_camera.set_column(6, &(p * distortion));
        by_camera.set_column(7, &(p * (self.focal * r2)));
        by_camera.set_column(8, &(p * (self.focal * r2 * r2)));
        Projection { place: p * (self.focal * distortion), by_camera, by_point }
    }

    /// The translation of this camera in coordinates whose origin is at `origin`.
    pub(super) fn translation_about(&self, origin: &Vector3<f64>) -> Vector3<f64> {
        self.translation + self.rotation * origin
    }

    /// The position of the camera in the world: -Rᵀt.
    pub fn centre(&self) -> [f64; 3] {
        (-(self.rotation.transpose() * self.translation)).into()
    }

    /// The viewing direction of the camera, -z, as a unit vector.
    pub fn direction(&self) -> [f64; 3] {
        (-self.rotation.row(2).transpose()).into()
    }

    /// The direction that is upwards in the picture, as a unit vector.
    pub fn up(&self) -> [f64; 3] {
        self.rotation.row(1).transpose().into()
    }
}

/// The place in the picture of a point `seen`, given in the frame of the camera.
pub(crate) fn place(seen: &Vector3<f64>, focal: f64, k: [f64; 2]) -> Vector2<f64> {
    let (p, distortion) = distorted(seen, k);
    p * (focal * distortion)
}

/// The place in the picture for a focal length of 1 without distortion, and the factor by which the
/// lens distorts this place.
fn distorted(seen: &Vector3<f64>, [k1, k2]: [f64; 2]) -> (Vector2<f64>, f64) {
    let p = -seen.xy() / seen.z;
    let r2 = p.norm_squared();
    (p, 1.0 + r2 * (k1 + r2 * k2))
}

/// The matrix [v] for which [v]·x = v × x.
pub(super) fn cross(v: &Vector3<f64>) -> Matrix3<f64> {
    v.cross_matrix()
}

/// The rotation matrix of angle times axis, by Rodrigues' formula.
fn rotation(turn: &Vector3<f64>) -> Matrix3<f64> {
    nalgebra::Rotation3::new(*turn).into_inner()
}

/// The right Jacobian J = I - (1 - cos θ)/θ² [ω] + (θ - sin θ)/θ³ [ω]²: R(ω + δ) =
/// R(ω)·Exp(J·δ) to first order (J. Solà, J. Deray, D. Atchuthan, *A micro Lie theory for
/// state estimation in robotics*, 2018, equation 143).
fn right_jacobian(turn: &Vector3<f64>) -> Matrix3<f64> {
    let (square, skew) = (turn.norm_squared(), cross(turn));
    // For angles below 0.1 the differences lose digits, so series replace them. The terms that the
    // series omit are below 1e-14 of the coefficients.
    let (a, b) = if square < 0.01 {
        let series = |first: f64, next: [f64; 3]| {
            first * (1.0 - square / next[0] * (1.0 - square / next[1] * (1.0 - square / next[2])))
        };
        (series(0.5, [12.0, 30.0, 56.0]), series(1.0 / 6.0, [20.0, 42.0, 72.0]))
    } else {
        let angle = square.sqrt();
        ((1.0 - angle.cos()) / square, (angle - angle.sin()) / (square * angle))
    };
    Matrix3::identity() - skew * a + skew * skew * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// Cameras with rotations by zero, by a tiny angle, by angles at which the series end, and by
    /// angles near π and above π.
    fn cameras() -> impl Iterator<Item = [f64; 9]> {
        let mut random = Random::new(5);
        [0.0, 1e-9, 1e-3, 0.0999, 0.1001, 1.0, 3.1, 3.2, 5.0].into_iter().map(move |angle| {
            let mut unit = || 2.0 * random.unit() - 1.0;
            let axis = Vector3::new(unit(), unit(), unit()).normalize() * angle;
            let [tx, ty, tz] = [unit(), unit(), unit() - 8.0];
            [axis.x, axis.y, axis.z, tx, ty, tz, 500.0 + 50.0 * unit(), 0.1 * unit(), 0.02 * unit()]
        })
    }

    #[test]
    fn derivatives_are_central_differences() {
        for parameters in cameras() {
            for point in [[0.3, -0.4, 0.5], [-1.0, 2.0, 0.0]] {
                let Projection { place, by_camera, by_point } =
                    Camera::new(&parameters).project_with_derivatives(&point);
                assert_eq!(<[f64; 2]>::from(place), Camera::new(&parameters).project(&point));
                let numbers = || parameters.iter().chain(&point).copied().collect::<Vec<f64>>();
                let at = |numbers: &[f64]| {
                    let (camera, point) = numbers.split_at(9);
                    Vector2::from(Camera::new(camera.try_into().unwrap()).project(point.try_into().unwrap()))
                };
                for i in 0..12 {
                    // A central difference with step h has an error of h²·|p'''|/6, plus the
                    // rounding of places of up to 1000 divided by h. The sum of both errors is
                    // 1e-7.
                    let h = 1e-5;
                    let (mut more, mut less) = (numbers(), numbers());
                    (more[i], less[i]) = (more[i] + h, less[i] - h);
                    let slope = (at(&more) - at(&less)) / (2.0 * h);
                    let ours =
                        if i < 9 { by_camera.column(i).into_owned() } else { by_point.column(i - 9).into_owned() };
                    assert!(
                        (slope - ours).norm() < 1e-6 * (1.0 + ours.norm()),
                        "{i} of {parameters:?}: {ours} {slope}"
                    );
                }
            }
        }
    }

    #[test]
    fn centres_are_seen_nowhere_and_directions_in_the_middle() {
        for parameters in cameras() {
            let camera = Camera::new(&parameters);
            let (centre, direction) = (Vector3::from(camera.centre()), Vector3::from(camera.direction()));
            let ahead = camera.project(&(centre + direction * 3.0).into());
            assert!(ahead[0].abs() < 1e-9 && ahead[1].abs() < 1e-9, "{ahead:?}");
            assert!((camera.rotation * centre + camera.translation).norm() < 1e-12);
            let above = camera.project(&(centre + direction * 3.0 + Vector3::from(camera.up()) * 0.1).into());
            assert!(above[0].abs() < 1e-9 && above[1] > 1.0, "{above:?}");
        }
    }
}
