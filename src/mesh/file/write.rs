//! Writes binary PLY files. Vertices have colours if colours are given.
use super::super::{Colour, Mesh, check_colours};
use crate::{Error, Result, io::write_whole};
use std::{
    io::{self, Write},
    path::Path,
};

/// Writes `mesh` to the file at `path` as binary PLY, packed if the name ends in `.gz` or `.bz2`.
/// `colours` is empty or has a colour for each vertex.
///
/// # Errors
/// [`Error::Length`] if the number of colours is neither 0 nor the number of vertices;
/// [`Error::Io`] with the path. An earlier file stays unchanged.
pub fn write_ply(path: impl AsRef<Path>, mesh: &Mesh, colours: &[Colour]) -> Result<()> {
    check(mesh, colours)?;
    write_whole(path.as_ref(), |writer| fill(writer, mesh, colours))
}

/// Writes to any writer as [`write_ply`] does.
///
/// # Errors
/// [`Error::Length`] if the number of colours is neither 0 nor the number of vertices;
/// [`Error::Io`] without a path.
pub fn write_ply_to(mut writer: impl Write, mesh: &Mesh, colours: &[Colour]) -> Result<()> {
    check(mesh, colours)?;
    fill(&mut writer, mesh, colours).map_err(|source| Error::Io { path: Path::new("").to_owned(), source })
}

fn check(mesh: &Mesh, colours: &[Colour]) -> Result<()> {
    if colours.is_empty() { Ok(()) } else { check_colours(mesh, colours) }
}

fn fill(writer: &mut dyn Write, mesh: &Mesh, colours: &[Colour]) -> io::Result<()> {
    let (vertices, faces) = (mesh.points().len(), mesh.triangles().len());
    write!(writer, "ply\nformat binary_little_endian 1.0\nelement vertex {vertices}\n")?;
    for axis in ["x", "y", "z"] {
        writeln!(writer, "property double {axis}")?;
    }
    for colour in ["red", "green", "blue"].iter().filter(|_| !colours.is_empty()) {
        writeln!(writer, "property uchar {colour}")?;
    }
    write!(writer, "element face {faces}\nproperty list uchar uint vertex_indices\nend_header\n")?;
    for (vertex, point) in mesh.points().iter().enumerate() {
        point.iter().try_for_each(|coordinate| writer.write_all(&coordinate.to_le_bytes()))?;
        colours.get(vertex).map_or(Ok(()), |colour| writer.write_all(colour))?;
    }
    for triangle in mesh.triangles() {
        writer.write_all(&[3])?;
        triangle.iter().try_for_each(|corner| writer.write_all(&corner.to_le_bytes()))?;
    }
    Ok(())
}
