//! Method `direct` (Parger 2020, section 4.3, "single entry rows of A"): columns of B with one
//! entry. The column of C is then a scaled column of A: its length is known, and its rows are only
//! copied. Kernels: `cl/product/columns/direct/direct.cl`.
//!
//! Work-groups take equal stretches of the entries of all these columns. Long columns are thus
//! divided among many groups, and short ones share a group.
use crate::{
    Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Kernel, Options, Work, kernel},
    primitives::scan::{Scan, ScanTuning},
    product::terms::{ColumnTask, Factors, InFactors, InLayout, InTask, SumsInto, Target},
};

kernel! {
    struct CountDirect = "count_direct" in "product/columns/direct/direct.cl" {
        products: In<u32>,
        list: In<u32>,
        lengths: InOut<u32>,
        own_ptr: InOut<u32>,
        first: u32,
        columns: u32,
        listed: u32,
        windows: u32,
    }
}

kernel! {
    struct SumDirect = "sum_direct" in "product/terms/target.cl", "product/columns/direct/direct.cl" {
        factors: InFactors<'static>,
        list: In<u32>,
        own_ptr: In<u32>,
        chunk_ptr: In<u32>,
        c_row_idx: InOut<u32>,
        c_values: InOut<Elem>,
        task: InTask<'static>,
        entries: u32,
        layout: InLayout,
    }
}

/// Number of entries that a work-item copies. With 8 entries an item, looking up the columns of a
/// tile is a small part of the work.
const ITEMS: usize = 8;

/// Direct columns whose entries were counted.
pub(in crate::product) struct DirectColumns {
    /// Number of entries before each direct column. The array is empty if all columns of the band
    /// are direct.
    own_ptr: Buffer<u32>,
    /// Entries of all direct columns.
    entries: u64,
}

impl DirectColumns {
    /// Bytes of device memory, rounded up to the size classes of the pool.
    pub fn bytes(&self) -> u64 {
        self.own_ptr.bytes()
    }
}

/// The kernels that count the entries of C.
pub(in crate::product) struct DirectCounts {
    count: Kernel<CountDirect<'static>>,
    scan: Scan<u32>,
    group_size: usize,
}

fn options(group_size: usize) -> Options {
    Options::group_size(group_size).define("TILE", ITEMS * group_size)
}

impl DirectCounts {
    pub fn new(device: &Device, group_size: usize, scan: ScanTuning) -> Result<Self> {
        let count = Kernel::rare(device, &options(group_size))?;
        Ok(Self { count, scan: Scan::new(device, scan)?, group_size })
    }

    /// Writes the number of entries of C in each column of the task to `lengths`, which has an
    /// element for each column of the band. `products` has the number of products of each column of
    /// the band. The columns of the task have `entries` products in all.
    pub fn run(
        &self,
        work: &Work,
        task: &ColumnTask<'_>,
        products: &Buffer<u32>,
        entries: u64,
        lengths: &mut Buffer<u32>,
    ) -> Result<DirectColumns> {
        let &ColumnTask { list, first, columns, listed, windows, .. } = task;
        let mut own_ptr = work.buffer(if listed { columns as usize + 1 } else { 0 })?;
        let args = CountDirect {
            products,
            list,
            lengths,
            own_ptr: &mut own_ptr,
            first,
            columns,
            listed: listed.into(),
            windows,
        };
        self.count.launch(work, Grid::items(columns as usize + 1, self.group_size), args)?;
        if listed {
            self.scan.run(work, &mut own_ptr)?;
        }
        Ok(DirectColumns { own_ptr, entries })
    }
}

/// The kernel that computes columns of C.
pub(in crate::product) struct DirectSums {
    sums: Kernel<SumDirect<'static>>,
    group_size: usize,
}

impl DirectSums {
    pub fn new(device: &Device, group_size: usize, target: SumsInto) -> Result<Self> {
        Ok(Self { sums: Kernel::rare(device, &target.define(options(group_size)))?, group_size })
    }

    /// Requests the kernel that computes direct columns.
    pub fn ask(&self, device: &Device) {
        self.sums.ask(device);
    }

    /// Computes the task's columns of C. `chunk_ptr` has the entries of C before each window of
    /// each column of the band.
    pub fn run(
        &self,
        work: &Work,
        factors: Factors<'_>,
        task: &ColumnTask<'_>,
        counted: &DirectColumns,
        chunk_ptr: &Buffer<u32>,
        c: Target<'_>,
    ) -> Result<()> {
        let &DirectColumns { ref own_ptr, entries } = counted;
        let args = SumDirect {
            factors: factors.into(),
            list: task.list,
            own_ptr: if task.listed { own_ptr } else { chunk_ptr },
            chunk_ptr,
            c_row_idx: c.row_idx,
            c_values: c.values,
            task: task.into(),
            entries: entries as u32,
            layout: c.layout,
        };
        let tiles = (entries as usize).div_ceil(ITEMS * self.group_size);
        self.sums.launch(work, Grid::groups(tiles, self.group_size), args)
    }
}
