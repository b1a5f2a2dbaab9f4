//! `multiply --mask`: the places of C to compute.
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::output::is_standard;
use crate::sizes::count;
use blockmul::{BlockShape, Csc, matrix::Pattern};
use half::f16;
use std::path::{Path, PathBuf};

/// A mask on the grid of C. Only its places matter, not its values.
pub type Mask = Csc<f16>;

/// A mask as read from its file, in scalars.
pub struct MaskFile {
    path: PathBuf,
    places: Mask,
    /// If blocks of the file are padded with zeros, the mask without these zeros, and their number.
    unpadded: Option<(Mask, u64)>,
}

impl MaskFile {
    /// Refuses a mask from stdin if one of `others`, which are also read, is stdin.
    pub fn check(path: &Path, others: &[&Path]) -> Result<(), Failure> {
        match is_standard(path) && others.iter().any(|other| is_standard(other)) {
            true => Err(Failure::Usage("the mask and a matrix cannot both be read from stdin".into())),
            false => Ok(()),
        }
    }

    pub fn read(path: &Path, reading: &Reading, messages: &Messages) -> Result<Self, Failure> {
        let mut file = input::read(path, reading, messages)?;
        let whole = file.layout.is_some().then(|| file.matrix.pattern().clone());
        let zeros = file.drop_padding();
        let places = mask(file.matrix.into_parts().0)?;
        let path = path.into();
        Ok(match whole.filter(|_| zeros > 0) {
            Some(whole) => Self { path, places: mask(whole)?, unpadded: Some((places, zeros)) },
            None => Self { path, places, unpadded: None },
        })
    }

    /// Returns the blocks of C in which the mask has an entry. C has `rows` x `cols` scalars, in
    /// blocks of `shape`. If C has scalars, zeros in blocks of the file do not count.
    pub fn cut(&self, (rows, cols): (usize, usize), shape: BlockShape, messages: &Messages) -> Result<Mask, Failure> {
        let (have_rows, have_cols) = (self.places.nrows(), self.places.ncols());
        if (have_rows, have_cols) != (rows, cols) {
            let path = self.path.display();
            return Err(Failure::Usage(format!(
                "{path}: a mask has the size of C, which is {rows} x {cols}; this one is {have_rows} x {have_cols}"
            )));
        }
        if shape == BlockShape::SCALAR {
            let Some((places, zeros)) = &self.unpadded else { return Ok(self.places.clone()) };
            let (path, zeros) = (input::name(&self.path), count(*zeros as usize, "zero"));
            messages.say(&format!("{path}: {zeros} in its blocks left out, as padding"));
            return Ok(places.clone());
        }
        Ok(mask(self.places.to_blocks(shape)?.into_parts().0)?)
    }
}

fn mask(pattern: Pattern) -> blockmul::Result<Mask> {
    let zeros = vec![f16::ZERO; pattern.nnz()];
    Csc::new(pattern, zeros)
}
