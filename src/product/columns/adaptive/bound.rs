//! Upper bounds of an adaptive product on the host, before it is computed.
//!
//! The host does not analyse the columns. A bound counts each column in every array that a class
//! may have for it: a column that is not short is listed, found and, if it may be too long or its
//! rows too far apart, left to ESC. There is room for a row of each product of these columns.
//! Sorted keys are those of the largest class. The entries of C are counted, unless ESC may compute
//! some columns: then each of their products is an entry, up to the rows of C.
use super::{
    entries::EntriesOfC,
    memory::{AdaptiveMemory, BandArrays, rest_sizes},
    rules::ClassRules,
};
use crate::{
    Pattern, Result,
    device::pool_bytes,
    product::{
        bands::{Largest, Limits, Need, too_long},
        columns::hash::GlobalTables,
        sort,
        terms::{Class, ClassSums, ColumnCounts, EngineBound, Known, LongestColumn, ProductBound, sorted_class},
    },
    resident::ColumnLengths,
};

/// Sums over the columns of C in a band.
#[derive(Debug, Clone, Copy, Default)]
struct BandSums {
    columns: u64,
    products: u64,
    /// Products of the longest column.
    longest: u64,
    /// Columns that may be sorted beside others, and products of the longest of them.
    sorted: u64,
    longest_sorted: u64,
    /// Entries of C: counted, or an upper bound.
    entries: u64,
    /// Upper bounds of the entries of C, in all columns and in those whose rows may be found.
    most_entries: u64,
    most_found: u64,
    /// Columns whose rows may be found.
    found: u64,
    /// Columns that may be left to ESC.
    esc: ClassSums,
}

impl AdaptiveMemory<'_> {
    /// Bounds of A·B within `free_bytes` bytes besides the operands.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if a column of C surely does not fit.
    pub fn bound(&self, (a, b): (&Pattern, &Pattern), counts: &ColumnCounts, free_bytes: u64) -> Result<EngineBound> {
        let (tuning, cols) = (self.adaptive, counts.cols());
        let lengths = [a, b].map(ColumnLengths::of);
        let known = Known::new(b.ncols(), [a.nnz(), a.ncols(), a.nrows()], b.nnz(), lengths.map(Some));
        let rules = ClassRules::new(tuning, a.nrows(), &known);
        let column = |col: usize| self.column(&rules, b.entries(col).len() as u32, col, counts);
        let all = (0..b.ncols()).map(column).fold(BandSums::default(), BandSums::with);
        // If there is no memory for the analysis, ESC computes all columns.
        let analysis_bytes = Some(Self::profile_bytes(cols)).filter(|&bytes| bytes <= free_bytes);
        let by_esc = tuning.esc || u64::from(all.esc.columns) == cols || analysis_bytes.is_none();
        let analysis_bytes = analysis_bytes.unwrap_or(0);
        let fits_sorted = self.fits_sorted(cols, all.entries, free_bytes);
        if let Some(LongestColumn { column, products, entries }) = counts.longest.filter(|_| !fits_sorted) {
            let least = self.least_need(entries);
            if !self.is_within(&least, free_bytes) {
                let available = Need { bytes: free_bytes, largest: self.info.max_alloc_bytes };
                let refused = too_long(format!("column {column}"), products, least, available, 0);
                return if by_esc { Ok(EngineBound::Esc { analysis_bytes }) } else { Err(refused) };
            }
        }
        let longest = lengths.map(|of| u64::from(of.longest));
        let sorted = self.need_all_sorted(&all, longest[0] * longest[1]);
        let sorted = Need { bytes: analysis_bytes + sorted.bytes, ..sorted };
        let whole = self.need_whole(&rules, &all).max(sorted);
        let bound = match all.products < Limits::MAX_PRODUCTS && self.is_within(&whole, free_bytes) {
            true => ProductBound { peak_bytes: whole.bytes, bands: 1 },
            false => {
                let bands = self.bands((0..b.ncols()).map(column), &rules, free_bytes);
                ProductBound { peak_bytes: free_bytes, bands }
            }
        };
        Ok(if by_esc { EngineBound::OwnOrEsc(bound) } else { EngineBound::Own(bound) })
    }

    /// One column.
    fn column(&self, rules: &ClassRules, b_entries: u32, col: usize, counts: &ColumnCounts) -> BandSums {
        let (products, entries) = (counts.products[col], u64::from(counts.entries[col]));
        let most_entries = products.min(self.rows);
        let is_short = rules.is_short(b_entries, products);
        let found = (self.adaptive.dense || self.adaptive.hash) && !is_short;
        let sorted = products <= u64::from(rules.sorted_most).max(self.adaptive.far_products as u64);
        let esc = ClassSums {
            columns: 1,
            products,
            most_entries,
            longest: products.try_into().unwrap_or(u32::MAX),
            b_entries,
            ..ClassSums::default()
        };
        BandSums {
            columns: 1,
            products,
            longest: products,
            sorted: sorted.into(),
            longest_sorted: if sorted { products } else { 0 },
            entries,
            most_entries,
            most_found: if found { most_entries } else { 0 },
            found: found.into(),
            esc: if !is_short && rules.may_leave(b_entries, products) { esc } else { ClassSums::default() },
        }
    }

    /// Upper bound of the memory of all columns in one band.
    fn need_whole(&self, rules: &ClassRules, of: &BandSums) -> Need {
        let mut largest = Largest(0);
        let keys = self.most_keys(of, &mut largest);
        let entries = if of.esc.columns > 0 { of.most_entries } else { of.entries };
        self.need_most(rules, of, (entries, keys), largest)
    }

    /// Upper bound of the memory by which bands are cut.
    fn need_of_band(&self, rules: &ClassRules, of: &BandSums) -> Need {
        self.need_most(rules, of, (of.most_entries, 0), Largest(0))
    }

    /// Upper bound of the memory of columns with `all` entries of C and `keys` bytes of keys.
    fn need_most(&self, rules: &ClassRules, of: &BandSums, (all, keys): (u64, u64), mut largest: Largest) -> Need {
        let (tuning, windows, found) = (self.adaptive, rules.most_windows() as u64, of.most_found.min(all));
        let entries = EntriesOfC { all, of_found: found, found, by_esc: of.esc.most_entries };
        let (esc, parts) = self.esc_bytes(&of.esc, entries.by_esc, &rest_sizes(&of.esc, self.esc), &mut largest);
        let tables = GlobalTables::new(self.info, tuning, [of.longest, of.products], self.rows as usize);
        let arrays = BandArrays {
            columns: of.columns,
            windows,
            listed: of.columns,
            direct: if tuning.direct { of.columns } else { 0 },
            found: of.found,
            found_windows: windows * of.found,
            keys,
            tables: if tuning.hash && of.found > 0 { tables.most_bytes() } else { 0 },
            esc,
            parts,
        };
        let need = |room| self.need_of(&arrays, room, entries, Largest(largest.0));
        let whole = need(of.most_found);
        // If the number of rows is estimated by samples, there may be too little room at first.
        if rules.sampled { whole.max(need(found.saturating_sub(1))) } else { whole }
    }

    /// Upper bound of the bytes of the sorted keys of all bins.
    fn most_keys(&self, of: &BandSums, largest: &mut Largest) -> u64 {
        let class = sorted_class(of.longest_sorted, self.adaptive.most_sorted).filter(|_| self.adaptive.sorts);
        let keys = class.map_or(0, |class| sort::key_bytes(class, of.sorted));
        let rounded = keys + keys / 8 + Class::SORTED.len() as u64 * pool_bytes(0);
        let bytes = if keys > 0 { rounded.min(self.most_key_bytes()) } else { 0 };
        largest.0 = largest.0.max(bytes);
        bytes
    }

    /// Upper bound of the memory of all columns, if they may all be sorted by one class. No column
    /// has more than `longest` products.
    fn need_all_sorted(&self, of: &BandSums, longest: u64) -> Need {
        let most = self.adaptive.most_sorted;
        let class = [longest, of.longest].into_iter().find_map(|longest| sorted_class(longest, most));
        match class.filter(|_| self.adaptive.sorts).map(|class| Class::SORTED[class]) {
            Some(class) => {
                let keeps = self.keeps_sorted(class, of.columns, of.products, u64::MAX);
                self.need_sorted(of.columns, of.entries, keeps.then_some(class))
            }
            None => Need { bytes: 0, largest: 0 },
        }
    }

    /// Lower bound of the memory of a column with `entries` entries of C, whatever its class.
    fn least_need(&self, entries: u64) -> Need {
        let arrays = BandArrays { columns: 1, windows: 1, ..BandArrays::default() };
        self.need_of(&arrays, 0, EntriesOfC { all: entries, ..EntriesOfC::default() }, Largest(0))
    }

    /// Upper bound of the number of bands. Columns are taken one after another, as many as surely
    /// fit. The engine halves many columns, and a part that does not fit has the end of such a band
    /// in it. So there are at most as many further ends in each round of halving.
    fn bands(&self, columns: impl ExactSizeIterator<Item = BandSums>, rules: &ClassRules, free_bytes: u64) -> usize {
        let parts = columns.len().div_ceil(self.adaptive.read_columns.max(1));
        let rounds = parts.next_power_of_two().ilog2() as usize;
        let (mut ends, mut band) = (0, BandSums::default());
        for column in columns {
            let larger = band.with(column);
            let fits = larger.products < Limits::MAX_PRODUCTS
                && self.is_within(&self.need_of_band(rules, &larger), free_bytes);
            (ends, band) = if fits || band.columns == 0 { (ends, larger) } else { (ends + 1, column) };
        }
        1 + ends * (1 + rounds)
    }
}

impl BandSums {
    /// The sums over the columns of two bands.
    fn with(self, other: Self) -> Self {
        Self {
            columns: self.columns + other.columns,
            products: self.products + other.products,
            longest: self.longest.max(other.longest),
            sorted: self.sorted + other.sorted,
            longest_sorted: self.longest_sorted.max(other.longest_sorted),
            entries: self.entries + other.entries,
            most_entries: self.most_entries + other.most_entries,
            most_found: self.most_found + other.most_found,
            found: self.found + other.found,
            esc: self.esc.with(&other.esc),
        }
    }
}
