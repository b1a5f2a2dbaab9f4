//! Lines of scalars times D, in tiles of lines that have rows of D in common: a work-group stages
//! panels of D in local memory, for all lines of its tile. Kernel: `cl/apply/spmm/panels.cl`.
//!
//! A term takes a read of local memory, where otherwise it takes one of the second cache. Lines of
//! any length are added by one slot.
use super::{
    Dense, Operands, Request,
    lines::{Entries, Variants},
    tuning::{Pass, Slot},
};
use crate::{
    Device, Element, Result,
    device::{Buffer, Grid, In, InOut, Options, Scalar, at_most, kernel},
    device::{DeviceInfo, Work},
    element::Scaling,
    primitives::segmented_reduce::RUN_PIECE,
    resident::PatternArrays,
    tuning::Numbers,
    vector::{line_sums::Stored, lines::Index},
};

kernel! {
    struct SumPanels<T: Element> = "sum_panels"
        in "apply/spmm/vectors.cl", "apply/spmm/panels.cl"
    {
        line_ptr: In<u32>,
        other: In<u32>,
        source: In<u32>,
        values: In<T>,
        d: In<T>,
        c: InOut<T>,
        lines: u32,
        rows: u32,
        columns: u32,
        shares_last: u32,
        d_leading: u32,
        c_leading: u32,
        stride: u32,
        alpha: Scalar<T::Arithmetic>,
        beta: Scalar<T::Arithmetic>,
    }
}

/// Most bytes of local memory of a work-group: an NVIDIA GPU has no more for arrays of a kernel.
const MOST_LOCAL_BYTES: u64 = 48 << 10;

pub(super) struct PanelSums<T: Element> {
    /// For C by rows, and by columns.
    kernels: [Variants<SumPanels<'static, T>>; 2],
    lines: usize,
    numbers: Numbers,
    n: usize,
}

impl<T: Element> PanelSums<T> {
    /// Kernels for the lines of an index.
    pub fn new(device: &Device, index: &Index, request: &Request) -> Result<Self> {
        let (numbers, n, pattern) = (request.numbers, request.n, index.pattern());
        at_most("rows of a dense matrix in panels", pattern.nrows as u64, u64::from(u32::MAX >> 1))?;
        let local_bytes = device.info().local_bytes;
        let kernels = |by_columns| {
            let options = |Pass { slot, .. }: &Pass| -> Options {
                slot.options::<T>(request.semiring, by_columns)
                    .define("THROUGH", u8::from(request.through))
                    .define("LINES", numbers.dense_panel_lines)
                    .define("ROWS", rows::<T>(slot, &numbers, local_bytes))
                    .define("PIECE", RUN_PIECE)
                    // No line has more entries than there are rows of D.
                    .define("CUT", u8::from(pattern.nrows > RUN_PIECE))
            };
            Variants::over(device, |aligned| slot::<T>(&numbers, n, aligned).map(|slot| pass(slot, n)), options)
        };
        Ok(Self { kernels: [kernels(false)?, kernels(true)?], lines: pattern.ncols, numbers, n })
    }

    /// Requests the kernel that writes C by columns, or by rows.
    pub fn ask(&self, device: &Device, c_by_columns: bool) {
        if self.lines > 0 {
            self.kernels[usize::from(c_by_columns)].ask(device);
        }
    }

    /// C = alpha·A·D + beta·C for D by rows.
    pub fn run(
        &self,
        work: &Work,
        Entries { line_ptr, other, source }: &Entries<'_>,
        &Operands { a: Stored { values, stride }, d, scaling: Scaling { alpha, beta } }: &Operands<'_, T>,
        c: Dense<&mut Buffer<T>>,
    ) -> Result<()> {
        let leading: &[usize] = if c.by_columns { &[d.leading] } else { &[d.leading, c.leading] };
        for (Pass { slot, .. }, kernel) in self.kernels[usize::from(c.by_columns)].for_leading(leading) {
            let groups = self.lines.div_ceil(tile_lines(slot, &self.numbers)) * self.n.div_ceil(slot.width());
            at_most("work-groups of a product with a dense matrix", groups as u64, u32::MAX.into())?;
            let args = SumPanels {
                line_ptr,
                other,
                source,
                values,
                d: d.values,
                c: &mut *c.values,
                lines: self.lines as u32,
                rows: d.rows as u32,
                columns: self.n as u32,
                shares_last: slot.shares_last(self.numbers.dense_cache_bytes, &d),
                d_leading: d.leading as u32,
                c_leading: c.leading as u32,
                stride,
                alpha,
                beta,
            };
            kernel.launch(work, Grid::groups(groups, slot.group_size), args)?;
        }
        Ok(())
    }
}

/// What is expected of panels.
pub(super) struct Expected {
    /// Lines of a tile.
    pub tile: usize,
    /// Uses of 100 rows of D that a tile stages, if entries are anywhere.
    pub use_percent: u64,
    /// Whether slots have as many columns as they can, and every compute unit has a work-group.
    pub fill: bool,
}

impl Expected {
    /// For n columns of D and the lines of a pattern.
    pub fn new<T: Element>(info: &DeviceInfo, numbers: &Numbers, pattern: &PatternArrays, n: usize) -> Self {
        let aligned = slot::<T>(numbers, n, true).or_else(|| slot::<T>(numbers, n, false));
        let Some(slot) = aligned else { return Self { tile: 0, use_percent: 0, fill: false } };
        let (tile, places) = (tile_lines(&slot, numbers), pattern.nrows as u128 * pattern.ncols as u128);
        let groups = pattern.ncols.div_ceil(tile) * n.div_ceil(slot.width());
        Self {
            tile,
            use_percent: (100 * pattern.nnz() as u128 * tile as u128 / places.max(1)) as u64,
            fill: n >= slot.width() && slot.lanes == numbers.dense_lanes && groups >= info.compute_units as usize,
        }
    }
}

/// The slot for n columns. With `aligned`, rows of D and C begin at multiples of a vector, which n
/// must be too; `None` if that is of no use. Otherwise items have as many columns, one by one.
fn slot<T: Element>(numbers: &Numbers, n: usize, aligned: bool) -> Option<Slot> {
    let of_item = (numbers.dense_vector_bytes / size_of::<T::Arithmetic>()).clamp(1, 16);
    if n == 0 || aligned && (of_item == 1 || numbers.dense_lanes == 1 || !n.is_multiple_of(of_item)) {
        return None;
    }
    let (vec, most) = if aligned { (of_item, 1) } else { (1, of_item) };
    let units = n.div_ceil(vec);
    let lanes = units.next_power_of_two().min(numbers.dense_lanes);
    let group_size = (numbers.dense_panel_group / numbers.dense_lanes).max(1) * lanes;
    let vectors = units.div_ceil(lanes).min(most);
    Some(Slot { group_size, lanes, vec, vectors, aligned, ahead: numbers.dense_panel_ahead })
}

fn pass(slot: Slot, n: usize) -> Vec<Pass> {
    vec![Pass { column: 0, columns: n, share: slot.width(), slot }]
}

fn tile_lines(slot: &Slot, numbers: &Numbers) -> usize {
    slot.slots() * numbers.dense_panel_lines
}

/// Rows of a panel: those that fit local memory beside the state of lines. The sums of a line of
/// each slot have room in them.
fn rows<T: Element>(slot: &Slot, numbers: &Numbers, local_bytes: u64) -> usize {
    let of_lines = 6 * size_of::<u32>() * tile_lines(slot, numbers) + size_of::<u32>() * slot.slots();
    let free = (local_bytes.min(MOST_LOCAL_BYTES) as usize).saturating_sub(of_lines);
    let fitting = free / (slot.width() * size_of::<T::Arithmetic>());
    numbers.dense_panel_rows.min(fitting).max(slot.slots() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceKind;

    #[test]
    fn panels_fit_every_device() {
        fn check<T: Element>(n: usize) {
            let numbers = Numbers::of(DeviceKind::Gpu);
            for slot in [false, true].into_iter().filter_map(|aligned| slot::<T>(&numbers, n, aligned)) {
                let rows = rows::<T>(&slot, &numbers, 32 << 10);
                let panel = rows * slot.width() * size_of::<T::Arithmetic>();
                let of_lines = tile_lines(&slot, &numbers) * 24 + slot.slots() * 4;
                assert!(panel + of_lines <= 32 << 10, "{n}: {slot:?}");
                assert!(rows > slot.slots() && slot.width() <= 2 * n.next_multiple_of(slot.vec), "{n}: {slot:?}");
            }
        }
        for n in [1, 2, 3, 5, 32, 64, 70, 128, 500] {
            check::<f64>(n);
            check::<f32>(n);
            check::<half::f16>(n);
        }
    }

    #[test]
    fn slots_are_as_wide_as_a_row_of_a_panel() {
        let gpu = Numbers::of(DeviceKind::Gpu);
        let sides = |slot: Option<Slot>| slot.map(|slot| (slot.group_size, slot.lanes, slot.vec, slot.vectors));
        assert_eq!(sides(slot::<f32>(&gpu, 14000, true)), Some((512, 32, 4, 1)));
        assert_eq!(sides(slot::<f64>(&gpu, 14000, true)), Some((512, 32, 2, 1)));
        assert_eq!(sides(slot::<f32>(&gpu, 14001, true)), None);
        assert_eq!(sides(slot::<f32>(&gpu, 14001, false)), Some((512, 32, 1, 4)));
        assert_eq!(sides(slot::<f32>(&gpu, 3, false)), Some((64, 4, 1, 1)));
        assert_eq!(sides(slot::<f32>(&gpu, 0, false)), None);
    }
}
