//! Blocks and lines, from readers that hand out as they like.
use super::*;

/// Hands out a few bytes at a time, as pipes do.
struct Trickle<'a>(&'a [u8], usize);
impl Read for Trickle<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.1.min(to.len()).min(self.0.len());
        to[..bytes].copy_from_slice(&self.0[..bytes]);
        self.0 = &self.0[bytes..];
        Ok(bytes)
    }
}

#[test]
fn lines_then_blocks_number_every_line_once() {
    // Two buffers and a bit, so that a line straddles the first two reads; no line end at the end.
    let text = (1..=LINE_BYTES / 4).map(|i| format!("{i:>7}\r\n")).collect::<String>() + "end";
    for step in [1, 7, LINE_BYTES] {
        let mut source = Source::new(Trickle(text.as_bytes(), step), Path::new("t")).unwrap();
        assert_eq!(source.line().unwrap(), Some(&b"      1"[..]));
        let (mut line, mut all) = (2, b"      1\r\n".to_vec());
        while let Some(block) = source.block().unwrap() {
            assert_eq!(block.first_line, line);
            assert!(block.bytes.ends_with(b"\n") || block.bytes.ends_with(b"end"));
            line += block.bytes.split_inclusive(|&byte| byte == b'\n').count() as u64;
            all.extend_from_slice(block.bytes);
        }
        assert_eq!(all, text.as_bytes());
        assert_eq!(source.lines(), line - 1);
    }
}

#[test]
fn the_longest_line_fits_and_one_byte_more_does_not() {
    let text = [vec![b'x'; LINE_BYTES - 1], b"\n\n".to_vec()].concat();
    let mut source = Source::new(&text[..], Path::new("t")).unwrap();
    assert_eq!(source.line().unwrap().unwrap().len(), LINE_BYTES - 1);
    assert_eq!(source.line().unwrap(), Some(&b""[..]));
    assert_eq!(source.line().unwrap(), None);
    let text = [b"\n".to_vec(), vec![b'x'; LINE_BYTES], b"\n".to_vec()].concat();
    let mut source = Source::new(&text[..], Path::new("t")).unwrap();
    assert_eq!(source.line().unwrap(), Some(&b""[..]));
    assert!(source.line().unwrap_err().to_string().starts_with("t:2: a line of more than"));
}

#[test]
fn an_empty_file_has_no_line() {
    let mut source = Source::new(std::io::empty(), Path::new("t")).unwrap();
    assert_eq!(source.line().unwrap(), None);
    assert!(source.block().unwrap().is_none());
}
