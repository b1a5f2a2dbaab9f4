//! Scan: sums (exclusive) or maxima (inclusive) of everything before, over any length, in place. Kernel: `cl/primitives/scan.cl`.
//!
//! Three kernels a level (reduce, scan the partials, scan the tiles); a level divides the length by some thousands, so that 2^32 values
//! take three.
use crate::{
    Result, Word,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, source},
};

/// Numbers the scan is compiled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScanTuning {
    pub group_size: usize,
    /// Consecutive values an item takes.
    pub items: usize,
}

/// What is accumulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Sum of all values before, without the value itself.
    ExclusiveSum,
    /// Largest of all values up to and including the value itself.
    InclusiveMax,
}

pub(crate) struct Scan<W> {
    reduce: Kernel<(In<W>, Out<W>, u32)>,
    tiles: Kernel<(InOut<W>, In<W>, u32, u32)>,
    operation: Operation,
    /// Scans the partials of a maximum, which need the exclusive scan that maxima do not have here: shifted by one.
    tuning: ScanTuning,
}

impl<W: Word> Scan<W> {
    pub fn new(device: &Device, tuning: ScanTuning, operation: Operation) -> Result<Self> {
        let options = Options::group_size(tuning.group_size)
            .word::<W>("SCAN_WORD")
            .define("ITEMS", tuning.items)
            .define("MAXIMUM", u8::from(operation == Operation::InclusiveMax));
        Ok(Self {
            reduce: device.kernel(source!("primitives/scan.cl"), &options, "scan_reduce")?,
            tiles: device.kernel(source!("primitives/scan.cl"), &options, "scan_tiles")?,
            operation,
            tuning,
        })
    }
}
