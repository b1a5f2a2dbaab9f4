//! Families of matrices that a choice of formats meets, each for a kind of application.
use super::super::super::families::Named;
use crate::patterns::{banded, drawn, elements, hubs_and_leaves, hypersparse, plane, roads, side, space};
use blockmul::{BlockShape, Cbc, Csc, Result};

/// A family of matrices that are multiplied with vectors.
pub struct Family {
    pub name: &'static str,
    /// The applications that it stands for.
    pub stands_for: &'static str,
    /// Whether one triangle may be stored.
    pub symmetric: bool,
    /// A matrix of about so many stored elements.
    pub make: fn(elements: usize) -> Result<Cbc<f64>>,
}

pub const FAMILIES: [Family; 18] = [
    Family {
        name: "grid-5",
        stands_for: "stencils of the plane",
        symmetric: true,
        make: |elements| scalars(plane(side(elements / 5, 2))?),
    },
    Family {
        name: "grid-27",
        stands_for: "stencils in space",
        symmetric: true,
        make: |elements| scalars(space(side(elements / 27, 3))?),
    },
    Family {
        name: "elements-3",
        stands_for: "finite elements with three unknowns a node",
        symmetric: true,
        make: |count| scalars(elements(side(count / 63, 3), 3)?),
    },
    Family {
        name: "banded-33",
        stands_for: "banded matrices",
        symmetric: false,
        make: |elements| scalars(banded((elements / 33).max(33), 16)?),
    },
    Family {
        name: "uniform-8",
        stands_for: "random graphs",
        symmetric: false,
        make: |elements| scalars(drawn([(elements / 8).max(8); 2], 8)?),
    },
    Family {
        name: "power-law",
        stands_for: "social and web graphs (R-MAT)",
        symmetric: false,
        make: |elements| scalars(hubs_and_leaves((elements / 8).max(8), elements)?),
    },
    Family {
        name: "roads",
        stands_for: "road networks with hubs",
        symmetric: false,
        make: |elements| scalars(roads(side(elements / 3, 2))?),
    },
    Family {
        name: "arrow",
        stands_for: "one full row and column",
        symmetric: false,
        make: |elements| named(&format!("arrow:{}", (elements / 3).max(2))),
    },
    Family {
        name: "rows-of-2",
        stands_for: "very short rows",
        symmetric: false,
        make: |elements| scalars(drawn([(elements / 2).max(2); 2], 2)?.transpose()),
    },
    Family {
        name: "empty-rows",
        stands_for: "seven rows of eight without entries",
        symmetric: false,
        make: |elements| scalars(hypersparse(8 * elements, elements)?),
    },
    Family {
        name: "wide",
        stands_for: "few long rows",
        symmetric: false,
        make: |elements| scalars(drawn([(elements / 10).max(400), (elements / 400).max(4)], 400)?.transpose()),
    },
    Family {
        name: "tall",
        stands_for: "many rows of few columns",
        symmetric: false,
        make: |elements| scalars(drawn([(elements / 40).max(4), (elements / 4).max(40)], 4)?.transpose()),
    },
    Family {
        name: "poses-3",
        stands_for: "Hessians of pose graphs in the plane, blocks of 3x3",
        symmetric: true,
        make: |elements| poses(elements, 3),
    },
    Family {
        name: "poses-6",
        stands_for: "Hessians of pose graphs in space, blocks of 6x6",
        symmetric: true,
        make: |elements| poses(elements, 6),
    },
    Family {
        name: "solids-3",
        stands_for: "finite elements in space, blocks of 3x3 for 27 neighbours",
        symmetric: true,
        make: |elements| nodes(elements, 3),
    },
    Family {
        name: "solids-6",
        stands_for: "the same with six unknowns a node",
        symmetric: true,
        make: |elements| nodes(elements, 6),
    },
    Family {
        name: "uniform-4x4",
        stands_for: "random rows of 16 blocks of 4x4",
        symmetric: false,
        make: |elements| blocks(&format!("uniform:{}x16", (elements / 256).max(32)), 4),
    },
    Family {
        name: "hubs-8x8",
        stands_for: "graphs with hubs, blocks of 8x8",
        symmetric: false,
        make: |elements| {
            let edges = (elements / 64).max(8);
            blocks(&format!("power-law:{}x{edges}", (edges / 8).max(8)), 8)
        },
    },
];

fn scalars(matrix: Csc<f64>) -> Result<Cbc<f64>> {
    Cbc::new(matrix.pattern().clone(), BlockShape::SCALAR, matrix.values().to_vec())
}

/// Five blocks for each pose.
fn poses(elements: usize, freedom: usize) -> Result<Cbc<f64>> {
    let poses = (elements / (5 * freedom * freedom)).max(8);
    blocks(&format!("pose-graph:{poses}x{poses}"), freedom)
}

/// A 27-point stencil of blocks, for which one triangle may be stored.
fn nodes(elements: usize, unknowns: usize) -> Result<Cbc<f64>> {
    // A row of n nodes has 3n - 2 pairs of neighbours.
    let pairs = (elements as f64 / (unknowns * unknowns) as f64).cbrt();
    let stencil = space(((pairs + 2.0) / 3.0).round().max(2.0) as usize)?;
    let places = (0..unknowns).flat_map(|column| (0..unknowns).map(move |row| row.abs_diff(column)));
    let block: Vec<_> = places.map(|apart| 1.0 / (1 + apart) as f64).collect();
    let values = stencil.values().iter().flat_map(|value| block.iter().map(move |factor| value * factor));
    Cbc::new(stencil.pattern().clone(), BlockShape::new(unknowns, unknowns)?, values.collect())
}

/// A matrix of `bench` in square blocks.
fn blocks(name: &str, side: usize) -> Result<Cbc<f64>> {
    let family = Named::parse(name).expect("a family").expect("its sizes");
    family.made(None, BlockShape::new(side, side)?).matrix()
}

/// A matrix of `bench`.
fn named(name: &str) -> Result<Cbc<f64>> {
    let family = Named::parse(name).expect("a family").expect("its sizes");
    family.made(None, family.block()).matrix()
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::Matrix;

    #[test]
    fn sizes_are_about_what_is_wanted() -> Result<()> {
        for family in &FAMILIES {
            for wanted in [3000, 100_000] {
                let a = (family.make)(wanted)?;
                let elements = a.nnz() * a.shape().area();
                // A grid has at least four nodes a side.
                assert!((wanted / 4..=3 * wanted).contains(&elements), "{}: {elements} of {wanted}", family.name);
                let square = a.nrows() == a.ncols();
                assert!(square || !family.symmetric, "{}", family.name);
            }
        }
        Ok(())
    }

    #[test]
    fn rows_have_the_lengths_that_families_stand_for() -> Result<()> {
        let lengths = |name: &str| -> Result<Vec<usize>> {
            let family = FAMILIES.iter().find(|family| family.name == name).expect("a family");
            let by_rows = (family.make)(20_000)?.transpose();
            let pattern = by_rows.as_cbc().pattern;
            Ok((0..pattern.ncols()).map(|row| pattern.column(row).len()).collect())
        };
        assert!(lengths("rows-of-2")?.iter().all(|&length| length == 2));
        assert!(lengths("wide")?.iter().all(|&length| length == 400) && lengths("tall")?.iter().all(|&n| n == 4));
        let empty = lengths("empty-rows")?;
        let none = empty.iter().filter(|&&length| length == 0).count();
        assert!((0.85..0.9).contains(&(none as f64 / empty.len() as f64)), "{none} of {}", empty.len());
        let arrow = lengths("arrow")?;
        assert!(arrow[0] == arrow.len() - 1 && arrow[1..].iter().all(|&length| length == 2));
        Ok(())
    }
}
