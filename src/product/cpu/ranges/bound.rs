//! Upper bounds of a product in ranges, from the patterns of A and B. The host analyses the columns
//! as the device does, so that the bound is computed for the `Way` that the product will choose.
use super::{RangeMemory, RangeProfile, RangeTuning, cuts::band_end, memory::Groups};
use crate::{
    Result,
    analysis::entries_of_columns,
    product::terms::{Bound, CountedProduct, Way},
};

/// Bounds of A·B, if `free_bytes` bytes are free in addition to the operands.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory) if a column of C does not fit.
pub(in crate::product) fn bound(memory: &RangeMemory<'_>, of: &CountedProduct<'_>, free_bytes: u64) -> Result<Bound> {
    let (cols, entries) = (of.b.ncols() as u64, of.all_entries());
    let by_esc = |peak_bytes| Ok(Bound { bands: None, peak_bytes });
    let samples = memory.tuning.samples([of.a.ncols(), of.b.ncols()], [of.a.nnz(), of.b.nnz()]);
    let Some(counting) = memory.counting_groups(cols, samples, free_bytes) else {
        return by_esc(0);
    };
    let profile = profile_of(memory.tuning, of, samples);
    let setup = memory.need_of_setup(cols, counting, samples).bytes;
    let (way, groups) = memory.way(&profile, cols, counting, free_bytes);
    let bytes = match way {
        _ if profile.products == 0 && memory.consumer.admits(cols) => memory.need_of_nothing(cols),
        Way::Esc => return by_esc(setup),
        Way::Exact => memory.need_of_sums(cols, profile.products, groups).bytes,
        Way::OnePass | Way::Kept => memory.need_of_one_pass(cols, profile.products, entries, groups).bytes,
        Way::TwoPasses if memory.fits_sums(cols, entries, groups, free_bytes) => {
            memory.need_of_count(cols, groups).bytes.max(memory.need_of_sums(cols, entries, groups).bytes)
        }
        Way::TwoPasses => {
            return Ok(Bound { bands: Some(most_bands(memory, of, groups, free_bytes)?), peak_bytes: free_bytes });
        }
    };
    Ok(Bound { bands: Some(1), peak_bytes: setup.max(bytes) })
}

/// The profile that the device would find.
pub(super) fn profile_of(tuning: &RangeTuning, of: &CountedProduct<'_>, samples: usize) -> RangeProfile {
    let mut profile = RangeProfile::default();
    for (col, &products) in of.products.iter().enumerate() {
        profile.add_column(of.b.entries(col).len() as u64, products, tuning);
    }
    if samples > 0 {
        let sampled = |sample| RangeTuning::sampled_column(sample, samples, of.products.len());
        let columns: Vec<_> = (0..samples).map(sampled).collect();
        let of_products = columns.iter().map(|&col| of.products[col]).sum();
        let entries = entries_of_columns(of.a, of.b, columns).iter().map(|&of| u64::from(of)).sum();
        profile.sampled = [entries, of_products];
    }
    profile
}

/// Upper bound of the bands after all columns were counted. A column that may not fit is counted
/// here too: it is one band, or it is refused.
fn most_bands(memory: &RangeMemory<'_>, of: &CountedProduct<'_>, groups: Groups, free_bytes: u64) -> Result<usize> {
    let fits = |columns, entries| memory.fits_sums(columns, entries, groups, free_bytes);
    let (mut first, mut bands) = (0, 0);
    while first < of.entries.len() {
        let alone = || {
            let entries = entries_of_columns(of.a, of.b, [first])[0];
            let refused = || memory.too_long(first, [entries.into(), of.products[first]], groups, [free_bytes, 0]);
            band_end(&[entries], 0, fits).map(|columns| first + columns).ok_or_else(refused)
        };
        first = band_end(&of.entries, first, fits).map_or_else(alone, Ok)?;
        bands += 1;
    }
    Ok(bands)
}
