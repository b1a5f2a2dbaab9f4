//! Tests of `multiply --mask`.
use super::*;

fn json(desk: &Desk, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(desk.path(name)).unwrap()).unwrap()
}

#[test]
fn only_the_places_of_the_mask_are_made() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --cols 48 --per-column 5 --seed 1 -q -o a.mtx");
    desk.ok("generate uniform --rows 48 --cols 36 --per-column 5 --seed 2 -q -o b.mtx");
    desk.ok("generate uniform --rows 60 --cols 36 --per-column 7 --seed 3 -q -o m.mtx");
    let (a, b, m) = (desk.read::<f64>("a.mtx"), desk.read::<f64>("b.mtx"), desk.read::<f64>("m.mtx"));
    let shape = |rows, cols| BlockShape::new(rows, cols).unwrap();
    let scalars = reference::multiply_masked(&a, &b, &m).unwrap();
    let (left, right) = (a.to_blocks(shape(2, 3)).unwrap(), b.to_blocks(shape(3, 4)).unwrap());
    let grid = m.to_blocks(shape(2, 4)).unwrap();
    let blocks = reference::multiply_masked(&left, &right, &grid).unwrap();
    assert!(scalars.values().contains(&0.0), "some places have no product");
    let device = common::device().info().index.to_string();
    for target in [device.as_str(), "reference"] {
        for (options, want, nnz, block) in [
            ("", scalars.clone(), m.nnz(), [1, 1]),
            ("--block 2x3 --block-b 3x4", blocks.to_scalars(), grid.nnz(), [2, 4]),
        ] {
            for more in ["", "--repeat 2", "--explain"] {
                let line = format!(
                    "multiply a.mtx b.mtx --mask m.mtx {options} {more} --device {target} --verify --report r.json -o c.mtx"
                );
                let ran = desk.ok(&line);
                assert!(desk.read::<f64>("c.mtx") == want, "{line}");
                let report = json(&desk, "r.json");
                assert_eq!(report["mask"], serde_json::json!({"rows": 60, "cols": 36, "nnz": nnz, "block": block}));
                assert_eq!(report["c"]["nnz"], nnz, "{line}");
                assert_eq!(report["verified"]["max_abs_error"], 0.0, "{line}");
                assert_eq!(report["flops_paper"], Value::Null, "{line}");
                let whole =
                    if block == [1, 1] { reference::products(&a, &b) } else { reference::products(&left, &right) };
                let products = report["products"].as_u64().unwrap();
                assert!(0 < products && products < whole, "{line}: {products} of {whole}");
                assert!(ran.stdout.contains("where M has entries"), "{}", ran.stdout);
                let explained = format!("{products} products of the {whole} of A·B");
                assert_eq!(ran.stderr.contains(&explained), more == "--explain", "{}", ran.stderr);
            }
        }
    }
    assert_eq!(desk.report("a.mtx b.mtx")["mask"], Value::Null);
}

#[test]
fn masks_come_with_transposes_element_types_limits_and_stdin() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 300 --cols 200 --per-column 20 --integer --seed 1 -q -o a.mtx");
    desk.ok("generate uniform --rows 200 --cols 200 --per-column 30 --seed 3 -q -o m.mtx");
    let (a, m) = (desk.read::<f32>("a.mtx"), desk.read::<f32>("m.mtx"));
    let want = reference::multiply_masked(&a.transpose(), &a, &m).unwrap();
    desk.report("a.mtx --transpose-a --mask m.mtx --element f32 -o c.mtx");
    assert!(desk.read::<f32>("c.mtx") == want);
    // The product has blocks, because products of scalars on CPUs take no memory for terms.
    let of = |matrix: &Csc<f32>| matrix.to_blocks(BlockShape::new(2, 2).unwrap()).unwrap();
    let blocks = reference::multiply_masked(&of(&a.transpose()), &of(&a), &of(&m)).unwrap().to_scalars();
    let line = "a.mtx --transpose-a --mask m.mtx --block 2 --element f32 -o c.mtx";
    let whole = desk.report(line);
    assert!(desk.read::<f32>("c.mtx") == blocks);
    let limit = whole["peak_device_bytes"].as_u64().unwrap() * 8 / 10;
    let banded = desk.report(&format!("{line} --memory-limit {limit}"));
    assert!(banded["bands"].as_u64() > Some(1) && banded["held_device_bytes"].as_u64() <= Some(limit), "{banded}");
    assert!(desk.read::<f32>("c.mtx") == blocks, "bands change no bit");

    let device = common::device().info().index;
    let from_stdin = ran({
        let mut command = desk.command(&format!("multiply a.mtx --transpose-a --mask - --device {device} -q -o d.mtx"));
        command.write_stdin(std::fs::read(desk.path("m.mtx")).unwrap());
        command
    });
    assert_eq!((from_stdin.status, from_stdin.stdout.as_str()), (0, ""), "{}", from_stdin.stderr);
    assert!(desk.read::<f32>("d.mtx") == want);
}

#[test]
fn masks_that_cannot_be_are_refused() {
    let desk = Desk::with([("s.mtx", SQUARE), ("w.mtx", WIDE)]);
    for (line, words) in [
        ("s.mtx --mask w.mtx", &["w.mtx", "the size of C, which is 3 x 3", "2 x 4"][..]),
        ("s.mtx --mask none.mtx", &["none.mtx"]),
        ("s.mtx --mask s.mtx --drop 1", &["--mask", "--drop"]),
        ("- --mask -", &["cannot both be read from stdin"]),
        ("s.mtx - --mask -", &["cannot both be read from stdin"]),
    ] {
        desk.fails(&format!("multiply {line} -o c.mtx"), 2, words);
    }
    assert!(!desk.path("c.mtx").exists());
    let help = desk.ok("multiply --help").stdout;
    assert!(help.contains("--mask <FILE>"), "{help}");
}
