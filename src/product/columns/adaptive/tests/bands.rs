//! Products that are computed in bands because of the memory that methods of scalars need.
use super::{bounds::check_bound, *};
use crate::Error;

/// Computes C = A·B within several limits of memory, and compares it with the reference and with
/// its bound. Returns the largest number of bands.
fn check_bands<T: Element>(a: &Csc<T>, b: &Csc<T>, tuning: &AdaptiveTuning) -> Result<usize> {
    let (work, want) = (Work::new(&test_device(), None), reference::multiply(a, b)?);
    let (x, y) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    let operands = Operands { a: &x, b: &y, c_stride: 1, consumer: BandConsumer::ANY };
    let of_operands = x.bytes() + y.bytes();
    let (_, whole, used) = run::<T>(&operands, tuning, None)?;
    check_bound((a, b), tuning, u64::MAX, (&whole, used - of_operands))?;
    let mut most = 1;
    for parts in [2, 4] {
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
        if counts.pipeline == Pipeline::Adaptive {
            let sums =
                |of: &Counts| of.bins.iter().fold((0, 0), |sum, bin| (sum.0 + bin.columns, sum.1 + bin.products));
            assert_eq!(sums(&counts), sums(&whole), "{:?} within {limit} by {tuning:?}", counts.bins);
        }
        check_bound((a, b), tuning, limit - of_operands, (&counts, used - of_operands))?;
        most = most.max(if counts.pipeline == Pipeline::Adaptive { counts.bands } else { 1 });
    }
    Ok(most)
}

#[test]
fn bands_of_every_method_have_the_bits_of_the_reference() -> Result<()> {
    for (spread, wide) in [(11, 40_000), (300, 900_000)] {
        let (a, b) = operands::<f64>(spread, wide)?;
        let b = repeated(&b, 2)?;
        for method in [Method::Auto, Method::Direct, Method::Sort, Method::Dense, Method::Hub, Method::Hash] {
            // The host reads the sizes of all columns at once, or of a half or a quarter of the
            // columns, or of a few columns.
            for read_columns in [b.ncols(), b.ncols() / 3, 5] {
                let bands = check_bands(&a, &b, &AdaptiveTuning { read_columns, ..tuning(method) })?;
                assert!(bands > 1, "{method}");
            }
        }
    }
    Ok(())
}

#[test]
fn bands_of_equal_columns_have_the_bits_of_the_reference() -> Result<()> {
    let (a, b) = equal::operands::<f64>(11, 40_000, &equal::LENGTHS)?;
    for method in [Method::Auto, Method::Dense, Method::Hash] {
        let tuning = AdaptiveTuning { equal_percent: 1, ..tuning(method) };
        for read_columns in [b.ncols(), b.ncols() / 3] {
            assert!(check_bands(&a, &b, &AdaptiveTuning { read_columns, ..tuning })? > 1, "{method}");
        }
        check_bands(&a, &b, &AdaptiveTuning { equal_piece: 64, room_percent: 30, sampled_products: 0, ..tuning })?;
    }
    Ok(())
}

#[test]
fn bands_leave_their_long_columns_to_esc() -> Result<()> {
    let (a, b) = long::operands::<f64>(1100)?;
    for read_columns in [b.ncols(), b.ncols() / 3] {
        assert!(check_bands(&a, &b, &AdaptiveTuning { read_columns, ..long::tuning()? })? > 1);
    }
    Ok(())
}

/// Columns are halved at multiples of the number of columns of a band, so that halving makes no
/// band shorter.
#[test]
fn halves_keep_the_number_of_columns_of_bands() -> Result<()> {
    let (a, b) = operands::<f64>(11, 40_000)?;
    let (work, want) = (Work::new(&test_device(), None), reference::multiply(&a, &b)?);
    let (x, y) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    let tuning = AdaptiveTuning { read_columns: 5, ..tuning(Method::Dense) };
    // A band has more than half of all columns, or a number of columns that divides neither the
    // number of all columns nor half of it.
    for most_columns in [7, 13, b.ncols() / 2 + 1, b.ncols() - 1] {
        let consumer = BandConsumer { most_columns: most_columns as u64, ..BandConsumer::ANY };
        let (c, counts, _) = run(&Operands { a: &x, b: &y, c_stride: 1, consumer }, &tuning, None)?;
        assert_equal(&c, &want, &tuning);
        assert_eq!(counts.bands, b.ncols().div_ceil(most_columns), "{most_columns} of {}", b.ncols());
    }
    Ok(())
}

/// The columns of `b`, repeated `times` times.
fn repeated<T: Element>(b: &Csc<T>, times: usize) -> Result<Csc<T>> {
    let columns = |_| (0..b.ncols()).map(|col| b.pattern().column(col).iter().map(|&row| row.into()).collect());
    matrix(b.nrows(), (0..times).flat_map(columns).collect::<Vec<_>>())
}

/// Factors whose product has 512 columns of 1600 products each. The columns of C that are `alike`
/// have 40 rows, the others 1600.
fn columns_of(alike: impl Fn(usize) -> bool) -> Result<(Csc<f64>, Csc<f64>)> {
    let row = |k: u64, i: u64| if k < 40 { 40 * i } else { 40 * (k - 40) + i };
    let a = matrix(1600, (0..80).map(|k| (0..40).map(|i| row(k, i)).collect()).collect::<Vec<_>>())?;
    let of_b = |col| if alike(col) { 0..40 } else { 40..80 };
    Ok((a, matrix(80, (0..512).map(|col| of_b(col).collect()).collect::<Vec<_>>())?))
}

/// Every column is sampled, or every second column: those with even numbers.
#[test]
fn samples_make_fewer_bands_if_they_are_right() -> Result<()> {
    // With an `equal_percent` of 101 no columns share rows.
    let sampled = AdaptiveTuning { sampled_products: 0, equal_percent: 101, ..tuning(Method::Dense) };
    let unsampled = AdaptiveTuning { sampled_products: u64::MAX, ..sampled };
    let bands = |alike: fn(usize) -> bool, tuning, megabytes: u64| -> Result<usize> {
        let (a, b) = columns_of(alike)?;
        let (work, want) = (Work::new(&test_device(), None), reference::multiply(&a, &b)?);
        let (x, y) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
        let operands = Operands { a: &x, b: &y, c_stride: 1, consumer: BandConsumer::ANY };
        let of_operands = x.bytes() + y.bytes();
        let (c, counts, used) = run(&operands, tuning, Some(of_operands + (megabytes << 20)))?;
        assert_equal(&c, &want, tuning);
        check_bound((&a, &b), tuning, megabytes << 20, (&counts, used - of_operands))?;
        Ok(counts.bands)
    };
    // The upper bounds of C and its rows take 13 MB.
    assert_eq!([bands(|_| true, &sampled, 2)?, bands(|_| true, &unsampled, 2)?], [1, 7]);
    // Only half of the columns are like the sampled ones.
    let every_second = |col: usize| col.is_multiple_of(2);
    assert_eq!(bands(every_second, &sampled, 10)?, 1);
    assert_eq!([bands(every_second, &sampled, 4)?, bands(every_second, &unsampled, 4)?], [4, 4]);
    Ok(())
}
