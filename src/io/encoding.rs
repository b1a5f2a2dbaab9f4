//! Byte order marks at the beginning of a text. The mark of UTF-8 is skipped. A text in UTF-16 or
//! UTF-32 is refused, and the message names the encoding.

/// The byte order mark of UTF-8, which some editors write.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Number of bytes at the start of a text by which its encoding is recognised.
pub(super) const FIRST: usize = 4;

/// The text without the mark of UTF-8.
pub(crate) fn after_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The reason for refusing a text that begins with the bytes `first`, if its characters take two or
/// four bytes.
pub(super) fn refused(first: &[u8]) -> Option<String> {
    let is_text = |&byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let name = match first {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => "UTF-32",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        // A text without a byte order mark is recognised by the zero bytes of its first character.
        [a, 0, 0, 0, ..] | [0, 0, 0, a, ..] if is_text(a) => "UTF-32",
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] if is_text(a) && is_text(b) => "UTF-16",
        _ => return None,
    };
    Some(format!("the text is {name}, and UTF-8 is read: `iconv -f {name} -t UTF-8` converts it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn wide_letters_are_named_and_others_are_not() {
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            for text in ["\u{feff}%%MatrixMarket", "\u{feff}1", "0\t1", "# a graph"] {
                assert!(refused(&utf_16(text, to_bytes)).unwrap().starts_with("the text is UTF-16, "), "{text}");
            }
        }
        for first in ['\u{feff}', '1', '%', '\n'].map(u32::from) {
            for bytes in [first.to_le_bytes(), first.to_be_bytes()] {
                assert!(refused(&bytes).unwrap().contains("`iconv -f UTF-32 -t UTF-8`"), "{bytes:?}");
            }
        }
        for text in ["", "1", "1 1", "%%MatrixMarket", "\u{feff}1 1", "\0\0\0\0"] {
            assert_eq!(refused(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn one_mark_is_skipped() {
        for (text, rest) in [("\u{feff}1 2", "1 2"), ("1 2", "1 2"), ("\u{feff}\u{feff}1", "\u{feff}1"), ("", "")] {
            assert_eq!(after_mark(text.as_bytes()), rest.as_bytes());
        }
    }
}
