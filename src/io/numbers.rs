//! Reads little-endian numbers from a stream, which may be compressed. Memory is allocated as bytes
//! arrive.
use std::io::{BufReader, Error as IoError, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::{grow, room, unpacked::Unpacked};
use crate::{Error, Result};
use half::f16;

/// A number that can be read from little-endian bytes.
pub(super) trait Number: Copy {
    const BYTES: usize;
    /// Reads a number from [`Number::BYTES`] bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($($number:ty),+) => { $(
        impl Number for $number {
            const BYTES: usize = size_of::<$number>();
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
            }
        }
    )+ };
}
number!(u8, u32, i32, i64, f16, f32, f64);

pub(super) struct Numbers<'r> {
    reader: Box<dyn Read + 'r>,
    name: PathBuf,
}

impl<'r> Numbers<'r> {
    /// Opens a stream. The first bytes of the stream show how it is compressed.
    pub fn new(reader: impl Read + 'r, name: &Path) -> Result<Self> {
        Self::of_bytes(Box::new(reader), name)
    }

    /// The implementation of [`Numbers::new`], compiled once for all readers.
    fn of_bytes(reader: Box<dyn Read + 'r>, name: &Path) -> Result<Self> {
        let reader = Unpacked::new(reader).map_err(|source| Error::Io { path: name.to_owned(), source })?;
        Ok(Self { reader: Box::new(BufReader::new(reader)), name: name.to_owned() })
    }

    /// Makes the error `path: place: reason`.
    pub fn refuse(&self, place: impl Into<String>, reason: impl Into<String>) -> Error {
        Error::Malformed { path: self.name.clone(), place: place.into(), reason: reason.into() }
    }

    /// Reads the next `count` numbers, which an error calls `what`. Memory is allocated as the
    /// numbers arrive.
    pub fn array<T: Number>(&mut self, count: usize, what: &str) -> Result<Vec<T>> {
        const CHUNK: usize = 1 << 16;
        let mut bytes = vec![0; CHUNK.min(count.saturating_mul(T::BYTES))];
        let mut numbers = room(count.min(CHUNK), what)?;
        while numbers.len() < count {
            let more = (count - numbers.len()).min(CHUNK / T::BYTES);
            let chunk = &mut bytes[..more * T::BYTES];
            let filled = fill(&mut self.reader, chunk).map_err(|error| self.broken(error, what))?;
            if filled < chunk.len() {
                let known = numbers.len() + filled / T::BYTES;
                return Err(self.refuse(what, format!("the file ends after {known} of {count} numbers")));
            }
            let known = numbers.len();
            if numbers.capacity() - known < more {
                grow(&mut numbers, more.max(known).min(count - known), what)?;
            }
            numbers.extend(chunk.chunks_exact(T::BYTES).map(T::from_bytes));
        }
        Ok(numbers)
    }

    /// Reads `N` sizes, and refuses negative sizes.
    pub fn sizes<const N: usize>(&mut self) -> Result<[u64; N]> {
        let numbers: Vec<i64> = self.array(N, "sizes")?;
        let mut sizes = [0; N];
        for (at, (size, number)) in sizes.iter_mut().zip(numbers).enumerate() {
            *size = u64::try_from(number).map_err(|_| self.refuse("sizes", format!("number {at} is {number}")))?;
        }
        Ok(sizes)
    }

    /// Refuses bytes after the last number.
    pub fn end(&mut self) -> Result<()> {
        match fill(&mut self.reader, &mut [0]).map_err(|error| self.broken(error, "end"))? {
            0 => Ok(()),
            _ => Err(self.refuse("end", "the file goes on after the last value")),
        }
    }

    /// Makes the error of a failed read: an error of the file if the data is damaged, otherwise an
    /// error of the system.
    fn broken(&self, error: IoError, what: &str) -> Error {
        match error.raw_os_error() {
            Some(_) => Error::Io { path: self.name.clone(), source: error },
            None => self.refuse(what, format!("the data is damaged: {error}")),
        }
    }
}

/// Fills `to` and returns the number of bytes read. Fewer bytes than `to` has are read only at the
/// end of the stream.
fn fill(reader: &mut dyn Read, to: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < to.len() {
        match reader.read(&mut to[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
