//! Columns of B with one entry.
use super::*;

/// Columns of A of many lengths, and a B whose columns mostly have one entry. Some columns of B
/// have no entry or two, and the entry of some selects an empty column of A.
fn operands<T: Element>(lengths: &[u64], single: bool) -> Result<(Csc<T>, Csc<T>)> {
    let mut random = Random::new(5);
    let rows = 4000_u64;
    let a = matrix(rows as usize, lengths.iter().map(|&length| random.distinct(length, rows)).collect::<Vec<_>>())?;
    let n = lengths.len() as u64;
    let column = |col: u64| match col % 7 {
        3 if !single => vec![],
        5 if !single => vec![col % n, (col + 1) % n],
        _ => vec![col * 3 % n],
    };
    Ok((a, matrix(n as usize, (0..3 * n).map(column).collect::<Vec<_>>())?))
}

const LENGTHS: [u64; 13] = [0, 1, 31, 32, 33, 1000, 2, 255, 0, 256, 257, 4000, 3];

#[test]
fn small_single_entries_have_the_bits_of_the_reference() -> Result<()> {
    let (a, b) = operands::<f64>(&[3, 0, 33, 1, 40], false)?;
    let methods = check(&a, &b, &tuning(Method::Direct))?;
    assert!(methods.len() == 2 && methods.contains(&Method::Direct), "{methods:?}");
    Ok(())
}

#[test]
fn single_entries_of_every_length_have_the_bits_of_the_reference() -> Result<()> {
    fn every<T: Element>() -> Result<()> {
        for single in [true, false] {
            let (a, b) = operands::<T>(&LENGTHS, single)?;
            let methods = check(&a, &b, &tuning(Method::Direct))?;
            assert_eq!(methods.len(), if single { 1 } else { 2 }, "{methods:?}");
            assert!(methods.contains(&Method::Direct), "{methods:?}");
            check(&a, &b, &tuning(Method::Auto))?;
        }
        Ok(())
    }
    every::<f64>()?;
    every::<f32>()?;
    every::<half::f16>()
}

/// Both factors have zeros of either sign. Entries of C whose value is 0 are kept with their sign.
#[test]
fn zeros_of_single_entries_keep_their_sign() -> Result<()> {
    let zeros = [0.0, -0.0, 1.5, -2.0];
    let a = Csc::from_triplets(9, 4, (0..4).flat_map(|k| (k..9).map(move |row| (row, k, zeros[(row + k) % 4]))))?;
    let b = Csc::from_triplets(4, 16, (0..16).map(|col| (col % 4, col, zeros[col / 4])))?;
    assert_eq!(check(&a, &b, &tuning(Method::Direct))?, [Method::Direct]);
    assert_eq!(check(&a, &b, &tuning(Method::Sort))?, [Method::Sort]);
    assert_eq!(check(&a, &b, &tuning(Method::Dense))?, [Method::Dense]);
    Ok(())
}

/// If direct columns are few and short, they are sorted with other columns. Long direct columns, or
/// many of them, are not sorted.
#[test]
fn few_single_entries_are_sorted() -> Result<()> {
    let usual = tuning(Method::Auto);
    // Columns of B with one entry select the first columns of A. The other columns of B also select
    // a column of 200 rows.
    let operands = |longest: u64| -> Result<(Csc<f64>, Csc<f64>)> {
        let (mut random, lengths) = (Random::new(3), [3, 0, longest, 1, 200]);
        let a = matrix(900, lengths.map(|length| random.distinct(length, 900)))?;
        Ok((a, matrix(5, (0..30).map(|col| if col % 5 == 4 { vec![1, 4] } else { vec![col % 5] }))?))
    };
    let (a, b) = operands(32)?;
    assert_eq!(check(&a, &b, &usual)?, [Method::Sort]);
    assert_eq!(check(&a, &b, &AdaptiveTuning { prices: apart(), ..usual })?, [Method::Direct, Method::Sort]);
    let (a, b) = operands(33)?;
    assert_eq!(check(&a, &b, &usual)?, [Method::Direct, Method::Sort]);
    Ok(())
}

/// Direct columns, and columns with several windows of rows.
#[test]
fn single_entries_beside_windows() -> Result<()> {
    let (a, b) = super::operands::<f64>(300, 900_000)?;
    let usual = AdaptiveTuning { prices: apart(), ..tuning(Method::Auto) };
    let small = AdaptiveTuning { medium_words: 40, narrow_words: 8, wide_words: 2000, ..usual };
    let methods = check(&a, &b, &small)?;
    assert_eq!(methods, [Method::Direct, Method::Sort, Method::Dense, Method::Hub]);
    Ok(())
}
