//! `blockmul bench`: its table, its JSON, what it refuses; and the tools that compare and plot what it writes.
use super::*;
use serde_json::json;

/// `bench` on the device under test.
fn bench(desk: &Desk, line: &str) -> Ran {
    desk.run(&format!("bench --device {} {line}", common::device().info().index))
}

fn benched(desk: &Desk, line: &str) -> Value {
    let ran = bench(desk, &format!("{line} --json - --rounds 3"));
    assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Columns one blank apart, without what depends on the machine: measured numbers, the device, how many kernels it takes.
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
    let ran = bench(&desk, "uniform:60x3 bundle-adjustment:9x40x3 --block 1,2x3 --element f64,f32 --rounds 2");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let want = "\
matrix block element method device products nnz(C) ms spread % Gflop/s launches verified
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
fn a_single_product_shows_its_stages() {
    let desk = Desk::new();
    let ran = bench(&desk, "pose-graph:40x20 --rounds 2 --method esc");
    let want = "\
matrix block element method device products nnz(C) ms spread % Gflop/s launches verified
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
    let several = bench(&desk, "pose-graph:40x20 --block 3,6 --rounds 1 --stages").stdout;
    assert_eq!(several.matches("compression").count(), 2, "{several}");
    let quiet = bench(&desk, "pose-graph:40x20 --rounds 1 --quiet --json r.json");
    assert_eq!((quiet.status, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    assert!(desk.files().contains(&"r.json".to_owned()));
}

#[test]
fn the_json_has_every_time_and_counts_as_it_says() {
    let desk = Desk::new();
    let all = benched(&desk, "bundle-adjustment:9x40x3 --element f32");
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
    // Without a product nothing follows the first stage, and nothing takes time.
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
    // A file of blocks is timed in its own.
    let own = benched(&desk, "h.bin");
    assert_eq!(own["results"][0]["a"]["block"], json!([6, 6]));
    assert_eq!(own["results"][0]["b"]["nnz"], 20 + 2 * 19 + 2 * 5);
}

#[test]
fn what_cannot_be_timed_is_told_and_the_rest_goes_on() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
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
        ("s.mtx --max-time never", 2, &["not a number of seconds"]),
        ("s.mtx --list", 2, &["--list"]),
        ("s.mtx --json no/folder/r.json", 5, &["no/folder/r.json"]),
    ] {
        desk.fails(&format!("bench --device {device} {line}"), status, words);
    }
    desk.fails("bench --device nonesuch", 3, &["nonesuch"]);
    // The rest goes on, and is in the file as well.
    let ran = bench(&desk, "s.mtx short.bcsr uniform:9x2 --block 2,3 --rounds 1 --json r.json");
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("short.bcsr: sizes") && ran.stderr.contains("cannot be cut"), "{}", ran.stderr);
    assert_eq!(ran.stdout.matches("yes").count(), 3, "{}", ran.stdout);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
    assert_eq!(kept["results"].as_array().unwrap().len(), 3);
}

#[test]
fn families_are_listed() {
    let list = Desk::new().ok("bench --list").stdout;
    for word in ["uniform:ROWSx", "power-law:8192x65536", "pose-graph", "6x3"] {
        assert!(list.contains(word), "{word}: {list}");
    }
}

/// A file of one library with products of so many runs each.
fn results(library: &str, records: &[(&str, [usize; 2], Vec<f64>)]) -> String {
    let record = |(matrix, block, runs): &(&str, [usize; 2], Vec<f64>)| {
        let mut sorted = runs.clone();
        sorted.sort_by(f64::total_cmp);
        let (ms, flops) = (sorted[sorted.len() / 2], 2000 * block[0] * block[1] * block[0]);
        let stage = json!({"name": "setup", "runs_ms": runs, "ms": ms});
        json!({
            "library": library, "variant": "v", "device": "d", "matrix": matrix, "element": "f64", "verified": true,
            "a": {"block": block}, "products": 1000, "flops": flops, "runs_ms": runs, "ms": ms,
            "gflops": flops as f64 / ms / 1e6, "stages": [stage],
        })
    };
    let records: Vec<_> = records.iter().map(record).collect();
    json!({"schema": "blockmul-bench/1", "host": {}, "results": records}).to_string()
}

/// Eleven runs around `ms`, `noise` to either side.
fn runs(ms: f64, noise: f64) -> Vec<f64> {
    (0..11).map(|i| ms * (1.0 + noise * (f64::from(i * 7 % 11) / 5.0 - 1.0))).collect()
}

/// A script of `tools/`, run in the desk's folder.
fn tool(desk: &Desk, python: &str, line: &str) -> Ran {
    let mut words = line.split_whitespace();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools").join(words.next().unwrap());
    let mut command = Command::new(python);
    command.arg(script).args(words).current_dir(desk.path(""));
    ran(command)
}

#[test]
fn two_files_are_compared_as_their_noise_allows() {
    let Some(python) = common::python("json", "json") else { return };
    let desk = Desk::new();
    let (square, wide) = ([3, 3], [6, 3]);
    let old = [("a", square, runs(10.0, 0.02)), ("b", square, runs(10.0, 0.02)), ("c", wide, runs(10.0, 0.9))];
    let new = [("a", square, runs(8.0, 0.02)), ("b", square, runs(13.0, 0.02)), ("c", wide, runs(11.0, 0.9))];
    desk.put("old.json", &results("blockmul", &old));
    desk.put("new.json", &results("blockmul", &new));
    let compared = tool(&desk, &python, "bench-compare old.json new.json");
    assert_eq!(compared.status, 0, "{}", compared.stderr);
    let word = |matrix: &str| {
        let line = compared.stdout.lines().find(|line| line.starts_with(&format!("{matrix} "))).unwrap();
        line.split("  ").last().unwrap().to_owned()
    };
    assert_eq!([word("a"), word("b"), word("c")], ["faster", "slower", "no difference"], "{}", compared.stdout);
    assert!(compared.stdout.contains(" 0.800 ") && compared.stdout.contains(" 1.300 "), "{}", compared.stdout);
    assert!(compared.stdout.contains("1 faster, 1 slower, 1 no difference"), "{}", compared.stdout);
    assert_eq!(tool(&desk, &python, "bench-compare old.json new.json").stdout, compared.stdout, "the same every time");
    let stages = tool(&desk, &python, "bench-compare old.json new.json --stages").stdout;
    assert_eq!(stages.matches(" setup ").count(), 3, "{stages}");

    // The runs of several files count together: half of them as before, half of them not.
    let pooled = tool(&desk, &python, "bench-compare old.json old.json,new.json");
    assert!(pooled.stdout.contains(" 1.147 "), "{}", pooled.stdout);
    assert!(pooled.stdout.contains("0 faster, 0 slower, 3 no difference"), "{}", pooled.stdout);

    // b is at least 25 % slower, c only looks slower.
    for (limit, status) in [("20", 1), ("60", 0)] {
        let ran = tool(&desk, &python, &format!("bench-compare old.json new.json --fail-above {limit}"));
        assert_eq!(ran.status, status, "{limit}: {}", ran.stderr);
        assert_eq!(ran.stderr.contains("b 3x3 f64"), status == 1, "{}", ran.stderr);
        assert!(!ran.stderr.contains("c 6x3"), "{}", ran.stderr);
    }
    // Other libraries are others, and what is on one side only is named.
    desk.put("mkl.json", &results("mkl", &new[..1]));
    let others = tool(&desk, &python, "bench-compare old.json mkl.json");
    assert!(
        others.stdout.contains("3 only in old.json") && others.stdout.contains("a 3x3 f64 (mkl)"),
        "{}",
        others.stdout
    );

    desk.put("none.json", "{}");
    desk.put("broken.json", "{");
    desk.put("later.json", "{\"schema\": \"blockmul-bench/9\", \"results\": []}");
    for (file, words) in [
        ("missing.json", "missing.json: No such file"),
        ("none.json", "not a result"),
        ("broken.json", "not JSON"),
        ("later.json", "blockmul-bench/9"),
    ] {
        let ran = tool(&desk, &python, &format!("bench-compare old.json {file}"));
        assert!(ran.status == 2 && ran.stderr.contains(words), "{file}: {}", ran.stderr);
    }
}

#[test]
fn a_slowdown_in_real_files_is_none_against_themselves() {
    let Some(python) = common::python("json", "json") else { return };
    let desk = Desk::new();
    let ran = bench(&desk, "uniform:60x3 --rounds 3 -q --json r.json");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let ran = tool(&desk, &python, "bench-compare r.json r.json --stages --fail-above 0");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("0 faster, 0 slower, 1 no difference"), "{}", ran.stdout);
}

#[test]
fn files_are_plotted() {
    let Some(python) = common::python("matplotlib", "matplotlib") else { return };
    let desk = Desk::new();
    let of = |name: &'static str, side: usize| (name, [side, side], runs(side as f64, 0.1));
    let ours = [of("blk2_er", 2), of("blk3_er", 3), of("lone", 4), ("w", [6, 3], runs(3.0, 0.1))];
    desk.put("ours.json", &results("blockmul", &ours));
    desk.put("theirs.json", &results("mkl", &[of("blk2_er", 2), of("blk3_er", 3)]));
    for (line, output) in [
        ("ours.json theirs.json --title Two", "both.svg"),
        ("theirs.json", "theirs.svg"),
        ("ours.json theirs.json", "both.png"),
    ] {
        let ran = tool(&desk, &python, &format!("bench-plot {line} -o {output}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{line}: {}", ran.stderr);
    }
    assert_eq!(std::fs::read(desk.path("both.png")).unwrap()[..8], *b"\x89PNG\r\n\x1a\n");
    // Matplotlib names in comments what it draws as curves.
    let svg = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
    let (both, theirs) = (svg("both.svg"), svg("theirs.svg"));
    for word in ["Two", "blockmul", "mkl", "er", "Gflop/s", "side of a block", "time against products"] {
        assert!(both.contains(&format!("<!-- {word} -->")), "{word}");
    }
    assert!(!both.contains("<!-- lone -->"), "one size makes no line");
    assert!(theirs.contains("<!-- mkl -->") && !theirs.contains("<!-- blockmul -->"));
    for (line, status, words) in [
        ("ours.json --element f16 -o a.png", 2, "no record has a time"),
        ("ours.json missing.json -o a.png", 2, "missing.json: No such file"),
        ("ours.json -o a.nonesuch", 5, "a.nonesuch"),
        ("ours.json", 2, "-o"),
    ] {
        let ran = tool(&desk, &python, &format!("bench-plot {line}"));
        assert!(ran.status == status && ran.stderr.contains(words), "{line}: {} {}", ran.status, ran.stderr);
    }
}
