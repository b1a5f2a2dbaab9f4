//! Tests that broken archives, and archives that do not hold a real matrix, are refused.
use super::*;

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
fn sizes_and_formats_refused() {
    let scalar = |text: &'static [u8]| ("format", "|S3", "()", text.to_vec());
    let reason = "member format.npy: the format is \"lil\"; csr, csc, bsr, coo and dia are read: save its .tocsr()";
    assert_eq!(refused_with(&[scalar(b"lil")]), reason);
    assert!(refused_with(&[scalar(b"\xff\0\0")]).starts_with("member format.npy: the format is "));
    let number = ("format", "<i4", "()", vec![0; 4]);
    assert_eq!(refused_with(&[number]), "member format.npy: not a short text but type \"<i4\" in 0 axes");
    let reason = "member shape.npy, element 0: 4294967296 rows, 0 to 4294967294 are supported";
    assert_eq!(refused_with(&[shape_of(1 << 32, 4)]), reason);
    assert_eq!(
        refused_with(&[shape_of(3, -1)]),
        "member shape.npy, element 1: -1 columns, 0 to 4294967294 are supported"
    );
    let one = ("shape", "<i8", "(1,)", vec![0; 8]);
    assert_eq!(refused_with(&[one]), "member shape.npy: 1 elements, 2 expected (rows and columns)");
    let real = ("shape", "<f8", "(2,)", vec![0; 16]);
    assert_eq!(refused_with(&[real]), "member shape.npy: elements of type \"<f8\" in 1 axes are not supported here");
    assert_eq!(refused_with(&[shape_of(4, 4)]), "member indptr.npy: 4 elements, 5 expected (4 rows and 1)");
    // A few bytes that would make the reader allocate much memory are refused at once.
    let reason = "member shape.npy: 4000000000 columns for 3 entries, 16777216 at most; ReadOptions::max_unproven_lines allows more";
    assert_eq!(refused_with(&[shape_of(3, 4_000_000_000)]), reason);
    // Three entries may have 48 columns without this option.
    let read = |max_unproven_lines| {
        let options = ReadOptions { max_unproven_lines, ..Default::default() };
        from_bytes(archive(&with(csr(), &[shape_of(3, 1000)])), &options).map(|file| file.matrix.ncols())
    };
    assert_eq!((read(999).is_err(), read(1000).unwrap()), (true, 1000));
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
    assert!(refused(b"BZh9xxxxxxxx").starts_with("the archive: this is bzip2"));
    let whole = archive(&csr());
    for length in [1, 21, whole.len() / 2, whole.len() - 1] {
        assert!(refused(&whole[..length]).starts_with("the archive: "), "{length}");
    }
    let without = |name: &str| refused(archive(&csr().into_iter().filter(|array| array.0 != name).collect::<Vec<_>>()));
    let reason = "the archive: there is no member format.npy, as in scipy.sparse.save_npz: it has \"shape.npy\"";
    assert!(without("format").starts_with(reason));
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
    // The header of one array announces so many elements that much memory would be allocated for
    // them. The header of another array announces so many elements that no file can hold them.
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
    // The reason is one line, although the parser's message draws the error on several lines.
    let reason = "member data.npy: the header is wrong: could not parse Python expression: syntax error:";
    assert_eq!(header(b"\x93NUMPY\x01\x00\x02\x00{!"), reason);
}

/// Tests headers that Python would accept, but that NumPy never writes.
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
