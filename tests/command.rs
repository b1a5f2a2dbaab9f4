//! The command as a user meets it: results, reports, messages, exit statuses.
#![cfg(feature = "cli")]
mod common;
use assert_cmd::Command;
use blockmul::{BlockShape, Csc, Element, Matrix, Method, io::matrix_market, reference};
use half::f16;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What a run of the command left: exit status, stdout, stderr.
struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

/// A folder for the files of a test, and the command run in it.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_blockmul"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        command
    }

    fn run(&self, line: &str) -> Ran {
        ran(self.command(line))
    }

    /// The run must succeed.
    fn ok(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.status, 0, "{line}\n{}", ran.stderr);
        ran
    }

    /// The run must fail with `status` and say every one of `words`.
    fn fails(&self, line: &str, status: i32, words: &[&str]) {
        let ran = self.run(line);
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{line}\n{}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{line}: no \"{word}\" in: {}", ran.stderr);
        }
    }

    /// `multiply` on the device under test: a missing device fails, it does not lead to the reference.
    fn multiply(&self, line: &str) -> Ran {
        self.ok(&format!("multiply --device {} {line}", common::device().info().index))
    }

    fn report(&self, line: &str) -> Value {
        serde_json::from_str(&self.multiply(&format!("{line} --report -")).stdout).unwrap()
    }

    fn read<T: Element>(&self, name: &str) -> Csc<T> {
        matrix_market::read(&self.path(name), Default::default()).unwrap().matrix.cast()
    }

    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn ran(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { status: output.status.code().expect("no signal"), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The same machine without OpenCL: a library that is none, or a library without drivers.
fn without_opencl(desk: &Desk, line: &str) -> [Ran; 2] {
    let folder = desk.path("no-opencl");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("libOpenCL.so.1"), "").unwrap();
    let mut broken = desk.command(line);
    broken.env("LD_LIBRARY_PATH", &folder).env_remove("OPENCL_DYLIB_PATH");
    let mut empty = desk.command(line);
    empty.env("OCL_ICD_VENDORS", desk.0.path().join("no-drivers")).env_remove("OCL_ICD_FILENAMES");
    [ran(broken), ran(empty)]
}

const SQUARE: &str = "%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 1 2\n3 1 3\n2 2 -1\n3 3 5\n";
const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1\n3 2\n";
const WIDE: &str = "%%MatrixMarket matrix coordinate real general\n2 4 3\n1 1 0.5\n2 3 1e3\n1 4 -2\n";
const EMPTY: &str = "%%MatrixMarket matrix coordinate real general\n4 4 0\n";

#[test]
fn every_subcommand_explains_itself() {
    let desk = Desk::new();
    let help = desk.ok("--help").stdout;
    for subcommand in ["multiply", "devices", "generate"] {
        assert!(help.contains(subcommand), "{help}");
        let help = desk.ok(&format!("{subcommand} --help")).stdout;
        assert!(help.contains("Examples:") && help.contains("Usage:"), "{help}");
    }
    let help = desk.ok("multiply --help").stdout;
    for option in [
        "--transpose-a",
        "--transpose-b",
        "--block ",
        "--block-b",
        "--element",
        "--device",
        "--method",
        "--verify",
        "--report",
        "--memory-limit",
        "--repeat",
        "--quiet",
        "--explain",
        "--output",
        "--sum-duplicates",
    ] {
        assert!(help.contains(option), "{option}: {help}");
    }
    assert!(desk.ok("--version").stdout.contains(env!("CARGO_PKG_VERSION")));
    desk.fails("", 2, &["Usage"]);
    desk.fails("divide", 2, &["divide"]);
}

#[test]
fn devices_are_listed_for_people_and_programs() {
    let (desk, device) = (Desk::new(), common::device());
    let table = desk.ok("devices").stdout;
    assert!(table.contains("index") && table.contains(&device.info().name), "{table}");
    let list: Value = serde_json::from_str(&desk.ok("devices --json").stdout).unwrap();
    let listed = &list[device.info().index];
    assert_eq!(listed["name"], device.info().name.as_str());
    assert_eq!(listed["platform"], device.info().platform.as_str());
    for field in
        ["driver", "version", "kind", "compute_units", "global_bytes", "max_alloc_bytes", "local_bytes", "fp64"]
    {
        assert!(!listed[field].is_null(), "{field}: {listed}");
    }
}

#[test]
fn without_opencl_the_command_says_what_to_install() {
    let desk = Desk::new();
    desk.put("a.mtx", SQUARE);
    for line in ["devices", "devices --json", "multiply a.mtx --device 0", "multiply a.mtx --method esc"] {
        for ran in without_opencl(&desk, line) {
            assert_eq!((ran.status, ran.stdout.as_str()), (3, ""), "{line}: {}", ran.stderr);
            assert!(ran.stderr.contains("pocl-opencl-icd") && ran.stderr.contains("tools/setup"), "{}", ran.stderr);
        }
    }
}

#[test]
fn without_opencl_auto_is_the_reference_and_says_so() {
    let desk = Desk::new();
    desk.put("a.mtx", SQUARE);
    let want = desk.multiply("a.mtx -o -").stdout;
    for ran in without_opencl(&desk, "multiply a.mtx -o - --report r.json") {
        assert_eq!((ran.status, &ran.stdout), (0, &want), "{}", ran.stderr);
        assert!(ran.stderr.contains("reference"), "{}", ran.stderr);
        let report: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
        assert_eq!((&report["device"]["name"], &report["method"]), (&"reference".into(), &"reference".into()));
    }
    let auto = desk.ok("multiply a.mtx");
    assert!(auto.stderr.contains("device: "), "auto says what it takes: {}", auto.stderr);
}

/// The file that the command wrote for `line` is the reference's product of `a` and `b`, element for element.
fn check_product<M: Matrix>(desk: &Desk, line: &str, a: &M, b: &M, scalars: impl Fn(M) -> Csc<M::Element>) {
    desk.multiply(&format!("{line} --element {} -o c.mtx", M::Element::NAME));
    let want = scalars(reference::multiply(a, b).unwrap());
    assert!(want.nnz() > 0);
    assert_eq!(desk.read::<M::Element>("c.mtx"), want, "{line} in {}", M::Element::NAME);
}

#[test]
fn generated_matrices_multiply_to_the_reference_by_every_method_in_every_type() {
    fn of_type<T: Element>(desk: &Desk, method: Method) {
        let method = format!("--method {}", method.name());
        let scalar = |m: Csc<T>| m;
        let h = desk.read::<T>("h.mtx.gz");
        check_product(desk, &format!("h.mtx.gz {method}"), &h, &h, scalar);
        let (u, p) = (desk.read::<T>("u.mtx"), desk.read::<T>("p.mtx"));
        check_product(desk, &format!("u.mtx p.mtx {method}"), &u, &p, scalar);
        let shape = |rows, cols| BlockShape::new(rows, cols).unwrap();
        let w = desk.read::<T>("w.mtx");
        let (a, b) = (w.to_blocks(shape(6, 3)).unwrap(), w.transpose().to_blocks(shape(3, 6)).unwrap());
        check_product(desk, &format!("w.mtx --block 6x3 {method}"), &a, &b, |c| c.to_scalars());
    }
    let desk = Desk::new();
    desk.ok("generate bundle-adjustment --cameras 9 --points 60 --views 3 --integer -o w.mtx");
    desk.ok("generate pose-graph --poses 30 --closures 20 --integer -o h.mtx.gz");
    desk.ok("generate uniform --rows 40 --cols 64 --per-column 3 --integer --seed 5 -o u.mtx");
    desk.ok("generate power-law --scale 6 --edges 200 --integer --seed 6 -o p.mtx");
    for &method in Method::ALL {
        of_type::<f64>(&desk, method);
        of_type::<f32>(&desk, method);
        of_type::<f16>(&desk, method);
    }
}

#[test]
fn generated_files_are_the_same_for_a_seed() {
    let desk = Desk::new();
    for family in
        ["bundle-adjustment --points 50", "pose-graph --poses 9 --closures 4", "uniform --rows 20", "power-law"]
    {
        let text = |seed: u32| desk.ok(&format!("generate {family} --seed {seed} -o -")).stdout;
        assert!(text(1).starts_with("%%MatrixMarket matrix coordinate real general\n"), "{family}");
        assert_eq!(text(1), text(1), "{family}");
        assert_ne!(text(1), text(2), "{family}");
    }
    let said = desk.ok("generate uniform --rows 10 --cols 12 --per-column 2 --block 2x3 -o u.mtx");
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", "u.mtx: 20 x 36, 24 blocks of 2x3\n"));
    assert_eq!(desk.ok("generate uniform -q -o u.mtx").stderr, "");
    desk.fails("generate uniform", 2, &["-o"]);
    desk.fails("generate uniform --rows 3 --per-column 4 -o x.mtx", 2, &["4", "3"]);
    desk.fails("generate pose-graph --poses 3 --closures 99 -o x.mtx", 2, &["99"]);
    desk.fails("generate uniform --block 33 -o x.mtx", 2, &["33x33"]);
    assert!(!desk.path("x.mtx").exists());
}

#[test]
fn without_b_the_product_is_of_a_by_itself_or_its_transpose() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("w.mtx", WIDE);
    let (s, w) = (desk.read::<f64>("s.mtx"), desk.read::<f64>("w.mtx"));
    let (st, wt) = (s.transpose(), w.transpose());
    for (line, a, b) in [
        ("s.mtx", &s, &s),
        ("w.mtx", &w, &wt),
        ("s.mtx --transpose-a", &st, &s),
        ("s.mtx --transpose-b", &s, &st),
        ("s.mtx --transpose-a --transpose-b", &st, &st),
        ("w.mtx --transpose-a", &wt, &w),
        ("w.mtx --transpose-b", &w, &wt),
        ("w.mtx w.mtx --transpose-b", &w, &wt),
        ("s.mtx w.mtx --transpose-b --block-b 1x2", &s, &s), // refused below
    ] {
        if line.contains("block-b") {
            desk.fails(&format!("multiply {line}"), 2, &["3x3", "4x1"]);
            continue;
        }
        check_product(&desk, line, a, b, |c| c);
    }
    desk.fails("multiply w.mtx w.mtx", 2, &["A is 2x4", "B is 2x4"]);
    assert!(desk.multiply("w.mtx").stderr.contains("B = Aᵀ"));
}

#[test]
fn integers_patterns_and_symmetric_files_are_read_as_values() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("p.mtx", SYMMETRIC);
    let out = desk.multiply("s.mtx p.mtx -o -").stdout;
    // [2 0 0; 0 -1 0; 3 0 5] · [1 0 1; 0 0 1; 1 1 0]
    let want =
        "%%MatrixMarket matrix coordinate real general\n3 3 6\n1 1 2.0\n3 1 8.0\n3 2 5.0\n1 3 2.0\n2 3 -1.0\n3 3 3.0\n";
    assert_eq!(out, want);
}

#[test]
fn blocks_take_the_shapes_asked_for_or_say_which() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 12 --per-column 3 --integer -o u.mtx");
    for (options, a, b, c) in [
        ("--block 3", "3x3", "3x3", "3x3"),
        ("--block 2x3", "2x3", "3x2", "2x2"),
        ("--block 2x3 --block-b 3x4", "2x3", "3x4", "2x4"),
        ("--block-b 1x2", "1x1", "1x2", "1x2"),
        ("", "1x1", "1x1", "1x1"),
    ] {
        let report = desk.report(&format!("u.mtx --verify {options}"));
        let block = |name: &str| format!("{}x{}", report[name]["block"][0], report[name]["block"][1]);
        assert_eq!([block("a"), block("b"), block("c")], [a, b, c], "{options}");
        assert_eq!((&report["c"]["rows"], &report["c"]["cols"]), (&12.into(), &12.into()), "scalars");
    }
    assert!(desk.multiply("u.mtx --block 2x3").stderr.contains("blocks: A 2x3, B 3x2"));
    // 3x5 does not divide 12 columns, so B falls back to 3x3.
    desk.ok("generate uniform --rows 10 --cols 12 --per-column 3 --integer -o v.mtx");
    assert!(desk.multiply("v.mtx u.mtx --block 5x3").stderr.contains("blocks: A 5x3, B 3x3"));
    desk.fails("multiply u.mtx --block 5", 2, &["12", "5"]);
    desk.fails("multiply u.mtx --block 0x3", 2, &["0x3"]);
    desk.fails("multiply u.mtx --block 2y3", 2, &["2y3"]);
    desk.fails("multiply u.mtx --block 2x3 --block-b 2x2", 2, &["blocks of 2x3", "blocks of 2x2"]);
}

#[test]
fn the_report_has_every_field_and_counts_as_it_says() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    let report = desk.report("s.mtx --verify");
    let keys: Vec<_> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let mut want = vec![
        "schema",
        "command",
        "device",
        "method",
        "element",
        "a",
        "b",
        "c",
        "products",
        "flops",
        "flops_paper",
        "expansion_factor",
        "bands",
        "peak_device_bytes",
        "stages",
        "total_ms",
        "gflops",
        "verified",
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
    // Column 1 of A meets columns 1 and 3, the others their own: 2 + 1 + 1 + 1 products, 4 entries.
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
    assert!(report["total_ms"].as_f64().unwrap() > 0.0 && report["peak_device_bytes"].as_u64().unwrap() > 0);
    let verified = serde_json::json!({"max_abs_error": 0.0, "max_rel_error": 0.0, "pattern_equal": true});
    assert_eq!(report["verified"], verified);

    let repeated = desk.report("s.mtx --repeat 3 --method esc");
    want.push("runs_ms");
    assert_eq!(sorted(&repeated.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>()), sorted(&want));
    let mut runs: Vec<f64> = repeated["runs_ms"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect();
    runs.sort_by(f64::total_cmp);
    assert_eq!((runs.len(), repeated["total_ms"].as_f64().unwrap()), (3, runs[1]));
    assert_eq!((&repeated["verified"], &repeated["method"]), (&Value::Null, &"esc".into()));
}

#[test]
fn the_report_counts_blocks_and_empty_products() {
    let desk = Desk::new();
    desk.put("e.mtx", EMPTY);
    let report = desk.report("e.mtx");
    assert_eq!((&report["c"]["nnz"], &report["products"], &report["flops_paper"]), (&0.into(), &0.into(), &0.into()));
    assert_eq!(report["expansion_factor"], Value::Null);
    // One 2x3 block by one 3x2: 12 multiplications, 8 additions.
    desk.put("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 4\n");
    let report = desk.report("b.mtx --block 2x3");
    assert_eq!((&report["a"]["nnz"], &report["c"]["nnz"], &report["products"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!((&report["flops"], &report["flops_paper"]), (&24.into(), &20.into()));
}

#[test]
fn the_reference_reports_and_verifies_too() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    let ran = desk.ok("multiply s.mtx --device reference --verify --repeat 2 --report -");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["device"]["name"], &report["method"]), (&"reference".into(), &"reference".into()));
    assert_eq!((&report["products"], &report["verified"]["pattern_equal"]), (&5.into(), &true.into()));
    assert_eq!((&report["stages"], &report["runs_ms"].as_array().unwrap().len()), (&Value::Array(vec![]), &2));
    desk.fails("multiply s.mtx --device reference --method esc", 2, &["esc", "reference"]);
}

#[test]
fn results_go_to_stdout_and_the_rest_to_stderr() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    let table = desk.multiply("s.mtx --verify");
    for word in ["3 x 3, 4 entries", "setup", "compression", "total", "bit for bit"] {
        assert!(table.stdout.contains(word), "{word}: {}", table.stdout);
    }
    let matrix = desk.multiply("s.mtx -o -");
    assert!(matrix.stdout.starts_with("%%MatrixMarket") && matrix.stderr.contains("setup"), "{}", matrix.stderr);
    let json = desk.multiply("s.mtx --report -");
    assert!(serde_json::from_str::<Value>(&json.stdout).is_ok() && json.stderr.contains("setup"));
    let quiet = desk.multiply("s.mtx --quiet --explain");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let quiet = desk.ok("multiply s.mtx --quiet --device auto --report -");
    assert!(serde_json::from_str::<Value>(&quiet.stdout).is_ok());
    assert_eq!(quiet.stderr, "");
    let explained = desk.multiply("s.mtx --explain");
    assert!(explained.stderr.contains("5 products") && explained.stderr.contains("4 runs"), "{}", explained.stderr);
    desk.fails("multiply s.mtx -o - --report -", 2, &["stdout"]);
    assert_eq!(desk.files(), ["s.mtx"]);
}

#[test]
fn wrong_usage_and_unreadable_inputs_are_status_2() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n");
    desk.put("twice.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n");
    desk.put("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    for (line, words) in [
        ("multiply", &["<A>"][..]),
        ("multiply s.mtx --no-such-option", &["--no-such-option"]),
        ("multiply s.mtx --element f8", &["f8", "f16"]),
        ("multiply s.mtx --method magic", &["magic", "esc"]),
        ("multiply s.mtx --memory-limit much", &["much", "2GiB"]),
        ("multiply s.mtx --repeat 0", &["0"]),
        ("multiply missing.mtx", &["missing.mtx"]),
        ("multiply bad.mtx", &["bad.mtx:4: "]),
        ("multiply twice.mtx", &["twice.mtx:4: "]),
        ("multiply complex.mtx", &["complex.mtx:1: ", "complex"]),
        ("multiply s.mtx bad.mtx -o c.mtx", &["bad.mtx:4: "]),
    ] {
        desk.fails(line, 2, words);
    }
    assert!(!desk.path("c.mtx").exists());
    assert!(desk.multiply("twice.mtx --sum-duplicates -o -").stdout.contains("1 1 9.0"));
}

#[test]
fn a_device_that_is_not_there_is_status_3_and_lists_what_is() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    let device = common::device();
    let name = &device.info().name;
    desk.fails("multiply s.mtx --device 99", 3, &["\"99\"", name]);
    desk.fails("multiply s.mtx --device nonesuch", 3, &["\"nonesuch\"", name]);
}

#[test]
fn a_limit_too_small_is_status_4_and_a_small_one_means_bands() {
    let desk = Desk::new();
    desk.ok("generate power-law --scale 12 --edges 60000 --integer -q -o p.mtx");
    let index = common::device().info().index;
    desk.fails(
        &format!("multiply p.mtx --device {index} --memory-limit 100kB -o c.mtx"),
        4,
        &["bytes needed", "available"],
    );
    assert_eq!(desk.files(), ["p.mtx"], "a failure leaves nothing");
    let whole = desk.report("p.mtx -o whole.mtx");
    let limit = whole["peak_device_bytes"].as_u64().unwrap() / 2;
    let banded = desk.report(&format!("p.mtx -o banded.mtx --memory-limit {limit}"));
    assert!(
        banded["bands"].as_u64().unwrap() > 1 && banded["peak_device_bytes"].as_u64().unwrap() <= limit,
        "{banded}"
    );
    assert_eq!(banded["c"], whole["c"]);
    assert!(std::fs::read(desk.path("whole.mtx")).unwrap() == std::fs::read(desk.path("banded.mtx")).unwrap());
}

#[test]
fn a_place_that_cannot_be_written_is_status_5() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    for option in ["-o", "--report"] {
        desk.fails(&format!("multiply s.mtx {option} nowhere/c"), 5, &["nowhere/c"]);
        desk.fails(&format!("multiply s.mtx {option} ."), 5, &["directory"]);
    }
    desk.fails("generate uniform -o nowhere/u.mtx", 5, &["nowhere/u.mtx"]);
    assert_eq!(desk.files(), ["s.mtx"]);
}

#[test]
fn outputs_are_compressed_by_name_and_replaced_whole() {
    let desk = Desk::new();
    desk.put("s.mtx", SQUARE);
    desk.put("c.mtx.gz", "something else");
    desk.multiply("s.mtx -o c.mtx.gz --report r.json");
    assert!(std::fs::read(desk.path("c.mtx.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    let s = desk.read::<f64>("s.mtx");
    assert_eq!(desk.read::<f64>("c.mtx.gz"), reference::multiply(&s, &s).unwrap());
    assert_eq!(desk.files(), ["c.mtx.gz", "r.json", "s.mtx"]);
}

#[test]
fn values_too_large_for_the_type_are_counted() {
    let desk = Desk::new();
    desk.put("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e6\n2 2 1\n");
    let ran = desk.multiply("b.mtx --element f16");
    assert!(ran.stderr.contains("1 of 2 values of A are too large for f16"), "{}", ran.stderr);
    assert!(!desk.multiply("b.mtx").stderr.contains("too large"));
}

/// Every file of the folder is multiplied or refused; none crashes, hangs, or is called an internal error.
#[test]
fn malformed_files_are_read_as_the_format_says_or_refused() {
    let Some(folder) = common::data("malformed") else { return };
    let desk = Desk::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut command = desk.command("multiply --device reference");
        let ran = ran({
            command.arg(&path).timeout(std::time::Duration::from_secs(60));
            command
        });
        match ran.status {
            0 => {}
            2 => assert!(names_a_line(&ran.stderr, &path), "{}", ran.stderr),
            status => panic!("{}: {status}: {}", path.display(), ran.stderr),
        }
    }
}

fn names_a_line(message: &str, path: &Path) -> bool {
    let after = message.split_once(&format!("{}:", path.display())).map_or("", |(_, after)| after);
    after.split_once(':').is_some_and(|(line, _)| line.parse::<u64>().is_ok())
}
