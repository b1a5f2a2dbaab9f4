//! Values that become infinite. A warning is printed even under `--quiet`, and the report counts
//! them.
use super::*;

const LARGE: &str = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 300\n2 2 1\n1 2 1e5\n";

#[test]
fn values_that_become_infinite_are_counted_and_reported() {
    let desk = Desk::new();
    desk.put("a.mtx", LARGE);
    desk.put("s.mtx", SQUARE);
    desk.put("i.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 inf\n");
    let overflowed = |line: &str| {
        let ran = desk.multiply(&format!("{line} -q --report -"));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        (report["overflowed"].to_string(), ran.stderr)
    };
    // Infinite values of C that are caused by infinite values of A are not attributed to sums.
    let (counts, said) = overflowed("a.mtx --element f16");
    assert_eq!(counts, r#"{"a":1,"b":1,"c":null}"#);
    assert!(said.contains("warning: 1 of 3 values of A are too large for f16: they are infinite"), "{said}");
    assert!(!said.contains("values of C"), "{said}");
    desk.put("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 300\n2 2 1\n1 2 1e4\n");
    let (counts, said) = overflowed("b.mtx --element f16");
    assert_eq!(counts, r#"{"a":0,"b":0,"c":2}"#);
    assert_eq!(said, "warning: 2 of 3 values of C are not finite: their sums are too large for f16\n");
    let (counts, said) = overflowed("s.mtx --element f16");
    assert_eq!((counts.as_str(), said.as_str()), (r#"{"a":0,"b":0,"c":0}"#, ""));
    let (counts, said) = overflowed("a.mtx --element f32");
    assert_eq!((counts.as_str(), said.as_str()), (r#"{"a":0,"b":0,"c":0}"#, ""));
    // Infinite values of the file cannot be distinguished from those of sums.
    let (counts, said) = overflowed("i.mtx --element f16");
    assert_eq!((counts.as_str(), said.as_str()), (r#"{"a":0,"b":0,"c":null}"#, ""));
}

/// The test covers products with a dense operand, and with vectors.
#[test]
fn dense_results_that_become_infinite_are_counted_and_reported() {
    let desk = Desk::new();
    desk.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 60000\n1 2 60000\n");
    desk.put("wide.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e6\n");
    desk.put("d.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n0\n");
    desk.put("large.mtx", "%%MatrixMarket matrix array real general\n2 2\n1e5\n1\n1\n-1\n");
    desk.put("inf.mtx", "%%MatrixMarket matrix array real general\n2 2\ninf\n1\n1\n1\n");
    let device = common::device().info().index;
    let overflowed = |line: &str| {
        let ran = desk.ok(&format!("{line} -q --report - --device {device}"));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        (report["overflowed"].to_string(), ran.stderr)
    };
    for (line, counts, said) in [
        (
            "multiply a.mtx d.mtx --element f16",
            r#"{"a":0,"b":0,"c":1}"#,
            "warning: 1 of 2 values of C are not finite: their sums are too large for f16\n",
        ),
        ("multiply a.mtx d.mtx --element f32", r#"{"a":0,"b":0,"c":0}"#, ""),
        ("multiply a.mtx d.mtx --element f16 --semiring min-plus", r#"{"a":0,"b":0,"c":0}"#, ""),
        (
            "apply a.mtx large.mtx --element f16",
            r#"{"a":0,"b":1,"c":null}"#,
            "warning: 1 of 4 values of X are too large for f16: they are infinite\n",
        ),
        (
            "apply wide.mtx --element f16 --vectors f64",
            r#"{"a":1,"b":0,"c":null}"#,
            "warning: 1 of 1 values of A are too large for f16: they are infinite\n",
        ),
        ("apply a.mtx inf.mtx --element f16", r#"{"a":0,"b":0,"c":null}"#, ""),
        (
            "apply a.mtx --element f16",
            r#"{"a":0,"b":0,"c":1}"#,
            "warning: 1 of 1 values of y are not finite: their sums are too large for f16\n",
        ),
    ] {
        assert_eq!(overflowed(line), (counts.to_owned(), said.to_owned()), "{line}");
    }
    // The dense matrix is the first factor.
    let (counts, _) = overflowed("multiply large.mtx a.mtx --transpose-b --element f16");
    assert_eq!(counts, r#"{"a":1,"b":0,"c":null}"#);
}

#[test]
fn other_commands_tell_of_values_too_large_as_well() {
    let desk = Desk::with([("a.mtx", LARGE)]);
    let said = desk.ok("convert a.mtx -o c.mtx --element f16 -q").stderr;
    assert_eq!(said, "warning: 1 of 3 values of a.mtx are too large for f16: they are infinite\n");
    let said = desk.ok("compare a.mtx a.mtx --element f16 -q").stderr;
    assert_eq!(said.lines().filter(|line| line.contains("are too large for f16")).count(), 2, "{said}");
}
