mod interleaved;

use super::*;
use crate::{
    Semiring,
    device::{Work, test_device},
    element::Algebra,
    primitives::segments::Cutter,
    reference,
};

/// An operator, the same function on the host, and its result for no elements.
struct Case<T> {
    name: &'static str,
    operator: Operator<T>,
    combine: fn(T, T) -> T,
    empty: T,
}

/// Lengths of segments: zero; around a work-group (64) and a piece (1024); more pieces than a group
/// has items; full pieces beside each other that belong to several segments; many of one to three
/// elements with empty segments between them.
fn lengths() -> Vec<usize> {
    let many = (0..600).map(|i| [0, 1, 1, 2, 3][i % 5]);
    let around = [0, 0, 1, 2, 63, 64, 65, 1023, 1024, 1025, 0, 2047, 2048, 2049, 70 * 1024 + 1];
    around.into_iter().chain([1024; 9]).chain([2048, 1024, 3072]).chain(many).chain([100_000]).collect()
}

fn offsets_of(lengths: &[usize]) -> Vec<u32> {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + *length as u32);
    }
    offsets
}

fn segments_of<'v, T>(offsets: &[u32], values: &'v [T]) -> Vec<&'v [T]> {
    offsets.windows(2).map(|ends| &values[ends[0] as usize..ends[1] as usize]).collect()
}

/// The bits of a value, or `None` for a NaN, whose bits depend on the device.
#[expect(clippy::eq_op, reason = "a NaN does not equal itself")]
fn one_nan<T: Element + PartialEq>(value: &T) -> Option<Vec<u8>> {
    (value == value).then(|| bytemuck::bytes_of(value).to_vec())
}

/// Tunings of a CPU and of a GPU, with small tiles and waves, so that a segment is in several tiles
/// and several waves.
fn tunings() -> Vec<SegmentTuning> {
    let most = test_device().info().max_group_size;
    // A group has one item for all pieces of a tile or a carry, fewer items than pieces, or more.
    let of = |group_size| match group_size {
        1 => SegmentTuning { group_size, tile: 9000, wave: 3 },
        3 => SegmentTuning { group_size, tile: 1024, wave: 1 },
        64 => SegmentTuning { group_size, tile: 2047, wave: 16 },
        _ => SegmentTuning { group_size, tile: 2048, wave: 2048 },
    };
    [1, 3, 64, 256].into_iter().filter(|&size| size <= most).map(of).collect()
}

/// Compares scans and totals of segments with the reference, to the bit.
fn check<T: Element<Arithmetic = T> + Arithmetic>(
    case: &Case<T>,
    offsets: &[u32],
    values: &[T],
    tuning: SegmentTuning,
) -> Result<()> {
    let device = test_device();
    let bits = |values: &[T]| values.iter().map(one_nan).collect::<Vec<_>>();
    let scanner = Scanner::tuned(&device, &case.operator, tuning)?;
    let (work, cutter) = (Work::new(&device, None), Cutter::new(&device, tuning)?);
    let segments = Segments::cut_by(&cutter, &work, &work.upload(offsets)?, values.len())?;
    let scanned: Vec<Vec<T>> =
        segments_of(offsets, values).into_iter().map(|segment| reference::scan(segment, case.combine)).collect();
    let at = format!("{} of {}, {tuning:?}", case.name, T::NAME);

    let mut found = device.upload_vector(values)?;
    scanner.inclusive_within(&segments, &mut found)?;
    assert_eq!(bits(&found.download()?), bits(&scanned.concat()), "{at}: inclusive");

    let mut found = device.upload_vector(values)?;
    let totals = scanner.reduce(&segments, &found)?;
    let want: Vec<T> = scanned.iter().map(|segment| segment.last().copied().unwrap_or(case.empty)).collect();
    assert_eq!(bits(&totals.download()?), bits(&want), "{at}: totals");

    scanner.exclusive_within(&segments, &mut found)?;
    let shifted = |segment: &Vec<T>| [&[case.empty][..], segment].concat()[..segment.len()].to_vec();
    let want: Vec<T> = scanned.iter().flat_map(shifted).collect();
    assert_eq!(bits(&found.download()?), bits(&want), "{at}: exclusive");
    Ok(())
}

fn house_operators<T: Element<Arithmetic = T> + Arithmetic>() -> Vec<Case<T>> {
    let added = |semiring| Algebra::<T>::of(semiring).add;
    let multiplied = |semiring| Algebra::<T>::of(semiring).multiply;
    let one = T::one();
    let case = |name, operator, combine, empty| Case { name, operator, combine, empty };
    vec![
        case("sum", Operator::sum(), added(Semiring::PlusTimes), T::ZERO),
        case("product", Operator::product(), multiplied(Semiring::PlusTimes), one),
        case("min", Operator::min(), added(Semiring::MinPlus), T::HIGHEST),
        case("max", Operator::max(), added(Semiring::MaxPlus), T::LOWEST),
        case("or", Operator::or(), added(Semiring::OrAnd), T::ZERO),
        case("and", Operator::and(), multiplied(Semiring::OrAnd), one),
        case("lengths", Operator::lengths(), multiplied(Semiring::MinPlus), T::ZERO),
    ]
}

/// Checks every predefined operator on vectors in which element i is `values[i % len]`.
fn check_all<T: Element<Arithmetic = T> + Arithmetic>(values: &[T]) -> Result<()> {
    let offsets = offsets_of(&lengths());
    let n = offsets[offsets.len() - 1] as usize;
    let values: Vec<T> = values.iter().copied().cycle().take(n).collect();
    let tuning = SegmentTuning { group_size: 64, tile: 2048, wave: 8 };
    house_operators().iter().try_for_each(|case| check(case, &offsets, &values, tuning))
}

#[test]
fn floats_have_the_bits_of_the_reference() -> Result<()> {
    // Magnitudes from 2^-20 to 2^20, so that another order of combination gives other bits.
    let value = |i: i32| f64::from((i * 7919) % 1009 - 500) * 2f64.powi(i % 41 - 20);
    let values: Vec<f64> = (1..2000).map(value).chain([0.0, -0.0]).collect();
    check_all(&values)?;
    check_all(&values.iter().map(|&x| x as f32).collect::<Vec<_>>())
}

#[test]
fn integers_wrap_around_or_stay_infinite() -> Result<()> {
    let number = |i: u32| i.wrapping_mul(2_654_435_761);
    let ends = [u32::MAX, u32::MAX - 1, 0, 1, 1 << 31, (1 << 31) - 1];
    let values: Vec<u32> = (1..500).map(number).chain(ends).chain((0..500).map(|i| i % 3)).collect();
    check_all(&values)?;
    check_all(&values.iter().map(|&x| x as i32).collect::<Vec<_>>())
}

/// The composition of two functions, y after x. A function i -> p·i + q modulo 2^16 is encoded as
/// p·2^16 + q.
fn after(x: u32, y: u32) -> u32 {
    let (p, q) = (x >> 16, x & 0xffff);
    p.wrapping_mul(y >> 16) << 16 | (q.wrapping_mul(y >> 16).wrapping_add(y & 0xffff) & 0xffff)
}

/// An operator that is associative but not commutative.
fn composition() -> Result<Case<u32>> {
    let text = "(((x >> 16) * (y >> 16)) << 16) | (((x & 0xffff) * (y >> 16) + (y & 0xffff)) & 0xffff)";
    Ok(Case { name: "composition", operator: Operator::new(text, 7)?, combine: after, empty: 7 })
}

#[test]
fn nothing_is_swapped() -> Result<()> {
    let offsets = offsets_of(&lengths());
    let n = offsets[offsets.len() - 1];
    // Factors are odd, so that each result depends on all functions before it.
    let functions: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) | 1 << 16).collect();
    let compose = composition()?;
    let rare: Vec<f32> = (0..n).map(|i| if i % 700 == 3 { -1.5 - i as f32 } else { 0.0 }).collect();
    let latest = Case {
        name: "the last that is not 0",
        operator: Operator::new("y != 0 ? y : x", f32::INFINITY)?,
        combine: |x, y| if y != 0.0 { y } else { x },
        empty: f32::INFINITY,
    };
    for tuning in tunings() {
        check(&compose, &offsets, &functions, tuning)?;
        check(&latest, &offsets, &rare, tuning)?;
    }
    Ok(())
}

/// Runs every kernel on few elements, for simulators, too.
#[test]
fn small_segments_by_offsets_flags_and_rows() -> Result<()> {
    let offsets = offsets_of(&[3, 1, 65, 2100, 2, 1, 1025]);
    let n = offsets[offsets.len() - 1];
    let values: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) | 1 << 16).collect();
    let (device, compose) = (test_device(), composition()?);
    let most = device.info().max_group_size;
    for group_size in [1, 64.min(most)] {
        check(&compose, &offsets, &values, SegmentTuning { group_size, tile: 1024, wave: 2 })?;
    }

    let flags: Vec<u8> = (0..n).map(|i| offsets.contains(&i).into()).collect();
    let rows: Vec<u32> = (0..n).map(|i| offsets.partition_point(|&offset| offset <= i) as u32 - 1).collect();
    let scanner = Scanner::new(&device, &compose.operator)?;
    let last = |segment: &[u32]| reference::scan(segment, after)[segment.len() - 1];
    let want: Vec<u32> = segments_of(&offsets, &values).into_iter().map(last).collect();
    let by_flags = Segments::from_flags(&device.upload_vector(&flags)?)?;
    let by_rows = Segments::from_rows(&device.upload_vector(&rows)?, want.len())?;
    for segments in [by_flags, by_rows] {
        let totals = scanner.reduce(&segments, &device.upload_vector(&values)?)?;
        assert_eq!(totals.download()?, want);
    }
    Ok(())
}

#[test]
fn one_segment_is_the_whole_vector() -> Result<()> {
    let device = test_device();
    let sum = Scanner::new(&device, &Operator::<f64>::sum())?;
    for n in [0usize, 1, 1023, 1024, 1025, 70_000] {
        let values: Vec<f64> = (0..n).map(|i| (i % 97) as f64 * 0.31 - 15.0).collect();
        let want = reference::scan(&values, |x, y| x + y);
        let mut found = device.upload_vector(&values)?;
        sum.inclusive(&mut found)?;
        assert_eq!(found.download()?, want, "{n} values");
        let mut found = device.upload_vector(&values)?;
        sum.exclusive(&mut found)?;
        assert_eq!(found.download()?, [&[0.0][..], &want].concat()[..n], "{n} values");
    }
    Ok(())
}

#[test]
fn segments_of_nothing_have_the_value_of_nothing() -> Result<()> {
    let device = test_device();
    let least = Scanner::new(&device, &Operator::<i32>::min())?;
    let mut nothing = device.upload_vector(&[])?;
    for offsets in [&[0][..], &[0, 0, 0, 0]] {
        let segments = Segments::from_offsets(&device, offsets)?;
        assert_eq!(least.reduce(&segments, &nothing)?.download()?, vec![i32::MAX; offsets.len() - 1]);
        least.inclusive_within(&segments, &mut nothing)?;
    }
    assert!(nothing.download()?.is_empty());
    Ok(())
}

#[test]
fn an_operator_that_does_not_compile_is_refused_with_the_compiler_s_log() -> Result<()> {
    let device = test_device();
    let text = "x + no_such_name(y)";
    let error = Scanner::new(&device, &Operator::new(text, 0.0f32)?).unwrap_err();
    let shown = error.to_string();
    assert!(matches!(error, Error::Argument(_)), "{error:?}");
    assert!(
        shown.contains(text) && shown.contains("does not compile") && shown.matches("no_such_name").count() > 1,
        "{shown}"
    );
    // After an error the device can still be used.
    Scanner::new(&device, &Operator::<f32>::sum())?;
    Ok(())
}

#[test]
fn vectors_of_another_length_are_refused() -> Result<()> {
    let device = test_device();
    let (sum, segments) = (Scanner::new(&device, &Operator::sum())?, Segments::from_offsets(&device, &[0, 2, 5])?);
    let mut four = device.upload_vector(&[1u32; 4])?;
    for refused in [sum.inclusive_within(&segments, &mut four).err(), sum.reduce(&segments, &four).err()] {
        assert!(matches!(refused, Some(Error::Length { found: 4, expected: 5, .. })), "{refused:?}");
    }
    assert_eq!(four.download()?, [1; 4]);
    Ok(())
}

/// The result of predefined operators for no elements is neutral, except for the sign of a zero.
#[test]
fn the_value_of_nothing_is_neutral() {
    fn rules<T: Element<Arithmetic = T> + Arithmetic>(values: &[T]) {
        for case in house_operators::<T>() {
            let truth = ["or", "and"].contains(&case.name);
            let known = |x: &&T| !truth || **x == T::ZERO || **x == T::one();
            for &x in values.iter().filter(known) {
                assert_eq!([(case.combine)(x, case.empty), (case.combine)(case.empty, x)], [x; 2], "{}", case.name);
            }
        }
    }
    rules(&[0.0, 1.0, -2.5, f64::INFINITY, f64::NEG_INFINITY]);
    rules(&[0, 1, 5, u32::MAX]);
    rules(&[0, 1, -5, i32::MAX, i32::MIN]);
}
