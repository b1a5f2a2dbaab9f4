//! ELL and sliced ELL: padded rows, a work-item for each scalar row. Kernel:
//! `cl/apply/spmv/ell.cl`.
//!
//! Neighbouring items of a GPU read neighbouring places. ELL is one slice of all rows. On CPUs
//! `slice_vectors` has the kernel of sliced ELL.
use super::{
    Format, Layout, Rows, Sums,
    diagonals::Diagonals,
    profile::{Profile, check_places},
    slice_vectors::{self, SliceVectors},
    slices::{Columns, Counted, Kernels, Slices},
};
use crate::{
    Element, Result, Word,
    device::{Buffer, Grid, In, InOut, Kernel, Maybe, Options, Scalar, Work, kernel},
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
    vector::line_sums::Stored,
};

kernel! {
    struct SumSlices<T: Element, V: Element, C: Word> = "sum_slices" in "ptx.cl", "once.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/ell.cl" {
        slice_ptr: In<u64>,
        col: In<C>,
        first_col: Maybe<u32>,
        source: Maybe<u32>,
        values: In<T>,
        x: In<V>,
        y: InOut<V>,
        rows: u32,
        height: u32,
        stride: u32,
        alpha: Scalar<V::Arithmetic>,
        beta: Scalar<V::Arithmetic>,
    }
}

pub(super) struct Ell<T: Element, V: Element> {
    rows: usize,
    /// Number of sums.
    sums: usize,
    /// Rows of a slice.
    height: usize,
    ptr: Buffer<u64>,
    source: Buffer<u32>,
    /// Whether executions do not read it.
    packed: bool,
    places: Places<T, V>,
    diagonals: Option<Diagonals>,
    group_size: usize,
}

/// The columns of places, see [`Columns`], and the kernel that reads them.
enum Places<T: Element, V: Element> {
    Far(Shares<T, V, u32>, Buffer<u32>),
    Near { shares: Shares<T, V, u16>, first: Buffer<u32>, distance: Buffer<u16> },
}

/// What a work-item takes.
enum Shares<T: Element, V: Element, C: Word> {
    Sum(Kernel<SumSlices<'static, T, V, C>>),
    Slices(SliceVectors<T, V, C>),
}

impl<T: Element, V: Element> Ell<T, V> {
    /// Converts the rows to [`Format::Ell`] or [`Format::SlicedEll`].
    pub fn new(work: &Work, rows: &Rows, format: Format, kernels: &Kernels, counted: Counted) -> Result<Self> {
        let device = rows.device();
        let group_size = device.info().numbers().vector_group;
        let Profile { rows: count, entries, longest, sliced_places, .. } = counted.profile;
        let places = if format == Format::Ell { counted.profile.ell_places() } else { sliced_places };
        check_places(format, [count, entries, longest], places, (rows.block.area() * size_of::<T>()) as u64)?;
        let slices = match format {
            Format::Ell => kernels.whole(work, rows, counted)?,
            _ => kernels.sliced(work, rows, counted)?,
        };
        let in_vectors =
            format == Format::SlicedEll && longest <= RUN_PIECE as u64 && slice_vectors::suits::<T, V>(rows);
        // The values of a place are never at its own number, unless they are packed.
        let options = rows.options_through::<T, V>(Options::group_size(if in_vectors { 1 } else { group_size }), true);
        let near = matches!(slices.col, Columns::Near { .. });
        let options = rows.by_item(options, places, slices.height, longest, near);
        let Slices { height, ptr, col, diagonals, source } = slices;
        let ways = (in_vectors, diagonals.is_some());
        let places = match col {
            Columns::Far(col) => Places::Far(Shares::new(rows, &options, ways)?, col),
            Columns::Near { first, distance, rows: of_first } => {
                let options = options.define("NEAR_ROWS", of_first);
                Places::Near { shares: Shares::new(rows, &options, ways)?, first, distance }
            }
        };
        let (count, sums, packed) = (rows.len(), rows.sums(), rows.packed);
        Ok(Self { rows: count, sums, height, ptr, source, packed, places, diagonals, group_size })
    }
}

impl<T: Element, V: Element, C: Word> Shares<T, V, C> {
    fn new(rows: &Rows, options: &Options, (in_vectors, on_diagonals): (bool, bool)) -> Result<Self> {
        Ok(match in_vectors {
            true => Self::Slices(SliceVectors::new(rows, options, on_diagonals)?),
            false => Self::Sum(Kernel::new(rows.device(), options)?),
        })
    }
}

impl<T: Element, V: Element> Ell<T, V> {
    fn launch<C: Word>(
        &self,
        work: &Work,
        shares: &Shares<T, V, C>,
        (col, first_col): (&Buffer<C>, Option<&Buffer<u32>>),
        (Stored { values, stride }, x, scaling, y): Operands<'_, T, V>,
    ) -> Result<()> {
        let Self { height, ptr: slice_ptr, .. } = self;
        let source = (!self.packed).then_some(&self.source);
        let kernel = match shares {
            Shares::Sum(kernel) => kernel,
            Shares::Slices(slices) => {
                let columns = (col, first_col, self.diagonals.as_ref());
                return slices.launch(work, slice_ptr, columns, (values, x), scaling, y);
            }
        };
        let Scaling { alpha, beta } = scaling;
        let (rows, height) = (self.rows as u32, *height as u32);
        let args = SumSlices { slice_ptr, col, first_col, source, values, x, y, rows, height, stride, alpha, beta };
        kernel.launch(work, Grid::items(self.sums, self.group_size), args)
    }
}

/// What an execution takes.
type Operands<'a, T, V> = (Stored<'a, T>, &'a Buffer<V>, Scaling<<V as Element>::Arithmetic>, &'a mut Buffer<V>);

impl<T: Element, V: Element> Sums<T, V> for Ell<T, V> {
    fn run(
        &self,
        work: &Work,
        a: Stored<'_, T>,
        x: &Buffer<V>,
        scaling: Scaling<V::Arithmetic>,
        y: &mut Buffer<V>,
    ) -> Result<()> {
        let of = (a, x, scaling, y);
        match &self.places {
            Places::Near { shares, first, distance } => self.launch(work, shares, (distance, Some(first)), of),
            Places::Far(shares, col) => self.launch(work, shares, (col, None), of),
        }
    }

    fn places(&self) -> usize {
        self.source.len()
    }

    fn layout(&self) -> Layout {
        Layout::Sliced { heads: self.places(), height: self.height }
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        Some(&self.source)
    }

    fn bytes(&self) -> u64 {
        let columns = match &self.places {
            Places::Far(_, col) => col.bytes(),
            Places::Near { first, distance, .. } => first.bytes() + distance.bytes(),
        };
        let diagonals = self.diagonals.as_ref().map_or(0, Diagonals::bytes);
        self.ptr.bytes() + columns + diagonals + self.source.bytes()
    }
}
