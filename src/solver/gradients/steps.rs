//! The steps of conjugate gradients on a device, without element types. Kernels:
//! `cl/solver/gradients.cl`.
use super::preconditioner::Inverses;
use crate::{
    Device, Result,
    device::{Buffer, Elem, Grid, In, InOut, Kernel, Maybe, Options, Out, Sum, Work, kernel},
    element::ElementType,
    matrix::DenseShape,
    vector::{
        DOT_PIECE,
        columns::{self, add_pieces},
    },
};
use std::mem;

kernel! {
    struct Step = "take_step" in "solver/gradients.cl" {
        before: In<Sum>,
        enough: In<Sum>,
        m: Maybe<Sum>,
        curvature: InOut<Sum>,
        product: InOut<Sum>,
        turn: InOut<Sum>,
        p: InOut<Elem>,
        ap: InOut<Elem>,
        r: InOut<Elem>,
        x: InOut<Elem>,
        after: Out<Sum>,
        count: u32,
        rows: u32,
        cols: u32,
        pieces: u32,
        each: u32,
    }
}

// The bits of PHASES.
const CURVATURES: u32 = 1;
const RESIDUALS: u32 = 2;
const PRECONDITION: u32 = 4;
const DIRECTIONS: u32 = 8;

/// Number of shares of the pieces for each compute unit of a CPU. With many shares, the last to end
/// is a small part of the work.
const SHARES: usize = 8;

/// Maximum number of pieces that are one share on a CPU, counted for every column of a work-group.
/// One share takes all phases of a step in one launch. A launch of two threads takes as long as 16
/// pieces.
const FEW_PIECES: usize = 16;

/// The kernels of a step, for vectors of one element type and shape.
pub(super) struct StepKernels {
    /// The launches of a step, in their order. If there is one share, one launch takes all phases.
    launches: Vec<Launch>,
    element: ElementType,
    rows: usize,
    cols: usize,
    /// Number of columns of a work-group.
    width: usize,
    pieces: usize,
    /// Number of pieces of a work-group.
    each: usize,
}

struct Launch {
    phases: u32,
    kernel: Kernel<Step<'static>>,
}

impl StepKernels {
    /// Requests the kernels for vectors of this shape, and for a preconditioner with blocks of
    /// `side` rows. `side` is 0 if there is no preconditioner.
    pub fn new(device: &Device, element: ElementType, shape: DenseShape, side: usize) -> Result<Self> {
        let DenseShape { rows, cols, .. } = shape;
        let (group_size, units) = (group_size(device), device.info().compute_units as usize);
        let width = if cols > 1 { columns::width(device) } else { 1 };
        let pieces = rows.div_ceil(DOT_PIECE);
        let each = match group_size {
            1 if pieces * width.min(cols) <= FEW_PIECES => pieces,
            1 => pieces.div_ceil(SHARES * units),
            _ => 1,
        };
        let options = Options::group_size(group_size)
            .element(element)
            .exact_division(device.info(), element)
            .define("PIECE", DOT_PIECE)
            .define("WIDTH", width)
            .define("SIDE", side);
        let launch = |phases: u32| {
            let options = options.clone().define("PHASES", phases);
            Ok(Launch { phases, kernel: Kernel::new(device, &options)? })
        };
        let phases = [CURVATURES, RESIDUALS, PRECONDITION, DIRECTIONS];
        let phases = phases.into_iter().filter(|&phase| phase != PRECONDITION || side > 1);
        let launches = match each < pieces {
            true => phases.map(launch).collect::<Result<_>>()?,
            false => vec![launch(phases.sum())?],
        };
        Ok(Self { launches, element, rows, cols, width, pieces, each })
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
    /// It has no direction yet.
    Starts,
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
    /// A step overwrites it if the preconditioner has blocks.
    pub ap: &'v mut Buffer,
}

/// The state of the columns between two steps, and the memory of a step.
pub(super) struct Steps<'k> {
    device: Device,
    kernels: &'k StepKernels,
    inverses: Option<&'k Inverses>,
    curvature: Buffer,
    product: Buffer,
    turn: Buffer,
    enough: Buffer,
    before: Buffer,
    after: Buffer,
}

impl<'k> Steps<'k> {
    /// Reserves memory for vectors with at least one row. A column is solved when the square of its
    /// residual is at most its number in `enough`.
    pub fn new(work: &Work, kernels: &'k StepKernels, inverses: Option<&'k Inverses>, enough: &[f64]) -> Result<Self> {
        let StepKernels { cols, pieces, .. } = *kernels;
        let sum = kernels.element.arithmetic();
        let kinds = if inverses.is_some() { 2 } else { 1 };
        // The product before the first is infinite, so that beta is 0.
        let starts = [vec![f64::INFINITY; cols], vec![0.0; 2 * cols], vec![f64::from(Fate::Starts as u8); cols]];
        Ok(Self {
            device: work.device().clone(),
            kernels,
            inverses,
            curvature: work.buffer_of(sum.word(), pieces * cols)?,
            product: work.buffer_of(sum.word(), pieces * kinds * cols)?,
            turn: work.buffer_of(sum.word(), 2 * cols)?,
            enough: work.upload_numbers(sum, enough)?,
            before: work.upload_numbers(sum, &starts.concat())?,
            after: work.buffer_of(sum.word(), 4 * cols)?,
        })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Enqueues a step, for an `ap` that is A·p. The first step makes the first directions from r;
    /// x, p and ap are 0 before it.
    pub fn take(&mut self, work: &Work, mut vectors: Vectors<'_>) -> Result<()> {
        let kernels = self.kernels;
        kernels.launches.iter().try_for_each(|launch| self.launch(work, launch, &mut vectors))?;
        mem::swap(&mut self.before, &mut self.after);
        Ok(())
    }

    /// Reads the columns after the last step, in the queue's order. Steps that are enqueued before
    /// the returned function is called run meanwhile.
    pub fn state<'w>(&self, work: &'w Work) -> Result<impl FnOnce() -> Result<Vec<Progressed>> + use<'w>> {
        let (later, cols) = (work.read_numbers_later(&self.before)?, self.kernels.cols);
        Ok(move || {
            let state = later()?;
            let fates = [Fate::Works, Fate::Solved, Fate::Failed, Fate::Starts];
            let of = |col| Progressed {
                square: state[cols + col],
                curvature: state[2 * cols + col],
                fate: fates[state[3 * cols + col] as usize],
            };
            Ok((0..cols).map(of).collect())
        })
    }

    fn launch(&mut self, work: &Work, launch: &Launch, vectors: &mut Vectors<'_>) -> Result<()> {
        let StepKernels { rows, cols, width, pieces, each, .. } = *self.kernels;
        let grid = Grid::groups(pieces.div_ceil(each) * cols.div_ceil(width), group_size(&self.device));
        // Each phase adds up the sums of the phase before.
        let sums = |sums: &Buffer| few_sums(work, sums, sums.len() / pieces);
        let (mut curvature, mut product) = match launch.phases {
            RESIDUALS => (sums(&self.curvature)?, None),
            DIRECTIONS => (None, sums(&self.product)?),
            _ => (None, None),
        };
        let count = match (&curvature, &product) {
            (Some(few), _) => few.len() * pieces / self.curvature.len(),
            (_, Some(few)) => few.len() * pieces / self.product.len(),
            _ => pieces,
        };
        let [count, rows, cols, pieces, each] = [count, rows, cols, pieces, each].map(|size| size as u32);
        let args = Step {
            before: &self.before,
            enough: &self.enough,
            m: self.inverses.map(|inverses| &inverses.columns),
            curvature: curvature.as_mut().unwrap_or(&mut self.curvature),
            product: product.as_mut().unwrap_or(&mut self.product),
            turn: &mut self.turn,
            p: vectors.p,
            ap: vectors.ap,
            r: vectors.r,
            x: vectors.x,
            after: &mut self.after,
            count,
            rows,
            cols,
            pieces,
            each,
        };
        launch.kernel.launch(work, grid, args)
    }
}

/// Adds up the sums of pieces, `cols` for each, until a work-group can add up the rest, or returns
/// `None` if a work-group can add up all.
fn few_sums(work: &Work, sums: &Buffer, cols: usize) -> Result<Option<Buffer>> {
    let mut fewer = None;
    while fewer.as_ref().unwrap_or(sums).len() > DOT_PIECE * cols {
        fewer = Some(add_pieces(work, fewer.as_ref().unwrap_or(sums), cols)?);
    }
    Ok(fewer)
}
