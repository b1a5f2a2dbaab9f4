//! [`Picture`]: the pixels of a picture, and the code that writes them to a file.
use super::shade::Colour;
use std::io;

/// The palette's index of the frame.
pub(super) const FRAME: u8 = 4;

/// A picture of a matrix: the frame, the cells (enlarged if there are few), and the legend below.
///
/// ```
/// use blockmul::extra::spy::{Picture, Raster, Shade, Shaded};
/// use blockmul::Csc;
/// let a = Csc::from_triplets(20, 20, (0..20).map(|i| (i, i, 2.0)))?;
/// let picture = Picture::draw(&Shaded::new(&Raster::on_host(&a, 640)?, Shade::Pattern), 640);
/// assert_eq!((picture.width(), picture.height()), (642, 642));
/// assert!(picture.encode().unwrap().starts_with(b"\x89PNG"));
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Picture {
    pub(super) width: usize,
    pub(super) pixels: Vec<u8>,
    pub(super) palette: Vec<Colour>,
    pub(super) description: String,
}

impl Picture {
    /// Number of pixels from left to right.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of pixels from top to bottom.
    pub fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// Fills a rectangle, given by the row and column of its upper left corner and the numbers of
    /// its rows and columns.
    pub(super) fn fill(&mut self, (row, col): (usize, usize), (rows, cols): (usize, usize), index: u8) {
        for row in row..row + rows {
            self.pixels[row * self.width + col..][..cols].fill(index);
        }
    }

    /// Encodes an indexed PNG file with one byte for each pixel, compressed. The file contains a
    /// description of the scale and the colours in words.
    ///
    /// # Errors
    /// The errors of the encoder, for a picture that is too large for the format.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width() as u32, self.height() as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(self.palette.concat());
        encoder.set_compression(png::Compression::High);
        // PNG's filters would encode differences of palette indices, which have no meaning.
        encoder.set_filter(png::Filter::NoFilter);
        encoder.add_text_chunk("Software".into(), concat!("blockmul ", env!("CARGO_PKG_VERSION")).into())?;
        encoder.add_text_chunk("Description".into(), self.description.clone())?;
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        writer.finish()?;
        Ok(bytes)
    }
}
