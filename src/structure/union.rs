//! The union of two patterns on the device. Kernels: `cl/structure/union.cl`, for CPUs
//! `cl/structure/union_serial.cl`.
use crate::{
    Device, DeviceInfo, OperandPair, Result,
    device::{Buffer, Grid, In, InOut, Kernel, Options, Out, Work, kernel, kernels},
    primitives::scan::{Scan, ScanTuning},
    resident::{InPattern, PatternArrays},
    tuning::SharedNumbers,
};
use std::sync::Arc;

kernel! {
    in "structure/union.cl":
    struct UnionB = "union_b" { a: InPattern, b: InPattern, before: Out<u32>, both: Out<u32>, ncols: u32, b_nnz: u32 }
    struct UnionOfA = "union_of_a" {
        a: InPattern,
        b: InPattern,
        both: In<u32>,
        c_row_idx: InOut<u32>,
        pair: InOut<OperandPair>,
        ncols: u32,
        a_nnz: u32,
    }
    struct UnionOfB = "union_of_b" {
        before: In<u32>,
        both: In<u32>,
        b_row_idx: In<u32>,
        c_row_idx: InOut<u32>,
        pair: InOut<OperandPair>,
        b_nnz: u32,
    }
    struct UnionColPtr = "union_col_ptr" {
        a_col_ptr: In<u32>,
        b_col_ptr: In<u32>,
        both: In<u32>,
        c_col_ptr: Out<u32>,
        ncols: u32,
    }
}

kernel! {
    in "structure/union_serial.cl":
    struct UnionBoth = "union_both" { a: InPattern, b: InPattern, both: Out<u32>, ncols: u32, parts: u32 }
    struct UnionMerge = "union_merge" {
        a: InPattern,
        b: InPattern,
        both: In<u32>,
        c_col_ptr: Out<u32>,
        c_row_idx: Out<u32>,
        pair: Out<OperandPair>,
        ncols: u32,
        parts: u32,
    }
}

/// The kernels and parameters that find the union of two patterns.
#[derive(Debug, Clone, Copy)]
enum UnionTuning {
    /// A work-item looks up one entry in the other pattern. Work-groups have `group_size` items.
    Entries { group_size: usize },
    /// Each of `parts` work-items merges a part of the columns.
    Columns { parts: usize },
}

impl UnionTuning {
    fn new(info: &DeviceInfo) -> Self {
        match info.numbers::<SharedNumbers>().range_shares * info.compute_units as usize {
            0 => Self::Entries { group_size: info.elementwise_group() },
            parts => Self::Columns { parts },
        }
    }
}

/// The kernels that find the union of two patterns.
pub(crate) struct Union {
    form: Form,
    scan: Scan<u32>,
}

enum Form {
    Entries(ByEntries),
    Columns(ByColumns),
}

/// A pattern, and for each of its entries the indices of the same entry in A and in B.
type Found = (Arc<PatternArrays>, Buffer<OperandPair>);

impl Union {
    pub fn new(device: &Device) -> Result<Self> {
        Self::tuned(device, UnionTuning::new(device.info()))
    }

    fn tuned(device: &Device, tuning: UnionTuning) -> Result<Self> {
        let form = match tuning {
            UnionTuning::Entries { group_size } => Form::Entries(ByEntries::new(device, group_size)?),
            UnionTuning::Columns { parts } => Form::Columns(ByColumns::new(device, parts)?),
        };
        Ok(Self { form, scan: Scan::new(device, ScanTuning::new(device.info()))? })
    }

    /// Finds the union of A and B, and for each of its entries the indices in A and in B.
    pub fn run(&self, work: &Work, a: &PatternArrays, b: &PatternArrays) -> Result<Found> {
        match &self.form {
            Form::Entries(form) => form.run(work, &self.scan, a, b),
            Form::Columns(form) => form.run(work, &self.scan, a, b),
        }
    }
}

kernels! {
    struct Kernels { new b: UnionB, new of_a: UnionOfA, new of_b: UnionOfB, new col_ptr: UnionColPtr }
}

struct ByEntries {
    kernels: Kernels,
    group_size: usize,
}

impl ByEntries {
    fn new(device: &Device, group_size: usize) -> Result<Self> {
        let options = Options::group_size(group_size);
        Ok(Self { kernels: Kernels::new(device, &options)?, group_size })
    }

    fn run(&self, work: &Work, scan: &Scan<u32>, a: &PatternArrays, b: &PatternArrays) -> Result<Found> {
        let (a_nnz, b_nnz, ncols) = (a.nnz(), b.nnz(), a.ncols as u32);
        let over = |items| Grid::items(items, self.group_size);
        let (mut before, mut both) = (work.buffer(b_nnz)?, work.buffer(b_nnz + 1)?);
        let args = UnionB { a, b, before: &mut before, both: &mut both, ncols, b_nnz: b_nnz as u32 };
        self.kernels.b.launch(work, over(b_nnz + 1), args)?;
        scan.run(work, &mut both)?;
        let nnz = count(work, &both, a, b)?;
        let (mut c_row_idx, mut pairs) = (work.buffer(nnz)?, work.buffer(nnz)?);
        let args =
            UnionOfA { a, b, both: &both, c_row_idx: &mut c_row_idx, pair: &mut pairs, ncols, a_nnz: a_nnz as u32 };
        self.kernels.of_a.launch(work, over(a_nnz), args)?;
        let args = UnionOfB {
            before: &before,
            both: &both,
            b_row_idx: &b.row_idx,
            c_row_idx: &mut c_row_idx,
            pair: &mut pairs,
            b_nnz: b_nnz as u32,
        };
        self.kernels.of_b.launch(work, over(b_nnz), args)?;
        let mut c_col_ptr = work.buffer(a.ncols + 1)?;
        let args =
            UnionColPtr { a_col_ptr: &a.col_ptr, b_col_ptr: &b.col_ptr, both: &both, c_col_ptr: &mut c_col_ptr, ncols };
        self.kernels.col_ptr.launch(work, over(a.ncols + 1), args)?;
        Ok((PatternArrays::new(&a.device, a.nrows, a.ncols, c_col_ptr, c_row_idx), pairs))
    }
}

struct ByColumns {
    both: Kernel<UnionBoth<'static>>,
    merge: Kernel<UnionMerge<'static>>,
    parts: usize,
}

impl ByColumns {
    fn new(device: &Device, parts: usize) -> Result<Self> {
        let options = Options::group_size(1);
        Ok(Self { both: Kernel::new(device, &options)?, merge: Kernel::new(device, &options)?, parts })
    }

    fn run(&self, work: &Work, scan: &Scan<u32>, a: &PatternArrays, b: &PatternArrays) -> Result<Found> {
        let (ncols, parts, grid) = (a.ncols as u32, self.parts as u32, Grid::groups(self.parts, 1));
        let (mut both, mut c_col_ptr) = (work.buffer(a.ncols + 1)?, work.buffer(a.ncols + 1)?);
        let args = UnionBoth { a, b, both: &mut both, ncols, parts };
        self.both.launch(work, grid, args)?;
        scan.run(work, &mut both)?;
        let nnz = count(work, &both, a, b)?;
        let (mut c_row_idx, mut pairs) = (work.buffer(nnz)?, work.buffer(nnz)?);
        let args = UnionMerge {
            a,
            b,
            both: &both,
            c_col_ptr: &mut c_col_ptr,
            c_row_idx: &mut c_row_idx,
            pair: &mut pairs,
            ncols,
            parts,
        };
        self.merge.launch(work, grid, args)?;
        Ok((PatternArrays::new(&a.device, a.nrows, a.ncols, c_col_ptr, c_row_idx), pairs))
    }
}

/// Number of entries of the union. The last element of `both` is the number of entries in both
/// patterns. Waits for one read.
fn count(work: &Work, both: &Buffer<u32>, a: &PatternArrays, b: &PatternArrays) -> Result<usize> {
    let (a_nnz, b_nnz) = (a.nnz() as u64, b.nnz() as u64);
    let in_both = work.read_count(both, both.len() - 1, "entries of both operands", a_nnz.min(b_nnz))?;
    let nnz = a_nnz + b_nnz - in_both;
    PatternArrays::check_nnz(nnz)?;
    Ok(nnz as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csc, device::test_device};

    const NONE: u32 = u32::MAX;

    /// The rows of each column, ascending.
    type Columns = Vec<Vec<u32>>;

    /// The union of the patterns of A and B as the host merges it, and for each of its entries the
    /// indices of the entries of A and B.
    fn merged(a: &[Vec<u32>], b: &[Vec<u32>]) -> (Columns, Vec<OperandPair>) {
        let (mut columns, mut pairs, mut before) = (Vec::new(), Vec::new(), [0, 0]);
        for (of_a, of_b) in a.iter().zip(b) {
            let mut rows = [&of_a[..], of_b].concat();
            rows.sort_unstable();
            rows.dedup();
            let place = |rows: &[u32], before, row| rows.binary_search(&row).map_or(NONE, |at| before + at as u32);
            let pair = |&row: &u32| OperandPair { a: place(of_a, before[0], row), b: place(of_b, before[1], row) };
            pairs.extend(rows.iter().map(pair));
            columns.push(rows);
            before = [before[0] + of_a.len() as u32, before[1] + of_b.len() as u32];
        }
        (columns, pairs)
    }

    fn check(nrows: usize, a: &[Vec<u32>], b: &[Vec<u32>]) -> Result<()> {
        let device = test_device();
        let upload = |columns: &[Vec<u32>]| -> Result<_> {
            let of_column =
                |(j, rows): (usize, &Vec<u32>)| rows.iter().map(|&i| (i as usize, j, 1.0)).collect::<Vec<_>>();
            let entries = columns.iter().enumerate().flat_map(of_column);
            Ok(device.upload(&Csc::from_triplets(nrows, columns.len(), entries)?)?.pattern().arrays)
        };
        let (da, db, (columns, want)) = (upload(a)?, upload(b)?, merged(a, b));
        let tunings = [
            UnionTuning::Entries { group_size: 16 },
            UnionTuning::Columns { parts: 1 },
            UnionTuning::Columns { parts: 7 },
        ];
        for tuning in tunings {
            let work = Work::new(&device, None);
            let (c, pairs) = Union::tuned(&device, tuning)?.run(&work, &da, &db)?;
            let (col_ptr, rows) = (c.col_ptr.download(&work)?, c.row_idx.download(&work)?);
            let got: Columns = col_ptr.windows(2).map(|at| rows[at[0] as usize..at[1] as usize].to_vec()).collect();
            assert_eq!((got, pairs.download(&work)?), (columns.clone(), want.clone()), "{tuning:?}");
        }
        Ok(())
    }

    #[test]
    fn each_form_merges_what_either_has() -> Result<()> {
        let every = |step: u32| (0..40).filter(|row| row % step == 0).collect::<Vec<u32>>();
        // Some columns are empty in one pattern or in both, one column ends before that of the
        // other pattern, and some have no common rows. There are more parts than columns, and more
        // parts than entries.
        let a = vec![every(1), vec![], every(2), vec![39], vec![], every(3), vec![0], every(5), every(4)];
        let b = vec![every(3), vec![7], every(2), vec![0], vec![], vec![], vec![1, 2], vec![1, 2, 3, 39], every(7)];
        check(40, &a, &b)?;
        check(40, &b, &a)?;
        check(40, &a, &a)?;
        check(40, &[every(2)], &[(0..40).filter(|row| row % 2 == 1).collect()])?;
        check(3, &vec![vec![]; 5], &[vec![], vec![2], vec![], vec![], vec![]])?;
        check(3, &vec![vec![]; 5], &vec![vec![]; 5])?;
        check(3, &[], &[])
    }
}
