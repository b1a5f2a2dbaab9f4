//! The factors of a product, and its passes.
use super::{Columns, Found, Offset, once, parts::in_turn, rows, share_out, sums::Column};
use crate::{Arithmetic, BlockShape, Element, Result, Semiring, element::Algebra, host::memory, matrix::CbcView};
use std::{borrow::Cow, iter::Zip, slice::Iter};

/// A factor: its pattern, and its blocks in the type in which sums are formed.
pub(crate) struct Operand<'a, O, N: Clone> {
    pub columns: Columns<'a, O>,
    pub shape: BlockShape,
    /// Elements from one block to the next.
    pub stride: usize,
    pub values: Cow<'a, [N]>,
}

impl<'a, O: Offset, N: Arithmetic> Operand<'a, O, N> {
    pub fn new<T: Element<Arithmetic = N>>(
        columns: Columns<'a, O>,
        (shape, stride): (BlockShape, usize),
        values: &'a [T],
    ) -> Self {
        let values = match size_of::<T>() == size_of::<N>() {
            true => Cow::Borrowed(bytemuck::cast_slice(values)), // the same type
            false => Cow::Owned(values.iter().map(|value| value.widen()).collect()),
        };
        Self { columns, shape, stride, values }
    }

    pub fn block(&self, entry: usize) -> &[N] {
        &self.values[entry * self.stride..][..self.shape.area()]
    }
}

impl<'a, N: Arithmetic> Operand<'a, u64, N> {
    pub fn of_view<T: Element<Arithmetic = N>>(view: CbcView<'a, T>) -> Self {
        Self::new(view.pattern.into(), (view.shape, view.stride), view.values)
    }
}

/// Where C is written: a row for each entry, and `stride` elements.
struct Room<'a, T> {
    rows: &'a mut [u32],
    values: &'a mut [T],
    stride: usize,
}

impl<'a, T> Room<'a, T> {
    /// Splits off the room of the first entries.
    fn take(&mut self, entries: usize) -> Self {
        let rows = self.rows.split_off_mut(..entries);
        let values = self.values.split_off_mut(..entries * self.stride);
        Self { rows: rows.unwrap_or_default(), values: values.unwrap_or_default(), stride: self.stride }
    }

    /// Writes the sums of scalars.
    fn fill(&mut self, sums: &[T::Arithmetic])
    where
        T: Element,
    {
        if self.stride == 1 {
            return self.values.iter_mut().zip(sums).for_each(|(value, &sum)| *value = T::narrow(sum));
        }
        for (block, &sum) in self.values.chunks_exact_mut(self.stride).zip(sums) {
            block.fill(T::zeroed());
            block[0] = T::narrow(sum);
        }
    }
}

/// The factors of A·B.
pub(crate) struct Factors<'a, O, N: Clone> {
    pub a: Operand<'a, O, N>,
    pub b: Operand<'a, O, N>,
}

/// The operations of an algebra, in a form that the compiler can inline.
#[derive(Clone, Copy)]
pub(super) struct Operations<A, M> {
    pub add: A,
    pub multiply: M,
}

pub(super) trait Operation<N>: Fn(N, N) -> N + Copy + Sync {}

impl<N, F: Fn(N, N) -> N + Copy + Sync> Operation<N> for F {}

/// A column of A that a column of B meets: its rows, its values, and the factor of these from B.
pub(super) struct List<'l, N> {
    pub rows: &'l [u32],
    pub values: &'l [N],
    pub factor: N,
}

impl<'l, N: Arithmetic> List<'l, N> {
    /// The row and the value of each entry.
    #[inline(always)]
    pub fn entries(&self) -> Zip<Iter<'l, u32>, Iter<'l, N>> {
        self.rows.iter().zip(self.values)
    }
}

/// Evaluates `$call` with `$by`, the operations of a semiring. Functions by name are inlined: calls
/// double the time.
macro_rules! with_operations {
    ($semiring:expr, $algebra:expr, $by:ident => $call:expr) => {
        if $semiring == Semiring::PlusTimes {
            let $by = Operations { add: N::plus, multiply: N::times };
            $call
        } else {
            let $by = Operations { add: $algebra.add, multiply: $algebra.multiply };
            $call
        }
    };
}

impl<O: Offset, N: Arithmetic> Factors<'_, O, N> {
    /// Finds the rows of each column of A·B. `fits` is asked first, and from time to time, whether
    /// so many entries of C, which it has at least, fit the memory.
    pub fn find(&self, fits: impl Fn(u64) -> Result<()> + Sync) -> Result<Found<N>> {
        let multiplications = self.a.shape.area() * self.b.shape.cols();
        rows::find(self.a.columns, self.b.columns, multiplications as u64, fits)
    }

    /// Finds the rows of each column as [`Factors::find`]. Of scalars it also computes their sums,
    /// if the memory has room for twice as many entries as there are products.
    pub fn multiply(&self, semiring: Semiring, fits: impl Fn(u64) -> Result<()> + Sync) -> Result<Found<N>> {
        let is_scalar = |of: &Operand<'_, O, N>| (of.shape, of.stride) == (BlockShape::SCALAR, 1);
        if !is_scalar(&self.a) || !is_scalar(&self.b) {
            return self.find(fits);
        }
        let algebra = &Algebra::of(semiring);
        with_operations!(semiring, algebra, by => once::multiply(self, algebra, by, fits))
    }

    /// The rows that were found and their sums, each of `stride` elements.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if they, or a dense column for each thread, do not
    /// fit.
    pub fn arrays<T: Element<Arithmetic = N>>(
        &self,
        found: Found<N>,
        semiring: Semiring,
        stride: usize,
    ) -> Result<(Vec<u32>, Vec<T>)> {
        let found = match found.into_arrays(stride) {
            Ok(arrays) => return Ok(arrays),
            Err(found) => found,
        };
        let nnz = found.nnz();
        let bytes = (nnz as u64).saturating_mul((size_of::<u32>() + stride * size_of::<T>()) as u64);
        memory::check_large(|| "the product".into(), bytes)?;
        let (mut rows, mut values) = (vec![0; nnz], vec![T::zeroed(); nnz * stride]);
        memory::prefer_large(&mut rows);
        memory::prefer_large(&mut values);
        self.sum(found, semiring, Room { rows: &mut rows, values: &mut values, stride })?;
        Ok((rows, values))
    }

    /// Writes the rows that were found and their sums.
    fn sum<T: Element<Arithmetic = N>>(&self, found: Found<N>, semiring: Semiring, into: Room<'_, T>) -> Result<()> {
        let algebra = &Algebra::of(semiring);
        with_operations!(semiring, algebra, by => self.sum_by(found, algebra, by, into))
    }

    fn sum_by<T: Element<Arithmetic = N>>(
        &self,
        found: Found<N>,
        algebra: &Algebra<N>,
        by: Operations<impl Operation<N>, impl Operation<N>>,
        mut into: Room<'_, T>,
    ) -> Result<()> {
        let (nrows, shape) = (self.a.columns.nrows, self.a.shape.product(self.b.shape));
        let Found { parts, stores } = found;
        let threads = parts.len().min(rayon::current_num_threads());
        if stores.iter().any(|store| store.sums.is_none()) {
            let what = || format!("a column of the product, {nrows} rows, on each of {threads} threads");
            memory::check_large(what, Column::<N>::bytes(nrows, shape).saturating_mul(threads as u64))?;
        }
        share_out(
            in_turn(parts.into_iter().map(|part| (into.take(part.places.len()), part))),
            |_| None,
            |column, (mut room, part)| {
                let store = &stores[part.store];
                room.rows.copy_from_slice(&store.rows[part.places.clone()]);
                if let Some(sums) = &store.sums {
                    room.fill(&sums[part.places]);
                    return Ok(());
                }
                let column = column.get_or_insert_with(|| Column::new(nrows, shape, algebra));
                for (col, count) in part.cols.zip(part.counts) {
                    let Room { rows, values, stride } = room.take(count as usize);
                    column.sum(by, self, col, rows);
                    column.write(rows, values, stride);
                }
                Ok(())
            },
        )?;
        Ok(())
    }
}
