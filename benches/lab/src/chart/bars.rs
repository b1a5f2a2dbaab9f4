//! Bar charts: each group has several bars, side by side or stacked.
use super::{Axis, Drawn, Frame, SIZE, colour, paint};
use blockmul::io::encode_png;
use plotters::prelude::*;
use std::io;

/// The fraction of a group's width that is empty on either side of the group's bars.
const GAP: f64 = 0.1;

/// The bars of one subject: a number for each part, or `None` if it was not measured.
pub struct Group {
    pub name: String,
    pub numbers: Vec<Option<f64>>,
}

/// A chart of bars.
pub struct Bars {
    pub title: String,
    pub label: String,
    /// The names of the parts. The colours of parts follow this order.
    pub parts: Vec<String>,
    pub groups: Vec<Group>,
    /// Whether the parts of a group are stacked, instead of side by side.
    pub stacked: bool,
    /// Whether the axis is logarithmic.
    pub log: bool,
}

impl Bars {
    /// Bars side by side on a linear axis.
    pub fn new(
        title: impl Into<String>,
        label: &str,
        parts: impl IntoIterator<Item = impl Into<String>>,
        groups: impl IntoIterator<Item = Group>,
    ) -> Self {
        let (title, parts) = (title.into(), parts.into_iter().map(Into::into).collect());
        Self { title, label: label.into(), parts, groups: groups.into_iter().collect(), stacked: false, log: false }
    }

    pub fn stacked(self) -> Self {
        Self { stacked: true, ..self }
    }

    pub fn log(self) -> Self {
        Self { log: true, ..self }
    }

    /// The chart as a PNG file.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        encode_png(SIZE, &self.pixels()?, &self.title)
    }

    pub(super) fn pixels(&self) -> io::Result<Vec<u8>> {
        paint(|picture| self.draw(&Frame::new(picture, &self.title)?))
    }

    fn draw(&self, frame: &Frame<'_>) -> Drawn<()> {
        let heights = self.groups.iter().flat_map(|group| {
            let all = group.numbers.iter().flatten().copied();
            if self.stacked { vec![all.sum::<f64>()] } else { all.collect() }
        });
        let axis = if self.log { Axis::log(&self.label, heights) } else { Axis::linear(&self.label, heights) };
        let names: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).collect();
        let mut chart = frame.chart(&Axis::places(names.len()), &axis, &names)?;
        let wide = (1.0 - 2.0 * GAP) / if self.stacked { 1.0 } else { self.parts.len().max(1) as f64 };
        for (at, group) in self.groups.iter().enumerate() {
            let mut foot = axis.foot();
            for (part, number) in group.numbers.iter().enumerate() {
                let Some(number) = number.filter(|number| axis.shows(*number)) else { continue };
                let left = at as f64 + GAP + if self.stacked { 0.0 } else { wide * part as f64 };
                let top = if self.stacked { foot + number } else { number };
                chart.draw_series([Rectangle::new([(left, foot), (left + wide, top)], colour(part).filled())])?;
                foot = if self.stacked { top } else { foot };
            }
        }
        frame.legend(self.parts.iter().map(String::as_str))
    }
}
