//! Reads text in which a carriage return may end a line, and binary data after lines of text.
use super::Source;
use crate::Result;
use std::io::{ErrorKind, Read};

impl<'r> Source<'r> {
    /// Makes a carriage return without a line feed end a line. After this call only
    /// [`Source::line`] and [`Source::take`] may be used.
    pub fn with_returns(self) -> Self {
        Self { returns: true, ..self }
    }

    /// The next `count` bytes, regardless of line ends, or `None` if the file has fewer bytes left.
    /// `count` must be less than the size of a chunk.
    pub fn take(&mut self, count: usize) -> Result<Option<&[u8]>> {
        if self.filled - self.taken < count {
            self.buffer.copy_within(self.taken..self.filled, 0);
            self.filled -= self.taken;
            (self.taken, self.ready) = (0, 0);
            self.read_on()?;
        }
        let begin = self.taken;
        if self.filled - begin < count {
            return Ok(None);
        }
        self.taken += count;
        self.ready = self.taken;
        Ok(Some(&self.buffer[begin..self.taken]))
    }

    /// Whether no more bytes follow.
    pub fn is_at_end(&mut self) -> Result<bool> {
        let is_at_end = self.take(1)?.is_none();
        if !is_at_end {
            self.taken -= 1;
            self.ready = self.taken;
        }
        Ok(is_at_end)
    }

    /// Reads until the buffer is full or the file ends.
    pub(super) fn read_on(&mut self) -> Result<()> {
        while !self.ended && self.filled < self.buffer.len() {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => self.ended = true,
                Ok(bytes) => self.filled += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
        Ok(())
    }

    /// The offset of the last line end that has been read. A carriage return that is the last byte
    /// read may be half of a line end.
    pub(super) fn last_line_end(&self) -> Option<usize> {
        let read = &self.buffer[..self.filled];
        match self.returns {
            false => memchr::memrchr(b'\n', read),
            true => memchr::memrchr2(b'\n', b'\r', read.strip_suffix(b"\r").unwrap_or(read)),
        }
    }
}

/// The first line of `lines` without its line end (LF, CR LF or CR), and its length including the
/// line end.
pub(super) fn up_to_return(lines: &[u8]) -> (&[u8], usize) {
    let (line, end) = lines.split_at(memchr::memchr2(b'\n', b'\r', lines).unwrap_or(lines.len()));
    let end = if end.starts_with(b"\r\n") { 2 } else { end.len().min(1) };
    (line, line.len() + end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Tests many sizes of chunks. Chunks of each size end at different places of the text,
    /// including places between CR and LF.
    #[test]
    fn lines_end_in_returns_wherever_blocks_are_cut() -> Result<()> {
        let text = "one\r\ntwo\rthree\n\r\r\nfour\n\nfive\r";
        let want = ["one", "two", "three", "", "", "four", "", "five"];
        for block in 1..=text.len() + 1 {
            let mut source = Source::in_blocks(text.as_bytes(), Path::new("a"), block)?.with_returns();
            let mut found = Vec::new();
            while let Some(line) = source.line()? {
                found.push(String::from_utf8_lossy(line).into_owned());
            }
            assert_eq!((found, source.lines()), (want.map(String::from).to_vec(), 8), "{block}");
        }
        Ok(())
    }

    #[test]
    fn bytes_follow_lines() -> Result<()> {
        let text = [&b"head\n"[..], &[b'\n', 0, b'\r', 1, 2, 3, b'\n', 4]].concat();
        for block in 4..=text.len() + 1 {
            let mut source = Source::in_blocks(&text[..], Path::new("a"), block)?.with_returns();
            assert_eq!(source.line()?, Some(&b"head"[..]));
            assert_eq!(source.take(3)?, Some(&b"\n\0\r"[..]), "{block}");
            assert_eq!(source.take(1)?, Some(&[1][..]));
            assert!(!source.is_at_end()?);
            assert_eq!(source.take(4)?, Some(&[2, 3, b'\n', 4][..]));
            assert!(source.is_at_end()?);
            assert_eq!(source.take(1)?, None);
        }
        Ok(())
    }

    #[test]
    fn lines_of_returns_are_bounded_too() {
        let endless = std::io::Read::take(std::io::repeat(b'x'), 1 << 22);
        let mut source = Source::new(endless, Path::new("a")).unwrap().with_returns();
        assert!(source.line().unwrap_err().to_string().contains("a:1: a line of more than 1048576 bytes"));
    }
}
