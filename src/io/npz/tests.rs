//! Tests reading `.npz` files, refusals with their messages, and round trips. Archives that SciPy
//! wrote are read in `tests/library/formats.rs`.
mod refusals;
mod written;

use std::io::{Cursor, Write};

use half::f16;
use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;
use crate::io::ValueType;
use crate::{BlockShape, Bsr, Cbc, Csc, Csr, Element, Error, Matrix};

/// A member of an archive: its name, type, shape in Python's notation, and bytes.
type Array<'a> = (&'a str, &'a str, &'a str, Vec<u8>);

fn npy((_, descr, shape, bytes): &Array<'_>) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), bytes].concat()
}

fn zipped(members: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn archive(arrays: &[Array<'_>]) -> Vec<u8> {
    let members: Vec<_> = arrays.iter().map(|array| (array.0, npy(array))).collect();
    zipped(&members, CompressionMethod::Deflated)
}

fn bytes<const N: usize, T: Copy>(numbers: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| to_bytes(number)).collect()
}

fn i4(numbers: &[i32]) -> Vec<u8> {
    bytes(numbers, i32::to_le_bytes)
}

fn f8(numbers: &[f64]) -> Vec<u8> {
    bytes(numbers, f64::to_le_bytes)
}

fn format_of(format: &str) -> Array<'static> {
    ("format", "|S3", "()", format.as_bytes().to_vec())
}

fn shape_of(rows: i64, cols: i64) -> Array<'static> {
    ("shape", "<i8", "(2,)", bytes(&[rows, cols], i64::to_le_bytes))
}

/// A matrix of 3x4 with 5.0 at (0, 3), 6.0 at (0, 1) and 7.0 at (2, 0), stored in this order.
fn csr() -> Vec<Array<'static>> {
    vec![
        format_of("csr"),
        shape_of(3, 4),
        ("indptr", "<i4", "(4,)", i4(&[0, 2, 2, 3])),
        ("indices", "<i4", "(3,)", i4(&[3, 1, 0])),
        ("data", "<f8", "(3,)", f8(&[5.0, 6.0, 7.0])),
    ]
}

/// Returns `arrays`, in which arrays with the names of `changed` are replaced.
fn with(mut arrays: Vec<Array<'static>>, changed: &[Array<'static>]) -> Vec<Array<'static>> {
    for array in changed {
        arrays.retain(|(name, ..)| *name != array.0);
        arrays.push(array.clone());
    }
    arrays
}

fn from_bytes(bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<MatrixFile> {
    read_from(Cursor::new(bytes), "a.npz", options)
}

fn accepted(arrays: &[Array<'_>]) -> MatrixFile {
    from_bytes(archive(arrays), &ReadOptions::default()).unwrap()
}

/// The error message for an archive that is refused, without the file name.
fn refused(bytes: impl AsRef<[u8]>) -> String {
    let error = from_bytes(bytes, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    assert_eq!(error.kind(), crate::error::ErrorKind::Input);
    error.to_string().strip_prefix("a.npz: ").unwrap().to_owned()
}

fn refused_with(changed: &[Array<'static>]) -> String {
    refused(archive(&with(csr(), changed)))
}

fn parts(file: &MatrixFile) -> (&[u64], &[u32], &[f64]) {
    (file.matrix.pattern().col_ptr(), file.matrix.pattern().row_idx(), file.matrix.values())
}

#[test]
fn compressed_and_coordinate_formats_of_the_same_matrix() {
    let expected = (&[0, 1, 2, 2, 3][..], &[2, 0, 0][..], &[7.0, 6.0, 5.0][..]);
    let file = accepted(&csr());
    assert_eq!(parts(&file), expected);
    assert_eq!((file.field, file.symmetry, file.stored), (ValueType::Real, Symmetry::General, 3));
    assert_eq!((file.format, &file.layout), (FileFormat::Npz, &None));
    let csc = [
        format_of("csc"),
        ("indptr", "<i8", "(5,)", bytes(&[0i64, 1, 2, 2, 3], i64::to_le_bytes)),
        ("indices", ">u2", "(3,)", bytes(&[2u16, 0, 0], u16::to_be_bytes)),
        ("data", "<f8", "(3,)", f8(&[7.0, 6.0, 5.0])),
    ];
    assert_eq!(accepted(&with(csr(), &csc)), file);
    let (row, col) =
        (("row", "<u8", "(3,)", bytes(&[2u64, 0, 0], u64::to_le_bytes)), ("col", "|i1", "(3,)", vec![0, 3, 1]));
    let data = ("data", "<f8", "(3,)", f8(&[7.0, 5.0, 6.0]));
    let coo = [format_of("coo"), shape_of(3, 4), row, col, data.clone()];
    assert_eq!(accepted(&coo), file);
    let coords = ("coords", "<i4", "(2, 3)", i4(&[2, 0, 0, 0, 3, 1]));
    assert_eq!(accepted(&[format_of("coo"), shape_of(3, 4), coords, data]), file);
    let stored: Vec<_> = csr().iter().map(|array| (array.0, npy(array))).collect();
    assert_eq!(from_bytes(zipped(&stored, CompressionMethod::Stored), &ReadOptions::default()).unwrap(), file);
    let unicode = ("format", "<U3", "()", bytes(&[b'c', b's', b'r'].map(u32::from), u32::to_le_bytes));
    assert_eq!(accepted(&with(csr(), &[unicode, ("_is_array", "|b1", "()", vec![1])])), file);
    // The arrays have one element that `indptr` does not count, and whose index is out of range.
    // SciPy's matrices may have such spare capacity.
    let spare = [("indices", "<i4", "(4,)", i4(&[3, 1, 0, 99])), ("data", "<f8", "(4,)", f8(&[5.0, 6.0, 7.0, 8.0]))];
    assert_eq!(accepted(&with(csr(), &spare)), file);
}

#[test]
fn every_type_of_value_in_both_byte_orders() {
    let values = |descr: &'static str, bytes: Vec<u8>| {
        let file = accepted(&with(csr(), &[("data", descr, "(3,)", bytes)]));
        let values = file.matrix.values();
        (file.field, [values[2], values[1], values[0]])
    };
    let (real, integer) = ((ValueType::Real, [0.5, -2.0, 3.0]), (ValueType::Integer, [1.0, -2.0, 3.0]));
    assert_eq!(values(">f8", bytes(&real.1, f64::to_be_bytes)), real);
    assert_eq!(values("<f4", bytes(&[0.5f32, -2.0, 3.0], f32::to_le_bytes)), real);
    assert_eq!(values(">f4", bytes(&[0.5f32, -2.0, 3.0], f32::to_be_bytes)), real);
    let halves = [0.5, -2.0, 3.0].map(f16::from_f32);
    assert_eq!(values("<f2", bytes(&halves, f16::to_le_bytes)), real);
    assert_eq!(values(">f2", bytes(&halves, f16::to_be_bytes)), real);
    assert_eq!(values("|i1", vec![1, 254, 3]), integer);
    assert_eq!(values("<i2", bytes(&[1i16, -2, 3], i16::to_le_bytes)), integer);
    assert_eq!(values(">i4", bytes(&[1i32, -2, 3], i32::to_be_bytes)), integer);
    assert_eq!(values("<i8", bytes(&[1i64, -2, 3], i64::to_le_bytes)), integer);
    let unsigned = (ValueType::Integer, [1.0, 200.0, 3.0]);
    assert_eq!(values("|u1", vec![1, 200, 3]), unsigned);
    assert_eq!(values(">u2", bytes(&[1u16, 200, 3], u16::to_be_bytes)), unsigned);
    assert_eq!(values("<u4", bytes(&[1u32, 200, 3], u32::to_le_bytes)), unsigned);
    let large = bytes(&[1u64 << 63, 200, (1 << 53) + 2], u64::to_be_bytes);
    assert_eq!(values(">u8", large), (ValueType::Integer, [2f64.powi(63), 200.0, 9007199254740994.0]));
    assert_eq!(values("|b1", vec![1, 1, 1]), (ValueType::Pattern, [1.0; 3]));
    assert_eq!(values("|b1", vec![1, 0, 1]), (ValueType::Integer, [1.0, 0.0, 1.0]));
    let special = accepted(&with(csr(), &[("data", "<f8", "(3,)", f8(&[f64::NAN, f64::INFINITY, -0.0]))]));
    assert_eq!(special.matrix.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>(), {
        [-0.0, f64::INFINITY, f64::NAN].map(f64::to_bits)
    });
}

#[test]
fn blocks_are_kept_and_row_major() {
    let bsr = |shape, data_shape, data: &[f64]| {
        vec![
            format_of("bsr"),
            shape,
            ("indptr", "<i4", "(3,)", i4(&[0, 1, 2])),
            ("indices", "<i4", "(2,)", i4(&[1, 0])),
            ("data", "<f8", data_shape, f8(data)),
        ]
    };
    let file = accepted(&bsr(shape_of(2, 6), "(2, 1, 3)", &[1.0, 2.0, 0.0, 4.0, 5.0, 6.0]));
    assert_eq!(file.layout, Some(BlockLayout::Uniform(BlockShape::new(1, 3).unwrap())));
    assert_eq!(parts(&file).1, [1, 1, 1, 0, 0, 0]);
    assert_eq!((parts(&file).2, file.stored), (&[4.0, 5.0, 6.0, 1.0, 2.0, 0.0][..], 6));

    // The same matrix in Fortran's order, in which NumPy saves a transposed array.
    let mut members: Vec<_> = bsr(shape_of(2, 6), "(2, 1, 3)", &[1.0, 4.0, 2.0, 5.0, 0.0, 6.0])
        .iter()
        .map(|array| (array.0, npy(array)))
        .collect();
    let data = members[4].1.windows(5).position(|window| window == b"False").unwrap();
    members[4].1.splice(data..data + 5, *b"True ");
    assert_eq!(from_bytes(zipped(&members, CompressionMethod::Stored), &ReadOptions::default()).unwrap(), file);

    let tall = accepted(&bsr(shape_of(66, 2), "(2, 33, 1)", &[1.0; 66]));
    assert_eq!(tall.layout, Some(BlockLayout::Mixed { row_ends: vec![33, 66], col_ends: vec![1, 2] }));
    let refused = |shape, data_shape, data: &[f64]| refused(archive(&bsr(shape, data_shape, data)));
    assert_eq!(refused(shape_of(2, 5), "(2, 1, 3)", &[0.0; 6]), "member data.npy: blocks of 1x3 do not cut 5 columns");
    assert_eq!(refused(shape_of(2, 6), "(2, 0, 3)", &[]), "member data.npy: blocks of 0x3 do not cut 2 rows");
    assert_eq!(refused(shape_of(2, 6), "(2, 3)", &[0.0; 6]), "member data.npy: 2 axes where 3 are expected");
}

#[test]
fn duplicates_are_named_or_summed() {
    let twice = |indices: &[i32]| {
        let changed = [("indptr", "<i4", "(4,)", i4(&[0, 3, 3, 3])), ("indices", "<i4", "(3,)", i4(indices))];
        with(csr(), &changed)
    };
    let reason = "member indices.npy, element 2: a second entry at (0, 1), the first is element 0; ReadOptions::sum_duplicates adds up entries at the same place";
    assert_eq!(refused(archive(&twice(&[1, 3, 1]))), reason);
    let sum = ReadOptions { sum_duplicates: true, ..Default::default() };
    assert_eq!(parts(&from_bytes(archive(&twice(&[1, 3, 1])), &sum).unwrap()).2, [12.0, 6.0]);
    // Entries are summed in the file's order: 1e16 + 1 is rounded to 1e16.
    let order = with(twice(&[1, 1, 1]), &[("data", "<f8", "(3,)", f8(&[1e16, 1.0, -1e16]))]);
    assert_eq!(parts(&from_bytes(archive(&order), &sum).unwrap()).2, [0.0]);
    let bsr = [
        format_of("bsr"),
        shape_of(2, 4),
        ("indptr", "<i4", "(2,)", i4(&[0, 2])),
        ("indices", "<i4", "(2,)", i4(&[1, 1])),
        ("data", "<f8", "(2, 2, 2)", f8(&[1.0; 8])),
    ];
    let reason = "member indices.npy, element 1: a second block at (0, 1), the first is element 0; ReadOptions::sum_duplicates adds up entries at the same place";
    assert_eq!(refused(archive(&bsr)), reason);
    assert_eq!(parts(&from_bytes(archive(&bsr), &sum).unwrap()).2, [2.0; 4]);
    let coo = [
        format_of("coo"),
        shape_of(3, 4),
        ("row", "<i4", "(2,)", i4(&[2, 2])),
        ("col", "<i4", "(2,)", i4(&[0, 0])),
        ("data", "<f8", "(2,)", f8(&[1.0; 2])),
    ];
    assert_eq!(
        refused(archive(&coo)),
        "member row.npy, element 1: a second entry at (2, 0), the first is element 0; ReadOptions::sum_duplicates adds up entries at the same place"
    );
}

fn dia(shape: (i64, i64), offsets: &[i32], data: Array<'static>) -> Vec<Array<'static>> {
    let count = ["(0,)", "(1,)", "(2,)", "(3,)"][offsets.len()];
    vec![format_of("dia"), shape_of(shape.0, shape.1), ("offsets", "<i4", count, i4(offsets)), data]
}

/// Diagonals are read as `scipy.sparse.dia_matrix((data, offsets), shape).tocoo()` reads them.
#[test]
fn diagonals_are_read_without_what_fills_them_up() {
    // Diagonals -1, 0 and 2 of a matrix of 3 rows and 4 columns. The values 9 lie outside of the
    // matrix, and the value 0 is no entry.
    let values = [1.0, 2.0, 9.0, 9.0, 3.0, 0.0, 4.0, 9.0, 9.0, 9.0, 5.0, 6.0];
    let data = ("data", "<f8", "(3, 4)", f8(&values));
    let file = accepted(&dia((3, 4), &[-1, 0, 2], data));
    let want = Csc::from_triplets(3, 4, [(1, 0, 1.0), (2, 1, 2.0), (0, 0, 3.0), (2, 2, 4.0), (0, 2, 5.0), (1, 3, 6.0)]);
    assert_eq!((file.matrix, file.stored, file.layout), (want.unwrap(), 6, None));
    // One array of diagonals has fewer elements in a diagonal than the matrix has columns, another
    // has more, and their elements are integers. One diagonal is far outside of the matrix.
    let short = ("data", "<i4", "(2, 1)", i4(&[7, 8]));
    assert_eq!(accepted(&dia((2, 2), &[-1, i32::MAX], short)).matrix, Csc::from_triplets(2, 2, [(1, 0, 7.0)]).unwrap());
    let long = ("data", "<i4", "(1, 3)", i4(&[7, 8, 9]));
    let want = Csc::from_triplets(2, 2, [(0, 0, 7.0), (1, 1, 8.0)]).unwrap();
    assert_eq!(accepted(&dia((2, 2), &[0], long.clone())).matrix, want);
    assert_eq!(
        refused(archive(&dia((2, 2), &[0, 1], long.clone()))),
        "member offsets.npy: 2 elements, 1 expected (as many as the rows of data.npy)"
    );
    let twice = ("data", "<i4", "(2, 1)", i4(&[7, 8]));
    let twice = archive(&dia((2, 1), &[-1, -1], twice));
    let reason = "a second diagonal -1; ReadOptions::sum_duplicates adds up entries at the same place";
    assert_eq!(refused(&twice), format!("member offsets.npy, element 1: {reason}"));
    let summed = from_bytes(&twice, &ReadOptions { sum_duplicates: true, ..Default::default() }).unwrap();
    assert_eq!(summed.matrix, Csc::from_triplets(2, 1, [(1, 0, 15.0)]).unwrap());
    let none = ("data", "<i4", "(100000000, 0)", Vec::new());
    assert!(
        refused(archive(&dia((2, 2), &[], none))).starts_with("member data.npy: 100000000 diagonals for 0 entries, ")
    );
    let flat = ("data", "<i4", "(3,)", i4(&[7, 8, 9]));
    assert_eq!(refused(archive(&dia((2, 2), &[0], flat))), "member data.npy: 1 axes where 2 are expected");
    assert!(
        refused(archive(&dia((1 << 30, 1), &[0], long))).starts_with("member shape.npy: 1073741824 rows for 3 entries")
    );
}

#[test]
fn diagonals_in_the_order_of_fortran() {
    let text = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2)}\n";
    let data =
        [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), &i4(&[1, 3, 2, 4])].concat();
    let mut members: Vec<_> = dia((2, 2), &[0, 1], ("data", "<i4", "(2, 2)", i4(&[1, 2, 3, 4])))
        .iter()
        .map(|array| (array.0, npy(array)))
        .collect();
    let want = from_bytes(zipped(&members, CompressionMethod::Stored), &ReadOptions::default()).unwrap().matrix;
    assert_eq!(want, Csc::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 2.0), (0, 1, 4.0)]).unwrap());
    members.last_mut().unwrap().1 = data;
    assert_eq!(from_bytes(zipped(&members, CompressionMethod::Stored), &ReadOptions::default()).unwrap().matrix, want);
}

#[test]
fn arrays_of_no_matrix_are_listed() {
    let found = refused(archive(&[("x", "<i4", "(1,)", i4(&[1])), ("y", "<i4", "(1,)", i4(&[1]))]));
    let reason = "the archive: there is no member format.npy, as in scipy.sparse.save_npz: it has \"x.npy\", \"y.npy\"";
    assert_eq!(found, reason);
}
