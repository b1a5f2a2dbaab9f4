//! Estimates of a product, made on the host. They use the tuning, limits and bands of the product
//! itself, with sizes counted from the operands' patterns.
mod product;

use super::{
    adaptive::{AdaptiveTuning, extra_bytes, teams_for},
    bands::Bands,
    choose::choose,
    hash::GlobalTables,
    limits::{EntryMemory, Limits, segment_bytes, setup_bytes},
    method::Method,
    problem::Sizes,
    tuning::{PayloadKind, Tuning},
};
use crate::{
    DeviceInfo, Element, Error, Result, device::pool_bytes, matrix::CbcView, primitives::drop_entries::DropMemory,
    resident::PatternArrays,
};
use std::cell::Cell;

/// Memory and bands that a product will need on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Products of entries (blocks): the expansion size.
    pub products: u64,
    /// Bands of columns the product is cut into.
    pub bands: usize,
    /// Most bytes of device memory in use at once, operands included. This is an upper bound, since
    /// nnz(C) is not counted. A device's pool may keep more for later use if no limit forbids it.
    pub peak_device_bytes: u64,
    /// Bytes of the operands alone.
    pub operand_bytes: u64,
}

/// Estimates A·B in column order, with C leaving the device band by band. An entry of C takes
/// `entry_bytes`, and the consumer of a band the memory of `consumer`. `b` is `None` if B is A. At
/// most `limit` bytes may be used.
pub(crate) fn estimate<T: Element>(
    info: &DeviceInfo,
    limit: u64,
    a: CbcView<'_, T>,
    b: Option<CbcView<'_, T>>,
    (entry_bytes, consumer): (usize, Option<DropMemory>),
    method: Method,
) -> Result<Estimate> {
    let right = b.unwrap_or(a);
    let strides = [a.stride, right.stride, entry_bytes / size_of::<T>()];
    if PayloadKind::of(strides) == PayloadKind::Values && teams_for(info, method).is_some() {
        // An adaptive product is one band, or ESC's.
        let (nrows, columns) = (a.pattern.nrows(), right.pattern.ncols() as u64);
        let tuning = AdaptiveTuning::new(info, method, 0);
        let windows = tuning.windows(nrows, right.pattern.ncols()) as u64;
        let products = |col| right.pattern.column(col).iter().map(|&k| a.pattern.entries(k as usize).len() as u64);
        let most = |col| products(col).sum::<u64>().min(nrows as u64);
        let entries = (0..right.pattern.ncols()).map(most).sum();
        let of_columns = (0..right.pattern.ncols()).map(|col| products(col).sum::<u64>());
        let [longest, all] =
            of_columns.fold([0; 2], |[longest, all], of_column| [longest.max(of_column), all + of_column]);
        let tables = GlobalTables::new(info, &tuning, [longest, all], nrows).bytes();
        let hashes = tuning.hashes(nrows, right.pattern.ncols());
        let extra = extra_bytes::<T>(columns, windows, entries) + if hashes { tables } else { 0 };
        let by_esc = estimate_by_esc(info, limit.saturating_sub(extra), a, b, (entry_bytes, consumer), method);
        if let Ok(Estimate { bands: 1, peak_device_bytes, .. }) = by_esc {
            return by_esc.map(|by_esc| Estimate { peak_device_bytes: peak_device_bytes + extra, ..by_esc });
        }
    }
    estimate_by_esc(info, limit, a, b, (entry_bytes, consumer), method)
}

/// The same of a product by ESC.
fn estimate_by_esc<T: Element>(
    info: &DeviceInfo,
    limit: u64,
    a: CbcView<'_, T>,
    b: Option<CbcView<'_, T>>,
    (entry_bytes, consumer): (usize, Option<DropMemory>),
    method: Method,
) -> Result<Estimate> {
    let right = b.unwrap_or(a);
    for operand in [a, right] {
        PatternArrays::check_nnz(operand.pattern.nnz() as u64)?;
    }
    let strides = [a.stride, right.stride, entry_bytes / size_of::<T>()];
    let tuning = Tuning::new(info, a.shape, right.shape).with_strides(strides).with_method(info, method);
    let (cols, nnz) = (right.pattern.ncols() as u64, right.pattern.nnz() as u64);
    let operand_bytes = bytes(a) + b.map_or(0, bytes);
    let (setup, entries) = setup_bytes(&tuning, cols, nnz);
    if operand_bytes + setup > limit {
        let what = "the operands and what setup counts of them".into();
        return Err(Error::Memory { what, needed: operand_bytes + setup, available: limit, place: "device".into() });
    }
    let area = a.shape.product(right.shape).area();
    let entry_memory = EntryMemory { consumer, ..EntryMemory::new::<T>(&tuning, a.pattern.nrows(), entry_bytes, area) };
    let methods = choose(&tuning, method).len();
    let entry_memory = entry_memory.shared_out::<T>(&tuning, right.pattern.nnz(), methods);
    let limits = |used: u64| Limits::within(info, limit.saturating_sub(used), &tuning, entry_memory);

    let products_of =
        |col| right.pattern.column(col).iter().map(|&k| a.pattern.entries(k as usize).len() as u64).sum::<u64>();
    let column_products = || (0..right.pattern.ncols()).map(products_of);
    let mut sizes = Sizes::default();
    column_products().for_each(|products| sizes.add(products, &tuning.sort));
    // The segments of all columns are released if one band is not enough.
    let (kept, held) = (operand_bytes + entries, Cell::new(segment_bytes(cols)));
    let mut bands = Bands::new(right.pattern.ncols(), sizes);
    let mut estimated =
        Estimate { products: sizes.products, bands: 0, peak_device_bytes: operand_bytes + setup, operand_bytes };
    let narrow = || {
        held.set(0);
        Ok(column_products().map(|products: u64| products.try_into().unwrap_or(u32::MAX)).collect())
    };
    while let Some(band) = bands.next(|| limits(kept + held.get()), narrow)? {
        let columns = band.columns.start as usize..band.columns.end as usize;
        let most = columns.map(|col| limits(0).most_entries(products_of(col))).sum();
        let need = limits(0).need(band.columns.len() as u64, &band.sizes, most);
        estimated.bands += 1;
        // A single column may be tried that fits only if C has few entries in it.
        estimated.peak_device_bytes = estimated.peak_device_bytes.max((kept + need.bytes).min(limit));
    }
    Ok(estimated)
}

/// Bytes of a matrix on a device, including the rounding of size classes.
fn bytes<T: Element>(matrix: CbcView<'_, T>) -> u64 {
    let CbcView { pattern, values, .. } = matrix;
    let lens = [4 * pattern.col_ptr().len(), 4 * pattern.nnz(), size_of_val(values)];
    lens.into_iter().map(|len| pool_bytes(len as u64)).sum()
}
