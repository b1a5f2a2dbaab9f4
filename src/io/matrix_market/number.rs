//! Numbers as the format writes them.
use super::lines::show;

/// Digits only, at most `u64::MAX`.
pub(super) fn unsigned(word: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |sum, byte| sum.checked_mul(10)?.checked_add(digit(byte)?))
}

/// A real number; Fortran's D stands for E; `nan` and `inf` only where they are written.
pub(super) fn real(word: &[u8]) -> Result<f64, String> {
    let wrong = || format!("value \"{}\" is not a number", show(word));
    let text = std::str::from_utf8(word).map_err(|_| wrong())?;
    let value = match text.parse::<f64>() {
        Ok(value) => value,
        Err(_) if text.contains(['d', 'D']) && text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            text.replace(['d', 'D'], "e").parse().map_err(|_| wrong())?
        }
        Err(_) => return Err(wrong()),
    };
    let written = text.contains(|c: char| "nN".contains(c)); // of nan, inf and infinity
    match value.is_finite() || written {
        true => Ok(value),
        false => Err(format!("value \"{}\" is too large for a double", show(word))),
    }
}

/// A whole number that a double holds exactly.
pub(super) fn integer(word: &[u8]) -> Result<f64, String> {
    let text = std::str::from_utf8(word).unwrap_or_default();
    let value: i128 = text.parse().map_err(|_| format!("value \"{}\" is not a whole number", show(word)))?;
    match value as f64 as i128 == value {
        true => Ok(value as f64),
        false => Err(format!("value {value} is not exact in a double")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_what_is_written_and_nothing_else() {
        for (text, value) in
            [("1", 1.0), ("-1.5e3", -1500.0), ("1.5D+3", 1500.0), ("2d-2", 0.02), (".5", 0.5), ("5.", 5.0), ("+3", 3.0)]
        {
            assert_eq!(real(text.as_bytes()), Ok(value), "{text}");
        }
        assert_eq!(real(b"-0").map(f64::to_bits), Ok((-0.0f64).to_bits()));
        assert_eq!(real(b"4.9e-324"), Ok(f64::from_bits(1)));
        assert!(real(b"NaN").is_ok_and(f64::is_nan) && real(b"-Inf") == Ok(f64::NEG_INFINITY));
        for text in ["", "x", "1,5", "1e", "--1", "1e999", "-1d999", "0x10", "d5", "1 2", "\u{661}"] {
            assert!(real(text.as_bytes()).is_err(), "{text}");
        }
        assert!(real(b"\xff\xfe").is_err());
    }

    #[test]
    fn integers_are_exact_or_refused() {
        assert_eq!(integer(b"-9007199254740992"), Ok(-9_007_199_254_740_992.0));
        assert_eq!(integer(b"18014398509481984"), Ok(18_014_398_509_481_984.0));
        assert!(integer(b"9007199254740993").is_err_and(|e| e.contains("not exact")));
        assert!(integer(b"1.0").is_err() && integer(b"").is_err() && integer(b"1e3").is_err());
        assert_eq!((unsigned(b"18446744073709551615"), unsigned(b"18446744073709551616")), (Some(u64::MAX), None));
        assert_eq!((unsigned(b"-1"), unsigned(b"")), (None, None));
    }
}
