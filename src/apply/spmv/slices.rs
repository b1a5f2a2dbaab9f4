//! Rows padded to one length, in slices: counted, scanned, placed on the device. Kernels:
//! `cl/apply/spmv/slices.cl`.
use super::Rows;
use crate::{
    Error, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, at_most, kernel},
    primitives::scan::{Scan, ScanTuning},
};

kernel! {
    struct CountPlaces = "count_places" in "apply/spmv/slices.cl" {
        row_ptr: In<u32>,
        places: Out<u64>,
        rows: u32,
        slices: u32,
    }
}

kernel! {
    struct PlaceRows = "place_rows" in "apply/spmv/slices.cl" {
        row_ptr: In<u32>,
        col: In<u32>,
        source: In<u32>,
        slice_ptr: In<u64>,
        slice_col: Out<u32>,
        slice_source: Out<u32>,
        rows: u32,
        padded_rows: u64,
        height: u32,
    }
}

/// Sums of a slice of sliced ELL at least: those of 32 neighbouring work-items of a GPU.
const SLICE_SUMS: usize = 32;

/// Rows of a slice of sliced ELL, of `sums` scalar rows each. Lower slices have less padding.
pub(super) fn height(sums: usize) -> usize {
    SLICE_SUMS.div_ceil(sums).next_power_of_two()
}

/// Places that a padded format may always have: 16 MB of doubles with their two indices.
const FREE_PLACES: u64 = 1 << 20;

/// Most places for each entry and row, beyond those. A format with more reads more padding than any
/// other format reads entries.
const MOST_PADDING: u64 = 8;

/// The lengths of rows, as far as formats depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Profile {
    pub rows: u64,
    pub entries: u64,
    /// Entries of the longest row.
    pub longest: u64,
    /// Places of sliced ELL.
    pub sliced_places: u64,
}

impl Profile {
    /// The shortest and the longest rows that a matrix of these rows and columns can have with so
    /// many entries, each row with `sums` sums; the longest has `known` entries if that is known.
    pub fn bounds([rows, columns]: [u64; 2], entries: u64, sums: usize, known: Option<u32>) -> [Self; 2] {
        let [shortest, longest] =
            known.map_or([entries.div_ceil(rows.max(1)), entries.min(columns)], |longest| [longest.into(); 2]);
        let padded = rows.next_multiple_of(height(sums) as u64).saturating_mul(longest);
        [(shortest, entries), (longest, padded)].map(|(longest, sliced_places)| Self {
            rows,
            entries,
            longest,
            sliced_places,
        })
    }

    /// Places of ELL.
    pub fn ell_places(&self) -> u64 {
        self.rows.saturating_mul(self.longest)
    }

    /// Whether a padded format with so many places is refused.
    pub fn refuses(&self, places: u64) -> bool {
        is_mostly_padding(self.rows, self.entries, places)
    }
}

fn is_mostly_padding(rows: u64, entries: u64, places: u64) -> bool {
    places > FREE_PLACES && places / MOST_PADDING > entries + rows
}

/// The places of each slice of `height` rows, counted.
pub(super) struct Counted {
    pub profile: Profile,
    height: usize,
    places: Buffer<u64>,
}

/// Rows in slices of `height`.
pub(super) struct Slices {
    pub height: usize,
    pub ptr: Buffer<u64>,
    pub col: Buffer<u32>,
    pub source: Buffer<u32>,
}

/// The kernels, compiled for rows whose values have an index or not.
pub(super) struct Kernels {
    count: Kernel<CountPlaces<'static>>,
    place: Kernel<PlaceRows<'static>>,
    scan: Scan<u64>,
    group_size: usize,
    height: usize,
}

impl Kernels {
    pub fn new(device: &Device, rows: &Rows) -> Result<Self> {
        let group_size = device.info().numbers().elementwise_group;
        let height = height(rows.block.sums);
        let options =
            Options::group_size(group_size).define("HEIGHT", height).define("THROUGH", u8::from(rows.source.is_some()));
        Ok(Self {
            count: Kernel::new(device, &options)?,
            place: Kernel::rare(device, &options)?,
            scan: Scan::new(device, ScanTuning::new(device.info()))?,
            group_size,
            height,
        })
    }

    /// Counts the places. One read: 8 bytes for a slice.
    pub fn count(&self, work: &Work, rows: &Rows) -> Result<Counted> {
        let slices = rows.len().div_ceil(self.height);
        let mut places = work.buffer(slices + 1)?;
        let args = CountPlaces {
            row_ptr: &rows.pattern.col_ptr,
            places: &mut places,
            rows: rows.len() as u32,
            slices: slices as u32,
        };
        self.count.launch(work, Grid::items(slices + 1, self.group_size), args)?;
        let found = places.download(work)?;
        let longest = found.iter().max().map_or(0, |most| most / self.height as u64);
        let (rows, entries) = (rows.len() as u64, rows.pattern.nnz() as u64);
        at_most("entries of a row", longest, entries)?;
        Ok(Counted {
            profile: Profile { rows, entries, longest, sliced_places: found.iter().sum() },
            places,
            height: self.height,
        })
    }

    /// Places all rows in one slice.
    pub fn whole(&self, work: &Work, rows: &Rows, counted: &Counted) -> Result<Slices> {
        let ptr = work.upload(&[0, counted.profile.ell_places()])?;
        self.place(work, rows, ptr, rows.len().max(1), counted.profile.ell_places())
    }

    /// Places the rows in the slices that were counted.
    pub fn sliced(&self, work: &Work, rows: &Rows, counted: Counted) -> Result<Slices> {
        let mut ptr = counted.places;
        self.scan.run(work, &mut ptr)?;
        self.place(work, rows, ptr, counted.height, counted.profile.sliced_places)
    }

    fn place(&self, work: &Work, rows: &Rows, ptr: Buffer<u64>, height: usize, places: u64) -> Result<Slices> {
        let places = places as usize;
        let (mut col, mut source) = (work.buffer(places)?, work.buffer(places)?);
        let padded_rows = rows.len().next_multiple_of(height);
        let args = PlaceRows {
            row_ptr: &rows.pattern.col_ptr,
            col: &rows.pattern.row_idx,
            source: rows.source(),
            slice_ptr: &ptr,
            slice_col: &mut col,
            slice_source: &mut source,
            rows: rows.len() as u32,
            padded_rows: padded_rows as u64,
            height: height as u32,
        };
        self.place.launch(work, Grid::items(padded_rows, self.group_size), args)?;
        Ok(Slices { height, ptr, col, source })
    }
}

/// Refuses a padded format of `rows` rows with `entries` entries, the longest with `longest`, whose
/// places are mostly padding; `value_bytes` are those of a block.
pub(super) fn check_places(
    format: super::Format,
    [rows, entries, longest]: [u64; 3],
    places: u64,
    value_bytes: u64,
) -> Result<()> {
    if !is_mostly_padding(rows, entries, places) {
        return Ok(());
    }
    let (needed, held) = (places.saturating_mul(8 + value_bytes), entries * (8 + value_bytes));
    Err(Error::Argument(format!(
        "the format {format} would take {needed} bytes for {entries} entries of {held} bytes, because the longest of \
         {rows} rows has {longest}: more than {MOST_PADDING} places for each entry and row"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, device::test_device, resident::PatternArrays};

    const PADDING: u32 = u32::MAX;

    /// Columns of the places of rows of these lengths, in slices of `height`, and their entries.
    fn model(lengths: &[usize], height: usize) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
        let (mut ptr, mut col, mut source) = (vec![0], Vec::new(), Vec::new());
        let begin = |row: usize| lengths[..row].iter().sum::<usize>();
        for first in (0..lengths.len()).step_by(height) {
            let slice = first..lengths.len().min(first + height);
            for k in 0..lengths[slice.clone()].iter().copied().max().unwrap_or(0) {
                for row in first..first + height {
                    let holds = lengths.get(row).is_some_and(|&n| k < n);
                    col.push(if holds { k as u32 } else { PADDING });
                    source.push(if holds { (begin(row) + k) as u32 } else { PADDING });
                }
            }
            ptr.push(col.len() as u64);
        }
        (ptr, col, source)
    }

    #[test]
    fn small_slices_are_those_of_the_model() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let lengths = |n: usize| (0..n).map(|row| row * 7 % 5 + usize::from(row == 40) * 20).collect::<Vec<_>>();
        // No row, one, a slice and a row more or less, empty rows alone.
        for lengths in [vec![], vec![3], lengths(31), lengths(32), lengths(33), lengths(100), vec![0; 40]] {
            let mut ptr = vec![0u64];
            ptr.extend(lengths.iter().scan(0, |end, &n| {
                *end += n as u64;
                Some(*end)
            }));
            let entries = lengths.iter().flat_map(|&n| 0..n as u32).collect();
            let pattern = Pattern::new(24, lengths.len(), ptr, entries)?;
            let rows = Rows::of_scalars(PatternArrays::upload(&work, &pattern)?);
            let kernels = Kernels::new(&device, &rows)?;
            let counted = kernels.count(&work, &rows)?;
            assert_eq!(counted.profile.longest, lengths.iter().copied().max().unwrap_or(0) as u64);
            let whole = kernels.whole(&work, &rows, &counted)?;
            let sliced = kernels.sliced(&work, &rows, counted)?;
            for (found, height) in [(whole, lengths.len()), (sliced, height(1))] {
                let (ptr, col, source) = model(&lengths, height.max(1));
                if !lengths.is_empty() {
                    assert_eq!(found.ptr.download(&work)?, ptr);
                }
                assert_eq!(found.col.download(&work)?, col, "{lengths:?} by {height}");
                assert_eq!(found.source.download(&work)?, source, "{lengths:?} by {height}");
            }
        }
        Ok(())
    }
}
