//! Tests of sizes from a caller for which no memory suffices. Each size is refused, and no product
//! or sum of sizes wraps. This package is compiled with checks of integer overflow. A program that
//! depends on the library may be compiled without these checks, so an overflow, which panics here,
//! would give a wrong size there.
use crate::common::device;
use blockmul::{
    BlockShape, Csc, Error, Planned, Result,
    dense::{self, DenseShape, DenseView, DeviceGcoo, GcooArrays, Grouping, Layout},
    plan::{ApplyDense, ApplyGcoo, DenseMethod},
};
use nalgebra::DMatrix;

const HUGE: [usize; 6] = [usize::MAX, usize::MAX / 2, 1 << 62, (1 << 61) + 1, 1 << 40, u32::MAX as usize];

fn a() -> Csc<f64> {
    Csc::from_triplets(3, 3, [(0, 0, 1.0), (1, 2, 2.0)]).unwrap()
}

#[test]
fn plans_for_more_columns_than_a_matrix_has_are_refused() -> Result<()> {
    let a = device().upload(&a())?;
    let (pattern, groups) = (a.pattern(), DeviceGcoo::from_matrix(&a, Grouping::Rows(2))?);
    let refused = |what: &str, error: Error| assert!(matches!(error, Error::TooLarge { .. }), "{what}: {error}");
    for n in HUGE {
        for method in [DenseMethod::Rows, DenseMethod::Gcoo, DenseMethod::Auto] {
            let plan = ApplyDense::<Csc<f64>>::with(&pattern, n).method(method);
            refused("rows", plan.clone().plan().map(|_| ()).unwrap_err());
            refused(
                "columns",
                plan.clone().layouts(Layout::ByColumns, Layout::ByColumns).plan().map(|_| ()).unwrap_err(),
            );
            refused("right", plan.clone().from_right().plan().map(|_| ()).unwrap_err());
            refused("packed", plan.pack(&a).map(|_| ()).unwrap_err());
            refused("groups", ApplyGcoo::with(&groups, n).method(method).plan().map(|_| ()).unwrap_err());
        }
    }
    // The largest number of columns can be planned, but no memory suffices for it.
    let most = u32::MAX as usize - 1;
    assert!(ApplyDense::<Csc<f64>>::new(&pattern, most)?.cost().flops > 0);
    assert!(ApplyGcoo::new(&groups, most)?.cost().flops > 0);
    Ok(())
}

#[test]
fn shapes_of_any_sides_have_lengths() {
    let max = usize::MAX;
    for (rows, cols, leading) in
        [(max, 2, max), (2, max, max), (1 << 32, 1 << 32, 1 << 32), (0, max, max), (max, max, max), (2, 3, max)]
    {
        for layout in [Layout::ByRows, Layout::ByColumns] {
            let shape = DenseShape::new(rows, cols, layout).with_leading(leading);
            assert_eq!(shape.len(), if rows == 0 { 0 } else { max }, "{shape:?}");
            assert_eq!(shape.transposed().len(), shape.len());
            assert_eq!(shape.at(max, max), max);
            assert!(DenseView::new(shape, &[0.0f64; 4]).is_err());
            assert!(device().zero_dense::<f64>(shape).is_err(), "{shape:?}");
        }
    }
}

#[test]
fn products_that_fit_no_host_are_refused() -> Result<()> {
    let three = device().upload(&Csc::<f64>::from_triplets(3, 0, [])?)?;
    let refused = |product: &dense::DenseProduct<'_, Csc<f64>>| product.run_to_host().map(|_| ()).unwrap_err();
    // C would have 3 x 4e9 elements. D has 0 x 2^40 elements here, which nalgebra can represent.
    let wide = DMatrix::<f64>::zeros(0, 4_000_000_000);
    let error = refused(&dense::DenseProduct::of(&three, &wide));
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    let wider = DMatrix::<f64>::zeros(0, 1 << 40);
    for limit in [None, Some(0), Some(1 << 20)] {
        let product = dense::DenseProduct::of(&three, &wider);
        let error = refused(&limit.map_or(product.clone(), |limit| product.memory_limit(limit)));
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
    assert!(device().upload_dense(&wider).is_err());
    Ok(())
}

#[test]
fn groups_have_the_sides_of_matrices() -> Result<()> {
    let most = u32::MAX as usize - 1;
    let arrays = |row: usize, col: usize, area: usize| GcooArrays {
        group_ptr: vec![0, 1],
        rows: vec![row as u32],
        cols: vec![col as u32],
        values: vec![1.0f64; area],
    };
    for (rows, cols) in [(1, 32), (1, 2), (32, 1), (3, 1)] {
        let shape = BlockShape::new(rows, cols)?;
        let grouping = if rows == 1 { Grouping::Rows(1) } else { Grouping::Columns(1) };
        let of = |blocks: usize| {
            let sides = if rows == 1 { (1, blocks) } else { (blocks, 1) };
            let arrays = arrays(sides.0 - 1, sides.1 - 1, shape.area());
            DeviceGcoo::from_arrays(&device(), sides, shape, grouping, &arrays)
        };
        let blocks = most / shape.area();
        of(blocks)?;
        for blocks in [blocks + 1, most, most + 1, usize::MAX / 64] {
            let error = of(blocks).map(|_| ()).unwrap_err();
            assert!(matches!(error, Error::TooLarge { .. }), "{blocks} blocks of {shape}: {error}");
        }
    }
    Ok(())
}
