//! A·B on the host, between arrays of the device. The sums are those of
//! [`gustavson`](crate::gustavson), with the bits of every other method.
//!
//! The operands' arrays are read. The rows and values of C are written in place into mapped
//! buffers: on a CPU device these are the memory of C itself.
mod memory;
#[cfg(test)]
mod tests;

pub(super) use memory::{HostMemory, is_small, is_worth_it};

use super::{Counts, Method, Operands, problem::Pipeline};
use crate::{
    Arithmetic, BlockShape, Element, Result, Semiring,
    device::Work,
    gustavson::{Columns, Factors, FoundRows, Operand, Room},
    host::memory::check_large,
    resident::{DeviceCbc, PatternArrays},
};
use std::time::Instant;

/// A product whose operands have been read.
pub(super) struct OnHost<T> {
    a: HostArrays<T>,
    /// `None` if B is A.
    b: Option<HostArrays<T>>,
    /// Products of each column of C.
    products: Vec<u64>,
}

/// The arrays of a factor on the host.
struct HostArrays<T> {
    nrows: usize,
    col_ptr: Vec<u32>,
    row_idx: Vec<u32>,
    shape: BlockShape,
    stride: usize,
    values: Vec<T>,
}

impl<T: Element> HostArrays<T> {
    /// The pattern alone.
    fn pattern(work: &Work, of: &DeviceCbc<T>) -> Result<Self> {
        let (col_ptr, row_idx) = (of.col_ptr.download(work)?, of.row_idx.download(work)?);
        Ok(Self { nrows: of.nrows, col_ptr, row_idx, shape: of.shape, stride: of.stride, values: Vec::new() })
    }

    fn columns(&self) -> Columns<'_, u32> {
        Columns { nrows: self.nrows, col_ptr: &self.col_ptr, row_idx: &self.row_idx }
    }

    fn operand<'a>(&'a self, columns: Columns<'a, u32>) -> Operand<'a, u32, T::Arithmetic> {
        Operand::new(columns, (self.shape, self.stride), &self.values)
    }
}

impl<T: Element> OnHost<T> {
    /// Reads the operands, if the host is to compute the product: asked for by name, or because
    /// it is faster.
    pub fn new(work: &Work, operands: &Operands<'_, T>, wanted: Method) -> Result<Option<Self>> {
        let (info, Operands { a, b, .. }) = (work.device().info(), operands);
        let stored = |of: &DeviceCbc<T>| (of.nnz() + of.ncols) as u64;
        let wanted = match wanted {
            Method::Host => true,
            Method::Auto if is_small(info, stored(a) + stored(b)) => false,
            _ => return Ok(None),
        };
        work.stage("read");
        let same = std::ptr::eq(*a, *b);
        let mut of_a = HostArrays::pattern(work, a)?;
        let mut of_b = if same { None } else { Some(HostArrays::pattern(work, b)?) };
        let columns = (of_a.columns(), of_b.as_ref().unwrap_or(&of_a).columns());
        let products: Vec<u64> = (0..columns.1.ncols()).map(|col| columns.0.products(columns.1, col)).collect();
        let multiplications = (a.shape.area() * b.shape.cols()) as u64;
        if !wanted && !is_worth_it(info, products.iter().sum(), multiplications) {
            return Ok(None);
        }
        of_a.values = a.values.download(work)?;
        if let Some(of_b) = &mut of_b {
            of_b.values = b.values.download(work)?;
        }
        Ok(Some(Self { a: of_a, b: of_b, products }))
    }

    /// C = A·B, band after band; `place` takes the columns of C of each band, in order.
    pub fn multiply(
        &self,
        work: &Work,
        operands: &Operands<'_, T>,
        mut place: impl FnMut(DeviceCbc<T>) -> Result<()>,
    ) -> Result<Counts> {
        let Self { a, b, products } = self;
        let b = b.as_ref().unwrap_or(a);
        let memory = HostMemory::new::<T>(work.device().info(), operands.c_stride, operands.consumer);
        let mut counts = Counts { pipeline: Pipeline::Host, ..Counts::default() };
        work.stage("multiply");
        let began = Instant::now();
        let factors = |of_b| Factors { a: a.operand(a.columns()), b: b.operand(of_b) };
        let found = find(&factors(b.columns()))?;
        let col_ptr: Vec<u64> = found.col_ptr().collect();
        work.count_host_time(began.elapsed());
        let mut found = Some(found);
        let mut begin = 0;
        // A product without columns has one band, too.
        while begin < products.len() || counts.bands == 0 {
            let free = work.limit().saturating_sub(work.used_bytes());
            let end = begin + memory.band(&col_ptr[begin..], free);
            let factors = factors(Columns { col_ptr: &b.col_ptr[begin..=end], ..b.columns() });
            // The rows found serve the only band. For each of several they are found again.
            let found = found.take().filter(|_| end - begin == products.len());
            work.stage("multiply");
            place(band(work, operands, &factors, found, &col_ptr[begin..=end])?)?;
            let of_band = products[begin..end].iter().sum();
            if of_band > 0 {
                counts.add(Method::Host, (end - begin) as u64, of_band);
            }
            counts.products += of_band;
            counts.bands += 1;
            begin = end;
        }
        Ok(counts)
    }
}

/// The rows of C.
fn find<N: Arithmetic>(factors: &Factors<'_, u32, N>) -> Result<FoundRows> {
    factors.find(|entries| check_large(|| "the rows of the product".into(), 4 * entries))
}

/// The columns of A·B of a band, which begin and end at `col_ptr` in C.
fn band<T: Element>(
    work: &Work,
    operands: &Operands<'_, T>,
    factors: &Factors<'_, u32, T::Arithmetic>,
    found: Option<FoundRows>,
    col_ptr: &[u64],
) -> Result<DeviceCbc<T>> {
    let (stride, nnz) = (operands.c_stride, (col_ptr[col_ptr.len() - 1] - col_ptr[0]) as usize);
    PatternArrays::check_nnz(nnz as u64)?;
    let offsets: Vec<u32> = col_ptr.iter().map(|offset| (offset - col_ptr[0]) as u32).collect();
    let c_col_ptr = work.upload(&offsets)?;
    let (mut row_idx, mut values) = (work.buffer(nnz)?, work.buffer(nnz * stride)?);
    let (mut rows, mut sums) = (work.map(&mut row_idx)?, work.map(&mut values)?);
    let began = Instant::now();
    let found = found.map_or_else(|| find(factors), Ok)?;
    factors.sum(found, &Semiring::PLUS_TIMES, Room { rows: &mut rows, values: &mut sums, stride })?;
    work.count_host_time(began.elapsed());
    rows.unmap()?;
    sums.unmap()?;
    Ok(operands.product(c_col_ptr, row_idx, values))
}
