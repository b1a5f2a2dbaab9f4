//! Parses and prints sizes: bytes (`2GiB`) and counts (`2 poses`).

/// A number with its noun: `1 pose`, `2 poses`.
pub fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// A number with a noun whose plural is not formed by an s: `1 vertex`, `2 vertices`.
pub fn count_of(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The binary and the decimal units of memory, each from the largest to the smallest.
const UNITS: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

/// Parses a number of bytes: digits, an optional fraction, and a unit in upper or lower case (no
/// unit or `B` for bytes).
pub fn bytes(text: &str) -> Result<u64, String> {
    let malformed = || format!("a size is written as in 2GiB, 500MB or 1048576, not \"{text}\"");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim());
    let factor = match unit {
        "" | "B" | "b" => 1,
        unit => UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).ok_or_else(malformed)?.1,
    };
    let size = number.parse::<f64>().map_err(|_| malformed())? * factor as f64;
    match size >= 1.0 && size < u64::MAX as f64 {
        true => Ok(size as u64),
        false => Err(format!("{text} is no size between 1 byte and 2^64")),
    }
}

/// Returns a number of bytes with one decimal, in the largest binary unit that does not exceed it.
pub fn show_bytes(bytes: u64) -> String {
    match UNITS[..4].iter().find(|(_, factor)| bytes >= *factor) {
        Some((name, factor)) => format!("{:.1} {name}", bytes as f64 / *factor as f64),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory() {
        for (text, size) in [
            ("1", 1),
            ("1048576", 1 << 20),
            ("512B", 512),
            ("2GiB", 2 << 30),
            ("2 gib", 2 << 30),
            ("1.5MiB", 3 << 19),
            ("500MB", 500_000_000),
            ("7kb", 7_000),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for wrong in ["", "GiB", "0", "0.1", "-1", "1e3", "2GG", "1.2.3", "99999999999TiB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!([show_bytes(1023), show_bytes(1536), show_bytes(3 << 30)], ["1023 B", "1.5 KiB", "3.0 GiB"]);
    }
}
