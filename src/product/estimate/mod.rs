//! Estimates of a product, made on the host: upper bounds of its memory and its bands. Each engine
//! has a bound beside the functions by which it cuts bands. The bound of a product is that of all
//! engines that may compute it. Sizes are counted from the patterns of the operands.
mod floors;
mod product;
#[cfg(test)]
mod tests;

pub(crate) use floors::FloorSizes;

use super::{
    bands::{Bands, EntryMemory, Limits, segment_bytes, setup_bytes},
    columns::adaptive::AdaptiveMemory,
    cpu::{
        on_host::{HostChoice, HostMemory, HostSize},
        ranges::{RangeMemory, RangeTuning},
    },
    sort::ShortRule,
    terms::{ColumnCounts, EngineBound, Method, PayloadKind, ProductBound, Sizes, Spec},
    tuning::{AdaptiveTuning, Tuning, teams_for},
};
use crate::{
    BlockShape, DeviceInfo, Error, Pattern, Result, device::pool_bytes, element::ElementType, matrix::AnyView,
    primitives::drop_entries::DropMemory, resident::PatternArrays, tuning::MethodCosts,
};
use std::{cell::Cell, iter};

/// Upper bounds of the memory and the bands of a product on a device, before it is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Number of products of entries (blocks): the expansion size. It is exact.
    pub products: u64,
    /// Bands of columns that the product is cut into, at most.
    pub bands: usize,
    /// Bytes of device memory in use at once, at most, including operands. If the product may be
    /// cut into bands, this is the limit. The bound counts the arrays of every method that may
    /// compute a column. Entries of C are counted if there are at most 2^26 products; otherwise,
    /// and where ESC may compute them, each product counts as an entry. A device's pool may keep
    /// more for later use if no limit forbids it.
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
    /// Memory of the consumer of a band.
    pub consumer: Option<DropMemory>,
    pub method: Method,
    pub costs: MethodCosts,
}

/// Estimates A·B in column order, if C leaves the device band by band. `b` is `None` if B is A.
pub(crate) fn estimate(conditions: &Conditions<'_>, a: Stored<'_>, b: Option<Stored<'_>>) -> Result<Estimate> {
    let (limit, right) = (conditions.limit, b.unwrap_or(a));
    for operand in [a, right] {
        PatternArrays::check_nnz(operand.pattern.nnz() as u64)?;
    }
    let operand_bytes = bytes(a) + b.map_or(0, bytes);
    let needed = operand_bytes + pool_bytes(4 * (right.pattern.ncols() as u64 + 1));
    if needed > limit {
        let what = "the operands and the offsets of C".into();
        return Err(Error::Memory { what, needed, available: limit, place: "device".into() });
    }
    let counts = ColumnCounts::new(a.pattern, right.pattern);
    let multiplied = Multiplied { conditions, a, b: right, counts: &counts, free_bytes: limit - operand_bytes };
    let bound = match conditions.method {
        Method::Host => multiplied.on_host(),
        _ if multiplied.may_be_on_host(b.is_none()) => either(multiplied.by_kernels(), multiplied.on_host()),
        _ => multiplied.by_kernels(),
    }?;
    let (peak_device_bytes, products) = (operand_bytes + bound.peak_bytes, counts.all_products());
    Ok(Estimate { products, bands: bound.bands, peak_device_bytes, operand_bytes })
}

/// The bound of a product that is computed in one of two ways. A way that does not fit is not
/// taken.
fn either(one: Result<ProductBound>, other: Result<ProductBound>) -> Result<ProductBound> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok(one.max(other)),
        (Ok(bound), Err(_)) | (Err(_), Ok(bound)) => Ok(bound),
        (Err(one), Err(_)) => Err(one),
    }
}

/// A product whose columns are counted.
struct Multiplied<'a> {
    conditions: &'a Conditions<'a>,
    a: Stored<'a>,
    b: Stored<'a>,
    counts: &'a ColumnCounts,
    /// Bytes besides the operands.
    free_bytes: u64,
}

impl Multiplied<'_> {
    /// Whether `auto` may leave the product to the host.
    fn may_be_on_host(&self, is_square: bool) -> bool {
        let &Conditions { info, element, method, costs, .. } = self.conditions;
        let of = |of: &Pattern| [of.nrows(), of.ncols(), of.nnz()];
        let sizes = (of(self.a.pattern), of(self.b.pattern), is_square);
        let size = HostSize::of(element, sizes, self.tuning().payload, (self.a.shape, self.b.shape));
        method == Method::Auto && HostChoice::new(info, &info.numbers(), costs, size).is_some()
    }

    /// The bound on the host.
    fn on_host(&self) -> Result<ProductBound> {
        let &Conditions { info, entry_bytes, consumer, .. } = self.conditions;
        let memory = HostMemory::new(info, entry_bytes, consumer);
        let needed = memory.need(1, self.counts.longest.map_or(0, |longest| longest.entries));
        if needed > self.free_bytes {
            let what = "a column of the product".into();
            return Err(Error::Memory { what, needed, available: self.free_bytes, place: "device".into() });
        }
        let ends = self.counts.entries.iter().scan(0, |end, &entries| {
            *end += u64::from(entries);
            Some(*end)
        });
        let col_ptr: Vec<u64> = iter::once(0).chain(ends).collect();
        let (columns, mut begin, mut bands, mut peak_bytes) = (col_ptr.len() - 1, 0, 0, 0);
        while begin < columns || bands == 0 {
            let end = begin + memory.band(&col_ptr[begin..], self.free_bytes);
            peak_bytes = memory.need((end - begin) as u64, col_ptr[end] - col_ptr[begin]).max(peak_bytes);
            (begin, bands) = (end, bands + 1);
        }
        Ok(ProductBound { peak_bytes: peak_bytes.min(self.free_bytes), bands })
    }

    /// The bound of the engine that [`OneShot`](super::dispatch::OneShot) chooses.
    fn by_kernels(&self) -> Result<ProductBound> {
        let &Conditions { info, element, consumer, method, costs, .. } = self.conditions;
        let (a, b, nrows, tuning) = (self.a, self.b, self.a.pattern.nrows(), self.tuning());
        let patterns = (a.pattern, b.pattern);
        let engine = match tuning.payload {
            _ if let Some(ranges) = RangeTuning::new(info, (method, costs), tuning.payload, (a.shape, b.shape)) => {
                let memory = RangeMemory::new(info, &ranges, element, (nrows, self.strides()[2]), consumer);
                memory.bound(patterns, self.counts, self.free_bytes)?
            }
            PayloadKind::Values if teams_for(info, method).is_some() => {
                let spec = Spec::new(element, a.shape, b.shape, nrows);
                let adaptive = AdaptiveTuning::new(info, (method, costs), spec.row_bits);
                let memory = AdaptiveMemory::new(info, (&tuning, &adaptive), (element, nrows), consumer);
                memory.bound(patterns, self.counts, self.free_bytes)?
            }
            _ => EngineBound::Esc { analysis_bytes: 0 },
        };
        match engine {
            EngineBound::Own(bound) => Ok(bound),
            EngineBound::OwnOrEsc(bound) => either(Ok(bound), self.by_esc(&tuning)),
            EngineBound::Esc { analysis_bytes } => {
                let bound = self.by_esc(&tuning)?;
                Ok(ProductBound { peak_bytes: bound.peak_bytes.max(analysis_bytes), ..bound })
            }
        }
    }

    /// The bound of ESC, which sorts the columns of products of blocks if all are short.
    fn by_esc(&self, tuning: &Tuning) -> Result<ProductBound> {
        let &Conditions { info, element, method, costs, .. } = self.conditions;
        let (limits, cols) = (self.limits(tuning, self.free_bytes), self.counts.cols());
        let (products, entries) = (self.counts.all_products(), self.counts.all_entries());
        let spec = Spec::new(element, self.a.shape, self.b.shape, self.a.pattern.nrows());
        let may_sort = ShortRule::new(info, &spec, tuning, (method, costs)).is_some();
        match may_sort && limits.fits_sorted(cols, products, entries) {
            true => {
                let peak_bytes = limits.need_sorted(cols, products, entries).bytes;
                either(Ok(ProductBound { peak_bytes, bands: 1 }), self.in_bands(tuning))
            }
            false => self.in_bands(tuning),
        }
    }

    /// The bound of ESC, whose bands are cut here as by the engine.
    fn in_bands(&self, tuning: &Tuning) -> Result<ProductBound> {
        let (cols, nnz) = (self.counts.cols(), self.b.pattern.nnz() as u64);
        let (setup, kept) = setup_bytes(tuning, cols, nnz);
        if setup > self.free_bytes {
            let what = "what setup counts of the operands".into();
            return Err(Error::Memory { what, needed: setup, available: self.free_bytes, place: "device".into() });
        }
        let mut sizes = Sizes::default();
        self.counts.products.iter().for_each(|&products| sizes.add(products, &tuning.sort));
        // The segments of all columns are released if one band is not enough.
        let (held, mut peak_bytes, mut count) = (Cell::new(segment_bytes(cols)), setup, 0);
        let mut narrow = || {
            held.set(0);
            Ok(self.counts.products.iter().map(|&products| products.try_into().unwrap_or(u32::MAX)).collect())
        };
        let limits = |used: u64| self.limits(tuning, self.free_bytes.saturating_sub(used));
        let mut bands = Bands::new(self.b.pattern.ncols(), sizes);
        while let Some(band) = bands.next(&|| limits(kept + held.get()), &mut narrow)? {
            let columns = band.columns.start as usize..band.columns.end as usize;
            let most = self.counts.products[columns].iter().map(|&products| limits(0).most_entries(products)).sum();
            let need = limits(0).need(band.columns.len() as u64, &band.sizes, most);
            count += 1;
            // A single column may be tried even if it fits only with few entries of C.
            peak_bytes = peak_bytes.max((kept + need.bytes).min(self.free_bytes));
        }
        Ok(ProductBound { peak_bytes, bands: count })
    }

    fn limits<'t>(&self, tuning: &'t Tuning, free_bytes: u64) -> Limits<'t> {
        let &Conditions { info, element, entry_bytes, consumer, .. } = self.conditions;
        let area = self.a.shape.product(self.b.shape).area();
        let entries = EntryMemory::new(element, tuning, self.a.pattern.nrows(), entry_bytes, area);
        Limits::within(info, free_bytes, tuning, EntryMemory { consumer, ..entries })
    }

    fn strides(&self) -> [usize; 3] {
        let &Conditions { element, entry_bytes, .. } = self.conditions;
        [self.a.stride, self.b.stride, entry_bytes / element.bytes()]
    }

    fn tuning(&self) -> Tuning {
        let &Conditions { info, method, .. } = self.conditions;
        Tuning::new(info, self.a.shape, self.b.shape).with_strides(self.strides()).with_method(info, method)
    }
}

/// Bytes of a matrix on a device, including the rounding of size classes.
fn bytes(Stored { pattern, value_bytes, .. }: Stored<'_>) -> u64 {
    let lens = [4 * pattern.col_ptr().len(), 4 * pattern.nnz(), value_bytes];
    lens.into_iter().map(|len| pool_bytes(len as u64)).sum()
}
