//! Parger 2020.
use super::*;
use blockmul::device::DeviceKind;

#[test]
fn parger_has_its_tables_and_figures() {
    let desk = Desk::new();
    put_peers(&desk, "arrow:40");
    let (page, object) =
        study(&desk, "paper parger uniform:300x7 arrow:40 bundle-adjustment:9x20x3 --peers peers.json");
    let figures = [6, 7, 9, 10, 11, 12, 13, 15].map(|number| format!("figure-{number}.png"));
    has_its_pictures(&desk, &page, &figures.each_ref().map(String::as_str));
    assert_eq!(page.matches("](figure-8-").count(), 3);
    // Products on CPUs have no bins.
    let device = common::device();
    let info = device.info();
    let (balanced, on_cpu) = (["](figure-14.png)", "balanced always"], info.kind == DeviceKind::Cpu);
    assert_eq!(balanced.map(|words| page.contains(words)), [!on_cpu; 2], "{page}");
    // The costs and numbers by which `auto` chooses are in the report.
    let (cost, chosen_by) = (info.costs().of("dense").unwrap(), &object["table_2"]);
    assert_eq!(chosen_by["costs"]["dense"]["product_ps"], cost.product_ps, "{chosen_by}");
    assert!(page.contains(&format!("| dense | {} | {} |", cost.launch_us, cost.product_ps)), "{page}");
    let (numbers, name) = (info.numbers_by_name(), if on_cpu { "host_products" } else { "adaptive_hub_percent" });
    let number = numbers[name];
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
fn only_chooses_files_by_their_names_too() {
    let desk = Desk::new();
    put_uniform(&desk, "g.mtx", 60, 4);
    put_uniform(&desk, "h.mtx", 60, 4);
    let (_, object) = study(&desk, "paper parger g.mtx h.mtx --only h");
    let measured: Vec<_> = object["products"].as_array().unwrap().iter().map(|of| &of["matrix"]).collect();
    assert_eq!(measured, ["h"]);
    let ran = lab(&desk, "paper parger g.mtx h.mtx --only mario002 -o p");
    assert!(ran.status == 2 && ran.stderr.contains("no matrix is called mario002, but g, h"), "{}", ran.stderr);
}

#[test]
fn a_product_of_nothing_has_a_dash_for_its_choice() {
    let desk = Desk::new();
    desk.put("none.mtx", "%%MatrixMarket matrix coordinate real general\n5 5 0\n");
    let (page, _) = study(&desk, "paper parger none.mtx");
    let row = page.lines().find(|line| line.starts_with("| none | a file |")).unwrap();
    assert!(row.ends_with("| 0 | 0 | - |"), "{row}");
}
