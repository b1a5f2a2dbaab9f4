//! The blockwise expand-sort-compress product of Polok, Ila and Smrz (2015). The product has six
//! stages. The host reads from the device twice (round trips 1 and 2).
//!
//! | stage | paper | file |
//! |---|---|---|
//! | setup | Algorithm 1, lines 1-14 | `esc/analysis.rs`, round trip 1 |
//! | expansion | Algorithm 2, lines 15-38 | `esc/expansion.rs` or `esc/sorted_expansion.rs` |
//! | segmented sort | Algorithm 2, line 39 | `primitives/segmented_sort.rs` |
//! | tail counts | Algorithm 2, lines 40-49 | `esc/tail_counts.rs`, round trip 2 |
//! | gather | Algorithm 3, lines 50-51, 53-68, 70-72 and 74 | `esc/gather.rs` |
//! | compression | Algorithm 3, lines 52, 69 and 73 | `esc/compression.rs`, `esc/blocks/` |
//!
//! The stages run in the order of the table. The paper compresses first and then gathers (lines
//! 70-74). In blockmul gather comes first, because compression needs the ends of runs and writes
//! the sums to their places in C. The stages make:
//!
//! * setup: products of each entry of B, and segments, one for each column of C;
//! * expansion: rows and payloads of all products;
//! * segmented sort: rows and payloads in sorted order;
//! * tail counts: run ends in each tile;
//! * gather: columns, rows and run ends of C;
//! * compression: values of C.
//!
//! Empty columns of A, B and C need no special case.
mod analysis;
pub(super) mod blocks;
mod compression;
mod engine;
mod expansion;
mod gather;
mod sorted_chunks;
mod sorted_expansion;
mod tail_counts;
mod tally;

pub(super) use analysis::{Analyser, Analysis};
pub(super) use engine::{Engine, RunFinder};
pub(super) use tally::Tally;

use super::{
    terms::{Band, Factors, FoundColumns, FoundRuns, Spec},
    tuning::{EscVariant, Tuning},
};
use crate::{
    Result,
    device::{Buffer, Device, Work},
};
use analysis::BandSegments;
use expansion::InGlobalMemory;
use gather::Gather;
use sorted_expansion::InLocalMemory;
use tail_counts::{TailCounts, Tails};

/// A task: columns of B by which A is multiplied, and which have at least one product.
pub(super) struct Columns<'a> {
    pub factors: Factors<'a>,
    pub analyser: &'a Analyser,
    pub analysis: &'a mut Analysis,
    pub band: &'a Band,
}

impl Columns<'_> {
    /// The first product of each column.
    pub fn segments(&mut self, work: &Work) -> Result<BandSegments> {
        self.analyser.segments(work, self.factors.b, self.analysis, self.band)
    }
}

/// The method: kernels from expansion to gather for one kind of payload.
pub(super) struct Esc {
    front: Front,
    tail_counts: TailCounts,
    gather: Gather,
}

/// The variants of expansion and segmented sort, which make and sort the products.
enum Front {
    Global(InGlobalMemory),
    Local(InLocalMemory),
}

impl Front {
    /// The sorted products of columns that have at least one product.
    fn products(&self, work: &Work, task: &Columns<'_>, segments: &BandSegments) -> Result<Products> {
        match self {
            Self::Global(front) => front.sort(work, segments, front.expand(work, task)?),
            Self::Local(front) => front.sort(work, segments, front.expand(work, task, segments)?),
        }
    }
}

/// The products of a whole expansion, or of a part.
pub(super) struct Products {
    pub rows: Buffer<u32>,
    pub payload: Buffer,
    /// Segment of the first product of each tile; the last element is the segment of the last
    /// product.
    pub tile_segment: Buffer<u32>,
}

/// A sorted expansion, with its runs counted.
pub(super) struct CountedRuns {
    segments: BandSegments,
    sorted: Products,
    tails: Tails,
}

impl Esc {
    /// Requests the kernels of ESC.
    pub fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        Ok(Self {
            front: match tuning.esc {
                EscVariant::Global => Front::Global(InGlobalMemory::new(device, spec, tuning)?),
                EscVariant::Local => Front::Local(InLocalMemory::new(device, spec, tuning)?),
            },
            tail_counts: TailCounts::new(device, tuning)?,
            gather: Gather::new(device, tuning)?,
        })
    }

    /// Products of a task that the sort moves again after the expansion, for the report.
    pub fn merged(&self, task: &Columns<'_>) -> u64 {
        match &self.front {
            Front::Global(_) => task.band.sizes.products,
            Front::Local(front) => front.merged(task),
        }
    }

    /// Finds the runs of a task: counts them, reads the tally, and places them.
    pub fn run(&self, work: &Work, task: &mut Columns<'_>) -> Result<FoundColumns> {
        let counted = self.count(work, task)?;
        let tally = counted.tails.tally(work, task.band.sizes.products)?; // round trip 2
        self.place(work, counted, tally)
    }

    /// Counts the runs of a task. The host reads nothing.
    fn count(&self, work: &Work, task: &mut Columns<'_>) -> Result<CountedRuns> {
        let segments = task.segments(work)?; // setup
        let sorted = self.front.products(work, task, &segments)?;
        let tails = self.tail_counts.run(work, &sorted, &segments)?;
        Ok(CountedRuns { segments, sorted, tails })
    }

    /// Puts the counted products in the order of their runs, and finds the pattern of C. The host
    /// reads nothing.
    fn place(&self, work: &Work, counted: CountedRuns, tally: Tally) -> Result<FoundColumns> {
        let CountedRuns { segments, sorted, tails } = counted;
        let Products { rows, payload, tile_segment } = sorted;
        let (pattern, run_end, pieces) = self.gather.run(work, &rows, &segments, tails, &tally)?;
        drop((rows, tile_segment));
        let Tally { parts, longest, .. } = tally;
        let runs = FoundRuns { run_end, pieces, parts, payload, longest };
        Ok(FoundColumns { pattern, runs })
    }
}

#[cfg(test)]
pub(super) mod tests;
