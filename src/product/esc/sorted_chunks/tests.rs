use super::*;
use crate::{
    Csc, OperandPair, Pattern,
    device::{Teams, test_device},
    product::{
        esc::tests::{Case, edge_cases, few_cases, in_registers, products, products_of_part, with_segments},
        terms::PayloadKind,
    },
};

/// Pairs of the number of products before a case and the number of bits of a row. A case is the
/// first band or comes after 2^33 products. The rows of a case fit a key or do not.
const BEFORE: [(u64, u32); 3] = [(0, 20), (1 << 33, 20), (0, 32)];

fn check(case: &Case, tuning: &Tuning, before: &[(u64, u32)]) -> Result<()> {
    for &before in before {
        let rows: Vec<u32> = case.sorted.iter().map(|&(_, row, _)| row).collect();
        let segments: Vec<u32> =
            case.sorted.iter().step_by(16).chain(case.sorted.last()).map(|&(segment, ..)| segment).collect();
        let pairs: Vec<_> = case.sorted.iter().map(|&(.., pair)| pair).collect();
        let (found_rows, found_segments) = match tuning.payload {
            PayloadKind::Values => {
                let (found, _) = products(case, tuning, before, true)?;
                let (a, b) = (case.host.0.values(), case.host.1.values());
                let want: Vec<f64> = pairs.iter().map(|pair| a[pair.a as usize] * b[pair.b as usize]).collect();
                assert_eq!(found.payload.typed::<f64>().download(&case.work)?, want);
                (found.rows, found.tile_segment)
            }
            PayloadKind::Pairs => {
                let (found, _) = products(case, tuning, before, true)?;
                assert_eq!(found.payload.typed::<OperandPair>().download(&case.work)?, pairs);
                (found.rows, found.tile_segment)
            }
        };
        assert_eq!(found_rows.download(&case.work)?, rows);
        assert_eq!(found_segments.download(&case.work)?, segments);
    }
    Ok(())
}

fn agree(cases: Vec<Case>) -> Result<()> {
    for case in cases {
        // With a limit of 300 entries all columns of B are short enough to be cut by rows. With a
        // limit of 40 entries some columns are too long, and their chunks are merged.
        for (entries, items) in [(300, 2), (40, 2), (300, 5)] {
            check(&case, &in_registers(Teams::PORTABLE, entries, items), &BEFORE)?;
            check(&case, &in_registers(Teams::PORTABLE, entries, items).keeping_pairs(), &BEFORE)?;
        }
    }
    Ok(())
}

/// A case with one column of B, which selects all columns of A. The columns of A have the given
/// rows.
fn of_one_column(nrows: usize, columns: &[Vec<u32>]) -> Result<Case> {
    let ends = columns.iter().scan(0, |end, rows| {
        *end += rows.len() as u64;
        Some(*end)
    });
    let col_ptr = std::iter::once(0).chain(ends).collect();
    let pattern = Pattern::new(nrows, columns.len(), col_ptr, columns.concat())?;
    let values = (0..pattern.nnz()).map(|i| i as f64 + 2.0).collect();
    let b = Csc::from_triplets(columns.len(), 2, (0..columns.len()).map(|k| (k, 1, 1.0 + k as f64)))?;
    Case::new(Csc::new(pattern, values)?, b)
}

#[test]
fn chunks_agree_with_the_model() -> Result<()> {
    agree(edge_cases()?.into_iter().chain([cut_inside_rows()?]).collect())
}

/// Tests each kind of chunk with one kind of payload. Each element of [`BEFORE`] is used in two
/// cases.
#[test]
fn small_chunks_agree_with_the_model() -> Result<()> {
    for (number, case) in few_cases()?.iter().chain([&cut_inside_rows()?]).enumerate() {
        let of = |entries, items| in_registers(Teams::PORTABLE, entries, items);
        for (kind, tuning) in [of(300, 2), of(40, 2).keeping_pairs(), of(300, 5).keeping_pairs()].iter().enumerate() {
            let turn = (number + kind) % BEFORE.len();
            check(case, tuning, &BEFORE[turn..=turn])?;
        }
    }
    Ok(())
}

/// Three chunks begin inside a row: before some of its products, after all others, and at columns
/// of A that are empty or have a single entry.
fn cut_inside_rows() -> Result<Case> {
    let rows = |k: u32| match k % 5 {
        0 => vec![3],
        1 => vec![0, 3, 4, 9],
        2 => vec![],
        3 => vec![3, 4, 7],
        _ => (0..10).collect(),
    };
    of_one_column(10, &(0..50).map(rows).collect::<Vec<_>>())
}

#[test]
fn rows_longer_than_a_chunk_are_cut() -> Result<()> {
    // Up to 250 products are all in one row; in one row between rows below and above; or in the
    // last row.
    let in_row = |row: u32| move |_: usize| vec![row];
    let between = |k: usize| if k.is_multiple_of(10) { vec![1, 5, 8] } else { vec![5] };
    agree(vec![
        of_one_column(1, &(0..250).map(in_row(0)).collect::<Vec<_>>())?,
        of_one_column(9, &(0..250).map(between).collect::<Vec<_>>())?,
        of_one_column(1000, &(0..130).map(in_row(999)).collect::<Vec<_>>())?,
    ])
}

#[test]
fn columns_of_very_different_length_are_cut() -> Result<()> {
    // Short columns before and after one long column, as in a graph with a hub.
    let long: Vec<u32> = (0..300).map(|i| i * 3).collect();
    for place in [0, 7, 15] {
        let of = |k: u32| if k == place { long.clone() } else { vec![k, k + 40 * (k % 3 + 1), 890] };
        agree(vec![of_one_column(900, &(0..16).map(of).collect::<Vec<_>>())?])?;
    }
    // C has many columns, short and long.
    let lengths: Vec<usize> = (0..60).map(|j| (j * 37) % 150).collect();
    agree(vec![with_segments(&lengths, 17)?])
}

/// Columns of one chunk for each size of work-groups, and columns of two chunks.
#[test]
fn work_groups_of_every_size_agree_with_the_model() -> Result<()> {
    let tuning = |entries| in_registers(Teams::PORTABLE.large(256), entries, 12);
    let chunks = tuning(300).chunks.expect("chunks");
    let rooms: Vec<_> = chunks.smaller().map(|of| of.room()).collect();
    assert_eq!((rooms, chunks.room()), (vec![640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560], 3072));
    if test_device().info().max_group_size < 256 {
        return Ok(());
    }
    for of_column in [32, 38, 50, 64, 76, 100, 128, 150, 160] {
        let rows = |k: u32| (0..of_column).map(|i| i * 3 + (i + k) % 3).collect();
        let case = of_one_column(500, &(0..20).map(rows).collect::<Vec<_>>())?;
        check(&case, &tuning(300), &BEFORE)?;
        check(&case, &tuning(1).keeping_pairs(), &BEFORE)?;
    }
    Ok(())
}

/// Columns of B with as many entries as groups of each size can cut, and with one entry more.
#[test]
fn columns_of_b_of_every_length_are_cut() -> Result<()> {
    let tuning = in_registers(Teams::PORTABLE.large(256), 1100, 12);
    let cutting: Vec<_> =
        tuning.chunks.expect("chunks").cutting().map(|of| (of.team.group_size(1), of.entries)).collect();
    assert_eq!(cutting, [(64, 64), (128, 128), (256, 256), (256, 1100)]);
    if test_device().info().max_group_size < 256 {
        return Ok(());
    }
    for entries in [64, 65, 128, 129, 256, 257, 1100, 1101] {
        let of_column = 4000 / entries;
        let rows = |k: u32| (0..of_column + k % 5).map(|i| i * 11 + (k * 13) % 11).collect();
        check(&of_one_column(800, &(0..entries).map(rows).collect::<Vec<_>>())?, &tuning, &BEFORE)?;
    }
    Ok(())
}

#[test]
fn parts_of_c_have_their_products() -> Result<()> {
    // Columns of A have 5 to 34 entries. Columns of C have about 400 products.
    let place = |k: usize, i: usize| ((i + k) % 40, k, 1.0 + (i % 5) as f64);
    let places = (0..40).flat_map(|k| (0..5 + k * 3 / 4).map(move |i| place(k, i)));
    let a = Csc::from_triplets(40, 40, places)?;
    let case = Case::new(a.clone(), a)?;
    let tuning = in_registers(Teams::PORTABLE, 300, 2).keeping_pairs();
    for part in [Part::Lower, Part::Upper] {
        let (found, _) = products_of_part(&case, &tuning, (0, 20, part), true)?;
        let is_in = |&&(col, row, _): &&(u32, u32, _)| if part == Part::Lower { row >= col } else { row <= col };
        let pairs: Vec<_> = case.sorted.iter().filter(is_in).map(|&(.., pair)| pair).collect();
        assert_eq!(found.payload.typed::<OperandPair>().download(&case.work)?, pairs);
    }
    Ok(())
}
