//! Reads one array of an archive: its header, which is checked before use, and its elements in
//! order.
use std::io::{BufReader, Read};
use std::path::Path;

use half::f16;
use npyz::{DType, Deserialize, NpyFile, NpyHeader, Order, TypeChar};

use crate::io::words::quote;
use crate::io::zipped::damaged;
use crate::io::{ValueType, malformed, push};
use crate::{Error, Result, element::ElementType};

pub(in crate::io) struct NpyMember<'r> {
    /// The reader is buffered, so that there is one virtual call for each buffer and not for each
    /// element.
    bytes: BufReader<Box<dyn Read + 'r>>,
    header: NpyHeader,
    path: std::path::PathBuf,
    place: String,
}

/// The declared type of an array's values.
#[derive(Clone, Copy)]
pub(in crate::io) struct Declared {
    pub field: ValueType,
    pub element: ElementType,
}

/// The narrowest element type that can represent all numbers of an array's type; `f64` if no
/// element type can.
fn element_of(kind: TypeChar, size: u64) -> ElementType {
    match (kind, size) {
        (TypeChar::Float, 4) => ElementType::F32,
        (TypeChar::Float, 2) => ElementType::F16,
        (TypeChar::Int, 1 | 2 | 4) => ElementType::I32,
        (TypeChar::Uint, 2 | 4) => ElementType::U32,
        (TypeChar::Uint | TypeChar::Bool, 1) => ElementType::U8,
        _ => ElementType::F64,
    }
}

/// The reason why an element is refused.
pub(in crate::io) enum Refused {
    /// The value of the element is refused for this reason.
    Reason(String),
    /// Reading the element failed with this error.
    Error(Error),
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// The reason why an element cannot be used.
enum Fault {
    Read(std::io::Error),
    Refused(Refused),
}

impl Fault {
    /// The error of element `at` of `count`. This function is not inlined into the loops over
    /// elements, because these loops are compiled for many types.
    #[cold]
    #[inline(never)]
    fn error(self, path: &Path, place: &str, at: u64, count: u64) -> Error {
        let place = format!("{place}, element {at}");
        match self {
            Self::Read(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                malformed(path, place, format!("the data ends here, the header says {count} elements"))
            }
            Self::Read(error) => damaged(path, &place, error),
            Self::Refused(Refused::Reason(reason)) => malformed(path, place, reason),
            Self::Refused(Refused::Error(error)) => error,
        }
    }
}

type TakeResult = std::result::Result<(), Refused>;

impl<'r> NpyMember<'r> {
    pub fn open(bytes: impl Read + 'r, path: &Path, place: String) -> Result<Self> {
        let mut bytes = BufReader::with_capacity(1 << 16, Box::new(bytes) as Box<dyn Read + 'r>);
        let header = read_header(&mut bytes, path, &place)?;
        Ok(Self { bytes, header, path: path.to_owned(), place })
    }

    pub fn shape(&self) -> &[u64] {
        self.header.shape()
    }

    /// The distance between elements with neighbouring indices, for each axis.
    pub fn strides(&self) -> &[u64] {
        self.header.strides()
    }

    /// Whether the first axis varies fastest.
    pub fn is_fortran(&self) -> bool {
        self.header.order() == Order::Fortran
    }

    /// Refuses arrays in Fortran order.
    pub fn check_order(&self) -> Result<()> {
        match self.is_fortran() {
            false => Ok(()),
            true => Err(self.refuse("the array is in Fortran's order")),
        }
    }

    /// The length of an array with one axis; otherwise an error.
    pub fn len(&self) -> Result<u64> {
        match *self.shape() {
            [length] => Ok(length),
            _ => Err(self.refuse(format!("{} axes where 1 is expected", self.shape().len()))),
        }
    }

    /// Refuses an array whose length is not `expected`.
    pub fn check_len(&self, expected: u64, why: impl FnOnce() -> String) -> Result<()> {
        match self.len()? {
            length if length == expected => Ok(()),
            length => Err(self.refuse(format!("{length} elements, {expected} expected ({})", why()))),
        }
    }

    pub fn refuse(&self, reason: impl Into<String>) -> Error {
        malformed(&self.path, self.place.clone(), reason)
    }

    fn refuse_element(&self, element: u64, reason: impl Into<String>) -> Error {
        malformed(&self.path, format!("{}, element {element}", self.place), reason)
    }

    /// The type and the size in bytes of an element.
    fn kind(&self) -> Result<(TypeChar, u64)> {
        match self.header.dtype() {
            DType::Plain(kind) => Ok((kind.type_char(), kind.size_field())),
            _ => Err(self.refuse("the elements are records")),
        }
    }

    /// The text in an array without axes.
    pub fn text(mut self) -> Result<String> {
        let (kind, size) = self.kind()?;
        if !self.shape().is_empty() || !matches!(kind, TypeChar::ByteStr | TypeChar::UnicodeStr) || size > 64 {
            return Err(self.refuse(format!("not a short text but {}", self.describe())));
        }
        let mut text = String::new();
        match kind {
            TypeChar::ByteStr => self.for_each(&mut |_, bytes: Vec<u8>| {
                text = String::from_utf8_lossy(&bytes).into_owned();
                Ok(())
            }),
            _ => self.for_each(&mut |_, letters: String| {
                text = letters;
                Ok(())
            }),
        }?;
        Ok(text)
    }

    /// The first `used` elements as `f64`, and their declared type. If the array has fewer
    /// elements, all are returned.
    pub fn values(mut self, used: u64) -> Result<(Vec<f64>, Declared)> {
        let (kind, size) = self.kind()?;
        let mut values = Vec::new();
        let mut take = |at, value: f64| if at < used { Ok(push(&mut values, value, "entries")?) } else { Ok(()) };
        let field = match (kind, size) {
            (TypeChar::Float, 2 | 4 | 8) => ValueType::Real,
            (TypeChar::Complex, _) => return Err(self.refuse("complex matrices are not supported")),
            _ => ValueType::Integer,
        };
        match (kind, size) {
            (TypeChar::Float, 8) => self.for_each(&mut |at, value: f64| take(at, value)),
            (TypeChar::Float, 4) => self.for_each(&mut |at, value: f32| take(at, value.into())),
            (TypeChar::Float, 2) => self.for_each(&mut |at, value: f16| take(at, value.into())),
            (TypeChar::Bool, 1) => self.for_each(&mut |at, value: bool| take(at, value.into())),
            _ => self.integers(&mut |at, value| match value as f64 {
                wide if at >= used || wide as i128 == value => take(at, wide),
                _ => Err(format!("the integer {value} cannot be held exactly in a 64-bit float").into()),
            }),
        }?;
        let all_true = kind == TypeChar::Bool && values.iter().all(|&value| value == 1.0);
        let field = if all_true { ValueType::Pattern } else { field };
        Ok((values, Declared { field, element: element_of(kind, size) }))
    }

    /// Calls `take` with every element of an integer array.
    pub fn integers(&mut self, take: &mut dyn FnMut(u64, i128) -> TakeResult) -> Result<()> {
        match self.kind()? {
            (TypeChar::Int, 1) => self.for_each(&mut |at, value: i8| take(at, value.into())),
            (TypeChar::Int, 2) => self.for_each(&mut |at, value: i16| take(at, value.into())),
            (TypeChar::Int, 4) => self.for_each(&mut |at, value: i32| take(at, value.into())),
            (TypeChar::Int, 8) => self.for_each(&mut |at, value: i64| take(at, value.into())),
            (TypeChar::Uint, 1) => self.for_each(&mut |at, value: u8| take(at, value.into())),
            (TypeChar::Uint, 2) => self.for_each(&mut |at, value: u16| take(at, value.into())),
            (TypeChar::Uint, 4) => self.for_each(&mut |at, value: u32| take(at, value.into())),
            (TypeChar::Uint, 8) => self.for_each(&mut |at, value: u64| take(at, value.into())),
            _ => Err(self.refuse(format!("elements of {} are not supported here", self.describe()))),
        }
    }

    /// Calls `take` with every element, and checks that the member has exactly the number of
    /// elements that its header gives.
    fn for_each<T: Deserialize>(&mut self, take: &mut dyn FnMut(u64, T) -> TakeResult) -> Result<()> {
        let file = NpyFile::with_header(self.header.clone(), &mut self.bytes);
        let elements =
            file.data::<T>().map_err(|error| malformed(&self.path, self.place.clone(), error.to_string()))?;
        let count = elements.total_len();
        for (at, element) in (0..count).zip(elements) {
            let at_fault = |fault: Fault| fault.error(&self.path, &self.place, at, count);
            let element = element.map_err(|error| at_fault(Fault::Read(error)))?;
            take(at, element).map_err(|refused| at_fault(Fault::Refused(refused)))?;
        }
        self.check_end(count)
    }

    /// Refuses data after the elements. Reading a member to its end also checks the archive's
    /// checksum.
    fn check_end(&mut self, count: u64) -> Result<()> {
        match self.bytes.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.refuse_element(count, format!("more data than the {count} elements of the header"))),
            Err(error) => Err(damaged(&self.path, &self.place, error)),
        }
    }

    fn describe(&self) -> String {
        let kind = match self.header.dtype() {
            DType::Plain(kind) => format!("\"{kind}\""),
            _ => "records".into(),
        };
        format!("type {kind} in {} axes", self.shape().len())
    }
}

/// Checks the header before `npyz` reads it, because `npyz` allocates the length that the header
/// gives and multiplies sizes without checks.
fn read_header(bytes: &mut impl Read, path: &Path, place: &str) -> Result<NpyHeader> {
    // The longest header in bytes, which is also NumPy's default limit.
    const LONGEST: usize = 10_000;
    let damaged = |error| damaged(path, place, error);
    let mut header = vec![0; 10];
    bytes.read_exact(&mut header).map_err(damaged)?;
    // The length has 16 bits in format 1 and 32 bits in later formats.
    let length = match header[6] {
        1 => u16::from_le_bytes([header[8], header[9]]).into(),
        _ => {
            let mut high = [0; 2];
            bytes.read_exact(&mut high).map_err(damaged)?;
            header.extend(high);
            u32::from_le_bytes([header[8], header[9], high[0], high[1]]) as usize
        }
    };
    if &header[..6] != b"\x93NUMPY" {
        return Err(malformed(path, place, "this is no NumPy array"));
    }
    if length > LONGEST {
        return Err(malformed(path, place, format!("a header of {length} bytes, {LONGEST} at most")));
    }
    let start = header.len();
    header.resize(start + length, 0);
    bytes.read_exact(&mut header[start..]).map_err(damaged)?;
    check_header(&header[start..]).map_err(|reason| malformed(path, place, reason))?;
    NpyHeader::from_reader(&header[..]).map_err(|error| {
        let reason = error.to_string();
        let first_line = reason.lines().next().unwrap_or_default();
        malformed(path, place, format!("the header is wrong: {}", first_line.split("  -->").next().unwrap_or_default()))
    })
}

/// Refuses headers that NumPy does not write, and that `npyz` would parse slowly or evaluate
/// without checks.
fn check_header(text: &[u8]) -> std::result::Result<(), String> {
    // Maximum depth of dictionaries and records that contain shapes. The time of `npyz`'s parser is
    // exponential in the depth.
    const DEEPEST: usize = 4;
    let mut depth = 0usize;
    for &byte in text {
        match byte {
            b'(' | b'[' | b'{' if depth == DEEPEST => return Err("the header is nested too deeply".into()),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            // Arithmetic and escaped digits in a header are refused.
            b'+' | b'-' | b'\\' => return Err(format!("the header is wrong: {:?} in it", char::from(byte))),
            _ => {}
        }
    }
    // Python also reads 0xff and 1_000 as numbers, but the check of the product below only reads
    // decimal digits.
    let is_decimal = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
    let mut words = text.split(|&byte| !byte.is_ascii_alphanumeric() && byte != b'_');
    if let Some(word) = words.find(|word| word.first().is_some_and(u8::is_ascii_digit) && !is_decimal(word)) {
        return Err(format!("the header is wrong: {} is no decimal number", quote(word)));
    }
    let mut numbers = text.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let number = |digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok();
    let size = numbers.try_fold(1u64, |product, digits| product.checked_mul(number(digits)?.max(1)));
    size.map(drop).ok_or_else(|| "the header describes no array of any possible size".into())
}
