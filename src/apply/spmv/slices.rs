//! Slices of rows, each padded to its longest row. The device counts the places of each slice,
//! scans the counts, and places the entries. Kernels: `cl/apply/spmv/slices.cl`.
use super::{
    RowNumbers, Rows,
    diagonals::{DiagonalKernels, Diagonals},
    profile::Profile,
};
use crate::{
    DeviceInfo, Result,
    device::{Buffer, Column, Device, Grid, In, InOut, Kernel, Maybe, Options, Out, Work, at_most, kernel},
    element::WordType,
    primitives::{
        scan::{Scan, ScanTuning},
        segmented_reduce::RUN_PIECE,
    },
};

kernel! {
    in "apply/spmv/slices.cl":
    struct CountPlaces = "count_places" {
        row_ptr: In<u32>,
        col: In<u32>,
        places: Out<u64>,
        first_col: Out<u32>,
        found: InOut<u32>,
        rows: u32,
        slices: u32,
    }
    struct PlaceRows = "place_rows" {
        row_ptr: In<u32>,
        col: In<u32>,
        source: Maybe<u32>,
        slice_ptr: In<u64>,
        first_col: Maybe<u32>,
        origin: Maybe<u32>,
        slice_col: Out<Column>,
        slice_source: Out<u32>,
        rows: u32,
        padded_rows: u64,
        height: u32,
    }
}

/// The least number of sums in a slice of sliced ELL if each sum has a work-item: 32 neighbouring
/// items of a GPU.
const SLICE_SUMS: usize = 32;

/// Number of sums in a slice on devices that add them in vectors: 64 bytes of doubles.
pub(super) const LANES: usize = 8;

/// Whether a work-item adds the rows of a slice in a vector. Vectors are used on devices where an
/// item takes many rows.
pub(super) fn in_vectors(info: &DeviceInfo) -> bool {
    info.numbers::<RowNumbers>().row_stretch > 0
}

/// The least number of sums in a slice of sliced ELL.
pub(super) fn slice_sums(info: &DeviceInfo) -> usize {
    if in_vectors(info) { LANES } else { SLICE_SUMS }
}

/// Number of rows in a slice of at least `slice_sums` sums, if each row has `sums` sums. The fewer
/// rows a slice has, the less padding it needs.
pub(super) fn height(slice_sums: usize, sums: usize) -> usize {
    slice_sums.div_ceil(sums).next_power_of_two()
}

/// The counted places of each slice of `height` rows.
pub(super) struct CountedSlices {
    pub profile: Profile,
    height: usize,
    places: Buffer<u64>,
    /// The least column of each slice.
    first_col: Buffer<u32>,
    /// The origins of slices on diagonals, if there are any.
    origin: Option<Buffer<u32>>,
}

/// Columns are stored in 16 bits if their distances are less than `MOST_NEAR`. The number itself
/// marks padding.
pub(super) const MOST_NEAR: u16 = u16::MAX;

/// The columns of places.
pub(super) struct Columns {
    /// Columns of 32 bits, or distances from a first column in 16 bits.
    pub col: Buffer,
    pub near: Option<Near>,
}

/// Columns stored in 16 bits are distances from a column in `first`, which has one column for every
/// `rows` rows. `rows` is the height of a slice of sliced ELL, also if the rows are placed in other
/// slices.
pub(super) struct Near {
    pub first: Buffer<u32>,
    pub rows: usize,
}

impl Columns {
    /// The columns from which distances are counted.
    pub fn first(&self) -> Option<&Buffer<u32>> {
        self.near.as_ref().map(|near| &near.first)
    }

    /// Adds the options of kernels that read the columns.
    pub fn options(&self, options: Options) -> Options {
        let options = options.column(self.col.word());
        match &self.near {
            Some(near) => options.define("NEAR_ROWS", near.rows),
            None => options,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.col.bytes() + self.first().map_or(0, |first| first.bytes())
    }
}

/// Rows in slices of `height` rows.
pub(super) struct Slices {
    pub height: usize,
    pub ptr: Buffer<u64>,
    pub col: Columns,
    pub diagonals: Option<Diagonals>,
    pub source: Buffer<u32>,
}

impl Slices {
    /// Bytes of device memory held, rounded up to the pool's size classes.
    pub fn bytes(&self) -> u64 {
        let diagonals = self.diagonals.as_ref().map_or(0, Diagonals::bytes);
        self.ptr.bytes() + self.col.bytes() + diagonals + self.source.bytes()
    }
}

/// The slices in which rows are to be placed.
struct Places {
    /// The start of each slice, and the end of the last.
    ptr: Buffer<u64>,
    /// The scan that makes `ptr` from the number of places of each slice, unless it is done.
    scan: Option<Scan<u64>>,
    /// Number of rows of a slice.
    height: usize,
    count: usize,
    /// The origins of slices on diagonals, if there are any.
    origin: Option<Buffer<u32>>,
}

/// The kernels, compiled for rows whose values are read with an index, or without. The kernels that
/// count are compiled at once. If rows are only counted, no other kernels are compiled.
pub(super) struct SliceKernels {
    count: Kernel<CountPlaces<'static>>,
    /// The kernels for slices that are added in vectors.
    diagonals: Option<DiagonalKernels>,
    options: Options,
    group_size: usize,
    height: usize,
}

impl SliceKernels {
    /// Prepares the kernels. `in_vectors` says that slices are added in vectors unless rows are too
    /// long.
    pub fn new(device: &Device, rows: &Rows, in_vectors: bool) -> Result<Self> {
        Self::of_groups(device, rows, in_vectors, device.info().elementwise_group())
    }

    fn of_groups(device: &Device, rows: &Rows, in_vectors: bool, group_size: usize) -> Result<Self> {
        let height = height(slice_sums(device.info()), rows.block.sums);
        let through = u8::from(rows.source.is_some());
        let options = Options::group_size(group_size).define("HEIGHT", height).define("THROUGH", through);
        let options = options.define("MOST_NEAR", MOST_NEAR).column(WordType::of::<u32>());
        let plain = options.clone().define("NEAR", 0).define("BESIDE_DIAGONALS", 0);
        Ok(Self {
            count: Kernel::new(device, &plain)?,
            diagonals: in_vectors.then(|| DiagonalKernels::new(device, through)).transpose()?,
            options,
            group_size,
            height,
        })
    }

    /// Counts the places that slices of the rows take. Reads back 12 bytes, or 12 bytes for each
    /// slice if slices may be on diagonals.
    pub fn count(&self, work: &Work, rows: &Rows) -> Result<CountedSlices> {
        let slices = rows.len().div_ceil(self.height);
        let (mut places, mut first_col, mut found) = (work.buffer(slices + 1)?, work.buffer(slices)?, work.buffer(3)?);
        work.fill_zero(&mut found)?;
        let args = CountPlaces {
            row_ptr: &rows.pattern.col_ptr,
            col: &rows.pattern.row_idx,
            places: &mut places,
            first_col: &mut first_col,
            found: &mut found,
            rows: rows.len() as u32,
            slices: slices as u32,
        };
        let of_group = (self.group_size / self.height).max(1);
        self.count.launch(work, Grid::groups((slices + 1).div_ceil(of_group), self.group_size), args)?;
        let found: Vec<u32> = found.download(work)?;
        let [longest, of_slices] = [found[0], found[1]].map(u64::from);
        let pattern = &rows.pattern;
        let (rows, columns, entries) = (rows.len() as u64, rows.pattern.nrows as u64, rows.pattern.nnz() as u64);
        at_most("entries of a row", longest, entries)?;
        at_most("entries of the longest rows of slices", of_slices, entries)?;
        let near = columns <= MOST_NEAR.into() || found[2] == 0;
        let sliced_places = of_slices * self.height as u64;
        let mut profile = Profile { rows, entries, longest, sliced_places, on_diagonals: 0, near };
        let diagonals = self.diagonals.as_ref().filter(|_| longest <= RUN_PIECE as u64);
        let origin = match diagonals {
            Some(diagonals) => diagonals.count(work, pattern, &mut places, &mut profile)?,
            None => None,
        };
        Ok(CountedSlices { profile, places, height: self.height, first_col, origin })
    }

    /// Places all rows in one slice.
    pub fn whole(
        &self,
        work: &Work,
        rows: &Rows,
        CountedSlices { profile, first_col, .. }: CountedSlices,
    ) -> Result<Slices> {
        let (ptr, height) = (work.upload(&[0, profile.ell_places()])?, rows.len().max(1));
        let to = Places { ptr, scan: None, height, count: profile.ell_places() as usize, origin: None };
        self.slices(work, rows, to, profile.near.then_some(first_col))
    }

    /// Places the rows in the slices that were counted.
    pub fn sliced(&self, work: &Work, rows: &Rows, counted: CountedSlices) -> Result<Slices> {
        let CountedSlices { profile, height, places: ptr, first_col, origin } = counted;
        let scan = Scan::new(work.device(), ScanTuning::new(work.device().info()))?;
        let to = Places { ptr, scan: Some(scan), height, count: profile.sliced_places as usize, origin };
        self.slices(work, rows, to, profile.near.then_some(first_col))
    }

    /// Places the rows. If `first` is given, columns are stored as distances from it.
    fn slices(&self, work: &Work, rows: &Rows, mut to: Places, first: Option<Buffer<u32>>) -> Result<Slices> {
        let (col, mut source) = self.place(work, rows, &mut to, first.as_ref())?;
        let col = Columns { col, near: first.map(|first| Near { first, rows: self.height }) };
        let Places { ptr, height, origin, .. } = to;
        let diagonals = match (&self.diagonals, origin) {
            (Some(kernels), Some(origin)) => Some(kernels.place(work, rows, &ptr, origin, &mut source)?),
            _ => None,
        };
        Ok(Slices { height, ptr, col, diagonals, source })
    }

    /// Places the column and the index in A's values of every entry that is not on a diagonal.
    fn place(
        &self,
        work: &Work,
        rows: &Rows,
        to: &mut Places,
        first_col: Option<&Buffer<u32>>,
    ) -> Result<(Buffer, Buffer<u32>)> {
        let Places { ptr, scan, height, count, origin } = to;
        // The kernel for 32-bit columns is in the same program as the kernel that counts.
        let word = if first_col.is_some() { WordType::of::<u16>() } else { WordType::of::<u32>() };
        let options = self.options.clone().column(word).define("NEAR", u8::from(first_col.is_some()));
        let options = options.define("BESIDE_DIAGONALS", u8::from(origin.is_some()));
        // Compiling starts before the scan waits for its own kernels, so that all are compiled
        // together.
        let kernel = Kernel::<PlaceRows<'_>>::new(work.device(), &options)?;
        if let (Some(kernels), Some(_)) = (&self.diagonals, &origin) {
            kernels.ask(work.device());
        }
        if let Some(scan) = scan {
            scan.run(work, ptr)?;
        }
        let (mut slice_col, mut slice_source) = (work.buffer_of(word, *count)?, work.buffer(*count)?);
        let padded_rows = rows.len().next_multiple_of(*height);
        let args = PlaceRows {
            row_ptr: &rows.pattern.col_ptr,
            col: &rows.pattern.row_idx,
            source: rows.source.as_ref(),
            slice_ptr: ptr,
            first_col,
            origin: origin.as_ref(),
            slice_col: &mut slice_col,
            slice_source: &mut slice_source,
            rows: rows.len() as u32,
            padded_rows: padded_rows as u64,
            height: *height as u32,
        };
        kernel.launch(work, Grid::items(padded_rows, self.group_size), args)?;
        Ok((slice_col, slice_source))
    }
}

#[cfg(test)]
mod tests;
