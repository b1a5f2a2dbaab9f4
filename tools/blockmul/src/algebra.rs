//! `--semiring`: checks which algebras support blocks.
use crate::failure::Failure;
use blockmul::{BlockShape, Semiring};

/// Whether an entry of 0 has the same effect in products as a place without an entry.
pub fn has_zeros(semiring: Semiring) -> bool {
    matches!(semiring, Semiring::PlusTimes | Semiring::OrAnd)
}

/// Refuses an algebra in which the product changes if the matrices of a file are cut into blocks of
/// these shapes: a place of a block that has no entry in the file becomes 0. Each shape is passed
/// with the option that sets it.
pub fn check_blocks(semiring: Semiring, shapes: &[(&str, BlockShape)]) -> Result<(), Failure> {
    match shapes.iter().find(|&&(_, shape)| shape != BlockShape::SCALAR) {
        Some((option, _)) if !has_zeros(semiring) => Err(Failure::Usage(format!(
            "--semiring {semiring} multiplies scalars: in blocks, places without an entry would be entries of 0; \
             {option} 1 makes scalars of them"
        ))),
        _ => Ok(()),
    }
}
