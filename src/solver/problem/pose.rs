//! Graphs of poses and landmarks as least-squares problems.
use super::{
    Gauge, LeastSquares, Linearization, Loss, Manifold, Place, PoseGraph, Sighting, Step,
    linearization::GroupRows,
    rows::{CellValues, MET, ROUNDED, Row, RowCost, sum_rows, usual_size},
    unknowns::Unknowns,
};
use crate::{BlockGroups, BlockShape, Bsr, Device, Error, Group, Result};

/// Moves poses, and landmarks if there are any, so that they fit the measurements. The cost is half
/// of the sum of ρ(eᵀΩe) over all measurements, where e is a residual, Ω its information matrix,
/// and ρ the loss.
///
/// The Jacobian J has a row for each step (of 6x6 or 3x3 blocks), then a row for each sighting, in
/// the order of the file. J has columns for poses, then columns for landmarks. Moves and residuals
/// are defined by [`Manifold`]. Fixed poses and landmarks, and poses and landmarks without
/// measurements, have no columns. Each part of the graph is examined separately
/// ([`PoseGraph::gauge`]). If no measurement connects a part with a vertex that the file fixes, the
/// solver holds the first measured pose of the part. In a part that sees fixed landmarks no pose is
/// held, even if the part can still turn about these landmarks. The steps of such a part need
/// damping ([`LeastSquares::check_undamped`]).
pub struct GraphProblem<P: Manifold> {
    graph: PoseGraph<P>,
    loss: Loss,
    gauge: Gauge,
    poses: Unknowns,
    landmarks: Unknowns,
    /// The median length of measured steps and sightings.
    size: f64,
}

/// Values of all poses and landmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphState<P: Place> {
    /// The poses: see [`PoseGraph::poses`].
    pub poses: Vec<P::Pose>,
    /// The landmarks: see [`PoseGraph::landmarks`].
    pub landmarks: Vec<P::Landmark>,
}

impl<P: Manifold> PoseGraph<P> {
    /// The poses that have measurements. A pose is repeated for each of its measurements.
    pub(super) fn measured(&self) -> impl Iterator<Item = u32> {
        let ends = self.steps.iter().flat_map(|step| [step.from, step.to]);
        ends.chain(self.sightings.iter().map(|one| one.pose))
    }
}

impl<P: Manifold> GraphProblem<P> {
    /// The problem of `graph`, with a loss of Mahalanobis distances.
    ///
    /// # Errors
    /// [`Error::Argument`] if information matrices have a negative eigenvalue (the message has
    /// their number; see [`PoseGraph::isotropic`]), if all information matrices are zero, for
    /// measurements of poses or landmarks that do not exist, and for a loss without a valid width.
    pub fn new(graph: PoseGraph<P>, loss: Loss) -> Result<Self> {
        loss.check()?;
        let (all_poses, all_landmarks) = (graph.poses.len(), graph.landmarks.len());
        let is_pose = |pose: u32| (pose as usize) < all_poses;
        let steps_fit = graph.steps.iter().all(|step| is_pose(step.from) && is_pose(step.to));
        let fits = |one: &Sighting<P>| is_pose(one.pose) && (one.landmark as usize) < all_landmarks;
        if !steps_fit || !graph.sightings.iter().all(fits) {
            return Err(Error::Argument(format!(
                "a measurement names a pose or a landmark that does not exist: there are {all_poses} poses and {all_landmarks} landmarks"
            )));
        }
        if let Some((count, (from, to))) = graph.indefinite() {
            let all = graph.steps.len() + graph.sightings.len();
            return Err(Error::Argument(format!(
                "{count} of {all} information matrices have negative eigenvalues, first that of the edge from {from} to {to}: their errors would be rewarded"
            )));
        }
        let all = graph.steps.len() + graph.sightings.len();
        if all > 0 && graph.weightless() == all {
            return Err(Error::Argument(format!(
                "none of the {all} measurements has any weight: their information matrices are zero"
            )));
        }
        let gauge = graph.gauge();
        let is_in = |list: &[u32], one: u32| list.binary_search(&one).is_ok();
        let free = |pose: u32| !is_in(&gauge.held, pose) && !is_in(&graph.fixed_poses, pose);
        let poses = Unknowns::new(all_poses, graph.measured(), free);
        let seen = graph.sightings.iter().map(|one| one.landmark);
        let free = |landmark: u32| !is_in(&graph.fixed_landmarks, landmark);
        let landmarks = Unknowns::new(all_landmarks, seen, free);
        let ways = graph.steps.iter().map(|step| P::position(&step.measured));
        let ways = ways.chain(graph.sightings.iter().map(|one| P::landmark_position(&one.measured)));
        let size = usual_size(ways.map(length));
        Ok(Self { graph, loss, gauge, poses, landmarks, size })
    }

    /// The graph that was given to [`GraphProblem::new`].
    pub fn graph(&self) -> &PoseGraph<P> {
        &self.graph
    }

    /// The pose that is unknown `number` of the first group of columns of J, as an index into
    /// [`PoseGraph::poses`].
    pub fn unknown_pose(&self, number: usize) -> Option<usize> {
        self.poses.of_number(number)
    }

    /// The poses that the solver holds although the file does not fix them, ascending:
    /// [`Gauge::held`].
    ///
    /// [`Gauge::held`]: super::Gauge::held
    pub fn held(&self) -> &[u32] {
        &self.gauge.held
    }

    /// The poses without columns in J, ascending: fixed poses, held poses, and poses without
    /// measurements.
    pub fn missing_poses(&self) -> impl Iterator<Item = u32> {
        self.poses.missing()
    }

    /// The landmarks without columns in J, ascending: fixed landmarks and landmarks without
    /// measurements.
    pub fn missing_landmarks(&self) -> impl Iterator<Item = u32> {
        self.landmarks.missing()
    }

    /// The landmark that is unknown `number` of the second group of columns of J, as an index into
    /// [`PoseGraph::landmarks`].
    pub fn unknown_landmark(&self, number: usize) -> Option<usize> {
        self.landmarks.of_number(number)
    }

    /// The graph with the poses and landmarks of `state`.
    pub fn with_state(&self, state: GraphState<P>) -> PoseGraph<P> {
        let GraphState { poses, landmarks } = state;
        PoseGraph { poses, landmarks, ..self.graph.clone() }
    }

    /// Groups of rows and of columns of J. There are no rows of steps if all measurements are
    /// sightings, and no columns of landmarks if no landmark is unknown.
    fn groups(&self) -> (Vec<Group>, Vec<Group>) {
        let (steps, sightings) = (self.graph.steps.len(), self.graph.sightings.len());
        let mut rows = Vec::new();
        rows.extend((steps > 0 || sightings == 0).then_some(Group { blocks: steps, side: P::POSE }));
        rows.extend((sightings > 0).then_some(Group { blocks: sightings, side: P::LANDMARK }));
        let mut cols = vec![self.poses.group(P::POSE)];
        cols.extend((self.landmarks.count() > 0).then_some(self.landmarks.group(P::LANDMARK)));
        (rows, cols)
    }

    /// A cell of J. For each row, `rows` gives the unknowns of its blocks, ascending.
    fn cell(shape: BlockShape, unknowns: &Unknowns, rows: impl Iterator<Item = [Option<u32>; 2]>) -> Result<Bsr<f64>> {
        let (mut row_ptr, mut col_idx) = (vec![0], Vec::new());
        for mut of_row in rows {
            of_row.sort_unstable();
            col_idx.extend(of_row.into_iter().flatten());
            row_ptr.push(col_idx.len() as u64);
        }
        let values = vec![0.0; col_idx.len() * shape.area()];
        Bsr::new(row_ptr.len() - 1, unknowns.count(), shape, row_ptr, col_idx, values)
    }

    fn of_steps(&self) -> Result<Bsr<f64>> {
        let rows = self.graph.steps.iter().map(|step| [step.from, step.to].map(|pose| self.poses.number(pose)));
        Self::cell(BlockShape::new(P::POSE, P::POSE)?, &self.poses, rows)
    }

    fn of_sightings(&self) -> Result<[Bsr<f64>; 2]> {
        let sightings = || self.graph.sightings.iter();
        let poses = sightings().map(|one| [self.poses.number(one.pose), None]);
        let landmarks = sightings().map(|one| [self.landmarks.number(one.landmark), None]);
        Ok([
            Self::cell(BlockShape::new(P::LANDMARK, P::POSE)?, &self.poses, poses)?,
            Self::cell(BlockShape::new(P::LANDMARK, P::LANDMARK)?, &self.landmarks, landmarks)?,
        ])
    }

    /// The cost of the measurements that touch an unknown. Measurements between poses and landmarks
    /// that are held are constant, and may hide all other measurements in a sum.
    #[cfg(feature = "faer")]
    pub(crate) fn cost_of_unknowns(&self, state: &GraphState<P>) -> f64 {
        self.cost_of(state, false)
    }

    fn cost_of(&self, state: &GraphState<P>, constants: bool) -> f64 {
        let PoseGraph { steps, sightings, .. } = &self.graph;
        let counts = |pose: u32, other: Option<u32>| constants || self.poses.number(pose).or(other).is_some();
        let of_steps = sum_rows(steps.len(), |row| {
            let Step { from, to, measured, information } = &steps[row];
            if !counts(*from, self.poses.number(*to)) {
                return 0.0;
            }
            let residual = P::step(&state.poses[*from as usize], &state.poses[*to as usize], measured);
            self.loss.rho(dot(residual.as_ref(), P::weighted_step(information, &residual).as_ref()))
        });
        let of_sightings = sum_rows(sightings.len(), |row| {
            let Sighting { pose, landmark, measured, information } = &sightings[row];
            if !counts(*pose, self.landmarks.number(*landmark)) {
                return 0.0;
            }
            let residual = P::sighting(&state.poses[*pose as usize], &state.landmarks[*landmark as usize], measured);
            self.loss.rho(dot(residual.as_ref(), P::weighted_sighting(information, &residual).as_ref()))
        });
        0.5 * (of_steps + of_sightings)
    }

    fn write_step(&self, state: &GraphState<P>, row: usize, to: Row<'_, 1>) -> RowCost {
        let Step { from, to: other, measured, information } = &self.graph.steps[row];
        let [one, two] = [from, other].map(|&pose| &state.poses[pose as usize]);
        let (residual, derivatives) = P::step_with_derivatives(one, two, measured);
        let weighted = P::weighted_step(information, &residual);
        let [mut blocks] = to.blocks;
        let mut ends = [(self.poses.number(*from), &derivatives[0]), (self.poses.number(*other), &derivatives[1])];
        ends.sort_by_key(|&(number, _)| number);
        for (_, derivative) in ends.into_iter().filter(|(number, _)| number.is_some()) {
            let (block, rest) = blocks.split_at_mut(P::POSE * P::POSE);
            block.copy_from_slice(derivative.as_ref());
            blocks = rest;
        }
        let cost = self.count(residual.as_ref(), weighted.as_ref(), to.weighted, to.weight);
        self.row_cost(cost, [one, two, measured].map(P::position), P::step_information(information))
    }

    fn write_sighting(&self, state: &GraphState<P>, row: usize, to: Row<'_, 2>) -> RowCost {
        let Sighting { pose, landmark, measured, information } = &self.graph.sightings[row];
        let (one, two) = (&state.poses[*pose as usize], &state.landmarks[*landmark as usize]);
        let (residual, by_pose, by_landmark) = P::sighting_with_derivatives(one, two, measured);
        let weighted = P::weighted_sighting(information, &residual);
        let [in_pose, in_landmark] = to.blocks;
        // The slice is empty if the pose or landmark is held fixed.
        in_pose.copy_from_slice(&by_pose.as_ref()[..in_pose.len()]);
        in_landmark.copy_from_slice(&by_landmark.as_ref()[..in_landmark.len()]);
        let places = [P::position(one), P::landmark_position(two), P::landmark_position(measured)];
        let cost = self.count(residual.as_ref(), weighted.as_ref(), to.weighted, to.weight);
        self.row_cost(cost, places, P::sighting_information(information))
    }

    /// The cost of the measurement between two places, and the costs at which it counts as met or
    /// as rounding. The residual is compared with the distance of the places, the measured distance
    /// and the usual distance; angles are compared with 1. Rounding also grows with the distance of
    /// the places from the origin.
    fn row_cost(&self, cost: f64, [from, to, measured]: [[f64; 3]; 3], information: &[f64]) -> RowCost {
        let sum = |of: &dyn Fn(usize) -> f64| (0..3).map(of).sum::<f64>();
        let reach = self.size + sum(&|axis| (to[axis] - from[axis]).abs() + measured[axis].abs());
        let rounding = 16.0 * f64::EPSILON * sum(&|axis| from[axis].abs() + to[axis].abs());
        let weights = || information.iter().step_by(information.len().isqrt() + 1);
        let cost_of = |share: f64| {
            let length = share * reach + rounding;
            let sizes = std::iter::repeat_n(length, P::LANDMARK).chain(std::iter::repeat(share));
            self.loss.rho(sizes.zip(weights()).map(|(size, weight)| weight.abs() * size * size).sum())
        };
        RowCost { cost, met: cost_of(MET), rounding: cost_of(ROUNDED) }
    }

    /// Returns the cost ρ(eᵀΩe) of a row with the residual e. Writes Ωe times the weight of the
    /// loss to `to`, and the weight itself to `weight_to`.
    fn count(&self, residual: &[f64], weighted: &[f64], to: &mut [f64], weight_to: Option<&mut f64>) -> f64 {
        let squared = dot(residual, weighted);
        let weight = self.loss.weight(squared);
        to.iter_mut().zip(weighted).for_each(|(to, weighted)| *to = weight * weighted);
        if let Some(weight_to) = weight_to {
            *weight_to = weight;
        }
        self.loss.rho(squared)
    }
}

fn length(way: [f64; 3]) -> f64 {
    way.iter().fold(0.0, |sum: f64, x| sum.hypot(*x))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Makes a block-diagonal matrix of information matrices.
fn block_diagonal<'a>(side: usize, blocks: impl Iterator<Item = &'a [f64]>) -> Result<Bsr<f64>> {
    let values: Vec<f64> = blocks.flatten().copied().collect();
    let n = values.len() / (side * side);
    Bsr::new(n, n, BlockShape::new(side, side)?, (0..=n as u64).collect(), (0..n as u32).collect(), values)
}

impl<P: Manifold> LeastSquares for GraphProblem<P> {
    type State = GraphState<P>;

    fn start(&self) -> GraphState<P> {
        GraphState { poses: self.graph.poses.clone(), landmarks: self.graph.landmarks.clone() }
    }

    fn prepare(&self, device: &Device) -> Result<Linearization> {
        let (steps, sightings) = (&self.graph.steps, &self.graph.sightings);
        let unknown_landmarks = self.landmarks.count() > 0;
        let (rows, cols) = self.groups();
        let (mut cells, mut information) = (Vec::new(), Vec::new());
        if !steps.is_empty() || sightings.is_empty() {
            cells.push(Some(self.of_steps()?));
            cells.extend(unknown_landmarks.then_some(None));
            information.push(block_diagonal(P::POSE, steps.iter().map(|s| P::step_information(&s.information)))?);
        }
        if !sightings.is_empty() {
            let [of_poses, of_landmarks] = self.of_sightings()?;
            cells.push(Some(of_poses));
            cells.extend(unknown_landmarks.then_some(Some(of_landmarks)));
            let each = sightings.iter().map(|one| P::sighting_information(&one.information));
            information.push(block_diagonal(P::LANDMARK, each)?);
        }
        let jacobian = BlockGroups::new(rows, cols, cells)?;
        Linearization::new(device, jacobian, information, !self.loss.is_squared())
    }

    fn linearize(&self, state: &GraphState<P>, to: &mut Linearization) -> Result<f64> {
        let (steps, sightings) = (self.graph.steps.len(), self.graph.sightings.len());
        let (rows, cols) = self.groups();
        to.check(&rows, &cols)?;
        to.row_costs_mut();
        let Linearization { jacobian, weighted, robust, row_ptr, row_costs, .. } = to;
        let (of_steps, of_sightings) = row_costs.split_at_mut(steps);
        let mut vectors = weighted.iter_mut().zip(robust.iter_mut().map(Some).chain(std::iter::repeat_with(|| None)));
        // If all landmarks are held fixed, J has no cell for them.
        let no_blocks = vec![0; sightings + 1];
        let mut sum = 0.0;
        jacobian.write_values_with(|cells| -> Result<()> {
            let mut cells = cells.into_iter().zip(&*row_ptr);
            let mut next = |area| match cells.next() {
                Some((values, row_ptr)) => CellValues { values, row_ptr, area },
                None => CellValues { values: &mut [], row_ptr: &no_blocks, area: 0 },
            };
            if (steps > 0 || sightings == 0)
                && let Some((weighted, robust)) = vectors.next()
            {
                let group = GroupRows { cells: [next(P::POSE * P::POSE)], weighted, robust, costs: of_steps };
                sum += group.write(|row, to| self.write_step(state, row, to))?;
            }
            if sightings > 0
                && let Some((weighted, robust)) = vectors.next()
            {
                let cells = [next(P::LANDMARK * P::POSE), next(P::LANDMARK * P::LANDMARK)];
                let group = GroupRows { cells, weighted, robust, costs: of_sightings };
                sum += group.write(|row, to| self.write_sighting(state, row, to))?;
            }
            Ok(())
        })??;
        Ok(0.5 * sum)
    }

    fn cost(&self, state: &GraphState<P>) -> f64 {
        self.cost_of(state, true)
    }

    fn check_undamped(&self) -> Result<()> {
        self.gauge.check_undamped(&self.graph)
    }

    fn moved(&self, state: &GraphState<P>, step: &[Vec<f64>]) -> Result<GraphState<P>> {
        let of = |group: usize| step.get(group).map_or(&[][..], Vec::as_slice);
        let poses = state.poses.iter().zip(self.poses.with_moves(of(0), P::POSE)?);
        let landmarks = state.landmarks.iter().zip(self.landmarks.with_moves(of(1), P::LANDMARK)?);
        Ok(GraphState {
            poses: poses.map(|(pose, by)| by.map_or(*pose, |by| P::moved(pose, by))).collect(),
            landmarks: landmarks.map(|(one, by)| by.map_or(*one, |by| P::landmark_moved(one, by))).collect(),
        })
    }
}
