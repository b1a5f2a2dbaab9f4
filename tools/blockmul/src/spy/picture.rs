//! A PNG picture of shaded cells: a frame, the cells (enlarged if there are few), and the legend
//! below.
use super::legend;
use super::shade::{Colour, FRAME, GRID, NONE, Shaded};
use blockmul::spy::{Scale, Side};
use std::io;

/// Largest side of a cell in pixels; a matrix of 20 x 20 then has some 640 pixels a side.
const LARGEST_CELL: usize = 32;
/// Least side in pixels of blocks with lines between them, provided that each element stays
/// visible.
const SMALLEST_WITH_GRID: usize = 8;
/// Pixels around the cells.
pub const BORDER: usize = 1;

/// Pixels as indices into a palette.
pub struct Picture {
    width: usize,
    pixels: Vec<u8>,
    palette: Vec<Colour>,
    description: String,
}

/// Rows and columns of pixels of a cell: at most `size` pixels a side in total, and at most
/// `largest` a cell. Cells are square, but a side that shows every line and has few is stretched to
/// a quarter of `size`.
pub fn cell_size(scale: &Scale, size: usize, largest: usize) -> (usize, usize) {
    let square = (size / scale.height().max(scale.width()).max(1)).clamp(1, largest);
    let stretched = |side: &Side| match side.per_cell {
        1 => square.max((size / 4 / side.cells().max(1)).min(largest / 4)),
        _ => square,
    };
    (stretched(&scale.rows), stretched(&scale.cols))
}

impl Picture {
    /// Draws a picture with at most `size` pixels a side, without frame and legend.
    pub fn draw(shaded: &Shaded, size: usize) -> Self {
        let scale = &shaded.scale;
        let (rows, cols) = cell_size(scale, size, LARGEST_CELL);
        let (cells_high, cells_wide) = (scale.height() * rows, scale.width() * cols);
        let (high, wide) = (cells_high + 2 * BORDER, cells_wide + 2 * BORDER);
        let below = if shaded.ends.is_some() { legend::HEIGHT } else { 0 };
        let width = if shaded.ends.is_some() { wide.max(legend::LEAST_WIDTH) } else { wide };
        let palette = shaded.palette.clone();
        let pixels = vec![NONE; width * (high + below)];
        let mut picture = Self { width, pixels, palette, description: shaded.description.clone() };

        picture.fill((0, 0), (high, wide), FRAME);
        picture.fill((BORDER, BORDER), (cells_high, cells_wide), NONE);
        for (cell, &index) in shaded.cells.iter().enumerate().filter(|(_, index)| **index != NONE) {
            let place = (BORDER + cell / scale.width() * rows, BORDER + cell % scale.width() * cols);
            picture.fill(place, (rows, cols), index);
        }
        // The last pixels of each block, except the last blocks, which end at the frame.
        let (block_rows, block_cols) = (scale.shape.rows() * rows, scale.shape.cols() * cols);
        let by_line = scale.rows.per_cell == 1 && scale.cols.per_cell == 1;
        if by_line && rows.min(cols) > 1 && block_rows.min(block_cols) >= SMALLEST_WITH_GRID {
            for row in (block_rows..cells_high).step_by(block_rows) {
                picture.fill((row, BORDER), (1, cells_wide), GRID);
            }
            for col in (block_cols..cells_wide).step_by(block_cols) {
                picture.fill((BORDER, col), (cells_high, 1), GRID);
            }
        }
        if let Some(ends) = &shaded.ends {
            legend::draw(&mut picture, high, ends);
        }
        picture
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// Fills a rectangle, given by row and column of its upper left corner, and its rows and
    /// columns.
    pub fn fill(&mut self, (row, col): (usize, usize), (rows, cols): (usize, usize), index: u8) {
        for row in row..row + rows {
            self.pixels[row * self.width + col..][..cols].fill(index);
        }
    }

    /// An indexed PNG file: one byte a pixel, compressed.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width() as u32, self.height() as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(self.palette.concat());
        encoder.set_compression(png::Compression::High);
        // Differences of palette indices have no meaning.
        encoder.set_filter(png::Filter::NoFilter);
        encoder.add_text_chunk("Software".into(), concat!("blockmul ", env!("CARGO_PKG_VERSION")).into())?;
        encoder.add_text_chunk("Description".into(), self.description.clone())?;
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        writer.finish()?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spy::shade::{INK, Shade};
    use blockmul::{BlockShape, Csc, spy::Raster};

    #[test]
    fn the_legend_is_legible() {
        let matrix = Csc::from_triplets(2, 1, [(0, 0, 2e-9), (1, 0, 4.8)]).unwrap();
        let picture = Picture::draw(&Shaded::new(&Raster::on_host(&matrix, 16).unwrap(), Shade::Magnitude), 16);
        let dot = |row: usize, col: usize| picture.pixels[row * picture.width + col] == INK;
        // Dots are 2 x 2 pixels; characters are 9 pixels apart, which is no whole number of dots.
        let top = picture.height() - 12;
        let line = |row: usize, text: usize, chars: usize| -> String {
            let dots = (0..chars).flat_map(|char| (0..4).map(move |dot| (char, dot)));
            dots.map(|(char, col)| if col < 3 && dot(top + 2 * row, text + 9 * char + 2 * col) { '#' } else { ' ' })
                .collect()
        };
        let art = |text, chars| (0..5).map(|row| line(row, text, chars).trim_end().to_string()).collect::<Vec<_>>();
        let low = [
            "###     ### ###     ###",
            "  #     # # #       # #",
            "###     # # ##  ### ###",
            "#       # # #         #",
            "###  #  ### ###     ###",
        ];
        assert_eq!(art(0, 6), low, "2.0e-9");
        let high = [
            "# #     ### ### ###",
            "# #     # # #   # #",
            "###     ### ##  # #",
            "  #     # # #   # #",
            "  #  #  ### ### ###",
        ];
        assert_eq!(art(192 - 42, 5), high, "4.8e0");
    }

    #[test]
    fn cells_are_enlarged_until_they_are_seen() {
        let size = |rows, cols, size| cell_size(&Scale::fit(rows, cols, BlockShape::SCALAR, size).unwrap(), size, 32);
        assert_eq!(size(1, 1, 1024), (32, 32));
        assert_eq!(size(20, 20, 1024), (32, 32));
        assert_eq!(size(40, 100, 1024), (10, 10), "integers only");
        assert_eq!(size(600, 1024, 1024), (1, 1));
        assert_eq!(size(5000, 5000, 1024), (1, 1));
        assert_eq!(size(1, 1024, 1024), (8, 1), "one row is made visible");
        assert_eq!(size(3000, 100, 1024), (1, 2));
        assert_eq!(size(0, 50, 1024), (20, 20));
        assert_eq!(size(0, 0, 1024), (32, 32));
    }
}
