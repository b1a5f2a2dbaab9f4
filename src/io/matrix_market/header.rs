//! Banner and size line: what a file says it is, checked before an entry is read.
use super::line;
use crate::io::source::Source;
use crate::io::words::{count, quote, words};
use crate::io::{Field, ReadOptions, Symmetry};
use crate::{Pattern, Result};

/// What banner and size line say.
#[derive(Debug)]
pub(super) struct Header {
    pub field: Field,
    pub symmetry: Symmetry,
    pub nrows: u64,
    pub ncols: u64,
    /// Entries written in the file.
    pub stored: u64,
    /// Number of the size line.
    pub size_line: u64,
}

impl Header {
    /// Reads up to and with the size line.
    pub fn read(source: &mut Source<'_>, options: &ReadOptions) -> Result<Self> {
        let Some(banner) = source.line()? else {
            return Err(source.refuse(1, "the file is empty"));
        };
        let (field, symmetry) = parse_banner(banner).map_err(|reason| source.refuse(1, reason))?;
        loop {
            let Some(bytes) = source.line()? else {
                return Err(source.refuse(source.lines(), "the file ends before the line \"rows columns entries\""));
            };
            if line::is_comment(bytes) {
                continue;
            }
            let sizes = parse_sizes(bytes);
            let size_line = source.lines();
            let header = sizes
                .map(|[nrows, ncols, stored]| Self { field, symmetry, nrows, ncols, stored, size_line })
                .and_then(|header| header.check(options).map(|()| header));
            return header.map_err(|reason| source.refuse(size_line, reason));
        }
    }

    fn check(&self, options: &ReadOptions) -> std::result::Result<(), String> {
        let Self { nrows, ncols, stored, .. } = *self;
        if self.symmetry != Symmetry::General && nrows != ncols {
            return Err(format!("{nrows} rows and {ncols} columns, but a {} matrix is square", self.symmetry.name()));
        }
        let unproven = options.max_unproven_lines.max(stored.saturating_mul(16));
        for (what, lines) in [("rows", nrows), ("columns", ncols)] {
            if lines > Pattern::MAX_LINES {
                return Err(format!("{lines} {what}, at most {} are supported", Pattern::MAX_LINES));
            }
            if lines > unproven {
                return Err(format!("{lines} {what} for {stored} entries, {unproven} at most"));
            }
        }
        // Both sides fit 32 bits, so no product here wraps.
        let places = match self.symmetry {
            Symmetry::General => nrows * ncols,
            Symmetry::Symmetric => (u128::from(nrows) * (u128::from(nrows) + 1) / 2) as u64,
            Symmetry::SkewSymmetric => nrows * nrows.saturating_sub(1) / 2,
        };
        if stored > places && (places == 0 || !options.sum_duplicates) {
            return Err(format!(
                "{stored} entries, but a {} matrix of {nrows}x{ncols} has {places} at most",
                self.symmetry.name()
            ));
        }
        Ok(())
    }
}

fn parse_banner(bytes: &[u8]) -> std::result::Result<(Field, Symmetry), String> {
    const FORM: &str = "\"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"";
    let lower = bytes.to_ascii_lowercase();
    let mut rest = words(&lower);
    if rest.next() != Some(b"%%matrixmarket") {
        return Err(format!("the first line is not {FORM}, as in a Matrix Market file"));
    }
    let rest: Vec<_> = rest.collect();
    let &[object, format, field, symmetry] = &rest[..] else {
        return Err(format!("the first line has {} words, {FORM} has 5", rest.len() + 1));
    };
    if object != b"matrix" {
        return Err(format!("the object is {}, only \"matrix\" is known", quote(object)));
    }
    match format {
        b"coordinate" => {}
        b"array" => return Err("the format \"array\" (a dense matrix) is not supported, only \"coordinate\"".into()),
        _ => return Err(format!("the format is {}, only \"coordinate\" is supported", quote(format))),
    }
    let field = match field {
        b"real" => Field::Real,
        b"integer" => Field::Integer,
        b"pattern" => Field::Pattern,
        b"complex" => return Err("complex matrices are not supported".into()),
        _ => return Err(format!("the field is {}, not \"real\", \"integer\" or \"pattern\"", quote(field))),
    };
    match (symmetry, field) {
        (b"general", _) => Ok((field, Symmetry::General)),
        (b"symmetric", _) => Ok((field, Symmetry::Symmetric)),
        (b"skew-symmetric", Field::Pattern) => Err("a pattern has no signs and cannot be skew-symmetric".into()),
        (b"skew-symmetric", _) => Ok((field, Symmetry::SkewSymmetric)),
        (b"hermitian", _) => Err("hermitian matrices are not supported".into()),
        _ => Err(format!("the symmetry is {}, not \"general\", \"symmetric\" or \"skew-symmetric\"", quote(symmetry))),
    }
}

fn parse_sizes(bytes: &[u8]) -> std::result::Result<[u64; 3], String> {
    let found: Vec<_> = words(bytes).collect();
    let &[nrows, ncols, stored] = &found[..] else {
        return Err(format!("{} numbers where \"rows columns entries\" is expected", found.len()));
    };
    Ok([count(nrows, "rows")?, count(ncols, "columns")?, count(stored, "entries")?])
}
