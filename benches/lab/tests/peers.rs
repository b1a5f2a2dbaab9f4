//! The programs of benches/peers that need only SciPy and faer, on small matrices: their inputs,
//! results, records and table.
#[expect(dead_code, reason = "its `main` is that of a benchmark")]
#[path = "../benches/peers_faer.rs"]
mod peer;

#[path = "../../../tests/library/outside.rs"]
mod common;

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

const NAMES: [&str; 6] = ["poisson500", "rmat12_b2", "er10k_b3", "pose6_10k", "schur_W_6x3", "ba_W_6x3"];

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers").join(name)
}

fn python(interpreter: &str, args: &[&str]) -> String {
    let output = Command::new(interpreter).arg("-B").args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn results(path: &Path) -> Vec<Value> {
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(file["schema"], "blockmul-bench/1");
    file["results"].as_array().unwrap().clone()
}

/// Makes the files of [`NAMES`] with some dozens of rows of blocks each. With more rows, products
/// would take seconds, because they are not optimised here.
fn inputs(interpreter: &str, folder: &Path) -> Vec<String> {
    let (make, folder_name) = (script("inputs.py"), folder.to_str().unwrap());
    python(interpreter, &[&[make.to_str().unwrap(), folder_name, "--shrink", "400"], &NAMES[..]].concat());
    NAMES.iter().map(|name| folder.join(name).with_extension("bsr").to_str().unwrap().to_owned()).collect()
}

#[test]
fn scipy_and_faer_are_timed_on_the_same_products_and_stand_in_one_table() {
    let Some(interpreter) = common::python("SciPy", "scipy.sparse, scipy.io") else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = inputs(&interpreter, folder.path());
    let [scipy, faer] = ["scipy.json", "faer.json"].map(|name| folder.path().join(name));

    let mut args = vec![script("scipy_bsr.py").to_str().unwrap().to_owned()];
    args.extend(files.iter().cloned());
    args.extend(["--rounds", "3", "--json", scipy.to_str().unwrap()].map(String::from));
    python(&interpreter, &args.iter().map(String::as_str).collect::<Vec<_>>());
    let options = ["--rounds", "3", "--json", faer.to_str().unwrap()].map(String::from);
    peer::run(files.into_iter().chain(options)).unwrap();

    let (of_scipy, of_faer) = (results(&scipy), results(&faer));
    assert_eq!(of_scipy.len(), 2 * NAMES.len() - 1, "BSR and CSR, of scalars CSR alone");
    assert_eq!(of_faer.len(), 4 * NAMES.len(), "from nothing and into a kept pattern, on one thread and on two");
    for record in of_scipy.iter().chain(&of_faer) {
        assert_eq!(record["verified"], true, "{record}");
        assert_eq!(record["runs_ms"].as_array().unwrap().len(), 3, "{record}");
        let other = of_scipy.iter().find(|other| other["matrix"] == record["matrix"]).unwrap();
        for same in ["a", "b", "products", "c_nnz", "flops"] {
            assert_eq!(record[same], other[same], "{same} of {}", record["matrix"]);
        }
    }

    // Records in which blockmul takes half of SciPy's time.
    let ours: Vec<Value> = of_scipy
        .iter()
        .map(|record| {
            let mut ours = record.clone();
            (ours["library"], ours["variant"]) = ("blockmul".into(), "esc".into());
            ours["ms"] = (record["ms"].as_f64().unwrap() / 2.0).into();
            ours
        })
        .filter(|record| record["matrix"] != "poisson500")
        .collect();
    let halved = folder.path().join("blockmul.json");
    let file = serde_json::json!({"schema": "blockmul-bench/1", "host": {}, "results": ours});
    std::fs::write(&halved, file.to_string()).unwrap();
    let table = python(&interpreter, &[&script("table.py"), &scipy, &faer, &halved].map(|path| path.to_str().unwrap()));
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
    assert_eq!(lines.len(), 2 + NAMES.len() + 1, "{table}");
    let column = lines[0].iter().position(|cell| *cell == "scipy csr sorted (1) / blockmul").unwrap();
    assert_eq!(lines.iter().find(|line| line[1] == "schur_W_6x3").unwrap()[column], "2.00", "{table}");
    assert_eq!(lines.iter().find(|line| line[1] == "poisson500").unwrap()[column], "-", "{table}");
    assert_eq!(lines.last().unwrap()[1], "geometric mean", "{table}");
}

#[test]
fn a_wrong_result_of_a_peer_is_no_time_but_a_reason() {
    let Some(interpreter) = common::python("SciPy", "scipy.sparse, scipy.io") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = &inputs(&interpreter, folder.path())[3];
    let records = folder.path().join("records.json");
    let program = "
import copy, pathlib, sys
sys.path.insert(0, sys.argv[1])
from blocks import Blocks, Records, Truth
from scipy_bsr import blocks, bsr
a = Blocks.read(sys.argv[2])
truth = Truth(a, a.partner())
product = bsr(truth.a) @ bsr(truth.b)
product.sort_indices()
right = blocks(product)
one_off, swapped, fewer = (copy.deepcopy(right) for _ in range(3))
one_off.values[7, 1, 2] += 1
swapped.columns[[0, 1]] = swapped.columns[[1, 0]]
fewer.columns, fewer.values, fewer.offsets[-1] = fewer.columns[:-1], fewer.values[:-1], fewer.offsets[-1] - 1
records = Records(pathlib.Path(sys.argv[3]), 'scipy', '1', 'CPU', 1)
for c in right, one_off, swapped, fewer:
    records.add(truth, 'bsr', 'f64', [1.0], truth.fault(c, 'f64'))
records.add(truth, 'bsr', 'f64', [1.0], truth.fault(fewer, 'f64', drops_zeros=True)) # but these were none
";
    let folder_of_peers = script("");
    python(&interpreter, &["-c", program, folder_of_peers.to_str().unwrap(), file, records.to_str().unwrap()]);
    let results = results(&records);
    let reason = |i: usize| results[i]["reason"].as_str().unwrap_or_default();
    assert_eq!((&results[0]["verified"], &results[0]["ms"]), (&Value::from(true), &Value::from(1.0)));
    for (i, words) in [(1, "times x is"), (2, "not ascending"), (3, "values, not"), (4, "times x is")] {
        assert!(reason(i).contains(words), "{}", results[i]);
        assert_eq!((&results[i]["verified"], &results[i]["ms"]), (&Value::from(false), &Value::Null));
    }
    let table = python(&interpreter, &[&script("table.py"), &records].map(|path| path.to_str().unwrap()));
    assert!(table.contains("values, not"), "{table}");
}

#[test]
fn a_conversion_and_products_of_each_width_have_lines_of_their_own() {
    let Some(interpreter) = common::python("SciPy", "scipy.sparse, scipy.io") else { return };
    let record = |variant: &str, columns: u32, ms: f64| {
        serde_json::json!({"library": "peer", "variant": variant, "threads": null, "matrix": "m", "b": {"cols": columns},
            "element": "f32", "flops": 2.0, "verified": true, "ms": ms})
    };
    let results = [
        record("dense csr by rows 9", 9, 1.0),
        record("dense csr by rows 5", 5, 2.0),
        record("from-dense by rows", 9, 3.0),
        record("esc", 9, 4.0),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.json");
    let file = serde_json::json!({"schema": "blockmul-bench/1", "host": {}, "results": results});
    std::fs::write(&path, file.to_string()).unwrap();
    let table = python(&interpreter, &[script("table.py").to_str().unwrap(), "--fastest", path.to_str().unwrap()]);
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
    let cases: Vec<_> = lines[2..].iter().map(|line| (line[1], line[3])).collect();
    assert_eq!(cases, [("m x 9", "1.000"), ("m x 5", "2.000"), ("m from dense", "3.000"), ("m", "4.000")], "{table}");
}

#[test]
fn products_with_vectors_have_lines_of_their_own() {
    let Some(interpreter) = common::python("SciPy", "scipy.sparse, scipy.io") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (files, path) = (inputs(&interpreter, folder.path()), |name: &str| folder.path().join(name));
    let (applied, right_and_wrong, ours) = (path("scipy.json"), path("two.json"), path("blockmul.json"));
    let mut args = vec![script("apply_scipy.py").to_str().unwrap().to_owned()];
    args.extend(files.iter().cloned());
    args.extend(["--rounds", "3", "--json", applied.to_str().unwrap()].map(String::from));
    python(&interpreter, &args.iter().map(String::as_str).collect::<Vec<_>>());
    let records = results(&applied);
    assert_eq!(records.len(), 2 * (2 * NAMES.len() - 1), "BSR and CSR, of scalars CSR alone, in f64 and in f32");
    for record in &records {
        let size = |field: &str| record["a"]["block"][0].as_u64().unwrap() * record["a"][field].as_u64().unwrap();
        assert_eq!((&record["verified"], &record["c_nnz"]), (&true.into(), &size("rows").into()), "{record}");
        assert_eq!(record["flops"], 2 * record["a"]["block"][1].as_u64().unwrap() * size("nnz"), "{record}");
    }

    // Records of blockmul. All formats that `auto` chose share one column of the table.
    let auto = |matrix: &str, format: &str| {
        serde_json::json!({"library": "blockmul", "variant": format!("apply auto: {format}"), "matrix": matrix,
            "b": {"cols": 1}, "element": "f64", "flops": 2.0, "verified": true, "ms": 0.25})
    };
    let file =
        serde_json::json!({"schema": "blockmul-bench/1", "results": [auto(NAMES[0], "csr"), auto(NAMES[1], "ell")]});
    std::fs::write(&ours, file.to_string()).unwrap();
    let table = python(&interpreter, &[&script("table.py"), &applied, &ours].map(|path| path.to_str().unwrap()));
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
    let column = lines[0].iter().position(|cell| *cell == "blockmul auto").unwrap();
    assert!(lines[0].contains(&"scipy csr (1)"), "{table}");
    for (name, ms) in NAMES.iter().zip(["0.250", "0.250", "-", "-", "-", "-"]) {
        let line = lines.iter().find(|line| line[1] == format!("{name} · x") && line[2] == "f64").unwrap();
        assert_eq!(line[column], ms, "{table}");
    }

    let program = "
import sys
sys.path.insert(0, sys.argv[1])
import pathlib
from apply_scipy import Applied, bsr
from blocks import Blocks, Records
a = Blocks.read(sys.argv[2])
truth = Applied(a)
y = bsr(a) @ truth.x
records = Records(pathlib.Path(sys.argv[3]), 'scipy', '1', 'CPU', 1)
for change in 0, 1:
    y[3] += change
    records.add(truth, 'apply bsr', 'f64', [1.0], truth.fault(y, 'f64'))
";
    let args =
        ["-c", program, script("").to_str().unwrap(), &files[3], right_and_wrong.to_str().unwrap()].map(String::from);
    python(&interpreter, &args.each_ref().map(String::as_str));
    let found = results(&right_and_wrong);
    assert_eq!([&found[0]["verified"], &found[1]["verified"]], [true, false]);
    assert!(found[1]["reason"].as_str().unwrap().starts_with("sum 3 is "), "{}", found[1]);
}

#[test]
fn the_products_of_an_iteration_are_timed_each_and_together() {
    let Some(interpreter) = common::python("SciPy", "scipy.sparse, scipy.io") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    // Two problems: 5 cameras that all see 8 points, and 12 poses in a ring with their edges.
    let program = "
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from inputs import write
folder, each, edges = pathlib.Path(sys.argv[2]), np.arange(40), np.arange(12)
write(folder / 'Jc.bsr', np.arange(41), each % 5, 5, (2, 9))
write(folder / 'Jp.bsr', np.arange(41), each // 5, 8, (2, 3))
write(folder / 'J.bsr', np.arange(0, 25, 2), np.sort(np.stack([edges, (edges + 1) % 12]), axis=0).T.ravel(), 12, (3, 3))
write(folder / 'Omega.bsr', np.arange(13), edges, 12, (3, 3))
";
    python(&interpreter, &["-c", program, script("").to_str().unwrap(), &path("")]);
    let iteration = script("iteration.py").to_str().unwrap().to_owned();
    let options = ["--name", "small", "--rounds", "3"];
    let of = |problem: &str, files: [&str; 2]| {
        let (files, json) = (files.map(path), path(&format!("{problem}.json")));
        let args = [iteration.as_str(), problem, &files[0], &files[1], "--json", &json, "--write", &path("factors")];
        python(&interpreter, &[&args[..], &options].concat());
        results(Path::new(&json))
    };
    let bundle = of("bundle-adjustment", ["Jc.bsr", "Jp.bsr"]);
    let graph = of("pose-graph", ["J.bsr", "Omega.bsr"]);
    assert_eq!((bundle.len(), graph.len()), (12, 4), "of each formula and of all, BSR and CSR");
    for (name, blocks) in [("U", 5), ("W", 40), ("V", 8), ("Z", 40), ("S", 25), ("H", 36)] {
        let named = format!("small {name}");
        let records: Vec<_> = bundle.iter().chain(&graph).filter(|record| record["matrix"] == named).collect();
        assert_eq!(records.len(), 2, "{named}");
        for record in records {
            assert_eq!((&record["verified"], &record["c_nnz"]), (&Value::from(true), &Value::from(blocks)), "{record}");
        }
    }
    for whole in bundle.iter().filter(|record| record["matrix"] == "small all") {
        let parts = bundle.iter().filter(|part| part["variant"] == whole["variant"] && part["matrix"] != "small all");
        let ms: f64 = parts.map(|part| part["ms"].as_f64().unwrap()).sum();
        assert!((ms - whole["ms"].as_f64().unwrap()).abs() < 1e-9, "{whole}");
    }
    let table =
        python(&interpreter, &[script("table.py").to_str().unwrap(), "--fastest", &path("bundle-adjustment.json")]);
    let header: Vec<&str> = table.lines().next().unwrap().split('|').map(str::trim).collect();
    assert_eq!(header, ["", "ms", "element", "scipy", ""], "{table}");

    // `U.bsr` beside the Jacobian is a solver's own result. The test requires that a right U is
    // accepted, and a wrong one is not.
    std::fs::copy(path("factors/U.bsr"), path("U.bsr")).unwrap();
    of("bundle-adjustment", ["Jc.bsr", "Jp.bsr"]);
    let mut other = std::fs::read(path("U.bsr")).unwrap();
    *other.last_mut().unwrap() ^= 1;
    std::fs::write(path("U.bsr"), other).unwrap();
    let refused = Command::new(&interpreter)
        .arg("-B")
        .args([iteration.as_str(), "bundle-adjustment", &path("Jc.bsr"), &path("Jp.bsr")])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not what its formula gives"), "{refused:?}");
}
