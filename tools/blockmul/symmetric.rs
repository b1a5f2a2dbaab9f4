//! Symmetric matrices of which one triangle is kept.
use crate::failure::Failure;
use blockmul::{
    Csc, Element,
    io::{MatrixFile, Symmetry},
};

/// A matrix, and what of it is kept on a device.
pub struct Halves<T: Element> {
    pub whole: Csc<T>,
    /// One triangle, with the diagonal, if that is kept.
    triangle: Option<Csc<T>>,
}

impl<T: Element> Halves<T> {
    /// A matrix that is kept whole.
    pub fn whole(whole: Csc<T>) -> Self {
        Self { whole, triangle: None }
    }

    /// The symmetric matrix that a file holds: the reader has made it whole if the file says that
    /// it is symmetric, otherwise the file has one triangle.
    pub fn new(read: Csc<T>, file: &MatrixFile) -> Result<Self, Failure> {
        let (rows, cols) = (read.pattern().nrows(), read.pattern().ncols());
        if rows != cols {
            return Err(Failure::Usage(format!("--symmetric: A is {rows} x {cols}, a symmetric matrix is square")));
        }
        if file.symmetry == Symmetry::SkewSymmetric {
            return Err(Failure::Usage("--symmetric: the file of A says skew-symmetric".into()));
        }
        if file.symmetry == Symmetry::Symmetric {
            let lower = Csc::from_triplets(rows, cols, entries(&read).filter(|(row, col, _)| row >= col))?;
            return Ok(Self { whole: read, triangle: Some(lower) });
        }
        let (below, above) = entries(&read)
            .fold((false, false), |(below, above), (row, col, _)| (below || row > col, above || row < col));
        if below && above {
            return Err(Failure::Usage(
                "--symmetric: A has entries below its diagonal and above it, and its file does not say symmetric"
                    .into(),
            ));
        }
        let mirrored = entries(&read).filter(|(row, col, _)| row != col).map(|(row, col, value)| (col, row, value));
        let whole = Csc::from_triplets(rows, cols, entries(&read).chain(mirrored))?;
        Ok(Self { whole, triangle: Some(read) })
    }

    /// What is kept.
    pub fn stored(&self) -> &Csc<T> {
        self.triangle.as_ref().unwrap_or(&self.whole)
    }
}

fn entries<T: Element>(a: &Csc<T>) -> impl Iterator<Item = (usize, usize, T)> {
    let of_column =
        move |col| a.pattern().entries(col).map(move |e| (a.pattern().row_idx()[e] as usize, col, a.values()[e]));
    (0..a.pattern().ncols()).flat_map(of_column)
}
