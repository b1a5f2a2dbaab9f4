//! Files in groups (`.gcoo`): conversions, products in the groups of a file, refusals.
use super::*;
use blockmul::{
    dense::Grouping,
    io::{ReadOptions, dense, gcoo},
};
use nalgebra::{DMatrix, dmatrix};

fn desk() -> Desk {
    let desk = Desk::with([("a.mtx", WIDE)]);
    // A dense matrix of 4 x 2, stored by columns.
    desk.put("d.mtx", "%%MatrixMarket matrix array real general\n4 2\n2\n7\n0.25\n-1\n1\n1\n1\n1\n");
    desk
}

fn stored(desk: &Desk, line: &str) -> Ran {
    let device = common::device().info().index;
    desk.ok(&format!("multiply --device {device} {line} --sharing stored --verify --overwrite"))
}

fn report(desk: &Desk, line: &str) -> Value {
    serde_json::from_str(&stored(desk, &format!("{line} --report - -q")).stdout).unwrap()
}

fn matrix(desk: &Desk, name: &str) -> DMatrix<f64> {
    dense::read(desk.path(name), &ReadOptions::default()).unwrap().matrix
}

#[test]
fn matrices_are_converted_to_groups_and_back() {
    let desk = desk();
    let grouping = |name: &str| gcoo::read(desk.path(name), &ReadOptions::default()).unwrap().grouping();
    assert_eq!(desk.ok("convert a.mtx -o a.gcoo").stderr, "a.gcoo: 2 x 4, 3 entries\n");
    assert_eq!(grouping("a.gcoo"), Grouping::Rows(4));
    desk.ok("convert a.gcoo -o b.gcoo.gz --lines 3 --grouping columns");
    assert_eq!(grouping("b.gcoo.gz"), Grouping::Columns(3));
    // A copy has the groups of its input, except for the properties that options give.
    for (line, want) in [
        ("b.gcoo.gz -o c.gcoo", Grouping::Columns(3)),
        ("b.gcoo.gz -o d.gcoo --lines 32", Grouping::Columns(32)),
        ("b.gcoo.gz -o e.gcoo --grouping rows --block 2 --element f32", Grouping::Rows(3)),
    ] {
        desk.ok(&format!("convert {line}"));
        assert_eq!(grouping(line.split_whitespace().nth(2).unwrap()), want, "{line}");
    }
    desk.ok("convert c.gcoo -o back.mtx");
    assert_eq!(desk.read::<f64>("back.mtx"), desk.read::<f64>("a.mtx"));
    desk.ok("compare a.mtx d.gcoo");
    desk.ok("compare a.mtx e.gcoo --missing-as-zero");
    let info = desk.ok("info e.gcoo").stdout;
    let line = "file        gcoo, real general, 8 entries written, in blocks of 2x2, in groups of 3 rows";
    assert!(info.contains(line), "{info}");
    let json: Value = serde_json::from_str(&desk.ok("info b.gcoo.gz --json").stdout).unwrap();
    assert_eq!((&json["format"], &json["grouping"]), (&"gcoo".into(), &"3 columns".into()));
    // Other commands read the file as any other.
    desk.ok("multiply a.gcoo a.gcoo --transpose-b --device reference -o square.mtx");
    desk.ok("multiply a.mtx --device reference -o square2.mtx");
    desk.ok("compare square.mtx square2.mtx");
}

#[test]
fn groups_are_multiplied_as_they_are_stored() {
    let desk = desk();
    desk.ok("convert a.mtx -o a.gcoo --lines 2");
    desk.ok("convert a.mtx -o columns.gcoo --lines 2 --grouping columns");
    desk.ok("convert a.mtx -o blocks.gcoo --lines 2 --block 2");
    let want = dmatrix![3.0, -1.5; 250.0, 1000.0];
    let ran = stored(&desk, "a.mtx d.mtx --explain -o c.npy");
    assert!(ran.stdout.starts_with("C = A·D in f64 by stored groups on "), "{}", ran.stdout);
    assert!(ran.stdout.contains(" by columns, converted to groups in "), "{}", ran.stdout);
    assert!(ran.stderr.contains("groups of 4 rows use a row of D 1.00 times"), "{}", ran.stderr);
    let ran = stored(&desk, "a.gcoo d.mtx --explain -o c.npy");
    assert!(!ran.stdout.contains("converted"), "{}", ran.stdout);
    assert!(ran.stderr.contains("groups of 2 rows use a row of D 1.00 times"), "{}", ran.stderr);
    for (line, converted, is_transposed) in [
        ("a.mtx d.mtx --element f32 --repeat 2", true, false),
        ("d.mtx a.gcoo --transpose-a --transpose-b", false, true),
        ("columns.gcoo d.mtx", false, false),
        ("blocks.gcoo d.mtx --element f32", false, false),
    ] {
        let report = report(&desk, &format!("{line} -o c.npy"));
        let times = (report["group_ms"].is_number(), report["convert_ms"].is_number());
        assert_eq!((times, &report["sharing"]), ((converted, true), &"stored".into()), "{line}");
        let want = if is_transposed { want.transpose() } else { want.clone() };
        assert_eq!(matrix(&desk, "c.npy"), want, "{line}");
    }
    // Aᵀ·D is computed in the groups of the file. If other blocks are requested, the matrix is
    // converted to groups first.
    desk.ok("convert c.npy -o c.mtx");
    stored(&desk, "a.gcoo c.mtx --transpose-a -o t.npy");
    let report = report(&desk, "a.gcoo d.mtx --block 2 -o c.npy");
    assert_eq!((report["group_ms"].is_number(), matrix(&desk, "c.npy")), (true, want.clone()));
    stored(&desk, "columns.gcoo d.mtx --semiring max-plus -o m.npy");
    let device = common::device().info().index;
    desk.ok(&format!("apply columns.gcoo d.mtx --sharing stored --verify --device {device} -o y.npy -q"));
    assert_eq!(matrix(&desk, "y.npy"), want);
}

#[test]
fn files_that_are_not_groups_are_refused() {
    let desk = desk();
    desk.ok("convert a.mtx -o a.gcoo --lines 2");
    let right = std::fs::read(desk.path("a.gcoo")).unwrap();
    // The file has the magic number and 8 sizes, then 2 offsets, 3 rows and 3 columns.
    let changed = |at: usize, byte: u8| {
        let mut bytes = right.clone();
        bytes[at] = byte;
        bytes
    };
    let sizes = 8 + 8 * 8;
    for (bytes, reason) in [
        (right[..right.len() - 1].to_vec(), "values: the file ends after 2 of 3 numbers"),
        ([&right[..], &[0]].concat(), "end: the file goes on after the last value"),
        (changed(0, b'X'), "magic: not GCOO"),
        (changed(7, b'2'), "magic: version 0002; version 0001 is supported"),
        (changed(sizes + 4, 2), "groups of 2 rows: group_ptr runs from 0 to 2, not from 0 to 3"),
        (changed(sizes + 8, 2), "groups of 2 rows: entry 0 at (2, 0) is not in group 0 of 2x4"),
        (changed(sizes + 8 + 12, 3), "groups of 2 rows: entry 1 at (1, 2) does not ascend in group 0"),
    ] {
        std::fs::write(desk.path("bad.gcoo"), bytes).unwrap();
        for line in ["multiply bad.gcoo d.mtx --sharing stored -o c.npy", "convert bad.gcoo -o c.mtx", "info bad.gcoo"]
        {
            desk.fails(line, 2, &[&format!("bad.gcoo: {reason}")]);
        }
        assert!(!desk.path("c.npy").exists() && !desk.path("c.mtx").exists(), "{reason}");
    }
    for (line, part) in [
        ("convert a.mtx -o c.mtx --lines 8", "--lines is for a .gcoo, and c.mtx has no groups"),
        ("convert a.mtx -o c.npy --grouping rows", "--grouping is for a .gcoo, and c.npy has no groups"),
        ("convert a.mtx -o c.gcoo --lines 33", "33 is not in 1..=32"),
        (
            "multiply a.gcoo a.gcoo --transpose-b --sharing stored",
            "--sharing stored is for products with a dense matrix",
        ),
        ("multiply a.gcoo d.mtx --sharing stored --memory-limit 1MiB", "--sharing stored multiplies D whole"),
        ("multiply a.gcoo d.mtx --sharing stored --device reference", "--sharing is for an OpenCL device"),
        ("multiply a.gcoo d.mtx -o c.gcoo", "c.gcoo: dense matrices are written to .mtx"),
    ] {
        desk.fails(line, 2, &[part]);
    }
}

#[test]
fn a_triangle_in_groups_counts_as_the_whole_matrix() {
    let desk = desk();
    desk.put("l.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 1 5\n2 2 3\n");
    desk.ok("convert l.mtx -o l.gcoo");
    let device = common::device().info().index;
    desk.put("x.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n10\n0\n1\n");
    desk.ok(&format!("apply --device {device} l.gcoo x.mtx --symmetric --sharing stored --verify -o y.npy"));
    assert_eq!(matrix(&desk, "y.npy"), dmatrix![52.0, 5.0; 35.0, 3.0]);
}
