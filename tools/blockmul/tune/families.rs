//! The products that are timed: matrices of several families, in growing sizes.
use blockmul::{
    BlockShape, Csc, Element, Error, Result,
    generate::{self, Values},
    matrix::Pattern,
};

/// The seed of every matrix.
const SEED: u64 = 1;

/// Factors of a product. Without B it is A·A.
pub struct Operands<T: Element> {
    pub a: Csc<T>,
    pub b: Option<Csc<T>>,
}

/// A, and B if the product is not A·A.
type Factors = (Csc<f64>, Option<Csc<f64>>);

/// A family of products.
pub struct Family {
    pub name: &'static str,
    /// Products of an average column of C.
    column: usize,
    /// Factors with about so many columns.
    make: fn(columns: usize) -> Result<Factors>,
}

/// Columns of every class: short ones, with and without several products of a row, long ones with
/// rows in narrow ranges and in wide ones, a few long ones among many short ones, single products,
/// and hubs.
pub const FAMILIES: [Family; 10] = [
    Family { name: "uniform-3", column: 9, make: |columns| uniform(columns, 3) },
    Family { name: "uniform-8", column: 64, make: |columns| uniform(columns, 8) },
    Family { name: "uniform-14", column: 196, make: |columns| uniform(columns, 14) },
    Family { name: "uniform-32", column: 1024, make: |columns| uniform(columns, 32) },
    Family { name: "power-law", column: 200, make: power_law },
    Family { name: "grid-5", column: 25, make: |columns| Ok((plane(side(columns, 2))?, None)) },
    Family { name: "grid-27", column: 729, make: |columns| Ok((space(side(columns, 3))?, None)) },
    Family { name: "banded-33", column: 1089, make: |columns| Ok((banded(columns, 16)?, None)) },
    Family { name: "single", column: 8, make: single },
    Family { name: "hubs", column: 900, make: hubs },
];

/// Products of the smallest size, and by how much the next ones grow.
const SMALLEST: usize = 20_000;
const GROWTH: usize = 4;

impl Family {
    /// Factors of about [`products`] products.
    pub fn operands<T: Element>(&self, level: u32) -> Result<Operands<T>> {
        let (a, b) = (self.make)((products(level) as usize / self.column).max(8))?;
        Ok(Operands { a: a.cast(), b: b.map(|b| b.cast()) })
    }
}

/// About as many products as the sizes of a level have.
pub fn products(level: u32) -> u64 {
    (SMALLEST as u64).saturating_mul((GROWTH as u64).saturating_pow(level))
}

/// By how much the sizes of the next level grow.
pub fn growth() -> f64 {
    GROWTH as f64
}

fn side(columns: usize, dimensions: u32) -> usize {
    (1..).find(|side: &usize| side.pow(dimensions) >= columns).unwrap_or(1).max(4)
}

fn scalars(matrix: blockmul::Cbc<f64>) -> Result<Csc<f64>> {
    let (pattern, values) = matrix.into_parts();
    Csc::new(pattern, values)
}

/// Entries in rows drawn uniformly.
fn uniform(columns: usize, entries: usize) -> Result<Factors> {
    let n = columns.max(2 * entries);
    Ok((scalars(generate::uniform(n, n, entries, BlockShape::SCALAR, Values::Real, SEED)?)?, None))
}

/// A graph of few hubs and many leaves.
fn power_law(columns: usize) -> Result<Factors> {
    Ok((scalars(generate::power_law(columns, 9 * columns, BlockShape::SCALAR, Values::Real, SEED)?)?, None))
}

/// Columns of B with one entry.
fn single(columns: usize) -> Result<Factors> {
    let of = |entries| scalars(generate::uniform(columns, columns, entries, BlockShape::SCALAR, Values::Real, SEED)?);
    Ok((of(8)?, Some(of(1)?)))
}

/// Long columns of B that meet short columns of A.
fn hubs(columns: usize) -> Result<Factors> {
    let rows = (8 * columns).max(1000);
    let of = |cols, entries| scalars(generate::uniform(rows, cols, entries, BlockShape::SCALAR, Values::Real, SEED)?);
    Ok((of(rows, 3)?, Some(of(columns, 300)?)))
}

/// The five-point stencil of a square.
fn plane(side: usize) -> Result<Csc<f64>> {
    let n = side * side;
    stencil(n, |column| {
        let (x, y) = (column % side, column / side);
        let neighbours = [
            (y > 0).then(|| column.wrapping_sub(side)),
            (x > 0).then(|| column.wrapping_sub(1)),
            Some(column),
            (x + 1 < side).then_some(column + 1),
            (y + 1 < side).then_some(column + side),
        ];
        neighbours.into_iter().flatten().collect()
    })
}

/// The 27-point stencil of a cube.
fn space(side: usize) -> Result<Csc<f64>> {
    let near = |at: usize| at.saturating_sub(1)..(at + 2).min(side);
    stencil(side * side * side, |column| {
        let (x, y, z) = (column % side, column / side % side, column / side / side);
        let rows = near(z).flat_map(|z| near(y).map(move |y| (y, z)));
        rows.flat_map(|(y, z)| near(x).map(move |x| (z * side + y) * side + x)).collect()
    })
}

/// A band of so many diagonals on either side.
fn banded(columns: usize, half: usize) -> Result<Csc<f64>> {
    stencil(columns, |column| (column.saturating_sub(half)..(column + half + 1).min(columns)).collect())
}

/// A square matrix whose columns have these rows, ascending, and values whose sums depend on their
/// order.
fn stencil(n: usize, rows: impl Fn(usize) -> Vec<usize>) -> Result<Csc<f64>> {
    if n >= u32::MAX as usize {
        return Err(Error::Argument(format!("a grid of {n} points")));
    }
    let (mut col_ptr, mut row_idx) = (vec![0u64], Vec::new());
    for column in 0..n {
        row_idx.extend(rows(column).into_iter().map(|row| row as u32));
        col_ptr.push(row_idx.len() as u64);
    }
    let mut random = generate::Random::new(SEED);
    let values = row_idx.iter().map(|_| 2.0 * random.unit() - 1.0).collect();
    Csc::new(Pattern::new(n, n, col_ptr, row_idx)?, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockmul::reference;

    #[test]
    fn sizes_are_about_those_of_their_level() -> Result<()> {
        for family in &FAMILIES {
            let count = |level| -> Result<u64> {
                let Operands { a, b } = family.operands::<f64>(level)?;
                Ok(reference::products(&a, b.as_ref().unwrap_or(&a)))
            };
            for level in [0, 2] {
                let about = products(level);
                assert!(
                    (about / 4..=about * 5).contains(&count(level)?),
                    "{}: {} of {about}",
                    family.name,
                    count(level)?
                );
            }
        }
        Ok(())
    }

    #[test]
    fn stencils_have_their_neighbours() -> Result<()> {
        let (plane, space) = (plane(4)?, space(3)?);
        assert_eq!((plane.nnz(), plane.pattern().column(5)), (64, &[1, 4, 5, 6, 9][..]));
        assert_eq!((space.nnz(), space.pattern().column(13).len()), (343, 27));
        assert_eq!(banded(5, 1)?.pattern().row_idx(), [0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4]);
        Ok(())
    }
}
