//! Stanford's PLY: a text header that declares elements and their properties, then the elements, as
//! lines of text or as binary numbers in either byte order.
//!
//! The reader uses `x`, `y` and `z` of the element `vertex`, and the list `vertex_indices` or
//! `vertex_index` of the element `face`. Other elements and properties are skipped.
use super::{Fan, Mesh, text::Text};
use crate::{
    Result,
    io::{push, words::quote},
};

/// A type of numbers.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

/// A property of an element.
struct Property {
    name: Vec<u8>,
    /// The type of a list's length, if the property is a list.
    list: Option<Number>,
    number: Number,
}

/// An element that the header declares.
struct Element {
    name: Vec<u8>,
    count: u64,
    properties: Vec<Property>,
}

/// The encoding of elements.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

impl Number {
    fn of(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Converts the bytes of a number, the least significant first, exactly to `f64`.
    fn value(self, little: [u8; 8]) -> f64 {
        let word = u64::from_le_bytes(little);
        match self {
            Self::I8 => f64::from(word as i8),
            Self::U8 => f64::from(word as u8),
            Self::I16 => f64::from(word as i16),
            Self::U16 => f64::from(word as u16),
            Self::I32 => f64::from(word as i32),
            Self::U32 => f64::from(word as u32),
            Self::F32 => f64::from(f32::from_bits(word as u32)),
            Self::F64 => f64::from_bits(word),
        }
    }
}

pub(super) fn parse(file: &mut Text<'_>) -> Result<Mesh> {
    let (encoding, elements) = header(file)?;
    let mut reader = Reader { file, encoding, at: 0 };
    let (mut points, mut triangles): (Vec<[f64; 3]>, Vec<[u32; 3]>) = (Vec::new(), Vec::new());
    for element in &elements {
        let places = match &element.name[..] {
            b"vertex" => {
                let of = |name: &[u8]| element.properties.iter().position(|property| property.name == name);
                match (of(b"x"), of(b"y"), of(b"z")) {
                    (Some(x), Some(y), Some(z)) => [x, y, z],
                    _ => return reader.file.refuse("element vertex does not have the properties x, y and z"),
                }
            }
            _ => [usize::MAX; 3],
        };
        let is_corners = |property: &Property| [&b"vertex_indices"[..], b"vertex_index"].contains(&&property.name[..]);
        let list = element.properties.iter().position(is_corners).filter(|_| element.name == b"face");
        if element.name == b"face" && list.is_none_or(|list| element.properties[list].list.is_none()) {
            return reader.file.refuse("element face has no list vertex_indices");
        }
        for number in 0..element.count {
            let place = || format!("{} {number} of {}", String::from_utf8_lossy(&element.name), element.count);
            reader.begin(place)?;
            let mut point = [0.0; 3];
            for (at, property) in element.properties.iter().enumerate() {
                let mut fan = Fan::default();
                let count = match property.list {
                    None => 1,
                    Some(of_count) => reader.list_length(of_count, place)?,
                };
                for _ in 0..count {
                    let value = reader.number(property.number, place)?;
                    if list == Some(at) {
                        fan.add(reader.corner(value, points.len(), place)?, &mut triangles)?;
                    }
                    if let Some(axis) = places.iter().position(|&place| place == at) {
                        point[axis] = value;
                    }
                }
                if list == Some(at) && fan.corners < 3 {
                    return reader.refuse(place, format!("a face of {} corners; at least 3 are required", fan.corners));
                }
            }
            reader.end(place)?;
            if element.name == b"vertex" {
                if let Some(coordinate) = point.iter().find(|coordinate| !coordinate.is_finite()) {
                    return reader.refuse(place, format!("a coordinate is {coordinate}"));
                }
                push(&mut points, point, "vertices")?;
            }
        }
    }
    reader.finish()?;
    Mesh::new(points, triangles)
}

/// The maximum number of words in a line of a header, except in comments.
const MOST_WORDS: usize = 5;

/// The maximum number of elements and properties in a header.
const MOST_DECLARED: usize = 1 << 12;

/// Reads the header.
fn header(file: &mut Text<'_>) -> Result<(Encoding, Vec<Element>)> {
    if !file.advance()? || !file.begins_with(b"ply") {
        return file.refuse("the first line is not \"ply\"");
    }
    let (mut encoding, mut elements) = (None, Vec::<Element>::new());
    let mut declared = 0;
    loop {
        file.expect(|| "end_header".into())?;
        if matches!(file.first(), b"comment" | b"obj_info") {
            continue;
        }
        let mut words = [&b""[..]; MOST_WORDS + 1];
        let count = words.iter_mut().zip(file.words()).map(|(place, word)| *place = word).count();
        match words[..count] {
            [b"format", name, _] => {
                encoding = Some(match name {
                    b"ascii" => Encoding::Text,
                    b"binary_little_endian" => Encoding::LittleEndian,
                    b"binary_big_endian" => Encoding::BigEndian,
                    other => return file.refuse(format!("no format is called {}", quote(other))),
                });
            }
            [b"element", name, count] => {
                let count = file.count(count, "elements")?;
                elements.push(Element { name: name.to_vec(), count, properties: Vec::new() });
            }
            [b"property", b"list", count, number, name] => {
                let list = number_of(file, count)?;
                if matches!(list, Number::F32 | Number::F64) {
                    return file.refuse(format!("the length of a list is of type {}", quote(count)));
                }
                let property = Property { name: name.to_vec(), list: Some(list), number: number_of(file, number)? };
                add(file, &mut elements, property)?;
            }
            [b"property", number, name] => {
                let property = Property { name: name.to_vec(), list: None, number: number_of(file, number)? };
                add(file, &mut elements, property)?;
            }
            [b"end_header"] => break,
            _ => return file.refuse(format!("{} begins a line that is not valid in a header", quote(file.first()))),
        }
        declared += 1;
        if declared > MOST_DECLARED {
            return file.refuse(format!("a header of more than {MOST_DECLARED} elements and properties"));
        }
    }
    let place = |name: &[u8]| elements.iter().position(|element| element.name == name);
    // A header could declare any number of elements without properties, because they take no bytes.
    if let Some(empty) = elements.iter().find(|element| element.properties.is_empty()) {
        return file.refuse(format!("element {} has no properties", String::from_utf8_lossy(&empty.name)));
    }
    match (encoding, place(b"vertex"), place(b"face")) {
        (None, ..) => file.refuse("the header declares no format"),
        (_, None, _) => file.refuse("the header declares no element vertex"),
        (_, Some(vertex), Some(face)) if face < vertex => file.refuse("element face comes before element vertex"),
        (Some(encoding), ..) => Ok((encoding, elements)),
    }
}

fn number_of(file: &Text<'_>, word: &[u8]) -> Result<Number> {
    Number::of(word).map_or_else(|| file.refuse(format!("no type is called {}", quote(word))), Ok)
}

fn add(file: &Text<'_>, elements: &mut [Element], property: Property) -> Result<()> {
    match elements.last_mut() {
        None => file.refuse("a property before the first element"),
        Some(element) => {
            element.properties.push(property);
            Ok(())
        }
    }
}

/// Reads the numbers of elements one by one. `place` names the element for messages.
struct Reader<'f, 'r> {
    file: &'f mut Text<'r>,
    encoding: Encoding,
    /// Number of bytes of the line that have been read.
    at: usize,
}

impl Reader<'_, '_> {
    /// Moves to the next element.
    fn begin(&mut self, place: impl Fn() -> String) -> Result<()> {
        if self.encoding == Encoding::Text {
            self.file.expect(place)?;
            self.at = 0;
        }
        Ok(())
    }

    /// Checks that a line has ended with its element.
    fn end(&self, place: impl Fn() -> String) -> Result<()> {
        match self.encoding == Encoding::Text && self.file.word_from(self.at).is_some() {
            true => self.refuse(place, "the line has more numbers than the element has properties"),
            false => Ok(()),
        }
    }

    /// Checks that the file ends with the last element.
    fn finish(&mut self) -> Result<()> {
        const MORE: &str = "the file goes on after the elements of its header";
        match self.encoding {
            Encoding::Text if self.file.advance()? => self.file.refuse(MORE),
            Encoding::Text => Ok(()),
            _ if self.file.is_at_end()? => Ok(()),
            _ => self.file.malformed("end".into(), MORE),
        }
    }

    fn number(&mut self, number: Number, place: impl Fn() -> String) -> Result<f64> {
        if self.encoding == Encoding::Text {
            let Some((word, end)) = self.file.word_from(self.at) else {
                return self.refuse(place, "the line has fewer numbers than the element has properties");
            };
            let value = self.file.any_number(word, "a property");
            self.at = end;
            return value;
        }
        let size = number.bytes();
        let mut little = [0; 8];
        match self.file.bytes(size)? {
            Some(bytes) => little[..size].copy_from_slice(bytes),
            None => return self.refuse(place, "the file ends before the element does"),
        }
        if self.encoding == Encoding::BigEndian {
            little[..size].reverse();
        }
        Ok(number.value(little))
    }

    /// The length of a list.
    fn list_length(&mut self, number: Number, place: impl Fn() -> String + Copy) -> Result<u64> {
        match self.number(number, place)? {
            length if length >= 0.0 && length.fract() == 0.0 => Ok(length as u64),
            length => self.refuse(place, format!("a list of {length} elements")),
        }
    }

    fn corner(&self, corner: f64, vertices: usize, place: impl Fn() -> String) -> Result<u32> {
        match corner >= 0.0 && corner.fract() == 0.0 && corner < vertices as f64 {
            true => Ok(corner as u32),
            false => self.refuse(place, format!("corner {corner} is none of {vertices} vertices, counted from 0")),
        }
    }

    fn refuse<T>(&self, place: impl Fn() -> String, reason: impl Into<String>) -> Result<T> {
        match self.encoding {
            Encoding::Text => self.file.refuse(reason),
            _ => self.file.malformed(place(), reason),
        }
    }
}
