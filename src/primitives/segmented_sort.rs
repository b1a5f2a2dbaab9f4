//! Segmented sort: sorts the rows inside each segment stably, together with their payloads, for any
//! mix of segment lengths. Kernels: `cl/primitives/segmented_sort.cl`, for CPUs
//! `cl/primitives/segmented_sort_serial.cl`.
//!
//! The sort is a merge sort (Polok 2015, "Sorting Stage"). Short segments are sorted in local
//! memory, many by one work-group. Long segments are cut into chunks, counted from their own start.
//! So no segment or chunk is divided between two work-groups of the first kernels. Sorted chunks
//! are merged in passes of doubling width, and merge path balances every pass. Short segments take
//! one launch. Long segments take one launch, and one more for each doubling.
mod numbers;

pub(crate) use numbers::{EXPANSION_LOCAL_BYTES, EXPANSION_SHORT_MAX, ITEMS, SortNumbers, WINDOW_ITEMS};

use crate::{
    DeviceInfo, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Payload, Work, arguments, kernel, source},
    element::WordType,
};

use numbers::{
    DEAL_COST, DIGIT_BITS, DIGIT_COST, EXPANSION_ITEMS, INSERTION_MAX, MERGE_COST, RUNS_MAX, SERIAL_SHORT_MAX,
    WINDOW_GROUP_SIZE,
};

impl SortNumbers {
    /// Work-items of a work-group, or `None` if one work-item sorts alone, as on CPUs, and on
    /// devices with work-groups below 8 items.
    pub fn group_size(self) -> Option<usize> {
        (self.sort_group_size >= 8).then_some(self.sort_group_size)
    }
}

/// Work-items of a work-group that sorts windows of an expansion.
pub(crate) fn window_group(info: &DeviceInfo) -> usize {
    info.limited(WINDOW_GROUP_SIZE)
}

/// Parameters with which the sort is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SortTuning {
    pub group_size: usize,
    /// Most elements of a segment that is sorted as a whole.
    pub short_max: usize,
    /// Elements of a chunk of a longer segment: twice `short_max`. Short segments that begin within
    /// `short_max` positions have together no more elements than a chunk.
    pub chunk: usize,
    /// Whether a work-group is one work-item that merges runs in cached memory: for CPUs.
    pub serial: bool,
}

impl SortTuning {
    pub fn new(info: &DeviceInfo) -> Self {
        match info.numbers::<SortNumbers>().group_size() {
            None => Self::SERIAL,
            Some(group_size) => Self::parallel(group_size, ITEMS),
        }
    }

    /// Parameters for the products of an expansion, which are sorted in chunks before they are
    /// written. Short segments are sorted separately, by smaller work-groups.
    pub fn for_expansion(info: &DeviceInfo) -> Self {
        let Some(group_size) = info.numbers::<SortNumbers>().group_size() else { return Self::SERIAL };
        let items = if info.local_bytes >= EXPANSION_LOCAL_BYTES { EXPANSION_ITEMS } else { ITEMS };
        let chunk = group_size * items;
        let short_max = EXPANSION_SHORT_MAX.min(window_group(info) * WINDOW_ITEMS / 2);
        Self { short_max: short_max.min(chunk / 2), chunk, ..Self::parallel(group_size, items) }
    }

    const SERIAL: Self = Self { group_size: 1, short_max: SERIAL_SHORT_MAX, chunk: 2 * SERIAL_SHORT_MAX, serial: true };

    pub(crate) fn parallel(group_size: usize, items: usize) -> Self {
        let chunk = group_size * items;
        Self { group_size, short_max: chunk / 2, chunk, serial: false }
    }

    /// Number of merge passes for a segment of `longest` elements.
    pub(crate) fn passes(&self, longest: u32) -> u32 {
        match longest as usize > self.short_max {
            true => (longest as usize).div_ceil(self.chunk).next_power_of_two().ilog2(),
            false => 0,
        }
    }
}

/// The segments to sort.
pub(crate) struct SortSegments<'a> {
    /// The start of each segment, and then the number of all elements (below 2^31).
    pub ptr: &'a Buffer<u32>,
    /// The number of chunks in all segments before each segment. A segment longer than `short_max`
    /// has length / `chunk` chunks, rounded up; other segments have none.
    pub chunk_ptr: &'a Buffer<u32>,
    /// Elements of the longest segment.
    pub longest: u32,
    /// Chunks of all segments.
    pub chunks: u32,
    /// Whether any segment has from 1 to `short_max` elements.
    pub has_short: bool,
}

/// The arrays of rows and of payloads: in each pair the first is read and the second is written. A
/// kernel may also overwrite the array that is read.
struct SortArrays<'a> {
    rows: [&'a mut Buffer<u32>; 2],
    payloads: [&'a mut Buffer; 2],
}

impl SortArrays<'_> {
    /// Borrows the arrays again, for one of several launches.
    fn again(&mut self) -> SortArrays<'_> {
        let (rows, payloads) = (self.rows.each_mut(), self.payloads.each_mut());
        SortArrays { rows: rows.map(|row| &mut **row), payloads: payloads.map(|payload| &mut **payload) }
    }
}

arguments! {
    /// Rows and payloads as kernel arguments.
    struct InOutArrays: for<'a> SortArrays<'a> = |of| {
        row_in: InOut<u32> = of.rows[0],
        payload_in: InOut<Payload> = of.payloads[0],
        row_out: InOut<u32> = of.rows[1],
        payload_out: InOut<Payload> = of.payloads[1],
    }
}

kernel! {
    in "primitives/segmented_sort.cl":
    struct SortTiles = "sort_tiles" { segment_ptr: In<u32>, arrays: InOutArrays, segments: u32, n: u32 }
    struct SortChunks = "sort_chunks" { segment_ptr: In<u32>, chunk_ptr: In<u32>, arrays: InOutArrays, segments: u32 }
    struct MergeChunks = "merge_chunks" {
        segment_ptr: In<u32>,
        chunk_ptr: In<u32>,
        arrays: InOutArrays,
        segments: u32,
        pass: u32,
    }
}

pub(crate) struct SegmentedSort {
    tiles: Kernel<SortTiles<'static>>,
    chunks: Kernel<SortChunks<'static>>,
    merge: Kernel<MergeChunks<'static>>,
    tuning: SortTuning,
}

impl SegmentedSort {
    /// Prepares a sort of rows with payloads of type `payload`.
    pub fn new(device: &Device, tuning: SortTuning, payload: WordType) -> Result<Self> {
        let options = Options::group_size(tuning.group_size)
            .payload(payload)
            .define("ITEMS", tuning.chunk / tuning.group_size)
            .define("SHORT_MAX", tuning.short_max)
            .define("CHUNK", tuning.chunk)
            .define("INSERTION_MAX", INSERTION_MAX)
            .define("DIGIT_BITS", DIGIT_BITS)
            .define("MERGE_COST", MERGE_COST)
            .define("DEAL_COST", DEAL_COST)
            .define("DIGIT_COST", DIGIT_COST)
            .define("RUNS_MAX", RUNS_MAX);
        // The kernels of both files have equal names and arguments.
        let source = match tuning.serial {
            true => source!("primitives/segmented_sort_serial.cl"),
            false => source!("primitives/segmented_sort.cl"),
        };
        Ok(Self {
            tiles: Kernel::new_from(source, device, &options)?,
            chunks: Kernel::rare_from(source, device, &options)?,
            merge: Kernel::rare_from(source, device, &options)?,
            tuning,
        })
    }

    /// Sorts rows and payloads. The input arrays are overwritten.
    pub fn run(
        &self,
        work: &Work,
        segments: SortSegments<'_>,
        mut row_in: Buffer<u32>,
        mut payload_in: Buffer,
    ) -> Result<(Buffer<u32>, Buffer)> {
        let (count, n) = (segments.ptr.len() as u32 - 1, row_in.len());
        let (mut row_out, mut payload_out) = (work.buffer(n)?, work.buffer_of(payload_in.word(), n)?);
        let (rows, payloads) = ([&mut row_in, &mut row_out], [&mut payload_in, &mut payload_out]);
        let (mut arrays, group_size) = (SortArrays { rows, payloads }, self.tuning.group_size);
        if segments.has_short {
            let args = SortTiles { segment_ptr: segments.ptr, arrays: arrays.again(), segments: count, n: n as u32 };
            self.tiles.launch(work, Grid::groups(n.div_ceil(self.tuning.short_max), group_size), args)?;
        }
        let (segment_ptr, chunk_ptr) = (segments.ptr, segments.chunk_ptr);
        let args = SortChunks { segment_ptr, chunk_ptr, arrays: arrays.again(), segments: count };
        self.chunks.launch(work, Grid::groups(segments.chunks as usize, group_size), args)?;
        let SortArrays { rows, payloads } = arrays;
        self.merge(work, &segments, rows, payloads)?;
        Ok((row_out, payload_out))
    }

    /// Merges the sorted chunks of long segments, back and forth between two pairs of arrays. A
    /// segment with an odd number of passes begins in the first pair, so that every segment ends in
    /// the second.
    pub fn merge(
        &self,
        work: &Work,
        segments: &SortSegments<'_>,
        rows: [&mut Buffer<u32>; 2],
        payloads: [&mut Buffer; 2],
    ) -> Result<()> {
        let grid = Grid::groups(segments.chunks as usize, self.tuning.group_size);
        let mut arrays = SortArrays { rows, payloads };
        for pass in 0..self.tuning.passes(segments.longest) {
            let args = MergeChunks {
                segment_ptr: segments.ptr,
                chunk_ptr: segments.chunk_ptr,
                arrays: arrays.again(),
                segments: segments.ptr.len() as u32 - 1,
                pass,
            };
            self.merge.launch(work, grid, args)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
