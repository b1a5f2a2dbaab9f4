//! Wavefront's OBJ: `v x y z` lines, and `f` lines that name vertices from 1, or from the end by
//! negative numbers. An `f` line follows the `v` lines that it names.
use super::{Mesh, bytes::Bytes, fan};
use crate::{
    Result,
    io::{push, words::quote},
};

/// Keywords of lines that say nothing of points and triangles.
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

/// Words of a vertex: `v`, three coordinates, then a weight or a colour or both.
const MOST_OF_VERTEX: usize = 8;

pub(super) fn parse(text: &mut Bytes) -> Result<Mesh> {
    let (mut points, mut triangles, mut corners) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(words) = whole_line(text) {
        match &words[0][..] {
            b"v" if words.len() > MOST_OF_VERTEX => {
                return text
                    .refuse(format!("a vertex of {} numbers; it has 3, a weight and a colour", words.len() - 1));
            }
            b"v" => push(&mut points, text.point(&words, 1)?, "vertices")?,
            b"f" => {
                if words.len() < 4 {
                    return text.refuse(format!("a face of {} corners; it takes 3", words.len() - 1));
                }
                corners.clear();
                for word in &words[1..] {
                    corners.push(corner(text, word, points.len())?);
                }
                fan(&corners).try_for_each(|triangle| push(&mut triangles, triangle, "triangles"))?;
            }
            known if READ_OVER.contains(&known) => {}
            other => return text.refuse(format!("no line of a mesh begins with {}", quote(other))),
        }
    }
    Mesh::new(points, triangles)
}

/// The words of the next line, and of those after it as long as each ends in a backslash.
fn whole_line(text: &mut Bytes) -> Option<Vec<Vec<u8>>> {
    let mut words = text.words()?;
    while words.len() > 1 && words.last().is_some_and(|word| word == b"\\") {
        words.pop();
        words.extend(text.words().unwrap_or_default());
    }
    Some(words)
}

/// The vertex of `7`, `7/1`, `7/1/2`, `7//2` or `-1`, counted from 0.
fn corner(text: &Bytes, word: &[u8], vertices: usize) -> Result<u32> {
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
