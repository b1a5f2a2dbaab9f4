//! The implementation of [`Several`](super::Several), without a type parameter for elements, so
//! that it is compiled once. Kernels: `cl/solver/schur/several.cl`.
use super::super::{cameras::CameraColumns, core::Core, reduced::ReducedCore};
use crate::{
    Error, Marker, Result,
    apply::Spmm,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Options, Out, Scratch, Work, kernel},
    element::{ElementType, Scaling},
    matrix::{DenseShape, Layout},
    planned::prepared::same_device,
    resident::{DenseBuffer, DenseBufferMut},
    vector::line_sums::Stored,
};

kernel! {
    in "solver/schur/several.cl":
    struct SolveLower = "solve_lower" {
        factor: In<Elem>,
        b: In<Elem>,
        x: Out<Elem>,
        points: u32,
        columns: u32,
        b_row: u64,
        b_col: u64,
        x_row: u64,
        x_col: u64,
    }
    struct SolveUpper = "solve_upper" {
        factor: In<Elem>,
        x: InOut<Elem>,
        points: u32,
        columns: u32,
        x_row: u64,
        x_col: u64,
    }
}

/// The preparation for several right-hand sides, whose element type is known at run time only.
pub(super) struct SeveralCore {
    element: ElementType,
    pub n: usize,
    z: Spmm,
    z_transposed: Spmm,
    pub cameras: Option<CameraColumns>,
    lower: Kernel<SolveLower<'static>>,
    upper: Kernel<SolveUpper<'static>>,
    /// Memory for Zᵀ·X and L⁻¹·B.
    at_points: Scratch,
    points: usize,
    side: usize,
}

impl SeveralCore {
    pub fn new(of: &Core, n: usize) -> Result<Self> {
        let (device, element, side, points) = (&of.device, of.element, of.w.shape().cols(), of.w.ncols());
        let options = Options::group_size(device.info().elementwise_group()).element(element).define("P", side);
        Ok(Self {
            element,
            n,
            z: Spmm::of_pattern(&of.w, element, true, n)?,
            z_transposed: Spmm::of_pattern(&of.w, element, false, n)?,
            cameras: of.form.cameras().map(|cameras| cameras.columns(n)).transpose()?,
            lower: Kernel::new(device, &options)?,
            upper: Kernel::new(device, &options)?,
            at_points: Scratch::reserve_of(&Work::new(device, None), element.word(), points * side * n)?,
            points,
            side,
        })
    }

    /// Refuses a preparation or a reduced system of another elimination.
    pub fn check(&self, of: &Core, reduced: &ReducedCore) -> Result<()> {
        same_device(&of.device, self.z.device())?;
        of.check_reduced(reduced)?;
        match (self.points, self.side) == (of.w.ncols(), of.w.shape().cols()) {
            true => reduced.check(),
            false => Err(Error::Argument("these right-hand sides were prepared for another elimination".into())),
        }
    }

    /// Computes R = B_c - W·V'⁻¹·B_p. At the start R holds B_c.
    pub fn reduce(&self, reduced: &ReducedCore, b_p: DenseBuffer<'_>, r: DenseBufferMut<'_>) -> Result<Marker> {
        let work = &Work::new(self.z.device(), None);
        work.stage("rhs");
        let (shape, at_points) = (self.at_points(), &mut *self.at_points.take(work)?);
        self.solve_lower(work, &reduced.factors.l, b_p, DenseBufferMut { shape, values: &mut *at_points })?;
        self.z.run(work, (&reduced.z).into(), DenseBuffer { shape, values: at_points }, self.subtracted(), r)?;
        Ok(work.marker())
    }

    /// Computes X_p = V'⁻¹·(B_p - Wᵀ·X_c).
    pub fn back_substitute(
        &self,
        reduced: &ReducedCore,
        b_p: DenseBuffer<'_>,
        x_c: DenseBuffer<'_>,
        DenseBufferMut { shape, values: x_p }: DenseBufferMut<'_>,
    ) -> Result<Marker> {
        let (work, l) = (&Work::new(self.z.device(), None), &reduced.factors.l);
        work.stage("back_substitution");
        self.solve_lower(work, l, b_p, DenseBufferMut { shape, values: &mut *x_p })?;
        self.z_transposed.run(
            work,
            (&reduced.z).into(),
            x_c,
            self.subtracted(),
            DenseBufferMut { shape, values: &mut *x_p },
        )?;
        let (points, columns) = (self.points as u32, self.n as u32);
        let [x_row, x_col] = steps(shape);
        let args = SolveUpper { factor: l, x: x_p, points, columns, x_row, x_col };
        self.upper.launch(work, self.grid(work), args)?;
        Ok(work.marker())
    }

    /// Computes Y = S·X.
    pub fn multiply(
        &self,
        reduced: &ReducedCore,
        x: DenseBuffer<'_>,
        DenseBufferMut { shape: y_shape, values: y }: DenseBufferMut<'_>,
    ) -> Result<Marker> {
        let (Some(cameras), Some(u)) = (&self.cameras, &reduced.damped_u) else {
            return Err(Error::Argument("these right-hand sides were prepared for a formed S".into()));
        };
        let work = &Work::new(self.z.device(), None);
        work.stage("multiply");
        let (shape, at_points) = (self.at_points(), &mut *self.at_points.take(work)?);
        let z = Stored::from(&reduced.z);
        self.z_transposed.run(
            work,
            z,
            x,
            Scaling::plain(self.element),
            DenseBufferMut { shape, values: &mut *at_points },
        )?;
        cameras.multiply(work, u, x, DenseBufferMut { shape: y_shape, values: &mut *y })?;
        let y = DenseBufferMut { shape: y_shape, values: y };
        self.z.run(work, z, DenseBuffer { shape, values: at_points }, self.subtracted(), y)?;
        Ok(work.marker())
    }

    /// Factors alpha and beta that subtract a product from the output.
    fn subtracted(&self) -> Scaling {
        Scaling::of(self.element, -1.0, 1.0)
    }

    /// The shape of the scratch matrix with a row for each coordinate of a point.
    fn at_points(&self) -> DenseShape {
        DenseShape::new(self.points * self.side, self.n, Layout::ByRows)
    }

    /// Solves for X = L⁻¹·B.
    fn solve_lower(&self, work: &Work, factor: &Buffer, b: DenseBuffer<'_>, x: DenseBufferMut<'_>) -> Result<()> {
        let ([b_row, b_col], [x_row, x_col]) = (steps(b.shape), steps(x.shape));
        let (b, x) = (b.values, x.values);
        let (points, columns) = (self.points as u32, self.n as u32);
        let args = SolveLower { factor, b, x, points, columns, b_row, b_col, x_row, x_col };
        self.lower.launch(work, self.grid(work), args)
    }

    fn grid(&self, work: &Work) -> Grid {
        Grid::items(self.points * self.n, work.device().info().elementwise_group())
    }
}

/// Strides in memory between neighbours in a column and in a row.
fn steps(shape: DenseShape) -> [u64; 2] {
    match shape.layout {
        Layout::ByRows => [shape.leading as u64, 1],
        Layout::ByColumns => [1, shape.leading as u64],
    }
}
