//! Products that are computed in bands with a given number of columns. Each band must have this
//! number of columns, and the product has the bits of the reference.
use crate::common::{Family, blocks, device, equal, scalars, shape, to_host};
use blockmul::{
    Cbc, Csc, DeviceMatrix, Error, Matrix, Method, Product, Result, extra::host::Progress, matrix::drop_below,
    reference,
};
use std::sync::{Arc, Mutex};

/// Returns the number of columns of blocks, or of rows of blocks if the matrix is stored by rows.
fn lines_of<M: Matrix>(matrix: &M) -> usize {
    matrix.as_cbc().pattern.ncols()
}

/// Computes A·B in bands of several numbers of columns. Checks the bands, the products and the
/// estimates.
fn check<M: Matrix>(a: &M, b: &M, method: Method) -> Result<()> {
    let (device, want) = (device(), reference::multiply(a, b)?);
    let (x, y) = (device.upload(a)?, device.upload(b)?);
    let lines = lines_of(&want);
    // The bands have one column, a number of columns that divides few sizes, all columns but one,
    // all columns, or more than there are.
    for most in [1, 7, lines.saturating_sub(1), lines, lines + 1].into_iter().filter(|&most| most > 0) {
        let what = format!("{method}, {most} of {lines} columns");
        let product = Product::of(&x, &y).method(method).band_columns(most);
        let mut widths = Vec::new();
        let report = product.run_in_bands(|band| {
            widths.push(lines_of(&band.download()?));
            Ok(())
        })?;
        let bands = lines.div_ceil(most).max(1);
        let expected: Vec<_> = (0..bands).map(|band| most.min(lines - band * most)).collect();
        assert_eq!((&widths, report.bands), (&expected, bands), "{what}");
        let (c, report) = product.run_to_host()?;
        equal(&c, &want, &what);
        equal(&product.run()?.download()?, &want, &what);
        let estimate = Product::of(a, b).method(method).band_columns(most).estimate(device.info())?;
        assert!(estimate.bands >= bands && estimate.peak_device_bytes >= report.peak_device_bytes, "{what}");
    }
    Ok(())
}

#[test]
fn every_method_multiplies_bands_of_the_number_of_columns_that_is_asked() -> Result<()> {
    let a = scalars::<f64>(Family::PowerLawColumns, 60, 40, 5, 1);
    let b = scalars::<f64>(Family::PowerLawColumns, 40, 29, 4, 2);
    let of_blocks = |rows, cols, seed| blocks::<f64>(Family::Uniform, rows, cols, 3, shape(2, 2), seed);
    for method in Method::ALL.iter().copied().filter(|method| !method.needs_mask()) {
        check(&a, &b, method)?;
        check(&of_blocks(20, 12, 3), &of_blocks(12, 15, 4), method)?;
    }
    check(&a.to_csr()?, &b.to_csr()?, Method::Auto)
}

/// A product without entries or without columns has bands too. A limit of memory can make bands
/// narrower than the requested number of columns.
#[test]
fn bands_are_of_columns_without_products_and_of_little_memory() -> Result<()> {
    let empty = scalars::<f64>(Family::AllEmpty, 40, 29, 0, 1);
    let none = Csc::<f64>::from_triplets(40, 0, [])?;
    let a = scalars::<f64>(Family::Uniform, 60, 40, 5, 2);
    for method in Method::ALL.iter().copied().filter(|method| !method.needs_mask()) {
        check(&a, &empty, method)?;
        check(&a, &none, method)?;
    }
    let a: Cbc<f64> = blocks(Family::Uniform, 400, 400, 9, shape(3, 3), 3);
    for method in [Method::Auto, Method::Esc] {
        let bands = |most: usize| -> Result<usize> {
            let (c, report) =
                to_host(&device(), &a, &a, |product| product.method(method).memory_limit(2 << 20).band_columns(most))?;
            equal(&c, &reference::multiply(&a, &a)?, "little memory");
            Ok(report.bands)
        };
        let (by_memory, by_both) = (bands(400)?, bands(10)?);
        assert!(by_memory > 1 && by_both >= 40 && by_memory < by_both, "{method}: {by_memory}, {by_both}");
    }
    Ok(())
}

#[test]
fn progress_and_dropping_go_band_by_band() -> Result<()> {
    let (device, a) = (device(), scalars::<f64>(Family::Uniform, 30, 30, 4, 5));
    let (x, told) = (device.upload(&a)?, Arc::new(Mutex::new(Vec::new())));
    let tell = Arc::clone(&told);
    let progress = Progress::new(move |done, all| tell.lock().unwrap().push((done, all)));
    let product = Product::of(&x, &x).drop_below(2.5).band_columns(12);
    let (c, report) = product.progress(progress).run_to_host()?;
    equal(&c, &drop_below(&reference::multiply(&a, &a)?, 2.5)?, "dropped");
    assert_eq!((&told.lock().unwrap()[..], report.bands), (&[(12, 30), (24, 30), (30, 30)][..], 3));
    Ok(())
}

#[test]
fn only_products_of_two_matrices_have_bands() -> Result<()> {
    let (device, a) = (device(), scalars::<f64>(Family::Uniform, 8, 8, 2, 6));
    let x = device.upload(&a)?;
    let pattern = x.pattern();
    let refused = |product: Product<'_, DeviceMatrix<Csc<f64>>>, why: &str| {
        let error = product.band_columns(3).run().map(drop).unwrap_err();
        assert!(matches!(&error, Error::Argument(found) if found.contains(why)), "{error}");
    };
    refused(Product::of(&x, &x).mask(&pattern), "bands of columns are of A·B, without transposes");
    refused(Product::gram(&x), "bands of columns are of A·B");
    let none = Product::of(&x, &x).band_columns(0);
    for error in [none.run().map(drop), Product::of(&a, &a).band_columns(0).estimate(device.info()).map(drop)] {
        assert!(matches!(error, Err(Error::Argument(why)) if why == "a band has at least 1 column"));
    }
    let error = Product::of(&x, &x).band_columns(3).plan().map(drop).unwrap_err();
    assert!(error.to_string().contains("it has no bands of columns"), "{error}");
    Ok(())
}
