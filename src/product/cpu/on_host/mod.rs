//! Computes A·B on the host, from and into arrays of the device. The sums are those of
//! [`gustavson`](crate::gustavson), and have the same bits as those of every other method.
//!
//! Small arrays are copied: those of the operands to the host, and those of C to the device. The
//! copies of small arrays are enqueued together. Waiting for a single copy takes longer than all
//! copies of a small product. Large arrays of a CPU device are read where they are.
mod choice;
mod memory;
mod numbers;
#[cfg(test)]
mod tests;

pub(in crate::product) use choice::{HostChoice, HostColumn, HostSize, HostSums};
pub(in crate::product) use memory::HostMemory;
pub(crate) use numbers::HostNumbers;

use crate::{
    BlockShape, Result, Semiring,
    device::{AnySeen, AnySeenLater, Seen, SeenLater, Work},
    gustavson::{Columns, Factor, Factors, Found, Offsets},
    host::memory::check_large,
    product::{
        Counts, Method, Operands,
        terms::{How, Known, PayloadKind, Pipeline, Place},
    },
    resident::{DeviceCbc, PatternArrays},
    tuning::MethodCosts,
};
use std::time::Instant;

/// A product that the host computes.
pub(in crate::product) trait HostProduct {
    /// Computes C = A·B, band after band. `place` takes the columns of C of each band, in order.
    fn multiply(&self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts>;
}

/// Reads the operands if the host is to compute the product. The host is to compute it if method
/// `host` is requested, or if `costs` predict that the host is faster.
pub(in crate::product) fn on_host<'w>(
    work: &'w Work,
    operands: &Operands<'w>,
    how: How,
    costs: MethodCosts,
) -> Result<Option<Box<dyn HostProduct + 'w>>> {
    let product = OnHost::new(work, operands, how, costs)?;
    Ok(product.map(|product| Box::new(product) as Box<dyn HostProduct + 'w>))
}

/// A product whose operands have been read.
struct OnHost<'w> {
    a: HostArrays<'w>,
    /// The arrays of B, or `None` if B is A.
    b: Option<HostArrays<'w>>,
    /// Products of each column of C.
    products: Vec<u64>,
    sums: HostSums,
    size: HostSize,
    /// Costs of the methods, for predictions.
    costs: MethodCosts,
    semiring: Semiring,
}

/// The arrays of a factor on the host.
struct HostArrays<'w> {
    nrows: usize,
    col_ptr: Seen<'w, u32>,
    row_idx: Seen<'w, u32>,
    shape: BlockShape,
    stride: usize,
    values: AnySeen<'w>,
}

/// The arrays of a factor while they are being copied.
struct Arriving<'w> {
    col_ptr: SeenLater<'w, u32>,
    row_idx: SeenLater<'w, u32>,
    values: AnySeenLater<'w>,
}

impl<'w> Arriving<'w> {
    fn of(work: &'w Work, of: &'w DeviceCbc) -> Result<Self> {
        let (col_ptr, row_idx) = (work.see_later(&of.col_ptr)?, work.see_later(&of.row_idx)?);
        Ok(Self { col_ptr, row_idx, values: work.see_any_later(&of.values)? })
    }

    fn get(self, of: &DeviceCbc) -> Result<HostArrays<'w>> {
        let (col_ptr, row_idx, values) = (self.col_ptr.get()?, self.row_idx.get()?, self.values.get()?);
        Ok(HostArrays { nrows: of.nrows, col_ptr, row_idx, shape: of.shape, stride: of.stride, values })
    }
}

impl HostArrays<'_> {
    fn columns(&self) -> Columns<'_> {
        Columns { nrows: self.nrows, col_ptr: Offsets::Device(&self.col_ptr), row_idx: &self.row_idx }
    }

    fn factor<'a>(&'a self, columns: Columns<'a>) -> Factor<'a> {
        Factor { columns, shape: self.shape, stride: self.stride, values: self.values.elements() }
    }
}

impl<'w> OnHost<'w> {
    fn new(work: &'w Work, operands: &Operands<'w>, how: How, costs: MethodCosts) -> Result<Option<Self>> {
        let (info, Operands { a, b, .. }) = (work.device().info(), operands);
        let of = |of: &DeviceCbc| [of.nrows, of.ncols, of.nnz()];
        let size = HostSize::of(
            operands.element(),
            of(a),
            of(b),
            std::ptr::eq(*a, *b),
            PayloadKind::of(operands.strides()),
            (a.shape, b.shape),
        );
        let known = || Known::of_arrays(&a.pattern, &b.pattern);
        let choice = match how.method {
            Method::Host => None,
            Method::Auto => match HostChoice::new(info, info.numbers(), costs, size)
                .filter(|choice| choice.is_worth_reading(&known()))
            {
                Some(choice) => Some(choice),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        work.stage("read");
        let of_a = Arriving::of(work, a)?;
        let of_b = if std::ptr::eq(*a, *b) { None } else { Some(Arriving::of(work, b)?) };
        work.wait_briefly()?; // round trip 1
        let (of_a, of_b) = (of_a.get(a)?, of_b.map(|arriving| arriving.get(b)).transpose()?);
        let columns = (of_a.columns(), of_b.as_ref().unwrap_or(&of_a).columns());
        let all: Vec<HostColumn> =
            (0..columns.1.ncols()).map(|col| HostColumn::of(columns.0, columns.1, col)).collect();
        let mut sums = HostSums::default();
        all.iter().for_each(|column| sums.add(column));
        let products = all.iter().map(|column| column.products).collect();
        let entries_of = |cols: Vec<usize>| columns.0.entries_of(columns.1, cols);
        if choice.is_some_and(|choice| !choice.is_worth_it(&all, entries_of)) {
            return Ok(None);
        }
        Ok(Some(Self { a: of_a, b: of_b, products, sums, size, costs, semiring: how.semiring }))
    }
}

impl HostProduct for OnHost<'_> {
    fn multiply(&self, work: &Work, operands: &Operands<'_>, place: Place<'_>) -> Result<Counts> {
        let Self { a, b, products, sums, size, costs, semiring } = self;
        let b = b.as_ref().unwrap_or(a);
        let element = operands.element();
        let memory = HostMemory::new(work.device().info(), operands.c_stride * element.bytes(), operands.consumer);
        let mut counts = Counts { pipeline: Pipeline::Host, ..Counts::default() };
        work.stage("multiply");
        let began = Instant::now();
        let factors = |of_b| Factors::new(a.factor(a.columns()), b.factor(of_b), *semiring);
        let of_all = factors(b.columns())?;
        // If C surely has one band, its sums are computed together with its rows.
        let one_band = memory.fits(products.len() as u64, sums.products, work.free_bytes());
        let found = if one_band {
            of_all.multiply(&|entries| fits(entries, element.arithmetic().bytes()))?
        } else {
            find(&of_all)?
        };
        let col_ptr = found.col_ptr();
        work.count_host_time(began.elapsed());
        let mut found = Some(found);
        let mut begin = 0;
        // A product without columns has one band too.
        while begin < products.len() || counts.bands == 0 {
            let free = work.free_bytes();
            let end = begin + memory.band(&col_ptr[begin..], free);
            let columns = b.columns();
            let factors = factors(Columns { col_ptr: columns.col_ptr.of_columns(begin..end), ..columns })?;
            // If there is only one band, the rows that were found are used. If there are several
            // bands, rows are found again for each band.
            let found = found.take().filter(|_| end - begin == products.len());
            work.stage("multiply");
            place(band(work, operands, &factors, found, &col_ptr[begin..=end])?)?;
            counts.products += products[begin..end].iter().sum::<u64>();
            counts.bands += 1;
            begin = end;
        }
        counts.bins = size.bins(costs, sums);
        Ok(counts)
    }
}

/// Finds the rows of C.
fn find(factors: &Factors<'_>) -> Result<Found> {
    factors.find(&|entries| fits(entries, 0))
}

/// Refuses `entries` entries of C if the host's memory does not hold a row and a sum of `bytes`
/// bytes for each.
fn fits(entries: u64, bytes: usize) -> Result<()> {
    check_large(|| "the rows of the product".into(), entries.saturating_mul((4 + bytes) as u64))
}

/// Computes the columns of a band of A·B. `col_ptr` says where the columns begin and end in C.
fn band(
    work: &Work,
    operands: &Operands<'_>,
    factors: &Factors<'_>,
    found: Option<Found>,
    col_ptr: &[u64],
) -> Result<DeviceCbc> {
    let (stride, nnz) = (operands.c_stride, (col_ptr[col_ptr.len() - 1] - col_ptr[0]) as usize);
    PatternArrays::check_nnz(nnz as u64)?;
    let offsets: Vec<u32> = col_ptr.iter().map(|offset| (offset - col_ptr[0]) as u32).collect();
    let began = Instant::now();
    let found = found.map_or_else(|| find(factors), Ok)?;
    let (rows, values) = factors.arrays(found, stride)?;
    work.count_host_time(began.elapsed());
    let (of_offsets, of_rows, of_values) =
        (work.upload_later(offsets)?, work.upload_later(rows)?, work.upload_any_later(values)?);
    work.wait_briefly()?; // round trip 2
    Ok(operands.product(of_offsets.0, of_rows.0, of_values.0))
}
