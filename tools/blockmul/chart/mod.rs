//! Charts as PNG files: dots and lines over two axes (`plot`), and bars (`bars`). `axis` has the
//! scales and their ticks, `text` the letters.
mod axis;
mod bars;
mod plot;
mod text;

pub use bars::{Bars, Group};
pub use plot::{Plot, Series};

use crate::scene::canvas::{Canvas, Colour};
use std::io;

/// Colours of series, which people who see no red or no green can distinguish (Okabe and Ito 2008).
const COLOURS: [Colour; 9] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0x00, 0x00, 0x00],
    [0x99, 0x99, 0x33],
    [0x88, 0x88, 0x88],
];
const INK: Colour = [0x20; 3];
const GRID: Colour = [0xe0; 3];
const FRAME: Colour = [0x80; 3];

/// Sides of a picture, in pixels.
const WIDTH: u32 = 1100;
const HEIGHT: u32 = 640;
/// Pixels around the part that shows the data: left, right, above, below.
const LEFT: f64 = 90.0;
const RIGHT: f64 = 250.0;
const ABOVE: f64 = 56.0;
const BELOW: f64 = 70.0;

/// The part of a picture that shows the data.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// A white picture with a title, and its frame.
fn framed(title: &str) -> io::Result<(Canvas, Frame)> {
    let mut canvas = Canvas::new(WIDTH, HEIGHT)?;
    let (right, bottom) = (f64::from(WIDTH) - RIGHT, f64::from(HEIGHT) - BELOW);
    text::write(&mut canvas, [LEFT, 16.0], title, 2.0, INK);
    Ok((canvas, Frame { left: LEFT, right, top: ABOVE, bottom }))
}

impl Frame {
    fn outline(&self, canvas: &mut Canvas) {
        let &Self { left, right, top, bottom } = self;
        canvas.line([[left, bottom], [right, bottom]], 1.0, FRAME);
        canvas.line([[left, top], [left, bottom]], 1.0, FRAME);
    }

    /// Names each series beside its colour, to the right of the frame.
    fn legend<'n>(&self, canvas: &mut Canvas, names: impl Iterator<Item = &'n str>) {
        for (at, name) in names.enumerate() {
            let top = self.top + 20.0 * at as f64;
            canvas.fill([self.right + 14.0, top], [12.0, 12.0], colour(at));
            text::write(canvas, [self.right + 32.0, top + 2.0], &shortened(name, 26), 1.0, INK);
        }
    }
}

fn colour(at: usize) -> Colour {
    COLOURS[at % COLOURS.len()]
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.into() } else { text.chars().take(most - 1).chain(['.']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pixels of each colour of a series, in a decoded picture.
    fn pixels(png: io::Result<Vec<u8>>) -> Vec<Colour> {
        let mut reader = png::Decoder::new(io::Cursor::new(png.unwrap())).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height), (WIDTH, HEIGHT));
        bytes.chunks(3).map(|pixel| pixel.try_into().unwrap()).collect()
    }

    fn count(pixels: &[Colour], at: usize) -> usize {
        pixels.iter().filter(|&&pixel| pixel == colour(at)).count()
    }

    #[test]
    fn every_point_and_every_bar_is_drawn() {
        let dots = |n: usize| (1..=n).map(|i| [i as f64, (i * i) as f64]).collect();
        let series = vec![Series::dots("one", dots(5)), Series::line("other", vec![[1.0, 9.0], [5.0, 9.0]])];
        let plot = Plot::new("title", [("x", true), ("y", true)], series);
        let drawn = pixels(plot.encode());
        // The swatch of the legend has 144 pixels, a dot about 38.
        assert!((144 + 5 * 20..144 + 5 * 45).contains(&count(&drawn, 0)), "{}", count(&drawn, 0));
        assert!(count(&drawn, 1) > 144 + 400, "a line of {}", count(&drawn, 1));
        let group = |numbers: [Option<f64>; 2]| Group { name: "g".into(), numbers: numbers.into() };
        let bars = |stacked| Bars {
            title: "t".into(),
            label: "%".into(),
            parts: vec!["a".into(), "b".into()],
            groups: vec![group([Some(1.0), Some(3.0)]), group([None, Some(2.0)])],
            stacked,
            log: false,
        };
        for stacked in [true, false] {
            let drawn = pixels(bars(stacked).encode());
            let ratio = (count(&drawn, 1) - 144) as f64 / (count(&drawn, 0) - 144) as f64;
            assert!((4.8..5.2).contains(&ratio), "3 and 2 beside 1: {ratio}");
        }
        let empty = Plot::new("", [("", false), ("", true)], Vec::new());
        assert!(pixels(empty.encode()).contains(&GRID));
    }
}
