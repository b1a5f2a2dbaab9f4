//! A product whose structure is kept: the operand pairs of its runs, and the pattern of C. What is left for every further product of the
//! same patterns is stage 5's sums.
use super::{
    Part,
    blocks::{BlockSums, Places, Scaling, Transposed},
    esc::{
        Esc, Kind,
        expansion::{Factors, Payload},
        gather::Gathered,
        row_bits,
    },
    join::join_patterns,
    limits::EntryMemory,
    onto::Onto,
    tuning::Tuning,
};
use crate::{
    BlockShape, Element, OperandPair, Result,
    device::{Buffer, Device, Work},
    element::Piece,
    error::Dimensions,
    primitives::{
        segmented_reduce::Runs,
        transpose::{self, Transpose},
    },
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

/// An operand to plan for.
#[derive(Clone)]
pub(crate) struct Side {
    pub pattern: Arc<PatternArrays>,
    pub shape: BlockShape,
    /// Whether its transpose is multiplied.
    pub transposed: bool,
}

/// op(A)·op(B), sorted out.
pub(crate) struct PlannedProduct<T: Element> {
    pub(super) sums: BlockSums<T>,
    pub(super) bands: Vec<PlannedBand<T>>,
    pub c: Arc<PatternArrays>,
    pub shape: BlockShape,
    pub products: u64,
    pub longest_run: u32,
}

/// The runs of some columns of C, or of some places of its mask.
pub(super) struct PlannedBand<T: Element> {
    pub pairs: Buffer<OperandPair>,
    pub run_end: Buffer<u32>,
    pub pieces: Buffer<Piece>,
    /// Room for the sums of the pieces of runs that are cut.
    pub parts: Buffer<T::Arithmetic>,
    /// Entry of C that the first run makes.
    pub first: u32,
}

/// Where a product is written.
pub(crate) struct Room<'a, T> {
    pub values: &'a mut Buffer<T>,
    /// Elements from one block to the next.
    pub stride: usize,
    /// Block that the first entry of C becomes.
    pub first: usize,
}

/// The blocks of a matrix on the pattern of C.
impl<'a, T> From<&'a mut DeviceCbc<T>> for Room<'a, T> {
    fn from(c: &'a mut DeviceCbc<T>) -> Self {
        Self { values: &mut c.values, stride: c.stride, first: 0 }
    }
}

impl Side {
    /// Whether the inner sizes of a product with `right` agree.
    pub fn meets(&self, right: &Self) -> bool {
        let (left, right) = (self.dimensions(), right.dimensions());
        (left.ncols, left.block_cols) == (right.nrows, right.block_rows)
    }

    /// Grid and blocks as they are multiplied.
    pub fn dimensions(&self) -> Dimensions {
        let (shape, (nrows, ncols)) = (self.op_shape(), (self.pattern.nrows, self.pattern.ncols));
        let (nrows, ncols) = if self.transposed { (ncols, nrows) } else { (nrows, ncols) };
        Dimensions { nrows, ncols, block_rows: shape.rows(), block_cols: shape.cols() }
    }

    /// Shape of the blocks that are multiplied.
    pub fn op_shape(&self) -> BlockShape {
        if self.transposed { self.shape.transpose() } else { self.shape }
    }

    /// The transpose, where it is wanted.
    fn transpose(&self, work: &Work) -> Result<Option<transpose::Transposed>> {
        match self.transposed {
            true => Ok(Some(Transpose::new(work.device())?.run(work, &self.pattern)?)),
            false => Ok(None),
        }
    }
}

impl<T: Element> PlannedProduct<T> {
    /// The inner sizes agree and both live on `work`'s device: the caller has looked.
    pub fn new(work: &Work, a: &Side, b: &Side, part: Part) -> Result<Self> {
        let (tuning, kind) = Self::numbers(work.device(), a, b, part);
        Self::tuned(work.device(), work, (a, b), tuning, kind)
    }

    /// Asks for the kernels that [`PlannedProduct::new`] will launch, so that those of several plans are made together.
    pub fn ask(device: &Device, a: &Side, b: &Side, part: Part) -> Result<()> {
        let (tuning, kind) = Self::numbers(device, a, b, part);
        Self::kernels(device, (a, b), tuning, kind)?;
        if a.transposed || b.transposed {
            Transpose::new(device)?;
        }
        Ok(())
    }

    /// As [`PlannedProduct::ask`], of those that [`PlannedProduct::onto`] launches.
    pub fn ask_onto(device: &Device, a: &Side, b: &Side, part: Part) -> Result<()> {
        let (tuning, kind) = Self::numbers(device, a, b, part);
        Self::kernels(device, (a, b), tuning, kind)?.0.with_empty_runs(device)?;
        Onto::new(device).map(drop)
    }

    fn numbers(device: &Device, a: &Side, b: &Side, part: Part) -> (Tuning, Kind) {
        let tuning = Tuning::new(device.info(), a.op_shape(), b.op_shape()).keeping_pairs();
        let transposed = Transposed { a: a.transposed, b: b.transposed };
        (tuning, Kind { part, transposed, row_bits: row_bits(a.dimensions().nrows) })
    }

    fn kernels(device: &Device, (a, b): (&Side, &Side), tuning: Tuning, kind: Kind) -> Result<(BlockSums<T>, Esc<T>)> {
        let (a_shape, b_shape) = (a.op_shape(), b.op_shape());
        let sums = BlockSums::new(device, &tuning, a_shape, b_shape, kind.transposed)?;
        Ok((sums, Esc::<T>::tuned(device, a_shape, b_shape, tuning, kind)?))
    }

    fn tuned(device: &Device, work: &Work, (a, b): (&Side, &Side), tuning: Tuning, kind: Kind) -> Result<Self> {
        let (a_shape, b_shape) = (a.op_shape(), b.op_shape());
        let (sums, esc) = Self::kernels(device, (a, b), tuning, kind)?;
        let (at, bt) = (a.transpose(work)?, b.transpose(work)?);
        let factors = Factors {
            a: at.as_ref().map_or(&a.pattern, |at| &at.pattern),
            b: bt.as_ref().map_or(&b.pattern, |bt| &bt.pattern),
            a_source: at.as_ref().map(|at| &at.source),
            b_source: bt.as_ref().map(|bt| &bt.source),
            values: None,
        };
        let (mut bands, mut patterns, mut first) = (Vec::new(), Vec::new(), 0);
        // An entry of C costs where its run ends, beside its row.
        let area = a_shape.product(b_shape).area();
        let entries = EntryMemory::new::<T>(&esc.tuning, factors.a.nrows, size_of::<u32>(), area);
        let done = esc.in_bands(work, factors, entries, |counted, band| {
            if band.sizes.products == 0 {
                let mut col_ptr = work.buffer(band.columns.len() + 1)?;
                work.fill_zero(&mut col_ptr)?;
                patterns.push((col_ptr, work.buffer(0)?));
                return Ok(0);
            }
            let (payload, gathered, longest) = esc.find_runs(work, factors, counted, band)?;
            let Payload::Pairs(pairs) = payload else { unreachable!("a plan keeps pairs") };
            let Gathered { col_ptr, row_idx, run_end, pieces, parts } = gathered;
            let parts = sums.parts(work, parts)?;
            patterns.push((col_ptr, row_idx));
            let nnz = run_end.len() as u32;
            bands.push(PlannedBand { pairs, run_end, pieces, parts, first });
            first += nnz;
            Ok(longest)
        })?;
        Ok(Self {
            sums,
            bands,
            c: join_patterns(work, factors.a.nrows, patterns)?,
            shape: a_shape.product(b_shape),
            products: done.products,
            longest_run: done.longest_run,
        })
    }

    /// The same product written onto a pattern that has further entries, whose sums are those of no products: 0. `places` has the
    /// entry of `pattern` for each entry of C.
    pub fn onto(&mut self, work: &Work, places: &Buffer<u32>, pattern: Arc<PatternArrays>) -> Result<()> {
        let onto = Onto::new(work.device())?;
        self.sums = self.sums.with_empty_runs(work.device())?;
        for PlannedBand { run_end, pieces, first, .. } in &mut self.bands {
            (*run_end, *first) = onto.run(work, places, *first, run_end, pieces)?;
        }
        self.c = pattern;
        Ok(())
    }

    /// alpha·op(A)·op(B) + beta·C in C's place. A and B are on the plan's patterns, and C has room for all entries of the plan's C.
    pub fn execute(
        &mut self,
        work: &Work,
        operands: (&DeviceCbc<T>, &DeviceCbc<T>),
        scaling: Scaling<T::Arithmetic>,
        c: Room<'_, T>,
    ) -> Result<()> {
        work.stage("compression");
        for PlannedBand { pairs, run_end, pieces, parts, first } in &mut self.bands {
            let runs = Runs { end: run_end, pieces };
            let places = Places { runs, pairs, first: *first + c.first as u32, stride: c.stride };
            self.sums.run(work, operands, &places, scaling, parts, c.values)?;
        }
        Ok(())
    }

    /// Operand pairs and run ends of each band, and the entry of C that its first run makes.
    pub fn runs(&self) -> impl Iterator<Item = (&Buffer<OperandPair>, &Buffer<u32>, u32)> {
        self.bands.iter().map(|band| (&band.pairs, &band.run_end, band.first))
    }

    /// Bytes of device memory held, size classes included.
    pub fn bytes(&self) -> u64 {
        let band = |b: &PlannedBand<T>| b.pairs.bytes() + b.run_end.bytes() + b.pieces.bytes() + b.parts.bytes();
        self.bands.iter().map(band).sum::<u64>() + self.c.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cbc, Matrix, Pattern,
        device::test_device,
        generate::{self, Values, uniform},
        product::tuning::{BlockKernel, BlockTuning},
        reference,
    };

    #[test]
    fn a_plan_in_bands_has_the_same_bits() -> Result<()> {
        let device = test_device();
        // Long runs in every band, in the middle of C too.
        let shape = BlockShape::new(2, 3)?;
        let w: Cbc<f64> = generate::uniform(40, 30_000, 6, shape, generate::Values::Real, 3)?;
        let (a, b) = (device.upload(&w)?, device.upload(&w.transpose())?);
        let side =
            |matrix: &DeviceCbc<f64>| Side { pattern: matrix.pattern.clone(), shape: matrix.shape, transposed: false };
        let want = reference::multiply(&w, &w.transpose())?;
        for (limit, banded) in [(None, false), (Some(24 << 20), true)] {
            let work = Work::new(&device, limit);
            let mut plan = PlannedProduct::<f64>::new(&work, &side(&a.cbc), &side(&b.cbc), Part::Full)?;
            assert_eq!(plan.bands.len() > 1, banded, "{} bands", plan.bands.len());
            assert!(plan.longest_run > 1024);
            let mut values = work.buffer(plan.c.nnz() * plan.shape.area())?;
            work.fill_zero(&mut values)?;
            let stride = plan.shape.area();
            let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride, values };
            plan.execute(&work, (&a.cbc, &b.cbc), Scaling { alpha: 1.0, beta: 0.0 }, (&mut c).into())?;
            assert_eq!(Cbc::from_cbc(c.download(&work)?)?, want);
        }
        Ok(())
    }

    #[test]
    fn kernels_agree_on_transposed_operands() -> Result<()> {
        let device = test_device();
        let work = Work::new(&device, None);
        for (rows, cols) in [(2, 3), (6, 4), (9, 1), (11, 7)] {
            let shape = BlockShape::new(rows, cols)?;
            let a = DeviceCbc::upload(&work, uniform(20, 60, 9, shape, Values::Real, 1)?.as_cbc())?;
            for transposed in [Transposed { a: true, b: false }, Transposed { a: false, b: true }] {
                let side = |transposed| Side { pattern: a.pattern.clone(), shape, transposed };
                let (left, right) = (side(transposed.a), side(transposed.b));
                // Runs of all lengths from one on, the longest in pieces.
                let executed = |kernel, group_size, long_run| -> Result<Vec<f64>> {
                    let blocks = BlockTuning { kernel, group_size, long_run, depth: 3 };
                    let tuning = Tuning::new(device.info(), left.op_shape(), right.op_shape()).keeping_pairs();
                    let kind = Kind { part: Part::Full, transposed, row_bits: 32 };
                    let tuning = Tuning { blocks, ..tuning };
                    let mut plan = PlannedProduct::<f64>::tuned(&device, &work, (&left, &right), tuning, kind)?;
                    let stride = plan.shape.area();
                    let values = work.buffer(plan.c.nnz() * stride)?;
                    let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride, values };
                    plan.execute(&work, (&a, &a), Scaling::plain(), (&mut c).into())?;
                    c.values.download(&work)
                };
                let want = executed(BlockKernel::General, 64, 7)?;
                assert!(executed(BlockKernel::Serial { runs: 3 }, 1, 7)? == want, "{shape:?} {transposed:?}");
                assert!(executed(BlockKernel::Tiles, 64, 7)? == want, "{shape:?} {transposed:?}");
                assert!(executed(BlockKernel::Staged, 32, 0)? == want, "{shape:?} {transposed:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn further_entries_are_sums_of_nothing() -> Result<()> {
        let (device, n) = (test_device(), 30usize);
        let work = Work::new(&device, None);
        let shape = BlockShape::new(2, 3)?;
        let a = DeviceCbc::upload(&work, uniform(n, 60, 3, shape, Values::Real, 1)?.as_cbc())?;
        let side = |transposed| Side { pattern: a.pattern.clone(), shape, transposed };
        let kind = Kind { part: Part::Lower, transposed: Transposed { a: false, b: true }, row_bits: 32 };
        // The larger pattern: all of the lower triangle.
        let triangle = |col: usize| (col * (2 * n + 1 - col) / 2) as u64;
        let rows = (0..n as u32).flat_map(|col| col..n as u32).collect();
        let triangle = Pattern::new(n, n, (0..=n).map(triangle).collect(), rows)?;
        // Runs of one to seven products; those of more than two in pieces.
        for (kernel, group_size, long_run) in [
            (BlockKernel::Tiles, 64, 2),
            (BlockKernel::Staged, 32, 0),
            (BlockKernel::Serial { runs: 3 }, 1, 2),
            (BlockKernel::General, 64, 2),
        ] {
            let blocks = BlockTuning { kernel, group_size, long_run, depth: 3 };
            let tuning = Tuning { blocks, ..Tuning::new(device.info(), shape, shape.transpose()).keeping_pairs() };
            let mut plan = PlannedProduct::<f64>::tuned(&device, &work, (&side(false), &side(true)), tuning, kind)?;
            let executed = |plan: &mut PlannedProduct<f64>| -> Result<Vec<f64>> {
                let values = work.upload(&vec![7.5; plan.c.nnz() * 4])?;
                let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride: 4, values };
                plan.execute(&work, (&a, &a), Scaling { alpha: -1.0, beta: 1.0 }, (&mut c).into())?;
                c.values.download(&work)
            };
            let sums = executed(&mut plan)?;
            let small = plan.c.download(&work)?;
            assert!(plan.longest_run > 2 && small.nnz() < triangle.nnz(), "{kernel:?}");
            let place = |col: usize, row: u32| triangle.entries(col).start as u32 + row - col as u32;
            let places: Vec<u32> =
                (0..n).flat_map(|col| small.column(col).iter().map(move |&row| place(col, row))).collect();
            plan.onto(&work, &work.upload(&places)?, PatternArrays::upload(&work, &triangle)?)?;
            let mut want = vec![7.5; triangle.nnz() * 4];
            for (block, &place) in sums.chunks_exact(4).zip(&places) {
                want[place as usize * 4..][..4].copy_from_slice(block);
            }
            assert!(executed(&mut plan)? == want, "{kernel:?}");
        }
        Ok(())
    }
}
