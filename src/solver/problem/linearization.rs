//! A least-squares problem linearised: the matrices a solver multiplies.
use super::rows::{CellValues, Row, write_rows};
use crate::{BlockGroups, Bsr, Device, DeviceGroups, DeviceMatrix, DeviceVector, Error, Group, Result, Weights};

/// A nonlinear least-squares problem whose unknowns come in one or two groups: cameras and points, poses and landmarks.
///
/// The cost is half the sum of ρ(eᵀWe) over all measurements, ρ a [`Loss`](super::Loss).
pub trait LeastSquares: Sync {
    /// Values of all that is unknown, and of what is fixed.
    type State: Clone + Send + Sync;

    /// The state that the problem came with.
    fn start(&self) -> Self::State;

    /// The pattern of J with room for its values on `device`, and the information matrices.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Unsupported`] without double precision.
    fn prepare(&self, device: &Device) -> Result<Linearization>;

    /// Writes J and W·e of `state`, evaluated on all threads, straight into the arrays on the device; gives back the cost.
    ///
    /// # Errors
    /// [`Error::Argument`] for a linearization of other sizes, [`Error::OpenCl`], [`Error::Memory`].
    fn linearize(&self, state: &Self::State, to: &mut Linearization) -> Result<f64>;

    /// The cost of `state`; the same bits as [`LeastSquares::linearize`] gives.
    fn cost(&self, state: &Self::State) -> f64;

    /// `state` after a step: a vector of numbers for each group of unknowns, in the order of J's columns.
    ///
    /// # Errors
    /// [`Error::Length`] for a vector that is not of all of them.
    fn moved(&self, state: &Self::State, step: &[Vec<f64>]) -> Result<Self::State>;

    /// How large a state is, for steps to be compared with: the length of all parameters of a bundle adjustment, of all positions of a graph.
    fn norm(&self, state: &Self::State) -> f64;
}

/// J and W·e at a state, on a device: H = JᵀWJ, and the gradient of the cost is Jᵀ·(W·e).
///
/// J is row-major: a row of blocks for each measurement, groups of rows by groups of unknowns. Unknowns are numbered as
/// [`LeastSquares::moved`] takes their steps.
pub struct Linearization {
    pub(super) jacobian: DeviceGroups<Bsr<f64>>,
    pub(super) weighted: Vec<DeviceVector<f64>>,
    pub(super) information: Vec<DeviceMatrix<Bsr<f64>>>,
    pub(super) robust: Vec<DeviceVector<f64>>,
    /// Beginnings of the rows of each cell there is.
    pub(super) row_ptr: Vec<Vec<u64>>,
}

/// The weights of a group of rows, on a device.
pub type RowWeights<'a> = Weights<&'a DeviceMatrix<Bsr<f64>>, &'a DeviceVector<f64>>;

impl Linearization {
    /// For a J of this pattern and, where `information` has any, a block-diagonal W of each group of rows; with room for a weight of each row
    /// where `robust`. A problem of your own writes its values by [`Linearization::jacobian_mut`] and its like.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Unsupported`] without double precision.
    pub fn new(
        device: &Device,
        jacobian: BlockGroups<Bsr<f64>>,
        information: Vec<Bsr<f64>>,
        robust: bool,
    ) -> Result<Self> {
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
        })
    }

    /// J.
    pub fn jacobian(&self) -> &DeviceGroups<Bsr<f64>> {
        &self.jacobian
    }

    /// The same, to be written.
    pub fn jacobian_mut(&mut self) -> &mut DeviceGroups<Bsr<f64>> {
        &mut self.jacobian
    }

    /// For each group of rows what Jᵀ makes the gradient of: W·e with the weights of the loss, or √w·e where J is √w·J.
    pub fn weighted_residuals(&self) -> &[DeviceVector<f64>] {
        &self.weighted
    }

    /// The same, to be written.
    pub fn weighted_residuals_mut(&mut self) -> &mut [DeviceVector<f64>] {
        &mut self.weighted
    }

    /// The weights of a robust loss, for each group of rows; to be written. None where there is no such loss, or J has them.
    pub fn robust_weights_mut(&mut self) -> &mut [DeviceVector<f64>] {
        &mut self.robust
    }

    /// Refuses one of other sizes.
    pub(super) fn check(&self, rows: &[Group], cols: &[Group]) -> Result<()> {
        let have = (self.jacobian.row_groups(), self.jacobian.col_groups());
        match have == (rows, cols) {
            true => Ok(()),
            false => {
                Err(Error::Argument(format!("the linearization of another problem: {have:?}, not {:?}", (rows, cols))))
            }
        }
    }

    /// W of each group of rows, for a a weighted [`Product::gram`](crate::Product::gram); `None` where J has been multiplied by its root, so that H = JᵀJ.
    pub fn weights(&self) -> Option<Vec<RowWeights<'_>>> {
        let of = |(row, information)| match self.robust.get(row) {
            Some(weights) => Weights::Scaled { information, weights },
            None => Weights::Information(information),
        };
        (!self.information.is_empty()).then(|| self.information.iter().enumerate().map(of).collect())
    }

    /// The device it lives on.
    pub fn device(&self) -> &Device {
        self.jacobian.device()
    }
}

/// The cells of one group of rows, ready to be written, and the vectors that go with it.
pub(super) struct GroupRows<'a, const CELLS: usize> {
    pub cells: [CellValues<'a>; CELLS],
    pub weighted: &'a mut DeviceVector<f64>,
    pub robust: Option<&'a mut DeviceVector<f64>>,
    pub rows: usize,
}

impl<const CELLS: usize> GroupRows<'_, CELLS> {
    /// As [`write_rows`], to the device.
    pub fn write(self, write: impl Fn(usize, Row<'_, CELLS>) -> f64 + Sync) -> Result<f64> {
        let Self { cells, weighted, robust, rows } = self;
        weighted.write_with(|weighted| match robust {
            None => Ok(write_rows(cells, weighted, None, rows, write)),
            Some(robust) => robust.write_with(|weights| write_rows(cells, weighted, Some(weights), rows, write)),
        })?
    }
}

impl std::fmt::Debug for Linearization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Linearization(J: {:?})", self.jacobian)
    }
}
