use super::*;
use crate::io::{ReadOptions, WriteOptions, read_any, write};
use half::f16;

/// Small integers, which every element type can represent.
fn scalars<T: Element>() -> Csc<T> {
    let entries = [(0, 0, 2.0), (5, 0, 3.0), (2, 1, 7.0), (3, 3, 0.0), (1, 3, 1.0)];
    Csc::from_triplets(6, 4, entries.map(|(row, col, x)| (row, col, T::from_f64(x)))).unwrap()
}

fn there_and_back<M: Matrix + PartialEq + std::fmt::Debug>(matrix: M) -> Result<AnyMatrix>
where
    AnyMatrix: From<M>,
{
    let (any, size) = (AnyMatrix::from(matrix.clone()), AnyView::from(&matrix).dimensions());
    assert_eq!((any.kind(), any.element(), any.nnz()), (MatrixKind::of::<M>(), M::Element::TYPE, any.view().nnz()));
    let of_shape = (any.shape().rows(), any.shape().cols());
    assert_eq!((any.nrows(), any.ncols(), of_shape), (size.nrows, size.ncols, (size.block_rows, size.block_cols)));
    assert_eq!(any.as_cbc::<M::Element>()?.values, matrix.as_cbc().values);
    assert_eq!(any.clone().typed::<M>()?, matrix);
    Ok(any)
}

fn of_type<T: Element>() -> Result<()> {
    let (shape, scalars) = (BlockShape::new(2, 4)?, scalars::<T>());
    let blocks = scalars.to_blocks(shape)?;
    let any = there_and_back(scalars.clone())?;
    assert_eq!(there_and_back(blocks.clone())?, any.to_blocks(shape)?);
    assert_eq!(any.to_blocks(shape)?.to_scalars(), blocks.to_scalars().into());
    let rows = Csr::from_transpose(scalars.transpose());
    let any = there_and_back(rows)?;
    assert_eq!(there_and_back(Bsr::from_transpose(blocks.transpose()))?, any.to_blocks(shape)?);
    assert!(matches!(any.to_blocks(BlockShape::new(4, 4)?), Err(Error::BlockDoesNotDivide { what: "rows", .. })));
    // Blocks with padding, and blocks of another shape.
    let padded = there_and_back(blocks.with_alignment(64)?)?;
    assert_eq!(padded, blocks.clone().into());
    let (other, scalars) = (BlockShape::new(3, 2)?, blocks.to_scalars());
    assert_eq!(padded.to_blocks(other)?, scalars.to_blocks(other)?.into());
    for element in [ElementType::F64, ElementType::F16, ElementType::U32, ElementType::U8] {
        assert_eq!(AnyMatrix::from(scalars.clone()).cast(element).cast(T::TYPE), scalars.clone().into());
    }
    Ok(())
}

#[test]
fn matrices_of_every_type_and_format_come_back() -> Result<()> {
    of_type::<f64>()?;
    of_type::<f32>()?;
    of_type::<f16>()?;
    of_type::<u32>()?;
    of_type::<i32>()?;
    of_type::<u8>()
}

#[test]
fn elements_are_equal_as_numbers() -> Result<()> {
    let of = |value| Csc::from_triplets(1, 1, [(0, 0, value)]).map(AnyMatrix::from);
    assert_eq!(of(0.0)?, of(-0.0)?);
    assert_ne!(of(0.0)?, of(1.0)?);
    assert_ne!(of(f64::NAN)?, of(f64::NAN)?);
    Ok(())
}

#[test]
fn a_triangle_and_its_mirror_image_are_the_whole() -> Result<()> {
    let scalars = [(0, 0, 1.0), (2, 0, 2.0), (1, 1, 3.0), (3, 2, 4.0), (0, 2, 2.0), (2, 3, 4.0)];
    let scalars = Csc::from_triplets(4, 4, scalars)?;
    for side in [1, 2] {
        let blocks = AnyMatrix::from(scalars.to_blocks(BlockShape::new(side, side)?)?);
        for whole in [blocks.clone(), blocks.into_transpose()] {
            for (part, below) in [(Part::Lower, true), (Part::Upper, false)] {
                let triangle = whole.triangle(part);
                let arrays = triangle.pattern();
                let by_rows = |row: u32, col: usize| (row as usize >= col) == (below != whole.kind.is_row_major());
                let is_inside = |col| arrays.column(col).iter().all(|&row| row as usize == col || by_rows(row, col));
                assert!(triangle.nnz() < whole.nnz() && (0..arrays.ncols()).all(is_inside));
                assert_eq!(triangle.mirrored()?, whole);
            }
        }
    }
    assert!(AnyMatrix::from(Csc::<f64>::from_triplets(2, 3, [])?).mirrored().is_err());
    Ok(())
}

#[test]
fn other_types_are_refused_by_their_names() -> Result<()> {
    let any = AnyMatrix::from(scalars::<f32>().to_blocks(BlockShape::new(2, 2)?)?);
    let refused = |error: Error| error.to_string();
    assert_eq!(refused(any.as_cbc::<f64>().unwrap_err()), "the matrix has elements of f32, not of f64");
    assert_eq!(refused(Cbc::<f64>::try_from(any.clone()).unwrap_err()), "the matrix is a Cbc<f32>, not a Cbc<f64>");
    assert_eq!(refused(any.typed::<Bsr<f32>>().unwrap_err()), "the matrix is a Cbc<f32>, not a Bsr<f32>");
    Ok(())
}

#[test]
fn casts_round_as_elements_do() -> Result<()> {
    let column = (0..4).zip([-1.5, 300.25, f64::NAN, 1e300]).map(|(row, x)| (row, 0, x));
    let a = AnyMatrix::from(Csc::from_triplets(4, 1, column)?);
    assert_eq!(a.cast(ElementType::I32).values(), &AnyValues::I32(vec![-2, 300, 0, i32::MAX]));
    assert_eq!(a.cast(ElementType::U8).values(), &AnyValues::U8(vec![0, 255, 0, 255]));
    Ok(())
}

#[test]
fn files_name_the_type() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, matrix: &AnyMatrix| -> Result<AnyMatrix> {
        let path = folder.path().join(name);
        write(&path, matrix, &WriteOptions::default())?;
        read_any(&path, &ReadOptions::default())
    };
    let shape = BlockShape::new(3, 2)?;
    for element in [ElementType::F64, ElementType::F32, ElementType::U32, ElementType::I32, ElementType::U8] {
        let scalars = AnyMatrix::from(scalars::<f64>()).cast(element);
        let blocks = scalars.to_blocks(shape)?;
        assert_eq!(read("a.npz", &scalars)?, scalars);
        assert_eq!(read("b.npz", &blocks)?, blocks);
        // Text files have no element type, and the plain binary format has a fixed one.
        assert_eq!(read("a.mtx", &blocks)?, blocks.cast(ElementType::F64));
        assert_eq!(read("a.bin", &blocks)?, blocks.cast(ElementType::F64));
    }
    // SciPy computes with no type narrower than `float32`, so `f16` is written as `float32`.
    let halves = AnyMatrix::from(scalars::<f16>());
    assert_eq!(read("a.npz", &halves)?, halves.cast(ElementType::F32));
    Ok(())
}
