//! `blockmul patches`, and `generate mesh` and `planar`.
use super::*;

fn on_device(line: &str) -> String {
    format!("{line} --device {}", common::device().info().index)
}

#[test]
fn a_mesh_becomes_a_picture_a_mesh_and_labels() {
    let desk = Desk::new();
    for (shape, said) in [("torus", "297 points"), ("sphere", "642 points"), ("terrain", "289 points")] {
        let made = desk.ok(&format!("generate mesh --shape {shape} --points 300 -o {shape}.ply.gz"));
        assert!(made.stderr.contains(said), "{shape}: {}", made.stderr);
    }
    let ran = desk.ok(&on_device("patches torus.ply.gz --count 6 --verify -o p.png --size 64"));
    assert!(ran.stdout.starts_with("6 patches of 297 vertices and 594 triangles on "), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("verified: equal to the reference, bit for bit\n"), "{}", ran.stdout);
    let bytes = |name: &str| std::fs::read(desk.path(name)).unwrap();
    assert!(bytes("p.png").starts_with(b"\x89PNG"));
    desk.ok(&on_device("patches torus.ply.gz --count 6 -o p.ply -q"));
    // Pictures contain the name of the mesh, which may be of any script.
    std::fs::copy(desk.path("p.ply"), desk.path("Łódź.ply")).unwrap();
    desk.ok(&on_device("patches Łódź.ply --count 2 -o l.png --size 32 -q"));
    // The mesh with colours has the same patches. The patches of the vertices are written as
    // labels.
    desk.ok(&on_device("patches p.ply --count 6 -o l.mtx -q"));
    let ran = desk.ok("patches torus.ply.gz --count 6 -o r.mtx -q --device reference --report -");
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(report["total_ms"].as_f64().unwrap() > 0.0, "{report}");
    assert_eq!(bytes("l.mtx"), bytes("r.mtx"));
    let text = String::from_utf8(bytes("l.mtx")).unwrap();
    assert_eq!(text.lines().count(), 299);
    assert!(text.lines().skip(2).all(|label| (1..=6).contains(&label.parse::<u32>().unwrap())));
    let ran = desk.ok(&on_device("patches terrain.ply.gz --count 5 --graph --balanced --steps 3 --report - -q"));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["vertices"], &report["centres"]), (&289.into(), &"borders".into()));
    let energies = report["energies"].as_array().unwrap();
    // There are energies of the steps without `--balanced`, of the steps with it, and of at most
    // ten moves of centres with up to three steps each.
    assert!((2..=48).contains(&energies.len()) && energies.contains(&report["energy"]), "{report}");
    assert_eq!(report["first"].as_array().unwrap().len(), 5);
    let by = |energy: &str| {
        let ran =
            desk.ok(&on_device(&format!("patches torus.ply.gz --count 6 --verify --energy {energy} --report - -q")));
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(report["energy_of"], energy);
        report["energy"].as_f64().unwrap()
    };
    assert!(by("centroid") < by("seed"), "a chord is shorter than a path");
    let ran = desk.ok(&on_device("patches torus.ply.gz --count 6 --energy centroid"));
    assert!(ran.stdout.contains("  energy by centroids "), "{}", ran.stdout);
    // Compressed files have the same labels.
    for name in ["l.mtx.gz", "l.npy.bz2"] {
        desk.ok(&on_device(&format!("patches p.ply --count 6 -o {name} -q")));
        desk.ok(&format!("compare {name} l.mtx"));
    }
    assert!(bytes("l.mtx.gz").starts_with(&[0x1f, 0x8b]) && bytes("l.npy.bz2").starts_with(b"BZh"));
    desk.put("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let said = desk.ok(&on_device("patches one.obj --count 1")).stdout;
    assert!(said.starts_with("1 patch of 3 vertices and 1 triangle on "), "{said}");
    let said = desk.ok(&on_device("patches one.obj --count 3")).stdout;
    assert!(said.contains("  1 to 1 vertex each,"), "{said}");
    // Two patches of a strip have 3 and 2 vertices, so each differs from the mean by half a vertex.
    desk.put("strip.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 0\nv 9 8 0\nf 1 2 3\nf 2 3 4\nf 3 4 5\n");
    let ran = desk.ok(&on_device("patches strip.obj --count 2"));
    assert!(ran.stdout.contains("  2 to 3 vertices each, with a standard deviation of 0.5\n"), "{}", ran.stdout);
}

#[test]
fn a_mesh_may_come_from_stdin() {
    let desk = Desk::new();
    desk.ok("generate mesh --points 300 -q -o a.ply.gz");
    desk.ok(&on_device("patches a.ply.gz --count 4 -q -o a.npy"));
    let through = |bytes: &[u8]| {
        let mut command = desk.command(&on_device("patches - --count 4 -q -o b.npy"));
        command.write_stdin(bytes);
        ran(command)
    };
    let ran = through(&std::fs::read(desk.path("a.ply.gz")).unwrap());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read(desk.path("a.npy")).unwrap(), std::fs::read(desk.path("b.npy")).unwrap());
    let ran = through(b"solid a\n");
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("stdin:1: no mesh begins with \"solid\""), "{}", ran.stderr);
}

#[test]
fn empty_patches_and_vertices_out_of_reach_are_warned_of() {
    let desk = Desk::new();
    // One mesh has four vertices at one place and one vertex beside them; another has two triangles
    // that are not connected.
    desk.put("same.obj", "v 0 0 0\nv 0 0 0\nv 0 0 0\nv 0 0 0\nv 1 0 0\nf 1 2 3\nf 2 3 4\nf 3 4 5\n");
    desk.put("apart.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 0 0\nv 9 1 0\nv 9 0 1\nf 1 2 3\nf 4 5 6\n");
    for balanced in ["", " --balanced"] {
        let ran = desk.ok(&on_device(&format!("patches same.obj --count 4 --verify --report -{balanced}")));
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&report["empty"], &report["energy"], &report["smallest"]), (&2.into(), &0.0.into(), &0.into()));
        assert!(ran.stderr.contains("patches without vertices: 2 of 4; every vertex is"), "{}", ran.stderr);
    }
    let ran = desk.ok(&on_device("patches apart.obj --count 1"));
    assert!(ran.stderr.contains("vertices out of reach: 3 of 6; a part of the mesh"), "{}", ran.stderr);
    let ran = desk.ok(&on_device("patches same.obj --count 2"));
    assert!(!ran.stderr.contains("without vertices"), "{}", ran.stderr);
}

#[test]
fn what_makes_no_patches_is_refused() {
    let desk = Desk::new();
    desk.put("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    desk.put("b.obj", "v 0 0 0\nf 1 2 3\n");
    desk.put("far.obj", "v 0 0 0\nv 1e200 0 0\nv 0 1e200 0\nf 1 2 3\n");
    desk.put("cloud.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    desk.put("void.off", "OFF\n0 0 0\n");
    desk.put("a.stl", "solid a\n");
    for (line, why) in [
        ("patches a.obj --count 4", "4 patches of the 3 vertices of a.obj"),
        ("patches a.obj --count 0", "--count"),
        ("patches a.obj --count 2 --energy border", "[possible values: seed, centroid]"),
        ("patches a.obj --count 2 --graph --energy centroid", "--energy centroid is for centres near centroids"),
        ("patches a.obj --count 2 -o a.txt", "a.txt: patches are written to .png"),
        ("patches b.obj", "b.obj:2: corner 2 is none of the 1 vertices so far"),
        ("patches a.stl", "a.stl: not the name of a mesh"),
        ("patches none.ply", "none.ply"),
        ("patches far.obj --count 1", "far.obj: the edge between vertices 1 and 2 is too long: the square"),
        ("patches cloud.obj --count 1", "cloud.obj has no triangles: patches follow their edges"),
        ("patches void.off --count 1", "void.off has no vertices"),
        ("patches a.obj --count 2 -o - --report -", "only one of -o and --report can have stdout"),
        ("generate mesh -o a.obj", "a.obj: meshes are written to .ply"),
        ("generate mesh --shape sphere --points 99999999999 -o a.ply", "a sphere of"),
    ] {
        desk.fails(line, 2, &[why]);
    }
}

#[test]
fn a_planar_graph_has_paths_by_every_schedule() {
    let desk = Desk::new();
    desk.ok("generate planar --cols 12 --rows 9 -o g.mtx -q");
    desk.ok(&on_device("paths g.mtx --sources 1,50 --schedule frontier --verify -o a.mtx -q"));
    desk.ok(&on_device("paths g.mtx --sources 1,50 -o b.mtx -q"));
    assert_eq!(std::fs::read(desk.path("a.mtx")).unwrap(), std::fs::read(desk.path("b.mtx")).unwrap());
    let ran = desk.ok(&on_device("bench --operation paths planar:9x8 --rounds 3"));
    for schedule in ["near-far", "frontier", "sweeps"] {
        assert!(ran.stdout.contains(&format!("paths {schedule}")), "{}", ran.stdout);
    }
}
