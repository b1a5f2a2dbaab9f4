//! `blockmul paths`, and `--semiring` of other commands.
use super::*;

/// 1 to 2 to 3 to 4 of lengths 1, 2 and 3, 1 to 3 of length 9; 5 leads to 1.
const GRAPH: &str = "%%MatrixMarket matrix coordinate real general\n5 5 5\n2 1 1\n3 2 2\n4 3 3\n3 1 9\n1 5 4\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("g.mtx", GRAPH);
    desk
}

fn on_device(line: &str) -> String {
    format!("{line} --device {}", common::device().info().index)
}

#[test]
fn distances_predecessors_and_levels() {
    let desk = desk();
    let ran = desk.ok(&on_device("paths g.mtx --sources 1 --verify -o d.mtx --predecessors p.mtx"));
    assert!(ran.stdout.ends_with("verified: equal to the reference, bit for bit\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("5 vertices, 5 edges; 4 reached, the farthest at 6"), "{}", ran.stdout);
    let text = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
    assert_eq!(text("d.mtx"), "%%MatrixMarket matrix array real general\n5 1\n0.0\n1.0\n3.0\n6.0\ninf\n");
    assert_eq!(text("p.mtx"), "%%MatrixMarket matrix array integer general\n5 1\n0\n1\n2\n3\n0\n");
    for (line, want) in [
        ("--sources 5,3 --element i32", "4\n5\n0\n3\n0\n"),
        ("--sources 1 --levels --schedule bellman-ford", "0\n1\n1\n2\n4294967295\n"),
        ("--sources 4 --transpose --element u32 --schedule near-far --delta 2", "6\n5\n3\n0\n10\n"),
    ] {
        desk.ok(&on_device(&format!("paths g.mtx {line} -o x.mtx -q")));
        assert_eq!(text("x.mtx"), format!("%%MatrixMarket matrix array integer general\n5 1\n{want}"), "{line}");
    }
    let by_reference = desk.ok("paths g.mtx --sources 1 --device reference -o - -q").stdout;
    assert_eq!(by_reference, text("d.mtx"));
    let report = desk.ok(&on_device("paths g.mtx --sources 1 --report - --schedule bellman-ford")).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["schedule"], &report["reached"]), (&"bellman-ford".into(), &4.into()));
    assert_eq!((&report["farthest"], &report["sources"]), (&6.0.into(), &vec![1].into()));
}

#[test]
fn what_has_no_paths_is_refused() {
    let desk = desk();
    desk.put("circle.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n2 1 1\n3 2 -3\n2 3 1\n");
    desk.put("nan.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 1\n3 2 nan\n");
    desk.put("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    desk.put("wide.mtx", WIDE);
    for (line, why) in [
        ("paths g.mtx --sources 6", "source 6 is outside g.mtx, whose vertices are 1 to 5"),
        ("paths circle.mtx --sources 1", "a cycle of negative length, -2, passes through vertex 2"),
        ("paths g.mtx --sources 1 --schedule bellman-ford --delta 3", "bellman-ford has no limit between near and far"),
        ("paths nan.mtx --sources 1", "G has NaN at row 3, column 2, which is no length"),
        ("paths nan.mtx --sources 1 --transpose", "G has NaN at row 3, column 2, which is no length"),
        ("paths empty.mtx --sources 1", "empty.mtx has no vertices"),
        ("paths circle.mtx --sources 1 --schedule near-far", "near-far takes no negative length, the least is -3"),
        ("paths circle.mtx --sources 1 --element u32", "G has -3 at row 3, column 2, which is not of type u32"),
        ("paths wide.mtx --sources 1", "a graph is a square matrix of scalars, this one is "),
        ("apply g.mtx --element u8", "elements of u8 have or-and alone, not plus-times"),
        ("multiply g.mtx --semiring min-plus --block 5", "--semiring min-plus multiplies scalars"),
        (
            "bench --operation norms --semiring min-plus",
            "--semiring is for apply, apply-transposed and dense, not for norms",
        ),
    ] {
        desk.fails(&on_device(line), 2, &[why]);
    }
    desk.fails("paths g.mtx --sources 0", 2, &["--sources", "the first is 1"]);
    for (line, why) in [
        ("circle.mtx", "a cycle of negative length, -2, passes through vertex 2"),
        ("nan.mtx", "G has NaN at row 3, column 2, which is no length"),
        ("g.mtx --delta 3", "--predecessors, --levels, --schedule and --delta need an OpenCL device"),
    ] {
        desk.fails(&format!("paths {line} --sources 1 --device reference"), 2, &[why]);
    }
}

#[test]
fn products_and_vectors_over_semirings_are_verified() {
    let desk = desk();
    let ran = desk.ok(&on_device("multiply g.mtx --semiring min-plus --verify -o c.mtx"));
    assert!(ran.stdout.contains("over min-plus") && ran.stdout.contains("bit for bit"), "{}", ran.stdout);
    let paths: Csc<f64> = desk.read("c.mtx");
    assert_eq!(paths.values(), [3.0, 12.0, 5.0, 5.0, 13.0]);
    let ran = desk.ok(&on_device("multiply g.mtx --mask g.mtx --semiring min-plus --verify --report -"));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["semiring"], &report["verified"]["pattern_equal"]), (&"min-plus".into(), &true.into()));
    let ran = desk.ok(&on_device("apply g.mtx --semiring plus-pair --element u32 --verify -o y.mtx"));
    assert!(ran.stdout.contains("y = A·x over plus-pair in u32"), "{}", ran.stdout);
    let y: Csc<f64> = desk.read("y.mtx");
    assert_eq!(y.values().iter().sum::<f64>(), 5.0);
    desk.ok(&on_device("bench --operation apply uniform:50x3 --semiring max-plus --rounds 3 -q"));
}
