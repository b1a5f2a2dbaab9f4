//! Graphs with a dense block for each edge, as in the paper's block benchmark (Polok 2015, Fig. 5).
use super::{Random, Values, fill, lines, room, together};
use crate::{BlockShape, Cbc, Error, Pattern, Result};

/// A matrix of `rows` x `cols` blocks of `shape`, with `per_column` blocks in every column, in rows
/// drawn uniformly.
///
/// # Errors
/// [`Error::Argument`] if a column has fewer places than `per_column`; [`Error::TooLarge`] and
/// [`Error::Memory`] for sizes out of range.
pub fn uniform(
    rows: usize,
    cols: usize,
    per_column: usize,
    shape: BlockShape,
    values: Values,
    seed: u64,
) -> Result<Cbc<f64>> {
    let (rows, cols) = (lines("rows", rows)?, lines("columns", cols)?);
    if per_column > rows as usize {
        return Err(Error::Argument(format!("{per_column} blocks in a column of {rows} rows")));
    }
    let random = &mut Random::new(seed);
    let entries = u64::from(cols) * per_column as u64;
    together(&[(u64::from(cols) + 1, 8), (entries, 4 + 8 * shape.area() as u64)])?;
    let mut row_idx = room(entries, 4)?;
    let mut col_ptr = room(u64::from(cols) + 1, 8)?;
    col_ptr.push(0);
    for _ in 0..cols {
        row_idx.extend(random.distinct(per_column as u64, rows.into()).into_iter().map(|row| row as u32));
        col_ptr.push(row_idx.len() as u64);
    }
    fill(Pattern::trusted(rows as usize, cols as usize, col_ptr, row_idx), shape, values, random)
}

/// The adjacency matrix of a directed graph whose degrees follow a power law. Each edge becomes a
/// dense block of `shape`; there are `nodes` x `nodes` blocks, at most `edges` of them stored.
///
/// The method is R-MAT (Chakrabarti, Zhan, Faloutsos: *R-MAT: A Recursive Model for Graph Mining*,
/// SIAM SDM 2004) with the quadrant probabilities of Graph500, 0.57, 0.19, 0.19, 0.05. It works on
/// the smallest power of two that holds `nodes`; an edge that falls outside is drawn again. An edge
/// drawn twice, as often happens at hubs, becomes one block. Nodes are not shuffled: hubs have low
/// numbers.
///
/// # Errors
/// [`Error::Argument`] for edges without nodes; [`Error::TooLarge`] and [`Error::Memory`] for sizes
/// out of range.
pub fn power_law(nodes: usize, edges: usize, shape: BlockShape, values: Values, seed: u64) -> Result<Cbc<f64>> {
    let nodes = lines("nodes", nodes)?;
    if nodes == 0 && edges > 0 {
        return Err(Error::Argument(format!("{edges} edges in a graph without nodes")));
    }
    let random = &mut Random::new(seed);
    // Column and row in one number, so that sorting puts the entries in order.
    together(&[(u64::from(nodes) + 1, 8), (edges as u64, 8 + 4)])?;
    let mut places: Vec<u64> = room(edges as u64, 8)?;
    places.extend((0..edges).map(|_| edge(nodes, random)));
    places.sort_unstable();
    places.dedup();
    let mut col_ptr = room(u64::from(nodes) + 1, 8)?;
    col_ptr.resize(nodes as usize + 1, 0u64);
    places.iter().for_each(|place| col_ptr[(place >> 32) as usize + 1] += 1);
    (0..nodes as usize).for_each(|col| col_ptr[col + 1] += col_ptr[col]);
    let mut row_idx = room(places.len() as u64, 4)?;
    row_idx.extend(places.iter().map(|&place| place as u32));
    drop(places);
    fill(Pattern::trusted(nodes as usize, nodes as usize, col_ptr, row_idx), shape, values, random)
}

/// Draws one edge, `column << 32 | row`: one quadrant for each bit of the node numbers, with 32
/// random bits.
fn edge(nodes: u32, random: &mut Random) -> u64 {
    // 0.57, 0.57 + 0.19, 0.57 + 0.19 + 0.19 of 2^32, rounded down.
    const UPPER_LEFT: u32 = 2448131358;
    const UPPER_RIGHT: u32 = 3264175144;
    const LOWER_LEFT: u32 = 4080218931;
    loop {
        let (mut row, mut col) = (0u32, 0u32);
        for _ in 0..u32::BITS - nodes.saturating_sub(1).leading_zeros() {
            let draw = (random.bits() >> 32) as u32;
            row = row << 1 | u32::from(draw >= UPPER_RIGHT);
            col = col << 1 | u32::from((UPPER_LEFT..UPPER_RIGHT).contains(&draw) || draw >= LOWER_LEFT);
        }
        if row < nodes && col < nodes {
            return u64::from(col) << 32 | u64::from(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rows: usize, cols: usize) -> BlockShape {
        BlockShape::new(rows, cols).unwrap()
    }

    #[test]
    fn uniform_has_as_many_in_every_column_and_all_rows_alike() {
        let matrix = uniform(50, 2000, 5, shape(2, 3), Values::Integer, 7).unwrap();
        let pattern = matrix.pattern();
        assert_eq!((pattern.nrows(), pattern.ncols(), pattern.nnz(), matrix.shape()), (50, 2000, 10000, shape(2, 3)));
        assert!((0..2000).all(|col| pattern.column(col).len() == 5));
        // 200 in each row, with a standard deviation of 13.
        let rows = pattern.transpose().0;
        assert!((0..50).all(|row| (130..270).contains(&rows.column(row).len())));
        assert!(matrix.values().iter().all(|value| value.fract() == 0.0 && value.abs() <= 4.0));
        assert!([-4.0, 0.0, 4.0].iter().all(|value| matrix.values().contains(value)));
    }

    #[test]
    fn power_law_has_hubs_and_empty_columns() {
        let matrix = power_law(1000, 8000, shape(3, 3), Values::Real, 7).unwrap();
        let pattern = matrix.pattern();
        assert_eq!((pattern.nrows(), pattern.ncols()), (1000, 1000));
        assert!((5000..=8000).contains(&pattern.nnz()), "{}", pattern.nnz());
        let lengths: Vec<_> = (0..1000).map(|col| pattern.column(col).len()).collect();
        // The mean is about 7; a uniform graph of this size has no column above 25 and hardly an
        // empty one.
        assert!(*lengths.iter().max().unwrap() > 100 && lengths.iter().filter(|&&length| length == 0).count() > 50);
        assert!(matrix.values().iter().all(|value| (-1.0..1.0).contains(value)));
    }

    #[test]
    fn the_seed_is_the_matrix() {
        let one = |seed| power_law(77, 300, shape(1, 2), Values::Real, seed).unwrap();
        assert_eq!(one(3), one(3));
        assert_ne!(one(3), one(4));
        // These values never change: pages, tests and reports elsewhere name matrices by their
        // seeds.
        let matrix = uniform(10, 3, 2, BlockShape::SCALAR, Values::Integer, 42).unwrap();
        assert_eq!(matrix.pattern().row_idx(), [1, 6, 2, 3, 0, 8]);
        assert_eq!(matrix.values(), [-3.0, 3.0, -1.0, 1.0, -3.0, 0.0]);
    }

    #[test]
    fn the_ends_of_the_ranges() {
        let scalar = BlockShape::SCALAR;
        assert_eq!(uniform(0, 3, 0, scalar, Values::Real, 1).unwrap().pattern().nnz(), 0);
        assert_eq!(uniform(3, 0, 3, scalar, Values::Real, 1).unwrap().pattern().nnz(), 0);
        assert_eq!(uniform(3, 2, 3, scalar, Values::Real, 1).unwrap().pattern().row_idx(), [0, 1, 2, 0, 1, 2]);
        assert_eq!(power_law(0, 0, scalar, Values::Real, 1).unwrap().pattern().nnz(), 0);
        assert_eq!(power_law(1, 9, scalar, Values::Real, 1).unwrap().pattern().nnz(), 1);
        let text = |result: Result<Cbc<f64>>| result.unwrap_err().to_string();
        assert_eq!(text(uniform(3, 2, 4, scalar, Values::Real, 1)), "4 blocks in a column of 3 rows");
        assert_eq!(text(power_law(0, 5, scalar, Values::Real, 1)), "5 edges in a graph without nodes");
        let huge = usize::MAX;
        let above = u32::MAX as usize; // one more than Pattern::MAX_LINES
        assert!(matches!(uniform(above, 1, 1, scalar, Values::Real, 1), Err(Error::TooLarge { .. })));
        assert!(matches!(uniform(3, huge, 1, scalar, Values::Real, 1), Err(Error::TooLarge { .. })));
        assert!(matches!(power_law(3, huge / 4, scalar, Values::Real, 1), Err(Error::Memory { .. })));
        assert!(matches!(uniform(1 << 31, 1 << 31, 1 << 31, scalar, Values::Real, 1), Err(Error::Memory { .. })));
    }
}
