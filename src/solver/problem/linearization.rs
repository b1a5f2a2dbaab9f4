//! A linearised least-squares problem: the matrices that a solver multiplies.
use super::rows::{CellValues, Row, RowCost, write_rows};
use crate::{BlockGroups, Bsr, Device, DeviceGroups, DeviceMatrix, DeviceVector, Error, Group, Result, Weights};

/// A nonlinear least-squares problem with one or two groups of unknowns: cameras and points, or
/// poses and landmarks.
///
/// A problem should have its most numerous unknowns, each of which occurs in few measurements, in
/// the second group. A solver may eliminate the second group, so each row of blocks may touch at
/// most one unknown of this group. A third kind of unknowns can be split into blocks of the size of
/// the first group, and added to the first group.
///
/// The cost is half the sum of ρ(eᵀWe) over all measurements, where e is a residual, W its
/// information matrix, and ρ a [`Loss`](super::Loss).
pub trait LeastSquares: Sync {
    /// Values of all unknowns and of everything that is held fixed.
    type State: Clone + Send + Sync;

    /// The initial state of the problem.
    fn start(&self) -> Self::State;

    /// The pattern of J with memory for its values on `device`, and the information matrices.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Unsupported`] without double precision.
    fn prepare(&self, device: &Device) -> Result<Linearization>;

    /// Evaluates J and W·e of `state` on all threads and writes them directly to the arrays on the
    /// device. Returns the cost. If the problem also writes [`Linearization::row_costs_mut`], a
    /// solver can find and name a row whose cost hides the costs of all other rows.
    ///
    /// # Errors
    /// [`Error::Argument`] for a linearization of other sizes, [`Error::OpenCl`],
    /// [`Error::Memory`].
    fn linearize(&self, state: &Self::State, to: &mut Linearization) -> Result<f64>;

    /// The cost of `state`, with the same bits as the result of [`LeastSquares::linearize`].
    fn cost(&self, state: &Self::State) -> f64;

    /// Returns `state` after a step. The step has a vector for each group of unknowns, with numbers
    /// in the order of J's columns.
    ///
    /// # Errors
    /// [`Error::Length`] for a vector of another length than its group of unknowns.
    fn moved(&self, state: &Self::State, step: &[Vec<f64>]) -> Result<Self::State>;

    /// Checks that steps need no damping. `solver::least_squares::minimize` (feature `faer`)
    /// calls this function before Gauss-Newton steps. By default all problems pass.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the measurements leave the unknowns free to
    /// move. The message says what to hold fixed.
    fn check_undamped(&self) -> Result<()> {
        Ok(())
    }
}

/// The Jacobian J and the weighted residuals W·e at a state, on a device. The Hessian H is JᵀWJ,
/// and the gradient of the cost is Jᵀ·(W·e).
///
/// J is row-major and has a row of blocks for each measurement. J consists of cells, one for each
/// group of rows and each group of unknowns. Unknowns are numbered as in the steps of
/// [`LeastSquares::moved`].
pub struct Linearization {
    pub(super) jacobian: DeviceGroups<Bsr<f64>>,
    pub(super) weighted: Vec<DeviceVector<f64>>,
    pub(super) information: Vec<DeviceMatrix<Bsr<f64>>>,
    pub(super) robust: Vec<DeviceVector<f64>>,
    /// Row offsets of each cell that exists.
    pub(super) row_ptr: Vec<Vec<u64>>,
    pub(super) row_costs: Vec<RowCost>,
}

/// The weights of a group of rows, on a device.
pub type RowWeights<'a> = Weights<&'a DeviceMatrix<Bsr<f64>>, &'a DeviceVector<f64>>;

impl Linearization {
    /// Prepares memory for a J of this pattern. If `information` is not empty, W is block-diagonal
    /// for each group of rows. If `robust` is true, each row has a weight. A problem that you
    /// define writes its values through [`Linearization::jacobian_mut`] and the other methods whose
    /// names end in `_mut`.
    ///
    /// # Errors
    /// [`Error::Argument`] for more than two groups of unknowns, for an unknown that no row
    /// touches, and for a row that touches two unknowns of the second group; [`Error::Memory`],
    /// [`Error::Unsupported`] without double precision.
    pub fn new(
        device: &Device,
        jacobian: BlockGroups<Bsr<f64>>,
        information: Vec<Bsr<f64>>,
        robust: bool,
    ) -> Result<Self> {
        check_groups(jacobian.col_groups().len())?;
        check_measured(&jacobian)?;
        check_second(&jacobian)?;
        let rows = jacobian.row_groups().to_vec();
        let of = |length: fn(&Group) -> usize| -> Result<Vec<_>> {
            rows.iter().map(|group| device.zero_vector(length(group))).collect()
        };
        Ok(Self {
            weighted: of(|group| group.scalars())?,
            robust: if robust { of(|group| group.blocks)? } else { Vec::new() },
            information: information.iter().map(|w| device.upload(w)).collect::<Result<_>>()?,
            jacobian: device.upload_groups(&jacobian)?,
            row_ptr: jacobian.into_cells().into_iter().flatten().map(|cell| cell.row_ptr().to_vec()).collect(),
            row_costs: Vec::new(),
        })
    }

    /// J.
    pub fn jacobian(&self) -> &DeviceGroups<Bsr<f64>> {
        &self.jacobian
    }

    /// Mutable access to J.
    pub fn jacobian_mut(&mut self) -> &mut DeviceGroups<Bsr<f64>> {
        &mut self.jacobian
    }

    /// For each group of rows, the vector that Jᵀ maps to the gradient. This vector is W·e
    /// including the weights of the loss; or √w·e, if the rows of J are multiplied by the roots √w
    /// of their weights.
    pub fn weighted_residuals(&self) -> &[DeviceVector<f64>] {
        &self.weighted
    }

    /// Mutable access to [`Linearization::weighted_residuals`].
    pub fn weighted_residuals_mut(&mut self) -> &mut [DeviceVector<f64>] {
        &mut self.weighted
    }

    /// Mutable access to the weights of a robust loss for each group of rows. The slice is empty if
    /// there is no robust loss, or if J includes the weights.
    pub fn robust_weights_mut(&mut self) -> &mut [DeviceVector<f64>] {
        &mut self.robust
    }

    /// Number of rows of blocks in all groups of rows.
    fn rows(&self) -> usize {
        self.jacobian.row_groups().iter().map(|group| group.blocks).sum()
    }

    /// The costs of the rows of blocks, through all groups of rows, without the factor 1/2. The
    /// slice is empty if the problem does not write the costs.
    pub fn row_costs(&self) -> &[RowCost] {
        &self.row_costs
    }

    /// Mutable access to [`Linearization::row_costs`]. Each linearization must write the costs of
    /// all rows.
    pub fn row_costs_mut(&mut self) -> &mut [RowCost] {
        self.row_costs.resize(self.rows(), RowCost::default());
        &mut self.row_costs
    }

    /// Swaps the costs of the rows with the costs of another state, or with an empty vector.
    #[cfg(feature = "faer")]
    pub(crate) fn swap_row_costs(&mut self, other: &mut Vec<RowCost>) {
        std::mem::swap(&mut self.row_costs, other);
    }

    /// Whether each row of blocks touches an unknown, for the rows of all groups.
    #[cfg(feature = "faer")]
    pub(crate) fn touching(&self) -> Vec<bool> {
        let mut row_ptrs = self.row_ptr.iter();
        let mut touching = Vec::with_capacity(self.rows());
        for (row, group) in self.jacobian.row_groups().iter().enumerate() {
            let cells = (0..self.jacobian.col_groups().len()).filter(|&col| self.jacobian.get(row, col).is_some());
            let cells: Vec<&Vec<u64>> = cells.zip(&mut row_ptrs).map(|(_, row_ptr)| row_ptr).collect();
            touching.extend((0..group.blocks).map(|row| cells.iter().any(|row_ptr| row_ptr[row] < row_ptr[row + 1])));
        }
        touching
    }

    /// Refuses a linearization whose groups of rows or unknowns have other sizes.
    pub(super) fn check(&self, rows: &[Group], cols: &[Group]) -> Result<()> {
        let have = (self.jacobian.row_groups(), self.jacobian.col_groups());
        match have == (rows, cols) {
            true => Ok(()),
            false => {
                Err(Error::Argument(format!("the linearization of another problem: {have:?}, not {:?}", (rows, cols))))
            }
        }
    }

    /// W of each group of rows, for a weighted [`Product::gram`](crate::Product::gram), or `None`
    /// if J is multiplied by the root of W, so that H = JᵀJ.
    pub fn weights(&self) -> Option<Vec<RowWeights<'_>>> {
        let of = |(row, information)| match self.robust.get(row) {
            Some(weights) => Weights::Scaled { information, weights },
            None => Weights::Information(information),
        };
        (!self.information.is_empty()).then(|| self.information.iter().enumerate().map(of).collect())
    }

    /// The device that holds the matrices.
    pub fn device(&self) -> &Device {
        self.jacobian.device()
    }
}

/// Refuses a number of groups of unknowns that the solvers do not support.
pub(in crate::solver) fn check_groups(groups: usize) -> Result<()> {
    let what = match groups {
        0 => return Err(Error::Argument("the problem has no unknowns".into())),
        1 | 2 => return Ok(()),
        3 => {
            "three groups of unknowns: one or two are solved; put the third into the first as blocks of its size".into()
        }
        _ => format!(
            "{groups} groups of unknowns: one or two are solved; put the others into the first as blocks of its size"
        ),
    };
    Err(Error::Argument(what))
}

/// Refuses an unknown that no row touches.
fn check_measured(jacobian: &BlockGroups<Bsr<f64>>) -> Result<()> {
    for (group, unknowns) in jacobian.col_groups().iter().enumerate() {
        let mut measured = vec![false; unknowns.blocks];
        let cells = (0..jacobian.row_groups().len()).filter_map(|rows| jacobian.get(rows, group));
        cells.flat_map(|cell| cell.col_idx()).for_each(|&unknown| measured[unknown as usize] = true);
        if let Some(unknown) = measured.iter().position(|measured| !measured) {
            return Err(Error::Argument(format!(
                "unknown {unknown} of group {group} has no measurement: no row of J touches it, so leave it out"
            )));
        }
    }
    Ok(())
}

/// Refuses a row that touches two unknowns of the second group.
fn check_second(jacobian: &BlockGroups<Bsr<f64>>) -> Result<()> {
    let cells = (0..jacobian.row_groups().len()).filter_map(|rows| Some((rows, jacobian.get(rows, 1)?)));
    for (rows, cell) in cells {
        if let Some(row) = cell.row_ptr().windows(2).position(|ends| ends[1] - ends[0] > 1) {
            let first = cell.row_ptr()[row] as usize;
            let (one, other) = (cell.col_idx()[first], cell.col_idx()[first + 1]);
            return Err(Error::Argument(format!(
                "row {row} of group {rows} touches unknowns {one} and {other} of the second group, of which a row touches \
                 at most one: put them into the first group, as blocks of its size"
            )));
        }
    }
    Ok(())
}

/// The cells of one group of rows and the vectors of these rows, ready to be written.
pub(super) struct GroupRows<'a, const CELLS: usize> {
    pub cells: [CellValues<'a>; CELLS],
    pub weighted: &'a mut DeviceVector<f64>,
    pub robust: Option<&'a mut DeviceVector<f64>>,
    pub costs: &'a mut [RowCost],
}

impl<const CELLS: usize> GroupRows<'_, CELLS> {
    /// Writes all rows to the device, as [`write_rows`] does.
    pub fn write(self, write: impl Fn(usize, Row<'_, CELLS>) -> RowCost + Sync) -> Result<f64> {
        let Self { cells, weighted, robust, costs } = self;
        weighted.write_with(|weighted| match robust {
            None => Ok(write_rows(cells, weighted, None, costs, write)),
            Some(robust) => robust.write_with(|weights| write_rows(cells, weighted, Some(weights), costs, write)),
        })?
    }
}

impl std::fmt::Debug for Linearization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Linearization(J: {:?})", self.jacobian)
    }
}
