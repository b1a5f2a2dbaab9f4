//! Matrices that are generated in place of those of the papers, if no files are given.
use crate::patterns::{
    Factors, banded, drawn, elements, hexagons, plane, power_law, roads, scattered, scattered_along, side, space,
    with_transpose,
};
use crate::regret::families;
use blockmul::{Csc, Result};

/// A generator of a matrix, or of the factors of a product, in place of a paper's matrix.
pub struct Model<S, M = Csc<f64>> {
    /// The paper's matrix.
    pub name: &'static str,
    /// The kind of matrix that is generated instead of the paper's matrix.
    pub what: &'static str,
    /// The size of the paper's matrix, in the unit that the paper's study needs.
    pub size: S,
    pub make: fn(size: usize) -> Result<M>,
}

impl<S, M> Model<S, M> {
    pub const fn like(name: &'static str, what: &'static str, size: S, make: fn(usize) -> Result<M>) -> Self {
        Self { name, what, size, make }
    }

    /// Name of the generated matrix, if files of the paper's matrices may be measured, too.
    pub fn stand_in(&self) -> String {
        format!("like {}", self.name)
    }

    /// Whether a matrix of this name is the paper's, or was generated in its place.
    pub fn is_of(&self, matrix: &str) -> bool {
        self.name == matrix || self.stand_in() == matrix
    }
}

/// Models of the matrices of Parger 2020, table 4. The square of each model has as many products as
/// the square of the paper's matrix. The models have about as many entries in a column, and as many
/// products for each entry of C, as the paper's matrices.
pub const PARGER: [Model<u64, Factors>; 10] = [
    Model::like("webbase", "power law", 69_500_000, power_law),
    Model::like("hugebubbles", "honeycomb", 190_700_000, |products| Ok((hexagons(side(products / 9, 2))?, None))),
    Model::like("mario002", "5-point stencil", 12_800_000, |products| Ok((plane(side(products / 25, 2))?, None))),
    // A column of A has 3 of 7 neighbouring rows, so that a column of C has 13 entries.
    Model::like("stat96v2", "long rows by short columns", 8_700_000, |products| {
        let cols = (products / 9).max(99);
        Ok(with_transpose(scattered_along([cols / 33, cols], 3, 3)?))
    }),
    Model::like("cage13", "17 entries in a band", 137_300_000, |products| {
        Ok((scattered((products / 289).max(40), 17, 64)?, None))
    }),
    Model::like("144", "elements, 2 unknowns a node", 33_000_000, |products| {
        Ok((elements(cube(products / 392), 2)?, None))
    }),
    Model::like("poisson3Da", "27-point stencil", 11_800_000, |products| Ok((space(side(products / 729, 3))?, None))),
    Model::like("QCD", "elements, 5 unknowns a node", 4_700_000, |products| {
        Ok((elements(cube(products / 6125), 5)?, None))
    }),
    Model::like("harbor", "elements, 7 unknowns a node", 156_500_000, |products| {
        Ok((elements(cube(products / 16_807), 7)?, None))
    }),
    // If there are too few products for a band of this width, the band is narrower.
    Model::like("TSC_OPF", "a band of 251", 1_352_400_000, |products| {
        let half = ((products / 8) as f64).cbrt().clamp(1.0, 125.0) as usize;
        Ok((banded((products / (2 * half + 1).pow(2)).max(2 * half), half)?, None))
    }),
];

/// The side of a cube of about `nodes` nodes.
fn cube(nodes: usize) -> usize {
    (nodes as f64).cbrt().round().max(2.0) as usize
}

/// Families of Polok 2015 if no files are given: pose graphs and bundle adjustments of growing
/// sizes.
pub fn polok(most: u64) -> Vec<String> {
    let names = |products: u64| {
        let (poses, points) = ((products / 6500).max(8), (products / 2700).max(10));
        [format!("pose-graph:{poses}x{poses}"), format!("bundle-adjustment:{}x{points}x5", points / 100 + 8)]
    };
    families::sizes(most).flat_map(names).collect()
}

/// A generated matrix of Evtushenko 2019.
pub struct Sample {
    pub kind: &'static str,
    /// The side of the square blocks of which the matrix consists; 1 for scalars.
    pub block: usize,
    pub a: Csc<f64>,
}

/// Matrices of Evtushenko 2019, of about `most` entries and of a tenth of them.
pub fn evtushenko(most: usize) -> Result<Vec<Sample>> {
    let of_size = |entries: usize| -> Result<Vec<Sample>> {
        let hub = (entries / 4).max(2);
        let long_row = [vec![(0, 0)], (1..hub).flat_map(|i| [(0, i), (i, i)]).collect()].concat();
        let arrow = Csc::from_triplets(hub, hub, long_row.into_iter().map(|(i, j)| (i, j, 0.5)))?;
        let scalars = |(kind, a)| Sample { kind, block: 1, a };
        let blocks = |kind, block: usize| -> Result<Sample> {
            Ok(Sample { kind, block, a: elements(cube(entries / (7 * block * block)), block)? })
        };
        let of_scalars = [
            ("5-point stencil", plane(side(entries / 5, 2))?),
            ("27-point stencil", space(side(entries / 27, 3))?),
            ("honeycomb", hexagons(side(entries / 3, 2))?),
            ("17 entries in a band", scattered((entries / 17).max(40), 17, 64)?),
            ("8 entries anywhere", drawn([entries.div_ceil(8); 2], 8)?),
            ("100 entries anywhere", drawn([entries.div_ceil(100).max(100); 2], 100)?),
            ("roads", roads(side(entries / 3, 2))?),
            ("graph of few hubs", power_law(20 * entries)?.0),
            ("one full row", arrow),
        ];
        let of_blocks = [blocks("elements, 3 unknowns a node", 3)?, blocks("elements, 6 unknowns a node", 6)?];
        Ok(of_scalars.map(scalars).into_iter().chain(of_blocks).collect())
    };
    Ok([of_size((most / 10).max(100))?, of_size(most.max(100))?].into_iter().flatten().collect())
}

impl Model<u64, Factors> {
    /// Factors with about as many products as the paper's, but at most about `most`.
    pub fn factors(&self, most: u64) -> Result<Factors> {
        (self.make)(self.size.min(most) as usize)
    }
}

/// Number of products in the longest column of C, or in the longest row of C if rows are
/// multiplied.
pub fn longest_line((a, b): &Factors, by_rows: bool) -> u64 {
    let [a, b] = [a, b.as_ref().unwrap_or(a)].map(Csc::pattern);
    if by_rows {
        // Each entry (row, k) of A is multiplied by row k of B.
        let (mut of_b, mut products) = (vec![0u64; b.nrows()], vec![0u64; a.nrows()]);
        b.row_idx().iter().for_each(|&row| of_b[row as usize] += 1);
        let met = (0..a.ncols()).flat_map(|k| a.column(k).iter().map(move |&row| (row, k)));
        met.for_each(|(row, k)| products[row as usize] += of_b[k]);
        return products.into_iter().max().unwrap_or(0);
    }
    let column = |col: usize| b.column(col).iter().map(|&k| a.column(k as usize).len() as u64).sum();
    (0..b.ncols()).map(column).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::{BlockShape, reference};

    #[test]
    fn the_longest_line_is_a_column_or_a_row_of_c() -> Result<()> {
        // Column 1 of B selects columns of A with 2 and 1 entries; row 2 of A selects rows of B
        // with 1, 2 and 3 entries.
        let a = Csc::from_triplets(3, 3, [(0, 0), (2, 0), (2, 1), (2, 2)].map(|(row, col)| (row, col, 1.0)))?;
        let entries = [(0, 1), (1, 1), (1, 3), (2, 0), (2, 2), (2, 3)];
        let b = Csc::from_triplets(3, 4, entries.map(|(row, col)| (row, col, 1.0)))?;
        let transposed = (b.transpose(), Some(a.transpose()));
        let factors = (a, Some(b));
        assert_eq!([false, true].map(|by_rows| longest_line(&factors, by_rows)), [3, 6]);
        assert_eq!([false, true].map(|by_rows| longest_line(&transposed, by_rows)), [6, 3]);
        // In A·A, row 2 of A selects rows with 1, 0 and 3 entries.
        assert_eq!([false, true].map(|by_rows| longest_line(&(factors.0.clone(), None), by_rows)), [3, 4]);
        Ok(())
    }

    #[test]
    fn models_have_about_the_products() -> Result<()> {
        for (model, most) in PARGER.iter().flat_map(|model| [(model, 50_000), (model, 1_000_000)]) {
            let factors = model.factors(most)?;
            let (a, b) = &factors;
            let products = reference::products(a, b.as_ref().unwrap_or(a));
            assert!((most / 5..=2 * most).contains(&products), "{}: {products} of {most}", model.name);
            assert!(longest_line(&factors, false) > 0);
        }
        assert_eq!(polok(100_000).len(), 4);
        for Sample { kind, block, a } in evtushenko(20_000)? {
            assert!((500..=60_000).contains(&a.nnz()), "{kind}: {}", a.nnz());
            // All elements of this model's blocks are entries.
            let of_blocks = a.to_blocks(BlockShape::new(block, block)?)?;
            assert_eq!(of_blocks.values().len(), a.nnz(), "{kind}");
        }
        Ok(())
    }
}
