//! A product on a mask, compiled and planned.
use super::{
    Masked, Places,
    bands::{MAX_PROBES, MaskAnalyser},
    options,
};
use crate::{
    Element, OperandPair, Result, Semiring,
    device::{Device, Work},
    primitives::transpose,
    product::{
        blocks::BlockSums,
        method::Algorithm,
        planned::{PlannedBand, PlannedProduct, PlannedSums},
        problem::{Counts, FactorPattern, Factors, Pairs, Part, Spec, Transposed},
        runs::FoundRuns,
        tuning::Tuning,
    },
    resident::PatternArrays,
};
use std::sync::Arc;

/// op(A)·op(B) on a mask, compiled.
pub(super) struct OnMask<T: Element> {
    analyser: MaskAnalyser,
    method: Masked,
    pub sums: BlockSums<T>,
}

/// The rows of A and the columns of B, whichever way they are stored.
pub(super) struct Lines<'a> {
    a_t: FactorPattern,
    b: &'a FactorPattern,
    moved_a_t: Option<transpose::Transposed>,
    moved_b: Option<transpose::Transposed>,
}

impl<'a> Lines<'a> {
    /// Transposes what is stored the other way.
    pub fn new(work: &Work, (a, b): (&FactorPattern, &'a FactorPattern)) -> Result<Self> {
        work.stage("setup");
        let a_t = FactorPattern { transposed: !a.transposed, ..a.clone() };
        Ok(Self { moved_a_t: a_t.transpose(work)?, moved_b: b.transpose(work)?, a_t, b })
    }

    /// Aᵀ and B.
    fn factors(&self) -> Factors<'_, u32> {
        let (a_t, b) = (self.a_t.multiplied(self.moved_a_t.as_ref()), self.b.multiplied(self.moved_b.as_ref()));
        Factors::of_pairs(a_t, b)
    }
}

impl<T: Element> OnMask<T> {
    pub fn new(
        device: &Device,
        (a, b): (&FactorPattern, &FactorPattern),
        tuning: &Tuning,
        semiring: Semiring,
    ) -> Result<Self> {
        let spec = Spec::of_factors(a, b, Part::Full).over(semiring);
        // The rows of A are looked up: entries of Aᵀ, which is transposed if A is not.
        let spec = Spec { sourced: Transposed { a: !a.transposed, b: b.transposed }, ..spec };
        let a_t = FactorPattern { transposed: !a.transposed, ..a.clone() };
        [&a_t, b].into_iter().try_for_each(|factor| factor.ask_transpose(device))?;
        Ok(Self {
            analyser: MaskAnalyser::new(device, &options::<T>(&spec, tuning), tuning.scan, tuning.tiles.group_size)?,
            method: Algorithm::<T, Pairs>::new(device, &spec, tuning)?,
            sums: BlockSums::with_empty_runs(device, tuning, &spec)?,
        })
    }

    /// The runs of all places of `mask`, in bands of `most` probes; `take` gets those of each band,
    /// and its first place.
    pub fn in_bands(
        &self,
        work: &Work,
        lines: &Lines<'_>,
        mask: &PatternArrays,
        most: u64,
        mut take: impl FnMut(FoundRuns<OperandPair>, u32) -> Result<()>,
    ) -> Result<Counts> {
        let factors = lines.factors();
        let probed = self.analyser.run(work, factors, mask)?;
        let mut counts = Counts { longest_run: Some(0), ..Counts::default() };
        for band in self.analyser.cut(work, &probed, most)? {
            let mut task = Places { factors, mask: &probed, band };
            let found = Algorithm::<T, Pairs>::run(&self.method, work, &mut task, band.probes.into())?;
            counts.products += found.payload.len() as u64;
            counts.longest_run = counts.longest_run.max(Some(found.longest));
            counts.bands += 1;
            take(found, band.first)?;
        }
        counts.add(<Masked as Algorithm<T, Pairs>>::METHOD, mask.ncols as u64, counts.products);
        Ok(counts)
    }
}

/// The numbers of op(A)·op(B) on a mask.
pub(super) fn tuned(device: &Device, a: &FactorPattern, b: &FactorPattern) -> Tuning {
    Tuning::new(device.info(), a.op_shape(), b.op_shape()).keeping_pairs()
}

/// Probes whose hits, all of them, fit so many bytes.
pub(super) fn most_probes(bytes: u64) -> u64 {
    (bytes / size_of::<OperandPair>() as u64).clamp(1, MAX_PROBES)
}

impl<T: Element> PlannedProduct<T> {
    /// op(A)·op(B) on the places of `mask`, whose sizes fit: the caller has looked.
    pub fn masked(
        work: &Work,
        a: &FactorPattern,
        b: &FactorPattern,
        mask: &Arc<PatternArrays>,
        semiring: Semiring,
    ) -> Result<Self> {
        let most = most_probes(work.device().info().max_alloc_bytes);
        Self::masked_in_bands(work, (a, b), mask, (&tuned(work.device(), a, b), semiring), most)
    }

    /// The same in bands of `most` probes.
    pub(super) fn masked_in_bands(
        work: &Work,
        (a, b): (&FactorPattern, &FactorPattern),
        mask: &Arc<PatternArrays>,
        (tuning, semiring): (&Tuning, Semiring),
        most: u64,
    ) -> Result<Self> {
        let product = OnMask::new(work.device(), (a, b), tuning, semiring)?;
        let mut bands = Vec::new();
        let counts = product.in_bands(work, &Lines::new(work, (a, b))?, mask, most, |found, first| {
            bands.push(PlannedBand::new(work, &product.sums, found, first)?);
            Ok(())
        })?;
        let shape = a.op_shape().product(b.op_shape());
        let Counts { products, longest_run, bins, .. } = counts;
        let sums = PlannedSums::Pairs { sums: product.sums, bands };
        Ok(Self { sums, c: mask.clone(), shape, products, longest_run, bins })
    }
}
