//! `blockmul apply --onto`: a product is added to an old y.
use super::*;

/// An old y, to which A·x is added, for A = WIDE.
const OLD: &str = "%%MatrixMarket matrix array real general\n2 1\n10\n-2\n";

/// The graph has edges of lengths 3 from 1 to 2, 4 from 2 to 3 and 9 from 1 to 3. The vector has
/// distances from vertex 1, as found without the edge from 2 to 3.
const LENGTHS: &str = "%%MatrixMarket matrix coordinate real general\n3 3 3\n2 1 3\n3 2 4\n3 1 9\n";
const REACHED: &str = "%%MatrixMarket matrix array real general\n3 1\n0\n3\n8\n";

#[test]
fn a_product_is_added_to_an_old_y() {
    let desk = desk();
    desk.put("old.mtx", OLD);
    for format in [Format::Auto].iter().chain(Format::ALL).chain(Format::COMPARED) {
        for (beta, want) in [("", [13.0, 248.0]), (" --beta -0.5", [-2.0, 251.0]), (" --beta 0", OF_X)] {
            let line = format!("a.mtx x.mtx --format {format} --onto old.mtx{beta} --verify -o y.mtx");
            // Repeated executions begin with the same old y.
            for repeat in ["", " --repeat 2"] {
                let ran = apply(&desk, &format!("{line}{repeat}"));
                assert!(ran.stdout.contains("verified: equal to the reference"), "{}", ran.stdout);
                assert_eq!(dense(&desk, "y.mtx"), want, "{line}");
            }
        }
    }
    let report = apply(&desk, "a.mtx x.mtx --onto old.mtx --beta 2 --report - -q").stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["beta"], 2.0);
    let said = desk.ok("apply a.mtx x.mtx --onto old.mtx --beta -1 --device reference -o r.mtx").stdout;
    assert!(said.starts_with("y = A·x + -1·y in f64 by the reference"), "{said}");
    assert_eq!(dense(&desk, "r.mtx"), [-7.0, 252.0]);
    // With --transpose y has four elements. In f16 the sum is rounded once.
    desk.put("long.mtx", X);
    apply(&desk, "a.mtx --transpose --onto long.mtx --element f16 --verify -o t.mtx");
    assert_eq!(dense(&desk, "t.mtx"), [2.5, 7.0, 1000.0, -3.0]);
}

#[test]
fn a_step_of_paths_is_one_command() {
    let desk = Desk::with([("g.mtx", LENGTHS), ("d.mtx", REACHED)]);
    for element in ["f64", "u32"] {
        let line = format!("g.mtx d.mtx --semiring min-plus --onto d.mtx --element {element} --verify -o e.mtx");
        let ran = apply(&desk, &line);
        assert!(ran.stdout.starts_with("y = A·x + y over min-plus in"), "{}", ran.stdout);
        assert_eq!(dense(&desk, "e.mtx"), [0.0, 3.0, 7.0]);
    }
}

/// The two columns have distances: from the first vertex, and from the second.
#[test]
fn products_with_several_columns_are_added() {
    let desk = Desk::new();
    desk.put("g.mtx", LENGTHS);
    desk.put("d.mtx", "%%MatrixMarket matrix array real general\n3 2\n0\n3\n8\n100\n0\n100\n");
    desk.ok("convert g.mtx -o g.gcoo");
    for (a, sharing) in [("g.mtx", "auto"), ("g.mtx", "rows"), ("g.mtx", "gcoo"), ("g.gcoo", "stored")] {
        for repeat in ["", "--repeat 2"] {
            let line = format!("{a} d.mtx --sharing {sharing} --onto d.mtx --verify {repeat} -o e.mtx");
            let ran = apply(&desk, &format!("{line} --semiring min-plus"));
            assert!(ran.stdout.starts_with("C = A·D + C over min-plus in"), "{}", ran.stdout);
            assert_eq!(dense(&desk, "e.mtx"), [0.0, 3.0, 7.0, 100.0, 0.0, 4.0]);
            let ran = apply(&desk, &format!("{line} --beta -2"));
            assert!(ran.stdout.starts_with("C = A·D + -2·C in"), "{}", ran.stdout);
            assert_eq!(dense(&desk, "e.mtx"), [0.0, -6.0, -4.0, -200.0, 300.0, 700.0]);
        }
    }
    // The layout of the old y may be another than that of X.
    let report = desk.ok("apply g.mtx d.mtx --onto e.mtx --beta 0.5 --device reference --report - -o f.npy -q").stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["beta"], 0.5);
    desk.ok("apply g.mtx f.npy --onto d.mtx --verify -o h.npy");
    desk.put("most.mtx", "%%MatrixMarket matrix array real general\n3 2\n2147483647\n0\n0\n0\n2147483647\n0\n");
    let ran = apply(&desk, "g.mtx d.mtx --onto most.mtx --element i32 --verify");
    assert!(ran.stderr.contains("1 of 6 values of C have wrapped around"), "{}", ran.stderr);
}

#[test]
fn integers_that_wrap_around_are_counted_with_the_old_y() {
    let desk = Desk::new();
    desk.put("g.mtx", LENGTHS);
    desk.put("most.mtx", "%%MatrixMarket matrix array real general\n3 1\n2147483646\n2147483640\n0\n");
    let ran = apply(&desk, "g.mtx --onto most.mtx --element i32 --verify");
    assert!(!ran.stderr.contains("wrapped around: "), "{}", ran.stderr);
    let ran = apply(&desk, "g.mtx --onto most.mtx --beta 2 --element i32 --verify");
    assert!(ran.stderr.contains("2 of 3 values of y have wrapped around"), "{}", ran.stderr);
}

#[test]
fn what_is_no_old_y_is_refused() {
    let desk = desk();
    desk.put("old.mtx", OLD);
    desk.put("X.mtx", "%%MatrixMarket matrix array real general\n4 2\n1\n2\n3\n4\n5\n6\n7\n8\n");
    for (line, why) in [
        ("--onto x.mtx", "x.mtx: y is 4 x 1, 2 x 1 is expected"),
        ("--onto a.mtx", "a.mtx: y is 2 x 4, 2 x 1 is expected"),
        ("--onto none.mtx", "none.mtx"),
        ("--onto old.mtx --beta two", "a finite number is wanted"),
        ("--onto old.mtx --beta nan", "a finite number is wanted"),
        ("--beta 2", "--onto <FILE>"),
        ("--onto old.mtx --gram", "cannot be used with"),
        ("--onto old.mtx --semiring min-plus --beta 1", "--beta belongs to plus-times, not to min-plus"),
        ("--onto old.mtx --element i32 --beta 0.5", "--beta 0.5 is not of type i32"),
        ("--onto old.mtx --element f32 --beta 1e300", "is not of type f32"),
        ("--onto old.mtx --element f32 --beta 1e-60", "is not of type f32"),
        ("--onto old.mtx -o old.mtx", "--overwrite"),
        ("X.mtx --onto old.mtx", "old.mtx: y is 2 x 1, 2 x 2 is expected"),
    ] {
        desk.fails(&format!("apply a.mtx {line}"), 2, &[why]);
    }
}
