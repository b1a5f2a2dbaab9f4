//! Radix sort: the stable order of elements by 32-bit keys, digit by digit from the lowest.
//! Kernels: `cl/primitives/radix_sort.cl`, for CPUs `cl/primitives/radix_sort_serial.cl`.
//!
//! There are as few passes as the bits of the largest key allow, with about equally many bits each.
//! A pass counts the digits of each tile of elements, scans the counts digit by digit, and writes
//! the elements of each tile in order: four launches. A single tile needs one launch. The first
//! pass reads the keys in place, and numbers the elements itself.
mod numbers;

pub(crate) use numbers::RadixNumbers;
use numbers::SHARES;

use crate::{
    DeviceInfo, Error, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Teams, Work, kernel, source},
    primitives::{
        key_starts::KeyStarts,
        scan::{Scan, ScanTuning},
    },
};

/// Parameters with which the sort is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RadixTuning {
    /// Work-items of a group: a multiple of 32, or 1.
    pub group_size: usize,
    /// Least number of elements of a work-item.
    pub items: usize,
    /// Most bits of a digit.
    pub digit_bits: usize,
    /// Most tiles, if one work-item sorts a tile.
    pub most_tiles: usize,
}

impl RadixTuning {
    pub fn new(info: &DeviceInfo) -> Self {
        let RadixNumbers { radix_group, radix_items: items, radix_bits: digit_bits } = info.numbers();
        match radix_group {
            group_size @ Teams::SIZE.. => Self::parallel(group_size, items, digit_bits).within(info.local_bytes),
            _ => Self::serial(items, digit_bits, SHARES * info.compute_units as usize),
        }
    }

    pub fn parallel(group_size: usize, items: usize, digit_bits: usize) -> Self {
        Self { group_size, items, digit_bits, most_tiles: usize::MAX }
    }

    pub fn serial(items: usize, digit_bits: usize, most_tiles: usize) -> Self {
        Self { group_size: 1, items, digit_bits, most_tiles }
    }

    /// Reduces the bits, and then the tiles, until the arrays of a group fit local memory.
    fn within(mut self, local_bytes: u64) -> Self {
        while self.local_bytes() as u64 > local_bytes {
            match self {
                Self { digit_bits: 5.., .. } => self.digit_bits -= 1,
                Self { items: 3.., .. } => self.items = (self.items / 2).max(2),
                _ => break,
            }
        }
        self
    }

    /// Bytes of local memory of a group.
    fn local_bytes(&self) -> usize {
        let (teams, digits) = (self.group_size / Teams::SIZE, 1 << self.digit_bits);
        let masks = 4 * teams * (1usize << self.digit_bits.div_ceil(2));
        4 * (masks + digits + self.group_size * (1 + self.items) + 2) + 2 * teams * digits
    }

    /// Number of elements of a tile, if there are `n` elements in all.
    fn tile(&self, n: usize) -> usize {
        (self.group_size * self.items).max(n.div_ceil(self.most_tiles))
    }

    /// For each digit of keys below `keys`: its shift, and the number of its values.
    fn digits(&self, keys: usize) -> impl Iterator<Item = [u32; 2]> + use<> {
        let bits = keys.max(1).next_power_of_two().ilog2() as usize;
        let passes = bits.div_ceil(self.digit_bits).max(1);
        // If the bits cannot be divided equally, the first passes have one bit more than the last
        // passes.
        let first = move |pass: usize| (pass * bits).div_ceil(passes) as u32;
        (0..passes).map(move |pass| [first(pass), 1 << (first(pass + 1) - first(pass))])
    }
}

/// The largest number of elements that can be sorted at once. Kernels add two positions in 32 bits
/// without overflow.
const MAX_ELEMENTS: usize = i32::MAX as usize;

/// Refuses more than [`MAX_ELEMENTS`] elements.
fn refuse_more(n: usize) -> Result<()> {
    let what = "number of entries to sort at once";
    match n > MAX_ELEMENTS {
        true => Err(Error::TooLarge { what, value: n as u64, limit: MAX_ELEMENTS as u64 }),
        false => Ok(()),
    }
}

kernel! {
    in "ptx.cl", "primitives/radix_sort.cl":
    struct CountDigits = "count_digits" { key: In<u32>, counts: Out<u32>, n: u32, tile: u32, shift: u32, digits: u32 }
    struct DealDigits = "deal_digits" {
        key_in: In<u32>,
        order_in: In<u32>,
        column_in: In<u32>,
        col_ptr: In<u32>,
        starts: In<u32>,
        key_out: Out<u32>,
        order_out: Out<u32>,
        column_out: Out<u32>,
        n: u32,
        tile: u32,
        ncols: u32,
        shift: u32,
        digits: u32,
        fresh: u32,
    }
}

/// The elements to sort.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a> {
    pub key: &'a Buffer<u32>,
    /// All keys are less than `keys`. `u32::MAX` counts as the largest key.
    pub keys: usize,
    /// The word that each element carries. If `None`, an element carries its index.
    pub order: Option<&'a Buffer<u32>>,
}

/// Sorted elements.
pub(crate) struct Sorted {
    pub key: Buffer<u32>,
    pub order: Buffer<u32>,
    /// The column of each element, if the sort was made [with columns](RadixSort::with_columns).
    pub column: Buffer<u32>,
}

/// The kernels of the sort.
pub(crate) struct RadixSort {
    count: Kernel<CountDigits<'static>>,
    deal: Kernel<DealDigits<'static>>,
    starts: KeyStarts,
    scan: Scan<u32>,
    tuning: RadixTuning,
    columns: bool,
}

impl RadixSort {
    /// Prepares a sort of keys that returns the order of their elements.
    pub fn new(device: &Device, tuning: RadixTuning) -> Result<Self> {
        Self::carrying(device, tuning, false)
    }

    /// Prepares a sort of the entries of compressed columns that also finds the column of each
    /// entry.
    pub fn with_columns(device: &Device, tuning: RadixTuning) -> Result<Self> {
        Self::carrying(device, tuning, true)
    }

    fn carrying(device: &Device, tuning: RadixTuning, columns: bool) -> Result<Self> {
        // The kernels of both files have equal names and arguments.
        let (source, options) = match tuning.group_size {
            1 => (source!("primitives/radix_sort_serial.cl"), Options::group_size(1)),
            group_size => (
                source!("ptx.cl", "primitives/radix_sort.cl"),
                Teams::options_of(device.info(), Options::group_size(group_size)).define("ITEMS", tuning.items),
            ),
        };
        let options = options.define("DIGIT_BITS", tuning.digit_bits).define("COLUMNS", u8::from(columns));
        Ok(Self {
            count: Kernel::rare_from(source, device, &options)?,
            deal: Kernel::new_from(source, device, &options)?,
            starts: KeyStarts::new(device)?,
            scan: Scan::finishing(device, ScanTuning::new(device.info()))?,
            tuning,
            columns,
        })
    }

    /// Starts to compile the kernels for a sort of `n` elements, if they are more than a tile. The
    /// sort itself starts this if needed. `ask` is for kernels that are compiled together long
    /// before the sort.
    pub fn ask(&self, device: &Device, n: usize) {
        if n > self.tuning.tile(n) {
            self.count.ask(device);
            self.scan.ask(device);
        }
    }

    /// Sorts elements.
    ///
    /// # Errors
    /// [`Error::TooLarge`] from 2^31 elements on.
    pub fn run(&self, work: &Work, elements: Elements<'_>) -> Result<Sorted> {
        self.sort(work, elements, None)
    }

    /// Sorts the entries of compressed columns with offsets `col_ptr`.
    ///
    /// # Errors
    /// See [`RadixSort::run`].
    pub fn run_columns(
        &self,
        work: &Work,
        row_idx: &Buffer<u32>,
        nrows: usize,
        col_ptr: &Buffer<u32>,
    ) -> Result<Sorted> {
        self.sort(work, Elements { key: row_idx, keys: nrows, order: None }, Some(col_ptr))
    }

    fn sort(&self, work: &Work, elements: Elements<'_>, col_ptr: Option<&Buffer<u32>>) -> Result<Sorted> {
        let n = elements.key.len();
        refuse_more(n)?;
        self.ask(work.device(), n);
        let tile = self.tuning.tile(n);
        let tiles = n.div_ceil(tile);
        let grid = Grid::groups(tiles, self.tuning.group_size);
        let fresh = || -> Result<Sorted> {
            let column = work.buffer(if self.columns { n } else { 1 })?;
            Ok(Sorted { key: work.buffer(n)?, order: work.buffer(n)?, column })
        };
        let (mut from, mut spare) = (None, None);
        for [shift, digits] in self.tuning.digits(elements.keys) {
            let mut to: Sorted = spare.take().map_or_else(fresh, Ok)?;
            let (key_in, order_in, column_in) = match &from {
                Some(Sorted { key, order, column }) => (key, Some(order), column),
                None => (elements.key, elements.order, elements.key),
            };
            let (n, tile) = (n as u32, tile as u32);
            let several = tiles > 1;
            let mut starts = work.buffer(if several { digits as usize * tiles } else { 1 })?;
            if several {
                let args = CountDigits { key: key_in, counts: &mut starts, n, tile, shift, digits };
                self.count.launch(work, grid, args)?;
                self.scan.run(work, &mut starts)?;
            }
            let args = DealDigits {
                key_in,
                // If the kernel does not read `order_in`, any buffer may be passed.
                order_in: order_in.unwrap_or(key_in),
                column_in,
                col_ptr: col_ptr.unwrap_or(key_in),
                starts: &starts,
                key_out: &mut to.key,
                order_out: &mut to.order,
                column_out: &mut to.column,
                n,
                tile,
                ncols: col_ptr.map_or(0, |col_ptr| col_ptr.len() as u32 - 1),
                shift,
                digits,
                fresh: u32::from(order_in.is_none()),
            };
            self.deal.launch(work, grid, args)?;
            spare = from.replace(to);
        }
        from.map_or_else(fresh, Ok)
    }

    /// Finds where each of `keys` keys begins in sorted keys, as [`KeyStarts::run`] does.
    pub fn starts(&self, work: &Work, key: &Buffer<u32>, keys: usize) -> Result<Buffer<u32>> {
        self.starts.run(work, key, keys)
    }
}

#[cfg(test)]
mod tests;
