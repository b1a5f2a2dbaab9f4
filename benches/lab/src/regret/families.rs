//! Families of matrices. Each family resembles the matrices of one kind of application. The choices
//! of methods and of formats are judged on these families.
use crate::patterns::{
    self, Factors, banded, drawn, elements, hexagons, hubs_and_leaves, hypersparse, plane, power_law, roads, side,
    space, with_transpose,
};
use blockmul::{BlockShape, Cbc, Csc, Result};
use blockmul_cli::bench::families::Named;

/// Number of products, or of stored elements, of the smallest matrix of a family. Each further size
/// is `GROWTH` times the size before.
const SMALLEST: u64 = 10_000;
const GROWTH: u64 = 10;

/// The sizes in which families are generated, up to `most`.
pub fn sizes(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(SMALLEST.min(most)), |size| Some(size * GROWTH)).take_while(move |size| *size <= most)
}

/// A function that makes a matrix of about a given size.
type Make<M> = fn(usize) -> Result<M>;

/// A family of matrices.
pub struct Family {
    pub name: &'static str,
    /// The applications in which matrices like those of the family occur.
    pub stands_for: &'static str,
    /// The family of `blockmul tune` that is of the same kind, if there is one. Costs of methods
    /// are fitted to families of `blockmul tune`.
    fitted_as: Option<&'static str>,
    /// Whether one triangle may be stored.
    pub symmetric: bool,
    /// Makes factors of about the given number of products, on which methods are compared.
    pub products: Option<Make<Factors>>,
    /// Makes a matrix of about the given number of stored elements, on which formats are compared.
    pub elements: Option<Make<Cbc<f64>>>,
}

impl Family {
    const fn of(name: &'static str, stands_for: &'static str) -> Self {
        Self { name, stands_for, fitted_as: None, symmetric: false, products: None, elements: None }
    }

    const fn fitted_as(self, name: &'static str) -> Self {
        Self { fitted_as: Some(name), ..self }
    }

    const fn symmetric(self) -> Self {
        Self { symmetric: true, ..self }
    }

    const fn products(self, make: Make<Factors>) -> Self {
        Self { products: Some(make), ..self }
    }

    const fn elements(self, make: Make<Cbc<f64>>) -> Self {
        Self { elements: Some(make), ..self }
    }

    /// The name of this family's matrix of a size.
    pub fn member(&self, size: u64) -> String {
        format!("{}:{:.0e}", self.name, size as f64)
    }
}

/// The families; those with products come first. Neighbouring families are unlike each other, so
/// that every third family is a sample of all. The families `bimodal` and `permuted-equals` are
/// hard for the choice of methods: `bimodal` for a choice by averages, and `permuted-equals` for a
/// choice by neighbouring columns.
pub const FAMILIES: [Family; 28] = [
    Family::of("grid-5", "stencils of the plane")
        .fitted_as("grid-5")
        .symmetric()
        .products(|products| Ok((plane(side(products / 25, 2))?, None)))
        .elements(|elements| scalars(plane(side(elements / 5, 2))?)),
    Family::of("uniform-8", "random graphs")
        .fitted_as("uniform-8")
        .products(|products| patterns::uniform(products / 64, 8))
        .elements(|elements| scalars(drawn([(elements / 8).max(8); 2], 8)?)),
    Family::of("bundle-adjustment", "W·Wᵀ of bundle adjustments")
        // Each point gives three columns, with six rows for each of its five views.
        .products(|products| {
            let points = (products / 2700).max(10);
            Ok(with_transpose(named(&format!("bundle-adjustment:{}x{points}x5", points / 100 + 8))?.to_scalars()))
        }),
    Family::of("grid-27", "stencils in space")
        .fitted_as("grid-27")
        .symmetric()
        .products(|products| Ok((space(side(products / 729, 3))?, None)))
        .elements(|elements| scalars(space(side(elements / 27, 3))?)),
    Family::of("power-law", "social and web graphs")
        .fitted_as("power-law")
        .products(power_law)
        .elements(|elements| scalars(hubs_and_leaves((elements / 8).max(8), elements)?)),
    Family::of("elements-3", "finite elements with three unknowns a node")
        .symmetric()
        .products(|products| Ok((elements(side(products / 1323, 3), 3)?, None)))
        .elements(|count| scalars(elements(side(count / 63, 3), 3)?)),
    Family::of("roads", "road networks with hubs")
        .products(|products| Ok((roads(side(products / 12, 2))?, None)))
        .elements(|elements| scalars(roads(side(elements / 3, 2))?)),
    Family::of("hypersparse", "fewer entries than columns")
        .fitted_as("uniform-3")
        // The product has n·(entries/n)² products of entries.
        .products(|products| {
            let n = (4 * products).min(MOST_COLUMNS);
            Ok((hypersparse(n, (products as f64 * n as f64).sqrt() as usize)?, None))
        }),
    Family::of("diagonal-blocks", "independent parts")
        .products(|products| Ok((patterns::diagonal_blocks((products / 576).max(24), 24)?, None))),
    Family::of("long-columns", "few long columns")
        .fitted_as("hubs")
        .products(|products| patterns::hubs(products / 900)),
    Family::of("banded-33", "banded matrices")
        .fitted_as("banded-33")
        .products(|products| Ok((banded((products / 1089).max(33), 16)?, None)))
        .elements(|elements| scalars(banded((elements / 33).max(33), 16)?)),
    Family::of("geometric", "particles and their neighbours")
        // Columns have eight entries on average. More columns of B use a column of A that has more
        // entries.
        .products(|products| Ok((patterns::geometric((products / 72).max(16), 7)?, None))),
    Family::of("pose-graph", "Hessians of pose graphs")
        // Each pose gives six columns, with six rows for each of about five poses.
        .products(|products| {
            let poses = (products / 6500).max(8);
            Ok((named(&format!("pose-graph:{poses}x{poses}"))?.to_scalars(), None))
        }),
    Family::of("kronecker", "products of two graphs")
        // Each node has three neighbours. Each of these edges becomes a matrix of 16 by 16 with
        // four entries a column.
        .products(|products| {
            let nodes = hexagons(side(products / 2304, 2))?;
            Ok((patterns::kronecker(&nodes, &drawn([16, 16], 4)?)?, None))
        }),
    Family::of("ratings", "two kinds of things and what connects them")
        // A row has 48 entries on average, and a column has 6.
        .products(|products| {
            let columns = (products / 36).max(48);
            Ok(with_transpose(drawn([columns / 8, columns], 6)?))
        }),
    Family::of("arrow", "one full row and column")
        .products(|products| Ok((named(&format!("arrow:{}", products.isqrt()))?.to_scalars(), None)))
        .elements(|elements| named(&format!("arrow:{}", (elements / 3).max(2)))),
    Family::of("bimodal", "short columns between long ones")
        // An entry of B multiplies a column of A with 16 entries on average.
        .products(|products| Ok((patterns::bimodal(products / 256, 30)?, None))),
    Family::of("permuted-equals", "equal columns far apart")
        .products(|products| Ok((patterns::permuted_equals(products / 81, 3)?, None))),
    Family::of("rows-of-2", "very short rows")
        .elements(|elements| scalars(drawn([(elements / 2).max(2); 2], 2)?.transpose())),
    Family::of("empty-rows", "seven rows of eight without entries")
        .elements(|elements| scalars(hypersparse(8 * elements, elements)?)),
    Family::of("wide", "few long rows")
        .elements(|elements| scalars(drawn([(elements / 10).max(400), (elements / 400).max(4)], 400)?.transpose())),
    Family::of("tall", "many rows of few columns")
        .elements(|elements| scalars(drawn([(elements / 40).max(4), (elements / 4).max(40)], 4)?.transpose())),
    Family::of("poses-3", "Hessians of pose graphs in the plane, blocks of 3x3")
        .symmetric()
        .elements(|elements| poses(elements, 3)),
    Family::of("poses-6", "Hessians of pose graphs in space, blocks of 6x6")
        .symmetric()
        .elements(|elements| poses(elements, 6)),
    Family::of("solids-3", "finite elements in space, blocks of 3x3 for 27 neighbours")
        .symmetric()
        .elements(|elements| nodes(elements, 3)),
    Family::of("solids-6", "the same with six unknowns a node").symmetric().elements(|elements| nodes(elements, 6)),
    Family::of("uniform-4x4", "random rows of 16 blocks of 4x4")
        .elements(|elements| blocks(&format!("uniform:{}x16", (elements / 256).max(32)), 4)),
    Family::of("hubs-8x8", "graphs with hubs, blocks of 8x8").elements(|elements| {
        let edges = (elements / 64).max(8);
        blocks(&format!("power-law:{}x{edges}", (edges / 8).max(8)), 8)
    }),
];

/// Maximum number of columns of a generated matrix, whose offsets must fit the host's memory.
const MOST_COLUMNS: usize = 1 << 26;

/// The family of this name. The function returns `None` if no family has this name, as for a file.
pub fn of(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// The applications that have matrices like a family's. The result is empty for the name of a file.
pub fn stands_for(name: &str) -> &'static str {
    of(name).map_or("", |family| family.stands_for)
}

/// Whether the family is of a kind to which no costs of methods are fitted.
pub fn is_held_out(name: &str) -> bool {
    of(name).is_some_and(|family| family.fitted_as.is_none())
}

fn scalars(matrix: Csc<f64>) -> Result<Cbc<f64>> {
    Cbc::new(matrix.pattern().clone(), BlockShape::SCALAR, matrix.values().to_vec())
}

/// A pose graph with about five blocks for each pose.
fn poses(elements: usize, freedom: usize) -> Result<Cbc<f64>> {
    let poses = (elements / (5 * freedom * freedom)).max(8);
    blocks(&format!("pose-graph:{poses}x{poses}"), freedom)
}

/// A 27-point stencil of symmetric blocks, so that the matrix is symmetric.
fn nodes(elements: usize, unknowns: usize) -> Result<Cbc<f64>> {
    // A line of n nodes has 3n - 2 pairs of neighbours; a node is its own neighbour, too.
    let pairs = (elements as f64 / (unknowns * unknowns) as f64).cbrt();
    let stencil = space(((pairs + 2.0) / 3.0).round().max(2.0) as usize)?;
    let places = (0..unknowns).flat_map(|column| (0..unknowns).map(move |row| row.abs_diff(column)));
    let block: Vec<_> = places.map(|apart| 1.0 / (1 + apart) as f64).collect();
    let values = stencil.values().iter().flat_map(|value| block.iter().map(move |factor| value * factor));
    Cbc::new(stencil.pattern().clone(), BlockShape::new(unknowns, unknowns)?, values.collect())
}

/// A matrix of a family of `blockmul bench`, in square blocks.
fn blocks(name: &str, side: usize) -> Result<Cbc<f64>> {
    let family = Named::parse(name).expect("a family").expect("its sizes");
    family.matrix(BlockShape::new(side, side)?)
}

/// A matrix of a family of `blockmul bench`, in the family's own blocks.
fn named(name: &str) -> Result<Cbc<f64>> {
    let family = Named::parse(name).expect("a family").expect("its sizes");
    family.matrix(family.block())
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::reference;
    use blockmul_cli::tune;

    #[test]
    fn the_families_of_the_fit_are_known() {
        let of_tune: Vec<&str> = tune::families::FAMILIES.iter().map(|family| family.name).collect();
        for family in FAMILIES.iter().filter(|family| family.products.is_some()) {
            assert!(family.fitted_as.is_none_or(|name| of_tune.contains(&name)), "{}", family.name);
            let same_name = of_tune.contains(&family.name).then_some(family.name);
            assert!(same_name.is_none() || family.fitted_as == same_name, "{}", family.name);
        }
        let held_out = FAMILIES.iter().filter(|family| family.products.is_some() && is_held_out(family.name));
        assert!(held_out.count() >= 10);
        assert!(!is_held_out("grid-5") && !is_held_out("a file"));
    }

    #[test]
    fn sizes_are_about_what_is_wanted() -> Result<()> {
        for family in &FAMILIES {
            for wanted in [10_000, 300_000] {
                let Some(make) = family.products else { continue };
                let (a, b) = make(wanted)?;
                let products = reference::products(&a, b.as_ref().unwrap_or(&a)) as usize;
                // A grid has at least four nodes a side, so small sizes are exceeded.
                assert!((wanted / 4..=6 * wanted).contains(&products), "{}: {products} of {wanted}", family.name);
            }
        }
        Ok(())
    }
}
