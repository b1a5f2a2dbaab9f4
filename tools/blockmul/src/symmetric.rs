//! Symmetric matrices of which only one triangle is kept.
use crate::failure::Failure;
use crate::input::elements;
use crate::messages::Messages;
use blockmul::{
    BlockShape, Error, Part, Result as Outcome,
    element::ElementType,
    extra::analysis::asymmetry,
    io::{MatrixFile, Symmetry},
    matrix::AnyMatrix,
};

/// A matrix, and the part of it that is kept on a device.
pub struct Halves {
    pub whole: AnyMatrix,
    /// One triangle, with the diagonal; `None` means that the whole matrix is kept.
    triangle: Option<AnyMatrix>,
}

impl Halves {
    /// A matrix that is kept whole.
    pub fn whole(whole: impl Into<AnyMatrix>) -> Self {
        Self { whole: whole.into(), triangle: None }
    }

    /// Returns the part that is kept on the device.
    pub fn stored(&self) -> &AnyMatrix {
        self.triangle.as_ref().unwrap_or(&self.whole)
    }

    /// Converts the matrix and its triangle to elements of this type and cuts them into blocks.
    /// Blocks on the diagonal are stored whole.
    pub fn cut(self, element: ElementType, shape: BlockShape) -> Outcome<Self> {
        let Self { whole, triangle } = self;
        if shape == BlockShape::SCALAR {
            let triangle = triangle.map(|triangle| elements(element, triangle));
            return Ok(Self { whole: elements(element, whole), triangle });
        }
        let whole = elements(element, whole.to_blocks(shape)?);
        let triangle = triangle.map(|_| lower(&whole)).transpose()?;
        Ok(Self { whole, triangle })
    }

    /// The symmetric matrix of a file. If the file says that it is symmetric, the reader has added
    /// the other triangle. If the file does not say that it is symmetric, it has one triangle, or
    /// two triangles that agree within rounding, of which the lower one is used.
    pub fn new(file: MatrixFile, messages: &Messages) -> Result<Self, Failure> {
        let MatrixFile { matrix: read, symmetry, .. } = file;
        let refused = |why: String| Failure::Usage(format!("--symmetric: {why}"));
        let (rows, cols) = (read.nrows(), read.ncols());
        if rows != cols {
            return Err(refused(format!("A is {rows} x {cols}, a symmetric matrix is square")));
        }
        if symmetry == Symmetry::SkewSymmetric {
            return Err(refused("the file of A says skew-symmetric".into()));
        }
        let (below, above) = read
            .entries()
            .fold((false, false), |(below, above), (row, col, _)| (below || row > col, above || row < col));
        let both = below && above && symmetry != Symmetry::Symmetric;
        let apart = if both { asymmetry(&read) } else { Ok(0.0) };
        let most = apart.map_err(|error| match error {
            Error::Argument(why) => refused(why),
            other => other.into(),
        })?;
        if most > 0.0 {
            messages.say(&format!("the triangles of A differ by {most:.1e} at most: the lower one is taken"));
        }
        let read = AnyMatrix::from(read);
        let triangle = if below && above { read.triangle(Part::Lower) } else { read };
        Ok(Self { whole: triangle.mirrored()?, triangle: Some(triangle) })
    }
}

/// Returns the blocks on the diagonal and below it.
pub fn lower(a: &AnyMatrix) -> Outcome<AnyMatrix> {
    let (rows, cols, shape) = (a.nrows(), a.ncols(), a.shape());
    match rows == cols && shape.rows() == shape.cols() {
        true => Ok(a.triangle(Part::Lower)),
        false => Err(Error::Argument(format!("A is {rows} x {cols} blocks of {shape}, a symmetric matrix is square"))),
    }
}
