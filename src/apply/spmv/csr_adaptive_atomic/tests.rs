use super::*;
use crate::{
    Csc, Csr, Element, Matrix, Semiring,
    apply::spmv::Elements,
    device::test_device,
    element::{Order, Scaling},
    interleave::{Words, interleave},
    reference,
    resident::DeviceCbc,
};

const SMALL: Limits = Limits { block: 8, share: 20 };

fn piece([run, begin, end, part]: [u32; 4]) -> Piece {
    Piece { run, begin, end, part }
}

/// Offsets of rows, and what is expected for them: the tasks, the number of shares, and the number
/// of shared rows.
type Division<'a> = (&'a [u32], &'a [[u32; 4]], usize, usize);

/// The cases are blocks whose entries are one below the limit, equal to it, and one above it; a
/// block whose rows reach the limit; a single row below the limit, at it, and above it; the longest
/// row that one group adds, and a row with one entry more; two shared rows; and an empty row at
/// each end.
#[test]
fn rows_are_divided_as_in_the_papers_program() {
    let cases: [Division<'_>; 8] = [
        (&[0], &[], 0, 0),
        (&[0, 0], &[[0, 0, 0, 1]], 0, 0),
        (&[0, 3, 8], &[[0, 0, 8, 2]], 0, 0),
        (&[0, 3, 7, 9], &[[0, 0, 7, 2], [2, 7, 9, 3]], 0, 0),
        (&[0, 8, 17, 18], &[[0, 0, 8, 1], [1, 8, 17, 2], [2, 17, 18, 3]], 0, 0),
        (&[0; 11], &[[0, 0, 0, 8], [8, 0, 0, 10]], 0, 0),
        (&[0, 20, 20], &[[0, 0, 20, 1], [1, 20, 20, 2]], 0, 0),
        (
            &[0, 0, 21, 23, 64],
            &[
                [1, 0, 20, 0],
                [1, 20, 21, 0],
                [3, 23, 43, 1],
                [3, 43, 63, 1],
                [3, 63, 64, 1],
                [0, 0, 0, 1],
                [2, 21, 23, 3],
            ],
            5,
            2,
        ),
    ];
    for (row_ptr, tasks, shares, rows_shared) in cases {
        let expected = Tasks { tasks: tasks.iter().copied().map(piece).collect(), shares, rows_shared };
        assert_eq!(Tasks::new(row_ptr, SMALL), expected, "{row_ptr:?}");
    }
}

/// Compares two executions in every size of groups with the reference. Sums of whole numbers are
/// exact in every order. The second execution finds what the first has left in memory.
fn check<T: Element>(lengths: &[usize], semiring: Semiring, [alpha, beta]: [f64; 2]) -> Result<()> {
    let cols = lengths.iter().copied().max().unwrap_or(0);
    let entries = lengths.iter().enumerate().flat_map(|(row, &n)| (0..n).map(move |k| (k, row)));
    let entries = entries.map(|(k, row)| (k, row, T::from_f64(((k + row) % 4) as f64)));
    let host = Csr::from_transpose(Csc::from_triplets(cols, lengths.len(), entries)?);
    let x: Vec<T> = (0..cols).map(|i| T::from_f64((i % 5) as f64)).collect();
    let before: Vec<T> = (0..lengths.len()).map(|i| T::from_f64(64.0 + i as f64)).collect();
    let mut after = before.clone();
    reference::multiply_vector_over(semiring, Order::Arrival, &host, &x, (alpha, beta), &mut after)?;
    let work = &Work::new(&test_device(), None);
    let (a, dx) = (DeviceCbc::upload(work, host.as_cbc())?, work.upload(&x)?.into_any());
    for group_size in [1, 2, 8].map(|size| test_device().info().limited(size)) {
        for packed in [false, true] {
            let rows =
                Rows { elements: Elements::both(T::TYPE), semiring, packed, ..Rows::of_scalars(a.pattern.clone()) };
            let sums = CsrAdaptiveAtomic::divided(work, rows, SMALL, group_size)?;
            for time in 0..2 {
                let mut y = work.upload(&before)?.into_any();
                let into = ScaledInto { values: &mut y, scaling: Scaling::of(T::TYPE, alpha, beta) };
                sums.run(work, (&a).into(), &dx, into)?;
                let found: Vec<f64> = y.renamed::<T>().download(work)?.iter().map(|y| y.to_f64()).collect();
                let want: Vec<f64> = after.iter().map(|y| y.to_f64()).collect();
                assert_eq!(found, want, "{} {semiring} in groups of {group_size}, packed {packed}, {time}", T::NAME);
            }
        }
    }
    Ok(())
}

/// Lengths of rows of every kind: blocks with more rows than items, and with 1, 2 and 4 items for
/// each row; rows at each limit and one entry above it; a full row; empty rows before, between and
/// after these.
const LENGTHS: [usize; 28] = [0, 1, 1, 1, 1, 1, 1, 0, 1, 2, 3, 3, 4, 4, 8, 9, 20, 21, 0, 150, 1, 7, 40, 41, 2, 0, 0, 0];

#[test]
fn small_groups_add_every_term_once() -> Result<()> {
    check::<f32>(&LENGTHS, Semiring::PlusTimes, [2.0, -1.0])?;
    check::<f64>(&LENGTHS, Semiring::PlusTimes, [2.0, -1.0])?;
    check::<i32>(&LENGTHS, Semiring::PlusTimes, [1.0, 1.0])?;
    check::<f64>(&[], Semiring::PlusTimes, [1.0, 0.0])
}

/// Tests semirings whose sums do not start from zero, or are not computed by addition.
#[test]
fn small_groups_add_in_every_algebra() -> Result<()> {
    for &semiring in Semiring::ALL {
        check::<f32>(&LENGTHS, semiring, [1.0, 0.0])?;
        check::<i32>(&LENGTHS, semiring, [1.0, 0.0])?;
    }
    Ok(())
}

/// A model of the last lines of `sum_blocks`, for one share of a row that has `of_row` shares. `y`
/// holds the sum and the number of times that it was written.
async fn add_share(shared: &Words, y: &Words, term: usize, of_row: usize) {
    shared.add(0, term).await;
    if shared.add(1, 1).await + 1 == of_row {
        let sum = shared.xchg(0, 0).await;
        shared.xchg(1, 0).await;
        y.store(0, sum).await;
        y.add(1, 1).await;
    }
}

#[test]
fn one_share_writes_the_row_and_restores_the_zeros_in_any_order() {
    for seed in 0..200 {
        let (shared, y) = (Words::new([0, 0]), Words::new([9, 0]));
        for time in 1..=2 {
            interleave((0..7).map(|i| add_share(&shared, &y, 1 << i, 7)), 2 * seed + time);
            assert_eq!((shared.values(), y.values()), (vec![0, 0], vec![127, time as usize]), "seed {seed}");
        }
    }
}
