//! What is read, what is refused and how, and what comes back; archives of SciPy's own are in `tests/formats.rs`.
use std::io::{Cursor, Write};

use half::f16;
use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;
use crate::io::Field;
use crate::{BlockShape, Bsr, Cbc, Csc, Csr, Element, Matrix};

/// A member: name, type, shape as Python writes it, bytes.
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

/// 3x4 with 5.0 at (0, 3), 6.0 at (0, 1) (in this order), 7.0 at (2, 0).
fn csr() -> Vec<Array<'static>> {
    vec![
        format_of("csr"),
        shape_of(3, 4),
        ("indptr", "<i4", "(4,)", i4(&[0, 2, 2, 3])),
        ("indices", "<i4", "(3,)", i4(&[3, 1, 0])),
        ("data", "<f8", "(3,)", f8(&[5.0, 6.0, 7.0])),
    ]
}

/// `arrays` with those of the same names replaced.
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

/// The message, less the name.
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
    assert_eq!((file.field, file.symmetry, file.stored), (Field::Real, Symmetry::General, 3));
    assert_eq!((file.format, &file.layout), (Format::Npz, &None));
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
    // One more element than `indptr` counts, out of range: SciPy's matrices may have room to spare.
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
    let (real, integer) = ((Field::Real, [0.5, -2.0, 3.0]), (Field::Integer, [1.0, -2.0, 3.0]));
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
    let unsigned = (Field::Integer, [1.0, 200.0, 3.0]);
    assert_eq!(values("|u1", vec![1, 200, 3]), unsigned);
    assert_eq!(values(">u2", bytes(&[1u16, 200, 3], u16::to_be_bytes)), unsigned);
    assert_eq!(values("<u4", bytes(&[1u32, 200, 3], u32::to_le_bytes)), unsigned);
    let large = bytes(&[1u64 << 63, 200, (1 << 53) + 2], u64::to_be_bytes);
    assert_eq!(values(">u8", large), (Field::Integer, [2f64.powi(63), 200.0, 9007199254740994.0]));
    assert_eq!(values("|b1", vec![1, 1, 1]), (Field::Pattern, [1.0; 3]));
    assert_eq!(values("|b1", vec![1, 0, 1]), (Field::Integer, [1.0, 0.0, 1.0]));
    let special = accepted(&with(csr(), &[("data", "<f8", "(3,)", f8(&[f64::NAN, f64::INFINITY, -0.0]))]));
    assert_eq!(special.matrix.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>(), {
        [-0.0, f64::INFINITY, f64::NAN].map(f64::to_bits)
    });
}

#[test]
fn values_that_are_no_real_numbers_are_refused() {
    let data = |descr: &'static str, bytes: Vec<u8>| refused_with(&[("data", descr, "(3,)", bytes)]);
    let odd = bytes(&[1i64, (1 << 53) + 1, 1], i64::to_le_bytes);
    let reason = "member data.npy, element 1: the integer 9007199254740993 cannot be held exactly in a 64-bit float";
    assert_eq!(data("<i8", odd), reason);
    assert!(data("<u8", vec![255; 24]).starts_with("member data.npy, element 0: the integer 18446744073709551615"));
    assert_eq!(data("<c16", vec![0; 48]), "member data.npy: complex matrices are not supported");
    let unsupported =
        |kind: &str| format!("member data.npy: elements of type \"{kind}\" in 1 axes are not supported here");
    assert_eq!(data("<f16", vec![0; 48]), unsupported("<f16"));
    assert_eq!(data("|S2", vec![0; 6]), unsupported("|S2"));
    assert_eq!(data("|O", vec![0; 24]), unsupported("|O"));
    assert!(data("|b1", vec![0, 2, 1]).starts_with("member data.npy, element 1: the data is damaged: "));
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
    assert_eq!(file.layout, Some(Layout::Uniform(BlockShape::new(1, 3).unwrap())));
    assert_eq!(parts(&file).1, [1, 1, 1, 0, 0, 0]);
    assert_eq!((parts(&file).2, file.stored), (&[4.0, 5.0, 6.0, 1.0, 2.0, 0.0][..], 6));

    // The same in Fortran's order, as NumPy saves a transposed array.
    let mut members: Vec<_> = bsr(shape_of(2, 6), "(2, 1, 3)", &[1.0, 4.0, 2.0, 5.0, 0.0, 6.0])
        .iter()
        .map(|array| (array.0, npy(array)))
        .collect();
    let data = members[4].1.windows(5).position(|window| window == b"False").unwrap();
    members[4].1.splice(data..data + 5, *b"True ");
    assert_eq!(from_bytes(zipped(&members, CompressionMethod::Stored), &ReadOptions::default()).unwrap(), file);

    let tall = accepted(&bsr(shape_of(66, 2), "(2, 33, 1)", &[1.0; 66]));
    assert_eq!(tall.layout, Some(Layout::Mixed { row_ends: vec![33, 66], col_ends: vec![1, 2] }));
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
    let reason = "member indices.npy, element 2: a second entry at (0, 1), the first is element 0";
    assert_eq!(refused(archive(&twice(&[1, 3, 1]))), reason);
    let sum = ReadOptions { sum_duplicates: true, ..Default::default() };
    assert_eq!(parts(&from_bytes(archive(&twice(&[1, 3, 1])), &sum).unwrap()).2, [12.0, 6.0]);
    // In the order of the file: 1e16 + 1 rounds to 1e16.
    let order = with(twice(&[1, 1, 1]), &[("data", "<f8", "(3,)", f8(&[1e16, 1.0, -1e16]))]);
    assert_eq!(parts(&from_bytes(archive(&order), &sum).unwrap()).2, [0.0]);
    let bsr = [
        format_of("bsr"),
        shape_of(2, 4),
        ("indptr", "<i4", "(2,)", i4(&[0, 2])),
        ("indices", "<i4", "(2,)", i4(&[1, 1])),
        ("data", "<f8", "(2, 2, 2)", f8(&[1.0; 8])),
    ];
    let reason = "member indices.npy, element 1: a second block at (0, 1), the first is element 0";
    assert_eq!(refused(archive(&bsr)), reason);
    assert_eq!(parts(&from_bytes(archive(&bsr), &sum).unwrap()).2, [2.0; 4]);
    let coo = [
        format_of("coo"),
        shape_of(3, 4),
        ("row", "<i4", "(2,)", i4(&[2, 2])),
        ("col", "<i4", "(2,)", i4(&[0, 0])),
        ("data", "<f8", "(2,)", f8(&[1.0; 2])),
    ];
    assert_eq!(refused(archive(&coo)), "member row.npy, element 1: a second entry at (2, 0), the first is element 0");
}

#[test]
fn sizes_and_formats_refused() {
    let scalar = |text: &'static [u8]| ("format", "|S3", "()", text.to_vec());
    let reason = "member format.npy: the format is \"dia\"; csr, csc, bsr and coo are supported";
    assert_eq!(refused_with(&[scalar(b"dia")]), reason);
    assert!(refused_with(&[scalar(b"\xff\0\0")]).starts_with("member format.npy: the format is "));
    let number = ("format", "<i4", "()", vec![0; 4]);
    assert_eq!(refused_with(&[number]), "member format.npy: not a short text but type \"<i4\" in 0 axes");
    let reason = "member shape.npy, element 0: 4294967296 rows, 0 to 4294967295 are supported";
    assert_eq!(refused_with(&[shape_of(1 << 32, 4)]), reason);
    assert_eq!(
        refused_with(&[shape_of(3, -1)]),
        "member shape.npy, element 1: -1 columns, 0 to 4294967295 are supported"
    );
    let one = ("shape", "<i8", "(1,)", vec![0; 8]);
    assert_eq!(refused_with(&[one]), "member shape.npy: 1 elements, 2 expected (rows and columns)");
    let real = ("shape", "<f8", "(2,)", vec![0; 16]);
    assert_eq!(refused_with(&[real]), "member shape.npy: elements of type \"<f8\" in 1 axes are not supported here");
    assert_eq!(refused_with(&[shape_of(4, 4)]), "member indptr.npy: 4 elements, 5 expected (4 rows and 1)");
    // A few bytes ask for much memory: refused on sight.
    let reason = "member shape.npy: 4000000000 columns for 3 entries, 16777216 at most";
    assert_eq!(refused_with(&[shape_of(3, 4_000_000_000)]), reason);
    let wide = ReadOptions { max_unproven_lines: 1 << 25, ..Default::default() };
    let file = from_bytes(archive(&with(csr(), &[shape_of(3, 1 << 25)])), &wide).unwrap();
    assert_eq!(file.matrix.ncols(), 1 << 25);
}

#[test]
fn indices_refused() {
    let indptr = |ends: &[i32]| refused_with(&[("indptr", "<i4", "(4,)", i4(ends))]);
    assert_eq!(indptr(&[1, 2, 2, 3]), "member indptr.npy, element 0: 1 where 0 is expected");
    assert_eq!(indptr(&[0, 2, 1, 3]), "member indptr.npy, element 2: 1 follows 2; offsets do not fall");
    assert_eq!(indptr(&[0, 2, 3, 4]), "member indptr.npy, element 3: 4 is outside 0 to 3, the elements of data.npy");
    assert_eq!(indptr(&[0, -2, 3, 4]), "member indptr.npy, element 1: -2 is outside 0 to 3, the elements of data.npy");
    let indices = |indices: &[i32]| refused_with(&[("indices", "<i4", "(3,)", i4(indices))]);
    assert_eq!(indices(&[3, 4, 0]), "member indices.npy, element 1: column 4 is outside 0..4");
    assert_eq!(indices(&[3, 1, -1]), "member indices.npy, element 2: column -1 is outside 0..4");
    let short = ("indices", "<i4", "(2,)", i4(&[3, 1]));
    assert_eq!(refused_with(&[short]), "member indices.npy: 2 elements, 3 expected (as many as in data.npy)");
    let square = ("indices", "<i4", "(1, 3)", i4(&[3, 1, 0]));
    assert_eq!(refused_with(&[square]), "member indices.npy: 2 axes where 1 is expected");
    let coo = |row: &[i32], shape: &'static str| {
        let col = ("col", "<i4", "(3,)", i4(&[0, 1, 2]));
        refused_with(&[format_of("coo"), ("row", "<i4", shape, i4(row)), col])
    };
    assert_eq!(coo(&[0, 1, 3], "(3,)"), "member row.npy, element 2: row 3 is outside 0..3");
    assert_eq!(coo(&[0, 1], "(2,)"), "member row.npy: 2 elements, 3 expected (as many as in data.npy)");
    let coords = [format_of("coo"), ("coords", "<i4", "(3, 3)", i4(&[0; 9]))];
    assert_eq!(refused_with(&coords), "member coords.npy: the shape is [3, 3], [2, 3] is expected");
    let coords = [format_of("coo"), ("coords", "<i4", "(2, 3)", i4(&[0, 1, 2, 4, 0, 0]))];
    assert_eq!(refused_with(&coords), "member coords.npy, element 3: column 4 is outside 0..4");
}

#[test]
fn archives_that_are_none_or_lack_members() {
    assert!(refused(b"").starts_with("the archive: "));
    assert!(refused(b"%%MatrixMarket matrix").starts_with("the archive: "));
    assert!(refused(b"\x1f\x8bxxxxxxxx").starts_with("the archive: this is gzip"));
    let whole = archive(&csr());
    for length in [1, 21, whole.len() / 2, whole.len() - 1] {
        assert!(refused(&whole[..length]).starts_with("the archive: "), "{length}");
    }
    let without = |name: &str| refused(archive(&csr().into_iter().filter(|array| array.0 != name).collect::<Vec<_>>()));
    assert_eq!(without("format"), "the archive: there is no member format.npy, as in scipy.sparse.save_npz");
    for name in ["shape", "data", "indices", "indptr"] {
        assert_eq!(without(name), format!("the archive: there is no member {name}.npy"));
    }
    assert_eq!(refused_with(&[format_of("coo")]), "the archive: there is no member row.npy");
}

#[test]
fn members_that_say_more_or_less_than_they_hold() {
    let data = |shape: &'static str, values: usize| refused_with(&[("data", "<f8", shape, vec![0; 8 * values])]);
    assert_eq!(data("(3,)", 2), "member data.npy, element 2: the data ends here, the header says 3 elements");
    assert_eq!(data("(3,)", 4), "member data.npy, element 3: more data than the 3 elements of the header");
    // Counts that would ask for much memory, in the header of an array and beyond what any file can hold.
    let huge =
        [("indices", "<i4", "(4000000000000,)", i4(&[0; 3])), ("data", "<f8", "(4000000000000,)", f8(&[0.0; 3]))];
    let file = accepted(&with(csr(), &[]));
    assert_eq!(file.stored, 3);
    assert_eq!(
        refused_with(&huge),
        "member indices.npy, element 3: the data ends here, the header says 4000000000000 elements"
    );
    let impossible = "member data.npy: the header describes no array of any possible size";
    assert_eq!(data("(4294967296, 4294967296)", 0), impossible);
    assert_eq!(data("(99999999999999999999,)", 0), impossible);
    let header = |bytes: &[u8]| {
        let mut members: Vec<_> = csr().iter().map(|array| (array.0, npy(array))).collect();
        members[4].1 = bytes.to_vec();
        refused(zipped(&members, CompressionMethod::Stored))
    };
    assert!(header(b"\x93NUM").starts_with("member data.npy: the data is damaged: "));
    assert_eq!(header(b"\x93NUMPX\x01\x00\x01\x00\n"), "member data.npy: this is no NumPy array");
    assert_eq!(
        header(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"),
        "member data.npy: a header of 4294967295 bytes, 10000 at most"
    );
    assert!(header(b"\x93NUMPY\x07\x00\x02\x00\x00\x00{}").starts_with("member data.npy: the header is wrong: "));
    assert!(header(b"\x93NUMPY\x01\x00\x02\x00{}").starts_with("member data.npy: the header is wrong: "));
    // One line, though the parser has drawn a picture of it.
    let reason = "member data.npy: the header is wrong: could not parse Python expression: syntax error:";
    assert_eq!(header(b"\x93NUMPY\x01\x00\x02\x00{!"), reason);
}

/// Headers that Python would take, and NumPy never writes.
#[test]
fn headers_that_would_overflow_or_take_forever() {
    let header = |text: &str| {
        let length = (text.len() as u16).to_le_bytes();
        let mut members: Vec<_> = csr().iter().map(|array| (array.0, npy(array))).collect();
        members[4].1 = [&b"\x93NUMPY\x01\x00"[..], &length, text.as_bytes()].concat();
        refused(zipped(&members, CompressionMethod::Stored))
    };
    let shape = |shape: &str| header(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"));
    for number in ["0xffffffffffffffff", "4_000_000_000", "0b1", "1e9"] {
        let reason = format!("member data.npy: the header is wrong: {number:?} is no decimal number");
        assert_eq!(shape(&format!("({number}, {number}, {number})")), reason);
    }
    assert_eq!(shape(&format!("({})", "1+1+1, ".repeat(50))), "member data.npy: the header is wrong: '+' in it");
    assert_eq!(shape("(3--1,)"), "member data.npy: the header is wrong: '-' in it");
    let disguised = "{'descr': '|V\\x39\\x39', 'fortran_order': False, 'shape': (3,), }";
    assert_eq!(header(disguised), "member data.npy: the header is wrong: '\\\\' in it");
    for open in ["(", "[", "{"] {
        assert_eq!(header(&open.repeat(50)), "member data.npy: the header is nested too deeply");
    }
}

#[test]
fn a_flipped_bit_is_found_by_the_check_sum() {
    let members: Vec<_> = csr().iter().map(|array| (array.0, npy(array))).collect();
    let mut bytes = zipped(&members, CompressionMethod::Stored);
    let at = bytes.windows(8).position(|window| window == 6.0f64.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    assert!(refused(bytes).starts_with("member data.npy: the data is damaged: "));
}

fn written<M: Matrix>(matrix: &M) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_to(&mut bytes, matrix, &Default::default()).unwrap();
    bytes
}

#[test]
fn files_are_whole_never_gzip_and_the_same_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let matrix = Csc::from_triplets(3, 4, [(0, 3, 5.0), (2, 1, 0.5)]).unwrap();
    write(&path, &matrix, &Default::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), written(&matrix));
    let file = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(file.matrix, matrix);
    let packed = folder.path().join("a.npz.gz");
    let error = write(&packed, &matrix, &Default::default()).unwrap_err().to_string();
    assert!(error.ends_with("a.npz.gz: an .npz is packed already, name it without .gz"), "{error}");
    assert!(matches!(read(&packed, &ReadOptions::default()), Err(Error::Io { .. })));
    assert!(matches!(read(folder.path(), &ReadOptions::default()), Err(Error::Io { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn comes_back<T: Element>(cbc: &Cbc<T>) {
    let read = |bytes: Vec<u8>| from_bytes(bytes, &ReadOptions::default()).unwrap();
    let scalars = cbc.to_scalars();
    let wide = scalars.cast::<f64>();
    for (bytes, expected) in [(written(&scalars), &wide), (written(&Csr::from_transpose(scalars)), &wide.transpose())] {
        let file = read(bytes);
        assert_eq!((&file.matrix, file.layout), (expected, None));
    }
    for (bytes, expected, shape) in [
        (written(cbc), &wide, cbc.shape()),
        (written(&cbc.with_alignment(64).unwrap()), &wide, cbc.shape()),
        (written(&Bsr::from_transpose(cbc.clone())), &wide.transpose(), cbc.shape().transpose()),
    ] {
        let file = read(bytes);
        assert_eq!(&file.matrix, expected);
        let has_blocks = cbc.nrows() > 0 && cbc.ncols() > 0;
        assert_eq!(file.layout.and_then(|layout| layout.uniform()), has_blocks.then_some(shape));
    }
}

proptest! {
    #[test]
    fn any_matrix_of_any_type_comes_back(
        (grid, shape) in ((0..5usize, 0..5usize), (1..5usize, 1..5usize)),
        places in prop::collection::btree_map((0..5usize, 0..5usize), -8..8i8, 0..9),
    ) {
        let inside = places.into_iter().filter(|((i, j), _)| *i < grid.0 && *j < grid.1);
        let shape = BlockShape::new(shape.0, shape.1).unwrap();
        let block = |seed: i8| {
            nalgebra::DMatrix::from_fn(shape.rows(), shape.cols(), |i, j| f64::from(seed) + i as f64 * 0.5 - j as f64)
        };
        let cbc = Cbc::from_triplets(grid.0, grid.1, shape, inside.map(|((i, j), seed)| (i, j, block(seed)))).unwrap();
        comes_back(&cbc);
        comes_back(&cbc.cast::<f32>());
        comes_back(&cbc.cast::<f16>());
    }

    /// Whatever becomes of an archive, an answer: a matrix or a place.
    #[test]
    fn nothing_panics(
        raw in prop::collection::vec(any::<u8>(), 0..60),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        member in 0..5usize,
        sum_duplicates: bool,
    ) {
        let options = ReadOptions { sum_duplicates, ..Default::default() };
        let check = |bytes: Vec<u8>| match from_bytes(bytes, &options) {
            Err(Error::Malformed { .. }) | Ok(_) => Ok(()),
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        };
        let members: Vec<_> = csr().iter().map(|array| (array.0, npy(array))).collect();
        let mutate = |bytes: &mut Vec<u8>| changes.iter().for_each(|(at, value)| *at.get_mut(bytes) = *value);
        // The archive itself, then one member within a sound archive.
        let mut whole = zipped(&members, CompressionMethod::Stored);
        mutate(&mut whole);
        check(whole)?;
        let mut inside = members.clone();
        mutate(&mut inside[member].1);
        check(zipped(&inside, CompressionMethod::Deflated))?;
        inside[member].1 = raw.clone();
        check(zipped(&inside, CompressionMethod::Stored))?;
        check(raw)?;
    }
}
