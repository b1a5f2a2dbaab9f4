//! The choice between one class of sorted columns, bins of columns, and ESC. The functions are
//! pure, but `bins` updates its arguments. A product and its [bound](mod@super::bound) call these
//! functions in the order of this file.
use super::{memory::AdaptiveMemory, rules::ClassRules};
use crate::product::{
    choose,
    terms::{Class, ClassSizes, Known, Share, sorted_class},
};

/// One class of sorted columns that takes every column of C.
#[derive(Debug, Clone, Copy)]
pub(super) struct AllSorted {
    pub class: Class,
    /// Upper bound of the products.
    pub products: u64,
}

impl AdaptiveMemory<'_> {
    /// The class whose kernels sort every column, chosen without an analysis, or `None` if the
    /// longest columns of A and of B are not known or too long for all classes, if another method
    /// is allowed and expected to be faster, or if the entries cannot be counted within
    /// `free_bytes` bytes.
    pub(super) fn sorts_all(&self, known: &Known, free_bytes: u64) -> Option<AllSorted> {
        let (tuning, longest) = (self.adaptive, known.longest_a.map(u64::from)?);
        let most = if tuning.esc && tuning.sorts { tuning.most_sorted } else { tuning.sorted_most };
        let class = Class::SORTED[sorted_class(longest * u64::from(known.longest_b?), most)?];
        let is_best = !tuning.esc || tuning.prices.sorts_all(class, known);
        self.counted(class, known.columns, longest * known.b_entries, free_bytes).filter(|_| is_best)
    }

    /// Whether ESC computes all columns without an analysis. ESC does so if it is allowed and
    /// expected to take less time than other methods, or if the analysis does not fit `free_bytes`
    /// bytes.
    pub(super) fn needs_no_analysis(&self, known: &Known, free_bytes: u64) -> bool {
        let by_esc = self.adaptive.esc && self.adaptive.prices.needs_no_analysis(known);
        by_esc || Self::profile_bytes(known.columns) > free_bytes
    }

    /// The class whose kernels sort every column, chosen after an analysis, or `None` if sorting
    /// every column is not allowed, if the bins are expected to be faster, or if the entries cannot
    /// be counted within `free_bytes` bytes.
    pub(super) fn sorts_analysed(&self, sizes: &ClassSizes, free_bytes: u64) -> Option<AllSorted> {
        if !self.adaptive.esc || !self.adaptive.sorts {
            return None;
        }
        let class = self.adaptive.prices.sorts_analysed(&sizes.statistics())?;
        self.counted(class, sizes.cols() as u64, sizes.products(), free_bytes)
    }

    fn counted(&self, class: Class, columns: u64, products: u64, free_bytes: u64) -> Option<AllSorted> {
        self.counts_sorted(columns, products, free_bytes).then_some(AllSorted { class, products })
    }

    /// The bins of analysed columns, or `None` if ESC computes all columns. The columns of
    /// [`Class::Long`] are left to ESC if that is allowed and expected to take less time.
    pub(super) fn bins(&self, rules: &mut ClassRules, sizes: &mut ClassSizes) -> Option<Vec<Share>> {
        let (esc, prices) = (self.adaptive.esc, &self.adaptive.prices);
        if esc && choose::leaves_long(&sizes.statistics(), prices) {
            rules.leaves_long = true;
            sizes.leave_long(rules);
        }
        choose::share_out(&sizes.statistics(), prices, esc).filter(|_| sizes.are_taken())
    }
}
