use super::{super::*, case};
use blockmul::io::dense;

/// The folder has the same matrix as `.mtx` and as `.npz`.
fn graphs() -> Option<[String; 2]> {
    Some([case("graph-in-blocks.mtx")?, case("graph-in-blocks.npz")?])
}

fn vector(desk: &Desk) -> Vec<f64> {
    dense::read(desk.path("o.npy"), &Default::default()).unwrap().matrix.as_slice().to_vec()
}

#[test]
fn padding_is_no_edge() {
    let Some(graphs) = graphs() else { return };
    let desk = Desk::new();
    for graph in graphs {
        let of = |line: &str| {
            desk.ok(&line.replace("FILE", &graph));
            vector(&desk)
        };
        assert_eq!(of("components FILE -o o.npy"), [1.0, 2.0, 1.0, 4.0], "{graph}");
        assert!(desk.ok(&format!("components {graph}")).stdout.contains("3 components"));
        assert_eq!(of("triangles FILE -o o.npy"), [0.0; 4], "{graph}");
        assert_eq!(of("paths FILE --sources 3 -o o.npy"), [1.0, f64::INFINITY, 0.0, f64::INFINITY], "{graph}");
        assert_eq!(of("apply FILE --semiring min-plus -o o.npy"), [2.0; 4], "{graph}");
        desk.ok(&format!("multiply {graph} --block 1 --semiring min-plus -o C.mtx"));
        assert_eq!(desk.read::<f64>("C.mtx").values(), [2.0; 5], "{graph}");
    }
}
