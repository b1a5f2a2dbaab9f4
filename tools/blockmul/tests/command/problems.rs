//! Tests of `generate bal` and `generate g2o`, which write whole problems.
use super::*;
use blockmul::{
    generate::problem::{Scene, Shape, Walk, bundle_adjustment, pose_graph},
    solver::problem::{bal, g2o},
};

#[test]
fn bundle_adjustments_are_the_library_s_however_packed() {
    let desk = Desk::new();
    let scene = Scene { cameras: 8, points: 50, views: 3, noise: 1.5, error: 0.2, seed: 7 };
    let want = bundle_adjustment(&scene).unwrap();
    let line = "generate bal --cameras 8 --points 50 --views 3 --noise 1.5 --error 0.2 --seed 7";
    for name in ["p.txt", "p.txt.gz", "p.txt.bz2"] {
        let said = desk.ok(&format!("{line} -o {name}"));
        let expected = format!("{name}: 8 cameras, 50 points, 150 observations\n");
        assert_eq!((said.stdout.as_str(), said.stderr), ("", expected));
        assert_eq!(bal::read(desk.path(name)).unwrap(), want, "{name}");
    }
    let printed = desk.ok(&format!("{line} -q -o -"));
    assert_eq!((printed.stdout, printed.stderr), (std::fs::read_to_string(desk.path("p.txt")).unwrap(), String::new()));
}

#[test]
fn pose_graphs_are_the_library_s() {
    let desk = Desk::new();
    let line = "generate g2o --poses 60 --closures 40 --noise 0.1 --seed 3";
    let walk = Walk { poses: 60, closures: 40, landmarks: 9, views: 3, noise: 0.1, seed: 3, ..Walk::default() };
    let said = desk.ok(&format!("{line} --landmarks 9 --views 3 -o s.g2o.gz")).stderr;
    let start = "s.g2o.gz: 60 poses in space, 99 measured from one another; 9 landmarks, ";
    assert!(said.starts_with(start) && said.lines().count() == 1, "{said}");
    assert_eq!(g2o::read(desk.path("s.g2o.gz")).unwrap(), pose_graph(&walk).unwrap());
    let said = desk.ok(&format!("{line} --plane -o p.g2o")).stderr;
    assert_eq!(said, "p.g2o: 60 poses in the plane, 99 measured from one another\n");
    let want = pose_graph(&Walk { shape: Shape::Plane, landmarks: 0, ..walk }).unwrap();
    assert_eq!(g2o::read(desk.path("p.g2o")).unwrap(), want);
    for (name, shape) in
        [("plane", Shape::Plane), ("space", Shape::Space), ("torus", Shape::Torus), ("sphere", Shape::Sphere)]
    {
        desk.ok(&format!("{line} --shape {name} --turn-noise 0.2 -q -o shape.g2o"));
        let want = pose_graph(&Walk { shape, turn_noise: Some(0.2), landmarks: 0, ..walk }).unwrap();
        assert_eq!(g2o::read(desk.path("shape.g2o")).unwrap(), want, "{name}");
    }
}

/// Other tests and reports name problems by their seeds, so the files of a seed must stay the same.
#[test]
fn a_seed_is_the_same_file_for_good_and_on_every_platform() {
    let desk = Desk::new();
    let last = |line: &str| desk.ok(&format!("generate {line} -q -o -")).stdout.lines().last().unwrap().to_owned();
    assert_eq!(last("bal --cameras 2 --points 1 --views 1"), "1.074285544772715e1");
    let plane = "EDGE_SE2_XY 2 3 0.15666060753054828 -0.4360312483143183 2500 0 2500";
    assert_eq!(last("g2o --poses 3 --closures 0 --landmarks 1 --views 1 --plane"), plane);
    let space =
        "EDGE_SE3_TRACKXYZ 1 3 0 -0.7896844459617332 -0.25703249828949964 0.019518336048590407 2500 0 0 2500 0 2500";
    assert_eq!(last("g2o --poses 3 --closures 0 --landmarks 1 --views 1"), space);
}

#[test]
fn what_cannot_be_generated_leaves_nothing() {
    let desk = Desk::new();
    for (line, status, word) in [
        ("bal --cameras 3 --views 4 -o p.txt", 2, "4 observations of each point by 3 cameras"),
        ("bal --noise=-1 -o p.txt", 2, "a finite number from 0 is wanted"),
        ("bal --error nan -o p.txt", 2, "a finite number from 0 is wanted"),
        ("bal", 2, "--output"),
        ("bal -o nowhere/p.txt", 2, "the folder nowhere of the output nowhere/p.txt does not exist"),
        ("g2o --poses 5 --closures 50 -o g.g2o", 2, "50 loop closures, "),
        ("g2o --poses 0 --closures 0 -o g.g2o", 2, "0 poses"),
        ("g2o --plane --shape torus -o g.g2o", 2, "cannot be used with"),
        ("g2o --turn-noise=-1 -o g.g2o", 2, "--turn-noise"),
        ("g2o -o .", 2, "the output . is a folder"),
    ] {
        desk.fails(&format!("generate {line}"), status, &[word]);
    }
    assert_eq!(desk.files(), [""; 0]);
}

#[test]
fn matrices_are_packed_with_bzip2_under_its_name() {
    let desk = Desk::new();
    desk.ok("generate power-law --nodes 60 --edges 300 -o p.mtx.bz2");
    assert!(std::fs::read(desk.path("p.mtx.bz2")).unwrap().starts_with(b"BZh"));
    desk.ok("convert p.mtx.bz2 -o p.mtx");
    desk.ok("compare p.mtx p.mtx.bz2");
    let whole = std::fs::read(desk.path("p.mtx.bz2")).unwrap();
    std::fs::write(desk.path("p.mtx.bz2"), &whole[..whole.len() - 1]).unwrap();
    desk.fails("convert p.mtx.bz2 -o q.mtx", 2, &["p.mtx.bz2:", "the bzip2 data is cut off here"]);
}
