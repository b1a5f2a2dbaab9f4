//! Draws points and the cameras that see them, before and after a problem was solved.
use super::panel::{Extent, Layer, Line, Window};
use super::view::View;
use super::{Style, half, project, render};
use crate::solver::problem;
use std::io;

/// The cameras and points of a bundle adjustment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cloud {
    pub points: Vec<[f64; 3]>,
    pub cameras: Vec<DrawnCamera>,
}

/// Position, viewing direction and upward direction of a camera. The directions may have any
/// length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawnCamera {
    pub centre: [f64; 3],
    pub direction: [f64; 3],
    pub up: [f64; 3],
}

impl DrawnCamera {
    /// Makes a camera from the nine numbers of BAL.
    pub fn of_bal(numbers: &[f64; 9]) -> Self {
        let camera = problem::Camera::new(numbers);
        Self { centre: camera.centre(), direction: camera.direction(), up: camera.up() }
    }
}

/// Turns a camera round if most of its observed points are behind it. In a BAL file such a camera
/// has a negative focal length, so it looks along +z instead of -z.
pub fn face<'a>(cameras: &mut [DrawnCamera], seen: impl Iterator<Item = (usize, &'a [f64; 3])>) {
    let mut ahead = vec![0_i64; cameras.len()];
    for (number, point) in seen {
        let DrawnCamera { centre, direction, .. } = cameras[number];
        let depth: f64 = (0..3).map(|axis| (point[axis] - centre[axis]) * direction[axis]).sum();
        ahead[number] += if depth < 0.0 { -1 } else { 1 };
    }
    for (camera, _) in cameras.iter_mut().zip(ahead).filter(|&(_, ahead)| ahead < 0) {
        camera.direction = camera.direction.map(|x| -x);
    }
}

/// Length of the line that shows a camera's direction, relative to the side of the window.
const SIGHT: f64 = 0.03;

/// Draws a PNG file, `size` pixels wide. Points that are farther from the viewer are lighter.
/// Cameras are orange, each with a line in its viewing direction. Both halves show the part of the
/// world that contains most points after solving, seen from behind and above most cameras. Numbers
/// that are not finite are left out.
///
/// # Errors
/// The errors of [`trajectory`](super::trajectory).
pub fn cloud(before: &Cloud, after: &Cloud, size: u32) -> io::Result<Vec<u8>> {
    let half = half(size)?;
    let view = View::of_cloud(&after.cameras);
    let points = project(&view, &after.points);
    let centres = project(&view, &after.cameras.iter().map(|camera| camera.centre).collect::<Vec<_>>());
    let window = Window::around(&[(&points, Extent::Most), (&centres, Extent::Most)]);
    let before = cloud_layers(before, &view, &window, &Style::before(half));
    let after = cloud_layers(after, &view, &window, &Style::after(half));
    render(
        [(before, window.clone()), (after, window)],
        size,
        "points and cameras before and after they were solved for",
    )
}

fn cloud_layers(cloud: &Cloud, view: &View, window: &Window, style: &Style) -> Vec<Layer> {
    let points = project(view, &cloud.points);
    let sight = |camera: &DrawnCamera| {
        let from = view.project(&camera.centre)?;
        let way = view.project(&camera.direction)?;
        let length = SIGHT * window.side() / way.iter().map(|x| x * x).sum::<f64>().sqrt();
        let to = std::array::from_fn(|axis| from[axis] + way[axis] * if length.is_finite() { length } else { 0.0 });
        Some(Line { ends: [from, to], ink: style.marks, width: style.width })
    };
    let sights: Vec<_> = cloud.cameras.iter().filter_map(sight).collect();
    let centres = sights.iter().map(|line| line.ends[0]).collect();
    vec![
        Layer::Dots { places: points, ink: style.points, radius: 0.6 * style.width },
        Layer::Lines(sights),
        Layer::Dots { places: centres, ink: style.marks, radius: 1.5 * style.width },
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{ORANGE, WHITE, image::Image};
    use super::*;

    #[test]
    fn what_is_nowhere_is_left_out() {
        let none = Cloud::default();
        assert!(Image::decode(cloud(&none, &none, 100)).is_blank());
        let one = Cloud { points: vec![[3.0, 4.0, 5.0]], cameras: vec![] };
        let image = Image::decode(cloud(&none, &one, 401));
        assert!(image.pixels[100 * 401 + 301] != WHITE, "a lone point is in the middle");
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            let lost = DrawnCamera::of_bal(&[bad; 9]);
            let blind = DrawnCamera { centre: [0.0; 3], direction: [bad; 3], up: [bad; 3] };
            let nowhere = Cloud { points: vec![[bad; 3], [0.0, bad, 0.0]], cameras: vec![lost, blind] };
            assert!(Image::decode(cloud(&nowhere, &nowhere, 100)).is_blank(), "{bad}");
            let mut with_one = Cloud { cameras: vec![lost], ..nowhere };
            with_one.points.push([3.0, 4.0, 5.0]);
            assert!(Image::decode(cloud(&none, &with_one, 401)).pixels == image.pixels, "{bad}");
        }
        let sightless = DrawnCamera { centre: [1.0; 3], direction: [0.0; 3], up: [0.0; 3] };
        let sightless = Cloud { points: vec![], cameras: vec![sightless] };
        assert!(Image::decode(cloud(&sightless, &sightless, 2001)).count(ORANGE)[1] > 20, "its centre is seen");
    }

    #[test]
    fn cameras_are_where_bal_has_them() {
        // The camera is turned by a quarter around y. The camera looks along its own -z, which is
        // +x in the world.
        let camera = DrawnCamera::of_bal(&[0.0, std::f64::consts::FRAC_PI_2, 0.0, 1.0, 2.0, 3.0, 500.0, 0.0, 0.0]);
        let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|i| (a[i] - b[i]).abs() < 1e-12);
        assert!(near(camera.direction, [1.0, 0.0, 0.0]), "{camera:?}");
        assert!(near(camera.up, [0.0, 1.0, 0.0]) && near(camera.centre, [3.0, -2.0, -1.0]), "{camera:?}");
    }

    #[test]
    fn cameras_look_at_what_they_see() {
        let camera = DrawnCamera::of_bal(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -500.0, 0.0, 0.0]);
        assert_eq!(camera.direction, [0.0, 0.0, -1.0]);
        let mut cameras = [camera; 3];
        let seen = [(0, [0.0, 0.0, 4.0]), (0, [1.0, 0.0, -1.0]), (0, [0.0, 2.0, 5.0]), (1, [0.0, 0.0, -4.0])];
        face(&mut cameras, seen.iter().map(|(camera, point)| (*camera, point)));
        assert_eq!(cameras.map(|camera| camera.direction[2]), [1.0, -1.0, -1.0]);
    }

    #[test]
    fn points_far_off_do_not_shrink_a_cloud() {
        let mut points: Vec<_> =
            (0..1000).map(|i| [f64::from(i % 10), f64::from(i / 10 % 10), -f64::from(i / 100)]).collect();
        let cameras = vec![DrawnCamera::of_bal(&[0.0, 0.0, 0.0, -5.0, -5.0, -20.0, 500.0, 0.0, 0.0])];
        let height = |points: &Vec<[f64; 3]>| {
            let cloud_of = Cloud { points: points.clone(), cameras: cameras.clone() };
            let image = Image::decode(cloud(&cloud_of, &cloud_of, 1601));
            assert!(image.count(ORANGE)[1] > 20 && image.count(ORANGE)[0] == 0);
            image.pixels.chunks(1601).filter(|row| row[802..].iter().any(|&pixel| pixel != WHITE)).count()
        };
        let alone = height(&points);
        points.extend((0..20).map(|i| [1e4 * f64::from(i % 3 - 1), 1e5, -1e5]));
        assert!(alone > 250 && height(&points) > alone / 2, "{alone}, {}", height(&points));
    }
}
