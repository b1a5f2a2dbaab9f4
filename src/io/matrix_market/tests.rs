use super::*;
use crate::matrix::Matrix;
use proptest::prelude::*;

fn parsed(text: &str) -> Result<Csc<f64>> {
    read_from(text.as_bytes(), "f.mtx".as_ref(), ReadOptions::default()).map(|file| file.matrix)
}

/// The message, less the name.
fn refused(text: impl AsRef<[u8]>) -> String {
    let error = read_from(text.as_ref(), "f.mtx".as_ref(), ReadOptions::default()).unwrap_err().to_string();
    error.strip_prefix("f.mtx:").unwrap_or_else(|| panic!("no path and line: {error}")).to_owned()
}

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

#[test]
fn what_the_format_allows_is_read() -> Result<()> {
    let text = "%%matrixMARKET Matrix COORDINATE Real General\r\n% note\r\n\r\n  3 2 3 \r\n\t3 1 2.5\r\n%between\r\n1 2 -1\r\n\r\n1 1 1d2";
    assert_eq!(parsed(text)?, Csc::from_triplets(3, 2, [(2, 0, 2.5), (0, 1, -1.0), (0, 0, 100.0)])?);
    let pattern = parsed("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n")?;
    assert_eq!(pattern, Csc::from_triplets(3, 3, [(1, 0, 1.0), (0, 1, 1.0), (2, 2, 1.0)])?);
    let skew = parsed("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n")?;
    assert_eq!(skew, Csc::from_triplets(2, 2, [(1, 0, 7.0), (0, 1, -7.0)])?);
    assert_eq!(parsed(&format!("{REAL}0 0 0\n"))?.nnz(), 0);
    assert_eq!(parsed(&format!("{REAL}0 5 0"))?.ncols(), 5);
    assert_eq!(parsed(&format!("{REAL}1 1 1\n1 1 0\n"))?.nnz(), 1, "an explicit zero is an entry");
    Ok(())
}

#[test]
fn what_it_does_not_is_refused_with_the_line() {
    let cases = [
        ("", "1: not a Matrix Market file"),
        ("3 3 1\n1 1 1\n", "1: not a Matrix Market file"),
        ("%%MatrixMarket matrix coordinate real\n", "1: the banner must read"),
        ("%%MatrixMarket vector coordinate real general\n", "1: \"vector\" is not supported"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n", "1: array format"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "1: complex values"),
        ("%%MatrixMarket matrix coordinate real hermitian\n", "1: hermitian"),
        ("%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "1: a pattern cannot be"),
        ("%%MatrixMarket matrix coordinate double general\n", "1: unknown field \"double\""),
    ];
    for (text, want) in cases {
        assert!(refused(text).starts_with(want), "{text:?}: {}", refused(text));
    }
    let bodies = [
        ("", "2: the size line (rows columns entries) is missing"),
        ("% only\n", "3: the size line"),
        ("3 3\n", "2: the size line must have 3 numbers (rows columns entries), it has 2"),
        ("3 -3 1\n", "2: columns \"-3\" is not a whole number"),
        ("5000000000 1 0\n", "2: 5000000000 rows, at most"),
        ("3 3 1\n0 1 1\n", "3: row 0 is outside 1..=3"),
        ("3 3 1\n1 4 1\n", "3: column 4 is outside 1..=3"),
        ("3 3 1\n\n1.5 1 1\n", "4: row \"1.5\" is not a whole number"),
        ("3 3 1\n1 1\n", "3: an entry has 3 numbers here, this line has 2"),
        ("3 3 1\n1 1 1 9\n", "3: an entry has 3 numbers here, \"9\" is one too many"),
        ("3 3 1\n1 1 1e999\n", "3: value \"1e999\" is too large"),
        ("3 3 1\n1 1 abc\n", "3: value \"abc\" is not a number"),
        ("3 3 1\n1 1 1\n2 2 2\n", "4: more entries than the 1 announced"),
        ("3 3 2\n1 1 1\n", "4: the file ends after 1 of 2 entries"),
        ("3 3 18446744073709551615\n1 1 1\n", "4: the file ends after 1 of 18446744073709551615 entries"),
        ("3 3 3\n2 1 1\n1 1 5\n2 1 1\n", "5: (2, 1) is already in line 3"),
    ];
    for (body, want) in bodies {
        let message = refused(format!("{REAL}{body}"));
        assert!(message.starts_with(want), "{body:?}: {message}");
    }
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
    assert!(refused(format!("{symmetric}2 3 0\n")).starts_with("2: a symmetric matrix must be square"));
    assert!(refused(format!("{symmetric}2 2 1\n1 2 1\n")).starts_with("3: (1, 2) is above the diagonal"));
    assert!(refused(format!("{symmetric}2 2 2\n2 1 1\n2 1 1\n")).starts_with("4: (2, 1) is already in line 3"));
    let skew = symmetric.replace("symmetric", "skew-symmetric");
    assert!(refused(format!("{skew}2 2 1\n1 1 0\n")).starts_with("3: (1, 1) is not below"));
    assert!(refused([REAL.as_bytes(), b"3 3 1\n1 1 \xff\xfe\n"].concat()).starts_with("3: value"));
}

#[test]
fn duplicates_are_summed_on_request() -> Result<()> {
    let text = format!("{REAL}2 2 3\n2 1 1.5\n1 1 4\n2 1 2\n");
    let file = read_from(text.as_bytes(), "f".as_ref(), ReadOptions { sum_duplicates: true })?;
    assert_eq!(file.matrix.values(), [4.0, 3.5]);
    Ok(())
}

#[test]
fn gzip_is_told_by_its_bytes_and_a_cut_one_is_an_error() -> Result<()> {
    let text = format!("{REAL}2 2 1\n2 1 1.5\n");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    assert_eq!(read_from(&packed[..], "f".as_ref(), ReadOptions::default())?.matrix.values(), [1.5]);
    let error = read_from(&packed[..packed.len() - 9], "f".as_ref(), ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    Ok(())
}

proptest! {
    #[test]
    fn written_files_read_back_to_the_same_bits(rows in 1usize..9, cols in 1usize..9, bits in prop::collection::vec(any::<u64>(), 0..30)) {
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 5e-324, f64::MAX, 0.1, 1e16, 1e-5];
        let value = |b: u64| if b.is_multiple_of(4) { special[(b / 4) as usize % special.len()] } else { f64::from_bits(b) };
        let mut places: Vec<_> = bits.iter().map(|&b| ((b >> 7) as usize % rows, (b >> 17) as usize % cols, value(b))).collect();
        places.sort_by_key(|&(i, j, _)| (j, i));
        places.dedup_by_key(|&mut (i, j, _)| (i, j));
        let matrix = Csc::from_triplets(rows, cols, places)?;
        let mut text = Vec::new();
        write_to(&mut text, &matrix)?;
        let again = read_from(&text[..], "f".as_ref(), ReadOptions::default())?.matrix;
        prop_assert_eq!(again.pattern(), matrix.pattern());
        // A NaN reads back as a NaN; its payload has no digits.
        let same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
        prop_assert!(again.values().iter().zip(matrix.values()).all(same));
        prop_assert_eq!(again.as_cbc().stride, 1);
    }
}
