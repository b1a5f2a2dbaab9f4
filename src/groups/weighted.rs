//! JᵀWJ of a J made of groups, planned.
use super::{Cells, DeviceGroups, GramParts, Group, GroupsPattern, GroupsPlan, device::Arrays};
use crate::{
    DeviceMatrix, DevicePattern, DeviceVector, Error, Matrix, Result, Weights,
    device::Work,
    product::{
        Scaling,
        plan::{Weigh, block_diagonal},
    },
};
use std::sync::{Mutex, PoisonError};

/// H = JᵀWJ for a J of several groups and a block-diagonal W, prepared: what [`WeightedGram`](crate::WeightedGram) is to
/// [`Plan::gram`](crate::Plan::gram), this is to [`GroupsPlan::gram`].
///
/// First T = W·J, group by group, then JᵀT as the gram has it; the rules for sums are theirs, and
/// [`reference::gram_groups_weighted`](crate::reference::gram_groups_weighted) has the same bits.
///
/// ```
/// # fn main() -> blockmul::Result<()> {
/// use blockmul::{Cbc, Device, Part, WeightedGroupsGram, Weights, generate};
/// let device = Device::auto()?;
/// let j = generate::bundle_adjustment_jacobian(5, 40, 2, 9, Default::default(), 1)?;
/// let j = device.upload_groups(&j)?;
/// let plan = WeightedGroupsGram::<Cbc<f64>>::new(&j.pattern(), Part::Lower)?;
/// let mut h = plan.output()?;
/// let losses = device.upload_vector(&[0.5; 80])?; // one weight for each of 80 observations
/// plan.execute(&j, &[Weights::BlockRows(&losses)], &mut h)?; // weights for each group of rows
/// assert!(h.get(1, 0).is_some() && h.get(0, 1).is_none());
/// # Ok(())
/// # }
/// ```
pub struct WeightedGroupsGram<M: Matrix> {
    plan: GroupsPlan<M>,
    weights: Vec<DevicePattern>,
    /// Executions share the room for T, so that two threads take turns.
    weigh: Mutex<Cells<Weigh<M::Element>>>,
    bytes: u64,
}

impl<M: Matrix> WeightedGroupsGram<M> {
    /// For a J with this pattern.
    ///
    /// # Errors
    /// As [`GroupsPlan::gram`].
    pub fn new(j: &GroupsPattern, parts: impl Into<GramParts>) -> Result<Self> {
        let plan = GroupsPlan::gram(j, parts)?;
        let work = Work::new(j.device(), None);
        let diagonal = |group: &Group| block_diagonal(&work, group.blocks, group.side, M::ROW_MAJOR);
        let weights = j.row_groups().iter().map(diagonal).collect::<Result<Vec<_>>>()?;
        let weigh = j.cells.try_map_places(|(row, _), pattern| Weigh::new(&work, pattern, &weights[row]))?;
        let of_weights: u64 = weights.iter().map(DevicePattern::device_bytes).sum();
        let bytes = plan.device_bytes() + of_weights + weigh.iter().map(|(_, weigh)| weigh.bytes()).sum::<u64>();
        Ok(Self { plan, weights, weigh: Mutex::new(weigh), bytes })
    }

    /// A matrix with the pattern of H, its values 0, for executions to write.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn output(&self) -> Result<DeviceGroups<M>> {
        self.plan.output()
    }

    /// The patterns of W as block-diagonal matrices, one for each group of rows of J.
    pub fn weights_patterns(&self) -> &[DevicePattern] {
        &self.weights
    }

    /// H = JᵀWJ, with weights for each group of rows.
    ///
    /// Returns when it is enqueued: allocates nothing on the device and reads nothing back.
    ///
    /// # Errors
    /// [`Error::Argument`] when a matrix has another pattern than the plan; [`Error::Length`] for weights of more or fewer groups, or rows;
    /// [`Error::DeviceMismatch`]; [`Error::OpenCl`].
    pub fn execute(
        &self,
        j: &DeviceGroups<M>,
        weights: &[Weights<&DeviceMatrix<M>, &DeviceVector<M::Element>>],
        h: &mut DeviceGroups<M>,
    ) -> Result<()> {
        self.execute_scaled(1.0, j, weights, 0.0, h)
    }

    /// H = alpha·JᵀWJ + beta·H, scaled as [`GroupsPlan::execute_scaled`] does.
    ///
    /// # Errors
    /// As [`WeightedGroupsGram::execute`].
    pub fn execute_scaled(
        &self,
        alpha: f64,
        j: &DeviceGroups<M>,
        weights: &[Weights<&DeviceMatrix<M>, &DeviceVector<M::Element>>],
        beta: f64,
        h: &mut DeviceGroups<M>,
    ) -> Result<()> {
        let (found, expected) = (weights.len(), self.weights.len());
        if found != expected {
            let why = "one for each group of rows of J".into();
            return Err(Error::Length { array: "weights", found, expected, why });
        }
        self.plan.of_a().check("J", j)?;
        self.plan.pattern().check("H", h)?;
        let mut weigh = self.weigh.lock().unwrap_or_else(PoisonError::into_inner);
        for ((row, _), cell) in weigh.iter() {
            cell.check::<M>(&format!("W of group {row}"), weights[row])?;
        }
        let (work, arrays) = (Work::new(self.plan.pattern().device(), None), j.arrays());
        for ((row, col), cell) in weigh.iter_mut() {
            if let Some(j) = arrays.get(row, col) {
                cell.run::<M>(&work, j, weights[row])?;
            }
        }
        let t: Arrays<'_, M::Element> = weigh.map(|weigh| &weigh.t);
        self.plan.enqueue(&work, Scaling::new(alpha, beta), (&arrays, &t), h)
    }

    /// The pattern of H.
    pub fn pattern(&self) -> &GroupsPattern {
        self.plan.pattern()
    }

    /// Products of blocks of Jᵀ and of W·J in an execution, of all groups.
    pub fn products(&self) -> u64 {
        self.plan.products()
    }

    /// Floating-point operations of an execution with such weights, counted as [`WeightedGram::flops`](crate::WeightedGram::flops) does.
    /// Groups of rows that `weights` does not reach count nothing.
    pub fn flops<I, V>(&self, weights: &[Weights<I, V>]) -> u64 {
        let weigh = self.weigh.lock().unwrap_or_else(PoisonError::into_inner);
        let of_cell = |((row, _), cell): ((usize, usize), &Weigh<_>)| weights.get(row).map_or(0, |w| cell.flops(w));
        self.plan.flops() + weigh.iter().map(of_cell).sum::<u64>()
    }

    /// Bytes of device memory the plan holds, the room for W·J and the patterns of W and H included.
    pub fn device_bytes(&self) -> u64 {
        self.bytes
    }
}

impl<M: Matrix> std::fmt::Debug for WeightedGroupsGram<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WeightedGroupsGram({} bytes, {:?})", self.bytes, self.plan)
    }
}
