//! Matrices from files.
use blockmul::generate::Random;
use blockmul::io::{self, Field, Layout};
use blockmul::{BlockShape, Bsr, Csc, Result};
use std::path::Path;

/// The name and the matrix of `FILE` or `FILE:RxC`, the shape of its blocks.
pub fn named(argument: &str) -> std::result::Result<(String, Bsr<f64>), Box<dyn std::error::Error>> {
    let (path, shape) = argument.split_once(':').map_or((argument, None), |(path, shape)| (path, Some(shape)));
    let shape = match shape {
        Some(shape) => {
            let (rows, cols) = shape.split_once('x').unwrap_or((shape, shape));
            Some(BlockShape::new(rows.parse()?, cols.parse()?)?)
        }
        None => None,
    };
    let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, read(Path::new(path), shape)?))
}

/// The matrix of any file that blockmul reads, in blocks of `shape`, else of those the file says it is made of. Values that the file
/// leaves out are made up.
fn read(path: &Path, shape: Option<BlockShape>) -> Result<Bsr<f64>> {
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
