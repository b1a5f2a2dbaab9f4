//! `lab paper`: the folder that contains the measurements of a paper.
mod parger;
mod polok;
mod shi;
mod vectors;

use super::*;
use blockmul::io::ReadOptions;
use serde_json::json;
use std::path::PathBuf;

/// Runs a study that writes the folder `p`. Returns the page and the JSON object of the study.
fn study(desk: &Desk, line: &str) -> (String, Value) {
    let ran = lab(desk, &format!("{line} --rounds 1 -o p"));
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{line}: {}", ran.stderr);
    let read = |name: &str| std::fs::read_to_string(desk.path("p").join(name)).unwrap();
    (read("report.md"), serde_json::from_str(&read("report.json")).unwrap())
}

/// Checks that every picture on the page is a PNG file in the folder.
fn has_its_pictures(desk: &Desk, page: &str, names: &[&str]) {
    for name in names {
        assert!(page.contains(&format!("]({name})")), "no {name} in {page}");
    }
    for name in page.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        if name.ends_with(".png") {
            let bytes = std::fs::read(desk.path("p").join(name)).unwrap();
            assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 500, "{name}");
        }
    }
}

/// The peak memory of the other library.
const PEER_BYTES: u64 = 1 << 30;

/// A time of the other library: its variant, the element, milliseconds, and whether the result was
/// right.
type Time = (&'static str, &'static str, f64, bool);

/// Writes a file with times of the other library.
fn put_times(desk: &Desk, matrix: &str, times: &[Time]) {
    let record = |&(variant, element, ms, verified): &Time| {
        json!({"library": "other", "version": "3", "variant": variant, "threads": 2, "device": "d", "matrix": matrix,
            "element": element, "verified": verified, "ms": ms, "flops": 1, "products": 1,
            "peak_device_bytes": PEER_BYTES})
    };
    let records: Vec<Value> = times.iter().map(record).collect();
    desk.put("peers.json", &json!({"schema": "blockmul-bench/1", "host": {}, "results": records}).to_string());
}

/// Writes a file with products of two sparse matrices by the other library.
fn put_peers(desk: &Desk, matrix: &str) {
    put_times(desk, matrix, &[("slow", "f64", 70.0, true), ("fast", "f64", 50.0, true), ("wrong", "f64", 1.0, false)]);
}

/// Models are measured beside a file, and are written for other libraries. The times of these
/// libraries are matched by name.
#[test]
fn models_are_measured_beside_files_and_written_for_other_libraries() {
    let desk = Desk::new();
    for paper in ["polok", "parger"] {
        let ran = lab(&desk, &format!("paper {paper} --max-products 900 --write-models -o m"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
    }
    let mut written: Vec<_> =
        std::fs::read_dir(desk.path("m")).unwrap().map(|file| file.unwrap().file_name()).collect();
    written.sort();
    let of_polok = ["bundle-adjustment:8x10x5.bsr", "pose-graph:8x8.bsr", "like roadNet-CA.bsr", "like as-Skitter.bsr"];
    let of_parger = ["mario002.bsr", "stat96v2.bsr", "arrow:9e2.bsr", "ratings:9e2.bsr", "bundle-adjustment:9e2.bsr"];
    assert!([&of_polok[..], &of_parger].concat().iter().all(|name| written.contains(&(*name).into())), "{written:?}");
    assert!(!written.contains(&"long-columns:9e2.bsr".into()), "a product of two matrices");
    assert_eq!(written.len(), 9 + 2 + 10 + 17);

    for name in ["arrow:9e2.bsr", "pose-graph:8x8.bsr"] {
        let file = blockmul::io::read(desk.path("m").join(name), &ReadOptions::default()).unwrap();
        let values = file.matrix.values();
        assert!(values.iter().all(|value| (1.0..=8.0).contains(value) && value.fract() == 0.0), "{name}: {values:?}");
    }

    let only =
        |names: &str| lab(&desk, &format!("paper parger --max-products 900 --write-models --only {names} -o only"));
    assert_eq!(only("mario002,arrow:9e2").status, 0);
    let files: Vec<_> = files_of(&desk, "only").into_iter().map(|(path, _)| path).collect();
    assert_eq!(files, ["arrow:9e2.bsr", "mario002.bsr"].map(|name| desk.path("only").join(name)));
    let ran = only("mario003");
    assert!(ran.status == 2 && ran.stderr.contains("no matrix is called mario003"), "{}", ran.stderr);

    // The model that was written is the same as the one that is measured.
    put_peers(&desk, "mario002");
    put_uniform(&desk, "g.mtx", 60, 4);
    let (page, object) = study(&desk, "paper parger g.mtx --models --max-products 900 --by-rows --peers peers.json");
    let products = object["products"].as_array().unwrap();
    assert_eq!((products.len(), &products[0]["what"], &products[0]["matrix"]), (29, &"a file".into(), &"g".into()));
    let of = |name: &str| products.iter().find(|of| of["matrix"] == name).unwrap();
    assert_eq!((&of("mario002")["common"], &of("arrow:9e2")["common"]), (&true.into(), &false.into()));
    let written = blockmul::io::read(desk.path("m/mario002.bsr"), &ReadOptions::default()).unwrap();
    assert_eq!(of("mario002")["a"]["nnz"], written.matrix.nnz());
    let mut rank = object["table_3"].as_array().unwrap().iter().filter(|rank| rank["name"] == "other");
    assert_eq!(rank.next().unwrap()["invalid"], 28, "of all but the model");
    assert_eq!(page.matches("](figure-8-").count(), 11, "the file and the models");
}

#[test]
fn a_report_replaces_the_figures_of_the_one_before() {
    let desk = Desk::new();
    let figures = |object: &Value| -> Vec<String> { serde_json::from_value(object["figures"].clone()).unwrap() };
    let (_, first) = study(&desk, "paper polok pose-graph:9x4");
    assert!(figures(&first).contains(&"figure-1.png".into()), "{first}");
    desk.put("p/figure-99.png", "the reader's");
    desk.put("p/notes.txt", "the reader's");
    for (inputs, shown) in [("arrow:40 arrow:50", 2), ("arrow:40", 1)] {
        let (page, object) = study(&desk, &format!("paper parger {inputs}"));
        has_its_pictures(&desk, &page, &["figure-6.png"]);
        let figures = figures(&object);
        assert_eq!(figures.iter().filter(|name| name.starts_with("figure-8-")).count(), shown);
        let mut expected: Vec<String> =
            ["report.md", "report.json", "figure-99.png", "notes.txt"].map(Into::into).into();
        expected.extend(figures);
        let mut files: Vec<String> = std::fs::read_dir(desk.path("p"))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        expected.sort();
        files.sort();
        assert_eq!(files, expected);
    }

    // The pictures that a report names are not removed if another program wrote the report, or if
    // their names lead out of the folder.
    desk.put("kept.png", "the reader's");
    for (schema, name) in [("other/1", "notes.png"), ("blockmul-paper/1", "../kept.png")] {
        desk.put("p/notes.png", "the reader's");
        desk.put("p/report.json", &json!({"schema": schema, "figures": [name]}).to_string());
        study(&desk, "paper garland arrow:40");
        assert!(desk.path("p/notes.png").exists() && desk.path("kept.png").exists(), "{name}");
    }
}

/// The paper `shi` is not tested, because it measures squares as well.
#[test]
fn an_unreadable_file_is_named_once_and_leaves_the_report_before_it() {
    let desk = Desk::with([("bad.mtx", "nothing\n"), ("a.mtx", SQUARE)]);
    for paper in ["garland", "polok", "parger", "evtushenko"] {
        let refused = |kept: &str| {
            let ran = lab(&desk, &format!("paper {paper} bad.mtx -o {paper} --rounds 1"));
            let errors: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
            assert!(ran.status == 2 && errors.len() == 2, "{paper}: {}", ran.stderr);
            assert!(errors[0].starts_with("error: bad.mtx:1: "), "{paper}: {}", ran.stderr);
            assert_eq!(errors[1], format!("error: {paper}: nothing was measured, {kept}"));
        };
        refused("no report is written");
        assert!(files_of(&desk, paper).is_empty());
        // The tests of the other papers get a copy of garland's folder with its pictures.
        if paper == "garland" {
            let ran = lab(&desk, "paper garland a.mtx -o garland --rounds 1");
            assert_eq!(ran.status, 0, "{}", ran.stderr);
        } else {
            files_of(&desk, "garland").iter().for_each(|(path, bytes)| {
                std::fs::write(desk.path(paper).join(path.file_name().unwrap()), bytes).unwrap();
            });
        }
        let before = files_of(&desk, paper);
        assert!(before.len() > 2, "{paper}: a report with figures");
        refused("it keeps the report it has");
        assert!(files_of(&desk, paper) == before, "{paper}");
    }
    let ran = lab(&desk, "paper shi bad.mtx --squares 9:0.5 -o shi --rounds 1");
    let errors: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(ran.status == 2 && errors.len() == 1 && errors[0].starts_with("error: bad.mtx:1: "), "{}", ran.stderr);
    assert!(files_of(&desk, "shi").len() > 2, "what was measured is reported");
}

/// The paths and the contents of the files in a folder.
fn files_of(desk: &Desk, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(desk.path(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn what_is_no_paper_is_refused() {
    let desk = Desk::new();
    desk.put("other.json", r#"{"schema": "other/1", "results": []}"#);
    for (line, words) in [
        ("paper polok", "--output"),
        ("paper bell -o p", "polok"),
        ("paper polok -o p --json t.json", "--json"),
        ("paper polok -o p --element f32", "--element"),
        ("paper shi -o p --columns 7", "--columns"),
        ("paper polok -o p --peers nowhere.json", "nowhere.json"),
        ("paper polok -o p --peers other.json", "other/1"),
        ("regret uniform:9x2 -o p", "'-o'"),
        ("regret uniform:9x2 --peers other.json", "--peers"),
        ("paper polok -o p --squares 9:0.5", "--squares is for shi"),
        ("paper shi -o p --squares 9:1", "N:S"),
        ("paper shi -o p --only cage13", "--only is for parger"),
        ("regret uniform:9x2 --models", "--models"),
        ("regret --write-models", "--write-models"),
        ("paper shi -o p --squares 9:0.5 --write-models", "--write-models"),
        ("paper polok uniform:9x2 -o p --write-models", "--write-models"),
        ("paper polok -o other.json", "other.json is no folder"),
    ] {
        refused(&desk, line, words);
    }
    assert_eq!(desk.files(), ["other.json"]);
}
