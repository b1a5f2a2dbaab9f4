//! Jacobians whose normal equations are the Hessians of [`super::slam`].
use super::{Random, Values, fill, slam};
use crate::{BlockGroups, BlockShape, Cbc, Pattern, Result};

/// The Jacobian of a bundle adjustment, [J_camera | J_point].
///
/// Each observation gives a row of two residuals, point after point. The row has a block of 2 x
/// `parameters` for its camera (9 with the lens, 6 without) and one of 2x3 for its point.
///
/// Visibility is drawn as by [`bundle_adjustment`](super::bundle_adjustment): with the same seed
/// that matrix has the pattern of J_cameraᵀ·J_point.
///
/// # Errors
/// The errors of [`bundle_adjustment`](super::bundle_adjustment), and
/// [`Error::BlockShape`](crate::Error::BlockShape) if `parameters` is outside 1 to 32.
pub fn bundle_adjustment_jacobian(
    cameras: usize,
    points: usize,
    observations: usize,
    parameters: usize,
    values: Values,
    seed: u64,
) -> Result<BlockGroups<Cbc<f64>>> {
    let (of_camera, of_point) = (BlockShape::new(2, parameters)?, BlockShape::new(2, 3)?);
    let random = &mut Random::new(seed);
    // An entry of this pattern is an observation; its number is the row in J.
    let seen = slam::visibility(cameras, points, observations, random)?;
    let rows = seen.nnz();
    let (by_camera, observation) = seen.transpose();
    let observation = observation.into_iter().map(|entry| entry as u32).collect();
    let in_cameras = Pattern::new(rows, cameras, by_camera.into_parts().0, observation)?;
    let in_points = Pattern::new(rows, points, seen.into_parts().0, (0..rows).map(|row| row as u32).collect())?;
    let camera = fill(in_cameras, of_camera, values, random)?;
    BlockGroups::side_by_side([camera, fill(in_points, of_point, values, random)?])
}

/// The Jacobian of a pose graph, with blocks of `freedom` x `freedom`.
///
/// The first row is a prior on the first pose. Each step and each loop closure has a row, with a
/// block for each of its two poses. Loops are drawn as by [`pose_graph`](super::pose_graph): with
/// the same seed that matrix has the pattern of JᵀJ.
///
/// # Errors
/// The errors of [`pose_graph`](super::pose_graph).
pub fn pose_graph_jacobian(
    poses: usize,
    loop_closures: usize,
    freedom: usize,
    values: Values,
    seed: u64,
) -> Result<Cbc<f64>> {
    let shape = BlockShape::new(freedom, freedom)?;
    let random = &mut Random::new(seed);
    let edges = slam::edges(poses, loop_closures, random)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Part, generate, reference};

    #[test]
    fn the_normal_equations_have_the_patterns_of_the_hessians() -> Result<()> {
        let j = bundle_adjustment_jacobian(12, 50, 3, 9, Values::Integer, 4)?;
        assert_eq!((j.scalar_rows(), j.scalar_cols(), j.nnz()), (2 * 150, 12 * 9 + 50 * 3, 300));
        let h = reference::gram_groups(&j, Part::Upper)?;
        let w = generate::bundle_adjustment(12, 50, 3, BlockShape::new(9, 3)?, Values::Integer, 4)?;
        let pattern = |row, col| h.get(row, col).map(Cbc::pattern);
        assert_eq!(pattern(0, 1), Some(w.pattern()));
        assert_eq!(pattern(1, 1).map(Pattern::nnz), Some(50));
        assert_eq!(pattern(1, 0), None);

        let j = pose_graph_jacobian(30, 25, 6, Values::Integer, 5)?;
        assert_eq!((j.nrows(), j.ncols(), j.nnz()), (1 + 29 + 25, 30, 1 + 2 * 54));
        let h = reference::gram(&j, Part::Full)?;
        assert_eq!(h.pattern(), generate::pose_graph(30, 25, 6, Values::Integer, 5)?.pattern());
        Ok(())
    }

    #[test]
    fn the_ends_of_the_ranges() -> Result<()> {
        assert_eq!(bundle_adjustment_jacobian(0, 4, 0, 9, Values::Real, 1)?.nnz(), 0);
        assert_eq!(bundle_adjustment_jacobian(3, 4, 3, 6, Values::Real, 1)?.nnz(), 24);
        assert!(bundle_adjustment_jacobian(3, 4, 5, 6, Values::Real, 1).is_err());
        assert!(bundle_adjustment_jacobian(3, 4, 3, 33, Values::Real, 1).is_err());
        let sizes = |j: Cbc<f64>| (j.nrows(), j.ncols(), j.nnz());
        assert_eq!(sizes(pose_graph_jacobian(0, 0, 6, Values::Real, 1)?), (0, 0, 0));
        assert_eq!(sizes(pose_graph_jacobian(1, 0, 6, Values::Real, 1)?), (1, 1, 1));
        assert!(pose_graph_jacobian(5, 7, 6, Values::Real, 1).is_err());
        Ok(())
    }
}
