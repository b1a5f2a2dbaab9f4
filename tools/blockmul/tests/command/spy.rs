//! Tests of pictures. PNG files are read back pixel by pixel, the terminal's text letter by letter.
use super::*;
use std::io::Cursor;

struct Png {
    width: usize,
    height: usize,
    /// Indices into the palette, row by row.
    pixels: Vec<u8>,
    palette: Vec<u8>,
    description: String,
}

type Rgb = [u8; 3];
const WHITE: Rgb = [255; 3];
const GREY: Rgb = [200; 3];
const BLACK: Rgb = [0; 3];
const FRAME: Rgb = [0x80; 3];
const GRID: Rgb = [0xec; 3];
const YELLOW: Rgb = [0xfd, 0xe7, 0x25];
const VIOLET: Rgb = [0x44, 0x01, 0x54];
const VERMILION: Rgb = [0xd5, 0x5e, 0x00];
const BLUE: Rgb = [0x00, 0x72, 0xb2];
const ORANGE: Rgb = [0xe6, 0x9f, 0x00];
const PURPLE: Rgb = [0xaa, 0x33, 0x77];
/// Number of rows of pixels below the frame of the cells.
const LEGEND: usize = 34;

impl Png {
    fn decode(bytes: Vec<u8>) -> Self {
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((frame.color_type, frame.bit_depth), (png::ColorType::Indexed, png::BitDepth::Eight));
        let info = reader.info();
        let description = info.uncompressed_latin1_text.iter().find(|text| text.keyword == "Description").unwrap();
        Self {
            width: info.width as usize,
            height: info.height as usize,
            palette: info.palette.as_ref().unwrap().to_vec(),
            description: description.text.clone(),
            pixels,
        }
    }

    fn at(&self, row: usize, col: usize) -> Rgb {
        let index = usize::from(self.pixels[row * self.width + col]);
        self.palette[3 * index..][..3].try_into().unwrap()
    }

    /// Returns the colours in the middle of cells of the given size.
    fn cells(&self, rows: usize, cols: usize, (cell_rows, cell_cols): (usize, usize)) -> Vec<Vec<Rgb>> {
        let middle = |row, col| self.at(1 + row * cell_rows + cell_rows / 2, 1 + col * cell_cols + cell_cols / 2);
        (0..rows).map(|row| (0..cols).map(|col| middle(row, col)).collect()).collect()
    }
}

impl Desk {
    /// Runs `spy` on the device under test. The device's picture must be equal to the host's.
    fn spy(&self, line: &str) -> Png {
        self.ok(&format!("spy --device {} {line} -o p.png", common::device().info().index));
        self.ok(&format!("spy --device reference {line} -o q.png"));
        let read = |name| std::fs::read(self.path(name)).unwrap();
        assert!(read("p.png") == read("q.png"), "{line}: the device's picture is not the host's");
        Png::decode(read("p.png"))
    }

    /// Returns the output of `spy` in a terminal.
    fn term(&self, line: &str) -> String {
        self.ok(&format!("spy --device reference --quiet {line}")).stdout
    }
}

/// The matrix has 4 x 4 elements: magnitudes 100, 10, 1 and infinity in column 0, a NaN and a
/// stored zero in column 3.
const MIXED: &str =
    "%%MatrixMarket matrix coordinate real general\n4 4 6\n1 1 -100\n2 1 10\n3 1 1\n4 4 0\n1 4 nan\n4 1 inf\n";

#[test]
fn small_matrices_are_enlarged_with_their_magnitudes() {
    let desk = Desk::with([("m.mtx", MIXED)]);
    let png = desk.spy("m.mtx");
    // The picture has 4 cells of 32 pixels and the frame. The picture is wider than that because of
    // the legend.
    assert_eq!((png.width, png.height), (194, 130 + LEGEND));
    let cells = png.cells(4, 4, (32, 32));
    let middle = cells[1][0];
    assert_eq!(
        cells,
        [
            [VIOLET, WHITE, WHITE, VERMILION],
            [middle, WHITE, WHITE, WHITE],
            [YELLOW, WHITE, WHITE, WHITE],
            [VERMILION, WHITE, WHITE, GREY]
        ]
    );
    assert!(![WHITE, GREY, VIOLET, YELLOW].contains(&middle));
    assert_eq!([png.at(0, 0), png.at(129, 129), png.at(0, 130)], [FRAME, FRAME, WHITE]);
    assert_eq!([png.at(32, 40), png.at(40, 32), png.at(33, 40)], [GRID, GRID, WHITE], "a line between elements");
    assert_eq!([png.at(140, 1), png.at(140, 190)], [YELLOW, VIOLET], "the legend");
    assert!(png.description.contains("from 1.0e0 (yellow) to 1.0e2 (violet)"), "{}", png.description);

    let black = desk.spy("m.mtx --shade pattern --size 16");
    assert_eq!((black.width, black.height), (18, 18));
    assert_eq!(black.cells(1, 4, (4, 4)), [[BLACK, WHITE, WHITE, BLACK]]);
}

#[test]
fn blocks_are_drawn_whole_or_by_their_elements() {
    let desk = Desk::with([("m.mtx", MIXED)]);
    // By default elements are shown one by one. Stored elements that are not zero are black. Zeros
    // are grey, also the zeros that blocks add.
    let png = desk.spy("m.mtx --block 2 --shade pattern");
    let cells = png.cells(4, 4, (32, 32));
    assert_eq!(cells[0], [BLACK, GREY, GREY, BLACK]);
    assert_eq!(cells[3], [BLACK, GREY, GREY, GREY]);
    assert_eq!([png.at(32, 10), png.at(64, 10)], [BLACK, GRID], "lines between blocks only");
    // With --block whole blocks are shown. If 40 rows and columns are shown on 16 pixels, a cell
    // has 3 of either, but 4 rows if blocks have 2 rows.
    desk.ok("generate uniform --rows 20 --cols 40 --per-column 1 --block 2x1 --seed 3 -q -o u.mtx");
    let png = desk.spy("u.mtx --block 2x1 --shade density --size 16");
    assert!(png.description.starts_with("a cell shows 4 x 3 elements"), "{}", png.description);
    assert_eq!(png.height, 10 + 2 + LEGEND);
    desk.fails("spy m.mtx --block 3 -o p.png", 2, &["4 rows cannot be cut into blocks of 3"]);
}

#[test]
fn matrices_without_entries_or_lines_are_frames() {
    let desk = Desk::new();
    let header = "%%MatrixMarket matrix coordinate real general\n";
    for (size, (rows, cols), cell) in
        [("0 5", (0, 5), (32, 32)), ("5 0", (5, 0), (32, 32)), ("0 0", (0, 0), (32, 32)), ("3 2", (3, 2), (32, 32))]
    {
        desk.put("e.mtx", &format!("{header}{size} 0\n"));
        let png = desk.spy("e.mtx");
        assert_eq!((png.width, png.height), (cols * cell.1 + 2, rows * cell.0 + 2), "{size}");
        assert_eq!(png.cells(rows, cols, cell), vec![vec![WHITE; cols]; rows]);
        assert!((0..png.width).all(|col| png.at(0, col) == FRAME && png.at(png.height - 1, col) == FRAME));
    }
    desk.put("one.mtx", &format!("{header}1 1 1\n1 1 -2\n"));
    let png = desk.spy("one.mtx");
    assert_eq!(png.cells(1, 1, (32, 32)), [[VIOLET]]);
    desk.put("row.mtx", &format!("{header}1 64 2\n1 1 1\n1 64 1\n"));
    let png = desk.spy("row.mtx --shade pattern --size 64");
    assert_eq!((png.width, png.height), (66, 10), "one row is made 8 pixels high");
    assert_eq!(png.cells(1, 64, (8, 1))[0].iter().filter(|cell| **cell == BLACK).count(), 2);
    assert_eq!((png.at(4, 1), png.at(4, 64)), (BLACK, BLACK));
}

#[test]
fn the_difference_is_coloured_and_counted() {
    let desk = Desk::new();
    let header = "%%MatrixMarket matrix coordinate pattern general\n";
    desk.put("c.mtx", &format!("{header}4 4 4\n1 1\n2 1\n3 3\n4 3\n"));
    desk.put("a.mtx", &format!("{header}4 4 3\n1 1\n1 4\n3 3\n"));
    let png = desk.spy("c.mtx --diff a.mtx");
    assert_eq!(
        png.cells(4, 4, (32, 32)),
        [
            [BLUE, WHITE, WHITE, PURPLE],
            [ORANGE, WHITE, WHITE, WHITE],
            [WHITE, WHITE, BLUE, WHITE],
            [WHITE, WHITE, ORANGE, WHITE]
        ]
    );
    let said = desk.ok("spy c.mtx --diff a.mtx --device reference -o p.png").stderr;
    assert!(said.contains("fill: 2 entries; in both: 2; only in the other: 1"), "{said}");
    let letters = "┌────────┐\n│oo    --│\n│++      │\n│    oo  │\n│    ++  │\n└────────┘\n";
    assert_eq!(desk.term("c.mtx --diff a.mtx --width 12"), letters);
    // The upper left and the lower right block are in both matrices, the upper right one only in a.
    let letters = "┌────────┐\n│oooo----│\n│oooo----│\n│    oooo│\n│    oooo│\n└────────┘\n";
    assert_eq!(desk.term("c.mtx --diff a.mtx --width 12 --block 2"), letters);
    assert!(desk.ok("spy c.mtx --diff a.mtx --block 2").stderr.contains("fill: 0 blocks of 2x2; in both: 2"));
    // If 32 rows are shown on 6 characters, a letter stands for several elements.
    desk.put("d.mtx", &format!("{header}32 32 2\n1 1\n2 1\n"));
    desk.put("e.mtx", &format!("{header}32 32 1\n1 1\n"));
    assert!(desk.term("d.mtx --diff e.mtx --width 8").contains("│* "));
    desk.put("wide.mtx", WIDE);
    desk.fails("spy c.mtx --diff wide.mtx", 2, &["4x4", "2x4"]);
    desk.fails("spy c.mtx --diff a.mtx --shade density", 2, &["--shade"]);
}

#[test]
fn the_terminal_shows_braille() {
    let desk = Desk::with([("m.mtx", MIXED)]);
    let large = "┌────────┐\n│⣿⣿    ⣿⣿│\n│⣿⣿      │\n│⣿⣿      │\n│⣿⣿    ⣿⣿│\n└────────┘\n";
    assert_eq!(desk.term("m.mtx --width 80"), large);
    // 12 dots are available for 10 lines, so each line has a dot. A character has eight dots, and
    // the last characters are cut.
    let header = "%%MatrixMarket matrix coordinate real general\n";
    desk.put("d.mtx", &format!("{header}10 10 5\n1 1 1\n2 2 1\n9 9 1\n10 10 1\n10 1 1\n"));
    assert_eq!(desk.term("d.mtx --width 8"), "┌─────┐\n│⠑    │\n│     │\n│⠂   ⠑│\n└─────┘\n");
    desk.put("e.mtx", &format!("{header}0 0 0\n"));
    assert_eq!(desk.term("e.mtx"), "┌┐\n└┘\n");
    // Output to a pipe is coloured only if this is requested.
    let forced = ran({
        let mut command = desk.command("spy m.mtx -q --device reference --width 80");
        command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
        command
    });
    assert!(forced.stdout.contains("\u{1b}[38;5;"), "{}", forced.stdout);
    let plain = without_colours(&forced.stdout);
    assert_eq!(plain, large);
}

/// Returns a text without its colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap().to_string();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let desk = Desk::new();
    desk.put("m.mtx", MIXED);
    desk.put("twice.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 1\n");
    desk.fails("spy none.mtx", 2, &["none.mtx"]);
    desk.fails("spy twice.mtx -o p.png", 2, &["twice.mtx:4"]);
    desk.ok("spy twice.mtx --sum-duplicates -o twice.png");
    desk.fails("spy m.mtx -o m.jpg", 2, &["m.jpg", ".png"]);
    desk.fails("spy m.mtx -o nowhere/m.png", 2, &["the folder nowhere of the output nowhere/m.png"]);
    desk.fails("spy m.mtx -o - --term", 2, &["stdout"]);
    desk.fails("spy m.mtx -o p.png --size 9000", 2, &["9000", "8192"]);
    desk.fails("spy m.mtx --width 1", 2, &["8"]);
    desk.fails("spy m.mtx --device none-such", 3, &["none-such"]);
    assert_eq!(desk.files(), ["m.mtx", "twice.mtx", "twice.png"]);
    let output = desk.command("spy m.mtx -o - -q").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(Png::decode(output.stdout).pixels, desk.spy("m.mtx").pixels);
}
