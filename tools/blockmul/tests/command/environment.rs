//! Tests of the environment variables of the command: BLOCKMUL_DEVICE, BLOCKMUL_LOG, RUST_LOG,
//! BLOCKMUL_TUNING.
use super::*;

fn with(desk: &Desk, variables: &[(&str, &str)], line: &str) -> Ran {
    let mut command = desk.command(line);
    variables.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    ran(command)
}

#[test]
fn blockmul_device_is_the_default_of_every_command_with_a_device() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    desk.ok("generate g2o --poses 20 --closures 5 -q -o g.g2o");
    let (index, name) = (common::device().info().index, common::device().info().name.clone());
    for line in [
        "multiply s.mtx",
        "spy s.mtx -o s.png",
        "bench uniform:20x2 --rounds 1",
        "hessian g.g2o",
        "solve g.g2o",
        "schur g.g2o",
    ] {
        let wrong = with(&desk, &[("BLOCKMUL_DEVICE", "nonesuch")], line);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (3, ""), "{line}: {}", wrong.stderr);
        for word in ["\"nonesuch\", the value of BLOCKMUL_DEVICE", name.as_str(), "hint: "] {
            assert!(wrong.stderr.contains(word), "{line}: no \"{word}\" in {}", wrong.stderr);
        }
        assert!(desk.ok(&format!("{} --help", line.split(' ').next().unwrap())).stdout.contains("BLOCKMUL_DEVICE"));
    }
    let device = |variables: &[(&str, &str)], option: &str| {
        let ran = with(&desk, variables, &format!("multiply s.mtx --report - -q {option}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["device"]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(device(&[("BLOCKMUL_DEVICE", "reference")], ""), "reference");
    assert_eq!(device(&[("BLOCKMUL_DEVICE", &index.to_string())], ""), name);
    // The option overrides the variable, and an empty variable is ignored.
    assert_eq!(device(&[("BLOCKMUL_DEVICE", "nonesuch")], &format!("--device {index}")), name);
    assert_ne!(device(&[("BLOCKMUL_DEVICE", "nonesuch")], "--device auto"), "");
    assert_eq!(device(&[("BLOCKMUL_DEVICE", "")], ""), device(&[], ""));
}

#[test]
fn events_are_logged_on_stderr_if_asked_for() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let index = common::device().info().index;
    let line = format!("multiply s.mtx --device {index} -q -o -");
    let silent = desk.ok(&line);
    assert_eq!(silent.stderr, "");
    for variable in ["RUST_LOG", "BLOCKMUL_LOG"] {
        let logged = with(&desk, &[(variable, "blockmul=debug")], &line);
        assert_eq!((logged.status, &logged.stdout), (0, &silent.stdout));
        for words in
            ["blockmul::io: read", "s.mtx", "blockmul::device: opened", "blockmul::product: product", "products=5"]
        {
            assert!(logged.stderr.contains(words), "{variable}: no \"{words}\" in {}", logged.stderr);
        }
        assert!(logged.stderr.lines().all(|line| line.contains("blockmul::")), "{}", logged.stderr);
        assert!(!logged.stderr.contains("blockmul::pool"), "events of the pool need trace");
    }
    // One target and one level are logged. The log has no times, because they were not requested.
    let info = with(&desk, &[("BLOCKMUL_LOG", "blockmul::io=info"), ("RUST_LOG", "trace")], &line);
    assert!(info.stderr.starts_with(" INFO blockmul::io: read") && info.stderr.lines().count() == 1, "{}", info.stderr);
    let empty = with(&desk, &[("BLOCKMUL_LOG", ""), ("RUST_LOG", "blockmul::pool=trace")], &line);
    assert!(empty.stderr.contains("TRACE blockmul::pool: buffer"), "{}", empty.stderr);
    assert!(!empty.stderr.contains('\x1b'), "no colours but on a terminal");
    assert_eq!(with(&desk, &[("RUST_LOG", "off")], &line).stderr, "");
}

#[test]
fn a_malformed_filter_is_a_warning() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    for variable in ["RUST_LOG", "BLOCKMUL_LOG"] {
        let ran = with(&desk, &[(variable, "blockmul=loud")], "multiply s.mtx --device reference -q -o -");
        assert_eq!(ran.status, 0);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        let begins = format!("warning: {variable} is not a filter of events: ");
        assert!(ran.stderr.starts_with(&begins) && ran.stderr.contains("blockmul=debug"), "{}", ran.stderr);
    }
    for variable in ["BLOCKMUL_DEVICE", "BLOCKMUL_LOG", "RUST_LOG"] {
        assert!(desk.ok("--help").stdout.contains(variable), "{variable}");
    }
}

#[test]
fn iterations_of_a_solver_are_logged() {
    let desk = Desk::new();
    desk.ok("generate g2o --poses 20 --closures 5 -q -o g.g2o");
    let logged = with(&desk, &[("BLOCKMUL_LOG", "blockmul=debug")], "solve g.g2o -q");
    for words in ["blockmul::solver: iteration number=1", "blockmul::io: read", "format=\"g2o\"", "blockmul::plan: "] {
        assert!(logged.stderr.contains(words), "no \"{words}\" in {}", logged.stderr);
    }
}

/// With other numbers, kernels compute the same bits. Numbers with which no kernel can be compiled
/// are refused.
#[test]
fn blockmul_tuning_names_a_file_of_numbers() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 800 --per-column 9 -q -o p.mtx");
    desk.ok("generate pose-graph --poses 60 --closures 60 -q -o h.mtx");
    let multiply = |file: &str| -> Vec<String> {
        ["p.mtx", "p.mtx --method dense", "p.mtx --method hash", "h.mtx --block 6", "h.mtx --method dense"]
            .map(|line| {
                let ran = with(&desk, &[("BLOCKMUL_TUNING", file)], &format!("multiply {line} -q -o -"));
                assert_eq!(ran.status, 0, "{file}: {}", ran.stderr);
                ran.stdout
            })
            .into()
    };
    let want = multiply("off");
    let numbers = r#"{"group_size": 32, "scan_items": 17, "scan_direct_tiles": 3, "tile_items": 128,
        "adaptive_narrow_words": 2, "adaptive_medium_words": 8, "adaptive_wide_words": 10, "adaptive_big_products": 60,
        "adaptive_piece": 128, "adaptive_hub_percent": 4000, "adaptive_small_hash_words": 20,
        "adaptive_medium_hash_words": 70, "adaptive_hash_words": 75, "adaptive_hash_products": 10,
        "costs": {"sort": {"launch_us": 0}, "dense": {"column_ps": 0}}, "range_shares": 3}"#;
    desk.put("numbers.json", &format!(r#"{{"cpu": {numbers}, "gpu": {numbers}}}"#));
    assert!(multiply("numbers.json") == want);

    let refused = |text: &str, words: &[&str]| {
        desk.put("wrong.json", text);
        let ran = with(&desk, &[("BLOCKMUL_TUNING", "wrong.json")], "multiply p.mtx");
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{text}: {}", ran.stderr);
        for word in words.iter().chain(&["wrong.json: "]) {
            assert!(ran.stderr.contains(word), "{text}: no \"{word}\" in {}", ran.stderr);
        }
    };
    // The file contains a number of an earlier version.
    refused(
        r#"{"gpu": {"tile_items": 8, "adaptive_groups": 3}}"#,
        &["gpu: there is no number `adaptive_groups`", "remove it"],
    );
    refused(r#"{"cpu": {"group_size": 48}}"#, &["group_size is 48, not a power of two"]);
    refused("{\n\"cpu\": ]", &["line 2"]);
    refused("[]", &["the file is no JSON object"]);
    let beside = "scan_group_size is 512, not a power of two from 1 to 64 if scan_items is 4096";
    refused(r#"{"cpu": {"scan_group_size": 512}}"#, &[beside]);
    refused(
        r#"{"cpu": {"scan_items": 1}}"#,
        &["scan_group_size is 1, not a power of two from 2 to 512 if scan_items is 1"],
    );
    let endless = with(&desk, &[("BLOCKMUL_TUNING", "/dev/zero")], "multiply p.mtx");
    assert!(endless.status == 2 && endless.stderr.contains("/dev/zero: "), "{}", endless.stderr);
    refused(r#"{"gpu": {"costs": {"sorted": {}}}}"#, &["gpu: costs: no method `sorted` has costs"]);
    refused(r#"{"gpu": {"costs": {"sort": {"launch": 1}}}}"#, &["unknown `launch`; there are: launch_us"]);
}

/// Kernels are compiled with PoCL's optimiser, as for users.
#[test]
fn no_way_to_add_long_rows_changes_a_bit() {
    let desk = Desk::new();
    desk.ok("generate power-law --nodes 1500 --edges 25000 --integer --seed 7 -o p.mtx");
    for numbers in [r#""row_stretch": 0"#, r#""row_stretch": 0, "row_ahead": 4"#, r#""row_stretch": 1"#] {
        desk.put("numbers.json", &format!(r#"{{"cpu": {{{numbers}, "host_entries": 0}}}}"#));
        let device = crate::common::device().info().index;
        let mut command = desk.command(&format!("apply p.mtx --device {device} --format csr --verify"));
        command.env("BLOCKMUL_TUNING", "numbers.json").env_remove("POCL_EXTRA_BUILD_FLAGS");
        let ran = ran(command);
        assert_eq!(ran.status, 0, "{numbers}: {}", ran.stderr);
    }
}
