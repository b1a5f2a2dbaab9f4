//! Whole products on a device. The patterns and values of these products are those of the
//! reference, to the bit.
use crate::common::*;
use blockmul::{
    BlockShape, Bsr, Cbc, Csc, Csr, DeviceMatrix, Element, Error, Matrix, Method, Product, Result, device::DeviceKind,
    extra::host::Progress, matrix::Threshold, product::Report, reference,
};
use half::f16;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Multiplies two matrices twice on the device, and compares both results with the reference bit
/// for bit.
fn check<M: Matrix>(a: &M, b: &M, what: &str) -> Result<Report> {
    let device = device();
    let want = reference::multiply(a, b)?;
    let (c, report) = to_host(&device, a, b, |product| product)?;
    equal_bits(&c, &want, what);
    let again = blockmul::multiply(&device.upload(a)?, &device.upload(b)?)?.download()?;
    equal_bits(&again, &want, what);
    assert_eq!(report.products, reference::products(a, b), "{what}");
    assert!(report.read_backs <= 2 && report.bands == 1, "{what}: {report:?}");
    let launches: u32 = report.stages.iter().map(|stage| stage.launches).sum();
    assert!(
        report.launches == launches && report.stages.iter().all(|s| s.launches <= s.commands),
        "{what}: {report:?}"
    );
    // Two operations are counted for each pair of elements that is multiplied.
    let (left, right) = (a.as_cbc().shape, b.as_cbc().shape);
    let each = 2 * (left.area() * if M::ROW_MAJOR { right.rows() } else { right.cols() }) as u64;
    let flops: u64 = report.stages.iter().filter_map(|stage| stage.flops).sum();
    assert_eq!(flops, report.products * each, "{what}");
    assert!(report.stages.iter().all(|stage| stage.bytes.is_some()), "{what}");
    Ok(report)
}

fn equal_bits<M: Matrix>(got: &M, want: &M, what: &str) {
    let (got, want) = (got.as_cbc(), want.as_cbc());
    assert_eq!(got.pattern, want.pattern, "{what}: pattern");
    assert_eq!((got.shape, got.stride), (want.shape, want.stride), "{what}");
    let bits = |values: &[M::Element]| bytemuck::cast_slice::<_, u8>(values).to_vec();
    assert!(bits(got.values) == bits(want.values), "{what}: values");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn scalar_products_of_any_families(
        families in (any_family(), any_family()), (m, k, n) in (0usize..90, 0usize..90, 0usize..90), per_col in 1usize..9, seed: u64,
    ) {
        let what = format!("{families:?} {m}x{k}x{n}, {per_col} a column, seed {seed}");
        check::<Csc<f64>>(&scalars(families.0, m, k, per_col, seed), &scalars(families.1, k, n, per_col, !seed), &what)?;
        check::<Csc<f32>>(&scalars(families.0, m, k, per_col, seed), &scalars(families.1, k, n, per_col, !seed), &what)?;
    }

    #[test]
    fn block_products_of_any_families(
        families in (any_family(), any_family()), (m, k, n) in (0usize..30, 0usize..30, 0usize..30), per_col in 1usize..6,
        shape in 0usize..4, seed: u64,
    ) {
        let (r, i, c) = [(3, 3, 3), (6, 3, 6), (2, 9, 1), (5, 10, 2)][shape];
        let what = format!("{families:?} {m}x{k}x{n} of {r}x{i}x{c}, seed {seed}");
        let a = blocks::<f64>(families.0, m, k, per_col, BlockShape::new(r, i)?, seed);
        check(&a, &blocks(families.1, k, n, per_col, BlockShape::new(i, c)?, !seed), &what)?;
    }
}

/// Sides of blocks that have a compiled kernel, and sides for which only the general kernel exists,
/// up to the largest side.
const SIDES: [usize; 14] = [1, 2, 3, 4, 6, 7, 8, 9, 5, 10, 13, 17, 31, 32];

/// Calls `check` with 14 shapes (rows, inner, columns) in each of three element types. In each
/// element type, every side is once the number of rows, once the inner side, and once the number of
/// columns. Each element type combines the sides differently.
fn pairwise(mut check: impl FnMut(usize, usize, usize, usize)) {
    for element in 0..3 {
        for (at, &r) in SIDES.iter().enumerate() {
            check(
                r,
                SIDES[(at * 3 + 5 * element + 1) % SIDES.len()],
                SIDES[(at * 5 + element + 2) % SIDES.len()],
                element,
            );
        }
    }
}

#[test]
fn forty_two_shapes_pairwise_in_every_type() {
    fn shape<T: Element>(r: usize, k: usize, c: usize) -> Result<()> {
        let (left, right) = (BlockShape::new(r, k)?, BlockShape::new(k, c)?);
        let a = blocks::<T>(Family::Uniform, 11, 9, 3, left, (r * 100 + k) as u64);
        let b = blocks::<T>(Family::PowerLawColumns, 9, 12, 2, right, c as u64);
        check(&a, &b, &format!("{r}x{k} by {k}x{c} of {}", T::NAME)).map(|_| ())
    }
    pairwise(|r, k, c, element| match element {
        0 => shape::<f64>(r, k, c).unwrap(),
        1 => shape::<f32>(r, k, c).unwrap(),
        _ => shape::<f16>(r, k, c).unwrap(),
    });
}

#[test]
fn half_scalars() -> Result<()> {
    for family in FAMILIES {
        // A sum of this product has at most 60 terms of magnitude 9, so it is below 2048 and exact
        // in f16.
        check::<Csc<f16>>(
            &scalars(family, 60, 60, 4, 1),
            &scalars(Family::Uniform, 60, 60, 4, 2),
            &format!("{family:?}"),
        )?;
    }
    Ok(())
}

#[test]
fn sums_that_cancel_have_the_bits_of_the_reference() -> Result<()> {
    // The magnitudes of the values are from 2^-30 to 2^30, so that any other order of sums, or a
    // fused multiply-add, gives other bits.
    let wild = |family, rows, cols, seed| {
        let mut random = Random(seed);
        let places = places(family, rows, cols, 8, &mut random);
        let value = |random: &mut Random| {
            (random.next() as f64 / 2f64.powi(64) - 0.5) * 2f64.powi(random.below(60) as i32 - 30)
        };
        Csc::from_triplets(rows, cols, places.into_iter().map(|(i, j)| (i, j, value(&mut random))))
    };
    for (left, right) in [
        (Family::Uniform, Family::Uniform),
        (Family::Arrow, Family::DenseColumn),
        (Family::DenseRow, Family::PowerLawColumns),
    ] {
        let (a, b) = (wild(left, 420, 420, 5)?, wild(right, 420, 420, 6)?);
        check(&a, &b, "f64")?;
        check(&a.cast::<f32>(), &b.cast::<f32>(), "f32")?;
        check(&a.to_blocks(BlockShape::new(6, 3)?)?, &b.to_blocks(BlockShape::new(3, 7)?)?, "compiled blocks")?;
        check(&a.to_blocks(BlockShape::new(10, 5)?)?, &b.to_blocks(BlockShape::new(5, 12)?)?, "general blocks")?;
    }
    Ok(())
}

#[test]
fn runs_of_more_than_1024_products_are_cut_as_in_the_reference() -> Result<()> {
    // The product has one long row times one long column, beside short ones. The sum of the
    // products is computed in one, two or three pieces of 1024.
    for terms in [1023, 1024, 1025, 2048, 2049, 3000] {
        let mut random = Random(terms as u64);
        let mut value =
            |_: usize| (random.next() as f64 / 2f64.powi(64) - 0.5) * 2f64.powi(random.below(60) as i32 - 30);
        let row: Vec<_> = (0..terms).map(|k| (1, k, value(k))).chain([(0, 5, 1.5), (2, 7, 2.5)]).collect();
        let col: Vec<_> = (0..terms).map(|k| (k, 1, value(k))).chain([(5, 0, 3.5), (7, 2, 4.5)]).collect();
        let (a, b) = (Csc::from_triplets(3, terms, row)?, Csc::from_triplets(terms, 3, col)?);
        check(&a, &b, &format!("{terms} terms"))?;
        // The test has a sum of this length for blocks of 3x2 and 2x3, by compiled kernels and the
        // general kernel.
        for (r, c) in [(3, 3), (5, 1), (1, 11)] {
            let wide = |m: &Csc<f64>, rows, cols| {
                Cbc::new(
                    m.pattern().clone(),
                    BlockShape::new(rows, cols)?,
                    m.values().iter().flat_map(|&v| (0..rows * cols).map(move |i| v * (i + 1) as f64)).collect(),
                )
            };
            check(&wide(&a, r, 2)?, &wide(&b, 2, c)?, &format!("{terms} block terms, {r}x2x{c}"))?;
        }
    }
    Ok(())
}

#[test]
fn row_major_products_swap_the_operands() -> Result<()> {
    let device = device();
    let (a, b) = (scalars::<f64>(Family::Uniform, 40, 30, 4, 1), scalars::<f64>(Family::PowerLawColumns, 30, 50, 4, 2));
    let want = reference::multiply(&a, &b)?;
    let (ra, rb) = (Csr::from_transpose(a.transpose()), Csr::from_transpose(b.transpose()));
    let c = blockmul::multiply(&device.upload(&ra)?, &device.upload(&rb)?)?;
    assert_eq!((c.nrows(), c.ncols(), c.nnz()), (40, 50, want.nnz()));
    assert_eq!(c.download()?.into_transpose().transpose(), want);
    let (x, y) = (BlockShape::new(2, 3)?, BlockShape::new(3, 4)?);
    let (a, b) = (blocks::<f64>(Family::Uniform, 20, 15, 3, x, 1), blocks::<f64>(Family::Arrow, 15, 25, 3, y, 2));
    let (ra, rb) = (Bsr::from_transpose(a.transpose()), Bsr::from_transpose(b.transpose()));
    let c = blockmul::multiply(&device.upload(&ra)?, &device.upload(&rb)?)?;
    assert_eq!((c.nrows(), c.ncols(), c.shape()), (20, 25, BlockShape::new(2, 4)?));
    assert_eq!(c.download()?.into_transpose().transpose(), reference::multiply(&a, &b)?);
    Ok(())
}

/// Applies to a product the option that `bytes` chooses. `Some(0)` is a threshold of 0, which drops
/// no entry. Any other number is the alignment of blocks in bytes. `None` applies no option.
fn asked<'a>(
    product: Product<'a, DeviceMatrix<Cbc<f32>>>,
    bytes: Option<usize>,
) -> Product<'a, DeviceMatrix<Cbc<f32>>> {
    match bytes {
        Some(0) => product.drop_below(Threshold::absolute(0.0)),
        Some(bytes) => product.alignment(bytes),
        None => product,
    }
}

#[test]
fn aligned_blocks_come_with_zero_padding() -> Result<()> {
    let device = device();
    // Products of scalars are kept as values only if nothing is padded, so scalars are tested, too.
    for side in [3, 1] {
        let a = blocks::<f32>(Family::Uniform, 20, 20, 4, BlockShape::new(side, side)?, 1);
        let want = reference::multiply(&a, &a)?;
        for bytes in [16, 32, 64] {
            let aligned = a.with_alignment(bytes)?;
            for (left, right, wanted) in [
                (&aligned, &a, Some(bytes)),
                (&a, &aligned, None),
                (&a, &a, Some(bytes)),
                (&aligned, &aligned, Some(0)),
            ] {
                let (x, y) = (device.upload(left)?, device.upload(right)?);
                let (c, _) = asked(Product::of(&x, &y), wanted).run_to_host()?;
                assert_eq!(c, want, "{side}x{side}, {bytes} bytes");
                let padding = |block: &[f32]| block[side * side..].iter().all(|&x| x.to_bits() == 0);
                assert!(c.values().chunks(c.stride()).all(padding), "{bytes}");
                let on_device = asked(Product::of(&x, &y), wanted).run()?;
                assert_eq!(on_device.download()?, want, "{side}x{side}, {bytes} bytes, on the device");
            }
            let (c, _) = to_host(&device, &aligned, &a, |product| product.alignment(bytes))?;
            assert!(c.stride() > side * side && (c.stride() * 4).is_multiple_of(bytes));
        }
    }
    Ok(())
}

#[test]
fn bands_change_no_bit() -> Result<()> {
    let device = device();
    let a = scalars::<f64>(Family::PowerLawColumns, 3000, 3000, 12, 3);
    let whole = reference::multiply(&a, &a)?;
    let (_, report) = to_host(&device, &a, &a, |product| product)?;
    let (mut limit, mut most) = (report.peak_device_bytes, 1);
    for _ in 0..5 {
        limit = limit * 6 / 10;
        match to_host(&device, &a, &a, |product| product.memory_limit(limit)) {
            Ok((c, banded)) => {
                equal_bits(&c, &whole, "bands");
                assert!(banded.held_device_bytes <= limit, "{limit}: {banded:?}");
                most = most.max(banded.bands);
            }
            Err(error) => assert!(error.to_string().contains("not enough memory"), "{error}"),
        }
        let uploaded = device.upload(&a)?;
        if let Ok((c, banded)) = Product::of(&uploaded, &uploaded).memory_limit(limit).run_with_report() {
            equal_bits(&c.download()?, &whole, "joined bands");
            assert!(banded.held_device_bytes <= limit);
        }
    }
    assert!(most > 2, "the test must reach several bands");
    Ok(())
}

#[test]
fn bands_are_handed_over_one_by_one() -> Result<()> {
    let (device, a) = (device(), scalars::<f64>(Family::Uniform, 3000, 3000, 12, 3));
    let whole = reference::multiply(&a, &a)?;
    let part = Product::of(&a, &a).estimate(device.info())?.peak_device_bytes / 4;
    let uploaded = device.upload(&a)?;
    let (mut columns, mut bands) = (0, 0);
    let report = Product::of(&uploaded, &uploaded).memory_limit(part).run_in_bands(|band| {
        let band = band.download()?;
        for col in 0..band.ncols() {
            assert_eq!(band.pattern().column(col), whole.pattern().column(columns + col));
            let bits = |of: &Csc<f64>, col: usize| -> Vec<u64> {
                of.values()[of.pattern().entries(col)].iter().map(|value| value.to_bits()).collect()
            };
            assert_eq!(bits(&band, col), bits(&whole, columns + col));
        }
        (columns, bands) = (columns + band.ncols(), bands + 1);
        Ok(())
    })?;
    assert!(bands > 1 && columns == 3000, "{bands} bands, {columns} columns");
    assert_eq!((report.bands, report.c_nnz), (bands, whole.nnz() as u64));
    assert!(report.held_device_bytes <= part);
    let stopped = Product::of(&uploaded, &uploaded).run_in_bands(|_| Err(Error::Argument("enough".into())));
    assert_eq!(stopped.unwrap_err().to_string(), "enough");
    Ok(())
}

#[test]
fn operands_above_the_limit_are_refused_with_what_they_take() -> Result<()> {
    let (device, a) = (device(), scalars::<f64>(Family::Uniform, 3000, 3000, 12, 3));
    let operand = device.upload(&a)?;
    let bytes = operand.device_bytes();
    // The limits of memory are below the bytes of A, or allow only little more.
    for (method, limit) in [(Method::Host, bytes / 2), (Method::Esc, bytes / 2), (Method::Esc, bytes + 20_000)] {
        let product = Product::of(&operand, &operand).method(method).memory_limit(limit);
        for error in [product.run().map(drop).unwrap_err(), product.run_to_host().map(drop).unwrap_err()] {
            let text = error.to_string();
            assert!(text.contains(&format!("A takes {bytes} bytes")), "{limit}: {text}");
            let Error::Memory { needed, available, .. } = error else { panic!("{error}") };
            assert!(needed > available && (limit > bytes || available == limit), "{limit}: {text}");
        }
    }
    let b = device.upload(&a)?;
    let text = Product::of(&operand, &b).memory_limit(bytes).run().map(drop).unwrap_err().to_string();
    assert!(text.contains(&format!("A and B take {} bytes", 2 * bytes)), "{text}");
    Ok(())
}

#[test]
fn progress_is_reported_after_every_band() -> Result<()> {
    let (device, a) = (device(), scalars::<f64>(Family::Uniform, 3000, 3000, 12, 3));
    let told = Arc::new(Mutex::new(Vec::new()));
    let keep = told.clone();
    let progress = Progress::new(move |done, total| keep.lock().unwrap().push((done, total)));
    let part = Product::of(&a, &a).estimate(device.info())?.peak_device_bytes / 4;
    let (_, report) = to_host(&device, &a, &a, |product| product.memory_limit(part).progress(progress.clone()))?;
    let told = told.lock().unwrap();
    assert!(report.bands > 1 && told.len() == report.bands, "{told:?}");
    assert!(told.is_sorted() && told.iter().all(|&(_, total)| total == 3000) && told.last() == Some(&(3000, 3000)));
    Ok(())
}

#[test]
fn a_limit_no_column_fits_is_an_error_with_numbers() -> Result<()> {
    let a = scalars::<f64>(Family::Arrow, 4000, 4000, 1, 1);
    let operands = Product::of(&a, &a).estimate(device().info())?.operand_bytes;
    // ESC needs memory for all products of a column, dense for the 4000 entries of C. On a CPU
    // dense needs sums of all rows. If the memory does not suffice for a method, ESC is tried, but
    // the memory does not even suffice for ESC's analysis.
    let in_ranges = device().info().kind == DeviceKind::Cpu;
    for (method, kibibytes) in [(Method::Esc, 250), (Method::Dense, 86)] {
        let limit = operands + (kibibytes << 10);
        let product = to_host(&device(), &a, &a, |product| product.method(method).memory_limit(limit));
        let error = product.map(|(_, report)| report).unwrap_err();
        assert_eq!(error.kind(), blockmul::error::ErrorKind::Memory, "{method}: {error}");
        let says = error.to_string();
        let of_column = says.contains("products of column 0 of C") || (in_ranges && method == Method::Dense);
        assert!(of_column && says.contains("bytes needed"), "{method}: {error}");
        // The upload comes after the commands of the product, which was given up.
        assert!(device().upload(&a)?.download()? == a, "{method}");
    }
    Ok(())
}

#[test]
fn sizes_that_do_not_meet_are_refused() -> Result<()> {
    let device = device();
    let a = device.upload(&scalars::<f64>(Family::Uniform, 4, 6, 1, 1))?;
    let b = device.upload(&scalars::<f64>(Family::Uniform, 5, 3, 1, 1))?;
    let error = blockmul::multiply(&a, &b).unwrap_err().to_string();
    assert!(error.contains("A is 4x6") && error.contains("B is 5x3"), "{error}");
    let x = device.upload(&blocks::<f64>(Family::Uniform, 4, 6, 1, BlockShape::new(2, 3)?, 1))?;
    let y = device.upload(&blocks::<f64>(Family::Uniform, 6, 3, 1, BlockShape::new(2, 3)?, 1))?;
    assert!(blockmul::multiply(&x, &y).unwrap_err().to_string().contains("blocks of 2x3"));
    Ok(())
}

#[test]
fn two_threads_share_a_device() -> Result<()> {
    let device = device();
    std::thread::scope(|scope| {
        let job = |seed: u64| {
            let device = device.clone();
            scope.spawn(move || -> Result<()> {
                for round in 0..10 {
                    let a = scalars::<f64>(Family::Uniform, 300, 300, 6, seed * 100 + round);
                    let b = blocks::<f64>(Family::Banded, 60, 60, 5, BlockShape::new(3, 3)?, seed + round);
                    let (da, db) = (device.upload(&a)?, device.upload(&b)?);
                    let (ca, cb) = (blockmul::multiply(&da, &da)?, blockmul::multiply(&db, &db)?);
                    equal_bits(&ca.download()?, &reference::multiply(&a, &a)?, "scalars of a thread");
                    equal_bits(&cb.download()?, &reference::multiply(&b, &b)?, "blocks of a thread");
                }
                Ok(())
            })
        };
        let jobs: Vec<_> = (1..=3).map(job).collect();
        jobs.into_iter().try_for_each(|job| job.join().unwrap())
    })
}

#[test]
fn a_product_stays_on_the_device_and_is_multiplied_again() -> Result<()> {
    let device = device();
    let a = scalars::<f64>(Family::Uniform, 50, 50, 3, 9);
    let on_device = device.upload(&a)?;
    let cube = blockmul::multiply(&blockmul::multiply(&on_device, &on_device)?, &on_device)?.download()?;
    assert_eq!(cube, reference::multiply(&reference::multiply(&a, &a)?, &a)?);
    Ok(())
}
