//! The operands of a product: reads files, transposes them and cuts them into blocks.
use crate::algebra::{check_blocks, has_zeros};
use crate::dense::{self, DenseOperand, SparseOperand};
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::messages::Messages;
use crate::mixed::{self, Layouts, OfFile};
use crate::overflow::Overflow;
use blockmul::{
    BlockShape, Result, Semiring,
    dense::Side,
    element::ElementType,
    io::{
        MatrixFile, Symmetry,
        dense::{is_dense, is_npy},
    },
    matrix::AnyMatrix,
};
use std::path::{Path, PathBuf};

/// The files of the operands, and their transposition and blocks.
#[derive(clap::Args)]
pub struct OperandArgs {
    /// A; - for Matrix Market on stdin.
    pub a: PathBuf,
    /// B. Without it B is A itself, transposed if A is not square and no transposition is
    /// requested.
    pub b: Option<PathBuf>,
    /// Multiply with the transpose of A.
    #[arg(long)]
    pub transpose_a: bool,
    /// Multiply with the transpose of B.
    #[arg(long)]
    pub transpose_b: bool,
    /// Cut A, after --transpose-a, into dense blocks of R rows and K columns; one number for square
    /// blocks [default: the file's own blocks, else scalars].
    #[arg(long, value_name = "RxK")]
    pub block: Option<BlockShape>,
    /// Cut B into blocks of K x C [default: the file's own if they fit A's, else K x R if that
    /// divides B, else K x K].
    #[arg(long, value_name = "KxC")]
    pub block_b: Option<BlockShape>,
    #[command(flatten)]
    pub reading: Reading,
}

/// A and B as scalars, and the shapes of their blocks. `b` is `None` if B is A.
pub struct Operands {
    pub a: AnyMatrix,
    pub b: Option<AnyMatrix>,
    pub overflow: Overflow,
    pub a_shape: BlockShape,
    pub b_shape: BlockShape,
    /// The operands as blocks, if the blocks have several shapes. If blocks have several shapes,
    /// `a_shape` and `b_shape` are 1x1.
    pub layouts: Option<Layouts>,
}

/// A sparse and a dense operand.
pub struct SparseAndDense {
    pub sparse: SparseOperand,
    /// Whether the sparse matrix is multiplied as its transpose.
    pub transposed: bool,
    pub dense: DenseOperand,
}

/// Operands from stdin and pipes, which cannot be read twice. Operands that cannot be read twice
/// are read before the command knows which operand is dense.
#[derive(Default)]
pub struct Streamed {
    a: Option<MatrixFile>,
    b: Option<MatrixFile>,
}

/// The options of one operand.
struct Asked<'a> {
    name: &'static str,
    path: &'a Path,
    /// The file, if it has been read.
    read: Option<MatrixFile>,
    transposed: bool,
    block: Option<BlockShape>,
    /// The name of the option that sets the operand's blocks.
    option: &'static str,
}

impl OperandArgs {
    /// Reads the operands that cannot be opened twice.
    pub fn read_streams(&self, messages: &Messages) -> std::result::Result<Streamed, Failure> {
        let read = |path: &PathBuf| match input::is_stream(path) {
            true => input::read(path, &self.reading, messages).map(Some),
            false => Ok(None),
        };
        let b = self.b.as_ref().filter(|&b| *b != self.a);
        Ok(Streamed { a: read(&self.a)?, b: b.map_or(Ok(None), read)? })
    }

    /// The side of the sparse matrix if the other operand is dense. Two arrays of Matrix Market are
    /// read as sparse matrices.
    pub fn dense(&self, streamed: &Streamed) -> std::result::Result<Option<Side>, Failure> {
        let b = self.b.as_ref().unwrap_or(&self.a);
        let same = *b == self.a;
        let dense = |path: &PathBuf, read: &Option<MatrixFile>| {
            read.as_ref().map_or_else(|| is_dense(path), |file| file.is_array)
        };
        let read_b = if same { &streamed.a } else { &streamed.b };
        match (dense(&self.a, &streamed.a), dense(b, read_b)) {
            (true, true) if is_npy(&self.a) || is_npy(b) => {
                let (a, b) = (self.a.display(), b.display());
                Err(Failure::Usage(format!("{a} and {b} are both dense: one must be sparse")))
            }
            (false, true) => Ok(Some(Side::Left)),
            (true, false) => Ok(Some(Side::Right)),
            _ => Ok(None),
        }
    }

    /// Reads the operands. The sparse operand is on `side`.
    pub fn read_with_dense(
        &self,
        element: ElementType,
        side: Side,
        streamed: Streamed,
        semiring: Semiring,
        messages: &Messages,
    ) -> std::result::Result<SparseAndDense, Failure> {
        let Self { a, b, transpose_a, transpose_b, block, block_b, .. } = self;
        let a =
            Asked { name: "A", path: a, read: streamed.a, transposed: *transpose_a, block: *block, option: "--block" };
        let path = b.as_ref().unwrap_or(&self.a);
        let (transposed, block, option) = (*transpose_b, *block_b, "--block-b");
        let b = Asked { name: "B", path, read: streamed.b, transposed, block, option };
        let (sparse, dense) = if side == Side::Left { (a, b) } else { (b, a) };
        if dense.block.is_some() {
            return Err(Failure::Usage(format!(
                "{} is for a sparse matrix, and {} is dense; {} cuts {}",
                dense.option, dense.name, sparse.option, sparse.name
            )));
        }
        let Asked { name, path, read, transposed, block, option } = sparse;
        let mut file = match read {
            Some(file) => file,
            None => input::read(path, &self.reading, messages)?,
        };
        say_symmetry(name, &file, messages);
        // `--block` gives the shape of blocks of the operand after its transposition.
        let block = oriented_shape(block, transposed).or(input::layout(&file)).unwrap_or(BlockShape::SCALAR);
        check_blocks(semiring, &[(option, block)])?;
        if !has_zeros(semiring) {
            input::drop_padding(&mut file, path, messages);
        }
        let converted = input::check_cast(element, &file.matrix, name, path, messages)?;
        let groups = file.groups.filter(|groups| groups.shape() == block).map(|groups| groups.cast(element));
        let sparse = SparseOperand { matrix: input::elements(element, file.matrix), block, converted, groups };
        let Asked { name, path, read, .. } = dense;
        let mut matrix = match read {
            Some(file) => dense::of_file(element, &file, name, path, messages)?,
            None => dense::read(element, path, name, &self.reading, messages)?,
        };
        if dense.transposed {
            matrix.matrix = matrix.matrix.into_transpose();
        }
        Ok(SparseAndDense { sparse, transposed, dense: matrix })
    }

    /// Reads the files, calls `once_read` when they have been read, and prints which shapes and
    /// transpositions were chosen by default.
    pub fn read<R>(
        &self,
        element: ElementType,
        streamed: Streamed,
        semiring: Semiring,
        messages: &Messages,
        once_read: impl FnOnce() -> std::result::Result<R, Failure>,
    ) -> std::result::Result<(Operands, R), Failure> {
        let read = |path, file: Option<MatrixFile>| match file {
            Some(file) => Ok(file),
            None => input::read(path, &self.reading, messages),
        };
        let mut file_a = read(&self.a, streamed.a)?;
        let mut file_b = match &self.b {
            Some(path) if *path != self.a => Some(read(path, streamed.b)?),
            _ => None,
        };
        let done = once_read()?;
        say_symmetry("A", &file_a, messages);
        file_b.iter().for_each(|file_b| say_symmetry("B", file_b, messages));
        let square = file_a.matrix.nrows() == file_a.matrix.ncols();
        let by_default = self.b.is_none() && !square && !self.transpose_a && !self.transpose_b;
        if by_default {
            messages.say("A is not square: multiplying A·Aᵀ");
        }
        let transpose_b = self.transpose_b || by_default;
        let of_a = OfFile { name: "A", file: &file_a, transposed: self.transpose_a };
        let of_b = OfFile { name: "B", file: file_b.as_ref().unwrap_or(&file_a), transposed: transpose_b };
        let layouts = self.layouts(&of_a, &of_b, semiring, messages);
        let (a_layout, b_layout) = (
            oriented_shape(input::layout(&file_a), self.transpose_a),
            oriented_shape(input::layout(file_b.as_ref().unwrap_or(&file_a)), transpose_b),
        );
        let (rows, cols) = {
            let b = &file_b.as_ref().unwrap_or(&file_a).matrix;
            if transpose_b { (b.ncols(), b.nrows()) } else { (b.nrows(), b.ncols()) }
        };
        let (a_shape, b_shape) = match layouts {
            Some(_) => (BlockShape::SCALAR, BlockShape::SCALAR),
            None => self.shapes((a_layout, b_layout), (rows, cols), semiring, messages),
        };
        check_blocks(semiring, &[("--block", a_shape), ("--block-b", b_shape)])?;
        if !has_zeros(semiring) {
            input::drop_padding(&mut file_a, &self.a, messages);
            if let (Some(file), Some(path)) = (&mut file_b, &self.b) {
                input::drop_padding(file, path, messages);
            }
        }
        let cast = |file: MatrixFile, name: &str, path: &Path| -> std::result::Result<_, Failure> {
            let converted = input::check_cast(element, &file.matrix, name, path, messages)?;
            Ok((input::elements(element, file.matrix), converted))
        };
        let (a, of_a) = cast(file_a, "A", &self.a)?;
        let (b, of_b) = file_b.zip(self.b.as_ref()).map(|(file, path)| cast(file, "B", path)).transpose()?.unzip();
        let b = match b {
            Some(b) => Some(oriented(b, transpose_b)?),
            None if transpose_b == self.transpose_a => None,
            None => Some(oriented(a.clone(), transpose_b)?),
        };
        let a = oriented(a, self.transpose_a)?;
        let overflow = Overflow::of_operands(of_a, of_b.unwrap_or(of_a));
        Ok((Operands { a, b, overflow, a_shape, b_shape, layouts }, done))
    }

    /// Returns A and B as blocks. Returns `None` unless a file has blocks of several shapes, and no
    /// option requests other blocks.
    fn layouts(&self, a: &OfFile<'_>, b: &OfFile<'_>, semiring: Semiring, messages: &Messages) -> Option<Layouts> {
        if self.block.or(self.block_b).is_some() || !(a.is_mixed() || b.is_mixed()) {
            return None;
        }
        let layouts = match has_zeros(semiring) {
            true => Layouts::of(a, b),
            false => Err(format!("--semiring {semiring} multiplies scalars")),
        };
        match &layouts {
            Ok(layouts) => messages.say(&format!("blocks: {}, as in the file", layouts.describe())),
            Err(why) => mixed::warn(why, messages),
        }
        layouts.ok()
    }

    /// The shapes of A's and B's blocks. `layouts` are the shapes that the files declare; `rows`
    /// and `cols` are the size of B.
    fn shapes(
        &self,
        layouts: (Option<BlockShape>, Option<BlockShape>),
        (rows, cols): (usize, usize),
        semiring: Semiring,
        messages: &Messages,
    ) -> (BlockShape, BlockShape) {
        let a_shape = self.block.or(layouts.0).unwrap_or(BlockShape::SCALAR);
        // If the algebra needs scalars, B's blocks of 1xC are not used, although they would fit.
        let of_scalars = a_shape == BlockShape::SCALAR && !has_zeros(semiring);
        let of_file = layouts.1.filter(|shape| shape.rows() == a_shape.cols() && !of_scalars);
        let by_default = || of_file.unwrap_or_else(|| default_b_shape(a_shape, rows, cols));
        let b_shape = self.block_b.unwrap_or_else(by_default);
        let scalars = (a_shape, b_shape) == (BlockShape::SCALAR, BlockShape::SCALAR);
        if !scalars && (self.block_b.is_none() || self.block.is_none()) {
            let source = if self.block.is_none() && layouts.0.is_some() { ", as in the file" } else { "" };
            messages.say(&format!("blocks: A {a_shape}, B {b_shape}{source}"));
        }
        (a_shape, b_shape)
    }
}

fn say_symmetry(name: &str, file: &MatrixFile, messages: &Messages) {
    if file.symmetry != Symmetry::General {
        messages.say(&format!(
            "{name} is {} in its file and multiplied in full: {} entries there, {} here",
            file.symmetry.name(),
            file.stored,
            file.matrix.nnz()
        ));
    }
}

/// The default shape of B's blocks: the transpose of A's shape if it divides B, else square.
pub fn default_b_shape(a_shape: BlockShape, rows: usize, cols: usize) -> BlockShape {
    let transposed = a_shape.transpose();
    match rows.is_multiple_of(transposed.rows()) && cols.is_multiple_of(transposed.cols()) {
        true => transposed,
        false => BlockShape::new(a_shape.cols(), a_shape.cols()).expect("sides of a block"),
    }
}

fn oriented(matrix: AnyMatrix, transpose: bool) -> Result<AnyMatrix> {
    if transpose { matrix.transpose() } else { Ok(matrix) }
}

/// Converts a shape that is requested for the transposed operand into the shape for the operand
/// itself.
pub fn oriented_shape(shape: Option<BlockShape>, transpose: bool) -> Option<BlockShape> {
    if transpose { shape.map(BlockShape::transpose) } else { shape }
}
