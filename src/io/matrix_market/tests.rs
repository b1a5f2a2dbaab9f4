//! Tests the reader and the writer as a whole: reading, refusals with their messages, and round
//! trips.
use std::io::ErrorKind;
use std::sync::{Arc, LazyLock, Mutex};

use nalgebra_sparse::io::load_coo_from_matrix_market_str;
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::*;
use crate::io::packing::{Packing, tests::packed};
use crate::io::{Symmetry, ValueType};
use crate::{Csc, Error, Pattern};

mod arrays;
mod blocks;
mod parallel;

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

fn from_text(text: impl AsRef<[u8]>, options: &ReadOptions) -> Result<MatrixFile> {
    read_from(text.as_ref(), "a.mtx", options)
}

/// Pools of one thread and of three threads. The number 3 does not divide the sizes of chunks,
/// which are powers of two.
static POOLS: LazyLock<[ThreadPool; 2]> =
    LazyLock::new(|| [1, 3].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap()));

/// Reads `text` in chunks of about `block_bytes` bytes, on one of the [`POOLS`].
fn in_blocks(
    text: &[u8],
    block_bytes: usize,
    pool: usize,
    options: &ReadOptions,
) -> std::result::Result<MatrixFile, String> {
    let source = Source::in_blocks(text, Path::new("a.mtx"), block_bytes).unwrap();
    POOLS[pool].install(|| read_source(source, options)).map_err(|error| error.to_string())
}

fn accepted(text: impl AsRef<[u8]>) -> MatrixFile {
    from_text(text, &ReadOptions::default()).unwrap()
}

/// The error message for a file that is refused, without the file name.
fn refused(text: impl AsRef<[u8]>) -> String {
    let error = from_text(text, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Parse { .. }));
    error.to_string().strip_prefix("a.mtx:").unwrap().to_owned()
}

fn parts(file: &MatrixFile) -> (&[u64], &[u32], &[f64]) {
    (file.matrix.pattern().col_ptr(), file.matrix.pattern().row_idx(), file.matrix.values())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    packed(Some(Packing::Gzip), bytes)
}

#[test]
fn general_in_any_order_with_explicit_zeros() {
    let file = accepted(format!("{REAL}3 2 4\n3 2 1e0\n1 2 -0.0\n2 1 .5\n1 1 0\n"));
    assert_eq!(parts(&file), (&[0, 2, 4][..], &[0, 1, 0, 2][..], &[0.0, 0.5, -0.0, 1.0][..]));
    assert_eq!((file.field, file.symmetry, file.stored), (ValueType::Real, Symmetry::General, 4));
    assert!(file.matrix.values()[2].is_sign_negative());
}

#[test]
fn symmetric_and_skew_symmetric_are_expanded() {
    let file = accepted("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n3 1 5\n2 2 7\n2 1 -1\n");
    assert_eq!(parts(&file), (&[0, 2, 4, 5][..], &[1, 2, 0, 1, 0][..], &[-1.0, 5.0, -1.0, 7.0, 5.0][..]));
    let file = accepted("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n3 1 5\n2 1 -inf\n");
    let infinity = f64::INFINITY;
    assert_eq!(parts(&file), (&[0, 2, 3, 4][..], &[1, 2, 0, 0][..], &[-infinity, 5.0, infinity, -5.0][..]));
    let file = accepted("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n");
    assert_eq!(parts(&file), (&[0, 2, 3][..], &[0, 1, 0][..], &[1.0; 3][..]));
    assert_eq!((file.field, file.symmetry, file.stored), (ValueType::Pattern, Symmetry::Symmetric, 2));
}

#[test]
fn spaces_comments_case_and_line_ends() {
    let plain = accepted(format!("{REAL}2 2 2\n1 1 1\n2 2 2\n"));
    let odd = "  %%matrixMARKET\tMatrix  COORDINATE Real GENERAL \r\n%\r\n \r\n\t% c \u{e9}\r\n  2 2 2\r\n\r\n 1\t1   1 \r\n% x\r\n+2 02 2.D0";
    // The text is encoded as Latin-1: its comment contains a byte that is not UTF-8.
    let bytes: Vec<u8> = odd.chars().map(|c| c as u8).collect();
    assert_eq!(accepted(&bytes), plain);
    assert_eq!(accepted(gzip(&bytes)), plain);
    let members = [gzip(&bytes[..40]), gzip(b""), gzip(&bytes[40..])].concat();
    assert_eq!(accepted(members), plain);
    let streams = [&bytes[..40], b"", &bytes[40..]].map(|bytes| packed(Some(Packing::Bzip2), bytes)).concat();
    assert_eq!(accepted(streams), plain);
}

#[test]
fn empty_matrices() {
    for (rows, cols) in [(0, 0), (0, 3), (4, 0), (2, 2)] {
        let file = accepted(format!("{REAL}{rows} {cols} 0\n"));
        let pattern = file.matrix.pattern();
        assert_eq!((pattern.nrows(), pattern.ncols(), pattern.nnz()), (rows, cols, 0));
    }
}

#[test]
fn banners_refused() {
    assert_eq!(refused(""), "1: the file is empty");
    for text in ["\n", "%%%MatrixMarket matrix coordinate real general\n", "\u{feff}1 1 1\n", "1 1 1\n", "\0\0"] {
        assert!(refused(text).starts_with("1: the first line is not \"%%MatrixMarket matrix FORMAT"), "{text:?}");
    }
    let banner = |rest: &str| refused(format!("%%MatrixMarket {rest}\n1 1 1\n1 1 1\n"));
    assert!(banner("matrix coordinate real").starts_with("1: the first line has 4 words"));
    assert!(banner("matrix coordinate real general too").starts_with("1: the first line has 6 words"));
    assert!(banner("vector coordinate real general").starts_with("1: the object is \"vector\""));
    assert_eq!(banner("matrix array complex general"), "1: complex matrices are not supported");
    assert_eq!(banner("matrix array pattern general"), "1: an array writes every value and cannot be a pattern");
    assert!(banner("matrix dense real general").starts_with("1: the format is \"dense\""));
    assert_eq!(banner("matrix coordinate complex general"), "1: complex matrices are not supported");
    assert!(banner("matrix coordinate double general").starts_with("1: the field is \"double\""));
    assert_eq!(banner("matrix coordinate real hermitian"), "1: hermitian matrices are not supported");
    assert!(banner("matrix coordinate real upper").starts_with("1: the symmetry is \"upper\""));
    assert!(banner("matrix coordinate pattern skew-symmetric").starts_with("1: a pattern has no signs"));
}

#[test]
fn a_byte_order_mark_is_skipped_and_lines_are_counted_as_before() {
    let text = format!("\u{feff}{REAL}1 1 1\n1 1 5\n");
    for packing in [None, Some(Packing::Gzip), Some(Packing::Xz)] {
        let file = accepted(packed(packing, text.as_bytes()));
        assert_eq!((file.matrix.values(), file.warnings), (&[5.0][..], Vec::<String>::new()));
    }
    assert!(refused(format!("{text}1 1 x\n")).starts_with("4: "));
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for packing in [None, Some(Packing::Bzip2)] {
        let reason = "1: the text is UTF-16, and UTF-8 is read: `iconv -f UTF-16 -t UTF-8` converts it";
        assert_eq!(refused(packed(packing, &wide)), reason);
    }
}

#[test]
fn unsigned_integers_are_integers_that_are_not_negative() {
    let text = |form: &str, rest: &str| format!("%%MatrixMarket matrix {form} unsigned-integer {rest}");
    let file = accepted(text("coordinate", "general\n2 2 2\n1 1 5\n2 1 18446744073709549568\n"));
    assert_eq!((file.field, file.matrix.values()), (ValueType::Integer, &[5.0, 18446744073709549568.0][..]));
    assert_eq!(accepted(text("coordinate", "symmetric\n2 2 1\n2 1 5\n")).matrix.nnz(), 2);
    assert_eq!(accepted(text("array", "general\n1 2\n5\n6\n")).matrix.values(), [5.0, 6.0]);
    for (form, rest, reason) in [
        ("coordinate", "general\n1 1 1\n1 1 -5\n", "3: value: \"-5\" is negative, and the file says"),
        ("array", "general\n1 1\n-5\n", "3: value: \"-5\" is negative"),
        (
            "coordinate",
            "general\n1 1 1\n1 1 18446744073709551615\n",
            "3: value: the integer \"18446744073709551615\" cannot",
        ),
        ("coordinate", "general\n1 1 1\n1 1 1.5\n", "3: value: \"1.5\" is not an integer"),
        ("coordinate", "skew-symmetric\n2 2 1\n2 1 5\n", "1: unsigned integers have no signs"),
    ] {
        let found = refused(text(form, rest));
        assert!(found.starts_with(reason), "{found}");
    }
}

#[test]
fn a_banner_with_one_percent_sign_is_read_with_a_warning() {
    let text = "%MatrixMarket Matrix coordinate real general\n1 1 1\n1 1 5\n";
    let file = accepted(text);
    let warning = "a.mtx:1: the banner begins with one % where the format has two; the file is read as if it had them";
    assert_eq!((file.matrix.values(), &file.warnings[..]), (&[5.0][..], &[warning.to_owned()][..]));
    let same = accepted(format!("%{text}"));
    assert_eq!((same.matrix, same.warnings), (file.matrix, Vec::<String>::new()));
}

#[test]
fn size_lines_refused() {
    let sizes = |sizes: &str| refused(format!("{REAL}% c\n{sizes}\n1 1 1\n"));
    let end = "the file ends before the line \"rows columns entries\"";
    assert_eq!((refused(REAL), refused(format!("{REAL}%\n\n"))), (format!("1: {end}"), format!("3: {end}")));
    assert_eq!(sizes("1 1"), "3: 2 numbers where \"rows columns entries\" is expected");
    assert_eq!(sizes("1 1 1 1"), "3: 4 numbers where \"rows columns entries\" is expected");
    assert_eq!(sizes("1 -1 1"), "3: columns: \"-1\" is not a whole number from 0");
    assert_eq!(sizes("1.0 1 1"), "3: rows: \"1.0\" is not a whole number from 0");
    assert_eq!(sizes("1 1 99999999999999999999"), "3: entries: \"99999999999999999999\" is too large");
    assert_eq!(
        sizes("1 2 3"),
        "3: 3 entries, but a general matrix of 1x2 has 2 at most; ReadOptions::sum_duplicates adds up entries at the same place"
    );
    assert_eq!(sizes("4294967295 1 1"), "3: 4294967295 rows, at most 4294967294 are supported");
    // The test file contains only the sizes, so no memory may be allocated for columns or entries.
    assert_eq!(
        sizes("4000000000 4000000000 1"),
        "3: 4000000000 rows for 1 entry, 16777216 at most; ReadOptions::max_unproven_lines allows more"
    );
    assert_eq!(
        sizes("1 16777217 1"),
        "3: 16777217 columns for 1 entry, 16777216 at most; ReadOptions::max_unproven_lines allows more"
    );
    assert_eq!(
        sizes("4000000000 4000000000 16000000000000000000"),
        "4: the file ends after 1 of the 16000000000000000000 entries of line 3"
    );
    let symmetry =
        |symmetry: &str, sizes: &str| refused(format!("%%MatrixMarket matrix coordinate real {symmetry}\n{sizes}\n"));
    assert_eq!(symmetry("symmetric", "2 3 1"), "2: 2 rows and 3 columns, but a symmetric matrix is square");
    assert_eq!(
        symmetry("symmetric", "3 3 7"),
        "2: 7 entries, but a symmetric matrix of 3x3 has 6 at most; ReadOptions::sum_duplicates adds up entries at the same place"
    );
    assert_eq!(
        symmetry("skew-symmetric", "3 3 4"),
        "2: 4 entries, but a skew-symmetric matrix of 3x3 has 3 at most; ReadOptions::sum_duplicates adds up entries at the same place"
    );
    assert_eq!(symmetry("skew-symmetric", "0 0 1"), "2: 1 entries, but a skew-symmetric matrix of 0x0 has 0 at most");
}

#[test]
fn a_wide_matrix_is_read_when_allowed() {
    let read = |columns: u64, max_unproven_lines| {
        let options = ReadOptions { max_unproven_lines, ..Default::default() };
        from_text(format!("{REAL}1 {columns} 1\n1 {columns} 1\n"), &options).map(|file| file.matrix.pattern().ncols())
    };
    assert!(read(16_777_217, ReadOptions::default().max_unproven_lines).is_err() && read(1000, 999).is_err());
    assert_eq!(read(1000, 1000).unwrap(), 1000);
}

#[test]
fn entries_refused() {
    let entry = |line: &str| refused(format!("{REAL}2 3 2\n\n1 1 1\n{line}\n"));
    assert_eq!(entry("2 2"), "5: 2 words where \"row column value\" is expected (the field is real)");
    assert_eq!(entry("2 2 1 1"), "5: 4 words where \"row column value\" is expected (the field is real)");
    assert_eq!(entry("2 2 1 % c"), "5: 5 words where \"row column value\" is expected (the field is real)");
    assert_eq!(entry("0 2 1"), "5: row 0 is outside 1 to 2");
    assert_eq!(entry("3 2 1"), "5: row 3 is outside 1 to 2");
    assert_eq!(entry("2 -4 1"), "5: column -4 is outside 1 to 3");
    assert_eq!(entry("2 4 1"), "5: column 4 is outside 1 to 3");
    assert_eq!(entry("4294967297 1 1"), "5: row 4294967297 is outside 1 to 2");
    assert_eq!(entry("36893488147419103233 1 1"), "5: row: \"36893488147419103233\" is too large");
    assert_eq!(entry("2 1.5 1"), "5: column: \"1.5\" is not a whole number from 0");
    assert_eq!(entry("2 2 pi"), "5: value: \"pi\" is not a number");
    assert_eq!(entry("2 2 1e999"), "5: value: \"1e999\" is too large for a 64-bit float");
    assert_eq!(entry("2 2 1\n1 2 2"), "6: more entries than the 2 of line 2");
    assert_eq!(entry("% 2 2 1"), "5: the file ends after 1 of the 2 entries of line 2");
    assert_eq!(refused(format!("{REAL}1 1 1")), "2: the file ends after 0 of the 1 entries of line 2");
    assert_eq!(
        refused([REAL.as_bytes(), b"1 1 1\n1 1 \xff\xfe\n"].concat()),
        "3: value: \"\\xff\\xfe\" is not a number"
    );
    let kind = |kind: &str, line: &str| refused(format!("%%MatrixMarket matrix coordinate {kind}\n2 2 1\n{line}\n"));
    assert_eq!(kind("pattern general", "1 1 1"), "3: 3 words where \"row column\" is expected (the field is pattern)");
    assert!(kind("real symmetric", "1 2 1").starts_with("3: entry (1, 2) lies above the diagonal; a symmetric"));
    assert!(kind("real skew-symmetric", "1 2 1").starts_with("3: entry (1, 2) lies on or above the diagonal; a skew"));
    assert!(kind("integer skew-symmetric", "2 2 0").starts_with("3: entry (2, 2) lies on or above the diagonal"));
    assert!(kind("integer general", "1 1 1.5").starts_with("3: value: \"1.5\" is not an integer"));
    assert!(kind("integer general", "1 1 9007199254740993").contains("\"9007199254740993\" cannot be held exactly"));
}

#[test]
fn duplicates_are_named_or_summed() {
    let text = format!("{REAL}% c\n2 2 4\n2 2 1e16\n\n% c\n1 1 5\n2 2 1\n2 2 -1e16\n");
    assert_eq!(
        refused(&text),
        "8: a second entry at (2, 2), the first is on line 4; ReadOptions::sum_duplicates adds up entries at the same place"
    );
    let sum = ReadOptions { sum_duplicates: true, ..Default::default() };
    // Entries are summed in the file's order: 1e16 + 1 is rounded to 1e16.
    assert_eq!(parts(&from_text(&text, &sum).unwrap()), (&[0, 1, 2][..], &[0, 1][..], &[5.0, 0.0][..]));
    let text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 4\n2 1\n3 3\n3 1\n2 1\n";
    assert_eq!(
        refused(text),
        "6: a second entry at (2, 1), the first is on line 3; ReadOptions::sum_duplicates adds up entries at the same place"
    );
    let file = from_text(text, &sum).unwrap();
    assert_eq!(parts(&file), (&[0, 2, 3, 5][..], &[1, 2, 0, 0, 2][..], &[2.0, 1.0, 2.0, 1.0, 1.0][..]));
    // A file with more entries than the matrix has elements must have duplicates, which are allowed
    // here.
    assert_eq!(parts(&from_text(format!("{REAL}1 1 2\n1 1 1\n1 1 2\n"), &sum).unwrap()).2, [3.0]);
}

#[test]
fn damaged_packing_is_refused_by_its_name() {
    let text = format!("{REAL}300 300 300\n") + &(1..=300).map(|i| format!("{i} {i} {i}.25\n")).collect::<String>();
    for packing in [Packing::Gzip, Packing::Bzip2] {
        let (packed, name) = (packed(Some(packing), text.as_bytes()), packing.name());
        assert_eq!(accepted(&packed).stored, 300);
        // The data is cut within the header, the compressed data, or the checksum.
        for length in [3, 9, packed.len() / 2, packed.len() - 8, packed.len() - 1] {
            let refusal = refused(&packed[..length]);
            assert!(refusal.ends_with(&format!(": the {name} data is cut off here")), "{length}: {refusal}");
        }
        let mut flipped = packed.clone();
        *flipped.iter_mut().nth_back(7).unwrap() ^= 1;
        for damaged in [flipped, [&packed[..], b"more that is not packed"].concat()] {
            let refusal = refused(&damaged);
            assert!(refusal.contains(&format!("the {name} data is damaged at or after this line: ")), "{refusal}");
        }
    }
    assert!(refused(&gzip(text.as_bytes())[..2]).ends_with(": the gzip data is cut off here"));
}

#[test]
fn files_name_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.mtx");
    let error = read(&missing, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && error.to_string().starts_with(&missing.display().to_string()));
    assert!(matches!(read(folder.path(), &ReadOptions::default()), Err(Error::Io { .. })));
    let bad = folder.path().join("bad.mtx");
    std::fs::write(&bad, "x").unwrap();
    let error = read(&bad, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}:1: the first line", bad.display())));
}

proptest! {
    #[test]
    fn any_matrix_comes_back_plain_and_packed(
        rows in 0..9usize,
        cols in prop::collection::vec(prop::collection::btree_map(0..9u32, -2.0..2.0, 0..9), 0..9),
        packed in prop::sample::select(vec![("c.mtx.GZ", b"\x1f\x8b"), ("c.mtx.bz2", b"BZ")]),
    ) {
        let (mut col_ptr, mut row_idx, mut values) = (vec![0], vec![], vec![]);
        for column in &cols {
            for (&row, &value) in column.iter().filter(|&(&row, _)| (row as usize) < rows) {
                row_idx.push(row);
                values.push(value);
            }
            col_ptr.push(row_idx.len() as u64);
        }
        let matrix = Csc::new(Pattern::new(rows, cols.len(), col_ptr, row_idx).unwrap(), values).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (name, magic) in [("c.mtx", b"%%"), packed] {
            let path = folder.path().join(name);
            write(&path, &matrix, &Default::default()).unwrap();
            prop_assert_eq!(&std::fs::read(&path).unwrap()[..2], magic);
            prop_assert_eq!(&read(&path, &ReadOptions::default()).unwrap().matrix, &matrix);
        }
    }

    /// Tests that any bytes are read as a matrix, or cause an error with a line number.
    #[test]
    fn nothing_panics(
        banner in prop::sample::select(vec![REAL, "%%MatrixMarket matrix coordinate pattern symmetric\n", ""]),
        words in prop::collection::vec(prop_oneof!["[0-9]{1,2}", "[ -~]{0,4}", Just("\n".to_owned())], 0..30),
        raw in prop::collection::vec(any::<u8>(), 0..20),
        packed: bool,
    ) {
        let bytes = [banner.as_bytes(), words.join(" ").as_bytes(), &raw].concat();
        let bytes = if packed { gzip(&bytes) } else { bytes };
        if let Err(error) = from_text(bytes, &ReadOptions { sum_duplicates: packed, ..Default::default() }) {
            prop_assert!(matches!(error, Error::Parse { line: 1.., .. }), "{error}");
        }
    }
}
