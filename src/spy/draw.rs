//! Draws shaded cells as a [`Picture`], with a frame and a legend.
use super::{Picture, legend, picture::FRAME, shade::Shaded};

/// Largest side of a cell in pixels. A matrix of 20 x 20 elements then has about 640 pixels on each
/// side.
const LARGEST_CELL: usize = 32;
/// Smallest side in pixels of blocks between which lines are drawn. Lines between smaller blocks
/// would hide elements.
const SMALLEST_WITH_GRID: usize = 8;
/// The palette's index of the lines between blocks.
const GRID: u8 = 5;
/// Number of pixels around the cells.
const BORDER: usize = 1;

impl Picture {
    /// Draws a picture with at most `size` pixels on each side, without frame and legend.
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
        // A line takes the last pixels of a block. The last blocks have no lines, because they end
        // at the frame.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Csc,
        extra::spy::{Raster, Shade},
    };

    #[test]
    fn the_legend_is_legible() {
        let matrix = Csc::from_triplets(2, 1, [(0, 0, 2e-9), (1, 0, 4.8)]).unwrap();
        let picture = Picture::draw(&Shaded::new(&Raster::on_host(&matrix, 16).unwrap(), Shade::Magnitude), 16);
        let dot = |row: usize, col: usize| picture.pixels[row * picture.width + col] == Shaded::INK;
        // Dots are 2 x 2 pixels. The distance from one character to the next is 9 pixels, which is
        // not a whole number of dots.
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
