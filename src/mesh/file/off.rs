//! Geomview's OFF: the numbers of vertices, faces and edges, then the vertices, then the faces. A
//! face is the number of its corners, followed by the corners, which are vertices counted from 0.
use super::{Fan, Mesh, text::Text};
use crate::{
    Result,
    io::{push, words::quote},
};

pub(super) fn parse(text: &mut Text<'_>) -> Result<Mesh> {
    let (vertices, faces) = counts(text)?;
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for vertex in 0..vertices {
        text.expect(|| format!("vertex {vertex} of {vertices}"))?;
        push(&mut points, text.point(text.words())?, "vertices")?;
    }
    for face in 0..faces {
        text.expect(|| format!("face {face} of {faces}"))?;
        let (count, listed) = (text.count(text.first(), "corners of a face")?, text.words().count() - 1);
        if count < 3 || count > listed as u64 {
            return text.refuse(format!(
                "a face of {count} corners, of which the line lists {listed}; at least 3 are required"
            ));
        }
        let mut fan = Fan::default();
        for word in text.words().skip(1).take(count as usize) {
            fan.add(text.corner(word, points.len())?, &mut triangles)?;
        }
    }
    match text.advance()? {
        false => Mesh::new(points, triangles),
        true => text.refuse(format!("more lines than {vertices} vertices and {faces} faces")),
    }
}

/// The numbers of vertices and faces, which are in the first line, or in the second line if the
/// first line is only `OFF`.
fn counts(text: &mut Text<'_>) -> Result<(u64, u64)> {
    text.expect(|| "its first line".into())?;
    let mut named = 0;
    match text.first() {
        b"OFF" | b"COFF" => {
            named = 1;
            if text.words().nth(1).is_some_and(|word| word.eq_ignore_ascii_case(b"binary")) {
                return text.refuse("binary OFF is not read, text is");
            }
        }
        first if first.first().is_some_and(u8::is_ascii_digit) => {}
        first => return text.refuse(format!("the file begins with {}, not with OFF", quote(first))),
    }
    if text.words().count() == named {
        text.expect(|| "the numbers of vertices and faces".into())?;
        named = 0;
    }
    let mut words = text.words().skip(named);
    match (words.next(), words.next()) {
        (Some(vertices), Some(faces)) => Ok((text.count(vertices, "vertices")?, text.count(faces, "faces")?)),
        _ => text.refuse("a line of the numbers of vertices, faces and edges has one number"),
    }
}
