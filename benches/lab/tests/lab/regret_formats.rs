//! `lab regret --operation apply`: the choice of formats, compared with every format.
use super::*;
use blockmul::{element::Order, plan::Format};

fn texts<'a>(of: &'a Value, list: &str, field: &str) -> Vec<&'a str> {
    of[list].as_array().unwrap().iter().map(|one| one[field].as_str().unwrap()).collect()
}

#[test]
fn every_format_is_timed_where_values_are_and_packed() {
    let desk = Desk::new();
    put_uniform(&desk, "p.mtx", 300, 7);
    let ran = lab(&desk, "regret --operation apply p.mtx --rounds 3 --together 2 --json r.json");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for words in
        ["regret of auto for 1 use, values in place", "regret of auto for 1000 uses, values packed in any order"]
    {
        assert!(ran.stdout.contains(words), "no \"{words}\" in {}", ran.stdout);
    }
    let all: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
    assert_eq!(all["schema"], "blockmul-regret-of-formats/1");
    let contests = all["contests"].as_array().unwrap();
    let ways: Vec<_> =
        contests.iter().map(|of| (of["stored"].as_str().unwrap(), of["values"].as_str().unwrap())).collect();
    assert_eq!(ways, [("rows", "in-place"), ("rows", "packed"), ("columns", "in-place"), ("columns", "packed")]);
    for contest in contests {
        let packed = contest["values"] == "packed";
        let wanted = |format: &&Format| packed || format.order() == Order::Ascending;
        let timed = texts(contest, "entrants", "format");
        for format in Format::ALL.iter().filter(wanted) {
            let left_out = texts(contest, "left_out", "format");
            let is_named = timed.contains(&format.name()) || left_out.contains(&format.name());
            assert!(is_named, "{format}: {timed:?}, {left_out:?}");
        }
        for entrant in contest["entrants"].as_array().unwrap() {
            let rounds = ["first_ms", "next_ms"].map(|times| entrant[times].as_array().unwrap().len());
            assert!(entrant["verified"] == true && rounds == [3, 3], "{entrant}");
        }
        let choices = contest["choices"].as_array().unwrap();
        let uses: Vec<_> = choices.iter().map(|choice| choice["uses"].as_u64().unwrap()).collect();
        assert_eq!(uses, [1, 10, 1000].repeat(if packed { 2 } else { 1 }));
        for choice in choices {
            let [auto, best, regret] = ["auto_ms", "best_ms", "regret"].map(|name| choice[name].as_f64().unwrap());
            assert!((auto / best - 1.0 - regret).abs() < 1e-9 && choice["noise"].as_f64() >= Some(0.0), "{choice}");
        }
    }
}

#[test]
fn a_triangle_of_blocks_is_one_more_way_to_store_a_matrix() {
    let desk = Desk::new();
    let ran = lab(&desk, "regret --operation apply pose-graph:9x9 --symmetric --rounds 1 --block 3 --json -");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    let contests = all["contests"].as_array().unwrap();
    let triangle = contests.iter().filter(|of| of["stored"] == "triangle");
    assert_eq!((contests.len(), triangle.count()), (6, 2));
    assert!(contests.iter().all(|of| of["a"]["block"] == serde_json::json!([3, 3])));
    assert!(contests.iter().all(|of| !texts(of, "entrants", "format").contains(&"coo")), "no format of scalars");
}
