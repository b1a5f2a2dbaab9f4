//! A product on a mask: its kernels and its plan.
use super::{
    Masked, MaskedPlaces,
    bands::{BandCutter, MAX_PROBES, MaskAnalyser},
    columns::ColumnTuning,
    options,
    pairs::ColumnPairs,
};
use crate::{
    OperandPair, Result, Semiring,
    device::{Device, Work},
    element::ElementType,
    primitives::transpose,
    product::{
        esc::blocks::BlockSums,
        plan::{PlannedBand, PlannedProduct, PlannedSums},
        terms::{Counts, FactorPair, FactorPattern, Factors, FoundRuns, Method, Part, Spec, Transposed},
        tuning::Tuning,
    },
    resident::PatternArrays,
};
use std::sync::Arc;

/// The kernels of op(A)·op(B) on a mask.
pub(super) struct OnMask {
    /// The kernels by columns, if the device computes masked products by columns.
    columns: Option<ColumnPairs>,
    /// The kernels that start from the places of a mask, if the device does not compute by columns.
    places: Option<FromPlaces>,
    cutter: BandCutter,
    spec: Spec,
    tuning: Tuning,
    pub sums: BlockSums,
}

/// Two factors, and the places at which they are multiplied.
#[derive(Clone, Copy)]
pub(super) struct MaskedPair<'a> {
    pub a: &'a FactorPattern,
    pub b: &'a FactorPattern,
    pub mask: &'a PatternArrays,
}

/// Returns the most probes or hits of a band, when the factors are on the device.
type Most<'a> = &'a dyn Fn(&Work) -> u64;
/// Gets the runs of each band, and its first place.
type Take<'a> = &'a mut dyn FnMut(FoundRuns, u32) -> Result<()>;

/// The kernels that find products from the places of a mask.
struct FromPlaces {
    analyser: MaskAnalyser,
    method: Masked,
}

impl FromPlaces {
    /// Compiles kernels for the factors of `spec`.
    fn new(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        // The rows of A are looked up. The rows of A are columns of Aᵀ, which is made by a
        // transpose if A is not stored transposed.
        let spec = Spec { sourced: Transposed { a: !spec.transposed.a, b: spec.transposed.b }, ..*spec };
        Ok(Self {
            analyser: MaskAnalyser::new(device, &options(&spec, tuning), tuning.scan, tuning.tiles.group_size)?,
            method: Masked::new(device, &spec, tuning)?,
        })
    }
}

/// Two factors, and the transpose of each factor that is multiplied as its transpose.
struct Lines<'a> {
    left: &'a FactorPattern,
    right: &'a FactorPattern,
    moved_left: Option<transpose::Transposed>,
    moved_right: Option<transpose::Transposed>,
}

impl<'a> Lines<'a> {
    fn new(work: &Work, left: &'a FactorPattern, right: &'a FactorPattern) -> Result<Self> {
        work.stage("setup");
        Ok(Self { moved_left: left.transpose(work)?, moved_right: right.transpose(work)?, left, right })
    }

    fn factors(&self) -> Factors<'_> {
        let left = self.left.multiplied(self.moved_left.as_ref());
        Factors::of_pairs(left, self.right.multiplied(self.moved_right.as_ref()))
    }
}

impl OnMask {
    /// Compiles the kernels that find products by columns if `columns` are given, or else the
    /// kernels that start from places.
    pub fn new(
        device: &Device,
        (a, b): FactorPair<'_>,
        tuning: &Tuning,
        columns: Option<ColumnTuning>,
        element: ElementType,
        semiring: Semiring,
    ) -> Result<Self> {
        let spec = Spec::of_factors(element, a, b, Part::Full).over(semiring);
        let left = FactorPattern { transposed: a.transposed != columns.is_none(), ..a.clone() };
        [&left, b].into_iter().try_for_each(|factor| factor.ask_transpose(device))?;
        let by_columns = |columns| ColumnPairs::new(device, &spec, tuning, columns);
        let from_places = columns.is_none().then(|| FromPlaces::new(device, &spec, tuning));
        Ok(Self {
            columns: columns.map(by_columns).transpose()?,
            places: from_places.transpose()?,
            cutter: BandCutter::new(device, &options(&spec, tuning), tuning.tiles.group_size)?,
            spec,
            tuning: tuning.clone(),
            sums: BlockSums::with_empty_runs(device, tuning, &spec)?,
        })
    }

    /// Finds the runs of all places of the mask, in bands.
    pub fn in_bands(&self, work: &Work, of: MaskedPair<'_>, most: Most<'_>, take: Take<'_>) -> Result<Counts> {
        let mut counts = Counts { longest_run: Some(0), ..Counts::default() };
        let mut take = |found: FoundRuns, first| {
            counts.products += found.payload.len() as u64;
            counts.longest_run = counts.longest_run.max(Some(found.longest));
            counts.bands += 1;
            take(found, first)
        };
        if !self.by_columns(work, of, most, &mut take)? {
            self.by_places(work, of, most, &mut take)?;
        }
        counts.add(Method::Masked, of.mask.ncols as u64, counts.products);
        Ok(counts)
    }

    /// Finds the runs by columns. Returns false if runs are to be found from the places of the
    /// mask.
    fn by_columns(&self, work: &Work, of: MaskedPair<'_>, most: Most<'_>, take: Take<'_>) -> Result<bool> {
        let MaskedPair { a, b, mask } = of;
        let Some(columns) = &self.columns else { return Ok(false) };
        let lines = Lines::new(work, a, b)?;
        let Some(mut counted) = columns.count(work, lines.factors(), mask)? else { return Ok(false) };
        for band in self.cutter.cut(work, &counted.hit_ptr, most(work))? {
            take(columns.place(work, &mut counted, band)?, band.first)?;
        }
        Ok(true)
    }

    fn by_places(&self, work: &Work, of: MaskedPair<'_>, most: Most<'_>, take: Take<'_>) -> Result<()> {
        let MaskedPair { a, b, mask } = of;
        let made;
        let FromPlaces { analyser, method } = match &self.places {
            Some(places) => places,
            // Devices that compute by columns rarely need the kernels that start from places.
            None => {
                made = FromPlaces::new(work.device(), &self.spec, &self.tuning)?;
                &made
            }
        };
        let a_t = FactorPattern { transposed: !a.transposed, ..a.clone() };
        let lines = Lines::new(work, &a_t, b)?;
        let (factors, most) = (lines.factors(), most(work));
        let probed = analyser.run(work, factors, mask)?;
        for band in self.cutter.cut(work, &probed.probe_ptr, most)? {
            let found = method.run(work, &MaskedPlaces { factors, mask: &probed, band })?;
            take(found, band.first)?;
        }
        Ok(())
    }
}

/// The tuning of op(A)·op(B) on a mask.
pub(super) fn tuned(device: &Device, a: &FactorPattern, b: &FactorPattern) -> Tuning {
    Tuning::new(device.info(), a.op_shape(), b.op_shape()).keeping_pairs()
}

/// Number of probes that fit `bytes` bytes if every probe is a hit.
pub(super) fn most_probes(bytes: u64) -> u64 {
    (bytes / size_of::<OperandPair>() as u64).clamp(1, MAX_PROBES)
}

impl PlannedProduct {
    /// Plans op(A)·op(B) on the places of `mask`. The caller has checked the sizes.
    pub fn masked(
        work: &Work,
        a: &FactorPattern,
        b: &FactorPattern,
        mask: &Arc<PatternArrays>,
        element: ElementType,
        semiring: Semiring,
    ) -> Result<Self> {
        let (device, tuning) = (work.device(), tuned(work.device(), a, b));
        let columns = ColumnTuning::new(device.info());
        let product = OnMask::new(device, (a, b), &tuning, columns, element, semiring)?;
        Self::masked_in_bands(work, product, (a, b), mask, most_probes(device.info().max_alloc_bytes))
    }

    /// Plans `product` of op(A) and op(B) on the places of `mask`, in bands of `most` probes or
    /// hits.
    pub(super) fn masked_in_bands(
        work: &Work,
        product: OnMask,
        (a, b): FactorPair<'_>,
        mask: &Arc<PatternArrays>,
        most: u64,
    ) -> Result<Self> {
        let mut bands = Vec::new();
        let counts = product.in_bands(work, MaskedPair { a, b, mask }, &|_| most, &mut |found, first| {
            bands.push(PlannedBand::new(work, &product.sums, found, first)?);
            Ok(())
        })?;
        let shape = a.op_shape().product(b.op_shape());
        let Counts { products, longest_run, bins, .. } = counts;
        let sums = PlannedSums::Pairs { sums: product.sums, bands };
        Ok(Self { sums, c: mask.clone(), shape, products, longest_run, bins })
    }
}
