//! Groups made from every kind of matrix, and made back.
use super::*;
use crate::{
    device::test_device,
    matrix::{DenseShape, Layout},
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
    let blocks = device.upload(&crate::apply::spmm::tests::matrix::<f32>(4, 4, crate::BlockShape::new(2, 2)?, &[])?)?;
    assert!(DeviceGcoo::from_matrix(&blocks, 4).is_err());
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
