//! Numbers that are out of range are refused. The message names the option, the value and the
//! range.
use super::*;

#[test]
fn a_number_out_of_range_is_refused_by_its_option() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let (from_zero, above_zero) = ("a finite number from 0 is wanted", "a finite number above 0 is wanted");
    let (whole, some) = ("a whole number from 0 is wanted", "a whole number from 1 to 4294967295 is wanted");
    for (line, option, range) in [
        ("solve p.g2o --lambda -1", "--lambda", from_zero),
        ("solve p.g2o --lambda -1e-3", "--lambda", from_zero),
        ("solve p.g2o --tolerance -1", "--tolerance", from_zero),
        ("solve p.g2o --cg-tolerance -0.5", "--cg-tolerance", from_zero),
        ("solve p.g2o --cg-steps -1", "--cg-steps", "1..=4294967295"),
        ("solve p.g2o --iterations -1", "--iterations", "0..=4294967295"),
        ("solve p.g2o --size -1", "--size", "64..="),
        ("schur p.txt --lambda -1", "--lambda", from_zero),
        ("multiply s.mtx --drop -1", "--drop", from_zero),
        ("multiply s.mtx --repeat -1", "--repeat", some),
        ("multiply s.mtx --memory-limit -1", "--memory-limit", "a size is written as in 2GiB"),
        ("multiply s.mtx --block -1", "--block", "a block is written RxK"),
        ("compare s.mtx s.mtx --tolerance -1", "--tolerance", from_zero),
        ("compare s.mtx s.mtx --ulps -1", "--ulps", whole),
        ("spy s.mtx --size -1", "--size", "16..="),
        ("spy s.mtx --width -1", "--width", "8..=2048"),
        ("bench uniform --rounds -1", "--rounds", some),
        ("bench uniform --max-time -1", "--max-time", from_zero),
        ("generate bal --noise -1 -o b.txt", "--noise", from_zero),
        ("generate bal --error -1 -o b.txt", "--error", from_zero),
        ("generate bal --cameras -1 -o b.txt", "--cameras", whole),
        ("generate g2o --noise -1 -o b.g2o", "--noise", from_zero),
        ("generate uniform --rows -1 -o b.mtx", "--rows", whole),
        ("generate uniform --cols -1 -o b.mtx", "--cols", whole),
        ("generate uniform --seed -1 -o b.mtx", "--seed", whole),
        ("add s.mtx s.mtx --alpha nan -o b.mtx", "--alpha", "a finite number is wanted"),
        ("multiply s.mtx --drop -1e-30", "--drop", from_zero),
        ("multiply s.mtx --drop inf", "--drop", from_zero),
        ("multiply s.mtx --drop nan", "--drop", from_zero),
        ("multiply s.mtx --drop x", "--drop", from_zero),
        ("multiply s.mtx --repeat 0", "--repeat", some),
        ("paths s.mtx --sources 0", "--sources", "a whole number is wanted; the first is 1"),
        ("paths s.mtx --sources 1 --delta 0", "--delta", above_zero),
        ("paths s.mtx --sources 1 --delta -1", "--delta", above_zero),
        ("paths s.mtx --sources 1 --delta inf", "--delta", above_zero),
    ] {
        let words = line.split(' ').collect::<Vec<_>>();
        let value = words[words.iter().position(|word| *word == option).unwrap() + 1];
        desk.fails(line, 2, &[option, &format!("'{value}'"), range]);
    }
    assert_eq!(desk.files(), ["s.mtx"]);
    for line in ["multiply s.mtx --drop 0", "multiply s.mtx --drop 1e-3", "paths s.mtx --sources 1 --delta 1e-3"] {
        desk.ok(&format!("{line} -q"));
    }
}
