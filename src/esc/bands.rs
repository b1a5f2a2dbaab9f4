//! Cutting a product into bands of columns, so that each fits the device: the paper's own remedy ("Results": "how many columns of the B
//! matrix should be processed at a time"). Pure; the sizes come from the scanned product counts.
use super::{Tuning, setup::Sizes};
use crate::{
    Element, Error, Result,
    device::{Work, pool_bytes},
    element::Piece,
    primitives::segmented_reduce::RUN_PIECE,
};
use std::ops::Range;

/// Columns of B whose product is computed at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Band {
    pub columns: Range<u32>,
    /// Number of the band's first product in the whole expansion.
    pub first_product: u64,
    pub sizes: Sizes,
}

/// What bounds a band.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes that may still be allocated.
    pub free_bytes: u64,
    /// Largest buffer.
    pub max_alloc_bytes: u64,
    /// Bytes of a product's payload beside its row: a value, or a pair of operands.
    pub payload_bytes: u64,
    /// Bytes of an entry of C, from one to the next.
    pub entry_bytes: u64,
    /// Products from which on a run is taken in pieces, and bytes of the sum of a piece of a run that is cut.
    pub long_run: u64,
    pub part_bytes: u64,
    /// Rows of C: no column has more entries.
    pub rows: u64,
    /// Longest segment the sort takes whole, and its chunk beyond.
    pub short_max: u64,
    pub chunk: u64,
}

impl Limits {
    /// What is free on the device now, for a product of so many rows whose entries take so many bytes, in blocks of so many elements.
    pub fn new<T: Element>(work: &Work, tuning: &Tuning, rows: usize, entry_bytes: usize, area: usize) -> Self {
        Self {
            free_bytes: work.limit().saturating_sub(work.used_bytes()),
            max_alloc_bytes: work.device().info().max_alloc_bytes,
            payload_bytes: tuning.payload.bytes::<T>(),
            entry_bytes: entry_bytes as u64,
            long_run: tuning.long_run() as u64,
            part_bytes: (area * size_of::<T::Arithmetic>()) as u64,
            rows: rows as u64,
            short_max: tuning.sort.short_max as u64,
            chunk: tuning.sort.chunk as u64,
        }
    }

    /// Offsets inside a band are 32 bits; one bit is left so that sums of two of them cannot wrap.
    const MAX_PRODUCTS: u64 = 1 << 31;

    /// Most bytes a band of so many columns and products allocates at once, and its largest buffer. nnz(C) is not known yet:
    /// at most every product is an entry, or every place.
    pub fn peak(&self, columns: u64, products: u64) -> (u64, u64) {
        let nnz = products.min(self.rows.saturating_mul(columns));
        let expansion = pool_bytes(4 * products) + pool_bytes(self.payload_bytes * products);
        // Rows and values, and where runs end.
        let c = 2 * pool_bytes(4 * nnz) + pool_bytes(self.entry_bytes * nnz) + pool_bytes(4 * columns + 4);
        // Segment pointers, chunk pointers and counts; a tile or a partial per 1024 products, scanned in levels, is plenty. Flags of run ends, by
        // words of 8 bits at least.
        let small =
            4 * pool_bytes(4 * columns + 4) + 4 * pool_bytes(products / 64) + pool_bytes(products / 2) + (1 << 20);
        // A run has a piece for every 1024 of its products begun; of one longer than that there are at most twice as many parts.
        let pieces = size_of::<Piece>() as u64 * (products / (self.long_run + 1) + products / RUN_PIECE as u64);
        let parts = self.part_bytes * (2 * products / RUN_PIECE as u64);
        let largest = [4 * products, self.payload_bytes * products, self.entry_bytes * nnz, pieces, parts];
        let pieces = pool_bytes(pieces) + pool_bytes(parts);
        (small + expansion + expansion.max(c + pieces), largest.into_iter().max().unwrap_or(0))
    }

    fn fits(&self, columns: u64, products: u64) -> bool {
        let (peak, largest) = self.peak(columns, products);
        products < Self::MAX_PRODUCTS && peak <= self.free_bytes && largest <= self.max_alloc_bytes
    }
}

/// The bands of a product, cut one after another, since what is free depends on what became of those before.
pub(crate) struct Bands {
    cols: u32,
    sizes: Sizes,
    /// Products of each column, once one band does not do.
    column_products: Option<Vec<u32>>,
    next_column: u32,
    next_product: u64,
    done: bool,
}

impl Bands {
    pub fn new(cols: usize, sizes: Sizes) -> Self {
        Self { cols: cols as u32, sizes, column_products: None, next_column: 0, next_product: 0, done: false }
    }

    /// The next band: everything if it fits, else as many columns as do.
    ///
    /// # Errors
    /// [`Error::Memory`] when a single column does not fit; whatever `column_products` fails with.
    pub fn next(
        &mut self,
        limits: &Limits,
        column_products: impl FnOnce() -> Result<Vec<u32>>,
    ) -> Result<Option<Band>> {
        if self.done {
            return Ok(None);
        }
        if self.next_column == 0 && limits.fits(self.cols.into(), self.sizes.products) {
            self.done = true;
            return Ok(Some(Band { columns: 0..self.cols, first_product: 0, sizes: self.sizes }));
        }
        if self.sizes.longest >= Limits::MAX_PRODUCTS {
            return Err(too_long("the longest column".into(), self.sizes.longest, limits));
        }
        if self.column_products.is_none() {
            self.column_products = Some(column_products()?);
        }
        let of_column = &self.column_products.as_deref().unwrap_or_default()[self.next_column as usize..];
        let (mut columns, mut sizes) = (0, Sizes::default());
        for &products in of_column {
            if !limits.fits(columns + 1, sizes.products + u64::from(products)) {
                break;
            }
            sizes.add(products.into(), limits);
            columns += 1;
        }
        if columns == 0 {
            return Err(too_long(format!("column {}", self.next_column), of_column[0].into(), limits));
        }
        let columns = self.next_column..self.next_column + columns as u32;
        let band = Band { columns, first_product: self.next_product, sizes };
        (self.next_column, self.next_product) = (band.columns.end, self.next_product + sizes.products);
        self.done = self.next_column == self.cols;
        Ok(Some(band))
    }
}

/// The error for a column of C that no band can hold.
fn too_long(column: String, products: u64, limits: &Limits) -> Error {
    let (peak, largest) = limits.peak(1, products);
    let (needed, available) = match largest > limits.max_alloc_bytes {
        true => (largest, limits.max_alloc_bytes),
        false => (peak, limits.free_bytes),
    };
    Error::Memory {
        what: format!("the {products} products of {column} of C (2^31 - 1 at most)"),
        needed,
        available,
        place: "device; a column cannot be cut".into(),
    }
}

impl Sizes {
    pub fn add(&mut self, products: u64, limits: &Limits) {
        self.products += products;
        self.longest = self.longest.max(products);
        self.chunks += if products > limits.short_max { products.div_ceil(limits.chunk) } else { 0 };
        self.shorts += u64::from(products > 0 && products <= limits.short_max);
        self.in_chunks += if products > limits.chunk { products } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        free_bytes: 1 << 40,
        max_alloc_bytes: 1 << 40,
        payload_bytes: 8,
        entry_bytes: 8,
        long_run: 1024,
        part_bytes: 8,
        rows: 1 << 20,
        short_max: 512,
        chunk: 1024,
    };

    fn cut(columns: &[u32], limits: &Limits) -> Result<Vec<Band>> {
        let mut sizes = Sizes::default();
        columns.iter().for_each(|&products| sizes.add(products.into(), limits));
        let mut bands = Bands::new(columns.len(), sizes);
        std::iter::from_fn(|| bands.next(limits, || Ok(columns.to_vec())).transpose()).collect()
    }

    #[test]
    fn bands_tile_the_columns_and_fit() -> Result<()> {
        let columns: Vec<u32> = (0..1000).map(|j| if j % 7 == 0 { 0 } else { j * 37 % 5000 }).collect();
        for megabytes in [2, 3, 5, 1000] {
            let limits = Limits { free_bytes: megabytes << 20, ..LIMITS };
            let bands = cut(&columns, &limits)?;
            let mut at = (0, 0);
            for band in &bands {
                assert_eq!((band.columns.start, band.first_product), at);
                let mut sizes = Sizes::default();
                for &products in &columns[band.columns.start as usize..band.columns.end as usize] {
                    sizes.add(products.into(), &limits);
                }
                assert_eq!(band.sizes, sizes);
                assert!(limits.fits(band.columns.len() as u64, band.sizes.products));
                at = (band.columns.end, at.1 + band.sizes.products);
            }
            assert_eq!(at.0, 1000);
            assert_eq!(bands.len() == 1, megabytes == 1000, "{megabytes} MiB: {} bands", bands.len());
        }
        Ok(())
    }

    #[test]
    fn no_columns_are_one_empty_band() -> Result<()> {
        assert_eq!(cut(&[], &LIMITS)?, [Band { columns: 0..0, first_product: 0, sizes: Sizes::default() }]);
        Ok(())
    }

    #[test]
    fn a_column_that_fits_nowhere_is_named_with_its_numbers() {
        let limits = Limits { free_bytes: 4 << 20, ..LIMITS };
        let error = cut(&[10, 1_000_000, 10], &limits).unwrap_err();
        assert!(error.to_string().contains("1000000 products of column 1"), "{error}");
        assert!(matches!(error, Error::Memory { available, .. } if available == 4 << 20), "{error}");
    }

    #[test]
    fn the_expansion_of_a_band_stays_below_2_31() -> Result<()> {
        let unbounded = Limits { max_alloc_bytes: u64::MAX, free_bytes: u64::MAX, ..LIMITS };
        let bands = cut(&[1 << 30; 5], &unbounded)?;
        assert_eq!(bands.iter().map(|b| b.columns.len()).collect::<Vec<_>>(), [1, 1, 1, 1, 1]);
        Ok(())
    }
}
