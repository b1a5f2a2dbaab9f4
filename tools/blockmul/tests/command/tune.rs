//! `tune`: costs are fitted to the device under test, and written into a file.
use super::*;

/// Runs `tune` on the device under test, with environment variables.
fn tune(desk: &Desk, variables: &[(&str, &str)], line: &str) -> Ran {
    let device = common::device().info().index;
    let mut command = desk.command(&format!("tune --device {device} {line}"));
    command.env_remove("BLOCKMUL_TUNING").env("XDG_CONFIG_HOME", desk.path("config"));
    variables.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    ran(command)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn costs_are_fitted_and_written_beside_what_the_file_has() {
    let desk = Desk::new();
    let device = common::device();
    let name = device.info().name.as_str();
    let before = serde_json::json!({"cpu": {"scan_items": 17}, "gpu": {"costs": {"sort": {"entry_ps": 1.5}}},
        "devices": {name: {"tile_items": 128, "costs": {"sort": {"launch_us": 7.0}}}}});
    desk.put("t.json", &before.to_string());
    let ran = tune(&desk, &[], "--seconds 2 --json -o t.json");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("t.json: the costs are written"), "{}", ran.stderr);
    let found = json(&ran.stdout);
    assert_eq!((&found["file"], &found["device"]), (&"t.json".into(), &name.into()));
    let methods = found["methods"].as_array().unwrap();
    let names: Vec<_> = methods.iter().map(|method| method["method"].as_str().unwrap()).collect();
    for method in ["esc", "sort", "dense", "hub"] {
        assert!(names.contains(&method), "{names:?}");
    }
    let mut after = json(&std::fs::read_to_string(desk.path("t.json")).unwrap());
    for method in methods {
        let written = &after["devices"][name]["costs"][method["method"].as_str().unwrap()];
        for coefficient in ["launch_us", "product_ps", "entry_ps", "column_ps"] {
            assert_eq!(method[coefficient], written[coefficient], "{method}");
            assert!(written[coefficient].as_f64().unwrap() >= 0.0, "{method}");
        }
        assert!(method["fitted"]["bins"].as_u64() >= Some(4), "{method}");
        for errors in ["fitted", "held_out", "others_held_out"] {
            assert!(method[errors]["mean"].as_f64() <= method[errors]["worst"].as_f64(), "{method}");
        }
        assert!(method["held_out"]["mean"].as_f64() <= method["others_held_out"]["mean"].as_f64(), "{method}");
        let families = method["families"].as_array().unwrap();
        let bins = families.iter().map(|of| of["bins"].as_u64().unwrap()).sum::<u64>();
        assert_eq!(Some(bins), method["held_out"]["bins"].as_u64(), "{method}");
        assert!(families.iter().all(|of| of["measured_ms"].as_f64() > Some(0.0)), "{method}");
        let warned =
            ran.stderr.contains(&format!("{} is predicted with a mean error", method["method"].as_str().unwrap()));
        assert_eq!(warned, method["held_out"]["mean"].as_f64() > Some(0.5), "{method}: {}", ran.stderr);
    }
    let kept = methods.iter().find(|method| method["method"] == "dense").unwrap()["kept"] == true;
    assert!(found["choices"].as_array().unwrap().iter().all(|choice| choice["regret"].as_f64() > Some(-1.0)));
    let cases = found["cases"].as_array().unwrap();
    assert!(cases.iter().any(|case| case["held_out"] == true));
    let is_again = |at: usize| {
        (0..at).any(|other| ["family", "products", "c_nnz"].iter().all(|&of| cases[other][of] == cases[at][of]))
    };
    assert!(!(0..cases.len()).any(is_again), "no product is measured twice: {cases:?}");
    after["devices"][name]["costs"] = before["devices"][name]["costs"].clone();
    assert_eq!(after, before, "nothing else has changed");

    // The costs change predictions, unless the previous costs were kept, but no bit of a result.
    desk.ok("generate uniform --rows 500 --per-column 9 -q -o p.mtx");
    let predicted = |file: &str| {
        let device = common::device().info().index;
        let mut command =
            desk.command(&format!("multiply p.mtx --device {device} --method dense --verify --report - -q"));
        command.env("BLOCKMUL_TUNING", file);
        let report = json(&super::ran(command).stdout);
        assert_eq!(report["verified"]["pattern_equal"], true);
        report["bins"][0]["predicted_ms"].as_f64().unwrap()
    };
    assert_eq!(predicted("t.json") == predicted("off"), kept);
}

#[test]
fn the_user_s_file_is_written_unless_another_place_is_named() {
    let desk = Desk::new();
    let dry = tune(&desk, &[], "--dry-run --seconds 0");
    assert_eq!(dry.status, 0, "{}", dry.stderr);
    for words in ["method", "launch_us", "dense", "held out", "by present costs", "beside the fastest method"] {
        assert!(dry.stdout.contains(words), "no \"{words}\" in {}", dry.stdout);
    }
    assert_eq!(desk.files(), [""; 0]);
    let quiet = tune(&desk, &[], "--quiet --seconds 0");
    assert_eq!((quiet.status, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""));
    let text = std::fs::read_to_string(desk.path("config/blockmul/tuning.json")).unwrap();
    assert!(json(&text)["devices"].as_object().is_some_and(|devices| devices.len() == 1));
    // The user's file with the new costs goes to stdout.
    desk.put("mine.json", r#"{"cpu": {"scan_items": 99}}"#);
    let merged = tune(&desk, &[("BLOCKMUL_TUNING", "mine.json")], "-o - --seconds 0");
    assert_eq!(json(&merged.stdout)["cpu"]["scan_items"], 99);
    assert!(json(&merged.stdout)["devices"].is_object() && merged.stderr.contains("launch_us"), "{}", merged.stderr);
    assert_eq!(std::fs::read_to_string(desk.path("mine.json")).unwrap(), r#"{"cpu": {"scan_items": 99}}"#);
    assert_eq!(desk.files(), ["config", "mine.json"]);
}

#[test]
fn what_cannot_be_tuned_is_refused_before_it_is_measured() {
    let desk = Desk::new();
    let refused = |variables: &[(&str, &str)], line: &str, words: &str| {
        let ran = tune(&desk, variables, line);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{line}: no \"{words}\" in {}", ran.stderr);
    };
    refused(&[], "-o - --json", "-o - and --json");
    refused(&[], "--dry-run -o t.json", "--dry-run");
    refused(&[], "--seconds -1", "from 0");
    refused(&[], "-o nowhere/t.json", "nowhere");
    refused(&[("BLOCKMUL_TUNING", "off")], "", "-o FILE or --dry-run");
    for (text, words) in [
        ("{", "t.json: "),
        ("[1]", "t.json: "),
        (r#"{"gpu": {"groupsize": 3}}"#, "t.json: gpu: there is no number `groupsize`"),
        (r#"{"gpu": {"costs": {"sort": {"products": 3}}}}"#, "t.json: gpu: costs: sort: unknown `products`"),
    ] {
        desk.put("t.json", text);
        refused(&[], "-o t.json", words);
        assert_eq!(std::fs::read_to_string(desk.path("t.json")).unwrap(), text, "as it was");
    }
    // The folder of the user's file cannot be made.
    if cfg!(target_os = "linux") {
        for (variable, line) in [("/proc/none", ""), ("config", "-o /proc/t.json")] {
            let ran = tune(&desk, &[("XDG_CONFIG_HOME", variable)], line);
            assert!(ran.status == 5 && ran.stderr.contains("/proc/"), "{line}: {}", ran.stderr);
            assert!(!ran.stderr.contains("device: "), "{line}: nothing is measured: {}", ran.stderr);
        }
    }
    desk.fails("tune --device nonesuch", 3, &["blockmul devices"]);
    assert_eq!(desk.files(), ["t.json"]);
}

#[test]
fn the_file_that_a_variable_names_may_be_a_new_one() {
    let desk = Desk::new();
    let new = desk.path("new.json");
    let variables = [("BLOCKMUL_TUNING", new.to_str().unwrap())];
    // With these options `tune` does not write the file that the variable names, but reads it as
    // other commands do. The file that the variable names does not exist.
    for line in ["--dry-run", "-o other.json"] {
        let ran = tune(&desk, &variables, &format!("--seconds 0 {line}"));
        assert!(ran.status == 2 && ran.stderr.contains("new.json: "), "{line}: {}", ran.stderr);
    }
    let ran = tune(&desk, &variables, "--seconds 0 -q");
    assert_eq!((ran.status, desk.files()), (0, vec!["new.json".into()]), "{}", ran.stderr);
    assert!(!json(&std::fs::read_to_string(new).unwrap())["devices"].is_null());
}

/// The numbers of products with dense matrices are added to the contents of the file.
#[test]
fn numbers_of_dense_products_are_timed_and_written() {
    let desk = Desk::new();
    let device = common::device();
    let name = device.info().name.as_str();
    let before = serde_json::json!({"devices": {name: {"tile_items": 128, "costs": {"sort": {"launch_us": 7.0}}}}});
    desk.put("t.json", &before.to_string());
    let ran = tune(&desk, &[], "--dense --entries 400 --json -o t.json");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("t.json: the numbers are written"), "{}", ran.stderr);
    let found = json(&ran.stdout);
    let families = found["families"].as_array().unwrap();
    assert_eq!(families.len(), 3);
    for family in families {
        let groups = family["groups"].as_array().unwrap();
        let lines: Vec<_> = groups.iter().map(|of| of["lines"].as_u64().unwrap()).collect();
        assert_eq!(lines, [1, 2, 4, 8, 16, 32]);
        let times =
            groups.iter().flat_map(|of| of["ms"].as_array().unwrap()).chain(family["rows_ms"].as_array().unwrap());
        assert!(times.map(|ms| ms.as_f64().unwrap()).all(|ms| ms > 0.0), "{family}");
        let reuse: Vec<_> = groups.iter().map(|of| of["reuse"].as_f64().unwrap()).collect();
        assert!(reuse[0] == 1.0 && reuse.is_sorted(), "{family}");
    }
    let mut after = json(&std::fs::read_to_string(desk.path("t.json")).unwrap());
    let section = after["devices"][name].as_object_mut().unwrap();
    for number in ["dense_group_lines", "dense_staged", "dense_reuse_percent"] {
        assert_eq!(section.remove(number), Some(found["numbers"][number].clone()), "{number}");
    }
    section.remove("dense_common_lanes"); // only GPUs have it
    assert_eq!(after, before, "nothing else has changed");
    let (status, stderr) = {
        let ran = tune(&desk, &[], "--entries 400 --dry-run");
        (ran.status, ran.stderr)
    };
    assert!(status == 2 && stderr.contains("--dense"), "{stderr}");
}
