//! Matrices of simultaneous localisation and mapping: cameras and points, poses and loop closures.
use super::{Random, Values, fill, lines, room, together};
use crate::{BlockShape, Cbc, Error, Pattern, Result};

/// The camera-point matrix W of a bundle adjustment: the off-diagonal part of its Hessian, whose
/// product W·Wᵀ forms the Schur complement.
///
/// It has `cameras` x `points` blocks of `shape`: parameters of a camera by those of a point (6x3,
/// or 9x3 with the lens). Every column has `observations` blocks.
///
/// The cameras follow a path. The cameras that see a point are drawn from twice as many neighbours,
/// so the Schur complement is banded, as in a recording.
///
/// # Errors
/// [`Error::Argument`] if `observations` exceeds `cameras`; [`Error::TooLarge`] and
/// [`Error::Memory`] for sizes out of range.
pub fn bundle_adjustment(
    cameras: usize,
    points: usize,
    observations: usize,
    shape: BlockShape,
    values: Values,
    seed: u64,
) -> Result<Cbc<f64>> {
    let random = &mut Random::new(seed);
    let pattern = visibility(cameras, points, observations, random)?;
    fill(pattern, shape, values, random)
}

/// Draws which cameras (rows) see each point (columns).
pub(super) fn visibility(cameras: usize, points: usize, observations: usize, random: &mut Random) -> Result<Pattern> {
    let (cameras, points) = (lines("cameras", cameras)?, lines("points", points)?);
    if observations > cameras as usize {
        return Err(Error::Argument(format!("{observations} observations of each point by {cameras} cameras")));
    }
    let entries = u64::from(points) * observations as u64;
    together(&[(u64::from(points) + 1, 8), (entries, 4)])?;
    let mut row_idx = room(entries, 4)?;
    let mut col_ptr = room(u64::from(points) + 1, 8)?;
    col_ptr.push(0);
    let window = (2 * observations as u64).min(cameras.into());
    for _ in 0..points {
        let first = random.below(u64::from(cameras) - window + 1);
        let seen_by = random.distinct(observations as u64, window);
        row_idx.extend(seen_by.into_iter().map(|camera| (first + camera) as u32));
        col_ptr.push(row_idx.len() as u64);
    }
    Ok(Pattern::trusted(cameras as usize, points as usize, col_ptr, row_idx))
}

/// The Hessian of a pose graph: `poses` x `poses` blocks of `freedom` x `freedom` (6 in space, 3 in
/// the plane).
///
/// Each step from pose to pose and each of `loop_closures` further pairs has a block and its
/// transpose; every diagonal block is stored. The matrix is symmetric to the bit and strictly
/// diagonally dominant with a positive diagonal, so it is positive definite.
///
/// # Errors
/// [`Error::Argument`] if there are fewer pairs of poses than `loop_closures`;
/// [`Error::BlockShape`] if `freedom` is outside 1 to 32; [`Error::TooLarge`] and [`Error::Memory`]
/// for sizes out of range.
pub fn pose_graph(poses: usize, loop_closures: usize, freedom: usize, values: Values, seed: u64) -> Result<Cbc<f64>> {
    let shape = BlockShape::new(freedom, freedom)?;
    let random = &mut Random::new(seed);
    let edges = edges(poses, loop_closures, random)?;
    let poses = lines("poses", poses)?;
    let pattern = symmetric_pattern(poses, &edges)?;

    let area = shape.area();
    let mut elements = room(pattern.nnz() as u64, area as u64 * 8)?;
    elements.resize(pattern.nnz() * area, 0.0);
    // Sums of the magnitudes beside the diagonal, for each row of scalars.
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
            // 1 more than the sum of the magnitudes beside it.
            elements[block + row * (freedom + 1)] = weight[pose as usize * freedom + row] + 1.0;
        }
    }
    Cbc::new(pattern, shape, elements)
}

/// The steps and loop closures of a pose graph, as (earlier, later) pose, ascending by the later,
/// then the earlier.
pub(super) fn edges(poses: usize, loop_closures: usize, random: &mut Random) -> Result<Vec<(u32, u32)>> {
    let poses = lines("poses", poses)?;
    // Pairs at least two steps apart, numbered as the entries of a triangle.
    let apart = u64::from(poses.saturating_sub(2));
    let pairs = (u128::from(apart) * (u128::from(apart) + 1) / 2) as u64;
    if loop_closures as u64 > pairs {
        return Err(Error::Argument(format!("{loop_closures} loop closures, {poses} poses have {pairs} pairs apart")));
    }
    let steps = u64::from(poses.saturating_sub(1));
    let mut edges: Vec<(u32, u32)> = room(steps + loop_closures as u64, 8)?;
    edges.extend((1..poses).map(|pose| (pose - 1, pose)));
    edges.extend(random.distinct(loop_closures as u64, pairs).into_iter().map(pair));
    edges.sort_unstable_by_key(|&(from, to)| (to, from));
    Ok(edges)
}

/// The pair with this number: poses (i, j) with i + 2 <= j, ordered by j, then i.
fn pair(number: u64) -> (u32, u32) {
    let column = ((8 * u128::from(number) + 1).isqrt() as u64 - 1) / 2;
    ((number - column * (column + 1) / 2) as u32, column as u32 + 2)
}

/// The pattern of the diagonal, the edges (above it, ascending by column, then row) and their
/// mirror images.
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
    // Each column gets its entries above the diagonal, then the diagonal. A mirror image lies below
    // the diagonal of an earlier column, which is complete down to there. So each column ascends.
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

/// Number of the entry at (`row`, `col`), which exists.
fn entry(pattern: &Pattern, row: u32, col: u32) -> usize {
    pattern.entries(col as usize).start + pattern.column(col as usize).partition_point(|&other| other < row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_seen_by_neighbouring_cameras() {
        let shape = BlockShape::new(9, 3).unwrap();
        let w = bundle_adjustment(40, 500, 4, shape, Values::Integer, 5).unwrap();
        let pattern = w.pattern();
        assert_eq!((pattern.nrows(), pattern.ncols(), pattern.nnz(), w.shape()), (40, 500, 2000, shape));
        for point in 0..500 {
            let cameras = pattern.column(point);
            assert!(cameras.len() == 4 && cameras[3] - cameras[0] < 8, "{cameras:?}");
        }
        // 50 in each row on average, fewer at the ends of the path; every camera sees something.
        assert!((0..40).all(|camera| !pattern.transpose().0.column(camera).is_empty()));
        assert_eq!(w, bundle_adjustment(40, 500, 4, shape, Values::Integer, 5).unwrap());
    }

    #[test]
    fn a_pose_graph_is_symmetric_and_dominant() {
        for values in [Values::Real, Values::Integer] {
            let h = pose_graph(30, 25, 6, values, 5).unwrap();
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
                // The generator adds the same magnitudes in another order; the rounding of 180 of
                // them is far below 1.
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
        // The last pair for the greatest number of poses.
        let apart = u64::from(u32::MAX) - 2;
        assert_eq!(pair(apart * (apart + 1) / 2 - 1), (u32::MAX - 3, u32::MAX - 1));
    }

    #[test]
    fn the_ends_of_the_ranges() {
        let shape = BlockShape::new(6, 3).unwrap();
        assert_eq!(bundle_adjustment(0, 4, 0, shape, Values::Real, 1).unwrap().pattern().nnz(), 0);
        assert_eq!(bundle_adjustment(3, 4, 3, shape, Values::Real, 1).unwrap().pattern().nnz(), 12);
        assert_eq!(pose_graph(0, 0, 6, Values::Real, 1).unwrap().pattern().nnz(), 0);
        assert_eq!(pose_graph(1, 0, 6, Values::Real, 1).unwrap().pattern().nnz(), 1);
        assert_eq!(pose_graph(5, 6, 3, Values::Real, 1).unwrap().pattern().nnz(), 25, "every pair");
        let text = |result: Result<Cbc<f64>>| result.unwrap_err().to_string();
        assert_eq!(
            text(bundle_adjustment(3, 4, 5, shape, Values::Real, 1)),
            "5 observations of each point by 3 cameras"
        );
        assert_eq!(text(pose_graph(5, 7, 6, Values::Real, 1)), "7 loop closures, 5 poses have 6 pairs apart");
        assert!(matches!(pose_graph(5, 1, 33, Values::Real, 1), Err(Error::BlockShape { .. })));
        assert!(matches!(pose_graph(usize::MAX, 1, 6, Values::Real, 1), Err(Error::TooLarge { .. })));
    }
}
