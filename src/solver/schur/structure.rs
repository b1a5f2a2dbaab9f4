//! Finds the pattern of the Schur complement S, once for a plan. On and below the diagonal, S has
//! the blocks of Z·Zᵀ and of U, and all blocks of the diagonal. Kernels:
//! `cl/solver/schur/structure.cl`.
use super::base::Slots;
use crate::{
    Error, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, kernel, kernels},
    primitives::{
        scan::{Scan, ScanTuning},
        transpose::Transposed,
    },
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    in "solver/schur/structure.cl":
    struct MakeSlots = "make_slots" {
        u_col_ptr: In<u32>,
        u_row_idx: In<u32>,
        p_col_ptr: In<u32>,
        p_row_idx: In<u32>,
        slot_row: Out<u32>,
        source: Out<u32>,
        place: Out<u32>,
        kind: Out<u32>,
        extra: Out<u32>,
        n: u32,
        slots: u32,
    }
    struct PlaceSlots = "place_slots" {
        slot_row: In<u32>,
        extra: In<u32>,
        place: InOut<u32>,
        s_row_idx: Out<u32>,
        slots: u32,
    }
    struct PlaceEntries = "place_entries" {
        u_col_ptr: In<u32>,
        p_col_ptr: In<u32>,
        p_row_idx: In<u32>,
        slot_row: In<u32>,
        extra: In<u32>,
        p_place: Out<u32>,
        s_row_idx: Out<u32>,
        n: u32,
        p_nnz: u32,
    }
    struct SColumns = "s_columns" {
        u_col_ptr: In<u32>,
        p_col_ptr: In<u32>,
        extra: In<u32>,
        s_col_ptr: Out<u32>,
        n: u32,
    }
    pub(super) struct ScatterColumns = "scatter_columns" {
        t_row_idx: In<u32>,
        t_source: In<u32>,
        column: Out<u32>,
        w_nnz: u32,
    }
}

/// The pattern of S, and the entries of S that correspond to entries of the product Z·Zᵀ and of U.
pub(super) struct Structure {
    pub pattern: Arc<PatternArrays>,
    /// The entry of S for each entry of the product Z·Zᵀ.
    pub places: Buffer<u32>,
    pub slots: Slots,
}

kernels! {
    /// The kernels that find the structure.
    pub(super) struct Kernels {
        new make_slots: MakeSlots,
        new place_slots: PlaceSlots,
        new place_entries: PlaceEntries,
        new s_columns: SColumns,
    }
}

/// Requests the kernels.
pub(super) fn kernels(device: &Device) -> Result<Kernels> {
    Kernels::new(device, &Options::group_size(device.info().elementwise_group()))
}

impl Structure {
    /// Finds the structure. U must be square. The pattern of the product must have the size of U
    /// and no entries above the diagonal.
    pub fn new(work: &Work, u: &PatternArrays, product: &PatternArrays) -> Result<Self> {
        let (device, cols, n) = (work.device(), u.ncols, u.ncols as u32);
        let (u_col_ptr, p_col_ptr, p_row_idx) = (&u.col_ptr, &product.col_ptr, &product.row_idx);
        let Kernels { make_slots, place_slots, place_entries, s_columns } = kernels(device)?;
        let group_size = device.info().elementwise_group();

        let slot_count = u.nnz() + cols;
        if slot_count as u64 > PatternArrays::MAX_NNZ {
            return Err(Error::TooLarge {
                what: "number of blocks of U and of its diagonal",
                value: slot_count as u64,
                limit: PatternArrays::MAX_NNZ,
            });
        }
        let slots = slot_count as u32;
        let words = || work.buffer::<u32>(slot_count);
        let (mut slot_row, mut source, mut place, mut kind) = (words()?, words()?, words()?, words()?);
        let mut extra = work.buffer(slot_count + 1)?;
        let args = MakeSlots {
            u_col_ptr,
            u_row_idx: &u.row_idx,
            p_col_ptr,
            p_row_idx,
            slot_row: &mut slot_row,
            source: &mut source,
            place: &mut place,
            kind: &mut kind,
            extra: &mut extra,
            n,
            slots,
        };
        make_slots.launch(work, Grid::items(slot_count + 1, group_size), args)?;
        scan(device)?.run(work, &mut extra)?;
        let what = "blocks of U and diagonal blocks alone";
        let s_nnz = product.nnz() + work.read_count(&extra, slot_count, what, slot_count as u64)? as usize;
        PatternArrays::check_nnz(s_nnz as u64)?;

        let (mut s_col_ptr, mut s_row_idx) = (work.buffer(cols + 1)?, work.buffer(s_nnz)?);
        let mut places = work.buffer(product.nnz())?;
        let args =
            PlaceSlots { slot_row: &slot_row, extra: &extra, place: &mut place, s_row_idx: &mut s_row_idx, slots };
        place_slots.launch(work, Grid::items(slot_count, group_size), args)?;
        let args = PlaceEntries {
            u_col_ptr,
            p_col_ptr,
            p_row_idx,
            slot_row: &slot_row,
            extra: &extra,
            p_place: &mut places,
            s_row_idx: &mut s_row_idx,
            n,
            p_nnz: product.nnz() as u32,
        };
        place_entries.launch(work, Grid::items(product.nnz(), group_size), args)?;
        let args = SColumns { u_col_ptr, p_col_ptr, extra: &extra, s_col_ptr: &mut s_col_ptr, n };
        s_columns.launch(work, Grid::items(cols + 1, group_size), args)?;
        let pattern = PatternArrays::new(device, cols, cols, s_col_ptr, s_row_idx);
        Ok(Self { pattern, places, slots: Slots { place, source, kind } })
    }
}

/// The kernel of [`columns`].
pub(super) fn scatter(device: &Device) -> Result<Kernel<ScatterColumns<'static>>> {
    Kernel::new(device, &Options::group_size(device.info().elementwise_group()))
}

/// The column of each entry, from the transpose.
pub(super) fn columns(work: &Work, transposed: &Transposed) -> Result<Buffer<u32>> {
    let (nnz, kernel) = (transposed.pattern.nnz(), scatter(work.device())?);
    let mut column = work.buffer(nnz)?;
    let (t_row_idx, t_source) = (&transposed.pattern.row_idx, &transposed.source);
    let args = ScatterColumns { t_row_idx, t_source, column: &mut column, w_nnz: nnz as u32 };
    kernel.launch(work, Grid::items(nnz, work.device().info().elementwise_group()), args)?;
    Ok(column)
}

/// A scan for exclusive sums.
pub(super) fn scan(device: &Device) -> Result<Scan<u32>> {
    Scan::new(device, ScanTuning::new(device.info()))
}
