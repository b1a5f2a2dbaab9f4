//! The parts of a product, which threads compute one after another, and the results of a pass.
use super::{Columns, Fits, OF_THREAD, PART, PARTS, WEIGHED_ALONE};
use crate::{
    Result,
    element::{AnyValues, ElementType},
};
use rayon::prelude::*;
use std::{borrow::Borrow, cmp::Reverse, ops::Range, vec};

/// A part counts as long if it has more products than `SEVERAL` average parts.
const SEVERAL: u64 = 2;

/// The rows of every column of C = A·B, ascending, and perhaps their sums.
pub(crate) struct Found {
    pub(super) parts: Vec<Part>,
    /// The entries that each thread has computed.
    pub(super) stores: Vec<Store>,
}

/// The entries of the parts that a thread has computed, one part after another. The arrays are
/// large, so that the system can place them in large pages.
pub(super) struct Store {
    pub rows: Vec<u32>,
    /// The sum of each entry in the type in which sums are computed, or `None` if only rows were
    /// found.
    pub sums: Option<AnyValues>,
}

/// Neighbouring columns of C, which one thread computes.
pub(super) struct Part {
    pub cols: Range<usize>,
    /// The number of products, if one column has the products of several parts; otherwise 0.
    long: u64,
    /// Maximum number of entries that these columns can have.
    pub most: u64,
    /// Number of entries of each column.
    pub counts: Vec<u32>,
    /// The number of the store that holds the entries, and their places there.
    pub store: usize,
    pub places: Range<usize>,
}

impl Found {
    /// Number of entries of C.
    pub fn nnz(&self) -> usize {
        self.parts.iter().map(|part| part.places.len()).sum()
    }

    /// The start of each column of C, and the end of the last.
    pub fn col_ptr(&self) -> Vec<u64> {
        let columns: usize = self.parts.iter().map(|part| part.counts.len()).sum();
        let mut col_ptr = Vec::with_capacity(columns + 1);
        let mut end = 0;
        col_ptr.push(end);
        for part in &self.parts {
            col_ptr.extend(part.counts.iter().map(|&count| {
                end += u64::from(count);
                end
            }));
        }
        col_ptr
    }
}

impl Found {
    /// Converts rows and sums, if one store has all of them, to C's arrays. Elements are to be
    /// `stride` apart.
    pub(super) fn into_arrays(
        mut self,
        element: ElementType,
        stride: usize,
    ) -> std::result::Result<(Vec<u32>, AnyValues), Self> {
        let whole = self.stores.len() == 1 && stride == 1;
        match (self.stores.pop(), element) {
            (Some(Store { rows, sums: Some(sums) }), _) if whole && sums.element() == element => Ok((rows, sums)),
            // The bits of the sums are the bits of the elements.
            (Some(Store { rows, sums: Some(AnyValues::U32(sums)) }), ElementType::I32) if whole => {
                Ok((rows, AnyValues::I32(bytemuck::cast_vec(sums))))
            }
            (Some(Store { rows, sums: Some(AnyValues::U32(sums)) }), ElementType::F32) if whole => {
                Ok((rows, AnyValues::F32(bytemuck::cast_vec(sums))))
            }
            (store, _) => {
                self.stores.extend(store);
                Err(self)
            }
        }
    }
}

/// Parts, each with its own data, in the order in which threads take them. Long parts come first,
/// so that no thread begins a long part when the other threads have nothing left to do.
pub(super) fn in_turn<W, P: Borrow<Part>>(parts: impl Iterator<Item = (W, P)>) -> vec::IntoIter<(W, P)> {
    let mut parts: Vec<_> = parts.map(Some).collect();
    let long = |part: &Option<(W, P)>| part.as_ref().map_or(0, |(_, part)| part.borrow().long);
    let turns = turns(parts.iter().map(long).collect());
    turns.into_iter().filter_map(|number| parts[number].take()).collect::<Vec<_>>().into_iter()
}

/// The indices of parts, the longest first.
fn turns(long: Vec<u64>) -> Vec<usize> {
    let mut turns: Vec<usize> = (0..long.len()).collect();
    turns.sort_by_key(|&number| Reverse(long[number]));
    turns
}

/// Columns that are divided into parts.
pub(super) struct Shares {
    pub parts: Vec<Part>,
    /// Whether the memory has room for twice as many entries as there are products.
    pub roomy: bool,
}

/// The number of products of some columns, and the least number of their entries. A column has at
/// least as many entries as the longest column of A that contributes to it.
#[derive(Clone, Copy, Default)]
struct Load {
    products: u64,
    least: u64,
}

impl Load {
    fn plus(self, other: Self) -> Self {
        Self { products: self.products + other.products, least: self.least + other.least }
    }

    fn of(a: Columns<'_>, b: Columns<'_>, cols: Range<usize>) -> Self {
        cols.fold(Self::default(), |load, col| {
            let (mut products, mut least) = (0, 0);
            for &k in b.column(col) {
                let length = a.entries(k as usize).len() as u64;
                (products, least) = (products + length, length.max(least));
            }
            load.plus(Self { products, least })
        })
    }
}

/// Divides columns into parts with about the same number of products, each of `work`
/// multiplications. Fails if not even the least number of C's entries fits.
pub(super) fn parts(a: Columns<'_>, b: Columns<'_>, work: u64, fits: Fits<'_>) -> Result<Shares> {
    let (ncols, threads) = (b.ncols(), rayon::current_num_threads());
    let part = |cols: Range<usize>, products: u64, long: u64| {
        let counts = Vec::with_capacity(cols.len());
        let most = products.min((a.nrows as u64).saturating_mul(cols.len() as u64));
        Part { cols, long, most, counts, store: 0, places: 0..0 }
    };
    if threads == 1 && a.ncols() <= b.row_idx.len() + ncols {
        // If `most` is small enough, products need not be counted.
        let longest = (0..a.ncols()).map(|k| a.entries(k).len() as u64).max().unwrap_or(0);
        let most = longest.saturating_mul(b.row_idx.len() as u64);
        if fits(most.saturating_mul(2)).is_ok() {
            return Ok(Shares { parts: vec![part(0..ncols, most, 0)], roomy: true });
        }
    }
    // Columns are weighed in groups. A part has at most 64 groups.
    let group = (ncols / (64 * PARTS * threads)).max(1);
    let weigh = |i: usize| Load::of(a, b, i * group..ncols.min((i + 1) * group));
    // Weighing an entry of B takes an eighth of a product's time.
    let alone = threads == 1 || ((b.row_idx.len() + ncols) as u64 / 8).saturating_mul(work) < WEIGHED_ALONE;
    let groups: Vec<Load> = match alone {
        true => (0..ncols.div_ceil(group)).map(weigh).collect(),
        false => (0..ncols.div_ceil(group)).into_par_iter().map(weigh).collect(),
    };
    let all = groups.iter().fold(Load::default(), |all, &load| all.plus(load));
    fits(all.least)?;
    // A column takes some time even if it has no products.
    let load = all.products + ncols as u64;
    let threads = (load.saturating_mul(work) / OF_THREAD).clamp(1, threads as u64);
    let share = if threads == 1 { load } else { load.div_ceil(PARTS as u64 * threads).min(PART) }.max(1);
    let (mut parts, mut start, mut products) = (Vec::new(), 0, 0);
    for (i, of_group) in groups.iter().enumerate() {
        let end = ncols.min((i + 1) * group);
        products += of_group.products;
        if products + (end - start) as u64 >= share || end == ncols {
            let long = if products > SEVERAL * share { products } else { 0 };
            parts.push(part(start..end, products, long));
            (start, products) = (end, 0);
        }
    }
    Ok(Shares { parts, roomy: fits(all.products.saturating_mul(2)).is_ok() })
}
