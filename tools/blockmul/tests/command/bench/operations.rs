//! `bench --operation`: all operations except products without a plan.
use super::*;

#[test]
fn every_operation_is_verified_and_timed() {
    let desk = Desk::new();
    // Each run first measures the bandwidth of a copy, so there are few runs.
    let grams = ["gram", "gram-residuals", "gram-blocks", "gram-information", "gram-scaled"];
    let of_matrix =
        ["apply", "apply-transposed", "norms", "scale", "dot", "axpy", "copy", "permute", "transpose", "add"];
    let operations = format!("--operation product,plan,{}", of_matrix.join(","));
    let variants = [&["auto", "esc", "plan", "plan by esc"], &of_matrix[..]].concat();
    desk.times(&format!("uniform:60x3 --block 2x3 --method auto,esc {operations}"), &variants);
    for (line, variants) in [
        (
            "uniform:60x3 --block 1 --columns 5 --layout rows,columns --sharing auto,gcoo --operation dense",
            &["dense rows by rows 5", "dense gcoo by rows 5", "dense rows by columns 5", "dense gcoo by columns 5"][..],
        ),
        (
            "uniform:60x3 --block 2x3 --columns 5 --sharing rows,stored --in-place --operation dense",
            &["dense rows in place by rows 5", "dense gcoo stored by rows 5"],
        ),
        (
            "bundle-adjustment:9x40x3 --block 6x3 --operation gram,schur",
            &[&grams[..], &["schur", "back-substitute"]].concat(),
        ),
        (
            "pose-graph:30x20 --block 3 --operation permute-lower,scalars,gram",
            &[&["permute-lower", "scalars"], &grams[..]].concat(),
        ),
        ("uniform:60x3 --block 2x3 --element f32 --operation dot,axpy", &["dot", "axpy"]),
        ("--elements 5000 --operation transpose-pattern", &["transpose-pattern"]),
        (
            "pose-graph:30x20 --block 3 --operation apply-gram --format csr,sliced-ell --element f32",
            &["apply-gram csr", "apply-gram-residuals csr", "apply-gram sliced-ell", "apply-gram-residuals sliced-ell"],
        ),
        (
            "uniform:60x3 --block 1 --operation apply-gram --format coo,coo-atomic --any-order",
            &["apply-gram coo", "apply-gram-residuals coo", "apply-gram coo-atomic", "apply-gram-residuals coo-atomic"],
        ),
        (
            "pose-graph:30x20 --block 3 --symmetric --operation apply --format csr,sliced-ell",
            &["apply csr", "apply csr triangle", "apply sliced-ell", "apply sliced-ell triangle"],
        ),
        // The inputs are a graph with edges in both directions, and one with edges in one
        // direction.
        (
            "planar:9x8 power-law:60x200 --operation components,triangles,patches",
            &[["components"; 2], ["triangles"; 2], ["patches", "patches balanced"], ["patches", "patches balanced"]]
                .concat(),
        ),
    ] {
        desk.times(line, variants);
    }
}

/// The test uses the integer types, over every algebra that they support.
#[test]
fn integers_are_verified_and_timed() {
    let desk = Desk::with([("s.mtx", SQUARE), ("p.mtx", SYMMETRIC)]);
    let operations = "product,plan,apply,apply-transposed,dense";
    let variants = ["auto", "plan", "apply", "apply-transposed", "dense rows by rows 3"];
    let line = "bundle-adjustment:9x40x3 --operation apply-gram";
    for (options, variants) in [
        ("--element i32", &["apply-gram", "apply-gram-residuals"][..]),
        ("--element u8 --semiring or-and", &["apply-gram over or-and"]),
    ] {
        let records = desk.by_variant(&format!("{line} {options}"));
        assert_eq!(records.iter().map(|(variant, _)| variant.as_str()).collect::<Vec<_>>(), variants);
        assert!(records.iter().all(|(_, record)| record["verified"] == true), "{records:?}");
    }
    for (semiring, elements) in [("plus-times", "u32,i32"), ("max-plus", "u32,i32"), ("or-and", "u32,i32,u8")] {
        let line =
            format!("uniform:60x3 --block 2 --semiring {semiring} --element {elements} --operation {operations}");
        let records = desk.by_variant(&format!("{line} --columns 3 --sharing rows"));
        let over = if semiring == "plus-times" { String::new() } else { format!(" over {semiring}") };
        let want = variants.iter().flat_map(|variant| elements.split(',').map(move |element| (variant, element)));
        let mut found = records.iter();
        for (variant, element) in want {
            let (named, record) = found.next().unwrap();
            assert_eq!((named, &record["element"]), (&format!("{variant}{over}"), &element.into()));
            let runs = record["runs_ms"].as_array().unwrap().len();
            assert_eq!((&record["verified"], runs), (&true.into(), 3), "{record}");
        }
        assert_eq!(found.len(), 0, "{semiring}");
    }
    // The values are integers of a file, or random integers if the file has no values.
    let files = desk.by_variant("s.mtx p.mtx --element i32 --by-rows --operation product,dense");
    assert_eq!(files.iter().filter(|(_, record)| record["verified"] == true).count(), 4, "{files:?}");
    let formats = desk.by_variant("s.mtx --element i32 --semiring min-plus --operation apply --format csr,sliced-ell");
    assert_eq!(formats.len(), 2, "{formats:?}");
}

#[test]
fn graphs_have_a_number_for_each_vertex_and_at_most_64_patches() {
    let desk = Desk::new();
    let records = desk.by_variant("planar:9x8 planar:3x3 --operation components,triangles,patches --element f64");
    let found: Vec<_> = records.iter().map(|(_, record)| (&record["c_nnz"], &record["b"]["rows"])).collect();
    let of = |vertices: u64, patches: u64| (Value::from(vertices), Value::from(patches));
    let want = [of(72, 0), of(9, 0), of(72, 0), of(9, 0), of(72, 64), of(72, 64), of(9, 9), of(9, 9)];
    assert_eq!(found, want.each_ref().map(|(vertices, patches)| (vertices, patches)));
}

#[test]
fn what_auto_chose_for_a_product_with_a_vector_is_named() {
    let desk = Desk::new();
    for (option, start) in [("", "apply auto: "), ("--any-order", "apply auto in any order: ")] {
        let line = format!("uniform:60x3 --block 1 --operation apply --format auto {option}");
        let [(variant, _)] = &desk.by_variant(&line)[..] else { panic!("one record") };
        let format = variant.strip_prefix(start).unwrap_or_else(|| panic!("{variant}"));
        assert!(format != "auto" && format.parse::<blockmul::plan::Format>().is_ok(), "{variant}");
        let line = format!("uniform:60x3 --block 1 --operation apply-gram --format auto {option}");
        let [(plain, _), (weighted, _)] = &desk.by_variant(&line)[..] else { panic!("two records") };
        let of = |name: &str| start.replace("apply", name);
        let formats = plain.strip_prefix(&of("apply-gram")).unwrap_or_else(|| panic!("{plain}"));
        assert_eq!(weighted.strip_prefix(&of("apply-gram-residuals")), Some(formats));
        assert!(formats.split(" and ").all(|format| format.parse::<blockmul::plan::Format>().is_ok()), "{plain}");
    }
}

#[test]
fn operations_declare_their_bytes_and_their_work() {
    let desk = Desk::new();
    // The matrix has 180 blocks of 2x3, in 60 x 60 blocks.
    let operations = "plan,apply,apply-transposed,norms,copy,dot";
    let records = desk.by_variant(&format!("uniform:60x3 --block 2x3 --element f32 --operation {operations}"));
    let (values, lines) = (4 * 180 * 6, 4 * 60);
    for (variant, bytes, flops) in [
        ("plan", None, 2 * 540 * 12),
        ("apply", Some(values + 5 * lines + 8 * 180), 2 * 180 * 6),
        ("apply-transposed", Some(values + 5 * lines + 4 * 180), 2 * 180 * 6),
        ("norms", Some(values + 3 * lines), 2 * 180 * 6),
        ("copy", Some(2 * values + 4 * 180), 0),
        ("dot", Some(2 * values), 0),
    ] {
        let record = &records.iter().find(|(found, _)| found == variant).unwrap().1;
        assert_eq!(record["bytes"].as_i64(), bytes, "{variant}");
        assert_eq!(record["flops"], flops, "{variant}");
        assert_eq!(record["plan_ms"].is_number(), variant != "dot", "{variant}");
        if let Some(bytes) = bytes {
            let gb_s = bytes as f64 / record["ms"].as_f64().unwrap() / 1e6;
            assert!((record["gb_s"].as_f64().unwrap() - gb_s).abs() <= 1e-9 * gb_s, "{variant}: {record}");
        }
        let stages: Vec<_> = record["stages"].as_array().unwrap().iter().map(|stage| &stage["runs_ms"]).collect();
        assert!(stages.iter().all(|runs| runs.as_array().unwrap().len() == 3), "{variant}: {record}");
    }
    // The bytes of a product with a triangle count the values of the triangle's blocks, and the
    // index of all blocks of the whole matrix.
    let [(_, whole), (variant, triangle)] =
        &desk.by_variant("pose-graph:30x20 --block 3 --symmetric --operation apply")[..]
    else {
        panic!("the whole and its triangle")
    };
    assert_eq!(
        (variant.as_str(), &triangle["a"], &triangle["flops"]),
        ("apply triangle", &whole["a"], &whole["flops"])
    );
    let nnz = whole["a"]["nnz"].as_i64().unwrap();
    let kept = (nnz + 30) / 2;
    let bytes = |kept: i64| Some(8 * 9 * kept + 8 * nnz + 2 * 8 * 90);
    assert_eq!([whole, triangle].map(|record| record["bytes"].as_i64()), [bytes(nnz), bytes(kept)]);
    // J is read twice, and J·x is written and read. With weights, W is also read, and W·J·x is
    // written and read. The operation apply uses the whole H, while gram forms one triangle of it.
    let records = desk.by_variant("pose-graph:30x20 --block 3 --operation gram,apply-gram,apply");
    let of = |name: &str| &records.iter().find(|(variant, _)| variant == name).unwrap().1;
    let (plain, weighted, h) = (of("apply-gram"), of("apply-gram-residuals"), of("apply"));
    assert_eq!(of("gram")["c_nnz"], (h["a"]["nnz"].as_i64().unwrap() + 30) / 2);
    let (rows, nnz) = (plain["a"]["rows"].as_i64().unwrap(), plain["a"]["nnz"].as_i64().unwrap());
    let bytes = |between: i64| Some(8 * (2 * 9 * nnz + 2 * 90 + between * rows) + 4 * 3 * nnz);
    assert_eq!([plain, weighted].map(|record| record["bytes"].as_i64()), [bytes(2), bytes(5)]);
    assert_eq!(
        (&plain["flops"], &plain["c_nnz"], &plain["b"]["rows"]),
        (&(4 * 9 * nnz).into(), &90.into(), &90.into())
    );
    let packed = &desk.by_variant("bundle-adjustment:9x40x3 --block 9x3 --operation apply-gram --format csr")[0].1;
    // There are 120 views of 40 points by 9 cameras. A block of 2x9 becomes three blocks of 2x3.
    assert_eq!(packed["a"], json!({"rows": 240, "cols": 201, "nnz": 480, "block": [2, 3]}));
    let bytes = 8 * (2 * 6 * 480 + 2 * 201 + 2 * 240) + 4 * (2 * 480 + 120 + 67);
    assert_eq!(packed["bytes"].as_i64(), Some(bytes));
    // If a family has no sizes, it has about as many elements as were requested.
    let scaled = desk.benched("uniform --operation transpose --elements 4800 --block 1,2x3 --together 2");
    let matrices: Vec<_> = scaled["results"].as_array().unwrap().iter().map(|record| &record["matrix"]).collect();
    assert_eq!(matrices, ["uniform:600x8", "uniform:100x8"]);
}

#[test]
fn reading_is_timed_without_a_device() {
    let desk = Desk::with([("w.mtx", WIDE)]);
    let ran = desk.ok("bench --device nonesuch w.mtx uniform:60x3 --operation read --rounds 3 --json -");
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    let records = all["results"].as_array().unwrap();
    let threads = std::thread::available_parallelism().unwrap().get().min(3);
    assert_eq!(records.len(), 2 * threads);
    for record in records {
        assert_eq!((&record["variant"], &record["verified"]), (&"read".into(), &true.into()), "{record}");
        assert!(record["copy_gb_s"].is_null() && record["gb_s"].as_f64().unwrap() > 0.0, "{record}");
    }
    assert_eq!((&records[0]["matrix"], &records[0]["bytes"]), (&"w.mtx".into(), &WIDE.len().into()));
    assert_eq!((&records[threads]["matrix"], &records[threads]["a"]["nnz"]), (&"uniform:60x3".into(), &180.into()));
}
