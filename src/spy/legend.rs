//! The legend of a picture: the ramp of colours, and below it the values at the ends of the ramp.
use super::picture::{FRAME, Picture};
use super::shade::{STEPS, Shaded, step_index};

/// Number of pixels from the frame of the cells to the lower edge of the picture.
pub const HEIGHT: usize = GAP + BAR + 2 + LINES * DOT + 2;
/// The least width of the legend, in pixels, which is enough for the bar and the longest labels.
pub const LEAST_WIDTH: usize = 3 * STEPS as usize + 2;
const GAP: usize = 8;
const BAR: usize = 12;

/// Number of rows and columns of a glyph, and the side of its dots in pixels.
const LINES: usize = 5;
const COLUMNS: usize = 3;
const DOT: usize = 2;
/// Number of pixels from one glyph to the next.
const ADVANCE: usize = COLUMNS * DOT + SPACE;
const SPACE: usize = 3;

/// Glyphs of numbers. Each glyph has five rows of three dots; each octal digit of its number is a
/// row. The E is a capital letter, so that it differs from 2.
const GLYPHS: [(char, u16); 13] = [
    ('0', 0o75557),
    ('1', 0o26227),
    ('2', 0o71747),
    ('3', 0o71717),
    ('4', 0o55711),
    ('5', 0o74717),
    ('6', 0o74757),
    ('7', 0o71122),
    ('8', 0o75757),
    ('9', 0o75717),
    ('e', 0o74647),
    ('-', 0o00700),
    ('.', 0o00002),
];

/// Draws the legend below row `top`. The picture must have [`HEIGHT`] more rows and at least
/// [`LEAST_WIDTH`] columns.
pub fn draw(picture: &mut Picture, top: usize, ends: &[String; 2]) {
    let step = (picture.width() / usize::from(STEPS)).min(4);
    let bar = usize::from(STEPS) * step;
    if ends[0] == ends[1] {
        // If all values have one colour, a single square is drawn instead of the ramp.
        picture.fill((top + GAP, 0), (BAR, BAR), FRAME);
        picture.fill((top + GAP + 1, 1), (BAR - 2, BAR - 2), step_index(STEPS - 1));
        return write(picture, (top + GAP + 1, BAR + 4), &ends[0]);
    }
    picture.fill((top + GAP, 0), (BAR, bar), FRAME);
    for index in 0..STEPS {
        let (begin, end) = ((usize::from(index) * step).max(1), ((usize::from(index) + 1) * step).min(bar - 1));
        picture.fill((top + GAP + 1, begin), (BAR - 2, end - begin), step_index(index));
    }
    let line = top + GAP + BAR + 2;
    write(picture, (line, 0), &ends[0]);
    write(picture, (line, bar - text_width(&ends[1])), &ends[1]);
}

fn text_width(text: &str) -> usize {
    (text.len() * ADVANCE).saturating_sub(SPACE)
}

/// Writes a number whose upper left corner is at the given place.
fn write(picture: &mut Picture, (row, col): (usize, usize), text: &str) {
    for (place, char) in text.chars().enumerate() {
        let Some((_, dots)) = GLYPHS.iter().find(|(glyph, _)| *glyph == char) else { continue };
        for dot in (0..LINES * COLUMNS).filter(|dot| dots >> (LINES * COLUMNS - 1 - dot) & 1 == 1) {
            let place = (row + dot / COLUMNS * DOT, col + place * ADVANCE + dot % COLUMNS * DOT);
            picture.fill(place, (DOT, DOT), Shaded::INK);
        }
    }
}
