//! `blockmul multiply` with a dense operand, and `apply` with several vectors.
use super::*;
use blockmul::io::{ReadOptions, dense};
use nalgebra::{DMatrix, dmatrix};

fn desk() -> Desk {
    let desk = Desk::with([("a.mtx", WIDE)]);
    // A dense matrix of 4 x 2, stored by columns.
    desk.put("d.mtx", "%%MatrixMarket matrix array real general\n4 2\n2\n7\n0.25\n-1\n1\n1\n1\n1\n");
    desk.put("ones.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n");
    desk
}

fn on_device(desk: &Desk, command: &str, line: &str) -> Ran {
    desk.ok(&format!("{command} --device {} {line}", common::device().info().index))
}

fn matrix(desk: &Desk, name: &str) -> DMatrix<f64> {
    dense::read(desk.path(name), &ReadOptions::default()).unwrap().matrix
}

#[test]
fn a_dense_operand_may_be_on_either_side() {
    let desk = desk();
    let want = dmatrix![3.0, -1.5; 250.0, 1000.0];
    let ran = on_device(&desk, "multiply", "a.mtx d.mtx --verify --explain -o c.npy");
    assert!(ran.stdout.ends_with("verified: equal to the reference, bit for bit\n"), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("C = A·D in f64 by "), "{}", ran.stdout);
    assert!(ran.stderr.contains("rows"), "{}", ran.stderr);
    assert_eq!(matrix(&desk, "c.npy"), want);
    on_device(&desk, "multiply", "a.mtx d.mtx --element f32 -o c.mtx");
    assert_eq!(matrix(&desk, "c.mtx"), want);
    // The product is Cᵀ = Dᵀ·Aᵀ.
    on_device(&desk, "multiply", "d.mtx a.mtx --transpose-a --transpose-b --verify -o t.npy");
    assert_eq!(matrix(&desk, "t.npy"), want.transpose());
    on_device(&desk, "multiply", "t.npy a.mtx --verify -o e.mtx --quiet");
    let a: Csc<f64> = desk.read("a.mtx");
    assert_eq!(matrix(&desk, "e.mtx"), want.transpose() * a.as_cbc().to_dense());
    on_device(&desk, "multiply", "a.mtx d.mtx --block 2 --verify --semiring or-and -o b.npy");
    assert_eq!(matrix(&desk, "b.npy"), dmatrix![1.0, 1.0; 1.0, 1.0]);
    let ran = desk.ok("multiply a.mtx d.mtx --device reference --report -");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&report["dense"]["cols"], &report["flops"], &report["sharing"]), (&2.into(), &12.into(), &Value::Null));
}

#[test]
fn an_array_on_stdin_is_dense() {
    let desk = desk();
    let piped = |line: &str, file: &str| {
        let mut command = desk.command(&format!("multiply {line} --device {} --quiet", common::device().info().index));
        command.write_stdin(std::fs::read(desk.path(file)).unwrap());
        let ran = ran(command);
        assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
        ran.stdout
    };
    let named = |line: &str| on_device(&desk, "multiply", &format!("{line} --quiet -o -")).stdout;
    let (left, right) = (named("a.mtx d.mtx"), named("d.mtx a.mtx"));
    assert!(left.starts_with("%%MatrixMarket matrix array") && right.starts_with("%%MatrixMarket matrix array"));
    assert_eq!(piped("a.mtx - -o -", "d.mtx"), left);
    assert_eq!(piped("- a.mtx -o -", "d.mtx"), right);
    assert_eq!(piped("- d.mtx -o -", "a.mtx"), left);
    piped("a.mtx - --verify -o c.npy", "d.mtx");
    assert_eq!(matrix(&desk, "c.npy"), dmatrix![3.0, -1.5; 250.0, 1000.0]);
    // If both operands are arrays of Matrix Market, they are read as sparse matrices.
    let squared = piped("- --transpose-b -o -", "d.mtx");
    assert!(squared.starts_with("%%MatrixMarket matrix coordinate"), "{squared}");
    desk.fails("multiply a.mtx - -o c.foo", 2, &["c.foo: unknown ending .foo"]);
}

#[test]
fn packed_arrays_are_read_and_written() {
    let desk = desk();
    on_device(&desk, "apply", "ones.mtx d.mtx -q -o d.npy.gz");
    assert!(std::fs::read(desk.path("d.npy.gz")).unwrap().starts_with(b"\x1f\x8b"));
    for (line, name) in [
        ("multiply a.mtx d.mtx", "c.mtx.gz"),
        ("multiply a.mtx d.mtx", "c.npy.bz2"),
        ("multiply a.mtx d.npy.gz", "e.npy.gz"),
        ("apply a.mtx d.npy.gz", "y.mtx.bz2"),
    ] {
        let (command, line) = line.split_once(' ').unwrap();
        on_device(&desk, command, &format!("{line} -q -o {name}"));
        assert_eq!(matrix(&desk, name), dmatrix![3.0, -1.5; 250.0, 1000.0], "{name}");
    }
}

#[test]
fn apply_takes_several_vectors() {
    let desk = desk();
    let ran = on_device(&desk, "apply", "a.mtx d.mtx --verify --repeat 2 --report r.json -o -");
    assert_eq!(ran.stdout, "%%MatrixMarket matrix array real general\n2 2\n3.0\n250.0\n-1.5\n1000.0\n");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
    assert_eq!((&report["verified"], report["runs_ms"].as_array().unwrap().len()), (&true.into(), 2));
    assert_eq!((&report["sharing"], &report["from_right"]), (&"rows".into(), &false.into()));
    let refused = "--block-b is for a sparse matrix, and B is dense; --block cuts A";
    desk.fails("multiply a.mtx d.mtx --block-b 2", 2, &[refused]);
    desk.fails(
        "multiply d.mtx a.mtx --block 2",
        2,
        &["--block is for a sparse matrix, and A is dense; --block-b cuts B"],
    );
    on_device(&desk, "apply", "a.mtx -o y.npy --quiet");
    desk.fails("multiply y.npy d.mtx -o c.npy", 2, &["y.npy and d.mtx are both dense: one must be sparse"]);
    desk.fails("multiply y.npy", 2, &["both dense"]);
    desk.fails("apply a.mtx d.mtx --format csr", 2, &["--format csr is for vectors, X has 2 columns"]);
    desk.fails("apply a.mtx d.mtx --transpose", 2, &["d.mtx: X is 4 x 2, 2 rows are expected"]);
}

/// The fields are those that docs/command.md lists.
#[test]
fn reports_have_the_fields_that_are_documented() {
    let desk = desk();
    let common = "command convert_ms device device_bytes element flops gflops overflowed runs_ms schema semiring total_ms \
                  transposed verified why";
    let of_dense = "bands beta c dense from_right group_ms layout peak_device_bytes sharing sparse";
    for (command, line, own) in [
        ("multiply", "a.mtx d.mtx", of_dense),
        ("multiply", "a.mtx d.mtx --memory-limit 1MiB", of_dense),
        ("apply", "a.mtx d.mtx", of_dense),
        ("apply", "a.mtx", "a beta format gram order reproducible symmetric vectors x y"),
    ] {
        let ran = on_device(&desk, command, &format!("{line} --repeat 2 --report - -q"));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let mut want: Vec<&str> = common.split_whitespace().chain(own.split_whitespace()).collect();
        want.sort_unstable();
        let mut found: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, want, "{command} {line}");
        if own == of_dense {
            let bytes = |field: &str| report[field].as_u64().unwrap();
            // A has 3 entries. D has 8 elements and C has 4.
            assert!(
                bytes("peak_device_bytes") >= bytes("device_bytes") && bytes("peak_device_bytes") > 8 * (3 + 8 + 4)
            );
        }
    }
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/command.md")).unwrap();
    for field in of_dense.split_whitespace() {
        assert!(page.contains(&format!("`{field}`")), "{field}");
    }
}

#[test]
fn entries_are_shared_out_as_asked_for() {
    let desk = desk();
    let shared = |command: &str, line: &str| {
        let ran = on_device(&desk, command, &format!("{line} --verify --explain --report - -o c.npy --overwrite"));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(matrix(&desk, "c.npy"), dmatrix![3.0, -1.5; 250.0, 1000.0], "{line}");
        (report["sharing"].as_str().unwrap().to_owned(), report["why"].as_str().unwrap().to_owned(), ran.stderr)
    };
    for (command, line) in
        [("multiply", "a.mtx d.mtx"), ("multiply", "a.mtx d.mtx --memory-limit 1MiB"), ("apply", "a.mtx d.mtx")]
    {
        let (sharing, why, said) = shared(command, &format!("{line} --sharing gcoo"));
        assert_eq!(sharing, "gcoo", "{line}");
        assert!(why.starts_with("gcoo, as asked for: groups of ") && said.contains(&why), "{why}; {said}");
        // The output always says how many times groups would use a row of D.
        for option in ["", " --sharing rows", " --sharing auto"] {
            let (sharing, why, _) = shared(command, &format!("{line}{option}"));
            assert_eq!(sharing, "rows", "{line}{option}");
            assert!(why.contains(" rows would use a row of D 1.00 times") || why.contains("pay"), "{why}");
        }
    }
    for (line, part) in [
        ("multiply a.mtx a.mtx --transpose-b --sharing gcoo", "--sharing gcoo is for products with a dense matrix"),
        ("multiply a.mtx d.mtx --device reference --sharing rows", "--sharing is for an OpenCL device"),
        ("apply a.mtx --sharing rows", "--sharing rows is for an X of several columns"),
    ] {
        desk.fails(line, 2, &[part]);
    }
}

#[test]
fn dense_matrices_are_converted_transposed_and_compared() {
    let desk = desk();
    assert_eq!(desk.ok("convert d.mtx -o d.npy").stderr, "d.npy: 4 x 2, dense\n");
    let array = desk.ok("convert d.npy -o - -q").stdout;
    let want = "%%MatrixMarket matrix array real general\n4 2\n2.0\n7.0\n0.25\n-1.0\n1.0\n1.0\n1.0\n1.0\n";
    assert_eq!(array, want);
    desk.ok("convert d.npy -o e.mtx.gz --element f16");
    desk.ok("compare d.npy e.mtx.gz");
    // Every element of a sparse matrix is written, and read back.
    desk.ok("convert a.mtx -o a.npy");
    let a: Csc<f64> = desk.read("a.mtx");
    assert_eq!(matrix(&desk, "a.npy"), a.as_cbc().to_dense());
    desk.ok("convert a.npy -o back.npz --block 2");
    desk.ok("convert a.npy -o back.mtx --drop-zeros");
    assert_eq!(desk.read::<f64>("back.mtx"), a);
    desk.ok("compare a.npy back.mtx");
    desk.ok("compare back.npz a.npy --missing-as-zero");
    desk.ok("transpose a.npy -o t.mtx");
    assert_eq!(matrix(&desk, "t.mtx"), a.as_cbc().to_dense().transpose());
    assert_eq!(desk.run("compare a.npy t.mtx -q").status, 1);
    for (line, part) in [
        ("convert d.mtx -o c.npy --drop-zeros", "--drop-zeros is for sparse matrices, and c.npy is dense"),
        ("info d.npy", "d.npy: a dense matrix; `blockmul convert` makes a sparse one"),
        ("transpose a.mtx -o c.npy", "c.npy: a .npy is dense, and this matrix is sparse"),
        ("multiply a.mtx a.mtx --transpose-b -o c.npy", "c.npy: a .npy is dense, and this matrix is sparse"),
    ] {
        desk.fails(line, 2, &[part]);
    }
}

/// The dense D takes 96 KB.
#[test]
fn a_limit_of_memory_cuts_the_dense_operand_in_bands() {
    let desk = desk();
    let values: String = (0..12_000).map(|i| format!("{}\n", i % 7)).collect();
    desk.put("wide.mtx", &format!("%%MatrixMarket matrix array real general\n4 3000\n{values}"));
    let whole = on_device(&desk, "multiply", "a.mtx wide.mtx --verify -o c.npy");
    assert!(!whole.stdout.contains("bands"), "{}", whole.stdout);
    for (line, name) in [("a.mtx wide.mtx", "b.npy"), ("wide.mtx a.mtx --transpose-a --transpose-b", "t.npy")] {
        let line = format!("{line} --memory-limit 100KiB --repeat 2 --verify --report r.json --overwrite -o {name}");
        let ran = on_device(&desk, "multiply", &line);
        assert!(ran.stdout.contains(" bands, "), "{}", ran.stdout);
        let report: Value = serde_json::from_str(&std::fs::read_to_string(desk.path("r.json")).unwrap()).unwrap();
        assert!(report["bands"].as_u64().unwrap() > 1 && report["device_bytes"].as_u64().unwrap() <= 100 << 10);
        assert_eq!(report["runs_ms"].as_array().unwrap().len(), 2);
    }
    assert_eq!(matrix(&desk, "b.npy"), matrix(&desk, "c.npy"));
    assert_eq!(matrix(&desk, "t.npy"), matrix(&desk, "c.npy").transpose());
    let device = common::device().info().index;
    let refused = desk.run(&format!("multiply a.mtx wide.mtx --device {device} --memory-limit 16KiB"));
    assert_eq!(refused.status, 4, "{}", refused.stderr);
    let why = "with one column of D and of C at a time: ";
    assert!(refused.stderr.contains(why) && refused.stderr.contains("a limit of 16384 bytes"), "{}", refused.stderr);
    // The number in the message is the smallest limit with which the product can be computed.
    let words: Vec<&str> = refused.stderr.split_whitespace().collect();
    let needed: u64 = words[words.iter().position(|word| *word == "bytes").unwrap() - 1].parse().unwrap();
    on_device(&desk, "multiply", &format!("a.mtx wide.mtx --memory-limit {needed} --verify"));
    let below = desk.run(&format!("multiply a.mtx wide.mtx --device {device} --memory-limit {}", needed - 1));
    assert_eq!(below.status, 4, "{}", below.stderr);
}

#[test]
fn what_dense_operands_do_not_take_is_refused() {
    let desk = desk();
    let (banner, entries) = WIDE.split_once('\n').unwrap();
    // blocks.mtx has the matrix of a.mtx in blocks.
    desk.put("blocks.mtx", &format!("{banner}\n%%blockmul blocks 2x2\n{entries}"));
    for (line, part) in [
        ("d.mtx a.mtx --transpose-b", "cannot multiply 4 x 2 (dense) with 4 x 2 (sparse)"),
        ("a.mtx d.mtx --transpose-a", "cannot multiply 4 x 2 (sparse) with 4 x 2 (dense)"),
        ("a.mtx d.mtx --method esc", "--method is for products of sparse matrices"),
        ("a.mtx d.mtx --drop 1", "--drop is for products of sparse matrices"),
        ("a.mtx d.mtx -o c.npz", "c.npz: dense matrices are written to .mtx (Matrix Market) and .npy (NumPy)"),
        ("a.mtx none.npy", "none.npy"),
        ("a.mtx d.mtx --block 2 --semiring min-plus", "--semiring min-plus multiplies scalars: in blocks"),
        ("d.mtx blocks.mtx --semiring plus-pair", "--semiring plus-pair multiplies scalars"),
    ] {
        desk.fails(&format!("multiply {line}"), 2, &[part]);
    }
}

/// Blocks of a file have places without an entry; blocks of a family do not.
#[test]
fn files_are_timed_in_blocks_over_sums_of_products_alone() {
    let desk = desk();
    let line = "--operation dense --columns 3 --semiring min-plus --block 2 --rounds 2 --quiet";
    let of_file = desk.bench(&format!("a.mtx {line}"));
    assert_eq!(of_file.status, 2, "{}", of_file.stderr);
    assert!(of_file.stderr.contains("--semiring min-plus multiplies scalars"), "{}", of_file.stderr);
    let of_family = desk.bench(&format!("uniform:20x3 {line}"));
    assert_eq!(of_family.status, 0, "{}", of_family.stderr);
}
