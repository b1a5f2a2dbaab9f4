//! Tests of `compare`: its exit status, and the differences that it prints.
use super::*;
use snapbox::{assert_data_eq, str};

const OTHER: &str =
    "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n2 2 -1.5\n1 3 0\n3 3 5.000000000000001\n";

/// Runs `compare`. The exit status of `compare` must be that of different matrices.
fn differs(desk: &Desk, line: &str) -> Ran {
    let ran = desk.run(&format!("compare {line}"));
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""), "{line}: {}", ran.stdout);
    ran
}

#[test]
fn a_person_sees_where() {
    let desk = Desk::with([("s.mtx", SQUARE), ("o.mtx", OTHER)]);
    assert_data_eq!(
        differs(&desk, "s.mtx o.mtx").stdout,
        str![[r#"
different: 4 of 5 entries
1 in A that B does not store
1 in B that A does not store
largest difference 3e0, largest relative difference 1e0

                   row  column    A  B  difference  relative
 first               3       1  3.0  -      3.00e0    1.00e0
 largest             3       1  3.0  -      3.00e0    1.00e0
 largest relative    3       1  3.0  -      3.00e0    1.00e0

"#]]
    );
    assert_eq!(desk.ok("compare s.mtx s.mtx").stdout, "equal: 4 entries\n");
    assert_eq!(differs(&desk, "s.mtx o.mtx -q").stdout, "");
}

#[test]
fn tolerances_decide() {
    let desk = Desk::new();
    let one = |value: &str| format!("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 {value}\n");
    desk.put("a.mtx", &one("1"));
    desk.put("b.mtx", &one("1.0000000000000002"));
    desk.put("c.mtx", &one("1.1"));
    differs(&desk, "a.mtx b.mtx");
    for line in ["a.mtx b.mtx --ulps 1", "a.mtx b.mtx --tolerance 1e-15", "a.mtx b.mtx --element f32"] {
        assert!(desk.ok(&format!("compare {line}")).stdout.starts_with("equal"), "{line}");
    }
    differs(&desk, "a.mtx b.mtx --ulps 0");
    differs(&desk, "a.mtx c.mtx --ulps 1 --tolerance 1e-3");
    desk.ok("compare a.mtx c.mtx --tolerance 0.1");
    desk.put("z.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 -0\n");
    desk.put("e.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 0\n");
    differs(&desk, "z.mtx e.mtx");
    desk.ok("compare z.mtx e.mtx --missing-as-zero");
    for wrong in ["--tolerance -1", "--tolerance nan", "--tolerance x", "--ulps -1"] {
        desk.fails(&format!("compare a.mtx b.mtx {wrong}"), 2, &["error:"]);
    }
}

#[test]
fn programs_get_an_object() {
    let desk = Desk::with([("s.mtx", SQUARE), ("o.mtx", OTHER)]);
    let found: Value = serde_json::from_str(&differs(&desk, "s.mtx o.mtx --json").stdout).unwrap();
    let counts = ["schema", "common", "only_a", "only_b", "different"].map(|key| found[key].as_u64().unwrap());
    assert_eq!((counts, &found["equal"]), ([1, 3, 1, 1, 4], &false.into()));
    assert_eq!(
        (&found["first"]["row"], &found["first"]["col"], &found["first"]["b"]),
        (&2.into(), &0.into(), &Value::Null)
    );
    let found: Value = serde_json::from_str(&desk.ok("compare s.mtx s.mtx --json").stdout).unwrap();
    assert_eq!((&found["equal"], &found["first"]), (&true.into(), &Value::Null));
}

#[test]
fn other_sizes_are_different_and_unreadable_files_are_status_2() {
    let desk = Desk::with([("s.mtx", SQUARE), ("w.mtx", WIDE)]);
    assert_eq!(differs(&desk, "s.mtx w.mtx").stdout, "different sizes: A is 3 x 3, B is 2 x 4\n");
    let found: Value = serde_json::from_str(&differs(&desk, "s.mtx w.mtx --json").stdout).unwrap();
    assert_eq!((&found["equal"], &found["b_size"]), (&false.into(), &serde_json::json!([2, 4])));
    assert!(found.get("different").is_none());
    desk.fails("compare s.mtx missing.mtx", 2, &["missing.mtx"]);
    desk.fails("compare s.mtx", 2, &["<B>"]);
    desk.fails("compare s.mtx s.mtx -q --json", 2, &["--json"]);
}
