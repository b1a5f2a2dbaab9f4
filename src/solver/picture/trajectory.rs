//! Draws paths of poses, before and after a problem was solved.
use super::panel::{Extent, Layer, Line, Window};
use super::view::View;
use super::{Style, half, project, render};
use std::io;

/// Poses in the order of the path, loop closures between them, and landmarks. In the plane all z
/// are 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    pub path: Vec<[f64; 3]>,
    /// Pairs of indices into the path.
    pub closures: Vec<(u32, u32)>,
    pub landmarks: Vec<[f64; 3]>,
}

/// Draws a PNG file, `size` pixels wide. The path before solving is thin and grey, the path after
/// solving blue. Closures are lighter than paths, and landmarks are orange. Each half is fitted to
/// its own data; both halves use the view that is chosen for the path after solving. Numbers that
/// are not finite are left out.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if the size is less than 3 or more than
/// [`LARGEST`](super::LARGEST).
pub fn trajectory(before: &Scene, after: &Scene, size: u32) -> io::Result<Vec<u8>> {
    let half = half(size)?;
    let view = View::of_path(&after.path);
    let before = path_layers(before, &view, &Style::before(half));
    let after = path_layers(after, &view, &Style::after(half));
    render([before, after], size, "a trajectory before and after it was solved")
}

fn path_layers(scene: &Scene, view: &View, style: &Style) -> (Vec<Layer>, Window) {
    let path: Vec<_> = scene.path.iter().map(|place| view.project(place)).collect();
    let line = |from: usize, to: usize, ink, width| {
        let ends = [*path.get(from)?, *path.get(to)?];
        let [Some(from), Some(to)] = ends else { return None };
        Some(Line { ends: [from, to], ink, width })
    };
    let closures = scene.closures.iter();
    let closures = closures.filter_map(|&(a, b)| line(a as usize, b as usize, style.closures, 0.6 * style.width));
    let steps = (1..path.len()).filter_map(|to| line(to - 1, to, style.path, style.width));
    // If a closure and a step are equally far from the viewer, the step is painted over the
    // closure.
    let lines = closures.chain(steps).collect();
    let landmarks = project(view, &scene.landmarks);
    let poses: Vec<_> = path.iter().copied().flatten().collect();
    let window = Window::around(&[(&poses, Extent::All), (&landmarks, Extent::Most)]);
    // A path of one pose has no line, so its pose is drawn.
    let poses = if path.len() == 1 { poses } else { vec![] };
    let layers = vec![
        Layer::Lines(lines),
        Layer::Dots { places: poses, ink: style.path, radius: 2.0 * style.width },
        Layer::Dots { places: landmarks, ink: style.marks, radius: 1.5 * style.width },
    ];
    (layers, window)
}

#[cfg(test)]
mod tests {
    use super::super::{BLUE, GREY, LARGEST, ORANGE, RULE, WHITE, image::Image};
    use super::*;

    /// A scene twice as wide as high.
    fn rectangle() -> Scene {
        let path = vec![[0.0, 0.0, 0.0], [8.0, 0.0, 0.0], [8.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
        Scene { path, closures: vec![(0, 2)], landmarks: vec![[4.0, 3.0, 0.0]] }
    }

    #[test]
    fn halves_have_their_colours() {
        let image = Image::decode(trajectory(&rectangle(), &rectangle(), 2001));
        assert_eq!((image.width, image.height), (2001, 500));
        let (grey, blue, orange) = (image.count(GREY), image.count(BLUE), image.count(ORANGE));
        assert!((1800..4500).contains(&grey[0]) && grey[1] == 0, "{grey:?}");
        assert!((4500..8000).contains(&blue[1]) && blue[0] == 0, "{blue:?}");
        assert!((30..80).contains(&orange[1]) && orange[0] == 0, "one landmark: {orange:?}");
        assert_eq!(image.count(RULE).iter().sum::<usize>(), 500, "a line from top to bottom");
        // With equal scales on both axes the rectangle is in the middle, 900 pixels wide and 450
        // high.
        let at = |x: usize, y: usize| image.pixels[y * 2001 + 1001 + x];
        assert_eq!((at(50, 300), at(500, 475), at(500, 24), at(950, 300)), (WHITE, BLUE, BLUE, BLUE));
        assert_eq!((at(500, 470), at(500, 30), at(945, 300), at(956, 300)), (WHITE, WHITE, WHITE, WHITE));
    }

    #[test]
    fn closures_are_lighter_and_those_of_no_pose_are_left_out() {
        let closed = Image::decode(trajectory(&rectangle(), &rectangle(), 801));
        let mut open = rectangle();
        open.closures = vec![(0, 4), (u32::MAX, 1)];
        let open = Image::decode(trajectory(&open, &open, 801));
        let on_white =
            closed.pixels.iter().zip(&open.pixels).filter(|(closed, open)| closed != open && **open == WHITE);
        let closure: Vec<_> = on_white.map(|(&closed, _)| closed).collect();
        assert!(closure.len() > 2 * 340, "nearly as long as two rectangles are wide: {}", closure.len());
        assert!(closure.iter().all(|colour| colour[0] > 0xa0), "as light as white and three tenths of blue at most");
    }

    #[test]
    fn sizes_of_no_picture_are_refused() {
        for size in [0, 1, 2, LARGEST + 1, u32::MAX] {
            let refused = trajectory(&rectangle(), &rectangle(), size).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{size}: {refused}");
        }
        for size in [3, 4, 17, 64] {
            assert_eq!(Image::decode(trajectory(&rectangle(), &rectangle(), size)).width, size);
        }
    }

    #[test]
    fn what_is_nowhere_is_left_out() {
        let empty = Image::decode(trajectory(&Scene::default(), &Scene::default(), 100));
        assert!(empty.is_blank() && (empty.width, empty.height) == (100, 49));
        let whole = Image::decode(trajectory(&rectangle(), &rectangle(), 801));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            let mut scene = rectangle();
            scene.path.extend([[bad; 3], [0.0, bad, 0.0]]);
            scene.landmarks.push([0.0, 0.0, bad]);
            scene.closures.push((0, 4));
            assert!(Image::decode(trajectory(&scene, &scene, 801)).pixels == whole.pixels, "{bad}");
        }
    }

    #[test]
    fn scenes_without_extent_are_in_the_middle() {
        let one = Scene { path: vec![[1e9, -3.0, 2.0]], ..Scene::default() };
        assert_eq!(Image::decode(trajectory(&one, &one, 401)).pixels[100 * 401 + 301], BLUE);
        // All places are equal, or they are on a line whose length is nearly 0 or nearly the
        // largest possible.
        for length in [0.0, 5e-324, 1e-300, 1e-9, 2e99] {
            let path = (0..5).map(|i| [7.0, 7.0, f64::from(i) * length / 4.0]).collect::<Vec<_>>();
            let scene = Scene { landmarks: path.clone(), path, closures: vec![(0, 3)] };
            let image = Image::decode(trajectory(&scene, &scene, 401));
            assert!(image.pixels[image.height as usize / 2 * 401 + 301] != WHITE, "{length}");
        }
    }
}
