//! Tests of `info`: the facts about a matrix and its product.
use super::*;
use snapbox::{assert_data_eq, str};

/// Returns the objects of `info --json`, one for each file.
fn reported(desk: &Desk, line: &str) -> Vec<Value> {
    let stdout = desk.ok(&format!("info --json {line}")).stdout;
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_text_shows_everything() {
    let desk = Desk::with([("w.mtx", WIDE)]);
    // The lines of devices differ from machine to machine and are left out.
    let text = desk.ok("info w.mtx").stdout;
    let (text, devices) = text.split_once("  A·Aᵀ on the devices here:\n").unwrap();
    assert!(devices.contains(&common::device().info().name) && devices.contains("takes at most"), "{devices}");
    assert!(devices.contains("bands at most"), "{devices}");
    assert_data_eq!(
        text,
        str![[r#"
w.mtx
  file        matrix-market, real general, 3 entries written
  matrix      2 x 4, 3 entries, 37.5 % of all places
  values      no stored zeros
  symmetry    none, not square
  columns     0 to 1 entries, 1 of 4 empty
     0  1  ██████████████
     1  3  ████████████████████████████████████████
  blocks      best: scalars, no block that divides the matrix takes less memory
     block  blocks     full  memory
      *1x1       3  100.0 %    36 B
       2x2       2   37.5 %    72 B
  A·Aᵀ        3 products, 2 in the longest column
              C has 2 entries, 1.50 products for each
              up to 2 products sum to one of them

"#]]
    );
}

#[test]
fn blocks_symmetry_and_zeros_are_found() {
    let desk = Desk::new();
    desk.ok("generate pose-graph --poses 40 --closures 30 -o h.mtx");
    let info = &reported(&desk, "h.mtx")[0];
    assert_eq!((&info["schema"], &info["file"], &info["rows"]), (&1.into(), &"h.mtx".into(), &240.into()));
    assert_eq!(info["blocks"]["best"], serde_json::json!([6, 6]));
    let six = info["blocks"]["fits"].as_array().unwrap().iter().find(|fit| fit["rows"] == 6 && fit["cols"] == 6);
    assert_eq!(six.unwrap()["fill"], 1.0);
    assert_eq!(info["symmetry"], serde_json::json!({"pattern": true, "symmetric": true, "skew_symmetric": false}));
    assert_eq!(info["declared_symmetry"], "general");
    assert_eq!(desk.ok("info h.mtx").stdout.lines().filter(|line| line.contains("*6x6")).count(), 1);

    desk.put("z.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 0\n2 1 nan\n1 2 -0\n");
    let info = &reported(&desk, "z.mtx")[0];
    assert_eq!((&info["explicit_zeros"], &info["not_finite"], &info["stored"]), (&2.into(), &1.into(), &3.into()));
    desk.put("p.mtx", SYMMETRIC);
    let info = &reported(&desk, "p.mtx")[0];
    assert_eq!(info["layout"], Value::Null);
    assert_eq!(
        (&info["declared_symmetry"], &info["stored"], &info["nnz"]),
        (&"symmetric".into(), &3.into(), &5.into())
    );
    assert_eq!(info["columns"], serde_json::json!({"empty": 0, "shortest": 1, "longest": 2, "histogram": [1, 2]}));
}

#[test]
fn the_product_is_the_one_that_multiply_reports() {
    let desk = Desk::new();
    desk.ok("generate power-law --nodes 500 --edges 4000 --integer -o p.mtx");
    desk.ok("generate bundle-adjustment --cameras 9 --points 60 --views 3 -o w.mtx");
    for (file, block) in [("p.mtx", ""), ("w.mtx", ""), ("w.mtx", "--block 6x3")] {
        let report = desk.report(&format!("{file} {block}"));
        let info = &reported(&desk, &format!("{file} {block}"))[0];
        let product = &info["product"];
        assert_eq!(product["products"], report["products"], "{file} {block}");
        assert_eq!((&product["nnz"]["least"], &product["nnz"]["most"]), (&report["c"]["nnz"], &report["c"]["nnz"]));
        assert_eq!(product["compression"]["least"], report["expansion_factor"]);
        assert_eq!((&product["a_block"], &product["b_block"]), (&report["a"]["block"], &report["b"]["block"]));
        let device = &info["devices"][common::device().info().index];
        assert!(device["peak_device_bytes"].as_u64().unwrap() >= report["peak_device_bytes"].as_u64().unwrap());
        assert_eq!((&device["bands"], &device["refused"]), (&1.into(), &Value::Null));
    }
    desk.fails("info w.mtx --block 5", 2, &["54 rows", "fits: 2, 3, 6, 9, 18, 27", "hint:"]);
}

/// With every method, and in bands, `multiply` takes at most the memory that `info` predicts. In
/// one band the bound is at most 1.5 times the memory that is used, or 4 times if ESC computes some
/// columns.
#[test]
fn multiply_keeps_to_the_bounds_of_every_method() {
    let (desk, number) = (Desk::new(), common::device().info().index);
    desk.ok("generate power-law --nodes 700 --edges 9000 --integer -o p.mtx");
    for method in Method::ALL.iter().chain([&Method::Auto]).filter(|method| !method.needs_mask()) {
        for (limit, most_bands) in [("", 1), ("--memory-limit 2MiB", 40)] {
            let line = format!("p.mtx --method {method} {limit}");
            let (report, info) = (desk.report(&line), &reported(&desk, &line)[0]);
            let needs = &info["devices"][number];
            let of = |of: &Value, name: &str| of[name].as_u64().unwrap();
            let is_esc = |bin: &Value| ["esc", "esc-local"].contains(&bin["method"].as_str().unwrap());
            let halves = if report["bins"].as_array().unwrap().iter().any(is_esc) { 8 } else { 3 };
            let (most, used) = (of(needs, "peak_device_bytes"), of(&report, "peak_device_bytes"));
            let is_near = if limit.is_empty() { 2 * most <= halves * used } else { most <= 2 << 20 };
            assert!(used <= most && is_near, "{line}: {used} of {most} bytes");
            let (most, bands) = (of(needs, "bands"), of(&report, "bands"));
            assert!(bands <= most && most <= most_bands, "{line}: {bands} of {most} bands");
        }
    }
    // With the same bands of columns.
    let line = "p.mtx --band-columns 100";
    let (report, info) = (desk.report(line), &reported(&desk, line)[0]);
    assert_eq!((&report["bands"], &info["devices"][number]["bands"]), (&7.into(), &7.into()));
    desk.fails("info p.mtx --band-columns 0", 2, &["--band-columns"]);
    desk.fails("info p.mtx --method none", 2, &["none", "hash"]);
}

#[test]
fn a_product_with_a_dense_matrix_is_explained() {
    let (desk, number) = (Desk::new(), common::device().info().index);
    // The matrix has four equal rows, so a group of them would use each row of D four times.
    desk.put("r.mtx", "%%MatrixMarket matrix coordinate real general\n4 2 8\n1 1 1\n2 1 1\n3 1 1\n4 1 1\n1 2 1\n2 2 1\n3 2 1\n4 2 1\n");
    let dense = &reported(&desk, "r.mtx --dense 3")[0]["devices"][number]["dense"];
    assert_eq!((&dense["columns"], &dense["refused"]), (&3.into(), &Value::Null));
    let plan = &dense["plan"];
    let of = |name: &str| plan[name].as_u64().unwrap();
    assert_eq!((&plan["sharing"], of("d_bytes"), of("c_bytes")), (&"rows".into(), 2 * 3 * 8, 4 * 3 * 8));
    assert_eq!(of("device_bytes"), of("a_bytes") + of("plan_bytes") + of("d_bytes") + of("c_bytes"));
    assert!(plan["why"].as_str().unwrap().ends_with("groups of 4 rows would use a row of D 4.00 times"), "{plan}");
    let text = desk.ok("info r.mtx --dense 3 --memory-limit 1KiB").stdout;
    assert!(text.contains("A·D with 3 columns") && text.contains("some columns at a time"), "{text}");
    assert!(!desk.ok("info r.mtx").stdout.contains("A·D"), "it is not asked for");
    desk.fails("info r.mtx --dense 0", 2, &["--dense"]);
}

#[test]
fn one_file_that_fails_does_not_hold_up_the_others() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n");
    let ran = desk.run("info --json bad.mtx s.mtx missing.mtx s.mtx");
    assert_eq!((ran.status, ran.stdout.lines().count()), (2, 2), "{}", ran.stderr);
    assert!(ran.stderr.contains("bad.mtx:4: ") && ran.stderr.contains("missing.mtx: "), "{}", ran.stderr);
    assert!(desk.ok("info s.mtx s.mtx").stdout.contains("\n\ns.mtx\n"), "an empty line between files");
}

#[test]
fn stdin_is_a_file_too() {
    let desk = Desk::new();
    let mut command = desk.command("info - --json");
    let ran = ran({
        command.write_stdin(SQUARE);
        command
    });
    let info: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&info["file"], &info["nnz"]), (&"-".into(), &4.into()));
    let mut command = desk.command("info -");
    let ran = super::ran({
        command.write_stdin("%%MatrixMarket\n");
        command
    });
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("stdin:1: "), "{}", ran.stderr);
}

#[test]
fn empty_matrices_have_everything_but_entries() {
    let desk = Desk::with([("e.mtx", EMPTY), ("n.mtx", "%%MatrixMarket matrix coordinate real general\n0 3 0\n")]);
    for info in reported(&desk, "e.mtx n.mtx") {
        assert_eq!((&info["nnz"], &info["product"]["products"]), (&0.into(), &0.into()));
        assert_eq!(info["product"]["compression"], Value::Null);
        assert_eq!(info["blocks"]["best"], serde_json::json!([1, 1]));
    }
    let text = desk.ok("info e.mtx n.mtx").stdout;
    assert!(text.contains("4 of 4 empty") && text.contains("0 x 3, 0 entries\n"), "{text}");
}

/// The numbers of products are equal to those that the collections list, and no file takes long.
#[test]
fn real_matrices_are_described_at_once() {
    let Some(folder) = common::data("matrix") else { return };
    let desk = Desk::new();
    for (name, products) in [("email-Enron.mtx.gz", 51_501_448u64), ("arrow.mtx.gz", 2_162_435_996)] {
        let path = folder.join(name);
        let mut command = desk.command("info --json");
        let ran = ran({
            command.arg(&path).timeout(std::time::Duration::from_secs(60));
            command
        });
        let info: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(info["product"]["products"], products);
        assert_eq!(info["product"]["nnz"]["least"], info["product"]["nnz"]["most"], "{name}");
    }
}
