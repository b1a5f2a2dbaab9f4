//! Operands of the benchmark: generated matrices and files.
use super::families::{self, Named};
use crate::failure::Failure;
use crate::input::{self, Reading};
use crate::matrix_size::Size;
use crate::messages::{Messages, in_a_line};
use crate::operands::default_b_shape;
use crate::patterns::SEED;
use blockmul::{
    BlockShape, Cbc, Csc, Element, Result,
    element::{AnyValues, ElementType},
    extra::host,
    generate::Random,
    groups::BlockGroups,
    io::{MatrixFile, ValueType},
    matrix::AnyMatrix,
};
use std::path::PathBuf;

/// A family with its sizes, or a file.
#[derive(Clone)]
pub enum Input {
    Family(Named),
    File(PathBuf),
}

impl Input {
    /// Parses `FAMILY`, `FAMILY:20000x8`, or the path of a file; `./uniform` is a file.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let path = PathBuf::from(text);
        match Named::parse(text) {
            Some(named) => named.map(Self::Family),
            None if path.exists() => Ok(Self::File(path)),
            None => Err(format!("there is no such file, and the families are: {}", families::names())),
        }
    }

    /// The path, if the input is a file.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::Family(_) => None,
            Self::File(path) => Some(path),
        }
    }

    /// The name of the matrix in records: the family with its sizes, or the file's name up to its
    /// first dot, such as `blk6_er` for blk6_er.bcsr.gz.
    pub fn matrix_name(&self) -> String {
        match self {
            Self::Family(named) => named.name(),
            Self::File(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                in_a_line(name.split('.').next().unwrap_or_default()).into_owned()
            }
        }
    }

    /// The name of the family, or the path of the file.
    pub fn name(&self) -> String {
        match self {
            Self::Family(named) => named.family().into(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// The treatment of zeros in the blocks of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Padded {
    /// The zeros stay, as in products of blocks.
    Kept,
    /// The zeros are left out: in the algebra they would be entries.
    LeftOut,
    /// The matrix is read as scalars, without the zeros, which would be edges.
    Graph,
}

/// An input whose file, if it has one, has been read.
pub enum Source {
    /// A family, and the number of stored elements to generate if the family's name has no sizes.
    Family(Named, Option<usize>),
    File {
        name: String,
        matrix: Csc<f64>,
        layout: Option<BlockShape>,
        /// Whether the file has no values, so that random values are drawn.
        is_drawn: bool,
    },
}

impl Source {
    /// Reads a file. Zeros in the blocks of the file are left out for an operation in which they
    /// would count as entries.
    pub fn open(
        input: &Input,
        elements: Option<usize>,
        padded: Padded,
        reading: &Reading,
        messages: &Messages,
    ) -> std::result::Result<Self, Failure> {
        let path = match input {
            Input::Family(named) => return Ok(Self::Family(named.clone(), elements)),
            Input::File(path) => path,
        };
        let mut file = input::read(path, reading, messages)?;
        // A graph has no blocks, even if its file declares them.
        let layout = input::layout(&file).filter(|_| padded != Padded::Graph);
        let is_drawn = file.field == ValueType::Pattern;
        if padded != Padded::Kept {
            input::drop_padding(&mut file, path, messages);
        }
        Ok(Self::File { name: input.matrix_name(), matrix: with_values(file)?, layout, is_drawn })
    }

    /// The name of the matrix in blocks of `shape`.
    pub fn name(&self, shape: BlockShape) -> String {
        match self {
            Self::Family(named, elements) => named.sized(*elements, shape).name(),
            Self::File { name, .. } => name.clone(),
        }
    }

    pub fn default_block(&self) -> BlockShape {
        match self {
            Self::Family(named, _) => named.block(),
            Self::File { layout, .. } => layout.unwrap_or(BlockShape::SCALAR),
        }
    }

    /// The matrix in blocks of `shape`. The random values of a matrix are those of [`drawn`].
    ///
    /// # Errors
    /// [`blockmul::Error::Argument`] for values of a file that the element type cannot hold.
    pub fn any(&self, element: ElementType, shape: BlockShape) -> Result<AnyMatrix> {
        match self {
            Self::Family(named, elements) => of_drawn(element, named.sized(*elements, shape).matrix(shape)?),
            Self::File { name, matrix, is_drawn, .. } => {
                if !is_drawn {
                    input::check_numbers(element, matrix, name)?;
                }
                let wide = AnyMatrix::from(matrix.clone());
                if *is_drawn { as_elements(element, wide) } else { wide.cast(element) }.to_blocks(shape)
            }
        }
    }

    /// The matrix of [`Source::any`], with elements of type `T`.
    pub fn matrix<T: Element>(&self, shape: BlockShape) -> Result<Cbc<T>> {
        self.any(T::TYPE, shape)?.typed()
    }

    /// The Jacobian J whose JᵀJ is timed: the family's own, else the matrix.
    pub fn jacobian(&self, element: ElementType, shape: BlockShape) -> Result<BlockGroups<AnyMatrix>> {
        match self {
            Self::Family(named, elements) => {
                let j = named.sized(*elements, shape).jacobian(shape)?;
                let cell = |cell: Cbc<f64>| of_drawn(element, cell);
                let cells = j.into_cells().into_iter().flatten().map(cell).collect::<Result<Vec<_>>>()?;
                BlockGroups::side_by_side(cells)
            }
            Self::File { .. } => BlockGroups::side_by_side([self.any(element, shape)?]),
        }
    }

    /// The Jacobian as one matrix. Groups of columns in blocks of several widths are cut into
    /// blocks of one width, the largest that divides all widths.
    pub fn whole_jacobian(&self, element: ElementType, shape: BlockShape) -> Result<AnyMatrix> {
        match self {
            Self::Family(named, elements) => of_drawn(element, whole(&named.sized(*elements, shape).jacobian(shape)?)?),
            Self::File { .. } => self.any(element, shape),
        }
    }

    /// A in blocks of `shape`, and B. If A is square, B is A itself, in blocks whose height is the
    /// width of A's blocks; else B is the transpose of A. For a B that equals A with its blocks,
    /// returns `None`.
    pub fn operands(&self, element: ElementType, shape: BlockShape) -> Result<(AnyMatrix, Option<AnyMatrix>)> {
        let a = self.any(element, shape)?;
        let size = Size::of(&a);
        let [rows, cols] = [size.rows(), size.cols()];
        let a = if shape == BlockShape::SCALAR { a.to_scalars() } else { a };
        let b = match (rows == cols, shape.rows() == shape.cols()) {
            (true, true) => None,
            (true, false) => Some(a.to_blocks(default_b_shape(shape, rows, cols))?),
            (false, _) => Some(a.transpose()?),
        };
        Ok((a, b))
    }
}

/// Scales a random number before it is rounded to an element. Integers become 8 times the number,
/// so that numbers from -1 to 1 become whole numbers from -8 to 8. Unsigned types get whole numbers
/// from 0.
fn scaled(element: ElementType, number: f64) -> f64 {
    if element.is_integer() { 8.0 * number } else { number }
}

/// Random numbers as elements, scaled by `scaled`.
pub fn drawn(element: ElementType, numbers: impl Iterator<Item = f64>) -> AnyValues {
    AnyValues::F64(numbers.map(|number| scaled(element, number)).collect()).cast(element)
}

/// Makes one matrix of the groups of columns, side by side. All blocks have one width, the largest
/// that divides the widths of all groups.
fn whole(j: &BlockGroups<Cbc<f64>>) -> Result<Cbc<f64>> {
    let (rows, groups) = (j.row_groups()[0], j.col_groups());
    let side = (1..=groups[0].side).rev().find(|side| groups.iter().all(|group| group.side % side == 0));
    j.to_scalars()?.to_blocks(BlockShape::new(rows.side, side.unwrap_or(1))?)
}

/// A matrix of random numbers as elements.
fn of_drawn(element: ElementType, made: Cbc<f64>) -> Result<AnyMatrix> {
    host::check(&format!("a copy of a matrix of {} blocks in {element}", made.nnz()), copy_bytes(element, &made))?;
    Ok(as_elements(element, made.into()))
}

/// Random numbers as elements.
fn as_elements(element: ElementType, drawn: AnyMatrix) -> AnyMatrix {
    input::elements(element, if element.is_integer() { drawn.map(|number| scaled(element, number)) } else { drawn })
}

fn copy_bytes(element: ElementType, made: &Cbc<f64>) -> u64 {
    let pattern = made.pattern();
    let of_pattern = size_of_val(pattern.row_idx()) + size_of_val(pattern.col_ptr());
    (of_pattern + made.values().len() * element.bytes()) as u64
}

/// The matrix, with random values if the file has none: with equal values, a wrong order of
/// additions would not be found.
fn with_values(file: MatrixFile) -> Result<Csc<f64>> {
    if file.field != ValueType::Pattern {
        return Ok(file.matrix);
    }
    let random = &mut Random::new(SEED);
    let values = file.matrix.values().iter().map(|_| 0.5 + random.unit()).collect();
    Csc::new(file.matrix.pattern().clone(), values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_are_whole_in_integers_and_those_of_files_must_be() -> Result<()> {
        let Ok(Input::Family(named)) = Input::parse("uniform:30x8") else { panic!("a family") };
        let family = Source::Family(named, None);
        let signed = family.matrix::<i32>(BlockShape::SCALAR)?;
        let (least, most) = (signed.values().iter().min(), signed.values().iter().max());
        assert_eq!((least, most), (Some(&-8), Some(&8)));
        let unsigned = family.matrix::<u32>(BlockShape::SCALAR)?;
        let from_zero: Vec<u32> = signed.values().iter().map(|&value| value.max(0) as u32).collect();
        assert_eq!(unsigned.values(), from_zero);
        let made = family.matrix::<f64>(BlockShape::SCALAR)?;
        assert_eq!(
            [ElementType::F64, ElementType::U8].map(|element| copy_bytes(element, &made)),
            [31 * 8 + 240 * 12, 31 * 8 + 240 * 5]
        );
        let truths = family.matrix::<u8>(BlockShape::SCALAR)?;
        assert!(truths.values().contains(&0) && truths.values().contains(&5));
        let file = |value: f64, is_drawn| {
            let matrix = Csc::from_triplets(2, 3, [(0, 0, 2.0), (1, 2, value)])?;
            Ok(Source::File { name: "a".into(), matrix, layout: None, is_drawn })
        };
        assert_eq!(file(1.25, true)?.matrix::<u32>(BlockShape::SCALAR)?.values(), [16, 10]);
        assert_eq!(file(7.0, false)?.matrix::<u8>(BlockShape::SCALAR)?.values(), [2, 7]);
        let refused = |source: Result<Source>| source?.matrix::<u8>(BlockShape::SCALAR);
        let why = refused(file(256.0, false)).unwrap_err().to_string();
        assert!(why.contains("a has 256 at row 2, column 3, which is not of type u8"), "{why}");
        Ok(())
    }
}
