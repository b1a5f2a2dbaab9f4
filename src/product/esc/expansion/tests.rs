use super::*;
use crate::{
    BlockShape, Csc, OperandPair,
    product::{
        esc::tests::{Case, edge_cases, few_cases, products, tunings, with_segments},
        terms::PayloadKind,
    },
};

fn values(case: &Case, products: &[(u32, u32, OperandPair)]) -> Vec<f64> {
    let (a, b) = &case.host;
    products.iter().map(|&(.., pair)| a.values()[pair.a as usize] * b.values()[pair.b as usize]).collect()
}

/// Checks the expansion of a case, as if earlier bands had `before` products.
fn check(case: &Case, tuning: &Tuning, before: u64, sort: bool) -> Result<()> {
    let want = if sort { &case.sorted } else { &case.products };
    // Tunings that keep pairs also test 64-bit numbers of products.
    match tuning.payload {
        PayloadKind::Values => {
            let (found, _) = products(case, tuning, (before, 20), sort)?;
            assert_eq!(found.payload.typed::<f64>().download(&case.work)?, values(case, want));
            check_rows(case, &found, want)
        }
        PayloadKind::Pairs => {
            let (found, _) = products(case, tuning, (before, 32), sort)?;
            let pairs: Vec<_> = want.iter().map(|&(.., pair)| pair).collect();
            assert_eq!(found.payload.typed::<OperandPair>().download(&case.work)?, pairs);
            check_rows(case, &found, want)
        }
    }
}

fn check_rows(case: &Case, found: &Products, want: &[(u32, u32, OperandPair)]) -> Result<()> {
    let rows: Vec<u32> = want.iter().map(|&(_, row, _)| row).collect();
    assert_eq!(found.rows.download(&case.work)?, rows);
    let segments: Vec<u32> = want.iter().step_by(16).chain(want.last()).map(|&(segment, ..)| segment).collect();
    assert_eq!(found.tile_segment.download(&case.work)?, segments);
    Ok(())
}

/// Cases with columns of A of many lengths, some empty. The expansions of these cases have
/// stretches of up to 90 products, in short and long segments (the tunings of the tests have their
/// borders at 28 and 56).
fn stretches() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (longest, of_column) in [(3, 9), (12, 6), (90, 4), (90, 40)] {
        let n = 60;
        let length = |k: usize| (k * 7919) % (longest + 1);
        let place = |k: usize, i: usize| (i * 90 / length(k).max(1), k, (k + i) as f64 % 7.0 - 3.0);
        let a = Csc::from_triplets(90, n, (0..n).flat_map(|k| (0..length(k)).map(move |i| place(k, i))))?;
        let of = |j: usize| (0..of_column).map(move |i| ((i * (j + 3)) % n, j, 1.0 + (i % 3) as f64));
        let b = (0..50).filter(|j| j % 5 != 2).flat_map(of).map(|(k, j, x)| ((k, j), x));
        let b: std::collections::BTreeMap<_, _> = b.collect();
        cases.push(Case::new(a, Csc::from_triplets(n, 50, b.into_iter().map(|((k, j), x)| (k, j, x)))?)?);
    }
    Ok(cases)
}

fn agrees(cases: Vec<Case>) -> Result<()> {
    let [_, serial] = tunings(BlockShape::SCALAR, BlockShape::SCALAR);
    for case in cases {
        for tuning in [serial.clone(), serial.clone().keeping_pairs()] {
            check(&case, &tuning, 0, false)?;
        }
    }
    Ok(())
}

#[test]
fn agrees_with_its_model_for_values_and_for_pairs() -> Result<()> {
    agrees(edge_cases()?)
}

#[test]
fn sorted_it_agrees_with_its_model() -> Result<()> {
    sorted_agrees(edge_cases()?)
}

/// Tests the plain and the sorted expansion. The sorted expansion also has stretches that are
/// merged.
#[test]
fn small_cases_agree_with_its_model() -> Result<()> {
    agrees(few_cases()?)?;
    sorted_agrees(few_cases()?.into_iter().chain(stretches()?.into_iter().take(2)).collect())
}

#[test]
fn stretches_of_all_lengths_are_merged() -> Result<()> {
    sorted_agrees(stretches()?)
}

fn sorted_agrees(cases: Vec<Case>) -> Result<()> {
    for case in cases {
        for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR) {
            for tuning in [tuning.clone(), tuning.keeping_pairs()] {
                check(&case, &tuning, 0, true)?;
            }
        }
    }
    Ok(())
}

/// The paper's lines 19-21 compute exp_size * i in 32 bits, and divide by the number of threads,
/// which may be 0.
#[test]
fn small_products_are_counted_beyond_32_bits() -> Result<()> {
    for lengths in [[3, 0, 20, 9], [3, 100, 0, 40]] {
        let case = with_segments(&lengths, 4)?;
        for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR) {
            check(&case, &tuning, 1 << 33, true)?;
        }
    }
    Ok(())
}

#[test]
fn entries_of_very_different_weight_are_found() -> Result<()> {
    // Thousands of columns of A are tiny or empty, and a few are huge. Pure interpolation search
    // would take thousands of steps here.
    let n = 3000;
    let length = |k: usize| match k % 1000 {
        999 => 2000,
        x if x % 3 == 0 => 0,
        _ => 1,
    };
    let a = Csc::from_triplets(2000, n, (0..n).flat_map(|k| (0..length(k)).map(move |i| (i, k, 1.0))))?;
    let b = Csc::from_triplets(n, 1, (0..n).map(|k| (k, 0, 1.0)))?;
    let case = Case::new(a, b)?;
    for tuning in tunings(BlockShape::SCALAR, BlockShape::SCALAR) {
        check(&case, &tuning, 0, true)?;
    }
    Ok(())
}
