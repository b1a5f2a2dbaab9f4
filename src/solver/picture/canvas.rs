//! Draws antialiased lines and dots.
use crate::io::encode_png;
use std::{f64::consts::PI, io};
use tiny_skia::{Color, ColorU8, FillRule, LineCap, Paint, PathBuilder, Pixmap, PixmapPaint, Rect, Stroke, Transform};

pub type Colour = [u8; 3];

/// Dots with a smaller radius are drawn as squares of the same area.
const LEAST_DISC: f64 = 1.5;

/// Mixes `part` of `other` with the rest of `colour`.
pub fn mix(colour: Colour, other: Colour, part: f64) -> Colour {
    let part = part.clamp(0.0, 1.0);
    std::array::from_fn(|i| (f64::from(colour[i]) * (1.0 - part) + f64::from(other[i]) * part).round() as u8)
}

/// Pixels. The point (0, 0) is the upper left corner of the first pixel.
pub struct Canvas {
    pixels: Pixmap,
}

impl Canvas {
    /// A white canvas.
    pub fn new(width: u32, height: u32) -> io::Result<Self> {
        let Some(mut pixels) = Pixmap::new(width, height) else {
            let reason = format!("there is no picture of {width} x {height} pixels");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        };
        pixels.fill(Color::WHITE);
        Ok(Self { pixels })
    }

    pub fn line(&mut self, ends: [[f64; 2]; 2], width: f64, colour: Colour) {
        let Some([[x0, y0], [x1, y1]]) = self.clip(ends, width) else { return };
        let mut path = PathBuilder::new();
        path.move_to(x0 as f32, y0 as f32);
        path.line_to(x1 as f32, y1 as f32);
        if let Some(path) = path.finish() {
            let stroke = Stroke { width: width as f32, line_cap: LineCap::Round, ..Stroke::default() };
            self.pixels.stroke_path(&path, &paint(colour), &stroke, Transform::identity(), None);
        }
    }

    pub fn dot(&mut self, [x, y]: [f64; 2], radius: f64, colour: Colour) {
        let [wide, high] = self.sides();
        if !(-radius..=wide + radius).contains(&x) || !(-radius..=high + radius).contains(&y) {
            return;
        }
        if radius < LEAST_DISC {
            let half = radius * PI.sqrt() / 2.0;
            self.square([x - half, y - half], 2.0 * half, colour);
        } else if let Some(disc) = PathBuilder::from_circle(x as f32, y as f32, radius as f32) {
            self.pixels.fill_path(&disc, &paint(colour), FillRule::Winding, Transform::identity(), None);
        }
    }

    /// Draws a square, mixed into each pixel in proportion to the covered area. Point clouds have
    /// millions of squares, too many for path drawing.
    fn square(&mut self, [x, y]: [f64; 2], side: f64, colour: Colour) {
        let width = self.pixels.width() as usize;
        let covered = |from: f64, sides: f64| {
            let pixels = from.floor().max(0.0) as usize..(from + side).ceil().min(sides) as usize;
            pixels.map(move |pixel| (pixel, (from + side).min(pixel as f64 + 1.0) - from.max(pixel as f64)))
        };
        let [wide, high] = self.sides();
        for (row, part) in covered(y, high) {
            for (col, of_row) in covered(x, wide) {
                let pixel = &mut self.pixels.pixels_mut()[row * width + col];
                let [red, green, blue] = mix([pixel.red(), pixel.green(), pixel.blue()], colour, part * of_row);
                *pixel = ColorU8::from_rgba(red, green, blue, 255).premultiply();
            }
        }
    }

    /// Fills a rectangle, given by its upper left corner and its sides.
    pub fn fill(&mut self, [x, y]: [f64; 2], [wide, high]: [f64; 2], colour: Colour) {
        if let Some(rect) = Rect::from_xywh(x as f32, y as f32, wide as f32, high as f32) {
            self.pixels.fill_rect(rect, &paint(colour), Transform::identity(), None);
        }
    }

    /// Copies `part` with its upper left corner at column `left`.
    pub fn paste(&mut self, part: &Self, left: u32) {
        let paint = PixmapPaint::default();
        self.pixels.draw_pixmap(left as i32, 0, part.pixels.as_ref(), &paint, Transform::identity(), None);
    }

    pub fn encode(&self, description: &str) -> io::Result<Vec<u8>> {
        // The canvas is painted on white, so no pixel is transparent.
        let pixels: Vec<u8> = self.pixels.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
        encode_png([self.pixels.width(), self.pixels.height()], &pixels, description)
    }

    fn sides(&self) -> [f64; 2] {
        [f64::from(self.pixels.width()), f64::from(self.pixels.height())]
    }

    /// Clips a line to the visible part (Liang and Barsky 1984). Lines are drawn in single
    /// precision, which would bend a line that leads far outside.
    fn clip(&self, [from, to]: [[f64; 2]; 2], width: f64) -> Option<[[f64; 2]; 2]> {
        let (mut begin, mut end) = (0.0f64, 1.0f64);
        for ((from, to), side) in from.into_iter().zip(to).zip(self.sides()) {
            let way = to - from;
            let (low, high) = (-width - from, side + width - from);
            if way == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
            } else {
                begin = begin.max((low / way).min(high / way));
                end = end.min((low / way).max(high / way));
            }
        }
        let sides = self.sides();
        let at =
            |part: f64| std::array::from_fn(|i| (from[i] + part * (to[i] - from[i])).clamp(-width, sides[i] + width));
        (begin <= end).then(|| [at(begin), at(end)])
    }
}

fn paint(colour: Colour) -> Paint<'static> {
    let [red, green, blue] = colour;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

#[cfg(test)]
impl Canvas {
    pub fn pixel(&self, x: u32, y: u32) -> Colour {
        let pixel = self.pixels.pixel(x, y).unwrap();
        [pixel.red(), pixel.green(), pixel.blue()]
    }

    /// The total darkness of the canvas, as a number of black pixels.
    pub fn ink(&self) -> f64 {
        self.pixels.pixels().iter().map(|pixel| 1.0 - f64::from(pixel.red()) / 255.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Colour = [0; 3];

    #[test]
    fn lines_are_as_wide_as_they_are_long() {
        for (ends, width, ink) in [
            ([[10.0, 10.0], [90.0, 70.0]], 2.0, 200.0 + PI),
            ([[10.0, 10.0], [10.0, 70.0]], 0.5, 30.0),
            ([[20.0, 50.0], [20.0, 50.0]], 6.0, 9.0 * PI),
        ] {
            let mut canvas = Canvas::new(100, 80).unwrap();
            canvas.line(ends, width, BLACK);
            assert!((canvas.ink() - ink).abs() < 0.05 * ink, "{ends:?}: {} instead of {ink}", canvas.ink());
        }
    }

    #[test]
    fn of_lines_that_lead_out_the_rest_is_in_place() {
        let painted = |ends| {
            let mut canvas = Canvas::new(40, 30).unwrap();
            canvas.line(ends, 2.0, BLACK);
            canvas
        };
        let across = painted([[-1e12, 15.0], [1e12, 15.0]]);
        assert!((0..40).all(|x| across.pixel(x, 14) == BLACK && across.pixel(x, 15) == BLACK));
        assert!((across.ink() - 80.0).abs() < 1.0);
        let diagonal = painted([[-1e9, -1e9], [1e9, 1e9]]);
        assert_eq!((diagonal.pixel(0, 0), diagonal.pixel(29, 29), diagonal.pixel(39, 0)), (BLACK, BLACK, [255; 3]));
        for ends in [[[-9.0, -9.0], [99.0, -9.0]], [[50.0, 0.0], [50.0, 9.0]], [[-20.0, 10.0], [10.0, -20.0]]] {
            assert_eq!(painted(ends).ink(), 0.0, "{ends:?}");
        }
    }

    #[test]
    fn dots_have_their_area_wherever_they_are() {
        for radius in [0.3, 0.8, 1.4, 1.6, 5.0] {
            for place in [[20.0, 20.0], [20.25, 17.7], [9.5, 11.99]] {
                let mut canvas = Canvas::new(40, 40).unwrap();
                canvas.dot(place, radius, BLACK);
                let area = PI * radius * radius;
                assert!((canvas.ink() - area).abs() < 0.05 * area + 0.01, "{radius} at {place:?}: {}", canvas.ink());
            }
            let mut canvas = Canvas::new(40, 40).unwrap();
            for place in [[0.0, 0.0], [40.0, 40.0], [0.0, 40.0], [40.0, 0.0]] {
                canvas.dot(place, radius, BLACK);
            }
            let area = PI * radius * radius;
            assert!((canvas.ink() - area).abs() < 0.05 * area + 0.02, "a quarter in each corner: {}", canvas.ink());
            canvas.dot([f64::MAX, 0.0], radius, BLACK);
            canvas.dot([f64::NAN, 0.0], radius, BLACK);
        }
    }

    #[test]
    fn a_part_is_pasted_in_its_place() {
        let mut canvas = Canvas::new(10, 4).unwrap();
        let mut part = Canvas::new(3, 4).unwrap();
        part.fill([0.0, 1.0], [3.0, 2.0], BLACK);
        canvas.paste(&part, 6);
        let black = |x, y| (6..9).contains(&x) && (1..3).contains(&y);
        assert!((0..10).all(|x| (0..4).all(|y| (canvas.pixel(x, y) == BLACK) == black(x, y))));
    }
}
