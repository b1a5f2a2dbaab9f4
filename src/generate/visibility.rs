//! Generates bundle adjustments: cameras that see points.
use super::{Random, Values, fill, lines, room, together};
use crate::{BlockGroups, BlockShape, Cbc, Error, Pattern, Result};

/// Bundle adjustments. The struct generates camera-point matrices and Jacobians.
///
/// The cameras follow a path. The cameras that see a point are drawn from twice as many neighbours
/// on the path. So the Schur complement is banded, like that of a recorded video.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Visibility {
    /// Number of cameras.
    pub cameras: usize,
    /// Number of points.
    pub points: usize,
    /// Number of cameras that see each point. The cameras that see a point are drawn from twice as
    /// many neighbours on the path.
    pub views: usize,
    /// Shape of a block: the number of parameters of a camera by the number of parameters of a
    /// point. The shape is 6x3, or 9x3 if the lens is included.
    pub shape: BlockShape,
    /// Distribution of the elements.
    pub values: Values,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Visibility {
    /// 100 cameras, 10000 points, 5 views of each point, real blocks of 6x3, seed 1.
    fn default() -> Self {
        let (shape, values) = (BlockShape::CAMERA_BY_POINT, Values::Real);
        Self { cameras: 100, points: 10_000, views: 5, shape, values, seed: 1 }
    }
}

impl Visibility {
    /// The camera-point matrix W of the bundle adjustment: the off-diagonal part of its Hessian,
    /// whose product W·Wᵀ forms the Schur complement.
    ///
    /// W has a row of blocks for each camera, a column of blocks for each point, and a block for
    /// each view.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are fewer cameras than views of a point; [`Error::TooLarge`]
    /// for too many cameras or points; [`Error::Memory`] if the host lacks the memory.
    pub fn matrix(&self) -> Result<Cbc<f64>> {
        let random = &mut Random::new(self.seed);
        let pattern = pattern(self.cameras, self.points, self.views, random)?;
        fill(pattern, self.shape, self.values, random)
    }

    /// The Jacobian of the bundle adjustment, [J_camera | J_point].
    ///
    /// Each view gives a row of two residuals, in the order of the points. The row has a block for
    /// the view's camera and a block for its point. The sides of [`shape`](Visibility::shape) are
    /// the numbers of parameters of a camera and of a point: for 9x3 the two blocks are 2x9 and
    /// 2x3.
    ///
    /// [`Visibility::matrix`] has the pattern of J_cameraᵀ·J_point.
    ///
    /// # Errors
    /// See [`Visibility::matrix`].
    pub fn jacobian(&self) -> Result<BlockGroups<Cbc<f64>>> {
        let Visibility { cameras, points, views, shape, values, seed } = *self;
        let (of_camera, of_point) = (BlockShape::new(2, shape.rows())?, BlockShape::new(2, shape.cols())?);
        let random = &mut Random::new(seed);
        // Each entry of this pattern is a view. The number of the entry is the view's row in the
        // Jacobian.
        let seen = pattern(cameras, points, views, random)?;
        let rows = seen.nnz();
        let (by_camera, view) = seen.transpose();
        let view = view.into_iter().map(|entry| entry as u32).collect();
        let in_cameras = Pattern::new(rows, cameras, by_camera.into_parts().0, view)?;
        let in_points = Pattern::new(rows, points, seen.into_parts().0, (0..rows).map(|row| row as u32).collect())?;
        let camera = fill(in_cameras, of_camera, values, random)?;
        BlockGroups::side_by_side([camera, fill(in_points, of_point, values, random)?])
    }
}

/// Draws the cameras (rows) that see each point (columns).
pub(super) fn pattern(cameras: usize, points: usize, views: usize, random: &mut Random) -> Result<Pattern> {
    let (cameras, points) = (lines("cameras", cameras)?, lines("points", points)?);
    if views > cameras as usize {
        return Err(Error::Argument(format!("{views} observations of each point by {cameras} cameras")));
    }
    let entries = u64::from(points) * views as u64;
    together(&[(u64::from(points) + 1, 8), (entries, 4)])?;
    let mut row_idx = room(entries, 4)?;
    let mut col_ptr = room(u64::from(points) + 1, 8)?;
    col_ptr.push(0);
    let window = (2 * views as u64).min(cameras.into());
    for _ in 0..points {
        let first = random.below(u64::from(cameras) - window + 1);
        let seen_by = random.distinct(views as u64, window);
        row_idx.extend(seen_by.into_iter().map(|camera| (first + camera) as u32));
        col_ptr.push(row_idx.len() as u64);
    }
    Ok(Pattern::trusted(cameras as usize, points as usize, col_ptr, row_idx))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Part, reference};

    #[test]
    fn every_point_is_seen_by_neighbouring_cameras() {
        let (shape, values) = (BlockShape::new(9, 3).unwrap(), Values::Integer);
        let seen = Visibility { cameras: 40, points: 500, views: 4, shape, values, seed: 5 };
        let w = seen.matrix().unwrap();
        let pattern = w.pattern();
        assert_eq!((pattern.nrows(), pattern.ncols(), pattern.nnz(), w.shape()), (40, 500, 2000, shape));
        for point in 0..500 {
            let cameras = pattern.column(point);
            assert!(cameras.len() == 4 && cameras[3] - cameras[0] < 8, "{cameras:?}");
        }
        // A camera sees 50 points on average, and fewer at the ends of the path. Every camera sees
        // at least one point.
        assert!((0..40).all(|camera| !pattern.transpose().0.column(camera).is_empty()));
        assert_eq!(w, seen.matrix().unwrap());
    }

    #[test]
    fn the_normal_equations_have_the_pattern_of_the_hessian() -> Result<()> {
        let (shape, values) = (BlockShape::new(9, 3)?, Values::Integer);
        let seen = Visibility { cameras: 12, points: 50, views: 3, shape, values, seed: 4 };
        let (w, j) = (seen.matrix()?, seen.jacobian()?);
        assert_eq!((j.scalar_rows(), j.scalar_cols(), j.nnz()), (2 * 150, 12 * 9 + 50 * 3, 300));
        let h = reference::gram_groups(&j, Part::Upper)?;
        let pattern = |row, col| h.get(row, col).map(Cbc::pattern);
        assert_eq!(pattern(0, 1), Some(w.pattern()));
        assert_eq!(pattern(1, 1).map(Pattern::nnz), Some(50));
        assert_eq!(pattern(1, 0), None);
        Ok(())
    }

    #[test]
    fn the_ends_of_the_ranges() -> Result<()> {
        let seen = |cameras, views| Visibility { cameras, points: 4, views, ..Default::default() };
        for (cameras, views, nnz) in [(0, 0, 0), (3, 3, 12)] {
            let seen = seen(cameras, views);
            assert_eq!((seen.matrix()?.nnz(), seen.jacobian()?.nnz()), (nnz, 2 * nnz));
        }
        let refused = seen(3, 5).matrix().unwrap_err().to_string();
        assert_eq!(refused, "5 observations of each point by 3 cameras");
        assert_eq!(seen(3, 5).jacobian().unwrap_err().to_string(), refused);
        Ok(())
    }
}
