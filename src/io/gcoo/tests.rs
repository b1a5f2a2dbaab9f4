//! Tests that every element type and grouping can be written and read. Invalid files are refused
//! with the place of the error.
use super::*;
use crate::{Csc, io::WriteOptions, matrix::AnyMatrix};

/// The matrix of the paper's Figure 2, in groups of two rows.
fn of_the_paper() -> AnyGcoo {
    let entries = [(0, 0, 7.0), (0, 3, 8.0), (1, 1, 10.0), (2, 0, 9.0), (3, 2, 6.0), (3, 3, 3.0)];
    AnyGcoo::of(&Csc::from_triplets(4, 4, entries).unwrap(), Grouping::Rows(2)).unwrap()
}

fn bytes_of(matrix: &AnyGcoo) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_to(&mut bytes, matrix).unwrap();
    bytes
}

fn read_bytes(bytes: &[u8]) -> Result<AnyGcoo> {
    read_from(bytes, "a.gcoo", &ReadOptions::default())
}

fn refusal(bytes: &[u8]) -> String {
    read_bytes(bytes).unwrap_err().to_string()
}

#[test]
fn every_element_and_grouping_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    // The test values are chosen so that every element type can represent them.
    let scalars = Csc::from_triplets(6, 9, [(5, 0, 3.0), (0, 0, 1.0), (2, 4, 0.0), (3, 8, 255.0)]).unwrap();
    let blocks = AnyMatrix::from(scalars.clone()).to_blocks(BlockShape::new(2, 3).unwrap()).unwrap();
    for &element in ElementType::ALL {
        for (grouping, name) in [(Grouping::Rows(4), "a.gcoo"), (Grouping::Columns(2), "a.gcoo.gz")] {
            for matrix in [AnyMatrix::from(scalars.clone()).cast(element), blocks.cast(element)] {
                let path = folder.path().join(name);
                let options = WriteOptions { grouping, ..Default::default() };
                crate::io::write(&path, &matrix, &options).unwrap();
                let file = crate::io::read(&path, &ReadOptions::default()).unwrap();
                assert_eq!((file.format, file.element, file.symmetry), (FileFormat::Gcoo, element, Symmetry::General));
                let field = if element.is_integer() { ValueType::Integer } else { ValueType::Real };
                assert_eq!((file.field, file.stored), (field, matrix.values().len() as u64));
                let groups = AnyGcoo::of(&matrix, grouping).unwrap();
                assert_eq!((groups.element(), file.groups.as_ref()), (element, Some(&groups)));
                assert_eq!(read(&path, &ReadOptions::default()).unwrap(), groups);
                assert_eq!(file.into_any().unwrap(), matrix, "{element} in groups of {grouping}");
            }
        }
    }
    // Bits of a NaN that depend on the device are not written.
    let nan = Csc::from_triplets(1, 1, [(0, 0, -f32::NAN)]).unwrap();
    assert!(bytes_of(&AnyGcoo::of(&nan, Grouping::default()).unwrap()).ends_with(&0x7fc0_0000_u32.to_le_bytes()));
}

#[test]
fn a_file_has_the_bytes_that_are_documented() {
    let mut want = b"GCOO0001".to_vec();
    [4i64, 4, 6, 1, 1, 0, 0, 2].iter().for_each(|size| want.extend(size.to_le_bytes()));
    let arrays: [u32; 15] = [0, 3, 6, 0, 1, 0, 2, 3, 3, 0, 1, 3, 0, 2, 3];
    arrays.iter().for_each(|number| want.extend(number.to_le_bytes()));
    [7.0f64, 10.0, 8.0, 9.0, 6.0, 3.0].iter().for_each(|value| want.extend(value.to_le_bytes()));
    assert_eq!(bytes_of(&of_the_paper()), want);
}

/// Offsets of the parts of the paper's file.
const SIZES: usize = 8;
const OFFSETS: usize = SIZES + 8 * 8;
const ROWS: usize = OFFSETS + 3 * 4;
const COLS: usize = ROWS + 6 * 4;

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let right = bytes_of(&of_the_paper());
    let size = |number: usize, value: i64| (SIZES + 8 * number, value.to_le_bytes().to_vec());
    let number = |at: usize, value: u32| (at, value.to_le_bytes().to_vec());
    for ((at, bytes), reason) in [
        ((0, b"COOG".to_vec()), "magic: not GCOO"),
        ((4, b"0002".to_vec()), "magic: version 0002; version 0001 is supported"),
        ((4, b"\xff\n\"1".to_vec()), "magic: version \\xff\\n\\\"1; version 0001 is supported"),
        (size(0, -4), "sizes: number 0 is -4"),
        (size(1, 1 << 25), "sizes: 33554432 columns for 6 entries"),
        (size(0, i64::MAX), "sizes: 9223372036854775807 rows"),
        (size(2, 1 << 32), "sizes: 4294967296 entries"),
        (size(2, i64::MAX), "sizes: 9223372036854775807 entries"),
        (size(3, 0), "sizes: blocks of 0x1; sides are 1 to 32"),
        (size(4, 33), "sizes: blocks of 1x33; sides are 1 to 32"),
        (size(5, 6), "kinds: elements of kind 6; there are 0 to 5"),
        (size(6, 2), "kinds: groups of lines of kind 2; there are 0 and 1"),
        (size(7, 0), "kinds: groups of 0 rows: 1 to 32 are supported"),
        (size(7, 33), "kinds: groups of 33 rows: 1 to 32 are supported"),
        (number(OFFSETS, 1), "groups of 2 rows: group_ptr runs from 1 to 6, not from 0 to 6"),
        (number(OFFSETS + 8, 5), "groups of 2 rows: group_ptr runs from 0 to 5, not from 0 to 6"),
        (number(OFFSETS + 4, 7), "groups of 2 rows: group 1: group_ptr falls from 7 to 6"),
        (number(ROWS, 4), "groups of 2 rows: entry 0 at (4, 0) is not in group 0 of 4x4"),
        (number(ROWS + 12, 0), "groups of 2 rows: entry 3 at (0, 0) is not in group 1 of 4x4"),
        (number(COLS + 20, 4), "groups of 2 rows: entry 5 at (3, 4) is not in group 1 of 4x4"),
        (number(COLS + 4, 3), "groups of 2 rows: entry 2 at (0, 3) does not ascend in group 0"),
        (number(COLS + 20, 2), "groups of 2 rows: entry 5 at (3, 2) does not ascend in group 1"),
        ((right.len(), vec![0]), "end: the file goes on after the last value"),
    ] {
        let mut wrong = right.clone();
        wrong.splice(at..(at + bytes.len()).min(right.len()), bytes);
        let refusal = refusal(&wrong);
        assert!(refusal.starts_with(&format!("a.gcoo: {reason}")), "{refusal}: {reason}");
    }
}

#[test]
fn a_file_that_ends_early_is_refused() {
    let whole = bytes_of(&of_the_paper());
    (0..whole.len()).for_each(|end| {
        let refusal = refusal(&whole[..end]);
        assert!(refusal.starts_with("a.gcoo: ") && refusal.contains("the file ends after"), "{end}: {refusal}");
    });
}

/// Short files that claim four thousand million entries or lines are refused, and no memory is
/// allocated for these entries and lines.
#[test]
fn sizes_alone_get_no_memory() {
    let head = |sizes: [i64; 8]| {
        let mut bytes = b"GCOO0001".to_vec();
        sizes.iter().for_each(|size| bytes.extend(size.to_le_bytes()));
        bytes.extend([0; 8]);
        bytes
    };
    let most = i64::from(u32::MAX);
    let entries = refusal(&head([1, 1, most, 32, 32, 0, 0, 1]));
    assert!(entries.contains("rows: the file ends after 0 of 4294967295"), "{entries}");
    let lines = refusal(&head([1 << 31, 1, most, 1, 1, 0, 0, 1]));
    assert!(lines.contains("offsets: the file ends after 2 of 2147483649"), "{lines}");
}

proptest::proptest! {
    #[test]
    fn no_bytes_panic(
        tail in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        sizes in proptest::collection::vec(0..5i64, 8),
        at in 0..180usize,
        byte in proptest::num::u8::ANY,
    ) {
        let mut made = b"GCOO0001".to_vec();
        sizes.iter().for_each(|size| made.extend(size.to_le_bytes()));
        made.extend(&tail);
        let _ = read_bytes(&made);
        let mut changed = bytes_of(&of_the_paper());
        changed[at] = byte;
        let _ = read_bytes(&changed);
    }
}
