//! Groups made from every kind of matrix, and made back.
use super::*;
use crate::{
    Bsr, Cbc, Csc, Csr, DeviceKind, Planned, Semiring,
    apply::spmm::{DenseMethod, tests::matrix},
    device::test_device,
    matrix::{DenseView, DenseViewMut, Layout, Side},
    planned::Accum,
    reference::multiply_dense_over,
    tuning::Numbers,
};

#[test]
fn small_matrices_become_groups_and_come_back() -> Result<()> {
    let device = test_device();
    for (rows, cols, long) in
        [(0, 3, vec![]), (3, 0, vec![]), (1, 1, vec![]), (23, 19, vec![]), (9, 1300, vec![(4, 1100)])]
    {
        let host: Csc<f32> =
            Csc::from_cbc(crate::apply::spmm::tests::matrix(rows, cols.max(1), crate::BlockShape::SCALAR, &long)?)?;
        let by_rows = Csr::from_transpose(host.transpose());
        let (a, dense) = (device.upload(&host)?, host.as_cbc().to_dense());
        for group_rows in [1, 4, 32] {
            let of_columns = DeviceGcoo::from_matrix(&a, group_rows)?;
            let of_rows = DeviceGcoo::from_matrix(&device.upload(&by_rows)?, group_rows)?;
            let of_dense = DeviceGcoo::from_dense(&device.upload_dense(&dense)?, group_rows)?;
            let transposed = device.upload_dense(&dense.transpose())?.into_transpose();
            assert_eq!(transposed.shape(), DenseShape::new(rows, cols.max(1), Layout::ByRows));
            let by_items = DeviceGcoo::from_dense_by(&transposed, group_rows, false)?;
            let by_groups = DeviceGcoo::from_dense_by(&transposed, group_rows, true)?;
            let want = of_columns.download()?;
            assert_eq!(want.values.len(), host.nnz());
            for gcoo in [&of_columns, &of_rows, &of_dense, &by_items, &by_groups] {
                assert_eq!(gcoo.download()?, want, "{gcoo:?}");
                assert_eq!(gcoo.to_columns()?.download()?, host, "{gcoo:?}");
                assert_eq!(gcoo.to_rows()?.download()?, by_rows, "{gcoo:?}");
            }
            let order: Vec<_> =
                (0..host.nnz()).map(|i| (want.rows[i] as usize / group_rows, want.cols[i], want.rows[i])).collect();
            assert!(order.is_sorted());
            let ends = want.group_ptr.windows(2).enumerate();
            assert!(ends.clone().all(|(group, ends)| (ends[0]..ends[1]).all(|i| order[i as usize].0 == group)));
        }
    }
    let none = device.zero_dense::<f32>(DenseShape::new(2, 2, Layout::ByRows))?;
    let refused = DeviceGcoo::from_dense(&none, 33).unwrap_err().to_string();
    assert_eq!(refused, "groups of 33 rows: 1 to 32 are supported");
    assert_eq!(DeviceGcoo::from_dense(&none, 4)?.nnz(), 0);
    let narrow = device.zero_dense::<f32>(DenseShape::new(5, 0, Layout::ByRows))?;
    for together in [false, true] {
        assert_eq!(DeviceGcoo::from_dense_by(&narrow, 4, together)?.download()?.group_ptr, [0, 0, 0]);
    }
    Ok(())
}

#[test]
fn blocks_become_groups_and_come_back() -> Result<()> {
    let device = test_device();
    let host: Cbc<f32> = matrix(11, 13, BlockShape::new(2, 3)?, &[(4, 13)])?;
    let by_rows = Bsr::from_transpose(host.transpose());
    for group_rows in [1, 3] {
        let of_columns = DeviceGcoo::from_matrix(&device.upload(&host)?, group_rows)?;
        let of_rows = DeviceGcoo::from_matrix(&device.upload(&by_rows)?, group_rows)?;
        let arrays = of_columns.download()?;
        assert_eq!(of_rows.download()?, arrays);
        for (entry, block) in arrays.values.chunks(6).enumerate() {
            let place = (arrays.rows[entry] as usize, arrays.cols[entry] as usize);
            let found = host.blocks().find(|&(row, col, _)| (row, col) == place);
            let found: Vec<f32> =
                found.into_iter().flat_map(|(_, _, block)| block.iter().copied().collect::<Vec<_>>()).collect();
            assert_eq!(found, block, "{place:?}");
        }
        assert_eq!(of_rows.to_matrix::<Cbc<f32>>()?.download()?, host);
        assert_eq!(of_columns.to_matrix::<Bsr<f32>>()?.download()?, by_rows);
        assert!(matches!(of_rows.to_rows(), Err(Error::BlockShape { rows: 2, cols: 3 })));
        let (shown, nnz) = (format!("{of_rows:?}"), host.nnz());
        assert_eq!(shown, format!("DeviceGcoo(11x13 entries of 2x3 in groups of {group_rows} rows, {nnz} entries)"));
    }
    Ok(())
}

/// How a matrix in groups is multiplied.
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

/// Whether a product has the reference's bits on each kind of device's numbers, by the way
/// expected.
fn check<M: Matrix>(host: &M, group_rows: usize, n: usize, case: Case, expected: DenseMethod) -> Result<()> {
    let device = test_device();
    let a = DeviceGcoo::from_matrix(&device.upload(host)?, group_rows)?;
    for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
        let numbers = Numbers::of(kind).within(device.info().max_group_size);
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
        let into = (beta, DenseViewMut::new(c_shape, &mut want)?);
        multiply_dense_over(case.semiring, case.side, case.transposed, (alpha, host, d), into)?;
        let bytes = |values: &[M::Element]| bytemuck::cast_slice::<M::Element, u8>(values).to_vec();
        assert_eq!(bytes(&c.values()?), bytes(&want), "{case:?} on a {kind:?}");
    }
    Ok(())
}

/// Groups as they are and as compressed lines, on both sides, with lines that are cut.
#[test]
fn groups_have_the_bits_of_the_reference() -> Result<()> {
    let (gcoo, rows) = (DenseMethod::Gcoo, DenseMethod::Rows);
    let scalars: Csr<f64> = Csr::from_transpose(Csc::from_cbc(matrix(61, 43, BlockShape::SCALAR, &[(7, 40)])?)?);
    let by_columns = [Layout::ByColumns; 2];
    check(&scalars, 4, 5, PLAIN, gcoo)?;
    check(&scalars, 3, 4, Case { side: Side::Right, transposed: true, layouts: by_columns, ..PLAIN }, gcoo)?;
    check(&scalars, 4, 3, Case { transposed: true, gap: 1, ..PLAIN }, gcoo)?;
    check(&scalars, 32, 2, Case { side: Side::Right, method: DenseMethod::Auto, ..PLAIN }, rows)?;
    check(&scalars, 4, 4, Case { method: rows, layouts: by_columns, ..PLAIN }, rows)?;
    let long: Csc<f32> = Csc::from_cbc(matrix(9, 1300, BlockShape::SCALAR, &[(4, 1100), (5, 1024)])?)?;
    check(&long, 4, 6, PLAIN, gcoo)?;
    check(&long, 4, 6, Case { method: rows, transposed: true, ..PLAIN }, rows)
}

#[test]
fn groups_of_blocks_have_the_bits_of_the_reference() -> Result<()> {
    let (gcoo, rows) = (DenseMethod::Gcoo, DenseMethod::Rows);
    let blocks: Cbc<f64> = matrix(23, 17, BlockShape::new(2, 3)?, &[(4, 17)])?;
    let layouts = [Layout::ByRows, Layout::ByColumns];
    check(&blocks, 2, 5, Case { gap: 1, layouts, ..PLAIN }, gcoo)?;
    check(&blocks, 3, 4, Case { side: Side::Right, method: rows, ..PLAIN }, rows)?;
    check(&blocks, 2, 4, Case { semiring: Semiring::MaxPlus, side: Side::Right, transposed: true, ..PLAIN }, gcoo)
}

#[test]
fn semirings_and_empty_matrices_in_groups() -> Result<()> {
    let gcoo = DenseMethod::Gcoo;
    let a: Csr<i32> = Csr::from_transpose(Csc::from_cbc(matrix(20, 30, BlockShape::SCALAR, &[])?)?);
    check(&a, 4, 3, Case { semiring: Semiring::PlusSecond, ..PLAIN }, gcoo)?;
    let a: Csr<f32> = Csr::from_transpose(Csc::from_cbc(matrix(20, 30, BlockShape::SCALAR, &[])?)?);
    check(&a, 4, 3, Case { semiring: Semiring::MinPlus, side: Side::Right, transposed: true, ..PLAIN }, gcoo)?;
    for (rows, cols, n) in [(0, 5, 3), (5, 0, 3), (5, 7, 0)] {
        check(&Csr::from_transpose(Csc::<f64>::from_triplets(cols, rows, [])?), 4, n, PLAIN, gcoo)?;
    }
    Ok(())
}

#[test]
fn values_change_and_places_do_not() -> Result<()> {
    let device = test_device();
    let host: Csc<f64> = Csc::from_cbc(matrix(20, 30, BlockShape::SCALAR, &[])?)?;
    let on_device = device.upload(&host)?;
    let mut a = DeviceGcoo::from_matrix(&on_device, 4)?;
    let plan = ApplyGcoo::with(&a, 2).method(DenseMethod::Gcoo).plan()?;
    let d: Vec<f64> = (0..60).map(f64::from).collect();
    let d = device.upload_dense(DenseView::new(DenseShape::new(30, 2, Layout::ByRows), &d)?)?;
    let (mut c, mut c_of_same) = (plan.output()?, plan.output()?);
    // The same places, converted anew.
    let same = DeviceGcoo::from_matrix(&on_device, 4)?;
    plan.execute((&a, &d), &mut c)?;
    plan.execute((&same, &d), &mut c_of_same)?;
    assert_eq!(c_of_same.values()?, c.values()?);
    // Groups of other rows; as many entries elsewhere.
    let rows = |col: usize| host.pattern().column(col).iter().map(move |&row| (19 - row as usize, col, 1.0));
    let mirrored = Csc::from_triplets(20, 30, (0..30).flat_map(rows))?;
    assert_eq!(mirrored.nnz(), host.nnz());
    for other in [DeviceGcoo::from_matrix(&on_device, 5)?, DeviceGcoo::from_matrix(&device.upload(&mirrored)?, 4)?] {
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
