//! Compression (Polok 2015, Algorithm 3, lines 52, 69 and 73): the last step of every method that
//! sorts products. Compression computes the sum of each run and writes it to its place in C.
//! Kernels: `cl/product/esc/blocks/` for blocks, `cl/primitives/segmented_reduce.cl` for scalars.
use super::blocks::{BlockSums, Places};
use crate::{
    Result,
    device::{Buffer, Device, Work},
    primitives::segmented_reduce::SegmentedReduce,
    product::{
        terms::{Factors, FoundRuns, NumberedPattern, Operands, PayloadKind, Scaling, Spec},
        tuning::Tuning,
    },
};

/// The kernels that compute the sums, for one kind of payload.
pub(in crate::product) enum Compression {
    Values(SegmentedReduce),
    Pairs(Box<BlockSums>),
}

impl Compression {
    pub fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        Ok(match tuning.payload {
            PayloadKind::Values => {
                Self::Values(SegmentedReduce::new(device, tuning.group_size, spec.element, spec.semiring)?)
            }
            PayloadKind::Pairs => Self::Pairs(Box::new(BlockSums::new(device, tuning, spec)?)),
        })
    }

    /// The patterns and operands that an expansion reads.
    pub fn factors<'a>(&self, operands: &Operands<'a>) -> Factors<'a> {
        match self {
            Self::Values(_) => Factors::of_values(operands.a, operands.b),
            Self::Pairs(_) => {
                Factors::of_pairs(NumberedPattern::of(&operands.a.pattern), NumberedPattern::of(&operands.b.pattern))
            }
        }
    }

    /// The values of C: the sum of each run.
    pub fn sums(&self, work: &Work, operands: &Operands<'_>, found: &FoundRuns) -> Result<Buffer> {
        work.stage("compression");
        let mut values = work.buffer_of(operands.element().word(), found.run_end.len() * operands.c_stride)?;
        match self {
            Self::Values(reduce) => reduce.run(work, found.as_runs(), &found.payload, &mut values)?,
            Self::Pairs(blocks) => block_sums(blocks, work, operands, found, &mut values)?,
        }
        Ok(values)
    }
}

fn block_sums(
    blocks: &BlockSums,
    work: &Work,
    operands: &Operands<'_>,
    found: &FoundRuns,
    values: &mut Buffer,
) -> Result<()> {
    let stretches = &blocks.stretches(work, &found.run_end, found.payload.len())?;
    let places = Places {
        runs: found.as_runs(),
        pairs: found.payload.typed(),
        stretches,
        longest: found.longest,
        first: 0,
        stride: operands.c_stride,
    };
    if places.stride > operands.a.shape.product(operands.b.shape).area() {
        work.fill_zero(values)?; // this also fills the padding between blocks
    }
    let mut parts = blocks.parts(work, found.parts)?;
    blocks.run(work, (operands.a, operands.b), &places, Scaling::plain(operands.element()), &mut parts, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape,
        device::test_device,
        primitives::segmented_reduce::RUN_PIECE,
        product::esc::tests::{Case, edge_cases, found, tunings},
    };

    /// Four arrays: the first entry of each column of C, the last product of each run, the sum of
    /// each run in pieces of 1024, and the row of each run.
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
                let work = &case.work;
                let found = found(&case, &tuning)?;
                let spec = Spec::new(crate::element::ElementType::F64, scalar, scalar, case.a.nrows);
                let values = Compression::new(&device, &spec, &tuning)?.sums(work, &case.operands(), &found.runs)?;
                let (col_ptr, run_end, sums, rows) = model(&case);
                assert_eq!(found.pattern.col_ptr.download(work)?, col_ptr);
                assert_eq!(found.runs.run_end.download(work)?, run_end);
                assert_eq!(values.typed::<f64>().download(work)?, sums);
                assert_eq!(found.pattern.row_idx.download(work)?, rows);
            }
        }
        Ok(())
    }
}
