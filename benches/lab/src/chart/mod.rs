//! Charts as PNG files: dots and lines over two axes (`plot`), and bars (`bars`). `plotters` draws
//! the charts; `axis` has the scales and their ticks.
mod axis;
mod bars;
mod plot;

pub use bars::{Bars, Group};
pub use plot::{Plot, Series};

use axis::Axis;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{
    register_font,
    text_anchor::{HPos, Pos, VPos},
};
use std::error::Error;
use std::io;

/// Colours of series. People who see no red or no green can distinguish these colours. The first
/// colours are those of Okabe and Ito 2008, without the yellow, which is too light for lines on
/// white; the others are by P. Tol.
const COLOURS: [RGBColor; 12] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0x88, 0x22, 0x55),
    RGBColor(0xdd, 0xcc, 0x77),
    RGBColor(0x99, 0x99, 0x99),
    RGBColor(0x33, 0x22, 0x88),
    RGBColor(0x99, 0x99, 0x33),
];
const INK: RGBColor = RGBColor(0x20, 0x20, 0x20);
const GRID: RGBColor = RGBColor(0xd4, 0xd4, 0xd4);
const FINE_GRID: RGBColor = RGBColor(0xf0, 0xf0, 0xf0);

/// Width and height of a picture, in pixels.
const SIZE: [u32; 2] = [1100, 640];
/// The drawing is this many times as wide and high as the picture. Each pixel of the picture is the
/// mean of SCALE x SCALE pixels, because `plotters` does not smooth wide lines and rounds
/// coordinates. All lengths in this file are in pixels of the drawing.
const SCALE: u32 = 3;
const WIDTH: u32 = SIZE[0] * SCALE;
const HEIGHT: u32 = SIZE[1] * SCALE;
/// Width of the legend, at the right.
const LEGEND: u32 = 220 * SCALE;
const MARGIN: u32 = 12 * SCALE;
/// Heights of letters.
const TITLE: u32 = 22 * SCALE;
const TEXT: u32 = 16 * SCALE;
/// Centred text is this many pixels too high, because its box is higher than its letters.
const HIGH: i32 = 2 * SCALE as i32;
/// Width of the lines of axes and grids.
const THIN: u32 = SCALE;
const TICK: u32 = 4 * SCALE;
/// Space for the numbers at the ticks and the axis' label: to the left of the chart, and below it.
const LEFT: u32 = 70 * SCALE;
const BELOW: u32 = 50 * SCALE;
/// Maximum number of pixels below the axis for names that are turned by 90 degrees.
const TURNED: u32 = 230 * SCALE;
/// Side of the coloured square of a series in the legend, and the distance between rows.
const SWATCH: u32 = 13 * SCALE;
const ROW: u32 = 21 * SCALE;
/// The name under which the font is registered.
const FONT: &str = "sans-serif";

type Drawn<T> = Result<T, Box<dyn Error + Send + Sync>>;
type Picture<'p> = DrawingArea<BitMapBackend<'p>, Shift>;
type Chart<'f, 'p> = ChartContext<'f, BitMapBackend<'p>, Cartesian2d<Axis, Axis>>;

/// A picture with a title, a chart and a legend.
struct Frame<'p> {
    chart: Picture<'p>,
    legend: Picture<'p>,
}

impl<'p> Frame<'p> {
    fn new(picture: &Picture<'p>, title: &str) -> Drawn<Self> {
        let below = picture.margin(MARGIN, 0, 0, 0).titled(title, text(TITLE))?;
        let (chart, legend) = below.split_horizontally(WIDTH - LEGEND);
        Ok(Self { chart, legend })
    }

    /// Axes with a grid. If there are `names`, they are written below the x axis instead of
    /// numbers.
    fn chart(&self, x: &Axis, y: &Axis, names: &[&str]) -> Drawn<Chart<'_, 'p>> {
        let step = (WIDTH - LEGEND - LEFT - 2 * MARGIN) / names.len().max(1) as u32;
        let widest = names.iter().map(|name| width(&self.chart, name)).max().unwrap_or(0);
        let turned = widest + TEXT / 2 > step;
        let mut chart = ChartBuilder::on(&self.chart)
            .margin(MARGIN)
            .x_label_area_size(if turned { widest.min(TURNED) + MARGIN } else { BELOW })
            .y_label_area_size(LEFT)
            .build_cartesian_2d(x.clone(), y.clone())?;
        let mut mesh = chart.configure_mesh();
        if !names.is_empty() {
            mesh.disable_x_mesh().x_labels(0);
        }
        mesh.bold_line_style(GRID.stroke_width(THIN)).light_line_style(FINE_GRID.stroke_width(THIN));
        mesh.axis_style(INK.stroke_width(THIN)).label_style(text(TEXT));
        mesh.set_all_tick_mark_size(TICK).y_label_offset(HIGH);
        mesh.x_desc(&x.label).y_desc(&y.label).draw()?;
        let style = if turned {
            text(TEXT).pos(Pos::new(HPos::Right, VPos::Center)).transform(FontTransform::Rotate270)
        } else {
            text(TEXT).pos(Pos::new(HPos::Center, VPos::Top))
        };
        // If names are closer than their height, only some are drawn.
        for (at, name) in names.iter().enumerate().step_by(TEXT.div_ceil(step.max(1)) as usize) {
            let (left, top) = chart.backend_coord(&(at as f64 + 0.5, y.foot()));
            let (base_x, base_y) = self.chart.get_base_pixel();
            let place = (left - base_x, top - base_y + MARGIN as i32 / 2);
            self.chart.draw_text(&fitted(&self.chart, name, TURNED), &style, place)?;
        }
        Ok(chart)
    }

    /// Names each series beside its colour.
    fn legend<'n>(&self, names: impl Iterator<Item = &'n str>) -> Drawn<()> {
        let style = text(TEXT).pos(Pos::new(HPos::Left, VPos::Center));
        for (at, name) in names.enumerate() {
            let (top, side) = ((MARGIN + ROW * at as u32) as i32, SWATCH as i32);
            let square = [(0, top), (side, top + side)];
            self.legend.draw(&Rectangle::new(square, colour(at).filled()))?;
            let name = fitted(&self.legend, name, LEGEND - 2 * SWATCH - MARGIN);
            self.legend.draw_text(&name, &style, (3 * side / 2, top + side / 2 + HIGH))?;
        }
        Ok(())
    }
}

/// Returns the pixels of a white picture after `draw` has drawn on it.
fn paint(draw: impl FnOnce(&Picture<'_>) -> Drawn<()>) -> io::Result<Vec<u8>> {
    // Only one font is linked.
    let font = epaint_default_fonts::UBUNTU_LIGHT;
    register_font(FONT, FontStyle::Normal, font).map_err(|_| io::Error::other("the font is unreadable"))?;
    let mut pixels = vec![0xff; 3 * (WIDTH * HEIGHT) as usize];
    draw(&BitMapBackend::with_buffer(&mut pixels, (WIDTH, HEIGHT)).into_drawing_area()).map_err(io::Error::other)?;
    Ok(smaller(&pixels, WIDTH as usize))
}

/// Returns the picture of a drawing: each pixel is the mean of `SCALE` x `SCALE` pixels of the
/// drawing.
fn smaller(pixels: &[u8], width: usize) -> Vec<u8> {
    const SIDE: usize = SCALE as usize;
    let (line, mut all) = (3 * width / SIDE, Vec::with_capacity(pixels.len() / (SIDE * SIDE)));
    let mut above: &[u8] = &[];
    for rows in pixels.chunks_exact(3 * width * SIDE) {
        // Most `SCALE` x `SCALE` squares are equal to the square above or to the left, because they
        // are white or lie within a bar. Comparing the bytes of pixels takes less time than adding
        // these bytes.
        if rows == above {
            all.extend_from_within(all.len() - line..);
            continue;
        }
        above = rows;
        let square = |left: usize| -> [&[u8]; SIDE] {
            std::array::from_fn(|row| &rows[3 * (width * row + SIDE * left)..][..3 * SIDE])
        };
        for left in 0..width / SIDE {
            if left > 0 && square(left) == square(left - 1) {
                all.extend_from_within(all.len() - 3..);
                continue;
            }
            let mut sums = [0; 3];
            for row in square(left) {
                row.iter().enumerate().for_each(|(at, &byte)| sums[at % 3] += u32::from(byte));
            }
            all.extend(sums.map(|sum| (sum / (SCALE * SCALE)) as u8));
        }
    }
    all
}

fn text(height: u32) -> TextStyle<'static> {
    TextStyle::from((FONT, height).into_font()).color(&INK)
}

fn colour(at: usize) -> RGBColor {
    COLOURS[at % COLOURS.len()]
}

fn width(picture: &Picture<'_>, name: &str) -> u32 {
    picture.estimate_text_size(name, &text(TEXT)).map_or(0, |(width, _)| width)
}

/// A name that is at most `most` pixels wide. A longer name loses letters in its middle, because
/// names differ at their ends.
fn fitted(picture: &Picture<'_>, name: &str, most: u32) -> String {
    let letters: Vec<char> = name.chars().collect();
    let cut = |kept: usize| -> String {
        let (front, back) = (kept.div_ceil(2), letters.len() - kept / 2);
        letters[..front].iter().chain(&['…']).chain(&letters[back..]).collect()
    };
    let all = std::iter::once(name.to_owned()).chain((0..letters.len()).rev().map(cut));
    all.into_iter().find(|name| width(picture, name) <= most).unwrap_or_default()
}

#[cfg(test)]
mod tests;
