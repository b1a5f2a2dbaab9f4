//! Columns whose rows are found by hashes.
use super::*;

/// Numbers with tables so small that columns of every class are short.
fn small_tables() -> AdaptiveTuning {
    AdaptiveTuning { hash_words: [40, 80, 160], ..tuning(Method::Hash) }
}

/// Every column of A·B has the first so many rows of `rows`; those of A have `part` each.
fn columns_of<T: Element>(nrows: u64, rows: &[u64], counts: &[usize], part: usize) -> Result<(Csc<T>, Csc<T>)> {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for &count in counts {
        let parts = rows[..count].chunks(part).map(<[u64]>::to_vec);
        let first = of_a.len() as u64;
        of_a.extend(parts);
        // Once more, so that there are sums of several products.
        of_a.push(rows[..count.min(part)].to_vec());
        of_b.push((first..of_a.len() as u64).collect());
    }
    let inner = of_a.len();
    Ok((matrix(nrows as usize, of_a)?, matrix(inner, of_b)?))
}

#[test]
fn small_tables_have_the_bits_of_the_reference() -> Result<()> {
    let rows: Vec<u64> = (0..150).map(|i| i * 37 % 1000).collect();
    let (a, b) = columns_of::<f64>(1000, &rows, &[1, 31, 150, 60], 20)?;
    assert_eq!(check(&a, &b, &small_tables())?, [Method::Hash]);
    Ok(())
}

#[test]
fn hashed_columns_have_the_bits_of_the_reference() -> Result<()> {
    fn every<T: Element>(cases: &[(u64, u64)]) -> Result<()> {
        for &(spread, wide) in cases {
            let (a, b) = operands::<T>(spread, wide)?;
            assert_eq!(check(&a, &b, &tuning(Method::Hash))?, [Method::Hash]);
        }
        Ok(())
    }
    every::<f64>(&[(1, 3000), (11, 40_000), (300, 900_000)])?;
    every::<f32>(&[(11, 40_000)])?;
    every::<half::f16>(&[(11, 40_000)])
}
