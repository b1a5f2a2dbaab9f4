//! `lab bench`: the operations on arrays beside those of `blockmul bench`.
use super::*;

#[test]
fn every_operation_is_verified_and_timed() {
    let desk = Desk::new();
    let variants = [&["scan"][..], &["segmented-scan"; 7], &["sort"; 6], &["reduce"; 3]].concat();
    desk.times("--elements 5000 --operation scan,segmented-scan,sort,reduce", &variants);
    desk.times("uniform:60x3 --operation apply,norms", &["apply", "norms"]);
}

#[test]
fn what_cannot_be_timed_is_refused() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let device = common::device().info().index;
    for (line, words) in [
        ("s.mtx --operation divide", &["divide", "transpose", "segmented-scan"][..]),
        ("s.mtx --operation scan", &["scan takes no INPUT", "--elements"]),
        ("--operation scan --elements 0", &["0"]),
        ("--operation sort --by-rows", &["product, plan and dense, not for sort"]),
    ] {
        desk.fails(&format!("bench --device {device} {line}"), 2, words);
    }
    let list = desk.ok("bench --list").stdout;
    assert!(list.contains("power-law:8192x65536"), "{list}");
}
