//! Views of scenes: parallel projections chosen by the spread of the points.
use super::cloud::DrawnCamera;
use nalgebra::{Matrix3, Rotation3, Unit, Vector3};

/// A point in view coordinates: to the right, up, towards the viewer.
pub type Seen = [f64; 3];

/// Coordinates above this number count as infinite, because the squares of coordinates must be
/// finite.
const FARTHEST: f64 = 1e100;
/// A scene is flat if its smallest standard deviation along an axis is at most this share of the
/// largest.
const FLAT: f64 = 1e-6;
/// The principal axis with the least deviation points up if its deviation is less than this share
/// of the deviation along the next axis.
const LOW: f64 = 0.5;
/// The angle by which the viewer is beside the widest direction of a scene, so that the rear stays
/// visible.
const ASIDE: f64 = 0.5;
/// The angle by which the viewer is above the widest direction of a scene, so that heights are
/// visible.
const ABOVE: f64 = 0.55;
/// The viewer's angle above cameras and the points they see.
const ABOVE_CAMERAS: f64 = 0.7;

/// A rotation whose rows point to the right, up, and to the viewer.
pub struct View {
    axes: Matrix3<f64>,
}

impl View {
    /// The view of a path. Flat scenes are seen from the front, so a scene in the plane z = 0 looks
    /// like a map. Other scenes are seen from above and from the side.
    pub fn of_path(places: &[[f64; 3]]) -> Self {
        let Spread { axes: [wide, middle, least], deviations } = Spread::new(places);
        if deviations[2] <= FLAT * deviations[0] {
            let map = deviations[0] == 0.0 || least.z.abs() > 1.0 - FLAT;
            let [right, up] = if map { [Vector3::x(), Vector3::y()] } else { [wide, middle] };
            return Self::new(right, up);
        }
        let up = if deviations[2] < LOW * deviations[1] { least } else { Vector3::z() };
        let turned = Rotation3::from_axis_angle(&Unit::new_normalize(up), ASIDE) * across(&up, &wide);
        Self::from_above(&turned, &up, ABOVE)
    }

    /// The view of a cloud, from behind the cameras and above them.
    pub fn of_cloud(cameras: &[DrawnCamera]) -> Self {
        let sum = |direction: fn(&DrawnCamera) -> [f64; 3]| {
            let there = cameras.iter().filter(|camera| drawable(&camera.centre));
            let ways = there.map(direction).filter(drawable);
            ways.filter_map(|way| Vector3::from(way).try_normalize(1e-12)).sum()
        };
        let up: Vector3<f64> = sum(|camera| camera.up);
        let ahead: Vector3<f64> = sum(|camera| camera.direction);
        let up = up.try_normalize(1e-6).unwrap_or_else(Vector3::y);
        Self::from_above(&across(&up, &ahead.cross(&up)), &up, ABOVE_CAMERAS)
    }

    pub fn project(&self, place: &[f64; 3]) -> Option<Seen> {
        drawable(place).then(|| (self.axes * Vector3::from(*place)).into())
    }

    fn new(right: Vector3<f64>, up: Vector3<f64>) -> Self {
        Self { axes: Matrix3::from_rows(&[right.transpose(), up.transpose(), right.cross(&up).transpose()]) }
    }

    /// A view with perpendicular `right` and `up`, with the viewer raised by an angle.
    fn from_above(right: &Vector3<f64>, up: &Vector3<f64>, raised: f64) -> Self {
        let tilt = Rotation3::from_axis_angle(&Unit::new_normalize(*right), -raised);
        Self::new(*right, tilt * up)
    }
}

fn drawable(place: &[f64; 3]) -> bool {
    place.iter().all(|coordinate| coordinate.abs() < FARTHEST)
}

/// The unit vector perpendicular to `up` that is nearest to `wish`, or any perpendicular unit
/// vector if no vector is nearest.
fn across(up: &Vector3<f64>, wish: &Vector3<f64>) -> Vector3<f64> {
    let wishes = [*wish, Vector3::x(), Vector3::y()];
    let ways = wishes.iter().filter_map(|wish| (wish - up * up.dot(wish)).try_normalize(1e-6));
    ways.take(1).sum()
}

/// The principal axes of a set of points, the widest first. The largest component of each axis is
/// positive.
struct Spread {
    axes: [Vector3<f64>; 3],
    deviations: [f64; 3],
}

impl Spread {
    fn new(places: &[[f64; 3]]) -> Self {
        let places: Vec<_> = places.iter().filter(|place| drawable(place)).map(|&place| Vector3::from(place)).collect();
        let count = places.len().max(1) as f64;
        let mean = places.iter().sum::<Vector3<f64>>() / count;
        let covariance = places.iter().map(|place| (place - mean) * (place - mean).transpose()).sum::<Matrix3<f64>>();
        let eigen = (covariance / count).symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        Self {
            axes: order.map(|axis| {
                let axis = eigen.eigenvectors.column(axis).into_owned();
                axis * axis[axis.iamax()].signum()
            }),
            deviations: order.map(|axis| eigen.eigenvalues[axis].max(0.0).sqrt()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looking(direction: [f64; 3], up: [f64; 3]) -> DrawnCamera {
        DrawnCamera { centre: [0.0; 3], direction, up }
    }

    fn is_rotation(view: &View) -> bool {
        let axes = view.axes;
        (axes * axes.transpose() - Matrix3::identity()).norm() < 1e-9 && (axes.determinant() - 1.0).abs() < 1e-9
    }

    #[test]
    fn what_lies_in_the_plane_is_a_map() {
        let view = View::of_path(&[[0.0, 0.0, 0.0], [0.0, 9.0, 0.0], [1.0, 5.0, 0.0]]);
        assert_eq!(view.project(&[1.0, 2.0, 0.0]), Some([1.0, 2.0, 0.0]));
        // A vertical wall is seen from the front.
        let wall: Vec<_> = (0..20).map(|i| [f64::from(i % 5), 7.0, f64::from(i * i)]).collect();
        let view = View::of_path(&wall);
        let depths: Vec<_> = wall.iter().map(|place| view.project(place).unwrap()[2]).collect();
        assert!(is_rotation(&view) && depths.iter().all(|depth| (depth - depths[0]).abs() < 1e-9), "{depths:?}");
    }

    #[test]
    fn what_has_a_volume_is_seen_from_above() {
        let ball: Vec<_> = (0..500).map(f64::from).map(|i| [i.sin(), (i * 0.7).cos(), (i * 0.3).sin()]).collect();
        // The points are a floor of several rooms. The axis of the floor's thickness points up,
        // whatever axis of the file it is.
        let floor: Vec<_> = ball.iter().map(|[x, y, z]| [30.0 * x, 0.5 * y, 20.0 * z]).collect();
        for (places, up) in [(ball, [0.0, 0.0, 1.0]), (floor, [0.0, 1.0, 0.0])] {
            let view = View::of_path(&places);
            let [right, high, near] = view.project(&up).unwrap();
            assert!(is_rotation(&view) && right.abs() < 0.1 && high > 0.7 && near > 0.4, "{:?}", view.axes);
        }
    }

    #[test]
    fn clouds_are_seen_from_behind_the_cameras() {
        let cameras = [looking([1.0, 0.1, 0.0], [0.0, 0.0, -2.0]), looking([3.0, -0.3, 0.1], [0.0, 0.0, -1.0])];
        let view = View::of_cloud(&cameras);
        let [right, high, near] = view.project(&[1.0, 0.0, 0.0]).unwrap();
        assert!(is_rotation(&view) && right.abs() < 0.05 && high > 0.3 && near < -0.3, "ahead is far: {:?}", view.axes);
        let [_, high, near] = view.project(&[0.0, 0.0, -1.0]).unwrap();
        assert!(high > 0.3 && near > 0.3, "above is high: {:?}", view.axes);
        // For a viewer on the x axis with -z upwards, y is to the right.
        assert!(view.project(&[0.0, 1.0, 0.0]).unwrap()[0] > 0.9);
    }

    #[test]
    fn there_is_a_view_of_anything() {
        let nan = f64::NAN;
        let paths: [&[[f64; 3]]; 7] = [
            &[],
            &[[nan; 3], [f64::MAX; 3]],
            &[[5.0; 3]],
            &[[0.0; 3], [1.0, 0.0, 0.0]],
            &[[0.0; 3], [0.0, 0.0, 1e99], [1e99, 2e98, 0.0], [0.0, 1e99, 0.0]],
            &[[0.0; 3], [1e-300; 3]],
            &[[0.0; 3], [0.0, 0.0, 1.0], [0.0, 0.0, 2.0]],
        ];
        assert!(paths.iter().all(|path| is_rotation(&View::of_path(path))));
        let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let clouds: [&[DrawnCamera]; 6] = [
            &[],
            &[looking([nan; 3], [nan; 3])],
            &[looking([f64::INFINITY; 3], [f64::MAX; 3])],
            &[looking([0.0; 3], [0.0; 3])],
            &[looking(x, z), looking(y, z), looking([-1.0, -1.0, 0.0], z)],
            &[looking(z, z), looking(x, y), looking(x, [0.0, -1.0, 0.0])],
        ];
        assert!(clouds.iter().all(|cameras| is_rotation(&View::of_cloud(cameras))));
        assert_eq!(View::of_path(&[]).project(&[0.0, nan, 0.0]), None);
        assert_eq!(View::of_path(&[]).project(&[0.0, f64::NEG_INFINITY, 0.0]), None);
    }
}
