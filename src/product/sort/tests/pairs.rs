//! Tests of products that are summed later.
use super::*;
use crate::{
    BlockShape, OperandPair,
    product::{
        problem::{Spec, Transposed},
        sort::pairs::{PairColumns, SortPairs},
    },
    resident::PatternArrays,
};

/// What is made for products that are summed later.
#[derive(Debug, Default, PartialEq)]
struct Placed {
    col_ptr: Vec<u32>,
    row_idx: Vec<u32>,
    run_end: Vec<u32>,
    pairs: Vec<OperandPair>,
    longest: u32,
}

impl Case {
    /// The operands of each product, if those of A are numbered from 100 on.
    fn placed_by_model(&self, first_col: usize, part: Part) -> Placed {
        let (a, b) = (self.a.pattern(), self.b.pattern());
        let mut placed = Placed { col_ptr: vec![0], ..Placed::default() };
        for column in first_col..b.ncols() {
            let mut runs: BTreeMap<u32, Vec<OperandPair>> = BTreeMap::new();
            for b_entry in b.entries(column) {
                for a_entry in a.entries(b.row_idx()[b_entry] as usize) {
                    let row = a.row_idx()[a_entry];
                    if part == Part::Lower && (row as usize) < column || part == Part::Upper && row as usize > column {
                        continue;
                    }
                    runs.entry(row).or_default().push(OperandPair { a: a_entry as u32 + 100, b: b_entry as u32 });
                }
            }
            for (row, run) in runs {
                placed.longest = placed.longest.max(run.len() as u32);
                placed.pairs.extend(run);
                placed.run_end.push(placed.pairs.len() as u32 - 1);
                placed.row_idx.push(row);
            }
            placed.col_ptr.push(placed.row_idx.len() as u32);
        }
        placed
    }

    /// The same by the kernels. Products of columns are counted by the model.
    fn placed(&self, first_col: usize, part: Part, listed: bool) -> Result<Placed> {
        let device = test_device();
        let work = Work::new(&device, None);
        let teams = Teams::of(device.info()).expect("groups of 32 items");
        let sourced = Transposed { a: true, b: false };
        let spec = Spec { part, sourced, ..Spec::new(BlockShape::SCALAR, BlockShape::SCALAR, self.a.nrows()) };
        let sort = SortPairs::new(&device, &spec, teams, 3)?;
        let (a, b) = (PatternArrays::upload(&work, self.a.pattern())?, PatternArrays::upload(&work, self.b.pattern())?);
        let source: Vec<u32> = (100..).take(a.nnz()).collect();
        let source = work.upload(&source)?;
        let factors = Factors::of_pairs((&a, Some(&source)), (&b, None));
        let columns = self.b.ncols() - first_col;
        let (words, tasks) = self.tasks(first_col, listed);
        let list = work.upload(&words)?;
        let tasks = tasks.map(|task| task.of(&list, listed, first_col));
        let mut lengths = work.upload(&uncounted(columns))?;
        for (class, task) in tasks.iter().enumerate() {
            sort.count(&work, factors, task, class, &mut lengths)?;
        }
        let col_ptr = scan(&lengths.download(&work)?);
        let model = self.placed_by_model(first_col, part);
        let before = |&run: &u32| run.checked_sub(1).map_or(0, |last| model.run_end[last as usize] + 1);
        let segment_ptr: Vec<u32> = model.col_ptr.iter().map(before).collect();
        let (segment_ptr, c_col_ptr) = (work.upload(&segment_ptr)?, work.upload(&col_ptr)?);
        let nnz = col_ptr[WINDOWS * columns] as usize;
        let (mut row_idx, mut run_end) = (work.buffer(nnz)?, work.buffer(nnz)?);
        let (mut payload, mut longest) = (work.buffer(model.pairs.len())?, work.upload(&[0])?);
        for (class, task) in tasks.iter().enumerate() {
            let to = PairColumns {
                segment_ptr: &segment_ptr,
                col_ptr: &c_col_ptr,
                row_idx: &mut row_idx,
                run_end: &mut run_end,
                payload: &mut payload,
                longest: &mut longest,
            };
            sort.place(&work, factors, task, class, to)?;
        }
        let col_ptr = col_ptr.into_iter().step_by(WINDOWS).collect();
        let (row_idx, run_end) = (row_idx.download(&work)?, run_end.download(&work)?);
        Ok(Placed { col_ptr, row_idx, run_end, pairs: payload.download(&work)?, longest: longest.download(&work)?[0] })
    }

    fn check_pairs(&self, first_col: usize, part: Part, listed: bool) -> Result<()> {
        assert_eq!(self.placed(first_col, part, listed)?, self.placed_by_model(first_col, part));
        Ok(())
    }
}

#[test]
fn small_pairs_agree_with_the_model() -> Result<()> {
    let case = Case::new(300, &[columns(&[1, 0, 33]), columns(&[9])].concat())?;
    case.check_pairs(0, Part::Full, true)
}

#[test]
fn pairs_at_the_borders_of_classes_agree_with_the_model() -> Result<()> {
    for products in [&[0, 1, 7, 31, 32][..], &[0, 33, 63, 64], &[65, 127, 128, 0], &[129, 255, 256, 3]] {
        Case::new(300, &columns(products))?.check_pairs(1, Part::Full, false)?;
    }
    let case = Case::new(300, &columns(&[256, 0, 32, 129, 1, 64, 255, 33, 128, 31, 65, 127]))?;
    case.check_pairs(0, Part::Full, true)?;
    case.check_pairs(5, Part::Full, true)
}

/// Of a part, a column has fewer products than its class allows. One class has several columns in a
/// team, the other has one.
#[test]
fn pairs_of_a_part_agree_with_the_model() -> Result<()> {
    let case = Case::new(300, &columns(&[256, 33, 129, 64, 255]))?;
    for part in [Part::Lower, Part::Upper] {
        case.check_pairs(0, part, true)?;
        case.check_pairs(5, part, true)?;
    }
    Ok(())
}
