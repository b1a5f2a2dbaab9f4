//! The columns that the methods of scalars leave to ESC. Kernels take the columns for ESC out of B,
//! and put the columns that ESC computes into C. Kernels: `cl/product/columns/adaptive/rest.cl`.
use super::towards;
use crate::{
    Result,
    device::{Buffer, Device, Elem, Grid, In, InOut, Options, Out, Work, kernel, kernels},
    element::ElementType,
    primitives::scan::{Scan, ScanTuning},
    product::{
        esc::Engine,
        terms::{BandConsumer, Bin, Class, ColumnTask, Counts, Operands, Profile, Target},
    },
    resident::{DeviceCbc, PatternArrays},
};

kernel! {
    in "product/columns/adaptive/rest.cl":
    struct RestLengths = "rest_lengths" {
        list: In<u32>,
        b_col_ptr: In<u32>,
        list_ptr: Out<u32>,
        first: u32,
        listed: u32,
        first_col: u32,
    }
    struct RestEntries = "rest_entries" {
        list: In<u32>,
        list_ptr: In<u32>,
        b_col_ptr: In<u32>,
        b_row_idx: In<u32>,
        b_values: In<Elem>,
        list_row: Out<u32>,
        list_values: Out<Elem>,
        first: u32,
        listed: u32,
        first_col: u32,
        entries: u32,
    }
    struct PutLengths = "put_lengths" {
        list: In<u32>,
        part_ptr: In<u32>,
        lengths: InOut<u32>,
        first: u32,
        columns: u32,
        windows: u32,
    }
    struct PutColumns = "put_columns" {
        list: In<u32>,
        part_ptr: In<u32>,
        part_row: In<u32>,
        part_values: In<Elem>,
        chunk_ptr: In<u32>,
        c_row_idx: InOut<u32>,
        c_values: InOut<Elem>,
        first: u32,
        columns: u32,
        windows: u32,
        part_nnz: u32,
    }
}

/// Describes the columns of ESC in the report of an adaptive product.
const OTHERS: &str = "the others";

kernels! {
    struct Kernels {
        rare lengths: RestLengths,
        rare entries: RestEntries,
        rare put_lengths: PutLengths,
        rare put_columns: PutColumns,
    }
}

/// The kernels that move columns, compiled when they are first needed.
pub(super) struct Rest {
    kernels: Kernels,
    scan: Scan<u32>,
    group_size: usize,
}

/// Columns of C that ESC computed, and the place of the first of them in the list of columns.
pub(super) struct Part {
    pub first: u32,
    pub columns: DeviceCbc,
}

impl Rest {
    pub fn new(device: &Device, group_size: usize, scan: ScanTuning, element: ElementType) -> Result<Self> {
        let options = Options::group_size(group_size).element(element);
        Ok(Self { kernels: Kernels::new(device, &options)?, scan: Scan::new(device, scan)?, group_size })
    }

    fn grid(&self, items: usize) -> Grid {
        Grid::items(items, self.group_size)
    }

    /// Computes the columns that no other method takes, by ESC.
    pub fn by_esc(
        &self,
        esc: &Engine,
        work: &Work,
        operands: &Operands<'_>,
        profile: &Profile,
        counts: &mut Counts,
    ) -> Result<Vec<Part>> {
        let (task, mut parts) = (profile.task(Class::Rest, Class::Rest), Vec::new());
        if task.columns > 0 {
            work.stage("setup");
            let entries = profile.of(Class::Rest).b_entries as usize;
            let of_rest = towards(1 << counts.number_of(OTHERS), work);
            let b = self.take(of_rest, operands.b, &task, entries)?;
            let mut first = task.first;
            let by_esc =
                esc.multiply(work, &Operands { b: &b, consumer: BandConsumer::ANY, ..*operands }, &mut |columns| {
                    let next = first + columns.ncols as u32;
                    parts.push(Part { first, columns });
                    first = next;
                    Ok(())
                })?;
            work.count_towards(0);
            counts.merged += by_esc.merged;
            for bin in by_esc.bins {
                counts.add_bin(&Bin { which: OTHERS, ..bin });
            }
        }
        Ok(parts)
    }

    /// Takes the listed columns, which have `entries` entries, out of B.
    fn take(&self, work: &Work, b: &DeviceCbc, task: &ColumnTask<'_>, entries: usize) -> Result<DeviceCbc> {
        let &ColumnTask { list, first, columns: listed, first_col, .. } = task;
        let mut list_ptr = work.buffer(listed as usize + 1)?;
        let b_col_ptr = &b.pattern.col_ptr;
        let args = RestLengths { list, b_col_ptr, list_ptr: &mut list_ptr, first, listed, first_col };
        self.kernels.lengths.launch(work, self.grid(listed as usize + 1), args)?;
        self.scan.run(work, &mut list_ptr)?;
        let (mut row_idx, mut values) = (work.buffer(entries)?, work.buffer_of(b.values.word(), entries)?);
        let args = RestEntries {
            list,
            list_ptr: &list_ptr,
            b_col_ptr,
            b_row_idx: &b.pattern.row_idx,
            b_values: &b.values,
            list_row: &mut row_idx,
            list_values: &mut values,
            first,
            listed,
            first_col,
            entries: entries as u32,
        };
        self.kernels.entries.launch(work, self.grid(entries), args)?;
        let pattern = PatternArrays::new(work.device(), b.nrows, listed as usize, list_ptr, row_idx);
        Ok(DeviceCbc { pattern, shape: b.shape, stride: b.stride, values })
    }

    /// Writes the number of entries of each column of `part`.
    pub fn lengths(
        &self,
        work: &Work,
        list: &Buffer<u32>,
        part: &Part,
        windows: usize,
        lengths: &mut Buffer<u32>,
    ) -> Result<()> {
        let (part_ptr, columns) = (&part.columns.pattern.col_ptr, part.columns.ncols);
        let (first, windows) = (part.first, windows as u32);
        let args = PutLengths { list, part_ptr, lengths, first, columns: columns as u32, windows };
        self.kernels.put_lengths.launch(work, self.grid(columns), args)
    }

    /// Puts the columns of `part` into C.
    pub fn put(
        &self,
        work: &Work,
        list: &Buffer<u32>,
        part: &Part,
        windows: usize,
        chunk_ptr: &Buffer<u32>,
        c: Target<'_>,
    ) -> Result<()> {
        let pattern = &part.columns.pattern;
        let args = PutColumns {
            list,
            part_ptr: &pattern.col_ptr,
            part_row: &pattern.row_idx,
            part_values: &part.columns.values,
            chunk_ptr,
            c_row_idx: c.row_idx,
            c_values: c.values,
            first: part.first,
            columns: pattern.ncols as u32,
            windows: windows as u32,
            part_nnz: pattern.nnz() as u32,
        };
        self.kernels.put_columns.launch(work, self.grid(pattern.nnz()), args)
    }
}
