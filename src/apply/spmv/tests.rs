//! Rows that one work-item adds, under every number of entries loaded ahead.
mod expected;

pub(super) use expected::{Expected, rows_of};

use super::*;
use crate::{Cbc, Matrix, device::test_device, generate::Random, product::Factor, reference, resident::DeviceCbc};
use nalgebra::DMatrix;

const F32: Elements = Elements::both(ElementType::F32);

/// A matrix with columns of 0 to 19 blocks, one column of several pieces, and one column that ends
/// with a full piece. The rows of the matrix have 0 to 20 blocks. The blocks of a column are
/// `apart` rows from each other.
fn of_all_lengths(shape: BlockShape, apart: usize) -> Result<Cbc<f32>> {
    let mut random = Random::new(5);
    let length = |col: usize| match col {
        3 => 2 * 1024 + 9,
        37 => 1024,
        _ => col * 7 % 20,
    };
    let places = (0..70).flat_map(|col| (0..length(col)).map(move |k| (k * apart + col, col)));
    let block =
        |random: &mut Random| DMatrix::from_fn(shape.rows(), shape.cols(), |_, _| (2.0 * random.unit() - 1.0) as f32);
    Cbc::from_triplets(2200 * apart, 70, shape, places.map(|(i, j)| (i, j, block(&mut random))))
}

#[test]
fn rows_loaded_ahead_have_the_bits_of_the_reference() -> Result<()> {
    let device = test_device();
    let work = Work::new(&device, None);
    let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
    // The columns of a slice are near, or too far from each other for 16 bits.
    for (r, c, apart) in [(1, 1, 1), (3, 2, 1), (1, 1, 40), (3, 2, 40)] {
        let host = of_all_lengths(BlockShape::new(r, c)?, apart)?;
        let a = DeviceCbc::upload(&work, host.as_cbc())?;
        for of_rows in [false, true] {
            let (tall, wide) = (2200 * apart * r, 70 * c);
            let (nx, ny) = if of_rows { (wide, tall) } else { (tall, wide) };
            let x: Vec<f32> = (0..nx).map(|i| (i % 97) as f32 * 0.31 - 15.0).collect();
            let mut want = vec![2.0; ny];
            let factor = Factor { operand: &host, transposed: !of_rows };
            reference::multiply_vector(0.7, factor, &x, -1.3, &mut want)?;
            let (x, block) = (work.upload(&x)?, Block::new(a.shape, of_rows));
            for (format, packed) in [Format::SlicedEll, Format::Hyb].iter().flat_map(|f| [(*f, false), (*f, true)]) {
                let request = Request {
                    elements: F32,
                    format,
                    semiring: Semiring::PlusTimes,
                    any_order: false,
                    split: Split::Bytes,
                    uses: 1,
                    packed,
                    symmetric: false,
                };
                for ahead in [2, 5] {
                    let rows = Rows { ahead, ..Rows::new(&work, &a.pattern, block, of_rows, request)? };
                    let choice = FormatChoice::new(format, String::new);
                    let (entries, block) = (a.pattern.nnz() as u64, rows.block);
                    let sums = Spmv::converted(&work, rows, request, format, None)?;
                    let spmv = Spmv { choice, elements: F32, entries, block, sums };
                    let mut y = work.upload(&vec![2.0; ny])?;
                    let scaling = Scaling::of(ElementType::F32, 0.7, -1.3);
                    if packed {
                        let mut values = PackedValues::new(&device, &spmv)?;
                        values.update(&work, &spmv, (&a).into())?;
                        spmv.run(&work, values.stored(), &x, scaling, &mut y)?;
                    } else {
                        spmv.run(&work, (&a).into(), &x, scaling, &mut y)?;
                    }
                    let what = format!("{format} of {r}x{c}, of rows {of_rows}, packed {packed}, {ahead} ahead");
                    assert_eq!(bits(&y.download(&work)?), bits(&want), "{what}");
                }
            }
        }
    }
    Ok(())
}

/// Simulates a device with memory for the matrix, the vectors and the sums of rows, but not for an
/// index of the rows.
#[test]
fn without_room_for_an_index_of_the_rows_columns_are_used_as_they_are() -> Result<()> {
    let host = of_all_lengths(BlockShape::SCALAR, 1)?;
    let room = |bytes: u64| -> Result<_> {
        let mut info = test_device().info().clone();
        info.global_bytes = bytes;
        let device = Device::open(&info)?;
        let a = DeviceCbc::upload(&Work::new(&device, None), host.as_cbc())?;
        Ok((device, a))
    };
    let (_device, a) = room(test_device().info().global_bytes)?;
    let request = |format| Request {
        elements: F32,
        format,
        semiring: Semiring::PlusTimes,
        any_order: false,
        split: Split::Bytes,
        uses: 1000,
        packed: false,
        symmetric: false,
    };
    let spmv = |a: &DeviceCbc, format| Spmv::new(&a.pattern, BlockShape::SCALAR, true, request(format));
    assert_ne!(spmv(&a, Format::Auto)?.format(), Format::Csc);
    let x: Vec<f32> = (0..70).map(|i| i as f32 * 0.31 - 15.0).collect();
    let mut want = vec![2.0; 2200];
    reference::multiply_vector(0.7, &host, &x, -1.3, &mut want)?;

    let (device, a) = room(a.bytes() + (40 << 10))?;
    assert!(matches!(spmv(&a, Format::Csr), Err(Error::Memory { .. })));
    if device.info().kind != crate::DeviceKind::Cpu {
        assert!(matches!(spmv(&a, Format::Auto), Err(Error::Memory { .. })), "each item would go through all columns");
        return Ok(());
    }
    let spmv = spmv(&a, Format::Auto)?;
    assert_eq!((spmv.format(), spmv.why()), (Format::Csc, "csc: an index of the rows has no room"));
    let work = Work::new(&device, None);
    let (x, mut y) = (work.upload(&x)?, work.upload(&vec![2.0f32; 2200])?);
    spmv.run(&work, (&a).into(), &x, Scaling::of(ElementType::F32, 0.7, -1.3), &mut y)?;
    assert!(y.download(&work)?.iter().zip(&want).all(|(found, want)| found.to_bits() == want.to_bits()));
    Ok(())
}
