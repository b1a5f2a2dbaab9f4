//! `blockmul apply`: A·x in every format, vectors in files, refused arguments.
mod gram;
mod onto;

use super::*;
use blockmul::plan::Format;

/// A·x and Aᵀ·x for the matrix WIDE: with ones, and with a vector.
const ONES: [f64; 2] = [-1.5, 1000.0];
const TRANSPOSED: [f64; 4] = [0.5, 0.0, 1000.0, -2.0];
const X: &str = "%%MatrixMarket matrix array real general\n4 1\n2\n7\n0.25\n-1\n";
const OF_X: [f64; 2] = [3.0, 250.0];

fn desk() -> Desk {
    Desk::with([("a.mtx", WIDE), ("x.mtx", X)])
}

fn apply(desk: &Desk, line: &str) -> Ran {
    desk.ok(&format!("apply --device {} {line}", common::device().info().index))
}

fn dense(desk: &Desk, name: &str) -> Vec<f64> {
    desk.read::<f64>(name).as_cbc().to_dense().as_slice().to_vec()
}

#[test]
fn every_format_multiplies_with_ones_with_a_vector_and_transposed() {
    let desk = desk();
    for format in [Format::Auto].iter().chain(Format::ALL).chain(Format::COMPARED) {
        let how = if format.reproducible() { ", bit for bit" } else { " within rounding" };
        for (line, want) in [("a.mtx", &ONES[..]), ("a.mtx x.mtx", &OF_X), ("a.mtx --transpose", &TRANSPOSED)] {
            let ran = apply(&desk, &format!("{line} --format {format} --verify -o y.mtx"));
            assert!(ran.stdout.ends_with(&format!("verified: equal to the reference{how}\n")), "{}", ran.stdout);
            assert_eq!(dense(&desk, "y.mtx"), want, "{line} {format}");
        }
    }
    for element in ["f32", "f16"] {
        apply(&desk, &format!("a.mtx x.mtx --element {element} --any-order -o y.mtx"));
        assert_eq!(dense(&desk, "y.mtx"), OF_X, "{element}");
    }
}

/// 1e9 + 1 is rounded to 1e9 in f32, so the sum shows the type of the vectors. A third has
/// different values in f32 and f64.
#[test]
fn vectors_may_have_another_type_than_the_matrix() {
    let desk = Desk::with([("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1e9\n1 2 1\n")]);
    for (element, vectors, want) in [("f32", "f64", 1e9 + 1.0), ("f64", "f64", 1e9 + 1.0), ("f32", "f32", 1e9)] {
        let ran = apply(&desk, &format!("a.mtx --element {element} --vectors {vectors} --verify -o y.mtx"));
        assert_eq!(dense(&desk, "y.mtx"), [want]);
        assert_eq!(ran.stdout.contains("in f64, A in f32, by"), element != vectors, "{}", ran.stdout);
    }
    desk.put("X.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
    for line in ["a.mtx X.mtx", "a.mtx --gram"] {
        let why = "--vectors f64 of --element f32 is for an X of one column, without --gram";
        desk.fails(&format!("apply {line} --element f32 --vectors f64"), 2, &[why]);
    }
    let help = desk.ok("apply --help").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("is for an X of one column, without --gram [default: that of A]"), "{help}");
    let refused = desk.run("apply a.mtx --element f64 --vectors f32");
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("--vectors takes the type of --element"), "{}", refused.stderr);
}

/// [2 3 0; 3 5 7; 0 7 1] as a file that is declared symmetric, as one triangle, and as both
/// triangles with rounding.
#[test]
fn a_triangle_of_a_symmetric_matrix_stands_for_the_whole() {
    let desk = Desk::new();
    let entries = "3 3 5\n1 1 2\n2 1 3\n2 2 5\n3 2 7\n3 3 1\n";
    desk.put("symmetric.mtx", &format!("%%MatrixMarket matrix coordinate real symmetric\n{entries}"));
    desk.put("lower.mtx", &format!("%%MatrixMarket matrix coordinate real general\n{entries}"));
    desk.put("wide.mtx", WIDE);
    desk.put("skew.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n");
    desk.put("both.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n2 1 4\n");
    let two = entries.replace("3 3 5\n", "3 3 7\n1 2 3\n2 3 7.000000000001\n");
    desk.put("two.mtx", &format!("%%MatrixMarket matrix coordinate real general\n{two}"));
    for (line, entries) in [
        ("symmetric.mtx --symmetric", 7),
        ("lower.mtx --symmetric", 7),
        ("two.mtx --symmetric", 7),
        ("symmetric.mtx", 7),
    ] {
        for more in ["", "--transpose", "--format sliced-ell", "--format hyb"] {
            let ran = apply(&desk, &format!("{line} {more} --verify -o y.mtx"));
            assert!(ran.stdout.contains(&format!("  {entries} entries")), "{}", ran.stdout);
            assert_eq!(dense(&desk, "y.mtx"), [5.0, 15.0, 8.0], "{line} {more}");
            let differ = "the triangles of A differ by 1.0e-12 at most: the lower one is taken\n";
            assert_eq!(ran.stderr.contains(differ), line.starts_with("two"), "{}", ran.stderr);
        }
    }
    assert_eq!(desk.ok("apply lower.mtx --symmetric --device reference -o y.mtx").status, 0);
    assert_eq!(dense(&desk, "y.mtx"), [5.0, 15.0, 8.0]);
    for (name, why) in [
        ("wide", "A is 2 x 4, a symmetric matrix is square"),
        ("skew", "the file of A says skew-symmetric"),
        ("both", "A has 4 at row 2, column 1, and 3 at row 1, column 2"),
    ] {
        let refused = desk.run(&format!("apply {name}.mtx --symmetric"));
        assert_eq!(refused.status, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
}

/// If rows are cut at the length of the longest row, all are padded to this length.
#[test]
fn rows_of_both_forms_of_hyb_are_cut() {
    let desk = Desk::new();
    desk.ok("generate power-law --nodes 2000 --edges 20000 --integer -q -o g.mtx");
    apply(&desk, "g.mtx --format csr -o want.mtx");
    for format in ["hyb", "hyb-atomic"] {
        let bytes = ["0", "1"].map(|split| {
            let ran = apply(&desk, &format!("g.mtx --format {format} --split {split} --report - -o y.mtx"));
            assert_eq!(dense(&desk, "y.mtx"), dense(&desk, "want.mtx"), "{format} {split}");
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(report["format"], format);
            report["device_bytes"].as_u64().unwrap()
        });
        assert!(2 * bytes[0] < bytes[1], "{format}: {bytes:?}");
    }
}

#[test]
fn y_goes_to_stdout_or_to_a_numpy_file() {
    let desk = desk();
    let ran = apply(&desk, "a.mtx -o -");
    assert_eq!(ran.stdout, "%%MatrixMarket matrix array real general\n2 1\n-1.5\n1000.0\n");
    apply(&desk, "a.mtx x.mtx --element f32 -o y.npy -q");
    let bytes = std::fs::read(desk.path("y.npy")).unwrap();
    let (header, values) = bytes.split_at(bytes.len() - 8);
    assert!(header.starts_with(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"));
    assert_eq!((header.len() % 64, header.last()), (0, Some(&b'\n')));
    assert_eq!(values, [3.0f32.to_le_bytes(), 250.0f32.to_le_bytes()].concat());
}

#[test]
fn x_is_read_from_a_numpy_file() {
    let desk = desk();
    let put = |name: &str, descr: &str, shape: &str, values: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let length = (header.len() + 11).next_multiple_of(64) - 10;
        let head = [b"\x93NUMPY\x01\x00".as_slice(), &(length as u16).to_le_bytes()].concat();
        std::fs::write(desk.path(name), [&head, format!("{header:<0$}\n", length - 1).as_bytes(), values].concat())
            .unwrap();
    };
    let x = [2.0f64, 7.0, 0.25, -1.0];
    put("x8.npy", "<f8", "(4,)", &x.map(f64::to_le_bytes).concat());
    put("x4.npy", "<f4", "(4, 1)", &x.map(|x| (x as f32).to_le_bytes()).concat());
    put("x2.npy", "<f2", "(4,)", &x.map(|x| half::f16::from_f64(x).to_le_bytes()).concat());
    for name in ["x8.npy", "x4.npy", "x2.npy"] {
        apply(&desk, &format!("a.mtx {name} -o y.mtx --overwrite"));
        assert_eq!(dense(&desk, "y.mtx"), OF_X, "{name}");
    }
    // The y that was written is read as the next x.
    apply(&desk, "a.mtx x8.npy -o y.npy");
    apply(&desk, "a.mtx y.npy --transpose -o z.mtx");
    assert_eq!(dense(&desk, "z.mtx"), [1.5, 0.0, 250_000.0, -6.0]);
    put("long.npy", "<f8", "(99999999999,)", &[]);
    desk.fails("apply a.mtx long.npy", 2, &["long.npy: the array: 99999999999 rows, at most"]);
    put("cut.npy", "<f8", "(4,)", &[0; 31]);
    desk.fails("apply a.mtx cut.npy", 2, &["cut.npy: "]);
    put("whole.npy", "<i8", "(4,)", &[2i64, 7, 0, -1].map(i64::to_le_bytes).concat());
    apply(&desk, "a.mtx whole.npy --verify");
    put("complex.npy", "<c16", "(4,)", &[0; 64]);
    desk.fails("apply a.mtx complex.npy", 2, &["complex matrices are not supported"]);
    put("cube.npy", "<f8", "(1, 2, 2)", &[0; 32]);
    desk.fails("apply a.mtx cube.npy", 2, &["cube.npy: the array: 3 axes where 1 or 2 are expected"]);
    desk.put("text.npy", "no array");
    desk.fails("apply a.mtx text.npy", 2, &["text.npy: "]);
}

#[test]
fn the_report_has_format_reason_and_times() {
    let desk = desk();
    let ran = apply(&desk, "a.mtx --format ell --repeat 3 --verify --report -");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["format"], "ell");
    assert_eq!(report["why"], "ell, as asked for");
    assert_eq!((&report["a"]["rows"], &report["x"]["rows"], &report["y"]["rows"]), (&2.into(), &4.into(), &2.into()));
    assert_eq!((&report["verified"], report["runs_ms"].as_array().unwrap().len()), (&true.into(), 3));
    let ran = apply(&desk, "a.mtx --explain");
    assert!(ran.stderr.contains(" for 3 entries in 2 rows, "), "{}", ran.stderr);
    assert_eq!((&report["order"], &report["reproducible"]), (&"ascending".into(), &true.into()));
    let ran = apply(&desk, "a.mtx --format coo-atomic --report -");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["order"], &report["reproducible"]), (&"arrival".into(), &false.into()));
    let ran = desk.ok("apply a.mtx --device reference --report - --repeat 3 --explain");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(report["format"].is_null() && report["verified"].is_null() && report["reproducible"] == true);
    assert_eq!(report["runs_ms"].as_array().unwrap().len(), 3);
    assert!(ran.stderr.contains("has no formats"), "{}", ran.stderr);
}

/// WIDE has two blocks of 2x2, also two of 1x2, and three of 2x1.
#[test]
fn blocks_multiply_as_their_scalars_do() {
    let desk = desk();
    for format in ["auto", "csr", "ell", "sliced-ell", "hyb"] {
        for (line, want) in [
            ("a.mtx --block 2", &ONES[..]),
            ("a.mtx x.mtx --block 1x2", &OF_X),
            ("a.mtx --transpose --block 4x1", &TRANSPOSED),
            ("a.mtx --transpose --block 2 --repeat 2", &TRANSPOSED),
        ] {
            let ran = apply(&desk, &format!("{line} --format {format} --verify -o y.mtx"));
            assert!(ran.stdout.contains("blocks of ") && ran.stdout.contains("verified"), "{}", ran.stdout);
            assert_eq!(dense(&desk, "y.mtx"), want, "{line} {format}");
        }
    }
    apply(&desk, "a.mtx --block 2 --semiring or-and --verify -q");
    let report = apply(&desk, "a.mtx --block 2 --report - -q").stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["a"]["block"], &report["flops"]), (&vec![2, 2].into(), &16.into()));
    let by_reference = desk.ok("apply a.mtx --block 2 --device reference -o r.mtx");
    assert!(by_reference.stdout.contains("2 blocks of 2x2"), "{}", by_reference.stdout);
    assert_eq!(dense(&desk, "r.mtx"), ONES);
    // Products with several vectors, and with one triangle of a symmetric matrix.
    desk.put("X.mtx", "%%MatrixMarket matrix array real general\n4 2\n2\n7\n0.25\n-1\n1\n1\n1\n1\n");
    let ran = apply(&desk, "a.mtx X.mtx --block 2 --verify");
    assert!(ran.stdout.contains("2 blocks of 2x2 times 4 x 2"), "{}", ran.stdout);
    desk.put("s.mtx", SYMMETRIC.replace("3 3 3", "4 4 3").as_str());
    let ran = apply(&desk, "s.mtx --symmetric --block 2 --verify -o y.mtx");
    assert!(ran.stdout.contains("3 blocks of 2x2"), "{}", ran.stdout);
    assert_eq!(dense(&desk, "y.mtx"), [2.0, 1.0, 2.0, 0.0]);
    desk.fails("apply a.mtx --block 3", 2, &["2 rows cannot be cut into blocks of 3"]);
    desk.fails("apply a.mtx --block 2 --semiring min-plus", 2, &["--semiring min-plus multiplies scalars"]);
    desk.fails(
        &format!("apply a.mtx --block 2 --format scoo --device {}", common::device().info().index),
        2,
        &["scoo"],
    );
}

#[test]
fn x_may_come_from_stdin() {
    let desk = desk();
    desk.ok("apply a.mtx x.mtx -o want.npy -q");
    let mut command = desk.command("apply a.mtx - -o found.npy -q");
    command.write_stdin(std::fs::read(desk.path("x.mtx")).unwrap());
    let ran = ran(command);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read(desk.path("found.npy")).unwrap(), std::fs::read(desk.path("want.npy")).unwrap());
}

#[test]
fn what_does_not_fit_is_refused() {
    let desk = desk();
    desk.put("i.mtx", "%%MatrixMarket matrix array real general\n1 4\n1\n2\n3\n4\n");
    desk.put("nan.mtx", "%%MatrixMarket matrix array real general\n4 2\n1\n2\n3\n4\n5\nnan\n7\n8\n");
    let refused = "X has NaN at row 2, column 2, which is not of type i32";
    desk.fails("apply i.mtx nan.mtx --element i32", 2, &[refused]);
    desk.fails("apply a.mtx a.mtx", 2, &["a.mtx: X is 2 x 4, 4 rows are expected"]);
    desk.fails("apply a.mtx x.mtx --transpose", 2, &["X is 4 x 1, 2 rows are expected"]);
    desk.fails(
        "apply a.mtx -o y.npz",
        2,
        &["y.npz: dense matrices are written to .mtx (Matrix Market) and .npy (NumPy)"],
    );
    desk.fails("apply a.mtx -o x.mtx/y.mtx", 2, &["x.mtx"]);
    desk.fails("apply a.mtx x.mtx -o x.mtx", 2, &["--overwrite"]);
    desk.fails("apply a.mtx -o - --report -", 2, &["only one of -o and --report can have stdout"]);
    desk.fails("apply a.mtx --split filled", 2, &["--split cuts rows of --format hyb and hyb-atomic, not auto"]);
    desk.fails("apply a.mtx --format hyb --split thirds", 2, &["no split \"thirds\""]);
    desk.fails("apply a.mtx --format bsr", 2, &["csr-adaptive"]);
    desk.fails("apply a.mtx --format csr --device reference", 2, &["--format csr needs an OpenCL device"]);
    desk.fails("apply none.mtx", 2, &["none.mtx"]);
    desk.fails("apply - -", 2, &["A and X cannot both be read from stdin"]);
    desk.fails("apply - x.mtx --gram --weights -", 2, &["A and --weights cannot both be read from stdin"]);
}
