//! The steps of conjugate gradients on a device, without element types. Kernels:
//! `cl/solver/gradients.cl`.
use super::preconditioner::Inverses;
use crate::{
    Device, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Maybe, Options, Out, Sum, Work, arguments, kernel},
    element::ElementType,
    vector::{
        DOT_PIECE,
        columns::{self, add_pieces},
    },
};

arguments! {
    /// The sizes of the vectors, and the pieces of a work-group's share.
    struct InShares { rows: u32, cols: u32, pieces: u32, each: u32 }
}

kernel! {
    in "solver/gradients.cl":
    struct Curvatures = "curvatures" { p: In<Elem>, ap: In<Elem>, sums: Out<Sum>, shares: InShares<'static> }
    struct Residuals = "residuals" {
        before: In<Sum>,
        curvature: In<Sum>,
        ap: In<Elem>,
        m: Maybe<Sum>,
        r: InOut<Elem>,
        sums: Out<Sum>,
        turn: Out<Sum>,
        count: u32,
        shares: InShares<'static>,
    }
    struct Preconditioned = "preconditioned" { m: In<Sum>, r: In<Elem>, sums: Out<Sum>, shares: InShares<'static> }
    struct Directions = "directions" {
        before: In<Sum>,
        turn: In<Sum>,
        product: In<Sum>,
        enough: In<Sum>,
        m: Maybe<Sum>,
        r: In<Elem>,
        x: InOut<Elem>,
        p: InOut<Elem>,
        after: Out<Sum>,
        count: u32,
        shares: InShares<'static>,
    }
}

/// Number of shares of the pieces for each compute unit of a CPU. With many shares, the last to end
/// is a small part of the work.
const SHARES: usize = 8;

/// The kernels of a step, for vectors of one element type.
pub(super) struct StepKernels {
    curvatures: Kernel<Curvatures<'static>>,
    residuals: Kernel<Residuals<'static>>,
    /// Applies the inverses of blocks on the diagonal.
    preconditioned: Option<Kernel<Preconditioned<'static>>>,
    directions: Kernel<Directions<'static>>,
    /// Number of columns of a work-group.
    width: usize,
}

impl StepKernels {
    /// Requests the kernels for `cols` columns, and for a preconditioner with blocks of `side`
    /// rows. `side` is 0 if there is no preconditioner.
    pub fn new(device: &Device, element: ElementType, cols: usize, side: usize) -> Result<Self> {
        let width = if cols > 1 { columns::width(device) } else { 1 };
        let options = Options::group_size(group_size(device))
            .element(element)
            .exact_division(device.info(), element)
            .define("PIECE", DOT_PIECE)
            .define("WIDTH", width)
            .define("SIDE", side);
        Ok(Self {
            curvatures: Kernel::new(device, &options)?,
            residuals: Kernel::new(device, &options)?,
            preconditioned: (side > 1).then(|| Kernel::new(device, &options)).transpose()?,
            directions: Kernel::new(device, &options)?,
            width,
        })
    }
}

fn group_size(device: &Device) -> usize {
    device.info().serial_or(device.info().vector_group())
}

/// The state of a column, with the numbers that kernels use.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Fate {
    Works,
    Solved,
    Failed,
}

/// A column after a step.
pub(super) struct Progressed {
    /// The square of the residual's norm.
    pub square: f64,
    /// The curvature of the last direction: pᵀ·A·p.
    pub curvature: f64,
    pub fate: Fate,
}

/// The vectors of all columns, by rows without gaps.
pub(super) struct Vectors<'v> {
    pub x: &'v mut Buffer,
    pub r: &'v mut Buffer,
    pub p: &'v mut Buffer,
    pub ap: &'v Buffer,
}

/// The state of the columns between two steps, and the memory of a step.
pub(super) struct Steps<'k> {
    device: Device,
    kernels: &'k StepKernels,
    inverses: Option<&'k Inverses>,
    element: ElementType,
    rows: usize,
    cols: usize,
    pieces: usize,
    /// Number of pieces of a work-group.
    each: usize,
    curvature: Buffer,
    product: Buffer,
    turn: Buffer,
    enough: Buffer,
    before: Buffer,
    after: Buffer,
}

impl<'k> Steps<'k> {
    /// Reserves memory for vectors of `rows` elements, at least one, and for a column for each
    /// number in `enough`. A column is solved when the square of its residual is at most its
    /// number.
    pub fn new(
        work: &Work,
        kernels: &'k StepKernels,
        inverses: Option<&'k Inverses>,
        element: ElementType,
        rows: usize,
        enough: &[f64],
    ) -> Result<Self> {
        let (info, sum, cols) = (work.device().info(), element.arithmetic(), enough.len());
        let pieces = rows.div_ceil(DOT_PIECE);
        let kinds = if inverses.is_some() { 2 } else { 1 };
        let each = match group_size(work.device()) {
            1 => pieces.div_ceil(SHARES * info.compute_units as usize),
            _ => 1,
        };
        // In the first launch no column works, so that alpha is 0. The curvature is 1.
        let idle = [vec![0.0; 3 * cols], vec![f64::from(Fate::Solved as u8); cols]].concat();
        Ok(Self {
            device: work.device().clone(),
            kernels,
            inverses,
            element,
            rows,
            cols,
            pieces,
            each,
            curvature: work.upload_numbers(sum, &vec![1.0; cols])?,
            product: work.buffer_of(sum.word(), pieces * kinds * cols)?,
            turn: work.buffer_of(sum.word(), 2 * cols)?,
            enough: work.upload_numbers(sum, enough)?,
            before: work.upload_numbers(sum, &idle)?,
            after: work.buffer_of(sum.word(), 4 * cols)?,
        })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Makes the first directions from `r`; x, p and ap are 0.
    pub fn start(&mut self, work: &Work, vectors: Vectors<'_>) -> Result<()> {
        let Vectors { x, r, p, ap } = vectors;
        self.lower(work, ap, r)?;
        // The product of the step before the first is set to infinity, so that beta is 0.
        let cols = self.cols;
        let works = [vec![f64::INFINITY; cols], vec![0.0; 2 * cols], vec![f64::from(Fate::Works as u8); cols]].concat();
        work.write_numbers(&works, &mut self.before)?;
        self.direct(work, r, x, p)?;
        self.curvature = work.buffer_of(self.element.arithmetic().word(), self.pieces * cols)?;
        Ok(())
    }

    /// Enqueues a step, for an `ap` that is A·p.
    pub fn take(&mut self, work: &Work, vectors: Vectors<'_>) -> Result<()> {
        let Vectors { x, r, p, ap } = vectors;
        let (grid, shares) = (self.grid(), self.shares());
        let args = Curvatures { p, ap, sums: &mut self.curvature, shares };
        self.kernels.curvatures.launch(work, grid, args)?;
        self.lower(work, ap, r)?;
        self.direct(work, r, x, p)
    }

    /// Reads the columns after the last step, in the queue's order. Steps that are enqueued before
    /// the returned function is called run meanwhile.
    pub fn state<'w>(&self, work: &'w Work) -> Result<impl FnOnce() -> Result<Vec<Progressed>> + use<'w>> {
        let (later, cols) = (work.read_numbers_later(&self.before)?, self.cols);
        Ok(move || {
            let state = later()?;
            let fates = [Fate::Works, Fate::Solved, Fate::Failed];
            let of = |col| Progressed {
                square: state[cols + col],
                curvature: state[2 * cols + col],
                fate: fates[state[3 * cols + col] as usize],
            };
            Ok((0..cols).map(of).collect())
        })
    }

    fn shares<'a>(&self) -> InShares<'a> {
        let [rows, cols, pieces, each] = [self.rows, self.cols, self.pieces, self.each].map(|size| size as u32);
        InShares { rows, cols, pieces, each }
    }

    fn grid(&self) -> Grid {
        let chunks = self.cols.div_ceil(self.kernels.width);
        Grid::groups(self.pieces.div_ceil(self.each) * chunks, group_size(&self.device))
    }

    /// r -= alpha·A·p, and the products of r.
    fn lower(&mut self, work: &Work, ap: &Buffer, r: &mut Buffer) -> Result<()> {
        let (grid, shares) = (self.grid(), self.shares());
        let m = self.inverses.map(|inverses| &inverses.rows);
        let fewer = few_sums(work, &self.curvature, self.cols)?;
        let curvature = fewer.as_ref().unwrap_or(&self.curvature);
        let count = (curvature.len() / self.cols) as u32;
        let (before, turn, sums) = (&self.before, &mut self.turn, &mut self.product);
        let args = Residuals { before, curvature, ap, m, r, sums, turn, count, shares };
        self.kernels.residuals.launch(work, grid, args)?;
        if let (Some(kernel), Some(m)) = (&self.kernels.preconditioned, m) {
            let (shares, sums) = (self.shares(), &mut self.product);
            kernel.launch(work, grid, Preconditioned { m, r, sums, shares })?;
        }
        Ok(())
    }

    /// x += alpha·p, p = z + beta·p, and the state after the step.
    fn direct(&mut self, work: &Work, r: &Buffer, x: &mut Buffer, p: &mut Buffer) -> Result<()> {
        let (grid, shares) = (self.grid(), self.shares());
        let m = self.inverses.map(|inverses| &inverses.rows);
        let sums_of_piece = self.product.len() / self.pieces;
        let fewer = few_sums(work, &self.product, sums_of_piece)?;
        let product = fewer.as_ref().unwrap_or(&self.product);
        let count = (product.len() / sums_of_piece) as u32;
        let (before, turn, enough, after) = (&self.before, &self.turn, &self.enough, &mut self.after);
        let args = Directions { before, turn, product, enough, m, r, x, p, after, count, shares };
        self.kernels.directions.launch(work, grid, args)?;
        std::mem::swap(&mut self.before, &mut self.after);
        Ok(())
    }
}

/// Adds up the sums of pieces, `cols` for each, until a work-group can add up the rest; `None` if a
/// work-group can add up all.
fn few_sums(work: &Work, sums: &Buffer, cols: usize) -> Result<Option<Buffer>> {
    let mut fewer = None;
    while fewer.as_ref().unwrap_or(sums).len() > DOT_PIECE * cols {
        fewer = Some(add_pieces(work, fewer.as_ref().unwrap_or(sums), cols)?);
    }
    Ok(fewer)
}
