//! Tests of `blockmul bench`: its table, its JSON, its refusals.
use super::*;
use serde_json::json;

/// Runs `bench` on the device under test. With 1 GiB of memory PoCL copies 128 MiB to measure the
/// bandwidth, not 256: each run does, and no test reads the figure.
pub fn bench(desk: &Desk, line: &str) -> Ran {
    let mut command = desk.command(&format!("bench --device {} {line}", common::device().info().index));
    command.env("POCL_MEMORY_LIMIT", "1");
    ran(command)
}

fn benched(desk: &Desk, line: &str) -> Value {
    let ran = bench(desk, &format!("{line} --json - --rounds 3"));
    assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Removes what depends on the machine (measured numbers, the device, the number of launches), and
/// joins the columns by one blank.
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
        bench(&desk, "uniform:60x3 bundle-adjustment:9x40x3 --block 1,2x3 --element f64,f32 --method esc --rounds 2");
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
    let [by_columns, by_rows] = ["", " --by-rows"].map(|option| benched(&desk, &format!("{line}{option}")));
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
    let refused = bench(&desk, "uniform:60x3 --operation transpose --by-rows");
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("--by-rows is for product, plan and dense, not for transpose"),
        "{}",
        refused.stderr
    );
    for option in ["--columns 7", "--layout rows", "--sharing gcoo", "--in-place"] {
        let refused = bench(&desk, &format!("uniform:60x3 {option}"));
        let name = option.split(' ').next().unwrap();
        assert_eq!(refused.status, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(&format!("{name} is for operation dense")), "{}", refused.stderr);
        let with_paper = bench(&desk, &format!("--paper shi -o folder {option}"));
        assert_eq!(with_paper.status, 2, "{}", with_paper.stderr);
    }
}

#[test]
fn a_single_product_shows_its_stages() {
    let desk = Desk::new();
    let ran = bench(&desk, "pose-graph:40x20 --rounds 2 --method esc");
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
    let several = bench(&desk, "pose-graph:40x20 --block 3,6 --rounds 1 --stages --method esc").stdout;
    assert_eq!(several.matches("compression").count(), 2, "{several}");
    let quiet = bench(&desk, "pose-graph:40x20 --rounds 1 --quiet --json r.json");
    assert_eq!((quiet.status, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    assert!(desk.files().contains(&"r.json".to_owned()));
}

#[test]
fn the_json_has_every_time_and_counts_as_it_says() {
    let desk = Desk::new();
    let all = benched(&desk, "bundle-adjustment:9x40x3 --element f32 --method esc");
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
    // Without products no stage follows the first, and none takes time.
    let empty = benched(&desk, "uniform:8x0 --block 2");
    assert_eq!((&empty["results"][0]["products"], &empty["results"][0]["verified"]), (&0.into(), &true.into()));
    assert_eq!(empty["results"][0]["gflops"], 0.0);
}

#[test]
fn files_of_every_kind_are_timed() {
    let desk = Desk::new();
    desk.put("p.mtx", SYMMETRIC);
    desk.put("w.mtx", WIDE);
    desk.ok("generate pose-graph --poses 20 --closures 5 -q -o h.bin");
    desk.ok("convert p.mtx -q -o p.bcsr");
    let all = benched(&desk, "p.mtx w.mtx h.bin p.bcsr ./h.bin --block 1");
    let names: Vec<_> = all["results"].as_array().unwrap().iter().map(|record| &record["matrix"]).collect();
    assert_eq!(names, ["p", "w", "h", "p", "h"]);
    // A file of blocks is timed in its own blocks.
    let own = benched(&desk, "h.bin");
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
        ("s.mtx --operation divide", 2, &["divide", "transpose"]),
        ("s.mtx --operation scan", 2, &["scan takes no INPUT", "--elements"]),
        ("--operation scan --elements 0", 2, &["0"]),
        ("w.mtx --operation scalars", 2, &["w in 1x1 f64: ", "not square"]),
        ("uniform:9x2 --operation schur --element f16", 2, &["schur is not for matrices of f16"]),
        ("uniform:9x2 --operation transpose --element u32", 2, &["transpose is not for matrices of u32"]),
        ("s.mtx --element u8", 2, &["s in 1x1 u8: ", "elements of u8 have or-and alone, not plus-times"]),
        ("s.mtx --operation apply --element u32", 2, &["s has -1 at row 2, column 2, which is not of type u32"]),
        ("w.mtx --operation dense --element i32", 2, &["w has 0.5 at row 1, column 1, which is not of type i32"]),
        ("s.mtx --regret --element u32", 2, &["--regret takes one element type, f64 or f32"]),
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
        ("--operation norms --any-order", 2, &["is for apply, apply-transposed and apply-gram, not for norms"]),
        ("bundle-adjustment:9x40x3 --operation apply-gram --block 2", 2, &["9x3 or 6x3, not 2x2"]),
        ("short.bcsr --operation read", 2, &["short.bcsr: sizes: the file ends"]),
        ("s.mtx --json no/folder/r.json", 2, &["the folder no/folder of the output no/folder/r.json"]),
    ] {
        desk.fails(&format!("bench --device {device} {line}"), status, words);
    }
    desk.fails("bench --device nonesuch", 3, &["nonesuch"]);
    // The other products are timed, and are in the file as well.
    let ran = bench(&desk, "s.mtx short.bcsr uniform:9x2 --block 2,3 --rounds 1 --json r.json");
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("short.bcsr: sizes") && ran.stderr.contains("cannot be cut"), "{}", ran.stderr);
    assert_eq!(ran.stdout.matches("yes").count(), 3, "{}", ran.stdout);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
    assert_eq!(kept["results"].as_array().unwrap().len(), 3);
}

/// The records of a line by their variants.
fn by_variant(desk: &Desk, line: &str) -> Vec<(String, Value)> {
    let all = benched(desk, line);
    let records = all["results"].as_array().unwrap().iter();
    records.map(|record| (record["variant"].as_str().unwrap().to_owned(), record.clone())).collect()
}

#[test]
fn every_operation_is_verified_and_timed() {
    let desk = Desk::new();
    // Each run measures the bandwidth of a copy first.
    let vectors = ["apply", "apply-transposed", "norms", "scale", "dot", "axpy"];
    let structure = ["copy", "permute", "transpose", "add"];
    let grams = ["gram", "gram-residuals", "gram-blocks", "gram-information", "gram-scaled"];
    let of_matrix = [&vectors[..], &structure[..]].concat();
    for (line, variants) in [
        (
            format!("uniform:60x3 --block 2x3 --method auto,esc --operation product,plan,{}", of_matrix.join(",")),
            [&["auto", "esc", "plan", "plan by esc"][..], &of_matrix].concat(),
        ),
        (
            "uniform:60x3 --block 1 --columns 5 --layout rows,columns --sharing auto,gcoo --operation dense".into(),
            vec!["dense rows by rows 5", "dense gcoo by rows 5", "dense rows by columns 5", "dense gcoo by columns 5"],
        ),
        (
            "uniform:60x3 --block 2x3 --columns 5 --sharing rows,stored --in-place --operation dense".into(),
            vec!["dense rows in place by rows 5", "dense gcoo stored by rows 5"],
        ),
        (
            "bundle-adjustment:9x40x3 --block 6x3 --operation gram,schur".into(),
            [&grams[..], &["schur", "back-substitute"]].concat(),
        ),
        (
            "pose-graph:30x20 --block 3 --operation permute-lower,scalars,gram".into(),
            [&["permute-lower", "scalars"], &grams[..]].concat(),
        ),
        (
            "pose-graph:30x20 --block 3 --operation apply-gram --format csr,sliced-ell --element f32".into(),
            vec![
                "apply-gram csr",
                "apply-gram-residuals csr",
                "apply-gram sliced-ell",
                "apply-gram-residuals sliced-ell",
            ],
        ),
        (
            "uniform:60x3 --block 1 --operation apply-gram --format coo,coo-atomic --any-order".into(),
            vec![
                "apply-gram coo",
                "apply-gram-residuals coo",
                "apply-gram coo-atomic",
                "apply-gram-residuals coo-atomic",
            ],
        ),
        (
            "pose-graph:30x20 --block 3 --symmetric --operation apply --format csr,sliced-ell".into(),
            vec!["apply csr", "apply csr triangle", "apply sliced-ell", "apply sliced-ell triangle"],
        ),
        // A graph with edges in both directions, and one without.
        (
            "planar:9x8 power-law:60x200 --operation components,triangles,patches".into(),
            [["components"; 2], ["triangles"; 2], ["patches", "patches balanced"], ["patches", "patches balanced"]]
                .concat(),
        ),
        (
            "--elements 5000 --operation transpose-pattern,scan,segmented-scan,sort,reduce".into(),
            [&["transpose-pattern", "scan"][..], &["segmented-scan"; 6], &["sort"; 6], &["reduce"; 3]].concat(),
        ),
    ] {
        let records = by_variant(&desk, &line);
        let found: Vec<&str> = records.iter().map(|(variant, _)| variant.as_str()).collect();
        assert_eq!(found, variants, "{line}");
        for (variant, record) in &records {
            let runs = record["runs_ms"].as_array().unwrap().len();
            assert_eq!((&record["verified"], runs), (&true.into(), 3), "{variant}: {record}");
        }
    }
}

/// The element types of integers, over every algebra that they have.
#[test]
fn integers_are_verified_and_timed() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("p.mtx", SYMMETRIC);
    let operations = "product,plan,apply,apply-transposed,dense";
    let variants = ["auto", "plan", "apply", "apply-transposed", "dense rows by rows 3"];
    let line = "bundle-adjustment:9x40x3 --operation apply-gram";
    for (options, variants) in [
        ("--element i32", &["apply-gram", "apply-gram-residuals"][..]),
        ("--element u8 --semiring or-and", &["apply-gram over or-and"]),
    ] {
        let records = by_variant(&desk, &format!("{line} {options}"));
        assert_eq!(records.iter().map(|(variant, _)| variant.as_str()).collect::<Vec<_>>(), variants);
        assert!(records.iter().all(|(_, record)| record["verified"] == true), "{records:?}");
    }
    for (semiring, elements) in [("plus-times", "u32,i32"), ("max-plus", "u32,i32"), ("or-and", "u32,i32,u8")] {
        let line =
            format!("uniform:60x3 --block 2 --semiring {semiring} --element {elements} --operation {operations}");
        let records = by_variant(&desk, &format!("{line} --columns 3 --sharing rows"));
        let over = if semiring == "plus-times" { String::new() } else { format!(" over {semiring}") };
        let want = variants.iter().flat_map(|variant| elements.split(',').map(move |element| (variant, element)));
        let mut found = records.iter();
        for (variant, element) in want {
            let (named, record) = found.next().unwrap();
            assert_eq!((named, &record["element"]), (&format!("{variant}{over}"), &element.into()));
            let runs = record["runs_ms"].as_array().unwrap().len();
            assert_eq!((&record["verified"], runs), (&true.into(), 3), "{record}");
        }
        assert_eq!(found.len(), 0, "{semiring}");
    }
    // Whole numbers of a file, and random ones if it has none.
    let files = by_variant(&desk, "s.mtx p.mtx --element i32 --by-rows --operation product,dense");
    assert_eq!(files.iter().filter(|(_, record)| record["verified"] == true).count(), 4, "{files:?}");
    let formats =
        by_variant(&desk, "s.mtx --element i32 --semiring min-plus --operation apply --format csr,sliced-ell");
    assert_eq!(formats.len(), 2, "{formats:?}");
}

#[test]
fn graphs_have_a_number_for_each_vertex_and_at_most_64_patches() {
    let desk = Desk::new();
    let records = by_variant(&desk, "planar:9x8 planar:3x3 --operation components,triangles,patches --element f64");
    let found: Vec<_> = records.iter().map(|(_, record)| (&record["c_nnz"], &record["b"]["rows"])).collect();
    let of = |vertices: u64, patches: u64| (Value::from(vertices), Value::from(patches));
    let want = [of(72, 0), of(9, 0), of(72, 0), of(9, 0), of(72, 64), of(72, 64), of(9, 9), of(9, 9)];
    assert_eq!(found, want.each_ref().map(|(vertices, patches)| (vertices, patches)));
}

#[test]
fn what_auto_chose_for_a_product_with_a_vector_is_named() {
    let desk = Desk::new();
    for (option, start) in [("", "apply auto: "), ("--any-order", "apply auto in any order: ")] {
        let line = format!("uniform:60x3 --block 1 --operation apply --format auto {option}");
        let [(variant, _)] = &by_variant(&desk, &line)[..] else { panic!("one record") };
        let format = variant.strip_prefix(start).unwrap_or_else(|| panic!("{variant}"));
        assert!(format != "auto" && format.parse::<blockmul::plan::Format>().is_ok(), "{variant}");
        let line = format!("uniform:60x3 --block 1 --operation apply-gram --format auto {option}");
        let [(plain, _), (weighted, _)] = &by_variant(&desk, &line)[..] else { panic!("two records") };
        let of = |name: &str| start.replace("apply", name);
        let formats = plain.strip_prefix(&of("apply-gram")).unwrap_or_else(|| panic!("{plain}"));
        assert_eq!(weighted.strip_prefix(&of("apply-gram-residuals")), Some(formats));
        assert!(formats.split(" and ").all(|format| format.parse::<blockmul::plan::Format>().is_ok()), "{plain}");
    }
}

#[test]
fn operations_declare_their_bytes_and_their_work() {
    let desk = Desk::new();
    // 180 blocks of 2x3, 60 x 60 blocks.
    let operations = "plan,apply,apply-transposed,norms,copy,dot";
    let records = by_variant(&desk, &format!("uniform:60x3 --block 2x3 --element f32 --operation {operations}"));
    let (values, lines) = (4 * 180 * 6, 4 * 60);
    for (variant, bytes, flops) in [
        ("plan", None, 2 * 540 * 12),
        ("apply", Some(values + 5 * lines + 8 * 180), 2 * 180 * 6),
        ("apply-transposed", Some(values + 5 * lines + 4 * 180), 2 * 180 * 6),
        ("copy", Some(2 * values + 4 * 180), 0),
        ("dot", Some(2 * values), 0),
    ] {
        let record = &records.iter().find(|(found, _)| found == variant).unwrap().1;
        assert_eq!(record["bytes"].as_i64(), bytes, "{variant}");
        assert_eq!(record["flops"], flops, "{variant}");
        assert_eq!(record["plan_ms"].is_number(), variant != "dot", "{variant}");
        if let Some(bytes) = bytes {
            let gb_s = bytes as f64 / record["ms"].as_f64().unwrap() / 1e6;
            assert!((record["gb_s"].as_f64().unwrap() - gb_s).abs() <= 1e-9 * gb_s, "{variant}: {record}");
        }
        let stages: Vec<_> = record["stages"].as_array().unwrap().iter().map(|stage| &stage["runs_ms"]).collect();
        assert!(stages.iter().all(|runs| runs.as_array().unwrap().len() == 3), "{variant}: {record}");
    }
    // Of a triangle its blocks are read, and for the index those of the whole.
    let [(_, whole), (variant, triangle)] =
        &by_variant(&desk, "pose-graph:30x20 --block 3 --symmetric --operation apply")[..]
    else {
        panic!("the whole and its triangle")
    };
    assert_eq!(
        (variant.as_str(), &triangle["a"], &triangle["flops"]),
        ("apply triangle", &whole["a"], &whole["flops"])
    );
    let nnz = whole["a"]["nnz"].as_i64().unwrap();
    let kept = (nnz + 30) / 2;
    let bytes = |kept: i64| Some(8 * 9 * kept + 8 * nnz + 2 * 8 * 90);
    assert_eq!([whole, triangle].map(|record| record["bytes"].as_i64()), [bytes(nnz), bytes(kept)]);
    // J is read twice. J·x is written and read, with weights both are read and W·J·x is written and
    // read. apply is of H whole, of which gram forms a triangle.
    let records = by_variant(&desk, "pose-graph:30x20 --block 3 --operation gram,apply-gram,apply");
    let of = |name: &str| &records.iter().find(|(variant, _)| variant == name).unwrap().1;
    let (plain, weighted, h) = (of("apply-gram"), of("apply-gram-residuals"), of("apply"));
    assert_eq!(of("gram")["c_nnz"], (h["a"]["nnz"].as_i64().unwrap() + 30) / 2);
    let (rows, nnz) = (plain["a"]["rows"].as_i64().unwrap(), plain["a"]["nnz"].as_i64().unwrap());
    let bytes = |between: i64| Some(8 * (2 * 9 * nnz + 2 * 90 + between * rows) + 4 * 3 * nnz);
    assert_eq!([plain, weighted].map(|record| record["bytes"].as_i64()), [bytes(2), bytes(5)]);
    assert_eq!(
        (&plain["flops"], &plain["c_nnz"], &plain["b"]["rows"]),
        (&(4 * 9 * nnz).into(), &90.into(), &90.into())
    );
    let packed = &by_variant(&desk, "bundle-adjustment:9x40x3 --block 9x3 --operation apply-gram --format csr")[0].1;
    // 120 views of 9 cameras and 40 points: blocks of 2x9 are three of 2x3.
    assert_eq!(packed["a"], json!({"rows": 240, "cols": 201, "nnz": 480, "block": [2, 3]}));
    let bytes = 8 * (2 * 6 * 480 + 2 * 201 + 2 * 240) + 4 * (2 * 480 + 120 + 67);
    assert_eq!(packed["bytes"].as_i64(), Some(bytes));
    // Without sizes a family has about as many elements as are asked for.
    let scaled = benched(&desk, "uniform --operation transpose --elements 4800 --block 1,2x3 --together 2");
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
fn families_are_listed() {
    let list = Desk::new().ok("bench --list").stdout;
    for word in ["uniform:ROWSx", "power-law:8192x65536", "pose-graph", "6x3", "arrow", "cameras"] {
        assert!(list.contains(word), "{word}: {list}");
    }
}

/// A method that cannot compute a product leaves it to ESC, whose times are not given as its own.
#[test]
fn the_methods_that_ran_are_named_beside_the_one_asked_for() {
    let desk = Desk::new();
    let line = "uniform:60x3 --block 1,2 --method all";
    let json = benched(&desk, line);
    let results = json["results"].as_array().unwrap();
    let text = bench(&desk, &format!("{line} --rounds 1")).stdout;
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
    let text = bench(&desk, "uniform:60x3 --block 2 --method auto,esc,hash --semiring or-and --rounds 1").stdout;
    let variants = ["auto over or-and", "esc over or-and", "esc (asked: hash) over or-and"];
    assert!(variants.iter().all(|variant| text.contains(&format!("  {variant}  "))), "{text}");
}
