//! `bench --paper`: the folder of a paper's measurements.
use super::bench::bench;
use super::*;
use blockmul::device::DeviceKind;
use blockmul::io::ReadOptions;
use serde_json::json;

/// Runs a study into the folder `p`, and returns its page and its object.
fn study(desk: &Desk, line: &str) -> (String, Value) {
    let ran = bench(desk, &format!("{line} --rounds 1 -o p"));
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{line}: {}", ran.stderr);
    let read = |name: &str| std::fs::read_to_string(desk.path("p").join(name)).unwrap();
    (read("report.md"), serde_json::from_str(&read("report.json")).unwrap())
}

/// Every picture that the page shows is a PNG file of the folder.
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

/// Most memory of another library.
const PEER_BYTES: u64 = 1 << 30;

/// A file of another library's times.
fn put_peers(desk: &Desk, matrix: &str) {
    let record = |variant: &str, ms: f64, verified: bool| {
        json!({"library": "other", "version": "3", "variant": variant, "threads": 2, "device": "d", "matrix": matrix,
            "element": "f64", "verified": verified, "ms": ms, "flops": 1, "products": 1,
            "peak_device_bytes": PEER_BYTES})
    };
    let records = [record("slow", 70.0, true), record("fast", 50.0, true), record("wrong", 1.0, false)];
    desk.put("peers.json", &json!({"schema": "blockmul-bench/1", "host": {}, "results": records}).to_string());
}

/// Another library's products with a vector, beside a product of matrices and one with a dense
/// matrix.
fn put_vectors(desk: &Desk, matrix: &str) {
    let record = |variant: &str, ms: f64, verified: bool| {
        json!({"library": "other", "version": "3", "variant": variant, "threads": 2, "device": "d", "matrix": matrix,
            "element": "f64", "verified": verified, "ms": ms, "flops": 1, "products": 1})
    };
    let records = [
        record("apply slow", 7.0, true),
        record("apply fast", 5.0, true),
        record("apply wrong", 1.0, false),
        record("csr", 0.1, true),
        record("dense csr by rows 9", 0.1, true),
    ];
    desk.put("peers.json", &json!({"schema": "blockmul-bench/1", "host": {}, "results": records}).to_string());
}

#[test]
fn polok_has_its_tables_and_figures() {
    let desk = Desk::new();
    put_peers(&desk, "g");
    desk.ok("generate uniform --rows 60 --per-column 4 -q -o g.mtx");
    let (page, object) =
        study(&desk, "g.mtx pose-graph:12x6 bundle-adjustment:9x20x3 --paper polok --peers peers.json");
    assert!(!page.contains("in the paper"), "none has a name of the paper's: {page}");
    assert_eq!((&object["schema"], &object["max_products"]), (&"blockmul-paper/1".into(), &object["max_products"]));
    has_its_pictures(&desk, &page, &["figure-1.png", "figure-3.png", "figure-4.png", "figure-5.png"]);
    let table = object["table_1"].as_array().unwrap();
    let names: Vec<_> = table.iter().map(|of| of["matrix"].as_str().unwrap()).collect();
    assert_eq!(names, ["g", "pose-graph:12x6", "bundle-adjustment:9x20x3"]);
    for of in table.iter().chain(object["figure_5"].as_array().unwrap()) {
        assert!(of["entrants"].as_array().unwrap().iter().all(|one| one["verified"] == true), "{of}");
    }
    // The row of g: the paper's FLOP, and the fastest right record of the other library.
    let row = page.lines().find(|line| line.starts_with("| g |")).unwrap();
    let flop = 2 * table[0]["products"].as_u64().unwrap() - table[0]["c_nnz"].as_u64().unwrap();
    let shown = if flop >= 1000 { format!("{:.3} k", flop as f64 / 1e3) } else { flop.to_string() };
    assert!(row.contains(&format!(" {shown} ")) && row.contains(" 50.000 "), "{row}");
    assert!(page.contains("other 3 fast (2 threads) on d"), "{page}");
    // Blocks of six sides for each of the three.
    assert_eq!(object["figure_5"].as_array().unwrap().len(), 18);
    assert!(!object["all_to_all"].as_array().unwrap().is_empty());
}

#[test]
fn parger_has_its_tables_and_figures() {
    let desk = Desk::new();
    put_peers(&desk, "arrow:40");
    let (page, object) =
        study(&desk, "uniform:300x7 arrow:40 bundle-adjustment:9x20x3 --paper parger --peers peers.json");
    let figures = [6, 7, 9, 10, 11, 12, 13, 15].map(|number| format!("figure-{number}.png"));
    has_its_pictures(&desk, &page, &figures.each_ref().map(String::as_str));
    assert_eq!(page.matches("](figure-8-").count(), 3);
    // Products on CPUs have no bins.
    let device = common::device();
    let info = device.info();
    let (balanced, on_cpu) = (["](figure-14.png)", "balanced always"], info.kind == DeviceKind::Cpu);
    assert_eq!(balanced.map(|words| page.contains(words)), [!on_cpu; 2], "{page}");
    // What auto chooses by.
    let (cost, chosen_by) = (info.costs().of("dense").unwrap(), &object["table_2"]);
    assert_eq!(chosen_by["costs"]["dense"]["product_ps"], cost.product_ps, "{chosen_by}");
    assert!(page.contains(&format!("| dense | {} | {} |", cost.launch_us, cost.product_ps)), "{page}");
    let (numbers, name) = (info.numbers(), if on_cpu { "host_products" } else { "adaptive_hub_percent" });
    let number = if on_cpu { numbers.host_products } else { numbers.adaptive_hub_percent };
    assert_eq!(chosen_by["numbers"][name], number, "{chosen_by}");
    assert!(page.contains(&format!("| {name} | {number} |")), "{page}");
    assert_eq!(object["products"].as_array().unwrap().len(), 3);
    let ranks = object["table_3"].as_array().unwrap();
    let rank = |name: &str| ranks.iter().find(|rank| rank["name"] == name).unwrap();
    assert_eq!((&rank("auto")["invalid"], &rank("auto")["memory"]), (&0.into(), &1.0.into()));
    assert_eq!((&rank("other")["invalid"], &rank("other")["far"]), (&2.into(), &1.into()));
    let product = object["products"].as_array().unwrap().iter().find(|of| of["matrix"] == "arrow:40").unwrap();
    let of_auto = product["entrants"][0]["peak_device_bytes"].as_f64().unwrap();
    assert_eq!(rank("other")["memory"], PEER_BYTES as f64 / of_auto, "{product}");
    assert!(ranks.iter().map(|rank| rank["best"].as_u64().unwrap()).sum::<u64>() >= 3, "{ranks:?}");
    assert!(ranks.iter().all(|rank| rank["name"] != "balanced never"), "an ablation is no column");
    for words in ["without hub", "## Figure 14: balancing", "geometric mean of t(hash) / t"] {
        assert!(page.contains(words), "no \"{words}\"");
    }
}

#[test]
fn evtushenko_has_its_tables_and_figures() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --per-column 4 -q -o g.mtx");
    put_vectors(&desk, "g");
    let (page, object) = study(&desk, "g.mtx power-law:64x300 --paper evtushenko --peers peers.json");
    let pictures = (4..=8).flat_map(|number| ["f32", "f64"].map(|element| format!("speedup-{number}-{element}.png")));
    let pictures: Vec<String> = pictures.chain(["figure-7-f32.png".into(), "figure-7-f64.png".into()]).collect();
    has_its_pictures(&desk, &page, &pictures.iter().map(String::as_str).collect::<Vec<_>>());
    let found = object["matrices"].as_array().unwrap();
    let names: Vec<_> = found.iter().map(|of| [&of["matrix"], &of["element"]].map(|of| of.as_str().unwrap())).collect();
    assert_eq!(names[..3], [["g", "f32"], ["g", "f64"], ["power-law:64x300", "f32"]]);
    for of in found {
        let measured = of["formats"].as_array().unwrap().len() + of["left_out"].as_array().unwrap().len();
        assert_eq!(measured, blockmul::plan::Format::ALL.len(), "{of}");
        let choices = of["choices"].as_array().unwrap();
        assert_eq!(choices.iter().map(|choice| choice["uses"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 10, 1000]);
        assert!(choices.iter().all(|choice| choice["regret"].as_f64().unwrap() >= 0.0), "{of}");
        assert!(of["entries"].as_u64().unwrap() > of["longest_row"].as_u64().unwrap());
        let cuts = of["cuts"].as_array().unwrap();
        let rules: Vec<_> = cuts.iter().map(|cut| cut["rule"].as_str().unwrap()).collect();
        let (in_order, by_arrival) = rules.split_at(6);
        assert_eq!(in_order, ["0", "0.35", "0.7", "filled", "quantile:0.8", "capped"]);
        // A device may have no atomic sums of 64 bits.
        assert!(by_arrival.is_empty() || in_order == by_arrival, "{of}");
    }
    for words in [
        "## Tables 1 to 8, f64",
        "## Which format wins, f32",
        "## Regret of `auto`, f64",
        "`csr` is faster than",
        "## Speedup by kind of matrix, f64",
        "## Where `csr` is faster than `csr-vector`, f32",
        "| quantile:0.8 |",
    ] {
        assert!(page.contains(words), "no \"{words}\"");
    }
    // The fastest right product with a vector of the element, in the row of g.
    let [of_f32, of_f64] = [0, 1].map(|at| found[at]["peers"].as_array().unwrap());
    assert!(of_f32.is_empty() && found[3]["peers"].as_array().unwrap().is_empty());
    assert_eq!((of_f64.len(), &of_f64[0]["ms"]), (1, &5.0.into()));
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| g | 60 |")).collect();
    assert!(!rows[0].contains(" 5.0000 |") && rows[1].contains(" 5.0000 |"), "{rows:?}");
    assert!(page.contains("other 3 apply fast (2 threads) on d"), "{page}");
    // The paper's figures, by the element.
    let rows = |start: &str| page.lines().filter(|line| line.starts_with(start)).map(String::from).collect::<Vec<_>>();
    for (start, of_f32, of_f64) in [
        ("| hyb-atomic |", "8: HYB | 7.73 | 14.92 | 38.62 |", "8: HYB | 6.51 | 11.59 | 25.96 |"),
        ("| cusparse |", "2: CSR (cuSPARSE) | 5.69 | 13.62 | 31.44 |", "2: CSR (cuSPARSE) | 4.68 | 10.65 | 25.42 |"),
    ] {
        let found = rows(start);
        assert!(found[0].ends_with(of_f32), "{found:?}");
        assert!(found.iter().any(|row| row.ends_with(of_f64)), "{found:?}");
    }
}

/// A file named like one of the paper's nine matrices replaces the generated one.
#[test]
fn evtushenko_has_the_selected_matrices() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --per-column 4 -q -o hvdc1.mtx");
    let (page, object) = study(&desk, "hvdc1.mtx --models --paper evtushenko --max-products 1000");
    let rows = object["table_9"].as_array().unwrap();
    let names: Vec<_> =
        rows.iter().map(|row| [&row["selected"], &row["matrix"]].map(|of| of.as_str().unwrap())).collect();
    assert!(names.contains(&["hvdc1", "hvdc1"]) && names.contains(&["lhr07", "like lhr07"]), "{names:?}");
    assert!(names.len() == 9 && !page.contains("like hvdc1"), "{names:?}");
    let row = rows.iter().find(|row| row["selected"] == "hvdc1").unwrap();
    assert_eq!((&row["rows"], &row["entries"], &row["what"]), (&60.into(), &240.into(), &"a file".into()));
    assert_eq!((&row["collection_rows"], &row["collection_entries"]), (&24_842.into(), &159_981.into()));
    let pictures: Vec<_> = rows.iter().map(|row| row["picture"].as_str().unwrap()).collect();
    has_its_pictures(&desk, &page, &[&pictures[..], &["figure-8c.png", "figure-8d.png"]].concat());
    let longest: Vec<_> = rows.iter().map(|row| row["longest_row"].as_u64().unwrap()).collect();
    assert!(longest.iter().all(|&length| length > 1), "{longest:?}");
    // The bold cell is the largest of its row.
    for (part, element) in [("8c", "f32"), ("8d", "f64")] {
        let section = page.split(&format!("## Figure {part}, {element}")).nth(1).unwrap();
        let row = section.lines().find(|line| line.starts_with("| like lhr07 |")).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let number = |cell: &&str| cell.trim_matches('*').parse::<f64>().ok();
        let best = cells.iter().filter_map(number).reduce(f64::max);
        let bold: Vec<_> = cells.iter().filter(|cell| cell.starts_with("**")).map(number).collect();
        assert!(bold.iter().all(|&cell| cell == best) && !bold.is_empty(), "{row}");
        let found = object["matrices"].as_array().unwrap();
        let of = found.iter().find(|of| of["matrix"] == "like lhr07" && of["element"] == element).unwrap();
        let fastest = of["formats"].as_array().unwrap().iter().map(|time| time["ms"].as_f64().unwrap());
        let speedup = of["serial_ms"].as_f64().unwrap() / fastest.reduce(f64::min).unwrap();
        assert_eq!(best, Some(format!("{speedup:.2}").parse().unwrap()), "{row}");
    }
    assert!(page.contains("have another fastest format in f64 than in f32"), "{page}");
}

#[test]
fn shi_has_its_tables_and_figures() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --per-column 1 -q -o g.mtx");
    let record = |variant: &str, element: &str, ms: f64| {
        json!({"library": "other", "variant": variant, "matrix": "random_50_0.99", "element": element,
            "version": "3", "threads": 2, "device": "chip", "verified": true, "ms": ms})
    };
    let records = [
        record("dense csr by rows 50", "f32", 70.0),
        record("dense csr by columns 50", "f32", 60.0),
        record("dense csr by columns 40", "f32", 6.0),
        record("dense gemm by rows 50", "f32", 1e6),
        record("from-dense by rows", "f64", 80.0),
    ];
    desk.put("peers.json", &json!({"schema": "blockmul-bench/1", "host": {}, "results": records}).to_string());
    let (page, object) = study(&desk, "g.mtx --paper shi --max-products 2500 --peers peers.json");
    assert!(object["copy_gb_s"].as_f64().unwrap() > 0.0);
    let figures = ["1", "4", "5", "6", "7-50", "13"].map(|number| format!("figure-{number}.png"));
    has_its_pictures(&desk, &page, &figures.each_ref().map(String::as_str));
    let found = object["matrices"].as_array().unwrap();
    assert_eq!(
        (&found[0]["matrix"], &found[0]["kind"], &found[1]["element"]),
        (&"g".into(), &"file".into(), &"f64".into())
    );
    assert_eq!(found[0]["columns"], 60, "beside a file --max-products does not count");
    for of in found {
        let methods = of["methods"].as_array().unwrap();
        assert!(methods.iter().map(|time| time["method"].as_str().unwrap()).eq(["rows", "gcoo"]), "{of}");
        assert!(methods.iter().all(|time| time["ms"].as_f64().unwrap() > 0.0), "{of}");
        assert_eq!(of["compared"], of["columns"], "{of}");
        let converted = of["matrix"] == "random_50_0.98" || of["matrix"] == "random_50_0.99";
        assert_eq!(of["conversion_ms"].as_f64().is_some(), converted, "{of}");
        let bytes = ["csr", "gcoo"].map(|format| of["bytes"][format].as_u64());
        assert_eq!(bytes.map(|bytes| bytes.is_some_and(|bytes| bytes > 0)), [of["kind"] == "file"; 2], "{of}");
    }
    let square = found.iter().find(|of| of["matrix"] == "random_50_0.99" && of["element"] == "f32").unwrap();
    assert_eq!((&square["products"][0]["ms"], &square["gemm"][0]["ms"]), (&60.0.into(), &1e6.into()));
    for words in [
        "Faster than the product of dense matrices",
        "There is no time of a product of dense matrices",
        " 80.000 |",
        "other 3 dense csr by columns (2 threads) on chip; ",
        "| plan |",
    ] {
        assert!(page.contains(words), "no \"{words}\"");
    }

    let (page, object) = study(&desk, "--paper shi --squares 40:0.9,40:0.5,30:0.8");
    let found: Vec<_> = object["matrices"].as_array().unwrap().iter().collect();
    let names: Vec<_> = found.iter().step_by(2).map(|of| of["matrix"].as_str().unwrap()).collect();
    assert_eq!(names, ["random_40_0.9", "random_40_0.5", "random_30_0.8"]);
    assert!(found.iter().all(|of| of["conversion_ms"].as_f64().is_some()), "{found:?}");
    assert!(page.contains("n = 30, milliseconds") && page.contains("n = 40, milliseconds"));
}

/// Models of Table III beside squares, as they are written for other libraries, whose times join
/// them by name.
#[test]
fn shi_has_models_beside_squares_and_writes_them() {
    let desk = Desk::new();
    let ran = bench(&desk, "--paper shi --max-products 37000 --write-models -o m");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let record = json!({"library": "other", "variant": "dense csr by rows 40", "matrix": "nemeth11", "element": "f32",
        "version": "3", "threads": 2, "device": "chip", "verified": true, "ms": 7.5});
    desk.put("peers.json", &json!({"schema": "blockmul-bench/1", "host": {}, "results": [record]}).to_string());
    let line = "--paper shi --squares 30:0.8 --models --max-products 37000 --peers peers.json";
    let (page, object) = study(&desk, line);
    let found = object["matrices"].as_array().unwrap();
    let models = found.iter().filter(|of| of["kind"] == "model" && of["element"] == "f32");
    let names: Vec<&str> = models.map(|of| of["matrix"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0]), (14, "nemeth11"));
    assert!(found.iter().any(|of| of["matrix"] == "random_30_0.8"));
    for name in names {
        let file = blockmul::io::read(desk.path("m").join(format!("{name}.bsr")), &ReadOptions::default()).unwrap();
        let of = found.iter().find(|of| of["matrix"] == name).unwrap();
        assert_eq!(of["entries"].as_u64(), Some(file.matrix.nnz() as u64), "{name}");
        assert_eq!(of["columns"], of["inner"], "{name}");
    }
    let nemeth = found.iter().find(|of| of["matrix"] == "nemeth11" && of["element"] == "f32").unwrap();
    assert_eq!((&nemeth["columns"], &nemeth["products"][0]["ms"]), (&40.into(), &7.5.into()), "{page}");
}

/// Models beside a file, as they are written for other libraries, whose times join them by name.
#[test]
fn models_are_measured_beside_files_and_written_for_other_libraries() {
    let desk = Desk::new();
    for paper in ["polok", "parger"] {
        let ran = bench(&desk, &format!("--paper {paper} --max-products 900 --write-models -o m"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
    }
    let mut written: Vec<_> =
        std::fs::read_dir(desk.path("m")).unwrap().map(|file| file.unwrap().file_name()).collect();
    written.sort();
    let of_polok = ["bundle-adjustment:8x10x5.bsr", "pose-graph:8x8.bsr"];
    let of_parger = ["mario002.bsr", "stat96v2.bsr", "arrow:9e2.bsr", "ratings:9e2.bsr", "bundle-adjustment:9e2.bsr"];
    assert!([&of_polok[..], &of_parger].concat().iter().all(|name| written.contains(&(*name).into())), "{written:?}");
    assert!(!written.contains(&"long-columns:9e2.bsr".into()), "a product of two matrices");
    assert_eq!(written.len(), 2 + 10 + 17);

    for name in ["arrow:9e2.bsr", "pose-graph:8x8.bsr"] {
        let file = blockmul::io::read(desk.path("m").join(name), &ReadOptions::default()).unwrap();
        let values = file.matrix.values();
        assert!(values.iter().all(|value| (1.0..=8.0).contains(value) && value.fract() == 0.0), "{name}: {values:?}");
    }

    // A model that was written is the one that is measured.
    put_peers(&desk, "mario002");
    desk.ok("generate uniform --rows 60 --per-column 4 -q -o g.mtx");
    let (page, object) = study(&desk, "g.mtx --models --paper parger --max-products 900 --by-rows --peers peers.json");
    let products = object["products"].as_array().unwrap();
    assert_eq!((products.len(), &products[0]["what"], &products[0]["matrix"]), (29, &"a file".into(), &"g".into()));
    let of = |name: &str| products.iter().find(|of| of["matrix"] == name).unwrap();
    assert_eq!((&of("mario002")["common"], &of("arrow:9e2")["common"]), (&true.into(), &false.into()));
    let info: Value = serde_json::from_str(&desk.ok("info m/mario002.bsr --json").stdout).unwrap();
    assert_eq!(info["nnz"], of("mario002")["a"]["nnz"], "{info}");
    let mut rank = object["table_3"].as_array().unwrap().iter().filter(|rank| rank["name"] == "other");
    assert_eq!(rank.next().unwrap()["invalid"], 28, "of all but the model");
    assert_eq!(page.matches("](figure-8-").count(), 11, "the file and the models");
}

/// The same of products with vectors.
#[test]
fn models_of_products_with_vectors_are_measured_beside_files() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --per-column 4 -q -o g.mtx");
    for (paper, count, name, [all, of_matrix, of_entries]) in [
        ("garland", 3, "one full row", ["products", "of", "size"]),
        ("evtushenko", 28, "one full row, 1999", ["matrices", "matrix", "entries"]),
    ] {
        let ran = bench(&desk, &format!("--paper {paper} --max-products 4000 --write-models -o {paper}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert_eq!(std::fs::read_dir(desk.path(paper)).unwrap().count(), count, "{paper}");
        put_vectors(&desk, name);
        let line = format!("g.mtx --models --paper {paper} --max-products 4000 --peers peers.json");
        let (page, object) = study(&desk, &line);
        let measured = |name: &str| object[all].as_array().unwrap().iter().find(|of| of[of_matrix] == name).unwrap();
        measured("g");
        let file = blockmul::io::read(desk.path(paper).join(format!("{name}.bsr")), &ReadOptions::default()).unwrap();
        assert_eq!(measured(name)[of_entries], file.matrix.values().len(), "{paper}");
        assert!(page.contains("other 3 apply fast"), "{page}");
        if paper == "evtushenko" {
            has_its_pictures(&desk, &page, &["table-9-airfoil_2d.png", "table-9-Zd_Jac3_db.png", "figure-8d.png"]);
            assert_eq!(object["table_9"].as_array().unwrap().len(), 9);
        }
        if paper == "garland" {
            assert!(page.contains("The generated ones have equally many entries"), "{page}");
            assert!(page.contains("| torus |") && page.contains("## Section 4"), "graphs and meshes too: {page}");
        }
    }
}

/// A file of the name of one of the paper's matrices has the paper's numbers beside it.
#[test]
fn polok_has_the_rows_of_the_paper() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --per-column 4 -q -o wiki-Vote.mtx");
    let (page, _) = study(&desk, "wiki-Vote.mtx --paper polok --max-products 100");
    let row = page.lines().filter(|line| line.starts_with("| wiki-Vote |")).find(|line| line.contains("7.254 M"));
    assert!(row.is_some_and(|row| row.contains(" 4.000 | 12.497 |")), "{page}");
}

#[test]
fn a_report_replaces_the_figures_of_the_one_before() {
    let desk = Desk::new();
    let figures = |object: &Value| -> Vec<String> { serde_json::from_value(object["figures"].clone()).unwrap() };
    let (_, first) = study(&desk, "pose-graph:9x4 --paper polok");
    assert!(figures(&first).contains(&"figure-1.png".into()), "{first}");
    desk.put("p/figure-99.png", "the reader's");
    desk.put("p/notes.txt", "the reader's");
    for (inputs, shown) in [("arrow:40 arrow:50", 2), ("arrow:40", 1)] {
        let (page, object) = study(&desk, &format!("{inputs} --paper parger"));
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

    // Another program's report, and names that lead elsewhere.
    desk.put("kept.png", "the reader's");
    for (schema, name) in [("other/1", "notes.png"), ("blockmul-paper/1", "../kept.png")] {
        desk.put("p/notes.png", "the reader's");
        desk.put("p/report.json", &json!({"schema": schema, "figures": [name]}).to_string());
        study(&desk, "arrow:40 --paper parger");
        assert!(desk.path("p/notes.png").exists() && desk.path("kept.png").exists(), "{name}");
    }
}

#[test]
fn a_product_of_nothing_has_a_dash_for_its_choice() {
    let desk = Desk::new();
    desk.put("none.mtx", "%%MatrixMarket matrix coordinate real general\n5 5 0\n");
    let (page, _) = study(&desk, "none.mtx --paper parger");
    let row = page.lines().find(|line| line.starts_with("| none | a file |")).unwrap();
    assert!(row.ends_with("| 0 | 0 | - |"), "{row}");
}

#[test]
fn an_unreadable_file_is_named_once() {
    let desk = Desk::new();
    desk.put("bad.mtx", "nothing\n");
    for paper in ["polok", "parger", "garland", "evtushenko", "shi"] {
        let ran = bench(&desk, &format!("bad.mtx --paper {paper} -o p --rounds 1"));
        let errors: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(ran.status == 2 && errors.len() == 1, "{paper}: {}", ran.stderr);
        assert!(errors[0].starts_with("error: bad.mtx:1: "), "{paper}: {}", ran.stderr);
    }
}

#[test]
fn what_is_no_paper_is_refused() {
    let desk = Desk::new();
    desk.put("other.json", r#"{"schema": "other/1", "results": []}"#);
    for (line, words) in [
        ("--paper polok", "--output"),
        ("--paper bell -o p", "polok"),
        ("--paper polok -o p --regret", "--regret"),
        ("--paper polok -o p --element f32", "f64"),
        ("--paper polok -o p --peers nowhere.json", "nowhere.json"),
        ("--paper polok -o p --peers other.json", "other/1"),
        ("uniform:9x2 -o p", "--output is for --paper"),
        ("uniform:9x2 --peers other.json", "--peers is for --paper"),
        ("--paper polok -o p --squares 9:0.5", "--squares is for --paper shi"),
        ("--paper shi -o p --squares 9:1", "N:S"),
        ("uniform:9x2 --models", "--models is for --paper"),
        ("--write-models", "--write-models is for --paper"),
        ("--paper shi -o p --squares 9:0.5 --write-models", "--write-models"),
        ("uniform:9x2 --paper polok -o p --write-models", "--write-models"),
        ("--paper polok -o other.json", "other.json is no folder"),
    ] {
        let ran = bench(&desk, line);
        assert_eq!(ran.status, 2, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{line}: no \"{words}\" in {}", ran.stderr);
    }
    assert_eq!(desk.files(), ["other.json"]);
}

#[test]
fn garland_has_its_tables_and_figures() {
    let desk = Desk::new();
    let (page, object) = study(&desk, "--paper garland --max-products 2000");
    let figures = ["section-3.png", "figure-6-torus.png", "figure-6-sphere.png", "figure-6-terrain.png"];
    has_its_pictures(&desk, &page, &figures);
    for (field, count) in [("products", 12), ("paths", 12), ("patches", 3)] {
        let all = object[field].as_array().unwrap();
        assert_eq!(all.len(), count, "{field}");
        assert!(all.iter().all(|of| of["verified"] == true && of["ms"].as_f64().is_some()), "{all:?}");
    }
    let sources: Vec<_> =
        object["paths"].as_array().unwrap().iter().map(|of| of["sources"].as_u64().unwrap()).collect();
    assert!(sources.iter().filter(|&&sources| sources == 16).count() == 6 && sources.contains(&1), "{sources:?}");
    let products = object["products"].as_array().unwrap();
    assert!(products.iter().all(|of| of["size"] == products[0]["size"]), "equally many entries: {products:?}");
    for words in ["The generated ones have equally many entries", "No other library was given", "80 GB/s"] {
        assert!(page.contains(words), "no \"{words}\"");
    }
}

/// Products of all matrices, paths of those that are graphs, patches of meshes, and nothing else.
#[test]
fn garland_takes_files() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --per-column 4 -q -o g.mtx");
    desk.put("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 2\n");
    desk.put("tetrahedron.off", "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n");
    put_vectors(&desk, "g");
    let (page, object) = study(&desk, "g.mtx wide.mtx tetrahedron.off --paper garland --peers peers.json");
    has_its_pictures(&desk, &page, &["section-3.png", "figure-6-tetrahedron.png"]);
    let of = |field: &str| -> Vec<&str> {
        let mut names: Vec<_> = object[field].as_array().unwrap().iter().map(|of| of["of"].as_str().unwrap()).collect();
        names.dedup();
        names
    };
    assert_eq!((of("products"), of("paths"), of("patches")), (vec!["g", "wide"], vec!["g"], vec!["tetrahedron"]));
    assert!(!page.contains("equally many entries"), "{page}");
    let row = page.lines().find(|line| line.starts_with("| g |")).unwrap();
    // 5 ms of 240 entries.
    assert!(row.contains(" 20833.3333 |") && page.contains("other 3 apply fast (2 threads) on d"), "{page}");

    study(&desk, "tetrahedron.off --paper garland");
    let refused = bench(&desk, "none.off --paper garland -o q");
    assert!(refused.status == 2 && refused.stderr.contains("none.off"), "{}", refused.stderr);
}
