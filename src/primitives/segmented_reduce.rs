//! Segmented reduction: one sum for each run of values. The order of addition depends on the run
//! alone. Kernel: `cl/primitives/segmented_reduce.cl`.
//!
//! A run's values are added left to right. A run longer than [`RUN_PIECE`] is cut every
//! [`RUN_PIECE`] values, counted from its own start, and the sums of the pieces are added left to
//! right. The order of addition does not depend on work-groups or tiles, so sums have equal bits on
//! every device. The algebra defines how two values are added.
use crate::{
    Result, Semiring,
    device::{Buffer, Device, Elem, Grid, In, Kernel, Options, Out, Sum, Work, kernel},
    element::{ElementType, Piece},
};

/// Values of a run that one work-item adds. The number determines the order of addition, so it is
/// equal on every device.
pub(crate) const RUN_PIECE: usize = 1024;

kernel! {
    in "primitives/segmented_reduce.cl":
    struct ReduceRuns = "reduce_runs" { run_end: In<u32>, values: In<Sum>, sums: Out<Elem>, runs: u32 }
    struct ReduceLongRuns = "reduce_long_runs" { run_end: In<u32>, piece: In<Piece>, values: In<Sum>, sums: Out<Elem> }
}

pub(crate) struct SegmentedReduce {
    runs: Kernel<ReduceRuns<'static>>,
    long_runs: Kernel<ReduceLongRuns<'static>>,
    group_size: usize,
}

/// The runs: the last value of each, and the pieces of long runs.
#[derive(Clone, Copy)]
pub(crate) struct Runs<'a> {
    pub end: &'a Buffer<u32>,
    /// The pieces of long runs: [`RUN_PIECE`] products each, except the last.
    pub pieces: &'a Buffer<Piece>,
}

impl SegmentedReduce {
    pub fn new(device: &Device, group_size: usize, element: ElementType, semiring: Semiring) -> Result<Self> {
        let options = Options::group_size(group_size).element_in(element, semiring).define("RUN_PIECE", RUN_PIECE);
        Ok(Self { runs: Kernel::new(device, &options)?, long_runs: Kernel::rare(device, &options)?, group_size })
    }

    /// Writes the sum of each run.
    pub fn run(&self, work: &Work, runs: Runs<'_>, values: &Buffer, sums: &mut Buffer) -> Result<()> {
        let Runs { end: run_end, pieces: piece } = runs;
        let args = ReduceRuns { run_end, values, sums, runs: run_end.len() as u32 };
        self.runs.launch(work, Grid::items(run_end.len(), self.group_size), args)?;
        let args = ReduceLongRuns { run_end, piece, values, sums };
        self.long_runs.launch(work, Grid::groups(piece.len(), self.group_size), args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::test_device;
    use half::f16;

    fn model(ends: &[u32], values: &[f64]) -> Vec<f64> {
        let mut begin = 0;
        let sum = |values: &[f64]| values.iter().copied().reduce(|sum, x| sum + x).unwrap_or(-0.0);
        let run = |&end: &u32| {
            let pieces: Vec<f64> = values[begin..=end as usize].chunks(RUN_PIECE).map(sum).collect();
            begin = end as usize + 1;
            sum(&pieces)
        };
        ends.iter().map(run).collect()
    }

    /// Lengths: one value; around a work-group (64); around one and two pieces; more pieces than a
    /// work-group has items.
    const LENGTHS: [usize; 13] = [1, 2, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 64 * 1024, 64 * 1024 + 1];

    #[test]
    fn keeps_the_order_of_the_model_to_the_bit() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        let mut ends = Vec::new();
        let mut total = 0;
        for length in LENGTHS.iter().chain([1; 200].iter()) {
            total += length;
            ends.push(total as u32 - 1);
        }
        // Magnitudes from 2^-20 to 2^20, so that another order of addition gives other bits.
        let values: Vec<f64> = (0..total as u64)
            .map(|i| ((i * 2_654_435_761) % 1_000_003) as f64 * 2f64.powi((i % 41) as i32 - 20))
            .collect();
        let begin = |run: u32| if run == 0 { 0 } else { ends[run as usize - 1] + 1 };
        let pieces_of = |run: u32| {
            let end = ends[run as usize] + 1;
            let starts = (begin(run)..end).step_by(RUN_PIECE);
            starts.map(move |start| Piece { run, begin: start, end: end.min(start + RUN_PIECE as u32), part: 0 })
        };
        let long = (0..LENGTHS.len() as u32).filter(|&r| LENGTHS[r as usize] > RUN_PIECE);
        let pieces: Vec<Piece> = long.flat_map(pieces_of).collect();
        let (end, pieces, value) = (work.upload(&ends)?, work.upload(&pieces)?, work.upload(&values)?);
        let mut sums = work.buffer::<f64>(ends.len())?;
        let reduce = SegmentedReduce::new(&device, 64, ElementType::F64, Semiring::PlusTimes)?;
        reduce.run(&work, Runs { end: &end, pieces: &pieces }, &value, &mut sums)?;
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&sums.download(&work)?), bits(&model(&ends, &values)));
        Ok(())
    }

    #[test]
    fn runs_are_summed_in_any_algebra() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        // A run of one value, a short run, and a run in three pieces, whose last piece contains the
        // least value.
        let (ends, cuts) = ([0, 7, 7 + 2 * RUN_PIECE as u32 + 3], [8, 1032, 2056, 2059]);
        let values: Vec<f64> = (0..=ends[2]).map(|i| f64::from(5000 - i)).collect();
        let piece = |cut: &[u32]| Piece { run: 2, begin: cut[0], end: cut[1], part: 0 };
        let pieces: Vec<Piece> = cuts.windows(2).map(piece).collect();
        let (end, pieces, value) = (work.upload(&ends)?, work.upload(&pieces)?, work.upload(&values)?);
        let mut sums = work.buffer::<f64>(ends.len())?;
        let reduce = SegmentedReduce::new(&device, 2, ElementType::F64, Semiring::MinPlus)?;
        reduce.run(&work, Runs { end: &end, pieces: &pieces }, &value, &mut sums)?;
        // The values descend, so the least of a run is its last.
        assert_eq!(sums.download(&work)?, ends.map(|end| values[end as usize]));
        Ok(())
    }

    #[test]
    fn half_is_rounded_once() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        // 2048 + 1 + 1 is 2050, which f16 can represent. If each sum were rounded to f16, it would
        // stay at 2048.
        let (end, pieces, value) = (work.upload(&[2])?, work.buffer(0)?, work.upload(&[2048f32, 1.0, 1.0])?);
        let mut sums = work.buffer::<f16>(1)?;
        let reduce = SegmentedReduce::new(&device, 64, ElementType::F16, Semiring::PlusTimes)?;
        reduce.run(&work, Runs { end: &end, pieces: &pieces }, &value, &mut sums)?;
        assert_eq!(sums.download(&work)?, [f16::from_f32(2050.0)]);
        Ok(())
    }
}
