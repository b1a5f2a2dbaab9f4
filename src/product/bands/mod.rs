//! Bands: ranges of columns of C that are computed one after another, because not all columns fit
//! the device, or because the consumer takes a given number of columns at once. The paper does the
//! same ("Results": "how many columns of the B matrix should be processed at a time"). The
//! functions are pure; the sizes come from the scanned product counts.
mod host_columns;
mod join;
mod limits;

pub(super) use host_columns::HostColumns;
pub(super) use join::join;
pub(crate) use join::join_patterns;
pub(super) use limits::{EntryMemory, Largest, Limits, Need, segment_bytes, setup_bytes};

use super::terms::{Band, Sizes};
use crate::{Error, Result};

/// The bands of a product. Bands are cut one after another, since the free memory depends on the
/// results of earlier bands.
pub(crate) struct Bands {
    cols: u32,
    sizes: Sizes,
    /// Products of each column, if one band is not enough.
    column_products: Option<Vec<u32>>,
    next_column: u32,
    next_product: u64,
    /// Free bytes before the first band, if one band is not enough.
    free_at_first: Option<u64>,
    done: bool,
}

impl Bands {
    pub fn new(cols: usize, sizes: Sizes) -> Self {
        let (cols, column_products, free_at_first) = (cols as u32, None, None);
        Self { cols, sizes, column_products, next_column: 0, next_product: 0, free_at_first, done: false }
    }

    /// The next band: all columns if they fit, or else as many as surely fit. A single column is
    /// tried even if it does not surely fit: the number of its entries of C is known only after the
    /// host's second read. `limits` gives the memory that is free now. `column_products` returns
    /// the number of products of each column, and releases the memory that setup holds for all
    /// columns.
    ///
    /// # Errors
    /// [`Error::Memory`] if a single column does not fit, and errors of `column_products`.
    pub fn next<'a>(
        &mut self,
        limits: &dyn Fn() -> Limits<'a>,
        column_products: &mut dyn FnMut() -> Result<Vec<u32>>,
    ) -> Result<Option<Band>> {
        if self.done {
            return Ok(None);
        }
        if self.next_column == 0 && self.whole_fits(&limits()) {
            self.done = true;
            return Ok(Some(Band::of_all(self.cols as usize, self.sizes)));
        }
        if self.sizes.longest >= Limits::MAX_PRODUCTS {
            return Err(limits().too_long("the longest column".into(), self.sizes.longest, 0));
        }
        if self.column_products.is_none() {
            self.column_products = Some(column_products()?);
        }
        let limits = limits();
        let free_at_first = *self.free_at_first.get_or_insert(limits.free_bytes);
        let kept_bytes = free_at_first.saturating_sub(limits.free_bytes);
        let of_column = &self.column_products.as_deref().unwrap_or_default()[self.next_column as usize..];
        let (mut columns, mut sizes) = (0, Sizes::default());
        let mut nnz = 0;
        for &products in of_column {
            let mut larger = sizes;
            larger.add(products.into(), &limits.tuning.sort);
            nnz += limits.most_entries(products.into());
            if !limits.fits(columns + 1, &larger, limits.need(columns + 1, &larger, nnz)) {
                break;
            }
            (columns, sizes) = (columns + 1, larger);
        }
        if columns == 0 {
            sizes.add(of_column[0].into(), &limits.tuning.sort);
            if !limits.fits(1, &sizes, limits.need(1, &sizes, 0)) {
                return Err(limits.too_long(format!("column {}", self.next_column), sizes.products, kept_bytes));
            }
            columns = 1;
        }
        let columns = self.next_column..self.next_column + columns as u32;
        let band = Band { columns, first_product: self.next_product, sizes, kept_bytes };
        (self.next_column, self.next_product) = (band.columns.end, self.next_product + sizes.products);
        self.done = self.next_column == self.cols;
        Ok(Some(band))
    }

    /// Whether one band is enough. Setup has already allocated the segments of that band.
    fn whole_fits(&self, limits: &Limits<'_>) -> bool {
        let columns = self.cols.into();
        let limits = Limits { free_bytes: limits.free_bytes.saturating_add(segment_bytes(columns)), ..*limits };
        let nnz = self.sizes.products.min(limits.entries.rows.saturating_mul(columns));
        limits.fits(columns, &self.sizes, limits.need(columns, &self.sizes, nnz))
    }
}

impl Limits<'_> {
    /// The error for a column of C that no band can hold.
    fn too_long(&self, column: String, products: u64, kept_bytes: u64) -> Error {
        let mut sizes = Sizes::default();
        sizes.add(products, &self.tuning.sort);
        let available = Need { bytes: self.free_bytes, largest: self.max_alloc_bytes };
        too_long(column, products, self.need(1, &sizes, 0), available, kept_bytes)
    }
}

/// The error for a column of C that no band can hold.
pub(super) fn too_long(column: String, products: u64, need: Need, within: Need, kept_bytes: u64) -> Error {
    let (needed, available) = match need.largest > within.largest {
        true => (need.largest, within.largest),
        false => (need.bytes, within.bytes),
    };
    Error::Memory {
        what: format!("the {products} products of {column} of C (2^31 - 1 at most)"),
        needed,
        available,
        place: format!("device; {}", reason(needed, available, kept_bytes)),
    }
}

/// Why a band does not fit, for the error message: a column cannot be cut, or earlier columns hold
/// the memory.
fn reason(needed: u64, available: u64, kept_bytes: u64) -> String {
    match needed > available && needed - available <= kept_bytes {
        true => format!("the columns of C before it hold {kept_bytes} bytes there"),
        false => "a column cannot be cut".into(),
    }
}

impl Band {
    /// Explains an error of a band that ran out of memory. If the band is one column, which cannot
    /// be cut, the message names that column or the memory that earlier columns hold.
    pub fn explain(&self, error: Error) -> Error {
        match error {
            Error::Memory { what, needed, available, place } if self.columns.len() == 1 => Error::Memory {
                what: format!("the {} products of column {} of C: {what}", self.sizes.products, self.columns.start),
                needed,
                available,
                place: format!("{place}; {}", reason(needed, available, self.kept_bytes)),
            },
            error => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape,
        device::test_device,
        product::{bands::limits::EntryMemory, terms::BandConsumer, tuning::Tuning},
    };

    const ENTRIES: EntryMemory =
        EntryMemory { payload_bytes: 8, entry_bytes: 8, part_bytes: 8, rows: 1 << 20, consumer: BandConsumer::ANY };

    fn tuning() -> Tuning {
        Tuning::new(test_device().info(), BlockShape::SCALAR, BlockShape::SCALAR)
    }

    fn limits(tuning: &Tuning, free_bytes: u64) -> Limits<'_> {
        Limits { tuning, free_bytes, max_alloc_bytes: 1 << 40, entries: ENTRIES }
    }

    fn cut(columns: &[u32], limits: &Limits<'_>) -> Result<Vec<Band>> {
        let mut sizes = Sizes::default();
        columns.iter().for_each(|&products| sizes.add(products.into(), &limits.tuning.sort));
        let mut bands = Bands::new(columns.len(), sizes);
        std::iter::from_fn(|| bands.next(&|| *limits, &mut || Ok(columns.to_vec())).transpose()).collect()
    }

    #[test]
    fn bands_tile_the_columns_and_fit() -> Result<()> {
        let columns: Vec<u32> = (0..1000).map(|j| if j % 7 == 0 { 0 } else { j * 37 % 5000 }).collect();
        let tuning = tuning();
        for megabytes in [2, 3, 5, 1000] {
            let limits = limits(&tuning, megabytes << 20);
            let bands = cut(&columns, &limits)?;
            let mut at = (0, 0);
            for band in &bands {
                assert_eq!((band.columns.start, band.first_product), at);
                let mut sizes = Sizes::default();
                for &products in &columns[band.columns.start as usize..band.columns.end as usize] {
                    sizes.add(products.into(), &tuning.sort);
                }
                assert_eq!(band.sizes, sizes);
                let columns = band.columns.len() as u64;
                assert!(limits.fits(columns, &sizes, limits.need(columns, &sizes, sizes.products)));
                at = (band.columns.end, at.1 + band.sizes.products);
            }
            assert_eq!(at.0, 1000);
            assert_eq!(bands.len() == 1, megabytes == 1000, "{megabytes} MiB: {} bands", bands.len());
        }
        Ok(())
    }

    #[test]
    fn no_columns_are_one_empty_band() -> Result<()> {
        assert_eq!(
            cut(&[], &limits(&tuning(), 1 << 40))?,
            [Band { columns: 0..0, first_product: 0, sizes: Sizes::default(), kept_bytes: 0 }]
        );
        Ok(())
    }

    #[test]
    fn bands_have_the_number_of_columns_that_their_consumer_takes() -> Result<()> {
        let tuning = tuning();
        let bands = |most_columns| -> Result<Vec<_>> {
            let consumer = BandConsumer { most_columns, ..BandConsumer::ANY };
            let limits = Limits { entries: EntryMemory { consumer, ..ENTRIES }, ..limits(&tuning, 1 << 40) };
            Ok(cut(&[0, 10, 10, 0, 10, 10, 0], &limits)?.into_iter().map(|band| band.columns).collect())
        };
        assert_eq!((bands(3)?, bands(6)?), (vec![0..3, 3..6, 6..7], vec![0..6, 6..7]));
        assert_eq!(bands(7)?.len(), 1);
        Ok(())
    }

    #[test]
    fn a_column_that_fits_nowhere_is_named_with_its_numbers() {
        let error = cut(&[10, 1_000_000, 10], &limits(&tuning(), 4 << 20)).unwrap_err();
        assert!(error.to_string().contains("1000000 products of column 1"), "{error}");
        assert!(matches!(error, Error::Memory { available, .. } if available == 4 << 20), "{error}");
    }

    #[test]
    fn columns_kept_on_the_device_are_named_if_they_are_in_the_way() {
        let tuning = tuning();
        let products = [300_000; 4];
        let mut sizes = Sizes::default();
        products.iter().for_each(|&products| sizes.add(products.into(), &tuning.sort));
        let mut single = Sizes::default();
        single.add(300_000, &tuning.sort);
        let one = limits(&tuning, 0).need(1, &single, 0).bytes;
        // The columns of each band stay in memory, so there is too little memory for the second
        // band.
        let mut bands = Bands::new(4, sizes);
        let mut next = |free| bands.next(&|| limits(&tuning, free), &mut || Ok(products.to_vec()));
        let first = next(one + 1000).unwrap().unwrap();
        assert_eq!((first.columns, first.kept_bytes), (0..1, 0));
        let error = next(one - 1000).unwrap_err().to_string();
        assert!(error.contains("column 1 of C"), "{error}");
        assert!(error.contains("the columns of C before it hold 2000 bytes there"), "{error}");
        // If earlier columns hold no memory, or too little to make a difference, the column itself
        // is too long.
        let short = |needed, available, kept_bytes| {
            let band = Band { columns: 3..4, first_product: 0, sizes, kept_bytes };
            band.explain(Error::Memory { what: "x".into(), needed, available, place: "device".into() }).to_string()
        };
        assert!(short(100, 50, 0).contains("a column cannot be cut"));
        assert!(short(100, 50, 49).contains("a column cannot be cut"));
        assert!(short(100, 50, 50).contains("the columns of C before it hold 50 bytes there"));
    }

    #[test]
    fn the_expansion_of_a_band_stays_below_2_31() -> Result<()> {
        let tuning = tuning();
        let unbounded = Limits { max_alloc_bytes: u64::MAX, ..limits(&tuning, u64::MAX) };
        let bands = cut(&[1 << 30; 5], &unbounded)?;
        assert_eq!(bands.iter().map(|b| b.columns.len()).collect::<Vec<_>>(), [1, 1, 1, 1, 1]);
        Ok(())
    }
}
