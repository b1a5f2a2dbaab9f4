//! Tests chunks of text and lines, from readers that return any number of bytes at once.
use super::*;
use crate::io::zipped::tests::archive_of;

/// A reader that returns a few bytes at a time, as pipes do.
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
    // The text fills two buffers and a little more, so that a line crosses the end of the first
    // buffer. The last line of the text has no line end.
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
fn a_byte_order_mark_is_skipped_whatever_the_reader_returns_at_a_time() {
    for (text, line) in [("\u{feff}a\nb", Some("a")), ("\u{feff}", None), ("\u{feff}\nb", Some("")), ("a", Some("a"))] {
        for (step, block_bytes) in [(1, 1), (2, 7), (100, 1 << 16)] {
            let mut source = Source::in_blocks(Trickle(text.as_bytes(), step), Path::new("t"), block_bytes).unwrap();
            assert_eq!(source.line().unwrap(), line.map(str::as_bytes), "{text:?} {step}");
        }
    }
    let wide: Vec<u8> = "a\nb".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let refused = Source::new(&wide[..], Path::new("t")).err().unwrap().to_string();
    assert!(refused.starts_with("t:1: the text is UTF-16"), "{refused}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let mut bytes = archive_of(&[("a.el", b"1 2\n")], zip::CompressionMethod::Stored);
    let text = bytes.windows(4).position(|four| four == b"1 2\n").unwrap();
    bytes[text] = b'3';
    std::fs::write(&path, bytes).unwrap();
    let refused = Source::open(&path, None).err().unwrap().to_string();
    assert!(refused.contains("a.zip/a.el:1: the data is damaged at or after this line: "), "{refused}");
    let refused = Source::new(&b"PK\x03\x04 and more"[..], Path::new("t")).err().unwrap().to_string();
    assert_eq!(refused, "t: the archive: this is a zip archive: unpack it first");
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

#[test]
fn mapped_blocks_come_in_the_order_of_the_file() {
    // One line is longer than the first buffer.
    let text = (1..=1000).map(|i| format!("{i}\n")).collect::<String>() + &"x".repeat(500) + "\n\nend";
    for block_bytes in [1, 16, 1 << 20] {
        let mut source = Source::in_blocks(Trickle(text.as_bytes(), 7), Path::new("t"), block_bytes).unwrap();
        assert_eq!(source.line().unwrap(), Some(&b"1"[..]));
        let (blocks, end) =
            source.map_blocks(|block| ControlFlow::Continue((block.first_line, block.lines, block.bytes.to_vec())));
        end.unwrap();
        assert_eq!(source.lines(), 1003);
        let mut next = 2;
        for (first, lines, bytes) in &blocks {
            assert_eq!((*first, *lines), (next, bytes.split_inclusive(|&byte| byte == b'\n').count() as u64));
            next += lines;
        }
        assert_eq!(blocks.into_iter().flat_map(|(.., bytes)| bytes).collect::<Vec<_>>(), &text.as_bytes()[2..]);
    }
}

#[test]
fn mapping_stops_at_a_break_or_an_error() {
    let text = "1\n".repeat(100_000);
    let mut source = Source::in_blocks(text.as_bytes(), Path::new("t"), 16).unwrap();
    // With more than one thread, the number of chunks that are read would vary.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (lines, end) = pool.install(|| {
        source.map_blocks(|block| match block.first_line {
            ..1000 => ControlFlow::Continue(block.first_line),
            _ => ControlFlow::Break(block.first_line),
        })
    });
    end.unwrap();
    assert_eq!(lines, (1..=1001).step_by(8).collect::<Vec<_>>());
    assert_eq!(source.lines(), 1008);

    let long = text.clone() + &"x".repeat(LINE_BYTES + 1);
    let mut source = Source::in_blocks(long.as_bytes(), Path::new("t"), 1 << 10).unwrap();
    let (lines, end) = source.map_blocks(|block| ControlFlow::Continue(block.lines));
    assert_eq!(lines.iter().sum::<u64>(), 100_000);
    assert!(end.unwrap_err().to_string().starts_with("t:100001: a line of more than"));
}

#[test]
fn empty_lines_are_passed_over_and_counted() {
    let many = "\n".repeat(100);
    for (text, next, line) in [
        ("a\n".into(), Some("a"), 1),
        (format!("{many}a\n\nb"), Some("a"), 101),
        (format!("{many}\r\na"), Some(""), 101),
        (format!("{many} a"), Some(" a"), 101),
        (many.clone(), None, 100),
        (String::new(), None, 1),
    ] {
        // The text is read in chunks of a few lines, and in one chunk.
        for block_bytes in [1, 7, 1 << 16] {
            let mut source = Source::in_blocks(text.as_bytes(), Path::new("t"), block_bytes).unwrap();
            source.skip_empty().unwrap();
            let found = source.line().unwrap().map(|line| String::from_utf8(line.to_vec()).unwrap());
            assert_eq!((found.as_deref(), source.lines()), (next, line), "{text:?} {block_bytes}");
        }
    }
}
