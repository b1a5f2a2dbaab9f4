//! The factors of a product, and the passes that compute it.
use super::{
    Columns, Factor, Fits, Found,
    numbers::{Numbers, PlusTimes, Words},
    once,
    room::Room,
    rows,
};
use crate::{
    Error, Result, Semiring,
    element::{Algebra, AnyValues, ElementType, with_values},
    host::memory,
};

/// The factors of A·B over a semiring. The element type is known at run time only; sums are
/// computed in one of the few types of [`Numbers`].
pub(crate) struct Factors<'a> {
    a: Columns<'a>,
    b: Columns<'a>,
    /// Number of multiplications in a product of two blocks.
    multiplications: u64,
    semiring: Semiring,
    element: ElementType,
    numbers: Numbers<'a>,
}

/// Evaluates `$call` with the factors in the type of their sums, and with `$by`, the operations of
/// the semiring. The operations of plus-times are inlined; calls would double the time.
macro_rules! with_numbers {
    ($of:expr, |$typed:ident, $by:ident| $call:expr) => {{
        let plus_times = $of.semiring == Semiring::PlusTimes;
        match &$of.numbers {
            Numbers::F64($typed) if plus_times => {
                let $by = PlusTimes;
                $call
            }
            Numbers::F64($typed) => {
                let $by = Algebra::<f64>::of($of.semiring);
                $call
            }
            Numbers::F32($typed) => {
                let $by = PlusTimes;
                $call
            }
            Numbers::U32($typed) if plus_times => {
                let $by = PlusTimes;
                $call
            }
            Numbers::U32($typed) => {
                let $by = Words::of($of.element, $of.semiring);
                $call
            }
        }
    }};
}

impl<'a> Factors<'a> {
    /// # Errors
    /// [`Error::Argument`] if the element types differ.
    pub fn new(a: Factor<'a>, b: Factor<'a>, semiring: Semiring) -> Result<Self> {
        let Some(numbers) = Numbers::of(a, b, semiring) else {
            let (a, b) = (a.values.element(), b.values.element());
            return Err(Error::Argument(format!("A has elements of {a}, B of {b}")));
        };
        let multiplications = (a.shape.area() * b.shape.cols()) as u64;
        Ok(Self { a: a.columns, b: b.columns, multiplications, semiring, element: a.values.element(), numbers })
    }

    /// Finds the rows of each column of A·B. At the start, and from time to time, `fits` is called
    /// with a lower bound of the number of entries of C. `fits` returns an error if so many entries
    /// do not fit the memory.
    pub fn find(&self, fits: Fits<'_>) -> Result<Found> {
        rows::find(self.a, self.b, self.multiplications, fits)
    }

    /// Like [`Factors::find`]. For scalars the function also computes the sums, if the memory has
    /// room for twice as many entries as there are products.
    pub fn multiply(&self, fits: Fits<'_>) -> Result<Found> {
        match self.numbers.are_scalars() {
            true => with_numbers!(self, |typed, by| once::multiply(typed, by, fits)),
            false => self.find(fits),
        }
    }

    /// The rows that were found and their sums. Sums are `stride` elements apart, and have the
    /// element type of the factors.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) if the arrays, or a dense column for each thread, do
    /// not fit.
    pub fn arrays(&self, found: Found, stride: usize) -> Result<(Vec<u32>, AnyValues)> {
        let found = match found.into_arrays(self.element, stride) {
            Ok(arrays) => return Ok(arrays),
            Err(found) => found,
        };
        let nnz = found.nnz();
        let bytes = (nnz as u64).saturating_mul((size_of::<u32>() + stride * self.element.bytes()) as u64);
        memory::check_large(|| "the product".into(), bytes)?;
        let (mut rows, mut values) = (vec![0; nnz], AnyValues::zeros(self.element, nnz * stride));
        memory::prefer_large(&mut rows);
        with_values!(AnyValues, &mut values, values => memory::prefer_large(values));
        with_numbers!(self, |typed, by| typed.sum(found, by, Room::new(&mut rows, &mut values, stride)))?;
        Ok((rows, values))
    }
}
