//! Tests round trips of block matrices, and the comments that give block shapes.
use super::*;
use crate::io::{BlockLayout, WriteOptions};
use crate::{BlockShape, Bsr, Cbc, Matrix};

/// 3x4 blocks with an empty column. Every third element is 0 or -0.
fn blocks(shape: BlockShape) -> Cbc<f64> {
    let pattern = Pattern::new(3, 4, vec![0, 2, 2, 5, 6], vec![0, 2, 0, 1, 2, 1]).unwrap();
    let element = |i: usize| if i.is_multiple_of(3) { [0.0, -0.0][i % 2] } else { i as f64 / 7.0 };
    Cbc::new(pattern, shape, (0..6 * shape.area()).map(element).collect()).unwrap()
}

fn bits<M: Matrix<Element = f64>>(matrix: &M) -> Vec<u64> {
    matrix.as_cbc().values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn blocks_come_back_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (rows, cols) in [(1, 1), (6, 3), (2, 9), (1, 4), (32, 32)] {
        let shape = BlockShape::new(rows, cols).unwrap();
        let layout = (shape != BlockShape::SCALAR).then_some(BlockLayout::Uniform(shape));
        let matrix = blocks(shape);
        let path = folder.path().join("a.mtx.gz");
        write(&path, &matrix, &WriteOptions::default()).unwrap();
        let file = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!(file.layout, layout);
        let back = file.matrix.to_blocks(shape).unwrap();
        assert_eq!((back.pattern(), bits(&back)), (matrix.pattern(), bits(&matrix)));

        // The padding between blocks is not written.
        write(&path, &matrix.with_alignment(64).unwrap(), &WriteOptions::default()).unwrap();
        assert_eq!(read(&path, &ReadOptions::default()).unwrap(), file);

        // A row-major matrix has the arrays of its transpose, so the file holds the transpose.
        let rows = Bsr::from_cbc(matrix.clone()).unwrap();
        write(&path, &rows, &WriteOptions::default()).unwrap();
        let file = read(&path, &ReadOptions::default()).unwrap();
        assert_eq!(file.layout, layout.map(|_| BlockLayout::Uniform(shape.transpose())));
        let back = file.matrix.to_blocks(shape.transpose()).unwrap().transpose();
        assert_eq!((back.pattern(), bits(&back)), (matrix.pattern(), bits(&matrix)));
    }
}

#[test]
fn notes_are_read_or_refused_with_their_line() {
    let text = |notes: &str| format!("{REAL}{notes}\n6 6 1\n1 1 1\n");
    let layout = |notes: &str| accepted(text(notes)).layout;
    let blocks = |rows, cols| Some(BlockLayout::Uniform(BlockShape::new(rows, cols).unwrap()));
    assert_eq!(layout("%%blockmul blocks 2x3"), blocks(2, 3));
    assert_eq!(layout("%%GraphBLAS type double\n\n  %%blockmul\tblocks 1x6 \r\n% c"), blocks(1, 6));
    for other in ["%blockmul blocks 4x4", "% %%blockmul blocks 4x4", "%%blockmuls", "%%Blockmul blocks 4x4", "%%"] {
        assert_eq!(layout(other), None, "{other}");
    }
    // After the line of sizes, a note is an ordinary comment.
    assert_eq!(accepted(format!("{REAL}1 1 1\n%%blockmul blocks 5x5\n1 1 1\n")).layout, None);
    let refused = |notes: &str| refused(text(notes));
    for malformed in ["", " blocks", " blocks 2", " blocks 2x2 3", " rows 2x2", " blocks 2 x 2", " blocks 2X2"] {
        let reason = refused(&format!("%\n%%blockmul{malformed}"));
        assert!(reason.starts_with("3: not \"%%blockmul blocks ROWSxCOLUMNS\""), "{malformed}: {reason}");
    }
    assert_eq!(refused("%%blockmul blocks 4x3"), "2: blocks of 4x3 do not fit the 6 rows and 6 columns of line 3");
    assert_eq!(refused("%\n%%blockmul blocks 3x4"), "3: blocks of 3x4 do not fit the 6 rows and 6 columns of line 4");
    for sides in ["0x2", "2x33", "99999999999x1"] {
        assert!(refused(&format!("%%blockmul blocks {sides}")).contains("each side must be 1 to 32"), "{sides}");
    }
    assert!(refused("%%blockmul blocks 2x-2").starts_with("2: the blocks' side: \"-2\" is not a whole number"));
    assert_eq!(
        refused("%%blockmul blocks 2x2\n%%blockmul blocks 2x2"),
        "3: a second note of blocks, the first is on line 2"
    );
}

/// Blocks of 5x3 elements in columns of very different lengths. The blocks are written in at least
/// three chunks, which may end anywhere in a block.
fn long() -> Cbc<f64> {
    let rows = 3000u32;
    let columns = [0, rows, 0, 0, 1, 2, rows - 1, 0, 700, 0];
    let mut col_ptr = vec![0];
    columns.iter().for_each(|&length| col_ptr.push(col_ptr.last().unwrap() + u64::from(length)));
    let row_idx: Vec<_> = columns.iter().flat_map(|&length| rows - length..rows).collect();
    let values = (0..row_idx.len() * 15).map(|i| i as f64 / 8.0 - 1000.0).collect();
    let pattern = Pattern::new(rows as usize, columns.len(), col_ptr, row_idx).unwrap();
    Cbc::new(pattern, BlockShape::new(5, 3).unwrap(), values).unwrap()
}

#[test]
fn chunks_join_to_the_same_text_on_any_number_of_threads() {
    let matrix = long();
    let scalars = matrix.to_scalars();
    let mut expected = format!("{REAL}%%blockmul blocks 5x3\n15000 30 {}\n", scalars.nnz());
    for col in 0..scalars.ncols() {
        for entry in scalars.pattern().entries(col) {
            let (row, value) = (scalars.pattern().row_idx()[entry] + 1, scalars.values()[entry]);
            expected += &format!("{row} {} {value}\n", col + 1);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut packed = Vec::new();
    for pool in &*POOLS {
        let (mut text, path) = (Vec::new(), folder.path().join("a.mtx.gz"));
        pool.install(|| write_to(&mut text, &matrix, &WriteOptions::default())).unwrap();
        assert!(text == expected.as_bytes());
        pool.install(|| write(&path, &matrix, &WriteOptions::default())).unwrap();
        packed.push(std::fs::read(&path).unwrap());
        assert_eq!(read(&path, &ReadOptions::default()).unwrap().matrix, scalars);
    }
    assert!(packed[0] == packed[1]);
}

#[test]
fn writing_reports_progress_and_returns_errors() {
    let matrix = long();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let report = Arc::clone(&reported);
    let progress = crate::Progress::new(move |done, total| report.lock().unwrap().push((done, total)));
    write_to(std::io::sink(), &matrix, &WriteOptions { progress: Some(progress), ..Default::default() }).unwrap();
    let (reported, total) = (reported.lock().unwrap(), (matrix.nnz() * 15) as u64);
    assert!(reported.is_sorted() && reported.len() < 6, "{reported:?}");
    assert_eq!(reported.last(), Some(&(total, total)));
    // The output has too little space for the matrix.
    let mut small = [0; 1 << 20];
    assert_eq!(write_to(&mut small[..], &matrix, &WriteOptions::default()).unwrap_err().kind(), ErrorKind::WriteZero);
}
