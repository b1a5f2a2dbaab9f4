//! COO and HYB as published: terms are added atomically, in the order in which work-items arrive.
//! Kernels: `cl/apply/spmv/atomics.cl`.
//!
//! Formats with atomic additions exist for comparison. Their bits differ from run to run, so
//! [`Format::Auto`] never chooses them.
//!
//! [`Format::Auto`]: super::Format::Auto
use super::{
    Layout, PackedOrder, Rows, Sums, arrival, hyb,
    listed::Listed,
    split::Split,
    tails::Parts,
    terms::{InTerms, RowTerms},
};
use crate::{
    DeviceKind, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Scratch, Sum, Teams, Work, kernel},
    vector::{InOutScaled, ScaledInto, line_sums::Stored},
};

kernel! {
    in "ptx.cl", "apply/spmv/values.cl", "apply/spmv/arrival.cl", "apply/spmv/atomics.cl":
    struct ListTails = "list_tails" { tail_ptr: In<u32>, tail_row: In<u32>, row: Out<u32>, lines: u32, entries: u32 }
    struct StartSums = "start_sums" { sums: Out<Sum>, rows: u32 }
    struct AddParts = "add_parts" {
        row: In<u32>,
        terms: InTerms<u32>,
        sums: InOut<Sum>,
        rows: u32,
        width: u32,
        entries: u32,
    }
    struct AddEntries = "add_entries" { row: In<u32>, terms: InTerms<u32>, sums: InOut<Sum>, entries: u32 }
    struct FinishSums = "finish_sums" { row_ptr: In<u32>, sums: In<Sum>, y: InOutScaled, rows: u32 }
}

/// Entries that a work-item of a CPU adds one after another. Starting a group takes about as long
/// as adding a hundred entries.
const SHARE: usize = 1 << 10;

/// The kernel that adds listed entries alone, or padded heads and listed entries.
enum Adding {
    Entries(Kernel<AddEntries<'static>>),
    Parts(Kernel<AddParts<'static>>, Box<Parts>),
}

pub(super) struct Atomics {
    listed: Listed,
    start: Kernel<StartSums<'static>>,
    adding: Adding,
    finish: Kernel<FinishSums<'static>>,
    sums: Scratch,
    group_size: usize,
    share: usize,
}

impl Atomics {
    /// Prepares heads padded to the width of a split, or listed entries alone.
    pub fn new(work: &Work, rows: Rows, split: Option<Split>) -> Result<Self> {
        let device = &rows.device().clone();
        let info = device.info();
        let group_size = info.vector_group();
        let share = if info.kind == DeviceKind::Cpu { SHARE } else { 1 };
        let options = Options::group_size(group_size);
        let options = rows.options_through(options, rows.source.is_some() || split.is_some());
        let options = arrival::options(info, rows.elements.vector, rows.semiring, Teams::options_of(info, options))?;
        let options = options.define("SHARE", share);
        let (start, finish) = (Kernel::new(device, &options)?, Kernel::new(device, &options)?);
        let list: Kernel<ListTails<'_>> = Kernel::rare(device, &options)?;

        let sums = Scratch::reserve_of(work, rows.elements.sum(), rows.len())?;
        let parts = split.map(|split| hyb::cut(work, &rows, split, super::Format::HybAtomic)).transpose()?;
        let mut listed = Listed::new(work, rows)?;
        let adding = match parts {
            None => Adding::Entries(Kernel::new(device, &options)?),
            Some(parts) => {
                let Parts { tail_ptr, tail_row, tails, .. } = &parts;
                let mut row = work.buffer(*tails)?;
                let (lines, count) = (tail_row.len() as u32, *tails as u32);
                let args = ListTails { tail_ptr, tail_row, row: &mut row, lines, entries: count };
                list.launch(work, Grid::items(*tails, group_size), args)?;
                listed.row = row;
                Adding::Parts(Kernel::new(device, &options)?, Box::new(parts))
            }
        };
        Ok(Self { adding, listed, start, finish, sums, group_size, share })
    }

    /// The padded heads, if there are any.
    fn parts(&self) -> Option<&Parts> {
        match &self.adding {
            Adding::Entries(_) => None,
            Adding::Parts(_, parts) => Some(parts),
        }
    }
}

impl Sums for Atomics {
    fn run(&self, work: &Work, a: Stored<'_>, x: &Buffer, y: ScaledInto<'_>) -> Result<()> {
        let Listed { row, rows, .. } = &self.listed;
        let (count, of_rows) = (rows.len() as u32, Grid::items(rows.len(), self.group_size));
        let sums = &mut *self.sums.take(work)?;
        self.start.launch(work, of_rows, StartSums { sums, rows: count })?;
        let (entries, shares) = (row.len() as u32, row.len().div_ceil(self.share));
        match &self.adding {
            Adding::Entries(add) => {
                let args = AddEntries { row, terms: rows.terms(a, x), sums, entries };
                add.launch(work, Grid::items(shares, self.group_size), args)?;
            }
            Adding::Parts(add, parts) => {
                let (terms, width) = (RowTerms { col: &parts.col, source: Some(&parts.source), a, x }, parts.width);
                let args = AddParts { row, terms, sums, rows: count, width, entries };
                add.launch(work, Grid::items(shares.max(rows.len()), self.group_size), args)?;
            }
        }
        let args = FinishSums { row_ptr: rows.row_ptr(), sums, y, rows: count };
        self.finish.launch(work, of_rows, args)
    }

    fn order(&self) -> PackedOrder<'_> {
        match self.parts() {
            None => self.listed.rows.order(),
            Some(parts) => {
                PackedOrder { places: parts.source.len(), source: Some(&parts.source), layout: Layout::PLAIN }
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.listed.bytes() + self.parts().map_or(0, Parts::bytes) + self.sums.bytes()
    }
}
