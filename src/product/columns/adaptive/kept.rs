//! Plans of products of scalars that keep the data of an adaptive product instead of operand pairs:
//! the pattern of C, its columns by class, and their tasks. A plan that keeps data of the columns
//! needs a few bytes for each entry of C, and no memory for products.
use super::{
    find::{Finder, Found, FoundClasses, RoomForRows},
    numeric::{Numeric, RowsOfC},
};
use crate::{
    BlockShape, Result,
    device::{Buffer, Device, Scratch, Teams, Work},
    element::ElementType,
    product::{
        bands::Limits,
        columns::tasks::{TakenTasks, Tasks},
        terms::{Class, Counts, Destination, How, Layout, Scaling, Spec, Target, TargetKind},
        tuning::{AdaptiveTuning, Tuning},
    },
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

/// The rule that decides whether a plan keeps the data of an adaptive product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::product) enum KeepRule {
    /// The plan keeps the data if there are at least `products` products, and at least `percent`
    /// products for each 100 entries of C.
    From { products: u64, percent: u64 },
    /// The plan always keeps the data.
    Always,
}

/// The data that a plan keeps to compute its sums.
pub(in crate::product) struct KeptSums {
    contiguous: Numeric,
    strided: Numeric,
    columns: FoundClasses,
    /// Entries of C before each window of each column, if there are several windows. With one
    /// window the sums use the `col_ptr` of C.
    chunk_ptr: Option<Buffer<u32>>,
    /// Counters of the tasks taken in each class, for one execution.
    taken: Scratch<u32>,
    /// A buffer that kernels take as an argument instead of rows. Executions do not write it.
    no_rows: Scratch<u32>,
    teams: Teams,
}

/// The pattern of C, and the data that is kept for it.
pub(in crate::product) struct Kept {
    pub sums: KeptSums,
    pub c: Arc<PatternArrays>,
    pub counts: Counts,
}

/// The tuning of a plan that keeps the data of an adaptive product of scalars.
pub(super) struct KeptNumbers {
    pub spec: Spec,
    pub tuning: Tuning,
    pub adaptive: AdaptiveTuning,
}

impl KeptNumbers {
    fn new(device: &Device, element: ElementType, nrows: usize, how: How) -> Self {
        let (info, scalar) = (device.info(), BlockShape::SCALAR);
        let spec = Spec::new(element, scalar, scalar, nrows).over(how.semiring);
        let adaptive = AdaptiveTuning::new(info, how.method, info.costs(), spec.row_bits);
        Self { spec, tuning: Tuning::new(info, scalar, scalar), adaptive }
    }
}

impl KeptSums {
    /// Requests the kernels that [`KeptSums::keep`] always launches, for a C with `nrows` rows.
    pub fn ask(device: &Device, element: ElementType, nrows: usize, teams: Teams, how: How) -> Result<()> {
        let KeptNumbers { spec, tuning, adaptive } = KeptNumbers::new(device, element, nrows, how);
        Finder::new(device, teams, &tuning, &adaptive, spec.element).map(drop)
    }

    /// Keeps the data that the sums of A·B need, if methods of scalars compute every column, and
    /// the rule allows it.
    pub fn keep(
        work: &Work,
        (a, b): (&Arc<PatternArrays>, &Arc<PatternArrays>),
        teams: Teams,
        element: ElementType,
        how: How,
        rule: KeepRule,
    ) -> Result<Option<Kept>> {
        let numbers = KeptNumbers::new(work.device(), element, a.nrows, how);
        Self::tuned(work, (a, b), teams, &numbers, rule)
    }

    pub(super) fn tuned(
        work: &Work,
        (a, b): (&Arc<PatternArrays>, &Arc<PatternArrays>),
        teams: Teams,
        KeptNumbers { spec, tuning, adaptive }: &KeptNumbers,
        rule: KeepRule,
    ) -> Result<Option<Kept>> {
        let (element, semiring) = (spec.element, spec.semiring);
        let (device, scalar) = (work.device(), BlockShape::SCALAR);
        let finder = Finder::new(device, teams, tuning, adaptive, element)?;
        work.stage("setup");
        let mut profile = finder.profile(work, (a, b), &finder.rules((a, b)))?;
        let products = profile.products();
        let room = RoomForRows { rows: profile.room(adaptive.room_percent), keeps_keys: false };
        let of_rest = profile.of(Class::Rest).columns > 0;
        if of_rest || products == 0 || products >= Limits::MAX_PRODUCTS {
            return Ok(None);
        }
        let keeps = |entries: u64| match rule {
            KeepRule::From { products: least, percent } => products >= least && 100 * products >= percent * entries,
            KeepRule::Always => true,
        };
        if !keeps(0) {
            return Ok(None);
        }
        profile.share_out(&adaptive.prices);
        let found = finder.run(work, (a, b), profile, room, &keeps, &mut |_, _| Ok(()))?;
        let Some(found) = found else { return Ok(None) };
        let numeric = |target: TargetKind| {
            Numeric::new(device, teams, tuning.group_size, adaptive, target.over(element, semiring))
        };
        let Found { columns, chunk_ptr, rows, taken: (mut numbers, first), c_nnz } = found;
        let counts = columns.lists.counts();
        // The sums write the rows of C. The values computed here are not used.
        let zeros = |pattern: &Arc<PatternArrays>| -> Result<DeviceCbc> {
            let mut values = work.buffer_of(element.word(), pattern.nnz())?;
            work.fill_zero(&mut values)?;
            Ok(DeviceCbc { pattern: pattern.clone(), shape: scalar, stride: 1, values })
        };
        let (new, contiguous) = (numeric(TargetKind::New)?, numeric(TargetKind::Kept)?);
        // The kernels of executions are requested too, so that the first execution does not wait
        // for their compilation.
        contiguous.ask(device, &columns);
        let mut row_idx = work.buffer(c_nnz)?;
        {
            let (a, b, mut values) = (zeros(a)?, zeros(b)?, work.buffer_of(element.word(), c_nnz)?);
            let taken = TakenTasks { numbers: &mut numbers, first };
            let c = Target { row_idx: &mut row_idx, values: &mut values, layout: Layout::new(element) };
            let of_rows = RowsOfC { chunk_ptr: &chunk_ptr, place: &rows.place, rows: &rows.rows };
            new.run(work, (&a, &b), &columns, of_rows, taken, c)?;
        }
        drop(rows);
        let windows = columns.lists.windows;
        let (kept_ptr, col_ptr) = match windows {
            1 => (None, chunk_ptr),
            _ => {
                let col_ptr = finder.column_offsets(work, &chunk_ptr, b.ncols, windows)?;
                (Some(chunk_ptr), col_ptr)
            }
        };
        let classes = columns.tasks.as_ref().map_or(0, |tasks: &Tasks| tasks.counts.len());
        let sums = Self {
            contiguous,
            strided: numeric(TargetKind::Strided)?,
            taken: Scratch::reserve(work, classes)?,
            no_rows: Scratch::reserve(work, 0)?,
            chunk_ptr: kept_ptr,
            columns,
            teams,
        };
        let c = PatternArrays::new(device, a.nrows, b.ncols, col_ptr, row_idx);
        Ok(Some(Kept { sums, c, counts }))
    }

    /// Computes C = alpha·A·B + beta·C on C's pattern.
    pub fn execute(
        &self,
        work: &Work,
        (a, b): (&DeviceCbc, &DeviceCbc),
        scaling: Scaling,
        pattern: &PatternArrays,
        c: Destination<'_>,
    ) -> Result<()> {
        work.stage("sums");
        let strides = [a.stride, b.stride, c.stride];
        let numeric = if strides == [1; 3] { &self.contiguous } else { &self.strided };
        let (mut taken, mut no_rows) = (self.taken.take(work)?, self.no_rows.take(work)?);
        if self.teams.are_warps() {
            work.fill_zero(&mut taken)?;
        }
        // The `row_idx` of C holds the rows that were found.
        let chunk_ptr = self.chunk_ptr.as_ref().unwrap_or(&pattern.col_ptr);
        let rows = RowsOfC { chunk_ptr, place: chunk_ptr, rows: &pattern.row_idx };
        let taken = TakenTasks { numbers: &mut taken, first: 0 };
        let layout = Layout { first: c.first as u64, strides, scaling };
        let c = Target { row_idx: &mut no_rows, values: c.values, layout };
        numeric.run(work, (a, b), &self.columns, rows, taken, c)
    }

    /// Bytes of device memory held besides the pattern of C, rounded up to the pool's size classes.
    pub fn bytes(&self) -> u64 {
        let FoundClasses { lists, direct, tasks, keys: _ } = &self.columns;
        let tasks = tasks.as_ref().map_or(0, |tasks| tasks.task.bytes());
        let direct = direct.as_ref().map_or(0, |direct| direct.bytes());
        let chunk_ptr = self.chunk_ptr.as_ref().map_or(0, Buffer::bytes);
        lists.list.bytes() + direct + tasks + chunk_ptr + self.taken.bytes() + self.no_rows.bytes()
    }
}
