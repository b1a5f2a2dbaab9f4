//! Checks of dense matrices and of groups in files, of tuning files, and of arrays of matrices in
//! groups.
use super::{UNPROVEN, bounded, check_refusal, gzip, is_packed, proven, unpacked_bytes, written};
use blockmul::{
    BlockShape, Device, Error,
    dense::{AnyGcoo, DenseShape, DenseView, DeviceGcoo, GcooArrays, Grouping, Layout},
    device::DeviceKind,
    extra::tuning::merged_numbers,
    io::{ReadOptions, dense, gcoo},
};
use std::sync::LazyLock;

/// Checks NumPy's arrays, plain or compressed.
pub fn npy(bytes: &[u8]) {
    let options = ReadOptions { max_unproven_lines: UNPROVEN, ..Default::default() };
    let read = |bytes: &[u8]| dense::read_npy_from(bytes, "input", &options);
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let outcome = bounded(unpacked_bytes(bytes), || read(bytes));
    if !is_packed(bytes) {
        match (&outcome, &read(&gzip(bytes))) {
            (Ok(left), Ok(right)) => assert_eq!(bits(left.matrix.as_slice()), bits(right.matrix.as_slice())),
            (Err(left), Err(right)) => assert_eq!(left.to_string(), right.to_string()),
            _ => panic!("read differently when packed"),
        }
    }
    match outcome {
        Ok(file) => {
            let (rows, cols) = file.matrix.shape();
            let values: Vec<f64> = match file.layout {
                Layout::ByRows => file.matrix.transpose().as_slice().to_vec(),
                Layout::ByColumns => file.matrix.as_slice().to_vec(),
            };
            let view = DenseView::new(DenseShape::new(rows, cols, file.layout), &values).expect("all elements");
            let copy = read(&written(|to| dense::write_npy_to(to, view))).expect("our own file");
            assert_eq!((copy.matrix.shape(), copy.layout), ((rows, cols), file.layout));
            assert_eq!(bits(copy.matrix.as_slice()), bits(file.matrix.as_slice()));
        }
        Err(error) => check_refusal(&error, "input: "),
    }
}

/// Checks files of matrices in groups, plain or compressed.
pub fn gcoo_file(bytes: &[u8]) {
    let options = ReadOptions { max_unproven_lines: UNPROVEN, ..Default::default() };
    let read = |bytes: &[u8]| gcoo::read_from(bytes, "input", &options);
    let outcome = bounded(unpacked_bytes(bytes), || read(bytes));
    if !is_packed(bytes) {
        match (&outcome, &read(&gzip(bytes))) {
            (Ok(left), Ok(right)) => assert_same_groups(left, right),
            (Err(left), Err(right)) => assert_eq!(left.to_string(), right.to_string()),
            _ => panic!("read differently when compressed"),
        }
    }
    match outcome {
        Ok(groups) => {
            let copy = gcoo::read_from(&written(|to| gcoo::write_to(to, &groups))[..], "copy", &proven());
            assert_same_groups(&groups, &copy.expect("our own file"));
        }
        Err(error) => check_refusal(&error, "input: "),
    }
}

/// Compares groups by the bytes of their files, in which all NaNs are equal.
fn assert_same_groups(left: &AnyGcoo, right: &AnyGcoo) {
    let [left, right] = [left, right].map(|groups| written(|to| gcoo::write_to(to, groups)));
    assert!(left == right, "{left:?} is not {right:?}");
}

/// Checks tuning files: a file that is accepted does not change when it is written and read.
pub fn tuning(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let merged = |text: &str| merged_numbers(text, DeviceKind::Gpu, "input", &[]);
    match bounded(bytes.len() as u64, || merged(text)) {
        Ok(copy) => assert_eq!(merged(&copy).expect("our own file"), copy),
        Err(error) => assert!(matches!(error, Error::Argument(_)), "{error:?}"),
    }
}

static DEVICE: LazyLock<Device> = LazyLock::new(|| Device::auto().expect("an OpenCL device"));

/// Checks the arrays of a matrix in groups. The first bytes of the input give the matrix's sides
/// and the size of its groups.
pub fn gcoo(bytes: &[u8]) {
    let Some((&[rows, cols, block_rows, block_cols, lines, groups, entries], rest)) = bytes.split_first_chunk() else {
        return;
    };
    // The highest values of a byte stand for numbers near the largest number of the type.
    let wide = |byte: u8| if byte < 0xf0 { u32::from(byte) } else { u32::MAX - u32::from(0xff - byte) };
    let mut rest = rest.iter().map(|&byte| wide(byte)).chain(std::iter::repeat(0));
    let mut take = |count: u8| rest.by_ref().take(count.into()).collect::<Vec<u32>>();
    let side = |byte: u8| usize::from(byte) % BlockShape::MAX_SIDE + 1;
    let shape = BlockShape::new(side(block_rows), side(block_cols)).expect("sides in their bounds");
    let of = usize::from(lines) / 2;
    let grouping = if lines % 2 == 0 { Grouping::Rows(of) } else { Grouping::Columns(of) };
    let (group_ptr, rows_of, cols_of) = (take(groups), take(entries), take(entries));
    let count = rows_of.len() * shape.area() - usize::from(take(1)[0] == 7 && !rows_of.is_empty());
    let values = (0..count).map(|i| i as f64 + 1.0).collect();
    let arrays = GcooArrays { group_ptr, rows: rows_of, cols: cols_of, values };
    let sides = (wide(rows) as usize, wide(cols) as usize);
    match DeviceGcoo::from_arrays(&DEVICE, sides, shape, grouping, &arrays) {
        Ok(groups) => {
            assert!(sides.0 * shape.rows() < 1 << 32 && sides.1 * shape.cols() < 1 << 32);
            assert_eq!(groups.download().expect("a copy"), arrays);
            if sides.0 * sides.1 * shape.area() <= 1 << 16 {
                check_dense(&groups, sides, shape, &arrays);
            }
        }
        Err(Error::Argument(_) | Error::Length { .. } | Error::TooLarge { .. } | Error::Memory { .. }) => {}
        Err(error) => panic!("{error:?}"),
    }
}

/// Compares the dense form of `groups` with a dense matrix that is filled entry by entry from
/// `arrays`.
fn check_dense(groups: &DeviceGcoo<f64>, sides: (usize, usize), shape: BlockShape, arrays: &GcooArrays<f64>) {
    let of_rows = DenseShape::new(sides.0 * shape.rows(), sides.1 * shape.cols(), Layout::ByRows);
    let mut want = vec![0.0; of_rows.len()];
    let places = arrays.rows.iter().zip(&arrays.cols).zip(arrays.values.chunks(shape.area()));
    for ((&row, &col), block) in places {
        for (i, value) in block.iter().enumerate() {
            let (row, col) =
                (row as usize * shape.rows() + i % shape.rows(), col as usize * shape.cols() + i / shape.rows());
            want[of_rows.at(row, col)] = *value;
        }
    }
    assert_eq!(groups.to_dense(Layout::ByRows).and_then(|dense| dense.values()).expect("a dense matrix"), want);
}
