//! Tail counts (Polok 2015, Algorithm 2, lines 40-49). This stage counts and scans the run ends of
//! each tile, and prepares the record that round trip 2 reads. Kernel:
//! `cl/product/esc/tail_counts.cl`.
use super::Products;
use super::{analysis::BandSegments, tally::Tally};
use crate::{
    Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Out, Work, kernel},
    primitives::{scan::Scan, segmented_reduce::RUN_PIECE},
    product::tuning::{TileTuning, Tuning},
};

kernel! {
    struct CountTails = "tail_counts" in "product/esc/tail_counts.cl" {
        row: In<u32>,
        segment_ptr: In<u32>,
        tile_segment: In<u32>,
        tail_flags: Out<u32>,
        tail_ptr: InOut<u32>,
        products: u32,
    }
}

pub(super) struct TailCounts {
    kernel: Kernel<CountTails<'static>>,
    scan: Scan<u32>,
    tiles: TileTuning,
}

/// The run ends of a sorted expansion, flagged and counted.
pub(super) struct Tails {
    /// One bit per product, set if the product ends a run.
    pub tail_flags: Buffer<u32>,
    /// Run ends before each tile. The next element counts all run ends and begins the record. The
    /// two words after the record are for the counts of [`Gather`](super::gather::Gather).
    pub tail_ptr: Buffer<u32>,
}

impl Tails {
    /// Reads the counts as soon as the device has computed them. No count may exceed `most`.
    pub fn tally(&self, work: &Work, most: u64) -> Result<Tally> {
        Tally::read(work, &self.tail_ptr, self.tail_ptr.len() - Tally::WORDS - 2, most)
    }
}

impl TailCounts {
    pub fn new(device: &Device, tuning: &Tuning) -> Result<Self> {
        let options = tuning.tiles.options().define("LONG_RUN", tuning.long_run()).define("RUN_PIECE", RUN_PIECE);
        Ok(Self {
            kernel: Kernel::new(device, &options)?,
            scan: Scan::finishing(device, tuning.scan)?,
            tiles: tuning.tiles,
        })
    }

    /// Counts the runs of a sorted expansion with at least one product.
    pub fn run(&self, work: &Work, sorted: &Products, segments: &BandSegments) -> Result<Tails> {
        work.stage("tail_counts");
        let products = sorted.rows.len() as u32;
        let tiles = self.tiles.count(products);
        let mut tail_flags = work.buffer(tiles * self.tiles.products.div_ceil(self.tiles.word_bits()))?;
        let mut tail_ptr = work.buffer(tiles + 6)?;
        work.fill_zero(&mut tail_ptr)?;
        let args = CountTails {
            row: &sorted.rows,
            segment_ptr: &segments.ptr,
            tile_segment: &sorted.tile_segment,
            tail_flags: &mut tail_flags,
            tail_ptr: &mut tail_ptr,
            products,
        };
        self.kernel.launch(work, Grid::groups(tiles, self.tiles.group_size), args)?;
        self.scan.run_first(work, &mut tail_ptr, tiles + 1)?;
        Ok(Tails { tail_flags, tail_ptr })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape,
        product::{
            esc::tests::{Case, counted, edge_cases, tunings},
            tuning::{TileTuning, Tuning},
        },
    };

    /// The results: run ends before each tile of `tile` products and in all, the longest run, the
    /// pieces of long runs, and the pieces of runs longer than a piece.
    fn model(case: &Case, tile: usize, long_run: usize) -> (Vec<u32>, u32, usize, usize) {
        let tails = case.tails();
        let ends: Vec<usize> = (0..tails.len()).filter(|&p| tails[p]).collect();
        let begins = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
        let lengths: Vec<usize> = ends.iter().zip(begins).map(|(end, begin)| end + 1 - begin).collect();
        let before = |number: usize| ends.iter().filter(|&&end| end < number * tile).count() as u32;
        let tail_ptr = (0..=tails.len().div_ceil(tile)).map(before).collect();
        let pieces = |above: usize| {
            lengths.iter().filter(|&&length| length > above).map(|length| length.div_ceil(RUN_PIECE)).sum()
        };
        (tail_ptr, *lengths.iter().max().unwrap() as u32, pieces(long_run), pieces(RUN_PIECE))
    }

    #[test]
    fn agrees_with_its_model() -> Result<()> {
        for case in edge_cases()? {
            let [parallel, serial] = tunings(BlockShape::SCALAR, BlockShape::SCALAR);
            // A tile whose flags take one whole word and a part of a word.
            let odd = Tuning { tiles: TileTuning { group_size: 1, products: 33 }, ..serial.clone() };
            for tuning in [parallel, serial, odd] {
                let (sorted, _, tails, tally) = counted(&case, &tuning)?;
                let rows: Vec<u32> = case.sorted.iter().map(|&(_, row, _)| row).collect();
                assert_eq!(sorted.rows.download(&case.work)?, rows);
                let (tail_ptr, longest, pieces, parts) = model(&case, tuning.tiles.products, tuning.long_run());
                assert_eq!(tails.tail_ptr.download(&case.work)?[..tail_ptr.len()], tail_ptr);
                let nnz = *tail_ptr.last().unwrap() as usize;
                assert_eq!(tally, Tally { count: nnz, longest, pieces, parts });
            }
        }
        Ok(())
    }
}
