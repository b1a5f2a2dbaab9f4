//! Draws shaded cells in a terminal. Braille characters have eight dots each. Comparisons use
//! letters, each for two cells.
use blockmul::extra::spy::Shaded;
use std::fmt::Write;

/// Red, green and blue.
type Colour = [u8; 3];

/// Rows and columns of dots in a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dots {
    rows: usize,
    cols: usize,
    /// Maximum number of dots on one side of a cell.
    largest: usize,
}

/// A character is twice as high as wide, so that dots of letters and of braille characters are
/// nearly square.
pub const BRAILLE: Dots = Dots { rows: 4, cols: 2, largest: 4 };
pub const LETTERS: Dots = Dots { rows: 2, cols: 1, largest: 2 };

/// Number of characters in a line that belong to the frame.
const FRAME: usize = 2;
const WIDTH: usize = 80;
/// Bits of the dots of a braille character, row by row.
const BRAILLE_BITS: [u32; 8] = [0, 3, 1, 4, 2, 5, 6, 7];

impl Dots {
    /// Number of dots on a side of a picture that is `width` characters wide, including its frame.
    pub fn size(self, width: usize) -> usize {
        width.saturating_sub(FRAME).max(1) * self.cols
    }
}

/// Columns of the terminal on stdout.
pub fn width() -> usize {
    console::Term::stdout().size_checked().map_or(WIDTH, |(_, columns)| usize::from(columns).clamp(FRAME + 1, 2048))
}

/// The picture as lines of at most `width` characters, without the last line end.
pub fn draw(shaded: &Shaded, dots: Dots, width: usize, coloured: bool) -> String {
    let scale = &shaded.scale;
    let (rows, cols) = scale.cell_size(dots.size(width), dots.largest);
    let (high, wide) = (scale.height() * rows, scale.width() * cols);
    let line = "─".repeat(wide.div_ceil(dots.cols));
    let mut text = format!("┌{line}┐\n");
    for top in (0..high).step_by(dots.rows) {
        let mut pen = Pen { text: &mut text, colour: None };
        pen.put('│', None);
        for left in (0..wide).step_by(dots.cols) {
            // Returns the cell that contains each dot, row by row. `None` outside of the picture.
            let cells = (0..dots.rows * dots.cols)
                .map(|dot| (top + dot / dots.cols, left + dot % dots.cols))
                .map(|(row, col)| (row < high && col < wide).then(|| row / rows * scale.width() + col / cols));
            let indices = cells.clone().map(|cell| cell.map_or(Shaded::NONE, |cell| shaded.cells[cell]));
            let char = match dots {
                BRAILLE => braille(indices.clone()),
                _ => letter(cells.flatten().map(|cell| shaded.parts[cell])),
            };
            // The strongest shade has the largest index. Values that are not finite take
            // precedence.
            let strongest = indices.max_by_key(|&index| if index == Shaded::NOT_FINITE { u8::MAX } else { index });
            let strongest = strongest.filter(|index| coloured && ![Shaded::NONE, Shaded::INK].contains(index));
            pen.put(char, strongest.map(|index| readable(shaded.palette[usize::from(index)])));
        }
        pen.put('│', None);
        text.push('\n');
    }
    text + &format!("└{line}┘")
}

fn braille(indices: impl Iterator<Item = u8>) -> char {
    let set = indices.zip(BRAILLE_BITS).filter(|(index, _)| *index != Shaded::NONE);
    let bits: u32 = set.map(|(_, bit)| 1 << bit).sum();
    // A space is as wide as the character without dots.
    if bits == 0 { ' ' } else { char::from_u32(0x2800 + bits).unwrap_or(' ') }
}

/// The letter of a cell is `o` if both matrices have entries, `+` if only the first has entries,
/// `-` if only the second has entries. `*` stands for entries of both matrices beside entries of
/// only the first.
fn letter(parts: impl Iterator<Item = u8>) -> char {
    match parts.fold(0, |all, parts| all | parts) {
        0 => ' ',
        1 => 'o',
        2 => '+',
        3 => '*',
        _ => '-',
    }
}

/// Makes a colour lighter if it would be invisible on a dark background.
fn readable(colour: Colour) -> Colour {
    let lightness = colour.map(u32::from).iter().zip([3, 6, 1]).map(|(c, weight)| c * weight).sum::<u32>() / 10;
    let lift = 110u32.saturating_sub(lightness);
    colour.map(|c| (u32::from(c) + (255 - u32::from(c)) * lift / (255 - lightness).max(1)) as u8)
}

/// Writes characters, and the colour when it changes.
struct Pen<'a> {
    text: &'a mut String,
    colour: Option<u8>,
}

impl Pen<'_> {
    fn put(&mut self, char: char, colour: Option<Colour>) {
        // The 6 x 6 x 6 cube of the 256 colours that terminals share.
        let cube = |[r, g, b]: Colour| {
            let side = |c: u8| (c.saturating_sub(35) / 40).min(5);
            16 + 36 * side(r) + 6 * side(g) + side(b)
        };
        // A space has no colour; it may keep the previous one.
        let colour = if char == ' ' { self.colour } else { colour.map(cube) };
        if colour != self.colour {
            let _ = match colour {
                Some(number) => write!(self.text, "\x1b[38;5;{number}m"),
                None => write!(self.text, "\x1b[0m"),
            };
            self.colour = colour;
        }
        self.text.push(char);
    }
}
