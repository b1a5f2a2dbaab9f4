//! Dots and lines over two axes.
use super::axis::{Axis, named};
use super::{GRID, INK, colour, framed, text};
use std::io;

/// Numbers of one kind, each with a place on both axes.
pub struct Series {
    pub name: String,
    pub points: Vec<[f64; 2]>,
    /// Whether neighbours are joined.
    pub joined: bool,
}

/// A chart of some series, which have colours in their order.
pub struct Plot {
    pub title: String,
    pub axes: [Axis; 2],
    pub series: Vec<Series>,
}

impl Series {
    pub fn dots(name: impl Into<String>, points: Vec<[f64; 2]>) -> Self {
        Self { name: name.into(), points, joined: false }
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
        let (mut canvas, frame) = framed(&self.title)?;
        let [x, y] = &self.axes;
        let across = |part: f64| frame.left + part * (frame.right - frame.left);
        let up = |part: f64| frame.bottom - part * (frame.bottom - frame.top);
        for tick in x.ticks() {
            let Some(at) = x.part(tick).map(across) else { continue };
            canvas.line([[at, frame.top], [at, frame.bottom]], 1.0, GRID);
            let name = named(tick);
            text::write(&mut canvas, [at - text::width(&name, 1.0) / 2.0, frame.bottom + 8.0], &name, 1.0, INK);
        }
        for tick in y.ticks() {
            let Some(at) = y.part(tick).map(up) else { continue };
            canvas.line([[frame.left, at], [frame.right, at]], 1.0, GRID);
            let name = named(tick);
            text::write(&mut canvas, [frame.left - text::width(&name, 1.0) - 8.0, at - 4.0], &name, 1.0, INK);
        }
        frame.outline(&mut canvas);
        let below = frame.right - text::width(&x.label, 1.0);
        text::write(&mut canvas, [below, frame.bottom + 28.0], &x.label, 1.0, INK);
        text::write(&mut canvas, [frame.left, frame.top - 14.0], &y.label, 1.0, INK);
        for (at, series) in self.series.iter().enumerate() {
            let place = |point: &[f64; 2]| Some([across(x.part(point[0])?), up(y.part(point[1])?)]);
            let places: Vec<_> = series.points.iter().filter_map(place).collect();
            for two in places.windows(2).filter(|_| series.joined) {
                canvas.line([two[0], two[1]], 2.0, colour(at));
            }
            for &place in places.iter().filter(|_| !series.joined || places.len() < 40) {
                canvas.dot(place, 3.5, colour(at));
            }
        }
        frame.legend(&mut canvas, self.series.iter().map(|series| series.name.as_str()));
        canvas.encode(&self.title)
    }
}
