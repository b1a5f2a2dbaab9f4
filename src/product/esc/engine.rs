//! The engine of ESC, compiled for a product. The engine analyses bands of columns, finds their
//! runs and sums them.
use super::{
    Columns, Esc,
    analysis::{Analyser, Analysis},
    compression::Compression,
};
use crate::{
    Result,
    device::{Device, Work},
    product::{
        bands::{Bands, EntryMemory, Limits},
        choose,
        sort::SortedRuns,
        terms::{Band, Counts, Factors, FoundColumns, Method, Operands, PayloadKind, Place, Sizes, Spec},
        tuning::Tuning,
    },
    tuning::MethodCosts,
};

/// The kernels of a product by ESC.
pub(in crate::product) struct Engine {
    pub finder: RunFinder,
    sums: Compression,
    /// Costs of the methods, for predictions.
    costs: MethodCosts,
}

/// The kernels that find the runs of a product. A plan has the kernels that find runs, and not the
/// kernels that compute sums.
pub(in crate::product) struct RunFinder {
    pub tuning: Tuning,
    analyser: Analyser,
    esc: Esc,
    /// The kernels for products whose columns are all short.
    sorted: Option<SortedRuns>,
}

/// Takes the columns of a band of C that were found, or `None` if the band has no products.
type TakeBand<'p> = &'p mut dyn FnMut(Option<FoundColumns>, &Band) -> Result<()>;

impl Engine {
    pub fn new(device: &Device, spec: &Spec, tuning: Tuning, wanted: Method, costs: MethodCosts) -> Result<Self> {
        let sums = Compression::new(device, spec, &tuning)?;
        Ok(Self { finder: RunFinder::new(device, spec, tuning, wanted, costs)?, sums, costs })
    }

    /// Computes C = A·B, band after band. `place` takes the columns of C of each band, in order.
    pub fn multiply(&self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts> {
        let area = operands.a.shape.product(operands.b.shape).area();
        let element = operands.element();
        let entry_bytes = operands.c_stride * element.bytes();
        let entries = EntryMemory::new(element, &self.finder.tuning, operands.a.nrows, entry_bytes, area);
        let entries = EntryMemory { consumer: operands.consumer, ..entries };
        let factors = self.sums.factors(operands);
        let mut counts = self.finder.in_bands(work, factors, entries, &mut |found, band| {
            let Some(found) = found else {
                return place(operands.empty_product(work, band.columns.len())?);
            };
            let FoundColumns { pattern, runs } = found;
            let values = self.sums.sums(work, operands, &runs)?;
            drop(runs);
            place(operands.product(pattern.col_ptr, pattern.row_idx, values))
        })?;
        if self.finder.tuning.payload == PayloadKind::Values {
            let sizes = [counts.bands as u64, operands.a.nrows as u64, counts.longest];
            choose::predict_esc(&mut counts.bins, sizes, &self.costs, &self.finder.tuning.sort);
        }
        Ok(counts)
    }
}

impl RunFinder {
    pub fn new(device: &Device, spec: &Spec, tuning: Tuning, wanted: Method, costs: MethodCosts) -> Result<Self> {
        Ok(Self {
            analyser: Analyser::new(device, &tuning, spec.part)?,
            esc: Esc::new(device, spec, &tuning)?,
            sorted: SortedRuns::new(device, spec, &tuning, wanted, costs)?,
            tuning,
        })
    }

    /// Finds the pattern and the runs of the columns of each band, and gives them to `take`, or
    /// `None` for a band without products.
    pub fn in_bands(
        &self,
        work: &Work,
        factors: Factors<'_>,
        entries: EntryMemory,
        take: TakeBand<'_>,
    ) -> Result<Counts> {
        let limits = Limits::now(work, &self.tuning, entries);
        if let Some(sorted) = &self.sorted
            && let Some(short) = sorted.short_columns(&factors, &limits)
            && let Some((products, found)) = sorted.run(work, factors, short, &limits)?
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

    /// Finds the columns of a band that has products.
    fn find_columns(
        &self,
        work: &Work,
        factors: Factors<'_>,
        analysis: &mut Analysis,
        band: &Band,
        counts: &mut Counts,
    ) -> Result<FoundColumns> {
        counts.add(self.tuning.esc.method(), band.columns.len() as u64, band.sizes.products);
        let mut task = Columns { factors, analyser: &self.analyser, analysis, band };
        counts.merged += self.esc.merged(&task);
        self.esc.run(work, &mut task) // round trip 2
    }
}

#[cfg(test)]
mod tests;
