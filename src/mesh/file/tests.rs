//! Tests files of every format, packed and not packed, and the files that each format refuses.
use super::*;
use crate::io::packing::{Packing, tests::packed};
use crate::io::zipped::tests::archive_of;

fn square() -> Mesh {
    let points = vec![[0.0, 0.0, 0.5], [1.0, 0.0, 0.0], [1.0, 1.0, -2.5], [0.0, 1.0, 0.0]];
    Mesh::new(points, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
}

const OBJ: &str = "# a square\nmtllib a.mtl\no square\nv 0 0 .5\nv 1 0 0 1.0\r\nv 1 1 -2.5\nvn 0 0 1\n\nv 0 1 0\ns off\nf 1/1/1 2//1 -2 4/7\n";
const OFF: &str = "OFF # a square\n4 1 0\n0 0 .5\n\n1 0 0\n1 1 -2.5\n# the last\n0 1 0\n4 0 1 2 3 255 0 0\n";
const PLY: &str = "ply\nformat ascii 1.0\ncomment a square\nelement vertex 4\nproperty uchar red\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_index\nproperty uchar flags\nend_header\n9 0 0 .5\n9 1 0 0\n9 1 1 -2.5\n9 0 1 0\n4 0 1 2 3 7\n";

fn read(text: &[u8], name: &str) -> Result<Mesh> {
    read_from(text, name)
}

#[test]
fn the_mesh_of_an_archive_is_read_in_the_format_of_its_own_name() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    // The name of the archive may also be the name of a mesh.
    for name in ["m.zip", "a.obj", "archive"] {
        let path = folder.path().join(name);
        for (member, text) in [("b.ply", PLY), ("b/c.OFF", OFF), ("mesh", OBJ)] {
            let files = [(member, text.as_bytes()), ("readme.html", b"<")];
            let files = if member == "mesh" { &files[..1] } else { &files };
            std::fs::write(&path, archive_of(files, zip::CompressionMethod::Deflated)).unwrap();
            assert_eq!(super::read(&path)?, square(), "{name} {member}");
        }
    }
    Ok(())
}

/// The square in binary, with an element before the faces, which the reader skips.
fn binary(big: bool) -> Vec<u8> {
    let order = if big { "big" } else { "little" };
    let mut bytes = format!(
        "ply\nformat binary_{order}_endian 1.0\nelement vertex 4\nproperty double x\nproperty float y\nproperty float z\n\
         element hole 1\nproperty list ushort char of\nelement face 1\nproperty list int uint vertex_indices\nend_header\n"
    )
    .into_bytes();
    let mut put = |little: &[u8]| {
        let mut word = little.to_vec();
        if big {
            word.reverse();
        }
        bytes.extend(word);
    };
    for [x, y, z] in square().points() {
        put(&x.to_le_bytes());
        put(&(*y as f32).to_le_bytes());
        put(&(*z as f32).to_le_bytes());
    }
    put(&2u16.to_le_bytes());
    put(&[1]);
    put(&[0xff]);
    put(&4i32.to_le_bytes());
    (0..4u32).for_each(|corner| put(&corner.to_le_bytes()));
    bytes
}

#[test]
fn every_format_gives_the_mesh() -> Result<()> {
    for (text, name) in [(OBJ, "a.obj"), (OFF, "a.OFF"), (PLY, "a.ply")] {
        assert_eq!(read(text.as_bytes(), name)?, square(), "{name}");
        let packed = packed(Some(Packing::Gzip), text.as_bytes());
        assert_eq!(read(&packed, &format!("{name}.gz"))?, square(), "{name}.gz");
    }
    assert_eq!(read(&binary(false), "a.ply")?, square());
    assert_eq!(read(&binary(true), "a.ply")?, square());
    let (colours, mut written) = ([[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]], Vec::new());
    write_ply_to(&mut written, &square(), &colours)?;
    assert_eq!(read(&written, "a.ply")?, square());
    assert!(written.windows(3).any(|bytes| bytes == [7, 8, 9]));
    write_ply_to(&mut written, &square(), &colours[1..]).unwrap_err();
    Ok(())
}

#[test]
fn what_says_nothing_of_the_surface_is_read_over() -> Result<()> {
    let of_macs = OBJ.replace("\r\n", "\n").replace('\n', "\r");
    let continued = OBJ.replace("v 1 0 0 1.0", "v 1 \\\n0 0 1.0").replace("-2 4/7", "\\\n -2 \\\r\n4/7");
    let coloured = OBJ.replace("v 1 1 -2.5", "v 1 1 -2.5 1 .5 .5 .5").replace("s off", "bevel off\nusemap x");
    for text in [of_macs, continued, coloured] {
        assert_eq!(read(text.as_bytes(), "a.obj")?, square(), "{text}");
    }
    assert_eq!(read(OFF.replace('\n', "\r").as_bytes(), "a.off")?, square());
    // If a name has no ending, the first word of the file gives the format.
    for text in [OBJ.as_bytes(), OFF.as_bytes(), &OFF.as_bytes()[14..], PLY.as_bytes(), &binary(true)] {
        assert_eq!(read(text, "stdin")?, square());
    }
    let unknown = PLY.replace("uchar red", "float quality").replace("9 0 0 .5", "nan 0 0 .5");
    assert_eq!(read(unknown.as_bytes(), "a.ply")?, square());
    Ok(())
}

#[test]
fn errors_name_the_line_and_what_is_wrong() {
    for (name, text, from, to, line, reason) in [
        ("a.obj", OBJ, "v 1 1 -2.5", "v 1 1", 6, "a vertex has no z"),
        ("a.obj", OBJ, "v 1 1 -2.5", "v 1 1 1e999", 6, "z is inf"),
        (
            "a.obj",
            OBJ,
            "v 1 1 -2.5",
            "v 1 1 1 1 1 1 1 9",
            6,
            "a vertex has 8 numbers; 3 are expected, then at most a weight and a colour",
        ),
        ("a.obj", OBJ, " 4/7", " 5/7", 11, "corner 5 is none of the 4 vertices so far"),
        ("a.obj", OBJ, "//1 -2", "//1 -5", 11, "corner -5 is none of the 4 vertices so far"),
        ("a.obj", OBJ, "//1 -2", "//1 0", 11, "corner 0 is none of the 4 vertices so far"),
        ("a.obj", OBJ, " 2//1 -2 4/7", " 2", 11, "a face of 2 corners; at least 3 are required"),
        ("a.obj", OBJ, "s off", "curv 1", 10, "no line of a mesh begins with \"curv\""),
        ("a.obj", OBJ, "1/1/1", "x", 11, "a corner: \"x\" is no number of a vertex"),
        ("a.off", OFF, "OFF #", "OOF #", 1, "the file begins with \"OOF\", not with OFF"),
        ("a.off", OFF, "4 1 0", "4 2 0", 9, "the file ends before face 1 of 2"),
        ("a.off", OFF, "4 1 0", "3 1 0", 8, "a face of 0 corners, of which the line lists 2; at least 3 are required"),
        ("a.off", OFF, "4 0 1 2 3", "4 0 1 2 4", 9, "corner 4 is none of 4 vertices, counted from 0"),
        ("a.off", OFF, "4 0 1 2 3", "5 0 1 2 3", 9, "corner 255 is none of 4 vertices, counted from 0"),
        ("a.off", OFF, "4 0 1 2 3 255 0 0\n", "3 0 1 2\n1 2 3\n", 10, "more lines than 4 vertices and 1 faces"),
        ("a.ply", PLY, "ply\n", "plx\n", 1, "the first line is not \"ply\""),
        ("a.ply", PLY, "ascii", "text", 2, "no format is called \"text\""),
        ("a.ply", PLY, "float z", "real z", 8, "no type is called \"real\""),
        ("a.ply", PLY, "float z", "float w", 12, "element vertex does not have the properties x, y and z"),
        ("a.ply", PLY, "9 1 1 -2.5", "9 1 1", 15, "the line has fewer numbers than the element has properties"),
        ("a.ply", PLY, "9 1 1 -2.5", "9 1 1 2 3", 15, "the line has more numbers than the element has properties"),
        ("a.ply", PLY, "4 0 1 2 3", "4 0 1 2 9", 17, "corner 9 is none of 4 vertices, counted from 0"),
        ("a.ply", PLY, "4 0 1 2 3 7", "2 0 1 7", 17, "a face of 2 corners; at least 3 are required"),
        ("a.ply", PLY, "3 7\n", "3 7\n3 0 1 2 7\n", 18, "the file goes on after the elements of its header"),
        ("a.ply", PLY, "float z", "float z\nelement hole 9", 13, "element hole has no properties"),
        ("a.ply", PLY, "9 1 1 -2.5", "9 1 1 nan", 15, "a coordinate is NaN"),
        ("a.ply", PLY, "4 0 1 2 3 7\n", "", 16, "the file ends before face 0 of 1"),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        let error = read(broken.as_bytes(), name).unwrap_err().to_string();
        assert_eq!(error, format!("{name}:{line}: {reason}"), "{from} -> {to}");
    }
    let cut = binary(true);
    let error = read(&cut[..cut.len() - 1], "a.ply").unwrap_err().to_string();
    assert_eq!(error, "a.ply: face 0 of 1: the file ends before the element does");
    let mut more = binary(true);
    more.push(0);
    let error = read(&more, "a.ply").unwrap_err().to_string();
    assert_eq!(error, "a.ply: end: the file goes on after the elements of its header");
    let faces_first = "ply\nformat ascii 1.0\nelement face 0\nproperty list int int vertex_index\nelement vertex 0\n\
                       property int x\nproperty int y\nproperty int z\nend_header\n";
    let error = read(faces_first.as_bytes(), "a.ply").unwrap_err().to_string();
    assert_eq!(error, "a.ply:9: element face comes before element vertex");
    let error = read(b"", "a.stl").unwrap_err().to_string();
    assert_eq!(error, "a.stl: not the name of a mesh: it must end in .obj, .ply or .off, packed or not");
    let error = read(b"# none\nsolid a\n", "stdin").unwrap_err().to_string();
    assert_eq!(error, "stdin:2: no mesh begins with \"solid\": an .obj does with v, a .ply with ply, an .off with OFF");
    assert_eq!(read(b"# none\n", "stdin").unwrap_err().to_string(), "stdin:1: the file ends before a mesh begins");
    let many = PLY.replace("vertex 4", "vertex 99999999999999");
    assert!(read(many.as_bytes(), "a.ply").is_err());
}
