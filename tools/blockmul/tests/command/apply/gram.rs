//! `blockmul apply --gram`: Jᵀ·(W·(J·x)), compared with a product whose matrix is formed.
use super::*;

/// Makes a 12 x 6 matrix of small integers as a.mtx, vectors as x.mtx (6 numbers) and t.mtx (12),
/// and weights of the rows: as vectors w.mtx and w.npy, and as a diagonal matrix W.mtx.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 12 --cols 6 --per-column 5 --integer -q -o a.mtx");
    let vector = |n: usize, number: fn(usize) -> i64| {
        let numbers: String = (0..n).map(|i| format!("{}\n", number(i))).collect();
        format!("%%MatrixMarket matrix array real general\n{n} 1\n{numbers}")
    };
    desk.put("x.mtx", &vector(6, |i| i as i64 - 2));
    desk.put("t.mtx", &vector(12, |i| 3 - i as i64));
    desk.put("w.mtx", &vector(12, |i| i as i64 % 5 + 1));
    desk.put("six.mtx", &vector(6, |i| i as i64 + 1));
    desk.put("three.mtx", &vector(3, |i| i as i64 + 1));
    desk.put("W.mtx", &diagonal(12, |i| i as i64 % 5 + 1));
    desk.ok("convert w.mtx -q -o w.npy");
    desk
}

fn diagonal(n: usize, number: impl Fn(usize) -> i64) -> String {
    let entries: String = (1..=n).map(|i| format!("{i} {i} {}\n", number(i - 1))).collect();
    format!("%%MatrixMarket matrix coordinate integer general\n{n} {n} {n}\n{entries}")
}

/// Computes H·x for H = op(A)ᵀ·W·op(A), which is formed by two products. If there is no W, H =
/// op(A)ᵀ·op(A).
fn formed(desk: &Desk, transposed: bool, w: Option<&str>, x: &str) -> Vec<f64> {
    let (first, last) = if transposed { ("--transpose-b", "") } else { ("", "--transpose-a") };
    match w {
        Some(w) => desk.ok(&format!("multiply {w} a.mtx {first} -q -o wa.mtx --overwrite")),
        None => desk.ok("transpose a.mtx -q -o wa.mtx --overwrite"),
    };
    match (w, transposed) {
        (Some(_), _) => desk.ok(&format!("multiply a.mtx wa.mtx {last} -q -o h.mtx --overwrite")),
        (None, true) => desk.ok("multiply a.mtx wa.mtx -q -o h.mtx --overwrite"),
        (None, false) => desk.ok("multiply wa.mtx a.mtx -q -o h.mtx --overwrite"),
    };
    desk.ok(&format!("apply h.mtx {x} -q -o want.mtx --overwrite"));
    dense(desk, "want.mtx")
}

#[test]
fn the_product_is_that_with_the_formed_matrix_in_every_format() {
    let desk = desk();
    let cases = [("x.mtx", false), ("t.mtx", true)];
    let wants = cases.map(|(x, transposed)| formed(&desk, transposed, None, x));
    for format in [Format::Auto].iter().chain(Format::ALL).chain(Format::COMPARED) {
        let how = if format.reproducible() { ", bit for bit" } else { " within rounding" };
        for ((x, transposed), want) in cases.iter().zip(&wants) {
            let turned = if *transposed { "--transpose" } else { "" };
            for more in ["", "--repeat 2 --element f32 --any-order"] {
                let ran =
                    apply(&desk, &format!("a.mtx {x} --gram {turned} --format {format} {more} --verify -o y.mtx"));
                assert!(ran.stdout.ends_with(&format!("verified: equal to the reference{how}\n")), "{}", ran.stdout);
                assert_eq!(&dense(&desk, "y.mtx"), want, "{turned} {format} {more}");
            }
        }
    }
    for ((x, transposed), want) in cases.iter().zip(&wants) {
        let turned = if *transposed { "--transpose" } else { "" };
        desk.ok(&format!("apply a.mtx {x} --gram {turned} --device reference --verify -o y.mtx"));
        assert_eq!(&dense(&desk, "y.mtx"), want, "{turned}");
        for (block, element) in [("3x2", "f64"), ("2x3", "f16"), ("1x6", "i32"), ("6x1", "f32")] {
            let block = if *transposed { block.split('x').rev().collect::<Vec<_>>().join("x") } else { block.into() };
            let line = format!("a.mtx {x} --gram {turned} --block {block} --element {element} --verify -o y.mtx");
            assert!(apply(&desk, &line).stdout.contains("bit for bit"));
            assert_eq!(&dense(&desk, "y.mtx"), want, "{line}");
        }
    }
}

/// The weights are numbers for each row, numbers for each row of blocks, or blocks. Each kind is
/// compared with the matrix W.
#[test]
fn weights_are_a_vector_or_blocks_on_a_diagonal() {
    let desk = desk();
    desk.put("rows3.mtx", &diagonal(12, |i| i as i64 / 4 + 1));
    desk.put("six3.mtx", &diagonal(6, |i| i as i64 + 1));
    let entries = "1 1 2\n1 2 -1\n2 1 3\n4 3 5\n6 6 4\n9 10 7\n11 12 1\n12 12 -2\n";
    desk.put("blocks.mtx", &format!("%%MatrixMarket matrix coordinate integer general\n12 12 8\n{entries}"));
    for (weights, w, transposed, more, kind) in [
        ("w.mtx", "W.mtx", false, "", "rows"),
        ("w.npy", "W.mtx", false, "--block 3x2 --format sliced-ell", "rows"),
        ("W.mtx", "W.mtx", false, "--element f32 --repeat 3", "blocks"),
        ("W.mtx", "W.mtx", false, "--format hyb-atomic", "blocks"),
        ("three.mtx", "rows3.mtx", false, "--block 4x3", "block-rows"),
        ("blocks.mtx", "blocks.mtx", false, "--block 2x3", "blocks"),
        ("blocks.mtx", "blocks.mtx", false, "--block 2x3 --element i32 --repeat 2", "blocks"),
        ("six.mtx", "six3.mtx", true, "", "rows"),
        ("six.mtx", "six3.mtx", true, "--block 1x4 --device reference", "rows"),
        ("six3.mtx", "six3.mtx", true, "--block 3x4", "blocks"),
    ] {
        let (x, turned) = if transposed { ("t.mtx", "--transpose") } else { ("x.mtx", "") };
        let want = formed(&desk, transposed, Some(w), x);
        assert_ne!(want, formed(&desk, transposed, None, x));
        let line = format!("a.mtx {x} --gram {turned} --weights {weights} {more} --verify -o y.mtx --report r.json");
        let device = common::device().info().index;
        let on = if more.contains("reference") { String::new() } else { format!("--device {device}") };
        let ran = desk.ok(&format!("apply {line} {on}"));
        let op = if transposed { "A·(W·(Aᵀ·x))" } else { "Aᵀ·(W·(A·x))" };
        assert!(ran.stdout.starts_with(&format!("y = {op} in ")) && ran.stdout.contains("verified"), "{}", ran.stdout);
        assert_eq!(dense(&desk, "y.mtx"), want, "{line}");
        let report: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
        assert_eq!(report["gram"]["weights"], kind, "{line}");
    }
}

#[test]
fn a_triangle_and_other_algebras_have_a_gram_matrix() {
    let desk = Desk::new();
    desk.put(
        "lower.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 3\n2 2 5\n3 2 7\n3 3 1\n",
    );
    // The product of [2 3 0; 3 5 7; 0 7 1] with ones is (5, 15, 8). The result is the product of
    // the same matrix with (5, 15, 8).
    for line in ["--symmetric", "", "--symmetric --repeat 2 --format csr-vector"] {
        apply(&desk, &format!("lower.mtx --gram {line} --verify -o y.mtx"));
        assert_eq!(dense(&desk, "y.mtx"), [55.0, 146.0, 113.0], "{line}");
    }
    // The graph has edges of length 2 from vertex 1 to 2, and 3 from 1 to 3. The product over
    // min-plus is the length of the shortest way there and back.
    desk.put("g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 2\n3 1 3\n");
    desk.put("d.mtx", "%%MatrixMarket matrix array real general\n3 1\n0\n1\n9\n");
    for element in ["f64", "u32"] {
        let line = format!("g.mtx d.mtx --gram --semiring min-plus --element {element} --verify -o y.npy");
        assert!(apply(&desk, &line).stdout.starts_with("y = Aᵀ·(A·x) over min-plus in "));
        let line =
            format!("apply g.mtx d.mtx --gram --semiring min-plus --element {element} --device reference -o r.npy");
        desk.ok(&line);
        assert_eq!(std::fs::read(desk.path("y.npy")).unwrap(), std::fs::read(desk.path("r.npy")).unwrap());
    }
}

#[test]
fn both_formats_are_reported_and_explained() {
    let desk = desk();
    let ran = apply(&desk, "a.mtx --gram --format csr-vector --repeat 3 --verify --explain --report -");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    for product in [&report, &report["gram"]] {
        assert_eq!((&product["format"], &product["order"]), (&"csr-vector".into(), &"lanes".into()));
        assert_eq!(product["why"], "csr-vector, as asked for");
    }
    assert!(report["gram"]["weights"].is_null() && report["reproducible"] == true && report["verified"] == true);
    assert_eq!((&report["x"]["rows"], &report["y"]["rows"]), (&6.into(), &6.into()));
    assert_eq!((&report["flops"], report["runs_ms"].as_array().unwrap().len()), (&(4 * 30).into(), 3));
    let said = "J·x: csr-vector, as asked for\nthe product with Jᵀ: csr-vector, as asked for\n";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = apply(&desk, "a.mtx --gram --transpose --format coo-atomic --report -");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["reproducible"], &report["y"]["rows"]), (&false.into(), &12.into()));
    let report: Value = serde_json::from_str(&apply(&desk, "a.mtx --report -").stdout).unwrap();
    assert!(report["gram"].is_null() && report["format"].is_string(), "{report}");
}

#[test]
fn what_a_gram_matrix_does_not_take_is_refused() {
    let desk = desk();
    desk.ok("generate uniform --rows 6 --cols 2 --per-column 6 -q -o X.mtx");
    for (line, words) in [
        ("a.mtx --weights w.mtx", "--gram"),
        ("a.mtx X.mtx --gram", "--gram multiplies with one vector, X has 2 columns"),
        ("a.mtx t.mtx --gram", "t.mtx: X is 12 x 1, 6 rows are expected"),
        (
            "a.mtx --gram --element f32 --vectors f64",
            "--vectors f64 of --element f32 is for an X of one column, without",
        ),
        ("a.mtx --gram --weights w.mtx --semiring min-plus", "--weights belong to plus-times, not to min-plus"),
        ("a.mtx --gram --weights x.mtx", "x.mtx: W is 6 x 1, for 12 rows of J it is 12 x 1 or 12 x 12 and diagonal"),
        (
            "a.mtx --gram --transpose --block 3x2 --weights w.mtx",
            "w.mtx: W is 12 x 1, for 6 rows of J it is 6 x 1, 2 x 1 or 6 x 6 with blocks of 3x3 on its diagonal",
        ),
        ("W.mtx --gram --weights a.mtx", "a.mtx: W is 12 x 6, for 12 rows of J"),
        ("a.mtx --gram --weights none.mtx", "none.mtx"),
        ("a.mtx --gram --sharing rows", "--sharing rows is for an X of several columns"),
        ("a.mtx --gram --symmetric", "A is 12 x 6, a symmetric matrix is square"),
        ("a.mtx --gram --format csr --device reference", "--format csr needs an OpenCL device"),
        ("a.mtx --gram --weights w.mtx -o w.mtx", "--overwrite"),
    ] {
        desk.fails(&format!("apply {line}"), 2, &[words]);
    }
    let entry = "%%MatrixMarket matrix coordinate real general\n12 12 2\n1 1 1\n5 4 2\n";
    desk.put("off.mtx", entry);
    for (block, place) in [("1", "its diagonal; --block cuts J"), ("4x3", "the blocks of 4x4 on its diagonal")] {
        let why = format!("W has an entry at row 5, column 4, outside {place}");
        desk.fails(&format!("apply a.mtx --gram --weights off.mtx --block {block}"), 2, &[&why]);
    }
    desk.put("half.mtx", &entry.replace("5 4 2", "5 5 2.5"));
    let why = "half.mtx: W has 2.5 at row 5, column 5, which is not of type i32";
    desk.fails("apply a.mtx --gram --weights half.mtx --element i32", 2, &[why]);
}
