//! Tests of `blockmul bench`: its table, its JSON, and refused arguments.
mod operations;

use super::*;
use serde_json::json;

/// Removes all words that depend on the machine (measured numbers, the device, the number of
/// launches), and separates columns by one blank.
fn lasting(text: &str) -> String {
    let text = text.replace(&common::device().info().name, "DEVICE");
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let launches = match words.last() {
            Some(&"yes") => words.len() - 2,
            _ => words.len().saturating_sub(1),
        };
        let of_stage = words.first().is_some_and(|word| STAGES.contains(word));
        let word = |(at, &word): (usize, &&str)| {
            let measured = word == "-" || word.contains('.') && word.parse::<f64>().is_ok();
            let percent = of_stage && at == 2;
            let counted = (of_stage || words.last() == Some(&"yes")) && at == launches;
            if measured || percent || counted { "#".to_owned() } else { word.to_owned() }
        };
        words.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

const STAGES: [&str; 6] = ["setup", "expansion", "segmented_sort", "tail_counts", "compression", "gather"];

#[test]
fn the_table_has_a_row_for_every_combination() {
    let desk = Desk::new();
    let ran =
        desk.bench("uniform:60x3 bundle-adjustment:9x40x3 --block 1,2x3 --element f64,f32 --method esc --rounds 2");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let want = "\
matrix block element variant device products nnz(C) ms spread % Gflop/s launches verified
uniform:60x3 1x1 f64 esc DEVICE 540 512 # # # # yes
uniform:60x3 1x1 f32 esc DEVICE 540 512 # # # # yes
uniform:60x3 2x3 f64 esc DEVICE 540 407 # # # # yes
uniform:60x3 2x3 f32 esc DEVICE 540 407 # # # # yes
bundle-adjustment:9x40x3 1x1 f64 esc DEVICE 360 63 # # # # yes
bundle-adjustment:9x40x3 1x1 f32 esc DEVICE 360 63 # # # # yes
bundle-adjustment:9x40x3 2x3 f64 esc DEVICE 360 63 # # # # yes
bundle-adjustment:9x40x3 2x3 f32 esc DEVICE 360 63 # # # # yes
";
    assert_eq!(lasting(&ran.stdout) + "\n", want);
    assert!(ran.stderr.contains("copies"), "{}", ran.stderr);
}

#[test]
fn rows_are_multiplied_like_columns() {
    let desk = Desk::new();
    let line = "uniform:60x3 bundle-adjustment:9x40x3 --block 1,2x3 --operation product,plan,dense --columns 3";
    let [by_columns, by_rows] = ["", " --by-rows"].map(|option| desk.benched(&format!("{line}{option}")));
    let sizes = |all: &Value| -> Vec<Value> {
        let of = |record: &Value| {
            json!([
                record["matrix"],
                record["products"],
                record["flops"],
                record["verified"],
                record["a"],
                record["c_nnz"]
            ])
        };
        all["results"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!(sizes(&by_rows), sizes(&by_columns));
    assert!(sizes(&by_rows).len() == 12 && sizes(&by_rows).iter().all(|of| of[3] == true), "{by_rows}");
    let refused = desk.bench("uniform:60x3 --operation transpose --by-rows");
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("--by-rows is for product, plan and dense, not for transpose"),
        "{}",
        refused.stderr
    );
    for option in ["--columns 7", "--layout rows", "--sharing gcoo", "--in-place"] {
        let refused = desk.bench(&format!("uniform:60x3 {option}"));
        let name = option.split(' ').next().unwrap();
        assert_eq!(refused.status, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(&format!("{name} is for operation dense")), "{}", refused.stderr);
    }
}

#[test]
fn a_single_product_shows_its_stages() {
    let desk = Desk::new();
    let ran = desk.bench("pose-graph:40x20 --rounds 2 --method esc");
    let want = "\
matrix block element variant device products nnz(C) ms spread % Gflop/s launches verified
pose-graph:40x20 6x6 f64 esc DEVICE 668 402 # # # # yes

pose-graph:40x20 in 6x6 f64 by esc on DEVICE, which copies # GB/s
stage ms % MB at least GB/s of a copy launches
setup # # # # # #
expansion # # # # # #
segmented_sort # # # # # #
tail_counts # # # # # #
compression # # # # # #
gather # # # # # #
(all stages) #";
    assert_eq!(lasting(&ran.stdout), want);
    let several = desk.bench("pose-graph:40x20 --block 3,6 --rounds 1 --stages --method esc").stdout;
    assert_eq!(several.matches("compression").count(), 2, "{several}");
    let quiet = desk.bench("pose-graph:40x20 --rounds 1 --quiet --json r.json");
    assert_eq!((quiet.status, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    assert!(desk.files().contains(&"r.json".to_owned()));
}

#[test]
fn the_json_has_every_time_and_counts_as_it_says() {
    let desk = Desk::new();
    let all = desk.benched("bundle-adjustment:9x40x3 --element f32 --method esc");
    assert_eq!(all["schema"], "blockmul-bench/1");
    assert!(all["host"]["threads"].as_u64().unwrap() > 0 && all["host"]["os"].is_string());
    let record = &all["results"][0];
    let size = |rows: u64, cols: u64, block: [u64; 2]| json!({"rows": rows, "cols": cols, "nnz": 120, "block": block});
    assert_eq!((&record["a"], &record["b"]), (&size(54, 120, [6, 3]), &size(120, 54, [3, 6])));
    assert_eq!((&record["products"], &record["c_nnz"]), (&360.into(), &63.into()));
    assert_eq!(record["flops"], 2 * 360 * 6 * 3 * 6);
    for (field, value) in [
        ("library", "blockmul"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("variant", "esc"),
        ("device", &common::device().info().name),
        ("matrix", "bundle-adjustment:9x40x3"),
        ("element", "f32"),
    ] {
        assert_eq!(record[field], value, "{field}");
    }
    assert_eq!(record["verified"], true);
    let times =
        |of: &Value| -> Vec<f64> { of["runs_ms"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect() };
    let mut runs = times(record);
    runs.sort_by(f64::total_cmp);
    assert_eq!((runs.len(), record["ms"].as_f64().unwrap()), (3, runs[1]));
    let close = |value: &Value, want: f64| {
        let value = value.as_f64().unwrap();
        assert!((value - want).abs() <= 1e-9 * want, "{value} {want}");
    };
    close(&record["gflops"], (2 * 360 * 108) as f64 / runs[1] / 1e6);
    let stages = record["stages"].as_array().unwrap();
    assert_eq!(stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect::<Vec<_>>(), STAGES);
    let sum = |field: &str| stages.iter().map(|stage| stage[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("launches"), sum("flops")), (record["launches"].as_u64().unwrap(), 2 * 360 * 108));
    for stage in stages {
        let (ms, bytes) = (stage["ms"].as_f64().unwrap(), stage["bytes"].as_u64().unwrap() as f64);
        assert_eq!(times(stage).len(), 3);
        close(&stage["gb_s"], bytes / ms / 1e6);
        close(&stage["of_copy"], bytes / ms / 1e6 / record["copy_gb_s"].as_f64().unwrap());
    }
    // If there are no products, the first stage is the only one, and it takes no time.
    let empty = desk.benched("uniform:8x0 --block 2");
    assert_eq!((&empty["results"][0]["products"], &empty["results"][0]["verified"]), (&0.into(), &true.into()));
    assert_eq!(empty["results"][0]["gflops"], 0.0);
}

#[test]
fn families_have_the_sizes_of_their_names_else_of_a_number_of_elements() {
    let desk = Desk::new();
    let all = desk.benched("uniform uniform:50 bundle-adjustment:5x7x2 --elements 600 --block 2x3");
    let names: Vec<_> = all["results"].as_array().unwrap().iter().map(|record| &record["matrix"]).collect();
    assert_eq!(names, ["uniform:12x8", "uniform:50x8", "bundle-adjustment:5x7x2"]);
}

#[test]
fn b_is_a_cut_to_meet_it_or_its_transpose() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 6 --per-column 2 -q -o a.mtx");
    for (line, blocks) in [
        ("uniform:9x2 --block 1,3", &[[[1, 1], [1, 1]], [[3, 3], [3, 3]]][..]),
        ("bundle-adjustment:9x20x2 --block 6x3,1", &[[[6, 3], [3, 6]], [[1, 1], [1, 1]]]),
        ("a.mtx --block 2x3", &[[[2, 3], [3, 2]]]),
    ] {
        let all = desk.benched(line);
        let of = |record: &Value| json!([record["a"]["block"], record["b"]["block"]]);
        let found: Vec<_> = all["results"].as_array().unwrap().iter().map(of).collect();
        assert_eq!(json!(found), json!(blocks), "{line}");
    }
}

#[test]
fn files_of_every_kind_are_timed() {
    let desk = Desk::with([("p.mtx", SYMMETRIC), ("w.mtx", WIDE)]);
    desk.ok("generate pose-graph --poses 20 --closures 5 -q -o h.bin");
    desk.ok("convert p.mtx -q -o p.bcsr");
    let all = desk.benched("p.mtx w.mtx h.bin p.bcsr ./h.bin --block 1");
    let names: Vec<_> = all["results"].as_array().unwrap().iter().map(|record| &record["matrix"]).collect();
    assert_eq!(names, ["p", "w", "h", "p", "h"]);
    // A file with blocks is timed in these blocks.
    let own = desk.benched("h.bin");
    assert_eq!(own["results"][0]["a"]["block"], json!([6, 6]));
    assert_eq!(own["results"][0]["b"]["nnz"], 20 + 2 * 19 + 2 * 5);
}

#[test]
fn what_cannot_be_timed_is_told_and_the_rest_goes_on() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("w.mtx", WIDE);
    desk.put("short.bcsr", "BCSR0001 and no more");
    desk.put("other.bin", "neither one nor the other");
    let device = common::device().info().index;
    for (line, status, words) in [
        ("unifrom:5", 2, &["unifrom:5", "families are: uniform"][..]),
        ("uniform:5x2x3", 2, &["ROWSxBLOCKS-IN-A-COLUMN"]),
        ("uniform:manyx3", 2, &["\"many\" is no size"]),
        ("uniform:4x9", 2, &["9 blocks in a column of 4 rows"]),
        ("pose-graph --block 2x3", 2, &["square blocks, not 2x3"]),
        ("bundle-adjustment:2x2x9", 2, &["9 observations"]),
        ("s.mtx --block 2", 2, &["s in 2x2 f64: ", "3 rows cannot be cut", "fits: 3"]),
        ("short.bcsr", 2, &["short.bcsr: sizes: the file ends after 1 of 3 numbers"]),
        ("other.bin", 2, &["other.bin: magic: neither BCSR0001 nor BSR1"]),
        ("s.mtx --block 0", 2, &["0x0"]),
        ("s.mtx --method magic", 2, &["magic", "esc"]),
        ("s.mtx --element f8", 2, &["f8", "f16"]),
        ("s.mtx --rounds 0", 2, &["0"]),
        ("s.mtx --max-time never", 2, &["a finite number from 0 is wanted"]),
        ("s.mtx --list", 2, &["--list"]),
        ("s.mtx --operation divide", 2, &["divide", "transpose", "apply-transposed"]),
        ("s.mtx --operation scan", 2, &["invalid value 'scan'", "scalars"]),
        ("--operation dense --elements 0", 2, &["0"]),
        ("uniform:9x2 --operation schur --element f16", 2, &["schur is not for matrices of f16"]),
        ("w.mtx --operation scalars", 2, &["w in 1x1 f64: ", "not square"]),
        ("short.bcsr --operation read", 2, &["short.bcsr: sizes: the file ends"]),
        ("uniform:9x2 --operation transpose --element u32", 2, &["transpose is not for matrices of u32"]),
        ("uniform:9x2 --operation components --element u32", 2, &["components is not for matrices of u32"]),
        ("s.mtx --element u8", 2, &["s in 1x1 u8: ", "elements of u8 support or-and only, not plus-times"]),
        ("s.mtx --operation apply --element u32", 2, &["s has -1 at row 2, column 2, which is not of type u32"]),
        ("w.mtx --operation dense --element i32", 2, &["w has 0.5 at row 1, column 1, which is not of type i32"]),
        (
            "--operation dense --any-order",
            2,
            &["--any-order is for apply, apply-transposed and apply-gram, not for dense"],
        ),
        ("--operation plan --symmetric", 2, &["--symmetric is for apply, not for plan"]),
        ("bundle-adjustment:9x40x3 --operation gram --block 2", 2, &["9x3 or 6x3, not 2x2"]),
        ("w.mtx --operation components", 2, &["w in 1x1 f64: ", "a graph is a square matrix of scalars"]),
        ("uniform:9x2 --operation triangles --block 2", 2, &["a graph is a square matrix of scalars"]),
        ("w.mtx --operation patches", 2, &["w in 1x1 f64: ", "a graph is a square matrix of scalars"]),
        ("uniform:9x2 --operation patches --element f32", 2, &["patches is not for matrices of f32"]),
        ("uniform:9x2 --operation triangles --by-rows", 2, &["plan and dense, not for triangles"]),
        ("uniform:9x2 --operation components --semiring min-plus", 2, &["and dense, not for components"]),
        ("uniform:9x2 --operation patches --symmetric", 2, &["--symmetric is for apply, not for patches"]),
        ("uniform:9x2 --operation apply-gram --symmetric", 2, &["--symmetric is for apply, not for apply-gram"]),
        ("uniform:9x2 --operation apply-gram --by-rows", 2, &["plan and dense, not for apply-gram"]),
        ("bundle-adjustment:9x40x3 --operation apply-gram --block 2", 2, &["9x3 or 6x3, not 2x2"]),
        ("s.mtx --json no/folder/r.json", 2, &["the folder no/folder of the output no/folder/r.json"]),
    ] {
        desk.fails(&format!("bench --device {device} {line}"), status, words);
    }
    desk.fails("bench --device nonesuch", 3, &["nonesuch"]);
    // If one input fails, the other products are still timed, and are also in the file.
    let ran = desk.bench("s.mtx short.bcsr uniform:9x2 --block 2,3 --rounds 1 --json r.json");
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("short.bcsr: sizes") && ran.stderr.contains("cannot be cut"), "{}", ran.stderr);
    assert_eq!(ran.stdout.matches("yes").count(), 3, "{}", ran.stdout);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
    assert_eq!(kept["results"].as_array().unwrap().len(), 3);
}

#[test]
fn families_are_listed() {
    let list = Desk::new().ok("bench --list").stdout;
    for word in ["uniform:ROWSx", "power-law:8192x65536", "pose-graph", "6x3", "arrow", "cameras"] {
        assert!(list.contains(word), "{word}: {list}");
    }
}

/// If a method cannot compute a product, ESC computes it, and its time is not reported as the
/// method's.
#[test]
fn the_methods_that_ran_are_named_beside_the_one_asked_for() {
    let desk = Desk::new();
    let line = "uniform:60x3 --block 1,2 --method all";
    let json = desk.benched(line);
    let results = json["results"].as_array().unwrap();
    let text = desk.bench(&format!("{line} --rounds 1")).stdout;
    for result in results {
        let (variant, bins) = (result["variant"].as_str().unwrap(), result["bins"].as_array().unwrap());
        assert!(!bins.is_empty() && bins.iter().all(|bin| bin["columns"].is_u64()), "{result}");
        assert_eq!(bins.iter().map(|bin| bin["products"].as_u64().unwrap()).sum::<u64>(), 540, "{result}");
        let block = &result["a"]["block"][0];
        let own = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let of_block = words.get(1).is_some_and(|word| *word == format!("{block}x{block}"));
            let asked = words.get(5).is_some_and(|word| *word == format!("{variant})"));
            of_block && (asked || words.get(3) == Some(&variant))
        };
        let row = text.lines().find(own).unwrap_or_else(|| panic!("no row of {variant}: {text}"));
        let by_others = bins.iter().any(|bin| bin["method"] != variant);
        assert_eq!(row.contains("(asked: "), by_others, "{row}: {result}");
    }
    assert!(text.contains("esc (asked: hash)"), "blocks: {text}");
    let text = desk.bench("uniform:60x3 --block 2 --method auto,esc,hash --semiring or-and --rounds 1").stdout;
    let variants = ["auto over or-and", "esc over or-and", "esc (asked: hash) over or-and"];
    assert!(variants.iter().all(|variant| text.contains(&format!("  {variant}  "))), "{text}");
}
