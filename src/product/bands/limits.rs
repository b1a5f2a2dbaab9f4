//! Limits: the device memory that a band needs, array by array. Bands are planned so that they fit
//! the limits. The functions of this file are pure. Each sum counts the arrays that a stage
//! allocates, rounded up as the pool rounds them. So a product is computed even if the free memory
//! is only slightly above its need.
use crate::{
    DeviceInfo,
    device::{Work, pool_bytes},
    element::{Cut, ElementType, Piece, Stretch},
    primitives::segmented_reduce::RUN_PIECE,
    product::{
        terms::{BandConsumer, PayloadKind, Sizes},
        tuning::{EscVariant, Tuning},
    },
};

/// The limits of a band.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<'a> {
    pub tuning: &'a Tuning,
    /// Bytes that may still be allocated.
    pub free_bytes: u64,
    /// Bytes of the largest buffer that the device allows.
    pub max_alloc_bytes: u64,
    pub entries: EntryMemory,
}

/// Bytes of each product and of each entry of C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryMemory {
    /// Bytes of a product's payload, without its row: a value, or a pair of operands.
    pub payload_bytes: u64,
    /// Bytes from one entry of C to the next.
    pub entry_bytes: u64,
    /// Bytes of the sum of one part. A run of more than 1024 products is cut into parts.
    pub part_bytes: u64,
    /// Rows of C. No column of C has more entries than C has rows.
    pub rows: u64,
    pub consumer: BandConsumer,
}

/// Most bytes allocated at once, and the largest buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    pub bytes: u64,
    pub largest: u64,
}

impl EntryMemory {
    /// Bytes for elements of type `element`. C has `rows` rows. An entry of C has `area` elements,
    /// and entries are `entry_bytes` bytes apart.
    pub fn new(element: ElementType, tuning: &Tuning, rows: usize, entry_bytes: usize, area: usize) -> Self {
        Self {
            payload_bytes: tuning.payload.word(element).bytes() as u64,
            entry_bytes: entry_bytes as u64,
            part_bytes: (area * element.arithmetic().bytes()) as u64,
            rows: rows as u64,
            consumer: BandConsumer::ANY,
        }
    }
}

impl<'a> Limits<'a> {
    /// A band has fewer products than `MAX_PRODUCTS`. Offsets inside a band have 32 bits. One bit
    /// is left unused so that sums of two offsets cannot wrap.
    pub const MAX_PRODUCTS: u64 = 1 << 31;

    /// The limits for `work` with the memory that is free now.
    pub fn now(work: &Work, tuning: &'a Tuning, entries: EntryMemory) -> Self {
        Self::within(work.device().info(), work.free_bytes(), tuning, entries)
    }

    /// The limits if a device has `free_bytes` free bytes.
    pub fn within(info: &DeviceInfo, free_bytes: u64, tuning: &'a Tuning, entries: EntryMemory) -> Self {
        Self { tuning, free_bytes, max_alloc_bytes: info.max_alloc_bytes, entries }
    }

    /// Most entries of C in a column of `products` products.
    pub fn most_entries(&self, products: u64) -> u64 {
        products.min(self.entries.rows)
    }

    /// Memory that a band needs if it has `nnz` entries of C. The host knows `nnz` only after its
    /// second read. The need is least if `nnz` is 0, and greatest if every column has
    /// [`Limits::most_entries`].
    pub fn need(&self, columns: u64, sizes: &Sizes, nnz: u64) -> Need {
        let (tuning, of, products) = (self.tuning, &self.entries, sizes.products);
        let mut largest = Largest(0);
        let ptr = largest.array(4 * (columns + 1));
        let index = largest.array(4 * nnz);
        let values = largest.array(of.entry_bytes * nnz);
        let consumed = ptr + index + values + of.consumer.peak(nnz, columns);

        let segments = segment_bytes(columns);
        if products == 0 {
            return Need { bytes: segments + consumed, largest: largest.0 };
        }
        let payload = largest.array(of.payload_bytes * products);
        let expansion = largest.array(4 * products) + payload;
        // Merging alternates between two arrays of the expansion's size. A GPU merges only if there
        // are chunks of long segments.
        let merges = tuning.esc == EscVariant::Global || sizes.chunks > 0;
        let between = if merges { expansion } else { 2 * pool_bytes(0) };
        // NVIDIA GPUs allocate `cuts` even if the chunks are then not cut.
        let has_cuts = tuning.chunks.is_some() && sizes.chunks > 0;
        let cuts = if has_cuts { pool_bytes(size_of::<Cut>() as u64 * sizes.chunks) } else { 0 };
        let tiles = products.div_ceil(tuning.tiles.products as u64);
        let expanded = segments + pool_bytes(4 * (tiles + 1)) + expansion;
        let flags = largest.array(4 * tiles * (tuning.tiles.products / tuning.tiles.word_bits()) as u64);
        let tails = flags + pool_bytes(4 * (tiles + 6));
        let scan = tuning.scan.scratch_bytes(4, tiles + 1);
        let [pieces, parts] = if nnz > 0 { [self.pieces(sizes), parts(sizes)] } else { [0; 2] };
        let runs = ptr + 2 * index + largest.array(size_of::<Piece>() as u64 * pieces);
        let parts = match tuning.payload {
            PayloadKind::Values => 0,
            PayloadKind::Pairs => {
                let stretches = size_of::<Stretch>() as u64 * tuning.blocks.stretches(products, nnz);
                largest.array(of.part_bytes * parts) + pool_bytes(stretches)
            }
        };
        let stages = [
            self.setup_bytes(columns, sizes.chunks > 0),
            expanded + between + cuts,
            expanded + tails + scan.max(runs),
            payload + runs + values + parts,
            consumed,
        ];
        Need { bytes: stages.into_iter().max().unwrap_or(0), largest: largest.0 }
    }

    /// Memory of a product whose columns are all sorted in registers: the arrays of
    /// [`SortedRuns`](crate::product::sort::SortedRuns) and of the sums.
    pub fn need_sorted(&self, columns: u64, products: u64, nnz: u64) -> Need {
        let (tuning, of) = (self.tuning, &self.entries);
        let mut largest = Largest(0);
        let before = largest.array(8 * (columns + 1));
        let (ptr, index) = (largest.array(4 * (columns + 1)), largest.array(4 * nnz));
        let (payload, values) = (largest.array(of.payload_bytes * products), largest.array(of.entry_bytes * nnz));
        let runs = ptr + 2 * index + payload + pool_bytes(0);
        let stretches = pool_bytes(size_of::<Stretch>() as u64 * tuning.blocks.stretches(products, nnz));
        let stages = [
            before + tuning.scan.scratch_bytes(8, columns + 1),
            before + runs,
            runs + values + stretches + pool_bytes(0),
            ptr + index + values + of.consumer.peak(nnz, columns),
        ];
        Need { bytes: stages.into_iter().max().unwrap_or(0), largest: largest.0 }
    }

    /// Whether a product whose columns are all sorted in registers fits these limits.
    pub fn fits_sorted(&self, columns: u64, products: u64, nnz: u64) -> bool {
        self.fits(columns, &Sizes { products, ..Sizes::default() }, self.need_sorted(columns, products, nnz))
    }

    /// Bytes that are allocated while setup computes the segments.
    fn setup_bytes(&self, columns: u64, chunked: bool) -> u64 {
        let scan = if chunked { self.tuning.scan.scratch_bytes(4, columns + 1) } else { 0 };
        segment_bytes(columns) + scan.max(record_bytes(self.tuning, columns))
    }

    /// Upper bound of the number of pieces into which runs longer than [`Tuning::long_run`] are
    /// cut.
    fn pieces(&self, sizes: &Sizes) -> u64 {
        let long_run = self.tuning.long_run() as u64;
        match sizes.longest > long_run {
            true => sizes.products / (long_run + 1) + sizes.products / RUN_PIECE as u64,
            false => 0,
        }
    }

    /// Whether `columns` columns of these sizes fit one band.
    pub fn fits(&self, columns: u64, sizes: &Sizes, need: Need) -> bool {
        let is_within = need.bytes <= self.free_bytes && need.largest <= self.max_alloc_bytes;
        is_within && sizes.products < Self::MAX_PRODUCTS && self.entries.consumer.admits(columns)
    }
}

/// The size in bytes of the largest array that was added.
pub(in crate::product) struct Largest(pub u64);

impl Largest {
    /// Adds an array of `bytes` bytes. Returns the bytes of its size class.
    pub fn array(&mut self, bytes: u64) -> u64 {
        self.0 = self.0.max(bytes);
        pool_bytes(bytes)
    }
}

/// Upper bound of the number of parts into which runs are cut. A run of more than 1024 products has
/// at most two parts for every 1024 products.
fn parts(sizes: &Sizes) -> u64 {
    if sizes.longest > RUN_PIECE as u64 { 2 * sizes.products / RUN_PIECE as u64 } else { 0 }
}

/// Bytes of the segment offsets and chunk counts of `columns` columns.
pub(crate) fn segment_bytes(columns: u64) -> u64 {
    2 * pool_bytes(4 * (columns + 1))
}

/// Bytes of the record of sizes that the host reads after setup.
fn record_bytes(tuning: &Tuning, columns: u64) -> u64 {
    pool_bytes(
        8 * Sizes::WORDS as u64
            * (columns + 1).div_ceil(tuning.scan.group_size as u64).min(tuning.record_groups as u64),
    )
}

/// Bytes that setup allocates for a B of `nnz` entries in `columns` columns: the most at once, and
/// the bytes that stay until the product is complete.
pub(crate) fn setup_bytes(tuning: &Tuning, columns: u64, nnz: u64) -> (u64, u64) {
    let kept = pool_bytes(8 * (nnz + 1));
    let scan = tuning.scan.scratch_bytes(8, nnz + 1);
    (kept + scan.max(segment_bytes(columns) + record_bytes(tuning, columns)), kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockShape, Result,
        device::test_device,
        product::{
            esc::{
                Engine,
                tests::{tunings, with_segments},
            },
            terms::Spec,
        },
    };

    /// The predicted peak of a whole product is exact to the byte, with the kernels of CPUs and of
    /// GPUs. Only the number of pieces of long runs is an upper bound.
    #[test]
    fn products_take_the_memory_that_is_estimated() -> Result<()> {
        let (device, scalar) = (test_device(), BlockShape::SCALAR);
        // The products have only short segments, chunks of long segments, more columns than
        // entries, no products at all, or runs that are cut.
        let many = [vec![3; 3000], vec![0; 2000]].concat();
        for (lengths, rows) in [
            (vec![7, 0, 9], 5),
            (vec![3000, 1, 20_000, 0, 60], 977),
            (many, 31),
            (vec![0; 9], 2),
            (vec![5000, 2000], 1),
        ] {
            let case = with_segments(&lengths, rows)?;
            for tuning in tunings(scalar, scalar) {
                let spec = Spec::new(ElementType::F64, scalar, scalar, rows);
                let esc = Engine::new(&device, &spec, tuning.clone(), tuning.esc.method(), device.info().costs())?;
                let (work, mut nnz) = (Work::new(&device, None), 0);
                let counts = esc.multiply(&work, &case.operands(), &mut |c| {
                    nnz = c.nnz() as u64;
                    Ok(())
                })?;
                let mut sizes = Sizes::default();
                lengths.iter().for_each(|&length| sizes.add(length as u64, &tuning.sort));
                let entries = EntryMemory::new(ElementType::F64, &tuning, rows, size_of::<f64>(), 1);
                let need =
                    Limits::within(device.info(), u64::MAX, &tuning, entries).need(lengths.len() as u64, &sizes, nnz);
                let (setup, kept) = setup_bytes(&tuning, lengths.len() as u64, case.b.nnz() as u64);
                let (foretold, peak) = (setup.max(kept + need.bytes), work.most_used_bytes());
                let what = format!("{:?}... of {rows} rows, {}: {peak}", &lengths[..2], tuning.sort.serial);
                match counts.longest_run > Some(RUN_PIECE as u32) || sizes.products == 0 {
                    true => assert!(peak <= foretold && foretold <= peak + (8 << 10), "{what}, {foretold}"),
                    false => assert_eq!(peak, foretold, "{what}"),
                }
            }
        }
        Ok(())
    }
}
