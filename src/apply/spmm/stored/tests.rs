//! Conversions from every kind of matrix to groups, and back.
use super::*;
use crate::{
    Bsr, Cbc, Csc, Csr, DeviceKind, Matrix, Planned, Semiring,
    apply::spmm::{DenseMethod, DenseNumbers, tests::matrix},
    device::test_device,
    matrix::{DenseShape, DenseView, DenseViewMut, GcooArrays, Layout, Side},
    planned::Accum,
    product::Factor,
    reference::multiply_dense_over,
    tuning::StageNumbers,
};

/// Whether `arrays` hold the entries in the order of groups.
fn is_grouped(grouping: Grouping, arrays: &GcooArrays<f32>) -> bool {
    let of_entry = |(&row, &col): (&u32, &u32)| match grouping {
        Grouping::Rows(lines) => (row as usize / lines, col, row),
        Grouping::Columns(lines) => (col as usize / lines, row, col),
    };
    let order: Vec<_> = arrays.rows.iter().zip(&arrays.cols).map(of_entry).collect();
    let mut ends = arrays.group_ptr.windows(2).enumerate();
    order.is_sorted() && ends.all(|(group, ends)| (ends[0]..ends[1]).all(|i| order[i as usize].0 == group))
}

fn from_dense_by(d: &DeviceDense<f32>, grouping: Grouping, together: bool) -> Result<DeviceGcoo<f32>> {
    let grouped = Grouped::from_dense_by(d.device(), d.buffer(), grouping, together)?;
    Ok(DeviceGcoo::of(grouped))
}

/// Groups of one line, of several, and of the largest number of lines.
fn groupings() -> Vec<Grouping> {
    [1, 4, 32].into_iter().flat_map(|lines| [Grouping::Rows(lines), Grouping::Columns(lines)]).collect()
}

#[test]
fn matrices_become_groups_and_come_back() -> Result<()> {
    [[0, 3], [3, 0], [1, 1], [23, 19]].into_iter().try_for_each(|size| come_back(size, &[], &groupings()))
}

/// Tests matrices of few lines, with groups of rows and of columns.
#[test]
fn small_matrices_become_groups_and_come_back() -> Result<()> {
    come_back([0, 3], &[], &[Grouping::Columns(4)])?;
    come_back([3, 0], &[], &[Grouping::Rows(4)])?;
    come_back([1, 1], &[], &[Grouping::Columns(1)])?;
    come_back([23, 19], &[], &[Grouping::Rows(1), Grouping::Columns(4), Grouping::Rows(32)])
}

#[test]
fn long_lines_become_groups_and_come_back() -> Result<()> {
    come_back([9, 1300], &[(4, 1100)], &groupings())
}

/// Checks all conversions of a matrix of `rows` x `cols` with long rows.
fn come_back([rows, cols]: [usize; 2], long: &[(usize, usize)], groupings: &[Grouping]) -> Result<()> {
    let device = test_device();
    let host: Csc<f32> =
        Csc::from_cbc(crate::apply::spmm::tests::matrix(rows, cols.max(1), crate::BlockShape::SCALAR, long)?)?;
    let by_rows = Csr::from_transpose(host.transpose());
    let (a, dense) = (device.upload(&host)?, host.as_cbc().to_dense());
    for &grouping in groupings {
        let of_columns = DeviceGcoo::from_matrix(&a, grouping)?;
        let of_rows = DeviceGcoo::from_matrix(&device.upload(&by_rows)?, grouping)?;
        let of_dense = DeviceGcoo::from_dense(&device.upload_dense(&dense)?, grouping)?;
        let transposed = device.upload_dense(&dense.transpose())?.into_transpose();
        assert_eq!(transposed.shape(), DenseShape::new(rows, cols.max(1), Layout::ByRows));
        let by_items = from_dense_by(&transposed, grouping, false)?;
        let by_groups = from_dense_by(&transposed, grouping, true)?;
        let want = of_columns.download()?;
        assert_eq!(want.values.len(), host.nnz());
        assert!(is_grouped(grouping, &want), "{grouping}");
        let sides = (rows, cols.max(1));
        let of_arrays = DeviceGcoo::from_arrays(&device, sides, BlockShape::SCALAR, grouping, &want)?;
        for gcoo in [&of_columns, &of_rows, &of_dense, &by_items, &by_groups, &of_arrays] {
            assert_eq!(gcoo.download()?, want, "{gcoo:?}");
            assert_eq!(gcoo.to_columns()?.download()?, host, "{gcoo:?}");
            assert_eq!(gcoo.to_rows()?.download()?, by_rows, "{gcoo:?}");
            for layout in [Layout::ByRows, Layout::ByColumns] {
                assert_eq!(gcoo.to_dense(layout)?.download()?, dense, "{gcoo:?} {layout}");
            }
        }
        assert!(of_arrays.grouped.groups.same_as(&of_columns.grouped.groups)?);
    }
    Ok(())
}

#[test]
fn small_matrices_without_entries_have_empty_groups() -> Result<()> {
    let device = test_device();
    let none = device.zero_dense::<f32>(DenseShape::new(2, 2, Layout::ByRows))?;
    let refused = DeviceGcoo::from_dense(&none, Grouping::Columns(33)).unwrap_err().to_string();
    assert_eq!(refused, "groups of 33 columns: 1 to 32 are supported");
    assert_eq!(DeviceGcoo::from_dense(&none, Grouping::Rows(4))?.nnz(), 0);
    let narrow = device.zero_dense::<f32>(DenseShape::new(5, 0, Layout::ByRows))?;
    for together in [false, true] {
        let groups = from_dense_by(&narrow, Grouping::Rows(4), together)?;
        assert_eq!(groups.download()?.group_ptr, [0, 0, 0]);
    }
    Ok(())
}

#[test]
fn wrong_arrays_are_refused_with_the_entry() -> Result<()> {
    let device = test_device();
    // The matrix of the paper's Figure 2, and errors in its arrays.
    let right = GcooArrays {
        group_ptr: vec![0, 3, 6],
        rows: vec![0, 1, 2, 0, 3, 3],
        cols: vec![0, 1, 0, 3, 2, 3],
        values: vec![7.0f32, 10.0, 9.0, 8.0, 6.0, 3.0],
    };
    let made = |arrays: &GcooArrays<f32>| {
        DeviceGcoo::from_arrays(&device, (4, 4), BlockShape::SCALAR, Grouping::Columns(2), arrays)
    };
    assert_eq!(made(&right)?.download()?, right);
    type Change = fn(&mut GcooArrays<f32>);
    let changes: [(Change, &str); 8] = [
        (|a| a.group_ptr = vec![0, 6], "group_ptr has 2 elements, 3 expected (2 groups of 2 columns, and 1)"),
        (|a| a.group_ptr[0] = 1, "groups of 2 columns: group_ptr runs from 1 to 6, not from 0 to 6"),
        (|a| a.group_ptr[1] = 7, "groups of 2 columns: group 1: group_ptr falls from 7 to 6"),
        (|a| a.cols.truncate(5), "cols has 5 elements, 6 expected (6 rows)"),
        (|a| a.values.push(1.0), "values has 7 elements, 6 expected (6 blocks of 1x1)"),
        (|a| a.cols[1] = 2, "groups of 2 columns: entry 1 at (1, 2) is not in group 0 of 4x4"),
        (|a| a.rows[5] = 4, "groups of 2 columns: entry 5 at (4, 3) is not in group 1 of 4x4"),
        (|a| a.rows[2] = 1, "groups of 2 columns: entry 2 at (1, 0) does not ascend in group 0"),
    ];
    for (change, want) in changes {
        let mut wrong = right.clone();
        change(&mut wrong);
        assert_eq!(made(&wrong).unwrap_err().to_string(), want);
    }
    // In a group of columns the rows ascend, but not the columns.
    let by_rows = DeviceGcoo::from_arrays(&device, (4, 4), BlockShape::SCALAR, Grouping::Rows(2), &right);
    assert!(by_rows.unwrap_err().to_string().starts_with("groups of 2 rows: entry 2 at (2, 0) is not in group 0"));
    Ok(())
}

#[test]
fn blocks_become_groups_and_come_back() -> Result<()> {
    let device = test_device();
    let shape = BlockShape::new(2, 3)?;
    let host: Cbc<f32> = matrix(11, 13, shape, &[(4, 13)])?;
    let by_rows = Bsr::from_transpose(host.transpose());
    for grouping in [Grouping::Rows(1), Grouping::Rows(3), Grouping::Columns(2)] {
        let of_columns = DeviceGcoo::from_matrix(&device.upload(&host)?, grouping)?;
        let of_rows = DeviceGcoo::from_matrix(&device.upload(&by_rows)?, grouping)?;
        let arrays = of_columns.download()?;
        assert_eq!(of_rows.download()?, arrays);
        let of_arrays = DeviceGcoo::from_arrays(&device, (11, 13), shape, grouping, &arrays)?;
        assert_eq!(of_arrays.download()?, arrays);
        for (entry, block) in arrays.values.chunks(6).enumerate() {
            let place = (arrays.rows[entry] as usize, arrays.cols[entry] as usize);
            let found = host.blocks().find(|&(row, col, _)| (row, col) == place);
            let found: Vec<f32> =
                found.into_iter().flat_map(|(_, _, block)| block.iter().copied().collect::<Vec<_>>()).collect();
            assert_eq!(found, block, "{place:?}");
        }
        assert_eq!(of_rows.to_matrix::<Cbc<f32>>()?.download()?, host);
        assert_eq!(of_columns.to_matrix::<Bsr<f32>>()?.download()?, by_rows);
        assert_eq!(of_arrays.to_dense(Layout::ByRows)?.download()?, host.as_cbc().to_dense());
        assert!(matches!(of_rows.to_rows(), Err(Error::BlockShape { rows: 2, cols: 3 })));
        let (shown, nnz) = (format!("{of_rows:?}"), host.nnz());
        assert_eq!(shown, format!("DeviceGcoo(11x13 entries of 2x3 in groups of {grouping}, {nnz} entries)"));
    }
    Ok(())
}

/// A way to multiply a matrix in groups.
#[derive(Debug, Clone, Copy)]
struct Case {
    side: Side,
    transposed: bool,
    method: DenseMethod,
    semiring: Semiring,
    layouts: [Layout; 2],
    gap: usize,
}

const PLAIN: Case = Case {
    side: Side::Left,
    transposed: false,
    method: DenseMethod::Gcoo,
    semiring: Semiring::PlusTimes,
    layouts: [Layout::ByRows; 2],
    gap: 0,
};

/// Checks that a product has the reference's bits with the numbers of each kind of device, and that
/// it takes the expected method.
fn check<M: Matrix>(host: &M, grouping: Grouping, n: usize, case: Case, expected: DenseMethod) -> Result<()> {
    let device = test_device();
    let a = DeviceGcoo::from_matrix(&device.upload(host)?, grouping)?;
    for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
        let numbers = DenseNumbers::of(kind).within(device.info().max_group_size);
        let options = ApplyGcoo::with(&a, n).method(case.method).semiring(case.semiring).numbers(numbers);
        let options = options.layouts(case.layouts[0], case.layouts[1]);
        let options = if case.transposed { options.transposed() } else { options };
        let plan = if case.side == Side::Right { options.from_right() } else { options }.plan()?;
        assert_eq!(plan.method(), expected, "{case:?}: {}", plan.why());
        let shape = |(rows, cols), layout| {
            let tight = DenseShape::new(rows, cols, layout);
            tight.with_leading(tight.leading + case.gap)
        };
        let [d_shape, c_shape] = [(plan.d_sides(), case.layouts[0]), (plan.c_sides(), case.layouts[1])]
            .map(|(sides, layout)| shape(sides, layout));
        let number = |seed: usize| move |i: usize| M::Element::from_f64(((i * 37 + seed) % 101) as f64 / 32.0 - 1.5);
        let d: Vec<_> = (0..d_shape.len()).map(number(1)).collect();
        let mut want: Vec<_> = (0..c_shape.len()).map(number(2)).collect();
        let d = DenseView::new(d_shape, &d)?;
        let mut c = device.upload_dense(DenseView::new(c_shape, &want)?)?;
        let (alpha, beta) = if case.semiring == Semiring::PlusTimes { (0.75, -1.25) } else { (1.0, 1.0) };
        plan.execute((&a, &device.upload_dense(d)?), Accum::into(&mut c).alpha(alpha).beta(beta))?;
        let factor = Factor { operand: host, transposed: case.transposed };
        let into = DenseViewMut::new(c_shape, &mut want)?;
        multiply_dense_over(case.semiring, case.side, factor, d, (alpha, beta), into)?;
        let bytes = |values: &[M::Element]| bytemuck::cast_slice::<M::Element, u8>(values).to_vec();
        assert_eq!(bytes(&c.values()?), bytes(&want), "{case:?} on a {kind:?}");
    }
    Ok(())
}

/// Reads groups as they are and as compressed lines, with A on both sides, and with lines that are
/// cut.
#[test]
fn groups_have_the_bits_of_the_reference() -> Result<()> {
    let (gcoo, rows) = (DenseMethod::Gcoo, DenseMethod::Rows);
    let scalars: Csr<f64> = Csr::from_transpose(Csc::from_cbc(matrix(61, 43, BlockShape::SCALAR, &[(7, 40)])?)?);
    let by_columns = [Layout::ByColumns; 2];
    let of_rows = Grouping::Rows;
    check(&scalars, of_rows(4), 5, PLAIN, gcoo)?;
    check(&scalars, of_rows(3), 4, Case { side: Side::Right, transposed: true, layouts: by_columns, ..PLAIN }, gcoo)?;
    check(&scalars, of_rows(4), 3, Case { transposed: true, gap: 1, ..PLAIN }, gcoo)?;
    check(&scalars, of_rows(32), 2, Case { side: Side::Right, method: DenseMethod::Auto, ..PLAIN }, rows)?;
    check(&scalars, of_rows(4), 4, Case { method: rows, layouts: by_columns, ..PLAIN }, rows)?;
    let long: Csc<f32> = Csc::from_cbc(matrix(9, 1300, BlockShape::SCALAR, &[(4, 1100), (5, 1024)])?)?;
    check(&long, of_rows(4), 6, PLAIN, gcoo)?;
    check(&long, of_rows(4), 6, Case { method: rows, transposed: true, ..PLAIN }, rows)
}

/// Reads groups of columns as they are for D·A and Aᵀ·D, and as compressed lines for A·D.
#[test]
fn groups_of_columns_have_the_bits_of_the_reference() -> Result<()> {
    let gcoo = DenseMethod::Gcoo;
    let scalars: Csr<f64> = Csr::from_transpose(Csc::from_cbc(matrix(61, 43, BlockShape::SCALAR, &[(7, 40)])?)?);
    let by_columns = [Layout::ByColumns; 2];
    let (right, of_columns) = (Case { side: Side::Right, ..PLAIN }, Grouping::Columns);
    check(&scalars, of_columns(4), 5, right, gcoo)?;
    check(&scalars, of_columns(3), 4, Case { layouts: by_columns, gap: 1, ..right }, gcoo)?;
    check(&scalars, of_columns(4), 3, Case { transposed: true, layouts: by_columns, ..PLAIN }, gcoo)?;
    check(&scalars, of_columns(4), 3, PLAIN, gcoo)?;
    check(&scalars, of_columns(4), 3, Case { method: DenseMethod::Auto, ..right }, DenseMethod::Rows)?;
    let blocks: Cbc<f32> = matrix(23, 17, BlockShape::new(2, 3)?, &[(4, 17)])?;
    check(&blocks, of_columns(2), 5, right, gcoo)?;
    check(&blocks, of_columns(1), 4, Case { transposed: true, semiring: Semiring::MaxPlus, ..PLAIN }, gcoo)
}

/// Checks that groups are read as they are. A plan on compressed lines may be called `gcoo`, too.
#[test]
fn groups_along_the_lines_of_a_product_are_not_sorted() -> Result<()> {
    let device = test_device();
    let a: Csc<f64> = Csc::from_cbc(matrix(20, 30, BlockShape::SCALAR, &[])?)?;
    let a = device.upload(&a)?;
    for grouping in [Grouping::Rows(4), Grouping::Columns(4)] {
        let groups = DeviceGcoo::from_matrix(&a, grouping)?;
        for (side, transposed) in [(Side::Left, false), (Side::Left, true), (Side::Right, false), (Side::Right, true)] {
            let options = ApplyGcoo::with(&groups, 2).method(DenseMethod::Gcoo);
            let options = if transposed { options.transposed() } else { options };
            let options = if side == Side::Right { options.from_right() } else { options };
            let along = (side == Side::Left) != transposed;
            assert_eq!(
                options.plan()?.reads_groups(),
                along != grouping.of_columns(),
                "{grouping} {side:?} {transposed}"
            );
        }
    }
    Ok(())
}

#[test]
fn groups_of_blocks_have_the_bits_of_the_reference() -> Result<()> {
    let (gcoo, rows, of_rows) = (DenseMethod::Gcoo, DenseMethod::Rows, Grouping::Rows);
    let blocks: Cbc<f64> = matrix(23, 17, BlockShape::new(2, 3)?, &[(4, 17)])?;
    let layouts = [Layout::ByRows, Layout::ByColumns];
    check(&blocks, of_rows(2), 5, Case { gap: 1, layouts, ..PLAIN }, gcoo)?;
    check(&blocks, of_rows(3), 4, Case { side: Side::Right, method: rows, ..PLAIN }, rows)?;
    let case = Case { semiring: Semiring::MaxPlus, side: Side::Right, transposed: true, ..PLAIN };
    check(&blocks, of_rows(2), 4, case, gcoo)
}

#[test]
fn semirings_and_empty_matrices_in_groups() -> Result<()> {
    let (gcoo, grouping) = (DenseMethod::Gcoo, Grouping::Rows(4));
    let a: Csr<i32> = Csr::from_transpose(Csc::from_cbc(matrix(20, 30, BlockShape::SCALAR, &[])?)?);
    check(&a, grouping, 3, Case { semiring: Semiring::PlusSecond, ..PLAIN }, gcoo)?;
    let a: Csr<f32> = Csr::from_transpose(Csc::from_cbc(matrix(20, 30, BlockShape::SCALAR, &[])?)?);
    let case = Case { semiring: Semiring::MinPlus, side: Side::Right, transposed: true, ..PLAIN };
    check(&a, grouping, 3, case, gcoo)?;
    for (rows, cols, n) in [(0, 5, 3), (5, 0, 3), (5, 7, 0)] {
        check(&Csr::from_transpose(Csc::<f64>::from_triplets(cols, rows, [])?), grouping, n, PLAIN, gcoo)?;
    }
    Ok(())
}

#[test]
fn groups_take_new_values_of_their_matrix() -> Result<()> {
    let device = test_device();
    let host: Cbc<f64> = matrix(11, 13, BlockShape::new(2, 3)?, &[])?;
    let mut a = device.upload(&host)?;
    let mut by_rows = device.upload(&Bsr::from_transpose(host.transpose()))?;
    for grouping in [Grouping::Rows(3), Grouping::Columns(2)] {
        let (mut one, mut other) =
            (DeviceGcoo::from_matrix(&a, grouping)?, DeviceGcoo::from_matrix(&by_rows, grouping)?);
        let values: Vec<f64> = (0..host.nnz() * 6).map(|i| i as f64 * 0.5).collect();
        a.write_values(&values)?;
        let changed = a.download()?;
        by_rows.write_values(Bsr::from_transpose(changed.transpose()).values())?;
        one.update(&a)?;
        other.update(&by_rows)?;
        assert_eq!(one.to_matrix::<Cbc<f64>>()?.download()?, changed);
        assert_eq!(other.to_matrix::<Cbc<f64>>()?.download()?, changed);
        let refused = one.update(&by_rows).unwrap_err();
        assert!(refused.to_string().ends_with("is not of this matrix type"), "{refused}");
        let fewer = device.upload(&matrix::<f64>(11, 12, BlockShape::new(2, 3)?, &[])?)?;
        assert!(matches!(one.update(&fewer), Err(Error::PlanPattern(_))));
        let mut of_arrays =
            DeviceGcoo::from_arrays(&device, (11, 13), BlockShape::new(2, 3)?, grouping, &one.download()?)?;
        let refused = of_arrays.update(&a).unwrap_err().to_string();
        assert_eq!(refused, "these groups were not made of a compressed matrix");
        assert!(one.device_bytes() > of_arrays.device_bytes());
    }
    Ok(())
}

#[test]
fn values_change_and_places_do_not() -> Result<()> {
    let device = test_device();
    let host: Csc<f64> = Csc::from_cbc(matrix(20, 30, BlockShape::SCALAR, &[])?)?;
    let on_device = device.upload(&host)?;
    let mut a = DeviceGcoo::from_matrix(&on_device, Grouping::Rows(4))?;
    let plan = ApplyGcoo::with(&a, 2).method(DenseMethod::Gcoo).plan()?;
    let d: Vec<f64> = (0..60).map(f64::from).collect();
    let d = device.upload_dense(DenseView::new(DenseShape::new(30, 2, Layout::ByRows), &d)?)?;
    let (mut c, mut c_of_same) = (plan.output()?, plan.output()?);
    // Converts the same places a second time.
    let same = DeviceGcoo::from_matrix(&on_device, Grouping::Rows(4))?;
    plan.execute((&a, &d), &mut c)?;
    plan.execute((&same, &d), &mut c_of_same)?;
    assert_eq!(c_of_same.values()?, c.values()?);
    // Groups of other rows, and a matrix with the same number of entries in other places.
    let rows = |col: usize| host.pattern().column(col).iter().map(move |&row| (19 - row as usize, col, 1.0));
    let mirrored = Csc::from_triplets(20, 30, (0..30).flat_map(rows))?;
    assert_eq!(mirrored.nnz(), host.nnz());
    let fives = DeviceGcoo::from_matrix(&on_device, Grouping::Rows(5))?;
    for other in [fives, DeviceGcoo::from_matrix(&device.upload(&mirrored)?, Grouping::Rows(4))?] {
        let refused = plan.execute((&other, &d), &mut c).unwrap_err().to_string();
        assert_eq!(refused, "A's entries are not in the groups and places that the product was planned for");
    }
    let refused = plan.execute((&a, &c), &mut plan.output()?).unwrap_err().to_string();
    assert!(refused.starts_with("D is 20x2, 30x2 expected"), "{refused}");
    let refused = a.write_values(&[1.0]).unwrap_err();
    assert!(matches!(refused, Error::Length { found: 1, expected, .. } if expected == host.nnz()));
    a.write_values(&vec![2.0; host.nnz()])?;
    assert_eq!(a.to_columns()?.download()?.values(), vec![2.0; host.nnz()]);
    assert!(plan.why().starts_with("gcoo, as asked for: groups of 4 rows use a row of D "), "{}", plan.why());
    Ok(())
}
