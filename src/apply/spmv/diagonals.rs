//! Slices whose rows have their entries on few diagonals, as in stencils, for sums in vectors.
//! Kernels: `cl/apply/spmv/diagonals.cl`.
//!
//! The entries of one diagonal have consecutive columns: one distance is stored for all of them,
//! and the elements of x that they multiply are read as one vector. A row without an entry on a
//! diagonal, for example at the border of a grid, has an unused place there. Through unused places
//! the later entries of a row stay beside the entries of its neighbours.
use super::{Rows, profile::Profile, slices::LANES};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Maybe, Options, Out, Work, kernel},
    resident::PatternArrays,
};

kernel! {
    in "apply/spmv/diagonals.cl":
    struct CountDiagonals = "count_diagonals" {
        row_ptr: In<u32>,
        col: In<u32>,
        places: InOut<u64>,
        origin: Out<u32>,
        rows: u32,
        columns: u32,
        slices: u32,
    }
    struct PlaceDiagonals = "place_diagonals" {
        row_ptr: In<u32>,
        col: In<u32>,
        source: Maybe<u32>,
        slice_ptr: In<u64>,
        origin: In<u32>,
        steps: Out<u32>,
        slice_source: InOut<u32>,
        slices: u32,
    }
}

/// The greatest distance between diagonals of a slice. A word holds the distance, and eight bits
/// for the rows.
pub(super) const REACH: u32 = (1 << (32 - LANES)) - 1;

/// The value of `origin` for a slice that is not on diagonals.
const NONE: u32 = u32::MAX;

/// The diagonals of slices.
pub(super) struct Diagonals {
    /// For each slice on diagonals: the column at which the first diagonal meets the slice's first
    /// row.
    pub origin: Buffer<u32>,
    /// For each diagonal: its distance from the first diagonal, and bits for the rows that have an
    /// entry on it.
    pub steps: Buffer<u32>,
}

impl Diagonals {
    pub fn bytes(&self) -> u64 {
        self.origin.bytes() + self.steps.bytes()
    }
}

/// The kernels, compiled for rows whose values are read with an index, or without.
pub(super) struct DiagonalKernels {
    count: Kernel<CountDiagonals<'static>>,
    place: Kernel<PlaceDiagonals<'static>>,
    group_size: usize,
}

impl DiagonalKernels {
    pub fn new(device: &Device, through: u8) -> Result<Self> {
        let group_size = device.info().elementwise_group();
        let options = Options::group_size(group_size).define("LANES", LANES).define("REACH", REACH);
        let options = options.define("THROUGH", through);
        Ok(Self { count: Kernel::new(device, &options)?, place: Kernel::rare(device, &options)?, group_size })
    }

    /// Finds the slices on diagonals, counts their places anew, and returns where the slices begin,
    /// or `None` if no slice is on diagonals.
    pub fn count(
        &self,
        work: &Work,
        pattern: &PatternArrays,
        places: &mut Buffer<u64>,
        profile: &mut Profile,
    ) -> Result<Option<Buffer<u32>>> {
        let (rows, slices) = (pattern.ncols, pattern.ncols.div_ceil(LANES));
        // The number of a diagonal must fit 32 bits.
        if pattern.nrows > (u32::MAX as usize) - LANES {
            return Ok(None);
        }
        let mut origin = work.buffer(slices)?;
        let args = CountDiagonals {
            row_ptr: &pattern.col_ptr,
            col: &pattern.row_idx,
            places,
            origin: &mut origin,
            rows: rows as u32,
            columns: pattern.nrows as u32,
            slices: slices as u32,
        };
        self.count.launch(work, Grid::items(slices, self.group_size), args)?;
        let (found, counts) = (origin.download(work)?, places.download(work)?);
        profile.sliced_places = counts.iter().sum();
        profile.on_diagonals = found.iter().zip(&counts).filter(|of| *of.0 != NONE).map(|of| of.1).sum();
        Ok((profile.on_diagonals > 0).then_some(origin))
    }

    /// Starts to compile the kernel that places entries.
    pub fn ask(&self, device: &Device) {
        self.place.ask(device);
    }

    /// Places the entries of the slices on diagonals.
    pub fn place(
        &self,
        work: &Work,
        rows: &Rows,
        slice_ptr: &Buffer<u64>,
        origin: Buffer<u32>,
        slice_source: &mut Buffer<u32>,
    ) -> Result<Diagonals> {
        let mut steps = work.buffer(slice_source.len() / LANES)?;
        let args = PlaceDiagonals {
            row_ptr: &rows.pattern.col_ptr,
            col: &rows.pattern.row_idx,
            source: rows.source.as_ref(),
            slice_ptr,
            origin: &origin,
            steps: &mut steps,
            slice_source,
            slices: origin.len() as u32,
        };
        self.place.launch(work, Grid::items(origin.len(), self.group_size), args)?;
        Ok(Diagonals { origin, steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, apply::spmv::slices, device::test_device};
    use std::collections::BTreeMap;

    /// A pattern of rows with these columns.
    fn pattern(columns: usize, rows: &[Vec<u32>]) -> Result<Pattern> {
        let ptr = (0..=rows.len()).map(|row| rows[..row].iter().map(|of| of.len() as u64).sum()).collect();
        Pattern::new(columns, rows.len(), ptr, rows.concat())
    }

    /// The diagonals of a slice by number, each with the entry of each row.
    type Model = BTreeMap<i64, [u32; LANES]>;

    fn model(columns: usize, rows: &[Vec<u32>], first: usize) -> Option<Model> {
        let slice = rows.get(first..first + LANES)?;
        let (mut diagonals, mut number) = (Model::new(), rows[..first].iter().map(Vec::len).sum::<usize>() as u32);
        for (lane, row) in slice.iter().enumerate() {
            for &column in row {
                diagonals.entry(i64::from(column) - lane as i64).or_insert([NONE; LANES])[lane] = number;
                number += 1;
            }
        }
        let longest = slice.iter().map(Vec::len).max().unwrap_or(0);
        let (first, last) = (*diagonals.first_key_value()?.0, *diagonals.last_key_value()?.0);
        let is_inside = first >= 0 && last + LANES as i64 <= columns as i64 && last - first <= REACH.into();
        (2 * diagonals.len() <= 3 * longest && is_inside).then_some(diagonals)
    }

    #[test]
    fn small_slices_are_on_the_diagonals_of_the_model() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let range = |n: u32, row: &dyn Fn(u32) -> Vec<u32>| (0..n).map(row).collect::<Vec<_>>();
        let cases = [
            // The first three patterns have no row, one row, and 20 empty rows.
            (50, vec![]),
            (50, vec![vec![3]]),
            (50, vec![vec![]; 20]),
            // A band that reaches beyond x at both ends, and whose last slice is short.
            (50, range(50, &|i| (i.saturating_sub(1)..(i + 2).min(50)).collect())),
            // Two grids side by side: neighbouring rows have few diagonals in common.
            (
                200,
                range(40, &|i| if i % 16 < 12 { vec![i + 10, i + 50, i + 90] } else { vec![i + 11, i + 50, i + 91] }),
            ),
            // Three patterns: one row longer than the others, every second row empty, and scattered
            // rows.
            (200, range(24, &|i| if i == 9 { (20..60).collect() } else { vec![i + 8, i + 9] })),
            (200, range(24, &|i| if i % 2 == 0 { vec![] } else { vec![i, i + 40] })),
            (200, range(24, &|i| vec![i * 37 % 50, 60 + i * 53 % 100])),
            // Diagonals as far apart as a word can express, and further.
            (20_000_000, range(16, &|i| vec![i, i + REACH + i / 8])),
        ];
        for (columns, rows) in cases {
            let arrays = PatternArrays::upload(&work, &pattern(columns, &rows)?)?;
            for source in [None, Some(3)] {
                let nnz = arrays.nnz() as u32;
                let numbers: Vec<u32> = (0..nnz).map(|entry| source.map_or(entry, |of| nnz + of - entry)).collect();
                let all = Rows {
                    source: source.map(|_| work.upload(&numbers)).transpose()?,
                    ..Rows::of_scalars(arrays.clone())
                };
                let kernels = slices::SliceKernels::new(&device, &all, true)?;
                if !slices::in_vectors(device.info()) {
                    continue; // on this device slices have more rows
                }
                let counted = kernels.count(&work, &all)?;
                let expected: Vec<_> =
                    (0..rows.len()).step_by(LANES).map(|first| model(columns, &rows, first)).collect();
                let on_diagonals: usize = expected.iter().flatten().map(|of| LANES * of.len()).sum();
                assert_eq!(counted.profile.on_diagonals, on_diagonals as u64, "{rows:?}");
                let slices = kernels.sliced(&work, &all, counted)?;
                let Some(Diagonals { origin, steps }) = slices.diagonals else {
                    assert_eq!(on_diagonals, 0);
                    continue;
                };
                let (origin, steps) = (origin.download(&work)?, steps.download(&work)?);
                let (ptr, number) = (slices.ptr.download(&work)?, slices.source.download(&work)?);
                for (slice, expected) in expected.iter().enumerate() {
                    let places = ptr[slice] as usize..ptr[slice + 1] as usize;
                    let Some(expected) = expected else {
                        assert_eq!(origin[slice], NONE);
                        continue;
                    };
                    let first = *expected.first_key_value().expect("a diagonal").0;
                    assert_eq!(i64::from(origin[slice]), first);
                    assert_eq!(places.len(), LANES * expected.len());
                    let found =
                        steps[places.start / LANES..places.end / LANES].iter().zip(number[places].chunks(LANES));
                    for ((&word, found), (diagonal, entries)) in found.zip(expected) {
                        let bits =
                            (0..LANES).filter(|&lane| entries[lane] != NONE).map(|lane| 1 << (32 - LANES + lane));
                        assert_eq!(word, (diagonal - first) as u32 | bits.sum::<u32>());
                        let entry = |&entry: &u32| if entry == NONE { NONE } else { numbers[entry as usize] };
                        assert_eq!(found, entries.iter().map(entry).collect::<Vec<_>>());
                    }
                }
            }
        }
        Ok(())
    }
}
