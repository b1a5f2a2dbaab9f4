//! Zeros that fill the blocks of files. Zeros of padding are left out if blocks are converted to
//! scalars.
use super::*;
use blockmul::{
    Semiring,
    io::{self, WriteOptions, dense, npz},
};

/// The files have the same graph in every format that supports blocks, and as scalars. The graph
/// has four loops, and an edge from vertex 3 to vertex 1.
const FILES: [&str; 4] = ["g.mtx", "g.npz", "g.bin", "note.mtx.gz"];

fn desk() -> Desk {
    let desk = Desk::new();
    let edges = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (0, 2, 1.0)];
    let graph = Csc::from_triplets(4, 4, edges).unwrap();
    let blocks = graph.to_blocks(BlockShape::new(2, 2).unwrap()).unwrap();
    io::write(desk.path("g.mtx"), &graph, &WriteOptions::default()).unwrap();
    FILES[1..].iter().for_each(|name| io::write(desk.path(name), &blocks, &WriteOptions::default()).unwrap());
    desk
}

/// Runs a line on the host for each file. The words FILE and OUT are replaced by the file and the
/// output. Every file must give the same result.
fn same_of_all(desk: &Desk, line: &str, out: &str) {
    let results = FILES.map(|name| {
        let ran = desk.ok(&format!("{} --device reference", line.replace("FILE", name).replace("OUT", out)));
        let padded = ran.stderr.contains(&format!("{name}: 7 zeros in its blocks"));
        assert_eq!(padded && ran.stderr.contains(" left out, as padding"), name != "g.mtx", "{line}: {}", ran.stderr);
        std::fs::read(desk.path(out)).unwrap()
    });
    assert!(results.iter().all(|result| *result == results[0]), "{line}");
}

fn vector(desk: &Desk, name: &str) -> Vec<f64> {
    dense::read(desk.path(name), &Default::default()).unwrap().matrix.as_slice().to_vec()
}

#[test]
fn padding_is_no_edge_of_a_graph() {
    let desk = desk();
    same_of_all(&desk, "components FILE -o OUT", "c.npy");
    assert_eq!(vector(&desk, "c.npy"), [1.0, 2.0, 1.0, 4.0]);
    same_of_all(&desk, "triangles FILE -o OUT", "t.npy");
    same_of_all(&desk, "paths FILE --sources 3 -o OUT", "d.npy");
    assert_eq!(vector(&desk, "d.npy"), [1.0, f64::INFINITY, 0.0, f64::INFINITY]);
    same_of_all(&desk, "paths FILE --sources 3 --levels --transpose -o OUT", "l.npy");
    same_of_all(&desk, "paths FILE --sources 1,3 --each --element u32 -o OUT", "e.npy");
}

#[test]
fn padding_is_no_entry_of_other_algebras() {
    let desk = desk();
    desk.put("x.mtx", "%%MatrixMarket matrix array real general\n4 2\n1\n2\n3\n4\n5\n6\n7\n8\n");
    for semiring in Semiring::ALL.iter().filter(|of| !matches!(of, Semiring::PlusTimes | Semiring::OrAnd)) {
        for options in ["", "--transpose", "--gram"] {
            same_of_all(&desk, &format!("apply FILE --semiring {semiring} {options} -o OUT"), "y.npy");
        }
        same_of_all(&desk, &format!("apply FILE x.mtx --semiring {semiring} -o OUT"), "y.npy");
        same_of_all(&desk, &format!("multiply FILE --block 1 --semiring {semiring} -o OUT"), "c.mtx");
        let with_dense = format!("multiply FILE x.mtx --block 1 --transpose-a --semiring {semiring} -o OUT");
        same_of_all(&desk, &with_dense, "c.npy");
    }
    let line = "multiply FILE g.mtx --block 1 --transpose-a --semiring min-plus --verify -o OUT";
    same_of_all(&desk, line, "c.mtx");
    same_of_all(&desk, "multiply g.mtx FILE --block-b 1 --transpose-b --semiring max-plus -o OUT", "c.mtx");
    same_of_all(&desk, "multiply FILE --block 1 --semiring min-plus -o OUT", "c.mtx");
    assert_eq!(desk.read::<f64>("c.mtx").values(), [2.0; 5]);
    // For blocks, an algebra in which padding counts is refused. In plus-times and or-and padding
    // changes no value.
    for (options, option) in [("", "--block"), ("--block 1 --block-b 1x2", "--block-b")] {
        let line = format!("multiply g.npz --semiring min-plus {options}");
        desk.fails(&line, 2, &[&format!("{option} 1 makes scalars of them")]);
    }
    for semiring in ["plus-times", "or-and"] {
        let ran = desk.ok(&format!("multiply g.npz --block 1 --semiring {semiring} -o c.mtx"));
        assert!(!ran.stderr.contains("padding"), "{}", ran.stderr);
        assert_eq!(desk.read::<f64>("c.mtx").nnz(), 12, "as the library has it");
    }
}

#[test]
fn padding_is_no_place_of_a_mask_of_scalars() {
    let desk = desk();
    same_of_all(&desk, "multiply g.mtx --mask FILE -o OUT", "c.mtx");
    assert_eq!(desk.read::<f64>("c.mtx").nnz(), 5);
    // A mask of blocks keeps all its blocks, also blocks of zeros.
    let ran = desk.ok("multiply g.npz --mask g.bin -o c.npz");
    assert!(!ran.stderr.contains("padding"), "{}", ran.stderr);
    assert_eq!(npz::read(desk.path("c.npz"), &Default::default()).unwrap().matrix.nnz(), 12);
}

/// An edge of length 0 is stored in a matrix of scalars, or in blocks of 1x1.
#[test]
fn zeros_of_scalars_are_entries() {
    let desk = Desk::new();
    let edge = Csc::from_triplets(2, 2, [(1, 0, 0.0)]).unwrap();
    io::write(desk.path("e.mtx"), &edge, &WriteOptions::default()).unwrap();
    io::write(desk.path("e.npz"), &edge, &WriteOptions::default()).unwrap();
    let blocks = edge.to_blocks(BlockShape::SCALAR).unwrap();
    io::write(desk.path("b.npz"), &blocks, &WriteOptions::default()).unwrap();
    for name in ["e.mtx", "e.npz", "b.npz"] {
        let ran = desk.ok(&format!("paths {name} --sources 1 -o d.npy"));
        assert!(!ran.stderr.contains("padding"), "{name}: {}", ran.stderr);
        assert_eq!(vector(&desk, "d.npy"), [0.0, 0.0], "{name}");
        desk.ok(&format!("components {name} -o c.npy"));
        assert_eq!(vector(&desk, "c.npy"), [1.0, 1.0], "{name}");
    }
}

#[test]
fn a_benchmark_of_a_graph_leaves_padding_out() {
    let desk = desk();
    for line in ["--operation components", "--operation product --semiring min-plus --block 1"] {
        let ran = desk.ok(&format!("bench g.npz {line} --rounds 1 --device {}", common::device().info().index));
        assert!(ran.stderr.contains("g.npz: 7 zeros in its blocks of 2x2 left out"), "{line}: {}", ran.stderr);
    }
}
