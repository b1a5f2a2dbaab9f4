//! Models of the nine matrices of Table 1, which belong to the SNAP collection.
use crate::paper::models::Model;
use crate::patterns::{Circuit, bimodal, circuit, drawn, hubs_and_leaves, kronecker, scattered, side, streets};
use blockmul::{Csc, Result};

/// Size of a matrix of the collection.
pub struct Size {
    rows: usize,
    /// Number of products of entries in the square of the matrix.
    products: f64,
    /// The products of the model grow with this power of its rows.
    growth: f64,
}

/// The number of products of a row does not depend on the number of rows of the matrix.
const EVEN: f64 = 1.0;
/// Hubs have more entries in larger graphs: the products of R-MAT graphs of 2,000 to 200,000 nodes
/// grow with this power of the nodes.
const HUBS: f64 = 1.36;

/// The models. A model with as many products as the paper's matrix also has about the same number
/// of rows and entries as that matrix.
pub const MODELS: [Model<Size>; 9] = [
    Model::like("roadNet-CA", "planar, streets", Size { rows: 1_971_281, products: 17.5e6, growth: EVEN }, |rows| {
        streets(side(rows, 2))
    }),
    // The longest net grows with the root of the rows, so that hubs keep their share of the
    // products.
    Model::like("web-Google", "links and hubs", Size { rows: 916_428, products: 60.7e6, growth: EVEN }, |rows| {
        circuit(rows, Circuit { devices: 225, longest: 23 * rows.isqrt() / 5, power: 10 })
    }),
    Model::like("email-Enron", "power law", Size { rows: 36_692, products: 51.5e6, growth: HUBS }, |rows| {
        hubs_and_leaves(rows, 10 * rows)
    }),
    Model::like("amazon0312", "8 entries in a band", Size { rows: 400_727, products: 28.4e6, growth: EVEN }, |rows| {
        scattered(rows, 8, 12)
    }),
    Model::like("ca-CondMat", "Kronecker graph", Size { rows: 23_133, products: 4.13e6, growth: EVEN }, |rows| {
        hubs_times(rows, 32, 3)
    }),
    Model::like("p2p-Gnutella31", "columns of 2 and 3", Size { rows: 62_586, products: 538e3, growth: EVEN }, |rows| {
        bimodal(rows, 3)
    }),
    Model::like("wiki-Vote", "Kronecker graph", Size { rows: 8297, products: 4.54e6, growth: EVEN }, |rows| {
        hubs_times(rows, 128, 4)
    }),
    Model::like(
        "cit-Patents",
        "columns of 2 and 7",
        Size { rows: 3_774_768, products: 82.2e6, growth: EVEN },
        |rows| bimodal(rows, 7),
    ),
    Model::like("as-Skitter", "power law", Size { rows: 1_696_415, products: 27.7e9, growth: HUBS }, |rows| {
        hubs_and_leaves(rows, 13 * rows)
    }),
];

impl Model<Size> {
    /// A matrix whose square has about as many products as the paper's, but at most about `most`.
    pub fn matrix(&self, most: u64) -> Result<Csc<f64>> {
        let part = (most as f64 / self.size.products).min(1.0);
        (self.make)((self.size.rows as f64 * part.powf(1.0 / self.size.growth)) as usize)
    }
}

/// A graph of up to `hubs` nodes, few of which have most edges, in which each node is replaced by
/// many: each edge becomes a matrix with `entries` entries in a column.
fn hubs_times(rows: usize, hubs: usize, entries: usize) -> Result<Csc<f64>> {
    let hubs = (rows / 4).clamp(8, hubs);
    kronecker(&hubs_and_leaves(hubs, 4 * hubs)?, &drawn([(rows / hubs).max(entries); 2], entries)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::polok::table::PRINTED;
    use blockmul::reference;

    #[test]
    fn models_have_about_the_entries_of_a_row_and_the_products() -> Result<()> {
        for (model, printed) in MODELS.iter().zip(&PRINTED) {
            assert_eq!(model.name, printed.matrix, "in the paper's order");
            for most in [50_000, 1_000_000] {
                let a = model.matrix(most)?;
                let (products, in_a_row) = (reference::products(&a, &a) as f64, a.nnz() as f64 / a.nrows() as f64);
                let wanted = model.size.products.min(most as f64);
                assert!((0.2..=1.5).contains(&(products / wanted)), "{}: {products} of {wanted}", model.name);
                let off = in_a_row / printed.nnz_per_row;
                assert!((0.5..=1.2).contains(&off), "{}: {in_a_row} of {}", model.name, printed.nnz_per_row);
            }
        }
        Ok(())
    }
}
