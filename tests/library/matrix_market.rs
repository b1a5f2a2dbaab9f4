//! Matrix Market files from other sources, in the folder that `BLOCKMUL_DATA` names. Each file is
//! read as the format requires, or refused with a line number.
use std::path::{Path, PathBuf};

use blockmul::io::{MatrixFile, ReadOptions, Symmetry, ValueType, read, write};

/// Returns the folder. If `BLOCKMUL_DATA` is not set, prints a line and returns `None`.
fn data(folder: &str) -> Option<PathBuf> {
    match std::env::var_os("BLOCKMUL_DATA") {
        Some(data) => Some(Path::new(&data).join(folder)),
        None => {
            eprintln!("skipped: BLOCKMUL_DATA does not name a folder of real matrices");
            None
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = files.collect();
    names.sort();
    names
}

/// A row of the table in the data's README.
struct Row {
    name: String,
    rows: usize,
    cols: usize,
    entries: usize,
    kind: String,
    products: u64,
}

fn table(readme: &str) -> Vec<Row> {
    let rows = readme.lines().filter(|line| line.starts_with("| matrix/"));
    rows.map(|line| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let number = |cell: usize| cells[cell].parse().unwrap();
        Row {
            name: cells[1].strip_prefix("matrix/").unwrap().to_owned(),
            rows: number(2),
            cols: number(3),
            entries: number(4),
            kind: cells[5].to_owned(),
            products: number(6) as u64,
        }
    })
    .collect()
}

/// The number of products of A·A, or of A·Aᵀ if A is not square.
fn products(file: &MatrixFile) -> u64 {
    let pattern = file.matrix.pattern();
    let length = |column: usize| pattern.column(column).len() as u64;
    match pattern.nrows() == pattern.ncols() {
        true => pattern.row_idx().iter().map(|&row| length(row as usize)).sum(),
        false => (0..pattern.ncols()).map(|column| length(column).pow(2)).sum(),
    }
}

#[test]
fn real_matrices_are_as_their_table_says() {
    let Some(folder) = data("matrix") else { return };
    let table = table(&std::fs::read_to_string(folder.with_file_name("README.md")).unwrap());
    assert_eq!(table.iter().map(|row| row.name.clone()).collect::<Vec<_>>(), {
        let mut names = names(&folder);
        names.retain(|name| name.contains(".mtx"));
        names
    });
    for row in table {
        let path = folder.join(&row.name);
        let result = read(&path, &ReadOptions::default());
        let mut words = row.kind.split(' ');
        let (field, symmetry) = (words.next().unwrap(), words.next().unwrap());
        if field == "complex" {
            let expected = format!("{}:1: complex matrices are not supported", path.display());
            assert_eq!(result.unwrap_err().to_string(), expected);
            continue;
        }
        let file = result.unwrap();
        let pattern = file.matrix.pattern();
        assert_eq!(
            (pattern.nrows(), pattern.ncols(), pattern.nnz()),
            (row.rows, row.cols, row.entries),
            "{}",
            row.name
        );
        assert_eq!((file.field.name(), file.symmetry.name()), (field, symmetry), "{}", row.name);
        assert_eq!(products(&file), row.products, "{}", row.name);
        let zeros = file.matrix.values().iter().filter(|&&value| value == 0.0).count();
        let expected = words.next().map_or(0, |word| word.strip_prefix("explicit0=").unwrap().parse().unwrap());
        assert_eq!(zeros, expected, "{}", row.name);
    }
}

#[test]
fn real_matrices_come_back_to_the_bit() {
    let Some(folder) = data("matrix") else { return };
    let place = tempfile::tempdir().unwrap();
    for name in ["bcsstk16.mtx.gz", "plskz362_rb.mtx", "rajat19.mtx", "Tina_AskCal.mtx", "Groebner_id2003_aug.mtx.gz"] {
        let file = read(folder.join(name), &ReadOptions::default()).unwrap();
        let path = place.path().join(name);
        write(&path, &file.matrix, &Default::default()).unwrap();
        let back = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((back.field, back.symmetry), (ValueType::Real, Symmetry::General));
        assert_eq!(back.matrix.pattern(), file.matrix.pattern(), "{name}");
        let bits = |file: &MatrixFile| file.matrix.values().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&file), "{name}");
    }
}

/// The right outcome for each malformed file: the line and the beginning of the reason or, if the
/// file is read, the number of entries.
const MALFORMED: &[(&str, Result<usize, &str>)] = &[
    ("LAGraph_mangled1.mtx", Err("1: the object is \"mangled\"")),
    ("LAGraph_mangled11.mtx", Err("5: column: \"zero\" is not a whole number from 0")),
    ("LAGraph_mangled13.mtx", Err("7: column 9999 is outside 1 to 4")),
    // The file claims to be real, but has two numbers a line, as complex values have.
    ("LAGraph_mangled15.mtx", Err("5: 2 words where \"value\" is expected")),
    ("LAGraph_mangled2.mtx", Err("1: the format is \"mangled\"")),
    ("LAGraph_mangled4.mtx", Err("1: the symmetry is \"mangled\"")),
    ("LAGraph_mangled6.mtx", Err("1: hermitian matrices are not supported")),
    ("LAGraph_mangled8.mtx", Err("4: 1 number where \"rows columns entries\" is expected")),
    // Some values are outside of the range of a type that only a comment names ("%%GraphBLAS type
    // int8_t"). For Matrix Market these values are integers.
    ("LAGraph_mangled_bool.mtx", Ok(12)),
    ("LAGraph_mangled_int16.mtx", Ok(12)),
    ("LAGraph_mangled_int8.mtx", Ok(12)),
    ("LAGraph_mangled_uint16.mtx", Ok(12)),
    ("LAGraph_mangled_uint8.mtx", Ok(12)),
    ("SS_bad_header.mtx", Err("1: the symmetry is \"bogus\"")),
    ("SS_mangle1.mtx", Err("1: the object is \"junk\"")),
    ("SS_mangle3.mtx", Err("1: the field is \"junk\"")),
    // The file claims integers and contains an infinite value.
    ("matrix_fp64.mtx", Err("7: value: \"-inf\" is not an integer")),
    // The banner has one percent sign instead of two. A file with one percent sign is read with a
    // warning.
    ("nr-bio-dmela.mtx", Ok(51138)),
    // The sizes are in a comment. The first line after the comment with the sizes is an entry.
    ("nr-ca-Erdos992.mtx", Err("4: 2 numbers where \"rows columns entries\" is expected")),
    // Another table follows the entries.
    ("nr-soc-wiki-Vote.mtx", Err("2917: ")),
    ("nr-web-spam.mtx", Ok(74750)),
    // The file contains an infinite value, as a real number. Each entry of this symmetric file has
    // a mirror image.
    ("skew_fp64.mtx", Ok(20)),
];

#[test]
fn malformed_files_are_read_as_they_say_or_refused_with_the_line() {
    let Some(folder) = data("malformed") else { return };
    assert_eq!(names(&folder), MALFORMED.iter().map(|&(name, _)| name.to_owned()).collect::<Vec<_>>());
    for &(name, right) in MALFORMED {
        let path = folder.join(name);
        match (read(&path, &ReadOptions::default()), right) {
            (Ok(file), Ok(entries)) => assert_eq!(file.matrix.pattern().nnz(), entries, "{name}"),
            (Err(error), Err(reason)) => {
                let expected = format!("{}:{reason}", path.display());
                assert!(error.to_string().starts_with(&expected), "{error}");
            }
            (result, _) => panic!("{name}: {:?}", result.map(|file| file.stored)),
        }
    }
}

#[test]
fn skew_symmetric_infinities_have_both_signs() {
    let Some(folder) = data("malformed") else { return };
    let file = read(folder.join("skew_fp64.mtx"), &ReadOptions::default()).unwrap();
    let infinite = |sign: f64| file.matrix.values().iter().filter(|&&value| value == sign * f64::INFINITY).count();
    assert_eq!((infinite(1.0), infinite(-1.0)), (1, 1));
}
