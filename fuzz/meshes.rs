//! Checks of the readers of meshes.
use super::{problems::checked, written};
use blockmul::mesh::{read_from, write_ply_to};

/// Checks triangle meshes, plain or packed, as a file of each format.
pub fn mesh(bytes: &[u8]) {
    for name in ["input.obj", "input.off", "input.ply"] {
        let Some(mesh) = checked(bytes, name, |bytes| read_from(bytes, name)) else { continue };
        let copy = written(|to| write_ply_to(to, &mesh, &[]).map_err(std::io::Error::other));
        assert_eq!(read_from(&copy[..], "copy.ply").expect("our own file"), mesh);
    }
}
