//! ELL and sliced ELL: padded rows, a work-item for each scalar row. Kernel:
//! `cl/apply/spmv/ell.cl`.
//!
//! On a GPU neighbouring items read neighbouring places. ELL is a single slice of all rows. The
//! kernel of sliced ELL on CPUs is in `slice_vectors`.
use super::{
    Format, Layout, PackedOrder, Rows, Sums,
    profile::{Profile, check_places},
    slice_vectors::{self, SliceVectors},
    slices::{CountedSlices, SliceKernels, Slices},
    terms::{InTerms, RowTerms},
};
use crate::{
    Result,
    device::{Buffer, Column, Grid, In, Kernel, Maybe, Options, Work, kernel},
    primitives::segmented_reduce::RUN_PIECE,
    vector::{InOutScaled, ScaledInto, line_sums::Stored},
};

kernel! {
    struct SumSlices = "sum_slices" in "ptx.cl", "once.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/ell.cl" {
        slice_ptr: In<u64>,
        terms: InTerms<Column>,
        first_col: Maybe<u32>,
        y: InOutScaled,
        rows: u32,
        height: u32,
    }
}

pub(super) struct Ell {
    rows: usize,
    /// Number of sums.
    sums: usize,
    slices: Slices,
    /// Whether executions leave the index of the values unread.
    packed: bool,
    shares: Shares,
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
        // Values of padded places are always read through the index, unless the values are packed.
        let options = rows.options_through(Options::group_size(if in_vectors { 1 } else { group_size }), true);
        let options = rows.by_item(options, places, slices.height, longest, slices.col.near.is_some());
        let options = slices.col.options(options);
        let shares = match in_vectors {
            true => Shares::Slices(SliceVectors::new(rows, &options, slices.diagonals.is_some())?),
            false => Shares::Sum(Kernel::new(device, &options)?),
        };
        Ok(Self { rows: rows.len(), sums: rows.sums(), slices, packed: rows.packed, shares, group_size })
    }
}

impl Sums for Ell {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let Self { slices: Slices { height, ptr: slice_ptr, col: columns, source, .. }, .. } = self;
        match &self.shares {
            Shares::Sum(kernel) => {
                let terms = RowTerms { col: &columns.col, source: (!self.packed).then_some(source), a, x };
                let (first_col, rows, height) = (columns.first(), self.rows as u32, *height as u32);
                let args = SumSlices { slice_ptr, terms, first_col, y, rows, height };
                kernel.launch(work, Grid::items(self.sums, self.group_size), args)
            }
            Shares::Slices(sums) => sums.run(work, &self.slices, a.values, x, y),
        }
    }

    fn order(&self) -> PackedOrder<'_> {
        let Slices { height, source, .. } = &self.slices;
        let layout = Layout::Sliced { heads: source.len(), height: *height };
        PackedOrder { places: source.len(), source: Some(source), layout }
    }

    fn bytes(&self) -> u64 {
        self.slices.bytes()
    }
}
