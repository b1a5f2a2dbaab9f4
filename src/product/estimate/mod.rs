//! Estimates of a product, made on the host. They use the tuning, limits and bands of the product
//! itself. Sizes are counted from the patterns of the operands.
mod floors;
mod product;
#[cfg(test)]
mod tests;

pub(crate) use floors::FloorSizes;

use super::{
    bands::{Bands, EntryMemory, Limits, segment_bytes, setup_bytes},
    choose::predict_esc,
    columns::adaptive::{AdaptiveMemory, counted_entries, foretell},
    cpu::{
        on_host::{HostChoice, HostColumn, HostMemory, HostSize, HostSums},
        ranges::{self, RangeMemory, RangeTuning},
    },
    sort::ShortRule,
    terms::{Bin, Counts, Known, Method, PayloadKind, Sizes, Spec},
    tuning::{AdaptiveTuning, Tuning, teams_for},
};
use crate::{
    BlockShape, DeviceInfo, Error, Pattern, Result,
    analysis::entries_of_columns,
    device::pool_bytes,
    element::ElementType,
    gustavson::Columns,
    matrix::AnyView,
    primitives::drop_entries::DropMemory,
    resident::{ColumnLengths, PatternArrays},
    tuning::MethodCosts,
};
use std::cell::Cell;

/// Memory, bands and bins of a product on a device, estimated before it is computed.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Number of products of entries (blocks): the expansion size.
    pub products: u64,
    /// Bands of columns the product is cut into.
    pub bands: usize,
    /// Most bytes of device memory in use at once, including operands. This is an upper bound. The
    /// entries of C are counted if other methods than ESC compute it and it has at most 2^26
    /// products; otherwise they are bounded. A device's pool may keep more for later use if no
    /// limit forbids it.
    pub peak_device_bytes: u64,
    /// Bytes of the operands alone.
    pub operand_bytes: u64,
    /// The columns of C that each method will compute together: the bins of the report.
    pub bins: Vec<Bin>,
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
    /// Memory of the consumer of a band.
    pub consumer: Option<DropMemory>,
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
    let (mut before_esc, nrows) = (0, a.pattern.nrows());
    let (patterns, free_bytes) = ((a.pattern, right.pattern), limit.saturating_sub(operand_bytes));
    let foretold = match tuning.payload {
        _ if let Some(ranges) = RangeTuning::new(info, method, costs, tuning.payload, (a.shape, right.shape)) => {
            let memory = RangeMemory::new(info, &ranges, element, (nrows, strides[2]), consumer);
            Some(ranges::foretell(&memory, patterns, free_bytes)?)
        }
        PayloadKind::Values if teams_for(info, method).is_some() => {
            let spec = Spec::new(element, a.shape, right.shape, nrows);
            let adaptive = AdaptiveTuning::new(info, method, costs, spec.row_bits);
            let memory = AdaptiveMemory::new(info, (&tuning, &adaptive), (element, nrows), consumer);
            Some(foretell(&memory, patterns, free_bytes)?)
        }
        _ => None,
    };
    if let Some(foretold) = foretold {
        let peak_device_bytes = operand_bytes + foretold.peak_bytes;
        if let Some(Counts { products, bands, bins, .. }) = foretold.counts {
            return Ok(Estimate { products, bands, peak_device_bytes, operand_bytes, bins });
        }
        before_esc = peak_device_bytes;
    }
    let by_esc = estimate_by_esc(conditions, &tuning, operand_bytes, (a, right))?;
    Ok(Estimate { peak_device_bytes: by_esc.peak_device_bytes.max(before_esc), ..by_esc })
}

/// Estimates a product on the host. `None` if the host does not compute it.
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
    let of_a = [a.pattern.nnz(), a.pattern.ncols(), a.pattern.nrows()];
    let lengths = || [a.pattern, b.pattern].map(|of| Some(ColumnLengths::of(of)));
    let known = || Known::new(b.pattern.ncols(), of_a, b.pattern.nnz(), lengths());
    let choice = match method {
        Method::Host => None,
        Method::Auto => Some(
            HostChoice::new(info, info.numbers(), costs, size).filter(|choice| choice.is_worth_reading(&known()))?,
        ),
        _ => return None,
    };
    let (of_a, of_b) = (Columns::from(a.pattern), Columns::from(b.pattern));
    let columns: Vec<_> = (0..of_b.ncols()).map(|col| HostColumn::of(of_a, of_b, col)).collect();
    if choice.is_some_and(|choice| !choice.is_worth_it(&columns, |cols| of_a.entries_of(of_b, cols))) {
        return None;
    }
    let mut sums = HostSums::default();
    columns.iter().for_each(|column| sums.add(column));
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
    let bins = size.bins(&costs, &sums);
    let peak_device_bytes = operand_bytes + peak;
    Some(Estimate { products: sums.products, bands, peak_device_bytes, operand_bytes, bins })
}

/// Estimates a product by ESC.
fn estimate_by_esc(
    &Conditions { info, limit, element, entry_bytes, consumer, method, costs }: &Conditions<'_>,
    tuning: &Tuning,
    operand_bytes: u64,
    (a, b): (Stored<'_>, Stored<'_>),
) -> Result<Estimate> {
    let (cols, nnz) = (b.pattern.ncols() as u64, b.pattern.nnz() as u64);
    let (setup, entries) = setup_bytes(tuning, cols, nnz);
    let area = a.shape.product(b.shape).area();
    let entry_memory =
        EntryMemory { consumer, ..EntryMemory::new(element, tuning, a.pattern.nrows(), entry_bytes, area) };
    let limits = |used: u64| Limits::within(info, limit.saturating_sub(used), tuning, entry_memory);

    let products_of =
        |col| b.pattern.column(col).iter().map(|&k| a.pattern.entries(k as usize).len() as u64).sum::<u64>();
    let column_products = || (0..b.pattern.ncols()).map(products_of);
    let mut sizes = Sizes::default();
    column_products().for_each(|products| sizes.add(products, &tuning.sort));
    // The segments of all columns are released if one band is not enough.
    let (kept, held) = (operand_bytes + entries, Cell::new(segment_bytes(cols)));
    let mut bands = Bands::new(b.pattern.ncols(), sizes);
    let mut counts = Counts { products: sizes.products, ..Counts::default() };
    let mut peak_device_bytes = operand_bytes + setup;
    let mut narrow = || {
        held.set(0);
        Ok(column_products().map(|products: u64| products.try_into().unwrap_or(u32::MAX)).collect())
    };
    let spec = Spec::new(element, a.shape, b.shape, a.pattern.nrows());
    let sorted = ShortRule::new(info, &spec, tuning, method, costs).and_then(|rule| {
        let (a, b) = (a.pattern, b.pattern);
        let lengths = [a, b].map(ColumnLengths::of);
        let known = Known::new(b.ncols(), [a.nnz(), a.ncols(), a.nrows()], b.nnz(), lengths.map(Some));
        rule.short_columns(lengths.map(|of| of.longest), &known, &limits(operand_bytes))
    });
    if sorted.is_some() {
        let products = sizes.products;
        let most = || (0..b.pattern.ncols()).map(|col| limits(0).most_entries(products_of(col))).sum();
        let entries = counted_entries(a.pattern, b.pattern, products).unwrap_or_else(most);
        if limits(operand_bytes).fits_sorted(cols, products, entries) {
            let peak_device_bytes = operand_bytes + limits(0).need_sorted(cols, products, entries).bytes;
            let bins = vec![Bin::of("all columns", Method::Sort, cols, products)];
            return Ok(Estimate { products, bands: 1, peak_device_bytes, operand_bytes, bins });
        }
    }
    if operand_bytes + setup > limit {
        let what = "the operands and what setup counts of them".into();
        return Err(Error::Memory { what, needed: operand_bytes + setup, available: limit, place: "device".into() });
    }
    while let Some(band) = bands.next(&|| limits(kept + held.get()), &mut narrow)? {
        let columns = band.columns.start as usize..band.columns.end as usize;
        let most = columns.map(|col| limits(0).most_entries(products_of(col))).sum();
        let need = limits(0).need(band.columns.len() as u64, &band.sizes, most);
        counts.bands += 1;
        counts.longest = counts.longest.max(band.sizes.longest);
        // A single column may be tried even if it fits only with few entries of C.
        peak_device_bytes = peak_device_bytes.max((kept + need.bytes).min(limit));
        if band.sizes.products > 0 {
            counts.add(tuning.esc.method(), band.columns.len() as u64, band.sizes.products);
        }
    }
    if tuning.payload == PayloadKind::Values {
        let sizes = [counts.bands as u64, a.pattern.nrows() as u64, counts.longest];
        predict_esc(&mut counts.bins, sizes, &costs, &tuning.sort);
    }
    let Counts { products, bands, bins, .. } = counts;
    Ok(Estimate { products, bands, peak_device_bytes, operand_bytes, bins })
}

/// Bytes of a matrix on a device, including the rounding of size classes.
fn bytes(Stored { pattern, value_bytes, .. }: Stored<'_>) -> u64 {
    let lens = [4 * pattern.col_ptr().len(), 4 * pattern.nnz(), value_bytes];
    lens.into_iter().map(|len| pool_bytes(len as u64)).sum()
}
