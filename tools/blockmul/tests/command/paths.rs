//! `blockmul paths`, and `--semiring` of other commands.
use super::*;

/// The graph has edges from 1 to 2, 2 to 3 and 3 to 4 of lengths 1, 2 and 3, from 1 to 3 of length
/// 9, and from 5 to 1.
const GRAPH: &str = "%%MatrixMarket matrix coordinate real general\n5 5 5\n2 1 1\n3 2 2\n4 3 3\n3 1 9\n1 5 4\n";

fn desk() -> Desk {
    Desk::with([("g.mtx", GRAPH)])
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
        ("--sources 1 --levels --schedule sweeps", "0\n1\n1\n2\n4294967295\n"),
        ("--sources 4 --transpose --element u32 --schedule near-far --delta 2", "6\n5\n3\n0\n10\n"),
    ] {
        desk.ok(&on_device(&format!("paths g.mtx {line} -o x.mtx -q")));
        assert_eq!(text("x.mtx"), format!("%%MatrixMarket matrix array integer general\n5 1\n{want}"), "{line}");
    }
    let by_reference = desk.ok("paths g.mtx --sources 1 --device reference -o - -q").stdout;
    assert_eq!(by_reference, text("d.mtx"));
    let report = desk.ok(&on_device("paths g.mtx --sources 1 --report - --schedule sweeps")).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["schedule"], &report["reached"]), (&"sweeps".into(), &4.into()));
    let named = desk.ok(&on_device("paths g.mtx --sources 1 --report - -q --schedule bellman-ford")).stdout;
    let named: serde_json::Value = serde_json::from_str(&named).unwrap();
    assert_eq!(named["schedule"], "sweeps");
    assert_eq!((&report["farthest"], &report["sources"]), (&6.0.into(), &vec![1].into()));
    assert!(report.get("runs_ms").is_none(), "{report}");
    for device in [common::device().info().index.to_string(), "reference".into()] {
        let line = format!("paths g.mtx --sources 1 --device {device} --repeat 3 --report - -o d.mtx --overwrite");
        let report: serde_json::Value = serde_json::from_str(&desk.ok(&line).stdout).unwrap();
        let runs = report["runs_ms"].as_array().unwrap();
        assert!(runs.len() == 3 && runs.contains(&report["total_ms"]), "{report}");
        assert!(text("d.mtx").ends_with("0.0\n1.0\n3.0\n6.0\ninf\n"));
    }
}

/// In files that are not edge lists an edge leads from the column's vertex to the row's.
#[test]
fn lines_of_an_edge_list_are_followed_from_first_to_second() {
    let desk = Desk::new();
    desk.put("e.txt", "0 1 5\n1 2 7\n");
    desk.put("e.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 5\n3 2 7\n");
    desk.put("nan.txt", "0 1 nan\n");
    for (options, distances, before) in [
        ("--sources 1", "0.0\n5.0\n12.0\n", "0\n1\n2\n"),
        ("--sources 3 --transpose", "12.0\n7.0\n0.0\n", "2\n3\n0\n"),
        ("--sources 2", "inf\n0.0\n7.0\n", "0\n0\n2\n"),
    ] {
        for graph in ["e.txt", "e.mtx"] {
            let line = format!("paths {graph} {options} --verify -q --overwrite -o d.mtx --predecessors p.mtx");
            desk.ok(&on_device(&line));
            let text = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
            assert!(text("d.mtx").ends_with(&format!("\n3 1\n{distances}")), "{graph} {options}: {}", text("d.mtx"));
            assert!(text("p.mtx").ends_with(&format!("\n3 1\n{before}")), "{graph} {options}: {}", text("p.mtx"));
        }
    }
    desk.ok(&on_device("paths e.txt --sources 1 --levels -o l.mtx"));
    assert!(std::fs::read_to_string(desk.path("l.mtx")).unwrap().ends_with("\n3 1\n0\n1\n2\n"));
    desk.fails(
        &on_device("paths nan.txt --sources 1"),
        2,
        &["nan.txt: G has NaN at row 1, column 2, which is no length"],
    );
}

/// The device and the reference write the same bytes.
#[test]
fn paths_from_each_source_are_columns() {
    let desk = desk();
    let text = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
    for device in [common::device().info().index.to_string(), "reference".into()] {
        let line =
            format!("paths g.mtx --sources 1,5,1 --each --verify --device {device} -o d.mtx --predecessors p.mtx");
        let ran = desk.ok(&line);
        assert!(ran.stdout.starts_with("distances from each of 3 sources in f64 by "), "{}", ran.stdout);
        assert!(ran.stdout.contains("5 vertices, 5 edges; 13 reached, the farthest at 10"), "{}", ran.stdout);
        let (of_1, of_5) = ("0.0\n1.0\n3.0\n6.0\ninf\n", "4.0\n5.0\n7.0\n10.0\n0.0\n");
        assert_eq!(text("d.mtx"), format!("%%MatrixMarket matrix array real general\n5 3\n{of_1}{of_5}{of_1}"));
        let (of_1, of_5) = ("0\n1\n2\n3\n0\n", "5\n1\n2\n3\n0\n");
        assert_eq!(text("p.mtx"), format!("%%MatrixMarket matrix array integer general\n5 3\n{of_1}{of_5}{of_1}"));
        desk.ok(&format!("paths g.mtx --sources 1,5,1 --each --device {device} -o d.npy -q"));
        desk.ok("compare d.mtx d.npy");
        let report = desk.ok(&format!("paths g.mtx --sources 4 --each --levels --verify --device {device} --report -"));
        let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
        assert_eq!((&report["each"], &report["verified"], &report["reached"]), (&true.into(), &true.into(), &1.into()));
    }
}

#[test]
fn levels_and_predecessors_are_those_of_the_reference() {
    let desk = desk();
    desk.ok("generate power-law --nodes 500 --edges 3000 --integer -q -o r.mtx");
    // The next graph has edges of length 0 in both directions.
    desk.put("zero.mtx", "%%MatrixMarket matrix coordinate real symmetric\n5 5 4\n2 1 1\n3 2 0\n4 3 0\n5 4 0\n");
    for (options, name) in [
        ("r.mtx --sources 3,7 --levels", "levels"),
        ("r.mtx --sources 3 --levels --each --transpose --schedule sweeps", "levels"),
        ("zero.mtx --sources 1,4 --each", "distances"),
        ("zero.mtx --sources 5 --element u32 --schedule sweeps", "distances"),
    ] {
        let ran = desk.ok(&on_device(&format!("paths {options} --verify --predecessors p.mtx -o d.mtx")));
        assert!(ran.stdout.starts_with(name) && ran.stdout.contains("verified: equal"), "{}", ran.stdout);
        let options = options.replace("--schedule sweeps", "");
        desk.ok(&format!("paths {options} --device reference --predecessors q.mtx -o e.mtx -q"));
        for (of_device, of_reference) in [("p.mtx", "q.mtx"), ("d.mtx", "e.mtx")] {
            let bytes = |name: &str| std::fs::read(desk.path(name)).unwrap();
            assert!(bytes(of_device) == bytes(of_reference), "{options} {of_device}");
        }
    }
}

#[test]
fn distances_beyond_the_element_are_warned_of() {
    let desk = Desk::new();
    desk.put(
        "far.mtx",
        "%%MatrixMarket matrix coordinate integer general\n4 4 3\n2 1 2000000000\n3 2 2000000000\n4 3 1\n",
    );
    let warning = "distances too large for i32: 2; these vertices count as out of reach; --element f64 has them";
    for device in [common::device().info().index.to_string(), "reference".into()] {
        let line = format!("paths far.mtx --sources 1 --device {device} -q -o d.mtx");
        let ran = desk.ok(&format!("{line} --element i32"));
        assert!(ran.stderr.contains(warning), "{}", ran.stderr);
        for element in ["u32", "f64", "f32"] {
            assert_eq!(desk.ok(&format!("{line} --element {element}")).stderr, "", "{element}");
        }
    }
    desk.put("low.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 2\n2 1 -2000000000\n3 2 -2000000000\n");
    let ran = desk.ok(&on_device("paths low.mtx --sources 1 --element i32"));
    let warning = "distances too small for i32: 1; they are -2147483648; --element f64 has them";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
}

/// The command also warns of floating-point lengths that become infinite.
#[test]
fn lengths_that_are_infinite_as_integers_are_warned_of() {
    let desk = Desk::new();
    desk.put(
        "long.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 4 3\n2 1 4294967295\n3 2 2147483647\n4 3 inf\n",
    );
    desk.put("far.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n3 2 2147483647\n");
    let line = |graph: &str, element: &str| on_device(&format!("paths {graph} --sources 1 --element {element} -q"));
    for (graph, element, warning) in [
        ("long.mtx", "u32", "1 of 3 values of G are too large for u32: they are infinite"),
        ("far.mtx", "i32", "1 of 1 values of G are too large for i32: they are infinite"),
    ] {
        let said = desk.ok(&line(graph, element)).stderr;
        assert!(said.contains(warning), "{said}");
    }
    assert_eq!(desk.ok(&line("long.mtx", "f64")).stderr, "");
    assert_eq!(desk.ok(&line("far.mtx", "u32")).stderr, "");
}

#[test]
fn what_has_no_paths_is_refused() {
    let desk = desk();
    desk.put("circle.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n2 1 1\n3 2 -3\n2 3 1\n");
    desk.put("nan.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 1\n3 2 nan\n");
    desk.put("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    desk.put("wide.mtx", WIDE);
    desk.put("half.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.5\n");
    for (line, why) in [
        ("paths g.mtx --sources 6", "source 6 is outside g.mtx, whose vertices are 1 to 5"),
        ("paths circle.mtx --sources 1", "circle.mtx: a cycle of negative length, -2, passes through vertex 2"),
        ("paths g.mtx --sources 1 --schedule sweeps --delta 3", "sweeps does not use a delta"),
        ("paths nan.mtx --sources 1", "nan.mtx: G has NaN at row 3, column 2, which is no length"),
        ("paths nan.mtx --sources 1 --transpose", "nan.mtx: G has NaN at row 3, column 2, which is no length"),
        ("paths empty.mtx --sources 1", "empty.mtx has no vertices"),
        (
            "paths circle.mtx --sources 1 --schedule near-far",
            "near-far does not support negative lengths, and the least is -3",
        ),
        (
            "paths circle.mtx --sources 1 --element u32",
            "circle.mtx: G has -3 at row 3, column 2, which is not of type u32",
        ),
        ("paths wide.mtx --sources 1", "wide.mtx: a graph is a square matrix of scalars, this one is 2x4"),
        ("apply g.mtx --element u8", "elements of u8 support or-and only, not plus-times"),
        ("multiply g.mtx --element u8", "elements of u8 support or-and only, not plus-times"),
        ("multiply half.mtx --element i32", "half.mtx: A has 0.5 at row 1, column 1, which is not of type i32"),
        ("multiply g.mtx --semiring min-plus --block 5", "--semiring min-plus multiplies scalars"),
        (
            "bench --operation paths --semiring min-plus",
            "--semiring is for product, plan, apply, apply-transposed, apply-gram and dense, not for paths",
        ),
    ] {
        desk.fails(&on_device(line), 2, &[why]);
    }
    desk.fails("paths g.mtx --sources 0", 2, &["--sources", "the first is 1"]);
    desk.fails("paths g.mtx --sources 1 --delta 0", 2, &["--delta", "a finite number above 0"]);
    for (options, why) in [
        ("--levels --delta 2", "'--levels' cannot be used with '--delta"),
        ("--levels --element u32", "'--levels' cannot be used with '--element"),
        ("-o - --predecessors -", "only one of -o and --predecessors can have stdout"),
        ("-o d.mtx --predecessors d.mtx", "two results cannot both go to d.mtx"),
    ] {
        desk.fails(&format!("paths g.mtx --sources 1 {options}"), 2, &[why]);
    }
    for (line, why) in [
        ("circle.mtx", "circle.mtx: a cycle of negative length, -2, passes through vertex 2"),
        ("nan.mtx", "nan.mtx: G has NaN at row 3, column 2, which is no length"),
        ("g.mtx --delta 3", "--schedule and --delta need an OpenCL device"),
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
    let whole = "multiply g.mtx --verify --overwrite -o c.mtx --device";
    for device in [common::device().info().index.to_string(), "reference".into()] {
        for line in ["--element u32 --semiring min-plus", "--element i32 --semiring min-plus --mask g.mtx"] {
            desk.ok(&format!("{whole} {device} {line}"));
            let lengths: Csc<f64> = desk.read("c.mtx");
            // Only one place of the mask, from 1 to 3, is reached by two edges.
            let want = if line.contains("mask") { vec![i32::MAX as f64, 3.0, i32::MAX as f64] } else { vec![3.0] };
            assert_eq!(lengths.values()[..want.len()], want, "{line}");
        }
        desk.ok(&format!("{whole} {device} --element i32 --mask g.mtx"));
        desk.ok(&format!("{whole} {device} --element u8 --semiring or-and"));
        assert!(desk.read::<f64>("c.mtx").values().iter().all(|&value| value == 1.0));
        let of_floats = "entries are dropped by their magnitude: of floats";
        desk.fails(&format!("{whole} {device} --element i32 --drop 1"), 2, &[of_floats]);
    }
    let ran = desk.ok(&on_device("apply g.mtx --semiring plus-pair --element u32 --verify -o y.mtx"));
    assert!(ran.stdout.contains("y = A·x over plus-pair in u32"), "{}", ran.stdout);
    let y: Csc<f64> = desk.read("y.mtx");
    assert_eq!(y.values().iter().sum::<f64>(), 5.0);
    let line = "bench --operation apply,product,plan uniform:50x3 --semiring max-plus --rounds 3 -q --json -";
    let timed: serde_json::Value = serde_json::from_str(&desk.ok(&on_device(line)).stdout).unwrap();
    let timed = timed["results"].as_array().unwrap();
    let variants: Vec<_> = timed.iter().map(|of| of["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["apply over max-plus", "auto over max-plus", "plan over max-plus"]);
    assert!(timed.iter().all(|of| of["verified"] == true), "{timed:?}");
}
