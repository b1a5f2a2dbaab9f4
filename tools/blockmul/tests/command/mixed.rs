//! Products of files whose `.bla` declares blocks of several shapes.
use super::*;
use blockmul::io::{BlockLayout, bla, write};

/// Ends of the rows and of the columns of A's blocks. The blocks have heights of 3, 2 and 1, and
/// widths of 2, 1 and 4. Equal heights are not all neighbours.
const ROWS: [u64; 6] = [3, 5, 6, 8, 11, 12];
const COLS: [u64; 4] = [2, 4, 5, 9];

impl Desk {
    /// Writes a matrix of small integers, 12x9, and the layout of its blocks.
    fn put_mixed(&self, name: &str) -> Csc<f64> {
        let places = (0..9).flat_map(|col| (0..12).map(move |row| (row, col)));
        let kept = places.filter(|&(row, col)| (row * 5 + col * 7) % 11 < 2 && (row, col) != (11, 8));
        let entries = kept.map(|(row, col)| (row, col, ((row * 3 + col) % 7) as f64 - 3.0));
        let a = Csc::from_triplets(12, 9, entries).unwrap();
        write(self.path(&format!("{name}.mtx")), &a, &Default::default()).unwrap();
        self.put_layout(name, &ROWS, &COLS);
        a
    }

    fn put_layout(&self, name: &str, rows: &[u64], cols: &[u64]) {
        let (nrows, ncols) = (rows.last().unwrap(), cols.last().unwrap());
        let line = |ends: &[u64]| ends.iter().fold("0".to_owned(), |line, end| format!("{line} {end}"));
        let sizes = format!("{nrows} x {ncols} (0)\n{} x {} (0)\n", rows.len(), cols.len());
        self.put(&format!("{name}.bla"), &format!("{sizes}{}\n{}\n", line(rows), line(cols)));
    }
}

/// The entries that are not zero, with their places.
fn values(matrix: &Csc<f64>) -> Vec<(usize, usize, f64)> {
    matrix.entries().filter(|&(.., value)| value != 0.0).collect()
}

/// Sums of small integers are exact, so that groups and scalars have the same values.
#[test]
fn blocks_of_several_shapes_are_multiplied_in_groups_and_written_with_their_layout() {
    let desk = Desk::new();
    let a = desk.put_mixed("a");
    let at = a.transpose();
    for (line, said, [x, y], ends) in [
        // The sides of A are 3, 2, 1 and 2, 1, 4 in the order of their first blocks.
        ("a.mtx", "A 3|2|1 x 2|1|4, B 2|1|4 x 3|2|1", [&a, &at], [&ROWS[..], &ROWS]),
        ("a.mtx --transpose-a", "A 2|1|4 x 3|2|1, B 3|2|1 x 2|1|4", [&at, &a], [&COLS, &COLS]),
        ("a.mtx --method esc --repeat 2", "A 3|2|1 x 2|1|4, B 2|1|4 x 3|2|1", [&a, &at], [&ROWS, &ROWS]),
    ] {
        let ran = desk.multiply(&format!("{line} -o c.mtx --verify --report r.json"));
        assert!(ran.stderr.contains(&format!("blocks: {said}, as in the file")), "{line}: {}", ran.stderr);
        assert!(ran.stdout.contains("blocks of several shapes") && ran.stdout.contains("verified"), "{}", ran.stdout);
        assert_eq!(values(&desk.read("c.mtx")), values(&reference::multiply(x, y).unwrap()), "{line}");
        let [rows, cols] = ends.map(<[u64]>::to_vec);
        let layout = bla::read(desk.path("c.bla"), *rows.last().unwrap(), *cols.last().unwrap()).unwrap();
        assert_eq!(layout, BlockLayout::Mixed { row_ends: rows, col_ends: cols }, "{line}");
        let report: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
        assert!(["a", "b", "c"].iter().all(|name| report[name]["block"].is_null()), "{report}");
        // The first line counts the entries of C, the second its blocks.
        let stored = std::fs::read_to_string(desk.path("c.bla")).unwrap();
        let in_brackets = |line: usize| stored.lines().nth(line).unwrap().split(['(', ')']).nth(1).unwrap().to_owned();
        assert_eq!(in_brackets(0), desk.read::<f64>("c.mtx").nnz().to_string(), "{line}");
        assert_eq!(in_brackets(1), report["c"]["nnz"].to_string(), "{line}");
    }
}

/// The product of two shapes is rounded before it is added: 2049 is no f16, so that (2048 + 1) + 1
/// is 2048 in groups and 2050 in scalars.
#[test]
fn groups_are_verified_by_the_order_of_their_sums() {
    let desk = Desk::new();
    desk.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 4 3\n1 1 64\n1 2 1\n1 3 1\n");
    desk.put("b.mtx", "%%MatrixMarket matrix coordinate real general\n4 1 3\n1 1 32\n2 1 1\n3 1 1\n");
    desk.put_layout("a", &[1], &[1, 2, 4]);
    desk.put_layout("b", &[1, 2, 4], &[1]);
    for (element, sum) in [("f16", 2048.0), ("f32", 2050.0), ("u32", 2050.0)] {
        let ran = desk.multiply(&format!("a.mtx b.mtx --element {element} --verify -o c.mtx"));
        assert!(ran.stdout.contains("bit for bit"), "{element}: {}", ran.stdout);
        assert_eq!(desk.read::<f64>("c.mtx").values(), [sum], "{element}");
    }
}

#[test]
fn the_report_counts_blocks_and_the_operations_of_their_shapes() {
    let desk = Desk::new();
    // A is [2x1 | 2x2] over [1x1 | 1x2] with an entry in each, so that A·Aᵀ has four products of
    // every pair of shapes: 2x1·1x2, 2x1·1x1, 2x2·2x2, 2x2·2x1 and so on.
    desk.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 3 2\n3 1 3\n3 2 4\n");
    desk.put_layout("a", &[2, 3], &[1, 3]);
    let report = desk.report("a.mtx --transpose-b --element f32 --verify --explain");
    let blocks = serde_json::json!({"rows": 3, "cols": 3, "nnz": 4, "block": null});
    assert_eq!([&report["a"], &report["b"], &report["c"]], [&blocks; 3]);
    // C has 9 elements; each is the sum of 3 products.
    assert_eq!((&report["products"], &report["flops"], &report["flops_paper"]), (&8.into(), &54.into(), &45.into()));
    let aligned = desk.report("a.mtx --transpose-b --align 64 --verify");
    assert_eq!((&aligned["c"], &aligned["verified"]["pattern_equal"]), (&report["c"], &true.into()));
    assert_eq!((&report["verified"]["pattern_equal"], &report["element"]), (&true.into(), &"f32".into()));
    // The table has a row for each method, with its time. For blocks no time is predicted.
    assert_eq!(report["method"], desk.report("a.mtx --block 1 --transpose-b")["method"]);
    let (ran, bins) = (&report["bins"][0], report["bins"].as_array().unwrap());
    assert_eq!((bins.len(), &ran["products"], &ran["predicted_ms"]), (1, &8.into(), &Value::Null), "{report}");
    assert!(ran["measured_ms"].as_f64() > Some(0.0), "{report}");
    assert_eq!(aligned["bins"][0]["measured_ms"], Value::Null);
    let ran = desk.multiply("a.mtx --transpose-b --explain");
    assert!(ran.stdout.contains("predicted ms  measured ms"), "{}", ran.stdout);
    let explained = ran.stderr;
    for line in ["2x1 by 1x2: 1 product", "2x2 by 2x1: 1 product", "1x2 by 2x1: 1 product"] {
        assert!(explained.contains(line), "{line}: {explained}");
    }
}

/// There are no bounds of products in groups. With options by which `multiply` takes scalars, the
/// bounds hold.
#[test]
fn info_says_that_its_bounds_are_of_scalars() {
    let desk = Desk::new();
    desk.put_mixed("a");
    let said = "of scalars; `multiply` takes blocks in groups: A 3|2|1 x 2|1|4, B 2|1|4 x 3|2|1";
    let shown = desk.ok("info a.mtx").stdout;
    assert!(shown.contains(said) && shown.contains("A·Aᵀ of scalars on the devices here:"), "{shown}");
    let json: Value = serde_json::from_str(&desk.ok("info a.mtx --json").stdout).unwrap();
    assert_eq!(json["product"]["in_groups"], "A 3|2|1 x 2|1|4, B 2|1|4 x 3|2|1");
    for options in ["--block 3", "--block 1", "--memory-limit 1GiB", "--band-columns 5"] {
        let shown = desk.ok(&format!("info a.mtx {options}")).stdout;
        assert!(!shown.contains("of scalars"), "{options}: {shown}");
    }
    // Blocks of 33 rows are not multiplied in groups.
    write(desk.path("wide.mtx"), &Csc::from_triplets(33, 33, [(0, 0, 1.0)]).unwrap(), &Default::default()).unwrap();
    desk.put_layout("wide", &[33], &[33]);
    assert!(!desk.ok("info wide.mtx").stdout.contains("of scalars"));
}

/// Only the inner sides of the blocks of A and B differ, so that the blocks of C have one shape. C
/// needs no layout file.
#[test]
fn a_product_in_blocks_of_one_shape_is_written_as_such() {
    let desk = Desk::new();
    let a = desk.put_mixed("a");
    desk.put_layout("a", &[4, 8, 12], &COLS);
    let ran = desk.multiply("a.mtx -o c.npz --verify");
    assert!(ran.stderr.contains("A 4 x 2|1|4, B 2|1|4 x 4") && !ran.stderr.contains("warning"), "{}", ran.stderr);
    assert!(desk.ok("convert c.npz -o c.mtx").stderr.contains("blocks of 4x4"));
    assert_eq!(values(&desk.read("c.mtx")), values(&reference::multiply(&a, &a.transpose()).unwrap()));
    desk.multiply("a.mtx -o c.mtx");
    assert!(!desk.path("c.bla").exists());
}

#[test]
fn layouts_that_groups_cannot_have_are_read_as_scalars_with_a_warning() {
    let desk = Desk::new();
    let a = desk.put_mixed("a");
    let nine = Csc::from_triplets(9, 9, (0..9).map(|at| (at, at, 1.0))).unwrap();
    write(desk.path("nine.mtx"), &nine, &Default::default()).unwrap();
    let all = Csc::from_triplets(12, 12, (0..144).map(|at| (at / 12, at % 12, 1.0))).unwrap();
    write(desk.path("all.mtx"), &all, &Default::default()).unwrap();
    write(desk.path("wide.mtx"), &Csc::from_triplets(33, 33, [(0, 0, 1.0)]).unwrap(), &Default::default()).unwrap();
    desk.put_layout("wide", &[33], &[33]);
    desk.put_mixed("sides");
    desk.put_layout("sides", &[1, 3, 6, 10, 12], &[1, 3, 6, 9]);
    desk.put("empty.mtx", "%%MatrixMarket matrix coordinate real general\n9 0 0\n");
    desk.put("empty.bla", "9 x 0 (0)\n3 x 0 (0)\n0 2 3 9\n0\n");
    let device = common::device().info().index.to_string();
    for (line, device, why) in [
        ("a.mtx", "reference", "the reference of the command has blocks of one shape"),
        ("a.mtx --mask all.mtx", &*device, "--mask is for blocks of one shape"),
        ("a.mtx --drop 1e-9", &device, "--drop is for blocks of one shape"),
        ("a.mtx --memory-limit 1GiB", &device, "--memory-limit is for blocks of one shape"),
        ("a.mtx empty.mtx", &device, "a factor has no rows or no columns"),
        ("a.mtx --band-columns 5", &device, "--band-columns is for blocks of one shape"),
        ("a.mtx --semiring min-plus", &device, "--semiring min-plus multiplies scalars"),
        ("a.mtx nine.mtx", &device, "B has no blocks"),
        ("a.mtx sides.mtx --transpose-b", &device, "the columns of A are cut into other blocks than the rows of B"),
        ("wide.mtx", &device, "a block of A has 33 lines, more than 32"),
    ] {
        let ran = desk.ok(&format!("multiply --device {device} {line} --verify --report r.json -q"));
        assert_eq!(ran.stderr, "", "{line}: quiet");
        let ran = desk.ok(&format!("multiply --device {device} {line} --verify --report r.json"));
        let warning = format!("warning: blocks of several shapes are read as scalars: {why}");
        assert_eq!(ran.stderr.matches(&warning).count(), 1, "{line}: {}", ran.stderr);
        let report: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
        assert_eq!(report["c"]["block"], serde_json::json!([1, 1]), "{line}");
    }
    // Blocks that an option gives need no warning.
    let ran = desk.multiply("a.mtx --block 3 -o c.mtx");
    assert!(ran.stderr.contains("blocks: A 3x3, B 3x3") && !ran.stderr.contains("warning"), "{}", ran.stderr);
    assert_eq!(values(&desk.read("c.mtx")), values(&reference::multiply(&a, &a.transpose()).unwrap()));
}

#[test]
fn layouts_are_written_where_they_are_read_and_never_onto_an_input() {
    let desk = Desk::new();
    desk.put_mixed("a");
    let ran = desk.multiply("a.mtx -o c.npz");
    assert!(ran.stderr.contains("warning: c.npz does not keep blocks of several shapes"), "{}", ran.stderr);
    assert!(desk.multiply("a.mtx -o -").stderr.contains("warning: - does not keep"));
    assert_eq!(desk.files(), ["a.bla", "a.mtx", "c.npz"]);
    let layout = std::fs::read_to_string(desk.path("a.bla")).unwrap();
    let device = common::device().info().index;
    desk.fails(&format!("multiply --device {device} a.mtx -o a.mtx.gz"), 2, &["the output a.bla is an input"]);
    assert_eq!(std::fs::read_to_string(desk.path("a.bla")).unwrap(), layout);
    assert_eq!(desk.files(), ["a.bla", "a.mtx", "c.npz"]);
    // A layout that was not written with C is named, and none is lost.
    assert!(desk.multiply("a.mtx -o c.mtx").stderr.contains("blocks of C: c.bla"));
    let stale = "warning: c.bla is of another matrix, but will be read as the blocks of c.mtx: remove it";
    assert!(desk.multiply("a.mtx --block 1 -o c.mtx").stderr.contains(stale));
    assert!(desk.ok("convert a.mtx --block 1 -o c.mtx").stderr.contains(stale));
    std::fs::remove_file(desk.path("c.mtx")).unwrap();
    let line = format!("multiply --device {device} a.mtx -o c.mtx");
    desk.fails(&line, 2, &["c.bla exists, but c.mtx does not: --overwrite replaces it"]);
    assert!(!desk.path("c.mtx").exists());
    desk.ok(&format!("{line} --overwrite"));
    assert!(desk.path("c.mtx").exists());
    desk.put("a.bla", "12 x 9 (0)\n2 x 1 (0)\n0 3 11\n0 9\n");
    desk.fails("multiply a.mtx", 2, &["a.bla:3: the block rows end at 11, not at 12"]);
}
