//! Generated matrices of scalars on which `tune` and the laboratory measure the methods of
//! products. The laboratory has further patterns.

use blockmul::{Cbc, Csc, Error, Result, generate, matrix::Pattern};

/// The seed of every generated matrix. The seed is fixed, so that a name always means the same
/// matrix.
pub const SEED: u64 = 1;

/// A, and B if the product is not A·A.
pub type Factors = (Csc<f64>, Option<Csc<f64>>);

/// The least side, at least 4, of a square or a cube with at least `columns` nodes.
pub fn side(columns: usize, dimensions: u32) -> usize {
    (1..).find(|side: &usize| side.pow(dimensions) >= columns).unwrap_or(1).max(4)
}

pub fn scalars(matrix: Cbc<f64>) -> Result<Csc<f64>> {
    let (pattern, values) = matrix.into_parts();
    Csc::new(pattern, values)
}

/// A matrix with entries in random rows.
pub fn uniform(columns: usize, entries: usize) -> Result<Factors> {
    let n = columns.max(2 * entries);
    Ok((drawn([n, n], entries)?, None))
}

/// A graph of few hubs and many leaves whose square has about `products` products. The number of
/// products grows faster than the number of edges.
pub fn power_law(products: usize) -> Result<Factors> {
    let columns = (50.0 * (products as f64 / 3240.0).powf(0.68)).round().max(10.0) as usize;
    Ok((hubs_and_leaves(columns, 9 * columns)?, None))
}

/// A graph of few hubs and many leaves, with `nodes` nodes. Some of the `edges` edges are drawn
/// twice.
pub fn hubs_and_leaves(nodes: usize, edges: usize) -> Result<Csc<f64>> {
    scalars(generate::PowerLaw { nodes, edges, seed: SEED, ..Default::default() }.matrix()?)
}

/// Factors for which columns of B have one entry.
pub fn single(columns: usize) -> Result<Factors> {
    Ok((drawn([columns, columns], 8)?, Some(drawn([columns, columns], 1)?)))
}

/// Factors for which long columns of B select short columns of A.
pub fn hubs(columns: usize) -> Result<Factors> {
    let rows = (8 * columns).max(1000);
    Ok((drawn([rows, rows], 3)?, Some(drawn([rows, columns], 300)?)))
}

/// The five-point stencil of a square.
pub fn plane(side: usize) -> Result<Csc<f64>> {
    stencil(side * side, |column| neighbours(column, side, 2).collect())
}

/// A node of a grid with `dimensions` dimensions and its neighbours along the axes, ascending.
fn neighbours(node: usize, side: usize, dimensions: u32) -> impl Iterator<Item = usize> {
    let steps = (0..dimensions).map(move |axis| side.pow(axis));
    let before =
        steps.clone().rev().filter(move |step| !(node / step).is_multiple_of(side)).map(move |step| node - step);
    let after = steps.filter(move |step| node / step % side + 1 < side).map(move |step| node + step);
    before.chain([node]).chain(after)
}

/// The 27-point stencil of a cube.
pub fn space(side: usize) -> Result<Csc<f64>> {
    let near = |at: usize| at.saturating_sub(1)..(at + 2).min(side);
    stencil(side * side * side, |column| {
        let (x, y, z) = (column % side, column / side % side, column / side / side);
        let rows = near(z).flat_map(|z| near(y).map(move |y| (y, z)));
        rows.flat_map(|(y, z)| near(x).map(move |x| (z * side + y) * side + x)).collect()
    })
}

/// A band matrix with `half` diagonals on either side.
pub fn banded(columns: usize, half: usize) -> Result<Csc<f64>> {
    stencil(columns, |column| (column.saturating_sub(half)..(column + half + 1).min(columns)).collect())
}

/// A square matrix. `rows` returns the rows of each column in ascending order.
pub fn stencil(n: usize, rows: impl Fn(usize) -> Vec<usize>) -> Result<Csc<f64>> {
    if n >= u32::MAX as usize {
        return Err(Error::Argument(format!("a grid of {n} points")));
    }
    let (mut col_ptr, mut row_idx) = (vec![0u64], Vec::new());
    for column in 0..n {
        row_idx.extend(rows(column).into_iter().map(|row| row as u32));
        col_ptr.push(row_idx.len() as u64);
    }
    with_values(n, col_ptr, row_idx)
}

/// A matrix with this pattern, and values whose sums depend on their order.
pub fn with_values(rows: usize, col_ptr: Vec<u64>, row_idx: Vec<u32>) -> Result<Csc<f64>> {
    let mut random = generate::Random::new(SEED);
    let values = row_idx.iter().map(|_| 2.0 * random.unit() - 1.0).collect();
    Csc::new(Pattern::new(rows, col_ptr.len() - 1, col_ptr, row_idx)?, values)
}

/// A grid of nodes with `unknowns` unknowns each. Rows of a column are the unknowns of its node and
/// of the six neighbours, so that neighbouring columns have the same rows.
pub fn elements(side: usize, unknowns: usize) -> Result<Csc<f64>> {
    stencil(side * side * side * unknowns, |column| {
        let nodes = neighbours(column / unknowns, side, 3);
        nodes.flat_map(|node| (0..unknowns).map(move |row| node * unknowns + row)).collect()
    })
}

/// A matrix with `entries` entries in each column, in random rows.
pub fn drawn([rows, cols]: [usize; 2], entries: usize) -> Result<Csc<f64>> {
    scalars(generate::Uniform { rows, cols, per_column: entries.min(rows), seed: SEED, ..Default::default() }.matrix()?)
}

/// Factors whose product has at most `rows` rows in each column. Each column of B has `entries`
/// entries, which select columns of A with 32 entries.
pub fn few_rows(rows: usize, columns: usize, entries: usize) -> Result<Factors> {
    let inner = columns.max(2 * entries);
    Ok((drawn([rows, inner], 32)?, Some(drawn([inner, columns], entries)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stencils_have_their_neighbours() -> Result<()> {
        let (plane, space) = (plane(4)?, space(3)?);
        assert_eq!((plane.nnz(), plane.pattern().column(5)), (64, &[1, 4, 5, 6, 9][..]));
        assert_eq!((space.nnz(), space.pattern().column(13).len()), (343, 27));
        assert_eq!(banded(5, 1)?.pattern().row_idx(), [0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4]);
        Ok(())
    }

    #[test]
    fn families_have_their_shapes() -> Result<()> {
        let elements = elements(3, 2)?;
        assert_eq!((elements.ncols(), elements.pattern().column(0)), (54, &[0, 1, 2, 3, 6, 7, 18, 19][..]));
        assert_eq!(elements.pattern().column(0), elements.pattern().column(1), "of one node");
        assert_eq!(elements.pattern().column(27).len(), 14);
        let (a, b) = few_rows(64, 50, 128)?;
        assert_eq!((a.nrows(), a.nnz(), b.expect("another matrix").nnz()), (64, 32 * 256, 50 * 128));
        let drawn = drawn([7, 5], 3)?;
        assert_eq!((drawn.nrows(), drawn.ncols(), drawn.nnz()), (7, 5, 15));
        Ok(())
    }
}
