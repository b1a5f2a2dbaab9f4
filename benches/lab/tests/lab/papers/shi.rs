//! Shi 2020.
use super::*;

#[test]
fn shi_has_its_tables_and_figures() {
    let desk = Desk::new();
    put_uniform(&desk, "g.mtx", 60, 1);
    let times = [
        ("dense csr by rows 50", "f32", 70.0, true),
        ("dense csr by columns 50", "f32", 60.0, true),
        ("dense csr by columns 40", "f32", 6.0, true),
        ("dense gemm by rows 50", "f32", 1e6, true),
        ("from-dense by rows", "f64", 80.0, true),
    ];
    put_times(&desk, "random_50_0.99", &times);
    let (page, object) = study(&desk, "paper shi g.mtx --max-products 2500 --peers peers.json");
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
        "other 3 dense csr by columns (2 threads) on d; ",
        "| plan |",
    ] {
        assert!(page.contains(words), "no \"{words}\"");
    }

    let (page, object) = study(&desk, "paper shi --squares 40:0.9,40:0.5,30:0.8");
    let found: Vec<_> = object["matrices"].as_array().unwrap().iter().collect();
    let names: Vec<_> = found.iter().step_by(2).map(|of| of["matrix"].as_str().unwrap()).collect();
    assert_eq!(names, ["random_40_0.9", "random_40_0.5", "random_30_0.8"]);
    assert!(found.iter().all(|of| of["conversion_ms"].as_f64().is_some()), "{found:?}");
    assert!(page.contains("n = 30, milliseconds") && page.contains("n = 40, milliseconds"));
}

/// Models of Table III are measured beside squares, and are written for other libraries. The times
/// of these libraries are matched by name.
#[test]
fn shi_has_models_beside_squares_and_writes_them() {
    let desk = Desk::new();
    let ran = lab(&desk, "paper shi --max-products 37000 --write-models -o m");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    put_times(&desk, "nemeth11", &[("dense csr by rows 40", "f32", 7.5, true)]);
    let line = "paper shi --squares 30:0.8 --models --max-products 37000 --peers peers.json";
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
