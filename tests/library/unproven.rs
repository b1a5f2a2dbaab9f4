//! Every reader obeys `max_unproven_lines`: a file with more rows or columns without entries is
//! refused.
use blockmul::io::{ReadOptions, binary, dense, edge_list, matrix_market, npz, read};
use blockmul::{Csc, Error};

const MOST: u64 = 100;

fn options(max_unproven_lines: u64) -> ReadOptions {
    ReadOptions { max_unproven_lines, ..Default::default() }
}

type Reader = fn(&[u8], &ReadOptions) -> Result<[usize; 2], Error>;

/// Returns a `.npy` file without elements.
fn npy(rows: u64, cols: u64) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    let header = format!("{header:<117}\n");
    [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat()
}

/// Returns the bytes that a writer makes of a matrix without entries.
fn written(rows: u64, cols: u64, write: impl Fn(&mut Vec<u8>, &Csc<f64>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, &Csc::from_triplets(rows as usize, cols as usize, []).unwrap());
    bytes
}

/// Returns a file of a `rows` x `cols` matrix without entries for each format that has a reader, or
/// `None` if the format cannot hold this matrix.
fn files(rows: u64, cols: u64) -> [(&'static str, Option<Vec<u8>>, Reader); 6] {
    let text = |text: String| Some(text.into_bytes());
    let banner = "%%MatrixMarket matrix";
    // An array file contains every element, so it is empty only if a side is 0.
    let is_empty = rows.min(cols) == 0;
    [
        ("coordinates", text(format!("{banner} coordinate real general\n{rows} {cols} 0\n")), |bytes, options| {
            matrix_market::read_from(bytes, "a.mtx", options).map(|file| [file.matrix.nrows(), file.matrix.ncols()])
        }),
        (
            "array",
            text(format!("{banner} array real general\n{rows} {cols}\n")).filter(|_| is_empty),
            |bytes, options| {
                matrix_market::read_from(bytes, "a.mtx", options).map(|file| [file.matrix.nrows(), file.matrix.ncols()])
            },
        ),
        ("edges", text(format!("# Nodes: {rows}\n")).filter(|_| rows == cols), |bytes, options| {
            edge_list::read_from(bytes, "a.txt", options).map(|file| [file.matrix.nrows(), file.matrix.ncols()])
        }),
        (
            "npz",
            Some(written(rows, cols, |to, matrix| npz::write_to(to, matrix, &Default::default()).unwrap())),
            |bytes, options| {
                let file = npz::read_from(std::io::Cursor::new(bytes), "a.npz", options)?;
                Ok([file.matrix.nrows(), file.matrix.ncols()])
            },
        ),
        ("binary", Some(written(rows, cols, |to, matrix| binary::write_to(to, matrix).unwrap())), |bytes, options| {
            binary::read_from(bytes, "a.bin", options).map(|file| [file.matrix.nrows(), file.matrix.ncols()])
        }),
        ("npy", Some(npy(rows, cols)).filter(|_| is_empty), |bytes, options| {
            dense::read_npy_from(bytes, "a.npy", options).map(|file| [file.matrix.nrows(), file.matrix.ncols()])
        }),
    ]
}

#[test]
fn lines_without_entries_are_bounded_in_every_format() {
    let mut tried = std::collections::BTreeMap::new();
    for (more, fewer) in [([0, MOST + 1], [0, MOST]), ([MOST + 1, 0], [MOST, 0]), ([MOST + 1; 2], [MOST; 2])] {
        for ((format, refused, read), (_, taken, _)) in
            files(more[0], more[1]).into_iter().zip(files(fewer[0], fewer[1]))
        {
            let (Some(refused), Some(taken)) = (refused, taken) else { continue };
            let error = read(&refused, &options(MOST)).expect_err(format).to_string();
            assert!(error.contains("101 ") && error.contains(" for 0 "), "{format}: {error}");
            let told = ", 100 at most; ReadOptions::max_unproven_lines allows more";
            assert!(error.ends_with(told), "{format}: {error}");
            assert_eq!(read(&taken, &options(MOST)).unwrap(), fewer.map(|lines| lines as usize), "{format}");
            assert_eq!(read(&refused, &options(MOST + 1)).unwrap(), more.map(|lines| lines as usize), "{format}");
            *tried.entry(format).or_insert(0) += 1;
        }
    }
    assert_eq!(tried.len(), 6, "{tried:?}");
}

/// Files of arrays are also refused without the option, and if the file's name determines the
/// reader.
#[test]
fn wide_and_tall_arrays_without_elements_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.npy");
    for (rows, cols, what) in [(0, 40_000_000, "columns"), (40_000_000, 0, "rows")] {
        std::fs::write(&path, npy(rows, cols)).unwrap();
        let refused = dense::read(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(refused.contains(&format!("{} {what}", rows.max(cols))) && refused.contains("at most"), "{refused}");
        assert!(dense::read(&path, &options(40_000_000)).is_ok(), "{rows}x{cols}");
    }
    // If each row has an element, no row is unproven.
    let mut column = npy(5000, 1);
    column.extend([0; 8 * 5000]);
    assert_eq!(dense::read_npy_from(&column[..], "a.npy", &options(1)).unwrap().matrix.nrows(), 5000);
    assert!(read(&path, &ReadOptions::default()).is_err());
}
