//! Factors the whole of H, for one group of unknowns, or for two groups if elimination is clearly
//! more work.
use super::{
    cholesky::{Cholesky, Symbolic},
    linear::{LinearStep, equations},
    normal::Normal,
};
use crate::{
    Bsr, Cbc, DeviceMatrix, DeviceVector, Error, Planned, Result, device::Work, events::ms, solver::NormalEquations,
    structure::Scalars,
};
use faer::sparse::SymbolicSparseColMat;
use std::time::Instant;

/// The solver that factors the whole of H.
pub struct Whole {
    lower: Lower,
    values: Vec<f64>,
    cholesky: Cholesky,
}

impl Whole {
    /// Prepares for one or two groups of unknowns.
    pub fn new(normal: &Normal) -> Result<Self> {
        let (lower, symbolic) = Lower::new(normal)?;
        Self::of(lower, symbolic)
    }

    /// Prepares with the results of [`Lower::new`].
    pub fn of(lower: Lower, symbolic: Symbolic) -> Result<Self> {
        Ok(Self { lower, values: vec![0.0; symbolic.nnz()], cholesky: Cholesky::new(symbolic)? })
    }

    /// Solves (H + λ·diag H)·x = b for the step.
    pub fn solve(&mut self, normal: &Normal, lambda: f64) -> Result<LinearStep> {
        let clock = Instant::now();
        self.lower.copy(normal, &mut self.values)?;
        let products_ms = ms(clock);
        let clock = Instant::now();
        damp(&mut self.values, self.cholesky.symbolic().pattern(), normal, lambda);
        let groups = 0..normal.b().len();
        let mut x = groups.clone().flat_map(|group| normal.b_on_host(group)).copied().collect::<Vec<_>>();
        let solved = self.cholesky.factor(&self.values) && self.cholesky.solve(&mut x);
        let mut rest = x.into_iter();
        let x = groups.map(|group| rest.by_ref().take(normal.b()[group].len()).collect());
        let x = solved.then(|| x.collect());
        Ok(LinearStep { x, products_ms, linear_ms: ms(clock), ..LinearStep::default() })
    }
}

/// Damps the values on the diagonal by λ. The diagonal value is the first value of its column.
fn damp(values: &mut [f64], pattern: &SymbolicSparseColMat<usize>, normal: &Normal, lambda: f64) {
    let mut first = pattern.col_ptr().iter();
    for (group, b) in normal.b().iter().enumerate() {
        for (number, &first) in first.by_ref().take(b.len()).enumerate() {
            values[first] = normal.damped(group, number, values[first], lambda);
        }
    }
}

/// The scalars of H on and below the diagonal.
pub enum Lower {
    /// One group of unknowns: the scalars are copied on the device.
    One(Box<OnDevice>),
    /// Two groups, H = [U W; Wᵀ V]: the scalars are copied on the host.
    Two(Gather),
}

impl Lower {
    /// Finds the scalars, and analyses their factor.
    pub fn new(normal: &Normal) -> Result<(Self, Symbolic)> {
        if normal.b().len() == 1 {
            let scalars = Scalars::lower(&one(normal)?.pattern())?;
            let symbolic = Symbolic::new(scalars.map().symbolic())?;
            return Ok((Self::One(Box::new(OnDevice { values: scalars.output()?, scalars })), symbolic));
        }
        let (gather, pattern) = Gather::new(parts(normal)?)?;
        Ok((Self::Two(gather), Symbolic::new(pattern)?))
    }

    fn copy(&mut self, normal: &Normal, to: &mut [f64]) -> Result<()> {
        match self {
            Self::One(on_device) => {
                let OnDevice { scalars, values } = &mut **on_device;
                scalars.execute(one(normal)?, &mut *values)?;
                values.download_into(to)
            }
            Self::Two(gather) => gather.copy(parts(normal)?, to),
        }
    }
}

fn one(normal: &Normal) -> Result<&DeviceMatrix<Bsr<f64>>> {
    normal.h().get(0, 0).ok_or_else(|| Error::Argument("the problem has no unknowns".into()))
}

/// U, W and V.
pub fn parts(normal: &Normal) -> Result<[&DeviceMatrix<Cbc<f64>>; 3]> {
    equations(normal, 0.0).map(|NormalEquations { u, w, v, .. }| [u, w, v])
}

/// The scalars of one group of unknowns, and memory for them.
pub struct OnDevice {
    scalars: Scalars<Bsr<f64>>,
    values: DeviceVector<f64>,
}

/// For two groups of unknowns, the indices of H's scalars among the values of U, W and V.
pub struct Gather {
    /// The values of U, W and V, one after another.
    values: Vec<f64>,
    /// Number of values of U, of W and of V.
    lengths: [usize; 3],
    /// For each scalar of H, its index in `values`.
    from: Vec<usize>,
}

/// A block of H, for copying.
struct Block {
    /// The first row of the block, and its number of rows.
    row: usize,
    height: usize,
    /// The index of element (0, 0) of the block, and the strides to the next row and the next
    /// column.
    at: usize,
    down: usize,
    right: usize,
}

impl Gather {
    /// Finds the indices, and the pattern of the scalars in compressed columns.
    fn new([u, w, v]: [&DeviceMatrix<Cbc<f64>>; 3]) -> Result<(Self, SymbolicSparseColMat<usize>)> {
        let work = &Work::new(u.device(), None);
        let (c, p) = (w.shape().rows(), w.shape().cols());
        let lengths = [u, w, v].map(|part| part.cbc.values.len());
        let [u_stride, w_stride, v_stride] = [u, w, v].map(|part| part.cbc.stride);
        let (first_point, n) = (u.ncols() * c, u.ncols() * c + v.ncols() * p);
        let u = u.cbc.pattern.download(work)?;
        // The points that each camera sees, and the entries of W that hold their blocks.
        let (points, entries) = w.cbc.pattern.download(work)?.transpose();
        let mut columns = Columns { first: 0, col_ptr: vec![0], rows: Vec::new(), from: Vec::new() };
        for camera in 0..u.ncols() {
            let of_u = u.column(camera).iter().zip(u.entries(camera)).map(|(&row, entry)| Block {
                row: row as usize * c,
                height: c,
                at: entry * u_stride,
                down: 1,
                right: c,
            });
            let of_w = points.column(camera).iter().zip(points.entries(camera)).map(|(&point, entry)| Block {
                row: first_point + point as usize * p,
                height: p,
                at: lengths[0] + entries[entry] * w_stride,
                down: c,
                right: 1,
            });
            columns.push(c, &of_u.chain(of_w).collect::<Vec<_>>());
        }
        for point in 0..v.ncols() {
            let (row, at) = (first_point + point * p, lengths[0] + lengths[1] + point * v_stride);
            columns.push(p, &[Block { row, height: p, at, down: 1, right: p }]);
        }
        let Columns { col_ptr, rows, from, .. } = columns;
        let pattern = SymbolicSparseColMat::new_checked(n, n, col_ptr, None, rows);
        Ok((Self { values: vec![0.0; lengths.iter().sum()], lengths, from }, pattern))
    }

    fn copy(&mut self, parts: [&DeviceMatrix<Cbc<f64>>; 3], to: &mut [f64]) -> Result<()> {
        let mut rest = &mut self.values[..];
        for (part, length) in parts.into_iter().zip(self.lengths) {
            let values = rest.split_off_mut(..length).expect("room for all parts");
            Work::new(part.device(), None).read_into(part.cbc.values.typed(), 0, values)?;
        }
        to.iter_mut().zip(&self.from).for_each(|(to, &from)| *to = self.values[from]);
        Ok(())
    }
}

/// Compressed columns under construction, and the indices of their scalars.
struct Columns {
    /// The next column.
    first: usize,
    col_ptr: Vec<usize>,
    rows: Vec<usize>,
    from: Vec<usize>,
}

impl Columns {
    /// Appends `width` columns that consist of these blocks, without the scalars above the
    /// diagonal.
    fn push(&mut self, width: usize, blocks: &[Block]) {
        for b in 0..width {
            let column = self.first + b;
            for &Block { row, height, at, down, right } in blocks {
                for a in column.saturating_sub(row).min(height)..height {
                    self.rows.push(row + a);
                    self.from.push(at + a * down + b * right);
                }
            }
            self.col_ptr.push(self.rows.len());
        }
        self.first += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        device::test_device,
        generate::problem::{Scene, Walk, bundle_adjustment, pose_graph},
        solver::problem::{BundleProblem, Graph, GraphProblem, LeastSquares, Loss},
    };

    /// Compares the copied scalars of H for two groups of unknowns with the dense H.
    fn check<P: LeastSquares>(problem: &P) -> Result<()> {
        let device = test_device();
        let mut linearization = problem.prepare(&device)?;
        let mut normal = Normal::new(&linearization)?;
        problem.linearize(&problem.start(), &mut linearization)?;
        normal.form(&linearization)?;
        let (mut lower, symbolic) = Lower::new(&normal)?;
        let mut values = vec![f64::NAN; symbolic.nnz()];
        lower.copy(&normal, &mut values)?;
        // U and V are stored on and above their diagonals, Wᵀ below.
        let (stored, first_point) = (normal.h().download()?.to_dense(), normal.b()[0].len());
        let h = |row, col| stored[if row >= first_point && col < first_point { (row, col) } else { (col, row) }];
        let (ends, rows) = (symbolic.pattern().col_ptr(), symbolic.pattern().row_idx());
        let mut left = stored.clone();
        for col in 0..stored.ncols() {
            for at in ends[col]..ends[col + 1] {
                let row = rows[at];
                assert!(row >= col && values[at].to_bits() == f64::to_bits(h(row, col)), "({row}, {col})");
                (left[(row, col)], left[(col, row)]) = (0.0, 0.0);
            }
        }
        assert_eq!(left.amax(), 0.0, "every element is there");
        Ok(())
    }

    #[test]
    fn two_groups_are_gathered_into_the_lower_triangle_of_h() -> Result<()> {
        let scene = Scene { cameras: 5, points: 20, views: 3, ..Scene::default() };
        check(&BundleProblem::new(bundle_adjustment(&scene)?, Loss::Squared)?)?;
        // Closures between poses give U blocks that are not on its diagonal.
        let walk = Walk { poses: 12, closures: 8, landmarks: 6, ..Walk::default() };
        match pose_graph(&walk)? {
            Graph::Plane(graph) => check(&GraphProblem::new(graph, Loss::Squared)?),
            Graph::Space(graph) => check(&GraphProblem::new(graph, Loss::Squared)?),
        }
    }
}
