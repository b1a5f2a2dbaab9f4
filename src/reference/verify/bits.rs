//! Comparisons bit for bit. The zeros 0.0 and -0.0 count as different.
use crate::{Element, Matrix, groups::BlockGroups, matrix::AnyMatrix};

/// Whether all elements have the same bits.
///
/// ```
/// use blockmul::reference::verify::same_bits;
/// assert!(same_bits(&[1.0, f64::NAN], &[1.0, f64::NAN]) && !same_bits(&[0.0], &[-0.0]));
/// ```
pub fn same_bits<T: Element>(have: &[T], want: &[T]) -> bool {
    bytemuck::cast_slice::<T, u8>(have) == bytemuck::cast_slice::<T, u8>(want)
}

/// Whether two matrices have the same pattern, blocks and bits.
pub fn same_matrix<M: Matrix>(have: &M, want: &M) -> bool {
    let (have, want) = (have.as_cbc(), want.as_cbc());
    let shapes = (have.shape, have.stride) == (want.shape, want.stride);
    have.pattern == want.pattern && shapes && same_bits(have.values, want.values)
}

/// Like [`same_matrix`], for matrices whose type is known at run time only. The types must also be
/// the same.
pub fn same_any_matrix(have: &AnyMatrix, want: &AnyMatrix) -> bool {
    let layout = |of: &AnyMatrix| (of.kind(), of.element(), of.shape(), of.stride());
    layout(have) == layout(want) && have.pattern() == want.pattern() && have.values().bytes() == want.values().bytes()
}

/// Like [`same_any_matrix`], for matrices of groups. The groups must also be the same.
pub fn same_any_groups(have: BlockGroups<AnyMatrix>, want: BlockGroups<AnyMatrix>) -> bool {
    let groups = |of: &BlockGroups<AnyMatrix>| [of.row_groups().to_vec(), of.col_groups().to_vec()];
    let same = |cells| match cells {
        (Some(have), Some(want)) => same_any_matrix(&have, &want),
        (have, want) => have.is_none() && want.is_none(),
    };
    groups(&have) == groups(&want) && have.into_cells().into_iter().zip(want.into_cells()).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csc;

    #[test]
    fn signs_of_zeros_patterns_and_groups_count() -> crate::Result<()> {
        let of = |value: f64, row| AnyMatrix::from(Csc::from_triplets(2, 2, [(0, 0, 1.0), (row, 1, value)]).unwrap());
        for (have, same) in [(of(0.0, 1), true), (of(-0.0, 1), false), (of(0.0, 0), false)] {
            assert_eq!(same_any_matrix(&have, &of(0.0, 1)), same);
            assert_eq!(same_matrix(&have.clone().typed::<Csc<f64>>()?, &of(0.0, 1).typed()?), same);
            let groups = |cell| BlockGroups::side_by_side([cell]);
            assert_eq!(same_any_groups(groups(have)?, groups(of(0.0, 1))?), same);
        }
        let twice = BlockGroups::side_by_side([of(0.0, 1), of(0.0, 1)])?;
        assert!(!same_any_groups(twice, BlockGroups::side_by_side([of(0.0, 1)])?));
        assert!(!same_any_matrix(&of(0.0, 1).cast(crate::element::ElementType::F32), &of(0.0, 1)));
        Ok(())
    }
}
