//! Block-Jacobi: the inverses of the blocks on the diagonal.
use crate::{
    DeviceMatrix, Error, Result,
    device::{Buffer, Work},
    element::ElementType,
    matrix::{AnyView, HostMatrix},
    planned::Planned,
    vector::Diagonal,
};
use nalgebra::DMatrix;
use rayon::prelude::*;

/// The inverses of the blocks on a diagonal.
pub(super) struct Inverses {
    /// The columns of all inverses, one after another, in the arithmetic of the elements.
    pub columns: Buffer,
}

impl Inverses {
    /// Inverts the diagonal blocks of `a`.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] with the first block that is not positive definite, or whose
    /// inverse has numbers too large for the arithmetic.
    pub fn new<M: HostMatrix>(diagonal: &Diagonal<M>, a: &DeviceMatrix<M>) -> Result<Self> {
        let mut blocks = diagonal.output()?;
        diagonal.execute(a, &mut blocks)?;
        let arithmetic = a.element().arithmetic();
        let inverses = inverted(&blocks.download()?.view(), arithmetic)?;
        Ok(Self { columns: Work::new(a.device(), None).upload_numbers(arithmetic, &inverses)? })
    }
}

/// The columns of the inverses of all blocks, computed in f64 and rounded later.
fn inverted(diagonal: &AnyView<'_>, arithmetic: ElementType) -> Result<Vec<f64>> {
    let (side, numbers) = (diagonal.shape.rows(), diagonal.values.numbers());
    let blocks = numbers.par_chunks(diagonal.stride).map(|block| &block[..side * side]);
    let mut inverses = vec![0.0; blocks.len() * side * side];
    let fits = |numbers: &[f64]| numbers.iter().all(|&value| arithmetic.nearest(value).is_finite());
    let invert = |(to, block): (&mut [f64], &[f64])| {
        if side == 1 {
            to[0] = block[0].recip();
            return block[0] > 0.0 && block[0].is_finite() && fits(to);
        }
        let Some(factor) = DMatrix::from_column_slice(side, side, block).cholesky() else { return false };
        let inverse = factor.inverse();
        // The inverse is symmetric, apart from rounding: its rows are stored as its columns.
        to.iter_mut().enumerate().for_each(|(place, to)| *to = inverse[(place / side, place % side)]);
        fits(to)
    };
    let failed = inverses.par_chunks_mut(side * side).zip(blocks).position_first(|pair| !invert(pair));
    match failed {
        Some(block) => Err(Error::NotPositiveDefinite { matrix: "A", block }),
        None => Ok(inverses),
    }
}
