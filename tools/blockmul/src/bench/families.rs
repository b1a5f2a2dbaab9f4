//! Families of generated matrices, named with their sizes.
use crate::patterns::SEED;
use crate::table;
use blockmul::{
    BlockShape, Cbc, Error, Result,
    generate::{self, PoseChain, PowerLaw, Uniform, Values, Visibility},
    groups::BlockGroups,
};
use nalgebra::DMatrix;

/// A family of matrices that can be generated at any size.
struct Family {
    name: &'static str,
    /// Meaning of each size, and its default.
    sizes: &'static [(&'static str, usize)],
    block: [usize; 2],
    what: &'static str,
    /// Sizes of a matrix of about `elements` stored elements in blocks of `area` each.
    scaled: fn(elements: usize, area: usize) -> Vec<usize>,
    make: Make<Cbc<f64>>,
    /// J, if the family is JᵀJ or a part of it.
    jacobian: Option<Make<BlockGroups<Cbc<f64>>>>,
}

/// A function that makes a matrix of these sizes in blocks of this shape.
type Make<M> = fn(&[usize], BlockShape) -> Result<M>;

/// The families of `blockmul generate`, and two with long columns. The default sizes have a few
/// hundred thousand to a few million products. `cameras` has more products.
static FAMILIES: [Family; 7] = [
    Family {
        name: "uniform",
        sizes: &[("rows", 16_000), ("blocks in a column", 8)],
        block: [1, 1],
        what: "as many blocks in each column, at random rows",
        scaled: |elements, area| vec![(elements / (8 * area)).max(8), 8],
        make: |sizes, shape| {
            let (rows, per_column) = (sizes[0], sizes[1]);
            Uniform { rows, cols: rows, per_column, shape, values: Values::Real, seed: SEED }.matrix()
        },
        jacobian: None,
    },
    Family {
        name: "power-law",
        sizes: &[("nodes", 8_192), ("edges", 65_536)],
        block: [1, 1],
        what: "a graph of few hubs and many leaves (R-MAT)",
        scaled: |elements, area| vec![(elements / (8 * area)).max(1), (elements / area).max(8)],
        make: |sizes, shape| {
            let (nodes, edges) = (sizes[0], sizes[1]);
            PowerLaw { nodes, edges, shape, values: Values::Real, seed: SEED }.matrix()
        },
        jacobian: None,
    },
    Family {
        name: "planar",
        sizes: &[("columns", 1_000), ("rows", 1_000)],
        block: [1, 1],
        what: "points of the plane and the lengths of a triangulation's edges; scalars only",
        scaled: |elements, _| vec![((elements / 6) as f64).sqrt().ceil().max(2.0) as usize; 2],
        make: |sizes, block| match block {
            BlockShape::SCALAR => generate::planar(sizes[0], sizes[1], SEED),
            _ => Err(Error::Argument(format!("edges of a planar graph are scalars, not blocks of {block}"))),
        },
        jacobian: None,
    },
    Family {
        name: "pose-graph",
        sizes: &[("poses", 10_000), ("closures", 20_000)],
        block: [6, 6],
        what: "the Hessian of a pose graph; square blocks only",
        scaled: |elements, area| vec![(elements / (5 * area)).max(8); 2],
        make: |sizes, block| poses(sizes, block)?.matrix(),
        jacobian: Some(|sizes, block| BlockGroups::side_by_side([poses(sizes, block)?.jacobian()?])),
    },
    Family {
        name: "bundle-adjustment",
        sizes: &VIEWS,
        block: [6, 3],
        what: "W of a bundle adjustment, cameras by points; W·Wᵀ is timed",
        scaled: views,
        make: |sizes, block| seen(sizes, block).matrix(),
        jacobian: Some(|sizes, block| match block.cols() {
            3 => seen(sizes, block).jacobian(),
            _ => Err(Error::Argument(format!("points have 3 parameters: blocks are 9x3 or 6x3, not {block}"))),
        }),
    },
    Family {
        name: "cameras",
        sizes: &VIEWS,
        block: [3, 6],
        what: "its transpose, points by cameras: a long column for each camera",
        scaled: views,
        make: |sizes, block| seen(sizes, block.transpose()).matrix()?.try_transpose(),
        jacobian: None,
    },
    Family {
        name: "arrow",
        sizes: &[("rows", 1_000)],
        block: [1, 1],
        what: "the diagonal, and a first row and column that are full",
        scaled: |elements, area| vec![(elements / (3 * area)).max(2)],
        make: arrow,
        jacobian: None,
    },
];

/// Sizes of a bundle adjustment.
const VIEWS: [(&str, usize); 3] = [("cameras", 100), ("points", 10_000), ("views", 5)];

fn views(elements: usize, area: usize) -> Vec<usize> {
    let points = (elements / (4 * area)).max(8);
    vec![points / 500 + 8, points, 4]
}

fn seen(sizes: &[usize], shape: BlockShape) -> Visibility {
    let (cameras, points, views) = (sizes[0], sizes[1], sizes[2]);
    Visibility { cameras, points, views, shape, values: Values::Real, seed: SEED }
}

fn poses(sizes: &[usize], block: BlockShape) -> Result<PoseChain> {
    if block.rows() != block.cols() {
        return Err(Error::Argument(format!("a pose graph has square blocks, not {block}")));
    }
    Ok(PoseChain { poses: sizes[0], closures: sizes[1], freedom: block.rows(), values: Values::Real, seed: SEED })
}

fn arrow(sizes: &[usize], block: BlockShape) -> Result<Cbc<f64>> {
    let n = sizes[0];
    let places = (1..n).flat_map(|k| [(0, k), (k, 0), (k, k)]);
    let values =
        |k: usize| DMatrix::from_fn(block.rows(), block.cols(), |i, j| ((k + i + 2 * j) % 17) as f64 * 0.1 - 0.8);
    Cbc::from_triplets(n, n, block, places.enumerate().map(|(k, (row, col))| (row, col, values(k))))
}

/// A family, and the sizes given with its name.
#[derive(Clone)]
pub struct Named {
    family: &'static Family,
    /// The family's default sizes if none are given.
    sizes: Option<Vec<usize>>,
}

impl Named {
    /// Parses `FAMILY` or `FAMILY:20000x8`, or returns `None` if there is no such family.
    pub fn parse(text: &str) -> Option<std::result::Result<Self, String>> {
        let (name, sizes) = text.split_once(':').map_or((text, None), |(name, sizes)| (name, Some(sizes)));
        let family = FAMILIES.iter().find(|family| family.name == name)?;
        Some(sizes.map(|sizes| family.parse(sizes)).transpose().map(|sizes| Self { family, sizes }))
    }

    /// Returns the family with its sizes. If the name has no sizes, the matrix gets about
    /// `elements` stored elements in blocks of this shape.
    pub fn sized(&self, elements: Option<usize>, block: BlockShape) -> Self {
        let scaled = || elements.map(|elements| (self.family.scaled)(elements, block.area()));
        Self { family: self.family, sizes: self.sizes.clone().or_else(scaled) }
    }

    fn sizes(&self) -> Vec<usize> {
        self.sizes.clone().unwrap_or_else(|| self.family.defaults())
    }

    /// The name of the family with its sizes, such as `uniform:16000x8`.
    pub fn name(&self) -> String {
        let sizes: Vec<_> = self.sizes().iter().map(usize::to_string).collect();
        format!("{}:{}", self.family.name, sizes.join("x"))
    }

    /// The name of the family.
    pub fn family(&self) -> &'static str {
        self.family.name
    }

    /// The shape of the family's blocks.
    pub fn block(&self) -> BlockShape {
        BlockShape::new(self.family.block[0], self.family.block[1]).expect("sides of a block")
    }

    pub fn matrix(&self, block: BlockShape) -> Result<Cbc<f64>> {
        (self.family.make)(&self.sizes(), block)
    }

    /// J if the family has one, else the matrix itself.
    pub fn jacobian(&self, block: BlockShape) -> Result<BlockGroups<Cbc<f64>>> {
        match self.family.jacobian {
            Some(jacobian) => jacobian(&self.sizes(), block),
            None => BlockGroups::side_by_side([self.matrix(block)?]),
        }
    }
}

impl Family {
    fn defaults(&self) -> Vec<usize> {
        self.sizes.iter().map(|&(_, size)| size).collect()
    }

    fn parse(&self, text: &str) -> std::result::Result<Vec<usize>, String> {
        let mut sizes = self.defaults();
        let words: Vec<&str> = text.split('x').filter(|_| !text.is_empty()).collect();
        if words.len() > sizes.len() {
            return Err(format!("{} takes {} at most: {}", self.name, sizes.len(), self.form()));
        }
        for (size, word) in sizes.iter_mut().zip(words) {
            *size = word.parse().map_err(|_| format!("\"{word}\" is no size; it is written {}", self.form()))?;
        }
        Ok(sizes)
    }

    /// The form of a name, such as `uniform:ROWSxBLOCKS-IN-A-COLUMN`.
    fn form(&self) -> String {
        let sizes: Vec<_> = self.sizes.iter().map(|(what, _)| what.to_uppercase().replace(' ', "-")).collect();
        format!("{}:{}", self.name, sizes.join("x"))
    }
}

pub fn names() -> String {
    FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>().join(", ")
}

/// The table of `--list`.
pub fn list() -> String {
    let row = |family: &'static Family| {
        let named = Named { family, sizes: None };
        [family.form(), named.name(), named.block().to_string(), family.what.into()]
    };
    table::plain(["family", "default", "blocks", ""], FAMILIES.iter().map(row), 4..4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_elements_gives_sizes_of_about_as_many() {
        for family in &FAMILIES {
            let block = if family.name == "planar" { BlockShape::SCALAR } else { BlockShape::new(3, 3).unwrap() };
            let of = |elements| Named { family, sizes: None }.sized(Some(elements), block).matrix(block).unwrap();
            let elements = of(90_000).values().len();
            // Edges of a graph that are drawn twice become one block.
            let least = if family.name == "power-law" { 50_000 } else { 89_000 };
            assert!((least..=91_000).contains(&elements), "{}: {elements}", family.name);
            assert!(of(1).nnz() > 0, "{}", family.name);
        }
    }
}
