//! Tests of `hessian`, `schur`, `solve`, `bench --iterations`: problems are linearised and solved.
use super::*;
use blockmul::solver::least_squares::Limits;
use blockmul::solver::problem::{BundleProblem, Graph, GraphProblem, LeastSquares, Loss, bal, g2o};

const BAL: &str = "generate bal --cameras 8 --points 60 --views 3 --noise 0.5 --error 0.05 -q -o p.txt";
const GRAPH: &str = "generate g2o --poses 40 --closures 20 --plane -q -o g.g2o";
const LANDMARKS: &str = "generate g2o --poses 40 --closures 20 --landmarks 12 -q -o l.g2o";

fn desk() -> Desk {
    let desk = Desk::new();
    [BAL, GRAPH, LANDMARKS].iter().for_each(|line| drop(desk.ok(line)));
    desk
}

/// Adds the device under test to a line.
fn on_device(line: &str) -> String {
    format!("{line} --device {}", common::device().info().index)
}

impl Desk {
    fn solved(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(&on_device(&format!("solve {line} --json -"))).stdout).unwrap()
    }

    fn matrix(&self, name: &str) -> Csc<f64> {
        matrix_market::read(self.path(name), &Default::default()).unwrap().matrix
    }
}

#[test]
fn hessians_are_those_of_their_jacobians() {
    let desk = desk();
    let line = "hessian p.txt --write U=U.mtx --write W=W.mtx --write V=V.mtx --write H=H.mtx --write J=J.mtx --write Jc=Jc.mtx --picture H.png";
    let told = desk.ok(&on_device(line));
    assert!(told.stdout.contains("  J  360 x 252, 180 blocks of 2x9, 180 blocks of 2x3\n"), "{}", told.stdout);
    assert!(told.stdout.contains("  W  72 x 180, 180 blocks of 9x3\n"), "{}", told.stdout);
    assert!(told.stderr.contains("8 cameras, 60 points, 180 observations\n"), "{}", told.stderr);
    assert!(std::fs::read(desk.path("H.png")).unwrap().starts_with(b"\x89PNG"));
    let (h, j) = (desk.matrix("H.mtx").to_dense(), desk.matrix("J.mtx").to_dense());
    let want = j.transpose() * &j;
    assert!((&h - &want).amax() <= 1e-12 * want.amax(), "{}", (&h - &want).amax());
    let (u, w, v) = (desk.matrix("U.mtx").to_dense(), desk.matrix("W.mtx").to_dense(), desk.matrix("V.mtx").to_dense());
    assert!(h.view((0, 0), (72, 72)) == u && h.view((0, 72), (72, 180)) == w && h.view((72, 72), (180, 180)) == v);
    assert!(j.columns(0, 72) == desk.matrix("Jc.mtx").to_dense());

    for (file, rows) in [("g.g2o", 59 * 3), ("l.g2o", 59 * 6 + 58 * 3)] {
        let told = desk.ok(&on_device(&format!("hessian {file} --write H=h.mtx --write J=j.mtx -q")));
        let (h, j) = (desk.matrix("h.mtx"), desk.matrix("j.mtx"));
        assert_eq!((j.nrows(), j.ncols()), (rows, h.nrows()), "{file}: {}", told.stdout);
        let dense = h.to_dense();
        assert!((&dense - dense.transpose()).amax() <= 1e-12 * dense.amax());
    }
    desk.ok(&on_device("hessian g.g2o --write Omega=w.mtx --write J=j.mtx --write H=h.mtx -q"));
    let (j, w) = (desk.matrix("j.mtx").to_dense(), desk.matrix("w.mtx").to_dense());
    let want = j.transpose() * w * &j;
    assert!((desk.matrix("h.mtx").to_dense() - &want).amax() <= 1e-12 * want.amax());
}

#[test]
fn schur_complements_are_those_of_their_hessians() {
    let desk = desk();
    for (file, cameras) in [("p.txt", 72), ("l.g2o", 39 * 6)] {
        desk.ok(&on_device(&format!("hessian {file} --write H=H.mtx -q")));
        let told = desk.ok(&on_device(&format!("schur {file} --lambda 0.001 -o S.mtx --picture S.png"))).stdout;
        assert!(told.contains(&format!("  S  {cameras} x {cameras}, ")), "{told}");
        let mut h = desk.matrix("H.mtx").to_dense();
        let n = h.nrows();
        (0..n).for_each(|i| h[(i, i)] *= 1.001);
        let part = |row: usize, col: usize, rows: usize, cols: usize| h.view((row, col), (rows, cols)).into_owned();
        let (u, w) = (part(0, 0, cameras, cameras), part(0, cameras, cameras, n - cameras));
        let v = part(cameras, cameras, n - cameras, n - cameras);
        let want = u - &w * v.try_inverse().unwrap() * w.transpose();
        let off = (desk.matrix("S.mtx").to_dense() - &want).amax();
        // Rounding errors grow with the condition of the blocks of V, which are far from singular
        // here.
        assert!(off <= 1e-9 * h.amax(), "{file}: {off}");
    }
}

#[test]
fn solutions_are_written_and_told() {
    let desk = desk();
    let json = desk.solved("p.txt -o solved.txt --picture cloud.png --tolerance 1e-9");
    assert_eq!(
        (&json["schema"], &json["kind"], &json["stop"]),
        (&1.into(), &"bundle adjustment".into(), &"converged".into())
    );
    assert_eq!(json["chi2"], Value::Null);
    let solved = BundleProblem::new(bal::read(desk.path("solved.txt")).unwrap(), Loss::Squared).unwrap();
    // The JSON reader is exact except for the last digit.
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-15 * b.abs();
    assert!(near(json["cost"].as_f64().unwrap(), solved.cost(&solved.start())));
    let iterations = json["iterations"].as_array().unwrap();
    assert!(!iterations.is_empty() && json["cost"].as_f64() < json["initial_cost"].as_f64());
    for field in ["cost", "cost_after", "gradient", "step", "lambda", "residuals_ms", "products_ms", "linear_ms"] {
        assert!(iterations.iter().all(|iteration| iteration[field].is_number()), "{field}");
    }
    assert!(std::fs::read(desk.path("cloud.png")).unwrap().starts_with(b"\x89PNG"));

    assert_eq!((&json["method"], &json["linear"]), (&"levenberg-marquardt".into(), &"cholesky".into()));
    assert_eq!(
        (&json["loss"], &json["information"], &json["start"]),
        (&"squared".into(), &Value::Null, &"file".into())
    );
    let limits = "--cg-steps 499 --cg-tolerance 0.01";
    let conjugate =
        desk.solved(&format!("p.txt --linear conjugate-gradients {limits} --tolerance 1e-9 --iterations 200"));
    let costs = [&json, &conjugate].map(|json| json["cost"].as_f64().unwrap());
    assert!((costs[0] - costs[1]).abs() < 1e-3 * costs[0], "{costs:?}");
    assert!(conjugate["iterations"][0]["conjugate_steps"].as_u64().unwrap() > 0);

    let json = desk.solved("g.g2o --start file --method gauss-newton -o solved.g2o --picture path.png --size 400");
    let Graph::Plane(graph) = g2o::read(desk.path("solved.g2o")).unwrap() else { panic!("in the plane") };
    let solved = GraphProblem::new(graph, Loss::Squared).unwrap();
    assert!(near(json["chi2"].as_f64().unwrap(), 2.0 * json["cost"].as_f64().unwrap()));
    // The command converts the angles in the file to rotations and back.
    let again = solved.cost(&solved.start());
    assert!((again - json["cost"].as_f64().unwrap()).abs() < 1e-9 * again);
    assert!(std::fs::read(desk.path("path.png")).unwrap().starts_with(b"\x89PNG"));

    let chordal = desk.solved("g.g2o --start chordal");
    assert_eq!((&chordal["start"], &chordal["information"]), (&"chordal".into(), &"full".into()));
    assert!(chordal["initial_cost"].as_f64() < json["initial_cost"].as_f64());
    assert!((chordal["cost"].as_f64().unwrap() - json["cost"].as_f64().unwrap()).abs() < 1e-3 * again);
    assert_eq!(desk.solved("l.g2o --loss huber:2")["stop"], "converged");
}

#[test]
fn a_table_is_told_iteration_by_iteration() {
    let desk = desk();
    let told = desk.run(&on_device("solve g.g2o --iterations 2 --tolerance 0"));
    assert_eq!(told.status, 1, "{}", told.stderr);
    let lines: Vec<_> = told.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{}", told.stdout);
    assert!(
        lines[0].starts_with("  it         cost") && lines[1].starts_with("   1 ") && lines[2].starts_with("   2 ")
    );
    assert!(
        lines[3].starts_with("chi2 ")
            && lines[3].ends_with(" (chordal start), stopped at the limit of iterations after 2 iterations")
    );
    assert!(told.stderr.contains("40 poses, 59 steps"), "{}", told.stderr);
    let quiet = desk.ok(&on_device("solve g.g2o -q"));
    assert_eq!((quiet.stdout, quiet.stderr), (String::new(), String::new()));
}

/// The solution so far is a result but not a minimum. The exit status tells scripts that it is not
/// a minimum.
#[test]
fn a_limit_of_iterations_is_no_success_and_its_solution_is_written() {
    let desk = desk();
    let line = "solve p.txt --iterations 2 --tolerance 0 -o so-far.txt --picture so-far.png --json so-far.json";
    let ran = desk.run(&on_device(line));
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for word in ["not converged after 2 iterations", "more --iterations", "--loss", "--start"] {
        assert!(ran.stderr.contains(word), "no \"{word}\" in: {}", ran.stderr);
    }
    let json: Value = serde_json::from_slice(&std::fs::read(desk.path("so-far.json")).unwrap()).unwrap();
    assert_eq!(json["stop"], "iterations");
    assert!(json["cost"].as_f64() < json["initial_cost"].as_f64() && desk.path("so-far.png").exists());
    let so_far = BundleProblem::new(bal::read(desk.path("so-far.txt")).unwrap(), Loss::Squared).unwrap();
    let cost = so_far.cost(&so_far.start());
    assert!((json["cost"].as_f64().unwrap() / cost - 1.0).abs() < 1e-12, "{cost}");
}

/// The file has a graph in which all poses are on a line and see every landmark. For this graph S
/// is full and H is nearly empty.
#[test]
fn what_is_factored_is_chosen_and_named() {
    let desk = desk();
    let mut file: String = (0..4).map(|i| format!("VERTEX_XY {} {} 5\n", 1000 + i, 40 * i)).collect();
    for pose in 0..150 {
        let bent = f64::from(pose % 7) * 0.01;
        file += &format!("VERTEX_SE2 {pose} {pose} {bent} 0\n");
        if pose > 0 {
            file += &format!("EDGE_SE2 {} {pose} 1 0 0 100 0 0 100 0 100\n", pose - 1);
        }
        for landmark in 0..4 {
            file += &format!("EDGE_SE2_XY {pose} {} {} 5 1 0 1\n", 1000 + landmark, 40 * landmark - pose);
        }
    }
    desk.put("beacons.g2o", &file);
    let told = desk.ok(&on_device("solve beacons.g2o --start file"));
    assert!(told.stdout.contains(", linear systems of H "), "{}", told.stdout);
    let solved = ["cholesky", "normal-cholesky", "schur-cholesky"]
        .map(|linear| desk.solved(&format!("beacons.g2o --start file --linear {linear}")));
    let systems = ["hessian", "hessian", "schur-complement"];
    assert_eq!(solved.each_ref().map(|json| json["system"].as_str().unwrap()), systems);
    let costs = solved.each_ref().map(|json| json["initial_cost"].as_f64().unwrap() - json["cost"].as_f64().unwrap());
    assert!(costs[0] > 0.0 && costs.iter().all(|cost| (cost / costs[0] - 1.0).abs() < 1e-9), "{costs:?}");
    let told = desk.ok(&on_device("solve p.txt"));
    assert!(told.stdout.contains(", linear systems of S "), "{}", told.stdout);
}

/// Dead reckoning leads to a minimum of 1134 here.
#[test]
fn the_cheaper_start_is_taken_and_named() {
    let desk = desk();
    desk.ok("generate g2o --shape torus --poses 200 --closures 120 --noise 0.7 --seed 4 -q -o trap.g2o");
    let told = desk.ok(&on_device("solve trap.g2o --json trap.json -o solved.g2o"));
    assert!(told.stderr.contains("start: chordal relaxation, chi2 723."), "{}", told.stderr);
    assert!(told.stdout.contains("(chordal start), converged after"), "{}", told.stdout);
    let json: Value = serde_json::from_slice(&std::fs::read(desk.path("trap.json")).unwrap()).unwrap();
    assert_eq!((&json["start"], &json["start_costs"]["chordal"]), (&"chordal".into(), &json["initial_cost"]));
    assert!((json["chi2"].as_f64().unwrap() - 688.9583).abs() < 0.01, "{json}");
    let file = json["start_costs"]["file"].as_f64().unwrap();
    let trapped = desk.solved("trap.g2o --start file");
    assert_eq!((&trapped["start"], &trapped["start_costs"]), (&"file".into(), &Value::Null));
    assert!((trapped["initial_cost"].as_f64().unwrap() / file - 1.0).abs() < 1e-12);
    assert!(trapped["chi2"].as_f64() > Some(1.1 * 723.2), "{trapped}");

    // In a solved file, the file's guess is the cheaper start.
    let told = desk.ok(&on_device("solve solved.g2o --json solved.json"));
    assert!(told.stderr.contains("start: the file's guess, chi2 688.95"), "{}", told.stderr);
    assert!(told.stderr.contains("; by chordal relaxation 723."), "{}", told.stderr);
    assert!(told.stdout.contains("(the file's guess), converged after"), "{}", told.stdout);

    // If there is no chordal start, and for a bundle adjustment, the file's guess is used.
    desk.put("seen.g2o", "VERTEX_SE2 0 0 0 0\nVERTEX_XY 1 1 0\nEDGE_SE2_XY 0 1 1.5 0 1 0 1\n");
    let told = desk.ok(&on_device("solve seen.g2o")).stderr;
    assert!(told.contains("start: the file's guess, chi2 0.25") && told.contains("no pose was measured"), "{told}");
    assert_eq!(desk.solved("p.txt --start auto")["start"], "file");
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let desk = desk();
    desk.put("broken.g2o", "VERTEX_SE2 0 0 0 0\nEDGE_SE2 0 7 1 0 0 1 0 0 1 0 1\n");
    desk.put("broken.txt", "1 1 1\n0 0 1\n");
    for (line, status, words) in [
        ("solve broken.g2o", 2, "broken.g2o:2: there is no vertex 7 in the file"),
        ("hessian broken.txt", 2, "broken.txt:"),
        ("solve nowhere.g2o", 2, "nowhere.g2o"),
        ("solve p.txt --loss huber", 2, "is no width of a loss"),
        ("solve p.txt --start chordal", 2, "this is a bundle adjustment"),
        (
            "solve g.g2o --linear conjugate-gradients",
            2,
            "g.g2o: no landmarks are unknown; --linear conjugate-gradients is",
        ),
        ("solve g.g2o --linear schur-cholesky", 2, "g.g2o: no landmarks are unknown; --linear schur-cholesky is"),
        ("solve p.txt --cg-steps 3", 2, "--cg-steps is for --linear conjugate-gradients, not for cholesky"),
        ("solve p.txt --cg-tolerance 0.1", 2, "--cg-tolerance is for --linear conjugate-gradients, not for cholesky"),
        ("solve p.txt -o nowhere/x.txt", 2, "the folder nowhere of the output nowhere/x.txt does not exist"),
        ("solve p.txt --picture x.jpg", 2, "must end in .png"),
        ("solve p.txt --lambda=-1", 2, "a finite number from 0 is wanted"),
        ("hessian p.txt --write Omega=x.mtx", 2, "this problem has no matrix Omega; it has H, J, U, W, V, Jc, Jp"),
        ("hessian p.txt --write W", 2, "NAME=FILE is wanted"),
        ("schur g.g2o", 2, "nothing to eliminate"),
        ("schur p.txt --lambda=-1", 2, "a finite number from 0 is wanted"),
    ] {
        desk.fails(line, status, &[words]);
    }
    // The help shows the defaults of the library.
    let help = desk.ok("solve --help").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let Limits { tolerance, steps } = Limits::default();
    for (option, default) in
        [("share of the right-hand side", tolerance.to_string()), ("step of the solver", steps.to_string())]
    {
        assert!(help.contains(&format!("{option} [default: {default}]")), "{help}");
    }
    // The graph is refused before a start is computed and chosen.
    let said = desk.run(&on_device("solve g.g2o --linear conjugate-gradients")).stderr;
    assert!(!said.contains("start: "), "{said}");
    // In this graph a pose is determined only along one line, and steps have no damping.
    desk.put("loose.g2o", "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0\nEDGE_SE2 0 1 1.5 0 0 1 1 0 1 0 1\n");
    let ran = desk.run(&on_device("solve loose.g2o --method gauss-newton"));
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("the system is singular"), "{}", ran.stderr);
    desk.ok(&on_device("solve loose.g2o"));
    let line = "solve loose.g2o --method gauss-newton -o loose-solved.g2o --json loose.json -q";
    let ran = desk.run(&on_device(line));
    assert_eq!(
        (ran.status, desk.path("loose-solved.g2o").exists(), desk.path("loose.json").exists()),
        (1, false, true)
    );
}

#[test]
fn a_stream_has_one_result() {
    let desk = desk();
    let stdout = desk.ok(&on_device("hessian g.g2o --write H=-")).stdout;
    assert!(stdout.starts_with("%%MatrixMarket"), "{stdout}");
    assert!(desk.ok(&on_device("schur p.txt -o -")).stdout.starts_with("%%MatrixMarket"));
    let both = "two results cannot both go to";
    for line in [
        "hessian g.g2o --write H=- --write J=-",
        "solve g.g2o --json - --picture -",
        "solve p.txt -o x.txt --json x.txt",
    ] {
        desk.fails(line, 2, &[both]);
    }
    assert_eq!(desk.ok(&on_device("hessian g.g2o -q")).stdout, "");
}

#[test]
fn what_is_solved_already_takes_no_step() {
    let desk = desk();
    desk.put("one.g2o", "VERTEX_SE2 0 0 0 0\n");
    desk.ok("generate bal --cameras 4 --points 20 --views 3 --noise 0 --error 0 -q -o exact.txt");
    for (file, most) in [("one.g2o", 0), ("exact.txt", 2)] {
        let json = desk.solved(file);
        let steps = json["iterations"].as_array().unwrap().len();
        assert!(json["stop"] == "converged" && steps <= most && json["cost"].as_f64() < Some(1e-12), "{json}");
    }
}

#[test]
fn the_products_of_an_iteration_are_verified_and_timed() {
    let desk = desk();
    let line = on_device("bench --iterations p.txt g.g2o l.g2o --rounds 3 --json i.json");
    let told = desk.ok(&line).stdout;
    let json: Value = serde_json::from_slice(&std::fs::read(desk.path("i.json")).unwrap()).unwrap();
    let results = json["results"].as_array().unwrap();
    let names: Vec<_> = results.iter().map(|record| record["matrix"].as_str().unwrap()).collect();
    assert_eq!(names, ["p U", "p W", "p V", "p Z", "p S", "p all", "g H", "l H", "l Z", "l S", "l all"]);
    for record in results {
        assert_eq!((&record["verified"], &record["variant"]), (&true.into(), &"plan".into()), "{record}");
        assert!(record["runs_ms"].as_array().unwrap().len() == 3 && record["launches"].as_u64() > Some(0), "{record}");
    }
    assert_eq!((&results[0]["products"], &results[1]["flops"]), (&180.into(), &(180 * 2 * 9 * 2 * 3).into()));
    assert!(told.contains("p all") && told.contains("yes") && !told.contains("NO"), "{told}");
    desk.fails("bench --iterations nowhere.g2o", 2, &["nowhere.g2o"]);
}

/// Returns a graph of eight poses on a line with one loop. `information` returns the matrix of each
/// edge.
fn line_of_poses(information: impl Fn(usize) -> &'static str) -> String {
    let poses: String = (0..8).map(|i| format!("VERTEX_SE2 {i} {} 0.1 0\n", 1.1 * i as f64)).collect();
    let ends = (0..7).map(|i| (i, i + 1, 1)).chain([(0, 7, 7)]);
    poses
        + &ends
            .enumerate()
            .map(|(edge, (from, to, x))| format!("EDGE_SE2 {from} {to} {x} 0 0 {}\n", information(edge)))
            .collect::<String>()
}

#[test]
fn measurements_without_weight_are_counted_and_told() {
    let desk = Desk::new();
    const UNIT: &str = "1 0 0 1 0 1";
    const NEGATIVE: &str = "-1 0 0 -1 0 -1";
    const ZERO: &str = "0 0 0 0 0 0";
    for (name, information) in [("negative.g2o", NEGATIVE), ("zero.g2o", ZERO)] {
        desk.put(name, &line_of_poses(|_| information));
        let words = "none of the 8 measurements has any weight: their information matrices are zero";
        desk.fails(&on_device(&format!("solve {name} -o s.g2o")), 2, &[words]);
    }
    desk.put("some.g2o", &line_of_poses(|edge| if edge == 2 { NEGATIVE } else { UNIT }));
    let told = desk.ok(&on_device("solve some.g2o -o s.g2o"));
    assert!(told.stderr.contains("1 information matrices have negative eigenvalues"), "{}", told.stderr);
    assert!(told.stderr.contains("warning: 1 of 8 measurements lose weight: made isotropic"), "{}", told.stderr);
    desk.put("one.g2o", &line_of_poses(|edge| if edge == 7 { ZERO } else { UNIT }));
    for information in ["", "--information isotropic"] {
        let told = desk.ok(&on_device(&format!("solve one.g2o {information} -o s.g2o")));
        let words = "warning: 1 of 8 measurements have no weight: their information is 0\n";
        assert!(told.stderr.contains(words) && !told.stderr.contains("lose"), "{}", told.stderr);
    }
    desk.put("all.g2o", &line_of_poses(|_| UNIT));
    assert!(!desk.ok(&on_device("solve all.g2o -o s.g2o")).stderr.contains("weight"));
}

/// If the information is scaled by 1e-10 or 1e10, as in other units, the steps are the same.
#[test]
fn information_in_other_units_takes_the_same_steps() {
    let desk = Desk::new();
    let solved = |name: &str, information: &'static str| {
        desk.put(name, &line_of_poses(|_| information));
        let solved = desk.solved(&format!("{name} --start file"));
        assert_eq!(solved["stop"], "converged");
        solved["iterations"].as_array().unwrap().len()
    };
    let iterations = solved("unit.g2o", "1 0 0 1 0 1");
    assert!(iterations > 1);
    assert_eq!(solved("small.g2o", "1e-10 0 0 1e-10 0 1e-10"), iterations);
    assert_eq!(solved("large.g2o", "1e10 0 0 1e10 0 1e10"), iterations);
}

#[test]
fn what_no_measurement_places_is_named() {
    let desk = Desk::new();
    let seen = "VERTEX_XY 50 3 3\nEDGE_SE2_XY 2 50 1 3 0 0 0\nVERTEX_XY 40 3 3\nEDGE_SE2_XY 2 40 1.5 3 1 0 1\n";
    desk.put("l.g2o", &(line_of_poses(|_| "1 0 0 1 0 1") + seen));
    for linear in ["cholesky", "conjugate-gradients"] {
        let told = desk.ok(&on_device(&format!("solve l.g2o --linear {linear}")));
        assert!(told.stdout.contains("\nwithout influence: x, y of landmark 50\n"), "{}", told.stdout);
        let line = format!("solve l.g2o --linear {linear} --method gauss-newton --start file -o s.g2o -q");
        let ran = desk.run(&on_device(&line));
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("no residual depends on x, y of landmark 50"), "{}", ran.stderr);
    }
    assert_eq!(desk.files(), ["l.g2o"]);
}
