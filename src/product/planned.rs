//! Planned products: the operand pairs of all runs, and the pattern of C, are kept. A further
//! product of the same patterns only computes the sums of the compression. A product of scalars may
//! keep what the sums of an adaptive product take instead: less memory, and less time if many
//! products meet in an entry of C.
use super::{
    adaptive::{KeepRule, Kept, KeptSums},
    blocks::{BlockSums, Places},
    engine::RunFinder,
    join::join_patterns,
    limits::EntryMemory,
    method::Method,
    problem::{Bin, Counts, Destination, FactorPattern, Factors, How, Pairs, Part, Scaling, Spec},
    retarget::Retarget,
    runs::{CPattern, FoundColumns, FoundRuns},
    tuning::Tuning,
};
use crate::{
    BlockShape, Element, Error, OperandPair, Result,
    device::{Buffer, Device, Scratch, Teams, Work},
    element::{Piece, Stretch},
    primitives::segmented_reduce::Runs,
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

/// The structure of op(A)·op(B).
pub(crate) struct PlannedProduct<T: Element> {
    pub(super) sums: PlannedSums<T>,
    pub c: Arc<PatternArrays>,
    pub shape: BlockShape,
    pub products: u64,
    pub longest_run: Option<u32>,
    /// The share of each method.
    pub bins: Vec<Bin>,
}

/// What a plan keeps for its sums.
pub(super) enum PlannedSums<T: Element> {
    /// The operand pairs of each band.
    Pairs { sums: BlockSums<T>, bands: Vec<PlannedBand<T>> },
    /// Neither products nor pairs: scalars.
    Columns(Box<KeptSums<T>>),
}

/// The runs of a band: some columns of C, or some places of its mask.
pub(super) struct PlannedBand<T: Element> {
    pub pairs: Buffer<OperandPair>,
    pub run_end: Buffer<u32>,
    pub pieces: Buffer<Piece>,
    /// The work-groups of the runs.
    pub stretches: Buffer<Stretch>,
    /// Products of the longest run.
    pub longest: u32,
    /// Memory for the sums of the pieces of runs that are cut.
    pub parts: Scratch<T::Arithmetic>,
    /// Entry of C that is the sum of the first run.
    pub first: u32,
}

impl<T: Element> PlannedBand<T> {
    /// Of runs that are found; the first makes entry `first` of C.
    pub fn new(work: &Work, sums: &BlockSums<T>, found: FoundRuns<OperandPair>, first: u32) -> Result<Self> {
        let FoundRuns { run_end, pieces, parts, payload: pairs, longest } = found;
        let parts = sums.reserved_parts(work, parts)?;
        let stretches = sums.stretches(work, &run_end, pairs.len())?;
        Ok(Self { pairs, run_end, pieces, stretches, longest, parts, first })
    }
}

impl<T: Element> PlannedProduct<T> {
    /// Analyses a product. The caller has checked that the inner sizes agree and that both factors
    /// are on the device of `work`.
    ///
    /// A plan of scalars keeps pairs if few products meet in an entry of C, unless there is no
    /// memory for them.
    pub fn new(work: &Work, a: &FactorPattern, b: &FactorPattern, part: Part, how: impl Into<How>) -> Result<Self> {
        let how = how.into();
        let pairs = || Self::of_pairs(work, a, b, part, how);
        let Some((teams, rule)) = Self::keeping(work.device(), (a, b), part, how.method) else { return pairs() };
        let sums = |rule| -> Result<Option<Self>> {
            let kept = KeptSums::keep(work, (&a.pattern, &b.pattern), teams, how, rule)?;
            Ok(kept.map(|Kept { sums, c, counts: Counts { products, longest_run, bins, .. } }| {
                let (sums, shape) = (PlannedSums::Columns(Box::new(sums)), BlockShape::SCALAR);
                Self { sums, c, shape, products, longest_run, bins }
            }))
        };
        match rule.map_or(Ok(None), sums) {
            Ok(Some(plan)) => return Ok(plan),
            Ok(None) => {}
            Err(Error::Memory { .. }) if rule != Some(KeepRule::Always) => {}
            Err(other) => return Err(other),
        }
        match pairs() {
            Err(error @ Error::Memory { .. }) if rule != Some(KeepRule::Always) => match sums(KeepRule::Always) {
                Ok(Some(plan)) => Ok(plan),
                Ok(None) | Err(Error::Memory { .. }) => Err(error),
                Err(other) => Err(other),
            },
            planned => planned,
        }
    }

    /// As [`PlannedProduct::new`], with operand pairs in every case: for plans whose pairs are
    /// read.
    pub fn of_pairs(
        work: &Work,
        a: &FactorPattern,
        b: &FactorPattern,
        part: Part,
        how: impl Into<How>,
    ) -> Result<Self> {
        let how = how.into();
        let (tuning, spec) = Self::numbers(work.device(), a, b, part, how);
        Self::tuned(work, (a, b), tuning, &spec, how.method)
    }

    /// As [`PlannedProduct::of_pairs`], for plans that are retargeted.
    pub fn to_retarget(work: &Work, a: &FactorPattern, b: &FactorPattern, part: Part) -> Result<Self> {
        let (tuning, spec) = Self::numbers(work.device(), a, b, part, How::default());
        Self::tuned_to_retarget(work, (a, b), tuning, &spec)
    }

    /// The teams that compute sums, and when a plan keeps what they take besides the case that
    /// there is no memory for pairs. `None` if it never does.
    fn keeping(
        device: &Device,
        (a, b): (&FactorPattern, &FactorPattern),
        part: Part,
        method: Method,
    ) -> Option<(Teams, Option<KeepRule>)> {
        let plain = |of: &FactorPattern| !of.transposed && of.shape == BlockShape::SCALAR;
        let info = device.info();
        let teams = Teams::of(info).filter(|_| plain(a) && plain(b) && part == Part::Full)?;
        match method {
            Method::Auto if teams.are_warps() => {
                let [products, percent] =
                    [info.numbers().plan_sums_products, info.numbers().plan_sums_percent].map(|number| number as u64);
                Some((teams, Some(KeepRule::From { products, percent })))
            }
            Method::Auto => Some((teams, None)),
            _ => method.is_of_scalars().then_some((teams, Some(KeepRule::Always))),
        }
    }

    /// Requests the kernels that [`PlannedProduct::new`] will launch, so that the kernels of
    /// several plans are compiled together.
    pub fn ask(device: &Device, a: &FactorPattern, b: &FactorPattern, part: Part, how: impl Into<How>) -> Result<()> {
        let how = how.into();
        let (tuning, spec) = Self::numbers(device, a, b, part, how);
        BlockSums::<T>::new(device, &tuning, &spec)?;
        RunFinder::<T, Pairs>::new(device, &spec, tuning, how.method)?;
        if let Some((teams, Some(_))) = Self::keeping(device, (a, b), part, how.method) {
            KeptSums::<T>::ask(device, a.pattern.nrows, teams, how.method)?;
        }
        [a, b].into_iter().try_for_each(|factor| factor.ask_transpose(device))
    }

    /// As [`PlannedProduct::ask`], for the kernels of [`PlannedProduct::to_retarget`] and of
    /// [`PlannedProduct::retarget`], but not for those that transpose factors.
    pub fn ask_retarget(device: &Device, spec: &Spec) -> Result<()> {
        let tuning = Self::tuning(device, spec, Method::Auto);
        BlockSums::<T>::with_empty_runs(device, &tuning, spec)?;
        RunFinder::<T, Pairs>::new(device, spec, tuning, Method::Auto)?;
        Retarget::new(device).map(drop)
    }

    fn numbers(device: &Device, a: &FactorPattern, b: &FactorPattern, part: Part, how: How) -> (Tuning, Spec) {
        let spec = Spec::of_factors(a, b, part).over(how.semiring);
        (Self::tuning(device, &spec, how.method), spec)
    }

    fn tuning(device: &Device, spec: &Spec, method: Method) -> Tuning {
        Tuning::new(device.info(), spec.a, spec.b).keeping_pairs().with_method(device.info(), method)
    }

    pub(super) fn tuned(
        work: &Work,
        factors: (&FactorPattern, &FactorPattern),
        tuning: Tuning,
        spec: &Spec,
        method: Method,
    ) -> Result<Self> {
        let sums = BlockSums::new(work.device(), &tuning, spec)?;
        Self::analysed(work, factors, RunFinder::new(work.device(), spec, tuning, method)?, spec, sums)
    }

    fn tuned_to_retarget(
        work: &Work,
        factors: (&FactorPattern, &FactorPattern),
        tuning: Tuning,
        spec: &Spec,
    ) -> Result<Self> {
        let sums = BlockSums::with_empty_runs(work.device(), &tuning, spec)?;
        Self::analysed(work, factors, RunFinder::new(work.device(), spec, tuning, Method::Auto)?, spec, sums)
    }

    fn analysed(
        work: &Work,
        (a, b): (&FactorPattern, &FactorPattern),
        finder: RunFinder<T, Pairs>,
        spec: &Spec,
        sums: BlockSums<T>,
    ) -> Result<Self> {
        let (at, bt) = (a.transpose(work)?, b.transpose(work)?);
        let factors = Factors::of_pairs(a.multiplied(at.as_ref()), b.multiplied(bt.as_ref()));
        let (mut bands, mut patterns, mut first) = (Vec::new(), Vec::new(), 0);
        // Besides its row, an entry of C takes the end of its run.
        let area = spec.a.product(spec.b).area();
        let entries = EntryMemory::new::<T>(&finder.tuning, factors.a.nrows, size_of::<u32>(), area);
        let counts = finder.in_bands(work, factors, entries, &mut |found, band| {
            let Some(found) = found else {
                let mut col_ptr = work.buffer(band.columns.len() + 1)?;
                work.fill_zero(&mut col_ptr)?;
                patterns.push((col_ptr, work.buffer(0)?));
                return Ok(());
            };
            let FoundColumns { pattern: CPattern { col_ptr, row_idx }, runs } = found;
            patterns.push((col_ptr, row_idx));
            let nnz = runs.run_end.len() as u32;
            bands.push(PlannedBand::new(work, &sums, runs, first)?);
            first += nnz;
            Ok(())
        })?;
        Ok(Self {
            sums: PlannedSums::Pairs { sums, bands },
            c: join_patterns(work, factors.a.nrows, patterns)?,
            shape: spec.a.product(spec.b),
            products: counts.products,
            longest_run: counts.longest_run,
            bins: counts.bins,
        })
    }

    /// Retargets the product, one of [`PlannedProduct::to_retarget`], to a larger pattern, whose
    /// further entries become zero. `places` gives the entry of `pattern` for each entry of C.
    pub fn retarget(&mut self, work: &Work, places: &Buffer<u32>, pattern: Arc<PatternArrays>) -> Result<()> {
        let PlannedSums::Pairs { sums, bands } = &mut self.sums else {
            return Err(Error::Contradiction("a plan without operand pairs is retargeted".into()));
        };
        let retarget = Retarget::new(work.device())?;
        for PlannedBand { pairs, run_end, pieces, stretches, first, .. } in bands {
            (*run_end, *first) = retarget.run(work, places, *first, run_end, pieces)?;
            *stretches = sums.stretches(work, run_end, pairs.len())?;
        }
        self.c = pattern;
        Ok(())
    }

    /// Computes C = alpha·op(A)·op(B) + beta·C. A and B have the plan's patterns, and C has room
    /// for all entries of the plan's C.
    pub fn execute(
        &self,
        work: &Work,
        operands: (&DeviceCbc<T>, &DeviceCbc<T>),
        scaling: Scaling<T::Arithmetic>,
        c: Destination<'_, T>,
    ) -> Result<()> {
        let (sums, bands) = match &self.sums {
            PlannedSums::Columns(sums) => return sums.execute(work, operands, scaling, &self.c, c),
            PlannedSums::Pairs { sums, bands } => (sums, bands),
        };
        work.stage("compression");
        for PlannedBand { pairs, run_end, pieces, stretches, longest, parts, first } in bands {
            let runs = Runs { end: run_end, pieces };
            let (longest, first) = (*longest, *first + c.first as u32);
            let places = Places { runs, pairs, stretches, longest, first, stride: c.stride };
            sums.run(work, operands, &places, scaling, &mut *parts.take(work)?, c.values)?;
        }
        Ok(())
    }

    /// The bands, if pairs are kept.
    pub(super) fn bands(&self) -> &[PlannedBand<T>] {
        match &self.sums {
            PlannedSums::Pairs { bands, .. } => bands,
            PlannedSums::Columns(_) => &[],
        }
    }

    /// Operand pairs and run ends of each band, and the entry of C that is the sum of its first
    /// run. The plan is one [`PlannedProduct::of_pairs`].
    pub fn runs(&self) -> impl Iterator<Item = (&Buffer<OperandPair>, &Buffer<u32>, u32)> {
        self.bands().iter().map(|band| (&band.pairs, &band.run_end, band.first))
    }

    /// Bytes of device memory held, including the rounding of size classes.
    pub fn bytes(&self) -> u64 {
        let runs = |b: &PlannedBand<T>| b.pairs.bytes() + b.run_end.bytes() + b.pieces.bytes();
        let band = |b: &PlannedBand<T>| runs(b) + b.stretches.bytes() + b.parts.bytes();
        let columns = match &self.sums {
            PlannedSums::Columns(sums) => sums.bytes(),
            PlannedSums::Pairs { .. } => 0,
        };
        self.bands().iter().map(band).sum::<u64>() + columns + self.c.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cbc, Matrix, Pattern,
        device::test_device,
        generate::{self, Values, uniform},
        product::{
            problem::Transposed,
            tuning::{BlockKernel, BlockTuning, ScalarNumbers, StagedNumbers},
        },
        reference,
    };

    const STAGED: StagedNumbers = StagedNumbers { group: 32, bytes: 6 << 10 };

    #[test]
    fn a_plan_in_bands_has_the_same_bits() -> Result<()> {
        let device = test_device();
        // Long runs in every band, and in the middle of C.
        let shape = BlockShape::new(2, 3)?;
        let w: Cbc<f64> = generate::uniform(40, 30_000, 6, shape, generate::Values::Real, 3)?;
        let (a, b) = (device.upload(&w)?, device.upload(&w.transpose())?);
        let factor = |matrix: &DeviceCbc<f64>| FactorPattern {
            pattern: matrix.pattern.clone(),
            shape: matrix.shape,
            transposed: false,
        };
        let want = reference::multiply(&w, &w.transpose())?;
        for (limit, banded) in [(None, false), (Some(24 << 20), true)] {
            let work = Work::new(&device, limit);
            let plan = PlannedProduct::<f64>::new(&work, &factor(&a.cbc), &factor(&b.cbc), Part::Full, Method::Auto)?;
            assert_eq!(plan.bands().len() > 1, banded, "{} bands", plan.bands().len());
            assert!(plan.longest_run > Some(1024));
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
                let factor = |transposed| FactorPattern { pattern: a.pattern.clone(), shape, transposed };
                let (left, right) = (factor(transposed.a), factor(transposed.b));
                // Runs of all lengths from one product up, the longest in pieces.
                let executed = |kernel, group_size, long_run| -> Result<Vec<f64>> {
                    let blocks = BlockTuning { kernel, group_size, long_run };
                    let tuning = Tuning::new(device.info(), left.op_shape(), right.op_shape()).keeping_pairs();
                    let spec = Spec { row_bits: 32, ..Spec::of_factors(&left, &right, Part::Full) };
                    let tuning = Tuning { blocks, ..tuning };
                    let plan = PlannedProduct::<f64>::tuned(&work, (&left, &right), tuning, &spec, Method::Auto)?;
                    let stride = plan.shape.area();
                    let values = work.buffer(plan.c.nnz() * stride)?;
                    let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride, values };
                    plan.execute(&work, (&a, &a), Scaling::plain(), (&mut c).into())?;
                    c.values.download(&work)
                };
                let want = executed(BlockKernel::General, 64, 7)?;
                assert!(executed(BlockKernel::Serial { runs: 3 }, 1, 7)? == want, "{shape:?} {transposed:?}");
                assert!(executed(BlockKernel::Tiles, 64, 7)? == want, "{shape:?} {transposed:?}");
                assert!(executed(BlockKernel::Staged(STAGED), 32, 0)? == want, "{shape:?} {transposed:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn further_entries_are_sums_of_nothing() -> Result<()> {
        let (device, n) = (test_device(), 30usize);
        let work = Work::new(&device, None);
        // The larger pattern is the whole lower triangle.
        let triangle = |col: usize| (col * (2 * n + 1 - col) / 2) as u64;
        let rows = (0..n as u32).flat_map(|col| col..n as u32).collect();
        let triangle = Pattern::new(n, n, (0..=n).map(triangle).collect(), rows)?;
        // Runs of one to seven products; those with more than two are in pieces.
        let scalars = BlockKernel::Scalars(ScalarNumbers { ahead: 2, stretch: 2 });
        for (kernel, group_size, long_run, sides) in [
            (BlockKernel::Tiles, 64, 2, (2, 3)),
            (BlockKernel::Staged(STAGED), 32, 0, (2, 3)),
            (BlockKernel::Serial { runs: 3 }, 1, 2, (2, 3)),
            (BlockKernel::General, 64, 2, (2, 3)),
            (scalars, 8, 2, (1, 1)),
        ] {
            let shape = BlockShape::new(sides.0, sides.1)?;
            let a = DeviceCbc::upload(&work, uniform(n, 60, 3, shape, Values::Real, 1)?.as_cbc())?;
            let factor = |transposed| FactorPattern { pattern: a.pattern.clone(), shape, transposed };
            let (left, right, area) = (factor(false), factor(true), sides.0 * sides.0);
            let spec = Spec { row_bits: 32, ..Spec::of_factors(&left, &right, Part::Lower) };
            let blocks = BlockTuning { kernel, group_size, long_run };
            let tuning = Tuning { blocks, ..Tuning::new(device.info(), shape, shape.transpose()).keeping_pairs() };
            let mut plan = PlannedProduct::<f64>::tuned_to_retarget(&work, (&left, &right), tuning, &spec)?;
            let executed = |plan: &PlannedProduct<f64>| -> Result<Vec<f64>> {
                let values = work.upload(&vec![7.5; plan.c.nnz() * area])?;
                let mut c = DeviceCbc { pattern: plan.c.clone(), shape: plan.shape, stride: area, values };
                plan.execute(&work, (&a, &a), Scaling { alpha: -1.0, beta: 1.0 }, (&mut c).into())?;
                c.values.download(&work)
            };
            let sums = executed(&plan)?;
            let small = plan.c.download(&work)?;
            assert!(plan.longest_run > Some(2) && small.nnz() < triangle.nnz(), "{kernel:?}");
            let place = |col: usize, row: u32| triangle.entries(col).start as u32 + row - col as u32;
            let places: Vec<u32> =
                (0..n).flat_map(|col| small.column(col).iter().map(move |&row| place(col, row))).collect();
            plan.retarget(&work, &work.upload(&places)?, PatternArrays::upload(&work, &triangle)?)?;
            let mut want = vec![7.5; triangle.nnz() * area];
            for (block, &place) in sums.chunks_exact(area).zip(&places) {
                want[place as usize * area..][..area].copy_from_slice(block);
            }
            assert!(executed(&plan)? == want, "{kernel:?}");
        }
        Ok(())
    }
}
