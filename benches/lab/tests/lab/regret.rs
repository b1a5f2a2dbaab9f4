//! `lab regret`: the choice of methods, compared with every method.
use super::*;

fn regret(desk: &Desk, line: &str) -> Value {
    let ran = lab(desk, &format!("regret {line} --rounds 1 --json -"));
    assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn names(of: &Value, field: &str) -> Vec<String> {
    let list = of[field].as_array().unwrap().iter();
    list.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_method_is_timed_or_left_out_with_a_reason() {
    let desk = Desk::new();
    put_uniform(&desk, "p.mtx", 400, 9);
    let all = regret(&desk, "p.mtx arrow:40");
    assert_eq!((&all["schema"], all["products"].as_array().unwrap().len()), (&"blockmul-regret/1".into(), 2));
    for product in all["products"].as_array().unwrap() {
        let (ran, left_out) = (names(product, "entrants"), names(product, "left_out"));
        assert_eq!(ran[0], "auto");
        for method in Method::ALL.iter().filter(|method| !method.needs_mask()) {
            let name = method.name().to_owned();
            assert!(ran.contains(&name) != left_out.contains(&name), "{name}: {ran:?} {left_out:?}");
        }
        assert!(["esc", "dense", "hash"].iter().all(|name| ran.contains(&(*name).to_owned())), "{ran:?}");
        assert!(left_out.contains(&"direct".to_owned()), "{left_out:?}");
        for entrant in product["entrants"].as_array().unwrap() {
            assert!(entrant["verified"] == true && entrant["ms"].as_f64() > Some(0.0), "{entrant}");
        }
    }
    // The regret is the choice's time divided by that of the fastest method, minus 1.
    let [auto, best] = [true, false].map(|auto| {
        let times = all["products"][0]["entrants"].as_array().unwrap().iter();
        let of = times.filter(|entrant| (entrant["name"] == "auto") == auto);
        of.map(|entrant| entrant["ms"].as_f64().unwrap()).fold(f64::MAX, f64::min)
    });
    let summary = &all["summary"];
    let regrets = [summary["mean"].as_f64().unwrap() * 2.0, summary["worst"].as_f64().unwrap()];
    let other = regrets[0] - (auto / best - 1.0);
    assert!(other <= regrets[1] + 1e-9 && auto / best - 1.0 <= regrets[1] + 1e-9, "{summary}");
    assert_eq!(summary["products"], 2);
    assert!(summary["of_choice"]["median"].as_f64() <= summary["of_choice"]["worst"].as_f64(), "{summary}");
    assert!(summary["held_out"].is_null(), "files are of no family: {summary}");
    // One column of the arrow is full, so that its columns belong to several classes.
    let classes = all["classes"].as_array().unwrap().iter().find(|of| of["matrix"] == "arrow:40").unwrap();
    let columns: u64 = classes["classes"].as_array().unwrap().iter().map(|of| of["columns"].as_u64().unwrap()).sum();
    assert!(columns == 40 && classes["oracle_ms"].as_f64() <= classes["apart_ms"].as_f64(), "{classes}");
    assert!(all["cliffs"].as_array().unwrap().is_empty() && all["validation"].is_null());
    let swept = regret(&desk, "--max-products 3e3 --sweeps 1600 arrow:40");
    let [cliff] = &swept["cliffs"].as_array().unwrap()[..] else { panic!("{swept}") };
    assert_eq!(
        (&cliff["what"], swept["products"].as_array().unwrap().len()),
        (&"side of blocks, of 1600 products".into(), 1)
    );
}

#[test]
fn what_has_no_products_has_no_regret() {
    let desk = Desk::with([("e.mtx", "%%MatrixMarket matrix coordinate real general\n5 5 0\n")]);
    let ran = lab(&desk, "regret e.mtx arrow:40 --rounds 1");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("regret of auto on 1 products"), "{}", ran.stdout);
    let empty = ran.stdout.lines().find(|line| line.trim().starts_with("e ")).expect("a row");
    // `auto` chooses nothing for this input, so there is no regret.
    let cells: Vec<_> = empty.split_whitespace().filter(|cell| *cell != "*").collect();
    assert_eq!((cells[1], cells.len(), cells[7]), ("-", 9, "-"), "{empty}");
    let all = regret(&desk, "e.mtx");
    assert!(all["summary"].is_null() && all["products"].as_array().unwrap().len() == 1, "{all}");
}

#[test]
fn families_have_cliffs_and_a_cross_validation() {
    let desk = Desk::new();
    let ran = lab(&desk, "regret --max-products 1e3 --rounds 1 --sweeps hub,1600");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for words in [
        "roads:1e3 * ",
        "* 18 products, 0 of them measured again",
        "finite elements with three unknowns a node",
        "regret of auto on 18 products",
        "of the 11 products of 11 families to which no costs are fitted: ",
        "fastest method: ",
        "products of an entry of B, at a hub",
        "largest jump %",
        "the device's costs",
        "fitted to a third of the families regret",
    ] {
        assert!(ran.stdout.contains(words), "no \"{words}\" in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("products of a column, at 32"), "not asked for: {}", ran.stdout);
    // If the output is not a terminal, a line is written for each product when it is measured.
    for words in ["roads:1e3: auto ", "products of an entry of B, at a hub: 9 points"] {
        assert!(ran.stderr.contains(words), "no \"{words}\" in {}", ran.stderr);
    }
    assert!(!ran.stdout.contains("NO"), "{}", ran.stdout);
}

#[test]
fn what_is_no_study_is_refused() {
    let desk = Desk::new();
    for (line, words) in [
        ("regret --max-products 0", "from 1 to 1e12"),
        ("regret --element f16", "[possible values: f64, f32]"),
        ("regret --element u32", "[possible values: f64, f32]"),
        ("paper polok -o p --sweeps hub", "--sweeps"),
        (
            "regret --sweeps nowhere",
            "no parameter has \"nowhere\" in its name; there are: products of a column, at 32; ",
        ),
        ("regret --operation apply --sweeps hub", "--sweeps is for --operation product"),
        ("regret --operation plan", "--operation"),
        ("regret --operation apply,product", "[possible values: product, apply]"),
        ("regret uniform:9x2 --block 2", "--block is for --operation apply"),
        ("regret --together 3", "--together is for --operation apply"),
        ("regret --symmetric", "--symmetric is for --operation apply"),
    ] {
        refused(&desk, line, words);
    }
}
