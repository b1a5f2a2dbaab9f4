//! Letters of 8x8 dots.
use crate::scene::canvas::{Canvas, Colour};
use font8x8::UnicodeFonts;

/// Dots of a letter's side.
const SIDE: f64 = 8.0;

/// Writes a line; its upper left corner is at `place`, and a dot has `size` pixels a side. What the
/// fonts have no letter for is a question mark.
pub fn write(canvas: &mut Canvas, [left, top]: [f64; 2], text: &str, size: f64, colour: Colour) {
    for (at, letter) in text.chars().enumerate() {
        for (row, dots) in glyph(letter).iter().enumerate() {
            for col in (0..8).filter(|col| dots >> col & 1 == 1) {
                let place = [left + size * (SIDE * at as f64 + f64::from(col)), top + size * row as f64];
                canvas.fill(place.map(f64::round), [size; 2], colour);
            }
        }
    }
}

/// Pixels of a line of text.
pub fn width(text: &str, size: f64) -> f64 {
    SIDE * size * text.chars().count() as f64
}

fn glyph(letter: char) -> [u8; 8] {
    let found = font8x8::BASIC_FONTS.get(letter).or_else(|| font8x8::LATIN_FONTS.get(letter));
    let found = found.or_else(|| font8x8::GREEK_FONTS.get(letter)).or_else(|| font8x8::BASIC_FONTS.get('?'));
    found.unwrap_or([0xff; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_where_they_are_written() {
        let mut canvas = Canvas::new(60, 20).unwrap();
        write(&mut canvas, [4.0, 2.0], "||", 2.0, [0; 3]);
        let dark = |x| (0..20).any(|y| canvas.pixel(x, y) == [0; 3]);
        let columns: Vec<u32> = (0..60).filter(|&x| dark(x)).collect();
        assert!(columns.first() >= Some(&4) && columns.last() < Some(&36), "{columns:?}");
        assert!(columns.len() == 8, "two bars of two dots: {columns:?}");
        assert_eq!(width("abc", 1.0), 24.0);
        assert_eq!(glyph('\u{4e00}'), glyph('?'));
    }
}
