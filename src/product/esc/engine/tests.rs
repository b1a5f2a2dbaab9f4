//! The engine of ESC in one band and in several, with empty and long columns and runs that are cut.
//! Products of scalars and of padded blocks are computed directly and by plans, also for parts of
//! C. Results have the bits of the reference.
use super::*;
use crate::{
    BlockShape, Cbc, Csc, Element, Matrix,
    device::test_device,
    generate,
    product::{
        plan::PlannedProduct,
        terms::{BandConsumer, Destination, FactorPattern, Part, Scaling},
    },
    reference,
    resident::DeviceCbc,
};

/// Computes A·B directly within `limit` bytes. Blocks of C are aligned to `alignment` bytes.
/// Returns the number of bands.
fn check(a: &Cbc<f64>, b: &Cbc<f64>, alignment: Option<usize>, limit: Option<u64>) -> Result<usize> {
    let device = test_device();
    let want = reference::multiply(a, b)?;
    let want = alignment.map_or(Ok(want.clone()), |bytes| want.with_alignment(bytes))?;
    let work = Work::new(&device, limit);
    let (da, db) = (DeviceCbc::upload(&work, a.as_cbc())?, DeviceCbc::upload(&work, b.as_cbc())?);
    let operands = Operands { a: &da, b: &db, c_stride: want.stride(), consumer: BandConsumer::ANY };
    let spec = Spec::new(f64::TYPE, da.shape, db.shape, da.nrows);
    let tuning = Tuning::new(device.info(), spec.a, spec.b).with_strides(operands.strides());
    let tuning = tuning.with_method(device.info(), Method::Esc);
    let product = Engine::new(&device, &spec, tuning, Method::Esc, device.info().costs())?;
    let mut bands = Vec::new();
    let counts = product.multiply(&work, &operands, &mut |band| {
        bands.push(band.download::<f64>(&Work::new(&device, None))?);
        Ok(())
    })?;
    let columns = bands.iter().map(|band| band.pattern().ncols()).sum();
    assert_eq!((bands.len(), columns), (counts.bands, b.ncols()));
    assert_eq!(counts.bins.iter().map(|bin| bin.method).collect::<Vec<_>>(), [Method::Esc]);
    assert!(work.peak_bytes() <= limit.unwrap_or(u64::MAX));
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for band in bands {
        let (pattern, of_band) = band.into_parts();
        let before = row_idx.len() as u64;
        col_ptr.extend(pattern.col_ptr()[1..].iter().map(|end| before + end));
        row_idx.extend_from_slice(pattern.row_idx());
        values.extend(of_band);
    }
    assert_eq!((&col_ptr[..], &row_idx[..]), (want.pattern().col_ptr(), want.pattern().row_idx()));
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert!(bits(&values) == bits(want.values()), "aligned {alignment:?}, within {limit:?}");
    Ok(counts.bands)
}
/// Factors A and B. A has a dense row, so that runs are cut. Columns of B have from zero to
/// thousands of products.
fn operands(left: BlockShape, right: BlockShape) -> Result<(Cbc<f64>, Cbc<f64>)> {
    let n = 1500;
    let dense_row = (0..n).map(|k| (3, k));
    let others = (0..n).flat_map(|k| (0..k % 3).map(move |i| ((7 * k + 11 * i) % 40 + 4, k)));
    let a = blocks(44, n, left, dense_row.chain(others).collect())?;
    let entries = |j: usize| [0, 2, 1300, 5, 1, 40][j % 6];
    let b = blocks(n, 60, right, (0..60).flat_map(|j| (0..entries(j)).map(move |i| ((i * 7 + j) % n, j))).collect())?;
    Ok((a, b))
}

fn blocks(rows: usize, cols: usize, shape: BlockShape, mut places: Vec<(usize, usize)>) -> Result<Cbc<f64>> {
    places.sort_unstable_by_key(|&(row, col)| (col, row));
    places.dedup();
    let ones = places.into_iter().map(|(row, col)| (row, col, 1.0));
    let pattern = Csc::from_triplets(rows, cols, ones)?.pattern().clone();
    // The values are real numbers whose sums depend on their order.
    let value = |i: usize| ((i * 2_654_435_761) % 1_000_003) as f64 * 2f64.powi((i % 41) as i32 - 20);
    let values = (0..pattern.nnz() * shape.area()).map(value).collect();
    Cbc::new(pattern, shape, values)
}

#[test]
fn one_shot_in_bands() -> Result<()> {
    for (rows, inner, cols) in [(1, 1, 1), (2, 3, 1)] {
        let (a, b) = operands(BlockShape::new(rows, inner)?, BlockShape::new(inner, cols)?)?;
        assert_eq!(check(&a, &b, None, None)?, 1);
        let alignment = (rows > 1).then_some(32);
        in_bands(|limit| check(&a, &b, alignment, Some(limit)))?;
    }
    Ok(())
}

#[test]
fn planned_in_parts_and_in_bands() -> Result<()> {
    let device = test_device();
    let shape = BlockShape::new(3, 2)?;
    let j = generate::PowerLaw { nodes: 300, edges: 2000, shape, seed: 5, ..Default::default() }.matrix()?;
    let work = Work::new(&device, None);
    let dj = DeviceCbc::upload(&work, j.as_cbc())?;
    let factor = |transposed| FactorPattern { pattern: dj.pattern.clone(), shape: dj.shape, transposed };
    let (left, right) = (factor(true), factor(false));
    let planned = |part, limit| -> Result<usize> {
        let plan =
            PlannedProduct::new(&Work::new(&device, limit), f64::TYPE, (&left, &right), part, Method::Esc.into())?;
        let bins: Vec<_> = plan.bins.iter().map(|bin| (bin.method, bin.columns, bin.products)).collect();
        assert_eq!(bins, [(Method::Esc, j.ncols() as u64, plan.products)]);
        let values = work.buffer::<f64>(plan.c.nnz() * plan.shape.area())?.into_any();
        let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride: plan.shape.area(), values };
        plan.execute(&work, (&dj, &dj), Scaling::plain(f64::TYPE), Destination::from(&mut c))?;
        let c = Cbc::<f64>::from_cbc(c.download(&work)?)?;
        assert!(c == reference::gram(&j, part)?, "{part:?}");
        Ok(plan.bands().len())
    };
    for part in [Part::Full, Part::Lower, Part::Upper] {
        assert_eq!(planned(part, None)?, 1);
    }
    in_bands(|limit| planned(Part::Lower, Some(limit)))
}

/// Lowers the limit of memory until the product is computed in bands.
fn in_bands(product: impl Fn(u64) -> Result<usize>) -> Result<()> {
    let mut limit = 64 << 20;
    while product(limit)? == 1 {
        limit /= 2;
    }
    Ok(())
}
