//! A first guess for a graph of poses whose file has no useful guess: *chordal relaxation* (L.
//! Carlone, R. Tron, K. Daniilidis, F. Dellaert, *Initialization Techniques for 3D SLAM: a Survey
//! on Rotation Estimation and its Use in Pose Graph Optimization*, 2015, section III.B; D.
//! Martinec, T. Pajdla, *Robust Rotation and Translation Estimation in Multiview Reconstruction*,
//! 2007).
//!
//! Rotations are computed first. For a measured step from pose i to pose j with the rotation R_ij,
//! the rows r_i and r_j of the rotation matrices of the two poses satisfy R_ijᵀ·r_i = r_j. The
//! equations for the rows are linear if the rows need not form a rotation. Each solution is then
//! replaced by the nearest rotation. Translations follow from the linear equations t_j - t_i =
//! R_i·t_ij. Landmarks are placed last, each at the mean of the places where it was seen. The
//! linear systems for rotations and for translations are least-squares problems of 3x3 blocks with
//! three right-hand sides, so H is computed on the device.
use super::{
    anchors::Anchors,
    cholesky::{Cholesky, Symbolic},
};
use crate::{
    BlockShape, Bsr, Device, DeviceMatrix, Error, Part, Planned, Product, Result, Weights,
    apply::Apply,
    solver::problem::{
        AnyProblem, AnyState, GraphProblem, GraphState, LeastSquares, Manifold, PoseGraph, Problem, is_zero,
    },
    structure::Scalars,
};
use nalgebra::{Matrix3, Vector3};

/// Information matrices with a negative eigenvalue, which let the cost fall when errors grow.
#[derive(Debug, Clone, Copy)]
pub struct Rewarding {
    /// Number of information matrices with a negative eigenvalue.
    pub count: usize,
    /// The ends of the first edge whose information matrix has a negative eigenvalue.
    pub first: (u64, u64),
    /// Number of measurements that lose their weight if all matrices become isotropic.
    pub losing: usize,
}

/// Returns the problem with usable information matrices. If some information matrices of a graph
/// have a negative eigenvalue, all its information matrices become isotropic. A bundle adjustment
/// has no information matrices.
pub fn weighable(problem: Problem) -> (Problem, Option<Rewarding>) {
    let Problem::Graph(graph) = problem else { return (problem, None) };
    let Some((count, first)) = graph.indefinite() else { return (graph.into(), None) };
    let losing = graph.losing();
    (graph.isotropic().into(), Some(Rewarding { count, first, losing }))
}

/// The origin of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// The guess in the file.
    #[default]
    File,
    /// The chordal relaxation.
    Chordal,
}

/// The chosen start of a graph, and the costs of both candidates.
pub struct Chosen<S> {
    /// The poses and landmarks to start from.
    pub state: S,
    /// The origin of this start.
    pub start: Start,
    /// The cost of the guess in the file.
    pub file_cost: f64,
    /// The cost of the chordal start, or the reason why there is none.
    pub chordal_cost: std::result::Result<f64, String>,
}

/// Compares the guess in the file with the chordal start and returns the one with the lower cost,
/// including the loss. If the file's guess is useless, it returns the chordal start.
///
/// A guess by dead reckoning drifts with its path. A solver that begins with such a guess can end
/// in a wrong minimum, which cannot be distinguished from the right minimum. The chordal start uses
/// every measurement at once. In six public graphs and six difficult graphs of `tools/minima`, the
/// cost of the chordal start was 1.04 to 1.6 times the cost of the best known minimum. From the
/// chordal start the solver reached that minimum. The cost of dead reckoning was 12 to a million
/// times the cost of the best known minimum.
///
/// # Errors
/// [`Error::Memory`], [`Error::OpenCl`], [`Error::Unsupported`] without double precision.
pub fn cheaper<P: Manifold>(problem: &GraphProblem<P>, device: &Device) -> Result<Chosen<GraphState<P>>> {
    let graph = problem.graph();
    let state = problem.start();
    let file_cost = problem.cost(&state);
    let file =
        |reason: String| Chosen { state: problem.start(), start: Start::File, file_cost, chordal_cost: Err(reason) };
    if graph.steps.is_empty() {
        return Ok(file("no pose was measured from another".into()));
    }
    let chordal = match chordal(graph, device) {
        Ok(chordal) => chordal,
        Err(Error::Argument(reason)) => return Ok(file(reason)),
        Err(error) => return Err(error),
    };
    let cost = problem.cost(&chordal);
    let better = problem.cost_of_unknowns(&chordal) < problem.cost_of_unknowns(&state)
        || !file_cost.is_finite()
        || graph.says_nothing();
    let (state, start) = if better { (chordal, Start::Chordal) } else { (state, Start::File) };
    Ok(Chosen { state, start, file_cost, chordal_cost: Ok(cost) })
}

/// Computes poses by chordal relaxation. Poses that a solver holds fixed, and poses without
/// measured steps, keep their position. If a solver holds no pose of a set of poses connected by
/// steps, but some of the poses see fixed landmarks, the set is moved as one rigid body to the best
/// fit with these landmarks.
///
/// # Errors
/// [`Error::Argument`] if steps connect some pose neither with a pose that is held nor with a pose
/// that sees a fixed landmark; [`Error::Memory`], [`Error::OpenCl`], [`Error::Unsupported`].
pub fn chordal<P: Manifold>(graph: &PoseGraph<P>, device: &Device) -> Result<GraphState<P>> {
    let n = graph.poses.len();
    let steps: Vec<Edge> = graph
        .steps
        .iter()
        .map(|step| {
            let (rotation, translation) = P::matrix(&step.measured);
            let [translations, rotations] = P::isotropic_weights(&step.information);
            Edge { ends: [step.from as usize, step.to as usize], rotation, translation, translations, rotations }
        })
        .collect();
    let mut numbers = vec![None; n];
    let held = graph.held();
    let anchors = Anchors::new(graph, &held);
    let is_known = |pose: usize| held.binary_search(&(pose as u32)).is_ok() || anchors.is_anchor(pose);
    let measured = steps.iter().flat_map(|edge| edge.ends);
    measured.filter(|&pose| !is_known(pose)).for_each(|pose| numbers[pose] = Some(0));
    numbers.iter_mut().flatten().enumerate().for_each(|(number, place)| *place = number);
    let (rotations, places): (Vec<_>, Vec<_>) = graph.poses.iter().map(P::matrix).unzip();

    // The unknowns are the R_iᵀ, whose columns are the rows of R_i: R_ijᵀ·R_iᵀ - R_jᵀ = 0.
    let blocks = steps.iter().map(|edge| [edge.rotation.transpose(), -Matrix3::identity()]).collect();
    let weights = steps.iter().map(|edge| edge.rotations).collect();
    let mut of_rotations = System::new(device, &numbers, &steps, blocks, weights)?;
    let known = rotations.iter().map(Matrix3::transpose).collect();
    let transposed = of_rotations.solve(known, &vec![Matrix3::zeros(); steps.len()])?;
    let nearest = |(pose, rows): (usize, &Matrix3<f64>)| match numbers[pose] {
        Some(_) => nearest_rotation(&rows.transpose()),
        None => rotations[pose],
    };
    let mut rotations: Vec<Matrix3<f64>> = transposed.iter().enumerate().map(nearest).collect();

    // The equations are t_j - t_i = R_i·t_ij. A translation t is the first of the three columns of
    // an unknown.
    let blocks = vec![[-Matrix3::identity(), Matrix3::identity()]; steps.len()];
    let weights = steps.iter().map(|edge| edge.translations).collect();
    let mut of_translations = System::new(device, &numbers, &steps, blocks, weights)?;
    let column = |v: Vector3<f64>| Matrix3::from_columns(&[v, Vector3::zeros(), Vector3::zeros()]);
    let known = places.iter().map(|&place| column(place)).collect();
    let wanted: Vec<_> = steps.iter().map(|edge| column(rotations[edge.ends[0]] * edge.translation)).collect();
    let translations = of_translations.solve(known, &wanted)?;

    let mut translations: Vec<Vector3<f64>> = translations.iter().map(|columns| columns.column(0).into()).collect();
    anchors.align(graph, &mut rotations, &mut translations);
    let pose = |pose: usize| match numbers[pose].is_some() || anchors.is_anchor(pose) {
        true => P::from_matrix(&rotations[pose], &translations[pose]),
        false => graph.poses[pose],
    };
    let poses: Vec<P::Pose> = (0..n).map(pose).collect();
    let landmarks = seen_from::<P>(graph, &poses);
    Ok(GraphState { poses, landmarks })
}

impl AnyProblem {
    /// The start of a graph by chordal relaxation: see [`chordal`].
    ///
    /// # Errors
    /// The errors of [`chordal`]; [`Error::Argument`] for a bundle adjustment.
    pub fn chordal(&self, device: &Device) -> Result<AnyState> {
        match self {
            Self::Bundle(_) => {
                Err(Error::Argument("a chordal relaxation is of graphs, not of bundle adjustments".into()))
            }
            Self::Plane(problem) => Ok(chordal(problem.graph(), device)?.into()),
            Self::Space(problem) => Ok(chordal(problem.graph(), device)?.into()),
        }
    }

    /// Returns the start with the lower cost: see [`cheaper`]. The start of a bundle adjustment is
    /// always the guess in its file.
    ///
    /// # Errors
    /// The errors of [`cheaper`].
    pub fn cheaper(&self, device: &Device) -> Result<Chosen<AnyState>> {
        match self {
            Self::Bundle(problem) => {
                let state = problem.start();
                let chordal_cost = Err("a bundle adjustment has no other".into());
                Ok(Chosen { file_cost: problem.cost(&state), state: state.into(), start: Start::File, chordal_cost })
            }
            Self::Plane(problem) => Ok(cheaper(problem, device)?.into_any()),
            Self::Space(problem) => Ok(cheaper(problem, device)?.into_any()),
        }
    }
}

impl<S: Into<AnyState>> Chosen<S> {
    fn into_any(self) -> Chosen<AnyState> {
        let Self { state, start, file_cost, chordal_cost } = self;
        Chosen { state: state.into(), start, file_cost, chordal_cost }
    }
}

/// A measured step, as a rotation matrix and a translation.
struct Edge {
    ends: [usize; 2],
    rotation: Matrix3<f64>,
    translation: Vector3<f64>,
    /// The weight of the translation.
    translations: f64,
    rotations: f64,
}

/// The factored H = JᵀWJ for one unknown 3x3 matrix for each pose that has a number.
struct System<'a> {
    numbers: &'a [Option<usize>],
    edges: &'a [Edge],
    blocks: Vec<[Matrix3<f64>; 2]>,
    weights: Vec<f64>,
    j: DeviceMatrix<Bsr<f64>>,
    cholesky: Cholesky,
}

impl<'a> System<'a> {
    fn new(
        device: &Device,
        numbers: &'a [Option<usize>],
        edges: &'a [Edge],
        blocks: Vec<[Matrix3<f64>; 2]>,
        weights: Vec<f64>,
    ) -> Result<Self> {
        let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for (edge, blocks) in edges.iter().zip(&blocks) {
            let unknown = |(pose, block): (usize, _)| Some((numbers[pose]?, block));
            let mut of_row: Vec<_> = edge.ends.into_iter().zip(blocks).filter_map(unknown).collect();
            of_row.sort_by_key(|&(number, _)| number);
            for (number, block) in of_row {
                col_idx.push(number as u32);
                values.extend_from_slice(block.transpose().as_slice());
            }
            row_ptr.push(col_idx.len() as u64);
        }
        let unknowns = numbers.iter().flatten().count();
        let j = device.upload(&Bsr::new(edges.len(), unknowns, BlockShape::new(3, 3)?, row_ptr, col_idx, values)?)?;
        let of_edges = device.upload_vector(&weights)?;
        let h = Product::gram(&j).weighted(Weights::BlockRows(&of_edges)).part(Part::Lower).run()?;
        let scalars = Scalars::<Bsr<f64>>::lower(&h.pattern())?;
        let mut values = scalars.output()?;
        scalars.execute(&h, &mut values)?;
        let mut cholesky = Cholesky::new(Symbolic::new(scalars.map().symbolic())?)?;
        if !cholesky.factor(&values.download()?) {
            return Err(untied());
        }
        Ok(Self { numbers, edges, blocks, weights, j, cholesky })
    }

    /// Solves for the matrices X of all poses for which J·X is nearest to `wanted`. `wanted` has a
    /// matrix for each edge. Poses without a number keep their matrix of `known`.
    fn solve(&mut self, known: Vec<Matrix3<f64>>, wanted: &[Matrix3<f64>]) -> Result<Vec<Matrix3<f64>>> {
        let device = self.j.device();
        let to_right = Apply::transposed(&self.j.pattern())?;
        let mut b = to_right.output()?;
        let mut solved = known;
        let rows = self.edges.iter().zip(&self.blocks).zip(&self.weights).zip(wanted);
        let rows: Vec<Matrix3<f64>> = rows
            .map(|(((edge, blocks), weight), wanted)| {
                let known = edge.ends.into_iter().zip(blocks).filter(|&(pose, _)| self.numbers[pose].is_none());
                known.fold(*wanted, |rest, (pose, block)| rest - block * solved[pose]) * *weight
            })
            .collect();
        for column in 0..3 {
            let rows: Vec<f64> = rows.iter().flat_map(|row| [0, 1, 2].map(|i| row[(i, column)])).collect();
            to_right.execute((&self.j, &device.upload_vector(&rows)?), &mut b)?;
            let mut x = b.download()?;
            if !self.cholesky.solve(&mut x) {
                return Err(untied());
            }
            for (solved, number) in solved.iter_mut().zip(self.numbers) {
                if let Some(number) = number {
                    solved.set_column(column, &Vector3::from_column_slice(&x[3 * number..3 * number + 3]));
                }
            }
        }
        Ok(solved)
    }
}

fn untied() -> Error {
    let what = "not every pose is tied by steps to one that is held or sees a fixed landmark: there is no chordal relaxation to start from";
    Error::Argument(what.into())
}

/// The rotation (never a reflection) nearest to a matrix, by singular vectors.
pub(super) fn nearest_rotation(m: &Matrix3<f64>) -> Matrix3<f64> {
    let svd = m.svd(true, true);
    let (Some(u), Some(vt)) = (svd.u, svd.v_t) else { return Matrix3::identity() };
    let sign = (u * vt).determinant().signum();
    // The last singular value is the smallest, so its sign is the one to change.
    u * Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, sign)) * vt
}

/// Places each landmark at the mean of the places where it was seen. Fixed landmarks keep their
/// place.
fn seen_from<P: Manifold>(graph: &PoseGraph<P>, poses: &[P::Pose]) -> Vec<P::Landmark> {
    let mut seen = vec![(0.0, vec![0.0; P::LANDMARK]); graph.landmarks.len()];
    for sighting in graph.sightings.iter().filter(|one| !is_zero(P::sighting_information(&one.information))) {
        let place = P::landmark_position(&P::place(&poses[sighting.pose as usize], &sighting.measured));
        let (count, sum) = &mut seen[sighting.landmark as usize];
        *count += 1.0;
        sum.iter_mut().zip(place).for_each(|(sum, x)| *sum += x);
    }
    let is_fixed = |landmark: usize| graph.fixed_landmarks.binary_search(&(landmark as u32)).is_ok();
    graph
        .landmarks
        .iter()
        .zip(seen)
        .enumerate()
        .map(|(number, (landmark, (count, sum)))| match count > 0.0 && !is_fixed(number) {
            true => {
                let from = P::landmark_position(landmark);
                let by: Vec<f64> = sum.iter().zip(from).map(|(sum, from)| sum / count - from).collect();
                P::landmark_moved(landmark, &by)
            }
            false => *landmark,
        })
        .collect()
}
