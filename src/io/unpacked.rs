//! The bytes of files, unpacked if they are packed.
use std::io::{self, BufReader, Cursor, ErrorKind, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::packing::{FIRST, LARGEST_WINDOW, Packing};
use super::zstd::Frames;

/// The unpacked bytes of a file. If the file consists of several packed streams, all streams are
/// read.
pub(crate) enum Unpacked<R: Read> {
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<Whole<R>>>),
    Bzip2(Box<MultiBzDecoder<Whole<R>>>),
    Xz(Box<XzReader<BufReader<Whole<R>>>>),
    Zstd(Box<Frames<Whole<R>>>),
}

/// A reader that returns the first bytes of a file, which have been read already, and then the rest
/// of the file.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

impl<R: Read> Unpacked<R> {
    /// Recognises the packing by the first bytes of the file.
    pub fn new(mut reader: R) -> io::Result<Self> {
        let mut first = Vec::new();
        fill(&mut reader, &mut first, FIRST)?;
        let packing = Packing::of_bytes(&first);
        let whole = Cursor::new(first).chain(reader);
        Ok(match packing {
            None => Self::Plain(whole),
            Some(Packing::Gzip) => Self::Gzip(Box::new(MultiGzDecoder::new(whole))),
            Some(Packing::Bzip2) => Self::Bzip2(Box::new(MultiBzDecoder::new(whole))),
            Some(Packing::Xz) => {
                // The limit is in KiB. In addition to the window a decoder has tables of less than
                // 1 MiB.
                let limit = (LARGEST_WINDOW >> 10) as u32 + 1024;
                Self::Xz(Box::new(XzReader::new_mem_limit(BufReader::new(whole), true, limit)))
            }
            Some(Packing::Zstd) => Self::Zstd(Box::new(Frames::new(whole))),
        })
    }

    pub fn packing(&self) -> Option<Packing> {
        match self {
            Self::Plain(_) => None,
            Self::Gzip(_) => Some(Packing::Gzip),
            Self::Bzip2(_) => Some(Packing::Bzip2),
            Self::Xz(_) => Some(Packing::Xz),
            Self::Zstd(_) => Some(Packing::Zstd),
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(to),
            Self::Gzip(reader) => reader.read(to),
            Self::Bzip2(reader) => reader.read(to),
            Self::Xz(reader) => reader.read(to).map_err(xz_error),
            Self::Zstd(reader) => reader.read(to),
        }
    }
}

/// Turns an error of the xz decoder about data that it does not accept into an error about the
/// file's data.
fn xz_error(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::OutOfMemory => {
            io::Error::new(ErrorKind::InvalidData, format!("it asks for a window of more than {LARGEST_WINDOW} bytes"))
        }
        ErrorKind::Unsupported => io::Error::new(ErrorKind::InvalidData, error),
        _ => error,
    }
}

/// Reads until `to` has `count` bytes or the stream ends.
pub(super) fn fill(reader: &mut impl Read, to: &mut Vec<u8>, count: usize) -> io::Result<()> {
    let left = count.saturating_sub(to.len()) as u64;
    reader.take(left).read_to_end(to).map(drop)
}

/// A reader whose first bytes can be inspected in advance. If reading the first bytes failed, the
/// error is returned when the caller reads them.
pub(super) struct Peeked<R> {
    first: Cursor<Vec<u8>>,
    failed: Option<io::Error>,
    rest: R,
}

impl<R: Read> Peeked<R> {
    /// Reads `count` bytes in advance, or all bytes if there are fewer.
    pub fn new(mut rest: R, count: usize) -> Self {
        let mut first = Vec::new();
        let failed = fill(&mut rest, &mut first, count).err();
        Self { first: Cursor::new(first), failed, rest }
    }

    /// The bytes that were read in advance.
    pub fn first(&self) -> &[u8] {
        self.first.get_ref()
    }

    /// Skips `count` of the bytes that were read in advance.
    pub fn pass(&mut self, count: usize) {
        self.first.set_position(count as u64);
    }

    /// The underlying reader.
    pub fn inner(&self) -> &R {
        &self.rest
    }
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match (self.first.read(to)?, self.failed.take()) {
            (0, None) => self.rest.read(to),
            (0, Some(error)) if !to.is_empty() => Err(error),
            (bytes, failed) => {
                self.failed = failed;
                Ok(bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::packing::tests::{ALL, packed};
    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Unpacked::new(bytes)?.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn what_is_packed_comes_back_in_one_piece_or_many() {
        let mut random = crate::generate::Random::new(1);
        let text: Vec<u8> = (0..1_200_000).map(|_| b'0' + random.below(10) as u8).collect();
        for packing in ALL {
            // No bytes, few bytes, and more bytes than a block of bzip2 or zstd.
            for length in [0, 1, 2, 3, 1000, text.len()] {
                assert!(read(&packed(packing, &text[..length])).unwrap() == text[..length], "{packing:?} {length}");
            }
            let pieces = [&text[..5], &[], &text[5..900]].map(|piece| packed(packing, piece)).concat();
            assert!(read(&pieces).unwrap() == text[..900], "{packing:?}");
        }
    }

    /// The files in this test contain `1 2 3 ` a hundred times, with a checksum. The files were
    /// made by `xz` 5.4 and `zstd` 1.5.
    #[test]
    fn what_the_programs_of_these_formats_wrote_is_read() {
        let text = "1 2 3\n".repeat(100);
        for hex in [XZ, ZSTD] {
            let bytes: Vec<u8> =
                (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
            assert_eq!(String::from_utf8(read(&bytes).unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_an_error() {
        let text = "1 2 3\n".repeat(100);
        for packing in ALL.into_iter().flatten() {
            let whole = packed(Some(packing), text.as_bytes());
            for length in FIRST..whole.len() {
                let error = read(&whole[..length]).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{packing:?} {length}");
            }
            // The reader must refuse a wrong bit in the checksum or before it, and extra bytes
            // after the end.
            let mut flipped = whole.clone();
            *flipped.iter_mut().nth_back(7).unwrap() ^= 1;
            for damaged in [flipped, [&whole[..], b"more that is not packed"].concat()] {
                let kind = read(&damaged).unwrap_err().kind();
                assert!(matches!(kind, ErrorKind::InvalidInput | ErrorKind::InvalidData), "{packing:?}: {kind:?}");
            }
        }
    }

    /// Flips each bit of a file, one at a time. Either the text is unchanged, or the file is
    /// refused as damaged.
    #[test]
    fn a_wrong_bit_is_no_fault_of_ours() {
        let mut random = crate::generate::Random::new(2);
        let text: Vec<u8> = (0..300).map(|_| b"0123 \n"[random.below(6) as usize]).collect();
        for packing in ALL.into_iter().flatten() {
            let whole = packed(Some(packing), &text);
            for bit in 8 * FIRST..8 * whole.len() {
                let mut damaged = whole.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                match read(&damaged) {
                    Ok(bytes) => assert!(bytes == text, "{packing:?}: bit {bit}"),
                    Err(error) => {
                        let ours = error.raw_os_error().is_some() || error.kind() == ErrorKind::Other;
                        assert!(!ours, "{packing:?}: bit {bit}: {error:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn windows_are_bounded() {
        // A frame with a window of 2^31 bytes, and an xz block with a dictionary of 4 GiB minus one
        // byte.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0];
        let mut xz = packed(Some(super::super::packing::Packing::Xz), b"1");
        let header = 12;
        xz[header + 4] = 40;
        let mut crc = flate2::Crc::new();
        crc.update(&xz[header..header + 8]);
        xz[header + 8..header + 12].copy_from_slice(&crc.sum().to_le_bytes());
        for bytes in [&frame[..], &xz] {
            let error = read(bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{error:?}");
        }
        assert!(read(&xz).unwrap_err().to_string().contains("window of more than 134217728 bytes"));
    }

    #[test]
    fn what_failed_at_a_look_fails_when_it_is_read() {
        let whole = packed(Some(super::super::packing::Packing::Gzip), &b"12345678\n".repeat(100));
        let mut peeked = Peeked::new(Unpacked::new(&whole[..whole.len() - 4]).unwrap(), 2000);
        assert_eq!(peeked.first().len(), 900);
        let mut all = Vec::new();
        assert_eq!(peeked.read_to_end(&mut all).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(all.len(), 900);
    }

    const XZ: &str = "fd377a585a000004e6d6b4460200210116000000742fe5a3e0025700105d00188802a8481de104211e3563e2ddc00000d996fa33335d428800012cd8040000005fb2dc85b1c467fb020000000004595a";
    const ZSTD: &str = "28b52ffd04586d00003031203220330a01004f529522ff1c976c";
}
