//! Groups made from the nonzero elements of a dense matrix: count the elements of each group, scan
//! the counts, allocate, fill (Shi, Wang, Chu 2020, Algorithm 1). Kernels:
//! `cl/apply/spmm/coordinates.cl`.
//!
//! A group is counted in chunks, so that a long group is divided among many work-items. On a GPU
//! neighbouring items read neighbouring elements. If the lines are stored one after another,
//! neighbouring elements are places of one chunk, so a work-group takes a chunk. If neighbouring
//! elements belong to different lines, these are lines of neighbouring groups.
use super::groups::{Grouped, Groups, group_size, options};
use crate::{
    BlockShape, Device, Result,
    apply::spmm::{DenseNumbers, numbers::CHUNK},
    device::{Buffer, Elem, Grid, In, Kernel, Out, Work, arguments, kernel},
    element::ElementType,
    matrix::{DenseShape, Grouping, Layout},
    primitives::scan::{Scan, ScanTuning},
    resident::{DenseBuffer, PatternArrays},
};
use std::sync::{Arc, OnceLock};

arguments! {
    /// The lines of the dense matrix, and the elements between two lines.
    struct InLines { lines: u32, across: u32, d_line: u64 }
}

impl InLines<'_> {
    fn of(shape: DenseShape, d_line: u64) -> Self {
        Self { lines: shape.rows as u32, across: shape.cols as u32, d_line }
    }
}

arguments! {
    /// The arrays of groups.
    struct OutEntries { group_ptr: Out<u32>, g_other: Out<u32>, g_line: Out<u8>, values: Out<Elem> }
}

kernel! {
    in "apply/spmm/coordinates.cl":
    struct CountDense = "count_dense" { d: In<Elem>, counts: Out<u64>, lines: InLines<'static>, d_place: u64, groups: u32 }
    struct FillDense = "fill_dense" {
        d: In<Elem>,
        counts: In<u64>,
        entries: OutEntries<'static>,
        lines: InLines<'static>,
        d_place: u64,
        groups: u32,
    }
    struct CountRows = "count_rows" { d: In<Elem>, counts: Out<u64>, lines: InLines<'static>, groups: u32 }
    struct FillRows = "fill_rows" {
        d: In<Elem>,
        counts: In<u64>,
        entries: OutEntries<'static>,
        lines: InLines<'static>,
        groups: u32,
    }
}

/// Places that an item counts if its work-group takes a chunk: `ROUNDS` of the kernels. The number
/// is the same on every device, because four counts of 16 bits fill a word of 64 bits.
const ROUNDS: usize = 4;

/// The arrays of groups on the device.
struct Entries {
    /// Number of entries before each group; the last element is the number of all entries.
    group_ptr: Buffer<u32>,
    other: Buffer<u32>,
    line: Buffer<u8>,
    values: Buffer,
}

/// The kernels that count and fill, compiled together.
enum Kernels {
    Items(Kernel<CountDense<'static>>, Kernel<FillDense<'static>>),
    Groups(Kernel<CountRows<'static>>, Kernel<FillRows<'static>>),
}

impl Grouped {
    /// Groups the nonzero elements of a dense matrix. Reads the number of nonzero elements back.
    pub fn from_dense(device: &Device, d: DenseBuffer<'_>, grouping: Grouping) -> Result<Self> {
        let DenseNumbers { dense_lanes: lanes, .. } = device.info().numbers();
        // In a work-group that shares a short line, most items would have no element.
        let together = lanes > 1 && across(d.shape, grouping).cols > CHUNK;
        Self::from_dense_by(device, d, grouping, together)
    }

    /// Groups the nonzero elements of a dense matrix. With `together` the items of a work-group
    /// share lines that are stored one after another.
    pub fn from_dense_by(device: &Device, d: DenseBuffer<'_>, grouping: Grouping, together: bool) -> Result<Self> {
        let (work, element) = (Work::new(device, None), ElementType::of(d.values.word()));
        let lines = DenseBuffer { shape: across(d.shape, grouping), ..d };
        let found = entries(&work, lines, grouping.lines(), together)?;
        let Entries { group_ptr, other, line, values } = found;
        let (device, DenseShape { rows: nrows, cols: ncols, .. }) = (device.clone(), d.shape);
        let (shape, fingerprint) = (BlockShape::SCALAR, OnceLock::new());
        let groups = Groups { device, element, nrows, ncols, shape, grouping, group_ptr, other, line, fingerprint };
        Ok(Self { groups: Arc::new(groups), values, origin: None })
    }
}

/// The shape of D, transposed if groups are columns, so that its rows are the grouped lines.
fn across(shape: DenseShape, grouping: Grouping) -> DenseShape {
    if grouping.of_columns() { shape.transposed() } else { shape }
}

/// Finds the nonzero elements in groups of `group_rows` rows. Reads the number of nonzero elements
/// back. With `together` a work-group takes a chunk of a matrix stored by rows.
fn entries(work: &Work, d: DenseBuffer<'_>, group_rows: usize, together: bool) -> Result<Entries> {
    let (device, DenseBuffer { shape, values: d }) = (work.device(), d);
    let (d_line, d_place, together) = match shape.layout {
        Layout::ByRows => (shape.leading as u64, 1, together),
        Layout::ByColumns => (1, shape.leading as u64, false),
    };
    let size = group_size(device);
    let chunk = if together { ROUNDS * size } else { CHUNK };
    let groups = shape.rows.div_ceil(group_rows);
    let all = groups * shape.cols.max(1).div_ceil(chunk);
    let grid = if together { Grid::groups(all + 1, size) } else { Grid::items(all + 1, size) };
    let options = options(device, ElementType::of(d.word()), group_rows, chunk);
    let kernels = match together {
        true => Kernels::Groups(Kernel::new(device, &options)?, Kernel::new(device, &options)?),
        false => Kernels::Items(Kernel::new(device, &options)?, Kernel::new(device, &options)?),
    };
    let scan = Scan::<u64>::new(device, ScanTuning::new(device.info()))?;
    let (groups_32, mut counts) = (groups as u32, work.buffer(all + 1)?);
    {
        let (counts, lines, groups) = (&mut counts, InLines::of(shape, d_line), groups_32);
        match &kernels {
            Kernels::Groups(count, _) => count.launch(work, grid, CountRows { d, counts, lines, groups })?,
            Kernels::Items(count, _) => count.launch(work, grid, CountDense { d, counts, lines, d_place, groups })?,
        }
    }
    scan.run(work, &mut counts)?;
    let nnz = work.read(&counts, all, 1)?[0];
    PatternArrays::check_nnz(nnz)?;
    let nnz = nnz as usize;
    let mut made = Entries {
        group_ptr: work.buffer(groups + 1)?,
        other: work.buffer(nnz)?,
        line: work.buffer(nnz)?,
        values: work.buffer_of(d.word(), nnz)?,
    };
    let Entries { group_ptr, other: g_other, line: g_line, values } = &mut made;
    let entries = OutEntries { group_ptr, g_other, g_line, values };
    let (counts, lines, groups) = (&counts, InLines::of(shape, d_line), groups_32);
    match &kernels {
        Kernels::Groups(_, fill) => fill.launch(work, grid, FillRows { d, counts, entries, lines, groups })?,
        Kernels::Items(_, fill) => fill.launch(work, grid, FillDense { d, counts, entries, lines, d_place, groups })?,
    }
    Ok(made)
}
