//! Families of matrices that a choice of methods meets, each for a kind of application.
use super::super::families::Named;
use crate::patterns::{
    self, Factors, banded, drawn, elements, hexagons, hypersparse, plane, power_law, roads, side, space,
};
use blockmul::{BlockShape, Result};

/// A family of products.
pub struct Family {
    pub name: &'static str,
    /// The applications that it stands for.
    pub stands_for: &'static str,
    /// The family of `blockmul tune` that is of the same kind, so that costs are fitted to it.
    pub fitted_as: Option<&'static str>,
    /// Factors of about so many products.
    pub make: fn(products: usize) -> Result<Factors>,
}

/// Neighbours are unlike each other, so that every third family is a sample of all. The last two
/// are adversaries of a choice by averages and by neighbours. To those without a family of `tune`
/// no costs are fitted.
pub const FAMILIES: [Family; 18] = [
    Family {
        name: "grid-5",
        stands_for: "meshes of the plane",
        fitted_as: Some("grid-5"),
        make: |products| Ok((plane(side(products / 25, 2))?, None)),
    },
    Family {
        name: "uniform-8",
        stands_for: "random graphs",
        fitted_as: Some("uniform-8"),
        make: |products| patterns::uniform(products / 64, 8),
    },
    Family {
        name: "bundle-adjustment",
        stands_for: "W·Wᵀ of bundle adjustments",
        fitted_as: None,
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
        fitted_as: Some("grid-27"),
        make: |products| Ok((space(side(products / 729, 3))?, None)),
    },
    Family { name: "power-law", stands_for: "social and web graphs", fitted_as: Some("power-law"), make: power_law },
    Family {
        name: "elements-3",
        stands_for: "finite elements with three unknowns a node",
        fitted_as: None,
        make: |products| Ok((elements(side(products / 1323, 3), 3)?, None)),
    },
    Family {
        name: "roads",
        stands_for: "road networks with hubs",
        fitted_as: None,
        make: |products| Ok((roads(side(products / 12, 2))?, None)),
    },
    Family {
        name: "hypersparse",
        stands_for: "fewer entries than columns",
        fitted_as: Some("uniform-3"),
        // n·(entries/n)² products.
        make: |products| {
            let n = (4 * products).min(MOST_COLUMNS);
            Ok((hypersparse(n, (products as f64 * n as f64).sqrt() as usize)?, None))
        },
    },
    Family {
        name: "diagonal-blocks",
        stands_for: "independent parts",
        fitted_as: None,
        make: |products| Ok((patterns::diagonal_blocks((products / 576).max(24), 24)?, None)),
    },
    Family {
        name: "long-columns",
        stands_for: "few long columns",
        fitted_as: Some("hubs"),
        make: |products| patterns::hubs(products / 900),
    },
    Family {
        name: "banded-33",
        stands_for: "banded matrices",
        fitted_as: Some("banded-33"),
        make: |products| Ok((banded((products / 1089).max(33), 16)?, None)),
    },
    Family {
        name: "geometric",
        stands_for: "particles and their neighbours",
        fitted_as: None,
        // Eight columns on average, and a few more that are met as often.
        make: |products| Ok((patterns::geometric((products / 72).max(16), 7)?, None)),
    },
    Family {
        name: "pose-graph",
        stands_for: "Hessians of pose graphs",
        fitted_as: None,
        // Six columns a pose, with six rows for each of about five poses.
        make: |products| {
            let poses = (products / 6500).max(8);
            Ok((named(&format!("pose-graph:{poses}x{poses}"))?.0, None))
        },
    },
    Family {
        name: "kronecker",
        stands_for: "products of two graphs",
        fitted_as: None,
        // Three neighbours of a node, and four of sixteen places in each.
        make: |products| {
            let nodes = hexagons(side(products / 2304, 2))?;
            Ok((patterns::kronecker(&nodes, &drawn([16, 16], 4)?)?, None))
        },
    },
    Family {
        name: "ratings",
        stands_for: "two kinds of things and what connects them",
        fitted_as: None,
        // Rows with eight times as many entries as columns.
        make: |products| {
            let columns = (products / 36).max(48);
            let a = drawn([columns / 8, columns], 6)?;
            let transposed = a.transpose();
            Ok((a, Some(transposed)))
        },
    },
    Family {
        name: "arrow",
        stands_for: "one full row and column",
        fitted_as: None,
        make: |products| named(&format!("arrow:{}", products.isqrt())),
    },
    Family {
        name: "bimodal",
        stands_for: "short columns between long ones",
        fitted_as: None,
        // An entry of B meets a column of 16 on average.
        make: |products| Ok((patterns::bimodal(products / 256, 30)?, None)),
    },
    Family {
        name: "permuted-equals",
        stands_for: "equal columns far apart",
        fitted_as: None,
        make: |products| Ok((patterns::permuted_equals(products / 81, 3)?, None)),
    },
];

/// Most columns of a family: their offsets fit the host.
const MOST_COLUMNS: usize = 1 << 26;

/// Whether no costs are fitted to products of the kind of this family.
pub fn is_held_out(name: &str) -> bool {
    FAMILIES.iter().any(|family| family.name == name && family.fitted_as.is_none())
}

/// A matrix of `bench`, of scalars.
fn named(name: &str) -> Result<Factors> {
    let family = Named::parse(name).expect("a family").expect("its sizes");
    let block: BlockShape = family.block();
    Ok((family.made(None, block).matrix()?.to_scalars(), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune;
    use blockmul::reference;

    #[test]
    fn the_families_of_the_fit_are_known() {
        let of_tune: Vec<&str> = tune::families::FAMILIES.iter().map(|family| family.name).collect();
        for family in &FAMILIES {
            assert!(family.fitted_as.is_none_or(|name| of_tune.contains(&name)), "{}", family.name);
            let same_name = of_tune.contains(&family.name).then_some(family.name);
            assert!(same_name.is_none() || family.fitted_as == same_name, "{}", family.name);
        }
        assert!(FAMILIES.iter().filter(|family| is_held_out(family.name)).count() >= 10);
        assert!(!is_held_out("grid-5") && !is_held_out("a file"));
    }

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
