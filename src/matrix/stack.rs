//! Joins matrices: side by side, or one below the other.
use super::{AnyMatrix, AnyView, HostMatrix, Pattern, check_sides};
use crate::{
    Element, Error, Result,
    element::{AnyValues, ElementType, with_type},
    host::memory,
};

/// Joins matrices of one type side by side: [A B ...].
///
/// ```
/// use blockmul::{Csc, matrix::{hstack, vstack}};
/// let a = Csc::from_triplets(2, 1, [(0, 0, 1.0)])?;
/// let b = Csc::from_triplets(2, 2, [(1, 0, 2.0), (0, 1, 3.0)])?;
/// let beside = hstack(&[&a, &b])?;
/// assert_eq!((beside.ncols(), beside.values()), (3, &[1.0, 2.0, 3.0][..]));
/// let below = vstack(&[&b, &b])?;
/// assert_eq!((below.nrows(), below.values()), (4, &[2.0, 2.0, 3.0, 3.0][..]));
/// assert!(vstack(&[&a, &b]).is_err());
/// # Ok::<(), blockmul::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`] if there is no matrix, or if matrices differ in rows, in block shape or, for
/// [`AnyMatrix`], in type; [`Error::Memory`] if the result does not fit the host;
/// [`Error::TooLarge`] if the result has too many scalar columns.
pub fn hstack<M: HostMatrix>(matrices: &[&M]) -> Result<M> {
    M::from_any(stack(&views(matrices), true)?)
}

/// Joins matrices of one type one below the other, the first on top; see [`hstack`].
///
/// # Errors
/// The errors of [`hstack`], with columns instead of rows.
pub fn vstack<M: HostMatrix>(matrices: &[&M]) -> Result<M> {
    M::from_any(stack(&views(matrices), false)?)
}

fn views<'a, M: HostMatrix>(matrices: &[&'a M]) -> Vec<AnyView<'a>> {
    matrices.iter().map(|matrix| matrix.view()).collect()
}

fn stack(matrices: &[AnyView<'_>], beside: bool) -> Result<AnyMatrix> {
    let Some(&first) = matrices.first() else {
        return Err(Error::Argument("there is no matrix to stack".into()));
    };
    // The arrays of a row-major matrix are the compressed columns of its transpose.
    let along = beside != first.kind.is_row_major();
    let across = |one: &AnyView<'_>| if along { one.pattern.nrows() } else { one.pattern.ncols() };
    for one in matrices {
        if (one.kind, one.element(), one.shape, across(one))
            != (first.kind, first.element(), first.shape, across(&first))
        {
            let what = if beside { "beside" } else { "below" };
            let of = |one: &AnyView<'_>| format!("a {}<{}> of {}", one.kind.name(), one.element(), one.dimensions());
            return Err(Error::Argument(format!("{} does not go {what} {}", of(one), of(&first))));
        }
    }
    let sum = |of: fn(&AnyView<'_>) -> usize| matrices.iter().map(of).sum::<usize>();
    let nnz = sum(|one| one.nnz());
    memory::check("the stacked matrix", (nnz as u64) * (4 + (first.shape.area() * first.element().bytes()) as u64))?;
    let (rows, columns) = match along {
        true => (first.pattern.nrows(), sum(|one| one.pattern.ncols())),
        false => (sum(|one| one.pattern.nrows()), first.pattern.ncols()),
    };
    // All checks of sizes are made here, because the code below assumes that row indices fit 32
    // bits.
    check_sides(rows, columns, first.shape)?;
    let entries = match along {
        true => along_columns(matrices),
        false => across_columns(matrices),
    };
    let pattern = Pattern::new(rows, columns, entries.col_ptr, entries.row_idx)?;
    let values = with_type!(first.element(), T => gathered::<T>(matrices, &entries.from));
    Ok(AnyMatrix::of_arrays(first.kind, pattern, first.shape, first.shape.area(), values))
}

/// The entries of the result, whose values are copied later.
#[derive(Default)]
struct Entries {
    col_ptr: Vec<u64>,
    row_idx: Vec<u32>,
    /// Ranges of entries that are copied one after another. Each range comes with the index of its
    /// matrix.
    from: Vec<(usize, std::ops::Range<usize>)>,
}

fn along_columns(matrices: &[AnyView<'_>]) -> Entries {
    let mut all = Entries { col_ptr: vec![0], ..Entries::default() };
    for (number, one) in matrices.iter().enumerate() {
        let before = all.row_idx.len() as u64;
        all.col_ptr.extend(one.pattern.col_ptr()[1..].iter().map(|end| before + end));
        all.row_idx.extend_from_slice(one.pattern.row_idx());
        all.from.push((number, 0..one.nnz()));
    }
    all
}

fn across_columns(matrices: &[AnyView<'_>]) -> Entries {
    let mut all = Entries { col_ptr: vec![0], ..Entries::default() };
    for column in 0..matrices[0].pattern.ncols() {
        let mut above = 0;
        for (number, one) in matrices.iter().enumerate() {
            all.row_idx.extend(one.pattern.column(column).iter().map(|row| above + row));
            all.from.push((number, one.pattern.entries(column)));
            above += one.pattern.nrows() as u32;
        }
        all.col_ptr.push(all.row_idx.len() as u64);
    }
    all
}

/// Copies the blocks of these entries, without padding.
fn gathered<T: Element>(matrices: &[AnyView<'_>], from: &[(usize, std::ops::Range<usize>)]) -> AnyValues {
    let typed: Vec<_> = matrices.iter().filter_map(|one| one.cbc::<T>()).collect();
    let mut values = Vec::new();
    for (number, entries) in from {
        entries.clone().for_each(|entry| values.extend_from_slice(typed[*number].block(entry)));
    }
    T::any(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShape, Bsr, Cbc, Csc, Csr, Matrix, matrix::AnyMatrix};
    use nalgebra::DMatrix;

    fn numbers(rows: usize, cols: usize, seed: usize) -> DMatrix<f32> {
        DMatrix::from_fn(rows, cols, |i, j| ((i * 7 + j * 3 + seed) % 4) as f32)
    }

    fn dense<M: Matrix<Element = f32>>(matrix: &M) -> DMatrix<f32> {
        let dense = matrix.as_cbc().to_dense();
        if M::ROW_MAJOR { dense.transpose() } else { dense }
    }

    fn of_format<M: Matrix<Element = f32>>(make: impl Fn(&DMatrix<f32>) -> Result<M>) -> Result<()> {
        let parts = [numbers(6, 4, 0), numbers(6, 8, 1), numbers(6, 0, 2), numbers(6, 4, 3)];
        let made = parts.iter().map(&make).collect::<Result<Vec<_>>>()?;
        let cols = [0..4, 4..12, 12..12, 12..16];
        let beside = dense(&hstack(&made.iter().collect::<Vec<_>>())?);
        assert_eq!(beside.shape(), (6, 16));
        for (part, cols) in parts.iter().zip(cols) {
            assert_eq!(&beside.columns_range(cols), part);
        }
        let turned = parts.iter().map(|part| make(&part.transpose().resize(part.ncols(), 4, 1.0)));
        let turned = turned.collect::<Result<Vec<_>>>()?;
        let below = dense(&vstack(&turned.iter().collect::<Vec<_>>())?);
        assert_eq!((below.shape(), below.rows_range(4..12).into_owned()), ((16, 4), dense(&turned[1])));
        assert!(matches!(vstack(&[&made[0], &made[1]]), Err(Error::Argument(_))));
        assert!(matches!(hstack::<M>(&[]), Err(Error::Argument(_))));
        Ok(())
    }

    #[test]
    fn stacks_are_those_of_dense_matrices() -> Result<()> {
        let shape = BlockShape::new(2, 4)?;
        of_format(Csc::from_dense)?;
        of_format(Csr::from_dense)?;
        of_format(|dense| Cbc::from_dense(dense, shape)?.with_alignment(64))?;
        of_format(|dense| Bsr::from_dense(dense, shape))
    }

    #[test]
    fn more_rows_than_32_bits_can_number_are_refused() -> Result<()> {
        let tall = Csc::<f32>::from_triplets(1 << 31, 1, [((1 << 31) - 1, 0, 1.0)])?;
        assert!(matches!(vstack(&[&tall, &tall]), Err(Error::TooLarge { .. } | Error::Pattern(_))));
        assert_eq!(hstack(&[&tall, &tall])?.nrows(), 1 << 31);
        Ok(())
    }

    #[test]
    fn types_must_agree() -> Result<()> {
        let one = AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 1.0f32)])?);
        let others = [one.cast(ElementType::F64), one.clone().into_transpose(), one.to_blocks(BlockShape::new(2, 1)?)?];
        for other in others {
            let said = hstack(&[&one, &other]).unwrap_err().to_string();
            assert!(said.contains("does not go beside a Csc<f32>"), "{said}");
        }
        assert_eq!(hstack(&[&one, &one])?.nnz(), 2);
        Ok(())
    }
}
