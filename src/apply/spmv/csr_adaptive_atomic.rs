//! CSR-Adaptive as published (Evtushenko 2019, listings 4 and 5). Kernel:
//! `cl/apply/spmv/csr_adaptive_atomic.cl`.
//!
//! A work-group takes several rows with few entries in all (a block of the paper), or a single row.
//! Several groups share a long row, and add their sums to it atomically. There is only one launch.
//! The format exists for comparison. The format `csr-adaptive` divides rows in the same way and
//! gives fixed bits.
use super::{PackedOrder, Rows, Sums, arrival, terms::InTerms};
use crate::{
    Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Scratch, Teams, Work, kernel},
    element::Piece,
    vector::{InOutScaled, ScaledInto, line_sums::Stored},
};

kernel! {
    struct SumBlocks = "sum_blocks" in "ptx.cl", "apply/spmv/values.cl", "apply/spmv/arrival.cl", "apply/spmv/csr_adaptive_atomic.cl" {
        row_ptr: In<u32>,
        task: In<Piece>,
        terms: InTerms<u32>,
        shared: InOut<u32>,
        y: InOutScaled,
        shares: u32,
        rows_shared: u32,
    }
}

/// The numbers of entries by which rows are divided among work-groups.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Most entries and most rows of a block of several rows: the paper's `NNZ_PER_WG`.
    block: usize,
    /// Most entries of a row that one work-group adds.
    share: usize,
}

/// The paper leaves `NNZ_PER_WG` open. In the paper's listing each item loads one entry of a block.
/// In blockmul a work-group has 256 items, as in other kernels. In a share of a long row each item
/// adds eight entries, so that adding takes longer than the exchange of the sum.
const PUBLISHED: Limits = Limits { block: 256, share: 8 * 256 };

/// The tasks of work-groups.
#[derive(Debug, PartialEq)]
struct Tasks {
    /// The shares of long rows, then the blocks. `run` is the row of a share, or the first row of a
    /// block. `part` is the number of the share's row among shared rows, or the end of the block's
    /// rows.
    tasks: Vec<Piece>,
    shares: usize,
    rows_shared: usize,
}

impl Tasks {
    /// Divides the rows that begin at `row_ptr`. As in the paper's program, a block ends before the
    /// row that would exceed the limit.
    fn new(row_ptr: &[u32], limits: Limits) -> Self {
        let (block, share) = (limits.block as u32, limits.share as u32);
        let (mut shares, mut blocks, mut rows_shared) = (Vec::new(), Vec::new(), 0);
        let (mut first, rows) = (0, row_ptr.len() - 1);
        while first < rows {
            let (begin, mut end) = (row_ptr[first], first + 1);
            while end < rows && end - first < limits.block && row_ptr[end + 1] <= begin + block {
                end += 1;
            }
            let last = row_ptr[end];
            if last - begin > share {
                let cut = |begin| Piece { run: first as u32, begin, end: last.min(begin + share), part: rows_shared };
                shares.extend((begin..last).step_by(limits.share).map(cut));
                rows_shared += 1;
            } else {
                blocks.push(Piece { run: first as u32, begin, end: last, part: end as u32 });
            }
            first = end;
        }
        let (count, rows_shared) = (shares.len(), rows_shared as usize);
        shares.extend(blocks);
        Self { tasks: shares, shares: count, rows_shared }
    }
}

pub(super) struct CsrAdaptiveAtomic {
    rows: Rows,
    kernel: Kernel<SumBlocks<'static>>,
    tasks: Buffer<Piece>,
    shares: usize,
    rows_shared: usize,
    /// The sums of shared rows, then the numbers of their complete shares.
    shared: Scratch<u32>,
    group_size: usize,
}

impl CsrAdaptiveAtomic {
    /// Divides the rows on the host, as in the paper's program. Reads back the lengths of the rows.
    pub fn new(work: &Work, rows: Rows) -> Result<Self> {
        let group_size = rows.device().info().serial_or(rows.device().info().limited(PUBLISHED.block));
        Self::divided(work, rows, PUBLISHED, group_size)
    }

    /// `group_size` is a power of two of at most `limits.block`.
    fn divided(work: &Work, rows: Rows, limits: Limits, group_size: usize) -> Result<Self> {
        let info = rows.device().info();
        let options = rows.options(Options::group_size(group_size));
        let options = options.define("LIMIT", limits.block).define("SHARE", limits.share);
        let options = Teams::options_of(info, options);
        let options = arrival::options(info, rows.elements.vector, rows.semiring, options)?;
        let kernel = Kernel::new(rows.device(), &options)?;
        let Tasks { tasks, shares, rows_shared } = Tasks::new(&rows.row_ptr().download(work)?, limits);
        let words = rows.elements.sum().bytes().div_ceil(size_of::<u32>());
        let shared = Scratch::reserve_zeroed(work, rows_shared * (words + 1))?;
        Ok(Self { kernel, tasks: work.upload(&tasks)?, rows, shares, rows_shared, shared, group_size })
    }
}

impl Sums for CsrAdaptiveAtomic {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let Self { rows, kernel, tasks, group_size, .. } = self;
        let args = SumBlocks {
            row_ptr: rows.row_ptr(),
            task: tasks,
            terms: rows.terms(a, x),
            shared: &mut *self.shared.take(work)?,
            y,
            shares: self.shares as u32,
            rows_shared: self.rows_shared as u32,
        };
        kernel.launch(work, Grid::groups(tasks.len(), *group_size), args)
    }

    fn order(&self) -> PackedOrder<'_> {
        self.rows.order()
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes() + self.tasks.bytes() + self.shared.bytes()
    }
}

#[cfg(test)]
mod tests;
