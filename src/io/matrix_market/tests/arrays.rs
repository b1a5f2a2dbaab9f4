//! Tests dense arrays, in which the row and column of a value follow from its number.
use super::*;

fn array(kind: &str, rest: &str) -> String {
    format!("%%MatrixMarket matrix array {kind}\n{rest}")
}

#[test]
fn columns_are_read_and_zeros_dropped() {
    let file = accepted(array("real general", "% c\n2 3\n1\n0\n\n-0.0\n% c\n 2.5D0 \nnan\n3"));
    let (col_ptr, row_idx, values) = parts(&file);
    assert_eq!((col_ptr, row_idx, &values[..2]), (&[0, 1, 2, 4][..], &[0, 1, 0, 1][..], &[1.0, 2.5][..]));
    assert!(values[2].is_nan() && values[3] == 3.0);
    assert_eq!((file.field, file.symmetry, file.stored), (ValueType::Real, Symmetry::General, 6));
    assert!(file.is_array);
}

#[test]
fn triangles_are_expanded() {
    // The matrices are [1 2 4; 2 0 5; 4 5 6] and [0 -1 -2; 1 0 -3; 2 3 0].
    let file = accepted(array("integer symmetric", "3 3\n1\n2\n4\n0\n5\n6\n"));
    assert_eq!(parts(&file).1, [0, 1, 2, 0, 2, 0, 1, 2]);
    assert_eq!(parts(&file).2, [1.0, 2.0, 4.0, 2.0, 5.0, 4.0, 5.0, 6.0]);
    let file = accepted(array("real skew-symmetric", "3 3\n1\n2\n3\n"));
    assert_eq!(parts(&file), (&[0, 2, 4, 6][..], &[1, 2, 0, 2, 0, 1][..], &[1.0, 2.0, -1.0, 3.0, -2.0, -3.0][..]));
    for (symmetry, size) in [("general", "0 4"), ("general", "4 0"), ("symmetric", "0 0"), ("skew-symmetric", "1 1")] {
        assert_eq!(accepted(array(&format!("real {symmetry}"), &format!("{size}\n"))).matrix.nnz(), 0);
    }
}

#[test]
fn what_is_refused() {
    let values = |values: &str| refused(array("real general", &format!("2 2\n{values}")));
    assert_eq!(values("1\n2\n3\n"), "5: the file ends after 3 of the 4 values of line 2");
    assert_eq!(values("1\n2\n3\n4\n\n5\n"), "8: more values than the 4 of line 2");
    assert_eq!(values("1\n2 3\n"), "4: 2 words where \"value\" is expected (the field is real)");
    assert_eq!(values("1\nx\n"), "4: value: \"x\" is not a number");
    assert!(refused(array("integer general", "1 1\n1.5\n")).starts_with("3: value: \"1.5\" is not an integer"));
    let sizes = |sizes: &str| refused(array("real general", &format!("{sizes}\n1\n")));
    assert_eq!(sizes("1 1 1"), "2: 3 numbers where \"rows columns\" is expected");
    assert_eq!(refused(array("real general", "")), "1: the file ends before the line \"rows columns\"");
    assert_eq!(sizes("4294967295 1"), "2: 4294967295 rows, at most 4294967294 are supported");
    // Memory for the values is not allocated before they are read.
    assert_eq!(sizes("4294967294 4294967294"), "3: the file ends after 1 of the 18446744056529682436 values of line 2");
    assert_eq!(
        sizes("0 4294967294"),
        "2: 4294967294 columns for 0 values, 16777216 at most; ReadOptions::max_unproven_lines allows more"
    );
    assert_eq!(refused(array("real symmetric", "2 3\n")), "2: 2 rows and 3 columns, but a symmetric matrix is square");
}

proptest! {
    #[test]
    fn every_value_finds_its_place(
        (rows, cols) in (0..12usize, 0..12usize),
        symmetry in prop::sample::select(vec![Symmetry::General, Symmetry::Symmetric, Symmetry::SkewSymmetric]),
        draws in prop::collection::vec(-2..3i32, 144),
        (block_bytes, threads) in (1..60usize, 0..2usize),
    ) {
        let cols = if symmetry == Symmetry::General { cols } else { rows };
        let (mut dense, mut text) = (nalgebra::DMatrix::zeros(rows, cols), String::new());
        for (col, row) in (0..cols).flat_map(|col| (0..rows).map(move |row| (col, row))) {
            let value = draws[col * 12 + row];
            match symmetry {
                Symmetry::Symmetric if row < col => continue,
                Symmetry::SkewSymmetric if row <= col => continue,
                Symmetry::Symmetric => dense[(col, row)] = f64::from(value),
                Symmetry::SkewSymmetric => dense[(col, row)] = -f64::from(value),
                Symmetry::General => {}
            }
            dense[(row, col)] = f64::from(value);
            text += &format!("{value}\n");
        }
        let text = array(&format!("integer {}", symmetry.name()), &format!("{rows} {cols}\n{text}"));
        let file = in_blocks(text.as_bytes(), block_bytes, threads, &ReadOptions::default()).unwrap();
        prop_assert_eq!(file.matrix, Csc::from_dense(&dense).unwrap());
    }
}
