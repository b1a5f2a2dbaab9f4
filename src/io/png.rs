//! PNG files of opaque pixels.
use std::io;

/// Encodes a PNG file of `width` times `height` pixels with three bytes each: red, green and blue.
///
/// ```
/// let file = blockmul::io::encode_png([2, 1], &[255, 0, 0, 0, 0, 255], "red and blue")?;
/// assert!(file.starts_with(b"\x89PNG"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`io::Error`] of the encoder if the number of bytes does not match.
pub fn encode_png([width, height]: [u32; 2], pixels: &[u8], description: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.add_text_chunk("Software".into(), concat!("blockmul ", env!("CARGO_PKG_VERSION")).into())?;
    // An iTXt chunk holds UTF-8, because the description may contain file names in any script.
    encoder.add_itxt_chunk("Description".into(), description.into())?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}
