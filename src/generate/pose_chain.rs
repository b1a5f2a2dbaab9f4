//! Pose graphs: chains of poses with closures at random places.
use super::{Random, Values, fill, lines, room};
use crate::{BlockShape, Cbc, Error, Pattern, Result};

/// Pose graphs: a chain of poses with closures, which are steps between random poses. The struct
/// generates Hessians and Jacobians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoseChain {
    /// Number of poses.
    pub poses: usize,
    /// Number of pairs of poses that are connected in addition to the steps from pose to pose.
    pub closures: usize,
    /// Number of rows and columns of a block: 6 in space, 3 in the plane.
    pub freedom: usize,
    /// Distribution of the elements.
    pub values: Values,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for PoseChain {
    /// 1000 poses in space, 2000 closures, real elements, seed 1.
    fn default() -> Self {
        Self { poses: 1000, closures: 2000, freedom: 6, values: Values::Real, seed: 1 }
    }
}

impl PoseChain {
    /// The Hessian of the pose graph.
    ///
    /// Each step from pose to pose and each closure has a block and its transpose. Every diagonal
    /// block is stored. The matrix is exactly symmetric, and strictly diagonally dominant with a
    /// positive diagonal, so it is positive definite.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are fewer pairs of poses than closures; [`Error::BlockShape`]
    /// if `freedom` is outside 1 to 32; [`Error::TooLarge`] for too many poses; [`Error::Memory`]
    /// if the host lacks the memory.
    pub fn matrix(&self) -> Result<Cbc<f64>> {
        let PoseChain { freedom, values, .. } = *self;
        let shape = BlockShape::new(freedom, freedom)?;
        let random = &mut Random::new(self.seed);
        let edges = edges(self.poses, self.closures, random)?;
        let poses = lines("poses", self.poses)?;
        let pattern = symmetric_pattern(poses, &edges)?;

        let area = shape.area();
        let mut elements = room(pattern.nnz() as u64, area as u64 * 8)?;
        elements.resize(pattern.nnz() * area, 0.0);
        // For each row of scalars, the sum of the magnitudes of all elements that are not on the
        // diagonal.
        let mut weight = room(u64::from(poses), freedom as u64 * 8)?;
        weight.resize(poses as usize * freedom, 0.0);
        for &(from, to) in &edges {
            let (upper, lower) = (entry(&pattern, from, to) * area, entry(&pattern, to, from) * area);
            for row in 0..freedom {
                for col in 0..freedom {
                    let value: f64 = values.draw(random);
                    elements[upper + row + col * freedom] = value;
                    elements[lower + col + row * freedom] = value;
                    weight[from as usize * freedom + row] += value.abs();
                    weight[to as usize * freedom + col] += value.abs();
                }
            }
        }
        for pose in 0..poses {
            let block = entry(&pattern, pose, pose) * area;
            for row in 0..freedom {
                // The diagonal element is 1 more than the sum of the magnitudes of the row's other
                // elements.
                elements[block + row * (freedom + 1)] = weight[pose as usize * freedom + row] + 1.0;
            }
        }
        Cbc::new(pattern, shape, elements)
    }

    /// The Jacobian of the pose graph.
    ///
    /// The first row is a prior on the first pose. Each step and each closure has a row, with a
    /// block for each of its two poses. [`PoseChain::matrix`] has the pattern of JᵀJ.
    ///
    /// # Errors
    /// See [`PoseChain::matrix`].
    pub fn jacobian(&self) -> Result<Cbc<f64>> {
        let PoseChain { poses, closures, freedom, values, seed } = *self;
        let shape = BlockShape::new(freedom, freedom)?;
        let random = &mut Random::new(seed);
        let edges = edges(poses, closures, random)?;
        let prior = usize::from(poses > 0);
        let rows = edges.len() + prior;
        let mut of_poses = vec![Vec::new(); poses];
        of_poses.iter_mut().take(1).for_each(|rows| rows.push(0));
        for (row, &(from, to)) in edges.iter().enumerate() {
            of_poses[from as usize].push((row + prior) as u32);
            of_poses[to as usize].push((row + prior) as u32);
        }
        let ends = of_poses.iter().scan(0, |end, rows| {
            *end += rows.len() as u64;
            Some(*end)
        });
        let col_ptr = std::iter::once(0).chain(ends).collect();
        fill(Pattern::new(rows, poses, col_ptr, of_poses.concat())?, shape, values, random)
    }
}

/// The steps and closures of a pose graph, as pairs (earlier pose, later pose), ascending by the
/// later and then by the earlier pose.
fn edges(poses: usize, closures: usize, random: &mut Random) -> Result<Vec<(u32, u32)>> {
    let poses = lines("poses", poses)?;
    // The poses of a pair are at least two steps apart. Pairs are numbered like the entries of a
    // triangular matrix.
    let apart = u64::from(poses.saturating_sub(2));
    let pairs = (u128::from(apart) * (u128::from(apart) + 1) / 2) as u64;
    if closures as u64 > pairs {
        return Err(Error::Argument(format!("{closures} loop closures, {poses} poses have {pairs} pairs apart")));
    }
    let steps = u64::from(poses.saturating_sub(1));
    let mut edges: Vec<(u32, u32)> = room(steps + closures as u64, 8)?;
    edges.extend((1..poses).map(|pose| (pose - 1, pose)));
    edges.extend(random.distinct(closures as u64, pairs).into_iter().map(pair));
    edges.sort_unstable_by_key(|&(from, to)| (to, from));
    Ok(edges)
}

/// The pair with this number: poses (i, j) with i + 2 <= j, ordered by j and then by i.
fn pair(number: u64) -> (u32, u32) {
    let column = ((8 * u128::from(number) + 1).isqrt() as u64 - 1) / 2;
    ((number - column * (column + 1) / 2) as u32, column as u32 + 2)
}

/// The pattern that consists of the diagonal, the edges (above the diagonal, ascending by column
/// and then by row) and their mirror images.
fn symmetric_pattern(poses: u32, edges: &[(u32, u32)]) -> Result<Pattern> {
    let mut col_ptr: Vec<u64> = room(u64::from(poses) + 1, 8)?;
    col_ptr.resize(poses as usize + 1, 1);
    col_ptr[0] = 0;
    for &(from, to) in edges {
        col_ptr[from as usize + 1] += 1;
        col_ptr[to as usize + 1] += 1;
    }
    (0..poses as usize).for_each(|pose| col_ptr[pose + 1] += col_ptr[pose]);
    let mut next = col_ptr.clone();
    let mut row_idx = room(col_ptr[poses as usize], 4)?;
    row_idx.resize(col_ptr[poses as usize] as usize, 0);
    let mut place = |row: u32, col: u32| {
        row_idx[next[col as usize] as usize] = row;
        next[col as usize] += 1;
    };
    // Each column gets its entries above the diagonal, and then the diagonal. The mirror image of
    // an entry is below the diagonal of an earlier column, after all entries that the earlier
    // column has so far. So the rows of each column ascend.
    let mut edges = edges.iter().peekable();
    for pose in 0..poses {
        while let Some(&(from, _)) = edges.next_if(|&&(_, to)| to == pose) {
            place(from, pose);
            place(pose, from);
        }
        place(pose, pose);
    }
    Ok(Pattern::trusted(poses as usize, poses as usize, col_ptr, row_idx))
}

/// The number of the entry at (`row`, `col`), which must exist.
fn entry(pattern: &Pattern, row: u32, col: u32) -> usize {
    pattern.entries(col as usize).start + pattern.column(col as usize).partition_point(|&other| other < row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Part, reference};

    #[test]
    fn a_pose_graph_is_symmetric_and_dominant() {
        for values in [Values::Real, Values::Integer] {
            let h = PoseChain { poses: 30, closures: 25, freedom: 6, values, seed: 5 }.matrix().unwrap();
            let pattern = h.pattern();
            assert_eq!((pattern.nrows(), pattern.nnz()), (30, 30 + 2 * 29 + 2 * 25));
            assert_eq!(&pattern.transpose().0, pattern);
            let element = |row: usize, col: usize| {
                let (block_row, block_col) = (row as u32 / 6, col / 6);
                let found = pattern.column(block_col).binary_search(&block_row).ok()?;
                Some(h.values()[(pattern.entries(block_col).start + found) * 36 + row % 6 + col % 6 * 6])
            };
            for row in 0..180 {
                let beside: f64 =
                    (0..180).filter(|&col| col != row).filter_map(|col| element(row, col)).map(f64::abs).sum();
                // The generator adds the same magnitudes in another order. The rounding error of a
                // sum of 180 terms is far below 1.
                assert!(element(row, row).unwrap() > beside);
                assert!((0..180).all(|col| element(row, col) == element(col, row)));
            }
            assert!((1..30).all(|pose| pattern.column(pose).contains(&(pose as u32 - 1))));
        }
    }

    #[test]
    fn pairs_are_numbered_without_a_gap() {
        let all: Vec<_> = (0..10).map(pair).collect();
        let expected: Vec<_> = (2..6).flat_map(|to| (0..=to - 2).map(move |from| (from, to))).collect();
        assert_eq!(all, expected);
        // The last pair for the largest possible number of poses.
        let apart = u64::from(u32::MAX) - 2;
        assert_eq!(pair(apart * (apart + 1) / 2 - 1), (u32::MAX - 3, u32::MAX - 1));
    }

    #[test]
    fn the_normal_equations_have_the_pattern_of_the_hessian() -> Result<()> {
        let path = PoseChain { poses: 30, closures: 25, freedom: 6, values: Values::Integer, seed: 5 };
        let j = path.jacobian()?;
        assert_eq!((j.nrows(), j.ncols(), j.nnz()), (1 + 29 + 25, 30, 1 + 2 * 54));
        let h = reference::gram(&j, Part::Full)?;
        assert_eq!(h.pattern(), path.matrix()?.pattern());
        Ok(())
    }

    #[test]
    fn the_ends_of_the_ranges() -> Result<()> {
        let path = |poses, closures, freedom| PoseChain { poses, closures, freedom, ..Default::default() };
        // In the last case every pair is a closure.
        for (poses, closures, nnz) in [(0, 0, 0), (1, 0, 1), (5, 6, 25)] {
            assert_eq!(path(poses, closures, 3).matrix()?.nnz(), nnz);
        }
        let sizes = |j: Cbc<f64>| (j.nrows(), j.ncols(), j.nnz());
        assert_eq!(sizes(path(0, 0, 6).jacobian()?), (0, 0, 0));
        assert_eq!(sizes(path(1, 0, 6).jacobian()?), (1, 1, 1));
        let refused = path(5, 7, 6).matrix().unwrap_err().to_string();
        assert_eq!(refused, "7 loop closures, 5 poses have 6 pairs apart");
        assert_eq!(path(5, 7, 6).jacobian().unwrap_err().to_string(), refused);
        assert!(matches!(path(5, 1, 33).matrix(), Err(Error::BlockShape { .. })));
        assert!(matches!(path(usize::MAX, 1, 6).matrix(), Err(Error::TooLarge { .. })));
        Ok(())
    }
}
