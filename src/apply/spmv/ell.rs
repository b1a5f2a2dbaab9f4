//! ELL and sliced ELL: padded rows, a work-item for each scalar row. Kernel:
//! `cl/apply/spmv/ell.cl`.
//!
//! Neighbouring items of a GPU read neighbouring places. ELL is one slice of all rows.
use super::{
    Format, Layout, Rows, Sums,
    slices::{Counted, Kernels, Profile, Slices, check_places},
};
use crate::{
    Element, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Scalar, Work, kernel},
    element::Scaling,
    vector::line_sums::Stored,
};

kernel! {
    struct SumSlices<T: Element, V: Element> = "sum_slices" in "ptx.cl", "once.cl", "apply/spmv/values.cl", "apply/spmv/row.cl", "apply/spmv/ell.cl" {
        slice_ptr: In<u64>,
        col: In<u32>,
        source: In<u32>,
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
    slices: Slices,
    kernel: Kernel<SumSlices<'static, T, V>>,
    group_size: usize,
}

impl<T: Element, V: Element> Ell<T, V> {
    /// Converts the rows to [`Format::Ell`] or [`Format::SlicedEll`].
    pub fn new(work: &Work, rows: &Rows, format: Format, kernels: &Kernels, counted: Counted) -> Result<Self> {
        let device = rows.device();
        let group_size = device.info().numbers().vector_group;
        let Profile { rows: count, entries, longest, sliced_places } = counted.profile;
        let places = if format == Format::Ell { counted.profile.ell_places() } else { sliced_places };
        check_places(format, [count, entries, longest], places, (rows.block.area() * size_of::<T>()) as u64)?;
        let slices = match format {
            Format::Ell => kernels.whole(work, rows, &counted)?,
            _ => kernels.sliced(work, rows, counted)?,
        };
        // The values of a place are never at its own number, unless they are packed.
        let options = rows.options_through::<T, V>(Options::group_size(group_size), true);
        let kernel = Kernel::new(device, &rows.by_item(options, places, slices.height, longest))?;
        Ok(Self { rows: rows.len(), sums: rows.sums(), slices, kernel, group_size })
    }
}

impl<T: Element, V: Element> Sums<T, V> for Ell<T, V> {
    fn run(
        &self,
        work: &Work,
        Stored { values, stride }: Stored<'_, T>,
        x: &Buffer<V>,
        Scaling { alpha, beta }: Scaling<V::Arithmetic>,
        y: &mut Buffer<V>,
    ) -> Result<()> {
        let Slices { height, ptr: slice_ptr, col, source } = &self.slices;
        let (rows, height) = (self.rows as u32, *height as u32);
        let args = SumSlices { slice_ptr, col, source, values, x, y, rows, height, stride, alpha, beta };
        self.kernel.launch(work, Grid::items(self.sums, self.group_size), args)
    }

    fn places(&self) -> usize {
        self.slices.source.len()
    }

    fn layout(&self) -> Layout {
        Layout::Sliced { heads: self.places(), height: self.slices.height }
    }

    fn source(&self) -> Option<&Buffer<u32>> {
        Some(&self.slices.source)
    }

    fn bytes(&self) -> u64 {
        let Slices { ptr, col, source, .. } = &self.slices;
        ptr.bytes() + col.bytes() + source.bytes()
    }
}
