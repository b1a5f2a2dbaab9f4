//! Dots and lines over two axes.
use super::{Axis, Drawn, Frame, SCALE, SIZE, colour, paint};
use blockmul::io::encode_png;
use plotters::prelude::*;
use std::io;

/// Radius of a mark.
const MARK: u32 = 4 * SCALE;
/// Width of a line.
const LINE: u32 = 2 * SCALE;
/// A line with fewer points than this has marks at the points.
const FEW_POINTS: usize = 40;

/// Points of one kind, with their numbers on both axes.
pub struct Series {
    pub name: String,
    pub points: Vec<[f64; 2]>,
    /// Whether a line joins neighbouring points.
    pub joined: bool,
}

/// A chart of several series. The colours of series follow their order.
pub struct Plot {
    pub title: String,
    pub axes: [Axis; 2],
    pub series: Vec<Series>,
}

impl Series {
    pub fn dots(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, joined: false }
    }

    /// A line through the sorted numbers. The x axis of the line has the ranks of the numbers, from
    /// 1.
    pub fn ascending(name: impl Into<String>, mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        Self::line(name, (1..).map(f64::from).zip(numbers).map(|(at, number)| [at, number]).collect())
    }

    pub fn line(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, joined: true }
    }
}

impl Plot {
    /// A chart with axes that fit its series.
    pub fn new(title: &str, [x, y]: [(&str, bool); 2], series: Vec<Series>) -> Self {
        let axis = |(label, log): (&str, bool), at: usize| {
            let numbers = series.iter().flat_map(|series| &series.points).map(|point| point[at]);
            if log { Axis::log(label, numbers) } else { Axis::linear(label, numbers) }
        };
        let axes = [axis(x, 0), axis(y, 1)];
        Self { title: title.into(), axes, series }
    }

    /// The chart as a PNG file.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        encode_png(SIZE, &self.pixels()?, &self.title)
    }

    pub(super) fn pixels(&self) -> io::Result<Vec<u8>> {
        paint(|picture| self.draw(&Frame::new(picture, &self.title)?))
    }

    fn draw(&self, frame: &Frame<'_>) -> Drawn<()> {
        let [x, y] = &self.axes;
        let mut chart = frame.chart(x, y, &[])?;
        for (at, series) in self.series.iter().enumerate() {
            let shown = series.points.iter().filter(|[of_x, of_y]| x.shows(*of_x) && y.shows(*of_y));
            let places: Vec<(f64, f64)> = shown.map(|[x, y]| (*x, *y)).collect();
            if !series.joined || places.len() < FEW_POINTS {
                chart.draw_series(places.iter().map(|&place| Circle::new(place, MARK, colour(at).filled())))?;
            }
            if series.joined {
                chart.draw_series([PathElement::new(places, colour(at).stroke_width(LINE))])?;
            }
        }
        frame.legend(self.series.iter().map(|series| series.name.as_str()))
    }
}
