//! Predicts a product in ranges on the host, from the patterns of A and B: its bands, its bins, and
//! the device memory that it takes.
use super::{RangeMemory, RangeProfile, RangeTuning, Sides, cuts::band_end, memory::Groups};
use crate::{
    Error, Pattern, Result,
    analysis::entries_of_columns,
    product::{
        bands::{Need, too_long},
        terms::{COUNTED, Counts, Foretold, Way},
    },
};
use rayon::prelude::*;

/// Predicts A·B within `free_bytes` bytes besides the operands.
///
/// # Errors
/// [`Error::Memory`] if a column of C does not fit.
pub(in crate::product) fn foretell(
    memory: &RangeMemory<'_>,
    (a, b): (&Pattern, &Pattern),
    free_bytes: u64,
) -> Result<Foretold> {
    let (tuning, cols) = (memory.tuning, b.ncols());
    let samples = tuning.samples([a.ncols(), cols], [a.nnz(), b.nnz()]);
    let Some(counting) = memory.counting_groups(cols as u64, samples, free_bytes) else {
        return Ok(Foretold { counts: None, peak_bytes: 0 });
    };
    let products_of = |col: usize| b.column(col).iter().map(|&k| a.entries(k as usize).len() as u64).sum();
    let products: Vec<u64> = (0..cols).into_par_iter().map(products_of).collect();
    let profile = profile_of(tuning, (a, b), &products, samples);
    let setup = memory.need_of_setup(cols as u64, counting, samples).bytes;
    let (way, groups) = memory.way(&profile, cols as u64, counting, free_bytes);
    let bins = profile.bins(tuning, Sides { rows: a.nrows() as u64, columns: cols as u64 });
    let counts = Counts { products: profile.products, bands: 1, bins, ..Counts::default() };
    if profile.products == 0 {
        return Ok(Foretold { peak_bytes: setup.max(memory.need_of_nothing(cols as u64)), counts: Some(counts) });
    }
    if way == Way::Esc {
        return Ok(Foretold { counts: None, peak_bytes: setup });
    }
    let most = |products: &u64| (*products).min(a.nrows() as u64) as u32;
    let lengths = match way {
        Way::Exact => Vec::new(),
        _ if profile.products <= COUNTED => entries_of_columns(a, b, 0..cols),
        _ => products.iter().map(most).collect(),
    };
    let entries = lengths.iter().map(|&of| u64::from(of)).sum();
    let whole = match way {
        Way::Exact => memory.need_of_sums(cols as u64, profile.products, groups),
        Way::OnePass | Way::Kept => memory.need_of_one_pass(cols as u64, profile.products, entries, groups),
        Way::Esc | Way::TwoPasses => {
            let counted = memory.need_of_count(cols as u64, groups).bytes;
            let before = Foretold { counts: Some(counts), peak_bytes: setup.max(counted) };
            let of_columns = (lengths, &products[..]);
            let exactly = |col| match profile.products <= COUNTED {
                true => None,
                false => entries_of_columns(a, b, [col]).first().copied(),
            };
            return in_two_passes(memory, (of_columns, exactly), groups, (before, free_bytes));
        }
    };
    Ok(Foretold { counts: Some(counts), peak_bytes: setup.max(whole.bytes) })
}

/// The profile that the device would find.
pub(super) fn profile_of(
    tuning: &RangeTuning,
    (a, b): (&Pattern, &Pattern),
    products: &[u64],
    samples: usize,
) -> RangeProfile {
    let mut profile = RangeProfile::default();
    for (col, &products) in products.iter().enumerate() {
        profile.add_column(b.entries(col).len() as u64, products, tuning);
    }
    if samples > 0 {
        let sampled = |sample| RangeTuning::sampled_column(sample, samples, products.len());
        let columns: Vec<_> = (0..samples).map(sampled).collect();
        let of_products = columns.iter().map(|&col| products[col]).sum();
        let entries = entries_of_columns(a, b, columns).iter().map(|&of| u64::from(of)).sum();
        profile.sampled = [entries, of_products];
    }
    profile
}

/// Adds the steps after counting to the prediction: all columns, or bands. If the lengths are upper
/// bounds, `exactly` counts the entries of a column.
fn in_two_passes(
    memory: &RangeMemory<'_>,
    ((mut lengths, products), exactly): ((Vec<u32>, &[u64]), impl Fn(usize) -> Option<u32>),
    groups: Groups,
    (before, free_bytes): (Foretold, u64),
) -> Result<Foretold> {
    let Foretold { counts, mut peak_bytes } = before;
    let entries_of = |of: &[u32]| of.iter().map(|&length| u64::from(length)).sum();
    let fits = |columns, entries| memory.fits_sums(columns, entries, groups, free_bytes);
    let (mut first, mut bands) = (0, 0);
    while first < lengths.len() {
        let rest = &lengths[first..];
        let all = first == 0 && fits(rest.len() as u64, entries_of(rest));
        let end = if all { Some(lengths.len()) } else { band_end(&lengths, first, fits) };
        if end.is_none()
            && let Some(exact) = exactly(first).filter(|exact| *exact < lengths[first])
        {
            lengths[first] = exact;
            continue;
        }
        let end = end.ok_or_else(|| -> Error {
            let available = Need { bytes: free_bytes, largest: memory.info.max_alloc_bytes };
            let need = memory.need_of_sums(1, lengths[first].into(), groups);
            too_long(format!("column {first}"), products[first], need, available, 0)
        })?;
        let (columns, entries) = ((end - first) as u64, entries_of(&lengths[first..end]));
        peak_bytes = peak_bytes.max(match entries {
            0 => memory.need_of_nothing(columns),
            _ => memory.need_of_sums(columns, entries, groups).bytes,
        });
        (first, bands) = (end, bands + 1);
    }
    Ok(Foretold { counts: counts.map(|counts| Counts { bands, ..counts }), peak_bytes })
}
