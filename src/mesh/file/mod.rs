//! Reads files of meshes (OBJ, PLY and OFF), plain or packed, and writes PLY.
//!
//! Polygons are cut into triangles around their first corner. Colours, normals and texture
//! coordinates are skipped.
mod obj;
mod off;
mod ply;
mod text;
mod write;

pub use write::{write_ply, write_ply_to};

use super::Mesh;
use crate::{
    Error, Result,
    io::{packing::has_ending, push, source::Source},
};
use std::{io::Read, path::Path};
use text::Text;

/// A format of files of meshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeshFormat {
    /// Wavefront's format: `v` and `f` lines.
    Obj,
    /// Stanford's polygon format: text, or binary in either byte order.
    Ply,
    /// Geomview's object file format: text.
    Off,
}

impl MeshFormat {
    /// The format that the ending of a file's name gives, or `None` if the ending names no format.
    /// The ending of a packing is ignored.
    pub fn of(path: &Path) -> Option<Self> {
        let known = [("obj", Self::Obj), ("ply", Self::Ply), ("off", Self::Off)];
        known.into_iter().find(|(ending, _)| has_ending(path, ending)).map(|(_, format)| format)
    }

    /// The format of files that begin with this word.
    fn that_begins(first: &[u8]) -> Option<Self> {
        match first {
            b"ply" => Some(Self::Ply),
            b"OFF" | b"COFF" => Some(Self::Off),
            [b'0'..=b'9', ..] => Some(Self::Off),
            b"v" | b"vn" | b"vt" | b"f" | b"o" | b"g" | b"s" | b"mtllib" | b"usemtl" => Some(Self::Obj),
            _ => None,
        }
    }
}

/// Reads the mesh in the file at `path`. The ending of its name gives the format. If the name has
/// no ending, the first word of the file gives the format. For an archive, the name of its member
/// counts.
///
/// # Errors
/// [`Error::Io`] if the system refuses the file; [`Error::Parse`] with the line, or
/// [`Error::Malformed`] with the vertex or face of binary data, for anything the format does not
/// allow; [`Error::Argument`] for an ending that belongs to no [`MeshFormat`]; [`Error::Memory`].
pub fn read(path: impl AsRef<Path>) -> Result<Mesh> {
    parse(Source::open(path.as_ref(), None)?)
}

/// Reads a mesh from any reader, to the end. `name` gives the format and is used in messages. If
/// `name` has no ending, the first word gives the format.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from(reader: impl Read + Send, name: impl AsRef<Path>) -> Result<Mesh> {
    parse(Source::new(reader, name.as_ref())?)
}

/// The format that a name gives, or `None` for a name without an ending.
fn format_of(path: &Path) -> Result<Option<MeshFormat>> {
    match MeshFormat::of(path) {
        None if path.extension().is_some() => {
            let path = path.display();
            Err(Error::Argument(format!(
                "{path}: not the name of a mesh: it must end in .obj, .ply or .off, packed or not"
            )))
        }
        format => Ok(format),
    }
}

fn parse(source: Source<'_>) -> Result<Mesh> {
    let format = format_of(source.name())?;
    let mut text = Text::new(source);
    let format = match format {
        Some(format) => format,
        None => text.format()?,
    };
    match format {
        MeshFormat::Obj => obj::parse(&mut text),
        MeshFormat::Ply => ply::parse(&mut text),
        MeshFormat::Off => off::parse(&mut text),
    }
}

/// Cuts a polygon, whose corners are added one by one, into triangles.
#[derive(Default)]
struct Fan {
    corners: u64,
    first: u32,
    last: u32,
}

impl Fan {
    /// Adds a corner, and appends the triangle that ends there, if there is one.
    fn add(&mut self, corner: u32, triangles: &mut Vec<[u32; 3]>) -> Result<()> {
        match self.corners {
            0 => self.first = corner,
            1 => {}
            _ => push(triangles, [self.first, self.last, corner], "triangles")?,
        }
        self.last = corner;
        self.corners += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
