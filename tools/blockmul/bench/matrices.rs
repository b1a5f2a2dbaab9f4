//! Operands of the benchmark: families of generated matrices with their sizes, and files.
use crate::failure::Failure;
use crate::input;
use crate::messages::Messages;
use crate::operands::default_b_shape;
use blockmul::{
    BlockShape, Cbc, Csc, Element, Error, Result,
    generate::{self, Random, Values},
    io::{Field, MatrixFile},
};
use comfy_table::{Table, presets};
use std::path::PathBuf;

/// The seed of every generated matrix, so that a name identifies a matrix.
const SEED: u64 = 1;

/// A family of matrices that can be generated at any size.
#[derive(Clone, Copy)]
struct Family {
    name: &'static str,
    /// Meaning of each size, and its default.
    sizes: &'static [(&'static str, usize)],
    block: [usize; 2],
    what: &'static str,
    make: fn(&[usize], BlockShape) -> Result<Cbc<f64>>,
}

/// The families of `blockmul generate`. The defaults give a few hundred thousand to a few million
/// products.
const FAMILIES: [Family; 4] = [
    Family {
        name: "uniform",
        sizes: &[("rows", 16_000), ("blocks in a column", 8)],
        block: [1, 1],
        what: "as many blocks in each column, at random rows",
        make: |sizes, block| generate::uniform(sizes[0], sizes[0], sizes[1], block, Values::Real, SEED),
    },
    Family {
        name: "power-law",
        sizes: &[("nodes", 8_192), ("edges", 65_536)],
        block: [1, 1],
        what: "a graph of few hubs and many leaves (R-MAT)",
        make: |sizes, block| generate::power_law(sizes[0], sizes[1], block, Values::Real, SEED),
    },
    Family {
        name: "pose-graph",
        sizes: &[("poses", 10_000), ("closures", 20_000)],
        block: [6, 6],
        what: "the Hessian of a pose graph; square blocks only",
        make: |sizes, block| match block.rows() == block.cols() {
            true => generate::pose_graph(sizes[0], sizes[1], block.rows(), Values::Real, SEED),
            false => Err(Error::Argument(format!("a pose graph has square blocks, not {block}"))),
        },
    },
    Family {
        name: "bundle-adjustment",
        sizes: &[("cameras", 100), ("points", 10_000), ("views", 5)],
        block: [6, 3],
        what: "W of a bundle adjustment, cameras by points; W·Wᵀ is timed",
        make: |sizes, block| generate::bundle_adjustment(sizes[0], sizes[1], sizes[2], block, Values::Real, SEED),
    },
];

/// A family with its sizes, or a file.
#[derive(Clone)]
pub enum Input {
    Family(Made),
    File(PathBuf),
}

#[derive(Clone)]
pub struct Made {
    family: Family,
    sizes: Vec<usize>,
}

impl Input {
    /// Parses `FAMILY`, `FAMILY:20000x8`, or the path of a file; `./uniform` is a file.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let (name, sizes) = text.split_once(':').map_or((text, None), |(name, sizes)| (name, Some(sizes)));
        if let Some(family) = FAMILIES.into_iter().find(|family| family.name == name) {
            return Made::parse(family, sizes.unwrap_or_default()).map(Self::Family);
        }
        let path = PathBuf::from(text);
        if path.exists() {
            return Ok(Self::File(path));
        }
        let names: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
        Err(format!("there is no such file, and the families are: {}", names.join(", ")))
    }

    pub fn every_family() -> Vec<Self> {
        FAMILIES.into_iter().map(|family| Self::Family(Made::by_default(family))).collect()
    }

    /// The path, if it is a file.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::Family(_) => None,
            Self::File(path) => Some(path),
        }
    }

    /// The name with its sizes, such as `uniform:16000x8`; the path of a file.
    pub fn name(&self) -> String {
        match self {
            Self::Family(made) => made.name(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

impl Made {
    fn by_default(family: Family) -> Self {
        Self { family, sizes: family.sizes.iter().map(|&(_, size)| size).collect() }
    }

    fn parse(family: Family, text: &str) -> std::result::Result<Self, String> {
        let mut made = Self::by_default(family);
        let words: Vec<&str> = text.split('x').filter(|_| !text.is_empty()).collect();
        if words.len() > made.sizes.len() {
            return Err(format!("{} takes {} at most: {}", family.name, made.sizes.len(), family.form()));
        }
        for (size, word) in made.sizes.iter_mut().zip(words) {
            *size = word.parse().map_err(|_| format!("\"{word}\" is no size; it is written {}", family.form()))?;
        }
        Ok(made)
    }

    fn name(&self) -> String {
        let sizes: Vec<_> = self.sizes.iter().map(usize::to_string).collect();
        format!("{}:{}", self.family.name, sizes.join("x"))
    }
}

impl Family {
    /// The form of a name, such as `uniform:ROWSxBLOCKS-IN-A-COLUMN`.
    fn form(&self) -> String {
        let sizes: Vec<_> = self.sizes.iter().map(|(what, _)| what.to_uppercase().replace(' ', "-")).collect();
        format!("{}:{}", self.name, sizes.join("x"))
    }

    fn block(&self) -> BlockShape {
        BlockShape::new(self.block[0], self.block[1]).expect("sides of a block")
    }
}

/// The table of `--list`.
pub fn list() -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(["family", "default", "blocks", ""]);
    for family in FAMILIES {
        table.add_row([family.form(), Made::by_default(family).name(), family.block().to_string(), family.what.into()]);
    }
    table.trim_fmt()
}

/// An input; files have been read.
pub enum Source {
    Made(Made),
    File { name: String, matrix: Csc<f64>, layout: Option<BlockShape> },
}

/// A and B of one product; B is `None` if it is A.
pub enum Pair<T: Element> {
    Scalars(Csc<T>, Option<Csc<T>>),
    Blocks(Cbc<T>, Option<Cbc<T>>),
}

impl Source {
    pub fn open(input: &Input, messages: &Messages) -> std::result::Result<Self, Failure> {
        let path = match input {
            Input::Family(made) => return Ok(Self::Made(made.clone())),
            Input::File(path) => path,
        };
        let file = input::read(path, false, messages)?;
        let layout = input::layout(&file);
        // For example `blk6_er` for blk6_er.bcsr.gz.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        Ok(Self::File { name, matrix: with_values(file)?, layout })
    }

    pub fn name(&self) -> String {
        match self {
            Self::Made(made) => made.name(),
            Self::File { name, .. } => name.clone(),
        }
    }

    pub fn default_block(&self) -> BlockShape {
        match self {
            Self::Made(made) => made.family.block(),
            Self::File { layout, .. } => layout.unwrap_or(BlockShape::SCALAR),
        }
    }

    /// A in blocks of `shape`, and B: if A is square, A itself, cut to fit A's blocks; else its
    /// transpose.
    pub fn operands<T: Element>(&self, shape: BlockShape) -> Result<Pair<T>> {
        let a = match self {
            Self::Made(made) => (made.family.make)(&made.sizes, shape)?.cast::<T>(),
            Self::File { matrix, .. } => matrix.cast::<T>().to_blocks(shape)?,
        };
        let [rows, cols] = [a.nrows() * shape.rows(), a.ncols() * shape.cols()];
        if shape == BlockShape::SCALAR {
            let a = a.to_scalars();
            let b = (rows != cols).then(|| a.transpose());
            return Ok(Pair::Scalars(a, b));
        }
        let b = match (rows == cols, shape.rows() == shape.cols()) {
            (true, true) => None,
            (true, false) => Some(a.to_scalars().to_blocks(default_b_shape(shape, rows, cols))?),
            (false, _) => Some(a.transpose()),
        };
        Ok(Pair::Blocks(a, b))
    }
}

/// The matrix with random values if the file has none: equal values would hide the order of
/// additions.
fn with_values(file: MatrixFile) -> Result<Csc<f64>> {
    if file.field != Field::Pattern {
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
    fn families_are_named_with_any_of_their_sizes() {
        let name = |text: &str| Input::parse(text).map(|input| input.name());
        assert_eq!(name("uniform").unwrap(), "uniform:16000x8");
        assert_eq!(name("uniform:50").unwrap(), "uniform:50x8");
        assert_eq!(name("bundle-adjustment:5x7x2").unwrap(), "bundle-adjustment:5x7x2");
        assert!(name("uniform:5x7x2").unwrap_err().contains("uniform:ROWSxBLOCKS-IN-A-COLUMN"));
        assert!(name("uniform:5y7").unwrap_err().contains("\"5y7\" is no size"));
        assert!(name("uniforn:5").unwrap_err().contains("families are: uniform, power-law"));
        assert_eq!(Input::every_family().len(), FAMILIES.len());
    }

    #[test]
    fn b_is_a_cut_to_meet_it_or_its_transpose() {
        let shape = |rows, cols| BlockShape::new(rows, cols).unwrap();
        let shapes = |text: &str, a: BlockShape| {
            let source = Source::open(&Input::parse(text).unwrap(), &Messages::new(true)).unwrap();
            match source.operands::<f32>(a).unwrap() {
                Pair::Scalars(_, b) => (BlockShape::SCALAR, b.map(|_| BlockShape::SCALAR)),
                Pair::Blocks(a, b) => (a.shape(), b.map(|b| b.shape())),
            }
        };
        assert_eq!(shapes("uniform:9x2", shape(1, 1)), (shape(1, 1), None));
        assert_eq!(shapes("uniform:9x2", shape(3, 3)), (shape(3, 3), None));
        assert_eq!(shapes("bundle-adjustment:9x20x2", shape(6, 3)), (shape(6, 3), Some(shape(3, 6))));
        assert_eq!(shapes("bundle-adjustment:9x20x2", shape(1, 1)), (shape(1, 1), Some(shape(1, 1))));
        let matrix = Csc::from_triplets(6, 6, [(0, 5, 1.0)]).unwrap();
        let file = Source::File { name: "a".into(), matrix, layout: None };
        let Pair::Blocks(a, Some(b)) = file.operands::<f64>(shape(2, 3)).unwrap() else { panic!("blocks") };
        assert_eq!((a.shape(), b.shape()), (shape(2, 3), shape(3, 2)));
        assert!(file.operands::<f64>(shape(4, 4)).is_err());
    }
}
