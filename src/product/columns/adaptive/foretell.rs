//! Predicts an adaptive product on the host, from the patterns of A and B: its bands, its bins, and
//! the device memory that it takes. Rules, shares and limits are those of the product itself.
use super::{
    OTHERS,
    bands::{AdaptiveBand, AdaptiveBands, ColumnBands},
    equal,
    memory::{AdaptiveMemory, EntriesOfC},
    rules::{ClassRules, Column},
};
use crate::{
    Pattern, Result,
    analysis::entries_of_columns,
    device::pool_bytes,
    product::{
        choose::{self},
        columns::dense::SAMPLE_PRODUCTS,
        terms::{Bin, COUNTED, Class, ClassSizes, Counts, Foretold, Known, Pipeline, Sizes, no_columns},
    },
    resident::ColumnLengths,
};
use rayon::prelude::*;
use std::ops::Range;

/// Predicts A·B within `free_bytes` bytes besides the operands.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if a column of C does not fit.
pub(in crate::product) fn foretell(
    memory: &AdaptiveMemory<'_>,
    (a, b): (&Pattern, &Pattern),
    free_bytes: u64,
) -> Result<Foretold> {
    let (tuning, cols) = (memory.adaptive, b.ncols() as u64);
    let lengths = [a, b].map(ColumnLengths::of);
    let longest = lengths.map(|of| of.longest);
    let known = Known::new(b.ncols(), [a.nnz(), a.ncols(), a.nrows()], b.nnz(), lengths.map(Some));
    if let Some(class) = tuning.class_of_all(longest, &known)
        && memory.counts_sorted(cols, u64::from(longest[0]) * b.nnz() as u64, free_bytes)
        && let Some(foretold) = sorted(memory, (a, b), (class, u64::from(longest[0]) * b.nnz() as u64), (free_bytes, 0))
    {
        return Ok(foretold);
    }
    let profile_bytes = AdaptiveMemory::profile_bytes(cols);
    if (tuning.esc && tuning.prices.needs_no_analysis(&known)) || profile_bytes > free_bytes {
        return Ok(Foretold { counts: None, peak_bytes: 0 });
    }
    let mut rules = ClassRules::new(tuning, a.nrows(), &known);
    let mut whole = HostProfile::new(&rules, a, b);
    let left = free_bytes.saturating_sub(profile_bytes);
    if let Some(class) = tuning.class_of_analysed(&whole.sizes.statistics())
        && memory.counts_sorted(cols, whole.sizes.products(), left)
        && let Some(foretold) = sorted(memory, (a, b), (class, whole.sizes.products()), (left, profile_bytes))
    {
        return Ok(foretold);
    }
    if tuning.leaves_long(&whole.sizes.statistics()) {
        rules.leaves_long = true;
        whole.sizes.leave_long(&rules);
    }
    let shares = choose::share_out(&whole.sizes.statistics(), &tuning.prices, tuning.esc);
    let by_esc = !whole.sizes.are_taken() || shares.is_none();
    if by_esc {
        return Ok(Foretold { counts: None, peak_bytes: profile_bytes });
    }
    let products = whole.sizes.products();
    let entries = (products <= COUNTED).then(|| entries_of_columns(a, b, 0..b.ncols()));
    let counts = Counts { products, pipeline: Pipeline::Adaptive, ..Counts::default() };
    let columns = CountedColumns { rules: &rules, memory, columns: &whole.columns, entries: entries.as_deref() };
    let mut bands = ForetoldBands { columns, free_bytes, counts, peak_bytes: profile_bytes };
    let within = if products == 0 { u64::MAX } else { free_bytes };
    let all = AdaptiveBand::whole(memory, &whole.sizes, within);
    if !all.as_ref().is_some_and(|all| bands.add(all)) {
        let samples = whole.sizes.samples;
        let mut cut = AdaptiveBands { rules: &rules, memory, samples, sure: all.is_some(), free_at_first: free_bytes };
        bands.cut(&mut cut, whole.sizes.columns.clone())?;
    }
    Ok(Foretold { counts: Some(bands.counts), peak_bytes: bands.peak_bytes })
}

/// Predicts a product whose columns are all sorted by one class. `None` if it does not fit
/// `free_bytes` bytes besides the `held` bytes.
fn sorted(
    memory: &AdaptiveMemory<'_>,
    (a, b): (&Pattern, &Pattern),
    (class, most): (Class, u64),
    (free_bytes, held): (u64, u64),
) -> Option<Foretold> {
    let cols = b.ncols() as u64;
    let products_of = |col| products_of(a, b, col).map(u64::from).sum::<u64>();
    let products = (0..b.ncols()).into_par_iter().map(products_of).sum();
    let entries = counted_entries(a, b, products).unwrap_or(products);
    let bins = vec![choose::sorted_share(class, cols, [products; 2], &memory.adaptive.prices.costs).bin()];
    let counts = Counts { products, bands: 1, pipeline: Pipeline::Adaptive, bins, ..Counts::default() };
    let keeping = memory.keeps_sorted(class, cols, most, free_bytes).then_some(class);
    let peak_bytes = held + memory.need_sorted(cols, entries, keeping).bytes;
    memory.fits_sorted(cols, entries, free_bytes).then_some(Foretold { counts: Some(counts), peak_bytes })
}

/// The columns of C, analysed on the host as the device does.
pub(super) struct HostProfile {
    pub columns: Vec<Column>,
    pub sizes: ClassSizes,
}

impl HostProfile {
    pub fn new(rules: &ClassRules, a: &Pattern, b: &Pattern) -> Self {
        let columns: Vec<_> = (0..b.ncols()).into_par_iter().map(|col| column(rules, a, b, col)).collect();
        let mut sums = no_columns();
        columns.iter().for_each(|column| rules.add(&mut sums, column));
        let samples = if rules.sampled { sample(rules, &columns, a, b) } else { [0; 2] };
        let sizes = ClassSizes::new(rules, 0..b.ncols() as u32, sums, samples);
        Self { columns, sizes }
    }
}

/// Products of each entry of a column of B.
fn products_of(a: &Pattern, b: &Pattern, col: usize) -> impl Iterator<Item = u32> {
    b.column(col).iter().map(|&k| a.entries(k as usize).len() as u32)
}

fn column(rules: &ClassRules, a: &Pattern, b: &Pattern, col: usize) -> Column {
    let entries = b.entries(col).len() as u32;
    let products = products_of(a, b, col).fold(0, u32::saturating_add);
    let rows = || {
        let of_a = b.column(col).iter().map(|&k| a.column(k as usize));
        let ends = of_a.filter_map(|rows| Some((*rows.first()?, *rows.last()?)));
        ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    };
    let rows = if rules.looks_at_rows(entries, products) { rows() } else { None };
    let alone = Column { entries, products, rows, follows: false };
    let found = Class::FOUND.contains(&rules.class_of(&alone));
    Column { follows: found && equal::is_equal(b, col), ..alone }
}

/// Entries of C in the columns that the device samples, and their upper bound.
fn sample(rules: &ClassRules, columns: &[Column], a: &Pattern, b: &Pattern) -> [u32; 2] {
    let samples = columns.len().min(ClassRules::SAMPLES);
    let sampled: Vec<_> = (0..samples)
        .map(|number| number * columns.len() / samples)
        .filter(|&col| columns[col].rows.is_some() && columns[col].products <= SAMPLE_PRODUCTS)
        .filter(|&col| columns[col].words() <= rules.most_words)
        .collect();
    let bound = sampled.iter().map(|&col| columns[col].most_entries()).sum();
    [entries_of_columns(a, b, sampled).iter().sum(), bound]
}

/// The entries of C of a product with `products` products, if they are few enough to be counted.
pub(in crate::product) fn counted_entries(a: &Pattern, b: &Pattern, products: u64) -> Option<u64> {
    let count = || entries_of_columns(a, b, 0..b.ncols()).into_iter().map(u64::from).sum();
    (products <= COUNTED).then(count)
}

/// The columns of C, with the entries of each column if they were counted.
struct CountedColumns<'a> {
    rules: &'a ClassRules,
    memory: &'a AdaptiveMemory<'a>,
    columns: &'a [Column],
    entries: Option<&'a [u32]>,
}

/// The bands predicted so far.
struct ForetoldBands<'a> {
    columns: CountedColumns<'a>,
    free_bytes: u64,
    counts: Counts,
    peak_bytes: u64,
}

impl ForetoldBands<'_> {
    /// Adds the bands of columns that are too many for one band.
    fn cut(&mut self, bands: &mut AdaptiveBands<'_>, columns: Range<u32>) -> Result<()> {
        let part = |columns: &Range<u32>| {
            let mut part = self.columns.columns[columns.start as usize..columns.end as usize].to_vec();
            part[0].follows = false; // its leader is in another band
            part
        };
        let Some(halves) = bands.halves(&columns) else {
            let of_part = part(&columns);
            let mut cut = ColumnBands::new(bands, columns.start, of_part);
            while let Some(band) = cut.next(self.free_bytes)? {
                if !self.add(&band) {
                    cut.again(&band);
                }
            }
            return Ok(());
        };
        for half in halves {
            let mut sums = no_columns();
            part(&half).iter().for_each(|column| bands.rules.add(&mut sums, column));
            let sizes = ClassSizes::new(bands.rules, half.clone(), sums, bands.samples);
            match bands.band_of(&sizes, self.free_bytes) {
                Some(band) if self.add(&band) => continue,
                found => bands.sure |= found.is_some(),
            }
            self.cut(bands, half)?;
        }
        Ok(())
    }

    /// Adds a band. Returns false if its entries were expected to fit and do not.
    fn add(&mut self, band: &AdaptiveBand) -> bool {
        let (memory, AdaptiveBand { sizes, room, .. }) = (self.columns.memory, band);
        let (entries, of_esc) = self.columns.sizes(sizes);
        let counted = self.columns.entries.is_some();
        let admitted = !counted || band.admits(memory, entries.all, self.free_bytes);
        let rows = (*room, memory.keeps_keys(sizes, *room, self.free_bytes));
        let need = match sizes.products() {
            0 => {
                let cols = sizes.cols() as u64;
                let consumed = memory.consumer.map_or(0, |consumer| consumer.peak(0, cols));
                pool_bytes(4 * (cols + 1)) + 2 * pool_bytes(0) + consumed
            }
            // The rows of the band are counted before it is given up.
            _ if !admitted => {
                let of_esc_alone = EntriesOfC { by_esc: entries.by_esc, ..EntriesOfC::default() };
                memory.need(sizes, (*room, false), of_esc_alone, &of_esc).bytes
            }
            // The band takes as much memory as the test admits.
            _ if counted && sizes.of(Class::Rest).columns == 0 => {
                memory.need(sizes, rows, EntriesOfC::counted(sizes, entries.all), &of_esc).bytes
            }
            // The sizes of ESC's columns have upper bounds until they are computed.
            _ => {
                let bounds = [EntriesOfC::expected(sizes, *room), EntriesOfC::counted(sizes, entries.all)];
                let to_admit = bounds.map(|entries| memory.need_with(sizes, *room, entries).bytes);
                let needed = memory.need(sizes, rows, entries, &of_esc).bytes;
                to_admit.into_iter().fold(needed, u64::max)
            }
        };
        // A single column may be tried even if it fits only with few entries of C.
        self.peak_bytes = self.peak_bytes.max(need.min(self.free_bytes));
        if admitted {
            self.counts.bands += 1;
            self.add_bins(sizes);
        }
        admitted
    }

    fn add_bins(&mut self, band: &ClassSizes) {
        let memory = self.columns.memory;
        for share in choose::share_out(&band.statistics(), &memory.adaptive.prices, false).unwrap_or_default() {
            self.counts.add_bin(&share.bin());
        }
        let rest = band.of(Class::Rest);
        if rest.columns > 0 {
            let mut bins = [Bin::of(OTHERS, memory.esc.esc.method(), rest.columns.into(), rest.products)];
            let costs = &memory.adaptive.prices.costs;
            choose::predict_esc(&mut bins, [1, memory.rows, rest.longest.into()], costs, &memory.esc.sort);
            self.counts.add_bin(&bins[0]);
        }
    }
}

impl CountedColumns<'_> {
    /// The entries of C in a band, and the sizes of ESC's columns.
    fn sizes(&self, band: &ClassSizes) -> (EntriesOfC, Sizes) {
        let (mut all, mut of_esc) = (EntriesOfC::default(), Sizes::default());
        for col in band.columns.start as usize..band.columns.end as usize {
            let column = &self.columns[col];
            let entries = u64::from(self.entries.map_or(column.most_entries(), |entries| entries[col]));
            all.all += entries;
            match self.rules.class_of(column) {
                class if class == Class::Rest || (class == Class::Long && self.rules.leaves_long) => {
                    all.by_esc += entries;
                    of_esc.add(column.products.into(), &self.memory.esc.sort);
                }
                class if Class::FOUND.contains(&class) => {
                    let shared = band.shares_rows && column.follows && col > band.columns.start as usize;
                    all.of_found += entries;
                    all.found += if shared { 0 } else { entries };
                }
                _ => {}
            }
        }
        (all, of_esc)
    }
}
