//! Packed files: read by what their first bytes say, written by what their names say.
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use bzip2::{read::MultiBzDecoder, write::BzEncoder};
use flate2::{read::MultiGzDecoder, write::GzEncoder};

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Bzip2,
}

/// As many bytes tell how a file is packed.
const FIRST: usize = 3;

impl Packing {
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
        }
    }

    /// Of a file that begins so.
    pub fn of_bytes(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [b'B', b'Z', b'h', ..] => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// Of a file that is to have this name.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_ascii_lowercase();
        match extension.to_str()? {
            "gz" => Some(Self::Gzip),
            "bz2" => Some(Self::Bzip2),
            _ => None,
        }
    }

    /// What `fill` writes, packed, to `writer`.
    ///
    /// Gzip at level 2: of random values, which are digits mostly, level 1 leaves 48 % more bytes in two thirds of the time,
    /// and level 3 takes 8 % longer to save 3 %. Bzip2 in its largest blocks, as is usual: smaller ones are no faster.
    pub fn pack<'w>(
        self,
        writer: &'w mut (dyn Write + 'w),
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(writer, flate2::Compression::new(2));
                fill(&mut encoder)?;
                encoder.finish().map(drop)
            }
            Self::Bzip2 => {
                let mut encoder = BzEncoder::new(writer, bzip2::Compression::best());
                fill(&mut encoder)?;
                encoder.finish().map(drop)
            }
        }
    }
}

/// The path less an ending `.gz` or `.bz2`.
pub(super) fn without_packing(path: &Path) -> PathBuf {
    match Packing::of_name(path) {
        Some(_) => path.with_extension(""),
        None => path.to_owned(),
    }
}

/// The bytes of a file, unpacked where it is packed; of several packed ones, one after another, all.
pub(super) enum Unpacked<R: Read> {
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<Whole<R>>>),
    Bzip2(Box<MultiBzDecoder<Whole<R>>>),
}

/// The first bytes, looked at already, and the rest.
type Whole<R> = io::Chain<io::Take<Cursor<[u8; FIRST]>>, R>;

impl<R: Read> Unpacked<R> {
    /// Looks at the first bytes.
    pub fn new(mut reader: R) -> io::Result<Self> {
        let mut first = [0; FIRST];
        let mut known = 0;
        while known < FIRST {
            match reader.read(&mut first[known..]) {
                Ok(0) => break,
                Ok(bytes) => known += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let whole = Cursor::new(first).take(known as u64).chain(reader);
        Ok(match Packing::of_bytes(&first[..known]) {
            None => Self::Plain(whole),
            Some(Packing::Gzip) => Self::Gzip(Box::new(MultiGzDecoder::new(whole))),
            Some(Packing::Bzip2) => Self::Bzip2(Box::new(MultiBzDecoder::new(whole))),
        })
    }

    pub fn packing(&self) -> Option<Packing> {
        match self {
            Self::Plain(_) => None,
            Self::Gzip(_) => Some(Packing::Gzip),
            Self::Bzip2(_) => Some(Packing::Bzip2),
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(to),
            Self::Gzip(reader) => reader.read(to),
            Self::Bzip2(reader) => reader.read(to),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// `bytes` packed, or as they are.
    pub(crate) fn packed(packing: Option<Packing>, bytes: &[u8]) -> Vec<u8> {
        let Some(packing) = packing else { return bytes.to_vec() };
        let mut all = Vec::new();
        packing.pack(&mut all, |writer| writer.write_all(bytes)).unwrap();
        all
    }

    pub(crate) const ALL: [Option<Packing>; 3] = [None, Some(Packing::Gzip), Some(Packing::Bzip2)];

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Unpacked::new(bytes)?.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn what_is_packed_comes_back_in_one_piece_or_many() {
        let mut random = crate::generate::Random::new(1);
        let text: Vec<u8> = (0..1_200_000).map(|_| b'0' + random.below(10) as u8).collect();
        for packing in ALL {
            // None, few, and more than a block of bzip2.
            for length in [0, 1, 2, 3, 1000, text.len()] {
                assert!(read(&packed(packing, &text[..length])).unwrap() == text[..length], "{packing:?} {length}");
            }
            let pieces = [&text[..5], &[], &text[5..900]].map(|piece| packed(packing, piece)).concat();
            assert!(read(&pieces).unwrap() == text[..900], "{packing:?}");
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
            // The check sum; what follows the end.
            let mut flipped = whole.clone();
            *flipped.iter_mut().nth_back(7).unwrap() ^= 1;
            for damaged in [flipped, [&whole[..], b"more that is not packed"].concat()] {
                let kind = read(&damaged).unwrap_err().kind();
                assert!(matches!(kind, ErrorKind::InvalidInput | ErrorKind::InvalidData), "{packing:?}: {kind:?}");
            }
        }
    }

    #[test]
    fn names_say_how() {
        for (name, plain, packing) in [
            ("a.mtx", "a.mtx", None),
            ("a.mtx.gz", "a.mtx", Some(Packing::Gzip)),
            ("a.BZ2", "a", Some(Packing::Bzip2)),
            (".gz", ".gz", None),
        ] {
            assert_eq!((without_packing(Path::new(name)), Packing::of_name(Path::new(name))), (plain.into(), packing));
        }
    }
}
