//! Many short columns of B, and a few with so many entries that ESC computes them.
use super::*;

/// Columns of A with 1 to 9 rows, and columns of B with 2 to 9 entries. One column of B in 1000 has
/// `long` entries.
pub(super) fn operands<T: Element>(long: u64) -> Result<(Csc<T>, Csc<T>)> {
    let mut random = Random::new(13);
    let n = 1200_u64;
    let a = matrix(40_000, (0..n).map(|k| random.distinct(1 + k % 9, 40_000)).collect::<Vec<_>>())?;
    let length = |col: u64| if col % 1000 == 7 { long } else { 2 + col % 8 };
    Ok((a, matrix(n as usize, (0..n).map(|col| random.distinct(length(col), n)).collect::<Vec<_>>())?))
}

/// Tuning in which each product is expensive for ESC, and each entry of the longest column is
/// expensive for the other methods.
pub(super) fn tuning() -> Result<AdaptiveTuning> {
    let usual = super::tuning(Method::Auto);
    let costs = usual.prices.costs.with("esc", MethodCost::new([0.0, 5e7, 0.0, 0.0])?)?;
    Ok(AdaptiveTuning { esc: true, prices: Prices { costs, longest_ms: 1.0, ..usual.prices }, ..usual })
}

fn is_esc(method: &Method) -> bool {
    [Method::Esc, Method::EscLocal].contains(method)
}

#[test]
fn few_long_columns_are_left_to_esc() -> Result<()> {
    let (a, b) = operands::<f64>(1025)?;
    let methods = check(&a, &b, &tuning()?)?;
    assert!(methods.contains(&Method::Sort) && methods.iter().any(is_esc), "{methods:?}");
    assert!(!methods.contains(&Method::Dense) && !methods.contains(&Method::Hub), "{methods:?}");
    // With `sorted_most` 0, the columns that ESC does not compute are not sorted: their rows are
    // found.
    let methods = check(&a, &b, &AdaptiveTuning { sorted_most: 0, sorts: false, ..tuning()? })?;
    assert!(methods.contains(&Method::Dense) && methods.iter().any(is_esc), "{methods:?}");
    Ok(())
}

#[test]
fn long_columns_stay_where_that_costs_less() -> Result<()> {
    for (long, tuning) in [
        (1024, tuning()?), // the column is not long
        (1025, AdaptiveTuning { prices: Prices { longest_ms: 0.0, ..tuning()?.prices }, ..tuning()? }),
        (1025, AdaptiveTuning { esc: false, ..tuning()? }),
    ] {
        let (a, b) = operands::<f64>(long)?;
        let methods = check(&a, &b, &tuning)?;
        assert!(!methods.iter().any(is_esc), "{methods:?} of columns of {long}");
    }
    Ok(())
}
