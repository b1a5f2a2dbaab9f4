//! `multiply --mask`: the places of C to compute.
use crate::failure::Failure;
use crate::input;
use crate::messages::Messages;
use crate::output::is_standard;
use blockmul::{BlockShape, Csc, Matrix};
use half::f16;
use std::path::{Path, PathBuf};

/// A mask on the grid of C; only its places count, not its values.
pub type Mask = Csc<f16>;

/// A mask as read from its file, in scalars.
pub struct MaskFile {
    path: PathBuf,
    places: Mask,
}

impl MaskFile {
    /// Refuses a mask from stdin if one of `others`, which are read too, is stdin.
    pub fn check(path: &Path, others: &[&Path]) -> Result<(), Failure> {
        match is_standard(path) && others.iter().any(|other| is_standard(other)) {
            true => Err(Failure::Usage("the mask and a matrix cannot both be read from stdin".into())),
            false => Ok(()),
        }
    }

    /// Reads the mask.
    pub fn read(path: &Path, sum_duplicates: bool, messages: &Messages) -> Result<Self, Failure> {
        let (pattern, _) = input::read(path, sum_duplicates, messages)?.matrix.into_parts();
        let zeros = vec![f16::ZERO; pattern.nnz()];
        Ok(Self { path: path.into(), places: Csc::new(pattern, zeros)? })
    }

    /// The blocks of C in which the mask has an entry; C has `rows` x `cols` scalars, in blocks of
    /// `shape`.
    pub fn cut(&self, (rows, cols): (usize, usize), shape: BlockShape) -> Result<Mask, Failure> {
        let (have_rows, have_cols) = (self.places.nrows(), self.places.ncols());
        if (have_rows, have_cols) != (rows, cols) {
            let path = self.path.display();
            return Err(Failure::Usage(format!(
                "{path}: a mask has the size of C, which is {rows} x {cols}; this one is {have_rows} x {have_cols}"
            )));
        }
        if shape == BlockShape::SCALAR {
            return Ok(self.places.clone());
        }
        let (pattern, ..) = self.places.to_blocks(shape)?.into_parts();
        let zeros = vec![f16::ZERO; pattern.nnz()];
        Ok(Csc::new(pattern, zeros)?)
    }
}

/// Rows and columns of a product in scalars, and the shape of its blocks.
pub fn size_of_product<M: Matrix>(a: &M, b: &M) -> Result<((usize, usize), BlockShape), Failure> {
    let (a, b) = (a.as_cbc(), b.as_cbc());
    let shape = BlockShape::new(a.shape.rows(), b.shape.cols())?;
    Ok(((a.pattern.nrows() * shape.rows(), b.pattern.ncols() * shape.cols()), shape))
}
