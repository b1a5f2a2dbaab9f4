//! Where the blocks of S are, prepared once: those of Z·Zᵀ and of U on and below the diagonal, and the whole diagonal. Kernels:
//! `cl/solver/schur/structure.cl`.
use super::base::Slots;
use crate::{
    Error, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, source},
    primitives::{
        scan::{Scan, ScanTuning},
        transpose::Transposed,
    },
    resident::PatternArrays,
};
use std::sync::Arc;

type SlotsSignature = (In<u32>, In<u32>, In<u32>, In<u32>, Out<u32>, Out<u32>, Out<u32>, Out<u32>, Out<u32>, u32, u32);
type PlaceSlotsSignature = (In<u32>, In<u32>, InOut<u32>, Out<u32>, u32);
type PlaceEntriesSignature = (In<u32>, In<u32>, In<u32>, In<u32>, In<u32>, Out<u32>, Out<u32>, u32, u32);
type ColumnsSignature = (In<u32>, In<u32>, In<u32>, Out<u32>, u32);
pub(super) type ScatterSignature = (In<u32>, In<u32>, Out<u32>, u32);

/// One item per entry: nothing here depends on the size.
const GROUP_SIZE: usize = 64;

/// The pattern of S, and the way there from the product's and from U's.
pub(super) struct Structure {
    pub pattern: Arc<PatternArrays>,
    /// Entry of S for each entry of the product.
    pub places: Buffer<u32>,
    pub slots: Slots,
}

/// The kernels that find it.
pub(super) struct Kernels {
    make_slots: Kernel<SlotsSignature>,
    place_slots: Kernel<PlaceSlotsSignature>,
    place_entries: Kernel<PlaceEntriesSignature>,
    s_columns: Kernel<ColumnsSignature>,
}

impl Kernels {
    pub fn new(device: &Device) -> Result<Self> {
        let (source, options) = (source!("solver/schur/structure.cl"), Options::group_size(GROUP_SIZE));
        Ok(Self {
            make_slots: device.kernel(source, &options, "make_slots")?,
            place_slots: device.kernel(source, &options, "place_slots")?,
            place_entries: device.kernel(source, &options, "place_entries")?,
            s_columns: device.kernel(source, &options, "s_columns")?,
        })
    }
}

impl Structure {
    /// U is square, the product's pattern as large and without entries above the diagonal.
    pub fn new(work: &Work, u: &PatternArrays, product: &PatternArrays) -> Result<Self> {
        let (device, n) = (work.device(), u.ncols);
        let Kernels { make_slots, place_slots, place_entries, s_columns } = Kernels::new(device)?;

        let slots = u.nnz() + n;
        if slots as u64 > PatternArrays::MAX_NNZ {
            return Err(Error::TooLarge {
                what: "number of blocks of U and of its diagonal",
                value: slots as u64,
                limit: PatternArrays::MAX_NNZ,
            });
        }
        let (mut slot_row, mut of_u, mut place) = (work.buffer(slots)?, work.buffer(slots)?, work.buffer(slots)?);
        let (mut kind, mut extra) = (work.buffer(slots)?, work.buffer(slots + 1)?);
        make_slots.launch(
            work,
            Grid::items(slots + 1, GROUP_SIZE),
            (
                &u.col_ptr,
                &u.row_idx,
                &product.col_ptr,
                &product.row_idx,
                &mut slot_row,
                &mut of_u,
                &mut place,
                &mut kind,
                &mut extra,
                n as u32,
                slots as u32,
            ),
        )?;
        scan(device)?.run(work, &mut extra)?;
        let extras = work.read_count(&extra, slots, "blocks of U and diagonal blocks alone", slots as u64)? as usize;
        let (p_nnz, nnz) = (product.nnz(), product.nnz() + extras);
        PatternArrays::check_nnz(nnz as u64)?;

        let (mut col_ptr, mut row_idx, mut places) = (work.buffer(n + 1)?, work.buffer(nnz)?, work.buffer(p_nnz)?);
        let args = (&slot_row, &extra, &mut place, &mut row_idx, slots as u32);
        place_slots.launch(work, Grid::items(slots, GROUP_SIZE), args)?;
        let (n32, p32) = (n as u32, p_nnz as u32);
        let args =
            (&u.col_ptr, &product.col_ptr, &product.row_idx, &slot_row, &extra, &mut places, &mut row_idx, n32, p32);
        place_entries.launch(work, Grid::items(p_nnz, GROUP_SIZE), args)?;
        let args = (&u.col_ptr, &product.col_ptr, &extra, &mut col_ptr, n32);
        s_columns.launch(work, Grid::items(n + 1, GROUP_SIZE), args)?;
        let pattern = PatternArrays::new(device, n, n, col_ptr, row_idx);
        Ok(Self { pattern, places, slots: Slots { place, source: of_u, kind } })
    }
}

/// The kernel of [`columns`].
pub(super) fn scatter(device: &Device) -> Result<Kernel<ScatterSignature>> {
    device.kernel(source!("solver/schur/structure.cl"), &Options::group_size(GROUP_SIZE), "scatter_columns")
}

/// Column of each entry, told by the transpose.
pub(super) fn columns(work: &Work, transposed: &Transposed) -> Result<Buffer<u32>> {
    let (nnz, kernel) = (transposed.pattern.nnz(), scatter(work.device())?);
    let mut column = work.buffer(nnz)?;
    let args = (&transposed.pattern.row_idx, &transposed.source, &mut column, nnz as u32);
    kernel.launch(work, Grid::items(nnz, GROUP_SIZE), args)?;
    Ok(column)
}

/// Exclusive sums.
pub(super) fn scan(device: &Device) -> Result<Scan<u32>> {
    Scan::new(device, ScanTuning::new(device.info()))
}
