//! Matrices in groups of lines (GCOO): compared with dense products, and over every semiring.
use crate::common;
use crate::semirings::{algebras, bits, with_numbers};
use blockmul::{
    BlockShape, Csc, Device, Planned,
    dense::{DenseShape, DenseView, DenseViewMut, DeviceGcoo, GcooArrays, Grouping, Layout, Side},
    matrix::Pattern,
    multiply,
    plan::{Accum, ApplyGcoo, DenseMethod},
    reference,
};
use nalgebra::DMatrix;

/// Lines (rows or columns) of a group. The number of lines in a group divides few of the sizes and
/// is no power of two.
const LINES: usize = 3;

/// A matrix of small integers at a third of the places, whose second group of three lines and every
/// fifth group after it are empty, for rows and for columns. One row and one column are full at all
/// other places.
fn integers(n: usize) -> DMatrix<f64> {
    let is_empty = |line: usize| line / LINES % 5 == 1;
    let full = (n / 2..n).find(|&line| !is_empty(line));
    DMatrix::from_fn(n, n, |row, col| match (Some(row) == full || Some(col) == full, (row * 7 + col * 5) % 3) {
        _ if is_empty(row) || is_empty(col) => 0.0,
        (false, 1 | 2) => 0.0,
        _ => ((row * 31 + col * 17) % 9) as f64 - 10.0,
    })
}

/// A·D and D·A are each computed by groups of rows and by groups of columns. Sums of integers are
/// exact in any order.
#[test]
fn every_small_size_is_nalgebra_s_dense_product() {
    let device = common::device();
    for n in 1..=64 {
        let a = integers(n);
        let d = DMatrix::from_fn(n, n, |row, col| ((row * 13 + col * 29) % 23) as f64 - 11.0);
        let (on_left, on_right) = (&a * &d, &d * &a);
        let dense = device.upload_dense(&d).unwrap();
        let sparse = device.upload(&Csc::from_dense(&a).unwrap()).unwrap();
        for grouping in [Grouping::Rows(LINES), Grouping::Columns(LINES)] {
            let groups = DeviceGcoo::from_matrix(&sparse, grouping).unwrap();
            assert_eq!(multiply(&groups, &dense).unwrap().download().unwrap(), on_left, "{n}, {grouping}");
            assert_eq!(multiply(&dense, &groups).unwrap().download().unwrap(), on_right, "{n}, {grouping}");
            let again = DeviceGcoo::from_dense(&groups.to_dense(Layout::ByRows).unwrap(), grouping).unwrap();
            assert_eq!(again.download().unwrap(), coordinates(&a, grouping), "{n}, {grouping}");
        }
    }
}

/// Makes the arrays of a matrix in groups from their definition.
fn coordinates(a: &DMatrix<f64>, grouping: Grouping) -> GcooArrays<f64> {
    let (lines, across) = if grouping.of_columns() { (a.ncols(), a.nrows()) } else { (a.nrows(), a.ncols()) };
    let mut arrays = GcooArrays { group_ptr: vec![0], rows: vec![], cols: vec![], values: vec![] };
    for first in (0..lines).step_by(grouping.lines()) {
        for place in 0..across {
            for line in first..(first + grouping.lines()).min(lines) {
                let (row, col) = if grouping.of_columns() { (place, line) } else { (line, place) };
                if a[(row, col)] != 0.0 {
                    arrays.rows.push(row as u32);
                    arrays.cols.push(col as u32);
                    arrays.values.push(a[(row, col)]);
                }
            }
        }
        arrays.group_ptr.push(arrays.rows.len() as u32);
    }
    arrays
}

/// Computes A·D and D·A over every semiring that an element type supports, and adds them to C.
fn over_every_semiring<T: crate::semirings::Numbers>(device: &Device) {
    let (rows, cols, n) = (22, 17, 5);
    let places = (0..cols).flat_map(|col| (0..rows).map(move |row| (row, col)));
    let kept = places.filter(|&(row, col)| row / LINES % 5 != 1 && (row == 9 || (row * 7 + col * 5) % 3 == 0));
    let pattern = Csc::from_triplets(rows, cols, kept.map(|(row, col)| (row, col, 1.0))).unwrap();
    let pattern: &Pattern = pattern.pattern();
    let a = with_numbers::<T>(pattern, 5);
    let sparse = device.upload(&a).unwrap();
    for semiring in algebras::<T>() {
        for (side, grouping) in [(Side::Left, Grouping::Rows(LINES)), (Side::Right, Grouping::Columns(LINES))] {
            let groups = DeviceGcoo::from_matrix(&sparse, grouping).unwrap();
            let options = ApplyGcoo::with(&groups, n).semiring(semiring).method(DenseMethod::Gcoo);
            let plan = if side == Side::Right { options.from_right() } else { options }.plan().unwrap();
            let shape = |(rows, cols): (usize, usize)| DenseShape::new(rows, cols, Layout::ByRows);
            let (d_shape, c_shape) = (shape(plan.d_sides()), shape(plan.c_sides()));
            let d = crate::semirings::numbers::<T>(d_shape.len(), 7);
            let mut want = crate::semirings::numbers::<T>(c_shape.len(), 8);
            let d = DenseView::new(d_shape, &d).unwrap();
            let mut c = device.upload_dense(DenseView::new(c_shape, &want).unwrap()).unwrap();
            plan.execute((&groups, &device.upload_dense(d).unwrap()), Accum::into(&mut c).beta(1.0)).unwrap();
            let into = DenseViewMut::new(c_shape, &mut want).unwrap();
            reference::multiply_dense_over(semiring, side, &a, d, (1.0, 1.0), into).unwrap();
            assert_eq!(bits(&c.values().unwrap()), bits(&want), "{} over {semiring}, {grouping}", T::NAME);
        }
    }
}

#[test]
fn groups_have_every_semiring() {
    let device = common::device();
    over_every_semiring::<f32>(&device);
    over_every_semiring::<i32>(&device);
    over_every_semiring::<u8>(&device);
}

/// The device makes the same groups from a dense matrix as the host. Uploaded groups are
/// multiplied.
#[test]
fn arrays_of_the_host_are_multiplied() {
    let device = common::device();
    let a = integers(20);
    let dense = device.upload_dense(&a).unwrap();
    for grouping in [Grouping::Rows(LINES), Grouping::Columns(LINES)] {
        let arrays = coordinates(&a, grouping);
        let groups = DeviceGcoo::from_arrays(&device, (20, 20), BlockShape::SCALAR, grouping, &arrays).unwrap();
        assert_eq!(multiply(&groups, &dense).unwrap().download().unwrap(), &a * &a);
        assert_eq!(multiply(&dense, &groups).unwrap().download().unwrap(), &a * &a);
    }
}
