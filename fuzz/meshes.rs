//! Checks of the readers of meshes.
use super::{memory, problems::checked, written};
use blockmul::extra::mesh::{read_from, write_ply_to};
use std::io::Read;

/// Checks triangle meshes, plain or compressed, as a file of each format.
pub fn mesh(bytes: &[u8]) {
    for name in ["input.obj", "input.off", "input.ply"] {
        let Some(mesh) = checked(bytes, name, |bytes| read_from(bytes, name)) else { continue };
        let copy = written(|to| write_ply_to(to, &mesh, &[]).map_err(std::io::Error::other));
        assert_eq!(read_from(&copy[..], "copy.ply").expect("our own file"), mesh);
    }
}

/// Checks the memory that readers take for files of eight mebibytes that contain no mesh, or are
/// refused: no more than their lines need.
#[allow(dead_code, reason = "fuzzing tries short inputs")]
pub fn long_meshes() {
    const LENGTH: usize = 6 << 20;
    const MOST: usize = 5 << 20;
    let ply = |encoding: &str, of: &str| {
        format!(
            "ply\nformat {encoding} 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\n{of}end_header\n"
        )
    };
    let read_over = ply("binary_little_endian", "element other 99999999\nproperty list uchar char ofs\n");
    let lines_over = ply("ascii", "element other 99999999\nproperty char one\n");
    let long_list = ply("binary_little_endian", "element other 1\nproperty list int char of\n");
    for (name, begin, repeated, end) in [
        ("a.obj", "", "\n", ""),
        ("a.obj", "", "\r", ""),
        ("a.obj", "", " ", "a line of more than 1048576 bytes"),
        ("a.obj", "", "\0", "a line of more than 1048576 bytes"),
        ("a.obj", "", "# a comment\n", ""),
        ("a.obj", "v 0 0 0\nf", " 1", "a line of more than 1048576 bytes"),
        ("a.obj", "f", " 1 \\\n", "a line of more than 1048576 bytes"),
        ("a.obj", "", "vn 0 0 1\n", ""),
        ("a.off", "OFF\n", "\r\n", "the file ends before the numbers of vertices and faces"),
        ("a.off", "OFF 0 0\n", "#\n", ""),
        ("a.ply", "ply\n", "comment of many words here\n", "the file ends before end_header"),
        ("a.ply", "ply\nformat ascii 1.0\nelement vertex 9\n", "property float f\n", "a header of more than 4096"),
        ("a.ply", &*read_over, "\u{3}\u{1}\u{2}\u{3}", "the file ends before the element does"),
        ("a.ply", &*lines_over, "1\n", "the file ends before other"),
        ("a.ply", &*long_list, "\u{7f}", "the file ends before the element does"),
    ] {
        let repeated_bytes = repeated.as_bytes().iter().copied().cycle().take(LENGTH / repeated.len() * repeated.len());
        let file = begin.as_bytes().chain(Bytes(repeated_bytes));
        let (outcome, held) = memory::most_held(|| read_from(file, name));
        match outcome {
            Ok(mesh) => assert!(end.is_empty() && mesh.triangles().is_empty(), "{begin}{repeated:?}"),
            Err(error) => assert!(!end.is_empty() && error.to_string().contains(end), "{begin}{repeated:?}: {error}"),
        }
        assert!(held <= MOST, "{held} bytes held for {begin}{repeated:?}");
    }
}

/// A reader that reads the bytes that an iterator returns.
struct Bytes<I>(I);

impl<I: Iterator<Item = u8>> Read for Bytes<I> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        Ok(to.iter_mut().zip(&mut self.0).map(|(to, byte)| *to = byte).count())
    }
}
