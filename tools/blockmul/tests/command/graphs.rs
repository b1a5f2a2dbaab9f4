//! `blockmul components` and `blockmul triangles`.
use super::*;

/// Triangles 1 2 3 and 2 3 4, some of whose edges are in the file in both directions; a loop at 6;
/// an edge between 5 and 7; 8 has no edge. The values of the matrix do not matter.
const GRAPH: &str = "%%MatrixMarket matrix coordinate real general\n8 8 9\n2 1 1\n1 2 nan\n3 1 0\n3 2 -1\n4 2 1\n3 4 1\n4 3 1\n6 6 1\n7 5 1\n";
const LABELS: &str = "%%MatrixMarket matrix array integer general\n8 1\n1\n1\n1\n1\n5\n6\n5\n8\n";
const COUNTS: &str = "%%MatrixMarket matrix array integer general\n8 1\n1\n2\n2\n1\n0\n0\n0\n0\n";

fn devices() -> [String; 2] {
    [common::device().info().index.to_string(), "reference".into()]
}

#[test]
fn components_are_named_by_their_least_vertex() {
    let desk = Desk::with([("g.mtx", GRAPH)]);
    for device in devices() {
        let ran = desk.ok(&format!("components g.mtx --device {device} --verify -o l.mtx"));
        assert!(
            ran.stdout.contains("8 vertices, 9 entries; 4 components, 4 vertices in the largest, 2 of one vertex\n")
        );
        assert!(ran.stdout.ends_with("verified: equal to the reference\n"), "{}", ran.stdout);
        assert_eq!(std::fs::read_to_string(desk.path("l.mtx")).unwrap(), LABELS);
        let ran = desk.ok(&format!("components g.mtx --device {device} --report - --repeat 2 -o l.npy"));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&report["components"], &report["largest"], &report["isolated"]), (&4.into(), &4.into(), &2.into()));
        assert_eq!((report["runs_ms"].as_array().unwrap().len(), &report["verified"]), (2, &Value::Null));
    }
    desk.ok("compare l.npy l.mtx");
}

#[test]
fn triangles_are_counted_once_and_at_their_vertices() {
    let desk = Desk::with([("g.mtx", GRAPH)]);
    for device in devices() {
        let ran = desk.ok(&format!("triangles g.mtx --device {device} --verify -o c.mtx"));
        assert!(
            ran.stdout.contains("8 vertices, 9 entries; 2 triangles, at most 2 through a vertex\n"),
            "{}",
            ran.stdout
        );
        assert!(ran.stdout.ends_with("verified: equal to the reference\n"), "{}", ran.stdout);
        assert_eq!(std::fs::read_to_string(desk.path("c.mtx")).unwrap(), COUNTS);
        let ran = desk.ok(&format!("triangles g.mtx --device {device} --verify --report - -q"));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&report["triangles"], &report["most"]), (&2.into(), &2.into()));
        assert_eq!((&report["graph"]["nnz"], &report["verified"]), (&9.into(), &true.into()));
    }
    desk.ok("generate power-law --nodes 600 --edges 6000 -q -o r.mtx");
    for line in ["triangles r.mtx --verify", "triangles r.mtx --verify -o c.npy", "components r.mtx --verify"] {
        desk.ok(&format!("{line} --device {}", devices()[0]));
    }
}

/// In a first run, compiling the kernels takes a second. If the OpenCL runtime has cached the
/// kernels, loading them takes half of the run's time.
#[test]
fn the_time_of_a_first_run_is_that_of_the_graph() {
    let desk = Desk::with([("g.mtx", GRAPH)]);
    for word in ["triangles", "components"] {
        let mut command = desk.command(&format!("{word} g.mtx --device {} --report - -q", devices()[0]));
        command.env("BLOCKMUL_CACHE", desk.path(&format!("kernels-{word}")));
        let clock = std::time::Instant::now();
        let ran = ran(command);
        let all_ms = clock.elapsed().as_secs_f64() * 1e3;
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(report["total_ms"].as_f64().unwrap() < all_ms / 4.0, "{word}: {report}, {all_ms} ms in all");
    }
}

#[test]
fn what_is_no_graph_is_refused() {
    let desk = Desk::with([("wide.mtx", WIDE), ("g.mtx", GRAPH)]);
    for device in devices() {
        for command in ["components", "triangles"] {
            let line = format!("{command} wide.mtx --device {device}");
            desk.fails(&line, 2, &["wide.mtx: a graph is a square matrix of scalars, this one is 2x4"]);
        }
    }
    for (line, status, why) in [
        ("components none.mtx", 2, "none.mtx"),
        ("components g.mtx -o - --report -", 2, "only one of -o and --report can have stdout"),
        ("triangles g.mtx -o c.npz", 2, "c.npz: dense matrices are written to .mtx"),
        ("triangles g.mtx -o g.mtx", 2, "--overwrite"),
        ("components g.mtx --device nonesuch", 3, "nonesuch"),
    ] {
        desk.fails(line, status, &[why]);
    }
    desk.put("one.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n");
    desk.put("three.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 1\n3 2\n");
    let said = desk.ok("components one.mtx --device reference").stdout;
    assert!(said.contains("  1 vertex, 1 entry; 1 component\n"), "{said}");
    let said = desk.ok("triangles three.mtx --device reference").stdout;
    assert!(said.contains("; 1 triangle, at most 1 through a vertex\n"), "{said}");
    let said = desk.ok("paths one.mtx --sources 1 --device reference").stdout;
    assert!(said.contains("  1 vertex, 1 edge; 1 reached"), "{said}");
    desk.put("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    for device in devices() {
        assert!(desk.ok(&format!("components empty.mtx --device {device}")).stdout.contains("0 components"));
        assert!(desk.ok(&format!("triangles empty.mtx --device {device}")).stdout.contains("0 triangles"));
    }
}
