//! Tests which member of an archive is read, and which archives are refused.
use super::super::packing::Packing;
use super::super::packing::tests::{ALL, packed};
use super::super::{ReadOptions, matrix_market};
use super::*;

const SPARSE: &str = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n";
const DENSE: &str = "%%MatrixMarket matrix array real general\n2 1\n1\n2\n";

fn other(value: u32) -> String {
    SPARSE.replace(" 5\n", &format!(" {value}\n"))
}

fn archive(members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in members {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        match name.strip_suffix('/') {
            Some(_) => header.set_entry_type(tar::EntryType::Directory),
            None => header.set_entry_type(tar::EntryType::Regular),
        }
        archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

/// Reads the matrix from the archive `name` and returns its first value, or the error message
/// without the folder's path.
fn taken(name: &str, bytes: &[u8]) -> std::result::Result<f64, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    match matrix_market::read(&path, &ReadOptions::default()) {
        Ok(file) => Ok(file.matrix.values()[0]),
        Err(error) => Err(error.to_string().replace(&format!("{}/", folder.path().display()), "")),
    }
}

#[test]
fn the_matrix_is_the_member_called_like_the_archive() {
    let long = format!("{0}/{0}.mtx", "x".repeat(120));
    let notes = other(7);
    for (name, members, value) in [
        ("a.tar", &[("a/a.mtx", SPARSE)][..], 5.0),
        ("a.tar", &[("a/", ""), ("a/a_b.mtx", DENSE), ("a/a_C.mtx", &notes), ("a/a.mtx", SPARSE)], 5.0),
        ("a.tar", &[("./b/b.mtx", &notes), ("./a/a.mtx", SPARSE)], 5.0),
        // If no member has the archive's name, a member is found by its own folder, by its banner,
        // or because it is the only member.
        ("renamed.tar", &[("a/notes.mtx", &notes), ("a/a.mtx", SPARSE), ("a/read.me", "?")], 5.0),
        ("a.tar", &[("b.mtx", DENSE), ("A.mtx", SPARSE), ("b.txt", "1")], 5.0),
        ("a.tar", &[("anything", SPARSE)], 5.0),
        ("other.tar", &[("a/b_rhs.mtx", DENSE), (&long, SPARSE)], 5.0),
    ] {
        let bytes = archive(members);
        for packing in ALL {
            assert_eq!(taken(name, &packed(packing, &bytes)), Ok(value), "{members:?} {packing:?}");
        }
        for name in [name.replace(".tar", ".tgz"), name.replace(".tar", ".mtx")] {
            assert_eq!(taken(&name, &packed(Some(Packing::Gzip), &bytes)), Ok(value), "{name}");
        }
    }
}

#[test]
fn what_is_not_clear_is_refused_with_a_list() {
    for (members, reason) in [
        (&[("b.mtx", SPARSE), ("c.mtx", SPARSE)][..], r#"it has "b.mtx", "c.mtx""#),
        (&[("b/b.mtx", SPARSE), ("c/c.mtx", SPARSE)], r#"it has "b/b.mtx", "c/c.mtx""#),
        (&[("b.txt", "1"), ("c.mtx", DENSE)], r#"it has "b.txt", "c.mtx""#),
        (&[("b/", "")], "it has none"),
    ] {
        let refused = format!("a.tar: the archive: which of its files is the matrix? {reason}");
        assert_eq!(taken("a.tar", &archive(members)), Err(refused));
    }
    let names: Vec<_> = (0..20).map(|number| format!("{number}.mtx")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), SPARSE)).collect();
    assert!(taken("a.tar", &archive(&many)).unwrap_err().ends_with(r#""11.mtx", 8 more"#));
}

#[test]
fn from_a_stream_the_first_of_its_folders_name_is_taken() {
    let read = |members: &[(&str, &str)]| {
        matrix_market::read_from(&archive(members)[..], "stdin", &ReadOptions::default()).map_err(|e| e.to_string())
    };
    let file = read(&[("a/a_b.mtx", DENSE), ("a/a.mtx", SPARSE)]).unwrap();
    assert_eq!(file.matrix.values(), [5.0]);
    assert!(read(&[("a.mtx", SPARSE)]).unwrap_err().starts_with("stdin: the archive: from a stream"));
}

#[test]
fn lines_are_those_of_the_member() {
    let bad = "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n";
    let refused = taken("a.tar.gz", &packed(Some(Packing::Gzip), &archive(&[("a/a.mtx", bad)]))).unwrap_err();
    assert!(refused.starts_with("a.tar.gz/a/a.mtx:3: "), "{refused}");
}

#[test]
fn what_is_cut_off_or_damaged_is_refused() {
    let long: String = "1 2 5\n".repeat(300);
    let text = format!("%%MatrixMarket matrix coordinate real general\n2 2 300\n{long}");
    let whole = archive(&[("a/a_b.mtx", DENSE), ("a/a.mtx", &text)]);
    for length in [BLOCK, BLOCK + 1, 2 * BLOCK + 100, 3 * BLOCK] {
        let refused = taken("a.tar", &whole[..length]).unwrap_err();
        assert!(refused.contains("cut off") || refused.contains("which of its files"), "{length}: {refused}");
    }
    let refused = taken("a.tar", &whole[..4 * BLOCK]).unwrap_err();
    assert!(refused.starts_with("a.tar/a/a.mtx:") && refused.ends_with("the archive is cut off here"), "{refused}");
    let packed = packed(Some(Packing::Gzip), &whole);
    let refused = taken("a.tar", &packed[..packed.len() - 9]).unwrap_err();
    assert!(refused.ends_with("the gzip data is cut off here"), "{refused}");
    let mut damaged = whole.clone();
    damaged[2 * BLOCK + 3] ^= 1;
    let refused = taken("a.tar", &damaged).unwrap_err();
    assert_eq!(refused, "a.tar: the archive: it is damaged: there is no header at byte 1024");
}

/// A member that claims more bytes than the archive has, and a name that would fill memory.
#[test]
fn claims_take_no_memory() {
    let mut header = Header::new_gnu();
    header.set_path("a/a.mtx").unwrap();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(1 << 60);
    header.set_cksum();
    let refused = taken("a.tar", &[header.as_bytes(), SPARSE.as_bytes()].concat()).unwrap_err();
    assert!(refused.ends_with("the archive is cut off here"), "{refused}");
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_cksum();
    let refused = taken("a.tar", header.as_bytes()).unwrap_err();
    assert!(refused.ends_with("a name of 1152921504606846976 bytes, 65536 at most"), "{refused}");
}

#[test]
fn attributes_give_names_and_sizes() {
    let note = b"19 path=long/a.mtx\n12 size=345\n11 path=b/\n";
    assert_eq!((attribute(note, b"size"), attribute(note, b"path")), (Some(&b"345"[..]), Some(&b"b/"[..])));
    assert_eq!((attribute(note, b"mtime"), attribute(b"9999 path=a\n", b"path")), (None, None));
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_pax_extensions([("path", "a/a.mtx".as_bytes())]).unwrap();
    let mut header = Header::new_ustar();
    header.set_path("short").unwrap();
    header.set_size(SPARSE.len() as u64);
    header.set_cksum();
    archive.append(&header, SPARSE.as_bytes()).unwrap();
    let mut rest = Header::new_ustar();
    rest.set_path("b/c").unwrap();
    rest.set_size(0);
    rest.set_cksum();
    archive.append(&rest, &[][..]).unwrap();
    assert_eq!(taken("a.tar", &archive.into_inner().unwrap()), Ok(5.0));
}
