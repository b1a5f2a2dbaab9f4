//! Tests of `multiply --drop`.
use super::*;

#[test]
fn small_entries_of_the_product_are_left_out() {
    let desk = Desk::new();
    desk.ok("generate pose-graph --poses 40 --closures 30 --seed 3 -o h.mtx");
    let h = desk.read::<f64>("h.mtx");
    let scalars = reference::multiply(&h, &h).unwrap();
    let blocked = h.to_blocks(BlockShape::new(3, 3).unwrap()).unwrap();
    let blocks = reference::multiply(&blocked, &blocked).unwrap();
    let device = common::device().info().index;
    for (options, threshold) in [
        ("--drop 0.5", Threshold::absolute(0.5)),
        ("--drop 1e-2 --drop-relative", Threshold::relative(1e-2)),
        ("--drop 1e3 --keep-diagonal", Threshold::absolute(1e3).keep_diagonal()),
        ("--drop 0", Threshold::absolute(0.0)),
    ] {
        for (shape, whole, want) in [
            ("--block 1", scalars.nnz(), matrix::drop_below(&scalars, threshold).unwrap()),
            ("--block 3", blocks.nnz(), matrix::drop_below(&blocks, threshold).unwrap().to_scalars()),
        ] {
            let area = if shape == "--block 1" { 1 } else { 9 };
            for target in [device.to_string().as_str(), "reference"] {
                let line =
                    format!("multiply h.mtx {shape} {options} --device {target} --verify --report r.json -o c.mtx");
                let said = desk.ok(&line).stdout;
                assert!(desk.read::<f64>("c.mtx") == want, "{line}");
                let text = std::fs::read_to_string(desk.path("r.json")).unwrap();
                let report: Value = serde_json::from_str(&text).unwrap();
                let dropped = whole - want.nnz() / area;
                assert_eq!(report["dropped"], dropped, "{line}");
                assert_eq!(report["c"]["nnz"], want.nnz() / area, "{line}");
                assert_eq!(report["verified"]["max_abs_error"], 0.0, "{line}");
                assert_eq!(dropped == 0, options.ends_with(" 0"), "{line}: the test must drop some");
                assert!(said.contains(&format!("{dropped} dropped")), "{said}");
            }
        }
    }
    // Without an output the product stays on the device.
    let stages = &desk.report("h.mtx --block 1 --drop 0.5 --repeat 2 --verify")["stages"];
    assert_eq!(stages.as_array().unwrap().last().unwrap()["name"], "drop");
    let explained = desk.multiply("h.mtx --block 1 --drop 0.5 --explain").stderr;
    assert!(explained.contains(&format!("of {} entries are below the tolerance", scalars.nnz())), "{explained}");
}

#[test]
fn tolerances_that_are_none_are_refused() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    for wrong in ["-1", "NaN", "inf", "small"] {
        desk.fails(&format!("multiply s.mtx --drop={wrong}"), 2, &["--drop", wrong, "a finite number from 0"]);
    }
    desk.fails("multiply s.mtx --keep-diagonal", 2, &["--drop"]);
    desk.fails("multiply s.mtx --drop-relative", 2, &["--drop"]);
    assert!(desk.ok("multiply --help").stdout.contains("--drop <TOL>"));
}
