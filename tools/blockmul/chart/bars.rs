//! Bars: for each thing some parts, side by side or one upon the other.
use super::axis::{Axis, named};
use super::{GRID, INK, colour, framed, shortened, text};
use std::io;

/// The bars of one thing: a number for each part, if there is one.
pub struct Group {
    pub name: String,
    pub numbers: Vec<Option<f64>>,
}

/// A chart of bars.
pub struct Bars {
    pub title: String,
    pub label: String,
    /// The names of the parts, which have colours in their order.
    pub parts: Vec<String>,
    pub groups: Vec<Group>,
    /// Whether the parts of a group stand upon each other.
    pub stacked: bool,
    /// Whether the axis is logarithmic.
    pub log: bool,
}

impl Bars {
    /// The chart as a PNG file.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let (mut canvas, frame) = framed(&self.title)?;
        let heights = self.groups.iter().flat_map(|group| {
            let all = group.numbers.iter().flatten().copied();
            if self.stacked { vec![all.sum::<f64>()] } else { all.collect() }
        });
        let axis = if self.log { Axis::log(&self.label, heights) } else { Axis::linear(&self.label, heights) };
        let up = |part: f64| frame.bottom - part.clamp(0.0, 1.0) * (frame.bottom - frame.top);
        for tick in axis.ticks() {
            let Some(at) = axis.part(tick).map(up) else { continue };
            canvas.line([[frame.left, at], [frame.right, at]], 1.0, GRID);
            let name = named(tick);
            text::write(&mut canvas, [frame.left - text::width(&name, 1.0) - 8.0, at - 4.0], &name, 1.0, INK);
        }
        text::write(&mut canvas, [frame.left, frame.top - 14.0], &axis.label, 1.0, INK);
        let step = (frame.right - frame.left) / self.groups.len().max(1) as f64;
        for (at, group) in self.groups.iter().enumerate() {
            let left = frame.left + step * (at as f64 + 0.1);
            let wide = 0.8 * step / if self.stacked { 1.0 } else { self.parts.len().max(1) as f64 };
            let mut below = 0.0;
            for (part, number) in group.numbers.iter().enumerate() {
                let Some(number) = *number else { continue };
                let (from, to) = if self.stacked { (below, below + number) } else { (0.0, number) };
                let foot = if self.log { frame.bottom } else { axis.part(from).map_or(frame.bottom, up) };
                let Some(top) = axis.part(to).map(up) else { continue };
                let at = left + if self.stacked { 0.0 } else { wide * part as f64 };
                canvas.fill([at, top], [wide.max(1.0), (foot - top).max(1.0)], colour(part));
                below = to;
            }
            // In two lines in turn, so that neighbours have room.
            let letters = (2.0 * step / text::width("x", 1.0)) as usize;
            let place = [left, frame.bottom + 8.0 + 14.0 * (at % 2) as f64];
            text::write(&mut canvas, place, &shortened(&group.name, letters.max(2)), 1.0, INK);
        }
        frame.outline(&mut canvas);
        frame.legend(&mut canvas, self.parts.iter().map(String::as_str));
        canvas.encode(&self.title)
    }
}
