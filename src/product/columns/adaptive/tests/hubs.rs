//! Columns of B with many entries that select short columns of A.
use super::*;

/// Factors A and B for hubs. Most columns of A have one or two of the first three rows, so that
/// runs have more than 1024 terms. Other columns of A are empty, or have several of `rows` rows.
/// Columns of B have from one entry up to all rows.
pub(super) fn operands<T: Element>(rows: u64) -> Result<(Csc<T>, Csc<T>)> {
    let mut random = Random::new(11);
    let n = 2600_u64;
    let column = |k: u64, random: &mut Random| match k % 8 {
        0 => vec![],
        1 => random.distinct(3, rows),
        2 => vec![0, 1, (k * 37) % rows],
        3 if k.is_multiple_of(5) => random.distinct(20, rows),
        5 => vec![2, (k * 11) % 600],
        _ => vec![k % 2],
    };
    let a = matrix(rows as usize, (0..n).map(|k| column(k, &mut random)).collect::<Vec<_>>())?;
    let lengths = [2600, 255, 256, 257, 1, 1024, 1025, 0, 511];
    Ok((a, matrix(n as usize, lengths.map(|length| random.distinct(length, n)))?))
}

#[test]
fn hubs_have_the_bits_of_the_reference() -> Result<()> {
    let (a, b) = operands::<f64>(40_000)?;
    let some = AdaptiveTuning { hub_percent: 100, ..tuning(Method::Auto) };
    assert_eq!(check(&a, &b, &some)?, [Method::Direct, Method::Dense, Method::Hub]);
    // No column is a hub if the limit is 0 percent.
    let none = AdaptiveTuning { hub_percent: 0, ..some };
    assert_eq!(check(&a, &b, &none)?, [Method::Direct, Method::Dense]);
    assert_eq!(check(&a, &b, &tuning(Method::Hub))?, [Method::Hub]);
    assert_eq!(check(&a, &b, &tuning(Method::Dense))?, [Method::Dense]);
    let (a, b) = operands::<f32>(700)?;
    assert_eq!(check(&a, &b, &tuning(Method::Hub))?, [Method::Hub]);
    let (a, b) = operands::<half::f16>(900_000)?;
    assert_eq!(check(&a, &b, &tuning(Method::Hub))?, [Method::Hub]);
    Ok(())
}

#[test]
fn every_column_may_be_a_hub() -> Result<()> {
    let (a, b) = super::operands::<f64>(11, 40_000)?;
    assert_eq!(check(&a, &b, &tuning(Method::Hub))?, [Method::Hub]);
    Ok(())
}

#[test]
fn pieces_and_windows_of_hubs_change_no_bit() -> Result<()> {
    let (a, b) = operands::<f64>(40_000)?;
    let (usual, forced) = (tuning(Method::Auto), tuning(Method::Hub));
    for tuning in [
        AdaptiveTuning { piece: 128, groups: 1, ..forced },
        AdaptiveTuning { narrow_words: 8, medium_words: 40, wide_words: 100, big_products: 500, ..forced },
        AdaptiveTuning { sorted_most: 0, hub_percent: 100, ..usual },
    ] {
        check(&a, &b, &tuning)?;
    }
    Ok(())
}
