//! Tests of `convert`, `transpose` and `add`, which make matrices from matrices.
use super::*;
use blockmul::matrix;

#[test]
fn converting_keeps_the_matrix() {
    let desk = Desk::new();
    desk.ok("generate power-law --nodes 60 --edges 300 -o p.mtx");
    let said = desk.ok("convert p.mtx -o p.mtx.gz");
    assert!(said.stdout.is_empty() && said.stderr.starts_with("p.mtx.gz: 60 x 60, "), "{}", said.stderr);
    assert!(std::fs::read(desk.path("p.mtx.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    assert_eq!(desk.read::<f64>("p.mtx.gz"), desk.read("p.mtx"));
    let copy = desk.ok("convert p.mtx.gz -o - -q");
    assert_eq!((copy.stdout, copy.stderr), (std::fs::read_to_string(desk.path("p.mtx")).unwrap(), String::new()));
}

#[test]
fn converting_cuts_drops_sums_and_rounds_as_asked() {
    let desk = Desk::new();
    desk.put("z.mtx", "%%MatrixMarket matrix coordinate real general\n2 4 3\n1 1 0\n2 1 0.1\n1 4 -0\n");
    let text = |line: &str| desk.ok(&format!("convert z.mtx -o - -q {line}")).stdout;
    let body = |text: String| {
        text.lines().filter(|line| !line.starts_with('%')).fold(String::new(), |all, line| all + line + ";")
    };
    assert_eq!(body(text("--drop-zeros")), "2 4 1;2 1 0.1;");
    assert_eq!(body(text("--block 2")), "2 4 8;1 1 0;2 1 0.1;1 2 0;2 2 0;1 3 0;2 3 0;1 4 -0;2 4 0;");
    assert_eq!(body(text("--block 2 --drop-zeros")), "2 4 4;1 1 0;2 1 0.1;1 2 0;2 2 0;");
    // 0.1 in half precision is 0.0999755859375, which is written as 0.1.
    assert_eq!(body(text("--drop-zeros --element f16")), "2 4 1;2 1 0.1;");
    assert_eq!(desk.read::<f64>("z.mtx").values()[1], 0.1);
    desk.put("t.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e-30\n1 1 1e30\n");
    desk.fails("convert t.mtx -o c.mtx", 2, &["t.mtx:4: "]);
    assert_eq!(body(desk.ok("convert t.mtx -o - -q --sum-duplicates").stdout), "2 2 1;1 1 1e+30;");
    let warned = desk.ok("convert t.mtx -o - --sum-duplicates --element f16").stderr;
    assert!(warned.contains("warning: 1 of 1 values of t.mtx are too large for f16"), "{warned}");
    // A value that becomes zero by rounding is dropped.
    desk.put("s.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e-30\n");
    assert_eq!(body(desk.ok("convert s.mtx -o - -q --element f16 --drop-zeros").stdout), "1 1 0;");
    desk.fails("convert z.mtx -o c.mtx --block 3", 2, &["cannot be cut", "fits: 2", "hint: ", "info"]);
    desk.fails("convert z.mtx -o nowhere/c.mtx", 2, &["the folder nowhere of the output nowhere/c.mtx does not exist"]);
    desk.fails("convert z.mtx", 2, &["--output"]);
}

#[test]
fn layouts_stand_beside_their_matrices() {
    let desk = Desk::new();
    desk.ok("generate pose-graph --poses 4 --closures 1 --side 3 -o h.mtx -q");
    desk.ok("convert h.mtx -o s.mtx.gz --bla");
    let layout = std::fs::read_to_string(desk.path("s.bla")).unwrap();
    assert!(layout.starts_with("12 x 12 (") && layout.ends_with("\n0 3 6 9 12\n0 3 6 9 12\n"), "{layout}");
    // The note in the Matrix Market file gives the blocks. If there is no note, the layout file
    // gives the blocks.
    desk.ok("convert s.mtx.gz -o n.mtx --block 1");
    std::fs::copy(desk.path("s.bla"), desk.path("n.bla")).unwrap();
    assert_eq!(desk.ok("convert n.mtx -o - -q").stdout, std::fs::read_to_string(desk.path("h.mtx")).unwrap());
    // The layout of blocks of several shapes is copied.
    desk.put("n.bla", "12 x 12 (0)\n3 x 2 (0)\n0 2 4 12\n0 6 12\n");
    assert!(desk.ok("convert n.mtx -o t.mtx").stderr.contains("warning: its blocks have several shapes"));
    assert_eq!(desk.ok("convert n.mtx -o t.mtx --bla").stderr.lines().count(), 1);
    let layout = std::fs::read_to_string(desk.path("t.bla")).unwrap();
    assert!(layout.ends_with("\n0 2 4 12\n0 6 12\n"), "{layout}");
    desk.put("w.mtx", WIDE);
    desk.fails("convert w.mtx -o v.mtx --bla", 2, &["--block"]);
    desk.fails("convert h.mtx -o - --bla", 2, &["--bla"]);
    assert!(!desk.path("v.mtx").exists());
}

#[test]
fn names_give_the_format() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 6 --cols 4 --per-column 2 --block 2x3 -o u.mtx -q");
    for name in ["u.npz", "u.mtx.gz"] {
        desk.ok(&format!("convert u.mtx -o {name}"));
        desk.ok(&format!("convert {name} -o back.mtx"));
        assert_eq!(std::fs::read(desk.path("back.mtx")).unwrap(), std::fs::read(desk.path("u.mtx")).unwrap(), "{name}");
    }
    desk.put("g.txt", "# Nodes: 3 Edges: 2\n0\t2\n1\t0\n");
    desk.ok("multiply g.txt --device reference -o c.el -q");
    let square = std::fs::read_to_string(desk.path("c.el")).unwrap();
    assert!(square.lines().any(|line| line == "1\t2\t1" || line == "1\t2"), "{square}");
}

#[test]
fn the_transpose_of_the_transpose_is_the_matrix() {
    let desk = Desk::with([("w.mtx", WIDE)]);
    desk.ok("transpose w.mtx -o t.mtx");
    assert_eq!(desk.read::<f64>("t.mtx"), desk.read::<f64>("w.mtx").transpose());
    desk.ok("transpose t.mtx -o back.mtx");
    desk.ok("compare w.mtx back.mtx");
}

#[test]
fn sums_are_the_librarys() {
    let desk = Desk::with([("s.mtx", SQUARE), ("p.mtx", SYMMETRIC), ("w.mtx", WIDE)]);
    let (s, p) = (desk.read::<f64>("s.mtx"), desk.read("p.mtx"));
    desk.ok("add s.mtx p.mtx -o c.mtx");
    assert_eq!(desk.read::<f64>("c.mtx"), matrix::add(1.0, &s, 1.0, &p).unwrap());
    desk.ok("add s.mtx p.mtx --alpha 0.5 --beta -2e-1 -o c.mtx");
    assert_eq!(desk.read::<f64>("c.mtx"), matrix::add(0.5, &s, -0.2, &p).unwrap());
    let zeros = desk.ok("add s.mtx s.mtx --beta -1 -o -").stdout;
    assert!(zeros.contains("3 3 4\n1 1 0\n3 1 0\n"), "structural zeros stay: {zeros}");
    desk.fails("add s.mtx w.mtx -o d.mtx", 2, &["A is 3x3", "B is 2x4"]);
    desk.fails("add s.mtx p.mtx --alpha x -o d.mtx", 2, &["--alpha"]);
    assert_eq!(desk.files(), ["c.mtx", "p.mtx", "s.mtx", "w.mtx"]);
}

/// On Unix, file names are bytes, which need not be valid text. Reports replace bytes that are not
/// valid text.
#[test]
#[cfg(unix)]
fn names_that_are_not_text_are_read_written_and_reported() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let desk = Desk::new();
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes).to_owned();
    let (matrix, product, graph) = (name(b"n\xff.mtx"), name(b"o\xff.mtx"), name(b"g\xff.g2o"));
    std::fs::write(desk.0.path().join(&matrix), SQUARE).unwrap();
    let run = |words: &[&OsStr], line: &str| {
        let mut command = desk.command(line);
        command.args(words);
        let ran = ran(command);
        assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
        ran.stdout
    };
    let report = run(&[&matrix, OsStr::new("-o"), &product], "multiply --device reference --quiet --report -");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["command"].as_str().unwrap().contains("n\u{fffd}.mtx"), "{report}");
    assert!(desk.0.path().join(&product).exists());
    run(&[OsStr::new("-o"), &graph], "generate g2o --poses 20 --closures 5 --quiet");
    let solved: Value = serde_json::from_str(&run(&[&graph], "solve --quiet --json -")).unwrap();
    assert!(solved["command"].as_str().unwrap().contains("g\u{fffd}.g2o"), "{solved}");
    run(&[OsStr::new("--json"), &name(b"b\xff.json")], "bench uniform:20x2 --rounds 1 --quiet");
}
