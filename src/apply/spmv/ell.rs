//! ELL and sliced ELL: padded rows, a work-item for each scalar row. Kernel:
//! `cl/apply/spmv/ell.cl`.
//!
//! On a GPU neighbouring items read neighbouring places. ELL is a single slice of all rows. The
//! kernel of sliced ELL on CPUs is in `slice_vectors`.
use super::{
    Format, Layout, Rows, Sums,
    diagonals::Diagonals,
    profile::{Profile, check_places},
    slice_vectors::{self, SliceVectors},
    slices::{Columns, CountedSlices, SliceKernels, Slices},
};
use crate::{
    Result,
    device::{Buffer, Column, Elem, Grid, In, InOut, Kernel, Maybe, Options, Scalar, Sum, Value, Work, kernel},
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
    vector::line_sums::Stored,
};

kernel! {
    struct SumSlices = "sum_slices" in "ptx.cl", "once.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/ell.cl" {
        slice_ptr: In<u64>,
        col: In<Column>,
        first_col: Maybe<u32>,
        source: Maybe<u32>,
        values: In<Value>,
        x: In<Elem>,
        y: InOut<Elem>,
        rows: u32,
        height: u32,
        stride: u32,
        alpha: Scalar<Sum>,
        beta: Scalar<Sum>,
    }
}

pub(super) struct Ell {
    rows: usize,
    /// Number of sums.
    sums: usize,
    /// Rows of a slice.
    height: usize,
    ptr: Buffer<u64>,
    source: Buffer<u32>,
    /// Whether executions leave the index of the values unread.
    packed: bool,
    columns: Columns,
    shares: Shares,
    diagonals: Option<Diagonals>,
    group_size: usize,
}

/// The division of the rows among work-items.
enum Shares {
    Sum(Kernel<SumSlices<'static>>),
    Slices(SliceVectors),
}

impl Ell {
    /// Converts the rows to [`Format::Ell`] or [`Format::SlicedEll`].
    pub fn new(
        work: &Work,
        rows: &Rows,
        format: Format,
        kernels: &SliceKernels,
        counted: CountedSlices,
    ) -> Result<Self> {
        let device = rows.device();
        let group_size = device.info().vector_group();
        let Profile { rows: count, entries, longest, sliced_places, .. } = counted.profile;
        let places = if format == Format::Ell { counted.profile.ell_places() } else { sliced_places };
        check_places(format, [count, entries, longest], places, rows.value_bytes())?;
        let slices = match format {
            Format::Ell => kernels.whole(work, rows, counted)?,
            _ => kernels.sliced(work, rows, counted)?,
        };
        let in_vectors = format == Format::SlicedEll && longest <= RUN_PIECE as u64 && slice_vectors::suits(rows);
        // Unless they are packed, values of padded places are always read through the index.
        let options = rows.options_through(Options::group_size(if in_vectors { 1 } else { group_size }), true);
        let Slices { height, ptr, col: columns, diagonals, source } = slices;
        let options = columns.options(rows.by_item(options, places, height, longest, columns.near.is_some()));
        let shares = match in_vectors {
            true => Shares::Slices(SliceVectors::new(rows, &options, diagonals.is_some())?),
            false => Shares::Sum(Kernel::new(device, &options)?),
        };
        let (count, sums, packed) = (rows.len(), rows.sums(), rows.packed);
        Ok(Self { rows: count, sums, height, ptr, source, packed, columns, shares, diagonals, group_size })
    }
}

impl Sums for Ell {
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_>,
        x: &Buffer,
        scaling: Scaling,
        y: &mut Buffer,
    ) -> Result<()> {
        let Self { height, ptr: slice_ptr, columns, .. } = self;
        let (col, first_col) = (&columns.col, columns.first());
        let source = (!self.packed).then_some(&self.source);
        let kernel = match &self.shares {
            Shares::Sum(kernel) => kernel,
            Shares::Slices(slices) => {
                let columns = (columns, self.diagonals.as_ref());
                return slices.launch(work, slice_ptr, columns, (values, x), scaling, y);
            }
        };
        let Scaling { alpha, beta } = scaling;
        let (rows, height) = (self.rows as u32, *height as u32);
        let args = SumSlices { slice_ptr, col, first_col, source, values, x, y, rows, height, stride, alpha, beta };
        kernel.launch(work, Grid::items(self.sums, self.group_size), args)
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
        let diagonals = self.diagonals.as_ref().map_or(0, Diagonals::bytes);
        self.ptr.bytes() + self.columns.bytes() + diagonals + self.source.bytes()
    }
}
