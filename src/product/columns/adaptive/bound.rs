//! Upper bounds of an adaptive product, from the patterns of A and B. The host analyses the columns
//! as the device does, so that the bound is computed for the methods that the product will choose.
use super::{
    bands::{AdaptiveBand, AdaptiveBands, ColumnBands},
    choice::AllSorted,
    equal,
    memory::{AdaptiveMemory, EntriesOfC},
    rules::{ClassRules, Column},
};
use crate::{
    Result,
    analysis::entries_of_columns,
    product::{
        columns::dense::SAMPLE_PRODUCTS,
        terms::{Bound, Class, ClassSizes, CountedProduct, Known, no_columns},
    },
};
use rayon::prelude::*;

/// Bounds of A·B, if `free_bytes` bytes are free in addition to the operands.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if a column of C does not fit.
pub(in crate::product) fn bound(
    memory: &AdaptiveMemory<'_>,
    of: &CountedProduct<'_>,
    free_bytes: u64,
) -> Result<Bound> {
    let (cols, known) = (of.b.ncols() as u64, Known::of(of.a, of.b));
    let by_esc = |peak_bytes| Ok(Bound { bands: None, peak_bytes });
    // Columns that are sorted may fit even if the bound of their entries does not.
    let mut tried = 0;
    let mut sorted = |AllSorted { class, products }, held: u64| {
        let free_bytes = free_bytes - held;
        let keeping = memory.keeps_sorted(class, cols, products, free_bytes).then_some(class);
        let fits = memory.fits_sorted(cols, of.all_entries(), free_bytes);
        tried = if fits { tried } else { held + free_bytes };
        let peak_bytes = held + memory.need_sorted(cols, of.all_entries(), keeping).bytes;
        fits.then_some(Bound { bands: Some(1), peak_bytes })
    };
    if let Some(bound) = memory.sorts_all(&known, free_bytes).and_then(|all| sorted(all, 0)) {
        return Ok(bound);
    }
    if memory.needs_no_analysis(&known, free_bytes) {
        return by_esc(tried);
    }
    let profile_bytes = AdaptiveMemory::profile_bytes(cols);
    let mut rules = ClassRules::new(memory.adaptive, of.a.nrows(), &known);
    let HostProfile { columns, mut sizes } = HostProfile::new(&rules, of);
    let held = AdaptiveMemory::analysed_bytes(cols, sizes.listed() as u64);
    let analysed = memory.sorts_analysed(&sizes, free_bytes - held);
    if let Some(Bound { bands, peak_bytes }) = analysed.and_then(|all| sorted(all, held)) {
        return Ok(Bound { bands, peak_bytes: peak_bytes.max(profile_bytes) });
    }
    if memory.bins(&mut rules, &mut sizes).is_none() {
        return by_esc(tried.max(profile_bytes));
    }
    if let Some(bytes) = need_of_one_band(memory, &sizes, of.all_entries(), free_bytes) {
        return Ok(Bound { bands: Some(1), peak_bytes: bytes.max(tried) });
    }
    Ok(Bound { bands: Some(most_bands(memory, &rules, sizes.samples, columns, free_bytes)?), peak_bytes: free_bytes })
}

/// Upper bound of the memory of all columns in one band, with at most `entries` entries of C, or
/// `None` if the columns might not fit `free_bytes` bytes.
fn need_of_one_band(memory: &AdaptiveMemory<'_>, sizes: &ClassSizes, entries: u64, free_bytes: u64) -> Option<u64> {
    let band =
        AdaptiveBand::whole(memory, sizes, free_bytes).filter(|band| band.admits(memory, entries, free_bytes))?;
    let keeps_keys = memory.keeps_keys(sizes, band.room, free_bytes);
    let counted = EntriesOfC::counted(sizes, entries);
    let need = memory.need(sizes, band.room, keeps_keys, counted).bytes;
    // The product checks whether the expected entries fit before ESC computes its columns.
    let expected = memory.need(sizes, band.room, false, EntriesOfC::expected(sizes, band.room)).bytes;
    Some(if sizes.of(Class::Rest).columns > 0 { need.max(expected) } else { need })
}

/// Upper bound of the number of bands of these columns, which may not fit one band. Bands are
/// shortest if they are cut by the upper bounds of C's entries. When columns are halved, each part
/// that does not fit contains the end of one of these shortest bands. So for n shortest bands each
/// round of halving adds at most n ends.
fn most_bands(
    memory: &AdaptiveMemory<'_>,
    rules: &ClassRules,
    samples: [u32; 2],
    columns: Vec<Column>,
    free_bytes: u64,
) -> Result<usize> {
    let parts = columns.len().div_ceil(memory.adaptive.read_columns.max(1));
    let rounds = parts.next_power_of_two().ilog2() as usize;
    let mut bands = AdaptiveBands { rules, memory, samples, sure: true, free_at_first: free_bytes };
    let (mut cut, mut found) = (ColumnBands::new(&mut bands, 0, columns), 0usize);
    while cut.next(free_bytes)?.is_some() {
        found += 1;
    }
    Ok(1 + found.saturating_sub(1) * (1 + rounds))
}

/// The columns of C, analysed on the host as the device does.
pub(super) struct HostProfile {
    pub columns: Vec<Column>,
    pub sizes: ClassSizes,
}

impl HostProfile {
    pub fn new(rules: &ClassRules, of: &CountedProduct<'_>) -> Self {
        let columns: Vec<_> = (0..of.b.ncols()).into_par_iter().map(|col| column(rules, of, col)).collect();
        let mut sums = no_columns();
        columns.iter().for_each(|column| rules.add(&mut sums, column));
        let samples = if rules.sampled { sample(rules, &columns, of) } else { [0; 2] };
        let sizes = ClassSizes::new(rules, 0..columns.len() as u32, sums, samples);
        Self { columns, sizes }
    }
}

fn column(rules: &ClassRules, of: &CountedProduct<'_>, col: usize) -> Column {
    let entries = of.b.entries(col).len() as u32;
    let products = of.products[col].try_into().unwrap_or(u32::MAX);
    let rows = || {
        let of_a = of.b.column(col).iter().map(|&k| of.a.column(k as usize));
        let ends = of_a.filter_map(|rows| Some((*rows.first()?, *rows.last()?)));
        ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    };
    let rows = if rules.looks_at_rows(entries, products) { rows() } else { None };
    let alone = Column { entries, products, rows, follows: false };
    let found = Class::FOUND.contains(&rules.class_of(&alone));
    Column { follows: found && equal::is_equal(of.b, col), ..alone }
}

/// Entries of C in the columns that the device samples, and their upper bound.
fn sample(rules: &ClassRules, columns: &[Column], of: &CountedProduct<'_>) -> [u32; 2] {
    let samples = columns.len().min(ClassRules::SAMPLES);
    let sampled: Vec<_> = (0..samples)
        .map(|number| number * columns.len() / samples)
        .filter(|&col| columns[col].rows.is_some() && columns[col].products <= SAMPLE_PRODUCTS)
        .filter(|&col| columns[col].words() <= rules.most_words)
        .collect();
    let bound = sampled.iter().map(|&col| columns[col].most_entries()).sum();
    [entries_of_columns(of.a, of.b, sampled).iter().sum(), bound]
}
