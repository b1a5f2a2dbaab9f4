//! `blockmul cg`: solutions, options, refusals, exit statuses.
use super::*;
use nalgebra::DMatrix;

/// [4 1 0 0; 1 3 1 0; 0 1 5 2; 0 0 2 6], and b = A·(1, 2, 3, 4).
const A: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n1 1 4\n2 1 1\n2 2 3\n3 2 1\n3 3 5\n4 3 2\n4 4 6\n";
const B: &str = "%%MatrixMarket matrix array real general\n4 1\n6\n10\n25\n30\n";
/// The two columns of B are b and A·(1, 0, 0, -1).
const TWO: &str = "%%MatrixMarket matrix array real general\n4 2\n6\n10\n25\n30\n4\n1\n-2\n-6\n";

fn desk() -> Desk {
    let desk = Desk::new();
    [("a.mtx", A), ("b.mtx", B), ("two.mtx", TWO)].iter().for_each(|(name, text)| desk.put(name, text));
    desk
}

fn line(line: &str) -> String {
    format!("cg --device {} {line}", common::device().info().index)
}

fn solution(desk: &Desk, name: &str) -> DMatrix<f64> {
    desk.read::<f64>(name).to_dense()
}

fn report(desk: &Desk, words: &str) -> Value {
    serde_json::from_str(&desk.ok(&line(&format!("{words} --report -"))).stdout).unwrap()
}

#[test]
fn one_and_several_right_hand_sides_are_solved() {
    let desk = desk();
    let want = nalgebra::dmatrix![1.0, 1.0; 2.0, 0.0; 3.0, 0.0; 4.0, -1.0];
    for (b, cols) in [("b.mtx", 1), ("two.mtx", 2)] {
        for options in ["", "--preconditioner none", "--block 2", "--element f32 --tolerance 1e-6", "--symmetric"] {
            let ran = desk.ok(&line(&format!("a.mtx {b} {options} --verify -o x.mtx")));
            let error = (solution(&desk, "x.mtx") - want.columns(0, cols)).norm();
            assert!(error < if options.contains("f32") { 1e-5 } else { 1e-9 }, "{options}: {error}");
            let by = match options {
                "--preconditioner none" => "with no preconditioner on",
                "--block 2" => "with blocks of 2x2 on",
                _ => "with the diagonal on",
            };
            assert!(ran.stdout.contains(by) && ran.stdout.contains("by the reference\n"), "{options}: {}", ran.stdout);
        }
    }
    // Without b, the right-hand side is ones. The options -o - and --quiet are tested, and NumPy's
    // arrays of one and two columns.
    assert!(desk.ok(&line("a.mtx -q -o -")).stdout.starts_with("%%MatrixMarket matrix array real general\n4 1\n"));
    for b in ["b.mtx", "two.mtx"] {
        assert_eq!(desk.ok(&line(&format!("a.mtx {b} -q -o x.npy"))).stdout, "");
        desk.ok("apply --device reference a.mtx x.npy -o b2.mtx");
        assert!((solution(&desk, "b2.mtx") - solution(&desk, b)).norm() < 1e-8, "{b}");
    }
}

#[test]
fn reports_have_steps_residuals_and_times() {
    let desk = desk();
    let found = report(&desk, "a.mtx two.mtx --verify --repeat 3");
    assert_eq!((&found["schema"], &found["preconditioner"]), (&1.into(), &"jacobi".into()));
    assert_eq!((&found["limit"], found["runs_ms"].as_array().unwrap().len()), (&4.into(), 3));
    let columns = found["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 2);
    for column in columns {
        let of = |name: &str| column[name].as_f64().unwrap();
        assert!(column["converged"] == true && of("steps") <= 4.0 && column["curvature"].is_null(), "{column}");
        assert!(of("residual") <= 1e-10 && of("true_residual") <= 1e-9, "{column}");
    }
    for time in ["upload_ms", "plan_ms", "total_ms", "step_ms", "download_ms", "verify_ms"] {
        assert!(found[time].as_f64().unwrap() >= 0.0, "{time}: {found}");
    }
    let found = report(&desk, "a.mtx b.mtx --steps 9");
    assert!(found["columns"][0]["true_residual"].is_null() && found.get("runs_ms").is_none(), "{found}");
    assert_eq!((&found["limit"], &found["verify_ms"]), (&9.into(), &Value::Null));
}

#[test]
fn what_does_not_converge_has_status_1() {
    let desk = desk();
    // At the limit of steps the solution so far is written.
    let ran = desk.run(&line("a.mtx two.mtx --steps 1 -o x.mtx"));
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("2 of 2 columns not converged to a residual of 1e-10: try more --steps"),
        "{}",
        ran.stderr
    );
    assert_eq!(solution(&desk, "x.mtx").shape(), (4, 2));
    // In f32 the residual of --verify does not come near 1e-14, even if the updated residual does.
    let ran = desk.run(&line("a.mtx b.mtx --element f32 --tolerance 1e-14 --steps 50 --verify"));
    assert!(ran.status == 1 && ran.stderr.contains("x not converged to a residual of 1e-14"), "{}", ran.stderr);
    desk.ok(&line("a.mtx b.mtx --element f32 --tolerance 1e-14 --steps 50"));
    // If the curvature is not positive, or a block is not positive definite, nothing is written.
    desk.put("i.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 5\n1 1 1\n2 1 -2\n2 2 1\n3 3 1\n4 4 1\n");
    for (options, why) in [
        (
            "--preconditioner none",
            "A is not positive definite: for column 1 a direction has the curvature 0.000e0 after 0 steps; nothing is written",
        ),
        ("", "for column 1 a direction has the curvature 0.000e0 after 0 steps"),
        (
            "--block 2",
            "A is not positive definite at rows 1 to 2 of its diagonal, or too near to zero there; nothing is written",
        ),
    ] {
        let ran = desk.run(&line(&format!("i.mtx {options} -o none.mtx")));
        assert!(ran.status == 1 && ran.stderr.contains(why), "{options}: {}", ran.stderr);
    }
    desk.put("zero.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n1 1 1\n2 2 1\n4 4 1\n");
    desk.fails(&line("zero.mtx -o none.mtx"), 1, &["A is not positive definite at row 3 of its diagonal"]);
    desk.put("tiny.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1e-20\n2 2 2e-20\n");
    desk.put("huge.mtx", "%%MatrixMarket matrix array real general\n2 1\n1e300\n1e300\n");
    let ran = desk.run(&line("tiny.mtx huge.mtx -o none.mtx"));
    let why = "x has numbers too large for f64; nothing is written";
    assert!(ran.status == 1 && ran.stderr.contains(why), "{}", ran.stderr);
    desk.put("small.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 1e-39\n");
    desk.fails(&line("small.mtx --element f32 -o none.mtx"), 1, &["at row 1 of its diagonal, or too near to zero"]);
    assert!(!desk.path("none.mtx").exists());
    // A system without unknowns is solved.
    desk.put("empty.mtx", "%%MatrixMarket matrix coordinate real symmetric\n0 0 0\n");
    desk.ok(&line("empty.mtx --verify"));
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let desk = desk();
    let general = |entries: &str| format!("%%MatrixMarket matrix coordinate real general\n2 2 {entries}");
    desk.put("wide.mtx", WIDE);
    desk.put("unlike.mtx", &general("4\n1 1 2\n1 2 1\n2 1 1.5\n2 2 2\n"));
    desk.put("near.mtx", &general("4\n1 1 2\n1 2 1\n2 1 1.0000000000000002\n2 2 2\n"));
    desk.put("lower.mtx", &general("3\n1 1 2\n2 1 1\n2 2 2\n"));
    desk.put("large.mtx", &general("2\n1 1 1e300\n2 2 1\n"));
    desk.put("nan.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\nnan\n3\n4\n");
    desk.put("skew.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n");
    for (words, why) in [
        ("wide.mtx", "wide.mtx: A is 2 x 4, conjugate gradients take a square matrix"),
        (
            "unlike.mtx",
            "unlike.mtx: A has 1.5 at row 2, column 1, and 1 at row 1, column 2: conjugate gradients take a",
        ),
        ("lower.mtx", "A has 1 at row 2, column 1, and 0 at row 1, column 2"),
        ("skew.mtx", "A has 3 at row 2, column 1, and -3 at row 1, column 2"),
        ("large.mtx --element f32", "which is not finite in f32"),
        ("a.mtx unlike.mtx", "unlike.mtx: B is 2 x 2, 4 rows are expected"),
        ("a.mtx nan.mtx", "B has NaN at row 2, column 1 in f64: a right-hand side is finite"),
        ("a.mtx --block 3", "3"),
        ("a.mtx --tolerance -1", "a finite number from 0 is wanted"),
        ("a.mtx --steps 0", "a whole number from 1"),
        ("a.mtx b.mtx -o b.mtx", "with --overwrite it takes its place"),
        ("a.mtx -o x.txt", "x.txt"),
        ("- -", "A and B cannot both be read from stdin"),
    ] {
        desk.fails(&line(words), 2, &[why]);
    }
    desk.fails("cg a.mtx --device none", 3, &["none"]);
    desk.ok(&line("near.mtx -q"));
    desk.ok(&line("lower.mtx --symmetric -q"));
    desk.ok(&line("large.mtx -q"));
}
