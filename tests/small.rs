//! Every kernel on inputs small enough for a simulator that checks each memory access: `tools/oclgrind` runs this file under one.
mod common;
use blockmul::{BlockShape, Element, Matrix, Result, Spgemm, reference};
use common::*;
use half::f16;

fn check<M: Matrix + PartialEq>(a: &M, b: &M, what: &str) -> Result<()> {
    let (c, _) = Spgemm::new().multiply_host(&device(), a, b)?;
    assert!(c == reference::multiply(a, b)?, "{what}");
    Ok(())
}

fn families<T: Element>() -> Result<()> {
    for family in FAMILIES {
        let (a, b) = (scalars::<T>(family, 23, 17, 3, 1), scalars::<T>(Family::Uniform, 17, 19, 2, 2));
        check(&a, &b, &format!("{family:?} by Uniform"))?;
        check(&b.transpose(), &a.transpose(), &format!("transposes of {family:?} and Uniform"))?;
    }
    let (compiled, general) = (BlockShape::new(3, 2)?, BlockShape::new(2, 5)?);
    let a = blocks::<T>(Family::Uniform, 7, 6, 3, compiled, 3);
    check(&a, &blocks(Family::EmptyInner, 6, 5, 2, compiled.transpose(), 4), "compiled blocks")?;
    check(&a, &blocks(Family::Banded, 6, 5, 2, general, 4), "general blocks")
}

#[test]
fn families_and_blocks_in_f64() -> Result<()> {
    families::<f64>()
}

#[test]
fn families_and_blocks_in_f32() -> Result<()> {
    families::<f32>()
}

#[test]
fn families_and_blocks_in_f16() -> Result<()> {
    families::<f16>()
}

#[test]
fn a_long_segment_and_a_long_run() -> Result<()> {
    // 1300 products in one run (cut at 1024), and a segment of 2600 products in runs of two: chunks and a merge pass on a GPU's tuning.
    let ones = |rows, cols, places: Vec<(usize, usize)>| {
        blockmul::Csc::<f64>::from_triplets(rows, cols, places.into_iter().map(|(i, j)| (i, j, 1.0)))
    };
    let row = ones(1, 1300, (0..1300).map(|k| (0, k)).collect())?;
    check(&row, &row.transpose(), "a long run")?;
    let tall = ones(1300, 2, (0..1300).flat_map(|i| [(i, 0), (i, 1)]).collect())?;
    check(&tall, &ones(2, 1, vec![(0, 0), (1, 0)])?, "a long segment")?;
    let wide = blockmul::Cbc::new(row.pattern().clone(), BlockShape::new(1, 2)?, vec![1.0; 2600])?;
    check(&wide, &wide.transpose(), "a long run of blocks")
}

#[test]
fn bands() -> Result<()> {
    let a = scalars::<f64>(Family::Uniform, 60, 60, 6, 5);
    let (whole, report) = Spgemm::new().multiply_host(&device(), &a, &a)?;
    assert!(whole == reference::multiply(&a, &a)?);
    // One MiB of slack is taken from a band's share: a limit below what it took makes bands or an error, never another result.
    let on_device = device().upload(&a)?;
    match Spgemm::new().memory_limit(report.peak_device_bytes).multiply_with_report(&on_device, &on_device) {
        Ok((c, _)) => assert!(c.download()? == whole),
        Err(error) => assert_eq!(error.kind(), blockmul::error::ErrorKind::Memory),
    }
    Ok(())
}
