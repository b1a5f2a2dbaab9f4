//! Inputs as users have them: byte order marks, zip archives, repeated entries, large empty
//! matrices; and outputs with the ending of another format.
use super::*;
use std::io::Write;

const MARK: &str = "\u{feff}";
const GRAPH: &str = "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1.5 0 0\nEDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\n";
const BUNDLE: &str = "1 1 0\n0 0 0  0 0 0  50 0 0\n 1 0 -2\n";

fn zip(desk: &Desk, name: &str, files: &[(&str, &str)]) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(desk.path(name)).unwrap());
    for (name, text) in files {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

#[test]
fn byte_order_marks_are_skipped_and_utf_16_is_named() {
    let desk = Desk::new();
    for (name, text) in [("a.mtx", SQUARE), ("a.el", "0 1\n1 2\n"), ("a.foo", SQUARE)] {
        desk.put(name, text);
        let plain = desk.ok(&format!("info {name} --json")).stdout;
        desk.put(name, &format!("{MARK}{text}"));
        assert_eq!(desk.ok(&format!("info {name} --json")).stdout, plain, "{name}");
    }
    for text in [GRAPH, BUNDLE] {
        desk.put("p.txt", &format!("{MARK}{text}"));
        desk.ok("hessian p.txt");
    }
    desk.put("a.mtx", &format!("{MARK}{SQUARE}1 1 1\n"));
    desk.fails("info a.mtx", 2, &["a.mtx:7: more entries than the 4 of line 2"]);
    for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        for (text, line) in [(SQUARE, "info a.mtx"), (GRAPH, "solve a.mtx"), ("0 1\n", "info a.mtx")] {
            let wide: Vec<u8> = format!("{MARK}{text}").encode_utf16().flat_map(to_bytes).collect();
            std::fs::write(desk.path("a.mtx"), wide).unwrap();
            desk.fails(line, 2, &["a.mtx:1: the text is UTF-16, and UTF-8 is read: `iconv -f UTF-16 -t UTF-8`"]);
        }
    }
}

#[test]
fn the_matrix_of_a_zip_archive_is_read() {
    let desk = Desk::with([("a.mtx", SQUARE)]);
    let want = desk.read::<f64>("a.mtx");
    for (name, files) in [
        ("d.zip", &[("m.mtx", SQUARE), ("readme.html", "<p>")][..]),
        ("d", &[("x/m.mtx", SQUARE)]),
        ("d.mtx", &[("m.mtx", SQUARE), ("notes.txt", "see m.mtx")]),
        ("d.txt", &[("m.txt", SQUARE)]),
    ] {
        zip(&desk, name, files);
        desk.ok(&format!("convert {name} -o c.mtx --overwrite"));
        assert_eq!(desk.read::<f64>("c.mtx"), want, "{name}");
        desk.ok(&format!("multiply {name} -q"));
    }
    for (file, text) in [("g.g2o", GRAPH), ("b.txt", BUNDLE)] {
        zip(&desk, "p.zip", &[(file, text), ("README.md", "")]);
        desk.ok("hessian p.zip");
    }
    zip(&desk, "two.zip", &[("a.mtx", SQUARE), ("b.mtx", SQUARE)]);
    desk.fails("info two.zip", 2, &["two.zip: the archive: ", "unpack it first: it has \"a.mtx\", \"b.mtx\""]);
    zip(&desk, "none.zip", &[("a.html", "")]);
    desk.fails("info none.zip", 2, &["unpack it first: it has \"a.html\""]);
    zip(&desk, "wrong.zip", &[("a.mtx", &SQUARE.replace("3 3 5", "3 3 x"))]);
    desk.fails("info wrong.zip", 2, &["wrong.zip/a.mtx:6: value: \"x\" is not an integer"]);
    // The list of files is at the end of an archive, so it is not known when a stream is read.
    let mut command = desk.command("info -");
    command.write_stdin(std::fs::read(desk.path("two.zip")).unwrap());
    let said = ran(command);
    assert!(said.status == 2 && said.stderr.contains("this is a zip archive: unpack it first"), "{}", said.stderr);
}

/// The files have two entries at the same place.
fn repeating(desk: &Desk) -> [&'static str; 4] {
    desk.put("d.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n");
    desk.put("d.el", "0 0 1\n0 0 2\n");
    let mut bytes = b"BCSR0001".to_vec();
    bytes.extend([2i64, 2, 2].iter().flat_map(|size| size.to_le_bytes()));
    bytes.extend([0i32, 2, 0, 2, 2, 0, 0].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend([1f64, 2.0].iter().flat_map(|number| number.to_le_bytes()));
    std::fs::write(desk.path("d.bin"), bytes).unwrap();
    let mut zip = zip::ZipWriter::new(std::fs::File::create(desk.path("d.npz")).unwrap());
    let numbers = |numbers: &[i32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let arrays = [
        ("format", "|S3", "()", b"csr".to_vec()),
        ("shape", "<i4", "(2,)", numbers(&[2, 2])),
        ("indptr", "<i4", "(3,)", numbers(&[0, 2, 2])),
        ("indices", "<i4", "(2,)", numbers(&[0, 0])),
        ("data", "<i4", "(2,)", numbers(&[1, 2])),
    ];
    for (name, kind, shape, bytes) in arrays {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}\n");
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(&[header.as_bytes(), &bytes].concat()).unwrap();
    }
    zip.finish().unwrap();
    ["d.mtx", "d.el", "d.bin", "d.npz"]
}

#[test]
fn messages_name_the_option_that_helps() {
    let desk = Desk::new();
    for name in repeating(&desk) {
        for line in ["multiply FILE -q", "info FILE", "convert FILE -o c.mtx", "components FILE", "spy FILE -o p.png"] {
            let line = line.replace("FILE", name);
            desk.fails(&line, 2, &["--sum-duplicates adds up entries at the same place"]);
            desk.ok(&format!("{line} --sum-duplicates"));
        }
    }
    desk.put("x.mtx", "%%MatrixMarket matrix coordinate real general\n2 1 2\n1 1 1\n1 1 2\n");
    desk.put("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
    desk.fails("apply a.mtx x.mtx", 2, &["x.mtx:4: a second entry at (1, 1)", "--sum-duplicates"]);
    desk.ok("apply a.mtx x.mtx --sum-duplicates");
    desk.put("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 17000000 1\n1 1 1\n");
    desk.put("wide.el", "17000000 1\n");
    for name in ["wide.mtx", "wide.el"] {
        let line = format!("convert {name} -o wide-too.mtx");
        desk.fails(&line, 2, &[" for 1 entry, 16777216 at most; --max-lines allows more"]);
        desk.fails(&format!("{line} --max-lines 16999999"), 2, &["--max-lines allows more"]);
        desk.ok(&format!("{line} --max-lines 17000001"));
    }
    desk.fails("info a.mtx --max-lines many", 2, &["--max-lines", "a whole number from 0 is wanted"]);
}

#[test]
fn a_factor_of_zero_spreads_no_nan() {
    let desk = Desk::new();
    desk.put("n.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 nan\n2 1 inf\n");
    desk.put("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 3\n");
    for line in ["add n.mtx b.mtx --alpha 0 -o c.mtx", "add b.mtx n.mtx --beta 0 -o c.mtx"] {
        desk.ok(line);
        assert_eq!(desk.read::<f64>("c.mtx").values(), [2.0, 0.0, 3.0], "{line}");
    }
}

#[test]
fn endings_of_other_formats_are_refused() {
    let desk = Desk::with([("a.mtx", SQUARE), ("g.g2o", GRAPH), ("b.txt", BUNDLE)]);
    for line in [
        "multiply a.mtx -o c.npy",
        "multiply a.mtx -o c.png",
        "multiply a.mtx -o c.obj",
        "convert a.mtx -o c.g2o",
        "transpose a.mtx -o c.png",
        "apply a.mtx -o y.npz",
        "apply a.mtx -o y.txt",
        "components a.mtx -o c.npz",
        "paths a.mtx --sources 1 -o d.npz",
        "spy a.mtx -o p.mtx",
        "spy a.mtx -o p.npz",
        "solve g.g2o -o s.mtx",
        "solve g.g2o -o s.bal",
        "solve b.txt -o s.g2o",
        "hessian g.g2o --write H=H.png",
        "generate uniform --rows 3 -o a.png",
        "generate bal -o b.g2o",
        "generate g2o -o b.bal",
        "generate mesh -o m.mtx",
        "tune -o t.mtx",
        "multiply a.mtx --report r.mtx",
        "apply a.mtx --report r.npy",
        "components a.mtx --report r.npz",
        "paths a.mtx --sources 1 --report r.el",
        "patches m.off --report r.ply",
        "solve g.g2o --json r.png",
        "bench a.mtx --json r.bsr",
    ] {
        let ran = desk.run(line);
        assert!(ran.status == 2 && !ran.stderr.contains("unexpected argument"), "{line}: {}", ran.stderr);
        let output = line.rsplit(['=', ' ']).next().unwrap();
        assert!(ran.stderr.contains(&format!("{output}: ")), "{line}: {}", ran.stderr);
    }
    assert_eq!(desk.files().len(), 3);
}

/// Checks warnings of integer sums that exceed their type. Sums are compared with a bound, or
/// counted if the product is verified.
#[test]
fn integers_that_wrap_around_are_told_of() {
    let desk = Desk::new();
    desk.put("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 65536\n2 1 65536\n2 2 1\n");
    desk.put("d.mtx", "%%MatrixMarket matrix array integer general\n2 1\n65536\n1\n");
    desk.put("d2.mtx", "%%MatrixMarket matrix array integer general\n2 2\n65536\n1\n1\n1\n");
    // No sum reaches the bound, because the longest row does not have the largest value.
    desk.put("apart.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 65536\n2 2 3\n");
    let may = |result: &str, element: &str| format!("values of {result} may have wrapped around: {element} ends at ");
    let did = |counts: &str, element: &str| {
        format!("warning: {counts} have wrapped around: their sums are too large for {element}\n")
    };
    for (line, result, element, counts) in [
        ("multiply a.mtx", "C", "u32", "2 of 3 values of C"),
        ("multiply a.mtx", "C", "i32", "2 of 3 values of C"),
        ("multiply a.mtx --block 2", "C", "u32", "2 of 4 values of C"),
        ("multiply a.mtx --mask a.mtx", "C", "u32", "2 of 3 values of C"),
        ("multiply a.mtx d.mtx", "C", "u32", "2 of 2 values of C"),
        ("multiply d2.mtx a.mtx --transpose-a", "C", "i32", "1 of 4 values of C"),
        ("apply a.mtx d.mtx", "y", "u32", "2 of 2 values of y"),
        ("apply a.mtx d.mtx --transpose", "y", "i32", "1 of 2 values of y"),
        ("apply a.mtx --gram", "y", "u32", "1 of 2 values of y"),
        ("apply a.mtx d2.mtx", "C", "i32", "2 of 4 values of C"),
    ] {
        let run = |options: &str| {
            let ran = desk.ok(&format!("{line} --element {element} --device reference -q --report - {options}"));
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            (report["overflowed"]["c"].clone(), ran.stderr)
        };
        let (count, said) = run("");
        assert!(count.is_null() && said.contains(&may(result, element)), "{line}: {said}");
        let (count, said) = run("--verify");
        assert_eq!((count, said), (counts[..1].parse::<u64>().unwrap().into(), did(counts, element)), "{line}");
        let wide = desk.ok(&format!("{line} -q --device reference"));
        assert_eq!(wide.stderr, "", "{line}");
    }
    let ran = desk.ok("multiply apart.mtx --element i32 -q --verify");
    assert_eq!(ran.stderr, "", "the bound is passed, and no sum is");
    for semiring in ["min-plus", "max-min", "plus-pair", "plus-first"] {
        let line = format!("multiply a.mtx --element u32 --semiring {semiring} -q --device reference");
        assert_eq!(desk.ok(&line).stderr, "", "{semiring}");
    }
}
