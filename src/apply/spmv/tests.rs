//! Rows that a work-item adds, under every number of entries loaded ahead.
use super::*;
use crate::{Cbc, Matrix, device::test_device, generate::Random, reference, resident::DeviceCbc};
use nalgebra::DMatrix;

/// Columns of 0 to 19 blocks, one of several pieces, and one that ends where a piece does. Their
/// rows have 0 to 20 blocks.
fn of_all_lengths(shape: BlockShape) -> Result<Cbc<f32>> {
    let mut random = Random::new(5);
    let length = |col: usize| match col {
        3 => 2 * 1024 + 9,
        37 => 1024,
        _ => col * 7 % 20,
    };
    let places = (0..70).flat_map(|col| (0..length(col)).map(move |k| (k + col, col)));
    let block =
        |random: &mut Random| DMatrix::from_fn(shape.rows(), shape.cols(), |_, _| (2.0 * random.unit() - 1.0) as f32);
    Cbc::from_triplets(2200, 70, shape, places.map(|(i, j)| (i, j, block(&mut random))))
}

/// The sums of a format, of whose rows an item loads `ahead` entries at once, and those of the
/// reference.
fn same_bits(a: &Cbc<f32>, of_rows: bool, format: Format, packed: bool, ahead: usize) -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    let (nrows, ncols) = (a.nrows() * a.shape().rows(), a.ncols() * a.shape().cols());
    let (nx, ny) = if of_rows { (ncols, nrows) } else { (nrows, ncols) };
    let x: Vec<f32> = (0..nx).map(|i| (i % 97) as f32 * 0.31 - 15.0).collect();
    let before = vec![2.0; ny];
    let mut want = before.clone();
    reference::multiply_vector_in(format.order(), !of_rows, (0.7, a, &x), (-1.3, &mut want))?;

    let on_device = DeviceCbc::upload(&work, a.as_cbc())?;
    let (uses, split, semiring) = (1, Split::Bytes, Semiring::PlusTimes);
    let request = Request { format, semiring, any_order: false, split, uses, packed, symmetric: false };
    let block = Block::new(on_device.shape, of_rows);
    let rows = Rows { ahead, ..Rows::new(&work, &on_device.pattern, block, of_rows, request)? };
    let spmv = Spmv::<f32, f32>::of_rows(&work, rows, request)?;
    let (x, mut y, scaling) = (work.upload(&x)?, work.upload(&before)?, Scaling { alpha: 0.7, beta: -1.3 });
    if packed {
        let mut values = PackedValues::new(&device, &spmv)?;
        values.update(&work, &spmv, (&on_device).into())?;
        spmv.run(&work, values.stored(), &x, scaling, &mut y)?;
    } else {
        spmv.run(&work, (&on_device).into(), &x, scaling, &mut y)?;
    }
    let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
    let what = format!("{format} of {}, of rows {of_rows}, packed {packed}, {ahead} ahead", a.shape());
    assert_eq!(bits(&y.download(&work)?), bits(&want), "{what}");
    Ok(())
}

#[test]
fn rows_loaded_ahead_have_the_bits_of_the_reference() -> Result<()> {
    let scalars = of_all_lengths(BlockShape::SCALAR)?;
    for (of_rows, packed, ahead) in [(false, false, 2), (false, true, 8), (true, false, 8), (true, true, 2)] {
        for format in [Format::SlicedEll, Format::Hyb, Format::CsrVector] {
            same_bits(&scalars, of_rows, format, packed, ahead)?;
        }
    }
    let blocks = of_all_lengths(BlockShape::new(3, 2)?)?;
    for (of_rows, packed) in [(false, false), (false, true), (true, false), (true, true)] {
        same_bits(&blocks, of_rows, Format::SlicedEll, packed, 4)?;
    }
    same_bits(&blocks, true, Format::Hyb, true, 8)
}
