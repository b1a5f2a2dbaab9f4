//! Neighbouring columns of B with the same rows.
use super::*;
use crate::element::ElementType;

/// The A of [`super::operands`], and a B of runs of 1 to 7 equal columns. Between the runs there
/// are empty columns, columns that differ only in the last entry, and columns of the same length.
pub(super) fn operands<T: Element>(spread: u64, wide: u64, lengths: &[u64]) -> Result<(Csc<T>, Csc<T>)> {
    let (a, _) = super::operands(spread, wide)?;
    let (mut random, n) = (Random::new(3), a.ncols() as u64);
    let mut columns = Vec::new();
    for (i, &length) in lengths.iter().enumerate() {
        let rows = random.distinct(length, n);
        columns.extend(vec![rows.clone(); 1 + i % 7]);
        match i % 4 {
            0 => columns.push(vec![]),
            1 => columns.push([&rows[1..], &[n - 1 - i as u64]].concat()),
            2 => columns.push(random.distinct(length, n)),
            _ => {}
        }
    }
    Ok((a, matrix(n as usize, columns)?))
}

/// Lengths of columns for every class, except for the classes that take long.
pub(super) const LENGTHS: [u64; 14] = [40, 33, 64, 9, 65, 100, 31, 200, 3, 70, 513, 40, 300, 64];

#[test]
fn small_equal_columns_have_the_bits_of_the_reference() -> Result<()> {
    let mut random = Random::new(6);
    let a = matrix(300, (0..12).map(|_| random.distinct(20, 300)).collect::<Vec<_>>())?;
    let runs: Vec<_> = [3, 2, 0, 4, 1].iter().map(|&run| vec![random.distinct(5, 12); run]).collect();
    let b: Csc<f64> = matrix(12, runs.concat())?;
    let forced = tuning(Method::Dense);
    assert_eq!(check(&a, &b, &forced)?, [Method::Dense]);
    check(&a, &b, &AdaptiveTuning { equal_piece: 64, room_percent: 0, sampled_products: 0, ..forced })?;
    Ok(())
}

#[test]
fn equal_columns_have_the_bits_of_the_reference() -> Result<()> {
    let always = |tuning| AdaptiveTuning { equal_percent: 1, ..tuning };
    let (a, b) = operands::<f64>(11, 40_000, &LENGTHS)?;
    for method in [Method::Auto, Method::Dense, Method::Hub, Method::Hash] {
        check(&a, &b, &always(tuning(method)))?;
    }
    check(&a, &b, &AdaptiveTuning { equal_percent: 101, ..tuning(Method::Dense) })?;
    let (a, b) = operands::<f32>(1, 3000, &LENGTHS)?;
    check(&a, &b, &always(tuning(Method::Auto)))?;
    let (a, b) = operands::<half::f16>(300, 900_000, &LENGTHS)?;
    check(&a, &b, &always(tuning(Method::Auto)))?;
    Ok(())
}

#[test]
fn equal_columns_in_windows_and_without_room() -> Result<()> {
    let (a, b) = operands::<f64>(11, 40_000, &LENGTHS[..7])?;
    let forced = AdaptiveTuning { equal_percent: 1, ..tuning(Method::Dense) };
    let small = AdaptiveTuning { narrow_words: 8, medium_words: 40, wide_words: 100, big_products: 500, ..forced };
    for tuning in [
        small,
        AdaptiveTuning { room_percent: 0, sampled_products: 0, ..forced },
        AdaptiveTuning { room_percent: 30, sampled_products: 0, piece: 128, groups: 1, ..small },
        AdaptiveTuning { equal_columns: 1, ..small },
        AdaptiveTuning { equal_columns: 2, equal_piece: 64, ..forced },
        AdaptiveTuning { equal_columns: 8, equal_piece: 284, ..small },
    ] {
        check(&a, &b, &tuning)?;
    }
    Ok(())
}

/// Runs with more equal columns than one leader may have. All columns are of one class.
#[test]
fn many_equal_columns() -> Result<()> {
    let mut random = Random::new(4);
    let a = matrix(5000, (0..60).map(|_| random.distinct(9, 5000)).collect::<Vec<_>>())?;
    let (rows, others) = (random.distinct(40, 60), random.distinct(40, 60));
    let b: Csc<f64> = matrix(60, (0..421).map(|col| if col < 401 { rows.clone() } else { others.clone() }))?;
    assert_eq!(check(&a, &b, &tuning(Method::Dense))?, [Method::Dense]);
    Ok(())
}

/// Rows are kept only for the leaders of equal columns.
#[test]
fn rows_of_equal_columns_are_kept_once() -> Result<()> {
    let (device, mut random) = (test_device(), Random::new(4));
    let work = Work::new(&device, None);
    let a: Csc<f64> = matrix(5000, (0..60).map(|_| random.distinct(9, 5000)).collect::<Vec<_>>())?;
    let columns: Vec<_> = (0..20).map(|_| random.distinct(40, 60)).collect();
    let b: Csc<f64> = matrix(60, columns.iter().flat_map(|rows| [rows.clone(), rows.clone(), rows.clone()]))?;
    let pattern = |of: &Csc<f64>| DeviceCbc::upload(&work, of.as_cbc()).map(|of| of.pattern);
    let (x, y) = (pattern(&a)?, pattern(&b)?);
    let (numbers, teams) = numbers();
    let room = |equal_percent| -> Result<_> {
        let tuning = AdaptiveTuning { equal_percent, ..tuning(Method::Dense) };
        let finder = Finder::new(&device, teams, &numbers, &tuning, ElementType::F64)?;
        let profile = finder.profile(&work, (&*x, &*y), &finder.rules((&*x, &*y)))?;
        let listed = profile.task(Class::Narrow, Class::Big).columns;
        Ok((listed, profile.room(100)))
    };
    let ((all, of_all), (leaders, of_leaders)) = (room(101)?, room(25)?);
    assert_eq!((all, leaders), (60, 20));
    assert_eq!(of_all, 3 * of_leaders);
    Ok(())
}
