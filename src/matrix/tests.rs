//! Tests round trips of conversions, and errors of constructors.
use super::*;
use crate::{Error, Result, error::PatternError};
use nalgebra::DMatrix;
use proptest::prelude::*;

/// A dense matrix of small integers, most of them 0, with some empty rows and columns.
fn dense(rows: usize, cols: usize, seed: u64) -> DMatrix<f64> {
    let mut state = seed;
    DMatrix::from_fn(rows, cols, |_, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = (state >> 33) % 20;
        if value < 4 { value as f64 + 1.0 } else { 0.0 }
    })
}

proptest! {
    #[test]
    fn conversions_keep_the_matrix(rows in 1usize..5, cols in 1usize..5, r in 1usize..8, c in 1usize..8, seed: u64) {
        let full = dense(rows * r, cols * c, seed);
        let shape = BlockShape::new(r, c)?;
        let scalars = Csc::from_dense(&full)?;
        prop_assert_eq!(&scalars.to_dense(), &full);
        prop_assert_eq!(scalars.transpose().to_dense(), full.transpose());
        let blocks = scalars.to_blocks(shape)?;
        prop_assert_eq!(&blocks.to_dense(), &full);
        prop_assert_eq!(&blocks.transpose().to_dense(), &full.transpose());
        prop_assert_eq!(&blocks.transpose().transpose(), &blocks);
        prop_assert_eq!(blocks.to_scalars().to_dense(), full.clone());
        prop_assert_eq!(blocks.to_scalars().to_blocks(shape)?, blocks.clone());
        prop_assert_eq!(blocks.with_alignment(32)?, blocks.clone());
        let again = Cbc::from_triplets(rows, cols, shape, blocks.blocks().map(|(i, j, b)| (i, j, b.clone_owned())))?;
        prop_assert_eq!(&again, &blocks);
        prop_assert_eq!(Csr::from_transpose(scalars.transpose()).into_transpose().to_dense(), full.transpose());
    }
}

#[test]
fn triplets_in_any_order_are_summed_in_the_order_given() -> Result<()> {
    // The sum 1e16 + 1 + 1 is 1e16 if the terms are added in this order, and 1e16 + 2 in another
    // order.
    let a = Csc::from_triplets(3, 3, [(2, 2, 5.0), (1, 0, 1e16), (0, 0, 7.0), (1, 0, 1.0), (1, 0, 1.0)])?;
    assert_eq!((a.pattern().col_ptr(), a.pattern().row_idx()), (&[0, 2, 2, 3][..], &[0, 1, 2][..]));
    assert_eq!(a.values(), [7.0, 1e16, 5.0]);
    let block = DMatrix::from_element(2, 1, 1.5);
    let b = Cbc::from_triplets(1, 1, BlockShape::new(2, 1)?, [(0, 0, block.clone()), (0, 0, block)])?;
    assert_eq!(b.values(), [3.0, 3.0]);
    Ok(())
}

#[test]
fn broken_patterns_are_named_by_column_and_entry() {
    let refused = |nrows, ncols, col_ptr: &[u64], row_idx: &[u32]| match Pattern::new(
        nrows,
        ncols,
        col_ptr.to_vec(),
        row_idx.to_vec(),
    ) {
        Err(Error::Pattern(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(2, 2, &[0, 1], &[0]), PatternError::ColPtrLength { found: 2, expected: 3 });
    assert_eq!(refused(2, 1, &[1, 1], &[0]), PatternError::ColPtrStart { found: 1 });
    assert_eq!(refused(2, 2, &[0, 2, 1], &[0]), PatternError::ColPtrFalls { column: 1, start: 2, end: 1 });
    assert_eq!(refused(2, 1, &[0, 3], &[0, 1]), PatternError::ColPtrEnd { found: 3, nnz: 2 });
    assert_eq!(
        refused(2, 2, &[0, 1, 3], &[1, 0, 2]),
        PatternError::RowOutOfRange { column: 1, entry: 2, row: 2, nrows: 2 }
    );
    assert_eq!(
        refused(2, 2, &[0, 1, 3], &[1, 1, 1]),
        PatternError::RowOrder { column: 1, entry: 2, previous: 1, row: 1 }
    );
    assert_eq!(refused(0, 1, &[0, 1], &[0]), PatternError::RowOutOfRange { column: 0, entry: 0, row: 0, nrows: 0 });
    // The dimension is too large by one: its number of offsets does not fit 32 bits.
    let (dimension, limit) = (u32::MAX as usize, u64::from(u32::MAX) - 1);
    let too_many = |what| PatternError::TooManyLines { what, dimension, limit };
    assert_eq!(
        (refused(dimension, 1, &[0, 0], &[]), refused(1, dimension, &[], &[])),
        (too_many("rows"), too_many("columns"))
    );
}

#[test]
fn wrong_sizes_and_shapes_are_refused_with_their_numbers() -> Result<()> {
    let text = |error: Error| error.to_string();
    let a = Csc::from_triplets(6, 4, [(5, 3, 1.0)])?;
    let error = text(a.to_blocks(BlockShape::new(4, 2)?).unwrap_err());
    assert!(error.contains("6 rows") && error.contains("fits: 2, 3, 6"), "{error}");
    assert!(text(Csc::new(a.pattern().clone(), vec![1.0, 2.0]).unwrap_err()).contains("2 elements, 1 expected"));
    assert!(text(Csc::from_triplets(2, 2, [(0, 2, 1.0)]).unwrap_err()).contains("(0, 2)"));
    assert!(text(BlockShape::new(33, 1).unwrap_err()).contains("33x1"));
    assert!(BlockShape::new(0, 1).is_err() && BlockShape::new(32, 32).is_ok());
    let block = DMatrix::from_element(2, 3, 1.0);
    assert!(text(Cbc::from_triplets(1, 1, BlockShape::new(2, 2)?, [(0, 0, block)]).unwrap_err()).contains("2x3"));
    assert!(a.to_blocks(BlockShape::new(3, 2)?)?.with_alignment(24).is_err());
    Ok(())
}

#[test]
fn empty_matrices_exist() -> Result<()> {
    for (rows, cols) in [(0, 0), (0, 3), (3, 0)] {
        let a = Csc::<f64>::from_triplets(rows, cols, [])?;
        assert_eq!((a.nnz(), a.transpose().nrows(), a.to_dense().shape()), (0, cols, (rows, cols)));
        assert_eq!(a.to_blocks(BlockShape::new(3, 3)?)?.nnz(), 0);
    }
    Ok(())
}

#[test]
fn zeros_of_either_sign_are_left_out_and_nan_is_none() {
    let entries = [(0, 0, 0.0), (1, 0, 2.0), (0, 1, -0.0), (2, 2, f64::NAN), (1, 2, 0.0)];
    let a = Csc::from_triplets(3, 3, entries).unwrap().without_zeros();
    assert_eq!((a.pattern().col_ptr(), a.pattern().row_idx()), (&[0, 1, 1, 2][..], &[1, 2][..]));
    assert!(a.values()[0] == 2.0 && a.values()[1].is_nan());
}

#[test]
fn shapes_are_parsed_as_they_are_shown() -> Result<()> {
    let shape = |text: &str| text.parse::<BlockShape>();
    for (text, rows, cols) in [("3", 3, 3), ("2x3", 2, 3), ("32X1", 32, 1)] {
        assert_eq!(shape(text)?, BlockShape::new(rows, cols)?);
        assert_eq!(shape(&shape(text)?.to_string())?, shape(text)?);
    }
    assert!(shape("33").unwrap_err().to_string().contains("33x33"));
    for wrong in ["", "x", "2x", "x3", "0", "2x0", "2x3x4", "-1", "a"] {
        assert!(shape(wrong).is_err(), "{wrong}");
    }
    Ok(())
}

/// Tests entries on both sides of the parts into which large patterns are divided.
#[test]
fn large_patterns_are_validated_at_every_place() {
    let (columns, each) = (70_000, 9);
    let col_ptr: Vec<u64> = (0..=columns as u64).map(|column| column * each as u64).collect();
    let row_idx: Vec<u32> = (0..columns * each).map(|entry| (entry % each) as u32).collect();
    let validated = |row_idx: &[u32]| Pattern::new(each, columns, col_ptr.clone(), row_idx.to_vec());
    assert!(validated(&row_idx).is_ok());
    for place in [0, 1 << 16, 3 << 16, 9 << 16, columns * each - 1] {
        for entry in place.saturating_sub(10)..(place + 10).min(row_idx.len()) {
            let mut wrong = row_idx.clone();
            wrong[entry] = if entry % each == 0 { each as u32 } else { wrong[entry - 1] };
            assert!(validated(&wrong).is_err(), "{entry}");
        }
    }
}
