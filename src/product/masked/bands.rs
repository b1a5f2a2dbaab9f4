//! The probes of a mask's places, and the cut of the places into bands. Kernels:
//! `cl/product/masked/masked.cl`.
use crate::{
    Error, Result,
    device::{Buffer, Device, Grid, In, Kernel, Options, Out, Work, at_most, kernel},
    primitives::scan::{Scan, ScanTuning},
    product::terms::Factors,
    resident::{InPattern, PatternArrays},
};

kernel! {
    in "product/terms/payload.cl", "product/masked/tally.cl", "product/masked/masked.cl":
    struct MaskProbes = "mask_probes" {
        a_t_col_ptr: In<u32>,
        b_col_ptr: In<u32>,
        mask: InPattern,
        mask_col: Out<u32>,
        probe_ptr: Out<u64>,
        cols: u32,
        nnz: u32,
    }
    struct MaskBands = "mask_bands" { probe_ptr: In<u64>, band: Out<u64>, share: u64, bands: u32, nnz: u32 }
}

/// Most probes of a band. Offsets have 32 bits. One bit is left unused so that sums of two offsets
/// cannot wrap.
pub(super) const MAX_PROBES: u64 = (1 << 31) - 1;

/// The kernel that cuts bands.
pub(super) struct BandCutter {
    bands: Kernel<MaskBands<'static>>,
    group_size: usize,
}

/// The kernels that count probes.
pub(super) struct MaskAnalyser {
    probes: Kernel<MaskProbes<'static>>,
    scan: Scan<u64>,
    group_size: usize,
}

/// A mask, and the probes of its places.
pub(super) struct ProbedMask<'a> {
    pub row_idx: &'a Buffer<u32>,
    /// Column of each place.
    pub col: Buffer<u32>,
    /// Number of probes before each place; the last element is the number of all probes.
    pub probe_ptr: Buffer<u64>,
}

/// Places of the mask that are computed at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct MaskBand {
    pub first: u32,
    pub places: u32,
    pub probes: u32,
}

impl MaskAnalyser {
    /// `options` are the options of all kernels of the masked method, which are one program.
    pub fn new(device: &Device, options: &Options, scan: ScanTuning, group_size: usize) -> Result<Self> {
        Ok(Self { probes: Kernel::new(device, options)?, scan: Scan::new(device, scan)?, group_size })
    }

    /// Counts the probes of each place. The A of `factors` is Aᵀ. The host reads nothing.
    pub fn run<'a>(&self, work: &Work, factors: Factors<'_>, mask: &'a PatternArrays) -> Result<ProbedMask<'a>> {
        work.stage("setup");
        let nnz = mask.nnz();
        let (mut col, mut probe_ptr) = (work.buffer(nnz)?, work.buffer(nnz + 1)?);
        let args = MaskProbes {
            a_t_col_ptr: &factors.a.col_ptr,
            b_col_ptr: &factors.b.col_ptr,
            mask,
            mask_col: &mut col,
            probe_ptr: &mut probe_ptr,
            cols: mask.ncols as u32,
            nnz: nnz as u32,
        };
        self.probes.launch(work, Grid::items(nnz + 1, self.group_size), args)?;
        self.scan.run(work, &mut probe_ptr)?;
        Ok(ProbedMask { row_idx: &mask.row_idx, col, probe_ptr })
    }
}

impl BandCutter {
    /// The kernel is requested when it is launched.
    pub fn new(device: &Device, options: &Options, group_size: usize) -> Result<Self> {
        Ok(Self { bands: Kernel::rare(device, options)?, group_size })
    }

    /// Cuts the places into bands of at most `most` probes, or hits if `probe_ptr` counts hits. A
    /// band has more than `most` only if one of its places has more than half of `most`. The host
    /// reads once, and a second time if there are several bands.
    pub fn cut(&self, work: &Work, probe_ptr: &Buffer<u64>, most: u64) -> Result<Vec<MaskBand>> {
        let nnz = probe_ptr.len() as u32 - 1;
        if nnz == 0 {
            return Ok(Vec::new());
        }
        let probes = work.read(probe_ptr, nnz as usize, 1)?[0];
        if probes <= most {
            return Ok(vec![MaskBand { first: 0, places: nnz, probes: probes as u32 }]);
        }
        // Without the last place of the band, a band has fewer probes than a share.
        let share = most.div_ceil(2).max(1);
        let bands = probes.div_ceil(share);
        let mut band = work.buffer(2 * bands as usize + 2)?;
        let grid = Grid::items(bands as usize + 1, self.group_size);
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
                cut.push(MaskBand { first: ends[0] as u32, places: places as u32, probes: probes as u32 });
            }
        }
        Ok(cut)
    }
}
