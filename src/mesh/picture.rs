//! [`Mesh::draw`], an orthographic view with flat shading.
use super::{Colour, Mesh, check_colours};
use crate::{Error, Result, host::memory};
use nalgebra::Vector3;

/// The view of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Rotation around the z axis, in degrees.
    pub turn: f64,
    /// Angle of the view below the horizon, in degrees.
    pub tilt: f64,
    /// Number of pixels of the longer side.
    pub size: u32,
}

/// A picture of a mesh on a white background.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeshPicture {
    /// Number of pixels from left to right.
    pub width: u32,
    /// Number of pixels from top to bottom.
    pub height: u32,
    /// Red, green and blue of each pixel, row by row.
    pub pixels: Vec<u8>,
}

/// The number of samples of a pixel in each direction. The pixel is the mean of its samples.
const SAMPLES: usize = 2;
/// Width of the white margin around the mesh, as a share of its size.
const MARGIN: f64 = 0.03;
/// Brightness of a surface that faces away from the light.
const AMBIENT: f64 = 0.35;

/// The colour of a patch. Patches with neighbouring numbers have hues that are far apart. Vertices
/// that belong to no patch are grey.
pub fn patch_colour(label: u32) -> Colour {
    if label == u32::MAX {
        return [150; 3];
    }
    let turns = f64::from(label) * 0.618_033_988_749_895;
    let (saturation, value) = (0.45 + 0.15 * f64::from(label % 3), 0.95 - 0.12 * f64::from(label % 4 / 2));
    let hue = 6.0 * (turns - turns.floor());
    // The peaks of red, green and blue are a third of the circle of hues apart. Each of the three
    // colours rises and falls linearly.
    [0.0, 4.0, 2.0].map(|shift| {
        let at = (hue + shift) % 6.0;
        let part = (at - 3.0).abs().clamp(1.0, 2.0) - 1.0;
        (255.0 * value * (1.0 - saturation * (1.0 - part))).round() as u8
    })
}

/// The samples that were drawn, and the distance of each sample from the viewer.
struct Canvas {
    width: usize,
    height: usize,
    depth: Vec<f32>,
    colours: Vec<Colour>,
}

impl Mesh {
    /// Draws the mesh, with a colour for each vertex. A point of a triangle has the colour of the
    /// nearest corner.
    ///
    /// ```
    /// use blockmul::extra::mesh::{Mesh, View};
    /// let points = vec![[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let mesh = Mesh::new(points, vec![[0, 1, 2]])?;
    /// let picture = mesh.draw(View { turn: 0.0, tilt: 0.0, size: 64 }, &[[255, 0, 0]; 3])?;
    /// assert_eq!((picture.width, picture.height), (64, 34));
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if the number of colours is not the number of vertices;
    /// [`Error::Argument`] for a picture without pixels; [`Error::Memory`].
    pub fn draw(&self, view: View, colours: &[Colour]) -> Result<MeshPicture> {
        check_colours(self, colours)?;
        if view.size == 0 {
            return Err(Error::Argument("a picture of a mesh has at least one pixel".into()));
        }
        let (turn, tilt) = (view.turn.to_radians(), view.tilt.to_radians());
        let viewer = Vector3::new(tilt.cos() * turn.cos(), tilt.cos() * turn.sin(), tilt.sin());
        let right = Vector3::new(-turn.sin(), turn.cos(), 0.0);
        let up = viewer.cross(&right);
        let light = (viewer + 0.7 * up - 0.5 * right).normalize();
        let seen: Vec<Vector3<f64>> = self
            .points()
            .iter()
            .map(|point| Vector3::from(*point))
            .map(|point| Vector3::new(point.dot(&right), point.dot(&up), point.dot(&viewer)))
            .collect();
        let low = seen.iter().copied().reduce(|a, b| a.inf(&b)).unwrap_or_default();
        let high = seen.iter().copied().reduce(|a, b| a.sup(&b)).unwrap_or_default();
        let side = (high - low).xy().max().max(f64::MIN_POSITIVE);
        let pixels =
            |length: f64| ((length / side + 2.0 * MARGIN) / (1.0 + 2.0 * MARGIN) * f64::from(view.size)).ceil();
        let (width, height) = (pixels(high.x - low.x).max(1.0), pixels(high.y - low.y).max(1.0));
        let samples = ((SAMPLES * SAMPLES) as u64 * width as u64).saturating_mul(height as u64);
        memory::check_large(
            || "a picture of a mesh".into(),
            samples.saturating_mul((size_of::<f32>() + size_of::<Colour>()) as u64),
        )?;
        let mut canvas = Canvas::new(SAMPLES * width as usize, SAMPLES * height as usize);
        let scale = SAMPLES as f64 * f64::from(view.size) / (side * (1.0 + 2.0 * MARGIN));
        let margin = MARGIN * side;
        let placed: Vec<Vector3<f64>> = seen
            .iter()
            .map(|at| Vector3::new((at.x - low.x + margin) * scale, (high.y + margin - at.y) * scale, at.z - high.z))
            .collect();
        for triangle in self.triangles() {
            let [a, b, c] = triangle.map(|corner| Vector3::from(self.points()[corner as usize]));
            let normal = (b - a).cross(&(c - a));
            // Files differ in the orientation of triangles, so both sides of a triangle are lit.
            let lit = normal.try_normalize(0.0).map_or(0.0, |normal| {
                let sign = if normal.dot(&viewer) < 0.0 { -1.0 } else { 1.0 };
                (sign * normal.dot(&light)).max(0.0)
            });
            let shade = AMBIENT + (1.0 - AMBIENT) * lit;
            let shaded =
                triangle.map(|corner| colours[corner as usize].map(|part| (f64::from(part) * shade).round() as u8));
            canvas.triangle(triangle.map(|corner| placed[corner as usize]), shaded);
        }
        Ok(MeshPicture { width: width as u32, height: height as u32, pixels: canvas.reduced() })
    }
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        Self { width, height, depth: vec![f32::NEG_INFINITY; width * height], colours: vec![[255; 3]; width * height] }
    }

    /// Draws a triangle at the samples where nothing nearer has been drawn. Each corner is given as
    /// column, row and depth.
    fn triangle(&mut self, corners: [Vector3<f64>; 3], colours: [Colour; 3]) {
        let [a, b, c] = corners;
        let twice =
            |p: Vector3<f64>, q: Vector3<f64>, x: f64, y: f64| (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
        let area = twice(a, b, c.x, c.y);
        if area == 0.0 {
            return;
        }
        let range = |values: [f64; 3], most: usize| {
            let low = values.into_iter().fold(f64::INFINITY, f64::min).floor().max(0.0) as usize;
            let high = values.into_iter().fold(0.0, f64::max).ceil() as usize;
            low..high.min(most)
        };
        for row in range([a.y, b.y, c.y], self.height) {
            for col in range([a.x, b.x, c.x], self.width) {
                let (x, y) = (col as f64 + 0.5, row as f64 + 0.5);
                let parts = [twice(b, c, x, y), twice(c, a, x, y), twice(a, b, x, y)].map(|part| part / area);
                if parts.iter().any(|&part| part < 0.0) {
                    continue;
                }
                let depth = (parts[0] * a.z + parts[1] * b.z + parts[2] * c.z) as f32;
                let at = row * self.width + col;
                if depth > self.depth[at] {
                    let nearest = if parts[0] >= parts[1] && parts[0] >= parts[2] {
                        0
                    } else if parts[1] >= parts[2] {
                        1
                    } else {
                        2
                    };
                    (self.depth[at], self.colours[at]) = (depth, colours[nearest]);
                }
            }
        }
    }

    /// The pixels, which are the means of their samples.
    fn reduced(&self) -> Vec<u8> {
        let mut pixels = Vec::with_capacity(3 * self.colours.len() / (SAMPLES * SAMPLES));
        for row in (0..self.height).step_by(SAMPLES) {
            for col in (0..self.width).step_by(SAMPLES) {
                for part in 0..3 {
                    let samples = (0..SAMPLES * SAMPLES).map(|i| (row + i / SAMPLES) * self.width + col + i % SAMPLES);
                    let sum: usize = samples.map(|at| usize::from(self.colours[at][part])).sum();
                    pixels.push((sum / (SAMPLES * SAMPLES)) as u8);
                }
            }
        }
        pixels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearer_hides_what_is_behind_in_any_order() {
        let [near, far]: [Colour; 2] = [[200, 0, 0], [0, 200, 0]];
        let corners = |z: f64| [Vector3::new(0.0, 0.0, z), Vector3::new(8.0, 0.0, z), Vector3::new(0.0, 8.0, z)];
        for order in [[(1.0, near), (0.0, far)], [(0.0, far), (1.0, near)]] {
            let mut canvas = Canvas::new(8, 8);
            order.into_iter().for_each(|(z, colour)| canvas.triangle(corners(z), [colour; 3]));
            assert_eq!((canvas.colours[9], canvas.colours[63]), (near, [255; 3]));
            assert_eq!(canvas.reduced()[..3], near);
        }
    }

    #[test]
    fn neighbouring_patches_have_colours_that_differ() {
        for label in 0..500 {
            let (one, next) = (patch_colour(label), patch_colour(label + 1));
            let apart: i32 = one.iter().zip(next).map(|(&a, b)| (i32::from(a) - i32::from(b)).abs()).sum();
            assert!(apart > 60, "{label}: {one:?} {next:?}");
        }
        assert_eq!(patch_colour(u32::MAX), [150; 3]);
    }

    #[test]
    fn a_picture_shows_the_patches() {
        let points = vec![[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mesh = Mesh::new(points, vec![[0, 1, 2]]).unwrap();
        let view = View { turn: 0.0, tilt: 0.0, size: 64 };
        let MeshPicture { width, height, pixels } = mesh.draw(view, &[0, 1, 2].map(patch_colour)).unwrap();
        let huge = mesh.draw(View { size: u32::MAX, ..view }, &[0, 1, 2].map(patch_colour));
        assert!(matches!(huge, Err(Error::Memory { .. })));
        assert_eq!((width, height, pixels.len()), (64, 34, 3 * 64 * 34));
        let at = |x: usize, y: usize| &pixels[3 * (y * 64 + x)..][..3];
        let colours = [at(6, 31), at(57, 31), at(32, 5), at(0, 0)];
        assert_eq!(colours[3], [255; 3]);
        assert!((0..4).all(|i| (0..i).all(|j| colours[i] != colours[j])), "{colours:?}");
        assert!(mesh.draw(view, &[[0; 3]; 2]).is_err() && mesh.draw(View { size: 0, ..view }, &[[0; 3]; 3]).is_err());
    }
}
