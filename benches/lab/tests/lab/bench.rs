//! `lab bench`: the operations beside those of `blockmul bench`.
use super::*;
use serde_json::json;

const WIDE: &str = "%%MatrixMarket matrix coordinate real general\n2 4 3\n1 1 0.5\n2 3 -1.5\n1 4 2\n";

#[test]
fn every_operation_is_verified_and_timed() {
    let desk = Desk::new();
    let of_matrix = ["norms", "scale", "dot", "axpy", "copy", "permute", "transpose", "add"];
    let line = format!("uniform:60x3 --block 2x3 --operation apply,{}", of_matrix.join(","));
    desk.times(&line, &[&["apply"], &of_matrix[..]].concat());
    desk.times("uniform:60x3 --block 2x3 --element f32 --operation dot,axpy", &["dot", "axpy"]);
    desk.times("pose-graph:30x20 --block 3 --operation permute-lower,scalars", &["permute-lower", "scalars"]);
    desk.times(
        "--elements 5000 --operation transpose-pattern,scan,segmented-scan,sort,reduce",
        &[&["transpose-pattern", "scan"][..], &["segmented-scan"; 6], &["sort"; 6], &["reduce"; 3]].concat(),
    );
}

#[test]
fn operations_declare_their_bytes() {
    let desk = Desk::new();
    // 180 blocks of 2x3, 60 x 60 blocks.
    let records = desk.by_variant("uniform:60x3 --block 2x3 --element f32 --operation norms,copy,dot");
    let (values, lines) = (4 * 180 * 6, 4 * 60);
    let wanted =
        [("norms", values + 3 * lines, 2 * 180 * 6), ("copy", 2 * values + 4 * 180, 0), ("dot", 2 * values, 0)];
    for ((variant, record), (wanted, bytes, flops)) in records.iter().zip(wanted) {
        assert_eq!((variant.as_str(), &record["bytes"], &record["flops"]), (wanted, &json!(bytes), &json!(flops)));
        assert_eq!(record["plan_ms"].is_number(), variant != "dot", "{variant}");
        let gb_s = f64::from(bytes) / record["ms"].as_f64().unwrap() / 1e6;
        assert!((record["gb_s"].as_f64().unwrap() - gb_s).abs() <= 1e-9 * gb_s, "{variant}: {record}");
        let stages: Vec<_> = record["stages"].as_array().unwrap().iter().map(|stage| &stage["runs_ms"]).collect();
        assert!(stages.iter().all(|runs| runs.as_array().unwrap().len() == 3), "{variant}: {record}");
    }
    // Without sizes a family has about as many elements as are asked for.
    let scaled = desk.benched("uniform --operation transpose --elements 4800 --block 1,2x3 --together 2");
    let matrices: Vec<_> = scaled["results"].as_array().unwrap().iter().map(|record| &record["matrix"]).collect();
    assert_eq!(matrices, ["uniform:600x8", "uniform:100x8"]);
}

#[test]
fn reading_is_timed_without_a_device() {
    let desk = Desk::new();
    desk.put("w.mtx", WIDE);
    let ran = desk.ok("bench --device nonesuch w.mtx uniform:60x3 --operation read --rounds 3 --json -");
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    let records = all["results"].as_array().unwrap();
    let threads = std::thread::available_parallelism().unwrap().get().min(3);
    assert_eq!(records.len(), 2 * threads);
    for record in records {
        assert_eq!((&record["variant"], &record["verified"]), (&"read".into(), &true.into()), "{record}");
        assert!(record["copy_gb_s"].is_null() && record["gb_s"].as_f64().unwrap() > 0.0, "{record}");
    }
    assert_eq!((&records[0]["matrix"], &records[0]["bytes"]), (&"w.mtx".into(), &WIDE.len().into()));
    assert_eq!((&records[threads]["matrix"], &records[threads]["a"]["nnz"]), (&"uniform:60x3".into(), &180.into()));
}

#[test]
fn what_cannot_be_timed_is_refused() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("w.mtx", WIDE);
    desk.put("short.bcsr", "BCSR0001 and no more");
    let device = common::device().info().index;
    for (line, words) in [
        ("s.mtx --operation divide", &["divide", "transpose", "apply-transposed"][..]),
        ("s.mtx --operation scan", &["scan takes no INPUT", "--elements"]),
        ("--operation scan --elements 0", &["0"]),
        ("w.mtx --operation scalars", &["w in 1x1 f64: ", "not square"]),
        ("uniform:9x2 --operation transpose --element u32", &["transpose is not for matrices of u32"]),
        ("--operation norms --any-order", &["is for apply, apply-transposed and apply-gram, not for norms"]),
        ("uniform:9x2 --operation transpose --by-rows", &["product, plan and dense, not for transpose"]),
        ("uniform:9x2 --operation norms --semiring min-plus", &["apply-gram and dense, not for norms"]),
        ("short.bcsr --operation read", &["short.bcsr: sizes: the file ends"]),
    ] {
        desk.fails(&format!("bench --device {device} {line}"), 2, words);
    }
    let list = desk.ok("bench --list").stdout;
    assert!(list.contains("power-law:8192x65536"), "{list}");
}
