//! Tests of every kernel in its GPU form and its CPU form, on any device.
use super::*;
use crate::{
    Cbc, Element, Matrix, Part, Planned, Result,
    device::test_device,
    generate::{PoseChain, Uniform},
    matrix,
};
use half::f16;

fn same<T: Element>(got: &Cbc<T>, want: &Cbc<T>, what: &str) {
    assert_eq!((got.pattern(), got.shape()), (want.pattern(), want.shape()), "{what}");
    let bits = |m: &Cbc<T>| -> Vec<u8> {
        let blocks = (0..m.nnz()).flat_map(|entry| m.as_cbc().block(entry).to_vec());
        bytemuck::cast_slice(&blocks.collect::<Vec<_>>()).to_vec()
    };
    assert_eq!(bits(got), bits(want), "{what}");
}

fn moved_and_added<T: Element<Arithmetic: From<f32>>>(
    rows: usize,
    cols: usize,
    group_size: usize,
    blocks: usize,
) -> Result<()> {
    let (device, shape) = (test_device(), BlockShape::new(rows, cols)?);
    let (grid, what) = (Elementwise::forced(shape, group_size, blocks), format!("{shape} {} {blocks}", T::NAME));
    let real = |seed| -> Result<Cbc<T>> {
        Uniform { rows: 9, cols: 11, per_column: 3, shape, seed, ..Default::default() }
            .matrix()?
            .cast()
            .with_alignment(32)
    };
    let (a, b) = (real(1)?, real(2)?);
    let (da, db) = (device.upload(&a)?, device.upload(&b)?);

    let plan = Transpose::tuned(&da.pattern(), da.type_of(), grid)?;
    let mut c = plan.output()?;
    plan.execute(&da, &mut c)?;
    same(&c.download()?, &a.transpose(), &what);

    let plan = Add::tuned([&da.pattern(), &db.pattern()], da.type_of(), grid)?;
    let mut c = plan.output()?;
    plan.execute([(-0.5, &da), (0.25, &db)], &mut c)?;
    same(&c.download()?, &matrix::add((-0.5).into(), &a, 0.25.into(), &b)?, &what);
    Ok(())
}

fn folded_and_handed_over(side: usize, group_size: usize, blocks: usize) -> Result<()> {
    let (device, grid) = (test_device(), Elementwise::forced(BlockShape::new(side, side)?, group_size, blocks));
    let h = PoseChain { poses: 9, closures: 6, freedom: side, ..Default::default() }.matrix()?;
    let lower = h.blocks().filter(|&(row, col, _)| row >= col).map(|(row, col, block)| (row, col, block.into_owned()));
    let lower = Cbc::from_triplets(9, 9, h.shape(), lower)?;
    let (dh, order) = (device.upload(&lower)?, [4, 8, 0, 2, 6, 1, 3, 7, 5]);
    let plan = Permute::symmetric_tuned(&dh.pattern(), dh.type_of(), &order, Part::Lower, grid)?;
    let mut c = plan.output()?;
    plan.execute(&dh, &mut c)?;
    let (c, dense) = (c.download()?, h.to_dense());
    for (row, col, block) in c.blocks() {
        let want = dense.view((order[row] * side, order[col] * side), (side, side));
        assert!(row >= col && block == want, "{side}: block ({row}, {col})");
    }

    for (part, map) in [(Part::Lower, ScalarMap::lower(&lower)?), (Part::Full, ScalarMap::full(&lower)?)] {
        let plan = Scalars::tuned(&dh.pattern(), dh.type_of(), part, grid)?;
        let (mut values, mut want) = (plan.output()?, vec![0.0; map.nnz()]);
        plan.execute(&dh, &mut values)?;
        map.copy_values(&lower, &mut want)?;
        assert_eq!(values.download()?, want, "{side}, {part:?}");
    }
    Ok(())
}

#[test]
fn small_items_that_take_an_element_or_some_blocks() -> Result<()> {
    // With one element per item, blocks are larger than a work-group, of equal size, and smaller.
    // With several blocks per item, the last item has fewer blocks.
    for (group_size, blocks) in [(16, 0), (1, 5)] {
        for (rows, cols) in [(1, 1), (2, 3), (4, 4), (7, 5)] {
            moved_and_added::<f64>(rows, cols, group_size, blocks)?;
        }
        moved_and_added::<f16>(2, 3, group_size, blocks)?;
        for side in [1, 3, 4] {
            folded_and_handed_over(side, group_size, blocks)?;
        }
    }
    Ok(())
}
