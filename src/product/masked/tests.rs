//! Tests of the pairs of operands for each place of a mask, with tunings of several devices and any
//! number of bands.
mod columns;

use super::{bands::MAX_PROBES, columns::ColumnTuning, planned::OnMask, *};
use crate::{
    BlockShape, Csc, Pattern, Semiring,
    device::test_device,
    element::{ElementType, Piece},
    generate,
    matrix::Matrix,
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        Scaling,
        esc::tests::{Case, edge_cases, few_cases, tunings},
        plan::PlannedProduct,
        terms::{Destination, FactorPattern},
        tuning::{BlockKernel, BlockTuning},
    },
    resident::{DeviceCbc, PatternArrays},
};

/// The pairs of operands for each place of the mask, and the last pair of each place.
fn model(a: &Csc<f64>, b: &Csc<f64>, mask: &Pattern) -> (Vec<OperandPair>, Vec<u32>) {
    let (mut pairs, mut ends) = (Vec::new(), Vec::new());
    for col in 0..mask.ncols() {
        for row in mask.column(col) {
            for b_entry in b.pattern().entries(col) {
                let of_a = a.pattern().entries(b.pattern().row_idx()[b_entry] as usize);
                let meets = of_a.clone().find(|&a_entry| a.pattern().row_idx()[a_entry] == *row);
                pairs.extend(meets.map(|a_entry| OperandPair { a: a_entry as u32, b: b_entry as u32 }));
            }
            ends.push((pairs.len() as u32).wrapping_sub(1));
        }
    }
    (pairs, ends)
}

/// Checks a masked product that is computed place by place, or by columns. Returns the number of
/// bands.
fn check(
    work: &Work,
    (a, b): (&Csc<f64>, &Csc<f64>),
    mask: &Pattern,
    (tuning, columns): (&Tuning, Option<ColumnTuning>),
    most: u64,
) -> Result<usize> {
    let (pairs, ends) = model(a, b, mask);
    let mask = PatternArrays::upload(work, mask)?;
    let factor = |of: &Csc<f64>, transposed| -> Result<FactorPattern> {
        let pattern = PatternArrays::upload(work, of.pattern())?;
        Ok(FactorPattern { pattern, shape: BlockShape::SCALAR, transposed })
    };
    let (a_factor, b_factor) = (factor(a, false)?, factor(b, false)?);
    let reads = work.read_backs();
    FactorPattern { transposed: true, ..a_factor.clone() }.transpose(work)?;
    let transposing = work.read_backs() - reads;
    assert!(transposing <= 1);
    let reads = work.read_backs();
    let factors = (&a_factor, &b_factor);
    let product = OnMask::new(work.device(), factors, tuning, columns, ElementType::F64, Semiring::PlusTimes)?;
    let planned = PlannedProduct::masked_in_bands(work, product, factors, &mask, most)?;
    // The host first reads the length of the longest row of A, if it is counted, or the number of
    // steps. The host then reads the number of probes or hits, the ends of bands if there are
    // several, and the record of each band.
    let bands = planned.bands().len() as u32;
    let first = if columns.is_some() { 1 } else { transposing };
    assert_eq!(work.read_backs() - reads, first + bands + u32::from(bands > 0) + u32::from(bands > 1));
    let (mut found, mut found_ends, mut longest) = (Vec::new(), Vec::new(), 0);
    for band in planned.bands() {
        assert_eq!(band.first as usize, found_ends.len());
        let (before, mut begin, mut pieces) = (found.len() as u32, 0, Vec::new());
        for (run, end) in band.run_end.download(work)?.into_iter().enumerate() {
            let next = end.wrapping_add(1);
            longest = longest.max(next - begin);
            if next - begin > tuning.long_run() as u32 {
                pieces.extend((begin..next).step_by(RUN_PIECE).map(|first| (run as u32, first, next)));
            }
            begin = next;
            found_ends.push(end.wrapping_add(before));
        }
        check_pieces(band.pieces.download(work)?, &pieces);
        found.extend(band.pairs.download(work)?);
    }
    assert_eq!(found, pairs);
    assert_eq!(found_ends, ends);
    assert_eq!((planned.products, planned.longest_run), (pairs.len() as u64, Some(longest)));
    Ok(planned.bands().len())
}

/// Checks that `pieces` are those of `want` in some order: the run of each, its first product, and
/// its end. The pieces of a run that is cut are numbered one after another.
fn check_pieces(mut pieces: Vec<Piece>, want: &[(u32, u32, u32)]) {
    pieces.sort_by_key(|piece| (piece.run, piece.begin));
    assert_eq!(pieces.len(), want.len());
    let mut parts = Vec::new();
    for (i, (piece, &(run, begin, end))) in pieces.iter().zip(want).enumerate() {
        assert_eq!((piece.run, piece.begin, piece.end), (run, begin, end.min(begin + RUN_PIECE as u32)));
        let is_first = i == 0 || pieces[i - 1].run != run;
        match (is_first, end - begin > RUN_PIECE as u32) {
            (true, false) => assert_eq!(piece.part, u32::MAX),
            (true, true) => parts.push(piece.part),
            (false, _) => {
                parts.push(piece.part);
                assert_eq!(piece.part, pieces[i - 1].part + 1);
            }
        }
    }
    parts.sort_unstable();
    assert!(parts.iter().enumerate().all(|(i, &part)| part == i as u32), "{parts:?}");
}

/// The two ways to compute masked products: place by place, and by columns.
fn ways() -> [Option<ColumnTuning>; 2] {
    [None, Some(self::columns::tuning())]
}

fn agrees(cases: Vec<Case>) -> Result<()> {
    for case in cases {
        let (a, b) = &case.host;
        let whole = crate::reference::multiply(a, b)?;
        let other = generate::Uniform {
            rows: a.nrows(),
            cols: b.ncols(),
            per_column: 2.min(a.nrows()),
            seed: 3,
            ..Default::default()
        }
        .matrix()?;
        for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR).map(Tuning::keeping_pairs) {
            for mask in [whole.pattern(), Matrix::as_cbc(&other).pattern] {
                for columns in ways() {
                    check(&case.work, (a, b), mask, (&tuning, columns), MAX_PROBES)?;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn agrees_with_its_model() -> Result<()> {
    agrees(edge_cases()?)
}

#[test]
fn small_cases_agree_with_its_model() -> Result<()> {
    agrees(few_cases()?)
}

#[test]
fn bands_change_nothing() -> Result<()> {
    let work = Work::new(&test_device(), None);
    let of = |rows, cols, seed| {
        generate::Uniform { rows, cols, per_column: 5, values: generate::Values::Integer, seed, ..Default::default() }
            .matrix()
    };
    let (a, b, mask) = (of(40, 30, 1)?.to_scalars(), of(30, 50, 2)?.to_scalars(), of(40, 50, 3)?.to_scalars());
    for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR).map(Tuning::keeping_pairs) {
        for columns in ways() {
            let mut bands = Vec::new();
            for most in [MAX_PROBES, 120, 33, 7] {
                bands.push(check(&work, (&a, &b), mask.pattern(), (&tuning, columns), most)?);
            }
            assert!(bands[0] == 1 && bands.windows(2).all(|pair| pair[0] < pair[1]), "{bands:?}");
        }
    }
    Ok(())
}

/// Runs have 1, 7, 8 or thousands of products, and are cut into pieces or not.
#[test]
fn long_runs_are_cut() -> Result<()> {
    let work = Work::new(&test_device(), None);
    let inner = 3 * RUN_PIECE + 5;
    let lengths = [1, 7, 8, RUN_PIECE, RUN_PIECE + 1, inner];
    let lines = || lengths.iter().enumerate().flat_map(|(i, &length)| (0..length).map(move |k| (i, k)));
    let a = Csc::from_triplets(lengths.len(), inner, lines().map(|(i, k)| (i, k, 1.0)))?;
    let b = a.transpose();
    let places = (0..lengths.len()).flat_map(|i| [(i, i, 1.0), (i, 5, 1.0)]);
    let mask = Csc::from_triplets(lengths.len(), lengths.len(), places)?;
    for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR).map(Tuning::keeping_pairs) {
        // If scalars are summed in stretches, a long run must be longer than a stretch.
        let least = if let BlockKernel::Scalars(numbers) = tuning.blocks.kernel { numbers.stretch } else { 0 };
        for long_run in [0, 7, RUN_PIECE].map(|long_run| long_run.max(least)) {
            let blocks = BlockTuning { long_run, ..tuning.blocks };
            let tuning = Tuning { blocks, ..tuning.clone() };
            for columns in ways() {
                check(&work, (&a, &b), mask.pattern(), (&tuning, columns), MAX_PROBES)?;
                check(&work, (&a, &b), mask.pattern(), (&tuning, columns), 2 * inner as u64)?;
            }
        }
    }
    Ok(())
}

#[test]
fn sums_of_another_device_s_tuning_pass_over_empty_runs() -> Result<()> {
    let work = Work::new(&test_device(), None);
    let mut info = test_device().info().clone();
    let uniform = |per_column, shape, seed| {
        let values = generate::Values::Integer;
        generate::Uniform { rows: 40, cols: 40, per_column, shape, values, seed }.matrix()
    };
    let (a, b) = (uniform(5, BlockShape::new(2, 3)?, 1)?, uniform(5, BlockShape::new(3, 2)?, 2)?);
    let mask = uniform(20, BlockShape::SCALAR, 3)?;
    let (whole, on) = (crate::reference::multiply(&a, &b)?, PatternArrays::upload(&work, mask.pattern())?);
    let (da, db) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    for (kind, columns) in [crate::DeviceKind::Gpu, crate::DeviceKind::Cpu].into_iter().zip(ways()) {
        info.kind = kind;
        let factor = |of: &DeviceCbc| FactorPattern { pattern: of.pattern.clone(), shape: of.shape, transposed: false };
        let (a_factor, b_factor) = (factor(&da), factor(&db));
        let tuning = Tuning::new(&info, a_factor.shape, b_factor.shape).keeping_pairs();
        let factors = (&a_factor, &b_factor);
        let product = OnMask::new(work.device(), factors, &tuning, columns, ElementType::F64, Semiring::PlusTimes)?;
        let planned = PlannedProduct::masked_in_bands(&work, product, factors, &on, 1000)?;
        let values = work.upload(&vec![f64::NAN; mask.nnz() * 4])?.into_any();
        let mut c = DeviceCbc { pattern: on.clone(), shape: planned.shape, stride: 4, values };
        planned.execute(&work, (&da, &db), Scaling::plain(ElementType::F64), Destination::from(&mut c))?;
        let c = c.download::<f64>(&work)?;
        let mut empty = 0;
        for (row, col, block) in c.blocks() {
            let entry = whole.pattern().column(col).binary_search(&(row as u32));
            empty += usize::from(entry.is_err());
            let want = entry.map(|e| whole.block(whole.pattern().entries(col).start + e).into_owned());
            let want = want.unwrap_or_else(|_| nalgebra::DMatrix::zeros(2, 2));
            assert_eq!(block, want, "({row}, {col}) by the kernels of a {kind:?}");
        }
        assert!(empty > 100, "{empty} places without products");
    }
    Ok(())
}
