//! Splits lines of text into words.

/// Whether a byte separates words: a blank, a tab, or the carriage return of a CRLF.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The words of a line.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| is_blank(byte)).filter(|word| !word.is_empty())
}

/// A number with its noun: `1 word`, `2 words`, `3 entries`.
pub fn counted(count: usize, what: &str) -> String {
    match what.strip_suffix('y') {
        _ if count == 1 => format!("{count} {what}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {what}s"),
    }
}

/// A word for a message: quoted, shortened if long, with bytes that are not text as escapes.
pub fn quote(word: &[u8]) -> String {
    const SHOWN: usize = 40;
    let dots = if word.len() > SHOWN { "…" } else { "" };
    match std::str::from_utf8(&word[..word.len().min(SHOWN)]) {
        Ok(text) => format!("{text:?}{dots}"),
        Err(_) => format!("\"{}\"{dots}", word[..word.len().min(SHOWN)].escape_ascii()),
    }
}

/// Parses a nonnegative count.
pub fn count(word: &[u8], what: &str) -> Result<u64, String> {
    let digits = word.strip_prefix(b"+").unwrap_or(word);
    match std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_digit)) {
        None | Some("") => Err(format!("{what}: {} is not a whole number from 0", quote(word))),
        Some(text) => text.parse().map_err(|_| format!("{what}: {} is too large", quote(word))),
    }
}
