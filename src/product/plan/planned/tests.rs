//! Tests of products whose plan keeps pairs: in bands, by every kernel, on larger patterns.
use super::*;
use crate::{
    Cbc, Element, Matrix, Pattern,
    device::test_device,
    generate::{self, Uniform},
    product::{
        terms::Transposed,
        tuning::{BlockKernel, BlockTuning, ScalarNumbers, StagedNumbers},
    },
    reference,
};

const STAGED: StagedNumbers = StagedNumbers { group: 32, bytes: 6 << 10 };

#[test]
fn a_plan_in_bands_has_the_same_bits() -> Result<()> {
    let device = test_device();
    // There are long runs in every band, also in the middle of C.
    let shape = BlockShape::new(2, 3)?;
    let w: Cbc<f64> =
        generate::Uniform { rows: 40, cols: 30_000, per_column: 6, shape, seed: 3, ..Default::default() }.matrix()?;
    let (a, b) = (device.upload(&w)?, device.upload(&w.transpose())?);
    let factor =
        |matrix: &DeviceCbc| FactorPattern { pattern: matrix.pattern.clone(), shape: matrix.shape, transposed: false };
    let want = reference::multiply(&w, &w.transpose())?;
    for (limit, banded) in [(None, false), (Some(24 << 20), true)] {
        let work = Work::new(&device, limit);
        let plan =
            PlannedProduct::new(&work, f64::TYPE, (&factor(&a.cbc), &factor(&b.cbc)), Part::Full, How::default())?;
        assert_eq!(plan.bands().len() > 1, banded, "{} bands", plan.bands().len());
        assert!(plan.longest_run > Some(1024));
        let mut values = work.buffer_of(f64::TYPE.word(), plan.c.nnz() * plan.shape.area())?;
        work.fill_zero(&mut values)?;
        let stride = plan.shape.area();
        let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride, values };
        plan.execute(&work, (&a.cbc, &b.cbc), Scaling::plain(f64::TYPE), Destination::from(&mut c))?;
        assert_eq!(Cbc::from_cbc(c.download(&work)?)?, want);
    }
    Ok(())
}

#[test]
fn kernels_agree_on_transposed_operands() -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    for (rows, cols) in [(2, 3), (6, 4), (9, 1), (11, 7)] {
        let shape = BlockShape::new(rows, cols)?;
        let a = DeviceCbc::upload(
            &work,
            Uniform { rows: 20, cols: 60, per_column: 9, shape, ..Default::default() }.matrix()?.as_cbc(),
        )?;
        for transposed in [Transposed { a: true, b: false }, Transposed { a: false, b: true }] {
            let factor = |transposed| FactorPattern { pattern: a.pattern.clone(), shape, transposed };
            let (left, right) = (factor(transposed.a), factor(transposed.b));
            // There are runs of all lengths from one product on. The longest runs are cut into
            // pieces.
            let executed = |kernel, group_size, long_run| -> Result<Vec<f64>> {
                let blocks = BlockTuning { kernel, group_size, long_run };
                let tuning = Tuning::new(device.info(), left.op_shape(), right.op_shape()).keeping_pairs();
                let spec = Spec { row_bits: 32, ..Spec::of_factors(f64::TYPE, &left, &right, Part::Full) };
                let tuning = Tuning { blocks, ..tuning };
                let plan = PlannedProduct::tuned(&work, (&left, &right), tuning, &spec, Method::Auto)?;
                let stride = plan.shape.area();
                let values = work.buffer_of(f64::TYPE.word(), plan.c.nnz() * stride)?;
                let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride, values };
                plan.execute(&work, (&a, &a), Scaling::plain(f64::TYPE), Destination::from(&mut c))?;
                c.values.into_typed().download(&work)
            };
            let want = executed(BlockKernel::General, 64, 7)?;
            assert!(executed(BlockKernel::Serial { runs: 3 }, 1, 7)? == want, "{shape:?} {transposed:?}");
            assert!(executed(BlockKernel::Tiles, 64, 7)? == want, "{shape:?} {transposed:?}");
            assert!(executed(BlockKernel::Staged(STAGED), 32, 0)? == want, "{shape:?} {transposed:?}");
        }
    }
    Ok(())
}

#[test]
fn further_entries_are_sums_of_nothing() -> Result<()> {
    let (device, n) = (test_device(), 30usize);
    let work = Work::new(&device, None);
    // The larger pattern is the whole lower triangle.
    let triangle = |col: usize| (col * (2 * n + 1 - col) / 2) as u64;
    let rows = (0..n as u32).flat_map(|col| col..n as u32).collect();
    let triangle = Pattern::new(n, n, (0..=n).map(triangle).collect(), rows)?;
    // Runs of one to seven products. Runs with more than two are in pieces.
    let scalars = BlockKernel::Scalars(ScalarNumbers { ahead: 2, stretch: 2 });
    for (kernel, group_size, long_run, sides) in [
        (BlockKernel::Tiles, 64, 2, (2, 3)),
        (BlockKernel::Staged(STAGED), 32, 0, (2, 3)),
        (BlockKernel::Serial { runs: 3 }, 1, 2, (2, 3)),
        (BlockKernel::General, 64, 2, (2, 3)),
        (scalars, 8, 2, (1, 1)),
    ] {
        let shape = BlockShape::new(sides.0, sides.1)?;
        let a = DeviceCbc::upload(
            &work,
            Uniform { rows: n, cols: 60, per_column: 3, shape, ..Default::default() }.matrix()?.as_cbc(),
        )?;
        let factor = |transposed| FactorPattern { pattern: a.pattern.clone(), shape, transposed };
        let (left, right, area) = (factor(false), factor(true), sides.0 * sides.0);
        let spec = Spec { row_bits: 32, ..Spec::of_factors(f64::TYPE, &left, &right, Part::Lower) };
        let blocks = BlockTuning { kernel, group_size, long_run };
        let tuning = Tuning { blocks, ..Tuning::new(device.info(), shape, shape.transpose()).keeping_pairs() };
        let sums = BlockSums::with_empty_runs(&device, &tuning, &spec)?;
        let mut plan = PlannedProduct::analysed(&work, (&left, &right), tuning, &spec, Method::Auto, sums)?;
        let executed = |plan: &PlannedProduct| -> Result<Vec<f64>> {
            let values = work.upload(&vec![7.5; plan.c.nnz() * area])?.into_any();
            let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride: area, values };
            plan.execute(&work, (&a, &a), Scaling::of(f64::TYPE, -1.0, 1.0), Destination::from(&mut c))?;
            c.values.into_typed().download(&work)
        };
        let sums = executed(&plan)?;
        let small = plan.c.download(&work)?;
        assert!(plan.longest_run > Some(2) && small.nnz() < triangle.nnz(), "{kernel:?}");
        let place = |col: usize, row: u32| triangle.entries(col).start as u32 + row - col as u32;
        let places: Vec<u32> =
            (0..n).flat_map(|col| small.column(col).iter().map(move |&row| place(col, row))).collect();
        plan.retarget(&work, &work.upload(&places)?, PatternArrays::upload(&work, &triangle)?)?;
        let mut want = vec![7.5; triangle.nnz() * area];
        for (block, &place) in sums.chunks_exact(area).zip(&places) {
            want[place as usize * area..][..area].copy_from_slice(block);
        }
        assert!(executed(&plan)? == want, "{kernel:?}");
    }
    Ok(())
}
