//! `--semiring`: the algebras by name, and which of them blocks have.
use crate::failure::Failure;
use blockmul::{BlockShape, Semiring};

/// Parses the name of an algebra.
pub fn semiring() -> impl clap::builder::TypedValueParser<Value = Semiring> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names = Semiring::ALL.iter().map(|semiring| semiring.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Semiring>())
}

/// Whether an entry of 0 does in products what a place without an entry does.
pub fn has_zeros(semiring: Semiring) -> bool {
    matches!(semiring, Semiring::PlusTimes | Semiring::OrAnd)
}

/// Refuses an algebra in which matrices of a file, cut into blocks of these shapes, have another
/// product than their scalars: a place of a block without an entry in the file is 0 there.
pub fn check_blocks(semiring: Semiring, shapes: &[BlockShape]) -> Result<(), Failure> {
    if has_zeros(semiring) || shapes.iter().all(|&shape| shape == BlockShape::SCALAR) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--semiring {semiring} multiplies scalars: in blocks, places without an entry would be entries of 0; \
         blocks of 1 are scalars"
    )))
}
