//! Checks that every reader must pass for any bytes. The fuzz targets use these checks, and so does
//! the test that reads the corpora of the targets.
//!
//! A reader does not panic and takes no memory that the bytes do not justify. An input is refused
//! in one line that names the place. A matrix that is read is valid. The matrix is the same for any
//! number of threads, for plain and compressed files, and if the reader takes the text in one part
//! or in several. The matrix has the same bits after it is written and read.
mod archive;
mod arrays;
mod memory;
mod meshes;
mod problems;

#[allow(unused_imports)] // each fuzz target uses only a part of it
pub use arrays::{gcoo, gcoo_file, npy, tuning};
#[allow(unused_imports)] // each fuzz target uses only a part of it
pub use meshes::{long_meshes, mesh};
#[allow(unused_imports)] // each fuzz target uses only a part of it
pub use problems::{bal, g2o, isam};

use std::fs;
use std::io::{Cursor, Read, Write};
use std::sync::LazyLock;

use blockmul::io::{
    self, BlockLayout, FileFormat, MatrixFile, ReadOptions, Symmetry, ValueType, binary, bla, edge_list, matrix_market,
    npz,
};
use blockmul::{BlockShape, Csc, Error, Result, matrix::Pattern};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Number of rows or columns without entries that a file may have. The limit of rows and columns
/// without entries is large enough for all corpora, but so small that short inputs are not slow.
const UNPROVEN: u64 = 1 << 10;
/// A matrix is also written in its blocks if it has at most this many elements. The number is
/// limited because one entry of a file may fill a block of a thousand elements.
const MOST_IN_BLOCKS: usize = 1 << 12;
/// Length of a line that is allowed, but longer than the text that a reader loads at once.
const LONG_LINE: usize = 520 << 10;

static ONE_THREAD: LazyLock<ThreadPool> = LazyLock::new(|| pool(1));
static THREADS: LazyLock<ThreadPool> = LazyLock::new(|| pool(3));

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("the system has threads")
}

/// Checks Matrix Market files, plain or compressed.
pub fn matrix_market(bytes: &[u8]) {
    lines(
        bytes,
        |bytes, options| matrix_market::read_from(bytes, "input", options),
        |matrix| written(|to| matrix_market::write_to(to, matrix, &Default::default())),
    );
}

/// Checks edge lists, plain or compressed.
pub fn edge_list(bytes: &[u8]) {
    lines(
        bytes,
        |bytes, options| edge_list::read_from(bytes, "input", options),
        |matrix| written(|to| edge_list::write_to(to, matrix, &Default::default())),
    );
}

/// Checks SciPy's archives, or the text that describes one, see [`archive`].
pub fn npz(bytes: &[u8]) {
    let archive = archive::pack(bytes);
    let unpacked = archive::unpacked_bytes(&archive);
    for options in both_ways() {
        let outcome = bounded(unpacked, || npz::read_from(Cursor::new(&archive), "input", &options));
        let Some(file) = checked(outcome, "input: ", options.sum_duplicates) else { continue };
        let read = |bytes: Vec<u8>| npz::read_from(Cursor::new(bytes), "copy", &proven()).expect("our own file");
        let copy = read(written(|to| npz::write_to(to, &file.matrix, &Default::default())));
        assert_same_matrix(&file.matrix, &copy.matrix);
        in_blocks(&file, |blocks| read(written(|to| npz::write_to(to, blocks, &Default::default()))));
    }
}

/// Checks the binary format, plain or compressed.
pub fn binary(bytes: &[u8]) {
    let unpacked = unpacked_bytes(bytes);
    for options in both_ways() {
        let outcome = bounded(unpacked, || binary::read_from(bytes, "input", &options));
        if !is_packed(bytes) {
            assert_same_outcome(&outcome, &binary::read_from(&gzip(bytes)[..], "input", &options));
        }
        let Some(file) = checked(outcome, "input: ", options.sum_duplicates) else { continue };
        let read = |bytes: Vec<u8>| binary::read_from(&bytes[..], "copy", &proven()).expect("our own file");
        assert_same_matrix(&file.matrix, &read(written(|to| binary::write_to(to, &file.matrix))).matrix);
        in_blocks(&file, |blocks| read(written(|to| binary::write_to(to, blocks))));
    }
}

/// Checks block layouts. The matrix has the size that the text gives, or 4 if it gives none.
pub fn bla(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut words = text.split_ascii_whitespace();
    let mut size = || words.next().and_then(|word| word.parse().ok()).unwrap_or(4);
    let (nrows, _) = (size(), size());
    let ncols = size();
    match bounded(bytes.len() as u64, || bla::read_from(bytes, "input", nrows, ncols)) {
        Ok(layout) => {
            check_layout(&layout, nrows, ncols);
            if nrows.max(ncols) <= UNPROVEN {
                let diagonal = (0..nrows.min(ncols) as usize).map(|at| (at, at, 1.0));
                let matrix = Csc::from_triplets(nrows as usize, ncols as usize, diagonal).expect("a diagonal");
                check_written(&matrix, &layout);
            }
        }
        Err(error) => check_refusal(&error, "input:"),
    }
}

/// Checks any file by its name, with a layout beside it. The first byte of the input chooses the
/// name. A line `@bla` of the input begins the layout.
pub fn by_name(bytes: &[u8]) {
    const NAMES: [&str; 6] = ["a.mtx", "a.mtx.gz", "a.npz", "a.txt", "a.tsv.gz", "a"];
    const SEPARATOR: &[u8] = b"\n@bla\n";
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(first) % NAMES.len()];
    let cut = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    let (bytes, layout) = cut.map_or((bytes, None), |at| (&bytes[..at], Some(&bytes[at + SEPARATOR.len()..])));
    let bytes = if name == "a.npz" { archive::pack(bytes) } else { bytes.to_vec() };
    let unpacked = unpacked_bytes(&bytes) + archive::unpacked_bytes(&bytes) + layout.map_or(0, <[u8]>::len) as u64;

    let folder = tempfile::tempdir().expect("a folder for files");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("a file");
    if let Some(layout) = layout {
        fs::write(folder.path().join("a.bla"), layout).expect("a file");
    }
    let place = format!("{}/a", folder.path().display());
    for options in both_ways() {
        let outcome = bounded(unpacked, || io::read(&path, &options));
        let Some(file) = checked(outcome, &place, options.sum_duplicates) else { continue };
        let square = file.matrix.nrows() == file.matrix.ncols();
        for name in ["b.mtx", "b.mtx.gz", "b.npz", "b.txt", "b.bin", "b.bcsr", "b.gcoo"] {
            let path = folder.path().join(name);
            match io::write(&path, &file.matrix, &Default::default()) {
                Ok(()) => assert_same_matrix(&file.matrix, &io::read(&path, &proven()).expect("our own file").matrix),
                Err(error) => assert!(!square && FileFormat::of(&path) == Some(FileFormat::EdgeList), "{error}"),
            }
        }
    }
}

/// Checks a format whose entries are lines of text.
fn lines(
    bytes: &[u8],
    read: impl Fn(&[u8], &ReadOptions) -> Result<MatrixFile> + Sync,
    write: impl Fn(&Csc<f64>) -> Vec<u8>,
) {
    for options in both_ways() {
        let outcome = bounded(unpacked_bytes(bytes), || THREADS.install(|| read(bytes, &options)));
        // Each of the further checks is slow compared with the reading itself, so each input gets
        // at most one.
        let again = match bytes.len() % 16 {
            0 | 4 | 8 | 12 => Some(ONE_THREAD.install(|| read(bytes, &options))),
            1 | 9 if !is_packed(bytes) => Some(read(&gzip(bytes), &options)),
            2 => with_a_long_line(bytes).map(|bytes| THREADS.install(|| read(&bytes, &options))),
            _ => None,
        };
        again.iter().for_each(|again| assert_same_outcome(&outcome, again));
        // In an archive the file is a member, so the place begins only with `input`.
        let Some(file) = checked(outcome, "input", options.sum_duplicates) else { continue };
        let copy = read(&write(&file.matrix), &proven()).expect("our own file");
        assert_same_matrix(&file.matrix, &copy.matrix);
        in_blocks(&file, |blocks| {
            let text = written(|to| matrix_market::write_to(to, blocks, &Default::default()));
            matrix_market::read_from(&text[..], "copy", &proven()).expect("our own file")
        });
    }
}

/// Returns options that refuse duplicates, and options that sum them.
fn both_ways() -> [ReadOptions; 2] {
    [false, true].map(|sum_duplicates| ReadOptions {
        sum_duplicates,
        max_unproven_lines: UNPROVEN,
        ..Default::default()
    })
}

/// Returns options for a file that these checks wrote from a matrix.
fn proven() -> ReadOptions {
    ReadOptions { max_unproven_lines: u64::MAX, ..Default::default() }
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory takes all");
    bytes
}

/// Runs `read` and checks that this held at most a multiple of the file's bytes, and a reader's
/// buffers.
fn bounded<T>(unpacked: u64, read: impl FnOnce() -> T) -> T {
    let (outcome, held) = memory::most_held(read);
    let allowed = (16 << 20) + 256 * unpacked;
    assert!(held as u64 <= allowed, "{held} bytes held to read {unpacked}, {allowed} at most");
    outcome
}

fn is_packed(bytes: &[u8]) -> bool {
    let skipped = matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    skipped || [&b"\x1f\x8b"[..], b"BZh", XZ, ZSTD].iter().any(|magic| bytes.starts_with(magic))
}

fn unpacked_bytes(bytes: &[u8]) -> u64 {
    if !is_packed(bytes) {
        return bytes.len() as u64;
    }
    let mut decoder: Box<dyn Read> = match bytes[0] {
        b'B' => Box::new(bzip2::read::MultiBzDecoder::new(bytes)),
        // A few bytes may require a window of 128 MiB, which the reader allocates.
        0xfd | 0x28 | 0x50..=0x5f => return (128 << 20) / 256 + unpacked_by_others(bytes),
        _ => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
    };
    let (mut piece, mut all) = ([0; 1 << 12], 0);
    while let Ok(more @ 1..) = decoder.read(&mut piece) {
        all += more as u64;
    }
    all
}

const XZ: &[u8] = b"\xfd7zXZ\0";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

fn unpacked_by_others(bytes: &[u8]) -> u64 {
    let mut decoder: Box<dyn Read> = match bytes.starts_with(XZ) {
        true => Box::new(lzma_rust2::XzReader::new_mem_limit(bytes, true, 129 << 10)),
        false => match ruzstd::decoding::StreamingDecoder::new(bytes) {
            Ok(decoder) => Box::new(decoder),
            Err(_) => return 0,
        },
    };
    let (mut piece, mut all) = ([0; 1 << 12], 0);
    while let Ok(more @ 1..) = decoder.read(&mut piece) {
        all += more as u64;
    }
    all
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes all")
}

/// Returns the lines of a text. The middle line of the result ends in so many blanks that the
/// reader takes the file in two or three parts.
fn with_a_long_line(bytes: &[u8]) -> Option<Vec<u8>> {
    let ends: Vec<_> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let (before, after) = bytes.split_at(*ends.get(ends.len() / 2)?);
    (!is_packed(bytes)).then(|| [before, &[b' '; LONG_LINE], after].concat())
}

/// Checks an outcome: a file must be valid, and the message of a refusal must begin with `place`.
/// Returns the file that was read.
fn checked(outcome: Result<MatrixFile>, place: &str, sum_duplicates: bool) -> Option<MatrixFile> {
    match outcome {
        Ok(file) => {
            check_file(&file, sum_duplicates);
            Some(file)
        }
        Err(error) => {
            check_refusal(&error, place);
            None
        }
    }
}

fn check_refusal(error: &Error, place: &str) {
    assert!(matches!(error, Error::Parse { line: 1.., .. } | Error::Malformed { .. }), "{error:?}");
    let message = error.to_string();
    let reason = message.strip_prefix(place).unwrap_or_else(|| panic!("not of {place}: {message}"));
    assert!(!reason.is_empty() && !reason.contains(char::is_control), "{message:?}");
}

/// Checks the properties that every matrix must have, and those that the file claims.
fn check_file(file: &MatrixFile, sum_duplicates: bool) {
    let (pattern, values) = (file.matrix.pattern(), file.matrix.values());
    let (nrows, ncols, nnz) = (pattern.nrows(), pattern.ncols(), pattern.nnz() as u64);
    Pattern::new(nrows, ncols, pattern.col_ptr().to_vec(), pattern.row_idx().to_vec()).expect("a valid pattern");
    assert_eq!(values.len() as u64, nnz);
    if let Some(layout) = &file.layout {
        check_layout(layout, nrows as u64, ncols as u64);
        check_written(&file.matrix, layout);
    }
    match file.field {
        ValueType::Pattern if !sum_duplicates => assert!(values.iter().all(|&value| value == 1.0)),
        ValueType::Pattern => assert!(values.iter().all(|&value| value >= 1.0 && value.fract() == 0.0)),
        ValueType::Integer => assert!(values.iter().all(|value| value.fract() == 0.0)),
        _ => {}
    }
    let mirrored = |equal: fn(f64, f64) -> bool| {
        let transpose = file.matrix.transpose();
        assert_eq!(transpose.pattern(), pattern);
        assert!(transpose.values().iter().zip(values).all(|(&a, &b)| equal(a, b) || (a.is_nan() && b.is_nan())));
        file.stored * 2
    };
    let most = match file.symmetry {
        Symmetry::Symmetric => mirrored(|a, b| a.to_bits() == b.to_bits()),
        Symmetry::SkewSymmetric => mirrored(|a, b| a == -b),
        _ => file.stored,
    };
    // Zeros of an array are not entries.
    assert!(nnz <= most, "{nnz} entries of {} stored", file.stored);
}

fn check_layout(layout: &BlockLayout, nrows: u64, ncols: u64) {
    match layout {
        BlockLayout::Uniform(shape) => {
            assert!(nrows.is_multiple_of(shape.rows() as u64) && ncols.is_multiple_of(shape.cols() as u64));
        }
        BlockLayout::Mixed { row_ends, col_ends } => {
            for (ends, size) in [(row_ends, nrows), (col_ends, ncols)] {
                assert_eq!(ends.last().copied().unwrap_or(0), size);
                assert!(ends.first() != Some(&0) && ends.is_sorted_by(|a, b| a < b));
            }
        }
        _ => panic!("a layout of a new kind"),
    }
}

/// Writes a layout and reads it back, unless the matrix has no rows or no columns: the file of such
/// a matrix would not contain the shape of the blocks.
fn check_written(matrix: &Csc<f64>, layout: &BlockLayout) {
    let (nrows, ncols) = (matrix.nrows() as u64, matrix.ncols() as u64);
    if nrows > 0 && ncols > 0 {
        let text = written(|to| bla::write_to(to, matrix, layout));
        assert_eq!(bla::read_from(&text[..], "copy", nrows, ncols).expect("our own layout"), *layout);
    }
}

/// Writes the matrix in the blocks of its file and reads it back. The copy that is read must have
/// the same blocks.
fn in_blocks(file: &MatrixFile, copy: impl Fn(&blockmul::Cbc<f64>) -> MatrixFile) {
    let Some(shape) = file.layout.as_ref().and_then(BlockLayout::uniform) else { return };
    let (nrows, ncols) = (file.matrix.nrows(), file.matrix.ncols());
    if shape == BlockShape::SCALAR || nrows == 0 || ncols == 0 || file.matrix.nnz() * shape.area() > MOST_IN_BLOCKS {
        return;
    }
    let blocks = file.matrix.to_blocks(shape).expect("blocks that fit");
    let copy = copy(&blocks);
    assert_eq!(copy.layout, file.layout);
    assert_same_matrix(&blocks.to_scalars(), &copy.matrix);
}

/// Compares values by their bits. All NaNs count as equal.
fn assert_same_matrix(left: &Csc<f64>, right: &Csc<f64>) {
    let bits = |matrix: &Csc<f64>| -> Vec<_> {
        matrix.values().iter().map(|x| if x.is_nan() { f64::NAN } else { *x }.to_bits()).collect()
    };
    assert_eq!(left.pattern(), right.pattern());
    assert_eq!(bits(left), bits(right));
}

/// Checks that both outcomes are the same file, or are refused for the same reason.
fn assert_same_outcome(left: &Result<MatrixFile>, right: &Result<MatrixFile>) {
    match (left, right) {
        (Ok(left), Ok(right)) => {
            assert_same_matrix(&left.matrix, &right.matrix);
            assert_eq!((left.field, left.symmetry, left.stored), (right.field, right.symmetry, right.stored));
            assert_eq!((left.format, &left.layout), (right.format, &right.layout));
        }
        (Err(left), Err(right)) => assert_eq!(left.to_string(), right.to_string()),
        _ => panic!("{:?} but {:?}", left.as_ref().map(|_| ()), right.as_ref().map(|_| ())),
    }
}
