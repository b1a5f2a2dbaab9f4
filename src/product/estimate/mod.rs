//! Estimates of a product, made on the host: upper bounds of its memory and bands. Sizes are
//! counted from the patterns of the operands. The choices, limits and bands are those of the
//! product itself.
mod floors;
mod product;
#[cfg(test)]
mod tests;

pub(crate) use floors::FloorSizes;

use super::{
    bands::{Bands, EntryMemory, Limits, segment_bytes, setup_bytes},
    columns::adaptive::{self, AdaptiveMemory},
    cpu::{
        on_host::{HostChoice, HostColumn, HostMemory, HostSize},
        ranges::{self, RangeMemory},
    },
    dispatch::EngineChoice,
    sort::ShortRule,
    terms::{BandConsumer, Bound, CountedProduct, Known, Method, PayloadKind, Sizes, Spec},
    tuning::Tuning,
};
use crate::{
    BlockShape, DeviceInfo, Error, Pattern, Result,
    analysis::entries_of_columns,
    device::pool_bytes,
    element::ElementType,
    gustavson::Columns,
    matrix::AnyView,
    resident::{ColumnLengths, PatternArrays},
    tuning::MethodCosts,
};
use std::cell::Cell;

/// Upper bounds of the memory and the bands of a product on a device, before it is computed.
///
/// The bound of the memory is computed for the methods that the product will choose. If the product
/// has one band and at most 2^26 products, entries of C are counted, and the bound exceeds the
/// memory in use by at most half of it. In columns that ESC computes, and in larger products, each
/// product counts as an entry of C, up to the number of rows of C. If products count as entries,
/// the bound may exceed the memory in use by the bytes of these entries. If the product may be cut
/// into bands, the bound is the memory limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Number of products of entries (blocks): the expansion size.
    pub products: u64,
    /// Most bands of columns the product is cut into.
    pub bands: usize,
    /// Most bytes of device memory in use at once, including operands. A device's pool may keep
    /// more memory for later use if no limit forbids it.
    pub peak_device_bytes: u64,
    /// Bytes of the operands alone.
    pub operand_bytes: u64,
}

/// An operand, in column order.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub pattern: &'a Pattern,
    pub shape: BlockShape,
    pub stride: usize,
    pub value_bytes: usize,
}

impl<'a> Stored<'a> {
    pub fn of(matrix: AnyView<'a>) -> Self {
        let AnyView { pattern, shape, stride, values, .. } = matrix;
        Self { pattern, shape, stride, value_bytes: values.bytes().len() }
    }
}

/// The conditions of an estimate besides the operands.
pub(crate) struct Conditions<'a> {
    pub info: &'a DeviceInfo,
    /// Most bytes that may be used.
    pub limit: u64,
    pub element: ElementType,
    /// Bytes of an entry of C.
    pub entry_bytes: usize,
    pub consumer: BandConsumer,
    pub method: Method,
    pub costs: MethodCosts,
}

/// Estimates A·B in column order, if C leaves the device band by band. `b` is `None` if B is A.
pub(crate) fn estimate(conditions: &Conditions<'_>, a: Stored<'_>, b: Option<Stored<'_>>) -> Result<Estimate> {
    let &Conditions { info, limit, element, entry_bytes, consumer, method, costs } = conditions;
    let right = b.unwrap_or(a);
    for operand in [a, right] {
        PatternArrays::check_nnz(operand.pattern.nnz() as u64)?;
    }
    let strides = [a.stride, right.stride, entry_bytes / element.bytes()];
    let tuning = Tuning::new(info, a.shape, right.shape).with_strides(strides).with_method(info, method);
    let operand_bytes = bytes(a) + b.map_or(0, bytes);
    let needed = operand_bytes + pool_bytes(4 * (right.pattern.ncols() as u64 + 1));
    if needed > limit {
        let what = "the operands and the offsets of C".into();
        return Err(Error::Memory { what, needed, available: limit, place: "device".into() });
    }
    if let Some(on_host) = estimate_on_host(conditions, operand_bytes, (a, right), tuning.payload) {
        let needed = on_host.peak_device_bytes;
        return match needed > limit {
            true => {
                let what = "the operands and a column of the product".into();
                Err(Error::Memory { what, needed, available: limit, place: "device".into() })
            }
            false => Ok(on_host),
        };
    }
    let (nrows, free_bytes) = (a.pattern.nrows(), limit - operand_bytes);
    let spec = Spec::new(element, a.shape, right.shape, nrows);
    let counted = CountedProduct::new(a.pattern, right.pattern);
    let Bound { bands, peak_bytes } = match EngineChoice::new(info, &spec, &tuning, method, costs) {
        EngineChoice::Ranges(numbers) => {
            let memory = RangeMemory::new(info, &numbers, element, (nrows, strides[2]), consumer);
            ranges::bound(&memory, &counted, free_bytes)?
        }
        EngineChoice::Adaptive(_, numbers) => {
            let memory = AdaptiveMemory::new(info, &tuning, &numbers, element, nrows, consumer);
            adaptive::bound(&memory, &counted, free_bytes)?
        }
        EngineChoice::Esc => Bound { bands: None, peak_bytes: 0 },
    };
    let (products, peak_device_bytes) = (counted.all_products(), operand_bytes + peak_bytes);
    if let Some(bands) = bands {
        return Ok(Estimate { products, bands, peak_device_bytes, operand_bytes });
    }
    let by_esc = estimate_by_esc(conditions, &tuning, operand_bytes, (a, right), &counted)?;
    Ok(Estimate { peak_device_bytes: by_esc.peak_device_bytes.max(peak_device_bytes), ..by_esc })
}

/// Estimates a product on the host. Returns `None` if the host does not compute the product.
fn estimate_on_host(
    &Conditions { info, limit, element, entry_bytes, consumer, method, costs }: &Conditions<'_>,
    operand_bytes: u64,
    (a, b): (Stored<'_>, Stored<'_>),
    payload: PayloadKind,
) -> Option<Estimate> {
    let of = |of: &Pattern| [of.nrows(), of.ncols(), of.nnz()];
    let size = HostSize::of(
        element,
        of(a.pattern),
        of(b.pattern),
        std::ptr::eq(a.pattern, b.pattern),
        payload,
        (a.shape, b.shape),
    );
    let choice = match method {
        Method::Host => None,
        Method::Auto => Some(
            HostChoice::new(info, info.numbers(), costs, size)
                .filter(|choice| choice.is_worth_reading(&Known::of(a.pattern, b.pattern)))?,
        ),
        _ => return None,
    };
    let (of_a, of_b) = (Columns::from(a.pattern), Columns::from(b.pattern));
    let columns: Vec<_> = (0..of_b.ncols()).map(|col| HostColumn::of(of_a, of_b, col)).collect();
    if choice.is_some_and(|choice| !choice.is_worth_it(&columns, |cols| of_a.entries_of(of_b, cols))) {
        return None;
    }
    let products = columns.iter().map(|column| column.products).sum();
    let memory = HostMemory::new(info, entry_bytes, consumer);
    let entries = entries_of_columns(a.pattern, b.pattern, 0..of_b.ncols());
    let mut col_ptr = vec![0];
    col_ptr.extend(entries.iter().scan(0, |end, &entries| {
        *end += u64::from(entries);
        Some(*end)
    }));
    let (columns, mut begin, mut bands, mut peak) = (entries.len(), 0, 0, 0);
    while begin < columns || bands == 0 {
        let end = begin + memory.band(&col_ptr[begin..], limit.saturating_sub(operand_bytes));
        peak = memory.need((end - begin) as u64, col_ptr[end] - col_ptr[begin]).max(peak);
        (begin, bands) = (end, bands + 1);
    }
    Some(Estimate { products, bands, peak_device_bytes: operand_bytes + peak, operand_bytes })
}

/// Estimates a product by ESC.
fn estimate_by_esc(
    &Conditions { info, limit, element, entry_bytes, consumer, method, costs }: &Conditions<'_>,
    tuning: &Tuning,
    operand_bytes: u64,
    (a, b): (Stored<'_>, Stored<'_>),
    counted: &CountedProduct<'_>,
) -> Result<Estimate> {
    let (cols, nnz, products) = (b.pattern.ncols() as u64, b.pattern.nnz() as u64, counted.all_products());
    let (setup, kept) = setup_bytes(tuning, cols, nnz);
    let area = a.shape.product(b.shape).area();
    let entry_memory =
        EntryMemory { consumer, ..EntryMemory::new(element, tuning, a.pattern.nrows(), entry_bytes, area) };
    let limits = |used: u64| Limits::within(info, limit.saturating_sub(used), tuning, entry_memory);
    let spec = Spec::new(element, a.shape, b.shape, a.pattern.nrows());
    let sorted = ShortRule::new(info, &spec, tuning, method, costs).and_then(|rule| {
        let longest = [a, b].map(|of| ColumnLengths::of(of.pattern).longest);
        rule.short_columns(longest, &Known::of(a.pattern, b.pattern), &limits(operand_bytes))
    });
    let entries = counted.all_entries();
    if sorted.is_some() && limits(operand_bytes).fits_sorted(cols, products, entries) {
        let peak_device_bytes = operand_bytes + limits(0).need_sorted(cols, products, entries).bytes;
        return Ok(Estimate { products, bands: 1, peak_device_bytes, operand_bytes });
    }
    if operand_bytes + setup > limit {
        let what = "the operands and what setup counts of them".into();
        return Err(Error::Memory { what, needed: operand_bytes + setup, available: limit, place: "device".into() });
    }
    let mut sizes = Sizes::default();
    counted.products.iter().for_each(|&products| sizes.add(products, &tuning.sort));
    // The segments of all columns are released if one band is not enough.
    let (kept, held) = (operand_bytes + kept, Cell::new(segment_bytes(cols)));
    let mut narrow = || {
        held.set(0);
        Ok(counted.products.iter().map(|&products| products.try_into().unwrap_or(u32::MAX)).collect())
    };
    // Before ESC, the product has tried to sort all columns. The sort may have used memory up to
    // the limit, if C has fewer entries than the bound.
    let before = if sorted.is_some() { limit } else { operand_bytes + setup };
    let (mut cut, mut bands, mut peak_device_bytes) = (Bands::new(b.pattern.ncols(), sizes), 0, before);
    while let Some(band) = cut.next(&|| limits(kept + held.get()), &mut narrow)? {
        let columns = &counted.products[band.columns.start as usize..band.columns.end as usize];
        let most = columns.iter().map(|&products| limits(0).most_entries(products)).sum();
        let need = limits(0).need(band.columns.len() as u64, &band.sizes, most);
        // A single column may be tried even if it fits only with few entries of C.
        peak_device_bytes = peak_device_bytes.max((kept + need.bytes).min(limit));
        bands += 1;
    }
    Ok(Estimate { products, bands, peak_device_bytes, operand_bytes })
}

/// Bytes of a matrix on a device, rounded up to the pool's size classes.
fn bytes(Stored { pattern, value_bytes, .. }: Stored<'_>) -> u64 {
    let lens = [4 * pattern.col_ptr().len(), 4 * pattern.nnz(), value_bytes];
    lens.into_iter().map(|len| pool_bytes(len as u64)).sum()
}
