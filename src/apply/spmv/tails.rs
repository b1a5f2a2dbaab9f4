//! Rows cut at a width: padded heads, and tails in compressed rows. The device counts the rows by
//! length and places the entries. Kernels: `cl/apply/spmv/tails.cl`.
use super::Rows;
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Maybe, Options, Out, Work, at_most, kernel, kernels},
    primitives::{
        scan::{Scan, ScanTuning},
        segmented_reduce::RUN_PIECE,
    },
};

kernel! {
    in "apply/spmv/tails.cl":
    struct CountLengths = "count_lengths" { row_ptr: In<u32>, lengths: InOut<u32>, rows: u32 }
    struct CountTails = "count_tails" {
        row_ptr: In<u32>,
        tail_before: Out<u32>,
        line_before: Out<u32>,
        rows: u32,
        width: u32,
    }
    struct PlaceHeads = "place_heads" {
        row_ptr: In<u32>,
        col: In<u32>,
        source: Maybe<u32>,
        tail_before: In<u32>,
        line_before: In<u32>,
        place_col: Out<u32>,
        place_source: Out<u32>,
        tail_ptr: Out<u32>,
        tail_row: Out<u32>,
        rows: u32,
        width: u32,
    }
}

/// The profile of the rows' lengths from which a split is chosen.
pub(super) struct Lengths {
    pub rows: u64,
    pub entries: u64,
    /// Entries of the longest row.
    pub longest: u64,
    /// Element n is the number of rows with at least n entries, for every n up to
    /// [`Lengths::WIDEST`] + 1.
    at_least: Vec<u64>,
    /// The number of entries within each width.
    within: Vec<u64>,
}

impl Lengths {
    /// Entries of the widest head. A head is shorter than a piece of a sum.
    pub const WIDEST: usize = RUN_PIECE - 1;

    /// Makes the profile from the number of rows of each length. The last count is the number of
    /// all rows that are longer than `WIDEST`.
    fn counted(counts: &[u64], entries: u64, longest: u64) -> Self {
        let mut at_least: Vec<_> =
            counts.iter().rev().scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n) + n)).collect();
        at_least.reverse();
        let widths = at_least[1..].iter().scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n)));
        Self { rows: at_least[0], entries, longest, within: widths.collect(), at_least }
    }

    /// Makes the profile of rows with these lengths.
    #[cfg(test)]
    pub fn of(lengths: &[usize]) -> Self {
        let mut counts = vec![0; Self::WIDEST + 2];
        lengths.iter().for_each(|&length| counts[length.min(Self::WIDEST + 1)] += 1);
        let longest = lengths.iter().copied().max().unwrap_or(0) as u64;
        Self::counted(&counts, lengths.iter().sum::<usize>() as u64, longest)
    }

    /// Number of rows with at least `entries` entries. `entries` is at most [`Lengths::WIDEST`] +
    /// 1.
    pub fn at_least(&self, entries: u32) -> u64 {
        self.at_least[entries as usize]
    }

    /// Number of entries beyond a width.
    pub fn beyond(&self, width: u32) -> u64 {
        self.entries - self.within[width as usize]
    }
}

/// Rows cut at a width.
pub(super) struct Parts {
    pub width: u32,
    pub col: Buffer<u32>,
    pub source: Buffer<u32>,
    /// The number of tails before each row, and of all tails.
    pub line_before: Buffer<u32>,
    /// The number of entries before each tail, and of all tails.
    pub tail_ptr: Buffer<u32>,
    /// The row of each tail.
    pub tail_row: Buffer<u32>,
    /// Number of entries of all tails.
    pub tails: usize,
}

impl Parts {
    /// Bytes of device memory held, rounded up to the pool's size classes.
    pub fn bytes(&self) -> u64 {
        let Self { col, source, line_before, tail_ptr, tail_row, .. } = self;
        [col, source, line_before, tail_ptr, tail_row].into_iter().map(Buffer::bytes).sum()
    }
}

kernels! {
    struct Kernels { new lengths: CountLengths, new tails: CountTails, new place: PlaceHeads }
}

/// The kernels, compiled for rows whose values are read with an index, or without.
pub(super) struct TailKernels {
    kernels: Kernels,
    scan: Scan<u32>,
    group_size: usize,
}

impl TailKernels {
    pub fn new(device: &Device, rows: &Rows) -> Result<Self> {
        let group_size = device.info().elementwise_group();
        let options = Options::group_size(group_size)
            .define("WIDEST", Lengths::WIDEST)
            .define("THROUGH", u8::from(rows.source.is_some()));
        Ok(Self {
            kernels: Kernels::new(device, &options)?,
            scan: Scan::new(device, ScanTuning::new(device.info()))?,
            group_size,
        })
    }

    /// Counts rows by length. Reads back 4 KiB.
    pub fn count(&self, work: &Work, rows: &Rows) -> Result<Lengths> {
        let mut lengths = work.buffer(Lengths::WIDEST + 3)?;
        work.fill_zero(&mut lengths)?;
        let args = CountLengths { row_ptr: &rows.pattern.col_ptr, lengths: &mut lengths, rows: rows.len() as u32 };
        self.kernels.lengths.launch(work, Grid::items(rows.len(), self.group_size), args)?;
        let found: Vec<u64> = lengths.download(work)?.into_iter().map(u64::from).collect();
        let (counts, entries) = (&found[..Lengths::WIDEST + 2], rows.pattern.nnz() as u64);
        at_most("rows by their lengths", counts.iter().sum(), rows.len() as u64)?;
        let short = counts.iter().zip(0..=Lengths::WIDEST as u64).map(|(n, length)| n * length).sum::<u64>();
        at_most("entries of short rows", short, entries)?;
        Ok(Lengths::counted(counts, entries, found[Lengths::WIDEST + 2]))
    }

    /// Places the rows, cut at a width.
    pub fn place(&self, work: &Work, rows: &Rows, lengths: &Lengths, width: u32) -> Result<Parts> {
        let (count, of_rows) = (rows.len(), rows.len() as u32);
        let (lines, tails) = (lengths.at_least(width + 1) as usize, lengths.beyond(width) as usize);
        let (mut tail_before, mut line_before) = (work.buffer(count + 1)?, work.buffer(count + 1)?);
        let grid = Grid::items(count + 1, self.group_size);
        let row_ptr = &rows.pattern.col_ptr;
        let (tail, line) = (&mut tail_before, &mut line_before);
        let args = CountTails { row_ptr, tail_before: tail, line_before: line, rows: of_rows, width };
        self.kernels.tails.launch(work, grid, args)?;
        self.scan.run(work, &mut tail_before)?;
        self.scan.run(work, &mut line_before)?;
        let places = count * width as usize + tails;
        let (mut col, mut source) = (work.buffer(places)?, work.buffer(places)?);
        let (mut tail_ptr, mut tail_row) = (work.buffer(lines + 1)?, work.buffer(lines)?);
        let args = PlaceHeads {
            row_ptr,
            col: &rows.pattern.row_idx,
            source: rows.source.as_ref(),
            tail_before: &tail_before,
            line_before: &line_before,
            place_col: &mut col,
            place_source: &mut source,
            tail_ptr: &mut tail_ptr,
            tail_row: &mut tail_row,
            rows: of_rows,
            width,
        };
        self.kernels.place.launch(work, Grid::items(count + 1, self.group_size), args)?;
        Ok(Parts { width, col, source, line_before, tail_ptr, tail_row, tails })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, device::test_device, resident::PatternArrays};

    const PADDING: u32 = u32::MAX;

    #[test]
    fn small_rows_are_cut_as_in_the_model() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let mixed: Vec<_> = (0..70).map(|row| row * 7 % 5 + usize::from(row == 40) * 20).collect();
        for lengths in [vec![], vec![3], vec![0; 40], mixed] {
            let mut ptr = vec![0u64];
            ptr.extend(lengths.iter().scan(0, |end, &n| {
                *end += n as u64;
                Some(*end)
            }));
            let entries = lengths.iter().flat_map(|&n| 0..n as u32).collect();
            let pattern = Pattern::new(24, lengths.len(), ptr.clone(), entries)?;
            let pattern = PatternArrays::upload(&work, &pattern)?;
            let rows = Rows::of_scalars(pattern);
            let kernels = TailKernels::new(&device, &rows)?;
            let counted = kernels.count(&work, &rows)?;
            let longest = lengths.iter().copied().max().unwrap_or(0);
            assert_eq!(counted.longest, longest as u64);
            // The widths give no heads, tails of a few rows, or no tails.
            for width in [0, 1, 3, longest] {
                let heads = (0..width).flat_map(|k| (0..lengths.len()).map(move |row| (row, k)));
                let long = (0..lengths.len()).filter(|&row| lengths[row] > width);
                let tails = long.clone().flat_map(|row| (width..lengths[row]).map(move |k| (row, k)));
                let places: Vec<_> = heads.chain(tails.clone()).collect();
                let entry = |&(row, k): &(usize, usize)| {
                    if k < lengths[row] { (k as u32, ptr[row] as u32 + k as u32) } else { (PADDING, PADDING) }
                };
                let (col, source): (Vec<_>, Vec<_>) = places.iter().map(entry).unzip();
                let found = kernels.place(&work, &rows, &counted, width as u32)?;
                assert_eq!((found.col.download(&work)?, found.source.download(&work)?), (col, source), "{width}");
                assert_eq!(found.tails, tails.count());
                assert_eq!(found.tail_row.download(&work)?, long.map(|row| row as u32).collect::<Vec<_>>());
                let tail_ptr = found.tail_ptr.download(&work)?;
                let tails_of = tail_ptr.windows(2).map(|ends| (ends[1] - ends[0]) as usize + width);
                assert!(tails_of.eq(lengths.iter().copied().filter(|&n| n > width)), "{tail_ptr:?}");
            }
        }
        Ok(())
    }
}
