//! Products and their files, and generated matrices.
use super::*;

/// Checks that the file that the command writes for `line` is the reference's product of `a` and
/// `b`, with the same bits.
fn check_product<M: Matrix>(desk: &Desk, line: &str, a: &M, b: &M, scalars: impl Fn(M) -> Csc<M::Element>) {
    desk.multiply(&format!("{line} --element {} -o c.mtx", M::Element::NAME));
    let want = scalars(reference::multiply(a, b).unwrap());
    assert!(want.nnz() > 0);
    assert_eq!(desk.read::<M::Element>("c.mtx"), want, "{line} in {}", M::Element::NAME);
}

#[test]
fn generated_matrices_multiply_to_the_reference_by_every_method_in_every_type() {
    fn of_type<T: Element>(desk: &Desk, method: Method) {
        let method = format!("--method {}", method.name());
        let scalar = |m: Csc<T>| m;
        let h = desk.read::<T>("h.mtx.gz");
        check_product(desk, &format!("h.mtx.gz {method}"), &h, &h, scalar);
        let (u, p) = (desk.read::<T>("u.mtx"), desk.read::<T>("p.mtx"));
        check_product(desk, &format!("u.mtx p.mtx {method}"), &u, &p, scalar);
        let shape = |rows, cols| BlockShape::new(rows, cols).unwrap();
        let w = desk.read::<T>("w.mtx");
        let (a, b) = (w.to_blocks(shape(6, 3)).unwrap(), w.transpose().to_blocks(shape(3, 6)).unwrap());
        check_product(desk, &format!("w.mtx --block 6x3 {method}"), &a, &b, |c| c.to_scalars());
    }
    let desk = Desk::new();
    desk.ok("generate bundle-adjustment --cameras 9 --points 60 --views 3 --integer -o w.mtx");
    desk.ok("generate pose-graph --poses 30 --closures 20 --integer -o h.mtx.gz");
    desk.ok("generate uniform --rows 40 --cols 64 --per-column 3 --integer --seed 5 -o u.mtx");
    desk.ok("generate power-law --nodes 64 --edges 200 --integer --seed 6 -o p.mtx");
    for &method in Method::ALL.iter().filter(|method| !method.needs_mask()) {
        of_type::<f64>(&desk, method);
        of_type::<f32>(&desk, method);
        of_type::<f16>(&desk, method);
    }
}

#[test]
fn generated_files_are_the_same_for_a_seed() {
    let desk = Desk::new();
    for family in
        ["bundle-adjustment --points 50", "pose-graph --poses 9 --closures 4", "uniform --rows 20", "power-law"]
    {
        let text = |seed: u32| desk.ok(&format!("generate {family} --seed {seed} -o -")).stdout;
        assert!(text(1).starts_with("%%MatrixMarket matrix coordinate real general\n"), "{family}");
        assert_eq!(text(1), text(1), "{family}");
        assert_ne!(text(1), text(2), "{family}");
    }
    let said = desk.ok("generate uniform --rows 10 --cols 12 --per-column 2 --block 2x3 -o u.mtx");
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", "u.mtx: 20 x 36, 24 blocks of 2x3\n"));
    assert_eq!(desk.ok("generate uniform -q -o u.mtx").stderr, "");
    desk.fails("generate uniform", 2, &["-o"]);
    desk.fails("generate uniform --rows 3 --per-column 4 -o x.mtx", 2, &["4", "3"]);
    desk.fails("generate pose-graph --poses 3 --closures 99 -o x.mtx", 2, &["99"]);
    desk.fails("generate uniform --block 33 -o x.mtx", 2, &["33x33"]);
    assert!(!desk.path("x.mtx").exists());
}

#[test]
fn without_b_the_product_is_of_a_by_itself_or_its_transpose() {
    let desk = Desk::with([("s.mtx", SQUARE), ("w.mtx", WIDE)]);
    let (s, w) = (desk.read::<f64>("s.mtx"), desk.read::<f64>("w.mtx"));
    let (st, wt) = (s.transpose(), w.transpose());
    for (line, a, b) in [
        ("s.mtx", &s, &s),
        ("w.mtx", &w, &wt),
        ("s.mtx --transpose-a", &st, &s),
        ("s.mtx --transpose-b", &s, &st),
        ("s.mtx --transpose-a --transpose-b", &st, &st),
        ("w.mtx --transpose-a", &wt, &w),
        ("w.mtx --transpose-b", &w, &wt),
        ("w.mtx w.mtx --transpose-b", &w, &wt),
        ("s.mtx w.mtx --transpose-b --block-b 1x2", &s, &s), // refused below
    ] {
        if line.contains("block-b") {
            desk.fails(&format!("multiply {line}"), 2, &["3x3", "4x1"]);
            continue;
        }
        check_product(&desk, line, a, b, |c| c);
    }
    desk.fails("multiply w.mtx w.mtx", 2, &["A is 2x4", "B is 2x4"]);
    assert!(desk.multiply("w.mtx").stderr.contains("A is not square: multiplying A·Aᵀ"));
}

#[test]
fn integers_patterns_and_symmetric_files_are_read_as_values() {
    let desk = Desk::with([("s.mtx", SQUARE), ("p.mtx", SYMMETRIC)]);
    let out = desk.multiply("s.mtx p.mtx -o -").stdout;
    // The product is [2 0 0; 0 -1 0; 3 0 5] · [1 0 1; 0 0 1; 1 1 0].
    let want = "%%MatrixMarket matrix coordinate real general\n3 3 6\n1 1 2\n3 1 8\n3 2 5\n1 3 2\n2 3 -1\n3 3 3\n";
    assert_eq!(out, want);
}

#[test]
fn blocks_take_the_shapes_asked_for_or_say_which() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 12 --per-column 3 --integer -o u.mtx");
    for (options, a, b, c) in [
        ("--block 3", "3x3", "3x3", "3x3"),
        ("--block 2x3", "2x3", "3x2", "2x2"),
        ("--block 2x3 --block-b 3x4", "2x3", "3x4", "2x4"),
        ("--block-b 1x2", "1x1", "1x2", "1x2"),
        ("", "1x1", "1x1", "1x1"),
    ] {
        let report = desk.report(&format!("u.mtx --verify {options}"));
        let block = |name: &str| format!("{}x{}", report[name]["block"][0], report[name]["block"][1]);
        assert_eq!([block("a"), block("b"), block("c")], [a, b, c], "{options}");
        assert_eq!((&report["c"]["rows"], &report["c"]["cols"]), (&12.into(), &12.into()), "scalars");
    }
    assert!(desk.multiply("u.mtx --block 2x3").stderr.contains("blocks: A 2x3, B 3x2"));
    // Blocks of 3x5 do not divide 12 columns, so blocks of 3x3 are chosen for B.
    desk.ok("generate uniform --rows 10 --cols 12 --per-column 3 --integer -o v.mtx");
    assert!(desk.multiply("v.mtx u.mtx --block 5x3").stderr.contains("blocks: A 5x3, B 3x3"));
    desk.fails("multiply u.mtx --block 5", 2, &["12", "5"]);
    desk.fails("multiply u.mtx --block 0x3", 2, &["0x3"]);
    desk.fails("multiply u.mtx --block 2y3", 2, &["2y3"]);
    desk.fails("multiply u.mtx --block 2x3 --block-b 2x2", 2, &["blocks of 2x3", "blocks of 2x2"]);
}

#[test]
fn results_go_to_stdout_and_the_rest_to_stderr() {
    let desk = Desk::with([("s.mtx", SQUARE)]);
    let table = desk.multiply("s.mtx --method esc --verify");
    for word in ["3 x 3, 4 entries", "setup", "compression", "total", "bit for bit"] {
        assert!(table.stdout.contains(word), "{word}: {}", table.stdout);
    }
    let matrix = desk.multiply("s.mtx --method esc -o -");
    assert!(matrix.stdout.starts_with("%%MatrixMarket") && matrix.stderr.contains("setup"), "{}", matrix.stderr);
    let json = desk.multiply("s.mtx --method esc --report -");
    assert!(serde_json::from_str::<Value>(&json.stdout).is_ok() && json.stderr.contains("setup"));
    let quiet = desk.multiply("s.mtx --quiet --explain");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let quiet = desk.ok("multiply s.mtx --quiet --device auto --report -");
    assert!(serde_json::from_str::<Value>(&quiet.stdout).is_ok());
    assert_eq!(quiet.stderr, "");
    let explained = desk.multiply("s.mtx --method esc --explain");
    assert!(explained.stderr.contains("5 products") && explained.stderr.contains("4 runs"), "{}", explained.stderr);
    desk.fails("multiply s.mtx -o - --report -", 2, &["stdout"]);
    assert_eq!(desk.files(), ["s.mtx"]);
}

#[test]
fn outputs_are_compressed_by_name_and_replaced_whole() {
    let desk = Desk::with([("s.mtx", SQUARE), ("c.mtx.gz", "something else")]);
    desk.multiply("s.mtx -o c.mtx.gz --report r.json");
    assert!(std::fs::read(desk.path("c.mtx.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    let s = desk.read::<f64>("s.mtx");
    assert_eq!(desk.read::<f64>("c.mtx.gz"), reference::multiply(&s, &s).unwrap());
    assert_eq!(desk.files(), ["c.mtx.gz", "r.json", "s.mtx"]);
}

#[test]
fn values_too_large_for_the_type_are_counted() {
    let desk = Desk::with([("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e6\n2 2 1\n")]);
    let ran = desk.multiply("b.mtx --element f16");
    assert!(ran.stderr.contains("1 of 2 values of A are too large for f16"), "{}", ran.stderr);
    assert!(!desk.multiply("b.mtx").stderr.contains("too large"));
}

#[test]
fn a_symmetric_file_is_multiplied_in_full_and_says_so_once() {
    let desk = Desk::with([("p.mtx", SYMMETRIC), ("s.mtx", SQUARE)]);
    let note = "A is symmetric in its file and multiplied in full: 3 entries there, 5 here";
    for line in ["p.mtx", "p.mtx p.mtx", "p.mtx s.mtx"] {
        assert_eq!(desk.multiply(line).stderr.matches(note).count(), 1, "{line}");
    }
    assert!(desk.multiply("s.mtx p.mtx").stderr.contains("B is symmetric in its file"));
    assert!(!desk.multiply("s.mtx").stderr.contains("symmetric"));
    assert_eq!(desk.multiply("p.mtx --quiet").stderr, "");
}

#[test]
fn blocks_are_those_asked_for_else_those_of_the_files_else_what_fits() {
    let desk = Desk::with([("scalars.mtx", "%%MatrixMarket matrix coordinate real general\n12 12 1\n12 1 1\n")]);
    // All matrices have 12 x 12 elements.
    for (name, rows, cols) in
        [("6x6", 2, 2), ("6x3", 2, 4), ("2x3", 6, 4), ("3x4", 4, 3), ("1x2", 12, 6), ("2x1", 6, 12)]
    {
        let sizes = format!("--rows {rows} --cols {cols} --per-column 1 --block {name}");
        desk.ok(&format!("generate uniform {sizes} -q -o {name}.mtx"));
    }
    for (line, blocks) in [
        ("scalars.mtx", None),
        ("6x6.mtx", Some("A 6x6, B 6x6, as in the file")),
        // The blocks of Wᵀ have the transposed shape.
        ("6x3.mtx --transpose-b", Some("A 6x3, B 3x6, as in the file")),
        ("6x3.mtx --transpose-a", Some("A 3x6, B 6x3, as in the file")),
        // The file's blocks do not fit as blocks of B.
        ("6x3.mtx", Some("A 6x3, B 3x6, as in the file")),
        ("2x3.mtx 3x4.mtx", Some("A 2x3, B 3x4, as in the file")),
        ("6x6.mtx --block 2", Some("A 2x2, B 2x2")),
        ("6x6.mtx --block 1", None),
        ("6x6.mtx --block-b 6x4", Some("A 6x6, B 6x4, as in the file")),
        // B's blocks of 1x2 fit a scalar A. Other algebras multiply only scalars.
        ("1x2.mtx --block 1", Some("A 1x1, B 1x2")),
        ("1x2.mtx --block 1 --semiring min-plus", None),
        ("2x1.mtx 1x2.mtx --block 1 --semiring min-plus", None),
        ("scalars.mtx 1x2.mtx --semiring min-plus", None),
    ] {
        let said = desk.ok(&format!("multiply {line} --device reference")).stderr;
        let found = said.lines().find_map(|line| line.strip_prefix("blocks: "));
        assert_eq!(found, blocks, "{line}");
    }
}

#[test]
fn bands_have_the_columns_asked_for_and_change_no_bit() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --cols 50 --per-column 4 --block 2x3 -o w.mtx -q");
    desk.multiply("w.mtx -o c.mtx -q");
    // W·Wᵀ has 60 columns of blocks, or 120 of scalars.
    for (options, bands) in [("", 1), ("--band-columns 7", 9), ("--band-columns 60", 1), ("--block 1", 1)] {
        let report = desk.report(&format!("w.mtx --verify -o d.mtx {options}"));
        assert_eq!(report["bands"], bands, "{options}");
        assert_eq!(desk.read::<f64>("d.mtx"), desk.read("c.mtx"), "{options}");
    }
    let report = desk.report("w.mtx --block 1 --band-columns 50 --repeat 2 --drop 0");
    assert_eq!(report["bands"], 3);
    desk.fails("multiply w.mtx --band-columns 0", 2, &["--band-columns", "from 1"]);
    desk.fails("multiply w.mtx --band-columns 3 --mask c.mtx", 2, &["--band-columns", "--mask"]);
    desk.fails("multiply w.mtx --band-columns 3 --device reference", 2, &["--band-columns needs an OpenCL device"]);
    desk.put("d.mtx", "%%MatrixMarket matrix array real general\n150 1\n");
    desk.fails("multiply w.mtx d.mtx --band-columns 3", 2, &["--band-columns is for products of sparse matrices"]);
}

#[test]
fn blocks_of_c_are_aligned_in_memory_alone() {
    let desk = Desk::new();
    desk.ok("generate uniform --rows 60 --cols 50 --per-column 4 --block 2x3 -o w.mtx -q");
    // A block of C has 2x2 doubles, 32 bytes.
    let plain = desk.report("w.mtx --method esc --verify");
    for (bytes, grows) in [(16, false), (32, false), (64, true)] {
        let report = desk.report(&format!("w.mtx --method esc --verify --align {bytes}"));
        assert_eq!((&report["align"], &report["verified"]["pattern_equal"]), (&bytes.into(), &true.into()));
        let peak = |report: &Value| report["peak_device_bytes"].as_u64().unwrap();
        assert_eq!(peak(&report) > peak(&plain), grows, "{bytes}");
        let same = |field: &str| report[field] == plain[field];
        assert!(same("c") && same("flops") && same("flops_paper") && same("products"), "{report}");
    }
    assert!(plain.get("align").is_none());
    for (line, words) in [
        ("w.mtx --align 8", ["--align", "[possible values: 16, 32, 64]"]),
        ("w.mtx --align 64 -o c.mtx", ["--align 64 is for a C in device memory", "c.mtx has no padding"]),
        ("w.mtx --align 64 --block 1", ["--align 64 is for blocks", "--block cuts A"]),
        ("w.mtx --align 64 --device reference", ["--align needs an OpenCL device", ""]),
    ] {
        desk.fails(&format!("multiply {line}"), 2, &words);
    }
}
