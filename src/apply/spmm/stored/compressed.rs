//! Conversion of groups to compressed lines. Kernels: `cl/apply/spmm/coordinates.cl`.
use super::groups::{Grouped, Groups, group_size, options};
use crate::{
    Result,
    apply::spmm::{numbers::CHUNK, pack::BlockPack},
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    primitives::{
        radix_sort::{Elements, RadixSort, RadixTuning, Sorted},
        scan::{Scan, ScanTuning},
        transpose::Transposed,
    },
    resident::{DeviceCbc, PatternArrays},
    vector::line_sums::Stored,
};

kernel! {
    in "apply/spmm/coordinates.cl":
    struct Split = "split" { group_ptr: In<u32>, g_line: In<u8>, line_of: Out<u32>, groups: u32, nnz: u32 }
    struct Gather = "gather" { entry_idx: In<u32>, partner: In<u32>, other: Out<u32>, nnz: u32 }
    struct CountLines = "count_lines" {
        group_ptr: In<u32>,
        g_line: In<u8>,
        line_len: Out<u32>,
        group_len: Out<u32>,
        found: InOut<u32>,
        lines: u32,
    }
}

/// The offsets of the lines of groups, and counts from which the method is chosen.
pub(super) struct CountedGroups {
    /// Number of entries before each line; the last element is the number of all entries.
    pub line_ptr: Buffer<u32>,
    /// Entries of each group.
    pub group_len: Buffer<u32>,
    /// Number of rows of D that all groups load: the different places in each group, added up.
    pub loads: u32,
    /// Entries of the longest line.
    pub longest: u32,
}

impl Grouped {
    /// Converts to compressed rows if `by_rows` is set, otherwise to compressed columns.
    pub fn compressed(&self, by_rows: bool) -> Result<DeviceCbc> {
        let Self { groups, values: grouped, .. } = self;
        let (device, element, shape) = (&groups.device, groups.element, groups.shape);
        let work = Work::new(device, None);
        let Transposed { pattern, source, .. } = groups.compressed(&work, by_rows)?;
        let mut values = work.buffer_of(element.word(), grouped.len())?;
        let (pack, turned) = match by_rows {
            true => (BlockPack::transposing(device, element, true, shape.transpose())?, shape.transpose()),
            false => (BlockPack::new(device, element, true, shape.area())?, shape),
        };
        let stride = shape.area();
        pack.run(&work, Some(&source), Stored { values: grouped, stride: stride as u32 }, &mut values)?;
        Ok(DeviceCbc { pattern, shape: turned, stride, values })
    }
}

impl Groups {
    pub(super) fn kernel_options(&self) -> Options {
        options(&self.device, self.element, self.grouping.lines(), CHUNK)
    }

    /// The line of each entry.
    pub(super) fn line_of(&self, work: &Work) -> Result<Buffer<u32>> {
        let mut line_of = work.buffer(self.nnz())?;
        let split: Kernel<Split<'_>> = Kernel::new(&self.device, &self.kernel_options())?;
        let (groups, nnz) = (self.len() as u32, self.nnz() as u32);
        let args = Split { group_ptr: &self.group_ptr, g_line: &self.line, line_of: &mut line_of, groups, nnz };
        split.launch(work, Grid::items(self.nnz(), group_size(&self.device)), args)?;
        Ok(line_of)
    }

    /// Makes a pattern whose columns are the rows of the matrix if `by_rows` is set, otherwise its
    /// columns. Also returns the index of each entry of the pattern in the groups. The sort is
    /// stable: entries of a line keep the order of groups, which ascends in both indices.
    pub(super) fn compressed(&self, work: &Work, by_rows: bool) -> Result<Transposed> {
        let (device, entries, line_of) = (&self.device, self.nnz(), self.line_of(work)?);
        let (key, partner, lines, across) = match by_rows != self.grouping.of_columns() {
            true => (&line_of, &self.other, self.lines(), self.across()),
            false => (&self.other, &line_of, self.across(), self.lines()),
        };
        let sort = RadixSort::new(device, RadixTuning::new(device.info()))?;
        let gather: Kernel<Gather<'_>> = Kernel::new(device, &self.kernel_options())?;
        let Sorted { key, order, .. } = sort.run(work, Elements { key, keys: lines, order: None })?;
        let ptr = sort.starts(work, &key, lines)?;
        let mut other = work.buffer(entries)?;
        let args = Gather { entry_idx: &order, partner, other: &mut other, nnz: entries as u32 };
        gather.launch(work, Grid::items(entries, group_size(device)), args)?;
        Ok(Transposed { pattern: PatternArrays::new(device, across, lines, ptr, other), source: order, longest: None })
    }

    /// Counts the entries of lines. Reads two numbers back.
    pub(super) fn counted(&self, work: &Work) -> Result<CountedGroups> {
        let lines = self.lines();
        let count: Kernel<CountLines<'_>> = Kernel::new(&self.device, &self.kernel_options())?;
        let scan = Scan::<u32>::new(&self.device, ScanTuning::new(self.device.info()))?;
        let (mut line_ptr, mut found) = (work.buffer(lines + 1)?, work.buffer(2)?);
        let mut group_len = work.buffer(self.len())?;
        work.fill_zero(&mut found)?;
        let args = CountLines {
            group_ptr: &self.group_ptr,
            g_line: &self.line,
            line_len: &mut line_ptr,
            group_len: &mut group_len,
            found: &mut found,
            lines: lines as u32,
        };
        count.launch(work, Grid::items(lines + 1, group_size(&self.device)), args)?;
        scan.run(work, &mut line_ptr)?;
        let found = found.download(work)?;
        Ok(CountedGroups { line_ptr, group_len, loads: found[0], longest: found[1] })
    }
}
