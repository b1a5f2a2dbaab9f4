//! Problems: the poses that are held, the members that are not unknowns, and the formats of the
//! files.
use super::*;

fn on_device(line: &str) -> String {
    format!("{line} --device {}", common::device().info().index)
}

/// Returns the JSON and the messages of a solution, whose status must be 0.
fn solved(desk: &Desk, line: &str) -> (Value, String) {
    let said = desk.ok(&on_device(&format!("solve {line} --json solved.json"))).stderr;
    (serde_json::from_slice(&std::fs::read(desk.path("solved.json")).unwrap()).unwrap(), said)
}

fn chi2(json: &Value) -> f64 {
    json["chi2"].as_f64().unwrap()
}

/// The graph has three poses that see two landmarks. The measurements agree with each other, but
/// the poses begin elsewhere.
fn seeing(places: [[f64; 2]; 2], fixed: &str) -> String {
    let mut text = String::from("VERTEX_SE2 0 0.5 -0.4 0.2\nVERTEX_SE2 1 1.5 -0.3 0.1\nVERTEX_SE2 2 2.4 -0.6 0.3\n");
    for ([x, y], name) in places.into_iter().zip([10, 11]) {
        text += &format!("VERTEX_XY {name} {x} {y}\n");
        for pose in 0..3 {
            text += &format!("EDGE_SE2_XY {pose} {name} {} {y} 50 0 50\n", x - f64::from(pose));
        }
    }
    text + "EDGE_SE2 0 1 1 0 0 100 0 0 100 0 100\nEDGE_SE2 1 2 1 0 0 100 0 0 100 0 100\n" + fixed
}

#[test]
fn fixed_landmarks_hold_a_graph_or_say_what_to_fix() {
    let desk = Desk::new();
    let apart = [[1.0, 1.0], [2.0, -1.0]];
    for (name, text, turns) in [
        ("one.g2o", seeing(apart, "FIX 10\n"), Some("landmark 10 alone is fixed; fix a pose, or another landmark")),
        ("two.g2o", seeing(apart, "FIX 10 11\n"), None),
        (
            "place.g2o",
            seeing([[1.0, 1.0]; 2], "FIX 10 11\n"),
            Some("landmarks 10, 11, all in one place, are fixed; fix a pose, or one at another place"),
        ),
    ] {
        desk.put(name, &text);
        let (json, said) = solved(&desk, name);
        assert!(chi2(&json) < 1e-9 && !said.contains("held: ") && json["held"].is_null(), "{json}\n{said}");
        assert!(said.contains("fixed by the file: landmark"), "{said}");
        let line = on_device(&format!("solve {name} --method gauss-newton"));
        match turns {
            Some(words) => desk.fails(&line, 2, &[words]),
            None => drop(desk.ok(&line)),
        };
    }
}

/// In each component of a graph a pose is held and named.
#[test]
fn each_part_of_a_graph_is_held() {
    let desk = Desk::new();
    let part = |first: usize| {
        let pose = |i: usize| format!("VERTEX_SE2 {} {} 0.3 0.1\n", first + i, 1.3 * i as f64);
        let edge = |i: usize, to: usize, x: f64| format!("EDGE_SE2 {} {} {x} 0 0 9 0 0 9 0 9\n", first + i, first + to);
        (0..3).map(pose).collect::<String>() + &edge(0, 1, 1.0) + &edge(1, 2, 1.0) + &edge(0, 2, 2.1)
    };
    desk.put("one.g2o", &part(10));
    let (one, said) = solved(&desk, "one.g2o");
    assert!(said.contains("held: pose 10\n") && one["held"] == "pose 10", "{one}\n{said}");
    desk.put("three.g2o", &(part(10) + &part(20) + &part(30) + "FIX 31\n"));
    for method in ["levenberg-marquardt", "gauss-newton"] {
        let (three, said) = solved(&desk, &format!("three.g2o --method {method}"));
        assert!((chi2(&three) / chi2(&one) - 3.0).abs() < 1e-6, "{three} {one}");
        assert!(said.contains("held: poses 10 and 20\n") && said.contains("fixed by the file: pose 31\n"), "{said}");
        assert_eq!(three["held"], "poses 10 and 20");
        let left = three["left_out"].as_array().unwrap();
        let why: Vec<_> = left.iter().map(|left| left["why"].as_str().unwrap()).collect();
        assert_eq!((why, &left[0]["first"]), (vec!["held", "fixed"], &serde_json::json!([10, 20])));
    }
}

#[test]
fn blocks_that_are_missing_are_named() {
    let desk = Desk::new();
    // Camera 1 sees no points, and no camera sees points 3 and 4.
    let cameras: String = (0..3).map(|i| format!("0 0 0 {i} 0 0 50 0 0\n")).collect();
    let points: String = (0..5).map(|i| format!("{}.3 {}.4 -{}\n", i % 2, i / 2, 2 + i)).collect();
    let seen: String =
        (0..6).map(|i| format!("{} {} {}.5 {}\n", 2 * (i % 2), i / 2, 25 * (i / 2 % 2), i / 4 * 25)).collect();
    desk.put("ba.txt", &format!("3 5 6\n{seen}{cameras}{points}"));
    let camera = |name: &str| format!("{name} no block for camera 1 (of 3): it has no observations\n");
    let points = |name: &str| format!("{name} no blocks for points 3 and 4 (of 5): they have no observations\n");
    let said = desk.ok(&on_device("hessian ba.txt --write U=U.npz --write W=W.npz")).stderr;
    assert!(said.contains(&camera("U, W have")) && said.contains(&points("W has")), "{said}");
    let said = desk.ok(&on_device("hessian ba.txt --write V=V.npz")).stderr;
    assert!(!said.contains("no block for camera") && said.contains(&points("V has")), "{said}");
    let said = desk.ok(&on_device("schur ba.txt -o S.npz")).stderr;
    assert!(said.contains(&camera("S has")) && !said.contains("no blocks for points"), "{said}");
    assert!(said.contains("without observations: camera 1 (of 3)\n"), "{said}");
    desk.put("g.g2o", &seeing([[1.0, 1.0], [2.0, -1.0]], "VERTEX_SE2 7 0 0 0\nFIX 2 11\n"));
    let said = desk.ok(&on_device("hessian g.g2o --write H=H.npz --write V=V.npz")).stderr;
    for words in [
        "H has no block for pose 2 (of 4): the file fixes it\n",
        "H has no block for pose 7 (of 4): it has no measurements\n",
        "V, H have no block for landmark 11 (of 2): the file fixes it\n",
    ] {
        let other = words.replace("V, H", "H, V");
        assert!(said.contains(words) || said.contains(&other), "{words}{said}");
    }
}

/// A loop of three steps with the weights of TORO, whose order is I11 I12 I22 I33 I13 I23.
const TORO: &str =
    "EDGE2 0 1 1 0 2.1  44 0 44 400 0 0\nEDGE2 1 2 1 0 2.1  44 0 44 400 0 0\nEDGE2 2 0 1 0 2.1  44 0 44 400 0 0\n";

#[test]
fn the_format_of_edges_is_named_or_asked_for() {
    let desk = Desk::with([("x.graph", TORO)]);
    let (toro, said) = solved(&desk, "x.graph");
    let note = "read as a graph of TORO, because EDGE2's numbers on line 1 are singular as iSAM's\n";
    assert!(toro["format"] == "TORO" && said.contains(note), "{toro}\n{said}");
    let as_g2o = TORO.replace("EDGE2", "EDGE_SE2").replace("44 0 44 400 0 0", "44 0 0 44 0 400");
    desk.put("x.g2o", &as_g2o);
    let (g2o, said) = solved(&desk, "x.g2o");
    assert!(g2o["format"] == "g2o" && !said.contains("read as"), "{g2o}\n{said}");
    assert!((chi2(&toro) / chi2(&g2o) - 1.0).abs() < 1e-9 && chi2(&toro) > 1e-3, "{toro} {g2o}");
    // For iSAM the file has the square roots of these matrices.
    let root = TORO.replace("44 0 44 400 0 0", "6.6332495807108 0 0 6.6332495807108 0 20");
    desk.put("root.txt", &root);
    let (isam, _) = solved(&desk, "root.txt");
    assert!(isam["format"] == "iSAM" && (chi2(&isam) / chi2(&g2o) - 1.0).abs() < 1e-9, "{isam}");
    desk.put("either.graph", &TORO.replace("44 0 44 400 0 0", "4 0 4 4 0 0.1"));
    let asking = ["choose by --edges isam or --edges toro"];
    for command in ["solve", "hessian", "bench --rounds 1 --iterations"] {
        desk.fails(&on_device(&format!("{command} either.graph")), 2, &asking);
        desk.ok(&on_device(&format!("{command} either.graph --edges toro")));
    }
    assert_eq!(solved(&desk, "either.graph --edges isam").0["format"], "iSAM");
    desk.fails(&on_device("solve x.g2o --edges toro"), 2, &["the form of edges cannot be chosen"]);
    desk.put("known.g2o", &format!("{as_g2o}EDGE_SE2_PRIOR 0 1 2 3 1 0 0 1 0 1\n"));
    desk.fails(&on_device("solve known.g2o"), 2, &["known.g2o:4: \"EDGE_SE2_PRIOR\" of g2o is not supported, a prior"]);
}
