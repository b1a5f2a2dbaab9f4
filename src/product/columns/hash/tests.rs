//! Compares full hash tables with sets of rows.
use super::*;
use crate::{
    device::test_device,
    generate::Random,
    product::{
        columns::tasks::{FoundRows, Patterns, Purpose},
        terms::{ColumnTask, Method},
    },
    resident::PatternArrays,
};
use std::{collections::BTreeSet, sync::Arc};

/// Finds the rows of each column with local tables of `words` words, or with tables in global
/// memory.
fn found(columns: &[Vec<u32>], nrows: u32, words: Option<usize>) -> Result<Vec<Vec<u32>>> {
    let device = test_device();
    let work = Work::new(&device, None);
    let teams = Teams::of(device.info()).expect("work-groups of 32 items");
    let numbers = AdaptiveTuning::new(device.info(), Method::Hash, device.info().costs(), 32);
    // Global tables have few words, too, so that columns have many windows, and parts to merge.
    let tuning = AdaptiveTuning { hash_words: [words.unwrap_or(8); 3], ..numbers };
    // Every column of B selects columns of A with three rows. Each row of the column comes twice.
    let (mut a_ptr, mut a_rows, mut b_ptr) = (vec![0], Vec::new(), vec![0]);
    for rows in columns {
        for part in rows.chunks(3).chain(rows.chunks(3)) {
            let mut part = part.to_vec();
            part.sort_unstable();
            a_rows.extend(part);
            a_ptr.push(a_rows.len() as u32);
        }
        b_ptr.push(a_ptr.len() as u32 - 1);
    }
    let (inner, n) = (a_ptr.len() - 1, columns.len());
    let b_rows: Vec<u32> = (0..inner as u32).collect();
    let pattern = |nrows, ncols, ptr: &[u32], rows: &[u32]| -> Result<Arc<PatternArrays>> {
        Ok(PatternArrays::new(&device, nrows, ncols, work.upload(ptr)?, work.upload(rows)?))
    };
    let (a, b) = (pattern(nrows as usize, inner, &a_ptr, &a_rows)?, pattern(inner, n, &b_ptr, &b_rows)?);
    let products: Vec<u32> = columns.iter().map(|rows| 2 * rows.len() as u32).collect();
    let ends =
        |end: fn(&Vec<u32>) -> Option<u32>| columns.iter().map(|rows| end(rows).unwrap_or(0)).collect::<Vec<_>>();
    let (first, last) = (ends(|rows| rows.iter().min().copied()), ends(|rows| rows.iter().max().copied()));
    let (first_row, last_row, products_of) = (work.upload(&first)?, work.upload(&last)?, work.upload(&products)?);
    let patterns = Patterns { a: &a, b: &b, first_row: &first_row, last_row: &last_row, products: &products_of };
    let list = work.buffer(0)?;
    let columns = ColumnTask::of_all(&list, n as u32);
    let counts = HashCounts::new(&device, teams, &tuning)?;
    let longest = u64::from(products.iter().copied().max().unwrap_or(0));
    let tables = GlobalTables::new(device.info(), &tuning, [longest, 3 * longest], nrows as usize);
    let mut lengths = work.upload(&vec![0; n])?;
    let mut rows = FoundRows::new(&work, work.buffer(n)?, a_rows.len())?;
    let class = if words.is_some() { Class::HashedMedium } else { Class::HashedGlobal };
    let task = RowTask { patterns, columns, purpose: Purpose::All, into: rows.arrays(&mut lengths) };
    counts.run(&work, class, task, tables)?;
    let (place, all) = (rows.place.download(&work)?, rows.rows.download(&work)?);
    let length = lengths.download(&work)?;
    Ok(place.iter().zip(length).map(|(&at, length)| all[at as usize..][..length as usize].to_vec()).collect())
}

fn check(columns: &[Vec<u32>], nrows: u32, words: Option<usize>) -> Result<()> {
    let want = columns.iter().map(|rows| rows.iter().copied().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
    assert_eq!(found(columns, nrows, words)?, want.collect::<Vec<_>>(), "{words:?} words");
    Ok(())
}

/// A table of n words gets n rows, in any order, some with equal hashes.
#[test]
fn small_full_tables_hold_every_row() -> Result<()> {
    let mut random = Random::new(1);
    for words in [1_usize, 2, 31, 33, 70] {
        let spread: Vec<u32> = random.distinct(words as u64, 1 << 20).into_iter().map(|row| row as u32).collect();
        // The rows are products with the inverse of the hash's factor, so all hashes begin at the
        // first place.
        let inverse = (0..5).fold(1_u32, |x, _| x.wrapping_mul(2_u32.wrapping_sub(x.wrapping_mul(2_654_435_761))));
        let alike: Vec<u32> = (0..words as u32).map(|hash| hash.wrapping_mul(inverse)).collect();
        assert!(alike.iter().all(|row| row.wrapping_mul(2_654_435_761) < words as u32 && *row < u32::MAX - 1));
        let backwards = spread.iter().rev().copied().collect();
        check(&[spread, alike, backwards], u32::MAX - 1, Some(words))?;
    }
    Ok(())
}

#[test]
fn tables_in_global_memory_hold_every_row() -> Result<()> {
    let mut random = Random::new(1);
    let columns: Vec<Vec<u32>> = [1, 7, 8, 9, 16, 17, 64, 65, 250]
        .into_iter()
        .map(|count| random.distinct(count, 1 << 30).into_iter().map(|row| row as u32).collect())
        .collect();
    check(&columns, 1 << 30, None)
}

/// A column for each range of rows that ends with `last`. The column has the first and the last row
/// of the range, and a third of the rows between them.
fn ending_with(last: u32, ranges: &[u32]) -> Vec<Vec<u32>> {
    let mut random = Random::new(u64::from(last));
    let rows = |&range: &u32| -> Vec<u32> {
        let within = random.distinct(u64::from(range).div_ceil(3), range.into()).into_iter();
        let rows: BTreeSet<u32> = within.map(|row| last - row as u32).chain([last, last + 1 - range]).collect();
        rows.into_iter().rev().collect()
    };
    ranges.iter().map(rows).collect()
}

/// Ranges of rows near the size of one window of 8 words (256 rows), and of several windows. A
/// bitmap has 8 words if tables are in global memory. If the table is in local memory, the bitmap
/// has the words of the table that the rows leave free: 171 rows of a range of 513 leave 9 of 180
/// words, so the range has two windows.
#[test]
fn small_windows_have_ascending_rows() -> Result<()> {
    for words in [None, Some(180), Some(700)] {
        check(&ending_with(1_000_003, &[1, 33, 256, 257, 513]), 2_000_000, words)?;
    }
    Ok(())
}

/// Rows up to the last row that a pattern can have.
#[test]
fn rows_of_several_windows_are_ascending() -> Result<()> {
    let nrows = u32::MAX - 1;
    for last in [1999, nrows - 1] {
        let columns = ending_with(last, &[2, 31, 32, 255, 511, 512, 1000, 2000]);
        for words in [None, Some(700), Some(800)] {
            check(&columns, nrows, words)?;
        }
        // The three columns have a single row, rows in distant windows, and all rows of a range.
        let sparse = (0..200).map(|i| last - i * (last / 200)).collect();
        check(&[vec![last], sparse, (last - 699..=last).collect()], nrows, None)?;
    }
    Ok(())
}
