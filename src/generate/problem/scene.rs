//! Cameras on a ring that look inwards, and points between the cameras.
use super::{deviation, normal, turned};
use crate::{
    Result,
    generate::{Random, room, visibility},
    solver::problem::{BundleAdjustment, Observation, place},
};
use nalgebra::{Vector2, Vector3};
use std::f64::consts::TAU;

/// Parameters of a generated bundle adjustment. The distance between neighbouring cameras is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scene {
    /// Number of cameras.
    pub cameras: usize,
    /// Number of points.
    pub points: usize,
    /// Number of cameras that see each point. The cameras that see a point are drawn from twice as
    /// many neighbours on the ring.
    pub views: usize,
    /// Standard deviation of each coordinate in a picture, in pixels.
    pub noise: f64,
    /// Error of the start: the standard deviation of every coordinate of cameras and points. The
    /// standard deviation of rotations (in radians), of focal lengths (relative), and of the
    /// distortion parameters k1 and k2 is a hundredth of this number.
    pub error: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Scene {
    /// 100 cameras, 10000 points, 5 views of each point, a noise of half a pixel, an error of a
    /// tenth, seed 1.
    fn default() -> Self {
        Self { cameras: 100, points: 10_000, views: 5, noise: 0.5, error: 0.1, seed: 1 }
    }
}

/// Generates a bundle adjustment whose start differs from the true values. Focal lengths are 500 to
/// 1000 pixels. The distortion parameter k1 is -0.1 to 0, and k2 is 0 to 0.02. Every point is well
/// in front of the cameras that see it.
///
/// With the same seed, the matrix of [`Visibility`](crate::generate::Visibility) has the pattern of
/// this problem. Observations are in the order of the points.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) if there are fewer cameras than views of a point,
/// and for deviations that are negative or not finite; [`Error::TooLarge`](crate::Error::TooLarge)
/// for too many cameras or points; [`Error::Memory`](crate::Error::Memory) if the host lacks the
/// memory.
pub fn bundle_adjustment(scene: &Scene) -> Result<BundleAdjustment> {
    let (noise, error) = (deviation("the noise", scene.noise)?, deviation("the error of the start", scene.error)?);
    let random = &mut Random::new(scene.seed);
    let seen = visibility::pattern(scene.cameras, scene.points, scene.views, random)?;
    let ring = Ring::new(scene);
    let mut cameras = room(scene.cameras as u64, size_of::<Camera>() as u64)?;
    cameras.extend((0..scene.cameras).map(|number| ring.camera(number, random)));
    let mut points = room(scene.points as u64, 24)?;
    points.extend((0..scene.points).map(|point| ring.point(seen.column(point), random)));

    let mut observations = room(seen.nnz() as u64, size_of::<Observation>() as u64)?;
    for (point, place) in points.iter().enumerate() {
        for &camera in seen.column(point) {
            let place = cameras[camera as usize].sees(place) + normal::<2>(random, noise);
            observations.push(Observation { camera, point: point as u32, place: place.into() });
        }
    }
    let mut starts = room(scene.cameras as u64, 72)?;
    starts.extend(cameras.iter().map(|camera| camera.moved(random, error).parameters()));
    points.iter_mut().for_each(|point| *point += normal::<3>(random, error));
    Ok(BundleAdjustment { cameras: starts, points: points.into_iter().map(Into::into).collect(), observations })
}

/// The circle on which the cameras are, in the plane y = 0. If there are few cameras, they are on
/// an arc of the circle.
struct Ring {
    cameras: usize,
    radius: f64,
    /// The largest distance along the ring between cameras that may see the same point.
    window: f64,
}

impl Ring {
    fn new(scene: &Scene) -> Self {
        let window = scene.views.saturating_mul(2).min(scene.cameras) as f64;
        // The radius is so large that neighbouring cameras look in about the same direction, and
        // that points in front of the cameras, at a distance of twice the window, are well inside
        // the circle.
        let radius = (scene.cameras as f64 / TAU).max(8.0 * window).max(16.0);
        Self { cameras: scene.cameras, radius, window }
    }

    /// The angle of a camera, or of a position between two cameras, from -π to π.
    fn angle(&self, camera: f64) -> f64 {
        (camera - (self.cameras as f64 - 1.0) / 2.0) / self.radius
    }

    fn place(&self, radius: f64, height: f64, angle: f64) -> Vector3<f64> {
        let (sine, cosine) = libm::sincos(angle);
        Vector3::new(radius * sine, height, radius * cosine)
    }

    fn camera(&self, number: usize, random: &mut Random) -> Camera {
        let angle = self.angle(number as f64);
        Camera {
            turn: Vector3::new(0.0, -angle, 0.0) + normal::<3>(random, 0.02),
            centre: self.place(self.radius, 0.0, angle) + normal::<3>(random, 0.1),
            focal: 500.0 * (1.0 + random.unit()),
            distortion: [-0.1 * random.unit(), 0.02 * random.unit()],
        }
    }

    /// A point in front of the middle of the cameras that see it. `seen_by` is ascending.
    fn point(&self, seen_by: &[u32], random: &mut Random) -> Vector3<f64> {
        let ends = seen_by.first().zip(seen_by.last());
        let middle = ends.map_or(0.0, |(&first, &last)| (f64::from(first) + f64::from(last)) / 2.0);
        let beside = (random.unit() - 0.5) * self.window / 2.0;
        let depth = 2.0 + self.window * (1.0 + random.unit());
        let height = (random.unit() - 0.5) * depth / 2.0;
        self.place(self.radius - depth, height, self.angle(middle + beside))
    }
}

struct Camera {
    /// Rotation from world to camera, as angle times axis.
    turn: Vector3<f64>,
    centre: Vector3<f64>,
    focal: f64,
    distortion: [f64; 2],
}

impl Camera {
    /// Projects a point by the model of [`BundleAdjustment`].
    fn sees(&self, point: &Vector3<f64>) -> Vector2<f64> {
        place(&(turned(&self.turn) * (point - self.centre)), self.focal, self.distortion)
    }

    fn moved(&self, random: &mut Random, error: f64) -> Self {
        let fine = error / 100.0;
        Self {
            turn: self.turn + normal::<3>(random, fine),
            centre: self.centre + normal::<3>(random, error),
            focal: self.focal * (1.0 + random.normal() * fine),
            distortion: self.distortion.map(|k| k + random.normal() * fine),
        }
    }

    fn parameters(&self) -> [f64; 9] {
        let ([a, b, c], [k1, k2]) = (self.turn.into(), self.distortion);
        let [x, y, z] = (-(turned(&self.turn) * self.centre)).into();
        [a, b, c, x, y, z, self.focal, k1, k2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Error, generate};
    use nalgebra::Rotation3;

    /// The observed point in the coordinates of its camera, and the residual of the observation,
    /// computed only from the problem's numbers.
    fn residual(problem: &BundleAdjustment, of: &Observation) -> (Vector3<f64>, Vector2<f64>) {
        let [a, b, c, x, y, z, f, k1, k2] = problem.cameras[of.camera as usize];
        let point = Vector3::from(problem.points[of.point as usize]);
        let seen = Rotation3::new(Vector3::new(a, b, c)) * point + Vector3::new(x, y, z);
        let p = -seen.xy() / seen.z;
        let r = p.norm_squared();
        (seen, p * (f * (1.0 + k1 * r + k2 * r * r)) - Vector2::from(of.place))
    }

    fn deviation_of(numbers: impl Iterator<Item = f64>) -> f64 {
        let numbers: Vec<_> = numbers.collect();
        (numbers.iter().map(|number| number * number).sum::<f64>() / numbers.len() as f64).sqrt()
    }

    #[test]
    fn without_noise_and_error_it_is_the_truth_and_every_point_is_in_the_picture() {
        // The cases are one camera with one view, three cameras with three views of each point, and
        // whole rings of cameras.
        for (cameras, views) in [(1, 1), (3, 3), (40, 20), (500, 5)] {
            let scene = Scene { cameras, points: 300, views, noise: 0.0, error: 0.0, seed: 3 };
            let problem = bundle_adjustment(&scene).unwrap();
            assert_eq!((problem.cameras.len(), problem.observations.len()), (cameras, 300 * views));
            for observation in &problem.observations {
                let (seen, residual) = residual(&problem, observation);
                assert!(seen.z < -1.0 && (seen.xy() / seen.z).norm() < 1.0, "{scene:?}: {seen}");
                assert!(residual.norm() < 1e-9, "{scene:?}: {residual}");
            }
        }
    }

    #[test]
    fn noise_and_error_are_as_large_as_asked() {
        let truth = Scene { cameras: 60, points: 2000, noise: 0.0, error: 0.0, ..Default::default() };
        let (exact, noisy) = (bundle_adjustment(&truth).unwrap(), Scene { noise: 0.7, ..truth });
        let noisy = bundle_adjustment(&noisy).unwrap();
        assert_eq!((&noisy.cameras, &noisy.points), (&exact.cameras, &exact.points));
        let residuals = noisy.observations.iter().flat_map(|of| <[f64; 2]>::from(residual(&noisy, of).1));
        // The deviation of 20000 numbers is within 2 % for all but one in a hundred thousand seeds.
        assert!((deviation_of(residuals) / 0.7 - 1.0).abs() < 0.02);

        let off = bundle_adjustment(&Scene { error: 0.3, ..truth }).unwrap();
        assert_eq!(off.observations, exact.observations);
        let apart = |of: fn(&BundleAdjustment) -> Vec<f64>| {
            deviation_of(of(&off).into_iter().zip(of(&exact)).map(|(a, b)| a - b))
        };
        assert!((apart(|problem| problem.points.concat()) / 0.3 - 1.0).abs() < 0.05);
        let turns = apart(|problem| problem.cameras.iter().flat_map(|camera| camera[..3].to_vec()).collect());
        // The deviation is computed from only 180 numbers, so the tolerance is wide.
        assert!((turns / 0.003 - 1.0).abs() < 0.25, "{turns}");
    }

    #[test]
    fn the_pattern_is_that_of_the_matrix_of_the_same_seed() {
        let problem = bundle_adjustment(&Scene { cameras: 12, points: 50, views: 3, seed: 9, ..Default::default() });
        let w = generate::Visibility {
            cameras: 12,
            points: 50,
            views: 3,
            shape: BlockShape::SCALAR,
            seed: 9,
            ..Default::default()
        }
        .matrix()
        .unwrap();
        let (problem, pattern) = (problem.unwrap(), w.pattern());
        let places = (0..50).flat_map(|point| pattern.column(point).iter().map(move |&camera| (camera, point as u32)));
        assert!(problem.observations.iter().map(|of| (of.camera, of.point)).eq(places));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |scene: Scene| bundle_adjustment(&scene).unwrap_err();
        let few = Scene { cameras: 3, points: 4, views: 2, ..Default::default() };
        assert_eq!(refused(Scene { views: 4, ..few }).to_string(), "4 observations of each point by 3 cameras");
        assert_eq!(refused(Scene { noise: -1.0, ..few }).to_string(), "the noise is -1, not a number from 0");
        let error = refused(Scene { error: f64::NAN, ..few }).to_string();
        assert_eq!(error, "the error of the start is NaN, not a number from 0");
        assert!(matches!(refused(Scene { points: usize::MAX, ..few }), Error::TooLarge { .. }));
        let none = bundle_adjustment(&Scene { cameras: 0, points: 0, views: 0, ..few }).unwrap();
        assert_eq!(none, BundleAdjustment::default());
        assert_eq!(bundle_adjustment(&Scene { views: 0, ..few }).unwrap().points.len(), 4);
    }
}
