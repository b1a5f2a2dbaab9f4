//! Polok 2015.
use super::*;

#[test]
fn polok_has_its_tables_and_figures() {
    let desk = Desk::new();
    put_peers(&desk, "g");
    put_uniform(&desk, "g.mtx", 60, 4);
    let (page, object) = study(&desk, "paper polok g.mtx pose-graph:12x6 bundle-adjustment:9x20x3 --peers peers.json");
    assert!(!page.contains("in the paper"), "none has a name of the paper's: {page}");
    assert_eq!((&object["schema"], &object["max_products"]), (&"blockmul-paper/1".into(), &object["max_products"]));
    has_its_pictures(&desk, &page, &["figure-1.png", "figure-3.png", "figure-4.png", "figure-5.png"]);
    let table = object["table_1"].as_array().unwrap();
    let names: Vec<_> = table.iter().map(|of| of["matrix"].as_str().unwrap()).collect();
    assert_eq!(names, ["g", "pose-graph:12x6", "bundle-adjustment:9x20x3"]);
    for of in table.iter().chain(object["figure_5"].as_array().unwrap()) {
        assert!(of["entrants"].as_array().unwrap().iter().all(|one| one["verified"] == true), "{of}");
    }
    // The row of g contains the paper's FLOP, and the fastest right time of the other library.
    let row = page.lines().find(|line| line.starts_with("| g |")).unwrap();
    let flop = 2 * table[0]["products"].as_u64().unwrap() - table[0]["c_nnz"].as_u64().unwrap();
    let shown = if flop >= 1000 { format!("{:.3} k", flop as f64 / 1e3) } else { flop.to_string() };
    assert!(row.contains(&format!(" {shown} ")) && row.contains(" 50.000 "), "{row}");
    assert!(page.contains("other 3 fast (2 threads) on d"), "{page}");
    let all = object["all_to_all"].as_array().unwrap();
    assert!(!all.is_empty() && table.iter().chain(all).all(|of| of["serial_ms"].as_f64().unwrap() > 0.0), "{page}");
    // The last row of table 1 has the mean of the rates of ESC, which depend on its time and FLOP.
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_string()).collect::<Vec<_>>();
    let header = cells(page.lines().find(|line| line.starts_with("| matrix |")).unwrap());
    let at = header.iter().position(|name| name == "ESC MFLOP/s").unwrap();
    let rate = |name: &str| -> f64 {
        let line = page.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        cells(line)[at].parse().unwrap()
    };
    let mean = names.iter().map(|name| rate(name)).sum::<f64>() / names.len() as f64;
    assert!((rate("mean") - mean).abs() <= 0.02, "{page}");
    // Blocks of six sides replace the entries of each of the three matrices.
    assert_eq!(object["figure_5"].as_array().unwrap().len(), 18);
    assert!(["g", "g, ESC"].iter().all(|name| page.lines().any(|line| line.starts_with(&format!("| {name} |")))));
}

/// The paper's numbers are shown beside a file with the name of one of its matrices, and beside the
/// models of the others.
#[test]
fn polok_has_the_rows_of_the_paper() {
    let desk = Desk::new();
    put_uniform(&desk, "wiki-Vote.mtx", 60, 4);
    let (page, object) = study(&desk, "paper polok wiki-Vote.mtx --models --max-products 100");
    let row = |name: &str| page.lines().find(|line| line.starts_with(&format!("| {name} |")) && line.contains(" M |"));
    let has = |name: &str, words: &[&str]| row(name).is_some_and(|row| words.iter().all(|word| row.contains(word)));
    assert!(has("wiki-Vote", &["| a file | 4.000 | 12.497 |", " 7.254 M |", " 482.96 |", " 5.48 |"]), "{page}");
    assert!(has("like roadNet-CA", &["| planar, streets |", " 2.807 |", " 22.138 M |", " 223.66 |"]), "{page}");
    let names: Vec<_> = object["table_1"].as_array().unwrap().iter().map(|of| of["matrix"].as_str().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("like ")).count(), 8, "{names:?}");
}
