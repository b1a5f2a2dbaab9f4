//! Outputs never replace an input unless this was requested, and are never written to a folder that
//! does not exist.
use super::*;

const GRAPH: &str = "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1.5 0 0\nEDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\n";

/// A command line for every option that names an output. IN and OUT are replaced by an input and an
/// output.
const LINES: [&str; 17] = [
    "multiply IN.mtx -o OUT.mtx",
    "multiply other.mtx IN.mtx -o OUT.mtx",
    "multiply IN.txt --report OUT.txt",
    "transpose IN.mtx -o OUT.mtx",
    "convert IN.mtx -o OUT.mtx",
    "add IN.mtx other.mtx -o OUT.mtx",
    "add other.mtx IN.mtx -o OUT.mtx",
    "spy IN.png -o OUT.png",
    "spy other.mtx --diff IN.png -o OUT.png",
    "solve IN.g2o -o OUT.g2o",
    "solve IN.txt --json OUT.txt",
    "solve IN.png --picture OUT.png",
    "hessian IN.mtx --write H=OUT.mtx",
    "hessian IN.png --picture OUT.png",
    "schur IN.mtx -o OUT.mtx",
    "schur IN.png --picture OUT.png",
    "bench IN.txt --json OUT.txt",
];

/// A desk with inputs. Outputs are refused before the contents of inputs are read.
fn desk() -> Desk {
    let desk = Desk::new();
    for name in ["in.mtx", "in.txt", "in.png", "in.g2o", "other.mtx"] {
        desk.put(name, SQUARE);
    }
    desk
}

#[test]
fn an_output_never_takes_the_place_of_an_input() {
    let desk = desk();
    for line in LINES {
        let line = line.replace("IN", "in").replace("OUT", "./in");
        let output = line.split(['=', ' ']).find(|word| word.starts_with("./in")).unwrap();
        let input = output.strip_prefix("./").unwrap();
        desk.fails(
            &line,
            2,
            &[&format!("the output {output} is the same file as the input {input}: with --overwrite")],
        );
    }
    desk.fails(
        "transpose in.mtx -o in.mtx",
        2,
        &["the output in.mtx is an input: with --overwrite it takes its place"],
    );
    for name in ["in.mtx", "in.txt", "in.png", "in.g2o", "other.mtx"] {
        assert_eq!(std::fs::read_to_string(desk.path(name)).unwrap(), SQUARE, "{name}");
    }
    assert_eq!(desk.files().len(), 5);
}

#[test]
#[cfg(unix)]
fn links_lead_to_inputs_as_well() {
    let desk = desk();
    std::os::unix::fs::symlink("in.mtx", desk.path("link.mtx")).unwrap();
    std::fs::hard_link(desk.path("in.mtx"), desk.path("hard.mtx")).unwrap();
    for (input, output) in [("in.mtx", "link.mtx"), ("link.mtx", "in.mtx"), ("in.mtx", "hard.mtx")] {
        let words = format!("the output {output} is the same file as the input {input}");
        desk.fails(&format!("transpose {input} -o {output}"), 2, &[&words]);
    }
    let around = format!("../{}/in.mtx", desk.0.path().file_name().unwrap().to_str().unwrap());
    desk.fails(&format!("transpose in.mtx -o {around}"), 2, &[&format!("the output {around} is the same file")]);
    std::os::unix::fs::symlink("none/b.mtx", desk.path("nowhere.mtx")).unwrap();
    desk.fails("transpose in.mtx -o nowhere.mtx", 2, &["none of the output nowhere.mtx does not exist"]);
    assert_eq!(std::fs::read_to_string(desk.path("in.mtx")).unwrap(), SQUARE);
}

#[test]
fn two_results_never_go_to_one_place() {
    let desk = desk();
    desk.put("there.mtx", SQUARE);
    // The test has an output that exists, and one that does not exist yet. The output is named in
    // two ways.
    for name in ["there", "new"] {
        #[cfg(unix)]
        std::os::unix::fs::symlink(format!("{name}.mtx"), desk.path(&format!("{name}-link.mtx"))).unwrap();
        let seconds = if cfg!(unix) { vec![name.into(), format!("{name}-link")] } else { vec![name.to_owned()] };
        for second in &seconds {
            for line in [
                "multiply in.mtx -o ONE.txt --report ./ONE.txt",
                "solve in.g2o -o ONE.txt --json ./ONE.txt",
                "solve in.g2o --json ONE.txt --picture ./ONE.txt",
                "hessian in.g2o --write H=ONE.mtx --write J=./TWO.mtx",
                "hessian in.g2o --write H=ONE.mtx --picture ./TWO.mtx",
                "schur in.g2o -o ONE.mtx --picture ./TWO.mtx",
            ] {
                let line = line.replace("ONE", name).replace("TWO", second);
                desk.fails(&line, 2, &["two results cannot both go to "]);
            }
        }
    }
    desk.fails("convert in.mtx -o c.bla --bla", 2, &["c.bla"]);
    assert_eq!(std::fs::read_to_string(desk.path("there.mtx")).unwrap(), SQUARE);
}

#[test]
#[cfg(unix)]
fn a_link_to_what_is_not_there_yet_stays_one() {
    let desk = desk();
    std::os::unix::fs::symlink("new.mtx", desk.path("link.mtx")).unwrap();
    desk.ok("transpose in.mtx -o link.mtx -q");
    assert!(std::fs::symlink_metadata(desk.path("link.mtx")).unwrap().is_symlink());
    assert!(std::fs::symlink_metadata(desk.path("new.mtx")).unwrap().is_file());
}

#[test]
fn overwriting_is_for_those_who_say_so() {
    let desk = desk();
    let transposed = desk.ok("transpose in.mtx -o - -q").stdout;
    desk.ok("transpose in.mtx -o in.mtx --overwrite -q");
    assert_eq!(std::fs::read_to_string(desk.path("in.mtx")).unwrap(), transposed);
    desk.put("graph.g2o", GRAPH);
    desk.ok("solve graph.g2o -o graph.g2o --overwrite -q");
    assert_ne!(std::fs::read_to_string(desk.path("graph.g2o")).unwrap(), GRAPH);
    // An existing file that is not an input is replaced.
    desk.ok("transpose in.mtx -o other.mtx -q");
    desk.ok("transpose other.mtx -o other.txt -q");
}

#[test]
fn a_layout_is_an_input_and_an_output_too() {
    let desk = Desk::new();
    desk.ok("generate pose-graph --poses 4 --closures 1 --side 3 -o h.mtx -q");
    desk.ok("convert h.mtx -o s.mtx --block 3 --bla -q");
    let layout = std::fs::read_to_string(desk.path("s.bla")).unwrap();
    desk.fails("convert s.mtx -o s.npz --block 1 --bla", 2, &["the output s.bla is an input"]);
    assert_eq!(std::fs::read_to_string(desk.path("s.bla")).unwrap(), layout);
}

#[test]
fn a_folder_that_is_not_there_is_named_before_any_work() {
    let desk = desk();
    let generate = ["generate uniform -o OUT.mtx", "generate bal -o OUT.txt", "generate g2o -o OUT.g2o"];
    for line in LINES.iter().chain(&generate) {
        // The inputs of this test do not exist. If the command read an input first, its message
        // would name that input.
        let line = line.replace("IN", "missing").replace("OUT", "no/where/out");
        let output = line.split(['=', ' ']).find(|word| word.starts_with("no/where")).unwrap();
        match line.starts_with("bench") {
            // `bench` checks its inputs while it parses the command line.
            true => {
                desk.fails(&line.replace("missing", "in"), 2, &["the folder no/where of the output no/where/out.txt"])
            }
            false => desk.fails(&line, 2, &[&format!("the folder no/where of the output {output} does not exist")]),
        }
    }
    desk.fails(
        "transpose in.mtx -o in.mtx/c.mtx",
        2,
        &["in.mtx is no folder, so that the output in.mtx/c.mtx cannot be in it"],
    );
    desk.fails("transpose in.mtx -o .", 2, &["the output . is a folder"]);
    assert_eq!(desk.files().len(), 5);
}

#[test]
fn unknown_endings_are_refused_with_those_known() {
    let desk = desk();
    for line in ["multiply in.mtx -o c.foo", "generate uniform -o c.foo", "hessian in.g2o --write H=c.foo"] {
        desk.fails(line, 2, &["c.foo: unknown ending .foo; matrices are written to .mtx, .npz, .txt"]);
    }
    for line in ["solve in.g2o -o c.foo.gz", "generate g2o -o c.foo.gz"] {
        desk.fails(line, 2, &["c.foo.gz: unknown ending .foo; problems are written to .txt, .bal, .g2o, .graph"]);
    }
    desk.fails(
        "convert in.mtx -o c.mtx.xz",
        2,
        &["c.mtx.xz: xz is read, not written; packed files end in .gz or .bz2"],
    );
    desk.fails("convert in.mtx -o c.tar.gz", 2, &["c.tar.gz: archives are read, not written"]);
    desk.fails(
        "multiply in.mtx --device reference -q --report r.json.zst",
        2,
        &["r.json.zst: zstd is read, not written"],
    );
    desk.put("a.foo", "1 1 0\n");
    desk.put("b.foo", SQUARE);
    desk.put("c", SQUARE);
    desk.fails("info a.foo", 2, &["a.foo: unknown ending .foo: matrices are read from .mtx, .npz, .txt"]);
    desk.fails("solve b.foo", 2, &["b.foo:1: \"%%MatrixMarket\" begins neither a bundle adjustment of BAL"]);
    // The first bytes of a file determine its format; the name is used only if they do not.
    for name in ["b.foo", "c"] {
        desk.ok(&format!("compare {name} in.mtx"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_takes_no_file_is_found_before_there_is_a_result() {
    let desk = desk();
    // The input does not exist. If the command read this input first, its message would name it.
    for line in ["transpose missing.mtx -o /proc/c.mtx", "multiply missing.mtx --report /proc/c.json"] {
        desk.fails(line, 5, &["error: /proc/c."]);
    }
    desk.ok("transpose in.mtx -o /dev/null -q");
    assert_eq!(desk.files().len(), 5, "nothing is left behind");
}

#[test]
fn endings_are_those_of_their_kind() {
    let desk = Desk::with([("in.mtx", SQUARE)]);
    let (graph, adjustment) = ("generate g2o --poses 3 --closures 0", "generate bal --cameras 2 --points 9 --views 2");
    let report = "multiply in.mtx --device reference --report";
    for (line, names) in [
        (&format!("{graph} -o"), &["c.txt", "c.g2o.gz", "c", "c.graph.bz2"][..]),
        (&format!("{adjustment} -o"), &["c.txt", "c.BAL", "c", "c.bal.gz"]),
        (&report.to_owned(), &["c.json", "c", "c.log", "c.txt", "c.json.gz", "c.tuning"]),
    ] {
        names.iter().for_each(|name| drop(desk.ok(&format!("{line} {name} -q"))));
    }
    for (line, names, words) in [
        (graph, &["-o c.mtx.gz"][..], "unknown ending .mtx; problems are written to .txt, .bal, .g2o, "),
        (graph, &["-o c.bal"], "c.bal: graphs are written to .g2o, .graph, .txt"),
        (graph, &["-o c.g2o.xz"], "xz is read, not written"),
        (adjustment, &["-o c.g2o", "-o c.graph.gz"], "bundle adjustments are written to .txt, .bal"),
        ("transpose in.mtx", &["-o c.png"], "unknown ending .png; matrices are"),
        (report, &["c.mtx", "c.npz.gz", "c.npy", "c.png", "c.g2o.gz", "c.tsv"], " is of another format; this is JSON"),
    ] {
        names.iter().for_each(|name| desk.fails(&format!("{line} {name}"), 2, &[words]));
    }
}
