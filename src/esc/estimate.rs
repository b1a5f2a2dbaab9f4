//! What a product will take, foretold on the host: the same tuning, limits and bands, with sizes counted from the operands' patterns.
use super::{
    Tuning,
    bands::{Bands, Limits},
    setup::Sizes,
};
use crate::{
    DeviceInfo, Element, Error, Result,
    device::{PatternArrays, pool_bytes},
    matrix::CbcView,
};

/// What a product will take of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Products of entries (blocks): the expansion size.
    pub products: u64,
    /// Bands of columns the product is cut into.
    pub bands: usize,
    /// Most bytes of device memory allocated at once, operands included: an upper bound, for nnz(C) is not counted.
    pub peak_device_bytes: u64,
    /// Bytes of the operands alone.
    pub operand_bytes: u64,
}

/// A·B in column order, C leaving the device band by band, an entry of it taking `entry_bytes`; `b` is `None` where it is A. `limit`: bytes that may be
/// used.
pub(crate) fn estimate<T: Element>(
    info: &DeviceInfo,
    limit: u64,
    a: CbcView<'_, T>,
    b: Option<CbcView<'_, T>>,
    entry_bytes: usize,
) -> Result<Estimate> {
    let right = b.unwrap_or(a);
    for operand in [a, right] {
        PatternArrays::check_nnz(operand.pattern.nnz() as u64)?;
    }
    let tuning = Tuning::new(info, a.shape, right.shape);
    let (cols, nnz) = (right.pattern.ncols() as u64, right.pattern.nnz() as u64);
    let operand_bytes = bytes(a) + b.map_or(0, bytes);
    // Of setup, what lives as long as the product, and what is given back when one band does not do.
    let entries = pool_bytes(8 * (nnz + 1));
    let whole = 2 * pool_bytes(4 * (cols + 1));
    let kept = operand_bytes + entries;
    if kept + whole > limit {
        let what = "the operands and what setup counts of them".into();
        return Err(Error::Memory { what, needed: kept + whole, available: limit, place: "device".into() });
    }
    let limits = |used: u64| Limits {
        free_bytes: limit.saturating_sub(used),
        max_alloc_bytes: info.max_alloc_bytes,
        payload_bytes: tuning.payload.bytes::<T>(),
        entry_bytes: entry_bytes as u64,
        long_run: tuning.long_run() as u64,
        part_bytes: (a.shape.product(right.shape).area() * size_of::<T::Arithmetic>()) as u64,
        rows: a.pattern.nrows() as u64,
        short_max: tuning.sort.short_max as u64,
        chunk: tuning.sort.chunk as u64,
    };

    let column_products = || {
        let of_column =
            |col| right.pattern.column(col).iter().map(|&k| a.pattern.entries(k as usize).len() as u64).sum::<u64>();
        (0..right.pattern.ncols()).map(of_column)
    };
    let mut sizes = Sizes::default();
    column_products().for_each(|products| sizes.add(products, &limits(0)));
    let (mut bands, mut used) = (Bands::new(right.pattern.ncols(), sizes), kept + whole);
    let mut told = Estimate { products: sizes.products, bands: 0, peak_device_bytes: used, operand_bytes };
    let narrow = || Ok(column_products().map(|products: u64| products.try_into().unwrap_or(u32::MAX)).collect());
    while let Some(band) = bands.next(&limits(used), narrow)? {
        let (peak, _) = limits(used).peak(band.columns.len() as u64, band.sizes.products);
        told.bands += 1;
        told.peak_device_bytes = told.peak_device_bytes.max(used + peak);
        used = kept;
    }
    Ok(told)
}

/// What a matrix takes on a device, size classes included.
fn bytes<T: Element>(matrix: CbcView<'_, T>) -> u64 {
    let CbcView { pattern, values, .. } = matrix;
    let lens = [4 * pattern.col_ptr().len(), 4 * pattern.nnz(), size_of_val(values)];
    lens.into_iter().map(|len| pool_bytes(len as u64)).sum()
}
