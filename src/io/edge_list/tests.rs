//! Tests reading edge lists, refusals with their messages, and round trips.
use half::f16;
use proptest::prelude::*;

use super::*;
use crate::{BlockShape, Csc, Csr, Matrix};

fn from_text(text: impl AsRef<[u8]>, options: &ReadOptions) -> Result<MatrixFile> {
    read_from(text.as_ref(), "g.txt", options)
}

fn accepted(text: impl AsRef<[u8]>) -> MatrixFile {
    from_text(text, &ReadOptions::default()).unwrap()
}

/// The error message for an edge list that is refused, without the file name.
fn refused(text: impl AsRef<[u8]>) -> String {
    let error = from_text(text, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Parse { .. }), "{error}");
    error.to_string().strip_prefix("g.txt:").unwrap().to_owned()
}

fn parts(file: &MatrixFile) -> (&[u64], &[u32], &[f64]) {
    (file.matrix.pattern().col_ptr(), file.matrix.pattern().row_idx(), file.matrix.values())
}

fn written<M: Matrix>(matrix: &M) -> String {
    let mut text = Vec::new();
    write_to(&mut text, matrix, &Default::default()).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_file_as_snap_writes_them() {
    let text = "# Directed graph (each unordered pair of nodes is saved once): p2p.txt \r\n# Nodes: 3 Edges: 3\r\n\
                # FromNodeId\tToNodeId\r\n3\t0\r\n1\t0\r\n0\t3";
    let file = accepted(text);
    assert_eq!(parts(&file), (&[0, 2, 2, 2, 3][..], &[1, 3, 0][..], &[1.0; 3][..]));
    assert_eq!((file.field, file.symmetry, file.stored), (ValueType::Pattern, Symmetry::General, 3));
    assert_eq!((file.format, file.layout), (FileFormat::EdgeList, None));
}

#[test]
fn weights_blanks_and_comments() {
    let file = accepted("% a comment\n\n  0   1 2.5\n# Nodes: 9\n1\t0\t-inf  \n\t1 1 1e-3\n%\n");
    assert_eq!(parts(&file), (&[0, 1, 3][..], &[1, 0, 1][..], &[f64::NEG_INFINITY, 2.5, 1e-3][..]));
    assert_eq!(file.field, ValueType::Real);
}

#[test]
fn nodes_are_those_of_the_comment_where_there_are_more() {
    assert_eq!(accepted("# nodes: 5 edges: 1\n0 1\n").matrix.nrows(), 5);
    assert_eq!(accepted("# Nodes: many\n0 1\n").matrix.nrows(), 2);
    assert_eq!(accepted("# Nodes: 5").matrix.nrows(), 5);
    assert_eq!(accepted("").matrix.nrows(), 0);
}

#[test]
fn broken_lines_are_refused() {
    assert_eq!(refused("0\n"), "1: 1 word where \"from to\" or \"from to weight\" is expected");
    assert_eq!(refused("0 1 2 3\n"), "1: 4 words where \"from to\" or \"from to weight\" is expected");
    assert_eq!(refused("#\n0 1\n\n0 1 1\n"), "4: 3 words where \"from to\" is expected, as on the lines before");
    assert_eq!(refused("0 1 5\n0\n"), "2: 1 word where \"from to weight\" is expected, as on the lines before");
    assert_eq!(refused("0 1 5\n0 1\n"), "2: 2 words where \"from to weight\" is expected, as on the lines before");
    assert_eq!(refused("-1 0\n"), "1: from: \"-1\" is not a whole number from 0");
    assert_eq!(refused("0 1.0\n"), "1: to: \"1.0\" is not a whole number from 0");
    assert_eq!(refused("0,1\n0,2"), "1: 1 word where \"from to\" or \"from to weight\" is expected");
    assert_eq!(refused("a b\n"), "1: from: \"a\" is not a whole number from 0");
    assert_eq!(refused("4294967294 0\n"), "1: from: node 4294967294 is above 4294967293, the last that is supported");
    assert_eq!(refused("0 99999999999999999999\n"), "1: to: \"99999999999999999999\" is too large");
    assert_eq!(refused("0 1 x\n"), "1: weight: \"x\" is not a number");
    assert_eq!(refused("0 1 1e999\n"), "1: weight: \"1e999\" is too large for a 64-bit float");
    assert_eq!(refused(b"0 1 \xff\n"), "1: weight: \"\\xff\" is not a number");
}

/// Chunks of text are parsed independently. Conditions that concern several chunks are checked when
/// the results are joined.
#[test]
fn long_files_are_read_as_short_ones() {
    let edges: Vec<_> = (0..100_000u32).map(|edge| (edge % 1000, edge / 1000)).collect();
    let lines = |weight: &str| edges.iter().map(|(from, to)| format!("{from}\t{to}{weight}\n")).collect::<String>();
    let text = format!("# Nodes: 1200\n{}", lines(""));
    let file = accepted(&text);
    assert_eq!((file.matrix.nrows(), file.matrix.nnz(), file.field), (1200, 100_000, ValueType::Pattern));
    assert_eq!(accepted(format!("{text}# Nodes: 5000\n")).matrix.nrows(), 1200, "not after the first edge");
    assert_eq!(
        refused(format!("{text}#\n7 0 1\n")),
        "100003: 3 words where \"from to\" is expected, as on the lines before"
    );
    assert_eq!(
        refused(format!("{text}7 0\n")),
        "100002: a second edge from 7 to 0, the first is on line 9; ReadOptions::sum_duplicates adds up entries at the same place"
    );
    let weighted = format!("{}{}", lines("\t0.5"), lines(""));
    let reason = "100001: 2 words where \"from to weight\" is expected, as on the lines before";
    assert_eq!(refused(weighted), reason);
    // The first of two errors is reported, even if the second is in another chunk of text.
    assert_eq!(refused(format!("0 x\n{text}0 y\n")), "1: to: \"x\" is not a whole number from 0");
    assert_eq!(accepted(format!("{}1001 0 1e300", lines(" 0.5"))).matrix.values()[1000], 1e300);
}

#[test]
fn what_is_wrong_does_not_depend_on_where_blocks_end() {
    let form = "as on the lines before";
    for (text, reason) in [
        ("0 1 5\n0 2 5\n0\n", format!("3: 1 word where \"from to weight\" is expected, {form}")),
        ("0 1\n0 2\n0 3 4 5\n", format!("3: 4 words where \"from to\" is expected, {form}")),
        ("0 1 5\n0 2 5\n0 x\n", format!("3: 2 words where \"from to weight\" is expected, {form}")),
        ("0 1\n0 2\n0 x 3\n", format!("3: 3 words where \"from to\" is expected, {form}")),
        ("#\n0 1 2 3\n0\n", "2: 4 words where \"from to\" or \"from to weight\" is expected".into()),
    ] {
        for block_bytes in [1, 8, 1 << 10] {
            let source = Source::in_blocks(text.as_bytes(), Path::new("g.txt"), block_bytes).unwrap();
            let error = read_source(source, &ReadOptions::default()).unwrap_err();
            assert_eq!(error.to_string(), format!("g.txt:{reason}"), "blocks of {block_bytes}");
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_number() {
    assert_eq!(parts(&accepted("\u{feff}0 1\n1 0\n")), parts(&accepted("0 1\n1 0\n")));
    assert_eq!(accepted("\u{feff}# Nodes: 7\n0 1\n").matrix.nrows(), 7);
    assert_eq!(refused("\u{feff}0 1\n0 x\n"), "2: to: \"x\" is not a whole number from 0");
}

#[test]
fn a_short_file_does_not_make_a_large_matrix() {
    assert_eq!(
        refused("0 1\n16777216 0\n5 5\n"),
        "2: 16777217 nodes for 3 entries, 16777216 at most; ReadOptions::max_unproven_lines allows more"
    );
    assert_eq!(
        refused("# Nodes: 4294967294\n0 1\n"),
        "1: 4294967294 nodes for 1 entry, 16777216 at most; ReadOptions::max_unproven_lines allows more"
    );
    assert_eq!(refused("# Nodes: 4294967295\n0 1\n"), "1: 4294967295 nodes, at most 4294967294 are supported");
    let options = ReadOptions { max_unproven_lines: 1 << 25, ..Default::default() };
    assert_eq!(from_text("16777216 0\n", &options).unwrap().matrix.nrows(), 16777217);
    let options = ReadOptions { max_unproven_lines: 4, ..Default::default() };
    assert_eq!(from_text("47 0\n0 1\n0 2\n", &options).unwrap().matrix.nrows(), 48, "16 for each entry");
}

#[test]
fn duplicates_are_named_or_summed() {
    let text = "#\n0 1 1e16\n\n1 0 2\n0 1 1\n0 1 -1e16\n";
    assert_eq!(
        refused(text),
        "5: a second edge from 0 to 1, the first is on line 2; ReadOptions::sum_duplicates adds up entries at the same place"
    );
    let sum = ReadOptions { sum_duplicates: true, ..Default::default() };
    // Weights are summed in the file's order: 1e16 + 1 is rounded to 1e16.
    assert_eq!(parts(&from_text(text, &sum).unwrap()), (&[0, 1, 2][..], &[1, 0][..], &[2.0, 0.0][..]));
    assert_eq!(parts(&from_text("1 1\n1 1\n", &sum).unwrap()).2, [2.0]);
}

#[test]
fn written_as_snap_does() {
    let matrix = Csc::from_triplets(4, 4, [(2, 0, 1.0), (0, 1, 1.0)]).unwrap();
    let head = "# Directed graph: an edge from a row to a column for each entry of a matrix\n# Nodes: 4 Edges: 2\n";
    assert_eq!(written(&matrix), format!("{head}# from\tto\n2\t0\n0\t1\n"));
    assert_eq!(written(&Csr::from_transpose(matrix)), format!("{head}# from\tto\n0\t2\n1\t0\n"));
    let weights = Csc::from_triplets(4, 4, [(2, 0, f16::from_f32(0.1)), (0, 1, f16::from_f32(3.0))]).unwrap();
    assert_eq!(written(&weights), format!("{head}# from\tto\tweight\n2\t0\t0.1\n0\t1\t3\n"));
    let tall = Csc::<f64>::from_triplets(4, 3, []).unwrap();
    let reason = "a list of edges holds a square matrix, this one is 4x3";
    assert_eq!(write("none/x.el", &tall, &Default::default()).unwrap_err().to_string(), reason);
    assert_eq!(
        write_to(Vec::new(), &Csr::from_transpose(tall.transpose()), &Default::default()).unwrap_err().to_string(),
        reason
    );
}

proptest! {
    #[test]
    fn any_square_matrix_comes_back(
        size in 1..9usize,
        places in prop::collection::btree_map((0..9usize, 0..9usize), prop_oneof![Just(1.0), -2.0..2.0], 0..20),
        side in 1..4usize,
    ) {
        let inside = places.iter().filter(|((i, j), _)| *i < size * side && *j < size * side);
        let matrix = Csc::from_triplets(size * side, size * side, inside.map(|(&(i, j), &v)| (i, j, v))).unwrap();
        let file = accepted(written(&matrix));
        prop_assert_eq!(&file.matrix, &matrix);
        let blocks = matrix.to_blocks(BlockShape::new(side, side).unwrap()).unwrap();
        prop_assert_eq!(accepted(written(&blocks)).matrix, blocks.to_scalars());
        prop_assert_eq!(accepted(written(&Csr::from_transpose(matrix.clone()))).matrix, matrix.transpose());
    }

    /// Tests that any bytes are read as a matrix, or cause an error with a line number.
    #[test]
    fn nothing_panics(
        words in prop::collection::vec(prop_oneof!["[0-9]{1,2}", "[ -~]{0,4}", Just("\n".to_owned())], 0..30),
        raw in prop::collection::vec(any::<u8>(), 0..20),
        sum_duplicates: bool,
    ) {
        let bytes = [words.join(" ").as_bytes(), &raw].concat();
        if let Err(error) = from_text(bytes, &ReadOptions { sum_duplicates, ..Default::default() }) {
            prop_assert!(matches!(error, Error::Parse { line: 1.., .. }), "{error}");
        }
    }
}
