//! Bundle adjustment as a least-squares problem.
use super::{
    BundleAdjustment, Camera, LeastSquares, Linearization, Loss, Observation, Projection,
    linearization::GroupRows,
    rows::{CellValues, MET, ROUNDED, Row, RowCost, sum_rows, usual_size},
    unknowns::Unknowns,
};
use crate::{BlockGroups, BlockShape, Bsr, Device, Error, Group, Result};
use nalgebra::{SMatrix, Vector2};
use rayon::prelude::*;
use std::f64::consts::PI;

/// Moves cameras and points so that every point appears where it was observed. The cost is half the
/// sum of squared distances in pixels, or of a robust loss of the distances.
///
/// The Jacobian J is [J_camera | J_point], with blocks of 2x9 and 2x3. J has a row of blocks for
/// each observation, in the order of the file. The row is multiplied by the root of the weight that
/// the loss gives the observation. Cameras and points without observations are not unknowns. If no
/// camera or point is held ([`BundleProblem::hold`]), the seven directions of a similarity are in
/// the null space of J, and steps need damping. In every state, a rotation of an unknown camera by
/// more than π is replaced by the equal rotation in the opposite direction.
///
/// ```
/// use blockmul::solver::problem::{BundleProblem, LeastSquares, Loss, bal};
/// let text = "1 1 1\n0 0 25 0\n 0 0 0  0 0 0  50 0 0\n 1 0 -2\n";
/// let problem = BundleProblem::new(bal::read_from(text.as_bytes(), "one.txt")?, Loss::Squared)?;
/// assert_eq!(problem.cost(&problem.start()), 0.0);
/// # Ok::<(), blockmul::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BundleProblem {
    problem: BundleAdjustment,
    loss: Loss,
    cameras: Unknowns,
    points: Unknowns,
    /// The cameras and points that [`BundleProblem::hold`] holds, ascending.
    held: [Vec<u32>; 2],
    /// The median distance of observations from the centres of their pictures, in pixels.
    size: f64,
}

/// Values of all cameras and points.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleState {
    /// The numbers of each camera: see [`BundleAdjustment::cameras`].
    pub cameras: Vec<[f64; 9]>,
    /// The place of each point: see [`BundleAdjustment::points`].
    pub points: Vec<[f64; 3]>,
}

impl BundleProblem {
    /// Makes the least-squares problem of a bundle adjustment, with a loss of distances in pixels.
    ///
    /// # Errors
    /// [`Error::Argument`] for an observation of a camera or point that does not exist, or a loss
    /// without a valid width.
    pub fn new(problem: BundleAdjustment, loss: Loss) -> Result<Self> {
        let (cameras, points) = (problem.cameras.len(), problem.points.len());
        let is_there = |seen: &Observation| (seen.camera as usize) < cameras && (seen.point as usize) < points;
        if let Some(Observation { camera, point, .. }) = problem.observations.iter().find(|seen| !is_there(seen)) {
            return Err(Error::Argument(format!(
                "camera {camera} sees point {point}: there are {cameras} cameras and {points} points"
            )));
        }
        loss.check()?;
        let seen = || problem.observations.iter();
        let cameras = Unknowns::new(problem.cameras.len(), seen().map(|seen| seen.camera), |_| true);
        let points = Unknowns::new(problem.points.len(), seen().map(|seen| seen.point), |_| true);
        let size = usual_size(seen().map(|seen| Vector2::from(seen.place).norm()));
        Ok(Self { problem, loss, cameras, points, held: Default::default(), size })
    }

    /// Holds these cameras and points, and no others, where they are. They are no unknowns and have
    /// no columns in J. If all cameras are held, J has one group of columns, for points
    /// (triangulation). If all points are held, J has one group of columns, for cameras
    /// (resection).
    ///
    /// ```
    /// use blockmul::solver::problem::{BundleProblem, Loss, Named, bal};
    /// let text = "1 1 1\n0 0 25 0\n 0 0 0  0 0 0  50 0 0\n 1 0 -2\n";
    /// let one = bal::read_from(text.as_bytes(), "one.txt")?;
    /// let problem = BundleProblem::new(one, Loss::Squared)?.hold(&[0], &[])?;
    /// assert_eq!(problem.unknown(0, 0).as_deref(), Some("point 0"));
    /// assert_eq!(problem.left_out()[0].to_string(), "held: camera 0");
    /// # Ok::<(), blockmul::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] for a camera or point that does not exist, and if nothing stays unknown.
    pub fn hold(self, cameras: &[u32], points: &[u32]) -> Result<Self> {
        let all = [("camera", self.problem.cameras.len(), cameras), ("point", self.problem.points.len(), points)];
        for (kind, count, held) in all {
            if let Some(one) = held.iter().find(|&&one| one as usize >= count) {
                return Err(Error::Argument(format!("{kind} {one} cannot be held: there are {count} {kind}s")));
            }
        }
        let sorted = |held: &[u32]| {
            let mut held = held.to_vec();
            held.sort_unstable();
            held.dedup();
            held
        };
        let held = [sorted(cameras), sorted(points)];
        let problem = Self {
            cameras: self.unknowns(0, |one| held[0].binary_search(&one).is_err()),
            points: self.unknowns(1, |one| held[1].binary_search(&one).is_err()),
            held,
            ..self
        };
        let is_any_held = problem.held.iter().any(|held| !held.is_empty());
        if is_any_held && problem.cameras.count() + problem.points.count() == 0 {
            return Err(Error::Argument(
                "all cameras and points with observations are held: nothing is unknown".into(),
            ));
        }
        Ok(problem)
    }

    /// The cameras that [`BundleProblem::hold`] holds, ascending.
    pub fn held_cameras(&self) -> &[u32] {
        &self.held[0]
    }

    /// The points that [`BundleProblem::hold`] holds, ascending.
    pub fn held_points(&self) -> &[u32] {
        &self.held[1]
    }

    /// The members with observations that are free: cameras (kind 0) or points (kind 1).
    fn unknowns(&self, kind: usize, is_free: impl Fn(u32) -> bool) -> Unknowns {
        let BundleAdjustment { cameras, points, observations } = &self.problem;
        match kind {
            0 => Unknowns::new(cameras.len(), observations.iter().map(|seen| seen.camera), is_free),
            _ => Unknowns::new(points.len(), observations.iter().map(|seen| seen.point), is_free),
        }
    }

    /// The kinds of unknowns in the order of J's groups of columns: cameras are kind 0, points are
    /// kind 1. If members of one kind are unknown and none of the other kind, the other kind has no
    /// group.
    pub(super) fn kinds(&self) -> impl Iterator<Item = usize> {
        let counts = [self.cameras.count(), self.points.count()];
        (0..2).filter(move |&kind| counts[kind] > 0 || counts == [0, 0])
    }

    /// Cameras or points, and the side of their blocks.
    fn of_kind(&self, kind: usize) -> (&Unknowns, usize) {
        if kind == 0 { (&self.cameras, 9) } else { (&self.points, 3) }
    }

    /// The groups of columns of J.
    fn cols(&self) -> Vec<Group> {
        self.kinds().map(|kind| self.of_kind(kind)).map(|(unknowns, side)| unknowns.group(side)).collect()
    }

    /// The camera that is unknown `number` of J's columns for cameras, as an index into
    /// [`BundleAdjustment::cameras`].
    pub fn unknown_camera(&self, number: usize) -> Option<usize> {
        self.cameras.of_number(number)
    }

    /// The point that is unknown `number` of J's columns for points, as an index into
    /// [`BundleAdjustment::points`].
    pub fn unknown_point(&self, number: usize) -> Option<usize> {
        self.points.of_number(number)
    }

    /// The cameras without columns in J, ascending: held cameras, and cameras without observations.
    pub fn missing_cameras(&self) -> impl Iterator<Item = u32> {
        self.cameras.missing()
    }

    /// The points without columns in J, ascending: held points, and points without observations.
    pub fn missing_points(&self) -> impl Iterator<Item = u32> {
        self.points.missing()
    }

    /// The bundle adjustment that was given to [`BundleProblem::new`].
    pub fn problem(&self) -> &BundleAdjustment {
        &self.problem
    }

    /// The bundle adjustment with the cameras and points of `state`.
    pub fn with_state(&self, state: BundleState) -> BundleAdjustment {
        let BundleState { cameras, points } = state;
        BundleAdjustment { cameras, points, observations: self.problem.observations.clone() }
    }

    /// Makes the rotations of cameras differentiable in every direction: see [`turned_least`]. The
    /// rotations of cameras that are not unknown stay unchanged.
    fn turnable(&self, mut cameras: Vec<[f64; 9]>) -> Vec<[f64; 9]> {
        let unknown = (0..).zip(&mut cameras).filter(|(number, _)| self.cameras.number(*number).is_some());
        unknown.for_each(|(_, camera)| turned_least(camera));
        cameras
    }

    fn ready(&self, state: &BundleState) -> Vec<Camera> {
        state.cameras.par_iter().map(Camera::new).collect()
    }
}

/// Replaces a rotation by more than π by the equal rotation in the opposite direction. At 2π the
/// derivatives by two of its three numbers are zero.
fn turned_least(camera: &mut [f64; 9]) {
    let turn = &mut camera[..3];
    let angle = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
    if angle > PI && angle.is_finite() {
        let least = f64::atan2(angle.sin(), angle.cos());
        turn.iter_mut().for_each(|x| *x *= least / angle);
    }
}

fn row_major<const R: usize, const C: usize>(m: &SMatrix<f64, R, C>, scale: f64, to: &mut [f64]) {
    to.iter_mut().enumerate().for_each(|(i, to)| *to = m[(i / C, i % C)] * scale);
}

impl LeastSquares for BundleProblem {
    type State = BundleState;

    fn start(&self) -> BundleState {
        let BundleAdjustment { cameras, points, .. } = &self.problem;
        BundleState { cameras: self.turnable(cameras.clone()), points: points.clone() }
    }

    fn prepare(&self, device: &Device) -> Result<Linearization> {
        let observations = &self.problem.observations;
        let cell = |kind: usize| {
            let (unknowns, side) = self.of_kind(kind);
            let (mut row_ptr, mut col_idx) = (Vec::with_capacity(observations.len() + 1), Vec::new());
            row_ptr.push(0);
            for seen in observations {
                col_idx.extend(unknowns.number(if kind == 0 { seen.camera } else { seen.point }));
                row_ptr.push(col_idx.len() as u64);
            }
            let values = vec![0.0; col_idx.len() * 2 * side];
            Bsr::new(observations.len(), unknowns.count(), BlockShape::new(2, side)?, row_ptr, col_idx, values)
        };
        let cells = self.kinds().map(cell).collect::<Result<Vec<_>>>()?;
        Linearization::new(device, BlockGroups::side_by_side(cells)?, Vec::new(), false)
    }

    fn linearize(&self, state: &BundleState, to: &mut Linearization) -> Result<f64> {
        let (cameras, observations) = (self.ready(state), &self.problem.observations);
        let write = |row: usize, to: Row<'_, 2>| {
            let Observation { camera, point, place } = observations[row];
            let Projection { place: seen, by_camera, by_point } =
                cameras[camera as usize].project_with_derivatives(&state.points[point as usize]);
            let residual = seen - Vector2::from(place);
            let squared = residual.norm_squared();
            let root = self.loss.weight(squared).sqrt();
            let [in_camera, in_point] = to.blocks;
            row_major(&by_camera, root, in_camera);
            row_major(&by_point, root, in_point);
            to.weighted.copy_from_slice((residual * root).as_slice());
            let reach = seen.norm() + Vector2::from(place).norm() + self.size;
            let cost_of = |residual: f64| self.loss.rho(residual * residual);
            RowCost { cost: self.loss.rho(squared), met: cost_of(MET * reach), rounding: cost_of(ROUNDED * reach) }
        };
        to.check(&[Group { blocks: observations.len(), side: 2 }], &self.cols())?;
        to.row_costs_mut();
        // A kind without a group of columns has no blocks.
        let no_blocks = vec![0; observations.len() + 1];
        let Linearization { jacobian, weighted, row_ptr, row_costs: costs, .. } = to;
        let cost = jacobian.write_values_with(|cells| {
            let mut of_kinds =
                std::array::from_fn(|_| CellValues { values: &mut [][..], row_ptr: &no_blocks, area: 0 });
            for ((kind, values), row_ptr) in self.kinds().zip(cells).zip(&*row_ptr) {
                of_kinds[kind] = CellValues { values, row_ptr, area: 2 * self.of_kind(kind).1 };
            }
            let cells = of_kinds;
            GroupRows::<2> { cells, weighted: &mut weighted[0], robust: None, costs }.write(write)
        })??;
        Ok(0.5 * cost)
    }

    fn cost(&self, state: &BundleState) -> f64 {
        let cameras = self.ready(state);
        0.5 * sum_rows(self.problem.observations.len(), |row| {
            let Observation { camera, point, place } = self.problem.observations[row];
            let seen = cameras[camera as usize].project(&state.points[point as usize]);
            self.loss.rho((Vector2::from(seen) - Vector2::from(place)).norm_squared())
        })
    }

    fn moved(&self, state: &BundleState, step: &[Vec<f64>]) -> Result<BundleState> {
        fn moved<const N: usize>(all: &[[f64; N]], unknowns: &Unknowns, by: &[f64]) -> Result<Vec<[f64; N]>> {
            let one = |(one, by): (&[f64; N], Option<&[f64]>)| match by {
                Some(by) => std::array::from_fn(|i| one[i] + by[i]),
                None => *one,
            };
            Ok(all.iter().zip(unknowns.with_moves(by, N)?).map(one).collect())
        }
        let of = |kind: usize| {
            let group = self.kinds().position(|of_group| of_group == kind);
            group.and_then(|group| step.get(group)).map_or(&[][..], Vec::as_slice)
        };
        Ok(BundleState {
            cameras: self.turnable(moved(&state.cameras, &self.cameras, of(0))?),
            points: moved(&state.points, &self.points, of(1))?,
        })
    }
}
