//! Families of matrices that a choice of methods meets, each for a kind of application.
use super::super::families::Named;
use crate::patterns::{self, Factors, banded, elements, hypersparse, plane, power_law, roads, side, space};
use blockmul::{BlockShape, Result};

/// A family of products.
pub struct Family {
    pub name: &'static str,
    /// The applications that it stands for.
    pub stands_for: &'static str,
    /// Factors of about so many products.
    pub make: fn(products: usize) -> Result<Factors>,
}

/// Neighbours are unlike each other, so that every third family is a sample of all. The last two
/// are adversaries of a choice by averages and by neighbours.
pub const FAMILIES: [Family; 14] = [
    Family {
        name: "grid-5",
        stands_for: "meshes of the plane",
        make: |products| Ok((plane(side(products / 25, 2))?, None)),
    },
    Family { name: "uniform-8", stands_for: "random graphs", make: |products| patterns::uniform(products / 64, 8) },
    Family {
        name: "bundle-adjustment",
        stands_for: "W·Wᵀ of bundle adjustments",
        // Three columns a point, with six rows for each of five views.
        make: |products| {
            let points = (products / 2700).max(10);
            let (w, _) = named(&format!("bundle-adjustment:{}x{points}x5", points / 100 + 8))?;
            let transposed = w.transpose();
            Ok((w, Some(transposed)))
        },
    },
    Family {
        name: "grid-27",
        stands_for: "stencils in space",
        make: |products| Ok((space(side(products / 729, 3))?, None)),
    },
    Family { name: "power-law", stands_for: "social and web graphs", make: power_law },
    Family {
        name: "elements-3",
        stands_for: "finite elements with three unknowns a node",
        make: |products| Ok((elements(side(products / 1323, 3), 3)?, None)),
    },
    Family {
        name: "roads",
        stands_for: "road networks with hubs",
        make: |products| Ok((roads(side(products / 12, 2))?, None)),
    },
    Family {
        name: "hypersparse",
        stands_for: "fewer entries than columns",
        // n·(entries/n)² products.
        make: |products| {
            let n = (4 * products).min(MOST_COLUMNS);
            Ok((hypersparse(n, (products as f64 * n as f64).sqrt() as usize)?, None))
        },
    },
    Family { name: "long-columns", stands_for: "few long columns", make: |products| patterns::hubs(products / 900) },
    Family {
        name: "banded-33",
        stands_for: "banded matrices",
        make: |products| Ok((banded((products / 1089).max(33), 16)?, None)),
    },
    Family {
        name: "pose-graph",
        stands_for: "Hessians of pose graphs",
        // Six columns a pose, with six rows for each of about five poses.
        make: |products| {
            let poses = (products / 6500).max(8);
            Ok((named(&format!("pose-graph:{poses}x{poses}"))?.0, None))
        },
    },
    Family {
        name: "arrow",
        stands_for: "one full row and column",
        make: |products| named(&format!("arrow:{}", products.isqrt())),
    },
    Family {
        name: "bimodal",
        stands_for: "short columns between long ones",
        // An entry of B meets a column of 16 on average.
        make: |products| Ok((patterns::bimodal(products / 256, 30)?, None)),
    },
    Family {
        name: "permuted-equals",
        stands_for: "equal columns far apart",
        make: |products| Ok((patterns::permuted_equals(products / 81, 3)?, None)),
    },
];

/// Most columns of a family: their offsets fit the host.
const MOST_COLUMNS: usize = 1 << 26;

/// A matrix of `bench`, of scalars.
fn named(name: &str) -> Result<Factors> {
    let family = Named::parse(name).expect("a family").expect("its sizes");
    let block: BlockShape = family.block();
    Ok((family.made(None, block).matrix()?.to_scalars(), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::reference;

    #[test]
    fn sizes_are_about_what_is_wanted() -> Result<()> {
        for family in &FAMILIES {
            for wanted in [10_000, 300_000] {
                let (a, b) = (family.make)(wanted)?;
                let products = reference::products(&a, b.as_ref().unwrap_or(&a)) as usize;
                // A grid has at least four nodes a side.
                assert!((wanted / 4..=6 * wanted).contains(&products), "{}: {products} of {wanted}", family.name);
            }
        }
        Ok(())
    }
}
