//! [`Picture`]: shaded cells as pixels, with a frame and a legend.
use super::legend;
use super::shade::{Colour, Shaded};
use std::io;

/// Largest side of a cell in pixels; a matrix of 20 x 20 then has some 640 pixels a side.
const LARGEST_CELL: usize = 32;
/// Least side in pixels of blocks with lines between them, provided that each element stays
/// visible.
const SMALLEST_WITH_GRID: usize = 8;
/// The palette's indices of the frame, and of the lines between blocks.
pub(super) const FRAME: u8 = 4;
const GRID: u8 = 5;
/// Pixels around the cells.
const BORDER: usize = 1;

/// A picture of a matrix: a frame, the cells, enlarged if there are few, and the legend below.
///
/// ```
/// use blockmul::spy::{Picture, Raster, Shade, Shaded};
/// use blockmul::Csc;
/// let a = Csc::from_triplets(20, 20, (0..20).map(|i| (i, i, 2.0)))?;
/// let picture = Picture::draw(&Shaded::new(&Raster::on_host(&a, 640)?, Shade::Pattern), 640);
/// assert_eq!((picture.width(), picture.height()), (642, 642));
/// assert!(picture.encode().unwrap().starts_with(b"\x89PNG"));
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Picture {
    width: usize,
    pixels: Vec<u8>,
    palette: Vec<Colour>,
    description: String,
}

impl Picture {
    /// Draws a picture with at most `size` pixels a side, without frame and legend.
    pub fn draw(shaded: &Shaded, size: usize) -> Self {
        let scale = &shaded.scale;
        let (rows, cols) = scale.cell_size(size, LARGEST_CELL);
        let (cells_high, cells_wide) = (scale.height() * rows, scale.width() * cols);
        let (high, wide) = (cells_high + 2 * BORDER, cells_wide + 2 * BORDER);
        let below = if shaded.ends.is_some() { legend::HEIGHT } else { 0 };
        let width = if shaded.ends.is_some() { wide.max(legend::LEAST_WIDTH) } else { wide };
        let palette = shaded.palette.clone();
        let pixels = vec![Shaded::NONE; width * (high + below)];
        let mut picture = Self { width, pixels, palette, description: shaded.description.clone() };

        picture.fill((0, 0), (high, wide), FRAME);
        picture.fill((BORDER, BORDER), (cells_high, cells_wide), Shaded::NONE);
        for (cell, &index) in shaded.cells.iter().enumerate().filter(|(_, index)| **index != Shaded::NONE) {
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

    /// Pixels from left to right.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Pixels from top to bottom.
    pub fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// Fills a rectangle, given by row and column of its upper left corner, and its rows and
    /// columns.
    pub(super) fn fill(&mut self, (row, col): (usize, usize), (rows, cols): (usize, usize), index: u8) {
        for row in row..row + rows {
            self.pixels[row * self.width + col..][..cols].fill(index);
        }
    }

    /// An indexed PNG file: one byte a pixel, compressed. Its description has the scale and the
    /// colours in words.
    ///
    /// # Errors
    /// The errors of the encoder, for a picture too large for the format.
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
    use crate::{
        Csc,
        spy::{Raster, Shade},
    };

    #[test]
    fn the_legend_is_legible() {
        let matrix = Csc::from_triplets(2, 1, [(0, 0, 2e-9), (1, 0, 4.8)]).unwrap();
        let picture = Picture::draw(&Shaded::new(&Raster::on_host(&matrix, 16).unwrap(), Shade::Magnitude), 16);
        let dot = |row: usize, col: usize| picture.pixels[row * picture.width + col] == Shaded::INK;
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
}
