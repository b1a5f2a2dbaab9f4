//! Papers on A·x: Evtushenko 2019 and Garland 2008.
use super::*;
use blockmul::plan::Format;

/// Writes times of another library's products with a vector, and of two other products.
fn put_vectors(desk: &Desk, matrix: &str) {
    let times = [
        ("apply slow", "f64", 7.0, true),
        ("apply fast", "f64", 5.0, true),
        ("apply wrong", "f64", 1.0, false),
        ("csr", "f64", 0.1, true),
        ("dense csr by rows 9", "f64", 0.1, true),
    ];
    put_times(desk, matrix, &times);
}

#[test]
fn evtushenko_has_its_tables_and_figures() {
    let desk = Desk::new();
    put_uniform(&desk, "g.mtx", 60, 4);
    put_vectors(&desk, "g");
    let (page, object) = study(&desk, "paper evtushenko g.mtx power-law:64x300 --peers peers.json");
    let pictures = (4..=8).flat_map(|number| ["f32", "f64"].map(|element| format!("speedup-{number}-{element}.png")));
    let pictures: Vec<String> = pictures.chain(["figure-7-f32.png".into(), "figure-7-f64.png".into()]).collect();
    has_its_pictures(&desk, &page, &pictures.iter().map(String::as_str).collect::<Vec<_>>());
    let found = object["matrices"].as_array().unwrap();
    let names: Vec<_> = found.iter().map(|of| [&of["matrix"], &of["element"]].map(|of| of.as_str().unwrap())).collect();
    assert_eq!(names[..3], [["g", "f32"], ["g", "f64"], ["power-law:64x300", "f32"]]);
    for of in found {
        let measured = of["formats"].as_array().unwrap().len() + of["left_out"].as_array().unwrap().len();
        assert_eq!(measured, Format::ALL.len() + Format::COMPARED.len(), "{of}");
        let choices = of["choices"].as_array().unwrap();
        assert_eq!(choices.iter().map(|choice| choice["uses"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 10, 1000]);
        assert!(choices.iter().all(|choice| choice["regret"].as_f64().unwrap() >= 0.0), "{of}");
        assert!(of["entries"].as_u64().unwrap() > of["longest_row"].as_u64().unwrap());
        let cuts = of["cuts"].as_array().unwrap();
        let rules: Vec<_> = cuts.iter().map(|cut| cut["rule"].as_str().unwrap()).collect();
        let (in_order, by_arrival) = rules.split_at(6);
        assert_eq!(in_order, ["0", "0.35", "0.7", "filled", "quantile:0.8", "capped"]);
        // Some devices have no atomic sums of 64 bits, so they skip formats that sum in the order
        // of arrival.
        assert!(by_arrival.is_empty() || in_order == by_arrival, "{of}");
    }
    for words in [
        "## Tables 1 to 8, f64",
        "## Which format wins, f32",
        "## Regret of `auto`, f64",
        "`csr-scalar` is faster than",
        "## Speedup by kind of matrix, f64",
        "## Where `csr-scalar` is faster than `csr-vector`, f32",
        "| quantile:0.8 |",
    ] {
        assert!(page.contains(words), "no \"{words}\"");
    }
    // The row of g contains the fastest right product with a vector in each element type.
    let [of_f32, of_f64] = [0, 1].map(|at| found[at]["peers"].as_array().unwrap());
    assert!(of_f32.is_empty() && found[3]["peers"].as_array().unwrap().is_empty());
    assert_eq!((of_f64.len(), &of_f64[0]["ms"]), (1, &5.0.into()));
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| g | 60 |")).collect();
    assert!(!rows[0].contains(" 5.0000 |") && rows[1].contains(" 5.0000 |"), "{rows:?}");
    assert!(page.contains("other 3 apply fast (2 threads) on d"), "{page}");
    // The paper's figures for each element type.
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

/// A file with the name of one of the paper's nine matrices replaces the generated one. The other
/// models are measured, and are written for other libraries. The times of these libraries are
/// matched by name.
#[test]
fn evtushenko_has_the_selected_matrices() {
    let desk = Desk::new();
    put_uniform(&desk, "hvdc1.mtx", 60, 4);
    let ran = lab(&desk, "paper evtushenko --max-products 1000 --write-models -o m");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let models = std::fs::read_dir(desk.path("m")).unwrap().map(|file| file.unwrap().file_name());
    let models: Vec<_> = models.map(|name| name.into_string().unwrap().replace(".bsr", "")).collect();
    assert_eq!(models.len(), 27);
    let name = models.iter().find(|name| name.starts_with("one full row, ")).unwrap();
    put_vectors(&desk, name);
    let line = "paper evtushenko hvdc1.mtx --models --max-products 1000 --peers peers.json";
    let (page, object) = study(&desk, line);
    let measured = |name: &str| object["matrices"].as_array().unwrap().iter().find(|of| of["matrix"] == name).unwrap();
    measured("hvdc1");
    assert_eq!(measured(name)["entries"], entries(&desk, name));
    assert!(page.contains("other 3 apply fast"), "{page}");
    let rows = object["table_9"].as_array().unwrap();
    let names: Vec<_> =
        rows.iter().map(|row| [&row["selected"], &row["matrix"]].map(|of| of.as_str().unwrap())).collect();
    assert!(names.contains(&["hvdc1", "hvdc1"]) && names.contains(&["lhr07", "like lhr07"]), "{names:?}");
    assert!(names.len() == 9 && !page.contains("like hvdc1"), "{names:?}");
    let row = rows.iter().find(|row| row["selected"] == "hvdc1").unwrap();
    assert_eq!((&row["rows"], &row["entries"], &row["what"]), (&60.into(), &240.into(), &"a file".into()));
    assert_eq!((&row["collection_rows"], &row["collection_entries"]), (&24_842.into(), &159_981.into()));
    let pictures: Vec<_> = rows.iter().map(|row| row["picture"].as_str().unwrap()).collect();
    let of_models = ["table-9-airfoil_2d.png", "table-9-Zd_Jac3_db.png"];
    has_its_pictures(&desk, &page, &[&pictures[..], &of_models, &["figure-8c.png", "figure-8d.png"]].concat());
    let longest: Vec<_> = rows.iter().map(|row| row["longest_row"].as_u64().unwrap()).collect();
    assert!(longest.iter().all(|&length| length > 1), "{longest:?}");
    // The bold cell is the largest number of its row.
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
    // Matrices of blocks are measured as blocks, too.
    let all = object["matrices"].as_array().unwrap();
    let of_blocks = all.iter().filter(|of| of["of_blocks"].is_object());
    let sides: Vec<_> = of_blocks.clone().map(|of| of["of_blocks"]["side"].as_u64().unwrap()).collect();
    assert_eq!(sides, [3, 3, 6, 6]);
    for of in of_blocks {
        let times = of["of_blocks"]["formats"].as_array().unwrap();
        let formats: Vec<_> = times.iter().map(|time| time["format"].as_str().unwrap()).collect();
        let all = Format::ALL.iter().chain(Format::COMPARED);
        let want: Vec<_> = all.filter(|format| format.has_blocks()).map(|format| format.name()).collect();
        assert_eq!(formats, want, "{of}");
    }
    for element in ["f32", "f64"] {
        let section = page.split(&format!("## Section 3, {element}: formats of blocks")).nth(1).unwrap();
        let row = section.lines().find(|line| line.contains("| 6x6 |")).unwrap();
        assert!(row.starts_with("| elements, 6 unknowns a node, ") && !row.contains("| - |"), "{row}");
    }
}

/// Like the test above, for Garland's models.
#[test]
fn models_of_products_with_vectors_are_measured_beside_files() {
    let (desk, name) = (Desk::new(), "one full row");
    put_uniform(&desk, "g.mtx", 60, 4);
    let ran = lab(&desk, "paper garland --max-products 4000 --write-models -o m");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read_dir(desk.path("m")).unwrap().count(), 3);
    put_vectors(&desk, name);
    let (page, object) = study(&desk, "paper garland g.mtx --models --max-products 4000 --peers peers.json");
    let measured = |name: &str| object["products"].as_array().unwrap().iter().find(|of| of["of"] == name).unwrap();
    measured("g");
    assert_eq!(measured(name)["size"], entries(&desk, name));
    assert!(page.contains("other 3 apply fast"), "{page}");
    assert!(page.contains("The generated ones have equally many entries"), "{page}");
    assert!(page.contains("| torus |") && page.contains("## Section 4"), "graphs and meshes too: {page}");
}

/// The number of entries of a model in folder `m`.
fn entries(desk: &Desk, name: &str) -> usize {
    let file = desk.path("m").join(format!("{name}.bsr"));
    blockmul::io::read(file, &ReadOptions::default()).unwrap().matrix.values().len()
}

#[test]
fn garland_has_its_tables_and_figures() {
    let desk = Desk::new();
    let (page, object) = study(&desk, "paper garland --max-products 2000");
    let meshes = ["figure-6-torus.png", "figure-6-sphere.png", "figure-6-terrain.png"];
    let figures = [&["section-3.png", "figure-6-energy.png"][..], &meshes].concat();
    has_its_pictures(&desk, &page, &figures);
    for (field, count) in [("products", 15), ("paths", 12), ("patches", 3)] {
        let all = object[field].as_array().unwrap();
        assert_eq!(all.len(), count, "{field}");
        assert!(all.iter().all(|of| of["verified"] == true && of["ms"].as_f64().is_some()), "{all:?}");
    }
    let sources: Vec<_> =
        object["paths"].as_array().unwrap().iter().map(|of| of["sources"].as_u64().unwrap()).collect();
    assert!(sources.iter().filter(|&&sources| sources == 16).count() == 6 && sources.contains(&1), "{sources:?}");
    let products = object["products"].as_array().unwrap();
    assert!(products.iter().all(|of| of["size"] == products[0]["size"]), "equally many entries: {products:?}");
    for patches in object["patches"].as_array().unwrap() {
        let energies = patches["energies"].as_array().unwrap();
        assert_eq!(energies.len() as u64, patches["steps"].as_u64().unwrap() + 1, "{patches}");
        let best = &energies[patches["best"].as_u64().unwrap() as usize];
        // This sphere has so few vertices that all are seeds.
        assert!(best.as_f64() < energies[0].as_f64() || patches["of"] == "sphere", "{patches}");
    }
    for words in
        ["The generated ones have equally many entries", "disastrous choice", "No other library was given", "80 GB/s"]
    {
        assert!(page.contains(words), "no \"{words}\"");
    }
}

/// If files are given, the study measures products of all matrices, shortest paths in matrices that
/// are graphs, patches of meshes, and nothing else.
#[test]
fn garland_takes_files() {
    let desk = Desk::new();
    put_uniform(&desk, "g.mtx", 60, 4);
    desk.put("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 2\n");
    desk.put("tetrahedron.off", "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n");
    put_vectors(&desk, "g");
    let (page, object) = study(&desk, "paper garland g.mtx wide.mtx tetrahedron.off --peers peers.json");
    has_its_pictures(&desk, &page, &["section-3.png", "figure-6-tetrahedron.png"]);
    let of = |field: &str| -> Vec<&str> {
        let mut names: Vec<_> = object[field].as_array().unwrap().iter().map(|of| of["of"].as_str().unwrap()).collect();
        names.dedup();
        names
    };
    assert_eq!((of("products"), of("paths"), of("patches")), (vec!["g", "wide"], vec!["g"], vec!["tetrahedron"]));
    assert!(!page.contains("equally many entries"), "{page}");
    // Each of the four vertices is a seed.
    let patches = &object["patches"][0];
    assert_eq!((&patches["patches"], &patches["steps"]), (&4.into(), &0.into()), "{patches}");
    assert_eq!((&patches["energies"], &patches["best"]), (&serde_json::json!([0.0]), &0.into()), "{patches}");
    assert!(!page.contains("NaN") && !page.contains("figure-6-energy.png"), "{page}");
    assert!(page.contains("reference's Dijkstra ms") && page.contains("Lengths are the magnitudes"), "{page}");
    let row = page.lines().find(|line| line.starts_with("| g |")).unwrap();
    // 240 entries in 5 ms.
    assert!(row.contains(" 20833.3333 |") && page.contains("other 3 apply fast (2 threads) on d"), "{page}");

    study(&desk, "paper garland tetrahedron.off");
    let refused = lab(&desk, "paper garland none.off -o q");
    assert!(refused.status == 2 && refused.stderr.contains("none.off"), "{}", refused.stderr);
}
