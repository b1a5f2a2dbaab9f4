//! Matrices of the families solvers meet, the same on every machine for a seed.
//!
//! Random numbers are SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
use crate::{BlockShape, Cbc, Error, Pattern, Result};
use nalgebra::DMatrix;

/// What the elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Values {
    /// Uniform in -1..1.
    #[default]
    Real,
    /// Whole numbers in -3..=3 without 0: sums of products are exact.
    Integer,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in 0..n, by multiplication (Lemire 2019, without the rejection: the bias is n / 2^64).
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// Uniform in 0..1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    fn value(&mut self, values: Values) -> f64 {
        match values {
            Values::Real => 2.0 * self.unit() - 1.0,
            Values::Integer => [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0][self.below(6)],
        }
    }
}

/// The camera-point matrix W of a bundle adjustment: a `shape` block (6x3, or 9x3 with intrinsics) where a camera sees a point.
///
/// Every point is seen by `views` cameras: a random first one and others near it, as in a walk through a scene.
///
/// # Errors
/// [`Error::Argument`] when there are fewer cameras than views.
pub fn bundle_adjustment(
    cameras: usize,
    points: usize,
    views: usize,
    shape: BlockShape,
    values: Values,
    seed: u64,
) -> Result<Cbc<f64>> {
    if views > cameras {
        return Err(Error::Argument(format!("{views} views of each point need as many cameras, there are {cameras}")));
    }
    let mut random = Random(seed);
    let reach = (4 * views).min(cameras);
    let columns = (0..points).map(|_| {
        let first = random.below(cameras);
        distinct(views, reach, &mut random).into_iter().map(|offset| (first + offset) % cameras).collect()
    });
    let columns: Vec<Vec<usize>> = columns.collect();
    from_columns(cameras, columns, shape, values, &mut random)
}

/// The Hessian of a pose graph: a symmetric matrix of `side` x `side` blocks (6 in space, 3 in the plane) with the chain of odometry,
/// `closures` random loop closures, and a dominant diagonal.
///
/// # Errors
/// [`Error::BlockShape`], [`Error::Argument`] for more closures than pairs of poses.
pub fn pose_graph(poses: usize, closures: usize, side: usize, values: Values, seed: u64) -> Result<Cbc<f64>> {
    let shape = BlockShape::new(side, side)?;
    let pairs = poses.saturating_mul(poses.saturating_sub(1)) / 2 - poses.saturating_sub(1); // less the chain
    if closures > pairs {
        return Err(Error::Argument(format!("{closures} loop closures, {poses} poses have room for {pairs}")));
    }
    let mut random = Random(seed);
    let mut edges: std::collections::BTreeSet<(usize, usize)> = (1..poses).map(|pose| (pose - 1, pose)).collect();
    while edges.len() < poses.saturating_sub(1) + closures {
        let (i, j) = (random.below(poses), random.below(poses));
        if i != j {
            edges.insert((i.min(j), i.max(j)));
        }
    }
    let mut degree = vec![0usize; poses];
    let mut blocks = Vec::new();
    for (i, j) in edges {
        let block = DMatrix::from_fn(side, side, |_, _| random.value(values));
        blocks.push((j, i, block.transpose()));
        blocks.push((i, j, block));
        degree[i] += 1;
        degree[j] += 1;
    }
    // Elements are at most 3: this outweighs the rest of the row.
    let diagonal = |pose: usize| DMatrix::from_diagonal_element(side, side, (3 * side * degree[pose] + 1) as f64);
    blocks.extend((0..poses).map(|pose| (pose, pose, diagonal(pose))));
    Cbc::from_triplets(poses, poses, shape, blocks)
}

/// A uniform random pattern of `rows` x `cols` blocks, `per_col` distinct ones in each column.
///
/// # Errors
/// [`Error::Argument`] when a column has fewer rows than that.
pub fn uniform(
    rows: usize,
    cols: usize,
    per_col: usize,
    shape: BlockShape,
    values: Values,
    seed: u64,
) -> Result<Cbc<f64>> {
    if per_col > rows {
        return Err(Error::Argument(format!("{per_col} blocks in a column of {rows}")));
    }
    let mut random = Random(seed);
    let columns = (0..cols).map(|_| distinct(per_col, rows, &mut random)).collect();
    from_columns(rows, columns, shape, values, &mut random)
}

/// A power-law pattern on 2^`scale` x 2^`scale` blocks from `edges` draws, those drawn twice kept once: R-MAT with the probabilities of Graph500,
/// 0.57, 0.19, 0.19, 0.05 (Chakrabarti, Zhan and Faloutsos 2004).
///
/// # Errors
/// [`Error::Argument`] for a scale above 31.
pub fn power_law(scale: u32, edges: usize, shape: BlockShape, values: Values, seed: u64) -> Result<Cbc<f64>> {
    if scale > 31 {
        return Err(Error::Argument(format!("a scale of {scale}: at most 31")));
    }
    let mut random = Random(seed);
    let mut columns = vec![Vec::new(); 1 << scale];
    for _ in 0..edges {
        let (mut row, mut col) = (0, 0);
        for _ in 0..scale {
            let (down, right) = match random.unit() {
                u if u < 0.57 => (0, 0),
                u if u < 0.76 => (0, 1),
                u if u < 0.95 => (1, 0),
                _ => (1, 1),
            };
            (row, col) = (2 * row + down, 2 * col + right);
        }
        columns[col].push(row);
    }
    from_columns(1 << scale, columns, shape, values, &mut random)
}

/// `count` distinct numbers below `n` (Floyd's method).
fn distinct(count: usize, n: usize, random: &mut Random) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(count);
    for last in n - count..n {
        let candidate = random.below(last + 1);
        chosen.push(if chosen.contains(&candidate) { last } else { candidate });
    }
    chosen
}

fn from_columns(
    nrows: usize,
    columns: Vec<Vec<usize>>,
    shape: BlockShape,
    values: Values,
    random: &mut Random,
) -> Result<Cbc<f64>> {
    let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
    let ncols = columns.len();
    for mut rows in columns {
        rows.sort_unstable();
        rows.dedup();
        row_idx.extend(rows.into_iter().map(|row| row as u32));
        col_ptr.push(row_idx.len() as u64);
    }
    let elements = (0..row_idx.len() * shape.area()).map(|_| random.value(values)).collect();
    Cbc::new(Pattern::new(nrows, ncols, col_ptr, row_idx)?, shape, elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_have_the_structure_they_name() -> Result<()> {
        let w = bundle_adjustment(20, 300, 4, BlockShape::new(9, 3)?, Values::Integer, 1)?;
        assert_eq!((w.nrows(), w.ncols(), w.nnz(), w.shape()), (20, 300, 1200, BlockShape::new(9, 3)?));
        assert!(w.values().iter().all(|x| x.fract() == 0.0 && *x != 0.0 && x.abs() <= 3.0));
        let h = pose_graph(50, 30, 6, Values::Real, 2)?;
        assert_eq!((h.nnz(), h.transpose()), (50 + 2 * (49 + 30), h.clone()));
        let u = uniform(40, 30, 5, BlockShape::new(2, 2)?, Values::Real, 3)?;
        assert!((0..30).all(|col| u.pattern().column(col).len() == 5));
        let p = power_law(8, 4000, BlockShape::new(1, 1)?, Values::Real, 4)?;
        let mut lengths: Vec<_> = (0..256).map(|col| p.pattern().column(col).len()).collect();
        lengths.sort_unstable();
        assert!(lengths[255] > 10 * lengths[128].max(1), "a few columns have most: {lengths:?}");
        Ok(())
    }

    #[test]
    fn a_seed_is_a_matrix_forever() -> Result<()> {
        // Fixed once; a change of the generator would change what everybody's measurements were made on.
        let a = uniform(5, 1, 3, BlockShape::new(1, 1)?, Values::Real, 7)?;
        assert_eq!(a, uniform(5, 1, 3, BlockShape::new(1, 1)?, Values::Real, 7)?);
        assert_ne!(a, uniform(5, 1, 3, BlockShape::new(1, 1)?, Values::Real, 8)?);
        let mut random = Random(0);
        assert_eq!(
            [random.next(), random.next()],
            [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4],
            "SplitMix64's own test vector"
        );
        Ok(())
    }

    #[test]
    fn impossible_requests_are_refused() {
        let one = BlockShape::SCALAR;
        assert!(bundle_adjustment(3, 10, 4, one, Values::Real, 1).is_err());
        assert!(uniform(3, 3, 4, one, Values::Real, 1).is_err());
        assert!(pose_graph(4, 4, 6, Values::Real, 1).is_err() && pose_graph(4, 3, 6, Values::Real, 1).is_ok());
        assert!(pose_graph(1, 0, 3, Values::Real, 1).is_ok() && pose_graph(0, 0, 3, Values::Real, 1).is_ok());
        assert!(power_law(32, 1, one, Values::Real, 1).is_err());
    }
}
