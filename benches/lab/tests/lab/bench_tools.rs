//! Tests of `bench-compare` and `bench-plot` on files of `blockmul bench`.
use super::*;
use serde_json::json;

/// A file of results of one library, with the given runs of each product.
fn results(library: &str, records: &[(&str, [usize; 2], Vec<f64>)]) -> String {
    let record = |(matrix, block, runs): &(&str, [usize; 2], Vec<f64>)| {
        let mut sorted = runs.clone();
        sorted.sort_by(f64::total_cmp);
        let (ms, flops) = (sorted[sorted.len() / 2], 2000 * block[0] * block[1] * block[0]);
        let stage = json!({"name": "setup", "runs_ms": runs, "ms": ms});
        json!({
            "library": library, "variant": "v", "device": "d", "matrix": matrix, "element": "f64", "verified": true,
            "a": {"block": block}, "products": 1000, "flops": flops, "runs_ms": runs, "ms": ms,
            "gflops": flops as f64 / ms / 1e6, "stages": [stage],
        })
    };
    let records: Vec<_> = records.iter().map(record).collect();
    json!({"schema": "blockmul-bench/1", "host": {}, "results": records}).to_string()
}

/// Returns eleven times that are close to `ms`. The times differ from `ms` by at most the fraction
/// `noise`.
fn runs(ms: f64, noise: f64) -> Vec<f64> {
    (0..11).map(|i| ms * (1.0 + noise * (f64::from(i * 7 % 11) / 5.0 - 1.0))).collect()
}

/// Runs a script in the desk's folder.
fn tool(desk: &Desk, python: &str, line: &str) -> Ran {
    let mut words = line.split_whitespace();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(words.next().unwrap());
    let mut command = Command::new(python);
    command.arg(script).args(words).current_dir(desk.path(""));
    ran(command)
}

#[test]
fn two_files_are_compared_as_their_noise_allows() {
    let Some(python) = common::python("json", "json") else { return };
    let desk = Desk::new();
    let (square, wide) = ([3, 3], [6, 3]);
    let old = [("a", square, runs(10.0, 0.02)), ("b", square, runs(10.0, 0.02)), ("c", wide, runs(10.0, 0.9))];
    let new = [("a", square, runs(8.0, 0.02)), ("b", square, runs(13.0, 0.02)), ("c", wide, runs(11.0, 0.9))];
    desk.put("old.json", &results("blockmul", &old));
    desk.put("new.json", &results("blockmul", &new));
    let compared = tool(&desk, &python, "bench-compare old.json new.json");
    assert_eq!(compared.status, 0, "{}", compared.stderr);
    let word = |matrix: &str| {
        let line = compared.stdout.lines().find(|line| line.starts_with(&format!("{matrix} "))).unwrap();
        line.split("  ").last().unwrap().to_owned()
    };
    assert_eq!([word("a"), word("b"), word("c")], ["faster", "slower", "no difference"], "{}", compared.stdout);
    assert!(compared.stdout.contains(" 0.800 ") && compared.stdout.contains(" 1.300 "), "{}", compared.stdout);
    assert!(compared.stdout.contains("1 faster, 1 slower, 1 no difference"), "{}", compared.stdout);
    assert_eq!(tool(&desk, &python, "bench-compare old.json new.json").stdout, compared.stdout, "the same every time");
    let stages = tool(&desk, &python, "bench-compare old.json new.json --stages").stdout;
    assert_eq!(stages.matches(" setup ").count(), 3, "{stages}");

    // The runs of several files are pooled: of the new runs here, half are those of old.json.
    let pooled = tool(&desk, &python, "bench-compare old.json old.json,new.json");
    assert!(pooled.stdout.contains(" 1.147 "), "{}", pooled.stdout);
    assert!(pooled.stdout.contains("0 faster, 0 slower, 3 no difference"), "{}", pooled.stdout);

    // Each simulated process is either fast or slow. Two fast processes and a slow one do not
    // differ significantly from one fast process and two slow ones, although each process has many
    // runs. If all processes are slower, the difference is significant.
    for (name, ms) in [("p", 7.6), ("q", 7.7), ("r", 10.8), ("s", 10.9)] {
        desk.put(&format!("{name}.json"), &results("blockmul", &[("a", square, runs(ms, 0.02))]));
    }
    for (line, word) in
        [("p.json,q.json,r.json q.json,r.json,s.json", "no difference"), ("p.json,q.json r.json,s.json", "slower")]
    {
        let ran = tool(&desk, &python, &format!("bench-compare {line} --stages"));
        assert_eq!(ran.stdout.matches(word).count(), 3, "{line}: {}", ran.stdout);
    }

    // The product b is at least 25 % slower. The product c only seems to be slower.
    for (limit, status) in [("20", 1), ("60", 0)] {
        let ran = tool(&desk, &python, &format!("bench-compare old.json new.json --fail-above {limit}"));
        assert_eq!(ran.status, status, "{limit}: {}", ran.stderr);
        assert_eq!(ran.stderr.contains("b 3x3 f64"), status == 1, "{}", ran.stderr);
        assert!(!ran.stderr.contains("c 6x3"), "{}", ran.stderr);
    }
    // Records of other libraries are not compared. A record that only the old or only the new files
    // have is listed.
    desk.put("mkl.json", &results("mkl", &new[..1]));
    let others = tool(&desk, &python, "bench-compare old.json mkl.json");
    assert!(
        others.stdout.contains("3 only in old.json") && others.stdout.contains("a 3x3 f64 (mkl)"),
        "{}",
        others.stdout
    );

    // Records of a library with one thread are not compared with its records with two threads.
    // Failed records have no times.
    let one = results("mkl", &old[..2]).replace("\"device\"", "\"threads\":1,\"device\"");
    desk.put("one.json", &one);
    desk.put("two.json", &one.replace("\"threads\":1", "\"threads\":2"));
    assert!(tool(&desk, &python, "bench-compare one.json two.json").stdout.contains("2 only in one.json"));
    let failed = r#"{"library": "l", "variant": "v", "device": "d", "matrix": "a", "element": "f64", "verified": false,
        "a": {"block": [1, 1]}, "reason": "wrong"}"#;
    desk.put("failed.json", &format!("{{\"schema\": \"blockmul-bench/1\", \"results\": [{failed}]}}"));
    let ran = tool(&desk, &python, "bench-compare one.json failed.json");
    assert!(
        ran.status == 0 && ran.stdout.contains("1 in failed.json are not verified"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );

    desk.put("none.json", "{}");
    desk.put("broken.json", "{");
    desk.put("later.json", "{\"schema\": \"blockmul-bench/9\", \"results\": []}");
    for (file, words) in [
        ("missing.json", "missing.json: No such file"),
        ("none.json", "not a result"),
        ("broken.json", "not JSON"),
        ("later.json", "blockmul-bench/9"),
    ] {
        let ran = tool(&desk, &python, &format!("bench-compare old.json {file}"));
        assert!(ran.status == 2 && ran.stderr.contains(words), "{file}: {}", ran.stderr);
    }
}

#[test]
fn a_slowdown_in_real_files_is_none_against_themselves() {
    let Some(python) = common::python("json", "json") else { return };
    let desk = Desk::new();
    let timed = desk.bench("uniform:60x3 --operation product,transpose,dot --rounds 3 -q --json r.json");
    assert_eq!(timed.status, 0, "{}", timed.stderr);
    let ran = tool(&desk, &python, "bench-compare r.json r.json --stages --fail-above 0");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("0 faster, 0 slower, 3 no difference"), "{}", ran.stdout);
}

#[test]
fn files_are_plotted() {
    let Some(python) = common::python("matplotlib", "matplotlib") else { return };
    let desk = Desk::new();
    let of = |name: &'static str, side: usize| (name, [side, side], runs(side as f64, 0.1));
    let ours = [of("blk2_er", 2), of("blk3_er", 3), of("lone", 4), ("w", [6, 3], runs(3.0, 0.1))];
    desk.put("ours.json", &results("blockmul", &ours));
    desk.put("theirs.json", &results("mkl", &[of("blk2_er", 2), of("blk3_er", 3)]));
    desk.put("sizes.json", &results("mkl", &[of("er_1e3", 1), of("er_1e4", 1), of("st27_1e3", 1)]));
    for (line, output) in [
        ("sizes.json", "sizes.svg"),
        ("ours.json theirs.json --title Two", "both.svg"),
        ("theirs.json", "theirs.svg"),
        ("ours.json theirs.json", "both.png"),
    ] {
        let ran = tool(&desk, &python, &format!("bench-plot {line} -o {output}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{line}: {}", ran.stderr);
    }
    assert_eq!(std::fs::read(desk.path("both.png")).unwrap()[..8], *b"\x89PNG\r\n\x1a\n");
    // Matplotlib draws text as curves, and writes the text itself into comments.
    let svg = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
    let (both, theirs) = (svg("both.svg"), svg("theirs.svg"));
    for word in ["Two", "blockmul", "mkl", "er", "Gflop/s", "side of a block", "time against products"] {
        assert!(both.contains(&format!("<!-- {word} -->")), "{word}");
    }
    let sizes = svg("sizes.svg");
    assert!(sizes.contains("<!-- mkl er -->") && sizes.contains("<!-- mkl st27 -->"), "a line for each family");
    assert!(!sizes.contains("Gflop/s"), "no blocks of two sizes");
    assert!(!both.contains("<!-- lone -->"), "a matrix with a single size makes no line");
    assert!(theirs.contains("<!-- mkl -->") && !theirs.contains("<!-- blockmul -->"));
    for (line, status, words) in [
        ("ours.json --element f16 -o a.png", 2, "no record has a time"),
        ("ours.json missing.json -o a.png", 2, "missing.json: No such file"),
        ("ours.json -o a.nonesuch", 5, "a.nonesuch"),
        ("ours.json", 2, "-o"),
    ] {
        let ran = tool(&desk, &python, &format!("bench-plot {line}"));
        assert!(ran.status == status && ran.stderr.contains(words), "{line}: {} {}", ran.status, ran.stderr);
    }
}
