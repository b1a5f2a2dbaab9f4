//! Products of matrices of groups, planned: a [`Plan`] for each pair of groups that meet.
use super::{
    Cells, DeviceGroups, GroupsPattern,
    cell::{CellPlan, Side},
    device::{Arrays, of_pattern, told},
    sum::GroupSum,
};
use crate::{
    Device, Element, Error, Matrix, Part, Plan, Result,
    device::{Buffer, Work},
    product::{Room, Scaling},
};
use std::sync::{Mutex, PoisonError};

/// What of JᵀJ is made when J has several groups of columns.
///
/// With J = [J_camera | J_point]: U = JcᵀJc and V = JpᵀJp are the diagonal groups, W = JcᵀJp stands above and Wᵀ below. A [`Part`] stands for
/// itself in both places: of `Part::Lower` is made exactly what JᵀJ has on and below its diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GramParts {
    /// What of the diagonal groups.
    pub diagonal: Part,
    /// Which of the groups beside the diagonal, each of them whole.
    pub between: Part,
}

impl From<Part> for GramParts {
    fn from(part: Part) -> Self {
        Self { diagonal: part, between: part }
    }
}

impl GramParts {
    /// What is made of the group at (`row`, `col`).
    pub(crate) fn of(self, row: usize, col: usize) -> Option<Part> {
        let made = match self.between {
            Part::Full => true,
            Part::Lower => row > col,
            Part::Upper => row < col,
        };
        if row == col { Some(self.diagonal) } else { made.then_some(Part::Full) }
    }
}

/// A product of two matrices of groups whose patterns stay the same, prepared: as [`Plan`], for [`DeviceGroups`].
///
/// C(g, h) is the sum over the inner groups k of A(g, k)·B(k, h), wherever at least one k has both, on the union of the products' patterns.
/// Each product is summed by itself, as [`Plan`] does it, and rounded to the element type; then the products are added in ascending k and
/// the sum is rounded. Where only one k has both there is nothing to add. [`reference::multiply_groups`](crate::reference::multiply_groups) and
/// [`reference::gram_groups`](crate::reference::gram_groups) have the same bits.
pub struct GroupsPlan<M: Matrix> {
    a: GroupsPattern,
    b: GroupsPattern,
    c: GroupsPattern,
    products: u64,
    flops: u64,
    bytes: u64,
    /// Executions share room, so that two threads take turns.
    state: Mutex<State<M>>,
}

struct State<M: Matrix> {
    cells: Vec<CellPlan<M>>,
    /// Products that are yet to be added: those of one cell at a time, one after another, without padding.
    parts: Buffer<M::Element>,
}

impl<M: Matrix> GroupsPlan<M> {
    /// C = A·B.
    ///
    /// # Errors
    /// [`Error::Argument`] when the groups of A's columns are not those of B's rows; as [`Plan::multiply`].
    pub fn multiply(a: &GroupsPattern, b: &GroupsPattern) -> Result<Self> {
        Self::new((a, false), (b, false), |_, _| Some(Part::Full))
    }

    /// C = Aᵀ·B, without forming Aᵀ.
    ///
    /// # Errors
    /// As [`GroupsPlan::multiply`], of A's rows.
    pub fn multiply_transposed(a: &GroupsPattern, b: &GroupsPattern) -> Result<Self> {
        Self::new((a, true), (b, false), |_, _| Some(Part::Full))
    }

    /// C = JᵀJ or parts of it, without forming Jᵀ. Execute with J twice.
    ///
    /// `Part::Lower` takes k(k+1)/2 block products for each row of J that has k blocks, whatever their groups.
    ///
    /// # Errors
    /// As [`GroupsPlan::multiply`].
    pub fn gram(j: &GroupsPattern, parts: impl Into<GramParts>) -> Result<Self> {
        let parts = parts.into();
        Self::new((j, true), (j, false), |row, col| parts.of(row, col))
    }

    /// The cells of op(A)·op(B) that `wanted` gives a part of.
    fn new(
        (a, a_transposed): (&GroupsPattern, bool),
        (b, b_transposed): (&GroupsPattern, bool),
        wanted: impl Fn(usize, usize) -> Option<Part>,
    ) -> Result<Self> {
        let name = |device: &Device| device.info().name.clone();
        if !a.device.same_as(&b.device) {
            return Err(Error::DeviceMismatch { a: name(&a.device), b: name(&b.device) });
        }
        let left = Side { pattern: a, transposed: a_transposed };
        let right = Side { pattern: b, transposed: b_transposed };
        if left.cols() != right.rows() {
            let (cols, rows) = (told(left.cols()), told(right.rows()));
            return Err(Error::Argument(format!(
                "cannot multiply: A has blocks in groups of {cols} columns, B in groups of {rows} rows"
            )));
        }
        let work = Work::new(&a.device, None);
        for (row, col) in (0..left.rows().len()).flat_map(|row| (0..right.cols().len()).map(move |col| (row, col))) {
            wanted(row, col).map_or(Ok(()), |part| CellPlan::<M>::ask(left, right, (row, col), part))?;
        }
        let (mut cells, mut patterns) = (Vec::new(), Vec::new());
        for row in 0..left.rows().len() {
            for col in 0..right.cols().len() {
                let part = wanted(row, col);
                let cell = part.map(|part| CellPlan::new(&work, left, right, (row, col), part)).transpose()?.flatten();
                patterns.push(cell.as_ref().map(CellPlan::pattern));
                cells.extend(cell);
            }
        }
        let grid = Cells::new(left.rows().to_vec(), right.cols().to_vec(), patterns, of_pattern)?;
        let c = GroupsPattern { cells: grid, device: a.device.clone() };
        let parts = work.buffer(cells.iter().map(CellPlan::parts).max().unwrap_or(0))?;
        let total =
            |of: fn(&Plan<M>) -> u64| cells.iter().flat_map(|cell| &cell.terms).map(|term| of(&term.plan)).sum();
        let sums: u64 = cells.iter().filter_map(|cell| cell.sum.as_ref()).map(GroupSum::bytes).sum();
        let (products, flops) = (total(Plan::products), total(Plan::flops));
        let bytes = total(Plan::device_bytes) + sums + parts.bytes();
        Ok(Self { a: a.clone(), b: b.clone(), c, products, flops, bytes, state: Mutex::new(State { cells, parts }) })
    }

    /// A matrix with the pattern of C, its values 0, for executions to write.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn output(&self) -> Result<DeviceGroups<M>> {
        DeviceGroups::zeros(&self.c)
    }

    /// C = op(A)·op(B).
    ///
    /// Returns when it is enqueued, as [`Plan::execute`] does: allocates nothing on the device and reads nothing back.
    ///
    /// # Errors
    /// [`Error::Argument`] when a matrix has another pattern than the plan, [`Error::OpenCl`].
    pub fn execute(&self, a: &DeviceGroups<M>, b: &DeviceGroups<M>, c: &mut DeviceGroups<M>) -> Result<()> {
        self.execute_scaled(1.0, a, b, 0.0, c)
    }

    /// C = alpha·op(A)·op(B) + beta·C. Where beta is 0, what C held does not matter.
    ///
    /// Each sum is multiplied by alpha once it is complete, those over several groups after the last; the numbers are rounded to the
    /// element's arithmetic type.
    ///
    /// # Errors
    /// As [`GroupsPlan::execute`].
    pub fn execute_scaled(
        &self,
        alpha: f64,
        a: &DeviceGroups<M>,
        b: &DeviceGroups<M>,
        beta: f64,
        c: &mut DeviceGroups<M>,
    ) -> Result<()> {
        self.a.check("A", a)?;
        self.b.check("B", b)?;
        self.c.check("C", c)?;
        let work = Work::new(&self.a.device, None);
        self.enqueue(&work, Scaling::new(alpha, beta), (&a.arrays(), &b.arrays()), c)
    }

    /// As [`GroupsPlan::execute_scaled`], of arrays that the caller has checked.
    pub(super) fn enqueue(
        &self,
        work: &Work,
        scaling: Scaling<<M::Element as Element>::Arithmetic>,
        (a, b): (&Arrays<'_, M::Element>, &Arrays<'_, M::Element>),
        c: &mut DeviceGroups<M>,
    ) -> Result<()> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { cells, parts } = &mut *guard;
        for CellPlan { at, terms, sum } in cells {
            let Some(c) = c.get_mut(at.0, at.1) else { continue };
            let stride = c.cbc.shape.area();
            let mut first = 0;
            for term in terms {
                let (Some(a), Some(b)) = (a.get(term.a.0, term.a.1), b.get(term.b.0, term.b.1)) else { continue };
                if sum.is_none() {
                    term.plan.enqueue_into(work, (a, b), scaling, Room::from(&mut c.cbc))?;
                } else {
                    let room = Room { values: parts, stride, first };
                    term.plan.enqueue_into(work, (a, b), Scaling::plain(), room)?;
                    first += term.plan.pattern().nnz();
                }
            }
            if let Some(sum) = sum {
                sum.run(work, parts, scaling, Room::from(&mut c.cbc))?;
            }
        }
        Ok(())
    }

    /// The pattern of C.
    pub fn pattern(&self) -> &GroupsPattern {
        &self.c
    }

    /// The pattern of A, for a gram that of J.
    pub(super) fn of_a(&self) -> &GroupsPattern {
        &self.a
    }

    /// Products of blocks in an execution, of all groups.
    pub fn products(&self) -> u64 {
        self.products
    }

    /// Floating-point operations of an execution: 2 for each product of scalars, of all groups.
    pub fn flops(&self) -> u64 {
        self.flops
    }

    /// Bytes of device memory the plan holds: those of the plans of its groups, the patterns of C and room for products to be added.
    pub fn device_bytes(&self) -> u64 {
        self.bytes
    }
}

impl<M: Matrix> DeviceGroups<M> {
    /// A·B in one shot; a product that is computed again and again is worth a [`GroupsPlan`].
    ///
    /// # Errors
    /// As [`GroupsPlan::multiply`].
    pub fn multiply(&self, b: &Self) -> Result<Self> {
        let plan = GroupsPlan::multiply(&self.pattern(), &b.pattern())?;
        let mut c = plan.output()?;
        plan.execute(self, b, &mut c)?;
        Ok(c)
    }
}

impl<M: Matrix> std::fmt::Debug for GroupsPlan<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { products, bytes, c, .. } = self;
        let (rows, cols) = (told(c.row_groups()), told(c.col_groups()));
        write!(f, "GroupsPlan({products} products, {bytes} bytes, C: {rows} by {cols}, {} blocks)", c.nnz())
    }
}
