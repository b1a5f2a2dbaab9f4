//! The launches of a scan. Kernel: `cl/primitives/segmented_scan.cl`.
use crate::{
    Device, Result,
    device::{Buffer, Grid, In, InOut, Options, Out, Sum, Work, arguments, kernel, kernels},
    element::ElementType,
    primitives::{
        Segments,
        segmented_reduce::RUN_PIECE,
        segments::{Cutter, Pieces, SegmentTuning, Step, Wave},
    },
};
use std::sync::OnceLock;

arguments! {
    /// The pieces of segments.
    struct InPieces: for<'a> &'a Pieces = |of| {
        begin: In<u32> = &of.begin,
        follows: In<u8> = &of.follows,
        tile_ptr: In<u32> = &of.tile_ptr,
        long_begin: In<u32> = &of.long_begin,
        long_end: In<u32> = &of.long_end,
    }
}

arguments! {
    /// The pieces and the carries of a wave.
    struct InCarried: for<'a> &'a Wave = |of| {
        first_carry: u32 = of.first_carry,
        carries: u32 = of.carries,
        wave_begin: u32 = of.first_piece,
        wave_end: u32 = of.end_piece,
    }
}

kernel! {
    in "primitives/segmented_scan.cl":
    struct ScanTiles = "scan_tiles" {
        pieces: InPieces,
        totals: InOut<Sum>,
        values: InOut<Sum>,
        carried: InCarried,
        first_scanned: u32,
        scanned: u32,
        first_totalled: u32,
        inclusive: u32,
    }
    struct TotalTiles = "total_tiles" {
        pieces: InPieces,
        totals: InOut<Sum>,
        values: In<Sum>,
        carried: InCarried,
        first_totalled: u32,
    }
    struct SegmentTotals = "segment_totals" { piece_ptr: In<u32>, totals: In<Sum>, sums: Out<Sum>, segments: u32 }
}

/// Number of full pieces that a CPU's core combines at the same time. In a single piece each
/// operation waits for the one before it. More than four pieces at a time save no time.
const AT_ONCE: usize = 4;

kernels! {
    struct Kernels { new scan: ScanTiles, new total: TotalTiles, new sums: SegmentTotals }
}

/// Kernels that scan elements whose type is known at run time only.
pub(super) struct Core {
    element: ElementType,
    kernels: Kernels,
    /// The kernels that cut whole vectors, made when they are first needed.
    cutter: OnceLock<Cutter>,
    tuning: SegmentTuning,
    pub device: Device,
}

impl Core {
    pub fn new(device: &Device, element: ElementType, options: Options, tuning: SegmentTuning) -> Result<Self> {
        let options = options.define("PIECE", RUN_PIECE).define("TILE", tuning.tile).define("AT_ONCE", AT_ONCE);
        Ok(Self {
            element,
            kernels: Kernels::new(device, &options)?,
            cutter: OnceLock::new(),
            tuning,
            device: device.clone(),
        })
    }

    /// Waits until the operator is compiled, and returns the compiler's errors.
    pub fn ready(&self) -> Result<()> {
        self.kernels.scan.ready(&Work::new(&self.device, None))
    }

    /// One segment of `elements` elements.
    pub fn whole(&self, elements: usize) -> Result<Segments> {
        let cutter = match self.cutter.get() {
            Some(cutter) => cutter,
            None => {
                let made = Cutter::new(&self.device, self.tuning)?;
                self.cutter.get_or_init(|| made)
            }
        };
        Segments::whole(cutter, &self.device, elements)
    }

    /// The total of each segment.
    pub fn reduce(&self, segments: &Segments, values: &Buffer) -> Result<Buffer> {
        let (work, word) = (Work::new(&self.device, None), self.element.word());
        let mut totals = work.buffer_of(word, segments.pieces.len())?;
        for Step { totalled, carried, .. } in segments.pieces.steps() {
            let args = TotalTiles {
                pieces: &segments.pieces,
                totals: &mut totals,
                values,
                carried: &carried,
                first_totalled: totalled.first_tile,
            };
            self.kernels.total.launch(&work, self.groups(carried.carries + totalled.tiles), args)?;
        }
        let mut sums = work.buffer_of(word, segments.count())?;
        let args = SegmentTotals {
            piece_ptr: &segments.pieces.piece_ptr,
            totals: &totals,
            sums: &mut sums,
            segments: segments.count() as u32,
        };
        self.kernels.sums.launch(&work, Grid::items(segments.count(), self.tuning.group_size), args)?;
        Ok(sums)
    }

    /// Scans each segment in place.
    pub fn run(&self, segments: &Segments, values: &mut Buffer, inclusive: bool) -> Result<()> {
        let work = Work::new(&self.device, None);
        let has_carries = segments.pieces.long_begin.len() > 0;
        let mut totals = work.buffer_of(self.element.word(), if has_carries { segments.pieces.len() } else { 0 })?;
        for Step { totalled, carried, scanned } in segments.pieces.steps() {
            // Scans need no totals of a wave without carries.
            let to_total = if totalled.carries > 0 { totalled.tiles } else { 0 };
            let args = ScanTiles {
                pieces: &segments.pieces,
                totals: &mut totals,
                values,
                carried: &carried,
                first_scanned: scanned.first_tile,
                scanned: scanned.tiles,
                first_totalled: totalled.first_tile,
                inclusive: inclusive.into(),
            };
            self.kernels.scan.launch(&work, self.groups(carried.carries + scanned.tiles + to_total), args)?;
        }
        Ok(())
    }

    fn groups(&self, groups: u32) -> Grid {
        Grid::groups(groups as usize, self.tuning.group_size)
    }
}
