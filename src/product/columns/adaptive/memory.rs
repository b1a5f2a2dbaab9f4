//! The device memory that a band of an adaptive product needs. Bands are cut so that the memory for
//! each band is free. The functions are pure, and add up all arrays that are allocated, as the
//! functions of [`Limits`] do, rounded up to the pool's size classes.
use super::profile::Profiler;
use crate::{
    DeviceInfo,
    device::pool_bytes,
    element::ElementType,
    product::{
        bands::{EntryMemory, Largest, Limits, Need, setup_bytes},
        choose::{self},
        columns::tasks::CutTasks,
        sort,
        terms::{BandConsumer, Class, ClassSizes, ClassSums, Method, Share, Sizes},
        tuning::{AdaptiveTuning, Tuning},
    },
};

/// The data on which the memory of a product depends, besides the sizes of a band.
#[derive(Clone, Copy)]
pub(in crate::product) struct AdaptiveMemory<'a> {
    pub info: &'a DeviceInfo,
    /// Tuning of scans, and of ESC for columns that no other method takes.
    pub esc: &'a Tuning,
    pub adaptive: &'a AdaptiveTuning,
    /// Bytes of the value of an entry of A, B and C.
    pub element_bytes: u64,
    /// Rows of C.
    pub rows: u64,
    /// Memory of each product and entry in columns of ESC.
    pub by_esc: EntryMemory,
    pub consumer: BandConsumer,
}

/// The entries of C in a band: counted numbers or upper bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::product) struct EntriesOfC {
    pub all: u64,
    /// Entries in columns whose rows are found before they are summed.
    pub of_found: u64,
    /// Rows found for the entries that are summed later. Rows that several columns share count
    /// once.
    pub found: u64,
    /// Entries in columns that ESC computes.
    pub by_esc: u64,
}

impl EntriesOfC {
    /// Upper bounds of the entries of C in a band.
    pub fn most(band: &ClassSizes) -> Self {
        let of = |classes: &[Class]| band.sum(classes, |sums| sums.most_entries);
        let [all, of_found, by_esc] = [of(&Class::ALL), of(&Class::FOUND), of(&[Class::Rest])];
        Self { all, of_found, found: band.most_found(), by_esc }
    }

    /// Upper bounds of the entries of C in a band in which at most `room` rows are found.
    pub fn expected(band: &ClassSizes, room: u64) -> Self {
        let most = Self::most(band);
        let of_found = u128::from(room) * u128::from(most.of_found) / u128::from(most.found.max(1));
        let of_found = of_found as u64;
        Self { all: most.all - most.of_found + of_found, of_found, found: room, ..most }
    }

    /// Upper bounds of the kinds of entries of a band, once its `all` entries of C are counted.
    pub fn counted(band: &ClassSizes, all: u64) -> Self {
        let most = Self::most(band);
        let [of_found, found, by_esc] = [most.of_found, most.found, most.by_esc].map(|most| most.min(all));
        Self { all, of_found, found, by_esc }
    }
}

impl<'a> AdaptiveMemory<'a> {
    /// Sorted keys take at most a 64th of the device's memory: 2.2 GB of an H200, enough for the
    /// keys of 400 to 500 million products.
    const KEYS_PART: u64 = 64;

    pub fn new(
        info: &'a DeviceInfo,
        esc: &'a Tuning,
        adaptive: &'a AdaptiveTuning,
        element: ElementType,
        rows: usize,
        consumer: BandConsumer,
    ) -> Self {
        let by_esc = EntryMemory::new(element, esc, rows, element.bytes(), 1);
        Self { info, esc, adaptive, element_bytes: element.bytes() as u64, rows: rows as u64, by_esc, consumer }
    }

    /// Whether a band surely fits `free_bytes` bytes.
    pub fn fits(&self, band: &ClassSizes, room: u64, free_bytes: u64) -> bool {
        self.fits_with(band, room, EntriesOfC::most(band), free_bytes)
    }

    /// Whether a band fits `free_bytes` bytes if C has these entries.
    pub fn fits_with(&self, band: &ClassSizes, room: u64, entries: EntriesOfC, free_bytes: u64) -> bool {
        band.products() < Limits::MAX_PRODUCTS
            && self.consumer.admits(band.cols() as u64)
            && self.is_within(&self.need(band, room, false, entries), free_bytes)
    }

    /// Whether the sorted keys of a band are kept between its count and its sums. Keys are kept if
    /// they are a small part of the device's memory, and if there is room for them however many
    /// entries C has.
    pub fn keeps_keys(&self, band: &ClassSizes, room: u64, free_bytes: u64) -> bool {
        self.are_few(self.keys_bytes(band, &mut Largest(0)))
            && self.is_within(&self.need(band, room, true, EntriesOfC::most(band)), free_bytes)
    }

    /// Whether keys are few enough to be kept. If several products are added to one entry of C,
    /// keys take more memory than C.
    fn are_few(&self, key_bytes: u64) -> bool {
        key_bytes <= self.info.global_bytes / Self::KEYS_PART
    }

    fn is_within(&self, need: &Need, free_bytes: u64) -> bool {
        need.bytes <= free_bytes && need.largest <= self.info.max_alloc_bytes
    }

    /// Most bytes in use at once during the analysis of `columns` columns.
    pub fn profile_bytes(columns: u64) -> u64 {
        let list = pool_bytes(4 * columns).max(4 * pool_bytes(0));
        4 * pool_bytes(4 * columns) + pool_bytes(4 * Profiler::record_words() as u64) + list
    }

    /// Bytes of the arrays of an analysis of `columns` columns. `listed` columns are in the list.
    pub fn analysed_bytes(columns: u64, listed: u64) -> u64 {
        4 * pool_bytes(4 * columns) + pool_bytes(4 * listed)
    }

    /// Memory that a band needs, if memory for `room` rows is allocated at first. Sorted keys are
    /// included if they are kept. The sizes of ESC's columns are upper bounds.
    pub fn need(&self, band: &ClassSizes, room: u64, keeps_keys: bool, entries: EntriesOfC) -> Need {
        let mut largest = Largest(0);
        let columns = band.cols() as u64;
        let chunks = columns * band.windows as u64;
        let scan = |count: u64| self.esc.scan.scratch_bytes(4, count);

        let of_columns = 4 * largest.array(4 * columns);
        let list = pool_bytes(4 * band.listed() as u64);
        let profiled = Self::profile_bytes(columns);
        let (esc, parts) = self.esc_bytes(band.of(Class::Rest), entries.by_esc, &mut largest);
        let keys = if keeps_keys { self.keys_bytes(band, &mut largest) } else { 0 };
        let held = list + parts + keys;

        let finds = band.sum(&Class::FOUND, |sums| sums.columns.into()) > 0;
        let direct = self.direct_columns(band);
        let chunk_ptr = largest.array(4 * (chunks + 1));
        let places = pool_bytes(if finds { 4 * chunks } else { 0 });
        let own_ptr = if direct > 0 { pool_bytes(4 * (direct + 1)) } else { 0 };
        let counted = chunk_ptr + places + own_ptr + pool_bytes(4);
        // Rows that did not fit are found again, and written after the rows that did fit.
        let missing = if entries.found > room { entries.found } else { 0 };
        let first_rows = largest.array(4 * room);
        let extended = if missing > 0 { largest.array(4 * (room + missing)) } else { 0 };
        let rows = first_rows.max(extended);
        let record = pool_bytes(if finds { 4 * CutTasks::record_words(self.adaptive) as u64 } else { 0 });
        let tables = self.adaptive.tables(self.info, band, self.rows as usize).bytes();
        largest.0 = largest.0.max(tables);
        let tasks = if finds { largest.array(8 * self.most_tasks(band, entries.of_found)) } else { 0 };
        let scanned = scan(chunks + 1).max(if direct > 0 { scan(direct + 1) } else { 0 });
        let while_counted = scanned.max(tables).max(pool_bytes(0)); // instead of keys
        let again = if missing > 0 { record + extended + pool_bytes(4) } else { 0 };

        let c = largest.array(4 * entries.all) + largest.array(self.element_bytes * entries.all);
        let sums = held + counted + rows + record + tasks + c;
        let col_ptr = if band.windows > 1 { pool_bytes(4 * (columns + 1)) } else { 0 };
        let consumed = self.consumer.peak(entries.all, columns);
        let stages = [
            profiled,
            of_columns + list + esc, // before there are keys
            of_columns + held + counted + first_rows + while_counted.max(record).max(again),
            of_columns
                + held
                + counted
                + rows
                + record
                + tasks.max(if missing > 0 { record.max(while_counted) } else { 0 }),
            sums,
            c + chunk_ptr + col_ptr + consumed,
        ];
        Need { bytes: stages.into_iter().max().unwrap_or(0), largest: largest.0 }
    }

    /// Bytes that ESC needs while it computes its columns, and bytes of these columns of C.
    fn esc_bytes(&self, of: &ClassSums, entries: u64, largest: &mut Largest) -> (u64, u64) {
        let columns = u64::from(of.columns);
        if columns == 0 {
            return (0, 0);
        }
        let ptr = pool_bytes(4 * (columns + 1));
        let of_b = u64::from(of.b_entries);
        let b = ptr + largest.array(4 * of_b) + largest.array(self.element_bytes * of_b);
        let taken = ptr + self.esc.scan.scratch_bytes(4, columns + 1);
        let limits = Limits::within(self.info, u64::MAX, self.esc, self.by_esc);
        let need = limits.need(columns, &rest_sizes(of, self.esc), entries);
        let (setup, kept) = setup_bytes(self.esc, columns, of_b);
        largest.0 = largest.0.max(need.largest).max(8 * (of_b + 1));
        let parts = ptr + largest.array(4 * entries) + largest.array(self.element_bytes * entries);
        (taken.max(b + setup.max(kept + need.bytes)), parts)
    }

    /// The number of direct columns of a band if they are a bin, or else 0. A bin of direct columns
    /// has its own array of offsets.
    fn direct_columns(&self, band: &ClassSizes) -> u64 {
        let columns = band.of(Class::Direct).columns;
        let is_bin = || self.shares(band).iter().any(|share| share.method == Method::Direct);
        if columns > 0 && is_bin() { columns.into() } else { 0 }
    }

    /// Bytes of the sorted keys of a band's bins that are sorted.
    fn keys_bytes(&self, band: &ClassSizes, largest: &mut Largest) -> u64 {
        let sorted = self.shares(band).into_iter().filter(|share| share.method == Method::Sort);
        sorted.map(|share| self.keys_of(share.last, share.columns, largest)).sum()
    }

    /// Bytes of the sorted keys of `columns` columns that the kernels of a class sort.
    fn keys_of(&self, class: Class, columns: u64, largest: &mut Largest) -> u64 {
        largest.array(sort::key_bytes(class.sorted(), columns))
    }

    fn shares(&self, band: &ClassSizes) -> Vec<Share> {
        choose::share_out(&band.statistics(), &self.adaptive.prices, false).unwrap_or_default()
    }

    /// Upper bound of the tasks of columns with `entries` entries: one for each window of each
    /// column, and one for each full piece.
    fn most_tasks(&self, band: &ClassSizes, entries: u64) -> u64 {
        let columns = |classes: &[Class]| band.sum(classes, |sums| sums.columns.into());
        let wide = columns(&Class::IN_WINDOWS);
        let windows = columns(&Class::FOUND) - wide + wide * band.windows as u64;
        let least = (self.adaptive.piece / 2).min(self.adaptive.equal_piece);
        windows.min(entries) + entries / least as u64
    }

    /// Memory of a product whose columns are all sorted. Only the kernels of sorted columns run. C
    /// has `columns` columns with at most `entries` entries. If `keeping` is a class, the sorted
    /// keys of that class are kept.
    pub fn need_sorted(&self, columns: u64, entries: u64, keeping: Option<Class>) -> Need {
        let mut largest = Largest(0);
        let keys = keeping.map_or(0, |class| self.keys_of(class, columns, &mut largest));
        let col_ptr = largest.array(4 * (columns + 3));
        let c = largest.array(4 * entries) + largest.array(self.element_bytes * entries);
        let consumed = self.consumer.peak(entries, columns);
        let nothing = pool_bytes(0);
        let counted = (nothing + self.esc.scan.scratch_bytes(4, columns + 1)).max(6 * nothing);
        Need { bytes: col_ptr + (keys + counted.max(5 * nothing + c)).max(c + consumed), largest: largest.0 }
    }

    /// Whether the sorted keys are kept in a product whose columns are all sorted. Keys are kept if
    /// they are a small part of the device's memory, and if there is room for them however many
    /// entries its `products` products make.
    pub fn keeps_sorted(&self, class: Class, columns: u64, products: u64, free_bytes: u64) -> bool {
        self.are_few(self.keys_of(class, columns, &mut Largest(0)))
            && self.is_within(&self.need_sorted(columns, products, Some(class)), free_bytes)
    }

    /// Whether the entries of a product whose columns are all sorted can be counted within
    /// `free_bytes` bytes. The columns have at most `products` products in all.
    pub fn counts_sorted(&self, columns: u64, products: u64, free_bytes: u64) -> bool {
        products < Limits::MAX_PRODUCTS && self.fits_sorted(columns, 0, free_bytes)
    }

    /// Whether a product whose columns are all sorted fits `free_bytes` bytes.
    pub fn fits_sorted(&self, columns: u64, entries: u64, free_bytes: u64) -> bool {
        self.consumer.admits(columns) && self.is_within(&self.need_sorted(columns, entries, None), free_bytes)
    }
}

/// Upper bounds of the sizes of ESC's columns.
fn rest_sizes(of: &ClassSums, esc: &Tuning) -> Sizes {
    let (columns, products) = (u64::from(of.columns), of.products);
    let chunks = products.div_ceil(esc.sort.chunk as u64) + columns;
    let (longest, longest_short) = (of.longest.into(), esc.sort.short_max as u64);
    Sizes { products, longest, chunks, shorts: columns, longest_short, shortest_long: 0, in_chunks: products }
}
