//! Column lists: the columns of a band, divided among methods. Each method gets the columns whose
//! number of products is in its range, gathered into a smaller B. Kernels:
//! `cl/product/column_lists.cl`.
use super::{
    analysis::{Analyser, Analysis},
    bands::Band,
    choose::Rule,
    method::Columns,
    problem::{Factors, Payload, Sizes, Spec},
    tuning::Tuning,
};
use crate::{
    Element, Error, Result, Word,
    device::{Buffer, Device, Grid, In, InOut, Kernel, Options, Out, Work, at_most, kernel},
    primitives::scan::Scan,
    resident::PatternArrays,
};
use std::sync::Arc;

kernel! {
    struct ClassRecord = "class_record" in "product/payload.cl", "product/column_lists.cl" {
        b_col_ptr: In<u32>,
        b_prods: In<u64>,
        class_ends: In<u32>,
        record: InOut<u32>,
        classes: u32,
        first_col: u32,
        cols: u32,
    }
}

kernel! {
    struct ClassFlags = "class_flags" in "product/payload.cl", "product/column_lists.cl" {
        b_col_ptr: In<u32>,
        b_prods: In<u64>,
        class_ends: In<u32>,
        flags: Out<u32>,
        classes: u32,
        first_col: u32,
        cols: u32,
    }
}

kernel! {
    struct ListColumns = "list_columns" in "product/payload.cl", "product/column_lists.cl" {
        flags: In<u32>,
        columns: Out<u32>,
        classes: u32,
        cols: u32,
    }
}

kernel! {
    struct ListLengths = "list_lengths" in "product/payload.cl", "product/column_lists.cl" {
        b_col_ptr: In<u32>,
        columns: In<u32>,
        list_ptr: Out<u32>,
        first_col: u32,
        listed: u32,
    }
}

kernel! {
    struct ListEntries<O: Word> = "list_entries" in "product/payload.cl", "product/column_lists.cl" {
        b_col_ptr: In<u32>,
        b_row_idx: In<u32>,
        b_operand: In<O>,
        b_prods: In<u64>,
        columns: In<u32>,
        list_ptr: In<u32>,
        list_row: Out<u32>,
        list_operand: Out<O>,
        list_prods: Out<u64>,
        first_col: u32,
        listed: u32,
        entries: u32,
    }
}

/// Words of a class in the record.
const RECORD: usize = 7;

/// The kernels that divide columns among methods.
pub(super) struct ColumnLists<O: Word> {
    record: Kernel<ClassRecord<'static>>,
    flags: Kernel<ClassFlags<'static>>,
    columns: Kernel<ListColumns<'static>>,
    lengths: Kernel<ListLengths<'static>>,
    entries: Kernel<ListEntries<'static, O>>,
    scan: Scan<u32>,
    scan_prods: Scan<u64>,
    group_size: usize,
    record_groups: usize,
}

/// Some columns of a band, as a B of their own.
pub(super) struct ListedColumns<O> {
    /// The columns, ascending, counted from the band's first.
    pub columns: Buffer<u32>,
    pub b: Arc<PatternArrays>,
    /// The operand for each entry of `b`.
    pub b_operand: Buffer<O>,
    pub analysis: Analysis,
    /// `b` as one band.
    pub band: Band,
}

impl<O: Word> ListedColumns<O> {
    /// The task for a method: these columns, with the A of `whole`.
    pub fn task<'a>(&'a mut self, whole: Factors<'a, O>, analyser: &'a Analyser) -> Columns<'a, O> {
        let factors = Factors { b: &self.b, b_operand: &self.b_operand, ..whole };
        Columns { factors, analyser, analysis: &mut self.analysis, band: &self.band }
    }
}

/// A list, and the band from which its columns are taken.
struct List<'a, O: Word> {
    factors: Factors<'a, O>,
    analysis: &'a Analysis,
    band: &'a Band,
    /// Entries of B in the listed columns.
    entries: usize,
    /// Products of the listed columns.
    sizes: Sizes,
}

impl<O: Word> ColumnLists<O> {
    /// Compiles the kernels for payloads `P` of a product like `spec`.
    pub fn new<T: Element, P: Payload<T, Operand = O>>(device: &Device, spec: &Spec, tuning: &Tuning) -> Result<Self> {
        let options = P::define(Options::group_size(tuning.group_size), spec)
            .define("SHORT_MAX", tuning.sort.short_max)
            .define("CHUNK", tuning.sort.chunk);
        Ok(Self {
            record: Kernel::new(device, &options)?,
            flags: Kernel::new(device, &options)?,
            columns: Kernel::new(device, &options)?,
            lengths: Kernel::new(device, &options)?,
            entries: Kernel::new(device, &options)?,
            scan: Scan::new(device, tuning.scan)?,
            scan_prods: Scan::new(device, tuning.scan)?,
            group_size: tuning.group_size,
            record_groups: device.info().numbers().list_record_groups,
        })
    }

    /// The columns of each rule, in the order of the rules; `None` for a rule without columns. One
    /// read brings the sizes of all lists.
    pub fn run(
        &self,
        work: &Work,
        factors: Factors<'_, O>,
        analysis: &Analysis,
        band: &Band,
        rules: &[Rule],
    ) -> Result<Vec<Option<ListedColumns<O>>>> {
        work.stage("setup");
        let (b, b_prods) = (factors.b, &analysis.prods);
        let (classes, cols, first_col) = (rules.len() as u32, band.columns.len(), band.columns.start);
        let ends: Vec<u32> = rules.iter().map(|rule| rule.products.end.min(u64::from(u32::MAX)) as u32).collect();
        let class_ends = work.upload(&ends)?;
        let mut record = work.buffer(RECORD * rules.len())?;
        work.fill_zero(&mut record)?;
        let args = ClassRecord {
            b_col_ptr: &b.col_ptr,
            b_prods,
            class_ends: &class_ends,
            record: &mut record,
            classes,
            first_col,
            cols: cols as u32,
        };
        self.record.launch(work, Grid::groups(self.record_groups, self.group_size), args)?;

        // The places of the flags are counted in 32 bits.
        let all = rules.len() * cols;
        if let value @ 0x1_0000_0000.. = all as u64 + 1 {
            let what = "number of columns of a band times the number of methods";
            return Err(Error::TooLarge { what, value, limit: u32::MAX.into() });
        }
        let (mut flags, mut columns) = (work.buffer(all + 1)?, work.buffer(cols)?);
        let args = ClassFlags {
            b_col_ptr: &b.col_ptr,
            b_prods,
            class_ends: &class_ends,
            flags: &mut flags,
            classes,
            first_col,
            cols: cols as u32,
        };
        self.flags.launch(work, Grid::items(all + 1, self.group_size), args)?;
        self.scan.run(work, &mut flags)?;
        let args = ListColumns { flags: &flags, columns: &mut columns, classes, cols: cols as u32 };
        self.columns.launch(work, Grid::items(all, self.group_size), args)?;

        let record = record.download(work)?;
        let (mut lists, mut start) = (Vec::new(), 0);
        for of_class in record.chunks_exact(RECORD) {
            let listed = at_most("columns of a class", of_class[0].into(), (cols - start) as u64)? as usize;
            let entries = at_most("entries of a class", of_class[1].into(), b.nnz() as u64)? as usize;
            let sizes = Sizes {
                products: at_most("products of a class", of_class[2].into(), band.sizes.products)?,
                longest: at_most("products of a column", of_class[3].into(), band.sizes.longest)?,
                chunks: at_most("chunks of a class", of_class[4].into(), band.sizes.chunks)?,
                shorts: at_most("short columns of a class", of_class[5].into(), band.sizes.shorts)?,
                in_chunks: at_most("products in chunks", of_class[6].into(), band.sizes.in_chunks)?,
                longest_short: band.sizes.longest_short,
                shortest_long: band.sizes.shortest_long,
            };
            let list = (listed > 0).then(|| {
                let mut of_list = work.buffer(listed)?;
                work.copy(&columns, start, &mut of_list, 0, listed)?;
                self.gather(work, &List { factors, analysis, band, entries, sizes }, of_list)
            });
            lists.push(list.transpose()?);
            start += listed;
        }
        Ok(lists)
    }

    /// Gathers the listed `columns` of B.
    fn gather(&self, work: &Work, list: &List<'_, O>, columns: Buffer<u32>) -> Result<ListedColumns<O>> {
        let &List { factors, analysis, band, entries, sizes } = list;
        let (b, listed, first_col) = (factors.b, columns.len(), band.columns.start);
        let mut list_ptr = work.buffer(listed + 1)?;
        let args = ListLengths {
            b_col_ptr: &b.col_ptr,
            columns: &columns,
            list_ptr: &mut list_ptr,
            first_col,
            listed: listed as u32,
        };
        self.lengths.launch(work, Grid::items(listed + 1, self.group_size), args)?;
        self.scan.run(work, &mut list_ptr)?;
        let (mut list_row, mut list_operand) = (work.buffer(entries)?, work.buffer(entries)?);
        let mut list_prods = work.buffer(entries + 1)?;
        let args = ListEntries {
            b_col_ptr: &b.col_ptr,
            b_row_idx: &b.row_idx,
            b_operand: factors.b_operand,
            b_prods: &analysis.prods,
            columns: &columns,
            list_ptr: &list_ptr,
            list_row: &mut list_row,
            list_operand: &mut list_operand,
            list_prods: &mut list_prods,
            first_col,
            listed: listed as u32,
            entries: entries as u32,
        };
        self.entries.launch(work, Grid::items(entries + 1, self.group_size), args)?;
        self.scan_prods.run(work, &mut list_prods)?;
        Ok(ListedColumns {
            columns,
            b: PatternArrays::new(work.device(), b.nrows, listed, list_ptr, list_row),
            b_operand: list_operand,
            analysis: Analysis::new(list_prods, sizes),
            band: Band { columns: 0..listed as u32, first_product: 0, sizes, kept_bytes: band.kept_bytes },
        })
    }
}
