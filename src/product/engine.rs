//! A product, compiled. The engine of ESC: bands of columns are analysed, their runs found and
//! summed.
use super::{
    adaptive::{Adaptive, AdaptiveTuning, teams_for},
    analysis::{Analyser, Analysis},
    bands::{Band, Bands},
    choose,
    compression::Compression,
    esc::Esc,
    limits::{EntryMemory, Limits},
    method::{Algorithm, Columns, Method},
    problem::{Counts, Factors, Operands, Pairs, Place, Sizes, Spec, Values},
    ranges::{RangeTuning, Ranged},
    runs::FoundColumns,
    sort::SortedRuns,
    tuning::{PayloadKind, Tuning},
};
use crate::{
    Element, Result,
    device::{Device, Work},
    tuning::MethodCosts,
};

/// The kernels of one product, for one kind of payload.
pub(super) struct Engine<T: Element, P: Compression<T>> {
    pub finder: RunFinder<T, P>,
    sums: P::Kernels,
    /// What methods cost, for predictions.
    costs: MethodCosts,
}

/// The kernels that find the runs of a product. A plan has them without those of the sums.
pub(super) struct RunFinder<T: Element, P: Compression<T>> {
    pub tuning: Tuning,
    analyser: Analyser,
    esc: Esc<T, P>,
    /// For products whose columns are all short.
    sorted: Option<SortedRuns<T, P>>,
}

/// Takes the columns of a band of C; none if the band has no products.
type TakeBand<'p, W> = &'p mut dyn FnMut(Option<FoundColumns<W>>, &Band) -> Result<()>;

impl<T: Element, P: Compression<T>> Engine<T, P> {
    pub fn new(device: &Device, spec: &Spec, tuning: Tuning, (wanted, costs): (Method, MethodCosts)) -> Result<Self> {
        let sums = P::kernels(device, spec, &tuning)?;
        Ok(Self { finder: RunFinder::new(device, spec, tuning, (wanted, costs))?, sums, costs })
    }

    /// C = A·B, band after band; `place` takes the columns of C of each band, in order.
    pub fn multiply(&self, work: &Work, operands: &Operands<'_, T>, place: Place<'_, T>) -> Result<Counts> {
        let area = operands.a.shape.product(operands.b.shape).area();
        let entry_bytes = operands.c_stride * size_of::<T>();
        let entries = EntryMemory::new::<T>(&self.finder.tuning, operands.a.nrows, entry_bytes, area);
        let entries = EntryMemory { consumer: operands.consumer, ..entries };
        let factors = P::factors(operands);
        let mut counts = self.finder.in_bands(work, factors, entries, &mut |found, band| {
            let Some(found) = found else {
                return place(operands.empty_product(work, band.columns.len())?);
            };
            let FoundColumns { pattern, runs } = found;
            let values = P::sums(&self.sums, work, operands, &runs)?;
            drop(runs);
            place(operands.product(pattern.col_ptr, pattern.row_idx, values))
        })?;
        if P::KIND == PayloadKind::Values {
            let sizes = [counts.bands as u64, operands.a.nrows as u64, counts.longest];
            choose::predict_esc(&mut counts.bins, sizes, (&self.costs, &self.finder.tuning.sort));
        }
        Ok(counts)
    }
}

impl<T: Element, P: Compression<T>> RunFinder<T, P> {
    pub fn new(device: &Device, spec: &Spec, tuning: Tuning, (wanted, costs): (Method, MethodCosts)) -> Result<Self> {
        debug_assert_eq!((spec.element, tuning.payload), (T::TYPE, P::KIND));
        Ok(Self {
            analyser: Analyser::new(device, &tuning, spec.part)?,
            esc: Esc::new(device, spec, &tuning)?,
            sorted: SortedRuns::new(device, spec, &tuning, (wanted, costs))?,
            tuning,
        })
    }

    /// The columns of each band for `take`; none if the band has no products.
    pub fn in_bands(
        &self,
        work: &Work,
        factors: Factors<'_, P::Operand>,
        entries: EntryMemory,
        take: TakeBand<'_, P::Word>,
    ) -> Result<Counts> {
        let limits = Limits::now(work, &self.tuning, entries);
        if let Some(sorted) = &self.sorted
            && let Some(short) = sorted.short_columns(&factors, &limits)
            && let Some((products, found)) = sorted.run(work, factors, (short, &limits))?
        {
            let mut counts = Counts { products, bands: 1, ..Counts::default() };
            counts.add(Method::Sort, factors.b.ncols as u64, products);
            take(found, &Band::of_all(factors.b.ncols, Sizes { products, ..Sizes::default() }))?;
            return Ok(counts);
        }
        let mut analysis = self.analyser.run(work, factors.a, factors.b)?; // round trip 1
        let mut bands = Bands::new(factors.b.ncols, analysis.sizes);
        let limits = || Limits::now(work, &self.tuning, entries);
        let products = analysis.sizes.products;
        let mut counts = Counts { products, longest_run: Some(0), ..Counts::default() };
        while let Some(band) = bands.next(&limits, &mut || self.analyser.column_products(work, &mut analysis))? {
            let (number, columns, products) = (counts.bands, band.columns.len(), band.sizes.products);
            let free_bytes = work.free_bytes();
            tracing::debug!(target: "blockmul::product", number, columns, products, free_bytes, "band");
            let found = match products {
                0 => Ok(None),
                _ => self.find_columns(work, factors, &mut analysis, &band, &mut counts).map(Some),
            };
            let longest = found.as_ref().map_or(0, |found| found.as_ref().map_or(0, |found| found.runs.longest));
            found.and_then(|found| take(found, &band)).map_err(|error| band.explain(error))?;
            counts.longest_run = counts.longest_run.max(Some(longest));
            counts.bands += 1;
            counts.longest = counts.longest.max(band.sizes.longest);
        }
        Ok(counts)
    }

    /// The columns of a band of at least one product.
    fn find_columns(
        &self,
        work: &Work,
        factors: Factors<'_, P::Operand>,
        analysis: &mut Analysis,
        band: &Band,
        counts: &mut Counts,
    ) -> Result<FoundColumns<P::Word>> {
        counts.add(self.tuning.esc.method(), band.columns.len() as u64, band.sizes.products);
        let mut task = Columns { factors, analyser: &self.analyser, analysis, band };
        counts.merged += self.esc.merged(&task);
        self.esc.run(work, &mut task, band.sizes.products) // round trip 2
    }
}

/// A·B in one shot, compiled for its kind of payload.
pub(super) enum OneShot<T: Element> {
    Adaptive(Box<Adaptive<T>>),
    Ranged(Box<Ranged<T, Values>>),
    RangedPairs(Box<Ranged<T, Pairs>>),
    Values(Engine<T, Values>),
    Pairs(Engine<T, Pairs>),
}

impl<T: Element> OneShot<T> {
    /// For operands whose blocks of A, B and C have these strides.
    pub fn new(
        device: &Device,
        spec: &Spec,
        strides: [usize; 3],
        (method, costs): (Method, MethodCosts),
    ) -> Result<Self> {
        let tuning = Tuning::new(device.info(), spec.a, spec.b).with_strides(strides);
        Self::tuned(device, spec, tuning.with_method(device.info(), method), (method, costs))
    }

    pub fn tuned(device: &Device, spec: &Spec, tuning: Tuning, (method, costs): (Method, MethodCosts)) -> Result<Self> {
        debug_assert_eq!(spec.element, T::TYPE);
        let (info, teams) = (device.info(), teams_for(device.info(), method));
        let ranges = RangeTuning::new(info, (method, costs), tuning.payload, (spec.a, spec.b));
        Ok(match tuning.payload {
            PayloadKind::Values if let Some(ranges) = ranges => {
                Self::Ranged(Box::new(Ranged::new(device, spec, tuning, &ranges)?))
            }
            PayloadKind::Values if let Some(teams) = teams => {
                let adaptive = AdaptiveTuning::new(info, (method, costs), spec.row_bits);
                Self::Adaptive(Box::new(Adaptive::new(device, teams, spec, tuning, &adaptive)?))
            }
            PayloadKind::Pairs if let Some(ranges) = ranges => {
                Self::RangedPairs(Box::new(Ranged::new(device, spec, tuning, &ranges)?))
            }
            PayloadKind::Values => Self::Values(Engine::new(device, spec, tuning, (method, costs))?),
            PayloadKind::Pairs => Self::Pairs(Engine::new(device, spec, tuning, (method, costs))?),
        })
    }

    /// C = A·B, band after band; `place` takes the columns of C of each band, in order.
    pub fn multiply(&self, work: &Work, operands: &Operands<'_, T>, place: Place<'_, T>) -> Result<Counts> {
        match self {
            Self::Adaptive(engine) => engine.multiply(work, operands, place),
            Self::Ranged(engine) => engine.multiply(work, operands, place),
            Self::RangedPairs(engine) => engine.multiply(work, operands, place),
            Self::Values(engine) => engine.multiply(work, operands, place),
            Self::Pairs(engine) => engine.multiply(work, operands, place),
        }
    }
}

#[cfg(test)]
mod tests;
