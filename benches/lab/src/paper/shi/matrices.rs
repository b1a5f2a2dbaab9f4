//! The matrices of the study: random squares, and models of the matrices of Table III.
use crate::paper::{ByRows, models::Model};
use crate::patterns::{banded, drawn, elements, hubs_and_leaves, scattered, side};
use blockmul::{Csc, Csr, Result, matrix::Pattern};
use std::str::FromStr;

/// Sides of random squares. The paper's sides begin at 400; the smaller sides are used if few
/// products are allowed.
const SIDES: [usize; 9] = [50, 100, 200, 400, 1000, 2000, 4000, 8000, 14_000];
/// Number of sides of random squares that are measured. The measured sides are the largest that the
/// number of products allows.
const MOST_SIDES: usize = 6;
/// Fractions of the elements that are zero, in random squares. In the paper these fractions are 0.8
/// to 0.9995.
const ZEROS: [f64; 11] = [0.8, 0.85, 0.9, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 0.998, 0.9995];
/// The fractions of zeros in Figure 13.
pub const CONVERTED: [f64; 5] = [0.95, 0.96, 0.97, 0.98, 0.99];
/// The sides of the paper's Figures 7 to 9 and 13.
const SHOWN: [usize; 2] = [4000, 14_000];

/// A random square matrix: its side, and the fraction of its elements that is zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Square {
    pub side: usize,
    pub zeros: f64,
}

impl FromStr for Square {
    type Err = String;

    /// Parses N:S, in the form that the programs of `benches/peers` take.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(side, zeros)| {
            let (side, zeros) = (side.parse().ok()?, zeros.parse().ok()?);
            ((1..=1 << 20).contains(&side) && (0.0..1.0).contains(&zeros)).then_some(Self { side, zeros })
        });
        parsed.ok_or_else(|| "N:S is wanted, a side up to 1048576 and a part of zeros below 1".into())
    }
}

/// Returns the random squares with at most `most` products.
pub fn squares(most: u64) -> Vec<Square> {
    let of_side = |side: usize| {
        let squares = ZEROS.map(|zeros| Square { side, zeros }).into_iter();
        squares.filter(|square| square.products() <= most as f64).collect::<Vec<_>>()
    };
    let mut all: Vec<Vec<Square>> = SIDES.map(of_side).into_iter().filter(|squares| !squares.is_empty()).collect();
    all.drain(..all.len().saturating_sub(MOST_SIDES));
    all.concat()
}

/// The two sides of the figures by sparsity: those of the paper, or else the largest sides that
/// have several squares.
pub fn shown(squares: &[Square]) -> Vec<usize> {
    let several =
        |side: &usize| squares.iter().filter(|square| square.side == *side && square.zeros >= 0.95).count() > 2;
    let mut sides: Vec<usize> = SIDES.into_iter().filter(several).collect();
    if SHOWN.iter().all(|side| sides.contains(side)) {
        return SHOWN.into();
    }
    sides.drain(..sides.len().saturating_sub(2));
    sides
}

/// Mixes a number, so that each bit of the result depends on all of its bits (the finalizer of
/// splitmix64).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// An integer from -31 to 31 other than 0, so that the programs of `benches/peers` compute exact
/// sums in f32.
fn drawn_value(bits: u64) -> f64 {
    let value = (bits & 2047) % 62;
    if value < 31 { value as f64 - 31.0 } else { value as f64 - 30.0 }
}

impl Square {
    pub fn name(self) -> String {
        format!("random_{}_{}", self.side, self.zeros)
    }

    /// Approximate number of products of entries if the matrix is multiplied by a square dense
    /// matrix.
    fn products(self) -> f64 {
        (self.side as f64).powi(3) * (1.0 - self.zeros)
    }

    /// Generates the matrix. The matrix has the same entries as `random:N:S` in
    /// `benches/peers/dense.h`.
    pub fn matrix(self) -> Result<Csr<f64>> {
        let n = self.side as u64;
        let expected = self.products() / self.side as f64;
        let (mut ptr, mut columns, mut values) = (vec![0], Vec::with_capacity(expected as usize), Vec::new());
        values.reserve(expected as usize);
        for row in 0..n {
            for column in 0..n {
                let bits = mixed(row * n + column);
                if (bits >> 11) as f64 * f64::EPSILON / 2.0 >= self.zeros {
                    columns.push(column as u32);
                    values.push(drawn_value(bits));
                }
            }
            ptr.push(columns.len() as u64);
        }
        Ok(Csr::from_transpose(Csc::new(Pattern::new(self.side, self.side, ptr, columns)?, values)?))
    }
}

/// The diagonal, and the diagonals above it at distances that are powers of two. This upper
/// triangle has 14.4 entries a row, as in the paper.
fn powers(rows: usize) -> Result<Csc<f64>> {
    let steps = || std::iter::once(0).chain((0..usize::BITS).map(|power| 1 << power)).take_while(|&step| step < rows);
    let near = (0..rows).flat_map(|row| steps().filter(move |step| row + step < rows).map(move |step| (row, step)));
    Csc::from_triplets(rows, rows, near.map(|(row, step)| (row, row + step, 1.0 / (1.0 + step as f64))))
}

/// A diagonal with entries in three of five rows.
fn holed(rows: usize) -> Result<Csc<f64>> {
    Csc::from_triplets(rows, rows, (0..rows).filter(|row| row % 5 < 3).map(|row| (row, row, 0.1 + row as f64 / 3.0)))
}

/// The models of Table III, with the paper's numbers of rows and of entries in a row.
pub const TABLE_III: [Model<(usize, f64)>; 14] = [
    Model::like("nemeth11", "a band of 23", (9506, 23.0), |rows| banded(rows, 11)),
    Model::like("human_gene1", "power law, long rows", (22_283, 555.0), |rows| {
        hubs_and_leaves(rows, rows * 555.min(rows / 4))
    }),
    Model::like("Lederberg", "power law", (8843, 4.7), |rows| hubs_and_leaves(rows, rows * 47 / 10)),
    Model::like("m3plates", "part of a diagonal", (11_107, 0.6), holed),
    Model::like("aug3dcqp", "2 anywhere", (35_543, 2.0), |rows| drawn([rows, rows], 2)),
    Model::like("Trefethen_20000b", "diagonals at powers of two", (19_999, 14.4), powers),
    Model::like("ex37", "elements, 3 unknowns a node", (3565, 19.0), |rows| elements(side(rows / 3, 3), 3)),
    Model::like("g7jac020sc", "8 anywhere", (5850, 8.0), |rows| drawn([rows, rows], 8)),
    Model::like("LF10000", "a band of 3", (19_998, 3.0), |rows| banded(rows, 1)),
    Model::like("epb2", "7 entries in a band", (25_228, 7.0), |rows| scattered(rows, 7, 64)),
    Model::like("plbuckle", "a band of 13", (1282, 13.0), |rows| banded(rows, 6)),
    Model::like("wang3", "7-point stencil", (26_064, 7.0), |rows| elements(side(rows, 3), 1)),
    Model::like("fpga_dcop_01", "a band of 5", (1220, 5.0), |rows| banded(rows, 2)),
    Model::like("viscoplastic2_C_1", "12 entries in a band", (32_769, 12.0), |rows| scattered(rows, 12, 64)),
];

impl Model<(usize, f64)> {
    /// Generates the model with as many rows as the paper's matrix. The model has fewer rows if its
    /// product with a square dense matrix would have more than `most` products.
    pub fn matrix(&self, most: u64) -> Result<Csr<f64>> {
        let (rows, per_row) = self.size;
        let fit = (most as f64 / per_row).sqrt() as usize;
        (self.make)(rows.min(fit.max(32)))?.by_rows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::Matrix;

    #[test]
    fn a_square_is_that_of_the_peers() -> Result<()> {
        let square = Square { side: 30, zeros: 0.9 };
        let a = square.matrix()?;
        let by_rows = a.as_cbc().pattern;
        let places =
            (0..30).flat_map(|row| by_rows.column(row).iter().map(move |&column| row as u64 * 30 + u64::from(column)));
        // `drawn_matrix("random:30:0.9")` in `benches/peers/dense.h` has these sums.
        assert_eq!((square.name(), a.values().len()), ("random_30_0.9".into(), 85));
        assert_eq!(places.fold(0, |sum, place| (sum * 31 + place) % 1_000_003), 244_899);
        assert_eq!(a.values().iter().sum::<f64>(), 278.0);
        Ok(())
    }

    #[test]
    fn squares_are_named_by_side_and_zeros() {
        assert_eq!("400:0.95".parse(), Ok(Square { side: 400, zeros: 0.95 }));
        for wrong in ["400", "0:0.5", "400:1", "400:-0.1", "x:0.5", "400:nan"] {
            assert!(wrong.parse::<Square>().unwrap_err().contains("N:S"), "{wrong}");
        }
    }

    #[test]
    fn few_products_give_few_and_small_squares() {
        let sides = |most: u64| {
            let mut sides: Vec<usize> = squares(most).iter().map(|square| square.side).collect();
            sides.dedup();
            sides
        };
        assert_eq!(sides(7000), [50, 100, 200]);
        assert_eq!(sides(1_000_000_000_000), [400, 1000, 2000, 4000, 8000, 14_000]);
        assert!(squares(7000).iter().all(|square| square.products() <= 7000.0));
        assert_eq!(shown(&squares(1_000_000_000_000)), [4000, 14_000]);
        assert_eq!(shown(&squares(1_000_000)), [200, 400]);
        assert!(squares(1).is_empty());
    }

    #[test]
    fn models_have_about_the_entries() -> Result<()> {
        for model in &TABLE_III {
            let a = model.matrix(2_000_000)?;
            let per_row = a.values().len() as f64 / a.nrows() as f64;
            // Small matrices are too small for long rows.
            let wanted = model.size.1.min(a.nrows() as f64 / 4.0);
            assert!((0.4..1.2).contains(&(per_row / wanted)), "{}: {per_row} a row, not {wanted}", model.name);
            assert!(a.nrows() == a.ncols() && a.nrows() <= 4000, "{}", model.name);
        }
        Ok(())
    }
}
