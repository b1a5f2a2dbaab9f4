//! The product on the places of a mask, `C<M> = A·B`, in place of stages 1 to 4: products are looked for from C's side, so that those outside
//! the mask are never formed. Kernels: `cl/product/masked/masked.cl`; the sums are those of `cl/product/blocks/`.
//!
//! A place (i, j) sums the products of row i of A and column j of B, and what both have in common is found by looking up the entries of
//! the shorter in the longer: a *probe* each. Probes are scanned and shared out as the expansion shares out products; the hits are written in
//! the order of the probes, which is that of C and of ascending k, so nothing is sorted. Memory follows the mask and the hits, time the probes:
//! for each place the shorter of row and column.
mod once;

use super::{
    blocks::BlockSums,
    method::Method,
    planned::{PlannedBand, PlannedProduct},
    problem::{Counts, FactorPattern, Transposed},
    tuning::{TileTuning, Tuning},
};
use crate::{
    Element, Error, OperandPair, Result,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Out, Work, at_most, kernel},
    element::Piece,
    primitives::{
        scan::Scan,
        segmented_reduce::RUN_PIECE,
        transpose::{self, Transpose},
    },
    resident::{InPattern, PatternArrays},
};
pub(crate) use once::multiply_masked;
use std::sync::Arc;

kernel! {
    struct MaskProbes = "mask_probes" in "product/masked/masked.cl" {
        a_t_col_ptr: In<u32>,
        b_col_ptr: In<u32>,
        mask: InPattern,
        mask_col: Out<u32>,
        probe_ptr: Out<u64>,
        cols: u32,
        nnz: u32,
    }
}

kernel! {
    struct MaskBands = "mask_bands" in "product/masked/masked.cl" {
        probe_ptr: In<u64>,
        band: Out<u64>,
        share: u64,
        bands: u32,
        nnz: u32,
    }
}

kernel! {
    struct CountHits = "count_hits" in "product/masked/masked.cl" {
        a_t: InPattern,
        b: InPattern,
        mask_row_idx: In<u32>,
        mask_col: In<u32>,
        probe_ptr: In<u64>,
        hits: Out<u32>,
        first_place: u32,
        places: u32,
        probes: u32,
    }
}

kernel! {
    struct WriteHits = "write_hits" in "product/masked/masked.cl" {
        a_t: InPattern,
        a_source: In<u32>,
        b: InPattern,
        b_source: In<u32>,
        mask_row_idx: In<u32>,
        mask_col: In<u32>,
        probe_ptr: In<u64>,
        hits: In<u32>,
        pair: Out<OperandPair>,
        run_end: Out<u32>,
        first_place: u32,
        places: u32,
        probes: u32,
    }
}

kernel! {
    struct MaskRecord = "mask_record" in "product/masked/masked.cl" {
        run_end: In<u32>,
        record: InOut<u32>,
        places: u32,
    }
}

kernel! {
    struct LongPieces = "long_pieces" in "product/esc/gather.cl" {
        run_end: In<u32>,
        piece: Out<Piece>,
        made: InOut<u32>,
        nnz: u32,
    }
}

/// Most probes of a band: offsets are 32 bits, of which one is left so that sums of two cannot wrap.
const MAX_PROBES: u64 = (1 << 31) - 1;

/// op(A)·op(B) on a mask, compiled.
pub(crate) struct Masked {
    probes: Kernel<MaskProbes<'static>>,
    bands: Kernel<MaskBands<'static>>,
    count: Kernel<CountHits<'static>>,
    write: Kernel<WriteHits<'static>>,
    record: Kernel<MaskRecord<'static>>,
    long_pieces: Kernel<LongPieces<'static>>,
    sum_probes: Scan<u64>,
    sum_hits: Scan<u32>,
    transpose: Transpose,
    tiles: TileTuning,
}

/// The rows of A or the columns of B, whichever way they are stored.
struct Lines<'a> {
    factor: &'a FactorPattern,
    /// Where they are stored the other way.
    moved: Option<transpose::Transposed>,
}

/// Places of the mask that are taken at once.
#[derive(Debug, Clone, Copy)]
struct Band {
    first: u32,
    places: u32,
    probes: u32,
}

impl<'a> Lines<'a> {
    /// The rows, or the columns, of the operand.
    fn new(work: &Work, transpose: &Transpose, factor: &'a FactorPattern, rows: bool) -> Result<Self> {
        work.stage("setup");
        let moved = match factor.transposed == rows {
            true => None,
            false => Some(transpose.run(work, &factor.pattern)?),
        };
        Ok(Self { factor, moved })
    }

    fn pattern(&self) -> &PatternArrays {
        self.moved.as_ref().map_or(&self.factor.pattern, |moved| &moved.pattern)
    }

    /// The stored entry behind each; anything where that is itself.
    fn source(&self) -> &Buffer<u32> {
        self.moved.as_ref().map_or(&self.factor.pattern.row_idx, |moved| &moved.source)
    }
}

impl Masked {
    fn new(device: &Device, tuning: &Tuning, (a, b): (&FactorPattern, &FactorPattern)) -> Result<Self> {
        let options = tuning.tiles.options().define("LONG_RUN", tuning.long_run()).define("RUN_PIECE", RUN_PIECE);
        let long_pieces = Kernel::rare(device, &options)?;
        let options = options.define("A_MOVED", u8::from(!a.transposed)).define("B_MOVED", u8::from(b.transposed));
        Ok(Self {
            probes: Kernel::new(device, &options)?,
            bands: Kernel::new(device, &options)?,
            count: Kernel::new(device, &options)?,
            write: Kernel::new(device, &options)?,
            record: Kernel::new(device, &options)?,
            long_pieces,
            transpose: Transpose::new(device)?,
            sum_probes: Scan::new(device, tuning.scan)?,
            sum_hits: Scan::new(device, tuning.scan)?,
            tiles: tuning.tiles,
        })
    }

    fn rows<'a>(&self, work: &Work, a: &'a FactorPattern) -> Result<Lines<'a>> {
        Lines::new(work, &self.transpose, a, true)
    }

    fn columns<'a>(&self, work: &Work, b: &'a FactorPattern) -> Result<Lines<'a>> {
        Lines::new(work, &self.transpose, b, false)
    }

    /// Finds the runs of all places of `mask`, band after band; `take` gets the products of each.
    fn runs<T: Element>(
        &self,
        work: &Work,
        (a, b): (&Lines<'_>, &Lines<'_>),
        mask: &PatternArrays,
        sums: &BlockSums<T>,
        most_probes: u64,
        mut take: impl FnMut(PlannedBand<T>) -> Result<()>,
    ) -> Result<Counts> {
        let (nnz, group_size) = (mask.nnz(), self.tiles.group_size);
        let (mut mask_col, mut probe_ptr) = (work.buffer(nnz)?, work.buffer(nnz + 1)?);
        let args = MaskProbes {
            a_t_col_ptr: &a.pattern().col_ptr,
            b_col_ptr: &b.pattern().col_ptr,
            mask,
            mask_col: &mut mask_col,
            probe_ptr: &mut probe_ptr,
            cols: mask.ncols as u32,
            nnz: nnz as u32,
        };
        self.probes.launch(work, Grid::items(nnz + 1, group_size), args)?;
        self.sum_probes.run(work, &mut probe_ptr)?;
        let mut counts = Counts::default();
        for band in self.cut(work, &probe_ptr, nnz as u32, most_probes)? {
            let found = self.band(work, (a, b), (&mask.row_idx, &mask_col, &probe_ptr), band, sums, &mut counts)?;
            counts.bands += 1;
            take(found)?;
        }
        counts.add(Method::Masked, mask.ncols as u64, counts.products);
        Ok(counts)
    }

    /// The places of the mask in bands of so many probes, more only where a place alone has half as many; one read, one more where there
    /// are several.
    fn cut(&self, work: &Work, probe_ptr: &Buffer<u64>, nnz: u32, most: u64) -> Result<Vec<Band>> {
        if nnz == 0 {
            return Ok(Vec::new());
        }
        let probes = work.read(probe_ptr, nnz as usize, 1)?[0];
        if probes <= most {
            return Ok(vec![Band { first: 0, places: nnz, probes: probes as u32 }]);
        }
        // A band has less than a share and the probes of its last place.
        let share = most.div_ceil(2).max(1);
        let bands = probes.div_ceil(share);
        let mut band = work.buffer(2 * bands as usize + 2)?;
        let grid = Grid::items(bands as usize + 1, self.tiles.group_size);
        let args = MaskBands { probe_ptr, band: &mut band, share, bands: bands as u32, nnz };
        self.bands.launch(work, grid, args)?;
        let mut cut = Vec::new();
        for ends in band.download(work)?.windows(4).step_by(2) {
            let places = at_most("place at which a band ends", ends[2], nnz.into())?.checked_sub(ends[0]);
            let (Some(places), Some(probes)) = (places, ends[3].checked_sub(ends[1])) else {
                return Err(Error::Contradiction(format!("bands of a mask that end before they begin: {ends:?}")));
            };
            if probes > MAX_PROBES {
                let what = "number of entries looked up for one place of the mask and those before it in its band";
                return Err(Error::TooLarge { what, value: probes, limit: MAX_PROBES });
            }
            if places > 0 {
                cut.push(Band { first: ends[0] as u32, places: places as u32, probes: probes as u32 });
            }
        }
        Ok(cut)
    }

    /// The products on some places; two reads, of their number and of the record of the runs.
    fn band<T: Element>(
        &self,
        work: &Work,
        (a, b): (&Lines<'_>, &Lines<'_>),
        (mask_row_idx, mask_col, probe_ptr): (&Buffer<u32>, &Buffer<u32>, &Buffer<u64>),
        Band { first, places, probes }: Band,
        sums: &BlockSums<T>,
        counts: &mut Counts,
    ) -> Result<PlannedBand<T>> {
        work.stage("expansion");
        let tiles = self.tiles.count(probes);
        let (items, grid) = (tiles * self.tiles.group_size, Grid::groups(tiles, self.tiles.group_size));
        let mut hits = work.buffer(items + 1)?;
        let args = CountHits {
            a_t: a.pattern(),
            b: b.pattern(),
            mask_row_idx,
            mask_col,
            probe_ptr,
            hits: &mut hits,
            first_place: first,
            places,
            probes,
        };
        self.count.launch(work, grid, args)?;
        self.sum_hits.run(work, &mut hits)?;
        let products = work.read_count(&hits, items, "products on the mask", probes.into())?;
        let (mut pairs, mut run_end) = (work.buffer(products as usize)?, work.buffer(places as usize)?);
        let args = WriteHits {
            a_t: a.pattern(),
            a_source: a.source(),
            b: b.pattern(),
            b_source: b.source(),
            mask_row_idx,
            mask_col,
            probe_ptr,
            hits: &hits,
            pair: &mut pairs,
            run_end: &mut run_end,
            first_place: first,
            places,
            probes,
        };
        self.write.launch(work, grid, args)?;

        work.stage("compression");
        let grid = Grid::items(places as usize, self.tiles.group_size);
        let mut record = work.buffer(3)?;
        work.fill_zero(&mut record)?;
        self.record.launch(work, grid, MaskRecord { run_end: &run_end, record: &mut record, places })?;
        let record: Vec<u32> = record.download(work)?;
        let pieces = at_most("pieces of runs", record[1].into(), products)?;
        let mut pieces = work.buffer(pieces as usize)?;
        if pieces.len() > 0 {
            let mut made = work.buffer(2)?;
            work.fill_zero(&mut made)?;
            let args = LongPieces { run_end: &run_end, piece: &mut pieces, made: &mut made, nnz: places };
            self.long_pieces.launch(work, grid, args)?;
        }
        counts.products += products;
        counts.longest_run = counts.longest_run.max(record[0]);
        Ok(PlannedBand { pairs, run_end, pieces, parts: sums.reserved_parts(work, record[2] as usize)?, first })
    }
}

fn tuned(device: &Device, a: &FactorPattern, b: &FactorPattern) -> Tuning {
    Tuning::new(device.info(), a.op_shape(), b.op_shape()).keeping_pairs()
}

/// What is compiled for two operands and a mask.
fn compiled<T: Element>(
    device: &Device,
    tuning: &Tuning,
    a: &FactorPattern,
    b: &FactorPattern,
) -> Result<(Masked, BlockSums<T>)> {
    let transposed = Transposed { a: a.transposed, b: b.transposed };
    let sums = BlockSums::new(device, tuning, a.op_shape(), b.op_shape(), transposed)?.with_empty_runs(device)?;
    Ok((Masked::new(device, tuning, (a, b))?, sums))
}

impl<T: Element> PlannedProduct<T> {
    /// op(A)·op(B) on the places of `mask`, whose sizes fit: the caller has looked.
    pub fn masked(work: &Work, a: &FactorPattern, b: &FactorPattern, mask: &Arc<PatternArrays>) -> Result<Self> {
        let most = most_probes(work.device().info().max_alloc_bytes);
        Self::masked_in_bands(work, (a, b), mask, &tuned(work.device(), a, b), most)
    }

    fn masked_in_bands(
        work: &Work,
        (a, b): (&FactorPattern, &FactorPattern),
        mask: &Arc<PatternArrays>,
        tuning: &Tuning,
        most: u64,
    ) -> Result<Self> {
        let (masked, sums) = compiled(work.device(), tuning, a, b)?;
        let (rows, columns) = (masked.rows(work, a)?, masked.columns(work, b)?);
        let mut bands = Vec::new();
        let counts = masked.runs(work, (&rows, &columns), mask, &sums, most, |band| {
            bands.push(band);
            Ok(())
        })?;
        let shape = a.op_shape().product(b.op_shape());
        let Counts { products, longest_run, bins, .. } = counts;
        Ok(Self { sums, bands, c: mask.clone(), shape, products, longest_run, bins })
    }
}

/// Probes whose hits, all of them, fit so many bytes.
fn most_probes(bytes: u64) -> u64 {
    (bytes / size_of::<OperandPair>() as u64).clamp(1, MAX_PROBES)
}

#[cfg(test)]
mod tests;
