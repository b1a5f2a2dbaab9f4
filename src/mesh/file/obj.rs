//! Wavefront's OBJ: `v x y z` lines, and `f` lines that name vertices. A positive number of a
//! vertex counts from the first vertex, which is 1; a negative number counts back from the last
//! vertex, which is -1. An `f` line comes after the `v` lines that it names.
use super::{Fan, Mesh, text::Text};
use crate::{
    Result,
    io::{push, words::quote},
};

/// Keywords of lines that are skipped because they describe neither points nor triangles.
const READ_OVER: [&[u8]; 19] = [
    b"vn",
    b"vt",
    b"vp",
    b"g",
    b"o",
    b"s",
    b"mg",
    b"l",
    b"p",
    b"usemtl",
    b"mtllib",
    b"usemap",
    b"maplib",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"lod",
    b"shadow_obj",
    b"trace_obj",
];

/// The maximum number of words in a line of a vertex: `v`, three coordinates, and a weight, a
/// colour or both.
const MOST_OF_VERTEX: usize = 8;

pub(super) fn parse(text: &mut Text<'_>) -> Result<Mesh> {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    while text.advance_whole()? {
        let numbers = text.words().count() - 1;
        match text.first() {
            b"v" if numbers >= MOST_OF_VERTEX => {
                return text.refuse(format!(
                    "a vertex has {numbers} numbers; 3 are expected, then at most a weight and a colour"
                ));
            }
            b"v" => push(&mut points, text.point(text.words().skip(1))?, "vertices")?,
            b"f" => {
                if numbers < 3 {
                    return text.refuse(format!("a face of {numbers} corners; at least 3 are required"));
                }
                let mut fan = Fan::default();
                for word in text.words().skip(1) {
                    fan.add(corner(text, word, points.len())?, &mut triangles)?;
                }
            }
            known if READ_OVER.contains(&known) => {}
            other => return text.refuse(format!("no line of a mesh begins with {}", quote(other))),
        }
    }
    Mesh::new(points, triangles)
}

/// The vertex, counted from 0, that a word such as `7`, `7/1`, `7/1/2`, `7//2` or `-1` names.
fn corner(text: &Text<'_>, word: &[u8], vertices: usize) -> Result<u32> {
    let vertex = word.split(|&byte| byte == b'/').next().unwrap_or_default();
    let number = std::str::from_utf8(vertex).ok().and_then(|vertex| vertex.parse::<i64>().ok());
    let from_zero = match number {
        None => return text.refuse(format!("a corner: {} is no number of a vertex", quote(word))),
        Some(number) if number < 0 => number + vertices as i64,
        Some(number) => number - 1,
    };
    match u32::try_from(from_zero) {
        Ok(corner) if (corner as usize) < vertices => Ok(corner),
        _ => text.refuse(format!("corner {} is none of the {vertices} vertices so far", number.unwrap_or_default())),
    }
}
