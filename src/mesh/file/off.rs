//! Geomview's OFF: the numbers of vertices, faces and edges, then the vertices, then for each face
//! the number of its corners and the corners, counted from 0.
use super::{Mesh, bytes::Bytes, fan};
use crate::{
    Result,
    io::{push, words::quote},
};

pub(super) fn parse(text: &mut Bytes) -> Result<Mesh> {
    let mut words = text.next_words(|| "its first line".into())?;
    match &words[0][..] {
        b"OFF" | b"COFF" => {
            words.remove(0);
            if words.first().is_some_and(|word| word.eq_ignore_ascii_case(b"binary")) {
                return text.refuse("binary OFF is not read, text is");
            }
        }
        first if first.first().is_some_and(u8::is_ascii_digit) => {}
        first => return text.refuse(format!("the file begins with {}, not with OFF", quote(first))),
    }
    if words.is_empty() {
        words = text.next_words(|| "the numbers of vertices and faces".into())?;
    }
    if words.len() < 2 {
        return text.refuse("a line of the numbers of vertices, faces and edges has one number");
    }
    let (vertices, faces) = (text.count(&words[0], "vertices")?, text.count(&words[1], "faces")?);
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for vertex in 0..vertices {
        let words = text.next_words(|| format!("vertex {vertex} of {vertices}"))?;
        push(&mut points, text.point(&words, 0)?, "vertices")?;
    }
    for face in 0..faces {
        let words = text.next_words(|| format!("face {face} of {faces}"))?;
        let count = text.count(&words[0], "corners of a face")?;
        if count < 3 || count >= words.len() as u64 {
            let listed = words.len() - 1;
            return text.refuse(format!("a face of {count} corners, of which the line lists {listed}; it takes 3"));
        }
        let corners = words[1..=count as usize].iter().map(|word| text.corner(word, points.len()));
        let corners = corners.collect::<Result<Vec<u32>>>()?;
        fan(&corners).try_for_each(|triangle| push(&mut triangles, triangle, "triangles"))?;
    }
    match text.words() {
        None => Mesh::new(points, triangles),
        Some(_) => text.refuse(format!("more lines than {vertices} vertices and {faces} faces")),
    }
}
