//! Decodes consecutive zstd frames. Frames without data are skipped.
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::packing::LARGEST_WINDOW;

pub(crate) struct Frames<R: Read> {
    source: Watched<BufReader<R>>,
    decoder: FrameDecoder,
    /// Whether a frame has begun but not ended.
    begun: bool,
}

impl<R: Read> Frames<R> {
    pub fn new(reader: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW);
        Self { source: Watched { reader: BufReader::new(reader), ended: false, failed: None }, decoder, begun: false }
    }

    /// Begins or skips a frame. Returns `false` at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        if self.source.reader.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.begun = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let skipped = io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                if skipped < u64::from(length) {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => return Err(self.source.blame(&error)),
        }
        Ok(true)
    }

    /// Ends a frame after all its bytes have been read.
    fn end(&mut self) -> io::Result<()> {
        self.begun = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(written), Some(found)) if written != found => {
                let reason = format!("the checksum is {found:08x}, the file says {written:08x}");
                Err(io::Error::new(ErrorKind::InvalidData, reason))
            }
            _ => Ok(()),
        }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !to.is_empty() {
            if !self.begun {
                if !self.begin()? {
                    return Ok(0);
                }
            } else if self.decoder.can_collect() > 0 {
                return self.decoder.read(to);
            } else if self.decoder.is_finished() {
                self.end()?;
            } else {
                let decoded = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                decoded.map_err(|error| self.source.blame(&error))?;
            }
        }
        Ok(0)
    }
}

/// A reader that keeps the error that ended reading, because the decoder's errors do not contain
/// this error.
struct Watched<R> {
    reader: R,
    ended: bool,
    failed: Option<io::Error>,
}

impl<R> Watched<R> {
    /// Finds the cause of a decoder's error: the system, the end of the file, or the data.
    fn blame(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.failed.take() {
            Some(failed) => failed,
            None if self.ended => ErrorKind::UnexpectedEof.into(),
            None => io::Error::new(ErrorKind::InvalidData, error.to_string()),
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(to) {
            Ok(bytes) => {
                self.ended |= bytes == 0 && !to.is_empty();
                Ok(bytes)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.failed = Some(error);
                Err(kind.into())
            }
        }
    }
}
