//! The programs of `benches/peers` that compare the command's results with those of other
//! libraries. Each program must find no difference in correct results, and must find a planted
//! difference.
use super::*;
use std::os::unix::fs::PermissionsExt;

/// Runs a program of `benches/peers` on the device under test, with the command or with a program
/// in its place.
fn peer(desk: &Desk, python: &str, name: &str, blockmul: &Path, line: &str) -> Ran {
    let script = Path::new(ROOT).join("benches/peers").join(name);
    let mut command = Command::new(python);
    command.arg("-B").arg(script).arg(blockmul).args(line.split_whitespace()).current_dir(desk.path(""));
    // OpenBLAS starts a thread for each core. For small matrices these threads wait in loops, so
    // that SciPy's solutions took 15 s of processor time instead of 7.
    command.env("OPENBLAS_NUM_THREADS", "1");
    command.args(["--device", &common::device().info().index.to_string()]);
    ran(command)
}

fn blockmul() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_blockmul"))
}

/// Makes a program that runs the command with `to` in place of the argument `from`.
fn changed(desk: &Desk, from: &str, to: &str) -> PathBuf {
    let (path, blockmul) = (desk.path("changed"), blockmul().display());
    let each = format!("for word; do shift; [ \"$word\" = {from} ] && word={to}; set -- \"$@\" \"$word\"; done");
    desk.put("changed", &format!("#!/bin/sh\n{each}\nexec '{blockmul}' \"$@\"\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Returns the cells of the lines of a table, without its header.
fn lines(ran: &Ran) -> Vec<Vec<&str>> {
    let of_table = ran.stdout.lines().filter(|line| line.starts_with('|')).skip(2);
    of_table.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn distances_are_those_of_scipy() {
    let Some(python) = common::python("SciPy", "scipy.sparse, scipy.io") else { return };
    let desk = Desk::with([("g.mtx", SQUARE)]);
    let compared = peer(&desk, &python, "paths.py", blockmul(), "g.mtx --rounds 1");
    assert_eq!(compared.status, 0, "{}", compared.stderr);
    let differing: Vec<_> = lines(&compared).iter().map(|line| (line[0], line[5])).collect();
    assert_eq!(differing, [("g.mtx", "0"); 2], "from one vertex and from three");
    // A graph whose edges are reversed has other distances.
    let planted = changed(&desk, "--transpose", "--sum-duplicates");
    let compared = peer(&desk, &python, "paths.py", &planted, "--shrink 2000 --rounds 1");
    assert_eq!(compared.status, 1, "{}", compared.stderr);
    let graphs = lines(&compared);
    assert_eq!(graphs.len(), 12);
    assert!(
        graphs.iter().any(|line| line[5] != "0") && graphs.iter().any(|line| line[5] == "0"),
        "{}",
        compared.stdout
    );
}

#[test]
fn distances_in_small_graphs_are_those_of_networkx() {
    let Some(python) = common::python("NetworkX", "networkx, scipy.sparse") else { return };
    let desk = Desk::new();
    let compared = peer(&desk, &python, "paths_networkx.py", blockmul(), "--graphs 6");
    assert_eq!(compared.status, 0, "{}{}", compared.stdout, compared.stderr);
    for (line, kind) in lines(&compared).iter().zip(["real, from 0", "whole, from 0", "whole, negative"]) {
        assert_eq!((line[0], &line[6..]), (kind, &["0", "0"][..]), "{}", compared.stdout);
        let count = |at: usize| line[at].parse::<u32>().unwrap();
        assert!(0 < count(5) && count(5) < count(4), "some vertices are out of reach: {}", compared.stdout);
    }
    assert!(compared.stdout.ends_with("Of 6 graphs with a cycle of negative length 6 are refused.\n"));
    let planted = changed(&desk, "--transpose", "--sum-duplicates");
    let compared = peer(&desk, &python, "paths_networkx.py", &planted, "--graphs 2");
    assert_eq!(compared.status, 1, "{}{}", compared.stdout, compared.stderr);
    assert!(lines(&compared).iter().any(|line| line[6] != "0" && line[7] != "0"), "{}", compared.stdout);
}

#[test]
fn products_over_every_semiring_are_those_of_graphblas() {
    let modules = "graphblas, scipy.sparse, scipy.io";
    let Some(python) = common::python_with_pip("python-graphblas", modules) else { return };
    let desk = Desk::with([("s.mtx", SQUARE), ("w.mtx", WIDE)]);
    for (options, algebras) in [("s.mtx --elements f64,u8", 8), ("w.mtx --elements i32", 8), ("s.mtx --elements u8", 1)]
    {
        let compared = peer(&desk, &python, "semirings.py", blockmul(), &format!("{options} --rounds 1"));
        assert_eq!(compared.status, 0, "{options}: {}{}", compared.stdout, compared.stderr);
        let lines = lines(&compared);
        assert_eq!(lines.len(), 4 * algebras, "{options}: {}", compared.stdout);
        assert!(lines.iter().all(|line| line[4] != "0" && line[5] == "0"), "{options}: {}", compared.stdout);
    }
    let planted = changed(&desk, "max-min", "max-plus");
    let options = "s.mtx --elements i32 --semirings max-min --rounds 1";
    let compared = peer(&desk, &python, "semirings.py", &planted, options);
    assert_eq!(compared.status, 1, "{}", compared.stderr);
    assert!(lines(&compared).iter().all(|line| line[5] != "0"), "each product differs: {}", compared.stdout);
}

#[test]
fn costs_of_small_problems_are_those_of_scipy() {
    let Some(python) = common::python("SciPy", "scipy.optimize, scipy.spatial.transform") else { return };
    let desk = Desk::new();
    let compared = peer(&desk, &python, "solve_scipy.py", blockmul(), "--problems 12");
    assert_eq!(compared.status, 0, "{}{}", compared.stdout, compared.stderr);
    let lines = lines(&compared);
    assert_eq!(lines.len(), 12, "{}", compared.stdout);
    let as_low = lines.iter().filter(|line| line[2] == "1").count();
    assert!(as_low > 9, "a few say why not: {}{}", compared.stdout, compared.stderr);
    // Solutions that end too early are found.
    let planted = changed(&desk, "1e-12", "0.5");
    let compared = peer(&desk, &python, "solve_scipy.py", &planted, "--problems 1");
    assert_eq!(compared.status, 1, "{}{}", compared.stdout, compared.stderr);
}
