//! Tests of the JSON object of `--report`.
use super::*;
use blockmul::device::DeviceKind;

#[test]
fn the_report_has_every_field_and_counts_as_it_says() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let report = desk.report("s.mtx --method esc --verify");
    let keys: Vec<_> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let mut want = vec![
        "schema",
        "command",
        "device",
        "method",
        "bins",
        "element",
        "semiring",
        "a",
        "b",
        "c",
        "products",
        "flops",
        "flops_paper",
        "expansion_factor",
        "bands",
        "peak_device_bytes",
        "held_device_bytes",
        "launches",
        "stages",
        "total_ms",
        "kernels_ms",
        "gflops",
        "verified",
        "overflowed",
    ];
    let sorted = |keys: &[&str]| {
        let mut keys: Vec<String> = keys.iter().map(|key| key.to_string()).collect();
        keys.sort();
        keys
    };
    assert_eq!(sorted(&keys), sorted(&want));
    let size =
        |rows: u64, cols: u64, nnz: u64| serde_json::json!({"rows": rows, "cols": cols, "nnz": nnz, "block": [1, 1]});
    assert_eq!((&report["a"], &report["b"], &report["c"]), (&size(3, 3, 4), &size(3, 3, 4), &size(3, 3, 4)));
    // Column 1 of A selects columns 1 and 3, each other column only itself: 2 + 1 + 1 + 1 products,
    // 4 entries.
    assert_eq!((&report["products"], &report["flops"], &report["flops_paper"]), (&5.into(), &10.into(), &6.into()));
    assert_eq!((&report["expansion_factor"], &report["element"]), (&1.25.into(), &"f64".into()));
    assert_eq!(report["bands"], 1);
    let device = common::device();
    let name = |field: &str| report["device"][field].as_str().unwrap().to_owned();
    assert_eq!(name("name"), device.info().name);
    assert_eq!((name("platform"), name("driver")), (device.info().platform.clone(), device.info().driver.clone()));
    let stages = report["stages"].as_array().unwrap();
    let names: Vec<_> = stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["setup", "expansion", "segmented_sort", "tail_counts", "compression", "gather"]);
    for stage in stages {
        assert_eq!(stage.as_object().unwrap().len(), 2);
        assert!(stage["ms"].as_f64().unwrap() > 0.0, "{stage}");
    }
    assert!(report["launches"].as_u64().unwrap() >= names.len() as u64, "a kernel a stage");
    assert!(report["total_ms"].as_f64().unwrap() > 0.0 && report["peak_device_bytes"].as_u64().unwrap() > 0);
    assert!(report["kernels_ms"].as_f64().unwrap() > 0.0, "a process starts without kernels");
    let verified = serde_json::json!({"max_abs_error": 0.0, "max_rel_error": 0.0, "pattern_equal": true});
    assert_eq!(report["verified"], verified);

    let repeated = desk.report("s.mtx --repeat 3 --method esc");
    want.push("runs_ms");
    assert_eq!(sorted(&repeated.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>()), sorted(&want));
    let mut runs: Vec<f64> = repeated["runs_ms"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect();
    runs.sort_by(f64::total_cmp);
    assert_eq!((runs.len(), repeated["total_ms"].as_f64().unwrap()), (3, runs[1]));
    assert!(repeated["kernels_ms"].as_f64().unwrap() > 0.0, "loaded for the warm-up, reported for each run");
    assert_eq!((&repeated["verified"], &repeated["method"]), (&Value::Null, &"esc".into()));
    // A method that is requested computes every column that it can. ESC can compute all columns.
    let bin = &repeated["bins"][0];
    let sizes = (&bin["which"], &bin["method"], &bin["columns"], &bin["products"], &bin["measured_ms"]);
    assert_eq!(sizes, (&"all columns".into(), &"esc".into(), &3.into(), &5.into(), &Value::Null));
    assert_eq!(
        (&report["schema"], &report["bins"], bin["predicted_ms"].is_f64()),
        (&3.into(), &repeated["bins"], true)
    );
    let small = desk.report("s.mtx --verify");
    assert_eq!((&small["method"], &small["verified"]), (&"auto".into(), &verified));
    let by_host = small["bins"][0]["method"] == "host" && small["launches"] == 0;
    assert_eq!(by_host, device.info().kind == DeviceKind::Cpu, "{small}");
    let local = desk.report("s.mtx --method esc-local --verify");
    assert_eq!((&local["bins"][0]["method"], &local["verified"]), (&"esc-local".into(), &verified));
}

#[test]
fn the_report_counts_blocks_and_empty_products() {
    let desk = Desk::with([("e.mtx", EMPTY)]);
    let report = desk.report("e.mtx");
    assert_eq!((&report["c"]["nnz"], &report["products"], &report["flops_paper"]), (&0.into(), &0.into(), &0.into()));
    assert_eq!(report["expansion_factor"], Value::Null);
    // A block of 2x3 times a block of 3x2: 12 multiplications and 8 additions.
    desk.put("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 4\n");
    let report = desk.report("b.mtx --block 2x3");
    assert_eq!((&report["a"]["nnz"], &report["c"]["nnz"], &report["products"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!((&report["flops"], &report["flops_paper"]), (&24.into(), &20.into()));
}

#[test]
fn the_reference_reports_and_verifies_too() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let ran = desk.ok("multiply s.mtx --device reference --verify --repeat 2 --report -");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["device"]["name"], &report["method"]), (&"reference".into(), &"reference".into()));
    assert_eq!((&report["products"], &report["verified"]["pattern_equal"]), (&5.into(), &true.into()));
    assert_eq!((&report["stages"], &report["runs_ms"].as_array().unwrap().len()), (&Value::Array(vec![]), &2));
    assert_eq!(report["kernels_ms"], 0.0);
    desk.fails("multiply s.mtx --device reference --method esc", 2, &["esc", "reference"]);
}

/// `--explain` describes the stages of the host, and gives the reason for the host. Stages that did
/// not run are not explained.
#[test]
fn products_on_the_host_are_explained() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 200 --per-column 4 --block 1 -q -o u.mtx");
    desk.ok("generate uniform --rows 40 --per-column 4 --block 3 -q -o blocks.mtx");
    desk.put("empty.mtx", "%%MatrixMarket matrix coordinate real general\n5 5 0\n");
    desk.put("s.mtx", SQUARE);
    let explained = |line: &str, words: &[&str], others: &[&str]| {
        let ran = desk.multiply(&format!("{line} --explain"));
        let names: Vec<_> = ran.stderr.lines().filter_map(|line| line.split(' ').next()).collect();
        for name in words {
            assert!(names.contains(name), "{line}: no {name} in {}", ran.stderr);
        }
        assert!(!others.iter().any(|name| names.contains(name)), "{line}: {}", ran.stderr);
        ran
    };
    let host = explained("u.mtx --method host", &["read", "multiply"], &["choice", "setup", "no"]);
    assert!(host.stderr.contains("200 columns of B: 3200 products, 16 in the longest"), "{}", host.stderr);
    explained("empty.mtx --method esc", &["setup"], &["expansion", "gather", "choice"]);
    explained("u.mtx --method esc", &["setup", "expansion", "gather"], &["read", "multiply", "choice"]);
    // On a CPU the host computes products as small as these.
    if common::device().info().kind == DeviceKind::Cpu {
        for (line, why) in [
            ("u.mtx", "the host is predicted to take 0."),
            ("blocks.mtx", "the host is predicted to take less than the device"),
            ("empty.mtx", "there are no products"),
        ] {
            let auto = explained(line, &["choice", "read", "multiply"], &["setup", "no", "expansion", "sums"]);
            assert!(auto.stderr.contains(why), "{line}: {}", auto.stderr);
            assert!(auto.stdout.contains("by host on "), "{line}: {}", auto.stdout);
        }
        let scalars = desk.multiply("u.mtx --explain").stderr;
        assert!(scalars.contains(" ms, less than the device"), "{scalars}");
    }
}

/// `--explain` prints a table of the bins, with the columns and products that each has.
#[test]
fn explained_products_have_a_table_of_bins() {
    let desk = Desk::new();
    desk.ok("generate power-law --nodes 600 --edges 6000 -q -o p.mtx");
    let (in_ranges, ranges) = (common::device().info().kind == DeviceKind::Cpu, ["in ranges of columns"]);
    for (method, rows) in [
        // The host or ESC computes all columns; a CPU may compute them in ranges.
        ("auto", &[][..]),
        ("sort", &["products"]),
        ("dense", if in_ranges { &ranges } else { &["rows in a narrow range"] }),
        ("hub", &["rows in a narrow range, hubs"]),
    ] {
        let line = format!("p.mtx --method {method} --explain");
        let ran = desk.multiply(&format!("{line} --verify"));
        for words in ["columns of C", "predicted ms", "measured ms", "bit for bit"].iter().chain(rows) {
            assert!(ran.stdout.contains(words), "{method}: no \"{words}\" in {}", ran.stdout);
        }
        let of_all = ran.stdout.contains("all columns") || in_ranges && ran.stdout.contains(ranges[0]);
        assert!(of_all || method != "auto", "{}", ran.stdout);
        let report = desk.report(&line);
        let bins = report["bins"].as_array().unwrap();
        let products: u64 = bins.iter().map(|bin| bin["products"].as_u64().unwrap()).sum();
        assert_eq!(report["products"], products, "{method}: {bins:?}");
        for bin in bins {
            let times = [&bin["predicted_ms"], &bin["measured_ms"]].map(|ms| ms.as_f64().unwrap_or(-1.0));
            assert!(times.iter().all(|&ms| ms > 0.0), "{method}: {bin}");
        }
    }
    // Products of blocks have no costs of methods, so no times are predicted. Without `--explain`
    // nothing is measured.
    let blocks = desk.report("p.mtx --block 2 --explain");
    let times = |report: &Value| {
        let bin = &report["bins"][0];
        [bin["predicted_ms"].is_f64(), bin["measured_ms"].is_f64()]
    };
    assert_eq!((times(&blocks), times(&desk.report("p.mtx"))), ([false, true], [true, false]));
    assert!(!desk.multiply("p.mtx").stdout.contains("predicted"));
    assert!(!desk.ok("multiply --device reference p.mtx --explain").stdout.contains("predicted"));
}
