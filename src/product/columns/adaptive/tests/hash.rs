//! Columns whose rows are found by hashes.
use super::*;

/// Tuning with tables so small that short columns fall into every class: tables in local memory
/// have at most 32, 64 and 128 rows.
fn small_tables() -> AdaptiveTuning {
    AdaptiveTuning { hash_words: [40, 80, 160], prices: apart(), ..tuning(Method::Hash) }
}

/// Factors with a column of A·B for each of `counts`: its rows are the first `count` of `rows`.
/// Columns of A have `part` of these rows. The last entry of each column of B selects the first
/// rows once more.
fn columns_of<T: Element>(nrows: u64, rows: &[u64], counts: &[usize], part: usize) -> Result<(Csc<T>, Csc<T>)> {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for &count in counts {
        let first = of_a.len() as u64;
        of_a.extend(rows[..count].chunks(part).map(<[u64]>::to_vec));
        of_a.push(rows[..count.min(part)].to_vec());
        of_b.push((first..of_a.len() as u64).collect());
    }
    let inner = of_a.len();
    Ok((matrix(nrows as usize, of_a)?, matrix(inner, of_b)?))
}

/// Numbers of rows near the limits of the classes of small tables.
const COUNTS: [usize; 12] = [1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 500, 700];

#[test]
fn small_tables_have_the_bits_of_the_reference() -> Result<()> {
    let rows: Vec<u64> = (0..150).map(|i| i * 37 % 1000).collect();
    let (a, b) = columns_of::<f64>(1000, &rows, &[1, 31, 150, 60], 20)?;
    assert_eq!(check(&a, &b, &small_tables())?, [Method::Hash]);
    Ok(())
}

/// Columns of one piece of 32 rows, and of two and three pieces. The products of the last row of a
/// piece belong to that piece, not to the next.
#[test]
fn small_pieces_have_the_bits_of_the_reference() -> Result<()> {
    let rows: Vec<u64> = (0..80).map(|i| i * 37 % 1000).collect();
    let (a, b) = columns_of::<f64>(1000, &rows, &[32, 33, 80], 20)?;
    assert_eq!(check(&a, &b, &AdaptiveTuning { piece: 32, ..small_tables() })?, [Method::Hash]);
    Ok(())
}

#[test]
fn hashed_columns_have_the_bits_of_the_reference() -> Result<()> {
    fn by<T: Element>((spread, wide): (u64, u64), tuning: &AdaptiveTuning) -> Result<()> {
        let (a, b) = operands::<T>(spread, wide)?;
        assert_eq!(check(&a, &b, tuning)?, [Method::Hash]);
        Ok(())
    }
    for rows in [(1, 3000), (11, 40_000), (300, 900_000)] {
        by::<f64>(rows, &tuning(Method::Hash))?;
        by::<f64>(rows, &small_tables())?;
    }
    by::<f32>((11, 40_000), &tuning(Method::Hash))?;
    by::<half::f16>((11, 40_000), &small_tables())
}

#[test]
fn columns_at_the_borders_of_tables() -> Result<()> {
    let mut random = Random::new(2);
    let rows = random.distinct(700, 100_000);
    for part in [1, 7, 100] {
        let (a, b) = columns_of::<f64>(100_000, &rows, &COUNTS, part)?;
        assert_eq!(check(&a, &b, &small_tables())?, [Method::Hash]);
        // Classes of few columns are computed with the next class that has columns.
        let joined = AdaptiveTuning { prices: tuning(Method::Hash).prices, ..small_tables() };
        assert_eq!(check(&a, &b, &joined)?, [Method::Hash]);
    }
    Ok(())
}

/// Rows whose hashes begin at the same place in every table of this test.
#[test]
fn rows_that_collide_change_no_bit() -> Result<()> {
    let nrows = 6_000_000_u64;
    let begins_first = |row: &u64| (*row as u32).wrapping_mul(2_654_435_761) < u32::MAX / 8192;
    let rows: Vec<u64> = (0..nrows).filter(begins_first).collect();
    assert!(rows.len() >= 700, "{} rows", rows.len());
    let (a, b) = columns_of::<f64>(nrows, &rows, &COUNTS, 50)?;
    assert_eq!(check(&a, &b, &small_tables())?, [Method::Hash]);
    assert_eq!(check(&a, &b, &tuning(Method::Hash))?, [Method::Hash]);
    Ok(())
}

#[test]
fn hashed_rows_without_room_are_found_again() -> Result<()> {
    let (a, b) = operands::<f64>(11, 40_000)?;
    for room_percent in [0, 30] {
        check(&a, &b, &AdaptiveTuning { room_percent, sampled_products: 0, ..small_tables() })?;
    }
    Ok(())
}

/// An entry of C has more than 1024 products. Pieces have several sizes, and there are few
/// work-groups.
#[test]
fn sums_of_hashed_rows_are_cut_as_in_the_reference() -> Result<()> {
    let (a, b) = hubs::operands::<f64>(40_000)?;
    assert_eq!(check(&a, &b, &tuning(Method::Hash))?, [Method::Hash]);
    check(&a, &b, &AdaptiveTuning { piece: 128, groups: 1, ..small_tables() })?;
    let (a, b) = hubs::operands::<f32>(700)?;
    check(&a, &b, &AdaptiveTuning { piece: 1024, ..tuning(Method::Hash) })?;
    Ok(())
}

/// Several work-groups, or a single one, compute several columns each, with tables in global
/// memory.
#[test]
fn tables_in_global_memory_serve_several_columns() -> Result<()> {
    let mut random = Random::new(9);
    let a = matrix(50_000, (0..400).map(|_| random.distinct(100, 50_000)).collect::<Vec<_>>())?;
    let b: Csc<f64> = matrix(400, (0..24).map(|col| random.distinct(if col % 5 == 0 { 250 } else { 20 }, 400)))?;
    for hash_bytes in [1, 1 << 30] {
        let tuning = AdaptiveTuning { hash_bytes, ..small_tables() };
        assert_eq!(check(&a, &b, &tuning)?, [Method::Hash]);
    }
    // With the usual tuning, two columns of C have more than 20,000 rows.
    let b: Csc<f64> = matrix(400, [250, 30, 400].map(|entries| random.distinct(entries, 400)))?;
    assert_eq!(check(&a, &b, &tuning(Method::Hash))?, [Method::Hash]);
    Ok(())
}

/// Rows in ranges too wide for bitmaps, up to the last row that a pattern can have. The reference
/// multiplies the same matrix without its empty rows.
#[test]
fn rows_far_apart() -> Result<()> {
    let (a, b) = operands::<f64>(11, 40_000)?;
    let want = reference::multiply(&a, &b)?;
    for nrows in [6_000_000_u64, (1 << 27) + 1, u32::MAX as u64 - 1] {
        let far = |row: usize| ((row as u64 + 1) * (nrows / 40_000) - 1 + nrows % 40_000) as usize;
        let spread = |c: &Csc<f64>| -> Result<Csc<f64>> {
            let pattern = c.pattern();
            let entries = (0..c.ncols()).flat_map(|col| pattern.entries(col).map(move |entry| (entry, col)));
            let triplets = entries.map(|(entry, col)| (far(pattern.row_idx()[entry] as usize), col, c.values()[entry]));
            Csc::from_triplets(nrows as usize, c.ncols(), triplets.collect::<Vec<_>>())
        };
        let (a, want) = (spread(&a)?, spread(&want)?);
        let row_bits = usize::BITS - (nrows as usize - 1).leading_zeros();
        let numbers = |wanted| {
            let of_device = AdaptiveTuning::new(test_device().info(), wanted, tuning(wanted).prices.costs, row_bits);
            // ESC is switched off, because it would be faster for a product as small as this.
            AdaptiveTuning { few_columns: 0, esc: false, ..of_device }
        };
        assert_eq!(check_equal(&a, &b, &want, &numbers(Method::Hash))?, [Method::Hash]);
        // With row numbers of 28 bits `auto` is not tested, because its choice is then not bounded.
        if nrows == (1 << 27) + 1 {
            continue;
        }
        let methods = check_equal(&a, &b, &want, &numbers(Method::Auto))?;
        let by_esc = |methods: &[Method]| methods.iter().any(|of| [Method::Esc, Method::EscLocal].contains(of));
        assert!(methods.contains(&Method::Hash) && !by_esc(&methods), "{methods:?} of {nrows} rows");
        // With a limit of 10,000 products, no column gets a work-group of its own for its many
        // products.
        let few = AdaptiveTuning { hash_products: 10_000, ..numbers(Method::Auto) };
        let methods = check_equal(&a, &b, &want, &few)?;
        assert!(methods.contains(&Method::Hash) && by_esc(&methods), "{methods:?} of {nrows} rows");
    }
    Ok(())
}
