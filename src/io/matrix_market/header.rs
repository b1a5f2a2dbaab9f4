//! Reads the banner, notes and size line of a file and checks them before any entry is read.
use super::line;
use crate::io::source::Source;
use crate::io::words::{count, counted, quote, words};
use crate::io::{
    ReadOptions, Symmetry, ValueType,
    assemble::{HOW_TO_SUM, too_many_lines},
};
use crate::{BlockShape, Pattern, Result};

/// The part of a file before its entries.
#[derive(Debug)]
pub(super) struct Header {
    /// Whether the file is an array: a list of all elements, column after column, so that the
    /// number of an element gives its row and column.
    pub is_array: bool,
    pub field: ValueType,
    /// Whether no value is negative.
    pub is_unsigned: bool,
    pub symmetry: Symmetry,
    pub nrows: u64,
    pub ncols: u64,
    /// Number of entries that the file announces; for an array the number of values.
    pub stored: u64,
    /// The number of the line with the sizes.
    pub size_line: u64,
    /// The block shape that a comment `%%blockmul blocks` gives.
    pub blocks: Option<BlockShape>,
    /// Deviations from the format that were accepted.
    pub warnings: Vec<String>,
}

/// The first word of a comment that has a meaning: `%%blockmul blocks ROWSxCOLUMNS`.
pub(super) const NOTE: &str = "%%blockmul";

/// A line between the banner and the entries.
enum Line {
    Comment,
    Note(BlockShape),
    /// Number of rows, of columns and, except in an array, of entries.
    Sizes(u64, u64, Option<u64>),
}

impl Header {
    /// Reads the file up to and including the size line.
    pub fn read(source: &mut Source<'_>, options: &ReadOptions) -> Result<Self> {
        let Some(banner) = source.line()? else {
            return Err(source.refuse(1, "the file is empty"));
        };
        let two_signs = banner.trim_ascii_start().starts_with(b"%%");
        let (is_array, (field, is_unsigned), symmetry) =
            parse_banner(banner).map_err(|reason| source.refuse(1, reason))?;
        let warning = "the banner begins with one % where the format has two; the file is read as if it had them";
        let warnings = if two_signs { Vec::new() } else { vec![source.refuse(1, warning).to_string()] };
        let mut note: Option<(BlockShape, u64)> = None;
        loop {
            source.skip_empty()?;
            let Some(bytes) = source.line()? else {
                let reason = format!("the file ends before the line \"{}\"", size_form(is_array));
                return Err(source.refuse(source.lines(), reason));
            };
            let found = parse_line(bytes, is_array);
            let size_line = source.lines();
            let refuse = |reason| source.refuse(size_line, reason);
            let (nrows, ncols, stored) = match (found.map_err(refuse)?, note) {
                (Line::Comment, _) => continue,
                (Line::Note(_), Some((_, first))) => {
                    return Err(refuse(format!("a second note of blocks, the first is on line {first}")));
                }
                (Line::Note(shape), None) => {
                    note = Some((shape, size_line));
                    continue;
                }
                (Line::Sizes(nrows, ncols, stored), _) => (nrows, ncols, stored),
            };
            let blocks = note.map(|(shape, _)| shape);
            let mut header = Self {
                is_array,
                field,
                is_unsigned,
                symmetry,
                nrows,
                ncols,
                stored: 0,
                size_line,
                blocks,
                warnings: warnings.clone(),
            };
            header.check_lines().map_err(refuse)?;
            header.stored = stored.unwrap_or_else(|| header.places());
            header.check_stored(options).map_err(refuse)?;
            if let Some((shape, line)) = note {
                header.check_blocks(shape).map_err(|reason| source.refuse(line, reason))?;
            }
            return Ok(header);
        }
    }

    /// The word for the items of the file, for messages.
    pub fn items(&self) -> &'static str {
        if self.is_array { "values" } else { "entries" }
    }

    /// The first row of column `col` that a file with this symmetry may contain.
    pub fn first_row(&self, col: u64) -> u64 {
        match self.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => col,
            Symmetry::SkewSymmetric => col + 1,
        }
    }

    /// The number of elements before column `col` that a file with this symmetry may contain. Sides
    /// fit 32 bits, so counts fit 64.
    pub fn places_before(&self, col: u64) -> u64 {
        let above = match self.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => (u128::from(col) * u128::from(col.saturating_sub(1)) / 2) as u64,
            Symmetry::SkewSymmetric => (u128::from(col) * (u128::from(col) + 1) / 2) as u64,
        };
        col * self.nrows - above
    }

    fn places(&self) -> u64 {
        self.places_before(self.ncols)
    }

    fn check_lines(&self) -> std::result::Result<(), String> {
        let Self { nrows, ncols, .. } = *self;
        if self.symmetry != Symmetry::General && nrows != ncols {
            return Err(format!("{nrows} rows and {ncols} columns, but a {} matrix is square", self.symmetry.name()));
        }
        for (what, lines) in [("rows", nrows), ("columns", ncols)] {
            if lines > Pattern::MAX_LINES {
                return Err(format!("{lines} {what}, at most {} are supported", Pattern::MAX_LINES));
            }
        }
        Ok(())
    }

    fn check_stored(&self, options: &ReadOptions) -> std::result::Result<(), String> {
        let Self { nrows, ncols, stored, .. } = *self;
        let unproven = options.max_unproven_lines.max(stored.saturating_mul(16));
        for (what, lines) in [("rows", nrows), ("columns", ncols)] {
            if lines > unproven {
                let item = if self.is_array { "value" } else { "entry" };
                return Err(too_many_lines(what, lines, stored, item, unproven));
            }
        }
        let places = self.places();
        if stored > places && (places == 0 || !options.sum_duplicates) {
            return Err(format!(
                "{stored} entries, but a {} matrix of {nrows}x{ncols} has {places} at most{}",
                self.symmetry.name(),
                if places == 0 { "" } else { HOW_TO_SUM }
            ));
        }
        Ok(())
    }

    fn check_blocks(&self, shape: BlockShape) -> std::result::Result<(), String> {
        let (rows, cols) = (shape.rows() as u64, shape.cols() as u64);
        match self.nrows.is_multiple_of(rows) && self.ncols.is_multiple_of(cols) {
            true => Ok(()),
            false => Err(format!(
                "blocks of {shape} do not fit the {} rows and {} columns of line {}",
                self.nrows, self.ncols, self.size_line
            )),
        }
    }

    #[cfg(test)]
    pub fn example(field: ValueType, symmetry: Symmetry, is_array: bool) -> Self {
        let (stored, size_line, blocks, warnings) = (9, 2, None, Vec::new());
        let is_unsigned = false;
        Self { is_array, field, is_unsigned, symmetry, nrows: 12, ncols: 12, stored, size_line, blocks, warnings }
    }
}

/// Whether a file that begins with this word has a banner. Files of networkrepository.com write the
/// banner with one `%` instead of two.
pub fn is_banner(word: &[u8]) -> bool {
    let named = word.strip_prefix(b"%").map(|word| word.strip_prefix(b"%").unwrap_or(word)).unwrap_or_default();
    named.get(..12).is_some_and(|name| name.eq_ignore_ascii_case(b"MatrixMarket"))
}

/// Returns whether the file is an array, its field, whether the field is unsigned, and its
/// symmetry.
fn parse_banner(bytes: &[u8]) -> std::result::Result<(bool, (ValueType, bool), Symmetry), String> {
    const FORM: &str = "\"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\"";
    let lower = bytes.to_ascii_lowercase();
    let mut rest = words(&lower);
    if !rest.next().is_some_and(|word| matches!(word, b"%%matrixmarket" | b"%matrixmarket")) {
        return Err(format!("the first line is not {FORM}, as in a Matrix Market file"));
    }
    let rest: Vec<_> = rest.collect();
    let &[object, format, field, symmetry] = &rest[..] else {
        return Err(format!("the first line has {} words, {FORM} has 5", rest.len() + 1));
    };
    if object != b"matrix" {
        return Err(format!("the object is {}, only \"matrix\" is known", quote(object)));
    }
    let is_array = match format {
        b"coordinate" => false,
        b"array" => true,
        _ => return Err(format!("the format is {}, not \"coordinate\" or \"array\"", quote(format))),
    };
    // Some C++ libraries write this field for nonnegative integers.
    const UNSIGNED: &[u8] = b"unsigned-integer";
    let read = match field {
        b"real" => ValueType::Real,
        b"integer" | UNSIGNED => ValueType::Integer,
        b"pattern" if is_array => return Err("an array writes every value and cannot be a pattern".into()),
        b"pattern" => ValueType::Pattern,
        b"complex" => return Err("complex matrices are not supported".into()),
        _ => return Err(format!("the field is {}, not \"real\", \"integer\" or \"pattern\"", quote(field))),
    };
    let symmetry = match (symmetry, read) {
        (b"general", _) => Symmetry::General,
        (b"symmetric", _) => Symmetry::Symmetric,
        (b"skew-symmetric", ValueType::Pattern) => {
            return Err("a pattern has no signs and cannot be skew-symmetric".into());
        }
        (b"skew-symmetric", _) if field == UNSIGNED => {
            return Err("unsigned integers have no signs and cannot be skew-symmetric".into());
        }
        (b"skew-symmetric", _) => Symmetry::SkewSymmetric,
        (b"hermitian", _) => return Err("hermitian matrices are not supported".into()),
        _ => {
            let symmetry = quote(symmetry);
            return Err(format!("the symmetry is {symmetry}, not \"general\", \"symmetric\" or \"skew-symmetric\""));
        }
    };
    Ok((is_array, (read, field == UNSIGNED), symmetry))
}

fn size_form(is_array: bool) -> &'static str {
    if is_array { "rows columns" } else { "rows columns entries" }
}

fn parse_line(bytes: &[u8], is_array: bool) -> std::result::Result<Line, String> {
    let found: Vec<_> = words(bytes).take(5).collect();
    match &found[..] {
        [first, rest @ ..] if *first == NOTE.as_bytes() => parse_note(rest).map(Line::Note),
        _ if line::is_comment(bytes) => Ok(Line::Comment),
        &[nrows, ncols, entries] if !is_array => {
            Ok(Line::Sizes(count(nrows, "rows")?, count(ncols, "columns")?, Some(count(entries, "entries")?)))
        }
        &[nrows, ncols] if is_array => Ok(Line::Sizes(count(nrows, "rows")?, count(ncols, "columns")?, None)),
        _ => Err(format!("{} where \"{}\" is expected", counted(words(bytes).count(), "number"), size_form(is_array))),
    }
}

/// Parses the text of a note after its first word: `blocks ROWSxCOLUMNS`.
fn parse_note(rest: &[&[u8]]) -> std::result::Result<BlockShape, String> {
    let malformed = || format!("not \"{NOTE} blocks ROWSxCOLUMNS\", the one note that {NOTE} may begin");
    let &[b"blocks", shape] = rest else { return Err(malformed()) };
    let by = shape.iter().position(|&byte| byte == b'x').ok_or_else(malformed)?;
    let side = |word| count(word, "the blocks' side").map(|side| usize::try_from(side).unwrap_or(usize::MAX));
    BlockShape::new(side(&shape[..by])?, side(&shape[by + 1..])?).map_err(|error| error.to_string())
}
