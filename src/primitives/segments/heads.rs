//! The offsets of segments from flags, from bits, or from the rows of their elements. Kernels:
//! `cl/primitives/heads.cl`.
use crate::{
    Error, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, kernel},
    primitives::{
        key_starts::KeyStarts,
        scan::{Scan, ScanTuning},
    },
};

kernel! {
    in "primitives/heads.cl":
    struct PackFlags = "pack_flags" { flags: In<u8>, bits: Out<u32>, n: u32 }
    struct CountHeads = "count_heads" { bits: In<u32>, rank: InOut<u32>, n: u32 }
    struct PlaceHeads = "place_heads" { bits: In<u32>, rank: In<u32>, offset: Out<u32>, n: u32 }
    struct CheckRows = "check_rows" { row: In<u32>, wrong: InOut<u32>, rows: u32, n: u32 }
}

/// Elements whose flags are in one word.
pub(super) const OF_WORD: usize = 32;

/// Packs a flag for each element into bits.
pub(super) fn pack(work: &Work, flags: &Buffer<u8>) -> Result<Buffer<u32>> {
    let (words, group_size) = (flags.len().div_ceil(OF_WORD), work.device().info().elementwise_group());
    let pack = Kernel::<PackFlags>::new(work.device(), &Options::group_size(group_size))?;
    let mut bits = work.buffer(words)?;
    pack.launch(work, Grid::items(words, group_size), PackFlags { flags, bits: &mut bits, n: flags.len() as u32 })?;
    Ok(bits)
}

/// The offsets of segments that begin at element 0 and at each of `n` elements whose bit is set.
pub(super) fn offsets_of_bits(work: &Work, bits: &Buffer<u32>, n: u32) -> Result<Buffer<u32>> {
    let (device, group_size) = (work.device(), work.device().info().elementwise_group());
    let (options, words) = (Options::group_size(group_size), (n as usize).div_ceil(OF_WORD));
    let grid = Grid::items(words + 1, group_size);
    let count = Kernel::<CountHeads>::new(device, &options)?;
    let place = Kernel::<PlaceHeads>::new(device, &options)?;
    let scan = Scan::new(device, ScanTuning::new(device.info()))?;
    let mut rank = work.buffer(words + 1)?;
    count.launch(work, grid, CountHeads { bits, rank: &mut rank, n })?;
    scan.run(work, &mut rank)?;
    let heads = work.read_count(&rank, words, "heads of segments", n.into())?;
    let mut offset = work.buffer(heads as usize + 1)?;
    place.launch(work, grid, PlaceHeads { bits, rank: &rank, offset: &mut offset, n })?;
    Ok(offset)
}

/// The offsets of `rows` segments. Element i belongs to segment `row[i]`.
pub(super) fn offsets_of_rows(work: &Work, row: &Buffer<u32>, rows: usize) -> Result<Buffer<u32>> {
    let (device, group_size) = (work.device(), work.device().info().elementwise_group());
    let check = Kernel::<CheckRows>::new(device, &Options::group_size(group_size))?;
    let starts = KeyStarts::new(device)?;
    let n = row.len() as u32;
    let mut wrong = work.upload(&[n])?;
    let args = CheckRows { row, wrong: &mut wrong, rows: rows as u32, n };
    check.launch(work, Grid::items(row.len(), group_size), args)?;
    let at = work.read(&wrong, 0, 1)?[0];
    if at < n {
        let before = at.saturating_sub(1);
        return Err(refuse(at, &work.read(row, before as usize, (at - before) as usize + 1)?, rows));
    }
    starts.run(work, row, rows)
}

/// The error for the row of element `at`, which is the last in `found`. The row of the element
/// before, if there is one, is the first in `found`.
fn refuse(at: u32, found: &[u32], rows: usize) -> Error {
    let row = found[found.len() - 1];
    Error::Argument(if row as usize >= rows {
        format!("element {at} has row {row}, there are {rows} rows")
    } else {
        format!("element {at} has row {row}, the element before it row {}: rows must ascend", found[0])
    })
}
