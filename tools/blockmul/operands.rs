//! The operands of a product: files read, transposed, cut into blocks.
use crate::failure::Failure;
use crate::output::Messages;
use blockmul::{BlockShape, Cbc, Csc, Element, Matrix, Result, io};
use std::path::{Path, PathBuf};

/// Which files, and what to do with them.
#[derive(clap::Args)]
pub struct OperandArgs {
    /// A: a Matrix Market file, plain or gzipped.
    pub a: PathBuf,
    /// B. Without it B is A itself, transposed if A is not square and no transposition is asked for.
    pub b: Option<PathBuf>,
    /// Multiply with the transpose of A.
    #[arg(long)]
    pub transpose_a: bool,
    /// Multiply with the transpose of B.
    #[arg(long)]
    pub transpose_b: bool,
    /// Cut A, once transposed, into dense blocks of R rows and K columns; one number for square ones.
    #[arg(long, value_name = "RxK", value_parser = crate::sizes::block)]
    pub block: Option<BlockShape>,
    /// Cut B into blocks of K x C [default: K x R where that divides B, else K x K].
    #[arg(long, value_name = "KxC", value_parser = crate::sizes::block)]
    pub block_b: Option<BlockShape>,
    /// Add up entries that stand twice in a file instead of refusing it.
    #[arg(long)]
    pub sum_duplicates: bool,
}

/// A and B as scalars, and the shapes of the blocks to cut them into. `b` is `None` where B is A.
pub struct Operands<T> {
    pub a: Csc<T>,
    pub b: Option<Csc<T>>,
    pub a_shape: BlockShape,
    pub b_shape: BlockShape,
}

impl OperandArgs {
    /// Reads the files and says which shapes and transpositions were not spelt out.
    pub fn read<T: Element>(&self, messages: &Messages) -> std::result::Result<Operands<T>, Failure> {
        let file_a = self.read_file(&self.a, messages)?;
        let file_b = match &self.b {
            Some(path) if *path != self.a => Some(self.read_file(path, messages)?),
            _ => None,
        };
        let square = file_a.pattern().nrows() == file_a.pattern().ncols();
        let by_default = self.b.is_none() && !square && !self.transpose_a && !self.transpose_b;
        if by_default {
            messages.say("B = Aᵀ, for A is not square");
        }
        let transpose_b = self.transpose_b || by_default;
        let b = match file_b {
            Some(b) => Some(oriented(b, transpose_b)),
            None if transpose_b == self.transpose_a => None,
            None => Some(oriented(file_a.clone(), transpose_b)),
        };
        let a = oriented(file_a, self.transpose_a);
        let (a_shape, b_shape) = self.shapes(b.as_ref().unwrap_or(&a), messages);
        Ok(Operands { a: convert(a, "A", messages), b: b.map(|b| convert(b, "B", messages)), a_shape, b_shape })
    }

    fn read_file(&self, path: &Path, messages: &Messages) -> Result<Csc<f64>> {
        messages.step(format!("reading {}", path.display()));
        let options = io::ReadOptions { sum_duplicates: self.sum_duplicates, ..Default::default() };
        Ok(io::read(path, &options)?.matrix)
    }

    fn shapes(&self, b: &Csc<f64>, messages: &Messages) -> (BlockShape, BlockShape) {
        let a_shape = self.block.unwrap_or(BlockShape::SCALAR);
        let b_shape = self.block_b.unwrap_or_else(|| {
            let (rows, cols) = (b.pattern().nrows(), b.pattern().ncols());
            let transposed = a_shape.transpose();
            let divides = rows.is_multiple_of(transposed.rows()) && cols.is_multiple_of(transposed.cols());
            if divides {
                transposed
            } else {
                BlockShape::new(a_shape.cols(), a_shape.cols()).expect("sides of a block")
            }
        });
        if (a_shape, b_shape) != (BlockShape::SCALAR, BlockShape::SCALAR) && self.block_b.is_none() {
            messages.say(&format!("blocks: A {a_shape}, B {b_shape}"));
        }
        (a_shape, b_shape)
    }
}

fn oriented(matrix: Csc<f64>, transpose: bool) -> Csc<f64> {
    if transpose { matrix.transpose() } else { matrix }
}

/// To the element type, saying what no longer fits it.
fn convert<T: Element>(matrix: Csc<f64>, name: &str, messages: &Messages) -> Csc<T> {
    let converted = matrix.cast::<T>();
    let pairs = matrix.values().iter().zip(converted.values());
    let lost = pairs.filter(|(before, after)| before.is_finite() && !after.to_f64().is_finite()).count();
    if lost > 0 {
        messages.say(&format!(
            "warning: {lost} of {} values of {name} are too large for {}",
            matrix.values().len(),
            T::NAME
        ));
    }
    converted
}

/// The matrix types a file becomes: scalars, or blocks of one shape.
pub trait Operand: Matrix {
    fn cut(scalars: Csc<Self::Element>, shape: BlockShape) -> Result<Self>;
}

impl<T: Element> Operand for Csc<T> {
    fn cut(scalars: Csc<T>, _: BlockShape) -> Result<Self> {
        Ok(scalars)
    }
}

impl<T: Element> Operand for Cbc<T> {
    fn cut(scalars: Csc<T>, shape: BlockShape) -> Result<Self> {
        scalars.to_blocks(shape)
    }
}
