//! Sums of lines under every tuning, compared with the reference.
use super::*;
use crate::generate::{self, Random};
use crate::{Cbc, Csc, Matrix, device::test_device, element::Field, product::Factor, reference};
use half::f16;
use nalgebra::DMatrix;
use std::collections::BTreeSet;

/// Groups with fewer items than a line has sums, with the same number, and with more. Lines are in
/// tiles, or all in pieces; the sums of a piece share a group, or each has its own. Items load one
/// element or entry at once, or several.
const TUNINGS: [LineTuning; 9] = [
    tuning(1, 16, 32, [1, 1]),
    tuning(2, 0, 1, [1, 4]),
    tuning(4, 8, 16, [2, 1]),
    tuning(16, 512, 1024, [4, 8]),
    tuning(64, 3, 7, [2, 2]),
    tuning(8, 40, 80, [8, 8]),
    apart(tuning(2, 0, 1, [1, 4])),
    apart(tuning(16, 512, 1024, [4, 8])),
    apart(tuning(64, 3, 7, [2, 2])),
];

const fn apart(tuning: LineTuning) -> LineTuning {
    LineTuning { apart: usize::MAX, ..tuning }
}

const fn tuning(group_size: usize, tile: usize, held: usize, [ahead, together]: [usize; 2]) -> LineTuning {
    let (skewed, longest) = ((group_size, ahead), tile);
    let (direct, guessed, whole, light, apart) = (0, 0, RUN_PIECE, 64, 0);
    LineTuning { group_size, tile, longest, held, ahead, skewed, direct, together, guessed, whole, light, apart }
}

/// A matrix with some long rows and the same number of long columns, among short and empty ones.
fn arrow<T: Field>(n: usize, long: usize, shape: BlockShape) -> Result<Cbc<T>> {
    let mut random = Random::new(1);
    let mut block = || DMatrix::from_fn(shape.rows(), shape.cols(), |_, _| T::from_f64(2.0 * random.unit() - 1.0));
    let is_long = |i: usize, j: usize| [1, 6][..long].contains(&i) || [2, 8][..long].contains(&j);
    let places = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let stored = places.filter(|&(i, j)| is_long(i, j) || i == j && i % 5 == 0);
    Cbc::from_triplets(n, n, shape, stored.map(|(i, j)| (i, j, block())))
}

/// Checks the sums over rows and over columns of a matrix under a tuning. `cuts` lines are cut.
/// Returns whether tiles have been reordered.
fn check<T: Field>(a: &Cbc<T>, tuning: LineTuning, cuts: usize) -> Result<[bool; 2]> {
    let device = test_device();
    let work = Work::new(&device, None);
    let on_device = DeviceCbc::upload(&work, a.as_cbc())?;
    let mut ordered = [false; 2];
    // Blocks lie one after another, and the kernel may use that.
    assert_eq!(on_device.stride, on_device.shape.area());
    // Items load columns by themselves.
    let sides = [(false, false), (false, true), (true, false)];
    for (rows, packed) in sides.into_iter().take(if tuning.direct > 0 { 2 } else { 3 }) {
        let (x, y) = if rows { (a.scalar_cols(), a.scalar_rows()) } else { (a.scalar_rows(), a.scalar_cols()) };
        let x: Vec<T> = (0..x).map(|i| T::from_f64((i % 97) as f64 * 0.31 - 15.0)).collect();
        let mut want = vec![T::from_f64(9.0); y];
        let (dx, mut first, mut second) = (work.upload(&x)?, work.upload(&want)?, work.upload(&want)?);
        let terms = Terms::Products(Semiring::PlusTimes);
        let summed = Summed { types: [T::TYPE; 2], shape: on_device.shape, packed, terms };
        let (index, side) =
            (|work: &Work| Index::new(work, &on_device.pattern, rows), if rows { Side::Rows } else { Side::Columns });
        let sums = LineSums::tuned(&device, index, side, summed, tuning)?;
        let parts = sums.lines.tasks.download(&work)?.into_iter().take(sums.lines.pieces);
        let cut: BTreeSet<u32> = parts.filter(|piece| piece.part != u32::MAX).map(|piece| piece.run).collect();
        assert_eq!(cut.len(), cuts, "the longest lines");
        ordered[usize::from(rows)] = sums.lines.is_ordered;
        // The second execution finds the counts of arrived pieces that the first execution has
        // left.
        for y in [&mut first, &mut second] {
            sums.run(&work, (&on_device).into(), &dx, Scaling::of(T::TYPE, 0.7, -1.3), y)?;
        }
        reference::multiply_vector(0.7, Factor { operand: a, transposed: !rows }, &x, -1.3, &mut want)?;
        for (time, y) in [first, second].iter().enumerate() {
            let y = y.download(&work)?;
            let what = || format!("{} of {}, rows {rows}, packed {packed}, {tuning:?}, {time}", T::NAME, a.shape());
            let same = |(y, want): (&T, &T)| y.to_f64().to_bits() == want.to_f64().to_bits();
            assert!(y.iter().zip(&want).all(same), "{}", what());
        }
    }
    Ok(ordered)
}

/// Matrices of scalars and of blocks. One line has a few entries more than a piece.
fn scalars_and_blocks() -> Result<[Cbc<f32>; 2]> {
    Ok([arrow(1030, 1, BlockShape::SCALAR)?, arrow(1030, 1, BlockShape::new(3, 2)?)?])
}

#[test]
fn sums_have_the_bits_of_the_reference_under_every_tuning() -> Result<()> {
    let both = scalars_and_blocks()?;
    for tuning in TUNINGS {
        both.iter().try_for_each(|a| check(a, tuning, 1).map(drop))?;
    }
    Ok(())
}

/// Tests groups with fewer items than sums and with more, one element at once and several, and sums
/// with groups of their own.
#[test]
fn small_sums_have_the_bits_of_the_reference() -> Result<()> {
    let [scalars, blocks] = scalars_and_blocks()?;
    check(&scalars, TUNINGS[3], 1)?;
    check(&scalars, TUNINGS[8], 1)?;
    check(&blocks, TUNINGS[2], 1)?;
    check(&blocks, TUNINGS[6], 1)?;
    Ok(())
}

/// A tuning in which lines are in tiles, and in pieces whose sums share a group or have their own.
const OF_ITEMS: LineTuning = LineTuning { tile: 40, longest: 9, ..tuning(16, 9, 9, [2, 2]) };

/// Tests one entry at once and several, and guessed sums of pieces, with two rounds and with many.
#[test]
fn lines_that_items_load_by_themselves() -> Result<()> {
    for (rows, cols) in [(2, 3), (6, 6), (4, 1)] {
        let blocks = arrow::<f32>(1030, 1, BlockShape::new(rows, cols)?)?;
        for direct in [1, 3] {
            let direct = LineTuning { direct, ..OF_ITEMS };
            check(&blocks, direct, 1)?;
            check(&blocks, apart(direct), 1)?;
            check(&blocks, apart(LineTuning { guessed: 1, ..direct }), 1)?;
        }
        let large = LineTuning { direct: 2, guessed: 1, skewed: (256, 1), group_size: 256, ..OF_ITEMS };
        check(&blocks, apart(large), 1)?;
        // Lines and tiles with more entries than local memory holds.
        let long =
            generate::Uniform { rows: 90, cols: 90, per_column: 27, shape: blocks.shape(), ..Default::default() }
                .matrix()?
                .cast::<f32>();
        check(&long, LineTuning { direct: 2, tile: 100, longest: 32, ..OF_ITEMS }, 0)?;
    }
    Ok(())
}

#[test]
fn small_lines_that_items_load_by_themselves() -> Result<()> {
    let blocks = arrow::<f32>(1030, 1, BlockShape::new(2, 3)?)?;
    check(&blocks, LineTuning { direct: 1, ..OF_ITEMS }, 1)?;
    check(&blocks, apart(LineTuning { direct: 3, ..OF_ITEMS }), 1)?;
    check(&blocks, apart(LineTuning { direct: 2, guessed: 1, ..OF_ITEMS }), 1)?;
    Ok(())
}

#[test]
fn small_tiles_in_an_order_of_their_own() -> Result<()> {
    // The matrix has short rows, a row of 80 entries, whose tile comes first, and a row of 130
    // entries, which is too long for a tile.
    let length = |row: usize| [2, 80, 130][usize::from(row == 90) + 2 * usize::from(row == 120)];
    let places = (0..150).flat_map(|row| (0..length(row)).map(move |k| (row, (row + k) % 150)));
    let host = Csc::from_triplets(150, 150, places.map(|(i, j)| (i, j, (i * 7 + j) as f32 * 0.37)))?;
    let host = Cbc::new(host.pattern().clone(), BlockShape::SCALAR, host.values().to_vec())?;
    assert_eq!(check(&host, tuning(16, 128, 256, [2, 4]), 0)?, [false, true]);
    Ok(())
}

#[test]
fn sums_of_cut_lines_are_exchanged_in_every_type() -> Result<()> {
    // A sum of doubles takes several words. Two lines are cut, into three pieces each.
    check(&arrow::<f64>(2049, 2, BlockShape::SCALAR)?, TUNINGS[3], 2)?;
    check(&arrow::<f64>(1030, 2, BlockShape::new(3, 2)?)?, TUNINGS[1], 2)?;
    check(&arrow::<f64>(1030, 2, BlockShape::new(3, 2)?)?, TUNINGS[8], 2)?;
    check(&arrow::<f16>(1030, 2, BlockShape::new(1, 2)?)?, TUNINGS[4], 2)?;
    Ok(())
}

/// Tests rows with as many terms as an item adds and with more, which are in neighbouring tiles,
/// and rows of several pieces. Teams have 2 to 32 items.
#[test]
fn guessed_sums_have_the_bits_of_the_reference() -> Result<()> {
    const LENGTHS: [usize; 12] = [3, 39, 40, 0, 41, 512, 64, 1024, 1025, 333, 200, 1];
    // Rows of two pieces, which a group adds at once, and of three pieces, which are cut.
    const PAIRS: [usize; 8] = [1025, 2, 1024, 1290, 2048, 2049, 1961, 40];
    // The values are random numbers of both signs or of one sign, zeros, numbers whose largest
    // cancel, or numbers of which a single one decides the rounding of the sum.
    const VALUES: [fn(usize, &mut Random) -> f64; 5] = [
        |_, random| 2.0 * random.unit() - 1.0,
        |_, random| random.unit(),
        |_, _| -0.0,
        |k, random| [1.0, -1.0][k / 97 % 2] * if k % 97 == 3 { 1e4 } else { random.unit() },
        |k, _| if k == 150 { f64::INFINITY } else { 1.0 },
    ];
    fn of<T: Field>(lengths: &[usize], tuning: LineTuning) -> Result<()> {
        let (long, most) = (lengths.len(), lengths.iter().copied().max().unwrap_or(0));
        for value in VALUES {
            let mut random = Random::new(1);
            // Rows, and columns with the same numbers.
            let mut entries = Vec::new();
            for (i, length) in lengths.iter().enumerate() {
                for k in 0..*length {
                    let value = T::from_f64(value(k, &mut random));
                    entries.extend([(i, long + k, value), (long + k, i, value)]);
                }
            }
            let host = Csc::from_triplets(long + most, long + most, entries)?;
            let host = Cbc::new(host.pattern().clone(), BlockShape::SCALAR, host.values().to_vec())?;
            check(&host, tuning, 1)?;
        }
        Ok(())
    }
    let guessed = |group_size| LineTuning { longest: 39, guessed: 40, ..tuning(group_size, 512, 1024, [4, 8]) };
    of::<f64>(&LENGTHS, guessed(64))?;
    of::<f32>(&LENGTHS, guessed(128))?;
    of::<f16>(&LENGTHS, LineTuning { guessed: 100, ..guessed(64) })?;
    // Teams of two items, whose guesses are seldom right, and a group without teams.
    of::<f64>(&LENGTHS, guessed(16))?;
    of::<f64>(&LENGTHS, guessed(4))?;
    let pairs = |group_size| LineTuning { whole: 2048, held: 2048, ..guessed(group_size) };
    of::<f64>(&PAIRS, pairs(64))?;
    of::<f32>(&PAIRS, pairs(256))?;
    of::<f64>(&PAIRS, pairs(16))
}

#[test]
fn small_guessed_sums_have_the_bits_of_the_reference() -> Result<()> {
    let long = |i: usize| [3, 60, 2, 11][i % 4];
    let places = (0..64).flat_map(|i| (0..if i < 4 { long(i) } else { 1 }).map(move |k| (i, k)));
    let host = Csc::from_triplets(64, 64, places.map(|(i, j)| (i, j, (i * 7 + j) as f32 * 0.37)))?;
    let host = Cbc::new(host.pattern().clone(), BlockShape::SCALAR, host.values().to_vec())?;
    let tuning = LineTuning { longest: 9, guessed: 10, ..tuning(16, 80, 1024, [2, 2]) };
    check(&host, tuning, 0).map(drop)
}

#[test]
fn sums_in_min_plus_are_shortest_paths() -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    // The edge from node k to node k + 1 has length k + 1. An edge from the first node to the last
    // has length 100.
    let steps = (0..4).map(|k| (k + 1, k, k as f64 + 1.0));
    let host = Csc::from_triplets(5, 5, steps.chain([(4, 0, 100.0)]))?;
    let a = DeviceCbc::upload(&work, host.as_cbc())?;
    // Tests lines in tiles, and in pieces.
    for tuning in [tuning(4, 8, 16, [1, 1]), tuning(2, 0, 1, [4, 4]), tuning(4, 1, 9, [4, 4])] {
        let terms = Terms::Products(Semiring::MinPlus);
        let summed = Summed { types: [ElementType::F64; 2], shape: a.shape, packed: false, terms };
        let sums = LineSums::tuned(&device, |work| Index::new(work, &a.pattern, true), Side::Rows, summed, tuning)?;
        let far = f64::INFINITY;
        let mut lengths = vec![0.0, far, far, far, far];
        // Lengths of paths of one edge, then of up to two, and so on. No edge ends at the first
        // node, so its sum is EMPTY.
        for want in [
            [0.0, 1.0, far, far, 100.0],
            [0.0, 1.0, 3.0, far, 100.0],
            [0.0, 1.0, 3.0, 6.0, 100.0],
            [0.0, 1.0, 3.0, 6.0, 10.0],
        ] {
            let (x, mut y) = (work.upload(&lengths)?, work.upload(&lengths)?);
            sums.run(&work, (&a).into(), &x, Scaling::of(ElementType::F64, 1.0, 1.0), &mut y)?;
            lengths = y.download(&work)?;
            assert_eq!(lengths, want, "{tuning:?}");
        }
        let (x, mut y) = (work.upload(&lengths)?, work.upload(&[7.0; 5])?);
        sums.run(&work, (&a).into(), &x, Scaling::plain(ElementType::F64), &mut y)?;
        assert_eq!(y.download(&work)?, [far, 1.0, 3.0, 6.0, 10.0], "{tuning:?}");
    }
    Ok(())
}
