//! Compression of files. A reader recognises the compression by the first bytes of a file; a writer
//! chooses it by the file's name.
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;

/// A function that writes the contents of a file. The type is a trait object, so that the functions
/// that call it are compiled once.
pub(super) type Fill<'f> = &'f mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Compression format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Bzip2,
    /// A format that is read but never written.
    Xz,
    /// A format that is read but never written.
    Zstd,
}

/// Number of bytes at the start of a file by which its packing is recognised.
pub(super) const FIRST: usize = 6;

/// Largest window of unpacked data, in bytes, that a file may use. 128 MiB are the default limit of
/// zstd and twice the window of `xz -9`. Gzip and bzip2 use less than 1 MiB.
pub(super) const LARGEST_WINDOW: u64 = 128 << 20;

impl Packing {
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }

    /// The packing of a file that begins with these bytes.
    pub fn of_bytes(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [b'B', b'Z', b'h', ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            // The first bytes of a data frame or of a skippable frame of zstd.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The packing of a file that is written with this name.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_ascii_lowercase();
        match extension.to_str()? {
            "gz" => Some(Self::Gzip),
            "bz2" => Some(Self::Bzip2),
            "xz" => Some(Self::Xz),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Refuses a file name whose packing or archive can be read but not written.
    pub fn check_written(path: &Path) -> crate::Result<()> {
        let name = without_packing(path);
        let refused = match Self::of_name(path) {
            _ if is_archive(&name) => "archives are read, not written",
            Some(Self::Xz) => "xz is read, not written",
            Some(Self::Zstd) => "zstd is read, not written",
            _ => return Ok(()),
        };
        Err(crate::Error::Argument(format!("{}: {refused}; packed files end in .gz or .bz2", path.display())))
    }

    /// Packs the output of `fill` into `writer`.
    ///
    /// Gzip uses level 2. For files with random values, which are mostly digits, level 1 takes two
    /// thirds of the time of level 2 but makes files 48 % larger than level 2. Level 3 takes 8 %
    /// longer than level 2 and makes files 3 % smaller. Bzip2 uses its largest blocks, as is usual,
    /// because smaller blocks are no faster.
    pub fn pack<'w>(self, writer: &'w mut (dyn Write + 'w), fill: Fill<'_>) -> io::Result<()> {
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
            Self::Xz | Self::Zstd => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// Whether a name without the ending of its packing is the name of an archive: `a.zip`, `a.tar`, or
/// `a.tgz` and similar.
pub(super) fn is_archive(name: &Path) -> bool {
    const ENDINGS: [&str; 10] = ["zip", "tar", "tgz", "taz", "tbz", "tbz2", "tb2", "txz", "tzst", "tzs"];
    name.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Whether a name without the ending of its packing ends in `ending`, in upper or lower case.
pub(crate) fn has_ending(path: &Path, ending: &str) -> bool {
    without_packing(path).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// The path without the ending of a packing, such as `.gz`.
pub(super) fn without_packing(path: &Path) -> PathBuf {
    match Packing::of_name(path) {
        Some(_) => path.with_extension(""),
        None => path.to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Packs `bytes`, or returns them unchanged if `packing` is `None`.
    pub(crate) fn packed(packing: Option<Packing>, bytes: &[u8]) -> Vec<u8> {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        let mut all = Vec::new();
        match packing {
            None => all.extend(bytes),
            Some(Packing::Xz) => all = stored_as_xz(bytes),
            Some(Packing::Zstd) => all = compress_to_vec(bytes, CompressionLevel::Fastest),
            Some(packing) => packing.pack(&mut all, &mut |writer| writer.write_all(bytes)).unwrap(),
        }
        all
    }

    /// An xz stream that stores `bytes` uncompressed, according to sections 2 and 3 of the xz
    /// specification and section 5.3 of the LZMA2 specification.
    fn stored_as_xz(bytes: &[u8]) -> Vec<u8> {
        let crc = |bytes: &[u8]| {
            let mut crc = flate2::Crc::new();
            crc.update(bytes);
            crc.sum().to_le_bytes()
        };
        let number = |mut value: usize| {
            let mut digits = Vec::new();
            while value >= 0x80 {
                digits.push(value as u8 | 0x80);
                value >>= 7;
            }
            digits.push(value as u8);
            digits
        };
        let with_crc = |mut bytes: Vec<u8>| {
            let sum = crc(&bytes);
            bytes.extend(sum);
            bytes
        };
        let flags = [0, 1]; // a CRC32 after each block
        let mut all = [&b"\xfd7zXZ\0"[..], &flags, &crc(&flags)].concat();
        let mut records = Vec::new();
        if !bytes.is_empty() {
            // The header of a block with one filter, LZMA2 with a dictionary of 64 KiB. With its
            // checksum the header has 12 bytes.
            let header = with_crc(vec![2, 0, 0x21, 1, 8, 0, 0, 0]);
            let mut data = Vec::new();
            for (number, chunk) in bytes.chunks(1 << 16).enumerate() {
                data.push(if number == 0 { 1 } else { 2 });
                data.extend(((chunk.len() - 1) as u16).to_be_bytes());
                data.extend(chunk);
            }
            data.push(0);
            records = [number(header.len() + data.len() + 4), number(bytes.len())].concat();
            data.resize(data.len().next_multiple_of(4), 0);
            all.extend([header, data, crc(bytes).to_vec()].concat());
        }
        let mut index = [vec![0, u8::from(!bytes.is_empty())], records].concat();
        index.resize(index.len().next_multiple_of(4), 0);
        let index = with_crc(index);
        let size = (index.len() / 4 - 1) as u32;
        let footer = [&size.to_le_bytes()[..], &flags].concat();
        all.extend([&index[..], &crc(&footer), &footer, b"YZ"].concat());
        all
    }

    pub(crate) const ALL: [Option<Packing>; 5] =
        [None, Some(Packing::Gzip), Some(Packing::Bzip2), Some(Packing::Xz), Some(Packing::Zstd)];

    #[test]
    fn names_give_the_packing() {
        for (name, plain, packing) in [
            ("a.mtx", "a.mtx", None),
            ("a.mtx.gz", "a.mtx", Some(Packing::Gzip)),
            ("a.BZ2", "a", Some(Packing::Bzip2)),
            ("a.mtx.xz", "a.mtx", Some(Packing::Xz)),
            ("a.tar.Zst", "a.tar", Some(Packing::Zstd)),
            (".gz", ".gz", None),
        ] {
            assert_eq!((without_packing(Path::new(name)), Packing::of_name(Path::new(name))), (plain.into(), packing));
        }
    }

    #[test]
    fn what_is_only_read_is_not_written() {
        for (name, reason) in [
            ("a.mtx.xz", Some("a.mtx.xz: xz is read, not written; packed files end in .gz or .bz2")),
            ("a.mtx.zst", Some("a.mtx.zst: zstd is read, not written; packed files end in .gz or .bz2")),
            ("a.tar.gz", Some("a.tar.gz: archives are read, not written; packed files end in .gz or .bz2")),
            ("a.zip", Some("a.zip: archives are read, not written; packed files end in .gz or .bz2")),
            ("a.TGZ", Some("a.TGZ: archives are read, not written; packed files end in .gz or .bz2")),
            ("a.mtx.gz", None),
            ("tar", None),
        ] {
            let refused = Packing::check_written(Path::new(name)).err().map(|error| error.to_string());
            assert_eq!(refused.as_deref(), reason);
        }
    }
}
