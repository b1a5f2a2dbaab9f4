//! Sizes of the expansion.
use crate::primitives::segmented_sort::SortTuning;

/// The sizes of the products of some columns, from which allocations and launches follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sizes {
    /// Number of products: the expansion size.
    pub products: u64,
    /// Products of the longest segment.
    pub longest: u64,
    /// Chunks into which the sort cuts long segments.
    pub chunks: u64,
    /// Non-empty segments that the sort does not cut.
    pub shorts: u64,
    /// Products of the longest segment that the sort does not cut.
    pub longest_short: u64,
    /// Products of the shortest segment that the sort cuts; 0 if it cuts no segment.
    pub shortest_long: u64,
    /// Products of segments of more than one chunk.
    pub in_chunks: u64,
}

impl Sizes {
    /// Words of a record of the sizes, in the order of the fields.
    pub const WORDS: usize = 7;

    /// Adds a column with `products` products.
    pub fn add(&mut self, products: u64, sort: &SortTuning) {
        let (short_max, chunk) = (sort.short_max as u64, sort.chunk as u64);
        self.products += products;
        self.longest = self.longest.max(products);
        self.chunks += if products > short_max { products.div_ceil(chunk) } else { 0 };
        if products > 0 && products <= short_max {
            self.shorts += 1;
            self.longest_short = self.longest_short.max(products);
        } else if products > 0 && (self.shortest_long == 0 || products < self.shortest_long) {
            self.shortest_long = products;
        }
        self.in_chunks += if products > chunk { products } else { 0 };
    }
}
