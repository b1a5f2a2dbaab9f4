//! Stage 5 of 6, compression (Polok 2015, Algorithm 3, lines 50-69): the sum of each run, placed straight in C. Kernels: the sums of blocks
//! `cl/product/blocks/sums.cl`, those of scalars `cl/primitives/segmented_reduce.cl`.
use super::{
    Kind,
    expansion::{Factors, Payload},
    gather::Gathered,
};
use crate::{
    BlockShape, Element, Result,
    device::{Buffer, Device, Work},
    primitives::{drop_entries::DropMemory, segmented_reduce::SegmentedReduce},
    product::{
        blocks::{BlockSums, Places, Scaling},
        tuning::{PayloadKind, Tuning},
    },
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

pub(crate) struct Compression<T: Element> {
    sums: Sums<T>,
}

enum Sums<T: Element> {
    Values(SegmentedReduce<T>),
    Blocks(BlockSums<T>),
}

/// The operands of a product, and how C is laid out.
pub(crate) struct Operands<'a, T> {
    pub a: &'a DeviceCbc<T>,
    pub b: &'a DeviceCbc<T>,
    /// Elements from one block of C to the next.
    pub c_stride: usize,
    /// Device memory that the consumer of a band needs while it holds that band.
    pub consumer: Option<DropMemory>,
}

impl<T: Element> Operands<'_, T> {
    /// C, or a band of it, from its arrays.
    pub fn product(&self, col_ptr: Buffer<u32>, row_idx: Buffer<u32>, values: Buffer<T>) -> DeviceCbc<T> {
        let (nrows, ncols) = (self.a.nrows, col_ptr.len() - 1);
        self.on(PatternArrays::new(&self.a.device, nrows, ncols, col_ptr, row_idx), values)
    }

    /// Elements from one block to the next of A, B and C.
    pub fn strides(&self) -> [usize; 3] {
        [self.a.stride, self.b.stride, self.c_stride]
    }

    /// C, or a band of it, on a pattern.
    pub fn on(&self, pattern: Arc<PatternArrays>, values: Buffer<T>) -> DeviceCbc<T> {
        DeviceCbc { pattern, shape: self.a.shape.product(self.b.shape), stride: self.c_stride, values }
    }

    /// What the expansion takes of them.
    pub fn factors(&self) -> Factors<'_, T> {
        Factors { a: self.a, b: self.b, a_source: None, b_source: None, values: Some((&self.a.values, &self.b.values)) }
    }

    /// `ncols` columns of C without entries: what an empty expansion gives.
    pub fn empty_product(&self, work: &Work, ncols: usize) -> Result<DeviceCbc<T>> {
        let mut col_ptr = work.buffer(ncols + 1)?;
        work.fill_zero(&mut col_ptr)?;
        Ok(self.product(col_ptr, work.buffer(0)?, work.buffer(0)?))
    }
}

impl<T: Element> Compression<T> {
    pub fn new(device: &Device, tuning: &Tuning, a: BlockShape, b: BlockShape, kind: Kind) -> Result<Self> {
        Ok(Self {
            sums: match tuning.payload {
                PayloadKind::Values => Sums::Values(SegmentedReduce::new(device, tuning.group_size)?),
                PayloadKind::Pairs => Sums::Blocks(BlockSums::new(device, tuning, a, b, kind.transposed)?),
            },
        })
    }

    /// The values of C: the sum of each run.
    pub fn sums(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        payload: &Payload<T>,
        gathered: &Gathered,
    ) -> Result<Buffer<T>> {
        work.stage("compression");
        let mut values = work.buffer(gathered.run_end.len() * operands.c_stride)?;
        let runs = gathered.runs();
        match (&self.sums, payload) {
            (Sums::Values(reduce), Payload::Values(products)) => reduce.run(work, runs, products, &mut values)?,
            (Sums::Blocks(blocks), Payload::Pairs(pairs)) => {
                let places = Places { runs, pairs, first: 0, stride: operands.c_stride };
                if places.stride > operands.a.shape.product(operands.b.shape).area() {
                    work.fill_zero(&mut values)?; // the padding between blocks
                }
                let mut parts = blocks.parts(work, gathered.parts)?;
                blocks.run(work, (operands.a, operands.b), &places, Scaling::plain(), &mut parts, &mut values)?
            }
            _ => unreachable!("expansion and compression are made for the same payload"),
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::segmented_reduce::RUN_PIECE;
    use crate::{
        device::test_device,
        product::{
            Part,
            esc::{
                expansion::Expansion,
                gather::Gather,
                segmented_sort::SortStage,
                setup::Setup,
                tail_counts::TailCounts,
                tests::{Case, edge_cases, tunings},
            },
        },
    };

    /// Where each column of C begins, the last product of each run, the sum of each run in pieces of 1024, its row.
    fn model(case: &Case) -> (Vec<u32>, Vec<u32>, Vec<f64>, Vec<u32>) {
        let tails = case.tails();
        let ends: Vec<usize> = (0..tails.len()).filter(|&p| tails[p]).collect();
        let begins: Vec<usize> = std::iter::once(0).chain(ends.iter().map(|end| end + 1)).collect();
        let (a, b) = &case.host;
        let value = |p: usize| a.values()[case.sorted[p].2.a as usize] * b.values()[case.sorted[p].2.b as usize];
        let add = |x: f64, y: f64| x + y;
        let sum = |(&begin, &end): (&usize, &usize)| {
            let products: Vec<f64> = (begin..=end).map(value).collect();
            products.chunks(RUN_PIECE).filter_map(|piece| piece.iter().copied().reduce(add)).reduce(add).unwrap()
        };
        let col_ptr =
            (0..=b.ncols() as u32).map(|col| ends.iter().filter(|&&end| case.sorted[end].0 < col).count() as u32);
        let rows = ends.iter().map(|&end| case.sorted[end].1).collect();
        (
            col_ptr.collect(),
            ends.iter().map(|&end| end as u32).collect(),
            begins.iter().zip(&ends).map(sum).collect(),
            rows,
        )
    }

    #[test]
    fn agrees_with_its_model_and_so_does_gather() -> Result<()> {
        let (device, scalar) = (test_device(), BlockShape::SCALAR);
        for case in edge_cases()? {
            for tuning in tunings(scalar, scalar) {
                let (work, operands) = (&case.work, case.operands());
                let setup = Setup::new(&device, &tuning, Part::Full)?;
                let mut counted = setup.run(work, &case.a, &case.b)?;
                let band = case.band(counted.sizes);
                let expansion = Expansion::new(&device, &tuning, Kind::default())?;
                let segments = setup.segments(work, &case.b, &mut counted, &band)?;
                let expanded = expansion.run(work, operands.factors(), &counted.entries, &segments, &band)?;
                let sorted = SortStage::new(&device, &tuning)?.run(work, &segments, expanded)?;
                let tails = TailCounts::new(&device, &tuning)?.run(work, &sorted, &segments)?;
                let stage = Compression::new(&device, &tuning, scalar, scalar, Kind::default())?;
                let gathered = Gather::new(&device, &tuning)?.run(work, &sorted.rows, &segments, tails)?;
                let values = stage.sums(work, &operands, &sorted.payload, &gathered)?;
                let (col_ptr, run_end, sums, rows) = model(&case);
                assert_eq!(gathered.col_ptr.download(work)?, col_ptr);
                assert_eq!(gathered.run_end.download(work)?, run_end);
                assert_eq!(values.download(work)?, sums);
                assert_eq!(gathered.row_idx.download(work)?, rows);
            }
        }
        Ok(())
    }
}
