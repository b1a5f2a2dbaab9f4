//! Rasters that the device makes, compared with those of the host and with a dense matrix.
use crate::common::*;
use blockmul::{BlockShape, Cbc, Csc, Element, Matrix, Result, extra::spy::Raster};
use half::f16;
use proptest::prelude::*;

/// Returns the device's raster. The raster must have the bits of the host's raster.
fn raster<M: Matrix>(matrix: &M, size: usize) -> Result<Raster> {
    let (ours, theirs) = (Raster::of(&device().upload(matrix)?, size)?, Raster::on_host(matrix, size)?);
    assert_eq!(ours.scale(), theirs.scale());
    let bits = |raster: &Raster| raster.cells().iter().map(|c| (c.entries, c.largest.to_bits())).collect::<Vec<_>>();
    assert_eq!(bits(&ours), bits(&theirs));
    Ok(ours)
}

/// Checks the count and the largest magnitude of every cell with the dense matrix.
fn check<T: Element>(matrix: &Cbc<T>, size: usize) -> Result<()> {
    let raster = raster(matrix, size)?;
    let (scale, dense) = (*raster.scale(), matrix.to_dense());
    let lines =
        |cell: usize, per_cell: u64, all: usize| (cell * per_cell as usize)..((cell + 1) * per_cell as usize).min(all);
    for row in 0..scale.height() {
        for col in 0..scale.width() {
            let rows = lines(row, scale.rows.per_cell, dense.nrows());
            let cols = lines(col, scale.cols.per_cell, dense.ncols());
            let part = dense.view((rows.start, cols.start), (rows.len(), cols.len()));
            let largest = part.iter().map(|value| value.to_f64().abs()).fold(0.0, f64::max);
            let mut stored = part.iter().filter(|value| value.to_f64() != 0.0).count();
            if scale.whole_blocks {
                stored /= matrix.shape().area();
            }
            let cell = raster.cell(row, col);
            assert_eq!((cell.entries as usize, cell.largest), (stored, largest), "cell {row}, {col} of {scale:?}");
        }
    }
    Ok(())
}

fn any_blocks() -> impl Strategy<Value = (Family, usize, usize, BlockShape, u64)> {
    // Kernels are compiled for each shape, so the test has only a few: a scalar, a column, and two
    // rectangles.
    let shape = prop::sample::select(vec![(1, 1), (3, 1), (2, 4), (4, 3)])
        .prop_map(|(rows, cols)| BlockShape::new(rows, cols).unwrap());
    (any_family(), 0..40usize, 0..40usize, shape, any::<u64>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The blocks of these families have no zeros, so the dense matrix shows which elements are
    /// stored.
    #[test]
    fn a_raster_is_what_the_dense_matrix_shows((family, rows, cols, shape, seed) in any_blocks(), size in 1..200usize) {
        check::<f64>(&blocks(family, rows, cols, 3, shape, seed), size).unwrap();
        check::<f32>(&blocks(family, rows, cols, 3, shape, seed), size).unwrap();
        check::<f16>(&blocks(family, rows, cols, 3, shape, seed), size).unwrap();
    }

    #[test]
    fn any_bits_are_values(bits in prop::collection::vec(any::<u64>(), 1..50), size in 1..20usize) {
        fn of_type<T: Element>(bits: &[u64], from_bits: impl Fn(u64) -> T, size: usize) -> Result<Raster> {
            let entries = bits.iter().enumerate().map(|(row, &bits)| (row, row / 3, from_bits(bits)));
            raster(&Csc::from_triplets(bits.len(), bits.len(), entries)?, size)
        }
        of_type(&bits, f64::from_bits, size).unwrap();
        of_type(&bits, |bits| f32::from_bits(bits as u32), size).unwrap();
        of_type(&bits, |bits| f16::from_bits(bits as u16), size).unwrap();
    }
}

/// Many work-groups add to the same few cells.
#[test]
fn a_large_matrix_on_few_cells() -> Result<()> {
    let matrix = scalars::<f32>(Family::Uniform, 5000, 5000, 8, 7);
    for size in [1, 7, 640, 5000] {
        let raster = raster(&matrix, size)?;
        assert_eq!(raster.cells().iter().map(|cell| u64::from(cell.entries)).sum::<u64>(), matrix.nnz() as u64);
    }
    Ok(())
}
