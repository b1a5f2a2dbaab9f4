//! Blocks of all shapes in ranges, compared with the reference.
use super::*;
use half::f16;

/// A matrix of blocks of this shape on the pattern of `scalars`. The sums depend on their order.
fn blocks<T: Element>(scalars: &Csc<f64>, shape: BlockShape) -> Result<Cbc<T>> {
    let value = |i: usize| ((i * 2_654_435_761) % 1009) as f64 * 2f64.powi((i % 5) as i32 - 8) - 1.5;
    let values = (0..scalars.nnz() * shape.area()).map(|i| T::from_f64(value(i))).collect();
    Cbc::new(scalars.pattern().clone(), shape, values)
}

/// Tuning for products of blocks with these sides.
fn tuning([r, k, c]: [usize; 3]) -> RangeTuning {
    RangeTuning { multiplications: Some((r * k * c) as u64), ..small() }
}

/// Compares products of blocks of r x k and k x c with the reference: with pairs kept and in two
/// passes, with padding after each block and without. `a` and `b` have the patterns of the factors.
fn check_shape<T: Element>((a, b): (&Csc<f64>, &Csc<f64>), sides: [usize; 3]) -> Result<()> {
    let [r, k, c] = sides;
    let (a, b) = (blocks::<T>(a, BlockShape::new(r, k)?)?, blocks::<T>(b, BlockShape::new(k, c)?)?.with_alignment(32)?);
    let kept = tuning(sides);
    let in_two = RangeTuning { groups: 1, ranges: 40, one_pass_percent: 101, ..kept };
    for (tuning, stride, expected) in [(kept, r * c, Way::Kept), (in_two, r * c + 3, Way::TwoPasses)] {
        let (counts, _) = check_payload::<_, BlockKernels>((&a, &b), &tuning, (stride, u64::MAX))?;
        assert!(way(&counts) == Some(expected) || counts.products == 0, "{counts:?}");
    }
    Ok(())
}

#[test]
fn blocks_of_all_shapes_have_the_bits_of_the_reference() -> Result<()> {
    let (a, b) = (a::<f64>(300, 30)?, b(30, &[1, 0, 2, 3, 9, 30, 0, 1, 17, 1])?);
    // The sides cover every way to cut a column of a block into vectors. No kernel is compiled for
    // the last sides.
    for sides in [[1, 1, 1], [2, 2, 2], [3, 6, 3], [5, 1, 2], [15, 3, 4], [16, 2, 7], [17, 2, 1]] {
        check_shape::<f64>((&a, &b), sides)?;
    }
    check_shape::<f32>((&a, &b), [6, 3, 6])?;
    check_shape::<f16>((&a, &b), [3, 2, 7])
}

#[test]
fn small_blocks_in_ranges_have_the_bits_of_the_reference() -> Result<()> {
    let (a, several) = (a::<f64>(70, 12)?, b(12, &[3, 0, 1, 5, 12, 2])?);
    let (shape, column) = (BlockShape::new(3, 2)?, BlockShape::new(2, 1)?);
    for b in [several, b(12, &[1, 0, 1])?] {
        let (a, b) = (blocks::<f64>(&a, shape)?, blocks(&b, column)?);
        for direct in [true, false] {
            let tuning = RangeTuning { direct, ..tuning([3, 2, 1]) };
            check_payload::<_, BlockKernels>((&a, &b), &tuning, (3, u64::MAX))?;
        }
    }
    Ok(())
}

/// The product has far fewer products of blocks than lines of rows.
#[test]
fn sparse_columns_of_blocks_have_the_bits_of_the_reference() -> Result<()> {
    check_shape::<f64>((&a(600_000, 30)?, &b(30, &[1, 0, 2, 3, 4, 2, 0, 1])?), [2, 1, 2])
}

/// Runs of 1024 products and more are cut into parts.
#[test]
fn long_runs_of_blocks_are_cut_as_in_the_reference() -> Result<()> {
    let a = matrix(67, &(0..3000).map(|k| vec![0, 5 + k % 62]).collect::<Vec<_>>())?;
    let b = b(3000, &[1, 1023, 1024, 1025, 2048, 2049, 3000])?;
    check_shape::<f16>((&a, &b), [3, 2, 2])?;
    check_shape::<f64>((&a, &b), [18, 1, 1])
}

#[test]
fn blocks_times_nothing_are_nothing() -> Result<()> {
    let empty = |rows, cols| Csc::<f64>::from_triplets(rows, cols, []);
    for (a, b) in [(empty(0, 0)?, empty(0, 0)?), (empty(3, 2)?, empty(2, 0)?), (empty(5, 3)?, empty(3, 4)?)] {
        check_shape::<f64>((&a, &b), [2, 3, 2])?;
    }
    Ok(())
}

/// As the memory limit decreases, all columns are computed at once, then in bands, and finally by
/// ESC or not at all.
#[test]
fn a_limit_cuts_blocks_into_bands_and_changes_no_bit() -> Result<()> {
    let (left, right) = (BlockShape::new(3, 2)?, BlockShape::new(2, 3)?);
    let a = blocks::<f64>(&a(2000, 300)?, left)?;
    let b = blocks(&b(300, &(0..200).map(|i| i * 7 % 40).collect::<Vec<_>>())?, right)?;
    let tuning = tuning([3, 2, 3]);
    let within = |limit| check_payload::<_, BlockKernels>((&a, &b), &tuning, (9, limit));
    let (whole, most) = within(u64::MAX)?;
    assert_eq!((way(&whole), whole.bands), (Some(Way::Kept), 1));
    bands_until_refused(most, 4, within, |counts| way(counts) != Some(Way::Kept));
    Ok(())
}
