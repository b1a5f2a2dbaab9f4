//! Graphs with a dense block for each edge, as in the paper's block benchmark (Polok 2015, Fig. 5).
use super::{Random, Values, fill, lines, room, together};
use crate::{BlockShape, Cbc, Error, Pattern, Result};

/// Matrices with the same number of blocks in every column. The rows are drawn uniformly.
///
/// ```
/// use blockmul::generate::Uniform;
/// let a = Uniform { rows: 30, cols: 20, per_column: 4, ..Default::default() }.matrix()?;
/// assert_eq!((a.nrows(), a.ncols(), a.nnz()), (30, 20, 80));
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uniform {
    /// Rows, counted in blocks.
    pub rows: usize,
    /// Columns, counted in blocks.
    pub cols: usize,
    /// Number of blocks in every column.
    pub per_column: usize,
    /// Shape of the blocks.
    pub shape: BlockShape,
    /// Distribution of the elements.
    pub values: Values,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Uniform {
    /// 1000 rows and columns, 8 real scalars in each column, seed 1.
    fn default() -> Self {
        let (shape, values) = (BlockShape::SCALAR, Values::Real);
        Self { rows: 1000, cols: 1000, per_column: 8, shape, values, seed: 1 }
    }
}

impl Uniform {
    /// The matrix.
    ///
    /// # Errors
    /// [`Error::Argument`] if a column has fewer places than `per_column`; [`Error::TooLarge`] for
    /// too many rows or columns; [`Error::Memory`] if the host lacks the memory.
    pub fn matrix(&self) -> Result<Cbc<f64>> {
        let Uniform { per_column, shape, values, seed, .. } = *self;
        let (rows, cols) = (lines("rows", self.rows)?, lines("columns", self.cols)?);
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
}

/// Adjacency matrices of directed graphs whose degrees follow a power law. Each edge becomes a
/// dense block.
///
/// The method is R-MAT (Chakrabarti, Zhan, Faloutsos: *R-MAT: A Recursive Model for Graph Mining*,
/// SIAM SDM 2004) with the quadrant probabilities of Graph500, 0.57, 0.19, 0.19, 0.05. The edges
/// are drawn in a square whose side is the smallest power of two that is at least `nodes`. If an
/// edge is outside of the matrix, another edge is drawn in its place. An edge that is drawn twice,
/// which often happens at nodes with many edges, becomes one block. Nodes are not shuffled, so
/// nodes with many edges have low numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// Rows and columns, counted in blocks.
    pub nodes: usize,
    /// Number of edges drawn. Edges that are drawn twice are stored once.
    pub edges: usize,
    /// Shape of the blocks.
    pub shape: BlockShape,
    /// Distribution of the elements.
    pub values: Values,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for PowerLaw {
    /// 1000 nodes, 8000 edges with one real scalar each, seed 1.
    fn default() -> Self {
        Self { nodes: 1000, edges: 8000, shape: BlockShape::SCALAR, values: Values::Real, seed: 1 }
    }
}

impl PowerLaw {
    /// The matrix.
    ///
    /// # Errors
    /// [`Error::Argument`] for edges without nodes; [`Error::TooLarge`] for too many nodes;
    /// [`Error::Memory`] if the host lacks the memory.
    pub fn matrix(&self) -> Result<Cbc<f64>> {
        let PowerLaw { edges, shape, values, seed, .. } = *self;
        let nodes = lines("nodes", self.nodes)?;
        if nodes == 0 && edges > 0 {
            return Err(Error::Argument(format!("{edges} edges in a graph without nodes")));
        }
        let random = &mut Random::new(seed);
        // Column and row are stored in one number, so that sorting puts the entries in order.
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
}

/// Draws one edge, `column << 32 | row`. Each bit of the node numbers is the choice of a quadrant,
/// made with 32 random bits.
fn edge(nodes: u32, random: &mut Random) -> u64 {
    // Sums of quadrant probabilities, as multiples of 2^-32: 0.57, 0.57 + 0.19 and 0.57 + 0.19 +
    // 0.19, rounded down.
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
        let matrix =
            Uniform { rows: 50, cols: 2000, per_column: 5, shape: shape(2, 3), values: Values::Integer, seed: 7 }
                .matrix()
                .unwrap();
        let pattern = matrix.pattern();
        assert_eq!((pattern.nrows(), pattern.ncols(), pattern.nnz(), matrix.shape()), (50, 2000, 10000, shape(2, 3)));
        assert!((0..2000).all(|col| pattern.column(col).len() == 5));
        // Rows have 200 entries on average, with a standard deviation of 13.
        let rows = pattern.transpose().0;
        assert!((0..50).all(|row| (130..270).contains(&rows.column(row).len())));
        assert!(matrix.values().iter().all(|value| value.fract() == 0.0 && value.abs() <= 4.0));
        assert!([-4.0, 0.0, 4.0].iter().all(|value| matrix.values().contains(value)));
    }

    #[test]
    fn power_law_has_hubs_and_empty_columns() {
        let matrix =
            PowerLaw { nodes: 1000, edges: 8000, shape: shape(3, 3), seed: 7, ..Default::default() }.matrix().unwrap();
        let pattern = matrix.pattern();
        assert_eq!((pattern.nrows(), pattern.ncols()), (1000, 1000));
        assert!((5000..=8000).contains(&pattern.nnz()), "{}", pattern.nnz());
        let lengths: Vec<_> = (0..1000).map(|col| pattern.column(col).len()).collect();
        // A column has about 7 entries on average. A uniform graph of this size has no column with
        // more than 25 entries and hardly any empty column.
        assert!(*lengths.iter().max().unwrap() > 100 && lengths.iter().filter(|&&length| length == 0).count() > 50);
        assert!(matrix.values().iter().all(|value| (-1.0..1.0).contains(value)));
    }

    #[test]
    fn the_seed_is_the_matrix() {
        let one =
            |seed| PowerLaw { nodes: 77, edges: 300, shape: shape(1, 2), seed, ..Default::default() }.matrix().unwrap();
        assert_eq!(one(3), one(3));
        assert_ne!(one(3), one(4));
        // The values generated from a seed must never change, because pages, tests and reports
        // elsewhere identify matrices by their seeds.
        let matrix =
            Uniform { rows: 10, cols: 3, per_column: 2, values: Values::Integer, seed: 42, ..Default::default() }
                .matrix()
                .unwrap();
        assert_eq!(matrix.pattern().row_idx(), [1, 6, 2, 3, 0, 8]);
        assert_eq!(matrix.values(), [-3.0, 3.0, -1.0, 1.0, -3.0, 0.0]);
    }

    #[test]
    fn the_ends_of_the_ranges() {
        let scalar = BlockShape::SCALAR;
        assert_eq!(
            Uniform { rows: 0, cols: 3, per_column: 0, shape: scalar, ..Default::default() }
                .matrix()
                .unwrap()
                .pattern()
                .nnz(),
            0
        );
        assert_eq!(
            Uniform { rows: 3, cols: 0, per_column: 3, shape: scalar, ..Default::default() }
                .matrix()
                .unwrap()
                .pattern()
                .nnz(),
            0
        );
        assert_eq!(
            Uniform { rows: 3, cols: 2, per_column: 3, shape: scalar, ..Default::default() }
                .matrix()
                .unwrap()
                .pattern()
                .row_idx(),
            [0, 1, 2, 0, 1, 2]
        );
        assert_eq!(
            PowerLaw { nodes: 0, edges: 0, shape: scalar, ..Default::default() }.matrix().unwrap().pattern().nnz(),
            0
        );
        assert_eq!(
            PowerLaw { nodes: 1, edges: 9, shape: scalar, ..Default::default() }.matrix().unwrap().pattern().nnz(),
            1
        );
        let text = |result: Result<Cbc<f64>>| result.unwrap_err().to_string();
        assert_eq!(
            text(Uniform { rows: 3, cols: 2, per_column: 4, shape: scalar, ..Default::default() }.matrix()),
            "4 blocks in a column of 3 rows"
        );
        assert_eq!(
            text(PowerLaw { nodes: 0, edges: 5, shape: scalar, ..Default::default() }.matrix()),
            "5 edges in a graph without nodes"
        );
        let huge = usize::MAX;
        let above = u32::MAX as usize; // one more than Pattern::MAX_LINES
        assert!(matches!(
            Uniform { rows: above, cols: 1, per_column: 1, shape: scalar, ..Default::default() }.matrix(),
            Err(Error::TooLarge { .. })
        ));
        assert!(matches!(
            Uniform { rows: 3, cols: huge, per_column: 1, shape: scalar, ..Default::default() }.matrix(),
            Err(Error::TooLarge { .. })
        ));
        assert!(matches!(
            PowerLaw { nodes: 3, edges: huge / 4, shape: scalar, ..Default::default() }.matrix(),
            Err(Error::Memory { .. })
        ));
        assert!(matches!(
            Uniform { rows: 1 << 31, cols: 1 << 31, per_column: 1 << 31, shape: scalar, ..Default::default() }.matrix(),
            Err(Error::Memory { .. })
        ));
    }
}
