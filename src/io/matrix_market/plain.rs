//! Reads ordinary lines fast; the module [`line`](super::line) reads all other lines.
use super::header::Header;
use crate::io::words::is_blank;
use crate::io::{Symmetry, ValueType};

/// Returns row, column, value and the length in bytes (including the line end) of a line, or `None`
/// if the line is not plain. In an array row and column are 0.
///
/// This function accepts only lines that [`line::entry`](super::line::entry) accepts, and gives the
/// same result.
pub(super) fn entry(bytes: &[u8], header: &Header) -> Option<(u32, u32, f64, usize)> {
    let (mut row, mut col, mut at) = (0, 0, 0);
    if !header.is_array {
        (row, at) = index(bytes, 0, header.nrows)?;
        (col, at) = index(bytes, at, header.ncols)?;
        match header.symmetry {
            Symmetry::General => {}
            Symmetry::Symmetric if row >= col => {}
            Symmetry::SkewSymmetric if row > col => {}
            _ => return None,
        }
    }
    let (value, at) = match header.field {
        ValueType::Pattern => (1.0, at),
        ValueType::Real => real(bytes, at)?,
        ValueType::Integer => integer(bytes, at).filter(|(value, _)| !header.is_unsigned || *value >= 0.0)?,
    };
    let end = skip_blanks(bytes, at);
    let ended = bytes.get(end).is_none_or(|&byte| byte == b'\n');
    ended.then_some((row, col, value, (end + 1).min(bytes.len())))
}

fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| is_blank(byte)) {
        at += 1;
    }
    at
}

fn ends_word(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|&byte| byte == b'\n' || is_blank(byte))
}

/// Reads up to ten digits, a number from 1 to `limit`, as an index from 0. Returns the index and
/// the offset of the end of the digits.
fn index(bytes: &[u8], at: usize, limit: u64) -> Option<(u32, usize)> {
    let start = skip_blanks(bytes, at);
    let (index, at) = match bytes.get(start..).and_then(<[u8]>::first_chunk) {
        Some(&eight) if digits_of(eight) < 8 => (number(eight), start + digits_of(eight)),
        _ => digit_by_digit(bytes, start)?,
    };
    // If there is no digit, the number is 0, which is no valid index.
    ((1..=limit).contains(&index) && ends_word(bytes, at)).then(|| ((index - 1) as u32, at))
}

fn digit_by_digit(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let (mut at, mut index) = (start, 0);
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        index = index * 10 + u64::from(digit);
        at += 1;
        if at - start > 10 {
            return None;
        }
    }
    Some((index, at))
}

const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

/// The number of digits at the start of eight bytes.
fn digits_of(eight: [u8; 8]) -> usize {
    let digits = u64::from_le_bytes(eight) ^ ZEROS;
    // Adding 118 sets the highest bit of bytes from 10 to 127. In bytes from 128 on the highest bit
    // is already set. A carry only changes bytes after the first byte that is not a digit.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    others.trailing_zeros() as usize / 8
}

/// The value of the digits, at most seven, at the start of eight bytes.
fn number(eight: [u8; 8]) -> u64 {
    let unused = 64 - 8 * digits_of(eight) as u32;
    let digits = (u64::from_le_bytes(eight) ^ ZEROS).checked_shl(unused).unwrap_or(0);
    // Neighbouring digits are combined to pairs, pairs to fours, and the fours to all eight digits.
    let pairs = (digits.wrapping_mul(1 + (10 << 8)) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(1 + (100 << 16)) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(1 + (10_000 << 32)) >> 32
}

/// Reads a finite decimal number. Returns the number and the offset of its end.
fn real(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    let start = skip_blanks(bytes, at);
    let (value, length) = fast_float2::parse_partial::<f64, _>(bytes.get(start..)?).ok()?;
    (value.is_finite() && ends_word(bytes, start + length)).then_some((value, start + length))
}

/// Reads an integer of at most 15 characters. An integer of at most 15 characters is below 2^53 and
/// therefore exact.
fn integer(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    let start = skip_blanks(bytes, at);
    let mut end = start;
    while !ends_word(bytes, end) {
        end += 1;
    }
    let value: i64 = std::str::from_utf8(bytes[start..end].get(..end - start)?).ok()?.parse().ok()?;
    (end - start <= 15).then_some((value as f64, end))
}

#[cfg(test)]
mod tests {
    use super::super::line;
    use super::*;
    use proptest::prelude::*;

    fn header(field: ValueType, symmetry: Symmetry) -> Header {
        Header::example(field, symmetry, false)
    }

    proptest! {
        /// Tests lines that are composed of valid and invalid pieces of the format.
        #[test]
        fn plain_agrees_with_the_careful_reading(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "1", "2", "12", "13", "0", "-1", "+3", "007", "0000002", "00000003", "0000000012", "00000000000001",
                    "1.5", "-0", "1e999", "1e-999", "nan", "inf", "2.5d1", "1e", "1e5", "9007199254740993",
                    "123456789012345", "-12345678901234", "0.1234567890123456789012345", "%", "x", ".", "-", "\u{e9}", "",
                ]),
                0..5,
            ),
            blank in prop::sample::select(vec![" ", "\t", "  ", "\r"]),
            end in prop::sample::select(vec!["", "\n", "\r\n", " \n"]),
            next in prop::sample::select(vec!["", "4 4 4\n"]),
        ) {
            let text = words.join(blank) + end;
            let bytes = if end.ends_with('\n') { text.clone() + next } else { text.clone() };
            for (field, is_array) in [
                (ValueType::Real, false), (ValueType::Integer, false), (ValueType::Pattern, false),
                (ValueType::Real, true), (ValueType::Integer, true),
            ] {
                for (symmetry, is_unsigned) in [
                    (Symmetry::General, false), (Symmetry::General, true), (Symmetry::Symmetric, false),
                    (Symmetry::SkewSymmetric, false),
                ] {
                    let header = Header { is_unsigned, ..Header::example(field, symmetry, is_array) };
                    if let Some((row, col, value, length)) = entry(bytes.as_bytes(), &header) {
                        prop_assert_eq!(length, text.len());
                        let careful = line::entry(text.trim_end_matches('\n').as_bytes(), &header);
                        let bits = |(row, col, value): (u32, u32, f64)| (row, col, value.to_bits());
                        prop_assert_eq!(Ok(bits((row, col, value))), careful.map(bits), "{:?}", text);
                    }
                }
            }
        }

        #[test]
        fn real_numbers_are_those_of_the_standard_library(bits: u64, digits in "[0-9]{1,25}", exponent in -330i32..300) {
            let shortest = format!("{:e}", f64::from_bits(bits));
            let odd = format!("{}.{}e{exponent}", &digits[..digits.len() / 2 + 1], &digits[digits.len() / 2 + 1..]);
            for word in [shortest, odd] {
                let expected = word.parse::<f64>().ok().filter(|value| value.is_finite());
                let found = real(word.as_bytes(), 0);
                prop_assert_eq!(found.map(|(value, _)| value.to_bits()), expected.map(f64::to_bits), "{}", word);
            }
        }

        #[test]
        fn eight_bytes_are_read_as_one_by_one(eight: [u8; 8], digits in "[0-9]{0,8}") {
            let mut mixed = eight;
            mixed[..digits.len()].copy_from_slice(digits.as_bytes());
            for bytes in [eight, mixed] {
                let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
                prop_assert_eq!(digits_of(bytes), length);
                if length < 8 {
                    prop_assert_eq!(Some((number(bytes), length)), digit_by_digit(&bytes, 0));
                }
            }
        }
    }

    #[test]
    fn plain_takes_plain_lines() {
        let real = header(ValueType::Real, Symmetry::General);
        assert_eq!(entry(b" 3\t12 -1.5e3 \r\n1 1 1\n", &real), Some((2, 11, -1500.0, 15)));
        assert_eq!(entry(b"1 1 1", &real), Some((0, 0, 1.0, 5)));
        assert_eq!(entry(b"00000003 0000000012 1\n", &real), Some((2, 11, 1.0, 22)));
        let integer = header(ValueType::Integer, Symmetry::Symmetric);
        assert_eq!(entry(b"3 2 -7\n", &integer), Some((2, 1, -7.0, 7)));
        assert_eq!(entry(b"2 1\n", &header(ValueType::Pattern, Symmetry::General)), Some((1, 0, 1.0, 4)));
        assert_eq!(
            entry(b" 2.5\n1\n", &Header::example(ValueType::Real, Symmetry::General, true)),
            Some((0, 0, 2.5, 5))
        );
    }
}
