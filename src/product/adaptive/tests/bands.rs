//! Products that are cut into bands by the memory that methods of scalars need.
use super::{foretold::check_foretold, *};
use crate::Error;

/// C = A·B within several limits, compared with the reference and with what is foretold; the most
/// bands that it was cut into.
fn check_bands<T: Element>(a: &Csc<T>, b: &Csc<T>, tuning: &AdaptiveTuning) -> Result<usize> {
    let (work, want) = (Work::new(&test_device(), None), reference::multiply(a, b)?);
    let (x, y) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    let operands = Operands { a: &x, b: &y, c_stride: 1, consumer: None };
    let of_operands = x.bytes() + y.bytes();
    let (_, whole, used) = run(&operands, tuning, None)?;
    check_foretold((a, b), tuning, u64::MAX, (&whole, used - of_operands))?;
    let mut most = 1;
    for parts in [2, 3, 5] {
        let limit = of_operands + (used - of_operands) / parts;
        let (c, counts, used) = match run(&operands, tuning, Some(limit)) {
            Err(Error::Memory { needed, available, .. }) => {
                assert!(needed > available && parts > 2, "{needed} of {available} bytes by {tuning:?}");
                continue;
            }
            other => other?,
        };
        assert_equal(&c, &want, tuning);
        assert!(used <= limit, "{used} bytes within {limit} by {tuning:?}");
        if counts.adaptive {
            let sums =
                |of: &Counts| of.bins.iter().fold((0, 0), |sum, bin| (sum.0 + bin.columns, sum.1 + bin.products));
            assert_eq!(sums(&counts), sums(&whole), "{:?} within {limit} by {tuning:?}", counts.bins);
        }
        check_foretold((a, b), tuning, limit - of_operands, (&counts, used - of_operands))?;
        most = most.max(if counts.adaptive { counts.bands } else { 1 });
    }
    Ok(most)
}

#[test]
fn bands_of_every_method_have_the_bits_of_the_reference() -> Result<()> {
    for (spread, wide) in [(11, 40_000), (300, 900_000)] {
        let (a, b) = operands::<f64>(spread, wide)?;
        let b = repeated(&b, 4)?;
        for method in [Method::Auto, Method::Direct, Method::Sort, Method::Dense, Method::Hub, Method::Hash] {
            let bands = check_bands(&a, &b, &tuning(method))?;
            assert!(bands > 1, "{method}");
        }
    }
    Ok(())
}

/// The columns of `b` so many times side by side.
fn repeated<T: Element>(b: &Csc<T>, times: usize) -> Result<Csc<T>> {
    let columns = |_| (0..b.ncols()).map(|col| b.pattern().column(col).iter().map(|&row| row.into()).collect());
    matrix(b.nrows(), (0..times).flat_map(columns).collect::<Vec<_>>())
}
