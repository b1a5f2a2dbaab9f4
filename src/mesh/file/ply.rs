//! Stanford's PLY: a header in text that declares elements and their properties, then the elements,
//! as lines of text or as binary numbers of either byte order.
//!
//! `x`, `y` and `z` of the element `vertex` and the list `vertex_indices` or `vertex_index` of
//! `face` are taken; other elements and properties are read over.
use super::{Mesh, bytes::Bytes, fan};
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
    /// The type of the number of elements, if it is a list.
    list: Option<Number>,
    number: Number,
}

/// An element that the header declares.
struct Element {
    name: Vec<u8>,
    count: u64,
    properties: Vec<Property>,
}

/// How elements are written.
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

    /// The number in these bytes, the least significant first; exact.
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

pub(super) fn parse(file: &mut Bytes) -> Result<Mesh> {
    let (encoding, elements) = header(file)?;
    let mut reader = Reader { file, encoding, at: 0, words: Vec::new() };
    let (mut points, mut triangles): (Vec<[f64; 3]>, Vec<[u32; 3]>) = (Vec::new(), Vec::new());
    let (mut numbers, mut corners) = (Vec::new(), Vec::new());
    for element in &elements {
        let places = match &element.name[..] {
            b"vertex" => {
                let of = |name: &[u8]| element.properties.iter().position(|property| property.name == name);
                match (of(b"x"), of(b"y"), of(b"z")) {
                    (Some(x), Some(y), Some(z)) => [x, y, z],
                    _ => return reader.file.refuse("element vertex has not the properties x, y and z"),
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
                numbers.clear();
                let count = match property.list {
                    None => 1,
                    Some(of_count) => reader.list_length(of_count, place)?,
                };
                for _ in 0..count {
                    let value = reader.number(property.number, place)?;
                    if list == Some(at) {
                        push(&mut numbers, value, "corners")?;
                    }
                    if let Some(axis) = places.iter().position(|&place| place == at) {
                        point[axis] = value;
                    }
                }
                if list == Some(at) {
                    corners.clear();
                    for &corner in &numbers {
                        corners.push(reader.corner(corner, points.len(), place)?);
                    }
                    if corners.len() < 3 {
                        return reader.refuse(place, format!("a face of {} corners; it takes 3", corners.len()));
                    }
                    fan(&corners).try_for_each(|triangle| push(&mut triangles, triangle, "triangles"))?;
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

/// Reads the header.
fn header(file: &mut Bytes) -> Result<(Encoding, Vec<Element>)> {
    if file.line() != Some(b"ply") {
        return file.refuse("the first line is not \"ply\"");
    }
    let (mut encoding, mut elements) = (None, Vec::<Element>::new());
    loop {
        let words = file.next_words(|| "end_header".into())?;
        let words: Vec<&[u8]> = words.iter().map(|word| &word[..]).collect();
        match words[..] {
            [b"comment" | b"obj_info", ..] => {}
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
            [first, ..] => return file.refuse(format!("{} is no line of a header as it stands", quote(first))),
            [] => {}
        }
    }
    let place = |name: &[u8]| elements.iter().position(|element| element.name == name);
    // It would take no bytes, however many there are.
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

fn number_of(file: &Bytes, word: &[u8]) -> Result<Number> {
    Number::of(word).map_or_else(|| file.refuse(format!("no type is called {}", quote(word))), Ok)
}

fn add(file: &Bytes, elements: &mut [Element], property: Property) -> Result<()> {
    match elements.last_mut() {
        None => file.refuse("a property before the first element"),
        Some(element) => {
            element.properties.push(property);
            Ok(())
        }
    }
}

/// Reads elements number by number. `place` names the element for messages.
struct Reader<'f> {
    file: &'f mut Bytes,
    encoding: Encoding,
    /// Bytes of the binary data, or words of the line, that were read.
    at: usize,
    words: Vec<Vec<u8>>,
}

impl Reader<'_> {
    /// Goes to the next element.
    fn begin(&mut self, place: impl Fn() -> String) -> Result<()> {
        if self.encoding == Encoding::Text {
            (self.words, self.at) = (self.file.next_words(place)?, 0);
        }
        Ok(())
    }

    /// Checks that a line has ended with its element.
    fn end(&self, place: impl Fn() -> String) -> Result<()> {
        match self.encoding == Encoding::Text && self.at < self.words.len() {
            true => self.refuse(place, "the line has more numbers than the element has properties"),
            false => Ok(()),
        }
    }

    /// Checks that the file ends with the last element.
    fn finish(&mut self) -> Result<()> {
        const MORE: &str = "the file goes on behind the elements of its header";
        match self.encoding {
            Encoding::Text if self.file.words().is_some() => self.file.refuse(MORE),
            Encoding::Text => Ok(()),
            _ if self.at < self.file.rest().len() => self.file.malformed("end".into(), MORE),
            _ => Ok(()),
        }
    }

    fn number(&mut self, number: Number, place: impl Fn() -> String) -> Result<f64> {
        if self.encoding == Encoding::Text {
            let Some(word) = self.words.get(self.at) else {
                return self.refuse(place, "the line has fewer numbers than the element has properties");
            };
            self.at += 1;
            return self.file.any_number(word, "a property");
        }
        let size = number.bytes();
        let Some(bytes) = self.file.rest().get(self.at..self.at + size) else {
            return self.refuse(place, "the file ends before it does");
        };
        let mut little = [0; 8];
        little[..size].copy_from_slice(bytes);
        if self.encoding == Encoding::BigEndian {
            little[..size].reverse();
        }
        self.at += size;
        Ok(number.value(little))
    }

    /// The number of elements of a list.
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
