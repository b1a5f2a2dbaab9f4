//! A first guess for a graph of poses, where its file's is not worth starting from: *chordal relaxation* (L. Carlone, R. Tron, K. Daniilidis, F. Dellaert,
//! *Initialization Techniques for 3D SLAM: a Survey on Rotation Estimation and its Use in Pose Graph Optimization*, 2015, section III.B; D. Martinec,
//! T. Pajdla, *Robust Rotation and Translation Estimation in Multiview Reconstruction*, 2007).
//!
//! Rotations first: the rows r of a pose's matrix satisfy R_ijᵀ·r_i = r_j for every step measured, which is linear if one forgets that they are a
//! rotation's; the nearest rotations are taken of what comes out. Then translations, t_j - t_i = R_i·t_ij, linear too. Landmarks last, each at
//! the mean of where it was seen. Both are least-squares problems of 3x3 blocks with three right-hand sides: two more uses of the products.
use super::linear::Cholesky;
use blockmul::{
    BlockShape, Bsr, Device, Error, MatVec, Part, Result, ScalarPlan, WeightedGram, Weights,
    problem::{GraphState, Manifold, PoseGraph},
};
use nalgebra::{Matrix3, Vector3};

/// Poses by chordal relaxation, pose `held` (of its component) where it is.
pub fn chordal<P: Manifold>(graph: &PoseGraph<P>, device: &Device) -> Result<GraphState<P>> {
    let held = graph.fixed_poses.first().map_or(0, |&pose| pose as usize);
    let n = graph.poses.len();
    if n == 0 {
        return Ok(GraphState { poses: Vec::new(), landmarks: graph.landmarks.clone() });
    }
    let steps: Vec<Edge> = graph
        .steps
        .iter()
        .map(|step| {
            let (rotation, translation) = P::matrix(&step.measured);
            let [translations, rotations] = P::isotropic_weights(&step.information);
            Edge { ends: [step.from as usize, step.to as usize], rotation, translation, translations, rotations }
        })
        .collect();
    let (first, place) = P::matrix(&graph.poses[held]);

    // Rows of R_i, as columns: R_ijᵀ·R_iᵀ - R_jᵀ = 0.
    let blocks = |edge: &Edge| [edge.rotation.transpose(), -Matrix3::identity()];
    let of_rotations = System::new(device, n, held, &steps, blocks, |edge| edge.rotations)?;
    let transposed = of_rotations.solve(&first.transpose(), |_| Matrix3::zeros())?;
    let rotations: Vec<Matrix3<f64>> = transposed.iter().map(|rows| nearest_rotation(&rows.transpose())).collect();

    // t_j - t_i = R_i·t_ij, in the first of three columns.
    let blocks = |_: &Edge| [-Matrix3::identity(), Matrix3::identity()];
    let of_translations = System::new(device, n, held, &steps, blocks, |edge| edge.translations)?;
    let column = |v: Vector3<f64>| Matrix3::from_columns(&[v, Vector3::zeros(), Vector3::zeros()]);
    let translations =
        of_translations.solve(&column(place), |edge| column(rotations[edge.ends[0]] * edge.translation))?;

    let pose = |(rotation, t): (&Matrix3<f64>, &Matrix3<f64>)| P::from_matrix(rotation, &t.column(0).into());
    let poses: Vec<P::Pose> = rotations.iter().zip(&translations).map(pose).collect();
    let landmarks = seen_from::<P>(graph, &poses);
    Ok(GraphState { poses, landmarks })
}

/// A step measured, as matrices.
struct Edge {
    ends: [usize; 2],
    rotation: Matrix3<f64>,
    translation: Vector3<f64>,
    /// Weights.
    translations: f64,
    rotations: f64,
}

/// H = JᵀWJ of an unknown 3x3 matrix for each pose but one, factored.
struct System<'a> {
    n: usize,
    held: usize,
    edges: &'a [Edge],
    blocks: Vec<[Matrix3<f64>; 2]>,
    weights: Vec<f64>,
    j: blockmul::DeviceMatrix<Bsr<f64>>,
    cholesky: Cholesky,
    values: Vec<f64>,
}

impl<'a> System<'a> {
    fn new(
        device: &Device,
        n: usize,
        held: usize,
        edges: &'a [Edge],
        blocks: impl Fn(&Edge) -> [Matrix3<f64>; 2],
        weight: impl Fn(&Edge) -> f64,
    ) -> Result<Self> {
        let blocks: Vec<_> = edges.iter().map(blocks).collect();
        let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for (edge, blocks) in edges.iter().zip(&blocks) {
            let mut of_row: Vec<_> = edge.ends.into_iter().zip(blocks).filter(|&(pose, _)| pose != held).collect();
            of_row.sort_by_key(|&(pose, _)| pose);
            for (pose, block) in of_row {
                col_idx.push(number(pose, held) as u32);
                values.extend_from_slice(block.transpose().as_slice());
            }
            row_ptr.push(col_idx.len() as u64);
        }
        let j = device.upload(&Bsr::new(edges.len(), n - 1, BlockShape::new(3, 3)?, row_ptr, col_idx, values)?)?;
        let weights: Vec<f64> = edges.iter().map(weight).collect();
        let gram = WeightedGram::new(&j.pattern(), Part::Lower)?;
        let mut h = gram.output()?;
        gram.execute(&j, Weights::BlockRows(&device.upload_vector(&weights)?), &mut h)?;
        let scalars = ScalarPlan::<Bsr<f64>>::lower(&h.pattern())?;
        let mut values = scalars.output()?;
        scalars.execute(&h, &mut values)?;
        let cholesky = Cholesky::new(scalars.map())?;
        Ok(Self { n, held, edges, blocks, weights, j, cholesky, values: values.download()? })
    }

    /// The matrices of all poses, that of the held one given, such that J·X is nearest to `wanted` of each edge.
    fn solve(&self, held: &Matrix3<f64>, wanted: impl Fn(&Edge) -> Matrix3<f64>) -> Result<Vec<Matrix3<f64>>> {
        let device = self.j.device();
        let to_right = MatVec::multiply_transposed(&self.j.pattern())?;
        let mut b = to_right.output()?;
        let mut solved = vec![Matrix3::zeros(); self.n];
        solved[self.held] = *held;
        let rows = self.edges.iter().zip(&self.blocks).zip(&self.weights);
        let rows: Vec<Matrix3<f64>> = rows
            .map(|((edge, blocks), weight)| {
                let known = edge.ends.into_iter().zip(blocks).find(|&(pose, _)| pose == self.held);
                (wanted(edge) - known.map_or(Matrix3::zeros(), |(_, block)| block * held)) * *weight
            })
            .collect();
        for column in 0..3 {
            let rows: Vec<f64> =
                rows.iter().flat_map(|row| row.column(column).iter().copied().collect::<Vec<_>>()).collect();
            to_right.execute(&self.j, &device.upload_vector(&rows)?, &mut b)?;
            let mut x = b.download()?;
            if !self.cholesky.solve(&self.values, &mut x) {
                let what = "not every pose is tied to the first one: there is no relaxation to start from";
                return Err(Error::Argument(what.into()));
            }
            for pose in (0..self.n).filter(|&pose| pose != self.held) {
                let first = 3 * number(pose, self.held);
                solved[pose].set_column(column, &Vector3::from_column_slice(&x[first..first + 3]));
            }
        }
        Ok(solved)
    }
}

/// The number of a pose among all but the held one.
fn number(pose: usize, held: usize) -> usize {
    pose - usize::from(pose > held)
}

/// Of singular vectors, without a mirror.
fn nearest_rotation(m: &Matrix3<f64>) -> Matrix3<f64> {
    let svd = m.svd(true, true);
    let (Some(u), Some(vt)) = (svd.u, svd.v_t) else { return Matrix3::identity() };
    let sign = (u * vt).determinant().signum();
    // The last singular value is the smallest.
    u * Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, sign)) * vt
}

/// Landmarks at the mean of the places where they were seen.
fn seen_from<P: Manifold>(graph: &PoseGraph<P>, poses: &[P::Pose]) -> Vec<P::Landmark> {
    let mut seen = vec![(0.0, vec![0.0; P::LANDMARK]); graph.landmarks.len()];
    for sighting in &graph.sightings {
        let place = P::landmark_position(&P::place(&poses[sighting.pose as usize], &sighting.measured));
        let (count, sum) = &mut seen[sighting.landmark as usize];
        *count += 1.0;
        sum.iter_mut().zip(place).for_each(|(sum, x)| *sum += x);
    }
    let origin = |landmark: &P::Landmark| P::landmark_position(landmark);
    graph
        .landmarks
        .iter()
        .zip(seen)
        .map(|(landmark, (count, sum))| match count > 0.0 {
            true => {
                let from = origin(landmark);
                let by: Vec<f64> = sum.iter().zip(from).map(|(sum, from)| sum / count - from).collect();
                P::landmark_moved(landmark, &by)
            }
            false => *landmark,
        })
        .collect()
}
