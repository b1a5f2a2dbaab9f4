//! Reads one line and checks every word. If a word is not valid, the result is the reason.
//!
//! This module defines which lines with an entry are valid. The module `plain` reads ordinary lines
//! faster than this module, and leaves all other lines to it.
use super::header::Header;
use crate::io::words::{count, counted, quote, words};
use crate::io::{Symmetry, ValueType};

/// Whether a line is empty, blank or a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    words(line).next().is_none_or(|word| word[0] == b'%')
}

/// Returns row, column (counted from 0; both 0 in an array) and value of a line that is not a
/// comment.
pub(super) fn entry(line: &[u8], header: &Header) -> Result<(u32, u32, f64), String> {
    let found: Vec<_> = words(line).take(4).collect();
    let (row, column, value) = match (&found[..], header.field, header.is_array) {
        (&[value], _, true) => return Ok((0, 0, number(value, header)?)),
        (&[row, column], ValueType::Pattern, false) => (row, column, None),
        (&[row, column, value], ValueType::Real | ValueType::Integer, false) => (row, column, Some(value)),
        _ => {
            let form = match header.field {
                _ if header.is_array => "value",
                ValueType::Pattern => "row column",
                _ => "row column value",
            };
            let (words, field) = (words(line).count(), header.field.name());
            return Err(format!("{} where \"{form}\" is expected (the field is {field})", counted(words, "word")));
        }
    };
    let row = index(row, "row", header.nrows)?;
    let column = index(column, "column", header.ncols)?;
    match header.symmetry {
        Symmetry::Symmetric if row < column => {
            return Err(format!(
                "entry ({}, {}) lies above the diagonal; a symmetric file has the lower triangle only",
                row + 1,
                column + 1
            ));
        }
        Symmetry::SkewSymmetric if row <= column => {
            return Err(format!(
                "entry ({}, {}) lies on or above the diagonal; a skew-symmetric file has what is below it only",
                row + 1,
                column + 1
            ));
        }
        _ => {}
    }
    let value = value.map_or(Ok(1.0), |word| number(word, header))?;
    Ok((row, column, value))
}

fn number(word: &[u8], header: &Header) -> Result<f64, String> {
    match header.field {
        ValueType::Integer => match integer(word)? {
            value if header.is_unsigned && value < 0.0 => {
                Err(format!("value: {} is negative, and the file says its values are not", quote(word)))
            }
            value => Ok(value),
        },
        _ => real(word),
    }
}

/// Parses an index from 1 to `limit` and returns it counted from 0.
fn index(word: &[u8], what: &str, limit: u64) -> Result<u32, String> {
    let outside = || format!("{what} {} is outside 1 to {limit}", String::from_utf8_lossy(word));
    if (2..20).contains(&word.len()) && word[0] == b'-' && word[1..].iter().all(u8::is_ascii_digit) {
        return Err(outside());
    }
    match count(word, what)? {
        index if (1..=limit).contains(&index) => Ok((index - 1) as u32), // limit fits u32
        _ => Err(outside()),
    }
}

/// Parses a decimal number as C and Fortran write it, correctly rounded. The result is infinite
/// only if the word is a form of `inf`.
fn real(word: &[u8]) -> Result<f64, String> {
    let parse = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<f64>().ok();
    let value = parse(word).or_else(|| {
        let is_d = |byte: &u8| matches!(byte, b'd' | b'D');
        let letter = word.iter().position(is_d).filter(|_| word.iter().any(u8::is_ascii_digit))?;
        let mut word = word.to_vec();
        word[letter] = b'e';
        parse(&word)
    });
    match value {
        None => Err(format!("value: {} is not a number", quote(word))),
        Some(value) if value.is_infinite() && word.iter().any(u8::is_ascii_digit) => {
            Err(format!("value: {} is too large for a 64-bit float", quote(word)))
        }
        Some(value) => Ok(value),
    }
}

/// Parses an integer that `f64` holds exactly.
fn integer(word: &[u8]) -> Result<f64, String> {
    let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(format!("value: {} is not an integer, and the file says its values are", quote(word)));
    }
    // Parsing as `f64` rounds an integer of up to 128 bits to the nearest `f64`. The `f64` is
    // converted back to an integer, which shows whether rounding changed the number.
    let text = std::str::from_utf8(word).unwrap_or_default();
    match (text.parse::<i128>(), text.parse::<f64>()) {
        (Ok(exact), Ok(value)) if exact == 0 || (value.abs() < 1e38 && value as i128 == exact) => Ok(value + 0.0),
        _ => Err(format!(
            "value: the integer {} cannot be held exactly in a 64-bit float (a file that says \"real\" is rounded)",
            quote(word)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_of_c_and_fortran() {
        let bits = |word: &str| real(word.as_bytes()).map(f64::to_bits);
        let cases =
            [("1", 1.0), ("+1.", 1.0), (".5", 0.5), ("-0", -0.0), ("1e5", 1e5), ("1D5", 1e5), ("-2.5d-03", -2.5e-3)];
        for (word, value) in cases {
            assert_eq!(bits(word), Ok(f64::to_bits(value)), "{word}");
        }
        // Numbers halfway between two floats, and numbers slightly above, are rounded correctly.
        // Numbers below half the smallest float become 0 or -0.
        assert_eq!(real(b"9007199254740993"), Ok(9007199254740992.0));
        assert_eq!(real(b"9007199254740993.00000000000000000000001"), Ok(9007199254740994.0));
        assert_eq!((real(b"5e-324"), bits("-1e-400")), (Ok(f64::from_bits(1)), Ok((-0.0f64).to_bits())));
        assert_eq!((real(b"-inf"), real(b"Infinity")), (Ok(f64::NEG_INFINITY), Ok(f64::INFINITY)));
        assert_eq!((bits("nan"), bits("-NaN")), (Ok(f64::NAN.to_bits()), Ok((-f64::NAN).to_bits())));
    }

    #[test]
    fn what_is_no_real_number() {
        for word in
            ["", "x", "1e", "e5", ".", "-", "--1", "1.2.3", "0x10", "1_0", "1,5", "inf1", "dnan", "1d", "1dd5", "1e5d2"]
        {
            let reason = real(word.as_bytes()).unwrap_err();
            assert!(reason.ends_with("is not a number"), "{word}: {reason}");
        }
        assert_eq!(real(b"1.5\xff"), Err("value: \"1.5\\xff\" is not a number".into()));
        for word in ["1e999", "-1e309", "1D400", "1.7976931348623159e308"] {
            let reason = real(word.as_bytes()).unwrap_err();
            assert!(reason.ends_with("is too large for a 64-bit float"), "{word}: {reason}");
        }
    }

    #[test]
    fn integers_are_exact_or_refused() {
        for (word, value) in
            [("0", 0.0), ("+7", 7.0), ("-9007199254740992", -(2f64.powi(53))), ("1152921504606846976", 2f64.powi(60))]
        {
            assert_eq!(integer(word.as_bytes()), Ok(value));
        }
        assert_eq!(integer(b"-0").map(f64::to_bits), Ok(0), "an integer has one zero");
        for word in ["9007199254740993", "-9223372036854775807", &"9".repeat(400)] {
            assert!(integer(word.as_bytes()).unwrap_err().contains("cannot be held exactly"), "{word}");
        }
        for word in ["1.0", "1e3", "inf", "nan", "", "-", "+-1", "١"] {
            assert!(integer(word.as_bytes()).unwrap_err().contains("is not an integer"), "{word}");
        }
    }
}
