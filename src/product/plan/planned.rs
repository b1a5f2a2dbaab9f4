//! Planned products: a plan keeps the operand pairs of all runs, and the pattern of C. Each further
//! product of the same patterns only computes the sums of the compression. A plan of scalars may
//! keep the data of an adaptive product in place of pairs. The data of an adaptive product takes
//! less memory than pairs, and less time if many products are added to one entry of C.
#[cfg(test)]
mod tests;

use super::retarget::Retarget;
use crate::{
    BlockShape, Error, OperandPair, Result,
    device::{Buffer, Device, Scratch, Teams, Work},
    element::{ElementType, Piece, Stretch},
    primitives::segmented_reduce::Runs,
    product::{
        bands::{EntryMemory, join_patterns},
        columns::adaptive::{KeepRule, Kept, KeptSums},
        esc::{
            RunFinder,
            blocks::{BlockSums, Places},
        },
        terms::{
            Bin, CPattern, Counts, Destination, FactorPair, FactorPattern, Factors, FoundColumns, FoundRuns, How,
            Method, Part, Scaling, Spec,
        },
        tuning::Tuning,
    },
    resident::{DeviceCbc, PatternArrays},
};
use std::sync::Arc;

/// The structure of op(A)·op(B).
pub(crate) struct PlannedProduct {
    pub(in crate::product) sums: PlannedSums,
    pub c: Arc<PatternArrays>,
    pub shape: BlockShape,
    pub products: u64,
    pub longest_run: Option<u32>,
    /// The columns that each method computes.
    pub bins: Vec<Bin>,
}

/// The data that a plan keeps for its sums.
pub(in crate::product) enum PlannedSums {
    /// The operand pairs of each band.
    Pairs { sums: BlockSums, bands: Vec<PlannedBand> },
    /// The data of an adaptive product of scalars, which needs neither products nor pairs.
    Columns(Box<KeptSums>),
}

/// The runs of a band: some columns of C, or some places of its mask.
pub(in crate::product) struct PlannedBand {
    pub pairs: Buffer<OperandPair>,
    pub run_end: Buffer<u32>,
    pub pieces: Buffer<Piece>,
    /// The stretches of runs that work-groups take.
    pub stretches: Buffer<Stretch>,
    /// Products of the longest run.
    pub longest: u32,
    /// Memory for the sums of the parts of runs that are cut.
    pub parts: Scratch,
    /// Entry of C that is the sum of the first run.
    pub first: u32,
}

/// A plan of scalars stores no operand pairs if there are at least `SUMS_PERCENT` products for each
/// 100 entries of C, and at least [`SUMS_PRODUCTS`] in all. A plan without pairs stores the data of
/// an adaptive product. `st27_100` has 580 products for each 100 entries and takes equally long
/// with pairs and without them.
const SUMS_PERCENT: u64 = 500;

/// The operand pairs of `SUMS_PRODUCTS` products take 1 GiB. With fewer products an execution takes
/// longer without pairs than with them: `bcsstk16`, which has 1800 products for each 100 entries,
/// takes 0.15 ms without pairs and 0.10 ms with them.
const SUMS_PRODUCTS: u64 = 1 << 27;

impl PlannedBand {
    /// Keeps the runs of a band. Run 0 becomes entry `first` of C.
    pub fn new(work: &Work, sums: &BlockSums, found: FoundRuns, first: u32) -> Result<Self> {
        let FoundRuns { run_end, pieces, parts, payload, longest } = found;
        let pairs = payload.into_typed();
        let parts = sums.reserved_parts(work, parts)?;
        let stretches = sums.stretches(work, &run_end, pairs.len())?;
        Ok(Self { pairs, run_end, pieces, stretches, longest, parts, first })
    }
}

impl PlannedProduct {
    /// Analyses a product. The caller has checked that the inner sizes agree and that both factors
    /// are on the device of `work`.
    ///
    /// A plan of scalars keeps pairs if few products are added to one entry of C. If there is no
    /// memory for the pairs, it keeps the data of an adaptive product.
    pub fn new(work: &Work, element: ElementType, (a, b): FactorPair<'_>, part: Part, how: How) -> Result<Self> {
        let pairs = || Self::of_pairs(work, element, (a, b), part, how);
        let Some((teams, rule)) = Self::keeping(work.device(), (a, b), part, how.method) else { return pairs() };
        let sums = |rule| -> Result<Option<Self>> {
            let kept = KeptSums::keep(work, (&a.pattern, &b.pattern), teams, element, how, rule)?;
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

    /// Analyses a product and keeps operand pairs in every case, for plans whose pairs are read.
    pub fn of_pairs(work: &Work, element: ElementType, (a, b): FactorPair<'_>, part: Part, how: How) -> Result<Self> {
        let (tuning, spec) = Self::numbers(work.device(), element, (a, b), part, how);
        Self::tuned(work, (a, b), tuning, &spec, how.method)
    }

    /// Analyses a product and keeps operand pairs, for a plan that will be retargeted.
    pub fn to_retarget(work: &Work, element: ElementType, (a, b): FactorPair<'_>, part: Part) -> Result<Self> {
        let (tuning, spec) = Self::numbers(work.device(), element, (a, b), part, How::default());
        let sums = BlockSums::with_empty_runs(work.device(), &tuning, &spec)?;
        Self::analysed(work, (a, b), tuning, &spec, Method::Auto, sums)
    }

    /// The teams that compute sums without pairs, or `None` if a plan always keeps pairs. `rule`
    /// says when a plan keeps no pairs. Without a rule, a plan keeps no pairs only if there is no
    /// memory for them.
    fn keeping(
        device: &Device,
        (a, b): FactorPair<'_>,
        part: Part,
        method: Method,
    ) -> Option<(Teams, Option<KeepRule>)> {
        let plain = |of: &FactorPattern| !of.transposed && of.shape == BlockShape::SCALAR;
        let info = device.info();
        let teams = Teams::of(info).filter(|_| plain(a) && plain(b) && part == Part::Full)?;
        match method {
            Method::Auto if teams.are_warps() => {
                Some((teams, Some(KeepRule::From { products: SUMS_PRODUCTS, percent: SUMS_PERCENT })))
            }
            Method::Auto => Some((teams, None)),
            _ => method.is_of_scalars().then_some((teams, Some(KeepRule::Always))),
        }
    }

    /// Requests the kernels that [`PlannedProduct::new`] will launch, so that the kernels of
    /// several plans are compiled together.
    pub fn ask(
        device: &Device,
        element: ElementType,
        a: &FactorPattern,
        b: &FactorPattern,
        part: Part,
        how: impl Into<How>,
    ) -> Result<()> {
        let how = how.into();
        let (tuning, spec) = Self::numbers(device, element, (a, b), part, how);
        BlockSums::new(device, &tuning, &spec)?;
        RunFinder::new(device, &spec, tuning, how.method, device.info().costs())?;
        if let Some((teams, Some(_))) = Self::keeping(device, (a, b), part, how.method) {
            KeptSums::ask(device, element, a.pattern.nrows, teams, how)?;
        }
        [a, b].into_iter().try_for_each(|factor| factor.ask_transpose(device))
    }

    /// Requests the kernels of [`PlannedProduct::to_retarget`] and of [`PlannedProduct::retarget`].
    /// Kernels that transpose factors are not requested.
    pub fn ask_retarget(device: &Device, spec: &Spec) -> Result<()> {
        let tuning = Self::tuning(device, spec, Method::Auto);
        BlockSums::with_empty_runs(device, &tuning, spec)?;
        RunFinder::new(device, spec, tuning, Method::Auto, device.info().costs())?;
        Retarget::new(device).map(drop)
    }

    fn numbers(device: &Device, element: ElementType, (a, b): FactorPair<'_>, part: Part, how: How) -> (Tuning, Spec) {
        let spec = Spec::of_factors(element, a, b, part).over(how.semiring);
        (Self::tuning(device, &spec, how.method), spec)
    }

    fn tuning(device: &Device, spec: &Spec, method: Method) -> Tuning {
        Tuning::new(device.info(), spec.a, spec.b).keeping_pairs().with_method(device.info(), method)
    }

    pub(in crate::product) fn tuned(
        work: &Work,
        factors: FactorPair<'_>,
        tuning: Tuning,
        spec: &Spec,
        method: Method,
    ) -> Result<Self> {
        let sums = BlockSums::new(work.device(), &tuning, spec)?;
        Self::analysed(work, factors, tuning, spec, method, sums)
    }

    fn analysed(
        work: &Work,
        (a, b): FactorPair<'_>,
        tuning: Tuning,
        spec: &Spec,
        method: Method,
        sums: BlockSums,
    ) -> Result<Self> {
        let finder = RunFinder::new(work.device(), spec, tuning, method, work.device().info().costs())?;
        let (at, bt) = (a.transpose(work)?, b.transpose(work)?);
        let factors = Factors::of_pairs(a.multiplied(at.as_ref()), b.multiplied(bt.as_ref()));
        let (mut bands, mut patterns, mut first) = (Vec::new(), Vec::new(), 0);
        // An entry of C takes a row and the end of its run.
        let area = spec.a.product(spec.b).area();
        let entries = EntryMemory::new(spec.element, &finder.tuning, factors.a.nrows, size_of::<u32>(), area);
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

    /// Retargets a product made by [`PlannedProduct::to_retarget`] to a larger pattern. Entries
    /// that receive no product become zero. `places` gives the entry of `pattern` for each entry of
    /// C.
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
        operands: (&DeviceCbc, &DeviceCbc),
        scaling: Scaling,
        c: Destination<'_>,
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

    /// The bands of a plan that keeps operand pairs. A plan that keeps no pairs has no bands.
    pub(in crate::product) fn bands(&self) -> &[PlannedBand] {
        match &self.sums {
            PlannedSums::Pairs { bands, .. } => bands,
            PlannedSums::Columns(_) => &[],
        }
    }

    /// Operand pairs and run ends of each band, and the entry of C that is the sum of its first
    /// run. The plan must come from [`PlannedProduct::of_pairs`].
    pub fn runs(&self) -> impl Iterator<Item = (&Buffer<OperandPair>, &Buffer<u32>, u32)> {
        self.bands().iter().map(|band| (&band.pairs, &band.run_end, band.first))
    }

    /// Bytes of device memory held, rounded up to the pool's size classes.
    pub fn bytes(&self) -> u64 {
        let runs = |b: &PlannedBand| b.pairs.bytes() + b.run_end.bytes() + b.pieces.bytes();
        let band = |b: &PlannedBand| runs(b) + b.stretches.bytes() + b.parts.bytes();
        let columns = match &self.sums {
            PlannedSums::Columns(sums) => sums.bytes(),
            PlannedSums::Pairs { .. } => 0,
        };
        self.bands().iter().map(band).sum::<u64>() + columns + self.c.bytes()
    }
}
