//! Half of a picture: lines and dots, drawn from far to near, and the window that selects the
//! visible part.
use super::canvas::{Canvas, Colour, mix};
use super::view::Seen;
use std::io;

/// Share of a window's side that stays empty at each edge.
const MARGIN: f64 = 0.05;

/// The colours of the marks that are nearest to and farthest from the viewer.
#[derive(Clone, Copy)]
pub struct Ink {
    pub near: Colour,
    pub far: Colour,
}

pub struct Line {
    pub ends: [Seen; 2],
    pub ink: Ink,
    /// Width in pixels.
    pub width: f64,
}

/// Marks of one kind. A layer is painted over the layers before it.
pub enum Layer {
    Lines(Vec<Line>),
    Dots { places: Vec<Seen>, ink: Ink, radius: f64 },
}

/// The part of the world that is shown: ranges to the right, upwards and towards the viewer.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    ranges: [[f64; 2]; 3],
}

/// How much of a set of places a window shows.
#[derive(Clone, Copy)]
pub enum Extent {
    /// All places.
    All,
    /// Nearly all places. The window leaves out places far from the rest.
    Most,
}

/// Two shares of a set that are cut off at each end of an axis. The window shows the range that
/// remains after cutting off the second share, extended on either side by half its length, but not
/// beyond the range that remains after cutting off the first share. A few points in a hundred may
/// be badly measured, and a thousand times as far away as the other points.
const TAILS: [f64; 2] = [0.005, 0.05];

impl Window {
    /// A window that shows these sets of places.
    pub fn around(sets: &[(&[Seen], Extent)]) -> Self {
        let range = |axis: usize| {
            let ranges = sets.iter().filter_map(|(places, extent)| range(places, axis, *extent));
            ranges.reduce(|[a, b], [c, d]| [a.min(c), b.max(d)]).unwrap_or([0.0; 2])
        };
        Self { ranges: [range(0), range(1), range(2)] }
    }

    /// The length of the window's longer side.
    pub fn side(&self) -> f64 {
        self.length(0).max(self.length(1))
    }

    /// The quotient of height and width.
    pub fn aspect(&self) -> f64 {
        if self.side() > 0.0 { self.length(1) / self.length(0) } else { 1.0 }
    }

    fn length(&self, axis: usize) -> f64 {
        self.ranges[axis][1] - self.ranges[axis][0]
    }

    fn middle(&self, axis: usize) -> f64 {
        (self.ranges[axis][0] + self.ranges[axis][1]) / 2.0
    }

    /// Depth as a number from 0 (nearest to the viewer) to 1 (farthest).
    fn farness(&self, depth: f64) -> f64 {
        if self.length(2) > 1e-9 * self.side() { (self.ranges[2][1] - depth) / self.length(2) } else { 0.0 }
    }
}

fn range(places: &[Seen], axis: usize, extent: Extent) -> Option<[f64; 2]> {
    let mut values: Vec<f64> = places.iter().map(|place| place[axis]).collect();
    let last = values.len().checked_sub(1)?;
    let mut between = |tail: f64| {
        let first = (tail * last as f64) as usize;
        [first, last - first].map(|nth| *values.select_nth_unstable_by(nth, f64::total_cmp).1)
    };
    Some(match extent {
        Extent::All => between(0.0),
        Extent::Most => {
            let [outer, inner] = TAILS.map(&mut between);
            let more = (inner[1] - inner[0]) / 2.0;
            [outer[0].max(inner[0] - more), outer[1].min(inner[1] + more)]
        }
    })
}

/// Paints `layers` as seen through `window`, with the same scale on both axes.
pub fn paint(mut layers: Vec<Layer>, window: &Window, width: u32, height: u32) -> io::Result<Canvas> {
    let mut canvas = Canvas::new(width, height)?;
    let (wide, high) = (f64::from(width), f64::from(height));
    // A single point has no extent and is put in the middle.
    let scale = (wide * (1.0 - 2.0 * MARGIN) / window.length(0)).min(high * (1.0 - 2.0 * MARGIN) / window.length(1));
    let scale = if scale.is_finite() { scale } else { 1.0 };
    let onto = |[right, up, _]: Seen| {
        [wide / 2.0 + (right - window.middle(0)) * scale, high / 2.0 - (up - window.middle(1)) * scale]
    };
    let colour = |ink: Ink, depth: f64| mix(ink.near, ink.far, window.farness(depth));
    for layer in &mut layers {
        match layer {
            Layer::Lines(lines) => {
                let depth = |line: &Line| (line.ends[0][2] + line.ends[1][2]) / 2.0;
                lines.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
                for line in lines {
                    canvas.line(line.ends.map(onto), line.width, colour(line.ink, depth(line)));
                }
            }
            Layer::Dots { places, ink, radius } => {
                places.sort_unstable_by(|a, b| a[2].total_cmp(&b[2]));
                for &place in &*places {
                    canvas.dot(onto(place), *radius, colour(*ink, place[2]));
                }
            }
        }
    }
    Ok(canvas)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Ink = Ink { near: [0; 3], far: [200; 3] };

    #[test]
    fn a_window_shows_most() {
        let mut places: Vec<Seen> = (0..=1000).map(|i| [f64::from(i), f64::from(i % 2), 0.0]).collect();
        assert_eq!(Window::around(&[(&places, Extent::All)]).ranges, [[0.0, 1000.0], [0.0, 1.0], [0.0, 0.0]]);
        // The lowest and the highest 0.5 % of the coordinates are cut off.
        assert_eq!(Window::around(&[(&places, Extent::Most)]).ranges[0], [5.0, 995.0]);
        // Without 5 % at each end the range is 50 to 950. On the side of the far points it is
        // extended by 450.
        places.iter_mut().take(20).for_each(|place| place[0] = 1e9);
        let [low, high] = Window::around(&[(&places, Extent::Most)]).ranges[0];
        assert!(low == 25.0 && (1390.0..1450.0).contains(&high), "{low} {high}");
        let both =
            Window::around(&[(&[[-3.0, 0.0, 0.0]], Extent::Most), (&[], Extent::All), (&[[4.0; 3]], Extent::All)]);
        assert_eq!(both.ranges, [[-3.0, 4.0], [0.0, 4.0], [0.0, 4.0]]);
        assert_eq!(Window::around(&[]).ranges, [[0.0; 2]; 3]);
    }

    #[test]
    fn both_axes_are_scaled_alike() {
        let corners = [[0.0, 0.0, 0.0], [10.0, 30.0, 0.0]];
        let window = Window::around(&[(&corners, Extent::All)]);
        assert_eq!((window.side(), window.aspect()), (30.0, 3.0));
        let dots = Layer::Dots { places: corners.to_vec(), ink: BLACK, radius: 2.0 };
        let canvas = paint(vec![dots], &window, 200, 100).unwrap();
        // A line of 30 units takes 90 pixels, from 5 to 95; so 10 units take 30 pixels, from 85 to
        // 115.
        assert_eq!((canvas.pixel(85, 94), canvas.pixel(114, 5)), ([0; 3], [0; 3]));
        assert!(canvas.ink() < 27.0);
    }

    #[test]
    fn the_near_is_painted_over_the_far_and_is_darker() {
        let line = |up: f64, depth| Line { ends: [[-1.0, -up, depth], [1.0, up, depth]], ink: BLACK, width: 10.0 };
        let window = Window::around(&[(&[[-1.0, -1.0, 0.0], [1.0, 1.0, 5.0]], Extent::All)]);
        for lines in [[(0.5, 5.0), (-0.5, 0.0)], [(-0.5, 0.0), (0.5, 5.0)]] {
            let lines = lines.map(|(up, depth)| line(up, depth)).into();
            let canvas = paint(vec![Layer::Lines(lines)], &window, 100, 100).unwrap();
            assert_eq!((canvas.pixel(50, 50), canvas.pixel(80, 36), canvas.pixel(80, 64)), ([0; 3], [0; 3], [200; 3]));
        }
        let dots = |depth| Layer::Dots { places: vec![[0.0, 0.0, depth]], ink: BLACK, radius: 9.0 };
        let canvas = paint(vec![dots(5.0), dots(0.0)], &window, 100, 100).unwrap();
        assert_eq!(canvas.pixel(50, 50), [200; 3], "layers are in the order that they are given in");
    }
}
