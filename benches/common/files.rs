//! Matrices from files.
use blockmul::generate::Random;
use blockmul::io::{self, Field, Layout};
use blockmul::{BlockShape, Bsr, Csc, Result};
use std::path::Path;

/// The matrix of any file that blockmul reads, in blocks of `shape`, else of those the file says it is made of. Values that the file
/// leaves out are made up.
pub fn read(path: &Path, shape: Option<BlockShape>) -> Result<Bsr<f64>> {
    let file = io::read(path, &Default::default())?;
    let shape = shape.or(file.layout.as_ref().and_then(Layout::uniform)).unwrap_or(BlockShape::SCALAR);
    let mut matrix = file.matrix;
    if file.field == Field::Pattern {
        let random = &mut Random::new(1);
        let values = matrix.values().iter().map(|_| 0.5 + random.unit()).collect();
        matrix = Csc::new(matrix.pattern().clone(), values)?;
    }
    Ok(Bsr::from_transpose(matrix.to_blocks(shape)?.transpose()))
}
