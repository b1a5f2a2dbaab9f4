//! Coordinates relative to a local origin. If the scene is far from the origin, as in UTM or ECEF
//! coordinates, a small rotation of a camera about the origin is almost the same as a translation,
//! and a solver cannot distinguish the two.
use super::{BundleAdjustment, Camera, Observation};
use nalgebra::Vector3;

/// An origin is far if its distance from the middle of the scene is more than this many times the
/// radius that contains three quarters of the points and cameras with observations. The condition
/// number of the normal equations grows with the square of the ratio of that distance to that
/// radius.
const FAR: f64 = 100.0;

impl BundleAdjustment {
    /// A place in the middle of the points and cameras with observations, if the origin of the
    /// coordinates is far from this place. Coordinates relative to a [near
    /// origin](BundleAdjustment::about) make a problem better conditioned.
    ///
    /// ```
    /// use blockmul::solver::problem::bal;
    /// let camera = "0 0 0  -500000 -5400000 200  50 0 0";
    /// let points = "500001 5400000 -202  500001 5400000.2 -202";
    /// let text = format!("1 2 2\n0 0 25 0\n0 1 25 5\n{camera}\n{points}\n");
    /// let problem = bal::read_from(text.as_bytes(), "far.txt")?;
    /// let origin = problem.far_origin().unwrap();
    /// let near = problem.about(origin);
    /// assert_eq!((near.far_origin(), near.points[0][0]), (None, 500_001.0 - origin[0]));
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    pub fn far_origin(&self) -> Option<[f64; 3]> {
        let observed = |count: usize, of: fn(&Observation) -> u32| {
            let mut is_observed = vec![false; count];
            for seen in &self.observations {
                if let Some(is_observed) = is_observed.get_mut(of(seen) as usize) {
                    *is_observed = true;
                }
            }
            is_observed
        };
        let cameras = self.cameras.iter().zip(observed(self.cameras.len(), |seen| seen.camera));
        let centres = cameras.filter(|(_, seen)| *seen).map(|(camera, _)| Camera::new(camera).centre());
        let points = self.points.iter().zip(observed(self.points.len(), |seen| seen.point));
        let places: Vec<[f64; 3]> = centres.chain(points.filter(|(_, seen)| *seen).map(|(point, _)| *point)).collect();
        let middle: [f64; 3] = std::array::from_fn(|axis| quantile(1, 2, places.iter().map(|place| place[axis])));
        let from = |place: &[f64; 3]| (Vector3::from(*place) - Vector3::from(middle)).norm();
        let (distance, spread) = (Vector3::from(middle).norm(), quantile(3, 4, places.iter().map(from)));
        if !distance.is_finite() || !spread.is_normal() || distance <= FAR * spread {
            return None;
        }
        // The origin is a multiple of a power of two, so the differences between it and most
        // coordinates are exact.
        let grid = spread.log2().floor().exp2();
        Some(middle.map(|x| (x / grid).round() * grid))
    }

    /// The problem in coordinates whose origin is at `origin`: a point X becomes X - origin, and a
    /// translation t of a camera becomes t + R·origin. Cameras see the points at the same places as
    /// before.
    pub fn about(mut self, origin: [f64; 3]) -> Self {
        let by = Vector3::from(origin);
        for camera in &mut self.cameras {
            let moved = Camera::new(camera).translation_about(&by);
            camera[3..6].copy_from_slice(moved.as_slice());
        }
        for point in &mut self.points {
            *point = (Vector3::from(*point) - by).into();
        }
        self
    }
}

/// The number below which a share `part`/`of` of the numbers lies, or NaN if there are no numbers.
fn quantile(part: usize, of: usize, numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    let place = numbers.len() * part / of;
    match numbers.is_empty() {
        true => f64::NAN,
        false => *numbers.select_nth_unstable_by(place, f64::total_cmp).1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Result,
        generate::problem::{Scene, bundle_adjustment},
        solver::problem::{BundleProblem, LeastSquares, Loss},
    };

    fn cost(adjustment: &BundleAdjustment) -> Result<f64> {
        let problem = BundleProblem::new(adjustment.clone(), Loss::Squared)?;
        Ok(problem.cost(&problem.start()))
    }

    #[test]
    fn a_scene_seen_from_far_is_brought_near_and_back() -> Result<()> {
        let scene = bundle_adjustment(&Scene { cameras: 6, points: 50, views: 3, ..Scene::default() })?;
        assert_eq!(scene.far_origin(), None);
        for place in [[5e5, 5.4e6, 200.0], [0.0, 0.0, -4e4], [-6.37e6, 3.0, 1e3]] {
            let far = scene.clone().about(place.map(|x: f64| -x));
            let origin = far.far_origin().unwrap();
            assert!((Vector3::from(origin) - Vector3::from(place)).norm() < 50.0, "{origin:?}");
            let near = far.clone().about(origin);
            assert_eq!(near.far_origin(), None);
            // Coordinates of 5e6 are rounded to multiples of 1e-9, which moves places in pictures
            // by less than 1e-6 pixels.
            let want = cost(&scene)?;
            assert!((cost(&near)? - want).abs() < 1e-6 * want && (cost(&far)? - want).abs() < 1e-6 * want);
            let back = near.about(origin.map(|x| -x));
            assert_eq!(back.points, far.points);
        }
        Ok(())
    }

    #[test]
    fn what_nobody_sees_does_not_count() -> Result<()> {
        let scene = bundle_adjustment(&Scene { cameras: 6, points: 50, views: 3, ..Scene::default() })?;
        let mut far = scene.about([-5e5, 0.0, 0.0]);
        let origin = far.far_origin();
        assert!(origin.is_some());
        far.points.extend([[0.0; 3]; 200]);
        far.cameras.extend([[0.0; 9]; 20]);
        assert_eq!(far.far_origin(), origin);
        Ok(())
    }

    #[test]
    fn nothing_has_no_origin() {
        assert_eq!(BundleAdjustment::default().far_origin(), None);
        let mut one =
            BundleAdjustment { cameras: vec![[0.0; 9]], points: vec![[1.0, 0.0, -2.0]], ..Default::default() };
        assert_eq!(one.far_origin(), None);
        one.points[0] = [f64::MAX; 3];
        assert_eq!(one.far_origin(), None);
    }
}
