//! Formats that are recognised by names and first bytes, `.npz` files exchanged with SciPy, and
//! real matrices that are converted to every format.

use crate::common;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use blockmul::io::{
    BlockLayout, FileFormat, ReadOptions, ValueType, WriteOptions, bla, edge_list, matrix_market, npz, read, write,
};
use blockmul::{BlockShape, Bsr, Cbc, Csc, Csr, Element, Matrix};
use half::f16;

const BANNER: &str = "%%MatrixMarket matrix coordinate pattern general\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn content_wins_over_the_name_of_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let format_of = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let file = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((file.matrix.nnz(), file.field), (1, ValueType::Pattern), "{name}");
        file.format
    };
    let market = format!("{BANNER}3 3 1\n2 2\n");
    assert_eq!(format_of("a.txt", b"# 3\n2 2\n"), FileFormat::EdgeList);
    assert_eq!(format_of("a.txt.gz", &gzip("2\t2\n")), FileFormat::EdgeList);
    assert_eq!(format_of("b.txt", market.as_bytes()), FileFormat::MatrixMarket);
    assert_eq!(
        format_of("c.tsv", format!("  {}", market.replace("Matrix", "matriX")).as_bytes()),
        FileFormat::MatrixMarket
    );
    assert_eq!(format_of("d.el.gz", &gzip(&market)), FileFormat::MatrixMarket);
    assert_eq!(format_of("e.txt", &gzip(&market)), FileFormat::MatrixMarket);
    assert_eq!(format_of("e.bin", market.as_bytes()), FileFormat::MatrixMarket);
    assert_eq!(format_of("f.mtx", market.as_bytes()), FileFormat::MatrixMarket);
    let missing = read(folder.path().join("none.txt"), &ReadOptions::default()).unwrap_err().to_string();
    assert!(missing.contains("none.txt: "), "{missing}");
    let damaged = folder.path().join("damaged.txt.gz");
    std::fs::write(&damaged, &gzip("0 1\n")[..12]).unwrap();
    let error = read(&damaged, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("damaged.txt.gz:1: the gzip data is cut off here"), "{error}");
}

#[test]
fn unknown_endings_are_refused_unless_the_first_line_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let market = format!("{BANNER}3 3 1\n2 2\n");
    let (banner, none) = (path("a.foo", &market), path("b.foo", "1 2\n"));
    assert_eq!(read(&banner, &ReadOptions::default()).unwrap().format, FileFormat::MatrixMarket);
    let refused = read(&none, &ReadOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("b.foo: unknown ending .foo: matrices are read from .mtx, .npz, .txt"), "{refused}");
    let matrix = Csc::from_triplets(2, 2, [(0, 1, 2.0)]).unwrap();
    for name in ["c.foo", "c.mtx.xz", "c.mtx.zst", "c.tar.gz"] {
        let refused = write(folder.path().join(name), &matrix, &WriteOptions::default()).unwrap_err();
        assert!(matches!(refused, blockmul::Error::Argument(_)), "{refused}");
        assert!(!folder.path().join(name).exists());
    }
}

#[test]
fn a_layout_beside_a_matrix_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let shape = BlockShape::new(2, 3).unwrap();
    let matrix = Csc::from_triplets(4, 6, [(0, 0, 1.0), (3, 5, 2.0)]).unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["a.mtx", "a.mtx.gz", "a.npz", "a"] {
        write(path(name), &matrix, &WriteOptions::default()).unwrap();
    }
    let layout = |name: &str| read(path(name), &ReadOptions::default()).map(|file| file.layout);
    assert_eq!(layout("a.mtx").unwrap(), None);
    bla::write(path("a.bla"), &matrix, &BlockLayout::Uniform(shape)).unwrap();
    assert_eq!(std::fs::read_to_string(path("a.bla")).unwrap(), "4 x 6 (12)\n2 x 2 (2)\n0 2 4\n0 3 6\n");
    for (name, expected) in [("a.mtx", Some(shape)), ("a.mtx.gz", Some(shape)), ("a.npz", None), ("a", None)] {
        assert_eq!(layout(name).unwrap(), expected.map(BlockLayout::Uniform), "{name}");
    }
    assert_eq!(matrix_market::read(path("a.mtx"), &ReadOptions::default()).unwrap().layout, None);
    std::fs::write(path("a.bla"), "4 x 6 (12)\n2 x 1 (2)\n0 1 4\n0 6\n").unwrap();
    assert_eq!(layout("a.mtx").unwrap(), Some(BlockLayout::Mixed { row_ends: vec![1, 4], col_ends: vec![6] }));
    std::fs::write(path("a.bla"), "4 x 4 (12)\n2 x 1 (2)\n0 1 4\n0 4\n").unwrap();
    let reason = format!("{}:1: the layout is of a matrix of 4x4, this one is 4x6", path("a.bla").display());
    assert_eq!(layout("a.mtx").unwrap_err().to_string(), reason);
}

#[test]
fn every_format_reads_what_it_writes() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = Csc::from_triplets(5, 5, [(4, 0, 0.1), (0, 4, -2.0), (2, 2, 0.0)]).unwrap();
    for &format in FileFormat::ALL {
        let name = match format {
            FileFormat::Npz => "a.npz",
            FileFormat::EdgeList => "a.edges",
            FileFormat::Binary => "a.bin",
            FileFormat::Gcoo => "a.gcoo",
            _ => "a.mtx",
        };
        let path = folder.path().join(name);
        write(&path, &matrix, &WriteOptions::default()).unwrap();
        let file = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((&file.matrix, file.format), (&matrix, format), "{name}");
        write(&path, &Csr::from_transpose(matrix.clone()), &WriteOptions::default()).unwrap();
        assert_eq!(read(&path, &ReadOptions::default()).unwrap().matrix, matrix.transpose(), "{name}");
    }
}

#[test]
fn real_matrices_go_through_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["west0479.mtx", "wiki-Vote.mtx.gz", "bcsstk16.mtx.gz", "lp_afiro.mtx", "rajat19.mtx"] {
        let Some(path) = common::data(&format!("matrix/{name}")) else {
            eprintln!("left out: matrix/{name} is not below BLOCKMUL_DATA");
            continue;
        };
        let matrix = read(&path, &ReadOptions::default()).unwrap().matrix;
        let archive = folder.path().join("a.npz");
        npz::write(&archive, &matrix, &WriteOptions::default()).unwrap();
        assert_eq!(npz::read(&archive, &ReadOptions::default()).unwrap().matrix, matrix, "{name}");
        let list = folder.path().join("a.txt.gz");
        if matrix.nrows() == matrix.ncols() {
            edge_list::write(&list, &matrix, &WriteOptions::default()).unwrap();
            assert_eq!(edge_list::read(&list, &ReadOptions::default()).unwrap().matrix, matrix, "{name}");
        }
    }
}

/// Runs the SciPy script with a command and returns its output.
pub fn scipy(python: &str, command: &str, folder: &Path) -> String {
    let script = Path::new(crate::ROOT).join("tests/library/oracles/scipy_npz.py");
    let output = Command::new(python).arg(script).arg(command).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the SciPy script with a command that writes files. Returns those with this ending.
pub fn made_by_scipy(python: &str, command: &str, folder: &Path, ending: &str) -> Vec<PathBuf> {
    scipy(python, command, folder);
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == ending)).collect()
}

#[test]
fn scipy_s_archives_are_read() {
    let Some(python) = common::python("SciPy", "scipy.sparse, scipy.io") else { return };
    let folder = tempfile::tempdir().unwrap();
    let archives = made_by_scipy(&python, "write", folder.path(), "npz");
    assert_eq!(archives.len(), 4 * 12 + 4 * 4 + 5 * 2 + 2);
    for path in archives {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let file = read(&path, &ReadOptions::default()).unwrap();
        let expected = matrix_market::read(path.with_extension("mtx"), &ReadOptions::default()).unwrap().matrix;
        let (kind, rest) = name.split_once('-').unwrap();
        if kind == "bsr" {
            // Blocks contain zeros, which SciPy leaves out of the other file.
            assert_eq!(file.matrix.to_dense(), expected.to_dense(), "{name}");
        } else {
            assert_eq!(file.matrix, expected, "{name}");
        }
        let field = match rest {
            "i1" | "i2" | "i4" | "i8" | "u1" | "u2" | "u4" | "u8" => ValueType::Integer,
            "b1" if kind != "bsr" => ValueType::Pattern,
            "b1" => file.field, // blocks may hold false elements, and SciPy chooses the blocks
            _ => ValueType::Real,
        };
        assert_eq!(file.field, field, "{name}");
        assert_eq!(file.layout.is_some(), kind == "bsr", "{name}");
        if let Some((rows, cols)) = rest.split('-').next().and_then(|sides| sides.split_once('x')) {
            let (mut rows, mut cols) = (rows.parse().unwrap(), cols.parse().unwrap());
            if rest.ends_with("transposed") {
                (rows, cols) = (cols, rows);
            }
            assert_eq!(file.layout.unwrap().uniform(), BlockShape::new(rows, cols).ok(), "{name}");
        }
    }
}

/// Writes a matrix to `KIND-DTYPE-WHAT.npz`, and as `.mtx` to a file of the same name, for SciPy.
fn write_for_scipy<M: Matrix>(folder: &Path, kind: &str, what: &str, matrix: &M) {
    let dtype = format!("f{}", size_of::<M::Element>().max(4));
    let path = folder.join(format!("{kind}-{dtype}-{what}.npz"));
    npz::write(&path, matrix, &WriteOptions::default()).unwrap();
    matrix_market::write(path.with_extension("mtx"), matrix, &WriteOptions::default()).unwrap();
}

fn write_in_every_format<T: Element>(folder: &Path, wide: &Cbc<f64>) -> usize {
    let (blocks, shape) = (wide.cast::<T>(), wide.shape());
    let scalars = blocks.to_scalars();
    let size = format!("{shape}-{}-{}", blocks.nnz(), T::NAME);
    write_for_scipy(folder, "csc", &size, &scalars);
    write_for_scipy(folder, "csr", &size, &Csr::from_transpose(scalars));
    write_for_scipy(folder, "bsr", &format!("{size}-padded"), &blocks.with_alignment(32).unwrap());
    write_for_scipy(folder, "bsr", &size, &blocks);
    write_for_scipy(folder, "bsr", &format!("{}-rows-{}", shape.transpose(), T::NAME), &Bsr::from_transpose(blocks));
    5
}

#[test]
fn scipy_reads_what_is_written() {
    let Some(python) = common::python("SciPy", "scipy.sparse, scipy.io") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut written = 0;
    for (rows, cols, shape) in [(7, 5, (1, 1)), (4, 6, (2, 3)), (3, 3, (6, 6)), (5, 4, (3, 1)), (3, 2, (2, 2))] {
        let shape = BlockShape::new(shape.0, shape.1).unwrap();
        let per_col = usize::from(shape != BlockShape::new(2, 2).unwrap()) * 2; // the last has no entries
        let blocks = common::blocks::<f64>(common::Family::Uniform, rows, cols, per_col, shape, 3);
        written += write_in_every_format::<f64>(folder.path(), &blocks);
        written += write_in_every_format::<f32>(folder.path(), &blocks);
        written += write_in_every_format::<f16>(folder.path(), &blocks);
    }
    assert_eq!(scipy(&python, "check", folder.path()).trim(), written.to_string());
}
